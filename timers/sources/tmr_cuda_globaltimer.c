/* SPDX-License-Identifier: BSD-3-Clause */
/* The nanosecond clock of a GPU of NVIDIA, "cuda_globaltimer:0": the register %globaltimer. A kernel of one thread waits for requests in
 * memory of the host and answers each with the register. A reading is therefore taken after the call began and before it ended, however
 * long the way is. CUDA's driver library is loaded when the timer is opened; programs list this file among their sources. */
#include "config.h"
#include "timers/timer_private.h"

#include <dlfcn.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/text/text.h"

/* The driver API as cuda.h declares it, with plain types: a CUdevice and a CUresult are int, a CUdeviceptr is unsigned long long,
 * the others are pointers. */
#define CUDA_CALLS(X) \
	X(cuInit, (unsigned)) \
	X(cuDeviceGetCount, (int *)) \
	X(cuDeviceGet, (int *, int)) \
	X(cuCtxCreate_v2, (void **, unsigned, int)) \
	X(cuCtxPushCurrent_v2, (void *)) \
	X(cuCtxPopCurrent_v2, (void **)) \
	X(cuCtxDestroy_v2, (void *)) \
	X(cuStreamCreate, (void **, unsigned)) \
	X(cuStreamQuery, (void *)) \
	X(cuModuleLoadData, (void **, const void *)) \
	X(cuModuleGetFunction, (void **, void *, const char *)) \
	X(cuMemHostAlloc, (void **, size_t, unsigned)) \
	X(cuMemHostGetDevicePointer_v2, (unsigned long long *, void *, unsigned)) \
	X(cuLaunchKernel, \
		(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, \
			void **))
static struct {
#define X(call, arguments) int(*call) arguments;
	CUDA_CALLS(X)
#undef X
} cu;

enum { CUDA_NOT_READY = 600, MAP_HOST = 8, NON_BLOCKING = 1, PORTABLE_AND_MAPPED = 3 };

/* What the host writes and what the GPU writes are in different lines of the cache. */
struct mailbox {
	_Atomic uint64_t asked; /* the number of a request; 0: the kernel is to end */
	uint64_t apart[7];
	_Atomic uint64_t answered; /* the number of the last answer; written after shown */
	uint64_t shown;            /* the register */
};

/* The register is read after the request has arrived: the branch needs it, and nothing is speculated. After a million looks, about a
 * second, without a request the kernel ends, so that it does not hold the GPU; the next request starts it again. */
static const char answering_kernel[] =
	".version 6.0\n.target sm_50\n.address_size 64\n"
	".visible .entry answer(.param .u64 box)\n{\n"
	".reg .u64 %rd<5>;\n.reg .u32 %r<2>;\n.reg .pred %p<4>;\n"
	"ld.param.u64 %rd1, [box];\ncvta.to.global.u64 %rd1, %rd1;\n"
	"ld.volatile.global.u64 %rd2, [%rd1+64];\nmov.u32 %r1, 0;\n"
	"WAIT:\nld.volatile.global.u64 %rd3, [%rd1];\nsetp.ne.u64 %p1, %rd3, %rd2;\n@%p1 bra ANSWER;\n"
	"add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 1000000;\n@%p2 bra WAIT;\nret;\n"
	"ANSWER:\nsetp.eq.u64 %p3, %rd3, 0;\n@%p3 bra DONE;\nmembar.sys;\nmov.u64 %rd4, %globaltimer;\n"
	"st.volatile.global.u64 [%rd1+72], %rd4;\nmembar.sys;\nst.volatile.global.u64 [%rd1+64], %rd3;\n"
	"mov.u64 %rd2, %rd3;\nmov.u32 %r1, 0;\nbra WAIT;\nDONE:\nret;\n}\n";

/* Spins between two looks at the state of the GPU, and how long an answer may take. */
enum { SPINS = 2000 };
static const double longest_answer_s = 1;

struct gpu_clock {
	void *context, *stream, *kernel;
	struct mailbox *box;
	unsigned long long box_of_gpu; /* its address there */
	uint64_t number;
	ltick_t last;
	pid_t owner; /* a child of fork() has neither the context nor the memory */
	char why[120];
};

