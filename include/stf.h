/* SPDX-License-Identifier: BSD-3-Clause */
/* The STF library: writes STF 1.0 traces, and reads traces of any writer. doc/stf-format.md describes the bytes;
 * chapter 3 of the STF format description describes the records. The header is for C99 and C++11. Of Tickmark it
 * includes only the record table that is installed beside it. Once installed: #include <stf/stf.h>, `pkg-config
 * --cflags --libs tickmark-stf`. Names begin with stf_ or STF_.
 *
 * No function prints, exits or aborts, changes a signal or the locale, or starts a thread, and there are no
 * globals. Readers and writers share nothing. So any number of threads may each use a reader or writer of their
 * own at the same time, without a lock, even on the same trace. One reader with its cursors, or one writer, may
 * be used by one thread at a time only.
 *
 * Times are absolute, in time-stamp units; stf_writer_options.resolution is the length of a unit in seconds. A
 * willy is a thread, STF_WILLY(process, thread), or a group, which has bit 31 set. */
#ifndef STF_STF_H
#define STF_STF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version ---------------------------------------------------------------------------------- */

/* The version of this header. Releases with the same STF_VERSION_MAJOR stay compatible, in source and as a shared
 * library. */
#define STF_VERSION_MAJOR 0
#define STF_VERSION_MINOR 2
#define STF_VERSION_PATCH 0
#define STF_VERSION (STF_VERSION_MAJOR * 10000 + STF_VERSION_MINOR * 100 + STF_VERSION_PATCH)
#define STF_VERSION_TEXT "0.2.0"
/* The STF_VERSION of the library that is linked. */
int stf_version(void);

/* The structs of options begin with their size, so that later versions can add members. Callers must fill them
 * with stf_writer_options(), stf_cursor_options() and stf_callbacks(). A size of 0 means the members of version
 * 0.1. A call with an option that the library does not know yet fails with STF_ERR_ARG. Structs that the library
 * fills in never grow. */

/* ---- errors ---------------------------------------------------------------------------------- */

