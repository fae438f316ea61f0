/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a job. The rank that writes the trace (LOGFILE-RANK) gets the raw files that it cannot see, and orders the trace of all from a
 * sampler process (run/outside.h), which finds the clock sessions in them. */
#include "config.h"
#include "collector-plugin/core/collect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/merge/merge.h"
#include "collector-plugin/mpi/job/job.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/reader.h"
#include "collector-plugin/run/finish.h"
#include "collector-plugin/settings/settings.h"

enum { PART = 1 << 20 };

/* ---- raw files ---- */

static int is_here(const char *path, long pid)
{
	struct vt_raw_head head;

	return vt_raw_read_head(path, &head) == 0 && (long)head.pid == pid;
}

/* Precedes each part of a file when it is sent: n bytes for offset `at`; 0: the file ends, -1: the sender failed. */
struct part_head {
	long long at, n;
};

struct shipping {
	struct vt_job *j;
	struct tkm_err *err;
	int broken; /* the connection failed, so nothing more can be sent */
};

static int ship_part(void *ctx, uint64_t at, const void *p, size_t n)
{
	struct shipping *s = ctx;
	struct part_head h = { (long long)at, 0 };
	const char *c = p;

	for (; n > 0; n -= (size_t)h.n, c += h.n, h.at += h.n) {
		h.n = n < PART ? (long long)n : PART;
		if (cal_link_send(s->j->link, s->j->rank, s->j->writer, &h, sizeof(h), s->err) < 0 ||
			cal_link_send(s->j->link, s->j->rank, s->j->writer, (void *)(uintptr_t)c, (size_t)h.n, s->err) <
				0) {
			s->broken = 1;
			return -1;
		}
	}
	return 0;
}

static int ship_all(struct shipping *s, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = -1;
	char *part = malloc(PART);
	uint64_t at = 0;
	ssize_t n = -1;

	while (fd >= 0 && part && (n = read(fd, part, PART)) > 0 && (rc = ship_part(s, at, part, (size_t)n)) == 0) {
		at += (uint64_t)n;
	}
	free(part);
	if (fd >= 0) {
		close(fd);
	}
	return n == 0 ? rc : -1;
}

/* Sends this rank's raw file to the writer. The file is kept. */
static int send_to_writer(struct vt_job *j, struct tkm_err *err)
{
	struct shipping s = { j, err, 0 };
	struct part_head end = { 0, 0 };

	end.n = ship_all(&s, j->raw_path);
	return s.broken ? -1 : cal_link_send(j->link, j->rank, j->writer, &end, sizeof(end), err);
}

/* Receives a raw file and stores it beside the writer's own raw file. */
static int receive(struct vt_job *j, int from, struct tkm_err *err)
{
	char path[4096], *part = malloc(PART);
	struct part_head h = { 0, -1 };
	int fd, rc = 0, bad = 0;

	snprintf(path, sizeof(path), "%.4000s.rank%d", j->raw_path, from);
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bad = fd < 0 ? errno : 0;
	do {
		rc = part ? cal_link_send(j->link, from, j->writer, &h, sizeof(h), err) : -1;
		if (rc == 0 && h.n > 0) {
			rc = cal_link_send(j->link, from, j->writer, part, (size_t)h.n, err);
			if (rc == 0 && !bad && pwrite(fd, part, (size_t)h.n, h.at) != (ssize_t)h.n) {
				bad = errno ? errno : ENOSPC;
			}
		}
	} while (rc == 0 && h.n > 0);
	free(part);
	if (fd >= 0) {
		close(fd);
		free(j->copy[from]);
		free(j->path[from]);
		j->copy[from] = strdup(path);
		j->path[from] = strdup(path);
	}
	if (rc == 0 && (bad || h.n < 0)) {
		rc = bad ? tkm_fail_errno(err, TKM_ERR_IO, bad, "%s: the raw data of rank %d do not fit", path, from)
			 : tkm_fail(err, TKM_ERR_IO, "rank %d could not read its raw file", from);
	}
	return rc;
}

int vt_job_bring(struct vt_job *j, struct tkm_err *err)
{
	int i, rc = 0;

	for (i = 0; i < j->link->size && rc == 0; i++) {
		if (!j->need[i] || i == j->writer) {
			continue;
		}
		if (j->rank == i) {
			rc = send_to_writer(j, err);
		} else if (j->rank == j->writer) {
			rc = receive(j, i, err);
		}
	}
	return rc;
}

