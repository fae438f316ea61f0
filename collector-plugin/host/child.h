/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting a program of ours from a foreign one. The child shares the memory of the caller, which is stopped until the exec, so
 * nothing is copied and no atfork handler runs. */
#ifndef COLLECTOR_PLUGIN_HOST_CHILD_H
#define COLLECTOR_PLUGIN_HOST_CHILD_H

#include <stddef.h>

/* Runs child(arg) as a process on that stack (its end), until it calls exec or the system call exit. It may make system calls only. It
 * sends no signal to the caller at its end. Returns its id, or -1 with errno. */
int vt_child_start(int (*child)(void *arg), char *stack_end, void *arg);
/* Waits for its end. Returns the wait status, or -1 with errno. */
int vt_child_wait(int pid);
/* In the child: signals as a new program wants them. */
void vt_child_signals(void);
/* The environment without what loads something into the child or is meant for the measured program, at most `most` variables and a NULL
 * after them. The texts stay those of the environment. */
void vt_child_environment(char **to, int most);

#endif
