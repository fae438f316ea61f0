/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COLLECTOR_PLUGIN_SAMPLE_NEW_DEVICES_H
#define COLLECTOR_PLUGIN_SAMPLE_NEW_DEVICES_H

#include "collector-plugin/sample/target.h"

/* Has a device come? Then it gets counters, if the rules choose some of it. It is looked at most once a second. */
void vt_look_for_devices(struct vt_sampler *s);

#endif
