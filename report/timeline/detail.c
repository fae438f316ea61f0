/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads all that happened in a stretch of time, as bytes for the script. */
#include "config.h"
#include "report/timeline/detail.h"

#include <stdlib.h>

enum { LEAVE, ENTER, ENTER_AT_PLACE, OPEN };

struct row_events {
	struct vtr_bytes bytes;
	uint64_t last; /* units of the page */
};

struct part { /* bytes of so many records */
	struct vtr_bytes bytes;
	uint64_t n;
	int64_t last;
};

struct detail {
	struct vtr_names *names;
	uint64_t from, until;
	size_t limit, used;
	struct row_events *row;
	struct part messages, operations, waits;
};

/* ---- calls ---- */

static void add_event(struct detail *d, uint32_t willy, uint64_t time, unsigned kind, uint32_t function, uint32_t scl)
{
	uint32_t row = vtr_names_row(d->names, willy);
	uint64_t at = vtr_names_time(d->names, time);
	struct row_events *e;
	size_t before;

	if (row == VTR_NO_ROW) {
		return;
	}
	e = &d->row[row];
	before = e->bytes.n;
	e->last = e->bytes.n ? e->last : vtr_names_time(d->names, d->from);
	at = at > e->last ? at : e->last;
	vtr_bytes_number(&e->bytes, (at - e->last) << 2 | kind);
	e->last = at;
	if (kind != LEAVE) {
		vtr_bytes_number(&e->bytes, vtr_names_number(d->names, STF_ID_function_definition, function));
	}
	if (kind == ENTER_AT_PLACE) {
		vtr_bytes_number(&e->bytes, vtr_names_number(d->names, STF_ID_scl_definition, scl));
	}
	d->used += e->bytes.n - before;
}

static void add_open_calls(struct detail *d, const struct stf_record *r)
{
	struct stf_function_history_1 h;
	uint32_t i;

	if (stf_get_function_history_1(r, &h) == 0) {
		for (i = 0; i < h.size_1_2; i++) {
			add_event(d, h.willy, d->from, OPEN, h.function_stack[i], 0);
		}
	}
}

/* ---- messages and operations ---- */

static void begin_item(struct detail *d, struct part *p, uint64_t time)
{
	int64_t at = vtr_names_signed_time(d->names, time);

	vtr_bytes_signed(&p->bytes, at - p->last);
	p->last = at;
	p->n++;
}

static void add_message(struct detail *d, const struct stf_record *r)
{
	struct stf_one_to_one_communication_4 m;
	uint32_t from, to;
	unsigned unknown;

	if (stf_get_one_to_one_communication_4(r, &m) < 0) {
		return;
	}
	from = vtr_names_row(d->names, m.sender);
	to = vtr_names_row(d->names, m.receiver);
	if (from == VTR_NO_ROW || to == VTR_NO_ROW) {
		return;
	}
	unknown = m.receive_time == STF_RECEIVE_UNKNOWN ? 1 : m.receive_time == STF_SEND_UNKNOWN ? 2 : 0;
	d->used -= d->messages.bytes.n;
	begin_item(d, &d->messages, m.time);
	vtr_bytes_number(&d->messages.bytes, from);
	vtr_bytes_number(&d->messages.bytes, to);
	vtr_bytes_signed(&d->messages.bytes, unknown ? 0 : m.receive_time / (int64_t)(UINT64_C(1) << d->names->shift));
	vtr_bytes_number(&d->messages.bytes, m.size);
	vtr_bytes_number(&d->messages.bytes, m.tag);
	vtr_bytes_number(
		&d->messages.bytes, vtr_names_number(d->names, STF_ID_communicator_definition, m.communicator));
	vtr_bytes_number(&d->messages.bytes, unknown);
	d->used += d->messages.bytes.n;
}

/* When the members of an operation began and ended. */
struct arrivals {
	uint64_t first, last, end;
	uint32_t slowest; /* of the members, the last to begin */
};

static uint64_t member_time(const struct stf_value *v, uint32_t i)
{
	uint64_t t;

	memcpy(&t, (const char *)v->array + 8 * (size_t)i, sizeof(t));
	return t;
}

