/* SPDX-License-Identifier: BSD-3-Clause */
/* Fits lines to samples and condenses sessions to points; see calib/map/fit.h. */
#include "config.h"
#include "calib/map/fit.h"

#include <math.h>
#include <stdlib.h>

#include "base/stats.h"

static const struct cal_sample *first_kept(const struct cal_session *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (s->sample[i].kept) {
			return &s->sample[i];
		}
	}
	return NULL;
}

/* Master's middle of a sample, as a difference from a reference. */
static double master_middle(const struct cal_sample *p, ltick_t master0)
{
	return 0.5 * ((double)ltick_sub(p->master_in, master0) + (double)ltick_sub(p->master_out, master0));
}

/* Local middle of a sample, as a difference from a reference. */
static double sample_middle(const struct cal_sample *p, ltick_t local0)
{
	return 0.5 * ((double)ltick_sub(p->send, local0) + (double)ltick_sub(p->recv, local0));
}

static size_t collect_samples(
	const struct cal_session *session, size_t sessions, const struct cal_line *ref, double *x, double *y)
{
	size_t n = 0, k, i;

	for (k = 0; k < sessions; k++) {
		if (session[k].used && session[k].given) {
			const struct cal_point *p = &session[k].point;

			x[n] = (double)ltick_sub(p->local, ref->local0);
			y[n++] = (double)ltick_sub(p->master, ref->master0) + p->fraction;
		}
		for (i = 0; session[k].used && i < session[k].n; i++) {
			const struct cal_sample *p = &session[k].sample[i];

			if (p->kept) {
				x[n] = sample_middle(p, ref->local0);
				y[n++] = master_middle(p, ref->master0);
			}
		}
	}
	return n;
}

int cal_fit_line(
	const struct cal_session *session, size_t sessions, double nominal, struct cal_line *out, struct tkm_err *err)
{
	size_t total = 0, used = 0, k, n, i;
	struct tkm_line line;
	double *x;

	*out = (struct cal_line){ .slope = nominal, .slope_se = NAN, .rms = NAN };
	for (k = 0; k < sessions; k++) {
		const struct cal_sample *p = session[k].used ? first_kept(&session[k]) : NULL;
		const struct cal_point *given = session[k].used && session[k].given ? &session[k].point : NULL;

		total += session[k].n + 1;
		if (used == 0 && (p || given)) {
			out->local0 = p ? p->send : given->local;
			out->master0 = p ? p->master_in : given->master;
		}
		used += p || given;
	}
	if (used == 0) {
		return tkm_fail(err, TKM_ERR_DATA, "no clock sample was kept, so there is nothing to fit");
	}
	x = malloc(2 * total * sizeof(*x));
	if (!x) {
		return tkm_fail(err, TKM_ERR_NOMEM, "clock fit: out of memory for %zu samples", total);
	}
	n = collect_samples(session, sessions, out, x, x + total);
	/* y minus the nominal line first: what is left is small, so rounding is too */
	for (i = 0; i < n; i++) {
		x[total + i] -= nominal * x[i];
		out->offset += x[total + i] / (double)n;
	}
	if (used > 1 && tkm_line_fit(x, x + total, NULL, n, &line) == 0) {
		out->slope = nominal + line.slope;
		out->slope_se = line.slope_se;
		out->rms = line.rms;
		out->offset = tkm_line_at(&line, 0);
	}
	out->used = n;
	free(x);
	return 0;
}

/* Nine tenths within this many times the shortest round trip make a quiet session. */
static const double quiet_ratio = 1.6;

static size_t count_within(const struct cal_session *s, double slope, double limit)
{
	size_t i, n = 0;

	for (i = 0; i < s->n; i++) {
		n += cal_rtt(&s->sample[i], slope) <= limit;
	}
	return n;
}

/* Which samples the mean is taken over: returns the round trip up to which they count, or a negative number
 * when the session is not quiet. It is the faster half: what is slow is rarely slow in both directions alike. */
