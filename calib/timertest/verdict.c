/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict of timertest: a table of rules, each of which looks at the result and says fit, not known or not
 * fit. The worst decides, and every rule that is not "fit" gives its reason in one sentence. A new rule is a
 * function and a line of the table. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"

/* Clock correction "worked well" if the offset is much smaller than the latency (Intel Trace Collector guide): then no
 * message can seem to arrive before it was sent, with room for as much again. */
static const double much_smaller = 0.25;

/* Messages that usually take longer say more about who had the processors, or about the network's queues, than about
 * clocks: within one machine they go through memory, in 0.2 to 20 us. */
static const double longest_latency_within_s = 100e-6, longest_latency_between_s = 10e-3;

const char *cal_test_value_name(enum cal_test_value v)
{
	return v == CAL_TEST_VALUE_FIT ? "fit" : v == CAL_TEST_VALUE_UNFIT ? "unfit" : "unknown";
}

const char *cal_test_value_words(enum cal_test_value v)
{
	static const char *const words[] = { "fit", "not known to be fit", "NOT fit" };

	return words[v];
}

int cal_test_exit_status(enum cal_test_value v)
{
	return v == CAL_TEST_VALUE_FIT ? CAL_TEST_FIT : v == CAL_TEST_VALUE_UNFIT ? CAL_TEST_UNFIT : CAL_TEST_UNKNOWN;
}

double cal_test_burst_bound(const struct cal_test_burst *b)
{
	return fmax(b->high_s - b->offset_s, b->offset_s - b->low_s);
}

int cal_test_below_resolution(const struct cal_test_result *r, const struct cal_test_burst *b)
{
	/* the mean of a burst is finer than a single stamp, by about the square root of its 100 exchanges */
	return b->latency_s <= 0 ||
		b->latency_s < 0.1 * fmax(r->run.rank[b->a].effective_tick_s, r->run.rank[b->b].effective_tick_s);
}

/* ---- words ---- */

/* "12 ns", "unknown" */
static struct cal_test_words in_words(double s)
{
	static const struct {
		double scale;
		const char *unit;
	} units[] = { { 1, "s" }, { 1e3, "ms" }, { 1e6, "us" }, { 1e9, "ns" } };
	struct cal_test_words w = { "unknown" };
	size_t i = 0;

	if (!isfinite(s)) {
		return w;
	}
	while (i < 3 && fabs(s) * units[i].scale < 0.9995) { /* 0.9995 and more is printed as 1 */
		i++;
	}
	snprintf(w.text, sizeof(w.text), "%.3g %s", fabs(s) * units[i].scale < 0.5e-3 ? 0 : s * units[i].scale,
		units[i].unit);
	return w;
}

/* Of a bound */
static struct cal_test_words upper_in_words(double s)
{
	return in_words(tkm_round_up(s, 3, 'g'));
}

__attribute__((format(printf, 2, 3))) static void add_reason(struct cal_test_reason *why, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
}

/* The name without the arguments of a simulation. */
static void short_name(const char *timer, char *buf, size_t size)
{
	snprintf(buf, size, "%.*s", strncmp(timer, "sim:", 4) == 0 ? 3 : 40, timer);
}

/* Returns advice: what else to try. */
static const char *other_timer(const struct cal_test_result *r)
{
	return strcmp(r->run.rank[0].timer, "CPU") == 0 ? "take another timer (--timer LIST shows all)"
							: "try --timer CPU, or another one that --timer LIST shows";
}

/* ---- what several rules need ---- */

static int within_machine(const struct cal_test_result *r, const struct cal_test_burst *b)
{
	return r->rank[b->a].machine == r->rank[b->b].machine;
}

static int compare_offsets_up(const void *p, const void *q)
{
	double a = *(const double *)p, b = *(const double *)q;

	return (a > b) - (a < b);
}

