/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the definitions of an OTF2 archive. They are written after the events, when it is known which
 * definitions are used. */
#include "config.h"
#include "exchange/otf2/otf2.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct defs {
	struct xch_writer *w;
	struct xch_trace *t;
	struct xch_otf2_state *s;
	OTF2_GlobalDefWriter *g;
	OTF2_StringRef strings; /* the next string; 0 is the empty one */
	const char **host;      /* sorted; NULL last: unknown */
	uint32_t n_hosts;
	OTF2_ErrorCode code; /* the first code that is not success */
};

uint64_t xch_otf2_time(const struct xch_otf2_state *s, const struct xch_trace *t, uint64_t time)
{
	return s->mul == 1 ? time : s->mul ? time * s->mul : (uint64_t)xch_ns(t, time);
}

OTF2_Type xch_otf2_type(const struct xch_counter *c)
{
	return c->type == STF_COUNTER_F8    ? OTF2_TYPE_DOUBLE
		: c->type == STF_COUNTER_I8 ? OTF2_TYPE_INT64
					    : OTF2_TYPE_UINT64;
}

/* Keeps the first failure. Further calls after a failure are harmless. */
static void keep_error(struct defs *d, OTF2_ErrorCode code)
{
	d->code = d->code == OTF2_SUCCESS ? code : d->code;
}

static OTF2_StringRef string(struct defs *d, const char *text)
{
	if (!text || !*text) {
		return 0;
	}
	keep_error(d, OTF2_GlobalDefWriter_WriteString(d->g, d->strings, text));
	return d->strings++;
}

/* ---- the clock ---- */

static void clock_properties(struct defs *d)
{
	struct xch_otf2_state *s = d->s;
	uint64_t min = s->min, max = s->max, start, end;

	if (d->t->start <= d->t->end) {
		start = xch_otf2_time(s, d->t, d->t->start);
		end = xch_otf2_time(s, d->t, d->t->end);
		min = start < min ? start : min;
		max = end > max ? end : max;
	}
	if (min > max) {
		min = max = 0;
	}
	keep_error(d,
		OTF2_GlobalDefWriter_WriteClockProperties(d->g, s->hz, min, max - min + 1, OTF2_UNDEFINED_TIMESTAMP));
}

/* The stamps are already corrected, so the offsets are 0. The deviation is the bound of the stamps, in ticks like
 * the offset. */
static void clock_offsets(struct defs *d)
{
	const struct xch_bound *b;
	OTF2_DefWriter *def;
	size_t i, k, n;

	keep_error(d, OTF2_Archive_OpenDefFiles(d->s->archive));
	for (i = 0; i < d->t->n_places && d->code == OTF2_SUCCESS; i++) {
		if (!d->s->evt[i]) {
			continue;
		}
		def = OTF2_Archive_GetDefWriter(d->s->archive, i);
		b = d->t->place[i].is_group ? NULL : xch_bounds(d->t, d->t->place[i].process, &n);
		for (k = 0; def && b && k < n; k++) {
			if (!isnan(b[k].seconds)) {
				keep_error(d,
					OTF2_DefWriter_WriteClockOffset(def, xch_otf2_time(d->s, d->t, b[k].from), 0,
						b[k].seconds * (double)d->s->hz));
			}
		}
		keep_error(d, def ? OTF2_Archive_CloseDefWriter(d->s->archive, def) : OTF2_ERROR_INVALID);
	}
	keep_error(d, OTF2_Archive_CloseDefFiles(d->s->archive));
}

