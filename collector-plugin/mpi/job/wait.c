/* SPDX-License-Identifier: BSD-3-Clause */
/* A barrier that leaves the CPUs to the ranks that still work. */
#include "config.h"
#include "collector-plugin/mpi/job/job.h"

#include <mpi.h>
#include <time.h>

#include "collector-plugin/host/say.h"

void vt_job_wait(const char *late)
{
	/* a rank that works meanwhile needs the CPUs of those that only wait */
	const double patience_s = 20, awake_s = 0.0002;
	double begin = PMPI_Wtime();
	int done = 0, said = 0;
	MPI_Request r;

	if (PMPI_Ibarrier(MPI_COMM_WORLD, &r) != MPI_SUCCESS) {
		return;
	}
	while (PMPI_Test(&r, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
		double waited_s = PMPI_Wtime() - begin;
		struct timespec nap = { 0, waited_s > 1 ? 2000000 : 100000 };

		if (waited_s > awake_s) {
			nanosleep(&nap, NULL);
		}
		if (late && !said && waited_s > patience_s) {
			said = 1;
			vt_say(1, "WARNING", "%s", late);
		}
	}
}
