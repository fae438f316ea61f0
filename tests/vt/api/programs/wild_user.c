/* SPDX-License-Identifier: BSD-3-Clause */
/* A program as people wrote them for the Intel Trace Collector: macros around the calls, handles of its own for VT_symdef, recording
 * off before MPI is there, #if on VT_VERSION, counters in VT_NOCLASS without a scope and with bounds of another type, VT_end of the
 * wrong state, VT_leave with a state's handle, results that nobody looks at. What it records it says in the form of say.h; what it
 * computes, on standard output, must be the same whichever library answers. With WITH_MPI under any number of ranks. C99, C++11. */
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include "tests/vt/lib/say.h"

#define TRACE_FACTOR 100
#define TRACE_SEND 1
#define LOCDEF() \
	{ \
		int loc; \
		VT_scldef(__FILE__, __LINE__, &loc); \
		VT_thisloc(loc); \
	}
#define CHECK(call) \
	do { \
		int res_ = (call); \
		if (res_ != VT_OK && res_ != VT_ERR_NOTINITIALIZED) { \
			fprintf(stderr, "[line %d] %s returned %d\n", __LINE__, #call, res_); \
			exit(10); \
		} \
	} while (0)

static int rank, ranks = 1;
static int solver_class, step_state, reduce_state;

static void declare(void)
{
	CHECK(VT_classdef("Solver", &solver_class));
	CHECK(VT_funcdef("Step", solver_class, &step_state));
	CHECK(VT_funcdef("Reduce", solver_class, &reduce_state));
	VT_symdef(TRACE_SEND, "Send-L", "Comm");
	VT_symdef(TRACE_FACTOR, "Factor", NULL);
}

static double reduce(double x)
{
	double sum = x;
#if VT_VERSION >= 2090
	double start = VT_timestamp();
	int length = 8;
#endif

	VT_begin(reduce_state);
#ifdef WITH_MPI
	MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#endif
#if VT_VERSION >= 2090
	VT_begin_unordered();
	VT_log_op(VT_OP_ALLREDUCE, VT_COMM_WORLD, 0, length, length, start, VT_NOSCL);
	VT_end_unordered();
#endif
	VT_end(step_state);
	return sum;
}

static void run(void)
{
	const float small[2] = { 0, 1 };
	double sum = 0, d;
	int64_t hits = 0;
	uint32_t pair[2];
	int c[3], i;
	char where[20];

	CHECK(VT_countdef("residual", solver_class, VT_COUNT_FLOAT, VT_GROUP_PROCESS, small, "1", &c[0]));
	CHECK(VT_countdef("hits", VT_NOCLASS, VT_COUNT_INTEGER64 | VT_COUNT_RATE | VT_COUNT_VALID_SAMPLE, VT_ME, NULL,
		"hits", &c[1]));
	CHECK(VT_countdef("iteration", solver_class, VT_COUNT_INTEGER | VT_COUNT_ABSVAL | VT_COUNT_VALID_AFTER, VT_ME,
		NULL, "#", &c[2]));
	snprintf(where, sizeof(where), "%d:0", rank);
	VT_begin(TRACE_FACTOR);
	for (i = 0; i < 5; i++) {
		VT_enter(step_state, VT_NOSCL);
		LOCDEF();
		d = 1.0 / (i + 1 + rank);
		sum = reduce(d);
		hits += i * ((int64_t)1 << 40);
		pair[0] = 0;
		pair[1] = (uint32_t)i;
		VT_countval(1, &c[0], &d);
		VT_countval(1, &c[1], &hits);
		VT_countval(1, &c[2], pair);
		say(where, "Solver:residual", 2, 0, 0, 0, 0, bits_of(d));
		say(where, "Application:hits", 1, 1, 4, 0, 0, (uint64_t)hits);
		say(where, "Solver:iteration", 1, 0, 3, 0, 0, (uint64_t)i);
		VT_leave(step_state);
	}
	VT_end(TRACE_FACTOR);
	printf("rank %d of %d: %.17g\n", rank, ranks, sum);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	double d = 1;
	int early;

	VT_traceoff();
	VT_classdef("early", &early);
	VT_countval(1, &early, &d);
#ifdef WITH_MPI
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#endif
	VT_initialize(&argc, &argv);
	VT_traceon();
#ifdef WITH_MPI
	say_open(rank);
#else
	say_open(-1);
#endif
	declare();
	run();
	fclose(say_file);
	VT_flush();
#ifdef WITH_MPI
	MPI_Finalize();
#endif
	VT_finalize();
	VT_begin(TRACE_SEND);
	VT_countval(1, &early, &d);
	VT_end(0);
	return 0;
}
