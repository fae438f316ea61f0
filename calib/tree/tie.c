/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank knows by itself about the master's clock; see calib/tree/tie.h. */
#include "config.h"
#include "calib/tree/tie.h"

#include <math.h>

#include "calib/map/fit.h"

void cal_offset_estimate_begin(struct cal_offset_estimate *t, int master, double hz, double master_hz,
	double effective_tick_s, double max_drift)
{
	double ticks = effective_tick_s * hz;

	*t = (struct cal_offset_estimate){ .known = master,
		.hz = hz,
		.master_hz = master_hz,
		.tick = isfinite(ticks) && ticks >= 1 ? ticks : 1,
		.max_drift = max_drift,
		.slope = master ? 1 : master_hz / hz,
		.error = master ? 0 : 2 * max_drift };
}

void cal_offset_estimate_renew(struct cal_offset_estimate *t)
{
	t->known = t->error == 0;
	t->hops = 0;
	t->point = (struct cal_point){ .kept = 0 };
}

/* The other rank's ticks per tick of this one, by what is known of both, or of any two clocks. */
static double slope_to(const struct cal_offset_estimate *t, const struct cal_offset_estimate *of, double *error)
{
	double believed = 2 * t->max_drift;

	*error = t->error + of->error;
	if (*error < believed) {
		return t->slope / of->slope;
	}
	*error = believed;
	return of->hz / t->hz;
}

void cal_offset_estimate_extend(
	struct cal_offset_estimate *t, const struct cal_offset_estimate *of, const struct cal_session *s)
{
	double error, slope = slope_to(t, of, &error), away, reach, wide, low, high, value, whole;
	struct cal_point p, from;

	if (!of->known || cal_condense(s, slope, error, t->tick, of->tick, CAL_QUIET, &p, NULL) < 0) {
		return;
	}
	low = fmin(p.low, p.high);
	high = fmax(p.low, p.high);
	/* from the instant at which the other knows the master's clock to the one of the exchange, by the other's; the
	 * master knows its own at any */
	from = of->error == 0 ? (struct cal_point){ .local = p.master, .master = p.master } : of->point;
	away = of->slope * (double)ltick_sub(p.master, from.local);
	reach = fabs(away) + of->slope * fmax(fabs(low), fabs(high));
	wide = of->error * reach;
	value = from.fraction + away + of->slope * p.fraction;
	low = from.low + away + of->slope * low - wide;
	high = from.high + away + of->slope * high + wide;
	if (t->known && high - low >= t->point.high - t->point.low) {
		return;
	}
	whole = floor(value);
	t->known = 1;
	t->hops = of->hops + 1;
	t->point = (struct cal_point){ .local = p.local,
		.master = ltick_add(from.master, (int64_t)whole),
		.fraction = value - whole,
		.low = low - whole,
		.high = high - whole,
		.sigma = hypot(from.sigma, of->slope * p.sigma),
		.kept = p.kept,
		.all = p.all };
}
