/* SPDX-License-Identifier: BSD-3-Clause */
/* A line STATE, SYMBOL or ACTIVITY (Intel Trace Collector guide, sections 2.5.2 and 2.12): a pattern of function
 * names, and how these functions are recorded. */
#ifndef COLLECTOR_PLUGIN_SETTINGS_RULE_H
#define COLLECTOR_PLUGIN_SETTINGS_RULE_H

#include <stddef.h>

#include "base/text/text.h"

enum vt_rule_word { VT_RULE_UNSAID = -1, VT_RULE_OFF = 0, VT_RULE_ON = 1 };

enum vt_action { VT_TRACEON, VT_TRACEOFF, VT_RESTORE, VT_BEGIN_SCOPE, VT_END_SCOPE };

/* entry or exit [<triplets>] <action> ... */
struct vt_trigger {
	int n;
	enum vt_action action[4];
	char scope[4][100]; /* for VT_BEGIN_SCOPE and VT_END_SCOPE */
	int n_ranks;        /* 0: there is no trigger */
	struct tkm_triplet ranks[8];
};

struct vt_rule {
	char pattern[300];        /* matches "class:name" */
	enum vt_rule_word record; /* ON, a level; OFF */
	int level, skip;          /* of the call stack, 0 to 15; level -1: as PCTRACE says */
	enum vt_rule_word fold;   /* FOLD; UNFOLD is OFF */
	enum vt_rule_word count;  /* COUNTERON, COUNTEROFF */
	char caller[300];         /* "": any */
	struct vt_trigger entry, exit;
};

/* Is `name` STATE, SYMBOL or ACTIVITY? */
int vt_rule_name(const char *name);
/* Parses the text after the name. Returns 0, or -1 with the reason in why. Unless rest is NULL, another pattern with its rules may follow:
 * *rest is the blank before it, or the end. Cold: it runs at the start only, and is made small. */
int vt_rule_parse(const char *name, const char *text, struct vt_rule *r, const char **rest, char *why, size_t size)
	__attribute__((cold));
/* Parses LEVELS or SKIP:LEVELS of the call stack, each 0 to 15, as for PCTRACE. Returns 0 or -1. */
int vt_rule_levels(const char *text, int *skip, int *level);
/* Matches extended shell patterns: * and ? do not match a colon, ** does; [] is a list. Upper and lower case are
 * equal. */
int vt_rule_match(const char *pattern, const char *text);

#endif
