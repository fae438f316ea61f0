/* SPDX-License-Identifier: BSD-3-Clause */
/* The link over MPI. Stamps are next to the calls, and messages have 8 bytes in both directions. A process that waits
 * for its turn sleeps if there are more processes than processing units. Nothing blocks inside MPI: every wait looks
 * for its message, for the end of its patience and for the peer's word that it has given up. Two processes of one node
 * that measure their clocks exchange messages over cache lines which they share (calib/session/line.h): MPI has no part
 * in these, so its waits may yield the core. Between nodes MPI carries the messages, and does not yield meanwhile. The
 * names of the profiling interface are used throughout, so that a tool which wraps MPI, this collector's own library
 * included, neither records nor disturbs the calibration. */
#include "config.h"
#include "calib/session/wakeup.h"
#include "base/cpus.h"
#include "calib/session/line.h"
#include "calib/session/link_mpi.h"
#include "calib/session/link.h"
#include "calib/session/link_private.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TAG_TURN, TAG_PING, TAG_PONG, TAG_DATA, TAG_UNIT, TAG_GIVE_UP, TAGS };

enum { SMALL = 2048, AT_ONCE = 256 };

/* Tags up to 32767 are certain to be there. */
enum { EPOCHS = 4000 };

struct mpi {
	MPI_Comm comm;
	int ours;                  /* MPI was started here, and ends with the link */
	int crowded;               /* more processes on this node than processing units */
	unsigned char *near;       /* ranks on this node */
	int *slot_of;              /* of those, each one's wakeup slot */
	struct cal_wakeup *wakeup; /* NULL: there are none */
	struct cal_lines *lines;   /* beside them; NULL: there are none */
	int on_line; /* the rank that this one exchanges messages with over lines, -1: none; known to both, by their first ping */
	double exchange_spin_s, turn_spin_s; /* a wait spins for this time before it sleeps */
	bool (*set_yield)(bool);             /* Open MPI's switch; NULL: there is none, or one processing unit only */
	int holds, yielded;                  /* hold_cores(): is it in force, and what was before */
	int kept, pair_yielded;              /* the same for a pair that uses MPI */
	int placed,
		exchanging; /* from pair_begin() to pair_end(); from the first timed message: then the other is there */
	int pinned, together;   /* to a unit of its own; no other was left for this one */
	struct tkm_cpus before; /* affinity to go back to */
};

/* In an exchange, and for a turn where cores are free. */
static const double exchange_spin_s = 5e-3, turn_spin_s = 2e-3;

MPI_Comm cal_link_comm(const struct cal_link *l)
{
	return ((const struct mpi *)l->impl)->comm;
}

static int tag(const struct cal_link *l, int what)
{
	return (int)(l->epoch % EPOCHS) * TAGS + what;
}

static double link_now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void sleep_ns(long ns)
{
	struct timespec ts = { 0, ns };

	nanosleep(&ts, NULL);
}

static int mpi_failed(int peer, int code, struct tkm_err *err)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int n;

	PMPI_Error_string(code, text, &n);
	return tkm_fail(err, TKM_ERR_IO, "MPI between this rank and rank %d: %.300s", peer, text);
}

static int given_up_by(const struct cal_link *l, int peer)
{
	int there = 0;

	PMPI_Iprobe(peer, tag(l, TAG_GIVE_UP), cal_link_comm(l), &there, MPI_STATUS_IGNORE);
	return there;
}

/* Takes back a request whose peer is silent. Whatever arrives later stays in its epoch. */
static int cancel_request(struct cal_link *l, MPI_Request *r, int peer, double limit_s, struct tkm_err *err)
{
	int there = given_up_by(l, peer);

	PMPI_Cancel(r);
	PMPI_Request_free(r);
	if (there) {
		return tkm_fail(err, TKM_ERR_TIMEOUT, "rank %d had given up waiting for rank %d", peer, l->rank);
	}
	return cal_link_silent(peer, l->rank, limit_s, err);
}

