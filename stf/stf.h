/* SPDX-License-Identifier: BSD-3-Clause */
/* STF 1.0 traces: write them, read anyone's. The bytes are described in doc/stf-format.md, the records
 * in the STF format description, chapter 3. For C99 and C++11; includes nothing of ours but the record table installed beside it.
 * As installed: #include <stf/stf.h>, `pkg-config --cflags --libs tickmark-stf`. Names begin with stf_ or STF_.
 *
 * No function prints, exits or aborts, changes a signal or the locale, or starts a thread, and there are no globals.
 * Readers and writers share nothing: any number of threads may use a reader or writer each at the same time,
 * without a lock, on the same trace too. One reader with its cursors, or one writer, belongs to one thread at a time.
 *
 * Times are absolute, in time-stamp units of which stf_writer_options.resolution says the seconds.
 * A willy is a thread: STF_WILLY(process, thread), or a group with bit 31 set. */
#ifndef STF_STF_H
#define STF_STF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version ---------------------------------------------------------------------------------- */

/* Of this header. Releases with the same STF_VERSION_MAJOR stay compatible, in source and as a shared library. */
#define STF_VERSION_MAJOR 0
#define STF_VERSION_MINOR 1
#define STF_VERSION_PATCH 0
#define STF_VERSION (STF_VERSION_MAJOR * 10000 + STF_VERSION_MINOR * 100 + STF_VERSION_PATCH)
#define STF_VERSION_TEXT "0.1.0"
/* STF_VERSION of the library that is linked. */
int stf_version(void);

/* The structs of options begin with their size, so that later versions can have more of them: fill them from
 * stf_writer_options(), stf_cursor_options() and stf_callbacks(). A size of 0 means the fields of version 0.1. A call with
 * an option that the library does not know yet fails with STF_ERR_ARG. Structs that the library fills in do not grow. */

/* ---- errors ---------------------------------------------------------------------------------- */

enum stf_code {
	STF_OK = 0,
	STF_ERR_ARG,    /* the caller's value is unusable, or does not fit its field */
	STF_ERR_STATE,  /* the call is not possible now: a record that the writer makes itself, ... */
	STF_ERR_IO,     /* the system refused: open, read, write, rename; text ends in its reason */
	STF_ERR_EXISTS, /* would overwrite a file and force was not given */
	STF_ERR_NOMEM,
	STF_ERR_FORMAT,     /* damaged: an impossible size, id, time, name */
	STF_ERR_DEFINITION, /* damaged definition layer in the base file */
	STF_ERR_TRUNCATED,  /* the file ends inside a record */
	STF_ERR_REFERENCE,  /* refers to what was not declared, or declares it twice */
	STF_ERR_CHECKSUM,   /* bytes are not those that were written: see stf_reader_damage() */
	STF_ERR_IDENTITY,   /* a component of another trace */
};

struct stf_err {
	enum stf_code code;
	char file[256];  /* path, cut at its start if longer; "" if no file is concerned */
	uint64_t offset; /* bytes from the file's start: where the faulty record (line) begins */
	uint64_t record; /* its number in that file, from 1, time records included; 0: none. In the
	                  * definition layer the number of the line */
	char text[384];  /* one line without file and offset */
};

/* ---- records --------------------------------------------------------------------------------- */

/* STF_ID_counter_value = 22, ...: the ids that we write. STF_ID_void is no record. */
enum stf_id {
	STF_ID_void = 0,
#define STF_BEGIN(id, cls, name, kind) STF_ID_##name = id,
#include "records.def"
};
enum { STF_ID_END = 75 };

/* Basic types, by their numbers in the definition layer. STF_WILLYID is the nested record willy_id. */
enum stf_type {
	STF_U1,
	STF_U2,
	STF_U4,
	STF_U8,
	STF_I1,
	STF_I2,
	STF_I4,
	STF_I8,
	STF_F4,
	STF_F8,
	STF_C1,
	STF_O8,
	STF_WILLYID,
};

