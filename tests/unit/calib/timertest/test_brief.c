/* SPDX-License-Identifier: BSD-3-Clause */
/* The screen and the table of nodes, for 128 nodes with two ranks each whose drift, offset and steps are known. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include "base/text/text.h"
#include "tests/lib/check.h"

enum { NODES = 128, RANKS = 2 * NODES };

struct made {
	struct cal_test_result r;
	struct cal_rank cal[RANKS];
	struct cal_test_rank rank[RANKS];
	struct cal_test_truth truth[RANKS];
	struct cal_test_burst burst[RANKS];
	struct cal_test_matrix_of_node matrix[NODES];
	struct cal_node node[RANKS][2];
	struct cal_step step;
};

static const int64_t second = 1000000000;

/* A clock that counts from offset_s, and is `ppm` slow to within 0.4999 ppm, which is printed as 0.5. */
static void make_clock(struct made *m, int i, double ppm, double offset_s)
{
	struct cal_map *map = &m->cal[i].map;
	int64_t begin = (int64_t)(offset_s * 1e9);
	int k;

	map->nominal = 1;
	map->rate_low = 1 + (ppm - 0.4999) * 1e-6;
	map->rate_high = 1 + (ppm + 0.4999) * 1e-6;
	CHECK_INT(cal_map_line(map, ltick(begin), gtick(0), 1 + ppm * 1e-6, NULL), 0);
	map->period_s = 1e-9;
	for (k = 0; k < 2; k++) {
		int64_t at = (int64_t)((double)(k * second) * (1 + ppm * 1e-6));

		m->node[i][k] = (struct cal_node){ .local = ltick(begin + k * second),
			.global = gtick(at),
			.low = gtick(at - 300),
			.high = gtick(at + 200),
			.used = 1 };
	}
	map->node = m->node[i];
	map->nodes = 2;
}

static void make(struct made *m)
{
	int i;

	memset(m, 0, sizeof(*m));
	m->r = (struct cal_test_result){ .ranks = RANKS,
		.rank = m->rank,
		.truth = m->truth,
		.matrix = m->matrix,
		.nodes = NODES,
		.burst = m->burst,
		.bursts = RANKS,
		.worst = 77 };
	m->r.run = (struct cal_run){ .ranks = RANKS, .rank = m->cal, .max_drift = 500e-6, .period_s = 1e-9 };
	for (i = 0; i < RANKS; i++) {
		int first = i - i % 2;

		snprintf(m->cal[i].timer, sizeof(m->cal[i].timer), "CPU");
		snprintf(m->rank[i].env.host, sizeof(m->rank[i].env.host), "n%03d", i / 2);
		m->cal[i].nominal_hz = 1e9;
		m->cal[i].sync = i > first ? CAL_SHARED : CAL_OWN;
		m->cal[i].leader = first;
		m->rank[i].node = m->rank[i].machine = first;
		make_clock(m, i, i == 2 * 44 ? -41.2 : 3 + i % 4 * 0.01, i == 2 * 99 ? 2.501 : i == 0 ? 1e-3 : 3e-3);
		m->burst[i] = (struct cal_test_burst){ .a = 0,
			.b = i,
			.offset_s = i == 77 ? -310e-9 : 5e-9,
			.low_s = -1200e-9,
			.high_s = 900e-9,
			.latency_s = 1700e-9 };
	}
	m->cal[0].anchors = 1;
	m->cal[0].anchor[0].local = ltick((int64_t)1e6);
	for (i = 0; i < NODES; i++) {
		m->matrix[i] = (struct cal_test_matrix_of_node){ .rank = 2 * i,
			.m = { .pus = 2, .pairs = 1, .measured = 1, .together = i != 3, .apart = i == 3 } };
	}
	m->step = (struct cal_step){ .from_global = gtick(second / 4),
		.to_global = gtick(second / 2),
		.size_s = -420e-6,
		.within_s = 3e-6,
		.certain = 1 };
	m->cal[2 * 17].map.step = &m->step;
	m->cal[2 * 17].map.steps = 1;
}