/* The median latency of all bursts within machines, or of those between them; NAN: there are none. */
static double usual_latency(const struct cal_test_result *r, int within)
{
	double *all = malloc((r->bursts + 1) * sizeof(*all)), median = NAN;
	size_t n = 0, i;

	for (i = 0; all && i < r->bursts; i++) {
		if (within_machine(r, &r->burst[i]) == within) {
			all[n++] = r->burst[i].latency_s;
		}
	}
	if (n) {
		qsort(all, n, sizeof(*all), compare_offsets_up);
		median = all[n / 2];
	}
	free(all);
	return median;
}

/* The shorter of the two; NAN: no messages. */
static double shortest_usual_latency(const struct cal_test_result *r)
{
	return fmin(usual_latency(r, 1), usual_latency(r, 0));
}

static double coarsest_tick(const struct cal_test_result *r)
{
	double tick = 0;
	int i;

	for (i = 0; i < r->ranks; i++) {
		tick = fmax(tick, r->run.rank[i].effective_tick_s);
	}
	return tick;
}

static int has_own_map(const struct cal_rank *c)
{
	return c->sync != CAL_SHARED && c->map.nodes > 0;
}

/* ---- the rules ---- */

static enum cal_test_value judge_truth(const struct cal_test_result *r, struct cal_test_reason *why)
{
	int i;

	for (i = 1; i < r->ranks; i++) {
		const struct cal_test_truth *t = &r->truth[i];

		if (t->known && t->outside) {
			add_reason(why,
				"BOUND BROKEN: the simulated clock of rank %d is off by %s at %.3f s after correction, "
				"its bound there is %s: "
				"the assumed drift of %g ppm or wander of %g ppm does not hold for it; raise "
				"--max-drift or --max-wander, "
				"or synchronise more often (--timer-skip 0)",
				i, in_words(t->worst_s).text, t->worst_at_s, upper_in_words(t->bound_there_s).text,
				r->run.max_drift * 1e6, r->run.max_wander * 1e6);
			return CAL_TEST_VALUE_UNFIT;
		}
	}
	return CAL_TEST_VALUE_FIT;
}

/* By how much what is certain at a session that the map did not use lies beyond the map's bound; not positive: inside. */
static double beyond_bound(const struct cal_rank *c, const struct cal_node *n, double period_s)
{
	gtick_t at = cal_map_session_at(&c->map, n->local);

	return fmax((double)gtick_sub(n->low, at), (double)gtick_sub(at, n->high)) * period_s -
		cal_map_session_bound(&c->map, n->local);
}

static enum cal_test_value judge_checks(const struct cal_test_result *r, struct cal_test_reason *why)
{
	size_t k;
	int i;

	for (i = 1; i < r->ranks; i++) {
		const struct cal_rank *c = &r->run.rank[i];

		for (k = 0; has_own_map(c) && k < c->map.nodes; k++) {
			const struct cal_node *n = &c->map.node[k];

			if (!n->used && beyond_bound(c, n, r->run.period_s) > 0) {
				add_reason(why,
					"BOUND BROKEN: a check at %.3f s shows the clock of rank %d %s beyond its "
					"bound of %s there: it stepped, or "
					"wandered by more than the assumed %g ppm; synchronise more often "
					"(--timer-skip 0) or raise --max-wander",
					(double)n->global.v * r->run.period_s, i,
					in_words(beyond_bound(c, n, r->run.period_s)).text,
					upper_in_words(cal_map_session_bound(&c->map, n->local)).text,
					c->map.max_wander * 1e6);
				return CAL_TEST_VALUE_UNFIT;
			}
		}
	}
	return CAL_TEST_VALUE_FIT;
}

