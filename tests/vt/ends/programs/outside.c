/* SPDX-License-Identifier: BSD-3-Clause */
/* All ranks are in one MPI call for 3 seconds and wait for something that is in no trace. argv[1] says what. The last argument of those
 * that end in a deadlock after that is "stuck". */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank;
static MPI_Request request;

static void compute(void)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < begin.tv_sec + 3);
}

static void add(void *in, void *sum, int *n, MPI_Datatype *type)
{
	(void)n;
	(void)type;
	compute();
	((int *)sum)[0] += ((int *)in)[0];
}

static void reduce(void)
{
	int sum = 0;
	MPI_Op op;

	MPI_Op_create(add, 1, &op);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
	MPI_Op_free(&op);
}

static int deleted(MPI_Comm comm, int key, void *value, void *extra)
{
	(void)comm;
	(void)key;
	(void)value;
	(void)extra;
	compute();
	return MPI_SUCCESS;
}

static void free_attribute(void)
{
	MPI_Comm comm;
	int key;

	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &key, NULL);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_set_attr(comm, key, NULL);
	MPI_Comm_free(&comm);
}

static void handle(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
	compute();
}

static void fail(void)
{
	MPI_Errhandler handler;

	MPI_Comm_create_errhandler(handle, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	MPI_Send(&rank, 1, MPI_INT, 1000, 0, MPI_COMM_WORLD);
}

static int query(void *extra, MPI_Status *status)
{
	(void)extra;
	MPI_Status_set_elements(status, MPI_INT, 0);
	MPI_Status_set_cancelled(status, 0);
	status->MPI_SOURCE = status->MPI_TAG = 0;
	return MPI_SUCCESS;
}

static int free_request(void *extra)
{
	(void)extra;
	return MPI_SUCCESS;
}

static int cancel_request(void *extra, int complete)
{
	(void)extra;
	(void)complete;
	return MPI_SUCCESS;
}

static void *complete_later(void *unused)
{
	sleep(3);
	MPI_Grequest_complete(request);
	return unused;
}

static void *send_later(void *unused)
{
	sleep(3);
	MPI_Send(&rank, 1, MPI_INT, rank, 5, MPI_COMM_WORLD);
	return unused;
}

static void wait_for_thread(int own_request)
{
	pthread_t t;
	int x;

	if (own_request) {
		MPI_Grequest_start(query, free_request, cancel_request, NULL, &request);
	}
	pthread_create(&t, NULL, own_request ? complete_later : send_later, NULL);
	if (own_request) {
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	} else {
		MPI_Recv(&x, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	pthread_join(t, NULL);
}

static void spawn(char *self)
{
	MPI_Comm child;

	MPI_Comm_spawn(self, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child, MPI_ERRCODES_IGNORE);
	MPI_Barrier(child);
	MPI_Comm_disconnect(&child);
}

/* "pipe" is read by nobody for 3 seconds */
static void write_pipe(void)
{
	static char bytes[1 << 20];
	MPI_File f;

	if (rank == 0) {
		MPI_File_open(MPI_COMM_SELF, "pipe", MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &f);
		MPI_File_write_shared(f, bytes, sizeof(bytes), MPI_BYTE, MPI_STATUS_IGNORE);
		MPI_File_close(&f);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static void wait_for_ever(void)
{
	int x;

	MPI_Recv(&x, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	MPI_Comm parent;
	int level;

	MPI_Init_thread(&argc, &argv, strcmp(how, "thread") ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_get_parent(&parent);
	if (parent != MPI_COMM_NULL) {
		compute();
		MPI_Barrier(parent);
		MPI_Comm_disconnect(&parent);
	} else if (!strcmp(how, "spawn")) {
		spawn(argv[0]);
	} else if (!strcmp(how, "operation")) {
		reduce();
	} else if (!strcmp(how, "attribute")) {
		free_attribute();
	} else if (!strcmp(how, "handler")) {
		fail();
	} else if (!strcmp(how, "request") || !strcmp(how, "thread")) {
		wait_for_thread(how[0] == 'r');
	} else if (!strcmp(how, "pipe")) {
		write_pipe();
	}
	if (argc > 2) {
		wait_for_ever();
	}
	printf("rank %d done\n", rank);
	MPI_Finalize();
	return 0;
}
