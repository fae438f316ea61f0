/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the description of a CTF 2 trace (CTF2-SPEC-2.0): a sequence of JSON objects, each after the byte 0x1e. The use of a field
 * is in its roles; such fields get the names that such fields have in CTF 1.8. */
#include "config.h"
#include "exchange/ctf/ctf_types.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "exchange/common/private.h"
#include "exchange/ctf/ctf_json.h"

enum { MOST_DEPTH = 40, MOST_ALIGN = 1 << 16, MOST_TYPES = 1 << 20, MOST_LABELS = 1 << 20, PATH = 400 };

struct ctf2_parse {
	struct xch_ctf_trace *t;
	const char *text;       /* its start */
	struct xch_json *all;   /* the values, to be freed */
	struct tkm_table alias; /* const struct xch_json * by name */
	const char *clock;      /* of the stream whose types are read; NULL: it has none */
	unsigned nesting;
	size_t labels; /* of all types, with ranges: a name of a type is read again at each use */
	size_t events_room;
};

static int fail_meta2(const struct ctf2_parse *p, const char *at, const char *what)
{
	return tkm_fail(p->t->err, TKM_ERR_FORMAT, "%s/metadata: offset %" PRIu64 ": %s", p->t->folder,
		(uint64_t)(at - p->text), what);
}

static int no_memory(const struct ctf2_parse *p)
{
	return xch_fail_memory(p->t->err, p->t->folder);
}

static const char *keep_text(struct ctf2_parse *p, const char *text)
{
	const char *kept = xch_ctf_keep_plain(p->t, text, strlen(text));

	return kept;
}

static const struct xch_ctf_type *parse_class(struct ctf2_parse *p, const struct xch_json *j);

static struct xch_ctf_type *make_type(struct ctf2_parse *p, const struct xch_json *j, enum xch_ctf_kind kind)
{
	if (p->t->types >= MOST_TYPES) {
		fail_meta2(p, j->at, "more than a million types");
		return NULL;
	}
	return xch_ctf_new_type(p->t, kind);
}

/* ---- numbers and texts ---- */

static void take_roles(struct ctf2_parse *p, const struct xch_json *j, struct xch_ctf_type *type)
{
	static const char *const roles[][2] = { { "packet-magic-number", "magic" },
		{ "data-stream-class-id", "stream_id" }, { "packet-content-length", "content_size" },
		{ "packet-total-length", "packet_size" },
		{ "discarded-event-record-counter-snapshot", "events_discarded" }, { "event-record-class-id", "id" },
		{ "packet-end-default-clock-timestamp", "timestamp_end" } };
	const struct xch_json *list = xch_json_member(j, "roles"), *r;
	size_t i;

	for (r = list && list->kind == XCH_JSON_ARRAY ? list->first : NULL; r; r = r->next) {
		for (i = 0; r->kind == XCH_JSON_TEXT && i < sizeof(roles) / sizeof(roles[0]); i++) {
			type->role = !strcmp(r->text, roles[i][0]) ? roles[i][1] : type->role;
		}
		if (r->kind == XCH_JSON_TEXT && !strcmp(r->text, "default-clock-timestamp")) {
			type->clock = p->clock;
		}
	}
}

/* Counts a label, or a range. */
static int count_label(struct ctf2_parse *p, const struct xch_json *j)
{
	return ++p->labels > MOST_LABELS ? fail_meta2(p, j->at, "more than a million names and ranges of values") : 0;
}

/* [[LOW, HIGH], ...]: added to *to. */
static int take_ranges(
	struct ctf2_parse *p, const struct xch_json *list, const char *text, struct xch_ctf_label **to, size_t *n)
{
	const struct xch_json *r;
	struct xch_ctf_label *l;

	for (r = list && list->kind == XCH_JSON_ARRAY ? list->first : NULL; r; r = r->next) {
		const struct xch_json *low = r->kind == XCH_JSON_ARRAY ? r->first : NULL,
				      *high = low ? low->next : NULL;

		if (!high || low->kind != XCH_JSON_NUMBER || high->kind != XCH_JSON_NUMBER) {
			return fail_meta2(p, r->at, "a range that is not [LOW, HIGH]");
		}
		if (count_label(p, r) < 0) {
			return -1;
		}
		l = TKM_APPEND(*to, *n);
		if (!l) {
			return no_memory(p);
		}
		*l = (struct xch_ctf_label){ text, (int64_t)low->number, (int64_t)high->number };
	}
	return 0;
}

