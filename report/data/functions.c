/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects the time in functions and MPI, messages between processes, and collective operations. */
#include "config.h"
#include "report/data/functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { MAX_CELLS = 2000000, MAX_DEPTH = 100000 };

static unsigned char kind_of_mpi_function(const char *name)
{
	if (name && (!strcmp(name, "MPI_Init") || !strcmp(name, "MPI_Init_thread"))) {
		return VTR_MPI_INIT;
	}
	return name && !strcmp(name, "MPI_Finalize") ? VTR_MPI_FINALIZE : VTR_MPI;
}

int vtr_has_mpi(const struct vtr_trace *t)
{
	uint32_t i;

	for (i = 0; i < t->processes; i++) {
		if (t->span[i].threads_in_mpi) {
			return 1;
		}
	}
	return 0;
}

/* Finds the counters of runs of calls that found nothing, and the function of each. */
static void find_runs(struct vtr_trace *t)
{
	static const char end[] = "_unsuccessful";
	size_t i, k, n;

	for (i = 0; i < t->counters; i++) {
		struct vtr_counter *c = &t->counter[i];
		const char *name;

		n = strlen(c->name);
		if (strcmp(c->group, "MPI") != 0 || strncmp(c->name, "MPI_", 4) != 0) {
			continue;
		}
		c->of_runs = !strcmp(c->name, "MPI_polls_span");
		for (k = 0; n >= sizeof(end) && !strcmp(c->name + n - sizeof(end) + 1, end) && k < t->functions; k++) {
			name = stf_reader_name(t->reader, STF_ID_function_definition, t->function_id[k]);
			if (t->function_is_mpi[k] && name && strlen(name) == n - sizeof(end) + 1 &&
				!strncmp(name, c->name, strlen(name))) {
				c->of_runs = 1;
				c->runs = (uint32_t)k + 1;
			}
		}
	}
}

int vtr_functions_begin(struct vtr_trace *t)
{
	size_t n = stf_reader_count(t->reader, STF_ID_function_definition), i;
	struct vtr_messages *m = &t->messages;
	uint32_t p = t->processes ? t->processes : 1;

	t->function_rows = n * p <= MAX_CELLS ? p : 1;
	t->function = calloc(n * t->function_rows + 1, sizeof(*t->function));
	t->function_id = calloc(n + 1, sizeof(*t->function_id));
	t->function_is_mpi = calloc(n + 1, 1);
	t->function_is_omp = calloc(n + 1, 1);
	t->span = calloc(p, sizeof(*t->span));
	m->per_row = (p + VTR_MATRIX - 1) / VTR_MATRIX;
	m->rows = (p + m->per_row - 1) / m->per_row;
	m->count = calloc((size_t)m->rows * m->rows, sizeof(*m->count));
	m->size = calloc((size_t)m->rows * m->rows, sizeof(*m->size));
	if (!t->function || !t->function_id || !t->function_is_mpi || !t->function_is_omp || !t->span || !m->count ||
		!m->size) {
		return -1;
	}
	for (i = 0; i < p; i++) {
		t->span[i].gap64 = UINT64_MAX;
	}
	for (i = 0; i < n; i++) {
		const struct stf_record *r = stf_reader_record(t->reader, STF_ID_function_definition, i);
		struct stf_function_definition d;
		const char *cls;

		if (r && stf_get_function_definition(r, &d) == 0) {
			cls = stf_reader_name(t->reader, STF_ID_class_definition, d.classid);
			t->function_id[t->functions] = d.id;
			t->function_is_omp[t->functions] = cls && !strcmp(cls, "OMP");
			t->function_is_mpi[t->functions++] = cls && !strcmp(cls, "MPI")
				? kind_of_mpi_function(stf_reader_name(t->reader, STF_ID_function_definition, d.id))
				: VTR_NO_MPI;
			t->mpi_functions |= t->function_is_mpi[t->functions - 1];
		}
	}
	find_runs(t);
	return 0;
}

void vtr_functions_run(struct vtr_trace *t, uint32_t function, uint32_t willy, uint64_t calls)
{
	uint32_t row = t->function_rows > 1 ? stf_willy_process(willy) : 0;

	if (row < t->function_rows && calls) {
		t->function[(size_t)function * t->function_rows + row].calls += calls - 1;
	}
}

void vtr_functions_free(struct vtr_trace *t)
{
	size_t i;

	for (i = 0; i < t->stacks; i++) {
		free(t->stack[i].frame);
	}
	free(t->stack);
	free(t->function);
	free(t->function_id);
	free(t->function_is_mpi);
	free(t->function_is_omp);
	free(t->span);
	free(t->messages.count);
	free(t->messages.size);
	t->stack = NULL;
	t->function = NULL;
	t->function_id = NULL;
	t->function_is_mpi = NULL;
	t->function_is_omp = NULL;
	t->span = NULL;
	t->stacks = t->functions = t->operations = 0;
	t->messages = (struct vtr_messages){ .n = 0 };
}

