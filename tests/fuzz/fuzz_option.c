/* SPDX-License-Identifier: BSD-3-Clause */
/* Anything as a configuration file, and its lines as a command line. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cli/option.h"

#define FUZZ_NAME "option"
#include "tests/fuzz/fuzz.h"

struct values {
	const char *text, *name;
	double time, fraction;
	long long count, bytes, level;
	int flag;
	struct tkm_option_list list;
};

static void make_table(struct values *v, struct tkm_option *t)
{
	/* clang-format off */
	const struct tkm_option all[] = {
		{ "TEXT", TKM_OPTION_TEXT, &v->text, 0, 0, NULL, "" },
		{ "SYNC-NAME", TKM_OPTION_NAME, &v->name, 0, 0, NULL, "" },
		{ "TIME", TKM_OPTION_TIME, &v->time, 0, 1e9, NULL, "" },
		{ "FRACTION", TKM_OPTION_FRACTION, &v->fraction, 0, 1, NULL, "" },
		{ "COUNT", TKM_OPTION_COUNT, &v->count, -5, 1000, NULL, "" },
		{ "BYTES", TKM_OPTION_BYTES, &v->bytes, 0, 1e15, NULL, "" },
		{ "LEVEL", TKM_OPTION_LEVEL, &v->level, 0, 4, NULL, "" },
		{ "FLAG", TKM_OPTION_BOOL, &v->flag, 0, 0, NULL, "" },
		{ "LIST", TKM_OPTION_LIST, &v->list, 0, 0, NULL, "" },
		{ NULL, TKM_OPTION_TEXT, NULL, 0, 0, NULL, NULL },
	};
	/* clang-format on */

	memcpy(t, all, sizeof(all));
}

static void must(int ok)
{
	if (!ok) {
		abort();
	}
}

static void check(const struct values *v, int rc, const struct tkm_err *e)
{
	must(rc >= 0 || (e->text[0] && !strchr(e->text, '\n')));
	must(v->time >= 0 && v->time <= 1e9 && v->fraction >= 0 && v->fraction <= 1 && v->count >= -5 &&
		v->count <= 1000);
	must(v->bytes >= 0 && v->level >= 0 && v->level <= 4 && (v->flag == 0 || v->flag == 1));
}

static void read_file(const uint8_t *data, size_t size)
{
	struct tkm_option_storage *storage = NULL;
	struct tkm_option table[16];
	struct values v = { .count = 1 };
	struct tkm_err e = { 0 };
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC), rc;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	make_table(&v, table);
	rc = tkm_option_file(table, path, &storage, &e);
	check(&v, rc, &e);
	tkm_option_free(table, storage);
	close(fd);
}

static void read_arguments(const uint8_t *data, size_t size)
{
	struct tkm_option table[16];
	struct values v = { .count = 1 };
	struct tkm_err e = { 0 };
	const char *positional[2];
	char *text = malloc(size + 1), *argv[66] = { (char[]){ "fuzz" } }, *line;
	int argc = 1, rc;

	must(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	for (line = strtok(text, "\n"); line && argc < 65; line = strtok(NULL, "\n")) {
		argv[argc++] = line;
	}
	make_table(&v, table);
	rc = tkm_option_arguments(table, argc, argv, positional, 2, &e);
	check(&v, rc, &e);
	tkm_option_free(table, NULL);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_file(data, size);
	read_arguments(data, size);
	return 0;
}
