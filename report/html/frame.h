/* SPDX-License-Identifier: BSD-3-Clause */
/* What all pages of vtreport share: head, style, script, sections, tables. */
#ifndef REPORT_HTML_FRAME_H
#define REPORT_HTML_FRAME_H

#include "report/html/html.h"
#include "report/html/svg.h"

/* How the line begins that tells a page of vtreport from a user's: the version follows. */
#define VTR_GENERATOR "<meta name=\"generator\" content=\"Tickmark "

/* Write the begin and the end of every page: style, script, and the content security policy that forbids all other
 * styles and scripts. */
void vtr_page_begin(FILE *f, const char *title);
/* The policy lets the script ask where the page came from, as vtreport --serve needs it. */
void vtr_served_page_begin(FILE *f, const char *title);
void vtr_page_end(FILE *f);

/* A section heading with its anchor, and what goes around a table after a picture. */
void vtr_section(FILE *f, const char *id, const char *title);
void vtr_table_begin(FILE *f, const char *summary, const char *caption, const char *const *heads);
void vtr_open_table_begin(FILE *f, const char *summary, const char *caption, const char *const *heads);
void vtr_table_end(FILE *f);
/* One cell with a value in the unit that fits; NAN is "unknown". */
void vtr_cell(FILE *f, double v, const char *unit);

/* Writes the numbers of a picture for readers who cannot see it: both ends and the range of each curve, with its
 * band. */
void vtr_curve_table(FILE *f, const struct vtr_chart *c);

#endif
