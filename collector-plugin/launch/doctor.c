/* SPDX-License-Identifier: BSD-3-Clause */
/* vtrun --doctor: reports what works on this machine, what does not, why, and what to do. Each line is a check of
 * the table below. A check does the same as a run would do. */
#include "config.h"
#include "collector-plugin/launch/launch.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "collector-plugin/attach/attach.h"
#include "sampler/source.h"

enum health { WORKS, LIMITED, FAILS };

struct finding {
	enum health health;
	char what[400];  /* what was found */
	char to_do[300]; /* what the user can do; "": nothing */
};

static void set_finding(struct finding *f, enum health health, const char *to_do, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static void set_finding(struct finding *f, enum health health, const char *to_do, const char *fmt, ...)
{
	va_list ap;

	f->health = health;
	snprintf(f->to_do, sizeof(f->to_do), "%s", to_do);
	va_start(ap, fmt);
	vsnprintf(f->what, sizeof(f->what), fmt, ap);
	va_end(ap);
}

/* ---- the collector itself ---- */

static void check_library(struct vtrun *r, struct finding *f)
{
	char mpi[1100], *slash;

	if (access(r->library, R_OK) < 0) {
		set_finding(f, FAILS, "install Tickmark with make install, or start vtrun from its build folder",
			"%s cannot be read: %s", r->library, strerror(errno));
		return;
	}
	if (strpbrk(r->library, ": ")) {
		set_finding(f, FAILS, "install it in a folder without blank and colon in its name",
			"LD_PRELOAD cannot name %s", r->library);
		return;
	}
	snprintf(mpi, sizeof(mpi), "%s", r->library);
	slash = strrchr(mpi, '/');
	snprintf(slash + 1, sizeof(mpi) - (size_t)(slash + 1 - mpi), "libVT.so");
	if (access(mpi, R_OK) < 0) {
		set_finding(f, LIMITED, "configure it with MPI: --with-mpi",
			"%s; there is no libVT.so, so that ranks of MPI jobs are recorded one by one", r->library);
	} else {
		strcpy(slash + 1, "libVTabi.so");
		set_finding(f, WORKS, "", "%s, and libVT.so for MPI programs%s", r->library,
			access(mpi, R_OK) == 0 ? ", libVTabi.so for those of the MPI ABI" : "");
	}
}

static void check_sampler(struct vtrun *r, struct finding *f)
{
	char job[64];
	struct tkm_err e = { TKM_OK, "" };
	int fd;

	if (getpid() == 1) {
		set_finding(f, LIMITED, "start vtrun below an init process (docker run --init)",
			"vtrun is process 1, with which everything ends: a thread inside the program samples");
		return;
	}
	snprintf(job, sizeof(job), "doctor-%d", (int)getpid());
	if (vt_attach_start(job, r->library, &e) < 0) {
		set_finding(f, LIMITED, "install vtsampler beside libVTcs.so or in libexec/tickmark",
			"%s: a thread inside the program samples", e.text);
		return;
	}
	fd = vt_attach_connect(job);
	if (fd < 0) {
		set_finding(f, LIMITED, "the reason may be a limit of processes (ulimit -u) or of memory",
			"vtsampler was started and cannot be reached (%s): a thread inside the program samples",
			strerror(errno));
		return;
	}
	close(fd);
	set_finding(
		f, WORKS, "", "vtsampler starts and answers; the program gets no thread, descriptor or signal handler");
}

/* Tries to read a process that is neither our parent nor our child, as the sampler reads the program. */
static void check_other_processes(struct vtrun *r, struct finding *f)
{
	static const char *const files[] = { "stat", "status", "io", "statm", "task" };
	char path[64];
	int root = tkm_root_open("/"), status, fd;
	size_t i;
	pid_t pid;

	(void)r;
	if (root < 0 || faccessat(root, "proc/self/stat", R_OK, 0) < 0) {
		set_finding(f, FAILS, "mount it: mount -t proc proc /proc; in containers do not hide it",
			"/proc cannot be read: %s", strerror(errno));
		goto out;
	}
	if (tkm_root_is_above(root)) {
		set_finding(f, LIMITED, "mount one of its own: mount -t proc proc /proc (unshare --mount-proc)",
			"/proc belongs to a PID namespace above this one, where its numbers are other processes: a "
			"thread inside the program samples");
		goto out;
	}
	pid = fork();
	if (pid == 0) {
		for (;;) {
			pause();
		}
	}
	set_finding(f, WORKS, "", "/proc shows other processes of this user");
	for (i = 0; pid > 0 && i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, files[i]);
		fd = tkm_root_openat(root, path);
		if (fd < 0) {
			set_finding(f, LIMITED,
				"mount /proc without hidepid=, or with ptrace allowed (container: --cap-add "
				"SYS_PTRACE)",
				"%s of another process: %s; counters from it are missing", files[i], strerror(errno));
		} else {
			close(fd);
		}
	}
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
out:
	if (root >= 0) {
		close(root);
	}
}