/* ---- machine, processes, threads ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static uint32_t host_of(const struct defs *d, const struct xch_place *p)
{
	const char *name = p->host ? p->host : "";
	const char **found = bsearch(&name, d->host, d->n_hosts, sizeof(*d->host), by_text);

	return found ? (uint32_t)(found - d->host) : 0;
}

static int hosts(struct defs *d)
{
	OTF2_StringRef cls;
	uint32_t i, n = 0;

	d->host = malloc((d->t->n_places + 1) * sizeof(*d->host));
	if (!d->host) {
		return -1;
	}
	d->host[d->n_hosts] = "";
	d->n_hosts += d->s->n_threads == 0;
	for (i = 0; i < d->s->n_threads; i++) {
		d->host[d->n_hosts++] = d->t->place[i].host ? d->t->place[i].host : "";
	}
	qsort(d->host, d->n_hosts, sizeof(*d->host), by_text);
	for (i = 0; i < d->n_hosts; i++) {
		if (!i || strcmp(d->host[i], d->host[n - 1]) != 0) {
			d->host[n++] = d->host[i];
		}
	}
	d->n_hosts = n;
	keep_error(d,
		OTF2_GlobalDefWriter_WriteSystemTreeNode(
			d->g, 0, string(d, "machine"), string(d, "machine"), OTF2_UNDEFINED_SYSTEM_TREE_NODE));
	cls = string(d, "node");
	for (i = 0; i < n; i++) {
		keep_error(d,
			OTF2_GlobalDefWriter_WriteSystemTreeNode(
				d->g, i + 1, string(d, *d->host[i] ? d->host[i] : "unknown"), cls, 0));
		keep_error(d,
			OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(
				d->g, i + 1, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY));
	}
	return 0;
}

static void property(struct defs *d, size_t location, OTF2_StringRef name, OTF2_Type type, OTF2_AttributeValue v)
{
	keep_error(d, OTF2_GlobalDefWriter_WriteLocationProperty(d->g, location, name, type, v));
}

static void properties(struct defs *d)
{
	OTF2_StringRef pid = string(d, "tickmark::pid"), tid = string(d, "tickmark::tid"),
		       offset = string(d, "tickmark::offset"), skew = string(d, "tickmark::skew"),
		       name = string(d, "tickmark::name");
	OTF2_AttributeValue v;
	uint32_t i;

	for (i = 0; i < d->s->n_threads; i++) {
		const struct xch_place *p = &d->t->place[i];

		if (p->skew != 0) {
			v.uint32 = p->pid;
			property(d, i, pid, OTF2_TYPE_UINT32, v);
			v.uint64 = p->tid;
			property(d, i, tid, OTF2_TYPE_UINT64, v);
			v.float64 = p->offset;
			property(d, i, offset, OTF2_TYPE_DOUBLE, v);
			v.float64 = p->skew;
			property(d, i, skew, OTF2_TYPE_DOUBLE, v);
		}
		if (p->name) {
			v.stringRef = string(d, p->name);
			property(d, i, name, OTF2_TYPE_STRING, v);
		}
	}
}

/* A group's counters belong to the first process of its node, or to the first process of all. */
static uint32_t recorder_of(const struct defs *d, const struct xch_place *group)
{
	uint32_t i;

	for (i = 0; group->host && i < d->s->n_threads; i++) {
		if (d->t->place[i].host && !strcmp(d->t->place[i].host, group->host)) {
			return d->t->place[i].process;
		}
	}
	return 0;
}

/* The thread's name, unless its process already has the same name. ViTE uses NAME_NUMBER as the name of both, and
 * stops if both are equal. tickmark::name has the true name. */
static const char *location_name(const struct xch_place *p, const char *number)
{
	const char *process = p->is_group ? NULL : p[-(ptrdiff_t)p->thread].name;

	return p->name && !(process && !strcmp(process, p->name)) ? p->name : number;
}

static void locations(struct defs *d)
{
	const struct xch_place *p;
	char text[80];
	uint64_t n;
	size_t i;

	for (i = 0; i < d->s->n_threads; i++) {
		p = &d->t->place[i];
		if (p->thread == 0) {
			snprintf(text, sizeof(text), "Process %u", p->process);
			keep_error(d,
				OTF2_GlobalDefWriter_WriteLocationGroup(d->g, p->process,
					string(d, p->name ? p->name : text), OTF2_LOCATION_GROUP_TYPE_PROCESS,
					host_of(d, p) + 1, OTF2_UNDEFINED_LOCATION_GROUP));
		}
	}
	for (i = 0; i < d->t->n_places; i++) {
		p = &d->t->place[i];
		if (!d->s->evt[i]) {
			continue;
		}
		n = 0;
		keep_error(d, OTF2_EvtWriter_GetNumberOfEvents(d->s->evt[i], &n));
		snprintf(text, sizeof(text), "%s %u", p->is_group ? "group" : "thread",
			p->is_group ? p->willy & 0x7fffffffu : p->thread);
		keep_error(d,
			OTF2_GlobalDefWriter_WriteLocation(d->g, i, string(d, location_name(p, text)),
				p->is_group ? OTF2_LOCATION_TYPE_METRIC : OTF2_LOCATION_TYPE_CPU_THREAD, n,
				p->is_group ? recorder_of(d, p) : p->process));
	}
}

/* ---- counters ---- */

