/* SPDX-License-Identifier: BSD-3-Clause */
/* Unifies the definitions of all raw files: what has the same name in several processes gets one id in the trace
 * (Intel Trace Collector guide, section 3.2, UNIFY-COUNTERS). */
#include "config.h"
#include "collector-plugin/merge/common/private.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "collector-plugin/merge/definitions/communicators.h"
#include "collector-plugin/merge/definitions/objects.h"
#include "collector-plugin/merge/definitions/statistics.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/reader.h"
#include "collector-plugin/raw/writer.h"

static int set_id(const struct vt_merge_file *f, struct vt_merge_ids *ids, uint32_t id, uint32_t to)
{
	unsigned range = vt_merge_range(&id);

	/* ids are assigned in sequence, and a definition has at least 16 bytes */
	if (id >= VT_MERGE_RANGE && id > vt_raw_file_size(f->raw) / 16) {
		return 0; /* the id is of a damaged file */
	}
	if (id >= ids->n[range] && TKM_EXTEND(ids->to[range], ids->n[range], id + 1) < 0) {
		return -1;
	}
	ids->to[range][id] = to;
	return 0;
}

/* ---- first reading: threads and clocks ---- */

struct context {
	struct vt_merge *m;
	struct vt_merge_file *f;
};

static int add_merged_thread(struct vt_merge_thread **list, uint32_t *size, uint32_t i, uint64_t tid, const char *name)
{
	struct vt_merge_thread *p;

	if (i >= *size && TKM_EXTEND(*list, *size, i + 1) < 0) {
		return -1;
	}
	p = &(*list)[i];
	p->several |= p->there && tid && p->tid && tid != p->tid;
	p->there = 1;
	p->tid = tid ? tid : p->tid;
	if (name && *name) {
		free(p->name);
		p->name = strdup(name);
		return p->name ? 0 : -1;
	}
	return 0;
}

/* Notes a thread. It has a number, or only a place so far. */
static int define_thread(struct vt_merge_file *f, uint32_t thread, uint32_t place, uint64_t tid, const char *name)
{
	if (thread >= VT_RAW_GROUP) {
		return 0;
	}
	if (thread >= VT_RAW_PLACE) {
		return add_merged_thread(&f->place, &f->n_places, thread - VT_RAW_PLACE, tid, name);
	}
	if (place == VT_RAW_GROUP && thread < f->n_threads && f->thread[thread].by_program) {
		name = NULL;
	}
	if (place >= VT_RAW_PLACE && place < VT_RAW_GROUP &&
		set_id(f, &f->places, place - VT_RAW_PLACE, thread + 1) < 0) {
		return -1;
	}
	if (add_merged_thread(&f->thread, &f->n_threads, thread, tid, name) < 0) {
		return -1;
	}
	f->thread[thread].by_program |= name && *name && place != VT_RAW_GROUP;
	return 0;
}

/* The number of the thread that had a place alone, plus 1; 0: it has none. A thread that ended before the sampler process looked again got
 * a number that the file does not connect with its place. */
static uint32_t number_of_lone_thread(const struct vt_merge_file *f, const struct vt_merge_thread *place)
{
	uint32_t n;

	for (n = 1; n < f->n_threads && place->there && place->tid && !place->several; n++) {
		if (f->thread[n].there && f->thread[n].tid == place->tid) {
			return n + 1;
		}
	}
	return 0;
}

