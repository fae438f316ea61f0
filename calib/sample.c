/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "calib/sample.h"

#include <stdlib.h>

int cal_session_add(struct cal_session *s, const struct cal_sample *sample)
{
	if ((s->n & (s->n - 1)) == 0) { /* full at each power of two */
		size_t room = s->n ? 2 * s->n : 1;
		struct cal_sample *grown = realloc(s->sample, room * sizeof(*grown));

		if (!grown) {
			return -1;
		}
		s->sample = grown;
	}
	s->sample[s->n++] = *sample;
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
