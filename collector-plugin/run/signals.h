/* SPDX-License-Identifier: BSD-3-Clause */
/* HANDLE-SIGNALS and ALTSTACK. */
#ifndef COLLECTOR_PLUGIN_RUN_SIGNALS_H
#define COLLECTOR_PLUGIN_RUN_SIGNALS_H

#include "collector-plugin/core/collect.h"

/* Installs the handlers if the options request them. To be called when the raw file exists. */
void vt_signals_start(struct vt_collector *c);

#endif
