/* SPDX-License-Identifier: BSD-3-Clause */
/* The executable and the libraries of the process: finds the one that an address is in. Each gets a number in the raw
 * file when a definition first refers to it, so that the merge can find names and source lines in its file. */
#ifndef COLLECTOR_PLUGIN_TRACE_OBJECTS_H
#define COLLECTOR_PLUGIN_TRACE_OBJECTS_H

#include <pthread.h>
#include <stdint.h>

#include "collector-plugin/host/lock.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/thread.h"
#include "collector-plugin/host/program/symbols.h"

struct vt_object {
	uintptr_t base, end; /* the addresses at which it is loaded; 0: it was unloaded */
	uint32_t id;         /* its number in the raw file */
	struct vt_symbols *symbols;
	int looked;
	int program; /* the executable, not a library */
	char path[1000], cls[100];
	uint8_t build_id[VT_BUILD_ID];
	size_t build_id_size;
};

/* The caller must hold this lock in all calls below. */
extern struct vt_lock vt_objects_lock VT_HIDDEN;

/* Makes the table. Returns 0 or -1. */
VT_HIDDEN int vt_objects_start(void);
/* The object that this address is in; NULL: none, or there is no space for it. */
VT_HIDDEN struct vt_object *vt_object_of(struct vt_collect *c, uintptr_t address);
/* The name of a function of the object, from its symbol table; `known` if it has no such name. */
VT_HIDDEN const char *vt_object_name(struct vt_object *o, uint64_t offset, const char *known);
/* Forgets the libraries that have been unloaded, and calls gone() for each. Returns how many. */
VT_HIDDEN int vt_objects_forget(void (*gone)(const struct vt_object *o));
VT_HIDDEN VT_IN_CHILD void vt_objects_forked(void);

#endif
