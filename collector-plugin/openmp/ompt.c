/* SPDX-License-Identifier: BSD-3-Clause */
/* What LLVM's OpenMP run-time library, and others that offer OMPT, tell. They keep a word for each parallel region and
 * each task, in which we have the team (team.h) and the source location of a task. */
#include "config.h"
#include "collector-plugin/openmp/team.h"

#include "collector-plugin/openmp/ompt.h"

static vt_omp_team *team_of(ompt_data_t *parallel)
{
	_Static_assert(sizeof(vt_omp_team) == sizeof(ompt_data_t), "a team is one word");

	return (vt_omp_team *)(void *)parallel;
}

static void on_parallel_begin(ompt_data_t *task, const void *frame, ompt_data_t *parallel, unsigned threads, int flags,
	const void *return_address)
{
	(void)task;
	(void)frame;
	(void)threads;
	(void)flags;
	vt_omp_team_begin(team_of(parallel), return_address);
}

static void on_parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *return_address)
{
	(void)task;
	(void)flags;
	(void)return_address;
	vt_omp_team_end(team_of(parallel));
}

static void on_implicit_task(
	int endpoint, ompt_data_t *parallel, ompt_data_t *task, unsigned threads, unsigned index, int flags)
{
	(void)threads;
	if (endpoint != OMPT_BEGIN || flags & OMPT_TASK_INITIAL || !parallel) {
		return;
	}
	task->value = 0;
	if (index) {
		vt_omp_team_enter(team_of(parallel), index);
	}
}

/* ---- tasks ---- */

enum { IS_EXPLICIT = 1, HAS_STARTED = 2 }; /* and the source location in the upper half of the word */

static void on_task_create(ompt_data_t *task, const void *frame, ompt_data_t *created, int flags, int dependences,
	const void *return_address)
{
	(void)task;
	(void)frame;
	(void)dependences;
	if (flags & OMPT_TASK_EXPLICIT) {
		created->value = (uint64_t)vt_omp->locate(return_address) << 32 | IS_EXPLICIT;
	}
}

/* Tasks run on top of each other: a task that is interrupted goes on when those above it have ended. */
static void on_task_schedule(ompt_data_t *before, int status, ompt_data_t *task)
{
	if (before && before->value & HAS_STARTED &&
		(status == OMPT_TASK_COMPLETE || status == OMPT_TASK_CANCEL || status == OMPT_TASK_DETACH)) {
		before->value &= ~(uint64_t)HAS_STARTED;
		vt_omp_leave(VT_OMP_TASK);
		return;
	}
	if (task && (task->value & (IS_EXPLICIT | HAS_STARTED)) == IS_EXPLICIT) {
		task->value |= HAS_STARTED;
		vt_omp->enter(VT_OMP_TASK, vt_omp_team_location(task->value));
	}
}

/* ---- waiting for each other ---- */

/* Is it the barrier at the end of the parallel region? Until OpenMP 5.1 only the place tells: that of the region, or none. */
static int is_end_of_region(int kind, ompt_data_t *parallel, const void *return_address)
{
	return kind == OMPT_BARRIER_IMPLICIT_PARALLEL ||
		(kind == OMPT_BARRIER_IMPLICIT &&
			(!return_address ||
				vt_omp->locate(return_address) ==
					vt_omp_team_location(atomic_load(team_of(parallel)))));
}

static enum vt_omp_function function_of_sync(int kind)
{
	return kind == OMPT_SYNC_TASKWAIT     ? VT_OMP_TASKWAIT
		: kind == OMPT_SYNC_TASKGROUP ? VT_OMP_TASKGROUP
		: kind == OMPT_SYNC_REDUCTION ? VT_OMP_REDUCTION
					      : VT_OMP_BARRIER;
}

static void on_sync_region(int kind, int endpoint, ompt_data_t *parallel, ompt_data_t *task, const void *return_address)
{
	(void)task;
	if (endpoint == OMPT_END) {
		vt_omp_leave(function_of_sync(kind));
	} else if (parallel && is_end_of_region(kind, parallel, return_address)) {
		vt_omp_team_wait(team_of(parallel), vt_omp_team_is_first(team_of(parallel)));
	} else {
		vt_omp_enter(function_of_sync(kind), return_address);
	}
}

/* ---- work sharing and locks ---- */

static void change_state(int endpoint, enum vt_omp_function f, const void *return_address)
{
	if (endpoint == OMPT_END) {
		vt_omp_leave(f);
	} else {
		vt_omp_enter(f, return_address);
	}
}

static void on_work(
	int kind, int endpoint, ompt_data_t *parallel, ompt_data_t *task, uint64_t count, const void *return_address)
{
	static const enum vt_omp_function of[OMPT_WORKS] = { [OMPT_WORK_LOOP] = VT_OMP_LOOP,
		[OMPT_WORK_SECTIONS] = VT_OMP_SECTIONS,
		[OMPT_WORK_SINGLE_EXECUTOR] = VT_OMP_SINGLE,
		[OMPT_WORK_WORKSHARE] = VT_OMP_WORKSHARE,
		[OMPT_WORK_DISTRIBUTE] = VT_OMP_DISTRIBUTE,
		[OMPT_WORK_TASKLOOP] = VT_OMP_TASKLOOP,
		[OMPT_WORK_SCOPE] = VT_OMP_SCOPE,
		[OMPT_WORK_LOOP_STATIC] = VT_OMP_LOOP,
		[OMPT_WORK_LOOP_DYNAMIC] = VT_OMP_LOOP,
		[OMPT_WORK_LOOP_GUIDED] = VT_OMP_LOOP,
		[OMPT_WORK_LOOP_OTHER] = VT_OMP_LOOP };

	(void)parallel;
	(void)task;
	(void)count;
	if (kind > 0 && kind < OMPT_WORKS && of[kind]) {
		change_state(endpoint, of[kind], return_address);
	}
}

