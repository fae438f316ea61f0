/* SPDX-License-Identifier: BSD-3-Clause */
/* Begins and ends scopes, and keeps the open scopes of each thread. */
#include "config.h"
#include "collector-plugin/trace/scope.h"

#include <string.h>

enum { MOST = sizeof(((struct vt_trace_thread *)0)->scopes) / sizeof(struct vt_open_scope) };

static _Atomic uint32_t last; /* the last number that was given to an instance */

static void record_scope(unsigned type, uint32_t scope, uint32_t seqnr, uint32_t scl)
{
	struct vt_raw_scope body = { scope, seqnr, scl };

	if (vt_trace_logs() && !vt_tls.inside) {
		ltick_t now = vt_ticks_now(vt_tls.collect);

		vt_trace_record(now, type, 0, &body, sizeof(body));
		vt_trace_sample(now);
	}
}

VT_ErrorCode vt_scope_begin(uint32_t scope, uint32_t scl, int *seqnr)
{
	struct vt_trace_thread *t = vt_tls.trace;
	uint32_t number = (atomic_fetch_add(&last, 1) + 1) & 0x7fffffff;

	if (!t) {
		return VT_ERR_NOMEMORY;
	}
	/* no room, because the program does not end its scopes: the oldest can from now on be ended by its number
	 * only */
	if (t->n_scopes == MOST) {
		memmove(t->scopes, t->scopes + 1, (MOST - 1) * sizeof(t->scopes[0]));
		t->n_scopes--;
	}
	t->scopes[t->n_scopes++] = (struct vt_open_scope){ scope, number };
	record_scope(VT_RAW_SCOPE_BEGIN, scope, number, scl);
	if (seqnr) {
		*seqnr = (int)number;
	}
	return VT_OK;
}

VT_ErrorCode vt_scope_end(uint32_t scope, int seqnr, uint32_t scl)
{
	struct vt_trace_thread *t = vt_tls.trace;
	uint32_t i = t ? t->n_scopes : 0;

	while (i > 0 && (t->scopes[i - 1].scope != scope || (seqnr && t->scopes[i - 1].seqnr != (uint32_t)seqnr))) {
		i--;
	}
	if (i == 0 && (seqnr <= 0 || (uint32_t)seqnr > atomic_load(&last))) {
		return VT_ERR_BADREQUEST;
	}
	if (i > 0) {
		seqnr = (int)t->scopes[i - 1].seqnr;
		memmove(t->scopes + i - 1, t->scopes + i, (t->n_scopes - i) * sizeof(t->scopes[0]));
		t->n_scopes--;
	}
	record_scope(VT_RAW_SCOPE_END, scope, (uint32_t)seqnr, scl);
	return VT_OK;
}