/* Names of values make an enumeration of an integer. */
static int take_mappings(struct ctf2_parse *p, const struct xch_json *j, struct xch_ctf_type *type)
{
	const struct xch_json *list = xch_json_member(j, "mappings"), *m;
	const char *text;

	for (m = list && list->kind == XCH_JSON_OBJECT ? list->first : NULL; m; m = m->next) {
		text = count_label(p, m) == 0 ? keep_text(p, m->key) : NULL;
		if (!text || take_ranges(p, m, text, &type->label, &type->labels) < 0) {
			return -1;
		}
		type->kind = XCH_CTF_ENUM;
	}
	return 0;
}

/* The alignment, in *to; its least value is what is there. */
static int take_align(struct ctf2_parse *p, const struct xch_json *j, const char *key, unsigned *to)
{
	uint64_t align = xch_json_number(j, key, 1);

	if (!align || align > MOST_ALIGN || (align & (align - 1))) {
		return fail_meta2(p, j->at, "an alignment that is no power of 2 up to 65536");
	}
	*to = align > *to ? (unsigned)align : *to;
	return 0;
}

static const struct xch_ctf_type *parse_fixed(
	struct ctf2_parse *p, const struct xch_json *j, int is_real, int is_signed)
{
	const char *order = xch_json_text(j, "byte-order", ""), *bits = xch_json_text(j, "bit-order", "");
	struct xch_ctf_type *type = make_type(p, j, is_real ? XCH_CTF_REAL : XCH_CTF_INTEGER);
	uint64_t length = xch_json_number(j, "length", 0);

	if (!type || take_align(p, j, "alignment", &type->align) < 0) {
		return NULL;
	}
	type->is_signed = is_signed;
	type->big = !strcmp(order, "big-endian");
	if ((!type->big && strcmp(order, "little-endian") != 0) ||
		(*bits && strcmp(bits, type->big ? "last-to-first" : "first-to-last") != 0)) {
		fail_meta2(p, j->at, "a number of an order of bytes or bits that is not known here");
		return NULL;
	}
	if (length < 1 || length > 64 || (is_real && length != 32 && length != 64)) {
		fail_meta2(p, j->at,
			is_real ? "a floating point number that has not 32 or 64 bits"
				: "a number that has not 1 to 64 bits");
		return NULL;
	}
	type->bits = (unsigned)length;
	take_roles(p, j, type);
	return !is_real && take_mappings(p, j, type) < 0 ? NULL : type;
}

static const struct xch_ctf_type *parse_leb(struct ctf2_parse *p, const struct xch_json *j, int is_signed)
{
	struct xch_ctf_type *type = make_type(p, j, XCH_CTF_INTEGER);

	if (!type) {
		return NULL;
	}
	type->is_leb = 1;
	type->is_signed = is_signed;
	type->align = 8;
	type->bits = 8; /* the least that it takes */
	take_roles(p, j, type);
	return take_mappings(p, j, type) < 0 ? NULL : type;
}

/* ---- places of other fields ---- */

static const char *parse_location(struct ctf2_parse *p, const struct xch_json *j, const char *key)
{
	static const char *const origins[][2] = { { "packet-header", "trace.packet.header." },
		{ "packet-context", "stream.packet.context." }, { "event-record-header", "stream.event.header." },
		{ "event-record-common-context", "stream.event.context." },
		{ "event-record-specific-context", "event.context." }, { "event-record-payload", "event.fields." } };
	const struct xch_json *l = xch_json_member(j, key), *path = xch_json_member(l, "path"), *step;
	const char *origin = xch_json_text(l, "origin", "");
	char text[PATH];
	size_t n = 0, i;

	for (i = 0; i < sizeof(origins) / sizeof(origins[0]); i++) {
		if (!strcmp(origin, origins[i][0])) {
			n = (size_t)snprintf(text, PATH, "%s", origins[i][1]);
		}
	}
	for (step = path && path->kind == XCH_JSON_ARRAY ? path->first : NULL; step; step = step->next) {
		if (step->kind == XCH_JSON_TEXT) {
			n += (size_t)snprintf(text + n, n < PATH ? PATH - n : 0, "%s%s",
				n && text[n - 1] != '.' ? "." : "", step->text);
		}
		if (n >= PATH) {
			break;
		}
	}
	if (n == 0 || n >= PATH || text[n - 1] == '.') {
		fail_meta2(p, j->at, "a length or a selector without its place, or with one that is too long");
		return NULL;
	}
	return keep_text(p, text);
}

/* ---- arrays and texts ---- */

static const struct xch_ctf_type *parse_array(
	struct ctf2_parse *p, const struct xch_json *j, const struct xch_ctf_type *of, int is_dynamic)
{
	struct xch_ctf_type *type = of ? make_type(p, j, is_dynamic ? XCH_CTF_SEQUENCE : XCH_CTF_ARRAY) : NULL;

