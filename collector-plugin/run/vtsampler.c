/* SPDX-License-Identifier: BSD-3-Clause */
/* Connects the measured process to the sampler process: finds or starts it, hands over the raw file, and reports the
 * end. In between the process has no descriptor and no thread for the sampler. */
#include "config.h"
#include "collector-plugin/run/vtsampler.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "collector-plugin/attach/attach.h"
#include "collector-plugin/core/collector.h"
#include "collector-plugin/core/hooks.h"
#include "collector-plugin/host/memory.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/run/finish.h"
#include "collector-plugin/sample/sample.h"
#include "collector-plugin/settings/formats.h"
#include "collector-plugin/settings/run_value.h"

enum { ATTACH_NS = 2000000, ANSWER = 70000, MOST_TEXT = 8 << 20 };

/* ---- texts that the sampler needs ---- */

struct texts {
	char *at;
	size_t n, size;
};

/* Adds a text, or only counts its bytes while there is no memory. */
static void add_attach_text(struct texts *t, const char *key, const char *value, size_t n)
{
	size_t k = strlen(key) + 1;

	if (t->at && t->n + k + n + 1 <= t->size) {
		memcpy(t->at + t->n, key, k);
		memcpy(t->at + t->n + k, value, n);
		t->at[t->n + k + n] = '\0';
	}
	t->n += k + n + 1;
}

static void put_attach_text(struct texts *t, const char *key, const char *value)
{
	add_attach_text(t, key, value, strlen(value));
}

static void put_integer(struct texts *t, const char *key, long long v)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", v);
	put_attach_text(t, key, text);
}

/* Returns the number of ranks of the job on this host; 0: the launcher does not tell. srun tells how many ranks there are, and on how
 * many hosts. */
static int local_ranks(void)
{
	static const char *const names[] = { "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
		"MV2_COMM_WORLD_LOCAL_SIZE", "PALS_LOCAL_SIZE", NULL };
	const char *text = NULL, *hosts = secure_getenv("SLURM_STEP_NUM_NODES");
	int i;

	for (i = 0; names[i] && !text; i++) {
		text = secure_getenv(names[i]);
	}
	text = !text && hosts && !strcmp(hosts, "1") ? secure_getenv("SLURM_STEP_NUM_TASKS") : text;
	return text && atoi(text) > 0 ? atoi(text) : 0;
}

/* Where the program was bound when it began: later it may be within a clock session, which binds it. */
static const char *binding_at_start(void)
{
	static char text[600];
	static pid_t of;
	char status[8192], *line;
	int root;

	if (of == getpid()) {
		return text;
	}
	of = getpid();
	text[0] = '\0';
	root = tkm_root_open("/");
	if (root >= 0 && tkm_root_read(root, "/proc/self/status", status, sizeof(status)) > 0 &&
		(line = strstr(status, "\nCpus_allowed_list:")) != NULL) {
		sscanf(line, "\nCpus_allowed_list: %599s", text);
	}
	if (root >= 0) {
		close(root);
	}
	return text;
}

static void put_attach_texts(struct texts *t, const struct vt_collector *c, int64_t tick)
{
	char commanded[2048];
	int i;

	put_attach_text(t, "raw", c->raw_path);
	put_attach_text(t, "trace", c->trace);
	put_attach_text(t, "prot", c->prot);
	put_attach_text(t, "job", c->job);
	put_attach_text(t, "program", c->program);
	put_attach_text(t, "run", c->run);
	put_attach_text(t, "commanded",
		vt_run_value(c->run, "commanded", commanded, sizeof(commanded)) ? commanded : c->commanded);
	/* the full name of a simulated clock contains when it began */
	put_attach_text(t, "timer", c->pub.timer->flags & TMR_SIMULATED ? c->pub.timer->name : c->timer_name);
	put_integer(t, "tick", tick);
	put_integer(t, "rank", c->pub.rank);
	put_integer(t, "ranks", c->pub.ranks);
	put_integer(t, "local", local_ranks());
	put_attach_text(t, "CPUs", binding_at_start());
	put_integer(t, "failsafe", vt_hooks.failsafe);
	put_integer(t, "imbalance", vt_hooks.imbalance);
	put_integer(t, "single", c->single);
	if (c->format) {
		put_attach_text(t, "format", c->format->name);
	}
	put_integer(t, "planned", c->pub.plan != NULL);
	put_attach_text(t, "inside", c->inside_why);
	if (c->config_text) {
		add_attach_text(t, "config", c->config_text, strnlen(c->config_text, c->config_size));
		put_attach_text(t, "config_name", c->config_name);
	}
	for (i = 0; c->variables && c->variables[i]; i++) {
		put_attach_text(t, "env", c->variables[i]);
	}
}

