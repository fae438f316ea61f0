/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of foreign trace formats. A conversion reads an STF trace once. It gives the format's writer the
 * definitions, then the events in the order of their time, then the end. A reader makes an STF trace. What a
 * format cannot store is counted. doc/exchange.md has a table of what each format can hold; a test compares it
 * with this one.
 *
 * How to add a format: CONTRIBUTING.md. A format reads no options itself and prints nothing. */
#ifndef EXCHANGE_COMMON_FORMAT_H
#define EXCHANGE_COMMON_FORMAT_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "include/stf.h"

/* ---- what a trace holds, by kind --------------------------------------------------------------- */

/* Kinds of records: bit 1 << kind in xch_format.holds. xch_kind_name() gives their names for doc/exchange.md and
 * messages. */
enum xch_kind {
	XCH_ENTER, /* a function is entered */
	XCH_LEAVE,
	XCH_SAMPLE,     /* values of counters of one thread or group at one time */
	XCH_SEND,       /* one half of a message */
	XCH_RECEIVE,    /* the other half, with the same id */
	XCH_COLL_BEGIN, /* one member's part of a collective operation */
	XCH_COLL_END,
	XCH_IO_BEGIN, /* an operation on a file */
	XCH_IO_END,
	XCH_SCOPE_BEGIN,
	XCH_SCOPE_END,
	XCH_COMMENT, /* for this and the three below, see event.record */
	XCH_REPORT,
	XCH_OPAQUE,
	XCH_RAW, /* unmatched halves of messages and of collective operations */
	XCH_EVENT_KINDS,
	/* not events: definitions and properties that a writer takes from struct xch_trace */
	XCH_GROUPS = XCH_EVENT_KINDS, /* groups of threads */
	XCH_COMMUNICATORS,
	XCH_LOCATIONS,  /* places in the source code */
	XCH_UNITS,      /* of counters */
	XCH_PROCESSES,  /* hosts, process and thread ids, names */
	XCH_ADDRESSES,  /* of hosts */
	XCH_STATISTICS, /* summaries, the component .sts */
	XCH_INFOS,      /* how the trace was made */
	XCH_BOUND,      /* the bound of the clock's correction */
	XCH_KINDS
};
const char *xch_kind_name(enum xch_kind k);
/* One of these in a few letters: "enter", "collective_begin". */
const char *xch_kind_word(enum xch_kind k);
/* Sets of kinds. */
#define XCH_BIT(kind) (1u << (kind))
enum {
	XCH_CALLS = XCH_BIT(XCH_ENTER) | XCH_BIT(XCH_LEAVE),
	XCH_MESSAGES = XCH_BIT(XCH_SEND) | XCH_BIT(XCH_RECEIVE),
	XCH_COLLECTIVES = XCH_BIT(XCH_COLL_BEGIN) | XCH_BIT(XCH_COLL_END),
	XCH_SCOPED = XCH_BIT(XCH_SCOPE_BEGIN) | XCH_BIT(XCH_SCOPE_END),
	/* what a format of more than counters usually holds */
	XCH_MOST = XCH_CALLS | XCH_BIT(XCH_SAMPLE) | XCH_MESSAGES | XCH_COLLECTIVES | XCH_BIT(XCH_IO_BEGIN) |
		XCH_BIT(XCH_IO_END) | XCH_BIT(XCH_UNITS) | XCH_BIT(XCH_BOUND)
};

/* ---- definitions ------------------------------------------------------------------------------- */

#define XCH_NONE UINT32_MAX /* no number, or unknown */

/* A place that has records: a thread, or a group of threads (for the counters of a node, say). */
struct xch_place {
	uint32_t willy;
	int is_group;
	uint32_t process, thread; /* XCH_NONE for a group; counted from 0 */
	const char *host;         /* NULL: unknown, or several */
	const char *name;         /* name of the thread or group; NULL: none */
	const char *process_name; /* never ""; NULL: none. Only set in thread 0 */
	uint32_t pid;             /* 0: unknown */
	uint64_t tid;
	/* seconds since 1970 = offset + skew x ticks of its own uncorrected clock; skew 0: unknown */
	double offset, skew;
	uint64_t count[XCH_EVENT_KINDS]; /* events given to the writer so far */
	uint64_t first, last;            /* their times; first > last: none */
	/* the place that begins the list of the same process: thread 0; a group refers to itself */
	const struct xch_place *of;
	uint32_t index; /* in xch_trace.place */
	uint32_t depth; /* number of functions that are open */
};

