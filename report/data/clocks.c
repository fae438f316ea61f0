/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads the .clk file of a run, and computes the curves, bounds and verdict of its clocks. */
#include "config.h"
#include "report/data/clocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "report/html/html.h"

/* ---- loading ---- */

/* Reads a setting such as "tm_verdict = 'fit'" from the script that timertest wrote, with timertest's quoting. */
static void read_setting(const char *line, const char *name, char *to, size_t size)
{
	size_t n = strlen(name), i = 0;

	if (strncmp(line, name, n) || strncmp(line + n, " = '", 4)) {
		return;
	}
	for (line += n + 4; *line && i + 1 < size; line++) {
		if (*line == '\'' && line[1] != '\'') {
			break;
		}
		line += *line == '\'';
		to[i++] = *line;
	}
	to[i] = '\0';
}

static void read_verdict(struct vtr_clocks *c, const char *base)
{
	char path[1100], line[1200];
	FILE *f;
	int i;

	snprintf(path, sizeof(path), "%s.gnuplot", base);
	f = fopen(path, "r");
	for (i = 0; f && i < 40 && fgets(line, sizeof(line), f); i++) {
		read_setting(line, "tm_verdict", c->verdict, sizeof(c->verdict));
		read_setting(line, "tm_reason", c->reason, sizeof(c->reason));
	}
	if (f) {
		fclose(f);
	}
}

/* The bound of a stamp that was taken when the sessions' clock showed `session`. If the clock is steered, the stamp
 * is of another clock than the sessions', and the uncertainty between the two is added to the bound. */
static double bound_at(const struct cal_map *m, ltick_t session)
{
	double bound = cal_map_session_bound(m, session);

	return m->pairs.n ? fmax(bound, cal_map_bound(m, cal_pairs_local(&m->pairs, session))) : bound;
}

/* Is the instant between the two sessions before and after a step? */
static int near_step(const struct cal_map *m, double global)
{
	size_t k;

	for (k = 0; k < m->steps; k++) {
		if (global >= (double)m->step[k].from_global.v - 1 && global <= (double)m->step[k].to_global.v + 1) {
			return 1;
		}
	}
	return 0;
}

/* The largest bound between the readings of a steered clock, which lie closer together than the instants of the curves. */
static double steered_bound(const struct cal_map *m)
{
	double most = 0;
	size_t k;
	int part;

	for (k = 0; k + 1 < m->pairs.n; k++) {
		const struct cal_reading *a = &m->pairs.pair[k], *b = &m->pairs.pair[k + 1];

		for (part = 0; part < 8; part++) {
			double bound = cal_map_bound(m, ltick_add(a->local, ltick_sub(b->local, a->local) * part / 8));

			most = bound > most ? bound : most;
		}
	}
	return most;
}

/* The stamp of the sessions' clock at that global time, from the piece of the map that contains it. */
static ltick_t stamp_at(const struct cal_map *m, int64_t global)
{
	size_t i = m->pieces;
	const struct cal_piece *p;

	while (--i > 0 && m->piece[i].global.v > global) {
	}
	p = &m->piece[i];
	return ltick_add(
		p->local, (int64_t)llround((double)(global - p->global.v) * ((double)p->length / (double)p->rise)));
}

double vtr_clock_start(const struct vtr_clocks *c, size_t rank)
{
	double at[2];
	int i;

	for (i = 0; i < 2; i++) {
		const struct cal_rank *r = &c->run.rank[i ? rank : (size_t)c->run.master];
		const struct cal_map *m = &r->map;
		int steered = m->pairs.n && m->pairs.hz > 0;
		double hz = steered ? m->pairs.hz : cal_session_hz(r);
		ltick_t stamp = m->pieces ? stamp_at(m, 0) : (ltick_t){ 0 };

		at[i] = m->pieces && hz > 0
			? (double)ltick_sub(steered ? cal_pairs_local(&m->pairs, stamp) : stamp, (ltick_t){ 0 }) / hz
			: NAN;
	}
	return at[1] - at[0];
}

static void judge(struct vtr_clocks *c)
{
	double offset[VTR_INSTANTS], bound[VTR_INSTANTS], master[VTR_INSTANTS], start;
	size_t r, i;

	c->worst_rank = c->largest_rank = -1;
	if (c->run.master < 0 || (size_t)c->run.master >= c->run.ranks) {
		return;
	}
	vtr_clock_curves(c, (size_t)c->run.master, master, bound);
	for (r = 0; r < c->run.ranks; r++) {
		const struct cal_rank *rank = &c->run.rank[r];

		vtr_clock_curves(c, r, offset, bound);
		start = vtr_clock_start(c, r);
		start = isnan(start) ? 0 : start;
		c->steps += rank->map.steps;
		c->contradictions += rank->contradiction[0] != '\0';
		c->shared += rank->sync == CAL_SHARED;
		if (steered_bound(&rank->map) > c->worst_s) {
			c->worst_s = c->calm_s = steered_bound(&rank->map);
			c->worst_rank = (int)r;
		}
		for (i = 0; i < rank->map.nodes; i++) {
			double b = bound_at(&rank->map, rank->map.node[i].local);

			c->worst_s = b > c->worst_s ? b : c->worst_s;
			if (!near_step(&rank->map, (double)rank->map.node[i].global.v)) {
				c->calm_s = b > c->calm_s ? b : c->calm_s;
			}
		}
		for (i = 0; i < VTR_INSTANTS; i++) {
			if (bound[i] >= c->worst_s) {
				c->worst_s = bound[i];
				c->worst_rank = (int)r;
			}
			if (bound[i] > c->calm_s &&
				!near_step(&rank->map, (double)c->run.end.v * (double)i / (VTR_INSTANTS - 1))) {
				c->calm_s = bound[i];
			}
			if ((int)r != c->run.master && fabs(start + offset[i] - master[i]) >= c->largest_s) {
				c->largest_s = fabs(start + offset[i] - master[i]);
				c->largest_start_s = start;
				c->largest_rank = (int)r;
			}
		}
	}
}

