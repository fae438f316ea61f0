/* SPDX-License-Identifier: BSD-3-Clause */
/* The error of CLOCK_REALTIME, with a kernel and daemons that are simulated: whatever keeps the clock, in whatever
 * moment it is asked, a bound that is stated holds, and a daemon that knows the error gets one. */
#define _GNU_SOURCE
#include "config.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "tests/lib/check.h"
#include "timers/quality/utc.h"

/* ---- the kernel: as kernel/time/ntp.c ---- */

static const int64_t billion = 1000000000;
static struct timex kernel;
static int state;
static int64_t now_ns, booted_ns, second; /* true UTC; the second for which M has risen */
static double error_s, drift;             /* of CLOCK_REALTIME, and its rate */

static int64_t shown_ns(void)
{
	return now_ns + (int64_t)llrint(error_s * 1e9);
}

/* The kernel counts the seconds that pass, not those by which the time is set. */
static void update_clock(void (*update)(void))
{
	int64_t ahead = shown_ns() / billion - second;

	update();
	second = shown_ns() / billion - ahead;
}

static void pass_ns(int64_t ns)
{
	now_ns += ns;
	error_s += drift * 1e-9 * (double)ns;
	/* up to a tick late */
	while (second < (shown_ns() - (int64_t)(check_random() % 10000000)) / billion) {
		second++;
		kernel.maxerror += 500;
		if (kernel.maxerror >= 16000000) {
			kernel.maxerror = 16000000;
			kernel.status |= STA_UNSYNC;
		}
	}
}

static int simulated(struct timex *t)
{
	CHECK(t->modes == 0, "modes %#x: this sets the clock", t->modes);
	*t = kernel;
	errno = EPERM;
	return state == TIME_OK && (kernel.status & STA_UNSYNC) ? TIME_ERROR : state;
}

/* Instead of libc's. */
int clock_gettime(clockid_t id, struct timespec *ts)
{
	int64_t ns = id == CLOCK_REALTIME ? shown_ns() : now_ns - booted_ns;

	ts->tv_sec = ns / billion;
	ts->tv_nsec = ns % billion;
	return 0;
}

static double slept_s;

int nanosleep(const struct timespec *ts, struct timespec *left)
{
	(void)left;
	slept_s += (double)ts->tv_sec + 1e-9 * (double)ts->tv_nsec;
	pass_ns(ts->tv_sec * billion + ts->tv_nsec);
	return 0;
}

/* ---- who keeps it ---- */

static long us(double most)
{
	return (long)(1 + most * check_uniform());
}

static void set_numbers(long maxerror, long esterror, int status)
{
	kernel.maxerror = maxerror;
	kernel.esterror = esterror;
	kernel.status = status;
}

/* Corrects the clock to within 200 us, and knows that with some margin. */
static void as_chronyd(int flags)
{
	error_s = 200e-6 * (2 * check_uniform() - 1);
	drift = 100e-6 * (2 * check_uniform() - 1);
	set_numbers((long)ceil(fabs(error_s) * 1e6) + 40 + us(300), us(40), STA_NANO | flags);
}

static void chronyd(void)
{
	as_chronyd(0);
}

static void chronyd_without_rtcsync(void)
{
	as_chronyd(STA_UNSYNC);
}

/* Its standard deviation is below 1 us. */
static void chronyd_of_a_device(void)
{
	as_chronyd(0);
	error_s = 5e-6 * (2 * check_uniform() - 1);
	set_numbers(7 + us(20), 0, STA_NANO);
}

/* The kernel's loop has still to correct an offset that the maximum error does not contain. */
static void ntpd(void)
{
	as_chronyd(STA_PLL);
	kernel.offset = us(400e6) / (check_random() & 1 ? 1 : 1000);
	error_s += 1e-9 * (double)kernel.offset;
}

static void ntpd_in_microseconds(void)
{
	ntpd();
	kernel.status &= ~STA_NANO;
	kernel.offset /= 1000;
}

static void be_wrong(void)
{
	error_s = error_s > 1 ? error_s : 3;
	drift = 100e-6 * (2 * check_uniform() - 1);
}

static void timesyncd(void)
{
	be_wrong();
	set_numbers(0, 0, STA_PLL | STA_NANO);
}

static void phc2sys(void)
{
	be_wrong();
	set_numbers(0, kernel.esterror, STA_NANO);
}

static void nobody(void)
{
	be_wrong();
	set_numbers(16000000, 16000000, STA_UNSYNC);
}

static void nobody_and_the_flag_is_cleared(void)
{
	be_wrong();
	set_numbers(16000000, 16000000, 0);
}

/* It was killed while it slewed a second by 5 %; what it said before was right. */
static void chronyd_killed_while_slewing(void)
{
	if (kernel.tick != 10500) {
		as_chronyd(0);
	}
	kernel.tick = 10500;
	drift = 0.05;
}

static void killed_while_slewing_by_frequency(void)
{
	if (kernel.freq == 0) {
		as_chronyd(0);
	}
	kernel.tick = 9995;
	kernel.freq = -(500 << 16);
	drift = -1000e-6;
}

