/* SPDX-License-Identifier: BSD-3-Clause */
/* The timers: the list, real and simulated ones, their frequency and quality. */
#include "config.h"

#include <linux/perf_event.h>

#include "base/rootfs.h"
#include "timers/cpu_hz.h"
#include "timers/quality/env.h"
#include "timers/freq.h"
#include "timers/quality/quality.h"
#include "timers/quality/rate.h"
#include "timers/sources/sim.h"
#include "timers/timer.h"
#include "timers/sources/virtual.h"
#include "tests/lib/check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void names_ignore_case_and_unknown_ones_say_so(void)
{
	struct tkm_err err = { 0 };
	struct tmr_timer *t = tmr_open("GETTIMEOFDAY", 0, &err);

	CHECK(t != NULL, "%s", err.text);
	CHECK_STR(t->name, "gettimeofday");
	tmr_close(t);
	CHECK(tmr_open("sundial", 0, &err) == NULL, "opened");
	CHECK_INT(err.code, TKM_ERR_ARG);
	CHECK(strstr(err.text, "'sundial'") && strstr(err.text, "VT_TIMER=LIST"), "%s", err.text);
	CHECK(tmr_open("clock_monotonic:x", 0, &err) == NULL && strstr(err.text, "takes no argument"), "%s", err.text);
	CHECK(tmr_open("ptp:/dev/null", 0, &err) == NULL && strstr(err.text, "/dev/null is no PTP clock"), "%s",
		err.text);
	CHECK(tmr_open("ptp:/nowhere", 0, &err) == NULL && strstr(err.text, "/nowhere"), "%s", err.text);
	CHECK(tmr_open("MPI_Wtime", 0, &err) == NULL && err.code == TKM_ERR_UNAVAIL, "%s", err.text);
}

static void list_has_every_timer_and_every_reason(void)
{
	static const char *const names[] = { "gettimeofday", "CPU ", "CPU_Norm", "MPI_Wtime", "clock_monotonic ",
		"clock_monotonic_raw", "clock_realtime", "clock_tai", "clock_boottime", "ptp:/dev/ptp0", "sim:" };
	char *text = NULL;
	size_t len, i;
	FILE *f = open_memstream(&text, &len);

	tmr_list(f);
	fclose(f);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		CHECK(strstr(text, names[i]), "%s is not listed in\n%s", names[i], text);
	}
	CHECK(strstr(text, "MPI_Wtime                -          -        unavailable: this program has no MPI"), "%s",
		text);
	free(text);
}

static double monotonic_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* The kernel slews its clocks by at most a tenth. A clock that is set may be set just now: it gets another chance. */
static void check_one_real_timer(const char *name, void *ctx)
{
	struct tkm_err err;
	struct tmr_timer *t = tmr_open(name, 0, &err);
	struct timespec nap = { 0, 20000000 };
	double s, before, most, tick;
	ltick_t a, b;
	int i = 0, good;

	(void)ctx;
	CHECK(t && t->hz > 0, "%s has no frequency", name);
	tick = tmr_period(t);
	do {
		before = monotonic_s();
		a = tmr_read_ordered(t);
		nanosleep(&nap, NULL);
		b = tmr_read_ordered(t);
		most = monotonic_s() - before;
		s = (double)ltick_sub(b, a) * tick;
		good = s >= 0.02 / 1.11 - 2 * tick && s <= 1.11 * most + 2 * tick;
	} while (!good && (t->flags & TMR_STEPPED) && ++i < 10);
	CHECK(good, "%s counted %g s in 0.02 to %g s", name, s, most);
	tmr_close(t);
}

static void real_timers_count_seconds(void)
{
	tmr_each_available(check_one_real_timer, NULL);
}

