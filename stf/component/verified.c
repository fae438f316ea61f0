/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a component whose blocks have checksums. The window ends where the verified bytes end. A damaged block is
 * left out, and reading continues after it at the time that the index states. */
#include "config.h"
#include "stf/component/frames.h"
#include "stf/format/hash.h"
#include "stf/component/input.h"

#include <stdlib.h>

#include "base/grow.h"

int stf_damages_add(struct stf_damages *l, const struct stf_damage *d)
{
	size_t i;
	struct stf_damage *p;

	for (i = 0; i < l->n; i++) {
		p = &l->d[i];
		if (p->file == d->file && p->left_out == d->left_out && d->offset >= p->offset &&
			d->offset + d->size <= p->offset + p->size) {
			return 0;
		}
		if (p->file == d->file && p->left_out == d->left_out && d->offset == p->offset + p->size) {
			p->size += d->size;
			p->to = d->to;
			return 0;
		}
	}
	p = TKM_APPEND(l->d, l->n);
	if (!p) {
		return -1;
	}
	*p = *d;
	return 0;
}

static int note_damage(
	struct stf_source *s, uint64_t from, uint64_t to, uint64_t time, int left_out, struct stf_err *err)
{
	struct stf_damage d = { .file = s->file,
		.suffix = s->suffix,
		.offset = from,
		.size = to - from,
		.from = s->now,
		.to = time,
		.left_out = left_out };

	s->n_damaged += (unsigned)left_out; /* otherwise the end of the file, or the list, reports it */
	return stf_damages_add(s->damages, &d) < 0 ? stf_no_memory(err) : 0;
}

/* Verifies all blocks that are completely in memory. */
static void check_blocks(struct stf_source *s)
{
	uint64_t start = stf_block_start(&s->blocks, s->block), end;

	for (; s->block < s->blocks.n && !s->bad; s->block++, start = end) {
		end = s->blocks.b[s->block].end;
		if (end > s->offset + s->have) {
			break;
		}
		if (stf_hash_of(s->buf + (start - s->offset), (size_t)(end - start)) != s->blocks.b[s->block].hash) {
			s->bad = 1;
			break;
		}
	}
	s->len = (size_t)(start - s->offset);
}

/* Continues after the damaged block. */
static int leave_out(struct stf_source *s, struct stf_err *err)
{
	const struct stf_block *b = &s->blocks.b[s->block++];
	int rc = note_damage(s, s->offset + s->pos, b->end, b->time, 1, err);

	s->bad = 0;
	s->good_from = b->end;
	s->now = b->time;
	s->number = 0;
	s->lost_count = 1;
	if (b->end <= s->offset + s->have) {
		s->pos = s->len = (size_t)(b->end - s->offset);
	} else {
		/* a frame that could not be unpacked */
		s->pos = s->len = s->have = 0;
		s->offset = b->end;
	}
	return rc;
}

/* Notes bytes after the last block, which have no checksum. */
static int end_here(struct stf_source *s, uint64_t more, struct stf_err *err)
{
	uint64_t at = stf_block_start(&s->blocks, s->blocks.n);

	s->size = at;
	return more ? note_damage(s, at, at + more, s->now, 1, err) : 0;
}

/* Reads more unverified bytes after those in memory. Returns 1: there are some, 0: none, -1: fault. */
static int read_on(struct stf_source *s, struct stf_err *err)
{
	uint64_t end = s->offset + s->have;
	int rc;

	if (!s->frames && end >= s->size) {
		return 0;
	}
	s->len = s->have;
	rc = stf_source_fill_raw(s, err);
	s->have = s->len;
	s->len = (size_t)(stf_block_start(&s->blocks, s->block) - s->offset);
	return rc < 0 ? -1 : s->offset + s->have > end;
}

/* The file ends inside a block, so the rest of that block cannot be verified. This is noted here, since a window
 * may end before the file does. */
static int note_cut_block(struct stf_source *s, struct stf_err *err)
{
	int rc = note_damage(s, s->offset + s->len, s->offset + s->have, s->blocks.b[s->block].time, 0, err);

	s->len = s->have;
	s->size = s->offset + s->have;
	s->cut = 1;
	stf_blocks_free(&s->blocks);
	return rc;
}

static int fill_verified(struct stf_source *s, struct stf_err *err)
{
	uint64_t checked;
	int rc;

	if (s->bad && leave_out(s, err) < 0) {
		return -1;
	}
	for (checked = s->offset + s->len;;) {
		check_blocks(s);
		if (s->bad || s->offset + s->len > checked) {
			return 0;
		}
		rc = read_on(s, err);
		if (rc < 0 && err->code == STF_ERR_FORMAT && stf_frames_pass(s, s->block, &s->blocks)) {
			if (leave_out(s, err) < 0) {
				return -1;
			}
			checked = s->offset + s->len;
		} else if (rc < 0) {
			return -1;
		} else if (rc == 0 && s->block == s->blocks.n) {
			return end_here(s, s->offset + s->have - stf_block_start(&s->blocks, s->block), err);
		} else if (rc == 0) {
			return note_cut_block(s, err);
		}
	}
}

int stf_source_fill(struct stf_source *s, struct stf_err *err)
{
	return s->blocks.n ? fill_verified(s, err) : stf_source_fill_raw(s, err);
}

static int seek_verified(struct stf_source *s, uint64_t offset, struct stf_err *err)
{
	size_t k = stf_blocks_find(&s->blocks, offset);
	uint64_t was;

	if (stf_source_seek_raw(s, stf_block_start(&s->blocks, k), err) < 0) {
		return -1;
	}
	s->have = s->len;
	s->len = s->pos;
	s->block = k;
	s->good_from = stf_block_start(&s->blocks, k);
	s->bad = 0;
	do {
		was = s->offset + s->len;
		if (was < offset && stf_source_fill(s, err) < 0) {
			return -1;
		}
		if (s->bad && was < offset) {
			s->now = stf_block_time(&s->blocks, s->block);
			return leave_out(s, err) < 0 ? -1
						     : stf_fail(err, STF_ERR_CHECKSUM, s->path, offset, 0,
							       "this record is in a damaged piece of the file");
		}
	} while (s->offset + s->len < offset && s->offset + s->len > was);
	s->pos = offset - s->offset < s->len ? (size_t)(offset - s->offset) : s->len;
	return 0;
}

int stf_source_seek(struct stf_source *s, uint64_t offset, uint64_t now, struct stf_err *err)
{
	int rc = 0;

	if (offset >= s->offset && offset - s->offset <= s->len && (!s->blocks.n || offset >= s->good_from)) {
		s->pos = (size_t)(offset - s->offset);
	} else {
		rc = s->blocks.n ? seek_verified(s, offset, err) : stf_source_seek_raw(s, offset, err);
	}
	s->now = now;
	s->number = 0;
	s->lost_count = offset != 0;
	return rc;
}
