/* SPDX-License-Identifier: BSD-3-Clause */
/* random ROUNDS SEED: each PE calls every put, get and atomic of the table once a round, in a random order, with random
 * lengths and PEs, and writes into truth.PE "PE function READ|WRITE bytes symmetric memory of PE N". How many bytes that
 * are it takes from the function's name, not from the table. Puts and gets of blocks are compared with what is in memory
 * then, by calls under the names pshmem_, which nobody redirects. */
#include <shmem.h>
#include <shmemx.h>
#include <pshmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 200, STRIDE = 3, WIDEST = 16, SLOT = MOST * STRIDE * WIDEST };
static int me, pes, wrong;
static FILE *truth;
static char *there; /* the slot of this PE in the memory of each */
static char mine[SLOT], before[SLOT], after[SLOT];
static unsigned long state;
static uint64_t signals;

static unsigned next_random(unsigned n)
{
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return (unsigned)(state >> 33) % n;
}

/* After "shmem_", "shmemx_" and "ctx_". */
static const char *stem_of(const char *name)
{
	const char *s = strchr(name, '_') + 1;

	return !strncmp(s, "ctx_", 4) ? s + 4 : s;
}

static size_t width_of(const char *name)
{
	static const struct {
		const char *name;
		size_t bytes;
	} types[] = { { "char", 1 }, { "schar", 1 }, { "uchar", 1 }, { "int8", 1 }, { "uint8", 1 }, { "short", 2 },
		{ "ushort", 2 }, { "int16", 2 }, { "uint16", 2 }, { "int", 4 }, { "uint", 4 }, { "int32", 4 },
		{ "uint32", 4 }, { "float", 4 }, { "long", 8 }, { "ulong", 8 }, { "longlong", 8 }, { "ulonglong", 8 },
		{ "int64", 8 }, { "uint64", 8 }, { "double", 8 }, { "size", 8 }, { "ptrdiff", 8 },
		{ "longdouble", 16 } };
	const char *s = stem_of(name), *d = s + strcspn(s, "0123456789_");
	size_t i, n = strcspn(s, "_");

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strlen(types[i].name) == n && !strncmp(s, types[i].name, n)) {
			return types[i].bytes;
		}
	}
	return strstr(s, "mem") ? 1 : (size_t)atoi(d) / 8;
}

/* Open MPI 5.0.7 moves nothing and prints "Internal error is appeared rc = -7". */
static int is_missing(const char *name)
{
	return strstr(name, "_signal") != NULL;
}

static int is_block(const char *name)
{
	return strstr(stem_of(name), "put") || strstr(stem_of(name), "get");
}

static void say(const char *name, const char *dir, size_t len, int pe)
{
	fprintf(truth, "%d %s %s %zu symmetric memory of PE %d\n", me, name, dir,
		(is_block(name) ? len : 1) * width_of(name), pe);
}

/* Open MPI 4.1.4 writes 8 bytes into a result of 4 on its own stack, and ends the program. */
static int is_broken(const char *name)
{
	return width_of(name) == 4 && (strstr(name, "cswap") || strstr(name, "compare_swap"));
}

/* What was to move len elements from one place, sst elements apart, to another, tst apart, has done so and no more. */
static void check(const char *name, const char *from, const char *to, long tst, long sst, size_t len)
{
	size_t width = width_of(name), i;

	for (i = 0; i < len; i++) {
		memcpy(before + i * (size_t)tst * width, from + i * (size_t)sst * width, width);
	}
	if (memcmp(before, to, SLOT)) {
		printf("%s of %zu elements has not moved what it should\n", name, len);
		wrong = 1;
	}
}

static void fill(char *to)
{
	size_t i;

	for (i = 0; i < SLOT; i++) {
		to[i] = (char)next_random(256);
	}
}

