// SPDX-License-Identifier: BSD-3-Clause
// Exceptions through instrumented functions in 8 threads; says its call tree as functions.c does, names as DEMANGLE shows them.
#include <pthread.h>
#include <cstdio>
#include <cstdlib>

#define HIDDEN_FROM_TRACE __attribute__((no_instrument_function))

static thread_local char *said, *to;
static thread_local int number;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all; // the number of a thread that ends is free for another
static int rounds;

HIDDEN_FROM_TRACE static void in(const char *name)
{
	to += sprintf(to, "%d + Application:%s\n", number, name);
}

HIDDEN_FROM_TRACE static void out()
{
	to += sprintf(to, "%d -\n", number);
}

namespace space
{
__attribute__((noinline)) void thrower(int depth)
{
	in("space::thrower(int)");
	if (depth == 0) {
		/* what the exception leaves, all but the catcher */
		for (int i = 0; i < 4; i++) {
			out();
		}
		throw depth;
	}
	thrower(depth - 1);
}
} // namespace space

__attribute__((noinline)) int catcher(int i)
{
	in("catcher(int)");
	try {
		space::thrower(3);
	} catch (int caught) {
		i += caught;
	}
	out();
	return i;
}

HIDDEN_FROM_TRACE static void *worker(void *arg)
{
	number = (int)(size_t)arg + 1;
	said = to = (char *)malloc(400 * (size_t)rounds);
	for (int i = 0; i < rounds; i++) {
		catcher(i);
	}
	pthread_barrier_wait(&all);
	pthread_mutex_lock(&lock);
	fputs(said, stdout);
	pthread_mutex_unlock(&lock);
	return NULL;
}

HIDDEN_FROM_TRACE int main(int, char **argv)
{
	pthread_t t[8];

	rounds = atoi(argv[1]);
	pthread_barrier_init(&all, NULL, 8);
	for (size_t i = 0; i < 8; i++) {
		pthread_create(&t[i], NULL, worker, (void *)i);
	}
	for (int i = 0; i < 8; i++) {
		pthread_join(t[i], NULL);
	}
	return 0;
}