/* The wakeup table, if the peer signals when it has sent what this process waits for; else NULL. */
static struct cal_wakeup *wakeup_from(const struct cal_link *l, int peer, int signals)
{
	const struct mpi *m = l->impl;

	return signals && m->near[peer] && cal_wakeup_is_from(m->wakeup, m->slot_of[peer]) ? m->wakeup : NULL;
}

/* The pause between two checks. A process that is woken up need not check often: its checks would disturb those that
 * exchange messages. */
static void sleep_until_signalled(struct cal_wakeup *wakeup, uint32_t seen, double waited)
{
	if (wakeup) {
		cal_wakeup_sleep(wakeup, seen, 10000000);
	} else {
		sleep_ns(waited < 1e-3 ? 50000 : waited < 1 ? 200000 : 1000000);
	}
}

/* Waits for a request that depends on `peer`: spinning for spin_s, then asleep between looks, the longer it
 * takes. signals: the peer signals when it has sent. */
static int wait_for_request(
	struct cal_link *l, MPI_Request *r, int peer, double limit_s, double spin_s, int signals, struct tkm_err *err)
{
	struct cal_wakeup *wakeup = wakeup_from(l, peer, signals);
	int done = 0, dozing = 0, rc;
	double begin = 0, waited;
	unsigned looks = 0;

	for (;;) {
		uint32_t seen = dozing ? cal_wakeup_prepare(wakeup) : 0;

		rc = PMPI_Test(r, &done, MPI_STATUS_IGNORE);
		if (dozing && (rc != MPI_SUCCESS || done)) {
			cal_wakeup_end(wakeup);
		}
		if (rc != MPI_SUCCESS) {
			return mpi_failed(peer, rc, err);
		}
		if (done) {
			return 0;
		}
		/* the clock is not looked at each time: that would be between a message and its stamp */
		if (spin_s > 0 && !dozing && ++looks % 64) {
			continue;
		}
		begin = begin > 0 ? begin : link_now_s();
		waited = link_now_s() - begin;
		if (waited > limit_s || (waited > 1e-3 && given_up_by(l, peer))) {
			cal_wakeup_end(wakeup);
			return cancel_request(l, r, peer, limit_s, err);
		}
		if (dozing) {
			sleep_until_signalled(wakeup, seen, waited);
			if (l->idle) {
				l->idle(l->idle_of);
			}
		} else if (waited >= spin_s) {
			dozing = 1; /* one more check, while others signal already */
		} else if (l->wait == CAL_WAIT_YIELD) {
			sched_yield();
		}
	}
}

static double turn_spin(const struct cal_link *l)
{
	const struct mpi *m = l->impl;

	if (m->exchanging) {
		return m->exchange_spin_s; /* after a sleep between two batches the core may be lost for milliseconds */
	}
	return l->wait == CAL_WAIT_YIELD ? turn_spin_s : l->wait == CAL_WAIT_SLEEP ? 0 : m->turn_spin_s;
}

/* Waits for timed messages spin, and nothing that takes time may follow them. */
static int is_awaited_asleep(int what)
{
	return what != TAG_PING && what != TAG_PONG;
}

/* One small message with that tag. The sender does not wait: it fits into what MPI buffers. */
static int word_to(struct cal_link *l, int to, int what, int64_t word, struct tkm_err *err)
{
	const struct mpi *m = l->impl;
	int rc = PMPI_Send(&word, 1, MPI_INT64_T, to, tag(l, what), cal_link_comm(l));

	l->messages++;
	if (is_awaited_asleep(what) && m->near[to]) {
		cal_wakeup_signal(m->wakeup, m->slot_of[to]);
	}
	return rc == MPI_SUCCESS ? 0 : mpi_failed(to, rc, err);
}

static int word_from(
	struct cal_link *l, int from, int what, int64_t *word, double limit_s, double spin_s, struct tkm_err *err)
{
	MPI_Request r;
	int rc = PMPI_Irecv(word, 1, MPI_INT64_T, from, tag(l, what), cal_link_comm(l), &r);

