/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_work: compares the counters nvml_* of the first GPU with work that is known, and its clock with the host's. CUDA's driver library, loaded at run time, makes the
 * work, from PTX: no toolkit is needed. TAP; status 77 with the reason where there is no such GPU. */
#include "config.h"
#include "calib/map/pairs.h"
#include "sampler/source.h"
#include "timers/quality/assume.h"
#include "timers/quality/tick.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CALLS(X) \
	X(cuInit, (unsigned)) \
	X(cuDeviceGet, (int *, int)) \
	X(cuDeviceGetUuid, (unsigned char *, int)) \
	X(cuCtxCreate_v2, (void **, unsigned, int)) \
	X(cuCtxSetCurrent, (void *)) \
	X(cuCtxSynchronize, (void)) \
	X(cuModuleLoadData, (void **, const void *)) \
	X(cuModuleGetFunction, (void **, void *, const char *)) \
	X(cuMemAlloc_v2, (unsigned long long *, size_t)) \
	X(cuMemFree_v2, (unsigned long long)) \
	X(cuMemHostAlloc, (void **, size_t, unsigned)) \
	X(cuMemcpyHtoD_v2, (unsigned long long, const void *, size_t)) \
	X(cuMemcpyDtoH_v2, (void *, unsigned long long, size_t)) \
	X(cuLaunchKernel, \
		(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, \
			void **))
static struct {
#define X(call, arguments) int(*call) arguments;
	CALLS(X)
#undef X
} cu;

/* Each thread multiplies for so many cycles of its multiprocessor; the first one writes how many there were, and the nanoseconds of
 * the GPU's own timer meanwhile. */
static const char ptx[] =
	".version 6.0\n.target sm_50\n.address_size 64\n"
	".visible .entry spin(.param .u64 out, .param .u64 cycles)\n{\n"
	".reg .u64 %rd<10>;\n.reg .f32 %f<2>;\n.reg .u32 %r<4>;\n.reg .pred %p<3>;\n"
	"ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [cycles];\n"
	"mov.u64 %rd6, %globaltimer;\nmov.u64 %rd3, %clock64;\nmov.f32 %f1, 0f3F800000;\n"
	"LOOP:\nfma.rn.f32 %f1, %f1, %f1, %f1;\nfma.rn.f32 %f1, %f1, %f1, %f1;\n"
	"fma.rn.f32 %f1, %f1, %f1, %f1;\nfma.rn.f32 %f1, %f1, %f1, %f1;\n"
	"mov.u64 %rd4, %clock64;\nsub.u64 %rd5, %rd4, %rd3;\nsetp.lt.u64 %p1, %rd5, %rd2;\n@%p1 bra LOOP;\n"
	"mov.u64 %rd7, %globaltimer;\nsub.u64 %rd8, %rd7, %rd6;\n"
	"mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nor.b32 %r3, %r1, %r2;\nsetp.ne.u32 %p2, %r3, 0;\n"
	"@%p2 bra DONE;\nst.global.u64 [%rd1], %rd5;\nst.global.u64 [%rd1+8], %rd8;\nst.global.f32 [%rd1+16], %f1;\n"
	"DONE:\nret;\n}\n"
	".visible .entry now(.param .u64 out)\n{\n.reg .u64 %rd<3>;\n"
	"ld.param.u64 %rd1, [out];\nmov.u64 %rd2, %globaltimer;\nst.global.u64 [%rd1], %rd2;\nret;\n}\n";

enum { COPY = 64 << 20, CYCLES = 50000000, PERIOD_MS = 100 };

static void *context, *kernel, *now_kernel, *host;
static unsigned long long memory;
static atomic_int stop;
static double copied_bytes, cycles_run, cycles_ns;
static int n_tests, n_bad;

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wait_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static void must(int rc, const char *what)
{
	if (rc != 0) {
		printf("Bail out! %s: CUDA error %d\n", what, rc);
		exit(99);
	}
}

static void judge(int good, const char *what, double got, double want, const char *unit)
{
	printf("%sok %d - %s: %.6g %s, known %.6g %s\n", good ? "" : "not ", ++n_tests, what, got, unit, want, unit);
	n_bad += !good;
	fflush(stdout);
}

/* ---- the work ------------------------------------------------------------------------------------ */

