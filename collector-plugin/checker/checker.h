/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of libVTmc share: one call of MPI under way, with its arguments as machine words, and what each file
 * does with it. libVTmc records nothing; with CHECK-TRACING libVT is loaded before it and calls its wrappers. */
#ifndef COLLECTOR_PLUGIN_CHECKER_CHECKER_H
#define COLLECTOR_PLUGIN_CHECKER_CHECKER_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VT_HIDDEN __attribute__((visibility("hidden")))

/* The macros of mpi/calls.def. */
enum vt_mc_sort {
	VT_MC_BY_HAND,
	VT_MC_CALL,
	VT_MC_OUTSIDE,
	VT_MC_LOOK,
	VT_MC_LOCAL,
	VT_MC_SET_ERRHANDLER,
	VT_MC_CALLBACK,
	VT_MC_GREQUEST_START,
	VT_MC_GREQUEST_COMPLETE,
	VT_MC_SEND,
	VT_MC_ISEND,
	VT_MC_SEND_INIT,
	VT_MC_RECV,
	VT_MC_IRECV,
	VT_MC_RECV_INIT,
	VT_MC_SENDRECV,
	VT_MC_SENDRECV_REPLACE,
	VT_MC_ISENDRECV,
	VT_MC_PARTITIONED,
	VT_MC_MPROBE,
	VT_MC_IMPROBE,
	VT_MC_MRECV,
	VT_MC_IMRECV,
	VT_MC_CANCEL,
	VT_MC_REQUEST_FREE,
	VT_MC_START,
	VT_MC_STARTALL,
	VT_MC_WAIT,
	VT_MC_TEST,
	VT_MC_WAITANY,
	VT_MC_TESTANY,
	VT_MC_WAITALL,
	VT_MC_TESTALL,
	VT_MC_WAITSOME,
	VT_MC_TESTSOME,
	VT_MC_COLL,
	VT_MC_COLL_I,
	VT_MC_COLL_INIT,
	VT_MC_NEWCOMM,
	VT_MC_GROUPCOMM,
	VT_MC_JOINED,
	VT_MC_COMM_FREE,
	VT_MC_COMM_NAME,
	VT_MC_IDUP,
	VT_MC_IO,
	VT_MC_IO_POSTED,
	VT_MC_FILE_OPEN,
	VT_MC_FILE_CLOSE,
	VT_MC_NEWWIN,
	VT_MC_WIN_FREE,
	VT_MC_RMA,
};

/* What an argument is, by its type. */
/* clang-format off */
enum vt_mc_kind {
	VT_MC_INT, VT_MC_LONG, VT_MC_POINTER, VT_MC_TEXT, VT_MC_COMM, VT_MC_TYPE,
	VT_MC_OP, VT_MC_REQUEST, VT_MC_WIN, VT_MC_GROUP, VT_MC_FILE, VT_MC_INFO,
	VT_MC_ERRHANDLER, VT_MC_MESSAGE, VT_MC_KINDS
};
/* clang-format on */

/* What an argument is for, by its name. Arguments of one role are found without a search. VT_MC_BUF: the only buffer of a call, or the
 * one that is sent. */
/* clang-format off */
enum vt_mc_role {
	VT_MC_BUF, VT_MC_COUNT, VT_MC_DATATYPE, VT_MC_RBUF, VT_MC_RCOUNT, VT_MC_RTYPE,
	VT_MC_DEST, VT_MC_SOURCE, VT_MC_TAG, VT_MC_RTAG, VT_MC_OF_COMM, VT_MC_ROOT_RANK,
	VT_MC_OPERATOR, VT_MC_OF_REQUEST, VT_MC_STATUS, VT_MC_OF_WIN, VT_MC_OF_GROUP, VT_MC_FRESH_COMM,
	VT_MC_OF_MESSAGE, VT_MC_FLAG, VT_MC_INDEX, VT_MC_OUTCOUNT, VT_MC_INDICES, VT_MC_N,
	VT_MC_ROLES
};
/* clang-format on */

enum { VT_MC_ARGUMENTS = 16, VT_MC_DEPTH = 8, VT_MC_TEXT_BYTES = 1600 };

/* A call of calls.def. `params` is the text of its parameters, from which the other members are made at its first use. */
struct vt_mc_function {
	const char *text, *params, *more; /* more: what follows the arguments in the table */
	enum vt_mc_sort sort;
	size_t length; /* of text */
	void *next;
	int frees, makes, gives_again; /* handles, to which its arguments point (objects.c) */
	int any_thread;                /* may call it at any time (calls/threads.c) */
	int meets, measure, fits;      /* all members make it together (collectives.c); see vt_mc_measure_learn() */
	int checked; /* some of its arguments are looked at: in the i-th, what check[i] says (parameters.c) */
	int ready, n;
	uint8_t check[VT_MC_ARGUMENTS];
	uint8_t kind[VT_MC_ARGUMENTS], pointer[VT_MC_ARGUMENTS], constant[VT_MC_ARGUMENTS];
	struct {
		const char *at;
		int length;
	} name[VT_MC_ARGUMENTS];
	int8_t at[VT_MC_ROLES]; /* index of the argument, or -1 */
};

/* Where the program made a call. */
struct vt_mc_place {
	const struct vt_mc_function *f;
	void *pc[VT_MC_DEPTH];
	int n;
};

/* The signature of a type: which basic types, in which order. Signatures are joined by a multiplication and an addition,
 * as in Langou et al., "Hash functions for datatype signatures in MPI" (the guide's appendix A). */
struct vt_mc_signature {
	uint64_t hash, power, n;
};

struct vt_mc_object;
struct vt_mc_pending;
struct vt_mc_wait;

