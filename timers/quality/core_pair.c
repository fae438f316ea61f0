/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the clock offset between two processing units with two threads and shared cache lines; see
 * timers/quality/core_pair.h. */
#include "config.h"
#include "timers/quality/core_pair.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cpus.h"
#include "base/least.h"

enum {
	MOST_READINGS = 2000, /* of one direction */
	NO_PROGRESS = 64,     /* so many readings without a smaller difference end a direction */
	POLLS = 256,          /* without news, between two looks at the time */
	ATTEMPTS = 5,
};

static const double useful_s = 1e-6;

/* How long a thread polls or writes without news from the other thread before it sleeps. It sleeps because the other
 * thread may need this core. A thread that sleeps often and briefly gets a core soon, while one that yields waits for
 * whole time slices. So both run at the same time on a busy machine, too. */
static const double spin_s = 100e-6;
static const struct timespec nap = { 0, 50000 };
static const long long none = INT64_MIN; /* a line that holds no reading yet */

/* Which thread writes readings; the other one compares. */
enum phase { HELPER_WRITES, CALLER_WRITES, OVER, QUIT };

/* A cache line to which one thread alone writes. */
struct line {
	_Alignas(128) atomic_llong reading;
};

struct tmr_pair_test {
	struct line helper, caller;
	_Alignas(128) atomic_int phase;
	_Alignas(128) atomic_uint round;  /* the caller begins another direction pair */
	_Alignas(128) atomic_uint placed; /* the helper is on its unit, or could not go there, in this round */
	atomic_uint compared;             /* the helper has compared enough */
	atomic_uint finished;             /* the helper waits for another round */
	struct tmr_timer *t;
	double tick_s, limit_s;
	unsigned unit; /* for the helper */
	int cannot_move;
	int64_t smallest; /* what the helper found: its reading minus the caller's */
	int readings;
	double deadline;
	pthread_t thread;
	struct tkm_cpus before, all;
};

static double pair_seconds_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* ---- results ---- */

double tmr_pair_limit(double effective_tick_s)
{
	return useful_s + 2 * effective_tick_s;
}

enum tmr_pair_result tmr_pair_judge(const struct tmr_core_pair *p, double limit_s)
{
	if (!p->measured) {
		return TMR_PAIR_UNKNOWN;
	}
	if (p->low_s > p->high_s) {
		return TMR_PAIR_CONTRADICTION;
	}
	if (p->low_s > 0 || p->high_s < 0) {
		return TMR_PAIR_APART;
	}
	return tkm_most(-p->low_s, p->high_s) <= limit_s ? TMR_PAIR_TOGETHER : TMR_PAIR_UNKNOWN;
}

const char *tmr_pair_name(enum tmr_pair_result r)
{
	static const char *const names[] = { "not known", "together", "apart", "contradiction" };

	return names[r];
}

void tmr_pair_combine(struct tmr_core_pair *p, const struct tmr_core_pair *later, double limit_s)
{
	struct tmr_core_pair both = *later;

	both.readings += p->readings;
	both.contradictions += p->contradictions;
	if (!later->measured) {
		both = *p;
	} else if (p->result != TMR_PAIR_CONTRADICTION && later->result != TMR_PAIR_CONTRADICTION && p->measured) {
		both.low_s = tkm_most(p->low_s, later->low_s);
		both.high_s = tkm_least(p->high_s, later->high_s);
		both.line_s = tkm_least(p->line_s, later->line_s);
		if (both.low_s > both.high_s) {
			both.low_s = later->low_s;
			both.high_s = later->high_s;
			both.contradictions++;
			/* two measurements that both say "apart" stay "apart", even if the offset has changed in
			 * between */
			both.result = p->result == TMR_PAIR_APART && later->result == TMR_PAIR_APART
				? TMR_PAIR_APART
				: TMR_PAIR_CONTRADICTION;
			*p = both;
			return;
		}
		both.result = tmr_pair_judge(&both, limit_s);
	}
	*p = both;
}

/* ---- the two threads ---- */

struct waiting {
	int polls;
	double since; /* 0: polled or written for a short time only */
};

/* Called for every poll without news. Returns 1 when the deadline has passed, else 0; without a deadline always 0. */
static int wait_more(const struct tmr_pair_test *b, struct waiting *w, int has_deadline)
{
	double now;

	if (++w->polls % POLLS) {
		return 0;
	}
	now = pair_seconds_now();
	if (has_deadline && now > b->deadline) {
		return 1;
	}
	if (w->since == 0) {
		w->since = now;
	} else if (now - w->since > spin_s) {
		nanosleep(&nap, NULL);
		w->since = 0;
	}
	return 0;
}

