/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles a measured process from its attachment to its end. */
#include "config.h"
#include "collector-plugin/vtsampler/vtsampler.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "base/text/ends.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/merge/merge.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/process.h"
#include "collector-plugin/raw/reader.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/run/finish.h"
#include "collector-plugin/run/left.h"
#include "collector-plugin/sample/sample.h"
#include "collector-plugin/settings/formats.h"
#include "collector-plugin/settings/run_value.h"

/* ---- what the process has sent ---- */

const char *vt_measured_text(const struct vt_measured *p, const char *key, int n)
{
	const char *at = p->texts, *end = p->texts + p->texts_size, *value;

	while (at < end) {
		value = at + strlen(at) + 1;
		if (value >= end) {
			return NULL;
		}
		if (!strcmp(at, key) && n-- == 0) {
			return value;
		}
		at = value + strlen(value) + 1;
	}
	return NULL;
}

static void copy_sent_text(const struct vt_measured *p, const char *key, char *to, size_t size)
{
	const char *text = vt_measured_text(p, key, 0);

	snprintf(to, size, "%s", text ? text : "");
}

static long long integer_text(const struct vt_measured *p, const char *key)
{
	const char *text = vt_measured_text(p, key, 0);

	return text ? strtoll(text, NULL, 10) : 0;
}

static int take_settings(struct vt_measured *p)
{
	struct vt_collector *c = &p->c;
	const char *text;
	int n;

	for (n = 0; vt_measured_text(p, "env", n); n++) {
	}
	c->variables = calloc((size_t)n + 1, sizeof(*c->variables));
	if (!c->variables) {
		return -1;
	}
	while (n-- > 0) {
		c->variables[n] = (char *)(uintptr_t)vt_measured_text(p, "env", n);
	}
	copy_sent_text(p, "run", c->run, sizeof(c->run));
	copy_sent_text(p, "commanded", c->commanded, sizeof(c->commanded));
	copy_sent_text(p, "config_name", c->config_name, sizeof(c->config_name));
	copy_sent_text(p, "program", c->program, sizeof(c->program));
	copy_sent_text(p, "trace", c->trace, sizeof(c->trace));
	copy_sent_text(p, "prot", c->prot, sizeof(c->prot));
	copy_sent_text(p, "raw", c->raw_path, sizeof(c->raw_path));
	copy_sent_text(p, "job", c->job, sizeof(c->job));
	c->pid = p->pid;
	c->pub.rank = (int)integer_text(p, "rank");
	c->pub.ranks = (int)integer_text(p, "ranks");
	c->single = (int)integer_text(p, "single");
	text = vt_measured_text(p, "format", 0);
	c->format = text ? vt_format_by_name(text) : NULL;
	p->planned = (int)integer_text(p, "planned");
	c->first_id = p->planned ? VT_ID_FIRST_VTSAMPLER : VT_ID_FIRST_PLANNED;
	copy_sent_text(p, "inside", c->inside_why, sizeof(c->inside_why));
	c->has_vtsampler = !c->inside_why[0];
	c->merge = vt_merge_recorded;
	c->write_protocol = vt_collect_protocol;
	vt_settings_init(&c->settings);
	vt_settings_of_run(&c->settings, c->run);
	c->settings.imbalance = (int)integer_text(p, "imbalance");
	c->settings.variables = c->variables;
	text = vt_measured_text(p, "config", 0);
	c->settings.config_text = text;
	c->settings.config_size = text ? strlen(text) : 0;
	c->settings.config_name = c->config_name;
	vt_settings_load(&c->settings, c->commanded);
	return 0;
}

/* Opens the program's timer. It must show the same here as in the program; a library that changes the program's view
 * of the time is not loaded here. */
static int open_programs_timer(struct vt_measured *p, struct tkm_err *err)
{
	const char *name = vt_measured_text(p, "timer", 0);
	struct tmr_timer *t = tmr_open(name ? name : "", p->c.pub.rank > 0 ? p->c.pub.rank : 0, err);
	int64_t there = (int64_t)integer_text(p, "tick");
	double later;

	if (!t) {
		return -1;
	}
	later = (double)ltick_sub(tmr_read(t), ltick(there)) * tmr_period(t);
	if ((t->scope == TMR_SCOPE_PROCESS && !(t->flags & TMR_SIMULATED)) || !t->shareable ||
		!(later >= -0.001 && later < 60)) {
		tmr_close(t);
		return tkm_fail(err, TKM_ERR_UNAVAIL, "the clock %s shows something else in another process", name);
	}
	snprintf(p->c.timer_name, sizeof(p->c.timer_name), "%s", name);
	p->c.settings.timer = p->c.settings.timer ? p->c.settings.timer : p->c.timer_name; /* for the protocol */
	p->c.pub.timer = t;
	return 0;
}

