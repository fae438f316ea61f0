/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws curves and heat maps as SVG. */
#include "config.h"
#include "report/html/svg.h"

#include <math.h>
#include <string.h>

enum { TOP = 18, HEIGHT = 150, LEVELS = 9, FINE = 400 };

/* ---- axes ---- */

enum { TICKS = 20 };
#define MOST 1e290

/* A step of 1, 2 or 5 times a power of ten, so that at most `n` steps fit the length. */
static double nice_step(double length, int n)
{
	double p, s = length / n;

	if (!(s > 0) || !isfinite(s)) {
		return 1;
	}
	p = pow(10, floor(log10(s)));
	s /= p;
	return p * (s <= 1 ? 1 : s <= 2 ? 2 : s <= 5 ? 5 : 10);
}

static void open_svg(FILE *f, const char *id, const char *title, const char *about, int height)
{
	fprintf(f, " role=\"img\" width=\"100%%\" height=\"%d\" aria-labelledby=\"%s-t %s-d\"><title id=\"%s-t\">",
		height, id, id, id);
	vtr_html(f, title);
	fprintf(f, "</title><desc id=\"%s-d\">", id);
	vtr_html(f, about);
	fputs("</desc>\n", f);
}

static void x_axis(FILE *f, double from, double to, const char *unit, int bottom)
{
	struct vtr_unit u = vtr_unit_for(unit, fabs(to) > fabs(from) ? to : from);
	double a = from * u.scale, b = to * u.scale, step = nice_step(b - a, 6), v;
	char number[40];
	int last = 0, i;

	for (i = 0, v = ceil(a / step) * step; v <= b + step * 1e-9 && b > a && i < TICKS; i++, v += step) {
		double at = 100 * (v - a) / (b - a);

		if (at > 93) {
			break; /* the unit is there */
		}
		fprintf(f, "<text x=\"%.1f%%\" y=\"%d\" class=\"x %s\">%s</text>\n", at, bottom + 14,
			at < 3 ? "s" : "m", vtr_number(number, sizeof(number), fabs(v) < step * 1e-6 ? 0 : v));
		fprintf(f, "<line class=\"tick\" x1=\"%.1f%%\" x2=\"%.1f%%\" y1=\"%d\" y2=\"%d\"/>", at, at, bottom,
			bottom + 4);
		last++;
	}
	fprintf(f, "<text x=\"100%%\" y=\"%d\" class=\"x e\">", bottom + 14);
	vtr_html(f, last ? u.unit : "");
	fputs("</text>\n", f);
}

static void y_axis(FILE *f, double low, double high, const struct vtr_unit *u, int labels)
{
	double step = nice_step(high - low, 4), v;
	char number[40];
	int first = 1, i;

	/* where the range is the spacing of floating-point numbers, a step changes nothing */
	for (i = 0, v = floor(high / step) * step; v >= low - step * 1e-9 && i < TICKS; i++, v -= step) {
		double y = TOP + HEIGHT * (high - v) / (high - low);

		if (!labels) {
			fprintf(f, "<path class=\"grid\" d=\"M0 %.1fh9999\"/>", y);
			continue;
		}
		fprintf(f, "<text class=\"s\" x=\"2\" y=\"%.1f\">%s", y - 3,
			vtr_number(number, sizeof(number), fabs(v) < step * 1e-6 ? 0 : v));
		if (first) {
			fputc(' ', f);
			vtr_html(f, u->unit);
		}
		fputs("</text>\n", f);
		first = 0;
	}
}

/* ---- curves ---- */

static long fine(double v, double low, double high)
{
	double y = FINE * (high - v) / (high - low);

	return lround(y < -FINE ? -FINE : y > 2 * FINE ? 2 * FINE : y);
}

