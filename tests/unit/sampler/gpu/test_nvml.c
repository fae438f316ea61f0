/* SPDX-License-Identifier: BSD-3-Clause */
/* NVML in the ways in which it misbehaves, each in a process of its own with a library of that name that is ours (nvml_stub.h), whose
 * values are known. A value that is not the true one is worse than none. */
#define _GNU_SOURCE
#include "config.h"
#include "include/vtsource.h"
#include "tests/lib/check.h"
#include "tests/lib/sampler_set.h"
#include "tests/unit/sampler/gpu/nvml_stub.h"

#include <dlfcn.h>
#include <limits.h>
#include <sys/wait.h>
#include <time.h>

#define A ":GPU-aaaa"
#define B ":GPU-bbbb"

static struct stub_world *world;

static void begin_world(void)
{
	void *handle = dlopen("libnvidia-ml.so.1", RTLD_NOW);

	world = handle ? dlsym(handle, "stub_world") : NULL;
	if (!world) {
		printf("# %s\n", handle ? "another libnvidia-ml.so.1" : dlerror());
		exit(99);
	}
	smp_env_init(&env);
}

static void wait_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A reading that the machine's load delays gives no value: then the next one does. */
static int read_until(const char *name)
{
	int i = place(name), times;

	for (times = 0; times < 100 && !(state[i] & SMP_VALID); times++) {
		wait_ms(10);
		read_again();
	}
	return i;
}

static void read_new(const char *name)
{
	int i = place(name);

	state[i] = 0;
	read_until(name);
}

#define IS(name, want) \
	do { \
		int i_ = read_until(name); \
		CHECK((state[i_] & SMP_VALID) && value[i_].u == (uint64_t)(want), "%s is %lld (state %d), want %lld", \
			name, (long long)value[i_].u, state[i_], (long long)(want)); \
	} while (0)
#define NONE(name) \
	CHECK(!(state[place(name)] & SMP_VALID), "%s is %lld, want none", name, (long long)value[place(name)].u)
#define NEVER(name) \
	do { \
		int t_; \
		for (t_ = 0; t_ < 5; t_++) { \
			read_again(); \
			NONE(name); \
		} \
	} while (0)
#define MISSING(name, text) \
	do { \
		const struct smp_counter *c_ = planned(name); \
		CHECK(c_ && c_->missing && strstr(c_->missing, text), "%s: %s", name, \
			!c_                    ? "not planned" \
				: !c_->missing ? "not missing" \
					       : c_->missing); \
	} while (0)

/* ---- the library as a whole ---------------------------------------------------------------------- */

static void values_are_those_of_the_library(void)
{
	static const struct {
		const char *name;
		long long all, a, b;
	} want[] = { { "nvml_busy", 50, 40, 60 }, { "nvml_mem_busy", 10, 10, 10 },
		{ "nvml_mem_used", 2000, 1000, 1000 }, { "nvml_mem_total", 10000, 5000, 5000 },
		{ "nvml_power", 200001, 100000, 100001 }, { "nvml_power_now", 400001, 200000, 200001 },
		{ "nvml_energy", 2000001, 1000000, 1000001 }, { "nvml_sm_clock", 1250, 1000, 1500 },
		{ "nvml_mem_clock", 2000, 2000, 2000 }, { "nvml_throttle", 3, 1, 2 }, { "nvml_temp", 51, 50, 51 },
		{ "nvml_link_tx", 131072, 65536, 65536 }, { "nvml_link_rx", 65536, 32768, 32768 } };
	char name[64];
	size_t i;

	OPEN(SMP_NODE, 0, "nvml_*", "nvml_*:*");
	CHECK(planned("nvml_power")->kind == SMP_LEVEL && planned("nvml_energy")->kind == SMP_TOTAL, "kinds");
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		IS(want[i].name, want[i].all);
		snprintf(name, sizeof(name), "%s" A, want[i].name);
		IS(name, want[i].a);
		snprintf(name, sizeof(name), "%s" B, want[i].name);
		IS(name, want[i].b);
	}
}

