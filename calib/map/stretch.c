/* SPDX-License-Identifier: BSD-3-Clause */
/* The bound of a clock map as a few stretches; see calib/map/stretch.h. */
#include "config.h"
#include "calib/map/stretch.h"

#include <math.h>
#include <stdlib.h>

enum { PROBES = 32 }; /* of a stretch */

/* Between two probes the bound is a piece of a line, or has its one corner there. Such a corner is at most as high as the two
 * lines at it rise, of which the probes around show the steeper. A session between two probes makes a corner downwards. */
static double largest_in_stretch(const struct cal_map *m, double from, double length)
{
	double step = length / PROBES, at[PROBES + 3], high = 0, slope = 0;
	int i;

	for (i = 0; i < PROBES + 3; i++) { /* one more on each side */
		at[i] = cal_map_bound(m, ltick((int64_t)(from + (i - 1) * step)));
		slope = i ? fmax(slope, fabs(at[i] - at[i - 1])) : 0;
	}
	for (i = 1; i < PROBES + 2; i++) {
		high = fmax(high, at[i]);
		if (i > 1) {
			high = fmax(high, (at[i] + at[i - 1] + slope) / 2);
		}
	}
	return high;
}

size_t cal_map_stretches(const struct cal_map *m, ltick_t from, ltick_t to, struct cal_stretch *out)
{
	double length = (double)ltick_sub(to, from) / CAL_STRETCHES, bound;
	size_t n = 0;
	int i;

	if (m->parts > 1 || !isfinite(cal_map_bound(m, from)) || !isfinite(cal_map_bound(m, to)) || length < 0) {
		out[0] = (struct cal_stretch){ from, (double)NAN };
		return 1;
	}
	for (i = 0; i < CAL_STRETCHES; i++) {
		bound = largest_in_stretch(m, (double)from.v + i * length, length);
		if (n && fabs(bound - out[n - 1].bound_s) <= 0.05 * bound) {
			out[n - 1].bound_s = fmax(bound, out[n - 1].bound_s);
		} else {
			out[n++] = (struct cal_stretch){ ltick(from.v + (int64_t)(i * length)), bound };
		}
	}
	return n;
}

static int64_t stamp_of_other(const struct cal_pairs *from, ltick_t local)
{
	return from->n ? cal_pairs_local(from, local).v : local.v;
}

static int64_t stamp_of_session(const struct cal_map *m, const struct cal_pairs *from, ltick_t session)
{
	return stamp_of_other(from, m->pairs.n ? cal_pairs_local(&m->pairs, session) : session);
}

int cal_map_bends(const struct cal_map *m, const struct cal_pairs *from, int64_t **at, size_t *n)
{
	int64_t *v = calloc(m->nodes + 2 * m->pieces + m->pairs.n + from->n + 1, sizeof(*v));
	size_t i, k = 0;

	if (!v) {
		return -1;
	}
	for (i = 0; i < m->nodes; i++) {
		v[k++] = stamp_of_session(m, from, m->node[i].local);
	}
	for (i = 0; i < m->pieces; i++) {
		v[k++] = stamp_of_session(m, from, m->piece[i].local);
		v[k++] = stamp_of_session(m, from, ltick_add(m->piece[i].local, m->piece[i].length));
	}
	for (i = 0; i < m->pairs.n; i++) {
		v[k++] = stamp_of_other(from, m->pairs.pair[i].local);
	}
	for (i = 0; i < from->n; i++) {
		v[k++] = from->pair[i].local.v;
	}
	*at = v;
	*n = k;
	return 0;
}
