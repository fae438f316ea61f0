/* SPDX-License-Identifier: BSD-3-Clause */
/* VT.h: the interface of the Intel Trace Collector (its 2019 guide, section 3.1) as Tickmark offers it.
 *
 * Programs that call VT_* compile with this header unchanged and link with one of
 *   -lVT      MPI programs: one corrected trace of all ranks
 *   -lVTcs    programs without MPI
 *   -lVTnull  the same calls, which do nothing
 * C99 and later, C++98 and later. No other header is needed. `man 3 VT` describes what a run records and the options.
 *
 * Units: stamps and times are seconds, sizes are bytes.
 * Results: VT_OK (0) or a negative VT_ErrorCode. Every call that returns a VT_ErrorCode can return
 *   VT_ERR_NOTINITIALIZED  before the collector has started, or after its end
 *   VT_ERR_NOMEMORY        out of memory: what was asked for is not recorded
 * and what its own comment names. A call that fails records nothing and changes nothing, unless its comment says otherwise.
 * Pointers: strings and arrays are copied before a call returns. A NULL where a result would be stored drops the result.
 * Handles: valid in the process that got them, in all its threads. The same name gives the same handle again.
 * Threads: every call may be made from any thread at any time, also before MPI_Init and after MPI_Finalize. The first call of a thread
 *   registers it with the lowest number that is free.
 * Signals: in a handler, a thread that is registered may call what records (VT_enter to VT_leave, VT_scopebegin, VT_scopeend,
 *   VT_countval, VT_log_*). What interrupted a VT_ call of
 *   the same thread is not recorded: VT_ERR_INVT, or the trace counts a lost record.
 *   Calls that define, register, start, end or flush take locks and must not be made in a handler.
 */
#ifndef VT_H
#define VT_H

/* API version, and the oldest one whose programs still compile and mean the same (3.1.2). */
#define VT_VERSION 4100
#define VT_VERSION_COMPATIBILITY 3000

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 3.1.2 General macros and errors ---- */

/* What nearly every call returns. Errors are negative, so that they are no time stamp either. */
typedef enum _VT_ErrorCode {
	VT_OK = 0,
	VT_ERR_NOLICENSE = -1,
	VT_ERR_NOTIMPLEMENTED = -2,
	VT_ERR_NOTINITIALIZED = -3, /* before the start or after the end of the collector */
	VT_ERR_BADREQUEST = -4,
	VT_ERR_BADSYMBOLID = -5,
	VT_ERR_BADSCLID = -6,
	VT_ERR_BADSCL = -7,
	VT_ERR_BADFORMAT = -8,
	VT_ERR_BADKIND = -9, /* a genre or target that does not exist */
	VT_ERR_NOMEMORY = -10,
	VT_ERR_BADFILE = -11,
	VT_ERR_FLUSH = -12,
	VT_ERR_BADARG = -13,
	VT_ERR_NOTHREADS = -14,
	VT_ERR_BADINDEX = -15, /* this thread number is taken */
	VT_ERR_COMM = -16,
	VT_ERR_INVT = -17,
	VT_ERR_IGNORE = -18
} VT_ErrorCode;

/* ---- 3.1.3 Initialization, termination and control ---- */

/* Called once, when VT_finalize or the end of the program begins (VT_setfinalizecallback); it may make any VT_ call. */
typedef void (*VT_Callback_t)(void);

/* Counter sampling (VT_countsetcallback): fills in up to ncounters counter handles and as many 8-byte values
 * (each of its counter's type, as for VT_countval) and returns how many; 0 or less: nothing now. It runs in
 * the thread that set it, inside the call that triggered it. VT_ calls made in it sample nothing; those that enter or leave a state,
 * register a thread or flush return VT_ERR_INVT. */
typedef int (*VT_CountCallback_t)(void *custom, int ncounters, int *handles, void *values);

/* What VT_getdescription can tell. */
enum VT_Description {
	VT_DESCRIPTION_LIB = 0,    /* "libVTnull, Tickmark 0.2.0": which library answers */
	VT_DESCRIPTION_VERSION = 1 /* "0.2.0" */
};

