/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules are those of stf/analysis, which looks at whole traces. Here the calls are known before they are matched, so no
 * call has to be found by its time, and short ones take no memory. */
#include "config.h"
#include "collector-plugin/merge/records/idle.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/heap.h"
#include "collector-plugin/merge/definitions/bounds.h"
#include "collector-plugin/merge/definitions/communicators.h"
#include "collector-plugin/merge/definitions/statistics.h"
#include "collector-plugin/merge/common/names.h"
#include "collector-plugin/merge/common/options.h"
#include "collector-plugin/raw/events.h"
#include "collector-plugin/raw/operations.h"
#include "collector-plugin/raw/writer.h"

enum { OPEN = 1, UNDECIDED = 2, COUNTED = 4 };

struct call {
	uint64_t enter, leave;
	uint64_t until; /* its wait lasts until then; 0: no wait is known */
	double bound_s; /* of the length of the wait */
	uint32_t willy, function, scl;
	uint32_t
		flags; /* OPEN: its end was not recorded. UNDECIDED: there may have been a wait, shorter than the bound */
};

/* What a thread did in a function with one partner, and that is no state of the trace. */
struct left_out {
	uint64_t count, bytes, least, most, sum; /* ticks of the trace */
};
struct left_out_key {
	uint32_t willy, function, communicator, peer, kind; /* kind: enum vt_raw_row_kind */
};

struct start_key {
	int64_t left; /* ticks */
	uint64_t willy;
};

struct sum {
	uint64_t count, ticks;
};

struct vt_merge_idle {
	const struct vt_merge *m;
	uint64_t least; /* ticks: shorter calls cannot be waits that count */
	int one_clock;
	struct call *call;
	size_t n, room;
	struct tkm_table left_out;         /* struct left_out by struct left_out_key */
	struct tkm_table starts;           /* calls of MPI_Win_start: uint32_t number by struct start_key */
	const struct vt_merge_file **file; /* [processes]; NULL: there is none */
	struct vt_merge_bound **bound;     /* [processes]; NULL: not needed so far */
	uint8_t *kind;                     /* [functions + 1] */
	size_t n_kinds;
};

/* What a call may do besides receiving: come back when its message is sent; look for a message; begin to use a window; send, too. */
enum { SENDS = 1, LOOKS = 2, STARTS = 4, EXCHANGES = 8 };
/* No MPI lets the sender of a shorter message wait for the receiver. */
enum { WAITS_FOR_RECEIVER = 1024 };

static int is_named(const char *name, const char *const *names)
{
	while (*names && strcmp(name, *names)) {
		names++;
	}
	return *names != NULL;
}

static void note_function_kinds(struct vt_merge_idle *d)
{
	static const char *const sends[] = { "MPI_Send", "MPI_Send_c", "MPI_Ssend", "MPI_Ssend_c", NULL };
	static const char *const looks[] = { "MPI_Probe", "MPI_Mprobe", NULL };
	static const char *const exchanges[] = { "MPI_Sendrecv", "MPI_Sendrecv_c", "MPI_Sendrecv_replace",
		"MPI_Sendrecv_replace_c", NULL };
	const struct vt_merge_name *e = NULL;

	while ((e = tkm_table_next(&d->m->functions, e))) {
		const char *name = strchr(tkm_table_key(e), '\1');

		if (name && e->id < d->n_kinds) {
			d->kind[e->id] = (uint8_t)((is_named(name + 1, sends) ? SENDS : 0) |
				(is_named(name + 1, looks) ? LOOKS : 0) |
				(is_named(name + 1, exchanges) ? EXCHANGES : 0) |
				(strcmp(name + 1, "MPI_Win_start") ? 0 : STARTS));
		}
	}
}

struct vt_merge_idle *vt_idle_begin(const struct vt_merge *m)
{
	struct vt_merge_idle *d = calloc(1, sizeof(*d));
	size_t i, n = (size_t)m->n_processes + 1;

