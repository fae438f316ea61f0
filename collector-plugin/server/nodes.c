/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes and processes of a job that has no MPI: who has joined, who has ended, who is lost. */
#include "config.h"
#include "collector-plugin/server/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/grow.h"
#include "collector-plugin/host/time.h"

#define SECOND_NS 1000000000ll
/* A node that was silent for so long is lost. When no number of ranks is known, a node may still be about to join for so long after
 * the last one has ended. Nobody has joined for so long: nobody will. */
#define SILENT_NS (15 * SECOND_NS)
#define STRAGGLER_NS (2 * SECOND_NS)
#define NOBODY_NS (600 * SECOND_NS)

enum { MOST_RANKS = 1 << 20 };

static int find_node(const struct vt_server *s, const struct vt_peer *peer)
{
	int i = s->last_node;

	if (i < s->nodes && !memcmp(&s->node[i].peer, peer, sizeof(*peer))) {
		return i;
	}
	for (i = 0; i < s->nodes && memcmp(&s->node[i].peer, peer, sizeof(*peer)); i++) {
	}
	return i < s->nodes ? i : -1;
}

static int add_node(struct vt_server *s, const struct vt_peer *peer, const struct vt_net_message *m)
{
	struct vt_server_node *n;
	char why[120];

	if (m->number[0] != VT_NET_VERSION) {
		snprintf(why, sizeof(why), "the node process has another version: %llu instead of %d",
			(unsigned long long)m->number[0], VT_NET_VERSION);
		vt_server_refuse(s, peer, 0, why);
		return -1;
	}
	n = TKM_APPEND(s->node, s->nodes);
	if (!n || getrandom(n->nonce, sizeof(n->nonce), 0) != (ssize_t)sizeof(n->nonce)) {
		s->nodes -= n != NULL;
		vt_server_refuse(s, peer, 0, "no memory for one more node");
		return -1;
	}
	n->peer = *peer;
	vt_net_copy(&m->text[0], n->host, sizeof(n->host));
	vt_net_copy(&m->text[1], n->boot, sizeof(n->boot));
	return s->nodes - 1;
}

static void place_node(struct vt_server *s, int node)
{
	const struct vt_server_node *n = &s->node[node];

	vt_edge_send(s->edge, &n->peer,
		&(struct vt_net_message){ .kind = VT_NET_PLACE,
			.number = { (uint64_t)node, (uint64_t)s->clock_port, n->nonce[0], n->nonce[1],
				(uint64_t)s->join_wait_s } });
}

/* ---- processes ---- */

static void add_process(struct vt_server *s, int node, const struct vt_net_message *m)
{
	int i, rank = m->number[1] > 0 && m->number[1] <= MOST_RANKS ? (int)m->number[1] - 1 : -1;
	struct vt_server_process p = { .pid = m->number[0], .token = m->number[3] };
	char why[120], program[256];

	i = vt_server_find_process(s, node, m->number[0]);
	if (i < 0 && rank >= 0 && vt_server_who_has(s, rank) != VT_SERVER_FREE) {
		snprintf(why, sizeof(why), "another process of this job has rank %d", rank);
		vt_server_refuse(s, &s->node[node].peer, m->number[0], why);
		return;
	}
	if (i < 0) {
		i = s->processes;
		p.rank = rank < 0 ? vt_server_lowest_free_rank(s) : rank;
		if (vt_server_add_process(s, node, &p, vt_net_copy(&m->text[0], program, sizeof(program))) < 0) {
			return;
		}
		if (m->number[2] <= MOST_RANKS && (int)m->number[2] > s->wanted) {
			s->wanted = (int)m->number[2];
		}
	}
	vt_server_send_rank(s, node, m->number[0],
		&(struct vt_server_rank){ .rank = s->process[i].rank, .ranks = s->wanted, .parent = -1 });
}

/* ---- messages ---- */

static void end_node(struct vt_server *s, int node, uint64_t files)
{
	s->node[node].files = files;
	if (s->node[node].state == VT_SERVER_RUNNING && vt_server_files_complete(s, node)) {
		s->node[node].state = VT_SERVER_ENDED;
		s->ended_ns = s->heard_ns;
	}
}

static void tell_alive(const struct vt_server *s)
{
	int i;

	for (i = 0; i < s->nodes; i++) {
		if (s->node[i].state != VT_SERVER_GONE) {
			vt_edge_send(s->edge, &s->node[i].peer,
				&(struct vt_net_message){ .kind = VT_NET_ALIVE,
					.number = {
						(uint64_t)s->nodes, (uint64_t)s->processes, (uint64_t)s->blocked } });
		}
	}
}

