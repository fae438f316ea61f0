/* SPDX-License-Identifier: BSD-3-Clause */
/* VTserver: the node process that gives the word of a job. It knows its nodes, measures their clocks, receives their raw files and
 * makes one trace of them. It samples nothing: processes of its own node join over loopback like all others. */
#ifndef COLLECTOR_PLUGIN_SERVER_SERVER_H
#define COLLECTOR_PLUGIN_SERVER_SERVER_H

#include <stdint.h>
#include <stdio.h>

#include "collector-plugin/core/collect.h"
#include "collector-plugin/net/clock.h"
#include "collector-plugin/net/edge.h"

enum { VT_SERVER_PENDING = 64 };

enum vt_server_state {
	VT_SERVER_RUNNING,
	VT_SERVER_ENDED, /* all that it has sent is here */
	VT_SERVER_GONE,  /* lost, or it left: why */
};

struct vt_server_node {
	struct vt_peer peer;
	uint64_t nonce[2];
	char host[256], boot[64], why[600];
	int64_t heard_ns;
	enum vt_server_state state;
	uint64_t files; /* that it announced with VT_NET_ENDED */
	int left_out; /* raw files in the shared folder that are not for the trace: is it sure that they are complete? */
	int blocked;  /* no rank of it goes on */
	int processes; /* 1 + the last one that has joined, in the list of all; 0: none */
};

struct vt_server_process {
	int node, rank, is_spawned;
	int before;          /* 1 + the one of this node that joined before it; 0: none */
	uint64_t pid, token; /* token: what its children name it by; 0: nothing */
	char program[256];
};

/* A process that waits until its parent attaches it. */
struct vt_server_child {
	int node, procid;
	uint64_t pid, token, parent;
	int64_t since_ns;
	char program[256];
};

/* A process that waits for n children. */
struct vt_server_attach {
	int node, rank, n;
	uint64_t pid, token;
	int64_t since_ns;
};

enum vt_server_taken { VT_SERVER_FREE, VT_SERVER_JOINED, VT_SERVER_SPAWNED };

/* What a process is told: its rank, and its world or that of its children. parent -1: none. */
struct vt_server_rank {
	int rank, ranks, first, parent;
};

/* A process that takes part in a test of clocks, and leaves no trace. */
struct vt_server_guest {
	int node, rank; /* rank -1: any */
	char *place;    /* HOST[,HOST...]:PORT */
};

/* A clock of a node: that of one timer there. */
struct vt_server_clock {
	int node;
	uint64_t number; /* on the node */
	int last;        /* its last session is asked for */
	int failures;    /* of sessions, one after the other */
	struct vt_net_clock c;
	char *lines; /* of a .clk file */
	size_t n;
};

struct vt_server_file {
	int node, fd; /* -1: complete */
	uint64_t number, clock, size, pid;
	char *path;
};

/* A connection for clock sessions that has not proven yet that it belongs to a node. */
struct vt_server_pending {
	int fd;
	size_t got;
	struct vt_clock_hello hello;
	int64_t until_ns;
};

struct vt_server {
	struct vt_edge *edge;
	struct vt_contact here;
	int clock_fd, clock_port;
	char timer[256];
	double join_wait_s, sync_period_s;
	struct vt_server_node *node;
	struct vt_server_process *process;
	struct vt_server_clock **clock;
	struct vt_server_file *file;
	struct vt_server_guest *guest;
	struct vt_server_child *child;
	struct vt_server_attach *attach;
	unsigned char *rank;       /* [room_ranks]: who has it, enum vt_server_taken */
	int room_ranks, free_rank; /* no rank below free_rank is free */
	int last_node;             /* whose message was the last */
	int nodes, processes, clocks, files, guests, children, attaches;
	int spawned;    /* of the processes, those that others have attached */
	int meets, met; /* number of guests that are expected; they have got each other's places, or an error */
	int wanted;     /* number of ranks that the job has; 0: unknown */
	int called;     /* number of clients that were told the word of the job; 0: they have it from the program */
	int is_rank_0;  /* this process is rank 0, and records nothing */
	int is_mpi;     /* an MPI job that makes its trace in MPI_Finalize, unless it dies */
	int blocked;    /* no rank of any node goes on */
	int given_up;   /* it was told to end, and nodes still run: each makes a trace of its own */
	struct vt_server_pending pending[VT_SERVER_PENDING];
	int n_pending;
	/* ended: the last node that ran has ended or was lost; came: the last guest */
	int64_t began_ns, heard_ns, told_ns, ended_ns, came_ns;
	char folder[1100];  /* of the received files; "": not chosen yet */
	const char *shared; /* folder of the raw files, which all nodes see: none is sent; NULL: there is none */
};

/* nodes.c: what a node has sent. */
void vt_server_take_message(
	struct vt_server *s, const struct vt_peer *from, const struct vt_net_message *m, int64_t now);
