/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers the calling thread with the collector. */
#include "config.h"
#include "collector-plugin/core/sink.h"

#include "include/VT.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/hooks.h"
#include "collector-plugin/core/thread.h"
#include "collector-plugin/host/lock.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/raw/writer.h"

VT_SELDOM VT_ErrorCode vt_register_self(struct vt_collect *c, int number)
{
	struct vt_thread *t = NULL;
	VT_ErrorCode rc = vt_threads_self(c, number, &t);

	if (rc != VT_OK) {
		return rc;
	}
	vt_tls.collect = c;
	vt_tls.thread = t;
	vt_tls.wanted = vt_sinks_thread_begins(c, t);
	vt_tls.state = t->stream && vt_process_off() == 0 ? VT_TLS_ON : VT_TLS_OFF;
	return VT_OK;
}

static _Thread_local struct {
	struct vt_tls was;
	const _Atomic int *until;
	int times;
} lent __attribute__((tls_model("initial-exec")));

VT_SELDOM void vt_self_lend(const _Atomic int *until)
{
	if (lent.times++ == 0) {
		lent.was = vt_tls;
		lent.until = until;
		vt_tls = (struct vt_tls){ .inside = 1 };
	}
}

VT_SELDOM void vt_self_back(void)
{
	if (lent.times > 0 && --lent.times == 0) {
		vt_tls = lent.was;
	}
}

VT_SELDOM int vt_self_is_lent(void)
{
	if (lent.times == 1 && lent.until && atomic_load(lent.until) == 0) {
		vt_self_back();
	}
	return lent.times > 0;
}

VT_SELDOM VT_ErrorCode vt_self_slow(void)
{
	return vt_self_numbered(-1);
}

VT_SELDOM VT_ErrorCode vt_self_numbered(int number)
{
	struct vt_collect *c = vt_collect_running();
	VT_ErrorCode rc = VT_OK;
	struct vt_lock held;

	if (!c && vt_hooks.first_event && !vt_tls.inside) {
		vt_hooks.first_event();
		c = vt_collect_running();
	}
	if (!c) {
		return VT_ERR_NOTINITIALIZED;
	}
	if (!vt_self_is_lent() && vt_tls.collect == c) {
		return VT_OK;
	}
	if (vt_tls.inside) {
		return VT_ERR_INVT; /* called from inside, or at the end of the thread */
	}
	/* what a signal handler calls meanwhile is recorded when the thread is registered */
	vt_signals_block(&held);
	if (vt_tls.collect != c) {
		vt_inside_begin();
		rc = number >= 0 ? vt_register_self(c, number) : VT_ERR_BADINDEX;
		rc = rc == VT_ERR_BADINDEX ? vt_register_self(c, -1) : rc;
		vt_inside_end();
	}
	vt_signals_back(&held);
	return rc;
}

VT_SELDOM VT_ErrorCode vt_self_to_define(void)
{
	VT_ErrorCode rc = vt_self();

	if (rc == VT_ERR_NOTINITIALIZED) {
		vt_say_unready("Tickmark WARNING: VT_ calls are not recorded: the program has called neither "
			       "VT_initialize nor "
			       "MPI_Init, and vtrun did not start it\n");
	}
	return rc;
}

VT_ErrorCode vt_event_slow(void)
{
	VT_ErrorCode rc = vt_self();

	if (rc == VT_OK && vt_tls.wanted && vt_tls.state == VT_TLS_ON && !vt_tls.inside) {
		/* the program may have seen what another thread or process did before this event: the stamp must not
		 * be earlier */
		vt_event_at(tmr_read_ordered(vt_tls.collect->timer));
	}
	return rc;
}
