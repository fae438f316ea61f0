/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective operations: each member of a communicator announces what it is about to do in its n-th one. The first comes with
 * the measure for the others. A blocking operation is made only when all are there and do the same. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <stdio.h>
#include <string.h>

#include "collector-plugin/host/say.h"

enum { WINDOW = 64, HOMES = 4 };

/* Few places for each communicator, which stay in the caches. */
static struct vt_mc_meeting *home_of(uint64_t comm, uint32_t number)
{
	uint64_t h = comm * UINT64_C(0xff51afd7ed558ccd);

	return &vt_mc_shared->meeting[((h >> 32) + number % HOMES) % VT_MC_MEETINGS];
}

/* Where it may be, if others were in its home. */
static struct vt_mc_meeting *place_of(uint64_t comm, uint32_t number, unsigned i)
{
	uint64_t h = (comm ^ number * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);

	return &vt_mc_shared->meeting[((h >> 32) + i) % VT_MC_MEETINGS];
}

static struct vt_mc_meeting *find_meeting(uint64_t comm, uint32_t number)
{
	struct vt_mc_meeting *m = home_of(comm, number);
	unsigned i, n = m->displaced ? WINDOW : 0;

	for (i = 0; i <= n; i++) {
		if (m->used && m->comm == comm && m->number == number) {
			return m;
		}
		m = place_of(comm, number, i);
	}
	return NULL;
}

static int ran_out; /* 1: this rank found no room first; 2: that was said */

/* With the lock. NULL: there is no room, or was none before. A member that came then has gone on, and must not be waited for when there is
 * room again: from then on no meeting is made for the communicator. Those that exist are met. */
static struct vt_mc_meeting *make_meeting(uint64_t comm, uint32_t number)
{
	unsigned bit = (unsigned)((comm * UINT64_C(0xff51afd7ed558ccd)) >> 52), i;
	uint64_t *unmet = &vt_mc_shared->unmet[bit / 64], is = UINT64_C(1) << bit % 64;
	struct vt_mc_meeting *m = home_of(comm, number);

	for (i = 0; i < WINDOW && m->used; i++) {
		m = place_of(comm, number, i);
	}
	if (m->used && !(*unmet & is)) {
		*unmet |= is;
		ran_out = ran_out ? ran_out : 1;
	}
	if (*unmet & is) {
		return NULL;
	}
	home_of(comm, number)->displaced += m != home_of(comm, number);
	memset(&m->used, 0, offsetof(struct vt_mc_meeting, first) - offsetof(struct vt_mc_meeting, used));
	m->fit.used = 0;
	m->comm = comm;
	m->number = number;
	m->used = 1;
	return m;
}

/* With the lock. */
static void drop_meeting(struct vt_mc_meeting *m)
{
	home_of(m->comm, m->number)->displaced -= m != home_of(m->comm, m->number);
	m->used = 0;
}

/* ---- what this rank does ---- */

static struct vt_mc_signature side(const struct vt_mc_call *k, enum vt_mc_role count, enum vt_mc_role type)
{
	int c = k->f->at[count], t = k->f->at[type];
	const struct vt_mc_object *o;

	if (c < 0 || t < 0 || k->f->pointer[c] || k->f->pointer[t]) {
		return (struct vt_mc_signature){ 0 };
	}
	o = vt_mc_type((MPI_Datatype)k->w[t]);
	return o && o->signature.power && vt_mc_count(k, count) >= 0
		? vt_mc_repeat(o->signature, (uint64_t)vt_mc_count(k, count))
		: (struct vt_mc_signature){ 0 };
}

enum measure { NO_MEASURE, BCAST, REDUCE, ALLREDUCE, SCATTER_BLOCK, GATHER, SCATTER, ALLGATHER, ALLTOALL };