static int in_phase(const struct tmr_pair_test *b, enum phase phase)
{
	return atomic_load_explicit(&b->phase, memory_order_acquire) == (int)phase;
}

/* Not a plain read: the processor would take it long before the cache line is free to be written. */
static void write_reading(struct tmr_pair_test *b, struct line *line)
{
	atomic_store_explicit(&line->reading, tmr_read_ordered(b->t).v, memory_order_release);
}

/* Compares the other thread's readings with this thread's clock until the difference gets no smaller. The cache line
 * travels once for each reading; in a ping-pong it would travel there and back. Pauses of several lengths make it
 * likely that some reads find the line just written. A branch on the content of the line precedes the read of this
 * thread's clock, so that the processor does not execute that read earlier. Returns the smallest difference, INT64_MAX:
 * none. */
static int64_t compare_offsets(struct tmr_pair_test *b, struct line *line, enum phase phase, int *readings)
{
	int64_t smallest = INT64_MAX;
	struct waiting w = { 0, 0 };
	long long before = none;
	int n = 0, idle = 0, i;

	while (n < MOST_READINGS && idle < NO_PROGRESS && in_phase(b, phase)) {
		long long seen = atomic_load_explicit(&line->reading, memory_order_acquire);
		int64_t ahead;

		if (seen == before || seen == none) {
			if (wait_more(b, &w, 1)) {
				break;
			}
			continue;
		}
		ahead = ltick_sub(tmr_read_ordered(b->t), ltick(seen));
		before = seen;
		w.since = 0;
		idle++;
		if (ahead < smallest) {
			smallest = ahead;
			idle = 0;
		}
		for (i = 0; i < n % 8; i++) {
			tmr_read_ordered(b->t);
		}
		if (++n % 8 == 0 && pair_seconds_now() > b->deadline) {
			break;
		}
	}
	*readings += n;
	return smallest;
}

/* Waits for *word to become `round`. Gives up at the deadline unless there is none. */
static int wait_for_partner(const struct tmr_pair_test *b, const atomic_uint *word, unsigned round, int has_deadline)
{
	struct waiting w = { 0, 0 };

	while (atomic_load_explicit(word, memory_order_acquire) != round) {
		if (wait_more(b, &w, has_deadline)) {
			return -1;
		}
	}
	return 0;
}

static void *helper_main(void *arg)
{
	struct tmr_pair_test *b = arg;
	unsigned round;

	for (round = 1;; round++) {
		struct waiting w = { 0, 0 };

		wait_for_partner(b, &b->round, round, 0);
		if (in_phase(b, QUIT)) {
			return NULL;
		}
		b->cannot_move = tkm_cpus_bind_to(b->unit) < 0;
		atomic_store_explicit(&b->placed, round, memory_order_release);
		while (in_phase(b, HELPER_WRITES)) {
			write_reading(b, &b->helper);
			wait_more(b, &w, 0);
		}
		b->smallest = compare_offsets(b, &b->caller, CALLER_WRITES, &b->readings);
		atomic_store_explicit(&b->compared, round, memory_order_release);
		while (!in_phase(b, OVER)) {
			wait_more(b, &w, 0);
		}
		atomic_store_explicit(&b->finished, round, memory_order_release);
	}
}

/* Writes the caller's readings until the helper has compared enough. Returns 0, or -1: it did not in time. */
static int write_for_helper(struct tmr_pair_test *b, unsigned round)
{
	struct waiting w = { 0, 0 };

	while (atomic_load_explicit(&b->compared, memory_order_acquire) != round) {
		write_reading(b, &b->caller);
		if (wait_more(b, &w, 1)) {
			return -1;
		}
	}
	return 0;
}

/* Measures both directions once, into *p. */
static void measure_once(struct tmr_pair_test *b, struct tmr_core_pair *p)
{
	unsigned round = atomic_load(&b->round) + 1;
	double period = 1 / b->t->hz;
	int64_t seen = INT64_MAX;
	int readings = 0, rc;

	atomic_store(&b->helper.reading, none);
	atomic_store(&b->caller.reading, none);
	b->smallest = INT64_MAX;
	b->readings = 0;
	b->unit = p->pu_b;
	atomic_store(&b->phase, HELPER_WRITES);
	atomic_store_explicit(&b->round, round, memory_order_release);
	rc = wait_for_partner(b, &b->placed, round, 1);
	if (rc == 0 && !b->cannot_move) {
		seen = compare_offsets(b, &b->helper, HELPER_WRITES, &readings);
		atomic_store_explicit(&b->phase, CALLER_WRITES, memory_order_release);
		rc = write_for_helper(b, round);
	}
	atomic_store_explicit(&b->phase, OVER, memory_order_release);
	wait_for_partner(b, &b->finished, round, 0);
	if (b->cannot_move || seen == INT64_MAX || b->smallest == INT64_MAX) {
		return;
	}
	/* read here: here minus there <= seen; read there: there minus here <= smallest; each to within one tick */
	p->low_s = -(double)seen * period - b->tick_s;
	p->high_s = (double)b->smallest * period + b->tick_s;
	p->line_s = 0.5 * ((double)seen + (double)b->smallest) * period;
	p->readings = readings + b->readings;
	p->measured = 1;
	p->result = tmr_pair_judge(p, b->limit_s);
	p->contradictions = p->result == TMR_PAIR_CONTRADICTION;
}

