/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes clock pages, and finds out what readers and writers must know about the machine; see clock/page.h. */
#include "config.h"
#include "clock/page.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fnv.h"
#include "base/rootfs.h"
#include "timers/timer_private.h"

_Static_assert(sizeof(struct tkc_page) <= TKC_BYTES, "the page is one page");

/* ---- names ---- */

void tkc_domain(char key[24])
{
	static const char *const file[] = { "/proc/sys/kernel/random/boot_id",
		"/sys/devices/system/clocksource/clocksource0/current_clocksource", "/proc/self/timens_offsets" };
	uint64_t hash = TKM_FNV_START;
	char text[256] = "";
	int root = tkm_root_open("/"), is_known = 0, i;

	gethostname(text, sizeof(text) - 1);
	for (i = 0; i < 4; i++) {
		hash = tkm_fnv(hash, text, strlen(text) + 1);
		if (i < 3 && tkm_root_read(root, file[i], text, sizeof(text)) < 0) {
			text[0] = '\0';
		}
		is_known |= i == 0 && text[0];
	}
	if (root >= 0) {
		close(root);
	}
	snprintf(key, 24, "%016llx", (unsigned long long)hash);
	key[is_known ? 16 : 0] = '\0';
}

void tkc_job_name(char *name, size_t size)
{
	/* in order: set by the user; by PMIx (Open MPI, PRRTE, Slurm's pmix plugin); by Slurm; by MPICH's Hydra */
	static const char *const variable[] = { "TICKMARK_CLOCK_JOB", "PMIX_NAMESPACE", "SLURM_STEP_ID", "PMI_JOBID" };
	const char *job = secure_getenv("SLURM_JOB_ID"), *text = NULL;
	size_t i;

	for (i = 0; i < 4 && !text; i++) {
		text = secure_getenv(variable[i]);
		text = text && text[0] ? text : NULL;
	}
	snprintf(name, size, "%s%s%s", i == 3 && text && job ? job : "", i == 3 && text && job ? "." : "",
		text ? text : "");
	for (i = 0; name[i]; i++) {
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-", name[i])) {
			name[i] = '_';
		}
	}
}

int tkc_folder(int k, unsigned uid, char *path, size_t size)
{
	const char *variable = secure_getenv("TICKMARK_CLOCK_DIR"), *run = secure_getenv("XDG_RUNTIME_DIR");

	if (variable && variable[0]) {
		snprintf(path, size, "%s", variable);
		return k == 0 ? 0 : -1;
	}
	if (uid == 0) {
		run = "/run";
	} else if (uid != geteuid() || !run || run[0] != '/') {
		run = NULL;
	}
	if (run && k == 0) {
		snprintf(path, size, "%s/tickmark", run);
		return 0;
	}
	snprintf(path, size, "/dev/shm/tickmark-%u", uid);
	return k == (run != NULL) ? 0 : -1;
}

int tkc_folder_open(const char *path, unsigned uid, int make, struct tkm_err *err)
{
	struct stat st;
	int fd;

	if (make && mkdir(path, 0755) == 0) {
		chmod(path, 0755); /* whatever the umask says */
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		return tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot open the folder %s", path);
	}
	if (fstat(fd, &st) < 0 || st.st_uid != uid || (st.st_mode & (S_IWGRP | S_IWOTH))) {
		close(fd);
		return tkm_fail(err, TKM_ERR_UNAVAIL,
			"%s is not used: it must belong to user %u and be writable only by that user "
			"(TICKMARK_CLOCK_DIR names another folder)",
			path, uid);
	}
	return fd;
}

int tkc_timer_id(const char *name)
{
	static const struct {
		const char *name;
		int id;
	} known[] = { { "CPU", TKC_COUNTER }, { "clock_monotonic", CLOCK_MONOTONIC },
		{ "clock_monotonic_raw", CLOCK_MONOTONIC_RAW }, { "clock_boottime", CLOCK_BOOTTIME } };
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcasecmp(name, known[i].name)) {
			return known[i].id == TKC_COUNTER && !TMR_HAVE_COUNTER ? -2 : known[i].id;
		}
	}
	return -2;
}

/* ---- the machine ---- */

/* As in the virtual machine clock device's published layout, linux/vmclock-abi.h. */
struct tkc_vmclock {
	uint32_t magic, size;
	uint16_t version;
	uint8_t counter_id, time_type;
	_Atomic uint32_t sequence;
	_Atomic uint64_t marker;
};