static void simulated_clock_tells_its_lies_exactly(void)
{
	struct tmr_virtual v = { .now_ps = 7000000000000 };
	struct tkm_err err;
	struct tmr_timer *t = tmr_sim_wrap(
		tmr_virtual_open(&v), "offset=1ms,drift=50ppm,wobble=1ppm/60s,step=10us@5s,tick=1ns", 0, &err);
	double frac, want, got, dt;
	ltick_t zero, now;
	int i;

	CHECK(t != NULL, "%s", err.text);
	CHECK(strstr(t->name, "origin=7000000000000"), "%s", t->name);
	zero = ltick(7000000000);
	for (i = 0; i < 1000; i++) {
		dt = 120 * check_uniform();
		v.now_ps = 7000000000000 + (int64_t)(dt * 1e12);
		dt = (double)(v.now_ps - 7000000000000) * 1e-12;
		want = dt + 1e-3 + 50e-6 * dt + 1e-6 * 60 / (2 * M_PI) * (1 - cos(2 * M_PI * dt / 60)) +
			(dt >= 5 ? 10e-6 : 0);
		now = tmr_read(t);
		got = (double)ltick_sub(now, zero) * 1e-9;
		CHECK_NEAR(got, want - 0.5e-9, 0.51e-9); /* the grid cuts off up to one tick */
		got = (double)ltick_sub(tmr_sim_truth(t, v.now_ps, &frac), zero);
		CHECK_NEAR((got + frac) * 1e-9, want, 1e-12);
		CHECK_NEAR((double)(tmr_sim_base_at(t, now) - v.now_ps), 0, 1000); /* within its tick of 1 ns */
	}
	tmr_close(t);
}

static void simulated_clock_begins_anew(void)
{
	struct tmr_virtual v = { .now_ps = 7000000000000 };
	struct tkm_err err = { .text = "" };
	struct tmr_timer *t = tmr_sim_wrap(tmr_virtual_open(&v), "step=1ms@5s,tick=1ns", 0, &err), *same;
	int64_t origin = v.now_ps + 60000000000000;

	v.now_ps = origin; /* a minute on the way to where the clock is of use */
	CHECK(tmr_sim_restart(t, &err) == 0, "%s", err.text);
	CHECK(strcmp(t->name, "sim:step=1ms@5s,tick=1ns,origin=67000000000000") == 0, "%s", t->name);
	CHECK_NEAR((double)tmr_read(t).v, 67e9, 1);
	v.now_ps = origin + 4000000000000;
	CHECK_NEAR((double)tmr_read(t).v, 71e9, 1);
	v.now_ps = origin + 6000000000000;
	CHECK_NEAR((double)tmr_read(t).v, 73001e6, 1);
	same = tmr_sim_wrap(tmr_virtual_open(&v), t->name + strlen("sim:"), 0, &err);
	CHECK_NEAR((double)tmr_read(same).v, 73001e6, 1);
	CHECK(tmr_sim_restart(same, &err) == 0, "%s", err.text); /* its origin was given: it stays */
	CHECK_NEAR((double)tmr_read(same).v, 73001e6, 1);
	tmr_close(same);
	tmr_close(t);
	t = tmr_open("clock_monotonic", 0, &err);
	CHECK(tmr_sim_restart(t, &err) == 0, "%s", err.text);
	tmr_close(t);
}

static void simulated_clock_is_the_same_when_reopened(void)
{
	struct tkm_err err;
	struct tmr_timer *a = tmr_open("sim:base=clock_monotonic,drift={rank}0ppm,offset={rank}s,tick=7.3ns", 3, &err),
			 *b;
	double fa, fb;
	int64_t base;

	CHECK(a != NULL, "%s", err.text);
	CHECK(strstr(a->name, "drift=30ppm,offset=3s"), "%s", a->name);
	b = tmr_open(a->name, 0, &err);
	CHECK(b != NULL, "%s", err.text);
	base = tmr_read(tmr_sim_base(a)).v + 1000000007;
	CHECK_INT(tmr_sim_truth(a, base, &fa).v, tmr_sim_truth(b, base, &fb).v);
	CHECK_NEAR(fa, fb, 0);
	tmr_close(a);
	tmr_close(b);
}