/* Gives places the numbers of their threads. A place whose thread has no number gets the lowest free one. */
static int number_places(struct vt_merge_file *f)
{
	uint32_t i, number, next = 1;

	for (i = 0; i < f->n_places; i++) {
		number = vt_merge_id(&f->places, i) ? 0 : number_of_lone_thread(f, &f->place[i]);
		if (number && set_id(f, &f->places, i, number) < 0) {
			return -1;
		}
	}

	for (i = 0; i < f->n_places; i++) {
		const struct vt_merge_thread *p = &f->place[i];

		number = vt_merge_id(&f->places, i);
		if (number && !(number <= f->n_threads && f->thread[number - 1].name) &&
			add_merged_thread(&f->thread, &f->n_threads, number - 1, 0, p->name) < 0) {
			return -1;
		}
		if (number || !p->there) {
			continue;
		}
		while (next < f->n_threads && f->thread[next].there) {
			next++;
		}
		if (add_merged_thread(&f->thread, &f->n_threads, next, p->tid, p->name) < 0 ||
			set_id(f, &f->places, i, next + 1) < 0) {
			return -1;
		}
	}
	return 0;
}

static int first_reading(const struct vt_raw_def *d, void *ctx)
{
	struct context *c = ctx;
	struct vt_merge_clock clock = { d->clock.tick, d->clock.realtime_ns, d->clock.monotonic_ns, d->clock.raw_ns };

	if (d->type == VT_RAW_DEF_THREAD) {
		return define_thread(c->f, d->id, d->parent, d->tid, d->name);
	}
	if (d->type == VT_RAW_DEF_CLOCK) {
		if (!c->f->clocks++) {
			c->f->first = clock;
		}
		c->f->last = clock;
	}
	return 0;
}

int vt_merge_read_definitions(struct vt_merge *m)
{
	size_t i;

	for (i = 0; i < m->n; i++) {
		struct context c = { m, &m->file[i] };

		/* thread 0 always exists */
		if (define_thread(c.f, 0, 0, c.f->head->pid, NULL) < 0 ||
			vt_raw_definitions(c.f->raw, first_reading, &c) != 0 || number_places(c.f) < 0) {
			return tkm_fail(m->err, TKM_ERR_NOMEM, "%s: out of memory for its definitions",
				vt_raw_file_path(c.f->raw));
		}
	}
	return 0;
}

/* ---- second reading: into the trace ---- */

/* Returns the id of a class, "parent:name", in the trace, defined now if it was not before; 0: no memory. */
static uint32_t class_id(struct context *c, const char *full, uint32_t parent)
{
	struct vt_merge_name *e = vt_merge_name_entry(&c->m->classes, full);

	if (e && !e->id) {
		e->id = stf_writer_class(c->m->w, full, parent);
	}
	return e ? e->id : 0;
}

static int define_class(struct context *c, const struct vt_raw_def *d)
{
	uint32_t parent = vt_merge_id(&c->f->classes, d->parent), id;
	const char *above = parent ? vt_merge_name_of(&c->m->classes, parent) : NULL;
	char full[2000];

	snprintf(full, sizeof(full), "%s%s%s", above ? above : "", above ? ":" : "", d->name);
	id = class_id(c, full, parent);
	return id ? set_id(c->f, &c->f->classes, d->id, id) : -1;
}

static const char *merged_class_name(const struct vt_merge *m, uint32_t id)
{
	const char *name = id ? vt_merge_name_of(&m->classes, id) : NULL;

	return name ? name : "";
}

static uint32_t group_willy(const struct vt_merge *m, const struct vt_merge_file *f, uint32_t id)
{
	(void)m;
	return STF_GROUP(id == VT_RAW_NODE ? VT_MERGE_FIRST_NODE + f->node : vt_merge_id(&f->groups, id));
}

/* Writes what counter_definition has no field for: what the counter counts, and the unit in which to show it (as in
 * the Intel Trace Collector guide) where it is recorded in another unit. */
static int describe_merged_counter(struct context *c, const struct vt_raw_def *d, uint32_t cls)
{
	const char *class = merged_class_name(c->m, cls), *colon = *class ? ":" : "";

	if (d->counter.factor != 0 && *d->counter.shown_unit &&
		vt_merge_info(c->m, "counter-display", "\"%s%s%s\" %.17g \"%s\"", class, colon, d->name,
			d->counter.factor, d->counter.shown_unit) < 0) {
		return -1;
	}
	return *d->description ? vt_merge_info(c->m, "counter", "\"%s%s%s\" %s", class, colon, d->name, d->description)
			       : 0;
}