/* Tells all nodes that this process lives, at each beat, and finds those that are silent. */
int64_t vt_server_next_beat(const struct vt_server *s);
void vt_server_look_for_lost(struct vt_server *s, int64_t now);
/* ranks.c: adds a process with this rank. Returns 0 or -1. */
int vt_server_add_process(struct vt_server *s, int node, const struct vt_server_process *p, const char *program);
void vt_server_send_rank(struct vt_server *s, int node, uint64_t pid, const struct vt_server_rank *r);
/* Has a process this rank, and did it join, or has another one attached it? */
enum vt_server_taken vt_server_who_has(const struct vt_server *s, int rank);
int vt_server_lowest_free_rank(struct vt_server *s);
/* The process pid of that node, its number in the list; -1: none. */
int vt_server_find_process(const struct vt_server *s, int node, uint64_t pid);
/* Tells a peer that it, or its process pid, does not take part. */
void vt_server_refuse(struct vt_server *s, const struct vt_peer *peer, uint64_t pid, const char *why);
/* lost.c: the node is given up, and the others go on. */
void vt_server_lose_node(struct vt_server *s, int node, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* How many nodes have been given up? */
int vt_server_count_gone(const struct vt_server *s);
/* How many still run? */
int vt_server_count_running(const struct vt_server *s);
/* May the trace be made: have all that joined ended, and is nobody else expected? */
int vt_server_is_over(const struct vt_server *s, int64_t now);

/* spawned.c: a process joins that another one has started. */
void vt_server_take_child(struct vt_server *s, int node, const struct vt_net_message *m, int64_t now);
/* A process waits for those that it has started. */
void vt_server_take_attach(struct vt_server *s, int node, const struct vt_net_message *m, int64_t now);
/* The process no longer waits. */
void vt_server_withdraw(struct vt_server *s, int node, uint64_t pid);
/* Ends waits that last too long. */
void vt_server_look_at_attaches(struct vt_server *s, int64_t now);
/* Nobody attaches any more: refuses all that wait. */
void vt_server_end_attaches(struct vt_server *s);
void vt_server_free_attaches(struct vt_server *s);

/* meet.c: a process wants to meet others. */
void vt_server_take_guest(struct vt_server *s, int node, const struct vt_net_message *m);
/* Ends the meeting when a guest is gone, or too few come. */
void vt_server_look_at_meeting(struct vt_server *s, int64_t now);
/* Tells all guests why they do not meet. */
void vt_server_end_meeting(struct vt_server *s, const char *why);
void vt_server_free_meeting(struct vt_server *s);

/* files.c: a part of a raw file. */
void vt_server_take_part(struct vt_server *s, int node, const struct vt_net_message *m);
/* Adds the raw files in the folder that the nodes share: those of the nodes that have ended, and of dead processes of others. */
void vt_server_find_files(struct vt_server *s);
int vt_server_files_complete(const struct vt_server *s, int node);
void vt_server_free_files(struct vt_server *s);

/* clocks.c: connections for sessions, and the sessions that are due, one at a time. */
int vt_server_clock_descriptors(const struct vt_server *s, struct pollfd *fd, int most);
void vt_server_serve_clocks(struct vt_server *s, int64_t now);
/* Finds or adds it. NULL: no memory, or the node has too many. */
struct vt_server_clock *vt_server_find_clock(struct vt_server *s, int node, uint64_t number);
/* The node is about to send its files: makes the last session soon. */
void vt_server_ask_for_last(struct vt_server *s, int node, uint64_t number);
/* A process has joined on a node whose last sessions were made already. */
void vt_server_continue_clocks(struct vt_server *s, int node);
void vt_server_add_clock_lines(struct vt_server *s, int node, const struct vt_net_message *m);
/* Is a clock that the kernel steers read here, beside one that it does not? */
int vt_server_has_steered_clock(const struct vt_server *s);
/* The time until the next session is due, in ms, at most `most`. */
int vt_server_next_session_ms(const struct vt_server *s, int64_t now, int most);
/* Solves the clocks of all ranks; rank number `ranks` is this process, the master. Returns 0 or -1. */
int vt_server_solve_clocks(struct vt_server *s, int ranks, struct cal_run *run, struct tkm_err *err);
void vt_server_free_clocks(struct vt_server *s);

/* contacts.c: reads the contact of a client that waits. Returns 0, or -1 with a reason without the key. */
int vt_server_read_client(const char *contact, struct vt_contact *c, struct tkm_err *err);
/* Tells each of these clients, contacts with a blank between, the word of this job. Returns 0, or -1: one cannot be reached. */
int vt_server_call_clients(struct vt_server *s, const char *word, const char *contacts, struct tkm_err *err);

/* waiting.c: a client waits for its server. Opens the socket for the client. Returns 0 or -1. */
int vt_server_open_waiting(const char *contact, struct tkm_err *err);
/* Waits for the word of the job, and tells it, until the client has ended. Returns the exit status. */
int vt_server_wait_for_server(struct vt_server *s, pid_t client);

/* trace.c: has MPI_Finalize made it? */
int vt_server_has_trace(const struct vt_server *s);
/* Chooses the names of the trace, once the program is known. Returns 0 or -1. */
int vt_server_name_trace(struct vt_server *s, struct tkm_err *err);
/* Makes the trace and says what came. Returns 0 or -1. */
int vt_server_make_trace(struct vt_server *s);

/* say.c: lines for the user are printed where the process was started, and kept for the nodes. */
void vt_server_say_open(int background);
const char *vt_server_said(void);

#endif