/* TIMER LIST: prints all timers of the node, for the first rank. */
static void list_programs_timers(const struct vt_collector *c)
{
	char *text = NULL, *rest, *line;
	size_t size;
	FILE *f;

	if (strcasecmp(c->settings.timer, "LIST") || c->pub.rank > 0 || vt_run_child(c->run, (int)c->pid)) {
		return;
	}
	f = open_memstream(&text, &size);
	if (f) {
		tmr_list(f);
		fclose(f);
	}
	for (rest = text; rest && (line = strsep(&rest, "\n")) && *line;) {
		vt_say(1, "INFO", "%s", line);
	}
	free(text);
}

static int open_raw(struct vt_measured *p, int fd, struct tkm_err *err)
{
	struct vt_collector *c = &p->c;
	struct vt_raw_options o = vt_raw_options_of(c);
	struct vt_raw *raw = vt_raw_attach(fd, &o, err);

	c->pub.raw = raw;
	if (!raw) {
		return -1;
	}
	c->pub.start = ltick(vt_raw_head(raw)->start_tick);
	c->pub.start_realtime_ns = vt_raw_head(raw)->start_realtime_ns;
	return 0;
}

static int open_counters(struct vt_measured *p, struct tkm_err *err)
{
	struct vt_collector *c = &p->c;
	long long verbose = c->settings.verbose;
	struct tkm_err e;

	/* a program that plans its own counters has reported the missing ones */
	c->settings.verbose = p->planned ? 0 : verbose;
	if (vt_collect_plan(c, &e) < 0) {
		vt_say(1, "WARNING", "no counters: %s", e.text);
	}
	p->s = vt_sampler_new(c, &vt_measured_sampler_ops, p);
	if (!p->s) {
		return tkm_fail(err, TKM_ERR_NOMEM, "no memory");
	}
	p->s->root = tkm_root_open("/");
	p->s->process = vt_target_new(p->s, &p->s->book, SMP_PROCESS, 0, 0, NULL);
	c->settings.verbose = verbose;
	if (p->planned) {
		vt_plan_report_nvml(c);
	}
	return 0;
}

static int open_process_file(const struct vt_measured *p, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)p->pid, name);
	return tkm_root_openat(p->s->root, path);
}

static void count_gap(struct vt_measured *p, int after_another)
{
	int went_on = atomic_load(&vt_raw_head(p->c.pub.raw)->late) != 0;
	double gap_s = (double)ltick_sub(vt_ticks_now(&p->c.pub), p->c.pub.start) * tmr_period(p->c.pub.timer);
	char text[120];

	if (after_another) {
		vt_raw_comment(p->s->stream, vt_ticks_now(&p->c.pub), 0,
			"sampler: no samples since the sampler process before this one was killed");
	} else if (went_on) {
		snprintf(text, sizeof(text),
			"sampler: no samples of the first %.6f s: the sampler process was not ready", gap_s);
		vt_raw_comment(p->s->stream, vt_ticks_now(&p->c.pub), 0, text);
	}
}

/* watched: it samples itself, perhaps by a timer that only it can read. */
static struct vt_measured *new_measured(pid_t pid, char *texts, size_t size, int raw, int watched, struct tkm_err *err)
{
	struct vt_measured *p = calloc(1, sizeof(*p));

	if (!p) {
		close(raw);
		free(texts);
		tkm_fail(err, TKM_ERR_NOMEM, "no memory for one more process");
		return NULL;
	}
	p->pid = pid;
	p->pidfd = p->stat = p->err = -1;
	p->seccomp = -1;
	p->texts = texts;
	p->texts_size = size;
	vt_say_to_measured(p);
	if (take_settings(p) < 0 || (!watched && open_programs_timer(p, err) < 0) || open_raw(p, raw, err) < 0) {
		if (!p->c.pub.raw) {
			close(raw);
		}
		vt_measured_free(p);
		return NULL;
	}
	vt_measured_find_stderr(p);
	return p;
}