/* Draws a line, with gaps where there are no values, with relative coordinates to save bytes. */
static void draw_line(FILE *f, const double *v, size_t n, double low, double high)
{
	long y = 0, to;
	size_t i, at = 0;
	int down = 0;

	for (i = 0; i < n; i++) {
		if (isnan(v[i])) {
			continue;
		}
		to = fine(v[i], low, high);
		if (!down) {
			fprintf(f, "M%zu %ldl", i, to);
		} else {
			fprintf(f, "%s%zu%s%ld", down > 1 ? " " : "", i - at, to < y ? "" : " ", to - y);
		}
		down = down ? 2 : 1;
		y = to;
		at = i;
	}
	if (down == 1) {
		fputs("1 0", f);
	}
}

/* Draws the area between two lines, in pieces if there are gaps. */
static void draw_band(FILE *f, const struct vtr_line *l, size_t n, double low, double high)
{
	size_t i, j, k;
	long y, to;

	for (i = 0; i < n; i = k) {
		for (; i < n && isnan(l->low[i]); i++) {
		}
		for (k = i; k < n && !isnan(l->low[k]); k++) {
		}
		if (i == n) {
			break;
		}
		y = fine(l->high[i], low, high);
		fprintf(f, "M%zu %ldl", i, y);
		for (j = i + 1; j < k; j++, y = to) {
			to = fine(l->high[j], low, high);
			fprintf(f, "%s1%s%ld", j > i + 1 ? " " : "", to < y ? "" : " ", to - y);
		}
		to = fine(l->low[k - 1], low, high);
		fprintf(f, "%s1 0 0%s%ld", k > i + 1 ? " " : "", to < y ? "" : " ", to - y);
		fputs("-1 0", f);
		for (y = to, j = k - 1; j-- > i; y = to) {
			to = fine(l->low[j], low, high);
			fprintf(f, "-1%s%ld", to < y ? "" : " ", to - y);
		}
		fputc('z', f);
	}
}

static int has_band(const struct vtr_line *l, size_t n, double low, double high)
{
	size_t i;

	for (i = 0; l->low && l->high && i < n; i++) {
		if (!isnan(l->low[i]) && fine(l->low[i], low, high) - fine(l->high[i], low, high) > 1) {
			return 1;
		}
	}
	return 0;
}

static void draw_dots(FILE *f, const double *v, size_t n, double low, double high)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (!isnan(v[i])) {
			fprintf(f, "M%zu %ldh0", i, fine(v[i], low, high));
		}
	}
}

static void find_chart_range(const struct vtr_chart *c, double *low, double *high)
{
	size_t k, i;

	*low = INFINITY;
	*high = -INFINITY;
	for (k = 0; k < c->lines; k++) {
		const struct vtr_line *l = &c->line[k];

		for (i = 0; i < c->n; i++) {
			/* a dot may have no band */
			double a = l->low && !isnan(l->low[i]) ? l->low[i] : l->mean[i],
			       b = l->high && !isnan(l->high[i]) ? l->high[i] : l->mean[i];

			*low = a < *low ? a : *low;
			*high = b > *high ? b : *high;
		}
	}
	if (*low > *high) {
		*low = 0;
		*high = 1;
	}
	if (c->with_zero && *low > 0) {
		*low = 0;
	}
	/* a unit's scale and the length of the range are numbers, too */
	*low = fmin(fmax(*low, -MOST), MOST);
	*high = fmin(fmax(*high, -MOST), MOST);
	if (*high - *low <= fabs(*high) * 1e-12) {
		*high += *high == 0 ? 1 : fabs(*high) * 0.1;
		*low -= *low == 0 ? 0 : fabs(*low) * 0.1;
	}
	if (*high - *low < 1 / MOST) {
		*high = *low + fmax(fabs(*low) * 0.1, 1 / MOST);
	}
	*high += (*high - *low) * 0.04;
	*low -= c->with_zero && *low >= 0 ? 0 : (*high - *low) * 0.04;
}

