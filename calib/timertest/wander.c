/* SPDX-License-Identifier: BSD-3-Clause */
/* How the rate of a clock changed during the test, from the offsets that the sessions have measured: it tells which
 * --max-wander fits this machine. No bound or verdict depends on it. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "calib/analysis/analysis.h"

/* Fewer sessions say too little. */
enum { FEWEST = 8 };

/* Times and offsets of a rank's sessions, in seconds since the first; one value for each session. */
static size_t offsets_of(const struct cal_run *run, const struct cal_rank *c, double *at, double *offset)
{
	const struct cal_map *m = &c->map;
	double hz = c->nominal_hz > 0 ? c->nominal_hz : c->measured_hz;
	size_t k, n = 0;

	for (k = 0; k < m->nodes; k++) {
		const struct cal_node *node = &m->node[k];

		if (k > 0 && ltick_sub(node->local, m->node[k - 1].local) <= 0) {
			return 0; /* the clock was set back */
		}
		at[n] = (double)ltick_sub(node->local, m->node[0].local) / hz;
		offset[n] = (double)gtick_sub(node->global, m->node[0].global) * run->period_s - at[n];
		n++;
	}
	return n;
}

/* The longest stretch in which the intervals are even to within a quarter, which is what an Allan deviation is of: the first and
 * the last session of a test follow others at once. Returns the mean interval, 0 for none. */
static double even_stretch(const double *at, size_t n, size_t *first, size_t *count)
{
	size_t from, to;

	*first = *count = 0;
	for (from = 0; from + 1 < n; from++) {
		double least = INFINITY, most = 0;

		for (to = from + 1; to < n; to++) {
			least = fmin(least, at[to] - at[to - 1]);
			most = fmax(most, at[to] - at[to - 1]);
			if (most > 1.25 * least) {
				break;
			}
			if (to - from + 1 > *count) {
				*first = from;
				*count = to - from + 1;
			}
		}
	}
	return *count >= 5 ? (at[*first + *count - 1] - at[*first]) / (double)(*count - 1) : 0;
}

int cal_test_find_wander(const struct cal_run *run, int rank, struct cal_test_wander *w)
{
	const struct cal_rank *c = &run->rank[rank];
	size_t room = c->map.nodes, n, m, k, first, count;
	double *at = malloc(3 * (room + 1) * sizeof(*at)), *offset = at + room + 1, *left = offset + room + 1, c0, c1;

	*w = (struct cal_test_wander){ .rank = rank };
	n = at && rank > 0 && c->sync != CAL_SHARED && c->map.steps == 0 ? offsets_of(run, c, at, offset) : 0;
	if (n < FEWEST || cal_line_fit_robust(at, offset, n, &c0, &c1) < 0) {
		free(at);
		return -1;
	}
	for (k = 0; k < n; k++) {
		left[k] = fabs(offset[k] - c0 - c1 * at[k]);
	}
	w->sessions = n;
	w->left = cal_summarise(left, n);
	w->interval_s = even_stretch(at, n, &first, &count);
	for (m = 1; w->interval_s > 0 && 4 * m < count && w->taus < CAL_TEST_TAUS; m *= 2) {
		w->tau_s[w->taus] = w->interval_s * (double)m;
		w->deviation[w->taus++] = cal_allan_deviation(offset + first, count, w->interval_s, m);
	}
	free(at);
	return 0;
}

/* The rank whose offsets stray farthest from a line. */
void cal_test_print_wander(FILE *f, const struct cal_test_result *r)
{
	struct cal_test_wander w, worst = { .rank = 0 };
	char a[32], b[32];
	int i, ranks = 0;

	for (i = 1; i < r->ranks; i++) {
		if (cal_test_find_wander(&r->run, i, &w) == 0) {
			worst = ranks++ == 0 || w.left.max > worst.left.max ? w : worst;
		}
	}
	if (ranks == 0) {
		return;
	}
	fprintf(f, "rank %d: its %zu sessions stray from a line by %s, at most %s", worst.rank, worst.sessions,
		tkm_print_time(a, sizeof(a), worst.left.median, 1), tkm_print_time(b, sizeof(b), worst.left.max, 1));
	fprintf(f, ranks > 1 ? " (the most of %d ranks)\n" : "\n", ranks);
	for (i = 0; i < worst.taus; i++) {
		fprintf(f, "%s%.2g in %s",
			i ? ", " : "change of its rate (Allan deviation, with the noise of the sessions): ",
			worst.deviation[i], tkm_print_time(a, sizeof(a), worst.tau_s[i], 1));
	}
	if (worst.taus) {
		putc('\n', f);
	}
}
