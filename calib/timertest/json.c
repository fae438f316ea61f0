/* SPDX-License-Identifier: BSD-3-Clause */
/* The result as JSON, schema "timertest/1": seconds, hertz and ppm, null where something is unknown. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/newfile.h"
#include "calib/solve/assumptions.h"

/* Also tells an earlier result, which a new one replaces, from a file of the user. */
#define SCHEMA "timertest/1"

int cal_test_json_possible(const struct cal_test_options *o, struct tkm_err *err)
{
	struct tkm_newfile n;

	if (!o->json || strcmp(o->json, "-") == 0) {
		return 0;
	}
	if (!tkm_newfile_may_replace(o->json, SCHEMA, o->force) && access(o->json, F_OK) == 0) {
		return tkm_fail(
			err, TKM_ERR_EXISTS, "%s exists; --force replaces it, --json gives another name", o->json);
	}
	if (tkm_newfile_begin(&n, o->json, 1, err) < 0) {
		return -1;
	}
	tkm_newfile_abort(&n);
	return 0;
}

#ifdef HAVE_JANSSON

#include <jansson.h>

int cal_test_have_json(void)
{
	return 1;
}

static json_t *json_finite(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

/* Host names are bytes; JSON is UTF-8. */
static json_t *json_clean_text(const char *s)
{
	json_t *j = json_string(s);
	char clean[6000];
	size_t i;

	if (j) {
		return j;
	}
	for (i = 0; s[i] && i + 1 < sizeof(clean); i++) {
		clean[i] = (unsigned char)s[i] < 0x80 ? s[i] : '?';
	}
	clean[i] = '\0';
	return json_string(clean);
}

static json_t *environment_json(const struct tmr_env *e)
{
	const struct tmr_utc *u = &e->utc;
	json_t *ntp = u->status == TMR_UTC_REFUSED
		? json_null()
		: json_pack("{s:b,s:o,s:o,s:o,s:o,s:s}", "synchronised", u->status != TMR_UTC_UNSYNCHRONISED,
			  "freq_ppm", json_finite(u->freq_ppm), "offset_s", json_finite(u->offset_s), "maxerror_s",
			  json_finite(u->maxerror_s), "bound_s", json_finite(u->bound_s), "bound_from", u->why);
	char marker[20];

	snprintf(marker, sizeof(marker), "%016llx", (unsigned long long)e->vm_marker);
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "suspended_s",
		json_finite(e->suspended_s), "realtime_minus_boottime_s", json_finite(e->realtime_minus_boottime_s),
		"vm_marker", e->has_vm_marker ? json_string(marker) : json_null(), "host", json_clean_text(e->host),
		"boot_id", json_clean_text(e->boot_id), "kernel", json_clean_text(e->kernel), "hypervisor",
		json_clean_text(e->hypervisor), "cpu", json_clean_text(e->cpu), "clocksource",
		json_pack("{s:o,s:o}", "current", json_clean_text(e->clocksource), "available",
			json_clean_text(e->clocksources)),
		"tsc_invariant", e->tsc_invariant < 0 ? json_null() : json_boolean(e->tsc_invariant), "kernel_hz",
		json_finite(e->kernel_hz > 0 ? e->kernel_hz : NAN), "ntp", ntp);
}

static json_t *quality(const struct cal_rank *c, const struct tmr_quality *q)
{
	double period = 1 / (q->have_freq ? q->freq.hz : c->nominal_hz);

	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:I,s:o}", "name", json_clean_text(c->timer),
		"nominal_hz", json_finite(c->nominal_hz > 0 ? c->nominal_hz : NAN), "measured_hz",
		json_finite(q->have_freq ? q->freq.hz : NAN), "measured_se_ppm", json_finite(c->measured_se_ppm),
		"measured_bound_ppm", json_finite(c->measured_bound_ppm), "cost_s", json_finite(q->cost_s.median),
		"cost_ordered_s", json_finite(q->cost_ordered_s.median), "effective_tick_s",
		json_finite(c->effective_tick_s), "smallest_increment_s",
		json_finite((double)q->smallest_ticks * period), "increments", (json_int_t)q->increments,
		"backward_steps", (json_int_t)q->backward, "equal_share",
		json_finite((double)q->equal / (double)q->increments));
}

static json_t *steps(const struct cal_map *m)
{
	json_t *all = json_array();
	size_t k;

	for (k = 0; k < m->steps; k++) {
		const struct cal_step *s = &m->step[k];

		json_array_append_new(all,
			json_pack("{s:o,s:o,s:o,s:o,s:b}", "from_s",
				json_finite((double)s->from_global.v * m->period_s), "to_s",
				json_finite((double)s->to_global.v * m->period_s), "size_s", json_finite(s->size_s),
				"within_s", json_finite(s->within_s), "certain", s->certain));
	}
	return all;
}

