/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "collector-plugin/host/near.h"

#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static int is_program(char *path, size_t size, const char *dir, size_t length, const char *rest)
{
	return snprintf(path, size, "%.*s%s", (int)length, dir, rest) < (int)size && access(path, X_OK) == 0;
}

int vt_near_program(const char *near, const char *const *places, const char *fallback, char *path, size_t size)
{
	const char *slash = near ? strrchr(near, '/') : NULL;
	int i;

	for (i = 0; slash && !getauxval(AT_SECURE) && places[i]; i++) {
		if (is_program(path, size, near, (size_t)(slash - near), places[i])) {
			return 0;
		}
	}
	return is_program(path, size, "", 0, fallback) ? 0 : -1;
}
