/* SPDX-License-Identifier: BSD-3-Clause */
/* Counter values of the calling thread, for VT_countval() and for what a callback returned. */
#ifndef COLLECTOR_PLUGIN_VT_COUNT_H
#define COLLECTOR_PLUGIN_VT_COUNT_H

#include "collector-plugin/vt_private.h"

/* As VT_countval(), with a stamp and in a thread that is known to record. */
VT_HIDDEN VT_ErrorCode vt_count_at(ltick_t now, int n, const int *handles, const void *values);

#endif
