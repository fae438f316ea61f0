/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes definitions. Each is packed once (definition.c) and written into two streams of blocks, which are never overwritten. */
#include "config.h"
#include "collector-plugin/raw/private.h"

#include <signal.h>

#include "collector-plugin/host/memory.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/grow.h"
#include "collector-plugin/raw/writer.h"

static VT_SELDOM int write_copy(struct vt_raw *r, struct vt_raw_stream *s, const uint8_t *bytes, size_t n)
{
	if (!s->block || n > (size_t)(s->end - s->cur)) {
		if (!vt_raw_begin_block(r, s, VT_RAW_DEFINITIONS, 0)) {
			s->lost++;
			return -1;
		}
	}
	memcpy(s->cur, bytes, n);
	s->busy = vt_raw_here();
	vt_raw_done(s, s->cur + n);
	return 0;
}

/* Gives the definition of n bytes in r->definition its number and writes it. The caller holds r->lock. */
static VT_SELDOM int write_packed(struct vt_raw *r, size_t n)
{
	uint64_t number = atomic_fetch_add_explicit(&r->head->definitions, 1, memory_order_relaxed);
	int i, rc = -1;

	memcpy(r->definition + sizeof(struct vt_raw_record), &number, sizeof(number));
	for (i = 0; i < VT_RAW_COPIES; i++) {
		/* one copy is enough */
		rc = write_copy(r, &r->copy[i], r->definition, n) == 0 ? 0 : rc;
	}
	return rc;
}

/* ---- for children ---- */

/* A child of fork() has the tables of its parent, and so the numbers of what the parent defined. So has the process that
 * starts the collector once more. Their files need these definitions, too. Nothing that is complete moves or changes. */
enum { KEPT_BYTES = 1 << 16 };
static struct kept {
	struct kept *next;
	_Atomic size_t used;
	uint8_t bytes[KEPT_BYTES - 2 * sizeof(size_t)]; /* for each definition a u64, its length, and itself */
} * first_kept, *last_kept;

static VT_SELDOM int is_of_program(const struct vt_raw_def *d)
{
	switch (d->type) {
	case VT_RAW_DEF_CLASS:
		return d->id >= VT_RAW_FIRST_ID;
	case VT_RAW_DEF_COUNTER:
		return d->counter.id >= VT_RAW_FIRST_ID;
	case VT_RAW_DEF_FUNCTION:
	case VT_RAW_DEF_FUNCTION_AT:
	case VT_RAW_DEF_OBJECT:
	case VT_RAW_DEF_SCL:
	case VT_RAW_DEF_STACK:
	case VT_RAW_DEF_SCOPE:
	case VT_RAW_DEF_FILE:
	case VT_RAW_DEF_GROUP:
		return 1;
	default:
		return 0;
	}
}

static VT_SELDOM void keep_definition(const struct vt_raw *r, uint64_t n)
{
	struct kept *k = last_kept;
	size_t used = k ? atomic_load(&k->used) : 0;

	if (!k || used + sizeof(n) + n > sizeof(k->bytes)) {
		k = vt_raw_is_forbidden(r) ? NULL : vt_pages(sizeof(*k));
		if (!k) {
			return;
		}
		*(last_kept ? &last_kept->next : &first_kept) = k;
		last_kept = k;
		used = 0;
	}
	memcpy(k->bytes + used, &n, sizeof(n));
	memcpy(k->bytes + used + sizeof(n), r->definition, n);
	atomic_store(&k->used, used + sizeof(n) + n);
}

VT_SELDOM void vt_raw_repeat_definitions(struct vt_raw *r)
{
	const struct kept *k;
	uint64_t n;
	size_t at;

	vt_lock(&r->lock);
	for (k = first_kept; k; k = k->next) {
		for (at = 0; at < atomic_load(&k->used); at += sizeof(n) + n) {
			memcpy(&n, k->bytes + at, sizeof(n));
			memcpy(r->definition, k->bytes + at + sizeof(n), n);
			write_packed(r, n);
		}
	}
	vt_unlock(&r->lock);
}