struct vt_mc_call {
	struct vt_mc_function *f;
	uintptr_t *w;
	void *pc;
	int mute;    /* inside another call, outside MPI_Init and MPI_Finalize, or of any thread */
	int refused; /* an error was found and the call is not made */
	int done;    /* the call was made already, with the result rc */
	int counted; /* among the calls that threads are in */
	int reaches; /* it may need that others look at MPI (windows.c) */
	int rc;
	MPI_Status status;
	struct vt_mc_pending *sent, *received; /* what it transfers */
	uint32_t meeting;                      /* the number of its collective operation; 0: not compared */
	int64_t root_bytes; /* MPI_Bcast: what its root has sent, and the checksum of it; 0: unknown */
	uint64_t root_sum;
	int shown;                      /* other ranks see which ranks it waits for while MPI performs it */
	struct vt_mc_pending **request; /* requests that it may complete, as they were before it */
	size_t n;
	MPI_Status *statuses; /* those of the requests that it completed */
	/* from here on not set by its wrapper */
	struct vt_mc_pending *few[16];
	MPI_Status few_statuses[16];
};

#define VT_MC_HAS(k, role) ((k)->f->at[role] >= 0)
#define VT_MC_WORD(k, role) ((k)->w[(k)->f->at[role]])
#define VT_MC_NUMBER(k, role) ((int)VT_MC_WORD(k, role))

/* ---- arguments.c ---- */

VT_HIDDEN void vt_mc_learn(struct vt_mc_function *f);
VT_HIDDEN int vt_mc_name_is(const struct vt_mc_function *f, int i, const char *name);
/* "MPI_Send(buf=0x..., count=1, ...)" */
VT_HIDDEN char *vt_mc_print_call(const struct vt_mc_call *k, char *text, size_t size);
/* Is it the call of that name, without "MPI_"? The length of a constant tells most names apart. */
static inline int vt_mc_is(const struct vt_mc_call *k, const char *name)
{
	return k->f->length == 4 + strlen(name) && !memcmp(k->f->text + 4, name, k->f->length - 4);
}
/* The number of an argument that is a count, of whichever type. */
VT_HIDDEN long long vt_mc_count(const struct vt_mc_call *k, enum vt_mc_role role);

/* ---- frame.c: what each wrapper calls ---- */

/* Returns 1 if the call must not be made, because that was done or it was refused; k->rc has the result. */
VT_HIDDEN int vt_mc_before(struct vt_mc_call *k);
VT_HIDDEN int vt_mc_after(struct vt_mc_call *k, int rc);
VT_HIDDEN void *vt_mc_next(struct vt_mc_function *f, void *own);
VT_HIDDEN void vt_mc_prepare(struct vt_mc_function *f);
/* Where a call in Fortran was made that is under way, and its variable for a request; else NULL. */
extern VT_HIDDEN __thread void *vt_mc_fortran_pc, *vt_mc_fortran_request;
VT_HIDDEN void vt_mc_lock(void);
VT_HIDDEN void vt_mc_unlock(void);
/* May two threads call the two above at a time? Not between them. */
VT_HIDDEN void vt_mc_need_locks(int need);

/* ---- place.c ---- */

VT_HIDDEN void vt_mc_here(struct vt_mc_place *p, const struct vt_mc_call *k);
/* A place for another process of the same program, 0: it is not in the program itself; and its text there. stack: NULL, or
 * that of the call if it is known. */
VT_HIDDEN int vt_mc_in_program(const void *pc);
VT_HIDDEN uint64_t vt_mc_place_offset(const struct vt_mc_call *k, const struct vt_mc_place *stack);
VT_HIDDEN char *vt_mc_print_offset(uint64_t offset, char *text, size_t size);
VT_HIDDEN void vt_mc_print_frames(const struct vt_mc_place *p, const char *begin, char *text, size_t size);

/* Is this one of the first calls from that place of the program? Only those are held up without need. */
VT_HIDDEN int vt_mc_first_from(const void *pc);

/* ---- objects.c: handles ---- */

struct vt_mc_block {
	int64_t from, to;
};

struct vt_mc_object {
	enum vt_mc_kind kind;
	uintptr_t handle;
	int freed, predefined, committed;
	uint32_t again; /* times that MPI has given the handle and it was not freed, beside the first */
	struct vt_mc_place made;
	/* a type */
	int known; /* the members below were found */
	struct vt_mc_signature signature;
	uint64_t alike; /* the hash of its basic type if it has only one; else 0 */
	int64_t extent, true_lb, true_extent, bytes;
	struct vt_mc_block *block; /* the bytes of one element of it; NULL: too many to list */
	int n_blocks, doubled;     /* doubled: some of its bytes are in it more than once */
	/* a communicator, or that of a window */
	uint64_t id;
	int rank, size, remote, inter;
	int whole;  /* all members are in the segment, so what they do can be compared */
	int *world; /* ranks in MPI_COMM_WORLD of those who can be sent to */
	uint64_t *members;
	uint32_t creations, meetings;
	/* a window */
	struct vt_mc_epoch *epoch;
};

