/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the functions that replace libc's (system_calls.c) and what records them (system.c). With libVTcs.so the former are a
 * library of their own, libVTsystem.so, because few runs want them. */
#ifndef COLLECTOR_PLUGIN_TRACE_SYSTEM_CALLS_H
#define COLLECTOR_PLUGIN_TRACE_SYSTEM_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "collector-plugin/raw/events.h"

/* A call of the program while it lasts. */
struct vt_system_call {
	int on, error;
	uint32_t id, file;
	enum vt_raw_io kind;
};

/* What system_calls.c calls. All of them leave errno as the program may see it. */
struct vt_system_own {
	/* function: its place in system.def; sp: the program's stack */
	void (*enter)(struct vt_system_call *k, unsigned function, uintptr_t sp);
	void (*leave)(const struct vt_system_call *k);
	/* of the bytes that the call moves: before, and after it */
	void (*moves)(struct vt_system_call *k, enum vt_raw_io kind, int fd, uint64_t bytes);
	void (*moved)(const struct vt_system_call *k, uint64_t bytes);
	/* the descriptor stands for another file from now on */
	void (*forget)(int fd);
};

struct vt_system_function {
	const char *symbol, *next; /* what the program calls, and what is called for it */
	void *own;
};

/* In the order of system.def. */
struct vt_system_table {
	const char *version;
	size_t n;
	const struct vt_system_function *function;
	void **next; /* to be filled in before a function is called */
};

/* NULL, after a message: the library cannot be loaded. `own` stays for good. */
typedef const struct vt_system_table *vt_system_start_calls(const struct vt_system_own *own);
#define VT_SYSTEM_START "vt_system_begin"
vt_system_start_calls vt_system_begin;

#endif