static int find_arrivals(const struct stf_record *r, struct arrivals *a)
{
	const struct stf_value *start = stf_value(r, "start_time"), *delta = stf_value(r, "delta");
	uint32_t i;

	*a = (struct arrivals){ .first = UINT64_MAX };
	for (i = 0; start && delta && start->array && delta->array && i < start->count && i < delta->count; i++) {
		uint64_t begin = member_time(start, i);

		if (begin == UINT64_MAX) {
			continue;
		}
		begin += r->time;
		a->first = begin < a->first ? begin : a->first;
		if (begin >= a->last) {
			a->last = begin;
			a->slowest = i;
		}
		a->end = begin + member_time(delta, i) > a->end ? begin + member_time(delta, i) : a->end;
	}
	return a->first == UINT64_MAX ? -1 : 0;
}

static uint64_t sum_of_sizes(const struct stf_record *r, const char *name)
{
	const struct stf_value *v = stf_value(r, name);
	const uint32_t *size = v ? v->array : NULL;
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; size && i < v->count; i++) {
		sum += size[i];
	}
	return sum;
}

/* The thread that is member i of a communicator; -1: unknown. */
static int64_t member_of(const struct vtr_names *n, uint32_t communicator, uint32_t i)
{
	const struct stf_record *r = stf_reader_find(n->t->reader, STF_ID_communicator_definition, communicator);
	struct stf_communicator_definition c;
	uint32_t k;

	for (k = 0; r && stf_get_communicator_definition(r, &c) == 0 && k < c.size_2_3; k++) {
		uint32_t step = c.stride[k] > 0 ? (uint32_t)c.stride[k] : 1,
			 all = (c.last_id[k] - c.first_id[k]) / step + 1;

		if (i < all) {
			return (int64_t)c.first_id[k] + (int64_t)i * step;
		}
		i -= all;
	}
	return -1;
}

static uint64_t row_after(const struct vtr_names *n, int64_t willy)
{
	uint32_t row = willy < 0 ? (uint32_t)VTR_NO_ROW : vtr_names_row(n, (uint32_t)willy);

	return row == VTR_NO_ROW ? 0 : (uint64_t)row + 1;
}

static void add_operation(struct detail *d, const struct stf_record *r)
{
	const struct stf_value *type = stf_value(r, "type"), *comm = stf_value(r, "communicator");
	const struct stf_value *root = stf_value(r, "sender");
	struct vtr_bytes *b = &d->operations.bytes;
	struct arrivals a;

	root = root ? root : stf_value(r, "receiver");
	if (!type || !comm || find_arrivals(r, &a) < 0) {
		return;
	}
	d->used -= b->n;
	begin_item(d, &d->operations, a.first);
	vtr_bytes_number(b, vtr_names_number(d->names, STF_ID_collective_operation_definition, (uint32_t)type->u));
	vtr_bytes_number(b, vtr_names_number(d->names, STF_ID_communicator_definition, (uint32_t)comm->u));
	vtr_bytes_number(b, (a.last - a.first) >> d->names->shift);
	vtr_bytes_number(b, (a.end - a.first) >> d->names->shift);
	vtr_bytes_number(b, root ? row_after(d->names, (int64_t)(uint32_t)root->u) : 0);
	vtr_bytes_number(b, row_after(d->names, member_of(d->names, (uint32_t)comm->u, a.slowest)));
	vtr_bytes_number(b, sum_of_sizes(r, "send_size") + sum_of_sizes(r, "receive_size"));
	d->used += b->n;
}

/* ---- waits ---- */

static void add_wait(void *user, const struct stf_single_wait *w)
{
	struct detail *d = user;
	uint32_t row = vtr_names_row(d->names, w->willy);

	if (row == VTR_NO_ROW || d->used > d->limit) {
		return;
	}
	d->used -= d->waits.bytes.n;
	begin_item(d, &d->waits, w->from);
	vtr_bytes_number(&d->waits.bytes, row);
	vtr_bytes_number(&d->waits.bytes, (w->to - w->from) >> d->names->shift);
	vtr_bytes_number(&d->waits.bytes, w->kind);
	vtr_bytes_number(&d->waits.bytes, row_after(d->names, (int64_t)w->cause));
	vtr_bytes_number(&d->waits.bytes, vtr_names_number(d->names, STF_ID_function_definition, w->cause_function));
	vtr_bytes_number(&d->waits.bytes, (uint64_t)w->decided);
	d->used += d->waits.bytes.n;
}

