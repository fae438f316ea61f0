/* SPDX-License-Identifier: BSD-3-Clause */
/* The first screen: what ran, where, how long, and the findings that matter most. */
#include "config.h"
#include "report/data/first.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/html/html.h"

/* Limits above which something is reported; doc/man/vtreport.1 has them. */
#define IMBALANCE 0.10   /* of the slowest rank's time */
#define ALIKE 0.75       /* of the time that another rank was present */
#define IO_PRESSURE 20.0 /* percent of the run */
#define DISK_BUSY 80.0   /* percent of the run */
#define DISK_MUCH 10240  /* KB/s: reported although it is unknown whether it was too much */
#define SAMPLER_COST 1.0 /* percent of a core */
#define CPU_FULL 2.0     /* percent of a core idle, of the node */

void vtr_find(struct vtr_findings *all, double weight, enum vtr_grade grade, const char *title, const char *fmt, ...)
{
	struct vtr_finding *n = &all->list[all->n];
	va_list ap;

	if (all->n == sizeof(all->list) / sizeof(all->list[0])) {
		return;
	}
	all->n++;
	n->weight = weight;
	n->grade = grade;
	snprintf(n->title, sizeof(n->title), "%s", title);
	va_start(ap, fmt);
	vsnprintf(n->text, sizeof(n->text), fmt, ap);
	va_end(ap);
}

static int by_weight(const void *a, const void *b)
{
	const struct vtr_finding *x = a, *y = b;

	return x->weight < y->weight ? 1 : x->weight > y->weight ? -1 : 0;
}

void vtr_sort_findings(struct vtr_findings *all)
{
	qsort(all->list, all->n, sizeof(all->list[0]), by_weight);
}

/* ---- findings ---- */

struct spread {
	const struct vtr_series *least, *most;
	double mean, sum;
	size_t n;
};

static double column_mean(const struct vtr_series *s)
{
	return s->sum / s->weight;
}

/* The spread over the series of a counter; n = 0: no series has values. */
static struct spread spread_of(const struct vtr_trace *t, const char *name)
{
	struct spread p = { NULL, NULL, 0, 0, 0 };
	size_t i;

	for (i = 0; i < t->axis.n_series; i++) {
		const struct vtr_series *s = &t->axis.series[i];

		if (s->weight <= 0 || strcmp(t->counter[s->counter].name, name)) {
			continue;
		}
		p.least = !p.least || column_mean(s) < column_mean(p.least) ? s : p.least;
		p.most = !p.most || column_mean(s) > column_mean(p.most) ? s : p.most;
		p.sum += column_mean(s);
		p.n++;
	}
	p.mean = p.n ? p.sum / (double)p.n : NAN;
	return p;
}

static void find_imbalance(struct vtr_findings *all, const struct vtr_trace *t)
{
	struct spread mpi = spread_of(t, "time in MPI"), cpu = spread_of(t, "proc_usr");
	char a[80], b[80], gain[240] = "";
	double lost, part;
	int apart;

	if (mpi.n > 1) {
		/* the rank that waits least in MPI computes most, and the others wait for it */
		lost = (mpi.mean - column_mean(mpi.least)) / 100;
		part = mpi.least->weight / mpi.most->weight;
		apart = lost > IMBALANCE && part < ALIKE;
		if (apart) {
			snprintf(gain, sizeof(gain),
				" The former was there for %.0f %% of the latter's time: they cannot be compared.",
				100 * part);
			lost = 0;
		} else if (lost > IMBALANCE) {
			snprintf(gain, sizeof(gain),
				" The others wait for %s, which has the most work: with even work the run could be up "
				"to %.0f %% "
				"shorter.",
				vtr_willy_label(t, mpi.least->willy, a, sizeof(a)), 100 * lost);
		}
		vtr_find(all, lost > IMBALANCE ? 50 + 100 * lost : 5,
			apart                      ? VTR_UNKNOWN
				: lost > IMBALANCE ? VTR_WARN
						   : VTR_GOOD,
			apart                      ? "Time in MPI"
				: lost > IMBALANCE ? "Load imbalance"
						   : "Load is balanced",
			"Ranks were in MPI for %.1f %% of the time on average, %s for %.1f %%, %s for %.1f %%.%s",
			mpi.mean, vtr_willy_label(t, mpi.least->willy, a, sizeof(a)), column_mean(mpi.least),
			vtr_willy_label(t, mpi.most->willy, b, sizeof(b)), column_mean(mpi.most), gain);
	} else if (cpu.n > 1 && column_mean(cpu.most) > 0) {
		lost = 1 - cpu.mean / column_mean(cpu.most);
		vtr_find(all, lost > IMBALANCE ? 45 + 100 * lost : 4, lost > IMBALANCE ? VTR_WARN : VTR_GOOD,
			lost > IMBALANCE ? "Uneven CPU time" : "CPU time is even",
			"%s used %.1f %% of a core in user code, %s %.1f %%; the mean of %zu is %.1f %%.",
			vtr_willy_label(t, cpu.most->willy, a, sizeof(a)), column_mean(cpu.most),
			vtr_willy_label(t, cpu.least->willy, b, sizeof(b)), column_mean(cpu.least), cpu.n, cpu.mean);
	}
}