/* ---- inside or outside ---- */

static int sample_inside(struct vt_collector *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int sample_inside(struct vt_collector *c, const char *fmt, ...)
{
	struct tkm_err e;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->inside_why, sizeof(c->inside_why), fmt, ap);
	va_end(ap);
	vt_say(2, "INFO", "a thread inside the program samples it: %s", c->inside_why);
	if (vt_settings_other(&c->settings, "STOPFILE-NAME")) {
		vt_say(1, "WARNING", "STOPFILE-NAME has no effect: the sampler process looks for it, and here %s",
			c->inside_why);
	}
	if (!strcasecmp(c->settings.timer, "LIST")) {
		vt_say(1, "WARNING",
			"TIMER LIST: the sampler process prints the list; timertest --timer=LIST does, too");
	}
	if (vt_hooks.load && vt_hooks.load(&e) < 0) {
		vt_say(1, "WARNING", "%s: no counters are read", e.text);
	}
	return 0;
}

/* Does the user ask for counters that no other process can read? Software-defined events are in the program's
 * memory. */
static int asks_for_sde(const struct vt_collector *c)
{
	size_t i;

	for (i = 0; i < c->settings.counter.n; i++) {
		if (!strncasecmp(c->settings.counter.text[i], "sde", 3)) {
			return 1;
		}
	}
	return 0;
}

static int any_from_opening(const struct vt_collector *c)
{
	size_t i, n = c->plan ? smp_plan_size(c->plan) : 0;

	for (i = 0; i < n; i++) {
		if (!smp_plan_at(c->plan, i)->counter.missing && vt_counts_from_opening(c->plan, i)) {
			return 1;
		}
	}
	return 0;
}

/* Are the numbers of processes below /proc those of another PID namespace? Then the sampler process would read a stranger. */
static int is_proc_of_others(void)
{
	int root = tkm_root_open("/"), rc = root >= 0 && tkm_root_is_above(root);

	if (root >= 0) {
		close(root);
	}
	return rc;
}

/* Must a thread inside the program read the counters? c->inside_why gets the reason, or "". */
static int must_be_inside(struct vt_collector *c)
{
	struct tkm_err e;

	c->inside_why[0] = '\0';
	if (c->settings.sampler && !strcasecmp(c->settings.sampler, "thread")) {
		return !sample_inside(c, "SAMPLER thread");
	}
	if (getpid() == 1) {
		return !sample_inside(c, "the program is process 1, with which everything else ends");
	}
	if (is_proc_of_others()) {
		return !sample_inside(
			c, "/proc belongs to a PID namespace above that of the program; mount one of its own");
	}
	if (c->pub.timer->scope == TMR_SCOPE_PROCESS && !(c->pub.timer->flags & TMR_SIMULATED)) {
		return !sample_inside(c, "only the program can read the clock %.200s", c->timer_name);
	}
	if (c->pub.timer->flags & TMR_REPLACED) {
		return !sample_inside(c, "a library in the program changes what the clock %.200s shows", c->timer_name);
	}
	if (asks_for_sde(c)) {
		return !sample_inside(c, "software-defined events can be read inside the program only");
	}
	if (c->calls_expected && vt_collect_plan(c, &e) < 0) {
		vt_say(1, "WARNING", "no counters: %s", e.text);
	}
	if (c->calls_expected && any_from_opening(c)) {
		return !sample_inside(c, "events of PAPI and perf are read at VT_ and MPI calls and between them");
	}
	return 0;
}

/* ---- the beginning ---- */

static const char *own_file(void)
{
	Dl_info info;

	return dladdr((void *)&vt_collector, &info) ? info.dli_fname : NULL;
}

static uid_t attached_as; /* the user that the sampler process answers */

/* The sampler process sees the user of vtrun. */
static void take_user(const struct vt_collector *c)
{
	char user[16];

	if (vt_run_value(c->run, "uid", user, sizeof(user))) {
		vt_attach_user = (unsigned)atoll(user);
	}
}

static int connect_or_start(const char *job, struct tkm_err *err)
{
	int fd = vt_attach_connect(job);

	if (fd < 0 && vt_attach_start(job, own_file(), err) == 0) {
		fd = vt_attach_connect(job);
		if (fd < 0) {
			tkm_fail_errno(err, TKM_ERR_UNAVAIL, errno, "cannot connect to the sampler process");
		}
	}
	return fd;
}

