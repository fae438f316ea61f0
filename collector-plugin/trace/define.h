/* SPDX-License-Identifier: BSD-3-Clause */
/* What events refer to: classes, functions, scopes and source locations, defined once each and recorded with their numbers in the
 * raw file (Intel Trace Collector guide, sections 3.1.4 to 3.1.6). The same text again is the same number. Any thread. See core/names.h for
 * vt_class() and vt_function(). 0 is no number: no memory. */
#ifndef COLLECTOR_PLUGIN_TRACE_DEFINE_H
#define COLLECTOR_PLUGIN_TRACE_DEFINE_H

#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/names.h"
#include "collector-plugin/core/thread.h"

/* The full name of class `id`; NULL: there is none. It stays. */
VT_HIDDEN const char *vt_class_name(uint32_t id);

/* A name without colons at its ends, of which the parts up to the last colon are classes inside `class_name` ("" : none). Without
 * either the class is "Application". */
VT_HIDDEN uint32_t vt_function_in(struct vt_collect *c, const char *class_name, const char *clean);

/* A function by its place in an object of vt_raw_object(); `name` if the dynamic linker knows one, else "". */
VT_HIDDEN uint32_t vt_function_at(
	struct vt_collect *c, const char *class_name, uint32_t object, uint64_t offset, const char *name);

/* DEMANGLE is on. */
VT_HIDDEN int vt_demangle_wanted(void);

/* VT_symdef(): the program's own number for a function. Returns 0, -1: it stands for another one; -2: no place left. */
VT_HIDDEN int vt_function_number(int number, uint32_t function);
/* The function of a handle: of VT_funcdef(), or of VT_symdef(). 0: there is none. */
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
/* Has this number been given to a location, to a scope? */
VT_HIDDEN int vt_location_known(uint32_t id);
/* A file that bytes are moved to or from; communicator: its number in the raw file, 0: none. After 0x4000 of them all others are one. */
VT_HIDDEN uint32_t vt_file(struct vt_collect *c, const char *name, uint32_t communicator);
VT_HIDDEN uint32_t vt_scope_in(
	struct vt_collect *c, const char *class_name, const char *clean, uint32_t scl1, uint32_t scl2);
VT_HIDDEN int vt_scope_known(uint32_t id);

#endif
