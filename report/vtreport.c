/* SPDX-License-Identifier: BSD-3-Clause */
/* vtreport: makes one HTML file with pictures from a trace. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cli/await.h"
#include "base/cli/front.h"
#include "base/newfile.h"
#include "base/cli/option.h"
#include "base/cli/temporary.h"
#include "base/text/quote.h"
#include "base/text/text.h"
#include "collector-plugin/raw/reader.h"
#include "report/import.h"
#include "report/html/frame.h"
#include "report/html/html.h"
#include "report/data/index.h"
#include "report/page/page.h"
#include "report/pictures/plot.h"
#include "report/page/several.h"
#include "report/serve.h"

enum { EXIT_FAULT = 1, EXIT_USAGE = 2, FILES = 256 };

struct options {
	const char *output, *plot, *counter, *window;
	int force, compare, keep, serve;
	long long size; /* bytes of a page */
	struct vtr_reading how;
};

static void say_report(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void say_report(const char *fmt, ...)
{
	char text[1200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fputs("vtreport: ", stderr);
	vtr_plain(stderr, text);
	fputc('\n', stderr);
}

/* "dir/job.stf" becomes "dir/job.html". */
static char *default_output(const char *path, const char *suffix)
{
	static const char *const known[] = { ".stf", ".clk", ".gz", ".json", ".pftrace", ".perfetto-trace", ".perfetto",
		".otf2", ".otf", ".ctf", ".csv" };
	size_t n = strlen(path), k = strlen(suffix) + 1, length, i;
	char *to = malloc(n + k);

	while (n > 1 && path[n - 1] == '/') {
		n--;
	}
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		length = strlen(known[i]);
		if (n > length && !strncmp(path + n - length, known[i], length) && path[n - length - 1] != '/') {
			n -= length;
			if (strcmp(known[i], ".gz") != 0) {
				break;
			}
		}
	}
	if (to) {
		memcpy(to, path, n);
		memcpy(to + n, suffix, k);
	}
	return to;
}

static int has_suffix(const char *path, const char *suffix)
{
	size_t n = strlen(path), k = strlen(suffix);

	return n > k && !strcmp(path + n - k, suffix);
}

/* A line on the terminal after a second of reading. */
static void show_progress(double part)
{
	static time_t began;
	static int shown = -1;
	int percent = (int)(100 * part);

	began = began ? began : time(NULL);
	if (percent != shown && time(NULL) - began > 1 && isatty(STDERR_FILENO)) {
		fprintf(stderr, "\rvtreport: %3d %%", percent);
		shown = percent;
	}
	if (part >= 1 && shown >= 0) {
		fprintf(stderr, "\r%20s\r", "");
		shown = -1;
	}
}

/* "dir/job.stf" without its suffix. */
static void trace_base_name(const char *path, char *base, size_t size)
{
	snprintf(base, size, "%s", path);
	if (has_suffix(base, ".clk") || has_suffix(base, ".stf")) {
		base[strlen(base) - 4] = '\0';
	}
}

struct newest {
	char *name;
	struct timespec written;
};

static void take_newer(struct newest *n, const char *name)
{
	struct stat st;

	if (stat(name, &st) < 0 || !S_ISREG(st.st_mode) ||
		(n->name &&
			(st.st_mtim.tv_sec < n->written.tv_sec ||
				(st.st_mtim.tv_sec == n->written.tv_sec &&
					st.st_mtim.tv_nsec <= n->written.tv_nsec)))) {
		return;
	}
	free(n->name);
	n->name = strdup(name);
	n->written = st.st_mtim;
}

/* The trace of the current folder that was written last, which the caller frees; NULL: there is none. Says so if the run after it has no
 * trace yet. */
static char *newest_trace(void)
{
	struct newest trace = { 0 }, run = { 0 };
	char why[9000] = "", name[300];
	DIR *dir = opendir(".");
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		if (has_suffix(d->d_name, ".stf")) {
			take_newer(&trace, d->d_name);
		} else if (has_suffix(d->d_name, ".prot")) {
			take_newer(&run, d->d_name);
		}
	}
	if (dir) {
		closedir(dir);
	}
	if (run.name) {
		snprintf(name, sizeof(name), "%.*s.stf", (int)strlen(run.name) - 5, run.name);
		tkm_await_trace(name, vt_raw_maker, 1, stderr, "vtreport", why, sizeof(why));
		take_newer(&trace, name);
	}
	if (why[0] &&
		(!trace.name || run.written.tv_sec > trace.written.tv_sec ||
			(run.written.tv_sec == trace.written.tv_sec && run.written.tv_nsec > trace.written.tv_nsec))) {
		say_report("%s", why);
	}
	free(run.name);
	return trace.name;
}

