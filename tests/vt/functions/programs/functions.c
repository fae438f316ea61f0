/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled with -finstrument-functions: knows its own call tree and says it, "THREAD + CLASS:FUNCTION", "THREAD -". Random
 * recursion in several threads, functions of a library that comes and goes by dlopen, longjmp over several calls, a signal
 * handler, a thread that ends inside its calls. argv: threads, calls of each, seed, library libfunctions, library libother. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HIDDEN_FROM_TRACE __attribute__((no_instrument_function))

enum { DEEPEST = 60 };
struct say {
	int thread, left;
	unsigned seed;
	char *text, *to;
	jmp_buf back;
};
static _Thread_local struct say *me;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int calls;
static unsigned seed;

HIDDEN_FROM_TRACE static void in(const char *name)
{
	me->to += sprintf(me->to, "%d + Application:%s\n", me->thread, name);
}

HIDDEN_FROM_TRACE static void out(void)
{
	me->to += sprintf(me->to, "%d -\n", me->thread);
}

HIDDEN_FROM_TRACE static unsigned rnd(void)
{
	me->seed = me->seed * 1103515245 + 12345;
	return me->seed >> 16;
}

HIDDEN_FROM_TRACE static struct say *say_new(int thread)
{
	struct say *s = malloc(sizeof(*s));

	s->thread = thread;
	s->left = calls;
	s->seed = seed + (unsigned)thread * 7919u;
	s->text = s->to = malloc((size_t)calls * 80 + 100000);
	*s->to = '\0';
	return s;
}

HIDDEN_FROM_TRACE static void say_all(void)
{
	pthread_mutex_lock(&lock);
	fputs(me->text, stdout);
	pthread_mutex_unlock(&lock);
}

void alpha(int depth);
void beta(int depth);
int gamma_(int depth);
__attribute__((noinline)) static void delta(int depth);

HIDDEN_FROM_TRACE static void more(int depth)
{
	while (depth < DEEPEST && me->left > 0 && rnd() % 100 < 60) {
		me->left--;
		switch (rnd() % 4) {
		case 0:
			alpha(depth + 1);
			break;
		case 1:
			beta(depth + 1);
			break;
		case 2:
			gamma_(depth + 1);
			break;
		default:
			delta(depth + 1);
		}
	}
}

void alpha(int depth)
{
	in("alpha");
	more(depth);
	out();
}

void beta(int depth)
{
	volatile char room[500];

	in("beta");
	room[depth] = 1;
	more(depth);
	out();
}

int gamma_(int depth)
{
	in("gamma_");
	more(depth);
	out();
	return depth;
}

static void delta(int depth)
{
	in("delta");
	more(depth);
	out();
}

/* ---- longjmp: the calls between are over when the next one begins ---- */

__attribute__((noinline)) void fall(int depth)
{
	volatile char room[100];

	in("fall");
	room[depth] = 1;
	if (depth > 0) {
		fall(depth - 1);
	}
	longjmp(me->back, 1);
}

/* Reaches further down than all that was jumped over. */
__attribute__((noinline)) void wide(void)
{
	volatile char room[10000];

	room[0] = 1;
	in("wide");
	out();
}

__attribute__((noinline)) void jumper(int depth)
{
	volatile int fell = depth;
	int i;

	in("jumper");
	if (setjmp(me->back) == 0) {
		fall(fell);
	}
	for (i = 0; i <= fell; i++) {
		out();
	}
	wide();
	out();
}

__attribute__((noinline)) void handler(int sig)
{
	(void)sig;
	in("handler");
	alpha(DEEPEST);
	out();
}

__attribute__((noinline)) void last_words(void)
{
	in("last_words");
	/* both states are closed where the thread ends */
	out();
	out();
	say_all();
	pthread_exit(NULL);
}

static void *worker(void *arg)
{
	me = say_new(1); /* the number is free again when its thread has ended */
	(void)arg;
	in("worker");
	while (me->left > 0) {
		more(0);
	}
	last_words();
	return NULL;
}

__attribute__((noinline)) void libraries(const char *path, const char *name)
{
	void *l;
	void (*f)(void);

	in("libraries");
	l = dlopen(path, RTLD_NOW);
	f = l ? (void (*)(void))dlsym(l, "of_library") : NULL;
	if (!f) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	me->to += sprintf(me->to, "%d + %s:of_library\n%d + %s:inner\n%d -\n%d -\n", me->thread, name, me->thread, name,
		me->thread, me->thread);
	f();
	dlclose(l);
	out();
}

int main(int argc, char **argv)
{
	int threads = (int)strtol(argv[1], NULL, 10), i;
	pthread_t t;

	calls = (int)strtol(argv[2], NULL, 10);
	seed = (unsigned)strtol(argv[3], NULL, 10);
	me = say_new(0);
	in("main");
	while (me->left > 0) {
		more(0);
	}
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	jumper(7);
	alpha(DEEPEST);
	for (i = 0; argc > 4 && i < 3; i++) {
		libraries(argv[4], "libfunctions");
		if (argc > 5) {
			libraries(argv[5], "libother");
		}
	}
	for (i = 1; i < threads; i++) {
		pthread_create(&t, NULL, worker, NULL);
		pthread_join(t, NULL);
	}
	out();
	say_all();
	return 0;
}
