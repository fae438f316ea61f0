/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for the writers of OTF2. The library's own memory takes 128 MiB for each location, and 4 MiB more for
 * each file from its first flush until it is closed. With up to FEW locations, each writes its events out when
 * two chunks are full. With more locations, all events wait in chunks until their writer is closed; the writers
 * are closed one after the other. The chunks are pages of a file without a name beside the output, so they are
 * page cache. */
#include "config.h"
#include "exchange/otf2/otf2.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/grow.h"

enum { FEW = 16, CHUNKS = 2, DEF_CHUNKS = 512, SEGMENT = 1 << 26, PER_SEGMENT = SEGMENT / OTF2_CHUNK };

struct xch_otf2_chunks {
	int fd;
	char **segment; /* mappings of the file, SEGMENT bytes each, in the order of the file */
	size_t n, used; /* used: number of chunks of the file that were handed out so far */
	size_t *idle;   /* chunks of the file that were returned */
	size_t n_idle, cap_idle;
};

struct chunk {
	void *at;
	size_t number; /* index in the file */
};

/* The chunks of one writer. */
struct list {
	size_t n, cap;
	struct chunk *chunk;
};

/* Maps one more segment of the file. */
static int grow(struct xch_otf2_chunks *c)
{
	char **p;
	void *at;

	if (ftruncate(c->fd, (off_t)(c->n + 1) * SEGMENT) < 0) {
		return -1;
	}
	at = mmap(NULL, SEGMENT, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, (off_t)c->n * SEGMENT);
	if (at == MAP_FAILED) {
		return -1;
	}
	p = TKM_APPEND(c->segment, c->n);
	if (!p) {
		munmap(at, SEGMENT);
		return -1;
	}
	*p = at;
	return 0;
}

/* Takes a chunk of the file and reserves its place on the disk, because a full disk would cause a SIGBUS later. */
static int from_file(struct xch_otf2_chunks *c, struct chunk *k)
{
	size_t number = c->n_idle ? c->idle[c->n_idle - 1] : c->used;

	if (number == c->n * PER_SEGMENT && grow(c) < 0) {
		return -1;
	}
	if (posix_fallocate(c->fd, (off_t)number * OTF2_CHUNK, OTF2_CHUNK) != 0) {
		return -1;
	}
	if (c->n_idle) {
		c->n_idle--;
	} else {
		c->used++;
	}
	k->number = number;
	k->at = c->segment[number / PER_SEGMENT] + number % PER_SEGMENT * OTF2_CHUNK;
	return 0;
}

static void back_to_file(struct xch_otf2_chunks *c, const struct chunk *k)
{

	fallocate(c->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)k->number * OTF2_CHUNK, OTF2_CHUNK);
	madvise(k->at, OTF2_CHUNK, MADV_DONTNEED);
	if (TKM_GROW(c->idle, c->cap_idle, c->n_idle + 1) < 0) {
		return; /* it is not used again */
	}
	c->idle[c->n_idle++] = k->number;
}

static void *allocate_chunk(void *user, OTF2_FileType type, OTF2_LocationRef location, void **buffer, uint64_t size)
{
	struct xch_otf2_chunks *c = user;
	struct list *l = *buffer;
	int file = type == OTF2_FILETYPE_EVENTS && c->fd >= 0;
	struct chunk *k;

	(void)location;
	if (!l && !(*buffer = l = calloc(1, sizeof(*l)))) {
		return NULL;
	}
	if (!file && l->n == (type == OTF2_FILETYPE_EVENTS ? CHUNKS : DEF_CHUNKS)) {
		return NULL; /* the library then writes the existing chunks out */
	}
	if (TKM_GROW(l->chunk, l->cap, l->n + 1) < 0) {
		return NULL;
	}
	k = &l->chunk[l->n];
	if (file && l->n) {
		madvise(k[-1].at, OTF2_CHUNK, MADV_DONTNEED); /* the chunk is full, and stays in the file */
	}
	if (file ? from_file(c, k) < 0 : !(k->at = malloc(size))) {
		return NULL;
	}
	l->n++;
	return k->at;
}

static void take_back(void *user, OTF2_FileType type, OTF2_LocationRef location, void **buffer, bool final)
{
	struct xch_otf2_chunks *c = user;
	struct list *l = *buffer;

	(void)location;
	while (l && l->n) {
		l->n--;
		if (type == OTF2_FILETYPE_EVENTS && c->fd >= 0) {
			back_to_file(c, &l->chunk[l->n]);
		} else {
			free(l->chunk[l->n].at);
		}
	}
	if (final && l) {
		free(l->chunk);
		free(l);
		*buffer = NULL;
	}
}

const OTF2_MemoryCallbacks xch_otf2_memory = { allocate_chunk, take_back };

struct xch_otf2_chunks *xch_otf2_chunks_open(const struct xch_writer *w, size_t locations, struct tkm_err *err)
{
	struct xch_otf2_chunks *c = calloc(1, sizeof(*c));
	char *path = NULL;

	if (!c || (locations > FEW && asprintf(&path, "%s/.chunks.XXXXXX", w->dir) < 0)) {
		free(c);
		xch_fail_memory(err, w->target);
		return NULL;
	}
	c->fd = path ? mkostemp(path, O_CLOEXEC) : -1;
	if (path && c->fd < 0) {
		tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot write beside %s", w->target);
		free(c);
		c = NULL;
	} else if (path) {
		unlink(path);
	}
	free(path);
	return c;
}

void xch_otf2_chunks_close(struct xch_otf2_chunks *c)
{
	size_t i;

	if (!c) {
		return;
	}
	for (i = 0; i < c->n; i++) {
		munmap(c->segment[i], SEGMENT);
	}
	if (c->fd >= 0) {
		close(c->fd);
	}
	free(c->segment);
	free(c->idle);
	free(c);
}
