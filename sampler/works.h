/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops whose instructions, bytes, packets and faults are known. */
#ifndef SAMPLER_WORKS_H
#define SAMPLER_WORKS_H

#include <stdint.h>

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
