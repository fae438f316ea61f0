/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the global definitions of an OTF2 archive. */
#include "config.h"
#include "exchange/otf2/otf2_in.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

const char *xch_otf2_in_text(const struct xch_otf2_in *o, uint32_t ref)
{
	uint32_t k = xch_map_find(&o->string_of, ref);

	return k == XCH_NONE ? "" : ((char **)o->strings.v)[k];
}

static int by_ref(const void *a, const void *b)
{
	const struct in_location *x = a, *y = b;

	return (x->ref > y->ref) - (x->ref < y->ref);
}

struct in_location *xch_otf2_in_location(const struct xch_otf2_in *o, uint64_t ref)
{
	struct in_location *l = o->locations.v, key = { .ref = ref };

	/* ids are usually consecutive from 0 */
	if (ref < o->locations.n && l[ref].ref == ref) {
		return &l[ref];
	}
	return l ? bsearch(&key, l, o->locations.n, sizeof(*l), by_ref) : NULL;
}

struct in_process *xch_otf2_in_process(const struct xch_otf2_in *o, uint64_t ref)
{
	struct in_process *p = o->processes.v;
	uint32_t i;

	if (ref < o->processes.n && p[ref].ref == ref) { /* ids are usually consecutive from 0 */
		return &p[ref];
	}
	for (i = 0; i < o->processes.n && p[i].ref != ref; i++) {
	}
	return i < o->processes.n ? &p[i] : NULL;
}

struct in_node *xch_otf2_in_node(const struct xch_otf2_in *o, uint64_t ref)
{
	struct in_node *n = o->nodes.v;
	uint32_t i;

	for (i = 0; i < o->nodes.n && n[i].ref != ref; i++) {
	}
	return i < o->nodes.n ? &n[i] : NULL;
}

int xch_otf2_in_below(const struct xch_otf2_in *o, uint32_t node, uint32_t above)
{
	const struct in_node *n = xch_otf2_in_node(o, node);
	uint32_t depth;

	for (depth = 0; n && n->ref != above && depth < o->nodes.n; depth++) {
		n = xch_otf2_in_node(o, n->parent);
	}
	return n && n->ref == above;
}

static struct in_process *owner_of(const struct xch_otf2_in *o, const struct in_process *p)
{
	struct in_process *q = p->creator == OTF2_UNDEFINED_LOCATION_GROUP ? NULL : xch_otf2_in_process(o, p->creator),
			  *found;
	const struct in_node *n = xch_otf2_in_node(o, p->node);
	uint32_t i, k, depth;

	if (q && !q->accelerator) {
		return q;
	}
	for (depth = 0; n && depth < o->nodes.n; depth++, n = xch_otf2_in_node(o, n->parent)) {
		for (i = k = 0, found = NULL; i < o->processes.n; i++) {
			q = &((struct in_process *)o->processes.v)[i];
			if (!q->accelerator && xch_otf2_in_below(o, q->node, n->ref)) {
				found = q;
				k++;
			}
		}
		if (found) {
			return k == 1 ? found : NULL;
		}
	}
	return NULL;
}

void xch_otf2_in_owners(struct xch_otf2_in *o)
{
	struct in_process *p = o->processes.v;
	uint32_t i;

	for (i = 0; i < o->processes.n; i++) {
		p[i].owner = p[i].accelerator ? owner_of(o, &p[i]) : &p[i];
	}
}

/* ---- reading ---- */

static OTF2_CallbackCode stop(struct xch_otf2_in *o)
{
	if (!o->failed) {
		xch_fail_memory(o->err, o->in->path);
	}
	o->failed = 1;
	return OTF2_CALLBACK_INTERRUPT;
}

void *xch_otf2_in_append(struct in_list *l, size_t size)
{
	return tkm_extend_array(&l->v, l->n, (size_t)l->n + 1, size) < 0 ? NULL : (char *)l->v + l->n++ * size;
}