	return rc == MPI_SUCCESS ? wait_for_request(l, &r, from, limit_s, spin_s, is_awaited_asleep(what), err)
				 : mpi_failed(from, rc, err);
}

static double exchange_spin(const struct cal_link *l)
{
	return ((const struct mpi *)l->impl)->exchange_spin_s;
}

static int message(struct cal_link *l, int from, int to, ltick_t *sent, ltick_t *received, struct tkm_err *err)
{
	struct mpi *m = l->impl;
	int64_t word;

	m->exchanging = m->placed;
	if (l->rank == from) {
		*sent = tmr_read_ordered(l->timer);
		return word_to(l, to, TAG_PING, 0, err);
	}
	if (word_from(l, from, TAG_PING, &word, l->patience_s, exchange_spin(l), err) < 0) {
		return -1;
	}
	*received = tmr_read_ordered(l->timer);
	return 0;
}

/* ---- over lines ---- */

/* The slot of that rank, which is its number among the lines as well, or -1: the two share none. */
static int link_line(const struct mpi *m, int rank)
{
	return m->lines && m->near[rank] && cal_wakeup_is_from(m->wakeup, m->slot_of[rank]) ? m->slot_of[rank] : -1;
}

struct awaited {
	void *data;  /* NULL: a ping */
	size_t size; /* 0: a word */
};

static int check_line(struct mpi *m, int line, const struct awaited *a)
{
	return !a->data        ? cal_line_pinged(m->lines, line)
		: a->size == 0 ? cal_line_take_word(m->lines, line, a->data)
			       : cal_line_take_letter(m->lines, line, a->data, a->size);
}

/* Keeps the core for as long as in an exchange by MPI: the other process may have been delayed, and must find this one
 * running when it continues. */
static int await_line(struct cal_link *l, int peer, struct awaited a, struct tkm_err *err)
{
	struct mpi *m = l->impl;
	int line = m->slot_of[peer], came;
	double begin = 0, waited;
	unsigned looks = 0;

	while ((came = check_line(m, line, &a)) == 0) {
		if (++looks % 64) {
			continue;
		}
		begin = begin > 0 ? begin : link_now_s();
		waited = link_now_s() - begin;
		if (m->together || cal_line_are_together(m->lines, line)) {
			sched_yield();
		}
		if (waited < exchange_spin_s) {
			continue;
		}
		if (given_up_by(l, peer)) {
			return tkm_fail(
				err, TKM_ERR_TIMEOUT, "rank %d had given up waiting for rank %d", peer, l->rank);
		}
		if (waited > l->patience_s) {
			return cal_link_silent(peer, l->rank, l->patience_s, err);
		}
		sleep_until_signalled(NULL, 0, waited);
	}
	return came > 0 ? 0 : tkm_fail(err, TKM_ERR_TIMEOUT, "rank %d had given up waiting for rank %d", peer, l->rank);
}

static int ping(struct cal_link *l, int from, int to, ltick_t *sent, ltick_t *received, struct tkm_err *err)
{
	struct mpi *m = l->impl;
	int peer = l->rank == from ? to : from, line = link_line(m, peer);

	if (line < 0) {
		return message(l, from, to, sent, received, err);
	}
	if (m->on_line != peer) {
		cal_lines_begin(m->lines, line, l->epoch);
		m->on_line = peer;
	}
	if (l->rank == from) {
		*sent = tmr_read_ordered(l->timer);
		cal_line_ping(m->lines, line);
		l->messages++;
		return 0;
	}
	if (await_line(l, peer, (struct awaited){ NULL, 0 }, err) < 0) {
		return -1;
	}
	*received = tmr_read_ordered(l->timer);
	return 0;
}

/* ---- the link ---- */

