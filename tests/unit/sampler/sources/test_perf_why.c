/* SPDX-License-Identifier: BSD-3-Clause */
/* Why the kernel refuses an event. */
#define _GNU_SOURCE
#include "config.h"
#include "base/err.h"
#include "include/vtsource.h"
#include "sampler/source.h"
#include "sampler/sources/perf_why.h"
#include "tests/lib/check.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <unistd.h>

/* ---- what an errno means ------------------------------------------------------------------------- */

static void causes_are_told_apart(void)
{
	static const struct {
		struct smp_perf_access a; /* software, kernel, paranoid, seccomp, hypervisor, watchdog, perfmon */
		uint32_t type;
		int errnum;
		const char *says;
		/* clang-format off */
	} t[] = {
		{ { 0, 0, 2, 0, 1, 0, 1 }, PERF_TYPE_HARDWARE, ENOENT, "virtual machine" },
		{ { 0, 0, 2, 0, 1, 0, 1 }, PERF_TYPE_HARDWARE, EOPNOTSUPP, "virtual machine" },
		{ { 0, 0, 2, 0, 0, 0, 1 }, PERF_TYPE_HARDWARE, ENOENT, "this CPU" },
		{ { EACCES, EACCES, 3, 0, 0, 0, 0 }, PERF_TYPE_HARDWARE, EACCES, "perf_event_paranoid is 3" },
		{ { EACCES, EACCES, 4, 0, 0, 0, 0 }, PERF_TYPE_SOFTWARE, EPERM, "perf_event_paranoid is 4" },
		{ { EPERM, EPERM, 2, 2, 0, 0, 0 }, PERF_TYPE_HARDWARE, EPERM, "seccomp forbids" },
		{ { EPERM, EPERM, 2, 2, 0, 0, 1 }, PERF_TYPE_HARDWARE, EPERM, "although this process has CAP_PERFMON: seccomp" },
		{ { 0, EACCES, 2, 0, 0, 0, 0 }, PERF_TYPE_SOFTWARE, EACCES, "perf_event_paranoid 2" },
		{ { ENOSYS, ENOSYS, -100, 0, 0, 0, 0 }, PERF_TYPE_SOFTWARE, ENOSYS, "CONFIG_PERF_EVENTS" },
		{ { ENOSYS, ENOSYS, 2, 2, 0, 0, 0 }, PERF_TYPE_SOFTWARE, ENOSYS, "seccomp hides" },
		{ { 0, 0, 2, 0, 0, 0, 0 }, PERF_TYPE_HARDWARE, EBUSY, "another tool on this node (the NMI watchdog is off)" },
		{ { 0, 0, 2, 0, 0, 1, 0 }, PERF_TYPE_HARDWARE, EBUSY, "another program uses the counter: the NMI watchdog" },
		{ { 0, 0, 2, 0, 0, 0, 0 }, PERF_TYPE_HARDWARE, ENOSYS, "does not have the event" },
		{ { 0, 0, 2, 0, 0, 0, 0 }, PERF_TYPE_HARDWARE, EMFILE, "ulimit" },
		{ { 0, 0, 2, 0, 0, 0, 0 }, PERF_TYPE_HARDWARE, ENOSPC, "fewer events" },
		{ { 0, 0, 2, 0, 0, 0, 0 }, PERF_TYPE_HARDWARE, E2BIG, "Argument list too long" },
	};
	/* clang-format on */
	char why[SMP_TEXT];
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		smp_perf_why(&t[i].a, t[i].type, t[i].errnum, why);
		CHECK(strstr(why, t[i].says), "case %zu: \"%s\" lacks \"%s\"", i, why, t[i].says);
		CHECK(strlen(why) < SMP_TEXT - 1, "case %zu is cut: \"%s\"", i, why);
	}
}

/* What a machine says of itself, on files that were made up. */
static void rights_are_read(void)
{
	static const struct {
		const char *status;
		int perfmon, seccomp;
	} t[] = { { "Name:\tx\nCapPrm:\tffffffffffffffff\nCapEff:\t0000000000000000\nSeccomp:\t0\n", 0, 0 },
		{ "CapEff:\t0000004000000000\nSeccomp:\t2\n", 1, 2 },
		{ "CapEff:\t0000000000200000\nSeccomp:\t1\n", 1, 1 }, { "CapEff:\tffffffbfffdfffff\n", 0, 0 },
		{ "Name:\tx\n", 0, 0 } };
	static const char *const paranoid[] = { "3\n", "-1\n", NULL };
	char base[] = "/tmp/test_sampler_papi.XXXXXX", command[200], path[100];
	struct smp_perf_access a;
	struct smp_env there;
	FILE *f;
	size_t i;

	CHECK(mkdtemp(base) != NULL, "%s", base);
	snprintf(command, sizeof(command), "mkdir -p %s/proc/self %s/proc/sys/kernel", base, base);
	CHECK_INT(system(command), 0);
	smp_env_init(&there);
	there.root = base;
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		snprintf(path, sizeof(path), "%s/proc/self/status", base);
		f = fopen(path, "w");
		CHECK(f && fputs(t[i].status, f) >= 0 && fclose(f) == 0, "%s", path);
		snprintf(path, sizeof(path), "%s/proc/sys/kernel/perf_event_paranoid", base);
		unlink(path);
		if (paranoid[i % 3]) {
			f = fopen(path, "w");
			CHECK(f && fputs(paranoid[i % 3], f) >= 0 && fclose(f) == 0, "%s", path);
		}
		snprintf(path, sizeof(path), "%s/proc/sys/kernel/nmi_watchdog", base);
		f = fopen(path, "w");
		CHECK(f && fputs(i % 2 ? "1\n" : "0\n", f) >= 0 && fclose(f) == 0, "%s", path);
		snprintf(path, sizeof(path), "%s/proc/cpuinfo", base);
		f = fopen(path, "w");
		CHECK(f && fputs(i % 2 ? "flags : fpu hypervisor\n" : "flags : fpu\n", f) >= 0 && fclose(f) == 0, "%s",
			path);
		smp_perf_access(&there, &a);
		CHECK(a.perfmon == t[i].perfmon && a.seccomp == t[i].seccomp, "case %zu: perfmon %d, seccomp %d", i,
			a.perfmon, a.seccomp);
		CHECK_INT(a.paranoid, i % 3 == 0 ? 3 : i % 3 == 1 ? -1 : -100);
		CHECK(a.watchdog == (int)(i % 2) && a.hypervisor == (int)(i % 2),
			"case %zu: watchdog %d, hypervisor %d", i, a.watchdog, a.hypervisor);
		CHECK(a.software == ENOSYS && a.kernel == ENOSYS, "events of another machine cannot be tried");
	}
	snprintf(command, sizeof(command), "rm -rf %s", base);
	CHECK_INT(system(command), 0);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(causes_are_told_apart);
	RUN(rights_are_read);
	return check_end();
}
