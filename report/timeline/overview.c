/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduces a run to stretches of time. */
#include "config.h"
#include "report/timeline/overview.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { MOST_FUNCTIONS = 8, PARTS = 100 };

struct cell { /* 0 to PARTS each; function 0: none */
	uint32_t first, second;
	unsigned char first_share, second_share, all, waited;
};

struct row {
	uint32_t *stack;
	size_t depth, room;
	uint64_t since; /* stamps since the origin */
	uint32_t bin;
	struct {
		uint32_t function;
		uint64_t ticks;
	} most[MOST_FUNCTIONS];
	uint64_t ticks; /* in any function */
	struct cell last;
	uint64_t same; /* bins with it */
	struct vtr_bytes bytes;
};

struct overview {
	struct vtr_names *names;
	const struct vtr_waits *waits;
	struct row *row;
};

static unsigned char part_of(double ticks, uint64_t width)
{
	double p = PARTS * ticks / (double)width + 0.5;

	return p > PARTS ? PARTS : (unsigned char)p;
}

static void put_cells(struct vtr_bytes *to, const struct cell *c, uint64_t n)
{
	if (n) {
		vtr_bytes_number(to, n);
		vtr_bytes_number(to, c->first);
		vtr_bytes_number(to, c->first_share);
		vtr_bytes_number(to, c->second);
		vtr_bytes_number(to, c->second_share);
		vtr_bytes_number(to, c->all);
		vtr_bytes_number(to, c->waited);
	}
}

/* The strongest function of a bin that is not of the class `but`, and the time
 * in all functions of its class. Returns its class, or UINT32_MAX: there is
 * none. */
static uint32_t find_strongest(
	const struct overview *o, const struct row *r, uint32_t but, uint32_t *function, uint64_t *ticks)
{
	uint32_t class[MOST_FUNCTIONS], best = UINT32_MAX;
	uint64_t most = 0;
	size_t i;

	*ticks = 0;
	for (i = 0; i < MOST_FUNCTIONS; i++) {
		class[i] = r->most[i].ticks ? vtr_names_class(o->names, r->most[i].function) : UINT32_MAX;
		if (r->most[i].ticks > most && class[i] != but) {
			most = r->most[i].ticks;
			best = class[i];
			*function = r->most[i].function;
		}
	}
	for (i = 0; most && i < MOST_FUNCTIONS; i++) {
		*ticks += class[i] == best ? r->most[i].ticks : 0;
	}
	return best;
}

/* Ends the bin of a row. */
static void end_bin(struct overview *o, uint32_t number)
{
	struct row *r = &o->row[number];
	struct cell c = { 0 };
	uint32_t function = 0, class;
	uint64_t ticks;

	class = find_strongest(o, r, UINT32_MAX, &function, &ticks);
	if (ticks) {
		c.first = vtr_names_number(o->names, STF_ID_function_definition, function);
		c.first_share = part_of((double)ticks, o->waits->width);
		find_strongest(o, r, class, &function, &ticks);
	}
	if (ticks) {
		c.second = vtr_names_number(o->names, STF_ID_function_definition, function);
		c.second_share = part_of((double)ticks, o->waits->width);
	}
	c.all = part_of((double)r->ticks, o->waits->width);
	c.waited = part_of((double)o->waits->waited[(size_t)number * o->waits->bins + r->bin], o->waits->width);
	if (r->same && memcmp(&c, &r->last, sizeof(c)) != 0) {
		put_cells(&r->bytes, &r->last, r->same);
		r->same = 0;
	}
	r->last = c;
	r->same++;
	r->bin++;
	r->ticks = 0;
	memset(r->most, 0, sizeof(r->most));
}

static void add_ticks(struct row *r, uint32_t function, uint64_t ticks)
{
	size_t i, least = 0;

	for (i = 0; i < MOST_FUNCTIONS && r->most[i].ticks && r->most[i].function != function; i++) {
		least = r->most[i].ticks < r->most[least].ticks ? i : least;
	}
	i = i < MOST_FUNCTIONS ? i : least;
	r->most[i].ticks = r->most[i].function == function ? r->most[i].ticks + ticks : ticks;
	r->most[i].function = function;
	r->ticks += ticks;
}

