/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing correction data. Doubles are written with 17 digits, so that they come back bit for bit; the decimal
 * separator is always a point, whatever the locale of the program that loads this library. */
#include "config.h"
#include "calib/file/clk.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "calib/solve/assumptions.h"

/* %.17g with a point; not finite values are "unknown". */
static void put_double(FILE *f, double v)
{
	char b[40], *p;

	if (!isfinite(v)) {
		fputs(" unknown", f);
		return;
	}
	snprintf(b, sizeof(b), " %.17g", v);
	p = strchr(b, ',');
	if (p) {
		*p = '.';
	}
	fputs(b, f);
}

static void put_quoted(FILE *f, const char *key, const char *s)
{
	fprintf(f, "%s \"", key);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\') {
			fprintf(f, "\\%c", c);
		} else if (c < 0x20 || c == 0x7f) {
			fprintf(f, "\\%03o", c);
		} else {
			putc(c, f);
		}
	}
	fputs("\"\n", f);
}

static void put_key_double(FILE *f, const char *key, double v)
{
	fputs(key, f);
	put_double(f, v);
	putc('\n', f);
}

static void write_clk_samples(FILE *f, const struct cal_session *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		const struct cal_sample *p = &s->sample[i];

		fprintf(f, "sample %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %d\n", p->send.v, p->master_in.v,
			p->master_out.v, p->recv.v, p->kept);
	}
}

/* A steered clock, and the free one beside it that the sessions measured. */
static void write_reference(FILE *f, const struct cal_rank *r)
{
	if (!(r->reference_hz > 0)) {
		return;
	}
	put_quoted(f, "reference", r->reference);
	put_key_double(f, "reference-hz", r->reference_hz);
	put_key_double(f, "reference-tick", r->reference_tick_s);
	put_key_double(f, "max-slew", r->pairs.max_slew);
	put_key_double(f, "slew-limit", r->pairs.slew_limit);
}

static void write_pairs(FILE *f, const struct cal_rank *r, size_t from)
{
	size_t i;

	for (i = from; r->reference_hz > 0 && i < r->pairs.n && r->sync == CAL_OWN; i++) {
		const struct cal_reading *p = &r->pairs.pair[i];

		fprintf(f, "pair %" PRId64 " %" PRId64 " %" PRId64 " %d\n", p->local.v, p->before.v, p->after.v,
			p->over);
	}
}

/* The clocks of the kernel beside the timer. */
static void write_clocks(FILE *f, const struct cal_rank *r)
{
	size_t i;
	int k;

	for (k = 0; k < CAL_CLOCKS; k++) {
		for (i = 0; i < r->clock[k].n; i++) {
			cal_clk_write_clock(f, k, &r->clock[k].pair[i]);
		}
	}
}

void cal_clk_write_clock(FILE *f, int clock, const struct cal_reading *p)
{
	fprintf(f, "clock %s %" PRId64 " %" PRId64 " %" PRId64 " %.0f %.0f\n", cal_clock_name(clock), p->local.v,
		p->before.v, p->after.v, ceil(p->off), ceil(p->longest));
}

static void write_assumptions(FILE *f, const struct cal_rank *r)
{
	if (r->max_wander > 0) {
		put_key_double(f, "assumed-drift", r->max_drift);
		put_quoted(f, "assumed-drift-from", r->drift_from);
		put_key_double(f, "assumed-wander", r->max_wander);
		put_quoted(f, "assumed-wander-from", r->wander_from);
	}
	if (r->has_disruption) {
		fprintf(f, "disruption-marker %" PRIu64 " changed %d\n", r->disruption, r->disruption_changed);
	}
}

static void write_findings(FILE *f, const struct cal_rank *r)
{
	struct cal_expected e = cal_expected_error(&r->map);

	if (r->contradiction[0]) {
		put_quoted(f, "contradiction", r->contradiction);
	}
	if (isfinite(e.median_s)) {
		fprintf(f, "expected-error");
		put_double(f, e.median_s);
		put_double(f, e.most_s);
		fprintf(f, " checks %zu\n", e.checks);
	}
}

static void write_clk_part(FILE *f, const struct cal_map *m, const struct cal_part *part)
{
	size_t i;

	for (i = part->node; i < part->node + part->nodes; i++) {
		const struct cal_node *n = &m->node[i];

		fprintf(f, "node %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %d %d\n", n->local.v, n->global.v,
			n->low.v, n->high.v, n->used, n->session);
	}
	for (i = part->piece; i < part->piece + part->pieces; i++) {
		const struct cal_piece *p = &m->piece[i];

		fprintf(f, "piece %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, p->local.v, p->global.v, p->length,
			p->rise);
		put_double(f, p->bend_begin);
		put_double(f, p->bend_end);
		putc('\n', f);
	}
}

static void write_sessions(FILE *f, const struct cal_rank *r, size_t from, size_t from_edge)
{
	size_t i;

	for (i = from; i < r->sessions; i++) {
		const struct cal_session *s = &r->session[i];

		fprintf(f, "session %s used %d samples %zu lost %zu\n", cal_session_name(s->kind), s->used, s->n,
			s->lost);
		write_clk_samples(f, s);
	}
	for (i = from_edge; i < r->edges; i++) {
		const struct cal_session *s = &r->edge[i];

		fprintf(f, "edge %s with %d session %zu samples %zu lost %zu\n", cal_session_name(s->kind), s->peer,
			s->at, s->n, s->lost);
		write_clk_samples(f, s);
	}
}

