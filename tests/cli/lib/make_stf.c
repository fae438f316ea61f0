/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes small traces for the tests of the tools: make_stf NAME FILE [N] */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "include/stf.h"

static int failed(const struct stf_err *e)
{
	fprintf(stderr, "make_stf: %s: %s\n", e->file, e->text);
	return 1;
}

static uint64_t real(double d)
{
	uint64_t u;

	memcpy(&u, &d, sizeof(u));
	return u;
}

/* Names that are hard to print: blanks, quotes, a backslash, UTF-8, a line break. */
static const char odd[] = "odd \"name\" \\ \xc3\xa4\n1";

static void declare_counters(struct stf_writer *w, uint32_t perf)
{
	struct stf_counter_definition c = { .id = 6,
		.type = STF_COUNTER_U8 | STF_COUNTER_SAMPLE,
		.do_diff = 1,
		.willy = STF_GROUP(0x70001),
		.size_1_1 = 1,
		.unit = "#" };

	c.name = stf_writer_string(w, "PAPI_TOT_INS");
	c.classid = perf;
	stf_write_counter_definition(w, &c);
	c.id = 7;
	c.type = STF_COUNTER_F8 | STF_COUNTER_POINT;
	c.name = stf_writer_string(w, "load");
	c.do_diff = 0;
	c.lower_bound = real(-1.5);
	c.upper_bound = real(0.1);
	stf_write_counter_definition(w, &c);
	c.id = 8;
	c.type = STF_COUNTER_I8;
	c.name = stf_writer_string(w, odd);
	c.lower_bound = (uint64_t)-3;
	c.upper_bound = 4;
	stf_write_counter_definition(w, &c);
}

static void declare(struct stf_writer *w)
{
	static const uint32_t threads[] = { 1, 3 };
	uint32_t members[] = { STF_GROUP(0), STF_GROUP(1) }, one = 0, two = 1, first = 0, last = 1;
	int32_t stride = 1;
	uint32_t mpi, user, perf, f;
	struct stf_group_definition g = {
		.id = 0x70001, .size_1_1 = 13, .name = "All_Processes", .size_2_1 = 2, .willies = members
	};
	struct stf_group_definition p0 = {
		.id = 0, .size_1_1 = 9, .name = "Process_0", .size_2_1 = 1, .willies = &one
	};
	struct stf_group_definition p1 = {
		.id = 1, .size_1_1 = 9, .name = "Process_2", .size_2_1 = 1, .willies = &two
	};
	struct stf_communicator_definition comm = { .id = 1,
		.size_1_1 = 14,
		.name = "MPI_COMM_WORLD",
		.size_2_3 = 1,
		.first_id = &first,
		.last_id = &last,
		.stride = &stride };
	struct stf_file_definition file = { .id = 1, .size_1_1 = 9, .file = "my main.c" };
	uint32_t line = 42, fid = 1, none = 0;
	struct stf_scl_definition scl = {
		.id = 5, .size_1_4 = 1, .file = &fid, .line = &line, .symbol = &none, .object = &none
	};

	stf_writer_processes(w, threads, 2);
	stf_writer_willy(w, STF_WILLY(0, 0), "host one", "10.0.0.1", 100, 101, 1000.5, 1e-9);
	stf_writer_willy(w, STF_WILLY(1, 2), odd, "", 200, 203, 1000.25, 1.000001e-9);
	stf_writer_willy_name(w, STF_WILLY(1, 2), odd);
	mpi = stf_writer_class(w, "MPI", 0);
	user = stf_writer_class(w, odd, 0);
	perf = stf_writer_class(w, "PERF_DATA", 0);
	stf_write_file_definition(w, &file);
	stf_write_scl_definition(w, &scl);
	f = stf_writer_string(w, "MPI_Send");
	stf_write_function_definition(w, &(struct stf_function_definition){ 1, f, mpi });
	f = stf_writer_string(w, odd);
	stf_write_function_definition(w, &(struct stf_function_definition){ 2, f, user });
	stf_write_group_definition(w, &p0);
	stf_write_group_definition(w, &p1);
	stf_write_group_definition(w, &g);
	declare_counters(w, perf);
	stf_write_communicator_definition(w, &comm);
	stf_writer_info(w, "program", "make_stf");
	stf_writer_info(w, "clock", "simulated");
}

static void sample(struct stf_writer *w, uint64_t time, uint32_t willy, uint64_t u, double d, int64_t i)
{
	uint64_t v[] = { u, real(d), (uint64_t)i };
	uint32_t id[] = { 6, 7, 8 };
	struct stf_counter_value r = { time, willy, 3, v, id };

	stf_write_counter_value(w, &r);
}