static void library_is_not_there(void)
{
	OPEN(SMP_NODE, 0, "nvml_power", "nvml_energy" A, "nvml_busy", "cpu_idle");
	MISSING("nvml_power", "libnvidia-ml.so.1 is not here");
	MISSING("nvml_busy", "driver of NVIDIA");
	CHECK(got("cpu_idle") > 0, "no other counter");
}

static void needed_call_is_missing(void)
{
	OPEN(SMP_NODE, 0, "nvml_power");
	MISSING("nvml_power", "lacks nvmlDeviceGetUUID");
}

static void driver_is_old(void)
{
	OPEN(SMP_NODE, 0, "nvml_*");
	MISSING("nvml_power_now", "newer driver");
	MISSING("nvml_link_tx", "newer driver");
	IS("nvml_busy", 50);
	IS("nvml_energy", 2000001); /* by the call */
	NONE("nvml_busy_age");
	NONE("nvml_energy_age");
	NEVER("nvml_pcie_tx");
}

static void init_says(int rc, const char *why)
{
	world->rc[STUB_INIT] = rc;
	OPEN(SMP_NODE, 0, "nvml_power", "cpu_idle");
	MISSING("nvml_power", why);
	CHECK(got("cpu_idle") > 0, "no other counter");
}

static void driver_is_not_loaded(void)
{
	init_says(9, "not loaded");
}

static void init_is_not_permitted(void)
{
	init_says(4, "/dev/nvidia*");
}

static void library_is_of_another_version(void)
{
	init_says(18, "another version");
}

static void init_fails_otherwise(void)
{
	init_says(999, "999");
}

static void init_hangs(void)
{
	double begin = now_s();

	world->hangs[STUB_INIT] = 1;
	env.limit_s = 1;
	OPEN(SMP_NODE, 0, "nvml_power", "nvml_temp", "nvml_busy", "nvml_energy", "nvml_throttle", "nvml_*", "cpu_idle");
	MISSING("nvml_power", "not ready after 1 s");
	CHECK(got("cpu_idle") > 0, "no other counter");
	CHECK(now_s() - begin < 3, "%.1f s, so it was waited for again", now_s() - begin);
	drop();
	world->hangs[STUB_INIT] = 0;
	wait_ms(500);
	OPEN(SMP_NODE, 0, "nvml_power");
	IS("nvml_power", 200001);
}

/* What others in the process have begun is not ours to shut down. */
static void beginning_anew_fails(void)
{
	double begin;
	int i, before;

	world->begun = 1; /* by another library */
	OPEN(SMP_NODE, 0, "nvml_power" A);
	IS("nvml_power" A, 100000);
	CHECK_INT(world->begun, 2);
	before = world->calls[STUB_INIT];
	for (i = 0; i < STUB_CALLS; i++) {
		world->gpu[0].rc[i] = 15;
	}
	world->rc[STUB_INIT] = 999;
	for (begin = now_s(); world->calls[STUB_INIT] < before + 2 && now_s() - begin < 30; wait_ms(50)) {
		read_again();
		CHECK(world->begun >= 1, "shut down what others had begun");
	}
	CHECK(world->calls[STUB_INIT] >= before + 2, "not tried again");
	CHECK_INT(world->begun, 1);
	memset(world->gpu[0].rc, 0, sizeof(world->gpu[0].rc));
	world->rc[STUB_INIT] = 0;
	for (begin = now_s(); !(state[place("nvml_power" A)] & SMP_VALID) && now_s() - begin < 30; wait_ms(50)) {
		read_again();
	}
	IS("nvml_power" A, 100000);
	CHECK_INT(world->begun, 2);
}

static void program_is_of_the_user(void)
{
	env.flags = SMP_FOREIGN;
	OPEN(SMP_NODE, 0, "nvml_power", "nvml_temp" A, "cpu_idle");
	CHECK(strstr(smp_set_why(set, (size_t)place("nvml_temp" A)), "vtsampler"), "opened, or no way out");
	CHECK(got("cpu_idle") > 0 && !world->calls[STUB_INIT], "no other counter, or NVML was begun");
}