static int define_counter(struct context *c, const struct vt_raw_def *d)
{
	struct stf_counter_definition s = { .type = d->counter.type,
		.do_diff = d->counter.do_diff,
		.lower_bound = d->counter.lower,
		.upper_bound = d->counter.upper,
		.unit = d->text,
		.size_1_1 = (uint32_t)strlen(d->text),
		.classid = vt_merge_id(&c->f->classes, d->counter.classid) };
	char key[2100];
	uint32_t id;

	if (d->counter.where & VT_RAW_GROUP) {
		c->f->of_groups |= (d->counter.where & 0x7fffu) == VT_RAW_NODE ? VT_MERGE_OF_NODE : VT_MERGE_OF_GROUPS;
	}
	snprintf(key, sizeof(key), "%u\1%s\1%s\1%u\1%u\1%u\1%d", s.classid, d->name, d->text, s.type, s.do_diff,
		(unsigned)d->counter.where, c->m->o->counters_apart ? (int)c->f->process : -1);
	id = vt_merge_number(&c->m->counters, key, &s.id);
	if (s.id) {
		s.name = stf_writer_string(c->m->w, d->name);
		s.willy = d->counter.where & VT_RAW_GROUP ? group_willy(c->m, c->f, d->counter.where & 0x7fffu)
							  : STF_GROUP(VT_MERGE_ALL);
		if (!s.name || stf_write_counter_definition(c->m->w, &s) < 0 ||
			describe_merged_counter(c, d, s.classid) < 0) {
			return -1;
		}
	}
	return id ? set_id(c->f, &c->f->counters, d->id, id) : -1;
}

/* Returns the id of a function in the trace, defined now if it was not before; 0: no memory. */
static uint32_t function_id(struct context *c, uint32_t classid, const char *name)
{
	struct stf_function_definition s = { .classid = classid };
	char key[4200];
	uint32_t id;
	int n;

	n = snprintf(key, sizeof(key), "%u\1%.4100s", s.classid, name);
	if (c->m->o->symbols_apart) {
		snprintf(key + n, sizeof(key) - (size_t)n, "\1%u", c->f->process);
	}
	id = vt_merge_number(&c->m->functions, key, &s.id);
	if (s.id) {
		s.name = stf_writer_string(c->m->w, name);
		if (!s.name || stf_write_function_definition(c->m->w, &s) < 0) {
			return 0;
		}
	}
	return id;
}

static int see_function(struct context *c, const struct vt_raw_def *d, const char *name)
{
	uint32_t id = function_id(c, vt_merge_id(&c->f->classes, d->parent), name);

	return id ? set_id(c->f, &c->f->functions, d->id, id) : -1;
}

static int see_statistics(struct context *c, const struct vt_raw_def *d)
{
	uint32_t function = d->row.function ? vt_merge_id(&c->f->functions, d->row.function)
					    : function_id(c, class_id(c, "Statistics", 0), "others");

	c->f->late += d->parent ? d->row.t.count - d->row.t.more : 0;
	return d->row.function || function ? vt_merge_see_statistics(c->m, c->f, d, function) : -1;
}

static uint32_t file_id(struct vt_merge *m, const char *file)
{
	struct stf_file_definition s = { .file = file, .size_1_1 = (uint32_t)strlen(file) };
	uint32_t id = vt_merge_number(&m->files, file, &s.id);

	return s.id && stf_write_file_definition(m->w, &s) < 0 ? 0 : id;
}

/* Writes a source location, once for all definitions that have this key. */
static int write_scl(struct context *c, const struct vt_raw_def *d, const char *key, struct stf_scl_definition *s)
{
	uint32_t id = vt_merge_number(&c->m->scls, key, &s->id);

	if (!id || (s->id && stf_write_scl_definition(c->m->w, s) < 0)) {
		return -1;
	}
	return set_id(c->f, &c->f->scls, d->id, id);
}

