/* SPDX-License-Identifier: BSD-3-Clause */
/* A machine whose kernel, counter, files and stored result say what a test wants. The test defines _GNU_SOURCE. */
#ifndef TESTS_UNIT_CHECK_MACHINE_H
#define TESTS_UNIT_CHECK_MACHINE_H

#include "check/check.h"
#include "tests/lib/check.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>

/* ---- a machine whose kernel says what we want ---- */

static struct timex kernel_says;

static int kernel_state;

static double realtime_ahead_s, boottime_ahead_s, rate_ppm;

static struct timespec zero;

static inline int says(struct timex *t)
{
	*t = kernel_says;
	return kernel_state;
}

static inline int64_t ns(const struct timespec *t)
{
	return t->tv_sec * 1000000000LL + t->tv_nsec;
}

static inline int shows(clockid_t id, struct timespec *t)
{
	clockid_t of = id == CLOCK_MONOTONIC ? CLOCK_MONOTONIC_RAW : id;
	struct timespec raw;
	int64_t v;

	/* CLOCK_MONOTONIC is made of the raw clock, so that it runs exactly as fast as we say */
	clock_gettime(CLOCK_MONOTONIC_RAW, &raw);
	clock_gettime(of, t);
	v = ns(t);
	if (id == CLOCK_REALTIME || id == CLOCK_BOOTTIME) {
		v = ns(&raw) + (id == CLOCK_REALTIME ? 1795000000000000000LL : 0);
	}
	v += id == CLOCK_REALTIME ? llrint(1e9 * (realtime_ahead_s + boottime_ahead_s)) : 0;
	v += id == CLOCK_BOOTTIME ? llrint(1e9 * boottime_ahead_s) : 0;
	v += id != CLOCK_MONOTONIC_RAW ? llrint(1e-6 * rate_ppm * (double)(ns(&raw) - ns(&zero))) : 0;
	t->tv_sec = v / 1000000000;
	t->tv_nsec = v % 1000000000;
	return 0;
}

/* ---- a counter with a known defect ---- */

static struct tmr_timer *sound; /* the real one */

static enum defect { NO_DEFECT, CORE_RATE, CORE_OFFSET, STUCK, BACKWARD, COARSE } defect;

static long reads;

static inline ltick_t defective(struct tmr_timer *t)
{
	int64_t v = tmr_read_ordered(sound).v, since = v - (int64_t)(intptr_t)t->impl;

	switch (defect) {
	case CORE_RATE:
		return ltick(v + (sched_getcpu() > 0 ? llrint(50e-6 * (double)since) : 0));
	case CORE_OFFSET:
		return ltick(v + (sched_getcpu() > 0 ? llrint(1e-6 * t->hz) : 0));
	case STUCK:
		return ltick(12345);
	case BACKWARD:
		return ltick(__atomic_add_fetch(&reads, 1, __ATOMIC_RELAXED) % 1000 ? v : v - llrint(5e-6 * t->hz));
	case COARSE:
		return ltick(v - v % llrint(1e-3 * t->hz));
	default:
		return ltick(v);
	}
}

static inline struct tmr_timer counter(enum defect d)
{
	struct tmr_timer t = *sound;

	defect = d;
	t.read = t.read_ordered = defective;
	t.impl = (void *)(intptr_t)tmr_read_ordered(sound).v;
	snprintf(t.name, sizeof(t.name), "counter");
	return t;
}

/* ---- the rest of the machine: files, and a stored result ---- */

static char base[] = "/tmp/test_check.XXXXXX";

