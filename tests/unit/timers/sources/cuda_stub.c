/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands for libcuda.so.1 (cuda_stub.h). STUB_OLD: a driver that lacks a call. The signatures are those of cuda.h, not those of our
 * table, so that a wrong declaration is found. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "tests/unit/timers/sources/cuda_stub.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int CUresult;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef unsigned long long CUdeviceptr;

enum { INVALID = 1, NO_DEVICE = 101, INVALID_CONTEXT = 201, NOT_READY = 600, LAUNCH_FAILED = 719 };

CUresult cuInit(unsigned int flags);
CUresult cuDeviceGetCount(int *count);
CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);
CUresult cuCtxPushCurrent_v2(CUcontext context);
CUresult cuCtxPopCurrent_v2(CUcontext *context);
CUresult cuCtxDestroy_v2(CUcontext context);
CUresult cuStreamCreate(CUstream *stream, unsigned int flags);
CUresult cuStreamQuery(CUstream stream);
CUresult cuModuleLoadData(CUmodule *module, const void *image);
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
CUresult cuMemHostAlloc(void **p, size_t bytes, unsigned int flags);
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *pointer, void *p, unsigned int flags);
CUresult cuLaunchKernel(CUfunction f, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
	unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared, CUstream stream,
	void **parameters, void **extra);

struct cuda_world cuda_world;

/* The words of the kernel's memory. */
struct box {
	_Atomic uint64_t asked;
	uint64_t apart[7];
	_Atomic uint64_t answered;
	_Atomic uint64_t shown;
};

static struct CUctx_st {
	int unused;
} the_context;
static struct CUctx_st *current;
static pthread_t thread;
static _Atomic int running, lost;
static int joinable, host_processor;
static uint64_t random_state = 1;

static int64_t raw_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

__attribute__((constructor)) static void begin_cuda_world(void)
{
	const char *text;

#define X(name) \
	text = getenv("CUDA_STUB_" #name); \
	cuda_world.name = text ? atoll(text) : 0;
	CUDA_WORLD(X)
#undef X
	cuda_world.gpus = cuda_world.gpus ? cuda_world.gpus : 2;
	cuda_world.origin_ns = raw_ns();
}

static void wait_drawn(int64_t most_ns)
{
	int64_t until;

	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	until = raw_ns() + (most_ns > 0 ? (int64_t)(random_state >> 33) % most_ns : 0);
	while (most_ns > 0 && raw_ns() < until) {
	}
}

static void wait_exactly(int64_t ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };

	if (ns > 0) {
		nanosleep(&ts, NULL);
	}
}

/* Returns 0: there are no answers any more. */
static int answer_once(struct box *box, uint64_t number)
{
	struct cuda_world *w = &cuda_world;
	int64_t n = ++w->answers;
	int late = w->late_every && n % w->late_every == 0 ? 1 + (n / w->late_every) % 2 : 0;

	if ((w->mute_after && n > w->mute_after) || (w->lost_after && n > w->lost_after)) {
		lost = w->lost_after > 0;
		return 0;
	}
	wait_drawn(w->delay_ns);
	wait_exactly(late == 1 ? w->late_ns : 0);
	box->shown = (uint64_t)cuda_truth(w, raw_ns());
	wait_exactly(late == 2 ? w->late_ns : 0);
	wait_drawn(w->delay_ns);
	box->answered = number;
	return 1;
}

/* A GPU does not wait for the processor of the program: another one, where there is one. */
static void leave_processor(int of_host)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 1 && of_host >= 0) {
		CPU_CLR(of_host, &set);
		sched_setaffinity(0, sizeof(set), &set);
	}
}

