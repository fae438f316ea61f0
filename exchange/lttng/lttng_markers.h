/* SPDX-License-Identifier: BSD-3-Clause */
/* The markers of the LTTng traces that stftool writes. doc/exchange.md describes them. */
#ifndef EXCHANGE_LTTNG_LTTNG_MARKERS_H
#define EXCHANGE_LTTNG_LTTNG_MARKERS_H

#include <stddef.h>

#include "exchange/common/format.h"

/* The thread that recorded an event. For a group, the process is 4294967295 and the thread is the group's number. */
#define LTM_PLACE " host %s process %u thread %u"
/* "counter:ID:CLASS:NAME" */
#define LTM_COUNTER_PREFIX "counter:"

#define LTM_MESSAGE \
	"message %llu other_process %u other_thread %u communicator %u tag %u size %u function %s class %s" LTM_PLACE
#define LTM_COLLECTIVE \
	"instance %llu operation %u communicator %u rank %u members %u root %u sent %llu received %llu" LTM_PLACE

/* clang-format off */
#define LTM_TABLE(X) \
	X(TRACE,                "tickmark_trace",         "resolution %f eventbits %u start %llu end %llu") \
	X(PROCESS,              "tickmark_process",       "host %s process %u thread %u name %s pid %u tid %llu offset %f skew %f") \
	X(GROUP,                "tickmark_group",         "group %u name %s members %u member %u") \
	X(COUNTER_DEFINITION,   "tickmark_counter",       "counter %u class %s name %s unit %s type %u diff %u lower %llu upper %llu where %u") \
	X(COMMUNICATOR,         "tickmark_communicator",  "communicator %u name %s members %u member %u") \
	X(COLLECTIVE_OPERATION, "tickmark_collective",    "operation %u name %s type %u") \
	X(INFO,                 "tickmark_info",          "class %s text %s") \
	X(CLOCK,                "tickmark_clock",         "process %u local_ticks %llu global_ns %lld slope %f bound_ns %f") \
	X(ENTRY,                "function_entry",         "function %s class %s" LTM_PLACE) \
	X(EXIT,                 "function_exit",          "function %s class %s" LTM_PLACE) \
	X(SEND,                 "send",                   LTM_MESSAGE) \
	X(RECEIVE,              "receive",                LTM_MESSAGE) \
	X(COLL_BEGIN,           "collective_begin",       LTM_COLLECTIVE) \
	X(COLL_END,             "collective_end",         LTM_COLLECTIVE) \
	X(IO_BEGIN,             "io_begin",               "operation %u bytes %u file %s" LTM_PLACE) \
	X(IO_END,               "io_end",                 "operation %u bytes %u file %s" LTM_PLACE) \
	X(SCOPE_BEGIN,          "scope_begin",            "number %u scope %s class %s" LTM_PLACE) \
	X(SCOPE_END,            "scope_end",              "number %u scope %s class %s" LTM_PLACE) \
	X(COMMENT,              "comment",                "text %s" LTM_PLACE)
/* clang-format on */

enum xch_lttng_marker_marker {
#define LTM_ENUM(id, name, format) LTM_##id,
	LTM_TABLE(LTM_ENUM)
#undef LTM_ENUM
		LTM_COUNTER, /* the first counter's marker; those of the other counters follow */
	LTM_UNKNOWN
};
static const struct {
	const char *name, *format;
} xch_lttng_marker_markers[LTM_COUNTER] = {
#define LTM_ENTRY_OF(id, name, format) { name, format },
	LTM_TABLE(LTM_ENTRY_OF)
#undef LTM_ENTRY_OF
};

int xch_lttng_marker_read(struct xch_input *in, struct tkm_err *err);
int xch_lttng_marker_is(const char *path, const unsigned char *head, size_t n);

#endif