/* Starts the collector; in libVT also MPI, if the program has not started it. argc and argv may be NULL. The words from --itc-args to
 * --itc-args-end are read as options and taken out of them. VT_ERR_BADREQUEST: the collector has ended, or MPI has.
 * VT_ERR_BADFILE: no raw file can be made, so nothing is recorded. VT_ERR_COMM: MPI does not start. */
VT_ErrorCode VT_initialize(int *argc, char ***argv);
/* Ends the recording and writes the trace. In libVT all ranks must call it; it ends MPI if VT_initialize has started it. */
VT_ErrorCode VT_finalize(void);
/* The rank in MPI_COMM_WORLD; 0 without MPI. */
VT_ErrorCode VT_getrank(int *rank);
/* Gives the calling thread a number in the trace: thindex, or the lowest that is free if thindex is negative. VT_ERR_BADINDEX: the number
 * is taken, or too large. VT_ERR_BADARG: the thread has chosen another number before. The number of a thread that has ended is free again:
 * the totals of a thread's counters begin anew with each thread that takes it, and vtreport leaves such a step out of its rates. */
VT_ErrorCode VT_registerthread(int thindex);
/* Registers the calling thread as VT_registerthread does, and names it. VT_ERR_BADARG: the thread has another name already. */
VT_ErrorCode VT_registernamed(const char *threadname, int thindex);
/* Registers the calling thread as VT_registerthread does, and names it "P<rank> <threadname>". */
VT_ErrorCode VT_registerprefixed(const char *threadname, int thindex);
/* The number of the calling thread. */
VT_ErrorCode VT_getthrank(int *thrank);
/* Switches the recording of the calling thread on, unless the process is off for good (PROCESS no). Switched on and off as often as one
 * likes: the last call decides. */
void VT_traceon(void);
/* Switches the recording of the calling thread off. Statistics (STATISTICS) are still counted. */
void VT_traceoff(void);
/* Stores 0: the thread records; 1: it does not now; 2: it never will. */
VT_ErrorCode VT_tracestate(int *state);
/* Stores whether filters let the function through: 1 or 0. VT_ERR_BADSYMBOLID: there is no such handle. */
VT_ErrorCode VT_symstate(int statehandle, int *on);
/* Writes what the process has recorded to the disk, so that it survives a crash of the machine. A crash of the process loses nothing
 * anyway. It is recorded as function VT_API:TRACE_FLUSH. VT_ERR_FLUSH: the disk reported an error. */
VT_ErrorCode VT_flush(void);
/* A stamp in seconds since the collector started, for the calls below that take one. Compares with stamps of the same process only.
 * VT_ERR_NOTINITIALIZED, a negative number, if there is none. */
double VT_timestamp(void);
/* Seconds since 1970 at which the collector started, on the axis of VT_timeofday. */
double VT_timestart(void);
/* Seconds since 1970, now (gettimeofday). Its resolution is 1 us. */
double VT_timeofday(void);
/* Compares the clocks of all ranks. All ranks must call it. Nothing without MPI. VT_ERR_COMM: the ranks could not exchange messages, so this
 * session is missing; the reason is printed. */
VT_ErrorCode VT_timesync(void);
/* Sets the function that VT_finalize calls first; NULL: none. */
VT_ErrorCode VT_setfinalizecallback(VT_Callback_t callback);
/* A static string that describes the library, see VT_Description; NULL for another type. */
const char *VT_getdescription(int type);
/* Sets the function that gives counter values whenever counters are sampled in the calling thread; NULL: none. ncounters: the most that it
 * gives. VT_ERR_BADARG: not between 1 and 1048576. VT_ERR_INVT: called in the function itself. */
VT_ErrorCode VT_countsetcallback(VT_CountCallback_t callback, void *custom, int ncounters);
/* VT_VERSION of the library. */
int VT_version(void);

/* ---- 3.1.4 Source locations ---- */

#define VT_NOSCL 0 /* no source location */