VT_HIDDEN void vt_mc_objects_begin(void);
/* At the first call of a function. */
VT_HIDDEN void vt_mc_objects_learn(struct vt_mc_function *f);
/* Those of a communicator, for a window or a file of it, which may live longer. */
VT_HIDDEN void vt_mc_members_copy(struct vt_mc_object *o, const struct vt_mc_object *comm);
VT_HIDDEN struct vt_mc_object *vt_mc_object(enum vt_mc_kind kind, uintptr_t handle);
VT_HIDDEN struct vt_mc_object *vt_mc_comm(MPI_Comm comm);
VT_HIDDEN struct vt_mc_object *vt_mc_type(MPI_Datatype type);
/* The window of the call, if its epochs are known; else NULL. */
VT_HIDDEN struct vt_mc_object *vt_mc_window(const struct vt_mc_call *k);
VT_HIDDEN int vt_mc_is_null(enum vt_mc_kind kind, uintptr_t handle);
VT_HIDDEN uintptr_t vt_mc_handle_at(enum vt_mc_kind kind, const void *at);
/* What the call will free; and, after it succeeded, what it made. */
VT_HIDDEN void vt_mc_objects_before(struct vt_mc_call *k);
VT_HIDDEN void vt_mc_objects_after(struct vt_mc_call *k);
VT_HIDDEN void vt_mc_comm_begins(struct vt_mc_pending *p, uintptr_t at);
VT_HIDDEN void vt_mc_comm_arrived(const struct vt_mc_pending *p);
VT_HIDDEN void vt_mc_message_matched(struct vt_mc_call *k);
VT_HIDDEN const struct vt_mc_object *vt_mc_object_next(enum vt_mc_kind kind, const struct vt_mc_object *o);
VT_HIDDEN const char *vt_mc_kind_name(enum vt_mc_kind kind);
VT_HIDDEN void vt_mc_handler(MPI_Comm comm);
/* The ranks that the n members of `group` have in `of`, MPI_UNDEFINED where they are not in it; to be freed. NULL: an error. */
VT_HIDDEN int *vt_mc_group_ranks(MPI_Group group, MPI_Group of, int *n);

/* ---- signature.c ---- */

/* Of struct vt_mc_block, for qsort(). */
VT_HIDDEN int vt_mc_compare_blocks(const void *a, const void *b);
VT_HIDDEN void vt_mc_type_learn(struct vt_mc_object *type);
VT_HIDDEN struct vt_mc_signature vt_mc_repeat(struct vt_mc_signature one, uint64_t times);
VT_HIDDEN struct vt_mc_signature vt_mc_join(struct vt_mc_signature a, struct vt_mc_signature b);
/* Of the first n basic types of `type` repeated. Returns 0 if that is not known. */
VT_HIDDEN int vt_mc_prefix(const struct vt_mc_object *type, uint64_t n, struct vt_mc_signature *out);
VT_HIDDEN int vt_mc_op_fits(MPI_Op op, MPI_Datatype type);
VT_HIDDEN const char *vt_mc_op_name(MPI_Op op);

/* ---- report.c ---- */

enum vt_mc_class {
#define CLASS(name, level, text) VT_MC_##name,
#include "collector-plugin/checker/classes.def"
#undef CLASS
	VT_MC_CLASSES
};

extern const struct vt_mc_class_of {
	int level;
	const char *name;
} vt_mc_class_of[VT_MC_CLASSES] VT_HIDDEN;
VT_HIDDEN void vt_mc_settings_begin(void);
VT_HIDDEN const char *vt_mc_option(const char *option);
/* The last pattern of CHECK that matches no class, or NULL. */
VT_HIDDEN const char *vt_mc_unknown_check(void);
VT_HIDDEN long long vt_mc_verbose(void);
VT_HIDDEN int vt_mc_on(enum vt_mc_class c);
VT_HIDDEN double vt_mc_timeout_s(void);
/* DEADLOCK-TIMEOUT in nanoseconds; 0: no limit. given: only if it was set. */
VT_HIDDEN int64_t vt_mc_idle_limit_ns(int given);
VT_HIDDEN long long vt_mc_limit(const char *option, long long otherwise);
/* CHECK-SUPPRESS. Returns 1, and counts it, if there is to be no report of this class that has these calls (settings/suppress.h). */
VT_HIDDEN int vt_mc_suppress(enum vt_mc_class c, const char *calls);
VT_HIDDEN void vt_mc_suppress_begin(void);
VT_HIDDEN void vt_mc_suppress_end(void);
VT_HIDDEN unsigned vt_mc_suppressed(void); /* how many, of this rank */
/* Another call that a report names: `what` is a text like "started by". */
struct vt_mc_involved {
	const char *what;
	const struct vt_mc_place *place;
};
/* Prints a report, and stops the process if that is the last one that it may have. k, other: NULL: none. Returns 0 if the report is
 * not wanted: then the call is right for the user, and is made. */
