/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks up the call stack, in one of two ways. PCTRACE-FAST follows frame pointers. All functions on the way must
 * keep frame pointers; if they do not, only the innermost caller is certain. Otherwise the unwinder of the compiler's
 * library reads the unwind tables of each function. Its result is cached with the places on the stack where the
 * return addresses were found: if the same call at the same depth finds the same addresses there, the stack is the
 * same. */
#include "config.h"
#include "collector-plugin/trace/callstack.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#include "base/rootfs.h"
#include "base/text/text.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/settings/rule.h"
#include "collector-plugin/trace/define.h"
#include "collector-plugin/trace/objects.h"
#include "collector-plugin/trace/rules.h"

#if defined(__x86_64__) || defined(__aarch64__)
#define HAS_FRAMES 1 /* frame[0] is the caller's frame, frame[1] the return address */
#else
#define HAS_FRAMES 0
#endif
#ifdef __x86_64__
#define HAS_CACHE 1 /* a return address is below the caller's stack pointer */
#else
#define HAS_CACHE 0
#endif

enum { STACKS = 1 << 16, MOST_STACKS = STACKS / 4 * 3, CACHE = 64 };

static struct {
	struct vt_callstack_levels levels;
	int fast, cache;
	struct range {
		uintptr_t at, low, high;
	} own, others[2];            /* address ranges of this library, and of those of vt_callstack_own() */
	_Atomic uint32_t generation; /* changes when addresses may have got a new meaning */
	uint32_t n;                  /* number of stacks; protected by vt_objects_lock */
	_Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn, void *);
	uintptr_t (*get_ip)(struct _Unwind_Context *);
	uintptr_t (*get_cfa)(struct _Unwind_Context *);
} state;

/* The known stacks, in a table by a hash of their addresses. */
struct stack {
	_Atomic uint64_t hash; /* 0: free */
	uint32_t id;           /* 0: there was no space for its definition */
};
static struct stack *stacks;

/* A walk: return addresses, innermost first, and where on the stack they are. */
struct walk {
	unsigned n, want, skip;
	uintptr_t pc[VT_RAW_STACK];
	const uintptr_t *place[VT_RAW_STACK + VT_RAW_STACK];
	uintptr_t all[VT_RAW_STACK + VT_RAW_STACK]; /* all return addresses, with those that are skipped */
	unsigned n_all;
};

/* Not by an initializer, which also fills the arrays, of 650 bytes, with zeros. */
static inline void begin_walk(struct walk *w, unsigned skip, unsigned levels)
{
	w->n = w->n_all = 0;
	w->want = levels;
	w->skip = skip;
}

/* The cached stack of one call at one depth of the stack. */
struct cached {
	const uintptr_t *first; /* where on the stack its return address is */
	uint32_t id, generation;
	uint8_t skip, levels, n;
	const uintptr_t *place[VT_RAW_STACK];
	uintptr_t pc[VT_RAW_STACK];
};
struct vt_callstack_cache {
	struct cached slot[CACHE];
};

/* ---- options ---- */

_Static_assert(VT_RAW_STACK >= 15, "all levels that PCTRACE can ask for have room");

/* Reads on, off, LEVELS or SKIP:LEVELS, each 0 to 15. The parser of the options has rejected everything else. */
static VT_SELDOM struct vt_callstack_levels read_levels(const char *text)
{
	int skip = 0, levels = 0;

	if (text && vt_rule_levels(text, &skip, &levels) < 0) {
		tkm_parse_bool(text, &levels);
	}
	return (struct vt_callstack_levels){ (unsigned)skip, (unsigned)levels };
}

static VT_SELDOM int flag(const char *name)
{
	const char *text = vt_collect_option(name);
	int on = 1;

	return !text || tkm_parse_bool(text, &on) < 0 || on;
}

static VT_SELDOM int find_own_range(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct range *r = arg;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t low = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && r->at >= low && r->at < low + p->p_memsz) {
			r->low = low;
			r->high = low + p->p_memsz;
			return 1;
		}
	}
	return 0;
}

