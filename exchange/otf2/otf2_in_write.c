/* SPDX-License-Identifier: BSD-3-Clause */
/* The declarations of an STF trace from the definitions of an OTF2 archive. */
#include "config.h"
#include "exchange/otf2/otf2_in.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_PROCESSES = 1 << 16, MAX_THREADS = 1 << 15, FIRST_GROUP = 1 };

/* The id of a text in the trace. */
static uint32_t text(struct xch_otf2_in *o, const char *s)
{
	return stf_writer_string(o->in->w, s);
}

/* ---- processes and threads ---- */

/* The name of the nearest node that is a computer, or else of the process's own. */
static const char *host_of(const struct xch_otf2_in *o, const struct in_process *p)
{
	const struct in_node *own = xch_otf2_in_node(o, p->node), *n = own;
	uint32_t depth;

	for (depth = 0; n && depth < o->nodes.n; depth++, n = xch_otf2_in_node(o, n->parent)) {
		if (!strcasecmp(xch_otf2_in_text(o, n->cls), "node")) {
			return xch_otf2_in_text(o, n->name);
		}
	}
	return own ? xch_otf2_in_text(o, own->name) : "";
}

/* Numbers all threads. A process that has no real thread, but only metrics, gets none. The streams of an accelerator are
 * threads of the process that uses it, after its own. */
static int number(struct xch_otf2_in *o)
{
	struct in_location *l = o->locations.v;
	struct in_process *all = o->processes.v, *p;
	uint32_t i, n = 0;
	int streams;

	xch_otf2_in_owners(o);

	for (i = 0; i < o->locations.n; i++) {
		p = xch_otf2_in_process(o, l[i].group_ref);
		if (!p) {
			return xch_otf2_damaged(o, ".def",
				xch_otf2_record_at(o, ".def", OTF2_ARCHIVE_DEFINITIONS, OTF2_LOCATION, l[i].nth),
				"location %" PRIu64 " is of no location group", l[i].ref);
		}
		l[i].group = (uint32_t)(p - all);
		p = p->owner ? p->owner : p;
		l[i].process = (uint32_t)(p - all);
		if (!l[i].metric && p->threads++ == 0) {
			p->number = n++;
		}
		if (n > MAX_PROCESSES || p->threads > MAX_THREADS) {
			return tkm_fail(o->err, TKM_ERR_FORMAT,
				"%s: more than %d processes, or %d threads of one: STF cannot number them", o->in->path,
				MAX_PROCESSES, MAX_THREADS);
		}
	}
	for (i = 0; i < o->processes.n; i++) {
		all[i].threads = 0;
	}
	for (streams = 0; streams < 2; streams++) {
		for (i = 0; i < o->locations.n; i++) {
			p = &all[l[i].process];
			if (l[i].metric) {
				l[i].willy = STF_GROUP(0);
			} else if ((l[i].group != l[i].process) == streams) {
				l[i].willy = STF_WILLY(p->number, p->threads++);
			}
		}
	}
	return 0;
}

static int write_processes(struct xch_otf2_in *o)
{
	struct in_process *p = o->processes.v;
	struct in_location *l = o->locations.v;
	uint32_t *threads = calloc((size_t)o->processes.n + 1, sizeof(*threads)), n = 0, i;
	const char *name, *host;
	int rc;

	for (i = 0; threads && i < o->processes.n; i++) {
		if (p[i].threads) {
			threads[p[i].number] = p[i].threads;
			n++;
		}
	}
	rc = threads ? stf_writer_processes(o->in->w, threads, n) : -1;
	free(threads);
	for (i = 0; rc == 0 && i < o->locations.n; i++) {
		if (l[i].metric) {
			continue;
		}
		host = host_of(o, &p[l[i].process]);
		host = o->ours && !strcmp(host, "unknown") ? "" : host;
		if (!o->ours || l[i].defined) {
			rc = stf_writer_willy(o->in->w, l[i].willy, host, "", l[i].pid, l[i].tid, l[i].offset,
				l[i].defined ? l[i].skew : 1);
		}
		name = l[i].own_name != XCH_NONE            ? xch_otf2_in_text(o, l[i].own_name)
			: o->ours                           ? ""
			: stf_willy_thread(l[i].willy) == 0 ? xch_otf2_in_text(o, p[l[i].process].name)
							    : xch_otf2_in_text(o, l[i].name);
		o->lost.names += !o->ours && *xch_otf2_in_text(o, l[i].name) &&
			strcmp(name, xch_otf2_in_text(o, l[i].name)) != 0;
		if (rc == 0 && *name) {
			rc = stf_writer_willy_name(o->in->w, l[i].willy, name);
		}
	}
	return rc;
}

