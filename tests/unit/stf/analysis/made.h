/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes traces of jobs whose waits and efficiencies follow from their plan. */
#ifndef TESTS_UNIT_STF_ANALYSIS_MADE_H
#define TESTS_UNIT_STF_ANALYSIS_MADE_H

#include "include/analysis.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"

enum { RANKS = 16, US = 1000, BOUND_NS = 5 * US };
enum {
	INIT = 1,
	FINALIZE,
	SEND,
	SSEND,
	RECV,
	IRECV,
	WAIT,
	BARRIER,
	BCAST,
	REDUCE,
	SCAN,
	IBARRIER,
	ISEND,
	TEST,
	FENCE,
	SENDRECV,
	WORK,
	FUNCTIONS
};

static const char *const names[FUNCTIONS] = { "", "MPI_Init", "MPI_Finalize", "MPI_Send", "MPI_Ssend", "MPI_Recv",
	"MPI_Irecv", "MPI_Wait", "MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Scan", "MPI_Ibarrier", "MPI_Isend",
	"MPI_Test", "MPI_Win_fence", "MPI_Sendrecv", "work" };

static struct stf_writer *w;
static uint32_t ranks, world;
static int64_t offset[RANKS]; /* by how much the clock of a rank is wrong */
static struct stf_err err;
static struct stf_reader *reader;
static struct stf_analysis *result;

/* ---- making a trace ---- */

static uint64_t stamp(uint32_t rank, uint64_t time)
{
	return (uint64_t)((int64_t)time + offset[rank]);
}

static void declare(uint32_t id, const char *name, uint32_t class)
{
	struct stf_function_definition f = { .id = id, .name = stf_writer_string(w, name), .classid = class };

	CHECK_INT(stf_write_function_definition(w, &f), 0);
}

static void declare_operation(uint8_t id, uint32_t type)
{
	struct stf_collective_operation_definition d = {
		.id = id, .type = (uint8_t)type, .name = names[id], .size_1_1 = (uint32_t)strlen(names[id])
	};

	CHECK_INT(stf_write_collective_operation_definition(w, &d), 0);
}

/* bound: in seconds, as text; NULL: the trace states none */
static void begin(uint32_t n, const char *bound)
{
	struct stf_writer_options o = { .resolution = 1e-9 };
	uint32_t threads[RANKS], i, mpi, first = STF_WILLY(0, 0), last = STF_WILLY(n - 1, 0);
	int32_t stride = 1;
	struct stf_communicator_definition c = { .id = 1,
		.name = "COMM_WORLD",
		.size_1_1 = 10,
		.size_2_3 = 1,
		.first_id = &first,
		.last_id = &last,
		.stride = &stride };
	char text[80];

	clean();
	memset(offset, 0, sizeof(offset));
	ranks = n;
	w = stf_writer_create(in_dir("a.stf"), &o, &err);
	for (i = 0; i < n; i++) {
		threads[i] = 1;
	}
	CHECK_INT(stf_writer_processes(w, threads, n), 0);
	mpi = stf_writer_class(w, "MPI", 0);
	for (i = 1; i < FUNCTIONS; i++) {
		declare(i, names[i], i == WORK ? stf_writer_class(w, "Application", 0) : mpi);
	}
	declare_operation(BARRIER, 1);
	declare_operation(IBARRIER, 1);
	declare_operation(FENCE, 1);
	declare_operation(BCAST, 2);
	declare_operation(REDUCE, 3);
	declare_operation(SCAN, 4);
	CHECK_INT(stf_write_communicator_definition(w, &c), 0);
	world = 1;
	for (i = 0; bound && i < n; i++) {
		snprintf(text, sizeof(text), "process %u 0 %s", i, bound);
		CHECK_INT(stf_writer_info(w, "clock-bound", text), 0);
	}
}

static void call(uint32_t rank, uint32_t function, uint64_t from, uint64_t to)
{
	struct stf_enter_function e = { .time = stamp(rank, from), .willy = rank, .function = function };
	struct stf_leave_function l = { .time = stamp(rank, to), .willy = rank };

	CHECK_INT(stf_write_enter_function(w, &e), 0);
	CHECK_INT(stf_write_leave_function(w, &l), 0);
}

static uint32_t bytes_of_message;

static void message(uint32_t from, uint32_t to, uint64_t sent, uint64_t received)
{
	struct stf_one_to_one_communication m = { .time = stamp(from, sent),
		.sender = from,
		.receiver = to,
		.receive_time = (int64_t)(stamp(to, received) - stamp(from, sent)),
		.communicator = world,
		.size = bytes_of_message };

	CHECK_INT(stf_write_one_to_one_communication(w, &m), 0);
}