static void there_is_no_gpu(void)
{
	world->n = 0;
	OPEN(SMP_NODE, 0, "nvml_power", "nvml_power" A);
	MISSING("nvml_power", "no GPU");
	MISSING("nvml_power" A, "no GPU GPU-aaaa here");
}

/* ---- single calls -------------------------------------------------------------------------------- */

static void call_is_not_supported(void)
{
	world->gpu[0].rc[STUB_POWER] = world->gpu[1].rc[STUB_POWER] = 3;
	world->gpu[1].rc[STUB_TEMPERATURE] = 3;
	world->gpu[0].field_rc = world->gpu[1].field_rc = 3;
	OPEN(SMP_NODE, 0, "nvml_*", "nvml_*:*");
	MISSING("nvml_power", "does not count it");
	MISSING("nvml_power" A, "does not count it");
	MISSING("nvml_temp" B, "does not count it");
	MISSING("nvml_power_now", "does not count it");
	IS("nvml_temp", 50);        /* of those that have it */
	IS("nvml_energy", 2000001); /* by the call */
	IS("nvml_sm_clock", 1250);
}

static void call_is_not_permitted(void)
{
	world->gpu[0].rc[STUB_RATES] = world->gpu[0].rc[STUB_SAMPLES] = 4;
	OPEN(SMP_NODE, 0, "nvml_*", "nvml_*:*");
	MISSING("nvml_busy" A, "root only");
	IS("nvml_busy" B, 60);
	IS("nvml_power" A, 100000);
}

static void call_fails_at_times(void)
{
	OPEN(SMP_NODE, 0, "nvml_power", "nvml_power:*", "nvml_energy");
	world->gpu[1].rc[STUB_POWER] = 10;
	NEVER("nvml_power" B);
	NEVER("nvml_power"); /* a sum with a part missing is none */
	IS("nvml_power" A, 100000);
	world->gpu[1].rc[STUB_POWER] = 0;
	IS("nvml_power", 200001);
}

static void first_reading_of_one_fails(void)
{
	world->gpu[1].rc[STUB_POWER] = 10;
	OPEN(SMP_NODE, 0, "nvml_power", "nvml_power:*");
	NEVER("nvml_power");
	world->gpu[1].rc[STUB_POWER] = 0;
	IS("nvml_power", 200001);
}

static void mig_is_on(void)
{
	world->gpu[0].mig = 1;
	world->gpu[0].busy = 0; /* what some drivers say then */
	OPEN(SMP_NODE, 0, "nvml_busy", "nvml_busy:*", "nvml_power", "nvml_mem_busy:*");
	MISSING("nvml_busy" A, "MIG");
	MISSING("nvml_mem_busy" A, "MIG");
	IS("nvml_busy" B, 60);
	IS("nvml_busy", 60);
	IS("nvml_power", 200001);
	world->gpu[1].mig = 1; /* from now on */
	world->gpu[1].busy = 0;
	NEVER("nvml_busy" B);
	NEVER("nvml_busy");
}

static void values_that_cannot_be(void)
{
	OPEN(SMP_NODE, 0, "nvml_*", "nvml_*:*");
	world->gpu[0].power = world->gpu[0].power_now = world->gpu[0].temperature = world->gpu[0].sm_clock = UINT_MAX;
	world->gpu[0].busy = 255;
	world->gpu[0].mem_busy = 101;
	world->gpu[0].used = 5001;
	world->gpu[0].reasons = world->gpu[0].link[0] = ULLONG_MAX;
	world->gpu[0].energy_type = 0;
	world->gpu[0].energy_double = NAN;
	world->gpu[0].link[1] = ULLONG_MAX / 2;
	wait_ms(20);
	NEVER("nvml_power" A);
	NEVER("nvml_power");
	NEVER("nvml_power_now" A);
	NEVER("nvml_temp");
	NEVER("nvml_sm_clock" A);
	NEVER("nvml_busy" A);
	NEVER("nvml_mem_busy");
	NEVER("nvml_mem_used" A);
	NEVER("nvml_mem_total" A);
	NEVER("nvml_throttle");
	NEVER("nvml_energy");
	NEVER("nvml_link_tx");
	NEVER("nvml_link_rx" A);
	IS("nvml_power" B, 100001);
}

