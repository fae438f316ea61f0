/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts and ends the collector. */
#include "config.h"
#include "collector-plugin/openmp/openmp.h"
#include "collector-plugin/run/run.h"
#include "collector-plugin/run/choose.h"
#include "collector-plugin/run/finish.h"
#include "collector-plugin/run/names.h"
#include "collector-plugin/run/outside.h"
#include "collector-plugin/run/signals.h"
#include "collector-plugin/run/vtsampler.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "base/text/text.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/collector.h"
#include "collector-plugin/core/hooks.h"
#include "collector-plugin/core/sink.h"
#include "collector-plugin/core/thread.h"
#include "collector-plugin/filter/filter.h"
#include "collector-plugin/host/locale.h"
#include "collector-plugin/host/lock.h"
#include "collector-plugin/host/memory.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/sample/sample.h"
#include "collector-plugin/settings/check.h"
#include "collector-plugin/settings/run_value.h"
#include "collector-plugin/settings/settings.h"
#include "collector-plugin/stats/stats.h"
#include "collector-plugin/trace/instrument.h"
#include "collector-plugin/trace/callstack.h"
#include "collector-plugin/trace/rules.h"
#include "collector-plugin/trace/system.h"
#include "collector-plugin/trace/trace.h"
#include "timers/quality/prove.h"

extern char **environ;

enum { STATISTICS_ROWS = 512 }; /* of a thread: 46 KB, in one block of the raw file */

static struct vt_lock lock = VT_LOCK_INIT; /* the start and the end exclude each other */

static void complain_of_settings(void *ctx, const char *line)
{
	(void)ctx;
	/* all ranks of a job usually have the same options */
	vt_say(vt_launcher_rank() > 0 ? 2 : 1, "WARNING", "%s", line);
}

/* Keeps the variables, because vtrun's own are removed from the environment later. */
static void keep_variables(struct vt_collector *c)
{
	size_t i, n = 0, k = 0;

	/* a setuid program ignores the variables of its caller */
	for (i = 0; environ && environ[i] && !getauxval(AT_SECURE); i++) {
		n += strncmp(environ[i], "VT_", 3) == 0;
	}
	c->variables = calloc(n + 1, sizeof(*c->variables));
	for (i = 0; c->variables && n > 0 && environ && environ[i] && k < n; i++) {
		if (strncmp(environ[i], "VT_", 3) == 0 && (c->variables[k] = strdup(environ[i])) != NULL) {
			k++;
		}
	}
}

/* Reads the file once, so that its contents can be sent to other ranks. */
static void read_config(struct vt_collector *c)
{
	enum { MOST_CONFIG_BYTES = 16 << 20 };
	const char *path = secure_getenv("VT_CONFIG");
	FILE *f = path && *path ? fopen(path, "re") : NULL, *to;
	char part[4096];
	size_t n;

	to = f ? open_memstream(&c->config_text, &c->config_size) : NULL;
	while (to && (n = fread(part, 1, sizeof(part), f)) > 0 && ftell(to) < MOST_CONFIG_BYTES) {
		fwrite(part, 1, n, to);
	}
	if (to && (tkm_text_end(to, &c->config_text) < 0 || ferror(f) || c->config_size >= MOST_CONFIG_BYTES)) {
		free(c->config_text);
		c->config_text = NULL;
	}
	if (f) {
		fclose(f);
	}
	snprintf(c->config_name, sizeof(c->config_name), "%s", path ? path : "");
}

static void load_settings(struct vt_collector *c)
{
	char commanded[2048];

	if (!c->variables) {
		keep_variables(c);
		read_config(c);
	}
	vt_settings_init(&c->settings);
	vt_settings_of_run(&c->settings, c->run);
	c->settings.imbalance = vt_hooks.imbalance;
	vt_say_setup(&c->settings.verbose, &c->pub.rank);
	c->settings.variables = c->variables;
	c->settings.config_text = c->config_text;
	c->settings.config_size = c->config_size;
	c->settings.config_name = c->config_name;
	/* vtrun has checked everything before and reported what is wrong */
	c->settings.complain = c->run[0] ? NULL : complain_of_settings;
	vt_settings_load(&c->settings,
		vt_run_value(c->run, "commanded", commanded, sizeof(commanded)) ? commanded : c->commanded);
}

