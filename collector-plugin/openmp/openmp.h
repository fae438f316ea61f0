/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenMP regions as functions of class OMP: parallel regions, work sharing, tasks, barriers, critical regions and
 * waiting for locks, with the source line of each construct. LLVM's run-time library tells about them by OMPT
 * (OpenMP 5.0, chapter 4; ompt.c). GCC's libgomp has no such interface: the program's calls of its entry points are
 * redirected (gomp.c, calls.def). Both call team.c, so that a construct has the same name with either.
 *
 * record.c is in libVTcs and libVT. The rest is in libVT, and in libVTomp.so, which libVTcs.so loads if the program
 * uses OpenMP; it calls the functions of struct vt_omp_own. */
#ifndef COLLECTOR_PLUGIN_OPENMP_OPENMP_H
#define COLLECTOR_PLUGIN_OPENMP_OPENMP_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ticks.h"

/* The functions of class OMP. */
#define VT_OMP_FUNCTION_LIST(X) \
	X(PARALLEL, "parallel") \
	X(IMPLICIT_BARRIER, "implicit_barrier") /* at the end of a parallel region */ \
	X(BARRIER, "barrier") \
	X(LOOP, "loop") \
	X(SECTIONS, "sections") \
	X(SINGLE, "single") \
	X(WORKSHARE, "workshare") \
	X(DISTRIBUTE, "distribute") \
	X(SCOPE, "scope") \
	X(MASKED, "masked") \
	X(TASK, "task") \
	X(TASKLOOP, "taskloop") \
	X(TASKWAIT, "taskwait") \
	X(TASKGROUP, "taskgroup") \
	X(REDUCTION, "reduction") \
	X(LOCK_WAIT, "lock_wait") \
	X(CRITICAL_WAIT, "critical_wait") \
	X(CRITICAL, "critical") \
	X(ATOMIC_WAIT, "atomic_wait") \
	X(ATOMIC, "atomic") \
	X(ORDERED_WAIT, "ordered_wait") \
	X(ORDERED, "ordered")

enum vt_omp_function {
#define VT_OMP_NUMBER(name, text) VT_OMP_##name,
	VT_OMP_FUNCTION_LIST(VT_OMP_NUMBER)
#undef VT_OMP_NUMBER
		VT_OMP_FUNCTIONS
};

/* What the other library may call. All functions keep errno, and do nothing in a thread that does not record. */
struct vt_omp_own {
	/* Registers the calling thread, under this number if that is free (-1: any). Returns its number in the trace;
	 * -1: nothing is recorded. */
	int (*self)(int number);
	/* Names the calling thread. */
	void (*name)(const char *name);
	/* The source location of a return address; 0: unknown. */
	uint32_t (*locate)(const void *return_address);
	void (*enter)(enum vt_omp_function f, uint32_t scl);
	/* Leaves the innermost state of that function in this region, and all states inside it; itself 0: only those.
	 * Returns 0 if there is none. at NULL: now. */
	int (*leave)(enum vt_omp_function f, int itself, const ltick_t *at);
	/* The calling thread, not the first of its team, waits at the end of its parallel region. When it leaves that
	 * is seen only when the run-time library gives it the next work. */
	void (*join)(uint32_t scl);
	/* Leaves what join() entered, when the team ended. */
	void (*settle)(void);
	ltick_t (*now)(void);
	/* By number of the thread: 0, or VT_OMP_WAITS after join(), then when its team ended. */
	_Atomic int64_t *ended;
};
enum { VT_OMP_WAITS = 1 };

/* A function of libgomp: its name, and what the program calls for it. */
struct vt_omp_call {
	const char *symbol;
	void *instead;
};

struct vt_omp_table {
	const char *version;
	size_t n;
	const struct vt_omp_call *call; /* of libgomp */
	void **next;                    /* the functions of libgomp; to be filled in before one is redirected */
	void *ompt;                     /* what ompt_start_tool() returns */
};

/* Returns the table, or NULL, after a message, if the library cannot be loaded. `own` must stay valid for good. */
typedef const struct vt_omp_table *vt_omp_start_calls(const struct vt_omp_own *own);
#define VT_OMP_START "vt_omp_begin"
vt_omp_start_calls vt_omp_begin;

/* Must be called after vt_filter_start(), and again when the collector starts again. wanted: are states recorded? */
void vt_omp_start(int wanted) __attribute__((visibility("hidden")));
/* The recording ends: ends the states of threads that wait for the next parallel region. */
void vt_omp_finish(void) __attribute__((visibility("hidden")));

#endif