static int see_scl(struct context *c, const struct vt_raw_def *d)
{
	uint32_t file = file_id(c->m, d->name), line = d->parent, none = 0;
	struct stf_scl_definition s = { .size_1_4 = 1, .file = &file, .line = &line, .symbol = &none, .object = &none };
	char key[2000];

	snprintf(key, sizeof(key), "%u\1%.1900s\1%d", line, d->name, c->m->o->scls_apart ? (int)c->f->process : -1);
	return file ? write_scl(c, d, key, &s) : -1;
}

/* A call stack. Stacks with the same source lines get the same id, whichever process recorded them. */
static int see_stack(struct context *c, const struct vt_raw_def *d)
{
	uint32_t file[VT_RAW_STACK], line[VT_RAW_STACK], symbol[VT_RAW_STACK], object[VT_RAW_STACK], i;
	struct stf_scl_definition s = { .file = file, .line = line, .symbol = symbol, .object = object };
	struct vt_merge_line at;
	char key[VT_RAW_STACK * 48 + 20];
	size_t n;

	if (d->n == 0 || d->n > VT_RAW_STACK) {
		return 0;
	}
	n = (size_t)snprintf(key, sizeof(key), "\2%d ", c->m->o->scls_apart ? (int)c->f->process : -1);
	for (i = 0; i < d->n; i++) {
		line[i] = vt_merge_source_line(c->m->o->nmcmd, c->f, &d->place[i], &at);
		c->m->without_line += line[i] == 0;
		file[i] = file_id(c->m, at.file);
		symbol[i] = at.function[0] ? stf_writer_string(c->m->w, at.function) : 0;
		object[i] = at.object[0] ? stf_writer_string(c->m->w, at.object) : 0;
		if (!file[i]) {
			return -1;
		}
		n += (size_t)snprintf(key + n, sizeof(key) - n, "%x %x %x %x,", file[i], line[i], symbol[i], object[i]);
	}
	c->m->stacks++;
	c->m->in_stacks += d->n;
	s.size_1_4 = (uint8_t)d->n;
	return write_scl(c, d, key, &s);
}

static int define_scope(struct context *c, const struct vt_raw_def *d)
{
	struct stf_scope_definition s = { .classid = vt_merge_id(&c->f->classes, d->parent),
		.scl1 = vt_merge_id(&c->f->scls, d->scl[0]),
		.scl2 = vt_merge_id(&c->f->scls, d->scl[1]) };
	char key[2000];
	uint32_t id;

	snprintf(key, sizeof(key), "%u\1%s\1%u\1%u", s.classid, d->name, s.scl1, s.scl2);
	id = vt_merge_number(&c->m->scopes, key, &s.id);
	if (s.id) {
		s.name = stf_writer_string(c->m->w, d->name);
		if (!s.name || stf_write_scope_definition(c->m->w, &s) < 0) {
			return -1;
		}
	}
	return id ? set_id(c->f, &c->f->scopes, d->id, id) : -1;
}

/* A file that the program reads or writes, written when it occurs first. This needs the communicators' numbers, so it
 * is in the third reading. */
static int third_reading(const struct vt_raw_def *d, void *ctx)
{
	struct context *c = ctx;
	const struct vt_merge_comm *comm = d->parent ? vt_merge_comm(c->f, d->parent) : NULL;
	struct stf_file_io_file_definition s = { .communicator = comm ? comm->id : 0 };
	char key[4200];
	uint32_t id;

	if (d->type != VT_RAW_DEF_FILE) {
		return 0;
	}
	snprintf(key, sizeof(key), "%u\1%.4100s", s.communicator, d->name);
	id = vt_merge_number(&c->m->paths, key, &s.id);
	if (s.id) {
		s.name = stf_writer_string(c->m->w, d->name);
		if (!s.name || stf_write_file_io_file_definition(c->m->w, &s) < 0) {
			return -1;
		}
	}
	return id ? set_id(c->f, &c->f->paths, d->id, id) : -1;
}