/* Defines a line of a source file. VT_ERR_BADARG: file is NULL. */
VT_ErrorCode VT_scldef(const char *file, int line_nr, int *sclhandle);
/* Records the call stack at pc and stackframe as a location: `trace` levels after the first `skip`; -1 means those of PCTRACE. Stores
 * VT_NOSCL if there is no stack to follow. VT_ERR_BADARG: a number below -1. For the calling thread. */
VT_ErrorCode VT_sclstack(void *pc, void *stackframe, int skip, int trace, int *sclhandle);
/* The next state that the calling thread enters or leaves without a location has this one, or what it logs by VT_log_sendmsg, VT_log_recvmsg
 * or VT_log_op before; VT_NOSCL: none. VT_ERR_BADSCLID: there is no such handle. */
VT_ErrorCode VT_thisloc(int sclhandle);

/* ---- 3.1.5 Functions and regions ---- */

#define VT_NOCLASS 0 /* names without a class, which may be "Class:name" */
/* Numbers that a program chooses itself (VT_symdef) are below this. Not in the guide; programs that are
 * older than it use the name. */
#define VT_MAX_USERCODE 0x40000000

/* A state is a function or a region that a thread is in. States of a thread nest: the one that was entered last is left first. Each entry and
 * each exit is recorded with its stamp, and samples the counters of the thread and of the process, unless a filter or VT_traceoff
 * prevents it. Errors of all calls that enter: VT_ERR_BADSYMBOLID, VT_ERR_BADSCLID (there is no such handle). Errors of all calls
 * that leave: VT_ERR_BADREQUEST (no state of that kind, region or function, is innermost). */

/* Defines a class of functions; "A:B" is class B inside A. An empty name is VT_NOCLASS. */
VT_ErrorCode VT_classdef(const char *classname, int *classhandle);
/* Defines a function. VT_ERR_BADARG: no name, or no such class. */
VT_ErrorCode VT_funcdef(const char *symname, int classhandle, int *statehandle);
/* Gives a function the number statehandle, which the program chooses. Outdated: use VT_funcdef. VT_ERR_BADARG: the number stands for
 * another function, or is one that VT_funcdef gives: VT_MAX_USERCODE or more. */
VT_ErrorCode VT_symdef(int statehandle, const char *symname, const char *activity);
/* Enters a region. */
VT_ErrorCode VT_begin(int statehandle);
/* Enters a region, with the source location where. */
VT_ErrorCode VT_beginl(int statehandle, int sclhandle);
/* Leaves the region that was entered last; the handle is not read. */
VT_ErrorCode VT_end(int statehandle);
/* Leaves the region that was entered last, with the source location where. VT_ERR_BADSCLID: no such location; the region is left even so. */
VT_ErrorCode VT_endl(int statehandle, int sclhandle);
/* Enters a function, with the source location where (VT_NOSCL: none). */
VT_ErrorCode VT_enter(int statehandle, int sclhandle);
/* Leaves the function that was entered last; the location is not read. */
VT_ErrorCode VT_leave(int sclhandle);
/* Defines and enters the function `name`, whose classes are divided by '/' or ':'; *statehandle must be 0 the first time and is kept by the
 * caller. DETAILED-STATES says how many '/' count; *truncated is 1 if the name was cut there. VT_ERR_IGNORE: it was not entered, so it
 * must not be left. VT_ERR_BADARG: statehandle is NULL, or no name. */
VT_ErrorCode VT_enterstate(const char *name, int *statehandle, int *truncated);
/* Samples what a state change would sample, and records nothing else. */
VT_ErrorCode VT_wakeup(void);

/* ---- 3.1.6 Scopes ---- */

/* A scope is a piece of the run that need not nest with states or other scopes. Its begin and end are recorded with their stamps. */

/* Defines a scope, with the source locations where it begins and ends (VT_NOSCL: none). VT_ERR_BADARG: no name, or no such class.
 * VT_ERR_BADSCLID: no such location. */
