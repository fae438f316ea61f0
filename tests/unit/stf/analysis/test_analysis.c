/* SPDX-License-Identifier: BSD-3-Clause */
/* Made traces of jobs whose waits and efficiencies follow from their plan: each kind of wait alone, and random jobs of 16
 * ranks whose clocks are off within a known bound. */
#include "config.h"
#include "include/analysis.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"

enum { RANKS = 16, US = 1000, BOUND_NS = 5 * US };
enum { INIT = 1, FINALIZE, SEND, SSEND, RECV, IRECV, WAIT, BARRIER, BCAST, REDUCE, SCAN, IBARRIER, WORK, FUNCTIONS };

static const char *const names[FUNCTIONS] = { "", "MPI_Init", "MPI_Finalize", "MPI_Send", "MPI_Ssend", "MPI_Recv",
	"MPI_Irecv", "MPI_Wait", "MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Scan", "MPI_Ibarrier", "work" };

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

static void message(uint32_t from, uint32_t to, uint64_t sent, uint64_t received)
{
	struct stf_one_to_one_communication m = { .time = stamp(from, sent),
		.sender = from,
		.receiver = to,
		.receive_time = (int64_t)(stamp(to, received) - stamp(from, sent)),
		.communicator = world };

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
	if (op == BARRIER || op == IBARRIER) {
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

static const struct stf_wait *wait_of(enum stf_wait_kind kind, uint32_t rank, uint32_t function)
{
	static const struct stf_wait none;
	size_t i;

	for (i = 0; result && i < result->n_waits; i++) {
		if (result->wait[i].kind == kind && result->wait[i].willy == rank &&
			result->wait[i].function == function) {
			return &result->wait[i];
		}
	}
	return &none;
}

/* ---- each kind alone ---- */

static void receiver_waits_for_a_late_sender(void)
{
	const struct stf_wait *v;

	begin(2, "1e-6");
	call(1, RECV, 1000 * US, 6000 * US);
	call(0, WORK, 0, 5000 * US);
	call(0, SEND, 5000 * US, 5010 * US);
	message(0, 1, 5000 * US, 6000 * US);
	finish();
	v = wait_of(STF_WAIT_LATE_SENDER, 1, RECV);
	CHECK_INT(v->count, 1);
	CHECK_INT(v->sum, 4000 * US);
	CHECK_INT(v->worst_at, 1000 * US);
	CHECK_INT(v->cause, 0);
	CHECK_INT(v->cause_function, WORK);
	CHECK_NEAR(v->worst_bound, 2e-6, 1e-12);
	CHECK_INT(result->n_waits, 1);
	CHECK_INT(result->n_delays, 1);
	CHECK_INT(result->delay[0].direct, 4000 * US);
	end();
}

static void wait_shorter_than_the_bound_is_undecided(void)
{
	const struct stf_wait *v;

	begin(2, "3e-6");
	call(1, RECV, 1000 * US, 1100 * US);
	call(0, SEND, 1005 * US, 1010 * US);
	message(0, 1, 1005 * US, 1100 * US);
	finish();
	v = wait_of(STF_WAIT_LATE_SENDER, 1, RECV);
	CHECK_INT(v->count, 0);
	CHECK_INT(v->undecided_count, 1);
	CHECK_INT(v->undecided_sum, 5 * US);
	CHECK_INT(result->bounds, 1);
	end();
}

static void wait_is_in_the_call_that_completes(void)
{
	begin(2, "1e-6");
	call(1, IRECV, 1000 * US, 1001 * US);
	call(1, WORK, 1100 * US, 1900 * US);
	call(1, WAIT, 2000 * US, 3500 * US);
	call(0, SEND, 3000 * US, 3010 * US);
	message(0, 1, 3000 * US, 3500 * US);
	/* this one was sent before the call that completes it */
	call(1, IRECV, 3600 * US, 3601 * US);
	call(0, SEND, 3700 * US, 3710 * US);
	message(0, 1, 3700 * US, 4010 * US);
	call(1, WAIT, 4000 * US, 4010 * US);
	finish();
	CHECK_INT(wait_of(STF_WAIT_LATE_SENDER, 1, WAIT)->sum, 1000 * US);
	CHECK_INT(wait_of(STF_WAIT_LATE_SENDER, 1, WAIT)->count, 1);
	CHECK_INT(result->n_waits, 1);
	end();
}

static void message_that_completes_in_a_later_call_is_no_wait_in_this_one(void)
{
	begin(2, "1e-6");
	call(1, WAIT, 1000 * US, 3000 * US); /* for something else */
	call(0, SEND, 2000 * US, 2010 * US);
	message(0, 1, 2000 * US, 4010 * US);
	call(1, WAIT, 4000 * US, 4010 * US);
	finish();
	CHECK_INT(result->n_waits, 0);
	end();
}

static void sender_waits_for_a_late_receiver(void)
{
	const struct stf_wait *v;
	int first;

	for (first = 0; first < 2; first++) { /* who leaves first */
		uint64_t sender = 5000 * US + (first ? 300 * US : 100 * US);

		begin(2, "1e-6");
		call(0, SSEND, 1000 * US, sender);
		message(0, 1, 1000 * US, 5200 * US);
		call(1, WORK, 0, 5000 * US);
		call(1, RECV, 5000 * US, 5200 * US);
		finish();
		v = wait_of(STF_WAIT_LATE_RECEIVER, 0, SSEND);
		CHECK_INT(v->sum, 4000 * US);
		CHECK_INT(v->cause, 1);
		CHECK_INT(v->cause_function, WORK);
		CHECK_INT(result->n_waits, 1);
		end();
	}
	/* the library has kept the message: nobody waited */
	begin(2, "1e-6");
	call(0, SEND, 1000 * US, 1010 * US);
	message(0, 1, 1000 * US, 5200 * US);
	call(1, RECV, 5000 * US, 5200 * US);
	finish();
	CHECK_INT(result->n_waits, 0);
	end();
}

static void members_wait_for_the_last_one(void)
{
	static const uint64_t from[4] = { 1000 * US, 4000 * US, 2000 * US, 3000 * US };
	uint64_t to[4];
	uint32_t i;

	begin(4, "1e-6");
	for (i = 0; i < 4; i++) {
		to[i] = 4100 * US + i * US;
		call(i, BARRIER, from[i], to[i]);
	}
	operation(BARRIER, 0, from, to);
	finish();
	CHECK_INT(wait_of(STF_WAIT_BARRIER, 0, BARRIER)->sum, 3000 * US);
	CHECK_INT(wait_of(STF_WAIT_BARRIER, 2, BARRIER)->sum, 2000 * US);
	CHECK_INT(wait_of(STF_WAIT_BARRIER, 3, BARRIER)->sum, 1000 * US);
	CHECK_INT(wait_of(STF_WAIT_BARRIER, 3, BARRIER)->cause, 1);
	CHECK_INT(result->n_waits, 3);
	CHECK_INT(result->n_delays, 1);
	CHECK_INT(result->delay[0].direct, 6000 * US);
	end();
}

static void operation_without_blocking_waits_in_its_wait(void)
{
	static const uint64_t from[2] = { 1000 * US, 4000 * US }, to[2] = { 4500 * US, 4200 * US };

	begin(2, "1e-6");
	call(0, IBARRIER, 1000 * US, 1001 * US);
	call(0, WAIT, 3000 * US, 4500 * US);
	call(1, IBARRIER, 4000 * US, 4001 * US);
	call(1, WAIT, 4190 * US, 4200 * US);
	operation(IBARRIER, 0, from, to);
	finish();
	CHECK_INT(wait_of(STF_WAIT_BARRIER, 0, WAIT)->sum, 1000 * US);
	CHECK_INT(result->n_waits, 1);
	end();
}

static void chain_of_waits_leads_to_its_start(void)
{
	size_t i;

	begin(3, "1e-6");
	call(0, WORK, 0, 9000 * US);
	call(0, SEND, 9000 * US, 9010 * US);
	message(0, 1, 9000 * US, 9020 * US);
	call(1, RECV, 1000 * US, 9020 * US);
	call(1, WORK, 9020 * US, 9500 * US);
	call(1, SEND, 9500 * US, 9510 * US);
	message(1, 2, 9500 * US, 9520 * US);
	call(2, RECV, 2000 * US, 9520 * US);
	finish();
	CHECK_INT(result->n_delays, 2);
	CHECK_INT(result->delay[0].willy, 0);
	CHECK_INT(result->delay[0].function, WORK);
	CHECK_INT(result->delay[0].direct, 8000 * US);
	CHECK_INT(result->delay[0].propagated, 7000 * US);
	for (i = 1; i < result->n_delays; i++) {
		CHECK_INT(result->delay[i].willy, 1);
	}
	end();
}

static void no_bound_no_undecided(void)
{
	begin(2, NULL);
	call(1, RECV, 1000 * US, 1100 * US);
	call(0, SEND, 1005 * US, 1010 * US);
	message(0, 1, 1005 * US, 1100 * US);
	finish();
	CHECK_INT(result->bounds, 0);
	CHECK_INT(wait_of(STF_WAIT_LATE_SENDER, 1, RECV)->count, 1);
	CHECK(isnan(wait_of(STF_WAIT_LATE_SENDER, 1, RECV)->worst_bound), "bound");
	end();
}

static void call_that_is_open_at_the_end(void)
{
	struct stf_enter_function e = { .time = 3000 * US, .willy = 1, .function = RECV };

	begin(2, "1e-6");
	call(0, BARRIER, 1000 * US, 9000 * US);
	CHECK_INT(stf_write_enter_function(w, &e), 0);
	finish();
	CHECK_INT(result->n_threads, 2);
	CHECK_INT(result->thread[1].open, RECV);
	CHECK_INT(result->thread[1].open_since, 3000 * US);
	end();
}

static void window_cuts_waits(void)
{
	struct stf_analysis_options o = stf_analysis_options();

	begin(2, "1e-6");
	call(1, RECV, 1000 * US, 6000 * US);
	call(0, SEND, 5000 * US, 5010 * US);
	message(0, 1, 5000 * US, 6000 * US);
	CHECK_INT(stf_writer_finish(w, 1, 0, &err), 0);
	o.window = 1;
	o.from = 4000 * US;
	o.to = 7000 * US;
	analyse(&o);
	CHECK_INT(wait_of(STF_WAIT_LATE_SENDER, 1, RECV)->sum, 1000 * US);
	end();
}

/* ---- random jobs ---- */

static uint64_t now[RANKS]; /* true time of each rank */
static uint64_t outside[RANKS];
static uint64_t want[STF_WAIT_KINDS][RANKS];
static uint64_t waits[STF_WAIT_KINDS][RANKS]; /* how many */

static void expect_wait(enum stf_wait_kind kind, uint32_t rank, uint64_t from, uint64_t ready)
{
	if (ready > from) {
		want[kind][rank] += ready - from;
	}
	waits[kind][rank]++;
}

static void work(uint32_t rank, uint64_t most)
{
	uint64_t t = check_random() % most + US;

	now[rank] += t;
	outside[rank] += t;
}

static void send_to_the_right(uint32_t function)
{
	uint32_t i, to;

	for (i = 0; i < ranks; i += 2) { /* even ranks send, odd ones receive */
		uint64_t s = now[i], r, done;

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
	}
}

static void collective(uint8_t op)
{
	uint64_t from[RANKS], last = 0, before = 0, others = 0;
	uint32_t root = (uint32_t)(check_random() % ranks), i;
	enum stf_wait_kind kind = op == BARRIER ? STF_WAIT_BARRIER
		: op == BCAST                   ? STF_WAIT_LATE_BROADCAST
		: op == REDUCE                  ? STF_WAIT_EARLY_REDUCE
						: STF_WAIT_EARLY_SCAN;

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
	}
	operation(op, root, from, now);
}

static void play(uint32_t n, const char *bound, int64_t most_offset)
{
	static const uint8_t ops[] = { BARRIER, BCAST, REDUCE, SCAN };
	uint32_t i, round;

	begin(n, bound);
	memset(now, 0, sizeof(now));
	memset(outside, 0, sizeof(outside));
	memset(want, 0, sizeof(want));
	memset(waits, 0, sizeof(waits));
	for (i = 0; i < n; i++) {
		offset[i] = most_offset ? (int64_t)(check_random() % (uint64_t)(2 * most_offset + 1)) - most_offset : 0;
		now[i] = 1000 * US;
		call(i, INIT, 900 * US, 1000 * US);
	}
	for (round = 0; round < 200; round++) {
		uint64_t kind = check_random() % 6;

		for (i = 0; i < n; i++) {
			work(i, 1000 * US);
		}
		if (kind < 2) {
			send_to_the_right(kind ? SEND : SSEND);
		} else {
			collective(ops[kind - 2]);
		}
	}
	for (i = 0; i < n; i++) {
		call(i, FINALIZE, now[i], now[i] + 100 * US);
	}
	finish();
}

static void compare_with_plan(uint32_t n, double bound_s)
{
	uint64_t most = 0, sum = 0, last = 0;
	uint32_t kind, i, f;

	for (kind = 0; result && kind < STF_WAIT_KINDS; kind++) {
		for (i = 0; i < n; i++) {
			uint64_t got = 0;

			for (f = 1; f < FUNCTIONS; f++) {
				got += wait_of((enum stf_wait_kind)kind, i, f)->sum;
				got += wait_of((enum stf_wait_kind)kind, i, f)->undecided_sum;
			}
			CHECK_NEAR((double)got, (double)want[kind][i], (double)waits[kind][i] * 2 * bound_s * 1e9);
		}
	}
	for (i = 0; i < n; i++) {
		sum += outside[i];
		most = outside[i] > most ? outside[i] : most;
		last = now[i] > last ? now[i] : last;
	}
	CHECK_NEAR(result->parallel.value, (double)sum / n / (double)(last - 1000 * US), result->parallel.error + 1e-9);
	CHECK_NEAR(result->load_balance.value, (double)sum / n / (double)most, result->load_balance.error + 1e-9);
	CHECK_NEAR(result->communication.value, (double)most / (double)(last - 1000 * US),
		result->communication.error + 1e-9);
	CHECK(result->parallel.error < 0.001, "error %g", result->parallel.error);
}

static void random_jobs_on_exact_clocks(void)
{
	int k;

	for (k = 0; k < 4 * check_times; k++) {
		uint32_t n = 2 + 2 * (uint32_t)(check_random() % (RANKS / 2));

		play(n, "0", 0);
		compare_with_plan(n, 0);
		CHECK_INT(result->reversed, 0);
		end();
	}
}

static void random_jobs_on_clocks_within_their_bound(void)
{
	int k;

	for (k = 0; k < 4 * check_times; k++) {
		play(RANKS, "5e-6", BOUND_NS);
		compare_with_plan(RANKS, BOUND_NS * 1e-9);
		end();
	}
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(receiver_waits_for_a_late_sender);
	RUN(wait_shorter_than_the_bound_is_undecided);
	RUN(wait_is_in_the_call_that_completes);
	RUN(message_that_completes_in_a_later_call_is_no_wait_in_this_one);
	RUN(sender_waits_for_a_late_receiver);
	RUN(members_wait_for_the_last_one);
	RUN(operation_without_blocking_waits_in_its_wait);
	RUN(chain_of_waits_leads_to_its_start);
	RUN(no_bound_no_undecided);
	RUN(call_that_is_open_at_the_end);
	RUN(window_cuts_waits);
	RUN(random_jobs_on_exact_clocks);
	RUN(random_jobs_on_clocks_within_their_bound);
	rmdir(dir);
	return check_end();
}
