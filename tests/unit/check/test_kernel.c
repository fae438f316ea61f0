/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel says of its clocks, and what happened to them. */
#define _GNU_SOURCE
#include "config.h"
#include "base/rootfs.h"
#include "check/check.h"
#include "check/stored.h"
#include "timers/timer.h"
#include "tests/lib/check.h"
#include "tests/unit/check/machine.h"

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

static void lose_servers(struct chk_machine *m, struct chk_stored *s)
{
	(void)m;
	(void)s;
	kernel_says.status |= STA_UNSYNC;
	kernel_says.maxerror = 16000000;
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

/* Only tzdata's other file is there, and it announces one for a day that is to come. */
static void announce_in_tzdata(struct chk_machine *m, struct chk_stored *s)
{
	char text[2000] = "Leap\t2099\tJun\t30\t23:59:60\t-\tS\n";

	count_the_seconds(m, s);
	tkm_root_read(m->root, "/usr/share/zoneinfo/leapseconds", text + strlen(text), sizeof(text) - strlen(text));
	put_text("usr/share/zoneinfo/leapseconds", text);
}

/* What cannot be read now could not be read then: that may have been another boot. */
static void hide_the_boot_id(struct chk_machine *m, struct chk_stored *s)
{
	m->env.boot_id[0] = s->boot_id[0] = '\0';
	s->realtime_minus_boottime_s -= 600;
}

/* chronyd without "rtcsync" */
static void keep_without_the_flag(struct chk_machine *m, struct chk_stored *s)
{
	(void)m;
	(void)s;
	kernel_says.status = STA_NANO | STA_UNSYNC;
	kernel_says.maxerror = 1500;
	kernel_state = TIME_ERROR;
}

/* The daemon ended an hour ago. */
static void end_without_the_flag(struct chk_machine *m, struct chk_stored *s)
{
	keep_without_the_flag(m, s);
	kernel_says.maxerror += 3600 * 500;
}

static void clear_the_flag_by_hand(struct chk_machine *m, struct chk_stored *s)
{
	lose_servers(m, s);
	kernel_says.status &= ~STA_UNSYNC;
	kernel_state = TIME_OK;
}

/* systemd-timesyncd, 20 s after a poll */
static void keep_without_an_error(struct chk_machine *m, struct chk_stored *s)
{
	(void)m;
	(void)s;
	kernel_says.maxerror = 10000;
	kernel_says.esterror = 0;
}

/* What a site meets while a node runs, and what is not known after it. */
static void what_happened_to_the_kernel_is_found(void)
{
	static const struct found all[] = {
		{ NO_DEFECT, set_the_time, "ntp.stepped", CHK_WARNING },
		{ NO_DEFECT, change_source, "clocksource.changed", CHK_CRITICAL },
		{ NO_DEFECT, change_source, "clocksource.current", CHK_CRITICAL },
		{ NO_DEFECT, change_source_again, "clocksource.changed", CHK_CRITICAL },
		{ NO_DEFECT, lose_servers, "ntp.synchronised", CHK_WARNING },
		{ NO_DEFECT, lose_servers, "ntp.offset", CHK_UNKNOWN },
		{ NO_DEFECT, slew, "ntp.slewed", CHK_WARNING },
		{ NO_DEFECT, forget_a_leap_second, "tai.offset", CHK_WARNING },
		{ NO_DEFECT, lose_the_list, "tai.offset", CHK_UNKNOWN },
		{ NO_DEFECT, count_the_seconds, "tai.offset", CHK_OK },
		{ NO_DEFECT, announce_in_tzdata, "tai.offset", CHK_OK },
		{ NO_DEFECT, keep_without_the_flag, "ntp.synchronised", CHK_OK },
		{ NO_DEFECT, keep_without_the_flag, "ntp.offset", CHK_OK },
		{ NO_DEFECT, end_without_the_flag, "ntp.synchronised", CHK_WARNING },
		{ NO_DEFECT, end_without_the_flag, "ntp.offset", CHK_CRITICAL },
		{ NO_DEFECT, clear_the_flag_by_hand, "ntp.synchronised", CHK_WARNING },
		{ NO_DEFECT, clear_the_flag_by_hand, "ntp.offset", CHK_UNKNOWN },
		{ NO_DEFECT, keep_without_an_error, "ntp.synchronised", CHK_OK },
		{ NO_DEFECT, keep_without_an_error, "ntp.offset", CHK_UNKNOWN },
		{ NO_DEFECT, migrate, "vm.migrated", CHK_WARNING },
		{ NO_DEFECT, lose_the_marker, "vm.migrated", CHK_UNKNOWN },
		{ NO_DEFECT, be_another, "vm.migrated", CHK_UNKNOWN },
		{ NO_DEFECT, boot, "vm.migrated", CHK_UNKNOWN },
		{ NO_DEFECT, boot, "clocksource.changed", CHK_UNKNOWN },
		{ NO_DEFECT, hide_the_boot_id, "clocksource.changed", CHK_UNKNOWN },
		{ NO_DEFECT, hide_the_boot_id, "vm.migrated", CHK_UNKNOWN },
		{ NO_DEFECT, hide_the_boot_id, "ntp.stepped", CHK_OK },
		{ NO_DEFECT, hide_the_boot_id, "result.age", CHK_WARNING },
	};

	each_is_found(all, sizeof(all) / sizeof(all[0]));
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	if (begin_machine() < 0) {
		return 99;
	}
	RUN(kernels_with_a_defect_are_found);
	RUN(what_happened_to_the_kernel_is_found);
	return end_machine();
}
