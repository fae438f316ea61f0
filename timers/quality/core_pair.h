/* SPDX-License-Identifier: BSD-3-Clause */
/* By how much does the clock of one processing unit differ from that of another one of the same node? A causality test
 * over shared cache lines gives an interval that contains the offset; it does not assume that both directions take
 * equally long. One thread writes what its clock shows into a cache line over and over. A thread on the other unit
 * reads the line and then its own clock, which therefore shows a later time than the one it read: the smallest
 * difference is an upper end. The lower end follows in the same way with the roles of the threads exchanged. Libc only:
 * the core matrix of timertest and the proof inside jobs (timers/quality/prove.h) use it. */
#ifndef TIMERS_QUALITY_CORE_PAIR_H
#define TIMERS_QUALITY_CORE_PAIR_H

#include "timers/timer.h"

enum tmr_pair_result {
	/* not measured, or the interval contains 0 and is too wide: tmr_pair_limit() */
	TMR_PAIR_UNKNOWN,
	/* the interval contains 0, and no end of it is beyond the limit */
	TMR_PAIR_TOGETHER,
	/* 0 lies outside the interval: the clocks differ */
	TMR_PAIR_APART,
	/* no constant offset explains what was read */
	TMR_PAIR_CONTRADICTION,
};

struct tmr_core_pair {
	unsigned pu_a, pu_b; /* operating system numbers */
	int measured;        /* 1: the interval is known */
	/* Clock on b minus clock on a lies in here; one effective tick is part of each end. Of a contradiction: the last
	 * measurement; low_s may exceed high_s. */
	double low_s, high_s;
	double line_s;      /* time of a cache line from one unit to the other, mean of both directions */
	int readings;       /* readings that were compared, in both directions together */
	int contradictions; /* measurements so far that contradicted themselves or an earlier one */
	enum tmr_pair_result result;
};

/* An interval with an end beyond this limit is too wide to be useful. The limit is 1 us plus two effective ticks, since
 * the clock cannot show less. Messages between two processes of a node tell more about their clocks then. */
double tmr_pair_limit(double effective_tick_s);

/* What follows from p->measured and the interval. */
enum tmr_pair_result tmr_pair_judge(const struct tmr_core_pair *p, double limit_s);

/* "not known", "together", "apart", "contradiction" */
const char *tmr_pair_name(enum tmr_pair_result r);

/* Combines two measurements of the same pair, *p and the `later` one, into *p. */
void tmr_pair_combine(struct tmr_core_pair *p, const struct tmr_core_pair *later, double limit_s);

struct tmr_pair_test;

/* Prepares measurements of pairs with t, which must be shareable, by the calling thread and one helper thread. A reading lags at
 * most effective_tick_s (seconds) behind its clock. The calling thread may run on all units from now on, until
 * tmr_pair_test_end(). Returns NULL: the timer is not shareable or has no frequency, no affinity, no thread, no memory. */
struct tmr_pair_test *tmr_pair_test_begin(struct tmr_timer *t, double effective_tick_s, struct tkm_err *err);

/* Restores the caller's affinity and ends the test. */
void tmr_pair_test_end(struct tmr_pair_test *test);

/* The processing units on which this process may run, in ascending order: the first one after `after` (-1: the first of all),
 * or -1: no more. */
int tmr_pair_test_unit(const struct tmr_pair_test *test, int after);

/* Measures unit b against unit a into *p. Usually takes 0.1 ms; what is not "together" is measured up to five times, until
 * budget_s are over. Every reading that was compared counts, so a short time leaves a wider interval and never a false one. */
void tmr_pair_measure(struct tmr_pair_test *test, unsigned a, unsigned b, double budget_s, struct tmr_core_pair *p);

#endif