static int pass_turn(struct cal_link *l, int from, int to, long long *word, double limit_s, struct tkm_err *err)
{
	struct mpi *m = l->impl;
	int64_t w = *word;
	int rc;

	if (m->on_line == (l->rank == from ? to : from)) {
		if (l->rank == from) {
			cal_line_word(m->lines, m->slot_of[to], w);
			l->messages++;
			return 0;
		}
		rc = await_line(l, from, (struct awaited){ &w, 0 }, err);
		*word = w;
		return rc;
	}
	if (l->rank == from) {
		return word_to(l, to, TAG_TURN, w, err);
	}
	rc = word_from(l, from, TAG_TURN, &w, limit_s, turn_spin(l), err);
	*word = w;
	return rc;
}

static void give_up(struct cal_link *l, int who, int whom)
{
	struct tkm_err unused;

	(void)who;
	word_to(l, whom, TAG_GIVE_UP, 0, &unused);
}

static int exchange(struct cal_link *l, int master, int child, struct cal_sample *s, struct tkm_err *err)
{
	int64_t stamp = 0;

	if (l->rank == master) {
		if (word_from(l, child, TAG_PING, &stamp, l->patience_s, exchange_spin(l), err) < 0) {
			return -1;
		}
		return word_to(l, child, TAG_PONG, tmr_read_ordered(l->timer).v, err);
	}
	s->send = tmr_read_ordered(l->timer);
	if (word_to(l, master, TAG_PING, 0, err) < 0 ||
		word_from(l, master, TAG_PONG, &stamp, l->patience_s, exchange_spin(l), err) < 0) {
		return -1;
	}
	s->recv = tmr_read_ordered(l->timer);
	s->master_in = s->master_out = ltick(stamp);
	return 0;
}

static int exchange_letter(struct cal_link *l, int peer, int here, void *data, size_t size, struct tkm_err *err)
{
	struct mpi *m = l->impl;

	if (!here) {
		return await_line(l, peer, (struct awaited){ data, size }, err);
	}
	cal_line_letter(m->lines, m->slot_of[peer], data, size);
	l->messages++;
	return 0;
}

/* In parts, because MPI counts in int. */
static int send(struct cal_link *l, int from, int to, void *data, size_t size, double limit_s, struct tkm_err *err)
{
	int here = l->rank == from, peer = here ? to : from, small = size <= SMALL, rc;
	size_t most = small ? AT_ONCE : INT_MAX;
	const struct mpi *m = l->impl;
	char *p = data;
	MPI_Request r;

	if (m->on_line == peer && size <= CAL_LINE_MOST) {
		return exchange_letter(l, peer, here, data, size, err);
	}
	while (size > 0) {
		int part = (int)(size > most ? most : size);

		rc = here ? PMPI_Isend(p, part, MPI_BYTE, peer, tag(l, TAG_DATA), cal_link_comm(l), &r)
			  : PMPI_Irecv(p, part, MPI_BYTE, peer, tag(l, TAG_DATA), cal_link_comm(l), &r);
		if (rc != MPI_SUCCESS) {
			return mpi_failed(peer, rc, err);
		}
		l->messages += here;
		/* a long one goes in pieces, which both have to handle: no signal is sent */
		if (wait_for_request(l, &r, peer, limit_s, turn_spin(l), small && !here, err) < 0) {
			return -1;
		}
		p += part;
		size -= (size_t)part;
	}
	if (here && small && m->near[peer]) {
		cal_wakeup_signal(m->wakeup, m->slot_of[peer]);
	}
	return 0;
}

/* The n-th processing unit that this process may use, or the last one before it, other than `not`; -1: none. */
static int pick_unit(const struct tkm_cpus *set, int n, int other)
{
	int i, found = -1;

	for (i = tkm_cpus_next(set, -1); i >= 0 && (n >= 0 || found < 0); i = tkm_cpus_next(set, i), n--) {
		found = i != other ? i : found;
	}
	return found;
}

/* Tests whether there is a unit for each of the two processes. b finds out and tells a. */
static void sit_together(struct mpi *m, int other, int together)
{
	int line = link_line(m, other);

	m->together = together;
	if (line >= 0) {
		cal_line_set_together(m->lines, line, together);
	}
}