/* The row was in the same functions up to this time. */
static void pass_time(struct overview *o, uint32_t number, uint64_t time)
{
	struct row *r = &o->row[number];
	uint64_t now = time > o->names->origin ? time - o->names->origin : 0, end;

	for (; r->since < now && r->bin < o->waits->bins; r->since = end) {
		uint64_t limit = ((uint64_t)r->bin + 1) * o->waits->width;

		end = limit < now ? limit : now;
		if (r->depth) {
			add_ticks(r, r->stack[r->depth - 1], end - r->since);
		}
		if (end == limit) {
			end_bin(o, number);
		}
	}
}

static int enter_in_row(struct overview *o, uint32_t willy, uint64_t time, uint32_t function)
{
	uint32_t number = vtr_names_row(o->names, willy);
	struct row *r = &o->row[number == VTR_NO_ROW ? 0 : number];

	if (number == VTR_NO_ROW) {
		return 0;
	}
	pass_time(o, number, time);
	if (TKM_GROW(r->stack, r->room, r->depth + 1) < 0) {
		return -1;
	}
	r->stack[r->depth++] = function;
	return 0;
}

static void leave_in_row(struct overview *o, uint32_t willy, uint64_t time)
{
	uint32_t number = vtr_names_row(o->names, willy);

	if (number != VTR_NO_ROW) {
		pass_time(o, number, time);
		o->row[number].depth -= o->row[number].depth > 0;
	}
}

static int take_record(struct overview *o, const struct stf_record *r)
{
	struct stf_enter_function in;
	struct stf_function_history_1 h;
	const struct stf_value *willy;
	uint32_t i;
	int rc = 0;

	switch (r->layout->class_id) {
	case STF_ID_enter_function:
		return stf_get_enter_function(r, &in) == 0 ? enter_in_row(o, in.willy, r->time, in.function) : 0;
	case STF_ID_leave_function:
		willy = stf_value(r, "willy");
		if (willy) {
			leave_in_row(o, (uint32_t)willy->u, r->time);
		}
		return 0;
	case STF_ID_function_history:
		for (i = 0; stf_get_function_history_1(r, &h) == 0 && i < h.size_1_2 && rc == 0; i++) {
			rc = enter_in_row(o, h.willy, o->names->origin, h.function_stack[i]);
		}
		return rc;
	default:
		return 0;
	}
}

static int read_run(struct overview *o)
{
	struct stf_cursor_options want = stf_cursor_options();
	const struct stf_record *r;
	struct stf_cursor *c;
	struct stf_err e;
	int rc = 0, more;

	want.categories = 1u << STF_KIND_FUNC;
	want.in_order = 1;
	want.window = want.state = o->names->t->windowed;
	want.from = o->names->origin;
	want.to = o->names->end;
	c = stf_cursor_open_with(o->names->t->reader, &want, &e);
	more = c ? 1 : -1;
	while (rc == 0 && more > 0 && (more = stf_cursor_next(c, &r, &e)) > 0) {
		rc = take_record(o, r);
	}
	stf_cursor_close(c);
	return rc < 0 || (more < 0 && e.code == STF_ERR_NOMEM) ? -1 : 0;
}

static void put_rows(struct vtr_bytes *to, struct overview *o)
{
	uint32_t i, n = 0;

	for (i = 0; i < o->names->rows; i++) {
		pass_time(o, i, o->names->end);
		while (o->row[i].bin < o->waits->bins) {
			end_bin(o, i);
		}
		put_cells(&o->row[i].bytes, &o->row[i].last, o->row[i].same);
	}
	for (i = 0; i < o->names->rows; i++) {
		n += o->row[i].room > 0;
	}
	vtr_bytes_number(to, o->waits->bins);
	vtr_bytes_number(to, n);
	for (i = 0; i < o->names->rows; i++) {
		if (o->row[i].room) {
			vtr_bytes_number(to, i);
			vtr_bytes_number(to, o->row[i].bytes.n);
			vtr_bytes_join(to, &o->row[i].bytes);
		}
	}
}

int vtr_overview_read(struct vtr_bytes *to, struct vtr_names *n, const struct vtr_waits *w)
{
	struct overview o = { .names = n, .waits = w };
	uint32_t i;
	int rc;

	o.row = calloc((size_t)n->rows + 1, sizeof(*o.row));
	rc = o.row ? read_run(&o) : -1;
	if (rc == 0) {
		put_rows(to, &o);
		rc = to->failed ? -1 : 0;
	}
	for (i = 0; o.row && i < n->rows; i++) {
		free(o.row[i].stack);
		vtr_bytes_free(&o.row[i].bytes);
	}
	free(o.row);
	return rc;
}
