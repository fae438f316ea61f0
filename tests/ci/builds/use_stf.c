/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of somebody else's, for C and C++: writes a trace with the installed library, reads it back and checks a
 * sum. install.sh compiles it with what pkg-config says. */
#include <stdio.h>
#include <string.h>

#include <stf/stf.h>

static int write_trace(const char *path)
{
	struct stf_writer_options o;
	struct stf_counter_definition def;
	struct stf_counter_value v;
	struct stf_writer *w;
	struct stf_err err;
	uint32_t id = 1, one = 1, i;
	uint64_t value = 0;

	memset(&o, 0, sizeof(o));
	memset(&def, 0, sizeof(def));
	memset(&v, 0, sizeof(v));
	o.resolution = 1e-9;
	o.identity[0] = 1; /* the script compares two traces byte by byte */
	w = stf_writer_create(path, &o, &err);
	if (!w) {
		fprintf(stderr, "use_stf: %s: %s\n", err.file, err.text);
		return -1;
	}
	def.id = id;
	def.type = STF_COUNTER_U8 | STF_COUNTER_SAMPLE;
	stf_writer_processes(w, &one, 1);
	stf_write_counter_definition(w, &def);
	v.willy = STF_WILLY(0, 0);
	v.size_1_2 = 1;
	v.counters = &id;
	v.values = &value;
	for (i = 0; i < 1000; i++) {
		v.time = 1000 * (uint64_t)i;
		value = i;
		stf_write_counter_value(w, &v);
	}
	return stf_writer_finish(w, 1, 0, &err);
}

int main(int argc, char **argv)
{
	struct stf_counter_batch b;
	struct stf_reader *r;
	struct stf_cursor *c;
	struct stf_err err;
	uint64_t sum = 0;
	size_t i;

	if (argc != 2 || write_trace(argv[1]) < 0) {
		return 1;
	}
	r = stf_reader_open(argv[1], 0, &err);
	c = r ? stf_cursor_open(r, NULL, &err) : NULL;
	while (c && stf_cursor_counters(c, &b, &err) > 0) {
		for (i = 0; i < b.n; i++) {
			sum += stf_batch_value(&b, i, 0);
		}
	}
	stf_cursor_close(c);
	stf_reader_close(r);
	printf("%lu\n", (unsigned long)sum);
	return sum == 499500 ? 0 : 1;
}
