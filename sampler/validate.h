/* SPDX-License-Identifier: BSD-3-Clause */
/* Does a counter count? Loops whose instructions, bytes, packets and faults are known, and the verdict. */
#ifndef SAMPLER_VALIDATE_H
#define SAMPLER_VALIDATE_H

#include "sampler/source.h"

enum smp_verdict {
	SMP_ACCEPT,  /* the loop's own number, within the tolerance */
	SMP_WARN,    /* near it, or not known well enough */
	SMP_REFUSE,  /* something else: do not use it */
	SMP_UNTRIED, /* no loop of known size for it, or the loop did not run here; text says why */
};

struct smp_validation {
	enum smp_verdict verdict;
	double measured, expected; /* per unit of the loop's work; both 0 where there is no number */
	char text[SMP_TEXT];       /* one line: against what, and what to do */
};

/* Tries one counter that can be opened, on this process and thread. Takes up to half a second. */
void smp_validate(const struct smp_planned *p, struct smp_validation *v);

/* ---- the loops (works.c) ------------------------------------------------------------------------- */

/* Does n units of work; returns 0, or -1 when it cannot be done here. */
int smp_work_loop(uint64_t n);    /* n times round a loop of two instructions, one of them a branch */
int smp_work_faults(uint64_t n);  /* n fresh pages touched */
int smp_work_spin(uint64_t n);    /* n ms of this thread's CPU time in user code */
int smp_work_pipe(uint64_t n);    /* n KiB written and as many read */
int smp_work_calls(uint64_t n);   /* n write and n read system calls */
int smp_work_sleep(uint64_t n);   /* n times asleep */
int smp_work_packets(uint64_t n); /* n datagrams of 1000 bytes over the loopback interface */
int smp_work_disk(uint64_t n);    /* n MiB written to a file in the working directory, and forced to disk */
int smp_work_memory(uint64_t n);  /* n MiB in RAM, until the next call; 0 frees them */
int smp_work_wait(uint64_t n);    /* n ms passed */
int smp_work_mixed(uint64_t n);   /* n rounds of what makes any event of a CPU happen: cache and TLB misses, wrong
				   * branches, loads, stores, multiplications, floating point, faults, sleeping */
/* Loopback bytes of one datagram of smp_work_packets(), sent and received: with IP and UDP headers, since the kernel
 * takes the Ethernet header off before it counts there. */
enum { SMP_PACKET_BYTES = 2 * (1000 + 20 + 8) };

#endif