void vt_collect_commanded(const char *name)
{
	char *to = vt_collector.commanded;
	size_t n = strlen(to);

	if (n + strlen(name) + 2 < sizeof(vt_collector.commanded)) {
		sprintf(to + n, "%s%s", n ? "," : "", name);
	}
}

/* Opens a timer for stamps. Returns NULL with the reason also if the timer can be opened but not used for stamps. */
static struct tmr_timer *open_usable(const char *name, int rank, struct tkm_err *err)
{
	struct tmr_timer *t = tmr_open(name, rank > 0 ? rank : 0, err);

	if (t && (!t->shareable || !(t->hz > 0))) {
		tkm_fail(err, TKM_ERR_UNAVAIL, "its rate is not known, or threads cannot share it");
		tmr_close(t);
		return NULL;
	}
	return t;
}

static int open_run_timer(struct vt_collector *c, struct tkm_err *err)
{
	const char *name = c->timer_of_job[0] ? c->timer_of_job : c->settings.timer;
	struct tmr_timer *t;

	if (name && !strcasecmp(name, "LIST")) {
		name = NULL; /* the sampler process prints the list */
	}
	c->timer_by_default = !name;
	if (!name) {
		/* no measurement, so that all processes of a node take the same; a job proves it (mpi/job/sessions.c) */
		name = tmr_counter_is_kernels() ? "CPU" : "clock_monotonic";
	}
	t = open_usable(name, c->pub.rank, err);
	if (!t) {
		vt_say(1, "WARNING", "TIMER %s: %s; clock_monotonic is taken", name, err->text);
		name = "clock_monotonic";
		t = tmr_open(name, 0, err);
	}
	snprintf(c->timer_name, sizeof(c->timer_name), "%s", name);
	c->settings.timer = c->settings.timer ? c->settings.timer : c->timer_name; /* for the protocol */
	c->pub.timer = t;
	return t ? 0 : -1;
}

static int ranks_of_launcher(void)
{
	static const char *const names[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_NTASKS",
		NULL };
	int i;

	for (i = 0; names[i]; i++) {
		if (secure_getenv(names[i]) && atoi(secure_getenv(names[i])) > 0) {
			return atoi(secure_getenv(names[i]));
		}
	}
	return 0;
}

/* Is it an object that was linked with a library of the VT interface? */
static int needs_interface(struct dl_phdr_info *info, size_t size, void *unused)
{
	const ElfW(Dyn) * d, *dynamic = NULL;
	uintptr_t names = 0;
	int i;

	(void)size;
	(void)unused;
	for (i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
			dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
		}
	}
	for (d = dynamic; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_STRTAB) {
			/* some machines keep the address that is in the file */
			names = d->d_un.d_ptr + (d->d_un.d_ptr < info->dlpi_addr ? info->dlpi_addr : 0);
		}
	}
	for (d = dynamic; d && names && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_NEEDED && strncmp((const char *)names + d->d_un.d_val, "libVT", 5) == 0) {
			return 1;
		}
	}
	return 0;
}

/* Will the program make VT_ or MPI calls, as far as can be seen before it does? */
static int calls_expected(const struct vt_collector *c)
{
	/* a program that vtrun did not start has called us already */
	return !c->run[0] || vt_hooks.initialize || dl_iterate_phdr(needs_interface, NULL);
}

static void begin_records(struct vt_collector *c)
{
	struct vt_raw *r = c->pub.raw;
	ltick_t t = vt_ticks_now(&c->pub);
	char idle[40];

	vt_raw_clock(r, t, vt_now_ns(CLOCK_REALTIME), vt_now_ns(CLOCK_MONOTONIC), vt_now_ns(CLOCK_MONOTONIC_RAW));
	vt_raw_repeat_definitions(r);
	if (vt_trace_idle) {
		snprintf(idle, sizeof(idle), "%.0f ns", vt_settings_idle_s(&c->settings) * 1e9);
		vt_raw_info(r, VT_RAW_IMBALANCE, idle);
	}
	vt_raw_thread(r, 0, (uint64_t)getpid(), c->program);
}

