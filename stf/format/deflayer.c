/* SPDX-License-Identifier: BSD-3-Clause */
/* The definition layer: prints our own, and parses that of any writer and matches it with our layouts. */
#include "config.h"
#include "stf/format/deflayer.h"
#include "stf/format/identity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- our own layer ---- */

static void print_record(struct stf_buf *out, const struct stf_layout *l)
{
	const struct stf_field *f;

	stf_buf_printf(out, "RECORD %u %s", l->id, l->cls);
	for (f = l->fields; f < l->fields + l->n_fields; f++) {
		stf_buf_printf(out, " %s%s:%s", f->is_array ? "<" : "", stf_type_name(f->type), f->name);
		if (f->ref_class) {
			stf_buf_printf(out, ":%s.id", stf_layout(f->ref_class)->cls);
		}
		stf_buf_printf(out, "%s", f->is_array ? ">" : "");
	}
	stf_buf_printf(out, "\n");
}

static int has_nested(const struct stf_layout *l)
{
	unsigned i;

	for (i = 0; i < l->n_fields; i++) {
		if (l->fields[i].type == STF_WILLYID) {
			return 1;
		}
	}
	return 0;
}

void stf_defs_print(struct stf_buf *out, const uint8_t *used, int big, const char *comment)
{
	unsigned id;
	int nested = 0;

	stf_buf_printf(out, "STF 1.0 %s\n", big ? "BIG" : "LITTLE");
	if (comment && *comment) {
		stf_buf_printf(out, "# %s\n", comment);
	}
	for (id = 1; id < STF_ID_END; id++) {
		if (!used[id] || id == STF_ID_willy_id) {
			continue;
		}
		if (has_nested(stf_layout(id)) && !nested) {
			print_record(out, stf_layout(STF_ID_willy_id));
			nested = 1;
		}
		print_record(out, stf_layout(id));
	}
	if (used[STX_IDENTITY_ID]) {
		stf_identity_print(out);
	}
	stf_buf_printf(out, "END\n");
}

void stf_defs_print_one(struct stf_buf *out, unsigned id)
{
	if (id == STX_IDENTITY_ID) {
		stf_identity_print(out);
	} else if (stf_layout(id)) {
		print_record(out, stf_layout(id));
	}
}

static void print_def(struct stf_buf *out, const struct stf_fdef *d)
{
	const struct stf_ffield *f;
	double v;

	stf_buf_printf(out, "RECORD %u %s", d->id, d->specifier);
	for (f = d->field; f < d->field + d->n; f++) {
		stf_buf_printf(out, f->is_array ? " <%s:%s" : " %s:%s",
			f->type == STX_NESTED ? f->nested->specifier : stf_type_name((enum stf_type)f->type), f->name);
		if (f->has_dflt && (f->type == STF_F4 || f->type == STF_F8)) {
			memcpy(&v, &f->dflt, sizeof(v));
			stf_buf_printf(out, "=%.17g", v);
		} else if (f->has_dflt) {
			stf_buf_printf(out, "=%lld", (long long)f->dflt);
		}
		stf_buf_printf(out, f->is_array ? ">" : "");
	}
	stf_buf_printf(out, "\n");
}

void stf_defs_print_all(struct stf_buf *out, const struct stf_defs *d)
{
	unsigned i;

	stf_buf_printf(out, "STF 1.0 %s\n", d->big ? "BIG" : "LITTLE");
	for (i = 0; i < d->n; i++) {
		print_def(out, d->order[i]);
	}
	stf_buf_printf(out, "END\n");
}

/* ---- parsing the layer of any writer ---- */

static int refuse_line(struct stf_err *err, const char *why, const char *what, size_t n)
{
	if (n > 64) {
		n = 64;
	}
	return stf_fail(err, STF_ERR_DEFINITION, NULL, 0, 0, "%s \"%.*s\"", why, (int)n, what);
}

