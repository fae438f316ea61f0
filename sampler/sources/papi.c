/* SPDX-License-Identifier: BSD-3-Clause */
/* PAPI's preset and native events, under PAPI's names. A counter exists per thread if the component can be attached to a thread,
 * with ":process" for all threads that a process starts from then on; otherwise per process (sde) or per node. Each component has
 * an event set of its own: PAPI refuses mixed ones. The times ":enabled" and ":running" of events that take turns are read from
 * the perf events that PAPI has opened. */
#include "config.h"
#include "sampler/sources/papi_lib.h"

#include <ctype.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sampler/sources/perf.h"
#include "sampler/sources/perf_why.h"

enum { MAX_PARTS = 16, MAX_FDS = 64, NAME = 256 };
static const char process_suffix[] = ":process";
static const char *const time_suffix[] = { "", ":enabled", ":running" };

/* One component's event set. */
struct part {
	int component, set, running;
	int refused; /* PAPI's code: no set could be bound to the target, and one that is not would count the sampler */
	int sde;     /* shows -1 for what is not registered yet */
	const struct smp_sde *direct; /* reads it without PAPI; `place` is then libsde's code */
	size_t n;
};

struct papi_set {
	const struct smp_papi *papi;
	pid_t owner;
	size_t n, n_parts;
	int in_order; /* one part that holds all values in the order of the set */
	uint8_t state;
	int64_t unregistered; /* a value that means none: -1 of sde; what no counter reaches elsewhere */
	struct part part[MAX_PARTS];
	int n_fds; /* perf events that PAPI opened for the set */
	struct {
		int fd;
		uint64_t id;
	} fd[MAX_FDS];
	long long *buf;
	int *part_of, *place;           /* of each value; part -1: not opened */
	int *timing;                    /* 0 the count, 1 time enabled, 2 time running */
	int *fd_of;                     /* which of fd[] counts the event alone; -1: several do */
	int native[MAX_FDS], n_natives; /* codes of what counts the set's events, in PAPI's order, that of fd[] */
};

/* 1 or 2 for a name with a time's suffix, else 0; *len is that of the name without it. */
static int timing_of(const char *name, size_t *len)
{
	size_t tail;
	int t;

	*len = strlen(name);
	for (t = 2; t > 0; t--) {
		tail = strlen(time_suffix[t]);
		if (*len > tail && strcmp(name + *len - tail, time_suffix[t]) == 0) {
			*len -= tail;
			break;
		}
	}
	return t;
}

static int is_process(const char *name)
{
	size_t len, tail = sizeof(process_suffix) - 1;

	timing_of(name, &len);
	return len > tail && memcmp(name + len - tail, process_suffix, tail) == 0;
}

static void bare_name(char buf[NAME], const char *name)
{
	size_t len;

	timing_of(name, &len);
	snprintf(buf, NAME, "%.*s", (int)len - (is_process(name) ? (int)sizeof(process_suffix) - 1 : 0), name);
}

/* Every perf event answers this call; other files refuse it without harm. */
static uint64_t event_id(int fd)
{
	uint64_t id = 0;

	return ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0 ? id : 0;
}

/* ---- the descriptors that PAPI opens ------------------------------------------------------------- */

struct fd_list {
	int n, fd[256];
};

static int add_fd(const char *name, void *ctx)
{
	struct fd_list *l = ctx;
	int fd = atoi(name);

	if (event_id(fd) && l->n < (int)(sizeof(l->fd) / sizeof(l->fd[0]))) {
		l->fd[l->n++] = fd;
	}
	return 0;
}

static void find_fds(const struct smp_env *env, struct fd_list *l)
{
	int root = smp_root(env);

	l->n = 0;
	if (root >= 0) {
		/* a thread may have a table of its own */
		smp_dir_each(root, "/proc/thread-self/fd", add_fd, l);
		close(root);
	}
}