static double wait_clock_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void relax_processor(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static int launch_kernel(struct gpu_clock *g)
{
	void *parameters[] = { &g->box_of_gpu };

	return cu.cuLaunchKernel(g->kernel, 1, 1, 1, 1, 1, 1, 0, g->stream, parameters, NULL);
}

/* ---- reading ---- */

static int has_answered(const struct gpu_clock *g)
{
	return atomic_load_explicit(&g->box->answered, memory_order_acquire) == g->number;
}

/* There is no answer yet: starts the kernel where it has ended. Returns CUDA's error; 0: go on waiting. */
static int look_after_kernel(struct gpu_clock *g)
{
	void *popped;
	int rc = cu.cuCtxPushCurrent_v2(g->context);

	if (rc != 0) {
		return rc;
	}
	rc = cu.cuStreamQuery(g->stream);
	if (rc == 0 && !has_answered(g)) {
		rc = launch_kernel(g);
	}
	cu.cuCtxPopCurrent_v2(&popped);
	return rc == CUDA_NOT_READY ? 0 : rc;
}

static int wait_for_answer(struct tmr_timer *t, struct gpu_clock *g)
{
	double begin = wait_clock_s();
	int i, rc;

	for (;;) {
		for (i = 0; i < SPINS && !has_answered(g); i++) {
			relax_processor();
		}
		if (has_answered(g)) {
			return 0;
		}
		rc = look_after_kernel(g);
		if (rc != 0) {
			snprintf(g->why, sizeof(g->why),
				"the GPU was lost (CUDA error %d); nvidia-smi and the kernel's log say more", rc);
		} else if (wait_clock_s() - begin > longest_answer_s && !has_answered(g)) {
			snprintf(g->why, sizeof(g->why),
				"the GPU has not answered for %g s; nvidia-smi shows whether it is there and who uses it",
				longest_answer_s);
		}
		if (g->why[0]) {
			t->fault = g->why;
			return -1;
		}
		sched_yield();
	}
}

static ltick_t read_globaltimer(struct tmr_timer *t)
{
	struct gpu_clock *g = t->impl;

	if (!t->fault && getpid() != g->owner) {
		t->fault = "a child of fork() cannot read a GPU that its parent has opened";
	}
	if (!t->fault) {
		atomic_store_explicit(&g->box->asked, ++g->number, memory_order_release);
		if (wait_for_answer(t, g) == 0) {
			g->last = ltick((int64_t)g->box->shown);
		}
	}
	return g->last;
}

/* ---- opening ---- */

static int find_cuda_calls(struct tkm_err *err)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL); /* it has threads: it stays */

	if (!library) {
		return tkm_fail(err, TKM_ERR_UNAVAIL,
			"libcuda.so.1 is not here: it comes with the driver of NVIDIA's GPUs, and a container needs "
			"it, too");
	}
