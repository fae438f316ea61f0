/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread that the others wait for is named if there is one, and only then: jobs with one slow rank, even jobs, a rank that
 * pauses once, and a rank that does not come. */
#include "config.h"
#include "tests/unit/stf/analysis/made.h"

static void slow_rank_is_named(void)
{
	int k;

	for (k = 0; k < 50 * check_times; k++) {
		uint32_t n = 2 + 2 * (uint32_t)(check_random() % (RANKS / 2));

		slow_rank = (uint32_t)(check_random() % n);
		slow_round = 0;
		slow_by = 2;
		play(n, "5e-6", BOUND_NS);
		CHECK(result->culprit.known && result->culprit.willy == slow_rank, "%u ranks: %d, rank %u, want %u", n,
			result->culprit.known, result->culprit.willy, slow_rank);
		CHECK_INT(result->culprit.function, WORK);
		CHECK_NEAR((double)result->culprit.since, 1000 * US, 0.1 * (double)result->end);
		end();
	}
	slow_rank = UINT32_MAX;
}

/* Neighbour k of rank i in a ring of n, from 0: one to the right, one to the left, two to the right ... */
static uint32_t neighbour(uint32_t i, uint32_t n, uint32_t k)
{
	uint32_t away = k / 2 + 1;

	return k & 1 ? (i + n - away) % n : (i + away) % n;
}

/* Ranks in a ring send to their neighbours, so many on each side, and wait for all of them. The slow rank, if there is one, works 1.3 times
 * as long. */
static void play_ring(uint32_t n, uint32_t reach, uint32_t slow)
{
	uint64_t at[RANKS], left[RANKS] = { 0 };
	uint32_t i, round, k;

	begin(n, "1e-6");
	for (i = 0; i < n; i++) {
		call(i, INIT, 0, 1000 * US);
		left[i] = 1000 * US;
	}
	for (round = 0; round < 100; round++) {
		for (i = 0; i < n; i++) {
			uint64_t us = 10000 + check_random() % 200, most = i == slow ? us * 13 / 10 : us;

			call(i, WORK, left[i], left[i] + most * US);
			at[i] = left[i] + most * US;
			call(i, ISEND, at[i], at[i] + US);
		}
		for (i = 0; i < n; i++) {
			uint64_t last = at[i];

			for (k = 0; k < 2 * reach; k++) {
				last = larger(last, at[neighbour(i, n, k)]);
			}
			left[i] = last + 5 * US;
			call(i, WAIT, at[i] + 2 * US, left[i]);
		}
		for (i = 0; i < n; i++) {
			for (k = 0; k < 2 * reach; k++) {
				message(i, neighbour(i, n, k), at[i], left[neighbour(i, n, k)]);
			}
		}
	}
	finish();
}

static void delay_goes_round_a_ring(void)
{
	uint32_t n, slow, reach;

	for (n = 4; n <= RANKS; n += 4) {
		slow = (uint32_t)(check_random() % n);
		reach = 1 + n / 8;
		play_ring(n, reach, slow);
		CHECK(result->culprit.known && result->culprit.willy == slow && result->culprit.share > 0.9,
			"%u ranks: %d, rank %u with %g, want %u", n, result->culprit.known, result->culprit.willy,
			result->culprit.share, slow);
		end();
		play_ring(n, reach, RANKS);
		CHECK(!result->culprit.known, "%u ranks: rank %u is named", n, result->culprit.willy);
		end();
	}
}

/* One rank after the other works for about 10 ms, and sends the token on. */
static void play_token(uint32_t n)
{
	uint64_t at = 1000 * US, left[RANKS] = { 0 };
	uint32_t i, round, next;

	begin(n, "1e-6");
	for (i = 0; i < n; i++) {
		call(i, INIT, 0, 1000 * US);
		left[i] = 1000 * US;
	}
	for (round = 0; round < 20 * n; round++) {
		uint64_t sent;

		i = round % n;
		next = (i + 1) % n;
		sent = at + (10000 + check_random() % 30) * US;
		call(i, WORK, at, sent);
		call(i, SEND, sent, sent + US);
		if (left[next] < sent) {
			call(next, RECV, left[next], sent + 5 * US);
		}
		message(i, next, sent, sent + 5 * US);
		left[i] = sent + 2 * US;
		at = sent + 5 * US;
	}
	finish();
}

