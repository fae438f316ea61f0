/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "exchange/common/sort.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/heap.h"
#include "exchange/common/private.h"

enum { IN_MEMORY = 1 << 18, LEAST_READ = 512 }; /* items; a power of 2, because the array grows by doubling */

/* Items of the file, sorted. */
struct sorted_run {
	uint64_t at, end; /* numbers of items that are still to be read */
	struct xch_item *item;
	size_t n, used;
};

struct xch_sort {
	char *beside;
	int fd; /* -1: there is no file yet */
	struct xch_item *item;
	size_t n, room;
	uint64_t written;
	struct sorted_run *run;
	uint32_t runs;
};

struct xch_sort *xch_sort_new(const char *beside, struct tkm_err *err)
{
	struct xch_sort *s = calloc(1, sizeof(*s));

	if (!s || !(s->beside = strdup(beside))) {
		free(s);
		xch_fail_memory(err, beside);
		return NULL;
	}
	s->fd = -1;
	return s;
}

void xch_sort_free(struct xch_sort *s)
{
	uint32_t i;

	if (!s) {
		return;
	}
	for (i = 0; i < s->runs; i++) {
		free(s->run[i].item);
	}
	if (s->fd >= 0) {
		close(s->fd);
	}
	free(s->run);
	free(s->item);
	free(s->beside);
	free(s);
}

static inline int item_is_before(const struct xch_item *a, const struct xch_item *b)
{
	return a->time != b->time    ? a->time < b->time
		: a->rank != b->rank ? a->rank < b->rank
		: a->key != b->key   ? a->key < b->key
				     : a->number < b->number;
}

static int compare_items(const void *a, const void *b)
{
	return item_is_before(a, b) ? -1 : item_is_before(b, a);
}

static void sort_items(struct xch_sort *s)
{
	if (s->n > 1) {
		qsort(s->item, s->n, sizeof(*s->item), compare_items);
	}
}

/* ---- the file ---- */

static int fail_sort(const struct xch_sort *s, const char *what, struct tkm_err *err)
{
	return tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot %s beside %s", what, s->beside);
}

static int make_file(struct xch_sort *s, struct tkm_err *err)
{
	char *path;

	if (asprintf(&path, "%s.events.XXXXXX", s->beside) < 0) {
		return xch_fail_memory(err, s->beside);
	}
	s->fd = mkostemp(path, O_CLOEXEC);
	if (s->fd >= 0) {
		unlink(path);
	}
	free(path);
	return s->fd >= 0 ? 0 : fail_sort(s, "make a temporary file", err);
}

/* Writes what is in memory as a run. */
static int write_run(struct xch_sort *s, struct tkm_err *err)
{
	const char *p = (const char *)s->item;
	size_t left = s->n * sizeof(*s->item);
	off_t at = (off_t)(s->written * sizeof(*s->item));
	struct sorted_run *r;
	ssize_t n;

	if (s->fd < 0 && make_file(s, err) < 0) {
		return -1;
	}
	r = TKM_APPEND(s->run, s->runs);
	if (!r) {
		return xch_fail_memory(err, s->beside);
	}
	sort_items(s);
	while (left) {
		n = pwrite(s->fd, p, left, at);
		if (n < 0 && errno != EINTR) {
			return fail_sort(s, "keep the events in a temporary file", err);
		}
		n = n < 0 ? 0 : n;
		p += n;
		at += n;
		left -= (size_t)n;
	}
	*r = (struct sorted_run){ .at = s->written, .end = s->written + s->n };
	s->written += s->n;
	s->n = 0;
	return 0;
}

int xch_sort_put(struct xch_sort *s, const struct xch_item *item, struct tkm_err *err)
{
	if (s->n == IN_MEMORY && write_run(s, err) < 0) {
		return -1;
	}
	if (TKM_GROW(s->item, s->room, s->n + 1) < 0) {
		return xch_fail_memory(err, s->beside);
	}
	s->item[s->n++] = *item;
	return 0;
}

/* ---- merging ---- */

/* Reads on where all items of the buffer are used. Returns 1; 0: the run has ended; or -1. */
static int fill_run(const struct xch_sort *s, struct sorted_run *r, size_t room, struct tkm_err *err)
{
	size_t want = r->end - r->at < room ? (size_t)(r->end - r->at) : room, got = 0;
	off_t at = (off_t)(r->at * sizeof(*r->item));
	ssize_t n;

	if (r->used < r->n) {
		return 1;
	}
	while (got < want * sizeof(*r->item)) {
		n = pread(s->fd, (char *)r->item + got, want * sizeof(*r->item) - got, at + (off_t)got);
		if (n == 0 || (n < 0 && errno != EINTR)) {
			errno = n ? errno : EIO;
			return fail_sort(s, "read the temporary file", err);
		}
		got += n < 0 ? 0 : (size_t)n;
	}
	r->at += want;
	r->n = want;
	r->used = 0;
	return want > 0;
}

static inline int sorted_run_is_before(const void *runs, const uint32_t *x, const uint32_t *y)
{
	const struct sorted_run *a = (const struct sorted_run *)runs + *x, *b = (const struct sorted_run *)runs + *y;

	return item_is_before(&a->item[a->used], &b->item[b->used]);
}

TKM_HEAP(sorted_runs, uint32_t, sorted_run_is_before);

static int merge_runs(struct xch_sort *s, uint32_t *heap, int (*take)(void *user, const struct xch_item *item),
	void *user, struct tkm_err *err)
{
	size_t room = IN_MEMORY / s->runs > LEAST_READ ? IN_MEMORY / s->runs : LEAST_READ;
	uint32_t n = 0, i;
	struct sorted_run *r;
	int rc = 0;

	for (i = 0; i < s->runs; i++) {
		r = &s->run[i];
		r->item = calloc(room, sizeof(*r->item));
		if (!r->item) {
			return xch_fail_memory(err, s->beside);
		}
		if (fill_run(s, r, room, err) < 0) {
			return -1;
		}
		sorted_runs_add(s->run, heap, n++, i);
	}
	while (rc >= 0 && n) {
		r = &s->run[heap[0]];
		rc = take(user, &r->item[r->used++]);
		rc = rc < 0 ? rc : fill_run(s, r, room, err);
		if (rc == 0) {
			heap[0] = heap[--n];
		}
		sorted_runs_sift(s->run, heap, n, 0);
	}
	return rc < 0 ? -1 : 0;
}

int xch_sort_each(
	struct xch_sort *s, int (*take)(void *user, const struct xch_item *item), void *user, struct tkm_err *err)
{
	uint32_t *heap;
	size_t i;
	int rc = 0;

	if (s->fd < 0) {
		sort_items(s);
		for (i = 0; i < s->n && rc == 0; i++) {
			rc = take(user, &s->item[i]);
		}
		return rc;
	}
	if (s->n && write_run(s, err) < 0) {
		return -1;
	}
	free(s->item);
	s->item = NULL;
	s->room = 0;
	heap = calloc(s->runs, sizeof(*heap));
	rc = heap ? merge_runs(s, heap, take, user, err) : xch_fail_memory(err, s->beside);
	free(heap);
	return rc;
}