#define X(call, arguments) \
	*(void **)&cu.call = dlsym(library, #call); \
	if (!cu.call) { \
		return tkm_fail(err, TKM_ERR_UNAVAIL, "libcuda.so.1 lacks " #call ": a newer driver is needed"); \
	}
	CUDA_CALLS(X)
#undef X
	return 0;
}

static int find_gpu(long long wanted, int *device, struct tkm_err *err)
{
	int rc = cu.cuInit(0), n = 0;

	if (rc == 0) {
		rc = cu.cuDeviceGetCount(&n);
	}
	if (rc != 0) {
		return tkm_fail(
			err, TKM_ERR_UNAVAIL, "CUDA finds no GPU (error %d of cuInit); nvidia-smi says more", rc);
	}
	if (wanted >= n || cu.cuDeviceGet(device, (int)wanted) != 0) {
		return tkm_fail(err, TKM_ERR_UNAVAIL,
			"there is no GPU %lld: CUDA counts %d from 0, and CUDA_VISIBLE_DEVICES limits them", wanted, n);
	}
	return 0;
}

/* In the new context, which is current. Returns 0, or CUDA's error with the name of the call. */
static int start_answering(struct gpu_clock *g, const char **call)
{
	void *module, *box;
	int rc;

#define CUDA_TRY(name, arguments) \
	*call = #name; \
	rc = cu.name arguments; \
	if (rc != 0) { \
		return rc; \
	}
	CUDA_TRY(cuStreamCreate, (&g->stream, NON_BLOCKING))
	CUDA_TRY(cuModuleLoadData, (&module, answering_kernel))
	CUDA_TRY(cuModuleGetFunction, (&g->kernel, module, "answer"))
	CUDA_TRY(cuMemHostAlloc, (&box, sizeof(*g->box), PORTABLE_AND_MAPPED))
	g->box = box;
	*g->box = (struct mailbox){ .asked = 0 };
	CUDA_TRY(cuMemHostGetDevicePointer_v2, (&g->box_of_gpu, box, 0))
	*call = "cuLaunchKernel";
	return launch_kernel(g);
#undef CUDA_TRY
}

static int begin_clock(struct gpu_clock *g, int device, struct tkm_err *err)
{
	const char *call = "cuCtxCreate";
	void *popped;
	int rc = cu.cuCtxCreate_v2(&g->context, MAP_HOST, device), created = rc == 0;

	if (created) {
		rc = start_answering(g, &call);
		cu.cuCtxPopCurrent_v2(&popped); /* the caller's context is current again */
	}
	if (rc == 0) {
		return 0;
	}
	if (created) {
		cu.cuCtxDestroy_v2(g->context);
	}
	return tkm_fail(err, TKM_ERR_UNAVAIL, "no kernel can be started on the GPU (%s: CUDA error %d)", call, rc);
}

static void close_globaltimer(struct tmr_timer *t)
{
	struct gpu_clock *g = t->impl;
	double begin = wait_clock_s();
	int rc = CUDA_NOT_READY;

	/* to destroy a context waits for its kernels: never where the GPU does not answer */
	if (!t->fault && getpid() == g->owner) {
		atomic_store_explicit(&g->box->asked, 0, memory_order_release);
		while (rc == CUDA_NOT_READY && wait_clock_s() - begin < longest_answer_s) {
			rc = cu.cuStreamQuery(g->stream);
			sched_yield();
		}
		if (rc == 0) {
			cu.cuCtxDestroy_v2(g->context);
		}
	}
	free(g);
}

static int open_globaltimer(struct tmr_timer *t, const char *arg, struct tkm_err *err)
{
	struct gpu_clock *g;
	long long wanted = 0;
	int device;

	if (arg && tkm_parse_int(arg, 0, INT_MAX, &wanted) < 0) {
		return tkm_fail(err, TKM_ERR_ARG, "timer cuda_globaltimer: '%s' is no number of a GPU", arg);
	}
	if (find_cuda_calls(err) < 0 || find_gpu(wanted, &device, err) < 0) {
		return -1;
	}
	g = calloc(1, sizeof(*g));
	if (!g) {
		return tkm_fail(err, TKM_ERR_NOMEM, "timer cuda_globaltimer: out of memory");
	}
	if (begin_clock(g, device, err) < 0) {
		free(g);
		return -1;
	}
	g->owner = getpid();
	t->read = read_globaltimer;
	t->read_ordered = read_globaltimer;
	t->hz = 1e9;
	t->flags = TMR_STEPPED | TMR_SLEWED | TMR_DEVICE; /* what the driver does to it is not documented */
	t->impl = g;
	snprintf(t->name, sizeof(t->name), "cuda_globaltimer:%lld", wanted);
	tmr_read(t);
	if (tmr_check_fault(t, err) < 0) {
		close_globaltimer(t);
		return -1;
	}
	return 0;
}

const struct tmr_ops tmr_cuda_globaltimer = {
	.name = "cuda_globaltimer",
	.arg = "0",
	.what = "nanosecond clock of a GPU of NVIDIA; not tried on a GPU yet",
	.scope = TMR_SCOPE_PROCESS,
	.open = open_globaltimer,
	.close = close_globaltimer,
	.own_quartz = 1,
};