static enum cal_test_value judge_order(const struct cal_test_result *r, struct cal_test_reason *why)
{
	if (r->causality.after == 0) {
		return CAL_TEST_VALUE_FIT;
	}
	add_reason(why,
		"BOUND BROKEN: %llu of %llu messages arrive before they were sent, limit 0, wherever the stamps are "
		"inside their bounds: "
		"a clock moved by more than was assumed; raise --max-wander or %s",
		(unsigned long long)r->causality.after, (unsigned long long)r->causality.messages, other_timer(r));
	return CAL_TEST_VALUE_UNFIT;
}

/* "sim" of "sim:drift=5ppm": the arguments may depend on the rank, the kind of timer must not. */
static int same_kind(const char *a, const char *b)
{
	size_t n = strcspn(a, ":");

	return strcspn(b, ":") == n && strncmp(a, b, n) == 0;
}

static enum cal_test_value judge_timers(const struct cal_test_result *r, struct cal_test_reason *why)
{
	int i;

	for (i = 1; i < r->ranks; i++) {
		if (!same_kind(r->run.rank[0].timer, r->run.rank[i].timer)) {
			add_reason(why,
				"rank %d reads %.40s and rank 0 reads %.40s: their rates and steps have nothing in "
				"common; give all ranks the "
				"same timer (mpirun -x VT_TIMER, or --timer)",
				i, r->run.rank[i].timer, r->run.rank[0].timer);
			return CAL_TEST_VALUE_UNFIT;
		}
	}
	return CAL_TEST_VALUE_FIT;
}

static enum cal_test_value judge_backward(const struct cal_test_result *r, struct cal_test_reason *why)
{
	int i;

	for (i = 0; i < r->ranks; i++) {
		const struct tmr_quality *q = &r->rank[i].quality;

		if (q->backward) {
			add_reason(why,
				"rank %d saw the clock go back %lld times in %zu reads, limit 0: later events can get "
				"earlier stamps; %s",
				i, q->backward, q->increments, other_timer(r));
			return CAL_TEST_VALUE_UNFIT;
		}
	}
	return CAL_TEST_VALUE_FIT;
}

/* What is certain of the cores' clocks; pairs that are not known only matter where each core has a counter of its own. */
static enum cal_test_value judge_cores(const struct cal_test_result *r, struct cal_test_reason *why)
{
	const struct cal_test_matrix_of_node *unknown = NULL;
	int i;

	for (i = 0; i < r->nodes; i++) {
		const struct cal_test_matrix_of_node *n = &r->matrix[i];

		if (n->m.apart) {
			add_reason(why,
				"on %.60s the clocks of %zu of %zu pairs of processing units certainly differ: a "
				"process that moves between them "
				"sees time jump; pin the processes or take a kernel clock (--timer clock_monotonic)",
				r->rank[n->rank].env.host, n->m.apart, n->m.pairs);
			return CAL_TEST_VALUE_UNFIT;
		}
		if (n->m.contradictions ||
			(r->rank[n->rank].scope == TMR_SCOPE_CORE && (n->why[0] || n->m.together < n->m.pairs))) {
			unknown = n;
		}
	}
	if (!unknown) {
		return CAL_TEST_VALUE_FIT;
	}
	if (unknown->why[0]) {
		add_reason(why,
			"on %.60s it is not known whether the processing units read one clock (%.120s): a process that "
			"moves between them might "
			"see time jump; pin the processes or take a kernel clock (--timer clock_monotonic)",
			r->rank[unknown->rank].env.host, unknown->why);
	} else if (unknown->m.contradictions) {
		add_reason(why,
			"on %.60s what %zu of %zu pairs of processing units read contradicts any constant offset: a "
			"clock was set or a thread was "
			"moved meanwhile, or the effective tick is too small; run it again",
			r->rank[unknown->rank].env.host, unknown->m.contradictions, unknown->m.pairs);
	} else {
		add_reason(why,
			"on %.60s %zu of %zu pairs of processing units could not be compared closely: a process that "
			"moves between them might see "
			"time jump; run it on an idle machine, or pin the processes",
			r->rank[unknown->rank].env.host, unknown->m.unknown, unknown->m.pairs);
	}
	return CAL_TEST_VALUE_UNKNOWN;
}

