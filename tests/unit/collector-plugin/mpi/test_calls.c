/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of MPI calls: which of them end with a stamp that must not be taken before what they have seen. */
#include "config.h"
#include "tests/lib/check.h"

#include <string.h>

enum kind { MAY_FOLLOW, ONLY_LOCAL };

static const struct {
	const char *name;
	enum kind kind;
} table[] = {
/* calls.c says it of each kind in the same way */
#define FOLLOWS(name, ...) { #name, MAY_FOLLOW },
#define STAYS(name, ...) { #name, ONLY_LOCAL },
#define BY_HAND FOLLOWS
#define CALL FOLLOWS
#define SEND FOLLOWS
#define RECV FOLLOWS
#define SENDRECV FOLLOWS
#define SENDRECV_REPLACE FOLLOWS
#define MPROBE FOLLOWS
#define IMPROBE FOLLOWS
#define MRECV FOLLOWS
#define WAIT FOLLOWS
#define TEST FOLLOWS
#define LOOK FOLLOWS
#define LOOK_SOME FOLLOWS
#define WAITANY FOLLOWS
#define TESTANY FOLLOWS
#define WAITALL FOLLOWS
#define TESTALL FOLLOWS
#define WAITSOME FOLLOWS
#define TESTSOME FOLLOWS
#define COLL FOLLOWS
#define COLL_INIT FOLLOWS
#define NEWCOMM FOLLOWS
#define GROUPCOMM FOLLOWS
#define JOINED FOLLOWS
#define SPAWN FOLLOWS
#define COMM_FREE FOLLOWS
#define IO FOLLOWS
#define IO_BEGUN FOLLOWS
#define FILE_OPEN FOLLOWS
#define FILE_CLOSE FOLLOWS
#define NEWWIN FOLLOWS
#define WIN_FREE FOLLOWS
#define WIN_FENCE FOLLOWS
#define WIN_WAIT FOLLOWS
#define WIN_POST FOLLOWS
#define WIN_START FOLLOWS
#define WIN_COMPLETE FOLLOWS
#define WIN_LOCK FOLLOWS
#define WIN_FLUSH FOLLOWS
#define WIN_FLUSH_ALL FOLLOWS
#define WIN_UNLOCK FOLLOWS
#define WIN_TEST FOLLOWS
#define RMA FOLLOWS
#define RMA_BOTH FOLLOWS
#define RMA_ONE FOLLOWS
#define OUTSIDE FOLLOWS
#define CALLBACK STAYS
#define CALLBACKS STAYS
#define GREQUEST_START STAYS
#define GREQUEST_COMPLETE STAYS
#define COMM_DISCONNECT FOLLOWS
#define IO_POSTED STAYS
#define LOCAL STAYS
#define SET_ERRHANDLER STAYS
#define ISEND STAYS
#define SEND_INIT STAYS
#define IRECV STAYS
#define RECV_INIT STAYS
#define ISENDRECV STAYS
#define ISENDRECV_REPLACE STAYS
#define PSEND_INIT STAYS
#define PRECV_INIT STAYS
#define IMRECV STAYS
#define CANCEL STAYS
#define REQUEST_FREE STAYS
#define START STAYS
#define STARTALL STAYS
#define COMM_NAME STAYS
#define IDUP STAYS
#define IDUP_WITH_INFO STAYS
#define COLL_I STAYS
#include "collector-plugin/mpi/calls.def"
#define VT_MPI 500
#include "collector-plugin/mpi/calls4.def"
#include "collector-plugin/mpi/calls_large.def"
};

enum { CALLS = sizeof(table) / sizeof(table[0]) };

static int kind_of(const char *name)
{
	int i;

	for (i = 0; i < CALLS; i++) {
		if (strcmp(table[i].name, name) == 0) {
			return (int)table[i].kind;
		}
	}
	return -1;
}

