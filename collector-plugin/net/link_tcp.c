/* SPDX-License-Identifier: BSD-3-Clause */
/* The link over TCP connections; see collector-plugin/net/link_tcp.h. Each message is a frame of 16 bytes, which bytes of data may
 * follow. A frame of an earlier epoch belongs to a session that one side has given up, and is dropped. Stamps are next
 * to the calls. A process that exchanges timed messages spins, so that the time to wake it up is in no stamp. But the peer may be
 * waiting for the very processor on which this one spins. So a wait spins for a short time only, and every fourth one
 * hardly at all: the shortest ways come from those that spin where both run, and from the others where they take turns. */
#include "config.h"
#include "collector-plugin/net/link_tcp.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "calib/session/link_private.h"
#include "collector-plugin/net/tcp.h"

enum frame_kind { FRAME_TURN = 1, FRAME_PING, FRAME_PONG, FRAME_DATA, FRAME_GIVE_UP };

struct frame {
	uint16_t kind, epoch;
	uint32_t size; /* of the data that follow; FRAME_DATA only */
	int64_t word;
};

enum { MOST_DATA = 64 << 20 };

/* The two directions between this process and another one; a link of two processes has one descriptor for both. */
struct tcp_peer {
	int in, out;       /* -1: not connected yet */
	int ended;         /* the connection is closed */
	struct frame head; /* the frame that is being received */
	size_t got;        /* bytes of it */
};

struct tcp {
	struct tcp_peer *peer; /* of each rank */
	int pairing;           /* timed messages: waits spin first */
	unsigned timed;        /* waits for a timed message since the pair began */
	struct vt_mesh mesh;   /* listener -1: a link of two processes */
};

/* The first bytes on a connection of a mesh: who speaks, and the proof that the encrypted edge was there before. */
struct greeting {
	uint64_t nonce[2], from, to;
};

/* How long a wait spins: long enough for an answer of a process that runs, every fourth one hardly. */
static const double least_spin_s = 5e-6, most_spin_s = 200e-6, patience_s = 2;

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static struct tcp_peer *peer_of(struct cal_link *l, int rank)
{
	return &((struct tcp *)l->impl)->peer[rank];
}

/* In a mesh it is as good as silence: nothing can be agreed on with all others any more. */
static int connection_ended(struct cal_link *l, int peer, int code, struct tkm_err *err)
{
	enum tkm_code kind = ((struct tcp *)l->impl)->mesh.listener >= 0 ? TKM_ERR_TIMEOUT : TKM_ERR_IO;

	peer_of(l, peer)->ended = 1;
	return tkm_fail_errno(err, kind, code, "the connection with the process of rank %d has ended", peer);
}

static int wait_for_socket(int fd, short what, double until_s)
{
	double left = until_s - now_s();
	struct pollfd p = { fd, what, 0 };

	return left > 0 && poll(&p, 1, (int)(left * 1e3) + 1) >= 0;
}

static void speak_at_once(int fd)
{
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* ---- the connections of a mesh: who sends first to a process connects to it, and for its answers that one connects ---- */

static int connect_to(struct cal_link *l, int peer, struct tkm_err *err)
{
	struct tcp *t = l->impl;
	struct greeting g = { { t->mesh.nonce[0], t->mesh.nonce[1] }, (uint64_t)l->rank, (uint64_t)peer };
	int host = 0, fd = vt_tcp_connect(&t->mesh.at[peer], t->mesh.at[peer].port, l->patience_s, &host, err);

	if (fd < 0) {
		return -1;
	}
	speak_at_once(fd);
	if (vt_tcp_put(fd, &g, sizeof(g), l->patience_s) < 0) {
		close(fd);
		return connection_ended(l, peer, errno, err);
	}
	t->peer[peer].out = fd;
	return 0;
}

/* Takes a connection that waits, if its greeting is right. */
static void take_connection(struct cal_link *l, double until_s)
{
	struct tcp *t = l->impl;
	int fd = accept4(t->mesh.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct greeting g;
	size_t got = 0;
	ssize_t n = 1;

	while (fd >= 0 && got < sizeof(g) && n != 0) {
		n = recv(fd, (char *)&g + got, sizeof(g) - got, MSG_DONTWAIT);
		got += n > 0 ? (size_t)n : 0;
		n = n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR) && wait_for_socket(fd, POLLIN, until_s));
	}
	if (fd >= 0 && got == sizeof(g) && g.nonce[0] == t->mesh.nonce[0] && g.nonce[1] == t->mesh.nonce[1] &&
		g.to == (uint64_t)l->rank && g.from < (uint64_t)l->size && t->peer[g.from].in < 0) {
		speak_at_once(fd);
		t->peer[g.from].in = fd;
	} else if (fd >= 0) {
		close(fd);
	}
}

