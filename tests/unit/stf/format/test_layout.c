/* SPDX-License-Identifier: BSD-3-Clause */
/* The record table against the published list; every record through encoder and decoder at the bounds
 * of its fields, in both byte orders; other people's definition layers. */
#include "stf/format/deflayer.h"
#include "stf/write/put.h"
#include "stf/write/stream.h"
#include "tests/lib/check.h"

static const char *source_dir(void)
{
	const char *d = getenv("top_srcdir");

	return d ? d : ".";
}

/* ---- the list ---- */

static void check_field_line(
	const struct stf_layout *l, unsigned i, const char *type, const char *name, const char *ref)
{
	const struct stf_field *f = &l->fields[i];
	char want_type[24], want_ref[80] = "";

	CHECK(i < l->n_fields, "%s has only %u fields", l->name, l->n_fields);
	if (i >= l->n_fields) {
		return;
	}
	snprintf(want_type, sizeof(want_type), f->is_array ? "<%s>" : "%s", stf_type_name(f->type));
	if (f->ref_class) {
		snprintf(want_ref, sizeof(want_ref), "%s.id", stf_layout(f->ref_class)->cls);
	}
	CHECK_STR(want_type, type);
	CHECK_STR(f->name, name);
	CHECK_STR(want_ref, ref);
	CHECK_INT(f->is_size > 0, strncmp(name, "size_", 5) == 0 && strlen(name) > 7 && name[5] < 'a');
}

static void table_equals_list(void)
{
	char path[4096], line[256], a[80], b[80], c[80];
	const struct stf_layout *l = NULL;
	unsigned id, records = 0, field = 0;
	int n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/golden/stf-1.0-records.txt", source_dir());
	f = fopen(path, "r");
	CHECK(f, "cannot read %s", path);
	while (f && fgets(line, sizeof(line), f)) {
		if (*line == '#') {
			continue;
		}
		if (*line != ' ') {
			CHECK(!l || field == l->n_fields, "%s has more fields than listed", l->name);
			CHECK(sscanf(line, "%u %79s", &id, a) == 2, "%s", line);
			l = stf_layout(id);
			CHECK(l, "id %u is not in the table", id);
			if (!l) {
				break;
			}
			CHECK_STR(l->name, a);
			CHECK_INT(l->id, id);
			CHECK(strncmp(l->cls, l->name, strlen(l->cls)) == 0, "%s of class %s", l->name, l->cls);
			records++;
			field = 0;
			continue;
		}
		*c = 0;
		n = sscanf(line, "%79s %79s %79s", a, b, c);
		CHECK(n >= 2, "%s", line);
		check_field_line(l, field++, a, b, c);
	}
	CHECK(!l || field == l->n_fields, "last record");
	CHECK_INT(records, 74);
	if (f) {
		fclose(f);
	}
}

static void sizes_match_arrays(void)
{
	unsigned id, i, left;

	for (id = 1; id < STF_ID_END; id++) {
		const struct stf_layout *l = stf_layout(id);

		for (i = 0, left = 0; i < l->n_fields; i++) {
			CHECK(l->fields[i].is_array == (left > 0), "%s.%s", l->name, l->fields[i].name);
			left = l->fields[i].is_array ? left - 1 : l->fields[i].is_size;
		}
		CHECK_INT(left, 0);
		CHECK_STR(stf_layout(l->class_id)->name, l->cls);
	}
	CHECK(!stf_layout(0) && !stf_layout(75), "ids outside 1 to 74");
}

/* ---- round trip ---- */

typedef int put_fn(struct stf_stream *s, const struct stf_record *v);
#define STF_BEGIN(id, cls, name, kind) \
	static int put_view_##name(struct stf_stream *s, const struct stf_record *v) \
	{ \
		struct stf_##name r; \
		return stf_get_##name(v, &r) < 0 ? -1 : stf_put_##name(s, &r); \
	}
#include "include/records.def"
static put_fn *const put_view[STF_ID_END] = {
#define STF_BEGIN(id, cls, name, kind) [id] = put_view_##name,
#include "include/records.def"
};

/* The n-th boundary value of a type, as the bits of a view. */
static uint64_t bound(enum stf_type t, unsigned n)
{
	static const double d[] = { 0, -0.0, 1.5, -1e308, 5e-324, INFINITY };
	unsigned bits = 8 * stf_type_size(t);
	uint64_t u;

	if (t == STF_F8) {
		memcpy(&u, &d[n % 6], sizeof(u));
		return u;
	}
	if (t >= STF_I1 && t <= STF_I8) {
		const int64_t top = (int64_t)(UINT64_MAX >> (65 - bits));
		const int64_t v[] = { 0, 1, -1, top, -top - 1, 0x12 };

		return (uint64_t)v[n % 6];
	}
	{
		const uint64_t top = UINT64_MAX >> (64 - bits);
		const uint64_t v[] = { 0, 1, top, top - 1, top / 2 + 1, 0x1122334455667788u & top };

		return v[n % 6];
	}
}

#define MOST 300
struct made {
	struct stf_record r;
	struct stf_value v[STX_MAX_FIELDS];
	uint64_t mem[STX_MAX_FIELDS][MOST];
};

/* A record whose fields hold boundary value n, arrays `count` of them from n on. */
static void make(struct made *m, unsigned id, unsigned n, uint32_t count)
{
	const struct stf_layout *l = stf_layout(id);
	unsigned i, k, size;
	uint64_t u;

	memset(m, 0, sizeof(*m));
	m->r.layout = l;
	m->r.values = m->v;
	for (i = 0; i < l->n_fields; i++) {
		const struct stf_field *f = &l->fields[i];

		if (f->is_size) {
			if (f->type == STF_U1 && count > 255) {
				count = 255;
			}
			m->v[i].u = count;
		} else if (f->is_array) {
			size = stf_type_size(f->type);
			for (k = 0; k < count; k++) {
				u = bound(f->type, n + k);
				memcpy((char *)m->mem[i] + (size_t)k * size, &u, size);
			}
			m->v[i].array = m->mem[i];
			m->v[i].count = count;
		} else {
			m->v[i].u = bound(f->type, n);
		}
	}
}

