/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes CTF 1.8: NAME.ctf/metadata, one data stream file for each thread or group that has records, and index/,
 * which lists the packets as LTTng 2 does. All fields are aligned to bytes, little-endian.
 * exchange/ctf/ctf_metadata.c writes the metadata. */
#include "config.h"
#include "exchange/ctf/ctf_private.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/grow.h"

enum {
	PACKET_HEADER = 4 + 4 + 8,
	PACKET_CONTEXT = 6 * 8 + 4,
	BEGIN = PACKET_HEADER + PACKET_CONTEXT,
	EVENT = 2 + 8 + 8, /* id, stamp, bound; a location of 4 bytes follows if the trace has any */
	MIN_PACKET = 4096,
	MAX_PACKET = 1 << 18,
	ALL_PACKETS = 64 << 20, /* bytes of the packet buffers of all streams together */
	INDEX_ENTRY = 9 * 8,
};
static const uint32_t xch_ctf_magic = 0xC1FC1FC1, index_magic = 0xC1F1DCC1;

/* The data stream file of one thread or group. */
struct stream {
	unsigned char *b;
	size_t n, cap;
	uint64_t first, last; /* first and last stamp of the packet */
	uint64_t before;      /* of the stream so far */
	uint64_t packets, offset;
};

struct state {
	struct xch_writer *w;
	struct xch_trace *t;
	size_t packet; /* bytes of one packet */
	size_t event;  /* bytes of an event's header and context */
	struct stream *stream;
	char *path; /* the path of the directory, with room for a file name after it */
	size_t length;
};

static const char *path_of(
	struct state *s, const struct xch_place *p, const char *format_thread, const char *format_group)
{
	char *name = s->path + s->length;

	if (p->is_group) {
		snprintf(name, 100, format_group, p->willy & 0x7fffffffu, 0u);
	} else {
		snprintf(name, 100, format_thread, p->process, p->thread);
	}
	return s->path;
}

static int append(const char *path, const void *data, size_t n, struct tkm_err *err)
{
	FILE *f = fopen(path, "ae");
	int bad = !f || fwrite(data, 1, n, f) != n, saved = errno;

	if (f && fclose(f) != 0 && !bad) {
		bad = 1;
		saved = errno;
	}
	return bad ? tkm_fail_errno(err, TKM_ERR_IO, saved, "cannot write %s", path) : 0;
}

static int index_packet(struct state *s, const struct xch_place *p, const struct stream *f, struct tkm_err *err)
{
	unsigned char e[16 + INDEX_ENTRY], *q = e;
	const uint64_t v[] = { f->offset, 8 * f->n, 8 * f->n, f->first, f->last, 0, 0, p->index, f->packets };
	size_t i;

	if (!f->packets) {
		const uint32_t head[] = { index_magic, 1, 1, INDEX_ENTRY };

		for (i = 0; i < 4; i++, q += 4) {
			tkm_put32(q, head[i], 1);
		}
	}
	for (i = 0; i < sizeof(v) / sizeof(*v); i++, q += 8) {
		tkm_put64(q, v[i], 1);
	}
	return append(path_of(s, p, "/index/process_%u_thread_%u.idx", "/index/group_%u.idx"), e, (size_t)(q - e), err);
}

static int flush(struct state *s, const struct xch_place *p, struct tkm_err *err)
{
	struct stream *f = &s->stream[p->index];
	unsigned char *b = f->b;
	int rc;

	if (f->n <= BEGIN) {
		return 0;
	}
	tkm_put32(b, xch_ctf_magic, 0);
	tkm_put32(b + 4, 0, 0);
	tkm_put64(b + 8, p->index, 0);
	b += PACKET_HEADER;
	tkm_put64(b, f->first, 0);
	tkm_put64(b + 8, f->last, 0);
	tkm_put64(b + 16, 8 * f->n, 0);
	tkm_put64(b + 24, 8 * f->n, 0);
	tkm_put64(b + 32, f->packets, 0);
	tkm_put64(b + 40, 0, 0);
	tkm_put32(b + 48, p->index, 0);
	rc = append(path_of(s, p, "/process_%u_thread_%u", "/group_%u"), f->b, f->n, err);
	rc = rc == 0 ? index_packet(s, p, f, err) : rc;
	f->offset += f->n;
	f->packets++;
	f->n = BEGIN;
	return rc;
}