/* In the child of a program that vtrun did not start (preload.c does the same for one that it did): records nothing
 * of the parent there, and VT_initialize() may start the collector again. */
static VT_IN_CHILD void follow_fork(void)
{
	if (!vt_collector.ended && vt_collector.pid && vt_collector.pid != getpid()) {
		vt_alloc_forked();
		vt_collect_forked();
	}
}

static void watch_forks(void)
{
	static int watched;

	watched = watched || pthread_atfork(NULL, NULL, follow_fork) == 0;
}

static void close_and_merge(struct vt_collector *c, int merge)
{
	atomic_store_explicit(&vt_life.collecting, NULL, memory_order_release);
	c->ended = 1;
	if (c->again) {
		vt_raw_close(c->pub.raw, vt_ticks_now(&c->pub));
		return;
	}
	vt_raw_clock(c->pub.raw, vt_ticks_now(&c->pub), vt_now_ns(CLOCK_REALTIME), vt_now_ns(CLOCK_MONOTONIC),
		vt_now_ns(CLOCK_MONOTONIC_RAW));
	vt_collect_close(c);
	vt_collect_finish(c, merge);
}

static void start_throttle(const struct vt_settings *s)
{
	unsigned long long calls = 0;
	double seconds = 0;

	if (!s->throttle || vt_settings_throttle(s->throttle, &calls, &seconds) < 0) {
		calls = 0;
	}
	vt_stats_throttle(calls, seconds, vt_trace_throttle);
}

static void say_throttled(void)
{
	unsigned n = vt_trace_throttled();

	if (n) {
		vt_say(1, "INFO", "%u %s throttled: further calls are counted in the statistics, not recorded", n,
			n == 1 ? "function was" : "functions were");
	}
}

static void say_switched_stacks(const struct vt_collector *c)
{
	static const char text[] =
		"stacks were switched inside functions (coroutines): a thread has one row, so functions "
		"of one stack are shown inside those of another, and their times are wrong";

	if (vt_callstack_switched()) {
		vt_say(1, "WARNING", "%s", text);
		vt_raw_info(c->pub.raw, "missing", text);
	}
}

/* Applies the options that decide which calls are recorded. */
static int obey_settings(struct vt_collector *c, struct tkm_err *err)
{
	load_settings(c);
	c->pub.min_interval_s = c->settings.counter_min_interval;
	c->pub.has_windows = c->settings.time_windows && c->settings.time_windows[0];
	if (c->settings.start_paused) {
		vt_process_paused();
	}
	start_throttle(&c->settings);
	vt_stats_start(c->settings.statistics == 1 ? STATISTICS_ROWS : (int)c->settings.statistics);
	vt_filter_start(&c->settings);
	vt_trace_idle = vt_settings_idle_s(&c->settings) > 0;
	if (vt_trace_start(!c->settings.counters_only) < 0 || vt_instrument_start() < 0) {
		return tkm_fail(err, TKM_ERR_NOMEM, "no memory for the table of functions");
	}
	vt_system_start(!c->settings.counters_only && vt_filter_any());
	vt_omp_start(!c->settings.counters_only);
	return 0;
}

/* What the collector knows of this process, and of the run that it belongs to. */
static void note_process(struct vt_collector *c)
{
	const char *run = secure_getenv(VT_RUN_VARIABLE);

	c->pid = getpid();
	c->ended = 0;
	vt_life_begin();
	c->account = (struct vt_account){ 0 };
	if (run && !c->run[0]) {
		snprintf(c->run, sizeof(c->run), "%s", run);
	}
	if (!c->run[0]) {
		watch_forks();
	}
}

/* The rank that the job gave when vtrun joined it, else that of the launcher. */
static void find_rank(const struct vt_collector *c, int *rank, int *ranks)
{
	char text[16];

	if (vt_run_value(c->run, "rank", text, sizeof(text))) {
		*rank = atoi(text);
		*ranks = vt_run_value(c->run, "ranks", text, sizeof(text)) ? atoi(text) : 0;
	} else {
		*rank = vt_launcher_rank();
		*ranks = *rank >= 0 ? ranks_of_launcher() : 0;
	}
}

