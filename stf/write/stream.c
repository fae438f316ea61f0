/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a component file: the slow path of stf_room(), which is used rarely. */
#include "config.h"
#include "stf/format/hash.h"
#include "stf/write/stream.h"
#include "stf/pack/zst.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"

enum { PAGE = 4096 };

uint64_t stf_stream_offset(const struct stf_stream *s)
{
	return s->base + (uint64_t)(s->cur - s->buf);
}

/* Opens the file of a stream: its name, its compressor, its checksum. */
static int open_stream(struct stf_stream *s, const struct stf_where *to, int many)
{
	size_t n = strlen(to->path) + strlen(s->suffix) + 5;
	char *name = malloc(n);
	int rc = -1;

	if (!name) {
		return stf_no_memory(s->err);
	}
	snprintf(name, n, "%s%s%s", to->path, s->suffix, to->level ? ".zst" : "");
	if (to->level) {
		s->level = to->level;
		s->zst = to->zst;
	}
	if ((many ? stf_out_open_later : stf_out_open)(&s->out, name, to->force, s->err) < 0) {
		goto out;
	}
	s->out.hash = stf_hash_new();
	s->block_hash = stf_hash_new();
	rc = (s->out.hash && s->block_hash) || !stf_hash_there() ? 0 : stf_no_memory(s->err);
out:
	free(name);
	return rc;
}

struct stf_stream *stf_stream_new(const struct stf_where *to, const char *suffix, int many)
{
	struct stf_stream *s = calloc(1, sizeof(*s));
	size_t cap = !to->path ? 4096 : many ? STX_SMALL_BUFFER : STX_BUFFER + STX_ANCHOR_STEP, n = strlen(suffix);

	if (!s) {
		stf_no_memory(to->err);
		return NULL;
	}
	s->out.fd = -1;
	s->err = to->err;
	s->used = to->used;
	s->big = to->big;
	s->memory = !to->path;
	memcpy(s->suffix, suffix, n < sizeof(s->suffix) ? n : sizeof(s->suffix) - 1);
	s->buf = aligned_alloc(PAGE, cap);
	if (!s->buf) {
		stf_no_memory(s->err);
		goto fail;
	}
	s->cur = s->seen = s->hashed = s->buf;
	s->end = s->limit = s->buf + cap;
	if (to->path && open_stream(s, to, many) < 0) {
		goto fail;
	}
	if (to->path && to->identity) {
		stf_identity_put(s->cur, to->identity, s->big);
		s->cur += STX_IDENTITY_SIZE;
		s->seen = s->cur; /* the record is not an event */
		s->used[STX_IDENTITY_ID] = 1;
	}
	return s;
fail:
	stf_stream_free(s);
	return NULL;
}

static void set_limit(struct stf_stream *s, uint64_t size)
{
	uint64_t left;

	s->limit = s->end;
	if (s->anc) {
		left = s->anchored + STX_ANCHOR_STEP - stf_stream_offset(s);
		/* one record may be longer than the step; then the next one must call this function again */
		if (stf_stream_offset(s) + size > s->anchored + STX_ANCHOR_STEP) {
			left = size;
		}
		if (left < (uint64_t)(s->end - s->cur)) {
			s->limit = s->cur + left;
		}
	} else if (s->block_step) {
		left = s->block_start + s->block_step - stf_stream_offset(s);
		left = left > size && left <= s->block_step ? left : size;
		s->limit = left < (uint64_t)(s->end - s->cur) ? s->cur + left : s->end;
	}
}

void stf_stream_blocks(struct stf_stream *s, uint64_t step)
{
	s->block_step = step;
	set_limit(s, 0);
}

/* Extends the checksum of the block to the end of the buffered bytes. */
static void hash_block(struct stf_stream *s)
{
	if (s->block_hash && s->hashed < s->cur) {
		stf_hash_add(s->block_hash, s->hashed, (size_t)(s->cur - s->hashed));
	}
	s->hashed = s->cur;
}