const struct tkc_vmclock *tkc_vmclock_open(void)
{
	const char *path = secure_getenv("TICKMARK_VMCLOCK");
	int fd = open(path && path[0] ? path : "/dev/vmclock0", O_RDONLY | O_CLOEXEC);
	const struct tkc_vmclock *v;

	if (fd < 0) {
		return NULL;
	}
	v = mmap(NULL, TKC_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (v == MAP_FAILED) {
		return NULL;
	}
	if (v->magic != 0x4b4c4356 || v->version == 0) {
		tkc_vmclock_close(v);
		return NULL;
	}
	return v;
}

void tkc_vmclock_close(const struct tkc_vmclock *v)
{
	if (v) {
		munmap((void *)(uintptr_t)v, TKC_BYTES);
	}
}

uint64_t tkc_vmclock_marker(const struct tkc_vmclock *v, int *steady)
{
	uint32_t before = atomic_load_explicit(&v->sequence, memory_order_acquire);
	uint64_t marker = atomic_load_explicit(&v->marker, memory_order_relaxed);

	atomic_thread_fence(memory_order_acquire);
	*steady = !(before & 1) && atomic_load_explicit(&v->sequence, memory_order_relaxed) == before;
	return marker;
}

static int64_t page_clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

void tkc_watch(const struct tkc_vmclock *vmclock, struct tkc_watch *now)
{
	int64_t before, boot, after, best = INT64_MAX;
	int i, steady;

	now->marker = vmclock ? tkc_vmclock_marker(vmclock, &steady) : 0;
	for (i = 0; i < 5; i++) {
		before = page_clock_ns(CLOCK_MONOTONIC);
		boot = page_clock_ns(CLOCK_BOOTTIME);
		after = page_clock_ns(CLOCK_MONOTONIC);
		if (after - before < best) {
			best = after - before;
			now->boot_ns = boot - before - best / 2;
		}
	}
}

/* ---- the writer ---- */

const char *tickmark_status_name(int status)
{
	static const char *const name[] = { "ok", "not synchronised", "stale", "disrupted", "closed", "too old",
		"busy" };

	return status >= 0 && status < (int)(sizeof(name) / sizeof(name[0])) ? name[status] : "unknown status";
}

int tkc_writer_lives(int fd)
{
	struct flock l = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_GETLK, &l) == 0 && l.l_type != F_UNLCK;
}

static uint64_t to_fixed_point(double v)
{
	return (uint64_t)llrint(ldexp(v, TKC_SHIFT));
}

