/* SPDX-License-Identifier: BSD-3-Clause */
/* The true rate of a timer, from CLOCK_REALTIME and what is known of its error; see timers/quality/rate.h. */
#include "config.h"
#include "timers/quality/rate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/least.h"
#include "timers/quality/utc.h"

enum { TRIES = 20 };

static int64_t real_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

void tmr_mark_take(struct tmr_timer *t, struct tmr_mark *m)
{
	struct tmr_utc_watch watch = { .adjtimex = NULL };
	struct tmr_utc before, utc;
	int i;

	memset(m, 0, sizeof(*m));
	m->width_ns = INT64_MAX;
	tmr_utc_settle(&watch, &before);
	for (i = 0; i < TRIES; i++) {
		int64_t begin = real_now(), ticks = tmr_read_ordered(t).v, width = real_now() - begin;

		if (width >= 0 && width < m->width_ns) {
			m->ticks = ticks;
			m->real_ns = begin;
			m->width_ns = width;
		}
	}
	/* once more: somebody may have set the clock or its bound meanwhile */
	tmr_utc_read(&watch, &utc);
	m->bounded = before.status == TMR_UTC_BOUNDED && utc.status == TMR_UTC_BOUNDED && m->width_ns != INT64_MAX;
	m->max_error_s = m->bounded ? tkm_most(before.bound_s, utc.bound_s) : 0;
	snprintf(m->why, sizeof(m->why), "%s", before.status == TMR_UTC_BOUNDED ? utc.why : before.why);
}

int tmr_true_rate_between(const struct tmr_mark *a, const struct tmr_mark *b, double lag_ticks, double real_lag_s,
	struct tmr_true_rate *out)
{
	double ticks = (double)(b->ticks - a->ticks), seconds = 1e-9 * (double)(b->real_ns - a->real_ns);
	double error = a->max_error_s + b->max_error_s + real_lag_s,
	       shortest = seconds - 1e-9 * (double)a->width_ns - error,
	       longest = seconds + 1e-9 * (double)b->width_ns + error;

	memset(out, 0, sizeof(*out));
	if (!a->bounded || !b->bounded) {
		snprintf(out->why, sizeof(out->why), "%s", a->bounded ? b->why : a->why);
		return -1;
	}
	if (!(shortest > 0) || !(ticks > lag_ticks)) {
		return -1;
	}
	out->low_hz = (ticks - lag_ticks) / longest;
	out->high_hz = (ticks + lag_ticks) / shortest;
	out->seconds = seconds;
	out->max_error_s = tkm_most(a->max_error_s, b->max_error_s);
	return 0;
}
