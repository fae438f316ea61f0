/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of events, and the causes of errors: one errno has several causes, which a test with a software event,
 * the settings and the CPU's own flags tell apart. */
#include "config.h"
#include "sampler/sources/perf_why.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/rootfs.h"

/* clang-format off */
#define HW(n, u, w, c) { n, u, w, PERF_TYPE_HARDWARE, c }
#define SW(n, u, w, c) { n, u, w, PERF_TYPE_SOFTWARE, c }
/* clang-format on */

/* The first is the one that smp_perf_hardware() tries. */
const struct smp_perf_event smp_perf_events[] = {
	HW("perf_cycles", "cycles", "CPU cycles", PERF_COUNT_HW_CPU_CYCLES),
	HW("perf_instructions", "instructions", "instructions that were completed", PERF_COUNT_HW_INSTRUCTIONS),
	HW("perf_ref_cycles", "cycles", "CPU cycles at the nominal frequency", PERF_COUNT_HW_REF_CPU_CYCLES),
	HW("perf_cache_refs", "references", "accesses to the last cache", PERF_COUNT_HW_CACHE_REFERENCES),
	HW("perf_cache_misses", "misses", "misses of the last cache", PERF_COUNT_HW_CACHE_MISSES),
	HW("perf_branches", "branches", "branch instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS),
	HW("perf_branch_misses", "branches", "branches that were predicted wrongly", PERF_COUNT_HW_BRANCH_MISSES),
	HW("perf_stalled_frontend", "cycles", "cycles in which no instruction could be fetched",
		PERF_COUNT_HW_STALLED_CYCLES_FRONTEND),
	HW("perf_stalled_backend", "cycles", "cycles in which no instruction could be executed",
		PERF_COUNT_HW_STALLED_CYCLES_BACKEND),
	SW("perf_task_clock", "ns", "CPU time", PERF_COUNT_SW_TASK_CLOCK),
	SW("perf_page_faults", "faults", "page faults", PERF_COUNT_SW_PAGE_FAULTS),
	SW("perf_minor_faults", "faults", "page faults without I/O", PERF_COUNT_SW_PAGE_FAULTS_MIN),
	SW("perf_major_faults", "faults", "page faults with I/O", PERF_COUNT_SW_PAGE_FAULTS_MAJ),
	SW("perf_context_switches", "switches", "times that the CPU went to another thread",
		PERF_COUNT_SW_CONTEXT_SWITCHES),
	SW("perf_migrations", "moves", "moves to another CPU", PERF_COUNT_SW_CPU_MIGRATIONS),
	SW("perf_alignment_faults", "faults", "accesses that the kernel had to align", PERF_COUNT_SW_ALIGNMENT_FAULTS),
	SW("perf_emulation_faults", "faults", "instructions that the kernel had to emulate",
		PERF_COUNT_SW_EMULATION_FAULTS),
};
const size_t smp_perf_n = sizeof(smp_perf_events) / sizeof(smp_perf_events[0]);

const char *const smp_perf_time_what[2] = {
	"time in which the event should have been counted",
	"time in which the event was counted",
};

static int try_software(int user_only)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.exclude_hv = 1,
		.exclude_kernel = user_only != 0,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0) {
		return errno;
	}
	close(fd);
	return 0;
}

/* A word of a line of /proc/self/status, base 10 or 16. */
static uint64_t status_word(const char *text, const char *label, int base)
{
	const char *p = strstr(text, label);

	return p ? strtoull(p + strlen(label), NULL, base) : 0;
}

