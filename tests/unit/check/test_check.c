/* SPDX-License-Identifier: BSD-3-Clause */
/* timertest --check on simulated machines with a known defect: it must find each defect, and none on a correct
 * machine. */
#define _GNU_SOURCE
#include "config.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>

#include "check/check.h"
#include "check/main.h"
#include "tests/lib/check.h"

/* ---- a machine whose kernel says what we want ---- */

static struct timex kernel_says;
static int kernel_state;
static double realtime_ahead_s, boottime_ahead_s, rate_ppm;
static struct timespec zero;

static int says(struct timex *t)
{
	*t = kernel_says;
	return kernel_state;
}

static int64_t ns(const struct timespec *t)
{
	return t->tv_sec * 1000000000LL + t->tv_nsec;
}

static int shows(clockid_t id, struct timespec *t)
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

static ltick_t defective(struct tmr_timer *t)
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

static struct tmr_timer counter(enum defect d)
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

static void put(const char *path, const void *text, size_t size)
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

static void put_text(const char *path, const char *text)
{
	put(path, text, strlen(text));
}

static void put_marker(uint64_t marker)
{
	unsigned char page[64] = "VCLK";

	memcpy(page + 16, &marker, 8);
	put("dev/vmclock0", page, sizeof(page));
}

static void healthy_files(void)
{
	put_text("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
	put_text("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm\n");
	put_text("proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n");
	put_text("usr/share/zoneinfo/leap-seconds.list",
		"#@ 1\n2272060800 10\n3692217600 37 # 1 Jan 2017\n9999999999 38\n");
	put_text("usr/share/zoneinfo/leapseconds", "");
	put_marker(7);
	kernel_says = (struct timex){ .status = STA_PLL | STA_NANO, .maxerror = 400, .tai = 37 };
	kernel_state = TIME_OK;
	realtime_ahead_s = boottime_ahead_s = rate_ppm = 0;
}

static struct chk_stored healthy_result(const struct chk_machine *m)
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
static void run_all(
	struct tmr_timer *t, void (*then)(struct chk_machine *m, struct chk_stored *s), struct chk_report *r)
{
	struct chk_machine m = { .timer = t, .adjtimex = says, .gettime = shows, .max_age_s = 86400 };
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
static void expect(const struct chk_report *r, const char *name, enum chk_status want)
{
	int i = chk_find(name);

	CHECK(i >= 0 && r->result[i].status == want, "%s is %s (%g): %s; want %s", name,
		chk_status_name(r->result[i].status), r->result[i].value, r->result[i].text, chk_status_name(want));
}

static void a_sound_machine_has_no_defect(void)
{
	struct tmr_timer t = counter(NO_DEFECT);
	struct chk_report r;
	size_t i;

	healthy_files();
	run_all(&t, NULL, &r);
	for (i = 0; i < chk_count; i++) {
		/* a busy machine may leave a pair of cores unmeasured, and delay what is timed */
		int may = !strcmp(chk_table[i].name, "tsc.cross_core") || !strcmp(chk_table[i].name, "clock.cost") ||
			!strcmp(chk_table[i].name, "clock.vdso");

		CHECK(r.result[i].status == CHK_OK || r.result[i].status == CHK_ABSENT ||
				(may && r.result[i].status != CHK_CRITICAL),
			"%s: %s %s", chk_table[i].name, chk_status_name(r.result[i].status), r.result[i].text);
		CHECK(strlen(chk_table[i].why) > 10 && strlen(chk_table[i].what) > 10, "%s explains nothing",
			chk_table[i].name);
	}
	CHECK(r.duration_s < 2, "%g s", r.duration_s);
}

static void kernels_with_a_defect_are_found(void)
{
	struct tmr_timer t = counter(NO_DEFECT);
	struct chk_report r;

	healthy_files();
	kernel_says.maxerror = 50000;
	run_all(&t, NULL, &r);
	expect(&r, "ntp.offset", CHK_WARNING);

	healthy_files();
	put_text("sys/class/ptp/ptp0/device/phc_error_bound", "21000\n");
	kernel_says.maxerror = 100000;
	run_all(&t, NULL, &r);
	expect(&r, "phc.bound_ignored", CHK_WARNING);
	put_text("sys/class/ptp/ptp0/device/phc_error_bound", "");
}

static void set_the_time(struct chk_machine *m, struct chk_stored *s)
{
	(void)m;
	(void)s;
	realtime_ahead_s = 10e-3;
}

static void change_source(struct chk_machine *m, struct chk_stored *s)
{
	(void)s;
	snprintf(m->env.clocksource, sizeof(m->env.clocksource), "hpet");
}

static void change_source_again(struct chk_machine *m, struct chk_stored *s)
{
	(void)m;
	snprintf(s->first_clocksource, sizeof(s->first_clocksource), "kvm-clock");
}

static void migrate(struct chk_machine *m, struct chk_stored *s)
{
	(void)m;
	(void)s;
	put_marker(8);
}

static void suspend(struct chk_machine *m, struct chk_stored *s)
{
	(void)s;
	m->begin.boottime_s += 30;
}

static void lose_servers(struct chk_machine *m, struct chk_stored *s)
{
	(void)m;
	(void)s;
	kernel_says.status |= STA_UNSYNC;
	kernel_state = TIME_ERROR;
}

static void slew(struct chk_machine *m, struct chk_stored *s)
{
	(void)m;
	(void)s;
	rate_ppm = 500;
}

static void forget_a_leap_second(struct chk_machine *m, struct chk_stored *s)
{
	(void)m;
	(void)s;
	kernel_says.tai = 36;
}

/* The defects that a site meets, each with the check that has to find it. */
static void twelve_defects_are_each_found(void)
{
	static const struct {
		const char *what;
		enum defect counter;
		void (*then)(struct chk_machine *m, struct chk_stored *s);
		const char *check;
		enum chk_status want;
	} all[] = {
		{ "the time of day was stepped", NO_DEFECT, set_the_time, "ntp.stepped", CHK_WARNING },
		{ "50 ppm between cores", CORE_RATE, NULL, "tsc.cross_core", CHK_CRITICAL },
		{ "a core is 1 us off", CORE_OFFSET, NULL, "tsc.cross_core", CHK_CRITICAL },
		{ "stuck", STUCK, NULL, "clock.tick", CHK_CRITICAL },
		{ "backward", BACKWARD, NULL, "clock.monotonic", CHK_CRITICAL },
		{ "coarse", COARSE, NULL, "clock.tick", CHK_CRITICAL },
		{ "another clock source", NO_DEFECT, change_source, "clocksource.changed", CHK_CRITICAL },
		{ "not synchronised", NO_DEFECT, lose_servers, "ntp.synchronised", CHK_WARNING },
		{ "slewing", NO_DEFECT, slew, "ntp.slewed", CHK_WARNING },
		{ "wrong TAI", NO_DEFECT, forget_a_leap_second, "tai.offset", CHK_WARNING },
		{ "suspended", NO_DEFECT, suspend, "result.age", CHK_WARNING },
		{ "migrated", NO_DEFECT, migrate, "vm.migrated", CHK_WARNING },
	};
	struct chk_report r;
	struct tmr_timer t;
	cpu_set_t set;
	size_t i;
	int two = sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 1;

	CHECK_INT(sizeof(all) / sizeof(all[0]), 12);
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!two && (all[i].counter == CORE_RATE || all[i].counter == CORE_OFFSET)) {
			continue; /* one processing unit agrees with itself */
		}
		healthy_files();
		t = counter(all[i].counter);
		run_all(&t, all[i].then, &r);
		expect(&r, all[i].check, all[i].want);
		CHECK(chk_overall(&r) == CHK_WARNING || chk_overall(&r) == CHK_CRITICAL, "%s: the whole run is %s",
			all[i].what, chk_status_name(chk_overall(&r)));
		if (all[i].then == lose_servers) {
			expect(&r, "ntp.offset", CHK_UNKNOWN);
		}
	}
}

