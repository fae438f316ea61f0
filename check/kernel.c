/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of what the kernel states about its clocks: source, NTP, TAI, clock devices, virtual machine. */
#include "config.h"
#include "check/check.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "base/text/text.h"
#include "timers/quality/assume.h"

/* Clock sources from which the vDSO reads a counter, and those that are not suitable for tracing. */
static const char *const good_sources[] = { "tsc", "arch_sys_counter", "timebase", "riscv_clocksource", "kvm-clock",
	"hyperv_clocksource_tsc_page", "tod", NULL };
static const char *const bad_sources[] = { "hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit", NULL };

static int is_in(const char *const *list, const char *name)
{
	while (*list && strcmp(*list, name)) {
		list++;
	}
	return *list != NULL;
}

void chk_clocksource_current(struct chk_machine *m, const struct chk_limit *limit, struct chk_result *r)
{
	const char *name = m->env.clocksource;

	(void)limit;
	if (!name[0]) {
		chk_unknown(r, "/sys does not say which clock source the kernel uses");
	} else if (is_in(good_sources, name)) {
		chk_value(r, 0, "%s", name);
	} else {
		chk_value(r, is_in(bad_sources, name) ? 2 : 1, "%s; available are %s", name, m->env.clocksources);
	}
}

void chk_clocksource_changed(struct chk_machine *m, const struct chk_limit *limit, struct chk_result *r)
{
	const struct chk_stored *s = m->stored;
	const char *before = s->first_clocksource[0] ? s->first_clocksource : s->clocksource;

	(void)limit;
	if (!s->have || !s->here || !before[0]) {
		chk_unknown(r, "%s", s->have ? "the stored result does not have this host" : s->why);
	} else if (chk_other_boot(m)) {
		chk_unknown(r, "%s", chk_other_boot(m));
	} else if (!m->env.clocksource[0]) {
		chk_unknown(r, "/sys does not say which clock source the kernel uses");
	} else if (strcmp(before, m->env.clocksource)) {
		chk_value(r, 1, "%s now, %s when a result was first stored in this boot", m->env.clocksource, before);
	} else {
		chk_value(r, 0, "%s since a result was first stored in this boot", before);
	}
}

/* A flag alone decides nothing: chronyd without "rtcsync" leaves it set on a clock that it keeps. A daemon that does
 * has set the maximum error within the last half hour. */
void chk_ntp_synchronised(struct chk_machine *m, const struct chk_limit *limit, struct chk_result *r)
{
	const double longest_s = 1;
	struct tmr_utc utc;

	(void)limit;
	tmr_utc_settle(&m->utc, &utc);
	if (utc.status == TMR_UTC_REFUSED) {
		chk_unknown(r, "%s", utc.why);
	} else if (utc.status == TMR_UTC_UNSYNCHRONISED) {
		chk_value(r, 1, "the kernel's clock is %s", utc.why);
	} else if (utc.flagged) {
		chk_value(r, utc.maxerror_s > longest_s,
			"the kernel's flag says not synchronised, its maximum error of %.3g ms %s",
			1e3 * utc.maxerror_s,
			utc.maxerror_s > longest_s ? "grows" : "is kept, as by chronyd without 'rtcsync'");
	} else {
		chk_value(r, 0, "the kernel says that its clock is synchronised");
	}
}

void chk_ntp_offset(struct chk_machine *m, const struct chk_limit *limit, struct chk_result *r)
{
	struct tmr_utc utc;

	(void)limit;
	tmr_utc_settle(&m->utc, &utc);
	if (utc.status != TMR_UTC_BOUNDED) {
		chk_unknown(r, "%s", utc.why);
	} else {
		chk_value(r, utc.bound_s, "at most, %s; still to be corrected: %.3g s", utc.why, utc.offset_s);
	}
}