/* Where a record lives. The first eight are data files, and 1 << kind is their category bit. */
enum stf_kind {
	STF_KIND_FUNC,
	STF_KIND_SCOPE,
	STF_KIND_FIO,
	STF_KIND_COUNTER,
	STF_KIND_MSG,
	STF_KIND_COLL,
	STF_KIND_REPORT,
	STF_KIND_OTHER,
	STF_KIND_DECL,
	STF_KIND_INDEX,
	STF_KIND_ANCHOR,
	STF_KIND_STATS,
	STF_KIND_TIMING,
	STF_KIND_TYPE,
};

/* file_declaration.filetype */
enum { STF_DECL_FILE = 1, STF_ANCHOR_FILE = 2, STF_DATA_FILE = 3, STF_STATS_FILE = 4 };

/* counter_definition.type: one of the first three plus one of the scopes */
enum {
	STF_COUNTER_I8 = 1,
	STF_COUNTER_F8 = 2,
	STF_COUNTER_U8 = 3,
	STF_COUNTER_BEFORE = 0x10,
	STF_COUNTER_POINT = 0x20,
	STF_COUNTER_AFTER = 0x30,
	STF_COUNTER_SAMPLE = 0x40,
};

/* one_to_one_communication.receive_time is the receive stamp minus `time`, or one of these two; with
 * the second, `time` is the receive stamp. */
#define STF_RECEIVE_UNKNOWN INT64_MIN
#define STF_SEND_UNKNOWN (INT64_MIN + 1)

#define STF_WILLY(process, thread) (((uint32_t)(process)&0xffffu) | ((uint32_t)(thread)&0x7fffu) << 16)
#define STF_GROUP(id) (((uint32_t)(id)&0x7fffffffu) | 0x80000000u)
static inline uint32_t stf_willy_process(uint32_t willy)
{
	return willy & 0xffffu;
}
static inline uint32_t stf_willy_thread(uint32_t willy)
{
	return willy >> 16 & 0x7fffu;
}
static inline int stf_willy_is_group(uint32_t willy)
{
	return (int)(willy >> 31);
}

/* struct stf_counter_value { uint64_t time; uint32_t willy; uint32_t size_1_2; const uint64_t *values;
 * const uint32_t *counters; } and so on, one per incarnation, fields as in the table. Arrays and
 * strings are the caller's; strings have a length and need no terminating zero. */
#define STF_C_U1 uint8_t
#define STF_C_U2 uint16_t
#define STF_C_U4 uint32_t
#define STF_C_U8 uint64_t
#define STF_C_I1 int8_t
#define STF_C_I2 int16_t
#define STF_C_I4 int32_t
#define STF_C_I8 int64_t
#define STF_C_F4 float
#define STF_C_F8 double
#define STF_C_C1 char
#define STF_C_O8 uint64_t
#define STF_BEGIN(id, cls, name, kind) struct stf_##name {
#define STF_TIME(name) uint64_t name;
#define STF_FIELD(type, name, ref, dflt) STF_C_##type name;
#define STF_WILLY_FIELD(name) uint32_t name;
#define STF_SIZE(type, group, n) uint32_t size_##group##_##n;
#define STF_ARRAY(type, name, ref, dflt) const STF_C_##type *name;
#define STF_WILLY_ARRAY(name) const uint32_t *name;
#define STF_END(id, name) \
	} \
	;
#include "records.def"

/* One field of a record, for tools. */
struct stf_field {
	const char *name;
	enum stf_type type;
	uint8_t is_array;
	uint8_t is_size;   /* size_G_N: the number of arrays N that follow it; else 0 */
	uint8_t is_time;   /* absolute in views and structs, a difference on disk */
	uint8_t ref_class; /* enum stf_id of the class whose id this is, or STF_ID_void */
	uint64_t dflt;     /* bits of the default, for a trace that lacks the field */
};

/* One incarnation of one class. */
struct stf_layout {
	const char *name; /* "add_time_1" */
	const char *cls;  /* "add_time", the specifier */
	uint8_t id;
	uint8_t class_id; /* id of the class's first incarnation */
	uint8_t n_fields;
	enum stf_kind kind;
	const struct stf_field *fields;
};

/* The layout of id 1 to 74, else NULL. Static data. */
const struct stf_layout *stf_layout(unsigned id);

/* A field's value. Scalars: the bits in u, signed ones sign-extended, F4 and F8 as the bits of a
 * double. Arrays: count elements of the field's own C type (STF_C_...; willy_id: uint32_t) in host
 * order, followed by a zero byte, so that a C1 array is a C string. A time is absolute. */
