/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds an STF trace of what viewers show: slices on tracks, counters, flows, in any order of time.
 * - Nested slices of a track become calls of functions. Slices that overlap, and asynchronous ones, become scopes.
 * - Each step of a flow becomes a message between two threads.
 * - The trace is written by xch_slices_write(). Until then events are in memory or in a temporary file (sort.h).
 * Times are ns. Functions that return an int return 0, or -1 with *err. Those that return a number return 0 on failure. */
#ifndef EXCHANGE_COMMON_SLICES_H
#define EXCHANGE_COMMON_SLICES_H

#include <stddef.h>

#include "exchange/common/format.h"

struct xch_slices;

struct xch_slices *xch_slices_new(struct xch_input *in, struct tkm_err *err);
void xch_slices_free(struct xch_slices *s);

/* A thread by the texts, mostly numbers, that stand for its process and for it. */
uint32_t xch_slices_track(struct xch_slices *s, const char *process, const char *thread);
/* The name of a process, or, with `thread`, of a thread, for the case that something happens there. */
int xch_slices_title(struct xch_slices *s, const char *process, const char *thread, const char *title);
/* A name with its class. Of counters the class "" means none, else it comes before the name. */
uint32_t xch_slices_name(struct xch_slices *s, const char *cls, const char *name);
/* The name of a counter with its unit. */
uint32_t xch_slices_counter(struct xch_slices *s, const char *cls, const char *name, const char *unit);
const char *xch_slices_text(const struct xch_slices *s, uint32_t name);
const char *xch_slices_class(const struct xch_slices *s, uint32_t name);

/* A slice of which both ends are known. */
int xch_slices_span(struct xch_slices *s, uint32_t track, uint32_t name, int64_t from, int64_t to);
/* Ends come after the begins of what they end. An end without a name (0) is that of the innermost open slice of the track. */
int xch_slices_begin(struct xch_slices *s, uint32_t track, uint32_t name, int64_t time);
int xch_slices_end(struct xch_slices *s, uint32_t track, uint32_t name, int64_t time);
/* One of no track, from the thread's begin() to the next end() with this key. */
int xch_slices_async(struct xch_slices *s, uint32_t track, uint64_t key, uint32_t name, int64_t time, int end);
/* The type of a counter, STF_COUNTER_F8 otherwise, and a value of it. */
void xch_slices_type(struct xch_slices *s, uint32_t counter, unsigned type);
int xch_slices_bits(struct xch_slices *s, uint32_t track, uint32_t counter, int64_t time, uint64_t bits);
int xch_slices_value(struct xch_slices *s, uint32_t track, uint32_t counter, int64_t time, double value);
/* A flow passes here: it comes in, goes out, or both; XCH_FLOW_ON: it goes out, and comes in if it was somewhere before. */
enum { XCH_FLOW_IN = 1, XCH_FLOW_OUT = 2, XCH_FLOW_ON = 4 };
int xch_slices_flow(struct xch_slices *s, uint32_t track, uint64_t key, int64_t time, unsigned ways);
/* One half of a message; its other half has the same key. */
int xch_slices_message(struct xch_slices *s, uint32_t track, uint64_t key, int64_t time, uint32_t bytes, int receive);
int xch_slices_comment(struct xch_slices *s, uint32_t track, uint32_t text, int64_t time);
/* Counts what is not read. what: a plural, of a text that stays. */
void xch_slices_lost(struct xch_slices *s, const char *what, uint64_t n);
/* A key of a text that links events: 64 bits of which two texts are equal once in 10^19 pairs. */
uint64_t xch_slices_key(uint64_t before, const char *text, size_t n);

/* What the file says of its clock. */
struct xch_slices_clock {
	const char *of;  /* "Chrome": for the info */
	const char *by;  /* where the bound is from; NULL: clkapply */
	int is_realtime; /* times, with base_ns added, count from 1970 */
	int64_t base_ns;
	double bound_s;   /* NaN: it does not say */
	const char *host; /* "": unknown */
};
/* Writes the trace; its stamp 0 is the earliest time. */
int xch_slices_write(struct xch_slices *s, const struct xch_slices_clock *clock);

#endif
