/* SPDX-License-Identifier: BSD-3-Clause */
/* Random communication of any number of ranks that knows its own truth: every message says who has sent it and has a length of its own
 * among those of its sender. Each receiver writes what it has received, from which rank, with which tag and on which communicator, into
 * truth.RANK, and rank 0 how many collective operations there were. mpi_messages ROUNDS SEED [BYTES [THREADS]]: messages of at most so many
 * bytes; so many threads more communicate at the same time, each on a communicator of its own. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 48, ROOM = 1 << 16, THREADS = 4, COMMS = 5 + THREADS };
/* Of the receives of one receiver, communicator and tag all are posted with the same wildcards; else one might take what another waits
 * for. */
enum { A, B, C, D, INTER, OF_THREADS };
enum { SPECIFIC = 3, LATER_SPECIFIC = 4, PARTED = 5, ANY_SOURCE = 7, LATER_ANY_SOURCE = 8, PAIRS = 11, NEVER = 99 };
enum { PARTS = 4 };

struct message {
	int from, to, comm, tag; /* world ranks */
	int how_sent, how_received;
	int bytes; /* of a partitioned one, which both sides state; 0: it is not */
};

static MPI_Comm comm[COMMS];
static const char *const name[COMMS] = { "DUP COMM_WORLD", "halves", "SPLIT COMM_WORLD", "SPLIT DUP COMM_WORLD",
	"between", "thread", "thread", "thread", "thread" };
static int world_of[COMMS][64]; /* of a rank in the communicator, or in the other group */
static int rank, ranks, rounds, comms = OF_THREADS, most = ROOM;
static _Atomic int sequence;
static unsigned long long state, operations;
static FILE *truth;
/* the last ones are for what all do; a buffer whose request was freed is in use until the barrier of the next batch */
static char *sent[BATCH + 1], *got[BATCH + 1];

static unsigned draw(unsigned n) /* the same on all ranks */
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

static int rank_in(int c, int world)
{
	int i;

	for (i = 0; i < 64 && world_of[c][i] != world; i++) {
	}
	return i;
}

static int length_of_next(void)
{
	return 16 + 4 * (atomic_fetch_add(&sequence, 1) % ((most - 16) / 4));
}

static void fill_bytes(char *b, int to, int n)
{
	int head[3] = { rank, to, n };

	memcpy(b, head, sizeof(head));
}

static int fill(char *b, int to)
{
	int n = length_of_next();

	fill_bytes(b, to, n);
	return n;
}

