/* SPDX-License-Identifier: BSD-3-Clause */
/* The sampler process, as the program sees it. */
#ifndef COLLECTOR_PLUGIN_RUN_VTSAMPLER_H
#define COLLECTOR_PLUGIN_RUN_VTSAMPLER_H

#include "collector-plugin/core/collect.h"
#include "collector-plugin/raw/format.h"

/* Hands the process over to the sampler process. Returns 1, or 0 if a thread must sample it;
 * c->inside_why has the reason. */
int vt_vtsampler_start(struct vt_collector *c);
/* Connects to the sampler process that there is, or with own to one for this process alone, which is started. Returns a descriptor, or
 * -1 with err. */
int vt_vtsampler_connect(const struct vt_collector *c, int own, struct tkm_err *err);
/* Ends that, and prints what the sampler tells the user. merge: struct vt_attach_end. */
void vt_vtsampler_end(struct vt_collector *c, uint32_t how, int merge);

#endif