/* ---- groups ---- */

static int write_group(struct xch_otf2_in *o, uint32_t id, const char *name, uint32_t *willies, uint32_t n)
{
	struct stf_group_definition d = {
		.id = id, .size_1_1 = (uint32_t)strlen(name), .name = name, .size_2_1 = n, .willies = willies
	};

	return stf_write_group_definition(o->in->w, &d);
}

/* Is the location in the scope of a metric? */
static int in_scope(const struct xch_otf2_in *o, const struct in_location *l, OTF2_MetricScope kind, uint64_t scope)
{
	const struct in_process *p = &((struct in_process *)o->processes.v)[l->group],
				*owner = &((struct in_process *)o->processes.v)[l->process];

	return kind == OTF2_SCOPE_LOCATION_GROUP ? p->ref == scope || owner->ref == scope
						 : xch_otf2_in_below(o, p->node, (uint32_t)scope);
}

static const char *scope_name(const struct xch_otf2_in *o, const struct in_metric *m)
{
	const struct in_process *p =
		m->scope_kind == OTF2_SCOPE_LOCATION_GROUP ? xch_otf2_in_process(o, m->scope) : NULL;
	const struct in_node *n = m->scope_kind == OTF2_SCOPE_SYSTEM_TREE_NODE ? xch_otf2_in_node(o, m->scope) : NULL;

	return p ? xch_otf2_in_text(o, p->name) : n ? xch_otf2_in_text(o, n->name) : "";
}

/* Writes the group of all threads in a scope. Accelerators of several processes may have the same name; the name of the
 * process distinguishes them. */
static int write_scope(struct xch_otf2_in *o, struct in_metric *m, uint32_t *willies)
{
	const struct in_metric *all = o->metrics.v;
	const struct in_location *l = o->locations.v;
	const struct in_process *p =
		m->scope_kind == OTF2_SCOPE_LOCATION_GROUP ? xch_otf2_in_process(o, m->scope) : NULL;
	const char *name = scope_name(o, m);
	char full[1024];
	uint32_t i, n = 0, same = 0;

	for (i = 0; i < o->metrics.n; i++) {
		same |= all[i].of != XCH_NONE && all[i].scope_kind == m->scope_kind && all[i].scope != m->scope &&
			!strcmp(scope_name(o, &all[i]), name);
	}
	for (i = 0; i < o->locations.n; i++) {
		if (!l[i].metric && in_scope(o, &l[i], m->scope_kind, m->scope)) {
			willies[n++] = l[i].willy;
		}
	}
	if (same && p && p->owner && p->owner != p) {
		snprintf(full, sizeof(full), "%.500s: %.500s", xch_otf2_in_text(o, p->owner->name), name);
		name = full;
	}
	m->willy = STF_GROUP(o->next_group);
	return write_group(o, o->next_group++, name, willies, n);
}

/* Finds what the values of each metric instance belong to: the location, or a group of the threads in its scope. */
static int write_scopes(struct xch_otf2_in *o, uint32_t *willies)
{
	struct in_metric *m = o->metrics.v;
	const struct in_group *g = o->groups.v;
	const struct in_location *l;
	uint32_t i, k;
	int rc = 0;

	for (i = 0; rc == 0 && i < o->metrics.n; i++) {
		if (m[i].of == XCH_NONE || (m[i].scope_kind == OTF2_SCOPE_LOCATION && m[i].scope == m[i].recorder)) {
			continue;
		}
		for (k = 0; k < i &&
			(m[k].of == XCH_NONE || m[k].scope_kind != m[i].scope_kind || m[k].scope != m[i].scope);
			k++) {
		}
		if (k < i) {
			m[i].willy = m[k].willy;
		} else if (m[i].scope_kind == OTF2_SCOPE_LOCATION) {
			l = xch_otf2_in_location(o, m[i].scope);
			m[i].willy = l && !l->metric ? l->willy : 0;
		} else if (m[i].scope_kind == OTF2_SCOPE_GROUP) {
			for (k = 0; k < o->groups.n && (g[k].ref != m[i].scope || !g[k].id); k++) {
			}
			m[i].willy = k < o->groups.n ? STF_GROUP(g[k].id) : 0;
		} else if (*scope_name(o, &m[i])) {
			rc = write_scope(o, &m[i], willies);
		}
	}
	return rc;
}

