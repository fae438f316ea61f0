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

static void big_is_little_reversed(void)
{
	struct stf_duration r = { .start = 0x0102030405060708u, .end = 1 };
	static const uint8_t want[17] = { 25, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 1 };
	static const uint8_t little[17] = { 25, 8, 7, 6, 5, 4, 3, 2, 1, 1 };
	struct stf_err err = { 0 };
	uint8_t used[256];
	struct stf_stream *s = stf_stream_new(&(struct stf_where){ .big = 1, .err = &err, .used = used }, "", 0);

	stf_put_duration(s, &r);
	CHECK(memcmp(s->buf, want, 17) == 0, "big");
	stf_stream_free(s);
	s = stf_stream_new(&(struct stf_where){ .big = 0, .err = &err, .used = used }, "", 0);
	stf_put_duration(s, &r);
	CHECK(memcmp(s->buf, little, 17) == 0, "little");
	stf_stream_free(s);
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

static void counts_that_do_not_fit(void)
{
	struct stf_counter_history r = { .size_1_2 = 256 };
	struct stf_err err = { 0 };
	uint8_t used[256] = { 0 };
	struct stf_stream *s = stf_stream_new(&(struct stf_where){ .big = 0, .err = &err, .used = used }, "", 0);

	CHECK_INT(stf_put_counter_history(s, &r), -1);
	CHECK_INT(err.code, STF_ERR_ARG);
	CHECK(strstr(err.text, "256"), "%s", err.text);
	CHECK(s->cur == s->buf, "nothing written");
	stf_stream_free(s);
}

/* ---- other people's definitions ---- */

static int parse(struct stf_defs *d, const char *text, struct stf_err *err)
{
	char line[2048];
	const char *end;
	int rc = 0, first = 1;

	memset(d, 0, sizeof(*d));
	for (; rc == 0 && (end = strchr(text, '\n')); text = end + 1, first = 0) {
		memcpy(line, text, (size_t)(end - text));
		line[end - text] = 0;
		rc = first ? stf_defs_head(d, line, (size_t)(end - text), err)
			   : stf_defs_line(d, line, (size_t)(end - text), err);
	}
	if (rc == 1) {
		stf_defs_bind(d);
	}
	return rc;
}

#define DECODE(bytes) stf_decode(&d, bytes, sizeof(bytes), sizeof(bytes), &scratch, &out)

static void foreign_layouts(void)
{
	struct stf_defs d;
	struct stf_scratch scratch = { 0 };
	struct stf_decoded out;
	struct stf_err err = { 0 };
	struct stf_record r = { .values = scratch.value };
	struct stf_counter_value c;
	struct stf_one_to_one_communication m;
	/* another id, other order, a U2 count, extra fields and arrays, narrower and wider numbers */
	static const uint8_t counter[] = { 99, 0, 2, 7, 8, 'x', 'y', 0, 0, 0, 5, 0, 0, 0, 6, 0xff, 0xfe, 1, 0, 0, 0, 3,
		9, 9, 9, 9, 0, 0, 0, 42 };
	/* receive_time is missing and a nested willy has two fields */
	static const uint8_t message[] = { 3, 0, 9, 0, 0, 0, 4, 0, 0, 0, 0, 0, 77 };

	CHECK(parse(&d,
		      "STF 1.0 BIG\n# comment\n\n"
		      "RECORD 200 willy_id U2:extra U4:gtp\n"
		      "RECORD 99 counter_value U2:size_1_4 <U1:counters> <C1:hint> <U4:more> <I1:values> U1:pad "
		      "U4:willy"
		      " U4:odd U4:time\n"
		      "RECORD 3 one_to_one_communication willy_id:sender U4:communicator U2:size\n"
		      "RECORD 5 one_to_one_communication U4:time U4:tag=17\n"
		      "END\n",
		      &err) == 1,
		"%s", err.text);
	CHECK_INT(DECODE(counter), STX_DONE);
	r.layout = out.def->ours;
	CHECK_INT(r.layout->id, STF_ID_counter_value);
	CHECK_INT(out.has_time && out.time == 42, 1);
	CHECK_INT(stf_get_counter_value(&r, &c), 0);
	CHECK_INT(c.size_1_2, 2);
	CHECK(c.counters[0] == 7 && c.counters[1] == 8, "ids");
	CHECK(c.values[0] == UINT64_MAX && c.values[1] == (uint64_t)-2, "values %llx", (unsigned long long)c.values[0]);
	CHECK_INT(c.willy, 3);
	CHECK_INT(DECODE(message), STX_DONE);
	r.layout = out.def->ours;
	CHECK_INT(stf_get_one_to_one_communication(&r, &m), 0);
	CHECK(m.receive_time == STF_RECEIVE_UNKNOWN, "default of the table");
	CHECK_INT(m.tag, 17);
	CHECK_INT(m.size, 77);
	free(scratch.mem.p);
	stf_defs_free(&d);
}

/* As many elements as nobody has, of arrays that we do not know: their bytes must not wrap round to few. */
static void unknown_arrays_end_in_the_file(void)
{
	static const char *const layers[] = {
		"STF 1.0 LITTLE\nRECORD 1 add_time U8:size_1_1 <U4:x> U4:time\nEND\n",
		"STF 1.0 LITTLE\nRECORD 2 pair U4:a U4:b\nRECORD 1 other U8:size_1_1 <pair:x> U4:last\nEND\n",
		"STF 1.0 LITTLE\nRECORD 2 text U1:size_1_1 <C1:t>\nRECORD 1 other U8:size_1_1 <text:x> U4:last\nEND\n"
	};
	static const uint64_t counts[] = { (uint64_t)1 << 62, (uint64_t)1 << 61, ((uint64_t)1 << 61) + 1, UINT64_MAX,
		60 };
	uint8_t bytes[1 + 8 + 60] = { 1 };
	struct stf_scratch scratch = { 0 };
	struct stf_decoded out;
	struct stf_defs d;
	struct stf_err err = { 0 };
	size_t i, k;

	for (i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
		CHECK(parse(&d, layers[i], &err) == 1, "%s", err.text);
		for (k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
			tkm_put64(bytes + 1, counts[k], 0);
			CHECK(DECODE(bytes) == STX_BAD && out.code == STF_ERR_TRUNCATED, "%llu elements of %zu: %s",
				(unsigned long long)counts[k], i, out.why);
		}
		stf_defs_free(&d);
	}
	free(scratch.mem.p);
}

static void bad_layers(void)
{
	/* clang-format off */
	static const char *const bad[] = {
		"STF 1.1 LITTLE\n", "STF 1.0 LITTLE \n", "RECORD 1 add_time U4:time\n",
		"STF 1.0 LITTLE\nRECORD 0 a U4:x\n", "STF 1.0 LITTLE\nRECORD 234 a U4:x\n",
		"STF 1.0 LITTLE\nRECORD 1 a U4:x\nRECORD 1 b U4:x\n", "STF 1.0 LITTLE\nRECORD 1 a U3:x\n",
		"STF 1.0 LITTLE\nRECORD 1 a U4:x U4:x\n", "STF 1.0 LITTLE\nRECORD 1 a <U4:x>\n",
		"STF 1.0 LITTLE\nRECORD 1 a U4:size_1_2 <U4:x>\n", "STF 1.0 LITTLE\nRECORD 1 a U4:size_1_1 <U4:x> <U4:y>\n",
		"STF 1.0 LITTLE\nRECORD 1 a U4:size_1_1 <U4:x\n", "STF 1.0 LITTLE\nRECORD 1 a U4\n",
		"STF 1.0 LITTLE\nRECORD 1 a U4:x=zwei\n", "STF 1.0 LITTLE\nRECORD 1 a a:x\n",
		"STF 1.0 LITTLE\nRECORD 1 a\nRECORD 2 b a:x\n", "STF 1.0 LITTLE\nRECORD 1 a F8:size_1_1 <U1:x>\n",
		"STF 1.0 LITTLE\nRECORDS 1 a\n", "STF 1.0 LITTLE\nRECORD 1 U4 U4:x\n",
		"STF 1.0 LITTLE\nRECORD 1x a U4:x\n", "STF 1.0 LITTLE\nRECORD\n", "STF 1.0 LITTLE\nRECORD 1\n",
	};
	/* clang-format on */
	struct stf_defs d;
	struct stf_err err;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		err.code = STF_OK;
		CHECK(parse(&d, bad[i], &err) == -1 && err.code == STF_ERR_DEFINITION, "accepted: %s", bad[i]);
		stf_defs_free(&d);
	}
}