/* Nodes that have ended let nobody go on. The ranks of a node whose node process is lost may. */
static void look_for_block(struct vt_server *s)
{
	int i, running = 0, blocked = 0, all;

	for (i = 0; i < s->nodes; i++) {
		running += s->node[i].state == VT_SERVER_RUNNING;
		blocked += s->node[i].state == VT_SERVER_RUNNING && s->node[i].blocked;
	}
	all = blocked > 0 && blocked == running && vt_server_count_gone(s) == 0 && s->processes >= s->wanted;
	if (all != s->blocked) {
		s->blocked = all;
		tell_alive(s);
	}
}

/* What a node that has joined says. */
static void take_from_node(struct vt_server *s, int node, const struct vt_net_message *m, int64_t now)
{
	switch (m->kind) {
	case VT_NET_HELLO:
		place_node(s, node);
		break;
	case VT_NET_PROCESS:
		if (m->number[4]) {
			vt_server_take_child(s, node, m, now);
		} else {
			add_process(s, node, m);
		}
		break;
	case VT_NET_ATTACH:
		vt_server_take_attach(s, node, m, now);
		break;
	case VT_NET_WITHDRAW:
		vt_server_withdraw(s, node, m->number[0]);
		break;
	case VT_NET_MEET:
		vt_server_take_guest(s, node, m);
		break;
	case VT_NET_CLOCK:
		vt_server_add_clock_lines(s, node, m);
		break;
	case VT_NET_LAST:
		vt_server_ask_for_last(s, node, m->number[0]);
		break;
	case VT_NET_FILE:
		vt_server_take_part(s, node, m);
		break;
	case VT_NET_ENDED:
		end_node(s, node, m->number[0]);
		break;
	case VT_NET_ALIVE:
		/* what else changes it is looked for at each beat */
		if (s->node[node].blocked != (m->number[2] == 1)) {
			s->node[node].blocked = m->number[2] == 1;
			look_for_block(s);
		}
		break;
	case VT_NET_LEAVE:
		vt_server_lose_node(s, node, "it left: %.*s", (int)m->text[0].n, m->text[0].at);
		break;
	default:
		break;
	}
}

void vt_server_take_message(
	struct vt_server *s, const struct vt_peer *from, const struct vt_net_message *m, int64_t now)
{
	int node = find_node(s, from);

	if (node < 0 && m->kind == VT_NET_HELLO) {
		node = add_node(s, from, m);
	}
	if (node < 0 || s->node[node].state == VT_SERVER_GONE) {
		/* it was given up; or it speaks before it has joined */
		vt_server_refuse(
			s, from, 0, node < 0 ? "this node has not joined" : "this node was given up: it was silent");
		return;
	}
	s->last_node = node;
	s->node[node].heard_ns = s->heard_ns = now;
	take_from_node(s, node, m, now);
}

int64_t vt_server_next_beat(const struct vt_server *s)
{
	/* limits of waiting are looked at, too */
	int waits = (s->guests && !s->met) || s->attaches || s->children;

	return s->told_ns + (waits ? SECOND_NS : VT_NET_BEAT_NS);
}

void vt_server_look_for_lost(struct vt_server *s, int64_t now)
{
	int i;

	if (now < vt_server_next_beat(s)) {
		return;
	}
	s->told_ns = now;
	for (i = 0; i < s->nodes; i++) {
		if (s->node[i].state == VT_SERVER_RUNNING && now - s->node[i].heard_ns > SILENT_NS) {
			vt_server_lose_node(s, i, "nothing was heard of it for %lld s", SILENT_NS / SECOND_NS);
		}
	}
	look_for_block(s);
	tell_alive(s);
	vt_server_look_at_meeting(s, now);
	vt_server_look_at_attaches(s, now);
}

int vt_server_is_over(const struct vt_server *s, int64_t now)
{
	int64_t wait_ns = (int64_t)(s->join_wait_s * 1e9), quiet_ns = now - s->ended_ns;
	int running = vt_server_count_running(s);

	if (s->processes == 0 && s->met) {
		return 1;
	}
	if (s->processes == 0) {
		return running == 0 && now - s->began_ns > (s->called || wait_ns > NOBODY_NS ? wait_ns : NOBODY_NS);
	}
	if (running) {
		return 0;
	}
	if (s->is_mpi) {
		return 1; /* all ranks joined in MPI_Init, together */
	}
	return s->wanted ? s->processes - s->spawned + s->is_rank_0 >= s->wanted || quiet_ns > wait_ns
			 : quiet_ns > (wait_ns < STRAGGLER_NS ? wait_ns : STRAGGLER_NS);
}