/* Writes how the offsets to rank 0 stray from a line, and Allan deviations with their intervals. */
static json_t *wander_json(const struct cal_test_wander *w)
{
	json_t *allan = json_array();
	int i;

	for (i = 0; i < w->taus; i++) {
		json_array_append_new(
			allan, json_pack("[o,o]", json_finite(w->tau_s[i]), json_finite(w->deviation[i])));
	}
	return json_pack("{s:I,s:o,s:o,s:o}", "synchronisations", (json_int_t)w->sessions, "median_s",
		json_finite(w->left.median), "max_s", json_finite(w->left.max), "allan_deviation", allan);
}

static json_t *rank_json(const struct cal_test_result *r, int i)
{
	struct cal_test_wander w;
	const struct cal_rank *c = &r->run.rank[i];
	const struct cal_test_truth *t = &r->truth[i];
	struct cal_expected expected = cal_expected_error(&c->map);
	double bound = c->map.extra_s, proven = NAN, assumed = NAN;
	struct cal_test_uncorrected u = { NAN, NAN, NAN };
	struct cal_test_drift drift;
	json_t *j, *sync;
	size_t k;

	for (k = 0; k < c->map.nodes; k++) {
		bound = c->map.node[k].used ? fmax(bound, cal_map_session_bound(&c->map, c->map.node[k].local)) : bound;
	}
	sync = json_pack("{s:b,s:i,s:I,s:o,s:o,s:o,s:o,s:s,s:o,s:s,s:s,s:I,s:s,s:I,s:o,s:o}", "shares_clock",
		c->sync == CAL_SHARED, "with", c->sync == CAL_SHARED ? c->leader : i, "sessions",
		(json_int_t)c->sessions, "bound_s", json_finite(bound), "steps", steps(&c->map), "wander",
		json_finite(c->map.nodes ? c->map.max_wander : NAN), "assumed_drift", json_finite(c->max_drift),
		"assumed_drift_from", c->drift_from, "assumed_wander", json_finite(c->max_wander),
		"assumed_wander_from", c->wander_from, "contradiction", c->contradiction, "pairs",
		(json_int_t)c->map.pairs.n, "reference", c->reference, "checks", (json_int_t)expected.checks,
		"expected_error_median_s", json_finite(expected.median_s), "expected_error_999_s",
		json_finite(expected.most_s));
	if (c->map.nodes > 1) {
		cal_test_widest_bounds(&c->map, &proven, &assumed);
	}
	json_object_set_new(sync, "bound_between_proven_s", json_finite(proven));
	json_object_set_new(sync, "bound_between_assumed_s", json_finite(assumed));
	json_object_set_new(sync, "learned_wander", json_finite(c->map.learned_high > 0 ? c->map.learned_wander : NAN));
	cal_test_before_correction(&r->run, i, &u);
	json_object_set_new(
		sync, "shown_within_s", json_finite(c->sync == CAL_SHARED ? cal_test_shown_within(r, i) : NAN));
	json_object_set_new(sync, "drift_ppm", json_finite(cal_test_find_drift(c, &drift) == 0 ? drift.ppm : NAN));
	json_object_set_new(sync, "before_correction",
		json_pack("{s:o,s:o,s:o}", "offset_s", json_finite(u.offset_s), "low_s", json_finite(u.low_s), "high_s",
			json_finite(u.high_s)));
	j = json_pack("{s:i,s:o,s:o,s:o}", "rank", i, "env", environment_json(&r->rank[i].env), "timer",
		quality(c, &r->rank[i].quality), "sync", sync);
	if (cal_test_find_wander(&r->run, i, &w) == 0) {
		json_object_set_new(j, "strays", wander_json(&w));
	}
	if (t->known) {
		json_object_set_new(j, "truth",
			json_pack("{s:o,s:o,s:o,s:I,s:I}", "worst_s", json_finite(t->worst_s), "at_s",
				json_finite(t->worst_at_s), "bound_there_s", json_finite(t->bound_there_s), "points",
				(json_int_t)t->points, "outside_bound", (json_int_t)t->outside));
	}
	return j;
}

static json_t *burst_json(const struct cal_test_burst *b)
{
	return json_pack("{s:i,s:i,s:i,s:o,s:o,s:o,s:o,s:o,s:i}", "a", b->a, "b", b->b, "cycle", b->cycle, "time_s",
		json_finite(b->time_s), "offset_s", json_finite(b->offset_s), "latency_s", json_finite(b->latency_s),
		"low_s", json_finite(b->low_s), "high_s", json_finite(b->high_s), "exchanges", b->exchanges);
}

