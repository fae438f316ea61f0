/* SPDX-License-Identifier: BSD-3-Clause */
/* What has no order between ranks: one-sided operations of two ranks on the same bytes of a window, in one epoch, and messages of
 * two ranks of which a receive with MPI_ANY_SOURCE may take either. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LONGEST = 512, MOST_BLOCKS = 64 };
#define COMES_NS INT64_C(50000000) /* so long a receive is held to see what else comes */

/* ---- one-sided operations ---- */

/* Which argument of an operation is what, by the number of arguments before them. */
struct target_arguments {
	int disp, count, type, op; /* -1: there is none */
	char kind;                 /* P, G, A: of MPI_Put, MPI_Get, MPI_Accumulate; N: an atomic one that only reads */
};

static int find_arguments(const struct vt_mc_call *k, struct target_arguments *a)
{
	const char *name = k->f->text + 4;
	int i;

	a->disp = a->count = a->type = a->op = -1;
	a->kind = !strcmp(name, "Put") || !strcmp(name, "Rput") ? 'P'
		: !strcmp(name, "Get") || !strcmp(name, "Rget") ? 'G'
								: 'A';
	for (i = 0; i < k->f->n; i++) {
		a->disp = vt_mc_name_is(k->f, i, "target_disp") ? i : a->disp;
		a->count = vt_mc_name_is(k->f, i, "target_count") ? i : a->count;
		a->type = vt_mc_name_is(k->f, i, "target_datatype") || vt_mc_name_is(k->f, i, "datatype") ? i : a->type;
		a->op = vt_mc_name_is(k->f, i, "op") ? i : a->op;
	}
	if (a->op >= 0 && (MPI_Op)k->w[a->op] == MPI_NO_OP) {
		a->kind = 'N';
	}
	return a->disp >= 0 && a->type >= 0;
}

static int *chain_of(uint64_t win, int target)
{
	uint64_t h = (win ^ (uint64_t)target * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);

	return &vt_mc_shared->accesses[(h >> 40) % VT_MC_CHAINS];
}

/* Have they no order, and is the result of both not the same in any order? */
static int have_race(const struct vt_mc_access *a, const struct vt_mc_access *b)
{
	int reads = strchr("GN", a->kind) != NULL, other_reads = strchr("GN", b->kind) != NULL;

	if (a->win != b->win || a->target != b->target || a->origin == b->origin || a->epoch != b->epoch ||
		a->low >= b->high || b->low >= a->high || (reads && other_reads) ||
		(strchr("AN", a->kind) && strchr("AN", b->kind))) {
		return 0;
	}
	if (a->kind == 'P' && b->kind == 'P' && a->low == b->low && a->high == b->high) {
		/* the same bytes may be put twice */
		return a->summed && b->summed && a->checksum != b->checksum;
	}
	return 1;
}

/* With the lock of the segment. Returns 1 and the other one if there is a race. */
static int add_access(const struct vt_mc_access *mine, struct vt_mc_access *other)
{
	struct vt_mc_shared *s = vt_mc_shared;
	int *chain = chain_of(mine->win, mine->target), i, n = 0, found = 0;
	struct vt_mc_access *a;

	for (i = *chain; i; i = a->next) {
		a = &s->access[i - 1];
		if (!found && have_race(a, mine)) {
			*other = *a;
			found = 1;
		}
		n++;
	}
	i = s->free_access;
	/* MPI_Rget is complete when its request is, which is not followed here */
	if (i && n < LONGEST && strncmp(mine->name, "MPI_Rget", 8)) {
		a = &s->access[i - 1];
		s->free_access = a->next;
		*a = *mine;
		a->next = *chain;
		*chain = i;
	}
	return found;
}

/* The number of the epoch in which the operation is, the same at all ranks whose operations have no order; 0: not known, or there is an
 * order. */
static uint64_t epoch_of(const struct vt_mc_object *o, int target)
{
	const struct vt_mc_epoch *e = o->epoch;
	uint32_t exposure;

	if (e->lock_all || (e->locked && e->locked[target])) {
		return e->lock_all || e->locked[target] == MPI_LOCK_SHARED;
	}
	if (e->fence) {
		return UINT64_C(1) << 32 | e->fences;
	}
	exposure = vt_mc_epoch_exposure(o, target);
	return e->started && exposure ? UINT64_C(2) << 32 | exposure : 0;
}