static size_t function_index(const struct vtr_trace *t, uint32_t id)
{
	size_t i;

	if (id - 1 < t->functions && t->function_id[id - 1] == id) {
		return id - 1;
	}
	for (i = 0; i < t->functions && t->function_id[i] != id; i++) {
	}
	return i;
}

static struct vtr_stack *thread_stack(struct vtr_trace *t, uint32_t willy)
{
	struct vtr_stack *more;
	size_t i;

	/* records come in blocks of one thread, so this is usually the last one */
	for (i = t->stacks; i-- > 0;) {
		if (t->stack[i].willy == willy) {
			return &t->stack[i];
		}
	}
	more = TKM_APPEND(t->stack, t->stacks);
	if (more) {
		more->willy = willy;
	}
	return more;
}

/* The thread goes into MPI or comes out of it, or its records end. */
static void mark_mpi(struct vtr_trace *t, struct vtr_stack *s, uint64_t now, double was)
{
	struct vtr_series *series =
		t->mpi_functions ? vtr_axis_series(&t->axis, (uint32_t)t->mpi_share, s->willy) : NULL;

	if (series) {
		series->samples++;
		vtr_add_interval(&t->axis, series, s->since, now, was);
	}
	s->since = now;
}

/* Notes a function record of a thread in what is known of its process. */
static void note_record(struct vtr_trace *t, struct vtr_stack *s, uint64_t now, int enters, uint32_t function)
{
	uint32_t process = stf_willy_process(s->willy);
	int mpi = function < t->functions ? t->function_is_mpi[function] : VTR_NO_MPI;
	struct vtr_span *p = process < t->processes ? &t->span[process] : NULL;

	if (!p) {
		return;
	}
	p->events++;
	if (mpi && !s->calls_mpi) {
		s->calls_mpi = 1;
		p->threads_in_mpi++;
	}
	if (s->events++ % 64 == 0) {
		if (s->events > 1 && now - s->mark < p->gap64) {
			p->gap64 = now - s->mark;
		}
		s->mark = now;
	}
	if (mpi == VTR_MPI_INIT && !enters) {
		p->init = 1;
	} else if (mpi == VTR_MPI_FINALIZE && enters) {
		p->finalize = 1;
	}
	if (stf_willy_thread(s->willy) != 0) {
		return;
	}
	if (!p->known || (mpi == VTR_MPI_INIT && !enters)) {
		p->known = 1;
		p->begin = now;
	}
	p->last = now;
	if (!p->finalize || (mpi == VTR_MPI_FINALIZE && enters)) {
		p->end = now;
	}
}

/* A call ends: is it MPI of the program, or the last that the first thread was in? */
static void note_call(struct vtr_trace *t, const struct vtr_stack *s, const struct vtr_frame *f, uint64_t now)
{
	uint32_t process = stf_willy_process(s->willy);
	struct vtr_span *p = process < t->processes ? &t->span[process] : NULL;

	if (!p || stf_willy_thread(s->willy) != 0) {
		return;
	}
	if (t->function_is_mpi[f->function] == VTR_MPI_INIT) {
		p->init_time = now > f->enter ? now - f->enter : 0;
	}
	if (t->function_is_mpi[f->function] == VTR_MPI && s->mpi == 1) {
		p->mpi += now > f->enter ? now - f->enter : 0;
	}
	/* the merge closes open calls with one stamp, the innermost one first */
	if (now != p->open_until || !p->open) {
		p->open = f->function + 1;
		p->open_since = f->enter;
		p->open_until = now;
	}
	if (t->function_is_mpi[f->function]) {
		p->after = f->function + 1;
	}
}

static void enter_frame(struct vtr_trace *t, uint64_t now, uint32_t willy, uint32_t id)
{
	struct vtr_stack *s = thread_stack(t, willy);
	size_t f = function_index(t, id);

	if (!s || s->depth >= MAX_DEPTH) {
		t->unbalanced++;
		return;
	}
	if (!s->begun) {
		s->begun = 1;
		s->since = now;
	}
	if (TKM_GROW(s->frame, s->room, s->depth + 1) < 0) {
		t->unbalanced++;
		return;
	}
	s->frame[s->depth++] = (struct vtr_frame){ .function = (uint32_t)f, .enter = now };
	s->last = now;
	note_record(t, s, now, 1, (uint32_t)f);
	if (f < t->functions && t->function_is_mpi[f] && s->mpi++ == 0) {
		mark_mpi(t, s, now, 0);
	}
}

