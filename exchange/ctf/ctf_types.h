/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the metadata of a CTF 1.8 or CTF 2 trace, and the events of a stream. */
#ifndef EXCHANGE_CTF_CTF_TYPES_H
#define EXCHANGE_CTF_CTF_TYPES_H

#include "exchange/ctf/ctf_trace.h"

/* Reads the description in `text`, which is kept in use. Returns 0 or -1. The caller calls xch_ctf_trace_free() in both cases. */
int xch_ctf_trace_read(struct xch_ctf_trace *t, const char *text, size_t n);
/* The same for CTF 2; the texts in `text` are changed to what they mean. */
int xch_ctf_trace_read2(struct xch_ctf_trace *t, char *text, size_t n);

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
