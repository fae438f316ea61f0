/* SPDX-License-Identifier: BSD-3-Clause */
/* tickmark-clockd keeps the page with UTC on this node, and the ClockBound segment beside it, until a signal comes. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/cli/front.h"
#include "base/cli/option.h"
#include "clock/clockd/clockbound.h"
#include "clock/names.h"
#include "clock/clockd/reference.h"
#include "timers/quality/assume.h"
#include "timers/quality/prove.h"
#include "timers/quality/quality.h"

static const char what[] = "Keeps a page with UTC and its error bound on this node, for tickmark_now() and for clients "
			   "of AWS ClockBound, until "
			   "SIGTERM or SIGINT.";
static const char after[] =
	"Exit status: 0 after SIGTERM or SIGINT, 2 if it cannot start: an option is wrong, the reference gives no "
	"bound, or the page cannot be written.";

/* A page stays valid for this many missing updates, and for at least this time. */
static const double missed = 10, least_valid_s = 2;

struct options {
	const char *reference; /* "ntp" or "ptp:/dev/ptp0" */
	double every_s;        /* between two updates */
	double max_drift;      /* of the counter, off its nominal rate; and of CLOCK_REALTIME between two updates */
	double max_wander;
	int quiet; /* prints only errors */
};

struct server {
	const struct options *o;
	struct tmr_timer *timer;
	struct tkc_reference reference;
	struct tkc_track track;
	struct tkc_writer page;
	struct tkc_clockbound *bound;
	const struct tkc_vmclock *vmclock;
	struct tkc_watch first; /* the state of the machine when the reference was first used */
	double valid_s;
	int status; /* last reported */
	int disrupted;
};

static volatile sig_atomic_t over;

static void end_by_signal(int signal)
{
	(void)signal;
	over = 1;
}

/* Opens the counter if all processing units read the same one, else a kernel clock. *lag_s: how far readings of other
 * processes can differ. */
static struct tmr_timer *open_served_timer(double *lag_s, struct tkm_err *err)
{
	struct tmr_timer *t = tmr_open("CPU", 0, err);
	struct tmr_quality q;
	struct tmr_proof proof;
	double tick;

	if (t && t->hz > 0 && tmr_quality_measure(t, 0.02, 1, &q, err) == 0) {
		tick = fmax(tmr_effective_tick(t, &q), 1 / t->hz);
		if (tmr_prove_one_clock(t, tick, 0.5, &proof, err) == 0 && proof.one_clock) {
			*lag_s = proof.within_s;
			return t;
		}
	}
	tmr_close(t);
	t = tmr_open("clock_monotonic_raw", 0, err);
	if (t && tmr_quality_measure(t, 0.02, 1, &q, err) == 0) {
		*lag_s = fmax(tmr_effective_tick(t, &q), 1e-9);
		return t;
	}
	tmr_close(t);
	return NULL;
}

static int64_t coarse_realtime_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* After a suspension or migration the kernel still has the bound from before, and there is no sign when NTP has set a
 * new one. */
static int is_disrupted(struct server *s, const struct tkc_watch *now)
{
	int64_t more = now->boot_ns - s->first.boot_ns;
	int steady = 1;

	if (s->vmclock) {
		tkc_vmclock_marker(s->vmclock, &steady);
	}
	s->disrupted |= more > 1000000 || more < -1000000 || now->marker != s->first.marker || !steady;
	return s->disrupted;
}

static void publish_clockbound(struct server *s, const struct tkc_reading *r, const struct tkc_map *m,
	const struct tkc_watch *watch, int64_t as_of_ns)
{
	struct tkc_clockbound_state b = { .as_of_ns = as_of_ns,
		.valid_ns = (int64_t)(s->valid_s * 1e9),
		.bound_ns = r->realtime_half_ns,
		.max_drift = s->o->max_drift,
		.marker = watch->marker,
		.support = s->vmclock != NULL };

	b.status = m->status == TICKMARK_OK       ? TKC_CLOCKBOUND_SYNCHRONISED
		: m->status == TICKMARK_DISRUPTED ? TKC_CLOCKBOUND_DISRUPTED
						  : TKC_CLOCKBOUND_UNKNOWN;
	if (m->status == TICKMARK_OK && (double)m->valid_ticks * s->track.ns_per_tick < (double)b.valid_ns) {
		b.valid_ns = (int64_t)((double)m->valid_ticks * s->track.ns_per_tick);
	}
	tkc_clockbound_write(s->bound, &b);
}