/* Finds a rate whose mean over the run is above a limit. */
static void find_high(struct vtr_findings *all, const struct vtr_trace *t, const char *name, double limit,
	const char *title, const char *what)
{
	struct spread p = spread_of(t, name);
	char a[80];

	if (p.n && column_mean(p.most) > limit) {
		vtr_find(all, 40 + column_mean(p.most), VTR_WARN, title,
			"%s: %s for %.1f %% of the time on average, at most %.1f %%.",
			vtr_willy_label(t, p.most->willy, a, sizeof(a)), what, column_mean(p.most), p.most->high);
	}
}

static int has_values(const struct vtr_trace *t, const char *name)
{
	return spread_of(t, name).n > 0;
}

static void find_disk(struct vtr_findings *all, const struct vtr_trace *t)
{
	struct spread p = spread_of(t, "disk_io");
	char a[80], b[60], c[60];

	find_high(all, t, "psi_io", IO_PRESSURE, "Storage is a bottleneck", "tasks waited for I/O");
	find_high(all, t, "cpu_iowait", IO_PRESSURE, "CPUs wait for storage",
		"CPUs were idle while tasks waited for disks");
	find_high(all, t, "disk_busy", DISK_BUSY, "Disks are saturated",
		"disks had requests to serve, summed up over its disks,");
	find_high(all, t, "psi_mem", IO_PRESSURE, "Memory is short", "tasks waited for memory");
	if (p.n && p.most->high > 0 && !has_values(t, "psi_io") && !has_values(t, "cpu_iowait") &&
		!has_values(t, "disk_busy")) {
		const char *unit = t->counter[p.most->counter].unit;

		vtr_find(all, !strcmp(unit, "KB/s") && column_mean(p.most) > DISK_MUCH ? 10 : 1, VTR_UNKNOWN, "Disks",
			"The disks of %s moved %s on average, at most %s. Whether they were saturated is unknown: "
			"vtrun --counter psi_io records it.",
			vtr_willy_label(t, p.most->willy, a, sizeof(a)),
			vtr_value(b, sizeof(b), column_mean(p.most), unit),
			vtr_value(c, sizeof(c), p.most->high, unit));
	}
}

static void find_clock_trouble(struct vtr_findings *all, const struct vtr_trace *t)
{
	struct spread steps = spread_of(t, "clock_steps"), size = spread_of(t, "clock_stepped"),
		      ntp = spread_of(t, "ntp_state");
	char a[80], b[60];

	if (steps.n && steps.most->increase > 0) {
		double by = size.n ? (fabs(size.most->high) > fabs(size.most->low) ? size.most->high : size.most->low)
				   : NAN;

		vtr_find(all, 95, VTR_BAD, "The clock was stepped",
			"Somebody set CLOCK_REALTIME of %s %.0f time%s during the run, by %s together.",
			vtr_willy_label(t, steps.most->willy, a, sizeof(a)), steps.most->increase,
			steps.most->increase == 1 ? "" : "s",
			vtr_value(b, sizeof(b), by, size.n ? t->counter[size.most->counter].unit : "ns"));
	}
	if (ntp.n && ntp.most->high >= 5) {
		vtr_find(all, 20, VTR_UNKNOWN, "NTP does not synchronise the clock",
			"The kernel says that CLOCK_REALTIME of %s is not synchronised; times of day may be wrong.",
			vtr_willy_label(t, ntp.most->willy, a, sizeof(a)));
	}
}

static void find_sampler(struct vtr_findings *all, const struct vtr_trace *t)
{
	struct spread p = spread_of(t, "sampler_cpu");
	char a[80];

	if (p.n) {
		int high = column_mean(p.most) > SAMPLER_COST;

		vtr_find(all, high ? 60 : 3, high ? VTR_WARN : VTR_GOOD,
			high ? "Sampling was expensive" : "Sampling was cheap",
			"The sampler used at most %.3f %% of a core (%s).", column_mean(p.most),
			vtr_willy_label(t, p.most->willy, a, sizeof(a)));
	}
}

/* ---- how the processes ended ---- */

const char *vtr_ending(const struct vtr_trace *t, size_t n, enum vtr_grade *grade)
{
	static const char *const good[] = { "by exit", "by _exit", "by exec", "in MPI_Finalize",
		"without the library's knowledge, exit status 0" };
	const char *cls, *text;
	size_t i, k;

	for (i = 0; stf_reader_info(t->reader, i, &cls, &text) == 0; i++) {
		if (!cls || !text || strcmp(cls, "ended") || n--) {
			continue;
		}
		for (k = 0; k < sizeof(good) / sizeof(good[0]) && strncmp(text, good[k], strlen(good[k])); k++) {
		}
		*grade = k < sizeof(good) / sizeof(good[0]) ? VTR_GOOD
			: strncmp(text, "without", 7)       ? VTR_BAD
							    : VTR_WARN;
		return text;
	}
	return NULL;
}

/* Was the process ended by mpirun because another process failed? Then this is not why the run ended. */
static int is_terminated(const char *text)
{
	static const char by[] = "by signal 15";

	return !strncmp(text, by, sizeof(by) - 1);
}