static void noise_has_the_size_that_was_asked_for(void)
{
	struct tmr_virtual v = { 0 };
	struct tkm_err err;
	struct tmr_timer *t = tmr_sim_wrap(tmr_virtual_open(&v), "noise=5ns,seed=4,tick=1ps", 0, &err);
	double sum = 0, sq = 0;
	int i, n = 20000;

	for (i = 0; i < n; i++) {
		double e = (double)tmr_read(t).v * 1e-3; /* ns; the truth is 0 */

		CHECK(i > 0 || e != 0, "the first reading has no noise");
		sum += e;
		sq += e * e;
	}
	CHECK_NEAR(sum / n, 0, 0.15);
	CHECK_NEAR(sqrt(sq / n), 5, 0.15);
	tmr_close(t);
}

static void bad_simulations_are_refused(void)
{
	static const char *const bad[] = { "sim:base=sim", "sim:offset=1x", "sim:drift=2", "sim:wobble=1ppm",
		"sim:wobble=1ppm/0s", "sim:step=1us", "sim:tick=0", "sim:tick=-1ns", "sim:noise=-1ns", "sim:cores=x",
		"sim:early=-1us", "sim:seed=-1", "sim:colour=red", "sim:offset", "sim:,", "sim:base=sundial",
		("sim:step=1us@1s,step=1us@1s,step=1us@1s,step=1us@1s,step=1us@1s,step=1us@1s,"
		 "step=1us@1s,step=1us@1s,step=1us@1s") };
	struct tkm_err err;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err.text[0] = '\0';
		CHECK(tmr_open(bad[i], 0, &err) == NULL, "%s was opened", bad[i]);
		CHECK(strlen(err.text) > 10, "%s: no reason", bad[i]);
	}
}

/* A frequency measured over one second of virtual time, against a reference with a grid and reads that
 * take an unsteady time, some of them preempted. */
static void frequency_is_found_within_a_tenth_ppm(void)
{
	struct tkm_err err;
	int round;

	for (round = 0; round < 40; round++) {
		struct tmr_virtual v = { .now_ps = 1000000000 };
		struct tmr_timer *virt = tmr_virtual_open(&v);
		struct tmr_timer *ref;
		double ppm = 200 * (check_uniform() - 0.5), tick = 0.3 + 9 * check_uniform();
		/* every third reference is off itself, by no more than it says */
		double own = round % 3 ? 0 : 80, off = own * (2 * check_uniform() - 1);
		struct tmr_reference what = { .error_ppm = own, .certain = 1 };
		struct tmr_freq_run *run;
		struct tmr_freq f;
		struct tmr_timer *t;
		char spec[96];
		double error;
		int i;

		snprintf(spec, sizeof(spec), "tick=10ns,drift=%.6fppm", off);
		what.timer = ref = tmr_sim_wrap(tmr_virtual_open(&v), spec, 0, &err);
		snprintf(spec, sizeof(spec), "drift=%.6fppm,tick=%.3fns,noise=2ns,seed=%d", ppm, tick, round);
		t = tmr_sim_wrap(tmr_virtual_open(&v), spec, 0, &err);
		CHECK(ref && t, "%s", err.text);
		run = tmr_freq_begin(t, &what, &err);
		for (i = 0; i < 64; i++) {
			v.now_ps += 15625000000; /* 1 s in 64 steps */
			v.read_cost_ps = 20000 + (int64_t)(5000 * check_uniform());
			if (check_random() % 5 == 0) {
				v.read_cost_ps = 8000000000; /* every read of this bracket is interrupted */
			}
			tmr_freq_sample(run);
		}
		CHECK(tmr_freq_end(run, &f, &err) == 0, "%s", err.text);
		error = (f.hz / (t->hz * (1 + ppm * 1e-6)) - 1) * 1e6;
		CHECK(fabs(error) <= f.bound_ppm, "%s: %g ppm off, bound %g", spec, error, f.bound_ppm);
		CHECK(f.certain && !f.same_counter, "certain %d, same counter %d", f.certain, f.same_counter);
		/* by that reference a fast clock is one that a slow reference makes fast */
		error = (f.hz / (t->hz * (1 + ppm * 1e-6) / (1 + off * 1e-6)) - 1) * 1e6;
		CHECK(fabs(error) <= 0.1, "%s: %g ppm off", spec, error);
		CHECK(fabs(error) <= f.compare_ppm, "%s: %g ppm off, compared to %g", spec, error, f.compare_ppm);
		CHECK(f.compare_ppm < 0.5, "the bound %g says nothing", f.compare_ppm);
		CHECK(fabs(error) <= 6 * f.se_ppm + 0.005, "%s: %g ppm off, standard error %g", spec, error, f.se_ppm);
		tmr_close(t);
		tmr_close(ref);
		tmr_close(virt);
	}
}