static enum cal_test_value judge_steps(const struct cal_test_result *r, struct cal_test_reason *why)
{
	double limit = fmax(much_smaller * shortest_usual_latency(r), coarsest_tick(r));
	enum cal_test_value found = CAL_TEST_VALUE_FIT;
	size_t k;
	int i;

	for (i = 1; i < r->ranks; i++) {
		const struct cal_rank *c = &r->run.rank[i];

		for (k = 0; has_own_map(c) && k < c->map.steps; k++) {
			const struct cal_step *s = &c->map.step[k];
			enum cal_test_value now = s->certain || fabs(s->size_s) - s->within_s > limit
				? CAL_TEST_VALUE_UNFIT
				: fabs(s->size_s) > limit ? CAL_TEST_VALUE_UNKNOWN
							  : CAL_TEST_VALUE_FIT;

			if (now > found) {
				add_reason(why,
					"the clock of rank %d %s stepped against that of rank 0 by %s between %.3f s "
					"and %.3f s, limit %s: stamps in "
					"between are only known to within the step; find out who sets the clock, or "
					"take a clock that is never set",
					i, now == CAL_TEST_VALUE_UNFIT ? "certainly" : "possibly",
					in_words(s->size_s).text, (double)s->from_global.v * r->run.period_s,
					(double)s->to_global.v * r->run.period_s, in_words(limit).text);
				found = now;
			}
		}
	}
	return found;
}

static enum cal_test_value judge_loops(const struct cal_test_result *r, struct cal_test_reason *why)
{
	const struct cal_net *n = &r->run.net;

	if (n->sessions == 0 || n->loops == 0) {
		return CAL_TEST_VALUE_FIT;
	}
	add_reason(why,
		"the exchanges of session %zu contradict each other by %s, limit 0 (rank %d and %d others): a clock "
		"was set or stood during "
		"the session; find out who sets the clock, or take a clock that is never set",
		n->loop_session + 1, in_words(n->gap_s).text, n->loop.rank[0], n->loop.n - 1);
	return CAL_TEST_VALUE_UNFIT;
}

/* The assumptions that the sessions have contradicted; the bounds were widened for it. */
static enum cal_test_value judge_assumptions(const struct cal_test_result *r, struct cal_test_reason *why)
{
	int i;

	for (i = 0; i < r->ranks; i++) {
		const struct cal_rank *c = &r->run.rank[i];

		if (i > 0 && has_own_map(c) && c->map.max_wander > r->run.max_wander &&
			(c->contradiction[0] || !r->run.contradicted)) {
			add_reason(why,
				"the clock of rank %d wandered by %.3g ppm against that of rank 0, assumed were %g "
				"ppm: the bounds were widened for it, but "
				"it may have wandered by more between two sessions; raise --max-wander or synchronise "
				"more often "
				"(--timer-skip 0)",
				i, c->map.max_wander * 1e6, r->run.max_wander * 1e6);
			return CAL_TEST_VALUE_UNKNOWN;
		}
		if (c->contradiction[0]) {
			add_reason(why,
				"what is assumed about the clock of rank %d is wrong: %s; the bounds were widened for "
				"it, but it may do worse where nobody "
				"looked; %s",
				i, c->contradiction, other_timer(r));
			return CAL_TEST_VALUE_UNKNOWN;
		}
	}
	return CAL_TEST_VALUE_FIT;
}

/* Latency makes the result meaningless: the ranks of a burst share a core, or messages usually take too long. */
static enum cal_test_value judge_latency(const struct cal_test_result *r, struct cal_test_reason *why)
{
	double within = usual_latency(r, 1), between = usual_latency(r, 0);
	size_t i;