static void note_as(const char *b, int c, int from, int n, int tag)
{
	int head[3];

	memcpy(head, b, sizeof(head));
	if (head[1] != rank || head[2] != n || head[0] != from) {
		fprintf(stderr, "rank %d got what was for %d, %d of %d bytes, from %d\n", rank, head[1], n, head[2],
			head[0]);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	fprintf(truth, "%d %d %d %d %s\n", head[0], rank, n, tag, name[c]);
}

static void note(const char *b, int c, const MPI_Status *s)
{
	int n;

	MPI_Get_count(s, MPI_BYTE, &n);
	note_as(b, c, world_of[c][s->MPI_SOURCE], n, s->MPI_TAG);
}

/* later: those on D are not posted before they are sent. So it is with the LATER_ tags elsewhere: what is sent by a blocking call
 * must find a receive. */
static struct message draw_message(int later)
{
	struct message m = { .comm = (int)draw(OF_THREADS), .how_sent = (int)draw(7), .how_received = (int)draw(3) };

	do {
		m.from = (int)draw((unsigned)ranks);
		m.to = (int)draw((unsigned)ranks);
	} while ((m.comm == B && m.from / 2 != m.to / 2) || (m.comm == INTER && m.from % 2 == m.to % 2));
	m.tag = m.comm == D ? (int)draw(1000)
		: draw(2)   ? (draw(2) ? SPECIFIC : LATER_SPECIFIC)
			    : (draw(2) ? ANY_SOURCE : LATER_ANY_SOURCE);
	if (m.comm == D ? later : m.tag == LATER_SPECIFIC || m.tag == LATER_ANY_SOURCE) {
		m.how_received += 3;
	}
#if MPI_VERSION >= 4
	if (m.comm == A && draw(6) == 0) {
		m.tag = PARTED;
		m.how_received = 0;
		m.bytes = 16 + 4 * (int)draw((unsigned)(most - 16) / 4);
	}
#endif
	return m;
}

static MPI_Request post(const struct message *m, char *b)
{
	int from = m->comm == D || m->tag >= ANY_SOURCE ? MPI_ANY_SOURCE : rank_in(m->comm, m->from);
	int tag = m->comm == D ? MPI_ANY_TAG : m->tag;
	MPI_Request r;

#if MPI_VERSION >= 4
	if (m->bytes) {
		MPI_Precv_init(b, PARTS, m->bytes / PARTS, MPI_BYTE, from, tag, comm[m->comm], MPI_INFO_NULL, &r);
		MPI_Start(&r);
		return r;
	}
#endif
	if (m->how_received == 1) {
		MPI_Recv_init(b, ROOM, MPI_BYTE, from, tag, comm[m->comm], &r);
		MPI_Start(&r);
	} else {
		MPI_Irecv(b, ROOM, MPI_BYTE, from, tag, comm[m->comm], &r);
	}
	return r;
}

#if MPI_VERSION >= 4
static MPI_Request send_parted(const struct message *m, char *b)
{
	MPI_Request r;
	int i;

	fill_bytes(b, m->to, m->bytes);
	MPI_Psend_init(b, PARTS, m->bytes / PARTS, MPI_BYTE, rank_in(m->comm, m->to), m->tag, comm[m->comm],
		MPI_INFO_NULL, &r);
	MPI_Start(&r);
	for (i = PARTS - 1; i >= 0; i--) {
		MPI_Pready(i, r);
	}
	return r;
}
#endif

/* Blocking ones only to receives that are posted. */
static MPI_Request send(const struct message *m, char *b)
{
	int to = rank_in(m->comm, m->to), n;
	MPI_Request r = MPI_REQUEST_NULL;

#if MPI_VERSION >= 4
	if (m->bytes) {
		return send_parted(m, b);
	}
#endif
	n = fill(b, m->to);
	switch (m->how_received >= 3 ? 3 + m->how_sent % 4 : m->how_sent) {
	case 0:
		MPI_Send(b, n, MPI_BYTE, to, m->tag, comm[m->comm]);
		break;
	case 1:
		MPI_Ssend(b, n, MPI_BYTE, to, m->tag, comm[m->comm]);
		break;
	case 2:
		MPI_Issend(b, n, MPI_BYTE, to, m->tag, comm[m->comm], &r);
		break;
	case 3:
		MPI_Isend(b, n, MPI_BYTE, to, m->tag, comm[m->comm], &r);
		break;
	case 4:
		MPI_Send_init(b, n, MPI_BYTE, to, m->tag, comm[m->comm], &r);
		MPI_Start(&r);
		break;
	case 5:
		MPI_Isend(b, n, MPI_BYTE, to, m->tag, comm[m->comm], &r);
		MPI_Request_free(&r);
		break;
	default:
		MPI_Bsend(b, n, MPI_BYTE, to, m->tag, comm[m->comm]);
	}
	return r;
}

/* What is not posted before it is sent. */
static void receive(const struct message *m, char *b)
{
	int from = m->comm == D || m->tag >= ANY_SOURCE ? MPI_ANY_SOURCE : rank_in(m->comm, m->from);
	int tag = m->comm == D ? MPI_ANY_TAG : m->tag, flag = 0;
	MPI_Message message;
	MPI_Request r;
	MPI_Status s;

	if (m->how_received == 3) {
		MPI_Recv(b, ROOM, MPI_BYTE, from, tag, comm[m->comm], &s);
	} else if (m->how_received == 4) {
		MPI_Mprobe(from, tag, comm[m->comm], &message, &s);
		MPI_Mrecv(b, ROOM, MPI_BYTE, &message, &s);
	} else {
		while (!flag) {
			MPI_Improbe(from, tag, comm[m->comm], &flag, &message, MPI_STATUS_IGNORE);
		}
		MPI_Imrecv(b, ROOM, MPI_BYTE, &message, &r);
		MPI_Wait(&r, &s);
	}
	note(b, m->comm, &s);
}

static void take(MPI_Request *r, const int *which, const struct message *m, int i, const MPI_Status *s)
{
	const struct message *of = &m[which[i]];

	if (of->bytes) {
		note_as(got[which[i]], of->comm, of->from, of->bytes, PARTED); /* its status says nothing */
	} else {
		note(got[which[i]], of->comm, s);
	}
	if (r[i] != MPI_REQUEST_NULL) {
		MPI_Request_free(&r[i]); /* a persistent one */
	}
}

static void complete(int how, int n, MPI_Request *r, const int *which, const struct message *m)
{
	static MPI_Status s[BATCH];
	static int index[BATCH];
	int left = n, i, k, flag;

	if (how == 0 && n) {
		MPI_Waitall(n, r, s);
		for (i = 0; i < n; i++) {
			take(r, which, m, i, &s[i]);
		}
		return;
	}
	while (left > 0) {
		k = 0;
		if (how == 1) {
			MPI_Waitany(n, r, &index[0], &s[0]);
			k = 1;
		} else if (how == 2) {
			MPI_Waitsome(n, r, &k, index, s);
		} else if (how == 3) {
			MPI_Testsome(n, r, &k, index, s);
		} else if (how == 4) {
			MPI_Testany(n, r, &index[0], &flag, &s[0]);
			k = flag;
		} else {
			for (i = 0; i < n && !k; i++) {
				if (r[i] != MPI_REQUEST_NULL) {
					MPI_Test(&r[i], &k, &s[0]);
					index[0] = i;
				}
			}
		}
		for (i = 0; i < k; i++, left--) {
			take(r, which, m, index[i], &s[i]);
		}
	}
}

static void batch(void)
{
	static struct message m[BATCH];
	MPI_Request in[BATCH], out[BATCH], none;
	int which[BATCH], ins = 0, outs = 0, i, n = 1 + (int)draw(BATCH), how = (int)draw(6), later = (int)draw(2), b;

	for (i = 0; i < n; i++) {
		m[i] = draw_message(later);
		if (m[i].to == rank && m[i].how_received < 3) {
			which[ins] = i;
			in[ins++] = post(&m[i], got[i]);
		}
	}
	MPI_Irecv(&b, 4, MPI_BYTE, MPI_ANY_SOURCE, NEVER, comm[A], &none);
	MPI_Barrier(MPI_COMM_WORLD);
	operations++;
	for (i = 0; i < n; i++) {
		if (m[i].from == rank) {
			out[outs] = send(&m[i], sent[i]);
			outs += out[outs] != MPI_REQUEST_NULL;
		}
	}
	for (i = 0; i < n; i++) {
		if (m[i].to == rank && m[i].how_received >= 3) {
			receive(&m[i], got[i]);
		}
	}
	complete(how, ins, in, which, m);
	MPI_Waitall(outs, out, MPI_STATUSES_IGNORE);
	for (i = 0; i < outs; i++) {
		if (out[i] != MPI_REQUEST_NULL) {
			MPI_Request_free(&out[i]);
		}
	}
	MPI_Cancel(&none);
	MPI_Wait(&none, MPI_STATUS_IGNORE);
}

#if MPI_VERSION >= 4
/* Open MPI (5.0.7, 6.0.0rc2) completes no partitioned message before all ranks have a request for one: it then makes a
 * communicator of its own. */
static void begin_parted(void)
{
	const struct message m = { .from = rank, .to = rank, .comm = A, .tag = PARTED, .bytes = 64 };
	MPI_Request r[2] = { post(&m, got[0]), send_parted(&m, sent[0]) };

	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	note_as(got[0], A, rank, m.bytes, PARTED);
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
}
#endif

/* Neighbours exchange; all do the same. */
static void exchange(void)
{
	int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks, n = fill(sent[BATCH], to);
	MPI_Status s;

	if (draw(2)) {
		MPI_Sendrecv(sent[BATCH], n, MPI_BYTE, rank_in(A, to), PAIRS, got[BATCH], ROOM, MPI_BYTE,
			rank_in(A, from), PAIRS, comm[A], &s);
		note(got[BATCH], A, &s);
	} else {
		/* all lengths are the same on all ranks only by chance, and the receive needs room for any */
		MPI_Request r;

		MPI_Irecv(got[BATCH], ROOM, MPI_BYTE, rank_in(A, from), PAIRS, comm[A], &r);
		MPI_Send(sent[BATCH], n, MPI_BYTE, rank_in(A, to), PAIRS, comm[A]);
		MPI_Wait(&r, &s);
		note(got[BATCH], A, &s);
	}
	MPI_Sendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, PAIRS, NULL, 0, MPI_BYTE, MPI_PROC_NULL, PAIRS, comm[A],
		MPI_STATUS_IGNORE);
}