static int prepare(struct vt_collector *c, int rank, int ranks, const char *argv0, struct tkm_err *err)
{
	int of_mpi, with_sampler;
	ltick_t now;

	note_process(c);
	vt_sink_add(&vt_trace_sink);
	vt_sink_add(&vt_sampling_sink);
	of_mpi = rank >= 0;
	if (rank < 0) {
		find_rank(c, &rank, &ranks);
	}
	c->pub.rank = rank;
	c->pub.ranks = ranks;
	if (obey_settings(c, err) < 0) {
		return -1;
	}
	c->pub.period_ns = (int64_t)(c->settings.sample_period * 1e9);
	if (open_run_timer(c, err) < 0 || vt_collect_names(c, argv0, err) < 0) {
		return -1;
	}
	c->first_id = VT_ID_FIRST_PLANNED;
	now = tmr_read_ordered(c->pub.timer);
	c->pub.start = now;
	c->pub.start_realtime_ns = vt_now_ns(CLOCK_REALTIME);
	c->pub.raw = vt_collect_raw(c, err);
	if (!c->pub.raw) {
		return -1;
	}
	if (vt_hooks.load || !of_mpi) {
		vt_choose_alone(c); /* if MPI_Init comes, it does this again when all ranks and hosts are known */
	}
	begin_records(c);
	c->calls_expected = calls_expected(c);
	c->close_and_merge = close_and_merge;
	c->merge = vt_outside_merge;
	c->write_protocol = vt_collect_protocol;
	atomic_store(&vt_raw_head(c->pub.raw)->process_off, vt_process_off());
	vt_signals_start(c);
	with_sampler = vt_vtsampler_start(c);
	vt_raw_started(c->pub.raw);
	if (with_sampler) {
		atomic_store_explicit(&vt_life.collecting, &c->pub, memory_order_release);
		return 0;
	}
	if (!c->pub.plan && vt_collect_plan(c, err) < 0) {
		vt_say(1, "WARNING", "no counters: %s", err->text);
	}
	vt_plan_report_nvml(c);
	atomic_store_explicit(&vt_life.collecting, &c->pub, memory_order_release);
	if (vt_sampler_start(c, err) < 0) {
		vt_say(1, "WARNING", "no background thread, so that counters are read at VT_ and MPI calls only: %s",
			err->text);
	}
	return 0;
}

static int start_collector(struct vt_collector *c, int rank, int ranks, const char *argv0, struct tkm_err *err)
{
	locale_t was = vt_locale_c();
	int rc = prepare(c, rank, ranks, argv0, err);

	vt_locale_back(was);
	return rc;
}

void vt_collect_join(const char *job, int rank, int ranks)
{
	struct vt_collector *c = &vt_collector;

	/* what it forks may join, too, with a rank of its own */
	watch_forks();
	snprintf(c->run, sizeof(c->run), "job=%s\trank=%d\tranks=%d", job, rank, ranks);
	c->joined = 1;
}

/* What was of the run that has ended. */
static void forget_run(struct vt_collector *c)
{
	smp_plan_close(c->plan);
	c->plan = NULL;
	c->pub.plan = NULL;
	c->pub.counter_ids = NULL;
	free(c->ids);
	c->ids = NULL;
	vt_settings_free(&c->settings);
}

/* After an end, a process may join another job, with options of its own. */
static int begin_next_round(struct vt_collector *c, struct tkm_err *err)
{
	size_t i;

	if (vt_threads_restart(1) < 0) {
		tkm_fail(err, TKM_ERR_UNAVAIL, "another thread that was recorded in the last job has not ended");
		vt_say(1, "ERROR", "VT_initialize: %s; end it, or wait for it, before the next round", err->text);
		return -1;
	}
	vt_reader_forget();
	c->sampler = NULL;
	c->has_vtsampler = 0;
	forget_run(c);
	tmr_close(c->pub.timer);
	c->pub.timer = NULL;
	for (i = 0; c->variables && c->variables[i]; i++) {
		free(c->variables[i]);
	}
	free(c->variables);
	c->variables = NULL;
	free(c->config_text);
	c->config_text = NULL;
	c->config_size = 0;
	return 0;
}

