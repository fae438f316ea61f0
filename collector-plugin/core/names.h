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

/* A table from text to number: 1, 2, 3, ... in the order of arrival. Names are never removed. Any thread may use it. */
struct vt_names {
	struct tkm_table table; /* of numbers */
	const char **key;       /* by number - 1 */
	uint32_t n;
	size_t room;
};
/* Returns the number of key; *fresh is 1 if it was not in the table before. 0: no memory. */
VT_HIDDEN uint32_t vt_names_number(struct vt_names *t, const char *key, int *fresh);
/* To be called around vt_names_number() and the recording of a new definition. Another thread that gets the same
 * number must not use it in the raw file before its definition. May be nested. */
VT_HIDDEN void vt_names_define(void);
VT_HIDDEN void vt_names_defined(void);
/* To be called around a fork() whose child defines names, too: no other thread is inside a definition at the moment of the fork. If
 * one stays in it for a second, the fork waits no longer. Then the second returns 0, and the child must use no names. */
VT_HIDDEN void vt_names_before_fork(void);
VT_HIDDEN int vt_names_after_fork(int child);
/* Does any table have a name? */
VT_HIDDEN int vt_names_any(void);
/* Returns the number of names. */
VT_HIDDEN uint32_t vt_names_count(struct vt_names *t);
/* Returns the text of a number from 1 to vt_names_count(). It stays valid. */
VT_HIDDEN const char *vt_names_text(struct vt_names *t, uint32_t number);

/* Returns ":A::B:" as "A:B" in a buffer that the caller frees; "" for NULL. NULL: no memory. */
VT_HIDDEN char *vt_clean_name(const char *name);

/* Returns the number of a class, or of a function, and records its definition. Parents of a class come first. 0: no
 * memory. */
VT_HIDDEN uint32_t vt_class(struct vt_collect *c, const char *clean);
VT_HIDDEN uint32_t vt_function(struct vt_collect *c, const char *class_name, const char *name);

#endif
