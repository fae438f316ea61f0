/* SPDX-License-Identifier: BSD-3-Clause */
/* Decodes the definitions of raw files. Nothing in them is trusted. */
#include "config.h"
#include "collector-plugin/raw/decode.h"

#include <stddef.h>
#include <string.h>

#include "collector-plugin/raw/format.h"

struct reader {
	const uint8_t *p, *end;
	int bad;
};

static uint32_t get32(struct reader *r)
{
	uint32_t v = 0;

	if (r->end - r->p < 4) {
		r->bad = 1;
		return 0;
	}
	memcpy(&v, r->p, 4);
	r->p += 4;
	return v;
}

static int64_t get64(struct reader *r)
{
	uint64_t lo = get32(r);
	uint64_t hi = get32(r);
	uint64_t v;
	uint32_t half[2] = { (uint32_t)lo, (uint32_t)hi };

	memcpy(&v, half, 8);
	return (int64_t)v;
}

static void get_bytes(struct reader *r, uint8_t *to, size_t n)
{
	if ((size_t)(r->end - r->p) < n) {
		r->bad = 1;
		return;
	}
	memcpy(to, r->p, n);
	r->p += n;
}

/* Copies the texts one after the other into `room`, each terminated. */
static const char *get_text(struct reader *r, char **room)
{
	uint32_t n = get32(r);
	char *text = *room;

	if (r->bad || n > (size_t)(r->end - r->p) || memchr(r->p, 0, n)) {
		r->bad = 1;
		return "";
	}
	memcpy(text, r->p, n);
	text[n] = '\0';
	r->p += n;
	*room += n + 1;
	return text;
}

static void decode_counter(struct reader *r, struct vt_raw_def *d, char **room)
{
	size_t n = offsetof(struct vt_raw_counter_def, name);

	if ((size_t)(r->end - r->p) < n) {
		r->bad = 1;
		return;
	}
	memcpy(&d->counter, r->p, n);
	r->p += n;
	d->id = d->counter.id;
	d->counter.name = d->name = get_text(r, room);
	d->counter.unit = d->text = get_text(r, room);
	d->counter.shown_unit = get_text(r, room);
	d->counter.description = d->description = get_text(r, room);
}

static void decode_group(struct reader *r, struct vt_raw_def *d, char **room, uint32_t *members)
{
	uint32_t i;

	d->id = get32(r);
	d->n = get32(r);
	if (r->bad || d->n > (size_t)(r->end - r->p) / 4) {
		r->bad = 1;
		return;
	}
	for (i = 0; i < d->n; i++) {
		members[i] = get32(r);
	}
	d->members = members;
	d->name = get_text(r, room);
}

static void decode_communicator(struct reader *r, struct vt_raw_def *d, char **room, uint32_t *members)
{
	struct vt_raw_comm_def *c = &d->communicator;
	uint32_t i, n;

	c->id = d->id = get32(r);
	c->parent = get32(r);
	c->kind = get32(r);
	c->number = get32(r);
	c->tag = (int32_t)get32(r);
	c->inter = get32(r);
	c->n_own = get32(r);
	c->n = get32(r);
	c->at = get32(r);
	d->n = n = get32(r);
	if (r->bad || n > (size_t)(r->end - r->p) / sizeof(*c->ranks)) {
		r->bad = 1;
		return;
	}
	for (i = 0; i < 3 * n; i++) {
		members[i] = get32(r);
	}
	c->ranks = (const struct vt_raw_ranks *)(const void *)members;
	c->name = d->name = get_text(r, room);
}

/* Those that begin with their number and one more. */
static void decode_numbered(struct reader *r, struct vt_raw_def *d, char **room)
{
	uint32_t second;

	d->id = get32(r);
	second = get32(r);
	d->parent = second;
	switch (d->type) {
	case VT_RAW_DEF_STATISTICS:
		get_bytes(r, (uint8_t *)&d->row, sizeof(d->row));
		break;
	case VT_RAW_DEF_OBJECT:
		d->parent = 0;
		d->n = second;
		get_bytes(r, d->build_id, sizeof(d->build_id));
		d->name = get_text(r, room);
		break;
	case VT_RAW_DEF_STACK:
		d->parent = 0;
		d->n = second < VT_RAW_STACK ? second : VT_RAW_STACK;
		get_bytes(r, (uint8_t *)d->place, d->n * sizeof(d->place[0]));
		break;
	case VT_RAW_DEF_FUNCTION_AT:
		d->object = get32(r);
		d->demangle = get32(r);
		d->offset = (uint64_t)get64(r);
		d->name = get_text(r, room);
		break;
	case VT_RAW_DEF_SCOPE:
		d->scl[0] = get32(r);
		d->scl[1] = get32(r);
		d->name = get_text(r, room);
		break;
	case VT_RAW_DEF_THREAD:
		d->tid = (uint64_t)get64(r);
		d->name = get_text(r, room);
		break;
	default:
		d->name = get_text(r, room);
	}
}

int vt_raw_decode(const uint8_t *p, size_t size, struct vt_raw_def *d, char *room, uint32_t *members)
{
	struct reader at = { p + 16, p + size, 0 }, *r = &at;
	unsigned type = p[0];

	*d = (struct vt_raw_def){ .type = (enum vt_raw_type)type, .name = "", .text = "", .description = "" };
	switch (type) {
	case VT_RAW_DEF_CLASS:
	case VT_RAW_DEF_FUNCTION:
	case VT_RAW_DEF_SCL:
	case VT_RAW_DEF_FILE:
	case VT_RAW_DEF_STATISTICS:
	case VT_RAW_DEF_OBJECT:
	case VT_RAW_DEF_STACK:
	case VT_RAW_DEF_FUNCTION_AT:
	case VT_RAW_DEF_SCOPE:
	case VT_RAW_DEF_THREAD:
		decode_numbered(r, d, &room);
		break;
	case VT_RAW_DEF_COMM:
		decode_communicator(r, d, &room, members);
		break;
	case VT_RAW_DEF_COUNTER:
		decode_counter(r, d, &room);
		break;
	case VT_RAW_DEF_GROUP:
		decode_group(r, d, &room, members);
		break;
	case VT_RAW_DEF_CLOCK:
		d->tick = get64(r);
		d->realtime_ns = get64(r);
		d->monotonic_ns = get64(r);
		d->raw_ns = get64(r);
		break;
	case VT_RAW_DEF_INFO:
		d->name = get_text(r, &room);
		d->text = get_text(r, &room);
		break;
	case VT_RAW_DEF_CLOCKS:
		d->text = get_text(r, &room);
		break;
	default:
		return -1;
	}
	return r->bad ? -1 : 0;
}