/* ---- other threads ---- */

/* Each rank sends to its right neighbour, and receives from whoever it is. */
static void turn(int c, unsigned k, char *out, char *in)
{
	int to = rank_in(c, (rank + 1) % ranks), from = rank_in(c, (rank + ranks - 1) % ranks), n, done, all = 0, i;
	MPI_Request r[2];
	MPI_Status s[2];

	n = fill(out, (rank + 1) % ranks);
	MPI_Irecv(in, most, MPI_BYTE, k % 3 ? from : MPI_ANY_SOURCE, k % 2 ? PAIRS : MPI_ANY_TAG, comm[c], &r[0]);
	MPI_Isend(out, n, MPI_BYTE, to, PAIRS, comm[c], &r[1]);
	if (k % 4 == 0) {
		MPI_Waitall(2, r, s);
	} else if (k % 4 == 1) {
		while (!all) {
			MPI_Testall(2, r, &all, s);
		}
	} else if (k % 4 == 2) {
		MPI_Wait(&r[1], MPI_STATUS_IGNORE);
		MPI_Wait(&r[0], &s[0]);
	} else {
		for (done = 0; done < 2; done++) {
			MPI_Status one;

			MPI_Waitany(2, r, &i, &one);
			s[i] = one;
		}
	}
	note(in, c, &s[0]);
}

