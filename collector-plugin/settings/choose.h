/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the values of PROCESS and CLUSTER (Intel Trace Collector guide, sections 2.5.3 and 3.2.3). */
#ifndef COLLECTOR_PLUGIN_SETTINGS_CHOOSE_H
#define COLLECTOR_PLUGIN_SETTINGS_CHOOSE_H

#include <stddef.h>

#include "base/err.h"

/* Copies the next field at *text to `to`. Quotes keep blanks in the field (Intel Trace Collector guide, section
 * 3.2.1). If `lists` is 1, commas do the same, with or without blanks around them: "0:3, 5". Returns the field's
 * length, 0 at the end. */
size_t vt_choose_field(const char **text, char *to, size_t size, int lists);
/* Evaluates "triplets [state] triplets [state] ...", or a state first, which is that of all. The last list that contains the number (0 to `last`) sets
 * *state: 0 on, 1 off, 2 no or discard. Returns 0, or -1 with the wrong word in err; then the whole text is ignored. */
int vt_choose(const char *text, long long number, long long last, int *state, struct tkm_err *err);

#endif