int vt_vtsampler_connect(const struct vt_collector *c, int own, struct tkm_err *err)
{
	char job[sizeof(c->job) + 16];
	int fd;

	take_user(c);
	if (own) {
		snprintf(job, sizeof(job), "%s-%d", c->job, (int)getpid());
		return connect_or_start(job, err);
	}
	fd = vt_attach_connect(c->job);
	return fd >= 0 ? fd : tkm_fail(err, TKM_ERR_UNAVAIL, "there is no sampler process");
}

/* Hands the raw file over. Returns 1; 0: refused, with err; -1: the sampler was about to end. */
static int hand_over(struct vt_collector *c, int to, const struct texts *t, struct tkm_err *err)
{
	int raw = vt_raw_open_again(c->pub.raw), rc;
	struct vt_attach_head h;
	char why[300];
	ssize_t n;

	if (raw < 0) {
		tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot open %s", c->raw_path);
		return 0;
	}
	rc = vt_attach_send(to, VT_ATTACH_BEGIN, t->at, t->n, raw);
	vt_raw_close_again(c->pub.raw, raw);
	if (rc < 0) {
		return -1;
	}
	n = vt_attach_receive(to, &h, why, sizeof(why) - 1, vt_now_ns(CLOCK_MONOTONIC) + ATTACH_NS);
	if (n >= 0 && h.kind == VT_ATTACH_REFUSED) {
		why[n] = '\0';
		tkm_fail(err, TKM_ERR_UNAVAIL, "%s", why);
		return 0;
	}
	if (n < 0 && vt_attach_closed(to)) {
		return -1;
	}
	if (n < 0) {
		atomic_store(&vt_raw_head(c->pub.raw)->late, 1);
	}
	return 1;
}

static int pack_texts(const struct vt_collector *c, struct texts *t, struct tkm_err *err)
{
	take_user(c);
	put_attach_texts(t, c, vt_ticks_now(&c->pub).v);
	t->size = t->n + 64;
	t->at = t->size < MOST_TEXT ? vt_pages(t->size) : NULL;
	if (!t->at) {
		return tkm_fail(err, TKM_ERR_NOMEM, "no memory for %zu bytes of options", t->size);
	}
	t->n = 0;
	put_attach_texts(t, c, vt_ticks_now(&c->pub).v);
	return 0;
}

static int attach_to_vtsampler(struct vt_collector *c, struct tkm_err *err)
{
	struct texts t = { NULL, 0, 0 };
	int fd, rc = -1, tries;

	if (pack_texts(c, &t, err) < 0) {
		return -1;
	}
	for (tries = 0; rc < 0 && tries < 3; tries++) {
		fd = connect_or_start(c->job, err);
		if (fd < 0) {
			break;
		}
		rc = hand_over(c, fd, &t, err);
		close(fd);
	}
	munmap(t.at, t.size);
	return rc;
}

/* A process that samples itself may die without a word: a sampler process that waits for its end makes the trace then, and also where
 * the process orders one. */
static void let_watch(struct vt_collector *c)
{
	struct texts t = { NULL, 0, 0 };
	struct tkm_err err;
	int fd, raw;

	if (getpid() == 1 || is_proc_of_others() || pack_texts(c, &t, &err) < 0) {
		return;
	}
	fd = connect_or_start(c->job, &err);
	raw = fd >= 0 ? vt_raw_open_again(c->pub.raw) : -1;
	if (raw >= 0) {
		c->watched = vt_attach_send(fd, VT_ATTACH_WATCH, t.at, t.n, raw) == 0 &&
			(c->pub.ranks <= 1 || local_ranks() == c->pub.ranks);
		vt_raw_close_again(c->pub.raw, raw);
	}
	if (fd >= 0) {
		close(fd);
	}
	munmap(t.at, t.size);
}

int vt_vtsampler_start(struct vt_collector *c)
{
	struct tkm_err err = { TKM_OK, "the sampler process ends at once" };

	c->has_vtsampler = c->raw_stays = c->watched = 0;
	vt_process_start(&c->pub);
	if (must_be_inside(c)) {
		let_watch(c);
		return 0;
	}
	if (attach_to_vtsampler(c, &err) <= 0) {
		return sample_inside(c, "%.250s", err.text);
	}
	attached_as = geteuid();
	vt_raw_alone(c->pub.raw, 1);
	if (c->calls_expected) {
		vt_raw_map_whole(c->pub.raw);
	}
	c->raw_stays = !c->calls_expected && vt_raw_keep_from_children(c->pub.raw) == 0;
	c->has_vtsampler = 1;
	return 1;
}