/* Lists the threads of a group's member that is another rank, in willies unless that is NULL. Returns how many. */
static uint32_t other_rank(const struct vt_merge *m, uint32_t member, uint32_t *willies)
{
	uint32_t process = member & 0xffffu, thread = member >> 16 & 0x7fffu, i, n = 1;
	size_t k;

	for (k = 0; k < m->n && m->file[k].process != process; k++) {
	}
	if (thread == 0x7fff) {
		thread = 0;
		n = k < m->n ? m->file[k].n_threads : 1;
	}
	for (i = 0; willies && i < n; i++) {
		willies[i] = STF_WILLY(process, thread + i);
	}
	return n;
}

/* Groups with the same name and the same members in the same order are one group, whichever processes define them. */
static struct vt_merge_name *group_entry(struct context *c, const char *name, const uint32_t *willies, uint32_t n)
{
	char *key = malloc(strlen(name) + 9 * (size_t)n + 32);
	struct vt_merge_name *e = NULL;
	size_t at;
	uint32_t i;

	if (key) {
		at = (size_t)sprintf(key, "%s\1%d", name, c->m->o->groups_apart ? (int)c->f->process : -1);
		for (i = 0; i < n; i++) {
			at += (size_t)sprintf(key + at, "\1%x", willies[i]);
		}
		e = vt_merge_name_entry(&c->m->groups, key);
	}
	free(key);
	return e;
}

static int write_members(struct context *c, const struct vt_raw_def *d, const uint32_t *willies, uint32_t n)
{
	struct stf_group_definition g = {
		.name = d->name, .size_1_1 = (uint32_t)strlen(d->name), .size_2_1 = n, .willies = willies
	};
	struct vt_merge_name *e = group_entry(c, d->name, willies, n);

	if (!e) {
		return -1;
	}
	if (!e->id) {
		e->id = g.id = c->m->next_group++;
		if (stf_write_group_definition(c->m->w, &g) < 0) {
			return -1;
		}
	}
	return set_id(c->f, &c->f->groups, d->id, e->id);
}

static int define_thread_group(struct context *c, const struct vt_raw_def *d)
{
	uint32_t *willies, i, n = 0;
	int rc;

	for (i = 0; i < d->n; i++) {
		n += d->members[i] & VT_RAW_MEMBER(0, 0) ? other_rank(c->m, d->members[i], NULL) : 1;
	}
	willies = malloc((n + 1) * sizeof(*willies));
	if (!willies) {
		return -1;
	}
	for (i = 0, n = 0; i < d->n; i++) {
		uint32_t member = d->members[i];

		if (member & VT_RAW_MEMBER(0, 0)) {
			n += other_rank(c->m, member, willies + n);
		} else {
			willies[n++] = member & VT_RAW_GROUP ? group_willy(c->m, c->f, member & 0x7fffu)
							     : STF_WILLY(c->f->process, member);
		}
	}
	rc = write_members(c, d, willies, n);
	free(willies);
	return rc;
}

/* Of a report. */
static int see_text(struct context *c, const struct vt_raw_def *d)
{
	uint32_t id = stf_writer_string(c->m->w, d->text);

	return id ? set_id(c->f, &c->f->texts, d->id, id) : -1;
}

