/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the definitions of a trace into the form that the writers of formats need. */
#include "config.h"
#include "exchange/common/private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { MAX_DIRECT = 1 << 22 };

/* ---- ids ---- */

int xch_map_add(struct xch_map *m, uint32_t id, uint32_t index)
{
	uint32_t *at;

	if (id >= MAX_DIRECT) {
		at = tkm_table_put(&m->large, &id, sizeof(id), sizeof(index));
	} else if (TKM_GROW(m->direct, m->room, (size_t)id + 1) < 0) {
		return -1;
	} else {
		while (m->n <= id) {
			m->direct[m->n++] = XCH_NONE;
		}
		at = &m->direct[id];
	}
	if (at) {
		*at = index;
	}
	return at ? 0 : -1;
}

uint32_t xch_map_find(const struct xch_map *m, uint32_t id)
{
	const uint32_t *at = id < m->n ? &m->direct[id] : tkm_table_find(&m->large, &id, sizeof(id));

	return at ? *at : XCH_NONE;
}

void xch_map_free(struct xch_map *m)
{
	free(m->direct);
	tkm_table_free(&m->large);
}

struct xch_place *xch_place(const struct xch_trace *t, uint32_t willy)
{
	uint32_t k = stf_willy_process(willy), thread = stf_willy_thread(willy);

	if (stf_willy_is_group(willy)) {
		k = xch_map_find(&t->p->map[XCH_BY_GROUP], willy & 0x7fffffffu);
		return k == XCH_NONE ? NULL : &t->place[k];
	}
	if (k >= t->n_processes || thread >= t->p->process[k].threads) {
		return NULL;
	}
	return &t->place[t->p->process[k].first + thread];
}

struct xch_counter *xch_counter(const struct xch_trace *t, uint32_t id)
{
	uint32_t k = xch_map_find(&t->p->map[XCH_BY_COUNTER], id);

	return k == XCH_NONE ? NULL : &t->counter[k];
}

const struct xch_named *xch_named_by_id(const struct xch_trace *t, enum xch_names list, uint32_t id)
{
	uint32_t k = xch_map_find(&t->p->map[list], id);

	return k == XCH_NONE ? NULL : &t->names[list].v[k];
}

const struct xch_communicator *xch_communicator(const struct xch_trace *t, uint32_t id)
{
	uint32_t k = xch_map_find(&t->p->map[XCH_BY_COMMUNICATOR], id);

	return k == XCH_NONE ? NULL : &t->communicator[k];
}

/* ---- names ---- */

/* Owns a text made by asprintf() or strndup() until the trace is freed. */
static const char *keep_text(struct xch_trace *t, char *text)
{
	struct xch_private *p = t->p;
	char **q = text ? TKM_APPEND(p->text, p->n_text) : NULL;

	if (!q) {
		free(text);
		return NULL;
	}
	*q = text;
	return text;
}

static const char *class_name(const struct xch_trace *t, const struct stf_record *rec)
{
	const struct stf_value *v = stf_value(rec, "classid");
	const char *s = v && v->u ? stf_reader_name(t->r, STF_ID_class_definition, (uint32_t)v->u) : NULL;

	return s ? s : "";
}

/* The frames of a location; "?" is an unknown file. */
static const char *location_name(struct xch_trace *t, const struct stf_record *rec)
{
	struct stf_scl_definition d;
	const char *file, *symbol;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	unsigned i;

	stf_get_scl_definition(rec, &d);
	for (i = 0; f && i < d.size_1_4; i++) {
		file = stf_reader_name(t->r, STF_ID_file_definition, d.file[i]);
		symbol = stf_reader_string(t->r, d.symbol[i]);
		fprintf(f, "%s%s", i ? " < " : "", file && *file ? file : "?");
		if (d.line[i]) {
			fprintf(f, ":%" PRIu32, d.line[i]);
		}
		fprintf(f, "%s%s", symbol && *symbol ? " " : "", symbol ? symbol : "");
	}
	return f && fclose(f) == 0 ? keep_text(t, text) : NULL;
}

