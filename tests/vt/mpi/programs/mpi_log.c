/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages and operations that the program logs itself (VT_log_...), two ranks; mpi_messages.sh says what they become. Says what is
 * not as it should be. */
#include <mpi.h>
#include <stdio.h>

#include <VT.h>

static int rank;

static void want(int have, int code, const char *what)
{
	if (have != code) {
		printf("rank %d: %s returns %d, not %d\n", rank, what, have, code);
	}
}

int main(int argc, char **argv)
{
	int sent[2] = { 40, 0 }, got[2] = { 0, 40 }, scl, i;
	double t1, t2, both[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	want(VT_scldef("logged.c", 77, &scl), VT_OK, "VT_scldef");
	for (i = 0; i < 3; i++) {
		want(VT_log_sendmsg(1 - rank, 100 + 10 * rank + i, 5, VT_COMM_WORLD, scl), VT_OK, "VT_log_sendmsg");
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (i = 0; i < 3; i++) {
		want(VT_log_recvmsg(1 - rank, 100 + 10 * (1 - rank) + i, 5, VT_COMM_WORLD, VT_NOSCL), VT_OK,
			"VT_log_recvmsg");
	}
	want(VT_log_sendmsg(0, 1, 6, VT_COMM_SELF, VT_NOSCL), VT_OK, "to itself");
	want(VT_thisloc(scl), VT_OK, "VT_thisloc");
	want(VT_log_recvmsg(0, 1, 6, VT_COMM_SELF, VT_NOSCL), VT_OK, "from itself");
	/* the guide's example of events that overlap */
	t1 = VT_timestamp();
	want(VT_begin_unordered(), VT_OK, "VT_begin_unordered");
	t2 = VT_timestamp();
	if (rank == 0) {
		want(VT_log_msgevent(0, 1, 200, 7, VT_COMM_WORLD, t1, scl, VT_NOSCL), VT_OK, "the first message");
		want(VT_log_msgevent(1, 0, 201, 7, VT_COMM_WORLD, t2, VT_NOSCL, scl), VT_OK, "the second message");
	}
	want(VT_end_unordered(), VT_OK, "VT_end_unordered");
	want(VT_end_unordered(), VT_ERR_BADREQUEST, "one VT_end_unordered too many");
	want(VT_log_op(VT_OP_BARRIER, VT_COMM_WORLD, 0, 0, 0, t1, VT_NOSCL), VT_OK, "VT_log_op of the first operation");
	want(VT_thisloc(scl), VT_OK, "VT_thisloc");
	want(VT_log_op(VT_OP_BCAST, VT_COMM_WORLD, 1, 30, 31, t1, VT_NOSCL), VT_OK, "VT_log_op");
	if (rank == 1) {
		both[0] = t1;
		both[1] = t2;
		want(VT_log_opevent(VT_OP_ALLTOALL, VT_COMM_WORLD, 0, 2, sent, got, both, VT_NOSCL), VT_OK,
			"VT_log_opevent");
	}
	want(VT_log_sendmsg(2, 1, 1, VT_COMM_WORLD, VT_NOSCL), VT_ERR_BADARG, "a rank that is not there");
	want(VT_log_sendmsg(0, -1, 1, VT_COMM_WORLD, VT_NOSCL), VT_ERR_BADARG, "fewer than no bytes");
	want(VT_log_recvmsg(0, 1, 1, VT_COMM_INVALID, VT_NOSCL), VT_ERR_BADARG, "no communicator");
	want(VT_log_sendmsg(0, 1, 1, VT_COMM_WORLD, 123456), VT_ERR_BADSCLID, "no source location");
	want(VT_log_op(VT_OP_INVALID, VT_COMM_WORLD, 0, 1, 1, t1, VT_NOSCL), VT_ERR_BADARG,
		"an operation below the first");
	want(VT_log_op(VT_OP_COUNT, VT_COMM_WORLD, 0, 1, 1, t1, VT_NOSCL), VT_ERR_BADARG, "no operation");
	want(VT_log_opevent(VT_OP_BCAST, VT_COMM_WORLD, 0, 3, sent, got, both, VT_NOSCL), VT_ERR_BADARG,
		"three of two");
	MPI_Finalize();
	return 0;
}
