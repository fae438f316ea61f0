/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that a process of the job has started, and attaches (VT_attach). They wait until their parent asks for so many of them;
 * then they get ranks one after the other, in the order of their procid, and are a world of their own. */
#include "config.h"
#include "collector-plugin/server/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { MOST_WAITING = 65536 };

static void refuse_child(struct vt_server *s, int i, const char *why)
{
	vt_server_refuse(s, &s->node[s->child[i].node].peer, s->child[i].pid, why);
	s->child[i] = s->child[--s->children];
}

static void refuse_attach(struct vt_server *s, int i, const char *why)
{
	vt_server_refuse(s, &s->node[s->attach[i].node].peer, s->attach[i].pid, why);
	s->attach[i] = s->attach[--s->attaches];
}

static int first_free_rank(const struct vt_server *s)
{
	int i, rank = s->wanted;

	for (i = 0; i < s->processes; i++) {
		rank = s->process[i].rank >= rank ? s->process[i].rank + 1 : rank;
	}
	return rank;
}

static int by_procid(const void *a, const void *b)
{
	const struct vt_server_child *x = a, *y = b;

	return (x->procid > y->procid) - (x->procid < y->procid);
}

/* The children of this parent that have come first, at most n, go to the beginning of the list. Returns how many. */
static int gather_children(struct vt_server *s, uint64_t parent, int n)
{
	struct vt_server_child swap;
	int i, k = 0;

	for (i = 0; i < s->children && k < n; i++) {
		if (s->child[i].parent == parent) {
			swap = s->child[i];
			memmove(s->child + k + 1, s->child + k, (size_t)(i - k) * sizeof(swap));
			s->child[k++] = swap;
		}
	}
	return k;
}

/* All n are there, at the beginning of the list. */
static void attach_children(struct vt_server *s, const struct vt_server_attach *a)
{
	int i, first = first_free_rank(s);
	struct vt_server_rank place = { .ranks = a->n, .first = first, .parent = a->rank };

	for (i = 0; i < a->n; i++) {
		const struct vt_server_child *c = &s->child[i];

		if (vt_server_add_process(s, c->node,
			    &(struct vt_server_process){
				    .rank = first + i, .is_spawned = 1, .pid = c->pid, .token = c->token },
			    c->program) == 0) {
			place.rank = first + i;
			s->spawned++;
			vt_server_send_rank(s, c->node, c->pid, &place);
		}
	}
	place.rank = a->rank;
	vt_server_send_rank(s, a->node, a->pid, &place);
	memmove(s->child, s->child + a->n, (size_t)(s->children - a->n) * sizeof(*s->child));
	s->children -= a->n;
}

/* Two children with one procid cannot be told apart. */
static int refuse_same(struct vt_server *s, int k, const struct vt_server_attach *a)
{
	char why[120];
	int i, n = a->n;

	for (i = 1; i < n && s->child[i].procid != s->child[i - 1].procid; i++) {
	}
	if (i == n) {
		return 0;
	}
	snprintf(why, sizeof(why), "two children of rank %d have procid %d", a->rank, s->child[i].procid);
	while (n-- > 0) {
		refuse_child(s, n, why);
	}
	refuse_attach(s, k, why);
	return 1;
}

static void try_attaches(struct vt_server *s)
{
	struct vt_server_attach a;
	int i = 0;

	while (i < s->attaches) {
		a = s->attach[i];
		if (gather_children(s, a.token, a.n) < a.n) {
			i++;
			continue;
		}
		qsort(s->child, (size_t)a.n, sizeof(*s->child), by_procid);
		if (!refuse_same(s, i, &a)) {
			attach_children(s, &a);
			s->attach[i] = s->attach[--s->attaches];
		}
	}
}

