/* SPDX-License-Identifier: BSD-3-Clause */
/* What the correction of the clocks found. */
#include "config.h"
#include "report/findings/show.h"

#include <math.h>
#include <stdio.h>

#include "report/html/html.h"

/* ": 1 ms at the start, and 100 us more by drift (10 ppm = 0.864 s a day)"; what is nothing beside the rest is left out. */
static void describe_correction(const struct vtr_clocks *c, char *to, size_t size)
{
	double more = c->largest_s - fabs(c->largest_start_s);
	char a[60], b[60], rate[80] = "";

	if (!isnan(c->largest_ppm) && fabs(c->largest_ppm) >= 0.001) {
		snprintf(rate, sizeof(rate), " (%.3g ppm = %.3g s a day)", c->largest_ppm,
			fabs(c->largest_ppm) * 0.0864);
	}
	if (fabs(c->largest_start_s) < 0.01 * c->largest_s) {
		snprintf(to, size, rate[0] ? ", by its drift%s%s" : "", c->steps ? " and steps" : "", rate);
	} else if (more < 0.001 * c->largest_s) {
		snprintf(to, size, ", as at the start");
	} else {
		snprintf(to, size, ": %s at the start, and %s more by drift%s%s",
			vtr_value(a, sizeof(a), fabs(c->largest_start_s), "s"), vtr_value(b, sizeof(b), more, "s"),
			c->steps ? " and steps" : "", rate);
	}
}

void vtr_find_in_clocks(struct vtr_findings *all, const struct vtr_clocks *c)
{
	char a[60], b[60], d[200];
	size_t r;

	if (!c->loaded) {
		return;
	}
	if (c->reason[0]) {
		vtr_find(all, "timertest", 210, VTR_WARN, "What timertest says", "%s.", c->reason);
	}
	for (r = 0; r < c->run.ranks && c->steps; r++) {
		const struct cal_rank *k = &c->run.rank[r];

		if (k->map.steps) {
			vtr_find(all, "clock-stepped", 505, VTR_BAD, "A clock was stepped",
				"The clock of rank %zu on %s jumped by %s between %s and %s; %zu step%s in the whole "
				"run. The "
				"correction takes them away.",
				r, k->host, vtr_value(a, sizeof(a), k->map.step[0].size_s, "s"),
				vtr_value(b, sizeof(b), (double)k->map.step[0].from_global.v * c->run.period_s, "s"),
				vtr_value(d, sizeof(d), (double)k->map.step[0].to_global.v * c->run.period_s, "s"),
				c->steps, c->steps == 1 ? "" : "s");
			break;
		}
	}
	for (r = 0; r < c->run.ranks && c->contradictions; r++) {
		if (c->run.rank[r].contradiction[0]) {
			vtr_find(all, "clock-assumption", 215, VTR_WARN, "An assumption about a clock was wrong",
				"Rank %zu: %s.", r, c->run.rank[r].contradiction);
			break;
		}
	}
	/* less than its own bound may be nothing: under load, it is not always shown that the ranks of a node have one clock */
	if (c->shared + 1 < c->run.ranks && c->largest_rank >= 0 && c->largest_s > (c->steps ? 0 : c->worst_s)) {
		describe_correction(c, d, sizeof(d));
		vtr_find(all, "correction", c->largest_s > c->worst_s ? 15 : 2, VTR_UNKNOWN,
			"What correction took away",
			"Without correction the clock of rank %d would be up to %s off that of rank %d%s; with it, all are "
			"within %s.",
			c->largest_rank, vtr_value(a, sizeof(a), c->largest_s, "s"), c->run.master, d,
			vtr_value(b, sizeof(b), c->worst_s, "s"));
	}
}
