/* SPDX-License-Identifier: BSD-3-Clause */
/* TRACE-IMBALANCE: of a job whose waits follow from its plan, the trace has these as states, and counts of everything else. */
#include "config.h"
#include "base/ticks.h"
#include "calib/map/map.h"
#include "collector-plugin/merge/common/options.h"
#include "collector-plugin/merge/merge.h"
#include "collector-plugin/raw/communicator.h"
#include "collector-plugin/raw/events.h"
#include "collector-plugin/raw/operations.h"
#include "collector-plugin/raw/writer.h"
#include "include/stf.h"
#include "tests/lib/check.h"

#include <stdlib.h>
#include <unistd.h>

enum {
	RANKS = 3,
	RECV = 0x10001,
	SEND,
	ALLREDUCE,
	PROBE,
	BCAST,
	REDUCE,
	SCAN,
	WORK,
	FENCE,
	POST,
	START,
	COMPLETE,
	SENDRECV,
	END = 1000000
};

static const char *const names[] = { "MPI_Recv", "MPI_Send", "MPI_Allreduce", "MPI_Probe", "MPI_Bcast", "MPI_Reduce",
	"MPI_Scan", "work", "MPI_Win_fence", "MPI_Win_post", "MPI_Win_start", "MPI_Win_complete", "MPI_Sendrecv" };
static char dir[] = "/tmp/test_merge_idle.XXXXXX", trace[100], path[RANKS][100];
static struct vt_raw *raw[RANKS];
static struct vt_raw_stream *stream[RANKS];

static void begin_job(const char *threshold)
{
	const struct vt_raw_ranks all = { 0, RANKS - 1, 1 };
	struct tkm_err e;
	uint32_t k;
	int i;

	for (i = 0; i < RANKS; i++) {
		struct vt_raw_options o = { .path = path[i],
			.block_size = 4096,
			.max_blocks = 64,
			.autoflush = 1,
			.job = "j",
			.program = "p",
			.timer = "clock_monotonic",
			.hz = 1e9,
			.rank = i,
			.ranks = RANKS };

		unlink(path[i]);
		raw[i] = vt_raw_create(&o, &e);
		CHECK(raw[i], "%s", e.text);
		vt_raw_info(raw[i], VT_RAW_IMBALANCE, threshold);
		vt_raw_class(raw[i], 0x10001, 0, "MPI");
		for (k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			vt_raw_function(raw[i], RECV + k, 0x10001, names[k]);
		}
		vt_raw_communicator(raw[i],
			&(struct vt_raw_comm_def){
				.id = 1, .kind = VT_RAW_COMM_WORLD, .n_own = 1, .n = 1, .ranks = &all, .name = "W" });
		stream[i] = vt_raw_stream(raw[i]);
	}
}

static void enter(int rank, int64_t t, uint32_t function)
{
	vt_raw_enter(stream[rank], ltick(t), 0, (struct vt_raw_state_change){ function, 0 });
}

static void leave(int rank, int64_t t)
{
	vt_raw_leave(stream[rank], ltick(t), 0, 0);
}

static void send(int rank, int64_t from, int64_t to, int peer)
{
	const struct vt_raw_message m = { .communicator = 1, .peer = peer, .bytes = 8 };

	enter(rank, from, SEND);
	vt_raw_message(stream[rank], ltick(from), 0, VT_RAW_MESSAGE_SEND, &m);
	leave(rank, to);
}

static void receive(int rank, int64_t from, int64_t to, int peer)
{
	const struct vt_raw_message m = { .communicator = 1, .peer = peer, .bytes = 8, .since = to - from };

	enter(rank, from, RECV);
	vt_raw_message(stream[rank], ltick(to), 0, VT_RAW_MESSAGE_RECEIVE, &m);
	leave(rank, to);
}

/* All ranks. */
static void operation_until(
	uint32_t function, unsigned op, int root, const int64_t from[RANKS], const int64_t to[RANKS])
{
	static uint32_t number;
	int i;

	for (i = 0; i < RANKS; i++) {
		const struct vt_raw_collective c = { .communicator = 1,
			.number = number,
			.root = root,
			.sent = 4,
			.received = 4,
			.since = to[i] - from[i] };

		enter(i, from[i], function);
		vt_raw_event(stream[i], ltick(to[i]), 0, VT_RAW_COLLECTIVE, (uint8_t)op, &c, sizeof(c));
		leave(i, to[i]);
	}
	number++;
}

static void operation(uint32_t function, unsigned op, int root, const int64_t from[RANKS], int64_t to)
{
	operation_until(function, op, root, from, (const int64_t[]){ to, to, to });
}

