/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that were compiled with -finstrument-functions (gcc, clang, gfortran; Intel Trace Collector guide,
 * section 2.3.1). Each function calls us with its address when it is entered and left. An address gets an id at its
 * first call. Its name is found when the raw file is merged, or here if a filter needs it. */
#include "config.h"
#include "collector-plugin/trace/instrument.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>

#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/hooks.h"
#include "collector-plugin/core/names.h"
#include "collector-plugin/filter/filter.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/stats/stats.h"
#include "collector-plugin/trace/callstack.h"
#include "collector-plugin/trace/define.h"
#include "collector-plugin/trace/objects.h"
#include "collector-plugin/trace/trace.h"

/* A table from address to function. It is filled under the lock and read without it. */
enum { ADDRESSES = 1 << 20, GONE = 1 };
struct address {
	_Atomic uintptr_t address; /* 0: free; GONE: it was in an object that has been unloaded */
	uint32_t function;         /* 0: there was no space for another function */
	uint32_t code; /* vt_raw_short_code() of the function, if no rule says more than to record it; else 0 */
};
static struct address *addresses;

static inline uint32_t first_address_place(uintptr_t address)
{
	return (uint32_t)((uint64_t)address * 0x9e3779b97f4a7c15u >> 44);
}

static inline uint32_t find_known_address(uintptr_t address)
{
	uint32_t i = first_address_place(address), n;
	uintptr_t there;

	for (n = 0; n < 64; n++, i = (i + 1) % ADDRESSES) {
		there = atomic_load_explicit(&addresses[i].address, memory_order_acquire);
		if (VT_LIKELY(there == address)) {
			return addresses[i].function;
		}
		if (there == 0) {
			return 0;
		}
	}
	return 0;
}

/* ---- first calls ---- */

static uint32_t define_address(struct vt_collect *c, uintptr_t address)
{
	struct vt_object *o = vt_object_of(c, address);
	Dl_info info;
	const char *name = "";

	if (!o) {
		return 0;
	}
	/* the merge needs the dynamic linker's name if the file is gone by then */
	if (dladdr((void *)address, &info) && info.dli_sname && info.dli_saddr == (void *)address) {
		name = info.dli_sname;
	}
	if (vt_filter_any()) {
		name = vt_object_name(o, address - o->base, name); /* rules need it; else the merge finds it */
	}
	return vt_function_at(c, o->cls, o->id, address - o->base, name);
}

static uint32_t first_call(struct vt_collect *c, uintptr_t address)
{
	uint32_t i, n, id;
	int saved = errno;

	if (vt_tls.inside) {
		return 0; /* a function of the program that we called, such as its malloc() */
	}
	/* first, because it keeps signal handlers out, whose calls would be dropped */
	vt_lock(&vt_objects_lock);
	vt_inside_begin();
	id = find_known_address(address);
	if (!id) {
		for (i = first_address_place(address), n = 0; n < 64 && atomic_load(&addresses[i].address) > GONE;
			n++) {
			i = (i + 1) % ADDRESSES;
		}
		id = n < 64 ? define_address(c, address) : 0;
		if (id) {
			addresses[i].function = id;
			addresses[i].code = vt_trace_rule(id) == VT_TRACE_PLAIN ? vt_raw_short_code(id) : 0;
			atomic_store_explicit(&addresses[i].address, address, memory_order_release);
		}
	}
	vt_inside_end();
	vt_unlock(&vt_objects_lock);
	errno = saved;
	return id;
}

VT_SELDOM int vt_instrument_start(void)
{
	void *p;

	if (!addresses) {
		p = mmap(NULL, ADDRESSES * sizeof(*addresses), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p == MAP_FAILED) {
			return -1;
		}
		__atomic_store_n(&addresses, p, __ATOMIC_RELEASE);
	}
	return vt_objects_start();
}

/* ---- calls of the instrumented functions ---- */

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

/* The stack pointer in the function when it called us. */
#if defined(__x86_64__)
#define STACK() ((uintptr_t)__builtin_dwarf_cfa())
#else
#define STACK() ((uintptr_t)__builtin_frame_address(0) + 2 * sizeof(void *))
#endif