/* A run that found job.stf there wrote job-1.stf. */
static void say_later_runs(const char *path)
{
	char base[1000], name[1100], last[1100] = "";
	struct stat st;
	int i;

	trace_base_name(path, base, sizeof(base));
	for (i = 1; i < 10000; i++) {
		snprintf(name, sizeof(name), "%s-%d.stf", base, i);
		if (stat(name, &st) < 0) {
			break;
		}
		memcpy(last, name, sizeof(last));
	}
	if (last[0]) {
		say_report("note: %s is of a later run", last);
	}
}

static int load_clocks(struct vtr_clocks *c, const char *path, struct tkm_err *err)
{
	char base[1000];

	trace_base_name(path, base, sizeof(base));
	vtr_clocks_load(c, base);
	if (!c->loaded) {
		return tkm_fail(err, TKM_ERR_FORMAT, "%s%s", c->why[0] ? c->why : path,
			c->why[0] ? "" : ": there is no such file");
	}
	return 0;
}

/* Returns 1 if the trace is damaged, which is reported here. */
static int load_trace(
	struct vtr_trace *t, struct vtr_clocks *c, const char *path, const struct vtr_reading *how, struct tkm_err *err)
{
	char base[1000], word[4100], why[9000], *folder = NULL, *stf = NULL;
	int rc;

	tkm_await_trace(path, vt_raw_maker, 0, stderr, "vtreport", why, sizeof(why));
	if (why[0]) {
		return tkm_fail(err, TKM_ERR_UNAVAIL, "%s", why);
	}
	if (vtr_is_foreign(path)) {
		if (how->index) {
			return tkm_fail(err, TKM_ERR_ARG,
				"--index is for STF traces: make one by stftool %s --convert NAME.stf",
				tkm_shell_word(word, sizeof(word), path));
		}
		folder = vtr_import(path, &stf, why, sizeof(why), err);
		if (!folder) {
			return -1;
		}
	}
	if (why[0]) {
		say_report("%s: %s", path, why);
	}
	rc = vtr_trace_read(t, stf ? stf : path, how, err);
	free(stf);
	if (rc < 0) {
		if (folder) {
			tkm_temporary_remove(folder);
		}
		tkm_trace_meant(path, why, sizeof(why));
		return why[0] ? tkm_fail(err, TKM_ERR_FORMAT, "%s", why) : -1;
	}
	t->folder = folder;
	t->path = path;
	if (t->note[0]) {
		say_report("%s", t->note);
	}
	trace_base_name(path, base, sizeof(base));
	vtr_clocks_load(c, base);
	if (t->faults) {
		say_report("%s is damaged: %s%s; the report shows what could be read", path, t->fault[0],
			t->faults > 1 ? " and more" : "");
	}
	return t->faults > 0;
}

/* Writes an index. A damaged trace gets none, because the next report would not show the damage. */
static int write_index(const struct vtr_trace *t, struct tkm_err *err)
{
	if (t->faults) {
		say_report("%s is damaged, so it gets no index", t->path);
		return 0;
	}
	return vtr_index_write(t, err);
}

/* The first run of a side of a comparison. */
struct compared {
	struct vtr_trace *t;
	struct vtr_clocks *c;
};

