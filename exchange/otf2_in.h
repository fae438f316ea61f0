/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading OTF2: what the definitions say, and what the events need of it. */
#ifndef EXCHANGE_OTF2_IN_H
#define EXCHANGE_OTF2_IN_H

#include "exchange/match.h"
#include "exchange/otf2.h"

struct in_location {
	uint64_t ref, events;
	uint32_t name, group; /* string; index of the location group, XCH_NONE: none of that */
	uint64_t group_ref;
	int metric;
	uint32_t willy;
	uint32_t pid;
	uint64_t tid, begin; /* begin: of the collective operation under way */
	double offset, skew;
	int defined;
	uint32_t own_name; /* tickmark::name; XCH_NONE: not said */
	uint64_t matching; /* of a file operation that began */
	uint32_t io_type;
};

struct in_process {
	uint32_t ref, name, node, threads, number;
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
	uint32_t *willy; /* by rank */
	uint32_t n;
	struct in_coll *open; /* oldest first */
	struct in_coll *newest;
	uint64_t *count; /* operations that each rank has ended */
	uint64_t first;  /* number of the oldest open one */
};

/* A collective operation until all members have ended. */
struct in_coll {
	struct in_coll *next;
	OTF2_CollectiveOp op;
	uint32_t root, there;
	uint64_t *start, *end;
	uint32_t *sent, *received;
};

struct in_metric {
	uint32_t ref, of; /* of an instance: its class; of a class XCH_NONE */
	uint32_t *member, n;
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

/* A list that grows; the elements lie in the order in which they came. */
struct in_list {
	void *v;
	uint32_t n, cap;
};

struct otf2_runs;

struct otf2_in {
	struct xch_input *in;
	struct tkm_err *err;
	OTF2_Reader *reader;
	struct otf2_errors errors;
	int failed; /* *err is filled in */
	struct in_list strings, locations, processes, groups, comms, metrics, members, regions, handles, nodes, classes;
	struct xch_map string_of, region_of, metric_of, member_of, comm_of, handle_of;
	uint64_t chunk[2];           /* bytes of a chunk of events, of definitions */
	int big;                     /* byte order of the files */
	int plain;                   /* files that are neither compressed nor in a container */
	uint64_t hz, offset, divide; /* stamp = (OTF2's - offset) / divide */
	double resolution;
	uint32_t eventbits;
	int ours; /* an archive that stftool wrote */
	struct xch_match *match;
	struct otf2_runs *runs; /* events go there; NULL: to the trace */
	uint64_t handled;
	uint64_t beyond; /* messages and operations of communicators that are not understood */
	uint8_t op_known[64];
};

enum otf2_event_kind {
	OTF2_EVENT_ENTER,
	OTF2_EVENT_LEAVE,
	OTF2_EVENT_SEND,
	OTF2_EVENT_RECEIVE,
	OTF2_EVENT_COLL_BEGIN,
	OTF2_EVENT_COLL_END,
	OTF2_EVENT_METRIC,
	OTF2_EVENT_IO_BEGIN,
	OTF2_EVENT_IO_END
};

/* An event as the library gives it: time and references are OTF2's. */
struct otf2_event {
	uint64_t time, location;
	enum otf2_event_kind kind;
	uint8_t n; /* values of a metric */
	/* region; rank, communicator, tag, size; operation, communicator, root, sent, received; metric; handle, mode, bytes */
	uint64_t a[5];
	const OTF2_Type *types;
	const uint64_t *values; /* bits */
};

struct in_class {
	char *name;
	uint32_t id;
};

struct in_node {
	uint32_t ref, name, cls;
};

/* Appends one, of zeros. NULL: no memory. */
void *otf2_in_append(struct in_list *l, size_t size);
/* Text of a reference; "" if there is none. */
const char *otf2_in_text(const struct otf2_in *o, uint32_t ref);
struct in_location *otf2_in_location(const struct otf2_in *o, uint64_t ref);
/* What the anchor file says, before the library sees it: *err names the place of what is not possible. Returns 0 or -1. */
int otf2_check_anchor(struct otf2_in *o);
/* The location's file of that suffix ends as OTF2 ends files, or there is none; else -1 and *o->err. The library reads on in what its memory
 * held before after the end of a file that is cut, in some cases for ever. */
int otf2_check_end(const struct otf2_in *o, uint64_t location, const char *suffix);
/* Reads the global definitions. Returns 0 or -1. */
int otf2_in_definitions(struct otf2_in *o);
/* Begins the trace and writes them. */
int otf2_in_write(struct otf2_in *o);
void otf2_in_free(struct otf2_in *o);
/* Writes an event to the trace. Returns 0; -1: *o->err is filled in. What refers to nothing is counted in o->beyond. */
int otf2_in_event(struct otf2_in *o, const struct otf2_event *v);
/* The writer of the trace has failed, or memory. Returns -1. */
int otf2_in_fail(struct otf2_in *o);

/* Runs of events beside the output `to`. NULL: *err. */
struct otf2_runs *otf2_runs_new(const char *to, struct tkm_err *err);
/* The next event of a run, the end of a run. Return 0 or -1. */
int otf2_runs_put(struct otf2_runs *r, const struct otf2_event *v, struct tkm_err *err);
int otf2_runs_end(struct otf2_runs *r, struct tkm_err *err);
/* All events of all runs, by time, to the trace. Returns 0, or -1 and *o->err. */
int otf2_runs_merge(struct otf2_runs *r, struct otf2_in *o);
void otf2_runs_free(struct otf2_runs *r);
/* One member has ended its part. */
int otf2_in_collective(struct otf2_in *o, struct in_comm *c, uint32_t rank, OTF2_CollectiveOp op, uint32_t root,
	uint64_t begin, uint64_t end, uint64_t sent, uint64_t received);
/* Those that not all members have ended. */
int otf2_in_collectives_end(struct otf2_in *o);

#endif