static uint32_t index_of(const struct xch_named *n)
{
	return n ? n->index + 1 : 0;
}

/* Makes room for an event with so many bytes after its header and context, and fills these two in. */
static unsigned char *event(struct state *s, const struct xch_event *e, unsigned id, size_t n, struct tkm_err *err)
{
	struct stream *f = &s->stream[e->place->index];
	uint64_t time = xch_ctf_stamp(s->t, e->time);
	unsigned char *p;

	/* stamps of a stream never decrease: a late record takes the stamp of the record before it */
	time = time < f->before ? f->before : time;
	f->before = time;
	n += s->event;
	if (f->n + n > f->cap) {
		if (f->cap && flush(s, e->place, err) < 0) {
			return NULL;
		}
		if (TKM_GROW(f->b, f->cap, BEGIN + n > s->packet ? BEGIN + n : s->packet) < 0) {
			tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory", s->w->target);
			return NULL;
		}
		f->n = BEGIN;
	}
	if (f->n == BEGIN) {
		f->first = time;
	}
	f->last = time;
	p = f->b + f->n;
	f->n += n;
	tkm_put16(p, (uint16_t)id, 0);
	tkm_put64(p + 2, time, 0);
	tkm_put64(p + 10, (uint64_t)xch_bound_ns(s->t, e->place, e->time), 0);
	if (s->event > EVENT) {
		tkm_put32(p + EVENT, index_of(e->where), 0);
	}
	return p + s->event;
}

static int samples(struct state *s, const struct xch_event *e, struct tkm_err *err)
{
	unsigned char *p;
	uint32_t i;

	for (i = 0; i < e->u.sample.n; i++) {
		p = event(s, e, CTF_COUNTER + e->u.sample.counter[i]->index, 8, err);
		if (!p) {
			return -1;
		}
		tkm_put64(p, e->u.sample.values[i], 0);
	}
	return 0;
}

static int message(struct state *s, const struct xch_event *e, struct tkm_err *err)
{
	const struct xch_message *m = &e->u.message;
	unsigned char *p = event(s, e, e->kind == XCH_SEND ? CTF_SEND : CTF_RECEIVE, 8 + 5 * 4, err);

	if (!p) {
		return -1;
	}
	tkm_put64(p, m->id, 0);
	tkm_put32(p + 8, m->other->index, 0);
	tkm_put32(p + 12, m->communicator, 0);
	tkm_put32(p + 16, m->tag, 0);
	tkm_put32(p + 20, m->size, 0);
	tkm_put32(p + 24, index_of(m->function), 0);
	return 0;
}

static int collective(struct state *s, const struct xch_event *e, struct tkm_err *err)
{
	const struct xch_coll *c = &e->u.coll;
	unsigned char *p =
		event(s, e, e->kind == XCH_COLL_BEGIN ? CTF_COLL_BEGIN : CTF_COLL_END, 8 + 4 * 4 + 2 * 8, err);

	if (!p) {
		return -1;
	}
	tkm_put64(p, c->id, 0);
	tkm_put32(p + 8, index_of(e->what), 0);
	tkm_put32(p + 12, c->communicator, 0);
	tkm_put32(p + 16, c->members, 0);
	tkm_put32(p + 20, c->root ? c->root->index : UINT32_MAX, 0);
	tkm_put64(p + 24, c->sent, 0);
	tkm_put64(p + 32, c->received, 0);
	return 0;
}

/* Writes an event whose fields are two or three 32-bit numbers. */
static int numbers(
	struct state *s, const struct xch_event *e, unsigned id, const uint32_t *v, size_t n, struct tkm_err *err)
{
	unsigned char *p = event(s, e, id, 4 * n, err);
	size_t i;

	for (i = 0; p && i < n; i++) {
		tkm_put32(p + 4 * i, v[i], 0);
	}
	return p ? 0 : -1;
}

static int text(struct state *s, const struct xch_event *e, struct tkm_err *err)
{
	size_t n = strnlen(e->u.text.text, e->u.text.length);
	unsigned char *p = event(s, e, e->kind == XCH_COMMENT ? CTF_COMMENT : CTF_REPORT, n + 1, err);

	if (p) {
		memcpy(p, e->u.text.text, n);
		p[n] = 0;
	}
	return p ? 0 : -1;
}

