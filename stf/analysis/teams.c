/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds waits at barriers of OpenMP. The trace does not say which threads are a team. Those that are at a barrier of the same place in
 * the source at the same time are taken for one. Of these, threads that leave it at the same tick, as at the end of a region, are a team of
 * their own, so inner teams of one place are mixed at the barriers inside their regions only. */
#include "config.h"
#include "stf/analysis/teams.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* A thread may have gone on to further barriers before another one comes out of the first. */
enum { LAST_BARRIERS = 4 };

struct barrier {
	uint64_t enter, leave; /* leave UINT64_MAX: it is still there */
	uint32_t function, scl;
	uint32_t before; /* the function in which most of the time before it was spent; 0: none */
};

struct stf_left_barrier {
	struct stf_team_member *p;
	struct barrier b;
	uint64_t tasks;
};

struct stf_team_member {
	uint32_t willy;
	struct barrier last[LAST_BARRIERS];
	unsigned next;
	unsigned regions;       /* that it is in */
	uint64_t since, inside; /* begin of the outermost region, and time in all that have ended */
	uint32_t region;        /* where that region is in the source */
	/* of the first thread of a process: when it came to the first barrier of that region (0: not yet), when the last other one
	 * before that began the region, and struct stf_team's first_held */
	uint64_t first_barrier, others_began, held;
	uint64_t task, tasks; /* begin of the function that it runs in its barrier, and time in those that have ended */
	uint64_t waited, caused;
	uint32_t caused_scl; /* where it caused the longest wait */
	uint64_t longest;
};

static struct stf_team_member *member_of(struct stf_teams *m, uint32_t willy)
{
	struct stf_team_member *p = tkm_table_put(&m->members, &willy, sizeof(willy), sizeof(*p));

	if (p) {
		p->willy = willy;
	}
	return p;
}

static unsigned flags_at(const struct stf_threads *t, const struct stf_thread *h, size_t below)
{
	return h && h->depth > below ? stf_names_function(&t->names, h->stack[h->depth - 1 - below].function) : 0;
}

/* The function, if it is the program's own. */
static uint32_t own_function(const struct stf_threads *t, uint32_t function)
{
	return stf_names_function(&t->names, function) & (STF_CALL_BARRIER | STF_CALL_REGION) ? 0 : function;
}

/* The barrier of another thread that is the same as b; NULL: it does not take part. exactly: only if it was left at the same time. */
static const struct barrier *same_barrier(const struct stf_team_member *p, const struct barrier *b, int exactly)
{
	unsigned i;

	for (i = 0; i < LAST_BARRIERS; i++) {
		const struct barrier *o = &p->last[(p->next + i) % LAST_BARRIERS];

		if (o->function == b->function && o->scl == b->scl && o->leave >= b->enter && o->enter <= b->leave &&
			(!exactly || o->leave == b->leave)) {
			return o;
		}
	}
	return NULL;
}

/* The thread has come out of its barrier: was another one the last to come? */
static int count_barrier(struct stf_teams *m, struct stf_threads *t, const struct stf_left_barrier *l, int exactly)
{
	struct stf_team_member *p = l->p;
	const struct barrier *b = &l->b;
	uint32_t process = stf_willy_process(p->willy), k;
	struct stf_team_member *last = NULL;
	struct stf_one_wait w = { .kind = STF_WAIT_OMP_BARRIER,
		.willy = p->willy,
		.function = b->function,
		.scl = b->scl,
		.from = b->enter + l->tasks,
		.to = 0 };

	for (k = 0; k < t->n_threads[process]; k++) {
		uint32_t willy = STF_WILLY(process, k);
		struct stf_team_member *o = tkm_table_find(&m->members, &willy, sizeof(willy));
		const struct barrier *other = o && o != p ? same_barrier(o, b, exactly) : NULL;

		if (other && other->enter > w.to) {
			w.to = w.ready = other->enter;
			w.cause = willy;
			w.cause_function = other->before;
			last = o;
		}
	}
	if (!last || w.to <= w.from) {
		return 0;
	}
	p->waited += w.to - w.from;
	last->caused += w.to - w.from;
	if (w.to - w.from > last->longest) {
		last->longest = w.to - w.from;
		last->caused_scl = b->scl;
	}
	return stf_waits_add(&t->waits, &w) < 0 ? -1 : 0;
}

/* Have several threads left this barrier at the same time? */
static int is_left_together(const struct stf_teams *m, const struct stf_left_barrier *l)
{
	size_t i, n = 0;

	for (i = 0; i < m->n_left; i++) {
		const struct stf_left_barrier *o = &m->left[i];

		n += stf_willy_process(o->p->willy) == stf_willy_process(l->p->willy) &&
			o->b.function == l->b.function && o->b.scl == l->b.scl;
	}
	return n > 1;
}

