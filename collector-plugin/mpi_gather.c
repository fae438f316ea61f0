/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a job: the clock data of all ranks, and the raw files that it cannot see, come to the rank that writes the
 * trace (LOGFILE-RANK); it keeps the maps as NAME.clk and makes one trace. Rank 0 fits them: the sessions lead there. */
#include "config.h"
#include "collector-plugin/mpi_job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/newfile.h"
#include "base/text.h"
#include "calib/clk.h"
#include "collector-plugin/merge.h"

enum { PART = 1 << 20 };

/* ---- raw files ---- */

/* Can rank 0 read that file, and is it the one of that process? */
static int is_here(const char *path, long pid)
{
	struct vt_raw_head head;
	int fd = open(path, O_RDONLY | O_CLOEXEC), good;

	if (fd < 0) {
		return 0;
	}
	good = read(fd, &head, sizeof(head)) == (ssize_t)sizeof(head) &&
	       memcmp(head.magic, VT_RAW_MAGIC, sizeof(head.magic)) == 0 && (long)head.pid == pid;
	close(fd);
	return good;
}

/* Rank `from` sends its file to the writer in parts, each behind its length; a length of 0 ends it, -1 is a failure there. */
static int ship(struct vt_job *j, const char *path, struct tkm_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	char *part = malloc(PART);
	long long n;

	do {
		n = fd >= 0 && part ? read(fd, part, PART) : -1;
		rc = cal_link_send(j->link, j->link->rank, j->writer, &n, sizeof(n), err);
		if (rc == 0 && n > 0) {
			rc = cal_link_send(j->link, j->link->rank, j->writer, part, (size_t)n, err);
		}
	} while (rc == 0 && n > 0);
	free(part);
	if (fd >= 0) {
		close(fd);
	}
	return rc;
}

/* Beside the writer's own raw file, where there is room for one. */
static int receive(struct vt_job *j, int from, const char *beside, struct tkm_err *err)
{
	char path[4096], *part = malloc(PART);
	int fd, rc = 0, bad = 0;
	long long n;

	snprintf(path, sizeof(path), "%.4000s.rank%d", beside, from);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bad = fd < 0 ? errno : 0;
	do {
		rc = part ? cal_link_send(j->link, from, j->writer, &n, sizeof(n), err) : -1;
		if (rc == 0 && n > 0) {
			rc = cal_link_send(j->link, from, j->writer, part, (size_t)n, err);
			if (rc == 0 && !bad && write(fd, part, (size_t)n) != (ssize_t)n) {
				bad = errno ? errno : ENOSPC;
			}
		}
	} while (rc == 0 && n > 0);
	free(part);
	if (fd >= 0) {
		close(fd);
		j->remove[from] = strdup(path);
		j->path[from] = strdup(path);
	}
	if (rc == 0 && (bad || n < 0)) {
		rc = bad ? tkm_fail_errno(err, TKM_ERR_IO, bad, "%s: the raw data of rank %d do not fit", path, from) :
			   tkm_fail(err, TKM_ERR_IO, "rank %d could not read its raw file", from);
	}
	return rc;
}

/* From rank 0, where what all have sent comes together, to the writer. */
static int pass_on(struct vt_job *j, void *data, size_t size, struct tkm_err *err)
{
	return j->writer == 0 ? 0 : cal_link_send(j->link, 0, j->writer, data, size, err);
}

/* Every rank's process id and path, on rank 0, to the writer; it says in need[] which files it cannot see. */
static int tell_paths(struct vt_job *j, const struct cal_blobs *all, unsigned char *need, struct tkm_err *err)
{
	char text[4200] = "", *path;
	int i, me = j->link->rank;
	long pid;

	for (i = 0; i < j->link->size && (me == 0 || me == j->writer); i++) {
		if (me == 0) {
			snprintf(text, sizeof(text), "%s", all->data[i]);
		}
		if (pass_on(j, text, sizeof(text), err) < 0) {
			return -1;
		}
		if (me == j->writer) {
			text[sizeof(text) - 1] = '\0';
			pid = strtol(text, &path, 10);
			need[i] = !is_here(path + 1, pid);
			j->path[i] = need[i] ? NULL : strdup(path + 1);
		}
	}
	return j->writer == 0 ? 0 : cal_link_send(j->link, j->writer, 0, need, (size_t)j->link->size, err);
}