static json_t *matrix(const struct cal_test_result *r, const struct cal_test_matrix_of_node *n)
{
	json_t *pairs = json_array(), *j;
	size_t k;

	for (k = 0; k < n->m.pairs; k++) {
		const struct tmr_core_pair *p = &n->m.pair[k];

		json_array_append_new(pairs,
			json_pack("{s:i,s:i,s:o,s:o,s:s,s:i}", "a", (int)p->pu_a, "b", (int)p->pu_b, "low_s",
				json_finite(p->measured ? p->low_s : NAN), "high_s",
				json_finite(p->measured ? p->high_s : NAN), "result", tmr_pair_name(p->result),
				"contradictions", p->contradictions));
	}
	j = json_pack("{s:o,s:o,s:o}", "host", json_clean_text(r->rank[n->rank].env.host), "limit_s",
		json_finite(n->why[0] ? NAN : n->m.limit_s), "pairs", pairs);
	if (n->why[0]) {
		json_object_set_new(j, "not_measured", json_clean_text(n->why));
	}
	return j;
}

static json_t *verdict(const struct cal_test_verdict *v)
{
	json_t *reasons = json_array();
	size_t k;

	for (k = 0; k < v->reasons; k++) {
		json_array_append_new(reasons,
			json_pack("{s:s,s:s,s:o}", "rule", v->reason[k].rule, "value",
				cal_test_value_name(v->reason[k].value), "text", json_clean_text(v->reason[k].text)));
	}
	return json_pack("{s:s,s:i,s:o,s:o,s:o}", "status", cal_test_value_name(v->value), "exit_status",
		cal_test_exit_status(v->value), "reason", v->reasons ? json_clean_text(v->reason[0].text) : json_null(),
		"reasons", reasons, "text", json_clean_text(v->text));
}

static json_t *whole_result(const struct cal_test_options *o, const struct cal_test_result *r)
{
	json_t *ranks = json_array(), *bursts = json_array(), *nodes = json_array(), *causality;
	size_t k;
	int i;

	for (i = 0; i < r->ranks; i++) {
		json_array_append_new(ranks, rank_json(r, i));
	}
	for (k = 0; k < r->bursts; k++) {
		json_array_append_new(bursts, burst_json(&r->burst[k]));
	}
	for (i = 0; i < r->nodes; i++) {
		json_array_append_new(nodes, matrix(r, &r->matrix[i]));
	}
	causality = json_pack("{s:I,s:I,s:I,s:I,s:I,s:o,s:o}", "messages", (json_int_t)r->causality.messages,
		"reversed_uncorrected", (json_int_t)r->reversed_uncorrected, "reversed_corrected",
		(json_int_t)r->causality.before, "reversed", (json_int_t)r->causality.after, "moved",
		(json_int_t)r->causality.moved, "largest_shift_s",
		json_finite((double)r->causality.largest * r->run.period_s), "bound_there_s",
		json_finite((double)r->causality.largest_band * r->run.period_s));
	return json_pack("{s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "schema", SCHEMA, "program",
		PACKAGE_STRING, "started_unix_s", json_finite((double)r->run.realtime0_ns * 1e-9), "seconds",
		json_finite(o->seconds), "assumed_max_drift", json_finite(o->max_drift), "assumed_max_wander",
		json_finite(o->max_wander), "ranks", ranks, "bursts", bursts, "nodes", nodes, "causality", causality,
		"maximum", r->bursts ? burst_json(&r->burst[r->worst]) : json_null(), "verdict", verdict(&r->verdict));
}

int cal_test_write_json(
	const char *path, const struct cal_test_options *o, const struct cal_test_result *r, struct tkm_err *err)
{
	json_t *j = whole_result(o, r);
	struct tkm_newfile n = { .f = stdout };
	int to_file = strcmp(path, "-") != 0, rc;

	if (!j) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the JSON result");
	}
	if (to_file && tkm_newfile_begin(&n, path, tkm_newfile_may_replace(path, SCHEMA, o->force), err) < 0) {
		json_decref(j);
		return -1;
	}
	rc = json_dumpf(j, n.f, JSON_INDENT(1)) < 0 || putc('\n', n.f) == EOF;
	json_decref(j);
	if (to_file) {
		return tkm_newfile_commit(&n, err);
	}
	return rc ? tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot write JSON to standard output") : 0;
}

char *cal_test_json_text(const struct cal_test_options *o, const struct cal_test_result *r)
{
	json_t *j = whole_result(o, r);
	char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;

	json_decref(j);
	return text;
}

#else

char *cal_test_json_text(const struct cal_test_options *o, const struct cal_test_result *r)
{
	(void)o;
	(void)r;
	return NULL;
}

int cal_test_have_json(void)
{
	return 0;
}

int cal_test_write_json(
	const char *path, const struct cal_test_options *o, const struct cal_test_result *r, struct tkm_err *err)
{
	(void)path;
	(void)o;
	(void)r;
	return tkm_fail(err, TKM_ERR_UNAVAIL, "--json: this build has no jansson (configure --with-jansson)");
}

#endif
