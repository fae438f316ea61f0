/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of OMPT that ompt.c uses, as in the OpenMP specification 5.2, chapter 19. The numbers are part of that
 * interface. The header omp-tools.h comes with some compilers only. */
#ifndef COLLECTOR_PLUGIN_OPENMP_OMPT_H
#define COLLECTOR_PLUGIN_OPENMP_OMPT_H

#include <stdint.h>

typedef union ompt_data {
	uint64_t value;
	void *ptr;
} ompt_data_t;

typedef void (*ompt_interface_fn_t)(void);
typedef ompt_interface_fn_t (*ompt_function_lookup_t)(const char *name);
typedef int (*ompt_set_callback_t)(int which, ompt_interface_fn_t callback);

struct ompt_start_tool_result {
	int (*initialize)(ompt_function_lookup_t lookup, int initial_device_num, ompt_data_t *tool_data);
	void (*finalize)(ompt_data_t *tool_data);
	ompt_data_t tool_data;
};

enum {
	OMPT_PARALLEL_BEGIN = 3,
	OMPT_PARALLEL_END = 4,
	OMPT_TASK_CREATE = 5,
	OMPT_TASK_SCHEDULE = 6,
	OMPT_IMPLICIT_TASK = 7,
	OMPT_MUTEX_RELEASED = 17,
	OMPT_WORK = 20,
	OMPT_MASKED = 21,
	OMPT_SYNC_REGION = 23,
	OMPT_MUTEX_ACQUIRE = 26,
	OMPT_MUTEX_ACQUIRED = 27,
	OMPT_NEST_LOCK = 28,
	OMPT_REDUCTION = 31,
};
enum { OMPT_BEGIN = 1, OMPT_END = 2 };
/* kinds of regions in which threads wait for each other */
enum {
	OMPT_BARRIER_IMPLICIT = 2,
	OMPT_SYNC_TASKWAIT = 5,
	OMPT_SYNC_TASKGROUP = 6,
	OMPT_SYNC_REDUCTION = 7,
	OMPT_BARRIER_IMPLICIT_PARALLEL = 9,
};
enum {
	OMPT_WORK_LOOP = 1,
	OMPT_WORK_SECTIONS = 2,
	OMPT_WORK_SINGLE_EXECUTOR = 3,
	OMPT_WORK_WORKSHARE = 5,
	OMPT_WORK_DISTRIBUTE = 6,
	OMPT_WORK_TASKLOOP = 7,
	OMPT_WORK_SCOPE = 8,
	OMPT_WORK_LOOP_STATIC = 10, /* from OpenMP 5.2 on, loops are of these kinds */
	OMPT_WORK_LOOP_DYNAMIC = 11,
	OMPT_WORK_LOOP_GUIDED = 12,
	OMPT_WORK_LOOP_OTHER = 13,
	OMPT_WORKS = 14,
};
enum {
	OMPT_MUTEX_LOCK = 1,
	OMPT_MUTEX_NEST_LOCK = 3,
	OMPT_MUTEX_CRITICAL = 5,
	OMPT_MUTEX_ATOMIC = 6,
	OMPT_MUTEX_ORDERED = 7,
	OMPT_MUTEXES = 8,
};
enum { OMPT_TASK_INITIAL = 1, OMPT_TASK_EXPLICIT = 4 };
enum { OMPT_TASK_COMPLETE = 1, OMPT_TASK_CANCEL = 3, OMPT_TASK_DETACH = 4 };

#endif
