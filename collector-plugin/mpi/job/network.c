/* SPDX-License-Identifier: BSD-3-Clause */
/* The network of the node processes of an MPI job on several hosts: it finds deadlocks, and makes one trace if the job dies.
 * Rank 0 starts VTserver, and the ranks give its contact word to the sampler processes of their hosts. */
#include "config.h"
#include "collector-plugin/mpi/job/job.h"

#include "collector-plugin/host/say.h"
#include "collector-plugin/run/network.h"

void vt_job_network(const struct vt_job *j)
{
	struct tkm_err err = { .text = "" };
	char word[VT_NETWORK_WORD] = "";
	struct {
		int failed, rank;
	} mine = { 0, j->rank }, worst = { 0, 0 };
	int shared;

	if (vt_job_count_hosts(j) < 2) {
		return;
	}
	shared = vt_job_shares_raw_folder(j);
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