struct stf_value {
	uint64_t u;
	const void *array;
	uint32_t count;
};

/* A record as the reader gives it; values[i] belongs to layout->fields[i]. */
struct stf_record {
	const struct stf_layout *layout;
	uint64_t time;   /* current time of the data file, after this record's; 0 outside data files */
	uint64_t offset; /* where in its file the record begins */
	uint64_t number; /* in its file, from 1 */
	uint32_t file;   /* file_declaration id of that file, 0 for the base file */
	const struct stf_value *values;
};

static inline double stf_value_double(const struct stf_value *v)
{
	double d;

	memcpy(&d, &v->u, sizeof(d));
	return d;
}

/* Value of a field by its name, NULL if this incarnation has none of that name. */
const struct stf_value *stf_value(const struct stf_record *r, const char *name);

/* int stf_get_counter_value(const struct stf_record *r, struct stf_counter_value *out): the typed struct
 * of a record of the same class; fields that r's incarnation lacks take their default, arrays
 * NULL. Arrays stay those of r. Returns 0, or -1 if r is of another class. */
#define STF_BEGIN(id, cls, name, kind) int stf_get_##name(const struct stf_record *r, struct stf_##name *out);
#include "records.def"

/* ---- writing --------------------------------------------------------------------------------- */

struct stf_writer;

struct stf_writer_options {
	size_t size;             /* sizeof(struct stf_writer_options), or 0 */
	double resolution;       /* seconds of one time-stamp unit, > 0 */
	uint32_t eventbits;      /* the clock's own tick is resolution x 2^eventbits; at most 63 */
	uint32_t procs_per_file; /* STF-PROCS-PER-FILE: at most so many processes share one .f.I .c.I ... file; 0: any
	                          * number. Of threads, if one process was declared before the first record */
	const uint32_t *node;    /* STF-USE-HW-STRUCTURE: node[i] is the number of the node of process i; only processes
	                          * of one node share files. n_node of them, others share one set. NULL: wherever they ran */
	uint32_t n_node;
	const uint32_t *
		group_home; /* group_home[id]: the process whose set has what belongs to that group. n_group_home of them;
	                          * UINT32_MAX, and groups that are not there: set 0. Both arrays are copied */
	uint32_t n_group_home;
	int force;            /* replace an existing trace (only once the new one is complete) */
	int big_endian;       /* for tests; traces are little-endian */
	const char *comment;  /* one line for the head of the base file, or NULL */
	int single;           /* STF_SINGLE_FILE or STF_SINGLE_FD: one file with all components; 0: several */
	int fd;               /* with STF_SINGLE_FD: where to, a pipe too; stays open. `path` then only says where
	                          * the components are kept until the end */
	int part;             /* not 0: of data files only, see stf_writer_finish_part() */
	int compress;         /* zstd level of the components, 1 to 19; 0: not compressed */
	uint64_t identity[2]; /* what tells this trace's files from those of another; both 0: random. Only for who must
	                          * write the same bytes again */
};

enum { STF_SINGLE_FILE = 1, STF_SINGLE_FD = 2 };

/* All as in an ordinary trace, but for the resolution, which must be given. */
static inline struct stf_writer_options stf_writer_options(void)
{
	struct stf_writer_options o;

	memset(&o, 0, sizeof(o));
	o.size = sizeof(o);
	return o;
}

/* Begins a trace whose base file is `path` (T.stf; the components are T.stf.dcl, T.stf.msg ...). All
 * is written under temporary names in the same directory and gets its names in stf_writer_finish().
 * Fails with STF_ERR_EXISTS if `path` or a component that is needed is there and force is not set.
 * Returns NULL and fills *err (never NULL itself). */
struct stf_writer *stf_writer_create(const char *path, const struct stf_writer_options *opt, struct stf_err *err);

/* Completes the trace, gives the files their names and frees w, whatever happens. [start, end] becomes
 * the duration record; start > end: the smallest and largest stamp that was written (a message's
 * end is its receive time). On failure no file of this trace is left. Returns 0 or -1. */
int stf_writer_finish(struct stf_writer *w, uint64_t start, uint64_t end, struct stf_err *err);