static void grow_old(struct chk_machine *m, struct chk_stored *s)
{
	(void)m;
	s->started_s -= 2 * 86400;
}

static void be_another(struct chk_machine *m, struct chk_stored *s)
{
	(void)m;
	s->here = 0;
}

static void boot(struct chk_machine *m, struct chk_stored *s)
{
	(void)m;
	snprintf(s->boot_id, sizeof(s->boot_id), "another");
}

static void lose_the_marker(struct chk_machine *m, struct chk_stored *s)
{
	(void)m;
	s->has_marker = 0;
	s->marker = 0;
}

static void lose_the_list(struct chk_machine *m, struct chk_stored *s)
{
	(void)m;
	(void)s;
	put_text("usr/share/zoneinfo/leap-seconds.list", "");
}

/* Only tzdata's other file is there: 10 s, and one more for each second that was inserted. */
static void count_the_seconds(struct chk_machine *m, struct chk_stored *s)
{
	char text[2000] = "# Leap\tYEAR\tMONTH\tDAY\tHH:MM:SS\tCORR\tR/S\n";
	int i;

	(void)m;
	(void)s;
	for (i = 0; i < 29; i++) {
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "Leap\t%d\tDec\t31\t23:59:60\t%c\tS\n",
			1980 + i, i == 5 ? '-' : '+');
	}
	put_text("usr/share/zoneinfo/leap-seconds.list", "");
	put_text("usr/share/zoneinfo/leapseconds", text);
}