VT_ErrorCode VT_scopedef(const char *scopename, int classhandle, int scl1, int scl2, int *scopehandle);
/* Begins a scope, and stores a number above 0 that tells this instance from others. VT_ERR_BADARG: no such scope. VT_ERR_BADSCLID: no such
 * location. */
VT_ErrorCode VT_scopebegin(int scopehandle, int scl, int *seqnr);
/* Ends an instance of a scope, also in another thread; with seqnr 0 the one that the calling thread began last. VT_ERR_BADREQUEST: it has not
 * begun. VT_ERR_BADARG: no such scope. VT_ERR_BADSCLID: no such location. */
VT_ErrorCode VT_scopeend(int scopehandle, int seqnr, int scl);

/* ---- 3.1.7 Groups of processes ---- */

enum VT_Group {
	VT_ME = 0x40000000,            /* the calling thread */
	VT_GROUP_THREAD = 0x40000001,  /* all threads: each has its own instance of a counter */
	VT_GROUP_PROCESS = 0x40000002, /* all processes: one instance each */
	VT_GROUP_CLUSTER = 0x40000003  /* all nodes: one instance each */
};

/* The id of a process by its rank, for VT_groupdef. VT_ERR_BADARG: there is no such rank. */
VT_ErrorCode VT_getprocid(int procindex, int *procid);
/* The id of a thread by its rank and number, which need not exist yet. VT_ERR_BADARG: there is no such rank, or the number is above 8191. */
VT_ErrorCode VT_getthreadid(int procindex, int thindex, int *threadid);
/* Defines a group of processes, threads and earlier groups. A counter can have it as its target. VT_ERR_BADARG: an id that does not exist. */
VT_ErrorCode VT_groupdef(const char *name, int n_members, int *ids, int *grouphandle);

/* ---- 3.1.8 Counters ---- */

/* A genre is one of each of the three, or-ed. Without a data format it is VT_COUNT_INTEGER64, without a
 * display kind VT_COUNT_ABSVAL, without a scope the time between two values has no meaning. */
enum VT_CountData {
	VT_COUNT_INTEGER = 0x1,   /* 64-bit integer in two 32-bit ones, the high half first */
	VT_COUNT_FLOAT = 0x2,     /* 64-bit float */
	VT_COUNT_INTEGER64 = 0x3, /* 64-bit integer */
	VT_COUNT_DATA = 0xf
};
enum VT_CountDisplay {
	VT_COUNT_ABSVAL = 0x100,
	VT_COUNT_RATE = 0x200, /* the first derivative is what to show */
	VT_COUNT_DISPLAY = 0xf00
};
enum VT_CountScope {
	VT_COUNT_VALID_BEFORE = 0x10,
	VT_COUNT_VALID_POINT = 0x20,
	VT_COUNT_VALID_AFTER = 0x30,
	VT_COUNT_VALID_SAMPLE = 0x40,
	VT_COUNT_SCOPE = 0xf0
};

/* Defines a counter of the program. target: the group that shares its values, one of VT_Group or of VT_groupdef. bounds: 16 bytes, lower and
 * upper bound in the counter's format, or NULL for none. unit: the unit of a value, like "bytes"; of a rate the unit of what is counted.
 * A counter that is defined again under its name gets its old handle; its class groups it and is no part of its name.
 * VT_ERR_BADKIND: a genre or target that does not exist. VT_ERR_BADARG: no name. */
VT_ErrorCode VT_countdef(const char *name, int classhandle, int genre, int target, const void *bounds, const char *unit,
	int *counterhandle);
/* Records values with one stamp, now; 8 bytes for each handle, in its counter's format. Also outside TIME-WINDOWS, but not after VT_traceoff.
 * VT_ERR_BADARG: a handle that does not exist, and the others are recorded; a negative number; or an array is NULL. */
VT_ErrorCode VT_countval(int ncounters, int *handles, void *values);

/* ---- 3.1.9 Communication events ---- */

enum _VT_CommIDs { VT_COMM_INVALID = -1, VT_COMM_WORLD = 0, VT_COMM_SELF = 1 };