/* A process that uses MPI keeps its core, however MPI waits otherwise, unless the other may need the same one. */
static void keep_core(struct mpi *m, int other)
{
	if (m->set_yield && link_line(m, other) < 0 && !(m->near[other] && tkm_cpus_count(&m->before) == 1)) {
		m->pair_yielded = m->set_yield(false);
		m->kept = 1;
	}
}

/* Both take the unit that is meant for them; on one node a tells b, who takes another. */
static int pair_begin(struct cal_link *l, int a, int b, int unit_a, int unit_b, struct tkm_err *err)
{
	struct mpi *m = l->impl;
	int other = l->rank == a ? b : a, unit;
	int64_t taken = -1;

	m->placed = 1;
	m->pinned = 0;
	tkm_cpus_free(&m->before);
	if (m->near[other]) {
		tkm_cpus_own(&m->before);
	}
	keep_core(m, other);
	if (l->rank == b && m->near[other] && word_from(l, a, TAG_UNIT, &taken, l->patience_s, turn_spin(l), err) < 0) {
		return -1;
	}
	unit = pick_unit(&m->before, l->rank == a ? unit_a : unit_b, (int)taken);
	sit_together(m, other, l->rank == b && m->near[other] && unit < 0);
	if (l->rank == a && m->near[other] && word_to(l, b, TAG_UNIT, unit, err) < 0) {
		return -1;
	}
	m->pinned = unit >= 0 && tkm_cpus_bind_to((unsigned)unit) == 0;
	return 0;
}

static void pair_end(struct cal_link *l)
{
	struct mpi *m = l->impl;

	m->placed = m->exchanging = m->together = 0;
	m->on_line = -1;
	if (m->kept) {
		m->set_yield(m->pair_yielded);
		m->kept = 0;
	}
	if (m->pinned) {
		tkm_cpus_bind(&m->before);
		m->pinned = 0;
	}
}

/* Open MPI reads its parameter once, when it starts; after it there is a function that is not documented, and
 * not there in any other MPI. It returns what was set before. */
static void find_switch(struct mpi *m)
{
	void *found =
		sysconf(_SC_NPROCESSORS_ONLN) > 1 ? dlsym(RTLD_DEFAULT, "opal_progress_set_yield_when_idle") : NULL;

	if (found) {
		memcpy(&m->set_yield, &found, sizeof(found));
	}
}

/* Who does not hold its core waits as MPI_Recv() does, never asleep. */
static void hold_cores(struct cal_link *l, int hold)
{
	struct mpi *m = l->impl;

	m->exchange_spin_s = hold ? exchange_spin_s : INFINITY;
	m->turn_spin_s = !hold ? INFINITY : m->crowded ? 0 : turn_spin_s;
	if (!m->set_yield || hold == m->holds) {
		return;
	}
	if (hold) {
		m->yielded = m->set_yield(false);
	} else {
		m->set_yield(m->yielded);
	}
	m->holds = hold;
}

static void close_mpi(struct cal_link *l)
{
	struct mpi *m = l->impl;
	int ours = m->ours;

	PMPI_Comm_free(&m->comm);
	cal_lines_close(m->lines);
	cal_wakeup_close(m->wakeup);
	free(m->slot_of);
	free(m->near);
	tkm_cpus_free(&m->before);
	free(m);
	free(l);
	if (ours) {
		PMPI_Finalize();
	}
}

static void abort_mpi(struct cal_link *l, int status)
{
	PMPI_Abort(cal_link_comm(l), status);
}

static const struct cal_link_ops mpi_ops = {
	.turn = pass_turn,
	.exchange = exchange,
	.message = message,
	.ping = ping,
	.send = send,
	.give_up = give_up,
	.pair_begin = pair_begin,
	.pair_end = pair_end,
	.hold_cores = hold_cores,
	.close = close_mpi,
	.abort = abort_mpi,
};

