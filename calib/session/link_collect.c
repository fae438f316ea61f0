/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective operations, made of messages between two processes. So every wait has a limit and knows which rank it
 * waits for, which the collective calls of MPI do not offer. */
#include "config.h"
#include "calib/session/link.h"
#include "calib/session/link_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALL_HERE = -1 };

/* In a binomial tree with root 0 the parent of r is r without its lowest bit; its children are r + 1, r + 2,
 * r + 4 ... below that bit. */
static int lowest_bit(int r, int size)
{
	int bit = 1;

	while (r ? !(r & bit) : bit < size) {
		bit <<= 1;
	}
	return bit;
}

/* A child with many ranks below it may itself be waiting: its parent waits longer than it does. */
static double patience_for(const struct cal_link *l, int bit)
{
	double s = l->gathering_s;

	while (bit >>= 1) {
		s += 0.25 * l->gathering_s;
	}
	return s;
}

int cal_link_silent(int from, int to, double limit_s, struct tkm_err *err)
{
	return tkm_fail(err, TKM_ERR_TIMEOUT, "rank %d did not answer rank %d within %.3g s", from, to, limit_s);
}

/* Words travel to rank 0; *missing becomes the rank that did not come, if any. */
static void fan_in(struct cal_link *l, int r, long long *missing)
{
	int top = lowest_bit(r, l->size), bit;
	struct tkm_err why;

	for (bit = 1; bit < top && r + bit < l->size; bit <<= 1) {
		long long word = ALL_HERE;

		if (l->ops->turn(l, r + bit, r, &word, patience_for(l, bit), &why) < 0) {
			word = r + bit;
		}
		*missing = *missing == ALL_HERE ? word : *missing;
	}
	if (r > 0) {
		l->ops->turn(l, r, r - top, missing, 0, &why);
	}
}

static int fan_out(struct cal_link *l, int r, long long *missing)
{
	int top = lowest_bit(r, l->size), bit;
	struct tkm_err why;
	int rc = 0;

	if (r > 0 && l->ops->turn(l, r - top, r, missing, patience_for(l, 4 * l->size), &why) < 0) {
		*missing = r - top;
		rc = -1;
	}
	for (bit = top >> 1; bit > 0; bit >>= 1) {
		if (r + bit < l->size) {
			l->ops->turn(l, r, r + bit, missing, 0, &why);
		}
	}
	return rc;
}

int cal_link_barrier(struct cal_link *l, struct tkm_err *err)
{
	long long missing = ALL_HERE;

	if (l->rank < 0 || l->size == 1) {
		return 0;
	}
	fan_in(l, l->rank, &missing);
	fan_out(l, l->rank, &missing);
	if (missing != ALL_HERE) {
		return tkm_fail(err, TKM_ERR_TIMEOUT, "rank %lld did not come to where all ranks meet within %.3g s",
			missing, l->gathering_s);
	}
	return 0;
}

int cal_link_bcast(struct cal_link *l, void *data, size_t size, struct tkm_err *err)
{
	int r = l->rank, top = lowest_bit(r < 0 ? 0 : r, l->size), bit;

	if (r < 0 || l->size == 1) {
		return 0;
	}
	if (r > 0 && l->ops->send(l, r - top, r, data, size, patience_for(l, 4 * l->size), err) < 0) {
		return -1;
	}
	for (bit = top >> 1; bit > 0; bit >>= 1) {
		if (r + bit < l->size && l->ops->send(l, r, r + bit, data, size, l->gathering_s, err) < 0) {
			return -1;
		}
	}
	return 0;
}

void cal_blobs_free(struct cal_blobs *b)
{
	int i;

	for (i = 0; i < b->n; i++) {
		free(b->data[i]);
	}
	free(b->data);
	free(b->length);
	memset(b, 0, sizeof(*b));
}

int cal_blobs_alloc(struct cal_blobs *b, int n, struct tkm_err *err)
{
	b->n = n;
	b->data = calloc((size_t)n + 1, sizeof(*b->data));
	b->length = calloc((size_t)n + 1, sizeof(*b->length));
	if (!b->data || !b->length) {
		b->n = 0;
		cal_blobs_free(b);
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the data of %d processes", n);
	}
	return 0;
}

/* A blob of that length, with a zero after it. */
static int blob_room(struct cal_blobs *all, int i, size_t length, struct tkm_err *err)
{
	all->data[i] = malloc(length + 1);
	if (!all->data[i]) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %zu bytes of results", length);
	}
	all->data[i][length] = '\0';
	all->length[i] = length;
	return 0;
}

static int gather_here(struct cal_link *l, struct cal_blobs *all, struct tkm_err *err)
{
	unsigned long long length;
	int i;

	for (i = 1; i < l->size; i++) {
		if (l->ops->send(l, i, 0, &length, sizeof(length), l->gathering_s, err) < 0 ||
			blob_room(all, i, (size_t)length, err) < 0 ||
			(length && l->ops->send(l, i, 0, all->data[i], (size_t)length, l->gathering_s, err) < 0)) {
			return -1;
		}
	}
	return 0;
}

int cal_link_gather(struct cal_link *l, const void *data, size_t length, struct cal_blobs *all, struct tkm_err *err)
{
	unsigned long long count = length;
	int rc;

	memset(all, 0, sizeof(*all));
	if (l->rank > 0) {
		rc = l->ops->send(l, l->rank, 0, &count, sizeof(count), l->gathering_s, err);
		return rc == 0 && length
			? l->ops->send(l, l->rank, 0, (void *)(uintptr_t)data, length, l->gathering_s, err)
			: rc;
	}
	if (cal_blobs_alloc(all, l->rank < 0 ? 1 : l->size, err) < 0 || blob_room(all, 0, length, err) < 0) {
		cal_blobs_free(all);
		return -1;
	}
	if (length) {
		memcpy(all->data[0], data, length);
	}
	rc = l->rank < 0 ? 0 : gather_here(l, all, err);
	if (rc < 0) {
		cal_blobs_free(all);
	}
	return rc;
}

int cal_link_collect(struct cal_link *l, const void *mine, size_t size, void *all, struct tkm_err *err)
{
	struct cal_blobs b;
	int i, rc = cal_link_gather(l, mine, size, &b, err);

	for (i = 0; rc == 0 && i < b.n; i++) {
		if (b.length[i] == size) {
			memcpy((char *)all + (size_t)i * size, b.data[i], size);
		} else {
			rc = tkm_fail(err, TKM_ERR_DATA, "rank %d is not of this program", i);
		}
	}
	cal_blobs_free(&b);
	return rc;
}

int cal_link_share(struct cal_link *l, const void *mine, size_t size, void *all, struct tkm_err *err)
{
	int rc = cal_link_collect(l, mine, size, all, err);

	return rc < 0 ? rc : cal_link_bcast(l, all, (size_t)l->size * size, err);
}

int cal_link_largest(struct cal_link *l, double *value, struct tkm_err *err)
{
	double *all = calloc((size_t)l->size, sizeof(*all));
	int i,
		rc = all ? cal_link_collect(l, value, sizeof(*value), all, err)
			 : tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %d ranks", l->size);

	for (i = 0; rc == 0 && l->rank == 0 && i < l->size; i++) {
		*value = fmax(*value, all[i]);
	}
	free(all);
	return rc < 0 ? rc : cal_link_bcast(l, value, sizeof(*value), err);
}