static void leap_second(void)
{
	as_chronyd(STA_PLL);
	error_s += 1;
	state = TIME_OOP;
}

static void refused(void)
{
	be_wrong();
	state = -1;
}

enum wanted { NEVER, ALWAYS, SOMETIMES };

static const struct daemon_case {
	const char *what;
	void (*update)(void);
	double every_s;
	long stale; /* esterror that was left by another daemon */
	enum wanted wanted;
} cases[] = {
	{ "chronyd", chronyd, 64, 16000000, ALWAYS },
	{ "chronyd, long polls", chronyd, 1024, 16000000, ALWAYS },
	{ "chronyd without rtcsync", chronyd_without_rtcsync, 64, 16000000, ALWAYS },
	{ "chronyd with a PTP device", chronyd_of_a_device, 1, 16000000, ALWAYS },
	{ "ntpd", ntpd, 64, 16000000, ALWAYS },
	{ "ntpd without STA_NANO", ntpd_in_microseconds, 64, 16000000, ALWAYS },
	{ "systemd-timesyncd", timesyncd, 32, 16000000, NEVER },
	{ "systemd-timesyncd, long polls", timesyncd, 2048, 40, NEVER },
	{ "phc2sys after a boot", phc2sys, 1, 16000000, NEVER },
	{ "phc2sys after chronyd", phc2sys, 1, 40, NEVER },
	{ "phc2sys -R 0.25 after ntpd", phc2sys, 4, 400, NEVER },
	{ "phc2sys after systemd-timesyncd", phc2sys, 1, 0, NEVER },
	{ "ptp4l with 16 updates a second", phc2sys, 1. / 16, 40, NEVER },
	{ "OpenNTPD after chronyd", phc2sys, 30, 40, NEVER },
	{ "nobody", nobody, 7, 16000000, NEVER },
	{ "nobody, and the flag is cleared", nobody_and_the_flag_is_cleared, 7, 16000000, NEVER },
	{ "chronyd killed while slewing", chronyd_killed_while_slewing, 3, 40, NEVER },
	{ "killed while slewing by frequency and tick", killed_while_slewing_by_frequency, 3, 40, NEVER },
	{ "a leap second", leap_second, 64, 40, NEVER },
	{ "adjtimex is refused", refused, 64, 40, NEVER },
};

static void boot(const struct daemon_case *c)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.tick = 10000;
	set_numbers(16000000, c->stale, STA_UNSYNC);
	state = TIME_OK;
	booted_ns = INT64_C(1795000000) * billion + (int64_t)(check_random() % 1000000000);
	now_ns = booted_ns;
	error_s = drift = 0;
	second = shown_ns() / billion;
}

static long stated, readings;

static void ask(const struct daemon_case *c, struct tmr_utc_watch *w, int settle)
{
	struct tmr_utc utc;

	(settle ? tmr_utc_settle : tmr_utc_read)(w, &utc);
	readings++;
	stated += utc.status == TMR_UTC_BOUNDED;
	CHECK((utc.status == TMR_UTC_BOUNDED) == isfinite(utc.bound_s), "%s: %g s", c->what, utc.bound_s);
	CHECK(fabs(error_s) <= utc.bound_s, "%s: off by %g s, bound %g s (%s)", c->what, error_s, utc.bound_s, utc.why);
	CHECK(c->wanted != ALWAYS || isinf(utc.bound_s) ||
			utc.bound_s < utc.offset_s + 2e-3 + 520e-6 * (c->every_s + 2),
		"%s: %g s", c->what, utc.bound_s);
	CHECK(utc.why[0], "%s: no reason", c->what);
}

/* Updates as the daemon does, from a random moment on, and asks every 100 ms, or as a busy machine lets it. */
static void run_daemon(const struct daemon_case *c)
{
	struct tmr_utc_watch watch = { .adjtimex = simulated };
	int64_t every = (int64_t)(c->every_s * 1e9), next = now_ns + every, first, gap;
	int i, asked = 0;

	update_clock(c->update);
	for (first = now_ns + (int64_t)(check_uniform() * 1.5 * (double)every), i = 0; i < 600; i++) {
		gap = check_random() % 50 ? 100000000 : (int64_t)(check_random() % 5000000000);
		if (i == 0) {
			gap = first - now_ns;
		}
		while (next <= now_ns + gap) {
			gap -= next - now_ns;
			pass_ns(next - now_ns);
			update_clock(c->update);
			next += every;
		}
		pass_ns(gap);
		ask(c, &watch, !asked++);
	}
}

static void twenty_states_of_daemons(void)
{
	size_t i;
	int k;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		stated = readings = 0;
		slept_s = 0;
		for (k = 0; k < 50; k++) {
			boot(&cases[i]);
			run_daemon(&cases[i]);
		}
		CHECK(cases[i].wanted != NEVER || stated == 0, "%s: %ld bounds", cases[i].what, stated);
		/* one number of 500 looks as if it had been 0 */
		CHECK(cases[i].wanted != ALWAYS || (double)stated > 0.95 * (double)readings, "%s: %ld bounds of %ld",
			cases[i].what, stated, readings);
		CHECK(slept_s <= 50 * 1.2, "%s: %g s", cases[i].what, slept_s);
	}
}