static const struct vt_trace_how recorded_call = { .kind = VT_TRACE_CALL, .recorded = 1 };

static inline int is_recorded_call(const struct vt_trace_frame *f)
{
	uint32_t a, b;

	memcpy(&a, &f->how, sizeof(a));
	memcpy(&b, &recorded_call, sizeof(b));
	return a == b;
}

/* The thread's states, if an event of this thread only needs a record; its `plain` has further conditions. */
static inline struct vt_trace_thread *plain_thread(const struct vt_collect *c)
{
	/* a thread that is on has `trace` */
	return c == vt_tls.collect && vt_tls.state == VT_TLS_ON && !vt_tls.inside ? vt_tls.trace : NULL;
}

/* Counts what a signal handler calls when its thread is over for the collector, but not yet for the kernel. */
static int is_beyond_end(const struct vt_collect *c)
{
	if (!vt_tls.inside || vt_tls.inside_at != UINTPTR_MAX) {
		return 0;
	}
	atomic_fetch_add_explicit(&vt_raw_head(c->raw)->lost, 1, memory_order_relaxed);
	return 1;
}

static __attribute__((noinline)) void enter_slow(uintptr_t address, uintptr_t sp)
{
	struct vt_collect *c = vt_collect_running();
	uint32_t id, rule;

	if (!c && vt_hooks.first_event && vt_self() == VT_OK) {
		c = vt_collect_running();
	}
	if (!c || !vt_trace_wanted || is_beyond_end(c)) {
		return;
	}
	id = find_known_address(address);
	if (!VT_LIKELY(id)) {
		id = vt_self() == VT_OK ? first_call(c, address) : 0;
	}
	rule = vt_trace_rule(id);
	if (rule & VT_TRACE_PUSH) {
		vt_trace_call(id, rule, address, sp);
	}
}

static __attribute__((noinline)) void exit_slow(uintptr_t address)
{
	const struct vt_collect *c = vt_collect_running();
	uint32_t id;

	if (!c || (vt_trace_wanted && is_beyond_end(c)) || !vt_tls.trace) {
		return;
	}
	id = find_known_address(address);
	if (vt_trace_rule(id) & VT_TRACE_PUSH) {
		vt_trace_return(id);
	}
}

/* The same, whether the thread records or not. */
static inline struct vt_trace_thread *counting_thread(const struct vt_collect *c)
{
	return c == vt_tls.collect && vt_tls.state != VT_TLS_NEW && !vt_tls.inside ? vt_tls.trace : NULL;
}

/* STATISTICS: reads the timer once at each end, and makes a record if the thread records. */
static __attribute__((noinline)) void enter_counted(uintptr_t address, uintptr_t sp)
{
	struct vt_trace_thread *t = counting_thread(vt_collect_running());
	int on = vt_tls.state == VT_TLS_ON;
	struct vt_trace_frame *f;
	const struct address *a;
	ltick_t now;

	if (VT_LIKELY(t && (f = t->top) < t->counted && f[-1].sp >= sp)) {
		a = &addresses[first_address_place(address)];
		if (VT_LIKELY(atomic_load_explicit(&a->address, memory_order_acquire) == address && a->code)) {
			now = tmr_read_counter();
			if (!on ||
				(!vt_trace_is_sampled(now) &&
					vt_raw_enter_short(t->stream, now, a->function, a->code))) {
				vt_trace_take_frame(t);
				f->address = address;
				f->function = a->function;
				f->how = recorded_call;
				f->how.recorded = (uint8_t)on;
				f->start = now.v;
				f->inner = 0;
				vt_trace_fill_sp(f, sp);
				return;
			}
		}
	}
	enter_slow(address, sp);
}

