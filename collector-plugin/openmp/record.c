/* SPDX-License-Identifier: BSD-3-Clause */
/* Records the states of class OMP in the calling thread, and finds out whether the program uses OpenMP. */
#include "config.h"
#include "collector-plugin/openmp/openmp.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector-plugin/core/hooks.h"
#include "collector-plugin/core/names.h"
#include "collector-plugin/core/thread.h"
#include "collector-plugin/filter/filter.h"
#include "collector-plugin/host/program/slots.h"
#include "collector-plugin/trace/callstack.h"
#include "collector-plugin/trace/trace.h"

static const char texts[] =
#define TEXT(name, text) text "\0"
	VT_OMP_FUNCTION_LIST(TEXT)
#undef TEXT
	;

static int omp_wanted;
static _Atomic uint32_t ids[VT_OMP_FUNCTIONS]; /* 0: not defined yet */
static _Atomic int64_t ended[VT_MAX_THREADS];
static uint8_t owed[VT_MAX_THREADS]; /* how many states join() has entered or kept that are in the raw file */

static const char *omp_name(unsigned f)
{
	const char *t = texts;

	while (f--) {
		t += strlen(t) + 1;
	}
	return t;
}

/* ---- the calling thread ---- */

/* Its states; NULL: nothing is recorded. */
static struct vt_trace_thread *omp_states(int number)
{
	int saved = errno;
	VT_ErrorCode rc = VT_ERR_NOTINITIALIZED;

	if (VT_LIKELY(vt_tls.collect && vt_tls.collect == vt_collect_running())) {
		return vt_tls.inside ? NULL : vt_tls.trace;
	}
	if (!vt_tls.inside) {
		rc = number >= 0 ? vt_self_numbered(number) : vt_self();
	}
	errno = saved;
	return rc == VT_OK ? vt_tls.trace : NULL;
}

static int number_of_self(int number)
{
	return omp_states(number) ? vt_tls.thread->number : -1;
}

static void name_self(const char *name)
{
	int saved = errno;

	if (omp_states(-1)) {
		vt_inside_begin();
		vt_threads_register(vt_tls.collect, vt_tls.thread, -1, name);
		vt_inside_end();
	}
	errno = saved;
}

static uint32_t locate_return(const void *return_address)
{
	struct vt_trace_thread *t = omp_states(-1);

	/* the call is before the address to which it returns */
	return t && return_address ? vt_callstack_from(&t->stack, (uintptr_t)return_address - 1, NULL, 0, 0) : 0;
}

static ltick_t omp_now(void)
{
	struct vt_collect *c = vt_collect_running();

	return c ? vt_ticks_now(c) : (ltick_t){ 0 };
}

/* ---- states ---- */

static VT_SELDOM uint32_t define_omp_function(unsigned f)
{
	int saved = errno;
	uint32_t id;

	vt_inside_begin();
	id = vt_function(vt_collect_running(), "OMP", omp_name(f));
	vt_inside_end();
	atomic_store(&ids[f], id);
	errno = saved;
	return id;
}

static void enter_omp_state(enum vt_omp_function f, uint32_t scl)
{
	uint32_t id = atomic_load_explicit(&ids[f], memory_order_relaxed);

	if (omp_states(-1)) {
		vt_trace_enter(id ? id : define_omp_function(f), scl, VT_TRACE_FUNCTION);
	}
}

/* Returns one after the frame of that function in the region of the calling thread, or NULL. */
static struct vt_trace_frame *find_omp_state(struct vt_trace_thread *t, enum vt_omp_function f)
{
	uint32_t id = atomic_load_explicit(&ids[f], memory_order_relaxed),
		 region = atomic_load_explicit(&ids[VT_OMP_PARALLEL], memory_order_relaxed),
		 task = atomic_load_explicit(&ids[VT_OMP_TASK], memory_order_relaxed);
	struct vt_trace_frame *p;

	for (p = t->top; id && p > t->frame && p[-1].function != id; p--) {
		if (p[-1].function == region || (task && p[-1].function == task && f != VT_OMP_PARALLEL)) {
			return NULL;
		}
	}
	return id && p > t->frame ? p : NULL;
}

static int leave_innermost(const struct vt_trace_thread *t, const ltick_t *at)
{
	enum vt_trace_kind kind = (enum vt_trace_kind)t->top[-1].how.kind;

	return at && kind == VT_TRACE_FUNCTION ? vt_trace_leave_at(*at) : vt_trace_leave(0, kind);
}

static int leave_omp_state(enum vt_omp_function f, int itself, const ltick_t *at)
{
	struct vt_trace_thread *t = omp_states(-1);
	struct vt_trace_frame *p;

	if (!t) {
		return 0;
	}
	if (t->beyond) {
		return vt_trace_leave(0, VT_TRACE_FUNCTION) == VT_OK;
	}
	p = find_omp_state(t, f);
	while (p && t->top > p && leave_innermost(t, at) == VT_OK) {
	}
	return p && (!itself || leave_innermost(t, at) == VT_OK);
}