static void drift(struct chk_machine *m, struct chk_stored *s)
{
	(void)m;
	s->drift_ppm = 700;
	s->offset_max_s = 60e-6;
	s->uncorrected_s = 3;
	s->residual_s = 60e-6;
	snprintf(s->verdict, sizeof(s->verdict), "unfit");
}

static void what_changed_since_the_result_is_found(void)
{
	static const struct {
		void (*then)(struct chk_machine *m, struct chk_stored *s);
		const char *check;
		enum chk_status want;
	} all[] = {
		{ change_source, "clocksource.current", CHK_CRITICAL },
		{ change_source_again, "clocksource.changed", CHK_CRITICAL },
		{ change_source, "sync.drift", CHK_UNKNOWN },
		{ suspend, "sync.offset_max", CHK_UNKNOWN },
		{ grow_old, "result.age", CHK_WARNING },
		{ be_another, "result.age", CHK_WARNING },
		{ boot, "result.age", CHK_WARNING },
		{ boot, "vm.migrated", CHK_UNKNOWN },
		{ boot, "clocksource.changed", CHK_UNKNOWN },
		{ lose_the_marker, "vm.migrated", CHK_UNKNOWN },
		{ be_another, "vm.migrated", CHK_UNKNOWN },
		{ lose_the_list, "tai.offset", CHK_UNKNOWN },
		{ count_the_seconds, "tai.offset", CHK_OK },
		{ drift, "sync.drift", CHK_CRITICAL },
		{ drift, "sync.offset_max", CHK_WARNING },
		{ drift, "sync.offset_uncorrected", CHK_CRITICAL },
		{ drift, "sync.residual", CHK_WARNING },
		{ drift, "result.verdict", CHK_WARNING },
	};
	struct tmr_timer t = counter(NO_DEFECT);
	struct chk_report r;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (i == 0 || all[i].then != all[i - 1].then) {
			healthy_files();
			run_all(&t, all[i].then, &r);
		}
		expect(&r, all[i].check, all[i].want);
	}
}

static void limits_are_read(void)
{
	struct chk_limit l[CHK_MOST];
	struct tmr_env env = { .hypervisor = "" };
	struct tkm_err err;
	const char *used;
	char path[300];
	int cost = chk_find("clock.cost"), rate = chk_find("tsc.rate_error");

	CHECK(chk_profile(l, NULL, &env, &used, &err) == 0, "%s", err.text);
	CHECK_STR(used, "baremetal");
	CHECK_NEAR(l[cost].warning, 200e-9, 1e-15);
	CHECK(chk_set_limit(l, "clock.cost=1us", 0, &err) == 0 &&
			chk_set_limit(l, "tsc.rate_error=3ppm", 1, &err) == 0 &&
			chk_set_limit(l, "clock.tick=-", 1, &err) == 0,
		"%s", err.text);
	CHECK_NEAR(l[cost].warning, 1e-6, 1e-15);
	CHECK_NEAR(l[rate].critical, 3, 1e-9);
	CHECK(isinf(l[chk_find("clock.tick")].critical), "no limit");
	CHECK(chk_set_limit(l, "clock.coast=1us", 0, &err) < 0 && strstr(err.text, "clock.cost"), "%s", err.text);
	CHECK(chk_set_limit(l, "clock.cost=fast", 0, &err) < 0 && strstr(err.text, "fast"), "%s", err.text);
	CHECK(chk_set_limit(l, "clock.cost", 0, &err) < 0, "%s", err.text);

	put_text("site.limits", "# ours\n\nclock.cost 50ns -\nsync.drift off\n");
	snprintf(path, sizeof(path), "%s/site.limits", base);
	CHECK(chk_profile(l, path, &env, &used, &err) == 0, "%s", err.text);
	CHECK_NEAR(l[cost].warning, 50e-9, 1e-15);
	CHECK(isinf(l[cost].critical) && l[chk_find("sync.drift")].off, "file not read");
	put_text("site.limits", "clock.cost 50ns\n");
	CHECK(chk_profile(l, path, &env, &used, &err) < 0 && strstr(err.text, "site.limits:1"), "%s", err.text);
	CHECK(chk_profile(l, "metal", &env, &used, &err) < 0 && strstr(err.text, "baremetal"), "%s", err.text);
}