static void even_work_in_turns_has_none(void)
{
	uint32_t n;

	for (n = 2; n <= 8; n *= 2) {
		play_token(n);
		CHECK(!result->culprit.known, "%u ranks: rank %u is named with %g", n, result->culprit.willy,
			result->culprit.share);
		end();
	}
}

/* A master gives each worker the same, and takes the results in their order: it waits for the first one, and all have done the same. */
static void play_master(uint32_t n)
{
	uint64_t at = 1000 * US;
	uint32_t i, round;

	begin(n, "1e-6");
	for (i = 0; i < n; i++) {
		call(i, INIT, 0, at);
	}
	for (round = 0; round < 50; round++) {
		for (i = 1; i < n; i++) {
			uint64_t done = at + (10000 + 10 * i) * US;

			call(0, SEND, at + i * US, at + i * US + US / 2);
			call(i, RECV, at, at + i * US + US);
			message(0, i, at + i * US, at + i * US + US);
			call(i, WORK, at + i * US + US, done);
			call(i, SEND, done, done + US);
			call(0, RECV, i == 1 ? at + n * US : done - 5 * US, done + 2 * US);
			message(i, 0, done, done + 2 * US);
		}
		at += 11000 * US;
		for (i = 0; i < n; i++) {
			call(i, IRECV, at - 2 * US, at - US);
		}
	}
	finish();
}

static void even_workers_have_none(void)
{
	uint32_t n;

	for (n = 4; n <= RANKS; n *= 2) {
		play_master(n);
		CHECK(!result->culprit.known, "%u ranks: rank %u is named with %g", n, result->culprit.willy,
			result->culprit.share);
		end();
	}
}

static void finish_with_samples(uint32_t n, double lacked, const char *unit);

/* The trace does not show which rank the others wait for; the slow one, if there is one, works twice as long. lacked: share of the time in
 * which rank 1 lacks a processor; below 0: that is not recorded. */
static void play_unknown_on_node(uint32_t n, uint32_t slow, double lacked)
{
	uint64_t at = 1000 * US, most = slow < n ? 20000 : 10000, from[RANKS], to[RANKS];
	uint32_t i, round;

	begin(n, "1e-6");
	for (i = 0; i < n; i++) {
		call(i, INIT, 0, at);
	}
	for (round = 0; round < 50; round++) {
		for (i = 0; i < n; i++) {
			uint64_t done = at + (i == slow ? most : 10000 - check_random() % 200) * US;

			from[i] = at;
			to[i] = at + (most + 50) * US;
			call(i, IBARRIER, at, at + US);
			call(i, WORK, at + US, done);
			call(i, WAIT, done, to[i]);
		}
		operation(IBARRIER, 0, from, to);
		at = to[0] + US;
	}
	now[0] = at;
	if (lacked < 0) {
		finish();
	} else {
		finish_with_samples(n, lacked, "ns");
	}
}

static void play_unknown(uint32_t n, uint32_t slow)
{
	play_unknown_on_node(n, slow, -1);
}

/* Ranks 1 and 2 work in turns, and rank 0 does something of its own; or each writes a file meanwhile. files: that. */
static void play_apart(int files)
{
	uint64_t at = 1000 * US;
	uint32_t i, round;

	begin(3, "1e-6");
	declare(FUNCTIONS, "MPI_File_write_at", stf_writer_class(w, "MPI", 0));
	for (i = 0; i < 3; i++) {
		call(i, INIT, 0, at);
	}
	call(0, WORK, at, at + 4000000ULL * US);
	for (round = 0; round < 400; round++, at += 10000 * US) {
		uint32_t works = 1 + round % 2, waits_for_it = 3 - works;

		if (files) {
			call(1, FUNCTIONS, at, at + 9900 * US);
			call(2, FUNCTIONS, at, at + 9900 * US);
			continue;
		}
		call(works, WORK, at, at + 9900 * US);
		call(works, SEND, at + 9900 * US, at + 9901 * US);
		call(waits_for_it, RECV, at, at + 9905 * US);
		message(works, waits_for_it, at + 9900 * US, at + 9905 * US);
	}
	finish();
}