int xch_otf2_in_own_group(struct xch_otf2_in *o, struct in_location *l)
{
	const struct in_location *all = o->locations.v;
	const struct in_group *g = o->groups.v;
	const char *name = xch_otf2_in_text(o, l->name);
	uint32_t *willies, i, n = 0;
	int rc;

	name = *name ? name : xch_otf2_in_text(o, ((struct in_process *)o->processes.v)[l->group].name);
	for (i = 0; i < o->groups.n; i++) {
		if (g[i].id && !strcmp(xch_otf2_in_text(o, g[i].name), name)) {
			l->willy = STF_GROUP(g[i].id);
			return 0;
		}
	}
	willies = calloc((size_t)o->locations.n + 1, sizeof(*willies));
	for (i = 0; willies && i < o->locations.n; i++) {
		if (!all[i].metric && all[i].group == l->group) {
			willies[n++] = all[i].willy;
		}
	}
	if (!willies) {
		return xch_fail_memory(o->err, o->in->path);
	}
	l->willy = STF_GROUP(o->next_group);
	rc = write_group(o, o->next_group++, name, willies, n);
	free(willies);
	return rc < 0 ? xch_input_stf(o->in, o->err) : 0;
}

/* Writes groups of locations and the scopes of metrics. */
static int write_groups(struct xch_otf2_in *o)
{
	struct in_group *g = o->groups.v;
	const struct in_location *m;
	uint32_t *willies = calloc((size_t)o->locations.n + 1, sizeof(*willies)), i, k, n;
	int rc = willies ? 0 : -1;

	o->next_group = FIRST_GROUP;
	for (i = 0; rc == 0 && i < o->groups.n; i++) {
		for (k = n = 0; g[i].type == OTF2_GROUP_TYPE_LOCATIONS && k < g[i].n && n < o->locations.n; k++) {
			m = xch_otf2_in_location(o, g[i].member[k]);
			if (m && !m->metric) {
				willies[n++] = m->willy;
			}
		}
		if (g[i].type == OTF2_GROUP_TYPE_LOCATIONS) {
			g[i].id = o->next_group++;
			rc = write_group(o, g[i].id, xch_otf2_in_text(o, g[i].name), willies, n);
		}
	}
	/* of an archive of ours the names of locations say it */
	rc = rc == 0 && !o->ours ? write_scopes(o, willies) : rc;
	free(willies);
	return rc;
}

/* ---- communicators ---- */

/* EZTrace gives the same number to a group of another type, too. */
static const struct in_group *group_of(const struct xch_otf2_in *o, uint32_t ref)
{
	const struct in_group *g = o->groups.v;
	uint32_t i;

	for (i = 0; i < o->groups.n; i++) {
		if (g[i].ref == ref && g[i].type == OTF2_GROUP_TYPE_COMM_GROUP) {
			return &g[i];
		}
	}
	return NULL;
}

/* The locations to which the member numbers of communicators of this paradigm refer. */
static const struct in_group *base_of(const struct xch_otf2_in *o, OTF2_Paradigm paradigm)
{
	const struct in_group *g = o->groups.v;
	uint32_t i;

	for (i = 0; i < o->groups.n; i++) {
		if (g[i].type == OTF2_GROUP_TYPE_COMM_LOCATIONS && g[i].paradigm == paradigm) {
			return &g[i];
		}
	}
	return NULL;
}

static int find_members(struct xch_otf2_in *o, struct in_comm *c)
{
	const struct in_group *g = group_of(o, c->group), *base = g ? base_of(o, g->paradigm) : NULL;
	const struct in_location *l;
	uint32_t i;

	c->willy = calloc(g ? (size_t)g->n + 1 : 1, sizeof(*c->willy));
	c->count = calloc(g ? (size_t)g->n + 1 : 1, sizeof(*c->count));
	if (!c->willy || !c->count) {
		return -1;
	}
	for (i = 0; g && base && i < g->n; i++) {
		l = g->member[i] < base->n ? xch_otf2_in_location(o, base->member[g->member[i]]) : NULL;
		if (!l) {
			c->n = 0;
			return 0; /* cannot be interpreted: the events that use it are counted */
		}
		c->willy[c->n++] = l->willy;
	}
	return 0;
}