enum _VT_OpTypes {
	VT_OP_INVALID = -1,
	VT_OP_BARRIER = 0,
	VT_OP_IBARRIER,
	VT_OP_BCAST,
	VT_OP_IBCAST,
	VT_OP_GATHER,
	VT_OP_IGATHER,
	VT_OP_GATHERV,
	VT_OP_IGATHERV,
	VT_OP_SCATTER,
	VT_OP_ISCATTER,
	VT_OP_SCATTERV,
	VT_OP_ISCATTERV,
	VT_OP_ALLGATHER,
	VT_OP_IALLGATHER,
	VT_OP_ALLGATHERV,
	VT_OP_IALLGATHERV,
	VT_OP_ALLTOALL,
	VT_OP_IALLTOALL,
	VT_OP_ALLTOALLV,
	VT_OP_IALLTOALLV,
	VT_OP_ALLTOALLW,
	VT_OP_IALLTOALLW,
	VT_OP_NEIGHBOR_ALLGATHER,
	VT_OP_INEIGHBOR_ALLGATHER,
	VT_OP_NEIGHBOR_ALLGATHERV,
	VT_OP_INEIGHBOR_ALLGATHERV,
	VT_OP_NEIGHBOR_ALLTOALL,
	VT_OP_INEIGHBOR_ALLTOALL,
	VT_OP_NEIGHBOR_ALLTOALLV,
	VT_OP_INEIGHBOR_ALLTOALLV,
	VT_OP_NEIGHBOR_ALLTOALLW,
	VT_OP_INEIGHBOR_ALLTOALLW,
	VT_OP_REDUCE,
	VT_OP_REDUCE_LOCAL,
	VT_OP_IREDUCE,
	VT_OP_ALLREDUCE,
	VT_OP_IALLREDUCE,
	VT_OP_REDUCE_SCATTER,
	VT_OP_REDUCE_SCATTER_BLOCK,
	VT_OP_IREDUCE_SCATTER,
	VT_OP_IREDUCE_SCATTER_BLOCK,
	VT_OP_SCAN,
	VT_OP_ISCAN,
	VT_OP_EXSCAN,
	VT_OP_IEXSCAN,
	VT_OP_COUNT /* number of the operations above */
};

/* Messages and collective operations that the program makes without MPI. They are recorded with their stamps, matched on the same
 * communicators as those of MPI (a send with the receive of the same tag and peer, in their order), and sample the counters like a state
 * change. Sizes (count, bsend, brecv) are bytes. commid: VT_COMM_WORLD, VT_COMM_SELF or one of VT_attach. Errors of all: VT_ERR_BADARG (no such
 * communicator, rank or operation, or a negative size), VT_ERR_BADSCLID. */

/* This rank sends to other_rank, now. */
VT_ErrorCode VT_log_sendmsg(int other_rank, int count, int tag, int commid, int sclhandle);
/* This rank receives from other_rank, now. */
VT_ErrorCode VT_log_recvmsg(int other_rank, int count, int tag, int commid, int sclhandle);
/* A whole message, sent at sendts (VT_timestamp) and received now. */
VT_ErrorCode VT_log_msgevent(
	int sender, int receiver, int count, int tag, int commid, double sendts, int sendscl, int recvscl);
/* This rank's part of an operation, from startts (VT_timestamp) to now. The n-th call of each rank on a communicator is one operation. root
 * is read where the operation has one. */
VT_ErrorCode VT_log_op(int opid, int commid, int root, int bsend, int brecv, double startts, int sclhandle);
/* A whole operation of ranks 0 to numprocs-1; the arrays have that many elements. It ends now. */
VT_ErrorCode VT_log_opevent(
	int opid, int commid, int root, int numprocs, int *bsend, int *brecv, double *startts, int sclhandle);
/* From here to VT_end_unordered the events of the calling thread may come in any order. They are brought into order in any case, so the
 * two calls need only be paired. */
VT_ErrorCode VT_begin_unordered(void);
/* The end of what VT_begin_unordered began. VT_ERR_BADREQUEST: that was not called in this thread. */
VT_ErrorCode VT_end_unordered(void);

