/* SPDX-License-Identifier: BSD-3-Clause */
/* Triggers of filter rules: on entry and exit, with traceon, traceoff, restore, begin_scope, end_scope (Intel Trace
 * Collector guide, section 2.5.2). Recording is turned on before the event of the function's own state and off after
 * it, so that event is recorded. */
#ifndef COLLECTOR_PLUGIN_TRACE_TRIGGER_H
#define COLLECTOR_PLUGIN_TRACE_TRIGGER_H

#include "collector-plugin/trace/states.h"

VT_HIDDEN void vt_trigger_entering(struct vt_trace_thread *t, const struct vt_trace_frame *f);
VT_HIDDEN void vt_trigger_entered(struct vt_trace_thread *t, const struct vt_trace_frame *f);
VT_HIDDEN void vt_trigger_leaving(struct vt_trace_thread *t, const struct vt_trace_frame *f);
VT_HIDDEN void vt_trigger_left(struct vt_trace_thread *t, const struct vt_trace_frame *f);

#endif
