/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions of exchanges with the master; see calib/map/sample.h. */
#include "config.h"
#include "calib/map/sample.h"

#include <stdlib.h>

#include "base/grow.h"

int cal_session_add(struct cal_session *s, const struct cal_sample *sample)
{
	struct cal_sample *new = TKM_APPEND(s->sample, s->n);

	if (!new) {
		return -1;
	}
	*new = *sample;
	return 0;
}

void cal_session_free(struct cal_session *s)
{
	free(s->sample);
	s->sample = NULL;
	s->n = 0;
}

const char *cal_session_name(enum cal_session_kind kind)
{
	static const char *const names[] = { "start", "middle", "end" };

	return names[kind];
}

struct way {
	double length;
	size_t index;
};

static int by_length(const void *a, const void *b)
{
	const struct way *x = a, *y = b;

	return x->length != y->length ? (x->length > y->length ? 1 : -1) : x->index > y->index ? 1 : -1;
}

/* Marks the samples with the shortest ways: up ones, or down ones. */
static void mark_shortest(
	const struct cal_session *s, int up, size_t most, double slope, struct way *way, unsigned char *keep)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		const struct cal_sample *p = &s->sample[i], *first = &s->sample[0];

		way[i].index = i;
		way[i].length = up ? (double)ltick_sub(p->master_in, first->master_in) -
				slope * (double)ltick_sub(p->send, first->send)
				   : slope * (double)ltick_sub(p->recv, first->send) -
				(double)ltick_sub(p->master_out, first->master_in);
	}
	qsort(way, s->n, sizeof(*way), by_length);
	for (i = 0; i < most && i < s->n; i++) {
		keep[way[i].index] = 1;
	}
}

void cal_session_thin(struct cal_session *s, size_t most, double slope)
{
	struct way *way = malloc((s->n + 1) * sizeof(*way));
	unsigned char *keep = calloc(s->n + 1, 1);
	struct cal_sample *smaller;
	size_t i, n = 0;

	if (way && keep && s->n > most) {
		mark_shortest(s, 1, most / 2, slope, way, keep);
		mark_shortest(s, 0, most / 2, slope, way, keep);
		for (i = 0; i < s->n; i++) {
			if (keep[i]) {
				s->sample[n++] = s->sample[i];
			}
		}
		s->n = n;
		/* if this fails, the array is only larger than needed */
		for (i = 1; i < n; i *= 2) {
		}
		smaller = realloc(s->sample, i * sizeof(*smaller));
		s->sample = smaller ? smaller : s->sample;
	}
	free(way);
	free(keep);
}

struct rank_of {
	double rtt;
	size_t index;
};

static int by_rtt(const void *a, const void *b)
{
	const struct rank_of *x = a, *y = b;

	if (x->rtt != y->rtt) {
		return x->rtt > y->rtt ? 1 : -1;
	}
	return x->index > y->index ? 1 : -1;
}

size_t cal_filter(struct cal_sample *sample, size_t n, double drop, double slope)
{
	struct rank_of *order = malloc((n + 1) * sizeof(*order));
	size_t keep = n - (size_t)((double)n * drop), i;

	for (i = 0; i < n; i++) {
		sample[i].kept = 0;
	}
	if (!order) {
		return 0;
	}
	for (i = 0; i < n; i++) {
		order[i] = (struct rank_of){ cal_rtt(&sample[i], slope), i };
	}
	qsort(order, n, sizeof(*order), by_rtt);
	for (i = 0; i < keep; i++) {
		sample[order[i].index].kept = 1;
	}
	free(order);
	return keep;
}
