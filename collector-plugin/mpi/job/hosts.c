/* SPDX-License-Identifier: BSD-3-Clause */
/* Each host writes the trace's files of its own ranks, if the hosts share the folder of the trace. The lowest rank of
 * each host is its leader. It gets a text from the writer with the unified definitions and the clocks, and sends back
 * what the trace's index must contain (collector-plugin/merge/merge.h). Of raw files that the writer cannot see, it
 * gets the definitions only. Ranks without work sleep while they wait. If a host fails or does not have all that its
 * files need, the writer begins again and does all the work alone; then it gets the whole of the raw files that it
 * cannot see. Raw files are kept until the trace is complete. */
#include "config.h"
#include "collector-plugin/core/collect.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collector-plugin/core/collect.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/merge/hosts.h"
#include "collector-plugin/mpi/job/job.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/settings/settings.h"

enum { PART = 1 << 20 };

/* The host's number in the merge: the writer's host is 0, and the others follow in the order of their lowest ranks. */
static uint32_t merge_host_of_rank(const struct vt_job *j, int rank)
{
	int writers = j->host[j->writer], own = j->host[rank];

	return own == writers ? 0 : (uint32_t)(own < writers ? own + 1 : own);
}

uint32_t vt_job_count_hosts(const struct vt_job *j)
{
	uint32_t n = 0;
	int i;

	for (i = 0; i < j->ranks; i++) {
		n = merge_host_of_rank(j, i) + 1 > n ? merge_host_of_rank(j, i) + 1 : n;
	}
	return n;
}

/* The leader of a host: the writer on host 0, else the lowest rank. */
static int leader_of(const struct vt_job *j, uint32_t host)
{
	int i;

	for (i = 0; host > 0 && merge_host_of_rank(j, i) != host; i++) {
	}
	return host == 0 ? j->writer : i;
}

/* ---- do all hosts see the same folder? ---- */

struct token {
	int ok, keep;
	uint64_t value;
	char path[1100];
};