void vt_mc_measure_learn(struct vt_mc_function *f)
{
	static const char *const fits[] = { "eighbor", "Comm_create", "educe_scatter", "atherv", "catterv", "lltoallv",
		"lltoallw", NULL };
	static const char *const names[] = { [BCAST] = "bcast",
		[REDUCE] = "reduce",
		[ALLREDUCE] = "allreduce",
		[SCATTER_BLOCK] = "reduce_scatter_block",
		[GATHER] = "gather",
		[SCATTER] = "scatter",
		[ALLGATHER] = "allgather",
		[ALLTOALL] = "alltoall" };
	const char *at = strchr(f->more, ',');
	size_t length;
	int i;

	at = at ? at + 1 + strspn(at + 1, " ") : "";
	length = strcspn(at, ",");
	f->measure = NO_MEASURE;
	for (i = 0; fits[i] && !strstr(f->text, fits[i]); i++) {
	}
	f->fits = fits[i] != NULL;
	for (i = BCAST; i <= ALLTOALL; i++) {
		if (length == strlen(names[i]) && !strncmp(at, names[i], length)) {
			f->measure = i;
		}
	}
}

/* Between the root and the other group. */
static void fill_inter_signature(struct vt_mc_record *r, const struct vt_mc_call *k)
{
	int is_root = r->inter_root == VT_MC_IS_ROOT, gathers = k->f->measure == GATHER;

	if (r->inter_root == VT_MC_BESIDE_ROOT || r->inter_root == VT_MC_NO_ROOT) {
		return;
	}
	if (k->f->measure == BCAST || k->f->measure == REDUCE) {
		r->signature = side(k, VT_MC_COUNT, VT_MC_DATATYPE);
	} else if (gathers || k->f->measure == SCATTER) {
		r->signature =
			gathers == is_root ? side(k, VT_MC_RCOUNT, VT_MC_RTYPE) : side(k, VT_MC_COUNT, VT_MC_DATATYPE);
	}
	r->has_signature = r->signature.power != 0;
}

/* A member sends to itself, too. */
static int find_unfit(const struct vt_mc_call *k)
{
	struct vt_mc_signature sent = side(k, VT_MC_COUNT, VT_MC_DATATYPE), taken = side(k, VT_MC_RCOUNT, VT_MC_RTYPE);

	if (!sent.power || !taken.power || VT_MC_WORD(k, VT_MC_BUF) == (uintptr_t)MPI_IN_PLACE ||
		VT_MC_WORD(k, VT_MC_RBUF) == (uintptr_t)MPI_IN_PLACE) {
		return 0;
	}
	return sent.n != taken.n ? VT_MC_SIZE : sent.hash != taken.hash ? VT_MC_COLL_TYPE : 0;
}

/* What one member sends to another, or gets from it: the same at all members. */
static void fill_signature(struct vt_mc_record *r, const struct vt_mc_call *k, const struct vt_mc_object *c)
{
	if (c->inter) {
		fill_inter_signature(r, k);
		return;
	}
	if (k->f->measure == BCAST || k->f->measure == REDUCE || k->f->measure == ALLREDUCE) {
		r->signature = side(k, VT_MC_COUNT, VT_MC_DATATYPE);
	} else if (k->f->measure == SCATTER_BLOCK) {
		r->signature = side(k, VT_MC_RCOUNT, VT_MC_DATATYPE);
	} else if (k->f->measure == GATHER) {
		r->signature =
			c->rank == r->root ? side(k, VT_MC_RCOUNT, VT_MC_RTYPE) : side(k, VT_MC_COUNT, VT_MC_DATATYPE);
	} else if (k->f->measure == SCATTER) {
		r->signature =
			c->rank == r->root ? side(k, VT_MC_COUNT, VT_MC_DATATYPE) : side(k, VT_MC_RCOUNT, VT_MC_RTYPE);
	} else if (k->f->measure == ALLGATHER || k->f->measure == ALLTOALL) {
		r->signature = side(k, VT_MC_RCOUNT, VT_MC_RTYPE);
	}
	if (k->f->measure == ALLGATHER || k->f->measure == ALLTOALL ||
		(c->rank == r->root && (k->f->measure == GATHER || k->f->measure == SCATTER))) {
		r->unfit = find_unfit(k);
	}
	r->has_signature = r->signature.power != 0;
}

