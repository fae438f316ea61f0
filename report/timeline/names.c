/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers rows and names for a page. */
#include "config.h"
#include "report/timeline/names.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/text/text.h"
#include "report/html/html.h"

enum { MEMBERS = 4096, STRETCHES = 16384 };

struct number {
	uint32_t class_id, id, number;
};

int vtr_names_begin(struct vtr_names *n, const struct vtr_trace *t)
{
	uint64_t rows = 0, all = 0;
	uint32_t i;

	*n = (struct vtr_names){ .t = t };
	n->origin = t->start <= t->end ? t->start : t->axis.first <= t->axis.last ? t->axis.first : 0;
	n->end = t->start <= t->end ? t->end : t->axis.first <= t->axis.last ? t->axis.last : 0;
	while (t->resolution * (double)(UINT64_C(1) << n->shift) < 0.5e-9) {
		n->shift++;
	}
	n->unit_s = t->resolution * (double)(UINT64_C(1) << n->shift);
	n->first = calloc((size_t)t->processes + 1, sizeof(*n->first));
	for (i = 0; n->first && i < t->processes; i++) {
		n->first[i] = (uint32_t)rows;
		all += t->threads[i];
		rows += t->threads[i] < VTR_ROWS - rows ? t->threads[i] : VTR_ROWS - rows;
	}
	n->rows = (uint32_t)rows;
	n->left_out = all - rows;
	return n->first ? 0 : -1;
}

void vtr_names_free(struct vtr_names *n)
{
	free(n->first);
	tkm_table_free(&n->number);
}

uint32_t vtr_names_row(const struct vtr_names *n, uint32_t willy)
{
	uint32_t p = stf_willy_process(willy), k = stf_willy_thread(willy);

	return stf_willy_is_group(willy) || p >= n->t->processes || k >= n->t->threads[p] || n->first[p] + k >= n->rows
		? (uint32_t)VTR_NO_ROW
		: n->first[p] + k;
}

uint32_t vtr_names_number(struct vtr_names *n, unsigned class_id, uint32_t id)
{
	const uint32_t key[2] = { class_id, id };
	struct number *v = !id ? NULL
		: n->closed    ? tkm_table_find(&n->number, key, sizeof(key))
			       : tkm_table_put(&n->number, key, sizeof(key), sizeof(*v));

	if (v && !v->number) {
		*v = (struct number){ class_id, id, ++n->given[class_id] };
	}
	return v ? v->number : 0;
}

void vtr_names_all(struct vtr_names *n)
{
	static const unsigned classes[] = { STF_ID_function_definition, STF_ID_scl_definition,
		STF_ID_communicator_definition, STF_ID_collective_operation_definition };
	const struct stf_record *r;
	size_t k, i;

	for (k = 0; k < sizeof(classes) / sizeof(classes[0]); k++) {
		for (i = 0; (r = stf_reader_record(n->t->reader, classes[k], i)); i++) {
			vtr_names_number(n, classes[k], (uint32_t)r->values[0].u);
		}
	}
}

uint32_t vtr_names_class(const struct vtr_names *n, uint32_t function)
{
	const struct stf_record *r = stf_reader_find(n->t->reader, STF_ID_function_definition, function);
	struct stf_function_definition d;

	return r && stf_get_function_definition(r, &d) == 0 ? d.classid : 0;
}

uint64_t vtr_names_time(const struct vtr_names *n, uint64_t time)
{
	return time > n->origin ? (time - n->origin) >> n->shift : 0;
}

int64_t vtr_names_signed_time(const struct vtr_names *n, uint64_t time)
{
	return time < n->origin ? -(int64_t)((n->origin - time) >> n->shift)
				: (int64_t)((time - n->origin) >> n->shift);
}

/* ---- JSON ---- */

/* A row is: name, host, process, thread. */
static void write_rows(FILE *f, const struct vtr_names *n)
{
	struct stf_willy_info w;
	char label[120];
	uint32_t p, k;

	fputs("\"rows\":[", f);
	for (p = 0; p < n->t->processes; p++) {
		for (k = 0; k < n->t->threads[p] && n->first[p] + k < n->rows; k++) {
			uint32_t willy = STF_WILLY(p, k);
			int known = stf_reader_willy(n->t->reader, willy, &w) == 0;

			fputs(n->first[p] + k ? ",\n[" : "[", f);
			vtr_json(f, vtr_willy_label(n->t, willy, label, sizeof(label)));
			fputc(',', f);
			vtr_json(f, known && w.hostname ? w.hostname : "");
			fprintf(f, ",%" PRIu32 ",%" PRIu32 "]", p, k);
		}
	}
	fputs("]", f);
}

/* A function is: name, number of its class. */
static void write_function(FILE *f, struct vtr_names *n, uint32_t id)
{
	const char *name = stf_reader_name(n->t->reader, STF_ID_function_definition, id);

	fputc('[', f);
	vtr_json(f, name ? name : "(no name)");
	fprintf(f, ",%" PRIu32 "]", vtr_names_number(n, STF_ID_class_definition, vtr_names_class(n, id)));
}

