/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COLLECTOR_PLUGIN_RAW_DECODE_H
#define COLLECTOR_PLUGIN_RAW_DECODE_H

#include "collector-plugin/raw/reader.h"

/* Fills *d from a definition of `size` bytes, at least 16, at p. Its texts go into `room`, of twice the size, and its members and
 * ranks into `members`, of the same size: *d points there. Returns 0, or -1 if it is damaged or of no known kind. */
int vt_raw_decode(const uint8_t *p, size_t size, struct vt_raw_def *d, char *room, uint32_t *members);

#endif
