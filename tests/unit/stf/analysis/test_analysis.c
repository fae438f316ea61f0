/* SPDX-License-Identifier: BSD-3-Clause */
/* Made traces of jobs whose waits and efficiencies follow from their plan: each kind of wait alone, and random jobs of 16
 * ranks whose clocks are off within a known bound. */
#include "config.h"
#include "tests/unit/stf/analysis/made.h"

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
	CHECK_INT(result->thread[1].wait, 4000 * US);
	CHECK_INT(result->thread[1].undecided, 0);
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
	CHECK_INT(result->thread[1].wait, 0);
	CHECK_INT(result->thread[1].undecided, 5 * US);
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

/* Ten messages come during the call, which completes the first of them; later calls complete the others. */
static void many_messages_come_during_one_call(void)
{
	uint64_t i;

	begin(2, "1e-6");
	call(1, WAIT, 1000 * US, 9000 * US);
	for (i = 0; i < 10; i++) {
		call(0, SEND, (2000 + 100 * i) * US, (2010 + 100 * i) * US);
		message(0, 1, (2000 + 100 * i) * US, (9000 + 100 * i) * US);
	}
	for (i = 1; i < 10; i++) {
		call(1, WAIT, (9000 + 100 * i - 20) * US, (9000 + 100 * i) * US);
	}
	finish();
	CHECK_INT(wait_of(STF_WAIT_LATE_SENDER, 1, WAIT)->count, 1);
	CHECK_INT(wait_of(STF_WAIT_LATE_SENDER, 1, WAIT)->sum, 1000 * US);
	end();
}

static void leave_without_its_enter(void)
{
	struct stf_leave_function l = { .time = 10 * US, .willy = 1 };

	begin(2, "1e-6");
	CHECK_INT(stf_write_leave_function(w, &l), 0);
	call(1, BARRIER, 20 * US, 30 * US);
	l.time = 40 * US;
	CHECK_INT(stf_write_leave_function(w, &l), 0);
	finish();
	CHECK_INT(result->n_threads, 1);
	CHECK_INT(result->thread[0].calls, 1);
	CHECK_INT(result->thread[0].mpi, 10 * US);
	end();
}

/* Rank 1 looks for 0.4 ms in each millisecond from 10 to 49. At 50 it calls `last`, until 50.3, and rank 0 has sent then. */
static void look_in_vain(uint32_t last, uint64_t sent, uint64_t work_at)
{
	uint64_t t;

	for (t = 10000; t < 50000; t += 1000) {
		call(1, TEST, t * US, (t + 400) * US);
		if (t == work_at) {
			call(1, WORK, (t + 500) * US, (t + 600) * US);
		}
	}
	call(1, last, 50000 * US, 50300 * US);
	call(0, WORK, 0, sent * US);
	call(0, SEND, sent * US, (sent + 10) * US);
	message(0, 1, sent * US, 50300 * US);
}

static void calls_that_look_in_vain_are_waits(void)
{
	static const struct {
		uint32_t last;
		uint64_t sent, work_at, wait;
	} jobs[] = {
		{ TEST, 50100, 0, 40 * 400 + 100 }, { TEST, 49700, 0, 40 * 400 }, /* ready between two calls */
		{ TEST, 50100, 29000, 20 * 400 + 100 }, /* what it did before 29.6 ms was work between looks */
		{ RECV, 50100, 0, 40 * 400 + 100 },     /* found, then received */
	};
	const struct stf_wait *v;
	size_t i;

	for (i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		begin(2, "1e-6");
		look_in_vain(jobs[i].last, jobs[i].sent, jobs[i].work_at);
		finish();
		v = wait_of(STF_WAIT_LATE_SENDER, 1, jobs[i].last);
		CHECK_INT(v->count, 1);
		CHECK_INT(v->sum, jobs[i].wait * US);
		CHECK_INT(v->cause, 0);
		CHECK_INT(v->cause_function, WORK);
		CHECK_INT(result->n_waits, 1);
		end();
	}
}

