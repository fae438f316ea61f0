/* SPDX-License-Identifier: BSD-3-Clause */
/* The clocks of a thread that is played: work, calls that wait and calls that do not, another network, another function. */
#include "config.h"
#include "stf/replay/replay.h"
#include "tests/lib/check.h"

enum { WORK = 3, OTHER = 4 };

static void expect_times(const struct stf_player *t, uint64_t ideal, uint64_t changed)
{
	CHECK_INT(t->now.at[STF_PLAY_IDEAL], ideal);
	CHECK_INT(t->now.at[STF_PLAY_CHANGED], changed);
}

static void work_takes_its_time_but_for_the_changed_function(void)
{
	struct stf_replay r = { .function = WORK, .keeps = 0.25 };
	struct stf_player t = { 0 };

	stf_play_time(&r, &t, OTHER, 100);
	expect_times(&t, 100, 100);
	stf_play_time(&r, &t, WORK, 1000);
	expect_times(&t, 1100, 350);
	r.function = 0; /* time in no function is not that of "no function is changed" */
	stf_play_time(&r, &t, 0, 10);
	expect_times(&t, 1110, 360);
}

/* A receive from 100 to 180 of a message that was sent at 150; both clocks of the thread are then at 90. */
static struct stf_player play_receive(const struct stf_replay *r, uint64_t ideal, uint64_t changed)
{
	struct stf_player t = { .now = { { 90, 90 } } };
	struct stf_play_arrival a = { 180, 150, { { ideal, changed } }, 1 };
	struct stf_play_arrival later = { 300, 150, { { 9000, 9000 } }, 1 };
	struct stf_play_call c = { .enter = 100, .leave = 180, .entered = { { 90, 90 } } };

	CHECK_INT(stf_play_arrives(&t, &later), 0);
	CHECK_INT(stf_play_arrives(&t, &a), 0);
	stf_play_leave(r, &t, &c);
	CHECK_INT(t.n, 1); /* what is complete later stays */
	stf_player_free(&t);
	return t;
}

static void call_waits_for_what_arrives(void)
{
	const struct stf_replay r = { 0 };
	struct stf_player t = play_receive(&r, 120, 140);

	expect_times(&t, 120, 170); /* 30 is what the call took when the message had been sent */
	t = play_receive(&r, 50, 60);
	expect_times(&t, 90, 120);
}

static void call_on_files_keeps_its_time(void)
{
	const struct stf_replay r = { 0 };
	struct stf_player t = { 0 };
	struct stf_play_call c = { .enter = 100, .leave = 150, .entered = { { 40, 60 } }, .keeps_time = 1 };

	stf_play_leave(&r, &t, &c);
	expect_times(&t, 90, 110);
	c.keeps_time = 0;
	stf_play_leave(&r, &t, &c);
	expect_times(&t, 40, 110);
}

static void sender_waits_for_its_receiver(void)
{
	const struct stf_replay r = { 0 };
	struct stf_player t = { 0 };
	struct stf_play_call c = { .enter = 100,
		.leave = 150,
		.entered = { { 40, 60 } },
		.waited = 1,
		.receiver_came = 140,
		.receiver = { { 70, 80 } } };

	stf_play_leave(&r, &t, &c);
	expect_times(&t, 70, 90);
}

static void network_takes_the_time_that_it_is_said_to_take(void)
{
	const struct stf_replay r = { .latency = 5, .per_byte = 0.25 };
	const struct stf_play_times sent = { { 100, 200 } };
	struct stf_play_times t = stf_play_message(&r, &sent, 40);

	CHECK_INT(t.at[STF_PLAY_IDEAL], 115);
	CHECK_INT(t.at[STF_PLAY_CHANGED], 200);
	t = stf_play_operation(&r, &sent, 8, 4); /* 3 steps */
	CHECK_INT(t.at[STF_PLAY_IDEAL], 118);
	t = stf_play_operation(&r, &sent, 9, 4);
	CHECK_INT(t.at[STF_PLAY_IDEAL], 124);
	t = stf_play_operation(&r, &sent, 1, 4);
	CHECK_INT(t.at[STF_PLAY_IDEAL], 100);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(work_takes_its_time_but_for_the_changed_function);
	RUN(call_waits_for_what_arrives);
	RUN(call_on_files_keeps_its_time);
	RUN(sender_waits_for_its_receiver);
	RUN(network_takes_the_time_that_it_is_said_to_take);
	return check_end();
}