static void check_seccomp(struct vtrun *r, struct finding *f)
{
	char text[8192] = "", *at;
	int root = tkm_root_open("/");

	(void)r;
	if (root >= 0) {
		tkm_root_read(root, "/proc/self/status", text, sizeof(text));
		close(root);
	}
	at = strstr(text, "\nSeccomp:\t");
	if (!at) {
		set_finding(f, LIMITED, "", "/proc/self/status does not say whether system calls are filtered");
	} else if (at[10] == '0') {
		set_finding(f, WORKS, "", "no system call is forbidden to this process");
	} else {
		set_finding(f, WORKS, "",
			"system calls are filtered (seccomp mode %c), as in most containers; the checks here say what "
			"fails",
			at[10]);
	}
}

/* ---- where the trace goes ---- */

static void check_folder(struct vtrun *r, struct finding *f)
{
	const char *dir = r->settings.logfile_prefix ? r->settings.logfile_prefix : ".";
	char name[1200];
	struct statvfs s;
	void *p;
	int fd;

	snprintf(name, sizeof(name), "%.1000s/.VT-doctor-%d", dir, (int)getpid());
	fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		set_finding(f, FAILS, "choose another folder: --logfile-prefix DIR, or TMPDIR",
			"cannot write to %s: %s", dir, strerror(errno));
		return;
	}
	p = ftruncate(fd, 4096) == 0 ? mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
	if (p == MAP_FAILED) {
		set_finding(f, FAILS, "choose a folder on another file system: --flush-prefix DIR",
			"%s has no shared mappings: %s", dir, strerror(errno));
	} else if (fstatvfs(fd, &s) == 0 && (uint64_t)s.f_bavail * s.f_frsize < (uint64_t)64 << 20) {
		set_finding(f, LIMITED, "make room, or choose another folder: --logfile-prefix DIR",
			"%s has %.1f MB left", dir, (double)s.f_bavail * (double)s.f_frsize / 1048576);
	} else {
		set_finding(f, WORKS, "",
			"%s can be written to, %.1f GB free; a raw file stops at FLUSH-LIMIT, %.2f GB", dir,
			(double)s.f_bavail * (double)s.f_frsize / 1073741824,
			(double)r->settings.flush_limit / 1073741824);
	}
	if (p != MAP_FAILED) {
		munmap(p, 4096);
	}
	close(fd);
	unlink(name);
}

static void check_descriptors(struct vtrun *r, struct finding *f)
{
	struct rlimit l;

	(void)r;
	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_max < 256) {
		set_finding(f, LIMITED, "ulimit -Hn 1024",
			"only %llu descriptors are allowed: the sampler cannot keep its files open",
			(unsigned long long)l.rlim_max);
	} else {
		set_finding(f, WORKS, "", "%llu descriptors for the sampler", (unsigned long long)l.rlim_max);
	}
}

/* ---- counters ---- */

struct group {
	const char *name, *counter, *to_do;
};