static void numbers_of_other_types(void)
{
	world->gpu[0].energy_type = 0;
	world->gpu[0].energy_double = 1234567;
	world->gpu[1].energy_type = 4;
	OPEN(SMP_NODE, 0, "nvml_energy", "nvml_energy:*");
	IS("nvml_energy" A, 1234567);
	IS("nvml_energy" B, 1000001);
	world->gpu[1].energy = (unsigned long long)-5ll;
	NEVER("nvml_energy" B);
	world->gpu[1].energy_type = 17;
	world->gpu[1].energy = 1000001;
	NEVER("nvml_energy" B);
	world->gpu[0].energy_double = INFINITY;
	NEVER("nvml_energy" A);
}

/* ---- totals -------------------------------------------------------------------------------------- */

static void set_energy(unsigned long long mj)
{
	world->gpu[0].energy = mj;
	read_new("nvml_energy" A);
}

static void energy_falls(void)
{
	int i;

	OPEN(SMP_NODE, 0, "nvml_energy" A);
	IS("nvml_energy" A, 1000000);
	set_energy(1000600);
	IS("nvml_energy" A, 1000600);
	set_energy(1000599); /* by one */
	IS("nvml_energy" A, 1000600);
	CHECK(state[place("nvml_energy" A)] & SMP_LEFT_OUT, "a fall without a mark");
	set_energy(0); /* a bad reading */
	IS("nvml_energy" A, 1000600);
	set_energy(1000700);
	IS("nvml_energy" A, 1000700);
	for (i = 1; i <= 4; i++) { /* the driver was loaded again */
		set_energy((unsigned)i * 10);
	}
	CHECK(got("nvml_energy" A) >= 1000700 && got("nvml_energy" A) <= 1000740, "%lld", got("nvml_energy" A));
}

static void fall_is_no_wrap(void)
{
	world->gpu[0].energy = UINT32_MAX - 5u;
	OPEN(SMP_NODE, 0, "nvml_energy" A, "nvml_link_tx" A);
	IS("nvml_energy" A, UINT32_MAX - 5u);
	set_energy(3);
	IS("nvml_energy" A, UINT32_MAX - 5u);
	set_energy(4);
	set_energy(5);
	CHECK(got("nvml_energy" A) <= (long long)UINT32_MAX - 5 + 2, "%lld", got("nvml_energy" A));
	/* and 32 bits are not the end */
	drop();
	world->gpu[0].energy = UINT32_MAX - 5u;
	OPEN(SMP_NODE, 0, "nvml_energy" A);
	set_energy((1ull << 32) + 100);
	IS("nvml_energy" A, (1ull << 32) + 100);
}

static void energy_jumps(void)
{
	OPEN(SMP_NODE, 0, "nvml_energy" A);
	IS("nvml_energy" A, 1000000);
	set_energy(1000000 + 400ull * 1000000000);
	IS("nvml_energy" A, 1000000);
	set_energy(1000200);
	IS("nvml_energy" A, 1000200);
	world->gpu[0].energy = ULLONG_MAX;
	NEVER("nvml_energy" A);
}

/* ---- devices ------------------------------------------------------------------------------------- */

static void gpu_is_lost(void)
{
	int i, noted = 0;

	OPEN(SMP_NODE, 0, "nvml_power", "nvml_power:*", "nvml_energy" A);
	IS("nvml_power", 200001);
	for (i = 0; i < STUB_CALLS; i++) {
		world->gpu[0].rc[i] = 15;
	}
	for (i = 0; i < 5; i++) {
		read_again();
		NONE("nvml_power" A);
		NONE("nvml_power");
		NONE("nvml_energy" A);
		noted |= state[place("nvml_power" A)] & SMP_RESTARTED;
	}
	CHECK(noted, "a lost GPU without a note");
	IS("nvml_power" B, 100001);
	CHECK(!(state[place("nvml_power" A)] & SMP_RESTARTED), "noted again");
	memset(world->gpu[0].rc, 0, sizeof(world->gpu[0].rc));
	world->gpu[0].energy = 1000900;
	IS("nvml_power" A, 100000);
	IS("nvml_energy" A, 1000900);
}

