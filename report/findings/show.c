/* SPDX-License-Identifier: BSD-3-Clause */
/* The findings of the first screen as cards. */
#include "config.h"
#include "report/findings/show.h"

#include "report/html/html.h"

enum { FIRST = 3 }; /* findings that are shown at once */

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
