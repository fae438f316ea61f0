/* SPDX-License-Identifier: BSD-3-Clause */
/* A signal comes at each instruction of a call that is recorded, in turn: the thread runs step by step, and the handler calls a
 * function at the k-th step ("nested") or jumps out ("jump"), for each k until the call has fewer steps. Prints how often
 * leaf() and handler_leaf() were called, and the number of k. For x86. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define PLAIN __attribute__((no_instrument_function, noinline))

static long leaves, handled;
static volatile long left, k;
static int jumping;
static sigjmp_buf point;

__attribute__((noinline)) static void leaf(void)
{
	leaves++;
}

__attribute__((noinline)) static void handler_leaf(void)
{
	handled++;
}

/* Leaves the frames of calls that were far deeper on the stack in the places of the next calls. */
PLAIN static void deep(void)
{
	volatile char room[1 << 16];

	room[0] = 1;
	leaf();
	handler_leaf();
	room[1] = room[0];
}

PLAIN static void on_step(int number)
{
	(void)number;
	if (--left != 0) {
		return;
	}
	if (jumping) {
		siglongjmp(point, 1);
	}
	handler_leaf();
}

/* Sets and clears the trap flag, by which the processor sends SIGTRAP after each instruction. */
PLAIN static void call_by_steps(void)
{
	__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
	leaf();
	__asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
}

PLAIN int main(int argc, char **argv)
{
	struct sigaction a;

	jumping = argc > 1 && !strcmp(argv[1], "jump");
	memset(&a, 0, sizeof(a));
	a.sa_handler = on_step;
	sigaction(SIGTRAP, &a, NULL);
	deep();
	for (k = 1; left <= 0; k++) {
		deep();
		left = k;
		if (sigsetjmp(point, 1) == 0) {
			call_by_steps();
		}
		leaf();
	}
	printf("%ld %ld %ld\n", leaves, handled, k);
	return 0;
}
