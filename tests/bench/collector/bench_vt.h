/* SPDX-License-Identifier: BSD-3-Clause */
/* What the VT interface is compared with. */
#ifndef TESTS_BENCH_BENCH_VT_H
#define TESTS_BENCH_BENCH_VT_H

/* OTF2: an archive in the current folder with one location and one metric class of k members. Returns 0, or -1: this
 * build has no OTF2. */
int bench_vt_otf2_open(unsigned k);
/* n times clock_gettime() and OTF2_EvtWriter_Metric(); seconds of processor time. */
double bench_vt_otf2(int n, unsigned k);
int bench_vt_otf2_close(void);

/* In a shared library: a call through the PLT that does nothing. */
int bench_vt_empty(int a, int b);

#endif
