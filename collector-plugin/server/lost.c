/* SPDX-License-Identifier: BSD-3-Clause */
/* Refuses a peer, or gives up a node, with the reason; counts these. */
#include "config.h"
#include "collector-plugin/server/server.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "collector-plugin/host/time.h"

void vt_server_refuse(struct vt_server *s, const struct vt_peer *peer, uint64_t pid, const char *why)
{
	vt_edge_send(s->edge, peer,
		&(struct vt_net_message){
			.kind = VT_NET_REFUSED, .number = { pid }, .text = { vt_net_text_of(why, strlen(why)) } });
}

void vt_server_lose_node(struct vt_server *s, int node, const char *fmt, ...)
{
	struct vt_server_node *n = &s->node[node];
	va_list ap;

	if (n->state == VT_SERVER_RUNNING) {
		n->state = VT_SERVER_GONE;
		s->ended_ns = vt_now_ns(CLOCK_MONOTONIC);
		va_start(ap, fmt);
		vsnprintf(n->why, sizeof(n->why), fmt, ap);
		va_end(ap);
	}
}

static int count(const struct vt_server *s, enum vt_server_state state)
{
	int i, n = 0;

	for (i = 0; i < s->nodes; i++) {
		n += s->node[i].state == state;
	}
	return n;
}

int vt_server_count_gone(const struct vt_server *s)
{
	return count(s, VT_SERVER_GONE);
}

int vt_server_count_running(const struct vt_server *s)
{
	return count(s, VT_SERVER_RUNNING);
}
