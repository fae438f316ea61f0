/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel events of a thread, or of a process with all its threads and those that it starts from then on ("NAME:process"): counters
 * that exist where PAPI has none. They are read by read(2): the thread that reads is not the one that is counted, so
 * rdpmc would give wrong values. */
#include "config.h"
#include "sampler/sources/perf.h"
#include "sampler/sources/perf_why.h"
#include "sampler/sources/proc.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/rootfs.h"

enum { MAX_PMUS = 4, PROCESS_LEN = 8 /* ":process" */ };

struct event {
	const struct smp_perf_event *what;
	int timing; /* 0 the count, 1 time enabled, 2 time running */
	int of;     /* slot of the count whose times these are; its own slot for a count */
};

/* One descriptor. Members of a group are read with their leader. */
struct counter {
	int fd;
	uint64_t id;
	int slot;    /* of the set's values */
	int place;   /* in the group's read; 0: the leader */
	int members; /* of the leader: with itself */
	uint32_t type;
	uint64_t last; /* sum of this descriptor so far; what is shown never decreases */
};

struct set {
	size_t n, n_counters, cap;
	int multiplex, hopeless;
	struct counter *c;
	struct event *event;
	uint64_t *sum, *enabled, *running;
	uint8_t *state;
};

static int open_perf_event(struct perf_event_attr *attr, int32_t tid, int group)
{
	return smp_fd_high((int)syscall(SYS_perf_event_open, attr, tid, -1, group, PERF_FLAG_FD_CLOEXEC));
}

static uint64_t id_of_event(int fd)
{
	uint64_t id = 0;

	return ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0 ? id : 0;
}

/* The program may have closed our descriptor and opened its own under the number; reading that would take
 * its data away. */
static int is_our_event(const struct counter *c)
{
	return c->fd >= 0 && id_of_event(c->fd) == c->id;
}

/* ---- PMUs of CPUs with cores of several kinds ---------------------------------------------------- */

struct pmus {
	uint32_t type[MAX_PMUS];
	int n, root;
};

static int add_pmu(const char *name, void *ctx)
{
	struct pmus *p = ctx;
	char path[128], text[16];
	const char *s = text;
	uint64_t v;

	if ((strncmp(name, "cpu_", 4) != 0 && strncmp(name, "armv8_", 6) != 0) || strlen(name) > 40 ||
		p->n == MAX_PMUS) {
		return 0;
	}
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", name);
	tkm_root_line(p->root, path, text, sizeof(text));
	if (smp_number(&s, &v) == 0 && v < UINT32_MAX) {
		p->type[p->n++] = (uint32_t)v;
	}
	return 0;
}

/* Types that a hardware event must be opened for one by one; n is 0 where there is one kind of core. */
static void find_pmus(const struct smp_env *env, struct pmus *p)
{
	p->n = 0;
	p->root = smp_root(env);
	if (p->root >= 0) {
		smp_dir_each(p->root, "/sys/bus/event_source/devices", add_pmu, p);
		close(p->root);
	}
	p->n = p->n > 1 ? p->n : 0;
}

/* ---- opening ------------------------------------------------------------------------------------- */

/* "perf_cycles:process", "perf_cycles:enabled". Returns 0 or -1. */
static int parse_perf_name(const char *name, struct event *e, int *process)
{
	size_t len = strcspn(name, ":"), i;
	const char *rest = name + len;

	*process = strncmp(rest, ":process", PROCESS_LEN) == 0;
	rest += *process ? PROCESS_LEN : 0;
	*e = (struct event){ .timing = strcmp(rest, ":enabled") == 0 ? 1 : strcmp(rest, ":running") == 0 ? 2 : 0 };
	for (i = 0; i < smp_perf_n; i++) {
		if (strlen(smp_perf_events[i].name) == len && memcmp(smp_perf_events[i].name, name, len) == 0) {
			e->what = &smp_perf_events[i];
		}
	}
	return e->what && (e->timing || !*rest) ? 0 : -1;
}

static void set_attr(
	struct perf_event_attr *attr, const struct smp_perf_event *e, const struct smp_env *env, int inherit)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = e->type;
	attr->config = e->config;
	attr->read_format =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | (inherit ? 0 : PERF_FORMAT_GROUP);
	attr->inherit = inherit != 0;
	attr->exclude_hv = 1;
	/* a page fault, a switch of a user program is seen by the kernel: user code alone would have none */
	attr->exclude_kernel = e->type == PERF_TYPE_HARDWARE && !(env->flags & SMP_COUNT_KERNEL);
}