/* Arguments that must be the same at all members. */
static uint64_t hash_same(const struct vt_mc_call *k)
{
	uint64_t h = 1469598103934665603u;
	const int *list[2] = { NULL, NULL };
	int n = 0, i, at;

	if (vt_mc_is(k, "Cart_create")) {
		n = (int)k->w[1];
		list[0] = (const int *)k->w[2];
		list[1] = (const int *)k->w[3];
	} else if (vt_mc_is(k, "Graph_create")) {
		n = (int)k->w[1];
		list[0] = (const int *)k->w[2];
	} else if (k->f->sort == VT_MC_FILE_OPEN) {
		h = (h ^ k->w[2]) * 1099511628211u;
	} else {
		return 0;
	}
	for (at = 0; at < 2; at++) {
		for (i = 0; list[at] && i < n; i++) {
			/* the second list is one of truth values */
			h = (h ^ (at ? list[at][i] != 0 : (unsigned)list[at][i])) * 1099511628211u;
		}
	}
	return (h ^ (uint64_t)(unsigned)n) | 1;
}

static void fill_inter_root(struct vt_mc_record *r, const struct vt_mc_call *k, const struct vt_mc_object *c)
{
	int root = VT_MC_NUMBER(k, VT_MC_ROOT_RANK);

	r->inter_root = root == MPI_ROOT        ? VT_MC_IS_ROOT
		: root == MPI_PROC_NULL         ? VT_MC_BESIDE_ROOT
		: root >= 0 && root < c->remote ? 1 + c->world[root]
						: VT_MC_NO_ROOT;
}

static void fill_record(struct vt_mc_record *r, const struct vt_mc_call *k, const struct vt_mc_object *c)
{
	const char *op = VT_MC_HAS(k, VT_MC_OPERATOR) ? vt_mc_op_name((MPI_Op)VT_MC_WORD(k, VT_MC_OPERATOR)) : NULL;

	memset(r, 0, sizeof(*r));
	memcpy(r->name, k->f->text, k->f->length < sizeof(r->name) ? k->f->length : sizeof(r->name) - 1);
	r->root = VT_MC_HAS(k, VT_MC_ROOT_RANK) && !c->inter ? VT_MC_NUMBER(k, VT_MC_ROOT_RANK) : -1;
	if (op) {
		r->op = (uint64_t)(uintptr_t)op[4] << 16 | (uint64_t)(uintptr_t)op[5] << 8 | (uint64_t)strlen(op);
	}
	r->invalid = k->refused;
	if (c->inter && VT_MC_HAS(k, VT_MC_ROOT_RANK)) {
		fill_inter_root(r, k, c);
	}
	if (!k->refused) {
		r->same = hash_same(k);
		fill_signature(r, k, c);
	}
}

/* Returns the class of the difference, or -1. */
static int compare_records(const struct vt_mc_record *a, const struct vt_mc_record *b)
{
	if (strcmp(a->name, b->name) != 0) {
		return VT_MC_OPERATION;
	}
	if (a->invalid || b->invalid) {
		return -1;
	}
	if (a->root != b->root) {
		return VT_MC_ROOT;
	}
	if (a->op && b->op && a->op != b->op && a->inter_root != VT_MC_BESIDE_ROOT &&
		b->inter_root != VT_MC_BESIDE_ROOT) {
		return VT_MC_REDUCTION;
	}
	if (a->same && b->same && a->same != b->same) {
		return VT_MC_PARAMETER;
	}
	if (a->unfit || b->unfit) {
		return b->unfit ? b->unfit : a->unfit;
	}
	if (a->has_signature && b->has_signature && a->signature.n != b->signature.n) {
		return VT_MC_SIZE;
	}
	if (a->has_signature && b->has_signature && a->signature.hash != b->signature.hash) {
		return VT_MC_COLL_TYPE;
	}
	return -1;
}

/* ---- the meeting ---- */

