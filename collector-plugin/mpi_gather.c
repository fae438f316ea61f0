/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a job: the clock data of all ranks, and what it must know of raw files that it cannot see, come to the rank that
 * writes the trace (LOGFILE-RANK); it keeps the maps as NAME.clk and makes one trace. Rank 0 fits them: the sessions lead there. */
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

int vt_job_is_here(const char *path, long pid)
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

/* In front of each part of a file on its way: n bytes for offset `at`; 0 ends it, -1 is a failure there. */
struct part_head {
	long long at, n;
};

struct shipping {
	struct vt_job *j;
	struct tkm_err *err;
	int broken; /* nothing can be sent any more */
};

static int ship_part(void *ctx, uint64_t at, const void *p, size_t n)
{
	struct shipping *s = ctx;
	struct part_head h = { (long long)at, 0 };
	const char *c = p;

	for (; n > 0; n -= (size_t)h.n, c += h.n, h.at += h.n) {
		h.n = n < PART ? (long long)n : PART;
		if (cal_link_send(s->j->link, s->j->rank, s->j->writer, &h, sizeof(h), s->err) < 0 ||
		    cal_link_send(s->j->link, s->j->rank, s->j->writer, (void *)(uintptr_t)c, (size_t)h.n, s->err) < 0) {
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

/* This rank's file to the writer; the file stays. */
static int ship(struct vt_job *j, int what, struct tkm_err *err)
{
	struct shipping s = { j, err, 0 };
	struct part_head end = { 0, 0 };
	struct tkm_err why;

	end.n = (what == VT_BRING_ALL ? ship_all(&s, j->raw_path) : vt_raw_copy_definitions(j->raw_path, ship_part, &s, &why)) < 0 ? -1 : 0;
	return s.broken ? -1 : cal_link_send(j->link, j->rank, j->writer, &end, sizeof(end), err);
}

/* Beside the writer's own raw file, where there is room for one. */
static int receive(struct vt_job *j, int from, struct tkm_err *err)
{
	char path[4096], *part = malloc(PART);
	struct part_head h = { 0, -1 };
	int fd, rc = 0, bad = 0;

	snprintf(path, sizeof(path), "%.4000s.rank%d", j->raw_path, from);
	unlink(path); /* its definitions alone */
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
		rc = bad ? tkm_fail_errno(err, TKM_ERR_IO, bad, "%s: the raw data of rank %d do not fit", path, from) :
			   tkm_fail(err, TKM_ERR_IO, "rank %d could not read its raw file", from);
	}
	return rc;
}

int vt_job_bring(struct vt_job *j, const unsigned char *what, struct tkm_err *err)
{
	int me = j->rank, i, rc = 0;

	for (i = 0; i < j->link->size && rc == 0; i++) {
		if (what[i] == VT_BRING_NOTHING || i == j->writer) {
			continue;
		}
		if (me == i) {
			rc = ship(j, what[i], err);
		} else if (me == j->writer) {
			rc = receive(j, i, err);
			j->part[i] = what[i] == VT_BRING_DEFINITIONS;
		}
	}
	return rc;
}

/* From rank 0, where what all have sent comes together, to the writer. */
static int pass_on(struct vt_job *j, void *data, size_t size, struct tkm_err *err)
{
	return j->writer == 0 ? 0 : cal_link_send(j->link, 0, j->writer, data, size, err);
}

/* Every rank's process id and path, on rank 0, to the writer; it says in need[] which files it cannot see. */
static int tell_paths(struct vt_job *j, const struct cal_blobs *all, struct tkm_err *err)
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
			j->need[i] = !vt_job_is_here(path + 1, pid);
			j->there[i] = strdup(path + 1);
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
	j->there = calloc(n, sizeof(*j->there));
	j->copy = calloc(n, sizeof(*j->copy));
	j->need = calloc(n, 1);
	j->part = calloc(n, 1);
	j->input_host = calloc(n, sizeof(*j->input_host));
	if (!j->path || !j->there || !j->copy || !j->need || !j->part || !j->input_host) {
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
	j->raw_path = raw_path;
	if (cal_job_gather(&j->clock, &j->run, err) < 0) {
		return -1;
	}
	if (j->writer != 0 && (j->link->rank == 0 || j->link->rank == j->writer) && pass_run(j, err) < 0) {
		return -1;
	}
	return gather_paths(j, err);
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
			.host = hosts ? j->input_host[i] : 0, .there = hosts && j->part[i] ? j->there[i] : NULL };
	}
	rc = vt_collect_merge(j->in, n, j->run.period_s, hosts, err);
	if (rc == 0) {
		rc = write_clk(j, vt_collect_trace(), err);
	}
	return rc;
}