static void remember_fds(struct papi_set *s, const struct fd_list *before, const struct fd_list *after)
{
	int i, k;

	for (i = 0; i < after->n && s->n_fds < MAX_FDS; i++) {
		for (k = 0; k < before->n && before->fd[k] != after->fd[i]; k++) {
		}
		if (k == before->n) {
			fcntl(after->fd[i], F_SETFD, FD_CLOEXEC);
			s->fd[s->n_fds].id = event_id(after->fd[i]);
			s->fd[s->n_fds++].fd = after->fd[i];
		}
	}
}

/* Are the descriptors still ours? A program that closes all may have files of its own under these numbers. */
static int still_ours(const struct papi_set *s)
{
	int i;

	for (i = 0; i < s->n_fds; i++) {
		if (event_id(s->fd[i].fd) != s->fd[i].id) {
			return 0;
		}
	}
	return 1;
}

/* ---- opening ------------------------------------------------------------------------------------- */

static int component_of(const struct smp_papi *papi, const char *name, int *code)
{
	char bare[NAME];
	int rc;

	bare_name(bare, name);
	rc = papi->event_name_to_code(bare, code);
	return rc == PAPI_OK ? papi->get_event_component(*code) : rc;
}

static enum smp_scope scope_of_event(const PAPI_component_info_t *info)
{
	static const char *const of_process[] = { "sde", "appio", "io", NULL };
	int i;

	if (!info) {
		return SMP_NODE;
	}
	for (i = 0; of_process[i]; i++) {
		if (strcmp(info->name, of_process[i]) == 0) {
			return SMP_PROCESS;
		}
	}
	return strcmp(info->name, "perf_event") == 0 ? SMP_THREAD : SMP_NODE;
}

static struct part *part_for(struct papi_set *s, int component)
{
	const PAPI_component_info_t *info;
	size_t i;

	for (i = 0; i < s->n_parts; i++) {
		if (s->part[i].component == component) {
			return &s->part[i];
		}
	}
	if (s->n_parts == MAX_PARTS) {
		return NULL;
	}
	info = s->papi->get_component_info(component);
	s->part[s->n_parts] = (struct part){
		.component = component,
		.set = PAPI_NULL,
		.sde = info && strcmp(info->name, "sde") == 0,
	};
	if (s->part[s->n_parts].sde) {
		s->part[s->n_parts].direct = smp_sde_get();
	}
	return &s->part[s->n_parts++];
}

static int set_domain(const struct smp_papi *papi, int set, int domain)
{
	PAPI_option_t opt;

	memset(&opt, 0, sizeof(opt));
	opt.domain.eventset = set;
	opt.domain.domain = domain;
	return papi->set_opt(PAPI_DOMAIN, &opt);
}

static int set_inherit(const struct smp_papi *papi, int set)
{
	PAPI_option_t opt;

	memset(&opt, 0, sizeof(opt));
	opt.inherit.eventset = set;
	opt.inherit.inherit = PAPI_INHERIT_ALL;
	return papi->set_opt(PAPI_INHERIT, &opt);
}

/* Adds a software-defined event that is read without PAPI. Returns PAPI's code. */
static int add_direct(struct papi_set *s, struct part *p, const char *name, size_t i)
{
	static const char prefix[] = "sde:::";
	uint32_t code = 0;

	name += strncmp(name, prefix, sizeof(prefix) - 1) == 0 ? sizeof(prefix) - 1 : 0;
	if (p->direct->name_to_code(name, &code) != 0) {
		return PAPI_ENOEVNT;
	}
	s->place[i] = (int)code;
	p->running = 1;
	return PAPI_OK;
}

