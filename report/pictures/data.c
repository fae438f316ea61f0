/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the values of the curves once more, as text for the script: two letters of base64 for each value, in 4094
 * steps of the counter's range. */
#include "config.h"
#include "report/pictures/counters.h"

#include <math.h>
#include <stdlib.h>

#include "report/html/html.h"

enum { LETTERS = 120000, NONE = 4095 };

static void put_value(FILE *f, double v, double low, double high)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned k = NONE;

	if (!isnan(v)) {
		k = high > low ? (unsigned)lround((v - low) / (high - low) * (NONE - 1)) : 0;
		k = k > NONE - 1 ? NONE - 1 : k;
	}
	fputc(digit[k / 64], f);
	fputc(digit[k % 64], f);
}

/* The resolution of the values: the number of columns, and 3 texts or only the means. */
struct grain {
	uint32_t columns; /* of the trace */
	uint32_t n, per;
	int texts;
};

static struct grain find_grain(const struct vtr_trace *t)
{
	uint32_t used = vtr_axis_used(&t->axis);
	struct grain g = { t->axis.columns, used, 1, 3 };
	size_t series = t->axis.n_series ? t->axis.n_series : 1;

	while (g.n > 320 || (g.n > 32 && series * g.n * 2 * (size_t)g.texts > LETTERS)) {
		if (g.texts == 3 && g.n <= 160) {
			g.texts = 1;
			continue;
		}
		g.per++;
		g.n = (used + g.per - 1) / g.per;
	}
	return g;
}

static void put_curve(FILE *f, const struct vtr_series *s, const struct grain *g, int which, double low, double high)
{
	uint32_t k, n;

	fputs(",\"", f);
	for (k = 0; k < g->n; k++) {
		struct vtr_column c;

		n = (k + 1) * g->per <= g->columns ? g->per : g->columns - k * g->per;
		c = vtr_column_join(s, k * g->per, n);
		put_value(f,
			!(c.weight > 0)      ? NAN
				: which == 0 ? c.sum / c.weight
				: which == 1 ? c.low
					     : c.high,
			low, high);
	}
	fputc('"', f);
}

static void put_counter(FILE *f, const struct vtr_trace *t, size_t number, const struct grain *g)
{
	const struct vtr_counter *c = &t->counter[number];
	const struct vtr_series **s;
	double low, high;
	char label[120];
	size_t i, n = vtr_counter_series(t, number, &s);
	int which;

	vtr_counter_range(s, n, &low, &high);
	fprintf(f, "\"%zu\":{\"u\":", number);
	vtr_json(f, c->unit);
	fprintf(f, ",\"lo\":%.9g,\"hi\":%.9g,\"s\":[", low, high);
	for (i = 0; i < n; i++) {
		fputs(i ? ",[" : "[", f);
		vtr_json(f, vtr_willy_label(t, s[i]->willy, label, sizeof(label)));
		for (which = 0; which < (c->share ? 1 : g->texts); which++) {
			put_curve(f, s[i], g, which, low, high);
		}
		fputc(']', f);
	}
	fputs("]}", f);
	free(s);
}

void vtr_write_data(FILE *f, const struct vtr_trace *t)
{
	struct grain g = find_grain(t);
	size_t k, n = 0;
	double v;

	fprintf(f, "<script type=\"application/json\" id=\"data\">{\"n\":%u,\"dt\":%.9g,\"c\":{", g.n,
		(double)g.per * (double)t->axis.width * t->resolution);
	for (k = 0; k < t->counters; k++) {
		if (t->counter[k].n_series && !vtr_counter_is_constant(t, k, &v)) {
			fputs(n++ ? ",\n" : "\n", f);
			put_counter(f, t, k, &g);
		}
	}
	fputs("}}</script>\n", f);
}