	if (!d) {
		return NULL;
	}
	d->m = m;
	d->least = (uint64_t)((double)m->idle_ns * 1e-9 / m->period_s);
	d->one_clock = vt_merge_one_clock(m);
	d->file = calloc(n, sizeof(*d->file));
	d->bound = calloc(n, sizeof(*d->bound));
	d->n_kinds = tkm_table_count(&m->functions) + 1;
	d->kind = calloc(d->n_kinds, 1);
	if (!d->file || !d->bound || !d->kind) {
		vt_idle_free(d);
		return NULL;
	}
	for (i = 0; i < m->n; i++) {
		d->file[m->file[i].process] = &m->file[i];
	}
	note_function_kinds(d);
	return d;
}

void vt_idle_free(struct vt_merge_idle *d)
{
	uint32_t i;

	for (i = 0; d && d->bound && i < d->m->n_processes; i++) {
		free(d->bound[i]);
	}
	if (d) {
		free(d->call);
		free(d->file);
		free(d->bound);
		free(d->kind);
		tkm_table_free(&d->left_out);
		tkm_table_free(&d->starts);
		free(d);
	}
}

/* ---- what is left out ---- */

static int count_left_out(struct vt_merge_idle *d, const struct left_out_key *key, uint64_t bytes, uint64_t ticks)
{
	struct left_out *l = tkm_table_put(&d->left_out, key, sizeof(*key), sizeof(*l));

	if (!l) {
		return -1;
	}
	l->least = !l->count++ || ticks < l->least ? ticks : l->least;
	l->most = ticks > l->most ? ticks : l->most;
	l->sum += ticks;
	l->bytes += bytes;
	return 0;
}

/* The time that belongs to what a call did first; what it does after that has no time of its own. */
static uint64_t take_time(struct call *c)
{
	uint64_t ticks = c->flags & COUNTED ? 0 : c->leave - c->enter;

	c->flags |= COUNTED;
	return ticks;
}

static int leave_out_end(struct vt_merge_idle *d, struct call *c, const struct vt_match_end *end)
{
	const struct left_out_key key = { c->willy, c->function, end->communicator, end->peer,
		end->kind == VT_MATCH_SEND ? VT_RAW_ROW_SEND : VT_RAW_ROW_RECEIVE };

	return end->kind == VT_MATCH_TAKEN_BACK
		? 0
		: count_left_out(d, &key, end->kind == VT_MATCH_EITHER ? 0 : end->bytes, take_time(c));
}

static int leave_out_share(struct vt_merge_idle *d, struct call *c, const struct vt_match_share *share)
{
	const struct left_out_key key = { c->willy, c->function, share->communicator, 0, VT_RAW_ROW_COLLECTIVE };

	return count_left_out(d, &key, share->sent + share->received, take_time(c));
}

/* A call in which nothing was sent or received. */
static int leave_out_call(struct vt_merge_idle *d, struct call *c)
{
	const struct left_out_key key = { c->willy, c->function, 0, 0, VT_RAW_ROW_CALL };

	return c->flags & COUNTED ? 0 : count_left_out(d, &key, 0, take_time(c));
}

/* ---- calls ---- */

static int no_memory_for_calls(struct vt_merge_part *part)
{
	part->error = (struct stf_err){ .code = STF_ERR_NOMEM, .text = "merge: out of memory for the calls of MPI" };
	return -1;
}

/* The state is not left before it enters another one: no call of MPI, so what it has sent is in no call. */
static void forget_ends(struct vt_merge_part *part, const struct vt_merge_states *states)
{
	uint32_t i, next;

	for (i = states->idle.end; i; i = next) {
		next = part->ends.end[i - 1].call;
		part->ends.end[i - 1].call = 0;
	}
	for (i = states->idle.share; i; i = next) {
		next = part->shares.share[i - 1].call;
		part->shares.share[i - 1].call = 0;
	}
}

void vt_idle_enter(struct vt_merge_part *part, const struct vt_merge_event *e, uint32_t function, uint32_t scl)
{
	uint32_t probe = e->states->idle.probe;

	if (e->states->idle.open) {
		forget_ends(part, e->states);
	}
	memset(&e->states->idle, 0, sizeof(e->states->idle));
	e->states->idle.enter = e->time;
	e->states->idle.function = function;
	e->states->idle.scl = scl;
	e->states->idle.probe = probe;
	e->states->idle.open = 1;
}

