/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the definitions of an OTF trace. Values for which OTF has no field become key-value pairs of the
 * definition. */
#include "config.h"
#include "exchange/otf/otf.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

void xch_otf_add_u32(struct xch_otf_out *o, enum xch_otf_key k, uint32_t v)
{
	OTF_KeyValueList_appendUint32(o->list, k, v);
}

void xch_otf_add_u64(struct xch_otf_out *o, enum xch_otf_key k, uint64_t v)
{
	OTF_KeyValueList_appendUint64(o->list, k, v);
}

void xch_otf_add_real(struct xch_otf_out *o, enum xch_otf_key k, double v)
{
	OTF_KeyValueList_appendDouble(o->list, k, v);
}

void xch_otf_add_text(struct xch_otf_out *o, enum xch_otf_key k, const char *text)
{
	if (text && *text) {
		OTF_KeyValueList_appendByteArray(o->list, k, (uint8_t *)(uintptr_t)text, (uint32_t)strlen(text));
	}
}

/* Empties the list after its definition. */
static int empty_list(struct xch_otf_out *o, int ok)
{
	OTF_KeyValueList_reset(o->list);
	return ok ? 0 : -1;
}

static int define_keys(struct xch_otf_out *o)
{
	static const struct {
		OTF_Type type;
		const char *name, *what;
	} key[XOT_KEYS] = {
#define XOT_KEY(id, type, name, what) [XOT_##id] = { OTF_##type, XOT_SPACE name, what },
		XOT_TABLE(XOT_KEY)
#undef XOT_KEY
	};
	uint32_t k;

	for (k = 1; k < XOT_KEYS; k++) {
		if (!OTF_Writer_writeDefKeyValue(o->otf, 0, k, key[k].type, key[k].name, key[k].what)) {
			return -1;
		}
	}
	return 0;
}

/* A definition is one line, so its texts must not contain control characters and quotes; these are replaced.
 * Returns 1: nothing was replaced. */
static int line(char *buf, size_t size, const char *text)
{
	size_t i;

	for (i = 0; i + 1 < size && text[i]; i++) {
		buf[i] = (unsigned char)text[i] < ' ' || text[i] == 127 ? ' ' : text[i] == '"' ? '\'' : text[i];
	}
	buf[i] = 0;
	return !strcmp(buf, text);
}

static int define_trace(struct xch_otf_out *o)
{
	const struct xch_trace *t = o->t;
	uint64_t start = t->start <= t->end ? t->start : 0;
	const char *cls, *text;
	size_t i = 0;

	xch_otf_add_real(o, XOT_RESOLUTION, t->resolution);
	xch_otf_add_u32(o, XOT_EVENTBITS, t->eventbits);
	xch_otf_add_u64(o, XOT_START, t->start);
	xch_otf_add_u64(o, XOT_END, t->end);
	if (empty_list(
		    o, OTF_Writer_writeDefTimerResolutionKV(o->otf, 0, (uint64_t)llround(1 / t->resolution), o->list)) <
			0 ||
		!OTF_Writer_writeDefCreator(o->otf, 0, PACKAGE_STRING) ||
		!OTF_Writer_writeDefTimeRange(o->otf, 0, start, t->end > start ? t->end : start, o->list)) {
		return -1;
	}
	while (xch_next_info(t, &i, &cls, &text)) {
		if (*cls) {
			xch_otf_add_text(o, XOT_INFO_CLASS, cls);
			xch_otf_add_text(o, XOT_INFO, text);
			if (empty_list(o, OTF_Writer_writeDefinitionCommentKV(o->otf, 0, "tickmark::info", o->list)) <
				0) {
				return -1;
			}
		}
	}
	return 0;
}

static int define_place(struct xch_otf_out *o, const struct xch_place *p)
{
	char name[700], clean[700];
	uint32_t parent = p->is_group || !p->thread ? 0 : xch_otf_process(p->of);

	xch_otf_add_u32(o, XOT_WILLY, p->willy);
	if (p->is_group) {
		snprintf(
			name, sizeof(name), "group %" PRIu32 " %.600s", p->willy & 0x7fffffffu, p->name ? p->name : "");
	} else {
		snprintf(name, sizeof(name), "%s %" PRIu32 ":%" PRIu32 "%s%.300s%s%.300s",
			p->thread ? "Thread" : "Process", p->process, p->thread, p->name ? " " : "",
			p->name ? p->name : "", p->host ? " on " : "", p->host ? p->host : "");
		xch_otf_add_text(o, XOT_HOST, p->host);
		xch_otf_add_text(o, XOT_NAME, p->name);
		xch_otf_add_u32(o, XOT_PID, p->pid);
		xch_otf_add_u64(o, XOT_TID, p->tid);
		xch_otf_add_real(o, XOT_OFFSET, p->offset);
		xch_otf_add_real(o, XOT_SKEW, p->skew);
	}
	line(clean, sizeof(clean), name);
	OTF_Writer_assignProcess(o->otf, xch_otf_process(p), 1 + p->index % XOT_STREAMS);
	return empty_list(o, OTF_Writer_writeDefProcessKV(o->otf, 0, xch_otf_process(p), clean, parent, o->list));
}

