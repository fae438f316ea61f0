/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of messages by pair and by size, and of collective operations. */
#include "config.h"
#include "report/page/calls.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "report/html/frame.h"

enum { LINES = 400 };

static int by_bytes(const void *a, const void *b)
{
	const struct vtr_flow *x = *(const struct vtr_flow *const *)a, *y = *(const struct vtr_flow *const *)b;

	if (x->bytes != y->bytes) {
		return x->bytes < y->bytes ? 1 : -1;
	}
	return x->from != y->from ? (x->from > y->from) - (x->from < y->from) : (x->to > y->to) - (x->to < y->to);
}

/* Bytes, and the time from send to receive. */
static void flow_cells(FILE *f, const struct vtr_flow *w, double resolution)
{
	fprintf(f, "<td>%" PRIu64 "</td>", w->n);
	vtr_cell(f, (double)w->bytes, "bytes");
	vtr_cell(f, w->timed ? w->least * resolution : NAN, "s");
	vtr_cell(f, w->timed ? w->sum / (double)w->timed * resolution : NAN, "s");
	vtr_cell(f, w->timed ? w->most * resolution : NAN, "s");
}

static void pair_table(FILE *f, const struct vtr_traffic *traffic)
{
	const char *const heads[] = { "from", "to", "messages", "bytes", "shortest", "mean", "longest", "waits",
		"waited", NULL };
	const struct vtr_flow **pair = calloc(tkm_table_count(&traffic->pairs) + 1, sizeof(*pair)), *w = NULL;
	size_t n = 0, i;

	while (pair && (w = tkm_table_next(&traffic->pairs, w))) {
		pair[n] = w;
		n += w->n > 0;
	}
	if (n) {
		qsort(pair, n, sizeof(*pair), by_bytes);
		vtr_table_begin(f, "Table of the messages", "Messages by sender and receiver", heads);
		for (i = 0; i < n && i < LINES; i++) {
			fprintf(f, "<tr><th scope=\"row\">%" PRIu32 "</th><td>%" PRIu32 "</td>", pair[i]->from,
				pair[i]->to);
			flow_cells(f, pair[i], traffic->t->resolution);
			fprintf(f, "<td>%" PRIu64 "</td>", pair[i]->waits);
			vtr_cell(f, pair[i]->waited * traffic->t->resolution, "s");
			fputs("</tr>\n", f);
		}
		vtr_table_end(f);
	}
	if (n > LINES) {
		fprintf(f,
			"<p class=\"soft\">The %d of %zu pairs with the most bytes are "
			"shown.</p>\n",
			LINES, n);
	}
	free(pair);
}

static void size_table(FILE *f, const struct vtr_traffic *traffic)
{
	const char *const heads[] = { "bytes each", "messages", "bytes", "shortest", "mean", "longest",
		"bytes of a message by its mean time", NULL };
	int k;

	vtr_table_begin(f, "Table of the sizes", "Messages by size: from send to receive", heads);
	for (k = 0; k < VTR_SIZES; k++) {
		const struct vtr_flow *w = &traffic->size[k];
		uint64_t least = k ? UINT64_C(1) << (k - 1) : 0;

		if (!w->n) {
			continue;
		}
		fprintf(f, "<tr><th scope=\"row\">%" PRIu64 " to %" PRIu64 "</th>", least, k ? 2 * least - 1 : 0);
		flow_cells(f, w, traffic->t->resolution);
		vtr_cell(f, w->sum > 0 && w->n == w->timed ? (double)w->bytes / (w->sum * traffic->t->resolution) : NAN,
			"bytes/s");
		fputs("</tr>\n", f);
	}
	vtr_table_end(f);
}

void vtr_show_message_pairs(FILE *f, const struct vtr_traffic *traffic)
{
	pair_table(f, traffic);
	size_table(f, traffic);
}

static int by_time(const void *a, const void *b)
{
	const struct vtr_collective *x = *(const struct vtr_collective *const *)a,
				    *y = *(const struct vtr_collective *const *)b;

	return x->time < y->time ? 1 : x->time > y->time ? -1 : 0;
}

/* Which member began as the last one most often. */
static void last_cell(FILE *f, const struct vtr_trace *t, const struct vtr_collective *c)
{
	const struct stf_analysis *a = t->analysis;
	const struct stf_spread *s = NULL;
	char label[80];
	size_t i;

	for (i = 0; a && i < a->n_spreads && !s; i++) {
		s = a->spread[i].type == c->type && a->spread[i].communicator == c->communicator ? &a->spread[i] : NULL;
	}
	fputs("<td>", f);
	if (s && s->last_count) {
		vtr_html(f, vtr_willy_label(t, s->last, label, sizeof(label)));
		fprintf(f, ": %" PRIu64 " of %" PRIu64, s->last_count, s->count);
	} else {
		fputs(s && s->undecided == s->count ? "undecided" : "unknown", f);
	}
	if (s && s->last_count && s->undecided) {
		fprintf(f, ", undecided: %" PRIu64, s->undecided);
	}
	fputs("</td>", f);
}

static void collective_row(FILE *f, const struct vtr_trace *t, const struct vtr_collective *c)
{
	const char *name = stf_reader_name(t->reader, STF_ID_collective_operation_definition, c->type);
	const char *comm = stf_reader_name(t->reader, STF_ID_communicator_definition, c->communicator);

	fputs("<tr><th scope=\"row\">", f);
	vtr_html(f, name ? name : "(no name)");
	fprintf(f, "</th><td>%" PRIu64 "</td>", c->n);
	vtr_cell(f, c->longest * t->resolution, "s");
	vtr_cell(f, c->time * t->resolution, "s");
	vtr_cell(f, (double)c->bytes, "bytes");
	vtr_cell(f, c->spread / (double)c->n * t->resolution, "s");
	vtr_cell(f, c->most_spread * t->resolution, "s");
	last_cell(f, t, c);
	fputs("<td>", f);
	vtr_html(f, comm ? comm : "");
	fputs("</td></tr>\n", f);
}

void vtr_show_collectives(FILE *f, const struct vtr_traffic *traffic)
{
	const char *const heads[] = { "operation", "times", "longest", "time of all members", "bytes",
		"arrivals within, mean", "at most", "last most often", "communicator", NULL };
	const struct vtr_collective **all = calloc(tkm_table_count(&traffic->collectives) + 1, sizeof(*all)), *c = NULL;
	size_t n = 0, i;

	while (all && (c = tkm_table_next(&traffic->collectives, c))) {
		all[n++] = c;
	}
	if (n) {
		qsort(all, n, sizeof(*all), by_time);
		vtr_table_begin(f, "Table of the collective operations", "Collective operations", heads);
		for (i = 0; i < n && i < LINES; i++) {
			collective_row(f, traffic->t, all[i]);
		}
		vtr_table_end(f);
	}
	free(all);
}
