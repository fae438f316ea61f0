/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of a job that has no MPI, and their ranks. */
#include "config.h"
#include "collector-plugin/server/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum vt_server_taken vt_server_who_has(const struct vt_server *s, int rank)
{
	return rank == 0 && s->is_rank_0 ? VT_SERVER_JOINED
		: rank < s->room_ranks   ? (enum vt_server_taken)s->rank[rank]
					 : VT_SERVER_FREE;
}

int vt_server_lowest_free_rank(struct vt_server *s)
{
	while (vt_server_who_has(s, s->free_rank) != VT_SERVER_FREE) {
		s->free_rank++;
	}
	return s->free_rank;
}

int vt_server_find_process(const struct vt_server *s, int node, uint64_t pid)
{
	int i = s->node[node].processes;

	while (i > 0 && s->process[i - 1].pid != pid) {
		i = s->process[i - 1].before;
	}
	return i - 1;
}

/* Returns 0; -1: no memory. */
static int take_rank(struct vt_server *s, int rank, enum vt_server_taken by)
{
	int room = rank < 2 * s->room_ranks ? 2 * s->room_ranks : rank + 64;
	unsigned char *more = rank < s->room_ranks ? s->rank : realloc(s->rank, (size_t)room);

	if (!more) {
		return -1;
	}
	s->rank = more;
	if (rank >= s->room_ranks) {
		memset(more + s->room_ranks, VT_SERVER_FREE, (size_t)(room - s->room_ranks));
		s->room_ranks = room;
	}
	s->rank[rank] = (unsigned char)by;
	return 0;
}

void vt_server_send_rank(struct vt_server *s, int node, uint64_t pid, const struct vt_server_rank *r)
{
	vt_edge_send(s->edge, &s->node[node].peer,
		&(struct vt_net_message){ .kind = VT_NET_RANK,
			.number = { pid, (uint64_t)r->rank, (uint64_t)r->ranks, (uint64_t)r->first,
				(uint64_t)(r->parent + 1) } });
}

int vt_server_add_process(struct vt_server *s, int node, const struct vt_server_process *p, const char *program)
{
	struct vt_server_process *room = TKM_APPEND(s->process, s->processes);

	if (!room || take_rank(s, p->rank, p->is_spawned ? VT_SERVER_SPAWNED : VT_SERVER_JOINED) < 0) {
		s->processes -= room != NULL;
		vt_server_refuse(s, &s->node[node].peer, p->pid, "no memory for one more process");
		return -1;
	}
	*room = *p;
	room->node = node;
	room->before = s->node[node].processes;
	s->node[node].processes = s->processes;
	snprintf(room->program, sizeof(room->program), "%s", program);
	/* a node that had ended has begun anew */
	s->node[node].state = VT_SERVER_RUNNING;
	vt_server_continue_clocks(s, node);
	return 0;
}