/* Serves the page that was written to f, in memory. */
static int serve_page(FILE *f, struct vtr_timeline *l, struct tkm_err *err)
{
	long n = fflush(f) == 0 && !ferror(f) ? ftell(f) : -1;
	char *page = n > 0 ? malloc((size_t)n) : NULL;
	int rc;

	if (n > 0 && !page) {
		return tkm_fail(err, TKM_ERR_NOMEM, "--serve: out of memory for the page");
	}
	if (n > 0) {
		rewind(f);
	}
	rc = page && fread(page, 1, (size_t)n, f) == (size_t)n
		? vtr_serve(page, (size_t)n, l, err)
		: tkm_fail(err, TKM_ERR_IO, "--serve: the page could not be written to a file in memory");
	free(page);
	return rc;
}

static int write_trace_page(FILE *f, const char *path, const struct options *o, struct tkm_err *err)
{
	const struct vtr_reading *how = &o->how;
	struct vtr_trace t;
	struct vtr_clocks c;
	struct vtr_calls calls;
	struct vtr_timeline l = { .shown = 0 };
	int damaged = load_trace(&t, &c, path, how, err);

	if (damaged >= 0) {
		if (how->index && write_index(&t, err) < 0) {
			say_report("%s", err->text);
			damaged = 1;
		}
		vtr_axis_reduce(&t.axis, VTR_COLUMNS);
		if (vtr_calls_read(&calls, &t) < 0 ||
			vtr_timeline_begin(&l, &t, (uint64_t)o->size, &calls.traffic) < 0) {
			damaged = tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory", path);
		} else {
			l.served = o->serve;
			vtr_write_job(f, &t, &c, &calls, &l);
			damaged = o->serve && serve_page(f, &l, err) < 0 ? -1 : damaged;
		}
		vtr_timeline_free(&l);
		vtr_calls_free(&calls);
		vtr_clocks_free(&c);
		vtr_trace_free(&t);
	}
	return damaged;
}

/* A word that no file has, in the place of the "--" between the runs before and after. */
static const char between[] = "\n--";

/* Loads a run. That which is `kept` stays; of the others only what a comparison needs of them. Returns as load_trace(). */
static int take_run(
	struct vtr_run *r, const char *path, const struct vtr_reading *how, struct compared *kept, struct tkm_err *err)
{
	struct vtr_trace t;
	struct vtr_clocks c;
	int damaged = load_trace(kept ? kept->t : &t, kept ? kept->c : &c, path, how, err);

	if (damaged < 0) {
		return -1;
	}
	if (vtr_run_take(r, kept ? kept->t : &t) < 0) {
		damaged = tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
	}
	if (damaged < 0 || !kept) {
		vtr_clocks_free(kept ? kept->c : &c);
		vtr_trace_free(kept ? kept->t : &t);
	}
	return damaged;
}

static int write_compared(FILE *f, const char **path, int n, const struct vtr_reading *how, struct tkm_err *err)
{
	struct vtr_run run[FILES];
	struct vtr_trace t[2];
	struct vtr_clocks c[2];
	struct vtr_side side[2] = { { run, 0 }, { NULL, 0 } };
	int i, k = 0, taken = 0, damaged = 0, rc = 0;

	for (i = 0; rc >= 0 && i < n; i++) {
		struct compared first;

		if (path[i] == between) {
			continue;
		}
		/* without "--" the second of two is the other side */
		k = taken && (path[i - 1] == between || (n == 2 && i == 1)) ? 1 : k;
		side[k].run = side[k].n ? side[k].run : &run[taken];
		first = (struct compared){ &t[k], &c[k] };
		rc = take_run(&run[taken], path[i], how, side[k].n ? NULL : &first, err);
		if (rc >= 0) {
			side[k].n++;
			taken++;
			damaged |= rc;
		}
	}
	if (rc >= 0) {
		vtr_write_comparison(f, t, c, side);
	}
	for (k = 0; k < 2; k++) {
		if (side[k].n) {
			vtr_clocks_free(&c[k]);
			vtr_trace_free(&t[k]);
		}
	}
	while (taken-- > 0) {
		vtr_run_free(&run[taken]);
	}
	return rc < 0 ? -1 : damaged;
}

