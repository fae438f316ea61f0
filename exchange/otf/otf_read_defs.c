/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the definitions of an OTF trace. */
#include "config.h"
#include "exchange/otf/otf_reading.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/grow.h"

enum { LARGEST_BYTES = 16 << 20 }; /* the same limit as in STF */

/* ---- tables ---- */

void *xch_otf_list_add(struct xch_otf_reading *r, struct xch_otf_list *l, uint32_t id, const char *name)
{
	if (xch_otf_text(r, name) < 0) {
		return NULL;
	}
	if (tkm_extend_array(&l->v, l->n, l->n + 1, l->size) < 0 || xch_map_add(&l->map, id, (uint32_t)l->n) < 0) {
		xch_fail_memory(r->err, r->in->path);
		return NULL;
	}
	return l->v + l->n++ * l->size;
}

void *xch_otf_list_find(const struct xch_otf_list *l, uint32_t id)
{
	uint32_t i = xch_map_find(&l->map, id);

	return i == XCH_NONE ? NULL : l->v + i * l->size;
}

void xch_otf_stream_path(const struct xch_otf_reading *r, uint32_t stream, const char *suffix, char *path, size_t size)
{
	size_t stem = strlen(r->in->path);

	snprintf(path, size, "%.*s.%" PRIx32 ".%s", (int)(stem > 4 ? stem - 4 : stem), r->in->path, stream, suffix);
}

/* The position of the library's reading of a stream: file and offset after the current record. 0: the library
 * does not tell. */
static int position(struct xch_otf_reading *r, char *text, size_t size)
{
	OTF_MasterControl *c = r->reader ? OTF_Reader_getMasterControl(r->reader) : NULL;
	uint32_t stream = c && r->in_events ? OTF_MasterControl_mapReverse(c, r->now) : 0;
	OTF_RStream *s = c && (stream || !r->in_events) ? OTF_Reader_getStream(r->reader, stream) : NULL;
	OTF_RBuffer *b = !s ? NULL : r->in_events ? OTF_RStream_getEventBuffer(s) : OTF_RStream_getDefBuffer(s);
	char path[500];
	uint64_t at;

	if (!b || !b->file || b->end < b->pos) {
		return 0;
	}
	at = OTF_File_tell(b->file) - (b->end - b->pos);
	xch_otf_stream_path(r, stream, r->in_events ? "events" : "def", path, sizeof(path));
	snprintf(text, size, "%s: offset %" PRIu64, path, at);
	return 1;
}