/* Ranks 1 to 3 meet in a communicator of their own, and one after the other of them is late. */
static void play_split(void)
{
	uint32_t first = STF_WILLY(1, 0), last = STF_WILLY(3, 0), i, round;
	int32_t stride = 1;
	struct stf_communicator_definition c = { .id = 2,
		.name = "own",
		.size_1_1 = 3,
		.size_2_3 = 1,
		.first_id = &first,
		.last_id = &last,
		.stride = &stride };
	uint64_t at = 1000 * US, start[3], delta[3];

	begin(4, "1e-6");
	CHECK_INT(stf_write_communicator_definition(w, &c), 0);
	for (i = 0; i < 4; i++) {
		call(i, INIT, 0, at);
	}
	call(0, WORK, at, at + 720000ULL * US);
	for (round = 0; round < 90; round++, at += 8000 * US) {
		for (i = 0; i < 3; i++) {
			start[i] = (i == round % 3 ? 7900 : 2000) * US;
			delta[i] = 7990 * US - start[i];
			call(i + 1, WORK, at, at + start[i]);
			call(i + 1, BARRIER, at + start[i], at + 7990 * US);
			start[i] -= 2000 * US;
		}
		CHECK_INT(stf_write_all_communication(
				  w, &(struct stf_all_communication){ at + 2000 * US, 2, BARRIER, 3, start, delta }),
			0);
	}
	finish();
}

/* An operation that does not block, and one pause of a rank, a quarter of the job. */
static void play_one_pause(uint32_t n, uint32_t rank)
{
	uint64_t at = 1000 * US, from[RANKS], to[RANKS];
	uint32_t i, round;

	begin(n, "1e-6");
	for (i = 0; i < n; i++) {
		call(i, INIT, 0, at);
	}
	for (round = 0; round < 40; round++, at = to[0] + US) {
		for (i = 0; i < n; i++) {
			uint64_t done = at + (i == rank && round == 20 ? 140000 : 10000) * US;

			from[i] = at;
			to[i] = at + (round == 20 ? 140050 : 10050) * US;
			call(i, IBARRIER, at, at + US);
			call(i, WORK, at + US, done);
			call(i, WAIT, done, to[i]);
		}
		operation(IBARRIER, 0, from, to);
	}
	finish();
}

static void rank_apart_is_not_named(void)
{
	int k;

	for (k = 0; k < 5; k++) {
		if (k < 2) {
			play_apart(k);
		} else if (k == 2) {
			play_split();
		} else {
			play_one_pause(3, (uint32_t)k - 3);
		}
		CHECK(!result->culprit.known, "case %d: rank %u is named with %g", k, result->culprit.willy,
			result->culprit.share);
		end();
	}
}

static void hardest_worker_is_named(void)
{
	uint32_t n, slow;

	for (n = 2; n <= RANKS; n *= 2) {
		slow = (uint32_t)(check_random() % n);
		play_unknown(n, slow);
		CHECK(result->culprit.known && result->culprit.by_work && result->culprit.willy == slow,
			"%u ranks: %d, rank %u, want %u", n, result->culprit.known, result->culprit.willy, slow);
		CHECK(result->culprit.share > 0.95 && result->culprit.share <= 1, "share %g", result->culprit.share);
		end();
		play_unknown(n, n);
		CHECK(!result->culprit.known, "%u ranks: rank %u is named with %g", n, result->culprit.willy,
			result->culprit.share);
		end();
	}
}