static __attribute__((noinline)) void exit_counted(uintptr_t address)
{
	struct vt_trace_thread *t = counting_thread(vt_collect_running());
	struct vt_trace_frame *f;
	int64_t inclusive, exclusive;
	uint32_t function;
	ltick_t now;

	if (VT_LIKELY(t && (f = t->top - 1) < t->counted && f->address == address && f->how.kind == VT_TRACE_CALL &&
		    f->how.recorded != VT_TRACE_LOST && !f->how.ruled && !f->how.folded && f->start &&
		    !t->n_communications)) {
		now = tmr_read_counter();
		if (f->how.recorded == VT_TRACE_NOT ||
			((vt_tls.state != VT_TLS_ON || !vt_trace_is_sampled(now)) &&
				vt_raw_leave_short(t->stream, now))) {
			inclusive = now.v - f->start;
			exclusive = inclusive - f->inner;
			function = f->function;
			vt_trace_give_frame(t, f);
			f[-1].inner += inclusive;
			vt_stats_call(t->stats, function, inclusive, exclusive);
			return;
		}
	}
	exit_slow(address);
}

/* Most calls end here: no call of another function, one reading of the timer, one word written. trace.c handles
 * everything else. */
void __cyg_profile_func_enter(void *function, void *site)
{
	struct vt_collect *c = vt_collect_running();
	struct vt_trace_thread *t = plain_thread(c);
	uintptr_t sp = STACK(), address = (uintptr_t)function;
	struct vt_trace_frame *f;
	const struct address *a;
	uint32_t code;
	ltick_t now;

	(void)site;
	if (VT_LIKELY(t && (f = t->top) < t->plain && f[-1].sp >= sp)) {
		a = &addresses[first_address_place(address)];
		if (VT_LIKELY(atomic_load_explicit(&a->address, memory_order_acquire) == address && (code = a->code))) {
			now = tmr_read_counter();
			if (!vt_trace_is_sampled(now) && vt_raw_enter_short(t->stream, now, a->function, code)) {
				vt_trace_take_frame(t);
				f->address = address;
				f->function = a->function;
				f->how = recorded_call;
				vt_trace_fill_sp(f, sp);
				return;
			}
		}
	}
	if (t && t->counted == t->frame) {
		enter_slow(address, sp);
	} else {
		enter_counted(address, sp);
	}
}

void __cyg_profile_func_exit(void *function, void *site)
{
	struct vt_collect *c = vt_collect_running();
	struct vt_trace_thread *t = plain_thread(c);
	uintptr_t address = (uintptr_t)function;
	struct vt_trace_frame *f;
	ltick_t now;

	(void)site;
	if (VT_LIKELY(t && (f = t->top - 1) < t->plain && f->address == address && is_recorded_call(f))) {
		now = tmr_read_counter();
		if (!vt_trace_is_sampled(now) && vt_raw_leave_short(t->stream, now)) {
			vt_trace_give_frame(t, f);
			return;
		}
	}
	if (t && t->counted == t->frame) {
		exit_slow(address);
	} else {
		exit_counted(address);
	}
}

void vt_instrument_swapped(uintptr_t to)
{
	struct vt_trace_thread *t = vt_tls.trace;

	if (t && t->top > t->frame && vt_collect_running()) {
		vt_callstack_goes_on(&t->stack, (uintptr_t)__builtin_frame_address(0), to);
	}
}

/* ---- unloading ---- */

/* An object was unloaded: from now on the same addresses may belong to other functions. */
static VT_SELDOM void forget_functions(const struct vt_object *o)
{
	uint32_t i;

	for (i = 0; i < ADDRESSES; i++) {
		uintptr_t there = atomic_load_explicit(&addresses[i].address, memory_order_relaxed);

		if (there >= o->base && there < o->end) {
			atomic_store(&addresses[i].address, GONE);
		}
	}
}

VT_SELDOM void vt_instrument_unloaded(void)
{
	if (addresses && vt_collect_running() && !vt_tls.inside) {
		vt_inside_begin();
		vt_lock(&vt_objects_lock);
		if (vt_objects_forget(forget_functions)) {
			vt_callstack_unloaded();
		}
		vt_unlock(&vt_objects_lock);
		vt_inside_end();
	}
}
