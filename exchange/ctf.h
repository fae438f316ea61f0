/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the CTF writer share. */
#ifndef EXCHANGE_CTF_H
#define EXCHANGE_CTF_H

#include "exchange/format.h"

/* Numbers of the events in the metadata. */
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
	CTF_COUNTER /* of counter 0 */
};

/* Describes the trace in TSDL. */
void ctf_metadata(FILE *f, const struct xch_trace *t);
/* A stamp in cycles of the CTF clock: those of the trace if a second has a whole number of them, else nanoseconds. */
uint64_t ctf_stamp(const struct xch_trace *t, uint64_t time);

/* ---- packets of traces of others (ctf_packets.c) ---- */

/* A number in the head of a packet: bits from its start; bits 0: it has none, or its place is not known. */
struct ctf_field {
	const char *name;
	uint64_t at;
	unsigned bits, align;
	int big;
	char clock[100]; /* whose stamp it is, "": none */
};
struct ctf_class {
	uint64_t id;
	struct ctf_field begin, end, size;
};
/* What the description says of packets: free(cls). */
struct ctf_packets {
	struct ctf_field magic, stream;
	struct ctf_class *cls;
	size_t n;
};
struct ctf_packet {
	const struct ctf_class *cls;
	uint64_t begin, end; /* stamps */
	uint64_t size;       /* bytes */
};
void ctf_describe(struct ctf_packets *d, const char *text, size_t n);
const struct ctf_class *ctf_class_of(const struct ctf_packets *d, uint64_t id);
/* The packet at offset *at of a stream; *at is after it then. 1, 0 at the end of the file, -1 and *what: what is wrong at *at. */
int ctf_next_packet(const struct ctf_packets *d, FILE *f, uint64_t *at, struct ctf_packet *p, const char **what);
/* After a comment or a text that begins at p; p itself if none does. */
const char *ctf_skip(const char *p);
int ctf_is_word(char c);

int ctf_restamp(struct xch_restamp *x, struct tkm_err *err);
uint64_t ctf_frequency(const struct xch_trace *t);

#endif
