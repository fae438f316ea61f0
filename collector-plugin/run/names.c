/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of the files of a run: Intel Trace Collector guide, section 3.2, LOGFILE-NAME, LOGFILE-PREFIX, PROGNAME,
 * PROTOFILE-NAME, FLUSH-PREFIX, FLUSH-PID. */
#include "config.h"
#include "collector-plugin/run/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/known.h"
#include "base/newname.h"
#include "collector-plugin/core/collector.h"
#include "collector-plugin/host/program/near.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/raw/process.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/settings/formats.h"
#include "collector-plugin/settings/run_value.h"

extern char *program_invocation_name;

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void name_program(struct vt_collector *c, const char *argv0)
{
	char given[256];
	const char *name = c->settings.progname;

	/* if the run begins anew, the name is there already */
	if (!name && argv0 == c->program) {
		return;
	}
	/* vtrun knows the name best, but children of the program are other programs */
	if (!name && vt_run_value(c->run, "pid", given, sizeof(given)) && atoi(given) == (int)getpid() &&
		vt_run_value(c->run, "prog", given, sizeof(given))) {
		name = given;
	}
	name = name ? name : argv0 ? argv0 : program_invocation_name;
	/* the caller of a setuid program must not choose its name */
	if (!name || !*base_name(name) || getauxval(AT_SECURE)) {
		name = vt_own_program(given, sizeof(given));
	}
	/* a login shell is called "-bash" */
	name = base_name(name);
	snprintf(c->program, sizeof(c->program), "%.200s",
		*name == '-' && name[1] ? name + 1
			: *name         ? name
					: "UNKNOWN");
}

static int ends_in_suffix(const char *name, const char *suffix)
{
	size_t n = strlen(name), k = strlen(suffix);

	return n > k && !strcasecmp(name + n - k, suffix);
}

/* "DIR/name" or the name itself if it is absolute. -1: too long. */
static int join_path(char *to, size_t size, const char *dir, const char *name)
{
	int n = *name == '/'                                    ? snprintf(to, size, "%s", name)
		: !strcmp(name, ".")                            ? snprintf(to, size, "%s", dir)
		: ends_in_suffix(dir, "/") || !strcmp(dir, "/") ? snprintf(to, size, "%s%s", dir, name)
								: snprintf(to, size, "%s/%s", dir, name);

	return n < 0 || (size_t)n >= size ? -1 : 0;
}

/* Finds the absolute folder in which relative names begin. */
static int start_directory(const struct vt_collector *c, char *dir, size_t size)
{
	char here[1024];

	if (!getcwd(here, sizeof(here))) {
		strcpy(here, "/tmp"); /* the directory was removed, or its name is too long */
	}
	return join_path(dir, size, here, c->settings.current_dir ? c->settings.current_dir : ".");
}

static void choose_format(struct vt_collector *c)
{
	const char *f = c->settings.logfile_format, *n = c->settings.logfile_name;

	c->single =
		f ? !strcasecmp(f, "SINGLESTF") || !strcasecmp(f, "STFSINGLE") : n && ends_in_suffix(n, ".single.stf");
	c->format = f ? vt_format_by_name(f) : n ? vt_format_by_suffix(n) : NULL;
}

/* Returns the length of the trace's name without its suffix. */
static size_t stem_length(const char *trace)
{
	return strlen(trace) -
		(ends_in_suffix(trace, ".single.stf")           ? strlen(".single.stf")
				: ends_in_suffix(trace, ".stf") ? strlen(".stf")
								: 0);
}

const char *vt_collect_target(const struct vt_collector *c, char *to, size_t size)
{
	if (!c->format) {
		return NULL;
	}
	snprintf(to, size, "%.*s%s", (int)stem_length(c->trace), c->trace, c->format->suffix);
	return to;
}

/* The text between the quotes of a line that begins so; NULL: another line. */
static char *quoted_info(char *line, const char *start)
{
	size_t n = strlen(start);
	char *end = strncmp(line, start, n) ? NULL : strrchr(line + n, '"');

	if (end) {
		*end = '\0';
	}
	return end ? line + n : NULL;
}

/* Is the protocol's name for this trace taken by another job that runs, or whose protocol holds the command that makes the
 * trace? Its raw file is there still, if this host can see it. Any other protocol is a mere leftover. */
