/* SPDX-License-Identifier: BSD-3-Clause */
/* Links over TCP, for clocks where there is no MPI: of two processes over one connection, where rank 0 is the master and the caller
 * has connected and has checked who is on the other side; or of many. Libc only. */
#ifndef COLLECTOR_PLUGIN_NET_LINK_TCP_H
#define COLLECTOR_PLUGIN_NET_LINK_TCP_H

#include "calib/session/link.h"
#include "collector-plugin/net/contact.h"

/* Takes fd, a connected stream socket, which cal_link_close() closes. rank: 0 or 1. The waits get limits of seconds, since
 * both sides start a session together. Returns NULL with the reason, and then fd is closed. */
struct cal_link *cal_link_tcp(int fd, int rank, struct tkm_err *err);

/* What the processes of a link of many know of each other. */
struct vt_mesh {
	int listener;          /* a socket that listens at the port of at[own rank] */
	uint64_t nonce[2];     /* what each connection begins with; it came over an encrypted edge */
	struct vt_contact *at; /* hosts and port of each rank, from malloc; the keys are not used */
};

/* A link of `size` processes. Each direction between two of them is a connection of its own, which the sender makes before its first
 * message; so a process has as many connections as it has partners. Takes what is in *m. NULL with the reason. */
struct cal_link *vt_link_mesh(struct vt_mesh *m, int rank, int size, struct tkm_err *err);

/* Of a link of two: has the other side closed the connection, or its system reset it? */
int cal_link_tcp_ended(const struct cal_link *l);

/* Of a link of two: the descriptor, to be polled between sessions. */
int cal_link_tcp_fd(const struct cal_link *l);

#endif