static void operation(uint8_t op, uint32_t root, const uint64_t *from, const uint64_t *to)
{
	uint64_t start[RANKS], delta[RANKS], first = UINT64_MAX;
	uint32_t bytes[RANKS] = { 0 }, i;

	for (i = 0; i < ranks; i++) {
		first = stamp(i, from[i]) < first ? stamp(i, from[i]) : first;
	}
	for (i = 0; i < ranks; i++) {
		start[i] = stamp(i, from[i]) - first;
		delta[i] = to[i] - from[i];
	}
	if (op == BARRIER || op == IBARRIER || op == FENCE) {
		CHECK_INT(stf_write_all_communication(
				  w, &(struct stf_all_communication){ first, world, op, ranks, start, delta }),
			0);
	} else if (op == SCAN) {
		CHECK_INT(stf_write_all_to_all_communication(w,
				  &(struct stf_all_to_all_communication){
					  first, world, op, ranks, start, delta, bytes, bytes }),
			0);
	} else if (op == BCAST) {
		CHECK_INT(stf_write_one_to_all_communication(w,
				  &(struct stf_one_to_all_communication){
					  first, root, 0, world, op, ranks, start, delta, bytes }),
			0);
	} else {
		CHECK_INT(stf_write_all_to_one_communication(w,
				  &(struct stf_all_to_one_communication){
					  first, root, 0, world, op, ranks, start, delta, bytes }),
			0);
	}
}

static void analyse(const struct stf_analysis_options *o)
{
	result = NULL;
	reader = stf_reader_open(in_dir("a.stf"), 0, &err);
	CHECK(reader != NULL, "%s", err.text);
	if (reader) {
		result = stf_analyze(reader, o, &err);
		CHECK(result != NULL, "%s", err.text);
	}
}

static void finish(void)
{
	CHECK_INT(stf_writer_finish(w, 1, 0, &err), 0);
	analyse(NULL);
}

static void end(void)
{
	stf_analysis_free(result);
	stf_reader_close(reader);
	clean();
}

static uint64_t now[RANKS]; /* true time of each rank */
/* this rank works so many times as long as the others, from that round on */
static uint32_t slow_rank = UINT32_MAX, slow_round;
static double slow_by;
static uint64_t slow_since;
/* this rank stops once for a while, about 3 % of the job */
static uint32_t pause_rank = UINT32_MAX;
static int before_end; /* play() leaves the trace open */
static uint64_t outside[RANKS];
static double work_times = 1; /* all work takes so many times as long */
/* with a network without delay */
static uint64_t ideal[RANKS];
/* the path to each rank: the work of each rank that is on it, and the time in MPI */
static uint64_t path_work[RANKS][RANKS], path_mpi[RANKS][RANKS];
static uint64_t want[STF_WAIT_KINDS][RANKS];
static uint64_t waits[STF_WAIT_KINDS][RANKS]; /* how many */

static void expect_wait(enum stf_wait_kind kind, uint32_t rank, uint64_t from, uint64_t ready)
{
	if (ready > from) {
		want[kind][rank] += ready - from;
	}
	waits[kind][rank]++;
}

static void work(uint32_t rank, uint64_t most, double times)
{
	uint64_t t = (uint64_t)((double)(check_random() % most + most) * times * work_times);

	call(rank, WORK, now[rank], now[rank] + t);
	now[rank] += t;
	outside[rank] += t;
	ideal[rank] += t;
	path_work[rank][rank] += t;
}

/* A call of the rank was left at `done`, after what `cause` did until `ready`; cause = rank: it did not wait. The paths are those
 * before the calls. */
static void go_on(uint32_t rank, uint32_t cause, uint64_t ready, uint64_t done, uint64_t work_before[RANKS][RANKS],
	uint64_t mpi_before[RANKS][RANKS])
{
	memcpy(path_work[rank], work_before[cause], sizeof(path_work[rank]));
	memcpy(path_mpi[rank], mpi_before[cause], sizeof(path_mpi[rank]));
	path_mpi[rank][rank] += done - ready;
}

