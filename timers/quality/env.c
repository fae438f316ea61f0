/* SPDX-License-Identifier: BSD-3-Clause */
/* Records what surrounds the clocks of this node: kernel, processor, clock source; see timers/quality/env.h. */
#include "config.h"
#include "timers/quality/env.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "base/text/text.h"
#include "timers/quality/assume.h"
#include "timers/cpu_hz.h"

/* Value of "key : value" in the first block of cpuinfo; "" when it is not there. */
static void cpuinfo_value(const char *text, const char *key, char *out, size_t size)
{
	size_t len = strlen(key);
	const char *p = text;

	out[0] = '\0';
	while (p && *p) {
		if (strncmp(p, key, len) == 0 && strchr(" \t:", p[len])) {
			p += len + strspn(p + len, " \t:");
			snprintf(out, size, "%.*s", (int)strcspn(p, "\n"), p);
			return;
		}
		p = strchr(p, '\n');
		p = p ? p + 1 : NULL;
	}
}

/* An ARM kernel gives the numbers of the processor's identification register. Only a table, which would have to be
 * updated for new processors, could give the product names. */
static void arm_name(const char *text, char *out, size_t size)
{
	char implementer[12], part[12], variant[12], revision[12];

	cpuinfo_value(text, "CPU implementer", implementer, sizeof(implementer));
	cpuinfo_value(text, "CPU part", part, sizeof(part));
	cpuinfo_value(text, "CPU variant", variant, sizeof(variant));
	cpuinfo_value(text, "CPU revision", revision, sizeof(revision));
	if (implementer[0] && part[0]) {
		snprintf(out, size, "ARM, implementer %s, part %s, variant %s, revision %s", implementer, part, variant,
			revision);
	}
}

static void tsc_flags(const char *flags, char *out, size_t size)
{
	static const char *const names[] = { "constant_tsc", "nonstop_tsc", "tsc_known_freq", "tsc_reliable",
		"tsc_adjust", "rdtscp" };
	size_t i, n = 0;

	out[0] = '\0';
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t len = strlen(names[i]);
		const char *p = flags;

		while ((p = strstr(p, names[i]))) {
			if ((p == flags || p[-1] == ' ') && (p[len] == ' ' || p[len] == '\0') && n < size) {
				n += (size_t)snprintf(out + n, size - n, "%s%s", n ? " " : "", names[i]);
				break;
			}
			p += len;
		}
	}
}

static double clock_s(clockid_t id)
{
	struct timespec t = { 0, 0 };

	clock_gettime(id, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void tmr_env_read(int root, struct tmr_env *e)
{
	static const char dir[] = "/sys/devices/system/clocksource/clocksource0/";
	char path[128], flags[4096];
	const char *from;
	struct tmr_utc_watch watch = { .adjtimex = NULL };
	struct utsname u;
	char *text = malloc(16384);
	ssize_t n;

	memset(e, 0, sizeof(*e));
	if (gethostname(e->host, sizeof(e->host) - 1) < 0) {
		snprintf(e->host, sizeof(e->host), "unknown");
	}
	tkm_root_line(root, "/proc/sys/kernel/random/boot_id", e->boot_id, sizeof(e->boot_id));
	if (uname(&u) == 0) {
		snprintf(e->kernel, sizeof(e->kernel), "%s %s %s", u.sysname, u.release, u.machine);
	}
	tmr_hypervisor(e->hypervisor);
	snprintf(path, sizeof(path), "%scurrent_clocksource", dir);
	tkm_root_line(root, path, e->clocksource, sizeof(e->clocksource));
	snprintf(path, sizeof(path), "%savailable_clocksource", dir);
	tkm_root_line(root, path, e->clocksources, sizeof(e->clocksources));
	if (text && tkm_root_read(root, "/proc/cpuinfo", text, 16384) > 0) {
		cpuinfo_value(text, "model name", e->cpu, sizeof(e->cpu));
		if (!e->cpu[0]) {
			arm_name(text, e->cpu, sizeof(e->cpu));
		}
		cpuinfo_value(text, "flags", flags, sizeof(flags));
		tsc_flags(flags, e->tsc_flags, sizeof(e->tsc_flags));
	}
	free(text);
	n = readlinkat(root, "proc/self/ns/time", e->time_ns, sizeof(e->time_ns) - 1);
	e->time_ns[n > 0 ? n : 0] = '\0';
	snprintf(e->counter, sizeof(e->counter), "%s", TMR_COUNTER_NAME);
	e->tsc_invariant = tmr_cpu_invariant();
	e->kernel_hz = tmr_kernel_hz(&from);
	snprintf(e->kernel_hz_from, sizeof(e->kernel_hz_from), "%s", from ? from : "");
	tmr_utc_read(&watch, &e->utc);
	e->suspended_s = clock_s(CLOCK_BOOTTIME) - clock_s(CLOCK_MONOTONIC);
	e->realtime_minus_boottime_s = clock_s(CLOCK_REALTIME) - clock_s(CLOCK_BOOTTIME);
	e->has_vm_marker = tmr_disruption_marker(root, &e->vm_marker);
}

const char *tmr_env_domain(const struct tmr_env *e, char *buf, size_t size)
{
	snprintf(buf, size, "%s", "");
	if (e->boot_id[0]) {
		snprintf(buf, size, "%s/%s/%s", e->host, e->boot_id, e->time_ns);
	}
	return buf;
}

static const char *or_unknown(const char *s)
{
	return s[0] ? s : "unknown";
}

void tmr_env_print(FILE *out, const char *prefix, const struct tmr_env *e)
{
	fprintf(out, "%shost: %s, %s, boot %s\n", prefix, e->host, or_unknown(e->kernel), or_unknown(e->boot_id));
	fprintf(out, "%sprocessor: %s%s%s\n", prefix, or_unknown(e->cpu), e->hypervisor[0] ? ", hypervisor " : "",
		e->hypervisor);
	fprintf(out, "%sCPU counter: %s%s%s%s%s", prefix, e->counter,
		e->tsc_invariant < 0       ? ""
			: e->tsc_invariant ? ", invariant"
					   : ", NOT invariant",
		e->tsc_flags[0] ? " (" : "", e->tsc_flags, e->tsc_flags[0] ? ")" : "");
	if (e->kernel_hz > 0) {
		fprintf(out, ", %.6f MHz by %s", e->kernel_hz * 1e-6, e->kernel_hz_from);
	}
	fprintf(out, "\n%sclock source: %s (available: %s)\n", prefix, or_unknown(e->clocksource),
		or_unknown(e->clocksources));
	if (e->utc.status == TMR_UTC_REFUSED) {
		fprintf(out, "%sNTP: unknown (%s)\n", prefix, e->utc.why);
		return;
	}
	fprintf(out, "%sNTP: ", prefix);
	if (e->utc.status == TMR_UTC_BOUNDED) {
		fprintf(out, "CLOCK_REALTIME is within %.6f s of UTC, ", tkm_round_up(e->utc.bound_s, 6, 'f'));
	}
	fprintf(out, "%s; frequency %+.3f ppm, offset %+.9f s, max error %.6f s\n", e->utc.why, e->utc.freq_ppm,
		e->utc.offset_s, tkm_round_up(e->utc.maxerror_s, 6, 'f'));
}
