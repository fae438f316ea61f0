/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program calls in place of libgomp's functions, made of calls.def. Each calls the function of libgomp with
 * the program's arguments, as words, of which libgomp takes as many as it has. Where the program gives libgomp a
 * function to run, libgomp gets ours, which runs the program's. */
#include "config.h"
#include "collector-plugin/openmp/team.h"

#include <dlfcn.h>
#include <string.h>

/* The longest call, GOMP_taskloop, has eleven. */
#define WORDS long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k
#define WORDS_ON a, b, c, d, e, f, g, h, i, j, k
typedef long gomp_call(WORDS);

enum {
#define CALL(kind, name, state) CALL_##name,
#include "collector-plugin/openmp/calls.def"
#undef CALL
	CALLS
};
static void *next[CALLS];
static unsigned (*thread_num)(void); /* of libgomp */
#define NEXT(name) ((gomp_call *)next[CALL_##name])

enum { VT_OMP_NONE = VT_OMP_FUNCTIONS };

/* ---- parallel regions ---- */

struct gomp_region {
	long word; /* the first word of the data, which GOMP_parallel_reductions() reads */
	void (*fn)(void *);
	void *data;
	const void *caller;
	unsigned begins; /* the construct that the region begins with; VT_OMP_NONE */
	vt_omp_team team;
};

/* Each thread of the team runs this. */
static void run_gomp_member(void *arg)
{
	struct gomp_region *r = arg;
	unsigned index = thread_num();

	if (index) {
		vt_omp_team_enter(&r->team, index);
	}
	if (r->begins != VT_OMP_NONE) {
		vt_omp_enter((enum vt_omp_function)r->begins, r->caller);
	}
	r->fn(r->data);
	vt_omp_team_wait(&r->team, !index);
}

static void begin_gomp_region(struct gomp_region *r, long fn, long data)
{
	r->fn = (void (*)(void *))fn;
	r->data = (void *)data;
	r->word = data ? *(long *)data : 0;
	vt_omp_team_begin(&r->team, r->caller);
}

/* ---- tasks ---- */

enum { TASK_DETACH = 1 << 13 };

/* What libgomp copies for a task, with the program's data after it. libgomp reads and writes its first words as if
 * they were those of the data: the event of a task with detach, the iterations and the reductions of a taskloop. */
struct gomp_task {
	long word[3];
	unsigned words; /* how many of them libgomp writes */
	uint32_t scl;
	void (*fn)(void *);
	void (*copy)(void *, void *);
	void *source;
	size_t size, head; /* of the data; its offset */
};

static void run_gomp_task(void *arg)
{
	struct gomp_task *t = arg;
	char *data = (char *)arg + t->head;

	memcpy(data, t->word, t->words * sizeof(t->word[0]));
	vt_omp->enter(VT_OMP_TASK, t->scl);
	t->fn(data);
	vt_omp_leave(VT_OMP_TASK);
}

static void copy_gomp_task(void *to, void *from)
{
	struct gomp_task *t = from;
	char *data = (char *)to + t->head;

	memcpy(to, from, sizeof(*t));
	if (t->copy) {
		t->copy(data, t->source);
	} else if (t->size) {
		memcpy(data, t->source, t->size);
	}
}

/* Changes the first five arguments, which are those of the program's task. */
static void wrap_gomp_task(struct gomp_task *t, const void *caller, long **arg, unsigned words)
{
	size_t align = (size_t)*arg[4] > sizeof(long) ? (size_t)*arg[4] : sizeof(long);

	*t = (struct gomp_task){ .words = words,
		.scl = vt_omp->locate(caller),
		.fn = (void (*)(void *)) * arg[0],
		.source = (void *)*arg[1],
		.copy = (void (*)(void *, void *)) * arg[2],
		.size = (size_t)*arg[3],
		.head = (sizeof(*t) + align - 1) / align * align };
	if (t->source) {
		memcpy(t->word, t->source, t->size < sizeof(t->word) ? t->size : sizeof(t->word));
	}
	*arg[0] = (long)run_gomp_task;
	*arg[1] = (long)t;
	*arg[2] = (long)copy_gomp_task;
	*arg[3] = (long)(t->head + t->size);
	*arg[4] = (long)align;
}