static void since_when(void)
{
	uint64_t half;

	slow_rank = 3;
	slow_round = 100;
	slow_by = 4;
	play(8, "5e-6", BOUND_NS);
	half = slow_since;
	CHECK(result->culprit.known && result->culprit.willy == 3, "named");
	CHECK_NEAR((double)result->culprit.since, (double)half, 2 * (double)result->end / 32);
	slow_rank = UINT32_MAX;
	end();
}

static void even_jobs_have_none(void)
{
	int k;

	for (k = 0; k < 50 * check_times; k++) {
		uint32_t n = 2 + 2 * (uint32_t)(check_random() % (RANKS / 2));

		play(n, "5e-6", BOUND_NS);
		CHECK(!result->culprit.known, "%u ranks: rank %u is named, share %g", n, result->culprit.willy,
			result->culprit.share);
		end();
	}
}

static void one_pause_is_no_slow_rank(void)
{
	uint32_t i;

	for (i = 0; i < 4; i++) {
		pause_rank = i;
		play(4, "5e-6", 0);
		CHECK(!result->culprit.known, "rank %u is named, share %g", result->culprit.willy,
			result->culprit.share);
		end();
	}
	pause_rank = UINT32_MAX;
}

static void rank_that_does_not_come_is_named(void)
{
	static const uint64_t none[4] = { 0 };
	uint32_t i;

	begin(4, "1e-6");
	for (i = 0; i < 4; i++) {
		call(i, INIT, 0, 1000 * US);
		call(i, BARRIER, 2000 * US, 2000 * US);
	}
	(void)none;
	for (i = 0; i < 4; i++) {
		struct stf_enter_function e = { .time = 3000 * US, .willy = i, .function = i == 2 ? WORK : BARRIER };

		CHECK_INT(stf_write_enter_function(w, &e), 0);
	}
	CHECK_INT(stf_writer_finish(w, 0, 9000 * US, &err), 0);
	analyse(NULL);
	CHECK(result->culprit.known && result->culprit.willy == 2, "rank %u", result->culprit.willy);
	CHECK_INT(result->culprit.function, WORK);
	CHECK_INT(result->culprit.since, 2000 * US);
	CHECK_INT(result->culprit.waited, 3 * 6000 * US);
	end();
}

static double others_lack = 0.1; /* so much of what rank 1 lacks */
static double takes = 2;         /* work of rank 1 so many times as long as that of the others */

/* Ends the trace with samples of main_wait: rank 1 lacks a processor for `lacked` of the time, the others for others_lack of that. */
static void finish_with_samples(uint32_t n, double lacked, const char *unit)
{
	struct stf_counter_definition d = { .id = 1,
		.name = 0,
		.type = STF_COUNTER_U8,
		.do_diff = 1,
		.classid = 0,
		.unit = unit,
		.size_1_1 = (uint32_t)strlen(unit) };
	uint32_t i, id = 1;
	uint64_t k, value;

	d.name = stf_writer_string(w, "main_wait");
	CHECK_INT(stf_write_counter_definition(w, &d), 0);
	for (i = 0; i < n; i++) {
		for (k = 0; k <= 10; k++) {
			uint64_t time = now[0] * k / 10;
			struct stf_counter_value v = {
				.time = time, .willy = i, .size_1_2 = 1, .values = &value, .counters = &id
			};

			value = 77 + (uint64_t)((double)time * lacked * (i == 1 ? 1 : others_lack));
			CHECK_INT(stf_write_counter_value(w, &v), 0);
		}
	}
	finish();
}

/* Rank 1 is slow, as in slow_rank_is_named(), but lacks a processor. */
static void play_on_a_busy_node(double lacked, const char *unit)
{
	slow_rank = 1;
	slow_round = 0;
	slow_by = takes;
	before_end = 1;
	play(4, "0", 0);
	before_end = 0;
	slow_rank = UINT32_MAX;
	finish_with_samples(4, lacked, unit);
}