/* An empty event set of the component, bound to the target. Returns PAPI's code. */
static int bind(const struct smp_papi *papi, struct part *p, const struct smp_env *env, const struct smp_target *t)
{
	enum smp_scope scope = scope_of_event(papi->get_component_info(p->component));
	int32_t tid = t->scope == SMP_THREAD && t->tid ? t->tid : t->pid ? t->pid : (int32_t)getpid();
	int rc = papi->create_eventset(&p->set);

	if (rc == PAPI_OK) {
		rc = papi->assign_eventset_component(p->set, p->component);
	}
	if (rc != PAPI_OK || scope != SMP_THREAD) {
		return rc;
	}
	if (env->flags & SMP_MULTIPLEX) {
		rc = papi->multiplex_init();
		rc = rc == PAPI_OK ? papi->set_multiplex(p->set) : rc;
	}
	if (rc == PAPI_OK && (env->flags & SMP_COUNT_KERNEL)) {
		set_domain(papi, p->set, PAPI_DOM_ALL);
	}
	if (rc == PAPI_OK && t->scope == SMP_PROCESS) {
		rc = set_inherit(papi, p->set);
	}
	/* PAPI attaches only where the CPU counts instructions; the thread that asks needs not be attached, unless others read
	 * its set: PAPI would do that with rdpmc, which shows them the counters of their own CPU */
	if (rc == PAPI_OK && (tid != (int32_t)gettid() || (env->flags & SMP_SHARED && t->scope == SMP_THREAD))) {
		rc = papi->attach(p->set, (unsigned long)tid);
	}
	return rc;
}

static void drop(const struct smp_papi *papi, struct part *p)
{
	long long values[512];

	if (p->set == PAPI_NULL) {
		return;
	}
	if (p->running) {
		papi->stop(p->set, p->n <= sizeof(values) / sizeof(values[0]) ? values : NULL);
	}
	papi->cleanup_eventset(p->set);
	papi->destroy_eventset(&p->set);
	p->set = PAPI_NULL;
	p->running = 0;
}

/* Explains a failure: what PAPI reports, and what the kernel reports if PAPI only knows that it failed. */
static void explain_papi_error(
	const struct smp_papi *papi, const struct smp_env *env, const char *name, int rc, char why[SMP_TEXT])
{
	char hardware[SMP_TEXT] = "";

	if (strncmp(name, "sde::", 5) != 0) {
		smp_perf_hardware(env, hardware);
	}
	if (hardware[0]) {
		smp_why(why, "%s", hardware);
	} else if (rc == PAPI_ECNFLCT || rc == PAPI_ECOUNT) {
		smp_why(why,
			"the CPU cannot count this one together with those before it: choose fewer events, or let them "
			"take turns "
			"(multiplexing), which makes them estimates");
	} else if (strncmp(name, "sde::", 5) == 0) {
		smp_why(why, "%s; PAPI's sde component needs libsde.so.1 (Debian: libsde1)", papi->strerror(rc));
	} else if (rc == PAPI_ENOEVNT) {
		smp_why(why,
			"PAPI does not know it on this CPU, or libpfm4 does not know the CPU: papi_avail and "
			"papi_native_avail list what there is");
	} else if (rc == PAPI_EISRUN) {
		smp_why(why, "PAPI runs one event set per thread and component, and the program itself uses it");
	} else {
		smp_why(why, "PAPI: %s", papi->strerror(rc));
	}
}

/* A count and its times are one event. Returns 1 if value i is of one that is there. */
static int same_event(struct papi_set *s, const char *const *names, size_t i)
{
	char mine[NAME], other[NAME];
	size_t k;

	bare_name(mine, names[i]);
	for (k = 0; k < i; k++) {
		bare_name(other, names[k]);
		if (s->part_of[k] >= 0 && strcmp(mine, other) == 0) {
			s->part_of[i] = s->part_of[k];
			s->place[i] = s->place[k];
			s->fd_of[i] = s->fd_of[k];
			return 1;
		}
	}
	return 0;
}

/* Notes what PAPI counts event i with; what two events have in common is counted once. */
static void note_natives(struct papi_set *s, size_t i, int code, PAPI_event_info_t *info)
{
	int preset = ((unsigned)code & (unsigned)PAPI_PRESET_MASK) != 0, at = 0;
	unsigned k, n = 1;

	s->fd_of[i] = -1;
	if (preset) {
		n = s->papi->get_event_info(code, info) == PAPI_OK && info->count <= PAPI_MAX_INFO_TERMS ? info->count
													 : 0;
	}
	for (k = 0; k < n; k++) {
		int own = preset ? (int)info->code[k] : code;

		for (at = 0; at < s->n_natives && s->native[at] != own; at++) {
		}
		if (at == s->n_natives && at < MAX_FDS) {
			s->native[s->n_natives++] = own;
		}
	}
	s->fd_of[i] = n == 1 && at < MAX_FDS ? at : -1;
}

