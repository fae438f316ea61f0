/* SPDX-License-Identifier: BSD-3-Clause */
/* Which basic types a datatype consists of, and which bytes, found with the calls that decode it. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 512, DEEPEST = 12 };
#define POWER UINT64_C(0x9e3779b97f4a7c15)

struct vt_mc_signature vt_mc_join(struct vt_mc_signature a, struct vt_mc_signature b)
{
	return (struct vt_mc_signature){ a.hash + a.power * b.hash, a.power * b.power, a.n + b.n };
}

struct vt_mc_signature vt_mc_repeat(struct vt_mc_signature one, uint64_t times)
{
	struct vt_mc_signature all = { 0, 1, 0 };

	for (; times; times >>= 1) {
		all = times & 1 ? vt_mc_join(all, one) : all;
		one = vt_mc_join(one, one);
	}
	return all;
}

/* ---- basic types ---- */

enum family { SIGNED = 1, UNSIGNED, REAL, COMPLEX, CHARACTER, LOGICAL, BYTE, PAIR, OTHER };

/* Types that C and Fortran, or two names in C, have for the same values count as one. */
static enum family family_of(MPI_Datatype t)
{
	const struct {
		MPI_Datatype type;
		enum family family;
	} basic[] = { { MPI_CHAR, CHARACTER }, { MPI_CHARACTER, CHARACTER }, { MPI_SIGNED_CHAR, SIGNED },
		{ MPI_SHORT, SIGNED }, { MPI_INT, SIGNED }, { MPI_LONG, SIGNED }, { MPI_LONG_LONG, SIGNED },
		{ MPI_INT8_T, SIGNED }, { MPI_INT16_T, SIGNED }, { MPI_INT32_T, SIGNED }, { MPI_INT64_T, SIGNED },
		{ MPI_INTEGER, SIGNED }, { MPI_AINT, SIGNED }, { MPI_OFFSET, SIGNED }, { MPI_COUNT, SIGNED },
		{ MPI_UNSIGNED_CHAR, UNSIGNED }, { MPI_UNSIGNED_SHORT, UNSIGNED }, { MPI_UNSIGNED, UNSIGNED },
		{ MPI_UNSIGNED_LONG, UNSIGNED }, { MPI_UNSIGNED_LONG_LONG, UNSIGNED }, { MPI_UINT8_T, UNSIGNED },
		{ MPI_UINT16_T, UNSIGNED }, { MPI_UINT32_T, UNSIGNED }, { MPI_UINT64_T, UNSIGNED }, { MPI_FLOAT, REAL },
		{ MPI_DOUBLE, REAL }, { MPI_LONG_DOUBLE, REAL }, { MPI_REAL, REAL }, { MPI_DOUBLE_PRECISION, REAL },
		{ MPI_C_FLOAT_COMPLEX, COMPLEX }, { MPI_C_DOUBLE_COMPLEX, COMPLEX }, { MPI_COMPLEX, COMPLEX },
		{ MPI_DOUBLE_COMPLEX, COMPLEX }, { MPI_C_BOOL, LOGICAL }, { MPI_LOGICAL, LOGICAL }, { MPI_BYTE, BYTE },
		{ MPI_FLOAT_INT, PAIR }, { MPI_DOUBLE_INT, PAIR }, { MPI_LONG_INT, PAIR }, { MPI_2INT, PAIR },
		{ MPI_SHORT_INT, PAIR }, { MPI_LONG_DOUBLE_INT, PAIR }, { MPI_2INTEGER, PAIR }, { MPI_2REAL, PAIR },
		{ MPI_2DOUBLE_PRECISION, PAIR }, { MPI_INTEGER1, SIGNED }, { MPI_INTEGER2, SIGNED },
		{ MPI_INTEGER4, SIGNED }, { MPI_INTEGER8, SIGNED }, { MPI_REAL4, REAL }, { MPI_REAL8, REAL },
		{ MPI_REAL16, REAL }, { MPI_COMPLEX8, COMPLEX }, { MPI_COMPLEX16, COMPLEX },
		{ MPI_COMPLEX32, COMPLEX } };
	size_t i;