/* The number of the files that records of this thread or group go to, from 0. */
uint32_t stf_writer_set(const struct stf_writer *w, uint32_t willy);

/* Several writers of one trace at the same time, in threads, processes or on hosts that share the folder, each for the
 * process files of its own. All are created with the same path and options, all but one with `part` set. These take
 * data records only (and stf_writer_processes()), and end with stf_writer_finish_part(): it frees w and returns a text
 * for the one that completes the trace (freed by the caller with free()), or NULL and *err; then nothing is left. The
 * files keep temporary names until that one has taken in all texts and is finished. Two writers may not write
 * records of the same file. */
char *stf_writer_finish_part(struct stf_writer *w, struct stf_err *err);
/* Takes the files of a part in: they get their names or are removed with those of w. Returns 0, or -1: then they are
 * removed at once. */
int stf_writer_adopt(struct stf_writer *w, const char *part);
/* Removes the files of a part that is not wanted. */
void stf_part_discard(const char *part);

/* Gives up: removes what was written, frees w (NULL is allowed). */
void stf_writer_abort(struct stf_writer *w);

/* The last error of w; code STF_OK if there was none. STF_ERR_ARG and STF_ERR_STATE only reject the one
 * record; after any other error nothing is written any more and stf_writer_finish() fails with it. */
const struct stf_err *stf_writer_error(const struct stf_writer *w);

/* int stf_write_counter_value(struct stf_writer *w, const struct stf_counter_value *r), ... : appends one record
 * to the component where it belongs: data by category and willy, declarations, statistics, info.
 * Within one file records should come in the order of `time`; an earlier one is marked with sub_time.
 * process_declaration is allowed once. A declaration or info that refers to what was not declared is refused; data
 * records are not looked at. Records that the writer makes itself (time, anchors, histories,
 * files, duration, event_summary, clock_resolution) are refused. An array that is NULL though its size is not 0 is refused. Returns 0 or -1. */
#define STF_BEGIN(id, cls, name, kind) int stf_write_##name(struct stf_writer *w, const struct stf_##name *r);
#include "records.def"

/* The same from a view, of any incarnation: read one trace, write another. */
int stf_write_record(struct stf_writer *w, const struct stf_record *r);

/* Conveniences over the above. Ids are chosen above all that were used so far; 0 means failure. The
 * same text again gives the same string id. A class is named with its parents, "MPI:P2P"; `parent` is
 * the id of the outer class, 0: none. */
uint32_t stf_writer_string(struct stf_writer *w, const char *text);
uint32_t stf_writer_class(struct stf_writer *w, const char *name, uint32_t parent);
/* Processes 0 to n-1 with threads[i] threads each. */
int stf_writer_processes(struct stf_writer *w, const uint32_t *threads, uint32_t n);
/* willy_definition: gettimeofday() [s] = offset + tick x skew, tick of the willy's own, uncorrected clock. */
int stf_writer_willy(struct stf_writer *w, uint32_t willy, const char *hostname, const char *ip, uint32_t pid,
	uint64_t tid, double offset, double skew);
int stf_writer_willy_name(struct stf_writer *w, uint32_t willy, const char *name);
/* An info record of the index; the class is declared at its first use. The writer itself adds those of the
 * classes "integrity" (suffix, size and XXH3 of each component, see stf_reader_check()) and "late" (suffix, number and
 * largest distance of records that follow a later one), so such records of the caller are dropped. */
int stf_writer_info(struct stf_writer *w, const char *cls, const char *text);

/* ---- reading --------------------------------------------------------------------------------- */

struct stf_reader;
struct stf_cursor;

enum {
	STF_READ_DAMAGED = 1, /* open even if index or declarations are damaged: see stf_reader_fault() */
	STF_READ_REPAIR =
		16, /* with STF_READ_DAMAGED: a damaged line of the definition layer is a fault, and the layout of
	                          * this library takes its place */
	STF_READ_CHECK_REFS = 2, /* check every reference of data records too */
	STF_READ_VERIFY =
		8,        /* compare all that is read with the checksums that the index states. Damaged pieces are left
	                          * out, and named by stf_reader_damage(); a cursor ends in STF_ERR_CHECKSUM, after all other
	                          * records. Damaged declarations are a fault of stf_reader_open() (STF_READ_DAMAGED: those
	                          * that are not damaged are there). In builds without xxhash nothing is compared */
	STF_READ_MAP = 4, /* map data files instead of reading them into memory: up to a third faster. But if
	                          * somebody shortens a file that is mapped, or its disk fails, the program gets a SIGBUS,
	                          * which no library can turn into an error. Its length is looked at before each piece of
	                          * at most 8 MiB. Without this flag a file that becomes shorter ends in
	                          * STF_ERR_TRUNCATED, after the records that were still there */
};

