/* SPDX-License-Identifier: BSD-3-Clause */
/* Learns rates from the .clk file of an earlier run; see calib/file/earlier.h. */
#include "config.h"
#include "calib/file/earlier.h"

#include <string.h>

#include "base/known.h"

struct range {
	double low, high;
};

static int is_same_clock(const struct cal_rank *a, const struct cal_rank *b)
{
	return tkm_known_equal(a->boot_id, b->boot_id) && tkm_known_equal(a->host, b->host) &&
		strcmp(a->timer, b->timer) == 0 && strcmp(a->reference, b->reference) == 0;
}

/* Seconds of the earlier run's axis per tick of that clock. Returns 0 or -1. */
static int seconds_per_tick(const struct cal_run *run, const struct cal_rank *clock, struct range *s)
{
	size_t i;

	for (i = 0; i < run->ranks; i++) {
		const struct cal_rank *r = &run->rank[i];
		const struct cal_map *m;

		if (!is_same_clock(r, clock)) {
			continue;
		}
		r = r->sync == CAL_SHARED && r->leader >= 0 && (size_t)r->leader < run->ranks ? &run->rank[r->leader]
											      : r;
		m = &r->map;
		if (r == &run->rank[run->master]) {
			s->low = s->high = 1 / cal_session_hz(r);
			return s->low > 0 ? 0 : -1;
		}
		if (cal_session_may_step(r) || r->contradiction[0] || m->may_step || m->steps || !(m->rate_low > 0)) {
			return -1;
		}
		s->low = (m->learned_high > 0 ? m->learned_low : m->rate_low) * run->period_s;
		s->high = (m->learned_high > 0 ? m->learned_high : m->rate_high) * run->period_s;
		return 0;
	}
	return -1;
}

int cal_earlier_rate(const struct cal_run *earlier, const struct cal_rank *child, const struct cal_rank *master,
	double wander, double *low, double *high)
{
	struct range c, m;

	if (earlier->contradicted || seconds_per_tick(earlier, child, &c) < 0 ||
		seconds_per_tick(earlier, master, &m) < 0) {
		return -1;
	}
	*low = c.low / m.high * (1 - wander);
	*high = c.high / m.low * (1 + wander);
	return 0;
}
