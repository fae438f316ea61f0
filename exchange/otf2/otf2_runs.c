/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the events of groups of locations in an unnamed file beside the output. The events of each group are a
 * run, sorted by time; at the end all runs are merged. */
#include "config.h"
#include "exchange/otf2/otf2_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/heap.h"

enum {
	HEAD = 3, /* words at the start of every event: time, location, kind with n */
	LARGEST = HEAD + 6 + 2 * UINT8_MAX,
	WRITE = 1 << 18, /* bytes per write */
	READ = 1 << 17,  /* bytes per read of one run */
	ALL_READ = 1 << 24
};

/* The number of words after the head, for each kind. A metric has its values and types in addition. */
static const uint8_t words[] = {
	[OTF2_EVENT_ENTER] = 1,
	[OTF2_EVENT_LEAVE] = 1,
	[OTF2_EVENT_SEND] = 4,
	[OTF2_EVENT_RECEIVE] = 4,
	[OTF2_EVENT_COLL_BEGIN] = 0,
	[OTF2_EVENT_COLL_END] = 5,
	[OTF2_EVENT_COLL_REQUEST] = 1,
	[OTF2_EVENT_COLL_COMPLETE] = 6,
	[OTF2_EVENT_METRIC] = 1,
	[OTF2_EVENT_IO_BEGIN] = 4,
	[OTF2_EVENT_IO_END] = 4,
	[OTF2_EVENT_PUT] = 4,
	[OTF2_EVENT_GET] = 4,
	[OTF2_EVENT_RMA_DONE] = 3,
};

struct run {
	off_t at, end; /* the part of the file that is still to be read */
	uint64_t *b;
	size_t n, used; /* words */
};

struct xch_otf2_runs {
	int fd;
	char *to; /* name of the output, for messages */
	uint64_t *b;
	size_t n; /* words that are not yet written */
	off_t size;
	struct run *run;
	uint32_t n_runs;
	uint32_t *heap; /* runs sorted by their next event */
};

static int fail_errno(const struct xch_otf2_runs *r, const char *what, struct tkm_err *err)
{
	return tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot %s beside %s", what, r->to);
}

struct xch_otf2_runs *xch_otf2_runs_new(const char *to, struct tkm_err *err)
{
	struct xch_otf2_runs *r = calloc(1, sizeof(*r));
	char *path = NULL;

	if (!r || !(r->b = malloc(WRITE)) || !(r->to = strdup(to)) || asprintf(&path, "%s.events.XXXXXX", to) < 0) {
		xch_fail_memory(err, to);
	} else if ((r->fd = mkostemp(path, O_CLOEXEC)) < 0) {
		fail_errno(r, "make a temporary file", err);
	} else {
		unlink(path);
		free(path);
		return r;
	}
	if (r) {
		r->fd = -1;
	}
	free(path);
	xch_otf2_runs_free(r);
	return NULL;
}

void xch_otf2_runs_free(struct xch_otf2_runs *r)
{
	uint32_t i;

	if (!r) {
		return;
	}
	for (i = 0; i < r->n_runs; i++) {
		free(r->run[i].b);
	}
	if (r->fd >= 0) {
		close(r->fd);
	}
	free(r->run);
	free(r->heap);
	free(r->b);
	free(r->to);
	free(r);
}

static int flush(struct xch_otf2_runs *r, struct tkm_err *err)
{
	const char *p = (const char *)r->b;
	size_t left = r->n * sizeof(*r->b);
	ssize_t n;

	while (left) {
		n = pwrite(r->fd, p, left, r->size);
		if (n < 0 && errno != EINTR) {
			return fail_errno(r, "keep the events in a temporary file", err);
		}
		n = n < 0 ? 0 : n;
		p += n;
		left -= (size_t)n;
		r->size += n;
	}
	r->n = 0;
	return 0;
}

int xch_otf2_runs_put(struct xch_otf2_runs *r, const struct xch_otf2_event *v, struct tkm_err *err)
{
	uint64_t *b;
	unsigned i;

	if ((r->n + LARGEST) * sizeof(*r->b) > WRITE && flush(r, err) < 0) {
		return -1;
	}
	b = r->b + r->n;
	*b++ = v->time;
	*b++ = v->location;
	*b++ = (uint64_t)v->kind << 8 | v->n;
	for (i = 0; i < words[v->kind]; i++) {
		*b++ = v->a[i];
	}
	for (i = 0; i < v->n; i++) {
		*b++ = v->values[i];
		*b++ = v->types[i];
	}
	r->n = (size_t)(b - r->b);
	return 0;
}

