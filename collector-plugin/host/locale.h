/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers in files and messages are written in the C locale, whatever locale the program has set. */
#ifndef COLLECTOR_PLUGIN_HOST_LOCALE_H
#define COLLECTOR_PLUGIN_HOST_LOCALE_H

#include <locale.h>

/* Switches the calling thread to the C locale. Returns the value to pass to vt_locale_back(). The C library keeps
 * this locale ready, so nothing is allocated. */
static inline locale_t vt_locale_c(void)
{
	return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static inline void vt_locale_back(locale_t was)
{
	uselocale(was);
}

#endif
