/* SPDX-License-Identifier: BSD-3-Clause */
/* A line STATE, SYMBOL or ACTIVITY (Intel Trace Collector guide, sections 2.5.2 and 2.12): a pattern of function
 * names, and how these functions are recorded. */
#ifndef COLLECTOR_PLUGIN_SETTINGS_RULE_H
#define COLLECTOR_PLUGIN_SETTINGS_RULE_H

#include <stddef.h>

enum vt_rule_word { VT_RULE_UNSAID = -1, VT_RULE_OFF = 0, VT_RULE_ON = 1 };

enum vt_action { VT_TRACEON, VT_TRACEOFF, VT_RESTORE, VT_BEGIN_SCOPE, VT_END_SCOPE };

/* entry or exit [<triplet>] <action> ...; n 0: there is no trigger. */
struct vt_trigger {
	int n;
	enum vt_action action[4];
	char scope[4][100];       /* for VT_BEGIN_SCOPE and VT_END_SCOPE */
	long first, last, stride; /* ranks; last -1: to the end */
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
/* Parses the text after the name. Returns 0, or -1 with the reason in why. */
int vt_rule_parse(const char *name, const char *text, struct vt_rule *r, char *why, size_t size);
/* Matches extended shell patterns: * and ? do not match a colon, ** does; [] is a list. Upper and lower case are
 * equal. */
int vt_rule_match(const char *pattern, const char *text);

#endif
