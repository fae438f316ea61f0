/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts the times of a trace to nanoseconds and to text, and says how wrong they may be. */
#include "config.h"
#include "exchange/common/private.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { MAX_DECIMALS = 15 };

/* Most periods are a whole multiple of some decimal fraction of a second. A double holds such a period only
 * approximately. */
static void find_period(struct xch_trace *t)
{
	double unit = 1, m;
	int k;

	t->decimals = -1;
	for (k = 0; k <= MAX_DECIMALS; k++, unit *= 10) {
		m = t->resolution * unit;
		if (m >= 0.999 && m < 1e9 && fabs(m - nearbyint(m)) <= 4 * DBL_EPSILON * m) {
			t->decimals = k;
			t->mul = t->step = (uint64_t)nearbyint(m);
			break;
		}
	}
	if (t->decimals < 0) {
		return;
	}
	for (t->div = 1; k < 9; k++) {
		t->mul *= 10;
	}
	for (; k > 9; k--) {
		t->div *= 10;
	}
}

/* The text "process P FROM BOUND FROM BOUND ...": FROM is a stamp, BOUND is in seconds or "unknown". */
static int take_bounds(struct xch_trace *t, const char *text)
{
	struct xch_process *p;
	struct stf_bound b;
	struct xch_bound *q;
	unsigned process;
	int n = 0;

	if (sscanf(text, "process %u%n", &process, &n) != 1 || process >= t->n_processes) {
		return 0;
	}
	p = &t->p->process[process];
	for (text += n; stf_bound_next(&text, &b) && (!p->n || b.from >= p->bound[p->n - 1].from);) {
		q = TKM_APPEND(p->bound, p->n);
		if (!q) {
			return -1;
		}
		*q = (struct xch_bound){ b.from, b.seconds, process };
		t->n_bounds++;
		if (!isnan(b.seconds) && !(t->worst_bound >= b.seconds)) {
			t->worst_bound = b.seconds;
		}
	}
	return 0;
}

static int compare_bounds(const void *a, const void *b)
{
	const struct xch_bound *x = a, *y = b;

	return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
				  : (x->process > y->process) - (x->process < y->process);
}

static int sort_bounds(struct xch_trace *t)
{
	const struct xch_process *p;
	struct xch_bound *to = t->bound = malloc((t->n_bounds + 1) * sizeof(*to));
	uint32_t k;

	for (k = 0; to && k < t->n_processes; k++, to += p->n) {
		p = &t->p->process[k];
		if (p->n) {
			memcpy(to, p->bound, p->n * sizeof(*to));
		}
	}
	if (to) {
		qsort(t->bound, t->n_bounds, sizeof(*to), compare_bounds);
	}
	return to ? 0 : -1;
}

int xch_next_info(const struct xch_trace *t, size_t *i, const char **cls, const char **text)
{
	while (stf_reader_info(t->r, (*i)++, cls, text) == 0) {
		if (*cls && strcmp(*cls, "integrity") && strcmp(*cls, "late")) {
			*text = *text ? *text : "";
			return 1;
		}
	}
	return 0;
}

int xch_clock_read(struct xch_trace *t, struct tkm_err *err)
{
	const char *cls, *text;
	size_t i;

	t->worst_bound = (double)NAN;
	if (stf_reader_clock(t->r, &t->resolution, &t->eventbits) < 0 || !(t->resolution > 0)) {
		return tkm_fail(err, TKM_ERR_FORMAT, "%s: the trace does not say its clock's resolution", t->path);
	}
	find_period(t);
	if (stf_reader_duration(t->r, &t->start, &t->end) < 0) {
		t->start = 1;
		t->end = 0;
	}
	for (i = 0; stf_reader_info(t->r, i, &cls, &text) == 0; i++) {
		if (cls && !strcmp(cls, "clock-bound") && take_bounds(t, text) < 0) {
			return xch_fail_memory(err, t->path);
		}
	}
	return sort_bounds(t) < 0 ? xch_fail_memory(err, t->path) : 0;
}