/* A child process is not counted with its parent: an event that inherits would be, but for a kernel (5.13) that can be told. */
static int open_inheriting(struct perf_event_attr *attr, int32_t tid, int group)
{
#ifdef HAVE_STRUCT_PERF_EVENT_ATTR_INHERIT_THREAD
	int fd;

	attr->inherit_thread = attr->inherit;
	fd = open_perf_event(attr, tid, group);
	if (fd >= 0 || errno != EINVAL || !attr->inherit) {
		return fd;
	}
	attr->inherit_thread = 0;
#endif
	return open_perf_event(attr, tid, group);
}

/* Opens one descriptor of an event into the group of a leader (leader s->n_counters: its own group). Pinned: it counts all the time or says that it
 * cannot, so that nothing has to be scaled. Returns 0 or an errno. */
static int open_in_group(
	struct set *s, const struct smp_env *env, const struct smp_target *t, uint32_t pmu, size_t leader, int slot)
{
	const struct smp_perf_event *e = s->event[slot].what;
	int inherit = t->scope == SMP_PROCESS, group = leader < s->n_counters ? s->c[leader].fd : -1, fd;
	struct counter *c;
	struct perf_event_attr attr;
	int32_t tid = t->tid ? t->tid : t->pid;

	if (TKM_GROW(s->c, s->cap, s->n_counters + 1) < 0) {
		return ENOMEM;
	}
	set_attr(&attr, e, env, inherit);
	attr.config |= (uint64_t)pmu << 32;
	attr.pinned = group < 0 && e->type == PERF_TYPE_HARDWARE && !s->multiplex;
	fd = open_inheriting(&attr, tid, group);
	if (fd < 0 && (errno == EACCES || errno == EPERM) && !attr.exclude_kernel) {
		attr.exclude_kernel = 1;
		fd = open_inheriting(&attr, tid, group);
	}
	if (fd < 0) {
		return group >= 0 && errno == EINVAL ? ENOSPC : errno; /* the group would not fit the PMU */
	}
	c = &s->c[s->n_counters];
	*c = (struct counter){ .fd = fd, .id = id_of_event(fd), .slot = slot, .members = 1, .type = e->type };
	if (group >= 0) {
		c->place = s->c[leader].members++;
	}
	s->n_counters++;
	return 0;
}

/* The leader of the group that an event joins: all of one type, unless each is read or rotated alone. */
static size_t leader_for(const struct set *s, const struct smp_perf_event *e, const struct smp_target *t)
{
	size_t i;

	if (t->scope == SMP_PROCESS || (s->multiplex && e->type == PERF_TYPE_HARDWARE)) {
		return s->n_counters;
	}
	for (i = 0; i < s->n_counters && (s->c[i].place != 0 || s->c[i].type != e->type); i++) {
	}
	return i;
}

static int open_slot(
	struct set *s, const struct smp_env *env, const struct smp_target *t, const struct pmus *pmus, int slot)
{
	const struct smp_perf_event *e = s->event[slot].what;
	int i, rc, n = e->type == PERF_TYPE_HARDWARE ? pmus->n : 0, opened = 0, last = 0;

	if (n == 0) {
		return open_in_group(s, env, t, 0, leader_for(s, e, t), slot);
	}
	for (i = 0; i < n; i++) {
		/* one group per PMU would be possible; alone is simple, and right */
		rc = open_in_group(s, env, t, pmus->type[i], s->n_counters, slot);
		opened += rc == 0;
		last = rc ? rc : last;
	}
	return opened ? 0 : last;
}

/* The times are those of the count that is read beside them; alone, those of a count of their own. */
static int slot_of_id(const struct set *s, int slot)
{
	int i;

	for (i = 0; i < slot; i++) {
		if (s->event[i].what == s->event[slot].what && s->event[i].of == i) {
			return i;
		}
	}
	return slot;
}

static struct set *new_set(size_t n)
{
	size_t per = sizeof(struct event) + 3 * sizeof(uint64_t) + 1;
	struct set *s = calloc(1, sizeof(*s) + n * per);

	if (s) {
		s->n = n;
		s->sum = (uint64_t *)(s + 1);
		s->enabled = s->sum + n;
		s->running = s->enabled + n;
		s->event = (struct event *)(s->running + n);
		s->state = (uint8_t *)(s->event + n);
	}
	return s;
}

/* ---- the threads of a process -------------------------------------------------------------------- */

/* An event inherits to the threads that its own thread starts from then on. So each thread that is there gets one. A thread that comes
 * between the look and the events may have one or not: then all begins again. */
