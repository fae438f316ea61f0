/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers and statistics, by GSL or by base/; see calib/analysis/analysis.h. */
#include "config.h"
#include "calib/analysis/analysis.h"

#include <math.h>
#include <stdlib.h>

static uint64_t next_random_word(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u); /* splitmix64 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* In (0, 1). */
static double next_uniform(uint64_t *state)
{
	return ((double)(next_random_word(state) >> 11) + 0.5) * 0x1p-53;
}

double cal_random_fixed(uint64_t seed, uint64_t a, uint64_t b)
{
	uint64_t state = seed ^ (a * 0xff51afd7ed558ccdu) ^ (b * 0xc4ceb9fe1a85ec53u + 1);

	next_uniform(&state);
	return next_uniform(&state);
}

const char *cal_spline_of_gsl_name(int kind)
{
	static const char *const names[CAL_SPLINES_OF_GSL] = { "line", "natural cubic", "Akima", "Steffen" };

	return names[kind];
}

double cal_allan_deviation(const double *offset_s, size_t n, double tau0_s, size_t m)
{
	double sum = 0, tau = tau0_s * (double)m;
	size_t i;

	if (m < 1 || n < 2 * m + 1) {
		return NAN;
	}
	for (i = 0; i + 2 * m < n; i++) {
		double second = offset_s[i + 2 * m] - 2 * offset_s[i + m] + offset_s[i];

		sum += second * second;
	}
	return sqrt(sum / (2 * (double)(n - 2 * m))) / tau;
}

#ifdef HAVE_GSL

#include <gsl/gsl_errno.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_interp.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_histogram.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <gsl/gsl_version.h>

struct cal_random {
	gsl_rng *gsl;
};

static void rng_set(void *state, unsigned long seed)
{
	*(uint64_t *)state = seed;
}

static unsigned long rng_get(void *state)
{
	return (unsigned long)(next_random_word(state) >> 32);
}

static double rng_get_double(void *state)
{
	return next_uniform(state);
}

static const gsl_rng_type splitmix64 = { "splitmix64", 0xffffffffu, 0, sizeof(uint64_t), rng_set, rng_get,
	rng_get_double };

const char *cal_analysis_library(void)
{
	return "GSL " GSL_VERSION;
}

struct cal_random *cal_random_new(uint64_t seed)
{
	struct cal_random *r = malloc(sizeof(*r));

	gsl_set_error_handler_off(); /* its default is abort() */
	if (r) {
		r->gsl = gsl_rng_alloc(&splitmix64);
	}
	if (!r || !r->gsl) {
		free(r);
		return NULL;
	}
	*(uint64_t *)gsl_rng_state(r->gsl) = seed; /* gsl_rng_set() takes an unsigned long, which may have 32 bits */
	return r;
}

void cal_random_free(struct cal_random *r)
{
	if (r) {
		gsl_rng_free(r->gsl);
	}
	free(r);
}

double cal_random_uniform(struct cal_random *r)
{
	return gsl_rng_uniform_pos(r->gsl);
}

double cal_random_exponential(struct cal_random *r, double mean)
{
	return gsl_ran_exponential(r->gsl, mean);
}

double cal_random_normal(struct cal_random *r, double sigma)
{
	return gsl_ran_gaussian(r->gsl, sigma);
}

double cal_random_pareto(struct cal_random *r, double shape, double scale)
{
	return gsl_ran_pareto(r->gsl, shape, scale);
}

double cal_quantile(const double *sorted, size_t n, double q)
{
	return gsl_stats_quantile_from_sorted_data(sorted, 1, n, q);
}

struct cal_summary cal_summarise(double *v, size_t n)
{
	gsl_sort(v, 1, n);
	return (struct cal_summary){ v[0], cal_quantile(v, n, 0.5), cal_quantile(v, n, 0.99), v[n - 1],
		gsl_stats_mean(v, 1, n) };
}

int cal_histogram(const double *v, size_t n, double low, double high, double *count, size_t bins)
{
	gsl_histogram *h;
	size_t i;

	gsl_set_error_handler_off();
	h = gsl_histogram_alloc(bins);
	if (!h || gsl_histogram_set_ranges_uniform(h, low, high) != GSL_SUCCESS) {
		gsl_histogram_free(h);
		return -1;
	}
	for (i = 0; i < n; i++) {
		gsl_histogram_increment(h, v[i] == high ? nextafter(high, low) : v[i]);
	}
	for (i = 0; i < bins; i++) {
		count[i] = gsl_histogram_get(h, i);
	}
	gsl_histogram_free(h);
	return 0;
}

int cal_line_fit(const double *x, const double *y, size_t n, double *c0, double *c1)
{
	double v00, v01, v11, chi;

	return n < 2 || gsl_fit_linear(x, 1, y, 1, n, c0, c1, &v00, &v01, &v11, &chi) || !isfinite(*c1) ? -1 : 0;
}