static void draw_marks(FILE *f, const struct vtr_chart *c)
{
	size_t i;

	for (i = 0; i < c->marks && c->to > c->from; i++) {
		double from = 100 * (c->mark[i].from - c->from) / (c->to - c->from),
		       to = 100 * (c->mark[i].to - c->from) / (c->to - c->from);

		from = fmin(fmax(from, 0), 100);
		to = fmin(fmax(to, from), 100);
		fprintf(f,
			"<rect class=\"between\" x=\"%.2f%%\" width=\"%.2f%%\" y=\"%d\" height=\"%d\"/>"
			"<line class=\"step\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%d\" y2=\"%d\"/>",
			from, to - from, TOP, HEIGHT, to, to, TOP, TOP + HEIGHT);
		fprintf(f, "<text class=\"%s w\" x=\"%.2f%%\" dx=\"%d\" y=\"%zu\">", to > 60 ? "e" : "s", to,
			to > 60 ? -4 : 4, TOP + 24 + 13 * (i % 8));
		vtr_html(f, c->mark[i].label);
		fputs("</text>\n", f);
	}
}

static void legend(FILE *f, const struct vtr_chart *c)
{
	size_t k;

	if (c->lines < 2 && !(c->lines && c->line[0].label)) {
		return;
	}
	fputs("<p class=\"key\">", f);
	for (k = 0; k < c->lines; k++) {
		if (c->line[k].label) {
			fprintf(f, "<span class=\"k%d\"></span>", c->line[k].colour);
			vtr_html(f, c->line[k].label);
			fputc(' ', f);
		}
	}
	fputs("</p>", f);
}

void vtr_svg_chart(FILE *f, const struct vtr_chart *c)
{
	double low, high;
	struct vtr_unit u;
	size_t k;

	find_chart_range(c, &low, &high);
	u = vtr_unit_for(c->y_unit, fabs(low) > fabs(high) ? low : high);
	legend(f, c);
	fputs("<svg class=\"chart\"", f);
	if (c->data) {
		fprintf(f, " data-series=\"%s\" data-low=\"%.9g\" data-high=\"%.9g\"", c->data, low, high);
	}
	open_svg(f, c->id, c->title, c->about, TOP + HEIGHT + 20);
	y_axis(f, low * u.scale, high * u.scale, &u, 0);
	fprintf(f, "<svg y=\"%d\" width=\"100%%\" height=\"%d\" viewBox=\"0 0 %zu %d\" preserveAspectRatio=\"none\">",
		TOP, HEIGHT, c->n > 1 ? c->n : 1, FINE);
	for (k = 0; k < c->lines; k++) {
		const struct vtr_line *l = &c->line[k];

		if (has_band(l, c->n, low, high)) {
			fprintf(f, "<path class=\"b c%d\" d=\"", l->colour);
			draw_band(f, l, c->n, low, high);
			fputs("\"/>", f);
		}
	}
	for (k = 0; k < c->lines; k++) {
		const struct vtr_line *l = &c->line[k];

		fprintf(f, "<path class=\"%s c%d\" d=\"", l->dots ? "d" : "l", l->colour);
		if (l->dots) {
			draw_dots(f, l->mean, c->n, low, high);
		} else {
			draw_line(f, l->mean, c->n, low, high);
		}
		fputs("\"/>", f);
	}
	fputs("</svg>", f);
	draw_marks(f, c);
	y_axis(f, low * u.scale, high * u.scale, &u, 1);
	x_axis(f, c->from, c->to, c->x_unit, TOP + HEIGHT);
	fputs("</svg>\n", f);
}

/* ---- heat maps ---- */

static int level(const struct vtr_heat *h, double v)
{
	int k = h->high > h->low ? (int)((v - h->low) / (h->high - h->low) * LEVELS) : 0;

	return k < 0 ? 0 : k >= LEVELS ? LEVELS - 1 : k;
}

