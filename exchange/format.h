/* SPDX-License-Identifier: BSD-3-Clause */
/* Trace formats of others behind one table. A conversion reads an STF trace once and gives a format's writer the
 * definitions, then the events in the order of their time, then the end; a reader makes an STF trace. What a format
 * has no place for is counted. doc/exchange.md has the table of what each can hold; a test compares it with this one.
 *
 * How to add a format: a file exchange/NAME.c with one `const struct xch_format xch_NAME`, a line in exchange/table.c, in
 * exchange/Makefile.inc.am and in doc/exchange.md. Knows no option and prints nothing. */
#ifndef EXCHANGE_FORMAT_H
#define EXCHANGE_FORMAT_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "stf/stf.h"

/* ---- what a trace holds, by kind --------------------------------------------------------------- */

/* Kinds of records: bit 1 << kind in xch_format.holds. The names, for doc/exchange.md and messages, are xch_kind_name(). */
enum xch_kind {
	XCH_ENTER, /* a function is entered */
	XCH_LEAVE,
	XCH_SAMPLE,     /* values of counters of one thread or group at one time */
	XCH_SEND,       /* one half of a message */
	XCH_RECEIVE,    /* the other half; has the same id */
	XCH_COLL_BEGIN, /* one member's part of a collective operation */
	XCH_COLL_END,
	XCH_IO_BEGIN, /* an operation on a file */
	XCH_IO_END,
	XCH_SCOPE_BEGIN,
	XCH_SCOPE_END,
	XCH_COMMENT, /* the four below: look at event.record */
	XCH_REPORT,
	XCH_OPAQUE,
	XCH_RAW, /* halves of messages and collective operations that were not matched */
	XCH_EVENT_KINDS,
	/* no events: definitions and properties that a writer takes from struct xch_trace */
	XCH_GROUPS = XCH_EVENT_KINDS, /* groups of threads */
	XCH_COMMUNICATORS,
	XCH_LOCATIONS,  /* places in the source code */
	XCH_UNITS,      /* of counters */
	XCH_PROCESSES,  /* hosts, process and thread ids, names */
	XCH_STATISTICS, /* summaries, the component .sts */
	XCH_INFOS,      /* what the trace says of its making */
	XCH_BOUND,      /* the bound of the clock's correction */
	XCH_KINDS
};
const char *xch_kind_name(enum xch_kind k);

/* ---- definitions ------------------------------------------------------------------------------- */

#define XCH_NONE UINT32_MAX /* no such number */

/* Who has records: a thread, or a group of threads (a node's counters, say). */
struct xch_place {
	uint32_t willy;
	int is_group;
	uint32_t process, thread; /* XCH_NONE for a group; counted from 0 */
	const char *host;         /* NULL: unknown, or several */
	const char *name;         /* of the thread or group; NULL */
	const char *process_name; /* "" never; NULL: has none. Of thread 0 */
	uint32_t pid;             /* 0: unknown */
	uint64_t tid;
	double offset, skew; /* seconds since 1970 = offset + own, uncorrected ticks x skew; skew 0: unknown */
	uint64_t count[XCH_EVENT_KINDS]; /* events given to the writer so far */
	uint64_t first, last;            /* their times; first > last: none */
	const struct xch_place *of;      /* opens the list of its process: thread 0; itself for a group */
	uint32_t index;                  /* in xch_trace.place */
	uint32_t depth;                  /* functions that are open */
};

struct xch_counter {
	uint32_t id;      /* in the trace */
	const char *name; /* "CLASS:NAME", as stftool writes it */
	const char *unit; /* "": none */
	unsigned type;    /* STF_COUNTER_I8, _F8 or _U8 */
	unsigned scope;   /* STF_COUNTER_BEFORE ... */
	int total;        /* a running total: its rate is what is looked at */
	uint32_t willy;   /* whose it is by its definition */
	uint64_t lower, upper;
	uint32_t index; /* in xch_trace.counter */
};

