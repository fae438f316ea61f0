/* SPDX-License-Identifier: BSD-3-Clause */
/* The result as JSON, schema "timertest/1": seconds, hertz and ppm, null where something is unknown. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/newfile.h"

int tt_json_possible(const struct tt_options *o, struct tkm_err *err)
{
	struct tkm_newfile n;

	if (!o->json || strcmp(o->json, "-") == 0) {
		return 0;
	}
	if (!o->force && access(o->json, F_OK) == 0) {
		return tkm_fail(
			err, TKM_ERR_EXISTS, "%s exists; --force replaces it, --json gives another name", o->json);
	}
	if (tkm_newfile_begin(&n, o->json, o->force, err) < 0) {
		return -1;
	}
	tkm_newfile_abort(&n);
	return 0;
}

#ifdef HAVE_JANSSON

#include <jansson.h>

int tt_have_json(void)
{
	return 1;
}

static json_t *number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

/* Host names are bytes; JSON is UTF-8. */
static json_t *text(const char *s)
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

static json_t *environment(const struct tmr_env *e)
{
	json_t *ntp = e->ntp_known ? json_pack("{s:b,s:o,s:o,s:o}", "synchronised", e->ntp_synchronised, "freq_ppm",
					     number(e->ntp_freq_ppm), "offset_s", number(e->ntp_offset_s), "maxerror_s",
					     number(e->ntp_maxerror_s))
				   : json_null();

	char marker[20];

	snprintf(marker, sizeof(marker), "%016llx", (unsigned long long)e->vm_marker);
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "suspended_s", number(e->suspended_s),
		"realtime_minus_boottime_s", number(e->realtime_minus_boottime_s), "vm_marker",
		e->has_vm_marker ? json_string(marker) : json_null(), "host", text(e->host), "boot_id",
		text(e->boot_id), "kernel", text(e->kernel), "hypervisor", text(e->hypervisor), "cpu", text(e->cpu),
		"clocksource",
		json_pack("{s:o,s:o}", "current", text(e->clocksource), "available", text(e->clocksources)),
		"tsc_invariant", e->tsc_invariant < 0 ? json_null() : json_boolean(e->tsc_invariant), "kernel_hz",
		number(e->kernel_hz > 0 ? e->kernel_hz : NAN), "ntp", ntp);
}

static json_t *quality(const struct cal_rank *c, const struct tmr_quality *q)
{
	double period = 1 / (q->have_freq ? q->freq.hz : c->nominal_hz);

	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:I,s:o}", "name", text(c->timer), "nominal_hz",
		number(c->nominal_hz > 0 ? c->nominal_hz : NAN), "measured_hz", number(q->have_freq ? q->freq.hz : NAN),
		"measured_se_ppm", number(c->measured_se_ppm), "measured_bound_ppm", number(c->measured_bound_ppm),
		"cost_s", number(q->cost_s.median), "cost_ordered_s", number(q->cost_ordered_s.median),
		"effective_tick_s", number(c->effective_tick_s), "smallest_increment_s",
		number((double)q->smallest_ticks * period), "increments", (json_int_t)q->increments, "backward_steps",
		(json_int_t)q->backward, "equal_share", number((double)q->equal / (double)q->increments));
}

static json_t *steps(const struct cal_map *m)
{
	json_t *all = json_array();
	size_t k;

	for (k = 0; k < m->steps; k++) {
		const struct cal_step *s = &m->step[k];

		json_array_append_new(all,
			json_pack("{s:o,s:o,s:o,s:o,s:b}", "from_s", number((double)s->from_global.v * m->period_s),
				"to_s", number((double)s->to_global.v * m->period_s), "size_s", number(s->size_s),
				"within_s", number(s->within_s), "certain", s->certain));
	}
	return all;
}

/* Writes how the offsets to rank 0 stray from a line, and Allan deviations with their intervals. */
static json_t *wander_json(const struct tt_wander *w)
{
	json_t *allan = json_array();
	int i;

	for (i = 0; i < w->taus; i++) {
		json_array_append_new(allan, json_pack("[o,o]", number(w->tau_s[i]), number(w->deviation[i])));
	}
	return json_pack("{s:I,s:o,s:o,s:o}", "synchronisations", (json_int_t)w->sessions, "median_s",
		number(w->left.median), "max_s", number(w->left.max), "allan_deviation", allan);
}