static OTF2_MetricMode mode_of(const struct xch_counter *c)
{
	switch (c->scope) {
	case STF_COUNTER_BEFORE:
		return c->total ? OTF2_METRIC_ACCUMULATED_LAST : OTF2_METRIC_ABSOLUTE_LAST;
	case STF_COUNTER_AFTER:
		return c->total ? OTF2_METRIC_ACCUMULATED_NEXT : OTF2_METRIC_ABSOLUTE_NEXT;
	case STF_COUNTER_POINT:
		return c->total ? OTF2_METRIC_ACCUMULATED_POINT : OTF2_METRIC_ABSOLUTE_POINT;
	default: /* distinguished from the previous case by its description */
		return c->total ? OTF2_METRIC_ACCUMULATED_START : OTF2_METRIC_ABSOLUTE_POINT;
	}
}

static void metric_members(struct defs *d)
{
	OTF2_StringRef sample = string(d, "sample");
	uint32_t i;

	for (i = 0; i < d->t->n_counters; i++) {
		const struct xch_counter *c = &d->t->counter[i];

		keep_error(d,
			OTF2_GlobalDefWriter_WriteMetricMember(d->g, i, string(d, c->name),
				c->scope == STF_COUNTER_SAMPLE ? sample : 0, OTF2_METRIC_TYPE_OTHER, mode_of(c),
				xch_otf2_type(c), OTF2_BASE_DECIMAL, 0, string(d, c->unit)));
	}
}

static void metric_class(struct defs *d, const struct xch_otf2_class *c)
{
	OTF2_MetricMemberRef member[UINT8_MAX];
	uint32_t k;

	for (k = 0; k < c->n; k++) {
		member[k] = c->counter[k]->index;
	}
	keep_error(d,
		OTF2_GlobalDefWriter_WriteMetricClass(
			d->g, c->ref, (uint8_t)c->n, member, OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_ABSTRACT));
}

static void metric_instance(struct defs *d, const struct xch_otf2_instance *m)
{
	const struct xch_place *p = &d->t->place[m->place];
	int node = p->host && p->name && !strcmp(p->host, p->name);

	keep_error(d,
		OTF2_GlobalDefWriter_WriteMetricInstance(d->g, m->ref, m->of, m->place,
			node ? OTF2_SCOPE_SYSTEM_TREE_NODE : OTF2_SCOPE_GROUP,
			node ? host_of(d, p) + 1 : d->t->n_communicators + 2 + m->place - d->s->n_threads));
}

/* Classes and instances share one range of numbers, and readers need them in the order of their numbers. */
static void metrics(struct defs *d)
{
	uint32_t i = 0, k = 0;

	metric_members(d);
	while (i < d->s->n_classes || k < d->s->n_instances) {
		if (k == d->s->n_instances || (i < d->s->n_classes && d->s->cls[i].ref < d->s->instance[k].ref)) {
			metric_class(d, &d->s->cls[i++]);
		} else {
			metric_instance(d, &d->s->instance[k++]);
		}
	}
}

/* ---- functions, groups, communicators ---- */

static void regions(struct defs *d)
{
	OTF2_StringRef name;
	const struct xch_list *l = &d->t->names[XCH_FUNCTIONS];
	size_t i;

	for (i = 0; i < l->n; i++) {
		const struct xch_named *f = &l->v[i];
		int mpi = !strncmp(f->cls, "MPI", 3) && (!f->cls[3] || f->cls[3] == ':');

		name = string(d, f->name);
		keep_error(d,
			OTF2_GlobalDefWriter_WriteRegion(d->g, (OTF2_RegionRef)i, name, name, string(d, f->cls),
				OTF2_REGION_ROLE_FUNCTION, mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER,
				OTF2_REGION_FLAG_NONE, 0, 0, 0));
	}
}

/* Lists the threads of a group, including those of groups in it. With out NULL, only counts them. */
static uint32_t members(const struct xch_trace *t, uint32_t willy, uint64_t *out, int depth)
{
	const struct stf_record *rec = stf_reader_find(t->r, STF_ID_group_definition, willy & 0x7fffffffu);
	const struct xch_place *p;
	struct stf_group_definition g;
	uint32_t i, n = 0;

	if (!rec || stf_get_group_definition(rec, &g) < 0) {
		return 0;
	}
	for (i = 0; i < g.size_2_1; i++) {
		if (stf_willy_is_group(g.willies[i])) {
			n += depth < 4 ? members(t, g.willies[i], out ? out + n : NULL, depth + 1) : 0;
		} else if ((p = xch_place(t, g.willies[i]))) {
			if (out) {
				out[n] = p->index;
			}
			n++;
		}
	}
	return n;
}