/* Others may be the first to connect. */
static int wait_for_connection(struct cal_link *l, int peer, double limit_s, struct tkm_err *err)
{
	struct tcp *t = l->impl;
	double until = now_s() + limit_s, greeting_until;

	while (t->peer[peer].in < 0) {
		if (!wait_for_socket(t->mesh.listener, POLLIN, until)) {
			return cal_link_silent(peer, l->rank, limit_s, err);
		}
		greeting_until = now_s() + 1;
		take_connection(l, greeting_until < until ? greeting_until : until);
	}
	return 0;
}

/* ---- bytes and frames ---- */

/* Writes all of it. The peer reads, so a full buffer means that it does not answer. */
static int put_bytes(struct cal_link *l, int to, const void *data, size_t size, struct tkm_err *err)
{
	struct tcp_peer *o = peer_of(l, to);
	const char *p = data;
	double until = 0;
	ssize_t n;

	if (o->out < 0 && connect_to(l, to, err) < 0) {
		return -1;
	}
	while (size > 0) {
		n = send(o->out, p, size, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN && errno != EINTR) {
			return connection_ended(l, to, errno, err);
		}
		if (n < 0) {
			until = until > 0 ? until : now_s() + l->patience_s;
			if (!wait_for_socket(o->out, POLLOUT, until)) {
				return cal_link_silent(to, l->rank, l->patience_s, err);
			}
			continue;
		}
		p += n;
		size -= (size_t)n;
	}
	return 0;
}

static int put_frame(struct cal_link *l, int to, enum frame_kind kind, int64_t word, uint32_t size, struct tkm_err *err)
{
	struct frame f = { (uint16_t)kind, (uint16_t)l->epoch, size, word };

	l->messages++;
	return put_bytes(l, to, &f, sizeof(f), err);
}

static double spin_s(const struct tcp *t)
{
	return t->timed % 4 == 3 ? least_spin_s : most_spin_s;
}

/* Reads up to size bytes within the limit: spinning first in an exchange. *got counts. */
static int get_bytes(
	struct cal_link *l, int from, void *to, size_t size, size_t *got, double limit_s, struct tkm_err *err)
{
	struct tcp *t = l->impl;
	struct tcp_peer *o = &t->peer[from];
	double begin = 0, waited = 0;
	unsigned looks = 0;
	ssize_t n;

	if (o->in < 0 && wait_for_connection(l, from, limit_s, err) < 0) {
		return -1;
	}
	while (*got < size) {
		n = recv(o->in, (char *)to + *got, size - *got, MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
			return connection_ended(l, from, n == 0 ? ECONNRESET : errno, err);
		}
		if (n > 0) {
			*got += (size_t)n;
			continue;
		}
		/* the clock is not read each time, because that would be between a message and its stamp */
		if (t->pairing && ++looks % 16) {
			continue;
		}
		begin = begin > 0 ? begin : now_s();
		waited = now_s() - begin;
		if (waited > limit_s) {
			return cal_link_silent(from, l->rank, limit_s, err);
		}
		if (!t->pairing || waited > spin_s(t)) {
			wait_for_socket(o->in, POLLIN, begin + limit_s);
		}
	}
	return 0;
}

/* Drops the data of a frame for which no call waits. */
static int drop_data(struct cal_link *l, int from, size_t size, struct tkm_err *err)
{
	char part[4096];
	size_t n, got;

	for (; size > 0; size -= n) {
		n = size < sizeof(part) ? size : sizeof(part);
		got = 0;
		if (get_bytes(l, from, part, n, &got, l->patience_s, err) < 0) {
			return -1;
		}
	}
	return 0;
}