int stf_defs_head(struct stf_defs *d, const char *line, size_t n, struct stf_err *err)
{
	if (n == 14 && memcmp(line, "STF 1.0 LITTLE", 14) == 0) {
		d->big = 0;
		return 0;
	}
	if (n == 11 && memcmp(line, "STF 1.0 BIG", 11) == 0) {
		d->big = 1;
		return 0;
	}
	return stf_fail(err, STF_ERR_DEFINITION, NULL, 0, 0,
		"no STF trace: the first line must be \"STF 1.0 LITTLE\" or \"STF 1.0 BIG\"");
}

static void free_def(struct stf_fdef *f)
{
	unsigned i;

	for (i = 0; f && i < f->n; i++) {
		free(f->field[i].name);
	}
	if (f) {
		free(f->field);
		free(f->specifier);
		free(f);
	}
}

void stf_defs_free(struct stf_defs *d)
{
	unsigned i;

	for (i = 0; i < d->n; i++) {
		free_def(d->order[i]);
	}
	memset(d, 0, sizeof(*d));
}

static int is_name(const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (!((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') || (s[i] >= '0' && s[i] <= '9') ||
			    s[i] == '_')) {
			return 0;
		}
	}
	return n > 0 && n <= 64;
}

/* The next word of a line, NULL at its end. */
static char *next_word(char **line, size_t *n)
{
	char *s = *line + strspn(*line, " \t");

	*n = strcspn(s, " \t");
	*line = s + *n;
	return *n ? s : NULL;
}

static char *copy(const char *s, size_t n)
{
	char *c = malloc(n + 1);

	if (c) {
		memcpy(c, s, n);
		c[n] = 0;
	}
	return c;
}

/* A specifier that is used as a type means the latest definition of that specifier. */
static const struct stf_fdef *find_def(const struct stf_defs *d, const char *s, size_t n)
{
	unsigned i = d->n;

	while (i-- > 0) {
		if (strlen(d->order[i]->specifier) == n && memcmp(d->order[i]->specifier, s, n) == 0) {
			return d->order[i];
		}
	}
	return NULL;
}

/* A nested record that consists of one basic field is treated as that field: a willy_id is a U4. */
static int collapse(const struct stf_fdef *f)
{
	return f->n == 1 && !f->field[0].is_array && f->field[0].type != STX_NESTED ? f->field[0].type : -1;
}

static int parse_type(const struct stf_defs *d, struct stf_ffield *f, struct stf_fdef *owner, const char *s, size_t n,
	struct stf_err *err)
{
	f->type = stf_type_by_name(s, n);
	if (f->type >= 0) {
		f->min_size = stf_type_size(f->type);
		f->fixed = 1;
		return 0;
	}
	f->nested = find_def(d, s, n);
	if (!f->nested) {
		return refuse_line(err, "unknown type", s, n);
	}
	/* an empty record is refused: an array of it could have any count, and nesting would multiply the counts
	 * at no cost */
	if (f->nested->min_size == 0) {
		return refuse_line(err, "an empty record cannot be a type:", s, n);
	}
	if (f->nested->depth >= STX_MAX_DEPTH) {
		return refuse_line(err, "records are nested too deep:", s, n);
	}
	if (f->nested->depth >= owner->depth) {
		owner->depth = f->nested->depth + 1;
	}
	f->min_size = f->nested->min_size;
	f->fixed = f->nested->fixed;
	f->type = collapse(f->nested);
	if (f->type < 0) {
		f->type = STX_NESTED;
	}
	return 0;
}

static int parse_default(struct stf_ffield *f, const char *s, struct stf_err *err)
{
	char *end;
	double v;

	errno = 0;
	if (f->type == STF_F4 || f->type == STF_F8) {
		v = strtod(s, &end);
		memcpy(&f->dflt, &v, sizeof(v));
	} else if (*s == '-') {
		f->dflt = (uint64_t)strtoll(s, &end, 0);
	} else {
		f->dflt = strtoull(s, &end, 0);
	}
	if (*end || end == s || errno == ERANGE || f->type == STX_NESTED) {
		return refuse_line(err, "not a default value:", s, strlen(s));
	}
	f->has_dflt = 1;
	return 0;
}