/* Group 0 has all threads; members of communicators are indices into it. Group 1 + i belongs to communicator i,
 * and group 1 + n to the communicator of all threads. The groups of the trace begin at 2 + n. */
static int groups(struct defs *d)
{
	struct xch_trace *t = d->t;
	size_t n = t->n_communicators, i;
	uint64_t *all, *some;
	uint32_t k, count;

	all = calloc(d->s->n_threads + 1, sizeof(*all));
	for (i = 0; all && i < d->s->n_threads; i++) {
		all[i] = i;
	}
	if (!all) {
		return -1;
	}
	keep_error(d,
		OTF2_GlobalDefWriter_WriteGroup(d->g, 0, string(d, "threads"), OTF2_GROUP_TYPE_COMM_LOCATIONS,
			OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, d->s->n_threads, all));
	for (i = 0; i <= n; i++) {
		const struct xch_communicator *c = i < n ? &t->communicator[i] : NULL;

		some = c ? calloc(c->n + 1, sizeof(*some)) : NULL;
		for (k = count = 0; some && k < c->n; k++) {
			const struct xch_place *p = xch_place(t, c->members[k]);

			some[count++] = p && !p->is_group ? p->index : 0;
		}
		keep_error(d,
			OTF2_GlobalDefWriter_WriteGroup(d->g, (OTF2_GroupRef)i + 1, string(d, c ? c->name : "all"),
				OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
				c ? count : d->s->n_threads, c ? some : all));
		free(some);
		if (c || d->s->all_used) {
			keep_error(d,
				OTF2_GlobalDefWriter_WriteComm(d->g, (OTF2_CommRef)i,
					string(d, c ? c->name : "all threads"), (OTF2_GroupRef)i + 1,
					OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
		}
	}
	for (i = d->s->n_threads; i < t->n_places; i++) {
		count = members(t, t->place[i].willy, NULL, 0);
		some = calloc(count + 1, sizeof(*some));
		if (!some) {
			break;
		}
		members(t, t->place[i].willy, some, 0);
		keep_error(d,
			OTF2_GlobalDefWriter_WriteGroup(d->g, (OTF2_GroupRef)(n + 2 + i - d->s->n_threads),
				string(d, t->place[i].name), OTF2_GROUP_TYPE_LOCATIONS, OTF2_PARADIGM_NONE,
				OTF2_GROUP_FLAG_NONE, count, some));
		free(some);
	}
	free(all);
	return i == t->n_places ? 0 : -1;
}

/* Source locations, before all other strings. */
static void sources(struct defs *d)
{
	const struct xch_list *l = &d->t->names[XCH_SOURCES];
	struct stf_scl_definition scl;
	size_t i;

	for (i = 0; i < l->n; i++) {
		keep_error(d, OTF2_GlobalDefWriter_WriteString(d->g, d->strings++, l->v[i].name));
	}
	for (i = 0; i < l->n; i++) {
		stf_get_scl_definition(stf_reader_record(d->t->r, STF_ID_scl_definition, i), &scl);
		keep_error(d,
			OTF2_GlobalDefWriter_WriteSourceCodeLocation(d->g, (OTF2_SourceCodeLocationRef)i,
				string(d,
					scl.size_1_4 ? stf_reader_name(d->t->r, STF_ID_file_definition, scl.file[0])
						     : ""),
				scl.size_1_4 ? scl.line[0] : 0));
	}
	if (l->n) {
		keep_error(d,
			OTF2_GlobalDefWriter_WriteAttribute(d->g, OTF2_AT_SOURCE, string(d, "source location"),
				string(d, "file and line"), OTF2_TYPE_SOURCE_CODE_LOCATION));
		keep_error(d,
			OTF2_GlobalDefWriter_WriteAttribute(d->g, OTF2_AT_STACK, string(d, "location"),
				string(d, "call stack, the innermost frame first"), OTF2_TYPE_STRING));
	}
	if (d->s->at_least) {
		keep_error(d,
			OTF2_GlobalDefWriter_WriteAttribute(d->g, xch_otf2_at_least(d->t), string(d, "bytes at least"),
				string(d, "a size of this event is at least so many bytes"), OTF2_TYPE_UINT32));
	}
}

static void files(struct defs *d)
{
	OTF2_StringRef name;
	const struct xch_list *l = &d->t->names[XCH_FILES];
	size_t i;

	if (l->n) {
		keep_error(d,
			OTF2_GlobalDefWriter_WriteIoParadigm(d->g, 0, string(d, "POSIX"), string(d, "POSIX I/O"),
				OTF2_IO_PARADIGM_CLASS_SERIAL, OTF2_IO_PARADIGM_FLAG_OS, 0, NULL, NULL, NULL));
	}
	for (i = 0; i < l->n; i++) {
		name = string(d, l->v[i].name);
		keep_error(d, OTF2_GlobalDefWriter_WriteIoRegularFile(d->g, (OTF2_IoFileRef)i, name, 0));
		keep_error(d,
			OTF2_GlobalDefWriter_WriteIoHandle(d->g, (OTF2_IoHandleRef)i, name, (OTF2_IoFileRef)i, 0,
				OTF2_IO_HANDLE_FLAG_PRE_CREATED, OTF2_UNDEFINED_COMM, OTF2_UNDEFINED_IO_HANDLE));
		keep_error(d,
			OTF2_GlobalDefWriter_WriteIoPreCreatedHandleState(
				d->g, (OTF2_IoHandleRef)i, OTF2_IO_ACCESS_MODE_READ_WRITE, OTF2_IO_STATUS_FLAG_NONE));
	}
}

/* ---- properties of the archive ---- */

static void set(struct defs *d, const char *name, const char *text)
{
	keep_error(d, OTF2_Archive_SetProperty(d->s->archive, name, text, true));
}

static void infos(struct defs *d)
{
	const char *cls, *text;
	char name[60], *line;
	unsigned n = 0;
	size_t i = 0;

	snprintf(name, sizeof(name), "%.17g", d->t->resolution);
	set(d, "TICKMARK::RESOLUTION", name);
	snprintf(name, sizeof(name), "%" PRIu32, d->t->eventbits);
	set(d, "TICKMARK::EVENTBITS", name);
	if (!isnan(d->t->worst_bound)) {
		snprintf(name, sizeof(name), "%.17g", d->t->worst_bound);
		set(d, "TICKMARK::CLOCK_BOUND", name);
	}
	while (xch_next_info(d->t, &i, &cls, &text)) {
		if (asprintf(&line, "%s: %s", cls, text) >= 0) {
			snprintf(name, sizeof(name), "TICKMARK::INFO_%06u", n++);
			set(d, name, line);
			free(line);
		}
	}
}

/* ---- all of it ---- */

static int write_all(struct defs *d)
{
	int rc = 0;

	keep_error(d, OTF2_Archive_SetCreator(d->s->archive, PACKAGE_STRING));
	infos(d);
	clock_properties(d);
	keep_error(d, OTF2_GlobalDefWriter_WriteString(d->g, 0, ""));
	sources(d);
	keep_error(d,
		OTF2_GlobalDefWriter_WriteParadigm(
			d->g, OTF2_PARADIGM_MPI, string(d, "MPI"), OTF2_PARADIGM_CLASS_PROCESS));
	rc = hosts(d);
	if (rc == 0) {
		locations(d);
		properties(d);
		regions(d);
		rc = groups(d);
		metrics(d);
		files(d);
	}
	free(d->host);
	return rc;
}

int xch_otf2_definitions(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	struct defs d = { .w = w, .t = t, .s = w->state, .strings = 1 };
	size_t i;

	d.g = OTF2_Archive_GetGlobalDefWriter(d.s->archive);
	if (!d.g) {
		return xch_otf2_fail(err, &d.s->errors, w->target, "cannot write definitions", OTF2_SUCCESS);
	}
	if (write_all(&d) < 0) {
		return xch_fail_memory(err, w->target);
	}
	for (i = 0; i < t->n_places; i++) {
		if (d.s->evt[i]) {
			keep_error(&d, OTF2_Archive_CloseEvtWriter(d.s->archive, d.s->evt[i]));
		}
	}
	keep_error(&d, OTF2_Archive_CloseEvtFiles(d.s->archive));
	/* only the writers of the locations know which locations have events, so these definitions are written
	 * last */
	clock_offsets(&d);
	keep_error(&d, OTF2_Archive_CloseGlobalDefWriter(d.s->archive, d.g));
	return d.code == OTF2_SUCCESS ? 0
				      : xch_otf2_fail(err, &d.s->errors, w->target, "cannot write definitions", d.code);
}
