/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows what timertest wrote beside its correction file: offsets of pairs of ranks after correction, and of cores. */
#include "config.h"
#include "report/data/clocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/html/frame.h"
#include "report/html/svg.h"

enum { MOST = 128, ROWS = 300 };

/* A square table with one number, and the interval that certainly contains it, for each pair. */
struct square {
	double value[MOST][MOST], low[MOST][MOST], high[MOST][MOST];
	size_t n;    /* rows in use */
	size_t left; /* values for which there was no row */
};

static FILE *open_beside(const struct vtr_clocks *c, const char *suffix)
{
	char path[1100];

	snprintf(path, sizeof(path), "%.*s%s", (int)(strlen(c->path) - 4), c->path, suffix);
	return fopen(path, "r");
}

static struct square *new_square(void)
{
	struct square *s = malloc(sizeof(*s));
	size_t a, b;

	for (a = 0; s && a < MOST; a++) {
		for (b = 0; b < MOST; b++) {
			s->value[a][b] = s->low[a][b] = s->high[a][b] = NAN;
		}
	}
	if (s) {
		s->n = s->left = 0;
	}
	return s;
}

/* Keeps the value that is farthest from 0. */
static void widen_square(struct square *s, int a, int b, double low, double high)
{
	double v = (low + high) / 2;

	if (a < 0 || b < 0 || a >= MOST || b >= MOST) {
		s->left++;
		return;
	}
	s->n = (size_t)(a > b ? a : b) + 1 > s->n ? (size_t)(a > b ? a : b) + 1 : s->n;
	if (isnan(s->value[a][b]) || fabs(v) > fabs(s->value[a][b])) {
		s->value[a][b] = v;
		s->low[a][b] = low;
		s->high[a][b] = high;
	}
}

static void label(void *context, size_t row, char *buf, size_t size)
{
	snprintf(buf, size, "%s %zu", (const char *)context, row);
}

static void draw_pair(
	FILE *f, const struct square *s, const char *id, const char *title, const char *about, const char *word)
{
	const char *const heads[] = { "first", "second", "offset", "from", "to", NULL };
	struct vtr_heat h = { .id = id,
		.title = title,
		.about = about,
		.unit = "s",
		.rows = s->n,
		.columns = s->n,
		.label = label,
		.context = (void *)(uintptr_t)word };
	double *cell = malloc(s->n * s->n * sizeof(*cell));
	size_t a, b, shown = 0;

	for (a = 0; cell && a < s->n; a++) {
		for (b = 0; b < s->n; b++) {
			cell[a * s->n + b] = fabs(s->value[a][b]);
			h.high = fmax(h.high, cell[a * s->n + b]);
		}
	}
	if (cell && s->n) {
		h.cell = cell;
		fprintf(f, "<h3>%s</h3><p class=\"soft\">%s</p>\n", title, about);
		if (h.high > 0) {
			vtr_svg_heat(f, &h);
		} else {
			fputs("<p>No offset was found: 0 is in the interval of every pair.</p>\n", f);
		}
		vtr_table_begin(f, "Table of the pairs", title, heads);
		for (a = 0; a < s->n; a++) {
			for (b = 0; b < s->n && shown < ROWS; b++) {
				if (isnan(s->value[a][b])) {
					continue;
				}
				fprintf(f, "<tr><th scope=\"row\">%s %zu</th><td>%zu</td>", word, a, b);
				vtr_cell(f, s->value[a][b], "s");
				vtr_cell(f, s->low[a][b], "s");
				vtr_cell(f, s->high[a][b], "s");
				fputs("</tr>\n", f);
				shown++;
			}
		}
		vtr_table_end(f);
		if (shown == ROWS || s->left) {
			fprintf(f, "<p class=\"soft\">Not all pairs are in the table: it has the first %d.</p>\n",
				ROWS);
		}
	}
	free(cell);
}

/* Reads blocks of bursts that begin with "a <-> b": time, offset, half width of the certain interval, latency. */
static void show_pairs(FILE *f, const struct vtr_clocks *c)
{
	FILE *in = open_beside(c, ".run.dat");
	struct square *s = in ? new_square() : NULL;
	char line[300];
	double offset, width;
	int a = -1, b = -1;

	while (s && fgets(line, sizeof(line), in)) {
		if (line[0] == '"') {
			if (sscanf(line, "\"%d <-> %d\"", &a, &b) != 2) {
				a = b = -1;
			}
		} else if (line[0] != '#' && sscanf(line, "%*f %lf %lf", &offset, &width) == 2) {
			widen_square(s, a, b, offset - width, offset + width);
		}
	}
	if (s && s->n) {
		draw_pair(f, s, "pairs", "Offset of pairs of ranks after correction",
			"The largest offset of each pair in the application run: a row for the first rank, a column "
			"for the second, light is "
			"large. The table has the interval in which the offset certainly lay.",
			"rank");
	}
	free(s);
	if (in) {
		fclose(in);
	}
}

static void show_cores(FILE *f, const struct vtr_clocks *c)
{
	FILE *in = open_beside(c, ".matrix.dat");
	struct square *s = in ? new_square() : NULL;
	char line[300];
	double low, high;
	int a, b;

	while (s && fgets(line, sizeof(line), in)) {
		if (sscanf(line, "%d %d %lf %lf", &a, &b, &low, &high) == 4) {
			widen_square(s, a, b, low, high);
		}
	}
	if (s && s->n) {
		draw_pair(f, s, "cores", "Core matrix",
			"Offset between the counters of two processing units of a node: a row for the first, a column "
			"for the second. The "
			"table has the interval in which it certainly lies.",
			"unit");
	}
	free(s);
	if (in) {
		fclose(in);
	}
}

void vtr_show_pairs(FILE *f, const struct vtr_clocks *c)
{
	show_pairs(f, c);
	show_cores(f, c);
}