static void gpu_is_lost_in_one_call(void)
{
	OPEN(SMP_NODE, 0, "nvml_power" A, "nvml_temp" A, "nvml_sm_clock" A);
	IS("nvml_temp" A, 50);
	world->gpu[0].rc[STUB_CLOCK] = 15;
	NEVER("nvml_power" A);
	NEVER("nvml_temp" A);
	world->gpu[0].rc[STUB_CLOCK] = 0;
	IS("nvml_sm_clock" A, 1000);
}

static void gpu_vanishes_and_comes_back(void)
{
	OPEN(SMP_NODE, 0, "nvml_energy", "nvml_energy:*");
	IS("nvml_energy", 2000001);
	world->n = 1;
	NEVER("nvml_energy" B);
	NEVER("nvml_energy");
	IS("nvml_energy" A, 1000000);
	world->n = 2;
	world->gpu[1].energy = 1500001;
	IS("nvml_energy" B, 1500001);
	IS("nvml_energy", 2500001);
}

static void gpu_comes_later(void)
{
	OPEN(SMP_NODE, 0, "nvml_energy", "nvml_power");
	IS("nvml_energy", 2000001);
	world->n = 3;
	read_new("nvml_power");
	IS("nvml_power", 300003);
	IS("nvml_energy", 2000001); /* what it had used before was not counted here */
	world->gpu[2].energy += 50;
	read_new("nvml_energy");
	IS("nvml_energy", 2000051);
}

static void order_of_gpus_changes(void)
{
	OPEN(SMP_NODE, 0, "nvml_power:*", "nvml_energy:*");
	IS("nvml_power" A, 100000);
	/* the handles mean others now */
	world->order[0] = world->meaning[0] = 1;
	world->order[1] = world->meaning[1] = 0;
	read_new("nvml_power" A);
	IS("nvml_power" A, 100000);
	IS("nvml_power" B, 100001);
	IS("nvml_energy" A, 1000000);
	/* the indices only */
	world->order[0] = 0;
	world->order[1] = 1;
	world->gpu[0].rc[STUB_UUID] = 999;
	NEVER("nvml_power" A);
	world->gpu[0].rc[STUB_UUID] = 0;
	IS("nvml_power" A, 100000);
	IS("nvml_power" B, 100001);
}

static void count_is_too_large(void)
{
	world->stated = 4000000000u;
	OPEN(SMP_NODE, 0, "nvml_power", "nvml_power:*");
	IS("nvml_power", 200001);
	IS("nvml_power" B, 100001);
}

static void count_is_too_small(void)
{
	OPEN(SMP_NODE, 0, "nvml_power", "nvml_power:*");
	IS("nvml_power", 200001);
	world->stated = 1;
	NEVER("nvml_power");
	NEVER("nvml_power" B);
	IS("nvml_power" A, 100000);
	world->stated = 0;
	world->rc[STUB_COUNT] = 999;
	NEVER("nvml_power");
	world->rc[STUB_COUNT] = 0;
	IS("nvml_power", 200001);
}

/* In a job, the library counts also those GPUs that the job may not open. */
static void gpu_is_of_another_job(void)
{
	int i, before;

	world->n = 3;
	world->gpu[2].rc[STUB_HANDLE] = 4;
	OPEN(SMP_NODE, 0, "nvml_power", "nvml_power:*");
	IS("nvml_power", 200001);
	before = world->calls[STUB_HANDLE];
	for (i = 0; i < 20; i++) {
		read_new("nvml_power");
		IS("nvml_power", 200001);
	}
	CHECK(world->calls[STUB_HANDLE] - before <= 3, "looked up %d times in 20 readings",
		world->calls[STUB_HANDLE] - before);
}

