/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder of its own for the traces of one test program. */
#ifndef TESTS_LIB_STF_DIR_H
#define TESTS_LIB_STF_DIR_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Is Zstandard in this build? */
#ifdef HAVE_ZSTD
static const int zstd = 1;
#else
static const int zstd;
#endif

static char dir[64];

/* Removes what is in it. */
static inline void clean(void)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char path[400];

	while (d && (e = readdir(d))) {
		if (e->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%.300s", dir, e->d_name);
			unlink(path);
		}
	}
	if (d) {
		closedir(d);
	}
}

static inline const char *in_dir(const char *name)
{
	static char path[4][400];
	static unsigned i;

	i = (i + 1) % 4;
	snprintf(path[i], sizeof(path[i]), "%s/%.300s", dir, name);
	return path[i];
}

static inline char *slurp(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	char *p = NULL;

	*n = 0;
	if (f) {
		fseek(f, 0, SEEK_END);
		*n = (size_t)ftell(f);
		rewind(f);
		p = malloc(*n + 1);
		if (fread(p, 1, *n, f) != *n) {
			*n = 0;
		}
		fclose(f);
	}
	return p;
}

static inline void spit(const char *path, const char *p, size_t n)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(p, 1, n, f) != n) {
		printf("Bail out! cannot write %s\n", path);
		exit(99);
	}
	fclose(f);
}

static inline void make_dir(void)
{
	strcpy(dir, "/tmp/test_stf_XXXXXX");
	if (!mkdtemp(dir)) {
		printf("Bail out! no temporary directory\n");
		exit(99);
	}
}

#endif
