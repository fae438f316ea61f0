/* SPDX-License-Identifier: BSD-3-Clause */
/* What the machine states about the frequency and the quality of its cycle counter. */
#ifndef TIMERS_CPU_HZ_H
#define TIMERS_CPU_HZ_H

/* What the counter behind the timer CPU is. */
#if defined(__x86_64__) || defined(__i386__)
#define TMR_COUNTER_NAME "time stamp counter"
#elif defined(__aarch64__)
#define TMR_COUNTER_NAME "generic counter CNTVCT_EL0 (not processor cycles)"
#else
#define TMR_COUNTER_NAME "none"
#endif

/* Nominal frequency of the counter behind the timer CPU, in Hz, and in *from who says so: CPUID 0x15
 * with a crystal frequency (Intel SDM), the hypervisor's timing leaf 0x40000010, CNTFRQ_EL0, or the
 * kernel. Returns 0 and *from NULL when it is unknown. CPUID 0x16 gives whole MHz of the core, not of
 * the counter, and is not taken. */
double tmr_cpu_hz(const char **from);

/* The frequency that the kernel uses for the counter, in Hz: from the factors of perf_event_mmap_page, else (x86) from
 * bogomips, which the kernel computes from the TSC's frequency. 0 and *from NULL if the kernel states neither. */
double tmr_kernel_hz(const char **from);

/* The first of these two: 0 if the page has no factors. */
struct perf_event_mmap_page;
double tmr_hz_of_page(const struct perf_event_mmap_page *p);

/* Invariant TSC (CPUID 0x80000007 EDX bit 8), or an aarch64 generic counter, which is so by
 * definition: 1 yes, 0 no, -1 no such counter. */
int tmr_cpu_invariant(void);

/* Name of the hypervisor ("KVMKVMKVM"), "" on bare metal or when it does not say. buf: 13 bytes. */
const char *tmr_hypervisor(char *buf);

#endif