struct vt_measured *vt_measured_watch(pid_t pid, char *texts, size_t size, int raw)
{
	struct tkm_err err;
	struct vt_measured *p = new_measured(pid, texts, size, raw, 1, &err);
	char path[64];

	if (p) {
		p->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
		p->stat = open(path, O_RDONLY | O_CLOEXEC);
	}
	vt_say_to_measured(NULL);
	return p;
}

struct vt_measured *vt_measured_attach(pid_t pid, char *texts, size_t size, int raw, struct tkm_err *err)
{
	struct vt_measured *p = new_measured(pid, texts, size, raw, 0, err);
	int32_t before;

	if (!p) {
		return NULL;
	}
	if (open_counters(p, err) < 0) {
		vt_measured_free(p);
		return NULL;
	}
	list_programs_timers(&p->c);
	p->stat = open_process_file(p, "stat");
	p->s->task = open_process_file(p, "task");
	vt_started_open(p);
	p->c.account.started_ns = vt_now_ns(CLOCK_MONOTONIC);
	vt_sampler_begin(p->s, p->c.account.started_ns);
	vt_raw_head(p->c.pub.raw)->sampler_id = vt_raw_own_id();
	before = atomic_exchange(&vt_raw_head(p->c.pub.raw)->sampler, (int32_t)getpid());
	if (before) {
		p->s->cpu_before = vt_raise_total(p->s->total_cpu, 0);
	}
	/* the program waits until the counters of all its threads are open */
	vt_sampler_list_threads(p->s);
	count_gap(p, before != 0);
	return p;
}

/* ---- its end ---- */

/* The exit status of a process that its parent has waited for; -1: unknown. ioctl_pidfd(2), since Linux 6.15. */
static int status_of_reaped(int pidfd)
{
	struct {
		uint64_t mask, cgroup;
		uint32_t ids[11];
		int32_t exit_code;
	} info = { .mask = 1 << 3 }; /* PIDFD_INFO_EXIT */

	int has = pidfd >= 0 && ioctl(pidfd, _IOWR(0xff, 11, info), &info) == 0 && (info.mask & 1 << 3);

	return has ? info.exit_code : -1;
}

/* Returns field 52 of /proc/PID/stat of a process that no other process has waited for yet, else what the kernel keeps of it; -1:
 * unknown. */
static int exit_status_of_process(const struct vt_measured *p)
{
	char text[1024], *at = vt_measured_stat(p, 52, text, sizeof(text)), *name = at ? strrchr(text, ')') : NULL;

	return name && (name[2] == 'Z' || name[2] == 'X') ? atoi(at) : status_of_reaped(p->pidfd);
}

/* Returns the signal that ended it, 0: none, -1: unknown. */
static int ending_signal(const struct vt_measured *p, int status)
{
	uint32_t noted = atomic_load(&vt_raw_head(p->c.pub.raw)->ending) % VT_RAW_ENDED_STATUS;

	if (status >= 0) {
		return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	}
	return noted > VT_RAW_ENDED_SIGNAL ? (int)(noted - VT_RAW_ENDED_SIGNAL) : -1;
}

static int is_fault(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGABRT;
}

int vt_measured_has_fault(const struct vt_measured *p)
{
	return is_fault(ending_signal(p, exit_status_of_process(p)));
}

/* Returns the signal that ended it, 0: none, -1: unknown how it ended. */
static int describe_end(struct vt_measured *p, uint32_t how)
{
	char *to = p->c.ended_how;
	size_t size = sizeof(p->c.ended_how);
	int own = vt_collect_describe_end(how, to, size), status = p->gone ? exit_status_of_process(p) : -1;
	int signal = own ? 0 : ending_signal(p, status);

	if (p->stopped_why[0]) {
		snprintf(to, size, "by the sampler process: %.150s", p->stopped_why);
	} else if (signal > 0) {
		snprintf(to, size, "by signal %d (%s)", signal, strsignal(signal));
	} else if (signal == 0 && !own) {
		snprintf(to, size, "without the library's knowledge, exit status %d", WEXITSTATUS(status));
	} else if (!own) {
		snprintf(to, size, "without exit, status unknown");
	}
	return signal;
}