	for (i = 0; i < r->bursts; i++) {
		const struct cal_test_burst *b = &r->burst[i];
		const struct cal_test_rank *x = &r->rank[b->a], *y = &r->rank[b->b];

		if (within_machine(r, b) && x->only_unit >= 0 && x->only_unit == y->only_unit) {
			add_reason(why,
				"ranks %d and %d share one core (processing unit %d of %.60s; latency %s): the "
				"scheduler's switches were timed instead of "
				"messages; give each rank a core of its own",
				b->a, b->b, x->only_unit, x->env.host, in_words(b->latency_s).text);
			return CAL_TEST_VALUE_UNKNOWN;
		}
	}
	if (within > longest_latency_within_s) {
		add_reason(why,
			"messages inside a machine usually take %s, limit %s: the ranks waited for a core, so the "
			"offsets mean nothing; start no "
			"more ranks than cores, on an idle machine",
			in_words(within).text, in_words(longest_latency_within_s).text);
		return CAL_TEST_VALUE_UNKNOWN;
	}
	if (between > longest_latency_between_s) {
		add_reason(why,
			"messages between machines usually take %s, limit %s: the offsets are hardly known; use a "
			"faster network, or wait until it is "
			"idle",
			in_words(between).text, in_words(longest_latency_between_s).text);
		return CAL_TEST_VALUE_UNKNOWN;
	}
	return CAL_TEST_VALUE_FIT;
}

static enum cal_test_value judge_tick(const struct cal_test_result *r, struct cal_test_reason *why)
{
	double tick = coarsest_tick(r), latency = shortest_usual_latency(r);
	char name[64];
	int i;

	short_name(r->run.rank[0].timer, name, sizeof(name));
	if (tick > 0.5 * latency) {
		add_reason(why,
			"%s has an effective tick of %s, limit %s (half the latency): single messages cannot be timed; "
			"%s",
			name, in_words(tick).text, in_words(0.5 * latency).text, other_timer(r));
		return CAL_TEST_VALUE_UNFIT;
	}
	for (i = 0; i < r->ranks; i++) {
		if (!(r->run.rank[i].effective_tick_s > 0)) {
			add_reason(why,
				"the effective tick of %s on rank %d is unknown: it did not move while it was read, so "
				"nothing can be said about its "
				"resolution; measure longer (--performance-time) or %s",
				name, i, other_timer(r));
			return CAL_TEST_VALUE_UNKNOWN;
		}
	}
	return CAL_TEST_VALUE_FIT;
}

static double limit_of_burst(const struct cal_test_burst *b, double usual_latency_s, double tick)
{
	return fmax(much_smaller * fmin(b->latency_s, usual_latency_s), tick);
}

double cal_test_offset_limit(const struct cal_test_result *r, const struct cal_test_burst *b)
{
	return limit_of_burst(b, usual_latency(r, within_machine(r, b)), coarsest_tick(r));
}

/* Not fit where what is certain of a burst lies beyond the limit, not known where only its estimate does. */
static enum cal_test_value judge_offset(const struct cal_test_result *r, struct cal_test_reason *why)
{
	double tick = coarsest_tick(r), usual[2] = { usual_latency(r, 0), usual_latency(r, 1) };
	enum cal_test_value found = CAL_TEST_VALUE_FIT;
	size_t i;

	for (i = 0; i < r->bursts; i++) {
		const struct cal_test_burst *b = &r->burst[i];
		double limit = limit_of_burst(b, usual[within_machine(r, b)], tick);
		enum cal_test_value now = b->low_s > limit || b->high_s < -limit ? CAL_TEST_VALUE_UNFIT
			: fabs(b->offset_s) > limit                              ? CAL_TEST_VALUE_UNKNOWN
										 : CAL_TEST_VALUE_FIT;

		if (now > found) {
			add_reason(why,
				"ranks %d and %d are off by %s after correction, %s, limit %s (a quarter of the "
				"latency): messages may seem to arrive "
				"before they were sent; synchronise more often (--timer-skip 0), use an idle machine, "
				"or %s",
				b->a, b->b, in_words(b->offset_s).text,
				now == CAL_TEST_VALUE_UNFIT ? "certainly" : "possibly", in_words(limit).text,
				other_timer(r));
			found = now;
		}
	}
	return found;
}