static int is_protocol_needed(const struct vt_collector *c, const char *path)
{
	char line[4400], host[256], here[256] = "", *text;
	int ours = 0, raw = 0, running = 0, elsewhere = 0;
	struct stat st;
	FILE *f;

	if (c->settings.protofile_name || lstat(path, &st) < 0) {
		return 0;
	}
	gethostname(here, sizeof(here) - 1);
	f = S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "INFO PROCESS 0 \"%255[^\"]", host) == 1) {
			elsewhere = !tkm_known_equal(host, here);
		} else if ((text = quoted_info(line, "INFO RAWFILE \""))) {
			raw = access(text, F_OK) == 0;
		} else if ((text = quoted_info(line, "INFO JOB \""))) {
			ours = !strcmp(text, c->job);
		}
		running |= !strncmp(line, VT_RUNNING_LINE, strlen(VT_RUNNING_LINE));
	}
	if (f) {
		fclose(f);
	}
	return !ours && (raw || (running && elsewhere));
}

/* Do all ranks know the job by the same name? Else their protocols would be those of others. */
static int is_job_common(const struct vt_collector *c)
{
	char own[16];

	snprintf(own, sizeof(own), "%d-", (int)getpid());
	return c->pub.rank < 0 || strncmp(c->job, own, strlen(own)) != 0;
}

/* Chooses a name that is still free, "app-1.stf" if there is an app.stf or an app.clk, unless that may be replaced. At the
 * end, app.clk may be the job's own. */
static void free_name(struct vt_collector *c, char *trace, size_t size, int at_start)
{
	char stem[1024], base[1100], protocol[1110], suffix[16];
	/* components that were left there, too */
	const char *suffixes[6] = { suffix, ".stf.dcl", ".stf.dcl.zst" };
	size_t n = 3;
	int i;

	snprintf(suffix, sizeof(suffix), "%s", trace + stem_length(trace));
	if (c->format) {
		suffixes[n++] = c->format->suffix;
	}
	if (at_start) {
		suffixes[n] = ".clk";
	}
	snprintf(stem, sizeof(stem), "%.*s", (int)stem_length(trace), trace);
	snprintf(base, sizeof(base), "%s", stem);
	for (i = 1; !c->settings.force && i < 10000; i++) {
		snprintf(protocol, sizeof(protocol), "%s.prot", base);
		if (!tkm_newname_is_taken(base, suffixes) &&
			!(at_start && is_job_common(c) && is_protocol_needed(c, protocol))) {
			break;
		}
		snprintf(base, sizeof(base), "%s-%d", stem, i);
	}
	snprintf(trace, size, "%.*s%s", (int)(size - sizeof(suffix)), base, suffix);
}

void vt_collect_free_name(struct vt_collector *c)
{
	free_name(c, c->trace, sizeof(c->trace), 0);
}

static int is_absolute(const char *name)
{
	return name && *name == '/';
}

static int name_trace(struct vt_collector *c, struct tkm_err *err)
{
	char dir[1024], prefix[1024], name[300];
	const char *given = c->settings.logfile_name;

	choose_format(c);
	c->trace_stem = 0;
	if (vt_run_value(c->run, "trace", c->trace, sizeof(c->trace))) {
		return 0; /* a followed child: the job has its trace already */
	}
	if (!getcwd(dir, sizeof(dir)) && !is_absolute(given) && !is_absolute(c->settings.logfile_prefix) &&
		!is_absolute(c->settings.current_dir)) {
		vt_say(1, "WARNING", "the current folder %s: the trace is in /tmp",
			errno == ERANGE ? "has a name of more than 1023 bytes" : "was removed");
	}
	if (!given) {
		snprintf(name, sizeof(name), "%s%s", c->program, c->single ? ".single.stf" : ".stf");
		given = name;
	}
	if (start_directory(c, dir, sizeof(dir)) < 0 ||
		join_path(prefix, sizeof(prefix), dir, c->settings.logfile_prefix ? c->settings.logfile_prefix : ".") <
			0 ||
		join_path(c->trace, sizeof(c->trace) - 8, prefix, given) < 0) {
		return tkm_fail(err, TKM_ERR_ARG, "the trace's name is too long: %s", given);
	}
	if (c->format && ends_in_suffix(c->trace, c->format->suffix)) {
		c->trace[strlen(c->trace) - strlen(c->format->suffix)] = '\0';
	}
	if (!ends_in_suffix(c->trace, ".stf")) {
		strcat(c->trace, ".stf");
	}
	c->trace_stem = (int)stem_length(c->trace);
	free_name(c, c->trace, sizeof(c->trace), 1);
	return 0;
}

