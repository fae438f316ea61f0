/* SPDX-License-Identifier: BSD-3-Clause */
/* The link over MPI. Stamps stand next to the calls, messages have 8 bytes in both directions, and who
 * waits for his turn sleeps when there are more processes than processing units. */
#include "config.h"
#include "calib/link_private.h"

#include <dlfcn.h>
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TAG_TURN = 1, TAG_PING, TAG_PONG, TAG_DATA };

struct mpi {
	MPI_Comm comm;
	int crowded; /* more processes on this node than processing units */
	unsigned char *near; /* ranks on this node */
	int holds, yielded;  /* hold_cores(): is it in force, and what was before */
	int pinned;
	cpu_set_t before;    /* affinity to go back to */
};

static MPI_Comm comm_of(const struct cal_link *l)
{
	return ((const struct mpi *)l->impl)->comm;
}

static void nap(long ns)
{
	struct timespec ts = { 0, ns };

	nanosleep(&ts, NULL);
}

/* Waits for a request; asleep between looks, ever longer up to a millisecond. */
static void wait_asleep(MPI_Request *request)
{
	long ns = 20000;
	int done = 0;

	MPI_Test(request, &done, MPI_STATUS_IGNORE);
	while (!done) {
		nap(ns);
		ns = ns < 1000000 ? 2 * ns : 1000000;
		MPI_Test(request, &done, MPI_STATUS_IGNORE);
	}
}

static int turn(struct cal_link *l, int from, int to, long long *word, struct tkm_err *err)
{
	struct mpi *m = l->impl;
	int there = 0;
	int looks = m->crowded ? 0 : 200; /* a turn that comes at once is not slept over */

	(void)err;
	if (l->rank == from) {
		MPI_Send(word, 1, MPI_LONG_LONG, to, TAG_TURN, m->comm);
		return 0;
	}
	while (!there) {
		MPI_Iprobe(from, TAG_TURN, m->comm, &there, MPI_STATUS_IGNORE);
		if (!there && looks-- <= 0) {
			nap(looks > -20 ? 50000 : 200000); /* who has to wait for long disturbs less */
		}
	}
	MPI_Recv(word, 1, MPI_LONG_LONG, from, TAG_TURN, m->comm, MPI_STATUS_IGNORE);
	return 0;
}

static int exchange(struct cal_link *l, int master, int child, struct cal_sample *s, struct tkm_err *err)
{
	MPI_Comm comm = comm_of(l);
	int64_t stamp = 0;

	(void)err;
	if (l->rank == master) {
		MPI_Recv(&stamp, 1, MPI_INT64_T, child, TAG_PING, comm, MPI_STATUS_IGNORE);
		stamp = tmr_read_ordered(l->timer).v;
		MPI_Send(&stamp, 1, MPI_INT64_T, child, TAG_PONG, comm);
		return 0;
	}
	s->send = tmr_read_ordered(l->timer);
	MPI_Send(&stamp, 1, MPI_INT64_T, master, TAG_PING, comm);
	MPI_Recv(&stamp, 1, MPI_INT64_T, master, TAG_PONG, comm, MPI_STATUS_IGNORE);
	s->recv = tmr_read_ordered(l->timer);
	s->master_in = s->master_out = ltick(stamp);
	return 0;
}

static int message(struct cal_link *l, int from, int to, ltick_t *sent, ltick_t *received, struct tkm_err *err)
{
	MPI_Comm comm = comm_of(l);
	int64_t word = 0;

	(void)err;
	if (l->rank == from) {
		*sent = tmr_read_ordered(l->timer);
		MPI_Send(&word, 1, MPI_INT64_T, to, TAG_PING, comm);
	} else {
		MPI_Recv(&word, 1, MPI_INT64_T, from, TAG_PING, comm, MPI_STATUS_IGNORE);
		*received = tmr_read_ordered(l->timer);
	}
	return 0;
}

