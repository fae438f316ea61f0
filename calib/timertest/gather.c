/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 gets what all ranks of timertest have measured. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "calib/file/clk.h"

/* A process's binary block: its struct cal_test_rank, the length of its correction data, events, correction
 * data, the matrix. All processes run the same program, so structs travel as they are. */
struct block {
	struct cal_test_rank rank;
	struct cal_test_matrix_of_node matrix;
	size_t clk_length;
};

static char *pack_rank(const struct cal_test *t, size_t *length, struct tkm_err *err)
{
	struct block head = { .rank = t->me, .matrix = t->matrix };
	size_t events = t->me.events * sizeof(*t->me.event), pairs = t->matrix.m.pairs * sizeof(*t->matrix.m.pair);
	char *clk = NULL, *p, *out = NULL;
	FILE *f = open_memstream(&clk, &head.clk_length);

	if (!f || (cal_clk_write_rank(f, &t->rank, err) | tkm_text_end(f, &clk)) != 0) {
		tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the correction data");
		free(clk);
		return NULL;
	}
	*length = sizeof(head) + events + pairs + head.clk_length;
	out = p = malloc(*length + 1);
	if (p) {
		memcpy(p, &head, sizeof(head));
		p += sizeof(head);
		if (events) {
			memcpy(p, t->me.event, events);
		}
		p += events;
		if (pairs) {
			memcpy(p, t->matrix.m.pair, pairs);
		}
		p += pairs;
		memcpy(p, clk, head.clk_length);
	} else {
		tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the results");
	}
	free(clk);
	return out;
}

static void *copy_packed(const void *p, size_t size)
{
	void *c = malloc(size + 1);

	if (c && size) {
		memcpy(c, p, size);
	}
	return c;
}

static int unpack_rank(struct cal_test_result *r, int rank, const char *data, struct tkm_err *err)
{
	struct cal_test_rank *to = &r->rank[rank];
	struct cal_test_matrix_of_node *m;
	struct block head;
	size_t pairs, events;

	memcpy(&head, data, sizeof(head));
	data += sizeof(head);
	*to = head.rank;
	events = to->events * sizeof(*to->event);
	to->event = copy_packed(data, events);
	data += events;
	pairs = head.matrix.m.pairs * sizeof(*head.matrix.m.pair);
	if (head.matrix.m.pus || head.matrix.why[0]) {
		m = &r->matrix[r->nodes++];
		*m = head.matrix;
		m->m.pu = NULL;
		m->m.pair = copy_packed(data, pairs);
	}
	data += pairs;
	if (!to->event) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the results");
	}
	return cal_clk_read_rank(data, head.clk_length, "correction data", &r->run.rank[rank], err);
}

int cal_test_collect(struct cal_test *t, struct tkm_err *err)
{
	struct cal_test_result *r = &t->result;
	struct cal_blobs all;
	size_t length = 0;
	char *mine = pack_rank(t, &length, err);
	int i, rc = 0;

	if (cal_test_all_well(t, mine ? 0 : -1, err) < 0 || cal_link_gather(t->link, mine, length, &all, err) < 0) {
		free(mine);
		return -1;
	}
	free(mine);
	if (t->link->rank == 0) {
		r->ranks = t->link->size;
		r->run = (struct cal_run){ .ranks = (size_t)r->ranks,
			.max_drift = t->o.max_drift,
			.max_wander = t->o.max_wander,
			.wanted = t->o.interpolation,
			.learn = t->o.learn,
			.method = t->o.sync.method };
		r->run.rank = calloc((size_t)r->ranks, sizeof(*r->run.rank));
		r->rank = calloc((size_t)r->ranks, sizeof(*r->rank));
		r->matrix = calloc((size_t)r->ranks, sizeof(*r->matrix));
		r->truth = calloc((size_t)r->ranks, sizeof(*r->truth));
		if (!r->run.rank || !r->rank || !r->matrix || !r->truth) {
			rc = tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the results of %d ranks", r->ranks);
		}
		for (i = 0; i < r->ranks && rc == 0; i++) {
			rc = unpack_rank(r, i, all.data[i], err);
		}
	}
	cal_blobs_free(&all);
	return cal_test_all_well(t, rc, err);
}