static void message(struct stf_writer *w, uint64_t time, int64_t delta, uint32_t from, uint32_t to, uint32_t tag)
{
	struct stf_one_to_one_communication m = { .time = time,
		.sender = from,
		.receive_time = delta,
		.receiver = to,
		.communicator = 1,
		.size = 64,
		.tag = tag };

	m.sender_function = delta == STF_SEND_UNKNOWN ? 0 : 1;
	stf_write_one_to_one_communication(w, &m);
}

static void report(struct stf_writer *w, uint64_t time, const char *type, const char *level, const char *text)
{
	struct stf_report r = { .time = time, .willy = STF_WILLY(1, 0) };

	r.type = stf_writer_string(w, type);
	r.level = stf_writer_string(w, level);
	r.description = stf_writer_string(w, text);
	stf_write_report(w, &r);
}

/* Time stamps: 1 ns, no event bits; all lies in the first 10 s. */
static void rich(struct stf_writer *w)
{
	const uint64_t s = 1000000000;
	uint32_t t0 = STF_WILLY(0, 0), t2 = STF_WILLY(1, 2);
	struct stf_lw_statistics lw = { t0, 1, t2, 64, 2, 9, 10, 90, 270, 5, 45, 135 };
	struct stf_comment comment = { 3 * s, t0, sizeof(odd) - 1, odd };
	int i;

	declare(w);
	stf_write_enter_function(w, &(struct stf_enter_function){ s, t0, 2 });
	stf_write_enter_function_1(w, &(struct stf_enter_function_1){ 2 * s, t0, 1, 5 });
	stf_write_leave_function(w, &(struct stf_leave_function){ 4 * s, t0 });
	stf_write_leave_function(w, &(struct stf_leave_function){ 9 * s, t0 });
	for (i = 1; i <= 8; i++) {
		sample(w, (uint64_t)i * s + 1, t2, (uint64_t)i * 1000, i * 0.25, 4 - i);
	}
	sample(w, 8 * s + 2, t0, UINT64_MAX, -0.1, INT64_MIN);
	message(w, 2 * s, 5, t0, t2, 7);
	message(w, 2 * s + 1, 3, t0, t2, 7); /* overtakes the first */
	message(w, 3 * s, STF_RECEIVE_UNKNOWN, t0, t2, 7);
	message(w, 3 * s + 1, STF_SEND_UNKNOWN, t0, t2, 8);
	message(w, 4 * s, 2 * (int64_t)s, t2, t0, 9);
	message(w, 6 * s, -4, t2, t0, 9); /* received before it was sent */
	stf_write_comment(w, &comment);
	report(w, 5 * s, "GLOBAL:COLLECTIVE:SIZE_MISMATCH", "error", "sizes differ");
	report(w, 6 * s, "LOCAL:MEMORY:OVERLAP", "warning", "buffers overlap");
	stf_write_lw_statistics(w, &lw);
}

/* Many samples: 5 counters would not fit the table above, one is enough. */
static void many(struct stf_writer *w, long n)
{
	uint32_t id = 6;
	uint64_t v;
	long i;

	declare(w);
	for (i = 0; i < n; i++) {
		struct stf_counter_value r = { (uint64_t)i * 1000000, 0, 1, &v, &id };

		v = (uint64_t)i * 7;
		stf_write_counter_value(w, &r);
	}
}

/* Samples of three counters as a machine delivers them: two threads, times that are not quite regular, totals that grow by
 * numbers of four digits; now and then a value of any size. */
static void noisy(struct stf_writer *w, long n)
{
	uint64_t x = 88172645463325252u, total[2] = { 0, 0 };
	long i;

	declare(w);
	for (i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		total[i & 1] += x >> 40 & 8191;
		sample(w, (uint64_t)(i / 2) * 1000000 + (x & 4095), i & 1 ? STF_WILLY(1, 2) : 0,
			x % 997 ? total[i & 1] : x, (double)(x >> 20 & 1023) * 0.25,
			x % 991 ? (int64_t)(x >> 50) : (int64_t)x);
	}
}

/* Two threads of one file whose records come in the wrong order, up to 40 us late. */
static void late(struct stf_writer *w, long n)
{
	uint64_t x = 88172645463325252u, v;
	uint32_t id = 6;
	long i;

	declare(w);
	for (i = 0; i < n; i++) {
		struct stf_counter_value r = { 0, i & 1 ? STF_WILLY(1, 2) : 0, 1, &v, &id };

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		r.time = 100000 + (uint64_t)i * 1000 - x % 40000;
		v = (uint64_t)i;
		stf_write_counter_value(w, &r);
	}
}