static void unmake(struct made *m)
{
	int i;

	m->cal[2 * 17].map.step = NULL;
	for (i = 0; i < RANKS; i++) {
		m->cal[i].map.node = NULL;
		cal_map_free(&m->cal[i].map);
	}
}

static char *printed(struct made *m, int brief)
{
	struct cal_test_options o = { .seconds = 600, .output = "out of nodes" };
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (brief) {
		cal_test_print_brief(f, &o, &m->r);
	} else {
		cal_test_print_nodes(f, &m->r);
	}
	tkm_text_end(f, &text);
	return text;
}

static void has(const char *text, const char *line)
{
	CHECK(strstr(text, line), "not there: %s\nin %.1500s", line, text);
}

static int lines_of(const char *text)
{
	int n = 0;

	for (; *text; text++) {
		n += *text == '\n';
	}
	return n;
}

static void screen(void)
{
	struct made *m = malloc(sizeof(*m));
	char *text;

	make(m);
	text = printed(m, 1);
	CHECK(lines_of(text) < 20, "%d lines", lines_of(text)); /* the verdict is one more */
	has(text, "timer CPU, 256 ranks on 128 nodes, 600 s, ");
	has(text, "offset before correction: at most 2.500s +- 301.0ns (n099, rank 198)\n");
	has(text, "drift against rank 0: at most 41.2 ppm fast +- 0.5 ppm, 3.56 s a day (n044, rank 88)");
	has(text, "; half of 128 nodes within 3.0");
	has(text,
		"steps of clocks: 1 on 1 node, the largest by -420.000us +- 3.000us between 0.250 s and 0.500 s "
		"(n017)\n");
	has(text, "clocks of the processing units of a node: APART on 1 node (n003), together on 127 nodes\n");
	has(text,
		"offset after correction: at most -310.0ns +- 1.3us (rank 0 on n000, rank 77 on n038), limit 425.0ns");
	has(text, "'out of nodes.txt'");
	free(text);
	unmake(m);
	free(m);
}

static void small_drift(void)
{
	struct made *m = malloc(sizeof(*m));
	char *text;
	int i;

	make(m);
	for (i = 0; i < RANKS; i++) {
		m->cal[i].map.rate_low = 1 - 36e-6;
		m->cal[i].map.rate_high = 1 + 45e-6;
	}
	text = printed(m, 1);
	has(text, "drift against rank 0: not shown by so short a run, at most 1.3e+02 ppm (n044, rank 88)\n");
	free(text);
	unmake(m);
	free(m);
}

/* The words of a line after the number of ranks, up to the bound. */
static void row(const char *text, const char *begins, const char *want)
{
	const char *line = strstr(text, begins);
	char word[7][32], found[300];

	CHECK(line != NULL, "no line %s", begins + 1);
	CHECK_INT(line ? sscanf(line, "%*s 2 %31s %31s %31s %31s %31s %31s %31s", word[0], word[1], word[2], word[3],
				 word[4], word[5], word[6])
		       : 0,
		7);
	snprintf(found, sizeof(found), "%s %s %s %s %s %s %s", word[0], word[1], word[2], word[3], word[4], word[5],
		word[6]);
	CHECK_STR(found, want);
}

static void table(void)
{
	struct made *m = malloc(sizeof(*m));
	char *text;

	make(m);
	text = printed(m, 0);
	CHECK_INT(lines_of(text), NODES + 2);
	row(text, "\nn017 ", "2.000ms +3.020 0.500 +0.261 1 together 300.5ns");
	row(text, "\nn044 ", "2.000ms -41.200 0.500 -3.560 0 together 301.5ns");
	row(text, "\nn099 ", "2.500s +3.020 0.500 +0.261 0 together 300.5ns");
	row(text, "\nn003 ", "2.000ms +3.020 0.500 +0.261 0 APART 300.5ns");
	free(text);
	unmake(m);
	free(m);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(screen);
	RUN(small_drift);
	RUN(table);
	return check_end();
}
