/* SPDX-License-Identifier: BSD-3-Clause */
/* What libVT adds to the VT interface: MPI's part of start, end and clock sessions. These are NULL in libVTcs. */
#ifndef COLLECTOR_PLUGIN_VT_HOOKS_H
#define COLLECTOR_PLUGIN_VT_HOOKS_H

#include "include/VT.h"

struct tkm_err;

struct vt_hooks {
	const char *library;
	VT_ErrorCode (*initialize)(int *argc, char ***argv);
	VT_ErrorCode (*finalize)(void);
	VT_ErrorCode (*timesync)(void);
	int (*load)(
		struct tkm_err *err); /* of libVTcs only: what reads counters and merges inside the program; 0 or -1 */
	void (*first_event)(void);    /* NULL, or in a child of fork() that is followed: starts the collector */
	void (*mpi_left)(void);       /* the outermost call of MPI of this thread was left by a jump or an exception */
	void (*thread_ending)(void);  /* NULL, or called by each registered thread first when it ends */
	int shmem;                    /* OpenSHMEM was started */
	int ends_later; /* it or MPI has not ended: an exit handler or a destructor may end it, and the recording goes on until then */
	int no_mpi;    /* MPI_Init was not called; 0 in libVTcs */
	int failsafe;  /* this is libVTfs */
	int imbalance; /* this is libVTim */
};
extern struct vt_hooks vt_hooks __attribute__((visibility("hidden")));

/* VT_setfinalizecallback(): called once by vt_call_finalize() while the collector records. NULL: none. */
void vt_set_finalize(VT_Callback_t callback) __attribute__((visibility("hidden")));

/* PROCESS and CLUSTER: 0 recording, 1 not until VT_traceon(), 2 off for good. For the calling thread and all threads
 * registered from now on. */
/* START-PAUSED: a process that would record does not record until VT_traceon(). To be called before any thread is
 * registered. */
void vt_process_paused(void) __attribute__((visibility("hidden")));
void vt_process_state(int state) __attribute__((visibility("hidden")));
int vt_process_off(void) __attribute__((visibility("hidden")));

#endif
