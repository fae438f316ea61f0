/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations that the OTF reader and the OTF writer share: the keys of our name space. Values for which OTF has
 * no field are stored as key-value pairs. */
#ifndef EXCHANGE_OTF_OTF_H
#define EXCHANGE_OTF_OTF_H

#include "exchange/common/format.h"

/* clang-format off */
#define XOT_TABLE(X) \
	X(RESOLUTION,   DOUBLE,     "resolution_s",     "seconds of a time stamp unit") \
	X(EVENTBITS,    UINT32,     "eventbits",        "the clock's own tick is resolution x 2^eventbits") \
	X(START,        UINT64,     "start",            "first stamp of the trace") \
	X(END,          UINT64,     "end",              "last stamp of the trace") \
	X(WILLY,        UINT32,     "willy",            "number of the thread or group in STF") \
	X(HOST,         BYTE_ARRAY, "host",             "host of the thread") \
	X(NAME,         BYTE_ARRAY, "name",             "name of the thread") \
	X(PID,          UINT32,     "pid",              "process id") \
	X(TID,          UINT64,     "tid",              "thread id") \
	X(OFFSET,       DOUBLE,     "offset_s",         "correction: seconds since 1970 at tick 0 of the uncorrected clock") \
	X(SKEW,         DOUBLE,     "skew_s",           "correction: seconds of a tick of the uncorrected clock") \
	X(BOUND,        DOUBLE,     "bound_s",          "from this stamp on a stamp of the process may be wrong by so many seconds") \
	X(COUNTER,      UINT32,     "counter",          "a counter; the pairs after it describe it") \
	X(TYPE,         UINT8,      "type",             "of a counter or a collective operation, as in STF") \
	X(LOWER,        UINT64,     "lower",            "smallest value of the counter, its bits") \
	X(UPPER,        UINT64,     "upper",            "largest value of the counter, its bits") \
	X(OF,           UINT32,     "of",               "whose counter it is") \
	X(CLASS,        BYTE_ARRAY, "class",            "class of what is named") \
	X(GROUP,        UINT32,     "group",            "number of a group in STF") \
	X(MEMBERS_OF,   BYTE_ARRAY, "members_of",       "members of the group, willies of 4 bytes, little-endian") \
	X(COMMUNICATOR, UINT32,     "communicator",     "number of a communicator in STF") \
	X(INFO_CLASS,   BYTE_ARRAY, "info_class",       "class of what the trace says of its making") \
	X(INFO,         BYTE_ARRAY, "info",             "what the trace says of its making") \
	X(MESSAGE,      UINT64,     "message",          "number of the message, the same at both ends") \
	X(FUNCTION,     UINT32,     "function",         "function that sent or received") \
	X(RANK,         UINT32,     "rank",             "of this member in the collective operation") \
	X(MEMBERS,      UINT32,     "members",          "of the collective operation") \
	X(IO_TYPE,      UINT32,     "io_type",          "kind of the file operation, as in STF") \
	X(IO_FILE,      UINT32,     "io_file",          "file of the operation that begins") \
	X(IO_BYTES,     UINT32,     "io_bytes",         "bytes of the operation that begins") \
	X(SCOPE_BEGIN,  UINT32,     "scope_begin",      "a scope is entered; its number") \
	X(SCOPE_END,    UINT32,     "scope_end",        "a scope is left; its number") \
	X(SCOPE,        BYTE_ARRAY, "scope",            "name of the scope") \
	X(OPAQUE,       BYTE_ARRAY, "opaque",           "opaque data") \
	X(COMMENT,      BYTE_ARRAY, "comment",          "a comment that does not fit a line") \
	X(LOCATION,     BYTE_ARRAY, "location",         "source location of the event: the frames of the call stack, the innermost first") \
	X(AT_LEAST,     UINT32,     "bytes_at_least",   "the bytes of the event are at least so many")
/* clang-format on */

/* Keys, from 1. */
enum xch_otf_key {
	XOT_NONE,
#define XOT_ENUM(id, type, name, what) XOT_##id,
	XOT_TABLE(XOT_ENUM)
#undef XOT_ENUM
		XOT_KEYS
};
#define XOT_SPACE "tickmark::"

/* The first error message of the OTF library since the last clear, which the library would have printed; "" if
 * none. */
const char *xch_otf_complaint(void);
void xch_otf_complaint_clear(void);

int xch_otf_is(const char *path, const unsigned char *head, size_t n);

#ifdef HAVE_OTF1
#include <open-trace-format/otf.h>

enum {
	XOT_STREAMS = 64,               /* the largest number of streams of a trace that we write */
	XOT_COMMUNICATORS = 1000000000, /* process groups from here on are communicators, */
	XOT_GROUPS = 2000000000,        /* and groups of STF */
	XOT_ALL = XOT_COMMUNICATORS - 1,
};

/* The state of the writer of definitions. */
struct xch_otf_out {
	struct xch_trace *t;
	OTF_Writer *otf;
	OTF_KeyValueList *list;
};
int xch_otf_define(struct xch_otf_out *o);
/* The OTF process of a thread or group, counted from 1; 0: none. */
static inline uint32_t xch_otf_process(const struct xch_place *p)
{
	return p ? p->index + 1 : 0;
}
void xch_otf_add_u32(struct xch_otf_out *o, enum xch_otf_key k, uint32_t v);
void xch_otf_add_u64(struct xch_otf_out *o, enum xch_otf_key k, uint64_t v);
void xch_otf_add_real(struct xch_otf_out *o, enum xch_otf_key k, double v);
void xch_otf_add_text(struct xch_otf_out *o, enum xch_otf_key k, const char *text); /* "" and NULL: adds nothing */

int xch_otf_read(struct xch_input *in, struct tkm_err *err);
#endif

#endif
