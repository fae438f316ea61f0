/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "timers/prove.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/* Looks of one side at the other's clock at most, and without progress. */
enum { MOST = 2000, IDLE = 64 };

/* Who sees nothing new for so long shares his core; then a look at the clock comes before each further wait. */
enum { SPINS = 2000 };

/* Not units. */
enum { STOP = -1, NOWHERE = -2 };

/* Who tells his time over and over; the other one looks. */
enum phase { HELPER_TELLS, CALLER_TELLS, OVER };

static const long long never = INT64_MIN; /* no reading */

/* A line of memory to which one side alone writes. */
struct line {
	_Alignas(128) atomic_llong reading;
};

struct bench {
	struct tmr_timer *t;
	struct line helper, caller;
	_Alignas(128) atomic_int phase;
	_Alignas(128) atomic_int unit; /* where the helper is to go; STOP: home */
	_Alignas(128) atomic_int there; /* where it is ready; STOP: it could not go there */
	_Alignas(128) atomic_int looked; /* the helper has seen enough of the caller's clock */
	int64_t smallest;              /* what it saw: its reading minus the caller's */
	double deadline;
};

static double seconds_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static int move_to(int unit)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)unit, &one);
	return sched_setaffinity(0, sizeof(one), &one);
}

/* Waits for *word to become `want`; -1: the time is over, or the helper cannot. */
static int wait_for(struct bench *b, atomic_int *word, int want)
{
	int spins = 0, now;

	while ((now = atomic_load_explicit(word, memory_order_acquire)) != want) {
		if (++spins > SPINS) {
			if (now == STOP || seconds_now() > b->deadline) {
				return -1;
			}
			sched_yield();
		}
	}
	return 0;
}

static int in_phase(const struct bench *b, enum phase phase)
{
	return atomic_load_explicit(&b->phase, memory_order_acquire) == (int)phase;
}

/* What this side's clock shows, in its own line. A plain read would be taken long before. */
static void tell(struct bench *b, struct line *line)
{
	atomic_store_explicit(&line->reading, tmr_read_ordered(b->t).v, memory_order_release);
}

/* Looks at what the other side tells, until its readings come no fresher; every reading is from before the look, so the least
 * difference is certain. The line is the other's all the time: it travels once, where a ping-pong's travels there and back to
 * be written, and looking after pauses of many lengths finds it just written. Returns INT64_MAX if nothing was seen. */
static int64_t look(struct bench *b, struct line *line, enum phase phase)
{
	int64_t smallest = INT64_MAX;
	long long before = never;
	int n = 0, idle = 0, spins = 0, i;

	while (n < MOST && idle < IDLE && in_phase(b, phase)) {
		long long told = atomic_load_explicit(&line->reading, memory_order_acquire);
		int64_t ahead = tmr_read_ordered(b->t).v - told;

		if (told == before || told == never) {
			/* an old one again: the other one does not run */
			if (++spins > SPINS) {
				if (seconds_now() > b->deadline) {
					break;
				}
				sched_yield();
			}
			continue;
		}
		before = told;
		idle++;
		if (ahead < smallest) {
			smallest = ahead;
			idle = 0;
		}
		for (i = 0; i < n % 8; i++) {
			tmr_read_ordered(b->t);
		}
		n++;
	}
	return smallest;
}

/* Tells its time at each unit, then looks at the caller's, until there are no more units. */
static void *help(void *arg)
{
	struct bench *b = arg;
	int at = NOWHERE, to;

	for (;;) {
		int spins = 0;

		while ((to = atomic_load_explicit(&b->unit, memory_order_acquire)) == at) {
			if (++spins > SPINS) {
				sched_yield();
			}
		}
		if (to == STOP) {
			return NULL;
		}
		at = to;
		atomic_store_explicit(&b->there, move_to(at) < 0 ? STOP : at, memory_order_release);
		while (in_phase(b, HELPER_TELLS)) {
			tell(b, &b->helper);
		}
		b->smallest = look(b, &b->caller, CALLER_TELLS);
		atomic_store_explicit(&b->looked, 1, memory_order_release);
		for (spins = 0; !in_phase(b, OVER);) {
			if (++spins > SPINS) {
				sched_yield();
			}
		}
		atomic_store_explicit(&b->there, NOWHERE, memory_order_release);
	}
}

/* The caller's time, until the helper has looked at it. Returns 0, or -1: it did not in time. */
static int tell_helper(struct bench *b)
{
	int told = 0;

	while (!atomic_load_explicit(&b->looked, memory_order_acquire)) {
		tell(b, &b->caller);
		/* the helper may wait for this very core */
		if (++told % SPINS == 0) {
			if (seconds_now() > b->deadline) {
				return -1;
			}
			sched_yield();
		}
	}
	return 0;
}