/* While its call is open, the number of an end is that of the end before it in the call. */
void vt_idle_message_end(struct vt_merge_part *part, struct vt_merge_states *states)
{
	struct vt_match_end *end = &part->ends.end[part->ends.n - 1];

	if (states->idle.open) {
		end->call = states->idle.end;
		states->idle.end = (uint32_t)part->ends.n;
	}
}

void vt_idle_share(struct vt_merge_part *part, struct vt_merge_states *states)
{
	struct vt_match_share *share = &part->shares.share[part->shares.n - 1];

	if (states->idle.open) {
		share->call = states->idle.share;
		states->idle.share = (uint32_t)part->shares.n;
	}
}

/* Gives the ends and shares of a call its number; 0: the call is left out, and they are counted. */
static int number_ends(
	struct vt_merge_part *part, const struct vt_merge_states *states, struct call *c, uint32_t number)
{
	uint32_t i, next;
	int rc = 0;

	for (i = states->idle.end; i && rc == 0; i = next) {
		struct vt_match_end *end = &part->ends.end[i - 1];

		next = end->call;
		end->call = number;
		rc = number ? 0 : leave_out_end(part->idle, c, end);
	}
	for (i = states->idle.share; i && rc == 0; i = next) {
		struct vt_match_share *share = &part->shares.share[i - 1];

		next = share->call;
		share->call = number;
		rc = number ? 0 : leave_out_share(part->idle, c, share);
	}
	return rc < 0 || number ? rc : leave_out_call(part->idle, c);
}

/* The call before this one that has looked for what this one received; 0: none. */
static uint32_t looked_before(const struct vt_merge_part *part, const struct vt_merge_states *states)
{
	const struct vt_match_end *end = states->idle.end ? &part->ends.end[states->idle.end - 1] : NULL;

	return end && !end->call && end->kind == VT_MATCH_RECEIVE ? states->idle.probe : 0;
}

static int call_looks(const struct vt_merge_idle *d, const struct call *c)
{
	return c->function < d->n_kinds && d->kind[c->function] & LOOKS;
}

static int note_start(struct vt_merge_idle *d, const struct call *c, int64_t ticks)
{
	const struct start_key key = { ticks, c->willy };
	uint32_t *number;

	if (c->function >= d->n_kinds || !(d->kind[c->function] & STARTS)) {
		return 0;
	}
	number = tkm_table_put(&d->starts, &key, sizeof(key), sizeof(*number));
	if (!number) {
		return -1;
	}
	*number = (uint32_t)d->n;
	return 0;
}

uint32_t vt_idle_call_until(const struct vt_merge_idle *d, uint32_t willy, int64_t ticks)
{
	const struct start_key key = { ticks, willy };
	const uint32_t *number = tkm_table_find(&d->starts, &key, sizeof(key));

	return number ? *number : 0;
}

int vt_idle_leave(struct vt_merge_part *part, const struct vt_merge_event *e, int closes)
{
	struct vt_merge_states *states = e->states;
	struct vt_merge_idle *d = part->idle;
	struct call c = { .enter = states->idle.enter,
		.leave = e->time > states->idle.enter ? e->time : states->idle.enter,
		.willy = e->willy,
		.function = states->idle.function,
		.scl = states->idle.scl,
		.flags = closes ? OPEN : 0 };
	uint32_t number = 0, probe;

	if (!states->idle.open) {
		return 0;
	}
	if (c.leave - c.enter > d->least) {
		if (d->n >= UINT32_MAX || TKM_GROW(d->call, d->room, d->n + 1) < 0) {
			return no_memory_for_calls(part);
		}
		d->call[d->n++] = c;
		number = (uint32_t)d->n;
		if (note_start(d, &c, e->ticks) < 0) {
			return no_memory_for_calls(part);
		}
	}
	probe = number ? 0 : looked_before(part, states);
	if (number_ends(part, states, &c, number) < 0) {
		return no_memory_for_calls(part);
	}
	if (probe) {
		part->ends.end[states->idle.end - 1].call = probe;
	}
	memset(&states->idle, 0, sizeof(states->idle));
	states->idle.probe = number && call_looks(d, &c) ? number : 0;
	return 0;
}

/* ---- waits ---- */