static void same_record(const struct stf_record *a, const struct stf_value *b, const char *what)
{
	unsigned i;

	for (i = 0; i < a->layout->n_fields; i++) {
		const struct stf_field *f = &a->layout->fields[i];

		if (f->is_array) {
			CHECK(a->values[i].count == b[i].count, "%s %s.%s count", what, a->layout->name, f->name);
			CHECK(memcmp(a->values[i].array, b[i].array,
				      a->values[i].count * (size_t)stf_type_size(f->type)) == 0,
				"%s %s.%s", what, a->layout->name, f->name);
			CHECK(((const char *)b[i].array)[b[i].count * (size_t)stf_type_size(f->type)] == 0, "end zero");
		} else {
			CHECK(a->values[i].u == b[i].u, "%s %s.%s is %llx, want %llx", what, a->layout->name, f->name,
				(unsigned long long)b[i].u, (unsigned long long)a->values[i].u);
		}
	}
}

static int own_defs(struct stf_defs *d, int big)
{
	uint8_t used[256];
	struct stf_buf text = { 0 };
	struct stf_err err = { 0 };
	char *line, *next;
	int rc = 0;

	memset(used, 1, sizeof(used));
	memset(d, 0, sizeof(*d));
	stf_defs_print(&text, used, big, "all");
	stf_buf_add(&text, "", 1);
	for (line = text.p; rc == 0 && (next = strchr(line, '\n')); line = next + 1) {
		*next = 0;
		rc = line == text.p ? stf_defs_head(d, line, (size_t)(next - line), &err)
				    : stf_defs_line(d, line, (size_t)(next - line), &err);
	}
	CHECK(rc == 1, "own layer: %s", err.text);
	stf_defs_bind(d);
	free(text.p);
	return rc;
}

static void round_trip(struct stf_defs *d, unsigned id, unsigned n, uint32_t count, int big)
{
	static struct made m;
	struct stf_scratch scratch = { 0 };
	struct stf_decoded out;
	struct stf_err err = { 0 };
	uint8_t used[256] = { 0 };
	struct stf_stream *s = stf_stream_new(&(struct stf_where){ .big = big, .err = &err, .used = used }, "", 0);
	size_t size, k;
	uint8_t *exact;

	make(&m, id, n, count);
	CHECK(put_view[id](s, &m.r) == 0, "%s: %s", m.r.layout->name, err.text);
	size = (size_t)(s->cur - s->buf);
	CHECK(stf_wire_size(s->buf, big) == size, "%s: wire size", m.r.layout->name);
	CHECK(used[id], "%s marked as used", m.r.layout->name);
	/* an exact copy, so that the address sanitizer sees a read too far */
	exact = malloc(size);
	memcpy(exact, s->buf, size);
	CHECK_INT(stf_decode(d, exact, size, size, &scratch, &out), STX_DONE);
	CHECK_INT(out.size, size);
	CHECK_INT(out.def->ours->id, id);
	same_record(&m.r, scratch.value, big ? "big" : "little");
	for (k = 0; k < size && size < 400; k++) {
		CHECK_INT(stf_decode(d, exact, k, k, &scratch, &out), STX_BAD);
		CHECK_INT(out.code, STF_ERR_TRUNCATED);
		CHECK_INT(stf_decode(d, exact, k, size, &scratch, &out), STX_SHORT);
	}
	free(exact);
	free(scratch.mem.p);
	stf_stream_free(s);
}

static void every_record_round_trips(void)
{
	static const uint32_t counts[] = { 0, 1, 2, 255, MOST };
	struct stf_defs d;
	unsigned id, n, c;
	int big;

	for (big = 0; big < 2; big++) {
		if (own_defs(&d, big) == 1) {
			for (id = 1; id < STF_ID_END; id++) {
				for (n = 0; n < 6; n++) {
					for (c = 0; c < 5; c++) {
						round_trip(&d, id, n, counts[c], big);
					}
				}
			}
		}
		stf_defs_free(&d);
	}
}

/* A size field of all ones must be refused by arithmetic, not by trying. */
static void huge_sizes_are_refused(void)
{
	struct stf_scratch scratch = { 0 };
	struct stf_decoded out;
	struct stf_defs d;
	uint8_t bytes[64];
	unsigned id, i, at;

	own_defs(&d, 0);
	for (id = 1; id < STF_ID_END; id++) {
		const struct stf_layout *l = stf_layout(id);

		memset(bytes, 0, sizeof(bytes));
		*bytes = (uint8_t)id;
		for (i = 0, at = 1; i < l->n_fields && !l->fields[i].is_size; i++) {
			at += stf_type_size(l->fields[i].type);
		}
		if (i == l->n_fields) {
			continue;
		}
		memset(bytes + at, 0xff, stf_type_size(l->fields[i].type));
		CHECK(stf_decode(&d, bytes, sizeof(bytes), sizeof(bytes), &scratch, &out) == STX_BAD &&
				out.code == STF_ERR_TRUNCATED,
			"%s: %s", l->name, out.why);
		CHECK(scratch.mem.cap < 4096, "%s took %zu bytes", l->name, scratch.mem.cap);
	}
	free(scratch.mem.p);
	stf_defs_free(&d);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(table_equals_list);
	RUN(sizes_match_arrays);
	RUN(every_record_round_trips);
	RUN(huge_sizes_are_refused);
	return check_end();
}
