/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions compiled with -finstrument-functions. */
#ifndef COLLECTOR_PLUGIN_TRACE_INSTRUMENT_H
#define COLLECTOR_PLUGIN_TRACE_INSTRUMENT_H

#include "collector-plugin/core/thread.h"

/* Makes the table of addresses, after vt_trace_start(). Returns 0 or -1. */
VT_HIDDEN int vt_instrument_start(void);
/* An object may have been unloaded. */
VT_HIDDEN void vt_instrument_unloaded(void);

/* The thread goes on at the stack pointer `to`, and may come back: swapcontext(). */
VT_HIDDEN void vt_instrument_swapped(uintptr_t to);

#endif