int stf_stream_end_block(struct stf_stream *s, uint64_t least)
{
	uint64_t at = stf_stream_offset(s);

	if (!s->block_hash || at == s->block_start || at - s->block_start < least) {
		return 0;
	}
	hash_block(s);
	if (stf_blocks_add(&s->blocks, at, s->now, stf_hash_value(s->block_hash)) < 0) {
		return stf_no_memory(s->err);
	}
	stf_hash_reset(s->block_hash);
	s->block_start = at;
	return 0;
}

int stf_stream_walk(struct stf_stream *s)
{
	if (s->history && s->seen < s->cur) {
		if (stf_history_absorb(s->history, s->seen, s->cur, s->base + (uint64_t)(s->seen - s->buf),
			    &s->seen_now, s->big) < 0) {
			return stf_no_memory(s->err);
		}
	}
	s->seen = s->cur;
	return 0;
}

/* How much of n buffered bytes is rather written out later. Whole pages at their place in the file take the kernel half the time, and
 * STX_BUFFER bytes at a time less than fewer. */
static size_t to_keep(const struct stf_stream *s, size_t n)
{
	size_t rest = (size_t)((s->base + n) % (n >= STX_BUFFER ? STX_BUFFER : PAGE));

	return s->zst || rest >= n ? 0 : rest;
}

/* Writes out what is buffered, all of it or what is not to be kept. */
static int flush(struct stf_stream *s, int all)
{
	size_t n = (size_t)(s->cur - s->buf), rest = all ? 0 : to_keep(s, n), len = n - rest;
	const uint8_t *p = s->buf;

	if (s->ahead && s->ahead->cur > s->ahead->buf && flush(s->ahead, 1) < 0) {
		return -1;
	}
	hash_block(s);
	n = len;
	if (stf_stream_walk(s) < 0 ||
		(s->zst && n && stf_zst_frame(s->zst, &s->frames, s->buf, n, &p, &len, s->err) < 0) ||
		stf_out_write(&s->out, p, len, s->err) < 0) {
		return -1;
	}
	memmove(s->buf, s->buf + n, rest);
	s->base += n;
	s->cur = s->seen = s->hashed = s->buf + rest;
	if (s->block_step) {
		set_limit(s, 0); /* the end of a block does not depend on when the buffer is written out */
	}
	return 0;
}

/* Writes an anchor after the bytes written so far, and starts a new block and, if compressed, a new frame. */
static int begin_at_anchor(struct stf_stream *s, uint64_t at)
{
	if (stf_stream_walk(s) < 0 || stf_stream_end_block(s, 0) < 0 || s->put_anchor(s, at) < 0 ||
		stf_stream_end_block(s->anc, STX_ANCHOR_BLOCK) < 0) {
		return -1;
	}
	s->anchored = at;
	return s->zst ? flush(s, 1) : 0;
}

static int make_room(struct stf_stream *s, uint64_t size)
{
	size_t used, seen, hashed, room;

	if (size <= (uint64_t)(s->end - s->cur)) {
		return 0;
	}
	/* a frame ends at an anchor, nowhere else */
	if (!s->memory && !(s->zst && s->anc) && flush(s, 0) < 0) {
		return -1;
	}
	if (size <= (uint64_t)(s->end - s->cur)) {
		return 0;
	}
	used = (size_t)(s->cur - s->buf);
	seen = (size_t)(s->seen - s->buf);
	hashed = (size_t)(s->hashed - s->buf);
	room = (size_t)(s->end - s->buf);
	if (size > SIZE_MAX / 4 || TKM_GROW(s->buf, room, used + size) < 0) {
		return stf_no_memory(s->err);
	}
	s->seen = s->buf + seen;
	s->hashed = s->buf + hashed;
	s->cur = s->buf + used;
	s->end = s->buf + room;
	return 0;
}

int stf_stream_add_anchors(struct stf_stream *s, const struct stf_where *to, stf_anchor_fn put_anchor)
{
	char suffix[sizeof(s->suffix)];
	size_t n = strlen(s->suffix);

	memcpy(suffix, s->suffix, n);
	memcpy(suffix + n, ".anc", 5);
	s->history = stf_history_new();
	if (!s->history) {
		return stf_no_memory(s->err);
	}
	/* an anchor is written once per 64 KiB of data */
	s->anc = stf_stream_new(to, suffix, 1);
	if (!s->anc) {
		return -1;
	}
	s->anc->file = s->file + 1;
	s->put_anchor = put_anchor;
	if (put_anchor(s, 0) < 0) {
		return -1;
	}
	/* the first frame holds only the identity, so that each later frame holds similar records */
	if (s->zst && s->cur > s->buf && begin_at_anchor(s, stf_stream_offset(s)) < 0) {
		return -1;
	}
	set_limit(s, 0);
	return 0;
}