/* Passes data from rank 0, which collects the data of all ranks, to the writer. */
static int pass_on_to_writer(struct vt_job *j, void *data, size_t size, struct tkm_err *err)
{
	return j->writer == 0 ? 0 : cal_link_send(j->link, 0, j->writer, data, size, err);
}

/* Sends the process id and path of every rank from rank 0 to the writer. The writer sets need[] for files that it
 * cannot see. */
static int tell_paths(struct vt_job *j, const struct cal_blobs *all, struct tkm_err *err)
{
	char text[4200] = "", *path;
	int i, me = j->link->rank;
	long pid;

	for (i = 0; i < j->link->size && (me == 0 || me == j->writer); i++) {
		if (me == 0) {
			snprintf(text, sizeof(text), "%s", all->data[i]);
		}
		if (pass_on_to_writer(j, text, sizeof(text), err) < 0) {
			return -1;
		}
		if (me == j->writer) {
			text[sizeof(text) - 1] = '\0';
			pid = strtol(text, &path, 10);
			/* KEEP-RAW-EVENTS: every raw file stays where it is */
			j->need[i] = !vt_collect_settings()->keep_raw_events && !is_here(path + 1, pid);
			j->path[i] = j->need[i] ? NULL : strdup(path + 1);
		}
	}
	return j->writer == 0 ? 0 : cal_link_send(j->link, j->writer, 0, j->need, (size_t)j->link->size, err);
}

static int gather_paths(struct vt_job *j, struct tkm_err *err)
{
	size_t n = (size_t)j->link->size;
	struct cal_blobs all;
	char text[4200];
	int rc;

	j->path = calloc(n, sizeof(*j->path));
	j->copy = calloc(n, sizeof(*j->copy));
	j->need = calloc(n, 1);
	if (!j->path || !j->copy || !j->need) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %zu ranks", n);
	}
	snprintf(text, sizeof(text), "%ld %.4096s", (long)getpid(), j->raw_path);
	if (cal_link_gather(j->link, text, strlen(text) + 1, &all, err) < 0) {
		return -1;
	}
	rc = tell_paths(j, &all, err);
	cal_blobs_free(&all);
	return rc < 0 ? rc : cal_link_bcast(j->link, j->need, n, err);
}

int vt_job_gather(struct vt_job *j, const char *raw_path, struct tkm_err *err)
{
	j->raw_path = raw_path;
	cal_job_stop_pairs(&j->clock);
	return gather_paths(j, err);
}

/* ---- the trace ---- */

/* Did a rank record this file as another program (usually a wrapper script) before it went on as the present program
 * by exec? Then it has the same clock, and its end is an exec or looks like that of a killed process. */
static int is_earlier_program(const struct vt_raw_head *now, const char *path)
{
	struct vt_raw_head was;

	return vt_raw_read_head(path, &was) == 0 && vt_raw_may_go_on(&was) && was.pid == now->pid &&
		was.born == now->born && now->born && was.rank == now->rank &&
		memcmp(was.boot, now->boot, sizeof(was.boot)) == 0 && memcmp(was.job, now->job, sizeof(was.job)) == 0 &&
		memcmp(was.timer, now->timer, sizeof(was.timer)) == 0 && strncmp(now->timer, "sim:", 4) != 0;
}

/* "...-PID.raw" or "...-PID.N.raw": PID, or 0. */
static long pid_in(const char *name)
{
	const char *dash = vt_raw_is_name(name) ? strrchr(name, '-') : NULL;

	return dash ? strtol(dash + 1, NULL, 10) : 0;
}

/* For the search of a rank by its process id. */
struct pid_of {
	long pid;
	size_t rank;
};

static int by_pid(const void *a, const void *b)
{
	const struct pid_of *x = a, *y = b;

	return x->pid != y->pid ? (x->pid < y->pid ? -1 : 1) : x->rank < y->rank ? -1 : x->rank > y->rank;
}

static size_t folder_of_raw(const char *path)
{
	return (size_t)(strrchr(path, '/') + 1 - path);
}

/* Adds the file to the inputs, of which there are *n, if the rank recorded it before an exec. */
static int add_if_before(struct vt_job *j, size_t rank, const char *path, size_t *n, struct tkm_err *err)
{
	struct vt_merge_input *more;
	struct vt_raw_head now;
	size_t i;

	for (i = (size_t)j->ranks; i < *n; i++) {
		if (strcmp(j->in[i].path, path) == 0) {
			return 0; /* already added: two ranks have the same folder */
		}
	}
	if (strcmp(path, j->path[rank]) == 0 || vt_raw_read_head(j->path[rank], &now) < 0 ||
		!is_earlier_program(&now, path)) {
		return 0;
	}
	more = TKM_APPEND(j->in, *n);
	if (!more) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
	}
	*more = j->in[rank];
	more->path = strdup(path);
	return more->path ? 0 : tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
}