static void describe_difference(char *lines, size_t size, const struct vt_mc_record *mine,
	const struct vt_mc_record *first, int rank, int class)
{
	if (class == mine->unfit || class == first->unfit) {
		snprintf(lines, size, "in %s what rank %d sends to itself is not what it expects", mine->name,
			mine->unfit ? vt_mc_rank : rank);
		return;
	}
	switch (class) {
	case VT_MC_OPERATION:
		snprintf(lines, size, "rank %d is in %s, rank %d in %s", rank, first->name, vt_mc_rank, mine->name);
		break;
	case VT_MC_PARAMETER:
		snprintf(lines, size,
			"in %s ranks %d and %d give other arguments, which must be the same at all members", mine->name,
			rank, vt_mc_rank);
		break;
	case VT_MC_ROOT:
		if (mine->inter_root) {
			snprintf(lines, size,
				"in %s on an intercommunicator, one rank gives MPI_ROOT, the rest of its group MPI_PROC_NULL, "
				"and the other group the rank of that root: rank %d does not fit to the others",
				mine->name, vt_mc_rank);
			break;
		}
		snprintf(lines, size, "in %s the root is %d at rank %d and %d at rank %d", mine->name, first->root,
			rank, mine->root, vt_mc_rank);
		break;
	case VT_MC_REDUCTION:
		snprintf(lines, size, "in %s ranks %d and %d have different operators", mine->name, rank, vt_mc_rank);
		break;
	case VT_MC_SIZE:
		snprintf(lines, size, "in %s rank %d expects %llu elements of basic types, rank %d %llu", mine->name,
			rank, (unsigned long long)first->signature.n, vt_mc_rank,
			(unsigned long long)mine->signature.n);
		break;
	default:
		snprintf(lines, size, "in %s ranks %d and %d have different datatypes", mine->name, rank, vt_mc_rank);
		break;
	}
}

static void print_both(char *text, size_t size, const struct vt_mc_call *k, const struct vt_mc_record *first, int rank)
{
	struct vt_mc_place here;
	char call[700], frames[1500], other[300];

	vt_mc_here(&here, k);
	vt_mc_print_frames(&here, "\n         ", frames, sizeof(frames));
	snprintf(text, size, "   %s   %s\n   rank %d: %s   %s\n", vt_mc_print_call(k, call, sizeof(call)), frames, rank,
		first->name, vt_mc_print_offset(first->place, other, sizeof(other)));
}

void vt_mc_tell_arrival(struct vt_mc_rank *r, uint64_t comm, uint32_t number)
{
	int i;

	if (r->in_number != number || r->in_comm != comm) {
		return;
	}
	r->all[vt_mc_rank / 64] &= ~(UINT64_C(1) << vt_mc_rank % 64);
	for (i = 0; i < VT_MC_BITS && !r->all[i]; i++) {
	}
	r->state = i == VT_MC_BITS && r->state == VT_MC_BLOCKED ? VT_MC_RUNNING : r->state;
	r->generation++;
}

/* Tells the members who wait. With the lock. */
static void tell_members(const struct vt_mc_object *c, uint32_t number)
{
	int i;

	for (i = 0; i < vt_mc_shared->ranks; i++) {
		if (vt_mc_has_bit(c->members, i) && i != vt_mc_rank) {
			vt_mc_tell_arrival(&vt_mc_shared->rank[i], c->id, number);
			vt_mc_wake(i);
		}
	}
}

/* What is wrong between this member and those who came before. */
struct difference {
	int class; /* -1: nothing */
	int rank;  /* the first */
	int fits;  /* counts of vectors do not fit: `fit` */
	struct vt_mc_record first;
	struct vt_mc_fit fit;
};

/* Does the root of an intercommunicator fit to what came before? */
static int meet_root(struct vt_mc_meeting *m, const struct vt_mc_record *mine)
{
	if (mine->inter_root == VT_MC_IS_ROOT) {
		m->roots++;
		m->root_at = 1 + vt_mc_rank;
	} else if (mine->inter_root > 0) {
		if (m->root_named && m->root_named != mine->inter_root) {
			return 0;
		}
		m->root_named = mine->inter_root;
	}
	return m->roots <= 1 && (!m->root_at || !m->root_named || m->root_at == m->root_named) &&
		(m->arrived + 1 < m->size || (m->root_at && m->root_named));
}