void vt_mc_race_begins(struct vt_mc_call *k, const struct vt_mc_object *o, const struct vt_mc_pending *p)
{
	int target = VT_MC_NUMBER(k, VT_MC_DEST), i, b, blocks, found = 0;
	struct vt_mc_access mine, other;
	const struct vt_mc_object *t;
	struct target_arguments a;
	int64_t unit, at, count;
	char place[300];

	if (!vt_mc_shared || !vt_mc_on(VT_MC_RACE) || !o->whole || target < 0 || target >= o->remote ||
		!find_arguments(k, &a)) {
		return;
	}
	memset(&mine, 0, sizeof(mine));
	t = vt_mc_type((MPI_Datatype)k->w[a.type]);
	count = a.count < 0 ? 1 : (int)k->w[a.count];
	mine.epoch = epoch_of(o, target);
	unit = vt_mc_epoch_unit(o, target);
	if (!mine.epoch || !unit || !t || !t->known || t->n_blocks <= 0 || count <= 0 || strstr(k->f->text, "_c")) {
		return;
	}
	at = unit * (int64_t)k->w[a.disp];
	blocks = t->n_blocks == 1 && (t->bytes == t->extent || count == 1) ? 0 : t->n_blocks;
	if (blocks && count > MOST_BLOCKS / blocks) {
		return;
	}
	mine.win = o->id;
	mine.origin = vt_mc_rank;
	mine.target = o->world[target];
	mine.kind = a.kind;
	mine.brings = a.kind != 'P' && !strstr(k->f->text, "MPI_Acc") && !strstr(k->f->text, "MPI_Racc");
	mine.summed = p && p->summed && !blocks;
	mine.checksum = p ? p->checksum : 0;
	mine.place = vt_mc_place_offset(k, NULL);
	snprintf(mine.name, sizeof(mine.name), "%s", k->f->text);
	vt_mc_shared_lock();
	if (!blocks) {
		mine.low = at + t->true_lb;
		mine.high = mine.low + (count - 1) * t->extent + t->true_extent;
		found = add_access(&mine, &other);
	}
	for (i = 0; blocks && i < count && !found; i++) {
		for (b = 0; b < blocks && !found; b++) {
			mine.low = at + i * t->extent + t->block[b].from;
			mine.high = at + i * t->extent + t->block[b].to;
			found = add_access(&mine, &other);
		}
	}
	vt_mc_shared_unlock();
	o->epoch->accessed = 1;
	if (found) {
		vt_mc_report(VT_MC_RACE, k, NULL,
			"rank %d uses the same bytes of rank %d of the window in this epoch, by %s, and they have no order: what is "
			"there then is undefined   %s",
			other.origin, o->world[target], other.name,
			vt_mc_print_offset(other.place, place, sizeof(place)));
	}
}

void vt_mc_race_ends(const struct vt_mc_object *o, int target, int local)
{
	int i, *at, next;

	if (!vt_mc_shared || !o->epoch->accessed || !o->whole) {
		return;
	}
	vt_mc_shared_lock();
	for (i = target < 0 ? 0 : target; i < o->remote && (target < 0 || i == target); i++) {
		for (at = chain_of(o->id, o->world[i]); *at; at = next ? at : &vt_mc_shared->access[*at - 1].next) {
			struct vt_mc_access *a = &vt_mc_shared->access[*at - 1];

			next = a->win == o->id && a->origin == vt_mc_rank && a->target == o->world[i] &&
				(!local || a->brings);
			if (next) {
				int was = *at;

				*at = a->next;
				a->next = vt_mc_shared->free_access;
				vt_mc_shared->free_access = was;
			}
		}
	}
	vt_mc_shared_unlock();
	o->epoch->accessed &= target >= 0 || local;
}

void vt_mc_race_forget(const struct vt_mc_call *k)
{
	const struct vt_mc_object *o;

	vt_mc_lock();
	o = vt_mc_object(VT_MC_WIN, vt_mc_handle_at(VT_MC_WIN, (void *)k->w[0]));
	if (o && o->epoch) {
		vt_mc_race_ends(o, -1, 0);
	}
	vt_mc_unlock();
}

/* ---- messages ---- */

/* Two messages that are there, of two ranks, of which the receive may take either. */
static int find_two(const struct vt_mc_pending *p, struct vt_mc_message *two)
{
	const struct vt_mc_shared *s = vt_mc_shared;
	const struct vt_mc_message *m;
	int at, n = 0;

	vt_mc_shared_lock();
	for (at = s->inbox[vt_mc_rank] - 1; at >= 0 && n < 2; at = m->next - 1) {
		m = &s->message[at];
		if (m->comm == p->comm->id && (p->tag == MPI_ANY_TAG || m->tag == p->tag) &&
			(n == 0 || m->from != two[0].from)) {
			two[n++] = *m;
		}
	}
	vt_mc_shared_unlock();
	return n == 2;
}

void vt_mc_message_race(struct vt_mc_call *k)
{
	const struct vt_mc_pending *p = k->received;
	const struct timespec t = { .tv_nsec = 1000000 };
	struct vt_mc_message two[2];
	char place[2][300];
	int64_t end;

	if (!vt_mc_shared || !vt_mc_on(VT_MC_MSG_RACE) || !p || p->peer != MPI_ANY_SOURCE || !p->comm ||
		!p->comm->whole || !vt_mc_first_from(k->pc)) {
		return;
	}
	for (end = vt_mc_now_ns() + COMES_NS; !find_two(p, two) && vt_mc_now_ns() < end; nanosleep(&t, NULL)) {
		vt_mc_progress();
	}
	if (find_two(p, two)) {
		vt_mc_report(VT_MC_MSG_RACE, k, NULL,
			"the receive may take a message of rank %d, by %s   %s, or of rank %d, by %s   %s: the result may depend on which",
			two[0].from, two[0].name, vt_mc_print_offset(two[0].place, place[0], sizeof(place[0])),
			two[1].from, two[1].name, vt_mc_print_offset(two[1].place, place[1], sizeof(place[1])));
	}
}