static void the_worse_of_two_runs_is_kept(void)
{
	struct chk_report a = { .host = "" }, b = { .host = "" };
	size_t i;

	for (i = 0; i < chk_count; i++) {
		a.result[i].status = b.result[i].status = CHK_OK;
	}
	a.result[0] = (struct chk_result){ CHK_UNKNOWN, NAN, "a" };
	b.result[0] = (struct chk_result){ CHK_WARNING, 1, "b" };
	a.result[1] = (struct chk_result){ CHK_OK, 2, "a" };
	b.result[1] = (struct chk_result){ CHK_OK, 3, "b" };
	chk_worse(&a, &b);
	CHECK_INT(a.result[0].status, CHK_WARNING);
	CHECK_STR(a.result[1].text, "b");
	CHECK_INT(chk_overall(&a), CHK_WARNING);
	a.result[2].status = CHK_CRITICAL;
	CHECK_INT(chk_overall(&a), CHK_CRITICAL);
}

static void damaged_results_are_refused(void)
{
	struct chk_stored s;
	char dir[300];

	snprintf(dir, sizeof(dir), "%s/state/tickmark", base);
	put_text("state/tickmark/timertest.json", "{\"schema\":\"timertest/1\",\"ranks\":[");
	chk_stored_read(&s, dir, "n1");
	CHECK(!s.have && strstr(s.why, "damaged"), "%s", s.why);
	put_text("state/tickmark/timertest.json", "[1,2]");
	chk_stored_read(&s, dir, "n1");
	CHECK(!s.have && strstr(s.why, "schema"), "%s", s.why);
	put_text("state/tickmark/timertest.json",
		"{\"schema\":\"timertest/1\",\"ranks\":[1,{\"env\":3},null],\"bursts\":[{\"a\":0,\"b\":99}]}");
	chk_stored_read(&s, dir, "n1");
	CHECK(s.have && s.ranks == 3 && !s.here, "%s", s.why);
}

static void results_are_stored(void)
{
	static const char first[] =
		"{\"schema\":\"timertest/1\",\"started_unix_s\":100,\"ranks\":["
		"{\"env\":{\"host\":\"n1\",\"boot_id\":\"B\",\"clocksource\":{\"current\":\"tsc\"},"
		"\"vm_marker\":\"00000000000000ff\",\"suspended_s\":0.5,\"realtime_minus_boottime_s\":1234.5,"
		"\"kernel\":\"6.1\"},"
		"\"timer\":{\"name\":\"gettimeofday\"},\"sync\":{\"bound_s\":1e-6}},"
		"{\"env\":{\"host\":\"n2\",\"boot_id\":\"C\",\"clocksource\":{\"current\":\"tsc\"}},"
		"\"sync\":{\"bound_s\":3e-6,\"drift_ppm\":-4,\"before_correction\":{\"offset_s\":-0.25}}}],"
		"\"bursts\":[{\"a\":0,\"b\":1,\"latency_s\":2e-6},{\"a\":0,\"b\":1,\"latency_s\":1e-6}],"
		"\"maximum\":{\"offset_s\":5e-7,\"low_s\":-1e-6,\"high_s\":1e-6},\"verdict\":{\"status\":\"fit\"}}";
	struct chk_stored s;
	struct tkm_err err;
	char dir[300], later[2000], *p;

	snprintf(dir, sizeof(dir), "%s/state/tickmark", base);
	chk_stored_read(&s, dir, "n1");
	CHECK(!s.have && (strstr(s.why, "no result") || strstr(s.why, "no jansson")), "%s", s.why);
	if (chk_stored_write(dir, first, &err) < 0) {
		CHECK(err.code == TKM_ERR_UNAVAIL, "%s", err.text); /* a build without jansson */
		return;
	}
	chk_stored_read(&s, dir, "n1");
	CHECK(s.have && s.here && s.ranks == 2 && s.hosts == 2 && s.tells_time, "%s", s.why);
	CHECK_NEAR(s.uncorrected_s, 0.25, 1e-12);
	CHECK_STR(s.worst_host, "n2");
	CHECK_NEAR(s.drift_ppm, 4, 1e-12);
	CHECK_NEAR(s.residual_s, 3e-6, 1e-15);
	CHECK(s.has_marker && s.marker == 255, "marker %llx", (unsigned long long)s.marker);
	CHECK_NEAR(s.suspended_s, 0.5, 1e-12);
	CHECK_NEAR(s.realtime_minus_boottime_s, 1234.5, 1e-9);
	CHECK_STR(s.kernel, "6.1");
	CHECK_STR(s.boot_id, "B");
	CHECK_STR(s.clocksource, "tsc");
	CHECK_STR(s.first_clocksource, "tsc");

	snprintf(later, sizeof(later), "%s", first); /* n1 has another source now, n2 was booted */
	p = strstr(later, "tsc");
	memcpy(p, "hpt", 3);
	*(strstr(later, "\"C\"") + 1) = 'D';
	p = strstr(p, "tsc");
	memcpy(p, "acp", 3);
	CHECK(chk_stored_write(dir, later, &err) == 0, "%s", err.text);
	chk_stored_read(&s, dir, "n1");
	CHECK_STR(s.clocksource, "hpt");
	CHECK_STR(s.first_clocksource, "tsc");
	chk_stored_read(&s, dir, "n2");
	CHECK_STR(s.first_clocksource, "acp");
	chk_stored_read(&s, dir, "n3");
	CHECK(s.have && !s.here, "n3 took no part");
	damaged_results_are_refused();
}

