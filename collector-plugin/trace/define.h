/* SPDX-License-Identifier: BSD-3-Clause */
/* The definitions that events refer to: classes, functions, scopes and source locations. Each is recorded once in the
 * raw file, with a number (Intel Trace Collector guide, sections 3.1.4 to 3.1.6). The same text gets the same number
 * again. 0 is no number: there is no memory. Any thread may call. core/names.h has vt_class() and vt_function(). */
#ifndef COLLECTOR_PLUGIN_TRACE_DEFINE_H
#define COLLECTOR_PLUGIN_TRACE_DEFINE_H

#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/names.h"
#include "collector-plugin/core/thread.h"

/* The full name of class `id`; NULL: there is none. The text stays valid. */
VT_HIDDEN const char *vt_class_name(uint32_t id);

/* Defines a function by a name without colons at its ends. The parts up to the last colon are classes inside
 * `class_name` ("": none). Without either, the class is "Application". */
VT_HIDDEN uint32_t vt_function_in(struct vt_collect *c, const char *class_name, const char *clean);

/* Defines a function by its offset in an object of vt_raw_object(); `name` is what the dynamic linker calls it, or
 * "". */
VT_HIDDEN uint32_t vt_function_at(
	struct vt_collect *c, const char *class_name, uint32_t object, uint64_t offset, const char *name);

/* Is DEMANGLE on? */
VT_HIDDEN int vt_demangle_wanted(void);

/* VT_symdef(): the program's own number for a function. Returns 0; -1: the number already means another function; -2:
 * no space left. */
VT_HIDDEN int vt_function_number(int number, uint32_t function);
/* The function of a handle of VT_funcdef() or VT_symdef(). 0: there is none. */
enum { VT_FUNCTION_HANDLE = 0x40000000 }; /* the handle is this plus the id */
VT_HIDDEN uint32_t vt_function_numbered(int number);
static inline uint32_t vt_function_of(int handle)
{
	/* ids are checked where they are used */
	return handle & VT_FUNCTION_HANDLE && handle > 0 ? (uint32_t)handle & ~(uint32_t)VT_FUNCTION_HANDLE
							 : vt_function_numbered(handle);
}

VT_HIDDEN uint32_t vt_location(struct vt_collect *c, const char *file, int line);
/* A call stack, numbered like a location. */
struct vt_raw_place;
VT_HIDDEN uint32_t vt_location_stack(struct vt_collect *c, const struct vt_raw_place *place, uint32_t n);
/* Is there a location, or a scope, with this number? */
VT_HIDDEN int vt_location_known(uint32_t id);
/* Defines a file that is read or written. communicator: its number in the raw file, 0: none. After 0x4000 files, all
 * others have one number in common. */
VT_HIDDEN uint32_t vt_file(struct vt_collect *c, const char *name, uint32_t communicator);
VT_HIDDEN uint32_t vt_scope_in(
	struct vt_collect *c, const char *class_name, const char *clean, uint32_t scl1, uint32_t scl2);
VT_HIDDEN int vt_scope_known(uint32_t id);

#endif