/* With the lock. */
static void meet_others(struct vt_mc_meeting *m, const struct vt_mc_object *c, const struct vt_mc_record *mine,
	const struct vt_mc_fit *fit, struct difference *d)
{
	d->class = -1;
	d->fits = 0;
	if (m->size == 0) {
		m->size = c->inter ? c->size + c->remote : c->size;
		m->first_rank = vt_mc_rank;
		m->first = *mine;
	} else {
		m->first.invalid |= mine->invalid;
		d->class = compare_records(&m->first, mine);
		if (c->inter && d->class < 0 && !m->first.has_signature && mine->has_signature) {
			/* the first one was beside the root, and has none */
			int invalid = m->first.invalid;

			m->first = *mine;
			m->first.invalid |= invalid;
			m->first_rank = vt_mc_rank;
		}
	}
	if (mine->inter_root && !m->first.invalid && d->class < 0 && !meet_root(m, mine)) {
		d->class = VT_MC_ROOT;
	}
	if (fit->used && m->fit.used) {
		vt_mc_fit_add(&m->fit, fit);
	} else if (fit->used) {
		m->fit = *fit;
	}
	if (d->class < 0 && m->arrived + 1 == m->size && !m->bad && !m->first.invalid && m->fit.used) {
		d->class = vt_mc_fit_judge(&m->fit);
		d->class = d->class >= 0 && !strcmp(mine->name, "MPI_Comm_create") ? VT_MC_PARAMETER : d->class;
		d->fits = d->class >= 0;
		d->fit = m->fit;
	}
	if (d->class >= 0) {
		d->first = m->first;
		d->rank = m->first_rank;
	}
}

static void report_difference(struct vt_mc_call *k, const struct vt_mc_object *c, const struct vt_mc_record *mine,
	const struct difference *d, const char *calls)
{
	char line[400], who[100];

	k->refused = 1;
	k->rc = MPI_ERR_OTHER;
	if (d->fits && d->class == VT_MC_PARAMETER) {
		snprintf(line, sizeof(line), "in %s members of one group give different groups", mine->name);
	} else if (d->fits) {
		vt_mc_fit_describe(&d->fit, c, who, sizeof(who));
		snprintf(line, sizeof(line), "in %s %s %s", mine->name, who,
			d->class == VT_MC_SIZE ? "more or fewer elements of basic types than expected there"
					       : "other datatypes than expected there");
	} else {
		describe_difference(line, sizeof(line), mine, &d->first, d->rank, d->class);
	}
	vt_mc_report_lines((enum vt_mc_class)d->class, calls, "%s", line);
}

/* Announces the call. The number is kept in the communicator; 0: it cannot be compared. */
uint32_t vt_mc_meet(struct vt_mc_call *k, struct vt_mc_object *c)
{
	struct difference d = { .class = -1 };
	struct vt_mc_fit fit;
	struct vt_mc_record mine;
	struct vt_mc_meeting *m;
	int64_t root_bytes = 0;
	uint64_t root_sum = 0;
	uint32_t number;
	char text[3000];
	int wanted = 0;

	if (!vt_mc_shared || !c || !c->whole) {
		return 0;
	}
	number = ++c->meetings;
	fit.used = 0;
	vt_mc_lock(); /* types are looked up */
	fill_record(&mine, k, c);
	if (!k->refused) {
		if (k->f->fits) {
			vt_mc_fit_fill(&fit, k, c);
		}
		root_bytes = !c->inter && mine.root == c->rank ? vt_mc_bcast_sum(k, &root_sum) : 0;
	}
	vt_mc_unlock();
	mine.place = vt_mc_place_offset(k, NULL);
	vt_mc_shared_lock();
	m = find_meeting(c->id, number);
	m = m ? m : make_meeting(c->id, number);
	if (m) {
		meet_others(m, c, &mine, &fit, &d);
	}
	if (d.class >= 0 && vt_mc_on((enum vt_mc_class)d.class)) {
		/* the text takes too long for the lock; the others wait for this rank anyway */
		vt_mc_shared_unlock();
		print_both(text, sizeof(text), k, &d.first, d.rank);
		wanted = !vt_mc_suppress((enum vt_mc_class)d.class, text);
		vt_mc_shared_lock();
		m->bad = wanted ? 1 + d.class : m->bad;
	}
	if (m) {
		m->root_bytes = root_bytes ? root_bytes : m->root_bytes;
		m->root_sum = root_bytes ? root_sum : m->root_sum;
		m->by_mpi |= d.class >= 0 || k->refused || k->f->next != (void *)PMPI_Barrier;
		vt_mc_set_bit(m->here, vt_mc_rank);
		__atomic_store_n(&m->arrived, m->arrived + 1, __ATOMIC_RELEASE);
		tell_members(c, number);
	}
	vt_mc_shared_unlock();
	if (wanted) {
		report_difference(k, c, &mine, &d, text);
	}
	if (ran_out == 1) {
		ran_out = 2;
		vt_say(1, "INFO",
			"too many collective operations are under way at a time: from %.*s on, those of its communicator are not compared",
			(int)k->f->length, k->f->text);
	}
	return m ? number : 0;
}

