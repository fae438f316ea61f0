/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Wtime(), in nanoseconds from the whole second of the first call. It can be opened between
 * MPI_Init and MPI_Finalize only. One of the few places where mpi.h may be included. */
#include "config.h"
#include "timers/timer_private.h"

#include <math.h>
#include <mpi.h>

/* Whole second of the first call in this process; 0 where all processes share the clock. */
static double origin = -1;

static ltick_t read_wtime(struct tmr_timer *t)
{
	(void)t;
	/* subtract first: a double of seconds since 1970 resolves only 0.2 us */
	return ltick(llrint((MPI_Wtime() - origin) * 1e9));
}

static int open_wtime(struct tmr_timer *t, const char *arg, struct tkm_err *err)
{
	int up = 0, down = 0, found = 0, *global = NULL;

	(void)arg;
	MPI_Initialized(&up);
	MPI_Finalized(&down);
	if (!up || down) {
		return tkm_fail(err, TKM_ERR_UNAVAIL, "MPI is not initialised (start it with mpirun)");
	}
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &global, &found);
	if (origin < 0) {
		origin = found && global && *global ? 0 : floor(MPI_Wtime());
	}
	t->read = read_wtime;
	t->read_ordered = read_wtime;
	t->hz = 1e9;
	t->flags = TMR_SLEWED; /* it may be any clock of the kernel */
	/* as in the guide: which clock MPI_Wtime() reads is unknown, so its scope is this process alone */
	t->scope = found && global && *global ? TMR_SCOPE_CLUSTER : TMR_SCOPE_PROCESS;
	t->shareable = 1;
	return 0;
}

const struct tmr_ops tmr_mpi_wtime = {
	.name = "MPI_Wtime",
	.what = "the clock of the MPI library",
	.scope = TMR_SCOPE_PROCESS,
	.open = open_wtime,
	.own_quartz = 1,
};
