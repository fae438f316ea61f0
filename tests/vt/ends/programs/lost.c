/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled with -finstrument-functions: lost CALLS HOW GO FILE makes so many calls in each of two threads, when there is a file GO, and prints
 * how many events that are: a call that returns is two. HOW: "return"; "exit": the first thread ends the program inside a call; "again": in the middle, FILE is
 * removed, and more than a second passes; "deep": each call is inside the one before. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNSEEN __attribute__((no_instrument_function))
#define APART __attribute__((noinline))

static long calls;
static const char *how, *file;
static volatile int sum;

static APART void leaf(int n)
{
	sum += n;
}

static APART void deeper(long n)
{
	if (n > 1) {
		deeper(n - 1);
	}
	sum++;
}

static APART void half(long n)
{
	while (n-- > 0) {
		leaf(1);
	}
}

static APART void work(int first)
{
	if (!strcmp(how, "deep")) {
		deeper(calls);
		return;
	}
	half(calls / 2);
	if (first && !strcmp(how, "again")) {
		unlink(file);
		usleep(1300000);
	}
	half(calls - calls / 2);
	if (first && !strcmp(how, "exit")) {
		exit(0);
	}
}

static UNSEEN void *run(void *p)
{
	work(0);
	return p;
}

int main(int argc, char **argv)
{
	pthread_t other;
	long halves;

	if (argc < 5) {
		return 1;
	}
	calls = atol(argv[1]);
	how = argv[2];
	file = argv[4];
	while (access(argv[3], F_OK) != 0) {
		usleep(10000);
	}
	halves = strcmp(how, "deep") ? 2 : 0;
	/* of each thread work(), halves and calls; main(), which does not return from work() if that ends the program */
	printf("%ld events\n", 2 * 2 * (1 + halves + calls) + 2 - 2 * !strcmp(how, "exit"));
	fflush(stdout);
	if (pthread_create(&other, NULL, run, NULL) || pthread_join(other, NULL)) {
		return 1;
	}
	work(1);
	return 0;
}
