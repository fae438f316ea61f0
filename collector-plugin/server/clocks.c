/* SPDX-License-Identifier: BSD-3-Clause */
/* The clocks of the nodes: connections for clock sessions, the sessions that are due, and at the end a map for each rank. */
#include "config.h"
#include "collector-plugin/server/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/text/text.h"
#include "calib/file/clk.h"
#include "calib/file/clocks.h"
#include "calib/solve/solve.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/net/tcp.h"
#include "collector-plugin/raw/reader.h"

#define SECOND_NS 1000000000ll

enum { MOST_CLOCKS = 4096, MOST_LINES = 256 << 20, GIVE_UP = 5 };

struct vt_server_clock *vt_server_find_clock(struct vt_server *s, int node, uint64_t number)
{
	struct vt_server_clock **room, *c;
	int i;

	for (i = 0; i < s->clocks && (s->clock[i]->node != node || s->clock[i]->number != number); i++) {
	}
	if (i < s->clocks) {
		return s->clock[i];
	}
	c = number < MOST_CLOCKS ? calloc(1, sizeof(*c)) : NULL;
	room = c ? TKM_APPEND(s->clock, s->clocks) : NULL;
	if (!room) {
		free(c);
		return NULL;
	}
	c->node = node;
	c->number = number;
	*room = c;
	return c;
}

void vt_server_ask_for_last(struct vt_server *s, int node, uint64_t number)
{
	struct vt_server_clock *c = vt_server_find_clock(s, node, number);

	if (c) {
		c->last = 1;
		c->c.due_ns = 0;
	}
}

void vt_server_continue_clocks(struct vt_server *s, int node)
{
	int i;

	for (i = 0; i < s->clocks; i++) {
		if (s->clock[i]->node == node) {
			s->clock[i]->last = s->clock[i]->c.over = 0;
		}
	}
}

void vt_server_add_clock_lines(struct vt_server *s, int node, const struct vt_net_message *m)
{
	struct vt_server_clock *c = vt_server_find_clock(s, node, m->number[0]);
	char *more = c && c->n + m->text[0].n < MOST_LINES ? realloc(c->lines, c->n + m->text[0].n + 1) : NULL;

	if (more) {
		memcpy(more + c->n, m->text[0].at, m->text[0].n);
		c->n += m->text[0].n;
		more[c->n] = '\0';
		c->lines = more;
	}
}

/* ---- connections ---- */

int vt_server_clock_descriptors(const struct vt_server *s, struct pollfd *fd, int most)
{
	int i, n = 0;

	fd[n++] = (struct pollfd){ s->clock_fd, POLLIN, 0 };
	for (i = 0; i < s->n_pending && n < most; i++) {
		fd[n++] = (struct pollfd){ s->pending[i].fd, POLLIN, 0 };
	}
	for (i = 0; i < s->clocks && n < most; i++) {
		if (vt_net_clock_is_connected(&s->clock[i]->c)) {
			fd[n++] = (struct pollfd){ cal_link_tcp_fd(s->clock[i]->c.link), POLLIN, 0 };
		}
	}
	return n;
}