static int stop_when_full(void *user, uint64_t time)
{
	const struct detail *d = user;

	(void)time;
	return d->used > d->limit;
}

static void find_waits(struct detail *d)
{
	struct stf_analysis_options o = stf_analysis_options();
	struct stf_err e;

	o.window = 1;
	o.from = d->from;
	o.to = d->until;
	o.progress = stop_when_full;
	o.wait = add_wait;
	o.user = d;
	stf_analysis_free(stf_analyze(d->names->t->reader, &o, &e));
}

/* ---- all together ---- */

static void add_record(struct detail *d, const struct stf_record *r)
{
	struct stf_enter_function_1 in;
	const struct stf_value *willy;

	switch (r->layout->class_id) {
	case STF_ID_function_history:
		add_open_calls(d, r);
		break;
	case STF_ID_enter_function:
		if (stf_get_enter_function_1(r, &in) == 0) {
			add_event(d, in.willy, r->time, in.scl ? ENTER_AT_PLACE : ENTER, in.function, in.scl);
		}
		break;
	case STF_ID_leave_function:
		willy = stf_value(r, "willy");
		add_event(d, willy ? (uint32_t)willy->u : STF_GROUP(0), r->time, LEAVE, 0, 0);
		break;
	default:
		if (r->layout->kind == STF_KIND_MSG) {
			add_message(d, r);
		} else if (r->layout->kind == STF_KIND_COLL) {
			add_operation(d, r);
		}
	}
}

static int read_stretch(struct detail *d)
{
	struct stf_cursor_options o = stf_cursor_options();
	const struct stf_record *r;
	struct stf_cursor *c;
	struct stf_err e;
	int rc;

	o.categories = 1u << STF_KIND_FUNC | 1u << STF_KIND_MSG | 1u << STF_KIND_COLL;
	o.in_order = 1;
	o.window = o.state = 1;
	o.from = d->from;
	o.to = d->until;
	c = stf_cursor_open_with(d->names->t->reader, &o, &e);
	if (!c) {
		return -1;
	}
	while ((rc = stf_cursor_next(c, &r, &e)) > 0 && d->used <= d->limit) {
		add_record(d, r);
	}
	stf_cursor_close(c);
	return rc < 0 && e.code == STF_ERR_NOMEM ? -1 : 0;
}

static void put_part(struct vtr_bytes *to, const struct part *p)
{
	vtr_bytes_number(to, p->n);
	vtr_bytes_join(to, &p->bytes);
}

static void put_detail(struct vtr_bytes *to, const struct detail *d)
{
	uint32_t i, n = 0;

	vtr_bytes_number(to, vtr_names_time(d->names, d->from));
	vtr_bytes_number(to, vtr_names_time(d->names, d->until));
	for (i = 0; i < d->names->rows; i++) {
		n += d->row[i].bytes.n > 0;
	}
	vtr_bytes_number(to, n);
	for (i = 0; i < d->names->rows; i++) {
		if (d->row[i].bytes.n) {
			vtr_bytes_number(to, i);
			vtr_bytes_number(to, d->row[i].bytes.n);
			vtr_bytes_join(to, &d->row[i].bytes);
		}
	}
	put_part(to, &d->messages);
	put_part(to, &d->operations);
	put_part(to, &d->waits);
}

int vtr_detail_read(struct vtr_bytes *to, struct vtr_names *n, uint64_t from, uint64_t until, size_t limit)
{
	struct detail d = { .names = n, .from = from, .until = until, .limit = limit };
	uint32_t i;
	int rc;

	d.row = calloc((size_t)n->rows + 1, sizeof(*d.row));
	rc = d.row ? read_stretch(&d) : -1;
	if (rc == 0 && d.used <= limit) {
		find_waits(&d);
	}
	if (rc == 0 && d.used <= limit) {
		put_detail(to, &d);
		rc = to->failed ? -1 : 1;
	}
	for (i = 0; d.row && i < n->rows; i++) {
		vtr_bytes_free(&d.row[i].bytes);
	}
	free(d.row);
	vtr_bytes_free(&d.messages.bytes);
	vtr_bytes_free(&d.operations.bytes);
	vtr_bytes_free(&d.waits.bytes);
	return rc;
}
