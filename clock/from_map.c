/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns a clock map into the one line of a page; see clock/from_map.h. */
#include "config.h"
#include "clock/from_map.h"

#include <math.h>
#include <string.h>

static int64_t to_ticks(double seconds, double hz)
{
	return (int64_t)fmin(seconds * hz, 0x1p60);
}

/* How fast the error can grow with the distance from a stamp, in global ticks per local tick: the most by which the
 * true rate can differ from the line's slope, but at least the growth of the map's bound. */
static double growth(const struct cal_map *m, ltick_t raw, double slope, double low, double high, int64_t ticks)
{
	double at = cal_map_bound(m, raw), more = 2 * m->max_drift * slope, g;
	int64_t d;

	if (m->nodes == 0) {
		return 0;
	}
	if (low > 0) {
		more = fmax(fabs(high - slope), fabs(slope - low));
	}
	/* not below that: global ticks are whole numbers */
	for (d = ticks; d > ticks / 300; d /= 4) {
		g = (cal_map_bound(m, ltick_add(raw, d)) - at) / m->period_s / (double)d;
		more = fmax(more, g);
	}
	return more;
}

void tkc_from_map(const struct cal_map *m, ltick_t raw, double hz, double lag_s, double valid_s, struct tkc_map *out)
{
	/* global ticks are the n-th part of a nanosecond, n a whole number (cal_global_period) */
	int64_t n = llround(1e-9 / m->period_s), g = cal_map_at(m, raw).v;
	int64_t learned_until;
	double slope = cal_map_slope(m, raw);

	memset(out, 0, sizeof(*out));
	out->raw = raw.v;
	out->valid_ticks = to_ticks(valid_s, hz);
	out->at_ns = g / n;
	out->ns_per_tick = slope / (double)n;
	out->half_ns = (cal_map_bound(m, raw) + lag_s) * 1e9 + 1;
	out->grow = growth(m, raw, slope, m->rate_low, m->rate_high, out->valid_ticks) / (double)n;
	if (m->nodes && m->learned_high > 0) {
		learned_until = ltick_sub(ltick_add(m->node[m->nodes - 1].local, m->learned_for), raw);
		out->near_ticks = learned_until < 0 ? 0 : learned_until;
		out->near_grow = growth(m, raw, slope, m->learned_low, m->learned_high, out->near_ticks) / (double)n;
	}
	/* start of the last part: before it the clock had not yet stepped */
	out->since_raw =
		m->nodes ? m->node[m->parts ? m->part[m->parts - 1].node : 0].local.v : raw.v - (INT64_C(1) << 60);
	out->status = isfinite(out->half_ns) && out->half_ns < 0x1p60 && isfinite(out->grow) ? TICKMARK_OK
											     : TICKMARK_UNSYNCHRONISED;
	if (out->status != TICKMARK_OK) {
		out->half_ns = out->grow = 0;
		out->near_ticks = 0;
		out->reason = "the clock sessions so far give no bound";
	}
}

void tkc_from_master(ltick_t axis, ltick_t raw, double hz, double lag_s, double valid_s, struct tkc_map *out)
{
	int64_t x = ltick_sub(raw, axis);

	memset(out, 0, sizeof(*out));
	out->raw = raw.v;
	out->valid_ticks = to_ticks(valid_s, hz);
	out->at_ns = (int64_t)llroundl((long double)x * (1e9L / (long double)hz));
	out->ns_per_tick = 1e9 / hz;
	out->half_ns = lag_s * 1e9 + 0.5; /* the rounding error of at_ns */
	out->since_raw = raw.v - (INT64_C(1) << 60);
}
