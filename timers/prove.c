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

/* Exchanges of a pair at most, and without progress. */
enum { MOST = 2000, IDLE = 150 };

/* Who gets no answer for so long shares his core; then a look at the clock comes before each further wait. */
enum { SPINS = 2000 };

/* Not units. */
enum { STOP = -1, NOWHERE = -2 };

/* The shared line: turns count up; the caller writes even ones, the helper odd ones, each with a stamp. */
struct line {
	_Alignas(128) atomic_llong turn;
	atomic_llong stamp;
};

struct bench {
	struct tmr_timer *t;
	struct line line;
	_Alignas(128) atomic_int unit; /* where the helper is to go; STOP: home */
	atomic_int there;              /* where it is ready; STOP: it could not go there */
	int64_t smallest;              /* helper's reading minus the caller's stamp */
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

static int wait_turn(struct bench *b, long long want)
{
	long long now;
	int spins = 0;

	while ((now = atomic_load_explicit(&b->line.turn, memory_order_acquire)) != want) {
		if (now == STOP || (++spins > SPINS && seconds_now() > b->deadline)) {
			return -1;
		}
		if (spins > SPINS) {
			sched_yield();
		}
	}
	return 0;
}

static void hand_over(struct bench *b, long long turn)
{
	/* ordered here too: a plain read is taken long before, while the core still waits */
	atomic_store_explicit(&b->line.stamp, tmr_read_ordered(b->t).v, memory_order_relaxed);
	atomic_store_explicit(&b->line.turn, turn, memory_order_release);
}

/* Answers even turns until the caller ends them. */
static void *help(void *arg)
{
	struct bench *b = arg;
	int at = NOWHERE, to;
	long long turn;

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
		b->smallest = INT64_MAX;
		atomic_store_explicit(&b->there, move_to(at) < 0 ? STOP : at, memory_order_release);
		for (turn = 0; wait_turn(b, turn) == 0; turn += 2) {
			int64_t ahead = tmr_read_ordered(b->t).v - atomic_load_explicit(&b->line.stamp, memory_order_relaxed);

			b->smallest = ahead < b->smallest ? ahead : b->smallest;
			hand_over(b, turn + 1);
		}
		atomic_store_explicit(&b->there, NOWHERE, memory_order_release);
	}
}

/* The caller's side. Fills in what clock b is ahead of clock a at least and at most, in ticks. */
static int exchange(struct bench *b, int64_t *low, int64_t *high)
{
	int64_t smallest = INT64_MAX, helpers = INT64_MAX;
	int i, idle = 0;
	long long turn = 0;

	for (i = 0; i < MOST && idle < IDLE; i++, turn += 2) {
		int64_t ahead;

		hand_over(b, turn);
		if (wait_turn(b, turn + 1) < 0) {
			break;
		}
		ahead = tmr_read_ordered(b->t).v - atomic_load_explicit(&b->line.stamp, memory_order_relaxed);
		idle++;
		if (ahead < smallest) {
			smallest = ahead;
			idle = 0;
		}
		if (b->smallest < helpers) {
			helpers = b->smallest; /* written before the turn that was just seen */
			idle = 0;
		}
	}
	/* seen on b: tb - ta >= b minus a. Seen on a: ta - tb >= a minus b. */
	*high = helpers;
	*low = -smallest;
	return i > 0 && smallest != INT64_MAX && helpers != INT64_MAX ? 0 : -1;
}

/* The first unit against one other. Returns 0, or -1: no time. */
static int one_unit(struct bench *b, int unit, int64_t *low, int64_t *high)
{
	int rc;

	atomic_store(&b->line.turn, NOWHERE); /* nobody's yet */
	atomic_store_explicit(&b->unit, unit, memory_order_release);
	rc = wait_for(b, &b->there, unit);
	if (rc == 0) {
		rc = exchange(b, low, high);
	}
	atomic_store_explicit(&b->line.turn, STOP, memory_order_release);
	while (atomic_load_explicit(&b->there, memory_order_acquire) != NOWHERE) {
		sched_yield();
	}
	return rc;
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
	atomic_store(&b.line.turn, NOWHERE);
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