static int write_clocks(FILE *f, const char **path, int n, struct tkm_err *err)
{
	struct vtr_clocks *c = calloc((size_t)n, sizeof(*c));
	int i, rc = c ? 0 : tkm_fail(err, TKM_ERR_NOMEM, "out of memory");

	for (i = 0; rc == 0 && i < n; i++) {
		rc = load_clocks(&c[i], path[i], err);
	}
	if (rc == 0 && n == 1) {
		vtr_write_clocks(f, c);
	} else if (rc == 0 && vtr_write_weeks(f, c, (size_t)n) < 0) {
		rc = tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
	}
	for (i = 0; c && i < n; i++) {
		vtr_clocks_free(&c[i]);
	}
	free(c);
	return rc;
}

static int plot(const char *path, const struct options *o)
{
	char base[1000];
	struct vtr_plot_options p = {
		.format = o->plot, .base = base, .only = o->counter, .keep = o->keep, .force = o->force
	};
	struct vtr_trace t;
	struct vtr_clocks c;
	struct tkm_err err;
	int is_clk = has_suffix(path, ".clk"), rc, damaged;

	trace_base_name(o->output ? o->output : path, base, sizeof(base));
	damaged = is_clk ? load_clocks(&c, path, &err) : load_trace(&t, &c, path, &o->how, &err);
	if (damaged < 0) {
		say_report("%s", err.text);
		return EXIT_FAULT;
	}
	p.from_s = is_clk ? 0 : t.offset_s;
	rc = vtr_plot(is_clk ? NULL : &t, &c, &p, &err);
	if (rc < 0) {
		say_report("%s", err.text);
	} else if (rc == 0 && o->counter) {
		say_report("%s: no counter has %s in its name", path, o->counter);
	} else if (rc == 0) {
		say_report("%s: there is nothing to draw", path);
	}
	vtr_clocks_free(&c);
	if (!is_clk) {
		vtr_trace_free(&t);
	}
	return rc <= 0 || damaged ? EXIT_FAULT : 0;
}

static int write_report(const char **path, int n, const char *output, const struct options *o)
{
	struct tkm_newfile out;
	struct tkm_err err;
	int rc;

	if (tkm_newfile_begin(&out, output, tkm_newfile_may_replace(output, VTR_GENERATOR, o->force), &err) < 0) {
		say_report("%s", err.text);
		return EXIT_FAULT;
	}
	if (o->compare) {
		rc = write_compared(out.f, path, n, &o->how, &err);
	} else if (has_suffix(path[0], ".clk")) {
		rc = write_clocks(out.f, path, n, &err);
	} else {
		rc = write_trace_page(out.f, path[0], o, &err);
	}
	if (rc < 0) {
		say_report("%s", err.text);
		tkm_newfile_abort(&out);
		return EXIT_FAULT;
	}
	if (tkm_newfile_commit(&out, &err) < 0) {
		say_report("%s", err.text);
		return EXIT_FAULT;
	}
	printf("%s\n", output);
	return rc ? EXIT_FAULT : 0;
}

/* "FROM:TO", either of which may be missing. */
static int read_window(const char *text, struct vtr_reading *how)
{
	char from[80];
	const char *colon = strchr(text, ':');

	if (!colon || colon - text >= (int)sizeof(from)) {
		return -1;
	}
	snprintf(from, sizeof(from), "%.*s", (int)(colon - text), text);
	how->window = 1;
	how->from_s = 0;
	how->to_s = INFINITY;
	return (*from && tkm_parse_time(from, &how->from_s) < 0) ||
			(colon[1] && tkm_parse_time(colon + 1, &how->to_s) < 0) || how->from_s < 0 ||
			!(how->to_s > how->from_s)
		? -1
		: 0;
}

