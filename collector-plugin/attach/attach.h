/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between a measured process and the sampler process (vtsampler/). There is one sampler process per node and
 * job, which is found by a socket whose name contains user and job. A process connects, hands over its raw file and
 * its options, and closes the connection at once. While the program runs, both share only the head of the raw file.
 * At its end the process connects once more. Needs libc only. */
#ifndef COLLECTOR_PLUGIN_ATTACH_ATTACH_H
#define COLLECTOR_PLUGIN_ATTACH_ATTACH_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum { VT_ATTACH_MAGIC = 0x54415454, VT_ATTACH_VERSION = 1, VT_ATTACH_MOST = 1 << 24, VT_ATTACH_QUEUE = 4096 };

enum vt_attach_kind {
	VT_ATTACH_BEGIN =
		1, /* texts (below), and the descriptor of the raw file; answered by an empty message when it is attached */
	VT_ATTACH_END = 2,     /* struct vt_attach_end; answered by struct vt_attach_over and text for the user */
	VT_ATTACH_WAKE = 3,    /* nothing */
	VT_ATTACH_REFUSED = 4, /* an answer: a text with the reason why the process is not sampled from outside */
	/* of vtrun --join and VT_initialize: texts word, rank, size, program, token, parent, children, mpi; answered when the process has
	 * its rank, or its children are there */
	VT_ATTACH_JOIN = 5,
	VT_ATTACH_JOINED = 6, /* an answer: struct vt_attach_place */
	VT_ATTACH_WORD =
		7, /* of a client to the VTserver that waits for the job's word, which answers with it when it has come */
	VT_ATTACH_MERGE = 8,  /* struct vt_merge_order; refused, or answered when the trace is complete */
	VT_ATTACH_MERGED = 9, /* an answer: struct vt_merge_answer */
	VT_ATTACH_WATCH = 10, /* as VT_ATTACH_BEGIN, of a process that samples itself; no answer */
};

/* The head of each message; `size` bytes follow. */
struct vt_attach_head {
	uint32_t magic, version, kind, size;
};

struct vt_attach_end {
	uint32_t how; /* enum vt_raw_ending */
	uint32_t
		merge; /* 1: the trace is to be written if this is the last process of the job; 2: the file is given up */
	int64_t tick; /* the last one */
};

/* What the sampler used and did for this process. */
struct vt_attach_over {
	uint64_t ticks, samples;
	int64_t cpu_ns, longest_ns, latest_ns, wall_ns;
	double period_s;
	int32_t slowed, filler;
};

/* The user in the name of the socket, as vtrun sees it: a program that has entered another user namespace sees another one. 0: the effective
 * user. */
extern unsigned vt_attach_user;

/* Makes the address of the socket of the job's sampler. n selects the n-th name, from 0, for the case that another
 * user has taken the names before. Returns the length. */
struct sockaddr_un;
unsigned vt_attach_name(const char *job, int n, struct sockaddr_un *to);

/* Connects to the process that listens under the n-th name. Returns a descriptor, or -1 with errno: ECONNREFUSED: no
 * process listens; EAGAIN: its queue is full; EPERM or EACCES: another user. */
int vt_attach_connect_to(const char *job, int n);

/* Connects to the sampler of this user's job. Returns a descriptor, or -1 with errno: there is none. */
int vt_attach_connect(const char *job);

/* Starts the sampler unless there is one. `near`: a file of this installation; the sampler is found from its folder.
 * The sampler inherits nothing from the calling process, and is not its child. Returns 0, or -1 with err. */
int vt_attach_start(const char *job, const char *near, struct tkm_err *err);
/* Finds the sampler's program. Returns -1 if it does not exist. */
int vt_attach_program(const char *near, char *path, size_t size);

/* What follows the word in the contact of a client (collector-plugin/net/contact.h): it waits for its server; or it is in the job of the
 * word, and its children name it by what follows. */
#define VT_CONTACT_WAITS "/w"
#define VT_CONTACT_CLIENT "/"

/* The contacts of clients that wait go to VTserver in one variable of the environment, which the system limits. */
enum { VT_ATTACH_MOST_CONTACTS = 131072 };
#define VT_ATTACH_FEWER "the system lets less than %d pass to VTserver: give it fewer"

/* A process that wants to join a job by its contact word (vtrun --join, VT_clientinit). */
struct vt_attach_request {
	const char *job, *near; /* as for vt_attach_start() */
	const char *word, *program;
	int rank, size;          /* -1, 0: as VTserver gives them */
	uint64_t token, parent;  /* what its children name it by, the same of its parent; 0: nothing */
	int children;            /* it has joined already, and waits for so many children; 0: it joins */
	int mpi;                 /* it is a rank of an MPI job, */
	int shared;              /* whose hosts share the folder of the raw files */
	double limit_s;          /* 0: the other side has a limit */
	const _Atomic int *stop; /* becomes 1 when the wait is to be given up; NULL: never */
};
/* Its rank, and its world or that of its children. */
struct vt_attach_place {
	int32_t rank, ranks, first, parent; /* ranks 0: unknown; parent -1: none */
};
/* Waits for the place. Returns 0, or -1 with err. */
int vt_attach_join(const struct vt_attach_request *r, struct vt_attach_place *place, struct tkm_err *err);

/* Waits for the word of the job, for which another process waits under this name: r->job, limit_s, stop. Returns 0, or -1 with
 * err. */
int vt_attach_ask_word(const struct vt_attach_request *r, char *word, size_t size, struct tkm_err *err);

/* Sends a message, with a descriptor unless fd is -1. Returns 0, or -1 with errno. */
int vt_attach_send(int to, enum vt_attach_kind kind, const void *body, size_t size, int fd);

/* vt_attach_receive() waits until `until_ns` of CLOCK_MONOTONIC for a message. It returns the size of the body,
 * which is in buf (a longer one is cut), or -1 if no message has come or the other side has closed the connection. */
/* Has the other side closed it? */
int vt_attach_closed(int fd);
ssize_t vt_attach_receive(int from, struct vt_attach_head *head, void *buf, size_t size, int64_t until_ns);

#endif