static VT_SELDOM int find_unwinder(int how)
{
	void *h = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL | how);

	state.backtrace = h ? (_Unwind_Reason_Code(*)(_Unwind_Trace_Fn, void *))dlsym(h, "_Unwind_Backtrace") : NULL;
	/* clang-format off */
	state.get_ip = h ? (uintptr_t (*)(struct _Unwind_Context *))dlsym(h, "_Unwind_GetIP") : NULL;
	state.get_cfa = h ? (uintptr_t (*)(struct _Unwind_Context *))dlsym(h, "_Unwind_GetCFA") : NULL;
	/* clang-format on */
	return state.backtrace && state.get_ip && state.get_cfa ? 0 : -1;
}

VT_SELDOM void vt_callstack_start(void)
{
	state.levels = read_levels(vt_collect_option("PCTRACE"));
	state.fast = HAS_FRAMES && flag("PCTRACE-FAST");
	state.cache = HAS_CACHE && flag("PCTRACE-CACHE");
	if (!state.own.high) {
		state.own.at = (uintptr_t)vt_callstack_start;
		dl_iterate_phdr(find_own_range, &state.own);
		stacks = vt_trace_memory(STACKS * sizeof(*stacks));
	}
	/* the unwinder is loaded now, because an event must not load a library */
	if (!state.fast && !state.backtrace && find_unwinder(0) < 0) {
		state.fast = HAS_FRAMES;
		vt_say(1, "WARNING", "libgcc_s.so.1 cannot be loaded: %s",
			state.fast ? "PCTRACE-FAST off follows frame "
				     "pointers all the same"
				   : "PCTRACE has no effect");
	}
}

VT_SELDOM void vt_callstack_own(const void *address)
{
	struct range *r = &state.others[0];

	if (r->high && !((uintptr_t)address >= r->low && (uintptr_t)address < r->high)) {
		r++;
	}
	r->at = (uintptr_t)address;
	dl_iterate_phdr(find_own_range, r);
}

VT_SELDOM struct vt_callstack_levels vt_callstack_default(void)
{
	return state.levels;
}

/* ---- up the stack ---- */

static inline int is_own_code(uintptr_t pc)
{
	return (pc >= state.own.low && pc < state.own.high) ||
		(pc >= state.others[0].low && pc < state.others[0].high) ||
		(pc >= state.others[1].low && pc < state.others[1].high);
}

/* The first frame whose return address is outside this library. This library keeps frame pointers. */
static inline const uintptr_t *leave_library(const uintptr_t *frame)
{
	while (is_own_code(frame[1])) {
		frame = (const uintptr_t *)frame[0];
	}
	return frame;
}

/* What lies in a register that is no frame pointer may lead into the middle of a frame, where AddressSanitizer has its marks. */
__attribute__((no_sanitize("address"))) static inline void walk_frame_pointers(
	struct walk *w, struct vt_callstack_thread *t, const uintptr_t *frame)
{
	const uintptr_t *next;

