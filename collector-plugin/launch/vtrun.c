/* SPDX-License-Identifier: BSD-3-Clause */
/* vtrun [options] -- program args: adds libVTcs.so to the program and becomes it by exec. Nothing of vtrun stays:
 * the program keeps its process id, its parent, its signals and its terminal. */
#include "config.h"
#include "collector-plugin/launch/launch.h"

#include <dlfcn.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/text.h"
#include "collector-plugin/attach/attach.h"
#include "collector-plugin/host/program/exec_target.h"
#include "collector-plugin/host/program/near.h"
#include "collector-plugin/host/program/needed.h"
#include "collector-plugin/settings/run_value.h"
#include "collector-plugin/settings/settings.h"
#include "collector-plugin/settings/suppress.h"

enum { LINKED = 32 }; /* room for the name of a library */

/* All ranks of a job usually have the same options. */
static void complain_of_start(void *ctx, const char *line)
{
	const struct vtrun *r = ctx;

	if (vt_launcher_rank() <= 0 || r->settings.verbose > 1) {
		vt_launch_say("%s", line);
	}
}

/* ---- the library ---- */

/* Finds the library in the folder of vtrun in the build, or in the installation that vtrun is part of. Returns 0 or
 * -1. */
static int library_near(struct vtrun *r, const char *program)
{
	static const char *const places[] = { "/.libs", "", "/../lib", "/../lib64", NULL };
	char dir[900], path[1000];
	int i;

	snprintf(dir, sizeof(dir), "%s", program);
	if (!strrchr(dir, '/')) {
		return -1;
	}
	*strrchr(dir, '/') = '\0';
	for (i = 0; places[i]; i++) {
		snprintf(path, sizeof(path), "%s%s/libVTcs.so", dir, places[i]);
		if (access(path, R_OK) == 0) {
			snprintf(r->library, sizeof(r->library), "%s", path);
			return 0;
		}
	}
	return -1;
}

static int find_preloaded_library(struct vtrun *r)
{
	/* under valgrind, this is not vtrun */
	const char *started_as = (const char *)getauxval(AT_EXECFN);
	char own[900], *real;

	snprintf(r->library, sizeof(r->library), "%s/libVTcs.so", LIBDIR);
	if (library_near(r, vt_own_program(own, sizeof(own))) < 0 && started_as) {
		library_near(r, started_as);
	}
	snprintf(r->found, sizeof(r->found), "%s", r->library);
	real = realpath(r->library, NULL);
	if (!real) {
		return -1;
	}
	snprintf(r->library, sizeof(r->library), "%s", real);
	free(real);
	/* LD_PRELOAD cannot contain these characters in a path */
	return strpbrk(r->library, ": ") ? -1 : 0;
}

/* A program that is linked with libVTfs or libVTim gets that library: with another one beside it, two would record. */
static int note_linked_library(const char *name, void *linked)
{
	if (!vt_is_mpi_recorder(name, NULL)) {
		return 0;
	}
	snprintf(linked, LINKED, "%.*s.so", (int)strcspn(name, "."), name);
	return 1;
}

/* Another library in the folder of libVTcs.so. */
static void name_beside(const struct vtrun *r, const char *name, char *path, size_t size)
{
	char *slash;

	snprintf(path, size, "%s", r->library);
	slash = strrchr(path, '/');
	snprintf(slash + 1, size - (size_t)(slash + 1 - path), "%s", name);
}

static void choose_library(struct vtrun *r, const char *path)
{
	char mpi[1024], linked[LINKED] = "libVT.so";
	struct tkm_err e;

	vt_each_needed(path, note_linked_library, linked);
	name_beside(r, linked, mpi, sizeof(mpi));
	switch (vt_launch_uses_mpi(path, r->settings.follow_children, mpi, sizeof(mpi), &e)) {
	case 1:
		snprintf(r->library, sizeof(r->library), "%s", mpi);
		break;
	case -1:
		vt_launch_say("%s: its processes are recorded one by one", e.text);
		break;
	default:
		break;
	}
}

