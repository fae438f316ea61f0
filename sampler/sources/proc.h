/* SPDX-License-Identifier: BSD-3-Clause */
/* The folders of processes below /proc. */
#ifndef SAMPLER_SOURCES_PROC_H
#define SAMPLER_SOURCES_PROC_H

#include "base/text/printed.h"
#include "sampler/private.h"

/* The name of the folder of a process, in `name` or a constant. "self" is right even where /proc belongs to another PID
 * namespace than getpid(). */
const char *smp_task_folder(const struct smp_env *env, int32_t pid, char name[16]);

/* The number of a thread in the folder "task" of a process, and the number by which system calls know the one with this name there: they
 * differ where /proc belongs to another PID namespace. 0: there is none. */
int32_t smp_task_shown(const struct smp_env *env, int32_t pid, int32_t tid);
int32_t smp_task_known(const struct smp_env *env, int32_t pid, const char *name);

/* As smp_file_read(), of /proc/PID/stat. In vtsampler the text may be one that another source has read, up to before_us ago. */
enum { SMP_STAT_SIZE = 1024, SMP_SAME_SAMPLE_US = 500 };
ssize_t smp_task_stat(const struct smp_file *f, int32_t pid, char text[SMP_STAT_SIZE], int before_us);

/* Why a file of a process cannot be read (errnum), or has no such number (0). */
void smp_task_why(const struct smp_env *env, const char *path, int errnum, char why[SMP_TEXT]);

#endif
