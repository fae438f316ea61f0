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

FORTRAN(vtinit, VTINIT, void, (int *ierr))
{
	*ierr = VT_initialize(NULL, NULL);
}

FORTRAN(vtfini, VTFINI, void, (int *ierr))
{
	*ierr = VT_finalize();
}

FORTRAN(vtgetrank, VTGETRANK, void, (int *rank, int *ierr))
{
	*ierr = VT_getrank(rank);
}

FORTRAN(vtregisterthread, VTREGISTERTHREAD, void, (const int *thindex, int *ierr))
{
	*ierr = VT_registerthread(*thindex);
}

FORTRAN(vtgetthrank, VTGETTHRANK, void, (int *thrank, int *ierr))
{
	*ierr = VT_getthrank(thrank);
}

FORTRAN(vttraceon, VTTRACEON, void, (void))
{
	VT_traceon();
}

FORTRAN(vttraceoff, VTTRACEOFF, void, (void))
{
	VT_traceoff();
}

FORTRAN(vttracestate, VTTRACESTATE, void, (int *state, int *ierr))
{
	*ierr = VT_tracestate(state);
}

FORTRAN(vtsymstate, VTSYMSTATE, void, (const int *statehandle, int *on, int *ierr))
{
	*ierr = VT_symstate(*statehandle, on);
}

FORTRAN(vtflush, VTFLUSH, void, (int *ierr))
{
	*ierr = VT_flush();
}

FORTRAN(vtstamp, VTSTAMP, double, (void))
{
	return VT_timestamp();
}

FORTRAN(vttimestart, VTTIMESTART, double, (void))
{
	return VT_timestart();
}

FORTRAN(vttimesync, VTTIMESYNC, void, (int *ierr))
{
	*ierr = VT_timesync();
}

FORTRAN(vtscldef, VTSCLDEF, void, (const char *file, const int *line_nr, int *sclhandle, int *ierr, int file_len))
{
	struct text t;

	*ierr = VT_scldef(text_open(&t, file, file_len), *line_nr, sclhandle);
	text_close(&t);
}

FORTRAN(vtthisl, VTTHISL, void, (const int *sclhandle, int *ierr))
{
	*ierr = VT_thisloc(*sclhandle);
}

FORTRAN(vtclassdef, VTCLASSDEF, void, (const char *classname, int *classhandle, int *ierr, int classname_len))
{
	struct text t;

	*ierr = VT_classdef(text_open(&t, classname, classname_len), classhandle);
	text_close(&t);
}

FORTRAN(vtfuncdef, VTFUNCDEF, void,
	(const char *symname, const int *classhandle, int *statehandle, int *ierr, int symname_len))
{
	struct text t;

	*ierr = VT_funcdef(text_open(&t, symname, symname_len), *classhandle, statehandle);
	text_close(&t);
}

FORTRAN(vtsymdef, VTSYMDEF, void,
	(const int *code, const char *symname, const char *activity, int *ierr, int symname_len, int activity_len))
{
	struct text sym, act;

	*ierr = VT_symdef(*code, text_open(&sym, symname, symname_len), text_open(&act, activity, activity_len));
	text_close(&sym);
	text_close(&act);
}

FORTRAN(vtbegin, VTBEGIN, void, (const int *statehandle, int *ierr))
{
	*ierr = VT_begin(*statehandle);
}

FORTRAN(vtbeginl, VTBEGINL, void, (const int *statehandle, const int *sclhandle, int *ierr))
{
	*ierr = VT_beginl(*statehandle, *sclhandle);
}

FORTRAN(vtend, VTEND, void, (const int *statehandle, int *ierr))
{
	*ierr = VT_end(*statehandle);
}

FORTRAN(vtendl, VTENDL, void, (const int *statehandle, const int *sclhandle, int *ierr))
{
	*ierr = VT_endl(*statehandle, *sclhandle);
}

FORTRAN(vtenter, VTENTER, void, (const int *statehandle, const int *sclhandle, int *ierr))
{
	*ierr = VT_enter(*statehandle, *sclhandle);
}

FORTRAN(vtleave, VTLEAVE, void, (const int *sclhandle, int *ierr))
{
	*ierr = VT_leave(*sclhandle);
}

