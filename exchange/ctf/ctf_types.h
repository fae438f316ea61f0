/* SPDX-License-Identifier: BSD-3-Clause */
/* What the metadata of a CTF 1.8 trace describes: types, clocks, streams and events; and the events of a stream. */
#ifndef EXCHANGE_CTF_CTF_TYPES_H
#define EXCHANGE_CTF_CTF_TYPES_H

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

struct xch_ctf_type;

/* A field of a structure, or a choice of a variant. */
struct xch_ctf_member {
	const char *name;
	const struct xch_ctf_type *type;
};

/* A label of an enumeration stands for the values from low to high. */
struct xch_ctf_label {
	const char *text;
	int64_t low, high; /* bits, where the container has no sign */
};

struct xch_ctf_type {
	enum xch_ctf_kind kind;
	unsigned align; /* bits */
	unsigned depth; /* how many types are in each other */
	/* integer, enumeration, real */
	unsigned bits;
	int is_signed, is_text, big;
	const char *clock; /* name of the clock that the integer is a stamp of; NULL: of none */
	/* enumeration */
	struct xch_ctf_label *label;
	size_t labels;
	/* structure, variant */
	struct xch_ctf_member *member;
	size_t members;
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
	int big;
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

/* Reads the description in `text`, which is kept in use. Returns 0 or -1. The caller calls xch_ctf_trace_free() in both cases. */
int xch_ctf_trace_read(struct xch_ctf_trace *t, const char *text, size_t n);
void xch_ctf_trace_free(struct xch_ctf_trace *t);
const struct xch_ctf_clock *xch_ctf_clock_by_name(const struct xch_ctf_trace *t, const char *name);
struct xch_ctf_event_class *xch_ctf_event_by_id(const struct xch_ctf_trace *t, uint64_t stream, uint64_t id);
/* A text of the metadata, without its quotes and escapes, that lives as long as the trace. NULL: no memory. */
const char *xch_ctf_keep(struct xch_ctf_trace *t, const char *p, size_t n);

/* ---- the events of a stream (ctf_decode.c) ---- */

struct xch_ctf_value {
	const char *name; /* without the underscore that may be before it */
	const struct xch_ctf_type *type;
	union {
		uint64_t bits;
		double real;
	} u;
	const char *text; /* of a string, or of an array of letters; no zero byte may be after it */
	size_t n;
	uint8_t scope, depth;
};

/* One file of the folder. */
struct xch_ctf_stream {
	struct xch_ctf_trace *t;
	const char *name;      /* of the file */
	uint64_t offset, size; /* bytes: of the packet, and of the file */
	unsigned char *b;      /* the packet */
	size_t n, room;        /* bytes that are read */
	uint64_t at, end;      /* bits: the place in it, and the end of its content */
	uint64_t packet;       /* its bytes */
	uint64_t steps;        /* fields that the present event may still have */
	struct xch_ctf_value *value;
	size_t values, values_room;
	size_t of_packet; /* how many of the values are those of the packet */
	const struct xch_ctf_stream_class *cls;
	struct xch_ctf_event_class *event;
	const struct xch_ctf_clock *clock; /* the one of the last stamp; NULL: there was none */
	uint64_t cycles, discarded;
	int64_t time; /* of the event, ns */
};

/* Reads the head of the next packet: its values. Returns 1, 0 at the end of the file, or -1. */
int xch_ctf_next_packet(struct xch_ctf_stream *s);
/* Reads the next event. Returns 1, 0 at the end of the file, or -1. */
int xch_ctf_next(struct xch_ctf_stream *s);
void xch_ctf_stream_free(struct xch_ctf_stream *s);
/* The last value of that name in this scope or, with XCH_CTF_SCOPES, in any; NULL: there is none. */
const struct xch_ctf_value *xch_ctf_value_of(
	const struct xch_ctf_stream *s, const char *name, enum xch_ctf_scope scope);
/* The label of an enumeration's value; NULL: it has none. */
const char *xch_ctf_label_of(const struct xch_ctf_value *v);

#endif
