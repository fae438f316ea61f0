/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits collective operations into lines of VTF, one for each member, and combines such lines. */
#include "config.h"
#include "tools/vtf/vtf_collop.h"

#include <inttypes.h>
#include <search.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *kind;
	unsigned class_id;
	const char *root, *root_bytes; /* fields */
				       /* clang-format off */
} kinds[] = {
	{ "ALL", STF_ID_all_communication, NULL, NULL },
	{ "ALLTOALL", STF_ID_all_to_all_communication, NULL, NULL },
	{ "ALLTOONE", STF_ID_all_to_one_communication, "receiver", "recvd" },
	{ "ONETOALL", STF_ID_one_to_all_communication, "sender", "sent" },
};
/* clang-format on */
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

const char *vtf_collop_kind(unsigned class_id)
{
	int i;

	for (i = 0; i < KINDS && kinds[i].class_id != class_id; i++) {
	}
	return i < KINDS ? kinds[i].kind : NULL;
}

unsigned vtf_collop_class(const char *kind)
{
	int i;

	for (i = 0; i < KINDS && strcmp(kinds[i].kind, kind); i++) {
	}
	return i < KINDS ? kinds[i].class_id : 0;
}

/* ---- members of a communicator: ranges; a damaged one can be almost endless ---- */

static uint64_t range_size(uint32_t first, uint32_t last, int32_t stride)
{
	int64_t way = (int64_t)last - first;

	if (stride == 0 || way == 0) {
		return way == 0;
	}
	return way / stride < 0 ? 0 : (uint64_t)(way / stride) + 1;
}

static uint64_t count_members(const struct stf_communicator_definition *c)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < c->size_2_3; i++) {
		n += range_size(c->first_id[i], c->last_id[i], c->stride[i]);
	}
	return n;
}

/* ---- splitting ---- */

static uint64_t collop_element(const struct stf_record *rec, const char *field, uint32_t i, uint64_t missing)
{
	const struct stf_value *v = stf_value(rec, field);

	if (!v || !v->array || i >= v->count) {
		return missing;
	}
	return !strcmp(field, "start_time") || !strcmp(field, "delta") ? ((const uint64_t *)v->array)[i]
								       : ((const uint32_t *)v->array)[i];
}

/* Computes the shares of the members; returns whether the root is among them. */
static int fill_shares(
	struct vtf_collop *c, const struct stf_record *rec, const struct stf_communicator_definition *comm, int kind)
{
	uint32_t i, k, n = 0, bytes = kinds[kind].root ? (uint32_t)stf_value(rec, kinds[kind].root_bytes)->u : 0;
	uint64_t j, size;
	int found = !kinds[kind].root;

	for (i = 0; i < comm->size_2_3; i++) {
		size = range_size(comm->first_id[i], comm->last_id[i], comm->stride[i]);
		for (j = 0; j < size; j++, n++) {
			struct vtf_share *s = &c->share[n];

			k = (uint32_t)(comm->first_id[i] + (int64_t)j * comm->stride[i]);
			*s = (struct vtf_share){ k, collop_element(rec, "start_time", n, UINT64_MAX),
				collop_element(rec, "delta", n, 0), (uint32_t)collop_element(rec, "send_size", n, 0),
				(uint32_t)collop_element(rec, "receive_size", n, 0),
				(uint32_t)collop_element(rec, "scl", n, 0) };
			if (c->has_root && k == c->root) {
				found = 1;
				*(kinds[kind].class_id == STF_ID_all_to_one_communication ? &s->recvd : &s->sent) =
					bytes;
			}
		}
	}
	return found;
}

