/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of functions, MPI shares, messages and collective operations, and of facts about the run itself. */
#include "config.h"
#include "report/page/tables.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "report/findings/rule.h"
#include "report/html/frame.h"
#include "report/html/svg.h"
#include "report/page/calls.h"

enum { FUNCTIONS = 40, LINES = 400 };

struct total {
	size_t function;
	uint64_t calls;
	double inclusive, exclusive, most;
	uint32_t rank;
};

static int by_exclusive(const void *a, const void *b)
{
	const struct total *x = a, *y = b;

	return x->exclusive < y->exclusive ? 1 : x->exclusive > y->exclusive ? -1 : 0;
}

static size_t sum_functions(const struct vtr_trace *t, struct total *all)
{
	size_t i, n = 0;
	uint32_t r;

	for (i = 0; i < t->functions; i++) {
		struct total *sum = &all[n];

		memset(sum, 0, sizeof(*sum));
		sum->function = i;
		for (r = 0; r < t->function_rows; r++) {
			const struct vtr_function *f = &t->function[i * t->function_rows + r];

			sum->calls += f->calls;
			sum->inclusive += f->inclusive;
			sum->exclusive += f->exclusive;
			if (f->exclusive > sum->most) {
				sum->most = f->exclusive;
				sum->rank = r;
			}
		}
		n += sum->calls > 0;
	}
	qsort(all, n, sizeof(*all), by_exclusive);
	return n;
}

static void full_name(FILE *f, const struct vtr_trace *t, uint32_t id)
{
	const struct stf_record *r = stf_reader_find(t->reader, STF_ID_function_definition, id);
	const char *name = stf_reader_name(t->reader, STF_ID_function_definition, id), *cls = NULL;
	struct stf_function_definition d;

	if (r && stf_get_function_definition(r, &d) == 0 && d.classid) {
		cls = stf_reader_name(t->reader, STF_ID_class_definition, d.classid);
	}
	vtr_html(f, cls ? cls : "");
	fputs(cls ? ":" : "", f);
	vtr_html(f, name ? name : "(no name)");
}

static void function_rows(FILE *f, const struct vtr_trace *t, const struct total *all, size_t n, double whole)
{
	size_t i;

	for (i = 0; i < n && i < FUNCTIONS; i++) {
		fputs("<tr><th scope=\"row\">", f);
		full_name(f, t, t->function_id[all[i].function]);
		fprintf(f, "</th><td>%" PRIu64 "</td>", all[i].calls);
		vtr_cell(f, all[i].exclusive * t->resolution, "s");
		vtr_cell(f, whole > 0 ? 100 * all[i].exclusive / whole : NAN, "percent");
		vtr_cell(f, all[i].inclusive * t->resolution, "s");
		vtr_cell(f, all[i].inclusive * t->resolution / (double)all[i].calls, "s");
		if (t->function_rows > 1) {
			fprintf(f, "<td>%" PRIu32 "</td>", all[i].rank);
			vtr_cell(f, all[i].most * t->resolution, "s");
		}
		fputs("</tr>\n", f);
	}
}

void vtr_show_functions(FILE *f, const struct vtr_trace *t, const struct vtr_calls *c, const struct vtr_names *names)
{
	const char *most = strcmp(vtr_process_word(t), "rank") ? "process with most" : "rank with most";
	const char *const heads[] = { "function", "calls", "time in itself", "share", "with what it calls",
		"mean of a call", t->function_rows > 1 ? most : NULL, "its time", NULL };
	struct total *all = calloc(t->functions + 1, sizeof(*all));
	double whole = 0, mpi = 0;
	char a[60];
	size_t i, n = all ? sum_functions(t, all) : 0;

	if (n) {
		for (i = 0; i < n; i++) {
			whole += all[i].exclusive;
			mpi += t->function_is_mpi[all[i].function] ? all[i].exclusive : 0;
		}
		vtr_section(f, "functions", "Functions");
		fputs("<p>", f);
		vtr_html(f, vtr_value(a, sizeof(a), whole > 0 ? 100 * mpi / whole : 0, "percent"));
		fprintf(f,
			" of the time in functions is MPI. The table has %s%zu function%s, by the time in "
			"itself.</p>\n",
			n > FUNCTIONS ? "the first 40 of " : "", n, n == 1 ? "" : "s");
		vtr_open_table_begin(f, "Table of the functions", "Time in functions, of all threads together", heads);
		function_rows(f, t, all, n, whole);
		vtr_table_end(f);
		vtr_show_phases(f, t);
		vtr_show_tree(f, &c->tree);
		vtr_show_sites(f, &c->tree, names);
		vtr_show_balance(f, t);
	}
	free(all);
}