static int second_reading(const struct vt_raw_def *d, void *ctx)
{
	struct context *c = ctx;
	char name[4000];

	switch (d->type) {
	case VT_RAW_DEF_CLASS:
		return define_class(c, d);
	case VT_RAW_DEF_COUNTER:
		return define_counter(c, d);
	case VT_RAW_DEF_FUNCTION:
		return see_function(c, d, d->name);
	case VT_RAW_DEF_STATISTICS:
		return see_statistics(c, d);
	case VT_RAW_DEF_OBJECT:
		return vt_merge_see_object(c->f, d);
	case VT_RAW_DEF_FUNCTION_AT:
		vt_merge_function_name(c->m->o->nmcmd, c->f, d, name, sizeof(name));
		return see_function(c, d, name);
	case VT_RAW_DEF_SCL:
		return see_scl(c, d);
	case VT_RAW_DEF_STACK:
		return see_stack(c, d);
	case VT_RAW_DEF_FILE:
		c->m->any_paths = 1;
		return 0;
	case VT_RAW_DEF_SCOPE:
		return define_scope(c, d);
	case VT_RAW_DEF_COMM:
		return vt_merge_see_communicator(c->f, d);
	case VT_RAW_DEF_GROUP:
		return define_thread_group(c, d);
	case VT_RAW_DEF_TEXT:
		return see_text(c, d);
	case VT_RAW_DEF_INFO:
		if (!strcmp(d->name, VT_RAW_IMBALANCE)) {
			c->m->idle_ns = strtoull(d->text, NULL, 10);
			return 0;
		}
		c->f->discarded |= strcmp(d->name, VT_RAW_DISCARDED) == 0;
		return !strcmp(d->name, "ended") || !strcmp(d->name, "deadlock")
			? vt_merge_info(c->m, d->name, "process %u: %s", c->f->process, d->text)
			: vt_merge_info(c->m, d->name, "%s", d->text);
	default:
		return 0;
	}
}

/* ---- processes, threads, nodes ---- */

static int later_image(const struct vt_merge *m, const struct vt_merge_file *f, uint32_t thread)
{
	while (f->later) {
		f = &m->file[f->later];
		if (thread < f->n_threads) {
			return 1;
		}
	}
	return 0;
}

static int write_merged_processes(struct vt_merge *m)
{
	uint32_t n = m->file[m->n - 1].process + 1, *threads, i;
	size_t k;

	for (k = 0; k < m->n; k++) {
		n = m->file[k].process + 1 > n ? m->file[k].process + 1 : n;
	}
	threads = malloc(n * sizeof(*threads));
	if (!threads) {
		return -1;
	}
	/* a rank without a file has one thread, about which nothing is known */
	for (i = 0; i < n; i++) {
		threads[i] = 1;
	}
	for (k = 0; k < m->n; k++) {
		i = m->file[k].process;
		threads[i] = m->file[k].n_threads > threads[i] ? m->file[k].n_threads : threads[i];
		m->out->processes += !m->file[k].went_on;
	}
	for (i = 0; i < n; i++) {
		m->out->threads += threads[i];
	}
	m->threads = threads;
	m->n_processes = n;
	return stf_writer_processes(m->w, threads, n);
}

/* Finds offset and skew so that gettimeofday() in seconds = offset + tick x skew, for ticks of this file. */
static void skew_of(const struct vt_merge_file *f, double *offset, double *skew)
{
	const struct vt_raw_head *h = f->head;

	*skew = 1 / h->hz;
	*offset = (double)h->start_realtime_ns * 1e-9 - (double)h->start_tick * *skew;
	if (f->clocks) {
		if ((double)(f->last.tick - f->first.tick) > h->hz) {
			*skew = (double)(f->last.realtime_ns - f->first.realtime_ns) * 1e-9 /
				(double)(f->last.tick - f->first.tick);
		}
		*offset = (double)f->first.realtime_ns * 1e-9 - (double)f->first.tick * *skew;
	}
}

static int write_threads(struct vt_merge *m, const struct vt_merge_file *f)
{
	char name[400];
	double offset, skew;
	uint32_t i;

	skew_of(f, &offset, &skew);
	for (i = 0; i < f->n_threads; i++) {
		const char *own = f->thread[i].name;

		/* another program followed in the same process by exec: the last program gives the name */
		if (later_image(m, f, i)) {
			continue;
		}
		if (stf_writer_willy(m->w, STF_WILLY(f->process, i), f->head->host, f->head->ip, f->head->pid,
			    f->thread[i].tid, offset, skew) < 0) {
			return -1;
		}
		snprintf(name, sizeof(name), "%.300s", own ? own : i == 0 ? f->head->program : "");
		if (*name && stf_writer_willy_name(m->w, STF_WILLY(f->process, i), name) < 0) {
			return -1;
		}
	}
	return 0;
}

