/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks whose transfers to files and windows are known: each prints "rank function READ|WRITE bytes file". With "serialized" before the name of
 * the file, another thread waits for the first request. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int rank;
static FILE *truth;
static char data[1 << 16];
static const char *path;

static void say(const char *function, const char *dir, int bytes, const char *file)
{
	fprintf(truth, "%d MPI_%s %s %d %s\n", rank, function, dir, bytes, file);
}

static void *wait_for(void *request)
{
	MPI_Wait(request, MPI_STATUS_IGNORE);
	return NULL;
}

static void files(int serialized)
{
	MPI_Request r, two[2];
	pthread_t waiter;
	MPI_File f;
	int done;

	MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	MPI_File_write_at(f, rank * 1000, data, 250, MPI_INT, MPI_STATUS_IGNORE);
	say("File_write_at", "WRITE", 1000, path);
	MPI_File_write_at_all(f, 2000 + rank * 100, data, 100, MPI_CHAR, MPI_STATUS_IGNORE);
	say("File_write_at_all", "WRITE", 100, path);
	MPI_File_sync(f);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_File_seek(f, 2100, MPI_SEEK_SET);
	/* only 100 are there */
	MPI_File_read(f, data, 500, MPI_CHAR, MPI_STATUS_IGNORE);
	say("File_read", "READ", 100, path);
	MPI_File_iread_at(f, 0, data, 70, MPI_CHAR, &r);
	if (!serialized || pthread_create(&waiter, NULL, wait_for, &r)) {
		wait_for(&r);
	} else {
		pthread_join(waiter, NULL);
	}
	say("File_iread_at", "READ", 70, path);
	MPI_File_iread_at(f, 0, data, 60, MPI_CHAR, &two[0]);
	MPI_File_iread_at(f, 2150, data + 500, 50, MPI_CHAR, &two[1]);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Waitall(2, two, MPI_STATUSES_IGNORE);
	say("File_iread_at", "READ", 60, path);
	say("File_iread_at", "READ", 50, path);
	MPI_File_iwrite_at(f, 2000 + rank * 100, data, 21, MPI_INT, &r);
	MPI_Barrier(MPI_COMM_WORLD);
	for (done = 0; !done;) {
		MPI_Test(&r, &done, MPI_STATUS_IGNORE);
	}
	say("File_iwrite_at", "WRITE", 84, path);
	MPI_File_sync(f);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_File_read_at_all_begin(f, 0, data, 10, MPI_INT);
	MPI_File_read_at_all_end(f, data, MPI_STATUS_IGNORE);
	say("File_read_at_all_begin", "READ", 40, path);
	MPI_File_close(&f);
}

static void windows(void)
{
	int mine[100] = { 0 }, one = 1, zero = 0, result[10], other = 1 - rank;
	char name[40];
	MPI_Request r;
	MPI_Win first, w;

	MPI_Win_create(mine, sizeof(mine), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &first);
	MPI_Win_create(mine, sizeof(mine), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &w);
	snprintf(name, sizeof(name), "window 2 of rank %d", other);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, w);
	MPI_Put(data, 20, MPI_INT, other, 0, 20, MPI_INT, w);
	say("Put", "WRITE", 80, name);
	MPI_Win_flush(other, w);
	MPI_Get(result, 3, MPI_INT, other, 0, 3, MPI_INT, w);
	say("Get", "READ", 12, name);
	MPI_Win_flush(other, w);
	MPI_Accumulate(&one, 1, MPI_INT, other, 0, 1, MPI_INT, MPI_SUM, w);
	say("Accumulate", "WRITE", 4, name);
	MPI_Win_flush(other, w);
	MPI_Get_accumulate(data, 5, MPI_INT, result, 5, MPI_INT, other, 0, 5, MPI_INT, MPI_SUM, w);
	say("Get_accumulate", "WRITE", 20, name);
	say("Get_accumulate", "READ", 20, name);
	MPI_Fetch_and_op(&one, result, MPI_INT, other, 0, MPI_SUM, w);
	say("Fetch_and_op", "WRITE", 4, name);
	say("Fetch_and_op", "READ", 4, name);
	MPI_Compare_and_swap(&one, &zero, result, MPI_INT, other, 0, w);
	say("Compare_and_swap", "WRITE", 4, name);
	say("Compare_and_swap", "READ", 4, name);
	MPI_Rput(data, 7, MPI_CHAR, other, 0, 7, MPI_CHAR, w, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	say("Rput", "WRITE", 7, name);
	/* to nobody */
	MPI_Put(data, 9, MPI_INT, MPI_PROC_NULL, 0, 9, MPI_INT, w);
	MPI_Win_unlock(other, w);
	MPI_Win_free(&w);
	MPI_Win_free(&first);
}

int main(int argc, char **argv)
{
	int serialized = argc > 2, level;
	char name[40];

	path = argv[argc - 1];
	MPI_Init_thread(&argc, &argv, serialized ? MPI_THREAD_SERIALIZED : MPI_THREAD_SINGLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(name, sizeof(name), "truth.%d", rank);
	truth = fopen(name, "w");
	files(serialized);
	windows();
	fclose(truth);
	MPI_Finalize();
	return 0;
}