/* One process of the node creates the table and the lines, and the others join. */
static int hang_bells(struct mpi *m, MPI_Comm node, int on_node)
{
	struct cal_wakeup_ticket ticket = { .fd = -1 };
	size_t shared = cal_lines_size(on_node);
	int mine;

	PMPI_Comm_rank(node, &mine);
	if (mine == 0) {
		m->wakeup = cal_wakeup_make(on_node, mine, shared, &ticket);
	}
	PMPI_Bcast(&ticket, (int)sizeof(ticket), MPI_BYTE, 0, node);
	if (mine != 0) {
		m->wakeup = cal_wakeup_join(&ticket, on_node, mine, shared);
	}
	PMPI_Barrier(node);
	cal_wakeup_all_joined(m->wakeup);
	if (m->wakeup) {
		m->lines = cal_lines_open(cal_wakeup_shared(m->wakeup), on_node, mine);
	}
	return m->wakeup && !m->lines ? -1 : 0;
}

/* Marks the ranks of m->comm that are on this node. Returns how many they are, or -1. */
static int find_near(struct mpi *m, int rank, int size)
{
	int on_node = 0, *there, *here, rc, i;
	MPI_Group all, some;
	MPI_Comm node;

	if (PMPI_Comm_split_type(m->comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node) != MPI_SUCCESS) {
		return -1;
	}
	PMPI_Comm_size(node, &on_node);
	rc = hang_bells(m, node, on_node);
	there = calloc((size_t)on_node, sizeof(*there));
	here = calloc((size_t)on_node, sizeof(*here));
	m->near = calloc((size_t)size, 1);
	m->slot_of = calloc((size_t)size, sizeof(*m->slot_of));
	PMPI_Comm_group(m->comm, &all);
	PMPI_Comm_group(node, &some);
	for (i = 0; there && i < on_node; i++) {
		there[i] = i;
	}
	if (rc == 0 && there && here && m->near && m->slot_of) {
		PMPI_Group_translate_ranks(some, on_node, there, all, here);
		for (i = 0; i < on_node; i++) {
			m->near[here[i]] = 1;
			m->slot_of[here[i]] = i;
		}
	} else {
		on_node = -1;
	}
	PMPI_Group_free(&all);
	PMPI_Group_free(&some);
	PMPI_Comm_free(&node);
	free(there);
	free(here);
	return on_node;
}

struct cal_link *cal_link_join(MPI_Comm comm, struct tkm_err *err)
{
	struct cal_link *l = calloc(1, sizeof(*l));
	struct mpi *m = calloc(1, sizeof(*m));
	int rank, size, on_node, i;

	if (!l || !m || PMPI_Comm_dup(comm, &m->comm) != MPI_SUCCESS) {
		free(l);
		free(m);
		tkm_fail(err, TKM_ERR_NOMEM, "no communicator of our own for the calibration");
		return NULL;
	}
	PMPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN);
	PMPI_Comm_rank(m->comm, &rank);
	PMPI_Comm_size(m->comm, &size);
	cal_link_init(l, &mpi_ops, rank, size, m);
	on_node = find_near(m, rank, size);
	if (on_node < 0) {
		close_mpi(l);
		tkm_fail(err, TKM_ERR_NOMEM, "out of memory for a link of %d ranks", size);
		return NULL;
	}
	for (i = rank; i >= 0; i--) {
		l->first_near = m->near[i] ? i : l->first_near;
	}
	m->on_line = -1;
	find_switch(m);
	m->crowded = on_node > sysconf(_SC_NPROCESSORS_ONLN);
	m->exchange_spin_s = exchange_spin_s;
	m->turn_spin_s = m->crowded ? 0 : turn_spin_s;
	return l;
}

struct cal_link *cal_link_start(int *argc, char ***argv, struct tkm_err *err)
{
	struct cal_link *l;

	PMPI_Init(argc, argv);
	l = cal_link_join(MPI_COMM_WORLD, err);
	if (l) {
		((struct mpi *)l->impl)->ours = 1;
	}
	return l;
}