int vtf_collop_split(const struct stf_reader *r, const struct stf_record *rec, struct vtf_collop *c)
{
	const struct stf_value *starts = stf_value(rec, "start_time");
	struct stf_communicator_definition comm;
	const struct stf_record *def;
	uint32_t i;
	int kind;

	for (kind = 0; kind < KINDS && kinds[kind].class_id != rec->layout->class_id; kind++) {
	}
	*c = (struct vtf_collop){ .class_id = rec->layout->class_id,
		.has_scl = stf_value(rec, "scl") != NULL,
		.time = rec->time,
		.communicator = (uint32_t)stf_value(rec, "communicator")->u,
		.type = (uint32_t)stf_value(rec, "type")->u,
		.n = starts->count };
	c->has_root = kind < KINDS && kinds[kind].root != NULL;
	c->root = c->has_root ? (uint32_t)stf_value(rec, kinds[kind].root)->u : 0;
	def = stf_reader_find(r, STF_ID_communicator_definition, c->communicator);
	if (kind == KINDS || !def || stf_get_communicator_definition(def, &comm) < 0 || count_members(&comm) != c->n ||
		c->n == 0) {
		return 0;
	}
	c->share = calloc(c->n, sizeof(*c->share));
	if (!c->share) {
		return -1;
	}
	if (!fill_shares(c, rec, &comm, kind)) {
		free(c->share);
		return 0;
	}
	for (i = 0; i < c->n; i++) {
		if (c->share[i].start != UINT64_MAX && c->share[i].start > UINT64_MAX - c->time) {
			free(c->share);
			return 0;
		}
	}
	return 1;
}

/* ---- combining ---- */

/* The lines of an operation that were read so far. An operation with PAIR is found by this number (communicator
 * 0, paired). Other operations are found by their number within the communicator: the k-th line of a member
 * belongs to the k-th operation. */
struct operation {
	int paired;
	uint32_t communicator;
	uint64_t number;
	struct vtf_collop c; /* n: the total number of lines of the operation */
	uint32_t lines, cap;
	uint32_t *place; /* for each line, the index of its member */
	int known_kind, has_bytes;
};

struct communicator {
	uint32_t id;
	struct stf_communicator_definition def;
	uint64_t n;
};

/* The number of operations of a communicator that a member took part in. */
struct seen {
	uint32_t communicator, willy;
	uint64_t n;
};

#define COMPARE(a, b) \
	if ((a) != (b)) { \
		return (a) < (b) ? -1 : 1; \
	}

static int compare_operations(const void *x, const void *y)
{
	const struct operation *a = x, *b = y;

	COMPARE(a->paired, b->paired)
	COMPARE(a->communicator, b->communicator)
	COMPARE(a->number, b->number)
	return 0;
}

static int compare_communicators(const void *x, const void *y)
{
	const struct communicator *a = x, *b = y;

	COMPARE(a->id, b->id)
	return 0;
}

static int compare_seen(const void *x, const void *y)
{
	const struct seen *a = x, *b = y;

	COMPARE(a->communicator, b->communicator)
	COMPARE(a->willy, b->willy)
	return 0;
}

/* Finds the node that equals `key`, of `size` bytes, or makes it from `key`; NULL: no memory. */
static void *node(void **tree, const void *key, size_t size, int (*compare)(const void *, const void *))
{
	void **found = tfind(key, tree, compare), *n;

	if (found) {
		return *found;
	}
	n = malloc(size);
	if (!n) {
		return NULL;
	}
	memcpy(n, key, size);
	if (!tsearch(n, tree, compare)) {
		free(n);
		return NULL;
	}
	return n;
}

static void free_operation(void *p)
{
	struct operation *o = p;

	free(o->c.share);
	free(o->place);
	free(o);
}

static void free_communicator(void *p)
{
	struct communicator *c = p;

	free((void *)c->def.first_id);
	free((void *)c->def.last_id);
	free((void *)c->def.stride);
	free(c);
}

static void *copy_of(const void *p, size_t n)
{
	void *c = malloc(n + 1);

	return c && n ? memcpy(c, p, n) : c;
}