/* A communicator is: name, and the rows of its members, or 0 if there are too many. */
static void write_communicator(FILE *f, const struct vtr_names *n, uint32_t id)
{
	const struct stf_record *r = stf_reader_find(n->t->reader, STF_ID_communicator_definition, id);
	const char *name = stf_reader_name(n->t->reader, STF_ID_communicator_definition, id);
	struct stf_communicator_definition d;
	uint64_t all = 0, willy;
	uint32_t i;
	const char *between = "";

	fputc('[', f);
	vtr_json(f, name ? name : "");
	fputc(',', f);
	if (!r || stf_get_communicator_definition(r, &d) < 0) {
		fputs("0]", f);
		return;
	}
	fputc('[', f);
	for (i = 0; i < d.size_2_3; i++) {
		int64_t step = d.stride[i] > 0 ? d.stride[i] : 1;

		for (willy = d.first_id[i]; willy <= d.last_id[i] && all++ < MEMBERS; willy += (uint64_t)step) {
			uint32_t row = vtr_names_row(n, (uint32_t)willy);

			if (row != VTR_NO_ROW) {
				fprintf(f, "%s%" PRIu32, between, row);
				between = ",";
			}
		}
	}
	fputs("]]", f);
}

static void write_name(FILE *f, struct vtr_names *n, unsigned class_id, uint32_t id)
{
	char place[400];
	const char *text;

	if (class_id == STF_ID_function_definition) {
		write_function(f, n, id);
	} else if (class_id == STF_ID_communicator_definition) {
		write_communicator(f, n, id);
	} else {
		text = class_id == STF_ID_scl_definition ? vtr_source_place(n->t, id, place, sizeof(place))
							 : stf_reader_name(n->t->reader, class_id, id);
		vtr_json(f, text ? text : "");
	}
}

/* Writing functions gives numbers to classes, so these come after them. */
static void write_class(FILE *f, struct vtr_names *n, const char *member, unsigned class_id)
{
	const struct number *v = NULL;

	fprintf(f, ",\n\"%s\":[0", member);
	while ((v = tkm_table_next(&n->number, v))) {
		if (v->class_id == class_id) {
			fputc(',', f);
			write_name(f, n, class_id, v->id);
		}
	}
	fputc(']', f);
}

/* Each process: time and bound in seconds, time and bound ... Of many stretches the largest bound of several counts. */
static void write_bound(FILE *f, const struct vtr_names *n, const char *text, size_t most)
{
	struct stf_bound b;
	const char *p = text;
	size_t all = 0, per, i;
	double worst = 0;

	while (stf_bound_next(&p, &b)) {
		all++;
	}
	per = (all + most - 1) / most;
	for (i = 0, p = text; stf_bound_next(&p, &b); i++) {
		if (i % per == 0) {
			fprintf(f, "%s%" PRId64 ",", i ? "," : "", vtr_names_signed_time(n, b.from));
			worst = 0;
		}
		worst = isnan(b.seconds) || b.seconds > worst ? b.seconds : worst;
		if (i % per == per - 1 || i == all - 1) {
			if (isnan(worst)) {
				fputs("null", f);
			} else {
				fprintf(f, "%.4g", tkm_round_up(worst, 4, 'g'));
			}
		}
	}
}

static void write_bounds(FILE *f, const struct vtr_names *n)
{
	const char *cls, *text, *between = "";
	size_t i, most = n->t->processes ? STRETCHES / n->t->processes : 1;
	unsigned process;
	int at;

	fputs(",\n\"bound\":{", f);
	for (i = 0; stf_reader_info(n->t->reader, i, &cls, &text) == 0; i++) {
		if (cls && text && !strcmp(cls, "clock-bound") && sscanf(text, "process %u%n", &process, &at) == 1) {
			fprintf(f, "%s\"%u\":[", between, process);
			write_bound(f, n, text + at, most < 1 ? 1 : most > 64 ? 64 : most);
			fputc(']', f);
			between = ",";
		}
	}
	fputc('}', f);
}

void vtr_names_write(FILE *f, struct vtr_names *n)
{
	fprintf(f, "\"unit\":%.9g,\"t0\":%.9g,\"end\":%" PRIu64 ",\n", n->unit_s, n->t->offset_s,
		vtr_names_time(n, n->end));
	write_rows(f, n);
	write_class(f, n, "functions", STF_ID_function_definition);
	write_class(f, n, "classes", STF_ID_class_definition);
	write_class(f, n, "places", STF_ID_scl_definition);
	write_class(f, n, "communicators", STF_ID_communicator_definition);
	write_class(f, n, "operations", STF_ID_collective_operation_definition);
	write_bounds(f, n);
	n->closed = 1;
}
