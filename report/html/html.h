/* SPDX-License-Identifier: BSD-3-Clause */
/* Text for HTML: everything in a trace is written as text, never as markup, and numbers get a suitable unit. */
#ifndef REPORT_HTML_HTML_H
#define REPORT_HTML_HTML_H

#include <stdint.h>
#include <stdio.h>

/* Writes text between tags or in a quoted attribute. Bytes that are no UTF-8, control characters and those that
 * change the direction of writing become U+FFFD. */
void vtr_html(FILE *f, const char *text);

/* Writes a JSON string for a <script> element of type application/json: "<" and "&" are escaped, too. */
void vtr_json(FILE *f, const char *text);

/* Writes text to a terminal or a log: control characters become '?'. */
void vtr_plain(FILE *f, const char *text);

/* Cuts text for a terminal, to at most `columns` columns of whole characters. Control characters, and characters that
 * LC_CTYPE cannot show, become '?'. Returns how many columns it takes. */
int vtr_cut(char *buf, size_t size, const char *text, int columns);

/* The base64 form of the SHA-256 of text; buf has 45 bytes. */
char *vtr_sha256(const char *text, size_t n, char *buf);

/* The unit that makes `most` readable: shown = value x scale, in `unit`. */
struct vtr_unit {
	double scale;
	char unit[48];
};
struct vtr_unit vtr_unit_for(const char *unit, double most);

/* A number with up to four significant digits. */
char *vtr_number(char *buf, size_t size, double v);
/* The same with a suitable unit. */
char *vtr_value(char *buf, size_t size, double v, const char *unit);
/* A bound: the least value that vtr_value() and vtr_cell() print as one that is not less than v. */
double vtr_upper(double v, const char *unit);
/* A change: "+12 %", "-0.5 %", from twice as much on "12 x"; "none", "unknown". */
char *vtr_change(char *buf, size_t size, double before, double after);
/* "1 h 02 min", "12.3 s", "4.5 ms" */
char *vtr_duration(char *buf, size_t size, double seconds);

#endif