static void values_are_readable(void)
{
	char a[32];

	CHECK_STR(chk_print_value(a, sizeof(a), CHK_PPM, 1000), "1000ppm");
	CHECK_STR(chk_print_value(a, sizeof(a), CHK_PPM, 250000), "250000ppm");
	CHECK_STR(chk_print_value(a, sizeof(a), CHK_PPM, -0.0359), "-0.0359ppm");
	CHECK_STR(chk_print_value(a, sizeof(a), CHK_SECONDS, 123456), "123456s");
	CHECK_STR(chk_print_value(a, sizeof(a), CHK_SECONDS, 1.5), "1.5s");
	CHECK_STR(chk_print_value(a, sizeof(a), CHK_COUNT, 12000), "12000");
	CHECK_STR(chk_print_value(a, sizeof(a), CHK_PPM, NAN), "unknown");
}

static int is_check(const char *one, const char *two, const char *three)
{
	char name[] = "timertest",
	     *argv[] = { name, (char *)(uintptr_t)one, (char *)(uintptr_t)two, (char *)(uintptr_t)three, NULL };
	int argc = 1;

	while (argv[argc]) {
		argc++;
	}
	return chk_asked(argc, argv);
}

static void a_check_is_asked_for_by_its_options(void)
{
	CHECK(!is_check(NULL, NULL, NULL) && !is_check("-o", "file", NULL), "other options");
	CHECK(is_check("--check", NULL, NULL) && is_check("-q", "--CHECK=1", NULL) &&
			is_check("a", "b", "--fingerprint") && is_check("--taskprolog", "--", NULL),
		"options of a check");
	CHECK(!is_check("--checks", "--chec", "check") && !is_check("--", "--check", NULL), "arguments");
}

int main(int argc, char **argv)
{
	struct tkm_err err;
	char command[100];

	check_args(argc, argv);
	sound = tmr_open("CPU", 0, &err);
	sound = sound ? sound : tmr_open("clock_monotonic_raw", 0, &err);
	if (!mkdtemp(base) || !sound || !sound->shareable) {
		printf("Bail out! no folder, or no counter: %s\n", err.text);
		return 99;
	}
	RUN(a_sound_machine_has_no_defect);
	RUN(kernels_with_a_defect_are_found);
	RUN(twelve_defects_are_each_found);
	RUN(what_changed_since_the_result_is_found);
	RUN(limits_are_read);
	RUN(the_worse_of_two_runs_is_kept);
	RUN(values_are_readable);
	RUN(results_are_stored);
	RUN(a_check_is_asked_for_by_its_options);
	tmr_close(sound);
	snprintf(command, sizeof(command), "rm -rf %s", base);
	return system(command) == 0 ? check_end() : 99;
}
