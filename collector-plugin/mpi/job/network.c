/* SPDX-License-Identifier: BSD-3-Clause */
/* The network of the node processes of an MPI job on several hosts: it finds deadlocks, and makes one trace if the job dies.
 * Rank 0 starts VTserver, and the ranks give its contact word to the sampler processes of their hosts. */
#include "config.h"
#include "collector-plugin/mpi/job/job.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collector-plugin/host/say.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/run/network.h"

/* ---- do the hosts share the folder of the raw files? ---- */

struct token {
	int ok;
	uint64_t value;
	char path[1100];
};

/* Creates a file beside `near`, with a new, random name: a different folder of the same name on another host does not have it. */
static void lay_token(struct token *t, const char *near)
{
	struct timespec ts;
	int fd;

	clock_gettime(CLOCK_REALTIME, &ts);
	t->value = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	snprintf(
		t->path, sizeof(t->path), "%.1000s.%llx.tmp-%ld-0", near, (unsigned long long)t->value, (long)getpid());
	fd = open(t->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
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

/* The lowest rank of each host looks. */
static int looks_for_host(const struct vt_job *j)
{
	int i;

	for (i = 0; j->host[i] != j->host[j->rank]; i++) {
	}
	return i == j->rank;
}

/* By all ranks together. */
static int share_raw_folder(const struct vt_job *j)
{
	const char *raw_path = vt_raw_path(j->collect->raw);
	struct token t = { 0 };
	int mine, all = 0;

	if (j->rank == 0) {
		lay_token(&t, raw_path);
	}
	PMPI_Bcast(&t, (int)sizeof(t), MPI_BYTE, 0, MPI_COMM_WORLD);
	mine = t.ok && is_beside(t.path, raw_path) && (!looks_for_host(j) || sees_token(&t));
	PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	if (j->rank == 0 && t.path[0]) {
		unlink(t.path);
	}
	return all;
}

static int on_several_hosts(const struct vt_job *j)
{
	int i;

	for (i = 0; i < j->ranks && j->host[i] == j->host[0]; i++) {
	}
	return i < j->ranks;
}

void vt_job_network(const struct vt_job *j)
{
	struct tkm_err err = { .text = "" };
	char word[VT_NETWORK_WORD] = "";
	struct {
		int failed, rank;
	} mine = { 0, j->rank }, worst = { 0, 0 };
	int shared;

	if (!on_several_hosts(j)) {
		return;
	}
	shared = share_raw_folder(j);
	mine.failed = j->rank == 0 && vt_network_start_for_mpi(j->ranks, shared, word, &err) < 0;
	PMPI_Bcast(word, (int)sizeof(word), MPI_CHAR, 0, MPI_COMM_WORLD);
	if (word[0]) {
		mine.failed = vt_network_join_mpi(word, j->rank, j->ranks, shared, &err) < 0;
	}
	PMPI_Allreduce(&mine, &worst, 1, MPI_2INT, MPI_MAXLOC, MPI_COMM_WORLD);
	if (worst.failed && worst.rank == j->rank) {
		vt_say(1, "WARNING",
			"no network between the node processes: a deadlock between hosts is not found, and if the job dies, each "
			"host has a trace of its own: %s",
			err.text);
	}
}