static void fence(const int64_t from[RANKS], const int64_t to[RANKS])
{
	operation_until(FENCE, VT_RAW_OP_WIN_FENCE, VT_RAW_ROOT_UNKNOWN, from, to);
}

/* Rank 1 posts, from there on for 400 ns. */
static void post(int64_t from)
{
	const struct vt_raw_message m = { .communicator = 1, .peer = 0 };

	enter(1, from, POST);
	vt_raw_message(stream[1], ltick(from), 0, VT_RAW_MESSAGE_SEND, &m);
	leave(1, from + 400);
}

/* Rank 0 begins and ends its use of what rank 1 posts. */
static void use(int64_t begin, int64_t begun, int64_t end, int64_t ended)
{
	const struct vt_raw_message m = {
		.communicator = 1, .peer = 1, .since = ended - begin, .bytes = (uint32_t)(begun - begin)
	};

	enter(0, begin, START);
	leave(0, begun);
	enter(0, end, COMPLETE);
	vt_raw_message(stream[0], ltick(ended), 0, VT_RAW_MESSAGE_EITHER, &m);
	leave(0, ended);
}

/* bound_s: of each clock; 0: they are one clock. Returns the states as lines "RANK FUNCTION FROM TO". */
static char *end_job(double bound_s, struct vt_merge_result *res)
{
	struct vt_merge_options o = { .trace = trace, .force = 1 };
	struct vt_merge_input in[RANKS] = { { .path = path[0] }, { .path = path[1] }, { .path = path[2] } };
	struct cal_map map[RANKS] = { { 0 } };
	uint64_t since[RANKS] = { 0 };
	uint32_t function[RANKS] = { 0 };
	const struct stf_record *r;
	struct stf_reader *reader;
	struct stf_cursor *c;
	struct stf_err se;
	struct tkm_err e;
	char *text = NULL;
	size_t size;
	FILE *f;
	int i;

	for (i = 0; i < RANKS; i++) {
		vt_raw_clock(raw[i], ltick(0), 1000000000, 0, 0);
		vt_raw_close(raw[i], ltick(END));
		if (bound_s > 0) {
			cal_map_line(&map[i], ltick(0), gtick(0), 1, &e);
			map[i].period_s = 1e-9;
			map[i].extra_s = bound_s;
			in[i].map = &map[i];
		}
	}
	CHECK(vt_merge(in, RANKS, &o, res, &e) == 0, "%s", e.text);
	f = open_memstream(&text, &size);
	reader = stf_reader_open(trace, STF_READ_CHECK_REFS, &se);
	CHECK(reader, "%s", se.text);
	c = stf_cursor_open(reader, NULL, &se);
	while (stf_cursor_next(c, &r, &se) > 0) {
		uint32_t rank = stf_value(r, "willy") ? stf_willy_process((uint32_t)stf_value(r, "willy")->u) : 0;

		if (stf_value(r, "function") && !stf_value(r, "receiver")) {
			since[rank] = r->time;
			function[rank] = (uint32_t)stf_value(r, "function")->u;
		} else if (!strcmp(r->layout->cls, "leave_function")) {
			fprintf(f, "%u %s %u %u\n", rank,
				stf_reader_name(reader, STF_ID_function_definition, function[rank]),
				(unsigned)since[rank], (unsigned)r->time);
		}
	}
	stf_cursor_close(c);
	stf_reader_close(reader);
	fclose(f);
	for (i = 0; i < RANKS; i++) {
		cal_map_free(&map[i]);
	}
	return text;
}

/* How often the trace counts a function of a rank among what is left out. */
static unsigned left_out(uint32_t rank, const char *name)
{
	struct stf_err se;
	struct stf_reader *reader = stf_reader_open(trace, 0, &se);
	struct stf_cursor *c = reader ? stf_cursor_open(reader, ".sts", &se) : NULL;
	struct stf_lw_statistics s;
	const struct stf_record *r;
	unsigned n = 0;

	CHECK(c, "%s", se.text);
	while (c && stf_cursor_next(c, &r, &se) > 0) {
		if (stf_get_lw_statistics(r, &s) == 0 && stf_willy_process(s.willy) == rank &&
			!strcmp(stf_reader_name(reader, STF_ID_function_definition, s.function), name)) {
			n += s.count;
		}
	}
	stf_cursor_close(c);
	stf_reader_close(reader);
	return n;
}