/* The field size_G_N is followed by N arrays; any other name is an ordinary field. */
static int parse_size_field(struct stf_ffield *f, struct stf_err *err)
{
	unsigned long group, arrays;
	char rest;

	if (strncmp(f->name, "size_", 5) != 0 || strspn(f->name + 5, "0123456789_") != strlen(f->name + 5) ||
		sscanf(f->name, "size_%4lu_%4lu%c", &group, &arrays, &rest) != 2) {
		return 0;
	}
	if (arrays == 0 || arrays > STX_MAX_DEF_FIELDS || f->type > STF_U8) {
		return refuse_line(err, "not a size field:", f->name, strlen(f->name));
	}
	f->arrays_follow = (int)arrays;
	return 0;
}

/* Parses type:name or type:name:reference, either with =default; all of it in <> for an array. `s` ends in 0. */
static int parse_field(
	const struct stf_defs *d, struct stf_ffield *f, struct stf_fdef *owner, char *s, struct stf_err *err)
{
	size_t n = strlen(s);
	char *name, *dflt, *ref;

	f->to = -1;
	if (*s == '<') {
		if (s[n - 1] != '>') {
			return refuse_line(err, "an array without its >:", s, n);
		}
		s[n - 1] = 0;
		s++;
		f->is_array = 1;
	}
	dflt = strchr(s, '=');
	if (dflt) {
		*dflt++ = 0;
	}
	name = strchr(s, ':');
	if (!name) {
		return refuse_line(err, "a field is type:name, this is", s, strlen(s));
	}
	*name++ = 0;
	ref = strchr(name, ':');
	if (ref) {
		*ref++ = 0; /* what the field refers to is known from the class and the name */
	}
	if (!is_name(name, strlen(name)) || (ref && !*ref)) {
		return refuse_line(err, "not a field name or reference:", name, strlen(name));
	}
	if (parse_type(d, f, owner, s, strlen(s), err) < 0) {
		return -1;
	}
	f->name = copy(name, strlen(name));
	if (!f->name) {
		return stf_no_memory(err);
	}
	if (!f->is_array && parse_size_field(f, err) < 0) {
		return -1;
	}
	return dflt ? parse_default(f, dflt, err) : 0;
}

/* Checks that need all fields: every array has a size field, and no name occurs twice. */
static int check_def(struct stf_fdef *f, struct stf_err *err)
{
	unsigned i, k;
	int arrays = 0;

	f->fixed = 1;
	for (i = 0; i < f->n; i++) {
		for (k = 0; k < i; k++) {
			if (strcmp(f->field[k].name, f->field[i].name) == 0) {
				return refuse_line(
					err, "field defined twice:", f->field[i].name, strlen(f->field[i].name));
			}
		}
		if (f->field[i].is_array ? arrays == 0 : arrays > 0) {
			return refuse_line(err,
				f->field[i].is_array ? "array without a size field:" : "array is missing before",
				f->field[i].name, strlen(f->field[i].name));
		}
		if (f->field[i].is_array) {
			arrays--;
			f->fixed = 0;
			continue;
		}
		arrays = f->field[i].arrays_follow;
		f->fixed &= f->field[i].fixed;
		/* each level of nesting doubles this: 256^17 would not fit */
		f->min_size = f->min_size + f->field[i].min_size;
		if (f->min_size > UINT32_MAX) {
			return refuse_line(err, "record is too long:", f->specifier, strlen(f->specifier));
		}
	}
	return arrays ? refuse_line(err, "array is missing at the end of", f->specifier, strlen(f->specifier)) : 0;
}

static size_t count_words(char *line)
{
	size_t n, words = 0;

	while (next_word(&line, &n)) {
		words++;
	}
	return words;
}

static struct stf_fdef *parse_record(struct stf_defs *d, char *line, struct stf_err *err)
{
	struct stf_fdef *f = calloc(1, sizeof(*f));
	size_t n, fields;
	char *s = next_word(&line, &n), *end;
	unsigned long id = s ? strtoul(s, &end, 10) : 0;