/* ---- the end of a parallel region ---- */

static void join_team(uint32_t scl)
{
	struct vt_trace_thread *t = omp_states(-1);
	int n;

	if (!t || !find_omp_state(t, VT_OMP_PARALLEL)) {
		return;
	}
	leave_omp_state(VT_OMP_PARALLEL, 0, NULL);
	enter_omp_state(VT_OMP_IMPLICIT_BARRIER, scl);
	n = vt_tls.thread->number;
	owed[n] = (uint8_t)((t->top[-1].how.recorded == VT_TRACE_RECORDED) +
		(t->top[-2].how.recorded == VT_TRACE_RECORDED));
	atomic_store_explicit(&ended[n], VT_OMP_WAITS, memory_order_release);
}

static void settle_team(void)
{
	struct vt_trace_thread *t = omp_states(-1);
	int wanted = vt_tls.wanted;
	ltick_t at = { 0 };

	if (t) {
		at.v = atomic_exchange(&ended[vt_tls.thread->number], 0);
	}
	if (!at.v) {
		return;
	}
	at = at.v == VT_OMP_WAITS ? omp_now() : at;
	if (t->stream && at.v < t->stream->now) {
		at.v = t->stream->now;
	}
	vt_tls.wanted = 0; /* counters cannot be read for a time that is over */
	leave_omp_state(VT_OMP_PARALLEL, 1, &at);
	vt_tls.wanted = wanted;
}

static void finish_team_of(const struct vt_thread *t)
{
	ltick_t at = { atomic_exchange(&ended[t->number], 0) };
	int i;

	for (i = 0; t->stream && at.v > VT_OMP_WAITS && i < owed[t->number]; i++) {
		vt_raw_leave(t->stream, at, (uint16_t)t->number, 0);
	}
}

VT_SELDOM void vt_omp_finish(void)
{
	if (omp_wanted) {
		vt_threads_each(finish_team_of);
	}
}

/* ---- start ---- */

static const struct vt_omp_own own = { number_of_self, name_self, locate_return, enter_omp_state, leave_omp_state,
	join_team, settle_team, omp_now, ended };

static VT_SELDOM int is_omp_recorded(void)
{
	struct vt_verdict v;
	unsigned f;

	for (f = 0; f < VT_OMP_FUNCTIONS; f++) {
		vt_filter_decide("OMP", omp_name(f), NULL, &v);
		if (v.record || (v.caller_bit && v.called_record)) {
			return 1;
		}
	}
	return 0;
}

/* Does the program use libgomp? LLVM's library has functions of that name, too. */
static VT_SELDOM int uses_libgomp(void)
{
	void *gomp = dlsym(RTLD_DEFAULT, "GOMP_parallel"), *kmp = gomp ? dlsym(RTLD_DEFAULT, "__kmpc_fork_call") : NULL;
	Dl_info a, b;

	return gomp && (!kmp || !dladdr(gomp, &a) || !dladdr(kmp, &b) || a.dli_fbase != b.dli_fbase);
}

static int compare_omp_symbols(const void *a, const void *b)
{
	return strcmp(((const struct vt_slot *)a)->symbol, ((const struct vt_slot *)b)->symbol);
}

static VT_SELDOM void redirect_libgomp(void)
{
	const struct vt_omp_table *table = vt_omp_begin(&own);
	struct vt_slot *slot = table ? calloc(table->n, sizeof(*slot)) : NULL;
	size_t i;

	for (i = 0; slot && i < table->n; i++) {
		table->next[i] = dlsym(RTLD_DEFAULT, table->call[i].symbol);
		slot[i] = (struct vt_slot){ table->call[i].symbol, table->next[i] ? table->call[i].instead : NULL };
	}
	if (slot) {
		qsort(slot, table->n, sizeof(*slot), compare_omp_symbols);
		vt_slots_change(slot, table->n);
	}
	free(slot);
}

VT_SELDOM void vt_omp_start(int wanted)
{
	unsigned f;

	omp_wanted = wanted && (!vt_filter_any() || is_omp_recorded());
	for (f = 0; f < VT_OMP_FUNCTIONS; f++) {
		atomic_store(&ids[f], 0);
	}
	vt_hooks.thread_ending = omp_wanted ? settle_team : NULL;
	if (omp_wanted && uses_libgomp()) {
		redirect_libgomp();
	}
}

/* OMPT: the run-time library calls it when it starts. NULL: no tool is wanted. */
void *ompt_start_tool(unsigned version, const char *runtime);
void *ompt_start_tool(unsigned version, const char *runtime)
{
	void *(*next)(unsigned, const char *);
	const struct vt_omp_table *table = omp_wanted && vt_collect_running() ? vt_omp_begin(&own) : NULL;

	if (table) {
		return table->ompt;
	}
	next = (void *(*)(unsigned, const char *))dlsym(RTLD_NEXT, "ompt_start_tool");
	return next ? next(version, runtime) : NULL;
}