struct xch_counter {
	uint32_t id;      /* id in the trace */
	const char *name; /* "CLASS:NAME", as stftool writes it */
	const char *unit; /* "": none */
	unsigned type;    /* STF_COUNTER_I8, _F8 or _U8 */
	unsigned scope;   /* STF_COUNTER_BEFORE ... */
	int total;        /* a running total: readers want its rate */
	uint32_t willy;   /* the willy that the counter's definition names */
	uint64_t lower, upper;
	uint32_t index; /* in xch_trace.counter */
};

/* Functions, scopes, collective operations, files, places in the source code: a name and its class. The name of a place is
 * "solver.c:17 step < main.c:40 main": the frames of a call stack, the innermost first. */
struct xch_named {
	uint32_t id;
	const char *name; /* never NULL */
	const char *cls;  /* "MPI:P2P", "" if none */
	uint32_t type;    /* of a collective operation: 1 all, 2 one to all, 3 all to one, 4 all to all, 0 other */
	uint32_t index;   /* in its list */
	uint32_t number;  /* counted through all lists */
};
enum xch_names { XCH_FUNCTIONS, XCH_SCOPES, XCH_OPERATIONS, XCH_FILES, XCH_SOURCES, XCH_LISTS };

struct xch_communicator {
	uint32_t id;
	const char *name;
	uint32_t *members; /* willies, in rank order */
	uint32_t n;
	uint32_t index;
};

/* A stretch of time in which a bound holds. */
struct xch_bound {
	uint64_t from;  /* valid from here to the next stretch's `from`, or to the end */
	double seconds; /* NaN: not known */
	uint32_t process;
};

struct xch_list {
	struct xch_named *v;
	size_t n;
};

/* The trace being converted. All of it is complete before the writer's open() and is valid until after the
 * writer's close(). */
struct xch_trace {
	/* for everything that has no member here: groups, infos, statistics, source locations */
	struct stf_reader *r;
	const char *path;
	double resolution;   /* seconds of a time stamp unit */
	uint32_t eventbits;  /* the clock's tick is resolution x 2^eventbits */
	uint64_t start, end; /* the trace's first and last stamp */
	uint64_t mul, div;   /* nanoseconds = stamp x mul / div, exactly; div 0: no exact ratio, use resolution */
	/* decimal places of a second that print a stamp exactly, 9 for 1 ns; -1: no number of them does */
	int decimals;
	uint64_t step; /* a time stamp unit, counted in the last decimal place */
	struct xch_place *place;
	size_t n_places;
	struct xch_counter *counter;
	size_t n_counters;
	struct xch_list names[XCH_LISTS];
	uint32_t n_names; /* of all lists */
	struct xch_communicator *communicator;
	size_t n_communicators;
	double worst_bound;      /* the largest known bound, seconds; NaN: none is known */
	struct xch_bound *bound; /* the stretches of all processes, in the order of their time */
	size_t n_bounds;
	uint32_t n_processes;
	struct xch_private *p;
};

/* Look-up by the trace's own ids; NULL if the id is not declared. A place is also NULL if neither a
 * process_declaration nor a group_definition declares it. */
struct xch_place *xch_place(const struct xch_trace *t, uint32_t willy);
struct xch_counter *xch_counter(const struct xch_trace *t, uint32_t id);
const struct xch_named *xch_named_by_id(const struct xch_trace *t, enum xch_names list, uint32_t id);
const struct xch_communicator *xch_communicator(const struct xch_trace *t, uint32_t id);

/* Moves *i to the next info about how the trace was made, from 0; infos about files are left out. Returns 0: there are no more. */
int xch_next_info(const struct xch_trace *t, size_t *i, const char **cls, const char **text);

