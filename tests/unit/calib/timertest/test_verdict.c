/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of timertest's verdict, each with a result made up for it: a run of two ranks that is fit, with one thing
 * changed. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include "tests/lib/check.h"

/* Two ranks of one machine, a line for rank 1 with two sessions and a check between them, 0.3 us of latency. */
struct made {
	struct cal_test_result r;
	struct cal_rank cal[2];
	struct cal_test_rank rank[2];
	struct cal_test_truth truth[2];
	struct cal_test_burst burst[3];
	struct cal_test_matrix_of_node matrix[1];
	struct cal_node node[3];
	struct cal_step step[1];
};

static const int64_t second = 1000000000;

static void make_node(struct cal_node *n, int64_t at, int used)
{
	*n = (struct cal_node){
		.local = ltick(at), .global = gtick(at), .low = gtick(at - 200), .high = gtick(at + 200), .used = used
	};
}

static void make(struct made *m)
{
	struct cal_map *map = &m->cal[1].map;
	int i;

	memset(m, 0, sizeof(*m));
	m->r = (struct cal_test_result){ .ranks = 2,
		.rank = m->rank,
		.truth = m->truth,
		.matrix = m->matrix,
		.nodes = 1,
		.burst = m->burst,
		.bursts = 3 };
	m->r.run = (struct cal_run){
		.ranks = 2, .rank = m->cal, .max_drift = 500e-6, .max_wander = 1e-6, .period_s = 1e-9
	};
	for (i = 0; i < 2; i++) {
		snprintf(m->cal[i].timer, sizeof(m->cal[i].timer), "CPU");
		snprintf(m->rank[i].env.host, sizeof(m->rank[i].env.host), "node7");
		m->cal[i].effective_tick_s = 10e-9;
		m->cal[i].nominal_hz = 1e9;
		m->rank[i].quality.increments = 1000;
		m->rank[i].scope = TMR_SCOPE_CORE;
		m->rank[i].only_unit = i;
	}
	CHECK_INT(cal_map_line(map, ltick(0), gtick(0), 1, NULL), 0);
	map->period_s = 1e-9;
	map->max_drift = 500e-6;
	map->max_wander = 1e-6;
	for (i = 0; i < 3; i++) {
		make_node(&m->node[i], i * second, i != 1);
		m->burst[i] = (struct cal_test_burst){ .a = 0,
			.b = 1,
			.cycle = i,
			.offset_s = 5e-9,
			.low_s = -250e-9,
			.high_s = 260e-9,
			.latency_s = 300e-9 };
	}
	map->node = m->node;
	map->nodes = 3;
	map->step = m->step;
	m->truth[1] = (struct cal_test_truth){ .known = 1, .worst_s = 50e-9, .bound_there_s = 900e-9, .points = 401 };
	m->matrix[0].m = (struct tmr_matrix){ .pus = 2, .pairs = 1, .measured = 1, .together = 1 };
	m->r.causality.messages = 600;
}

/* The nodes and steps are not the map's own to free. */
static void unmake(struct made *m)
{
	m->cal[1].map.node = NULL;
	m->cal[1].map.step = NULL;
	cal_map_free(&m->cal[1].map);
}

