/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that the program defines, and their numbers in the raw file. */
#ifndef COLLECTOR_PLUGIN_CORE_NAMES_H
#define COLLECTOR_PLUGIN_CORE_NAMES_H

#include <pthread.h>
#include <stdint.h>

#include "base/table.h"
#include "collector-plugin/host/lock.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/thread.h"

/* A table from text to number, 1, 2, 3, ... in the order of arrival; names are never forgotten. Any thread. */
struct vt_names {
	struct vt_lock lock;
	struct tkm_table table; /* of numbers */
	const char **key;       /* by number - 1 */
	uint32_t n, room;
};
#define VT_NAMES_INIT \
	{ \
		.lock = VT_LOCK_INIT \
	}
/* The number of key; *fresh is 1 when it was not there before. 0: no memory. */
VT_HIDDEN uint32_t vt_names_number(struct vt_names *t, const char *key, int *fresh);
/* Around a call of it and the recording of what is fresh: another thread that gets the same number must not refer to it in
 * the raw file, or record values of it, before its definition. May be nested. */
VT_HIDDEN void vt_names_define(void);
VT_HIDDEN void vt_names_defined(void);
/* Is there a name in any table? */
VT_HIDDEN int vt_names_any(void);
/* How many there are. */
VT_HIDDEN uint32_t vt_names_count(struct vt_names *t);
/* The text of number 1 to count; it stays. */
VT_HIDDEN const char *vt_names_text(struct vt_names *t, uint32_t number);

/* ":A::B:" as "A:B" in a buffer that is to be freed; "" for NULL. NULL: no memory. */
VT_HIDDEN char *vt_clean_name(const char *name);

/* The number of a class, its parents before it, or of a function; recorded. 0: no memory. */
VT_HIDDEN uint32_t vt_class(struct vt_collect *c, const char *clean);
VT_HIDDEN uint32_t vt_function(struct vt_collect *c, const char *class_name, const char *name);

#endif