enum stf_code {
	STF_OK = 0,
	STF_ERR_ARG,    /* the caller's value is unusable, or does not fit its field */
	STF_ERR_STATE,  /* the call is not allowed now: the writer makes such a record itself, ... */
	STF_ERR_IO,     /* the system call failed (open, read, write, rename); the text ends with the reason */
	STF_ERR_EXISTS, /* would overwrite a file and force was not given */
	STF_ERR_NOMEM,
	STF_ERR_FORMAT,     /* damaged: an impossible size, id, time, name */
	STF_ERR_DEFINITION, /* damaged definition layer in the base file */
	STF_ERR_TRUNCATED,  /* the file ends inside a record */
	STF_ERR_REFERENCE,  /* refers to an id that was not declared, or declares an id twice */
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

/* STF_ID_counter_value = 22, ...: the ids that this library writes. STF_ID_void is no record. */
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

/* The component in which a record lives. The first eight are data files, and 1 << kind is their category bit. */
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

/* one_to_one_communication.receive_time is the receive stamp minus `time`, or one of these two values. With the
 * second one, `time` is the receive stamp. */
#define STF_RECEIVE_UNKNOWN INT64_MIN
#define STF_SEND_UNKNOWN (INT64_MIN + 1)

/* Bytes have 32 bits. The largest number in a message, an operation or a call on a file means "at least that many".
 * So does the largest but one in lw_statistics.bytes_sent, where the largest means "no message", and the largest of all
 * counts. */
#define STF_BYTES_AT_LEAST UINT32_MAX
#define STF_ROW_BYTES_AT_LEAST (UINT32_MAX - 1)
#define STF_COUNT_AT_LEAST UINT32_MAX

#define STF_WILLY(process, thread) ((0xffffu & (uint32_t)(process)) | (0x7fffu & (uint32_t)(thread)) << 16)
#define STF_GROUP(id) ((0x7fffffffu & (uint32_t)(id)) | 0x80000000u)
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

/* struct stf_counter_value { uint64_t time; uint32_t willy; uint32_t size_1_2; const uint64_t *values; const
 * uint32_t *counters; } and so on: one struct for each incarnation, with the fields of the table. The caller owns
 * arrays and strings; strings have a length and need no terminating zero. */
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

/* The description of one field of a record, for tools. */
struct stf_field {
	const char *name;
	enum stf_type type;
	uint8_t is_array;
	uint8_t is_size;   /* size_G_N: the number of arrays N that follow it; else 0 */
	uint8_t is_time;   /* absolute in views and structs, a difference on disk */
	uint8_t ref_class; /* enum stf_id of the class whose id this is, or STF_ID_void */
	uint64_t dflt;     /* bits of the default, for a trace that lacks the field */
};

/* The description of one incarnation of one class. */
struct stf_layout {
	const char *name; /* "add_time_1" */
	const char *cls;  /* "add_time", the specifier in the definition layer */
	uint8_t id;
	uint8_t class_id; /* id of the first incarnation of the class */
	uint8_t n_fields;
	enum stf_kind kind;
	const struct stf_field *fields;
};

/* The layout of ids 1 to 74, NULL for any other id. Static data. */
const struct stf_layout *stf_layout(unsigned id);

/* A field's value. For scalars, u has the bits: signed ones are sign-extended, F4 and F8 are the bits of a
 * double. For arrays, there are `count` elements of the field's own C type (STF_C_...; willy_id: uint32_t) in
 * host order. A zero byte follows, so that a C1 array is a C string. A time is absolute. */
struct stf_value {
	uint64_t u;
	const void *array;
	uint32_t count;
};

/* A record as the reader delivers it; values[i] belongs to layout->fields[i]. */
struct stf_record {
	const struct stf_layout *layout;
	uint64_t time;   /* current time of the data file, after this record's; 0 outside data files */
	uint64_t offset; /* offset of the record in its file */
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

/* The value of a field by its name; NULL if this incarnation has no such field. */
const struct stf_value *stf_value(const struct stf_record *r, const char *name);

/* int stf_get_counter_value(const struct stf_record *r, struct stf_counter_value *out): fills the typed struct
 * from a record of the same class. Fields that r's incarnation lacks get their default, arrays NULL. The arrays
 * still belong to r. Returns 0, or -1 if r is of another class. */
#define STF_BEGIN(id, cls, name, kind) int stf_get_##name(const struct stf_record *r, struct stf_##name *out);
#include "records.def"

/* ---- writing --------------------------------------------------------------------------------- */

struct stf_writer;

struct stf_writer_options {
	size_t size;        /* sizeof(struct stf_writer_options), or 0 */
	double resolution;  /* seconds of one time-stamp unit, > 0 */
	uint32_t eventbits; /* the clock's own tick is resolution x 2^eventbits; at most 63 */
	/* STF-PROCS-PER-FILE: at most so many processes share one .f.I .c.I ... file; 0: any number. If one
	 * process was declared before the first record, this counts threads */
	uint32_t procs_per_file;
	/* STF-USE-HW-STRUCTURE: node[i] is the number of the node of process i; only processes of one node share
	 * files. There are n_node elements; all other processes share one set. NULL: processes share files
	 * independently of their nodes. The array is copied */
	const uint32_t *node;
	uint32_t n_node;
	const uint32_t *
		group_home; /* group_home[id]: the process whose set has what belongs to that group. n_group_home of them;
	                          * UINT32_MAX, and groups that are not there: set 0. Both arrays are copied */
	uint32_t n_group_home;
	int force;           /* replace an existing trace (only once the new one is complete) */
	int big_endian;      /* for tests; traces are little-endian */
	const char *comment; /* one line for the head of the base file, or NULL */
	int single;          /* STF_SINGLE_FILE or STF_SINGLE_FD: one file with all components; 0: several */
	/* with STF_SINGLE_FD: the descriptor to write to, which may be a pipe; it stays open. Then `path` only
	 * says where the components are kept until the end */
	int fd;
	int part;     /* not 0: the writer only writes data files, see stf_writer_finish_part() */
	int compress; /* zstd level of the components, 1 to 19; 0: not compressed */
	/* distinguishes this trace's files from those of another trace; both 0: random. Set it only to write the
	 * same bytes again */
	uint64_t identity[2];
};

enum { STF_SINGLE_FILE = 1, STF_SINGLE_FD = 2 };

/* The options of an ordinary trace, with this resolution, which has no default. */
static inline struct stf_writer_options stf_writer_options(void)
{
	struct stf_writer_options o;

	memset(&o, 0, sizeof(o));
	o.size = sizeof(o);
	return o;
}

/* Is zstd there, so that a writer can have `compress`? */
int stf_can_compress(void);

/* Begins a trace whose base file is `path` (T.stf; the components are T.stf.dcl, T.stf.msg ...). All files are
 * written under temporary names in the same directory; stf_writer_finish() gives them their names. Fails with
 * STF_ERR_EXISTS if `path` or a component that is needed exists and force is not set. On failure returns NULL and
 * fills *err; err must not be NULL. */
struct stf_writer *stf_writer_create(const char *path, const struct stf_writer_options *opt, struct stf_err *err);

/* Completes the trace, gives the files their names and always frees w. [start, end] becomes the duration record.
 * With start > end, the smallest and largest stamps that were written are used (the end of a message is its
 * receive time). After a failure no file of this trace is left. Returns 0 or -1. */
int stf_writer_finish(struct stf_writer *w, uint64_t start, uint64_t end, struct stf_err *err);

/* The number, from 0, of the set of files to which records of this thread or group are written. */
uint32_t stf_writer_set(const struct stf_writer *w, uint32_t willy);

/* Several writers can write one trace at the same time: in threads, in processes, or on hosts that share the
 * folder. Each writes process files of its own. All are created with the same path and options, and all but one
 * with `part` set. These partial writers accept only data records (and stf_writer_processes()), and end with
 * stf_writer_finish_part(). It frees w and returns a text for the writer that completes the trace; the caller
 * frees the text with free(). On failure it returns NULL, sets *err and leaves no file. The files keep temporary
 * names until the completing writer has taken in all texts and is finished. Two writers must not write records of
 * the same file. */
char *stf_writer_finish_part(struct stf_writer *w, struct stf_err *err);
/* Takes the files of a part into the trace of w: they get their names, or are removed, together with those of w.
 * Returns 0 or -1; after -1 they are already removed. */
int stf_writer_adopt(struct stf_writer *w, const char *part);
/* Removes the files of a part that is not needed. */
void stf_part_discard(const char *part);

/* Abandons the trace: removes the files that were written, and frees w (NULL is allowed). */
void stf_writer_abort(struct stf_writer *w);

/* The last error of w; its code is STF_OK if there was none. STF_ERR_ARG and STF_ERR_STATE only reject the one
 * record. After any other error nothing more is written, and stf_writer_finish() fails with the same error. */
const struct stf_err *stf_writer_error(const struct stf_writer *w);

/* int stf_write_counter_value(struct stf_writer *w, const struct stf_counter_value *r), ...: appends one record
 * to the component where it belongs: data by category and willy, declarations, statistics, info. Within one file
 * records should come in the order of `time`; the writer marks an earlier one with sub_time. process_declaration
 * is allowed once. A declaration or info that refers to an undeclared id is refused; references of data records
 * are not checked. Records that the writer makes itself (time, anchors, histories, files, duration,
 * event_summary, clock_resolution) are refused. An array that is NULL although its size is not 0 is refused.
 * Returns 0 or -1. */
#define STF_BEGIN(id, cls, name, kind) int stf_write_##name(struct stf_writer *w, const struct stf_##name *r);
#include "records.def"

/* Writes a record from a view of any incarnation. It serves to read one trace and write another. */
int stf_write_record(struct stf_writer *w, const struct stf_record *r);

/* Shorter ways to make declarations. The ids are larger than all ids used so far; 0 means failure. The same text
 * always gets the same string id. A class is named with its parents, "MPI:P2P"; `parent` is the id of the outer
 * class, 0: none. */
uint32_t stf_writer_string(struct stf_writer *w, const char *text);
uint32_t stf_writer_class(struct stf_writer *w, const char *name, uint32_t parent);
/* Processes 0 to n-1 with threads[i] threads each. */
int stf_writer_processes(struct stf_writer *w, const uint32_t *threads, uint32_t n);
/* Writes a willy_definition: gettimeofday() [s] = offset + tick x skew, where tick is of the willy's own
 * uncorrected clock. */
int stf_writer_willy(struct stf_writer *w, uint32_t willy, const char *hostname, const char *ip, uint32_t pid,
	uint64_t tid, double offset, double skew);
int stf_writer_willy_name(struct stf_writer *w, uint32_t willy, const char *name);
/* Writes an info record of the index; its class is declared at the first use. The writer itself adds infos of the
 * classes "integrity" (suffix, size and XXH3 of each component, see stf_reader_check()) and "late" (suffix,
 * number and largest distance of records that follow a later one). So it drops such records of the caller. */
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

/* Opens a trace by its base file, and reads the definition layer, the index and the declarations. On failure
 * returns NULL and fills *err. Strings and records that the reader returns are valid until stf_reader_close(). */
struct stf_reader *stf_reader_open(const char *path, unsigned flags, struct stf_err *err);
/* Opens a trace from a descriptor that is open for reading. A single-file trace may come from a pipe or a socket:
 * it is read to its end and kept in a temporary file below $TMPDIR that has no name. Other traces consist of
 * several files and cannot. `name` is for messages. The descriptor stays open and belongs to the caller. */
struct stf_reader *stf_reader_open_fd(int fd, const char *name, unsigned flags, struct stf_err *err);
void stf_reader_close(struct stf_reader *r);
/* With STF_READ_DAMAGED: the first fault of the index or the declarations; STF_OK if none. A declaration that
 * refers to an undeclared id, or that occurs twice, is left out, and so is everything that refers to it. */
const struct stf_err *stf_reader_fault(const struct stf_reader *r);
/* The number of these faults, including the first. */
uint64_t stf_reader_faults(const struct stf_reader *r);
/* Each of the first 64 faults, i from 0; NULL after the last. */
const struct stf_err *stf_reader_fault_at(const struct stf_reader *r, size_t i);
/* The definition layer as the reader understands it: a text that ends in "END\n". The caller frees it with
 * free(). NULL: no memory. */
char *stf_reader_definitions(const struct stf_reader *r);
/* The number of records that the reader and its cursors skipped so far because their specifier is unknown. */
uint64_t stf_reader_skipped(const struct stf_reader *r);
int stf_reader_is_big_endian(const struct stf_reader *r);

/* The index and declaration records of one class (stf_layout()->class_id), in file order; i from 0. */
size_t stf_reader_count(const struct stf_reader *r, unsigned class_id);
const struct stf_record *stf_reader_record(const struct stf_reader *r, unsigned class_id, size_t i);
/* The record of a class that declares `id`, or NULL. */
const struct stf_record *stf_reader_find(const struct stf_reader *r, unsigned class_id, uint32_t id);

/* The seconds of a time-stamp unit, and the event bits; -1 if the trace does not say. */
int stf_reader_clock(const struct stf_reader *r, double *resolution, uint32_t *eventbits);
int stf_reader_duration(const struct stf_reader *r, uint64_t *start, uint64_t *end);
/* The number of threads of each process; *n is the number of processes. */
const uint32_t *stf_reader_processes(const struct stf_reader *r, uint32_t *n);
/* The text of a stf_string; NULL if not declared. */
const char *stf_reader_string(const struct stf_reader *r, uint32_t id);
/* The name of a function, class, counter, scope, communicator, group, collective operation ...; or NULL. */
const char *stf_reader_name(const struct stf_reader *r, unsigned class_id, uint32_t id);

struct stf_willy_info {
	uint32_t willy;
	const char *hostname, *ip, *name; /* NULL where the trace says nothing */
	uint32_t pid;
	uint64_t tid;
	double offset, skew;
	int defined; /* the willy has a willy_definition, so pid, tid, offset and skew are valid */
};
/* Returns -1 if the trace has neither a definition nor a name of that willy. */
int stf_reader_willy(const struct stf_reader *r, uint32_t willy, struct stf_willy_info *out);
/* The i-th info record; returns -1 after the last. */
int stf_reader_info(const struct stf_reader *r, size_t i, const char **cls, const char **text);

/* A stretch of time in which a bound of a process's clock holds: the text of infos of the class "clock-bound" is
 * "process P" and then stretches. Its stamps are off by at most `seconds` on the trace's time axis. */
struct stf_bound {
	uint64_t from;  /* valid from here to the next stretch's `from`, or to the end */
	double seconds; /* NaN: not known */
};
/* Reads the next stretch of such a text into *b. *text is the text after "process P", and is moved after the stretch.
 * Returns 0 if there is none, or if the text is not a stretch. */
int stf_bound_next(const char **text, struct stf_bound *b);

/* A piece of a component whose bytes are not those that were written. */
struct stf_damage {
	uint32_t file;         /* file_declaration id of the component */
	const char *suffix;    /* lives until stf_reader_close() */
	uint64_t offset, size; /* bytes of the component, not compressed */
	uint64_t from, to;     /* of a data file: the current times at both ends */
	/* 1: its records were not delivered. 0: any of them may be wrong, because the index states one checksum
	 * for the whole component (older writers), or because the file ends inside the piece that has a checksum */
	int left_out;
};
/* With STF_READ_VERIFY: the i-th damaged piece that the reader and its cursors found so far, i from 0. Returns 1,
 * or 0 after the last. */
int stf_reader_damage(const struct stf_reader *r, size_t i, struct stf_damage *out);

/* What each file of a Tickmark trace says about the trace in its first record. */
struct stf_identity {
	uint64_t id[2];    /* random, the same in all files that one writer made */
	double resolution; /* > 0 */
	uint32_t eventbits;
	int big_endian;
};
/* Reads it from one component, compressed or not, without the base file. Returns 1: *out is set; 0: the component
 * has none, because an older writer made it; -1: the component cannot be read. */
int stf_component_identity(const char *path, struct stf_identity *out, struct stf_err *err);

enum stf_check_result {
	STF_CHECK_GOOD,
	STF_CHECK_UNKNOWN, /* the trace states no checksum, or this build has no xxhash */
	STF_CHECK_MISSING,
	STF_CHECK_SIZE,
	STF_CHECK_HASH,
};

/* The result of comparing one component with the size and checksum that the trace states. */
struct stf_check {
	char suffix[204];
	enum stf_check_result result;
	uint64_t size, hash;           /* found */
	uint64_t want_size, want_hash; /* stated */
};
/* Checks the i-th declared component, i from 0. Returns 1: *out is the result; 0: there are no more; -1: the
 * component could not be read, and *err says why. */
int stf_reader_check(struct stf_reader *r, size_t i, struct stf_check *out, struct stf_err *err);

/* Reads the records of one component by its suffix (".msg", ".dcl", ".msg.anc"), of the index (""), or with NULL
 * of all data files merged by time. In data files the time records are applied and not delivered. The merge
 * always takes the earliest next record of all files; among equals that of the file declared first. A record that
 * was written late, after a sub_time, is delivered at its place in the file, unless in_order is set. */
struct stf_cursor *stf_cursor_open(struct stf_reader *r, const char *suffix, struct stf_err *err);
/* Returns 1: *rec is the next record, valid until the next call; 0: the end; -1: a fault, and *err says where. A
 * fault in one file does not hide the others: a merge reports it after all other records. */
int stf_cursor_next(struct stf_cursor *c, const struct stf_record **rec, struct stf_err *err);
void stf_cursor_close(struct stf_cursor *c);

/* What a cursor delivers. With all members zero it delivers everything, as does stf_cursor_open(r, NULL, ...). */
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
	int state; /* with window: deliver first the state just before `from` */
	/* sort by time also where a writer stepped back (sub_time); then counter samples come one by one */
	int in_order;
};

static inline struct stf_cursor_options stf_cursor_options(void)
{
	struct stf_cursor_options o;

	memset(&o, 0, sizeof(o));
	o.size = sizeof(o);
	return o;
}

/* The library finds a window by bisection over the anchors, which it reads once for each reader and file. Files
 * without anchors are read from their start.
 *
 * `state` first delivers these records: begin_of_history; for each file counter_value (for each thread or group
 * the last value of each of its counters; the time is from - 1, not the time of sampling), counter_history (the
 * last value of each counter whose thread is unknown, in traces of other writers) and function_history (the stack
 * of each thread), if there are any; then the messages, collective operations, scopes and file operations under
 * way, in their order and with their own times; and end_of_history. Unless said otherwise record.time is from.
 *
 * Records read in a window have number 0, because the records before the window were not counted. If the writer
 * stepped back in time (sub_time), the reader also reads the surroundings of the window, as far as the trace's
 * `late` info says. Without that info it reads from end to end. At most 64 files are open at a time. */
struct stf_cursor *stf_cursor_open_with(struct stf_reader *r, const struct stf_cursor_options *o, struct stf_err *err);

/* Consecutive counter_value records with the same number of counters, at their place in the file. They are not
 * aligned, so read them with the functions below. Valid until the next call. */
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
/* Returns the next counter samples of a cursor, in its order, as many as there are together. Records of other
 * classes before them are skipped, even those of a state. The return value is as that of stf_cursor_next(). */
int stf_cursor_counters(struct stf_cursor *c, struct stf_counter_batch *b, struct stf_err *err);
/* Delivers everything, with counter samples in batches. Returns 2: *b has one or more samples; 1: *rec is a
 * record of another class or of the state; else as stf_cursor_next(). */
int stf_cursor_next_batch(
	struct stf_cursor *c, const struct stf_record **rec, struct stf_counter_batch *b, struct stf_err *err);

/* All samples of one counter of one thread or group. */
struct stf_series {
	uint32_t counter, willy;
	size_t n;
	uint64_t *times;  /* absolute, in time-stamp units */
	uint64_t *values; /* bits, of the type that counter_definition.type says */
};
/* Collects the samples that a cursor with these options (NULL: everything) delivers, in its order, including
 * those of a state. Returns 0, or -1 and *err; *out then has the samples that were read before the error. The
 * caller frees *out with stf_series_free(). Takes 16 bytes of memory for each value, and as many again while the
 * arrays grow. */
int stf_read_series(struct stf_reader *r, const struct stf_cursor_options *o, struct stf_series **out, size_t *n,
	struct stf_err *err);
void stf_series_free(struct stf_series *s, size_t n);

/* A message whose both ends are in the trace. Times are absolute, in time-stamp units; scl and function 0: not recorded. */
struct stf_message {
	uint64_t sent, received;
	uint32_t sender, receiver; /* willies */
	uint32_t bytes, tag, communicator;
	uint32_t sender_scl, receiver_scl, sender_function, receiver_function;
	uint32_t unused;
};
/* All messages that a cursor with these options (NULL: everything) delivers, in its order; o->categories is not looked at. With a
 * window also those under way at its begin. *halves, unless NULL: messages of which only one end is in the trace. Returns 0, or -1
 * and *err; *out then has what was read before the error. The caller frees *out with stf_rows_free(). Takes 56 bytes for each,
 * and as many again while the array grows. */
int stf_read_messages(struct stf_reader *r, const struct stf_cursor_options *o, struct stf_message **out, size_t *n,
	uint64_t *halves, struct stf_err *err);

/* A call of a function. */
enum {
	STF_CALL_OPEN = 1,        /* the trace, or the window, ended in it: leave is that end */
	STF_CALL_BEGAN_BEFORE = 2 /* it began before the window: enter is the begin of the window */
};
struct stf_call {
	uint64_t enter, leave;
	uint32_t willy, function, scl;
	uint32_t depth; /* 0: not called by another function of the trace */
	uint32_t cut;   /* of the bits above */
	uint32_t unused;
};
/* The same for calls, in the order of their begin. Takes 40 bytes for each. */
int stf_read_calls(struct stf_reader *r, const struct stf_cursor_options *o, struct stf_call **out, size_t *n,
	struct stf_err *err);
void stf_rows_free(void *rows);

/* ---- reading by call-backs ------------------------------------------------------------------- */

/* The functions to call for each record; NULL: none. Each call-back returns 0 to go on. The records are valid
 * until it returns. A class with several incarnations needs only one call-back. If a record's own incarnation has
 * none, the record goes to the highest incarnation of its class that has one, with defaults for missing fields,
 * as in stf_get_...(). */
struct stf_callbacks {
	size_t size; /* sizeof(struct stf_callbacks), or 0 */
	/* takes counter samples in batches; if set, those of the data files are not delivered singly */
	int (*counters)(void *user, const struct stf_counter_batch *b);
	/* takes all records that have no other call-back */
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

/* Calls back for everything that a cursor with these options (NULL: everything) delivers, in its order. Returns 0
 * at the end, or -1 at a fault, as stf_cursor_next(). If a call-back returns something other than 0, it stops
 * reading and returns that value. */
int stf_reader_each(struct stf_reader *r, const struct stf_cursor_options *o, const struct stf_callbacks *cb,
	void *user, struct stf_err *err);

#ifdef __cplusplus
}
#endif

#endif
