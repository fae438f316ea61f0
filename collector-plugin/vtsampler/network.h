/* SPDX-License-Identifier: BSD-3-Clause */
/* This node in the network of a job that has joined by a contact word (vtrun --join). A thread of the sampler process speaks with
 * VTserver, so that neither a slow network nor a clock session delays a sample. The functions below are for the main thread. */
#ifndef COLLECTOR_PLUGIN_VTSAMPLER_NETWORK_H
#define COLLECTOR_PLUGIN_VTSAMPLER_NETWORK_H

#include "collector-plugin/vtsampler/vtsampler.h"

/* Process pid wants to join; texts: word, rank, size, program, as at its attachment. The thread answers on `to`, a descriptor that it
 * closes: VT_ATTACH_JOINED or VT_ATTACH_REFUSED. */
void vt_network_join(int to, pid_t pid, const char *texts, size_t size);

/* Is a process still expected that has joined, and has not been attached yet? with_children: also one that its parent may never attach. */
int vt_network_expects(int with_children);

/* The process is attached: its timer is to be measured. */
void vt_network_add_process(const struct vt_measured *p);

/* Is it a rank of an MPI job, which has its rank and its clock sessions from MPI? Then the network is for what MPI cannot do: to find
 * a deadlock, and to make the trace of a job that dies. */
int vt_network_is_mpi(const char *texts, size_t size);
/* Does no rank of the whole job go on? blocked: none of this node does. */
int vt_network_all_blocked(int blocked);

/* All processes here have ended: sends their raw files, those of the job of p; NULL: none are left. To be called again until the result is
 * not VT_NETWORK_WAIT. */
enum vt_network_turn {
	VT_NETWORK_WAIT,
	VT_NETWORK_OVER,  /* the trace has all, and the raw files here are removed */
	VT_NETWORK_ALONE, /* the network is lost: this node makes a trace of its own */
};
enum vt_network_turn vt_network_take_turn(const struct vt_measured *p);
/* What VTserver says of the trace. */
const char *vt_network_said(void);
/* Why it is alone. */
const char *vt_network_why(void);
/* This process ends: VTserver need not wait for this node. */
void vt_network_leave(void);
#endif