static double bound_at(struct vt_merge_idle *d, uint32_t process, uint64_t time)
{
	const struct vt_merge_bound *b = d->bound[process];
	size_t k;

	if (!b && d->file[process]) {
		d->bound[process] = malloc(sizeof(**d->bound));
		if (d->bound[process]) {
			*d->bound[process] = vt_merge_bound_of(d->m, d->file[process], d->one_clock);
		}
		b = d->bound[process];
	}
	for (k = b ? b->n : 0; k > 1 && b->at[k - 1] > (int64_t)time; k--) {
	}
	return k ? b->bound_s[k - 1] : (double)NAN;
}

/* By how much two stamps of different clocks may be off against each other, in seconds. NaN: unknown. */
static double bound_between(struct vt_merge_idle *d, const struct call *c, uint32_t cause, uint64_t ready)
{
	uint32_t process = stf_willy_process(c->willy);

	return process == cause ? 0 : bound_at(d, process, c->enter) + bound_at(d, cause, ready);
}

/* The call could not go on before `ready`, when process `cause` came. Returns 1 if it waited longer for that than for
 * anything before. */
static int note_wait(struct vt_merge_idle *d, uint32_t number, uint32_t cause, uint64_t ready)
{
	struct call *c = number ? &d->call[number - 1] : NULL;
	uint64_t until;
	double bound;

	if (!c || cause >= d->m->n_processes || ready <= c->enter) {
		return 0;
	}
	until = ready < c->leave ? ready : c->leave;
	if (until <= c->until || until - c->enter <= d->least) {
		return 0;
	}
	bound = bound_between(d, c, cause, ready);
	if ((double)(until - c->enter) * d->m->period_s <= bound) {
		c->flags |= UNDECIDED;
		return 0;
	}
	c->until = until;
	c->bound_s = bound;
	return 1;
}

/* When a receive was posted, in the time of the trace. */
static uint64_t time_of_post(const struct vt_merge_idle *d, const struct vt_match_end *r)
{
	const struct vt_merge_file *f = d->file[r->process];
	int64_t t = f ? cal_map_at(f->map, ltick(r->post)).v - d->m->origin : 0;

	return t < 0 ? 0 : (uint64_t)t < r->time ? (uint64_t)t : r->time;
}

/* A send that came back before its receiver came did not wait for it. */
static int note_late_receiver(struct vt_merge_idle *d, const struct vt_match_end *s, const struct vt_match_end *r)
{
	const struct call *c = s->call ? &d->call[s->call - 1] : NULL;
	uint64_t posted, came;
	double slack;

	if (!c || c->function >= d->n_kinds || !(d->kind[c->function] & (SENDS | EXCHANGES))) {
		return 0;
	}
	posted = time_of_post(d, r);
	came = posted < c->leave ? posted : c->leave;
	/* an exchange may have waited for what it receives: only if it came back soon after that did it wait for its receiver */
	if (d->kind[c->function] & EXCHANGES &&
		(s->bytes < WAITS_FOR_RECEIVER || came < c->enter || c->leave - came > came - c->enter)) {
		return 0;
	}
	slack = bound_between(d, c, r->process, posted) / d->m->period_s;
	if (posted > c->leave && !((double)(posted - c->leave) <= slack)) {
		return 0;
	}
	return note_wait(d, s->call, r->process, posted);
}

int vt_idle_message(struct vt_merge_part *part, const struct vt_match_end *s, const struct vt_match_end *r)
{
	if (s && r && r->kind == VT_MATCH_EITHER) {
		return note_wait(part->idle, vt_match_late(s, r) ? r->call : r->earlier, s->process, s->time);
	}
	if (!s || !r || r->kind != VT_MATCH_RECEIVE) {
		return 0;
	}
	return note_wait(part->idle, r->call, s->process, s->time) | note_late_receiver(part->idle, s, r);
}

/* Which members of an operation wait for which. */
enum { NONE, FOR_ALL, FOR_ROOT, ROOT_FOR_ALL, FOR_THOSE_BEFORE, FOR_THOSE_THAT_CAME };

static int who_waits(unsigned op)
{
	static const uint8_t by_type[] = { NONE, FOR_ALL, FOR_ROOT, ROOT_FOR_ALL, FOR_ALL };
	static const struct {
		const char *name;
		uint8_t type;
	} all[] = {
#define ROW(name, text, type) { text, type },
		VT_RAW_OPERATIONS(ROW)
#undef ROW
	};

	if (op >= VT_RAW_OP_COUNT || strstr(all[op].name, "eighbor") || op == VT_RAW_OP_REDUCE_LOCAL) {
		return NONE;
	}
	return op == VT_RAW_OP_WIN_FENCE       ? FOR_THOSE_THAT_CAME
		: strstr(all[op].name, "scan") ? FOR_THOSE_BEFORE
					       : by_type[all[op].type];
}

