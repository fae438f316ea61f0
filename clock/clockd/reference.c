/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads UTC from the kernel's clock or from a PTP device, with an error bound; see clock/clockd/reference.h. */
#include "config.h"
#include "clock/clockd/reference.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "timers/quality/quality.h"

enum { ATTEMPTS = 8 };

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

/* How far CLOCK_REALTIME, or the device, can be off UTC now, ns; -1: unknown, and out->reason says why. */
static double stated_bound(struct tkc_reference *r, struct tkc_reading *out, struct tmr_utc *utc)
{
	double ns;
	int root;

	tmr_utc_read(&r->watch, utc);
	if (!r->device) {
		snprintf(out->reason, sizeof(out->reason), "%s", utc->why);
		return utc->status == TMR_UTC_BOUNDED ? 1e9 * utc->bound_s : -1;
	}
	root = tkm_root_open("/");
	ns = tmr_utc_device_bound(root, r->device_name);
	close(root);
	if (ns < 0) {
		snprintf(out->reason, sizeof(out->reason), "the driver of %.63s states no error bound", r->name);
	}
	return ns;
}

/* Many PTP devices keep TAI. apart: CLOCK_REALTIME minus the device. */
static int keeps_tai(int64_t apart, const struct tmr_utc *utc)
{
	return fabs((double)apart + 1e9 * (utc->tai_s ? utc->tai_s : 37)) < 0.5e9;
}

void tkc_reference_read(struct tkc_reference *r, struct tkc_reading *out)
{
	struct tmr_utc utc;
	double first, second, half, realtime;
	int64_t apart;

	memset(out, 0, sizeof(*out));
	out->status = TICKMARK_UNSYNCHRONISED;
	first = stated_bound(r, out, &utc);
	bracket(r, out, &half, &apart);
	/* once more: somebody may have set the clock or its bound meanwhile */
	second = first < 0 ? -1 : stated_bound(r, out, &utc);
	if (second < 0) {
		return;
	}
	if (r->device && keeps_tai(apart, &utc)) {
		snprintf(out->reason, sizeof(out->reason), "%.63s keeps TAI, not UTC", r->name);
		return;
	}
	out->status = TICKMARK_OK;
	realtime = fmax(first, second) + 1e9 * r->realtime_tick_s;
	if (r->device) {
		out->half_ns = fmax(first, second) + half;
		out->realtime_half_ns = out->half_ns + fabs((double)apart) + 1e9 * r->realtime_tick_s;
	} else {
		out->half_ns = realtime + half;
		out->realtime_half_ns = realtime;
		out->leap_ns = utc.leap_ns;
	}
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
	struct tkc_reading reading;
	struct tmr_utc utc;

	r->device = tmr_open(r->name, 0, err);
	if (!r->device) {
		return -1;
	}
	snprintf(r->device_name, sizeof(r->device_name), "%.32s", base ? base + 1 : "");
	if (stated_bound(r, &reading, &utc) < 0) {
		return tkm_fail(err, TKM_ERR_UNAVAIL,
			"%s: its driver states no error bound (/sys/class/ptp/%s/device/phc_error_bound), so nothing "
			"is certain of its time",
			r->name, r->device_name);
	}
	return 0;
}

int tkc_reference_open(
	struct tkc_reference *r, const char *name, struct tmr_timer *timer, double lag_s, struct tkm_err *err)
{
	struct tmr_utc utc;
	int rc = 0;

	memset(r, 0, sizeof(*r));
	snprintf(r->name, sizeof(r->name), "%s", name);
	r->timer = timer;
	r->lag_s = lag_s;
	if (!strcmp(name, "ntp")) {
		tmr_utc_settle(&r->watch, &utc);
		if (utc.status != TMR_UTC_BOUNDED && utc.status != TMR_UTC_UNDECIDED) {
			return tkm_fail(err, TKM_ERR_UNAVAIL, "no bound for UTC: %s", utc.why);
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
