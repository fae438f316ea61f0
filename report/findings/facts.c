/* SPDX-License-Identifier: BSD-3-Clause */
/* The head of the page: what ran, when, where, its user, its CPUs, how it ended. */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "report/findings/rule.h"
#include "report/findings/show.h"
#include "report/html/html.h"

enum { HOSTS = 8, PATH_PARTS = 3 };
#define LACKS_PROCESSOR 0.1 /* as in the finding cpu-shared */
#define NOTICEABLE 0.05     /* as in the finding slow-rank */

/* Lists the names of hosts; returns how many there are, at most HOSTS + 1. */
static size_t list_hosts(const struct vtr_trace *t, const char *host[HOSTS])
{
	size_t n = stf_reader_count(t->reader, STF_ID_willy_definition), i, k, hosts = 0;

	for (i = 0; i < n; i++) {
		const struct stf_record *r = stf_reader_record(t->reader, STF_ID_willy_definition, i);
		const struct stf_value *v = r ? stf_value(r, "willy") : NULL;
		struct stf_willy_info w;

		if (!v || stf_reader_willy(t->reader, (uint32_t)v->u, &w) < 0 || !w.hostname || !w.hostname[0]) {
			continue;
		}
		for (k = 0; k < hosts && strcmp(host[k], w.hostname); k++) {
		}
		if (k == HOSTS) {
			return HOSTS + 1;
		}
		if (k == hosts) {
			host[hosts++] = w.hostname;
		}
	}
	return hosts;
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

const char *vtr_fact_of_run(const struct vtr_trace *t, const char *what, size_t n)
{
	const char *cls, *text;
	size_t i, length = strlen(what);

	for (i = 0; stf_reader_info(t->reader, i, &cls, &text) == 0; i++) {
		if (cls && text && !strcmp(cls, "run") && !strncmp(text, what, length) && text[length] == ' ' && !n--) {
			return text + length + 1;
		}
	}
	return NULL;
}

static void show_fact(FILE *f, const struct vtr_trace *t, const char *what, const char *title)
{
	const char *first = vtr_fact_of_run(t, what, 0), *second = vtr_fact_of_run(t, what, 1);
	size_t n;

	if (!first) {
		return;
	}
	fprintf(f, "<dt>%s</dt><dd>", title);
	vtr_html(f, first);
	if (second) {
		fputs(", ", f);
		vtr_html(f, second);
	}
	for (n = 2; second && vtr_fact_of_run(t, what, n); n++) {
	}
	if (n > 2 && second) {
		fprintf(f, " and %zu more", n - 2);
	}
	fputs("</dd>", f);
}

static void show_size(FILE *f, const struct vtr_trace *t)
{
	const char *host[HOSTS], *word = vtr_process_word(t);
	size_t hosts = list_hosts(t, host), i;
	uint64_t threads = 0;
	uint32_t k;
	const char *plural = t->processes == 1 ? "" : !strcmp(word, "rank") ? "s" : "es";

	for (k = 0; k < t->processes; k++) {
		threads += t->threads[k];
	}
	fputs("<dt>Where</dt><dd>", f);
	for (i = 0; i < hosts && i < HOSTS; i++) {
		fputs(i ? ", " : "", f);
		vtr_html(f, host[i]);
	}
	fputs(hosts > HOSTS ? " and more" : hosts ? "" : "unknown: the trace names no host", f);
	fputs("</dd><dt>Size</dt><dd>", f);
	if (hosts > 1 && hosts <= HOSTS) {
		fprintf(f, "%zu nodes, ", hosts);
	}
	fprintf(f, "%" PRIu32 " %s%s, %" PRIu64 " thread%s", t->processes, word, plural, threads,
		threads == 1 ? "" : "s");
	/* the MPI library has threads of its own */
	if (t->stacks && t->stacks < threads && vtr_has_mpi(t)) {
		fprintf(f, "; %zu of them made recorded calls, the others may be those of the MPI library", t->stacks);
	}
	fputs("</dd>", f);
}

enum { STATUSES = 4 };

/* How a process ended; its exec of another program is no end. */
static const char *next_ending(const struct vtr_trace *t, size_t *n, enum vtr_grade *grade, long *process)
{
	const char *text;

	do {
		text = vtr_ending(t, n, grade, process);
	} while (text && !strncmp(text, "by exec ", 8));
	return text;
}

/* How many processes had this exit status, and the first of them. */
struct exit_status {
	int status;
	size_t processes;
	long process;
};

/* Lists the different exit statuses, at most one more than are shown. *ends: the processes whose end is recorded; *unknown: the end
 * of the first one without a status, or NULL. */
static size_t list_statuses(
	const struct vtr_trace *t, struct exit_status s[STATUSES + 1], size_t *ends, const char **unknown)
{
	static const char words[] = ", exit status ";
	const char *text, *at;
	size_t k, n = 0, i = 0;
	enum vtr_grade grade;
	long process;

	*unknown = NULL;
	for (*ends = 0; (text = next_ending(t, &i, &grade, &process)); ++*ends) {
		at = strstr(text, words);
		if (!at) {
			/* mpirun terminates those that are left */
			*unknown = *unknown && strncmp(*unknown, "by signal 15 ", 13) ? *unknown : text;
			continue;
		}
		for (k = 0; k < n && s[k].status != atoi(at + strlen(words)); k++) {
		}
		if (k == n && n <= STATUSES) {
			s[n++] = (struct exit_status){ atoi(at + strlen(words)), 0, process };
		}
		if (k < n) {
			s[k].processes++;
		}
	}
	return n;
}

/* "0", or "0 of 3 ranks, 2 of rank 1"; where it is not known, why. */
static void show_status(FILE *f, const struct vtr_trace *t)
{
	struct exit_status s[STATUSES + 1];
	const char *unknown, *word = vtr_process_word(t);
	size_t ends, n = list_statuses(t, s, &ends, &unknown), k;

	fputs("<dt>Exit status</dt><dd>", f);
	for (k = 0; k < n && k < STATUSES; k++) {
		fprintf(f, "%s%d", k ? ", " : "", s[k].status);
		if (ends > 1 && s[k].processes == 1 && s[k].process >= 0) {
			fprintf(f, " of %s %ld", word, s[k].process);
		} else if (ends > 1) {
			fprintf(f, " of %zu %s%s", s[k].processes, word, strcmp(word, "rank") ? "es" : "s");
		}
	}
	fputs(n > STATUSES ? " and others" : "", f);
	if (unknown) {
		fputs(n ? "; of others unknown: " : "unknown: ", f);
		fputs(strcmp(unknown, "in MPI_Finalize") != 0 ? "ended " : "the trace was complete before they ended, ",
			f);
		vtr_html(f, unknown);
	} else if (!ends) {
		fputs("unknown: the trace does not say how it ended", f);
	}
	fputs("</dd>", f);
}

/* How the processes ended, if all ended well; else the first finding says it. */
static void show_ending(FILE *f, const struct vtr_trace *t)
{
	enum vtr_grade grade, worst = VTR_GOOD;
	const char *text, *first = NULL;
	long process;
	size_t i = 0;

	while ((text = next_ending(t, &i, &grade, &process))) {
		first = first ? first : text;
		worst = grade > worst ? grade : worst;
	}
	if (first) {
		fputs("<dt>Ended</dt><dd>", f);
		fputs(worst == VTR_GOOD ? "normally, " : "not normally", f);
		fprintf(f, "%.*s", worst == VTR_GOOD ? (int)strcspn(first, ",") : 0, first);
		fputs("</dd>", f);
	}
}

static void show_name(FILE *f, const struct vtr_trace *t, const char *before, unsigned class_id, uint32_t id)
{
	const char *name = id ? stf_reader_name(t->reader, class_id, id) : NULL;

	if (name) {
		fputs(before, f);
		vtr_html(f, name);
	}
}

/* Did the run end before some rank called MPI_Finalize? What its last calls waited for is unknown then. It did not if it is known that all ended well:
 * then that call was only not recorded. */
static int lacks_finalize(const struct vtr_trace *t, const struct stf_analysis *a)
{
	enum vtr_grade grade = VTR_GOOD;
	size_t i = 0, at = 0;
	long process;

	while (grade == VTR_GOOD && next_ending(t, &at, &grade, &process)) {
		i++;
	}
	if (i >= t->processes && grade == VTR_GOOD) {
		return 0;
	}
	for (i = t->windowed ? a->n_threads : 0; i < a->n_threads && !(a->thread[i].begins && !a->thread[i].ends);
		i++) {
	}
	return i < a->n_threads;
}

/* The part of the run time that is computation, and why the rest is not. */
static void show_efficiency(FILE *f, const struct vtr_trace *t, const struct stf_analysis *a)
{
	char run[60], ideal[60];

	if (isnan(a->parallel.value)) {
		return;
	}
	fprintf(f, "<dt>Parallel efficiency</dt><dd><strong>%.1f %%</strong>", 100 * a->parallel.value);
	if (!isnan(a->parallel.error)) {
		fprintf(f, a->parallel.error < 1e-4 ? " &plusmn; &lt; 0.01 %%" : " &plusmn; %.2g %%",
			tkm_round_up(100 * a->parallel.error, 2, 'g'));
	}
	fprintf(f, " = load balance %.1f %% &times; ", 100 * a->load_balance.value);
	if (lacks_finalize(t, a)) {
		fprintf(f, "communication %.1f %%", 100 * a->communication.value);
	} else {
		fprintf(f, "serialisation %.1f %% &times; transfer %.1f %%", 100 * a->serialisation.value,
			100 * a->transfer.value);
	}
	if (a->without_processor > LACKS_PROCESSOR) {
		fprintf(f,
			"; the ranks were ready to run for %.0f %% of the time without a processor, and all of this contains that",
			100 * a->without_processor);
	} else if (a->transfer.value < 0.99 && !lacks_finalize(t, a)) {
		fprintf(f, "; with a network without delay the run would take %s instead of %s",
			vtr_duration(ideal, sizeof(ideal), (double)a->ideal * t->resolution),
			vtr_duration(run, sizeof(run), (double)(a->finish - a->begin) * t->resolution));
	}
	fputs("</dd>", f);
}

/* The outermost loop, and its slowest iteration. */
static void show_iterations(FILE *f, const struct vtr_trace *t, const struct stf_iterations *i)
{
	const char *name = stf_reader_name(t->reader, STF_ID_function_definition, i->function);
	char a[60], b[60], c[60], label[80];

	fprintf(f, "<dt>Iterations</dt><dd>%" PRIu64 ", by calls of ", i->count);
	vtr_html(f, name ? name : "MPI");
	fprintf(f, ": %s each; the longest took %s, from %s on, in ",
		vtr_duration(a, sizeof(a), i->mean * t->resolution),
		vtr_duration(b, sizeof(b), (double)i->longest * t->resolution),
		vtr_duration(c, sizeof(c), vtr_seconds(t, i->longest_at)));
	vtr_html(f, vtr_willy_label(t, i->longest_willy, label, sizeof(label)));
	fputs("</dd>", f);
}

/* The rank that the others wait for, if there is one, and the largest parts of the critical path. */
static void show_answers(FILE *f, const struct vtr_trace *t, const struct stf_analysis *a)
{
	const struct stf_culprit *c = &a->culprit;
	char label[80], from[60], to[60], waited[60];
	size_t i;

	if (a->processes > 1 && c->known) {
		fputs("<dt>Who</dt><dd>", f);
		vtr_html(f, vtr_willy_label(t, c->willy, label, sizeof(label)));
		fputs(" makes the others wait", f);
		show_name(f, t, ", in ", STF_ID_function_definition, c->function);
		fprintf(f, ", from %s to %s: %s in all, %.0f %% of the%s</dd>",
			vtr_duration(from, sizeof(from), vtr_seconds(t, c->since)),
			vtr_duration(to, sizeof(to), vtr_seconds(t, c->until)),
			vtr_duration(waited, sizeof(waited), (double)c->waited * t->resolution), 100 * c->share,
			c->by_work ? "ir time in MPI, as it works longer" : " waits");
	} else if (a->processes > 1 && c->without_processor > 0) {
		fputs("<dt>Who</dt><dd>no single rank makes the others wait: ", f);
		vtr_html(f, vtr_willy_label(t, c->willy, label, sizeof(label)));
		fprintf(f, ", for which they wait most, was ready to run for %s without a processor</dd>",
			vtr_duration(waited, sizeof(waited), c->without_processor));
	} else if (a->processes > 1 && !lacks_finalize(t, a)) {
		fputs(a->without_processor > LACKS_PROCESSOR ||
					a->load_balance.value * a->serialisation.value < 1 - NOTICEABLE
				? "<dt>Who</dt><dd>no single rank makes the others wait</dd>"
				: "<dt>Who</dt><dd>no rank makes the others wait for long</dd>",
			f);
	}
	for (i = 0; i < a->n_path && i < PATH_PARTS; i++) {
		fputs(i ? "; " : "<dt>Critical path</dt><dd>", f);
		vtr_html(f, vtr_willy_label(t, a->path[i].willy, label, sizeof(label)));
		show_name(f, t, ", ", STF_ID_function_definition, a->path[i].function);
		fprintf(f, ": %.0f %%", 100 * (double)a->path[i].ticks / (double)a->path_sum);
	}
	fputs(a->n_path ? "</dd>" : "", f);
}

void vtr_show_facts(FILE *f, const struct vtr_trace *t)
{
	char a[60];

	fputs("<h1>", f);
	show_program(f, t);
	fputs("</h1>\n<dl>", f);
	show_fact(f, t, "started", "When");
	show_size(f, t);
	fprintf(f, "<dt>How long</dt><dd>%s</dd>", vtr_duration(a, sizeof(a), vtr_length(t)));
	show_fact(f, t, "command", "Command");
	show_fact(f, t, vtr_fact_of_run(t, "user id", 0) ? "user id" : "user",
		vtr_fact_of_run(t, "user id", 0) ? "User id" : "User");
	show_fact(f, t, "job", "Batch job");
	show_fact(f, t, "CPUs", "CPUs");
	show_fact(f, t, "MPI", "MPI");
	show_ending(f, t);
	show_status(f, t);
	if (t->analysis) {
		show_efficiency(f, t, t->analysis);
		if (t->analysis->iterations.function) {
			show_iterations(f, t, &t->analysis->iterations);
		}
		show_answers(f, t, t->analysis);
	}
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