/* What a launcher, a batch system or a user sends from outside is no mistake of the program. */
static int is_bad_signal(const struct vt_measured *p, int signal)
{
	static const int outside[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM, SIGXCPU, SIGUSR1, SIGUSR2 };
	size_t i;

	for (i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		if (signal == outside[i]) {
			return 0;
		}
	}
	return signal != SIGKILL || !p->others_ended;
}

/* Records an end that is one of the errors of the Intel Trace Collector guide, section 3.3.1, unless the process did so itself. Of
 * several, only the first is: a launcher kills the others. */
static void report_bad_end(struct vt_measured *p, uint32_t how, int signal)
{
	static int bad;
	const struct vt_raw_head *h = vt_raw_head(p->c.pub.raw);
	int early = atomic_load(&h->in_mpi) && how != VT_RAW_ENDED_MPI && how != VT_RAW_ENDED_EXEC && signal == 0;
	char text[300];

	if (atomic_load(&h->reported) || p->stopped_why[0]) {
		bad = 1;
	} else if (!bad && (signal > 0 ? is_bad_signal(p, signal) : early)) {
		bad = 1;
		snprintf(text, sizeof(text), "the process ends %s%s", p->c.ended_how,
			signal || how == VT_RAW_ENDED_ABORT ? "" : " and has not called MPI_Finalize");
		vt_raw_plain_report(p->c.pub.raw, p->s->stream, vt_ticks_now(&p->c.pub),
			signal ? "LOCAL:EXIT:SIGNAL" : "LOCAL:EXIT:BEFORE_MPI_FINALIZE", "fatal error", text);
	}
}

void vt_measured_end(struct vt_measured *p, uint32_t how, int node)
{
	struct vt_collector *c = &p->c;
	int signal;

	vt_say_to_measured(p);
	p->ended = 1;
	p->how = how % VT_RAW_ENDED_STATUS;
	signal = describe_end(p, how);
	report_bad_end(p, p->how, signal);
	vt_measured_sample_last(p, node);
	vt_measured_end_clocks(p);
	vt_raw_clock(c->pub.raw, vt_ticks_now(&c->pub), vt_now_ns(CLOCK_REALTIME), vt_now_ns(CLOCK_MONOTONIC),
		vt_now_ns(CLOCK_MONOTONIC_RAW));
	vt_collect_close(c);
}