/* ---- 3.1.10 Additional calls in libVTcs ---- */

/* For programs of a server and clients without MPI, on nodes that share a network. The server calls VT_serverinit, the program takes
 * the contact to the clients, each calls VT_clientinit with it, and VT_initialize then joins them to one job: one trace on corrected
 * time, with messages and operations between the ranks. Or the clients are started first, and their contacts go to VT_serverinit, or to
 * `VTserver CONTACT...`, which is rank 0 then. The trace is written when all have ended. */

/* From another thread: ends the wait of VT_initialize for the job, or of VT_attach, which then returns VT_ERR_COMM. VT_ERR_BADREQUEST: nothing
 * waits. */
VT_ErrorCode VT_abort(void);
/* Makes this process a client with rank procid: from 1, since the server is rank 0. *contact is S and the contact of the server, or S
 * and the word of `vtrun --contact`, then from 0. *contact NULL: this client is started before its server, and *contact becomes the
 * word that the server needs, without blanks, valid until VT_finalize; VT_initialize waits for the server, JOIN-WAIT at most.
 * *contact without S: this process was started by the one that has this contact, and procid, from 0, orders its children;
 * VT_initialize waits until the parent attaches it, JOIN-WAIT at most. In each case *contact becomes that of this process, for those that
 * it starts. VT_ERR_BADREQUEST: the collector runs already. VT_initialize returns VT_ERR_COMM if
 * the job cannot be joined. */
VT_ErrorCode VT_clientinit(int procid, const char *clientname, const char **contact);
/* Makes this process the server, rank 0, of numcontacts clients: those with these contacts, or if contacts is NULL, clients that will call
 * VT_clientinit with the server's. Sets *contact, which must be NULL before: a word without blanks, valid until VT_finalize. The word
 * is a secret: whoever has it can join. It starts a VTserver with the options of the environment. VT_ERR_BADARG: all contacts together must be
 * shorter than 128 KiB, which is about 1300 clients. VT_ERR_COMM: no network, or a
 * contact that nobody answers. */
VT_ErrorCode VT_serverinit(const char *servername, int numcontacts, const char *contacts[], const char **contact);
/* Waits until numchildren processes that this one has started are in VT_initialize; they got its contact without S (VT_clientinit). They
 * have a VT_COMM_WORLD of their own, and *childcomm has this process as rank 0 and the children after it, in the order of procid. Can be
 * called again for further children, and by children. The children get the next ranks of the job; where nobody has said how many ranks it has
 * (`vtrun --contact`), a client that comes later and wants one of these is refused. root must be 0, comm VT_COMM_SELF;
 * VT_ERR_NOTIMPLEMENTED: VT_COMM_WORLD. VT_ERR_COMM: they have not come within JOIN-WAIT, or two have one procid. VT_ERR_BADREQUEST: this process is in no job. */
VT_ErrorCode VT_attach(int root, int comm, int numchildren, int *childcomm);
/* Stores the communicator of this process, its parent and its siblings in *parentcomm; VT_COMM_INVALID: nobody has attached it. */
VT_ErrorCode VT_get_parent(int *parentcomm);

#ifdef __cplusplus
} /* extern "C" */

/* ---- 3.1.11 C++ ---- */

/* Defines a function on request and remembers its handle. The strings must stay where they are. */
class VT_FuncDef
{
      public:
	int m_handle; /* 0 if not defined yet */
	const char *m_symname;
	const char *m_classname;

	VT_FuncDef(const char *symname, const char *classname) : m_handle(0), m_symname(symname), m_classname(classname)
	{
	}

	/* The handle, 0 as long as there is none. */
	int GetHandle()
	{
		if (m_handle == 0) {
			int classhandle = VT_NOCLASS, handle = 0;

			if (m_classname) {
				VT_classdef(m_classname, &classhandle);
			}
			if (VT_funcdef(m_symname, classhandle, &handle) == VT_OK) {
				m_handle = handle;
			}
		}
		return m_handle;
	}
};

