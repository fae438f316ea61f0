/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI that few programs use, with its truth: each receiver writes what it has received into truth.RANK (from, to, bytes, tag,
 * communicator), rank 0 each operation as "operation NAME ROOT", ranks being those of COMM_WORLD. argv[1]:
 * cancel   sends and receives that are cancelled, among others with the same envelope
 * inter    messages and operations of an intercommunicator
 * connect  the same over one that MPI_Comm_accept and MPI_Comm_connect have made
 * parted   partitioned messages (MPI 4)
 * some     two threads complete their requests with MPI_Testsome
 * twice    two threads are in MPI_Ssend with the same envelope at the same time
 * freed    a receive from anybody is freed before it gets a message
 * outside  asks MPI before MPI_Init and after MPI_Finalize
 * child    messages to a process that the job has spawned
 * names    a communicator of each kind that has a name in the guide's section 2.1.5 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;
static FILE *truth;
static char *program;

static void got(int from, int bytes, int tag, const char *comm)
{
	fprintf(truth, "%d %d %d %d %s\n", from, rank, bytes, tag, comm);
}

static void operation(const char *name, int root)
{
	if (rank == 0) {
		fprintf(truth, "operation %s %d\n", name, root);
	}
}

/* ---- cancelled ---- */

/* Rank 0 tells whether it was: if not, the message is taken. */
static void cancelled_send(int tag)
{
	char b[64] = "";
	int was = 0;
	MPI_Request r;
	MPI_Status s;

	if (rank == 0) {
		MPI_Isend(b, 40, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &r);
		MPI_Cancel(&r);
		MPI_Wait(&r, &s);
		MPI_Test_cancelled(&s, &was);
		MPI_Send(&was, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
		MPI_Send(b, 41, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
	} else if (rank == 1) {
		MPI_Recv(&was, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		got(0, 4, 1, "COMM_WORLD");
		if (!was) {
			MPI_Recv(b, 64, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			got(0, 40, tag, "COMM_WORLD");
		}
		MPI_Recv(b, 64, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		got(0, 41, tag, "COMM_WORLD");
	}
}

static void cancel(void)
{
	char b[64] = "", c[64];
	MPI_Request r[3];
	int i;

	cancelled_send(10);
	if (rank == 1) {
		MPI_Irecv(b, 64, MPI_BYTE, 0, 11, MPI_COMM_WORLD, &r[0]);
		MPI_Irecv(b, 64, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r[1]);
		MPI_Recv_init(c, 64, MPI_BYTE, 0, 11, MPI_COMM_WORLD, &r[2]);
		MPI_Start(&r[2]);
		for (i = 0; i < 3; i++) {
			MPI_Cancel(&r[i]);
			MPI_Wait(&r[i], MPI_STATUS_IGNORE);
		}
		/* a request that is cancelled and freed, and no call waits for it */
		MPI_Irecv(b, 64, MPI_BYTE, 0, 12, MPI_COMM_WORLD, &r[0]);
		MPI_Cancel(&r[0]);
		MPI_Request_free(&r[0]);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	operation("MPI_Barrier", -1);
	if (rank == 0) {
		MPI_Send(b, 22, MPI_BYTE, 1, 12, MPI_COMM_WORLD);
		MPI_Send(b, 20, MPI_BYTE, 1, 11, MPI_COMM_WORLD);
		MPI_Send(b, 21, MPI_BYTE, 1, 11, MPI_COMM_WORLD);
	} else if (rank == 1) {
		MPI_Recv(c, 64, MPI_BYTE, 0, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		got(0, 22, 12, "COMM_WORLD");
		MPI_Start(&r[2]); /* used again after it was cancelled */
		MPI_Wait(&r[2], MPI_STATUS_IGNORE);
		got(0, 20, 11, "COMM_WORLD");
		MPI_Request_free(&r[2]);
		MPI_Recv(c, 64, MPI_BYTE, 0, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		got(0, 21, 11, "COMM_WORLD");
	}
}

/* ---- intercommunicators ---- */

/* `both` connects the even ranks with the odd ones. Rooted operations go from world rank 2 or 0 to all odd ones, or the other way. */
static void operations(MPI_Comm both, int even)
{
	int in[64] = { 0 }, out[256], mine = 0, root, half = ranks / 2;

	MPI_Comm_rank(both, &mine);
	MPI_Barrier(both);
	operation("MPI_Barrier", -1);
	MPI_Allreduce(in, out, 3, MPI_INT, MPI_SUM, both);
	operation("MPI_Allreduce", -1);
	MPI_Allgather(in, 2, MPI_INT, out, 2, MPI_INT, both);
	operation("MPI_Allgather", -1);
	MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, both);
	operation("MPI_Alltoall", -1);
	root = !even ? half - 1 : mine == half - 1 ? MPI_ROOT : MPI_PROC_NULL;
	MPI_Bcast(in, 5, MPI_INT, root, both);
	operation("MPI_Bcast", 2 * (half - 1));
	root = even ? 0 : mine == 0 ? MPI_ROOT : MPI_PROC_NULL;
	MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, root, both);
	operation("MPI_Gather", 1);
	MPI_Scatter(out, 1, MPI_INT, in, 1, MPI_INT, root, both);
	operation("MPI_Scatter", 1);
	MPI_Reduce(in, out, 2, MPI_INT, MPI_SUM, root, both);
	operation("MPI_Reduce", 1);
}

static void talk(MPI_Comm both, int even, const char *name)
{
	int remote = 0, mine = 0, i;
	char b[512] = "", c[512];
	MPI_Status s;

	MPI_Comm_remote_size(both, &remote);
	MPI_Comm_rank(both, &mine);
	for (i = 0; even && i < remote; i++) {
		MPI_Send(b, 100 + 10 * mine + i, MPI_BYTE, i, 3 + i, both);
	}
	for (i = 0; !even && i < remote; i++) {
		MPI_Recv(b, 512, MPI_BYTE, MPI_ANY_SOURCE, 3 + mine, both, &s);
		got(2 * s.MPI_SOURCE, 100 + 10 * s.MPI_SOURCE + mine, 3 + mine, name);
	}
	MPI_Sendrecv(b, 300 + rank, MPI_BYTE, mine, 9, c, 512, MPI_BYTE, mine, 9, both, MPI_STATUS_IGNORE);
	got(even ? rank + 1 : rank - 1, 300 + (even ? rank + 1 : rank - 1), 9, name);
}

static void inter(void)
{
	MPI_Comm half, both, all;
	int even = rank % 2 == 0;

	MPI_Comm_split(MPI_COMM_WORLD, !even, rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, even, 77, &both);
	MPI_Comm_set_name(both, "both");
	talk(both, even, "both");
	operations(both, even);
	MPI_Intercomm_merge(both, !even, &all);
	MPI_Comm_set_name(all, "all");
	MPI_Barrier(all);
	operation("MPI_Barrier", -1);
	MPI_Comm_free(&all);
	MPI_Comm_free(&both);
	MPI_Comm_free(&half);
}

static void meet(void)
{
	char port[MPI_MAX_PORT_NAME] = "";
	int even = rank % 2 == 0;
	MPI_Comm half, both;

	MPI_Comm_split(MPI_COMM_WORLD, !even, rank, &half);
	if (rank == 0) {
		MPI_Open_port(MPI_INFO_NULL, port);
		MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
	} else if (rank == 1) {
		MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		got(0, MPI_MAX_PORT_NAME, 2, "COMM_WORLD");
	}
	if (even) {
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &both);
	} else {
		MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &both);
	}
	MPI_Comm_set_name(both, "met");
	talk(both, even, "met");
	MPI_Barrier(both);
	operation("MPI_Barrier", -1);
	MPI_Comm_disconnect(&both);
	if (rank == 0) {
		MPI_Close_port(port);
	}
	MPI_Comm_free(&half);
}

static void child(void)
{
	char word[] = "child", *words[] = { word, NULL }, b[64] = "";
	MPI_Comm parent, other;

	MPI_Comm_get_parent(&parent);
	if (parent == MPI_COMM_NULL) {
		MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
		if (rank == 0) {
			MPI_Send(b, 50, MPI_BYTE, 0, 1, other);
			MPI_Recv(b, 64, MPI_BYTE, 0, 2, other, MPI_STATUS_IGNORE);
			MPI_Send(b, 52, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
		} else if (rank == 1) {
			MPI_Recv(b, 64, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			got(0, 52, 3, "COMM_WORLD");
		}
		MPI_Comm_disconnect(&other);
	} else {
		MPI_Recv(b, 64, MPI_BYTE, 0, 1, parent, MPI_STATUS_IGNORE);
		MPI_Send(b, 51, MPI_BYTE, 0, 2, parent);
		MPI_Comm_disconnect(&parent);
	}
}

/* ---- names of communicators ---- */

/* The intercommunicator of both halves, and what becomes of it. */
static void merge(MPI_Comm half)
{
	MPI_Comm both, all;

	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 5, &both);
	MPI_Intercomm_merge(both, rank >= 2, &all);
	MPI_Comm_free(&all);
	MPI_Comm_free(&both);
}

static void names(void)
{
	static const int last[4] = { 2, 4, 6, 8 }, edges[8] = { 1, 3, 0, 2, 1, 3, 0, 2 };
	const int dims[2] = { 2, 2 }, periods[2] = { 0, 0 }, rows[2] = { 0, 1 }, three[3] = { 0, 1, 2 };
	MPI_Comm few, cart, row, graph, dup, again, half;
	MPI_Group world, group;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 3, three, &group);
	MPI_Comm_create(MPI_COMM_WORLD, group, &few);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
	MPI_Cart_sub(cart, rows, &row);
	MPI_Graph_create(MPI_COMM_WORLD, 4, last, edges, 0, &graph);
	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	MPI_Comm_set_name(dup, "first");
	MPI_Comm_set_name(dup, "last");
	MPI_Comm_dup(dup, &again);
	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
	merge(half);
	MPI_Comm_set_name(half, rank < 2 ? "low" : "high");
	merge(half);
	MPI_Comm_free(&half);
	MPI_Comm_free(&again);
	MPI_Comm_free(&dup);
	MPI_Comm_free(&graph);
	MPI_Comm_free(&row);
	MPI_Comm_free(&cart);
	if (few != MPI_COMM_NULL) {
		MPI_Comm_free(&few);
	}
	MPI_Group_free(&group);
	MPI_Group_free(&world);
}

/* ---- partitions ---- */

static void parted(void)
{
#if MPI_VERSION >= 4
	enum { PARTS = 4, EACH = 25 };
	int b[PARTS * EACH] = { 0 }, i, turn, flag;
	MPI_Request r;

	if (rank > 1) {
		return;
	}
	if (rank == 0) {
		MPI_Psend_init(b, PARTS, EACH, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
	} else {
		MPI_Precv_init(b, PARTS, EACH, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
	}
	for (turn = 0; turn < 2; turn++) {
		MPI_Start(&r);
		for (i = PARTS - 1; rank == 0 && i >= 0; i--) {
			MPI_Pready(i, r);
		}
		for (flag = 0; rank == 1 && !flag;) {
			MPI_Parrived(r, 2, &flag);
		}
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		if (rank == 1) {
			got(0, (int)sizeof(b), 6, "COMM_WORLD");
		}
	}
	MPI_Request_free(&r);
#endif
}

/* ---- threads ---- */

enum { MANY = 200 };

/* Each thread has a tag of its own. */
static void *complete_some(void *arg)
{
	int tag = *(const int *)arg, i, k, n, at[MANY], done = 0;
	static char b[2][MANY][256];
	static const char out[256];
	MPI_Request r[MANY], s[MANY];
	MPI_Status st[MANY];

	for (i = 0; i < MANY; i++) {
		MPI_Irecv(b[tag][i], 256, MPI_BYTE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &r[i]);
	}
	for (i = 0; i < MANY; i++) {
		MPI_Isend(out, 1 + i, MPI_BYTE, (rank + 1) % ranks, tag, MPI_COMM_WORLD, &s[i]);
	}
	while (done < MANY) {
		MPI_Testsome(MANY, r, &n, at, st);
		for (k = 0; k < n && n != MPI_UNDEFINED; k++, done++) {
			MPI_Get_count(&st[k], MPI_BYTE, &i);
			got(st[k].MPI_SOURCE, i, tag, "COMM_WORLD");
		}
	}
	MPI_Waitall(MANY, s, MPI_STATUSES_IGNORE);
	return NULL;
}

static void *send_seven(void *arg)
{
	char b[70] = "";

	(void)arg;
	MPI_Ssend(b, 70, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
	return NULL;
}

/* A message that was probed is no longer seen by another probe, and its MPI_Ssend waits for MPI_Mrecv: both are in it at once. */
static void twice(void)
{
	pthread_t t[2];
	MPI_Message m[2];
	char b[70] = "";
	int i;

	if (rank == 0) {
		MPI_Send(b, 8, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
		for (i = 0; i < 2; i++) {
			pthread_create(&t[i], NULL, send_seven, NULL);
		}
		for (i = 0; i < 2; i++) {
			pthread_join(t[i], NULL);
		}
		MPI_Send(b, 9, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
	} else if (rank == 1) {
		MPI_Recv(b, 70, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		got(0, 8, 7, "COMM_WORLD");
		for (i = 0; i < 2; i++) {
			MPI_Mprobe(0, 7, MPI_COMM_WORLD, &m[i], MPI_STATUS_IGNORE);
		}
		for (i = 0; i < 2; i++) {
			MPI_Mrecv(b, 70, MPI_BYTE, &m[i], MPI_STATUS_IGNORE);
			got(0, 70, 7, "COMM_WORLD");
		}
		MPI_Recv(b, 70, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		got(0, 9, 7, "COMM_WORLD");
	}
}

static void freed(void)
{
	static char b[64], c[64];
	MPI_Request r;

	if (rank == 1) {
		MPI_Irecv(b, 64, MPI_BYTE, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &r);
		MPI_Request_free(&r);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	operation("MPI_Barrier", -1);
	if (rank == 0) {
		MPI_Send(b, 30, MPI_BYTE, 1, 9, MPI_COMM_WORLD);
		MPI_Send(b, 30, MPI_BYTE, 1, 9, MPI_COMM_WORLD);
		MPI_Send(b, 31, MPI_BYTE, 1, 8, MPI_COMM_WORLD);
	} else if (rank == 1) {
		MPI_Recv(c, 64, MPI_BYTE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		got(0, 30, 9, "COMM_WORLD");
		MPI_Recv(c, 64, MPI_BYTE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		got(0, 31, 8, "COMM_WORLD");
	}
}

static void ask(const char *when)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	int a = 0, b = 0, begun = -1, over = -1;

	MPI_Initialized(&begun);
	MPI_Finalized(&over);
	MPI_Get_version(&a, &b);
	MPI_Get_library_version(version, &a);
	if (rank == 0) {
		printf("%s: begun %d, over %d\n", when, begun, over);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int threads = !strcmp(what, "some") || !strcmp(what, "twice"), level, i, tag[2] = { 0, 1 };
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = { { "cancel", cancel }, { "inter", inter }, { "connect", meet }, { "parted", parted },
		{ "twice", twice }, { "freed", freed }, { "child", child }, { "names", names } };
	pthread_t t;
	char file[40];
	MPI_Comm parent;

	program = argv[0];
	if (!strcmp(what, "outside")) {
		ask("before");
	}
	MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_get_parent(&parent);
	snprintf(file, sizeof(file), parent == MPI_COMM_NULL ? "truth.%d" : "child.%d", rank);
	truth = fopen(file, "w");
	for (i = 0; i < (int)(sizeof(parts) / sizeof(parts[0])); i++) {
		if (!strcmp(what, parts[i].name)) {
			parts[i].run();
		}
	}
	if (!strcmp(what, "some")) {
		pthread_create(&t, NULL, complete_some, &tag[1]);
		complete_some(&tag[0]);
		pthread_join(t, NULL);
	}
	fclose(truth);
	if (threads && level != MPI_THREAD_MULTIPLE) {
		puts("no threads");
	}
	MPI_Finalize();
	if (!strcmp(what, "outside")) {
		ask("after");
	}
	return 0;
}
