/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread's place in the raw file. */
#ifndef COLLECTOR_PLUGIN_RAW_STREAM_H
#define COLLECTOR_PLUGIN_RAW_STREAM_H

#include <stdint.h>

#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/short.h"

struct vt_raw;

/* One thread's place to write. Only that thread may use it, and not from a signal handler that interrupted a
 * record of its own: such a record is counted as lost. Members are for the inline functions. */
struct vt_raw_stream {
	uint8_t *cur, *end;
	uint8_t *short_limit;       /* short records may begin below it; NULL: the block names no thread yet */
	int64_t now;                /* stamp of the last record */
	struct vt_raw_block *block; /* NULL before the first record, and when no place is left */
	volatile uintptr_t busy;    /* a record is being made: about where the stack pointer is; 0: none is */
	uint32_t id;
	uint64_t lost;                    /* records since the last block began */
	uint64_t number;                  /* of the next block */
	const _Atomic uint32_t *sessions; /* clock sessions that are over, and how many of them this stream knows of */
	uint32_t said;
	struct vt_raw *raw;
	struct vt_raw_stream *next;
	int taken;
	uint32_t known;                       /* bits: counters of the program that have a value in this block, */
	uint64_t last[VT_RAW_SHORT_COUNTERS]; /* and the latest one */
};

/* For `busy`. A frame pointer would cost the callers a register. */
static inline uintptr_t vt_raw_here(void)
{
#if defined(__x86_64__)
	uintptr_t sp;

	__asm__("mov %%rsp, %0" : "=r"(sp));
	return sp;
#else
	return (uintptr_t)__builtin_frame_address(0);
#endif
}

#endif
