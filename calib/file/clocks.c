/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's clocks beside the timer of a rank; see calib/file/clocks.h. */
#include "config.h"
#include "calib/file/clocks.h"

#include <math.h>
#include <string.h>

#include "timers/quality/assume.h"

/* A clock and its timer go on evenly if no reading is farther off their line than its own width and this. */
static const double even_s = 1e-6, every_s = 1;

/* A reading that took longer lost its core in between. */
static const double wide_s = 20e-6;

static double middle_of_reading(const struct cal_reading *r, const struct cal_reading *from)
{
	return (double)ltick_sub(r->before, from->before) + 0.5 * (double)ltick_sub(r->after, r->before);
}

static double half_of_reading(const struct cal_reading *r)
{
	return 0.5 * (double)ltick_sub(r->after, r->before);
}

/* How far the readings in between are at most from the line to that one, with their widths; *certain: at least. */
static double distance_from_line(const struct cal_clock_watch *w, const struct cal_reading *to, double *certain)
{
	double begin = half_of_reading(&w->kept), length = middle_of_reading(to, &w->kept) - begin, most = 0, off, wide;
	int64_t local = ltick_sub(to->local, w->kept.local);
	int i;

	*certain = 0;
	for (i = 0; i < w->n; i++) {
		const struct cal_reading *r = &w->between[i];
		double u = (double)ltick_sub(r->local, w->kept.local) / (double)local;

		off = local > 0 ? fabs(middle_of_reading(r, &w->kept) - begin - u * length) : INFINITY;
		wide = fmax(half_of_reading(&w->kept), half_of_reading(to)) + half_of_reading(r);
		most = fmax(most, off + half_of_reading(r));
		*certain = fmax(*certain, off - wide);
	}
	return most;
}

/* ---- how the kernel steers ---- */

/* Assumed while the frequency that the kernel states stays the same: what else changes the rate of its clocks, as adjtime() and the
 * slews of daemons, begins and ends at least so long apart. After a change of the frequency others are expected soon. */
static const double event_apart_s = 1, unquiet_s = 2;

/* Times between readings: while the steering is even, so that three are within event_apart_s; and before the first rate is known. */
static const double even_every_s = 0.4, first_every_s = 0.005;

int cal_clock_is_steered(const char *timer)
{
	return !strcmp(timer, "clock_realtime") || !strcmp(timer, "clock_monotonic") ||
		!strcmp(timer, "clock_boottime") || !strcmp(timer, "gettimeofday");
}

static int is_free(const char *timer)
{
	return !strcmp(timer, "clock_monotonic_raw") || !strncmp(timer, "CPU", 3);
}

/* At most one event is in this interval and the one before. If it is in this one, one of its two parts has the rate of the one before,
 * and the other part explains all of the difference. */
double cal_steering_add(
	struct cal_steering *s, const struct cal_reading *r, const char *timer, double hz, double freq_ppm)
{
	struct cal_steering before = *s;
	double left = 0;

	if (2 * half_of_reading(r) > wide_s * hz) {
		return -1;
	}
	s->last = *r;
	s->freq_ppm = freq_ppm;
	s->changed = before.n > 0 && !(freq_ppm == before.freq_ppm);
	s->n += s->n < 3;
	if (s->n == 1) {
		return 0;
	}
	s->length = middle_of_reading(r, &before.last) - half_of_reading(&before.last);
	s->rate = (double)ltick_sub(r->local, before.last.local) * 1e-9 * hz / s->length - 1;
	s->noise = (half_of_reading(r) + half_of_reading(&before.last) + 2e-9 * hz + 2) / s->length;
	s->quiet = s->changed ? 0 : before.quiet + s->length;
	if (s->n == 3 && !(s->changed && before.changed) && before.length + s->length < event_apart_s * hz) {
		left = s->length * (fabs(s->rate - before.rate) + s->noise + before.noise + tmr_free_wander);
	}
	return cal_clock_is_steered(timer) ? 1 : is_free(timer) ? left : 0;
}