VT_HIDDEN int vt_mc_report(enum vt_mc_class c, const struct vt_mc_call *k, const struct vt_mc_involved *other,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* With lines of text after the description, each of which begins with a blank. */
VT_HIDDEN void vt_mc_report_lines(enum vt_mc_class c, const char *lines, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
VT_HIDDEN void vt_mc_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
VT_HIDDEN void vt_mc_summary(void);
extern int vt_mc_errors VT_HIDDEN; /* of this rank so far */

/* ---- calls/threads.c ---- */

/* The threads of the process are listed no more often. */
#define VT_MC_THREADS_NS INT64_C(50000000)
/* At the first call of a function. */
VT_HIDDEN void vt_mc_threads_learn(struct vt_mc_function *f);
VT_HIDDEN void vt_mc_threads_before_init(void);
VT_HIDDEN void vt_mc_threads_begin(void);
/* May another thread of this process call MPI while this one waits, or between two of its calls? With vt_mc_lock(). */
VT_HIDDEN int vt_mc_others_may_call(int between);
/* Can no thread go on, if those whose calls are in the list cannot? others: 1: other ranks may wake one. */
VT_HIDDEN int vt_mc_threads_wait(const struct vt_mc_wait *list, int *others);
VT_HIDDEN void vt_mc_thread_enters(struct vt_mc_call *k);
VT_HIDDEN void vt_mc_thread_leaves(const struct vt_mc_call *k);
/* The calling thread is none of the program's. Without vt_mc_lock(). */
VT_HIDDEN void vt_mc_threads_own(void);

/* ---- tracing.c: CHECK-TRACING ---- */

VT_HIDDEN void vt_mc_tracing_begin(void);
/* Where the program made the present call, whose wrapper here returns to pc: with libVT, that is not the program. */
VT_HIDDEN void *vt_mc_caller(void *pc);
/* Puts a report into the trace, if there is one. text: the description, and a line for each call. */
VT_HIDDEN void vt_mc_trace_report(enum vt_mc_class c, const char *level, const char *text);
/* This process is about to end because of its reports: that is none of its own mistakes. */
VT_HIDDEN void vt_mc_trace_stop(void);
/* Is it wanted, and nothing records? */
VT_HIDDEN int vt_mc_traces_nothing(void);

/* ---- shared.c: the segment that the ranks of a node share ---- */

enum {
	VT_MC_RANKS = 1024,
	VT_MC_BITS = VT_MC_RANKS / 64,
	VT_MC_MEETINGS = 2048,
	VT_MC_MESSAGES = 8192,
	VT_MC_PAIRS = 8192,
	VT_MC_CROWDED = 1024,
	VT_MC_ACCESSES = 4096,
	VT_MC_CHAINS = 512,
	VT_MC_SEEN = 128,
	VT_MC_IN_SHORT = 2
};
/* In place of the number of a meeting: a call on a window. */
#define VT_MC_EPOCH_CALL UINT32_MAX
enum vt_mc_state { VT_MC_ABSENT, VT_MC_RUNNING, VT_MC_BLOCKED, VT_MC_STOPPED, VT_MC_ENDED };

struct vt_mc_rank {
	int pid, state;
	uint32_t generation; /* changes with each change of what it waits for */
	uint32_t in_number;  /* MPI performs this operation of in_comm meanwhile; 0: it looks itself for what comes */
	uint64_t in_comm;
	int released; /* its send is not held any longer */
	int soft;     /* it waits only because its send is taken for a synchronous one */
	int looks;    /* in a loop of the program, which may end */
	int reaches;  /* operations on memory of others, or locks, are not complete */
	int64_t since_ns;
	/* it is in a call that only ranks of this job can end, since then, and which of them is unknown; 0: it is not */
	int64_t idle_ns;
	int64_t looked_ns;        /* when it last found that it still is */
	uint64_t all[VT_MC_BITS]; /* it goes on only if each of these does something */
	uint64_t any[VT_MC_BITS]; /* and one of these; empty: no such condition */
	uint32_t errors, warnings, suppressed, count[VT_MC_CLASSES];
	int named;       /* text is that of this call; VT_MC_IN_SHORT: without its place */
	int receive_tag; /* of the receive, on this communicator, that it waits in; 0: in none, or in several */
	uint64_t receive_comm;
	uint64_t offset; /* the place of the call; 0: not in the program */
	char function[40], text[VT_MC_TEXT_BYTES];
	uint64_t calls; /* changes with each one, apart from what others look at */
};

enum vt_mc_inter_root { VT_MC_NO_ROOT = 0, VT_MC_IS_ROOT = -1, VT_MC_BESIDE_ROOT = -2 };

/* What a member of a communicator does in its n-th collective operation. */
struct vt_mc_record {
	char name[40];
	int root;          /* -1: none */
	int inter_root;    /* of an intercommunicator: 1 + its rank in the job, or a value of enum vt_mc_inter_root */
	uint64_t op, same; /* same: a number made of other arguments that all must give; 0: there are none */
	int invalid, has_signature, unfit; /* unfit: the class if it does not send what it expects of itself; or 0 */
	struct vt_mc_signature signature;
	uint64_t place;
};

/* Do the members of a collective operation with a count for each other member send what the others expect? Each adds what it sends,
 * and takes away what it expects, under a number of the two ranks: what is left at the end does not fit. */
enum { VT_MC_FITS = 32 };

struct vt_mc_fit {
	uint64_t sender[VT_MC_FITS], receiver[VT_MC_FITS]; /* by rank, modulo VT_MC_FITS */
	uint64_t elements;                                 /* only the number of basic elements */
	int used, unknown;
};

struct vt_mc_meeting {
	int displaced; /* others whose place this is, and that are elsewhere */
	int used;      /* set anew for each one, as what follows up to `first` */
	uint64_t comm;
	uint32_t number;
	int size, arrived, left, first_rank;
	int bad, by_mpi; /* bad: 1 + class: the operations do not fit; by_mpi: a member needs MPI to perform it */
	/* of an intercommunicator: how many, and 1 + the rank that is it, and that the others give */
	int roots, root_at, root_named;
	int64_t root_bytes; /* as in struct vt_mc_call */
	uint64_t root_sum;
	uint64_t here[VT_MC_BITS];
	struct vt_mc_record first;
	struct vt_mc_fit fit; /* set by the first member that has one */
};

struct vt_mc_message {
	uint64_t comm, number; /* number 0: free */
	int from, to, tag;
	int next;
	int accepted;  /* the receiver has a receive, with a wildcard, for it */
	int elsewhere; /* MPI has not got it (any longer) */
	struct vt_mc_signature signature;
	uint64_t bytes, place, checksum;
	int summed; /* the checksum is that of its bytes */
	char name[24];
};

/* A window's origin and target. win 0: free. target VT_MC_RANKS: all of them, by MPI_Win_lock_all. */
struct vt_mc_pair {
	uint64_t win, since;      /* since: that lock of the job */
	int origin, target, held; /* held: 0, or the type of the lock */
	uint32_t posts, starts, completes;
	uint32_t exposure; /* of the last post: the number of the target's epoch */
};

/* An operation that is not complete, on bytes of a window. */
struct vt_mc_access {
	uint64_t win, epoch;
	int origin, target, next; /* next: 1 + index, 0: none */
	int summed;
	int brings; /* it brings data here, so that it is complete when they are */
	char kind;
	int64_t low, high;
	uint64_t checksum, place;
	char name[24];
};

struct vt_mc_seen {
	uint64_t hash;
	enum vt_mc_class class;
	int first;
	uint64_t ranks[VT_MC_BITS];
};

struct vt_mc_shared {
	volatile int lock, owner;
	_Alignas(64) int ranks, absent; /* in a line without the lock; absent: ranks of the job that are not here */
	int oversubscribed;             /* there are more ranks than processors here */
	int ending;                     /* 1 + the rank that ends the job */
	int verdict;                    /* a deadlock was reported */
	uint64_t messages;
	uint64_t untracked; /* messages that are not followed: there was no room, for example */
	int unordered; /* messages of a channel may have come in another order: some were cancelled, or threads send */
	int free_message;
	struct vt_mc_seen seen[VT_MC_SEEN];
	struct vt_mc_meeting meeting[VT_MC_MEETINGS];
	struct vt_mc_message message[VT_MC_MESSAGES];
	uint64_t locks, unmet[64]; /* locks that were given; communicators without meetings (meetings.c) */
	/* Windows some of whose pairs had no room, and how many members have freed them; win 0: free. */
	struct {
		uint64_t win;
		int left;
	} crowded[VT_MC_CROWDED];
	int n_crowded, all_crowded; /* all_crowded: there was no room for that either */
	struct vt_mc_pair pair[VT_MC_PAIRS];
	int free_access, accesses[VT_MC_CHAINS];
	struct vt_mc_access access[VT_MC_ACCESSES];
	int inbox[VT_MC_RANKS], inbox_end[VT_MC_RANKS]; /* 1 + index, 0: none */
	struct vt_mc_rank rank[];
};

extern struct vt_mc_shared *vt_mc_shared VT_HIDDEN;
extern int vt_mc_rank VT_HIDDEN;
/* Lets MPI go on, also with one-sided operations whose target this rank is. */
VT_HIDDEN void vt_mc_progress(void);
VT_HIDDEN void vt_mc_progress_end(void);

VT_HIDDEN void vt_mc_shared_begin(void);
VT_HIDDEN void vt_mc_shared_lock(void);
VT_HIDDEN void vt_mc_shared_unlock(void);
VT_HIDDEN int64_t vt_mc_now_ns(void);
static inline void vt_mc_set_bit(uint64_t *bits, int i)
{
	bits[i / 64] |= (uint64_t)1 << (i % 64);
}
static inline int vt_mc_has_bit(const uint64_t *bits, int i)
{
	return (int)(bits[i / 64] >> (i % 64) & 1);
}
static inline int vt_mc_has_no_bit(const uint64_t *bits)
{
	int i;

	for (i = 0; i < VT_MC_BITS && !bits[i]; i++) {
	}
	return i == VT_MC_BITS;
}
extern __thread int vt_mc_holds_lock VT_HIDDEN; /* the functions below need not take it */
/* Something that the rank may be waiting for has happened. With the lock. */
VT_HIDDEN void vt_mc_wake(int rank);

/* ---- messages.c ---- */

VT_HIDDEN uint64_t vt_mc_message_sent(struct vt_mc_pending *p);
VT_HIDDEN int vt_mc_message_waits(int at, uint64_t number);
VT_HIDDEN int vt_mc_message_find(const struct vt_mc_object *comm, int source, int tag);
VT_HIDDEN int vt_mc_message_received(struct vt_mc_call *k, struct vt_mc_pending *p, const MPI_Status *status, int rc);
VT_HIDDEN void vt_mc_message_probed(struct vt_mc_call *k);
VT_HIDDEN void vt_mc_message_back(struct vt_mc_pending *p);
VT_HIDDEN void vt_mc_messages_look(const struct vt_mc_object *comm, int wait);
VT_HIDDEN void vt_mc_messages_look_all(int wait);
VT_HIDDEN void vt_mc_report_pending(void);

/* ---- meetings.c: collective operations ---- */

/* The number of the meeting, or 0: it is not compared. */
VT_HIDDEN uint32_t vt_mc_meet(struct vt_mc_call *k, struct vt_mc_object *comm);
VT_HIDDEN void vt_mc_meeting_join(struct vt_mc_call *k, struct vt_mc_object *comm, int blocking);
/* k: NULL, or the blocking call: it gets what its root has sent, and is done if nothing is left for MPI. Returns 0 if it must not be made. */
VT_HIDDEN int vt_mc_meeting_leave(struct vt_mc_call *k, const struct vt_mc_object *comm, uint32_t number);
/* Adds the members that are missing; returns 0 if none is, -1 if the operations do not fit. */
VT_HIDDEN int vt_mc_meeting_missing(const struct vt_mc_object *comm, uint32_t number, uint64_t *missing);
/* Has a member, which has not left, nothing to wait for any longer? */
VT_HIDDEN int vt_mc_meeting_complete(const struct vt_mc_object *comm, uint32_t number);
VT_HIDDEN void vt_mc_meeting_before(struct vt_mc_call *k);
/* A rank that MPI holds in this operation waits for one rank less. With the lock. */
VT_HIDDEN void vt_mc_tell_arrival(struct vt_mc_rank *r, uint64_t comm, uint32_t number);
VT_HIDDEN void vt_mc_report_meetings(void);
VT_HIDDEN int vt_mc_finalize_meets(struct vt_mc_call *k);
/* Which counts the members compare; `fits`: one for each of them. */
VT_HIDDEN void vt_mc_measure_learn(struct vt_mc_function *f);
VT_HIDDEN void vt_mc_meetings_learn(struct vt_mc_function *f);

/* ---- vectors.c ---- */

/* What this member sends and expects. */
VT_HIDDEN void vt_mc_fit_fill(struct vt_mc_fit *fit, const struct vt_mc_call *k, const struct vt_mc_object *comm);
VT_HIDDEN void vt_mc_fit_add(struct vt_mc_fit *all, const struct vt_mc_fit *one);
/* When all have come. Returns the class of what does not fit, or -1. */
VT_HIDDEN int vt_mc_fit_judge(const struct vt_mc_fit *all);
/* "rank 1 sends rank 0" or, if that is not known, "one rank sends another" */
VT_HIDDEN void vt_mc_fit_describe(const struct vt_mc_fit *all, const struct vt_mc_object *c, char *text, size_t room);

/* ---- pending.c: requests and blocking transfers ---- */

enum vt_mc_transfer { VT_MC_SENDS = 1, VT_MC_RECEIVES, VT_MC_MEETS, VT_MC_OTHER };

/* There may be ten thousand of them, and memory is given in powers of 2. */
struct vt_mc_pending {
	MPI_Request handle;
	struct vt_mc_pending *next, *before; /* in the list of active ones, in the order of their starts */
	/* first byte, and the one after the last; equal: none. Beside `next`, since each transfer that begins looks at all others */
	int64_t low, high;
	enum vt_mc_transfer transfer;
	int held; /* how many calls wait for it; `ended`: it is not known any longer */
	signed char persistent, active, blocking, partitioned, cancelled, freed, standard, buffered, ended, claimed;
	signed char has_shown, told, summed, overlapped, readable;
	signed char writes, file, in_fortran; /* MPI may write into the buffer; a file is used; by Fortran */
	/* it makes the communicator `buffer`, or -1: one whose handle comes there; its number among its parent's is `number` */
	signed char makes;
	char access;      /* P, G, A: of MPI_Put, MPI_Get, MPI_Accumulate */
	int parts, ready; /* of MPI_Psend_init: how many, and how many of them are ready */
	int peer, tag;    /* as given */
	int message;      /* its index; -1: none */
	uint32_t meeting;
	struct vt_mc_object *comm, *type;
	uintptr_t buffer, request_at; /* the variable that got the handle; 0: not known, or it got another one */
	long long count;
	uint64_t checksum; /* of its bytes at the start */
	uint64_t shown;    /* of its bytes when the last call ended */
	struct vt_mc_place made, started;
	uint64_t started_offset, number;
	struct vt_mc_message got;
	struct vt_mc_pending *twin; /* the other buffer of the same operation */
	struct vt_mc_object *win;   /* of a one-sided operation */
	int target;
	int64_t place_there; /* its displacement, count and type */
	long long count_there;
	struct vt_mc_object *type_there;
};

VT_HIDDEN struct vt_mc_pending *vt_mc_pending_find(MPI_Request request);
VT_HIDDEN struct vt_mc_pending *vt_mc_pending_new(struct vt_mc_call *k, enum vt_mc_transfer transfer);
/* Takes the buffer, count and type of the call that it sends. */
VT_HIDDEN void vt_mc_pending_buffer(struct vt_mc_pending *p, struct vt_mc_call *k);
VT_HIDDEN void vt_mc_pending_start(struct vt_mc_call *k, struct vt_mc_pending *p);
VT_HIDDEN void vt_mc_pending_end(struct vt_mc_call *k, struct vt_mc_pending *p, const MPI_Status *status, int rc);
VT_HIDDEN void vt_mc_pending_drop(struct vt_mc_pending *p);
/* Returns 0 if vt_mc_is_over(): p is then out of the lists, and may be gone. */
VT_HIDDEN int vt_mc_pending_lives(struct vt_mc_pending *p);
/* The memory of transfers with this type is not followed any longer. */
VT_HIDDEN void vt_mc_pending_lose(const struct vt_mc_object *type);
/* Before and after calls about requests. */
VT_HIDDEN void vt_mc_requests_before(struct vt_mc_call *k);
VT_HIDDEN void vt_mc_requests_after(struct vt_mc_call *k);
/* Without anything else, where the call was refused. */
VT_HIDDEN void vt_mc_requests_release(struct vt_mc_call *k);
VT_HIDDEN struct vt_mc_pending *vt_mc_pending_known(void **at);
/* In checker.c: those under way, in the order of their starts. */
extern struct vt_mc_pending vt_mc_active VT_HIDDEN; /* the begin and the end of the list */
static inline struct vt_mc_pending *vt_mc_active_next(const struct vt_mc_pending *p)
{
	p = p ? p->next : vt_mc_active.next;
	return p == &vt_mc_active ? NULL : (struct vt_mc_pending *)(uintptr_t)p;
}
VT_HIDDEN void vt_mc_active_add(struct vt_mc_pending *p);
VT_HIDDEN void vt_mc_active_take(struct vt_mc_pending *p);
/* Are there so many that their messages are not told apart? */
VT_HIDDEN int vt_mc_pending_many(void);
/* In waits/stale.c. Memory of a GPU may be given to MPI, but cannot be read here. Looks at the first and the last byte. */
VT_HIDDEN int vt_mc_is_readable(int64_t low, int64_t high);
VT_HIDDEN int vt_mc_is_unmapped(int64_t at);
VT_HIDDEN void vt_mc_request_learn(void);
/* May a handle that no call has given here be one that MPI has given elsewhere, and is it one of a request? */
VT_HIDDEN int vt_mc_may_be(enum vt_mc_kind kind, uintptr_t handle);
VT_HIDDEN int vt_mc_is_request(uintptr_t handle);
/* Is a transfer over without a call that was seen here, as by PMPI_Wait() of a library? */
VT_HIDDEN int vt_mc_is_over(const struct vt_mc_pending *p);
/* There too: refuses a call whose i-th request is none; MPI_Start of this one; reports what is wrong with MPI_Request_free of one. */
VT_HIDDEN void vt_mc_refuse_stale(struct vt_mc_call *k, size_t i);
VT_HIDDEN void vt_mc_refuse_start(struct vt_mc_call *k, const struct vt_mc_pending *p);
VT_HIDDEN void vt_mc_check_free(struct vt_mc_call *k, const struct vt_mc_pending *p, MPI_Request request);
/* In buffers.c: the range of its buffer, for transfers. */
VT_HIDDEN void vt_mc_set_range(struct vt_mc_pending *p);
/* Claims, in the order of posting, the messages that have come for receives. */
VT_HIDDEN void vt_mc_pending_claim(void);

/* ---- bsend.c ---- */

/* Is there room for the message? After it was announced. */
VT_HIDDEN void vt_mc_bsend_begins(struct vt_mc_call *k, const struct vt_mc_pending *p);
VT_HIDDEN void vt_mc_bsend_after(const struct vt_mc_call *k);

/* ---- buffers.c ---- */

/* The arguments that say what one side of a collective operation is, and how often the count is in its buffer. */
struct vt_mc_side {
	enum vt_mc_role buffer, count, type;
	int times;
};
/* Not of an intercommunicator or of neighbours. */
VT_HIDDEN void vt_mc_buffer_sides(
	const struct vt_mc_call *k, const struct vt_mc_object *c, struct vt_mc_side *sent, struct vt_mc_side *taken);
/* Before a call: is its memory there, and are its own buffers apart? Refuses it if there is none. */
VT_HIDDEN void vt_mc_buffers_of_call(struct vt_mc_call *k);
/* Have two transfers, whose ranges of bytes meet, bytes in common? */
VT_HIDDEN int vt_mc_share_bytes(const struct vt_mc_pending *p, const struct vt_mc_pending *q);
/* Checks the memory of a transfer that begins against those under way. */
VT_HIDDEN void vt_mc_buffer_begins(struct vt_mc_call *k, struct vt_mc_pending *p);
/* The receive has taken the message that it is thought to have taken: are its bytes those that were sent? */
VT_HIDDEN void vt_mc_buffer_received(struct vt_mc_call *k, struct vt_mc_pending *p, const MPI_Status *status);
/* The bytes of the buffer of MPI_Bcast, and their checksum; 0: they are not compared. */
VT_HIDDEN int64_t vt_mc_bcast_sum(const struct vt_mc_call *k, uint64_t *sum);
/* Has this member got what the root had? */
VT_HIDDEN void vt_mc_bcast_received(const struct vt_mc_call *k);
VT_HIDDEN void vt_mc_buffer_ends(struct vt_mc_call *k, struct vt_mc_pending *p);
/* The program runs between these two: no buffer that MPI uses may change there. */
VT_HIDDEN void vt_mc_buffers_show(void);
VT_HIDDEN void vt_mc_buffers_compare(struct vt_mc_call *k);

/* ---- parameters.c ---- */

/* Has the argument no meaning at this rank, or in place? */
VT_HIDDEN int vt_mc_is_unused(const struct vt_mc_call *k, int i);
VT_HIDDEN void vt_mc_parameters_learn(struct vt_mc_function *f);
/* Returns the class of the error, or VT_MC_CLASSES: none. */
VT_HIDDEN int vt_mc_parameters_wrong(struct vt_mc_call *k, char *why, size_t size);

/* ---- waiting.c: calls that wait, made so that this process sees what it waits for ---- */

struct vt_mc_wait {
	struct vt_mc_call *k;
	int64_t began_ns, shown_ns, judged_ns;
	unsigned turns;
	int named;
	uint64_t all[VT_MC_BITS], any[VT_MC_BITS], receive_comm;
	int has_any, unknown, soft;
	int idle;                        /* what is unknown can come from ranks of this job only */
	int outside;                     /* but may also come from elsewhere, or from the program itself */
	int receives, receive_tag;       /* how many receives; tag and communicator of the last one */
	const struct vt_mc_object *comm; /* of a collective operation, with its number */
	uint32_t number;
	/* of one thread of several: */
	int task, looks; /* looks: the program itself waits, in a loop */
	void (*needs)(struct vt_mc_wait *w);
	struct vt_mc_wait *next;
};

VT_HIDDEN void vt_mc_wait_begin(struct vt_mc_wait *w, struct vt_mc_call *k);
/* One more turn in which nothing came. needs: adds what is waited for to w. */
VT_HIDDEN void vt_mc_wait_turn(struct vt_mc_wait *w, void (*needs)(struct vt_mc_wait *w));
VT_HIDDEN void vt_mc_wait_end(struct vt_mc_wait *w);
/* Instead: MPI performs the call, and may wait in it for what `needs` adds. Others may judge that. vt_mc_wait_over() ends it. */
VT_HIDDEN void vt_mc_wait_in_mpi(
	struct vt_mc_wait *w, void (*needs)(struct vt_mc_wait *w), uint64_t comm, uint32_t number);
VT_HIDDEN void vt_mc_wait_over(void);
/* Shows again what such a call waits for. */
VT_HIDDEN void vt_mc_show_in_mpi(struct vt_mc_wait *w, void (*needs)(struct vt_mc_wait *w));
VT_HIDDEN void vt_mc_needs_pending(struct vt_mc_wait *w, const struct vt_mc_pending *p, int one_of_many);
VT_HIDDEN void vt_mc_needs_members(struct vt_mc_wait *w, const struct vt_mc_object *comm, int source);
/* Makes a call that waits. Returns 1 if k->rc is its result. */
VT_HIDDEN int vt_mc_perform(struct vt_mc_call *k);

/* ---- deadlock.c ---- */

/* A rank that has not looked for so long is not waiting, or was stopped meanwhile. */
#define VT_MC_LOOKED_NS INT64_C(5000000000)
/* Looks for ranks that wait for each other. Returns 1 if the caller is one of them only by a send that MPI has buffered, so
 * that it goes on. */
VT_HIDDEN int vt_mc_judge(int soft);
/* In shared.c: with the lock, the ranks that wait for each other for ever. Returns how many. */
VT_HIDDEN int vt_mc_find_stuck(uint64_t *stuck);
/* Can no other rank go on without this one? */
VT_HIDDEN int vt_mc_all_others_stuck(void);

/* ---- windows.c ---- */

/* What the program has begun on a window and not ended. */
struct vt_mc_epoch {
	int fence;       /* 1: a fence was made, and none with MPI_MODE_NOSUCCEED after it */
	uint32_t fences; /* how many were made */
	int used;        /* operations since the last fence */
	int started;     /* MPI_Win_start */
	int posted;      /* MPI_Win_post */
	int lock_all;
	int locks; /* number of targets in `locked` */
	/* [remote]; NULL: none, or unknown */
	unsigned char *locked;  /* the type of the lock */
	unsigned char *targets; /* of the last MPI_Win_start */
	unsigned char *origins; /* of the last MPI_Win_post */
	int64_t *units;         /* the unit of displacements; 0: not known yet */
	uint32_t exposures;     /* calls of MPI_Win_post */
	int accessed;           /* operations are known to the others (waits/races.c) */
};

VT_HIDDEN void vt_mc_window_before(struct vt_mc_call *k);
VT_HIDDEN void vt_mc_window_after(struct vt_mc_call *k);
/* Also after one that was refused, or has failed. */
VT_HIDDEN void vt_mc_window_leaves(const struct vt_mc_call *k);

/* ---- waits/races.c ---- */

/* An operation on the window has begun, p: NULL, or its memory here; those to the target, -1: all, are complete there, or here. */
VT_HIDDEN void vt_mc_race_begins(struct vt_mc_call *k, const struct vt_mc_object *win, const struct vt_mc_pending *p);
VT_HIDDEN void vt_mc_race_ends(const struct vt_mc_object *win, int target, int local);
/* All members are in MPI_Win_free. */
VT_HIDDEN void vt_mc_race_forget(const struct vt_mc_call *k);
/* Before a receive: may it take messages of several ranks? */
VT_HIDDEN void vt_mc_message_race(struct vt_mc_call *k);

/* ---- waits/ ---- */

/* Before each call: another one than that in a loop of the program ends the wait that the loop was taken for. */
VT_HIDDEN void vt_mc_leave_loop(const struct vt_mc_call *k);
/* After a call that looks whether something has come. */
VT_HIDDEN void vt_mc_poll_ends(struct vt_mc_call *k, int found, void (*needs)(struct vt_mc_wait *w));

/* Each member tells the unit of its displacements before a window is made, and gets that of a target; 0: not known. */
VT_HIDDEN void vt_mc_epoch_expose(uint64_t win, int64_t unit);
VT_HIDDEN int64_t vt_mc_epoch_unit(const struct vt_mc_object *win, int target);
/* The number of the target's epoch that MPI_Win_start of this rank has met; 0: not known. */
VT_HIDDEN uint32_t vt_mc_epoch_exposure(const struct vt_mc_object *win, int target);

/* The ranks of a group in the job. Returns how many; 0: not all of them are in the segment. */
VT_HIDDEN int vt_mc_group_members(MPI_Group group, uint64_t *members);
/* MPI_Comm_create_group and MPI_Intercomm_create wait for all that take part. */
VT_HIDDEN void vt_mc_parties_meet(struct vt_mc_call *k);
VT_HIDDEN void vt_mc_epoch_before(struct vt_mc_call *k);
VT_HIDDEN void vt_mc_epoch_after(const struct vt_mc_call *k);
VT_HIDDEN void vt_mc_needs_origins(struct vt_mc_wait *w);
/* MPI performs the call from here to vt_mc_watch_end(), and may wait in it. */
VT_HIDDEN void vt_mc_watch_begin(struct vt_mc_call *k, void (*needs)(struct vt_mc_wait *w), uint64_t comm);
VT_HIDDEN void vt_mc_watch_end(const struct vt_mc_call *k);

/* ---- stop.c: the end of the job; option: of which the limit is reached, or NULL ---- */

extern int vt_mc_over VT_HIDDEN, vt_mc_stopping VT_HIDDEN;
VT_HIDDEN void vt_mc_stop(const char *option, long long limit) __attribute__((noreturn));

/* ---- checker.c ---- */

extern int vt_mc_running VT_HIDDEN;           /* between MPI_Init and MPI_Finalize */
extern __thread int vt_mc_is_watch VT_HIDDEN; /* this thread is none of the program (waits/watch.c) */
extern int vt_mc_several_threads VT_HIDDEN;   /* have called MPI, and may do so at a time */
/* MPI has given the handle of this type, which was freed, to another one. */
extern void (*vt_mc_type_again)(const struct vt_mc_object *type) VT_HIDDEN;

#endif
