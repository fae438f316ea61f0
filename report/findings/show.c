/* SPDX-License-Identifier: BSD-3-Clause */
/* The first screen: what ran, where, how long, and the findings that matter most. */
#include "config.h"
#include "report/findings/show.h"

#include <inttypes.h>
#include <string.h>

#include "report/html/html.h"

enum { FIRST = 3 }; /* findings that are shown at once */

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

static void show_card(FILE *f, const struct vtr_finding *n)
{
	fprintf(f, "<li class=\"g%d\" id=\"finding-%s\"><strong>", (int)n->grade, n->name);
	vtr_html(f, n->title);
	fputs(":</strong> ", f);
	vtr_html(f, n->text);
	if (n->what_to_do) {
		fputs(" <span class=\"soft\">", f);
		vtr_html(f, n->what_to_do);
		fputs("</span>", f);
	}
	fputs("</li>\n", f);
}

void vtr_show_findings(FILE *f, struct vtr_findings *all)
{
	size_t i;

	vtr_sort_findings(all);
	fputs("<ul class=\"cards\">", f);
	for (i = 0; i < all->n && i < FIRST; i++) {
		show_card(f, &all->list[i]);
	}
	fputs("</ul>\n", f);
	if (all->n > FIRST) {
		fprintf(f, "<details><summary>%zu more finding%s</summary><ul class=\"cards\">", all->n - FIRST,
			all->n - FIRST == 1 ? "" : "s");
		for (; i < all->n; i++) {
			show_card(f, &all->list[i]);
		}
		fputs("</ul></details>\n", f);
	}
}