/* Looks in the folder of that rank's raw file, for all ranks with raw files there. */
static int look_before(
	struct vt_job *j, size_t rank, const struct pid_of *ranks, size_t n_ranks, size_t *n, struct tkm_err *err)
{
	const char *own = j->path[rank];
	size_t folder = folder_of_raw(own), i, lo, hi;
	char path[4400];
	struct dirent *e;
	int rc = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%.*s", (int)folder, own);
	d = opendir(path);
	while (d && rc == 0 && (e = readdir(d))) {
		long pid = pid_in(e->d_name);

		for (lo = 0, hi = n_ranks; lo < hi;) {
			i = lo + (hi - lo) / 2;
			lo = ranks[i].pid < pid ? i + 1 : lo;
			hi = ranks[i].pid < pid ? hi : i;
		}
		snprintf(path, sizeof(path), "%.*s%.300s", (int)folder, own, e->d_name);
		for (; rc == 0 && lo < n_ranks && ranks[lo].pid == pid; lo++) {
			const char *last = j->path[ranks[lo].rank];

			if (folder_of_raw(last) == folder && strncmp(last, own, folder) == 0) {
				rc = add_if_before(j, ranks[lo].rank, path, n, err);
			}
		}
	}
	if (d) {
		closedir(d);
	}
	return rc;
}

void vt_job_say_before(const struct vt_job *j)
{
	size_t folder = folder_of_raw(j->raw_path);
	struct vt_raw_head now;
	char path[4400];
	struct dirent *e;
	DIR *d = NULL;

	snprintf(path, sizeof(path), "%.*s", (int)folder, j->raw_path);
	if (vt_raw_read_head(j->raw_path, &now) == 0) {
		d = opendir(path);
	}
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%.*s%.300s", (int)folder, j->raw_path, e->d_name);
		if (pid_in(e->d_name) == pid_in(j->raw_path + folder) && strcmp(path, j->raw_path) != 0 &&
			is_earlier_program(&now, path)) {
			vt_say(1, "INFO",
				"not in the trace is what this process recorded before it became %s by exec: stftool "
				"%s --merge "
				"FILE.stf makes one of it",
				now.program, path);
		}
	}
	if (d) {
		closedir(d);
	}
}

/* Adds the files from before an exec, of all ranks whose raw files the writer sees. */
static int add_before(struct vt_job *j, size_t *n, struct tkm_err *err)
{
	struct pid_of *ranks = calloc((size_t)j->ranks, sizeof(*ranks));
	size_t i, k = 0;
	int rc = 0;

	if (!ranks) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
	}
	for (i = 0; i < (size_t)j->ranks; i++) {
		if (j->path[i] && !j->need[i]) {
			ranks[k++] = (struct pid_of){ pid_in(j->path[i] + folder_of_raw(j->path[i])), i };
		}
	}
	qsort(ranks, k, sizeof(*ranks), by_pid);
	for (i = 0; i < (size_t)j->ranks && rc == 0; i++) {
		const char *before = i ? j->path[i - 1] : NULL;

		if (!j->path[i] || j->need[i] ||
			(before && !j->need[i - 1] && folder_of_raw(before) == folder_of_raw(j->path[i]) &&
				strncmp(before, j->path[i], folder_of_raw(before)) == 0)) {
			continue; /* usually all raw files are in one folder */
		}
		rc = look_before(j, i, ranks, k, n, err);
	}
	free(ranks);
	return rc;
}

int vt_job_merge(struct vt_job *j, struct tkm_err *err)
{
	size_t i, n = 0;
	int rc = 0;

	if (TKM_EXTEND(j->in, n, (size_t)j->ranks) < 0) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
	}
	for (i = 0; i < n; i++) {
		j->in[i] = (struct vt_merge_input){ .path = j->path[i] };
	}
	rc = vt_collect_settings()->keep_raw_events ? 0 : add_before(j, &n, err);
	rc = rc < 0 ? rc : vt_collect_merge(j->in, n, j->clock.o.skip, 0, err);
	if (rc == 0) {
		vt_collect_show(&vt_collector);
	}
	for (i = (size_t)j->ranks; i < n; i++) {
		free((void *)(uintptr_t)j->in[i].path);
	}
	free(j->in);
	j->in = NULL;
	return rc;
}
