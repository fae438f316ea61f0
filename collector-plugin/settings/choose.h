/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of PROCESS and CLUSTER (Intel Trace Collector guide, sections 2.5.3 and 3.2.3). */
#ifndef COLLECTOR_PLUGIN_SETTINGS_CHOOSE_H
#define COLLECTOR_PLUGIN_SETTINGS_CHOOSE_H

#include <stddef.h>

#include "base/err.h"

/* The next field at *text, into `to`: quotes hold blanks together (Intel Trace Collector guide, section 3.2.1), and so does a comma, with
 * blanks around it or not, if lists is 1: "0:3, 5". Returns its length, 0 at the end. */
size_t vt_choose_field(const char **text, char *to, size_t size, int lists);
/* "triplets [state] triplets [state] ...": the last that names the number, of 0 to `last`, says its *state: 0 on, 1 off, 2 no or discard.
 * Returns 0, or -1 with the word that is wrong: then nothing of the text holds. */
int vt_choose(const char *text, long long number, long long last, int *state, struct tkm_err *err);

#endif