/* Without the lock, since the place is kept until this member leaves. */
int vt_mc_meeting_complete(const struct vt_mc_object *c, uint32_t number)
{
	const struct vt_mc_meeting *m = find_meeting(c->id, number);

	return !m || __atomic_load_n(&m->bad, __ATOMIC_RELAXED) ||
		__atomic_load_n(&m->arrived, __ATOMIC_ACQUIRE) == m->size;
}

int vt_mc_meeting_missing(const struct vt_mc_object *c, uint32_t number, uint64_t *missing)
{
	struct vt_mc_meeting *m;
	int i, rc = 0;

	vt_mc_shared_lock();
	m = find_meeting(c->id, number);
	if (m && m->bad) {
		rc = -1;
	} else if (m && m->arrived < m->size) {
		rc = 1;
		for (i = 0; i < VT_MC_BITS; i++) {
			missing[i] |= c->members[i] & ~m->here[i];
		}
	}
	vt_mc_shared_unlock();
	return rc;
}

/* Without the lock, as above. The last one that leaves gives the place back. */
int vt_mc_meeting_leave(struct vt_mc_call *k, const struct vt_mc_object *c, uint32_t number)
{
	struct vt_mc_meeting *m = find_meeting(c->id, number);
	int fits;

	if (!m) {
		return 1;
	}
	fits = !m->bad && !m->first.invalid;
	if (k && vt_mc_is(k, "Bcast") && VT_MC_NUMBER(k, VT_MC_ROOT_RANK) != c->rank) {
		k->root_bytes = m->root_bytes;
		k->root_sum = m->root_sum;
	}
	if (k && fits && vt_mc_is(k, "Barrier") && !m->by_mpi) {
		/* all have come, and that is all that a barrier does; all members find the same here */
		k->done = 1;
	}
	if (__atomic_add_fetch(&m->left, 1, __ATOMIC_ACQ_REL) == m->size) {
		vt_mc_shared_lock();
		drop_meeting(m);
		vt_mc_shared_unlock();
	}
	return fits;
}

/* At the end: operations that some members began and others never did, although MPI may have ended them. */
void vt_mc_report_meetings(void)
{
	char line[500], place[300];
	struct vt_mc_meeting m;
	int i;

	for (i = 0; i < VT_MC_MEETINGS; i++) {
		vt_mc_shared_lock();
		m = vt_mc_shared->meeting[i];
		vt_mc_shared_unlock();
		if (m.used && m.arrived < m.size && m.first_rank == vt_mc_rank &&
			strcmp(m.first.name, "MPI_Comm_free") && strcmp(m.first.name, "MPI_Comm_disconnect")) {
			snprintf(line, sizeof(line), "   %s   %s\n", m.first.name,
				vt_mc_print_offset(m.first.place, place, sizeof(place)));
			vt_mc_report_lines(VT_MC_OPERATION, line,
				"%d of %d members of the communicator have not called %s", m.size - m.arrived, m.size,
				m.first.name);
		}
	}
}
