/* SPDX-License-Identifier: BSD-3-Clause */
/* Building an STF trace from a format that has names instead of ids, and separate records for the two halves of a
 * message. Names become ids, the two halves of a message become one record, and so do the parts of all members of
 * a collective operation. All functions return 0 or an id on success. On failure they set *err and return -1, or
 * 0 if they return an id. */
#ifndef EXCHANGE_COMMON_BUILD_H
#define EXCHANGE_COMMON_BUILD_H

#include "exchange/common/match.h"

struct xch_build;

/* The caller must call xch_input_begin() before all but xch_build_thread(), since in->w is used. Returns NULL when out of
 * memory. */
struct xch_build *xch_build_new(struct xch_input *in, struct tkm_err *err);
void xch_build_free(struct xch_build *b);
/* Writes what is still incomplete (messages of which one half is missing, operations with missing members), and the
 * processes. After that, only stf_writer_finish() is left to call. */
int xch_build_end(struct xch_build *b);

/* Notes that a thread exists: it is declared, or an event names it. */
int xch_build_thread(struct xch_build *b, uint32_t process, uint32_t thread);
/* These functions return the id of a name within a class. The same pair always gives the same id. 0: failure. */
uint32_t xch_build_function(struct xch_build *b, const char *cls, const char *name);
uint32_t xch_build_scope(struct xch_build *b, const char *cls, const char *name);
uint32_t xch_build_file(struct xch_build *b, const char *name);
uint32_t xch_build_class(struct xch_build *b, const char *cls, uint32_t parent); /* 0 for "" */
/* a group that stands for any thread; it is declared at the end */
uint32_t xch_build_all_threads(struct xch_build *b);
int xch_build_communicator(struct xch_build *b, uint32_t id, const char *name, const uint32_t *willies, uint32_t n);
/* the id of a counter that was not described, by its name, type and unit */
uint32_t xch_build_counter(struct xch_build *b, const char *cls, const char *name, const char *unit, unsigned type);

/* The number of bytes as a record holds it. The trace says how many were too large. */
uint32_t xch_build_bytes(struct xch_build *b, uint64_t bytes);
/* Writes one value. Consecutive values of one thread at the same time become one record. */
int xch_build_value(struct xch_build *b, uint64_t time, uint32_t willy, uint32_t counter, uint64_t value);
/* Writes one half of a message, once the other one has come; see match.h. */
int xch_build_half(struct xch_build *b, const struct xch_half *h);
/* The number of messages of which one half is missing, after xch_build_end(). */
uint64_t xch_build_alone(const struct xch_build *b);
/* A member of a collective operation begins or ends it. The member `what` is 1 all, 2 one to all, 3 all to one, 4
 * all to all; other numbers count as 1. With by_bytes, the bytes that were sent
 * and received decide, too, and the last member knows the operation. */
struct xch_build_member {
	uint64_t time, id, sent, received;
	uint32_t willy, communicator, rank, members, root;
	uint32_t root_rank; /* only with by_bytes; other numbers than a member's: there is no root */
	uint8_t operation, what, by_bytes, end;
};
int xch_build_member(struct xch_build *b, const struct xch_build_member *m);
int xch_build_comment(struct xch_build *b, uint64_t time, uint32_t willy, const char *text, size_t n);
/* The caller wrote some other record to in->w. Checks for an error, and counts the record as data. */
int xch_build_written(struct xch_build *b, int rc);

#endif