/* The bound: seconds by which a stamp of this process may be wrong relative to the other processes; NaN: the
 * trace does not say. The second function returns the stretches of a process in order, and their number in *n. */
double xch_bound(const struct xch_trace *t, uint32_t process, uint64_t time);
const struct xch_bound *xch_bounds(const struct xch_trace *t, uint32_t process, size_t *n);
/* The result of xch_bound() in whole nanoseconds, rounded up; -1: unknown. A group has the largest bound of all
 * processes. */
int64_t xch_bound_ns(const struct xch_trace *t, const struct xch_place *p, uint64_t time);
/* The stamp in nanoseconds, rounded to the nearest. */
int64_t xch_ns(const struct xch_trace *t, uint64_t time);
/* The stamp in seconds as text: exact if decimals >= 0, else with 18 digits. Returns its length. buf must have 48
 * bytes. */
int xch_seconds(const struct xch_trace *t, uint64_t time, char *buf);
/* The shortest decimal text that reads back as v; "nan", "inf", "-inf". Returns its length. buf must have 32
 * bytes. */
int xch_real(double v, char *buf);
/* A counter's value as text, according to its type. */
int xch_value(const struct xch_counter *c, uint64_t bits, char *buf);

/* ---- events ------------------------------------------------------------------------------------ */

struct xch_message {
	uint64_t id; /* the same in both halves, counted from 1 */
	struct xch_place *other;
	uint64_t other_time; /* stamp of the other half, if other_known */
	int other_known;     /* 0: only this half is known */
	uint32_t communicator, tag, size;
	const struct xch_named *function; /* NULL: not known */
};
struct xch_coll {
	uint64_t id; /* of the operation, counted from 1; the same for all members */
	uint32_t operation, communicator;
	uint32_t rank, members; /* this member's rank, and the number of members in the record */
	struct xch_place *root; /* NULL: none */
	uint64_t sent, received;
	uint64_t other_time; /* stamp of this member's other half */
};
struct xch_io {
	uint32_t type, bytes;
};

struct xch_event {
	enum xch_kind kind;
	struct xch_place *place;
	uint64_t time;
	uint32_t scl;                  /* location in the source code, 0: none */
	const struct xch_named *where; /* the same; NULL: none */
	/* the function, scope, operation or file; NULL: not declared, or a function is left without an enter */
	const struct xch_named *what;
	union {
		/* XCH_ENTER and XCH_LEAVE: id of the function that is entered or left; 0: left without an enter */
		uint32_t function;
		struct {
			uint32_t n;
			const struct xch_counter *const *counter;
			const uint64_t *values; /* bits */
			const uint32_t *ids;    /* of the counters, before xch_stream() finds them */
		} sample;
		struct xch_message message;
		struct xch_coll coll;
		struct xch_io io;
		uint32_t scope_number;
		struct {
			const char *text; /* XCH_COMMENT, XCH_REPORT: a zero byte is after it */
			size_t length;
		} text;
	} u;
	const struct stf_record *record; /* XCH_COMMENT to XCH_RAW, valid during the call; else NULL */
};

/* Does the trace know only that a size of this event is at least what it says (stf.h)? */
int xch_is_at_least(const struct xch_event *e);

/* ---- writing ----------------------------------------------------------------------------------- */

enum { XCH_LONG, XCH_WIDE };

struct xch_options {
	int force;  /* replace what is there */
	int renew;  /* replace an earlier output in the same format */
	int layout; /* of tables: XCH_LONG, XCH_WIDE */
	int rate;   /* write running totals as change per second */
	/* Returns the i-th message about what could not be read; 0: there are no more. Called after the last
	 * event. NULL: none */
	int (*damage)(void *user, size_t i, char *text, size_t size);
	void *user;
};

/* A conversion that is running. The writer creates its output in `dir`, a new directory beside the target. At the
 * end each entry of `dir` is moved to its own name beside `target`. Names of entries must begin with `stem`. */