/* CLOCK_REALTIME is off by anything that its maximum error allows at both marks; the timer is fast or slow, and lags. */
static void true_rate_contains_the_error_of_the_reference(void)
{
	int i;

	for (i = 0; i < 10000; i++) {
		double hz = 1e6 + 3e9 * check_uniform(), seconds = 1 + 100 * check_uniform(),
		       lag = 1 + 30 * check_uniform();
		struct tmr_mark m[2];
		struct tmr_true_rate r;
		int k;

		for (k = 0; k < 2; k++) {
			double at = 1000 + k * seconds, width = 1e-7 * check_uniform(), error = 1e-3 * check_uniform();
			double off = check_random() % 4 ? error * (2 * check_uniform() - 1)
							: (check_random() & 1 ? error : -error);

			m[k] = (struct tmr_mark){ (int64_t)floor(hz * (at + width * check_uniform()) -
							  (lag - 1) * check_uniform()),
				(int64_t)floor(1e9 * (at + off)), (int64_t)ceil(1e9 * width), error, 1 };
		}
		CHECK(tmr_true_rate_between(&m[0], &m[1], lag, 2e-9, &r) == 0, "no rate");
		CHECK(r.low_hz <= hz && hz <= r.high_hz, "%.12g not in [%.12g, %.12g]", hz, r.low_hz, r.high_hz);
		CHECK(r.high_hz / r.low_hz - 1 < 2.1 * (m[0].max_error_s + m[1].max_error_s + 1e-6) / seconds,
			"too wide");
		m[check_random() & 1].synchronised = 0;
		CHECK(tmr_true_rate_between(&m[0], &m[1], lag, 2e-9, &r) < 0 && r.low_hz == 0,
			"nobody keeps that clock");
	}
}