static void copy_paths(uint64_t work_before[RANKS][RANKS], uint64_t mpi_before[RANKS][RANKS])
{
	memcpy(work_before, path_work, sizeof(path_work));
	memcpy(mpi_before, path_mpi, sizeof(path_mpi));
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void send_to_the_right(uint32_t function)
{
	uint64_t work_before[RANKS][RANKS], mpi_before[RANKS][RANKS];
	uint32_t i, to;

	copy_paths(work_before, mpi_before);
	for (i = 0; i < ranks; i += 2) { /* even ranks send, odd ones receive */
		uint64_t s = now[i], r, done, early = ideal[i];
		int late;

		to = (i + 1) % ranks;
		r = now[to];
		done = (s + 2 * US > r ? s + 2 * US : r) + US;
		now[i] = function == SSEND && r > s ? r + 2 * US : s + US;
		now[to] = done;
		call(i, function, s, now[i]);
		call(to, RECV, r, done);
		message(i, to, s, done);
		expect_wait(STF_WAIT_LATE_SENDER, to, r, s < done ? s : done);
		if (function == SSEND || r <= now[i]) { /* a call that took that long may have waited */
			expect_wait(STF_WAIT_LATE_RECEIVER, i, s, r);
		}
		late = r > s && r <= now[i];
		go_on(i, late ? to : i, late ? r : s, now[i], work_before, mpi_before);
		go_on(to, s > r ? i : to, s > r ? s : r, done, work_before, mpi_before);
		ideal[i] = function == SSEND || late ? larger(ideal[i], ideal[to]) : ideal[i];
		ideal[to] = larger(ideal[to], early);
	}
}

static void collective(uint8_t op)
{
	uint64_t from[RANKS], last = 0, before = 0, others = 0, soon[RANKS];
	uint64_t work_before[RANKS][RANKS], mpi_before[RANKS][RANKS];
	uint32_t root = (uint32_t)(check_random() % ranks), i, k;
	enum stf_wait_kind kind = op == BARRIER ? STF_WAIT_BARRIER
		: op == BCAST                   ? STF_WAIT_LATE_BROADCAST
		: op == REDUCE                  ? STF_WAIT_EARLY_REDUCE
						: STF_WAIT_EARLY_SCAN;

	copy_paths(work_before, mpi_before);
	memcpy(soon, ideal, sizeof(soon));
	for (i = 0; i < ranks; i++) {
		from[i] = now[i];
		last = now[i] > last ? now[i] : last;
		others = i != root && now[i] > others ? now[i] : others;
	}
	for (i = 0; i < ranks; i++) {
		uint64_t ready = op == BARRIER ? last
			: op == BCAST          ? from[root]
			: op == REDUCE         ? (i == root ? others : 0)
					       : before;

		expect_wait(kind, i, from[i], ready);
		now[i] = (ready > from[i] ? ready : from[i]) + 3 * US;
		before = from[i] > before ? from[i] : before;
		call(i, op, from[i], now[i]);
		for (k = 0; k < ranks && from[k] != ready; k++) {
		}
		go_on(i, ready > from[i] ? k : i, ready > from[i] ? ready : from[i], now[i], work_before, mpi_before);
		for (k = 0; k < ranks; k++) {
			ideal[i] = op == BARRIER || (op == BCAST && k == root) || (op == REDUCE && i == root) ||
					(op == SCAN && k < i)
				? larger(ideal[i], soon[k])
				: ideal[i];
		}
	}
	operation(op, root, from, now);
}

static void play(uint32_t n, const char *bound, int64_t most_offset)
{
	static const uint8_t ops[] = { BARRIER, BCAST, REDUCE, SCAN };
	uint64_t last = 0;
	uint32_t i, round;

	begin(n, bound);
	memset(now, 0, sizeof(now));
	memset(outside, 0, sizeof(outside));
	memset(want, 0, sizeof(want));
	memset(waits, 0, sizeof(waits));
	memset(path_work, 0, sizeof(path_work));
	memset(path_mpi, 0, sizeof(path_mpi));
	for (i = 0; i < n; i++) {
		offset[i] = most_offset ? (int64_t)(check_random() % (uint64_t)(2 * most_offset + 1)) - most_offset : 0;
		now[i] = ideal[i] = 1000 * US;
		call(i, INIT, 900 * US, 1000 * US);
		expect_wait(STF_WAIT_INIT, i, 0, 0);
	}
	for (round = 0; round < 200; round++) {
		uint64_t kind = check_random() % 6;

		if (round == slow_round) {
			slow_since = now[0];
		}
		if (round == 100 && pause_rank < n) {
			now[pause_rank] += 10000 * US;
			outside[pause_rank] += 10000 * US;
			ideal[pause_rank] += 10000 * US;
		}

		for (i = 0; i < n; i++) {
			work(i, 1000 * US, i == slow_rank && round >= slow_round ? slow_by : 1);
		}
		if (kind < 2) {
			send_to_the_right(kind ? SEND : SSEND);
		} else {
			collective(ops[kind - 2]);
		}
	}
	for (i = 0; i < n; i++) {
		last = larger(last, now[i]);
	}
	for (i = 0; i < n; i++) {
		expect_wait(STF_WAIT_FINALIZE, i, now[i], last);
		call(i, FINALIZE, now[i], last + 100 * US);
	}
	if (!before_end) {
		finish();
	}
}

#endif
