/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests that speak TAP. A test program is functions with CHECK()s in them and a main() that
 * runs each with RUN() and ends in `return check_end();`. A property test draws from check_random()
 * whose seed is printed on failure; `-s SEED` replays it, `-n TIMES` draws more. One C file per program, so all is static. */
#ifndef TESTS_LIB_CHECK_H
#define TESTS_LIB_CHECK_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int check_count, check_bad, check_bad_total;
static uint64_t check_seed = 20261121, check_state;
static int check_times = 1; /* -n: random tests draw so many times as often */
/* messages per test; the rest is only counted */
__attribute__((unused)) static int check_limit = 10;

/* Cond must hold; else file, line and the printf arguments are shown and the test has failed. */
#define CHECK(cond, ...) \
	do { \
		if (!(cond)) { \
			if (check_bad++ < check_limit) { \
				printf("# %s:%d: %s: ", __FILE__, __LINE__, #cond); \
				printf(__VA_ARGS__); \
				printf("\n"); \
			} \
		} \
	} while (0)
#define CHECK_INT(a, b) \
	do { \
		long long a_ = (long long)(a), b_ = (long long)(b); \
		CHECK(a_ == b_, "%s is %lld, want %lld", #a, a_, b_); \
	} while (0)
#define CHECK_NEAR(a, b, tol) \
	do { \
		double a_ = (a), b_ = (b), t_ = (tol); \
		CHECK(fabs(a_ - b_) <= t_, "%s is %.17g, want %.17g +- %g", #a, a_, b_, t_); \
	} while (0)
#define CHECK_STR(a, b) \
	do { \
		const char *a_ = (a), *b_ = (b); \
		CHECK(a_ != NULL && strcmp(a_, b_) == 0, "%s is \"%s\", want \"%s\"", #a, a_ ? a_ : "(null)", b_); \
	} while (0)

/* Runs one test function and prints its TAP line. */
#define RUN(fn) check_run(fn, #fn)
/* Prints a skipped test with the reason, a TAP line of its own. */
#define SKIP(name, reason) printf("ok %d - %s # SKIP %s\n", ++check_count, name, reason)

static inline void check_srandom(uint64_t seed)
{
	check_state = seed;
}

/* splitmix64: every seed is good, the same everywhere */
static inline uint64_t check_random(void)
{
	uint64_t z = (check_state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* uniform in [0, 1) */
static inline double check_uniform(void)
{
	return (double)(check_random() >> 11) * 0x1p-53;
}

static inline void check_run(void (*fn)(void), const char *name)
{
	check_bad = 0;
	check_srandom(check_seed);
	fn();
	printf("%sok %d - %s\n", check_bad ? "not " : "", ++check_count, name);
	if (check_bad) {
		printf("# %d checks failed; replay with -s %llu\n", check_bad, (unsigned long long)check_seed);
	}
	check_bad_total += check_bad != 0;
	fflush(stdout);
}

static inline void check_args(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "s:n:")) != -1) {
		if (c == 's') {
			check_seed = strtoull(optarg, NULL, 0);
		} else if (c == 'n') {
			check_times = atoi(optarg);
		}
	}
}

static inline int check_end(void)
{
	printf("1..%d\n", check_count);
	return check_bad_total ? 1 : 0;
}

#endif
