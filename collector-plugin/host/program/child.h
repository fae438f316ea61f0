/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts a Tickmark program from inside the measured program. The child shares the memory of the caller, which is
 * stopped until the child calls exec, so nothing is copied and no atfork handler runs. */
#ifndef COLLECTOR_PLUGIN_HOST_PROGRAM_CHILD_H
#define COLLECTOR_PLUGIN_HOST_PROGRAM_CHILD_H

#include <stddef.h>

/* The clone() of ThreadSanitizer takes every child for one with memory of its own. Where the child shares it, it no longer sees
 * any lock of the caller after the call. */
#ifdef __SANITIZE_THREAD__
int __clone(int (*child)(void *arg), void *stack_end, int flags, void *arg, ...);
#define VT_CLONE __clone
#else
#define VT_CLONE clone
#endif

/* Runs child(arg) as a process, on the stack that ends at stack_end, until it calls exec or the system call exit.
 * child() may make system calls only. The process sends no signal to the caller when it ends. Returns its process
 * id, or -1 with errno. */
int vt_child_start(int (*child)(void *arg), char *stack_end, void *arg);
/* Waits for the end of the child. Returns the wait status, or -1 with errno. */
int vt_child_wait(int pid);
/* To be called in the child: sets signals to what a new program expects. */
void vt_child_signals(void);
/* Copies the environment to `to`, at most `most` variables and a NULL after them. Variables that would load a
 * library into the child or that are meant for the measured program are left out. The strings themselves are not
 * copied. */
void vt_child_environment(char **to, int most);

#endif