	for (i = 0; i < sizeof(basic) / sizeof(basic[0]); i++) {
		if (basic[i].type == t) {
			return basic[i].family;
		}
	}
	return OTHER;
}

static struct vt_mc_signature family_signature(enum family f, uint64_t what)
{
	uint64_t h = (((uint64_t)f << 32 | what) + 1) * UINT64_C(0xff51afd7ed558ccd);

	return (struct vt_mc_signature){ h ^ h >> 31, POWER, 1 };
}

/* The pairs of MPI_MINLOC are defined as structures of two basic types. */
static struct vt_mc_signature pair_signature(MPI_Datatype t)
{
	const struct {
		MPI_Datatype type;
		enum family first;
		size_t size, second;
	} pairs[] = { { MPI_FLOAT_INT, REAL, sizeof(float), 0 }, { MPI_DOUBLE_INT, REAL, sizeof(double), 0 },
		{ MPI_LONG_INT, SIGNED, sizeof(long), 0 }, { MPI_2INT, SIGNED, sizeof(int), 0 },
		{ MPI_SHORT_INT, SIGNED, sizeof(short), 0 }, { MPI_LONG_DOUBLE_INT, REAL, sizeof(long double), 0 },
		{ MPI_2INTEGER, SIGNED, sizeof(MPI_Fint), sizeof(MPI_Fint) }, { MPI_2REAL, REAL, 0, 1 },
		{ MPI_2DOUBLE_PRECISION, REAL, 0, 1 } };
	size_t i = 0;
	int size = 0;

	while (pairs[i].type != t) {
		i++;
	}
	PMPI_Type_size(t, &size);
	return vt_mc_join(family_signature(pairs[i].first, pairs[i].size ? pairs[i].size : (uint64_t)size / 2),
		pairs[i].second == 1 ? family_signature(pairs[i].first, (uint64_t)size / 2)
				     : family_signature(SIGNED, pairs[i].second ? pairs[i].second : sizeof(int)));
}

/* Handles may be addresses, which differ from rank to rank, so other types are told apart by their names. */
static struct vt_mc_signature basic_signature(MPI_Datatype t)
{
	enum family f = family_of(t);
	char name[MPI_MAX_OBJECT_NAME + 1] = "";
	uint64_t what = 0;
	int size = 0, n, i;

	if (f == PAIR) {
		return pair_signature(t);
	}
	PMPI_Type_size(t, &size);
	if (f != OTHER) {
		return family_signature(f, (uint64_t)size);
	}
	PMPI_Type_get_name(t, name, &n);
	for (i = 0; name[i]; i++) {
		what = what * 31 + (unsigned char)name[i];
	}
	return family_signature(f, what);
}

/* ---- derived types ---- */

/* What a walk through a type collects. */
struct walk {
	struct vt_mc_signature signature;
	uint64_t alike; /* 0: none so far; 1: several */
	struct vt_mc_block block[BLOCKS];
	int n;       /* -1: too many */
	int unknown; /* a combiner that is not decoded */
};

static void add_block(struct walk *w, int64_t from, int64_t to)
{
	if (w->n > 0 && w->block[w->n - 1].to == from) {
		w->block[w->n - 1].to = to;
	} else if (w->n >= 0 && w->n < BLOCKS) {
		w->block[w->n++] = (struct vt_mc_block){ from, to };
	} else {
		w->n = -1;
	}
}

static void walk_type(struct walk *w, MPI_Datatype t, int64_t at, int depth);

/* Was one block added, these bytes and in their order? n and last: the blocks before. */
static int added_one(const struct walk *w, int n, struct vt_mc_block last, int64_t from, int64_t to)
{
	const struct vt_mc_block *b = w->n > 0 ? &w->block[w->n - 1] : NULL;

	return b && b->to == to && ((w->n == n + 1 && b->from == from) || (w->n == n && last.to == from));
}