static int xch_ctf_event(struct xch_writer *w, struct xch_trace *t, const struct xch_event *e, struct tkm_err *err)
{
	struct state *s = w->state;
	const uint32_t what = index_of(e->what);

	(void)t;
	switch (e->kind) {
	case XCH_ENTER:
	case XCH_LEAVE:
		return numbers(s, e, e->kind == XCH_ENTER ? CTF_ENTRY : CTF_EXIT, &what, 1, err);
	case XCH_SAMPLE:
		return samples(s, e, err);
	case XCH_SEND:
	case XCH_RECEIVE:
		return message(s, e, err);
	case XCH_COLL_BEGIN:
	case XCH_COLL_END:
		return collective(s, e, err);
	case XCH_IO_BEGIN:
	case XCH_IO_END:
		return numbers(s, e, e->kind == XCH_IO_BEGIN ? CTF_IO_BEGIN : CTF_IO_END,
			(const uint32_t[]){ e->u.io.type, what, e->u.io.bytes }, 3, err);
	case XCH_SCOPE_BEGIN:
	case XCH_SCOPE_END:
		return numbers(s, e, e->kind == XCH_SCOPE_BEGIN ? CTF_SCOPE_BEGIN : CTF_SCOPE_END,
			(const uint32_t[]){ what, e->u.scope_number }, 2, err);
	default:
		return text(s, e, err);
	}
}

static int xch_ctf_open(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	struct state *s = w->state;
	char name[320];
	FILE *f;

	if (asprintf(&s->path, "%s/%s%100s", w->dir, w->base, "") < 0) {
		return tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory", w->target);
	}
	s->w = w;
	s->t = t;
	s->length = strlen(w->dir) + 1 + strlen(w->base);
	s->stream = calloc(t->n_places + 1, sizeof(*s->stream));
	if (!s->stream) {
		return tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory for %zu threads", w->target, t->n_places);
	}
	s->event = EVENT + (t->names[XCH_SOURCES].n ? 4 : 0);
	s->packet = ALL_PACKETS / (t->n_places + 1);
	s->packet = s->packet < MIN_PACKET ? MIN_PACKET : s->packet > MAX_PACKET ? MAX_PACKET : s->packet;
	if (t->n_counters > UINT16_MAX - CTF_COUNTER) {
		return tkm_fail(err, TKM_ERR_ARG, "CTF as written here has room for %d counters, the trace has %zu",
			UINT16_MAX - CTF_COUNTER, t->n_counters);
	}
	s->path[s->length] = 0;
	if (mkdir(s->path, 0777) < 0 || (strcpy(s->path + s->length, "/index"), mkdir(s->path, 0777)) < 0) {
		return tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot make %s", s->path);
	}
	snprintf(name, sizeof(name), "%.280s/metadata", w->base);
	f = xch_create(w, name, err);
	if (!f) {
		return -1;
	}
	xch_ctf_metadata(f, t);
	return xch_close(w, f, name, err);
}

static int xch_ctf_end(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < t->n_places; i++) {
		rc = flush(w->state, &t->place[i], err);
	}
	return rc;
}

static void xch_ctf_release(struct xch_writer *w, struct xch_trace *t)
{
	struct state *s = w->state;
	size_t i;

	for (i = 0; s->stream && i < t->n_places; i++) {
		free(s->stream[i].b);
	}
	free(s->stream);
	free(s->path);
}

const struct xch_format xch_ctf = {
	.name = "CTF",
	.suffix = ".ctf",
	.what = "Common Trace Format 1.8, a directory",
	.directory = 1,
	.mark = "tracer_name = \"tickmark\"",
	.mark_in = "/metadata",
	.holds = XCH_MOST | XCH_SCOPED | XCH_BIT(XCH_COMMENT) | XCH_BIT(XCH_REPORT) | XCH_BIT(XCH_COMMUNICATORS) |
		XCH_BIT(XCH_LOCATIONS) | XCH_BIT(XCH_PROCESSES) | XCH_BIT(XCH_INFOS),
	.state_size = sizeof(struct state),
	.open = xch_ctf_open,
	.event = xch_ctf_event,
	.end = xch_ctf_end,
	.release = xch_ctf_release,
	.read = xch_ctf_read,
	.restamp = xch_ctf_restamp,
	.is = xch_ctf_is,
};