static int send(struct cal_link *l, int from, int to, void *data, size_t size, struct tkm_err *err)
{
	if (size > INT_MAX) {
		return tkm_fail(err, TKM_ERR_ARG, "%zu bytes are too many for one message", size);
	}
	if (l->rank == from) {
		MPI_Send(data, (int)size, MPI_BYTE, to, TAG_DATA, comm_of(l));
	} else {
		MPI_Recv(data, (int)size, MPI_BYTE, from, TAG_DATA, comm_of(l), MPI_STATUS_IGNORE);
	}
	return 0;
}

/* First processing unit that this process may use, other than `not`; -1: none. */
static int pick_unit(const cpu_set_t *set, int not)
{
	int i;

	for (i = 0; i < CPU_SETSIZE; i++) {
		if (i != not && CPU_ISSET(i, set)) {
			return i;
		}
	}
	return -1;
}

/* a takes the first processing unit that it may use and tells b, who takes another. */
static int pair_begin(struct cal_link *l, int a, int b, struct tkm_err *err)
{
	struct mpi *m = l->impl;
	int other = l->rank == a ? b : a, unit = -1, taken = -1;
	cpu_set_t one;

	(void)err;
	m->pinned = 0;
	if (!m->near[other] || sched_getaffinity(0, sizeof(m->before), &m->before) < 0) {
		CPU_ZERO(&m->before);
	}
	if (l->rank == b && m->near[other]) {
		MPI_Recv(&taken, 1, MPI_INT, a, TAG_DATA, m->comm, MPI_STATUS_IGNORE);
	}
	unit = pick_unit(&m->before, taken);
	if (l->rank == a && m->near[other]) {
		MPI_Send(&unit, 1, MPI_INT, b, TAG_DATA, m->comm);
	}
	if (unit >= 0) {
		CPU_ZERO(&one);
		CPU_SET(unit, &one);
		m->pinned = sched_setaffinity(0, sizeof(one), &one) == 0;
	}
	return 0;
}

static void pair_end(struct cal_link *l)
{
	struct mpi *m = l->impl;

	if (m->pinned) {
		sched_setaffinity(0, sizeof(m->before), &m->before);
		m->pinned = 0;
	}
}

static int barrier(struct cal_link *l, struct tkm_err *err)
{
	MPI_Request r;

	(void)err;
	MPI_Ibarrier(comm_of(l), &r);
	wait_asleep(&r);
	return 0;
}

static int bcast(struct cal_link *l, void *data, size_t size, struct tkm_err *err)
{
	MPI_Request r;

	if (size > INT_MAX) {
		return tkm_fail(err, TKM_ERR_ARG, "%zu bytes are too many for one broadcast", size);
	}
	MPI_Ibcast(data, (int)size, MPI_BYTE, 0, comm_of(l), &r);
	wait_asleep(&r);
	return 0;
}

/* In parts, because MPI counts in int. */
static void send_part(struct cal_link *l, const char *data, size_t length)
{
	while (length > 0) {
		int part = length > INT_MAX ? INT_MAX : (int)length;

		MPI_Send(data, part, MPI_BYTE, 0, TAG_DATA, comm_of(l));
		data += part;
		length -= (size_t)part;
	}
}

static void receive_part(struct cal_link *l, int from, char *data, size_t length)
{
	while (length > 0) {
		int part = length > INT_MAX ? INT_MAX : (int)length;

		MPI_Recv(data, part, MPI_BYTE, from, TAG_DATA, comm_of(l), MPI_STATUS_IGNORE);
		data += part;
		length -= (size_t)part;
	}
}

static int gather(struct cal_link *l, const void *data, size_t length, struct cal_blobs *all, struct tkm_err *err)
{
	unsigned long long mine = length, *lengths = NULL;
	MPI_Request r;
	int i, rc = 0;

	if (l->rank == 0) {
		lengths = calloc((size_t)l->size, sizeof(*lengths));
		rc = lengths ? cal_blobs_alloc(all, l->size, err) : tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
	}
	if (rc < 0) {
		MPI_Abort(comm_of(l), 2); /* the others would wait for ever */
	}
	MPI_Igather(&mine, 1, MPI_UNSIGNED_LONG_LONG, lengths, 1, MPI_UNSIGNED_LONG_LONG, 0, comm_of(l), &r);
	wait_asleep(&r);
	if (l->rank != 0) {
		send_part(l, data, length);
		return 0;
	}
	for (i = 0; i < l->size; i++) {
		all->length[i] = (size_t)lengths[i];
		all->data[i] = malloc((size_t)lengths[i] + 1);
		if (!all->data[i]) {
			MPI_Abort(comm_of(l), 2);
			abort();
		}
		if (i == 0) {
			memcpy(all->data[0], data, length);
		} else {
			receive_part(l, i, all->data[i], all->length[i]);
		}
		all->data[i][lengths[i]] = '\0';
	}
	free(lengths);
	return 0;
}

