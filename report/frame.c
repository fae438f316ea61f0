/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "report/frame.h"

#include "report/report_css.h"
#include "report/report_js.h"

void vtr_page_begin(FILE *f, const char *title)
{
	char style[45], script[45];

	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n", f);
	fprintf(f,
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-%s'; "
		"script-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">\n",
		vtr_sha256(report_css, sizeof(report_css) - 1, style),
		vtr_sha256(report_js, sizeof(report_js) - 1, script));
	fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"generator\" "
	      "content=\"" PACKAGE_STRING " vtreport\">\n<title>",
		f);
	vtr_html(f, title);
	fprintf(f, "</title>\n<style>%s</style></head><body>\n", report_css);
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

void vtr_table_begin(FILE *f, const char *summary, const char *caption, const char *const *heads)
{
	fputs("<details><summary>", f);
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