static void add_events(struct papi_set *s, const struct smp_env *env, const struct smp_target *t,
	const char *const *names, char (*why_each)[SMP_TEXT])
{
	/* only events that take turns have times */
	PAPI_event_info_t *info = env->flags & SMP_MULTIPLEX ? calloc(1, sizeof(*info)) : NULL;
	size_t i, len;
	int code, component, rc;

	for (i = 0; i < s->n; i++) {
		struct part *p;

		s->part_of[i] = -1;
		s->timing[i] = timing_of(names[i], &len);
		if (same_event(s, names, i)) {
			continue;
		}
		component = component_of(s->papi, names[i], &code);
		if (component < 0) {
			explain_papi_error(s->papi, env, names[i], component, why_each[i]);
			continue;
		}
		p = part_for(s, component);
		rc = p ? PAPI_OK : PAPI_ENOMEM;
		if (p && p->direct) {
			rc = add_direct(s, p, names[i], i);
		} else if (p && p->set == PAPI_NULL && p->refused == PAPI_OK) {
			p->refused = bind(s->papi, p, env, t);
		}
		if (p && p->refused != PAPI_OK) {
			drop(s->papi, p);
			rc = p->refused;
		}
		if (rc == PAPI_OK && !p->direct) {
			rc = s->papi->add_event(p->set, code);
		}
		if (rc != PAPI_OK) {
			explain_papi_error(s->papi, env, names[i], rc, why_each[i]);
			continue;
		}
		s->part_of[i] = (int)(p - s->part);
		if (!p->direct) {
			s->place[i] = (int)p->n++;
		}
		if (info && !p->direct) {
			note_natives(s, i, code, info);
		}
	}
	free(info);
}

static void start_parts(
	struct papi_set *s, const struct smp_env *env, const char *const *names, char (*why_each)[SMP_TEXT])
{
	size_t i, k;
	int rc;

	for (i = 0; i < s->n_parts; i++) {
		struct part *p = &s->part[i];

		if (p->direct) {
			continue;
		}
		rc = p->n ? s->papi->start(p->set) : PAPI_OK;
		p->running = p->n && rc == PAPI_OK;
		for (k = 0; rc != PAPI_OK && k < s->n; k++) {
			if (s->part_of[k] == (int)i) {
				explain_papi_error(s->papi, env, names[k], rc, why_each[k]);
				s->part_of[k] = -1;
			}
		}
	}
}

/* The descriptors are in the order in which PAPI opened them, which is that of what it counts with. */
static void find_times(struct papi_set *s, char (*why_each)[SMP_TEXT])
{
	int found = s->n_parts == 1 && s->n_fds == s->n_natives;
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (s->timing[i] && s->part_of[i] >= 0 && (!found || s->fd_of[i] < 0)) {
			s->part_of[i] = -1;
			smp_why(why_each[i],
				"PAPI counts it with several events of the kernel, each of which has its own times");
		}
	}
}

static void close_set(void *set)
{
	struct papi_set *s = set;
	size_t i;

	/* a child of the program shares the events with it: stopping them would stop them there */
	for (i = 0; s->owner == getpid() && still_ours(s) && i < s->n_parts; i++) {
		drop(s->papi, &s->part[i]);
	}
	free(s);
}

