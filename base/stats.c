/* SPDX-License-Identifier: BSD-3-Clause */
/* Medians, quantiles and robust straight lines; see base/stats.h. */
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int by_i64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

void tkm_sort(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_double);
}

void tkm_sort_i64(int64_t *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_i64);
}

double tkm_quantile(const double *sorted, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t i = (size_t)at;

	if (i + 1 >= n) {
		return sorted[n - 1];
	}
	return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

double tkm_median(double *v, size_t n)
{
	tkm_sort(v, n);
	return tkm_quantile(v, n, 0.5);
}

struct tkm_spread tkm_spread(double *v, size_t n)
{
	struct tkm_spread s;

	s.median = tkm_median(v, n);
	s.min = v[0];
	s.max = v[n - 1];
	return s;
}

static double weight_at(const double *w, size_t i)
{
	return w ? w[i] : 1.0;
}

int tkm_line_fit(const double *x, const double *y, const double *w, size_t n, struct tkm_line *out)
{
	double sw = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, srr = 0;
	size_t used = 0, i;

	for (i = 0; i < n; i++) {
		double wi = weight_at(w, i);

		sw += wi;
		sx += wi * x[i];
		sy += wi * y[i];
		used += wi > 0;
	}
	if (used < 2) {
		return -1;
	}
	out->x_mean = sx / sw;
	out->y_mean = sy / sw;
	for (i = 0; i < n; i++) {
		double dx = x[i] - out->x_mean, wi = weight_at(w, i);

		sxx += wi * dx * dx;
		sxy += wi * dx * (y[i] - out->y_mean);
	}
	if (!(sxx > 0)) {
		return -1;
	}
	out->slope = sxy / sxx;
	for (i = 0; i < n; i++) {
		double r = y[i] - tkm_line_at(out, x[i]);

		srr += weight_at(w, i) * r * r;
	}
	out->used = used;
	out->rms = NAN;
	out->slope_se = NAN;
	if (used > 2) {
		out->rms = sqrt(srr / sw * (double)used / (double)(used - 2));
		out->slope_se = out->rms / sqrt(sxx * (double)used / sw);
	}
	return 0;
}

/* Bisquare weights from the residuals of *l; the scale is the median absolute residual. */
static void bisquare(const double *x, const double *y, size_t n, const struct tkm_line *l, double *w, double *scratch)
{
	double scale, mad;
	size_t i;

	for (i = 0; i < n; i++) {
		scratch[i] = fabs(y[i] - tkm_line_at(l, x[i]));
	}
	mad = tkm_median(scratch, n);
	scale = 4.685 * mad / 0.6745;
	for (i = 0; i < n; i++) {
		double r = fabs(y[i] - tkm_line_at(l, x[i]));
		double u = scale > 0 ? r / scale : (r > 0 ? 2 : 0);

		w[i] = u < 1 ? (1 - u * u) * (1 - u * u) : 0;
	}
}

int tkm_line_robust(const double *x, const double *y, size_t n, double *w_out, struct tkm_line *out)
{
	double *scratch = malloc(n * sizeof(*scratch) + 1);
	double *w = malloc(n * sizeof(*w) + 1);
	struct tkm_line l, next;
	int rc = -1, i;

	if (!scratch || !w || tkm_line_fit(x, y, NULL, n, &l) < 0) {
		goto out;
	}
	for (i = 0; i < 30; i++) {
		bisquare(x, y, n, &l, w, scratch);
		if (tkm_line_fit(x, y, w, n, &next) < 0) {
			break; /* too few points agree: the line of the iteration before is the result */
		}
		if (fabs(next.slope - l.slope) <= 1e-15 * fabs(l.slope) && next.y_mean == l.y_mean) {
			l = next;
			break;
		}
		l = next;
	}
	*out = l;
	if (w_out) {
		memcpy(w_out, w, n * sizeof(*w));
	}
	rc = 0;
out:
	free(scratch);
	free(w);
	return rc;
}