static void find_ending(struct vtr_findings *all, const struct vtr_trace *t)
{
	const char *text, *bad = NULL;
	enum vtr_grade grade, worst = VTR_GOOD;
	size_t i;

	for (i = 0; (text = vtr_ending(t, i, &grade)); i++) {
		if (grade != VTR_GOOD && (!bad || is_terminated(bad))) {
			bad = text;
			worst = grade;
		}
	}
	if (bad) {
		vtr_find(all, 140, worst, "The program did not end normally",
			"%s ended %.200s. What it did last may be missing.", t->processes > 1 ? "A process" : "It",
			bad);
	}
}

void vtr_find_in_trace(struct vtr_findings *all, const struct vtr_trace *t)
{
	find_ending(all, t);
	if (t->faults) {
		vtr_find(all, 200, VTR_BAD, "The trace is damaged", "%zu fault%s: %s", t->faults,
			t->faults == 1 ? "" : "s", t->fault[0]);
	}
	if (!t->records) {
		vtr_find(all, 150, VTR_WARN, "The trace is empty", "No record was found.");
	}
	if (t->messages.backward) {
		vtr_find(all, 90, VTR_BAD, "Messages run backward in time",
			"%" PRIu64 " of %" PRIu64
			" messages were received before they were sent: the clocks do not agree.",
			t->messages.backward, t->messages.n);
	}
	if (t->reports) {
		vtr_find(all, 100, VTR_BAD, "Errors were reported",
			"The trace has %" PRIu64
			" report%s of errors in the application; stftool --print-reports shows them.",
			t->reports, t->reports == 1 ? "" : "s");
	}
	find_imbalance(all, t);
	find_disk(all, t);
	find_clock_trouble(all, t);
	find_sampler(all, t);
}

/* ---- the screen ---- */

static void show_hosts(FILE *f, const struct vtr_trace *t)
{
	size_t n = stf_reader_count(t->reader, STF_ID_willy_definition), i, k, hosts = 0;
	const char *host[8] = { NULL };

	for (i = 0; i < n; i++) {
		const struct stf_record *r = stf_reader_record(t->reader, STF_ID_willy_definition, i);
		const struct stf_value *v = r ? stf_value(r, "willy") : NULL;
		struct stf_willy_info w;

		if (!v || stf_reader_willy(t->reader, (uint32_t)v->u, &w) < 0 || !w.hostname || !w.hostname[0]) {
			continue;
		}
		for (k = 0; k < hosts && k < 8 && strcmp(host[k], w.hostname); k++) {
		}
		if (k == hosts && hosts < 8) {
			fputs(hosts ? ", " : "", f);
			vtr_html(f, w.hostname);
			host[hosts++] = w.hostname;
		} else if (k == 8) {
			fputs(" and more", f);
			return;
		}
	}
	fputs(hosts ? "" : "unknown: the trace names no host", f);
}

/* Takes what ran from an info record such as "process 0: work, pid 4, job 5". */
static void show_program(FILE *f, const struct vtr_trace *t)
{
	struct stf_willy_info w;
	const char *base = strrchr(t->path, '/');

	if (stf_reader_willy(t->reader, 0, &w) == 0 && w.name && w.name[0] && strncmp(w.name, "Process ", 8)) {
		vtr_html(f, w.name);
	} else {
		vtr_html(f, base ? base + 1 : t->path);
	}
}

void vtr_show_facts(FILE *f, const struct vtr_trace *t)
{
	uint64_t threads = 0;
	uint32_t i;
	char a[60];

	for (i = 0; i < t->processes; i++) {
		threads += t->threads[i];
	}
	fputs("<h1>", f);
	show_program(f, t);
	fputs("</h1>\n<dl><dt>Where</dt><dd>", f);
	show_hosts(f, t);
	fprintf(f, "</dd><dt>Size</dt><dd>%" PRIu32 " process%s, %" PRIu64 " thread%s</dd><dt>How long</dt><dd>%s</dd>",
		t->processes, t->processes == 1 ? "" : "es", threads, threads == 1 ? "" : "s",
		vtr_duration(a, sizeof(a), vtr_length(t)));
	fputs("<dt>Trace</dt><dd>", f);
	vtr_html(f, t->path);
	if (t->windowed) {
		fprintf(f,
			"</dd><dt>Window</dt><dd>only this time, from %s after the start on; the times below count "
			"from there",
			vtr_duration(a, sizeof(a), t->offset_s));
	}
	fputs("</dd></dl>\n", f);
}

void vtr_show_findings(FILE *f, struct vtr_findings *all)
{
	size_t i;

	vtr_sort_findings(all);
	fputs("<ul class=\"cards\">", f);
	for (i = 0; i < all->n && i < 3; i++) {
		fprintf(f, "<li class=\"g%d\"><strong>", (int)all->list[i].grade);
		vtr_html(f, all->list[i].title);
		fputs(":</strong> ", f);
		vtr_html(f, all->list[i].text);
		fputs("</li>\n", f);
	}
	fputs("</ul>\n", f);
}
