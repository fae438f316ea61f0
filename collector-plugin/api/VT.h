/* SPDX-License-Identifier: BSD-3-Clause */
/* VT.h: the interface of the Intel Trace Collector (its 2019 guide, section 3.1) as Tickmark offers it.
 *
 * Programs that call VT_* compile with this header unchanged and link with one of
 *   -lVT      MPI programs: one corrected trace of all ranks
 *   -lVTcs    programs without MPI
 *   -lVTnull  the same calls, which do nothing
 * Alone it is enough: C99 and later, C++98 and later; nothing else needs to be included. `man 3 VT` has the
 * whole in words; what stands here is units, ownership and what a call does that the guide leaves open.
 *
 * Every call may be made from any thread and at any time, also before MPI_Init and after MPI_Finalize (it
 * then answers VT_ERR_NOTINITIALIZED). Strings and arrays are copied before a call returns. Handles are valid
 * in the process that got them. A NULL where a result would be stored drops the result.
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

/* Called once at the beginning of the end (VT_setfinalizecallback); it may use the whole interface. */
typedef void (*VT_Callback_t)(void);

/* Counter sampling (VT_countsetcallback): fills in up to ncounters counter handles and as many 8-byte values
 * (each of its counter's type, as for VT_countval) and returns how many; 0 or less: nothing now. It runs in
 * the thread that set it, inside the call that triggered it. VT_ calls made in it trigger nothing again. */
typedef int (*VT_CountCallback_t)(void *custom, int ncounters, int *handles, void *values);

/* What VT_getdescription can tell. */
enum VT_Description {
	VT_DESCRIPTION_LIB = 0,    /* "libVTnull, Tickmark 0.1.0": which library answers */
	VT_DESCRIPTION_VERSION = 1 /* "0.1.0" */
};

/* Starts the collector (and MPI in libVT, if the program has not); argc and argv may be NULL.
 * --itc-args ... --itc-args-end are taken out of them. */
VT_ErrorCode VT_initialize(int *argc, char ***argv);
VT_ErrorCode VT_finalize(void);
VT_ErrorCode VT_getrank(int *rank);
/* thindex >= 0 asks for this number, a negative one for the lowest that is free. */
VT_ErrorCode VT_registerthread(int thindex);
VT_ErrorCode VT_registernamed(const char *threadname, int thindex);
/* The name becomes "P<rank> <threadname>". */
VT_ErrorCode VT_registerprefixed(const char *threadname, int thindex);
VT_ErrorCode VT_getthrank(int *thrank);
/* Recording on and off for the calling thread. */
void VT_traceon(void);
void VT_traceoff(void);
/* 0 the thread is recording, 1 it is not now, 2 off for good. */
VT_ErrorCode VT_tracestate(int *state);
VT_ErrorCode VT_symstate(int statehandle, int *on);
/* Writes what the process has recorded to its raw file. */
VT_ErrorCode VT_flush(void);
/* An opaque stamp for the calls that take one; VT_ERR_NOTINITIALIZED when there is none. */
double VT_timestamp(void);
/* Seconds since 1970 at which the process started, on the axis of VT_timeofday. */
double VT_timestart(void);
/* Seconds since 1970, now (gettimeofday). */
double VT_timeofday(void);
/* A clock session; all ranks must call it (3.6.1). */
VT_ErrorCode VT_timesync(void);
VT_ErrorCode VT_setfinalizecallback(VT_Callback_t callback);
/* A static string; NULL for a type that does not exist. */
const char *VT_getdescription(int type);
VT_ErrorCode VT_countsetcallback(VT_CountCallback_t callback, void *custom, int ncounters);
/* VT_VERSION of the library. */
int VT_version(void);

/* ---- 3.1.4 Source locations ---- */

#define VT_NOSCL 0

VT_ErrorCode VT_scldef(const char *file, int line_nr, int *sclhandle);
VT_ErrorCode VT_sclstack(void *pc, void *stackframe, int skip, int trace, int *sclhandle);
VT_ErrorCode VT_thisloc(int sclhandle);

