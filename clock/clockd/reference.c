/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads UTC from the kernel's clock or from a PTP device, with an error bound; see clock/clockd/reference.h. */
#include "config.h"
#include "clock/clockd/reference.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "base/text/text.h"
#include "timers/quality/quality.h"

enum { ATTEMPTS = 8 };

/* The error that the kernel adds to its maximum error every second, all at once when the next second begins, or a tick
 * later (kernel/time/ntp.c, MAXFREQ). The error that has built up since then is not included yet. */
static double not_counted_yet(int64_t realtime_ns)
{
	const double drift = 500e-6, tick_ns = 10e6;

	return drift * ((double)(realtime_ns % 1000000000) + tick_ns);
}

/* ---- NTP ---- */

/* How far CLOCK_REALTIME can be off UTC, as the NTP daemon has told the kernel: the maximum error, the estimated error,
 * and the part of a correction that is still to be made (chrony puts that into the maximum, others may not). Returns ns
 * or -1. */
static double realtime_bound(struct timex *tx, char *why, size_t size)
{
	int state;

	memset(tx, 0, sizeof(*tx));
	state = adjtimex(tx);
	if (state < 0) {
		snprintf(why, size, "adjtimex: %s", strerror(errno));
		return -1;
	}
	if (state == TIME_ERROR || (tx->status & STA_UNSYNC)) {
		snprintf(why, size,
			"the kernel's clock is not synchronised (adjtimex): no NTP daemon keeps it, or it has no "
			"server");
		return -1;
	}
	if (state == TIME_OOP) {
		snprintf(why, size, "a leap second is being inserted");
		return -1;
	}
	return 1e3 * (double)(tx->maxerror + tx->esterror) +
		fabs((double)tx->offset) * (tx->status & STA_NANO ? 1 : 1e3);
}

/* The end of the UTC day of `now_ns` if a leap second is announced for it. */
static int64_t leap_of(const struct timex *tx, int64_t now_ns)
{
	const int64_t day = INT64_C(86400000000000);

	return tx->status & (STA_INS | STA_DEL) ? (now_ns / day + 1) * day : 0;
}

/* ---- both ---- */

static int64_t realtime_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Fills in raw, at_ns and *half_ns from the shortest attempt; *realtime: CLOCK_REALTIME minus the device at that
 * time. */
static void bracket(const struct tkc_reference *r, struct tkc_reading *out, double *half_ns, int64_t *realtime)
{
	double ns_per_tick = 1e9 / r->timer->hz;
	int64_t before, after, at, real, best = INT64_MAX;
	int i;

	*realtime = 0;
	for (i = 0; i < ATTEMPTS; i++) {
		before = tmr_read_ordered(r->timer).v;
		at = r->device ? tmr_read_ordered(r->device).v : 0;
		real = realtime_ns();
		after = tmr_read_ordered(r->timer).v;
		if (after - before < best) {
			best = after - before;
			out->raw = before + best / 2;
			out->at_ns = r->device ? at : real;
			*realtime = real - out->at_ns;
		}
	}
	*half_ns = (0.5 * (double)best + 1) * ns_per_tick + 1e9 * r->lag_s;
}

/* The device's bound now, ns; -1: it states none. */
static double device_bound(const struct tkc_reference *r)
{
	char text[64];
	long long ns;
	int root = tkm_root_open("/");

	tkm_root_line(root, r->bound_path, text, sizeof(text));
	close(root);
	/* the driver of EC2's network cards states 2^32 - 1 if the bound is unknown */
	return tkm_parse_int(text, 0, UINT32_MAX - 1LL, &ns) == 0 ? (double)ns : -1;
}

void tkc_reference_read(const struct tkc_reference *r, struct tkc_reading *out)
{
	struct timex before, after;
	double first, second, half, realtime;
	int64_t apart;

	memset(out, 0, sizeof(*out));
	out->status = TICKMARK_UNSYNCHRONISED;
	first = r->device ? device_bound(r) : realtime_bound(&before, out->reason, sizeof(out->reason));
	bracket(r, out, &half, &apart);
	/* once more: somebody may have set the clock or its bound meanwhile */
	second = r->device ? device_bound(r) : realtime_bound(&after, out->reason, sizeof(out->reason));
	if (first < 0 || second < 0) {
		if (r->device) {
			snprintf(
				out->reason, sizeof(out->reason), "the driver of %.63s states no error bound", r->name);
		}
		return;
	}
	out->status = TICKMARK_OK;
	if (r->device) {
		out->half_ns = fmax(first, second) + half;
		out->realtime_half_ns = out->half_ns + fabs((double)apart) + 1e9 * r->realtime_tick_s;
	} else {
		realtime = fmax(first, second) + not_counted_yet(out->at_ns) + 1e9 * r->realtime_tick_s;
		out->half_ns = realtime + half;
		out->realtime_half_ns = realtime;
	}
	out->leap_ns = r->device ? 0 : leap_of(&after, out->at_ns);
}

static double tick_of(const char *name)
{
	struct tmr_quality q;
	struct tmr_timer *t = tmr_open(name, 0, NULL);
	double tick = 1e-9;

	if (t && tmr_quality_measure(t, 0.02, 1, &q, NULL) == 0) {
		tick = fmax(tick, tmr_effective_tick(t, &q));
	}
	tmr_close(t);
	return tick;
}

static int open_ptp_device(struct tkc_reference *r, struct tkm_err *err)
{
	const char *base = strrchr(r->name, '/');

	r->device = tmr_open(r->name, 0, err);
	if (!r->device) {
		return -1;
	}
	snprintf(r->bound_path, sizeof(r->bound_path), "/sys/class/ptp/%.32s/device/phc_error_bound",
		base ? base + 1 : "");
	if (device_bound(r) < 0) {
		return tkm_fail(err, TKM_ERR_UNAVAIL,
			"%s: its driver states no error bound (%s), so nothing is certain of its time", r->name,
			r->bound_path);
	}
	return 0;
}

int tkc_reference_open(
	struct tkc_reference *r, const char *name, struct tmr_timer *timer, double lag_s, struct tkm_err *err)
{
	struct timex tx;
	char why[160];
	int rc = 0;

	memset(r, 0, sizeof(*r));
	snprintf(r->name, sizeof(r->name), "%s", name);
	r->timer = timer;
	r->lag_s = lag_s;
	if (!strcmp(name, "ntp")) {
		if (realtime_bound(&tx, why, sizeof(why)) < 0) {
			return tkm_fail(err, TKM_ERR_UNAVAIL, "no bound for UTC: %s", why);
		}
	} else if (!strncmp(name, "ptp:", 4)) {
		rc = open_ptp_device(r, err);
	} else {
		return tkm_fail(err, TKM_ERR_ARG, "'%s': the references ntp and ptp:/dev/ptpN are known", name);
	}
	if (rc == 0) {
		r->realtime_tick_s = tick_of("clock_realtime");
	}
	return rc;
}

void tkc_reference_close(struct tkc_reference *r)
{
	tmr_close(r->device);
	r->device = NULL;
}