static void *spin_until_stopped(void *arg)
{
	unsigned long long cycles = CYCLES, result[2];
	void *parameters[] = { &memory, &cycles };

	(void)arg;
	must(cu.cuCtxSetCurrent(context), "cuCtxSetCurrent");
	while (!stop) {
		must(cu.cuLaunchKernel(kernel, 1024, 1, 1, 256, 1, 1, 0, NULL, parameters, NULL), "cuLaunchKernel");
		must(cu.cuCtxSynchronize(), "cuCtxSynchronize");
		must(cu.cuMemcpyDtoH_v2(result, memory, sizeof(result)), "cuMemcpyDtoH");
		cycles_run += (double)result[0];
		cycles_ns += (double)result[1];
	}
	return NULL;
}

static void *copy_until_stopped(void *arg)
{
	(void)arg;
	must(cu.cuCtxSetCurrent(context), "cuCtxSetCurrent");
	while (!stop) {
		must(cu.cuMemcpyHtoD_v2(memory, host, COPY), "cuMemcpyHtoD");
		copied_bytes += COPY;
	}
	return NULL;
}

static const char *begin_cuda(char uuid[64])
{
	unsigned char id[16];
	void *module, *library = dlopen("libcuda.so.1", RTLD_NOW);
	int device, i, n = 0;

	if (!library) {
		return "libcuda.so.1 is not here: no driver of NVIDIA's GPUs";
	}
#define X(call, arguments) \
	*(void **)&cu.call = dlsym(library, #call); \
	if (!cu.call) { \
		return "libcuda.so.1 lacks " #call; \
	}
	CALLS(X)
#undef X
	if (cu.cuInit(0) != 0 || cu.cuDeviceGet(&device, 0) != 0) {
		return "CUDA finds no GPU";
	}
	must(cu.cuDeviceGetUuid(id, device), "cuDeviceGetUuid");
	n = sprintf(uuid, "GPU-");
	for (i = 0; i < 16; i++) {
		n += sprintf(uuid + n, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
	}
	must(cu.cuCtxCreate_v2(&context, 0, device), "cuCtxCreate");
	must(cu.cuModuleLoadData(&module, ptx), "cuModuleLoadData");
	must(cu.cuModuleGetFunction(&kernel, module, "spin"), "cuModuleGetFunction");
	must(cu.cuModuleGetFunction(&now_kernel, module, "now"), "cuModuleGetFunction");
	must(cu.cuMemAlloc_v2(&memory, COPY), "cuMemAlloc");
	must(cu.cuMemHostAlloc(&host, COPY, 0), "cuMemHostAlloc");
	return NULL;
}

/* ---- the counters -------------------------------------------------------------------------------- */

static const char *const name_of[] = { "busy", "mem_used", "power", "power_now", "energy", "sm_clock", "temp",
	"pcie_rx" };
enum { BUSY, MEM_USED, POWER, POWER_NOW, ENERGY, SM_CLOCK, TEMP, PCIE_RX, COUNTERS };

static struct smp_set *set;
static int slot_of[COUNTERS]; /* in the set; -1: missing here */

/* Values of a phase. */
struct phase {
	double mean[COUNTERS], last[COUNTERS], first[COUNTERS], last_s[COUNTERS], first_s[COUNTERS], integral[COUNTERS];
	int n[COUNTERS];
};

static void take_values(struct phase *p)
{
	union smp_value value[256];
	uint8_t state[256];
	double now;
	int i;

	smp_set_read(set, value, state);
	now = now_s();
	for (i = 0; i < COUNTERS; i++) {
		double v = slot_of[i] < 0 ? 0 : (double)value[slot_of[i]].u;

		if (slot_of[i] < 0 || !(state[slot_of[i]] & SMP_VALID)) {
			continue;
		}
		if (p->n[i]++ == 0) {
			p->first[i] = v;
			p->first_s[i] = now;
		} else {
			p->integral[i] += 0.5 * (v + p->last[i]) * (now - p->last_s[i]);
		}
		p->last[i] = v;
		p->last_s[i] = now;
		p->mean[i] += (v - p->mean[i]) / p->n[i];
	}
}

/* Samples for so long while `work` goes on; the first seconds are left out, for what the library averages. */
static struct phase run_phase(void *(*work)(void *), double settle_s, double seconds)
{
	double begin = now_s();
	struct phase p = { .n = { 0 } }, none = { .n = { 0 } };
	pthread_t thread;

	stop = 0;
	if (work) {
		pthread_create(&thread, NULL, work, NULL);
	}
	while (now_s() - begin < settle_s) {
		take_values(&none);
		wait_ms(PERIOD_MS);
	}
	copied_bytes = cycles_run = cycles_ns = 0;
	begin = now_s();
	while (now_s() - begin < seconds) {
		take_values(&p);
		wait_ms(PERIOD_MS);
	}
	copied_bytes /= now_s() - begin;
	stop = 1;
	if (work) {
		pthread_join(thread, NULL);
	}
	return p;
}

static int open_counters(const char *uuid)
{
	static struct smp_env env;
	static char rule[96];
	const char *const rules[] = { rule };
	struct smp_target target = { SMP_NODE, 0, 0 };
	struct smp_plan *plan;
	struct tkm_err err;
	char name[96];
	size_t k;
	int i, n = 0;

	smp_env_init(&env);
	env.limit_s = 30;
	snprintf(rule, sizeof(rule), "nvml_*:%s", uuid);
	plan = smp_plan_open(&env, rules, 1, NULL, 0, &err);
	set = plan ? smp_set_open(plan, &target, &err) : NULL;
	for (i = 0; set && i < COUNTERS; i++) {
		slot_of[i] = -1;
		snprintf(name, sizeof(name), "nvml_%s:%s", name_of[i], uuid);
		for (k = 0; k < smp_set_size(set); k++) {
			if (strcasecmp(smp_plan_at(plan, smp_set_planned(set, k))->counter.name, name) == 0) {
				slot_of[i] = (int)k;
				n++;
			}
		}
		if (slot_of[i] < 0) {
			printf("# %s is missing here\n", name);
		}
	}
	return n;
}

static int has(const struct phase *p, int counter, const char *what)
{
	if (p->n[counter] < 2) {
		printf("ok %d - %s # SKIP nvml_%s has no values on this GPU\n", ++n_tests, what, name_of[counter]);
	}
	return p->n[counter] >= 2;
}

static void judge_spin(const struct phase *idle, const struct phase *busy, double mhz)
{
	static const char energy[] = "energy counted and power integrated, kernel running";
	int power = busy->n[POWER_NOW] > 1 ? POWER_NOW : POWER;
	double counted = busy->last[ENERGY] - busy->first[ENERGY],
	       span_s = busy->last_s[ENERGY] - busy->first_s[ENERGY], watts;

	if (has(idle, BUSY, "utilisation without work")) {
		judge(idle->mean[BUSY] <= 5, "utilisation without work", idle->mean[BUSY], 0, "percent");
	}
	if (has(busy, BUSY, "utilisation, kernel running")) {
		judge(busy->mean[BUSY] >= 95, "utilisation, kernel running", busy->mean[BUSY], 100, "percent");
	}
	if (has(busy, SM_CLOCK, "clock")) {
		judge(fabs(busy->mean[SM_CLOCK] - mhz) < 0.05 * mhz,
			"clock of the multiprocessors, by the kernel's cycles", busy->mean[SM_CLOCK], mhz, "MHz");
	}
	if (has(busy, ENERGY, energy) && has(busy, power, energy) && span_s > 0) {
		watts = busy->integral[power] / (busy->last_s[power] - busy->first_s[power]) / 1000;
		judge(fabs(counted / span_s / 1000 - watts) < 0.1 * watts, energy, counted / span_s / 1000, watts, "W");
	}
	if (has(busy, POWER, "power")) {
		judge(busy->mean[POWER] > idle->mean[POWER], "power with work and without", busy->mean[POWER] / 1000,
			idle->mean[POWER] / 1000, "W");
	}
	if (has(busy, TEMP, "temperature")) {
		judge(busy->mean[TEMP] > 10 && busy->mean[TEMP] < 120, "temperature", busy->mean[TEMP], 60, "degC");
	}
}

/* ---- the clock ----------------------------------------------------------------------------------- */

enum { READINGS = 500, STAMPS = 50 };

/* When a kernel of ours, in a context of its own, has read the register: between two readings of the host's clock. */
struct gpu_stamp {
	ltick_t before, after, shown;
};

static struct gpu_stamp stamp_by_kernel(struct tmr_timer *raw)
{
	void *parameters[] = { &memory };
	struct gpu_stamp s = { .before = tmr_read_ordered(raw) };

	must(cu.cuLaunchKernel(now_kernel, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL), "cuLaunchKernel");
	must(cu.cuCtxSynchronize(), "cuCtxSynchronize");
	s.after = tmr_read_ordered(raw);
	must(cu.cuMemcpyDtoH_v2(&s.shown, memory, sizeof(s.shown)), "cuMemcpyDtoH");
	return s;
}

static void describe_pairs(struct cal_pairs *p, const struct tmr_timer *gpu, const struct tmr_grid *grid)
{
	struct tmr_assumption a;

	tmr_assume(gpu, &a);
	p->hz = p->reference_hz = 1e9;
	p->tick_s = fmax(grid->lag_ticks, 1) * 1e-9;
	p->reference_tick_s = 1e-7;
	p->max_slew = a.max_slew;
	p->slew_limit = a.slew_limit;
	p->may_step = (gpu->flags & TMR_STEPPED) != 0;
}

/* Stamps that were not read by the timer, put to the host's clock by its readings: how many of them are certainly outside their bound. */
static void judge_stamps(const struct cal_pairs *p, const struct gpu_stamp *stamp)
{
	double within, widest = 0;
	int i, outside = 0;

	for (i = 0; i < STAMPS; i++) {
		ltick_t at = cal_pairs_at(p, stamp[i].shown, NULL, &within, NULL);

		outside += (double)ltick_sub(stamp[i].before, at) > within ||
			(double)ltick_sub(at, stamp[i].after) > within;
		widest = fmax(widest, within);
	}
	printf("# widest bound %.3g us, %zu contradictions\n", widest * 1e-3, p->contradictions);
	judge(outside == 0, "stamps of kernels outside their bound", outside, 0, "stamps");
}

static void judge_clock(void)
{
	static struct gpu_stamp stamp[STAMPS];
	struct tkm_err err = { .text = "" };
	struct tmr_timer *raw = tmr_open("clock_monotonic_raw", 0, &err), *gpu = tmr_open("cuda_globaltimer", 0, &err);
	struct cal_pairs p = { 0 };
	struct tmr_grid grid;
	int i;

	if (!raw || !gpu || tmr_tick_measure(gpu, TMR_TICK_BUDGET_S, NULL, &grid, &err) < 0) {
		printf("not ok %d - the clock of the GPU: %s\n", ++n_tests, err.text);
		n_bad++;
		return;
	}
	describe_pairs(&p, gpu, &grid);
	for (i = 0; i < READINGS; i++) {
		if (cal_pairs_take(&p, gpu, raw, 0, &err) < 0) {
			must(1, err.text);
		}
		wait_ms(20);
		/* the last readings are after the last stamp */
		if (i % 10 == 5) {
			stamp[i / 10] = stamp_by_kernel(raw);
		}
		wait_ms(20);
	}
	printf("# the clock moves in steps of %g ns\n", grid.ticks);
	must(cal_pairs_judge(&p, &err), err.text);
	judge_stamps(&p, stamp);
	cal_pairs_free(&p);
	tmr_close(gpu);
	tmr_close(raw);
}

int main(void)
{
	enum { ALLOCATED = 1 << 30 };
	unsigned long long more;
	struct phase idle, busy, p;
	char uuid[64];
	const char *why = begin_cuda(uuid);
	double before, mhz;

	if (!why && open_counters(uuid) == 0) {
		why = "vtcounters lists no nvml_* of the GPU that CUDA uses (vtcounters 'nvml_*:*' says why)";
	}
	if (why) {
		printf("1..0 # SKIP %s\n", why);
		return 77;
	}
	printf("# %s\n", uuid);
	idle = run_phase(NULL, 3, 3);
	busy = run_phase(spin_until_stopped, 3, 8);
	mhz = cycles_ns > 0 ? 1000 * cycles_run / cycles_ns : 0;
	judge_spin(&idle, &busy, mhz);
	before = run_phase(NULL, 0, 1).last[MEM_USED];
	must(cu.cuMemAlloc_v2(&more, ALLOCATED), "cuMemAlloc");
	p = run_phase(NULL, 0, 1);
	if (has(&p, MEM_USED, "memory")) {
		judge(fabs(p.last[MEM_USED] - before - ALLOCATED) < 0.05 * ALLOCATED, "memory that was allocated",
			p.last[MEM_USED] - before, ALLOCATED, "bytes");
	}
	must(cu.cuMemFree_v2(more), "cuMemFree");
	p = run_phase(copy_until_stopped, 1, 6);
	if (has(&p, PCIE_RX, "PCIe")) {
		judge(fabs(p.mean[PCIE_RX] - copied_bytes / 1000) < 0.3 * copied_bytes / 1000, "copied to the GPU",
			p.mean[PCIE_RX], copied_bytes / 1000, "KB/s");
	}
	judge_clock();
	printf("1..%d\n", n_tests);
	return n_bad != 0;
}