/* ---- running ---- */

/* Starts the sampler, which gets ready while the program is loaded. If that fails, the library in the program tries
 * again and reports the reason. */
static void start_sampler(const struct vtrun *r)
{
	const char *sampler = r->settings.sampler;
	struct tkm_err e;
	int fd;

	if ((sampler && !strcasecmp(sampler, "thread")) || getpid() == 1) {
		return;
	}
	fd = vt_attach_connect(r->job);
	if (fd >= 0) {
		close(fd);
	} else {
		vt_attach_start(r->job, r->library, &e);
	}
}

static void tell_library(struct vtrun *r)
{
	const char *old = getenv("LD_PRELOAD"), *name = strrchr(r->program[0], '/');
	char text[8192], preload[8192], place[64] = "", err[64] = "";
	struct stat st;

	if (r->join) {
		snprintf(place, sizeof(place), "\tjoin=1\trank=%lld\tranks=%d", r->rank, r->joined_ranks);
	}
	if (fstat(STDERR_FILENO, &st) == 0 && S_ISREG(st.st_mode)) {
		snprintf(err, sizeof(err), "\terr=%llu:%llu", (unsigned long long)st.st_dev,
			(unsigned long long)st.st_ino);
	}
	snprintf(preload, sizeof(preload), "%s%s%s", r->library, old && *old ? ":" : "", old && *old ? old : "");
	snprintf(text, sizeof(text),
		"pid=%d\tjob=%s\tuid=%u%s%s\tfollow=%d\tprog=%.200s\tcommanded=%.1000s\tset=%.1500s\tpreload=%.500s",
		(int)getpid(), r->job, (unsigned)geteuid(), place, err, r->settings.follow_children,
		name ? name + 1 : r->program[0], r->commanded, r->set, old ? old : "");
	setenv(VT_RUN_VARIABLE, text, 1);
	setenv("LD_PRELOAD", preload, 1);
}

/* A child of a sampled program that is vtrun again begins a run of its own. */
static void forget_outer_run(void)
{
	char before[4096];
	const char *outer = getenv(VT_RUN_VARIABLE);

	if (outer) {
		if (vt_run_value(outer, "preload", before, sizeof(before)) && *before) {
			setenv("LD_PRELOAD", before, 1);
		} else {
			unsetenv("LD_PRELOAD");
		}
		unsetenv(VT_RUN_VARIABLE);
	}
}

/* A job that cannot be joined is no reason not to run. */
static void name_job(struct vtrun *r)
{
	if (!r->join || vt_launch_join(r) < 0) {
		r->join = NULL;
		vt_job_name(0, r->job, sizeof(r->job));
	}
}

/* Starts the library in vtrun itself. It hands the process over to the sampler, which continues to sample it when
 * the program replaces vtrun by exec. */
static void record_with_vtsampler(struct vtrun *r, const char *why)
{
	int fd;

	name_job(r);
	start_sampler(r);
	fd = vt_attach_connect(r->job);
	if (fd < 0) {
		vt_launch_say("%s, and no sampler process can be used: it runs unsampled", why);
		return;
	}
	close(fd);
	if (r->settings.follow_children) {
		vt_launch_say("--follow-children: left out, since the library is not in the program");
		r->settings.follow_children = 0;
	}
	tell_library(r);
	if (!dlopen(r->library, RTLD_NOW | RTLD_LOCAL)) {
		vt_launch_say("%s, and %s: it runs unsampled", why, dlerror());
	} else if (r->settings.verbose > 0) {
		vt_launch_say(
			"%s. VT_ and MPI calls are not recorded; the sampler process writes the trace after its end",
			why);
	}
	/* the library has removed its own variables, unless it did not start */
	forget_outer_run();
}