/* `times` elements of t, one after another. A long run of a type without holes, whose bytes are in their order, is one block. */
static void walk_run(struct walk *w, MPI_Datatype t, int64_t at, int64_t times, int depth)
{
	MPI_Aint lb, extent, true_lb, true_extent;
	struct vt_mc_signature before = w->signature;
	int64_t i;
	int size, n = w->n;

	PMPI_Type_get_extent(t, &lb, &extent);
	PMPI_Type_get_true_extent(t, &true_lb, &true_extent);
	PMPI_Type_size(t, &size);
	if (times <= 0) {
		return;
	}
	if (times > 4 && size == true_extent && size == extent) {
		/* the signature of one, repeated, and one block */
		struct vt_mc_block last = n > 0 ? w->block[n - 1] : (struct vt_mc_block){ 0, 0 };
		struct vt_mc_signature one;
		int dense;

		w->signature = (struct vt_mc_signature){ 0, 1, 0 };
		walk_type(w, t, at, depth + 1);
		one = w->signature;
		dense = n < 0 || added_one(w, n, last, at + true_lb, at + true_lb + size);
		w->n = n;
		if (n > 0) {
			w->block[n - 1] = last;
		}
		if (dense) {
			w->signature = vt_mc_join(before, vt_mc_repeat(one, (uint64_t)times));
			add_block(w, at + true_lb, at + true_lb + times * size);
			return;
		}
		w->signature = before;
	}
	for (i = 0; i < times && !w->unknown; i++) {
		if (i > 100000) {
			w->unknown = 1;
		}
		walk_type(w, t, at + i * extent, depth + 1);
	}
}

static void walk_subarray(struct walk *w, const int *v, MPI_Datatype t, int64_t at, int depth)
{
	int n = v[0], i, order = v[3 * n + 1], place[16] = { 0 };
	const int *sizes = v + 1, *sub = sizes + n, *start = sub + n;
	MPI_Aint lb, extent;
	int64_t offset, stride;

	if (n > 16 || depth > DEEPEST) {
		w->unknown = 1;
		return;
	}
	PMPI_Type_get_extent(t, &lb, &extent);
	for (;;) {
		offset = 0;
		stride = 1;
		for (i = 0; i < n; i++) {
			int d = order == MPI_ORDER_C ? n - 1 - i : i;

			offset += stride * (start[d] + place[d]);
			stride *= sizes[d];
		}
		i = order == MPI_ORDER_C ? n - 1 : 0;
		walk_run(w, t, at + offset * extent, sub[i], depth);
		/* the next row */
		for (i = 1; i < n; i++) {
			int d = order == MPI_ORDER_C ? n - 1 - i : i;

			if (++place[d] < sub[d]) {
				break;
			}
			place[d] = 0;
		}
		if (i >= n || w->unknown) {
			return;
		}
	}
}

static void walk_indexed(
	struct walk *w, int combiner, const int *v, const MPI_Aint *a, const MPI_Datatype *t, int64_t at, int depth)
{
	MPI_Aint lb, extent;
	int i;

	PMPI_Type_get_extent(t[0], &lb, &extent);
	for (i = 0; i < v[0] && !w->unknown; i++) {
		switch (combiner) {
		case MPI_COMBINER_INDEXED:
			walk_run(w, t[0], at + v[1 + v[0] + i] * (int64_t)extent, v[1 + i], depth);
			break;
		case MPI_COMBINER_HINDEXED:
			walk_run(w, t[0], at + a[i], v[1 + i], depth);
			break;
		case MPI_COMBINER_INDEXED_BLOCK:
			walk_run(w, t[0], at + v[2 + i] * (int64_t)extent, v[1], depth);
			break;
		case MPI_COMBINER_HINDEXED_BLOCK:
			walk_run(w, t[0], at + a[i], v[1], depth);
			break;
		case MPI_COMBINER_STRUCT:
			walk_run(w, t[i], at + a[i], v[1 + i], depth);
			break;
		case MPI_COMBINER_VECTOR:
			walk_run(w, t[0], at + i * (int64_t)v[2] * extent, v[1], depth);
			break;
		default: /* MPI_COMBINER_HVECTOR */
			walk_run(w, t[0], at + i * (int64_t)a[0], v[1], depth);
			break;
		}
	}
}