/* All events up to that time were passed. */
static int count_left_barriers(struct stf_teams *m, struct stf_threads *t, uint64_t time)
{
	size_t i;
	int rc = 0;

	if (time == m->left_at) {
		return 0;
	}
	for (i = 0; i < m->n_left && rc == 0; i++) {
		rc = count_barrier(m, t, &m->left[i], is_left_together(m, &m->left[i]));
	}
	m->n_left = 0;
	return rc;
}

/* The thread begins its outermost region. */
static void begin_region(struct stf_teams *m, struct stf_team_member *p, uint64_t time, uint32_t scl)
{
	const uint32_t main_thread = STF_WILLY(stf_willy_process(p->willy), 0);
	struct stf_team_member *first = tkm_table_find(&m->members, &main_thread, sizeof(main_thread));

	p->since = p->others_began = time;
	p->region = scl;
	p->first_barrier = 0;
	if (first && first->regions && first->region == scl && !first->first_barrier) {
		first->others_began = time;
	}
}

int stf_team_enters(
	struct stf_teams *m, struct stf_threads *t, uint32_t willy, uint64_t time, const struct stf_frame *f)
{
	const struct stf_thread *h = stf_threads_find(t, willy);
	unsigned flags = stf_names_function(&t->names, f->function);
	int is_task = (flags_at(t, h, 0) & STF_CALL_BARRIER) != 0;
	struct stf_team_member *p;

	if (!is_task && !(flags & (STF_CALL_BARRIER | STF_CALL_REGION))) {
		return 0;
	}
	p = m->n_left && count_left_barriers(m, t, time) < 0 ? NULL : member_of(m, willy);
	if (!p) {
		return -1;
	}
	if (is_task) {
		p->task = time;
	}
	if (flags & STF_CALL_REGION && !p->regions++) {
		begin_region(m, p, time, f->scl);
	}
	if (flags & STF_CALL_BARRIER) {
		p->first_barrier = p->first_barrier ? p->first_barrier : time;
		p->tasks = 0;
		p->last[p->next++ % LAST_BARRIERS] = (struct barrier){ time, UINT64_MAX, f->function, f->scl,
			h ? own_function(t, stf_thread_does(h)) : 0 };
	}
	return 0;
}

int stf_team_leaves(struct stf_teams *m, struct stf_threads *t, uint32_t willy, uint64_t time)
{
	struct stf_thread *h = stf_threads_find(t, willy);
	unsigned flags = flags_at(t, h, 0);
	struct stf_team_member *p = tkm_table_find(&m->members, &willy, sizeof(willy));
	struct barrier *b = p ? &p->last[(p->next + LAST_BARRIERS - 1) % LAST_BARRIERS] : NULL;

	if (!p) {
		return 0;
	}
	if (m->n_left && count_left_barriers(m, t, time) < 0) {
		return -1;
	}
	if (flags_at(t, h, 1) & STF_CALL_BARRIER) {
		p->tasks += time - p->task;
	}
	if (flags & STF_CALL_REGION && p->regions && !--p->regions) {
		p->inside += time - p->since;
		p->held += p->others_began - p->since;
	}
	if (!(flags & STF_CALL_BARRIER)) {
		return 0;
	}
	b->leave = time;
	p->held += time - b->enter - p->tasks;
	if (!h->sum.calls) { /* of a thread that calls MPI, its waits there begin the count */
		memset(h->busy, 0, sizeof(h->busy));
	}
	if (TKM_GROW(m->left, m->left_room, m->n_left + 1) < 0) {
		return -1;
	}
	m->left_at = time;
	m->left[m->n_left++] = (struct stf_left_barrier){ p, *b, p->tasks };
	return 0;
}

static void count_member(struct stf_team *to, const struct stf_team_member *p, uint64_t end)
{
	uint64_t inside = p->inside + (p->regions && end > p->since ? end - p->since : 0);

	to->process = stf_willy_process(p->willy);
	to->threads++;
	to->inside += inside;
	to->longest_inside = inside > to->longest_inside ? inside : to->longest_inside;
	to->waited += p->waited;
	to->first_held = stf_willy_thread(p->willy) ? to->first_held : p->held;
	if (p->caused > to->caused) {
		to->caused = p->caused;
		to->cause = p->willy;
		to->scl = p->caused_scl;
	}
}

int stf_teams_end(struct stf_teams *m, struct stf_threads *t, struct stf_analysis *a)
{
	const struct stf_team_member *p = NULL;
	struct stf_team *team = calloc((size_t)t->n_processes + 1, sizeof(*team)); /* by process */
	uint32_t i;

	if (count_left_barriers(m, t, UINT64_MAX) < 0) {
		free(team);
		return -1;
	}
	while (team && (p = tkm_table_next(&m->members, p))) {
		if (stf_willy_process(p->willy) < t->n_processes) {
			count_member(&team[stf_willy_process(p->willy)], p, a->end);
		}
	}
	for (i = 0; team && i < t->n_processes; i++) {
		if (team[i].threads) {
			team[a->n_teams++] = team[i];
		}
	}
	a->team = team;
	return team ? 0 : -1;
}

void stf_teams_free(struct stf_teams *m)
{
	tkm_table_free(&m->members);
	free(m->left);
}