static void plan(void)
{
	send(0, 40000, 40500, 1);
	receive(1, 10000, 50000, 0); /* a late sender */
	send(0, 60100, 60200, 1);
	receive(1, 60000, 60800, 0); /* too short */
	send(2, 100000, 150000, 0);
	receive(0, 140000, 150100, 2); /* a late receiver */
	send(2, 200000, 200300, 0);
	receive(0, 300000, 300400, 2); /* it does not wait: the send was over */
	operation(ALLREDUCE, VT_RAW_OP_ALLREDUCE, VT_RAW_ROOT_UNKNOWN, (const int64_t[]){ 400000, 410000, 440000 },
		450000);
	enter(1, 500000, PROBE);
	leave(1, 540000);
	send(0, 530000, 530100, 1);
	receive(1, 540100, 540500, 0);
	operation(BCAST, VT_RAW_OP_BCAST, 1, (const int64_t[]){ 600000, 620000, 630000 }, 640000);
	operation(REDUCE, VT_RAW_OP_REDUCE, 1, (const int64_t[]){ 700000, 710000, 730000 }, 740000);
	operation(SCAN, VT_RAW_OP_SCAN, VT_RAW_ROOT_UNKNOWN, (const int64_t[]){ 820000, 800000, 810000 }, 840000);
}

static void waits_are_states_and_the_rest_is_counted(void)
{
	struct vt_merge_result res;
	char *text;

	begin_job("1000 ns");
	plan();
	enter(2, 900000, RECV); /* and is killed */
	text = end_job(0, &res);
	CHECK_STR(text,
		"1 MPI_Recv 10000 40000\n"
		"2 MPI_Send 100000 140000\n"
		"0 MPI_Allreduce 400000 440000\n1 MPI_Allreduce 410000 440000\n"
		"1 MPI_Probe 500000 530000\n"
		"0 MPI_Bcast 600000 620000\n"
		"1 MPI_Reduce 710000 730000\n"
		"1 MPI_Scan 800000 820000\n2 MPI_Scan 810000 820000\n"
		"2 MPI_Recv 900000 1000000\n");
	free(text);
	CHECK_INT(res.waits, 10);
	CHECK_INT(res.waited_s * 1e9 + 0.5,
		30000 + 40000 + 40000 + 30000 + 30000 + 20000 + 20000 + 20000 + 10000 + 100000);
	CHECK_INT(left_out(0, "MPI_Send"), 3);
	CHECK_INT(left_out(0, "MPI_Recv"), 2);
	CHECK_INT(left_out(1, "MPI_Recv"), 2); /* one of them after its wait in MPI_Probe */
	CHECK_INT(left_out(1, "MPI_Probe"), 0);
	CHECK_INT(left_out(2, "MPI_Send"), 1);
	CHECK_INT(left_out(2, "MPI_Allreduce"), 1);
	CHECK_INT(left_out(2, "MPI_Recv"), 0);
}

/* Rank 2 sends so many bytes to rank 0, which receives from 140 us on, and gets a message that rank 1 has sent at 110 us. */
static void exchange(uint64_t bytes, const char *want)
{
	const struct vt_raw_message out = { .communicator = 1, .peer = 0, .bytes = bytes },
				    in = { .communicator = 1, .peer = 1, .bytes = 8, .since = 50000 },
				    got = { .communicator = 1, .peer = 2, .bytes = bytes, .since = 10100 };
	struct vt_merge_result res;
	char *text;

	begin_job("1000 ns");
	enter(2, 100000, SENDRECV);
	vt_raw_message(stream[2], ltick(100000), 0, VT_RAW_MESSAGE_SEND, &out);
	vt_raw_message(stream[2], ltick(150000), 0, VT_RAW_MESSAGE_RECEIVE, &in);
	leave(2, 150000);
	send(1, 110000, 110200, 2);
	enter(0, 140000, RECV);
	vt_raw_message(stream[0], ltick(150100), 0, VT_RAW_MESSAGE_RECEIVE, &got);
	leave(0, 150100);
	text = end_job(0, &res);
	CHECK_STR(text, want);
	free(text);
}

static void exchange_waits_for_sender_and_receiver(void)
{
	exchange(4096, "2 MPI_Sendrecv 100000 140000\n");
	exchange(8, "2 MPI_Sendrecv 100000 110000\n"); /* short messages are sent at once */
}