/* The first unit against one other: what its clock is ahead of the first one's at least and at most, in ticks. Returns
 * 0, or -1: no time. */
static int one_unit(struct bench *b, int unit, int64_t *low, int64_t *high)
{
	int64_t seen = INT64_MAX;
	int rc;

	atomic_store(&b->helper.reading, never);
	atomic_store(&b->caller.reading, never);
	atomic_store(&b->looked, 0);
	atomic_store(&b->phase, HELPER_TELLS);
	atomic_store_explicit(&b->unit, unit, memory_order_release);
	rc = wait_for(b, &b->there, unit);
	if (rc == 0) {
		seen = look(b, &b->helper, HELPER_TELLS);
		atomic_store_explicit(&b->phase, CALLER_TELLS, memory_order_release);
		rc = tell_helper(b);
	}
	atomic_store_explicit(&b->phase, OVER, memory_order_release);
	while (atomic_load_explicit(&b->there, memory_order_acquire) != NOWHERE) {
		sched_yield();
	}
	if (rc < 0 || seen == INT64_MAX || b->smallest == INT64_MAX) {
		return -1;
	}
	/* seen here: here minus there <= seen. Seen there: there minus here <= smallest. */
	*low = -seen;
	*high = b->smallest;
	return 0;
}

/* Largest distances of the first unit from two others. */
static int all_units(struct bench *b, const cpu_set_t *set, struct tmr_proof *p, double tick_s)
{
	double largest = 0, second = 0, period = 1 / b->t->hz;
	int first = -1, unit, apart = 0;
	int64_t low, high;

	for (unit = 0; unit < CPU_SETSIZE; unit++) {
		double far;

		if (!CPU_ISSET((size_t)unit, set)) {
			continue;
		}
		if (first < 0) {
			first = unit;
			p->proven = 1;
			if (move_to(unit) < 0) {
				return -1;
			}
			continue;
		}
		if (seconds_now() > b->deadline || one_unit(b, unit, &low, &high) < 0) {
			break;
		}
		far = fmax(fabs((double)low), fabs((double)high)) * period;
		/* as in the core matrix: a middle beyond the tolerance is a difference */
		apart |= fabs(0.5 * (double)(low + high)) * period > tick_s + 0.25 * (double)(high - low) * period;
		second = fmax(second, fmin(largest, far));
		p->line_s = fmax(p->line_s, 0.5 * (double)(high - low) * period);
		largest = fmax(largest, far);
		p->proven++;
	}
	p->one_clock = p->proven == p->units && !apart;
	p->within_s = largest + second + (p->units > 1 ? tick_s : 0);
	return 0;
}

int tmr_prove_one_clock(struct tmr_timer *t, double effective_tick_s, double budget_s, struct tmr_proof *p,
	struct tkm_err *err)
{
	double begin = seconds_now();
	struct bench b;
	cpu_set_t before, all;
	pthread_t helper;
	int rc = 0;

	memset(p, 0, sizeof(*p));
	if (!t->shareable || !(t->hz > 0)) {
		return tkm_fail(err, TKM_ERR_UNAVAIL, "%s is not a clock that threads share", t->name);
	}
	if (sched_getaffinity(0, sizeof(before), &before) < 0) {
		return tkm_fail(err, TKM_ERR_UNAVAIL, "the processing units of this process are not known");
	}
	/* a launcher may have bound this process to one unit, and the others to others */
	memset(&all, 0xff, sizeof(all));
	if (sched_setaffinity(0, sizeof(all), &all) < 0 || sched_getaffinity(0, sizeof(all), &all) < 0) {
		sched_setaffinity(0, sizeof(before), &before);
		return tkm_fail(err, TKM_ERR_UNAVAIL, "this process may not choose its processing unit");
	}
	memset(&b, 0, sizeof(b));
	b.t = t;
	b.deadline = begin + budget_s;
	atomic_store(&b.unit, NOWHERE);
	atomic_store(&b.there, NOWHERE);
	p->units = (unsigned)CPU_COUNT(&all);
	if (p->units > 1 && pthread_create(&helper, NULL, help, &b) != 0) {
		sched_setaffinity(0, sizeof(before), &before);
		return tkm_fail(err, TKM_ERR_NOMEM, "no thread for a look at the other processing units");
	}
	if (all_units(&b, &all, p, effective_tick_s) < 0) {
		rc = tkm_fail(err, TKM_ERR_UNAVAIL, "this process may not choose its processing unit");
	}
	if (p->units > 1) {
		atomic_store(&b.unit, STOP);
		pthread_join(helper, NULL);
	}
	sched_setaffinity(0, sizeof(before), &before);
	p->seconds = seconds_now() - begin;
	return rc;
}
