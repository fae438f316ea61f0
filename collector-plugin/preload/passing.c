/* SPDX-License-Identifier: BSD-3-Clause */
/* Wraps the libc functions by which other functions end without returning, or are unloaded. The tracer is informed,
 * and the calls are passed on. */
#include "config.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "collector-plugin/core/thread.h"
#include "collector-plugin/trace/instrument.h"
#include "collector-plugin/trace/trace.h"

/* ---- longjmp ---- */

/* The real function for a kind of jump. It is looked up before main(), since a signal handler may jump. */
typedef void jump(void *env, int value);
static jump *next_jump[4];
static const char *const jumps[] = { "longjmp", "_longjmp", "siglongjmp", "__longjmp_chk" };

__attribute__((constructor(102))) static void find_jumps(void)
{
	int i;

	for (i = 0; i < 4; i++) {
		next_jump[i] = (jump *)dlsym(RTLD_NEXT, jumps[i]);
	}
}

/* Returns the stack pointer after the jump; 0: unknown on this machine. glibc stores it encrypted with a secret of
 * the process. */
static uintptr_t stack_after(const void *env)
{
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__ILP32__)
	uintptr_t sp;

	memcpy(&sp, (const char *)env + 6 * sizeof(sp), sizeof(sp));
	__asm__("ror $17, %0\n\txor %%fs:0x30, %0" : "+r"(sp) : : "cc");
	return sp;
#else
	(void)env;
	return 0;
#endif
}

static __attribute__((noreturn)) void jump_on(int kind, void *env, int value)
{
	vt_instrument_swapped(stack_after(env));
	if (vt_tls.trace && vt_collect_running()) {
		vt_trace_jump(stack_after(env));
	}
	if (!next_jump[kind]) {
		find_jumps();
	}
	next_jump[kind](env, value);
	abort();
}

void longjmp(void *env, int value) __attribute__((noreturn));
void _longjmp(void *env, int value) __attribute__((noreturn));
void siglongjmp(void *env, int value) __attribute__((noreturn));
void __longjmp_chk(void *env, int value) __attribute__((noreturn));

void longjmp(void *env, int value)
{
	jump_on(0, env, value);
}

void _longjmp(void *env, int value)
{
	jump_on(1, env, value);
}

void siglongjmp(void *env, int value)
{
	jump_on(2, env, value);
}

void __longjmp_chk(void *env, int value)
{
	jump_on(3, env, value);
}

/* ---- other stacks ---- */

static uintptr_t stack_of_context(const ucontext_t *u)
{
#if defined(__x86_64__) && defined(REG_RSP)
	return u ? (uintptr_t)u->uc_mcontext.gregs[REG_RSP] : 0;
#else
	(void)u;
	return 0;
#endif
}

static int (*next_swap)(ucontext_t *, const ucontext_t *);
static int (*next_set)(const ucontext_t *);

__attribute__((constructor(102))) static void find_switches(void)
{
	next_swap = (int (*)(ucontext_t *, const ucontext_t *))dlsym(RTLD_NEXT, "swapcontext");
	next_set = (int (*)(const ucontext_t *))dlsym(RTLD_NEXT, "setcontext");
}

int swapcontext(ucontext_t *from, const ucontext_t *to)
{
	vt_instrument_swapped(stack_of_context(to));
	if (!next_swap) {
		find_switches();
	}
	return next_swap(from, to);
}

/* Sets the stack back, as longjmp() does, or goes to another one. */
int setcontext(const ucontext_t *to)
{
	vt_instrument_swapped(stack_of_context(to));
	if (vt_tls.trace && vt_collect_running()) {
		vt_trace_jump(stack_of_context(to));
	}
	if (!next_set) {
		find_switches();
	}
	return next_set(to);
}

/* ---- dlclose ---- */

int dlclose(void *handle)
{
	int (*next)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
	int rc = next ? next(handle) : -1;

	vt_instrument_unloaded();
	return rc;
}