static int read_list(struct xch_trace *t, enum xch_names list)
{
	static const unsigned class_of[XCH_LISTS] = { STF_ID_function_definition, STF_ID_scope_definition,
		STF_ID_collective_operation_definition, STF_ID_file_io_file_definition, STF_ID_scl_definition };
	const unsigned class_id = class_of[list];
	size_t n = stf_reader_count(t->r, class_id), i;
	struct xch_list *l = &t->names[list];
	const struct stf_record *rec;
	const struct stf_value *type;
	struct xch_named *v;
	const char *name;

	l->v = calloc(n + 1, sizeof(*l->v));
	if (!l->v) {
		return -1;
	}
	for (i = 0; i < n; i++) {
		rec = stf_reader_record(t->r, class_id, i);
		v = &l->v[l->n];
		v->id = (uint32_t)stf_value(rec, "id")->u;
		name = list == XCH_SOURCES ? location_name(t, rec) : stf_reader_name(t->r, class_id, v->id);
		v->name = name ? name : "";
		v->cls = class_name(t, rec);
		type = class_id == STF_ID_collective_operation_definition ? stf_value(rec, "type") : NULL;
		v->type = type && type->u <= 4 ? (uint32_t)type->u : 0;
		v->index = (uint32_t)l->n;
		v->number = t->n_names++;
		if (xch_map_add(&t->p->map[list], v->id, (uint32_t)l->n++) < 0) {
			return -1;
		}
	}
	return 0;
}

static int read_counters(struct xch_trace *t)
{
	size_t n = stf_reader_count(t->r, STF_ID_counter_definition), i;
	const struct stf_record *rec;
	struct stf_counter_definition d;
	struct xch_counter *c;
	const char *cls, *name;
	char *text;

	t->counter = calloc(n + 1, sizeof(*t->counter));
	for (i = 0; t->counter && i < n; i++) {
		rec = stf_reader_record(t->r, STF_ID_counter_definition, i);
		stf_get_counter_definition(rec, &d);
		cls = class_name(t, rec);
		name = stf_reader_name(t->r, STF_ID_counter_definition, d.id);
		c = &t->counter[i];
		if (asprintf(&text, "%s%s%s", cls, *cls ? ":" : "", name ? name : "") < 0) {
			return -1;
		}
		c->name = keep_text(t, text);
		c->unit = keep_text(t, strndup(d.size_1_1 ? d.unit : "", d.size_1_1));
		c->id = d.id;
		c->type = d.type & 15;
		c->scope = d.type & 0xf0;
		c->total = d.do_diff != 0;
		c->willy = d.willy;
		c->lower = d.lower_bound;
		c->upper = d.upper_bound;
		c->index = (uint32_t)i;
		t->n_counters++;
		if (!c->name || !c->unit || xch_map_add(&t->p->map[XCH_BY_COUNTER], d.id, (uint32_t)i) < 0) {
			return -1;
		}
	}
	return t->counter ? 0 : -1;
}

/* ---- places ---- */

static void describe(struct xch_trace *t, struct xch_place *p, uint32_t willy)
{
	struct stf_willy_info w;

	p->willy = willy;
	p->index = (uint32_t)(p - t->place);
	p->first = UINT64_MAX;
	if (stf_reader_willy(t->r, willy, &w) == 0) {
		p->host = w.hostname && *w.hostname ? w.hostname : NULL;
		p->name = w.name;
		p->pid = w.pid;
		p->tid = w.tid;
		p->offset = w.offset;
		p->skew = w.defined ? w.skew : 0;
	}
}

/* The host that all threads of a group have in common. A member may itself be a group, declared before or after
 * it. */
static const char *host_of(struct xch_trace *t, const struct stf_group_definition *g, int depth)
{
	const struct stf_record *rec;
	struct stf_group_definition sub;
	const char *host = NULL, *h;
	const struct xch_place *p;
	uint32_t i;

	for (i = 0; i < g->size_2_1 && depth < 8; i++) {
		p = xch_place(t, g->willies[i]);
		h = p ? p->host : NULL;
		if (stf_willy_is_group(g->willies[i])) {
			rec = stf_reader_find(t->r, STF_ID_group_definition, g->willies[i] & 0x7fffffffu);
			h = rec && stf_get_group_definition(rec, &sub) == 0 ? host_of(t, &sub, depth + 1) : NULL;
		}
		if (!h || (host && strcmp(h, host) != 0)) {
			return NULL;
		}
		host = h;
	}
	return host;
}

