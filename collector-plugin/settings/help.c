/* SPDX-License-Identifier: BSD-3-Clause */
/* The texts of --help, which only vtrun prints. */
#include "config.h"
#include "collector-plugin/settings/settings.h"

void vt_settings_help(struct vt_settings *s)
{
	static const char *const text[][2] = {
#define OPTION(name, type, member, min, max, arg, help) { arg, help },
#include "collector-plugin/settings/options.def"
#undef OPTION
	};
	size_t i;

	for (i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		s->table[i].arg = text[i][0];
		s->table[i].help = text[i][1];
	}
}
