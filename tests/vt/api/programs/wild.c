/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs in the wild do, and some worse: calls before the start and after the end, NULL where something is
 * expected, handles that are none, genres without bits, bounds that are not there, thread numbers twice. Nothing
 * crashes, what is wrong is reported, and what is right is recorded. */
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/vt/lib/say.h"

static int bad, finalized;

#define IS(call, code) \
	do { \
		int rc_ = (call); \
		if (rc_ != (code)) { \
			printf("%s: %d, want %d\n", #call, rc_, (code)); \
			bad = 1; \
		} \
	} while (0)

static void finalizing(void)
{
	finalized++;
	VT_wakeup();
}

/* started: 1 when the collector runs from the beginning, because vtrun has started it */
static void outside(int state)
{
	int v = 5, h = 0;
	double d = 1;

	IS(VT_getrank(&v), state);
	IS(VT_countval(1, &v, &d), state);
	IS(VT_countdef("early", 0, VT_COUNT_FLOAT, VT_ME, 0, "", &v), state);
	IS(VT_classdef("early", &v), state);
	IS(VT_funcdef("early", 0, &v), state);
	IS(VT_enter(1, 1), state);
	IS(VT_leave(0), state);
	IS(VT_flush(), state);
	IS(VT_timesync(), state);
	IS(VT_tracestate(&v), state);
	IS(VT_registerthread(3), state);
	IS(VT_groupdef("g", 0, 0, &v), state);
	IS(VT_getprocid(0, &v), state);
	IS(VT_enterstate("x", &h, &v), state);
	IS(VT_countsetcallback(0, 0, 0), state);
	if (VT_timestamp() != (double)state || VT_timestart() != (double)state) {
		printf("there is a time stamp\n");
		bad = 1;
	}
	VT_traceoff();
	VT_traceon();
}

static void *second(void *arg)
{
	int n = -1;

	(void)arg;
	IS(VT_registerthread(0), VT_ERR_BADINDEX);
	IS(VT_registernamed("worker", 7), VT_OK);
	IS(VT_getthrank(&n), VT_OK);
	IS(n, 7);
	IS(VT_registerthread(7), VT_OK);
	IS(VT_registerthread(8), VT_ERR_BADARG);
	IS(VT_registernamed("worker", -1), VT_OK);
	IS(VT_registernamed("other", -1), VT_ERR_BADARG);
	return NULL;
}

static void *third(void *arg)
{
	int n = -1;

	(void)arg;
	IS(VT_wakeup(), VT_OK);
	IS(VT_getthrank(&n), VT_OK);
	IS(n, 1); /* the lowest that is free */
	IS(VT_registerthread(5), VT_ERR_BADARG);
	IS(VT_registernamed("late name", -1), VT_OK);
	return NULL;
}

static void threads(void)
{
	pthread_t t;
	int i;

	for (i = 0; i < 2; i++) { /* the number of a thread that ended is free again */
		pthread_create(&t, NULL, second, NULL);
		pthread_join(t, NULL);
		pthread_create(&t, NULL, third, NULL);
		pthread_join(t, NULL);
	}
	IS(VT_registerthread(100000), VT_ERR_BADARG);
	IS(VT_registerthread(-5), VT_OK);
}

static void nulls(int cls)
{
	int v = 0, h;

	IS(VT_initialize(0, 0), VT_OK);
	IS(VT_classdef(NULL, &v), VT_OK);
	IS(v, VT_NOCLASS);
	IS(VT_classdef(":::", &v), VT_OK);
	IS(VT_classdef("x", NULL), VT_OK);
	IS(VT_funcdef(NULL, cls, &v), VT_ERR_BADARG);
	IS(VT_funcdef("f", 12345, NULL), VT_ERR_BADARG);
	IS(VT_symdef(7, NULL, NULL), VT_ERR_BADARG);
	IS(VT_symdef(VT_MAX_USERCODE - 1, "most", "user"), VT_OK);
	IS(VT_symdef(VT_MAX_USERCODE, "more", "user"), VT_ERR_BADARG);
	IS(VT_begin(99999), VT_ERR_BADSYMBOLID);
	IS(VT_scldef(NULL, 3, &v), VT_ERR_BADARG);
	IS(VT_sclstack(0, 0, -1, -1, NULL), VT_OK);
	IS(VT_scopebegin(99, -1, NULL), VT_ERR_BADSCLID);
	IS(VT_scopebegin(99, VT_NOSCL, NULL), VT_ERR_BADARG);
	IS(VT_scopeend(99, 99, 99), VT_ERR_BADSCLID);
	IS(VT_registernamed(NULL, 0), VT_OK);
	IS(VT_registernamed("", -1), VT_OK);
	IS(VT_groupdef(NULL, 0, 0, &v), VT_ERR_BADARG);
	IS(VT_groupdef("none", 0, 0, &v), VT_OK);
	IS(VT_groupdef("none", 2, 0, &v), VT_ERR_BADARG);
	IS(VT_getprocid(-1, &v), VT_ERR_BADARG);
	IS(VT_getprocid(4711, &v), VT_ERR_BADARG);
	IS(VT_countdef(NULL, cls, VT_COUNT_FLOAT, VT_ME, 0, 0, &h), VT_ERR_BADARG);
	IS(VT_countval(0, NULL, NULL), VT_OK);
	IS(VT_countval(1, NULL, NULL), VT_ERR_BADARG);
	IS(VT_countval(-1, &v, &v), VT_ERR_BADARG);
	IS(VT_countsetcallback(0, 0, -9), VT_OK);
	IS(VT_end(0), VT_ERR_BADREQUEST);
	IS(VT_end(-1), VT_ERR_BADREQUEST);
	IS(VT_funcdef("f", cls, &v), VT_OK);
	IS(VT_enter(v, VT_NOSCL), VT_OK);
	IS(VT_leave(cls), VT_OK); /* a state handle where a location belongs */
	IS(VT_leave(VT_NOSCL), VT_ERR_BADREQUEST);
	IS(VT_begin(123456789), VT_ERR_BADSYMBOLID);
	IS(VT_getrank(NULL), VT_OK);
	IS(VT_tracestate(NULL), VT_OK);
}

static void counters(int cls)
{
	long page = sysconf(_SC_PAGESIZE);
	char *edge = (char *)mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int small[2] = { 0, 100 }, h[3], again;
	float floats[2] = { 0, 1e30f };
	double nans[2] = { 0, 0 }, value[3] = { 1, 2, 3 };
	int64_t down[2] = { 5, -5 };

	munmap(edge + page, (size_t)page);
	nans[0] = strtod("nan", NULL);
	IS(VT_countdef("bare", 0, VT_COUNT_FLOAT, VT_ME, small, NULL, &h[0]), VT_OK);
	IS(VT_countval(1, h, value), VT_OK);
	/* eight bytes of bounds at the end of what there is */
	IS(VT_countdef("edge", cls, VT_COUNT_FLOAT, VT_ME, edge + page - 8, "u", &h[1]), VT_OK);
	IS(VT_countdef("nowhere", cls, VT_COUNT_FLOAT, VT_ME, (void *)16, "u", &h[1]), VT_OK);
	IS(VT_countdef("nans", cls, VT_COUNT_FLOAT, VT_ME, nans, "u", &h[1]), VT_OK);
	IS(VT_countdef("down", cls, VT_COUNT_INTEGER64, VT_ME, down, "u", &h[1]), VT_OK);
	IS(VT_countdef("floats", cls, VT_COUNT_FLOAT, VT_ME, floats, "u", &h[1]), VT_OK);
	IS(VT_countdef("bare", cls, VT_COUNT_INTEGER, VT_GROUP_CLUSTER, 0, "other", &again), VT_OK);
	IS(again, h[0]);
	IS(VT_countdef("kind", cls, 0x10000, VT_ME, 0, "u", &h[2]), VT_ERR_BADKIND);
	IS(VT_countdef("kind", cls, 0xf, VT_ME, 0, "u", &h[2]), VT_ERR_BADKIND);
	IS(VT_countdef("kind", cls, VT_COUNT_FLOAT, 4711, 0, "u", &h[2]), VT_ERR_BADKIND);
	IS(VT_countdef("kind", cls, VT_COUNT_FLOAT, -1, 0, "u", &h[2]), VT_ERR_BADKIND);
	IS(VT_countdef("late", cls, VT_COUNT_FLOAT, VT_ME, 0, "u", &h[2]), VT_OK);
	/* a wrong handle between two right ones */
	h[1] = 424242;
	IS(VT_countval(3, h, value), VT_ERR_BADARG);
	say("0:0", "Application:bare", 2, 0, 0, 0, 0, bits_of(1));
	say("0:0", "Application:bare", 2, 0, 0, 0, 0, bits_of(1));
	say("0:0", "Wild:late", 2, 0, 0, 0, 0, bits_of(3));
	VT_traceoff();
	IS(VT_countval(1, h, value), VT_OK);
	IS(VT_tracestate(&again), VT_OK);
	IS(again, 1);
	VT_traceon();
	IS(VT_tracestate(&again), VT_OK);
	IS(again, 0);
}

int main(int argc, char **argv)
{
	int cls, preloaded = argc > 1;

	if (!preloaded) {
		outside(VT_ERR_NOTINITIALIZED);
	}
	IS(VT_setfinalizecallback(finalizing), VT_OK);
	IS(VT_initialize(NULL, NULL), VT_OK);
	IS(VT_initialize(&argc, &argv), VT_OK);
	say_open(-1);
	IS(VT_classdef("Wild", &cls), VT_OK);
	nulls(cls);
	counters(cls);
	threads();
	IS(VT_flush(), VT_OK);
	fclose(say_file);
	IS(VT_finalize(), VT_OK);
	IS(VT_finalize(), VT_OK);
	IS(finalized, 1);
	outside(VT_ERR_NOTINITIALIZED);
	IS(VT_initialize(0, 0), VT_ERR_BADREQUEST);
	return bad;
}