static void looks_before_a_barrier_are_no_wait_at_it(void)
{
	const uint64_t from[] = { 51000 * US, 12000 * US }, to[] = { 51100 * US, 51100 * US };

	begin(2, "1e-6");
	call(1, TEST, 10000 * US, 10400 * US);
	call(1, TEST, 11000 * US, 11400 * US);
	call(1, BARRIER, from[1], to[1]);
	call(0, BARRIER, from[0], to[0]);
	operation(BARRIER, 0, from, to);
	finish();
	CHECK_INT(wait_of(STF_WAIT_BARRIER, 1, BARRIER)->sum, 39000 * US);
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

/* Rank 0 starts to send at 1 ms and waits for that from 1.1 ms on; rank 1 receives from 5 to 5.2 ms. */
static void start_and_wait(uint32_t bytes, uint64_t until)
{
	begin(2, "1e-6");
	bytes_of_message = bytes;
	call(0, ISEND, 1000 * US, 1010 * US);
	call(0, WAIT, 1100 * US, until * US);
	message(0, 1, 1005 * US, 5200 * US);
	bytes_of_message = 0;
	call(1, WORK, 0, 5000 * US);
	call(1, RECV, 5000 * US, 5200 * US);
	call(0, FINALIZE, 15000 * US, 15010 * US);
	call(1, FINALIZE, 14000 * US, 15010 * US);
	finish();
}

static void completion_waits_for_a_late_receiver(void)
{
	static const uint64_t until[] = { 5100, 5200, 5300 };
	const struct stf_wait *v;
	size_t i;

	for (i = 0; i < sizeof(until) / sizeof(until[0]); i++) {
		start_and_wait(1 << 20, until[i]);
		v = wait_of(STF_WAIT_LATE_RECEIVER, 0, WAIT);
		CHECK_INT(v->sum, 3900 * US);
		CHECK_INT(v->cause, 1);
		CHECK_INT(v->cause_function, WORK);
		CHECK_INT(result->path[1].willy, 1); /* the path to rank 0, which ends last, has the work of rank 1 */
		CHECK_INT(result->path[1].function, WORK);
		CHECK_INT(result->path[1].ticks, 5000 * US);
		end();
	}
	start_and_wait(1 << 20, 9500); /* it waited for something else */
	CHECK_INT(wait_of(STF_WAIT_LATE_RECEIVER, 0, WAIT)->count, 0);
	end();
	start_and_wait(1000, 5100); /* short messages are sent at once */
	CHECK_INT(wait_of(STF_WAIT_LATE_RECEIVER, 0, WAIT)->count, 0);
	end();
}

/* Rank 0 sends from 1 ms on, until `left`. Rank 1 has posted its receive before, or posts it then, and waits for it from 5 to 5.2 ms. */
static void send_to_a_posted_receive(uint32_t bytes, uint32_t function, uint64_t left)
{
	begin(2, "1e-6");
	bytes_of_message = bytes;
	call(0, function, 1000 * US, left * US);
	message(0, 1, 1000 * US, 5200 * US);
	bytes_of_message = 0;
	call(1, WORK, 0, 5000 * US);
	call(1, WAIT, 5000 * US, 5200 * US);
	call(0, FINALIZE, 15000 * US, 15010 * US);
	call(1, FINALIZE, 14000 * US, 15010 * US);
	finish();
}

static void sender_waits_until_a_posted_receive_goes_on(void)
{
	static const uint64_t left[] = { 5100, 5200, 5300 };
	const struct stf_wait *v;
	size_t i;

	for (i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
		send_to_a_posted_receive(1 << 20, SEND, left[i]);
		v = wait_of(STF_WAIT_LATE_RECEIVER, 0, SEND);
		CHECK_INT(v->sum, 4000 * US);
		CHECK_INT(v->cause, 1);
		CHECK_INT(v->cause_function, WORK);
		CHECK_INT(result->path[1].willy, 1); /* the path to rank 0, which ends last, has the work of rank 1 */
		CHECK_INT(result->path[1].function, WORK);
		end();
	}
	send_to_a_posted_receive(1 << 20, SEND, 1100); /* it did not wait for that */
	CHECK_INT(wait_of(STF_WAIT_LATE_RECEIVER, 0, SEND)->count, 0);
	end();
	send_to_a_posted_receive(1 << 20, SEND, 9500); /* it waited for something else */
	CHECK_INT(wait_of(STF_WAIT_LATE_RECEIVER, 0, SEND)->count, 0);
	end();
	send_to_a_posted_receive(
		8, SEND, 5100); /* short messages are sent at once, so it was held up by something else */
	CHECK_INT(wait_of(STF_WAIT_LATE_RECEIVER, 0, SEND)->count, 0);
	CHECK_INT(result->ideal, 13800 * US);
	end();
	send_to_a_posted_receive(8, SSEND, 5100);
	CHECK_INT(wait_of(STF_WAIT_LATE_RECEIVER, 0, SSEND)->sum, 4000 * US);
	end();
}

/* Rank 0 sends to rank 1 and receives from rank 2, from 1 to 5.1 ms. Rank 1 receives from `received` on, rank 2 sends then. */
static void send_and_receive(uint32_t bytes, uint64_t received, uint64_t sent)
{
	begin(3, "1e-6");
	bytes_of_message = bytes;
	call(0, SENDRECV, 1000 * US, 5100 * US);
	message(0, 1, 1000 * US, 5110 * US);
	message(2, 0, sent * US, 5100 * US);
	bytes_of_message = 0;
	call(1, WORK, 0, received * US);
	call(1, RECV, received * US, 5110 * US);
	call(2, WORK, 0, sent * US);
	call(2, ISEND, sent * US, (sent + 10) * US);
	finish();
}

static void exchange_waits_for_both_others(void)
{
	static const struct {
		uint32_t bytes;
		uint64_t received, sent, for_sender, for_receiver;
	} jobs[] = {
		{ 1 << 20, 5000, 3000, 2000, 2000 }, /* first for the sender, then for the receiver */
		{ 1 << 20, 3000, 5000, 4000, 0 },    /* nothing is counted twice */
		{ 1 << 20, 5000, 500, 0, 4000 }, { 1 << 20, 2000, 500, 0, 0 }, /* it waited for something else */
		{ 1000, 5000, 3000, 2000, 0 },                                 /* short messages are sent at once */
	};
	size_t i;

	for (i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		send_and_receive(jobs[i].bytes, jobs[i].received, jobs[i].sent);
		CHECK_INT(wait_of(STF_WAIT_LATE_SENDER, 0, SENDRECV)->sum, jobs[i].for_sender * US);
		CHECK_INT(wait_of(STF_WAIT_LATE_RECEIVER, 0, SENDRECV)->sum, jobs[i].for_receiver * US);
		CHECK_INT(result->thread[0].wait, (jobs[i].for_sender + jobs[i].for_receiver) * US);
		CHECK_INT(result->n_waits, (jobs[i].for_sender > 0) + (jobs[i].for_receiver > 0));
		end();
	}
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

/* Makes a trace with one fence. */
static void fence(const char *bound, int64_t late_clock, const uint64_t from[4], const uint64_t to[4])
{
	uint32_t i;

	begin(4, bound);
	offset[3] = late_clock;
	for (i = 0; i < 4; i++) {
		call(i, FENCE, from[i], to[i]);
	}
	operation(FENCE, 0, from, to);
	finish();
}

/* Rank 0 leaves before rank 3 begins: it can have waited for rank 1 only. */
static void members_of_a_fence_wait_for_those_that_came(void)
{
	static const uint64_t from[4] = { 1000 * US, 2000 * US, 2500 * US, 6000 * US },
			      to[4] = { 2200 * US, 6100 * US, 6100 * US, 6100 * US };

	fence("1e-6", 0, from, to);
	CHECK_INT(wait_of(STF_WAIT_FENCE, 0, FENCE)->sum, 1000 * US);
	CHECK_INT(wait_of(STF_WAIT_FENCE, 0, FENCE)->cause, 1);
	CHECK_INT(wait_of(STF_WAIT_FENCE, 1, FENCE)->sum, 4000 * US);
	CHECK_INT(wait_of(STF_WAIT_FENCE, 2, FENCE)->cause, 3);
	CHECK_INT(result->n_waits, 3);
	CHECK_INT(result->reversed, 0);
	end();
}

/* All stay, but by its clock rank 3 begins 3 us after the others leave. */
static void clocks_do_not_part_the_members_of_a_fence(void)
{
	static const uint64_t from[4] = { 1000 * US, 2000 * US, 2500 * US, 6000 * US },
			      to[4] = { 6001 * US, 6001 * US, 6001 * US, 6001 * US };
	uint32_t i;

	fence("2e-6", 4 * US, from, to);
	CHECK_INT(result->n_waits, 3);
	for (i = 0; i < 3; i++) {
		CHECK_INT(wait_of(STF_WAIT_FENCE, i, FENCE)->cause, 3);
		CHECK_INT(wait_of(STF_WAIT_FENCE, i, FENCE)->sum, to[i] - from[i]);
	}
	end();
	fence("1e-6", 4 * US, from, to); /* that is more than they can be off */
	CHECK_INT(result->n_waits, 2);
	CHECK_INT(wait_of(STF_WAIT_FENCE, 0, FENCE)->cause, 2);
	end();
}

/* Rank 0 leaves before rank 3 begins, and 3 us before or after rank 1 does: it may have waited for that one, or for rank 2. */
static void the_clocks_do_not_say_for_whom_a_fence_waits(void)
{
	static const uint64_t from[4] = { 1000 * US, 2203 * US, 1500 * US, 6000 * US },
			      before[4] = { 1000 * US, 2197 * US, 1500 * US, 6000 * US },
			      to[4] = { 2200 * US, 6100 * US, 6100 * US, 6100 * US };

	fence("2e-6", 0, from, to);
	CHECK_INT(result->n_waits, 2);
	CHECK_INT(wait_of(STF_WAIT_FENCE, 1, FENCE)->cause, 3);
	CHECK_INT(wait_of(STF_WAIT_FENCE, 2, FENCE)->cause, 3);
	end();
	fence("2e-6", 0, before, to);
	CHECK_INT(result->n_waits, 2);
	end();
	fence("1e-6", 0, from, to);
	CHECK_INT(result->n_waits, 3);
	CHECK_INT(wait_of(STF_WAIT_FENCE, 0, FENCE)->cause, 2);
	end();
}

static void last_to_begin_is_undecided_within_the_bound(void)
{
	uint64_t from[3] = { 1000 * US, 2000 * US, 5000 * US }, to[3] = { 5100 * US, 5100 * US, 5100 * US };
	const struct stf_spread *s;
	int i;

	begin(3, "1e-5");
	for (i = 0; i < 3; i++) { /* rank 2 is last by 3 ms, by 10 us, and not at all */
		operation(BARRIER, 0, from, to);
		from[1] = i ? 5000 * US : 4990 * US;
	}
	finish();
	CHECK_INT(result->n_spreads, 1);
	s = result->spread;
	CHECK_INT(s->count, 3);
	CHECK_INT(s->undecided, 2);
	CHECK_INT(s->last, 2);
	CHECK_INT(s->last_count, 1);
	CHECK_INT(s->sum, 3 * 4000 * US);
	CHECK_INT(s->worst_at, 1000 * US);
	CHECK_INT(s->inside, (3 * 4200 + 3100 + 110 + 100) * (uint64_t)US);
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
	CHECK_INT(wait_of(STF_WAIT_OPEN, 1, RECV)->sum, 6000 * US);
	CHECK_INT(result->n_waits, 1);
	CHECK_INT(result->n_delays, 0);
	end();
}

/* Ranks come to MPI_Init at 0, 100, 300 and to MPI_Finalize at 9000, 8000, 7000 us; rank 3 is a job that the others have started. */
static void ranks_wait_at_both_ends(void)
{
	static const uint64_t init[] = { 0, 100, 300, 2000 }, left[] = { 400, 410, 420, 2100 },
			      final[] = { 9000, 8000, 7000, 6000 };
	uint32_t i;

	begin(4, "1e-6");
	for (i = 0; i < 4; i++) {
		call(i, INIT, init[i] * US, left[i] * US);
		call(i, FINALIZE, final[i] * US, (i == 3 ? 6100 : 9100) * US);
	}
	finish();
	CHECK_INT(wait_of(STF_WAIT_INIT, 0, INIT)->sum, 300 * US);
	CHECK_INT(wait_of(STF_WAIT_INIT, 1, INIT)->sum, 200 * US);
	CHECK_INT(wait_of(STF_WAIT_INIT, 1, INIT)->cause, 2);
	CHECK_INT(wait_of(STF_WAIT_FINALIZE, 1, FINALIZE)->sum, 1000 * US);
	CHECK_INT(wait_of(STF_WAIT_FINALIZE, 2, FINALIZE)->sum, 2000 * US);
	CHECK_INT(wait_of(STF_WAIT_FINALIZE, 2, FINALIZE)->cause, 0);
	CHECK_INT(result->n_waits, 4);
	CHECK_INT(result->n_delays, 1);
	CHECK_INT(result->delay[0].direct, 3000 * US);
	end();
}

/* Two messages are sent; the receiver waits for the second one and then takes the first. */
static void messages_are_received_in_the_wrong_order(void)
{
	begin(2, "1e-6");
	call(0, SEND, 1000 * US, 1010 * US);
	message(0, 1, 1000 * US, 6010 * US);
	call(0, SEND, 5000 * US, 5010 * US);
	message(0, 1, 5000 * US, 6000 * US);
	call(1, RECV, 2000 * US, 6000 * US);
	call(1, RECV, 6005 * US, 6010 * US);
	finish();
	CHECK_INT(wait_of(STF_WAIT_WRONG_ORDER, 1, RECV)->sum, 3000 * US);
	CHECK_INT(result->n_waits, 1);
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

/* The critical path and the ideal run follow from the plan, with this largest relative error. */
static void compare_paths_with_plan(uint32_t n, double error)
{
	uint64_t on_rank[2][RANKS] = { { 0 } }, most = 0, sum = 0;
	uint32_t i, last = 0;
	double run;
	size_t k;

	for (i = 0; i < n; i++) {
		last = now[i] > now[last] ? i : last;
		most = ideal[i] > most ? ideal[i] : most;
	}
	run = (double)(now[last] - 1000 * US);
	CHECK_NEAR((double)result->ideal, (double)(most - 1000 * US), error * run);
	CHECK_NEAR(result->transfer.value, (double)(most - 1000 * US) / run, error + result->transfer.error);
	CHECK_NEAR(result->serialisation.value * result->transfer.value, result->communication.value, 1e-9);
	for (k = 0; k < result->n_path; k++) {
		const struct stf_path_share *s = &result->path[k];

		on_rank[s->function == WORK][s->willy] += s->ticks;
		sum += s->ticks;
		CHECK(k == 0 || s->ticks <= s[-1].ticks, "share %zu", k);
	}
	CHECK_INT(sum, result->path_sum);
	CHECK_NEAR((double)sum, run, error * run);
	for (i = 0; i < n; i++) {
		CHECK_NEAR((double)on_rank[1][i], (double)path_work[last][i], error * run);
		CHECK_NEAR((double)on_rank[0][i], (double)path_mpi[last][i], error * run);
	}
}

static void random_jobs_on_exact_clocks(void)
{
	int k;

	for (k = 0; k < 4 * check_times; k++) {
		uint32_t n = 2 + 2 * (uint32_t)(check_random() % (RANKS / 2));

		play(n, "0", 0);
		compare_with_plan(n, 0);
		compare_paths_with_plan(n, 1e-5);
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

/* A job is played with its work in another time, and then really takes it. */
static void changed_function_changes_the_run_as_it_is_played(void)
{
	static const double times[] = { 1, 0.9, 0.5, 0.2 };
	struct stf_analysis_options o = stf_analysis_options();
	size_t i;

	o.function = WORK;
	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		uint64_t seed = check_random(), last = 0, played;
		uint32_t k;

		check_srandom(seed);
		play(8, "0", 0);
		stf_analysis_free(result);
		stf_reader_close(reader);
		o.keeps = times[i];
		analyse(&o);
		played = result->changed;
		end();
		work_times = times[i];
		check_srandom(seed);
		play(8, "0", 0);
		work_times = 1;
		for (k = 0; k < 8; k++) {
			last = now[k] > last ? now[k] : last;
		}
		CHECK_NEAR((double)played, (double)(last - 1000 * US), 0.001 * (double)result->end);
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
	RUN(many_messages_come_during_one_call);
	RUN(leave_without_its_enter);
	RUN(calls_that_look_in_vain_are_waits);
	RUN(looks_before_a_barrier_are_no_wait_at_it);
	RUN(sender_waits_for_a_late_receiver);
	RUN(completion_waits_for_a_late_receiver);
	RUN(sender_waits_until_a_posted_receive_goes_on);
	RUN(exchange_waits_for_both_others);
	RUN(members_wait_for_the_last_one);
	RUN(members_of_a_fence_wait_for_those_that_came);
	RUN(clocks_do_not_part_the_members_of_a_fence);
	RUN(the_clocks_do_not_say_for_whom_a_fence_waits);
	RUN(last_to_begin_is_undecided_within_the_bound);
	RUN(operation_without_blocking_waits_in_its_wait);
	RUN(chain_of_waits_leads_to_its_start);
	RUN(no_bound_no_undecided);
	RUN(call_that_is_open_at_the_end);
	RUN(ranks_wait_at_both_ends);
	RUN(messages_are_received_in_the_wrong_order);
	RUN(window_cuts_waits);
	RUN(random_jobs_on_exact_clocks);
	RUN(random_jobs_on_clocks_within_their_bound);
	RUN(changed_function_changes_the_run_as_it_is_played);
	rmdir(dir);
	return check_end();
}
