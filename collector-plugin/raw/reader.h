/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a raw file, whole or truncated. Needs libc only. */
#ifndef COLLECTOR_PLUGIN_RAW_READER_H
#define COLLECTOR_PLUGIN_RAW_READER_H

#include <string.h>

#include "base/cli/await.h"
#include "base/err.h"
#include "collector-plugin/raw/definition.h"
#include "collector-plugin/raw/events.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/short.h"

struct vt_raw_file; /* opened for reading, whole or truncated */

/* Damage of a file that could be read nevertheless. */
struct vt_raw_damage {
	uint64_t blocks;  /* that have a wrong checksum or are not valid; skipped */
	uint64_t missing; /* gaps in the numbers of a stream: overwritten, or among `blocks` */
	uint64_t open;    /* blocks that were being written when the file ended */
	uint64_t tail;    /* bytes at the file's end that are not a block's head */
};

struct vt_raw_file *vt_raw_open(const char *path, struct tkm_err *err);
/* The same without comparing the checksums of the data, which takes as long as reading all of it. For reading
 * definitions. */
struct vt_raw_file *vt_raw_open_definitions(const char *path, struct tkm_err *err);
void vt_raw_file_close(struct vt_raw_file *f);
const struct vt_raw_head *vt_raw_file_head(const struct vt_raw_file *f);
const struct vt_raw_damage *vt_raw_file_damage(const struct vt_raw_file *f);
const char *vt_raw_file_path(const struct vt_raw_file *f);
/* Returns the size of the file in bytes when it was opened. */
size_t vt_raw_file_size(const struct vt_raw_file *f);

/* Does the process that writes the file still run (on this node and boot)? */
int vt_raw_file_alive(const struct vt_raw_file *f);

/* Reads only the head of a file that may belong to another user. Only a regular file of this user is read, and
 * nothing is mapped. Returns 0, or -1 if it is not a raw file of this user. */
int vt_raw_read_head(const char *path, struct vt_raw_head *head);
/* Of n files of jobs of one name, moves those behind the others that are of another launch than `launch` (0: not known), with
 * those of what their processes were before they became others by exec. Returns how many; n is without them. */
size_t vt_raw_leave_out(char **path, size_t *n, uint64_t launch);
/* Does the process that writes a file with this head still run (on this node and boot)? */
int vt_raw_head_alive(const char *path, const struct vt_raw_head *head);
/* Who may still make the trace of this raw file, and is seen from here? */
enum tkm_maker vt_raw_maker(const char *path);
/* May the process have continued as another program, by exec? The sampler process then closes the file and records
 * the exec. A thread inside the program has no time to close the file. A process whose last programs were brief may be
 * gone before the sampler process hears of them: then it does not know how the one before ended. */
int vt_raw_may_go_on(const struct vt_raw_head *head);

/* Calls fn for each definition, in the order of writing, once each. fn returns 0, or anything else to stop. */
int vt_raw_definitions(struct vt_raw_file *f, int (*fn)(const struct vt_raw_def *d, void *ctx), void *ctx);

/* Reads the head and the texts of all VT_RAW_DEF_CLOCKS of a file into *text, one after the other; the caller frees it. NULL:
 * there are none. Returns 0 or -1. */
int vt_raw_read_clocks(const char *path, struct vt_raw_head *head, char **text, size_t *n, struct tkm_err *err);

/* Reads one stream's records in order: call vt_raw_cursor(), then vt_raw_cursor_next() until it returns 0. */
struct vt_raw_cursor {
	const uint8_t *p, *end;                     /* the present record and its block's end */
	struct vt_raw_record h;                     /* its first bytes, */
	const uint8_t *body;                        /* what is after those, or the only part of a short one */
	size_t size;                                /* its size, */
	int64_t now;                                /* and its tick */
	uint32_t sessions;                          /* clock sessions that had ended when it was written; 0: unknown */
	uint32_t owner;                             /* thread of the block's short records; UINT32_MAX: unknown */
	struct vt_raw_state_change state;           /* body of a short state, */
	uint32_t values[3 * VT_RAW_SHORT_COUNTERS]; /* of short values, */
	struct vt_raw_message message;              /* and of a short message; */
	uint32_t known;                             /* bits: counters of the program that have a value in this block, */
	uint64_t latest[VT_RAW_SHORT_COUNTERS];     /* and the latest one */
	struct vt_raw_file *f;
	const uint8_t *begin; /* of the present block */
	size_t next, last;    /* blocks of the stream */
	uint64_t lost;        /* records missing just before the present block */
	uint64_t *damaged;    /* where damaged blocks are counted: with the file. Cursors in several threads at a
	                              * time must not count at the same place */
};
size_t vt_raw_streams(const struct vt_raw_file *f);
void vt_raw_cursor(struct vt_raw_file *f, size_t stream, struct vt_raw_cursor *c);
/* Moves to the next block that has records. Returns 1, or 0 at the end. */
int vt_raw_cursor_block(struct vt_raw_cursor *c);

/* Returns the bytes of the data record at p, where `left` bytes remain; 0: it is not a whole valid record. A block
 * with a correct checksum may still contain wrong records. */