static void on_masked(int endpoint, ompt_data_t *parallel, ompt_data_t *task, const void *return_address)
{
	(void)parallel;
	(void)task;
	change_state(endpoint, VT_OMP_MASKED, return_address);
}

static void on_reduction(int kind, int endpoint, ompt_data_t *parallel, ompt_data_t *task, const void *return_address)
{
	(void)kind;
	(void)parallel;
	(void)task;
	change_state(endpoint, VT_OMP_REDUCTION, return_address);
}

/* Waiting and holding. That a lock is held is no state: locks need not be nested. omp_test_lock() does not wait. */
static const struct {
	enum vt_omp_function wait, hold;
} mutexes[OMPT_MUTEXES] = { [OMPT_MUTEX_LOCK] = { VT_OMP_LOCK_WAIT, 0 },
	[OMPT_MUTEX_NEST_LOCK] = { VT_OMP_LOCK_WAIT, 0 },
	[OMPT_MUTEX_CRITICAL] = { VT_OMP_CRITICAL_WAIT, VT_OMP_CRITICAL },
	[OMPT_MUTEX_ATOMIC] = { VT_OMP_ATOMIC_WAIT, VT_OMP_ATOMIC },
	[OMPT_MUTEX_ORDERED] = { VT_OMP_ORDERED_WAIT, VT_OMP_ORDERED } };

static int is_mutex_recorded(int kind)
{
	return kind > 0 && kind < OMPT_MUTEXES && mutexes[kind].wait;
}

static void on_mutex_acquire(int kind, unsigned hint, unsigned impl, uint64_t wait_id, const void *return_address)
{
	(void)hint;
	(void)impl;
	(void)wait_id;
	if (is_mutex_recorded(kind)) {
		vt_omp_enter(mutexes[kind].wait, return_address);
	}
}

static void on_mutex_acquired(int kind, uint64_t wait_id, const void *return_address)
{
	(void)wait_id;
	if (!is_mutex_recorded(kind)) {
		return;
	}
	vt_omp_leave(mutexes[kind].wait);
	if (mutexes[kind].hold) {
		vt_omp_enter(mutexes[kind].hold, return_address);
	}
}

static void on_mutex_released(int kind, uint64_t wait_id, const void *return_address)
{
	(void)wait_id;
	(void)return_address;
	if (is_mutex_recorded(kind) && mutexes[kind].hold) {
		vt_omp_leave(mutexes[kind].hold);
	}
}

/* The thread has the lock already. */
static void on_nest_lock(int endpoint, uint64_t wait_id, const void *return_address)
{
	(void)wait_id;
	(void)return_address;
	if (endpoint == OMPT_BEGIN) {
		vt_omp_leave(VT_OMP_LOCK_WAIT);
	}
}

/* ---- start ---- */

static int initialize_ompt(ompt_function_lookup_t lookup, int device, ompt_data_t *tool)
{
	static const struct {
		int event;
		ompt_interface_fn_t callback;
	} callbacks[] = {
		{ OMPT_PARALLEL_BEGIN, (ompt_interface_fn_t)on_parallel_begin },
		{ OMPT_PARALLEL_END, (ompt_interface_fn_t)on_parallel_end },
		{ OMPT_TASK_CREATE, (ompt_interface_fn_t)on_task_create },
		{ OMPT_TASK_SCHEDULE, (ompt_interface_fn_t)on_task_schedule },
		{ OMPT_IMPLICIT_TASK, (ompt_interface_fn_t)on_implicit_task },
		{ OMPT_MUTEX_RELEASED, (ompt_interface_fn_t)on_mutex_released },
		{ OMPT_WORK, (ompt_interface_fn_t)on_work },
		{ OMPT_MASKED, (ompt_interface_fn_t)on_masked },
		{ OMPT_SYNC_REGION, (ompt_interface_fn_t)on_sync_region },
		{ OMPT_MUTEX_ACQUIRE, (ompt_interface_fn_t)on_mutex_acquire },
		{ OMPT_MUTEX_ACQUIRED, (ompt_interface_fn_t)on_mutex_acquired },
		{ OMPT_NEST_LOCK, (ompt_interface_fn_t)on_nest_lock },
		{ OMPT_REDUCTION, (ompt_interface_fn_t)on_reduction },
	};
	ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
	size_t i;

	(void)device;
	(void)tool;
	for (i = 0; set && i < sizeof(callbacks) / sizeof(callbacks[0]); i++) {
		set(callbacks[i].event, callbacks[i].callback);
	}
	return set != NULL;
}

static void finalize_ompt(ompt_data_t *tool)
{
	(void)tool;
}

void *vt_omp_ompt(void)
{
	static struct ompt_start_tool_result result = { .initialize = initialize_ompt, .finalize = finalize_ompt };

	return &result;
}