static void two_gpus_of_one_uuid(void)
{
	strcpy(world->gpu[1].uuid, "GPU-aaaa");
	OPEN(SMP_NODE, 0, "nvml_power", "nvml_power:*");
	IS("nvml_power" A, got("nvml_power"));
	CHECK(got("nvml_power") == 100000 || got("nvml_power") == 100001, "%lld", got("nvml_power"));
}

static void uuid_is_no_text(void)
{
	memset(world->gpu[1].uuid, 'x', sizeof(world->gpu[1].uuid)); /* without an end */
	world->n = 3;
	strcpy(world->gpu[2].uuid, "GPU: 2");
	OPEN(SMP_NODE, 0, "nvml_power", "nvml_power:*");
	CHECK_INT(smp_set_size(set), 3); /* a name without an end is cut; one with a blank is no name */
	IS("nvml_power" A, 100000);
	IS("nvml_power", 200001);
}

/* ---- time ---------------------------------------------------------------------------------------- */

static void ages_are_told(void)
{
	OPEN(SMP_NODE, 0, "nvml_busy" A, "nvml_energy", "nvml_power_now" A, "nvml_power" A);
	CHECK(planned("nvml_busy_age" A) && planned("nvml_energy_age") && !planned("nvml_power_age" A),
		"names of ages");
	world->gpu[0].field_age_us = 700000;
	world->gpu[1].field_age_us = 900000;
	read_new("nvml_energy");
	IS("nvml_energy", 2000001);
	CHECK(got("nvml_energy_age") >= 900000 && got("nvml_energy_age") < 1500000, "%lld", got("nvml_energy_age"));
	CHECK(got("nvml_power_now_age" A) >= 700000, "%lld", got("nvml_power_now_age" A));
	CHECK(got("nvml_busy_age" A) >= 5000 && got("nvml_busy_age" A) < 600000, "%lld", got("nvml_busy_age" A));
	world->gpu[1].field_age_us = -60000000; /* in the future: this clock did not stamp it */
	read_new("nvml_energy");
	NONE("nvml_energy_age");
	IS("nvml_energy", 2000001);
}

static void values_stay_the_same(void)
{
	int i;

	world->gpu[0].sample_age_us = 3000000; /* the library has no samples of the last 2 s */
	OPEN(SMP_NODE, 0, "nvml_busy" A, "nvml_power_now" A, "nvml_energy" A);
	IS("nvml_busy" A, 40);
	NONE("nvml_busy_age" A);
	for (i = 0; i < 5; i++) { /* they are the same, and new */
		read_new("nvml_power_now" A);
		IS("nvml_power_now" A, 200000);
	}
	world->gpu[0].field_age_us = 2500000; /* they are the same, because nothing was measured */
	NEVER("nvml_power_now" A);
	NEVER("nvml_energy" A);
}

static void call_is_slow(void)
{
	world->delay_ms[STUB_POWER] = 15;
	OPEN(SMP_NODE, 0, "nvml_power");
	IS("nvml_power", 200001);
	world->gpu[0].power = 300000;
	read_new("nvml_power");
	IS("nvml_power", 400001);
}

static void call_is_too_slow(void)
{
	int i;

	OPEN(SMP_NODE, 0, "nvml_power" A, "cpu_idle");
	IS("nvml_power" A, 100000);
	world->delay_ms[STUB_POWER] = 250;
	for (i = 0; i < 12; i++) {
		world->gpu[0].power = 100001 + (unsigned)i; /* one of before is not this one */
		read_again();
		CHECK(!(state[place("nvml_power" A)] & SMP_VALID) || got("nvml_power" A) == 100001 + i,
			"%lld of before, now %d", got("nvml_power" A), 100001 + i);
		CHECK(got("cpu_idle") > 0, "no other counter");
		wait_ms(60);
	}
	world->delay_ms[STUB_POWER] = 0;
	wait_ms(300);
	read_new("nvml_power" A);
	IS("nvml_power" A, 100012);
}

