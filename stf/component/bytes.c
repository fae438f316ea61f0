/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a component piece by piece, and holds a window of its bytes. */
#include "config.h"
#include "stf/component/frames.h"
#include "stf/component/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"

#define PIECE (1u << 16)

/* Opens the file again after it was parked, and checks that it is still the same file. */
static int open_file(struct stf_source *s, struct stf_err *err)
{
	struct stat st;

	if (s->fd >= 0) {
		return 0;
	}
	/* O_NONBLOCK, so that a FIFO of that name does not block the reader */
	s->fd = s->place.fd >= 0 ? fcntl(s->place.fd, F_DUPFD_CLOEXEC, 0)
				 : open(s->place.file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (s->fd < 0 || fstat(s->fd, &st) < 0) {
		return stf_fail_errno(err, errno, s->path, "cannot read");
	}
	if (!S_ISREG(st.st_mode)) {
		return stf_fail(err, STF_ERR_IO, s->path, 0, 0, "cannot read: not a regular file");
	}
	if (s->ino && (s->ino != st.st_ino || s->dev != st.st_dev)) {
		return stf_fail(err, STF_ERR_IO, s->path, 0, 0, "it was replaced by another file while it was read");
	}
	s->ino = st.st_ino;
	s->dev = st.st_dev;
	if (s->place.size == UINT64_MAX) {
		s->place.size = (uint64_t)st.st_size;
	}
	return 0;
}

/* Takes ownership of p. */
static struct stf_source *open_place(struct stf_place *p, struct stf_err *err)
{
	struct stf_source *s = calloc(1, sizeof(*s));

	if (!s) {
		stf_place_free(p);
		stf_no_memory(err);
		return NULL;
	}
	s->fd = -1;
	s->place = *p;
	s->path = s->place.name;
	if (open_file(s, err) < 0) {
		goto fail;
	}
	s->size = s->place.size;
	s->piece = s->max_piece = PIECE;
	if (s->place.compressed && stf_frames_open(s, err) < 0) {
		goto fail;
	}
	return s;
fail:
	stf_source_close(s);
	return NULL;
}

struct stf_source *stf_source_open(const struct stf_archive *a, const char *suffix, struct stf_err *err)
{
	struct stf_place p = { .fd = -1 };
	char name[512];
	int rc = stf_archive_find(a, suffix, &p, err);

	if (rc == 0) {
		snprintf(name, sizeof(name), "%s%s", a->path, suffix);
		stf_fail_errno(err, ENOENT, name, "cannot read");
	}
	return rc <= 0 ? NULL : open_place(&p, err);
}

struct stf_source *stf_source_open_file(const char *path, int compressed, struct stf_err *err)
{
	struct stf_place p = {
		.fd = -1, .file = strdup(path), .name = strdup(path), .size = UINT64_MAX, .compressed = compressed
	};

	if (!p.file || !p.name) {
		stf_place_free(&p);
		stf_no_memory(err);
		return NULL;
	}
	return open_place(&p, err);
}

int stf_source_peek(const struct stf_source *s, void *p, size_t n)
{
	return s->size >= n && pread(s->fd, p, n, (off_t)s->place.start) == (ssize_t)n ? 0 : -1;
}

static void drop_window(struct stf_source *s)
{
	if (s->map) {
		munmap(s->map, s->map_len);
	} else {
		free(s->buf);
	}
	s->map = NULL;
	s->buf = NULL;
	s->pos = s->len = s->cap = 0;
}

void stf_source_close(struct stf_source *s)
{
	if (!s) {
		return;
	}
	drop_window(s);
	stf_frames_close(s->frames);
	if (s->fd >= 0) {
		close(s->fd);
	}
	free(s->scratch.mem.p);
	free(s->times);
	free(s->one);
	stf_blocks_free(&s->blocks);
	stf_place_free(&s->place);
	free(s);
}

/* Notes that the file ends at this offset of the component, before the stated size. */
static void cut_at(struct stf_source *s, uint64_t size)
{
	s->size = size;
	s->cut = 1;
}

/* Shortens the read so that it ends with a block. The beginning of a further block would have to be moved before
 * it can be checked. */
static size_t up_to_block(const struct stf_source *s, size_t want)
{
	uint64_t at = s->offset + s->len, end = at;
	size_t k;

	for (k = s->block; k < s->blocks.n && s->blocks.b[k].end <= at + want; k++) {
		end = s->blocks.b[k].end;
	}
	return end > at ? (size_t)(end - at) : want;
}

static int read_more(struct stf_source *s, struct stf_err *err)
{
	uint64_t left;
	ssize_t n;
	size_t want;

	if (s->pos) {
		memmove(s->buf, s->buf + s->pos, s->len - s->pos);
		s->offset += s->pos;
		s->len -= s->pos;
		s->pos = 0;
	}
	if (s->len == s->cap || s->cap < s->piece) {
		want = s->cap < s->piece ? s->piece : 2 * s->cap;
		if (TKM_GROW(s->buf, s->cap, want) < 0) {
			return stf_no_memory(err);
		}
	}
	/* a reader that continues gets larger pieces each time; a reader of one place gets only a small one */
	s->piece = 2 * s->piece < s->max_piece ? 2 * s->piece : s->max_piece;
	/* a file that grows meanwhile is read up to its size at the time of opening */
	left = s->size - (s->offset + s->len);
	want = s->cap - s->len < left ? s->cap - s->len : (size_t)left;
	want = up_to_block(s, want);
	do {
		n = pread(s->fd, s->buf + s->len, want, (off_t)(s->place.start + s->offset + s->len));
	} while (n < 0 && errno == EINTR);
	if (n < 0) {
		return stf_fail_errno(err, errno, s->path, "cannot read");
	}
	if (n == 0) {
		cut_at(s, s->offset + s->len);
	}
	s->len += (size_t)n;
	return 0;
}

/* Maps the next piece. Returns 0, or -1 if it cannot be mapped. If another program shortens the file while it is
 * mapped, an access ends this program with SIGBUS. So the length is checked before each mapping, and a window is
 * in use for milliseconds only. Because of this risk callers must ask for mapping with STF_READ_MAP. */
static int map_more(struct stf_source *s)
{
	uint64_t at = s->offset + s->pos, base = s->place.start + at, page = (uint64_t)sysconf(_SC_PAGESIZE), end;
	size_t want = s->window;
	struct stat st;

	if (fstat(s->fd, &st) < 0) {
		return -1;
	}
	if ((uint64_t)st.st_size < s->place.start + s->size) {
		cut_at(s, (uint64_t)st.st_size > base ? (uint64_t)st.st_size - s->place.start : at);
		if (s->size == at) {
			return 0;
		}
	}
	/* the whole window belongs to one record and is too small for it */
	if (want < 2 * (s->len - s->pos)) {
		want = 2 * (s->len - s->pos);
	}
	end = want < s->size - at ? base + want : s->place.start + s->size;
	/* a reader that continues gets larger pieces each time; a reader of one place gets only a small one */
	s->window = 2 * s->window < s->max_window ? 2 * s->window : s->max_window;
	drop_window(s);
	s->offset = at;
	s->map_len = (size_t)(end - base / page * page);
	s->map = mmap(NULL, s->map_len, PROT_READ, MAP_PRIVATE | MAP_POPULATE, s->fd, (off_t)(base / page * page));
	if (s->map == MAP_FAILED) {
		s->map = NULL;
		return -1;
	}
	s->buf = (uint8_t *)s->map + base % page;
	s->len = (size_t)(end - base);
	return 0;
}

int stf_source_fill_raw(struct stf_source *s, struct stf_err *err)
{
	int rc = 0;

	if (open_file(s, err) < 0) {
		return -1;
	}
	if (s->frames) {
		rc = stf_frames_fill(s, err);
	} else if (!s->window || map_more(s) < 0) {
		s->window = 0;
		rc = read_more(s, err);
	}
	if (s->park) {
		close(s->fd);
		s->fd = -1;
	}
	return rc;
}

int stf_source_seek_raw(struct stf_source *s, uint64_t offset, struct stf_err *err)
{
	uint64_t was;

	if (!s->frames) {
		if (s->map) {
			drop_window(s);
		}
		s->pos = s->len = 0;
		s->offset = offset;
		return 0;
	}
	s->pos = s->len = 0;
	s->offset = stf_frames_goto(s->frames, offset);
	do {
		was = s->offset + s->len;
		s->pos = s->len;
		if (was < offset && stf_source_fill_raw(s, err) < 0) {
			return -1;
		}
	} while (s->offset + s->len < offset && s->offset + s->len > was);
	s->pos = offset - s->offset < s->len ? (size_t)(offset - s->offset) : s->len;
	return 0;
}

void stf_source_park(struct stf_source *s)
{
	s->park = 1;
	if (s->fd >= 0) {
		close(s->fd);
		s->fd = -1;
	}
}
