/* SPDX-License-Identifier: BSD-3-Clause */
/* The link over one TCP connection; see collector-plugin/net/link_tcp.h. Each message is a frame of 16 bytes, which bytes of data may
 * follow. A frame of an earlier epoch belongs to a session that one side has given up, and is dropped. Stamps are next
 * to the calls. A process that exchanges timed messages spins, so that the time to wake it up is in no stamp. */
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

enum frame_kind { FRAME_TURN = 1, FRAME_PING, FRAME_PONG, FRAME_DATA, FRAME_GIVE_UP };

struct frame {
	uint16_t kind, epoch;
	uint32_t size; /* of the data that follow; FRAME_DATA only */
	int64_t word;
};

enum { MOST_DATA = 64 << 20 };

struct tcp {
	int fd;
	int pairing;       /* timed messages: waits spin first */
	int ended;         /* the connection is closed */
	struct frame head; /* the frame that is being received */
	size_t got;        /* bytes of it */
};

static const double spin_s = 5e-3, patience_s = 2;

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static int connection_ended(struct tcp *t, int peer, int code, struct tkm_err *err)
{
	t->ended = 1;
	return tkm_fail_errno(err, TKM_ERR_IO, code, "the connection with the node process of rank %d has ended", peer);
}

static int wait_for_socket(const struct tcp *t, short what, double until_s)
{
	double left = until_s - now_s();
	struct pollfd p = { t->fd, what, 0 };

	return left > 0 && poll(&p, 1, (int)(left * 1e3) + 1) >= 0;
}

/* Writes all of it. The peer reads, so a full buffer means that it does not answer. */
static int put_bytes(struct cal_link *l, const void *data, size_t size, struct tkm_err *err)
{
	struct tcp *t = l->impl;
	const char *p = data;
	double until = 0;
	ssize_t n;

	while (size > 0) {
		n = send(t->fd, p, size, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN && errno != EINTR) {
			return connection_ended(t, !l->rank, errno, err);
		}
		if (n < 0) {
			until = until > 0 ? until : now_s() + l->patience_s;
			if (!wait_for_socket(t, POLLOUT, until)) {
				return cal_link_silent(!l->rank, l->rank, l->patience_s, err);
			}
			continue;
		}
		p += n;
		size -= (size_t)n;
	}
	return 0;
}

static int put_frame(struct cal_link *l, enum frame_kind kind, int64_t word, uint32_t size, struct tkm_err *err)
{
	struct frame f = { (uint16_t)kind, (uint16_t)l->epoch, size, word };

	l->messages++;
	return put_bytes(l, &f, sizeof(f), err);
}

/* Reads up to size bytes within the limit: spinning first in an exchange. *got counts. */
static int get_bytes(struct cal_link *l, void *to, size_t size, size_t *got, double limit_s, struct tkm_err *err)
{
	struct tcp *t = l->impl;
	double begin = 0, waited = 0;
	unsigned looks = 0;
	ssize_t n;

	while (*got < size) {
		n = recv(t->fd, (char *)to + *got, size - *got, MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
			return connection_ended(t, !l->rank, n == 0 ? ECONNRESET : errno, err);
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
			return cal_link_silent(!l->rank, l->rank, limit_s, err);
		}
		if (!t->pairing || waited > spin_s) {
			wait_for_socket(t, POLLIN, begin + limit_s);
		}
	}
	return 0;
}

/* Drops the data of a frame for which no call waits. */
static int drop_data(struct cal_link *l, size_t size, struct tkm_err *err)
{
	char part[4096];
	size_t n, got;

	for (; size > 0; size -= n) {
		n = size < sizeof(part) ? size : sizeof(part);
		got = 0;
		if (get_bytes(l, part, n, &got, l->patience_s, err) < 0) {
			return -1;
		}
	}
	return 0;
}

/* Waits for a frame of that kind and of this epoch. Its data are still to be read. */
static int get_frame(struct cal_link *l, enum frame_kind kind, double limit_s, struct frame *f, struct tkm_err *err)
{
	double until = now_s() + limit_s;
	struct tcp *t = l->impl;
	int16_t age;

	for (;;) {
		double left = until - now_s();

		if (get_bytes(l, &t->head, sizeof(t->head), &t->got, left > 0 ? left : 0, err) < 0) {
			return -1;
		}
		age = (int16_t)(uint16_t)(l->epoch - t->head.epoch);
		if (t->head.size > MOST_DATA || (t->head.size && t->head.kind != FRAME_DATA)) {
			return connection_ended(t, !l->rank, EPROTO, err);
		}
		if (age < 0) {
			/* the other side is in the next session already; the frame stays for that */
			return cal_link_silent(!l->rank, l->rank, limit_s, err);
		}
		*f = t->head;
		t->got = 0;
		if (age == 0 && f->kind == kind) {
			return 0;
		}
		if (age == 0 && f->kind == FRAME_GIVE_UP) {
			return tkm_fail(
				err, TKM_ERR_TIMEOUT, "rank %d had given up waiting for rank %d", !l->rank, l->rank);
		}
		if (drop_data(l, f->size, err) < 0) {
			return -1;
		}
	}
}