static void *open_set(const struct smp_env *env, const struct smp_target *target, const char *const *names, size_t n,
	char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	const struct smp_papi *papi = smp_papi_get(env, why);
	struct fd_list *fds;
	struct papi_set *s = papi ? calloc(1, sizeof(*s) + n * (sizeof(long long) + 4 * sizeof(int))) : NULL;
	size_t i;

	if (!s) {
		if (papi) {
			smp_why(why, "no memory");
		}
		return NULL;
	}
	s->papi = papi;
	s->owner = getpid();
	s->n = n;
	s->buf = (long long *)(s + 1);
	s->part_of = (int *)(s->buf + n);
	s->place = s->part_of + n;
	s->timing = s->place + n;
	s->fd_of = s->timing + n;
	fds = calloc(1, 2 * sizeof(*fds));
	if (fds) {
		find_fds(env, &fds[0]);
		add_events(s, env, target, names, why_each);
		start_parts(s, env, names, why_each);
		find_fds(env, &fds[1]);
		remember_fds(s, &fds[0], &fds[1]);
		find_times(s, why_each);
		free(fds);
	}
	s->state = SMP_VALID | (env->flags & SMP_MULTIPLEX && target->scope != SMP_NODE ? SMP_SCALED : 0);
	s->in_order = s->n_parts == 1 && !s->part[0].direct && s->part[0].running && s->part[0].n == n;
	s->unregistered = s->n_parts && s->part[0].sde ? -1 : INT64_MIN;
	for (i = 0; i < n; i++) {
		s->in_order &= s->timing[i] == 0; /* times without the count */
	}
	return s;
}

/* ---- reading ------------------------------------------------------------------------------------- */

static int read_direct(const struct papi_set *s, const struct part *p, union smp_value *value, uint8_t *state)
{
	long long v;
	size_t i;
	int valid = 0;

	for (i = 0; i < s->n; i++) {
		if (s->part_of[i] == (int)(p - s->part) && p->direct->read_counter((uint32_t)s->place[i], &v) == 0 &&
			v != -1) {
			value[i].i = v;
			state[i] = s->state;
			valid++;
		}
	}
	return valid;
}

/* The kernel's times of a descriptor, in ns. Returns 0 or -1. */
static int read_time(const struct papi_set *s, int which, int timing, uint64_t *ns)
{
	/* the count, and the times after it; of a group, how many it has, the times and the count */
	uint64_t buf[4];
	ssize_t n = read(s->fd[which].fd, buf, sizeof(buf));

	if (n < (ssize_t)(3 * sizeof(buf[0]))) {
		return -1;
	}
	*ns = buf[timing];
	return 0;
}

static int read_event_set(struct papi_set *s, struct part *p, union smp_value *value, uint8_t *state)
{
	size_t i;
	int valid = 0;

	if (p->running && p->direct) {
		return read_direct(s, p, value, state);
	}
	if (!p->running || s->papi->read(p->set, s->buf) != PAPI_OK) {
		return 0;
	}
	for (i = 0; i < s->n; i++) {
		if (s->part_of[i] != (int)(p - s->part)) {
			continue;
		}
		if (s->timing[i]) {
			state[i] = read_time(s, s->fd_of[i], s->timing[i], &value[i].u) == 0 ? SMP_VALID : 0;
			valid += state[i] != 0;
		} else if (!(p->sde && s->buf[s->place[i]] == -1)) {
			value[i].i = s->buf[s->place[i]];
			state[i] = s->state;
			valid++;
		}
	}
	return valid;
}

static int read_set(void *set, union smp_value *value, uint8_t *state)
{
	struct papi_set *s = set;
	int valid = 0;
	size_t i;

	_Static_assert(sizeof(*value) == sizeof(long long), "PAPI writes the values where they belong");
	if (s->n_fds && !still_ours(s)) {
		return 0;
	}
	smp_papi_enter(s->papi);
	if (s->in_order) {
		if (s->papi->read(s->part[0].set, (long long *)value) != PAPI_OK) {
			return 0;
		}
		for (i = 0; i < s->n; i++) {
			state[i] = value[i].i == s->unregistered ? 0 : s->state;
			valid += state[i] != 0;
		}
		return valid;
	}
	for (i = 0; i < s->n_parts; i++) {
		valid += read_event_set(s, &s->part[i], value, state);
	}
	return valid;
}

static int descriptors(const void *set, int *fd, int most)
{
	const struct papi_set *s = set;
	int i, n = 0;

	for (i = 0; i < s->n_fds && n < most; i++) {
		if (event_id(s->fd[i].fd) == s->fd[i].id) {
			fd[n++] = s->fd[i].fd;
		}
	}
	return n;
}