/* Receives, waits, tests, probes, collective calls, and sends that end when the other side has begun to receive. */
static void calls_that_may_follow(void)
{
	static const char *const names[] = { "Recv", "Mrecv", "Recv_c", "Mrecv_c", "Sendrecv", "Sendrecv_replace",
		"Send", "Ssend", "Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome",
		"Request_get_status", "Request_get_status_all", "Request_get_status_any", "Request_get_status_some",
		"Comm_flush_buffer", "Probe", "Iprobe", "Mprobe", "Improbe", "Parrived", "Barrier", "Bcast", "Reduce",
		"Allreduce", "Gather", "Gatherv", "Allgather", "Allgatherv", "Scatter", "Scatterv", "Alltoall",
		"Alltoallv", "Alltoallw", "Scan", "Exscan", "Reduce_scatter", "Reduce_scatter_block",
		"Neighbor_allgather", "Neighbor_alltoall", "Comm_dup", "Comm_split", "Comm_create", "Comm_create_group",
		"Comm_free", "Comm_accept", "Comm_connect", "Comm_spawn", "Comm_set_info", "Intercomm_create",
		"Intercomm_merge", "Cart_create", "Win_create", "Win_fence", "Win_lock", "Win_unlock", "Win_flush",
		"Win_start", "Win_complete", "Win_post", "Win_wait", "Win_test", "Win_sync", "Win_free", "Win_set_info",
		"File_open", "File_close", "File_read_all", "File_write_all", "File_sync", "Buffer_detach",
		"Allreduce_init", "Barrier_init" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		CHECK(kind_of(names[i]) == MAY_FOLLOW, "MPI_%s: %d", names[i], kind_of(names[i]));
	}
}

static int begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

static int ends(const char *name, const char *with)
{
	size_t n = strlen(name), w = strlen(with);

	return n >= w && strcmp(name + n - w, with) == 0;
}

/* What is marked as local is an inquiry, a change of a local object, or the start of something that is waited for later. */
static void local_calls_are_local(void)
{
	static const char *const first[] = { "Add_error", "Type_", "Group_", "Info_", "Op_", "Pack", "Unpack", "Error_",
		"Errhandler_", "Comm_get_", "Comm_remote_", "Win_get_", "File_get_", "File_i", "Get_", "Graph_",
		"Grequest_", "Session_", "Start", "Pready", "Register_datarep", "Dist_graph_neighbors", "Comm_idup",
		"Isendrecv", "Buffer_iflush", "Comm_attach_buffer", "Comm_iflush_buffer", "Remove_error_" };
	static const char *const whole[] = { "Alloc_mem", "Free_mem", "Buffer_attach", "Buffer_attach_c", "Cancel",
		"Cart_coords", "Cart_get", "Cart_rank", "Cart_shift", "Cartdim_get", "Comm_compare", "Comm_group",
		"Comm_rank", "Comm_size", "Comm_test_inter", "Comm_set_name", "Comm_set_attr", "Win_set_name",
		"Win_set_attr", "Dims_create", "Graphdims_get", "Request_free", "Topo_test", "Test_cancelled",
		"Win_shared_query", "Win_shared_query_c", "Send_init", "Recv_init", "Bsend_init", "Ssend_init",
		"Rsend_init", "Send_init_c", "Recv_init_c", "Bsend_init_c", "Ssend_init_c", "Rsend_init_c",
		"Psend_init", "Precv_init" };
	static const char *const last[] = { "_errhandler", "_keyval", "_delete_attr" };
	int n = 0, i;
	size_t k;

	for (i = 0; i < CALLS; i++) {
		const char *name = table[i].name;
		/* Isend and its like; Iprobe and Improbe tell what has come */
		int good = name[0] == 'I' && name[1] >= 'a' && name[1] <= 'z' && !ends(name, "probe") &&
			!begins(name, "Intercomm");

		for (k = 0; k < sizeof(first) / sizeof(first[0]); k++) {
			good |= begins(name, first[k]) && !begins(name, "Get_accumulate");
		}
		for (k = 0; k < sizeof(whole) / sizeof(whole[0]); k++) {
			good |= strcmp(name, whole[k]) == 0;
		}
		for (k = 0; k < sizeof(last) / sizeof(last[0]); k++) {
			good |= ends(name, last[k]);
		}
		CHECK(table[i].kind != ONLY_LOCAL || good, "MPI_%s is marked as local", name);
		n += table[i].kind == ONLY_LOCAL;
	}
	CHECK(n > 200 && CALLS - n > 150, "%d of %d calls are local", n, (int)CALLS);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(calls_that_may_follow);
	RUN(local_calls_are_local);
	return check_end();
}