static VT_SELDOM int write_definition(struct vt_raw *r, const struct vt_raw_def *d)
{
	size_t n;
	int rc;

	if (r->forgotten) {
		return -1;
	}
	vt_lock(&r->lock);
	n = vt_raw_pack_definition(d, r->definition);
	if (n > r->block_size - sizeof(struct vt_raw_block)) {
		vt_unlock(&r->lock);
		return -1;
	}
	rc = write_packed(r, n);
	if (r->keeper_fd < 0 && is_of_program(d)) {
		keep_definition(r, n);
	}
	/* the caller keeps statistics that found no room */
	if (rc < 0 && d->type != VT_RAW_DEF_STATISTICS) {
		atomic_fetch_add_explicit(&r->head->lost, 1, memory_order_relaxed);
	}
	vt_unlock(&r->lock);
	return rc;
}

/* Most kinds have two numbers and a name. */
static VT_SELDOM int define_named(
	struct vt_raw *r, enum vt_raw_type type, uint32_t id, uint32_t parent, const char *name)
{
	return write_definition(r, &(struct vt_raw_def){ .type = type, .id = id, .parent = parent, .name = name });
}

VT_SELDOM int vt_raw_class(struct vt_raw *r, uint32_t id, uint32_t parent, const char *name)
{
	return define_named(r, VT_RAW_DEF_CLASS, id, parent, name);
}

VT_SELDOM int vt_raw_function(struct vt_raw *r, uint32_t id, uint32_t classid, const char *name)
{
	return define_named(r, VT_RAW_DEF_FUNCTION, id, classid, name);
}

VT_SELDOM int vt_raw_scl(struct vt_raw *r, uint32_t id, uint32_t line, const char *file)
{
	return define_named(r, VT_RAW_DEF_SCL, id, line, file);
}

VT_SELDOM int vt_raw_file_name(struct vt_raw *r, uint32_t id, uint32_t communicator, const char *name)
{
	return define_named(r, VT_RAW_DEF_FILE, id, communicator, name);
}

VT_SELDOM int vt_raw_object(struct vt_raw *r, uint32_t id, const uint8_t *build_id, uint32_t size, const char *path)
{
	struct vt_raw_def d = { .type = VT_RAW_DEF_OBJECT, .id = id, .name = path };

	d.n = size < sizeof(d.build_id) ? size : (uint32_t)sizeof(d.build_id);
	memcpy(d.build_id, build_id, d.n);
	return write_definition(r, &d);
}

VT_SELDOM int vt_raw_function_at(
	struct vt_raw *r, uint32_t id, uint32_t classid, const struct vt_raw_place *at, const char *name)
{
	return write_definition(r,
		&(struct vt_raw_def){ .type = VT_RAW_DEF_FUNCTION_AT,
			.id = id,
			.parent = classid,
			.object = at->object,
			.demangle = at->demangle,
			.offset = at->offset,
			.name = name });
}

VT_SELDOM int vt_raw_statistics(struct vt_raw *r, uint32_t thread, int late, const struct vt_raw_row *row)
{
	return write_definition(r,
		&(struct vt_raw_def){
			.type = VT_RAW_DEF_STATISTICS, .id = thread, .parent = (uint32_t)late, .row = *row });
}

VT_SELDOM int vt_raw_stack(struct vt_raw *r, uint32_t id, const struct vt_raw_place *place, uint32_t n)
{
	return write_definition(r,
		&(struct vt_raw_def){
			.type = VT_RAW_DEF_STACK, .id = id, .n = n < VT_RAW_STACK ? n : VT_RAW_STACK, .place = place });
}

VT_SELDOM int vt_raw_scope(
	struct vt_raw *r, uint32_t id, uint32_t classid, uint32_t scl1, uint32_t scl2, const char *name)
{
	return write_definition(r,
		&(struct vt_raw_def){
			.type = VT_RAW_DEF_SCOPE, .id = id, .parent = classid, .scl = { scl1, scl2 }, .name = name });
}