int vtf_collops_communicator(struct vtf_collops *o, const struct stf_record *rec)
{
	struct stf_communicator_definition d;
	struct communicator *c = calloc(1, sizeof(*c)), *kept = NULL;
	size_t n;

	if (!c || stf_get_communicator_definition(rec, &d) < 0) {
		free(c);
		return -1;
	}
	n = d.size_2_3 * sizeof(uint32_t);
	c->id = d.id;
	c->n = count_members(&d);
	c->def.size_2_3 = d.size_2_3;
	c->def.first_id = copy_of(d.first_id, n);
	c->def.last_id = copy_of(d.last_id, n);
	c->def.stride = copy_of(d.stride, n);
	if (c->def.first_id && c->def.last_id && c->def.stride) {
		kept = node(&o->communicators, c, sizeof(*c), compare_communicators);
	}
	/* the writer rejects a second declaration */
	if (!kept || kept->def.first_id != c->def.first_id) {
		free_communicator(c);
	} else {
		free(c);
	}
	return kept ? 0 : -1;
}

static uint64_t place_in_communicator(const struct stf_communicator_definition *d, uint32_t willy)
{
	uint64_t before = 0, size;
	int64_t way;
	uint32_t i;

	for (i = 0; i < d->size_2_3; i++, before += size) {
		size = range_size(d->first_id[i], d->last_id[i], d->stride[i]);
		way = (int64_t)willy - d->first_id[i];
		if (size &&
			(way == 0 ||
				(d->stride[i] && way % d->stride[i] == 0 && way / d->stride[i] > 0 &&
					(uint64_t)(way / d->stride[i]) < size))) {
			return before + (way ? (uint64_t)(way / d->stride[i]) : 0);
		}
	}
	return UINT64_MAX;
}

static int refuse_line(struct vtf_line *l, const char *why)
{
	snprintf(l->why, sizeof(l->why), "%s", why);
	return -1;
}

/* ---- one line ---- */

struct parsed {
	struct vtf_share s; /* start: the line's own time, UINT64_MAX if unknown */
	uint64_t begin;     /* begin of the operation, as far as this line states it */
	uint64_t communicator, type, sent, recvd, scl, pair, member, members;
	uint32_t root;
	unsigned class_id;
	int has_root, has_scl, has_pair, has_bytes;
};

/* The keywords whose value is only a number. */
static const struct {
	const char *key;
	size_t offset;
	uint64_t max;
	/* clang-format off */
} numbers[] = {
	{ "OP", offsetof(struct parsed, type), UINT8_MAX },
	{ "COMM", offsetof(struct parsed, communicator), UINT32_MAX },
	{ "SENT", offsetof(struct parsed, sent), UINT32_MAX },
	{ "RECVD", offsetof(struct parsed, recvd), UINT32_MAX },
	{ "TIME", offsetof(struct parsed, s.delta), UINT64_MAX },
	{ "SCL", offsetof(struct parsed, scl), UINT32_MAX },
	{ "PAIR", offsetof(struct parsed, pair), UINT64_MAX },
	{ "MEMBER", offsetof(struct parsed, member), UINT32_MAX },
	{ "OF", offsetof(struct parsed, members), UINT32_MAX },
};
/* clang-format on */
enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

static int parse_number(struct vtf_line *l, const char *key, const struct vtf_word *w, struct parsed *p)
{
	int k;

	for (k = 0; k < NUMBERS && strcmp(key, numbers[k].key); k++) {
	}
	if (k == NUMBERS) {
		return refuse_line(
			l, "GLOBALOP has CPU, OP, COMM, ROOT, SENT, RECVD, TIME, SCL, START, PAIR, MEMBER, OF, KIND");
	}
	p->has_scl |= !strcmp(key, "SCL");
	p->has_pair |= !strcmp(key, "PAIR");
	p->has_bytes |= !strcmp(key, "SENT") || !strcmp(key, "RECVD");
	return vtf_uint(l, w, numbers[k].max, (uint64_t *)(void *)((char *)p + numbers[k].offset));
}

static int parse_start(struct vtf_line *l, const struct vtf_word *w, struct parsed *p)
{
	uint64_t since;

	if (!strcmp(w->s, "-")) {
		p->s.start = UINT64_MAX;
		return 0;
	}
	if (vtf_uint(l, w, UINT64_MAX, &since) < 0) {
		return -1;
	}
	if (since > p->begin) {
		return refuse_line(l, "START is longer than the time since 0");
	}
	p->begin -= since;
	return 0;
}