static int read_places(struct xch_trace *t)
{
	const uint32_t *threads = stf_reader_processes(t->r, &t->n_processes);
	size_t n = stf_reader_count(t->r, STF_ID_group_definition), i;
	struct stf_group_definition g;
	struct xch_place *p;
	uint32_t k, j;

	t->p->process = calloc((size_t)t->n_processes + 1, sizeof(*t->p->process));
	for (k = 0; k < t->n_processes; k++) {
		n += threads[k];
	}
	t->place = calloc(n + 1, sizeof(*t->place));
	if (!t->p->process || !t->place) {
		return -1;
	}
	for (k = 0; k < t->n_processes; k++) {
		t->p->process[k].first = (uint32_t)t->n_places;
		t->p->process[k].threads = threads[k];
		for (j = 0; j < threads[k]; j++) {
			p = &t->place[t->n_places++];
			describe(t, p, STF_WILLY(k, j));
			p->process = k;
			p->thread = j;
			p->of = p - j;
			p->process_name = p->of->name;
			p->host = p->host ? p->host : p->of->host;
		}
	}
	for (i = 0; i < stf_reader_count(t->r, STF_ID_group_definition); i++) {
		stf_get_group_definition(stf_reader_record(t->r, STF_ID_group_definition, i), &g);
		p = &t->place[t->n_places++];
		describe(t, p, STF_GROUP(g.id));
		p->is_group = 1;
		p->process = p->thread = XCH_NONE;
		p->of = p;
		p->name = stf_reader_name(t->r, STF_ID_group_definition, g.id & 0x7fffffffu);
		p->host = p->host ? p->host : host_of(t, &g, 0);
		if (xch_map_add(&t->p->map[XCH_BY_GROUP], g.id & 0x7fffffffu, p->index) < 0) {
			return -1;
		}
	}
	return 0;
}

/* ---- communicators ---- */

/* Lists the members of the triplets. A stride is added to the willy unchanged. There are at most as many members
 * as places. */
static uint32_t expand(const struct xch_trace *t, const struct stf_communicator_definition *d, uint32_t *out)
{
	uint32_t i, w, n = 0;
	int64_t step, count, k;

	for (i = 0; i < d->size_2_3; i++) {
		step = d->stride[i] ? d->stride[i] : 1;
		count = ((int64_t)d->last_id[i] - (int64_t)d->first_id[i]) / step;
		for (k = 0; k <= count && n < t->n_places + 1; k++) {
			w = (uint32_t)((int64_t)d->first_id[i] + k * step);
			if (out) {
				out[n] = w;
			}
			n++;
		}
	}
	return n;
}

static int read_communicators(struct xch_trace *t)
{
	size_t n = stf_reader_count(t->r, STF_ID_communicator_definition), i;
	struct stf_communicator_definition d;
	struct xch_communicator *c;
	const char *name;

	t->communicator = calloc(n + 1, sizeof(*t->communicator));
	for (i = 0; t->communicator && i < n; i++) {
		stf_get_communicator_definition(stf_reader_record(t->r, STF_ID_communicator_definition, i), &d);
		c = &t->communicator[t->n_communicators++];
		name = stf_reader_name(t->r, STF_ID_communicator_definition, d.id);
		c->name = name ? name : "";
		c->id = d.id;
		c->index = (uint32_t)i;
		c->n = expand(t, &d, NULL);
		c->members = malloc(((size_t)c->n + 1) * sizeof(*c->members));
		if (!c->members || xch_map_add(&t->p->map[XCH_BY_COMMUNICATOR], d.id, (uint32_t)i) < 0) {
			return -1;
		}
		expand(t, &d, c->members);
	}
	return t->communicator ? 0 : -1;
}

/* ---- the whole trace ---- */

int xch_trace_read(struct xch_trace *t, struct stf_reader *r, const char *path, struct tkm_err *err)
{
	enum xch_names list;
	int rc;

	memset(t, 0, sizeof(*t));
	t->r = r;
	t->path = path;
	t->p = calloc(1, sizeof(*t->p));
	rc = t->p && read_places(t) == 0 && read_counters(t) == 0 && read_communicators(t) == 0 ? 0 : -1;
	for (list = 0; list < XCH_LISTS && rc == 0; list++) {
		rc = read_list(t, list);
	}
	return rc < 0 ? xch_fail_memory(err, path) : xch_clock_read(t, err);
}

void xch_trace_free(struct xch_trace *t)
{
	struct xch_private *p = t->p;
	size_t i;

	for (i = 0; p && p->process && i < t->n_processes; i++) {
		free(p->process[i].bound);
	}
	for (i = 0; p && i < XCH_MAPS; i++) {
		xch_map_free(&p->map[i]);
	}
	for (i = 0; p && i < p->n_text; i++) {
		free(p->text[i]);
	}
	for (i = 0; t->communicator && i < t->n_communicators; i++) {
		free(t->communicator[i].members);
	}
	if (p) {
		free(p->process);
		free(p->text);
	}
	free(p);
	free(t->place);
	free(t->counter);
	free(t->communicator);
	free(t->bound);
	for (i = 0; i < XCH_LISTS; i++) {
		free(t->names[i].v);
	}
}