static int name_protocol(struct vt_collector *c, struct tkm_err *err)
{
	char dir[1024];

	if (c->settings.protofile_name) {
		if (start_directory(c, dir, sizeof(dir)) < 0 ||
			join_path(c->prot, sizeof(c->prot), dir, c->settings.protofile_name) < 0) {
			return tkm_fail(err, TKM_ERR_ARG, "PROTOFILE-NAME is too long: %s", c->settings.protofile_name);
		}
		return 0;
	}
	snprintf(c->prot, sizeof(c->prot), "%.*s.prot", (int)stem_length(c->trace), c->trace);
	return 0;
}

/* Changes "app.stf" to "app-WHAT.stf", and its protocol likewise. */
int vt_collect_rename(struct vt_collector *c, const char *what)
{
	char old[sizeof(c->trace)];
	struct tkm_err e;
	int n = (int)stem_length(c->trace), stem = c->trace_stem ? c->trace_stem : n;

	snprintf(old, sizeof(old), "%s", c->trace);
	if (snprintf(c->trace, sizeof(c->trace), "%.*s-%s%s", stem, old, what, old + n) >= (int)sizeof(c->trace)) {
		memcpy(c->trace, old, sizeof(old));
		return -1;
	}
	return name_protocol(c, &e);
}

int vt_collect_names(struct vt_collector *c, const char *argv0, struct tkm_err *err)
{
	name_program(c, argv0);
	if (!vt_run_value(c->run, "job", c->job, sizeof(c->job))) {
		vt_job_name(c->pub.rank >= 0, c->job, sizeof(c->job));
	}
	return name_trace(c, err) < 0 || name_protocol(c, err) < 0 ? -1 : 0;
}

/* ---- the raw file ---- */

enum { TEMPORARY_FOLDERS = 6, LEAST_ON_NODE_BYTES = 512 << 20 };

static void say_existing_trace(const char *path, int why)
{
	vt_say(1, "WARNING",
		"no place for more records in %s: %s. The program goes on%s, records are lost and counted; see %s",
		path,
		why == ENOBUFS         ? "MEM-MAXBLOCKS is reached"
			: why == EFBIG ? "FLUSH-LIMIT is reached"
				       : strerror(why),
		why == EFBIG ? " with statistics only" : "",
		why == ENOBUFS         ? "MEM-MAXBLOCKS and AUTOFLUSH"
			: why == EFBIG ? "FLUSH-LIMIT"
				       : "FLUSH-PREFIX for another folder");
}

/* Of the trace; given by the user, or all that is left, so that a file system of FUSE is allowed; one that all users may have. */
enum raw_folder { RAW_OF_TRACE, RAW_GIVEN, RAW_TEMPORARY };

/* Creates .VT-flush-<program>_<rank>-<pid>.raw. A number follows if the name is taken, for example by a killed
 * process with the same pid. */
static struct vt_raw *create_in(struct vt_collector *c, const char *dir, enum raw_folder folder, struct tkm_err *err)
{
	struct vt_raw_options o = vt_raw_options_of(c);
	char name[400], pid[16] = "";
	struct vt_raw *r = NULL;
	int i;

