/* SPDX-License-Identifier: BSD-3-Clause */
/* argv[1]: which handler the program sets to MPI_ERRORS_RETURN, or to one of its own, before it makes a mistake: comm, file, win.
 * wait: no mistake, a barrier with a rank that comes late. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void ignore_error(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
}

static int fail_comm(void)
{
	MPI_Errhandler own;
	int x = 0;

	MPI_Comm_create_errhandler(ignore_error, &own);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
	return MPI_Send(&x, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
}

static int fail_file(void)
{
	MPI_File file;

	MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
	return MPI_File_open(MPI_COMM_SELF, "/no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
}

static int fail_win(void)
{
	static int memory[4];
	MPI_Win win;
	int x = 0, rc;

	MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Win_fence(0, win);
	rc = MPI_Put(&x, 1, MPI_INT, 77, 0, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	return rc;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	int rank, rc;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!strcmp(kind, "wait")) {
		if (rank == 0) {
			FILE *f = fopen("begun", "w");

			fclose(f);
			sleep(40);
			f = fopen("ended", "w");
			fclose(f);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	} else {
		rc = !strcmp(kind, "file") ? fail_file() : !strcmp(kind, "win") ? fail_win() : fail_comm();
		printf("went on after the error: %d\n", rc != MPI_SUCCESS);
	}
	MPI_Finalize();
	return 0;
}
