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
uint64_t ctf_frequency(const struct xch_trace *t);

#endif