	if (!f) {
		stf_no_memory(err);
		return NULL;
	}
	if (!s || end != s + n || id < 1 || id > STX_LAST_ID) {
		refuse_line(err, "a record's id must be 1 to 233, this is", s ? s : "", n);
		goto fail;
	}
	if (d->def[id]) {
		refuse_line(err, "record id defined twice:", s, n);
		goto fail;
	}
	f->id = (uint8_t)id;
	s = next_word(&line, &n);
	if (!s || !is_name(s, n) || stf_type_by_name(s, n) >= 0) {
		refuse_line(err, "not a specifier:", s ? s : "", n);
		goto fail;
	}
	fields = count_words(line);
	if (fields > STX_MAX_DEF_FIELDS) {
		refuse_line(err, "more than 256 fields in", s, n);
		goto fail;
	}
	f->specifier = copy(s, n);
	f->field = calloc(fields + 1, sizeof(*f->field));
	if (!f->specifier || !f->field) {
		stf_no_memory(err);
		goto fail;
	}
	while ((s = next_word(&line, &n))) {
		line += *line != 0;
		s[n] = 0;
		if (parse_field(d, &f->field[f->n++], f, s, err) < 0) {
			goto fail;
		}
	}
	if (check_def(f, err) == 0) {
		return f;
	}
fail:
	free_def(f);
	return NULL;
}

int stf_defs_line(struct stf_defs *d, char *line, size_t n, struct stf_err *err)
{
	struct stf_fdef *f;
	char *s = line;
	size_t len;

	if (memchr(line, 0, n)) {
		return refuse_line(err, "zero byte in the definition layer after", line, strlen(line));
	}
	line[n] = 0;
	s = next_word(&line, &len);
	if (!s || *s == '#') {
		return 0;
	}
	if (len == 3 && memcmp(s, "END", 3) == 0 && line[strspn(line, " \t")] == 0) {
		return 1;
	}
	if (len != 6 || memcmp(s, "RECORD", 6) != 0) {
		return refuse_line(err, "expected RECORD, END or a comment, found", s, strlen(s));
	}
	f = parse_record(d, line, err);
	if (!f) {
		return -1;
	}
	d->def[f->id] = d->order[d->n++] = f;
	return 0;
}

/* ---- matching with our layouts ---- */

static int is_integer(int t)
{
	return t <= STF_I8 || t == STF_WILLYID;
}

/* Can a value of type `from` be converted to type `to`? */
static int converts(int from, int to)
{
	switch (to) {
	case STF_C1:
		return from == STF_C1 || from == STF_U1 || from == STF_I1;
	case STF_F4:
	case STF_F8:
		return from == STF_F4 || from == STF_F8 || is_integer(from);
	case STF_O8:
		return from == STF_O8 || from == STF_F8 || is_integer(from);
	default:
		return is_integer(from) || ((to == STF_U8 || to == STF_I8) && from == STF_O8) ||
			(to == STF_U1 && from == STF_C1);
	}
}

static const struct stf_ffield *find_field(const struct stf_fdef *f, const struct stf_field *ours)
{
	unsigned i;

	for (i = 0; i < f->n; i++) {
		/* size fields are not matched: views count their arrays themselves */
		if (strcmp(f->field[i].name, ours->name) == 0 && f->field[i].is_array == ours->is_array &&
			!f->field[i].arrays_follow && f->field[i].type != STX_NESTED &&
			converts(f->field[i].type, ours->type)) {
			return &f->field[i];
		}
	}
	return NULL;
}

/* How near a layout is; higher is nearer. In this order: most fields in common, fewest missing, most of the same
 * type, the same id. */
static long nearness(const struct stf_fdef *f, const struct stf_layout *l)
{
	long common = 0, missing = 0, same = 0;
	const struct stf_ffield *g;
	unsigned i;

	for (i = 0; i < l->n_fields; i++) {
		if (l->fields[i].is_size) {
			continue;
		}
		g = find_field(f, &l->fields[i]);
		common += g != NULL;
		missing += g == NULL;
		same += g &&
			(g->type == (int)l->fields[i].type || (l->fields[i].type == STF_WILLYID && g->type == STF_U4));
	}
	return ((common * 64 + 63 - missing) * 64 + same) * 2 + (f->id == l->id);
}

