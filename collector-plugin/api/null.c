/* SPDX-License-Identifier: BSD-3-Clause */
/* libVTnull: the interface of VT.h as calls that do nothing, so that a program that calls VT_ functions runs without
 * a collector. All results are set, time stamps are correct, and handles are valid (never 0, which VT.h's classes
 * take for "not yet defined"). No call returns an error. */

#include "config.h"

#include <stddef.h>
#include <sys/time.h>

#include "include/VT.h"

#define UNUSED __attribute__((unused))

static VT_ErrorCode set_handle(int *where, int value)
{
	if (where) {
		*where = value;
	}
	return VT_OK;
}

double VT_timeofday(void)
{
	struct timeval now;

	gettimeofday(&now, NULL);
	return (double)now.tv_sec + (double)now.tv_usec * 1e-6;
}

double VT_timestamp(void)
{
	return VT_timeofday();
}

/* Time stamps count from here: the instant when the library was loaded, because there is no trace. */
static double start;

static void __attribute__((constructor)) null_library_loaded(void)
{
	start = VT_timeofday();
}

double VT_timestart(void)
{
	return start;
}

int VT_version(void)
{
	return VT_VERSION;
}

const char *VT_getdescription(int type)
{
	switch (type) {
	case VT_DESCRIPTION_LIB:
		return "libVTnull, " PACKAGE_NAME " " PACKAGE_VERSION;
	case VT_DESCRIPTION_VERSION:
		return PACKAGE_VERSION;
	default:
		return NULL;
	}
}

void VT_traceon(void)
{
}

void VT_traceoff(void)
{
}

/* Defines a call that does not read its arguments. */
#define NOTHING(name, ...) \
	VT_ErrorCode name(__VA_ARGS__) \
	{ \
		return VT_OK; \
	}

NOTHING(VT_initialize, int *argc UNUSED, char ***argv UNUSED)
NOTHING(VT_finalize, void)
NOTHING(VT_registerthread, int thindex UNUSED)
NOTHING(VT_registernamed, const char *threadname UNUSED, int thindex UNUSED)
NOTHING(VT_registerprefixed, const char *threadname UNUSED, int thindex UNUSED)
NOTHING(VT_flush, void)
NOTHING(VT_timesync, void)
NOTHING(VT_setfinalizecallback, VT_Callback_t callback UNUSED)
NOTHING(VT_countsetcallback, VT_CountCallback_t callback UNUSED, void *custom UNUSED, int ncounters UNUSED)
NOTHING(VT_thisloc, int sclhandle UNUSED)
NOTHING(VT_symdef, int statehandle UNUSED, const char *symname UNUSED, const char *activity UNUSED)
NOTHING(VT_begin, int statehandle UNUSED)
NOTHING(VT_beginl, int statehandle UNUSED, int sclhandle UNUSED)
NOTHING(VT_end, int statehandle UNUSED)
NOTHING(VT_endl, int statehandle UNUSED, int sclhandle UNUSED)
NOTHING(VT_enter, int statehandle UNUSED, int sclhandle UNUSED)
NOTHING(VT_leave, int sclhandle UNUSED)
NOTHING(VT_wakeup, void)
NOTHING(VT_scopeend, int scopehandle UNUSED, int seqnr UNUSED, int scl UNUSED)
NOTHING(VT_countval, int ncounters UNUSED, int *handles UNUSED, void *values UNUSED)
NOTHING(VT_log_sendmsg, int other_rank UNUSED, int count UNUSED, int tag UNUSED, int commid UNUSED,
	int sclhandle UNUSED)
NOTHING(VT_log_recvmsg, int other_rank UNUSED, int count UNUSED, int tag UNUSED, int commid UNUSED,
	int sclhandle UNUSED)
NOTHING(VT_log_msgevent, int sender UNUSED, int receiver UNUSED, int count UNUSED, int tag UNUSED, int commid UNUSED,
	double sendts UNUSED, int sendscl UNUSED, int recvscl UNUSED)
NOTHING(VT_log_op, int opid UNUSED, int commid UNUSED, int root UNUSED, int bsend UNUSED, int brecv UNUSED,
	double startts UNUSED, int sclhandle UNUSED)
NOTHING(VT_log_opevent, int opid UNUSED, int commid UNUSED, int root UNUSED, int numprocs UNUSED, int *bsend UNUSED,
	int *brecv UNUSED, double *startts UNUSED, int sclhandle UNUSED)
NOTHING(VT_begin_unordered, void)
NOTHING(VT_end_unordered, void)
NOTHING(VT_abort, void)

/* Defines a call that only sets *to. */
#define SETS(name, to, value, ...) \
	VT_ErrorCode name(__VA_ARGS__) \
	{ \
		return set_handle(to, value); \
	}

/* Recording is always off. */
SETS(VT_tracestate, state, 2, int *state)
SETS(VT_symstate, on, 0, int statehandle UNUSED, int *on)
SETS(VT_getrank, rank, 0, int *rank)
SETS(VT_getthrank, thrank, 0, int *thrank)
SETS(VT_scldef, sclhandle, 1, const char *file UNUSED, int line_nr UNUSED, int *sclhandle)
SETS(VT_sclstack, sclhandle, VT_NOSCL, void *pc UNUSED, void *stackframe UNUSED, int skip UNUSED, int trace UNUSED,
	int *sclhandle)
SETS(VT_classdef, classhandle, 1, const char *classname UNUSED, int *classhandle)
SETS(VT_funcdef, statehandle, 1, const char *symname UNUSED, int classhandle UNUSED, int *statehandle)
SETS(VT_scopedef, scopehandle, 1, const char *scopename UNUSED, int classhandle UNUSED, int scl1 UNUSED,
	int scl2 UNUSED, int *scopehandle)
SETS(VT_scopebegin, seqnr, 1, int scopehandle UNUSED, int scl UNUSED, int *seqnr)
SETS(VT_getprocid, procid, procindex, int procindex, int *procid)
SETS(VT_getthreadid, threadid, procindex, int procindex, int thindex UNUSED, int *threadid)
SETS(VT_groupdef, grouphandle, 1, const char *name UNUSED, int n_members UNUSED, int *ids UNUSED, int *grouphandle)
SETS(VT_countdef, counterhandle, 1, const char *name UNUSED, int classhandle UNUSED, int genre UNUSED,
	int target UNUSED, const void *bounds UNUSED, const char *unit UNUSED, int *counterhandle)
SETS(VT_attach, childcomm, VT_COMM_SELF, int root UNUSED, int comm UNUSED, int numchildren UNUSED, int *childcomm)
SETS(VT_get_parent, parentcomm, VT_COMM_INVALID, int *parentcomm)

VT_ErrorCode VT_enterstate(const char *name UNUSED, int *statehandle, int *truncated)
{
	set_handle(truncated, 0);
	return set_handle(statehandle, 1);
}

VT_ErrorCode VT_clientinit(int procid UNUSED, const char *clientname UNUSED, const char **contact)
{
	if (contact && !*contact) {
		*contact = "null";
	}
	return VT_OK;
}

VT_ErrorCode VT_serverinit(
	const char *servername UNUSED, int numcontacts UNUSED, const char *contacts[] UNUSED, const char **contact)
{
	if (contact && !*contact) {
		*contact = "null";
	}
	return VT_OK;
}