double cal_steering_next_s(const struct cal_steering *s, const char *timer, double hz)
{
	if (cal_clock_is_steered(timer) || (is_free(timer) && s->quiet > unquiet_s * hz)) {
		return even_every_s;
	}
	return s->n < 3 ? first_every_s : cal_pair_every_s;
}

/* ---- which readings are kept ---- */

static double time_between(const struct cal_reading *a, const struct cal_reading *b)
{
	return (double)ltick_sub(b->after, a->before);
}

/* Keeps the newest reading. */
static struct cal_reading keep_reading(struct cal_clock_watch *w, struct cal_reading r, double off, double longest)
{
	r.off = off;
	r.longest = w->begun ? longest : 0;
	*w = (struct cal_clock_watch){ .begun = 1, .kept = r };
	return r;
}

int cal_clock_watch_add(struct cal_clock_watch *w, const struct cal_reading *r, double hz, struct cal_reading *out)
{
	const struct cal_reading *last = w->n ? &w->between[w->n - 1] : &w->kept;
	double certain, off, longest, left, since;
	int soon;

	if (!w->begun) {
		*out = keep_reading(w, *r, 0, 0);
		return 1;
	}
	soon = time_between(&w->kept, r) < every_s * hz;
	if (soon && 2 * half_of_reading(r) > wide_s * hz) {
		w->missed = 1;
		return 0;
	}
	/* what is known to have gone on evenly needs no more time for slews */
	since = r->off > 0 && !w->missed ? 1 : time_between(last, r);
	left = fmax(w->left, since > 1 ? 0 : r->off);
	off = distance_from_line(w, r, &certain) + left;
	longest = fmax(w->longest, since);
	w->missed = 0;
	if (certain > even_s * hz) {
		/* something happened after the reading before the last one */
		*out = keep_reading(w, *last, w->off, w->longest);
		w->longest = since;
		w->off = w->left = since > 1 ? 0 : r->off;
		w->between[w->n++] = *r;
		return 1;
	}
	if (w->n == CAL_CLOCK_BETWEEN || !soon) {
		*out = keep_reading(w, *r, off, longest);
		return 1;
	}
	w->between[w->n++] = *r;
	w->off = off;
	w->longest = longest;
	w->left = left;
	return 0;
}

int cal_clock_watch_end(struct cal_clock_watch *w, struct cal_reading *out)
{
	if (w->n == 0) {
		return 0;
	}
	*out = keep_reading(w, w->between[w->n - 1], w->off, w->longest);
	return 1;
}

/* ---- looking up ---- */

static int is_same_clock(const struct cal_rank *a, const struct cal_rank *b)
{
	return a == b ||
		(a->boot_id[0] && !strcmp(a->boot_id, b->boot_id) && !strcmp(a->time_ns, b->time_ns) &&
			!strcmp(a->timer, b->timer));
}

/* Are they all before, or all after, those that are there? Else another process has read at the same time. */
static int add_readings(struct cal_pairs *to, const struct cal_pairs *p, struct tkm_err *err)
{
	size_t i;
	int before = p->n && to->n && ltick_sub(p->pair[p->n - 1].after, to->pair[0].before) <= 0;

	if (!p->n || (to->n && !before && ltick_sub(p->pair[0].before, to->pair[to->n - 1].after) < 0)) {
		return 0;
	}
	for (i = 0; i < p->n; i++) {
		if (cal_pairs_add(to, &p->pair[i], err) < 0) {
			return -1;
		}
	}
	if (before) {
		memmove(to->pair + p->n, to->pair, (to->n - p->n) * sizeof(*to->pair));
		memcpy(to->pair, p->pair, p->n * sizeof(*to->pair));
	}
	return 0;
}

double cal_clock_coverage(const struct cal_pairs *p)
{
	double gap = 0, d;
	size_t i;

	for (i = 1; i < p->n; i++) {
		d = (double)ltick_sub(p->pair[i].before, p->pair[i - 1].after);
		gap = d > gap ? d : gap;
	}
	return p->n ? (double)ltick_sub(p->pair[p->n - 1].after, p->pair[0].before) - gap : 0;
}