static void update_pages(struct server *s)
{
	int64_t as_of_ns = coarse_realtime_ns();
	struct tkc_reading r;
	struct tkc_watch watch;
	struct tkc_map m;

	tkc_watch(s->vmclock, &watch);
	tkc_reference_read(&s->reference, &r);
	tkc_track_add(&s->track, &r, &m);
	if (is_disrupted(s, &watch)) {
		m.status = TICKMARK_DISRUPTED;
		m.reason = "the machine was suspended or migrated; start tickmark-clockd anew when NTP has measured "
			   "again";
	}
	tkc_write(s->page.page, &m, &watch);
	publish_clockbound(s, &r, &m, &watch, as_of_ns);
	if (m.status != s->status) {
		fprintf(stderr, "%s: %s%s%s\n", program_invocation_short_name, tickmark_status_name(m.status),
			m.reason ? ": " : "", m.reason ? m.reason : "");
	}
	s->status = m.status;
}

static void run_until_signal(struct server *s)
{
	const struct timespec pause = { (time_t)s->o->every_s, (long)(fmod(s->o->every_s, 1) * 1e9) };
	struct sigaction act = { .sa_handler = end_by_signal };

	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);
	update_pages(s);
	if (!s->o->quiet) {
		printf("%s and %s: UTC by %s, timer %s, every %g s\n", s->page.path, TKC_CLOCKBOUND_NAME,
			s->reference.name, s->timer->name, s->o->every_s);
		fflush(stdout);
	}
	while (!over) {
		nanosleep(&pause, NULL);
		if (!over) {
			update_pages(s);
		}
	}
}

static int open_server(struct server *s, struct tkm_err *err)
{
	double lag_s;

	s->vmclock = tkc_vmclock_open();
	tkc_watch(s->vmclock, &s->first);
	s->timer = open_served_timer(&lag_s, err);
	if (!s->timer || tkc_reference_open(&s->reference, s->o->reference, s->timer, lag_s, err) < 0 ||
		tkc_create(&s->page, &(struct tkc_page_of){ NULL, TKC_UTC_NAME, TICKMARK_UTC, 0, s->timer->name },
			err) < 0) {
		return -1;
	}
	s->bound = tkc_clockbound_create(s->page.folder, TKC_CLOCKBOUND_NAME, err);
	if (!s->bound) {
		return -1;
	}
	s->valid_s = fmax(missed * s->o->every_s, least_valid_s);
	tkc_track_begin(
		&s->track, 1e9 / s->timer->hz, s->o->max_drift, s->o->max_wander, (int64_t)(s->valid_s * s->timer->hz));
	return 0;
}

static int serve_utc(const struct options *o, struct tkm_err *err)
{
	struct server s = { .o = o, .status = TICKMARK_OK };
	int rc = open_server(&s, err);

	if (rc == 0) {
		run_until_signal(&s);
	}
	tkc_clockbound_withdraw(s.bound, s.page.folder, TKC_CLOCKBOUND_NAME);
	tkc_withdraw(&s.page);
	tkc_reference_close(&s.reference);
	tmr_close(s.timer);
	tkc_vmclock_close(s.vmclock);
	return rc;
}

int main(int argc, char **argv)
{
	struct options o = { .reference = "ntp", .every_s = 0.1 };
	const struct tkm_option table[] = {
		{ "REFERENCE", TKM_OPTION_TEXT, &o.reference, 0, 0, "NAME",
			"reference for UTC: ntp (default), or ptp:/dev/ptp0 if its driver states an error bound" },
		{ "EVERY", TKM_OPTION_TIME, &o.every_s, 0.01, 10, "TIME", "time between two updates (default 100ms)" },
		{ "MAX-DRIFT", TKM_OPTION_FRACTION, &o.max_drift, 0, 0.1, "FRACTION",
			"the clock is not farther off its nominal rate (default 500ppm)" },
		{ "MAX-WANDER", TKM_OPTION_FRACTION, &o.max_wander, 0, 0.1, "FRACTION",
			"its rate stays within this of a constant (default 1ppm)" },
		{ "QUIET", TKM_OPTION_BOOL, &o.quiet, 0, 0, NULL, "print errors only" },
		{ .name = NULL },
	};
	const struct tkm_front front = {
		.program = "tickmark-clockd", .arguments = "[OPTION...]", .what = what, .after = after, .table = table
	};
	struct tkm_err err = { .text = "" };
	struct tmr_assumption a;
	int rc;

	tmr_assume_free(&a);
	o.max_drift = a.max_drift;
	o.max_wander = a.max_wander;
	rc = tkm_front_arguments(&front, argc, argv, NULL, 0, &err);
	if (rc == TKM_FRONT_ANSWERED) {
		return 0;
	}
	if (rc < 0 || serve_utc(&o, &err) < 0) {
		fprintf(stderr, "%s: %s\n", program_invocation_short_name, err.text);
		return 2;
	}
	return 0;
}
