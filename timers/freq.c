/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the rate of a timer against a reference; see timers/freq.h. */
#include "config.h"
#include "timers/freq.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/least.h"
#include "base/rootfs.h"
#include "base/stats.h"
#include "timers/timer_private.h"

enum { MAX_BRACKETS = 4096, TRIES = 20 };

struct bracket {
	int64_t ref;   /* first reading of the reference */
	int64_t width; /* second minus first */
	int64_t ticks; /* the timer in between */
};

struct tmr_freq_run {
	struct tmr_timer *t, *ref, *own_ref;
	struct tmr_reference what;
	size_t n;
	struct bracket b[MAX_BRACKETS];
};

int tmr_is_kernels_counter(const struct tmr_timer *t, int root)
{
	static const char *const counters[] = { "tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter" };
	char source[64] = "";
	size_t i;

	while (t->ops->base) {
		t = t->ops->base(t);
	}
	if (t->ops->own_quartz || t->scope == TMR_SCOPE_PROCESS) {
		return 0;
	}
	if (t->scope == TMR_SCOPE_NODE) {
		return 1;
	}
	tkm_root_line(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource", source, sizeof(source));
	for (i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		if (strcmp(source, counters[i]) == 0) {
			return 1;
		}
	}
	return 0;
}

/* The reference of unknown rate: the kernel's clock that is not steered. */
static int open_own(struct tmr_freq_run *run, struct tkm_err *err)
{
	run->own_ref = tmr_open_kind(&tmr_clock_monotonic_raw, tmr_clock_monotonic_raw.name, err);
	run->what = (struct tmr_reference){ run->own_ref, TMR_UNKNOWN_ERROR_PPM, 0 };
	return run->own_ref ? 0 : -1;
}

struct tmr_freq_run *tmr_freq_begin(struct tmr_timer *t, const struct tmr_reference *ref, struct tkm_err *err)
{
	struct tmr_freq_run *run = calloc(1, sizeof(*run));

	if (!run) {
		tkm_fail(err, TKM_ERR_NOMEM, "frequency of %s: out of memory", t->name);
		return NULL;
	}
	if (ref) {
		run->what = *ref;
	} else if (open_own(run, err) < 0) {
		free(run);
		return NULL;
	}
	run->t = t;
	run->ref = run->what.timer;
	return run;
}

void tmr_freq_sample(struct tmr_freq_run *run)
{
	struct bracket best = { 0, INT64_MAX, 0 };
	int i;

	if (run->n == MAX_BRACKETS) {
		return;
	}
	for (i = 0; i < TRIES; i++) {
		ltick_t r0 = tmr_read_ordered(run->ref);
		ltick_t x = tmr_read_ordered(run->t);
		ltick_t r1 = tmr_read_ordered(run->ref);
		int64_t width = ltick_sub(r1, r0);

		if (width >= 0 && width < best.width) {
			best = (struct bracket){ r0.v, width, x.v };
		}
	}
	if (best.width != INT64_MAX) {
		run->b[run->n++] = best;
	}
}

static int fit_frequency(
	struct tmr_freq_run *run, struct tmr_freq *out, double *x, double *y, double *w, struct tkm_err *err)
{
	size_t i, kept = 0;
	struct tkm_line line;
	double limit, widest = 0, step = INFINITY;
	int root;

	for (i = 0; i < run->n; i++) {
		w[i] = (double)run->b[i].width;
	}
	limit = tkm_median(w, run->n);
	out->width_s = limit / run->ref->hz;
	for (i = 0; i < run->n; i++) {
		const struct bracket *b = &run->b[i];

		if ((double)b->width > limit) {
			continue; /* the process was disturbed between the two reads of the reference */
		}
		x[kept] = ((double)(b->ref - run->b[0].ref) + 0.5 * (double)b->width) / run->ref->hz;
		y[kept++] = (double)(b->ticks - run->b[0].ticks);
		widest = tkm_most(widest, (double)b->width);
		step = b->width > 0 ? tkm_least(step, (double)b->width) : step;
	}
	out->brackets = run->n;
	out->kept = kept;
	if (kept < 4 || tkm_line_robust(x, y, kept, NULL, &line) < 0 || !(line.slope > 0)) {
		return tkm_fail(
			err, TKM_ERR_DATA, "frequency of %s: %zu usable brackets are not enough", run->t->name, kept);
	}
	out->hz = line.slope;
	out->seconds = x[kept - 1] - x[0];
	out->se_ppm = line.slope_se / line.slope * 1e6;
	/* each end of the baseline is known to within its bracket, one tick of the timer, and half a step of the
	 * reference: two readings of the reference that differ, differ by at least one step */
	step = isfinite(step) ? step : 1;
	out->compare_ppm = ((widest + step) / run->ref->hz + 2 / line.slope) / out->seconds * 1e6;
	out->bound_ppm = out->compare_ppm + run->what.error_ppm;
	out->certain = run->what.certain;
	root = tkm_root_open("/");
	out->same_counter =
		run->ref->scope == TMR_SCOPE_NODE && !run->ref->ops->own_quartz && tmr_is_kernels_counter(run->t, root);
	close(root);
	snprintf(out->reference, sizeof(out->reference), "%.63s", run->ref->name);
	return 0;
}

int tmr_freq_end(struct tmr_freq_run *run, struct tmr_freq *out, struct tkm_err *err)
{
	double *scratch = calloc(3 * run->n + 1, sizeof(*scratch));
	int rc = -1;

	if (!scratch) {
		tkm_fail(err, TKM_ERR_NOMEM, "frequency of %s: out of memory", run->t->name);
	} else if (run->n < 4) {
		tkm_fail(err, TKM_ERR_DATA, "frequency of %s: only %zu brackets", run->t->name, run->n);
	} else {
		rc = fit_frequency(run, out, scratch, scratch + run->n, scratch + 2 * run->n, err);
	}
	free(scratch);
	tmr_close(run->own_ref);
	free(run);
	return rc;
}

int tmr_freq_measure(struct tmr_timer *t, double seconds, struct tmr_freq *out, struct tkm_err *err)
{
	enum { SLOTS = 64 };
	struct tmr_freq_run *run = tmr_freq_begin(t, NULL, err);
	double gap = seconds / (SLOTS - 1);
	struct timespec ts = { (time_t)gap, (long)((gap - tkm_floor(gap)) * 1e9) };
	int i;

	if (!run) {
		return -1;
	}
	for (i = 0; i < SLOTS; i++) {
		if (i) {
			nanosleep(&ts, NULL);
		}
		tmr_freq_sample(run);
	}
	return tmr_freq_end(run, out, err);
}
