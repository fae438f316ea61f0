/* SPDX-License-Identifier: BSD-3-Clause */
/* Switches stacks inside a function or a region, in the way that is named; "none", "signal" and "jump" do not. */
#define _GNU_SOURCE
#include <VT.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define PLAIN __attribute__((no_instrument_function))

enum { TIMES = 10, STACK = 1 << 17 };

void leaf(void);
void middle(void);
void turn(void);
void on_usr1(int sig);
void jumps(void);

static ucontext_t back, there;
static jmp_buf point;
static volatile int sum;
static int by_hand, left;

void leaf(void)
{
	sum = sum + 1;
}

void middle(void)
{
	leaf();
	swapcontext(&there, &back);
	leaf();
}

void turn(void)
{
	swapcontext(&back, &there);
}

PLAIN static void worker(void)
{
	for (;;) {
		if (by_hand) {
			swapcontext(&there, &back);
		} else {
			middle();
		}
	}
}

void on_usr1(int sig)
{
	(void)sig;
	leaf();
	if (left) {
		siglongjmp(point, 1);
	}
}

void jumps(void)
{
	leaf();
	longjmp(point, 1);
}

PLAIN static void on_signal_stack(void)
{
	static char own[STACK];
	stack_t s = { .ss_sp = own, .ss_size = sizeof(own) };
	struct sigaction a = { .sa_flags = SA_ONSTACK | SA_NODEFER };

	a.sa_handler = on_usr1;
	sigaltstack(&s, NULL);
	sigaction(SIGUSR1, &a, NULL);
	raise(SIGUSR1);
	left = 1;
	if (sigsetjmp(point, 1) == 0) {
		raise(SIGUSR1);
	}
}

PLAIN int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	int i, class, region = 0;
	char *own = !strcmp(way, "above") ? mmap((char *)__builtin_frame_address(0) + (1ul << 22), STACK,
						    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
					  : malloc(STACK);

	VT_classdef("mine", &class);
	VT_funcdef("region", class, &region);
	by_hand = !strcmp(way, "by_hand");
	leaf();
	if (!strcmp(way, "signal")) {
		on_signal_stack();
	} else if (!strcmp(way, "jump")) {
		for (i = 0; i < TIMES; i++) {
			if (setjmp(point) == 0) {
				jumps();
			}
		}
	} else if (strcmp(way, "none")) {
		getcontext(&there);
		there.uc_stack.ss_sp = own;
		there.uc_stack.ss_size = STACK;
		makecontext(&there, worker, 0);
		for (i = 0; i < TIMES; i++) {
			if (by_hand) {
				VT_enter(region, VT_NOSCL);
				swapcontext(&back, &there);
				VT_leave(VT_NOSCL);
			} else {
				turn();
			}
		}
	}
	return 0;
}