	if (!type || take_align(p, j, "minimum-alignment", &type->align) < 0) {
		return NULL;
	}
	type->of = of;
	type->align = of->align > type->align ? of->align : type->align;
	type->depth = of->depth + 1;
	type->length = is_dynamic ? 0 : xch_json_number(j, "length", 0);
	type->ref = is_dynamic ? parse_location(p, j, "length-field-location") : NULL;
	return is_dynamic && !type->ref ? NULL : type;
}

/* Bytes; letters if they are UTF-8. */
static const struct xch_ctf_type *parse_bytes(
	struct ctf2_parse *p, const struct xch_json *j, int is_dynamic, int is_blob)
{
	struct xch_ctf_type *byte = make_type(p, j, XCH_CTF_INTEGER);

	if (!byte) {
		return NULL;
	}
	byte->bits = byte->align = 8;
	byte->is_text = !is_blob && !strcmp(xch_json_text(j, "encoding", "utf-8"), "utf-8");
	return parse_array(p, j, byte, is_dynamic);
}

static const struct xch_ctf_type *parse_string(struct ctf2_parse *p, const struct xch_json *j)
{
	if (strcmp(xch_json_text(j, "encoding", "utf-8"), "utf-8") != 0) {
		fail_meta2(p, j->at, "a text that ends with a zero and is not in UTF-8");
		return NULL;
	}
	return make_type(p, j, XCH_CTF_STRING);
}

/* ---- structures and choices ---- */

static struct xch_ctf_member *add_member2(struct ctf2_parse *p, const struct xch_json *j, struct xch_ctf_type *type)
{
	const struct xch_ctf_type *of = parse_class(p, xch_json_member(j, "field-class"));
	const char *name = of ? keep_text(p, xch_json_text(j, "name", "")) : NULL;
	struct xch_ctf_member *m = name ? TKM_APPEND(type->member, type->members) : NULL;

	if (!m) {
		return of ? (no_memory(p), NULL) : NULL;
	}
	*m = (struct xch_ctf_member){ .name = name, .type = of };
	type->align = type->kind == XCH_CTF_STRUCT && of->align > type->align ? of->align : type->align;
	type->depth = of->depth >= type->depth ? of->depth + 1 : type->depth;
	return m;
}

static const struct xch_ctf_type *parse_struct(struct ctf2_parse *p, const struct xch_json *j)
{
	struct xch_ctf_type *type = make_type(p, j, XCH_CTF_STRUCT);
	const struct xch_json *list = xch_json_member(j, "member-classes"), *m;

	if (!type || take_align(p, j, "minimum-alignment", &type->align) < 0) {
		return NULL;
	}
	for (m = list && list->kind == XCH_JSON_ARRAY ? list->first : NULL; m; m = m->next) {
		if (!add_member2(p, m, type)) {
			return NULL;
		}
	}
	return type;
}

/* A variant, or, with one choice, a field that may be missing. */
static const struct xch_ctf_type *parse_choice(struct ctf2_parse *p, const struct xch_json *j, int is_optional)
{
	struct xch_ctf_type *type = make_type(p, j, XCH_CTF_VARIANT);
	const struct xch_json *list = xch_json_member(j, "options"), *m;
	struct xch_ctf_member *to;

	if (!type) {
		return NULL;
	}
	type->chooses = is_optional ? XCH_CTF_OR_NOTHING : XCH_CTF_BY_RANGE;
	type->ref = parse_location(p, j, "selector-field-location");
	for (m = is_optional                                   ? j
			: list && list->kind == XCH_JSON_ARRAY ? list->first
							       : NULL;
		type->ref && m; m = m->next) {
		to = add_member2(p, m, type);
		if (!to ||
			take_ranges(p, xch_json_member(m, "selector-field-ranges"), "", &to->range, &to->ranges) < 0) {
			return NULL;
		}
		if (is_optional) {
			break;
		}
	}
	return type->ref ? type : NULL;
}