struct xch_writer {
	const struct xch_format *format;
	const struct xch_options *o;
	const char *target; /* as the user named it; "-": standard output, where the format allows it */
	char *dir;
	char *base;  /* the last component of target */
	char *stem;  /* base without the format's suffix */
	int replace; /* what is there may be replaced: forced, or an earlier output */
	uint64_t lost[XCH_KINDS];
	uint64_t events;     /* number of events given to the writer */
	uint64_t disordered; /* how many of these were earlier than an event before them */
	uint64_t homeless;   /* not given to the writer: their thread or group is not declared */
	uint64_t at_least;   /* sizes that the trace has as "at least" only (stf.h) */
	FILE *f;             /* the output of a format that is one stream; else NULL */
	void *state;         /* private data of the format, zero at first */
};

/* Creates a file of this name in w->dir, with a large buffer; returns standard output if w->target is "-". On
 * failure returns NULL and sets *err. xch_close() completes the file; of NULL, it does nothing. */
FILE *xch_create(struct xch_writer *w, const char *name, struct tkm_err *err);
int xch_close(struct xch_writer *w, FILE *f, const char *name, struct tkm_err *err);
/* Counts n records of a kind that could not be stored. Kinds that the format cannot hold at all are counted
 * without this call. */
static inline void xch_lost(struct xch_writer *w, enum xch_kind k, uint64_t n)
{
	w->lost[k] += n;
}

/* ---- reading ----------------------------------------------------------------------------------- */

struct xch_input {
	const char *path;
	const char *to;                /* the STF trace to make */
	struct stf_writer_options stf; /* the reader sets resolution and eventbits */
	struct stf_writer *w;
	uint64_t records; /* data records written, for the message */
	uint64_t skipped; /* pieces of the input for which STF has no record */
	char note[2400];  /* one line about what was skipped, "" if nothing was */
};
/* Begins the trace, once the period of the stamps is known. Returns 0 or -1. */
int xch_input_begin(struct xch_input *in, double resolution, uint32_t eventbits, struct tkm_err *err);
/* Puts the STF writer's error into *err. Returns -1. */
int xch_input_stf(struct xch_input *in, struct tkm_err *err);

/* ---- correcting ------------------------------------------------------------------------------ */

/* Moves the stamps of a trace to a corrected time axis. Everything else in the trace stays unchanged. */
struct xch_restamp {
	const struct xch_format *format; /* of both */
	const char *path, *to;
	int force;
	const char *clock; /* CTF: the name of the clock; NULL: the trace has only one */
	void *user;
	/* What the trace says of its clock, set before begin(). timer: NULL: it is that of the rank; "": the trace does not
	 * say. host: where the rank is unknown; NULL: the host is, too. unordered: its stamps have no order. */
	const char *timer, *host;
	int unordered;
	/* Called before the stamps of a rank, which are in units of 1 / hz s. XCH_NONE: the trace does not say
	 * the rank. Sets zero_s, realtime0_ns, used_timer and rank. Returns 0 or -1. */
	int (*begin)(void *user, uint32_t rank, double hz, struct tkm_err *err);
	/* Corrects a stamp: the result counts from the start of the run, in the same unit. Also gives the bound
	 * of the result (INFINITY: unknown). Returns 0, or -1: out of range. */
	int (*at)(void *user, uint64_t stamp, int64_t *corrected, double *bound_s);
	/* All stamps, in no order, at which the correction or its bound can have a corner: in between both are smooth. The caller
	 * frees *at. Returns 0 or -1: no memory. */
	int (*bends)(void *user, int64_t **at, size_t *n);
	long double zero_s;   /* the master's clock at the start of the run */
	int64_t realtime0_ns; /* the time of day at the start of the run */
	const char *used_timer;
	long long rank; /* -1: unknown */
	int unbounded;  /* there is no clock: no stamp is changed */
	/* results */
	/* reversed: how many of these were moved so that they are not before the stamp before them */
	uint64_t stamps, reversed;
	uint64_t zeros; /* stamps of 0 that are no times, and stay */
	double worst_s; /* the largest bound */
	double line_s;  /* CTF: the part of worst_s by which the correction differs from a straight line */
};