	for (;;) {
		if (frame[1] < 4096) {
			return;
		}
		if (w->skip) {
			w->skip--;
		} else {
			w->pc[w->n++] = frame[1] - 1;
			if (w->n == w->want) {
				return;
			}
		}
		next = (const uintptr_t *)frame[0];
		/* in code that does not keep frame pointers, the register may have held any value */
		if (next <= frame || (uintptr_t)next % sizeof(*next) || (uintptr_t)frame < vt_callstack_low(t) ||
			(uintptr_t)(next + 2) > t->high) {
			return;
		}
		frame = next;
	}
}

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *u, void *arg)
{
	struct walk *w = arg;
	uintptr_t pc = state.get_ip(u);

	if (pc < 4096) {
		return _URC_END_OF_STACK;
	}
	if (!w->n_all && is_own_code(pc)) {
		return _URC_NO_REASON;
	}
	w->all[w->n_all] = pc;
	w->place[w->n_all++] = (const uintptr_t *)state.get_cfa(u) - 1;
	if (w->n_all > w->skip) {
		w->pc[w->n++] = pc - 1;
	}
	return w->n == w->want ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/* ---- stacks and their numbers ---- */

static uint64_t hash_of_stack(const uintptr_t *pc, unsigned n)
{
	uint64_t h = 0x9e3779b97f4a7c15u * (atomic_load_explicit(&state.generation, memory_order_relaxed) + n);
	unsigned i;

	for (i = 0; i < n; i++) {
		h = (h ^ pc[i]) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	return h ? h : 1;
}

/* The caller holds vt_objects_lock. */
static VT_SELDOM uint32_t define_stack(struct vt_collect *c, const uintptr_t *pc, unsigned n)
{
	struct vt_raw_place place[VT_RAW_STACK];
	struct vt_object *o;
	unsigned i;

	for (i = 0; i < n; i++) {
		o = vt_object_of(c, pc[i]);
		/* code generated at run time, or no code at all: the addresses above it mean nothing */
		if (!o) {
			break;
		}
		place[i] = (struct vt_raw_place){
			.offset = pc[i] - o->base, .object = o->id, .demangle = (uint32_t)vt_demangle_wanted()
		};
	}
	return i ? vt_location_stack(c, place, i) : 0;
}

static VT_SELDOM __attribute__((noinline)) uint32_t number_slow(const uintptr_t *pc, unsigned n, uint64_t hash)
{
	int saved = errno;
	uint32_t i, id = 0;

	if (vt_tls.inside || !vt_tls.collect) {
		return 0; /* this thread holds the lock: a signal handler has interrupted it here */
	}
	vt_inside_begin();
	vt_lock(&vt_objects_lock);
	for (i = hash % STACKS; atomic_load(&stacks[i].hash) && stacks[i].hash != hash; i = (i + 1) % STACKS) {
	}
	if (stacks[i].hash == hash) {
		id = stacks[i].id;
	} else if (state.n < MOST_STACKS) {
		id = stacks[i].id = define_stack(vt_tls.collect, pc, n);
		atomic_store_explicit(&stacks[i].hash, hash, memory_order_release);
		if (++state.n == MOST_STACKS) {
			vt_say(1, "WARNING",
				"there are more than %d different call stacks: further ones are recorded without",
				MOST_STACKS);
		}
	}
	vt_unlock(&vt_objects_lock);
	vt_inside_end();
	errno = saved;
	return id;
}

static inline uint32_t number_of_stack(const uintptr_t *pc, unsigned n)
{
	uint64_t hash = hash_of_stack(pc, n), there;
	uint32_t i;

	for (i = hash % STACKS;; i = (i + 1) % STACKS) {
		there = atomic_load_explicit(&stacks[i].hash, memory_order_acquire);
		if (VT_LIKELY(there == hash)) {
			return stacks[i].id;
		}
		if (!there) {
			return number_slow(pc, n, hash);
		}
	}
}

/* ---- the cache ---- */

static struct cached *cache_slot(struct vt_callstack_thread *t, const uintptr_t *frame)
{
	if (!t->cache) {
		t->cache = vt_trace_memory(sizeof(*t->cache));
	}
	return t->cache ? &t->cache->slot[((uintptr_t)&frame[1] / 8 ^ frame[1] ^ frame[1] >> 6) % CACHE] : NULL;
}

static int same_callers(const struct cached *s, const uintptr_t *first, unsigned skip, unsigned levels)
{
	unsigned i;

	if (s->first != first || s->skip != skip || s->levels != levels ||
		s->generation != atomic_load_explicit(&state.generation, memory_order_relaxed)) {
		return 0;
	}
	for (i = 0; i < s->n && *s->place[i] == s->pc[i]; i++) {
	}
	return s->n > 0 && i == s->n;
}

static void store_in_cache(struct cached *s, const struct walk *w, const uintptr_t *first, unsigned skip, uint32_t id)
{
	unsigned i;

	s->n = 0;
	s->first = first;
	s->skip = (uint8_t)skip;
	s->levels = (uint8_t)w->want;
	s->id = id;
	s->generation = atomic_load_explicit(&state.generation, memory_order_relaxed);
	for (i = 0; i < w->n_all && i < VT_RAW_STACK; i++) {
		/* in the frame of a signal handler there is no return address at that place */
		if (w->place[i] < first || *w->place[i] != w->all[i]) {
			return;
		}
		s->place[i] = w->place[i];
		s->pc[i] = w->all[i];
	}
	s->n = i == w->n_all && w->place[0] == first ? (uint8_t)i : 0;
}

static uint32_t unwind(struct vt_callstack_thread *t, const uintptr_t *frame, unsigned skip, unsigned levels)
{
	struct cached *s = state.cache ? cache_slot(t, frame) : NULL;
	struct walk w;
	uint32_t id;

	if (s && same_callers(s, &frame[1], skip, levels)) {
		return s->id;
	}
	begin_walk(&w, skip, levels);
	vt_inside_begin();
	state.backtrace(take_frame, &w);
	vt_inside_end();
	id = w.n ? number_of_stack(w.pc, w.n) : 0;
	if (s) {
		store_in_cache(s, &w, &frame[1], skip, id);
	}
	return id;
}

uint32_t vt_callstack(struct vt_callstack_thread *t, unsigned skip, unsigned levels)
{
	struct walk w;
	const uintptr_t *frame;

	if (!stacks || !levels || vt_tls.inside) {
		return 0;
	}
	begin_walk(&w, skip, levels);
	frame = HAS_FRAMES ? leave_library(__builtin_frame_address(0)) : NULL;
	if (VT_LIKELY(state.fast)) {
		walk_frame_pointers(&w, t, frame);
		return w.n ? number_of_stack(w.pc, w.n) : 0;
	}
	return state.backtrace ? unwind(t, frame, skip, levels) : 0;
}

uint32_t vt_callstack_from(
	struct vt_callstack_thread *t, uintptr_t pc, const uintptr_t *frame, unsigned skip, unsigned levels)
{
	struct walk w;

	if (!stacks || (!levels && !pc)) {
		return 0;
	}
	begin_walk(&w, skip, levels);
	if (pc) {
		w.pc[w.n++] = pc;
		w.want = levels < VT_RAW_STACK ? levels + 1 : VT_RAW_STACK;
	}
	if (levels && frame && HAS_FRAMES) {
		/* what a signal handler found in the register may be no frame; below this one nothing may be read, unless it
		 * is on a stack of its own */
		uintptr_t here = (uintptr_t)__builtin_frame_address(0), low = vt_callstack_low(t);

		low = here < t->high && here > low ? here : low;

		if ((uintptr_t)frame % sizeof(*frame) == 0 && (uintptr_t)frame >= low && (uintptr_t)frame < t->high &&
			(uintptr_t)(frame + 1) < t->high) {
			walk_frame_pointers(&w, t, frame);
		}
	} else if (levels && state.fast) {
		walk_frame_pointers(&w, t, leave_library(__builtin_frame_address(0)));
	} else if (levels && state.backtrace) {
		state.backtrace(take_frame, &w);
	}
	return w.n ? number_of_stack(w.pc, w.n) : 0;
}

/* ---- is a frame still there? ---- */

static inline int is_near(uintptr_t a, uintptr_t b)
{
	enum { NEAR_BYTES = 1 << 16 };

	return (a < b ? b - a : a - b) < NEAR_BYTES;
}

int vt_callstack_has_both(struct vt_callstack_thread *t, uintptr_t a, uintptr_t b)
{
	uintptr_t low = vt_callstack_low(t);

	if (a >= low && a < t->high) {
		return b >= low && b < t->high;
	}
	return (b < low || b >= t->high) && is_near(a, b);
}

struct search {
	uintptr_t above,
		last; /* the stack pointer in the caller of the function that is searched for; in the last function */
	int found, passed;
};

static _Unwind_Reason_Code search_frame(struct _Unwind_Context *u, void *arg)
{
	enum { MOST_BYTES = 1 << 20 }; /* more is not a frame, but the way to another stack */
	struct search *s = arg;
	uintptr_t sp = state.get_cfa(u);

	s->found = sp == s->above;
	s->passed = s->last < s->above && sp > s->above && sp - s->last < MOST_BYTES;
	s->last = sp;
	return s->found || s->passed ? _URC_END_OF_STACK : _URC_NO_REASON;
}

int vt_callstack_returns_to(uintptr_t frame)
{
	struct search s = { .above = frame + 2 * sizeof(frame) };

	/* a program that throws exceptions has loaded it */
	if (!HAS_CACHE || (!state.backtrace && find_unwinder(RTLD_NOLOAD) < 0)) {
		return 1;
	}
	vt_inside_begin();
	state.backtrace(search_frame, &s);
	vt_inside_end();
	return !s.passed;
}

/* ---- several stacks ---- */

static _Atomic int is_switched;

int vt_callstack_switched(void)
{
	return atomic_load(&is_switched);
}

/* Does a handler of a signal run on a stack of its own? *s: that stack. */
static VT_SELDOM int is_on_signal_stack(stack_t *s)
{
	int saved = errno, on = sigaltstack(NULL, s) == 0 && s->ss_flags & SS_ONSTACK;

	errno = saved;
	return on;
}

int vt_callstack_leaves(struct vt_callstack_thread *t, uintptr_t at, uintptr_t sp)
{
	stack_t s = { .ss_flags = 0 };

	if (vt_callstack_has_both(t, at, sp)) {
		return at < sp;
	}
	return at != UINTPTR_MAX && !vt_lock_is_without_calls() && is_on_signal_stack(&s) &&
		at - (uintptr_t)s.ss_sp < s.ss_size && sp - (uintptr_t)s.ss_sp >= s.ss_size;
}

VT_SELDOM void vt_callstack_goes_on(struct vt_callstack_thread *t, uintptr_t from, uintptr_t to)
{
	stack_t s = { .ss_flags = 0 };

	/* a handler on a stack of its own comes back from there */
	if (!atomic_load(&is_switched) && from && from != UINTPTR_MAX && to && !is_near(from, to) &&
		!vt_callstack_has_both(t, from, to) && !vt_lock_is_without_calls() && !is_on_signal_stack(&s)) {
		atomic_store(&is_switched, 1);
	}
}

void vt_callstack_unloaded(void)
{
	atomic_fetch_add(&state.generation, 1);
}

extern void *__libc_stack_end; /* set by the dynamic linker */

VT_SELDOM void vt_callstack_thread_begins(struct vt_callstack_thread *t, int is_process)
{
	/* glibc has its descriptor of a thread at the top of the thread's stack */
	t->high = is_process ? (uintptr_t)__libc_stack_end : (uintptr_t)pthread_self();
	t->low = is_process ? t->high - ((uintptr_t)64 << 20) : 0;
}

/* pthread_getattr_np() would allocate. */
VT_SELDOM uintptr_t vt_callstack_find_low(struct vt_callstack_thread *t)
{
	enum { MAPS_BYTES = 1 << 20, SURE_BYTES = 1 << 14 };
	char *text = vt_trace_memory(MAPS_BYTES), *line = text, *rest;
	int root = tkm_root_open("/"), saved = errno;
	uintptr_t low;

	t->low = t->high - SURE_BYTES;
	if (text && root >= 0 && tkm_root_read(root, "proc/self/maps", text, MAPS_BYTES) > 0) {
		for (; line; line = strchr(line, '\n'), line += line != NULL) {
			low = strtoul(line, &rest, 16);
			if (low && low < t->high && t->high <= strtoul(rest + 1, NULL, 16)) {
				t->low = low;
			}
		}
	}
	if (root >= 0) {
		close(root);
	}
	if (text) {
		munmap(text, MAPS_BYTES);
	}
	errno = saved;
	return t->low;
}

VT_SELDOM void vt_callstack_thread_ended(struct vt_callstack_thread *t)
{
	if (t->cache) {
		munmap(t->cache, sizeof(*t->cache));
		t->cache = NULL;
	}
}