void vtr_clocks_load(struct vtr_clocks *c, const char *base)
{
	struct tkm_err err;
	struct stat st;

	memset(c, 0, sizeof(*c));
	snprintf(c->path, sizeof(c->path), "%s.clk", base);
	if (stat(c->path, &st) < 0) {
		return;
	}
	if (cal_clk_load(c->path, &c->run, &err) < 0) {
		snprintf(c->why, sizeof(c->why), "%s", err.text);
		return;
	}
	c->loaded = 1;
	read_verdict(c, base);
	judge(c);
	if (c->largest_rank >= 0) {
		c->largest_ppm = 1e6 *
			(vtr_clock_rate(c, (size_t)c->largest_rank).likely -
				vtr_clock_rate(c, (size_t)c->run.master).likely);
	}
}

void vtr_clocks_free(struct vtr_clocks *c)
{
	if (c->loaded) {
		cal_run_free(&c->run);
	}
	c->loaded = 0;
}

/* ---- curves ---- */

void vtr_clock_curves(const struct vtr_clocks *c, size_t rank, double *uncorrected, double *bound)
{
	const struct cal_rank *r = &c->run.rank[rank];
	const struct cal_map *m = &r->map;
	int steered = m->pairs.n && m->pairs.hz > 0;
	double hz = steered ? m->pairs.hz : cal_session_hz(r), period = c->run.period_s;
	ltick_t stamp, shown, first = { 0 };
	int64_t global;
	int i;

	for (i = 0; i < VTR_INSTANTS; i++) {
		uncorrected[i] = bound[i] = NAN;
		if (!m->pieces) {
			continue;
		}
		global = (int64_t)((double)c->run.end.v * i / (VTR_INSTANTS - 1));
		if (i == VTR_INSTANTS - 1 && m->piece[m->pieces - 1].global.v > global) {
			global = m->piece[m->pieces - 1].global.v; /* the clock stepped at the very end */
		}
		stamp = stamp_at(m, global);
		bound[i] = bound_at(m, stamp);
		shown = steered ? cal_pairs_local(&m->pairs, stamp) : stamp;
		first = i ? first : shown;
		if (hz > 0) {
			uncorrected[i] = (double)ltick_sub(shown, first) / hz - (double)global * period;
		}
	}
}

struct vtr_rate vtr_clock_rate(const struct vtr_clocks *c, size_t rank)
{
	const struct cal_rank *r = &c->run.rank[rank];
	const struct cal_map *m = &r->map;
	const struct cal_node *a = NULL, *b = NULL;
	double hz = cal_session_hz(r), length;
	struct vtr_rate v = { NAN, NAN, NAN };
	size_t last = m->nodes;

	if (!(hz > 0) || !m->pieces) {
		return v;
	}
	if (m->parts > 1) {
		last = m->part[0].nodes; /* a step is no rate: use the first stretch without one */
	}
	if (last > 1) {
		a = &m->node[0];
		b = &m->node[last - 1];
		length = (double)ltick_sub(b->local, a->local) / (hz * c->run.period_s);
		v.likely = length / (double)gtick_sub(b->global, a->global) - 1;
		v.low = length / (double)gtick_sub(b->high, a->low) - 1;
		v.high = length / (double)gtick_sub(b->low, a->high) - 1;
		if (gtick_sub(b->low, a->high) <= 0) {
			v.high = NAN;
		}
	} else {
		v.likely = (double)m->piece[0].length / (hz * c->run.period_s) / (double)m->piece[0].rise - 1;
	}
	return v;
}

/* ---- verdict ---- */

enum vtr_grade vtr_clocks_verdict(const struct vtr_clocks *c, unsigned processes, char *buf, size_t size)
{
	char a[60];
	int n;

	if (c->why[0]) {
		snprintf(buf, size, "Clocks: unknown, the correction cannot be read: %s", c->why);
		return VTR_WARN;
	}
	if (!c->loaded) {
		snprintf(buf, size,
			processes < 2 ? "Clocks: one process, whose stamps are compared with no other clock."
				      : "Clocks: unknown. There is no %s that says how well the clocks of the %u "
					"processes agree.",
			c->path, processes);
		return processes < 2 ? VTR_GOOD : VTR_WARN;
	}
	n = c->verdict[0] ? snprintf(buf, size, "Clocks: %s for tracing. ", c->verdict)
			  : snprintf(buf, size, "Clocks: ");
	n += snprintf(buf + n, size - (size_t)n,
		"%stamps of all ranks agree with those of rank %d to within %s (bound)", c->verdict[0] ? "S" : "s",
		c->run.master, vtr_value(a, sizeof(a), c->worst_s, "s"));
	if (c->steps && c->calm_s < c->worst_s) {
		n += snprintf(buf + n, size - (size_t)n, ", away from steps to within %s",
			vtr_value(a, sizeof(a), c->calm_s, "s"));
	}
	snprintf(buf + n, size - (size_t)n, "%s.",
		c->contradictions ? "; an assumption about a clock was wrong, and the bound is wider for it" : "");
	if (!strcasecmp(c->verdict, "not fit")) {
		return VTR_BAD;
	}
	return c->contradictions || c->steps || (c->verdict[0] && strcmp(c->verdict, "fit")) ? VTR_WARN : VTR_GOOD;
}
