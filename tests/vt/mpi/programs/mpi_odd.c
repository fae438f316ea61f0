/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI programs that do it otherwise. argv[1]: "plain" sends and receives; "null" starts with MPI_Init(NULL, NULL), "level N" with
 * MPI_Init_thread(NULL, NULL, N); "inter" talks over intercommunicators; "spawn" starts two more of itself; with WITH_VT "vtinit"
 * starts and ends MPI by VT_ alone, "vtfirst" calls VT_initialize before MPI_Init, "vtfini" goes on with MPI after VT_finalize and ends it itself, "vtends" leaves that out;
 * "taken NAME" makes a file of that name. */
#include <mpi.h>
#ifdef WITH_VT
#include <VT.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static void plain(void)
{
	int i, x = 7, got = 0;

	for (i = 0; ranks > 1 && i < 10; i++) {
		if (rank == 0) {
			MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
		} else if (rank == 1) {
			MPI_Recv(&got, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
	}
	printf("rank %d of %d got %d\n", rank, ranks, got);
}

static void inter(void)
{
	int mine = rank + 1, got = -1, sum = 0, local;
	MPI_Comm half, both;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Comm_rank(half, &local);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 77, &both);
	MPI_Sendrecv(&mine, 1, MPI_INT, local, 3, &got, 1, MPI_INT, local, 3, both, MPI_STATUS_IGNORE);
	MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, both);
	printf("rank %d got %d, the others' sum is %d\n", rank, got, sum);
	MPI_Comm_disconnect(&both);
	MPI_Comm_free(&half);
}

static void family(char *program, MPI_Comm parent)
{
	char word[] = "child";
	char *words[] = { word, NULL };
	MPI_Comm children = parent, all;
	int number, sum;

	if (parent == MPI_COMM_NULL) {
		MPI_Comm_spawn(program, words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
	}
	MPI_Intercomm_merge(children, parent != MPI_COMM_NULL, &all);
	MPI_Comm_rank(all, &number);
	MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, all);
	printf("%s %d is %d of all, sum %d\n", parent == MPI_COMM_NULL ? "parent" : "child", rank, number, sum);
	MPI_Comm_free(&all);
	MPI_Comm_disconnect(&children);
}

#ifdef WITH_VT
static int h;

static void at_the_end(void)
{
	double d = 7.5;

	if (VT_countval(1, &h, &d) != VT_OK) {
		puts("the callback cannot record");
	}
}

static void never(void)
{
	puts("the callback that was replaced is called");
}

static void record(const char *what)
{
	double d = 0.5 + rank;
	int c, sum = 0, over = 0;

	if (VT_classdef("Odd", &c) != VT_OK || VT_countdef("value", c, VT_COUNT_FLOAT, VT_ME, 0, "1", &h) != VT_OK ||
		VT_countval(1, &h, &d) != VT_OK || VT_registerprefixed("ThreadA", -1) != VT_OK ||
		VT_setfinalizecallback(never) != VT_OK || VT_setfinalizecallback(at_the_end) != VT_OK ||
		VT_finalize() != VT_OK) {
		puts("a call of VT failed");
	}
	d = 99; /* goes nowhere */
	if (VT_countval(1, &h, &d) != VT_ERR_NOTINITIALIZED) {
		puts("a call of VT after the end");
	}
	MPI_Finalized(&over);
	if (strcmp(what, "vtinit") != 0 && !over) {
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	printf("rank %d: MPI is over %d, sum %d\n", rank, over, sum);
}
#endif

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "plain", *more = argc > 2 ? argv[2] : "0";
	MPI_Comm parent;
	FILE *f;
	int rc, flag, provided = -1;

#ifdef WITH_VT
	if (strcmp(what, "vtfirst") == 0 && VT_initialize(&argc, &argv) != VT_OK) {
		puts("VT_initialize failed");
	}
	if (strcmp(what, "vtinit") == 0) {
		rc = VT_initialize(&argc, &argv) == VT_OK ? MPI_SUCCESS : -1;
	} else
#endif
		if (strcmp(what, "level") == 0) {
		rc = MPI_Init_thread(NULL, NULL, atoi(more), &provided);
	} else {
		rc = strcmp(what, "null") == 0 ? MPI_Init(NULL, NULL) : MPI_Init(&argc, &argv);
	}
	MPI_Query_thread(&flag);
	flag = flag == MPI_THREAD_MULTIPLE      ? 3
		: flag == MPI_THREAD_SERIALIZED ? 2
		: flag == MPI_THREAD_FUNNELED   ? 1
						: 0;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_get_parent(&parent);
	if (parent == MPI_COMM_NULL) {
		printf("rank %d start %d, level %d, %d\n", rank, rc,
			strcmp(what, "level") == 0 || strcmp(what, "vtinit") == 0 ? flag : 0, provided);
	}
	if (strcmp(what, "inter") == 0) {
		inter();
	} else if (strcmp(what, "spawn") == 0 || parent != MPI_COMM_NULL) {
		family(argv[0], parent);
	} else if (strcmp(what, "taken") == 0) {
		f = rank == 0 ? fopen(more, "w") : NULL;
		rc = f ? fclose(f) : 0;
		plain();
#ifdef WITH_VT
	} else if (strncmp(what, "vt", 2) == 0) {
		record(what);
#endif
	} else {
		plain();
	}
	fflush(stdout);
	if (strcmp(what, "vtinit") != 0 && strcmp(what, "vtends") != 0) {
		MPI_Finalize();
	}
	return 0;
}