void tmr_pair_measure(
	struct tmr_pair_test *b, unsigned unit_a, unsigned unit_b, double budget_s, struct tmr_core_pair *p)
{
	struct tmr_core_pair next;
	int i;

	*p = (struct tmr_core_pair){ .pu_a = unit_a, .pu_b = unit_b };
	next = *p;
	b->deadline = pair_seconds_now() + budget_s;
	if (tkm_cpus_bind_to(unit_a) < 0) {
		return;
	}
	for (i = 0; i < ATTEMPTS && p->result != TMR_PAIR_TOGETHER && pair_seconds_now() < b->deadline; i++) {
		struct tmr_core_pair one = next;

		measure_once(b, &one);
		if (one.measured) {
			tmr_pair_combine(p, &one, b->limit_s);
		}
	}
}

/* ---- begin and end ---- */

int tmr_pair_test_unit(const struct tmr_pair_test *b, int after)
{
	return tkm_cpus_next(&b->all, after);
}

/* The helper begins on the second unit, where it is needed first. Anywhere else it may get the caller's own unit, and the caller, which
 * waits for it there, must sleep first. */
static int start_helper(struct tmr_pair_test *b)
{
	int unit = tmr_pair_test_unit(b, tmr_pair_test_unit(b, -1)), rc = -1;
	pthread_attr_t attr;
	struct tkm_cpus one = { .set = NULL };

	if (unit >= 0 && pthread_attr_init(&attr) == 0) {
		if (tkm_cpus_only(&one, (unsigned)unit) == 0) {
			pthread_attr_setaffinity_np(&attr, one.bytes, one.set);
		}
		rc = pthread_create(&b->thread, &attr, helper_main, b);
		pthread_attr_destroy(&attr);
		tkm_cpus_free(&one);
	}
	return rc == 0 ? 0 : pthread_create(&b->thread, NULL, helper_main, b);
}

static void end_comparison(struct tmr_pair_test *b)
{
	tkm_cpus_bind(&b->before);
	tkm_cpus_free(&b->before);
	tkm_cpus_free(&b->all);
	free(b);
}

struct tmr_pair_test *tmr_pair_test_begin(struct tmr_timer *t, double effective_tick_s, struct tkm_err *err)
{
	struct tmr_pair_test *b;

	if (!t->shareable || !(t->hz > 0)) {
		tkm_fail(err, TKM_ERR_UNAVAIL, "%s is not a clock that threads share", t->name);
		return NULL;
	}
	b = aligned_alloc(128, sizeof(*b));
	if (!b) {
		tkm_fail(err, TKM_ERR_NOMEM, "out of memory for a comparison of processing units");
		return NULL;
	}
	memset(b, 0, sizeof(*b));
	b->t = t;
	b->tick_s = effective_tick_s;
	b->limit_s = tmr_pair_limit(effective_tick_s);
	atomic_store(&b->phase, OVER);
	if (tkm_cpus_own(&b->before) < 0) {
		tkm_fail(err, TKM_ERR_UNAVAIL, "the processing units of this process are not known");
		free(b);
		return NULL;
	}
	/* a launcher may have bound each process of the node to one unit of its own */
	if (tkm_cpus_unbind() < 0 || tkm_cpus_own(&b->all) < 0) {
		tkm_fail(err, TKM_ERR_UNAVAIL, "this process may not choose its processing unit");
	} else if (start_helper(b) != 0) {
		tkm_fail(err, TKM_ERR_NOMEM, "no thread for a comparison of processing units");
	} else {
		return b;
	}
	end_comparison(b);
	return NULL;
}

void tmr_pair_test_end(struct tmr_pair_test *b)
{
	atomic_store(&b->phase, QUIT);
	atomic_fetch_add(&b->round, 1);
	pthread_join(b->thread, NULL);
	end_comparison(b);
}