/* The share that began last among the first n, without that of `root`; NULL: none. */
static const struct vt_match_share *latest_share(const struct vt_match_share *share, size_t n, uint32_t root)
{
	const struct vt_match_share *late = NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		late = share[i].member != root && (!late || share[i].begin > late->begin) ? &share[i] : late;
	}
	return late;
}

static const struct vt_match_share *root_share(const struct vt_match_share *share, size_t n)
{
	uint32_t root = UINT32_MAX;
	size_t i;

	for (i = 0; i < n; i++) {
		root = share[i].root != UINT32_MAX ? share[i].root : root;
	}
	for (i = 0; i < n && share[i].member != root; i++) {
	}
	return i < n ? &share[i] : NULL;
}

enum order { BEFORE, AFTER, UNKNOWN };

/* When did `other` begin: before the member left, or after? */
static enum order began(struct vt_merge_idle *d, const struct vt_merge_communicator *g,
	const struct vt_match_share *other, const struct vt_match_share *member)
{
	uint32_t a = g->member[member->member], b = g->member[other->member];
	double slack = a == b ? 0 : (bound_at(d, a, member->end) + bound_at(d, b, other->begin)) / d->m->period_s;

	if (other->begin > member->end) {
		return (double)(other->begin - member->end) <= slack ? UNKNOWN : AFTER;
	}
	return (double)(member->end - other->begin) < slack ? UNKNOWN : BEFORE;
}

/* Member i of a fence that some members left early: the member that it waited for. NULL: none, or the clocks leave it open. */
static const struct vt_match_share *came_last(struct vt_merge_idle *d, const struct vt_merge_communicator *g,
	const struct vt_match_share *share, size_t n, size_t i)
{
	const struct vt_match_share *late = NULL;
	size_t k;

	for (k = 0; k < n; k++) {
		enum order order = k == i ? AFTER : began(d, g, &share[k], &share[i]);

		if (order == UNKNOWN) {
			return NULL;
		}
		late = order == BEFORE && (!late || share[k].begin > late->begin) ? &share[k] : late;
	}
	return late;
}

/* A fence need not make its members wait, so each may have waited for those only that came before it left. */
static int note_fence(
	struct vt_merge_idle *d, const struct vt_merge_communicator *g, const struct vt_match_share *share, size_t n)
{
	const struct vt_match_share *last = latest_share(share, n, UINT32_MAX), *late;
	int waited = 0;
	size_t i, stayed;

	for (stayed = 0; stayed < n && (&share[stayed] == last || began(d, g, last, &share[stayed]) != AFTER);
		stayed++) {
	}
	for (i = 0; i < n; i++) {
		late = stayed == n ? last : came_last(d, g, share, n, i);
		waited |= late ? note_wait(d, share[i].call, g->member[late->member], late->begin) : 0;
	}
	return waited;
}

int vt_idle_operation(struct vt_merge_part *part, const struct vt_match_share *share, size_t n)
{
	struct vt_merge_idle *d = part->idle;
	const struct vt_merge_communicator *g = &d->m->communicator[share->communicator - 1];
	const struct vt_match_share *root = root_share(share, n), *late = NULL;
	int who = who_waits(share->op), waited = 0;
	size_t i;

	if (who == NONE || ((who == FOR_ROOT || who == ROOT_FOR_ALL) && !root)) {
		return 0;
	}
	if (who == FOR_THOSE_THAT_CAME) {
		return note_fence(d, g, share, n);
	}
	if (who == FOR_ROOT) {
		late = root;
	} else if (who != FOR_THOSE_BEFORE) {
		late = latest_share(share, n, who == ROOT_FOR_ALL ? root->member : UINT32_MAX);
	}
	for (i = 0; i < n; i++) {
		if (late && (who != ROOT_FOR_ALL || &share[i] == root)) {
			waited |= note_wait(d, share[i].call, g->member[late->member], late->begin);
		}
		if (who == FOR_THOSE_BEFORE && (!late || share[i].begin > late->begin)) {
			late = &share[i];
		}
	}
	return waited;
}