static int gather_paths(struct vt_job *j, const char *raw_path, unsigned char *need, struct tkm_err *err)
{
	struct cal_blobs all;
	char text[4200];
	int rc;

	snprintf(text, sizeof(text), "%ld %.4096s", (long)getpid(), raw_path);
	if (cal_link_gather(j->link, text, strlen(text) + 1, &all, err) < 0) {
		return -1;
	}
	rc = tell_paths(j, &all, need, err);
	cal_blobs_free(&all);
	return rc < 0 ? rc : cal_link_bcast(j->link, need, (size_t)j->link->size, err);
}

static int gather_files(struct vt_job *j, const char *raw_path, struct tkm_err *err)
{
	int n = j->link->size, me = j->link->rank, i, rc = 0;
	unsigned char *need = calloc((size_t)n, 1);

	j->path = calloc((size_t)n, sizeof(*j->path));
	j->remove = calloc((size_t)n, sizeof(*j->remove));
	j->input_host = calloc((size_t)n, sizeof(*j->input_host));
	if (!need || !j->path || !j->remove || !j->input_host) {
		free(need);
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %d ranks", n);
	}
	rc = gather_paths(j, raw_path, need, err);
	for (i = 0; i < n && rc == 0; i++) {
		if (need[i] && me == i && me != j->writer) {
			rc = ship(j, raw_path, err);
			/* on the writer's disk now */
			if (rc == 0) {
				unlink(raw_path);
			}
		} else if (need[i] && me == j->writer && me != i) {
			rc = receive(j, i, raw_path, err);
		}
	}
	free(need);
	return rc;
}

/* What rank 0 has found out about all clocks, as the text of a correction file. */
static int pass_run(struct vt_job *j, struct tkm_err *err)
{
	char *text = NULL;
	size_t size = 0;
	long long n = -1;
	FILE *f;
	int rc;

	if (j->link->rank == 0) {
		f = open_memstream(&text, &size);
		if (f && (cal_clk_write(f, &j->run, PACKAGE_STRING, err) | tkm_text_end(f, &text)) == 0) {
			n = (long long)size;
		}
		cal_run_free(&j->run);
	}
	rc = pass_on(j, &n, sizeof(n), err);
	if (rc == 0 && n > 0 && j->link->rank == j->writer) {
		text = malloc((size_t)n);
	}
	if (rc == 0 && n > 0) {
		rc = text ? pass_on(j, text, (size_t)n, err) : -1;
	}
	if (j->link->rank == j->writer && rc == 0) {
		rc = n > 0 ? cal_clk_read(text, (size_t)n, "rank 0", &j->run, err) :
			     tkm_fail(err, TKM_ERR_NOMEM, "rank 0 has no memory for the correction of all clocks");
	}
	free(text);
	return rc;
}

int vt_job_gather(struct vt_job *j, const char *raw_path, struct tkm_err *err)
{
	if (cal_job_gather(&j->clock, &j->run, err) < 0) {
		return -1;
	}
	if (j->writer != 0 && (j->link->rank == 0 || j->link->rank == j->writer) && pass_run(j, err) < 0) {
		return -1;
	}
	return gather_files(j, raw_path, err);
}

/* ---- the trace ---- */

static int write_clk(const struct vt_job *j, const char *trace, struct tkm_err *err)
{
	struct tkm_newfile n;
	char path[4096];
	size_t length = strlen(trace);

	if (length > 4 && strcmp(trace + length - 4, ".stf") == 0) {
		length -= 4;
	}
	snprintf(path, sizeof(path), "%.*s.clk", (int)length, trace);
	if (tkm_newfile_begin(&n, path, 1, err) < 0) {
		return -1;
	}
	if (cal_clk_write(n.f, &j->run, PACKAGE_STRING " libVT", err) < 0) {
		tkm_newfile_abort(&n);
		return -1;
	}
	return tkm_newfile_commit(&n, err);
}

int vt_job_merge(struct vt_job *j, const struct vt_merge_hosts *hosts, struct tkm_err *err)
{
	size_t i, n = j->run.ranks;
	int rc;

	free(j->in);
	j->in = calloc(n, sizeof(*j->in));
	if (!j->in) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
	}
	for (i = 0; i < n; i++) {
		j->in[i] = (struct vt_merge_input){ .path = j->path[i], .map = &j->run.rank[i].map,
			.host = hosts ? j->input_host[i] : 0 };
	}
	rc = vt_collect_merge(j->in, n, j->run.period_s, hosts, err);
	if (rc == 0) {
		rc = write_clk(j, vt_collect_trace(), err);
	}
	for (i = 0; i < n && rc == 0; i++) {
		if (j->remove[i]) {
			unlink(j->remove[i]);
		}
	}
	return rc;
}
