/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of a node, measured against that of the process that gave the word, over a TCP connection of its own. That
 * process begins each session; the other one waits for its word in cal_link_tcp_fd(). */
#ifndef COLLECTOR_PLUGIN_NET_CLOCK_H
#define COLLECTOR_PLUGIN_NET_CLOCK_H

#include "calib/job/job.h"
#include "collector-plugin/net/link_tcp.h"

/* The first bytes on the connection: whose clock it is, and the proof that the encrypted edge was there before. */
struct vt_clock_hello {
	uint64_t nonce[2];
	uint64_t node, clock;
};

struct vt_net_clock {
	char timer_name[256];
	struct tmr_timer *timer;
	struct cal_link *link; /* NULL: there was no connection yet */
	int cut;               /* the connection has ended; the job keeps what it has measured */
	struct cal_job job;
	int begun;    /* job is valid */
	int sessions; /* that succeeded */
	int over;     /* the last one was made */
	int64_t due_ns;
};

/* Opens the timer. rank: for {rank} in its name. Returns 0 or -1. */
int vt_net_clock_open(struct vt_net_clock *c, const char *timer, int rank, struct tkm_err *err);

/* Takes the connection; side 0 is the master. Returns 0 or -1. */
int vt_net_clock_connect(struct vt_net_clock *c, int fd, int side, struct tkm_err *err);

/* The master's side: begins a session of this kind and makes it. Returns 0 or -1. */
int vt_net_clock_session(struct vt_net_clock *c, enum cal_session_kind kind, struct tkm_err *err);

/* The other side, when its descriptor is readable: takes the master's word and makes the session. Returns 0, 1: the connection has
 * ended, or -1. */
int vt_net_clock_follow(struct vt_net_clock *c, struct tkm_err *err);

/* New lines of a .clk file since the last call, "" if there are none; to be freed. NULL: no memory. */
char *vt_net_clock_lines(struct vt_net_clock *c, size_t *n);

/* The connection has ended. Before the first session another one can follow. */
void vt_net_clock_cut(struct vt_net_clock *c);
static inline int vt_net_clock_is_connected(const struct vt_net_clock *c)
{
	return c->link && !c->cut;
}

void vt_net_clock_close(struct vt_net_clock *c);

#endif
