/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the OTF2 reader: the definitions, and what the conversion of events needs from them. */
#ifndef EXCHANGE_OTF2_OTF2_IN_H
#define EXCHANGE_OTF2_OTF2_IN_H

#include "base/table.h"
#include "exchange/common/build.h"
#include "exchange/otf2/otf2.h"

/* A collective operation that was begun. */
struct in_coll {
	uint64_t begin, end, id;
	uint64_t a[5];  /* as of xch_otf2_event, once it has ended */
	uint32_t depth; /* number of regions that were open at its begin */
	uint8_t request, left, ended;
};

/* An operation on a file that was begun. */
struct in_io {
	uint64_t id;
	uint8_t type;
};

/* A put or a get that was begun. */
struct in_rma {
	uint64_t half;
	uint32_t from, to, communicator, bytes;
};

/* Those of one number in one window, in the order in which they were begun. */
struct in_rmas {
	struct in_rma *op;
	size_t n;
};

struct in_location {
	uint64_t ref, events;
	uint32_t nth;         /* in the definitions, from 0 */
	uint32_t process;     /* index of the process that the location counts for */
	uint32_t dropped;     /* calls of undefined regions that are open */
	uint32_t name, group; /* string; index of the location group, XCH_NONE: it has none */
	uint64_t group_ref;
	int metric;
	uint32_t willy;
	uint32_t pid;
	uint64_t tid;
	uint32_t depth;       /* number of regions that are open */
	struct in_coll *coll; /* in the order in which they were begun */
	size_t coll_room;
	uint32_t n_colls, n_ios;
	struct tkm_table rma; /* struct in_rmas by window and number */
	struct in_io *io;
	double offset, skew;
	int defined;
	uint32_t own_name; /* tickmark::name; XCH_NONE: not given */
};

struct in_process {
	uint32_t ref, name, node, creator, threads, number;
	int accelerator;
	struct in_process *owner; /* of an accelerator the process that uses it; NULL: unknown; else itself */
};

struct in_group {
	uint32_t ref, name, id;
	OTF2_GroupType type;
	OTF2_Paradigm paradigm;
	uint64_t *member;
	uint32_t n;
};

struct in_comm {
	uint32_t ref, name, group, id;
	uint32_t *willy; /* indexed by rank */
	uint32_t n;
	uint64_t *count; /* for each rank, the number of operations that it has ended */
};

struct in_window {
	uint32_t ref, comm, id; /* id: of the communicator of its puts and gets */
};

struct in_metric {
	uint32_t ref, of; /* of: for an instance, its class; for a class, XCH_NONE */
	uint32_t *member, n;
	uint64_t recorder, scope; /* of an instance */
	OTF2_MetricScope scope_kind;
	uint32_t willy; /* to which the values belong; 0: the recorder's */
};

struct in_member {
	uint32_t ref, name, description, unit;
	OTF2_MetricMode mode;
	OTF2_Type type;
	OTF2_Base base;
	int64_t exponent;
};

struct in_region {
	uint32_t ref, name, description;
	OTF2_Paradigm paradigm;
};

struct in_file {
	uint32_t ref, name, id;
};

/* A list that grows; its elements are in the order in which they were added. */
struct in_list {
	void *v;
	uint32_t n;
};

struct xch_otf2_runs;