static int parse(struct vtf_line *l, uint64_t time, struct parsed *p)
{
	const struct vtf_word *w;
	const char *key;
	int has_cpu = 0, rc = 0;
	size_t i;

	p->s.start = p->begin = time;
	for (i = 2; i < l->n && rc == 0; i += 2) {
		key = l->word[i].s;
		w = &l->word[i + 1];
		if (i + 1 == l->n) {
			return refuse_line(l, "a keyword without a value at the end of the line");
		}
		if (!strcmp(key, "CPU")) {
			has_cpu = 1;
			rc = vtf_cpu(l, w, &p->s.willy);
		} else if (!strcmp(key, "ROOT")) {
			p->has_root = 1;
			rc = vtf_cpu(l, w, &p->root);
		} else if (!strcmp(key, "START")) {
			rc = parse_start(l, w, p);
		} else if (!strcmp(key, "KIND")) {
			p->class_id = vtf_collop_class(w->s);
			rc = p->class_id ? 0 : refuse_line(l, "KIND is ALL, ALLTOALL, ALLTOONE or ONETOALL");
		} else {
			rc = parse_number(l, key, w, p);
		}
	}
	p->s.sent = (uint32_t)p->sent;
	p->s.recvd = (uint32_t)p->recvd;
	p->s.scl = (uint32_t)p->scl;
	if (rc == 0 && !has_cpu) {
		return refuse_line(l, "GLOBALOP without CPU");
	}
	if (rc == 0 && p->has_pair && (!p->class_id || p->member < 1 || p->member > p->members)) {
		return refuse_line(l, "with PAIR go KIND and MEMBER, from 1, OF how many");
	}
	return rc;
}

/* For a line without PAIR: finds the operation of the communicator, and the member. */
static int find_by_order(struct vtf_collops *o, struct vtf_line *l, struct parsed *p, uint64_t *number)
{
	struct communicator key = { .id = (uint32_t)p->communicator },
			    **c = tfind(&key, &o->communicators, compare_communicators);
	struct seen new = { (uint32_t)p->communicator, p->s.willy, 0 }, *s;
	uint64_t place;

	if (!c || (*c)->n > UINT32_MAX) {
		return refuse_line(l, "GLOBALOP without PAIR, and no DEFCOMM before it that names the members");
	}
	place = place_in_communicator(&(*c)->def, p->s.willy);
	if (place == UINT64_MAX) {
		return refuse_line(l, "GLOBALOP of a CPU that is not in the communicator");
	}
	s = node(&o->seen, &new, sizeof(new), compare_seen);
	if (!s) {
		return refuse_line(l, "out of memory");
	}
	p->member = place + 1;
	p->members = (*c)->n;
	*number = s->n++;
	return 0;
}

static int add_share(struct operation *op, const struct parsed *p)
{
	uint32_t cap = op->cap ? 2 * op->cap : 4, *place;
	struct vtf_share *s;

	if (op->lines == op->cap) {
		s = realloc(op->c.share, cap * sizeof(*s));
		op->c.share = s ? s : op->c.share;
		place = realloc(op->place, cap * sizeof(*place));
		op->place = place ? place : op->place;
		if (!s || !place) {
			return -1;
		}
		op->cap = cap;
	}
	op->place[op->lines] = (uint32_t)(p->member - 1);
	op->c.share[op->lines++] = p->s;
	return 0;
}

/* Guesses the class, if no line states it: rooted operations have a ROOT, and bytes that all members except
 * the root send or receive. */
static unsigned guess_class(const struct operation *op)
{
	uint32_t i;

	if (!op->c.has_root) {
		return op->has_bytes ? STF_ID_all_to_all_communication : STF_ID_all_communication;
	}
	for (i = 0; i < op->lines; i++) {
		if (op->c.share[i].willy != op->c.root && op->c.share[i].sent) {
			return STF_ID_all_to_one_communication;
		}
	}
	return STF_ID_one_to_all_communication;
}

/* ---- writing ---- */