/* Opens a trace by its base file; reads definition layer, index and declarations. Returns NULL and
 * fills *err. Strings and records that it hands out live until stf_reader_close(). */
struct stf_reader *stf_reader_open(const char *path, unsigned flags, struct stf_err *err);
/* The same from a descriptor that is open for reading. From a pipe or a socket a trace in a single file is read to its end
 * and kept in a temporary file below $TMPDIR that has no name; other traces are several files. `name` is for messages. The
 * descriptor stays open, and is the caller's. */
struct stf_reader *stf_reader_open_fd(int fd, const char *name, unsigned flags, struct stf_err *err);
void stf_reader_close(struct stf_reader *r);
/* With STF_READ_DAMAGED: the first fault of index or declarations; STF_OK if none. A declaration that refers to what was
 * not declared, or is there twice, is left out, and what refers to it. */
const struct stf_err *stf_reader_fault(const struct stf_reader *r);
/* How many there are, of which that is the first. */
uint64_t stf_reader_faults(const struct stf_reader *r);
/* Each of the first 64, i from 0; NULL past the last. */
const struct stf_err *stf_reader_fault_at(const struct stf_reader *r, size_t i);
/* The definition layer as the reader understands it, text that ends in "END\n"; freed by the caller with free(). NULL: no
 * memory. */
char *stf_reader_definitions(const struct stf_reader *r);
/* Records skipped so far because their specifier is unknown, by the reader and its cursors. */
uint64_t stf_reader_skipped(const struct stf_reader *r);
int stf_reader_is_big_endian(const struct stf_reader *r);

/* Index and declaration records of one class (stf_layout()->class_id), in file order; i from 0. */
size_t stf_reader_count(const struct stf_reader *r, unsigned class_id);
const struct stf_record *stf_reader_record(const struct stf_reader *r, unsigned class_id, size_t i);
/* The record of a class that declares `id`, or NULL. */
const struct stf_record *stf_reader_find(const struct stf_reader *r, unsigned class_id, uint32_t id);

/* Seconds of a time-stamp unit, event bits; -1 if the trace does not say. */
int stf_reader_clock(const struct stf_reader *r, double *resolution, uint32_t *eventbits);
int stf_reader_duration(const struct stf_reader *r, uint64_t *start, uint64_t *end);
/* Threads of each process; *n of them. */
const uint32_t *stf_reader_processes(const struct stf_reader *r, uint32_t *n);
/* A stf_string; NULL if not declared. */
const char *stf_reader_string(const struct stf_reader *r, uint32_t id);
/* Name of a function, class, counter, scope, communicator, group, collective operation ...; or NULL. */
const char *stf_reader_name(const struct stf_reader *r, unsigned class_id, uint32_t id);

struct stf_willy_info {
	uint32_t willy;
	const char *hostname, *ip, *name; /* NULL where the trace says nothing */
	uint32_t pid;
	uint64_t tid;
	double offset, skew;
	int defined; /* a willy_definition was there: pid, tid, offset, skew count */
};
/* Returns -1 if neither definition nor name of that willy is there. */
int stf_reader_willy(const struct stf_reader *r, uint32_t willy, struct stf_willy_info *out);
/* The i-th info record; -1 past the last. */
int stf_reader_info(const struct stf_reader *r, size_t i, const char **cls, const char **text);

/* A piece of a component that is not as it was written. */
struct stf_damage {
	uint32_t file;         /* file_declaration id of the component */
	const char *suffix;    /* lives until stf_reader_close() */
	uint64_t offset, size; /* bytes of the component, not compressed */
	uint64_t from, to;     /* of a data file: the current times at both ends */
	int left_out; /* 1: its records were not delivered. 0: any of them may be wrong, since the index states one checksum
	                        * for the whole component (older writers), or the file ends inside what has one */
};
/* With STF_READ_VERIFY: what the reader and its cursors found so far, i from 0. Returns 1, or 0 past the last. */
int stf_reader_damage(const struct stf_reader *r, size_t i, struct stf_damage *out);