static void call_hangs(void)
{
	double begin, longest = 0, took;
	int i;

	OPEN(SMP_NODE, 0, "nvml_power" A, "nvml_temp" A, "cpu_idle");
	IS("nvml_power" A, 100000);
	world->hangs[STUB_POWER] = 1;
	for (i = 0; i < 50; i++) {
		begin = now_s();
		read_again();
		took = now_s() - begin;
		/* the first one waits for it */
		longest = i && took > longest ? took : longest;
		NONE("nvml_power" A);
		NONE("nvml_temp" A);
		CHECK(got("cpu_idle") > 0, "no other counter");
		wait_ms(2);
	}
	CHECK(longest < 0.1, "other counters waited for %.3f s", longest);
	world->gpu[0].power = 111111;
	world->hangs[STUB_POWER] = 0;
	IS("nvml_power" A, 111111);
}

static void pcie_takes_its_time(void)
{
	double begin = now_s();
	int i, before, n_valid = 0;

	world->delay_ms[STUB_PCIE] = 20;
	OPEN(SMP_NODE, 0, "nvml_pcie_tx", "nvml_pcie_rx" B, "nvml_power");
	IS("nvml_pcie_tx", 1400);
	IS("nvml_pcie_rx" B, 800);
	read_until("nvml_pcie_tx_age");
	CHECK(got("nvml_pcie_tx_age") < 2000000, "%lld", got("nvml_pcie_tx_age"));
	before = world->calls[STUB_PCIE];
	for (i = 0; i < 50 && now_s() - begin < 5; i++) {
		read_again();
		n_valid += state[place("nvml_pcie_tx")] & SMP_VALID;
		wait_ms(5);
	}
	CHECK(n_valid <= 1 + (int)(now_s() - begin), "a value was recorded %d times", n_valid);
	CHECK(world->calls[STUB_PCIE] - before <= 4 * (1 + (int)(now_s() - begin)), "%d calls",
		world->calls[STUB_PCIE] - before);
	world->hangs[STUB_PCIE] = 1;
	for (i = 0; i < 3; i++) {
		read_new("nvml_power");
		IS("nvml_power", 200001);
	}
	world->hangs[STUB_PCIE] = 0;
}