/* Everything that a converter meets, in a trace of any size: n rounds of 8 processes with 2 threads each, on two nodes. In a round
 * each thread calls two functions and is sampled; processes send messages; there is a collective operation; scopes, file operations,
 * comments and samples of the nodes are seldom. */
enum { MIXED_PROCESSES = 8, MIXED_THREADS = 16, MIXED_FUNCTIONS = 200 };

static uint32_t mixed_willy(uint32_t i)
{
	return STF_WILLY(i / 2, i % 2);
}

static void declare_mixed_groups(struct stf_writer *w)
{
	uint32_t members[MIXED_PROCESSES], i, per_node = MIXED_PROCESSES / 2;
	struct stf_group_definition g = { .size_1_1 = 8, .willies = members };

	for (i = 0; i < MIXED_PROCESSES; i++) {
		members[i] = i;
	}
	for (i = 0; i < 3; i++) {
		g.id = 0x70001 + i;
		g.name = i == 0 ? "allprocs" : i == 1 ? "node one" : "node two";
		g.size_2_1 = i ? per_node : MIXED_PROCESSES;
		g.willies = i == 2 ? members + per_node : members;
		stf_write_group_definition(w, &g);
	}
}

static void declare_mixed(struct stf_writer *w)
{
	uint32_t threads[MIXED_PROCESSES], zero = 0, last = MIXED_PROCESSES - 1, mpi, i, k;
	int32_t stride = 1;
	char text[4000];
	int n;

	for (i = 0; i < MIXED_PROCESSES; i++) {
		threads[i] = MIXED_THREADS / MIXED_PROCESSES;
	}
	stf_writer_processes(w, threads, MIXED_PROCESSES);
	mpi = stf_writer_class(w, "MPI", 0);
	for (i = 1; i <= MIXED_FUNCTIONS; i++) {
		snprintf(text, sizeof(text), "function %u", (unsigned)i);
		k = stf_writer_string(w, text);
		stf_write_function_definition(w, &(struct stf_function_definition){ i, k, mpi });
	}
	declare_mixed_groups(w);
	declare_counters(w, stf_writer_class(w, "PERF_DATA", 0));
	stf_write_communicator_definition(
		w, &(struct stf_communicator_definition){ 1, 14, "MPI_COMM_WORLD", 1, &zero, &last, &stride, 0 });
	stf_write_collective_operation_definition(
		w, &(struct stf_collective_operation_definition){ 1, 12, "MPI_Alltoall", 4 });
	k = stf_writer_string(w, "data file");
	stf_write_file_io_file_definition(w, &(struct stf_file_io_file_definition){ 1, 1, k });
	k = stf_writer_string(w, "step");
	stf_write_scope_definition(w, &(struct stf_scope_definition){ 1, k, mpi, 0, 0 });
	for (i = 0; i < MIXED_PROCESSES; i++) {
		stf_writer_willy(w, STF_WILLY(i, 0), i < MIXED_PROCESSES / 2 ? "one" : "two", "", 100 + i, 100 + i,
			1000.5, 1e-9);
		n = snprintf(text, sizeof(text), "process %u", (unsigned)i);
		for (k = 0; k < 100; k++) {
			n += snprintf(
				text + n, sizeof(text) - (size_t)n, " %llu %g", k * 100000000ull, 1e-8 * (i + k + 1));
		}
		stf_writer_info(w, "clock-bound", text);
	}
}

static void mixed_seldom(struct stf_writer *w, uint64_t t, uint32_t i, uint64_t x)
{
	uint32_t who = mixed_willy(i % MIXED_THREADS), id = 8;

	stf_write_counter_value(w, &(struct stf_counter_value){ t, STF_GROUP(0x70002 + (i & 1)), 1, &x, &id });
	stf_write_enter_scope(w, &(struct stf_enter_scope){ t, who, 1, i });
	stf_write_leave_scope(w, &(struct stf_leave_scope){ t + 50, who, 1, i });
	stf_write_file_io_begin(w, &(struct stf_file_io_begin){ t, who, 1, 1, 4096 });
	stf_write_file_io_end(w, &(struct stf_file_io_end){ t + 40, who, 1, 1, 4096 });
	stf_write_comment(w, &(struct stf_comment){ t, who, sizeof(odd) - 1, odd });
}

static void mixed_collective(struct stf_writer *w, uint64_t t)
{
	uint64_t begin[MIXED_PROCESSES], delta[MIXED_PROCESSES];
	uint32_t bytes[MIXED_PROCESSES], i;

	for (i = 0; i < MIXED_PROCESSES; i++) {
		begin[i] = 3 * i;
		delta[i] = 60 - i;
		bytes[i] = 8 * i;
	}
	stf_write_all_to_all_communication(
		w, &(struct stf_all_to_all_communication){ t, 1, 1, MIXED_PROCESSES, begin, delta, bytes, bytes });
}