/* What each file of a trace of Tickmark says of it in its first record. */
struct stf_identity {
	uint64_t id[2];    /* random, the same in all files that one writer made */
	double resolution; /* > 0 */
	uint32_t eventbits;
	int big_endian;
};
/* Of one component, compressed or not, without its base file. 1: *out; 0: it has none, as older writers make it; -1: it cannot
 * be read. */
int stf_component_identity(const char *path, struct stf_identity *out, struct stf_err *err);

enum stf_check_result {
	STF_CHECK_GOOD,
	STF_CHECK_UNKNOWN, /* nothing is stated, or this build has no xxhash */
	STF_CHECK_MISSING,
	STF_CHECK_SIZE,
	STF_CHECK_HASH,
};

/* One component compared with the size and checksum that the trace states. */
struct stf_check {
	char suffix[204];
	enum stf_check_result result;
	uint64_t size, hash;           /* found */
	uint64_t want_size, want_hash; /* stated */
};
/* Checks the i-th declared component, from 0. 1: *out says the result; 0: there are no more; -1: it could
 * not be read, *err says why. */
int stf_reader_check(struct stf_reader *r, size_t i, struct stf_check *out, struct stf_err *err);

/* Reads the records of one component by its suffix (".msg", ".dcl", ".msg.anc"), of the index (""), or
 * with NULL of all data files merged by time. In data files the time records are applied, not
 * delivered. The merge takes the earliest next record of all files (the first declared file among
 * equals); a record that was written late after a sub_time comes where it is in its file, without in_order. */
struct stf_cursor *stf_cursor_open(struct stf_reader *r, const char *suffix, struct stf_err *err);
/* 1: *rec is the next record, valid until the next call; 0: the end; -1: a fault, *err says where. A
 * fault in one file does not hide the others: a merge reports it after all other records. */
int stf_cursor_next(struct stf_cursor *c, const struct stf_record **rec, struct stf_err *err);
void stf_cursor_close(struct stf_cursor *c);

/* What a cursor is to deliver. All zero: everything, as stf_cursor_open(r, NULL, ...). */
struct stf_triplet {
	uint32_t first, last, stride; /* the willies first, first + stride, ... up to last; stride 0 counts as 1 */
};
struct stf_cursor_options {
	size_t size;                       /* sizeof(struct stf_cursor_options), or 0 */
	const char *suffix;                /* one component, NULL: all data files, merged */
	uint32_t categories;               /* of the bits 1 << STF_KIND_FUNC ... 1 << STF_KIND_OTHER; 0: all */
	const struct stf_triplet *willies; /* records of these willies, and those of no willy at all; a message is of
	                               * two. Groups are willies of their own. Copied */
	size_t n_willies;                  /* 0: all */
	int window;                        /* only records with from <= time <= to */
	uint64_t from, to;
	int state;    /* with window: first what was the case just before `from` */
	int in_order; /* by time also where a writer stepped back (sub_time); then counter samples come one by one */
};

static inline struct stf_cursor_options stf_cursor_options(void)
{
	struct stf_cursor_options o;

	memset(&o, 0, sizeof(o));
	o.size = sizeof(o);
	return o;
}

/* A window is found by bisection over the anchors, read once per reader and file; without them the files are
 * read from their start. `state` delivers first: begin_of_history; for each file counter_value (for each thread or
 * group the last value of each of its counters; the time is from - 1, not when they were sampled), counter_history
 * (the last value of each counter of which a trace that others wrote does not say the thread) and function_history
 * (the stack of each thread), if there are any; then, with times of their own, in their order, the messages,
 * collective operations, scopes and file operations under way; and end_of_history. Unless said otherwise record.time
 * is from. Records read in a window have number 0: what lies before was not counted.
 * A trace whose writer stepped back in time (sub_time) is read as far around the window as its `late` info
 * says, from end to end if it says nothing. At most 64 files are open at a time. */
struct stf_cursor *stf_cursor_open_with(struct stf_reader *r, const struct stf_cursor_options *o, struct stf_err *err);