static double gate(const struct cal_session *s, double slope)
{
	double shortest = INFINITY, low, high;
	size_t i;

	for (i = 0; i < s->n; i++) {
		shortest = fmin(shortest, cal_rtt(&s->sample[i], slope));
	}
	low = shortest;
	high = quiet_ratio * shortest;
	if (count_within(s, slope, high) * 10 < s->n * 9) {
		return -1;
	}
	for (i = 0; i < 30; i++) {
		double middle = 0.5 * (low + high);

		if (count_within(s, slope, middle) * 2 < s->n) {
			low = middle;
		} else {
			high = middle;
		}
	}
	return high;
}

/* Means of the middles of the samples that count, as differences from the reference, and the standard error
 * of their difference. */
static size_t mean_middle(const struct cal_session *s, const struct cal_sample *ref, double slope, double gated,
	double *mx, double *my, double *sigma)
{
	double off, sum = 0, squares = 0;
	size_t i, n = 0;

	*mx = *my = 0;
	for (i = 0; i < s->n; i++) {
		const struct cal_sample *p = &s->sample[i];

		if (gated >= 0 ? cal_rtt(p, slope) <= gated : p->kept) {
			*mx += sample_middle(p, ref->send);
			*my += master_middle(p, ref->master_in);
			off = master_middle(p, ref->master_in) - slope * sample_middle(p, ref->send);
			sum += off;
			squares += off * off;
			n++;
		}
	}
	*mx /= (double)n;
	*my /= (double)n;
	*sigma = sqrt(fmax(squares - sum * sum / (double)n, 0)) / (double)n;
	return n;
}

/* How far the shortest one-way times are apart from the third shortest: the midpoint of the minima is
 * likely to be off by about half of that. */
static double scatter_of_minima(const struct cal_session *s, const struct cal_sample *ref, double slope)
{
	double best[2][3] = { { INFINITY, INFINITY, INFINITY }, { INFINITY, INFINITY, INFINITY } };
	size_t i, k, d;

	for (i = 0; i < s->n; i++) {
		const struct cal_sample *p = &s->sample[i];
		double way[2] = {
			(double)ltick_sub(p->master_in, ref->master_in) - slope * (double)ltick_sub(p->send, ref->send),
			slope * (double)ltick_sub(p->recv, ref->send) - (double)ltick_sub(p->master_out, ref->master_in)
		};

		for (d = 0; d < 2; d++) {
			for (k = 0; k < 3; k++) {
				double w = fmin(way[d], best[d][k]);

				way[d] = fmax(way[d], best[d][k]);
				best[d][k] = w;
			}
		}
	}
	return s->n < 3 ? INFINITY : 0.5 * hypot(best[0][2] - best[0][0], best[1][2] - best[1][0]);
}

/* The limits that one sample sets to the master's clock at a local time, relative to a master time. lag: how far both
 * readings can lag behind their clocks. */
struct claim {
	double low, high;
};

static struct claim claim_of(
	const struct cal_sample *p, ltick_t local, ltick_t master, double slope, double slope_error, double lag)
{
	double in = (double)ltick_sub(p->master_in, master), leaves = (double)ltick_sub(p->master_out, master);
	double to_send = (double)ltick_sub(local, p->send), to_recv = (double)ltick_sub(local, p->recv);

	/* at recv the master's clock showed at least master_out, at send at most master_in */
	return (struct claim){ leaves + slope * to_recv - fabs(slope * slope_error * to_recv) - lag,
		in + slope * to_send + fabs(slope * slope_error * to_send) + lag };
}

/* low and high relative to out->master, and without any widening. */
static void certain_interval(const struct cal_session *s, double slope, double slope_error, double lag,
	struct cal_point *out, double *bare_low, double *bare_high)
{
	struct claim any = { INFINITY, -INFINITY };
	size_t i;