static void *kernel(void *arg)
{
	struct box *box = arg;
	uint64_t answered = box->answered, asked;
	int64_t looks = 0, most = cuda_world.idle ? cuda_world.idle : 100000000;

	leave_processor(host_processor);
	while (looks < most) {
		asked = box->asked;
		if (asked == answered) {
			looks++;
			if (looks % 200 == 0) {
				sched_yield();
			}
			continue;
		}
		if (asked == 0) {
			break;
		}
		if (!answer_once(box, asked)) {
			/* mute: it runs for ever, as far as the host sees */
			return NULL;
		}
		answered = asked;
		looks = 0;
	}
	running = 0;
	return NULL;
}

CUresult cuInit(unsigned int flags)
{
	return flags ? INVALID : (CUresult)cuda_world.init_rc;
}

CUresult cuDeviceGetCount(int *count)
{
	*count = (int)cuda_world.gpus;
	return 0;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	*device = ordinal + 7;
	return ordinal >= 0 && ordinal < cuda_world.gpus ? 0 : NO_DEVICE;
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device)
{
	if (cuda_world.context_rc) {
		return (CUresult)cuda_world.context_rc;
	}
	*context = current = &the_context;
	return flags != 8 || device < 7 ? INVALID : 0;
}

CUresult cuCtxPushCurrent_v2(CUcontext context)
{
	if (current || context != &the_context) {
		return INVALID_CONTEXT;
	}
	current = context;
	return 0;
}

CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
	if (!current) {
		return INVALID_CONTEXT;
	}
	*context = current;
	current = NULL;
	return 0;
}

/* Waits for the kernel, as CUDA does. */
CUresult cuCtxDestroy_v2(CUcontext context)
{
	if (joinable) {
		while (running) {
			sched_yield();
		}
		pthread_join(thread, NULL);
		joinable = 0;
	}
	cuda_world.destroyed++;
	return context == &the_context ? 0 : INVALID_CONTEXT;
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
	*stream = (CUstream)&running;
	return current && flags == 1 ? 0 : INVALID_CONTEXT;
}

CUresult cuStreamQuery(CUstream stream)
{
	if (stream != (CUstream)&running) {
		return INVALID;
	}
	return lost ? LAUNCH_FAILED : running ? NOT_READY : 0;
}

/* The text is PTX as far as its head and its end say so; that it assembles was seen with ptxas. */
CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	const char *text = image;

	*module = (CUmodule)&the_context;
	return current && !strncmp(text, ".version", 8) && strstr(text, ".entry answer(.param .u64 box)") &&
			strstr(text, "%globaltimer") && text[strlen(text) - 2] == '}'
		? 0
		: INVALID;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	*function = (CUfunction)&kernel;
	return module == (CUmodule)&the_context && !strcmp(name, "answer") ? 0 : INVALID;
}

CUresult cuMemHostAlloc(void **p, size_t bytes, unsigned int flags)
{
	*p = current && flags == 3 ? calloc(1, bytes < 4096 ? 4096 : bytes) : NULL;
	return *p ? 0 : INVALID;
}

/* Another address than the host's. */
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *pointer, void *p, unsigned int flags)
{
	*pointer = (CUdeviceptr)(uintptr_t)p ^ 0xf00000000000;
	return flags ? INVALID : 0;
}

#ifndef STUB_OLD
CUresult cuLaunchKernel(CUfunction f, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
	unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared, CUstream stream,
	void **parameters, void **extra)
{
	void *box = (void *)(uintptr_t)(*(CUdeviceptr *)parameters[0] ^ 0xf00000000000);

	if (cuda_world.launch_rc) {
		return (CUresult)cuda_world.launch_rc;
	}
	if (!current || f != (CUfunction)&kernel || grid_x * grid_y * grid_z * block_x * block_y * block_z != 1 ||
		shared || stream != (CUstream)&running || extra || running) {
		return INVALID;
	}
	if (joinable) {
		pthread_join(thread, NULL);
	}
	running = joinable = 1;
	host_processor = sched_getcpu();
	cuda_world.launches++;
	return pthread_create(&thread, NULL, kernel, box) == 0 ? 0 : INVALID;
}
#endif