/* Sorts the lines by member; each member must occur once. */
static struct vtf_share *in_order(const struct operation *op)
{
	struct vtf_share *s = calloc(op->lines, sizeof(*s));
	char *there = calloc(op->lines, 1);
	uint32_t i;

	for (i = 0; s && there && i < op->lines && !there[op->place[i]]; i++) {
		there[op->place[i]] = 1;
		s[op->place[i]] = op->c.share[i];
	}
	free(there);
	if (i < op->lines) {
		free(s);
		s = NULL;
	}
	return s;
}

static uint64_t root_bytes(const struct vtf_collop *c, const struct vtf_share *s, int received)
{
	uint32_t i;

	for (i = 0; i < c->n; i++) {
		if (s[i].willy == c->root) {
			return received ? s[i].recvd : s[i].sent;
		}
	}
	return 0;
}

static int put_array(
	struct stf_value *v, const struct stf_field *f, const struct vtf_collop *c, const struct vtf_share *s)
{
	int wide = f->type == STF_U8;
	uint32_t i, u;
	uint64_t u8;
	char *p = malloc((size_t)c->n * 8);

	v->array = p;
	v->count = c->n;
	for (i = 0; p && i < c->n; i++) {
		u8 = strcmp(f->name, "start_time") ? s[i].delta
			: s[i].start == UINT64_MAX ? UINT64_MAX
						   : s[i].start - c->time;
		u = !strcmp(f->name, "send_size") ? s[i].sent : !strcmp(f->name, "scl") ? s[i].scl : s[i].recvd;
		memcpy(p + (size_t)i * (wide ? 8 : 4), wide ? (void *)&u8 : (void *)&u, wide ? 8 : 4);
	}
	return p ? 0 : -1;
}

static int write_operation(struct operation *op, struct stf_writer *w, char *why, size_t size)
{
	/* the incarnation with source locations follows the one without */
	const struct stf_layout *l = stf_layout(op->c.class_id + (op->c.has_scl != 0));
	struct vtf_share *s = in_order(op);
	struct stf_value v[24] = { { 0 } };
	struct stf_record rec = { .layout = l, .values = v, .time = op->c.time };
	int rc = s ? 0 : -1, i;

	snprintf(why, size, s ? "out of memory" : "a member's GLOBALOP line occurs twice, or out of memory");
	op->c.n = op->lines;
	for (i = 0; i < l->n_fields && rc == 0; i++) {
		const struct stf_field *f = &l->fields[i];

		if (f->is_array) {
			rc = put_array(&v[i], f, &op->c, s);
		} else if (f->is_size) {
			v[i].u = op->c.n;
		} else if (f->is_time) {
			v[i].u = op->c.time;
		} else if (f->type == STF_WILLYID) {
			v[i].u = op->c.root;
		} else if (!strcmp(f->name, "communicator")) {
			v[i].u = op->c.communicator;
		} else if (!strcmp(f->name, "type")) {
			v[i].u = op->c.type;
		} else {
			v[i].u = root_bytes(&op->c, s, !strcmp(f->name, "recvd"));
		}
	}
	if (rc == 0 && stf_write_record(w, &rec) < 0) {
		snprintf(why, size, "%s", stf_writer_error(w)->text);
		rc = -1;
	}
	for (i = 0; i < l->n_fields; i++) {
		free(l->fields[i].is_array ? (void *)v[i].array : NULL);
	}
	free(s);
	return rc;
}

static int write_and_free(struct vtf_collops *o, struct operation *op, struct stf_writer *w, char *why, size_t size)
{
	int rc = write_operation(op, w, why, size);

	tdelete(op, &o->operations, compare_operations);
	free_operation(op);
	return rc;
}

/* Writes operations with PAIR in the order of their numbers, which begin with 1. */
static int write_complete(struct vtf_collops *o, struct operation *op, struct stf_writer *w, char *why, size_t size)
{
	struct operation key = { .paired = 1 }, **p;

	if (op->lines < op->c.n) {
		return 0;
	}
	if (!op->paired) {
		return write_and_free(o, op, w, why, size);
	}
	for (;;) {
		key.number = o->next + 1;
		p = tfind(&key, &o->operations, compare_operations);
		if (!p || (*p)->lines < (*p)->c.n) {
			return 0;
		}
		o->next++;
		if (write_and_free(o, *p, w, why, size) < 0) {
			return -1;
		}
	}
}

