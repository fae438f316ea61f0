/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers in files and messages are those of the C locale, whatever the program has set for itself. */
#ifndef COLLECTOR_PLUGIN_HOST_LOCALE_H
#define COLLECTOR_PLUGIN_HOST_LOCALE_H

#include <locale.h>

/* The calling thread is in the C locale from here on. Returns what vt_locale_back() takes. The C library has that locale ready: nothing
 * is allocated. */
static inline locale_t vt_locale_c(void)
{
	return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static inline void vt_locale_back(locale_t was)
{
	uselocale(was);
}

#endif