/* Defines a source location on request and remembers its handle. The string must stay where it is. */
class VT_SclDef
{
      public:
	int m_handle; /* 0 if not defined yet */
	const char *m_file;
	int m_line;

	VT_SclDef(const char *file, int line) : m_handle(0), m_file(file), m_line(line)
	{
	}

	/* The handle, 0 as long as there is none. */
	int GetHandle()
	{
		if (m_handle == 0) {
			int handle = 0;

			if (VT_scldef(m_file, m_line, &handle) == VT_OK) {
				m_handle = handle;
			}
		}
		return m_handle;
	}
};

#define VT_SCL_DEF_CXX(_sclvar) static VT_SclDef _sclvar(__FILE__, __LINE__)

/* Enters a function where it is created and leaves it where it is destroyed, also by an exception. */
class VT_Function
{
      public:
	VT_Function(const char *symname, const char *classname)
	{
		VT_FuncDef funcdef(symname, classname);

		m_in = VT_enter(funcdef.GetHandle(), VT_NOSCL) == VT_OK;
	}
	VT_Function(const char *symname, const char *classname, const char *file, int line)
	{
		VT_FuncDef funcdef(symname, classname);
		VT_SclDef scldef(file, line);

		m_in = VT_enter(funcdef.GetHandle(), scldef.GetHandle()) == VT_OK;
	}
	VT_Function(VT_FuncDef &funcdef)
	{
		m_in = VT_enter(funcdef.GetHandle(), VT_NOSCL) == VT_OK;
	}
	VT_Function(VT_FuncDef &funcdef, VT_SclDef &scldef)
	{
		m_in = VT_enter(funcdef.GetHandle(), scldef.GetHandle()) == VT_OK;
	}
	~VT_Function()
	{
		if (m_in) {
			VT_leave(VT_NOSCL);
		}
	}

      private:
	bool m_in; /* entered, so that every leave has its enter */

	VT_Function(const VT_Function &);
	VT_Function &operator=(const VT_Function &);
};

/* A region of a function; one instance can mark several, one after the other. */
class VT_Region
{
      public:
	VT_Region() : m_in(false)
	{
	}
	VT_Region(const char *symname, const char *classname) : m_in(false)
	{
		begin(symname, classname);
	}
	VT_Region(const char *symname, const char *classname, const char *file, int line) : m_in(false)
	{
		begin(symname, classname, file, line);
	}
	VT_Region(VT_FuncDef &funcdef) : m_in(false)
	{
		begin(funcdef);
	}
	VT_Region(VT_FuncDef &funcdef, VT_SclDef &scldef) : m_in(false)
	{
		begin(funcdef, scldef);
	}
	~VT_Region()
	{
		end();
	}

	void begin(const char *symname, const char *classname)
	{
		VT_FuncDef funcdef(symname, classname);

		begin(funcdef);
	}
	void begin(const char *symname, const char *classname, const char *file, int line)
	{
		VT_FuncDef funcdef(symname, classname);
		VT_SclDef scldef(file, line);

		begin(funcdef, scldef);
	}
	/* A region that is still open is left first. */
	void begin(VT_FuncDef &funcdef)
	{
		end();
		m_in = VT_begin(funcdef.GetHandle()) == VT_OK;
	}
	void begin(VT_FuncDef &funcdef, VT_SclDef &scldef)
	{
		end();
		m_in = VT_beginl(funcdef.GetHandle(), scldef.GetHandle()) == VT_OK;
	}
	/* Without an open region nothing happens. */
	void end()
	{
		if (m_in) {
			m_in = false;
			VT_end(0);
		}
	}
	void end(const char *file, int line)
	{
		VT_SclDef scldef(file, line);

		end(scldef);
	}
	void end(VT_SclDef &scldef)
	{
		if (m_in) {
			m_in = false;
			VT_endl(0, scldef.GetHandle());
		}
	}

      private:
	bool m_in;

	VT_Region(const VT_Region &);
	VT_Region &operator=(const VT_Region &);
};
#endif /* __cplusplus */

#endif