/* Lists the processes of these n files. */
static int write_group_of_files(
	struct vt_merge *m, uint32_t id, const char *name, struct vt_merge_file *const *file, size_t files)
{
	size_t k, n = 0, total = 0;
	uint32_t *willies, i;
	int rc;

	for (k = 0; k < files; k++) {
		total += file[k]->n_threads;
	}
	willies = malloc((total + 1) * sizeof(*willies));
	if (!willies) {
		return -1;
	}
	for (k = 0; k < files; k++) {
		for (i = 0; i < file[k]->n_threads; i++) {
			if (!later_image(m, file[k], i)) {
				willies[n++] = STF_WILLY(file[k]->process, i);
			}
		}
	}
	{
		struct stf_group_definition g = { .id = id,
			.name = name,
			.size_1_1 = (uint32_t)strlen(name),
			.size_2_1 = (uint32_t)n,
			.willies = willies };

		rc = stf_write_group_definition(m->w, &g);
	}
	free(willies);
	return rc;
}

/* All processes are a group, and those of each node. */
static int write_node_groups(struct vt_merge *m)
{
	struct vt_merge_file **all = malloc(2 * m->n * sizeof(struct vt_merge_file *)), **by_node = all + m->n;
	size_t *end = calloc(m->n_nodes + 1, sizeof(*end)), i, first = 0;
	int rc = all && end ? 0 : -1;

	for (i = 0; i < m->n && rc == 0; i++) {
		all[i] = &m->file[i];
		end[m->file[i].node + 1]++;
	}
	for (i = 0; i < m->n_nodes && rc == 0; i++) {
		end[i + 1] += end[i];
	}
	for (i = 0; i < m->n && rc == 0; i++) {
		by_node[end[m->file[i].node]++] = &m->file[i];
	}
	rc = rc < 0 ? rc : write_group_of_files(m, VT_MERGE_ALL, "All_Processes", all, m->n);
	for (i = 0; i < m->n_nodes && rc == 0; i++) {
		rc = write_group_of_files(
			m, VT_MERGE_FIRST_NODE + (uint32_t)i, m->node[i].host, by_node + first, end[i] - first);
		first = end[i];
	}
	free(all);
	free(end);
	return rc;
}

static int write_merged_definitions(struct vt_merge *m)
{
	size_t i;

	if (write_merged_processes(m) < 0 || write_node_groups(m) < 0) {
		return -1;
	}
	m->next_group = VT_MERGE_FIRST_NODE + (uint32_t)m->n_nodes;
	for (i = 0; i < m->n; i++) {
		struct context c = { m, &m->file[i] };

		if (write_threads(m, c.f) < 0 || vt_raw_definitions(c.f->raw, second_reading, &c) != 0) {
			return -1;
		}
	}
	return 0;
}

static int write_paths(struct vt_merge *m)
{
	size_t i;

	for (i = 0; m->any_paths && i < m->n; i++) {
		struct context c = { m, &m->file[i] };

		if (vt_raw_definitions(c.f->raw, third_reading, &c) != 0) {
			return -1;
		}
	}
	return 0;
}

int vt_merge_write_definitions(struct vt_merge *m)
{
	if (write_merged_definitions(m) == 0 && vt_merge_write_communicators(m) == 0 && write_paths(m) == 0) {
		return 0;
	}
	if (stf_writer_error(m->w)->code != STF_OK) {
		return vt_merge_stf_error(m, stf_writer_error(m->w));
	}
	return tkm_fail(m->err, TKM_ERR_NOMEM, "merge: out of memory for the definitions");
}