static void *communicate(void *arg)
{
	int c = *(const int *)arg;
	char *out = calloc(1, ROOM), *in = calloc(1, ROOM);
	int k;

	for (k = 0; k < rounds; k++) {
		turn(c, (unsigned)k, out, in);
	}
	free(out);
	free(in);
	return NULL;
}

static void collective(void)
{
	static int in[4096], out[4096];
	int c = (int)draw(3), root = (int)draw(2) % (c == B ? 1 : ranks), what = (int)draw(6);
	MPI_Request r;

	switch (what) {
	case 0:
		MPI_Bcast(in, 10, MPI_INT, root, comm[c]);
		break;
	case 1:
		MPI_Reduce(in, out, 10, MPI_INT, MPI_SUM, root, comm[c]);
		break;
	case 2:
		MPI_Allreduce(MPI_IN_PLACE, in, 10, MPI_INT, MPI_SUM, comm[c]);
		break;
	case 3:
		MPI_Ibarrier(comm[c], &r);
		MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm[c]);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		operations += c == B ? (unsigned)(ranks + 1) / 2 : 1;
		break;
	case 4:
		MPI_Gather(in, 2, MPI_INT, out, 2, MPI_INT, root, comm[c]);
		break;
	default:
		MPI_Iallgather(in, 3, MPI_INT, out, 3, MPI_INT, comm[c], &r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
	}
	/* `halves` are as many communicators as there are pairs of ranks */
	operations += c == B ? (unsigned)(ranks + 1) / 2 : 1;
}

static void list_ranks(int c)
{
	MPI_Group group, world;
	int n, i, own[64];

	memset(world_of[c], 0xff, sizeof(world_of[c]));
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	if (c == INTER) {
		MPI_Comm_remote_group(comm[c], &group);
	} else {
		MPI_Comm_group(comm[c], &group);
	}
	MPI_Group_size(group, &n);
	for (i = 0; i < n; i++) {
		own[i] = i;
	}
	MPI_Group_translate_ranks(group, n, own, world, world_of[c]);
	MPI_Group_free(&group);
	MPI_Group_free(&world);
}

static void make_communicators(void)
{
	MPI_Comm half;
	int i;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm[A]);
	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &comm[B]);
	MPI_Comm_set_name(comm[B], name[B]);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm[C]);
	MPI_Comm_split(comm[A], 0, rank ^ 1, &comm[D]);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &comm[INTER]);
	MPI_Comm_set_name(comm[INTER], name[INTER]);
	for (i = OF_THREADS; i < comms; i++) {
		MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
		MPI_Comm_set_name(comm[i], name[i]);
	}
	for (i = 0; i < comms; i++) {
		list_ranks(i);
	}
	MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
	int i, level = MPI_THREAD_SINGLE, threads = argc > 4 ? atoi(argv[4]) : 0, which[THREADS];
	pthread_t thread[THREADS];
	char file[32];
	void *buffer = malloc(64u << 20);

	MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	rounds = argc > 1 ? atoi(argv[1]) : 10;
	most = argc > 3 ? atoi(argv[3]) : most;
	threads = level == MPI_THREAD_MULTIPLE && threads <= THREADS ? threads : 0;
	comms += threads;
	state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	snprintf(file, sizeof(file), "truth.%d", rank);
	truth = fopen(file, "w");
	for (i = 0; i <= BATCH; i++) {
		sent[i] = calloc(1, ROOM);
		got[i] = calloc(1, ROOM);
	}
	MPI_Buffer_attach(buffer, 64 << 20);
	make_communicators();
#if MPI_VERSION >= 4
	begin_parted();
#endif
	for (i = 0; i < threads; i++) {
		which[i] = OF_THREADS + i;
		pthread_create(&thread[i], NULL, communicate, &which[i]);
	}
	for (i = 0; i < rounds; i++) {
		batch();
		exchange();
		collective();
	}
	for (i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Buffer_detach(&buffer, &i);
	if (rank == 0) {
		fprintf(truth, "operations %llu\n", operations + 1);
	}
	fclose(truth);
	for (i = 0; i < comms; i++) {
		MPI_Comm_free(&comm[i]);
	}
	MPI_Finalize();
	return 0;
}