int vt_collect_start(int rank, int ranks, const char *argv0, struct tkm_err *err)
{
	struct vt_collector *c = &vt_collector;
	int rc = 0, saved = errno;

	/* a child that was made without fork(), so that no handler has run in it */
	if (c->pid && !vt_life.here) {
		vt_alloc_forked();
		vt_collect_forked();
	}
	vt_lock(&lock);
	if (vt_collect_running()) {
		if (rank >= 0 && rank != c->pub.rank) {
			c->pub.rank = rank;
			c->pub.ranks = ranks;
			vt_raw_set_rank(c->pub.raw, rank, ranks);
		}
	} else if (c->ended && c->pid == getpid() && !c->joined) {
		rc = 1;
	} else {
		rc = c->ended && c->pid == getpid() ? begin_next_round(c, err) : 0;
		c->joined = 0;
		rc = rc < 0 ? rc : start_collector(c, rank, ranks, argv0, err);
	}
	vt_unlock(&lock);
	errno = saved;
	return rc;
}

void vt_collect_own_protocol(void)
{
	struct vt_collector *c = &vt_collector;

	if (vt_collect_running()) {
		atomic_store(&vt_raw_head(c->pub.raw)->protocol, 1);
		locale_t was = vt_locale_c();

		vt_collect_protocol(c, 0);
		vt_locale_back(was);
	}
}

void vt_collect_end(int merge)
{
	vt_collect_end_how(merge, merge ? VT_RAW_ENDED_EXIT : VT_RAW_ENDED_MPI);
}

void vt_collect_be_quiet(int no_clock)
{
	struct vt_collector *c = &vt_collector;
	/* a thread inside cannot end the recording for a program that may not read clocks; who watches it can */
	struct vt_raw_head *head =
		vt_life.here && (c->has_vtsampler || no_clock) && c->pub.raw ? vt_raw_head(c->pub.raw) : NULL;

	if (head) {
		if (no_clock) {
			atomic_store_explicit(&vt_life.collecting, NULL, memory_order_release);
		}
		if (!vt_lock_is_without_calls() && vt_raw_head(c->pub.raw)) {
			vt_raw_stock_up(c->pub.raw);
		}
		vt_lock_without_calls();
		atomic_store(&head->quiet, 1);
	}
}

int vt_collect_is_quiet(uint32_t how)
{
	struct vt_collector *c = &vt_collector;
	struct vt_raw_head *head = vt_life.here && c->pub.raw ? vt_raw_head(c->pub.raw) : NULL;

	if (!head || !atomic_load(&head->quiet)) {
		return 0;
	}
	atomic_store(&head->ending, how);
	return 1;
}

/* The program ends, and its trace was complete in MPI_Finalize: the sampler process finds the status in the head, which both still map. On
 * several hosts another one may have removed the file, which NFS takes for an error at the next store. */
static void note_later_end(const struct vt_collector *c, uint32_t how)
{
	struct vt_raw_head *head =
		c->ended && c->has_vtsampler && c->pid == getpid() && c->pub.raw ? vt_raw_head(c->pub.raw) : NULL;

	if (head && atomic_load(&head->ending) == VT_RAW_ENDED_MPI && atomic_load(&head->local_ranks) == head->ranks) {
		atomic_store(&head->ending, VT_RAW_ENDED_MPI + how / VT_RAW_ENDED_STATUS * VT_RAW_ENDED_STATUS);
	}
}

