/* SPDX-License-Identifier: BSD-3-Clause */
/* Completes a run: the trace, which the last process of the job makes of all raw files, the protocol, and one line
 * for the user. */
#include "config.h"
#include "collector-plugin/run/finish.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/newfile.h"
#include "base/text/quote.h"
#include "base/text/text.h"
#include "collector-plugin/core/collector.h"
#include "collector-plugin/core/hooks.h"
#include "collector-plugin/host/program/address.h"
#include "collector-plugin/host/program/needed.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/merge/merge.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/process.h"
#include "collector-plugin/raw/reader.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/run/report.h"
#include "collector-plugin/run/left.h"
#include "collector-plugin/run/names.h"
#include "collector-plugin/settings/formats.h"
#include "collector-plugin/settings/run_value.h"
#include "collector-plugin/settings/settings.h"

enum { MAX_FILES = 65536 };
#define PARTIAL \
	"# The trace has the ranks of this host only. Bring the raw files (" VT_RAW_PREFIX "*" VT_RAW_SUFFIX \
	") of the others here,\n" \
	"# and type the command with --force: that makes one trace of all."

struct files {
	uint64_t launch; /* of this process */
	char **path;
	size_t n;
	int alive; /* other processes of the job that still run */
	struct vt_left left;
};

static void free_files(struct files *f)
{
	tkm_free_texts(f->path, f->n);
	vt_left_free(&f->left);
}

static int add_raw_file(struct files *f, const char *path)
{
	return tkm_append_text(&f->path, &f->n, path);
}

/* Is it a raw file of this job, or one that the user should know about? */
static void sort_raw_file(struct vt_collector *c, struct files *f, const char *path)
{
	struct vt_raw_head h;
	int own;

	if (!strcmp(path, c->raw_path) || vt_raw_read_head(path, &h) < 0 || (c->partial && !vt_raw_is_here(&h))) {
		return;
	}
	if (!strcmp(h.job, c->job) && h.state != VT_RAW_MERGED) {
		/* this process has left another one if it started anew; in another container that is another process */
		own = h.pid == (uint32_t)c->pid && vt_raw_life(&h, &h.id) != VT_RAW_UNSEEN;
		if (!own && vt_raw_head_alive(path, &h)) {
			f->alive += !f->launch || !h.launch || h.launch == f->launch;
		} else {
			add_raw_file(f, path);
		}
	} else if (strcmp(h.job, c->job) != 0) {
		vt_left_add(&f->left, path, &h);
	}
}

/* Opens the directory of the raw files. */
static DIR *open_trace_directory(const struct vt_collector *c, char *dir, size_t size)
{
	snprintf(dir, size, "%s", c->raw_path);
	*strrchr(dir, '/') = '\0';
	return opendir(*dir ? dir : "/");
}

static int is_in_use(const struct vt_collector *c, const char *path)
{
	struct vt_raw_head h;

	return vt_raw_read_head(path, &h) == 0 && !strcmp(h.job, c->job) && vt_raw_head_alive(path, &h);
}

/* Does the program that vtrun became still run? Then this child is not the last process of the job, and need not
 * look at the files of all others, which can be thousands in a build. The raw file's name tells, since it contains
 * the process id. */
static int first_lives(const struct vt_collector *c)
{
	char dir[1100], path[1500], pid[20] = "-", rest[24];
	struct dirent *e;
	const char *at;
	int found = 0;
	DIR *d;

	if (!vt_run_child(c->run, (int)c->pid) || !vt_run_value(c->run, "pid", pid + 1, sizeof(pid) - 1)) {
		return 0;
	}
	d = open_trace_directory(c, dir, sizeof(dir));
	while (d && !found && (e = readdir(d))) {
		/* -PID.raw or -PID.1.raw */
		at = vt_raw_is_name(e->d_name) ? strrchr(e->d_name, '-') : NULL;
		snprintf(rest, sizeof(rest), "%s.", pid);
		if (at && !strncmp(at, rest, strlen(rest))) {
			snprintf(path, sizeof(path), "%s/%.300s", dir, e->d_name);
			found = is_in_use(c, path);
		}
	}
	if (d) {
		closedir(d);
	}
	return found;
}

