/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "calib/fit.h"

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
static double middle(const struct cal_sample *p, ltick_t local0)
{
	return 0.5 * ((double)ltick_sub(p->send, local0) + (double)ltick_sub(p->recv, local0));
}

static size_t collect(const struct cal_session *session, size_t sessions, const struct cal_line *ref, double *x,
	double *y)
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
				x[n] = middle(p, ref->local0);
				y[n++] = master_middle(p, ref->master0);
			}
		}
	}
	return n;
}

int cal_fit_line(const struct cal_session *session, size_t sessions, double nominal, struct cal_line *out,
	struct tkm_err *err)
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
	n = collect(session, sessions, out, x, x + total);
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

/* Which samples the mean is taken over: returns the round trip up to which they count, or a negative number
 * when the session is not quiet. */
static double gate(const struct cal_session *s, double slope)
{
	double shortest = INFINITY;
	size_t i, within = 0;

	for (i = 0; i < s->n; i++) {
		shortest = fmin(shortest, cal_rtt(&s->sample[i], slope));
	}
	for (i = 0; i < s->n; i++) {
		within += cal_rtt(&s->sample[i], slope) <= quiet_ratio * shortest;
	}
	return within * 10 >= s->n * 9 ? quiet_ratio * shortest : -1;
}

/* Means of the middles of the samples that count, as differences from the reference. */
static size_t mean_middle(const struct cal_session *s, const struct cal_sample *ref, double slope, double gated, double *mx,
	double *my)
{
	size_t i, n = 0;

	*mx = *my = 0;
	for (i = 0; i < s->n; i++) {
		const struct cal_sample *p = &s->sample[i];

		if (gated >= 0 ? cal_rtt(p, slope) <= gated : p->kept) {
			*mx += middle(p, ref->send);
			*my += master_middle(p, ref->master_in);
			n++;
		}
	}
	*mx /= (double)n;
	*my /= (double)n;
	return n;
}

/* low and high relative to out->master, first without any widening, then with. */
static void certain_interval(const struct cal_session *s, double slope, double slope_error, double lag, struct cal_point *out,
	double *bare_low, double *bare_high)
{
	size_t i;

	out->low = *bare_low = -INFINITY;
	out->high = *bare_high = INFINITY;
	for (i = 0; i < s->n; i++) {
		const struct cal_sample *p = &s->sample[i];
		double in = (double)ltick_sub(p->master_in, out->master), leaves = (double)ltick_sub(p->master_out, out->master);
		double to_send = (double)ltick_sub(out->local, p->send), to_recv = (double)ltick_sub(out->local, p->recv);
		/* at recv the master's clock showed at least master_out, at send at most master_in */
		double low = leaves + slope * to_recv, high = in + slope * to_send;

		*bare_low = fmax(*bare_low, low);
		*bare_high = fmin(*bare_high, high);
		out->low = fmax(out->low, low - fabs(slope * slope_error * to_recv) - lag);
		out->high = fmin(out->high, high + fabs(slope * slope_error * to_send) + lag);
	}
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

int cal_condense(const struct cal_session *s, double slope, double slope_error, double tick_local,
	double tick_master, enum cal_estimate how, struct cal_point *out, struct tkm_err *err)
{
	const struct cal_sample *ref = first_kept(s);
	double mx, my, low, high, gated = -1;

	if (!ref) {
		return tkm_fail(err, TKM_ERR_DATA, "a synchronisation session has no usable sample (%zu taken, %zu lost)",
			s->n, s->lost);
	}
	if (how == CAL_QUIET) {
		gated = gate(s, slope);
	}
	out->kept = mean_middle(s, ref, slope, gated, &mx, &my);
	out->all = s->n;
	out->local = ltick_add(ref->send, llrint(mx));
	out->master = ref->master_in;
	my += slope * (nearbyint(mx) - mx);
	certain_interval(s, slope, slope_error, slope * tick_local + tick_master, out, &low, &high);
	if (how == CAL_QUIET && low <= high) {
		my = gated >= 0 ? fmin(fmax(my, low), high) : 0.5 * (low + high);
	}
	set_master(out, my);
	return 0;
}