/* clang-format off */
static const struct group groups[] = {
	{ "CPU time of the node", "cpu_usr", "" },
	{ "memory of the node", "mem_free", "" },
	{ "pressure", "psi_cpu", "" },
	{ "disks", "disk_io", "" },
	{ "requests of disks", "disk_ops", "" },
	{ "network", "net_io", "" },
	{ "TCP", "tcp_retransmits", "" },
	{ "RDMA", "rdma_io", "" },
	{ "NFS client", "nfs_calls", "" },
	{ "Lustre client", "lustre_read", "" },
	{ "CPU time of processes", "proc_usr", "" },
	{ "I/O of processes", "proc_read", "" },
	{ "software events", "perf_page_faults", "sysctl kernel.perf_event_paranoid=2, or less" },
	{ "hardware events", "perf_instructions", "" },
	{ "PAPI", "PAPI_TOT_INS", "" },
	{ "NUMA", "numa_hit", "" },
	{ "cgroup version 2", "cgroup_usr", "" },
	{ "cgroup version 1", "cgroup1_cpu", "" },
	{ "energy", "energy", "" },
	{ "CPU frequency", "cpu_freq", "" },
	{ "throttling", "throttle_core", "" },
	{ "memory errors", "edac_corrected", "" },
	{ "clock steps", "clock_steps", "" },
	{ "free space", "trace_space", "" },
	{ "power of an HPE Cray", "cray_power", "" },
	{ "AMD GPU", "gpu_busy", "" },
	{ "NVIDIA GPU", "nvml_busy", "" },
};
/* clang-format on */

static void check_group(const struct smp_plan *plan, const struct group *g, struct finding *f)
{
	size_t i;

	set_finding(f, LIMITED, g->to_do, "no source of this build knows %s", g->counter);
	for (i = 0; i < smp_plan_size(plan); i++) {
		const struct smp_counter *c = &smp_plan_at(plan, i)->counter;

		if (strcasecmp(c->name, g->counter)) {
			continue;
		}
		if (c->missing) {
			/* for other causes, the reason tells what to do */
			set_finding(f, LIMITED, strstr(c->missing, "seccomp") ? "" : g->to_do, "%s: %s", c->name,
				c->missing);
		} else {
			set_finding(f, WORKS, "", "%s", c->name);
		}
		return;
	}
}

/* ---- all of it ---- */

struct check {
	const char *name;
	void (*make)(struct vtrun *r, struct finding *f);
};

static const struct check checks[] = {
	{ "library", check_library },
	{ "sampler process", check_sampler },
	{ "other processes", check_other_processes },
	{ "system calls", check_seccomp },
	{ "folder", check_folder },
	{ "descriptors", check_descriptors },
};

static void print_finding(const char *name, const struct finding *f)
{
	static const char *const words[] = { "works", "limited", "FAILS" };

	printf("%-8s %-22s %s\n", words[f->health], name, f->what);
	if (f->to_do[0]) {
		printf("%-8s %-22s -> %s\n", "", "", f->to_do);
	}
}

int vt_launch_doctor(struct vtrun *r)
{
	const char *rules[sizeof(groups) / sizeof(groups[0])];
	enum { GROUPS = sizeof(groups) / sizeof(groups[0]) };
	int count[3] = { 0, 0, 0 };
	struct smp_env env;
	struct smp_plan *plan;
	struct finding f;
	struct tkm_err e;
	size_t i;

	for (i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		checks[i].make(r, &f);
		print_finding(checks[i].name, &f);
		count[f.health]++;
	}
	for (i = 0; i < GROUPS; i++) {
		rules[i] = groups[i].counter;
	}
	smp_env_init(&env);
	plan = smp_plan_open(&env, rules, GROUPS, NULL, 0, &e);
	for (i = 0; plan && i < GROUPS; i++) {
		check_group(plan, &groups[i], &f);
		print_finding(groups[i].name, &f);
		count[f.health]++;
	}
	smp_plan_close(plan);
	printf("%d %s, %d limited, %d %s\n", count[WORKS], count[WORKS] == 1 ? "works" : "work", count[LIMITED],
		count[FAILS], count[FAILS] == 1 ? "fails" : "fail");
	return count[FAILS] > 0;
}