/* 2^40 elements for few bytes must neither loop nor be counted on. */
static void nesting_is_bounded(void)
{
	char text[8192] = "STF 1.0 LITTLE\nRECORD 1 r0 U1:x\n";
	uint8_t bytes[64] = { 40 };
	struct stf_scratch scratch = { 0 };
	struct stf_decoded out;
	struct stf_defs d;
	struct stf_err err = { 0 };
	int i, rc;

	for (i = 1; i < 40; i++) {
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "RECORD %d r%d r%d:a r%d:b\n", i + 1, i,
			i - 1, i - 1);
	}
	rc = parse(&d, text, &err);
	CHECK(rc == -1 && strstr(err.text, "too deep"), "%d %s", rc, err.text);
	stf_defs_free(&d);
	rc = parse(&d, "STF 1.0 LITTLE\nRECORD 7 s U4:size_1_1 <C1:t>\nRECORD 40 list U4:size_1_1 <s:strings>\nEND\n",
		&err);
	CHECK_INT(rc, 1);
	bytes[1] = 2;
	bytes[5] = 3;
	bytes[12] = 1;
	CHECK_INT(DECODE(bytes), STX_DONE);
	CHECK_INT(out.size, 1 + 4 + 4 + 3 + 4 + 1);
	memset(bytes + 1, 0xff, 8);
	CHECK_INT(DECODE(bytes), STX_BAD);
	stf_defs_free(&d);
	free(scratch.mem.p);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(table_equals_list);
	RUN(sizes_match_arrays);
	RUN(every_record_round_trips);
	RUN(big_is_little_reversed);
	RUN(huge_sizes_are_refused);
	RUN(counts_that_do_not_fit);
	RUN(foreign_layouts);
	RUN(unknown_arrays_end_in_the_file);
	RUN(bad_layers);
	RUN(nesting_is_bounded);
	return check_end();
}
