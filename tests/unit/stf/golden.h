/* SPDX-License-Identifier: BSD-3-Clause */
/* The stored traces of tests/golden, copied and compared. */
#ifndef TESTS_UNIT_STF_GOLDEN_H
#define TESTS_UNIT_STF_GOLDEN_H

#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"

#include <dirent.h>
#include <sys/mount.h>
#include <sys/stat.h>

/* Removes the files whose names begin with prefix; counts those that contain `mark`. */
static inline int files(const char *in, const char *prefix, const char *mark, int remove_them)
{
	DIR *d = opendir(in);
	struct dirent *e;
	char path[1024];
	int n = 0;

	while (d && (e = readdir(d))) {
		if (*e->d_name != '.' && strncmp(e->d_name, prefix, strlen(prefix)) == 0 && strstr(e->d_name, mark)) {
			n++;
			snprintf(path, sizeof(path), "%s/%s", in, e->d_name);
			if (remove_them) {
				unlink(path);
			}
		}
	}
	if (d) {
		closedir(d);
	}
	return n;
}

/* Compares all files whose names begin with a.stf in one folder with b.stf in another. */
static inline int compare(const char *in, const char *a, const char *other, const char *b)
{
	DIR *d = opendir(in);
	struct dirent *e;
	char p[1024], q[1024], *x, *y;
	size_t n, m;
	int files_seen = 0;

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, a, strlen(a)) != 0) {
			continue;
		}
		snprintf(p, sizeof(p), "%s/%s", in, e->d_name);
		snprintf(q, sizeof(q), "%s/%s%s", other, b, e->d_name + strlen(a));
		x = slurp(p, &n);
		y = slurp(q, &m);
		CHECK(x && y && n == m && memcmp(x, y, n) == 0, "%s and %s differ", p, q);
		free(x);
		free(y);
		files_seen++;
	}
	if (d) {
		closedir(d);
	}
	return files_seen;
}

static inline int can_mount(void)
{
	int ok = mkdir(in_dir("mnt"), 0700) == 0 && mount("none", in_dir("mnt"), "tmpfs", 0, "size=1m") == 0;

	umount(in_dir("mnt"));
	rmdir(in_dir("mnt"));
	return ok;
}

/* A state, or k values. */
struct event {
	uint64_t time, value[3];
	uint32_t enter, k;
};

static const uint32_t some_counters[3] = { 7, 40, 41 };

static inline void write_event(struct stf_writer *w, uint32_t willy, const struct event *e)
{
	struct stf_enter_function enter = { .time = e->time, .willy = willy, .function = (uint32_t)e->value[0] };
	struct stf_leave_function leave = { .time = e->time, .willy = willy };
	struct stf_counter_value v = {
		.time = e->time, .willy = willy, .size_1_2 = e->k, .values = e->value, .counters = some_counters
	};

	CHECK_INT(e->k             ? stf_write_counter_value(w, &v)
			: e->enter ? stf_write_enter_function(w, &enter)
				   : stf_write_leave_function(w, &leave),
		0);
}

#endif