static int collect_readings(
	const struct cal_run *run, const struct cal_rank *r, int clock, struct cal_pairs *to, struct tkm_err *err)
{
	const struct cal_rank *best = r;
	size_t i;

	for (i = 0; i < run->ranks; i++) {
		if (is_same_clock(r, &run->rank[i]) &&
			cal_clock_coverage(&run->rank[i].clock[clock]) > cal_clock_coverage(&best->clock[clock])) {
			best = &run->rank[i];
		}
	}
	if (add_readings(to, &best->clock[clock], err) < 0) {
		return -1;
	}
	for (i = 0; i < run->ranks; i++) {
		if (&run->rank[i] != best && is_same_clock(r, &run->rank[i]) &&
			add_readings(to, &run->rank[i].clock[clock], err) < 0) {
			return -1;
		}
	}
	return 0;
}

/* The frequency of the timer by the readings of this clock, which is never set; 0: there are too few. The one that is stated may
 * be rounded. */
static double frequency_by(const struct cal_pairs *p)
{
	const struct cal_reading *a = &p->pair[0], *b = &p->pair[p->n - 1];
	double ns = p->n ? (double)ltick_sub(b->local, a->local) : 0;

	return ns > 1e6 ? (middle_of_reading(b, a) - half_of_reading(a)) / ns * 1e9 : 0;
}

/* What may be assumed of the clock, measured by the timer. */
static void assume_of_clock(struct cal_pairs *p, const struct cal_rank *r, const char *name)
{
	int steered = cal_clock_is_steered(name);

	p->hz = 1e9;
	p->reference_hz = cal_rank_hz(r);
	p->may_step = !strcmp(name, "clock_realtime") || !strcmp(name, "clock_boottime");
	if (steered && cal_clock_is_steered(r->timer)) {
		p->max_slew = p->slew_limit = 0;
	} else if (steered || !is_free(r->timer)) {
		p->max_slew = 2 * tmr_steering + (is_free(r->timer) ? 0 : 2 * tmr_free_drift);
		p->slew_limit = tmr_tick_limit + p->max_slew + 2 * tmr_free_drift;
	} else {
		p->max_slew = 2 * tmr_free_wander;
		p->slew_limit = 2 * tmr_free_drift;
	}
	p->tick_s = 1e-9;
	p->reference_tick_s = fmax(r->effective_tick_s > 0 ? r->effective_tick_s : 0, 1 / p->reference_hz);
}

int cal_clock_of_rank(const struct cal_run *run, int rank, const char *name, struct cal_pairs *to, struct tkm_err *err)
{
	const struct cal_rank *r = &run->rank[rank];
	struct cal_pairs even;
	double hz;
	int k = 0;

	memset(to, 0, sizeof(*to));
	even = *to;
	while (k < CAL_CLOCKS && strcmp(name, cal_clock_name(k))) {
		k++;
	}
	if (k == CAL_CLOCKS) {
		return tkm_fail(err, TKM_ERR_ARG,
			"%s is none of the clocks clock_realtime, clock_monotonic, clock_monotonic_raw and clock_boottime",
			name);
	}
	if (!(cal_rank_hz(r) > 0)) {
		return tkm_fail(err, TKM_ERR_DATA, "the frequency of rank %d's timer is unknown", rank);
	}
	if (collect_readings(run, r, k, to, err) < 0 ||
		collect_readings(run, r, cal_clock_is_steered(name) ? CAL_MONOTONIC : k, &even, err) < 0) {
		cal_pairs_free(&even);
		cal_pairs_free(to);
		return -1;
	}
	if (to->n == 0) {
		cal_pairs_free(&even);
		return tkm_fail(err, TKM_ERR_DATA,
			"there are no readings of %s on the node of rank %d: no sampler process read it there", name,
			rank);
	}
	assume_of_clock(to, r, name);
	hz = frequency_by(&even);
	cal_pairs_free(&even);
	to->reference_hz = to->max_slew > 0 && hz > 0 ? hz : to->reference_hz;
	if (cal_pairs_judge(to, err) < 0) {
		cal_pairs_free(to);
		return -1;
	}
	return 0;
}