/* assumed: the largest drift of the rank's timer, from which that of the map differs once it was contradicted */
static void write_map(FILE *f, const struct cal_map *m, double assumed)
{
	struct cal_part whole = { 0, m->nodes, 0, m->pieces };
	size_t i;

	if (m->nodes && m->nominal > 0) {
		put_key_double(f, "nominal-rate", m->nominal);
	}
	if (m->nodes) {
		fprintf(f, "steps-possible %d\n", m->may_step);
		put_key_double(f, "wander", m->max_wander);
		if (m->max_drift > 0 && m->max_drift != assumed) {
			put_key_double(f, "drift", m->max_drift);
		}
		if (m->rate_high > 0) {
			fputs("rate", f);
			put_double(f, m->rate_low);
			put_double(f, m->rate_high);
			putc('\n', f);
		}
		if (m->learned_high > 0) {
			fputs("learned-rate", f);
			put_double(f, m->learned_low);
			put_double(f, m->learned_high);
			fprintf(f, " for %" PRId64 " wander", m->learned_for);
			put_double(f, m->learned_wander);
			putc('\n', f);
		}
	}
	if (m->parts < 2) {
		write_clk_part(f, m, &whole);
		return;
	}
	for (i = 0; i < m->parts; i++) {
		if (i > 0) {
			const struct cal_step *s = &m->step[i - 1];

			fprintf(f, "step %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, s->from.v, s->to.v,
				s->from_global.v, s->to_global.v);
			put_double(f, s->size_s);
			put_double(f, s->within_s);
			fprintf(f, " %d\n", s->certain);
		}
		fputs("part\n", f);
		write_clk_part(f, m, &m->part[i]);
	}
}

static void write_clock(FILE *f, const struct cal_rank *r)
{
	fprintf(f, "rank %d\n", r->rank);
	put_quoted(f, "host", r->host);
	put_quoted(f, "boot-id", r->boot_id);
	put_quoted(f, "time-namespace", r->time_ns);
	put_quoted(f, "timer", r->timer);
	put_key_double(f, "nominal-hz", r->nominal_hz > 0 ? r->nominal_hz : NAN);
	put_key_double(f, "measured-hz", r->measured_hz > 0 ? r->measured_hz : NAN);
	put_key_double(f, "measured-se-ppm", r->measured_se_ppm);
	put_key_double(f, "measured-bound-ppm", r->measured_bound_ppm);
	put_key_double(f, "effective-tick", r->effective_tick_s);
	if (r->may_step) {
		fputs("can-be-set 1\n", f);
	}
	if (r->sync == CAL_SHARED) {
		fprintf(f, "shares-clock-of %d\n", r->leader);
		put_key_double(f, "shared-within", r->shared_within_s);
	}
}

static void write_anchors(FILE *f, const struct cal_rank *r, size_t from)
{
	size_t i;

	for (i = from; i < r->anchors; i++) {
		fprintf(f, "anchor %" PRId64 " %" PRId64 " %" PRId64 "\n", r->anchor[i].local.v,
			r->anchor[i].realtime_ns, r->anchor[i].monotonic_ns);
	}
}

static int written(FILE *f, struct tkm_err *err)
{
	return ferror(f) ? tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot write correction data") : 0;
}

int cal_clk_write_rank(FILE *f, const struct cal_rank *r, struct tkm_err *err)
{
	write_clock(f, r);
	write_anchors(f, r, 0);
	write_assumptions(f, r);
	write_findings(f, r);
	write_reference(f, r);
	write_pairs(f, r, 0);
	write_clocks(f, r);
	write_sessions(f, r, 0, 0);
	write_map(f, &r->map, r->max_drift);
	fputs("end-rank\n", f);
	return written(f, err);
}

int cal_clk_write_new(FILE *f, const struct cal_rank *r, struct cal_clk_done *done, struct tkm_err *err)
{
	if (!done->begun) {
		write_clock(f, r);
		write_reference(f, r);
	}
	if (!done->begun || done->disruption_changed != r->disruption_changed) {
		write_assumptions(f, r);
	}
	write_anchors(f, r, done->anchors);
	write_pairs(f, r, done->pairs);
	write_sessions(f, r, done->sessions, done->edges);
	*done = (struct cal_clk_done){ .begun = 1,
		.disruption_changed = r->disruption_changed,
		.anchors = r->anchors,
		.pairs = r->pairs.n,
		.sessions = r->sessions,
		.edges = r->edges };
	return written(f, err);
}

int cal_clk_write(FILE *f, const struct cal_run *run, const char *program, struct tkm_err *err)
{
	int version = 1;
	size_t i;

	for (i = 0; i < run->ranks; i++) {
		version = run->rank[i].map.parts > 1 && version < 2 ? 2 : version;
		version = run->rank[i].reference_hz > 0 ? 3
							: version; /* samples, nodes and pieces are of another clock */
	}
	fprintf(f, "TICKMARK-CLK %d\n", version);
	put_quoted(f, "program", program);
	fprintf(f, "master %d\nranks %zu\n", run->master, run->ranks);
	put_key_double(f, "global-period", run->period_s);
	fprintf(f, "realtime-at-0 %" PRId64 "\n", run->realtime0_ns);
	fprintf(f, "end %" PRId64 "\n", run->end.v);
	fprintf(f, "clock-was-set %d\n", run->clock_was_set);
	fprintf(f, "interpolation %s\n", cal_interpolation_name(run->interpolation));
	put_key_double(f, "max-drift", run->max_drift);
	put_key_double(f, "max-wander", run->max_wander);
	for (i = 0; i < run->ranks; i++) {
		if (cal_clk_write_rank(f, &run->rank[i], err) < 0) {
			return -1;
		}
	}
	fputs("end-file\n", f);
	return written(f, err);
}
