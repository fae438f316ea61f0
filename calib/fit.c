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
	const struct cal_sample *ref = NULL;
	size_t total = 0, used = 0, k, n, i;
	struct tkm_line line;
	double *x;

	for (k = 0; k < sessions; k++) {
		const struct cal_sample *p = session[k].used ? first_kept(&session[k]) : NULL;

		total += session[k].n;
		used += p != NULL;
		ref = ref ? ref : p;
	}
	if (!ref) {
		return tkm_fail(err, TKM_ERR_DATA, "no clock sample was kept, so there is nothing to fit");
	}
	x = malloc(2 * total * sizeof(*x));
	if (!x) {
		return tkm_fail(err, TKM_ERR_NOMEM, "clock fit: out of memory for %zu samples", total);
	}
	*out = (struct cal_line){ .local0 = ref->send, .master0 = ref->master_in, .slope = nominal, .slope_se = NAN,
		.rms = NAN };
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

int cal_condense(const struct cal_session *s, double slope, double slope_error, double tick_local,
	double tick_master, struct cal_point *out, struct tkm_err *err)
{
	const struct cal_sample *ref = first_kept(s);
	double mx = 0, my = 0, low = -INFINITY, high = INFINITY, whole, lag;
	size_t i, n = 0;

	if (!ref) {
		return tkm_fail(err, TKM_ERR_DATA, "a synchronisation session has no usable sample (%zu taken, %zu lost)",
			s->n, s->lost);
	}
	for (i = 0; i < s->n; i++) {
		if (s->sample[i].kept) {
			mx += middle(&s->sample[i], ref->send);
			my += master_middle(&s->sample[i], ref->master_in);
			n++;
		}
	}
	mx /= (double)n;
	my /= (double)n;
	out->local = ltick_add(ref->send, llrint(mx));
	my += slope * (nearbyint(mx) - mx);
	whole = floor(my);
	out->master = ltick_add(ref->master_in, (int64_t)whole);
	out->fraction = my - whole;
	lag = slope * tick_local + tick_master;
	for (i = 0; i < s->n; i++) {
		const struct cal_sample *p = &s->sample[i];
		double in = (double)ltick_sub(p->master_in, out->master), leaves = (double)ltick_sub(p->master_out, out->master);
		double to_send = (double)ltick_sub(out->local, p->send), to_recv = (double)ltick_sub(out->local, p->recv);

		/* at recv the master's clock showed at least master_out, at send at most master_in */
		low = fmax(low, leaves + slope * to_recv - fabs(slope * slope_error * to_recv) - lag);
		high = fmin(high, in + slope * to_send + fabs(slope * slope_error * to_send) + lag);
	}
	out->low = low;
	out->high = high;
	out->kept = n;
	out->all = s->n;
	return 0;
}