static int write_communicators(struct xch_otf2_in *o)
{
	struct in_comm *c = o->comms.v;
	uint32_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < o->comms.n; i++) {
		c[i].id = i + 1;
		rc = find_members(o, &c[i]) < 0
			? -1
			: xch_build_communicator(o->b, c[i].id, xch_otf2_in_text(o, c[i].name), c[i].willy, c[i].n);
	}
	return rc;
}

/* Puts and gets have communicators of their own, of this name. By it the analysis knows that their target does not wait for them
 * (stf/analysis/arrivals.c). */
static int write_windows(struct xch_otf2_in *o)
{
	struct in_window *w = o->windows.v;
	const struct in_comm *c;
	uint32_t i, k;
	int rc = 0;

	for (i = 0; rc == 0 && i < o->windows.n; i++) {
		w[i].id = o->comms.n + i + 1;
		k = xch_map_find(&o->comm_of, w[i].comm);
		if (k != XCH_NONE) {
			c = &((const struct in_comm *)o->comms.v)[k];
			rc = xch_build_communicator(o->b, w[i].id, "puts and gets", c->willy, c->n);
		}
	}
	return rc;
}

/* ---- functions, counters, files ---- */

/* "MPI:P2P": makes a class within another one, once. Returns its id, 0: none. */
static uint32_t class_of(struct xch_otf2_in *o, const char *name, size_t n)
{
	uint32_t id = 0;
	char *part;
	size_t k;

	for (k = 1; k <= n; k++) {
		if (k == n || name[k] == ':') {
			part = strndup(name, k);
			id = part ? xch_build_class(o->b, part, id) : 0;
			free(part);
		}
	}
	return id;
}

static int write_functions(struct xch_otf2_in *o)
{
	const struct in_region *r = o->regions.v;
	const char *cls;
	uint32_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < o->regions.n; i++) {
		struct stf_function_definition d = { .id = i + 1, .name = text(o, xch_otf2_in_text(o, r[i].name)) };

		cls = o->ours                                   ? xch_otf2_in_text(o, r[i].description)
			: r[i].paradigm == OTF2_PARADIGM_MPI    ? "MPI"
			: r[i].paradigm == OTF2_PARADIGM_OPENMP ? "OpenMP"
								: "Application";
		d.classid = class_of(o, cls, strlen(cls));
		rc = stf_write_function_definition(o->in->w, &d);
	}
	return rc;
}

static unsigned type_of(const struct xch_otf2_in *o, const struct in_member *m)
{
	unsigned type = m->type == OTF2_TYPE_DOUBLE || m->type == OTF2_TYPE_FLOAT ? STF_COUNTER_F8
		: m->type == OTF2_TYPE_INT64                                      ? STF_COUNTER_I8
										  : STF_COUNTER_U8;

	switch (m->mode) {
	case OTF2_METRIC_ACCUMULATED_LAST:
	case OTF2_METRIC_ABSOLUTE_LAST:
	case OTF2_METRIC_RELATIVE_LAST:
		return type | STF_COUNTER_BEFORE;
	case OTF2_METRIC_ACCUMULATED_NEXT:
	case OTF2_METRIC_ABSOLUTE_NEXT:
	case OTF2_METRIC_RELATIVE_NEXT:
		return type | STF_COUNTER_AFTER;
	case OTF2_METRIC_ACCUMULATED_START:
		return type | STF_COUNTER_SAMPLE;
	default:
		return type |
			(o->ours && !strcmp(xch_otf2_in_text(o, m->description), "sample") ? STF_COUNTER_SAMPLE
											   : STF_COUNTER_POINT);
	}
}