/* Rank 1 is the last by 30 ms in two of three rounds, rank 2 by 10 ms in the third one. */
static void play_two_late_ranks(double lacked)
{
	uint64_t at = 1000 * US, from[3], to[3];
	uint32_t round, i;

	begin(3, "0");
	for (i = 0; i < 3; i++) {
		call(i, INIT, 0, at);
	}
	for (round = 0; round < 99; round++) {
		for (i = 0; i < 3; i++) {
			from[i] = at + 10000 * US + (i == 1 && round % 3 ? 30000 * US : 0) +
				(i == 2 && round % 3 == 0 ? 10000 * US : 0);
			call(i, WORK, at, from[i]);
		}
		at = larger(from[1], from[2]) + 10 * US;
		for (i = 0; i < 3; i++) {
			to[i] = at;
			call(i, BARRIER, from[i], at);
		}
		operation(BARRIER, 0, from, to);
	}
	now[0] = at;
	finish_with_samples(3, lacked, "ns");
}

/* What they wait for it is less than what they wait for one that lacked a processor. */
static void lesser_rank_is_not_named(void)
{
	others_lack = 0;
	play_two_late_ranks(0.9);
	CHECK(!result->culprit.known, "rank %u is named", result->culprit.willy);
	end();
	play_two_late_ranks(0);
	CHECK(result->culprit.known && result->culprit.willy == 1, "%d, rank %u", result->culprit.known,
		result->culprit.willy);
	end();
	others_lack = 0.1;
}

static void rank_without_a_processor_is_not_named(void)
{
	play_on_a_busy_node(0.5, "ns");
	CHECK_INT(result->culprit.known, 0);
	CHECK_INT(result->culprit.willy, 1);
	CHECK_NEAR(result->culprit.without_processor, 0.5 * (double)(result->finish - result->begin) * 1e-9, 1e-2);
	CHECK_NEAR(result->without_processor, (0.5 + 3 * 0.05) / 4, 1e-2);
	end();
	/* those that wait for it look again and again, and lack one as often */
	others_lack = 1;
	play_on_a_busy_node(0.5, "ns");
	CHECK_INT(result->culprit.known, 0);
	end();
	others_lack = 0.1;
	play_on_a_busy_node(0.05, "ns");
	CHECK(result->culprit.known && result->culprit.willy == 1, "its work is twice that of the others");
	end();
	play_on_a_busy_node(0.5, "us"); /* that counter is unknown */
	CHECK_INT(result->culprit.known, 1);
	CHECK(isnan(result->culprit.without_processor) && isnan(result->without_processor), "not recorded");
	end();
}

/* Nor is one that works longer because of that; what it lacks is taken from by how much it does. */
static void hardest_worker_without_a_processor_is_not_named(void)
{
	others_lack = 0;
	play_unknown_on_node(4, 1, 0.5);
	CHECK(!result->culprit.known, "rank %u is named", result->culprit.willy);
	end();
	play_unknown_on_node(4, 1, 0.05);
	CHECK(result->culprit.known && result->culprit.willy == 1, "%d, rank %u", result->culprit.known,
		result->culprit.willy);
	end();
	others_lack = 0.1;
}

/* What all lack of a processor is taken out before they are compared. */
static void slow_rank_is_named_on_a_busy_node(void)
{
	takes = 1.2;
	others_lack = 1;
	play_on_a_busy_node(0.05, "ns");
	CHECK_INT(result->culprit.known, 1);
	CHECK_INT(result->culprit.willy, 1);
	end();
	takes = 2;
	others_lack = 0.1;
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(slow_rank_is_named);
	RUN(delay_goes_round_a_ring);
	RUN(even_work_in_turns_has_none);
	RUN(even_workers_have_none);
	RUN(hardest_worker_is_named);
	RUN(rank_apart_is_not_named);
	RUN(since_when);
	RUN(even_jobs_have_none);
	RUN(one_pause_is_no_slow_rank);
	RUN(rank_that_does_not_come_is_named);
	RUN(rank_without_a_processor_is_not_named);
	RUN(hardest_worker_without_a_processor_is_not_named);
	RUN(slow_rank_is_named_on_a_busy_node);
	RUN(lesser_rank_is_not_named);
	rmdir(dir);
	return check_end();
}
