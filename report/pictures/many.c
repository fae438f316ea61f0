/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws many curves in one picture. */
#include "config.h"
#include "report/pictures/many.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORST = 3 };

double vtr_farthest(const struct vtr_field *f, size_t row)
{
	double most = -1;
	size_t i;

	for (i = 0; i < f->n; i++) {
		double v = fabs(f->value[row * f->n + i]);

		most = v > most ? v : most;
	}
	return most;
}

static int envelope(const struct vtr_field *f, struct vtr_chosen *c)
{
	double *low, *mean, *high;
	size_t r, i, n;

	c->sum = malloc(3 * f->n * sizeof(double));
	if (!c->sum) {
		return -1;
	}
	low = c->sum;
	mean = low + f->n;
	high = mean + f->n;
	for (i = 0; i < f->n; i++) {
		low[i] = mean[i] = high[i] = NAN;
		for (r = n = 0; r < f->rows; r++) {
			double v = f->value[r * f->n + i];

			if (!isnan(v)) {
				low[i] = fmin(low[i], v);
				high[i] = fmax(high[i], v);
				mean[i] = n++ ? mean[i] + v : v;
			}
		}
		mean[i] /= n ? (double)n : 1;
	}
	c->line[0] = (struct vtr_line){ low, mean, high, c->label[0], 6, 0 };
	snprintf(c->label[0], sizeof(c->label[0]), "smallest to largest of %zu %ss, and mean", f->rows, f->word);
	c->n = 1;
	return 0;
}

/* Makes lines for all rows except `without` (-1: none), or an envelope and the worst rows. */
void vtr_choose(const struct vtr_field *f, int without, int dots, struct vtr_chosen *c)
{
	unsigned char taken[VTR_LINES * 64] = { 0 };
	size_t r, k, best, most = f->rows > VTR_LINES ? WORST : f->rows;

	memset(c, 0, sizeof(*c));
	if (f->rows > VTR_LINES && envelope(f, c) < 0) {
		return;
	}
	for (k = 0; k < most; k++) {
		best = f->rows;
		for (r = 0; r < f->rows; r++) {
			if ((int)r == without || vtr_farthest(f, r) < 0 || (r < sizeof(taken) && taken[r])) {
				continue;
			}
			if (best == f->rows || (f->rows > VTR_LINES && vtr_farthest(f, r) > vtr_farthest(f, best))) {
				best = r;
			}
		}
		if (best == f->rows || best >= sizeof(taken)) {
			break;
		}
		taken[best] = 1;
		if (f->name) {
			snprintf(c->label[c->n], sizeof(c->label[0]), "%s", f->name[best]);
		} else {
			snprintf(c->label[c->n], sizeof(c->label[0]), "%s %zu", f->word, best);
		}
		c->line[c->n] = (struct vtr_line){ f->low ? f->low + best * f->n : NULL, f->value + best * f->n,
			f->high ? f->high + best * f->n : NULL, c->label[c->n], (int)(best % VTR_LINES), dots };
		c->n++;
	}
}

int vtr_field_begin(struct vtr_field *f, size_t rows, size_t n, int with_band)
{
	size_t i, cells = rows * n * (with_band ? 3 : 1);

	memset(f, 0, sizeof(*f));
	f->rows = rows;
	f->n = n;
	f->word = "rank";
	f->value = malloc((cells + 1) * sizeof(double));
	if (!f->value) {
		return -1;
	}
	for (i = 0; i < cells; i++) {
		f->value[i] = NAN;
	}
	if (with_band) {
		f->low = f->value + rows * n;
		f->high = f->low + rows * n;
	}
	return 0;
}
