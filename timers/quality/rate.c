/* SPDX-License-Identifier: BSD-3-Clause */
/* The true rate of a timer, from CLOCK_REALTIME and the error that the kernel states for it; see timers/quality/rate.h. */
#include "config.h"
#include "timers/quality/rate.h"

#include <math.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>

#include "base/least.h"

enum { TRIES = 20 };

static int64_t real_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

void tmr_mark_take(struct tmr_timer *t, struct tmr_mark *m)
{
	struct timex tx = { .modes = 0 };
	int i, state;

	memset(m, 0, sizeof(*m));
	m->width_ns = INT64_MAX;
	for (i = 0; i < TRIES; i++) {
		int64_t begin = real_now(), ticks = tmr_read_ordered(t).v, width = real_now() - begin;

		if (width >= 0 && width < m->width_ns) {
			m->ticks = ticks;
			m->real_ns = begin;
			m->width_ns = width;
		}
	}
	state = adjtimex(&tx);
	m->synchronised = state >= 0 && state != TIME_ERROR && !(tx.status & STA_UNSYNC) && m->width_ns != INT64_MAX;
	m->max_error_s = (double)tx.maxerror * 1e-6;
}

int tmr_true_rate_between(const struct tmr_mark *a, const struct tmr_mark *b, double lag_ticks, double real_lag_s,
	struct tmr_true_rate *out)
{
	double ticks = (double)(b->ticks - a->ticks), seconds = 1e-9 * (double)(b->real_ns - a->real_ns);
	double error = a->max_error_s + b->max_error_s + real_lag_s,
	       shortest = seconds - 1e-9 * (double)a->width_ns - error,
	       longest = seconds + 1e-9 * (double)b->width_ns + error;

	memset(out, 0, sizeof(*out));
	if (!a->synchronised || !b->synchronised || !(shortest > 0) || !(ticks > lag_ticks)) {
		return -1;
	}
	out->low_hz = (ticks - lag_ticks) / longest;
	out->high_hz = (ticks + lag_ticks) / shortest;
	out->seconds = seconds;
	out->max_error_s = tkm_most(a->max_error_s, b->max_error_s);
	return 0;
}