enum { MOST_TRIES = 20 };

struct tids {
	const struct smp_env *env;
	int32_t pid, *tid;
	size_t n, room;
};

static int add_tid(const char *name, void *ctx)
{
	struct tids *t = ctx;

	if (TKM_GROW(t->tid, t->room, t->n + 1) < 0) {
		return -1;
	}
	t->tid[t->n++] = smp_task_known(t->env, t->pid, name);
	return 0;
}

/* The threads of a target: of a process all, of which it is the only one where /proc does not show them. */
static void list_tids(const struct smp_env *env, const struct smp_target *t, struct tids *list)
{
	int root = t->scope == SMP_PROCESS ? smp_root(env) : -1;
	char folder[16], path[40];

	list->env = env;
	list->pid = t->pid;
	list->n = 0;
	if (root >= 0) {
		snprintf(path, sizeof(path), "/proc/%s/task", smp_task_folder(env, t->pid, folder));
		if (smp_dir_each(root, path, add_tid, list) < 0) {
			list->n = 0;
		}
		close(root);
	}
	if (list->n == 0 && TKM_GROW(list->tid, list->room, 1) == 0) {
		list->tid[list->n++] = t->scope == SMP_THREAD ? t->tid : t->pid;
	}
}

static void close_perf_counters(struct set *s)
{
	while (s->n_counters > 0) {
		const struct counter *c = &s->c[--s->n_counters];

		if (is_our_event(c)) {
			close(c->fd);
		}
	}
}

/* Opens an event for all threads. Returns 0 if it is there for one, or an errno: one has no descriptors left, or none counts it. */
static int open_for_threads(struct set *s, const struct smp_env *env, struct smp_target t, const struct pmus *pmus,
	const struct tids *list, int slot)
{
	int rc = ESRCH, one;
	size_t i;

	for (i = 0; i < list->n; i++) {
		t.tid = list->tid[i];
		one = open_slot(s, env, &t, pmus, slot);
		if (one == EMFILE || one == ENFILE || one == ENOMEM) {
			return one;
		}
		/* a thread that has ended meanwhile is no reason */
		rc = one == 0 || (rc && one != ESRCH) ? one : rc;
	}
	return rc;
}

static void open_perf_events(struct set *s, const struct smp_env *env, const struct smp_target *t,
	const struct pmus *pmus, const struct tids *list, int *rc)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (s->event[i].what && s->event[i].of == (int)i) {
			rc[i] = open_for_threads(s, env, *t, pmus, list, (int)i);
		}
	}
}

/* Opens all events for the threads that there are. rc: an errno for each. Returns 0, or -1: no memory. */
static int open_all(
	struct set *s, const struct smp_env *env, const struct smp_target *t, const struct pmus *pmus, int *rc)
{
	struct tids list = { .tid = NULL }, after = { .tid = NULL };
	size_t i, k;
	int tries, is_new = 1;

	for (tries = 0; is_new && tries < MOST_TRIES; tries++) {
		close_perf_counters(s);
		list_tids(env, t, &list);
		open_perf_events(s, env, t, pmus, &list, rc);
		list_tids(env, t, &after);
		for (i = 0, is_new = 0; i < after.n && !is_new; i++) {
			for (k = 0; k < list.n && list.tid[k] != after.tid[i]; k++) {
			}
			is_new = k == list.n;
		}
	}
	free(list.tid);
	free(after.tid);
	return list.room ? 0 : -1;
}

static void close_set(void *set)
{
	struct set *s = set;

	close_perf_counters(s);
	free(s->c);
	free(s);
}

static void why_not_opened(
	const struct smp_perf_access *a, const struct smp_target *t, unsigned type, int errnum, char why[SMP_TEXT])
{
	char text[64];

	if ((errnum == EACCES || errnum == EPERM) && !a->software && t->pid != (int32_t)getpid()) {
		smp_why(why,
			"perf_event_open(2) of process %d: %s: it is not dumpable, or has another user. Not sampled; with "
			"SAMPLER thread it is read inside the program",
			(int)t->pid, smp_errno(errnum, text, sizeof(text)));
	} else {
		smp_perf_why(a, type, errnum, why);
	}
}

