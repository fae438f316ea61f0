/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations that the files which write and correct CTF share. */
#ifndef EXCHANGE_CTF_CTF_PRIVATE_H
#define EXCHANGE_CTF_CTF_PRIVATE_H

#include "exchange/common/format.h"

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

int xch_ctf_restamp(struct xch_restamp *x, struct tkm_err *err);
/* ctf_read.c */
int xch_ctf_read(struct xch_input *in, struct tkm_err *err);
int xch_ctf_is(const char *path, const unsigned char *head, size_t n);
uint64_t xch_ctf_frequency(const struct xch_trace *t);

#endif
