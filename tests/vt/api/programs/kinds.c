/* SPDX-License-Identifier: BSD-3-Clause */
/* Every data format x display kind x scope x target, bounds in each format, and values that are hard: extremes,
 * NaN, infinity, denormals. With WITH_MPI under any number of ranks; argv[1]: threads besides the main one, each of
 * which does the same. C99, C11 and C++11. */
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <float.h>
#include <math.h>
#include <pthread.h>

#include "tests/vt/lib/say.h"

enum { TARGETS = 9 };
struct target {
	int id;
	const char *name; /* for the counter */
	int fixed;        /* 1: `where` below; 0: the calling thread */
	char where[40];
};

static struct target target[TARGETS];
static int rank, ranks = 1, cls;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const int64_t integers[] = { 0, 1, -1, 42, INT64_MAX, INT64_MIN, -4294967296, 4294967295, 0x0123456789abcdef };
enum { INTEGERS = sizeof(integers) / sizeof(integers[0]) };

static double number(int i)
{
	static const double numbers[] = { 0, -0.0, 1.5, -2.5e300, DBL_MIN / 1024, DBL_MAX, 0.1 };
	uint64_t quiet = 0x7ff8000000001234;
	double d;

	switch (i % 10) {
	case 7:
		return INFINITY;
	case 8:
		return -INFINITY;
	case 9:
		memcpy(&d, &quiet, 8); /* a NaN keeps its payload */
		return d;
	default:
		return numbers[i % 10];
	}
}

static void want(int rc, const char *what)
{
	if (rc != VT_OK) {
		printf("%s: %d\n", what, rc);
		exit(1);
	}
}

static void set_target(int i, int id, const char *name, const char *where)
{
	target[i].id = id;
	target[i].name = name;
	target[i].fixed = where != NULL;
	snprintf(target[i].where, sizeof(target[i].where), "%s", where ? where : "");
}

static void make_targets(void)
{
	int *id = (int *)malloc(sizeof(*id) * (size_t)(ranks + 1)), pairs, i, me;
	char here[40], text[40];

	snprintf(here, sizeof(here), "%d:0", rank);
	set_target(0, VT_ME, "me", NULL);
	set_target(1, VT_GROUP_THREAD, "thread", NULL);
	set_target(2, VT_GROUP_PROCESS, "process", here);
	set_target(3, VT_GROUP_CLUSTER, "cluster", "node");
	want(VT_getprocid(rank, &me), "getprocid");
	set_target(4, me, "proc", here);
	want(VT_getthreadid(rank, 0, &me), "getthreadid");
	set_target(5, me, "thr", here);
	for (i = 0; i < ranks; i++) {
		want(VT_getprocid(i, &id[i]), "getprocid");
	}
	want(VT_groupdef("everybody", ranks, id, &me), "groupdef");
	set_target(6, me, "group", here);
	/* each member of a group has its own instance, a group too */
	want(VT_groupdef("pairs", 1, &me, &pairs), "groupdef");
	set_target(7, pairs, "groups", "g:everybody");
	snprintf(text, sizeof(text), "own%d", rank);
	want(VT_groupdef(text, 1, &id[rank], &me), "groupdef");
	set_target(8, me, "own", here);
	free(id);
}

static void one(int data, int display, int scope, int t, int round, const char *me)
{
	static const int64_t ibounds[2] = { -5, 1ll << 40 };
	static const uint32_t pbounds[4] = { 0xffffffffu, 0xfffffffbu, 0x100u, 0 };
	static const double fbounds[2] = { -1e100, 0.5 };
	int is_float = data == VT_COUNT_FLOAT, h = 0, k = data + display + scope + t + round;
	uint64_t value = is_float ? bits_of(number(k)) : (uint64_t)integers[k % INTEGERS];
	uint32_t pair[2];
	char name[100], full[120];

	snprintf(name, sizeof(name), "%s-%x-%x-%x", target[t].name, data, display, scope);
	snprintf(full, sizeof(full), "Kinds:%s", name);
	pair[0] = (uint32_t)(value >> 32);
	pair[1] = (uint32_t)value;
	want(VT_countdef(name, cls, data | display | scope, target[t].id,
		     is_float                           ? (const void *)fbounds
			     : data == VT_COUNT_INTEGER ? (const void *)pbounds
							: (const void *)ibounds,
		     "unit", &h),
		name);
	want(VT_countval(1, &h, data == VT_COUNT_INTEGER ? (void *)pair : (void *)&value), name);
	pthread_mutex_lock(&lock);
	say(target[t].fixed ? target[t].where : me, full, is_float ? 2 : 1, display == VT_COUNT_RATE, scope >> 4,
		is_float ? bits_of(fbounds[0]) : (uint64_t)ibounds[0],
		is_float ? bits_of(fbounds[1]) : (uint64_t)ibounds[1], value);
	pthread_mutex_unlock(&lock);
}

static void all(int round)
{
	static const int data[] = { VT_COUNT_INTEGER, VT_COUNT_FLOAT, VT_COUNT_INTEGER64, 0 };
	static const int display[] = { 0, VT_COUNT_ABSVAL, VT_COUNT_RATE };
	static const int scope[] = { 0, VT_COUNT_VALID_BEFORE, VT_COUNT_VALID_POINT, VT_COUNT_VALID_AFTER,
		VT_COUNT_VALID_SAMPLE };
	int d, w, s, t, number = -1;
	char me[40];

	want(VT_getthrank(&number), "getthrank");
	snprintf(me, sizeof(me), "%d:%d", rank, number);
	for (d = 0; d < 4; d++) {
		for (w = 0; w < 3; w++) {
			for (s = 0; s < 5; s++) {
				for (t = 0; t < TARGETS; t++) {
					one(data[d], display[w], scope[s], t, round, me);
				}
			}
		}
	}
}

static void *worker(void *arg)
{
	int n = (int)(intptr_t)arg;

	want(VT_registerthread(n), "registerthread");
	all(n);
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 0, i;
	pthread_t thread[64];

#ifdef WITH_MPI
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	say_open(rank);
#else
	want(VT_initialize(&argc, &argv), "initialize");
	say_open(-1);
#endif
	want(VT_classdef("Kinds", &cls), "classdef");
	make_targets();
	for (i = 0; i < 3; i++) {
		all(i);
	}
	for (i = 0; i < threads; i++) {
		pthread_create(&thread[i], NULL, worker, (void *)(intptr_t)(i + 1));
	}
	for (i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
	}
	fclose(say_file);
#ifdef WITH_MPI
	MPI_Finalize();
#else
	want(VT_finalize(), "finalize");
#endif
	return 0;
}
