/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "calib/session/line.h"
#include "tests/lib/check.h"

#include <pthread.h>
#include <sched.h>

#include "timers/timer.h"

enum { TURNS = 20000 };

static struct cal_lines *side[3];
static void *room;

static void begin(int processes)
{
	size_t size = cal_lines_size(processes);
	int i;

	room = aligned_alloc(64, size);
	memset(room, 0, size);
	for (i = 0; i < processes; i++) {
		side[i] = cal_lines_open(room, processes, i);
	}
}

static void end(int processes)
{
	while (processes-- > 0) {
		cal_lines_close(side[processes]);
	}
	free(room);
}

static void pings_are_counted_and_go_one_way(void)
{
	int i;

	begin(3);
	cal_lines_begin(side[0], 2, 0);
	cal_lines_begin(side[2], 0, 0);
	cal_lines_begin(side[2], 1, 0);
	CHECK(!cal_line_pinged(side[2], 0), "fresh memory is a ping");
	for (i = 0; i < 3; i++) {
		cal_line_ping(side[0], 2);
	}
	CHECK(!cal_line_pinged(side[2], 1), "that was another process");
	for (i = 0; i < 3; i++) {
		CHECK(cal_line_pinged(side[2], 0), "ping %d", i);
	}
	CHECK(!cal_line_pinged(side[2], 0), "a fourth one");
	CHECK(!cal_line_pinged(side[0], 2), "back");
	end(3);
}

static void what_is_left_over_does_not_count_in_the_next_epoch(void)
{
	int64_t word = 0;

	begin(2);
	cal_lines_begin(side[0], 1, 7);
	cal_line_ping(side[0], 1);
	cal_line_ping(side[0], 1);
	cal_line_word(side[0], 1, 1);
	cal_lines_begin(side[1], 0, 8);
	CHECK(!cal_line_pinged(side[1], 0) && !cal_line_take_word(side[1], 0, &word), "of epoch 7");
	cal_lines_begin(side[0], 1, 8);
	cal_line_ping(side[0], 1);
	cal_line_word(side[0], 1, 2);
	CHECK(cal_line_pinged(side[1], 0) && !cal_line_pinged(side[1], 0), "one of epoch 8");
	CHECK(cal_line_take_word(side[1], 0, &word) == 1 && word == 2, "word %lld", (long long)word);
	/* a process that has waited in vain and is late does not take those of a later one */
	cal_lines_begin(side[0], 1, 9);
	cal_line_ping(side[0], 1);
	CHECK(!cal_line_pinged(side[1], 0), "of epoch 9");
	end(2);
}

static void words_and_letters_arrive_and_overwritten_ones_say_so(void)
{
	char sent[CAL_LINE_MOST], got[CAL_LINE_MOST] = "";
	int64_t word = 0;
	size_t i;

	for (i = 0; i < sizeof(sent); i++) {
		sent[i] = (char)(i * 7);
	}
	begin(3);
	cal_lines_begin(side[0], 1, 0);
	cal_lines_begin(side[0], 2, 0);
	cal_lines_begin(side[1], 0, 0);
	CHECK(cal_line_take_word(side[1], 0, &word) == 0 && cal_line_take_letter(side[1], 0, got, 1) == 0,
		"nothing was sent");
	cal_line_word(side[0], 1, -5);
	CHECK(cal_line_take_word(side[1], 0, &word) == 1 && word == -5, "word %lld", (long long)word);
	cal_line_letter(side[0], 1, sent, sizeof(sent));
	CHECK(cal_line_take_letter(side[1], 0, got, sizeof(got)) == 1 && memcmp(sent, got, sizeof(got)) == 0,
		"another letter");
	cal_line_letter(side[0], 1, sent, 8);
	cal_line_letter(side[0], 2, got, 8);
	CHECK(cal_line_take_letter(side[1], 0, got, 8) == -1, "the letter was written over by that to another");
	cal_line_word(side[0], 1, 1);
	cal_line_word(side[0], 1, 2);
	CHECK(cal_line_take_word(side[1], 0, &word) == -1, "the word was written over");
	CHECK(!cal_line_are_together(side[1], 0), "not proven");
	cal_line_set_together(side[0], 1, 1);
	CHECK(cal_line_are_together(side[1], 0) && !cal_line_are_together(side[1], 2), "said by 0");
	end(3);
}

/* The clock is one that the kernel keeps from going back between processing units. */
static int64_t stamp_of[2][TURNS];
static struct tmr_timer *timer;
static int wrong_letters;

static void await_ping(int me)
{
	while (!cal_line_pinged(side[me], !me)) {
		sched_yield();
	}
}

static void *child(void *arg)
{
	int64_t letter[200];
	int i, k;

	(void)arg;
	cal_lines_begin(side[1], 0, 3);
	for (i = 0; i < TURNS; i++) {
		await_ping(1);
		stamp_of[1][i] = tmr_read_ordered(timer).v;
		while (cal_line_take_letter(side[1], 0, letter, sizeof(letter)) == 0) {
			sched_yield();
		}
		for (k = 0; k < 200; k++) {
			wrong_letters += letter[k] != i;
		}
		cal_line_word(side[1], 0, i);
	}
	return NULL;
}

static void nothing_arrives_before_it_was_sent(void)
{
	struct tkm_err err;
	int64_t letter[200], word = 0;
	int i, k, early = 0, lost = 0;
	pthread_t thread;

	timer = tmr_open("clock_monotonic", 0, &err);
	CHECK(timer != NULL, "%s", err.text);
	begin(2);
	CHECK(pthread_create(&thread, NULL, child, NULL) == 0, "no thread");
	cal_lines_begin(side[0], 1, 3);
	for (i = 0; i < TURNS; i++) {
		stamp_of[0][i] = tmr_read_ordered(timer).v;
		cal_line_ping(side[0], 1);
		for (k = 0; k < 200; k++) {
			letter[k] = i;
		}
		cal_line_letter(side[0], 1, letter, sizeof(letter));
		while ((k = cal_line_take_word(side[0], 1, &word)) == 0) {
			sched_yield();
		}
		lost += k < 0 || word != i;
	}
	pthread_join(thread, NULL);
	for (i = 0; i < TURNS; i++) {
		early += stamp_of[1][i] < stamp_of[0][i];
	}
	CHECK(early == 0 && lost == 0 && wrong_letters == 0, "%d early, %d words and %d numbers of letters wrong of %d",
		early, lost, wrong_letters, TURNS);
	end(2);
	tmr_close(timer);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(pings_are_counted_and_go_one_way);
	RUN(what_is_left_over_does_not_count_in_the_next_epoch);
	RUN(words_and_letters_arrive_and_overwritten_ones_say_so);
	RUN(nothing_arrives_before_it_was_sent);
	return check_end();
}