static int tcp_turn(struct cal_link *l, int from, int to, long long *word, double limit_s, struct tkm_err *err)
{
	struct frame f;

	(void)to;
	if (l->rank == from) {
		return put_frame(l, FRAME_TURN, *word, 0, err);
	}
	if (get_frame(l, FRAME_TURN, limit_s, &f, err) < 0) {
		return -1;
	}
	*word = f.word;
	return 0;
}

static int tcp_message(struct cal_link *l, int from, int to, ltick_t *sent, ltick_t *received, struct tkm_err *err)
{
	struct frame f;

	(void)to;
	if (l->rank == from) {
		*sent = tmr_read_ordered(l->timer);
		return put_frame(l, FRAME_PING, 0, 0, err);
	}
	if (get_frame(l, FRAME_PING, l->patience_s, &f, err) < 0) {
		return -1;
	}
	*received = tmr_read_ordered(l->timer);
	return 0;
}

static int tcp_exchange(struct cal_link *l, int master, int child, struct cal_sample *s, struct tkm_err *err)
{
	struct frame f;

	(void)child;
	if (l->rank == master) {
		return get_frame(l, FRAME_PING, l->patience_s, &f, err) < 0
			? -1
			: put_frame(l, FRAME_PONG, tmr_read_ordered(l->timer).v, 0, err);
	}
	s->send = tmr_read_ordered(l->timer);
	if (put_frame(l, FRAME_PING, 0, 0, err) < 0 || get_frame(l, FRAME_PONG, l->patience_s, &f, err) < 0) {
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

	(void)to;
	if (size > MOST_DATA) {
		return tkm_fail(err, TKM_ERR_DATA, "%zu bytes are too many for one message of a clock session", size);
	}
	if (l->rank == from) {
		return put_frame(l, FRAME_DATA, 0, (uint32_t)size, err) < 0 ? -1 : put_bytes(l, data, size, err);
	}
	if (get_frame(l, FRAME_DATA, limit_s, &f, err) < 0) {
		return -1;
	}
	if (f.size != size) {
		((struct tcp *)l->impl)->ended = 1;
		return tkm_fail(err, TKM_ERR_DATA, "rank %d sent %u bytes instead of %zu: another version?", from,
			f.size, size);
	}
	return get_bytes(l, data, size, &got, limit_s, err);
}

static void tcp_give_up(struct cal_link *l, int who, int whom)
{
	struct tkm_err unused;

	(void)who;
	(void)whom;
	put_frame(l, FRAME_GIVE_UP, 0, 0, &unused);
}

static int tcp_pair_begin(struct cal_link *l, int a, int b, int unit_a, int unit_b, struct tkm_err *err)
{
	(void)a;
	(void)b;
	(void)unit_a;
	(void)unit_b;
	(void)err;
	((struct tcp *)l->impl)->pairing = 1;
	return 0;
}

static void tcp_pair_end(struct cal_link *l)
{
	((struct tcp *)l->impl)->pairing = 0;
}

static void close_tcp(struct cal_link *l)
{
	struct tcp *t = l->impl;

	close(t->fd);
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

struct cal_link *cal_link_tcp(int fd, int rank, struct tkm_err *err)
{
	struct cal_link *l = calloc(1, sizeof(*l));
	struct tcp *t = calloc(1, sizeof(*t));
	int on = 1;

	if (!l || !t) {
		free(l);
		free(t);
		close(fd);
		tkm_fail(err, TKM_ERR_NOMEM, "out of memory for a clock link");
		return NULL;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	t->fd = fd;
	cal_link_init(l, &tcp_ops, rank, 2, t);
	l->patience_s = l->gathering_s = patience_s;
	return l;
}

int cal_link_tcp_ended(const struct cal_link *l)
{
	const struct tcp *t = l->impl;
	char c;
	ssize_t n = t->ended ? 0 : recv(t->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT);

	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

int cal_link_tcp_fd(const struct cal_link *l)
{
	return ((const struct tcp *)l->impl)->fd;
}