FORTRAN(vtenterstate, VTENTERSTATE, void, (const char *name, int *statehandle, int *truncated, int *ierr, int name_len))
{
	struct text t;

	*ierr = VT_enterstate(text_open(&t, name, name_len), statehandle, truncated);
	text_close(&t);
}

FORTRAN(vtwakeup, VTWAKEUP, void, (int *ierr))
{
	*ierr = VT_wakeup();
}

FORTRAN(vtscopedef, VTSCOPEDEF, void,
	(const char *scopename, const int *classhandle, const int *scl1, const int *scl2, int *scopehandle, int *ierr,
		int scopename_len))
{
	struct text t;

	*ierr = VT_scopedef(text_open(&t, scopename, scopename_len), *classhandle, *scl1, *scl2, scopehandle);
	text_close(&t);
}

FORTRAN(vtscopebegin, VTSCOPEBEGIN, void, (const int *scopehandle, const int *scl, int *seqnr, int *ierr))
{
	*ierr = VT_scopebegin(*scopehandle, *scl, seqnr);
}

/* In the guide this call has no argument ierr. */
FORTRAN(vtscopeend, VTSCOPEEND, void, (const int *scopehandle, const int *seqnr, const int *scl))
{
	VT_scopeend(*scopehandle, *seqnr, *scl);
}

FORTRAN(vtgetprocid, VTGETPROCID, void, (const int *procindex, int *procid, int *ierr))
{
	*ierr = VT_getprocid(*procindex, procid);
}

FORTRAN(vtgetthreadid, VTGETTHREADID, void, (const int *procindex, const int *thindex, int *threadid, int *ierr))
{
	*ierr = VT_getthreadid(*procindex, *thindex, threadid);
}

FORTRAN(vtgroupdef, VTGROUPDEF, void,
	(const char *name, const int *n_members, int *ids, int *grouphandle, int *ierr, int name_len))
{
	struct text t;

	*ierr = VT_groupdef(text_open(&t, name, name_len), *n_members, ids, grouphandle);
	text_close(&t);
}

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

FORTRAN(vtcountval, VTCOUNTVAL, void, (const int *ncounters, int *handles, void *values, int *ierr))
{
	*ierr = VT_countval(*ncounters, handles, values);
}

FORTRAN(vtlogsendmsg, VTLOGSENDMSG, void,
	(const int *other_rank, const int *count, const int *tag, const int *commid, const int *sclhandle, int *ierr))
{
	*ierr = VT_log_sendmsg(*other_rank, *count, *tag, *commid, *sclhandle);
}

FORTRAN(vtlogrecvmsg, VTLOGRECVMSG, void,
	(const int *other_rank, const int *count, const int *tag, const int *commid, const int *sclhandle, int *ierr))
{
	*ierr = VT_log_recvmsg(*other_rank, *count, *tag, *commid, *sclhandle);
}

FORTRAN(vtlogmsgevent, VTLOGMSGEVENT, void,
	(const int *sender, const int *receiver, const int *count, const int *tag, const int *commid,
		const double *sendts, const int *sendscl, const int *recvscl, int *ierr))
{
	*ierr = VT_log_msgevent(*sender, *receiver, *count, *tag, *commid, *sendts, *sendscl, *recvscl);
}

FORTRAN(vtlogop, VTLOGOP, void,
	(const int *opid, const int *commid, const int *root, const int *bsend, const int *brecv, const double *startts,
		const int *sclhandle, int *ierr))
{
	*ierr = VT_log_op(*opid, *commid, *root, *bsend, *brecv, *startts, *sclhandle);
}

FORTRAN(vtlogopevent, VTLOGOPEVENT, void,
	(const int *opid, const int *commid, const int *root, const int *numprocs, int *bsend, int *brecv,
		double *startts, const int *sclhandle, int *ierr))
{
	*ierr = VT_log_opevent(*opid, *commid, *root, *numprocs, bsend, brecv, startts, *sclhandle);
}

FORTRAN(vtbeginunordered, VTBEGINUNORDERED, void, (int *ierr))
{
	*ierr = VT_begin_unordered();
}

FORTRAN(vtendunordered, VTENDUNORDERED, void, (int *ierr))
{
	*ierr = VT_end_unordered();
}

/* The name as the guide spells it. */
FORTRAN(vtendnordered, VTENDNORDERED, void, (int *ierr))
{
	*ierr = VT_end_unordered();
}
