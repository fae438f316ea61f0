/* SPDX-License-Identifier: BSD-3-Clause */
/* Definitions: packed once, written into two streams of blocks that nothing overwrites. */
#include "config.h"
#include "collector-plugin/raw/private.h"

#include <signal.h>

#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"

enum { MAX_TEXT = 900, MAX_DEFINITION = 4000, MAX_MEMBERS = 700 };

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

/* All that is put ahead of texts is short, and there are at most four texts. */
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
	uint32_t size;
	sigset_t all, old;
	int i, rc = -1;

	while (p->n % 8) {
		p->bytes[p->n++] = 0;
	}
	size = (uint32_t)p->n;
	memcpy(p->bytes + offsetof(struct vt_raw_record, dt), &size, sizeof(size));
	if (r->forgotten || p->n > r->block_size - sizeof(struct vt_raw_block)) {
		return -1;
	}
	/* a signal handler that records must not meet the lock held by the thread that it interrupted */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	pthread_mutex_lock(&r->lock);
	memcpy(p->bytes + sizeof(struct vt_raw_record), &r->n_definitions, sizeof(r->n_definitions));
	r->n_definitions++;
	for (i = 0; i < VT_RAW_COPIES; i++) {
		/* one copy is enough */
		rc = write_copy(r, &r->copy[i], p) == 0 ? 0 : rc;
	}
	if (rc < 0) {
		atomic_fetch_add_explicit(&r->head->lost, 1, memory_order_relaxed);
	}
	pthread_mutex_unlock(&r->lock);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
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

int vt_raw_scl(struct vt_raw *r, uint32_t id, uint32_t line, const char *file)
{
	return named(r, VT_RAW_DEF_SCL, id, line, file);
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

int vt_raw_group(struct vt_raw *r, uint32_t id, const char *name, const uint32_t *members, uint32_t n)
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

int vt_raw_info(struct vt_raw *r, const char *cls, const char *text)
{
	struct pack p;

	begin(&p, VT_RAW_DEF_INFO);
	put_text(&p, cls);
	put_text(&p, text);
	return end(r, &p);
}