static void mixed(struct stf_writer *w, long rounds)
{
	uint64_t x = 88172645463325252u, t, total[MIXED_THREADS] = { 0 };
	uint32_t i;
	long n;

	declare_mixed(w);
	for (n = 0; n < rounds; n++) {
		t = 1000 + (uint64_t)n * 1000;
		for (i = 0; i < MIXED_THREADS; i++) {
			stf_write_enter_function(w,
				&(struct stf_enter_function){
					t + i, mixed_willy(i), 1 + (uint32_t)n % MIXED_FUNCTIONS });
		}
		for (i = 0; i < MIXED_THREADS; i++) {
			stf_write_enter_function(w,
				&(struct stf_enter_function){
					t + 100 + i, mixed_willy(i), 1 + (uint32_t)(x >> 9) % MIXED_FUNCTIONS });
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			total[i] += x >> 40 & 8191;
			sample(w, t + 100 + i, mixed_willy(i), total[i], (double)(x >> 20 & 1023) * 0.25,
				(int64_t)(x >> 50));
		}
		for (i = 0; i < MIXED_PROCESSES; i++) {
			message(w, t + 200 + i, 70, STF_WILLY(i, 0), STF_WILLY((i + 1) % MIXED_PROCESSES, 0),
				(uint32_t)n & 7);
		}
		mixed_collective(w, t + 300);
		if (n % 16 == 0) {
			mixed_seldom(w, t + 400, (uint32_t)n / 16, x);
		}
		for (i = 0; i < 2 * MIXED_THREADS; i++) {
			stf_write_leave_function(
				w, &(struct stf_leave_function){ t + 500 + i, mixed_willy(i % MIXED_THREADS) });
		}
	}
}

/* A writer that is killed in the middle, having declared something late. */
static void killed(struct stf_writer *w)
{
	long i;

	declare(w);
	/* the samples are more than a buffer of the writer, so most of them are in the file */
	for (i = 0; i < 60000; i++) {
		struct stf_counter_value r = { (uint64_t)i * 1000, 0, 1, (uint64_t[]){ (uint64_t)i },
			(uint32_t[]){ 6 } };

		if (i == 20000) {
			stf_write_function_definition(
				w, &(struct stf_function_definition){ 77, stf_writer_string(w, "late"), 0 });
		}
		stf_write_counter_value(w, &r);
		if (i > 20000) {
			stf_write_enter_function(
				w, &(struct stf_enter_function){ (uint64_t)i * 1000, STF_WILLY(1, 2), 77 });
		}
	}
	raise(SIGKILL);
}

int main(int argc, char **argv)
{
	struct stf_writer_options opt = { .resolution = 1e-9, .force = 1 };
	struct stf_writer *w;
	struct stf_err e;

	if (argc < 3) {
		return 2;
	}
	opt.big_endian = !strcmp(argv[1], "big");
	w = stf_writer_create(argv[2], &opt, &e);
	if (!w) {
		return failed(&e);
	}
	if (!strcmp(argv[1], "rich") || opt.big_endian) {
		rich(w);
	} else if (!strcmp(argv[1], "one")) {
		declare(w);
		stf_write_leave_function(w, &(struct stf_leave_function){ 5, 0 });
	} else if (!strcmp(argv[1], "many")) {
		many(w, argc > 3 ? atol(argv[3]) : 1000);
	} else if (!strcmp(argv[1], "noisy")) {
		noisy(w, argc > 3 ? atol(argv[3]) : 1000);
	} else if (!strcmp(argv[1], "late")) {
		late(w, argc > 3 ? atol(argv[3]) : 1000);
	} else if (!strcmp(argv[1], "mixed")) {
		mixed(w, argc > 3 ? atol(argv[3]) : 1000);
	} else if (!strcmp(argv[1], "killed")) {
		killed(w);
	} else if (!strcmp(argv[1], "dangling")) {
		declare(w);
		stf_write_enter_function(w, &(struct stf_enter_function){ 5, 0, 2 });
		stf_write_enter_function(w, &(struct stf_enter_function){ 6, 0, 99 });
		stf_write_enter_function(w, &(struct stf_enter_function){ 7, 0, 98 });
	}
	if (stf_writer_error(w)->code != STF_OK) {
		failed(stf_writer_error(w));
		stf_writer_abort(w);
		return 1;
	}
	return stf_writer_finish(w, 1, 0, &e) < 0 ? failed(&e) : 0;
}
