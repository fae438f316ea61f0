/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs of several programs (mpirun -np 2 a : -np 2 b), one of which may have been started without libVT. Ranks of
 * such a program take part in none of our collective calls, so the question whether a rank has libVT cannot be asked
 * through MPI. A rank with libVT has a raw file in the folder of the trace. The first rank that sees the files of all
 * ranks, or has waited too long, decides for all. It records its decision as a symbolic link, which is created
 * atomically and only once. */
#include "config.h"
#include "collector-plugin/mpi/job/job.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collector-plugin/core/collect.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/reader.h"
#include "collector-plugin/raw/writer.h"

#define PATIENCE_NS 5000000000ll
#define WHOLE "whole"
#define PART "part"

static char decision[1500]; /* path of the link; "": there is none */

static int several_programs(void)
{
	const char *n = secure_getenv("OMPI_NUM_APP_CTX");

	return n && atoi(n) > 1;
}

/* Names the link, in the folder of the raw file. */
static void name_decision(const char *raw_path)
{
	size_t n = (size_t)(strrchr(raw_path, '/') + 1 - raw_path), i;

	i = n = (size_t)snprintf(decision, sizeof(decision), "%.*s.VT-programs-", (int)n, raw_path);
	snprintf(decision + n, sizeof(decision) - n, "%.60s", vt_collect_job());
	for (; decision[i]; i++) {
		decision[i] = decision[i] == '/' || decision[i] == '\n' ? '_' : decision[i];
	}
}

/* Counts the ranks of this job that have a raw file; *lowest is the lowest of them. */
static int count_ranks(int size, int *lowest)
{
	unsigned char *seen = calloc((size_t)size, 1);
	char path[4400];
	struct vt_raw_head h;
	struct dirent *e;
	int n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%.*s", (int)(strrchr(decision, '/') + 1 - decision), decision);
	d = seen ? opendir(path) : NULL;
	*lowest = size;
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%.*s%s", (int)(strrchr(decision, '/') + 1 - decision), decision,
			e->d_name);
		if (vt_raw_is_name(e->d_name) && vt_raw_read_head(path, &h) == 0 && !strcmp(h.job, vt_collect_job()) &&
			h.rank >= 0 && h.rank < size && !seen[h.rank]) {
			seen[h.rank] = 1;
			n++;
			*lowest = h.rank < *lowest ? h.rank : *lowest;
		}
	}
	if (d) {
		closedir(d);
	}
	free(seen);
	return n;
}

/* Returns 1: all ranks have libVT, 0: not all, -1: no rank has decided yet. A link of another user is ignored. */
static int read_decision(void)
{
	char to[16] = "";
	struct stat st;

	if (lstat(decision, &st) < 0 || st.st_uid != geteuid() || readlink(decision, to, sizeof(to) - 1) < 0) {
		return -1;
	}
	return !strcmp(to, WHOLE);
}

static int store_or_read_decision(int whole)
{
	int is;

	/* where links cannot be made, each rank uses its own decision */
	if (symlink(whole ? WHOLE : PART, decision) < 0 && errno == EEXIST) {
		is = read_decision();
		whole = is < 0 ? whole : is;
	}
	return whole;
}

int vt_job_is_whole(const struct vt_job *j, int size)
{
	const struct timespec nap = { 0, 10000000 };
	int64_t until = vt_now_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
	int whole, n, lowest;

	if (!several_programs()) {
		return 1;
	}
	if (!j->collect) {
		return 0; /* without a raw file, the other ranks do not see this one */
	}
	name_decision(vt_raw_path(j->collect->raw));
	while ((whole = read_decision()) < 0) {
		n = count_ranks(size, &lowest);
		if (n == size || vt_now_ns(CLOCK_MONOTONIC) >= until) {
			whole = store_or_read_decision(n == size);
			break;
		}
		nanosleep(&nap, NULL);
	}
	if (!whole) {
		n = count_ranks(size, &lowest);
		vt_say(lowest == j->rank ? 1 : 2, "WARNING",
			"only %d of %d ranks of this job have libVT: they are recorded one by one, without MPI calls "
			"and "
			"clock correction. For those start all programs with vtrun, or link them with -lVT",
			n, size);
	}
	return whole;
}

void vt_job_forget_decision(void)
{
	if (decision[0]) {
		unlink(decision);
		decision[0] = '\0';
	}
}