static int begins_with_interpreter(const char *path)
{
	char begin[2] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC), has;

	has = fd >= 0 && read(fd, begin, 2) == 2 && begin[0] == '#' && begin[1] == '!';
	if (fd >= 0) {
		close(fd);
	}
	return has;
}

/* --check-mpi: libVTmc.so checks the program. With CHECK-TRACING libVT.so is loaded before it and records. Returns 0 or -1, which was
 * reported. */
static int prepare_check(struct vtrun *r, const char *path)
{
	const char *tracing = vt_settings_other(&r->settings, "CHECK-TRACING"), *old = getenv("LD_PRELOAD");
	const char *suppress = vt_settings_other(&r->settings, "CHECK-SUPPRESS");
	struct vt_suppress lines;
	char checker[1024], preload[8192];
	struct tkm_err e = { .text = "" };
	int traces = 0;

	name_beside(r, "libVTmc.so", checker, sizeof(checker));
	if (vt_launch_uses_mpi(path, 0, checker, sizeof(checker), &e) != 1) {
		vt_launch_say("--check-mpi: %s%s", e.text[0] ? e.text : path,
			e.text[0] ? "" : " does not use MPI: there is nothing to check");
		return -1;
	}
	if (suppress && vt_suppress_read(&lines, suppress, &e) < 0) {
		vt_launch_say("%s", e.text);
		return -1;
	}
	if (suppress) {
		vt_suppress_free(&lines);
	}
	if (tracing) {
		tkm_parse_bool(*tracing ? tracing : "on", &traces);
	}
	snprintf(preload, sizeof(preload), "%s%s%s", checker, old && *old ? ":" : "", old && *old ? old : "");
	setenv("LD_PRELOAD", preload, 1);
	if (traces) {
		choose_library(r, path);
		vt_job_name(0, r->job, sizeof(r->job));
		start_sampler(r);
		tell_library(r);
	}
	return 0;
}

static int is_checker(const char *name, void *unused)
{
	(void)unused;
	return strncmp(name, "libVTmc.so", 10) == 0;
}

/* An option of the command line that only libVTmc reads, in a program that does not load it; NULL: none. A script may start a
 * program that does. */
static const char *option_without_checker(const struct vtrun *r, const char *path, char *name, size_t size)
{
	const char *preload = getenv("LD_PRELOAD"), *at = r->commanded;

	while (*at && (strncmp(at, "CHECK", 5) || !strncmp(at, "CHECK-MPI", 9))) {
		at += strcspn(at, ",");
		at += *at == ',';
	}
	if (!*at || (preload && strstr(preload, "libVTmc.so")) || begins_with_interpreter(path) ||
		vt_each_needed(path, is_checker, NULL)) {
		return NULL;
	}
	snprintf(name, size, "%.*s", (int)strcspn(at, ","), at);
	for (size_t i = 0; name[i]; i++) {
		name[i] = (char)tolower((unsigned char)name[i]);
	}
	return name;
}

