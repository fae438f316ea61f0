/* SPDX-License-Identifier: BSD-3-Clause */
/* To be preloaded: getrandom() gives the same bytes each time. So two traces have the same identity and can be
 * compared byte by byte. */
#include <string.h>
#include <sys/random.h>

ssize_t getrandom(void *p, size_t n, unsigned flags)
{
	(void)flags;
	memset(p, 1, n);
	return (ssize_t)n;
}
