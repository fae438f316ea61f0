/* SPDX-License-Identifier: BSD-3-Clause */
/* From what adjtimex() states to the error of CLOCK_REALTIME; see timers/quality/utc.h.
 *
 * Who sets the kernel's maximum error (M), the estimated error (E) and the flag "not synchronised" (F):
 *
 *	chronyd             M and E as it knows them, the offset that it is slewing included; F stays set without "rtcsync"
 *	ntpd, kernel loop   M and E as it knows them; STA_PLL; the kernel slews the offset
 *	systemd-timesyncd   M = 0, E = 0 at each poll, 32 s to 2048 s; STA_PLL
 *	phc2sys, ptp4l      M = 0 at each update; E stays as somebody left it, 16 s after boot; no STA_PLL
 *	OpenNTPD            likewise
 *	nobody              M = 16 s, and F
 *
 * The kernel adds 500 us to M each second, and sets F when M reaches 16 s; it never changes E. Whoever sets the time
 * (settimeofday(), ADJ_SETOFFSET) sets M to 16 s. So a 0 is no statement, and from a 0 M only has multiples of 500 us.
 */
#include "config.h"
#include "timers/quality/utc.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "base/text/text.h"

/* As in kernel/time/ntp.c, in us. */
enum { RISE = 500, LIMIT = 16000000 };

static const int64_t second_ns = 1000000000, tick_ns = 10000000;

/* The most by which the kernel lets the clock drift, and so what it adds to M. */
static const double allowed = 500e-6;

enum setter { UNSEEN, NUMBER, ZERO, UNDECIDED };

static int64_t utc_clock_ns(clockid_t id)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * second_ns + ts.tv_nsec;
}

/* Who has set M, by one reading. */
static enum setter setter_of(const struct timex *t, int flagged)
{
	/* kernels before 6.9 take a negative number, too */
	if (t->maxerror <= 0 || t->esterror < 0 || t->maxerror < t->esterror) {
		return ZERO;
	}
	if (flagged || t->maxerror % RISE != 0) {
		return NUMBER; /* who sets it to 0 clears the flag */
	}
	if (t->esterror == 0) {
		return ZERO;
	}
	return (t->status & STA_PLL) && t->maxerror > RISE ? NUMBER : UNDECIDED;
}

/* Has anybody set M since it was first seen as it is? It rises when a second begins, or a tick later. */
static int was_set(const struct tmr_utc_watch *w, long maxerror, int64_t now)
{
	int64_t passed = now - w->since_ns, fewest = (passed - 2 * tick_ns) / second_ns,
		most = (passed + 2 * tick_ns) / second_ns + 1, rise = maxerror - w->maxerror;

	return w->setter == UNSEEN || rise % RISE != 0 || rise / RISE < fewest || rise / RISE > most;
}

static enum setter watch_setting(struct tmr_utc_watch *w, const struct timex *t, int flagged)
{
	int64_t now = utc_clock_ns(CLOCK_MONOTONIC), most = (now - w->last_ns + 2 * tick_ns) / second_ns + 1;

	if (was_set(w, t->maxerror, now)) {
		enum setter setter = setter_of(t, flagged);

		/* it was set after the last reading, and cannot have risen from 0 so far */
		if (setter == UNDECIDED && w->setter != UNSEEN && t->maxerror > RISE * most) {
			setter = NUMBER;
		}
		w->setter = (int)setter;
		w->maxerror = t->maxerror;
		w->since_ns = now;
	}
	w->last_ns = now;
	return (enum setter)w->setter;
}

/* By how much the rate of the clock is changed, tick included. */
static double steered(const struct timex *t)
{
	double ticks = (double)sysconf(_SC_CLK_TCK), whole = ticks > 0 ? 1e6 / ticks : 1e4;

	return (double)t->freq / 65536e6 + (t->tick > 0 ? (double)t->tick / whole - 1 : 0);
}

/* The end of the UTC day of `now_ns` if a leap second is announced for it and has not been made. */
static int64_t leap_of(const struct timex *t, int state, int64_t now_ns)
{
	const int64_t day = 86400 * second_ns;

	return (t->status & (STA_INS | STA_DEL)) && state != TIME_WAIT ? (now_ns / day + 1) * day : 0;
}

