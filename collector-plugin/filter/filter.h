/* SPDX-License-Identifier: BSD-3-Clause */
/* What the lines STATE, SYMBOL and ACTIVITY say of each function (Intel Trace Collector guide, sections 2.5.2 and 2.12). Decided once, when the function is
 * defined; what depends on the caller is a bit of the caller's. */
#ifndef COLLECTOR_PLUGIN_FILTER_FILTER_H
#define COLLECTOR_PLUGIN_FILTER_FILTER_H

#include <stdint.h>

#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/thread.h"
#include "collector-plugin/settings/rule.h"

enum {
	VT_FILTER_CALLERS = 16,           /* patterns of callers at most */
	VT_FILTER_FIRST_CALLER = 1 << 16, /* the bit of the first of them */
};

struct vt_verdict {
	int record;       /* 0: rejected */
	int fold;         /* 1 fold, 0 unfold, -1 as the caller */
	int count;        /* 0: no counters are sampled at it */
	int level, skip;  /* of the call stack; level -1: as PCTRACE says */
	uint32_t callers; /* bits of the patterns that it matches itself as a caller */
	/* where the caller matches caller_bit, these instead */
	uint32_t caller_bit; /* 0: no matter who calls */
	int called_record, called_fold;
	const struct vt_trigger *entry, *exit; /* or NULL */
};

/* Reads the rules. Before the first definition. */
VT_HIDDEN void vt_filter_start(const struct vt_settings *s);
/* Are there rules that a function's name matters to? */
VT_HIDDEN int vt_filter_any(void);
/* Are there any that look at callers or fold? */
VT_HIDDEN int vt_filter_context(void);
VT_HIDDEN void vt_filter_decide(const char *class_name, const char *name, struct vt_verdict *v);

#endif