/* Waits for a frame of that kind and of this epoch. Its data are still to be read. */
static int get_frame(
	struct cal_link *l, int from, enum frame_kind kind, double limit_s, struct frame *f, struct tkm_err *err)
{
	double until = now_s() + limit_s;
	struct tcp_peer *o = peer_of(l, from);
	int16_t age;

	for (;;) {
		double left = until - now_s();

		if (get_bytes(l, from, &o->head, sizeof(o->head), &o->got, left > 0 ? left : 0, err) < 0) {
			return -1;
		}
		age = (int16_t)(uint16_t)(l->epoch - o->head.epoch);
		if (o->head.size > MOST_DATA || (o->head.size && o->head.kind != FRAME_DATA)) {
			return connection_ended(l, from, EPROTO, err);
		}
		if (age < 0) {
			/* the other side is in the next session already; the frame stays for that */
			return cal_link_silent(from, l->rank, limit_s, err);
		}
		*f = o->head;
		o->got = 0;
		if (age == 0 && f->kind == kind) {
			return 0;
		}
		if (age == 0 && f->kind == FRAME_GIVE_UP) {
			return tkm_fail(
				err, TKM_ERR_TIMEOUT, "rank %d had given up waiting for rank %d", from, l->rank);
		}
		if (drop_data(l, from, f->size, err) < 0) {
			return -1;
		}
	}
}

static int tcp_turn(struct cal_link *l, int from, int to, long long *word, double limit_s, struct tkm_err *err)
{
	struct frame f;

	if (l->rank == from) {
		return put_frame(l, to, FRAME_TURN, *word, 0, err);
	}
	if (get_frame(l, from, FRAME_TURN, limit_s, &f, err) < 0) {
		return -1;
	}
	*word = f.word;
	return 0;
}

/* A wait for a message that is stamped; the stamp follows at once. */
static int get_timed(struct cal_link *l, int from, enum frame_kind kind, struct frame *f, struct tkm_err *err)
{
	struct tcp *t = l->impl;
	int rc = get_frame(l, from, kind, l->patience_s, f, err);

	t->timed++;
	return rc;
}

static int tcp_message(struct cal_link *l, int from, int to, ltick_t *sent, ltick_t *received, struct tkm_err *err)
{
	struct frame f;

	if (l->rank == from) {
		*sent = tmr_read_ordered(l->timer);
		return put_frame(l, to, FRAME_PING, 0, 0, err);
	}
	if (get_timed(l, from, FRAME_PING, &f, err) < 0) {
		return -1;
	}
	*received = tmr_read_ordered(l->timer);
	return 0;
}

static int tcp_exchange(struct cal_link *l, int master, int child, struct cal_sample *s, struct tkm_err *err)
{
	struct frame f;

	if (l->rank == master) {
		return get_timed(l, child, FRAME_PING, &f, err) < 0
			? -1
			: put_frame(l, child, FRAME_PONG, tmr_read_ordered(l->timer).v, 0, err);
	}
	s->send = tmr_read_ordered(l->timer);
	if (put_frame(l, master, FRAME_PING, 0, 0, err) < 0 || get_timed(l, master, FRAME_PONG, &f, err) < 0) {
		return -1;
	}
	s->recv = tmr_read_ordered(l->timer);
	s->master_in = s->master_out = ltick(f.word);
	return 0;
}

static int tcp_send(struct cal_link *l, int from, int to, void *data, size_t size, double limit_s, struct tkm_err *err)
{
	struct frame f;
	size_t got = 0;

	if (size > MOST_DATA) {
		return tkm_fail(err, TKM_ERR_DATA, "%zu bytes are too many for one message of a clock session", size);
	}
	if (l->rank == from) {
		return put_frame(l, to, FRAME_DATA, 0, (uint32_t)size, err) < 0 ? -1
										: put_bytes(l, to, data, size, err);
	}
	if (get_frame(l, from, FRAME_DATA, limit_s, &f, err) < 0) {
		return -1;
	}
	if (f.size != size) {
		peer_of(l, from)->ended = 1;
		return tkm_fail(err, TKM_ERR_DATA, "rank %d sent %u bytes instead of %zu: another version?", from,
			f.size, size);
	}
	return get_bytes(l, from, data, size, &got, limit_s, err);
}