static void grid_of_a_counter_that_moves_in_steps(void)
{
	enum { N = 20000 };
	static int64_t d[N];
	struct tmr_grid g;
	int i, round;

	for (round = 0; round < 60; round++) {
		/* a fractional step, as 22.5 ticks of a 2.25 GHz counter that moves every 10 ns */
		double step = round ? 5 + 60 * check_uniform() : 22.5;
		int64_t before = 0;
		double k = 0;

		for (i = 0; i < N; i++) {
			int64_t now;

			k += 1 + (double)(check_random() % 3) + (check_random() % 500 == 0 ? 4000 : 0);
			now = (int64_t)floor(k * step + 0.25);
			d[i] = now - before;
			before = now;
		}
		CHECK(tmr_grid_find(d, N, &g) == 0, "nothing found");
		CHECK(g.found, "no grid for step %g", step);
		CHECK_NEAR(g.ticks, step, 0.002 * step);
	}
	for (i = 0; i < N; i++) {
		/* nanoseconds made from a counter that moves every 10 ns: 9, 10, 11, 19, 20, 21 ... */
		d[i] = (int64_t)(10 * (1 + check_random() % 4) + check_random() % 3) - 1;
	}
	CHECK(tmr_grid_find(d, N, &g) == 0 && g.found, "found %d", g.found);
	CHECK_NEAR(g.ticks, 10, 0.05);
	for (i = 0; i < N; i++) {
		d[i] = (int64_t)(30 + check_random() % 50); /* a clock that moves at every tick */
	}
	CHECK(tmr_grid_find(d, N, &g) == 0 && g.found, "found %d", g.found);
	CHECK_NEAR(g.ticks, 1, 0);
	for (i = 0; i < N; i++) {
		d[i] = (int64_t)(2 * (10 + check_random() % 50)); /* whole steps of 2 */
	}
	CHECK(tmr_grid_find(d, N, &g) == 0 && g.found, "found %d", g.found);
	CHECK_NEAR(g.ticks, 2, 0);
	for (i = 0; i < N; i++) {
		d[i] = i % 40 == 0; /* gettimeofday: mostly 0, now and then 1 */
	}
	CHECK(tmr_grid_find(d, N, &g) == 0 && g.found, "found %d", g.found);
	CHECK_NEAR(g.ticks, 1, 0);
	memset(d, 0, sizeof(d));
	CHECK(tmr_grid_find(d, N, &g) < 0, "a clock that stands has no tick");
}

static void quality_sees_what_was_injected(void)
{
	struct tmr_virtual v = { .now_ps = 7000000000000, .read_cost_ps = 50000 };
	struct tkm_err err;
	struct tmr_timer *t = tmr_open("sim:base=clock_monotonic_raw,tick=1us,drift=100ppm", 0, &err);
	struct tmr_quality q;

	CHECK(t && tmr_quality_measure(t, 0.5, 0, &q, &err) == 0, "%s", err.text);
	CHECK_INT(q.smallest_ticks, 1);
	CHECK_INT(q.backward, 0);
	CHECK(q.have_freq, "no frequency");
	/* the raw clock, which is the reference too, is not steered */
	CHECK_NEAR(q.freq.hz, 1e6 * (1 + 100e-6), q.freq.compare_ppm + 0.1);
	CHECK(!q.freq.certain && q.freq.same_counter && q.freq.bound_ppm > 99,
		"nobody keeps this reference: certain %d, %g ppm", q.freq.certain, q.freq.bound_ppm);
	CHECK(q.bin[0] == 0 && q.bin[1] + q.bin[2] > 0, "bins");
	tmr_close(t);

	/* a read that takes 50 ns on any machine */
	t = tmr_sim_wrap(tmr_virtual_open(&v), "tick=1us", 0, &err);
	CHECK(t && tmr_quality_measure(t, 0.1, 0, &q, &err) == 0, "%s", err.text);
	CHECK_INT(q.backward, 0);
	CHECK_NEAR((double)q.equal / (double)q.increments, 0.95, 0.001);
	CHECK_NEAR(q.grid.ticks, 1, 0);
	tmr_close(t);
	t = tmr_sim_wrap(tmr_virtual_open(&v), "noise=200ns,seed=9,tick=1ns", 0, &err);
	CHECK(t && tmr_quality_measure(t, 0.1, 0, &q, &err) == 0, "%s", err.text);
	/* differences of 50 ns with 283 ns of noise: 43 % are below 0 */
	CHECK_NEAR((double)q.backward / (double)q.increments, 0.43, 0.01);
	CHECK(q.worst_backward_ticks < -500, "worst step back %lld", (long long)q.worst_backward_ticks);
	CHECK_INT(q.bin[0], q.backward);
	tmr_close(t);
}

