/* SPDX-License-Identifier: BSD-3-Clause */
/* What the main thread of the sampler process and its network thread share. */
#ifndef COLLECTOR_PLUGIN_VTSAMPLER_NODE_H
#define COLLECTOR_PLUGIN_VTSAMPLER_NODE_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include "collector-plugin/net/contact.h"

enum vt_node_state {
	VT_NODE_OFF, /* never joined, or the network is lost: why */
	VT_NODE_JOINING,
	VT_NODE_ON,
	VT_NODE_DONE, /* the trace is written */
};

struct vt_node_process {
	pid_t pid;
	int reply;        /* where its vtrun waits for its rank; -1: answered */
	int asked;        /* VTserver was asked for it, */
	int64_t asked_ns; /* at this time */
	int wanted_rank, wanted_size;
	uint64_t token, parent; /* what its children name it by, the same of its parent; 0: nothing */
	int children;           /* it has joined before, and waits for so many; 0: it joins */
	int attached, gone, rank, has_rank;
	int clock; /* number of its timer on this node; -1: not known yet */
	char program[256], timer[256];
};

struct vt_node_file {
	char *path;
	uint64_t pid;
	int clock, sent;
};

struct vt_node {
	pthread_mutex_t lock; /* for all that follows */
	pthread_t thread;
	enum vt_node_state state;
	char word[VT_CONTACT_WORD], why[600];
	char said[4000]; /* VTserver's lines about the trace that it has made */
	int to_thread;   /* a descriptor that wakes it up */
	struct vt_node_process *process;
	struct vt_node_file *file;
	int processes, files;
	int ending;      /* all processes have ended, and file[] is complete */
	int blocked;     /* no rank of this node goes on; */
	int all_blocked; /* nor one of the others, says VTserver */
	int shared;      /* VTserver sees the raw files where they are */
	int leaving;     /* they have ended, and there are no files */
};
extern struct vt_node vt_node;

void vt_node_wake(void);

/* node.c: the network thread. */
void *vt_node_run(void *unused);

#endif