void vt_collect_end_how(int merge, uint32_t how)
{
	struct vt_collector *c = &vt_collector;
	int saved = errno;
	struct vt_lock held;
	locale_t was;

	note_later_end(c, how);
	if (!vt_collect_running() || vt_collect_is_quiet(how) || c->pid != getpid()) {
		return;
	}
	vt_call_finalize();
	/* the ranks of a job have one trace; the sampler process knows when the last of them has ended */
	merge = merge && (c->has_vtsampler || !c->pub.together);
	/* a signal handler that ends the program may have interrupted the thread that holds the lock */
	if (vt_lock_try(&lock) != 0) {
		errno = saved;
		return;
	}
	was = vt_locale_c();
	vt_writes_begin(&held);
	if (vt_collect_running()) {
		vt_collect_describe_end(how, c->ended_how, sizeof(c->ended_how));
		vt_omp_finish();
		vt_trace_count_open();
		vt_stats_finish();
		vt_choose_at_end(c);
		say_throttled();
		say_switched_stacks(c);
		vt_reader_stop();
		if (c->watched) {
			atomic_store(&vt_raw_head(c->pub.raw)->ending, how);
		}
		if (c->has_vtsampler) {
			vt_vtsampler_end(c, how, merge);
		} else if (c->sampler) {
			vt_sampler_stop(c, merge);
		} else {
			close_and_merge(c, merge);
		}
		atomic_store_explicit(&vt_life.collecting, NULL, memory_order_release);
		c->ended = 1;
		vt_say_deferred();
	}
	vt_writes_end(&held);
	vt_locale_back(was);
	vt_unlock(&lock);
	errno = saved;
}

static void begin_anew(struct vt_collector *c)
{
	vt_reader_stop();
	vt_reader_forget();
	c->again = 1;
	if (c->has_vtsampler) {
		vt_vtsampler_end(c, VT_RAW_ENDED_EXIT, 2);
	} else if (c->sampler) {
		vt_sampler_stop(c, 0);
	} else {
		close_and_merge(c, 0);
	}
	c->again = 0;
	unlink(c->raw_path);
	vt_say_defer(0);
	forget_run(c);
}

int vt_collect_reconfigure(const char *text, size_t size, const char *name, struct tkm_err *err)
{
	struct vt_collector *c = &vt_collector;
	int rc;

	if (vt_threads_restart(0) < 0) {
		return 1;
	}
	vt_lock(&lock);
	free(c->config_text);
	c->config_text = malloc(size + 1);
	rc = c->config_text ? 0 : tkm_fail(err, TKM_ERR_NOMEM, "out of memory for a configuration of %zu bytes", size);
	if (rc == 0) {
		memcpy(c->config_text, text, size);
		c->config_size = size;
		snprintf(c->config_name, sizeof(c->config_name), "%s", name);
		begin_anew(c);
		rc = start_collector(c, c->pub.rank, c->pub.ranks, c->program, err);
	}
	vt_unlock(&lock);
	return rc;
}

int vt_collect_take_timer(const char *name, struct tkm_err *err)
{
	struct vt_collector *c = &vt_collector;
	struct tmr_timer *t = open_usable(name, c->pub.rank, err);
	int rc;

	if (!t) {
		return -1;
	}
	tmr_close(t);
	if (vt_threads_restart(0) < 0) {
		return tkm_fail(err, TKM_ERR_UNAVAIL, "the program has called VT_ before MPI_Init on this rank");
	}
	vt_lock(&lock);
	snprintf(c->timer_of_job, sizeof(c->timer_of_job), "%s", name);
	begin_anew(c);
	rc = start_collector(c, c->pub.rank, c->pub.ranks, c->program, err);
	vt_unlock(&lock);
	return rc;
}

void vt_collect_forked(void)
{
	struct vt_collector *c = &vt_collector;
	int i;

	/* a thread that held the lock does not exist here */
	vt_lock_forget(&lock);
	VT_SET_IF_OTHER(vt_life.collecting, NULL);
	VT_SET_IF_OTHER(vt_life.here, 0);
	vt_say_forked();
	for (i = 0; i < VT_HELPERS; i++) {
		VT_SET_IF_OTHER(c->helper[i], 0);
	}
	VT_SET_IF_OTHER(c->sampler, NULL);
	VT_SET_IF_OTHER(c->has_vtsampler, 0);
	VT_SET_IF_OTHER(c->watched, 0);
	VT_SET_IF_OTHER(c->plan, NULL);
	c->pub.plan = NULL;
	c->pub.counter_ids = NULL;
	VT_SET_IF_OTHER(c->run[0], '\0');
	VT_SET_IF_OTHER(c->ended, 0);
	c->pid = 0;
	if (c->pub.raw && !c->raw_stays) {
		vt_raw_detach_after_fork(c->pub.raw);
	}
	VT_SET_IF_OTHER(c->raw_stays, 0);
	c->pub.raw = NULL;
	vt_threads_forget();
}
