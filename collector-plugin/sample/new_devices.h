/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of the node, and of devices that appear while a program runs. */
#ifndef COLLECTOR_PLUGIN_SAMPLE_NEW_DEVICES_H
#define COLLECTOR_PLUGIN_SAMPLE_NEW_DEVICES_H

#include "collector-plugin/sample/target.h"

/* Samples the counters of the node. Looks at most once a second whether a device has appeared: then it gets counters, if the
 * rules choose any of it, which are sampled from then on. */
void vt_sample_node(struct vt_sampler *s);

#endif
