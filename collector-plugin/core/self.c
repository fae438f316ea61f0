/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the calling thread in the collector. */
#include "config.h"
#include "collector-plugin/core/sink.h"

#include "include/VT.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/hooks.h"
#include "collector-plugin/core/thread.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/raw/writer.h"

_Thread_local struct vt_tls vt_tls;

static _Atomic int process_off; /* 0 recording, 1 until VT_traceon(), 2 for good: PROCESS, CLUSTER */

static int paused;

void vt_process_paused(void)
{
	paused = 1;
	atomic_store(&process_off, 1);
}

void vt_process_state(int state)
{
	struct vt_collect *c = vt_collect_running();
	state = state == 0 && paused ? 1 : state;
	atomic_store(&process_off, state);
	if (c) {
		atomic_store(&vt_raw_head(c->raw)->process_off, state);
	}
	if (vt_tls.collect && vt_tls.collect == vt_collect_running()) {
		vt_tls.state = state == 0 && vt_tls.thread->stream ? VT_TLS_ON : VT_TLS_OFF;
	}
}

int vt_process_off(void)
{
	return atomic_load(&process_off);
}

VT_ErrorCode vt_register_self(struct vt_collect *c, int number)
{
	struct vt_thread *t = NULL;
	VT_ErrorCode rc = vt_threads_self(c, number, &t);

	if (rc != VT_OK) {
		return rc;
	}
	vt_tls.collect = c;
	vt_tls.thread = t;
	vt_tls.wanted = vt_sinks_thread_begins(c, t);
	vt_tls.state = t->stream && atomic_load(&process_off) == 0 ? VT_TLS_ON : VT_TLS_OFF;
	return VT_OK;
}

VT_ErrorCode vt_self_slow(void)
{
	struct vt_collect *c = vt_collect_running();
	VT_ErrorCode rc;

	if (!c) {
		return VT_ERR_NOTINITIALIZED;
	}
	if (vt_tls.collect == c) {
		return VT_OK;
	}
	if (vt_tls.inside) {
		return VT_ERR_INVT; /* called by a signal handler while the thread is being registered */
	}
	vt_tls.inside++;
	rc = vt_register_self(c, -1);
	vt_tls.inside--;
	return rc;
}

VT_ErrorCode vt_self_to_define(void)
{
	VT_ErrorCode rc = vt_self();

	if (rc == VT_ERR_NOTINITIALIZED) {
		vt_say_unready("Tickmark WARNING: VT_ calls are not recorded: the program has called neither "
			       "VT_initialize nor "
			       "MPI_Init, and vtrun did not start it\n");
	}
	return rc;
}