static void *open_set(const struct smp_env *env, const struct smp_target *target, const char *const *names, size_t n,
	char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	struct smp_target t = *target;
	struct smp_perf_access access;
	struct set *s = smp_live(env) ? new_set(n) : NULL;
	int *rc = calloc(n + 1, sizeof(*rc)), process;
	struct pmus pmus;
	size_t i;

	if (!s || !rc) {
		smp_why(why, smp_live(env) ? "no memory" : "a snapshot has no events");
		free(s);
		free(rc);
		return NULL;
	}
	t.pid = t.pid ? t.pid : (int32_t)getpid();
	s->multiplex = (env->flags & SMP_MULTIPLEX) != 0;
	find_pmus(env, &pmus);
	smp_perf_access(env, &access);
	for (i = 0; i < n; i++) {
		if (parse_perf_name(names[i], &s->event[i], &process) < 0) {
			s->event[i] = (struct event){ .of = (int)i };
			smp_why(why_each[i], "no such counter");
		} else {
			s->event[i].of = slot_of_id(s, (int)i);
		}
	}
	if (open_all(s, env, &t, &pmus, rc) < 0) {
		smp_why(why, "no memory");
		close_set(s);
		free(rc);
		return NULL;
	}
	for (i = 0; i < n; i++) {
		if (s->event[i].what && rc[s->event[i].of]) {
			why_not_opened(&access, &t, s->event[i].what->type, rc[s->event[i].of], why_each[i]);
		}
	}
	free(rc);
	return s;
}

/* ---- reading ------------------------------------------------------------------------------------- */

enum { MAX_GROUP = 64 };

/* The count of one descriptor: as it is, or estimated where others had the counter for a while. */
static void scale_count(struct set *s, struct counter *c, uint64_t raw, uint64_t enabled, uint64_t running)
{
	int slot = c->slot;

	/* never ran: a thread that slept has counted nothing; but a pinned event that could not run is an error,
	 * which read(2) has said by reading nothing */
	s->state[slot] |= SMP_VALID;
	if (running < enabled && running > 0 && s->multiplex && c->type == PERF_TYPE_HARDWARE) {
		raw = (uint64_t)((unsigned __int128)raw * enabled / running);
		s->state[slot] |= SMP_SCALED;
	}
	c->last = raw > c->last ? raw : c->last;
	s->sum[slot] += c->last;
	s->enabled[slot] += enabled;
	s->running[slot] += running;
}

/* Reads the group of leader i, or the one event that inherits. Returns 0 or -1. */
static int read_perf_group(struct set *s, size_t i)
{
	uint64_t buf[3 + MAX_GROUP];
	struct counter *leader = &s->c[i];
	int alone = leader->members == 1, k;
	ssize_t n = is_our_event(leader) ? read(leader->fd, buf, sizeof(buf)) : -1;
	size_t j;

	if (n < (ssize_t)(3 * sizeof(buf[0]))) {
		return -1;
	}
	if (n == (ssize_t)(3 * sizeof(buf[0])) && alone) {
		scale_count(s, leader, buf[0], buf[1], buf[2]);
		return 0;
	}
	for (j = i, k = 0; j < s->n_counters && k < leader->members && k < (int)buf[0]; j++) {
		if (s->c[j].type == leader->type && s->c[j].place == k && (k > 0 || j == i)) {
			scale_count(s, &s->c[j], buf[3 + k], buf[1], buf[2]);
			k++;
		}
	}
	return 0;
}

static int read_set(void *set, union smp_value *value, uint8_t *state)
{
	struct set *s = set;
	int valid = 0;
	size_t i;

	memset(s->sum, 0, s->n * 3 * sizeof(uint64_t));
	memset(s->state, 0, s->n);
	for (i = 0; i < s->n_counters; i++) {
		if (s->c[i].place == 0) {
			read_perf_group(s, i);
		}
	}
	for (i = 0; i < s->n; i++) {
		const struct event *e = &s->event[i];
		const uint64_t *from = e->timing == 0 ? s->sum : e->timing == 1 ? s->enabled : s->running;

		state[i] = e->timing && s->state[e->of] ? SMP_VALID : s->state[e->of];
		if (state[i]) {
			value[i].u = from[e->of];
			valid++;
		}
	}
	return valid;
}

static int descriptors(const void *set, int *fd, int most)
{
	const struct set *s = set;
	int n = 0;
	size_t i;

	for (i = 0; i < s->n_counters && n < most; i++) {
		if (is_our_event(&s->c[i])) {
			fd[n++] = s->c[i].fd;
		}
	}
	return n;
}

/* ---- listing ------------------------------------------------------------------------------------- */

