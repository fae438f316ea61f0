/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparing identities: boot ids, hosts, devices. What could not be read is the empty text. */
#ifndef BASE_KNOWN_H
#define BASE_KNOWN_H

#include <string.h>

/* Tests whether two identities are one. Two that are unknown are not: they may be of different things. */
static inline int tkm_known_equal(const char *a, const char *b)
{
	return a[0] && strcmp(a, b) == 0;
}

#endif