	out->low = *bare_low = -INFINITY;
	out->high = *bare_high = INFINITY;
	for (i = 0; i < s->n; i++) {
		struct claim bare = claim_of(&s->sample[i], out->local, out->master, slope, 0, 0);
		struct claim c = claim_of(&s->sample[i], out->local, out->master, slope, slope_error, lag);

		*bare_low = fmax(*bare_low, bare.low);
		*bare_high = fmin(*bare_high, bare.high);
		out->low = fmax(out->low, c.low);
		out->high = fmin(out->high, c.high);
		any = (struct claim){ fmin(any.low, fmin(c.low, c.high)), fmax(any.high, fmax(c.low, c.high)) };
	}
	if (out->low > out->high) {
		out->low = any.low;
		out->high = any.high;
	}
}

void cal_allow_for_step(const struct cal_session *s, double slope, double slope_error, double tick_local,
	double tick_master, struct cal_point *p)
{
	size_t i, ends[2] = { 0, s->n - 1 };

	for (i = 0; s->n && i < 2; i++) {
		struct claim c = claim_of(
			&s->sample[ends[i]], p->local, p->master, slope, slope_error, slope * tick_local + tick_master);

		p->low = fmin(p->low, fmin(c.low, c.high));
		p->high = fmax(p->high, fmax(c.low, c.high));
	}
}

int cal_find_step_in_session(const struct cal_session *s, double slope, double slope_error, double tick_local,
	double tick_master, size_t *before, size_t *after)
{
	struct claim all = { -INFINITY, INFINITY }, *c = malloc((s->n + 1) * sizeof(*c));
	double lag = slope * tick_local + tick_master;
	size_t i, first, last;

	if (!c) {
		return -1;
	}
	for (i = 0; i < s->n; i++) {
		c[i] = claim_of(&s->sample[i], s->sample[0].send, s->sample[0].master_in, slope, slope_error, lag);
	}
	/* the first sample that contradicts those before it, and the last that contradicts those after it */
	for (last = 0; last < s->n && all.low <= all.high; last++) {
		all = (struct claim){ fmax(all.low, c[last].low), fmin(all.high, c[last].high) };
	}
	if (all.low <= all.high) {
		free(c);
		return 0;
	}
	last--;
	all = (struct claim){ -INFINITY, INFINITY };
	for (first = s->n; first > 0 && all.low <= all.high; first--) {
		all = (struct claim){ fmax(all.low, c[first - 1].low), fmin(all.high, c[first - 1].high) };
	}
	free(c);
	/* the step came with or before `last`, with or after `first` */
	*before = first;
	*after = last + 1;
	return first <= last && (*before > 0 || *after < s->n);
}

/* Puts the master's time of the point to `value` master ticks after out->master. */
static void set_master(struct cal_point *out, double value)
{
	double whole = floor(value);

	out->master = ltick_add(out->master, (int64_t)whole);
	out->fraction = value - whole;
	out->low -= whole;
	out->high -= whole;
}

int cal_condense(const struct cal_session *s, double slope, double slope_error, double tick_local, double tick_master,
	enum cal_estimate how, struct cal_point *out, struct tkm_err *err)
{
	const struct cal_sample *ref = first_kept(s);
	double mx, my, low, high, gated = -1, lag = slope * tick_local + tick_master;

	if (!ref) {
		return tkm_fail(
			err, TKM_ERR_DATA, "a session has no usable sample (%zu taken, %zu lost)", s->n, s->lost);
	}
	if (how == CAL_QUIET) {
		gated = gate(s, slope);
	}
	out->kept = mean_middle(s, ref, slope, gated, &mx, &my, &out->sigma);
	out->all = s->n;
	out->local = ltick_add(ref->send, llrint(mx));
	out->master = ref->master_in;
	my += slope * (nearbyint(mx) - mx);
	certain_interval(s, slope, slope_error, lag, out, &low, &high);
	if (how == CAL_QUIET && low <= high) {
		my = gated >= 0 ? fmin(fmax(my, low), high) : 0.5 * (low + high);
		if (gated < 0) {
			out->sigma = scatter_of_minima(s, ref, slope);
		}
	}
	out->sigma = fmax(out->sigma, 0.25 * lag); /* agreement to less than one tick of the clocks is chance */
	set_master(out, my);
	return 0;
}
