/* SPDX-License-Identifier: BSD-3-Clause */
/* The edges of the network of node processes: encrypted connections over which messages (message.h) go. ZeroMQ carries them, with
 * CURVE: a peer that does not know the key of the contact gets no further than the handshake, so nothing that it sends is
 * parsed. Only node processes link this. Not for several threads at a time. */
#ifndef COLLECTOR_PLUGIN_NET_EDGE_H
#define COLLECTOR_PLUGIN_NET_EDGE_H

#include <poll.h>

#include "collector-plugin/net/contact.h"
#include "collector-plugin/net/message.h"

struct vt_edge;

/* A peer of a listening edge; it keeps its name if it has to connect again. */
struct vt_peer {
	uint8_t name[16];
};

/* Waits for peers: on all interfaces, or on the addresses of c->host if `only`, at a port from low to high (0: any). Sets
 * c->port and c->key. NULL with err. */
struct vt_edge *vt_edge_listen(struct vt_contact *c, int only, int low, int high, struct tkm_err *err);

/* Connects to host number i of a contact, in the background. NULL with err. */
struct vt_edge *vt_edge_connect(const struct vt_contact *c, int i, struct tkm_err *err);

/* Sends a message; `to` is for a listening edge. Never waits. Returns 0, or -1: the peer is gone, or its queue is full. */
int vt_edge_send(struct vt_edge *e, const struct vt_peer *to, const struct vt_net_message *m);

/* Takes the next message, whose texts are valid until the next call. Returns 1; 0: there is none; -1: it was none of ours, with
 * the reason; from is set. */
int vt_edge_receive(struct vt_edge *e, struct vt_peer *from, struct vt_net_message *m, struct tkm_err *err);

/* Waits until a message comes or one of the n descriptors is ready, at most ms. */
enum { VT_EDGE_POLLED = 1100 };
void vt_edge_wait(struct vt_edge *e, struct pollfd *fd, int n, int ms);

/* Sends what is queued, for at most 2 s, and closes. NULL is nothing. */
void vt_edge_close(struct vt_edge *e);

#endif