static inline size_t vt_raw_record_size(const uint8_t *p, size_t left, struct vt_raw_record *h)
{
	uint32_t n;

	if (left < 8) {
		return 0;
	}
	memcpy(h, p, 8);
	switch (h->type) {
	case VT_RAW_COUNTERS:
		n = h->n;
		return n && 8 + 12 * (size_t)n <= left ? 8 + 12 * (size_t)n : 0;
	case VT_RAW_TIME:
		return left >= 16 ? 16 : 0;
	case VT_RAW_COMMENT:
		if (left < 12) {
			return 0;
		}
		memcpy(&n, p + 8, 4);
		return n <= 1000 && 12 + (((size_t)n + 3) & ~(size_t)3) <= left ? 12 + (((size_t)n + 3) & ~(size_t)3)
										: 0;
	default:
		n = (uint32_t)vt_raw_event_size(h->type);
		return n <= left ? n : 0;
	}
}

/* Converts the short record of values at c->p, whose first word is w, to a long one. Returns its bytes; 0: it is not
 * valid. */
size_t vt_raw_cursor_values(struct vt_raw_cursor *c, uint32_t w);
/* Remembers the values of the present long record. The next short records contain differences from these values. */
void vt_raw_cursor_remember(struct vt_raw_cursor *c);

/* Converts the short message at c->p, where `left` bytes remain, to a long one. w is its first word. */
static inline size_t vt_raw_cursor_message(struct vt_raw_cursor *c, uint32_t w, size_t left)
{
	struct vt_raw_message *m = &c->message;
	int received = VT_RAW_IS(w, RECEIVE);
	size_t size = received ? 12 : 8;
	uint64_t word;

	if (left < size) {
		return 0;
	}
	word = tkm_get64(c->p + size - 8, 0);
	c->h.type = VT_RAW_MESSAGE;
	if (received) {
		c->h.n = VT_RAW_MESSAGE_RECEIVE;
		c->h.dt = VT_RAW_GET(w, RECEIVE_DT);
		m->communicator = VT_RAW_GET(w, RECEIVE_COMMUNICATOR);
		m->peer = (int32_t)VT_RAW_GET(word, RECEIVED_PEER);
		m->tag = (int32_t)VT_RAW_GET(word, RECEIVED_TAG);
		m->bytes = VT_RAW_GET(word, RECEIVED_BYTES);
		m->since = VT_RAW_GET(word, RECEIVED_SINCE);
	} else {
		c->h.n = VT_RAW_MESSAGE_SEND;
		c->h.dt = 0;
		m->communicator = VT_RAW_GET(word, SEND_COMMUNICATOR);
		m->peer = (int32_t)VT_RAW_GET(word, SEND_PEER);
		m->tag = (int32_t)VT_RAW_GET(word, SEND_TAG);
		m->bytes = VT_RAW_GET(word, SEND_BYTES);
		m->since = 0;
	}
	c->body = (const uint8_t *)m;
	return size;
}

/* Converts the short record at c->p to a long one. Returns its bytes; 0: it is not valid. */
static inline size_t vt_raw_cursor_short(struct vt_raw_cursor *c)
{
	size_t left = (size_t)(c->end - c->p);
	uint32_t w;

	if (left < 4 || c->owner == UINT32_MAX) {
		return 0;
	}
	w = tkm_get32(c->p, 0);
	c->h.where = (uint16_t)c->owner;
	if (VT_RAW_IS(w, SEND) || VT_RAW_IS(w, RECEIVE)) {
		return vt_raw_cursor_message(c, w, left);
	}
	if (!VT_RAW_IS(w, ENTER) && !VT_RAW_IS(w, LEAVE)) {
		return vt_raw_cursor_values(c, w);
	}
	c->h.n = VT_RAW_LEFT;
	c->body = (const uint8_t *)&c->state;
	if (VT_RAW_IS(w, LEAVE)) {
		c->h.type = VT_RAW_LEAVE;
		c->h.dt = VT_RAW_GET(w, LEAVE_DT);
		c->state.function = 0;
		return 4;
	}
	c->h.type = VT_RAW_ENTER;
	c->h.dt = VT_RAW_GET(w, ENTER_DT);
	c->state.function = VT_RAW_FIRST_ID + vt_raw_short_function(w);
	if (c->state.function != VT_RAW_FIRST_ID) {
		return 4;
	}
	if (left < 8) {
		return 0;
	}
	c->state.function = tkm_get32(c->p + 4, 0);
	return 8;
}

/* Moves to the next whole, valid record of counters, state change, comment or event. Returns 1, or 0 at the end of
 * the stream. */
static inline int vt_raw_cursor_next(struct vt_raw_cursor *c)
{
	c->p += c->size;
	c->size = 0;
	for (;;) {
		if (c->p == c->end) {
			if (!vt_raw_cursor_block(c)) {
				return 0;
			}
			continue;
		}
		if (*c->p & VT_RAW_SHORT_ANY) {
			c->size = vt_raw_cursor_short(c);
			if (__builtin_expect(c->size != 0, 1)) {
				c->now += c->h.dt;
				return 1;
			}
		} else {
			c->size = vt_raw_record_size(c->p, (size_t)(c->end - c->p), &c->h);
			c->body = c->p + 8;
		}
		if (__builtin_expect(c->size == 0, 0)) {
			/* the start of the next record in this block is unknown */
			++*c->damaged;
			c->p = c->end;
			continue;
		}
		if (c->h.type == VT_RAW_OWNER) {
			c->owner = c->h.where;
			c->now += c->h.dt;
			c->p += c->size;
			c->size = 0;
			continue;
		}
		if (c->h.type != VT_RAW_TIME) {
			if (c->h.type == VT_RAW_COUNTERS) {
				vt_raw_cursor_remember(c);
			}
			c->now += c->h.dt;
			return 1;
		}
		memcpy(&c->now, c->p + 8, 8);
		c->sessions = c->h.dt;
		c->p += 16;
		c->size = 0;
	}
}

#endif
