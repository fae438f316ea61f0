/* SPDX-License-Identifier: BSD-3-Clause */
/* The wildcards of the Intel Trace Collector guide (section 3.2, STATE), and rules that use them. */
#ifndef BASE_TEXT_GLOB_H
#define BASE_TEXT_GLOB_H

#include "base/err.h"

/* Does name match the pattern? '*' matches any number of characters but the colon, '**' any with the colon, '?' one but
 * the colon, '[...]' one of a list or range ("[!...]" none of it); '\' takes the next as it is. Upper and lower case are
 * alike (3.2.1). Returns 1 or 0. */
int tkm_glob_match(const char *pattern, const char *name);

/* Is the pattern a plain name, without wildcards? */
int tkm_glob_is_name(const char *pattern);

/* May any name that begins with `prefix` match? */
int tkm_glob_may_match(const char *pattern, const char *prefix);

/* A rule switches what its pattern matches on or off. */
struct tkm_glob_rule {
	char pattern[240];
	int on;
	int adds; /* "+pattern": it adds to what is on without any rule */
};

/* Reads "[+]<pattern> [on|off]", the text of this option. Returns 0, or -1 with err. */
int tkm_glob_rule_parse(const char *option, const char *text, struct tkm_glob_rule *r, struct tkm_err *err);

#endif
