/* SPDX-License-Identifier: BSD-3-Clause */
/* A definition of the raw file, and its bytes. */
#ifndef COLLECTOR_PLUGIN_RAW_DEFINITION_H
#define COLLECTOR_PLUGIN_RAW_DEFINITION_H

#include "collector-plugin/raw/communicator.h"
#include "collector-plugin/raw/format.h"

/* Which members a kind of definition has is in a table of definition.c. Texts are terminated; NULL is "" when it is
 * packed. */
struct vt_raw_def {
	enum vt_raw_type type;
	uint32_t id, parent; /* class, function, scope, group, scl (line), thread (place), statistics (late) */
	uint32_t n; /* of members, ranges of a communicator, places of a call stack, bytes of a build id or of lines */
	uint32_t object, demangle;
	uint64_t offset; /* of a function at an address */
	uint64_t tid;
	uint32_t scl[2]; /* of a scope; 0: none */
	uint8_t build_id[32];
	struct {
		int64_t tick, realtime_ns, monotonic_ns, raw_ns;
	} clock;
	const struct vt_raw_place *place;
	const uint32_t *members;
	const char *name; /* or class of an info */
	const char *text; /* unit of a counter; text of an info; lines of clocks */
	const char *shown_unit, *description;
	struct vt_raw_comm_def communicator; /* its id, name: also above */
	struct vt_raw_counter_def counter;   /* its id, texts: also above */
	struct vt_raw_row row;
};

enum { VT_RAW_MAX_DEFINITION = 4000, VT_RAW_MAX_MEMBERS = 700, VT_RAW_MAX_RANGES = 250 };

/* Stores the definition, with the number 0, into bytes[VT_RAW_MAX_DEFINITION]. Longer texts than 900 bytes are cut. Returns
 * its size, a multiple of 8. */
size_t vt_raw_pack_definition(const struct vt_raw_def *d, uint8_t *bytes);
/* Fills *d from a definition of `size` bytes, at least 16, at p. Its texts go into `room`, of twice the size, and its members,
 * ranges or places into `list`, of the size: *d points there. Returns 0, or -1 if it is damaged or of no known kind. */
int vt_raw_unpack_definition(const uint8_t *p, size_t size, struct vt_raw_def *d, char *room, void *list);

#endif