static void leave_function(struct vtr_trace *t, uint64_t now, struct vtr_stack *s)
{
	struct vtr_frame *f;
	struct vtr_function *sum;
	uint32_t row;
	double length;

	if (!s || !s->depth) {
		t->unbalanced++;
		return;
	}
	f = &s->frame[--s->depth];
	s->last = now;
	length = now > f->enter ? (double)(now - f->enter) : 0;
	if (s->depth) {
		s->frame[s->depth - 1].children += length;
	}
	note_record(t, s, now, 0, f->function);
	if (f->function >= t->functions) {
		return;
	}
	note_call(t, s, f, now);
	row = t->function_rows > 1 ? stf_willy_process(s->willy) : 0;
	if (row < t->function_rows) {
		sum = &t->function[(size_t)f->function * t->function_rows + row];
		sum->calls++;
		sum->inclusive += length;
		sum->exclusive += length > f->children ? length - f->children : 0;
	}
	if (t->function_is_mpi[f->function] && --s->mpi == 0) {
		mark_mpi(t, s, now, 100);
	}
}

static void tally_message(struct vtr_trace *t, const struct stf_one_to_one_communication_4 *m)
{
	struct vtr_messages *to = &t->messages;
	uint32_t a = stf_willy_process(m->sender) / to->per_row, b = stf_willy_process(m->receiver) / to->per_row;

	if (m->receive_time == STF_RECEIVE_UNKNOWN || m->receive_time == STF_SEND_UNKNOWN) {
		to->unmatched++;
	} else {
		vtr_axis_reach(&t->axis, m->time + (uint64_t)(m->receive_time > 0 ? m->receive_time : 0));
		to->backward += m->receive_time < 0;
	}
	to->n++;
	to->bytes += m->size;
	to->at_least += m->size == STF_BYTES_AT_LEAST;
	if (a < to->rows && b < to->rows) {
		to->count[(size_t)a * to->rows + b]++;
		to->size[(size_t)a * to->rows + b] += m->size;
	}
}

static void add_operation(struct vtr_trace *t, const struct stf_record *r)
{
	const struct stf_value *type = stf_value(r, "type"), *delta = stf_value(r, "delta"),
			       *start = stf_value(r, "start_time");
	struct vtr_operation *o = t->operation;
	size_t i;
	uint64_t d;

	if (!type) {
		return;
	}
	for (i = 0; i < t->operations && o[i].type != type->u; i++) {
	}
	if (i == sizeof(t->operation) / sizeof(t->operation[0])) {
		return;
	}
	t->operations += i == t->operations;
	o[i].type = (uint32_t)type->u;
	o[i].n++;
	for (uint32_t k = 0; delta && delta->array && k < delta->count; k++) {
		memcpy(&d, (const char *)delta->array + 8 * (size_t)k, sizeof(d));
		o[i].longest = (double)d > o[i].longest ? (double)d : o[i].longest;
	}
	for (uint32_t k = 0; start && start->array && k < start->count; k++) {
		memcpy(&d, (const char *)start->array + 8 * (size_t)k, sizeof(d));
		o[i].members += d != UINT64_MAX;
	}
}

void vtr_functions_add(struct vtr_trace *t, const struct stf_record *r)
{
	struct stf_enter_function_1 in;
	struct stf_leave_function_1 out;
	struct stf_one_to_one_communication_4 message;

	switch (r->layout->kind) {
	case STF_KIND_FUNC:
		if (stf_get_enter_function_1(r, &in) == 0) {
			enter_frame(t, r->time, in.willy, in.function);
		} else if (stf_get_leave_function_1(r, &out) == 0) {
			leave_function(t, r->time, thread_stack(t, out.willy));
		}
		break;
	case STF_KIND_MSG:
		if (stf_get_one_to_one_communication_4(r, &message) == 0) {
			tally_message(t, &message);
		}
		break;
	case STF_KIND_COLL:
		add_operation(t, r);
		break;
	default:
		break;
	}
}

void vtr_functions_before(struct vtr_trace *t, const struct stf_record *r, uint64_t from)
{
	struct stf_function_history_1 h;
	uint32_t i;

	if (stf_get_function_history_1(r, &h) < 0) {
		return;
	}
	for (i = 0; i < h.size_1_2; i++) {
		enter_frame(t, from, h.willy, h.function_stack[i]);
	}
}

/* Ends calls that are still open with the thread's last record; these calls are not counted yet. */
void vtr_functions_end(struct vtr_trace *t)
{
	size_t i;

	for (i = 0; i < t->stacks; i++) {
		struct vtr_stack *s = &t->stack[i];

		if (s->begun && s->mpi == 0) {
			mark_mpi(t, s, s->last, 0);
		}
		while (s->depth) {
			leave_function(t, s->last, s);
		}
	}
}