static void the_factors_of_the_kernel_are_a_frequency(void)
{
	/* 2.5 GHz: a cycle is 0.4 ns, in units of 2^-31 ns */
	struct perf_event_mmap_page p = { .time_mult = 858993459, .time_shift = 31 };

	CHECK_NEAR(tmr_hz_of_page(&p), 0, 0);
	p.cap_user_time = 1;
	CHECK_NEAR(tmr_hz_of_page(&p), 2.5e9, 1);
	p.time_mult = 0;
	CHECK_NEAR(tmr_hz_of_page(&p), 0, 0);
}

static void cpu_frequency_agrees_with_the_kernel(void)
{
	struct tkm_err err;
	struct tmr_timer *t = tmr_open("CPU", 0, &err), *n;
	struct tmr_freq f;
	const char *from;
	double kernel = tmr_kernel_hz(&from);

	if (!t) {
		return;
	}
	CHECK(tmr_freq_measure(t, 0.3, &f, &err) == 0, "%s", err.text);
	CHECK(f.hz > 1e6 && f.compare_ppm < 1000, "%g Hz +- %g ppm", f.hz, f.compare_ppm);
	if (kernel > 0) {
		/* the raw clock is the kernel's own conversion of this counter; bogomips is from before it was
		 * refined, by up to a hundredth (tsc_refine_calibration_work) */
		CHECK(fabs(f.hz / kernel - 1) * 1e6 < (strstr(from, "bogomips") ? 10000 : 1) + f.compare_ppm,
			"measured %.3f, kernel %.3f", f.hz, kernel);
	}
	n = tmr_open("CPU_Norm", 0, &err);
	CHECK(n && tmr_freq_measure(n, 0.3, &f, &err) == 0, "%s", err.text);
	CHECK_NEAR(f.hz, 1e9, 1e3 * (2 + f.compare_ppm));
	tmr_close(n);
	tmr_close(t);
}

static void put(const char *dir, const char *path, const char *text)
{
	char name[256], *p;
	int fd;

	snprintf(name, sizeof(name), "%s/%s", dir, path);
	for (p = name + strlen(dir) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(name, 0700);
		*p = '/';
	}
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), "%s", name);
	close(fd);
}