/* Functions, scopes, collective operations, files, ...: a name and the class it is of. */
struct xch_named {
	uint32_t id;
	const char *name; /* never NULL */
	const char *cls;  /* "MPI:P2P", "" if none */
	uint32_t type;    /* of a collective operation: 1 all, 2 one to all, 3 all to one, 4 all to all, 0 other */
	uint32_t index;
};

struct xch_communicator {
	uint32_t id;
	const char *name;
	uint32_t *members; /* willies, in rank order */
	uint32_t n;
	uint32_t index;
};

/* A stretch of time in which a bound holds. */
struct xch_bound {
	uint64_t from;  /* up to the next one's, or the end */
	double seconds; /* NaN: not known */
};

struct xch_list {
	struct xch_named *v;
	size_t n;
};

/* The trace being converted. All is there before the writer's open() and lives until after its close(). */
struct xch_trace {
	struct stf_reader *r; /* for what is not below: groups, infos, statistics, source locations */
	const char *path;
	double resolution;   /* seconds of a time stamp unit */
	uint32_t eventbits;  /* the clock's tick is resolution x 2^eventbits */
	uint64_t start, end; /* the trace's duration, stamps */
	uint64_t mul, div;   /* nanoseconds = stamp x mul / div, exactly; div 0: only resolution says it */
	int decimals;        /* of a second that print a stamp exactly, 9 for 1 ns; -1: none do */
	uint64_t step;       /* a time stamp unit in the last of them */
	struct xch_place *place;
	size_t n_places;
	struct xch_counter *counter;
	size_t n_counters;
	struct xch_list functions, scopes, collops, files;
	struct xch_communicator *communicator;
	size_t n_communicators;
	double worst_bound; /* the largest known bound, seconds; NaN: none is known */
	uint32_t n_processes;
	struct xch_private *p;
};

/* By the trace's own ids; NULL if nothing declares it. A place that no process_declaration and no group_definition
 * declares is NULL, too. */
struct xch_place *xch_place(const struct xch_trace *t, uint32_t willy);
struct xch_counter *xch_counter(const struct xch_trace *t, uint32_t id);
const struct xch_named *xch_function(const struct xch_trace *t, uint32_t id);
const struct xch_named *xch_scope(const struct xch_trace *t, uint32_t id);
const struct xch_named *xch_collop(const struct xch_trace *t, uint32_t id);
const struct xch_named *xch_file_of(const struct xch_trace *t, uint32_t id);
const struct xch_communicator *xch_communicator(const struct xch_trace *t, uint32_t id);

/* Seconds by which a stamp of this process may be wrong against the others; NaN: the trace does not say. The stretches of a
 * process: *n of them, in order. */
double xch_bound(const struct xch_trace *t, uint32_t process, uint64_t time);
const struct xch_bound *xch_bounds(const struct xch_trace *t, uint32_t process, size_t *n);
/* The next stretch of an info of the class clock-bound, whose text after "process P" is *text, into *b; *text is after it then. 0: there
 * is none, or it is not one. */
int xch_bound_next(const char **text, struct xch_bound *b);
/* xch_bound() in nanoseconds, rounded up to a whole one; -1: not known. A group has the largest bound of all processes. */
int64_t xch_bound_ns(const struct xch_trace *t, const struct xch_place *p, uint64_t time);
/* The stamp in nanoseconds, rounded to the nearest. */
int64_t xch_ns(const struct xch_trace *t, uint64_t time);
/* The stamp in seconds as text, exact if decimals >= 0, else 18 digits. Returns its length; buf has 48 bytes. */
int xch_seconds(const struct xch_trace *t, uint64_t time, char *buf);
/* The shortest decimal form that reads back as v; "nan", "inf", "-inf". Returns its length; buf has 32 bytes. */
int xch_real(double v, char *buf);
/* A counter's value as text, by its type. */
int xch_value(const struct xch_counter *c, uint64_t bits, char *buf);