static int define_places(struct xch_otf_out *o)
{
	uint32_t *all = calloc(o->t->n_places + 1, sizeof(*all)), n = 0;
	size_t i;
	int rc = all ? 0 : -1;

	for (i = 0; i < o->t->n_places && rc == 0; i++) {
		rc = define_place(o, &o->t->place[i]);
		if (rc == 0 && !o->t->place[i].is_group) {
			all[n++] = xch_otf_process(&o->t->place[i]);
		}
	}
	rc = rc == 0 && n && !OTF_Writer_writeDefProcessGroup(o->otf, 0, XOT_ALL, "All", n, all) ? -1 : rc;
	free(all);
	return rc;
}

/* Writes a process group of these willies, with the key-value pairs in the list. */
static int define_group(struct xch_otf_out *o, uint32_t id, const char *name, const uint32_t *willies, uint32_t n)
{
	uint32_t *members = calloc((size_t)n + 1, sizeof(*members)), i, k = 0;
	unsigned char *bytes = calloc((size_t)n + 1, 4);
	char clean[700];
	int rc = -1;

	for (i = 0; members && bytes && i < n; i++) {
		k += (members[k] = xch_otf_process(xch_place(o->t, willies[i]))) != 0;
		tkm_put32(bytes + 4 * (size_t)i, willies[i], 0);
	}
	if (members && bytes) {
		line(clean, sizeof(clean), name);
		xch_otf_add_text(o, XOT_NAME, name);
		if (n) {
			OTF_KeyValueList_appendByteArray(o->list, XOT_MEMBERS_OF, bytes, 4 * n);
		}
		rc = empty_list(o, OTF_Writer_writeDefProcessGroupKV(o->otf, 0, id, clean, k, members, o->list));
	}
	free(members);
	free(bytes);
	return rc;
}

static int define_groups(struct xch_otf_out *o)
{
	struct stf_group_definition g;
	const struct stf_record *rec;
	size_t i;

	for (i = 0; i < o->t->n_communicators; i++) {
		const struct xch_communicator *c = &o->t->communicator[i];

		xch_otf_add_u32(o, XOT_COMMUNICATOR, c->id);
		if (define_group(o, XOT_COMMUNICATORS + (uint32_t)i, c->name ? c->name : "", c->members, c->n) < 0) {
			return -1;
		}
	}
	for (i = 0; (rec = stf_reader_record(o->t->r, STF_ID_group_definition, i)); i++) {
		stf_get_group_definition(rec, &g);
		xch_otf_add_u32(o, XOT_GROUP, g.id);
		if (define_group(o, XOT_GROUPS + (uint32_t)i, g.size_1_1 ? g.name : "", g.willies, g.size_2_1) < 0) {
			return -1;
		}
	}
	return 0;
}

/* The function group of a class, defined at its first use. Functions of one class usually follow each other. */
static uint32_t group_of(struct xch_otf_out *o, const struct xch_list *l, size_t i, uint32_t *groups, uint32_t *last)
{
	const char *cls = l->v[i].cls;
	char clean[700];
	size_t k;

	for (k = i; k-- > 0 && i - k < 4096;) {
		if (!strcmp(l->v[k].cls, cls)) {
			return groups[k];
		}
	}
	line(clean, sizeof(clean), *cls ? cls : "Application");
	return OTF_Writer_writeDefFunctionGroup(o->otf, 0, ++*last, clean) ? *last : 0;
}

static int define_functions(struct xch_otf_out *o)
{
	const struct xch_list *l = &o->t->names[XCH_FUNCTIONS];
	uint32_t *groups = calloc(l->n + 1, sizeof(*groups)), last = 0;
	char name[2100], cls[2100];
	size_t i;
	int rc = groups ? 0 : -1;

	for (i = 0; i < l->n && rc == 0; i++) {
		groups[i] = group_of(o, l, i, groups, &last);
		if (!line(name, sizeof(name), l->v[i].name)) {
			xch_otf_add_text(o, XOT_NAME, l->v[i].name);
		}
		if (!line(cls, sizeof(cls), l->v[i].cls) || !*cls) {
			OTF_KeyValueList_appendByteArray(
				o->list, XOT_CLASS, (uint8_t *)(uintptr_t)l->v[i].cls, (uint32_t)strlen(l->v[i].cls));
		}
		rc = empty_list(o,
			groups[i] &&
				OTF_Writer_writeDefFunctionKV(o->otf, 0, (uint32_t)i + 1, name, groups[i], 0, o->list));
	}
	free(groups);
	return rc;
}