void vt_measured_note_later(struct vt_measured *p)
{
	int status = p->how == VT_RAW_ENDED_MPI && !p->later[0] ? exit_status_of_process(p) : -1;
	uint32_t own =
		p->how == VT_RAW_ENDED_MPI ? atomic_load(&vt_raw_head(p->c.pub.raw)->ending) / VT_RAW_ENDED_STATUS : 0;

	if (status >= 0 && WIFSIGNALED(status)) {
		snprintf(p->later, sizeof(p->later), "then by signal %d (%.40s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	} else if (status >= 0 || own) {
		snprintf(p->later, sizeof(p->later), "exit status %u",
			status >= 0 ? (unsigned)WEXITSTATUS(status) : own - 1);
	}
}

static int is_alike(const struct vt_measured *p, const struct vt_measured *q)
{
	return q->c.pub.rank == p->c.pub.rank + 1 && !strcmp(q->later, p->later);
}

/* The ranks from the first process of the list on that end like it, as " 0 2-5"; they are in the order of their numbers. */
static void print_alike(FILE *f, const struct vt_measured *const *rank, int n, int first)
{
	int i, last, alike = 0;

	for (i = first; i < n; i++) {
		alike += !strcmp(rank[i]->later, rank[first]->later);
	}
	fprintf(f, TKM_ENDS_LINE "%s", alike > 1 ? "s" : "");
	for (i = first; i < n; i = last + 1) {
		for (last = i; last + 1 < n && is_alike(rank[last], rank[last + 1]); last++) {
		}
		if (strcmp(rank[i]->later, rank[first]->later) != 0) {
			continue;
		}
		fprintf(f, last > i ? " %d-%d" : " %d", rank[i]->c.pub.rank, rank[last]->c.pub.rank);
	}
	fprintf(f, ": %s\n", rank[first]->later);
}

static int compare_ranks(const void *a, const void *b)
{
	const struct vt_measured *const *p = a, *const *q = b;

	return ((*p)->c.pub.rank > (*q)->c.pub.rank) - ((*p)->c.pub.rank < (*q)->c.pub.rank);
}

/* Lists those that have something to tell. -1: their ranks are not of one job. */
static int list_ranks(const struct vt_measured *list, const struct vt_measured **rank)
{
	const struct vt_measured *p;
	int n = 0, i;

	for (p = list; p; p = p->next) {
		if (p->later[0]) {
			rank[n++] = p;
		}
	}
	qsort(rank, (size_t)n, sizeof(*rank), compare_ranks);
	for (i = 1; i < n; i++) {
		if (rank[i]->c.pub.rank == rank[i - 1]->c.pub.rank || strcmp(rank[i]->c.prot, rank[0]->c.prot) != 0) {
			return -1;
		}
	}
	return n;
}

void vt_measured_tell_later(const struct vt_measured *list)
{
	const struct vt_measured *p, **rank;
	char *text = NULL;
	size_t size = 0;
	int n = 0, i, k;
	FILE *f, *prot;

	for (p = list; p; p = p->next) {
		n++;
	}
	rank = calloc((size_t)n + 1, sizeof(struct vt_measured *));
	f = rank ? open_memstream(&text, &size) : NULL;
	n = f ? list_ranks(list, rank) : 0;
	for (i = 0; i < n; i++) {
		for (k = 0; k < i && strcmp(rank[k]->later, rank[i]->later) != 0; k++) {
		}
		if (k == i) {
			print_alike(f, rank, n, i);
		}
	}
	if (f && fclose(f) == 0 && size &&
		(prot = vt_left_protocol(rank[0]->c.prot, rank[0]->c.job, O_RDWR | O_APPEND))) {
		if (write(fileno(prot), text, size) < 0) {
			/* then it is not known */
		}
		fclose(prot);
	}
	free(text);
	free(rank);
}

/* Did it end as it was recording, or as a rank that left its job before MPI_Finalize? */
static int has_died(const struct vt_measured *p)
{
	const struct vt_raw_head *h = vt_raw_head(p->c.pub.raw);
	uint32_t state = atomic_load(&h->state), how = atomic_load(&h->ending) % VT_RAW_ENDED_STATUS;

	return state == VT_RAW_RECORDING ||
		(state == VT_RAW_CLOSED && atomic_load(&h->in_mpi) && how != VT_RAW_ENDED_MPI &&
			how != VT_RAW_ENDED_EXEC);
}

void vt_measured_note_end(struct vt_measured *p)
{
	p->gone = 1;
	p->ended = has_died(p);
	if (p->ended) {
		vt_say_to_measured(p);
		describe_end(p, atomic_load(&vt_raw_head(p->c.pub.raw)->ending));
		vt_collect_protocol(&p->c, 1);
	}
}

void vt_measured_end_watch(struct vt_measured *p)
{
	struct vt_raw_head h;

	/* on several nodes no single one has all raw files */
	if (p->ended && vt_raw_read_head(p->c.raw_path, &h) == 0 && h.pid == (uint32_t)p->pid &&
		(p->c.pub.ranks <= 1 || integer_text(p, "local") == p->c.pub.ranks)) {
		vt_say_to_measured(p);
		vt_say(1, "WARNING", "%s ended %s", p->c.program, p->c.ended_how);
		vt_collect_finish(&p->c, 1);
		vt_measured_print_lines(p);
	}
	vt_measured_free(p);
}

void vt_measured_free(struct vt_measured *p)
{
	vt_say_to_measured(NULL);
	if (p->s) {
		close(p->s->root);
		close(p->s->task);
		tkm_table_free(&p->s->places);
		munmap(p->s, p->s->size);
	}
	if (p->stat >= 0) {
		close(p->stat);
	}
	if (p->pidfd >= 0) {
		close(p->pidfd);
	}
	if (p->err >= 0) {
		close(p->err);
	}
	if (p->c.pub.raw) {
		vt_raw_detach(p->c.pub.raw);
	}
	if (p->reference) {
		tmr_close(p->reference);
	}
	if (p->c.pub.timer) {
		tmr_close(p->c.pub.timer);
	}
	smp_plan_close(p->c.plan);
	vt_settings_free(&p->c.settings);
	free(p->c.ids);
	free(p->c.variables);
	free(p->texts);
	free(p);
}