static void judge(const struct timex *t, int state, enum setter setter, struct tmr_utc *out)
{
	double rate = steered(t);

	if (state == TIME_OOP) {
		out->status = TMR_UTC_LEAP;
		snprintf(out->why, sizeof(out->why), "a leap second is being inserted");
	} else if (t->maxerror >= LIMIT) {
		out->status = TMR_UTC_UNSYNCHRONISED;
		snprintf(out->why, sizeof(out->why),
			"not synchronised (maximum error 16 s%s): no NTP daemon keeps the clock, or it has no server",
			out->flagged ? "" : ", against the flag");
	} else if (fabs(rate) > allowed * (1 + 1e-6)) {
		out->status = TMR_UTC_SLEWED;
		snprintf(out->why, sizeof(out->why),
			"the clock is slewed by %+.0f ppm, and the kernel's maximum error grows by 500 ppm only",
			1e6 * rate);
	} else if (setter == ZERO) {
		out->status = TMR_UTC_ZEROED;
		snprintf(out->why, sizeof(out->why),
			"error unknown: the maximum error was set to 0, as by systemd-timesyncd or phc2sys; chronyd "
			"and ntpd state one");
	} else if (setter == UNDECIDED) {
		out->status = TMR_UTC_UNDECIDED;
		snprintf(out->why, sizeof(out->why),
			"error unknown: the maximum error of %ld us may have been set to 0, as by phc2sys",
			t->maxerror);
	} else {
		out->status = TMR_UTC_BOUNDED;
		snprintf(out->why, sizeof(out->why), "stated by the NTP daemon%s",
			out->flagged ? "; the flag says not synchronised, as chronyd leaves it without rtcsync" : "");
	}
}

void tmr_utc_read(struct tmr_utc_watch *w, struct tmr_utc *out)
{
	struct timex t = { .modes = 0 };
	/* before M, so that M has what was added by then, unless its tick is late */
	int64_t real = utc_clock_ns(CLOCK_REALTIME);
	int state = (w->adjtimex ? w->adjtimex : adjtimex)(&t);
	double unit = t.status & STA_NANO ? 1e-9 : 1e-6;

	memset(out, 0, sizeof(*out));
	out->bound_s = INFINITY;
	if (state < 0) {
		out->status = TMR_UTC_REFUSED;
		snprintf(out->why, sizeof(out->why), "adjtimex() is refused here: %s", strerror(errno));
		return;
	}
	out->flagged = state == TIME_ERROR || (t.status & STA_UNSYNC);
	out->maxerror_s = 1e-6 * (double)t.maxerror;
	out->esterror_s = 1e-6 * (double)t.esterror;
	out->offset_s = unit * (double)t.offset;
	out->freq_ppm = 1e6 * steered(&t);
	out->tai_s = t.tai;
	out->leap_ns = leap_of(&t, state, real);
	judge(&t, state, watch_setting(w, &t, out->flagged), out);
	if (out->status == TMR_UTC_BOUNDED) {
		/* daemons differ in what M contains, and cut off fractions of 1 us. The kernel adds at the end of a
		 * second, or a tick later, what has built up in it. */
		out->bound_s = out->maxerror_s + out->esterror_s + fabs(out->offset_s) + 2e-6 +
			allowed * 1e-9 * (double)((real - tick_ns) % second_ns + tick_ns);
	}
}

void tmr_utc_settle(struct tmr_utc_watch *w, struct tmr_utc *out)
{
	const struct timespec pause = { 0, 20000000 };
	const int64_t longest_ns = 1100000000;

	tmr_utc_read(w, out);
	while (out->status == TMR_UTC_UNDECIDED && w->last_ns - w->since_ns < longest_ns) {
		nanosleep(&pause, NULL);
		tmr_utc_read(w, out);
	}
}

double tmr_utc_device_bound(int root, const char *device)
{
	char path[96], text[64];
	long long ns;

	snprintf(path, sizeof(path), "/sys/class/ptp/%.32s/device/phc_error_bound", device);
	tkm_root_line(root, path, text, sizeof(text));
	/* the driver of EC2's network cards states 2^32 - 1 if the bound is unknown. 0 is no bound */
	return tkm_parse_int(text, 1, UINT32_MAX - 1LL, &ns) == 0 ? (double)ns : -1;
}
