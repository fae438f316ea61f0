/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of checks, and how their values become a status. */
#include "config.h"
#include "check/check.h"

#include <math.h>
#include <string.h>

#define NONE INFINITY

/* clang-format off */
const struct chk_check chk_table[] = {
	{ "clocksource.current", CHK_COUNT, { 0, 1, 0 },
		"with another clock source each time stamp is a system call or worse, and its tick can be milliseconds",
		"see why the kernel left it (dmesg | grep -i -e clocksource -e tsc), then boot with it, or report the machine",
		chk_clocksource_current },
	{ "clocksource.changed", CHK_COUNT, { NONE, 0, 0 },
		"the kernel distrusts its former source; results from before say nothing about the present one",
		"see dmesg for the reason, and measure again with timertest", chk_clocksource_changed },
	{ "clock.cost", CHK_SECONDS, { 200e-9, 1e-6, 0 },
		"every event of a trace takes at least one time stamp", "boot with a faster clock source, or trace with the processor's counter (VT_TIMER=CPU)",
		chk_clock_cost },
	{ "clock.vdso", CHK_COUNT, { 0, NONE, 0 },
		"clock_gettime() enters the kernel, which costs ten times as much", "use a clock source that the vDSO knows",
		chk_clock_vdso },
	{ "clock.tick", CHK_SECONDS, { 1e-6, 100e-6, 0 },
		"two events within one tick cannot be put in order", "use another timer (timertest --timer LIST)", chk_clock_tick },
	{ "clock.monotonic", CHK_COUNT, { NONE, 0, 0 },
		"a clock that goes back puts events in the wrong order", "use another timer; report the machine", chk_clock_monotonic },
	{ "tsc.invariant", CHK_COUNT, { 0, NONE, 0 },
		"the counter changes its rate with the processor's frequency, or stands still when it sleeps",
		"trace with the kernel's clock (VT_TIMER=clock_monotonic)", chk_tsc_invariant },
	{ "tsc.cross_core", CHK_SECONDS, { 200e-9, 500e-9, 0 },
		"a thread that moves to another processing unit sees its clock jump",
		"trace with the kernel's clock (VT_TIMER=clock_monotonic); see dmesg for 'tsc unstable'; a firmware update may help", chk_tsc_cross_core },
	{ "tsc.rate_error", CHK_PPM, { 100, 500, 0 },
		"times by this counter are wrong by that fraction", "measure its rate with timertest, which corrects it", chk_tsc_rate_error },
	{ "ntp.synchronised", CHK_COUNT, { 0, NONE, 0 },
		"nothing corrects the time of day, so its error is unknown and grows", "start chronyd or ntpd and see its log",
		chk_ntp_synchronised },
	{ "ntp.offset", CHK_SECONDS, { 10e-3, 1, 0 },
		"the time of day can be off by so much", "see 'chronyc tracking'; systemd-timesyncd, phc2sys and OpenNTPD state no error, chronyd and ntpd do", chk_ntp_offset },
	{ "ntp.stepped", CHK_SECONDS, { 1e-3, 1, 0 },
		"time stamps by gettimeofday() jumped by so much", "let NTP slew ('makestep' at the start only); measure again with timertest",
		chk_ntp_stepped },
	{ "ntp.slewed", CHK_PPM, { 200, 1000, 0 },
		"the kernel's clocks run that much faster or slower than the counter below them: intervals are wrong by that fraction",
		"wait until NTP has corrected the offset, then measure again", chk_ntp_slewed },
	{ "phc.bound_ignored", CHK_COUNT, { 0, NONE, 0 },
		"a clock device states a bound on its error, but is not used", "let chronyd use it ('refclock PHC'), or tickmark-clockd",
		chk_phc_bound_ignored },
	{ "tai.offset", CHK_SECONDS, { 0, NONE, 0 },
		"CLOCK_TAI is off by whole seconds", "give the NTP daemon a leap second list ('leapsectz right/UTC' in chrony.conf)",
		chk_tai_offset },
	{ "vm.migrated", CHK_COUNT, { 0, NONE, 0 },
		"counters may differ on the new host, so the stored result is void", "measure again with timertest", chk_vm_migrated },
	{ "sync.offset_max", CHK_SECONDS, { 10e-6, 1e-3, 0 },
		"messages between these ranks can seem to arrive before they were sent", "see the report of timertest",
		chk_sync_offset_max },
	{ "sync.offset_uncorrected", CHK_SECONDS, { 1e-3, 1, 0 },
		"logs of these nodes cannot be put in order", "see ntp.offset on both nodes", chk_sync_offset_uncorrected },
	{ "sync.drift", CHK_PPM, { 100, 500, 0 },
		"the clocks of these nodes run apart fast; bounds between two sessions grow with it",
		"make sessions more often (timertest --target-bound; SYNC-PERIOD in a job)", chk_sync_drift },
	{ "sync.residual", CHK_SECONDS, { 10e-6, 100e-6, 0 },
		"corrected time is no better than that", "see the report of timertest", chk_sync_residual },
	{ "result.verdict", CHK_COUNT, { 0, NONE, 0 },
		"timertest itself does not call this timer fit for tracing", "see its report; try another timer (timertest --timer LIST)",
		chk_result_verdict },
	{ "result.age", CHK_COUNT, { 0, NONE, 0 },
		"what was measured then need not hold now", "measure again: mpirun timertest", chk_result_age },
};
/* clang-format on */
const size_t chk_count = sizeof(chk_table) / sizeof(chk_table[0]);