int xch_otf2_runs_end(struct xch_otf2_runs *r, struct tkm_err *err)
{
	struct run *p;

	if (flush(r, err) < 0) {
		return -1;
	}
	p = TKM_APPEND(r->run, r->n_runs);
	if (!p) {
		return xch_fail_memory(err, r->to);
	}
	*p = (struct run){ .at = p > r->run ? p[-1].end : 0, .end = r->size };
	return 0;
}

/* ---- merging ---- */

/* The number of words of the event at b, whose head is in memory. */
static size_t length(const uint64_t *b)
{
	return HEAD + words[b[2] >> 8] + 2 * (b[2] & 0xff);
}

/* Reads until the run's next event is completely in its buffer. Returns 0: there is none. */
static int fill(const struct xch_otf2_runs *r, struct run *u, size_t cap, struct tkm_err *err)
{
	size_t left = u->n - u->used, want;
	ssize_t n;

	if (left >= HEAD && left >= length(u->b + u->used)) {
		return 1;
	}
	memmove(u->b, u->b + u->used, left * sizeof(*u->b));
	u->n = left;
	u->used = 0;
	want = (cap - left) * sizeof(*u->b);
	want = (off_t)want > u->end - u->at ? (size_t)(u->end - u->at) : want;
	for (left = 0; left < want; left += (size_t)n) {
		n = pread(r->fd, (char *)(u->b + u->n) + left, want - left, u->at + (off_t)left);
		if (n == 0 || (n < 0 && errno != EINTR)) {
			errno = n ? errno : EIO;
			return fail_errno(r, "read the temporary file", err);
		}
		n = n < 0 ? 0 : n;
	}
	u->at += (off_t)want;
	u->n += want / sizeof(*u->b);
	return u->n > 0;
}

/* Of equal stamps, the runs of earlier locations are first. */
static int run_is_before(const void *runs, const uint32_t *x, const uint32_t *y)
{
	const struct run *a = (const struct run *)runs + *x, *b = (const struct run *)runs + *y;
	uint64_t s = a->b[a->used], t = b->b[b->used];

	return s < t || (s == t && *x < *y);
}

TKM_HEAP(run_heap, uint32_t, run_is_before);

static int deliver(struct xch_otf2_in *o, struct run *u)
{
	const uint64_t *b = u->b + u->used;
	struct xch_otf2_event v = { b[0], b[1], (enum xch_otf2_event_kind)(b[2] >> 8), .n = b[2] & 0xff };
	OTF2_Type types[UINT8_MAX];
	uint64_t values[UINT8_MAX];
	unsigned i;

	u->used += length(b);
	b += HEAD;
	for (i = 0; i < words[v.kind]; i++) {
		v.a[i] = *b++;
	}
	for (i = 0; i < v.n; i++) {
		values[i] = *b++;
		types[i] = (OTF2_Type)*b++;
	}
	v.types = types;
	v.values = values;
	return xch_otf2_in_event(o, &v);
}

int xch_otf2_runs_merge(struct xch_otf2_runs *r, struct xch_otf2_in *o)
{
	size_t cap = ALL_READ / r->n_runs > READ ? READ : ALL_READ / r->n_runs;
	uint32_t n = 0, i;
	int rc = 0;

	cap = cap / sizeof(*r->b) > LARGEST ? cap / sizeof(*r->b) : LARGEST;
	r->heap = calloc(r->n_runs, sizeof(*r->heap));
	for (i = 0; i < r->n_runs && rc >= 0; i++) {
		r->run[i].b = malloc(cap * sizeof(*r->b));
		if (!r->heap || !r->run[i].b) {
			return xch_fail_memory(o->err, r->to);
		}
		rc = fill(r, &r->run[i], cap, o->err);
		if (rc > 0) {
			r->heap[n++] = i;
		}
	}
	for (i = n / 2; i-- > 0;) {
		run_heap_sift(r->run, r->heap, n, i);
	}
	while (rc >= 0 && n) {
		rc = deliver(o, &r->run[r->heap[0]]);
		rc = rc < 0 ? rc : fill(r, &r->run[r->heap[0]], cap, o->err);
		if (rc == 0) {
			r->heap[0] = r->heap[--n];
		}
		run_heap_sift(r->run, r->heap, n, 0);
	}
	return rc < 0 ? -1 : 0;
}
