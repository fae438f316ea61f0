/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that knows nothing of VT: many kinds of MPI calls, whose results it checks and prints. argv[1]: what else
 * happens: "thread" asks for MPI_THREAD_MULTIPLE and calls from four threads, "twice" looks after the end, "wait N" goes
 * on for N tenths of a second, "abort" and "exit" end early in rank 1, "nofinalize" in all. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void *talk(void *arg)
{
	int tag = (int)(long)arg, peer = rank ^ 1, i, mine, got = -1;

	for (i = 0; peer < size && i < 100; i++) {
		mine = rank * 1000 + i;
		MPI_Sendrecv(
			&mine, 1, MPI_INT, peer, tag, &got, 1, MPI_INT, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (got != peer * 1000 + i) {
			printf("rank %d got %d\n", rank, got);
			exit(1);
		}
	}
	return NULL;
}

static void collectives(void)
{
	int sum = 0, all[64], mine = rank + 1, i, root = size - 1, n = 0;
	char list[64 * 12] = "";
	double d = rank == 0 ? 2.5 : 0, scan = 0, one = rank * 0.5;
	MPI_Comm half;
	MPI_Request r;

	MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Bcast(&d, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	MPI_Scan(&one, &scan, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, root, MPI_COMM_WORLD);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Ibarrier(half, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Comm_free(&half);
	for (i = 0; rank == root && i < size; i++) {
		n += snprintf(list + n, sizeof(list) - (size_t)n, " %d", all[i]);
	}
	/* in one piece, which launchers do not mix with others': MPICH takes the buffer of stdout away */
	printf("rank %d sum %d bcast %g scan %g%s\n", rank, sum, d, scan, list);
}

/* An error that the program has asked for comes back to it as it is. */
static void errors(void)
{
	char text[MPI_MAX_ERROR_STRING];
	int rc, cls, n, x = 0;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	rc = MPI_Send(&x, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
	MPI_Error_class(rc, &cls);
	MPI_Error_string(cls, text, &n);
	printf("rank %d error class is MPI_ERR_RANK: %d\n", rank, cls == MPI_ERR_RANK);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void go_on(int tenths)
{
	int i, x = 0;

	for (i = 0; i < tenths * 10; i++) {
		MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		usleep(10000);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int level = strcmp(what, "thread") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, provided, i, flag;
	pthread_t t[4];

	MPI_Init_thread(&argc, &argv, level, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	talk(0);
	for (i = 0; level == MPI_THREAD_MULTIPLE && provided == level && i < 4; i++) {
		pthread_create(&t[i], NULL, talk, (void *)(long)(i + 1));
	}
	while (i > 0) {
		pthread_join(t[--i], NULL);
	}
	collectives();
	errors();
	fflush(stdout);
	if (strcmp(what, "wait") == 0) {
		go_on(argc > 2 ? atoi(argv[2]) : 1);
	}
	if (strcmp(what, "abort") == 0 && rank == 1) {
		MPI_Abort(MPI_COMM_WORLD, 7);
	}
	if ((strcmp(what, "exit") == 0 && rank == 1) || strcmp(what, "nofinalize") == 0) {
		exit(strcmp(what, "exit") == 0 ? 3 : 0);
	}
	if (strcmp(what, "abort") == 0 || strcmp(what, "exit") == 0) {
		sleep(20);
	}
	MPI_Finalize();
	MPI_Finalized(&flag);
	if (strcmp(what, "twice") == 0) {
		printf("rank %d finalized %d\n", rank, flag);
	}
	return 0;
}