static const struct {
	const char *name; /* part of the JSON */
	enum cal_test_value (*judge)(const struct cal_test_result *r, struct cal_test_reason *why);
	/* clang-format off */
} rules[] = {
	{ "true error", judge_truth },
	{ "checks", judge_checks },
	{ "order", judge_order },
	{ "timers", judge_timers },
	{ "backward", judge_backward },
	{ "cores", judge_cores },
	{ "steps", judge_steps },
	{ "contradictions", judge_loops },
	{ "latency", judge_latency },
	{ "tick", judge_tick },
	{ "offset", judge_offset },
	{ "assumptions", judge_assumptions },
};
/* clang-format on */

/* ---- all of it ---- */

static void find_worst(struct cal_test_result *r)
{
	size_t i;

	for (i = 0; i < r->bursts; i++) {
		if (fabs(r->burst[i].offset_s) > fabs(r->burst[r->worst].offset_s)) {
			r->worst = i;
		}
	}
}

static void apply_rules(const struct cal_test_result *r, struct cal_test_verdict *v)
{
	struct cal_test_reason first;
	size_t k, decides = 0;

	for (k = 0; k < sizeof(rules) / sizeof(rules[0]) && v->reasons < CAL_TEST_MAX_REASONS; k++) {
		struct cal_test_reason *why = &v->reason[v->reasons];

		*why = (struct cal_test_reason){ .rule = rules[k].name };
		why->value = rules[k].judge(r, why);
		if (why->value > v->value) {
			v->value = why->value;
			decides = v->reasons;
		}
		v->reasons += why->value != CAL_TEST_VALUE_FIT;
	}
	first = v->reason[decides];
	memmove(&v->reason[1], &v->reason[0], decides * sizeof(first));
	v->reason[0] = first;
}

struct cal_test_words cal_test_latency_words(const struct cal_test_result *r)
{
	const struct cal_test_burst *w = &r->burst[r->worst];

	return cal_test_below_resolution(r, w) ? (struct cal_test_words){ "below resolution" } : in_words(w->latency_s);
}

/* The first half of the sentence: what was found for which timer. */
static size_t headline(const struct cal_test_result *r, char *buf, size_t size)
{
	const struct cal_test_burst *w = r->bursts ? &r->burst[r->worst] : NULL;
	char name[64];
	int n;

	short_name(r->run.rank[0].timer, name, sizeof(name));
	n = snprintf(buf, size, "%s is %s for tracing on %d rank%s: ", name, cal_test_value_words(r->verdict.value),
		r->ranks, r->ranks == 1 ? "" : "s");
	if (w) {
		n += snprintf(buf + n, size - (size_t)n, "offset %s +- %s, latency %s", in_words(w->offset_s).text,
			upper_in_words(cal_test_burst_bound(w)).text, cal_test_latency_words(r).text);
	} else {
		n += snprintf(buf + n, size - (size_t)n, "effective tick %s, %s per read",
			in_words(coarsest_tick(r)).text, in_words(r->rank[0].quality.cost_s.median).text);
	}
	return (size_t)n;
}

void cal_test_judge(struct cal_test_result *r)
{
	struct cal_test_verdict *v = &r->verdict;
	size_t n, k;

	*v = (struct cal_test_verdict){ .value = CAL_TEST_VALUE_FIT };
	find_worst(r);
	apply_rules(r, v);
	n = headline(r, v->text, sizeof(v->text));
	for (k = 0; k < v->reasons && n < sizeof(v->text); k++) {
		n += (size_t)snprintf(v->text + n, sizeof(v->text) - n, "; %s", v->reason[k].text);
	}
}
