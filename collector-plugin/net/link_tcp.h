/* SPDX-License-Identifier: BSD-3-Clause */
/* A link of two processes over one TCP connection, for the clock sessions of jobs without MPI. Rank 0 is the master.
 * The caller has connected and has checked who is on the other side. Libc only. */
#ifndef COLLECTOR_PLUGIN_NET_LINK_TCP_H
#define COLLECTOR_PLUGIN_NET_LINK_TCP_H

#include "calib/session/link.h"

/* Takes fd, a connected stream socket, which cal_link_close() closes. rank: 0 or 1. The waits get limits of seconds, since
 * both sides start a session together. Returns NULL with the reason, and then fd is closed. */
struct cal_link *cal_link_tcp(int fd, int rank, struct tkm_err *err);

/* Has the other side closed the connection, or its system reset it? */
int cal_link_tcp_ended(const struct cal_link *l);

/* The descriptor, to be polled between sessions. */
int cal_link_tcp_fd(const struct cal_link *l);

#endif