static void child_of_a_fork_has_no_values(void)
{
	pid_t pid;
	int status = -1;

	OPEN(SMP_NODE, 0, "nvml_power", "cpu_idle");
	IS("nvml_power", 200001);
	pid = fork();
	if (pid == 0) {
		alarm(20);
		NEVER("nvml_power");
		_exit(got("cpu_idle") > 0 && !check_bad ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	CHECK_INT(status, 0);
}

/* ---- each in a process of its own ---------------------------------------------------------------- */

enum library { STUB, OLD, BROKEN, NO_LIBRARY };
static const char *const file_of[] = { "nvml_stub", "nvml_stub_old", "nvml_stub_broken" };

static const struct scenario {
	const char *what, *truth;
	enum library library;
	void (*run)(void);
} scenarios[] = {
	{ "nothing is wrong", "each value, sum, mean, maximum", STUB, values_are_those_of_the_library },
	{ "no library", "missing, with the reason", NO_LIBRARY, library_is_not_there },
	{ "a needed call is missing", "missing, with its name", BROKEN, needed_call_is_missing },
	{ "an old driver", "what it has; the rest missing", OLD, driver_is_old },
	{ "the driver is not loaded", "missing, with the reason", STUB, driver_is_not_loaded },
	{ "no right to the devices", "missing, with the reason", STUB, init_is_not_permitted },
	{ "library and driver differ", "missing, with the reason", STUB, library_is_of_another_version },
	{ "the beginning fails", "missing, with the code", STUB, init_fails_otherwise },
	{ "the beginning hangs", "missing, waited for once; there when it is over", STUB, init_hangs },
	{ "beginning anew fails", "what others began stays; then the value", STUB, beginning_anew_fails },
	{ "the user's program", "planned, refused, not begun", STUB, program_is_of_the_user },
	{ "no GPU", "missing, with the reason", STUB, there_is_no_gpu },
	{ "not supported", "missing for that GPU; the call where the field is not", STUB, call_is_not_supported },
	{ "not permitted", "missing for that GPU", STUB, call_is_not_permitted },
	{ "a call fails at times", "none, and no sum; then the value", STUB, call_fails_at_times },
	{ "the first call fails", "no sum of a part", STUB, first_reading_of_one_fails },
	{ "MIG", "no utilisation, not 0", STUB, mig_is_on },
	{ "values that cannot be", "none", STUB, values_that_cannot_be },
	{ "other types, not a number", "the number, or none", STUB, numbers_of_other_types },
	{ "the energy falls", "the total waits, then goes on", STUB, energy_falls },
	{ "the energy falls from nearly 2^32", "no wrap", STUB, fall_is_no_wrap },
	{ "the energy jumps and comes back", "the jump is left out", STUB, energy_jumps },
	{ "a GPU is lost", "none, noted once, no sum, the other one goes on", STUB, gpu_is_lost },
	{ "lost between two calls", "none of its values", STUB, gpu_is_lost_in_one_call },
	{ "a GPU vanishes and comes back", "none; then its total goes on", STUB, gpu_vanishes_and_comes_back },
	{ "a GPU comes", "part of the sums from then on", STUB, gpu_comes_later },
	{ "the order changes", "each value is its GPU's", STUB, order_of_gpus_changes },
	{ "a count too large", "those that are there", STUB, count_is_too_large },
	{ "a count too small, none", "none; no sum", STUB, count_is_too_small },
	{ "a GPU of another job", "not looked up at each reading", STUB, gpu_is_of_another_job },
	{ "two GPUs of one name", "one of them, once", STUB, two_gpus_of_one_uuid },
	{ "a name without an end", "cut; one with a blank is left out", STUB, uuid_is_no_text },
	{ "ages", "the age of the oldest part; none if the stamp is of another clock", STUB, ages_are_told },
	{ "equal values for long", "valid while they are measured, else none", STUB, values_stay_the_same },
	{ "a slow call", "the value", STUB, call_is_slow },
	{ "a call too slow", "none, never one of before", STUB, call_is_too_slow },
	{ "a call hangs", "none; others go on; then the value", STUB, call_hangs },
	{ "PCIe takes 20 ms a call", "once a second, others do not wait", STUB, pcie_takes_its_time },
	{ "a fork", "none in the child", STUB, child_of_a_fork_has_no_values },
};

static const struct scenario *current;

static void run_apart(void)
{
	const char *top = getenv("top_builddir");
	char folder[] = "/tmp/test_nvml.XXXXXX", target[PATH_MAX], link[64], number[16];
	int status = -1;
	pid_t pid;

	if (!mkdtemp(folder)) {
		exit(99);
	}
	snprintf(link, sizeof(link), "%s/libnvidia-ml.so.1", folder);
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
		setenv("NVML_SCENARIO", number, 1);
		execl("/proc/self/exe", "test_nvml", (char *)NULL);
		_exit(99);
	}
	waitpid(pid, &status, 0);
	CHECK(status == 0, "ended with %d", status);
	unlink(link);
	rmdir(folder);
}

int main(int argc, char **argv)
{
	const char *number = getenv("NVML_SCENARIO");
	char what[256];
	size_t i;

	check_args(argc, argv);
	if (number) {
		alarm(60);
		current = &scenarios[atoi(number)];
		if (current->library == STUB || current->library == OLD) {
			begin_world();
		} else {
			smp_env_init(&env);
		}
		current->run();
		fflush(stdout);
		_exit(check_bad != 0);
	}
	for (i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		current = &scenarios[i];
		snprintf(what, sizeof(what), "%s: %s", current->what, current->truth);
		check_run(run_apart, what);
	}
	return check_end();
}