/* Two traces, or some, "--", and some. */
static int has_two_sides(const char **file, int n)
{
	int i, at = -1;

	for (i = 0; i < n; i++) {
		if (has_suffix(file[i], ".clk") || (file[i] == between && at >= 0)) {
			return 0;
		}
		at = file[i] == between ? i : at;
	}
	return at < 0 ? n == 2 : at > 0 && at < n - 1;
}

static int is_wrong(struct options *o, const char **file, int n, int clocks)
{
	if (o->compare && !has_two_sides(file, n)) {
		say_report("--compare needs two traces, before and after; of several runs: --compare A*.stf -- B*.stf");
	} else if (!o->compare && n != 1 && (n == 0 || clocks < n)) {
		say_report(n ? "one trace, or .clk files only; --compare takes several traces"
			     : "no trace (.stf) is in this folder; a trace or .clk files are needed; --help shows how");
	} else if (o->window && read_window(o->window, &o->how) < 0) {
		say_report("--window takes FROM:TO, times since the start of the trace (10s:12.5s), not %s", o->window);
	} else if ((o->how.window || o->how.index) && clocks) {
		say_report("--%s is for traces, and %s is none", o->window ? "window" : "index", file[0]);
	} else if (o->how.index && (o->how.window || o->plot || o->compare)) {
		say_report("--index makes an index of a whole trace with its report: not with --window, --plot or "
			   "--compare");
	} else if (o->serve && (o->output || o->plot || o->compare || o->how.index || clocks)) {
		say_report(
			"--serve shows one trace and writes no file: not with --output, --plot, --compare, --index or "
			".clk files");
	} else if (o->plot &&
		(o->compare || n != 1 ||
			(strcmp(o->plot, "svg") && strcmp(o->plot, "png") && strcmp(o->plot, "pdf") &&
				strcmp(o->plot, "txt")))) {
		say_report("--plot takes svg, png, pdf or txt, and one trace or .clk file");
	} else {
		return 0;
	}
	return 1;
}

/* The page is in memory only: tmpfile() would be a file. */
static int serve(const char *path, const struct options *o)
{
	struct tkm_err err;
	int fd = memfd_create("page", MFD_CLOEXEC), rc;
	FILE *f = fd >= 0 ? fdopen(fd, "w+") : NULL;

	if (!f) {
		say_report("--serve: no file in memory for the page: %s", strerror(errno));
		if (fd >= 0) {
			close(fd);
		}
		return EXIT_FAULT;
	}
	rc = write_trace_page(f, path, o, &err);
	fclose(f);
	if (rc < 0) {
		say_report("%s", err.text);
	}
	return rc ? EXIT_FAULT : 0;
}

/* The page of a run's clocks alone does not take the name of the page of its trace. */
static const char *suffix_of_page(const char *path, const struct options *o)
{
	char base[1000], trace[1010];

	trace_base_name(path, base, sizeof(base));
	snprintf(trace, sizeof(trace), "%s.stf", base);
	return o->window                                               ? ".window.html"
		: has_suffix(path, ".clk") && access(trace, F_OK) == 0 ? ".clk.html"
								       : ".html";
}

static int run_report(struct options *o, const char **file, int n)
{
	char *output;
	int rc, i;

	for (i = 0; i < n && has_suffix(file[i], ".clk"); i++) {
	}
	if (is_wrong(o, file, n, i)) {
		return EXIT_USAGE;
	}
	if (n == 1 && i == 0) {
		say_later_runs(file[0]);
	}
	if (o->plot) {
		return plot(file[0], o);
	}
	if (o->serve) {
		return serve(file[0], o);
	}
	output = o->output   ? strdup(o->output)
		: o->compare ? strdup("comparison.html")
		: n > 1      ? strdup("clocks.html")
			     : default_output(file[0], suffix_of_page(file[0], o));
	if (!output) {
		say_report("out of memory");
		return EXIT_FAULT;
	}
	rc = write_report(file, n, output, o);
	free(output);
	return rc;
}

