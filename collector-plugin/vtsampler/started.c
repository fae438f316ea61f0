/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the threads and processes that a measured process starts. Those that end between two samples are in no list
 * of threads. The kernel writes a record for each into a ring of this process, by an event that counts nothing else.
 * The event belongs to one thread and is not inherited, since that would need a ring for each CPU and process. So
 * the threads that the main thread and sampled threads start are known; a count is "at least". The CPU time of the
 * others is that of the process minus that of all sampled threads. */
#include "config.h"
#include "collector-plugin/vtsampler/vtsampler.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/rootfs.h"
#include "base/text/text.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/settings/run_value.h"

enum { MAIN_RING_PAGES = 4, THREAD_RING_PAGES = 1, MOST_WAITING = 1 << 16 };

struct fork_record {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

/* ---- the rings ---- */

static size_t ring_bytes(int pages)
{
	return (size_t)(1 + pages) * (size_t)sysconf(_SC_PAGESIZE);
}

static int open_start_event(pid_t tid)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.task = 1;
	attr.exclude_kernel = attr.exclude_hv = 1;
	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The ring of a thread, or of none; errno of what failed in p->started.error. */
static void open_ring(struct vt_measured *p, pid_t tid, int pages)
{
	struct vt_started *b = &p->started;
	struct vt_started_ring *r = b->ring;
	int fd;

	while (r < b->ring + VT_STARTED_RINGS && r->pages) {
		r++;
	}
	if (r == b->ring + VT_STARTED_RINGS) {
		return;
	}
	fd = open_start_event(tid);
	if (fd >= 0) {
		r->at = mmap(NULL, ring_bytes(pages), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	if (fd < 0 || r->at == MAP_FAILED) {
		b->error = tid == p->pid ? errno : b->error;
		r->at = NULL;
		if (fd >= 0) {
			close(fd);
		}
		return;
	}
	r->fd = fd;
	r->tid = tid;
	r->pages = pages;
}

static void end_ring(struct vt_started_ring *r)
{
	munmap(r->at, ring_bytes(r->pages));
	close(r->fd);
	memset(r, 0, sizeof(*r));
}

/* The thread must be looked for among the threads of the process. */
static void add_waiting_thread(struct vt_started *b, pid_t tid)
{
	if (b->n_waiting == MOST_WAITING || TKM_GROW(b->waiting, b->room, b->n_waiting + 1) < 0) {
		b->lost++;
		return;
	}
	b->waiting[b->n_waiting++] = tid;
}

static void count_record(struct vt_measured *p, const char *record)
{
	const struct fork_record *f = (const struct fork_record *)(const void *)record;

	if (f->header.type == PERF_RECORD_LOST) {
		p->started.lost += ((const struct lost_record *)(const void *)record)->lost;
	} else if (f->header.type == PERF_RECORD_FORK && (pid_t)f->pid != p->pid) {
		p->started.children++;
	} else if (f->header.type == PERF_RECORD_FORK) {
		p->started.threads++;
		add_waiting_thread(&p->started, (pid_t)f->tid);
	}
}

/* Records are multiples of 8 bytes; a record may wrap around at the end of the ring. */
static void read_ring(struct vt_measured *p, struct vt_started_ring *r)
{
	struct perf_event_mmap_page *page = r->at;
	const char *data = (const char *)r->at + sysconf(_SC_PAGESIZE);
	uint64_t size = (uint64_t)r->pages * (uint64_t)sysconf(_SC_PAGESIZE), at = page->data_tail,
		 head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	_Alignas(8) char record[256];
	struct perf_event_header h;
	size_t i, n;

	while (head - at >= sizeof(h)) {
		memcpy(&h, data + at % size, sizeof(h));
		n = h.size < sizeof(record) ? h.size : sizeof(record);
		for (i = 0; i < n; i += 8) {
			memcpy(record + i, data + (at + i) % size, 8);
		}
		count_record(p, record);
		at += h.size ? h.size : size;
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}

/* ---- CPU time ---- */

static uint64_t cpu_of_process(const struct vt_measured *p)
{
	struct timespec ts;
	clockid_t id;

	return clock_getcpuclockid(p->pid, &id) == 0 && clock_gettime(id, &ts) == 0
		? (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec
		: 0;
}

static void read_thread_cpu(const struct vt_measured *p, struct vt_target *t)
{
	char path[64], text[64];
	ssize_t n;

	if (t->cpu_fd < 0) {
		snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)p->pid, (int)t->tid);
		t->cpu_fd = tkm_root_openat(p->s->root, path);
	}
	n = t->cpu_fd >= 0 ? pread(t->cpu_fd, text, sizeof(text) - 1, 0) : -1;
	if (n > 0) {
		text[n] = '\0';
		t->cpu_ns = strtoull(text, NULL, 10);
	}
}

/* Reads the time of the process first: what its sampled threads do meanwhile must not count as time of other
 * threads. */
static void read_times(struct vt_measured *p)
{
	struct vt_started *b = &p->started;
	uint64_t all = cpu_of_process(p), sum = b->gone_ns;
	struct vt_target *t;

	for (t = p->s->threads; t; t = t->next) {
		read_thread_cpu(p, t);
		sum += t->cpu_ns;
	}
	if (all) {
		b->all_ns = all - b->before_ns;
		b->unseen_ns = b->all_ns > sum ? b->all_ns - sum : 0;
	}
}

char *vt_measured_stat(const struct vt_measured *p, int field, char *text, size_t size)
{
	ssize_t n = p->stat >= 0 ? pread(p->stat, text, size - 1, 0) : -1;
	char *at;

	text[n > 0 ? n : 0] = '\0';
	/* the name of the program, field 2, may contain anything */
	for (at = strrchr(text, ')'); at && field > 2; field--) {
		at = strchr(at + 1, ' ');
	}
	return at ? at + 1 : NULL;
}

/* Reads the CPU time of the process, and of those that it has waited for: fields 14 to 17 of /proc/PID/stat. A zombie has it
 * until its parent takes it. Returns 1 if it could be read. */
static int read_children(struct vt_measured *p)
{
	char text[1024], *at = vt_measured_stat(p, 14, text, sizeof(text));

	if (!at) {
		return 0;
	}
	p->started.own_ticks = strtoull(at, &at, 10);
	p->started.own_ticks += strtoull(at, &at, 10);
	p->started.children_ticks = strtoull(at, &at, 10);
	p->started.children_ticks += strtoull(at, NULL, 10);
	return 1;
}

/* ---- what the sampler calls ---- */

void vt_started_open(struct vt_measured *p)
{
	uint64_t all = cpu_of_process(p);
	struct vt_target main = { .tid = p->pid, .cpu_fd = -1 };

	open_ring(p, p->pid, MAIN_RING_PAGES);
	/* threads of a program before an exec, and what ended before this process looked */
	read_thread_cpu(p, &main);
	p->started.before_ns = all > main.cpu_ns ? all - main.cpu_ns : 0;
	if (main.cpu_fd >= 0) {
		close(main.cpu_fd);
	}
}

void vt_started_add_thread(struct vt_measured *p, pid_t tid)
{
	struct vt_started *b = &p->started;
	size_t i;

	if (tid == p->pid || b->error) {
		return;
	}
	open_ring(p, tid, THREAD_RING_PAGES);
	if (p->s->round == 1) {
		/* did it start before the rings were opened? */
		read_ring(p, &b->ring[0]);
		for (i = 0; i < b->n_waiting && b->waiting[i] != tid; i++) {
		}
		b->threads += i == b->n_waiting;
	}
}

void vt_started_end_thread(struct vt_measured *p, struct vt_target *t)
{
	struct vt_started_ring *r;

	p->started.gone_ns += t->cpu_ns;
	for (r = p->started.ring; r < p->started.ring + VT_STARTED_RINGS; r++) {
		if (r->pages && r->tid == t->tid) {
			read_ring(p, r);
			end_ring(r);
		}
	}
	if (t->cpu_fd >= 0) {
		close(t->cpu_fd);
		t->cpu_fd = -1;
	}
}

int vt_started_before_listing(struct vt_measured *p)
{
	struct vt_started_ring *r;
	size_t before = p->started.n_waiting;

	for (r = p->started.ring; r < p->started.ring + VT_STARTED_RINGS; r++) {
		if (r->pages) {
			read_ring(p, r);
		}
	}
	p->started.n_looked = p->started.n_waiting;
	return p->started.n_waiting > before;
}

static int by_tid(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

void vt_started_after_listing(struct vt_measured *p, int looked)
{
	struct vt_started *b = &p->started;
	const struct vt_target *t;
	size_t seen = 0;

	if (looked && b->n_looked > 0) {
		/* a record that came while the threads were listed waits for the next time */
		qsort(b->waiting, b->n_looked, sizeof(*b->waiting), by_tid);
		for (t = p->s->threads; t; t = t->next) {
			seen += bsearch(&t->tid, b->waiting, b->n_looked, sizeof(*b->waiting), by_tid) != NULL;
		}
		b->brief += b->n_looked - seen;
		memmove(b->waiting, b->waiting + b->n_looked, (b->n_waiting - b->n_looked) * sizeof(*b->waiting));
		b->n_waiting -= b->n_looked;
		b->n_looked = 0;
	}
	/* if the kernel does not report threads, there may be some */
	b->several = b->several || b->error || b->threads > 0 || (p->s->threads && p->s->threads->next);
	if (b->several) {
		read_times(p);
	}
	if (b->children > 0) {
		read_children(p);
	}
}

/* Writes a line to the trace and, as the last line of the sampler, to the user, but not for runs of less than a
 * second or for single ranks. */
static void __attribute__((format(printf, 2, 3))) say_brief_threads(struct vt_measured *p, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	vt_raw_info(p->c.pub.raw, "brief-threads", text);
	vt_say(p->c.account.wall_ns < 1000000000 || vt_run_child(p->c.run, (int)p->c.pid) || p->c.pub.together ? 2 : 1,
		"INFO", "%s", text);
}

/* A script does its work in other programs, and its own counters show nothing of it. */
static void say_children(struct vt_measured *p, uint64_t own_ns)
{
	const struct vt_account *a = &p->c.account;
	char own[32], theirs[32], text[400];

	if (!a->children_cpu_known || a->children_ns < 100000000 || a->children_ns <= own_ns ||
		p->c.settings.follow_children || vt_run_child(p->c.run, (int)p->c.pid)) {
		return;
	}
	snprintf(text, sizeof(text),
		"%.200s used %s of CPU, the processes that it started %s, which is not recorded: add --follow-children",
		p->c.program, tkm_print_time(own, sizeof(own), 1e-9 * (double)own_ns, 2),
		tkm_print_time(theirs, sizeof(theirs), 1e-9 * (double)a->children_ns, 2));
	vt_raw_info(p->c.pub.raw, "children", text);
	vt_say(p->c.pub.together ? 2 : 1, "WARNING", "%s", text);
}

void vt_started_end(struct vt_measured *p)
{
	struct vt_started *b = &p->started;
	struct vt_account *a = &p->c.account;
	uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	struct vt_started_ring *r;

	for (r = b->ring; r < b->ring + VT_STARTED_RINGS; r++) {
		if (r->pages) {
			end_ring(r);
		}
	}
	free(b->waiting);
	b->waiting = NULL;
	a->started_error = b->error;
	a->threads_started = b->threads;
	a->threads_brief = b->brief;
	a->started_lost = b->lost;
	a->threads_unseen_ns = b->unseen_ns;
	a->children_started = b->children;
	a->children_cpu_known = read_children(p);
	a->children_late = atomic_load(&vt_raw_head(p->c.pub.raw)->late) != 0;
	a->children_ns = b->children_ticks * tick_ns;
	say_children(p, b->own_ticks * tick_ns);
	if (b->brief + b->lost > 0) {
		say_brief_threads(p,
			"%llu of %llu threads started and ended between two samples. They, and others after their last "
			"sample, used %.6f s of CPU, which only the counters of the process contain",
			(unsigned long long)(b->brief + b->lost), (unsigned long long)(b->threads + b->lost),
			1e-9 * (double)b->unseen_ns);
	} else if (b->error && b->unseen_ns > b->all_ns / 100) {
		say_brief_threads(p,
			"threads that started and ended between two samples, and others after their last sample, used "
			"%.6f s of CPU, which only the counters of the process contain. How many threads these were is "
			"unknown: perf_event_open: %s",
			1e-9 * (double)b->unseen_ns, strerror(b->error));
	}
}
