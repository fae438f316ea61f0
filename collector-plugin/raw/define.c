/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes definitions. Each is packed once and written into two streams of blocks, which are never overwritten. */
#include "config.h"
#include "collector-plugin/raw/private.h"

#include <signal.h>

#include "collector-plugin/raw/communicator.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"

enum { MAX_TEXT = 900, MAX_DEFINITION = 4000, MAX_MEMBERS = 700, MAX_RANGES = 250 };

struct pack {
	uint8_t bytes[MAX_DEFINITION];
	size_t n;
};

static void put(struct pack *p, const void *v, size_t n)
{
	memcpy(p->bytes + p->n, v, n);
	p->n += n;
}

static void put32(struct pack *p, uint32_t v)
{
	put(p, &v, sizeof(v));
}

static void put64(struct pack *p, int64_t v)
{
	put(p, &v, sizeof(v));
}

/* The fields before the texts are short, and there are at most four texts. */
static void put_text(struct pack *p, const char *text)
{
	uint32_t n = text ? (uint32_t)strnlen(text, MAX_TEXT) : 0;

	put32(p, n);
	put(p, text ? text : "", n);
}

static void begin(struct pack *p, enum vt_raw_type type)
{
	struct vt_raw_record h = { (uint8_t)type, 0, 0, 0 };

	p->n = 0;
	put(p, &h, sizeof(h));
	put64(p, 0);
}

static int write_copy(struct vt_raw *r, struct vt_raw_stream *s, const struct pack *p)
{
	if (!s->block || p->n > (size_t)(s->end - s->cur)) {
		if (!vt_raw_begin_block(r, s, VT_RAW_DEFINITIONS, 0)) {
			s->lost++;
			return -1;
		}
	}
	memcpy(s->cur, p->bytes, p->n);
	s->busy = 1;
	vt_raw_done(s, s->cur + p->n);
	return 0;
}

static int end(struct vt_raw *r, struct pack *p)
{
	uint64_t number;
	uint32_t size;
	int i, rc = -1;

	while (p->n % 8) {
		p->bytes[p->n++] = 0;
	}
	size = (uint32_t)p->n;
	memcpy(p->bytes + offsetof(struct vt_raw_record, dt), &size, sizeof(size));
	if (r->forgotten || p->n > r->block_size - sizeof(struct vt_raw_block)) {
		return -1;
	}
	vt_lock(&r->lock);
	number = atomic_fetch_add_explicit(&r->head->definitions, 1, memory_order_relaxed);
	memcpy(p->bytes + sizeof(struct vt_raw_record), &number, sizeof(number));
	for (i = 0; i < VT_RAW_COPIES; i++) {
		/* one copy is enough */
		rc = write_copy(r, &r->copy[i], p) == 0 ? 0 : rc;
	}
	/* the caller keeps statistics that found no room */
	if (rc < 0 && p->bytes[0] != VT_RAW_DEF_STATISTICS) {
		atomic_fetch_add_explicit(&r->head->lost, 1, memory_order_relaxed);
	}
	vt_unlock(&r->lock);
	return rc;
}

static int named(struct vt_raw *r, enum vt_raw_type type, uint32_t a, uint32_t b, const char *name)
{
	struct pack p;

	begin(&p, type);
	put32(&p, a);
	put32(&p, b);
	put_text(&p, name);
	return end(r, &p);
}

int vt_raw_class(struct vt_raw *r, uint32_t id, uint32_t parent, const char *name)
{
	return named(r, VT_RAW_DEF_CLASS, id, parent, name);
}

int vt_raw_function(struct vt_raw *r, uint32_t id, uint32_t classid, const char *name)
{
	return named(r, VT_RAW_DEF_FUNCTION, id, classid, name);
}

int vt_raw_object(struct vt_raw *r, uint32_t id, const uint8_t *build_id, uint32_t size, const char *path)
{
	uint8_t padded[32] = { 0 };
	struct pack p;

	size = size < sizeof(padded) ? size : (uint32_t)sizeof(padded);
	memcpy(padded, build_id, size);
	begin(&p, VT_RAW_DEF_OBJECT);
	put32(&p, id);
	put32(&p, size);
	put(&p, padded, sizeof(padded));
	put_text(&p, path);
	return end(r, &p);
}

int vt_raw_function_at(struct vt_raw *r, uint32_t id, uint32_t classid, uint32_t object, int demangle, uint64_t offset,
	const char *name)
{
	struct pack p;

	begin(&p, VT_RAW_DEF_FUNCTION_AT);
	put32(&p, id);
	put32(&p, classid);
	put32(&p, object);
	put32(&p, (uint32_t)demangle);
	put64(&p, (int64_t)offset);
	put_text(&p, name);
	return end(r, &p);
}

int vt_raw_statistics(struct vt_raw *r, uint32_t thread, int late, const struct vt_raw_row *row)
{
	struct pack p;

	begin(&p, VT_RAW_DEF_STATISTICS);
	put32(&p, thread);
	put32(&p, (uint32_t)late);
	put(&p, row, sizeof(*row));
	return end(r, &p);
}