int chk_find(const char *name)
{
	size_t i;

	for (i = 0; i < chk_count; i++) {
		if (!strcmp(chk_table[i].name, name)) {
			return (int)i;
		}
	}
	return -1;
}

static void judge_against_limit(struct chk_result *r, const struct chk_limit *limit)
{
	if (r->status != CHK_OK) {
		return;
	}
	r->status = r->value > limit->critical ? CHK_CRITICAL : r->value > limit->warning ? CHK_WARNING : CHK_OK;
}

static void read_instant(const struct chk_machine *m, struct chk_instant *at)
{
	static const clockid_t id[] = { CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME,
		CLOCK_MONOTONIC };
	double s[5];
	size_t i;

	for (i = 0; i < 5; i++) {
		struct timespec t = { 0, 0 };

		s[i] = m->gettime(id[i], &t) < 0 ? NAN : (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
	}
	*at = (struct chk_instant){
		.realtime_s = s[1], .monotonic_s = s[0], .raw_s = s[2], .boottime_s = s[3], .taken_s = s[4] - s[0]
	};
}

void chk_machine_begin(struct chk_machine *m)
{
	int i;

	tmr_env_read(m->root, &m->env);
	read_instant(m, &m->begin);
	for (i = 0; i < 20; i++) {
		struct chk_instant again;

		read_instant(m, &again);
		m->begin = again.taken_s < m->begin.taken_s ? again : m->begin;
	}
}

void chk_run(struct chk_machine *m, struct chk_report *r)
{
	struct timespec begin, end;
	size_t i;

	clock_gettime(CLOCK_MONOTONIC_RAW, &begin);
	snprintf(r->host, sizeof(r->host), "%s", m->env.host);
	for (i = 0; i < chk_count; i++) {
		r->result[i] = (struct chk_result){ .status = CHK_ABSENT, .value = NAN, .text = "left out" };
		if (!r->limit[i].off) {
			chk_table[i].run(m, &r->limit[i], &r->result[i]);
			judge_against_limit(&r->result[i], &r->limit[i]);
		}
	}
	clock_gettime(CLOCK_MONOTONIC_RAW, &end);
	r->duration_s = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
	r->time_s = (double)time(NULL);
}

/* critical, warning, unknown, ok, absent */
static int severity(enum chk_status s)
{
	static const int how[] = { 1, 3, 4, 2, 0 };

	return how[s];
}

void chk_worse(struct chk_report *into, const struct chk_report *other)
{
	size_t i;

	for (i = 0; i < chk_count; i++) {
		const struct chk_result *o = &other->result[i];
		struct chk_result *r = &into->result[i];

		if (severity(o->status) > severity(r->status) || (o->status == r->status && o->value > r->value)) {
			*r = *o;
		}
	}
	into->duration_s += other->duration_s;
	into->time_s = other->time_s;
}

enum chk_status chk_overall(const struct chk_report *r)
{
	enum chk_status worst = CHK_OK;
	size_t i;

	for (i = 0; i < chk_count; i++) {
		if (severity(r->result[i].status) > severity(worst)) {
			worst = r->result[i].status;
		}
	}
	return worst;
}
