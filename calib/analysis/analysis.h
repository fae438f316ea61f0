/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers and statistics for programs that analyse and simulate. GSL computes them where configure found it,
 * else base/ does. Both give the same numbers for the same seed, and the tests compare them. Only programs link this,
 * never a library that is installed or loaded into other processes (COPYING says why). */
#ifndef CALIB_ANALYSIS_H
#define CALIB_ANALYSIS_H

#include <stddef.h>
#include <stdint.h>

/* "GSL 2.7.1" or "base" */
const char *cal_analysis_library(void);

/* ---- random numbers ---- */

struct cal_random;

/* A generator (splitmix64) whose whole state is its seed. NULL: out of memory. */
struct cal_random *cal_random_new(uint64_t seed);
void cal_random_free(struct cal_random *r);

double cal_random_uniform(struct cal_random *r); /* in (0, 1) */
double cal_random_exponential(struct cal_random *r, double mean);
double cal_random_normal(struct cal_random *r, double sigma);
/* At least `scale`; larger than x with probability (scale / x)^shape. Its mean is infinite for shape <= 1, its variance
 * for shape <= 2. */
double cal_random_pareto(struct cal_random *r, double shape, double scale);

/* A random number in [0, 1) that depends only on these three arguments, so each call with the same arguments returns
 * the same number. */
double cal_random_fixed(uint64_t seed, uint64_t a, uint64_t b);

/* ---- statistics ---- */

/* Quantile q in [0, 1] of n > 0 ascending values, linear between neighbours. */
double cal_quantile(const double *sorted, size_t n, double q);

/* Of n > 0 values, which it sorts in place. */
struct cal_summary {
	double min, median, q99, max, mean;
};
struct cal_summary cal_summarise(double *v, size_t n);

/* Counts how many of n values are in each of `bins` ranges of equal width from low to high, both included; low < high.
 * Values outside are not counted. Returns 0, or -1 when memory runs out. */
int cal_histogram(const double *v, size_t n, double low, double high, double *count, size_t bins);

/* y = c0 + c1 x by least squares; returns 0, or -1 for fewer than two different x. */
int cal_line_fit(const double *x, const double *y, size_t n, double *c0, double *c1);

/* The same with Tukey's bisquare weights, which outliers do not move; at least 4 points. */
int cal_line_fit_robust(const double *x, const double *y, size_t n, double *c0, double *c1);

/* Overlapping Allan deviation of the rate of a clock, from n offsets in seconds that were measured every tau0_s; over m
 * intervals (D. B. Sullivan et al., Characterization of Clocks and Oscillators, NIST TN 1337, 1990). NAN if n < 2 m + 1. */
double cal_allan_deviation(const double *offset_s, size_t n, double tau0_s, size_t m);

/* ---- interpolations to compare with ---- */

enum { CAL_SPLINES_OF_GSL = 4 };

/* "line", "natural cubic", "Akima", "Steffen" */
const char *cal_spline_of_gsl_name(int kind);

/* found[i] is the value at[i] of the curve through n points with ascending x; at[] within them. Returns 0, or -1 without GSL or
 * for fewer than 5 points. */
int cal_spline_of_gsl(int kind, const double *x, const double *y, size_t n, const double *at, double *found, size_t m);

#endif
