/* SPDX-License-Identifier: BSD-3-Clause */
/* Counter sampling by callback, one per thread: every state change calls it once, what it returns has the stamp of
 * the event (both counters the same), tracing off and NULL end it, and VT_ calls inside it trigger nothing. */
#include <pthread.h>

#include "tests/vt/lib/say.h"

enum { THREADS = 3, EVENTS = 12 };

static int cls, count, square, state, scope, nested;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct mine {
	int number, calls;
	char where[20];
};

static void want(int rc, const char *what)
{
	if (rc != VT_OK) {
		printf("%s: %d\n", what, rc);
		exit(1);
	}
}

static int sample(void *custom, int ncounters, int *handles, void *values)
{
	struct mine *m = (struct mine *)custom;
	int64_t *v = (int64_t *)values;

	if (ncounters != 5) {
		printf("%d places\n", ncounters);
		exit(1);
	}
	m->calls++;
	VT_enter(state, VT_NOSCL); /* must not come back here */
	VT_wakeup();
	if (m->calls > EVENTS) {
		nested = 1;
	}
	handles[0] = count;
	v[0] = m->calls;
	handles[1] = square;
	v[1] = (int64_t)m->calls * m->calls;
	pthread_mutex_lock(&lock);
	say(m->where, "Callback:count", 1, 0, 4, 0, 0, (uint64_t)v[0]);
	say(m->where, "Callback:square", 1, 0, 4, 0, 0, (uint64_t)v[1]);
	pthread_mutex_unlock(&lock);
	return 2;
}

static int nothing(void *custom, int ncounters, int *handles, void *values)
{
	(void)handles;
	(void)values;
	*(int *)custom += ncounters;
	return 0;
}

static void events(struct mine *m)
{
	int h = 0, trunc, seq, silent = 0;

	snprintf(m->where, sizeof(m->where), "0:%d", m->number);
	want(VT_countsetcallback(sample, m, 5), "countsetcallback");
	want(VT_enter(state, VT_NOSCL), "enter");
	want(VT_leave(VT_NOSCL), "leave");
	want(VT_begin(state), "begin");
	want(VT_end(0), "end");
	want(VT_beginl(state, VT_NOSCL), "beginl");
	want(VT_endl(state, VT_NOSCL), "endl");
	want(VT_enterstate("MPI:A/B", &h, &trunc), "enterstate");
	want(VT_leave(state), "leave");
	want(VT_wakeup(), "wakeup");
	want(VT_scopebegin(scope, VT_NOSCL, &seq), "scopebegin");
	VT_traceoff();
	want(VT_enter(state, VT_NOSCL), "enter, off");
	VT_traceon();
	want(VT_scopeend(scope, seq, VT_NOSCL), "scopeend");
	want(VT_log_sendmsg(0, 8, 1, VT_COMM_WORLD, VT_NOSCL), "log_sendmsg");
	if (m->calls != EVENTS) {
		printf("%d calls instead of %d\n", m->calls, EVENTS);
		exit(1);
	}
	want(VT_countsetcallback(nothing, &silent, 3), "countsetcallback");
	want(VT_wakeup(), "wakeup");
	want(VT_countsetcallback(NULL, NULL, 0), "countsetcallback NULL");
	want(VT_wakeup(), "wakeup");
	if (silent != 3) {
		printf("a callback that was taken away was called\n");
		exit(1);
	}
}

static void *worker(void *arg)
{
	struct mine m = { 0 };

	m.number = (int)(intptr_t)arg;
	want(VT_registerthread(m.number), "registerthread");
	events(&m);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];
	struct mine m = { 0 };
	int i;

	want(VT_initialize(&argc, &argv), "initialize");
	say_open(-1);
	want(VT_classdef("Callback", &cls), "classdef");
	want(VT_funcdef("state", cls, &state), "funcdef");
	want(VT_scopedef("scope", cls, VT_NOSCL, VT_NOSCL, &scope), "scopedef");
	want(VT_countdef("count", cls, VT_COUNT_INTEGER64 | VT_COUNT_VALID_SAMPLE, VT_ME, 0, "#", &count), "countdef");
	want(VT_countdef("square", cls, VT_COUNT_INTEGER64 | VT_COUNT_VALID_SAMPLE, VT_ME, 0, "#", &square),
		"countdef");
	events(&m);
	for (i = 0; i < THREADS; i++) {
		pthread_create(&thread[i], NULL, worker, (void *)(intptr_t)(i + 1));
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
	}
	fclose(say_file);
	want(VT_finalize(), "finalize");
	return nested;
}