/* The default that another incarnation of the same class states, else that of the table. */
static uint64_t default_of(const struct stf_defs *d, const struct stf_fdef *f, const struct stf_field *ours)
{
	const struct stf_ffield *g;
	unsigned i;

	for (i = 0; i < d->n; i++) {
		if (strcmp(d->order[i]->specifier, f->specifier) == 0) {
			g = find_field(d->order[i], ours);
			if (g && g->has_dflt) {
				return g->dflt;
			}
		}
	}
	return ours->dflt;
}

static void bind_record(const struct stf_defs *d, struct stf_fdef *f)
{
	unsigned cls = stf_class_by_name(f->specifier), id, i;
	const struct stf_ffield *g;
	long best = -1, n;

	for (id = 1; cls && id < STF_ID_END; id++) {
		if (stf_layout(id)->class_id != cls) {
			continue;
		}
		n = nearness(f, stf_layout(id));
		if (n > best) {
			best = n;
			f->ours = stf_layout(id);
		}
	}
	for (i = 0; i < f->n; i++) {
		f->field[i].is_time =
			!f->field[i].is_array && is_integer(f->field[i].type) && strcmp(f->field[i].name, "time") == 0;
	}
	for (i = 0; f->ours && i < f->ours->n_fields; i++) {
		g = f->ours->fields[i].is_size ? NULL : find_field(f, &f->ours->fields[i]);
		if (g) {
			f->field[g - f->field].to = (int)i;
			f->present[i] = 1;
		} else if (!f->ours->fields[i].is_size) {
			f->missing[i] = default_of(d, f, &f->ours->fields[i]);
		}
	}
}

/* Does the file lay this record out as we do, in this machine's byte order? */
static int is_native(const struct stf_defs *d, const struct stf_fdef *f)
{
	const struct stf_layout *l = f->ours;
	unsigned i;

	if (!l || d->big != TKM_HOST_BIG || f->id != l->id || f->n != l->n_fields) {
		return 0;
	}
	for (i = 0; i < f->n; i++) {
		const struct stf_ffield *g = &f->field[i];
		const struct stf_field *o = &l->fields[i];

		if (g->is_array != o->is_array || g->arrays_follow != o->is_size || strcmp(g->name, o->name) != 0 ||
			g->type != (int)(o->type == STF_WILLYID ? STF_U4 : o->type) ||
			(!o->is_size && g->to != (int)i)) {
			return 0;
		}
	}
	return 1;
}

/* The record must be exactly as we write it; any other record of that name is unknown to us. */
static int is_identity(const struct stf_fdef *f)
{
	static const int type[] = { STF_U4, STF_U8, STF_U8, STF_F8, STF_U4, STF_U1 };
	unsigned i;

	if (f->id != STX_IDENTITY_ID || strcmp(f->specifier, STX_IDENTITY_NAME) != 0 ||
		f->n != sizeof(type) / sizeof(type[0])) {
		return 0;
	}
	for (i = 0; i < f->n && f->field[i].type == type[i] && !f->field[i].is_array; i++) {
	}
	return i == f->n;
}

static void bind_times(const struct stf_defs *d, struct stf_fdef *f)
{
	unsigned i;

	f->timing = strcmp(f->specifier, "sub_time") == 0 ? STX_SUB_TIME
		: strcmp(f->specifier, "add_time") == 0   ? STX_ADD_TIME
		: is_identity(f)                          ? STX_IDENTITY
							  : STX_NO_TIMING;
	f->native = is_native(d, f);
	f->time_field = f->time_to = -1;
	for (i = 0; i < f->n; i++) {
		f->time_field = f->field[i].is_time ? (int)i : f->time_field;
	}
	for (i = 0; f->ours && i < f->ours->n_fields; i++) {
		f->time_to = f->ours->fields[i].is_time ? (int)i : f->time_to;
	}
}

void stf_defs_bind(struct stf_defs *d)
{
	unsigned i;

	for (i = 0; i < d->n; i++) {
		bind_record(d, d->order[i]);
		bind_times(d, d->order[i]);
	}
}