static const struct xch_ctf_type *parse_kind(struct ctf2_parse *p, const struct xch_json *j, const char *kind)
{
	static const char *const fixed[] = { "fixed-length-bit-array", "fixed-length-bit-map", "fixed-length-boolean",
		"fixed-length-unsigned-integer", "fixed-length-signed-integer", "fixed-length-floating-point-number" };
	size_t i;

	for (i = 0; i < 6; i++) {
		if (!strcmp(kind, fixed[i])) {
			return parse_fixed(p, j, i == 5, i == 4);
		}
	}
	if (!strcmp(kind, "variable-length-unsigned-integer") || !strcmp(kind, "variable-length-signed-integer")) {
		return parse_leb(p, j, kind[16] == 's');
	}
	if (!strcmp(kind, "static-length-string") || !strcmp(kind, "dynamic-length-string") ||
		!strcmp(kind, "static-length-blob") || !strcmp(kind, "dynamic-length-blob")) {
		return parse_bytes(p, j, *kind == 'd', kind[strlen(kind) - 1] == 'b');
	}
	if (!strcmp(kind, "static-length-array") || !strcmp(kind, "dynamic-length-array")) {
		return parse_array(p, j, parse_class(p, xch_json_member(j, "element-field-class")), *kind == 'd');
	}
	if (!strcmp(kind, "null-terminated-string")) {
		return parse_string(p, j);
	}
	if (!strcmp(kind, "structure")) {
		return parse_struct(p, j);
	}
	if (!strcmp(kind, "variant") || !strcmp(kind, "optional")) {
		return parse_choice(p, j, *kind == 'o');
	}
	fail_meta2(p, j->at, "a type of a kind that is not known here");
	return NULL;
}

/* A type, or the name of one. */
static const struct xch_ctf_type *parse_class(struct ctf2_parse *p, const struct xch_json *j)
{
	const struct xch_json *const *alias =
		j && j->kind == XCH_JSON_TEXT ? tkm_table_find(&p->alias, j->text, strlen(j->text) + 1) : NULL;
	const struct xch_ctf_type *type;

	if (!j || (j->kind == XCH_JSON_TEXT ? !alias : j->kind != XCH_JSON_OBJECT)) {
		fail_meta2(p, j ? j->at : p->text, "a type is missing, or one of a name that is not described before");
		return NULL;
	}
	if (++p->nesting > MOST_DEPTH) {
		fail_meta2(p, j->at, "too many types in each other");
		return NULL;
	}
	type = alias ? parse_class(p, *alias) : parse_kind(p, j, xch_json_text(j, "type", ""));
	p->nesting--;
	return type;
}

/* ---- the parts of a trace ---- */

static int take_scope(struct ctf2_parse *p, const struct xch_json *j, const char *key, const struct xch_ctf_type **to)
{
	const struct xch_json *of = xch_json_member(j, key);

	if (!of) {
		return 0;
	}
	*to = parse_class(p, of);
	return !*to ? -1 : (*to)->kind == XCH_CTF_STRUCT ? 0 : fail_meta2(p, of->at, "this is no structure");
}

