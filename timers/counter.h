/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the cycle counter inline, without a function call. */
#ifndef TIMERS_COUNTER_H
#define TIMERS_COUNTER_H

#include <stdint.h>

/* The raw counter behind CPU and CPU_Norm: TSC on x86, CNTVCT_EL0 on aarch64. */
#if defined(__x86_64__) || defined(__i386__)
#define TMR_HAVE_COUNTER 1
static inline int64_t tmr_counter(void)
{
	return (int64_t)__builtin_ia32_rdtsc();
}
static inline int64_t tmr_counter_ordered(void)
{
	__builtin_ia32_lfence();
	return (int64_t)__builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
#define TMR_HAVE_COUNTER 1
static inline int64_t tmr_counter(void)
{
	int64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
}
static inline int64_t tmr_counter_ordered(void)
{
	int64_t v;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(v) : : "memory");
	return v;
}
#else
#define TMR_HAVE_COUNTER 0
#endif

#endif
