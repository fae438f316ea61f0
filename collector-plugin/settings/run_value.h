/* SPDX-License-Identifier: BSD-3-Clause */
/* The variable by which vtrun passes information to the library. */
#ifndef COLLECTOR_PLUGIN_RUN_VALUE_H
#define COLLECTOR_PLUGIN_RUN_VALUE_H

#include <stddef.h>

/* What vtrun tells the library, in one variable: words KEY=VALUE, separated by tabs. */
#define VT_RUN_VARIABLE "TICKMARK_RUN"
/* Keys: pid (of the program to sample), job, join, rank and ranks (vtrun --join), follow (0, 1), commanded (options of the command line), set (variables
 * that vtrun added), raw (raw file of the first program), preload (former value of LD_PRELOAD), prog (name of the program as given), trace, err (DEVICE:INODE of the file that
 * is vtrun's standard error), cpu (PID:NS,
 * vt_sampler_cpu() of the program that ran in this process before an exec).
 * Returns the value of a key in text, in buf, or NULL if the key is missing. */
/* The value of a key in text, in buf; NULL if it is not there. */
const char *vt_run_value(const char *text, const char *key, char *buf, size_t size);

/* Is process `of`, which has this text, a child of the process that vtrun started, followed because of
 * FOLLOW-CHILDREN? */
int vt_run_child(const char *text, int of);

/* Returns the rank that an MPI launcher gave this process by a variable; -1: none. */
int vt_launcher_rank(void);

/* Names the job of this process: as the launcher of the MPI job does, or (batch 1) as the batch system, else a name that
 * no other process has. */
void vt_job_name(int batch, char *job, size_t size);
/* Names the job of a contact word (collector-plugin/net/contact.h): a hash, which does not give the word away. */
void vt_word_job(const char *word, char *job, size_t size);
/* proxy.c, which is not in libVTcs.so. Names the job of a rank that MPICH's launcher started; -1: it did not. */
__attribute__((weak)) int vt_proxy_job(char *job, size_t size);

#endif