/* The environment, as CTF 1.8 has it. */
static int take_environment(struct ctf2_parse *p, const struct xch_json *list)
{
	const struct xch_json *v;
	const char *c;
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	for (v = f && list && list->kind == XCH_JSON_OBJECT ? list->first : NULL; v; v = v->next) {
		if (v->kind == XCH_JSON_NUMBER) {
			fprintf(f, "%s = %" PRId64 "; ", v->key, (int64_t)v->number);
		} else if (v->kind == XCH_JSON_TEXT) {
			fprintf(f, "%s = \"", v->key);
			for (c = v->text; *c; c++) {
				fprintf(f, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
			}
			fputs("\"; ", f);
		}
	}
	if (!f || fclose(f) != 0) {
		return no_memory(p);
	}
	p->t->env.p = xch_ctf_keep_plain(p->t, text, size);
	p->t->env.end = p->t->env.p ? p->t->env.p + size : NULL;
	free(text);
	return p->t->env.p ? 0 : -1;
}

/* A number of cycles; NaN: the clock does not say it. */
static double cycles_of(const struct xch_json *clock, const char *key)
{
	const struct xch_json *v = xch_json_member(clock, key);

	return v && v->kind == XCH_JSON_NUMBER && v->number <= INT64_MAX ? (double)v->number : NAN;
}

static int take_clock(struct ctf2_parse *p, const struct xch_json *j)
{
	const struct xch_json *offset = xch_json_member(j, "offset-from-origin");
	struct xch_ctf_clock *c = TKM_APPEND(p->t->clock, p->t->clocks);

	if (!c) {
		return no_memory(p);
	}
	*c = (struct xch_ctf_clock){ .hz = xch_json_number(j, "frequency", 0),
		.offset = xch_json_number(offset, "cycles", 0),
		.offset_s = (int64_t)xch_json_number(offset, "seconds", 0),
		.bound_s = NAN,
		.elsewhere = strcmp(xch_json_text(j, "origin", ""), "unix-epoch") != 0 };
	snprintf(c->name, sizeof(c->name), "%s", xch_json_text(j, "id", xch_json_text(j, "name", "")));
	if (c->hz) { /* without its accuracy, a clock may be off by anything */
		c->bound_s = (cycles_of(j, "precision") + cycles_of(j, "accuracy")) / (double)c->hz;
	}
	return c->hz ? 0 : fail_meta2(p, j->at, "the clock's frequency is 0");
}

static int take_stream(struct ctf2_parse *p, const struct xch_json *j)
{
	struct xch_ctf_stream_class *c = TKM_APPEND(p->t->stream, p->t->streams);

	if (!c) {
		return no_memory(p);
	}
	*c = (struct xch_ctf_stream_class){ .id = xch_json_number(j, "id", 0) };
	p->clock = xch_json_text(j, "default-clock-class-id", xch_json_text(j, "default-clock-class-name", NULL));
	p->clock = p->clock ? keep_text(p, p->clock) : NULL;
	return take_scope(p, j, "packet-context-field-class", &c->scope[XCH_CTF_PACKET]) < 0 ||
			take_scope(p, j, "event-record-header-field-class", &c->scope[XCH_CTF_EVENT]) < 0 ||
			take_scope(p, j, "event-record-common-context-field-class", &c->scope[XCH_CTF_STREAM_CONTEXT]) <
				0
		? -1
		: 0;
}

static int take_event(struct ctf2_parse *p, const struct xch_json *j)
{
	struct xch_ctf_event_class *c =
		xch_ctf_add_event(p->t, &p->events_room, xch_json_number(j, "data-stream-class-id", 0),
			xch_json_number(j, "id", 0), keep_text(p, xch_json_text(j, "name", "event")));

	p->clock = NULL;
	return !c || take_scope(p, j, "specific-context-field-class", &c->scope[XCH_CTF_CONTEXT]) < 0 ||
			take_scope(p, j, "payload-field-class", &c->scope[XCH_CTF_FIELDS]) < 0
		? -1
		: 0;
}

static int take_alias(struct ctf2_parse *p, const struct xch_json *j)
{
	const char *name = xch_json_text(j, "name", "");
	const struct xch_json **to = tkm_table_put(&p->alias, name, strlen(name) + 1, sizeof(*to));

	if (!to) {
		return no_memory(p);
	}
	if (*to || !xch_json_member(j, "field-class")) {
		return fail_meta2(p, j->at, "a name of a type that is given twice, or to none");
	}
	*to = xch_json_member(j, "field-class");
	return 0;
}

static int take_fragment(struct ctf2_parse *p, const struct xch_json *j, int is_first)
{
	const char *type = xch_json_text(j, "type", "");

	if (is_first && (strcmp(type, "preamble") != 0 || xch_json_number(j, "version", 0) != 2)) {
		return fail_meta2(p, j->at, "it does not begin with the preamble of CTF 2");
	}
	if (xch_json_member(j, "extensions")) {
		return fail_meta2(p, j->at, "an extension of CTF 2 that is not known here");
	}
	if (!strcmp(type, "trace-class")) {
		return take_environment(p, xch_json_member(j, "environment")) < 0
			? -1
			: take_scope(p, j, "packet-header-field-class", &p->t->header);
	}
	return !strcmp(type, "clock-class")           ? take_clock(p, j)
		: !strcmp(type, "data-stream-class")  ? take_stream(p, j)
		: !strcmp(type, "event-record-class") ? take_event(p, j)
		: !strcmp(type, "field-class-alias")  ? take_alias(p, j)
		: is_first || !strcmp(type, "preamble")
		? 0
		: fail_meta2(p, j->at, "a part of a kind that is not known here");
}

static int take_all(struct ctf2_parse *p, char *at, char *end)
{
	const struct xch_json *j;
	const char *why;
	int first = 1;

	for (;; first = 0) {
		while (at < end &&
			(*at == 0x1e || *at == ' ' || *at == '\n' || *at == '\r' || *at == '\t' || *at == '\0')) {
			at++;
		}
		if (at == end) {
			return 0;
		}
		j = xch_json_read(&at, end, &p->all, &why);
		if (!j) {
			return fail_meta2(p, at, why);
		}
		if (take_fragment(p, j, first) < 0) {
			return -1;
		}
	}
}

int xch_ctf_trace_read2(struct xch_ctf_trace *t, char *text, size_t n)
{
	struct ctf2_parse p = { .t = t, .text = text };
	int rc;

	t->has_roles = 1;
	rc = take_all(&p, text, text + n);
	if (rc == 0 && t->streams == 0) {
		rc = fail_meta2(&p, text, "no stream is described");
	}
	tkm_table_free(&p.alias);
	xch_json_free(p.all);
	return rc < 0 ? -1 : 0;
}