/* Waits of 30 us and less, with clocks that may differ by 35 us. */
static void what_the_clocks_cannot_decide_is_no_wait(void)
{
	struct vt_merge_result res;
	char *text;

	begin_job("1000 ns");
	plan();
	text = end_job(17.5e-6, &res);
	CHECK_STR(text, "2 MPI_Send 100000 140000\n0 MPI_Allreduce 400000 440000\n");
	free(text);
	CHECK_INT(left_out(1, "MPI_Recv"), 3);
	CHECK_INT(left_out(1, "MPI_Probe"), 1);
	CHECK_INT(left_out(1, "MPI_Allreduce"), 1);
}

/* A wait of more than 30 us is wanted. States of the program, and calls in them. */
static void shorter_waits_and_states_of_the_program_are_left_out(void)
{
	struct vt_merge_result res;
	char *text;
	int i;

	begin_job("30000 ns");
	for (i = 0; i < RANKS; i++) {
		enter(i, 5000, WORK);
	}
	plan();
	for (i = 0; i < RANKS; i++) {
		leave(i, 990000);
	}
	text = end_job(0, &res);
	CHECK_STR(text, "2 MPI_Send 100000 140000\n0 MPI_Allreduce 400000 440000\n");
	free(text);
	CHECK_INT(left_out(1, "MPI_Recv"), 3);
}

/* One need not wait for the others in a fence. */
static void who_leaves_a_fence_early_waits_for_those_that_came(void)
{
	struct vt_merge_result res;
	char *text;

	begin_job("1000 ns");
	fence((const int64_t[]){ 10000, 20000, 60000 }, (const int64_t[]){ 30000, 61000, 61000 });
	fence((const int64_t[]){ 100000, 190000, 160000 }, (const int64_t[]){ 150000, 191000, 191000 });
	fence((const int64_t[]){ 210000, 220000, 260000 }, (const int64_t[]){ 261000, 261000, 261000 });
	text = end_job(0, &res);
	CHECK_STR(text,
		"0 MPI_Win_fence 10000 20000\n1 MPI_Win_fence 20000 60000\n"
		"2 MPI_Win_fence 160000 190000\n"
		"0 MPI_Win_fence 210000 260000\n1 MPI_Win_fence 220000 260000\n");
	free(text);
}

/* The clocks may differ by 2 us. In the first fence the others leave 1 us before the last one begins, by its clock; in the second
 * one rank 0 certainly leaves before rank 1 begins, and rank 2 begins as rank 0 leaves. */
static void fences_with_clocks_that_differ(void)
{
	struct vt_merge_result res;
	char *text;

	begin_job("1000 ns");
	fence((const int64_t[]){ 10000, 20000, 61000 }, (const int64_t[]){ 60000, 60000, 62000 });
	fence((const int64_t[]){ 110000, 190000, 160500 }, (const int64_t[]){ 160000, 195000, 195000 });
	text = end_job(1e-6, &res);
	CHECK_STR(text,
		"0 MPI_Win_fence 10000 60000\n1 MPI_Win_fence 20000 60000\n"
		"2 MPI_Win_fence 160500 190000\n");
	free(text);
}

static void late_posts_are_waits_in_the_call_that_blocks(void)
{
	struct vt_merge_result res;
	char *text;

	begin_job("1000 ns");
	use(10000, 50200, 51000, 51100); /* in MPI_Win_start */
	post(50000);
	use(110000, 110200, 120000, 150200); /* in MPI_Win_complete */
	post(150000);
	use(210000, 250000, 255000, 290000); /* both are long, for something else: it was posted before */
	post(205000);
	use(310000, 350000, 355000, 390000); /* it was posted between the two: neither has waited for that */
	post(352000);
	text = end_job(0, &res);
	CHECK_STR(text, "0 MPI_Win_start 10000 50000\n0 MPI_Win_complete 120000 150000\n");
	free(text);
	CHECK_INT(left_out(1, "MPI_Win_post"), 4);
}

int main(int argc, char **argv)
{
	char command[100];
	int i;

	check_args(argc, argv);
	if (!mkdtemp(dir)) {
		return 99;
	}
	snprintf(trace, sizeof(trace), "%s/t.stf", dir);
	for (i = 0; i < RANKS; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/%d.raw", dir, i);
	}
	RUN(waits_are_states_and_the_rest_is_counted);
	RUN(exchange_waits_for_sender_and_receiver);
	RUN(what_the_clocks_cannot_decide_is_no_wait);
	RUN(shorter_waits_and_states_of_the_program_are_left_out);
	RUN(who_leaves_a_fence_early_waits_for_those_that_came);
	RUN(fences_with_clocks_that_differ);
	RUN(late_posts_are_waits_in_the_call_that_blocks);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return check_end() | (system(command) != 0);
}