static void environment_of_another_machine_is_read(void)
{
	char dir[] = "/tmp/tkm-env-XXXXXX", cmd[64], key[256], *text = NULL;
	struct tmr_env e;
	size_t len;
	FILE *f;
	int root;

	CHECK(mkdtemp(dir) != NULL, "mkdtemp");
	put(dir, "proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n");
	put(dir, "proc/cpuinfo",
		"processor\t: 0\nmodel name\t: Grand \"Old\" CPU @ 2.40GHz\n"
		"flags\t\t: fpu tsc xconstant_tsc nonstop_tsc tsc_adjust\n\nprocessor\t: 1\n");
	put(dir, "sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
	put(dir, "sys/devices/system/clocksource/clocksource0/available_clocksource", "hpet acpi_pm \n");
	root = tkm_root_open(dir);
	tmr_env_read(root, &e);
	CHECK_STR(e.boot_id, "11111111-2222-3333-4444-555555555555");
	CHECK_STR(e.cpu, "Grand \"Old\" CPU @ 2.40GHz");
	CHECK_STR(e.clocksource, "hpet");
	CHECK_STR(e.clocksources, "hpet acpi_pm");
	CHECK_STR(e.tsc_flags, "nonstop_tsc tsc_adjust");
	CHECK_STR(e.time_ns, "");
	CHECK(strstr(tmr_env_domain(&e, key, sizeof(key)), "/11111111-2222-3333-4444-555555555555/"), "%s", key);
	f = open_memstream(&text, &len);
	tmr_env_print(f, "> ", &e);
	fclose(f);
	CHECK(strstr(text, "> clock source: hpet (available: hpet acpi_pm)\n"), "%s", text);
	free(text);
	put(dir, "proc/cpuinfo",
		"processor\t: 0\nBogoMIPS\t: 125.00\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n"
		"CPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: 0xd07\nCPU revision\t: 0\n\n");
	tmr_env_read(root, &e);
	CHECK_STR(e.cpu, "ARM, implementer 0x41, part 0xd07, variant 0x1, revision 0");
	CHECK_STR(e.tsc_flags, "");
	close(root);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	CHECK_INT(system(cmd), 0);
}

/* By how much a simulated clock is ahead of its base, at times before, within and after each of its errors. */
static void simulated_errors_are_as_written(void)
{
	const struct {
		const char *error;
		double at_s, ahead_s;
	} all[] = { { "slew=100ppm/1s/3s/5s", 0.5, 0 }, { "slew=100ppm/1s/3s/5s", 2, 100e-6 },
		{ "slew=100ppm/1s/3s/5s", 3, 200e-6 }, { "slew=100ppm/1s/3s/5s", 4, 100e-6 },
		{ "slew=100ppm/1s/3s/5s", 4.5, 50e-6 }, { "slew=100ppm/1s/3s/5s", 9, 0 },
		{ "slew=-100ppm/1s/3s/0s", 2, -100e-6 }, { "slew=-100ppm/1s/3s/0s", 9, -200e-6 },
		{ "slew=100ppm/1s/3s/0s,slew=50ppm/2s/4s/0s", 9, 300e-6 }, { "step=10us@2s", 1.9, 0 },
		{ "step=10us@2s", 2.1, 10e-6 }, { "offset=1ms,drift=20ppm", 3, 1e-3 + 60e-6 },
		{ "wobble=10ppm/8s", 2, 10e-6 * 8 / (2 * M_PI) }, { "wobble=10ppm/8s", 4, 2 * 10e-6 * 8 / (2 * M_PI) },
		{ "wobble=10ppm/8s", 8, 0 }, { "warm=10ppm/2s", 2, 10e-6 * 2 * exp(-1) } };
	struct tkm_err err = { .text = "" };
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct tmr_timer *t;
		char name[200];
		double f, ahead;
		int64_t base;

		snprintf(name, sizeof(name), "sim:base=clock_monotonic,tick=1ns,origin=1000,%s", all[i].error);
		t = tmr_open(name, 0, &err);
		CHECK(t, "%s: %s", name, err.text);
		if (t) {
			base = (int64_t)llrint(1e9 * all[i].at_s);
			ahead = (double)ltick_sub(tmr_sim_truth(t, 1000 + base, &f), tmr_sim_truth(t, 1000, &f)) -
				(double)base;
			if (!strncmp(all[i].error, "offset", 6)) {
				ahead += 1e6; /* it is there from the beginning */
			}
			CHECK(fabs(ahead - 1e9 * all[i].ahead_s) < 2, "%s at %g s: %g ns ahead, want %g", all[i].error,
				all[i].at_s, ahead, 1e9 * all[i].ahead_s);
			tmr_close(t);
		}
	}
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(names_ignore_case_and_unknown_ones_say_so);
	RUN(list_has_every_timer_and_every_reason);
	RUN(real_timers_count_seconds);
	RUN(simulated_clock_tells_its_lies_exactly);
	RUN(simulated_clock_begins_anew);
	RUN(simulated_clock_is_the_same_when_reopened);
	RUN(noise_has_the_size_that_was_asked_for);
	RUN(bad_simulations_are_refused);
	RUN(frequency_is_found_within_a_tenth_ppm);
	RUN(true_rate_contains_the_error_of_the_reference);
	RUN(grid_of_a_counter_that_moves_in_steps);
	RUN(quality_sees_what_was_injected);
	RUN(the_factors_of_the_kernel_are_a_frequency);
	RUN(cpu_frequency_agrees_with_the_kernel);
	RUN(environment_of_another_machine_is_read);
	RUN(simulated_errors_are_as_written);
	return check_end();
}