/* Creates a file beside `near`, with a new, random name: a different folder of the same name on another host does not have it. */
static void lay_token(struct token *t, const char *near, int hosts)
{
	struct timespec ts;
	int fd;

	clock_gettime(CLOCK_REALTIME, &ts);
	t->value = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	t->keep = vt_collect_settings()->keep_raw_events;
	snprintf(
		t->path, sizeof(t->path), "%.1000s.%llx.tmp-%ld-0", near, (unsigned long long)t->value, (long)getpid());
	fd = hosts < 2 ? -1 : open(t->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	t->ok = fd >= 0 && write(fd, &t->value, sizeof(t->value)) == (ssize_t)sizeof(t->value);
	if (fd >= 0) {
		close(fd);
	}
}

static int sees_token(const struct token *t)
{
	uint64_t value = 0;
	int fd = open(t->path, O_RDONLY | O_CLOEXEC), good;

	good = fd >= 0 && read(fd, &value, sizeof(value)) == (ssize_t)sizeof(value) && value == t->value;
	if (fd >= 0) {
		close(fd);
	}
	return good;
}

static int is_beside(const char *path, const char *other)
{
	size_t n = (size_t)(strrchr(path, '/') + 1 - path);

	return !strncmp(path, other, n) && !strchr(other + n, '/');
}

/* Do all hosts share the folder of the writer's trace, or with raw_path: of their raw files? By all ranks together. *keep: no trace is made. */
static int share_folder(const struct vt_job *j, const char *raw_path, int *keep)
{
	struct token t = { 0 };
	int mine, all = 0;

	if (j->rank == j->writer) {
		/* messages are matched in one place, so only other traces are written together */
		lay_token(&t, raw_path ? raw_path : vt_collect_trace(),
			raw_path || vt_collect_settings()->counters_only ? (int)vt_job_count_hosts(j) : 0);
	}
	PMPI_Bcast(&t, (int)sizeof(t), MPI_BYTE, j->writer, MPI_COMM_WORLD);
	mine = t.ok && (!raw_path || is_beside(t.path, raw_path)) &&
		(leader_of(j, merge_host_of_rank(j, j->rank)) != j->rank || sees_token(&t));
	PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	if (j->rank == j->writer && t.path[0]) {
		unlink(t.path);
	}
	*keep = t.keep;
	return all;
}

int vt_job_shares_raw_folder(const struct vt_job *j)
{
	int keep;

	return share_folder(j, vt_raw_path(j->collect->raw), &keep);
}

/* ---- who sees which raw file? ---- */

struct place {
	long pid;
	char path[4100];
};

/* Can the leader of this host see this rank's raw file? By all ranks of the host together. */
static int leader_sees(const struct vt_job *j, MPI_Comm host)
{
	struct place mine = { (long)getpid(), "" }, *all = NULL;
	int n = 0, me = 0, i, leader = 0, *seen = NULL, is = 0;

	snprintf(mine.path, sizeof(mine.path), "%s", j->raw_path);
	PMPI_Comm_size(host, &n);
	PMPI_Comm_rank(host, &me);
	/* the writer need not be the lowest rank of its host */
	i = leader_of(j, merge_host_of_rank(j, j->rank)) == j->rank ? me : 0;
	PMPI_Allreduce(&i, &leader, 1, MPI_INT, MPI_MAX, host);
	if (me == leader) {
		all = malloc((size_t)n * sizeof(*all));
		seen = calloc((size_t)n, sizeof(*seen));
	}
	i = me != leader || (all && seen);
	PMPI_Bcast(&i, 1, MPI_INT, leader, host);
	if (i) {
		PMPI_Gather(&mine, (int)sizeof(mine), MPI_BYTE, all, (int)sizeof(mine), MPI_BYTE, leader, host);
		for (i = 0; all && i < n; i++) {
			seen[i] = vt_job_is_here(all[i].path, all[i].pid);
		}
		PMPI_Scatter(seen, 1, MPI_INT, &is, 1, MPI_INT, leader, host);
	}
	free(all);
	free(seen);
	return is;
}

/* Decides, for each rank's raw file, how much of it is sent to the writer, and which host merges it; all ranks know
 * the result. By all ranks together. */
static int plan(struct vt_job *j, int shared, unsigned char *what)
{
	unsigned char mine = 0;
	MPI_Comm host;
	int i;

	if (shared && PMPI_Comm_split(MPI_COMM_WORLD, j->host[j->rank], j->rank, &host) == MPI_SUCCESS) {
		mine = (unsigned char)leader_sees(j, host);
		PMPI_Comm_free(&host);
	}
	if (PMPI_Allgather(&mine, 1, MPI_BYTE, what, 1, MPI_BYTE, MPI_COMM_WORLD) != MPI_SUCCESS) {
		return -1;
	}
	for (i = 0; i < j->ranks; i++) {
		j->input_host[i] = what[i] ? merge_host_of_rank(j, i) : 0;
		what[i] = !j->need[i]                 ? VT_BRING_NOTHING
			: what[i] && j->input_host[i] ? VT_BRING_DEFINITIONS
						      : VT_BRING_ALL;
	}
	return 0;
}

/* ---- texts between the writer and a leader ---- */

static int send_text(struct vt_job *j, int from, int to, char *text, size_t size, struct tkm_err *err)
{
	unsigned long long n = text ? size : 0;
	size_t at, part;
	int rc = cal_link_send(j->link, from, to, &n, sizeof(n), err);

	for (at = 0; rc == 0 && at < n; at += part) {
		part = n - at < PART ? n - at : PART;
		rc = cal_link_send(j->link, from, to, text + at, part, err);
	}
	return rc;
}

/* Receives a text. NULL: it is empty, or err says why there is none. */
static char *receive_text(struct vt_job *j, int from, int to, size_t *size, struct tkm_err *err)
{
	unsigned long long n = 0;
	char *text, *sink = NULL;
	size_t at, part;
	int rc = cal_link_send(j->link, from, to, &n, sizeof(n), err);

	text = rc == 0 && n > 0 ? malloc((size_t)n) : NULL;
	/* the data must be received even if there is no memory for it */
	sink = rc == 0 && n > 0 && !text ? malloc(PART) : NULL;
	for (at = 0; (text || sink) && rc == 0 && at < n; at += part) {
		part = n - at < PART ? (size_t)(n - at) : PART;
		rc = cal_link_send(j->link, from, to, text ? text + at : sink, part, err);
	}
	free(sink);
	if (rc < 0) {
		free(text);
		return NULL;
	}
	*size = (size_t)n;
	return text;
}

/* ---- the writer ---- */

struct writer {
	struct vt_job *j;
	int begun, whole;
};

static void tell_all_ranks(const struct vt_job *j, int go)
{
	vt_job_wait(NULL);
	PMPI_Bcast(&go, 1, MPI_INT, j->writer, MPI_COMM_WORLD);
}

static int exchange_with_hosts(void *ctx, char *const *text, const size_t *size, char **result, size_t *result_size,
	void (*own)(void *arg), void *arg, struct tkm_err *err)
{
	struct writer *w = ctx;
	struct vt_job *j = w->j;
	uint32_t h, n = vt_job_count_hosts(j);
	int rc = 0;

	w->begun = 1;
	tell_all_ranks(j, 1);
	for (h = 1; rc == 0 && h < n; h++) {
		rc = send_text(j, j->writer, leader_of(j, h), text[h], size[h], err);
	}
	own(arg);
	vt_job_wait(NULL);
	for (h = 1; rc == 0 && h < n; h++) {
		result[h] = receive_text(j, leader_of(j, h), j->writer, &result_size[h], err);
		rc = err->code == TKM_OK ? 0 : -1;
	}
	return rc;
}

/* Returns 1 if the writer has to do the work alone, maybe after getting all raw files. */
static int as_writer(struct vt_job *j, struct tkm_err *err)
{
	struct writer w = { j, 0, 0 };
	struct vt_merge_hosts hosts = {
		.n = vt_job_count_hosts(j), .whole = &w.whole, .exchange = exchange_with_hosts, .ctx = &w
	};
	int rc;

	rc = vt_job_merge(j, &hosts, err);
	if (!w.begun) {
		tell_all_ranks(j, 0);
	}
	if (rc < 0 && w.begun) {
		vt_say(1, "WARNING", "this rank writes the trace alone, because the hosts together could not: %s",
			err->text);
	}
	/* if nothing was sent to the other hosts, the error is the writer's own, and working alone would not help */
	return rc < 0 && (w.begun || w.whole) ? 1 : rc;
}

/* ---- the others ---- */

/* Collects, on its leader, the CPUs of the ranks of this host. */
static void host_cpus(const struct vt_job *j, struct tkm_cpus *all)
{
	MPI_Comm host;

	tkm_cpus_own(all);
	if (PMPI_Comm_split(MPI_COMM_WORLD, j->host[j->rank], j->rank, &host) == MPI_SUCCESS) {
		vt_job_join_cpus(host, 0, all);
		PMPI_Comm_free(&host);
	}
}

static int as_other(struct vt_job *j, const struct tkm_cpus *cpus, struct tkm_err *err)
{
	int leader = leader_of(j, merge_host_of_rank(j, j->rank)) == j->rank, go = 0, rc = 0;
	size_t size = 0, result_size = 0, files = 0;
	char *text = NULL, *result = NULL;

	vt_job_wait(NULL);
	PMPI_Bcast(&go, 1, MPI_INT, j->writer, MPI_COMM_WORLD);
	if (!go) {
		return 0;
	}
	if (leader) {
		text = receive_text(j, j->writer, j->rank, &size, err);
	}
	if (text) {
		result = vt_merge_for_host(text, size, tkm_cpus_count(cpus) ? cpus : NULL, &result_size, &files);
		vt_say(2, "INFO", "merged %zu raw files of this host", files);
	}
	vt_job_wait(NULL);
	if (leader) {
		rc = send_text(j, j->rank, j->writer, result, result_size, err);
	}
	free(text);
	free(result);
	return rc;
}

/* An error of one rank becomes an error of all: otherwise the others would wait for it. */
static int agree_on_failure(int rc, struct tkm_err *err)
{
	int mine = rc < 0, any = 0;

	PMPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	return !any ? 0 : rc < 0 ? rc : tkm_fail(err, TKM_ERR_IO, "another rank could not send its raw data");
}

/* If the writer has to work alone after all, it gets the raw files of which it has the definitions only. By all ranks
 * together. */
static int bring_rest(struct vt_job *j, unsigned char *what, int alone, struct tkm_err *err)
{
	int i;

	vt_job_wait(NULL);
	PMPI_Bcast(&alone, 1, MPI_INT, j->writer, MPI_COMM_WORLD);
	for (i = 0; i < j->ranks; i++) {
		what[i] = alone && what[i] == VT_BRING_DEFINITIONS ? VT_BRING_ALL : VT_BRING_NOTHING;
	}
	err->text[0] = '\0';
	err->code = TKM_OK;
	return agree_on_failure(vt_job_bring(j, what, err), err);
}

static void say_brought(const struct vt_job *j, const unsigned char *what)
{
	int i, n = 0;

	for (i = 0; i < j->ranks; i++) {
		n += what[i] == VT_BRING_DEFINITIONS;
	}
	if (n > 0 && j->rank == j->writer) {
		vt_say(2, "INFO", "got the definitions alone of %d raw files, which their hosts merge", n);
	}
}

static int share_work(struct vt_job *j, int shared, unsigned char *what, struct tkm_err *err)
{
	struct tkm_err late = { .text = "" };
	struct tkm_cpus cpus = { .set = NULL };
	int rc;

	if (plan(j, shared, what) < 0) {
		return tkm_fail(err, TKM_ERR_IO, "the ranks cannot tell each other where their raw files are");
	}
	rc = agree_on_failure(vt_job_bring(j, what, err), err);
	if (rc < 0 || !shared) {
		return rc < 0 ? rc : 1;
	}
	say_brought(j, what);
	host_cpus(j, &cpus);
	rc = j->rank == j->writer ? as_writer(j, err) : as_other(j, &cpus, err);
	tkm_cpus_free(&cpus);
	if (bring_rest(j, what, rc == 1, &late) < 0) {
		*err = late;
		return -1;
	}
	return rc;
}

int vt_job_merge_together(struct vt_job *j, struct tkm_err *err)
{
	unsigned char *what = calloc((size_t)j->ranks, 1);
	int shared, keep = 0, rc, i = what != NULL, all = 0;

	PMPI_Allreduce(&i, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	if (!all) {
		free(what);
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %d ranks", j->ranks);
	}
	shared = share_folder(j, NULL, &keep);
	/* KEEP-RAW-EVENTS: every raw file stays where it is */
	rc = keep ? 1 : share_work(j, shared, what, err);
	free(what);
	return rc;
}