static OTF2_CallbackCode see_string(void *user, OTF2_StringRef self, const char *text)
{
	struct xch_otf2_in *o = user;
	char **p = xch_otf2_in_append(&o->strings, sizeof(*p));

	if (!p || !(*p = strdup(text ? text : "")) || xch_map_add(&o->string_of, self, o->strings.n - 1) < 0) {
		return stop(o);
	}
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode see_clock(void *user, uint64_t hz, uint64_t offset, uint64_t length, uint64_t realtime)
{
	struct xch_otf2_in *o = user;

	(void)length, (void)realtime;
	o->hz = hz;
	o->offset = offset;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode see_node(
	void *user, OTF2_SystemTreeNodeRef self, OTF2_StringRef name, OTF2_StringRef cls, OTF2_SystemTreeNodeRef parent)
{
	struct xch_otf2_in *o = user;
	struct in_node *n = xch_otf2_in_append(&o->nodes, sizeof(*n));

	if (!n) {
		return stop(o);
	}
	*n = (struct in_node){ self, name, cls, parent };
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode see_process(void *user, OTF2_LocationGroupRef self, OTF2_StringRef name,
	OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef node, OTF2_LocationGroupRef creator)
{
	struct xch_otf2_in *o = user;
	struct in_process *p = xch_otf2_in_append(&o->processes, sizeof(*p));

	if (!p) {
		return stop(o);
	}
	*p = (struct in_process){ .ref = self,
		.name = name,
		.node = node,
		.creator = creator,
		.accelerator = type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR };
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode see_location(void *user, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type,
	uint64_t events, OTF2_LocationGroupRef group)
{
	struct xch_otf2_in *o = user;
	struct in_location *l = xch_otf2_in_append(&o->locations, sizeof(*l));

	if (!l) {
		return stop(o);
	}
	*l = (struct in_location){ .ref = self,
		.nth = o->locations.n - 1,
		.events = events,
		.name = name,
		.group_ref = group,
		.metric = type == OTF2_LOCATION_TYPE_METRIC,
		.own_name = XCH_NONE };
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode see_property(
	void *user, OTF2_LocationRef location, OTF2_StringRef name, OTF2_Type type, OTF2_AttributeValue v)
{
	struct xch_otf2_in *o = user;
	struct in_location *l = o->locations.v;
	const char *what = xch_otf2_in_text(o, name);
	uint32_t i;

	for (i = o->locations.n; i > 0 && l[i - 1].ref != location; i--) {
	}
	if (i == 0 || strncmp(what, "tickmark::", 10) != 0) {
		return OTF2_CALLBACK_SUCCESS;
	}
	l = &l[i - 1];
	if (!strcmp(what + 10, "pid") && type == OTF2_TYPE_UINT32) {
		l->pid = v.uint32;
	} else if (!strcmp(what + 10, "tid") && type == OTF2_TYPE_UINT64) {
		l->tid = v.uint64;
	} else if (!strcmp(what + 10, "offset") && type == OTF2_TYPE_DOUBLE) {
		l->offset = v.float64;
	} else if (!strcmp(what + 10, "skew") && type == OTF2_TYPE_DOUBLE) {
		l->skew = v.float64;
		l->defined = 1;
	} else if (!strcmp(what + 10, "name") && type == OTF2_TYPE_STRING) {
		l->own_name = v.stringRef;
	}
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode see_region(void *user, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef canonical,
	OTF2_StringRef description, OTF2_RegionRole role, OTF2_Paradigm paradigm, OTF2_RegionFlag flags,
	OTF2_StringRef file, uint32_t begin, uint32_t end)
{
	struct xch_otf2_in *o = user;
	struct in_region *r = xch_otf2_in_append(&o->regions, sizeof(*r));

	(void)canonical, (void)flags, (void)end;
	if (!r || xch_map_add(&o->region_of, self, o->regions.n - 1) < 0) {
		return stop(o);
	}
	*r = (struct in_region){ self, name, description, paradigm };
	o->lost.roles += role != OTF2_REGION_ROLE_UNKNOWN && role != OTF2_REGION_ROLE_FUNCTION;
	o->lost.lines += file != OTF2_UNDEFINED_STRING || begin > 0;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode see_group(void *user, OTF2_GroupRef self, OTF2_StringRef name, OTF2_GroupType type,
	OTF2_Paradigm paradigm, OTF2_GroupFlag flags, uint32_t n, const uint64_t *members)
{
	struct xch_otf2_in *o = user;
	struct in_group *g = xch_otf2_in_append(&o->groups, sizeof(*g));

	(void)flags;
	if (!g) {
		return stop(o);
	}
	*g = (struct in_group){ .ref = self, .name = name, .type = type, .paradigm = paradigm, .n = n };
	g->member = malloc(((size_t)n + 1) * sizeof(*members));
	if (!g->member) {
		return stop(o);
	}
	memcpy(g->member, members, n * sizeof(*members));
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode see_comm(void *user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
	OTF2_CommRef parent, OTF2_CommFlag flags)
{
	struct xch_otf2_in *o = user;
	struct in_comm *c = xch_otf2_in_append(&o->comms, sizeof(*c));

	(void)parent, (void)flags;
	if (!c || xch_map_add(&o->comm_of, self, o->comms.n - 1) < 0) {
		return stop(o);
	}
	*c = (struct in_comm){ .ref = self, .name = name, .group = group };
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode see_window(
	void *user, OTF2_RmaWinRef self, OTF2_StringRef name, OTF2_CommRef comm, OTF2_RmaWinFlag flags)
{
	struct xch_otf2_in *o = user;
	struct in_window *w = xch_otf2_in_append(&o->windows, sizeof(*w));

	(void)name, (void)flags;
	if (!w || xch_map_add(&o->window_of, self, o->windows.n - 1) < 0) {
		return stop(o);
	}
	*w = (struct in_window){ .ref = self, .comm = comm };
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode see_member(void *user, OTF2_MetricMemberRef self, OTF2_StringRef name,
	OTF2_StringRef description, OTF2_MetricType kind, OTF2_MetricMode mode, OTF2_Type type, OTF2_Base base,
	int64_t exponent, OTF2_StringRef unit)
{
	struct xch_otf2_in *o = user;
	struct in_member *m = xch_otf2_in_append(&o->members, sizeof(*m));

	(void)kind;
	if (!m || xch_map_add(&o->member_of, self, o->members.n - 1) < 0) {
		return stop(o);
	}
	*m = (struct in_member){ self, name, description, unit, mode, type, base, exponent };
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode see_class(void *user, OTF2_MetricRef self, uint8_t n, const OTF2_MetricMemberRef *members,
	OTF2_MetricOccurrence occurrence, OTF2_RecorderKind kind)
{
	struct xch_otf2_in *o = user;
	struct in_metric *m = xch_otf2_in_append(&o->metrics, sizeof(*m));

	(void)occurrence, (void)kind;
	if (!m || xch_map_add(&o->metric_of, self, o->metrics.n - 1) < 0) {
		return stop(o);
	}
	*m = (struct in_metric){ .ref = self, .of = XCH_NONE, .n = n };
	m->member = malloc(((size_t)n + 1) * sizeof(*m->member));
	if (!m->member) {
		return stop(o);
	}
	memcpy(m->member, members, n * sizeof(*members));
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode see_instance(void *user, OTF2_MetricRef self, OTF2_MetricRef cls, OTF2_LocationRef recorder,
	OTF2_MetricScope scope_kind, uint64_t scope)
{
	struct xch_otf2_in *o = user;
	struct in_metric *m = xch_otf2_in_append(&o->metrics, sizeof(*m));

	if (!m || xch_map_add(&o->metric_of, self, o->metrics.n - 1) < 0) {
		return stop(o);
	}
	*m = (struct in_metric){
		.ref = self, .of = cls, .recorder = recorder, .scope_kind = scope_kind, .scope = scope
	};
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode see_handle(void *user, OTF2_IoHandleRef self, OTF2_StringRef name, OTF2_IoFileRef file,
	OTF2_IoParadigmRef paradigm, OTF2_IoHandleFlag flags, OTF2_CommRef comm, OTF2_IoHandleRef parent)
{
	struct xch_otf2_in *o = user;
	struct in_file *f = xch_otf2_in_append(&o->handles, sizeof(*f));

	(void)file, (void)paradigm, (void)flags, (void)comm, (void)parent;
	if (!f || xch_map_add(&o->handle_of, self, o->handles.n - 1) < 0) {
		return stop(o);
	}
	*f = (struct in_file){ self, name, o->handles.n };
	return OTF2_CALLBACK_SUCCESS;
}

int xch_otf2_in_definitions(struct xch_otf2_in *o)
{
	OTF2_ErrorCode code = OTF2_ERROR_INVALID;
	OTF2_GlobalDefReaderCallbacks *c;
	OTF2_GlobalDefReader *g;
	uint64_t n = 0;
	int rc = xch_otf2_check_file(o, ".def", OTF2_ARCHIVE_DEFINITIONS);

	if (rc != 0) {
		return rc < 0 ? -1 : xch_otf2_damaged(o, ".otf2", 0, "there is no file of definitions beside it");
	}
	g = OTF2_Reader_GetGlobalDefReader(o->reader);
	c = OTF2_GlobalDefReaderCallbacks_New();
	if (g && c) {
		OTF2_GlobalDefReaderCallbacks_SetStringCallback(c, see_string);
		OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(c, see_clock);
		OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(c, see_node);
		OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(c, see_process);
		OTF2_GlobalDefReaderCallbacks_SetLocationCallback(c, see_location);
		OTF2_GlobalDefReaderCallbacks_SetLocationPropertyCallback(c, see_property);
		OTF2_GlobalDefReaderCallbacks_SetRegionCallback(c, see_region);
		OTF2_GlobalDefReaderCallbacks_SetGroupCallback(c, see_group);
		OTF2_GlobalDefReaderCallbacks_SetCommCallback(c, see_comm);
		OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(c, see_window);
		OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(c, see_member);
		OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(c, see_class);
		OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback(c, see_instance);
		OTF2_GlobalDefReaderCallbacks_SetIoHandleCallback(c, see_handle);
		code = OTF2_Reader_RegisterGlobalDefCallbacks(o->reader, g, c, o);
	}
	if (code == OTF2_SUCCESS) {
		code = OTF2_Reader_ReadAllGlobalDefinitions(o->reader, g, &n);
	}
	OTF2_GlobalDefReaderCallbacks_Delete(c);
	if (o->failed) {
		return -1;
	}
	if (code != OTF2_SUCCESS) {
		return xch_otf2_damaged(o, ".def", xch_otf2_record_at(o, ".def", OTF2_ARCHIVE_DEFINITIONS, 0, n),
			"cannot read the definitions: %s", OTF2_Error_GetDescription(code));
	}
	if (o->hz == 0 || o->locations.n == 0) {
		return xch_otf2_damaged(
			o, ".def", o->checked, "the definitions have no %s", o->hz ? "location" : "clock properties");
	}
	qsort(o->locations.v, o->locations.n, sizeof(struct in_location), by_ref);
	return 0;
}

static void free_rmas(struct tkm_table *t)
{
	struct in_rmas *of = NULL;

	while ((of = tkm_table_next(t, of))) {
		free(of->op);
	}
	tkm_table_free(t);
}

void xch_otf2_in_free(struct xch_otf2_in *o)
{
	struct in_comm *c = o->comms.v;
	uint32_t i;

	for (i = 0; i < o->locations.n; i++) {
		free(((struct in_location *)o->locations.v)[i].coll);
		free(((struct in_location *)o->locations.v)[i].io);
		free_rmas(&((struct in_location *)o->locations.v)[i].rma);
	}
	for (i = 0; i < o->strings.n; i++) {
		free(((char **)o->strings.v)[i]);
	}
	for (i = 0; i < o->groups.n; i++) {
		free(((struct in_group *)o->groups.v)[i].member);
	}
	for (i = 0; i < o->metrics.n; i++) {
		free(((struct in_metric *)o->metrics.v)[i].member);
	}
	for (i = 0; i < o->comms.n; i++) {
		free(c[i].willy);
		free(c[i].count);
	}
	if (o->folder) {
		o->in->path = o->folder;
	}
	free(o->anchor);
	free(o->strings.v);
	xch_map_free(&o->string_of);
	free(o->locations.v);
	free(o->processes.v);
	free(o->groups.v);
	free(o->comms.v);
	free(o->metrics.v);
	free(o->members.v);
	free(o->regions.v);
	free(o->handles.v);
	free(o->nodes.v);
	free(o->windows.v);
	xch_map_free(&o->region_of);
	xch_map_free(&o->metric_of);
	xch_map_free(&o->member_of);
	xch_map_free(&o->comm_of);
	xch_map_free(&o->handle_of);
	xch_map_free(&o->window_of);
	xch_build_free(o->b);
}