static inline void put(const char *path, const void *text, size_t size)
{
	char all[400], *p;
	FILE *f;

	snprintf(all, sizeof(all), "%s/%s", base, path);
	for (p = strchr(all + strlen(base) + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(all, 0755);
		*p = '/';
	}
	f = fopen(all, "w");
	CHECK(f && fwrite(text, 1, size, f) == size, "cannot write %s", all);
	if (f) {
		fclose(f);
	}
}

static inline void put_text(const char *path, const char *text)
{
	put(path, text, strlen(text));
}

static inline void put_marker(uint64_t marker)
{
	unsigned char page[64] = "VCLK";

	memcpy(page + 16, &marker, 8);
	put("dev/vmclock0", page, sizeof(page));
}

static inline void healthy_files(void)
{
	put_text("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
	put_text("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm\n");
	put_text("proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n");
	put_text("usr/share/zoneinfo/leap-seconds.list",
		"#@ 1\n2272060800 10\n3692217600 37 # 1 Jan 2017\n9999999999 38\n");
	put_text("usr/share/zoneinfo/leapseconds", "");
	put_marker(7);
	kernel_says = (struct timex){ .status = STA_PLL | STA_NANO, .maxerror = 400, .esterror = 40, .tai = 37 };
	kernel_state = TIME_OK;
	realtime_ahead_s = boottime_ahead_s = rate_ppm = 0;
}

static inline struct chk_stored healthy_result(const struct chk_machine *m)
{
	struct chk_stored s = {
		.have = 1, .here = 1, .ranks = 4, .hosts = 2, .tells_time = 1, .has_marker = 1, .marker = 7
	};

	snprintf(s.timer, sizeof(s.timer), "gettimeofday");
	snprintf(s.verdict, sizeof(s.verdict), "fit");
	snprintf(s.boot_id, sizeof(s.boot_id), "%s", m->env.boot_id);
	snprintf(s.kernel, sizeof(s.kernel), "%s", m->env.kernel);
	snprintf(s.clocksource, sizeof(s.clocksource), "tsc");
	s.started_s = m->begin.realtime_s - 3600;
	s.realtime_minus_boottime_s = m->begin.realtime_s - m->begin.boottime_s;
	s.offset_max_s = 300e-9;
	s.offset_low_s = -1e-6;
	s.offset_high_s = 1e-6;
	s.uncorrected_s = 20e-6;
	s.drift_ppm = 0.4;
	s.residual_s = 2e-6;
	return s;
}

/* Runs everything; what happens in between is done by then(). */
static inline void run_all(
	struct tmr_timer *t, void (*then)(struct chk_machine *m, struct chk_stored *s), struct chk_report *r)
{
	struct chk_machine m = { .timer = t, .utc.adjtimex = says, .gettime = shows, .max_age_s = 86400 };
	struct chk_stored s;
	struct tkm_err err;

	m.root = open(base, O_RDONLY | O_DIRECTORY);
	clock_gettime(CLOCK_MONOTONIC_RAW, &zero);
	chk_machine_begin(&m);
	snprintf(m.env.hypervisor, sizeof(m.env.hypervisor), "KVMKVMKVM");
	s = healthy_result(&m);
	m.stored = &s;
	CHECK(chk_profile(r->limit, "kvm", &m.env, &r->profile, &err) == 0, "%s", err.text);
	if (then) { /* not about the counter, which takes time */
		r->limit[chk_find("tsc.cross_core")].off = r->limit[chk_find("clock.monotonic")].off = 1;
		then(&m, &s);
	}
	chk_run(&m, r);
	close(m.root);
}

/* The status of one check; shows all that are not ok when it is not the one wanted. */
static inline void expect(const struct chk_report *r, const char *name, enum chk_status want)
{
	int i = chk_find(name);

	CHECK(i >= 0 && r->result[i].status == want, "%s is %s (%g): %s; want %s", name,
		chk_status_name(r->result[i].status), r->result[i].value, r->result[i].text, chk_status_name(want));
}

static inline void change_source(struct chk_machine *m, struct chk_stored *s)
{
	(void)s;
	snprintf(m->env.clocksource, sizeof(m->env.clocksource), "hpet");
}

/* A defect of the counter, or what happens after the start: the check that has to find it, and as what. */
struct found {
	enum defect counter;
	void (*then)(struct chk_machine *m, struct chk_stored *s);
	const char *check;
	enum chk_status want;
};

/* Cases that stand together and have the defect in common are one run. */
static inline void each_is_found(const struct found *all, size_t n)
{
	struct chk_report r;
	struct tmr_timer t;
	cpu_set_t set;
	size_t i;
	int two = sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 1;

	for (i = 0; i < n; i++) {
		if (!two && (all[i].counter == CORE_RATE || all[i].counter == CORE_OFFSET)) {
			continue; /* one processing unit agrees with itself */
		}
		if (i == 0 || all[i].then != all[i - 1].then || all[i].counter != all[i - 1].counter) {
			healthy_files();
			t = counter(all[i].counter);
			run_all(&t, all[i].then, &r);
		}
		expect(&r, all[i].check, all[i].want);
		if (all[i].want == CHK_WARNING || all[i].want == CHK_CRITICAL) {
			CHECK(chk_overall(&r) == CHK_WARNING || chk_overall(&r) == CHK_CRITICAL,
				"%s: the whole run is %s", all[i].check, chk_status_name(chk_overall(&r)));
		}
	}
}

static inline void be_another(struct chk_machine *m, struct chk_stored *s)
{
	(void)m;
	s->here = 0;
}

static inline void boot(struct chk_machine *m, struct chk_stored *s)
{
	(void)m;
	snprintf(s->boot_id, sizeof(s->boot_id), "another");
}

/* The folder of the machine and its counter; 0, or there is none. */
static inline int begin_machine(void)
{
	struct tkm_err err;

	sound = tmr_open("CPU", 0, &err);
	sound = sound ? sound : tmr_open("clock_monotonic_raw", 0, &err);
	if (!mkdtemp(base) || !sound || !sound->shareable) {
		printf("Bail out! no folder, or no counter: %s\n", err.text);
		return -1;
	}
	return 0;
}

static inline int end_machine(void)
{
	char command[100];

	tmr_close(sound);
	snprintf(command, sizeof(command), "rm -rf %s", base);
	return system(command) == 0 ? check_end() : 99;
}

#endif