/* The verdict is of that value because of that rule alone, whose sentence holds all of these words. */
static void expect(struct made *m, enum cal_test_value value, const char *rule, const char *const words[])
{
	const struct cal_test_verdict *v = &m->r.verdict;
	size_t k;

	cal_test_judge(&m->r);
	CHECK(v->value == value, "%s: %s", rule, v->text);
	CHECK_INT(v->reasons, 1);
	CHECK_STR(v->reason[0].rule ? v->reason[0].rule : "none", rule);
	CHECK_INT(v->reason[0].value, value);
	CHECK(strstr(v->text, v->reason[0].text) != NULL && v->reason[0].text[0], "%s", v->text);
	for (k = 0; words[k]; k++) {
		CHECK(strstr(v->reason[0].text, words[k]) != NULL, "'%s' is not in: %s", words[k], v->reason[0].text);
	}
	CHECK(strlen(v->reason[0].text) + 1 < sizeof(v->reason[0].text), "cut: %s", v->reason[0].text);
	unmake(m);
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void fit_without_a_reason(void)
{
	struct made m;

	make(&m);
	cal_test_judge(&m.r);
	CHECK_INT(m.r.verdict.value, CAL_TEST_VALUE_FIT);
	CHECK_INT(m.r.verdict.reasons, 0);
	CHECK_STR(m.r.verdict.text, "CPU is fit for tracing on 2 ranks: offset 5 ns +- 255 ns, latency 300 ns");
	CHECK_INT(cal_test_exit_status(CAL_TEST_VALUE_FIT), 0);
	CHECK_INT(cal_test_exit_status(CAL_TEST_VALUE_UNFIT), 1);
	CHECK_INT(cal_test_exit_status(CAL_TEST_VALUE_UNKNOWN), 3);
	unmake(&m);
}

static void one_process(void)
{
	struct made m;

	make(&m);
	m.r.ranks = 1;
	m.r.bursts = 0;
	m.rank[0].quality.cost_s.median = 20e-9;
	cal_test_judge(&m.r);
	CHECK_STR(m.r.verdict.text, "CPU is fit for tracing on 1 rank: effective tick 10 ns, 20 ns per read");
	unmake(&m);
}

static void broken_bounds(void)
{
	struct made m;

	make(&m);
	m.truth[1] = (struct cal_test_truth){
		.known = 1, .outside = 3, .points = 401, .worst_s = 4e-6, .worst_at_s = 1.25, .bound_there_s = 1e-6
	};
	expect(&m, CAL_TEST_VALUE_UNFIT, "true error",
		WORDS("BOUND BROKEN", "rank 1", "4 us", "1.250 s", "1 us", "--max-wander"));

	make(&m);
	make_node(&m.node[1], second + 5000, 0); /* 5 us where the bound is 1.x us */
	m.node[1].local = ltick(second);
	expect(&m, CAL_TEST_VALUE_UNFIT, "checks", WORDS("BOUND BROKEN", "rank 1", "1.000 s", "--timer-skip 0"));
	make(&m);
	make_node(&m.node[1], second - 5000, 0);
	m.node[1].local = ltick(second);
	expect(&m, CAL_TEST_VALUE_UNFIT, "checks", WORDS("BOUND BROKEN"));

	make(&m);
	m.r.causality.after = 2;
	expect(&m, CAL_TEST_VALUE_UNFIT, "order", WORDS("BOUND BROKEN", "2 of 600", "limit 0"));
}

static void different_timers(void)
{
	struct made m;

	make(&m);
	snprintf(m.cal[1].timer, sizeof(m.cal[1].timer), "gettimeofday");
	expect(&m, CAL_TEST_VALUE_UNFIT, "timers", WORDS("rank 1", "gettimeofday", "CPU", "mpirun -x VT_TIMER"));

	/* the arguments of a simulation depend on the rank */
	make(&m);
	snprintf(m.cal[0].timer, sizeof(m.cal[0].timer), "sim:offset=1ms");
	snprintf(m.cal[1].timer, sizeof(m.cal[1].timer), "sim:offset=2ms");
	cal_test_judge(&m.r);
	CHECK_INT(m.r.verdict.value, CAL_TEST_VALUE_FIT);
	unmake(&m);
}

static void clocks_of_the_cores(void)
{
	struct made m;

	make(&m);
	m.rank[1].quality.backward = 7;
	expect(&m, CAL_TEST_VALUE_UNFIT, "backward", WORDS("rank 1", "7 times in 1000 reads", "limit 0"));

	make(&m);
	m.matrix[0].m.together = 0;
	m.matrix[0].m.apart = 1;
	expect(&m, CAL_TEST_VALUE_UNFIT, "cores", WORDS("node7", "1 of 1 pairs", "pin the processes"));

	make(&m);
	m.matrix[0].m.together = 0;
	m.matrix[0].m.unknown = 1;
	expect(&m, CAL_TEST_VALUE_UNKNOWN, "cores", WORDS("node7", "1 of 1 pairs", "could not be compared"));
	make(&m);
	m.matrix[0].m.together = 0;
	m.matrix[0].m.contradictions = 1;
	m.rank[0].scope = m.rank[1].scope = TMR_SCOPE_NODE;
	expect(&m, CAL_TEST_VALUE_UNKNOWN, "cores", WORDS("node7", "1 of 1 pairs", "contradicts"));
	make(&m);
	m.matrix[0].m = (struct tmr_matrix){ .pus = 0 };
	snprintf(m.matrix[0].why, sizeof(m.matrix[0].why), "built without hwloc");
	expect(&m, CAL_TEST_VALUE_UNKNOWN, "cores", WORDS("node7", "built without hwloc"));

	/* the cores do not matter to a kernel clock */
	make(&m);
	m.matrix[0].m.together = 0;
	m.matrix[0].m.unknown = 1;
	m.rank[0].scope = m.rank[1].scope = TMR_SCOPE_NODE;
	cal_test_judge(&m.r);
	CHECK_INT(m.r.verdict.value, CAL_TEST_VALUE_FIT);
	unmake(&m);
}

static void steps(void)
{
	struct made m;

	make(&m);
	m.cal[1].map.steps = 1;
	m.step[0] = (struct cal_step){ .size_s = 3e-6,
		.within_s = 0.2e-6,
		.certain = 1,
		.from_global = gtick(second),
		.to_global = gtick(2 * second) };
	expect(&m, CAL_TEST_VALUE_UNFIT, "steps",
		WORDS("rank 1 certainly stepped", "3 us", "1.000 s and 2.000 s", "limit 75 ns"));

	/* not certain by the assumed wander, but far beyond the latency: never fit */
	make(&m);
	m.cal[1].map.steps = 1;
	m.step[0] = (struct cal_step){ .size_s = -3e-6, .within_s = 0.5e-6 };
	expect(&m, CAL_TEST_VALUE_UNFIT, "steps", WORDS("rank 1 certainly stepped", "-3 us"));
	make(&m);
	m.cal[1].map.steps = 1;
	m.step[0] = (struct cal_step){ .size_s = 3e-6, .within_s = 3e-6 };
	expect(&m, CAL_TEST_VALUE_UNKNOWN, "steps", WORDS("rank 1 possibly stepped", "3 us"));

	make(&m);
	m.cal[1].map.steps = 1;
	m.step[0] = (struct cal_step){ .size_s = 40e-9, .within_s = 30e-9 };
	cal_test_judge(&m.r);
	CHECK_INT(m.r.verdict.value, CAL_TEST_VALUE_FIT);
	unmake(&m);

	make(&m);
	m.r.run.net = (struct cal_net){
		.sessions = 2, .loops = 1, .loop_session = 1, .loop = { .n = 3, .rank = { 4, 5, 6 } }, .gap_s = 2e-6
	};
	expect(&m, CAL_TEST_VALUE_UNFIT, "contradictions", WORDS("session 2", "2 us", "rank 4 and 2 others"));
}

static void assumptions(void)
{
	struct made m;

	make(&m);
	m.cal[1].map.max_wander = 7e-6;
	expect(&m, CAL_TEST_VALUE_UNKNOWN, "assumptions", WORDS("rank 1", "7 ppm", "1 ppm", "--max-wander"));
	m.cal[1].map.max_wander = 1e-6;
	snprintf(m.cal[0].contradiction, sizeof(m.cal[0].contradiction), "it was set at 3 places");
	expect(&m, CAL_TEST_VALUE_UNKNOWN, "assumptions", WORDS("rank 0", "it was set at 3 places", "--timer"));
	m.cal[0].contradiction[0] = '\0';
	m.cal[1].map.max_wander = 7e-6;
}

static void latency(void)
{
	struct made m;
	int i;

	/* taskset -c 0 */
	make(&m);
	m.rank[0].only_unit = m.rank[1].only_unit = 0;
	expect(&m, CAL_TEST_VALUE_UNKNOWN, "latency",
		WORDS("ranks 0 and 1 share one core", "processing unit 0 of node7", "300 ns"));
	/* the same number on another machine is another core */
	make(&m);
	m.rank[0].only_unit = m.rank[1].only_unit = 0;
	m.rank[1].machine = 1;
	cal_test_judge(&m.r);
	CHECK_INT(m.r.verdict.value, CAL_TEST_VALUE_FIT);
	unmake(&m);

	make(&m);
	for (i = 0; i < 3; i++) {
		m.burst[i].latency_s = 5.7e-3;
	}
	expect(&m, CAL_TEST_VALUE_UNKNOWN, "latency", WORDS("inside a machine", "5.7 ms", "limit 100 us"));
	make(&m);
	m.rank[1].machine = 1;
	for (i = 0; i < 3; i++) {
		m.burst[i].latency_s = 5.7e-3;
	}
	cal_test_judge(&m.r);
	CHECK_INT(m.r.verdict.value, CAL_TEST_VALUE_FIT);
	for (i = 0; i < 3; i++) {
		m.burst[i].latency_s = 20e-3;
	}
	expect(&m, CAL_TEST_VALUE_UNKNOWN, "latency", WORDS("between machines", "20 ms", "limit 10 ms"));
}

static void tick(void)
{
	struct made m;

	make(&m);
	m.cal[0].effective_tick_s = 160e-9;
	expect(&m, CAL_TEST_VALUE_UNFIT, "tick", WORDS("CPU", "160 ns", "limit 150 ns", "half the latency"));
	make(&m);
	snprintf(m.cal[0].timer, sizeof(m.cal[0].timer), "gettimeofday");
	snprintf(m.cal[1].timer, sizeof(m.cal[1].timer), "gettimeofday");
	m.cal[1].effective_tick_s = 1e-6;
	expect(&m, CAL_TEST_VALUE_UNFIT, "tick",
		WORDS("gettimeofday has an effective tick of 1 us", "try --timer CPU"));
	make(&m);
	m.cal[1].effective_tick_s = NAN;
	expect(&m, CAL_TEST_VALUE_UNKNOWN, "tick", WORDS("unknown", "rank 1", "--performance-time"));
}

static void offset(void)
{
	struct made m;

	/* an interval that holds 0 proves nothing */
	make(&m);
	m.burst[1].offset_s = 90e-9;
	expect(&m, CAL_TEST_VALUE_UNKNOWN, "offset", WORDS("ranks 0 and 1", "90 ns", "possibly", "limit 75 ns"));
	make(&m);
	m.burst[1].offset_s = -390e-9;
	m.burst[1].low_s = -700e-9;
	m.burst[1].high_s = -90e-9;
	expect(&m, CAL_TEST_VALUE_UNFIT, "offset", WORDS("-390 ns", "certainly", "limit 75 ns"));
	/* a burst that was held up for milliseconds is compared with what messages usually take */
	make(&m);
	m.burst[1].latency_s = 2e-3;
	m.burst[1].offset_s = 300e-6;
	m.burst[1].high_s = 600e-6;
	expect(&m, CAL_TEST_VALUE_UNKNOWN, "offset", WORDS("300 us", "limit 75 ns"));
	/* nothing finer than the tick can be seen */
	make(&m);
	m.cal[1].effective_tick_s = 100e-9;
	m.burst[1].offset_s = 90e-9;
	cal_test_judge(&m.r);
	CHECK_INT(m.r.verdict.value, CAL_TEST_VALUE_FIT);
	unmake(&m);
}

/* A clock of 1 us shows messages of 0.3 us as it likes, also as negative times. */
static void latency_below_resolution(void)
{
	struct made m;
	int i;

	make(&m);
	m.cal[1].effective_tick_s = 1e-6;
	for (i = 0; i < 3; i++) {
		m.burst[i].latency_s = i == 1 ? -1e-13 : 20e-9;
		CHECK(cal_test_below_resolution(&m.r, &m.burst[i]), "burst %d", i);
	}
	m.burst[2].latency_s = 300e-9;
	CHECK(!cal_test_below_resolution(&m.r, &m.burst[2]), "300 ns");
	cal_test_judge(&m.r);
	CHECK(strstr(m.r.verdict.text, "latency below resolution; gettimeofday") ||
			strstr(m.r.verdict.text, "latency below resolution; CPU"),
		"%s", m.r.verdict.text);
	CHECK_INT(m.r.verdict.value, CAL_TEST_VALUE_UNFIT);
	unmake(&m);
}

/* Not fit decides over not known, wherever they are in the table, and all reasons are kept. */
static void worst_decides(void)
{
	const struct cal_test_verdict *v;
	struct made m;

	make(&m);
	m.matrix[0].m.together = 0;
	m.matrix[0].m.unknown = 1;
	m.cal[0].effective_tick_s = 160e-9;
	m.cal[1].map.max_wander = 7e-6;
	cal_test_judge(&m.r);
	v = &m.r.verdict;
	CHECK_INT(v->value, CAL_TEST_VALUE_UNFIT);
	CHECK_INT(v->reasons, 3);
	CHECK_STR(v->reason[0].rule, "tick");
	CHECK_STR(v->reason[1].rule, "cores");
	CHECK_STR(v->reason[2].rule, "assumptions");
	CHECK(strncmp(v->text, "CPU is NOT fit for tracing on 2 ranks: ", 39) == 0, "%s", v->text);
	CHECK(strstr(v->text, v->reason[2].text) != NULL, "%s", v->text);
	m.cal[0].effective_tick_s = 10e-9;
	cal_test_judge(&m.r);
	CHECK_INT(v->value, CAL_TEST_VALUE_UNKNOWN);
	CHECK_INT(v->reasons, 2);
	CHECK(strncmp(v->text, "CPU is not known to be fit for tracing on 2 ranks: ", 51) == 0, "%s", v->text);
	unmake(&m);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(fit_without_a_reason);
	RUN(one_process);
	RUN(broken_bounds);
	RUN(different_timers);
	RUN(clocks_of_the_cores);
	RUN(steps);
	RUN(assumptions);
	RUN(latency);
	RUN(tick);
	RUN(offset);
	RUN(latency_below_resolution);
	RUN(worst_decides);
	return check_end();
}
