/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface between the functions that replace libc's (system_calls.c) and those that record them (system.c).
 * With libVTcs.so the former are in a library of their own, libVTsystem.so, because few runs need them. */
#ifndef COLLECTOR_PLUGIN_TRACE_SYSTEM_CALLS_H
#define COLLECTOR_PLUGIN_TRACE_SYSTEM_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "collector-plugin/raw/events.h"

/* A call of the program that is under way. */
struct vt_system_call {
	int on, error;
	uint32_t id, file;
	enum vt_raw_io kind;
};

/* The functions that system_calls.c calls. All of them keep errno as the program must see it. */
struct vt_system_own {
	/* function: its place in system_calls.def; sp: the program's stack pointer */
	void (*enter)(struct vt_system_call *k, unsigned function, uintptr_t sp);
	void (*leave)(const struct vt_system_call *k);
	/* report the bytes that the call moves, before it and after it */
	void (*moves)(struct vt_system_call *k, enum vt_raw_io kind, int fd, uint64_t bytes);
	void (*moved)(const struct vt_system_call *k, uint64_t bytes);
	/* the descriptor means another file from now on */
	void (*forget)(int fd);
};

struct vt_system_function {
	const char *symbol, *next; /* the function that the program calls, and the function that is called for it */
	void *own;
};

/* In the order of system_calls.def. */
struct vt_system_table {
	const char *version;
	size_t n;
	const struct vt_system_function *function;
	void **next; /* to be filled in before a function is called */
};

/* Returns the table, or NULL, after a message, if the library cannot be loaded. `own` must stay valid for good. */
typedef const struct vt_system_table *vt_system_start_calls(const struct vt_system_own *own);
#define VT_SYSTEM_START "vt_system_begin"
vt_system_start_calls vt_system_begin;

#endif