/* The options end at "--", but with --compare it is between the runs before and after: they may have options behind. */
static void mark_sides(int argc, char **argv)
{
	int i, compare = 0;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		compare |= !strcmp(argv[i], "--compare");
	}
	for (; compare && i < argc; i++) {
		argv[i] = strcmp(argv[i], "--") ? argv[i] : (char *)(uintptr_t)between;
	}
}

int main(int argc, char **argv)
{
	struct options o = { .output = NULL, .size = 2 << 20, .how.progress = show_progress };
	const struct tkm_option table[] = {
		{ "COMPARE", TKM_OPTION_BOOL, &o.compare, 0, 0, NULL,
			"two traces, before and after, or several: A*.stf -- B*.stf; comparison.html" },
		{ "COUNTER", TKM_OPTION_TEXT, &o.counter, 0, 0, "NAME",
			"with --plot: only counters with NAME in their name" },
		{ "FORCE", TKM_OPTION_BOOL, &o.force, 0, 0, NULL,
			"replace a file that vtreport did not make, or pictures that exist" },
		{ "INDEX", TKM_OPTION_BOOL, &o.how.index, 0, 0, NULL,
			"also TRACE.stf.index, with which the next report takes a second, however long the trace is" },
		{ "KEEP", TKM_OPTION_BOOL, &o.keep, 0, 0, NULL, "with --plot: keep gnuplot's script and data" },
		{ "OUTPUT", TKM_OPTION_TEXT, &o.output, 0, 0, "FILE",
			"name of the report (default: the trace's, .html)" },
		{ "PLOT", TKM_OPTION_TEXT, &o.plot, 0, 0, "svg|png|pdf|txt",
			"single pictures by gnuplot, TRACE.COUNTER.svg; txt: in the terminal" },
		{ "SERVE", TKM_OPTION_BOOL, &o.serve, 0, 0, NULL,
			"write no file: show the page at an address of this machine, with any detail of the timeline" },
		{ "SIZE", TKM_OPTION_BYTES, &o.size, 256 << 10, 1e9, "BYTES",
			"size of the page: how much of the timeline is in it (default: 2MB)" },
		{ "WINDOW", TKM_OPTION_TEXT, &o.window, 0, 0, "FROM:TO",
			"only this time, since the start of the trace: 10s:12.5s" },
		{ .name = NULL },
	};
	static const struct tkm_letter letters[] = { { 'o', "OUTPUT" }, { 0 } };
	static const struct tkm_needs needs[] = { { "KEEP", "PLOT" }, { "COUNTER", "PLOT" }, { .name = NULL } };
	const char *file[FILES];
	struct tkm_err err;
	const struct tkm_front front = { .program = "vtreport",
		.arguments =
			"[TRACE.stf] [OPTION...]\nA.clk B.clk... [OPTION...]\n--compare BEFORE.stf... -- AFTER.stf... [OPTION...]",
		.what = "Writes TRACE.html: what ran, its counters over time, functions, messages, clocks. Without a name it "
			"takes the newest trace of the folder.",
		.after = "Exit status: 0 all is well, 1 a file cannot be read or written or is damaged (the report "
			 "shows what "
			 "could be read), 2 wrong usage.",
		.table = table,
		.letter = letters,
		.needs = needs };
	int n, rc = 0;

	mark_sides(argc, argv);
	n = tkm_front_arguments(&front, argc, argv, file, FILES, &err);
	char *newest = NULL;

	if (n == -1) {
		say_report("%s", err.text);
		rc = EXIT_USAGE;
	} else if (n >= 0) {
		if (n == 0 && !o.compare) {
			newest = newest_trace();
			file[0] = newest;
			n = newest != NULL;
		}
		rc = run_report(&o, file, n);
		free(newest);
	}
	tkm_option_free(table, NULL);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		say_report("cannot write to standard output");
		rc = EXIT_FAULT;
	}
	return rc;
}