/* ---- the calls ---- */

#define CALL(kind, name, state) kind(name, state)
#define FUNCTION(name, before, after) \
	static long instead_of_##name(WORDS) \
	{ \
		const void *caller = __builtin_return_address(0); \
		long rc; \
		(void)caller; \
		before; \
		rc = NEXT(name)(WORDS_ON); \
		after; \
		return rc; \
	}
#define REGION(name, state) \
	static long instead_of_##name(WORDS) \
	{ \
		struct gomp_region r = { .caller = __builtin_return_address(0), .begins = VT_OMP_##state }; \
		long rc; \
		begin_gomp_region(&r, a, b); \
		a = (long)run_gomp_member; \
		b = (long)&r; \
		rc = NEXT(name)(WORDS_ON); \
		vt_omp_team_end(&r.team); \
		return rc; \
	}
/* clang-format off */
#define WAITS(name, state) FUNCTION(name, vt_omp_enter(VT_OMP_##state, caller), vt_omp_leave(VT_OMP_##state))
/* The end of single without copyprivate is a barrier, or is not seen. */
#define BEGINS(name, state) FUNCTION(name, vt_omp_leave(VT_OMP_SINGLE); vt_omp_enter(VT_OMP_##state, caller), )
#define ENDS(name, state) FUNCTION(name, vt_omp_leave(VT_OMP_##state); vt_omp_enter(VT_OMP_BARRIER, caller), \
	vt_omp_leave(VT_OMP_BARRIER))
#define ENDS_NOWAIT(name, state) FUNCTION(name, vt_omp_leave(VT_OMP_##state), )
#define BEGINS_IF(name, state) FUNCTION(name, vt_omp_leave(VT_OMP_SINGLE), if ((rc & 0xff) != 0) { vt_omp_enter(VT_OMP_##state, caller); })
#define BEGINS_UNLESS(name, state) FUNCTION(name, vt_omp_enter(VT_OMP_BARRIER, caller), vt_omp_leave(VT_OMP_BARRIER); \
	if (!rc) { vt_omp_enter(VT_OMP_##state, caller); })
#define LOCKS(name, state) FUNCTION(name, vt_omp_enter(VT_OMP_##state##_WAIT, caller), \
	vt_omp_leave(VT_OMP_##state##_WAIT); vt_omp_enter(VT_OMP_##state, caller))
#define UNLOCKS(name, state) FUNCTION(name, , vt_omp_leave(VT_OMP_##state))
#define WRAPPED(name, words, before, after) \
	static long instead_of_##name(WORDS) \
	{ \
		const void *caller = __builtin_return_address(0); \
		struct gomp_task t; \
		long rc; \
		wrap_gomp_task(&t, caller, (long *[]){ &a, &b, &c, &d, &e }, words); \
		before; \
		rc = NEXT(name)(WORDS_ON); \
		after; \
		return rc; \
	}
#define TASK_CALL(name, state) WRAPPED(name, g & TASK_DETACH ? 1 : 0, , )
#define TASKLOOP_CALL(name, state) WRAPPED(name, 2, vt_omp_enter(VT_OMP_##state, caller), vt_omp_leave(VT_OMP_##state))
/* clang-format on */
#include "collector-plugin/openmp/calls.def"
#undef CALL

const struct vt_omp_call *vt_omp_gomp(size_t *n, void ***to)
{
	static const struct vt_omp_call calls[CALLS] = {
#define CALL(kind, name, state) { #name, (void *)instead_of_##name },
#include "collector-plugin/openmp/calls.def"
	};

	thread_num = (unsigned (*)(void))dlsym(RTLD_DEFAULT, "omp_get_thread_num");
	*n = CALLS;
	*to = next;
	return calls;
}