/* ---- listing ------------------------------------------------------------------------------------- */

struct lister {
	const struct smp_papi *papi;
	const struct smp_env *env;
	const char *hint;
	smp_each each;
	void *ctx;
	PAPI_event_info_t *info;
};

/* Presets that are listed, events that are named, components that are active: nothing proves that an event
 * counts until it is added and started. */
static int try_event(const struct lister *l, int code, int component)
{
	struct smp_target self = { SMP_THREAD, getpid(), (int32_t)gettid() };
	struct part p = { .component = component, .set = PAPI_NULL };
	int rc = bind(l->papi, &p, l->env, &self);

	rc = rc == PAPI_OK ? l->papi->add_event(p.set, code) : rc;
	p.n = 1;
	drop(l->papi, &p);
	return rc;
}

/* One event, as thread and process counter if it is one of a thread. rc: why it cannot be had, or PAPI_OK. */
static int list_papi_event(
	const struct lister *l, const char *name, int component, const char *what, const char *unit, int rc)
{
	const PAPI_component_info_t *info = component >= 0 ? l->papi->get_component_info(component) : NULL;
	enum smp_scope scope = info && strncmp(name, "PAPI_", 5) != 0 ? scope_of_event(info) : SMP_THREAD;
	int sde = info && strcmp(info->name, "sde") == 0, stop = 0, i, t, times;
	char full[NAME + 24], of[NAME + sizeof(process_suffix)], why[SMP_TEXT] = "";

	if (rc != PAPI_OK) {
		explain_papi_error(l->papi, l->env, name, rc, why);
	} else if (info && scope == SMP_NODE && strncmp(name, "perf::", 6) == 0) {
		/* without a PMU PAPI takes the kernel's software events for uncore ones, and counts the caller */
		smp_why(why,
			"PAPI cannot bind it to a thread on this machine; perf_task_clock, perf_page_faults and the "
			"other perf_* "
			"counters are the same events");
		scope = SMP_THREAD;
	}
	times = (l->env->flags & SMP_MULTIPLEX) && scope == SMP_THREAD && !why[0] ? 3 : 1;
	for (i = 0; stop == 0 && i < (scope == SMP_THREAD ? 2 : 1); i++) {
		snprintf(of, sizeof(of), "%s%s", name, i ? process_suffix : "");
		for (t = 0; stop == 0 && t < times; t++) {
			/* of a software-defined event PAPI does not say whether it counts or shows a level */
			struct smp_counter c = {
				.name = full,
				.unit = t                 ? "ns"
					: unit && unit[0] ? unit
							  : "events",
				.what = t == 0 ? what : smp_perf_time_what[t - 1],
				.missing = why[0] ? why : NULL,
				.scope = i ? SMP_PROCESS : scope,
				.type = sde ? SMP_I64 : SMP_U64,
				.kind = sde ? SMP_LEVEL : SMP_TOTAL,
				.with = t ? of : NULL,
			};

			snprintf(full, sizeof(full), "%s%s", of, time_suffix[t]);
			stop = l->each(&c, l->ctx);
		}
	}
	return stop;
}

static int list_code(const struct lister *l, int code)
{
	PAPI_event_info_t *info = l->info;
	const char *what;
	int component = l->papi->get_event_component(code);

	if (component < 0 || l->papi->get_event_info(code, info) != PAPI_OK) {
		return 0;
	}
	if (!tkm_glob_match(l->hint, info->symbol) && !strstr(l->hint, process_suffix)) {
		return 0;
	}
	what = info->long_descr[0] ? info->long_descr : info->short_descr;
	return list_papi_event(l, info->symbol, component, what, info->units,
		l->env->flags & SMP_FAST ? PAPI_OK : try_event(l, code, component));
}