/* ---- writing ---- */

static int call_ends_earlier(const void *calls, const uint32_t *a, const uint32_t *b)
{
	const struct call *c = calls;

	return c[*a].until < c[*b].until;
}

static int call_begins_earlier(const void *calls, const uint32_t *a, const uint32_t *b)
{
	const struct call *c = calls;

	return c[*a].enter != c[*b].enter ? c[*a].enter < c[*b].enter : c[*a].until < c[*b].until;
}

TKM_HEAP(leave_heap, uint32_t, call_ends_earlier);
TKM_HEAP(enter_heap, uint32_t, call_begins_earlier);

static int write_idle_enter(struct vt_merge *m, const struct call *c)
{
	struct stf_enter_function_1 with = { c->enter, c->willy, c->function, c->scl };
	struct stf_enter_function r = { c->enter, c->willy, c->function };

	return c->scl ? stf_write_enter_function_1(m->w, &with) : stf_write_enter_function(m->w, &r);
}

/* Writes the ends of waits up to that time. */
static int write_idle_leaves(
	struct vt_merge *m, const struct vt_merge_idle *d, uint32_t *heap, size_t *n, uint64_t time)
{
	while (*n && d->call[heap[0]].until <= time) {
		const struct call *c = &d->call[heap[0]];
		struct stf_leave_function r = { c->until, c->willy };

		if (stf_write_leave_function(m->w, &r) < 0) {
			return -1;
		}
		heap[0] = heap[--*n];
		leave_heap_sift(d->call, heap, *n, 0);
	}
	return 0;
}

static int write_waits(struct vt_merge *m, const struct vt_merge_idle *d)
{
	uint32_t *to_enter = malloc(2 * (d->n + 1) * sizeof(*to_enter)), *to_leave = to_enter + d->n + 1, next;
	size_t n = 0, open = 0, i;
	int rc = to_enter ? 0 : -1;

	for (i = 0; i < d->n && rc == 0; i++) {
		if (d->call[i].until) {
			enter_heap_add(d->call, to_enter, n++, (uint32_t)i);
		}
	}
	m->out->changes += 2 * n;
	while (n && rc == 0) {
		next = to_enter[0];
		to_enter[0] = to_enter[--n];
		enter_heap_sift(d->call, to_enter, n, 0);
		rc = write_idle_leaves(m, d, to_leave, &open, d->call[next].enter);
		rc = rc < 0 ? rc : write_idle_enter(m, &d->call[next]);
		leave_heap_add(d->call, to_leave, open++, next);
	}
	rc = rc < 0 ? rc : write_idle_leaves(m, d, to_leave, &open, UINT64_MAX);
	free(to_enter);
	return rc;
}

/* Counts what long calls without a wait have sent and received, too. */
static int leave_out_long_calls(struct vt_merge_part *part)
{
	struct vt_merge_idle *d = part->idle;
	int rc = 0;
	size_t i;

	for (i = 0; i < part->ends.n && rc == 0; i++) {
		struct vt_match_end *end = &part->ends.end[i];
		struct call *c = end->call ? &d->call[end->call - 1] : NULL;

		/* the call that received what another one has looked for was counted when it ended */
		rc = c && !c->until && !call_looks(d, c) ? leave_out_end(d, c, end) : 0;
	}
	for (i = 0; i < part->shares.n && rc == 0; i++) {
		struct vt_match_share *share = &part->shares.share[i];

		rc = share->call && !d->call[share->call - 1].until
			? leave_out_share(d, &d->call[share->call - 1], share)
			: 0;
	}
	for (i = 0; i < d->n && rc == 0; i++) {
		rc = d->call[i].until ? 0 : leave_out_call(d, &d->call[i]);
	}
	return rc;
}

