/* SPDX-License-Identifier: BSD-3-Clause */
/* What the metadata of a CTF 1.8 or CTF 2 trace describes: types, clocks, streams and events. */
#ifndef EXCHANGE_CTF_CTF_TRACE_H
#define EXCHANGE_CTF_CTF_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/table.h"
#include "exchange/ctf/ctf_text.h"

enum xch_ctf_kind {
	XCH_CTF_INTEGER,
	XCH_CTF_REAL,
	XCH_CTF_ENUM,
	XCH_CTF_STRING,
	XCH_CTF_STRUCT,
	XCH_CTF_ARRAY,
	XCH_CTF_SEQUENCE,
	XCH_CTF_VARIANT
};

/* How a variant chooses: by the label of its tag (CTF 1.8), by the ranges of its members, or so that there may be nothing (CTF 2). */
enum xch_ctf_chooses { XCH_CTF_BY_LABEL, XCH_CTF_BY_RANGE, XCH_CTF_OR_NOTHING };

struct xch_ctf_type;

/* A label of an enumeration stands for the values from low to high. */
struct xch_ctf_label {
	const char *text;
	int64_t low, high; /* bits, where the container has no sign */
};

/* A field of a structure, or a choice of a variant. */
struct xch_ctf_member {
	const char *name;
	const struct xch_ctf_type *type;
	struct xch_ctf_label *range; /* of the tag, for which it is chosen; none: for any but 0 */
	size_t ranges;
};

struct xch_ctf_type {
	enum xch_ctf_kind kind;
	unsigned align; /* bits */
	unsigned depth; /* how many types are in each other */
	/* integer, enumeration, real */
	unsigned bits;
	int is_signed, is_text, big, is_leb; /* is_leb: of as many bytes as it takes, by LEB128 */
	const char *role;                    /* the name that a field of this use has in CTF 1.8; NULL: none */
	const char *clock;                   /* name of the clock that the integer is a stamp of; NULL: of none */
	/* enumeration */
	struct xch_ctf_label *label;
	size_t labels;
	/* structure, variant */
	struct xch_ctf_member *member;
	size_t members;
	enum xch_ctf_chooses chooses;
	const char *ref; /* the field that has the tag of a variant, or the length of a sequence */
	/* array, sequence */
	const struct xch_ctf_type *of;
	uint64_t length;
	int borrows; /* another type has the members */
};

struct xch_ctf_clock {
	char name[100];
	uint64_t hz, offset;
	int64_t offset_s;
	double bound_s; /* its precision; NaN: it does not say */
	int elsewhere;  /* its origin is not 1970 */
};

/* Parts of a packet and an event that have fields of their own. */
enum xch_ctf_scope {
	XCH_CTF_HEADER,
	XCH_CTF_PACKET,
	XCH_CTF_EVENT,
	XCH_CTF_STREAM_CONTEXT,
	XCH_CTF_CONTEXT,
	XCH_CTF_FIELDS,
	XCH_CTF_SCOPES
};

struct xch_ctf_stream_class {
	uint64_t id;
	const struct xch_ctf_type *scope[XCH_CTF_SCOPES]; /* PACKET, EVENT and STREAM_CONTEXT; NULL: nothing */
};

struct xch_ctf_event_class {
	uint64_t id, stream;
	const char *name;
	const struct xch_ctf_type *scope[XCH_CTF_SCOPES]; /* CONTEXT and FIELDS */
	/* for who reads events */
	int role;
	uint32_t text;
};

struct xch_ctf_trace {
	const char *folder;
	struct tkm_err *err;
	int big, has_roles;
	struct xch_ctf_text env; /* what is within the braces of env { }, or nothing */
	const struct xch_ctf_type *header;
	struct xch_ctf_clock *clock;
	struct xch_ctf_stream_class *stream;
	struct xch_ctf_event_class *event;
	size_t clocks, streams, events;
	struct tkm_table by_id; /* indices of events, from 1, by stream and id */
	/* what is freed with it */
	struct xch_ctf_type **type;
	char **text;
	size_t types, texts;
};

void xch_ctf_trace_free(struct xch_ctf_trace *t);
const struct xch_ctf_clock *xch_ctf_clock_by_name(const struct xch_ctf_trace *t, const char *name);
struct xch_ctf_event_class *xch_ctf_event_by_id(const struct xch_ctf_trace *t, uint64_t stream, uint64_t id);
/* A new type, and a new event of a name that is kept, if it is not NULL. NULL: *err. */
struct xch_ctf_type *xch_ctf_new_type(struct xch_ctf_trace *t, enum xch_ctf_kind kind);
struct xch_ctf_event_class *xch_ctf_add_event(
	struct xch_ctf_trace *t, size_t *room, uint64_t stream, uint64_t id, const char *name);
/* A copy of a text that lives as long as the trace. NULL: no memory. */
const char *xch_ctf_keep_plain(struct xch_ctf_trace *t, const char *p, size_t n);
/* A text of the metadata, without its quotes and escapes, that lives as long as the trace. NULL: no memory. */
const char *xch_ctf_keep(struct xch_ctf_trace *t, const char *p, size_t n);

#endif