static void find_files(struct vt_collector *c, struct files *f)
{
	char dir[1100], path[1500], *other;
	struct vt_raw_head h;
	struct dirent *e;
	size_t left;
	DIR *d;

	f->launch = vt_raw_read_head(c->raw_path, &h) == 0 ? h.launch : 0;
	add_raw_file(f, c->raw_path);
	d = open_trace_directory(c, dir, sizeof(dir));
	while (d && (e = readdir(d)) && f->n < MAX_FILES) {
		if (vt_raw_is_name(e->d_name)) {
			snprintf(path, sizeof(path), "%s/%.300s", dir, e->d_name);
			sort_raw_file(c, f, path);
		}
	}
	for (left = vt_raw_leave_out(f->path, &f->n, f->launch); left > 0; left--) {
		other = f->path[f->n + left - 1];
		if (vt_raw_read_head(other, &h) == 0) {
			vt_left_add(&f->left, other, &h);
		}
		free(other);
	}
	if (d) {
		closedir(d);
	}
}

/* ---- the trace ---- */

static void say_missing_ranks(void *ctx, const char *line)
{
	(void)ctx;
	vt_say(1, "WARNING", "%s", line);
}

static void say_summary(void *ctx, const char *line)
{
	(void)ctx;
	vt_say(1, "INFO", "%s", line);
}

static int writes_trace(const struct vt_collector *c)
{
	return !c->settings.keep_raw_events;
}

/* Is the option given, with this value? */
static int is_option_set_to(const struct vt_collector *c, const char *name, int value)
{
	const char *text = vt_settings_other(&c->settings, name);
	int on = !value;

	return text && tkm_parse_bool(text, &on) == 0 && on == value;
}

static void say_waits(const struct vt_collector *c, const struct vt_merge_result *r)
{
	char least[40];

	if (vt_settings_idle_s(&c->settings) > 0) {
		tkm_print_time(least, sizeof(least), vt_settings_idle_s(&c->settings), 0);
		vt_say(1, "INFO", "TRACE-IMBALANCE: %llu waits of MPI calls longer than %s, %.6f s together",
			(unsigned long long)r->waits, least, r->waited_s);
	}
}

static int merge_for(
	struct vt_collector *c, struct vt_merge_input *in, size_t n, int skip, double period_s, struct tkm_err *err)
{
	struct vt_merge_options o = { .trace = c->trace,
		.single = c->single,
		.force = c->settings.force,
		.compress = (int)c->settings.compress_trace,
		.procs_per_file = (uint32_t)c->settings.stf_procs_per_file,
		.by_node = c->settings.stf_use_hw_structure,
		.period_s = period_s,
		.skip_sessions = skip,
		.learn = is_option_set_to(c, "LEARN-DRIFT", 1),
		.counters_apart = is_option_set_to(c, "UNIFY-COUNTERS", 0),
		.groups_apart = is_option_set_to(c, "UNIFY-GROUPS", 0),
		.symbols_apart = is_option_set_to(c, "UNIFY-SYMBOLS", 0),
		.scls_apart = is_option_set_to(c, "UNIFY-SCLS", 0),
		.nmcmd = vt_settings_other(&c->settings, "NMCMD"),
		.summary = c->settings.summary ? say_summary : NULL,
		.delete_raw = !c->partial,
		.settled = c->pub.together,
		.say = say_missing_ranks };
	struct vt_merge_result r;
	char size[64], calls[60] = "";
	int rc;

	if (!writes_trace(c)) {
		return 0;
	}
	o.cpus = c->pub.cpus;
	o.threads = o.cpus ? 0 : 1;
	vt_say(3, "INFO", "making %s of %zu raw %s", c->trace, n, n == 1 ? "file" : "files");
	rc = c->merge(in, n, &o, &r, err);
	/* another run has taken the name since this one began */
	if (rc < 0 && err->code == TKM_ERR_EXISTS) {
		vt_say(1, "WARNING", "%s; this run's trace gets its number into its name", err->text);
		snprintf(size, sizeof(size), "%d", (int)c->pid);
		if (vt_collect_rename(c, size) == 0) {
			vt_collect_protocol(c, 1);
			rc = c->merge(in, n, &o, &r, err);
		}
	}
	if (rc == 0) {
		tkm_print_time(size, sizeof(size), r.duration_s, 3);
		if (r.callers && r.callers < r.threads) {
			snprintf(calls, sizeof(calls), " (%llu made recorded calls)", (unsigned long long)r.callers);
		}
		vt_say(1, "INFO", "Writing tracefile %s: %llu samples, %u %s, %u %s%s, %s", c->trace,
			(unsigned long long)r.samples, r.processes, r.processes == 1 ? "process" : "processes",
			r.threads, r.threads == 1 ? "thread" : "threads", calls, size);
		say_waits(c, &r);
	}
	return rc;
}