int xch_otf_bad(struct xch_otf_reading *r, const char *fmt, ...)
{
	char text[300], where[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return tkm_fail(
		r->err, TKM_ERR_FORMAT, "%s: %s", position(r, where, sizeof(where)) ? where : r->in->path, text);
}

/* Handles a text from the library, which is NULL if the definition is damaged. */
int xch_otf_text(struct xch_otf_reading *r, const char *text)
{
	return text ? 0 : xch_otf_bad(r, "a definition or a comment has no text");
}

/* Converts a result to what a handler returns to the library. */
int xch_otf_told(struct xch_otf_reading *r, int rc)
{
	r->failed |= rc < 0;
	return r->failed ? OTF_RETURN_ABORT : OTF_RETURN_OK;
}

int xch_otf_told_stf(struct xch_otf_reading *r, int rc)
{
	return xch_otf_told(r, rc < 0 ? xch_input_stf(r->in, r->err) : 0);
}

/* ---- our key-value pairs ---- */

uint32_t xch_otf_our_u32(const struct xch_otf_reading *r, OTF_KeyValueList *l, enum xch_otf_key k, uint32_t otherwise)
{
	uint32_t v;

	return r->our[k] && OTF_KeyValueList_getUint32(l, r->our[k], &v) == 0 ? v : otherwise;
}

uint64_t xch_otf_our_u64(const struct xch_otf_reading *r, OTF_KeyValueList *l, enum xch_otf_key k, uint64_t otherwise)
{
	uint64_t v;

	return r->our[k] && OTF_KeyValueList_getUint64(l, r->our[k], &v) == 0 ? v : otherwise;
}

double xch_otf_our_real(const struct xch_otf_reading *r, OTF_KeyValueList *l, enum xch_otf_key k)
{
	double v;

	return r->our[k] && OTF_KeyValueList_getDouble(l, r->our[k], &v) == 0 ? v : 0;
}

int xch_otf_has(const struct xch_otf_reading *r, OTF_KeyValueList *l, enum xch_otf_key k)
{
	return r->our[k] && OTF_KeyValueList_hasKey(l, r->our[k]) == 0;
}

/* Returns the bytes of a pair, with a zero byte after them. The length comes from the file, so it may be any
 * number. */
char *xch_otf_bytes(struct xch_otf_reading *r, OTF_KeyValueList *l, uint32_t key, uint32_t *n)
{
	char *p = NULL;

	*n = 0;
	if (OTF_KeyValueList_getArrayLength(l, key, n) != 0 || *n > LARGEST_BYTES) {
		xch_otf_bad(r, "an array of bytes has no length that is possible");
	} else if (!(p = calloc((size_t)*n + 1, 1))) {
		xch_fail_memory(r->err, r->in->path);
	} else if (OTF_KeyValueList_getByteArray(l, key, (uint8_t *)p, n) != 0) {
		xch_otf_bad(r, "an array of bytes is shorter than it says");
		free(p);
		p = NULL;
	}
	r->failed |= !p;
	*n = p ? *n : 0;
	return p;
}

/* Returns the bytes of one of our keys; NULL: there are none, or r->failed is set. */
char *xch_otf_our_bytes(struct xch_otf_reading *r, OTF_KeyValueList *l, enum xch_otf_key k, uint32_t *n)
{
	*n = 0;
	return xch_otf_has(r, l, k) ? xch_otf_bytes(r, l, r->our[k], n) : NULL;
}

/* ---- definitions ---- */

static int on_key(void *user, uint32_t stream, uint32_t key, OTF_Type type, const char *name, const char *what,
	OTF_KeyValueList *l)
{
	static const char *const names[XOT_KEYS] = {
#define XOT_NAME_OF(id, type, name, what) [XOT_##id] = XOT_SPACE name,
		XOT_TABLE(XOT_NAME_OF)
#undef XOT_NAME_OF
	};
	struct xch_otf_reading *r = user;
	uint32_t k;

	(void)stream, (void)type, (void)what, (void)l;
	if (xch_otf_text(r, name) < 0) {
		return xch_otf_told(r, -1);
	}
	if (key >= XOT_MAX_KEYS) {
		return xch_otf_told(r, xch_otf_bad(r, "key %" PRIu32 " is larger than %d", key, XOT_MAX_KEYS - 1));
	}
	for (k = 1; k < XOT_KEYS; k++) {
		if (!strcmp(names[k], name)) {
			r->our[k] = (uint16_t)key;
			return OTF_RETURN_OK;
		}
	}
	free(r->key[key]);
	r->key[key] = strdup(name);
	r->keys = r->keys > key ? r->keys : key + 1;
	return xch_otf_told(r, r->key[key] ? 0 : xch_fail_memory(r->err, r->in->path));
}

static int on_resolution(void *user, uint32_t stream, uint64_t ticks, OTF_KeyValueList *l)
{
	struct xch_otf_reading *r = user;
	double said = xch_otf_our_real(r, l, XOT_RESOLUTION);

	(void)stream;
	if (!ticks) {
		return xch_otf_told(r, xch_otf_bad(r, "the timer's resolution is 0"));
	}
	r->ticks = ticks;
	r->resolution = 1 / (double)ticks;
	if (said > 0 && said * (double)ticks > 0.999 && said * (double)ticks < 1.001) {
		r->resolution = said;
		r->eventbits = xch_otf_our_u32(r, l, XOT_EVENTBITS, 0) & 63;
	}
	return OTF_RETURN_OK;
}

/* Decides which thread an OTF process is. Our key-value pairs tell; else processes are numbered in their order,
 * and an OTF process with a parent is a thread of the parent. */
static int number_process(struct xch_otf_reading *r, struct xch_otf_process_of *p, uint32_t parent, uint32_t said)
{
	struct xch_otf_process_of *of;

	if (said != XCH_NONE) {
		p->willy = said;
		return 0;
	}
	of = parent ? xch_otf_list_find(&r->process, parent) : NULL;
	if (of && !stf_willy_is_group(of->willy)) {
		/* the first thread of a process counts the process's threads */
		of = stf_willy_thread(of->willy) ? NULL : of;
	}
	if (of) {
		p->willy = STF_WILLY(stf_willy_process(of->willy), ++of->threads);
		return of->threads > INT16_MAX ? xch_otf_bad(r, "a process has more than 32768 threads") : 0;
	}
	p->willy = STF_WILLY(r->next_process, 0);
	return r->next_process++ > UINT16_MAX ? xch_otf_bad(r, "there are more than 65536 processes") : 0;
}

static int on_process(
	void *user, uint32_t stream, uint32_t process, const char *name, uint32_t parent, OTF_KeyValueList *l)
{
	struct xch_otf_reading *r = user;
	struct xch_otf_process_of *p = xch_otf_list_add(r, &r->process, process, name), copy;
	uint32_t said = xch_otf_our_u32(r, l, XOT_WILLY, XCH_NONE), n;
	char *host, *own;
	int rc;

	(void)stream;
	if (!p) {
		return xch_otf_told(r, -1);
	}
	copy = *p;
	rc = number_process(r, &copy, parent, said);
	*(struct xch_otf_process_of *)xch_otf_list_find(&r->process, process) = copy;
	if (rc < 0 || stf_willy_is_group(copy.willy)) {
		return xch_otf_told(r, rc);
	}
	if (xch_build_thread(r->b, stf_willy_process(copy.willy), stf_willy_thread(copy.willy)) < 0) {
		return xch_otf_told(r, -1);
	}
	if (said == XCH_NONE) {
		return xch_otf_told_stf(r, stf_writer_willy_name(r->in->w, copy.willy, name));
	}
	host = xch_otf_our_bytes(r, l, XOT_HOST, &n);
	own = xch_otf_our_bytes(r, l, XOT_NAME, &n);
	if (host || xch_otf_our_u32(r, l, XOT_PID, 0) || xch_otf_our_u64(r, l, XOT_TID, 0)) {
		rc = stf_writer_willy(r->in->w, copy.willy, host ? host : "", "", xch_otf_our_u32(r, l, XOT_PID, 0),
			xch_otf_our_u64(r, l, XOT_TID, 0), xch_otf_our_real(r, l, XOT_OFFSET),
			xch_otf_our_real(r, l, XOT_SKEW));
	}
	rc |= own ? stf_writer_willy_name(r->in->w, copy.willy, own) : 0;
	free(host);
	free(own);
	return xch_otf_told_stf(r, rc);
}

int xch_otf_willy_of(struct xch_otf_reading *r, uint32_t process, uint32_t *willy)
{
	const struct xch_otf_process_of *p = xch_otf_list_find(&r->process, process);

	*willy = p ? p->willy : 0;
	r->now = r->in_events && p ? process : r->now;
	return p ? 0 : xch_otf_bad(r, "process %" PRIu32 " is not defined", process);
}

/* Lists the members from our key-value pairs, or else the processes of the list. */
static int take_members(
	struct xch_otf_reading *r, struct xch_otf_group *g, uint32_t n, const uint32_t *procs, OTF_KeyValueList *l)
{
	uint32_t i, bytes;
	char *p = xch_otf_our_bytes(r, l, XOT_MEMBERS_OF, &bytes);

	g->n = p ? bytes / 4 : n;
	g->willies = calloc((size_t)g->n + 1, sizeof(*g->willies));
	if (!g->willies) {
		free(p);
		return xch_fail_memory(r->err, r->in->path);
	}
	for (i = 0; i < g->n; i++) {
		if (p) {
			g->willies[i] = tkm_get32(p + 4 * (size_t)i, 0);
		} else if (xch_otf_willy_of(r, procs[i], &g->willies[i]) < 0) {
			return -1;
		}
	}
	free(p);
	return 0;
}

static int on_group(void *user, uint32_t stream, uint32_t id, const char *name, uint32_t n, const uint32_t *procs,
	OTF_KeyValueList *l)
{
	struct xch_otf_reading *r = user;
	struct xch_otf_group *g = xch_otf_list_add(r, &r->group, id, name);
	struct stf_group_definition d = { .id = xch_otf_our_u32(r, l, XOT_GROUP, 0) };
	uint32_t bytes;

	(void)stream;
	if (!g || take_members(r, g, n, procs, l) < 0) {
		return xch_otf_told(r, -1);
	}
	g->name = xch_otf_our_bytes(r, l, XOT_NAME, &bytes);
	if (!g->name) {
		g->name = strdup(xch_otf_has(r, l, XOT_GROUP) || xch_otf_has(r, l, XOT_COMMUNICATOR) ? "" : name);
	}
	if (!g->name) {
		return xch_otf_told(r, xch_fail_memory(r->err, r->in->path));
	}
	if (xch_otf_has(r, l, XOT_GROUP)) {
		d.name = g->name;
		d.size_1_1 = (uint32_t)strlen(g->name);
		d.willies = g->willies;
		d.size_2_1 = g->n;
		return xch_otf_told_stf(r, stf_write_group_definition(r->in->w, &d));
	}
	if (xch_otf_has(r, l, XOT_COMMUNICATOR)) {
		g->communicator = xch_otf_our_u32(r, l, XOT_COMMUNICATOR, 0);
		return xch_otf_told(r, xch_build_communicator(r->b, g->communicator, g->name, g->willies, g->n));
	}
	return OTF_RETURN_OK;
}

/* The communicator of a process group. A group of another program becomes a communicator at its first use. */
int xch_otf_communicator(struct xch_otf_reading *r, uint32_t id, uint32_t *out)
{
	struct xch_otf_group *g = id ? xch_otf_list_find(&r->group, id) : NULL;

	*out = 0;
	if (!id) {
		return 0;
	}
	if (!g) {
		return xch_otf_bad(r, "process group %" PRIu32 " is not defined", id);
	}
	if (!g->communicator) {
		g->communicator = XOT_COMMUNICATORS + ++r->next_communicator;
		if (xch_build_communicator(r->b, g->communicator, g->name, g->willies, g->n) < 0) {
			return -1;
		}
	}
	*out = g->communicator;
	return 0;
}

static int on_class(void *user, uint32_t stream, uint32_t id, const char *name, OTF_KeyValueList *l)
{
	struct xch_otf_reading *r = user;
	char **p = xch_otf_list_add(r, &r->class_of, id, name);

	(void)stream, (void)l;
	if (p) {
		*p = strdup(name);
	}
	return xch_otf_told(r, p && *p ? 0 : -1);
}

static int on_function(void *user, uint32_t stream, uint32_t id, const char *name, uint32_t group, uint32_t source,
	OTF_KeyValueList *l)
{
	struct xch_otf_reading *r = user;
	uint32_t *f = xch_otf_list_add(r, &r->function, id, name), n;
	char **cls = xch_otf_list_find(&r->class_of, group), *own = xch_otf_our_bytes(r, l, XOT_NAME, &n),
	     *own_class = NULL;

	(void)stream, (void)source;
	if (xch_otf_has(r, l, XOT_CLASS)) {
		own_class = xch_otf_our_bytes(r, l, XOT_CLASS, &n);
		own_class = own_class ? own_class : strdup("");
	}
	if (f) {
		*f = xch_build_function(r->b, own_class ? own_class : cls ? *cls : "", own ? own : name);
	}
	free(own);
	free(own_class);
	return xch_otf_told(r, f && *f ? 0 : -1);
}

static int on_file(void *user, uint32_t stream, uint32_t id, const char *name, uint32_t group, OTF_KeyValueList *l)
{
	struct xch_otf_reading *r = user;
	uint32_t *f = xch_otf_list_add(r, &r->file, id, name);

	(void)stream, (void)group, (void)l;
	if (f) {
		*f = xch_build_file(r->b, name);
	}
	return xch_otf_told(r, f && *f ? 0 : -1);
}

static int on_operation(void *user, uint32_t stream, uint32_t id, const char *name, uint32_t type, OTF_KeyValueList *l)
{
	static const uint8_t of[] = { 1, 1, 2, 3, 4 };
	struct xch_otf_reading *r = user;
	struct xch_otf_operation *o = xch_otf_list_add(r, &r->operation, id, name);
	struct stf_collective_operation_definition d;
	uint32_t n;
	char *own;

	(void)stream;
	if (!o) {
		return xch_otf_told(r, -1);
	}
	o->ours = xch_otf_has(r, l, XOT_OF);
	o->id = (uint8_t)(o->ours ? xch_otf_our_u32(r, l, XOT_OF, 0) : ++r->next_operation);
	o->type = type < 5 ? of[type] : 1;
	if (o->ours) {
		OTF_KeyValueList_getUint8(l, r->our[XOT_TYPE], &o->type);
	}
	own = xch_otf_our_bytes(r, l, XOT_NAME, &n);
	d = (struct stf_collective_operation_definition){ .id = o->id, .name = own ? own : name, .type = o->type };
	d.size_1_1 = (uint32_t)strlen(d.name);
	n = r->next_operation;
	if (n > UINT8_MAX) {
		free(own);
		return xch_otf_told(r, xch_otf_bad(r, "STF has room for 255 collective operations"));
	}
	n = (uint32_t)stf_write_collective_operation_definition(r->in->w, &d);
	free(own);
	return xch_otf_told_stf(r, (int)n);
}

static int our_counter(struct xch_otf_reading *r, struct xch_otf_counter *c, const char *unit, OTF_KeyValueList *l)
{
	struct stf_counter_definition d = { .id = xch_otf_our_u32(r, l, XOT_COUNTER, 0),
		.lower_bound = xch_otf_our_u64(r, l, XOT_LOWER, 0),
		.upper_bound = xch_otf_our_u64(r, l, XOT_UPPER, 0),
		.willy = xch_otf_our_u32(r, l, XOT_OF, 0),
		.unit = unit,
		.size_1_1 = (uint32_t)strlen(unit) };
	uint32_t n;
	char *name = xch_otf_our_bytes(r, l, XOT_NAME, &n), *cls = xch_otf_our_bytes(r, l, XOT_CLASS, &n);
	int rc;

	OTF_KeyValueList_getUint8(l, r->our[XOT_TYPE], &d.type);
	d.do_diff = (uint8_t)c->is_signed; /* here: a running total */
	d.name = stf_writer_string(r->in->w, name ? name : "");
	d.classid = xch_build_class(r->b, cls ? cls : "", 0);
	rc = stf_write_counter_definition(r->in->w, &d);
	c->id = d.id;
	c->is_signed = 0;
	free(name);
	free(cls);
	return rc;
}

static int on_counter(void *user, uint32_t stream, uint32_t id, const char *name, uint32_t how, uint32_t group,
	const char *unit, OTF_KeyValueList *l)
{
	struct xch_otf_reading *r = user;
	struct xch_otf_counter *c = xch_otf_list_add(r, &r->counter, id, name);
	uint32_t kind = how & OTF_COUNTER_VARTYPE_BITS;
	char **cls = xch_otf_list_find(&r->class_of, group);
	int total = (how & OTF_COUNTER_TYPE_BITS) == OTF_COUNTER_TYPE_ACC;

	(void)stream;
	if (!c) {
		return xch_otf_told(r, -1);
	}
	unit = unit ? unit : "";
	if (xch_otf_has(r, l, XOT_COUNTER)) {
		c->is_signed = total;
		return xch_otf_told_stf(r, our_counter(r, c, unit, l));
	}
	c->is_signed = kind == OTF_COUNTER_VARTYPE_SIGNED8 || kind == OTF_COUNTER_VARTYPE_SIGNED4 ||
		kind == OTF_COUNTER_VARTYPE_SIGNED2;
	c->narrow = kind == OTF_COUNTER_VARTYPE_FLOAT                                          ? 1
		: kind == OTF_COUNTER_VARTYPE_UNSIGNED4 || kind == OTF_COUNTER_VARTYPE_SIGNED4 ? 4
		: kind == OTF_COUNTER_VARTYPE_UNSIGNED2 || kind == OTF_COUNTER_VARTYPE_SIGNED2 ? 2
											       : 0;
	c->id = xch_build_counter(r->b, cls ? *cls : "", name, unit,
		kind == OTF_COUNTER_VARTYPE_DOUBLE || kind == OTF_COUNTER_VARTYPE_FLOAT ? STF_COUNTER_F8
			: c->is_signed                                                  ? STF_COUNTER_I8
											: STF_COUNTER_U8);
	return xch_otf_told(r, c->id ? 0 : -1);
}

static int on_comment_definition(void *user, uint32_t stream, const char *comment, OTF_KeyValueList *l)
{
	struct xch_otf_reading *r = user;
	uint32_t n;
	char *cls = xch_otf_our_bytes(r, l, XOT_INFO_CLASS, &n), *text = xch_otf_our_bytes(r, l, XOT_INFO, &n);
	int rc = cls ? 0 : xch_otf_text(r, comment);

	(void)stream;
	if (rc == 0) {
		rc = xch_otf_told_stf(
			r, stf_writer_info(r->in->w, cls ? cls : "OTF", cls ? text ? text : "" : comment));
	}
	free(cls);
	free(text);
	return rc < 0 ? xch_otf_told(r, -1) : rc;
}

const struct xch_otf_handler xch_otf_definitions[] = {
	{ OTF_DEFKEYVALUE_RECORD, CALL(on_key) },
	{ OTF_DEFTIMERRESOLUTION_RECORD, CALL(on_resolution) },
	{ OTF_DEFPROCESS_RECORD, CALL(on_process) },
	{ OTF_DEFPROCESSGROUP_RECORD, CALL(on_group) },
	{ OTF_DEFFUNCTIONGROUP_RECORD, CALL(on_class) },
	{ OTF_DEFFUNCTION_RECORD, CALL(on_function) },
	{ OTF_DEFFILE_RECORD, CALL(on_file) },
	{ OTF_DEFCOLLOP_RECORD, CALL(on_operation) },
	{ OTF_DEFCOUNTER_RECORD, CALL(on_counter) },
	{ OTF_DEFINITIONCOMMENT_RECORD, CALL(on_comment_definition) },
	{ 0, NULL },
};