static int write_left_out(const struct vt_merge *m, struct vt_merge_idle *d)
{
	struct left_out *l = NULL;
	int rc = 0;

	/* STATISTICS has counted all calls, these, too */
	while (rc == 0 && !m->n_rows && (l = tkm_table_next(&d->left_out, l))) {
		const struct left_out_key *k = tkm_table_key(l);
		struct stf_lw_statistics s = { .willy = k->willy,
			.function = k->function,
			.receiver = k->kind == VT_RAW_ROW_CALL                               ? VT_NO_RECEIVER
				: k->kind == VT_RAW_ROW_COLLECTIVE                           ? VT_COLLECTIVE
				: k->peer == VT_MATCH_NOBODY || k->peer == VT_MERGE_STRANGER ? VT_NO_RECEIVER
											     : STF_WILLY(k->peer, 0),
			.comm_size = k->kind == VT_RAW_ROW_CALL    ? 1
				: k->kind == VT_RAW_ROW_COLLECTIVE ? (int32_t)m->communicator[k->communicator - 1].n
				: k->kind == VT_RAW_ROW_RECEIVE    ? -2
								   : 2,
			.bytes_sent = VT_NO_MESSAGE,
			.count = l->count < UINT32_MAX ? (uint32_t)l->count : UINT32_MAX,
			.minTicksIncl = l->least,
			.maxTicksIncl = l->most,
			.sumTicksIncl = l->sum,
			.minTicksExcl = l->least,
			.maxTicksExcl = l->most,
			.sumTicksExcl = l->sum };

		rc = k->kind == VT_RAW_ROW_CALL ? stf_write_lw_statistics(m->w, &s)
						: vt_merge_write_mean(m, &s, l->count, l->bytes);
	}
	return rc;
}

static void add_to_sum(struct sum *s, uint64_t ticks)
{
	s->count++;
	s->ticks += ticks;
}

static void describe_waits(struct vt_merge *m, struct vt_merge_idle *d)
{
	struct sum waits = { 0 }, open = { 0 }, undecided = { 0 }, rest = { 0 }, out = { 0 };
	const struct left_out *l = NULL;
	double bound = 0;
	size_t i;

	for (i = 0; i < d->n; i++) {
		const struct call *c = &d->call[i];

		if (c->until) {
			add_to_sum(c->flags & OPEN ? &open : &waits, c->until - c->enter);
			add_to_sum(&rest, c->leave - c->until);
			bound += c->bound_s;
		} else if (c->flags & UNDECIDED) {
			add_to_sum(&undecided, c->leave - c->enter);
		}
	}
	while ((l = tkm_table_next(&d->left_out, l))) {
		out.count += l->count;
		out.ticks += l->sum;
	}
	m->out->waits = waits.count + open.count;
	m->out->waited_s = (double)(waits.ticks + open.ticks) * m->period_s;
	vt_merge_info(m, VT_RAW_IMBALANCE,
		"the states are waits of MPI calls longer than %.9g s (TRACE-IMBALANCE): %" PRIu64
		" waits, %.9f s +- %.3g s",
		(double)m->idle_ns * 1e-9, waits.count, (double)waits.ticks * m->period_s, bound);
	vt_merge_info(m, VT_RAW_IMBALANCE,
		"left out, counted in the statistics: %" PRIu64
		" calls or messages of calls, %.9f s; and %.9f s of the calls "
		"that waited, after their waits",
		out.count, (double)out.ticks * m->period_s, (double)rest.ticks * m->period_s);
	if (open.count) {
		vt_merge_info(m, VT_RAW_IMBALANCE,
			"%" PRIu64
			" calls did not end before the records of their threads ended, %.9f s: all of this counts "
			"as a wait",
			open.count, (double)open.ticks * m->period_s);
	}
	if (undecided.count) {
		vt_merge_info(m, VT_RAW_IMBALANCE,
			"%" PRIu64
			" calls, %.9f s, of which the clocks cannot decide whether they waited, are left out",
			undecided.count, (double)undecided.ticks * m->period_s);
	}
}

int vt_idle_write(struct vt_merge *m, struct vt_merge_part *part)
{
	struct vt_merge_idle *d = part->idle;
	size_t i;

	/* a call that never ended has waited until the end */
	for (i = 0; i < d->n; i++) {
		d->call[i].until = d->call[i].flags & OPEN ? d->call[i].leave : d->call[i].until;
	}
	if (leave_out_long_calls(part) < 0 || write_waits(m, d) < 0 || write_left_out(m, d) < 0) {
		return -1;
	}
	describe_waits(m, d);
	return 0;
}