static int run_program(struct vtrun *r)
{
	char path[4096], name[80];
	struct tkm_err e;
	int status = 126, rc = vt_exec_target(r->program[0], path, sizeof(path), &status, &e);

	if (rc < 0) {
		vt_launch_say("%s", e.text);
		return status;
	}
	if (r->check_mpi && (rc != 0 || find_preloaded_library(r) < 0)) {
		vt_launch_say(
			"--check-mpi: %s", rc ? e.text : "libVTmc.so is missing, or has a blank or colon in its name");
		return 2;
	}
	if (!r->check_mpi && option_without_checker(r, path, name, sizeof(name))) {
		vt_launch_say(
			"--%s has an effect only with --check-mpi, or in a program that is linked with libVTmc", name);
		return 2;
	}
	if (r->check_mpi) {
		if (prepare_check(r, path) < 0) {
			return 2;
		}
	} else if (rc == VT_EXEC_UNSAMPLED) {
		vt_launch_say("%s", e.text);
	} else if (find_preloaded_library(r) < 0) {
		vt_launch_say(
			"%s is missing, or has a blank or colon in its name: the program runs without being recorded",
			r->library);
	} else if (rc == VT_EXEC_OUTSIDE) {
		record_with_vtsampler(r, e.text);
	} else {
		choose_library(r, path);
		name_job(r);
		start_sampler(r);
		tell_library(r);
	}
	execv(path, r->program);
	if (errno == ENOEXEC) {
		if (begins_with_interpreter(path)) {
			vt_launch_say(
				"%s: its #! line has no interpreter, or one whose name is too long for the kernel",
				path);
		} else {
			/* shells run it themselves */
			vt_launch_say("%s has no #! line: start it as sh %s", path, path);
		}
		return 126;
	}
	vt_launch_say("cannot run %s: %s", path, strerror(errno));
	return errno == ENOENT ? 127 : 126;
}

/* Writes the name by which vtrun finds its library, without "..": in a container there are no links to follow. */
static void name_found(const struct vtrun *r, char *name, size_t size)
{
	char dir[1024], *real;

	snprintf(dir, sizeof(dir), "%s", r->found);
	*strrchr(dir, '/') = '\0';
	real = realpath(dir, NULL);
	snprintf(name, size, "%s%s", real ? real : dir, strrchr(r->found, '/'));
	free(real);
}

/* " --bind FILE:FILE", unless it is "" */
static void print_bind(const char *file)
{
	if (*file) {
		printf(" --bind %s:%s", file, file);
	}
}

static int print_apptainer(struct vtrun *r)
{
	static const char *const places[][3] = { { VT_NEAR_INSIDE, NULL }, { VT_NEAR_SYSTEM, NULL },
		{ VT_NEAR_OMP, NULL } };
	char own[1024], found[2100], sampler[1200] = "";
	size_t i;

	vt_own_program(own, sizeof(own));
	if (find_preloaded_library(r) < 0) {
		vt_launch_say("%s is missing", r->library);
		return 1;
	}
	name_found(r, found, sizeof(found));
	vt_attach_program(own, sampler, sizeof(sampler));
	printf("# vtrun inside the container starts the program; it, its libraries and the sampler are bound into it "
	       "(it needs hwloc there):\n"
	       "apptainer exec --bind %s:%s",
		r->library, found);
	print_bind(own);
	print_bind(sampler);
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char library[2200];

		if (vt_find_installed_library(found, places[i], "", library, sizeof(library)) == 0) {
			print_bind(library);
		}
	}
	printf(" IMAGE %s -- PROGRAM\n", own);
	return 0;
}

int main(int argc, char **argv)
{
	static struct vtrun r = { .duration_s = 3600, .rank = -1 };
	int rc;

	forget_outer_run();
	vt_settings_init(&r.settings);
	vt_settings_help(&r.settings);
	rc = vt_launch_parse(&r, argc, argv);
	if (rc != 0) {
		return rc > 0 ? 0 : 2;
	}
	vt_settings_free(&r.settings);
	vt_settings_init(&r.settings);
	r.settings.complain = complain_of_start;
	r.settings.ctx = &r;
	vt_settings_load(&r.settings, r.commanded);
	if (r.apptainer) {
		return print_apptainer(&r);
	}
	if (r.doctor) {
		find_preloaded_library(&r);
		return vt_launch_doctor(&r);
	}
	if (r.list || r.estimate) {
		return r.list ? vt_launch_list(&r) : vt_launch_estimate(&r);
	}
	if (r.contact) {
		return vt_launch_check(&r) < 0 ? 2 : vt_launch_contact(&r);
	}
	if (!r.program) {
		vt_launch_say("no program; vtrun --help shows how");
		return 2;
	}
	return vt_launch_check(&r) < 0 ? 2 : run_program(&r);
}