static double seconds(const struct chk_machine *m, clockid_t id)
{
	struct timespec t = { 0, 0 };

	return m->gettime(id, &t) < 0 ? NAN : (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Compares the realtime clock with the time since boot, which is never set: since the stored result, and since the
 * checks began. */
void chk_ntp_stepped(struct chk_machine *m, const struct chk_limit *limit, struct chk_result *r)
{
	const struct chk_stored *s = m->stored;
	double boot_s = seconds(m, CLOCK_BOOTTIME), now = seconds(m, CLOCK_REALTIME) - boot_s, step, since, allowed;
	char text[32];
	int same = s->have && s->here && !chk_other_boot(m) && isfinite(s->realtime_minus_boottime_s);

	(void)limit;
	step = fabs(now - (m->begin.realtime_s - m->begin.boottime_s));
	since = boot_s - m->begin.boottime_s;
	if (!isfinite(step)) {
		chk_unknown(r, "clock_gettime() is refused here");
		return;
	}
	if (same) {
		double then = fabs(now - s->realtime_minus_boottime_s);

		since = fmax(since, seconds(m, CLOCK_REALTIME) - s->started_s);
		step = fmax(step, then);
	}
	/* both clocks are slewed alike, so only a step changes their difference; 1 us is for reading them one after
	 * another */
	allowed = 1e-6 + m->begin.taken_s;
	chk_value(r, fmax(0, step - allowed), "the time of day against the time since boot, %s, %s ago",
		same ? "since the stored result" : "since the checks began (no stored result of this boot)",
		chk_print_value(text, sizeof(text), CHK_SECONDS, since));
	chk_uncertain(r, step, allowed);
}

/* Compares the kernel's clock with the raw counter that it is computed from, over the time of the checks. */
void chk_ntp_slewed(struct chk_machine *m, const struct chk_limit *limit, struct chk_result *r)
{
	double mono, raw, ppm, within, took, best = INFINITY, left = 0;
	char rate[32], to[32];
	int i;

	(void)limit;
	mono = raw = NAN;
	for (i = 0; i < 50; i++) {
		double a = seconds(m, CLOCK_MONOTONIC), b = seconds(m, CLOCK_MONOTONIC_RAW);

		took = seconds(m, CLOCK_MONOTONIC) - a;
		if (took < best) {
			best = took;
			mono = a;
			raw = b;
		}
	}
	left = raw - m->begin.raw_s;
	if (!(left > 0.05)) {
		chk_unknown(r, "the checks before took too little time to compare rates");
		return;
	}
	within = 1e6 * (best + m->begin.taken_s) / left;
	ppm = 1e6 * ((mono - m->begin.monotonic_s) / left - 1);
	chk_value(r, fmax(0, fabs(ppm) - within), "CLOCK_MONOTONIC runs %s%s against CLOCK_MONOTONIC_RAW (to %s)",
		ppm < 0 ? "" : "+", chk_print_value(rate, sizeof(rate), CHK_PPM, ppm),
		chk_print_value(to, sizeof(to), CHK_PPM, within));
	chk_uncertain(r, ppm, within);
}

/* A device that states its own error bound, as on AWS, is better than any network server. If chronyd uses the device,
 * it has it open. */
void chk_phc_bound_ignored(struct chk_machine *m, const struct chk_limit *limit, struct chk_result *r)
{
	int dir = tkm_root_openat(m->root, "/sys/class/ptp"), devices = 0, bounds = 0;
	struct dirent *d;
	DIR *all = dir < 0 ? NULL : fdopendir(dir);
	struct tmr_utc utc;

	(void)limit;
	while (all && (d = readdir(all))) {
		if (!strncmp(d->d_name, "ptp", 3)) {
			devices++;
			bounds += tmr_utc_device_bound(m->root, d->d_name) > 0;
		}
	}
	if (all) {
		closedir(all);
	} else if (dir >= 0) {
		close(dir);
	}
	if (!bounds) {
		chk_absent(r, "%d clock devices, none states a bound", devices);
		return;
	}
	tmr_utc_settle(&m->utc, &utc);
	if (utc.status != TMR_UTC_BOUNDED && utc.status != TMR_UTC_UNSYNCHRONISED) {
		chk_unknown(r, "%s", utc.why);
	} else { /* a node that uses it knows the time of day to within a fraction of a millisecond */
		chk_value(r, utc.maxerror_s > 1e-3,
			"%d of %d clock devices state a bound; the kernel's clock can be off by %.3g ms", bounds,
			devices, tkm_round_up(1e3 * utc.maxerror_s, 3, 'g'));
	}
}

/* The time when the leap second at the end of a day of tzdata's "leapseconds" is over. NAN: no such day. */
static double leap_time(int year, const char *month, int day)
{
	static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	const char *at = strlen(month) == 3 ? strstr(names, month) : NULL;
	struct tm tm = { .tm_year = year - 1900, .tm_mon = at ? (int)(at - names) / 3 : 0, .tm_mday = day + 1 };

	return at ? (double)timegm(&tm) : NAN;
}

/* The offset that is in force: of leap-seconds.list (its 2nd column), or of tzdata's "leapseconds" counted from 10 s.
 * Both announce leap seconds months ahead. */
static int published_offset(int root, double now_s, int *offset)
{
	static const char *const files[] = { "/usr/share/zoneinfo/leap-seconds.list",
		"/usr/share/zoneinfo/leapseconds" };
	char *text = malloc(65536), *line, *save = NULL, month[4], sign;
	int have = 0, count = 10, value, year, day;
	double from;
	size_t i;

	for (i = 0; text && i < 2 && !have; i++) {
		if (tkm_root_read(root, files[i], text, 65536) <= 0) {
			continue;
		}
		for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
			if (i == 0 && sscanf(line, "%lf %d", &from, &value) == 2) {
				have |= from - 2208988800.0 <= now_s; /* seconds since 1900 */
				*offset = from - 2208988800.0 <= now_s ? value : *offset;
			} else if (i == 1 && sscanf(line, "Leap %d %3s %d %*s %c", &year, month, &day, &sign) == 4) {
				count += leap_time(year, month, day) > now_s ? 0 : sign == '+' ? 1 : -1;
				*offset = count;
				have = 1;
			}
		}
	}
	free(text);
	return have;
}

void chk_tai_offset(struct chk_machine *m, const struct chk_limit *limit, struct chk_result *r)
{
	int should = 0, have = published_offset(m->root, seconds(m, CLOCK_REALTIME), &should);
	struct tmr_utc utc;

	(void)limit;
	tmr_utc_read(&m->utc, &utc);
	if (utc.status == TMR_UTC_REFUSED) {
		chk_unknown(r, "%s", utc.why);
	} else if (utc.tai_s == 0) {
		chk_absent(r, "the offset of TAI is not set; CLOCK_TAI is UTC here");
	} else if (!have) {
		chk_unknown(r, "the kernel says %d s; no list of leap seconds (package tzdata) to compare it with",
			utc.tai_s);
	} else {
		chk_value(r, fabs((double)(utc.tai_s - should)), "the kernel says %d s, the list of leap seconds %d s",
			utc.tai_s, should);
	}
}

void chk_vm_migrated(struct chk_machine *m, const struct chk_limit *limit, struct chk_result *r)
{
	const struct chk_stored *s = m->stored;
	uint64_t marker;

	(void)limit;
	if (!m->env.hypervisor[0]) {
		chk_absent(r, "no virtual machine");
	} else if (!tmr_disruption_marker(m->root, &marker)) {
		chk_absent(r, "the hypervisor does not say (no /dev/vmclock0): a migration could not be seen");
	} else if (!s->have || !s->here || !s->has_marker) {
		chk_unknown(r, "no stored result that has the marker of /dev/vmclock0");
	} else if (chk_other_boot(m)) {
		chk_unknown(r, "%s", chk_other_boot(m));
	} else {
		chk_value(r, marker != s->marker, "the marker of /dev/vmclock0 %s since the stored result",
			marker != s->marker ? "has changed" : "is the same");
	}
}