/* Traces of several ranks, corrected and in one file. */
struct xch_together {
	struct xch_restamp *trace;
	size_t n;
	const char *to;
	int force;
	FILE *table; /* where the order of arrivals at collective operations is printed */
};

/* ---- the table --------------------------------------------------------------------------------- */

struct xch_format {
	const char *name;       /* as in --logfile-format, in upper case */
	const char *suffix;     /* ".csv" */
	const char *what;       /* for --help and error messages */
	uint32_t holds;         /* bits 1 << kind */
	unsigned stream : 1;    /* can go to standard output */
	unsigned table : 1;     /* takes --layout */
	unsigned rates : 1;     /* takes --rate */
	unsigned directory : 1; /* the target is a directory */
	unsigned unclocked : 1; /* restamp() can copy a trace without a clock, and mark it so */
	/* Text in the first or last 4 KiB of an output of ours, by which it is known from a file of somebody else's: in the
	 * file `mark_in`, after the target's name if it begins with "/", else after its stem; NULL: in the target itself */
	const char *mark, *mark_in;
	/* NULL; else why this build does not have the format: "needs otf2 (configure --with-otf2)" */
	const char *missing;
	size_t state_size; /* of xch_writer.state, which the caller makes and frees */
	/* All return 0, or -1 and *err. `event` is NULL: the format cannot be written. The others may be NULL. `end` is
	 * called after the last event, unless there was an error. `release` is called after both. Errors of xch_writer.f
	 * are found by the caller. */
	int (*open)(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err);
	int (*event)(struct xch_writer *w, struct xch_trace *t, const struct xch_event *e, struct tkm_err *err);
	int (*end)(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err);
	void (*release)(struct xch_writer *w, struct xch_trace *t);
	/* NULL: the format cannot be read. An error names the file and the offset or line. */
	int (*read)(struct xch_input *in, struct tkm_err *err);
	/* NULL: the stamps of a trace in this format cannot be corrected. */
	int (*restamp)(struct xch_restamp *x, struct tkm_err *err);
	/* NULL: not several at a time. */
	int (*together)(struct xch_together *t, struct tkm_err *err);
	/* Does a file that begins with these bytes look like this format? NULL: only the suffix says. */
	int (*is)(const char *path, const unsigned char *head, size_t n);
};

/* Nsight Systems' .sqlite, and the .json of rocprofv3. They are only corrected, so they are not in the table. */
extern const struct xch_format xch_nsight, xch_rocprof;

/* The i-th format, NULL after the last. */
const struct xch_format *xch_table(size_t i);
/* Find a format by its name (upper or lower case), or by the suffix of a file name; NULL: there is none. */
const struct xch_format *xch_by_name(const char *name);
const struct xch_format *xch_by_suffix(const char *path);
/* Finds the format of an input by the first bytes of the file (or directory), or else by its suffix; NULL: no
 * format that can be read, or could be if its library were built in. */
const struct xch_format *xch_by_content(const char *path);
/* The format of a trace whose stamps can be corrected, by its name, or that of a folder's files; NULL: it is none. */
const struct xch_format *xch_by_restamp(const char *path);
/* "CSV, OTF2", ...: the names of the formats that can be written, or read. Returns buf. */
const char *xch_names(int reading, char *buf, size_t size);

/* Converts an open trace. *w holds what was lost, so that the caller can print it. A damaged trace is written
 * without the damaged pieces; this returns 0 then, and stf_reader_damage() lists the pieces. */
int xch_convert(struct stf_reader *r, const char *path, const struct xch_format *f, const char *target,
	const struct xch_options *o, struct xch_writer *w, struct tkm_err *err);
/* "2 comments, 17 messages": what a conversion could not store. Returns buf, "" if nothing was lost. */
const char *xch_lost_text(const struct xch_writer *w, char *buf, size_t size);

/* Makes the STF trace `to` from a file in this format. The caller may set force, procs_per_file, single and
 * compress in in->stf. */
int xch_read(struct xch_input *in, const struct xch_format *f, struct tkm_err *err);

#endif