/* ---- events ------------------------------------------------------------------------------------ */

struct xch_message {
	uint64_t id; /* the same in both halves, from 1 */
	struct xch_place *other;
	uint64_t other_time; /* stamp of the other half, if other_known */
	int other_known;     /* 0: only this half is known */
	uint32_t communicator, tag, size, function;
};
struct xch_coll {
	uint64_t id; /* of the operation, from 1; the same for all members */
	uint32_t operation, communicator;
	uint32_t rank, members; /* this member's number, and how many there are in the record */
	struct xch_place *root; /* NULL: none */
	uint64_t sent, received;
	uint64_t other_time; /* stamp of this member's other half */
};
struct xch_io {
	uint32_t type, file, bytes;
};

struct xch_event {
	enum xch_kind kind;
	struct xch_place *place;
	uint64_t time;
	uint32_t scl; /* place in the source code, 0: none */
	union {
		uint32_t function; /* XCH_ENTER and XCH_LEAVE: what is left, 0: there was no enter */
		struct {
			uint32_t n;
			const uint32_t *counters; /* ids */
			const uint64_t *values;   /* bits */
		} sample;
		struct xch_message message;
		struct xch_coll coll;
		struct xch_io io;
		struct {
			uint32_t scope, seqnr;
		} scope;
	} u;
	const struct stf_record *record; /* XCH_COMMENT to XCH_RAW, valid during the call; else NULL */
};

/* ---- writing ----------------------------------------------------------------------------------- */

enum { XCH_LONG, XCH_WIDE };

struct xch_options {
	int force;  /* replace what is there */
	int layout; /* of tables: XCH_LONG, XCH_WIDE */
	int rate;   /* running totals as change per second */
	/* the i-th text about what could not be read, called after the last event; 0: there are no more. NULL: there is none */
	int (*damage)(void *user, size_t i, char *text, size_t size);
	void *user;
};

/* A conversion under way. Output is written in `dir`, a new directory beside the target, and moved from there at the
 * end: every entry of it gets its own name beside `target`. Entries must begin with `stem`. */
struct xch_writer {
	const struct xch_format *format;
	const struct xch_options *o;
	const char *target; /* as the user named it; "-": standard output, where the format allows it */
	char *dir;
	char *base; /* the last part of target */
	char *stem; /* that without the format's suffix */
	uint64_t lost[XCH_KINDS];
	uint64_t events;     /* given to the writer */
	uint64_t disordered; /* of them, earlier than one before */
	uint64_t homeless;   /* not given: of threads or groups that are not declared */
	void *state;         /* the format's own */
};

/* A new file of this name in w->dir, with a large buffer; or standard output, if w->target is "-". NULL: *err. xch_close()
 * completes it. */
FILE *xch_create(struct xch_writer *w, const char *name, struct tkm_err *err);
int xch_close(struct xch_writer *w, FILE *f, const char *name, struct tkm_err *err);
/* n records of a kind could not be held. Those that the format does not hold at all are counted without this. */
static inline void xch_lost(struct xch_writer *w, enum xch_kind k, uint64_t n)
{
	w->lost[k] += n;
}

/* ---- reading ----------------------------------------------------------------------------------- */

struct xch_input {
	const char *path;
	const char *to;                /* the STF trace to be made */
	struct stf_writer_options stf; /* resolution and eventbits are the reader's to set */
	struct stf_writer *w;
	uint64_t records; /* data records written, for the message */
	uint64_t skipped; /* of the input: what STF has no record for */
	char note[300];   /* one line on what was skipped, "" if nothing */
};
/* Begins the trace, once the period of the stamps is known. Returns 0 or -1. */
int xch_input_begin(struct xch_input *in, double resolution, uint32_t eventbits, struct tkm_err *err);
/* What the STF writer says, as *err. Returns -1. */
int xch_input_stf(struct xch_input *in, struct tkm_err *err);

