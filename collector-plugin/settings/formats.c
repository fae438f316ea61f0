/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of trace formats and their suffixes. */
#include "config.h"
#include "collector-plugin/settings/formats.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const struct vt_format all[] = {
#define VT_FORMAT_ENTRY(name, suffix) { name, suffix },
	VT_FORMAT_TABLE(VT_FORMAT_ENTRY)
#undef VT_FORMAT_ENTRY
};

const struct vt_format *vt_format_by_name(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!strcasecmp(all[i].name, name)) {
			return &all[i];
		}
	}
	return NULL;
}

const struct vt_format *vt_format_by_suffix(const char *path)
{
	size_t n = strlen(path), i, k;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		k = strlen(all[i].suffix);
		if (n > k && !strcasecmp(path + n - k, all[i].suffix)) {
			return &all[i];
		}
	}
	return NULL;
}
