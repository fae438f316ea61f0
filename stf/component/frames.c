/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a compressed component. The seek table says where the frames are, and the anchors say what they hold. A
 * file that was cut has lost its table; then the frames are found one after the other. */
#include "config.h"
#include "stf/component/frames.h"
#include "stf/component/anchor_table.h"
#include "stf/pack/columns.h"
#include "stf/pack/zst.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/grow.h"

#define SKIPPABLE 0x184d2a5eu
#define SEEKABLE 0x8f92eab1u
#define FOOT 9

struct frame {
	uint64_t at;     /* offset in the file, from the component's start there */
	uint64_t offset; /* offset in the uncompressed component; UINT64_MAX: not known yet */
	uint32_t packed, content;
};

struct stf_frames {
	struct stf_unzst *ctx;
	struct frame *frame;
	size_t n, next;
	int broken; /* the file is cut after the last of these frames */
	uint8_t *packed, *content;
	size_t packed_cap, content_cap;
};

void stf_frames_close(struct stf_frames *f)
{
	if (f) {
		stf_unzst_free(f->ctx);
		free(f->frame);
		free(f->packed);
		free(f->content);
		free(f);
	}
}

static int read_at(struct stf_source *s, uint64_t at, void *p, size_t n, struct stf_err *err)
{
	uint8_t *c = p;
	ssize_t got;

	while (n) {
		got = pread(s->fd, c, n, (off_t)(s->place.start + at));
		if (got < 0 && errno == EINTR) {
			continue;
		}
		if (got < 0) {
			return stf_fail_errno(err, errno, s->path, "cannot read");
		}
		if (got == 0) {
			return stf_fail(
				err, STF_ERR_TRUNCATED, s->path, at, 0, "the file became shorter while it was read");
		}
		c += got;
		at += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

/* Reads the table at the file's end. Returns 1: it is there and valid, 0: it is not. */
static int read_table(struct stf_source *s, struct stf_frames *f, struct stf_err *err)
{
	uint64_t size = s->place.size, n, each, at = 0, i;
	uint8_t foot[FOOT], *t;

	if (size < 8 + FOOT) {
		return 0;
	}
	if (read_at(s, size - FOOT, foot, FOOT, err) < 0) {
		return -1;
	}
	if (tkm_get32(foot + 5, 0) != SEEKABLE) {
		return 0;
	}
	n = tkm_get32(foot, 0);
	each = foot[4] & 0x80 ? 12 : 8;
	if (n * each + 8 + FOOT > size) {
		return 0;
	}
	t = malloc(n * each + 8);
	f->frame = calloc(n + 1, sizeof(*f->frame));
	if (!t || !f->frame) {
		free(t);
		return stf_no_memory(err);
	}
	if (read_at(s, size - FOOT - n * each - 8, t, n * each + 8, err) < 0) {
		free(t);
		return -1;
	}
	for (i = 0; i < n; i++) {
		f->frame[i] = (struct frame){ .at = at,
			.offset = UINT64_MAX,
			.packed = tkm_get32(t + 8 + i * each, 0),
			.content = tkm_get32(t + 12 + i * each, 0) };
		at += f->frame[i].packed;
	}
	i = tkm_get32(t, 0);
	free(t);
	f->n = n;
	return i == SKIPPABLE && at == size - FOOT - n * each - 8;
}

/* Finds the frames one by one, without a table. */
static int find_frames(struct stf_source *s, struct stf_frames *f, struct stf_err *err)
{
	size_t at = 0, n = (size_t)s->place.size, cap = 0, size;
	uint64_t content;

	free(f->frame);
	f->frame = NULL;
	f->n = 0;
	f->broken = 1;
	f->packed = malloc(n + 1);
	f->packed_cap = n;
	if (!f->packed) {
		return stf_no_memory(err);
	}
	if (read_at(s, 0, f->packed, n, err) < 0) {
		return -1;
	}
	while (at < n && stf_unzst_measure(f->packed + at, n - at, &size, &content) == 0 && content <= UINT32_MAX &&
		size <= UINT32_MAX && size && tkm_get32(f->packed + at, 0) != SKIPPABLE) {
		if (TKM_GROW(f->frame, cap, f->n + 2) < 0) {
			return stf_no_memory(err);
		}
		f->frame[f->n++] = (struct frame){ at, UINT64_MAX, (uint32_t)size, (uint32_t)content };
		at += size;
	}
	return 0;
}

int stf_frames_open(struct stf_source *s, struct stf_err *err)
{
	struct stf_frames *f = calloc(1, sizeof(*f));
	int rc;

	s->frames = f;
	if (!f) {
		return stf_no_memory(err);
	}
	f->ctx = stf_unzst_new(err);
	if (!f->ctx) {
		return -1;
	}
	rc = read_table(s, f, err);
	if (rc < 0 || (rc == 0 && find_frames(s, f, err) < 0)) {
		return -1;
	}
	if (f->n) {
		f->frame[0].offset = 0;
	}
	/* an upper bound until the last frame was read; without a frame, a size of 1 leads to the fault at the end */
	s->size = (uint64_t)f->broken + (uint64_t)f->n * STX_MAX_FRAME;
	return 0;
}

/* Unpacks the content of the next frame, which stands for *size bytes of the component. */
static int unpack(struct stf_source *s, int64_t *size, struct stf_err *err)
{
	struct stf_frames *f = s->frames;
	const struct frame *fr = &f->frame[f->next];

	/* a block of a frame has at least 3 bytes and at most 128 KiB of content */
	if (fr->content > STX_MAX_FRAME || fr->content > ((uint64_t)fr->packed / 3 + 1) * (128 << 10)) {
		return stf_fail(err, STF_ERR_FORMAT, s->path, fr->at, 0, "a frame cannot hold %u bytes", fr->content);
	}
	if (TKM_GROW(f->packed, f->packed_cap, fr->packed) < 0 ||
		TKM_GROW(f->content, f->content_cap, fr->content) < 0) {
		return stf_no_memory(err);
	}
	if (read_at(s, fr->at, f->packed, fr->packed, err) < 0) {
		return -1;
	}
	if (stf_unzst_frame(f->ctx, f->packed, fr->packed, f->content, fr->content) < 0) {
		return stf_fail(err, STF_ERR_FORMAT, s->path, fr->at, 0, "a compressed frame is damaged");
	}
	*size = stf_columns_size(f->content, fr->content, s->defs->big);
	if (*size < 0) {
		return stf_fail(err, STF_ERR_FORMAT, s->path, fr->at, 0, "a frame's columns are damaged");
	}
	return 0;
}

int stf_frames_fill(struct stf_source *s, struct stf_err *err)
{
	struct stf_frames *f = s->frames;
	struct frame *fr;
	int64_t size = 0;

	if (s->pos) {
		memmove(s->buf, s->buf + s->pos, s->len - s->pos);
		s->offset += s->pos;
		s->len -= s->pos;
		s->pos = 0;
	}
	if (f->next == f->n) {
		s->size = s->offset + s->len;
		s->cut |= f->broken;
		return 0;
	}
	if (unpack(s, &size, err) < 0) {
		return -1;
	}
	fr = &f->frame[f->next];
	if (TKM_GROW(s->buf, s->cap, s->len + (size_t)size) < 0) {
		return stf_no_memory(err);
	}
	stf_columns_unpack(s->buf + s->len, f->content, fr->content, s->defs->big);
	if (f->next + 1 < f->n && fr[1].offset != UINT64_MAX && fr[1].offset != s->offset + s->len + (uint64_t)size) {
		return stf_fail(err, STF_ERR_FORMAT, s->path, fr[1].at, 0, "a frame does not begin at its anchor");
	}
	s->len += (size_t)size;
	f->next++;
	if (f->next < f->n) {
		fr[1].offset = s->offset + s->len;
	} else if (!f->broken) {
		s->size = s->offset + s->len;
	}
	return 0;
}

void stf_frames_know(struct stf_source *s, const struct stf_anchors *t)
{
	struct stf_frames *f = s->frames;
	size_t i;

	/* frame k holds the bytes between the anchors k and k + 1 */
	for (i = 1; f && i < f->n && i < t->n; i++) {
		f->frame[i].offset = t->anchor[i].offset;
	}
}

void stf_frames_know_blocks(struct stf_source *s, const struct stf_blocks *l)
{
	struct stf_frames *f = s->frames;
	size_t i;

	s->cut |= f && f->n < l->n;
	for (i = 0; f && f->n == l->n && i < l->n; i++) {
		f->frame[i].offset = stf_block_start(l, i);
	}
}

uint64_t stf_frames_goto(struct stf_frames *f, uint64_t offset)
{
	size_t k = f->n;

	while (k > 0 && (f->frame[k - 1].offset == UINT64_MAX || f->frame[k - 1].offset > offset)) {
		k--;
	}
	f->next = k ? k - 1 : 0;
	return k ? f->frame[k - 1].offset : 0;
}

int stf_frames_pass(struct stf_source *s, size_t block, const struct stf_blocks *l)
{
	struct stf_frames *f = s->frames;

	if (!f || !s->timed || f->n != l->n || block >= l->n || f->next != block ||
		s->offset + s->have != stf_block_start(l, block)) {
		return 0;
	}
	f->next++;
	return 1;
}
