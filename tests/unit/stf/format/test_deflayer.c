/* SPDX-License-Identifier: BSD-3-Clause */
/* The layers that a trace defines: foreign layouts are read, bad ones refused. */
#include "base/bytes.h"
#include "include/stf.h"
#include "stf/format/deflayer.h"
#include "tests/lib/check.h"

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
	RUN(foreign_layouts);
	RUN(unknown_arrays_end_in_the_file);
	RUN(bad_layers);
	RUN(nesting_is_bounded);
	return check_end();
}