static void walk_contents(
	struct walk *w, int combiner, const int *v, const MPI_Aint *a, const MPI_Datatype *t, int64_t at, int depth)
{
	switch (combiner) {
	case MPI_COMBINER_DUP:
	case MPI_COMBINER_RESIZED:
		walk_type(w, t[0], at, depth + 1);
		break;
	case MPI_COMBINER_CONTIGUOUS:
		walk_run(w, t[0], at, v[0], depth);
		break;
	case MPI_COMBINER_SUBARRAY:
		walk_subarray(w, v, t[0], at, depth);
		break;
	case MPI_COMBINER_VECTOR:
	case MPI_COMBINER_HVECTOR:
	case MPI_COMBINER_INDEXED:
	case MPI_COMBINER_HINDEXED:
	case MPI_COMBINER_INDEXED_BLOCK:
	case MPI_COMBINER_HINDEXED_BLOCK:
	case MPI_COMBINER_STRUCT:
		walk_indexed(w, combiner, v, a, t, at, depth);
		break;
	default:
		w->unknown = 1;
		break;
	}
}

static void free_types(MPI_Datatype *t, int n)
{
	int i, ni, na, nd, combiner;

	for (i = 0; i < n; i++) {
		if (PMPI_Type_get_envelope(t[i], &ni, &na, &nd, &combiner) == MPI_SUCCESS &&
			combiner != MPI_COMBINER_NAMED && combiner != MPI_COMBINER_F90_REAL &&
			combiner != MPI_COMBINER_F90_INTEGER && combiner != MPI_COMBINER_F90_COMPLEX) {
			PMPI_Type_free(&t[i]);
		}
	}
}

static void walk_type(struct walk *w, MPI_Datatype t, int64_t at, int depth)
{
	int ni, na, nd, combiner, size;
	struct vt_mc_signature one;
	MPI_Datatype *types;
	MPI_Aint *a;
	int *v;

	if (PMPI_Type_get_envelope(t, &ni, &na, &nd, &combiner) != MPI_SUCCESS || depth > DEEPEST) {
		w->unknown = 1;
		return;
	}
	if (combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
		combiner == MPI_COMBINER_F90_INTEGER || combiner == MPI_COMBINER_F90_COMPLEX) {
		one = basic_signature(t);
		w->signature = vt_mc_join(w->signature, one);
		w->alike = one.n == 1 && (w->alike == 0 || w->alike == one.hash) ? one.hash : 1;
		PMPI_Type_size(t, &size);
		add_block(w, at, at + size);
		return;
	}
	v = calloc((size_t)ni + 1, sizeof(*v));
	a = calloc((size_t)na + 1, sizeof(*a));
	types = calloc((size_t)nd + 1, sizeof(MPI_Datatype));
	if (v && a && types && PMPI_Type_get_contents(t, ni, na, nd, v, a, types) == MPI_SUCCESS) {
		walk_contents(w, combiner, v, a, types, at, depth);
		free_types(types, nd);
	} else {
		w->unknown = 1;
	}
	free(v);
	free(a);
	free(types);
}

