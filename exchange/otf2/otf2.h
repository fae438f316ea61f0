/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations that reading and writing of OTF2 share. Only the files otf2*.c include it. */
#ifndef EXCHANGE_OTF2_OTF2_H
#define EXCHANGE_OTF2_OTF2_H

#include <otf2/otf2.h>

#include "base/table.h"
#include "exchange/common/lanes.h"
#include "exchange/common/private.h"

/* Error messages of the OTF2 library, which it would otherwise print. */
struct xch_otf2_errors {
	OTF2_ErrorCallback before;
	char text[300]; /* the first message since text was last cleared */
};
void xch_otf2_errors_begin(struct xch_otf2_errors *e);
void xch_otf2_errors_end(struct xch_otf2_errors *e);
/* Sets the error "PATH: what (why)". Returns -1. */
int xch_otf2_fail(
	struct tkm_err *err, struct xch_otf2_errors *e, const char *path, const char *what, OTF2_ErrorCode code);

/* The OTF2 number of a collective operation, by the name of the MPI call without "MPI_"; OTF2_UNDEFINED_UINT8:
 * there is none. `type` is as in xch_named; if no name fits, it selects the most similar operation. */
OTF2_CollectiveOp xch_otf2_collective(const char *name, uint32_t type);
/* Is it an operation that does not block, like MPI_Ibarrier? */
int xch_otf2_is_request(const char *name);
const char *xch_otf2_collective_name(OTF2_CollectiveOp op, uint8_t *type);

/* ---- writing ---- */

enum { OTF2_CHUNK = 256 * 1024 };
/* The attributes of an event with a source location: the innermost frame, and the text of all. The texts are the first strings
 * after the empty one, because events are written before definitions. */
enum { OTF2_AT_SOURCE, OTF2_AT_STACK, OTF2_LOCATION_STRING = 1 };
/* The attribute of an event whose bytes are "at least". Numbers of attributes have no gaps. */
static inline OTF2_AttributeRef xch_otf2_at_least(const struct xch_trace *t)
{
	return t->names[XCH_SOURCES].n ? OTF2_AT_STACK + 1 : 0;
}

/* Makes a memory pool for the writers of that many locations; the library's callbacks get it as user data. NULL:
 * *err. The pool is closed after the archive. */
struct xch_otf2_chunks *xch_otf2_chunks_open(const struct xch_writer *w, size_t locations, struct tkm_err *err);
void xch_otf2_chunks_close(struct xch_otf2_chunks *c);
extern const OTF2_MemoryCallbacks xch_otf2_memory;

/* A metric class: counters that are sampled together. */
struct xch_otf2_class {
	const struct xch_counter **counter;
	uint32_t n;
	OTF2_MetricRef ref;
	OTF2_Type *type;
};

/* A metric instance, which is needed if a class is sampled on a place that is a group. */
struct xch_otf2_instance {
	OTF2_MetricRef ref, of;
	uint32_t place;
};

struct xch_otf2_state {
	OTF2_Archive *archive;
	struct xch_otf2_chunks *chunks;
	OTF2_EvtWriter **evt; /* per place */
	uint64_t *last;       /* per place: time of its last event */
	struct xch_otf2_errors errors;
	struct xch_otf2_class *cls;
	uint32_t n_classes;
	struct tkm_table class_of; /* addresses of counters: index in cls */
	struct xch_otf2_instance *instance;
	uint32_t n_instances;
	OTF2_MetricRef next_metric;
	uint32_t *seen;             /* per place: the class of its last sample; XCH_NONE: none */
	struct xch_otf2_rank *rank; /* per communicator */
	int all_used;               /* a communicator of all threads is needed */
	uint32_t n_threads;
	uint64_t hz, mul; /* OTF2 time = stamp x mul; mul 0: nanoseconds */
	uint64_t min, max;
	struct xch_lanes *lanes;               /* per place: file and collective operations that are open */
	OTF2_AttributeList *attributes, *list; /* list: those of the event, or NULL */
	int at_least;                          /* an event has OTF2_AT_LEAST */
};

struct xch_key {
	uint32_t id, index;
};

/* The rank of each member of a communicator, by place. */
struct xch_otf2_rank {
	struct xch_key *key; /* place, rank; sorted */
	uint32_t n;
};

/* A stamp and the type of a counter as OTF2 has them. */
OTF2_Type xch_otf2_type(const struct xch_counter *c);
uint64_t xch_otf2_time(const struct xch_otf2_state *s, const struct xch_trace *t, uint64_t time);
/* Writes all definitions, after the events were written. */
int xch_otf2_definitions(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err);

int xch_otf2_read(struct xch_input *in, struct tkm_err *err);
int xch_otf2_restamp(struct xch_restamp *x, struct tkm_err *err);

/* Is it a folder with the anchor file of an archive? */
int xch_otf2_is(const char *path, const unsigned char *head, size_t n);

#endif