/* The first line of an operation sets the values that all lines have in common; the others must agree. */
static int begin_or_agree(struct operation *op, const struct parsed *p)
{
	if (!op->lines) {
		op->known_kind = p->class_id != 0;
		op->c = (struct vtf_collop){ .class_id = p->class_id,
			.has_root = p->has_root,
			.time = p->begin,
			.root = p->root,
			.communicator = (uint32_t)p->communicator,
			.type = (uint32_t)p->type,
			.n = (uint32_t)p->members };
	}
	if (!p->has_pair && p->begin < op->c.time) {
		op->c.time = p->begin;
	}
	op->c.has_scl |= p->has_scl;
	op->has_bytes |= p->has_bytes;
	return op->c.communicator == p->communicator && op->c.type == p->type && op->c.n == p->members &&
		op->c.root == p->root && (!p->has_pair || (op->c.time == p->begin && op->c.class_id == p->class_id));
}

int vtf_collops_line(struct vtf_collops *o, struct vtf_line *l, uint64_t time, struct stf_writer *w)
{
	struct parsed p = { 0 };
	struct operation key = { 0 }, *op;

	if (parse(l, time, &p) < 0 || (!p.has_pair && find_by_order(o, l, &p, &key.number) < 0)) {
		return -1;
	}
	key.paired = p.has_pair;
	key.communicator = p.has_pair ? 0 : (uint32_t)p.communicator;
	key.number = p.has_pair ? p.pair : key.number;
	op = node(&o->operations, &key, sizeof(key), compare_operations);
	if (!op) {
		return refuse_line(l, "out of memory");
	}
	if (!begin_or_agree(op, &p)) {
		return refuse_line(l, "GLOBALOP differs from the other lines of its operation");
	}
	if (add_share(op, &p) < 0) {
		return refuse_line(l, "out of memory");
	}
	if (!op->known_kind) {
		op->c.class_id = guess_class(op);
	}
	return write_complete(o, op, w, l->why, sizeof(l->why));
}

/* Writes all operations that are left, in their order. */
struct list {
	struct operation **op;
	size_t n, cap;
	int failed;
};

static void collect(const void *nodep, VISIT which, void *closure)
{
	struct list *l = closure;
	size_t cap = l->cap ? 2 * l->cap : 16;
	struct operation **p = l->op;

	if (which != postorder && which != leaf) {
		return;
	}
	if (l->n == l->cap) {
		p = realloc(l->op, cap * sizeof(*p));
		l->failed |= !p;
		l->op = p ? p : l->op;
		l->cap = p ? cap : l->cap;
	}
	if (p) {
		l->op[l->n++] = *(struct operation *const *)nodep;
	}
}

int vtf_collops_end(struct vtf_collops *o, struct stf_writer *w, char *why, size_t size)
{
	struct list l = { 0 };
	int rc = 0;
	size_t i;

	twalk_r(o->operations, collect, &l);
	if (l.failed) {
		snprintf(why, size, "out of memory");
		rc = -1;
	}
	for (i = 0; i < l.n && rc == 0; i++) {
		const struct operation *op = l.op[i];

		if (op->lines < op->c.n) {
			snprintf(why, size, "%s %" PRIu64 " has %" PRIu32 " of %" PRIu32 " GLOBALOP lines",
				op->paired ? "the collective operation of PAIR"
					   : "collective operation, counted from 0,",
				op->number, op->lines, op->c.n);
			rc = -1;
		} else {
			rc = write_and_free(o, l.op[i], w, why, size);
		}
	}
	free(l.op);
	return rc;
}

void vtf_collops_free(struct vtf_collops *o)
{
	tdestroy(o->operations, free_operation);
	tdestroy(o->communicators, free_communicator);
	tdestroy(o->seen, free);
	memset(o, 0, sizeof(*o));
}