static json_t *rank(const struct tt_result *r, int i)
{
	struct tt_wander w;
	const struct cal_rank *c = &r->run.rank[i];
	const struct tt_truth *t = &r->truth[i];
	struct cal_expected expected = cal_expected_error(&c->map);
	double bound = c->map.extra_s, proven = NAN, assumed = NAN;
	struct tt_uncorrected u = { NAN, NAN, NAN };
	json_t *j, *sync;
	size_t k;

	for (k = 0; k < c->map.nodes; k++) {
		bound = c->map.node[k].used ? fmax(bound, cal_map_session_bound(&c->map, c->map.node[k].local)) : bound;
	}
	sync = json_pack("{s:b,s:i,s:I,s:o,s:o,s:o,s:o,s:s,s:o,s:s,s:s,s:I,s:s,s:I,s:o,s:o}", "shares_clock",
		c->sync == CAL_SHARED, "with", c->sync == CAL_SHARED ? c->leader : i, "sessions",
		(json_int_t)c->sessions, "bound_s", number(bound), "steps", steps(&c->map), "wander",
		number(c->map.nodes ? c->map.max_wander : NAN), "assumed_drift", number(c->max_drift),
		"assumed_drift_from", c->drift_from, "assumed_wander", number(c->max_wander), "assumed_wander_from",
		c->wander_from, "contradiction", c->contradiction, "pairs", (json_int_t)c->map.pairs.n, "reference",
		c->reference, "checks", (json_int_t)expected.checks, "expected_error_median_s",
		number(expected.median_s), "expected_error_999_s", number(expected.most_s));
	if (c->map.nodes > 1) {
		tt_widest_bounds(&c->map, &proven, &assumed);
	}
	json_object_set_new(sync, "bound_between_proven_s", number(proven));
	json_object_set_new(sync, "bound_between_assumed_s", number(assumed));
	json_object_set_new(sync, "learned_wander", number(c->map.learned_high > 0 ? c->map.learned_wander : NAN));
	tt_before_correction(&r->run, i, &u);
	json_object_set_new(sync, "shown_within_s", number(c->sync == CAL_SHARED ? tt_shown_within(r, i) : NAN));
	json_object_set_new(sync, "drift_ppm",
		number(c->sync != CAL_SHARED && c->map.nodes && c->map.nominal > 0
				? 1e6 * (cal_map_session_slope(&c->map, c->map.node[0].local) / c->map.nominal - 1)
				: NAN));
	json_object_set_new(sync, "before_correction",
		json_pack("{s:o,s:o,s:o}", "offset_s", number(u.offset_s), "low_s", number(u.low_s), "high_s",
			number(u.high_s)));
	j = json_pack("{s:i,s:o,s:o,s:o}", "rank", i, "env", environment(&r->rank[i].env), "timer",
		quality(c, &r->rank[i].quality), "sync", sync);
	if (tt_find_wander(&r->run, i, &w) == 0) {
		json_object_set_new(j, "strays", wander_json(&w));
	}
	if (t->known) {
		json_object_set_new(j, "truth",
			json_pack("{s:o,s:o,s:o,s:I,s:I}", "worst_s", number(t->worst_s), "at_s", number(t->worst_at_s),
				"bound_there_s", number(t->bound_there_s), "points", (json_int_t)t->points,
				"outside_bound", (json_int_t)t->outside));
	}
	return j;
}

static json_t *burst(const struct tt_burst *b)
{
	return json_pack("{s:i,s:i,s:i,s:o,s:o,s:o,s:o,s:o,s:i}", "a", b->a, "b", b->b, "cycle", b->cycle, "time_s",
		number(b->time_s), "offset_s", number(b->offset_s), "latency_s", number(b->latency_s), "low_s",
		number(b->low_s), "high_s", number(b->high_s), "exchanges", b->exchanges);
}

