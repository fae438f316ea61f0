/* SPDX-License-Identifier: BSD-3-Clause */
/* The drift of a real pair of clocks from a recording; see lab/compare/drift_sim.h. */
#include "config.h"
#include "lab/compare/drift_sim.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

struct point {
	double t, x, rate;
};

struct cal_drift {
	struct point *point;
	size_t n;
};

/* "seconds offset" and nothing else. */
static int read_line(const char *line, struct point *p)
{
	char *end;

	p->t = strtod(line, &end);
	if (end == line) {
		return -1;
	}
	line = end;
	p->x = strtod(line, &end);
	return end == line || end[strspn(end, " \t\r\n")] || !isfinite(p->t) || !isfinite(p->x) ? -1 : 0;
}

static int add(struct cal_drift *d, size_t *room, struct point p)
{
	if (TKM_GROW(d->point, *room, d->n + 1) < 0) {
		return -1;
	}
	d->point[d->n++] = p;
	return 0;
}

/* Makes the first point the origin, removes the mean rate, and computes the slope at each point from its neighbours. */
static void finish(struct cal_drift *d)
{
	struct point *p = d->point, first = p[0];
	double mean = (p[d->n - 1].x - first.x) / (p[d->n - 1].t - first.t);
	size_t i;

	for (i = 0; i < d->n; i++) {
		p[i].t -= first.t;
		p[i].x -= first.x + mean * p[i].t;
	}
	for (i = 1; i + 1 < d->n; i++) {
		p[i].rate = (p[i + 1].x - p[i - 1].x) / (p[i + 1].t - p[i - 1].t);
	}
	/* at the ends that of a parabola */
	p[0].rate = 2 * (p[1].x - p[0].x) / (p[1].t - p[0].t) - p[1].rate;
	p[i].rate = 2 * (p[i].x - p[i - 1].x) / (p[i].t - p[i - 1].t) - p[i - 1].rate;
}

static int read_points(struct cal_drift *d, FILE *f, const char *path, struct tkm_err *err)
{
	char line[256];
	struct point p = { .rate = 0 };
	size_t room = 0;
	long number = 0;

	while (fgets(line, sizeof(line), f)) {
		number++;
		if (line[strspn(line, " \t\r\n")] == '\0' || line[0] == '#') {
			continue;
		}
		if (read_line(line, &p) < 0) {
			return tkm_fail(err, TKM_ERR_DATA,
				"%s:%ld: two numbers are expected, seconds and offset in seconds", path, number);
		}
		if (d->n && !(p.t > d->point[d->n - 1].t)) {
			return tkm_fail(err, TKM_ERR_DATA, "%s:%ld: the time does not ascend", path, number);
		}
		if (d->n && !(fabs((p.x - d->point[d->n - 1].x) / (p.t - d->point[d->n - 1].t)) < 0.01)) {
			return tkm_fail(err, TKM_ERR_DATA,
				"%s:%ld: a rate of 1 %% or more is no drift; times and offsets are in seconds", path,
				number);
		}
		if (add(d, &room, p) < 0) {
			return tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory", path);
		}
	}
	if (ferror(f)) {
		return tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot read %s", path);
	}
	return d->n >= 4
		? 0
		: tkm_fail(err, TKM_ERR_DATA, "%s: %zu points; a recording of drift has at least 4", path, d->n);
}

struct cal_drift *cal_drift_read(const char *path, struct tkm_err *err)
{
	struct cal_drift *d = calloc(1, sizeof(*d));
	FILE *f = d ? fopen(path, "re") : NULL;
	int rc;

	if (!f) {
		tkm_fail_errno(err, d ? TKM_ERR_IO : TKM_ERR_NOMEM, errno, "cannot read %s", path);
		free(d);
		return NULL;
	}
	rc = read_points(d, f, path, err);
	fclose(f);
	if (rc < 0) {
		cal_drift_free(d);
		return NULL;
	}
	finish(d);
	return d;
}

void cal_drift_free(struct cal_drift *d)
{
	if (d) {
		free(d->point);
	}
	free(d);
}

double cal_drift_seconds(const struct cal_drift *d)
{
	return d->point[d->n - 1].t;
}

double cal_drift_at(const struct cal_drift *d, double t)
{
	double last = cal_drift_seconds(d), sign = 1, h, u;
	size_t low = 0, high = d->n - 1;
	const struct point *a, *b;

	/* both ends have offset 0: mirrored there in time and offset, the rate goes on without a jump */
	t -= 2 * last * floor(t / (2 * last));
	if (t > last) {
		t = 2 * last - t;
		sign = -1;
	}
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (d->point[middle].t <= t) {
			low = middle;
		} else {
			high = middle;
		}
	}
	a = &d->point[low];
	b = &d->point[high];
	h = b->t - a->t;
	u = (t - a->t) / h;
	return sign *
		(a->x * (1 + 2 * u) * (1 - u) * (1 - u) + a->rate * h * u * (1 - u) * (1 - u) +
			b->x * u * u * (3 - 2 * u) - b->rate * h * u * u * (1 - u));
}

double cal_drift_ahead(const void *ctx, double dt)
{
	const struct cal_drift_use *use = ctx;

	return cal_drift_at(use->drift, use->begin_s + dt) - cal_drift_at(use->drift, use->begin_s);
}
