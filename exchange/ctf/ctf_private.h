/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations that the files which write and correct CTF share. */
#ifndef EXCHANGE_CTF_CTF_PRIVATE_H
#define EXCHANGE_CTF_CTF_PRIVATE_H

#include "exchange/common/format.h"
#include "exchange/ctf/ctf_text.h"

/* Event ids in the metadata. */
enum {
	CTF_ENTRY,
	CTF_EXIT,
	CTF_SEND,
	CTF_RECEIVE,
	CTF_COLL_BEGIN,
	CTF_COLL_END,
	CTF_IO_BEGIN,
	CTF_IO_END,
	CTF_SCOPE_BEGIN,
	CTF_SCOPE_END,
	CTF_COMMENT,
	CTF_REPORT,
	CTF_COUNTER /* the event id of counter 0; the other counters follow */
};

/* Writes the metadata, in TSDL. */
void xch_ctf_metadata(FILE *f, const struct xch_trace *t);
/* Converts a stamp to cycles of the CTF clock. These are units of the trace if a second has a whole number of
 * them, else nanoseconds. */
uint64_t xch_ctf_stamp(const struct xch_trace *t, uint64_t time);

/* ---- packets of CTF traces that other programs wrote (ctf_packets.c) ---- */

/* Where a number is in the packet header, in bits from the packet's start. bits 0: there is no such number, or
 * its place is not known. */
struct xch_ctf_field {
	const char *name;
	uint64_t at;
	unsigned bits, align;
	int big;
	char clock[100]; /* name of the clock that the stamp belongs to, "": none */
};
struct xch_ctf_class {
	uint64_t id;
	struct xch_ctf_field begin, end, size;
	char why[300]; /* why the stamps have no known place, or not 64 bits; else "" */
};
/* What the metadata says about packets. The caller frees cls. */
struct xch_ctf_packets {
	struct xch_ctf_field magic, stream;
	struct xch_ctf_class *cls;
	size_t n;
};
struct xch_ctf_packet {
	const struct xch_ctf_class *cls;
	uint64_t begin, end; /* first and last stamp */
	uint64_t size;       /* bytes */
	int open;            /* not completed when the program ended: `end` is its begin */
};
/* What is within the braces of integer { }, in a trace of that byte order. */
void xch_ctf_integer(struct xch_ctf_text s, int big, struct xch_ctf_field *f);
void xch_ctf_describe(struct xch_ctf_packets *d, const char *text, size_t n);
const struct xch_ctf_class *xch_ctf_class_of(const struct xch_ctf_packets *d, uint64_t id);
/* Reads the packet at offset *at of a stream, and moves *at to the end of the packet. Returns 1, 0 at the end of
 * the file, or -1 with a description of the error in *what and its offset in *at. */
int xch_ctf_next_packet(
	const struct xch_ctf_packets *d, FILE *f, uint64_t *at, struct xch_ctf_packet *p, const char **what);
int xch_ctf_restamp(struct xch_restamp *x, struct tkm_err *err);
/* ctf_read.c */
int xch_ctf_read(struct xch_input *in, struct tkm_err *err);
int xch_ctf_is(const char *path, const unsigned char *head, size_t n);
uint64_t xch_ctf_frequency(const struct xch_trace *t);

#endif
