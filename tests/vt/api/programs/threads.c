/* SPDX-License-Identifier: BSD-3-Clause */
/* Eight threads that call everything at once, with definitions of the same names and of their own; threads that come
 * and go while others record. For ThreadSanitizer, and the values must be there. */
#include <pthread.h>

#include "tests/vt/lib/say.h"

enum { THREADS = 8, VALUES = 500, SHORT = 40, ROUNDS = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t registered; /* the short-lived ones would take the workers' numbers */
static pthread_barrier_t workers;

static void want(int rc, const char *what)
{
	if (rc != VT_OK) {
		printf("%s: %d\n", what, rc);
		exit(1);
	}
}

static int callback(void *custom, int ncounters, int *handles, void *values)
{
	(void)ncounters;
	handles[0] = *(int *)custom;
	memset(values, 0, 8);
	return 0;
}

static int state; /* each thread gets the same handle */

static void define(int n, int *own, int *common)
{
	char name[40];
	int cls, function, scl, ids[1], group;

	want(VT_classdef("Threads", &cls), "classdef");
	want(VT_funcdef("common", cls, &function), "funcdef");
	__atomic_store_n(&state, function, __ATOMIC_RELAXED);
	want(VT_scldef("threads.c", n, &scl), "scldef");
	want(VT_getprocid(0, ids), "getprocid");
	want(VT_groupdef("common", 1, ids, &group), "groupdef");
	want(VT_countdef("common", cls, VT_COUNT_INTEGER64, VT_GROUP_THREAD, 0, "#", common), "countdef");
	snprintf(name, sizeof(name), "own%d", n);
	want(VT_countdef(name, cls, VT_COUNT_FLOAT, VT_ME, 0, "#", own), "countdef");
}

/* All workers define the same at the same time: whoever is not the first must still find it defined. */
static void same_name(int n, int round)
{
	char name[40], where[20];
	int cls, handle;
	int64_t v = round;

	snprintf(where, sizeof(where), "0:%d", n);
	snprintf(name, sizeof(name), "Round%d", round);
	pthread_barrier_wait(&workers);
	want(VT_classdef(name, &cls), "classdef of all");
	snprintf(name, sizeof(name), "round%d", round);
	want(VT_countdef(name, cls, VT_COUNT_INTEGER64, VT_GROUP_THREAD, 0, "#", &handle), "countdef of all");
	want(VT_countval(1, &handle, &v), "countval of all");
	snprintf(name, sizeof(name), "Round%d:round%d", round, round);
	pthread_mutex_lock(&lock);
	say(where, name, 1, 0, 0, 0, 0, (uint64_t)v);
	pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
	int n = (int)(intptr_t)arg, own, common, i;
	char where[20], name[40];

	want(VT_registernamed("worker", n), "registernamed");
	pthread_barrier_wait(&registered);
	define(n, &own, &common);
	snprintf(where, sizeof(where), "0:%d", n);
	snprintf(name, sizeof(name), "Threads:own%d", n);
	for (i = 0; i < ROUNDS; i++) {
		same_name(n, i);
	}
	want(VT_countsetcallback(callback, &own, 2), "countsetcallback");
	for (i = 0; i < VALUES; i++) {
		double d = i * 0.5 + n;
		int64_t v = (int64_t)i << n;

		want(VT_countval(1, &own, &d), "countval");
		want(VT_countval(1, &common, &v), "countval");
		want(VT_enter(__atomic_load_n(&state, __ATOMIC_RELAXED), VT_NOSCL), "enter");
		want(VT_leave(VT_NOSCL), "leave");
		pthread_mutex_lock(&lock);
		say(where, name, 2, 0, 0, 0, 0, bits_of(d));
		say(where, "Threads:common", 1, 0, 0, 0, 0, (uint64_t)v);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void *short_lived(void *arg)
{
	int64_t v = 7;
	int own, common, number;

	(void)arg;
	define(100, &own, &common);
	want(VT_countval(1, &common, &v), "countval");
	want(VT_getthrank(&number), "getthrank");
	pthread_mutex_lock(&lock);
	fprintf(say_file, "0:%d Threads:common 1 0 0 %016x %016x %016x\n", number, 0, 0, 7);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS], other;
	int i;

	want(VT_initialize(&argc, &argv), "initialize");
	say_open(-1);
	pthread_barrier_init(&registered, NULL, THREADS + 1);
	pthread_barrier_init(&workers, NULL, THREADS);
	for (i = 0; i < THREADS; i++) {
		pthread_create(&thread[i], NULL, worker, (void *)(intptr_t)(i + 1));
	}
	pthread_barrier_wait(&registered);
	for (i = 0; i < SHORT; i++) {
		pthread_create(&other, NULL, short_lived, NULL);
		pthread_join(other, NULL);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
	}
	fclose(say_file);
	want(VT_finalize(), "finalize");
	return 0;
}