/* ---- messages ---- */

static void message_label(void *context, size_t row, char *buf, size_t size)
{
	const struct vtr_trace *t = context;
	uint32_t n = t->messages.per_row;

	if (n == 1) {
		snprintf(buf, size, "from %zu", row);
	} else {
		snprintf(buf, size, "from %zu", row * n);
	}
}

static void message_matrix(FILE *f, const struct vtr_trace *t)
{
	const struct vtr_messages *m = &t->messages;
	struct vtr_heat h = { .id = "matrix",
		.title = "Bytes by sender and receiver",
		.about = "A row for each sender, a column for each receiver from left to right; a light cell is many "
			 "bytes. The "
			 "table below has the numbers.",
		.unit = "bytes",
		.rows = m->rows,
		.columns = m->rows,
		.label = message_label,
		.context = (void *)(uintptr_t)t };
	size_t i, n = (size_t)m->rows * m->rows;
	double *cell = malloc(n * sizeof(*cell));

	for (i = 0; cell && i < n; i++) {
		cell[i] = m->count[i] ? (double)m->size[i] : NAN;
		h.high = m->count[i] && cell[i] > h.high ? cell[i] : h.high;
	}
	if (cell) {
		h.cell = cell;
		h.high = h.high > 0 ? h.high : 1;
		vtr_svg_heat(f, &h);
		fputs("<p class=\"soft\">Rows are senders, columns receivers in the same order.</p>\n", f);
	}
	free(cell);
}

void vtr_show_messages(FILE *f, const struct vtr_trace *t, const struct vtr_traffic *traffic)
{
	const struct vtr_messages *m = &t->messages;
	char a[60];

	if (!m->n && !t->operations) {
		return;
	}
	vtr_section(f, "messages", "Messages");
	if (m->n) {
		fprintf(f, "<p>%" PRIu64 " message%s, %s%s; %" PRIu64 " received before sent", m->n,
			m->n == 1 ? "" : "s", m->at_least ? "at least " : "",
			vtr_value(a, sizeof(a), (double)m->bytes, "bytes"), m->backward);
		if (m->unmatched) {
			fprintf(f, "; of %" PRIu64 " only one side is known", m->unmatched);
		}
		fputs(".</p>\n", f);
		if (m->at_least) {
			fprintf(f,
				"<p class=\"soft\">A trace holds no size above 4 GB: %" PRIu64
				" message%s may have more bytes than the table and the picture say.</p>\n",
				m->at_least, m->at_least == 1 ? "" : "s");
		}
		message_matrix(f, t);
		vtr_show_message_pairs(f, traffic);
	}
	vtr_show_collectives(f, traffic);
}

/* ---- the run ---- */

static void info_list(FILE *f, const struct vtr_trace *t, const char *want, const char *title)
{
	const char *cls, *text;
	size_t i, n = 0;

	for (i = 0; stf_reader_info(t->reader, i, &cls, &text) == 0; i++) {
		if (!cls || !text || strcmp(cls, want)) {
			continue;
		}
		if (n++ == 0) {
			fprintf(f, "<h3>%s</h3><ul>\n", title);
		}
		if (n <= 64) {
			fputs("<li>", f);
			vtr_html(f, text);
			fputs("</li>\n", f);
		}
	}
	if (n > 64) {
		fprintf(f, "<li>and %zu more</li>\n", n - 64);
	}
	fputs(n ? "</ul>\n" : "", f);
}

static void show_threads(FILE *f, const struct vtr_trace *t)
{
	const char *const heads[] = { "thread", "name", "host", "process id", NULL };
	size_t n = stf_reader_count(t->reader, STF_ID_willy_definition), i;
	char label[100];

	if (!n) {
		return;
	}
	vtr_table_begin(f, "Table of the threads", "Threads of the trace", heads);
	for (i = 0; i < n && i < LINES; i++) {
		const struct stf_record *r = stf_reader_record(t->reader, STF_ID_willy_definition, i);
		const struct stf_value *v = r ? stf_value(r, "willy") : NULL;
		struct stf_willy_info w;

		if (!v || stf_reader_willy(t->reader, (uint32_t)v->u, &w) < 0) {
			continue;
		}
		fputs("<tr><th scope=\"row\">", f);
		vtr_html(f, vtr_willy_label(t, w.willy, label, sizeof(label)));
		fputs("</th><td>", f);
		vtr_html(f, w.name ? w.name : "");
		fputs("</td><td>", f);
		vtr_html(f, w.hostname ? w.hostname : "");
		fprintf(f, "</td><td>%" PRIu32 "</td></tr>\n", w.pid);
	}
	vtr_table_end(f);
	if (n > LINES) {
		fprintf(f, "<p class=\"soft\">The first %d of %zu threads are shown.</p>\n", LINES, n);
	}
}

