/* SPDX-License-Identifier: BSD-3-Clause */
/* Every function of VT.h called once, as by a program that has no knowledge of the library. Exit
 * status 0: all answered VT_OK, but for what comes too late, and every result was set. argv[1]: the library, as VT_getdescription names it.
 * Plain C99 and C++11. */
#include <VT.h>

#include <stdio.h>
#include <string.h>

static int bad, null;

#define OK(call) \
	do { \
		if ((call) != VT_OK) { \
			printf("%s is not VT_OK\n", #call); \
			bad = 1; \
		} \
	} while (0)
/* libVTnull does nothing with success; the library says that it is too late, or that there is no such thing */
#define NOT_NOW(call, otherwise) \
	do { \
		if ((call) != (null ? VT_OK : (otherwise))) { \
			printf("%s is not refused\n", #call); \
			bad = 1; \
		} \
	} while (0)
#define SET(call, result) \
	do { \
		(result) = -77; \
		OK(call); \
		if ((result) == -77) { \
			printf("%s left its result as it was\n", #call); \
			bad = 1; \
		} \
	} while (0)

static void finalizing(void)
{
}

static int sampling(void *custom, int ncounters, int *handles, void *values)
{
	(void)custom;
	(void)ncounters;
	(void)handles;
	(void)values;
	return 0;
}

static void states(int cls)
{
	int h, scl, on, seq, truncated;

	SET(VT_scldef(__FILE__, __LINE__, &scl), scl);
	SET(VT_sclstack(0, 0, -1, -1, &scl), scl);
	OK(VT_thisloc(scl));
	SET(VT_funcdef("f", cls, &h), h);
	SET(VT_symstate(h, &on), on);
	OK(VT_begin(h));
	OK(VT_end(h));
	OK(VT_beginl(h, scl));
	OK(VT_endl(0, scl));
	OK(VT_enter(h, scl));
	OK(VT_leave(scl));
	OK(VT_symdef(99, "sym", "act"));
	OK(VT_begin(99));
	OK(VT_end(0));
	h = 0;
	OK(VT_enterstate("MPI:TRANSFER/WAIT", &h, &truncated));
	OK(VT_leave(VT_NOSCL));
	OK(VT_wakeup());
	SET(VT_scopedef("s", cls, scl, VT_NOSCL, &h), h);
	SET(VT_scopebegin(h, scl, &seq), seq);
	OK(VT_scopebegin(h, scl, 0));
	OK(VT_scopeend(h, seq, VT_NOSCL));
	OK(VT_scopeend(h, 0, VT_NOSCL));
}

static void counters(int cls)
{
	static const double bounds[2] = { 0, 1 };
	double value = 0.5;
	int h, group, ids[3];

	SET(VT_getprocid(0, &ids[0]), ids[0]);
	SET(VT_getthreadid(0, 0, &ids[1]), ids[1]);
	ids[2] = VT_ME;
	SET(VT_groupdef("g", 3, ids, &group), group);
	SET(VT_countdef("c", cls, VT_COUNT_FLOAT | VT_COUNT_ABSVAL | VT_COUNT_VALID_SAMPLE, VT_ME, bounds, "1", &h), h);
	OK(VT_countval(1, &h, &value));
	OK(VT_countsetcallback(sampling, &value, 4));
	OK(VT_countsetcallback(0, 0, 0));
}

static void communication(void)
{
	int bytes[1] = { 8 };
	double start[1];

	start[0] = VT_timestamp();
	OK(VT_log_sendmsg(0, 8, 1, VT_COMM_WORLD, VT_NOSCL));
	OK(VT_log_recvmsg(0, 8, 1, VT_COMM_WORLD, VT_NOSCL));
	OK(VT_log_msgevent(0, 0, 8, 1, VT_COMM_SELF, start[0], VT_NOSCL, VT_NOSCL));
	OK(VT_log_op(VT_OP_BARRIER, VT_COMM_WORLD, 0, 0, 0, start[0], VT_NOSCL));
	OK(VT_log_opevent(VT_OP_BCAST, VT_COMM_WORLD, 0, 1, bytes, bytes, start, VT_NOSCL));
	OK(VT_begin_unordered());
	OK(VT_end_unordered());
}

static void processes(void)
{
	const char *contact = 0;
	int v;

	SET(VT_getrank(&v), v);
	SET(VT_getthrank(&v), v);
	SET(VT_tracestate(&v), v);
	VT_traceoff();
	VT_traceon();
	OK(VT_registerthread(0));
	OK(VT_registernamed("main", 0));
	OK(VT_registerprefixed(0, 0));
	NOT_NOW(VT_clientinit(1, "client", &contact), VT_ERR_BADREQUEST);
	NOT_NOW(VT_serverinit("server", 0, 0, &contact), VT_ERR_BADREQUEST);
	NOT_NOW(VT_attach(0, VT_COMM_WORLD, 1, &v), VT_ERR_NOTIMPLEMENTED);
	SET(VT_get_parent(&v), v);
	if (v != VT_COMM_INVALID) {
		puts("a parent");
		bad = 1;
	}
}

int main(int argc, char **argv)
{
	double started, now;
	const char *lib;
	int cls;

	OK(VT_initialize(&argc, &argv));
	OK(VT_initialize(0, 0));
	lib = VT_getdescription(VT_DESCRIPTION_LIB);
	null = lib && strncmp(lib, "libVTnull", 9) == 0;
	OK(VT_setfinalizecallback(finalizing));
	SET(VT_classdef("Class:deeper", &cls), cls);
	processes();
	states(cls);
	counters(cls);
	communication();
	OK(VT_flush());
	OK(VT_timesync());
	lib = VT_getdescription(VT_DESCRIPTION_LIB);
	if (argc > 1 && (!lib || strncmp(lib, argv[1], strlen(argv[1])) != 0)) {
		printf("the library is %s, want %s\n", lib ? lib : "NULL", argv[1]);
		bad = 1;
	}
	if (VT_getdescription(4711) || VT_version() != VT_VERSION) {
		puts("description of nothing, or another version");
		bad = 1;
	}
	started = VT_timestart();
	now = VT_timeofday();
	if (started < 1e9 || now < started || now > started + 3600 || VT_timestamp() < 0) {
		puts("times are not in order");
		bad = 1;
	}
	NOT_NOW(VT_abort(), VT_ERR_BADREQUEST);
	OK(VT_finalize());
	OK(VT_finalize());
	return bad;
}
