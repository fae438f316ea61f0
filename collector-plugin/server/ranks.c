/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of a job that has no MPI, and their ranks. */
#include "config.h"
#include "collector-plugin/server/server.h"

#include <stdio.h>

#include "base/grow.h"

int vt_server_has_rank(const struct vt_server *s, int rank)
{
	int i;

	for (i = 0; i < s->processes && s->process[i].rank != rank; i++) {
	}
	return i < s->processes || (rank == 0 && s->is_rank_0);
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

	if (!room) {
		vt_server_refuse(s, &s->node[node].peer, p->pid, "no memory for one more process");
		return -1;
	}
	*room = *p;
	room->node = node;
	snprintf(room->program, sizeof(room->program), "%s", program);
	/* a node that had ended has begun anew */
	s->node[node].state = VT_SERVER_RUNNING;
	vt_server_continue_clocks(s, node);
	return 0;
}
