/* SPDX-License-Identifier: BSD-3-Clause */
/* Scopes: pieces of the run that need not be nested (Intel Trace Collector guide, section 3.1.6). For a registered thread. */
#ifndef COLLECTOR_PLUGIN_TRACE_SCOPE_H
#define COLLECTOR_PLUGIN_TRACE_SCOPE_H

#include "collector-plugin/trace/states.h"

/* Begins an instance of a scope; *seqnr (may be NULL) gets its number. */
VT_HIDDEN VT_ErrorCode vt_scope_begin(uint32_t scope, uint32_t scl, int *seqnr);
/* Ends an instance; seqnr 0: the latest of this scope that this thread began. VT_ERR_BADREQUEST: there is none. */
VT_HIDDEN VT_ErrorCode vt_scope_end(uint32_t scope, int seqnr, uint32_t scl);

#endif
