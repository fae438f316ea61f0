/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the waits of a run. */
#include "config.h"
#include "report/timeline/waits.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "report/html/frame.h"

static void add_share(struct vtr_waits *w, uint32_t row, uint64_t from, uint64_t to)
{
	uint64_t origin = w->names->origin, k, end;

	from = from > origin ? from - origin : 0;
	to = to > origin ? to - origin : 0;
	for (k = from / w->width; from < to && k < w->bins; k++, from = end) {
		end = (k + 1) * w->width < to ? (k + 1) * w->width : to;
		w->waited[(size_t)row * w->bins + k] += (float)(end - from);
	}
}

/* Waits for one thread that end together are one wait of several. */
static int is_same_wait(const struct stf_single_wait *a, const struct stf_single_wait *b)
{
	uint64_t apart = a->to > b->to ? a->to - b->to : b->to - a->to, longer = a->to - a->from;

	longer = b->to - b->from > longer ? b->to - b->from : longer;
	return a->cause == b->cause && apart <= longer / 8;
}

static void keep_worst(struct vtr_waits *w, const struct stf_single_wait *one)
{
	struct vtr_worst new = { *one, 0 };
	uint64_t length = one->to - one->from;
	size_t i;

	for (i = 0; i < w->n && !is_same_wait(&w->worst[i].wait, one); i++) {
	}
	if (i < w->n) {
		w->worst[i].others++;
		if (w->worst[i].wait.to - w->worst[i].wait.from >= length) {
			return;
		}
		new.others = w->worst[i].others;
	} else if (w->n < VTR_WORST) {
		i = w->n++;
	} else {
		i = VTR_WORST - 1;
		if (w->worst[i].wait.to - w->worst[i].wait.from >= length) {
			return;
		}
	}
	for (; i > 0 && w->worst[i - 1].wait.to - w->worst[i - 1].wait.from < length; i--) {
		w->worst[i] = w->worst[i - 1];
	}
	w->worst[i] = new;
}

static void take_wait(void *user, const struct stf_single_wait *one)
{
	struct vtr_waits *w = user;
	uint32_t row = vtr_names_row(w->names, one->willy);

	if (row != VTR_NO_ROW && one->decided) {
		add_share(w, row, one->from, one->to);
		keep_worst(w, one);
		vtr_traffic_wait(w->traffic, one);
	}
}

int vtr_waits_find(struct vtr_waits *w, const struct vtr_names *n, uint32_t bins, struct vtr_traffic *traffic)
{
	struct stf_analysis_options o = stf_analysis_options();
	struct stf_err e;

	*w = (struct vtr_waits){
		.names = n, .bins = bins, .traffic = traffic, .width = (n->end - n->origin) / bins + 1
	};
	w->waited = calloc((size_t)n->rows * bins + 1, sizeof(*w->waited));
	if (!w->waited) {
		return -1;
	}
	o.wait = take_wait;
	o.user = w;
	o.window = n->t->windowed;
	o.from = n->origin;
	o.to = n->end;
	w->result = stf_analyze(n->t->reader, &o, &e);
	return !w->result && e.code == STF_ERR_NOMEM ? -1 : 0;
}

void vtr_waits_free(struct vtr_waits *w)
{
	free(w->waited);
	stf_analysis_free(w->result);
}

/* ---- the table ---- */

static void show_row(FILE *f, const struct vtr_waits *w, const struct vtr_worst *one)
{
	const struct vtr_trace *t = w->names->t;
	const struct stf_single_wait *s = &one->wait;
	const char *call = stf_reader_name(t->reader, STF_ID_function_definition, s->function);
	const char *there = stf_reader_name(t->reader, STF_ID_function_definition, s->cause_function);
	char label[120], place[400], value[60];

	fprintf(f,
		"<tr data-wait data-row=\"%" PRIu32 "\" data-from=\"%" PRIu64 "\" data-to=\"%" PRIu64
		"\"><th scope=\"row\">",
		vtr_names_row(w->names, s->willy), vtr_names_time(w->names, s->from), vtr_names_time(w->names, s->to));
	vtr_html(f, vtr_willy_label(t, s->willy, label, sizeof(label)));
	fputs("</th>", f);
	vtr_cell(f, (double)(s->to - s->from) * t->resolution, "s");
	if (isnan(s->bound)) {
		fputs("<td>unknown</td>", f);
	} else {
		vtr_cell(f, vtr_upper(s->bound, "s"), "s");
	}
	fputs("<td>", f);
	snprintf(value, sizeof(value), "%.9g s", t->offset_s + (double)(s->from - w->names->origin) * t->resolution);
	vtr_html(f, value);
	fputs("</td><td>", f);
	vtr_html(f, stf_wait_name(s->kind));
	fputs("</td><td>", f);
	vtr_html(f, call ? call : "");
	fputs("</td><td>", f);
	vtr_html(f, vtr_willy_label(t, s->cause, label, sizeof(label)));
	fputs("</td><td>", f);
	vtr_html(f, there ? there : "");
	fprintf(f, "</td><td>%" PRIu64 "</td><td>", one->others);
	vtr_html(f, vtr_source_place(t, s->scl, place, sizeof(place)) ? place : "");
	fputs("</td></tr>\n", f);
}

void vtr_waits_show(FILE *f, const struct vtr_waits *w)
{
	const char *const heads[] = { "who waited", "how long", "\xc2\xb1", "from", "kind", "in the call", "because of",
		"which was in", "others with it", "place in the source", NULL };
	size_t i;

	if (!w->n) {
		return;
	}
	vtr_open_table_begin(f, "Table of the longest waits", "The longest waits", heads);
	for (i = 0; i < w->n; i++) {
		show_row(f, w, &w->worst[i]);
	}
	vtr_table_end(f);
}