static void accept_connections(struct vt_server *s, int64_t now)
{
	int fd;

	while (s->n_pending < VT_SERVER_PENDING &&
		(fd = accept4(s->clock_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		s->pending[s->n_pending++] = (struct vt_server_pending){ .fd = fd, .until_ns = now + 2 * SECOND_NS };
	}
}

/* The connection has shown the nonce of a node. Returns 0, or -1: it is to be closed. */
static int begin_clock(struct vt_server *s, int fd, const struct vt_clock_hello *h)
{
	struct vt_server_clock *c;
	struct tkm_err e;

	if (h->node >= (uint64_t)s->nodes || memcmp(h->nonce, s->node[h->node].nonce, sizeof(h->nonce)) ||
		s->node[h->node].state == VT_SERVER_GONE) {
		return -1;
	}
	c = vt_server_find_clock(s, (int)h->node, h->clock);
	if (!c || (!c->c.timer && vt_net_clock_open(&c->c, s->timer, 0, &e) < 0)) {
		return -1;
	}
	if (c->c.begun) {
		return -1; /* the node has begun anew, and this side cannot */
	}
	vt_net_clock_cut(&c->c);
	c->c.due_ns = 0;
	vt_net_clock_connect(&c->c, fd, 0, &e); /* closes fd if it fails */
	return 0;
}

/* Returns 1: more bytes are to come. */
static int read_pending(struct vt_server *s, struct vt_server_pending *p, int64_t now)
{
	ssize_t n = recv(p->fd, (char *)&p->hello + p->got, sizeof(p->hello) - p->got, MSG_DONTWAIT);

	if (n > 0) {
		p->got += (size_t)n;
	}
	if (p->got == sizeof(p->hello) && begin_clock(s, p->fd, &p->hello) == 0) {
		return 0;
	}
	if (p->got == sizeof(p->hello) || n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) || now > p->until_ns) {
		close(p->fd);
		return 0;
	}
	return 1;
}

/* ---- sessions ---- */

static void make_due_session(struct vt_server *s, struct vt_server_clock *c)
{
	enum cal_session_kind kind = c->last ? CAL_END : c->c.sessions ? CAL_MIDDLE : CAL_START;
	struct tkm_err e = { TKM_OK, "" };
	int rc = vt_net_clock_session(&c->c, kind, &e);

	c->failures = rc < 0 ? c->failures + 1 : 0;
	c->c.due_ns = vt_now_ns(CLOCK_MONOTONIC) + (rc < 0 ? SECOND_NS : (int64_t)(s->sync_period_s * 1e9));
	if (!c->c.begun && rc < 0) {
		/* the two sides may be at different steps of the beginning: the node connects again */
		vt_net_clock_cut(&c->c);
	}
}

/* A node process that dies closes its connections. */
static void look_for_end(struct vt_server *s, struct vt_server_clock *c)
{
	if (cal_link_tcp_ended(c->c.link)) {
		vt_net_clock_cut(&c->c);
		vt_server_lose_node(s, c->node, "its node process has ended");
	}
}

static int is_session_due(const struct vt_server *s, const struct vt_server_clock *c, int64_t now)
{
	return vt_net_clock_is_connected(&c->c) && !c->c.over && c->failures < GIVE_UP &&
		s->node[c->node].state == VT_SERVER_RUNNING && c->c.due_ns <= now;
}

void vt_server_serve_clocks(struct vt_server *s, int64_t now)
{
	struct vt_server_clock *first = NULL;
	int i, n = 0;

	accept_connections(s, now);
	for (i = 0; i < s->n_pending; i++) {
		if (read_pending(s, &s->pending[i], now)) {
			s->pending[n++] = s->pending[i];
		}
	}
	s->n_pending = n;
	for (i = 0; i < s->clocks; i++) {
		struct vt_server_clock *c = s->clock[i];

		if (vt_net_clock_is_connected(&c->c)) {
			look_for_end(s, c);
		}
		if (c->c.begun) {
			cal_job_pair(&c->c.job);
		}
		if (is_session_due(s, c, now) && (!first || c->c.due_ns < first->c.due_ns)) {
			first = c;
		}
	}
	if (first) {
		make_due_session(s, first);
	}
}

int vt_server_has_steered_clock(const struct vt_server *s)
{
	int i;

	for (i = 0; i < s->clocks && !s->clock[i]->c.job.reference; i++) {
	}
	return i < s->clocks;
}

int vt_server_next_session_ms(const struct vt_server *s, int64_t now, int most)
{
	int64_t due = now + most * 1000000ll;
	int i;

	for (i = 0; i < s->clocks; i++) {
		const struct vt_server_clock *c = s->clock[i];

		if (is_session_due(s, c, due)) {
			due = c->c.due_ns;
		}
	}
	return due <= now ? 0 : (int)((due - now) / 1000000) + 1;
}

/* ---- the maps ---- */

/* The record of this process: of the clock whose sessions began first, and among these of one with a free clock beside a steered
 * one, since all others refer to it. Returns 0; 1: there is none; or -1. */
static int read_master(struct vt_server *s, struct cal_rank *to, int rank, struct tkm_err *err)
{
	struct vt_server_clock *best = NULL;
	struct cal_rank *own;
	char *text = NULL;
	size_t n;
	FILE *f;
	int i, rc;

	for (i = 0; i < s->clocks; i++) {
		struct vt_server_clock *c = s->clock[i];

		if (c->c.begun && (!best || (c->c.job.reference && !best->c.job.reference))) {
			best = c;
		}
	}
	if (!best) {
		return 1;
	}
	own = &best->c.job.rank;
	own->anchors = own->anchors > 1 ? 1 : own->anchors;
	/* as the first one: of the clock that the sessions measure */
	cal_anchor_take(best->c.job.reference ? best->c.job.reference : best->c.timer, &own->anchor[own->anchors++]);
	f = open_memstream(&text, &n);
	rc = f && (cal_clk_write_rank(f, own, err) | tkm_text_end(f, &text)) == 0
		? cal_clk_read_rank(text, n, "the clock of the node process", to, err)
		: -1;
	free(text);
	to->rank = rank;
	return rc;
}

/* Has the clock sessions, or is it proven to be that of this process? */
static int is_clock_known(const struct vt_server_clock *c)
{
	return c && c->lines && c->n > 0;
}

/* The record of a rank, from what its node has sent. Another rank with the same clock shares it. */
static int read_rank_clock(
	struct cal_run *run, int rank, const struct vt_server_clock *c, int *first, struct tkm_err *err)
{
	struct cal_rank *r = &run->rank[rank];
	size_t i;

	if (cal_clk_read_new(c->lines, c->n, "the clock of a node", r, err) < 0) {
		return -1;
	}
	r->rank = rank;
	for (i = 0; i < r->sessions; i++) {
		r->session[i].peer = run->master;
	}
	if (r->sync == CAL_SHARED) {
		r->leader = run->master;
	} else if (*first >= 0) {
		for (i = 0; i < r->sessions; i++) {
			cal_session_free(&r->session[i]);
		}
		r->sessions = 0;
		r->sync = CAL_SHARED;
		r->leader = *first;
		r->shared_within_s = r->effective_tick_s;
	} else {
		*first = rank;
	}
	return 0;
}

static void fill_rank(struct cal_run *run, int rank)
{
	const struct cal_rank *master = &run->rank[run->master];
	struct cal_rank *r = &run->rank[rank];

	*r = (struct cal_rank){ .rank = rank,
		.sync = CAL_SHARED,
		.leader = run->master,
		.nominal_hz = master->nominal_hz,
		.effective_tick_s = master->effective_tick_s };
	snprintf(r->host, sizeof(r->host), "unknown");
	memcpy(r->timer, master->timer, sizeof(r->timer));
}

/* The rank that the head of a raw file names; -1: none, or not below `ranks`. */
static int rank_of_file(const struct vt_server_file *f, int ranks)
{
	struct vt_raw_head h;

	return f->fd < 0 && vt_raw_read_head(f->path, &h) == 0 && h.rank >= 0 && h.rank < ranks ? h.rank : -1;
}

/* The node's readings of the clocks by which other programs log; without them the trace lacks nothing. Of the raw files of a process,
 * one has those of its whole time. */
static void read_other_clocks(const struct vt_server_file *f, struct cal_rank *r)
{
	struct cal_rank other = { .rank = r->rank };
	struct vt_raw_head head;
	struct cal_pairs swap;
	struct tkm_err e;
	char *text = NULL;
	size_t n = 0;
	int k;

	if (vt_raw_read_clocks(f->path, &head, &text, &n, &e) == 0 && cal_clk_add_clocks(text, n, &other, &e) == 0) {
		for (k = 0; k < CAL_CLOCKS; k++) {
			if (cal_clock_coverage(&other.clock[k]) > cal_clock_coverage(&r->clock[k])) {
				swap = r->clock[k];
				r->clock[k] = other.clock[k];
				other.clock[k] = swap;
			}
		}
	}
	cal_rank_free(&other);
	free(text);
}

/* Gives each rank that has sent a file the clock of that file. */
static int read_ranks(struct vt_server *s, int ranks, struct cal_run *run, struct tkm_err *err)
{
	int *first = malloc(((size_t)s->clocks + 1) * sizeof(*first)), i, k, rc = first ? 0 : -1, rank;

	for (i = 0; first && i < s->clocks; i++) {
		first[i] = -1;
	}
	for (i = 0; rc == 0 && i < s->files; i++) {
		const struct vt_server_file *f = &s->file[i];

		rank = rank_of_file(f, ranks);
		for (k = 0; k < s->clocks && (s->clock[k]->node != f->node || s->clock[k]->number != f->clock); k++) {
		}
		if (rank < 0 || run->rank[rank].host[0]) {
			continue;
		}
		if (k == s->clocks || !is_clock_known(s->clock[k])) {
			rc = tkm_fail(err, TKM_ERR_DATA, "no clock session with rank %d on %s has succeeded", rank,
				s->node[f->node].host);
		} else {
			rc = read_rank_clock(run, rank, s->clock[k], &first[k], err);
		}
	}
	/* a process has several raw files, and readings of clocks in any of them */
	for (i = 0; i < s->files && rc == 0; i++) {
		rank = rank_of_file(&s->file[i], ranks);
		if (rank >= 0 && run->rank[rank].host[0]) {
			read_other_clocks(&s->file[i], &run->rank[rank]);
		}
	}
	free(first);
	return rc;
}

int vt_server_solve_clocks(struct vt_server *s, int ranks, struct cal_run *run, struct tkm_err *err)
{
	int i, rc;

	*run = (struct cal_run){
		.master = ranks, .wanted = CAL_CUBIC, .method = CAL_SYNC_PAIRS, .ranks = (size_t)ranks + 1
	};
	run->rank = calloc(run->ranks, sizeof(*run->rank));
	if (!run->rank) {
		run->ranks = 0;
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the clocks of %d ranks", ranks);
	}
	rc = read_master(s, &run->rank[ranks], ranks, err);
	if (rc > 0) {
		return tkm_fail(err, TKM_ERR_DATA, "no clock session with any node has succeeded");
	}
	if (rc < 0 || read_ranks(s, ranks, run, err) < 0) {
		return -1;
	}
	for (i = 0; i < ranks; i++) {
		if (!run->rank[i].host[0]) {
			fill_rank(run, i);
		}
	}
	for (i = 0; i <= ranks; i++) {
		run->max_drift = run->rank[i].max_drift > run->max_drift ? run->rank[i].max_drift : run->max_drift;
		run->max_wander = run->rank[i].max_wander > run->max_wander ? run->rank[i].max_wander : run->max_wander;
	}
	return cal_solve(run, 0, err);
}

void vt_server_free_clocks(struct vt_server *s)
{
	int i;

	for (i = 0; i < s->clocks; i++) {
		vt_net_clock_close(&s->clock[i]->c);
		free(s->clock[i]->lines);
		free(s->clock[i]);
	}
	free(s->clock);
	for (i = 0; i < s->n_pending; i++) {
		close(s->pending[i].fd);
	}
}
