/* SPDX-License-Identifier: BSD-3-Clause */
/* The Fortran calls of the Intel Trace Collector guide, made of the C calls. Each exists under the four names that
 * compilers use for it: vtinit_ (gfortran, most), vtinit__ (-fsecond-underscore), vtinit, VTINIT. Arguments are
 * passed by reference. The length of a string is an additional argument at the end. Its low 32 bits are the same
 * whether the compiler passes an int or a size_t. */

#include <stdlib.h>
#include <string.h>

#include "include/VT.h"

/* FORTRAN(lower, UPPER, type of the result, (parameters)) { body } */
#define FORTRAN(lower, UPPER, type, params) \
	type lower##_ params; \
	type lower##__ params __attribute__((alias(#lower "_"))); \
	type lower params __attribute__((alias(#lower "_"))); \
	type UPPER params __attribute__((alias(#lower "_"))); \
	type lower##_ params

/* A Fortran string without its trailing blanks, with a zero; short ones need no memory. */
struct text {
	char *s, *mem, room[256];
};

static const char *text_open(struct text *t, const char *s, int len)
{
	size_t n = s && len > 0 ? strnlen(s, (size_t)len) : 0;

	while (n > 0 && s[n - 1] == ' ') {
		n--;
	}
	t->mem = n < sizeof(t->room) ? NULL : malloc(n + 1);
	t->s = t->mem ? t->mem : t->room;
	if (!t->mem && n >= sizeof(t->room)) {
		n = sizeof(t->room) - 1; /* out of memory: use a shorter name */
	}
	if (n > 0) {
		memcpy(t->s, s, n);
	}
	t->s[n] = 0;
	return t->s;
}

static void text_close(struct text *t)
{
	free(t->mem);
}

/* One whose result is that of a C call. */
#define CALL(lower, UPPER, params, call) \
	FORTRAN(lower, UPPER, void, params) \
	{ \
		*ierr = call; \
	}
/* One with a string, which the C call gets as `text`. */
#define CALL_WITH_TEXT(lower, UPPER, params, string, call) \
	FORTRAN(lower, UPPER, void, params) \
	{ \
		struct text t; \
		const char *text = text_open(&t, string, string##_len); \
\
		*ierr = call; \
		text_close(&t); \
	}

CALL(vtinit, VTINIT, (int *ierr), VT_initialize(NULL, NULL))
CALL(vtfini, VTFINI, (int *ierr), VT_finalize())
CALL(vtgetrank, VTGETRANK, (int *rank, int *ierr), VT_getrank(rank))
CALL(vtregisterthread, VTREGISTERTHREAD, (const int *thindex, int *ierr), VT_registerthread(*thindex))
CALL(vtgetthrank, VTGETTHRANK, (int *thrank, int *ierr), VT_getthrank(thrank))

FORTRAN(vttraceon, VTTRACEON, void, (void))
{
	VT_traceon();
}

FORTRAN(vttraceoff, VTTRACEOFF, void, (void))
{
	VT_traceoff();
}

CALL(vttracestate, VTTRACESTATE, (int *state, int *ierr), VT_tracestate(state))
CALL(vtsymstate, VTSYMSTATE, (const int *statehandle, int *on, int *ierr), VT_symstate(*statehandle, on))
CALL(vtflush, VTFLUSH, (int *ierr), VT_flush())

FORTRAN(vtstamp, VTSTAMP, double, (void))
{
	return VT_timestamp();
}

FORTRAN(vttimestart, VTTIMESTART, double, (void))
{
	return VT_timestart();
}

CALL(vttimesync, VTTIMESYNC, (int *ierr), VT_timesync())
CALL_WITH_TEXT(vtscldef, VTSCLDEF, (const char *file, const int *line_nr, int *sclhandle, int *ierr, int file_len),
	file, VT_scldef(text, *line_nr, sclhandle))
CALL(vtthisl, VTTHISL, (const int *sclhandle, int *ierr), VT_thisloc(*sclhandle))
CALL_WITH_TEXT(vtclassdef, VTCLASSDEF, (const char *classname, int *classhandle, int *ierr, int classname_len),
	classname, VT_classdef(text, classhandle))
CALL_WITH_TEXT(vtfuncdef, VTFUNCDEF,
	(const char *symname, const int *classhandle, int *statehandle, int *ierr, int symname_len), symname,
	VT_funcdef(text, *classhandle, statehandle))

FORTRAN(vtsymdef, VTSYMDEF, void,
	(const int *code, const char *symname, const char *activity, int *ierr, int symname_len, int activity_len))
{
	struct text sym, act;

	*ierr = VT_symdef(*code, text_open(&sym, symname, symname_len), text_open(&act, activity, activity_len));
	text_close(&sym);
	text_close(&act);
}

CALL(vtbegin, VTBEGIN, (const int *statehandle, int *ierr), VT_begin(*statehandle))
CALL(vtbeginl, VTBEGINL, (const int *statehandle, const int *sclhandle, int *ierr), VT_beginl(*statehandle, *sclhandle))
CALL(vtend, VTEND, (const int *statehandle, int *ierr), VT_end(*statehandle))
CALL(vtendl, VTENDL, (const int *statehandle, const int *sclhandle, int *ierr), VT_endl(*statehandle, *sclhandle))
CALL(vtenter, VTENTER, (const int *statehandle, const int *sclhandle, int *ierr), VT_enter(*statehandle, *sclhandle))
CALL(vtleave, VTLEAVE, (const int *sclhandle, int *ierr), VT_leave(*sclhandle))
CALL_WITH_TEXT(vtenterstate, VTENTERSTATE,
	(const char *name, int *statehandle, int *truncated, int *ierr, int name_len), name,
	VT_enterstate(text, statehandle, truncated))
CALL(vtwakeup, VTWAKEUP, (int *ierr), VT_wakeup())
CALL_WITH_TEXT(vtscopedef, VTSCOPEDEF,
	(const char *scopename, const int *classhandle, const int *scl1, const int *scl2, int *scopehandle, int *ierr,
		int scopename_len),
	scopename, VT_scopedef(text, *classhandle, *scl1, *scl2, scopehandle))
CALL(vtscopebegin, VTSCOPEBEGIN, (const int *scopehandle, const int *scl, int *seqnr, int *ierr),
	VT_scopebegin(*scopehandle, *scl, seqnr))

/* In the guide this call has no argument ierr. */
FORTRAN(vtscopeend, VTSCOPEEND, void, (const int *scopehandle, const int *seqnr, const int *scl))
{
	VT_scopeend(*scopehandle, *seqnr, *scl);
}

CALL(vtgetprocid, VTGETPROCID, (const int *procindex, int *procid, int *ierr), VT_getprocid(*procindex, procid))
CALL(vtgetthreadid, VTGETTHREADID, (const int *procindex, const int *thindex, int *threadid, int *ierr),
	VT_getthreadid(*procindex, *thindex, threadid))
CALL_WITH_TEXT(vtgroupdef, VTGROUPDEF,
	(const char *name, const int *n_members, int *ids, int *grouphandle, int *ierr, int name_len), name,
	VT_groupdef(text, *n_members, ids, grouphandle))

FORTRAN(vtcountdef, VTCOUNTDEF, void,
	(const char *name, const int *classhandle, const int *genre, const int *target, const void *bounds,
		const char *unit, int *counterhandle, int *ierr, int name_len, int unit_len))
{
	struct text n, u;

	*ierr = VT_countdef(text_open(&n, name, name_len), *classhandle, *genre, *target, bounds,
		text_open(&u, unit, unit_len), counterhandle);
	text_close(&n);
	text_close(&u);
}

CALL(vtcountval, VTCOUNTVAL, (const int *ncounters, int *handles, void *values, int *ierr),
	VT_countval(*ncounters, handles, values))
CALL(vtlogsendmsg, VTLOGSENDMSG,
	(const int *other_rank, const int *count, const int *tag, const int *commid, const int *sclhandle, int *ierr),
	VT_log_sendmsg(*other_rank, *count, *tag, *commid, *sclhandle))
CALL(vtlogrecvmsg, VTLOGRECVMSG,
	(const int *other_rank, const int *count, const int *tag, const int *commid, const int *sclhandle, int *ierr),
	VT_log_recvmsg(*other_rank, *count, *tag, *commid, *sclhandle))
CALL(vtlogmsgevent, VTLOGMSGEVENT,
	(const int *sender, const int *receiver, const int *count, const int *tag, const int *commid,
		const double *sendts, const int *sendscl, const int *recvscl, int *ierr),
	VT_log_msgevent(*sender, *receiver, *count, *tag, *commid, *sendts, *sendscl, *recvscl))
CALL(vtlogop, VTLOGOP,
	(const int *opid, const int *commid, const int *root, const int *bsend, const int *brecv, const double *startts,
		const int *sclhandle, int *ierr),
	VT_log_op(*opid, *commid, *root, *bsend, *brecv, *startts, *sclhandle))
CALL(vtlogopevent, VTLOGOPEVENT,
	(const int *opid, const int *commid, const int *root, const int *numprocs, int *bsend, int *brecv,
		double *startts, const int *sclhandle, int *ierr),
	VT_log_opevent(*opid, *commid, *root, *numprocs, bsend, brecv, startts, *sclhandle))
CALL(vtbeginunordered, VTBEGINUNORDERED, (int *ierr), VT_begin_unordered())
CALL(vtendunordered, VTENDUNORDERED, (int *ierr), VT_end_unordered())

/* The name as the guide spells it. */
CALL(vtendnordered, VTENDNORDERED, (int *ierr), VT_end_unordered())
