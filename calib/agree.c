/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "calib/agree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a rank tells about its timer. */
struct told {
	struct cal_tick tick;
	int32_t rank, machine;
	char timer[256];
};

static int by_clock(const void *a, const void *b)
{
	const struct told *x = a, *y = b;
	int c = x->machine != y->machine ? (x->machine > y->machine) - (x->machine < y->machine) : strcmp(x->timer, y->timer);

	return c ? c : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Equal neighbours after sorting read one clock. */
static void take_largest(struct told *told, int n, struct cal_tick *tick)
{
	int i, k;

	qsort(told, (size_t)n, sizeof(*told), by_clock);
	for (i = 0; i < n; i = k) {
		struct cal_tick largest = told[i].tick;

		for (k = i; k < n && told[k].machine == told[i].machine && strcmp(told[k].timer, told[i].timer) == 0; k++) {
			largest.ticks = fmax(largest.ticks, told[k].tick.ticks);
			largest.lag_ticks = fmax(largest.lag_ticks, told[k].tick.lag_ticks);
		}
		for (; i < k; i++) {
			tick[told[i].rank] = largest;
		}
	}
}

int cal_ticks_agree(struct cal_link *l, const struct cal_place *place, struct cal_tick mine, struct cal_tick *tick,
	struct tkm_err *err)
{
	int me = l->rank < 0 ? 0 : l->rank, i, rc;
	struct told self = { .tick = mine, .rank = me, .machine = place[me].machine }, *told = NULL;
	struct cal_blobs all;

	snprintf(self.timer, sizeof(self.timer), "%s", l->timer->name);
	rc = cal_link_gather(l, &self, sizeof(self), &all, err);
	if (rc == 0 && l->rank <= 0) {
		told = calloc((size_t)all.n + 1, sizeof(*told));
		rc = told ? 0 : tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %d ranks", all.n);
		for (i = 0; i < all.n && rc == 0; i++) {
			if (all.length[i] != sizeof(*told)) {
				rc = tkm_fail(err, TKM_ERR_DATA, "rank %d is not of this program", i);
			} else {
				memcpy(&told[i], all.data[i], sizeof(*told));
			}
		}
		if (rc == 0) {
			take_largest(told, all.n, tick);
		}
		free(told);
	}
	cal_blobs_free(&all);
	return rc < 0 ? rc : cal_link_bcast(l, tick, (size_t)l->size * sizeof(*tick), err);
}