int vt_mc_compare_blocks(const void *a, const void *b)
{
	const struct vt_mc_block *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static int has_doubled(const struct vt_mc_object *o)
{
	struct vt_mc_block *sorted = malloc((size_t)o->n_blocks * sizeof(*sorted) + 1);
	int i, found = 0;

	if (sorted && o->n_blocks > 1) {
		memcpy(sorted, o->block, (size_t)o->n_blocks * sizeof(*sorted));
		qsort(sorted, (size_t)o->n_blocks, sizeof(*sorted), vt_mc_compare_blocks);
		for (i = 1; i < o->n_blocks; i++) {
			found |= sorted[i].from < sorted[i - 1].to;
		}
	}
	free(sorted);
	return found;
}

void vt_mc_type_learn(struct vt_mc_object *o)
{
	static struct walk w; /* with vt_mc_lock() */
	MPI_Datatype t = (MPI_Datatype)o->handle;
	MPI_Aint lb, extent, true_lb, true_extent;
	int size = 0;

	o->known = 1;
	PMPI_Type_get_extent(t, &lb, &extent);
	PMPI_Type_get_true_extent(t, &true_lb, &true_extent);
	PMPI_Type_size(t, &size);
	o->extent = extent;
	o->true_lb = true_lb;
	o->true_extent = true_extent;
	o->bytes = size;
	memset(&w, 0, sizeof(w));
	w.signature.power = 1;
	walk_type(&w, t, 0, 0);
	o->signature = w.unknown || t == MPI_PACKED ? (struct vt_mc_signature){ 0 } : w.signature;
	o->alike = w.alike == 1 ? 0 : w.alike;
	if (!w.unknown && w.n > 0) {
		o->block = calloc((size_t)w.n, sizeof(*o->block));
		o->n_blocks = o->block ? w.n : 0;
		if (o->block) {
			memcpy(o->block, w.block, (size_t)w.n * sizeof(*o->block));
			o->doubled = has_doubled(o);
		}
	}
}

int vt_mc_prefix(const struct vt_mc_object *o, uint64_t n, struct vt_mc_signature *out)
{
	uint64_t each = o->signature.n;

	if (each && n % each == 0) {
		*out = vt_mc_repeat(o->signature, n / each);
		return 1;
	}
	if (o->alike) {
		*out = vt_mc_repeat((struct vt_mc_signature){ o->alike, POWER, 1 }, n);
		return 1;
	}
	return 0;
}

/* ---- operators ---- */

static const struct {
	const char *name;
	unsigned families; /* 1 << family that it may have */
} operators[] = { { "MPI_MAX", 1 << SIGNED | 1 << UNSIGNED | 1 << REAL },
	{ "MPI_MIN", 1 << SIGNED | 1 << UNSIGNED | 1 << REAL },
	{ "MPI_SUM", 1 << SIGNED | 1 << UNSIGNED | 1 << REAL | 1 << COMPLEX },
	{ "MPI_PROD", 1 << SIGNED | 1 << UNSIGNED | 1 << REAL | 1 << COMPLEX },
	{ "MPI_LAND", 1 << SIGNED | 1 << UNSIGNED | 1 << LOGICAL },
	{ "MPI_BAND", 1 << SIGNED | 1 << UNSIGNED | 1 << BYTE },
	{ "MPI_LOR", 1 << SIGNED | 1 << UNSIGNED | 1 << LOGICAL },
	{ "MPI_BOR", 1 << SIGNED | 1 << UNSIGNED | 1 << BYTE },
	{ "MPI_LXOR", 1 << SIGNED | 1 << UNSIGNED | 1 << LOGICAL },
	{ "MPI_BXOR", 1 << SIGNED | 1 << UNSIGNED | 1 << BYTE }, { "MPI_MAXLOC", 1 << PAIR },
	{ "MPI_MINLOC", 1 << PAIR }, { "MPI_REPLACE", ~0u }, { "MPI_NO_OP", ~0u } };

static int find_operator(MPI_Op op)
{
	const MPI_Op all[] = { MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR,
		MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP };
	int i, n = (int)(sizeof(all) / sizeof(all[0]));

	for (i = 0; i < n && all[i] != op; i++) {
	}
	return i < n ? i : -1;
}

const char *vt_mc_op_name(MPI_Op op)
{
	int i = find_operator(op);

	return i < 0 ? NULL : operators[i].name;
}

int vt_mc_op_fits(MPI_Op op, MPI_Datatype type)
{
	int i = find_operator(op);
	enum family f = family_of(type);

	/* types of Fortran and others that are not listed above are left to MPI */
	return i < 0 || f == OTHER || (operators[i].families >> f & 1);
}