static void tcp_give_up(struct cal_link *l, int who, int whom)
{
	struct tkm_err unused;

	(void)who;
	/* the other one waits for nothing that was not begun */
	if (peer_of(l, whom)->out >= 0) {
		put_frame(l, whom, FRAME_GIVE_UP, 0, 0, &unused);
	}
}

static int tcp_pair_begin(struct cal_link *l, int a, int b, int unit_a, int unit_b, struct tkm_err *err)
{
	struct tcp *t = l->impl;

	(void)a;
	(void)b;
	(void)unit_a;
	(void)unit_b;
	(void)err;
	t->pairing = 1;
	t->timed = 0;
	return 0;
}

static void tcp_pair_end(struct cal_link *l)
{
	((struct tcp *)l->impl)->pairing = 0;
}

static void close_tcp(struct cal_link *l)
{
	struct tcp *t = l->impl;
	int i;

	for (i = 0; i < l->size; i++) {
		if (t->peer[i].in >= 0) {
			close(t->peer[i].in);
		}
		if (t->peer[i].out >= 0 && t->peer[i].out != t->peer[i].in) {
			close(t->peer[i].out);
		}
	}
	if (t->mesh.listener >= 0) {
		close(t->mesh.listener);
	}
	free(t->mesh.at);
	free(t->peer);
	free(t);
	free(l);
}

static const struct cal_link_ops tcp_ops = {
	.turn = tcp_turn,
	.exchange = tcp_exchange,
	.message = tcp_message,
	.send = tcp_send,
	.give_up = tcp_give_up,
	.pair_begin = tcp_pair_begin,
	.pair_end = tcp_pair_end,
	.close = close_tcp,
};

/* A link without a connection. NULL: no memory. */
static struct cal_link *make_link(int rank, int size, const struct vt_mesh *m, struct tkm_err *err)
{
	struct cal_link *l = calloc(1, sizeof(*l));
	struct tcp *t = calloc(1, sizeof(*t));
	struct tcp_peer *peer = calloc((size_t)size, sizeof(*peer));
	int i;

	if (!l || !t || !peer) {
		free(l);
		free(t);
		free(peer);
		tkm_fail(err, TKM_ERR_NOMEM, "out of memory for a clock link");
		return NULL;
	}
	for (i = 0; i < size; i++) {
		peer[i].in = peer[i].out = -1;
	}
	t->peer = peer;
	t->mesh = *m;
	cal_link_init(l, &tcp_ops, rank, size, t);
	return l;
}

struct cal_link *cal_link_tcp(int fd, int rank, struct tkm_err *err)
{
	struct cal_link *l = make_link(rank, 2, &(struct vt_mesh){ .listener = -1 }, err);
	struct tcp_peer *other = l ? peer_of(l, !rank) : NULL;

	if (!l) {
		close(fd);
		return NULL;
	}
	speak_at_once(fd);
	other->in = other->out = fd;
	l->patience_s = l->gathering_s = patience_s;
	return l;
}

struct cal_link *vt_link_mesh(struct vt_mesh *m, int rank, int size, struct tkm_err *err)
{
	struct cal_link *l = make_link(rank, size, m, err);

	if (!l) {
		close(m->listener);
		free(m->at);
	}
	*m = (struct vt_mesh){ .listener = -1 };
	return l;
}

int cal_link_tcp_ended(const struct cal_link *l)
{
	const struct tcp_peer *o = &((const struct tcp *)l->impl)->peer[!l->rank];
	char c;
	ssize_t n = o->ended ? 0 : recv(o->in, &c, 1, MSG_PEEK | MSG_DONTWAIT);

	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

int cal_link_tcp_fd(const struct cal_link *l)
{
	return ((const struct tcp *)l->impl)->peer[!l->rank].in;
}