/* Consecutive counter_value records with equally many counters each, where they lie in the file: not aligned,
 * so look at them with the functions below. Valid until the next call. */
struct stf_counter_batch {
	size_t n;                                        /* records, at least 1 */
	uint32_t k;                                      /* counters in each */
	uint32_t stride;                                 /* bytes from one record to the next */
	const uint64_t *times;                           /* [n], absolute */
	const unsigned char *willys, *values, *counters; /* of the first record */
	uint32_t file;                                   /* file_declaration id */
	uint64_t offset, number; /* of the first record, as in struct stf_record; record i begins at offset + i x stride
	                           * and has number + i, unless number is 0 */
};
static inline uint32_t stf_batch_willy(const struct stf_counter_batch *b, size_t i)
{
	uint32_t u;

	memcpy(&u, b->willys + i * b->stride, sizeof(u));
	return u;
}
static inline uint64_t stf_batch_value(const struct stf_counter_batch *b, size_t i, uint32_t j)
{
	uint64_t u;

	memcpy(&u, b->values + i * b->stride + (size_t)j * 8, sizeof(u));
	return u;
}
static inline uint32_t stf_batch_counter(const struct stf_counter_batch *b, size_t i, uint32_t j)
{
	uint32_t u;

	memcpy(&u, b->counters + i * b->stride + (size_t)j * 4, sizeof(u));
	return u;
}
/* The next counter samples of a cursor, in its order, any number at a time; records of other classes ahead
 * of them are passed over, a state too. Returns as stf_cursor_next(). */
int stf_cursor_counters(struct stf_cursor *c, struct stf_counter_batch *b, struct stf_err *err);
/* Everything, counter samples by batches: 2: *b, one or more samples; 1: *rec, a record of another class or of the
 * state; else as stf_cursor_next(). */
int stf_cursor_next_batch(
	struct stf_cursor *c, const struct stf_record **rec, struct stf_counter_batch *b, struct stf_err *err);

/* All samples of one counter of one thread or group. */
struct stf_series {
	uint32_t counter, willy;
	size_t n;
	uint64_t *times;  /* absolute, in time-stamp units */
	uint64_t *values; /* bits, of the type that counter_definition.type says */
};
/* The samples that a cursor with these options (NULL: everything) delivers, in its order; those of a state too. Returns 0,
 * or -1 and *err; what was read until then is in *out all the same. *out is freed with stf_series_free(). Takes 16 bytes of
 * memory a value, and as many again while it grows. */
int stf_read_series(struct stf_reader *r, const struct stf_cursor_options *o, struct stf_series **out, size_t *n,
	struct stf_err *err);
void stf_series_free(struct stf_series *s, size_t n);

/* ---- reading by call-backs ------------------------------------------------------------------- */

/* What to call for each record; NULL: nothing. Each call-back returns 0 to go on. The records live until it returns.
 * A class with several incarnations needs one only: a record whose own incarnation has none goes to that of the class
 * with the highest number that is there, its missing fields with their defaults, as stf_get_...() does. */
struct stf_callbacks {
	size_t size; /* sizeof(struct stf_callbacks), or 0 */
	/* counter samples by batches; if there, those of the data files do not come singly */
	int (*counters)(void *user, const struct stf_counter_batch *b);
	/* all records for which nothing else is there */
	int (*other)(void *user, const struct stf_record *r);
	/* int (*counter_value)(void *user, const struct stf_record *r, const struct stf_counter_value *v); ... */
#define STF_BEGIN(id, cls, name, kind) int (*name)(void *user, const struct stf_record *r, const struct stf_##name *v);
#include "records.def"
};

static inline struct stf_callbacks stf_callbacks(void)
{
	struct stf_callbacks o;

	memset(&o, 0, sizeof(o));
	o.size = sizeof(o);
	return o;
}

/* Calls back for all that a cursor with these options (NULL: everything) delivers, in its order. Returns 0 at the end, -1
 * at a fault, as stf_cursor_next() does, or what a call-back returned if that was not 0; then nothing more is read. */
int stf_reader_each(struct stf_reader *r, const struct stf_cursor_options *o, const struct stf_callbacks *cb,
	void *user, struct stf_err *err);

#ifdef __cplusplus
}
#endif

#endif