/* ---- correcting ------------------------------------------------------------------------------ */

/* The stamps of a trace put on a corrected time axis, and nothing else of it changed. */
struct xch_restamp {
	const char *path, *to;
	int force;
	const char *clock; /* CTF: the name of the clock; NULL: there is one */
	void *user;
	/* Stamps of that rank come next, in units of 1 / hz s; XCH_NONE: the trace does not know the rank. Sets zero_s and
	 * realtime0_ns. Returns 0 or -1. */
	int (*begin)(void *user, uint32_t rank, double hz, struct tkm_err *err);
	/* The stamp since the start of the run, in the same unit, and by how much it may be wrong (INFINITY: unknown). Returns 0
	 * or -1: out of range. */
	int (*at)(void *user, uint64_t stamp, int64_t *corrected, double *bound_s);
	long double zero_s;   /* the master's clock at the start of the run */
	int64_t realtime0_ns; /* the time of day there */
	/* what was done */
	uint64_t stamps, reversed; /* reversed: of them, moved so that they are not before the one before */
	double worst_s;            /* the largest bound */
	double line_s;             /* CTF: of it, what the correction differs from a straight line */
};

/* ---- the table --------------------------------------------------------------------------------- */

struct xch_format {
	const char *name;       /* --logfile-format, in upper case */
	const char *suffix;     /* ".csv" */
	const char *what;       /* for --help and error messages */
	uint32_t holds;         /* bits 1 << kind */
	unsigned stream : 1;    /* can go to standard output */
	unsigned table : 1;     /* takes --layout */
	unsigned rates : 1;     /* takes --rate */
	unsigned directory : 1; /* the target is a directory */
	const char *missing;    /* NULL; else why this build cannot: "needs otf2 (configure --with-otf2)" */
	/* All return 0 or -1 and *err. close() is called at the end, or with failed != 0 after an error, then it only
	 * frees, and err is NULL. NULL: the format is not written. */
	int (*open)(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err);
	int (*event)(struct xch_writer *w, struct xch_trace *t, const struct xch_event *e, struct tkm_err *err);
	int (*close)(struct xch_writer *w, struct xch_trace *t, int failed, struct tkm_err *err);
	/* NULL: the format is not read. An error names file and offset, or line. */
	int (*read)(struct xch_input *in, struct tkm_err *err);
	/* NULL: stamps of such a trace are not corrected in place. */
	int (*restamp)(struct xch_restamp *x, struct tkm_err *err);
	/* Does a file that begins so look like this format? NULL: only its suffix tells. */
	int (*is)(const char *path, const unsigned char *head, size_t n);
};

/* The i-th format, NULL past the last. */
const struct xch_format *xch_table(size_t i);
/* By its name in any case, by a file name's end; NULL: none. */
const struct xch_format *xch_by_name(const char *name);
const struct xch_format *xch_by_suffix(const char *path);
/* By what the file (or directory) begins with, or else its suffix; NULL: none that is read. */
const struct xch_format *xch_by_content(const char *path);
/* "CSV, OTF2", ...: the names of what is written, or read. Returns buf. */
const char *xch_names(int reading, char *buf, size_t size);

/* Converts an open trace. *w holds what was lost, for who prints it. A damaged trace is written without the damaged
 * pieces: 0, and stf_reader_damage() says what. */
int xch_convert(struct stf_reader *r, const char *path, const struct xch_format *f, const char *target,
	const struct xch_options *o, struct xch_writer *w, struct tkm_err *err);
/* "2 comments, 17 messages": what a conversion could not hold. Returns buf, "" if nothing. */
const char *xch_lost_text(const struct xch_writer *w, char *buf, size_t size);

/* Makes the STF trace `to` of a file in this format. in->stf may hold force, procs_per_file, single, compress. */
int xch_read(struct xch_input *in, const struct xch_format *f, struct tkm_err *err);

#endif