/* Does the event open on this thread, and does it ever count? */
static void probe(const struct smp_env *env, const struct smp_perf_access *a, const struct smp_perf_event *e,
	const struct pmus *pmus, char why[SMP_TEXT])
{
	struct perf_event_attr attr;
	uint64_t buf[4];
	volatile int i;
	int fd, user = 0;

	why[0] = '\0';
	set_attr(&attr, e, env, 0);
	attr.config |= e->type == PERF_TYPE_HARDWARE && pmus->n ? (uint64_t)pmus->type[0] << 32 : 0;
	attr.pinned = e->type == PERF_TYPE_HARDWARE;
	fd = open_perf_event(&attr, 0, -1);
	if (fd < 0 && (errno == EACCES || errno == EPERM) && !attr.exclude_kernel) {
		user = attr.exclude_kernel = 1;
		fd = open_perf_event(&attr, 0, -1);
	}
	if (fd < 0) {
		smp_perf_why(a, e->type, errno, why);
		return;
	}
	for (i = 0; i < 10000; i++) {
	}
	if (attr.pinned && read(fd, buf, sizeof(buf)) == 0) {
		smp_perf_why(a, e->type, EBUSY, why);
	} else if (user && e->type == PERF_TYPE_SOFTWARE &&
		(e->config == PERF_COUNT_SW_CONTEXT_SWITCHES || e->config == PERF_COUNT_SW_CPU_MIGRATIONS)) {
		smp_why(why,
			"only user code may be counted (perf_event_paranoid is %d) and this happens in the kernel: "
			"thread_nvcsw and thread_nivcsw count switches; or set kernel.perf_event_paranoid to 1",
			a->paranoid);
	}
	close(fd);
}

static int list_perf_event(
	const struct smp_perf_event *e, const struct smp_env *env, const char *missing, smp_each each, void *ctx)
{
	static const char *const scope_suffix[] = { "", ":process" },
				 *const time_suffix[] = { "", ":enabled", ":running" };
	int times = (env->flags & SMP_MULTIPLEX) && e->type == PERF_TYPE_HARDWARE && !missing ? 3 : 1;
	char name[64], main_name[56];
	int process, t, rc = 0;

	for (process = 0; rc == 0 && process < 2; process++) {
		for (t = 0; rc == 0 && t < times; t++) {
			struct smp_counter c = {
				.name = name,
				.unit = t ? "ns" : e->unit,
				.missing = missing,
				.type = SMP_U64,
				.kind = SMP_TOTAL,
				.what = t == 0 ? e->what : smp_perf_time_what[t - 1],
				.scope = process ? SMP_PROCESS : SMP_THREAD,
				.with = t ? main_name : NULL,
			};

			snprintf(main_name, sizeof(main_name), "%s%s", e->name, scope_suffix[process]);
			snprintf(name, sizeof(name), "%s%s", main_name, time_suffix[t]);
			if (!t && strcmp(e->unit, "ns") == 0) {
				c.factor = 1e-7;
				c.shown_unit = "percent";
			}
			rc = each(&c, ctx);
		}
	}
	return rc;
}

static int list(const struct smp_env *env, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT])
{
	struct smp_perf_access access;
	char reason[SMP_TEXT];
	struct pmus pmus;
	size_t i;
	int rc = 0;

	(void)why;
	if (!tkm_glob_may_match(hint, "perf_")) {
		return 0;
	}
	find_pmus(env, &pmus);
	smp_perf_access(env, &access);
	for (i = 0; rc == 0 && i < smp_perf_n; i++) {
		const struct smp_perf_event *e = &smp_perf_events[i];

		if (tkm_glob_is_name(hint) && strncasecmp(hint, e->name, strcspn(hint, ":")) != 0) {
			continue;
		}
		if (!smp_live(env)) {
			smp_why(reason, "a snapshot has no events");
		} else {
			probe(env, &access, e, &pmus, reason);
		}
		rc = list_perf_event(e, env, reason[0] ? reason : NULL, each, ctx);
	}
	return rc;
}

void smp_perf_hardware(const struct smp_env *env, char why[SMP_TEXT])
{
	struct smp_perf_access access;
	struct pmus pmus;

	find_pmus(env, &pmus);
	smp_perf_access(env, &access);
	probe(env, &access, &smp_perf_events[0], &pmus, why);
}

const struct smp_source smp_perf = {
	.abi = VTSOURCE_ABI,
	.size = sizeof(struct smp_source),
	.name = "perf",
	.what = "kernel and CPU events of threads, by perf_event_open(2)",
	.list = list,
	.open = open_set,
	.read = read_set,
	.close = close_set,
	.descriptors = descriptors,
};