/* One follows the other, with what the first has left. */
static void one_daemon_after_another(void)
{
	size_t i, k;
	int round;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
			for (round = 0; round < 2; round++) {
				boot(&cases[i]);
				run_daemon(&cases[i]);
				state = TIME_OK;
				kernel.tick = 10000;
				kernel.freq = 0;
				kernel.offset = 0;
				run_daemon(&cases[k]);
			}
		}
	}
}

/* The numbers of the kernel in one reading, with nobody who changes them. */
static void a_single_reading(void)
{
	static const struct {
		long maxerror, esterror;
		int status, state, want;
	} all[] = {
		{ 1500, 40, STA_PLL | STA_NANO, TIME_OK, TMR_UTC_BOUNDED },
		{ 1500, 40, STA_NANO, TIME_OK, TMR_UTC_UNDECIDED },
		{ 1500, 40, STA_NANO | STA_UNSYNC, TIME_ERROR, TMR_UTC_BOUNDED },
		{ 1501, 0, STA_NANO, TIME_OK, TMR_UTC_BOUNDED },
		{ 1500, 0, STA_NANO, TIME_OK, TMR_UTC_ZEROED },
		{ 500, 40, STA_PLL, TIME_OK, TMR_UTC_UNDECIDED },
		{ 0, 0, STA_PLL, TIME_OK, TMR_UTC_ZEROED },
		{ -5, -9, STA_PLL | STA_NANO, TIME_OK, TMR_UTC_ZEROED },
		{ 1501, -9, STA_PLL | STA_NANO, TIME_OK, TMR_UTC_ZEROED },
		{ 31501, 16000000, STA_NANO, TIME_OK, TMR_UTC_ZEROED },
		{ 15999999, 40, STA_NANO, TIME_OK, TMR_UTC_BOUNDED },
		{ 16000000, 40, STA_NANO, TIME_OK, TMR_UTC_UNSYNCHRONISED },
		{ 1501, 40, STA_INS, TIME_INS, TMR_UTC_BOUNDED },
		{ 1501, 40, STA_INS, TIME_OOP, TMR_UTC_LEAP },
		{ 1501, 40, STA_INS, TIME_WAIT, TMR_UTC_BOUNDED },
		{ 1501, 40, 0, -1, TMR_UTC_REFUSED },
	};
	struct tmr_utc utc;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct tmr_utc_watch watch = { .adjtimex = simulated };

		boot(&cases[0]);
		set_numbers(all[i].maxerror, all[i].esterror, all[i].status);
		state = all[i].state;
		tmr_utc_read(&watch, &utc);
		CHECK(utc.status == all[i].want, "case %zu: status %d, %s; want %d", i, utc.status, utc.why,
			all[i].want);
		CHECK((utc.leap_ns != 0) == (all[i].state == TIME_INS || all[i].state == TIME_OOP), "case %zu: leap",
			i);
	}
}

static void put_bound(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0, "cannot write %s", path);
}

static void bound_of_a_device(void)
{
	char dir[] = "/tmp/test_utc.XXXXXX", path[128];
	static const char *const part[] = { "sys", "sys/class", "sys/class/ptp", "sys/class/ptp/ptp0",
		"sys/class/ptp/ptp0/device", "sys/class/ptp/ptp0/device/phc_error_bound" };
	int i, root;

	CHECK(mkdtemp(dir) != NULL, "mkdtemp");
	root = tkm_root_open(dir);
	CHECK(tmr_utc_device_bound(root, "ptp0") < 0, "no file");
	for (i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, part[i]);
		CHECK_INT(mkdir(path, 0755), 0);
	}
	snprintf(path, sizeof(path), "%s/%s", dir, part[5]);
	put_bound(path, "21000\n");
	CHECK(tmr_utc_device_bound(root, "ptp0") == 21000, "%g", tmr_utc_device_bound(root, "ptp0"));
	put_bound(path, "0\n");
	CHECK(tmr_utc_device_bound(root, "ptp0") < 0, "0 is no bound");
	put_bound(path, "4294967295\n");
	CHECK(tmr_utc_device_bound(root, "ptp0") < 0, "that is for unknown");
	put_bound(path, "\n");
	CHECK(tmr_utc_device_bound(root, "ptp0") < 0, "nothing");
	close(root);
	unlink(path);
	for (i = 4; i >= 0; i--) {
		snprintf(path, sizeof(path), "%s/%s", dir, part[i]);
		rmdir(path);
	}
	rmdir(dir);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(a_single_reading);
	RUN(twenty_states_of_daemons);
	RUN(one_daemon_after_another);
	RUN(bound_of_a_device);
	return check_end();
}