/* ---- the end ---- */

static void take_account(struct vt_collector *c, const struct vt_attach_over *o)
{
	c->account = (struct vt_account){ .ticks = o->ticks,
		.samples = o->samples,
		.cpu_ns = o->cpu_ns,
		.longest_ns = o->longest_ns,
		.latest_ns = o->latest_ns,
		.wall_ns = o->wall_ns,
		.period_s = o->period_s,
		.slowed = o->slowed };
}

/* Returns the size of the answer; -1: there is none; -2: the sampler process runs, but this one cannot reach it any more. */
static ssize_t tell_end(
	const struct vt_collector *c, const struct vt_attach_end *e, char *answer, size_t size, int64_t until)
{
	int fd = vt_attach_connect(c->job);
	struct pollfd p = { .events = POLLIN };
	struct vt_attach_head h;
	ssize_t n = -1;
	int unreachable = geteuid() != attached_as || (fd < 0 && (errno == EMFILE || errno == ENFILE));

	if (fd >= 0 && vt_attach_send(fd, VT_ATTACH_END, e, sizeof(*e), -1) == 0) {
		p.fd = fd;
		if (c->pub.rank <= 0 && isatty(STDERR_FILENO) && poll(&p, 1, 1000) == 0) {
			vt_say(1, "INFO", "%s has ended, its trace is being made of %.0f MB of records", c->program,
				1e-6 * (double)vt_raw_size(c->pub.raw));
		}
		n = vt_attach_receive(fd, &h, answer, size, until);
	}
	if (fd >= 0) {
		close(fd);
	}
	return n < 0 && unreachable ? -2 : n;
}

/* The sampler has ended, and no other one could be started: completes the file and makes the trace in this process. */
static void end_alone(struct vt_collector *c, int merge)
{
	if (merge < 2) {
		vt_raw_close(c->pub.raw, vt_ticks_now(&c->pub));
		vt_collect_finish(c, merge);
	}
}

void vt_vtsampler_end(struct vt_collector *c, uint32_t how, int merge)
{
	struct vt_attach_end e = { how, (uint32_t)merge, vt_ticks_now(&c->pub).v };
	struct vt_raw_head *head = vt_raw_head(c->pub.raw);
	struct tkm_err err;
	int64_t until;
	char *answer;
	ssize_t n = -1;

	atomic_store_explicit(&vt_life.collecting, NULL, memory_order_release);
	c->ended = 1;
	atomic_store(&head->ending, how);
	if (atomic_load(&head->quiet)) {
		return; /* the sampler sees the process end */
	}
	answer = vt_pages(ANSWER);
	until = vt_now_ns(CLOCK_MONOTONIC) + 1000000000ll * (10 + (int64_t)(vt_raw_size(c->pub.raw) >> 24));
	vt_raw_hand_over(c->pub.raw);
	n = answer ? tell_end(c, &e, answer, ANSWER - 1, until) : -1;
	if (n == -1 && answer && merge < 2 && vt_now_ns(CLOCK_MONOTONIC) < until && attach_to_vtsampler(c, &err) > 0) {
		/* the sampler was killed; another one completes the file */
		n = tell_end(c, &e, answer, ANSWER - 1, until);
	}
	if (n == -2 && merge < 2) {
		/* it completes the file when it sees the process end */
		vt_say(1, "WARNING", "%s is made when %s is gone, without its last samples: %s", c->trace, c->program,
			geteuid() != attached_as ? "the sampler process does not answer another user"
						 : "it may not open a file more, and cannot reach the sampler process");
	} else if (n >= (ssize_t)sizeof(struct vt_attach_over)) {
		take_account(c, (const struct vt_attach_over *)(const void *)answer);
		answer[n] = '\0';
		if (merge < 2) {
			/* only now does the program know whether it called MPI_Init */
			vt_collect_say_no_mpi(c);
		}
		vt_say_lines(answer + sizeof(struct vt_attach_over));
		if (atomic_load(&head->protocol) && merge < 2) {
			vt_collect_protocol(c, 1);
		}
	} else if (vt_now_ns(CLOCK_MONOTONIC) >= until) {
		vt_say(1, "WARNING", "the end takes too long; what was recorded is in %s", c->raw_path);
	} else {
		end_alone(c, merge);
	}
	if (answer) {
		munmap(answer, ANSWER);
	}
	c->has_vtsampler = merge == 2 ? 0 : c->has_vtsampler;
}