struct xch_otf2_in {
	struct xch_input *in;
	struct tkm_err *err;
	OTF2_Reader *reader;
	struct xch_otf2_errors errors;
	int failed; /* *err is filled in */
	struct in_list strings, locations, processes, groups, comms, metrics, members, regions, handles, nodes, windows;
	struct xch_map string_of, region_of, metric_of, member_of, comm_of, handle_of, window_of;
	uint64_t chunk[2];           /* bytes of a chunk of events, and of a chunk of definitions */
	int big;                     /* byte order of the files */
	size_t odd_property;         /* offset in the anchor file of a property that the library may refuse; 0: none */
	uint64_t checked, events;    /* of the last file that was checked: its size, number of events */
	uint64_t hz, offset, divide; /* stamp = (OTF2's - offset) / divide */
	uint64_t first;              /* the first event of all */
	double resolution;
	uint32_t eventbits;
	int ours; /* stftool wrote the archive */
	const char *
		folder; /* in->path as it was given, where `anchor` is there meanwhile; NULL: an anchor file was given */
	char *anchor;
	struct xch_build *b;
	struct xch_otf2_runs *runs; /* events are written there; NULL: to the trace */
	uint64_t handled;
	uint64_t kinds[256]; /* events in the files of locations, by the kind of the record */
	uint64_t beyond;     /* number of messages and operations on communicators that cannot be interpreted */
	uint64_t rma_ops;    /* so many have begun */
	uint64_t begun_only; /* number of collective operations that were begun, and did not end */
	struct {
		uint64_t attributes, roles, lines, names;
	} lost; /* of archives of others */
	uint32_t next_group;
	uint8_t op_known[128]; /* by operation: blocking, not blocking */
};

enum xch_otf2_event_kind {
	OTF2_EVENT_ENTER,
	OTF2_EVENT_LEAVE,
	OTF2_EVENT_SEND,
	OTF2_EVENT_RECEIVE,
	OTF2_EVENT_COLL_BEGIN,
	OTF2_EVENT_COLL_END,
	OTF2_EVENT_COLL_REQUEST,
	OTF2_EVENT_COLL_COMPLETE,
	OTF2_EVENT_METRIC,
	OTF2_EVENT_IO_BEGIN,
	OTF2_EVENT_IO_END,
	OTF2_EVENT_PUT,
	OTF2_EVENT_GET,
	OTF2_EVENT_RMA_DONE
};

/* An event as the OTF2 library delivers it: its time and references are those of OTF2. */
struct xch_otf2_event {
	uint64_t time, location;
	enum xch_otf2_event_kind kind;
	uint8_t n; /* number of values of a metric */
	/* region; rank, communicator, tag, size; operation, communicator, root, sent, received, request; request; metric;
	 * handle, mode, bytes, matching id; window, rank, bytes, matching id; window, matching id, is it the end there? */
	uint64_t a[6];
	const OTF2_Type *types;
	const uint64_t *values; /* bits */
};

struct in_node {
	uint32_t ref, name, cls, parent;
};

/* Appends one element, filled with zeros. NULL: no memory. */
void *xch_otf2_in_append(struct in_list *l, size_t size);
/* The text of a string reference; "" if there is none. */
const char *xch_otf2_in_text(const struct xch_otf2_in *o, uint32_t ref);
struct in_location *xch_otf2_in_location(const struct xch_otf2_in *o, uint64_t ref);
struct in_process *xch_otf2_in_process(const struct xch_otf2_in *o, uint64_t ref); /* NULL: there is none */
struct in_node *xch_otf2_in_node(const struct xch_otf2_in *o, uint64_t ref);       /* NULL: there is none */
/* Is the node `above` itself, or below it? */
int xch_otf2_in_below(const struct xch_otf2_in *o, uint32_t node, uint32_t above);
/* Sets in_process.owner. Since OTF2 3.0 an accelerator names its creator. Before, it is the only process below the
 * nearest node of the system tree that has any. */
void xch_otf2_in_owners(struct xch_otf2_in *o);
/* Gives a location that has metrics only a group of its own, of the threads beside it. Returns 0 or -1. */
int xch_otf2_in_own_group(struct xch_otf2_in *o, struct in_location *l);
/* Checks the anchor file, then the library opens the archive: o->reader. From here on o->errors has what the library
 * complains about, until xch_otf2_in_close(). Returns 0, or -1: *o->err says file and offset. */