/* Writes the time record that must precede a record at `time`; returns its number of bytes. */
static unsigned time_record(const struct stf_stream *s, uint64_t time, uint8_t out[9], uint32_t *dt)
{
	uint64_t d = time - s->now;

	if (time < s->now) {
		out[0] = STF_ID_sub_time;
		tkm_put64(out + 1, s->now - time, s->big);
		*dt = 0;
		return 9;
	}
	if (d <= UINT32_MAX) {
		*dt = (uint32_t)d;
		return 0;
	}
	if (d <= 2 * (uint64_t)UINT32_MAX) {
		out[0] = STF_ID_add_time;
		tkm_put32(out + 1, UINT32_MAX, s->big);
		*dt = (uint32_t)(d - UINT32_MAX);
		return 5;
	}
	out[0] = STF_ID_add_time_1;
	tkm_put64(out + 1, d, s->big);
	*dt = 0;
	return 9;
}

uint8_t *stf_room_slow(struct stf_stream *s, uint64_t size, uint64_t time, uint32_t *dt)
{
	uint8_t gap[9];
	unsigned n = time_record(s, time, gap, dt);
	uint64_t at = stf_stream_offset(s);

	if (s->err->code != STF_OK && s->err->code != STF_ERR_ARG && s->err->code != STF_ERR_STATE) {
		return NULL;
	}
	if (s->anc && at > s->anchored && at + n + size > s->anchored + STX_ANCHOR_STEP && begin_at_anchor(s, at) < 0) {
		return NULL;
	}
	if (s->block_step && stf_stream_end_block(s, s->block_step) < 0) {
		return NULL;
	}
	if (make_room(s, n + size) < 0) {
		/* from now on no record fits, so every later call comes here and fails */
		s->limit = s->cur;
		return NULL;
	}
	if (n) {
		memcpy(s->cur, gap, n);
		s->cur += n;
		s->used[gap[0]] = 1;
	}
	s->now = time;
	set_limit(s, size);
	return s->cur;
}

/* Removes anchors that are not worth their file: a data file of one step has none but those of its beginning, and a reader scans it as
 * fast. In a compressed trace whose frames are very small, even a place and a time for each is more than a tenth of them. */
static int close_anchors(struct stf_stream *s)
{
	int none = stf_stream_offset(s) <= STX_ANCHOR_STEP;

	if (!none && stf_stream_close(s->anc) < 0) {
		return -1;
	}
	if (none || s->anc->out.size > s->out.size / 10) {
		stf_stream_free(s->anc);
		s->anc = NULL;
	}
	return 0;
}

int stf_stream_close(struct stf_stream *s)
{
	const uint8_t *p;
	size_t len;

	if (s->closed) {
		return 0;
	}
	if (stf_stream_end_block(s, 0) < 0 || flush(s, 1) < 0 ||
		(s->zst &&
			(stf_zst_table(&s->frames, &p, &len, s->err) < 0 ||
				stf_out_write(&s->out, p, len, s->err) < 0)) ||
		stf_out_close(&s->out, s->err) < 0) {
		return -1;
	}
	if (s->out.hash) {
		s->out.digest = stf_hash_value(s->out.hash);
		s->out.hashed = 1;
	}
	s->limit = s->cur;
	s->closed = 1;
	return s->anc ? close_anchors(s) : 0;
}

void stf_stream_free(struct stf_stream *s)
{
	if (!s) {
		return;
	}
	stf_stream_free(s->anc);
	stf_history_free(s->history);
	free(s->frames.p);
	stf_blocks_free(&s->blocks);
	stf_hash_free(s->block_hash);
	stf_out_discard(&s->out);
	stf_out_free(&s->out);
	free(s->buf);
	free(s);
}