const struct xch_bound *xch_bounds(const struct xch_trace *t, uint32_t process, size_t *n)
{
	*n = process < t->n_processes ? t->p->process[process].n : 0;
	return *n ? t->p->process[process].bound : NULL;
}

double xch_bound(const struct xch_trace *t, uint32_t process, uint64_t time)
{
	struct xch_process *p = process < t->n_processes ? &t->p->process[process] : NULL;

	if (!p || !p->n || time < p->bound[0].from) {
		return (double)NAN;
	}
	if (time < p->bound[p->at].from) {
		p->at = 0;
	}
	while (p->at + 1 < p->n && p->bound[p->at + 1].from <= time) {
		p->at++;
	}
	return p->bound[p->at].seconds;
}

int64_t xch_bound_ns(const struct xch_trace *t, const struct xch_place *p, uint64_t time)
{
	double s = p->is_group ? t->worst_bound : xch_bound(t, p->process, time);

	return isnan(s) || s > 9e9 ? -1 : (int64_t)ceil(s * 1e9 - 1e-6);
}

int64_t xch_ns(const struct xch_trace *t, uint64_t time)
{
	if (t->div == 1) {
		return (int64_t)(time * t->mul);
	}
	if (t->div) {
		return (int64_t)(((unsigned __int128)time * t->mul + t->div / 2) / t->div);
	}
	return (int64_t)rintl((long double)time * (long double)t->resolution * 1e9L);
}

/* Writes the decimal digits of v, the last one first; at least `least`. Returns how many. */
static int digits64(uint64_t v, int least, char *digit)
{
	int n = 0;

	do {
		digit[n++] = (char)('0' + v % 10);
		v /= 10;
	} while (v || n < least);
	return n;
}

/* Prints the decimal digits of v, with a point before the last k. Numbers that fit in 64 bits need no division of 128. */
static int print_fixed_point(unsigned __int128 v, int k, char *buf)
{
	char digit[48];
	int n = 0, len = 0;

	while (v > UINT64_MAX) {
		digit[n++] = (char)('0' + (int)(v % 10));
		v /= 10;
	}
	n += digits64((uint64_t)v, k + 1 - n, digit + n);
	while (n) {
		if (n == k) {
			buf[len++] = '.';
		}
		buf[len++] = digit[--n];
	}
	buf[len] = 0;
	return len;
}

int xch_seconds(const struct xch_trace *t, uint64_t time, char *buf)
{
	if (t->decimals < 0) {
		return snprintf(buf, 48, "%.18Lg", (long double)time * (long double)t->resolution);
	}
	return print_fixed_point((unsigned __int128)time * t->step, t->decimals, buf);
}

int xch_real(double v, char *buf)
{
	int digits, n;

	if (isnan(v)) {
		return snprintf(buf, 32, "nan");
	}
	if (isinf(v)) {
		return snprintf(buf, 32, "%sinf", v < 0 ? "-" : "");
	}
	if (fabs(v) < 1e15 && v == (double)(int64_t)v && (v != 0 || !signbit(v))) {
		if (v < 0) {
			buf[0] = '-';
			return 1 + print_fixed_point((uint64_t)-v, 0, buf + 1);
		}
		return print_fixed_point((uint64_t)v, 0, buf);
	}
	/* 15 digits always read back unchanged, except for numbers too small to have that many */
	for (digits = fabs(v) < DBL_MIN ? 1 : 15; digits < 17; digits++) {
		n = snprintf(buf, 32, "%.*g", digits, v);
		if (strtod(buf, NULL) == v) {
			return n;
		}
	}
	return snprintf(buf, 32, "%.17g", v);
}

int xch_value(const struct xch_counter *c, uint64_t bits, char *buf)
{
	double d;

	switch (c->type) {
	case STF_COUNTER_F8:
		memcpy(&d, &bits, sizeof(d));
		return xch_real(d, buf);
	case STF_COUNTER_I8:
		if ((int64_t)bits < 0) {
			buf[0] = '-';
			return 1 + print_fixed_point(-bits, 0, buf + 1);
		}
		/* fall through */
	default:
		return print_fixed_point(bits, 0, buf);
	}
}