static int define_operations(struct xch_otf_out *o)
{
	static const uint32_t type[] = { OTF_COLLECTIVE_TYPE_UNKNOWN, OTF_COLLECTIVE_TYPE_BARRIER,
		OTF_COLLECTIVE_TYPE_ONE2ALL, OTF_COLLECTIVE_TYPE_ALL2ONE, OTF_COLLECTIVE_TYPE_ALL2ALL };
	const struct xch_list *l = &o->t->names[XCH_OPERATIONS], *files = &o->t->names[XCH_FILES];
	char clean[2100];
	size_t i;

	for (i = 0; i < l->n; i++) {
		const struct xch_named *n = &l->v[i];

		line(clean, sizeof(clean), n->name);
		xch_otf_add_text(o, XOT_NAME, n->name);
		OTF_KeyValueList_appendUint8(o->list, XOT_TYPE, (uint8_t)n->type);
		xch_otf_add_u32(o, XOT_OF, n->id);
		if (empty_list(o,
			    OTF_Writer_writeDefCollectiveOperationKV(o->otf, 0, (uint32_t)i + 1, clean,
				    n->type < 5 ? type[n->type] : OTF_COLLECTIVE_TYPE_UNKNOWN, o->list)) < 0) {
			return -1;
		}
	}
	if (files->n && !OTF_Writer_writeDefFileGroup(o->otf, 0, 1, "files")) {
		return -1;
	}
	for (i = 0; i < files->n; i++) {
		line(clean, sizeof(clean), files->v[i].name);
		if (!OTF_Writer_writeDefFile(o->otf, 0, (uint32_t)i + 1, clean, 1)) {
			return -1;
		}
	}
	return 0;
}

static uint32_t properties(const struct xch_counter *c)
{
	return (c->total ? OTF_COUNTER_TYPE_ACC : OTF_COUNTER_TYPE_ABS) |
		(c->scope == STF_COUNTER_BEFORE                 ? OTF_COUNTER_SCOPE_LAST
				: c->scope == STF_COUNTER_AFTER ? OTF_COUNTER_SCOPE_NEXT
								: OTF_COUNTER_SCOPE_POINT) |
		(c->type == STF_COUNTER_F8                  ? OTF_COUNTER_VARTYPE_DOUBLE
				: c->type == STF_COUNTER_U8 ? OTF_COUNTER_VARTYPE_UNSIGNED8
							    : OTF_COUNTER_VARTYPE_SIGNED8);
}

static int define_counters(struct xch_otf_out *o)
{
	struct stf_counter_definition c = { 0 };
	const struct stf_record *rec;
	char clean[2100], unit[300];
	size_t i;

	if (o->t->n_counters && !OTF_Writer_writeDefCounterGroup(o->otf, 0, 1, "counters")) {
		return -1;
	}
	for (i = 0; i < o->t->n_counters; i++) {
		rec = stf_reader_find(o->t->r, STF_ID_counter_definition, o->t->counter[i].id);
		if (rec && stf_get_counter_definition(rec, &c) == 0) {
			xch_otf_add_u32(o, XOT_COUNTER, c.id);
			OTF_KeyValueList_appendUint8(o->list, XOT_TYPE, c.type);
			xch_otf_add_u64(o, XOT_LOWER, c.lower_bound);
			xch_otf_add_u64(o, XOT_UPPER, c.upper_bound);
			xch_otf_add_u32(o, XOT_OF, c.willy);
			xch_otf_add_text(o, XOT_CLASS,
				c.classid ? stf_reader_name(o->t->r, STF_ID_class_definition, c.classid) : NULL);
			xch_otf_add_text(o, XOT_NAME, stf_reader_string(o->t->r, c.name));
		}
		line(clean, sizeof(clean), o->t->counter[i].name);
		line(unit, sizeof(unit), o->t->counter[i].unit);
		if (empty_list(o,
			    OTF_Writer_writeDefCounterKV(o->otf, 0, (uint32_t)i + 1, clean,
				    properties(&o->t->counter[i]), 1, unit, o->list)) < 0) {
			return -1;
		}
	}
	return 0;
}

int xch_otf_define(struct xch_otf_out *o)
{
	return define_keys(o) < 0 || define_trace(o) < 0 || define_places(o) < 0 || define_groups(o) < 0 ||
			define_functions(o) < 0 || define_operations(o) < 0 || define_counters(o) < 0
		? -1
		: 0;
}