void vt_server_withdraw(struct vt_server *s, int node, uint64_t pid)
{
	int i;

	/* the order of the others remains */
	for (i = s->children - 1; i >= 0; i--) {
		if (s->child[i].node == node && s->child[i].pid == pid) {
			memmove(s->child + i, s->child + i + 1, (size_t)(s->children - i - 1) * sizeof(*s->child));
			s->children--;
		}
	}
	for (i = s->attaches - 1; i >= 0; i--) {
		if (s->attach[i].node == node && s->attach[i].pid == pid) {
			memmove(s->attach + i, s->attach + i + 1, (size_t)(s->attaches - i - 1) * sizeof(*s->attach));
			s->attaches--;
		}
	}
}

void vt_server_take_child(struct vt_server *s, int node, const struct vt_net_message *m, int64_t now)
{
	struct vt_server_child *c;

	/* of a wait before this one it has not heard */
	vt_server_withdraw(s, node, m->number[0]);
	c = s->children < MOST_WAITING ? TKM_APPEND(s->child, s->children) : NULL;
	if (!c) {
		vt_server_refuse(s, &s->node[node].peer, m->number[0], "no memory for one more child");
		return;
	}
	*c = (struct vt_server_child){ .node = node,
		.pid = m->number[0],
		.procid = (int)m->number[1] - 1,
		.token = m->number[3],
		.parent = m->number[4],
		.since_ns = now };
	vt_net_copy(&m->text[0], c->program, sizeof(c->program));
	try_attaches(s);
}

void vt_server_take_attach(struct vt_server *s, int node, const struct vt_net_message *m, int64_t now)
{
	struct vt_server_attach *a = NULL;
	int i;

	vt_server_withdraw(s, node, m->number[0]);
	i = vt_server_find_process(s, node, m->number[0]);
	if (i >= 0 && m->number[1] >= 1 && m->number[1] <= MOST_WAITING) {
		a = TKM_APPEND(s->attach, s->attaches);
	}
	if (!a) {
		vt_server_refuse(s, &s->node[node].peer, m->number[0], "this process cannot attach so many others");
		return;
	}
	*a = (struct vt_server_attach){ .node = node,
		.rank = s->process[i].rank,
		.n = (int)m->number[1],
		.pid = m->number[0],
		.token = s->process[i].token,
		.since_ns = now };
	try_attaches(s);
}

/* Those that have not come, by their procid, which begins at 0. */
static void say_missing(struct vt_server *s, const struct vt_server_attach *a, char *why, size_t size)
{
	int i, k, came = gather_children(s, a->token, a->n);
	size_t n = (size_t)snprintf(why, size,
		"%d of %d children of rank %d have come within %g s (JOIN-WAIT). Missing: procid", came, a->n, a->rank,
		s->join_wait_s);

	for (i = 0; i < a->n && n < size; i++) {
		for (k = 0; k < came && s->child[k].procid != i; k++) {
		}
		n += k == came ? (size_t)snprintf(why + n, size - n, " %d", i) : 0;
	}
}

void vt_server_look_at_attaches(struct vt_server *s, int64_t now)
{
	int64_t wait_ns = (int64_t)(s->join_wait_s * 1e9);
	char why[300];
	int i, k;

	for (i = s->attaches - 1; i >= 0; i--) {
		if (now - s->attach[i].since_ns > wait_ns) {
			say_missing(s, &s->attach[i], why, sizeof(why));
			for (k = s->children - 1; k >= 0; k--) {
				if (s->child[k].parent == s->attach[i].token) {
					refuse_child(s, k, why);
				}
			}
			refuse_attach(s, i, why);
		}
	}
	for (k = s->children - 1; k >= 0; k--) {
		if (now - s->child[k].since_ns > wait_ns) {
			snprintf(why, sizeof(why),
				"no process with the contact of its parent has called VT_attach within %g s "
				"(JOIN-WAIT)",
				s->join_wait_s);
			refuse_child(s, k, why);
		}
	}
}

void vt_server_end_attaches(struct vt_server *s)
{
	while (s->attaches > 0) {
		refuse_attach(s, s->attaches - 1, "the job has ended before all children had come");
	}
	while (s->children > 0) {
		refuse_child(s, s->children - 1,
			"the job has ended, and no process with the contact of its parent has called VT_attach");
	}
}

void vt_server_free_attaches(struct vt_server *s)
{
	free(s->child);
	free(s->attach);
}