static json_t *matrix(const struct tt_result *r, const struct tt_matrix_of_node *n)
{
	json_t *pairs = json_array(), *j;
	size_t k;

	for (k = 0; k < n->m.pairs; k++) {
		const struct tmr_core_pair *p = &n->m.pair[k];

		json_array_append_new(pairs,
			json_pack("{s:i,s:i,s:o,s:o,s:s,s:i}", "a", (int)p->pu_a, "b", (int)p->pu_b, "low_s",
				number(p->measured ? p->low_s : NAN), "high_s", number(p->measured ? p->high_s : NAN),
				"result", tmr_pair_name(p->result), "contradictions", p->contradictions));
	}
	j = json_pack("{s:o,s:o,s:o}", "host", text(r->rank[n->rank].env.host), "limit_s",
		number(n->why[0] ? NAN : n->m.limit_s), "pairs", pairs);
	if (n->why[0]) {
		json_object_set_new(j, "not_measured", text(n->why));
	}
	return j;
}

static json_t *verdict(const struct tt_verdict *v)
{
	json_t *reasons = json_array();
	size_t k;

	for (k = 0; k < v->reasons; k++) {
		json_array_append_new(reasons,
			json_pack("{s:s,s:s,s:o}", "rule", v->reason[k].rule, "value",
				tt_value_name(v->reason[k].value), "text", text(v->reason[k].text)));
	}
	return json_pack("{s:s,s:i,s:o,s:o,s:o}", "status", tt_value_name(v->value), "exit_status",
		tt_exit_status(v->value), "reason", v->reasons ? text(v->reason[0].text) : json_null(), "reasons",
		reasons, "text", text(v->text));
}

static json_t *whole_result(const struct tt_options *o, const struct tt_result *r)
{
	json_t *ranks = json_array(), *bursts = json_array(), *nodes = json_array(), *causality;
	size_t k;
	int i;

	for (i = 0; i < r->ranks; i++) {
		json_array_append_new(ranks, rank(r, i));
	}
	for (k = 0; k < r->bursts; k++) {
		json_array_append_new(bursts, burst(&r->burst[k]));
	}
	for (i = 0; i < r->nodes; i++) {
		json_array_append_new(nodes, matrix(r, &r->matrix[i]));
	}
	causality = json_pack("{s:I,s:I,s:I,s:I,s:I,s:o,s:o}", "messages", (json_int_t)r->causality.messages,
		"reversed_uncorrected", (json_int_t)r->reversed_uncorrected, "reversed_corrected",
		(json_int_t)r->causality.before, "reversed", (json_int_t)r->causality.after, "moved",
		(json_int_t)r->causality.moved, "largest_shift_s",
		number((double)r->causality.largest * r->run.period_s), "bound_there_s",
		number((double)r->causality.largest_band * r->run.period_s));
	return json_pack("{s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "schema", "timertest/1", "program",
		PACKAGE_STRING, "started_unix_s", number((double)r->run.realtime0_ns * 1e-9), "seconds",
		number(o->seconds), "assumed_max_drift", number(o->max_drift), "assumed_max_wander",
		number(o->max_wander), "ranks", ranks, "bursts", bursts, "nodes", nodes, "causality", causality,
		"maximum", r->bursts ? burst(&r->burst[r->worst]) : json_null(), "verdict", verdict(&r->verdict));
}

int tt_write_json(const char *path, const struct tt_options *o, const struct tt_result *r, struct tkm_err *err)
{
	json_t *j = whole_result(o, r);
	struct tkm_newfile n = { .f = stdout };
	int to_file = strcmp(path, "-") != 0, rc;

	if (!j) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the JSON result");
	}
	if (to_file && tkm_newfile_begin(&n, path, o->force, err) < 0) {
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

char *tt_json_text(const struct tt_options *o, const struct tt_result *r)
{
	json_t *j = whole_result(o, r);
	char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;

	json_decref(j);
	return text;
}

#else

char *tt_json_text(const struct tt_options *o, const struct tt_result *r)
{
	(void)o;
	(void)r;
	return NULL;
}

int tt_have_json(void)
{
	return 0;
}

int tt_write_json(const char *path, const struct tt_options *o, const struct tt_result *r, struct tkm_err *err)
{
	(void)path;
	(void)o;
	(void)r;
	return tkm_fail(err, TKM_ERR_UNAVAIL, "--json: this build has no jansson (configure --with-jansson)");
}

#endif