void smp_perf_access(const struct smp_env *env, struct smp_perf_access *a)
{
	enum { BIT_SYS_ADMIN = 21, BIT_PERFMON = 38 };
	char text[4096];
	uint64_t caps;
	int root = smp_root(env);

	memset(a, 0, sizeof(*a));
	a->paranoid = -100;
	a->software = smp_live(env) ? try_software(1) : ENOSYS;
	a->kernel = smp_live(env) ? try_software(0) : ENOSYS;
	if (root < 0) {
		return;
	}
	if (tkm_root_line(root, "/proc/sys/kernel/perf_event_paranoid", text, sizeof(text))[0]) {
		a->paranoid = atoi(text);
	}
	a->watchdog = tkm_root_line(root, "/proc/sys/kernel/nmi_watchdog", text, sizeof(text))[0] == '1';
	if (tkm_root_read(root, "/proc/self/status", text, sizeof(text)) > 0) {
		caps = status_word(text, "CapEff:", 16);
		a->perfmon = (caps >> BIT_SYS_ADMIN & 1) || (caps >> BIT_PERFMON & 1);
		a->seccomp = (int)status_word(text, "Seccomp:", 10);
	}
	if (tkm_root_read(root, "/proc/cpuinfo", text, sizeof(text)) > 0) {
		a->hypervisor = strstr(text, " hypervisor") != NULL;
	}
	close(root);
}

static void why_perf_is_refused(const struct smp_perf_access *a, char why[SMP_TEXT])
{
	if (a->paranoid == -100) {
		smp_why(why, "this kernel has no perf_event_open(2) (CONFIG_PERF_EVENTS)");
	} else if (a->perfmon) {
		smp_why(why, "refused although this process has CAP_PERFMON: %s",
			a->seccomp ? "seccomp forbids perf_event_open(2); containers: --security-opt "
				     "seccomp=unconfined, or a profile that allows it"
				   : "a security module or the container's host forbids it");
	} else if (a->paranoid > 2) {
		smp_why(why,
			"kernel.perf_event_paranoid is %d: nothing for ordinary users. As root: sysctl "
			"kernel.perf_event_paranoid=2 (1 counts kernel code too), or give the program CAP_PERFMON",
			a->paranoid);
	} else if (a->software && a->seccomp) {
		smp_why(why,
			"perf_event_paranoid is %d and would allow it, but seccomp forbids perf_event_open(2); "
			"containers: "
			"--security-opt seccomp=unconfined, or a profile that allows it",
			a->paranoid);
	} else {
		smp_why(why,
			"refused with kernel.perf_event_paranoid %d. As root: sysctl kernel.perf_event_paranoid=1, or "
			"give the "
			"program CAP_PERFMON",
			a->paranoid);
	}
}

void smp_perf_why(const struct smp_perf_access *a, uint32_t type, int errnum, char why[SMP_TEXT])
{
	char text[64];

	switch (errnum) {
	case EACCES:
	case EPERM:
		why_perf_is_refused(a, why);
		break;
	case ENOSYS:
		if (a->software == 0) {
			smp_why(why, "this kernel does not have the event (software events work)");
			break;
		}
		smp_why(why,
			a->paranoid == -100 ? "this kernel has no perf_event_open(2) (CONFIG_PERF_EVENTS)"
					    : "seccomp hides perf_event_open(2); containers: --security-opt "
					      "seccomp=unconfined, or a profile that allows it");
		break;
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		if (a->software || type != PERF_TYPE_HARDWARE) {
			smp_why(why, "this kernel does not have the event");
		} else if (a->hypervisor) {
			smp_why(why,
				"no PMU in this virtual machine (software events work): switch on the virtual PMU in "
				"the "
				"hypervisor (KVM: <pmu state='on'/>, -cpu host), or measure on bare metal");
		} else {
			smp_why(why,
				"this CPU, or its driver in this kernel, does not have the event (software events "
				"work)");
		}
		break;
	case EBUSY:
		smp_why(why, "another program uses the counter: %s",
			a->watchdog ? "the NMI watchdog takes one (as root: sysctl kernel.nmi_watchdog=0), else a "
				      "site's monitoring or perf stat -a on "
				      "this node"
				    : "a site's monitoring, perf stat -a or another tool on this node (the NMI "
				      "watchdog is off)");
		break;
	case EMFILE:
	case ENFILE:
		smp_why(why, "too many open files: raise the limit (ulimit -n) or choose fewer counters");
		break;
	case ENOSPC:
		smp_why(why,
			"the CPU cannot count this one together with those before it: choose fewer events, or let them "
			"take "
			"turns (multiplexing), which makes them estimates");
		break;
	case ESRCH:
		smp_why(why, "the thread has ended");
		break;
	default:
		smp_why(why, "perf_event_open(2): %s", smp_errno(errnum, text, sizeof(text)));
	}
}
