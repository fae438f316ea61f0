/* SPDX-License-Identifier: BSD-3-Clause */
/* Example of stf/stf.h: writes a trace with one counter, one function and two threads.
 *
 *	cc write.c $(pkg-config --cflags --libs tickmark-stf) -o write
 *	./write T.stf */
#include <stdio.h>

#include <stf/stf.h>

enum { COUNTER = 1, FUNCTION = 1, SAMPLES = 1000 };

/* What must be known before the records: processes, names, what the counter counts. */
static void declare(struct stf_writer *w)
{
	const uint32_t threads[] = { 2 }; /* one process with two threads */
	struct stf_counter_definition c = { 0 };
	struct stf_function_definition f = { 0 };

	stf_writer_processes(w, threads, 1);
	stf_writer_willy(w, STF_WILLY(0, 0), "node1", "", 100, 100, 0, 1e-9);
	c.id = COUNTER;
	c.name = stf_writer_string(w, "bytes_sent");
	c.type = STF_COUNTER_U8 | STF_COUNTER_SAMPLE;
	c.do_diff = 1; /* a running total: show its rate */
	c.classid = stf_writer_class(w, "net", 0);
	c.unit = "bytes";
	c.size_1_1 = 5;
	stf_write_counter_definition(w, &c);
	f.id = FUNCTION;
	f.name = stf_writer_string(w, "send");
	f.classid = stf_writer_class(w, "user", 0);
	stf_write_function_definition(w, &f);
	/* corrected stamps of process 0 are off by at most 50 ns, from stamp 0 on */
	stf_writer_info(w, "clock-bound", "process 0 0 5e-08");
}

static void record(struct stf_writer *w)
{
	const uint32_t id = COUNTER;
	uint64_t bytes = 0, i;

	for (i = 0; i < SAMPLES; i++) {
		struct stf_counter_value v = { 0 };
		struct stf_enter_function enter = { 0 };
		struct stf_leave_function leave = { 0 };

		enter.time = i * 1000000; /* in time-stamp units, here nanoseconds */
		enter.willy = STF_WILLY(0, i % 2);
		enter.function = FUNCTION;
		stf_write_enter_function(w, &enter);
		bytes += 4096;
		v.time = enter.time + 500000;
		v.willy = enter.willy;
		v.size_1_2 = 1; /* one value of one counter */
		v.values = &bytes;
		v.counters = &id;
		stf_write_counter_value(w, &v);
		leave.time = v.time;
		leave.willy = enter.willy;
		stf_write_leave_function(w, &leave);
	}
}

int main(int argc, char **argv)
{
	struct stf_writer_options o = stf_writer_options();
	struct stf_writer *w;
	struct stf_err err;

	if (argc != 2) {
		fprintf(stderr, "usage: %s T.stf\n", argv[0]);
		return 2;
	}
	o.resolution = 1e-9;
	w = stf_writer_create(argv[1], &o, &err);
	if (w) {
		declare(w);
		record(w);
	}
	/* The values above are right, so the single calls are not tested. This call reports all other errors, such as
	 * a full disk. 1, 0: the duration is that of the records */
	if (!w || stf_writer_finish(w, 1, 0, &err) < 0) {
		fprintf(stderr, "%s: %s: %s\n", argv[0], err.file, err.text);
		return 1;
	}
	return 0;
}