static int write_counters(struct xch_otf2_in *o)
{
	const struct in_member *m = o->members.v;
	const char *name, *colon;
	char unit[300];
	uint32_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < o->members.n; i++) {
		struct stf_counter_definition d = { .id = i + 1,
			.type = (uint8_t)type_of(o, &m[i]),
			.do_diff = m[i].mode == OTF2_METRIC_ACCUMULATED_START ||
				m[i].mode == OTF2_METRIC_ACCUMULATED_LAST ||
				m[i].mode == OTF2_METRIC_ACCUMULATED_NEXT ||
				m[i].mode == OTF2_METRIC_ACCUMULATED_POINT };

		name = xch_otf2_in_text(o, m[i].name);
		colon = strrchr(name, ':');
		colon = o->ours ? colon : NULL;
		if (m[i].exponent) { /* the values are not changed */
			snprintf(unit, sizeof(unit), "%d^%" PRId64 " %s", m[i].base == OTF2_BASE_BINARY ? 2 : 10,
				m[i].exponent, xch_otf2_in_text(o, m[i].unit));
		} else {
			snprintf(unit, sizeof(unit), "%s", xch_otf2_in_text(o, m[i].unit));
		}
		d.name = text(o, colon ? colon + 1 : name);
		d.classid = colon ? class_of(o, name, (size_t)(colon - name)) : class_of(o, "metric", 6);
		d.size_1_1 = (uint32_t)strlen(unit);
		d.unit = unit;
		rc = stf_write_counter_definition(o->in->w, &d);
	}
	return rc;
}

static int write_files(struct xch_otf2_in *o)
{
	const struct in_file *f = o->handles.v;
	uint32_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < o->handles.n; i++) {
		struct stf_file_io_file_definition d = { .id = f[i].id,
			.name = text(o, xch_otf2_in_text(o, f[i].name)) };

		rc = stf_write_file_io_file_definition(o->in->w, &d);
	}
	return rc;
}

/* ---- the archive's properties ---- */

static void find_clock(struct xch_otf2_in *o)
{
	char *value = NULL;
	double step;

	o->resolution = 1 / (double)o->hz;
	o->divide = 1;
	if (OTF2_Reader_GetProperty(o->reader, "TICKMARK::RESOLUTION", &value) == OTF2_SUCCESS && value) {
		step = strtod(value, NULL) * (double)o->hz;
		if (step > 0.999 && step < 1e9 && fabs(step - nearbyint(step)) < 1e-6) {
			o->ours = 1;
			o->offset = 0;
			o->divide = (uint64_t)nearbyint(step);
			o->resolution = strtod(value, NULL);
		}
		free(value);
		value = NULL;
	}
	if (o->ours && OTF2_Reader_GetProperty(o->reader, "TICKMARK::EVENTBITS", &value) == OTF2_SUCCESS && value) {
		o->eventbits = (uint32_t)strtoul(value, NULL, 10) & 63;
		free(value);
	}
	o->errors.text[0] = 0; /* a missing property is not an error of the archive */
}

static int write_infos(struct xch_otf2_in *o)
{
	char name[60], *value, *colon;
	unsigned i;
	int rc = 0;

	for (i = 0; rc == 0 && o->ours; i++) {
		snprintf(name, sizeof(name), "TICKMARK::INFO_%06u", i);
		value = NULL;
		if (OTF2_Reader_GetProperty(o->reader, name, &value) != OTF2_SUCCESS || !value) {
			break;
		}
		colon = strstr(value, ": ");
		if (colon) {
			*colon = 0;
			rc = stf_writer_info(o->in->w, value, colon + 2);
		}
		free(value);
	}
	o->errors.text[0] = 0;
	if (rc == 0 && !o->ours) {
		snprintf(name, sizeof(name), "OTF2, %" PRIu64 " Hz, from %" PRIu64 " on", o->hz, o->offset);
		rc = stf_writer_info(o->in->w, "clock", name);
	}
	return rc;
}

int xch_otf2_in_write(struct xch_otf2_in *o)
{
	find_clock(o);
	if (number(o) < 0 || xch_input_begin(o->in, o->resolution, o->eventbits, o->err) < 0) {
		return -1;
	}
	if (write_processes(o) < 0 || write_groups(o) < 0 || write_communicators(o) < 0 || write_windows(o) < 0 ||
		write_functions(o) < 0 || write_counters(o) < 0 || write_files(o) < 0 || write_infos(o) < 0) {
		return stf_writer_error(o->in->w)->code == STF_OK ? xch_fail_memory(o->err, o->in->path)
								  : xch_input_stf(o->in, o->err);
	}
	return 0;
}
