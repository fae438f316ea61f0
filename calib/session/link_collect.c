/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective operations, made of messages between two processes. So every wait has a limit and knows which rank it
 * waits for, which the collective calls of MPI do not offer. */
#include "config.h"
#include "calib/session/link.h"
#include "calib/session/link_private.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

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

/* What the ranks of a part of the tree have, from its lowest rank on: the length of each, 8 bytes, and its data. */
struct packed {
	char *p;
	size_t n, room;
	int ranks;
};

/* In place of the number of bytes, by a rank that has lost the data of its part. */
#define NOTHING_COMES UINT64_MAX

static int pack_bytes(struct packed *to, const void *data, size_t n, struct tkm_err *err)
{
	if (TKM_GROW(to->p, to->room, to->n + n + 1) < 0) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %zu bytes of results", n);
	}
	if (n) {
		memcpy(to->p + to->n, data, n);
	}
	to->n += n;
	return 0;
}

static int pack_rank(struct packed *to, const void *data, size_t length, struct tkm_err *err)
{
	uint64_t n = length;

	to->ranks++;
	return pack_bytes(to, &n, sizeof(n), err) < 0 ? -1 : pack_bytes(to, data, length, err);
}

/* Takes what rank `from` and those below it have. */
static int take_packed(struct cal_link *l, int r, int from, struct packed *to, struct tkm_err *err)
{
	double limit_s = patience_for(l, from - r);
	uint64_t head[2];

	if (l->ops->send(l, from, r, head, sizeof(head), limit_s, err) < 0) {
		return -1;
	}
	if (head[0] == NOTHING_COMES) {
		return tkm_fail(err, TKM_ERR_IO, "rank %d has not got what the ranks after it have", from);
	}
	if (TKM_GROW(to->p, to->room, to->n + head[0] + 1) < 0) {
		return tkm_fail(
			err, TKM_ERR_NOMEM, "out of memory for %llu bytes of results", (unsigned long long)head[0]);
	}
	if (head[0] && l->ops->send(l, from, r, to->p + to->n, (size_t)head[0], limit_s, err) < 0) {
		return -1;
	}
	to->n += head[0];
	to->ranks += (int)head[1];
	return 0;
}

/* Collects the part of the tree below rank r, and passes it on. So no rank has more partners than the tree has levels. */
static int gather_part(struct cal_link *l, const void *data, size_t length, struct packed *part, struct tkm_err *err)
{
	int r = l->rank, top = lowest_bit(r, l->size), bit, rc = pack_rank(part, data, length, err);
	struct tkm_err why;
	uint64_t head[2];

	for (bit = 1; rc == 0 && bit < top && r + bit < l->size; bit <<= 1) {
		rc = take_packed(l, r, r + bit, part, err);
	}
	if (r == 0) {
		return rc;
	}
	head[0] = rc == 0 ? part->n : NOTHING_COMES;
	head[1] = (uint64_t)part->ranks;
	if (l->ops->send(l, r, r - top, head, sizeof(head), l->gathering_s, rc < 0 ? &why : err) < 0) {
		return -1;
	}
	return rc == 0 && part->n ? l->ops->send(l, r, r - top, part->p, part->n, l->gathering_s, err) : rc;
}

static int unpack_ranks(const struct packed *part, struct cal_blobs *all, struct tkm_err *err)
{
	size_t at = 0;
	uint64_t n;
	int i;

	for (i = 0; i < all->n; i++) {
		if (part->n - at < sizeof(n)) {
			return tkm_fail(err, TKM_ERR_DATA, "the data of rank %d and those after it is missing", i);
		}
		memcpy(&n, part->p + at, sizeof(n));
		at += sizeof(n);
		if (n > part->n - at || blob_room(all, i, (size_t)n, err) < 0) {
			return n > part->n - at ? tkm_fail(err, TKM_ERR_DATA, "the data of rank %d is cut off", i) : -1;
		}
		memcpy(all->data[i], part->p + at, (size_t)n);
		at += (size_t)n;
	}
	return 0;
}

int cal_link_gather(struct cal_link *l, const void *data, size_t length, struct cal_blobs *all, struct tkm_err *err)
{
	struct packed part = { NULL };
	int rc;

	memset(all, 0, sizeof(*all));
	if (l->rank > 0) {
		rc = gather_part(l, data, length, &part, err);
		free(part.p);
		return rc;
	}
	if (cal_blobs_alloc(all, l->rank < 0 ? 1 : l->size, err) < 0) {
		return -1;
	}
	rc = l->rank < 0 ? pack_rank(&part, data, length, err) : gather_part(l, data, length, &part, err);
	rc = rc < 0 ? rc : unpack_ranks(&part, all, err);
	free(part.p);
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