/* Writes as many definitions as the ranges of the communicator need. */
VT_SELDOM int vt_raw_communicator(struct vt_raw *r, const struct vt_raw_comm_def *c)
{
	struct vt_raw_def d = { .type = VT_RAW_DEF_COMM, .name = c->name, .communicator = *c };
	uint32_t at = 0, n;
	int rc;

	do {
		n = c->n - at;
		d.n = n < VT_RAW_MAX_RANGES ? n : VT_RAW_MAX_RANGES;
		d.communicator.at = at;
		d.communicator.ranks = n ? c->ranks + at : NULL;
		rc = write_definition(r, &d);
		at += d.n;
	} while (rc == 0 && at < c->n);
	return rc;
}

VT_SELDOM int vt_raw_counter(struct vt_raw *r, const struct vt_raw_counter_def *c)
{
	return write_definition(r,
		&(struct vt_raw_def){ .type = VT_RAW_DEF_COUNTER,
			.counter = *c,
			.name = c->name,
			.text = c->unit,
			.shown_unit = c->shown_unit,
			.description = c->description });
}

VT_SELDOM int vt_raw_thread(struct vt_raw *r, uint32_t thread, uint64_t tid, const char *name)
{
	return vt_raw_thread_from(r, thread, 0, tid, name);
}

VT_SELDOM int vt_raw_thread_from(struct vt_raw *r, uint32_t thread, uint32_t place, uint64_t tid, const char *name)
{
	return write_definition(r,
		&(struct vt_raw_def){
			.type = VT_RAW_DEF_THREAD, .id = thread, .parent = place, .tid = tid, .name = name });
}

VT_SELDOM int vt_raw_group(struct vt_raw *r, uint32_t id, const char *name, const uint32_t *members, uint32_t n)
{
	return n > VT_RAW_MAX_MEMBERS
		? -1
		: write_definition(r,
			  &(struct vt_raw_def){
				  .type = VT_RAW_DEF_GROUP, .id = id, .n = n, .members = members, .name = name });
}

VT_SELDOM int vt_raw_clock(struct vt_raw *r, ltick_t tick, int64_t realtime_ns, int64_t monotonic_ns, int64_t raw_ns)
{
	return write_definition(r,
		&(struct vt_raw_def){
			.type = VT_RAW_DEF_CLOCK, .clock = { tick.v, realtime_ns, monotonic_ns, raw_ns } });
}

/* Returns how many bytes of whole lines fit into one definition. */
static VT_SELDOM size_t lines_that_fit(const char *lines, size_t n)
{
	size_t most = VT_RAW_MAX_DEFINITION - 64, k = n < most ? n : most;

	while (k > 0 && lines[k - 1] != '\n') {
		k--;
	}
	return k;
}

VT_SELDOM int vt_raw_clocks(struct vt_raw *r, const char *lines, size_t n)
{
	size_t k;
	int rc = 0;

	for (; rc == 0 && (k = lines_that_fit(lines, n)) > 0; lines += k, n -= k) {
		rc = write_definition(
			r, &(struct vt_raw_def){ .type = VT_RAW_DEF_CLOCKS, .text = lines, .n = (uint32_t)k });
	}
	return rc;
}

VT_SELDOM int vt_raw_info(struct vt_raw *r, const char *cls, const char *text)
{
	return write_definition(r, &(struct vt_raw_def){ .type = VT_RAW_DEF_INFO, .name = cls, .text = text });
}

VT_SELDOM uint32_t vt_raw_text(struct vt_raw *r, const char *text)
{
	struct vt_raw_def d = { .type = VT_RAW_DEF_TEXT, .text = text, .n = (uint32_t)strnlen(text, 3000) };

	if (d.n == 0) {
		return 0;
	}
	d.id = atomic_fetch_add(&r->texts, 1) + 1;
	return write_definition(r, &d) < 0 ? 0 : d.id;
}

VT_SELDOM void vt_raw_plain_report(
	struct vt_raw *r, struct vt_raw_stream *s, ltick_t stamp, const char *type, const char *level, const char *text)
{
	struct vt_raw_report body = { .type = vt_raw_text(r, type), .level = vt_raw_text(r, level) };

	body.text = vt_raw_text(r, text);
	if (s) {
		vt_raw_event(s, stamp, 0, VT_RAW_REPORT, 0, &body, sizeof(body));
	}
}
