/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of a GPU, each time in a process of its own with a libcuda.so.1 that is ours (cuda_stub.h), whose clock is known: no reading
 * is outside the two of the host's clock around it, no stamp outside its bound, and a GPU that is gone is an error, soon. */
#define _GNU_SOURCE
#include "config.h"
#include "calib/map/pairs.h"
#include "tests/lib/check.h"
#include "tests/unit/timers/sources/cuda_stub.h"
#include "timers/quality/assume.h"
#include "timers/quality/quality.h"
#include "timers/quality/tick.h"

#include <dlfcn.h>
#include <limits.h>
#include <sys/wait.h>
#include <time.h>

enum library { STUB, OLD, NO_LIBRARY };
static const char *const file_of[] = { "cuda_stub", "cuda_stub_old" };

static struct cuda_world *world;
static struct tmr_timer *gpu, *raw;
static struct tkm_err err;
static int back_in; /* the clock is set back soon after this reading; 0: it is not */

static void begin_cuda_test(void)
{
	void *handle = dlopen("libcuda.so.1", RTLD_NOW);

	world = handle ? dlsym(handle, "cuda_world") : NULL;
	if (!world) {
		printf("# %s\n", handle ? "another libcuda.so.1" : dlerror());
		exit(99);
	}
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void open_both(void)
{
	gpu = tmr_open("cuda_globaltimer", 0, &err);
	if (!gpu) {
		printf("# %s\n", err.text);
		exit(99);
	}
	raw = tmr_open("clock_monotonic_raw", 0, &err);
}

/* ---- bounds -------------------------------------------------------------------------------------- */

static void check_readings(const struct cal_pairs *p)
{
	size_t i;

	for (i = 0; i < p->n && !world->back_at_ns; i++) {
		const struct cal_reading *r = &p->pair[i];

		CHECK(r->local.v >= cuda_truth(world, r->before.v) && r->local.v <= cuda_truth(world, r->after.v),
			"reading %zu", i);
	}
}

static void check_stamps(const struct cal_pairs *p)
{
	int64_t first = p->pair[0].after.v, last = p->pair[p->n - 1].before.v;
	double within, proven, widest = 0;
	int i, outside = 0;

	for (i = 0; i < 20000; i++) {
		int64_t at = first + (int64_t)(check_uniform() * (double)(last - first));
		ltick_t shown = cal_pairs_at(p, ltick(cuda_truth(world, at)), NULL, &within, &proven);
		double off = fabs((double)(shown.v - at));

		outside += off > within + 1 || off > proven + 1;
		widest = fmax(widest, within);
	}
	CHECK_INT(outside, 0);
	printf("# %zu readings, %zu contradictions, widest bound %.3g us\n", p->n, p->contradictions, widest * 1e-3);
}

static void take_and_check(void)
{
	struct timespec nap = { 0, 15000000 };
	struct cal_pairs p = { 0 };
	struct tmr_assumption a;
	struct tmr_grid grid;
	int i;

	open_both();
	tmr_assume(gpu, &a);
	CHECK(a.max_slew > 0 && strstr(a.wander_from, "GPU"), "%s", a.wander_from);
	CHECK(tmr_tick_measure(gpu, TMR_TICK_BUDGET_S, NULL, &grid, &err) == 0, "%s", err.text);
	CHECK(grid.lag_ticks >= (double)world->step_ns, "lag %g ns", grid.lag_ticks);
	p.hz = p.reference_hz = 1e9;
	p.tick_s = fmax(grid.lag_ticks, 1) * 1e-9;
	p.reference_tick_s = 1e-9;
	p.max_slew = a.max_slew;
	p.slew_limit = a.slew_limit;
	p.may_step = (gpu->flags & TMR_STEPPED) != 0;
	for (i = 0; i < 40; i++) {
		if (back_in && i == back_in) {
			world->back_at_ns = tmr_read(raw).v + 7000000 + (int64_t)(check_uniform() * 8e6);
		}
		CHECK(cal_pairs_take(&p, gpu, raw, 0, &err) == 0, "%s", err.text);
		nanosleep(&nap, NULL);
	}
	CHECK(cal_pairs_judge(&p, &err) == 0, "%s", err.text);
	check_readings(&p);
	check_stamps(&p);
	CHECK(!gpu->fault, "%s", gpu->fault);
	cal_pairs_free(&p);
	tmr_close(raw);
	tmr_close(gpu);
	CHECK_INT(world->destroyed, 1);
}

static void clock_is_even(void)
{
	world->offset_ns = 1700000000000000000;
	world->ppb = 23000;
	take_and_check();
	CHECK_INT(world->launches, 1);
}

static void clock_has_steps(void)
{
	world->offset_ns = -5000000000;
	world->ppb = -80000;
	world->step_ns = 1000;
	world->delay_ns = 3000;
	take_and_check();
}

static void clock_has_long_steps(void)
{
	world->step_ns = 1024 * 1024;
	world->ppb = 40000;
	take_and_check();
}

static void clock_is_far_off(void)
{
	world->ppb = 5000000;
	world->step_ns = 32;
	take_and_check();
}

static void answers_are_late(void)
{
	world->offset_ns = 12345;
	world->delay_ns = 50000;
	world->late_every = 3;
	world->late_ns = 7000000;
	take_and_check();
}

static void clock_goes_back(void)
{
	world->ppb = 10000;
	world->back_ns = 3000000;
	back_in = 15;
	take_and_check();
}

static void clock_goes_back_far(void)
{
	world->back_ns = 700000000;
	world->delay_ns = 20000;
	world->step_ns = 1000;
	back_in = 30;
	take_and_check();
}

static void kernel_ends_at_times(void)
{
	world->idle = 100;
	world->step_ns = 32;
	take_and_check();
	CHECK(world->launches > 5, "%lld launches", (long long)world->launches);
}

/* ---- errors -------------------------------------------------------------------------------------- */

static void fails_with(const char *name, enum tkm_code code, const char *text)
{
	double begin = now_s();

	gpu = tmr_open(name, 0, &err);
	CHECK(!gpu && err.code == code && strstr(err.text, text), "%s", gpu ? "opened" : err.text);
	CHECK(now_s() - begin < 5, "%g s", now_s() - begin);
}

static void library_is_missing(void)
{
	fails_with("cuda_globaltimer", TKM_ERR_UNAVAIL, "libcuda.so.1 is not here: it comes with the driver");
}

static void call_is_missing(void)
{
	fails_with("cuda_globaltimer", TKM_ERR_UNAVAIL, "lacks cuLaunchKernel: a newer driver");
}

static void there_is_no_gpu(void)
{
	world->init_rc = 100;
	fails_with("cuda_globaltimer", TKM_ERR_UNAVAIL, "CUDA finds no GPU (error 100 of cuInit)");
	world->init_rc = 0;
	fails_with("cuda_globaltimer:2", TKM_ERR_UNAVAIL, "there is no GPU 2: CUDA counts 2 from 0");
	fails_with("cuda_globaltimer:a", TKM_ERR_ARG, "'a' is no number of a GPU");
	world->context_rc = 46;
	fails_with("cuda_globaltimer:1", TKM_ERR_UNAVAIL, "(cuCtxCreate: CUDA error 46)");
	world->context_rc = 0;
	world->launch_rc = 701;
	fails_with("cuda_globaltimer:1", TKM_ERR_UNAVAIL, "(cuLaunchKernel: CUDA error 701)");
	CHECK_INT(world->destroyed, 1);
}

static void gpu_never_answers(void)
{
	world->mute_after = -1;
	fails_with("cuda_globaltimer", TKM_ERR_UNAVAIL, "has not answered for 1 s");
	CHECK_INT(world->destroyed, 0);
}

/* Nothing waits for it any more, and nobody takes its last reading for a new one. */
static void check_gone(const char *text)
{
	struct cal_pairs p = { 0 };
	struct tmr_quality q;
	double begin = now_s();
	ltick_t last;
	int i;

	for (i = 0; i < 10 && !gpu->fault; i++) {
		tmr_read(gpu);
	}
	CHECK(gpu->fault && strstr(gpu->fault, text), "%s", gpu->fault ? gpu->fault : "no fault");
	last = tmr_read(gpu);
	for (i = 0; i < 1000; i++) {
		CHECK_INT(tmr_read_ordered(gpu).v, last.v);
	}
	CHECK(cal_pairs_take(&p, gpu, raw, 0, &err) < 0 && strstr(err.text, text) && p.n == 0, "%s", err.text);
	CHECK(tmr_quality_measure(gpu, 0.01, 1, &q, &err) < 0 && strstr(err.text, "timer cuda_globaltimer:0: the GPU"),
		"%s", err.text);
	tmr_close(gpu);
	CHECK(now_s() - begin < 5, "%g s", now_s() - begin);
	CHECK_INT(world->destroyed, 0);
}

static void gpu_stops_to_answer(void)
{
	world->mute_after = 5;
	open_both();
	check_gone("the GPU has not answered for 1 s");
}

static void context_is_lost(void)
{
	world->lost_after = 5;
	open_both();
	check_gone("the GPU was lost (CUDA error 719)");
}

static void child_of_a_fork_cannot_read(void)
{
	struct cal_pairs p = { 0 };
	int status = -1;
	pid_t pid;

	open_both();
	pid = fork();
	if (pid == 0) {
		alarm(20);
		_exit(cal_pairs_take(&p, gpu, raw, 0, &err) < 0 && strstr(err.text, "a child of fork() cannot") ? 0
														: 1);
	}
	waitpid(pid, &status, 0);
	CHECK_INT(status, 0);
	tmr_read(gpu);
	CHECK(!gpu->fault, "%s", gpu->fault);
	tmr_close(gpu);
	CHECK_INT(world->destroyed, 1);
}

/* ---- each in a process of its own ---------------------------------------------------------------- */

static const struct scenario {
	const char *what, *truth;
	enum library library;
	void (*run)(void);
} scenarios[] = {
	{ "an even clock", "all in their bounds", STUB, clock_is_even },
	{ "steps of 1 us, slow answers", "all in their bounds", STUB, clock_has_steps },
	{ "steps of 1 ms", "all in their bounds", STUB, clock_has_long_steps },
	{ "0.5 % too fast", "all in their bounds", STUB, clock_is_far_off },
	{ "every third answer 7 ms late", "all in their bounds", STUB, answers_are_late },
	{ "set back by 3 ms", "all in their bounds", STUB, clock_goes_back },
	{ "set back by 0.7 s", "all in their bounds", STUB, clock_goes_back_far },
	{ "the kernel ends between readings", "started again", STUB, kernel_ends_at_times },
	{ "no library", "the reason", NO_LIBRARY, library_is_missing },
	{ "an old library", "the name of the call", OLD, call_is_missing },
	{ "no GPU, no context, no kernel", "the reason", STUB, there_is_no_gpu },
	{ "never an answer", "an error after a second", STUB, gpu_never_answers },
	{ "no answer any more", "an error, and no reading", STUB, gpu_stops_to_answer },
	{ "a lost context", "an error, and no reading", STUB, context_is_lost },
	{ "a fork", "no reading in the child", STUB, child_of_a_fork_cannot_read },
};

static const struct scenario *current;

static void run_with_library(void)
{
	const char *top = getenv("top_builddir");
	char folder[] = "/tmp/test_cuda.XXXXXX", target[PATH_MAX], link[64], number[16];
	int status = -1;
	pid_t pid;

	if (!mkdtemp(folder)) {
		exit(99);
	}
	snprintf(link, sizeof(link), "%s/libcuda.so.1", folder);
	if (current->library != NO_LIBRARY) {
		snprintf(target, sizeof(target), "%s/tests/unit/.libs/%s.so", top ? top : ".",
			file_of[current->library]);
		CHECK(symlink(realpath(target, NULL), link) == 0, "%s", target);
	}
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		snprintf(number, sizeof(number), "%d", (int)(current - scenarios));
		setenv("LD_LIBRARY_PATH", folder, 1);
		setenv("CUDA_SCENARIO", number, 1);
		execl("/proc/self/exe", "test_tmr_cuda_globaltimer", (char *)NULL);
		_exit(99);
	}
	waitpid(pid, &status, 0);
	CHECK(status == 0, "ended with %d", status);
	unlink(link);
	rmdir(folder);
}

int main(int argc, char **argv)
{
	const char *number = getenv("CUDA_SCENARIO");
	char what[256];
	size_t i;

	check_args(argc, argv);
	if (number) {
		alarm(100);
		current = &scenarios[atoi(number)];
		if (current->library == STUB) {
			begin_cuda_test();
		}
		check_srandom(check_seed);
		current->run();
		fflush(stdout);
		_exit(check_bad != 0);
	}
	for (i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		current = &scenarios[i];
		snprintf(what, sizeof(what), "%s: %s", current->what, current->truth);
		check_run(run_with_library, what);
	}
	return check_end();
}