/* The names of the parameters in the table. */
#define PREPARE(name) \
	long tst = strstr(stem_of(name), "iput") || strstr(stem_of(name), "iget") ? 1 + next_random(STRIDE) : 1; \
	long sst = tst > 1 ? 1 + next_random(STRIDE) : 1; \
	int value = 1, cond = 0, how = 0; \
	long double result; \
	void *fetch = &result; \
	uint64_t signal = 1, *at = &signals; \
	shmem_ctx_t ctx = SHMEM_CTX_DEFAULT; \
	(void)tst, (void)sst, (void)value, (void)cond, (void)ctx, (void)len, (void)how, (void)fetch, (void)signal, \
		(void)at
#define WRITE(result, name, params, args, ...) \
	static void call_##name(size_t len, int pe) \
	{ \
		void *to = there, *from = mine; \
		PREPARE(#name); \
		(void)from; \
		if (is_block(#name)) { \
			fill(mine); \
			pshmem_getmem(before, there, SLOT, pe); \
		} \
		name args; \
		say(#name, "WRITE", len, pe); \
		pshmem_quiet(); \
		if (is_block(#name) && !is_missing(#name)) { \
			pshmem_getmem(after, there, SLOT, pe); \
			check(#name, mine, after, tst, sst, len); \
		} \
	}
#define READ(result, name, params, args, ...) \
	static void call_##name(size_t len, int pe) \
	{ \
		void *from = there, *to = mine; \
		PREPARE(#name); \
		(void)to; \
		memcpy(before, mine, SLOT); \
		pshmem_getmem(after, there, SLOT, pe); \
		(void)name args; \
		say(#name, "READ", len, pe); \
		pshmem_quiet(); \
		if (is_block(#name)) { \
			check(#name, after, mine, tst, sst, len); \
		} \
	}
#define EXCHANGE(result, name, params, args, ...) \
	static void call_##name(size_t len, int pe) \
	{ \
		void *to = there; \
		PREPARE(#name); \
		if (!is_broken(#name)) { \
			name args; \
			say(#name, "WRITE", len, pe); \
			say(#name, "READ", len, pe); \
		} \
	}
#define START(...)
#define END(...)
#define ABORT(...)
#define LOCAL(...)
#define STATE(...)
#define SHARE(...)
#define TEAM(...)
#define TEAM_CONTEXT(...)
#define CALL(kind, ...) kind(__VA_ARGS__)
#include "tests/vt/shmem/programs/declared.h"
#include "collector-plugin/shmem/calls.def"
#undef CALL
#undef WRITE
#undef READ
#undef EXCHANGE

static void (*const calls[])(size_t, int) = {
#define WRITE(result, name, ...) call_##name,
#define READ(result, name, ...) call_##name,
#define EXCHANGE(result, name, ...) call_##name,
#define CALL(kind, ...) kind(__VA_ARGS__)
#include "collector-plugin/shmem/calls.def"
};
enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

int main(int argc, char **argv)
{
	unsigned order[CALLS], i, k, swap;
	int round, rounds = argc > 1 ? atoi(argv[1]) : 1;
	char name[40], *all;

	shmem_init();
	me = shmem_my_pe();
	pes = shmem_n_pes();
	state = (unsigned long)(argc > 2 ? atoi(argv[2]) : 1) * 100 + (unsigned long)me;
	all = shmem_malloc((size_t)pes * SLOT);
	memset(all, 0, (size_t)pes * SLOT);
	there = all + me * SLOT;
	snprintf(name, sizeof(name), "truth.%d", me);
	truth = fopen(name, "w");
	for (i = 0; i < CALLS; i++) {
		order[i] = i;
	}
	shmem_barrier_all();
	for (round = 0; round < rounds; round++) {
		for (i = 0; i < CALLS; i++) {
			k = i + next_random(CALLS - i);
			swap = order[i];
			order[i] = order[k];
			order[k] = swap;
			calls[order[i]](next_random(MOST + 1), (int)next_random((unsigned)pes));
		}
	}
	fclose(truth);
	shmem_finalize();
	return wrong;
}