void vt_collect_show(const struct vt_collector *c)
{
	char word[PATH_MAX], target[1100];

	if (c->settings.keep_raw_events) {
		return;
	}
	if (c->pub.ranks > 1 && c->settings.verbose > 0) {
		vt_say_who(c->trace, c->settings.summary);
	}
	if (c->settings.report) {
		vt_report_make(c->trace, c->settings.force);
	} else {
		vt_say(1, "INFO", "to see it in a browser, run: vtreport %s",
			tkm_shell_word(word, sizeof(word), c->trace));
	}
	if (vt_collect_target(c, target, sizeof(target))) {
		vt_convert_trace(c->trace, target, c->format->name, vt_settings_other(&c->settings, "EXTENDED-VTF"),
			c->settings.force);
	}
}

static void say_not_shown(const struct vt_collector *c)
{
	char word[PATH_MAX], target[1100], target_word[PATH_MAX];

	tkm_shell_word(word, sizeof(word), c->trace);
	vt_say(1, "INFO", "%sonce it is there, run: vtreport %s", c->settings.report ? "no report is made; " : "",
		word);
	if (vt_collect_target(c, target, sizeof(target))) {
		vt_say(1, "INFO",
			"%s is not made; once the trace is there, run: stftool %s --convert %s --logfile-format %s",
			target, word, tkm_shell_word(target_word, sizeof(target_word), target), c->format->name);
	}
}

int vt_collect_merge(struct vt_merge_input *in, size_t n, int skip, double period_s, struct tkm_err *err)
{
	return merge_for(&vt_collector, in, n, skip, period_s, err);
}

void vt_collect_say_later(const struct vt_collector *c, const char *who, const struct tkm_err *err)
{
	vt_say(1, "WARNING", "%s does not wait for %s: %s", who, c->trace, err->text);
	say_not_shown(c);
}

/* Two processes may end at the same time and both be the last. Then the lock of the first file, which is the same
 * for both, decides. Returns a descriptor to be closed; -1: the other process has made the trace; -2: there are no
 * locks here. */
