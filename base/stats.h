/* SPDX-License-Identifier: BSD-3-Clause */
/* Order statistics and the straight line, for code that may link libc only. */
#ifndef BASE_STATS_H
#define BASE_STATS_H

#include <stddef.h>
#include <stdint.h>

/* Sorts n doubles / int64 in place, ascending. NaN is not allowed. */
void tkm_sort(double *v, size_t n);
void tkm_sort_i64(int64_t *v, size_t n);

/* Quantile q in [0, 1] of n > 0 ascending values, linear between neighbours (R type 7). */
double tkm_quantile(const double *sorted, size_t n, double q);

/* Median of n > 0 values in any order; sorts them in place. */
double tkm_median(double *v, size_t n);

/* Median, minimum and maximum of n > 0 values; sorts them in place. */
struct tkm_spread {
	double median, min, max;
};
struct tkm_spread tkm_spread(double *v, size_t n);

/* y = at_mean + slope (x - x_mean), from n points. */
struct tkm_line {
	double x_mean, y_mean; /* weighted centre: the line goes through it */
	double slope;
	double slope_se; /* standard error of the slope; NAN when n < 3 */
	double rms;      /* of the residuals, weighted; NAN when n < 3 */
	size_t used;     /* points with a weight above 0 */
};

/* Least squares through n points; w may be NULL (all 1). The caller has subtracted a reference point
 * in integers, so x and y are differences. Returns 0, or -1 when fewer than two points have weight
 * or all x are equal. */
int tkm_line_fit(const double *x, const double *y, const double *w, size_t n, struct tkm_line *out);

/* The same with Tukey's bisquare weights (c = 4.685 times the scaled median residual), iterated until
 * the slope settles, at most 30 times. w_out (n values) may be NULL; it receives the last weights.
 * Returns as tkm_line_fit(), and -1 when memory runs out. Source: Holland and Welsch 1977; the same
 * weights as gsl_multifit_robust_bisquare, with which the tests compare it. */
int tkm_line_robust(const double *x, const double *y, size_t n, double *w_out, struct tkm_line *out);

/* Value of the line at x. */
static inline double tkm_line_at(const struct tkm_line *l, double x)
{
	return l->y_mean + l->slope * (x - l->x_mean);
}

#endif
