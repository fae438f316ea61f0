/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of devices that appear while a program runs. */
#ifndef COLLECTOR_PLUGIN_SAMPLE_NEW_DEVICES_H
#define COLLECTOR_PLUGIN_SAMPLE_NEW_DEVICES_H

#include "collector-plugin/sample/target.h"

/* Has a device appeared? Then it gets counters, if the rules choose any of it. Looks at most once a second. */
void vt_look_for_devices(struct vt_sampler *s);

#endif