static int list_missing(const struct lister *l, const char *why)
{
	static const char *const expected[] = { "PAPI_TOT_CYC", "PAPI_TOT_INS", NULL };
	char bare[NAME];
	struct smp_counter c = { .unit = "events", .what = "", .missing = why, .scope = SMP_THREAD, .type = SMP_U64 };
	int i, rc = 0;

	if (tkm_glob_is_name(l->hint)) {
		bare_name(bare, l->hint);
		c.name = is_process(l->hint) ? l->hint : bare;
		c.scope = is_process(l->hint) ? SMP_PROCESS : SMP_THREAD;
		return l->each(&c, l->ctx);
	}
	for (i = 0; rc == 0 && expected[i]; i++) {
		c.name = expected[i];
		rc = l->each(&c, l->ctx);
	}
	return rc;
}

/* If no preset counts on this machine, the usual ones are listed as missing, with the reason. */
static int list_presets(const struct lister *l)
{
	int code = (int)PAPI_PRESET_MASK, rc = l->papi->enum_event(&code, PAPI_ENUM_FIRST), stop = 0, found = 0;
	char why[SMP_TEXT] = "";

	while (rc == PAPI_OK && stop == 0) {
		if (l->papi->get_event_info(code, l->info) == PAPI_OK && l->info->count > 0) {
			stop = list_code(l, code);
			found = 1;
		}
		rc = l->papi->enum_event(&code, PAPI_PRESET_ENUM_AVAIL);
	}
	if (found) {
		return stop;
	}
	explain_papi_error(l->papi, l->env, "PAPI_TOT_INS", PAPI_ENOEVNT, why);
	return list_missing(l, why);
}

static int list_natives(const struct lister *l)
{
	int cidx, n = l->papi->num_components(), code, rc, stop = 0;

	for (cidx = 0; stop == 0 && cidx < n; cidx++) {
		const PAPI_component_info_t *info = l->papi->get_component_info(cidx);

		if (!info || info->disabled) {
			continue;
		}
		code = (int)PAPI_NATIVE_MASK;
		rc = l->papi->enum_cmp_event(&code, PAPI_ENUM_FIRST, cidx);
		while (rc == PAPI_OK && stop == 0) {
			stop = list_code(l, code);
			rc = l->papi->enum_cmp_event(&code, PAPI_ENUM_EVENTS, cidx);
		}
	}
	return stop;
}

static int list_name(const struct lister *l)
{
	char bare[NAME];
	int code, component = component_of(l->papi, l->hint, &code);
	const char *what = "", *unit = "";

	bare_name(bare, l->hint);
	if (component < 0) {
		return list_papi_event(l, bare, -1, "", "", component);
	}
	if (l->papi->get_event_info(code, l->info) == PAPI_OK) {
		what = l->info->long_descr[0] ? l->info->long_descr : l->info->short_descr;
		unit = l->info->units;
	}
	return list_papi_event(l, bare, component, what, unit, try_event(l, code, component));
}

/* Only PAPI's names begin with a capital or hold "::". */
static int may_be_ours(const char *hint)
{
	return strstr(hint, "::") || strstr(hint, "**") || isupper((unsigned char)hint[0]) || strchr("*?[", hint[0]);
}

static int list(const struct smp_env *env, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT])
{
	struct lister l = { NULL, env, hint, each, ctx, NULL };
	int rc;

	if (!may_be_ours(hint)) {
		return 0;
	}
	l.papi = smp_papi_get(env, why);
	if (!l.papi) {
		return list_missing(&l, why);
	}
	l.info = calloc(1, sizeof(*l.info));
	if (!l.info) {
		return smp_why(why, "no memory");
	}
	rc = tkm_glob_is_name(hint) ? list_name(&l) : list_presets(&l);
	if (rc == 0 && !tkm_glob_is_name(hint)) {
		rc = list_natives(&l);
	}
	free(l.info);
	return rc;
}

const struct smp_source smp_papi = {
	.abi = VTSOURCE_ABI,
	.size = sizeof(struct smp_source),
	.name = "papi",
	.what = "preset and native events of PAPI, software-defined ones too",
	.list = list,
	.open = open_set,
	.read = read_set,
	.close = close_set,
	.descriptors = descriptors,
};
