/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds programs and libraries of this installation. */
#include "config.h"
#include "collector-plugin/host/program/near.h"

#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/rootfs.h"

char *vt_own_program(char *buf, size_t size)
{
	int root = tkm_root_open("/");
	ssize_t n = root < 0 ? -1 : readlinkat(root, "proc/self/exe", buf, size - 1);

	if (root >= 0) {
		close(root);
	}
	buf[n > 0 ? n : 0] = '\0';
	return buf;
}

static int is_there(char *path, size_t size, const char *dir, size_t length, const char *rest, int mode)
{
	return snprintf(path, size, "%.*s%s", (int)length, dir, rest) < (int)size && access(path, mode) == 0;
}

static int find_installed_file(
	const char *near, const char *const *places, const char *fallback, int mode, char *path, size_t size)
{
	const char *slash = near ? strrchr(near, '/') : NULL;
	int i;

	for (i = 0; slash && !getauxval(AT_SECURE) && places[i]; i++) {
		if (is_there(path, size, near, (size_t)(slash - near), places[i], mode)) {
			return 0;
		}
	}
	return is_there(path, size, "", 0, fallback, mode) ? 0 : -1;
}

int vt_find_installed_program(
	const char *near, const char *const *places, const char *fallback, char *path, size_t size)
{
	return find_installed_file(near, places, fallback, X_OK, path, size);
}

int vt_find_installed_library(
	const char *near, const char *const *places, const char *fallback, char *path, size_t size)
{
	return find_installed_file(near, places, fallback, R_OK, path, size);
}