int xch_otf2_in_open(struct xch_otf2_in *o);
void xch_otf2_in_close(struct xch_otf2_in *o);
/* The files of an archive. Event files have chunks of o->chunk[0] bytes, the others of o->chunk[1]. */
enum xch_otf2_file { OTF2_EVENT_FILE, OTF2_LOCATION_DEFINITIONS, OTF2_ARCHIVE_DEFINITIONS };
enum { OTF2_CHUNK_HEADER = 18 };
/* Kinds of records. */
enum {
	OTF2_ENDS_BUFFER = 1,
	OTF2_ENDS_FILE = 2, /* up to this: the records of the chunk end */
	OTF2_BEGINS_CHUNK = 3,
	OTF2_STAMP = 5,            /* in event files */
	OTF2_CLOCK_PROPERTIES = 5, /* in the definitions of the archive */
	OTF2_CLOCK_OFFSET = 6,     /* in the definitions of a location */
	OTF2_LOCATION = 14,        /* in the definitions of the archive */
	OTF2_FIRST_EVENT = 10      /* in event files, the kinds below belong to the next event */
};
/* The size of the record at p of the chunk b[0..n-1]; 0: its records end here; -1: damaged, *what says how. */
ssize_t xch_otf2_record_size(
	const unsigned char *b, size_t p, size_t n, int big, enum xch_otf2_file file, const char **what);
/* Checks the chunks and the records of a file: the archive's path without .otf2, and this suffix. Sets o->checked and
 * o->events. Returns 0, OTF2_NO_FILE if it cannot be opened, or -1 and *o->err. */
enum { OTF2_NO_FILE = 1 };
int xch_otf2_check_file(struct xch_otf2_in *o, const char *suffix, enum xch_otf2_file file);
/* In a file that was checked, the offset of the n-th record of this kind (0: any), from 0; the file's size if there are
 * fewer. */
uint64_t xch_otf2_record_at(
	const struct xch_otf2_in *o, const char *suffix, enum xch_otf2_file file, unsigned char kind, uint64_t n);
/* Sets the error "FILE: offset OFFSET: ...". Returns -1. */
int xch_otf2_damaged(const struct xch_otf2_in *o, const char *suffix, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Reads the global definitions. Returns 0 or -1. */
int xch_otf2_in_definitions(struct xch_otf2_in *o);
/* Begins the trace and writes the declarations. */
int xch_otf2_in_write(struct xch_otf2_in *o);
void xch_otf2_in_free(struct xch_otf2_in *o);
/* Writes an event to the trace. Returns 0, or -1: *o->err is set. An event that refers to an undefined id is
 * counted in o->beyond. */
int xch_otf2_in_event(struct xch_otf2_in *o, const struct xch_otf2_event *v);
/* A collective operation begins or ends. An end returns 1 if it has no begin, or its communicator no such member. */
int xch_otf2_coll_begin(struct xch_otf2_in *o, struct in_location *l, uint64_t time, int blocking, uint64_t id);
int xch_otf2_coll_end(
	struct xch_otf2_in *o, struct in_location *l, const struct xch_otf2_event *v, uint64_t time, int blocking);
/* A region of the location is left. */
void xch_otf2_coll_leave(struct xch_otf2_in *o, struct in_location *l);
/* Writes the operations that still wait for others. Counts those that did not end. */
int xch_otf2_coll_rest(struct xch_otf2_in *o);
/* Makes a file for runs of events beside the output `to`. NULL: *err. */
struct xch_otf2_runs *xch_otf2_runs_new(const char *to, struct tkm_err *err);
/* Append an event to a run, and end a run. Return 0 or -1. */
int xch_otf2_runs_put(struct xch_otf2_runs *r, const struct xch_otf2_event *v, struct tkm_err *err);
int xch_otf2_runs_end(struct xch_otf2_runs *r, struct tkm_err *err);
/* Writes all events of all runs to the trace, sorted by time. Returns 0, or -1 and *o->err. */
int xch_otf2_runs_merge(struct xch_otf2_runs *r, struct xch_otf2_in *o);
void xch_otf2_runs_free(struct xch_otf2_runs *r);

#endif
