/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a report into the raw file of this process. */
#include "config.h"
#include "collector-plugin/run/errors.h"

#include <string.h>

#include "collector-plugin/core/thread.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/trace/callstack.h"
#include "collector-plugin/trace/define.h"
#include "collector-plugin/trace/trace.h"

void *vt_record_caller(void)
{
	void *const *frame = (void *const *)vt_tls.mpi.at;

	/* this library keeps frame pointers */
	return frame && vt_tls.mpi.function ? frame[1] : NULL;
}

static struct vt_raw_report_call call_of_error(struct vt_collect *c, const struct vt_error_call *from)
{
	struct vt_raw_report_call to = { .header = vt_raw_text(c->raw, from->header), .rank = from->rank };

	to.call = vt_raw_text(c->raw, from->call);
	to.function = from->function[0] ? vt_function(c, "MPI", from->function) : 0;
	if (from->rank < 0 && !from->header[0] && vt_tls.trace) {
		to.scl = vt_callstack(&vt_tls.trace->stack, 0, VT_CALLSTACK_MOST);
	}
	to.scl = to.scl ? to.scl : from->file[0] ? vt_location(c, from->file, from->line) : 0;
	return to;
}

void vt_record_error(const char *type, const char *level, const char *text, const struct vt_error_call *call, int n)
{
	static _Atomic int known;
	struct vt_collect *c = vt_collect_running();
	struct vt_raw_report body = { 0 };
	const struct vt_thread *t;
	int i;

	if (c && !type) {
		atomic_store(&vt_raw_head(c->raw)->reported, 1);
		return;
	}
	if (!c || vt_self() != VT_OK || !vt_tls.thread || !vt_tls.thread->stream) {
		return;
	}
	t = vt_tls.thread;
	if (n > 0 && !atomic_exchange(&known, 1)) {
		/* the stack of a call begins with the program */
		vt_callstack_own(__builtin_return_address(0));
	}
	body.type = vt_raw_text(c->raw, type);
	body.level = vt_raw_text(c->raw, level);
	body.text = vt_raw_text(c->raw, text);
	n = n < VT_RAW_REPORT_CALLS ? n : VT_RAW_REPORT_CALLS;
	for (i = 0; i < n; i++) {
		body.call[i] = call_of_error(c, &call[i]);
	}
	vt_raw_event(t->stream, vt_ticks_now(c), (uint16_t)t->number, VT_RAW_REPORT, (uint8_t)n, &body, sizeof(body));
	if (!strcmp(level, "fatal error")) {
		atomic_store(&vt_raw_head(c->raw)->reported, 1);
	}
}
