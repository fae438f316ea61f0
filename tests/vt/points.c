/* SPDX-License-Identifier: BSD-3-Clause */
/* points cancel N | points signal SECONDS: threads are cancelled, or signal handlers run that call the interface themselves, at random
 * points inside each entry point. Every join must return, and the others go on. "done COUNT" is the last line. */
#include <VT.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int function, counter, location;
static _Atomic unsigned fresh, fresh_value;

static void call_begin(void)
{
	VT_begin(function);
	VT_end(function);
}

static void call_enter(void)
{
	VT_enter(function, location);
	VT_leave(location);
}

static void call_count(void)
{
	/* a sum of others is none of these (points.sh) */
	uint64_t i = fresh_value++ % 100000, v = i * 4096 + i * i % 4093;

	VT_countval(1, &counter, &v);
}

static void call_switch(void)
{
	VT_traceoff();
	VT_traceon();
}

static void call_define(void)
{
	char name[32];
	int h = 0;

	snprintf(name, sizeof(name), "f%u", fresh++ % 2000);
	VT_funcdef(name, VT_NOCLASS, &h);
	VT_scldef("file.c", (int)(fresh % 1000) + 1, &h);
}

static void call_name(void)
{
	int h, truncated;

	VT_enterstate("class:named", &h, &truncated);
	VT_leave(VT_NOSCL);
}

static void call_flush(void)
{
	VT_flush();
}

static void call_ask(void)
{
	int n;

	VT_getthrank(&n);
	VT_tracestate(&n);
	VT_symstate(function, &n);
	VT_timestamp();
}

static void call_log(void)
{
	VT_log_sendmsg(0, 8, 1, VT_COMM_SELF, VT_NOSCL);
	VT_log_recvmsg(0, 8, 1, VT_COMM_SELF, VT_NOSCL);
}

static void call_wake(void)
{
	VT_wakeup();
	VT_thisloc(location);
}

static void (*const point[])(void) = { call_begin, call_enter, call_count, call_switch, call_define, call_name,
	call_flush, call_ask, call_log, call_wake };
enum { POINTS = sizeof(point) / sizeof(point[0]) };

static void *victim(void *arg)
{
	void (*call)(void) = point[(uintptr_t)arg];

	for (;;) {
		call();
		pthread_testcancel();
	}
	return NULL;
}

static void nap(unsigned ns)
{
	struct timespec t = { 0, (long)ns };

	nanosleep(&t, NULL);
}

static long cancel(int n)
{
	unsigned seed = 1;
	long done = 0;
	pthread_t t;
	int i;

	for (i = 0; i < n; i++) {
		if (pthread_create(&t, NULL, victim, (void *)(uintptr_t)(i % POINTS)) != 0) {
			continue;
		}
		nap((unsigned)rand_r(&seed) % 200000);
		pthread_cancel(t);
		pthread_join(t, NULL);
		point[i % POINTS]();
		done++;
	}
	return done;
}

static volatile sig_atomic_t came;

static void handler(int sig)
{
	(void)sig;
	came++;
	call_begin();
	call_count();
	if (came % 16 == 0) {
		call_switch();
	}
}

static long signals(int seconds)
{
	struct sigaction a = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct itimerval every = { { 0, 100 }, { 0, 100 } };
	time_t start = time(NULL);
	unsigned i;

	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (i = 0; time(NULL) - start < seconds; i++) {
		point[i % POINTS]();
	}
	memset(&every, 0, sizeof(every));
	setitimer(ITIMER_REAL, &every, NULL);
	return came;
}

int main(int argc, char **argv)
{
	uint64_t bounds[2] = { 0, UINT64_MAX };
	long done;

	if (argc != 3 || VT_initialize(&argc, &argv) != VT_OK) {
		return 2;
	}
	VT_funcdef("work", VT_NOCLASS, &function);
	VT_scldef("points.c", 1, &location);
	VT_countdef("n", VT_NOCLASS, VT_COUNT_INTEGER64 | VT_COUNT_ABSVAL | VT_COUNT_VALID_SAMPLE, VT_ME, bounds, "x",
		&counter);
	done = strcmp(argv[1], "cancel") == 0 ? cancel(atoi(argv[2])) : signals(atoi(argv[2]));
	VT_finalize();
	printf("done %ld\n", done);
	return 0;
}
