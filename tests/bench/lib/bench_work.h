/* SPDX-License-Identifier: BSD-3-Clause */
/* The work that all trace libraries are given: samples of k counters of one thread, about 1 ms apart, which
 * grow like cycles, instructions, cache misses, disk bytes and network bytes, by random steps that never
 * repeat. Made in small blocks outside the time that is taken. */
#ifndef TESTS_BENCH_BENCH_WORK_H
#define TESTS_BENCH_BENCH_WORK_H

#include <stdint.h>
#include <string.h>
#include <time.h>

enum { WORK_K = 5, WORK_BLOCK = 4096 };

struct work {
	uint64_t state, now;
	uint64_t value[WORK_K];
	unsigned k;
};

struct work_block {
	uint64_t time[WORK_BLOCK];
	uint64_t value[WORK_BLOCK][WORK_K];
	size_t n;
};

/* What a reader must find. */
struct work_sum {
	uint64_t n, times, values;
};

static inline uint64_t work_random(struct work *w)
{
	uint64_t z = (w->state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static inline void work_begin(struct work *w, unsigned k)
{
	memset(w, 0, sizeof(*w));
	w->state = 20261121;
	w->k = k;
}

/* The next block of at most `left` samples; sum takes those with from <= time <= to. */
static inline void work_next(struct work *w, struct work_block *b, uint64_t left)
{
	/* per ms: 3 GHz, about one instruction per cycle, and so on. The spreads give a record an entropy of
	 * 4.0 bytes for k = 1 (stamp 1.5, cycles 2.5) and 8.7 for k = 5 (the others 2.0, 1.0, 0.9 and 0.8) */
	static const uint64_t step[WORK_K] = { 3000000, 2800000, 40000, 200000, 120000 };
	static const uint64_t spread[WORK_K] = { 1 << 20, 1 << 16, 256, 150, 84 };
	size_t i;
	unsigned j;

	b->n = left < WORK_BLOCK ? (size_t)left : WORK_BLOCK;
	for (i = 0; i < b->n; i++) {
		w->now += 1000000 + work_random(w) % 4096;
		b->time[i] = w->now;
		for (j = 0; j < w->k; j++) {
			w->value[j] += step[j] + work_random(w) % spread[j];
			b->value[i][j] = w->value[j];
		}
	}
}

static inline void work_add(
	struct work_sum *s, const struct work *w, const struct work_block *b, uint64_t from, uint64_t to)
{
	size_t i;
	unsigned j;

	for (i = 0; i < b->n; i++) {
		if (b->time[i] < from || b->time[i] > to) {
			continue;
		}
		s->n++;
		s->times += b->time[i];
		for (j = 0; j < w->k; j++) {
			s->values += b->value[i][j];
		}
	}
}

/* CLOCK_MONOTONIC, or CLOCK_PROCESS_CPUTIME_ID where other programs take half of the machine. */
extern clockid_t bench_clock;

static inline double bench_now(void)
{
	struct timespec t;

	clock_gettime(bench_clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* bench_otf2.c: seconds, or -1 after a message. `dir` is made, and must not exist before. */
double xch_otf2_write(const char *dir, uint64_t n, unsigned k);
double xch_otf2_read(const char *dir, uint64_t from, uint64_t to, struct work_sum *sum);

#endif