int vt_raw_scl(struct vt_raw *r, uint32_t id, uint32_t line, const char *file)
{
	return named(r, VT_RAW_DEF_SCL, id, line, file);
}

int vt_raw_stack(struct vt_raw *r, uint32_t id, const struct vt_raw_place *place, uint32_t n)
{
	struct pack p;

	n = n < VT_RAW_STACK ? n : VT_RAW_STACK;
	begin(&p, VT_RAW_DEF_STACK);
	put32(&p, id);
	put32(&p, n);
	put(&p, place, n * sizeof(*place));
	return end(r, &p);
}

int vt_raw_scope(struct vt_raw *r, uint32_t id, uint32_t classid, uint32_t scl1, uint32_t scl2, const char *name)
{
	struct pack p;

	begin(&p, VT_RAW_DEF_SCOPE);
	put32(&p, id);
	put32(&p, classid);
	put32(&p, scl1);
	put32(&p, scl2);
	put_text(&p, name);
	return end(r, &p);
}

int vt_raw_file_name(struct vt_raw *r, uint32_t id, uint32_t communicator, const char *name)
{
	struct pack p;

	begin(&p, VT_RAW_DEF_FILE);
	put32(&p, id);
	put32(&p, communicator);
	put_text(&p, name);
	return end(r, &p);
}

/* Writes as many definitions as the ranges of the communicator need. */
VT_SELDOM int vt_raw_communicator(struct vt_raw *r, const struct vt_raw_comm_def *d)
{
	uint32_t at = 0, m;
	struct pack p;
	int rc;

	do {
		m = d->n - at < MAX_RANGES ? d->n - at : MAX_RANGES;
		begin(&p, VT_RAW_DEF_COMM);
		put32(&p, d->id);
		put32(&p, d->parent);
		put32(&p, d->kind);
		put32(&p, d->number);
		put32(&p, (uint32_t)d->tag);
		put32(&p, d->inter);
		put32(&p, d->n_own);
		put32(&p, d->n);
		put32(&p, at);
		put32(&p, m);
		if (m) {
			put(&p, d->ranks + at, m * sizeof(*d->ranks));
		}
		put_text(&p, d->name);
		rc = end(r, &p);
		at += m;
	} while (rc == 0 && at < d->n);
	return rc;
}

int vt_raw_counter(struct vt_raw *r, const struct vt_raw_counter_def *d)
{
	struct pack p;

	begin(&p, VT_RAW_DEF_COUNTER);
	put(&p, d, offsetof(struct vt_raw_counter_def, name));
	put_text(&p, d->name);
	put_text(&p, d->unit);
	put_text(&p, d->shown_unit);
	put_text(&p, d->description);
	return end(r, &p);
}

int vt_raw_thread(struct vt_raw *r, uint32_t thread, uint64_t tid, const char *name)
{
	return vt_raw_thread_from(r, thread, 0, tid, name);
}

int vt_raw_thread_from(struct vt_raw *r, uint32_t thread, uint32_t place, uint64_t tid, const char *name)
{
	struct pack p;

	begin(&p, VT_RAW_DEF_THREAD);
	put32(&p, thread);
	put32(&p, place);
	put64(&p, (int64_t)tid);
	put_text(&p, name);
	return end(r, &p);
}

VT_SELDOM int vt_raw_group(struct vt_raw *r, uint32_t id, const char *name, const uint32_t *members, uint32_t n)
{
	struct pack p;

	if (n > MAX_MEMBERS) {
		return -1;
	}
	begin(&p, VT_RAW_DEF_GROUP);
	put32(&p, id);
	put32(&p, n);
	put(&p, members, n * sizeof(*members));
	put_text(&p, name);
	return end(r, &p);
}

int vt_raw_clock(struct vt_raw *r, ltick_t tick, int64_t realtime_ns, int64_t monotonic_ns, int64_t raw_ns)
{
	struct pack p;

	begin(&p, VT_RAW_DEF_CLOCK);
	put64(&p, tick.v);
	put64(&p, realtime_ns);
	put64(&p, monotonic_ns);
	put64(&p, raw_ns);
	return end(r, &p);
}

/* Returns how many bytes of whole lines fit into one definition. */
static size_t lines_that_fit(const char *lines, size_t n)
{
	size_t most = MAX_DEFINITION - 64, k = n < most ? n : most;

	while (k > 0 && lines[k - 1] != '\n') {
		k--;
	}
	return k;
}

VT_SELDOM int vt_raw_clocks(struct vt_raw *r, const char *lines, size_t n)
{
	struct pack p;
	size_t k;
	int rc = 0;

	for (; rc == 0 && (k = lines_that_fit(lines, n)) > 0; lines += k, n -= k) {
		begin(&p, VT_RAW_DEF_CLOCKS);
		put32(&p, (uint32_t)k);
		put(&p, lines, k);
		rc = end(r, &p);
	}
	return rc;
}

int vt_raw_info(struct vt_raw *r, const char *cls, const char *text)
{
	struct pack p;

	begin(&p, VT_RAW_DEF_INFO);
	put_text(&p, cls);
	put_text(&p, text);
	return end(r, &p);
}
