/* SPDX-License-Identifier: BSD-3-Clause */
/* What each thread does: calls whose waits cannot be decided are counted. */
#include "config.h"
#include "tests/unit/stf/analysis/states.h"

enum { INIT = 1, LOCK_ALL, SEND, FUNCTIONS };

static const char *const names[FUNCTIONS] = { "", "MPI_Init_thread", "MPI_Win_lock_all", "MPI_Send" };
static const char *const classes[FUNCTIONS] = { "", "MPI", "MPI", "MPI" };

static void call(uint32_t process, uint32_t thread, uint32_t function, uint64_t from, uint64_t to)
{
	enter_state(STF_WILLY(process, thread), from, function);
	leave_state(STF_WILLY(process, thread), to);
}

/* Thread 1 of process 0 is in MPI from 20 to 50; calls of process 1, and one that begins when it has left, do not count. */
static void calls_beside_others_are_counted(void)
{
	const uint32_t threads[2] = { 3, 1 };

	begin_states(threads, 2, names, classes, FUNCTIONS);
	call(0, 0, INIT, 0, 10);
	call(1, 0, INIT, 0, 10);
	call(0, 1, SEND, 20, 50);
	call(0, 0, SEND, 30, 40);
	call(0, 2, LOCK_ALL, 45, 60);
	call(1, 0, LOCK_ALL, 45, 60);
	call(0, 0, SEND, 70, 80);
	analyse_states();
	CHECK_INT(result ? result->beside : 0, 2);
	CHECK_INT(result ? result->lock_alls : 0, 2);
	end_states();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(calls_beside_others_are_counted);
	rmdir(dir);
	return check_end();
}
