/* SPDX-License-Identifier: BSD-3-Clause */
/* Ten messages from rank 0 to rank 1, and then what argv[1] names goes wrong. Prints what failed as it should. many: nothing does but
 * for the disk, on which a hundred thousand messages of each rank to itself have no place. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank, x;

static void failed(int rc)
{
	printf("%d %s\n", rank, rc == MPI_SUCCESS ? "succeeds" : "fails");
}

/* Handles that stand for nothing, or for nothing any more. */
static void handles(void)
{
	MPI_Request none = MPI_REQUEST_NULL, r;
	MPI_Comm copy, null = MPI_COMM_NULL;
	MPI_Datatype type = MPI_DATATYPE_NULL;

	failed(MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
	failed(MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_NULL, MPI_STATUS_IGNORE));
	failed(MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &r));
	failed(MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_NULL));
	failed(MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD));
	failed(MPI_Comm_dup(MPI_COMM_NULL, &copy));
	failed(MPI_Comm_free(&null));
	failed(MPI_Start(&none));
	failed(MPI_Request_free(&none));
	failed(MPI_Isend(&x, 1, MPI_DATATYPE_NULL, 1 - rank, 0, MPI_COMM_WORLD, &r));
	failed(MPI_Type_free(&type));
}

static void errors(void)
{
	long two = 0;
	MPI_File f;

	failed(MPI_Send(&x, 1, MPI_INT, 99, 0, MPI_COMM_WORLD));
	failed(MPI_Send(&x, -1, MPI_INT, 0, 0, MPI_COMM_WORLD));
	failed(MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD));
	failed(MPI_Recv(&x, 1, MPI_INT, 77, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	failed(MPI_File_open(MPI_COMM_WORLD, "no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
	/* longer than what is received */
	if (rank == 0) {
		MPI_Send(&two, 2, MPI_INT, 1, 5, MPI_COMM_WORLD);
	} else {
		failed(MPI_Recv(&x, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	}
}

static void many(void)
{
	MPI_Request r[2];
	int i, y;

	for (i = 0; i < 100000; i++) {
		MPI_Irecv(&y, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &r[0]);
		MPI_Isend(&x, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &r[1]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	}
	printf("%d ends\n", rank);
}

int main(int argc, char **argv)
{
	const char *what = argv[argc - 1];
	MPI_Request r;
	int i, pid;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (i = 0; i < 10; i++) {
		if (rank == 0) {
			MPI_Send(&x, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
		} else {
			MPI_Recv(&x, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
	}
	if (!strcmp(what, "errors")) {
		errors();
		handles();
	} else if (!strcmp(what, "many")) {
		many();
	} else if (!strcmp(what, "leak")) {
		for (i = 0; i < 1000; i++) {
			MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 1000 + i, MPI_COMM_WORLD, &r);
		}
	} else if (!strcmp(what, "abort") && rank == 1) {
		MPI_Abort(MPI_COMM_WORLD, 3);
	} else if (!strcmp(what, "kill")) {
		/* in the middle of MPI_Recv */
		pid = (int)getpid();
		if (rank == 1) {
			MPI_Send(&pid, 1, MPI_INT, 0, 50, MPI_COMM_WORLD);
			MPI_Recv(&x, 1, MPI_INT, 0, 51, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
		MPI_Recv(&pid, 1, MPI_INT, 1, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		usleep(500000);
		kill(pid, SIGKILL);
		sleep(20);
	}
	MPI_Finalize();
	return 0;
}
