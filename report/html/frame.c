/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the parts that all pages of vtreport share: head, style, script, sections, tables. */
#include "config.h"
#include "report/html/frame.h"

#include <math.h>

#include "report/html/report_css.h"
#include "report/html/report_js.h"

/* connects: "connect-src 'self'; " of a page that asks its server */
static void write_page_begin(FILE *f, const char *title, const char *connects)
{
	char style[45], script[45];

	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n", f);
	fprintf(f,
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; %sstyle-src 'sha256-%s'; "
		"script-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">\n",
		connects, vtr_sha256(report_css, sizeof(report_css) - 1, style),
		vtr_sha256(report_js, sizeof(report_js) - 1, script));
	fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" VTR_GENERATOR PACKAGE_VERSION
	      " vtreport\">\n<title>",
		f);
	vtr_html(f, title);
	fprintf(f, "</title>\n<style>%s</style></head><body>\n", report_css);
}

void vtr_page_begin(FILE *f, const char *title)
{
	write_page_begin(f, title, "");
}

void vtr_served_page_begin(FILE *f, const char *title)
{
	write_page_begin(f, title, "connect-src 'self'; ");
}

void vtr_page_end(FILE *f)
{
	fprintf(f,
		"<footer><p>Written by vtreport of " PACKAGE_STRING
		". Nothing in this file is loaded from elsewhere.</p></footer>\n"
		"<script>%s</script></body></html>\n",
		report_js);
}

void vtr_section(FILE *f, const char *id, const char *title)
{
	fprintf(f, "<h2 id=\"%s\">", id);
	vtr_html(f, title);
	fputs("</h2>\n", f);
}

static void table_begin(FILE *f, int open, const char *summary, const char *caption, const char *const *heads)
{
	fprintf(f, "<details%s><summary>", open ? " open" : "");
	vtr_html(f, summary);
	fputs("</summary><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"", f);
	vtr_html(f, caption);
	fputs("\"><table><caption>", f);
	vtr_html(f, caption);
	fputs("</caption><thead><tr>", f);
	for (; *heads; heads++) {
		fputs("<th scope=\"col\">", f);
		vtr_html(f, *heads);
		fputs("</th>", f);
	}
	fputs("</tr></thead><tbody>\n", f);
}

void vtr_table_begin(FILE *f, const char *summary, const char *caption, const char *const *heads)
{
	table_begin(f, 0, summary, caption, heads);
}

void vtr_open_table_begin(FILE *f, const char *summary, const char *caption, const char *const *heads)
{
	table_begin(f, 1, summary, caption, heads);
}

void vtr_table_end(FILE *f)
{
	fputs("</tbody></table></div></details>\n", f);
}

void vtr_cell(FILE *f, double v, const char *unit)
{
	char buf[100];

	fputs("<td>", f);
	vtr_html(f, vtr_value(buf, sizeof(buf), v, unit));
	fputs("</td>", f);
}

static void curve_row(FILE *f, const struct vtr_line *l, size_t n, const char *unit)
{
	double first = NAN, last = NAN, low = NAN, high = NAN, sum = 0;
	size_t i, points = 0;

	for (i = 0; i < n; i++) {
		double v = l->mean[i];

		if (!isnan(v)) {
			first = points++ ? first : v;
			last = v;
			sum += v;
			low = fmin(fmin(low, v), l->low ? l->low[i] : NAN);
			high = fmax(fmax(high, v), l->high ? l->high[i] : NAN);
		}
	}
	fputs("<tr><th scope=\"row\">", f);
	vtr_html(f, l->label ? l->label : "");
	fprintf(f, "</th><td>%zu</td>", points);
	vtr_cell(f, first, unit);
	vtr_cell(f, low, unit);
	vtr_cell(f, points ? sum / (double)points : NAN, unit);
	vtr_cell(f, high, unit);
	vtr_cell(f, last, unit);
	fputs("</tr>\n", f);
}

void vtr_curve_table(FILE *f, const struct vtr_chart *c)
{
	const char *const heads[] = { "curve", "points", "at the start", "smallest", "mean", "largest", "at the end",
		NULL };
	char caption[200];
	size_t k;

	snprintf(caption, sizeof(caption), "%s: each curve", c->title);
	vtr_table_begin(f, "Table of the curves", caption, heads);
	for (k = 0; k < c->lines; k++) {
		curve_row(f, &c->line[k], c->n, c->y_unit);
	}
	vtr_table_end(f);
}
