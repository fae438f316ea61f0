/* SPDX-License-Identifier: BSD-3-Clause */
/* Each host writes its own ranks' files of the trace, where the hosts see the folder of the trace and the writer the raw files of
 * all: one rank on each, its lowest, gets a text from the writer that says what the unified definitions and the clocks are, and
 * sends back what the trace's index must know (collector-plugin/merge.h). Ranks without work wait, napping. Where a host fails
 * the writer begins anew alone: the raw files are there until the trace is complete. */
#include "config.h"
#include "collector-plugin/collect_private.h"
#include "collector-plugin/mpi_job.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PART = 1 << 20 };

/* Of the merge, where the writer's host is 0 and the others follow in the order of their lowest ranks. */
static uint32_t host_of(const struct vt_job *j, int rank)
{
	int writers = j->host[j->writer], own = j->host[rank];

	return own == writers ? 0 : (uint32_t)(own < writers ? own + 1 : own);
}

static uint32_t count_hosts(const struct vt_job *j)
{
	uint32_t n = 0;
	int i;

	for (i = 0; i < j->ranks; i++) {
		n = host_of(j, i) + 1 > n ? host_of(j, i) + 1 : n;
	}
	return n;
}

/* The writer for host 0, else the lowest. */
static int leader_of(const struct vt_job *j, uint32_t host)
{
	int i;

	for (i = 0; host > 0 && host_of(j, i) != host; i++) {
	}
	return host == 0 ? j->writer : i;
}

/* ---- do they see the same folder? ---- */

struct token {
	int ok;
	uint64_t value;
	char path[1100];
};

/* Not there before, and not to be guessed: another host's folder of the same name has no such file. */
static void lay_token(const struct vt_job *j, struct token *t)
{
	struct timespec ts;
	int fd, i;

	clock_gettime(CLOCK_REALTIME, &ts);
	t->value = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	snprintf(t->path, sizeof(t->path), "%.1040s.%llx", vt_collect_trace(), (unsigned long long)t->value);
	for (i = 0, t->ok = 1; i < j->ranks; i++) {
		/* a raw file that had to come here is not there any more */
		t->ok &= j->path[i] && !j->remove[i];
	}
	fd = t->ok && !vt_collector.settings.keep_raw_events ? open(t->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
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

/* By all ranks together. */
static int share_folder(const struct vt_job *j)
{
	struct token t = { 0 };
	int mine, all = 0;

	if (j->rank == j->writer) {
		lay_token(j, &t);
	}
	PMPI_Bcast(&t, (int)sizeof(t), MPI_BYTE, j->writer, MPI_COMM_WORLD);
	mine = t.ok && (leader_of(j, host_of(j, j->rank)) != j->rank || sees_token(&t));
	PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	if (j->rank == j->writer && t.path[0]) {
		unlink(t.path);
	}
	return all;
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

/* NULL: an empty one, or err says why. */
static char *receive_text(struct vt_job *j, int from, int to, size_t *size, struct tkm_err *err)
{
	unsigned long long n = 0;
	char *text, *sink = NULL;
	size_t at, part;
	int rc = cal_link_send(j->link, from, to, &n, sizeof(n), err);

	text = rc == 0 && n > 0 ? malloc((size_t)n) : NULL;
	/* what comes must be taken all the same */
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
	int begun;
};

static void tell(const struct vt_job *j, int go)
{
	vt_job_wait(NULL);
	PMPI_Bcast(&go, 1, MPI_INT, j->writer, MPI_COMM_WORLD);
}

static int exchange(void *ctx, char *const *text, const size_t *size, char **result, size_t *result_size, void (*own)(void *arg),
		    void *arg, struct tkm_err *err)
{
	struct writer *w = ctx;
	struct vt_job *j = w->j;
	uint32_t h, n = count_hosts(j);
	int rc = 0;

	w->begun = 1;
	tell(j, 1);
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

static int as_writer(struct vt_job *j, struct tkm_err *err)
{
	struct writer w = { j, 0 };
	struct vt_merge_hosts hosts = { .n = count_hosts(j), .exchange = exchange, .ctx = &w };
	int i, rc;

	for (i = 0; i < j->ranks; i++) {
		j->input_host[i] = host_of(j, i);
	}
	rc = vt_job_merge(j, &hosts, err);
	if (!w.begun) {
		tell(j, 0);
	}
	if (rc < 0 && w.begun) {
		vt_say(1, "WARNING", "this rank writes the trace alone, because the hosts together could not: %s", err->text);
	}
	/* without a single word to the others it was not theirs */
	return rc < 0 && w.begun ? 1 : rc;
}

/* ---- the others ---- */

/* The CPUs that the ranks of this host had, on its leader. */
static void host_cpus(const struct vt_job *j, cpu_set_t *all)
{
	cpu_set_t mine;
	MPI_Comm host;

	CPU_ZERO(&mine);
	CPU_ZERO(all);
	if (sched_getaffinity(0, sizeof(mine), &mine) < 0) {
		CPU_ZERO(&mine);
	}
	if (PMPI_Comm_split(MPI_COMM_WORLD, j->host[j->rank], j->rank, &host) == MPI_SUCCESS) {
		PMPI_Reduce(&mine, all, (int)sizeof(mine), MPI_BYTE, MPI_BOR, 0, host);
		PMPI_Comm_free(&host);
	}
}

static int as_other(struct vt_job *j, const cpu_set_t *cpus, struct tkm_err *err)
{
	int leader = leader_of(j, host_of(j, j->rank)) == j->rank, go = 0, rc = 0;
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
		result = vt_merge_for_host(text, size, CPU_COUNT(cpus) ? cpus : NULL, sizeof(*cpus), &result_size, &files);
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

/* Returns 1 where the hosts do not share the folder, or could not write the trace together: then the writer does. */
int vt_job_merge_together(struct vt_job *j, struct tkm_err *err)
{
	cpu_set_t cpus;

	if (count_hosts(j) < 2 || !share_folder(j)) {
		return 1;
	}
	host_cpus(j, &cpus);
	return j->rank == j->writer ? as_writer(j, err) : as_other(j, &cpus, err);
}