/* Open MPI reads its parameter once, when it starts; behind it there is a function that is not documented, and
 * not there in any other MPI. It returns what was set before. */
static void hold_cores(struct cal_link *l, int hold)
{
	struct mpi *m = l->impl;
	bool (*set)(bool);
	void *found = dlsym(RTLD_DEFAULT, "opal_progress_set_yield_when_idle");

	if (!found || hold == m->holds || sysconf(_SC_NPROCESSORS_ONLN) == 1) {
		return;
	}
	memcpy(&set, &found, sizeof(set));
	if (hold) {
		m->yielded = set(false);
	} else {
		set(m->yielded);
	}
	m->holds = hold;
}

static void close_mpi(struct cal_link *l)
{
	struct mpi *m = l->impl;

	MPI_Comm_free(&m->comm);
	free(m->near);
	free(m);
	free(l);
	MPI_Finalize();
}

static const struct cal_link_ops mpi_ops = {
	.turn = turn,
	.exchange = exchange,
	.message = message,
	.send = send,
	.pair_begin = pair_begin,
	.pair_end = pair_end,
	.barrier = barrier,
	.bcast = bcast,
	.gather = gather,
	.hold_cores = hold_cores,
	.close = close_mpi,
};

/* Marks the ranks of m->comm that are on this node. */
static void find_near(struct mpi *m, MPI_Comm node, int on_node, int size)
{
	int *there = calloc((size_t)on_node, sizeof(*there)), *here = calloc((size_t)on_node, sizeof(*here)), i;
	MPI_Group all, some;

	MPI_Comm_group(m->comm, &all);
	MPI_Comm_group(node, &some);
	for (i = 0; there && here && i < on_node; i++) {
		there[i] = i;
	}
	if (there && here) {
		MPI_Group_translate_ranks(some, on_node, there, all, here);
	}
	for (i = 0; there && here && i < on_node; i++) {
		if (here[i] >= 0 && here[i] < size) {
			m->near[here[i]] = 1;
		}
	}
	MPI_Group_free(&all);
	MPI_Group_free(&some);
	free(there);
	free(here);
}

void cal_link_keep_cores(void)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1) {
		/* Open MPI's own switch; its launcher sets it to 1 when slots are oversubscribed */
		setenv("OMPI_MCA_mpi_yield_when_idle", "0", 1);
	}
}

struct cal_link *cal_link_start(int *argc, char ***argv, struct tkm_err *err)
{
	struct cal_link *l = calloc(1, sizeof(*l));
	struct mpi *m = calloc(1, sizeof(*m));
	MPI_Comm node;
	int on_node = 1;

	if (!l || !m) {
		free(l);
		free(m);
		tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
		return NULL;
	}
	MPI_Init(argc, argv);
	MPI_Comm_dup(MPI_COMM_WORLD, &m->comm);
	MPI_Comm_rank(m->comm, &l->rank);
	MPI_Comm_size(m->comm, &l->size);
	MPI_Comm_split_type(m->comm, MPI_COMM_TYPE_SHARED, l->rank, MPI_INFO_NULL, &node);
	MPI_Comm_size(node, &on_node);
	m->near = calloc((size_t)l->size, 1);
	if (!m->near) {
		MPI_Abort(m->comm, 2);
		abort();
	}
	find_near(m, node, on_node, l->size);
	MPI_Comm_free(&node);
	m->crowded = on_node > sysconf(_SC_NPROCESSORS_ONLN);
	l->ops = &mpi_ops;
	l->impl = m;
	return l;
}
