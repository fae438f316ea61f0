/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the pages: calls the functions of their sections in order. */
#include "config.h"
#include "report/page/page.h"

#include <string.h>

#include "base/text/quote.h"
#include "report/pictures/counters.h"
#include "report/findings/rules.h"
#include "report/findings/show.h"
#include "report/html/frame.h"
#include "report/page/tables.h"

static void show_faults(FILE *f, const struct vtr_trace *t)
{
	size_t i, kept = sizeof(t->fault) / sizeof(t->fault[0]);

	if (!t->faults) {
		return;
	}
	fputs("<section class=\"faults\" aria-label=\"Damage\"><p><strong>This trace is damaged. The report shows what "
	      "could be "
	      "read.</strong></p><ul>\n",
		f);
	for (i = 0; i < t->faults && i < kept; i++) {
		fputs("<li>", f);
		vtr_html(f, t->fault[i]);
		fputs("</li>\n", f);
	}
	if (t->faults > kept) {
		fprintf(f, "<li>and %zu more</li>\n", t->faults - kept);
	}
	fputs("</ul></section>\n", f);
}

static void show_contents(FILE *f, const struct vtr_trace *t, const struct vtr_clocks *c)
{
	fputs("<nav aria-label=\"Sections\"><ul>", f);
	if (t->stacks) {
		fputs("<li><a href=\"#timeline\">Timeline</a></li><li><a href=\"#functions\">Functions</a></li>", f);
	}
	if (t->messages.n || t->operations) {
		fputs("<li><a href=\"#messages\">Messages</a></li>", f);
	}
	if (t->values) {
		fputs("<li><a href=\"#counters\">Counters</a></li>", f);
	}
	if (c->loaded) {
		fputs("<li><a href=\"#clocks\">Clocks</a></li>", f);
	}
	fputs("<li><a href=\"#run\">The run</a></li></ul></nav>\n", f);
}

/* About one clock there is nothing to say, unless it is bad. */
static void show_verdict(FILE *f, const struct vtr_clocks *c, unsigned processes)
{
	char text[900];
	enum vtr_grade grade = vtr_clocks_verdict(c, processes, text, sizeof(text));
	int several = c->loaded ? c->shared + 1 < c->run.ranks || c->verdict[0] : processes > 1;

	if (grade == VTR_GOOD && !several) {
		return;
	}
	fprintf(f, "<p class=\"verdict g%d\">", (int)grade);
	vtr_html(f, text);
	fputs("</p>\n", f);
}

/* Single calls and messages are not in the page. */
static void show_timeline_hint(FILE *f, const struct vtr_trace *t)
{
	const char *base = strrchr(t->path, '/');
	char name[600], word[2000];
	size_t n;

	base = base ? base + 1 : t->path;
	n = strlen(base);
	n = n > 4 && !strcmp(base + n - 4, ".stf") ? n - 4 : n;
	if (!t->stacks) {
		return;
	}
	fputs("<p class=\"soft\">Each call and message on a timeline: stftool ", f);
	vtr_html(f, tkm_shell_word(word, sizeof(word), base));
	fputs(" --convert ", f);
	snprintf(name, sizeof(name), "%.*s.perfetto", (int)n, base);
	vtr_html(f, tkm_shell_word(word, sizeof(word), name));
	fputs(", and open it at ui.perfetto.dev, which uploads nothing.</p>\n", f);
}

void vtr_write_job(FILE *f, const struct vtr_trace *t, const struct vtr_clocks *c, const struct vtr_calls *calls,
	struct vtr_timeline *l)
{
	struct vtr_findings all = { .n = 0 };
	char title[300];
	const char *base = strrchr(t->path, '/');

	snprintf(title, sizeof(title), "Report of %.250s", base ? base + 1 : t->path);
	(l->served ? vtr_served_page_begin : vtr_page_begin)(f, title);
	fputs("<header>", f);
	vtr_show_facts(f, t);
	show_verdict(f, c, t->processes);
	vtr_find_in_trace(&all, t);
	vtr_find_in_clocks(&all, c);
	vtr_show_findings(f, &all);
	show_timeline_hint(f, t);
	fputs("</header>\n", f);
	show_contents(f, t, c);
	fputs("<main>\n", f);
	show_faults(f, t);
	vtr_timeline_show(f, l);
	vtr_show_heat(f, t);
	vtr_show_functions(f, t, calls, &l->names);
	vtr_show_messages(f, t, &calls->traffic);
	vtr_show_counters(f, t);
	vtr_show_clocks(f, c);
	vtr_show_run(f, t);
	fputs("</main>\n", f);
	vtr_write_data(f, t);
	vtr_timeline_data(f, l);
	vtr_page_end(f);
}

void vtr_write_clocks(FILE *f, const struct vtr_clocks *c)
{
	struct vtr_findings all = { .n = 0 };
	char title[300], length[60];
	const char *base = strrchr(c->path, '/');

	snprintf(title, sizeof(title), "Clocks of %.250s", base ? base + 1 : c->path);
	vtr_page_begin(f, title);
	fputs("<header><h1>", f);
	vtr_html(f, title);
	fprintf(f, "</h1><dl><dt>Size</dt><dd>%zu rank%s</dd><dt>How long</dt><dd>%s</dd></dl>\n", c->run.ranks,
		c->run.ranks == 1 ? "" : "s",
		vtr_duration(length, sizeof(length), (double)c->run.end.v * c->run.period_s));
	show_verdict(f, c, (unsigned)c->run.ranks);
	vtr_find_in_clocks(&all, c);
	vtr_show_findings(f, &all);
	fputs("</header>\n<main>\n", f);
	vtr_show_clocks(f, c);
	fputs("</main>\n", f);
	vtr_page_end(f);
}