	o.served = folder == RAW_GIVEN;
	o.own = folder == RAW_TEMPORARY;
	o.job = c->job;
	o.trace = c->trace;
	o.program = c->program;
	o.timer = c->pub.timer->name;
	o.hz = c->pub.timer->hz;
	o.start = c->pub.start;
	o.rank = c->pub.rank;
	o.ranks = c->pub.ranks;
	o.stopped = say_existing_trace;
	if (c->settings.flush_pid) {
		snprintf(pid, sizeof(pid), "-%d", (int)getpid());
	}
	for (i = 0; i < 1000 && !r; i++) {
		if (i == 0) {
			snprintf(name, sizeof(name), VT_RAW_PREFIX "%s_%d%s" VT_RAW_SUFFIX, c->program,
				c->pub.rank < 0 ? 0 : c->pub.rank, pid);
		} else {
			snprintf(name, sizeof(name), VT_RAW_PREFIX "%s_%d%s.%d" VT_RAW_SUFFIX, c->program,
				c->pub.rank < 0 ? 0 : c->pub.rank, pid, i);
		}
		if (join_path(c->raw_path, sizeof(c->raw_path), dir, name) < 0) {
			tkm_fail(err, TKM_ERR_ARG, "the raw file's name is too long: %s/%s", dir, name);
			return NULL;
		}
		r = vt_raw_create(&o, err);
		if (!r && err->code != TKM_ERR_EXISTS) {
			return NULL;
		}
	}
	return r;
}

/* The folders of the guide, for the case that the raw file cannot be in the folder of the trace; NULL: this one is not given. */
static const char *temporary_folder(size_t i)
{
	static const char *const variables[] = { "BIGTEMP", "FASTTEMP", "TMPDIR", "TMP", "TMPVAR" };
	const char *d = i < TEMPORARY_FOLDERS - 1 ? secure_getenv(variables[i]) : "/tmp";

	return d && *d == '/' ? d : NULL;
}

/* On a folder that many nodes use, each process would open and extend a file of its own. So its raw file is in a folder of the
 * node, unless that has little room; in memory only where there is no other. */
static struct vt_raw *create_on_node(struct vt_collector *c, const char *trace_folder)
{
	char parents[sizeof(c->raw_path)];
	struct tkm_err e;
	struct vt_raw *r = NULL;
	uint64_t room = 0;
	size_t i;
	int kind;

	if (vt_raw_disk_of(trace_folder, &room) != VT_RAW_SHARED) {
		return NULL;
	}
	if (vt_run_value(c->run, "raw", parents, sizeof(parents))) {
		/* beside it: a folder that a script names may be removed when the script ends */
		*strrchr(parents, '/') = '\0';
		return create_in(c, parents, RAW_TEMPORARY, &e);
	}
	for (kind = VT_RAW_OWN_DISK; !r && kind <= VT_RAW_IN_MEMORY; kind++) {
		for (i = 0; !r && i < TEMPORARY_FOLDERS; i++) {
			const char *d = temporary_folder(i);

			if (d && vt_raw_disk_of(d, &room) == kind && room >= LEAST_ON_NODE_BYTES) {
				r = create_in(c, d, RAW_TEMPORARY, &e);
			}
		}
	}
	return r;
}

struct vt_raw *vt_collect_raw(struct vt_collector *c, struct tkm_err *err)
{
	char dir[1024], first[1024];
	struct tkm_err why, again;
	struct vt_raw *r;
	size_t i;

	if (start_directory(c, dir, sizeof(dir)) < 0 ||
		(c->settings.flush_prefix && join_path(first, sizeof(first), dir, c->settings.flush_prefix) < 0)) {
		tkm_fail(err, TKM_ERR_ARG, "FLUSH-PREFIX is too long");
		return NULL;
	}
	if (!c->settings.flush_prefix) {
		snprintf(first, sizeof(first), "%s", c->trace);
		*(strrchr(first, '/') == first ? first + 1 : strrchr(first, '/')) = '\0';
	}
	r = c->settings.flush_prefix ? NULL : create_on_node(c, first);
	if (r) {
		return r;
	}
	r = create_in(c, first, c->settings.flush_prefix ? RAW_GIVEN : RAW_OF_TRACE, &why);
	for (i = 0; !r && i < TEMPORARY_FOLDERS; i++) {
		const char *d = temporary_folder(i);

		r = d ? create_in(c, d, RAW_TEMPORARY, &again) : NULL;
	}
	r = r ? r : create_in(c, first, RAW_GIVEN, &again);
	if (!r) {
		*err = why;
	} else if (strncmp(c->raw_path, first, strlen(first))) {
		vt_say(1, "WARNING", "%s; the raw file is %s", why.text, c->raw_path);
	}
	return r;
}