/* Draws all cells of one colour as one path; neighbouring cells in a row are one stroke. */
static void draw_level(FILE *f, const struct vtr_heat *h, int want)
{
	size_t r, i, k;
	int open = 0;

	for (r = 0; r < h->rows; r++) {
		const double *v = h->cell + r * h->columns;

		for (i = 0; i < h->columns; i = k) {
			k = i + 1;
			if (isnan(v[i]) || level(h, v[i]) != want) {
				continue;
			}
			while (k < h->columns && !isnan(v[k]) && level(h, v[k]) == want) {
				k++;
			}
			fprintf(f, "%sM%zu %zuh%zu", open ? "" : "<path d=\"", i, r, k - i);
			open = 1;
		}
	}
	if (open) {
		fprintf(f, "\" class=\"h h%d\"/>", want);
	}
}

static void heat_key(FILE *f, const struct vtr_heat *h)
{
	char a[60], b[60];
	int k;

	fputs("<p class=\"key\">", f);
	vtr_html(f, vtr_value(a, sizeof(a), h->low, h->unit));
	fputc(' ', f);
	for (k = 0; k < LEVELS; k++) {
		fprintf(f, "<span class=\"q q%d\"></span>", k);
	}
	fputc(' ', f);
	vtr_html(f, vtr_value(b, sizeof(b), h->high, h->unit));
	fputs("</p>", f);
}

/* Draws the names of the rows in a picture of their own, left of the cells, so that they do not cover any. The table
 * has the names for readers who cannot see the picture. */
static void row_names(FILE *f, const struct vtr_heat *h, int row, int height)
{
	size_t every = (size_t)(14 / row + (14 % row != 0)), r, longest = 0;
	char label[120];

	every = every < 1 ? 1 : every;
	for (r = 0; r < h->rows; r += every) {
		h->label(h->context, r, label, sizeof(label));
		longest = strlen(label) > longest ? strlen(label) : longest;
	}
	longest = longest > 24 ? 24 : longest;
	fprintf(f, "<svg class=\"chart names\" width=\"%zu\" height=\"%d\" aria-hidden=\"true\">\n", 7 * longest + 4,
		TOP + height + 20);
	for (r = 0; r < h->rows; r += every) {
		h->label(h->context, r, label, sizeof(label));
		fprintf(f, "<text class=\"e\" x=\"100%%\" y=\"%d\">", TOP + (int)r * row + row / 2 + 4);
		vtr_html(f, label);
		fputs("</text>\n", f);
	}
	fputs("</svg>", f);
}

void vtr_svg_heat(FILE *f, const struct vtr_heat *h)
{
	int row = h->rows <= 8 ? 20 : h->rows <= 16 ? 14 : h->rows <= 40 ? 8 : h->rows <= 80 ? 5 : 3;
	int height = (int)h->rows * row, k;
	size_t r;

	heat_key(f, h);
	fprintf(f, "<div class=\"heat%s\">", h->to > h->from ? "" : " square");
	row_names(f, h, row, height);
	fputs("<svg class=\"chart\"", f);
	if (h->data) {
		fprintf(f, " data-series=\"%s\" data-rows=\"%zu\"", h->data, h->rows);
	}
	open_svg(f, h->id, h->title, h->about, TOP + height + 20);
	fprintf(f,
		"<svg y=\"%d\" width=\"100%%\" height=\"%d\" viewBox=\"0 -0.5 %zu %zu\" preserveAspectRatio=\"none\">",
		TOP, height, h->columns, h->rows);
	for (k = 0; k < LEVELS; k++) {
		draw_level(f, h, k);
	}
	fputs("</svg>", f);
	if (h->to > h->from) {
		x_axis(f, h->from, h->to, h->x_unit, TOP + height);
	}
	for (r = 0; h->to <= h->from && r < h->columns; r += (h->columns + 15) / 16) {
		fprintf(f, "<text class=\"m\" x=\"%.1f%%\" y=\"%d\">%zu</text>\n",
			100 * ((double)r + 0.5) / (double)h->columns, TOP + height + 14, r);
	}
	fputs("</svg>\n</div>\n", f);
}