void tkc_write_state(struct tkc_state *s, const struct tkc_map *m, const struct tkc_watch *watch, int64_t realtime_ns)
{
	uint32_t n = atomic_load_explicit(&s->sequence, memory_order_relaxed);
	uint64_t words[16] = { 0 };
	size_t i;

	snprintf((char *)words, sizeof(words), "%s", m->reason ? m->reason : "");
	/* already odd if a writer was killed while it was writing */
	atomic_store_explicit(&s->sequence, n | 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
#define PUT(member, value) atomic_store_explicit(&s->member, value, memory_order_relaxed)
	PUT(status, m->status);
	PUT(raw, m->raw);
	PUT(at_ns, m->at_ns);
	PUT(half_ns, (int64_t)ceil(m->half_ns));
	PUT(rate, to_fixed_point(m->ns_per_tick));
	/* the rounding of the rate has an effect far below one unit of this */
	PUT(grow, to_fixed_point(m->grow) + 2);
	PUT(near_grow, to_fixed_point(m->near_grow) + 2);
	PUT(near_ticks, m->near_ticks);
	PUT(since_raw, m->since_raw);
	PUT(valid_ticks, m->valid_ticks);
	PUT(marker, watch->marker);
	PUT(realtime_ns, realtime_ns);
	PUT(boot_ns, watch->boot_ns);
	PUT(updates, atomic_load_explicit(&s->updates, memory_order_relaxed) + 1);
	for (i = 0; i < 16; i++) {
		PUT(reason[i], words[i]);
	}
#undef PUT
	atomic_store_explicit(&s->sequence, (n | 1) + 1, memory_order_release);
}

static int64_t read_page_timer(int timer)
{
#if TMR_HAVE_COUNTER
	if (timer == TKC_COUNTER) {
		return tmr_counter_ordered();
	}
#endif
	return page_clock_ns((clockid_t)timer);
}

void tkc_write(struct tkc_page *p, const struct tkc_map *m, const struct tkc_watch *watch)
{
	int64_t realtime = page_clock_ns(CLOCK_REALTIME_COARSE);
	double since = (double)(read_page_timer(p->timer) - m->raw) * m->ns_per_tick;

	tkc_write_state(&p->state, m, watch, realtime - llrint(since));
}

/* Tests whether a running process writes a page of that name. */
static int is_taken(const struct tkc_writer *w)
{
	int fd = openat(w->folder, w->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), lives;

	if (fd < 0) {
		return 0;
	}
	lives = tkc_writer_lives(fd);
	close(fd);
	return lives;
}

static int make_page_file(struct tkc_writer *w, const struct tkc_page *head, struct tkm_err *err)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char temporary[128];
	int rc = -1;

	if (is_taken(w)) {
		return tkm_fail(err, TKM_ERR_EXISTS, "%s is written by another process already", w->path);
	}
	snprintf(temporary, sizeof(temporary), "%s.%ld", w->name, (long)getpid());
	unlinkat(w->folder, temporary, 0); /* left by a killed process with the same id; the folder is private */
	w->fd = openat(w->folder, temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (w->fd < 0) {
		return tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot create %s", w->path);
	}
	/* posix_fallocate: memory that is not there must fail here, not by SIGBUS later */
	if (fchmod(w->fd, 0644) == 0 && posix_fallocate(w->fd, 0, TKC_BYTES) == 0 &&
		fcntl(w->fd, F_OFD_SETLK, &l) == 0) {
		w->page = mmap(NULL, TKC_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, 0);
		w->page = w->page == MAP_FAILED ? NULL : w->page;
	}
	if (w->page) {
		memcpy(w->page, head, offsetof(struct tkc_page, state));
		tkc_write_state(&w->page->state,
			&(struct tkc_map){ .status = TICKMARK_UNSYNCHRONISED, .reason = "the writer has just begun" },
			&(struct tkc_watch){ .marker = 0 }, 0);
		rc = renameat(w->folder, temporary, w->folder, w->name);
	}
	if (rc < 0) {
		tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot make %s", w->path);
		unlinkat(w->folder, temporary, 0);
	}
	return rc;
}

static int find_folder(struct tkc_writer *w, const char *folder, struct tkm_err *err)
{
	char path[400];
	int k;

	w->folder = -1;
	for (k = 0; w->folder < 0 && (folder ? k == 0 : tkc_folder(k, geteuid(), path, sizeof(path)) == 0); k++) {
		if (folder) {
			snprintf(path, sizeof(path), "%s", folder);
		}
		w->folder = tkc_folder_open(path, geteuid(), 1, err);
	}
	snprintf(w->path, sizeof(w->path), "%s/%s", path, w->name);
	return w->folder < 0 ? -1 : 0;
}

int tkc_create(struct tkc_writer *w, const struct tkc_page_of *of, struct tkm_err *err)
{
	struct tkc_page head = { .magic = TKC_MAGIC,
		.version = TKC_VERSION,
		.size = sizeof(struct tkc_page),
		.scale = of->scale,
		.timer = tkc_timer_id(of->timer),
		.axis = of->axis,
		.writer = (int32_t)getpid() };
	const struct tkc_vmclock *v = tkc_vmclock_open();

	memset(w, 0, sizeof(*w));
	w->fd = w->folder = -1;
	head.flags = v ? TKC_VMCLOCK : 0;
	tkc_vmclock_close(v);
	if (head.timer == -2) {
		return tkm_fail(
			err, TKM_ERR_UNAVAIL, "other processes cannot read the timer %s, or it can be set", of->timer);
	}
	snprintf(w->name, sizeof(w->name), "%s", of->name);
	snprintf(head.timer_name, sizeof(head.timer_name), "%s", of->timer);
	tkc_domain(head.domain);
	if (find_folder(w, of->folder, err) < 0 || make_page_file(w, &head, err) < 0) {
		if (w->page) {
			munmap(w->page, TKC_BYTES);
		}
		if (w->fd >= 0) {
			close(w->fd);
		}
		if (w->folder >= 0) {
			close(w->folder);
		}
		memset(w, 0, sizeof(*w));
		w->fd = w->folder = -1;
		return -1;
	}
	return 0;
}

void tkc_close_descriptors(struct tkc_writer *w)
{
	/* a relative path may name another file by the time that the page is withdrawn */
	if (w->page && w->folder >= 0 && w->path[0] == '/') {
		close(w->fd);
		close(w->folder);
		w->fd = w->folder = -1;
	}
}

void tkc_withdraw(struct tkc_writer *w)
{
	if (!w->page) {
		return;
	}
	tkc_write_state(&w->page->state,
		&(struct tkc_map){ .status = TICKMARK_CLOSED, .reason = "the writer has ended" },
		&(struct tkc_watch){ .marker = 0 }, 0);
	if (w->folder >= 0) {
		unlinkat(w->folder, w->name, 0);
		close(w->fd);
		close(w->folder);
	} else {
		unlink(w->path);
	}
	munmap(w->page, TKC_BYTES);
	memset(w, 0, sizeof(*w));
	w->fd = w->folder = -1;
}

void tkc_sweep(const struct tkc_writer *w, const char *prefix)
{
	int copy = openat(w->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;
	DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, prefix, strlen(prefix)) || !strcmp(e->d_name, w->name)) {
			continue;
		}
		fd = openat(w->folder, e->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
		if (fd >= 0 && !tkc_writer_lives(fd)) {
			unlinkat(w->folder, e->d_name, 0);
		}
		if (fd >= 0) {
			close(fd);
		}
	}
	if (d) {
		closedir(d);
	} else if (copy >= 0) {
		close(copy);
	}
}
