/* SPDX-License-Identifier: BSD-3-Clause */
/* tickmark_now() beside clock_gettime(CLOCK_REALTIME), in turn in one process; and the half width of its intervals between
 * processing units whose shared counter is proven, beside the time that a cache line takes from one to the other: half of its shortest
 * round trip, and (.proof) what the proof saw of one way, which is in whole steps of the counter and up to a step less. */
#include "config.h"
#include "clock/from_map.h"
#include "timers/quality/prove.h"
#include "timers/quality/quality.h"
#include "tests/bench/lib/bench.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 301, READS = 5000, PROOFS = 30, TRIPS = 20, BATCHES = 100 };

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static double tickmark_loop(const struct tickmark_clock *c)
{
	double begin = now_ns();
	struct tickmark_time t;
	int i;

	for (i = 0; i < READS; i++) {
		tickmark_now(c, &t);
		__asm__ volatile("" : : "r"(t.latest_ns) : "memory");
	}
	return (now_ns() - begin) / READS;
}

static double gettime_loop(void)
{
	double begin = now_ns();
	struct timespec ts;
	int i;

	for (i = 0; i < READS; i++) {
		clock_gettime(CLOCK_REALTIME, &ts);
		__asm__ volatile("" : : "r"(ts.tv_nsec) : "memory");
	}
	return (now_ns() - begin) / READS;
}

/* A page that is as that of a job on the node of rank 0. */
static int publish(struct tkc_writer *w, struct tmr_timer *t, double lag_s)
{
	struct tkc_watch watch;
	struct tkc_map line;
	ltick_t now;

	tkc_watch(NULL, &watch);
	now = tmr_read_ordered(t);
	tkc_from_master(ltick(0), now, t->hz, lag_s, 3600, &line);
	tkc_write(w->page, &line, &watch);
	return 0;
}

/* ---- a cache line goes to another processing unit and back ---- */

struct ball {
	_Alignas(128) atomic_int there;
	_Alignas(128) atomic_int back;
	int unit;
};

static int go_to(int unit)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)unit, &one);
	return sched_setaffinity(0, sizeof(one), &one);
}

static void *throw_back(void *arg)
{
	struct ball *b = arg;
	int i;

	go_to(b->unit);
	for (i = 1; i <= TRIPS * BATCHES; i++) {
		while (atomic_load_explicit(&b->there, memory_order_acquire) < i) {
		}
		atomic_store_explicit(&b->back, i, memory_order_release);
	}
	return NULL;
}

/* Half of the shortest of many round trips, each batch timed as a whole so that the steps of the clock are nothing, in ns. Units: the
 * first two that this process may use. 0: there is one. */
static double half_a_round_trip(void)
{
	static struct ball b;
	double shortest = INFINITY, begin;
	cpu_set_t before;
	pthread_t other;
	int unit[2], n = 0, i, k;

	if (sched_getaffinity(0, sizeof(before), &before) < 0) {
		return 0;
	}
	for (i = 0; i < CPU_SETSIZE && n < 2; i++) {
		if (CPU_ISSET((size_t)i, &before)) {
			unit[n++] = i;
		}
	}
	atomic_store(&b.there, 0);
	atomic_store(&b.back, 0);
	b.unit = n == 2 ? unit[1] : -1;
	if (n < 2 || go_to(unit[0]) < 0 || pthread_create(&other, NULL, throw_back, &b) != 0) {
		return 0;
	}
	for (i = 0; i < BATCHES; i++) {
		begin = now_ns();
		for (k = 1; k <= TRIPS; k++) {
			atomic_store_explicit(&b.there, i * TRIPS + k, memory_order_release);
			while (atomic_load_explicit(&b.back, memory_order_acquire) < i * TRIPS + k) {
			}
		}
		shortest = fmin(shortest, (now_ns() - begin) / TRIPS);
	}
	pthread_join(other, NULL);
	sched_setaffinity(0, sizeof(before), &before);
	return 0.5 * shortest;
}

static int half_widths(struct tkc_writer *w, struct tmr_timer *t, const struct tickmark_clock *c)
{
	double half[PROOFS], ratio[PROOFS], line[PROOFS], way[PROOFS], to_line[PROOFS], tick = 1 / t->hz;
	struct tickmark_time now;
	struct tmr_quality q;
	struct tmr_proof p;
	size_t n = 0;
	int i;

	if (tmr_quality_measure(t, 0.05, 1, &q, NULL) == 0) {
		tick = fmax(tick, tmr_effective_tick(t, &q));
	}
	for (i = 0; i < PROOFS; i++) {
		if (tmr_prove_one_clock(t, tick, 0.1, &p, NULL) < 0 || !p.one_clock || !(p.line_s > 0)) {
			continue;
		}
		publish(w, t, p.within_s);
		if (tickmark_now(c, &now) == TICKMARK_OK) {
			half[n] = 0.5 * (double)(now.latest_ns - now.earliest_ns);
			line[n] = p.line_s * 1e9;
			way[n] = half_a_round_trip();
			to_line[n] = half[n] / line[n];
			ratio[n] = half[n] / way[n];
			n += way[n] > 0;
		}
	}
	if (n) {
		bench_print("clock.halfwidth", ratio, n, "x");
		bench_print("clock.halfwidth.ns", half, n, "ns");
		bench_print("clock.halfwidth.line", way, n, "ns");
		bench_print("clock.halfwidth.proof", to_line, n, "x");
		bench_print("clock.halfwidth.proof.line", line, n, "ns");
	} else {
		fprintf(stderr,
			"bench_clock: no shared counter could be proven here, or there is one processing unit\n");
	}
	return 0;
}

int main(void)
{
	static double now[ROUNDS], gettime[ROUNDS], ratio[ROUNDS];
	struct tickmark_options o = TICKMARK_OPTIONS;
	struct tmr_timer *t = tmr_open("CPU", 0, NULL);
	char folder[] = "/dev/shm/bench_clock.XXXXXX";
	struct tickmark_clock *c = NULL;
	struct tkc_writer w;
	struct tkm_err err;
	int i;

	if (!t || !mkdtemp(folder) ||
		tkc_create(&w, &(struct tkc_page_of){ folder, "utc", TICKMARK_UTC, 0, "CPU" }, &err) < 0) {
		fprintf(stderr, "bench_clock: no counter or no page\n");
		return 1;
	}
	o.scale = TICKMARK_UTC;
	o.folder = folder;
	publish(&w, t, 0);
	c = tickmark_open(&o, NULL);
	for (i = 0; c && i < ROUNDS; i++) {
		publish(&w, t, 0);
		now[i] = tickmark_loop(c);
		gettime[i] = gettime_loop();
		ratio[i] = now[i] / gettime[i];
	}
	if (c) {
		bench_print("clock.now.ratio", ratio, ROUNDS, "x");
		bench_print("clock.now", now, ROUNDS, "ns");
		bench_print("clock.gettime", gettime, ROUNDS, "ns");
		half_widths(&w, t, c);
	}
	tickmark_close(c);
	tkc_withdraw(&w);
	rmdir(folder);
	tmr_close(t);
	return c ? 0 : 1;
}
