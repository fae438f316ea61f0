/* SPDX-License-Identifier: BSD-3-Clause */
/* Building an STF trace from a format that gives names and halves: names become ids, halves of messages one record, members of a
 * collective operation one record. All functions return 0 or an id, and -1 or 0 with *err on failure. */
#ifndef EXCHANGE_BUILD_H
#define EXCHANGE_BUILD_H

#include "exchange/format.h"

struct xch_build;

/* in->w must be there: xch_input_begin() comes first. NULL: out of memory. */
struct xch_build *xch_build_new(struct xch_input *in, struct tkm_err *err);
void xch_build_free(struct xch_build *b);
/* Writes what still waits (messages of which one half is missing, operations with missing members), the processes, and infos about
 * what was missing. The trace is complete but for stf_writer_finish(). */
int xch_build_end(struct xch_build *b);

/* A thread is declared, or seen in an event. */
int xch_build_thread(struct xch_build *b, uint32_t process, uint32_t thread);
/* Ids by class and name; the same pair gives the same id. 0: failure. */
uint32_t xch_build_function(struct xch_build *b, const char *cls, const char *name);
uint32_t xch_build_scope(struct xch_build *b, const char *cls, const char *name);
uint32_t xch_build_file(struct xch_build *b, const char *name);
uint32_t xch_build_class(struct xch_build *b, const char *cls); /* 0 for "" */
uint32_t xch_build_all_threads(struct xch_build *b); /* a group that stands for any of them, declared at the end */
int xch_build_communicator(struct xch_build *b, uint32_t id, const char *name, const uint32_t *willies, uint32_t n);
/* of a counter that was not described: by its name, type, unit */
uint32_t xch_build_counter(struct xch_build *b, const char *cls, const char *name, const char *unit, unsigned type);

/* A value; those of one thread and time become one record if they come one after the other. */
int xch_build_value(struct xch_build *b, uint64_t time, uint32_t willy, uint32_t counter, uint64_t value);
/* Half of a message: id 0: matched by sender, receiver, communicator and tag, in order. */
struct xch_build_half {
	uint64_t time, id;
	uint32_t from, to, communicator, tag, size, function;
	int receive;
};
int xch_build_half(struct xch_build *b, const struct xch_build_half *h);
/* A member of a collective operation begins or ends. What: 1 all, 2 one to all, 3 all to one, 4 all to all; other numbers
 * count as 1. */
struct xch_build_member {
	uint64_t time, id, sent, received;
	uint32_t willy, communicator, rank, members, root;
	uint8_t operation, what, has_root, end;
};
int xch_build_member(struct xch_build *b, const struct xch_build_member *m);
int xch_build_comment(struct xch_build *b, uint64_t time, uint32_t willy, const char *text, size_t n);
/* Any other record was written to in->w: checks it, and counts it as data. */
int xch_build_written(struct xch_build *b, int rc);

#endif