/* Its traces have no protocol: it writes them when all else is done. */
static int is_of_timertest(const struct vtr_trace *t)
{
	const char *cls, *text;
	size_t i;

	for (i = 0; stf_reader_info(t->reader, i, &cls, &text) == 0; i++) {
		if (cls && text && !strcmp(cls, "program")) {
			return strstr(text, " timertest") != NULL;
		}
	}
	return 0;
}

/* Reads the protocol beside the trace: what was lost, and, if the trace has no infos of class "ended", whether the
 * program ended normally. */
static void show_protocol(FILE *f, const struct vtr_trace *t, int known)
{
	char path[1100], line[2000], recorded[200] = "", size[60];
	uint64_t bytes, lost;
	size_t n = strlen(t->path);
	FILE *prot;
	int running = 0;

	n = n > 4 && !strcmp(t->path + n - 4, ".stf") ? n - 4 : n;
	snprintf(path, sizeof(path), "%.*s.prot", (int)n, t->path);
	prot = tkm_open_text(path, O_RDONLY);
	while (prot && fgets(line, sizeof(line), prot)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "INFO RECORDED ", 14)) {
			snprintf(recorded, sizeof(recorded), "%.190s", line + 14);
		}
		running |= !strncmp(line, "# The program was running when this was written", 47);
	}
	if (prot) {
		fclose(prot);
	}
	if (sscanf(recorded, "%" SCNu64 " bytes, %" SCNu64 " records lost", &bytes, &lost) == 2) {
		fprintf(f, "%sThe first process recorded %s; %" PRIu64 " record%s lost.",
			known ? "" : "The program came to its end. ",
			vtr_value(size, sizeof(size), (double)bytes, "bytes"), lost, lost == 1 ? " was" : "s were");
	} else if (!known) {
		fputs(running ? "<strong>The program did not come to its end: it was killed, or it was still running "
				"when its protocol was written.</strong> The last records may be missing."
				: is_of_timertest(t) ? "timertest came to its end; it writes its trace last."
						     : "Neither the trace nor a protocol beside it says how.",
			f);
	}
}

static void show_end(FILE *f, const struct vtr_trace *t)
{
	enum vtr_grade grade, before;
	const char *text, *last = "";
	size_t at = 0, i;
	long process;

	fputs("<h3>How the run ended</h3><p>", f);
	for (i = 0; (text = vtr_ending(t, &at, &grade, &process)); last = text, before = grade, i++) {
		if (i && grade == VTR_GOOD && before == VTR_GOOD && !strcmp(text, last)) {
			continue;
		}
		fputs(grade == VTR_GOOD ? "" : "<strong>", f);
		if (t->processes < 2) {
			fputs("The program ended ", f);
		} else if (grade == VTR_GOOD || process < 0) {
			fputs("Processes ended ", f);
		} else {
			fprintf(f, "Process %ld ended ", process);
		}
		vtr_html(f, text);
		fputs(grade == VTR_GOOD ? ". " : ".</strong> ", f);
	}
	show_protocol(f, t, i > 0);
	fputs("</p>\n", f);
}

void vtr_show_run(FILE *f, const struct vtr_trace *t)
{
	vtr_section(f, "run", "The run and the trace");
	fprintf(f, "<p>%" PRIu64 " record%s with %" PRIu64 " counter value%s.", t->records, t->records == 1 ? "" : "s",
		t->values, t->values == 1 ? "" : "s");
	if (t->axis.before) {
		fprintf(f,
			" %" PRIu64
			" records are from before the start that the trace states; they are in the first column "
			"of the curves.",
			t->axis.before);
	}
	if (t->unbalanced) {
		fprintf(f, " %" PRIu64 " function records have no partner.", t->unbalanced);
	}
	fputs("</p>\n", f);
	show_end(f, t);
	info_list(f, t, "missing", "What was not available, and why");
	info_list(f, t, "discarded", "What was left out");
	info_list(f, t, "program", "Written by");
	info_list(f, t, "sampler", "What sampling cost");
	info_list(f, t, "clock", "Clocks");
	info_list(f, t, "correction", "Correction of the clocks");
	info_list(f, t, "process", "Processes");
	show_threads(f, t);
}