int cal_line_fit_robust(const double *x, const double *y, size_t n, double *c0, double *c1)
{
	gsl_multifit_robust_workspace *work =
		n < 4 ? NULL : gsl_multifit_robust_alloc(gsl_multifit_robust_bisquare, n, 2);
	gsl_matrix *X = n < 4 ? NULL : gsl_matrix_alloc(n, 2), *cov = gsl_matrix_alloc(2, 2);
	gsl_vector *c = gsl_vector_alloc(2);
	gsl_vector_const_view Y = gsl_vector_const_view_array(y, n < 4 ? 1 : n);
	int rc = -1;
	size_t i;

	gsl_set_error_handler_off();
	if (work && X && cov && c) {
		for (i = 0; i < n; i++) {
			gsl_matrix_set(X, i, 0, 1);
			gsl_matrix_set(X, i, 1, x[i]);
		}
		rc = gsl_multifit_robust(X, &Y.vector, c, cov, work) == GSL_SUCCESS ? 0 : -1;
		*c0 = gsl_vector_get(c, 0);
		*c1 = gsl_vector_get(c, 1);
	}
	gsl_vector_free(c);
	gsl_matrix_free(cov);
	gsl_matrix_free(X);
	if (work) {
		gsl_multifit_robust_free(work);
	}
	return rc;
}

int cal_spline_of_gsl(int kind, const double *x, const double *y, size_t n, const double *at, double *found, size_t m)
{
	const gsl_interp_type *const types[CAL_SPLINES_OF_GSL] = { gsl_interp_linear, gsl_interp_cspline,
		gsl_interp_akima, gsl_interp_steffen };
	gsl_interp *curve = n < 5 ? NULL : gsl_interp_alloc(types[kind], n);
	size_t i;
	int rc;

	gsl_set_error_handler_off();
	rc = curve && gsl_interp_init(curve, x, y, n) == GSL_SUCCESS ? 0 : -1;
	for (i = 0; i < m && rc == 0; i++) {
		rc = gsl_interp_eval_e(curve, x, y, at[i], NULL, &found[i]) == GSL_SUCCESS ? 0 : -1;
	}
	gsl_interp_free(curve);
	return rc;
}

#else

#include "base/stats.h"

struct cal_random {
	uint64_t state;
};

const char *cal_analysis_library(void)
{
	return "base";
}

struct cal_random *cal_random_new(uint64_t seed)
{
	struct cal_random *r = malloc(sizeof(*r));

	if (r) {
		r->state = seed;
	}
	return r;
}

void cal_random_free(struct cal_random *r)
{
	free(r);
}

double cal_random_uniform(struct cal_random *r)
{
	return next_uniform(&r->state);
}

double cal_random_exponential(struct cal_random *r, double mean)
{
	return -mean * log1p(-next_uniform(&r->state));
}

/* Marsaglia's polar method, drawing as GSL draws. */
double cal_random_normal(struct cal_random *r, double sigma)
{
	double x, y, square;

	do {
		x = -1 + 2 * next_uniform(&r->state);
		y = -1 + 2 * next_uniform(&r->state);
		square = x * x + y * y;
	} while (square > 1 || square == 0);
	return sigma * y * sqrt(-2 * log(square) / square);
}

double cal_random_pareto(struct cal_random *r, double shape, double scale)
{
	return scale * pow(next_uniform(&r->state), -1 / shape);
}

double cal_quantile(const double *sorted, size_t n, double q)
{
	return tkm_quantile(sorted, n, q);
}

struct cal_summary cal_summarise(double *v, size_t n)
{
	double sum = 0;
	size_t i;

	tkm_sort(v, n);
	for (i = 0; i < n; i++) {
		sum += v[i];
	}
	return (struct cal_summary){ v[0], cal_quantile(v, n, 0.5), cal_quantile(v, n, 0.99), v[n - 1],
		sum / (double)n };
}

/* The lower end of a range, as GSL rounds it. */
static double range(double low, double high, size_t i, size_t bins)
{
	return (double)(bins - i) / (double)bins * low + (double)i / (double)bins * high;
}

int cal_histogram(const double *v, size_t n, double low, double high, double *count, size_t bins)
{
	size_t i, k;

	for (i = 0; i < bins; i++) {
		count[i] = 0;
	}
	for (i = 0; i < n; i++) {
		double x = v[i] == high ? nextafter(high, low) : v[i];

		if (x >= low && x < high) {
			k = (size_t)((x - low) / (high - low) * (double)bins);
			k = k < bins ? k : bins - 1;
			while (k > 0 && x < range(low, high, k, bins)) {
				k--;
			}
			while (k + 1 < bins && x >= range(low, high, k + 1, bins)) {
				k++;
			}
			count[k]++;
		}
	}
	return 0;
}

static int fit_regression_line(int rc, const struct tkm_line *fit, double *c0, double *c1)
{
	if (rc == 0) {
		*c0 = tkm_line_at(fit, 0);
		*c1 = fit->slope;
	}
	return rc;
}

int cal_line_fit(const double *x, const double *y, size_t n, double *c0, double *c1)
{
	struct tkm_line fit;

	return fit_regression_line(tkm_line_fit(x, y, NULL, n, &fit), &fit, c0, c1);
}

int cal_line_fit_robust(const double *x, const double *y, size_t n, double *c0, double *c1)
{
	struct tkm_line fit;

	return fit_regression_line(n < 4 ? -1 : tkm_line_robust(x, y, n, NULL, &fit), &fit, c0, c1);
}

int cal_spline_of_gsl(int kind, const double *x, const double *y, size_t n, const double *at, double *found, size_t m)
{
	(void)kind;
	(void)x;
	(void)y;
	(void)n;
	(void)at;
	(void)found;
	(void)m;
	return -1;
}

#endif