/* ---- 3.1.5 Functions and regions ---- */

#define VT_NOCLASS 0

VT_ErrorCode VT_classdef(const char *classname, int *classhandle);
VT_ErrorCode VT_funcdef(const char *symname, int classhandle, int *statehandle);
VT_ErrorCode VT_symdef(int statehandle, const char *symname, const char *activity);
VT_ErrorCode VT_begin(int statehandle);
VT_ErrorCode VT_beginl(int statehandle, int sclhandle);
VT_ErrorCode VT_end(int statehandle);
VT_ErrorCode VT_endl(int statehandle, int sclhandle);
VT_ErrorCode VT_enter(int statehandle, int sclhandle);
VT_ErrorCode VT_leave(int sclhandle);
VT_ErrorCode VT_enterstate(const char *name, int *statehandle, int *truncated);
/* Samples what a state change would sample. */
VT_ErrorCode VT_wakeup(void);

/* ---- 3.1.6 Scopes ---- */

VT_ErrorCode VT_scopedef(const char *scopename, int classhandle, int scl1, int scl2, int *scopehandle);
VT_ErrorCode VT_scopebegin(int scopehandle, int scl, int *seqnr);
VT_ErrorCode VT_scopeend(int scopehandle, int seqnr, int scl);

/* ---- 3.1.7 Groups of processes ---- */

enum VT_Group {
	VT_ME = 0x40000000,            /* the calling thread */
	VT_GROUP_THREAD = 0x40000001,  /* all threads: each has its own instance of a counter */
	VT_GROUP_PROCESS = 0x40000002, /* all processes: one instance each */
	VT_GROUP_CLUSTER = 0x40000003  /* all nodes: one instance each */
};

VT_ErrorCode VT_getprocid(int procindex, int *procid);
VT_ErrorCode VT_getthreadid(int procindex, int thindex, int *threadid);
VT_ErrorCode VT_groupdef(const char *name, int n_members, int *ids, int *grouphandle);

/* ---- 3.1.8 Counters ---- */

/* A genre is one of each of the three, or-ed. Without a data format it is VT_COUNT_INTEGER64, without a
 * display kind VT_COUNT_ABSVAL, without a scope nothing is said about the time between two values. */
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

/* bounds: 16 bytes, lower and upper bound in the counter's format, or NULL for none. A counter that is
 * defined again under its name gets its old handle; its class is a way to group it, not a part of its name. */
VT_ErrorCode VT_countdef(const char *name, int classhandle, int genre, int target, const void *bounds, const char *unit,
	int *counterhandle);
/* values: 8 bytes per handle, of its counter's format. */
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

VT_ErrorCode VT_log_sendmsg(int other_rank, int count, int tag, int commid, int sclhandle);
VT_ErrorCode VT_log_recvmsg(int other_rank, int count, int tag, int commid, int sclhandle);
VT_ErrorCode VT_log_msgevent(
	int sender, int receiver, int count, int tag, int commid, double sendts, int sendscl, int recvscl);
VT_ErrorCode VT_log_op(int opid, int commid, int root, int bsend, int brecv, double startts, int sclhandle);
VT_ErrorCode VT_log_opevent(
	int opid, int commid, int root, int numprocs, int *bsend, int *brecv, double *startts, int sclhandle);
VT_ErrorCode VT_begin_unordered(void);
VT_ErrorCode VT_end_unordered(void);

/* ---- 3.1.10 Additional calls in libVTcs ---- */

VT_ErrorCode VT_abort(void);
VT_ErrorCode VT_clientinit(int procid, const char *clientname, const char **contact);
VT_ErrorCode VT_serverinit(const char *servername, int numcontacts, const char *contacts[], const char **contact);
VT_ErrorCode VT_attach(int root, int comm, int numchildren, int *childcomm);
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
