/* SPDX-License-Identifier: BSD-3-Clause */
/* What the options STATE, SYMBOL and ACTIVITY say about each function (Intel Trace Collector guide, sections 2.5.2
 * and 2.12). The filter decides once, when the function is defined. Where the decision depends on the caller, the
 * caller has a bit that tells which patterns of callers it matches. */
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
	int level, skip;  /* of the call stack; level -1: see PCTRACE */
	uint32_t callers; /* the patterns of callers that it matches itself, one bit each */
	/* what applies if the caller has caller_bit, in place of `record` and `fold` */
	uint32_t caller_bit; /* 0: no matter who calls */
	int called_record, called_fold;
	const struct vt_trigger *entry, *exit; /* or NULL */
};

/* Reads the rules. Must be called before the first function is defined. */
VT_HIDDEN void vt_filter_start(const struct vt_settings *s);
/* Is there a rule that depends on a function's name? */
VT_HIDDEN int vt_filter_any(void);
/* Is there a rule that depends on the caller or that folds? */
VT_HIDDEN int vt_filter_context(void);
VT_HIDDEN void vt_filter_decide(const char *class_name, const char *name, const char *other, struct vt_verdict *v);

#endif