static int only_one(const struct files *f)
{
	const char *first = f->path[0];
	struct stat st;
	size_t i;
	int fd;

	for (i = 1; i < f->n; i++) {
		first = strcmp(f->path[i], first) < 0 ? f->path[i] : first;
	}
	fd = open(first, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return errno == ENOENT ? -1 : -2;
	}
	if (flock(fd, LOCK_EX) == 0 && fstat(fd, &st) == 0 && st.st_nlink == 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Writes the command that makes the trace. If `near`, paths are relative to the folder of the protocol, so that they
 * are right after all has been moved. If the disk is full there may be no protocol: then the raw file of the only
 * process is named. */
static const char *command(const struct vt_collector *c, int near, char *to, size_t size)
{
	int alone = vt_run_child(c->run, (int)c->pid) || (!near && c->pub.ranks <= 1 && access(c->prot, F_OK) < 0);
	const char *prot = alone ? c->raw_path : c->prot, *trace = c->trace;
	size_t n = (size_t)(strrchr(c->prot, '/') + 1 - c->prot);
	char from[4500], made[4500];

	if (near && !strncmp(trace, c->prot, n) && !strchr(trace + n, '/')) {
		prot += n;
		trace += n;
	}
	snprintf(to, size, "stftool %s --merge %s", tkm_shell_word(from, sizeof(from), prot),
		tkm_shell_word(made, sizeof(made), trace));
	return to;
}

const char *vt_collect_command(const struct vt_collector *c, char *to, size_t size)
{
	return command(c, 0, to, size);
}

static void merge_files(struct vt_collector *c, struct files *f)
{
	char text[9100];
	struct vt_merge_input *in;
	struct tkm_err e = { TKM_ERR_NOMEM, "out of memory" };
	int rc = -1, lock = only_one(f);
	size_t i;

	if (lock == -1 && access(c->trace, F_OK) < 0 && access(c->raw_path, F_OK) < 0) {
		vt_say(1, "WARNING", "no trace: %s was removed; %llu more records are lost", c->raw_path,
			(unsigned long long)vt_raw_lost(c->pub.raw));
		return;
	}
	if (lock == -1) {
		vt_say(2, "INFO", "another process of the job ended at the same time and has written the trace");
		return;
	}
	in = calloc(f->n, sizeof(*in));

	for (i = 0; in && i < f->n; i++) {
		in[i].path = f->path[i];
	}
	/* the trace of an MPI job that one of our children was may have the name meanwhile */
	vt_collect_free_name(c);
	if (in) {
		rc = merge_for(c, in, f->n, 0, 0, &e);
	}
	free(in);
	if (lock >= 0) {
		close(lock);
	}
	if (rc < 0 && e.code == TKM_ERR_TIMEOUT) {
		vt_collect_say_later(c, c->program, &e);
	} else if (rc < 0) {
		vt_say(1, "WARNING", "no trace: %s. What was recorded is in %s%s; %s makes the trace", e.text,
			c->raw_path, f->n > 1 ? " and others" : "", vt_collect_command(c, text, sizeof(text)));
	} else {
		vt_collect_show(c);
	}
}

int vt_collect_is_first_rank(void)
{
	static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "PMI_ID",
		"MV2_COMM_WORLD_RANK", NULL };
	const char *text = NULL;
	int i;

	for (i = 0; names[i] && !text; i++) {
		text = getenv(names[i]);
	}
	return !text || !strcmp(text, "0");
}

struct loaded_mpi {
	int before; /* libraries of MPI that are passed over */
	char path[PATH_MAX];
};

static int take_loaded_mpi(struct dl_phdr_info *o, size_t size, void *to)
{
	const char *slash = strrchr(o->dlpi_name, '/'), *name = slash ? slash + 1 : o->dlpi_name;
	struct vt_mpi_links links = { .uses = 0 };
	struct loaded_mpi *l = to;

	(void)size;
	vt_mpi_link(name, &links);
	if (strcmp(links.mpi, name) != 0 || !*name || l->before-- > 0) {
		return 0;
	}
	snprintf(l->path, sizeof(l->path), "%s", o->dlpi_name);
	return 1;
}

/* Writes the name of the MPI library that is initialised in this process, in whatever way the program has reached it, to `name`.
 * Returns 1, or 0: there is none. Only what is loaded is asked: for a name alone the dynamic linker would search all folders. */
static int find_running_mpi(char *name)
{
	struct loaded_mpi l;
	int flag = 0, k;

	for (k = 0; !flag; k++) {
		int (*initialized)(int *) = NULL;
		void *handle, *found;

		l.before = k;
		if (!dl_iterate_phdr(take_loaded_mpi, &l)) {
			break;
		}
		handle = dlopen(l.path, RTLD_LAZY | RTLD_NOLOAD);
		found = handle ? dlsym(handle, "PMPI_Initialized") : NULL;
		if (found) {
			memcpy(&initialized, &found, sizeof(initialized));
			initialized(&flag);
			snprintf(name, 40, "%.39s", strrchr(l.path, '/') ? strrchr(l.path, '/') + 1 : l.path);
		}
		if (handle) {
			dlclose(handle);
		}
	}
	return flag;
}

/* Reported once, by rank 0: usually it is a script that starts the MPI program as its child. */
void vt_collect_say_no_mpi(const struct vt_collector *c)
{
	char mpi[40] = "";

	if ((vt_hooks.no_mpi || !vt_hooks.initialize) && vt_collect_is_first_rank() && find_running_mpi(mpi)) {
		if (vt_run_child(c->run, (int)c->pid)) {
			vt_say(1, "WARNING",
				"the MPI calls of %s are not recorded and its stamps not corrected: a child of the program "
				"started it. Write vtrun before the program that uses %s: mpirun ... vtrun -- %s",
				c->program, mpi, c->program);
			return;
		}
		vt_say(1, "WARNING",
			"the MPI calls of %s are not recorded and its stamps not corrected: it reaches %s without "
			"MPI_Init, or by dlopen(). Link it with MPI or with -lVT",
			c->program, mpi);
		return;
	}
	if (vt_hooks.no_mpi && c->run[0] && c->pub.rank == 0 && !vt_run_child(c->run, (int)c->pid) &&
		!c->settings.follow_children) {
		vt_say(1, "INFO",
			"%s did not call MPI_Init: its stamps are not corrected, and a program that it starts is not "
			"recorded. Let it "
			"start that with exec, in its last line, or add --follow-children",
			c->program);
	}
}

/* ---- what the sampler used ---- */

static void say_sampler_account(const struct vt_collector *c)
{
	const struct vt_account *a = &c->account;
	char cpu[40], tick[40], late[40], period[40];

	if (a->wall_ns <= 0 && c->inside_why[0]) {
		return; /* no thread could be started, or another process makes its trace */
	}
	if (a->wall_ns <= 0) {
		vt_say(1, "WARNING",
			"the sampler process took no sample of this program: it refused the program after its start, "
			"or it died");
		return;
	}
	/* Not for runs of less than a second, where the figures mean nothing. A followed child is not the run, and
	 * one rank reports for all ranks of a job. What was left out is always reported. */
	vt_say(!a->slowed && (a->wall_ns < 1000000000 || vt_run_child(c->run, (int)c->pid) || c->pub.together) ? 2 : 1,
		"INFO", "sampler used %.3f%% CPU (%s), longest tick %s, latest wake-up %s, %llu ticks every %s%s",
		100.0 * (double)a->cpu_ns / (double)a->wall_ns,
		tkm_print_time(cpu, sizeof(cpu), 1e-9 * (double)a->cpu_ns, 1),
		tkm_print_time(tick, sizeof(tick), 1e-9 * (double)a->longest_ns, 0),
		tkm_print_time(late, sizeof(late), 1e-9 * (double)a->latest_ns, 0), (unsigned long long)a->ticks,
		tkm_print_time(period, sizeof(period), a->period_s, 0),
		a->slowed ? ": slowed down, because it was above SAMPLE-BUDGET" : "");
}

static void describe_raw_file(struct vt_collector *c)
{
	const struct vt_account *a = &c->account;
	char text[700];

	if (!c->settings.environment || !a->wall_ns) {
		return;
	}
	snprintf(text, sizeof(text),
		"sampler of %s: CPU %.6f s of %.6f s, longest tick %.6f s, latest wake-up %.6f s, %llu ticks, "
		"period in the end %.6g s, slowed down %d times",
		c->program, 1e-9 * (double)a->cpu_ns, 1e-9 * (double)a->wall_ns, 1e-9 * (double)a->longest_ns,
		1e-9 * (double)a->latest_ns, (unsigned long long)a->ticks, a->period_s, a->slowed);
	vt_raw_info(c->pub.raw, "sampler", text);
}

/* ---- the protocol ---- */

/* What the process has started, as the sampler process saw it. */
static void print_started(const struct vt_collector *c, FILE *f)
{
	const struct vt_account *a = &c->account;

	if (!c->has_vtsampler || !a->wall_ns) {
		return;
	}
	if (a->started_error) {
		fprintf(f, "INFO THREADS number of starts unknown: perf_event_open: %s; ", strerror(a->started_error));
	} else {
		fprintf(f, "INFO THREADS %llu started, %llu in no sample, ", (unsigned long long)a->threads_started,
			(unsigned long long)a->threads_brief);
	}
	fprintf(f, "CPU in no sampled thread %.6fs\n", 1e-9 * (double)a->threads_unseen_ns);
	/* what was counted is no number where starts came before, or where CPU time has no start */
	if (a->started_error || (a->children_started == 0 && (a->children_late || a->children_ns > 0))) {
		fputs("INFO CHILDREN number of starts unknown, ", f);
	} else {
		fprintf(f, "INFO CHILDREN %s%llu started, ", a->children_late ? "at least " : "",
			(unsigned long long)a->children_started);
	}
	if (a->children_cpu_known) {
		fprintf(f, "CPU of those waited for %.2fs\n", 1e-9 * (double)a->children_ns);
	} else {
		fputs("CPU of those waited for unknown\n", f);
	}
	if (a->started_lost) {
		fprintf(f, "INFO STARTS %llu more of threads or children were too many at a time\n",
			(unsigned long long)a->started_lost);
	}
}

static void print_info(const struct vt_collector *c, FILE *f, int finished)
{
	const struct vt_raw *r = c->pub.raw;
	char host[256] = "", ip[256], line[9100];

	gethostname(host, sizeof(host) - 1);
	fprintf(f, "\n# What the run was. Lines of INFO are for readers; as a configuration file they say nothing.\n");
	if (c->pub.job_lines) {
		fputs(c->pub.job_lines, f);
	} else {
		vt_own_addresses(ip, sizeof(ip));
		fprintf(f, "INFO NUMPROCS %d\n", c->pub.ranks > 0 ? c->pub.ranks : 1);
		fprintf(f, "INFO CLUSTERDEF %s %d:%d\n", host, c->pub.rank > 0 ? c->pub.rank : 0, (int)c->pid);
		fprintf(f, "INFO PROCESS %d \"%s\" \"%s\" %d\n", c->pub.rank > 0 ? c->pub.rank : 0, host, ip,
			(int)c->pid);
	}
	if (c->has_vtsampler) {
		fprintf(f, "INFO SAMPLED by process %d\n", (int)atomic_load(&vt_raw_head(c->pub.raw)->sampler));
	} else {
		fprintf(f, "INFO SAMPLED by a thread inside the program%s%s\n", c->inside_why[0] ? ": " : "",
			c->inside_why);
	}
	fprintf(f, "INFO BINMODE %zu-bit integers and addresses, %s-endian, IEEE 754\n", 8 * sizeof(void *),
		__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "little" : "big");
	if (c->earlier[0]) {
		fprintf(f, "INFO BEFORE-EXEC \"%s\"\n", c->earlier);
	}
	fprintf(f, "INFO PROGRAM \"%s\"\nINFO TRACE \"%s\"\nINFO RAWFILE \"%s\"\nINFO JOB \"%s\"\n", c->program,
		c->trace, c->raw_path, c->job);
	fprintf(f, "# Where there is no trace, type this in the folder of this file and the raw files:\n#   %s\n",
		command(c, 1, line, sizeof(line)));
	if (c->partial) {
		fprintf(f, PARTIAL "\n");
	}
	if (!finished) {
		fprintf(f, VT_RUNNING_LINE "\n");
		return;
	}
	if (c->account.wall_ns > 0) {
		fprintf(f,
			"INFO SAMPLER cpu %.6fs wall %.6fs longest-tick %.6fs latest-wake-up %.6fs ticks %llu period %.6gs "
			"slowed-down %d times\n",
			1e-9 * (double)c->account.cpu_ns, 1e-9 * (double)c->account.wall_ns,
			1e-9 * (double)c->account.longest_ns, 1e-9 * (double)c->account.latest_ns,
			(unsigned long long)c->account.ticks, c->account.period_s, c->account.slowed);
	}
	print_started(c, f);
	if (c->ended_how[0]) {
		fprintf(f, "INFO ENDED %s\n", c->ended_how);
	}
	fprintf(f, "INFO RECORDED %llu bytes, %llu records lost\n", (unsigned long long)vt_raw_size(r),
		(unsigned long long)vt_raw_lost(r));
}

/* Waits at most a second: who holds the lock may be stopped, and locks of another host may hang. */
static int lock_briefly(int fd)
{
	int tries, rc = -1;

	for (tries = 0; tries < 20 && (rc = flock(fd, LOCK_EX | LOCK_NB)) < 0 && errno == EWOULDBLOCK; tries++) {
		nanosleep(&(struct timespec){ 0, 50000000 }, NULL);
	}
	return rc;
}

/* Opens a file that others replace under its lock, too. Without the lock an end that another process adds now may be lost. */
static FILE *open_locked(const char *path)
{
	struct stat is, was;
	FILE *f;

	while ((f = fopen(path, "re")) != NULL && lock_briefly(fileno(f)) == 0 && stat(path, &is) == 0 &&
		fstat(fileno(f), &was) == 0 && is.st_ino != was.st_ino) {
		fclose(f);
	}
	return f;
}

/* Adds how the program ended. What the program has written stays, except the last lines, which are true only while
 * it runs. Returns 0 or -1. */
static int add_end(const struct vt_collector *c)
{
	struct tkm_newfile n = { 0 };
	FILE *old = open_locked(c->prot);
	struct tkm_err e;
	char line[4096], end[300];
	int rc;

	if (!old || tkm_newfile_begin(&n, c->prot, 1, &e) < 0) {
		if (old) {
			fclose(old);
		}
		return -1;
	}
	snprintf(end, sizeof(end), "INFO ENDED process %d: %s\n", (int)c->pid, c->ended_how);
	while (fgets(line, sizeof(line), old)) {
		if (strncmp(line, VT_RUNNING_LINE, strlen(VT_RUNNING_LINE)) && strcmp(line, end)) {
			fputs(line, n.f);
		}
	}
	if (c->partial) {
		fprintf(n.f, PARTIAL "\n");
	}
	fputs(end, n.f);
	rc = tkm_newfile_commit(&n, &e);
	fclose(old);
	return rc;
}

/* Writes the protocol early in the run, so that a killed run has it too, and again at the end. Not for followed
 * children. */
void vt_collect_protocol(struct vt_collector *c, int finished)
{
	struct tkm_newfile n = { 0 };
	struct tkm_err e;

	struct vt_raw_head *head = vt_raw_head(c->pub.raw);

	if (head && atomic_load(&head->protocol) && c != &vt_collector) {
		int untold = finished &&
			(!atomic_load(&head->ending) ||
				atomic_load(&head->ending) % VT_RAW_ENDED_STATUS > VT_RAW_ENDED_SIGNAL ||
				atomic_load(&head->ending) == VT_RAW_ENDED_EXEC);

		/* of a host that does not see the protocol of rank 0 it is another one */
		if ((untold && add_end(c) == 0) || !c->partial) {
			return;
		}
	}
	if ((c->pub.rank > 0 && !c->partial) || vt_run_child(c->run, (int)c->pid)) {
		return;
	}
	if (tkm_newfile_begin(&n, c->prot, 1, &e) < 0) {
		if (finished) {
			vt_say(1, "WARNING", "no protocol file: %s", e.text);
		}
		return;
	}
	fprintf(n.f, "# Protocol of a run of %s under %s.\n# Give it to another run with VT_CONFIG or --config.\n\n",
		c->program, PACKAGE_STRING);
	vt_settings_print(&c->settings, n.f);
	if (c->pub.default_lines) {
		fputs(c->pub.default_lines, n.f);
	}
	print_info(c, n.f, finished);
	if (tkm_newfile_commit(&n, &e) < 0 && finished) {
		vt_say(1, "WARNING", "no protocol file: %s", e.text);
	}
}

int vt_collect_describe_end(uint32_t how, char *to, size_t size)
{
	uint32_t kind = how % VT_RAW_ENDED_STATUS;
	static const char *const own[] = { NULL, "by exit", "by _exit",
		"by exec of another program, whose part of the trace follows", "in MPI_Finalize", "in MPI_Abort" };

	if (kind >= sizeof(own) / sizeof(own[0]) || !own[kind]) {
		return 0;
	}
	if (how < VT_RAW_ENDED_STATUS) {
		snprintf(to, size, "%s", own[kind]);
	} else {
		snprintf(to, size, kind == VT_RAW_ENDED_ABORT ? "%s, code %u" : "%s, exit status %u", own[kind],
			how / VT_RAW_ENDED_STATUS - 1);
	}
	return 1;
}

void vt_collect_close(struct vt_collector *c)
{
	ltick_t last = vt_ticks_now(&c->pub);

	describe_raw_file(c);
	if (c->ended_how[0]) {
		vt_raw_info(c->pub.raw, "ended", c->ended_how);
	}
	vt_say(4, "INFO", "recorded %llu bytes in %s", (unsigned long long)vt_raw_size(c->pub.raw), c->raw_path);
	atomic_store(&vt_raw_head(c->pub.raw)->kept, c->settings.keep_raw_events != 0);
	vt_raw_close(c->pub.raw, last);
}

void vt_collect_finish(struct vt_collector *c, int merge)
{
	struct files f = { 0 };
	char text[9100];

	vt_collect_protocol(c, 1);
	/* ahead of the trace, which the last line names */
	vt_collect_say_no_mpi(c);
	say_sampler_account(c);
	if (merge && writes_trace(c) && first_lives(c)) {
		vt_say(2, "INFO", "the program that was started still runs; the last process writes the trace");
	} else if (merge && writes_trace(c)) {
		find_files(c, &f);
		vt_left_say(&f.left);
		if (f.alive == 0) {
			merge_files(c, &f);
		} else {
			vt_say(2, "INFO", "%d other processes of the job still run; the last one writes the trace",
				f.alive);
		}
		free_files(&f);
	} else if (!writes_trace(c)) {
		/* one command is enough for all ranks */
		vt_say(c->pub.rank > 0 ? 2 : 1, "INFO", "raw data is in %s; %s makes the trace", c->raw_path,
			vt_collect_command(c, text, sizeof(text)));
	} else if (c->pub.together && c->pub.rank == 0) {
		/* its ranks make the trace */
		find_files(c, &f);
		vt_left_say(&f.left);
		free_files(&f);
	}
}
