/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives each communicator of the job one number in the trace. While recording, the members did not agree on a number,
 * so each file names a communicator by how it was made. All members of the parent create communicators in the same
 * order: then the parent, the number of the creation and the lowest process identify the new one. If only the members
 * of the new communicator took part, then the members, the tag and the number of such creations before identify it. */
#include "config.h"
#include "collector-plugin/merge/definitions/communicators.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"
#include "base/grow.h"
#include "collector-plugin/merge/common/names.h"

/* ---- reading ---- */

static struct vt_merge_comm *place_communicator(struct vt_merge_file *f, uint32_t id)
{
	if (id < f->n_comms) {
		return &f->comms[id];
	}
	/* each communicator has a definition of 56 bytes in the file */
	if (id > vt_raw_file_size(f->raw) / 56) {
		return NULL;
	}
	return TKM_EXTEND(f->comms, f->n_comms, id + 1) < 0 ? NULL : &f->comms[id];
}

static int set_communicator_name(struct vt_merge_comm *c, const char *name)
{
	free(c->name);
	c->name = strdup(name);
	return c->name ? 0 : -1;
}

int vt_merge_see_communicator(struct vt_merge_file *f, const struct vt_raw_def *d)
{
	const struct vt_raw_comm_def *def = &d->communicator;
	struct vt_merge_comm *c = place_communicator(f, d->id);
	struct vt_raw_ranks *p;
	size_t room;

	if (!c) {
		return d->id > vt_raw_file_size(f->raw) / 56 ? 0 : -1;
	}
	if (def->kind == VT_RAW_COMM_RENAMED) {
		return set_communicator_name(c, d->name);
	}
	p = (struct vt_raw_ranks *)(uintptr_t)c->def.ranks;
	room = c->seen;
	if (TKM_GROW(p, room, c->seen + (size_t)d->n + 1) < 0) {
		return -1;
	}
	memcpy(p + c->seen, def->ranks, d->n * sizeof(*p));
	c->seen += d->n;
	c->def = *def;
	c->def.ranks = p;
	return set_communicator_name(c, d->name);
}

/* ---- members ---- */

static uint32_t count_range(const struct vt_raw_ranks *r)
{
	return r->stride ? (uint32_t)((r->last - r->first) / r->stride) + 1 : 1;
}

static uint32_t process_of_rank(const struct vt_merge *m, int32_t rank)
{
	return rank >= 0 && (uint32_t)rank < m->n_processes ? (uint32_t)rank : VT_MERGE_STRANGER;
}

/* Lists the processes of the ranges [from, to). Returns how many; out may be NULL. */
static uint32_t expand_ranges(
	const struct vt_merge *m, const struct vt_merge_comm *c, uint32_t from, uint32_t to, uint32_t *out)
{
	uint32_t n = 0, i, k;

	for (i = from; i < to && i < c->seen; i++) {
		uint32_t many = count_range(&c->def.ranks[i]);

		/* a larger number is from a damaged file */
		many = many <= 1u << 20 ? many : 0;
		for (k = 0; k < many; k++, n++) {
			if (out) {
				out[n] =
					process_of_rank(m, c->def.ranks[i].first + (int32_t)k * c->def.ranks[i].stride);
			}
		}
	}
	return n;
}

static uint32_t lowest(const uint32_t *member, uint32_t n)
{
	uint32_t i, least = UINT32_MAX;

	for (i = 0; i < n; i++) {
		least = member[i] < least ? member[i] : least;
	}
	return least;
}

/* The same members, as the files that define it list them. */
struct known_members {
	struct vt_merge_communicator g;
	uint32_t own, n_own, remote, n_remote, lowest;
	uint64_t hash;
};

/* Lists the members of a communicator as this file defines it, and which of them are its own group. */
static int list_communicator_members(const struct vt_merge *m, struct vt_merge_comm *c, struct vt_merge_communicator *g)
{
	uint32_t own = expand_ranges(m, c, 0, c->def.n_own, NULL),
		 other = expand_ranges(m, c, c->def.n_own, c->seen, NULL);
	uint32_t *p = malloc((own + (size_t)other + 1) * sizeof(*p)), *swapped;

	if (!p) {
		return -1;
	}
	expand_ranges(m, c, 0, c->def.n_own, p);
	expand_ranges(m, c, c->def.n_own, c->seen, p + own);
	*g = (struct vt_merge_communicator){ .member = p, .n = own + other, .left = c->def.inter ? own : 0 };
	c->own = 0;
	c->n_own = own;
	c->remote = c->def.inter ? own : 0;
	c->n_remote = c->def.inter ? other : own;
	if (c->def.inter && lowest(p + own, other) < lowest(p, own)) {
		swapped = malloc((own + (size_t)other + 1) * sizeof(*p));
		if (!swapped) {
			return -1;
		}
		memcpy(swapped, p + own, other * sizeof(*p));
		memcpy(swapped + other, p, own * sizeof(*p));
		free(p);
		g->member = swapped;
		g->left = other;
		c->own = other;
		c->remote = 0;
	}
	return 0;
}

/* The hash of the members, in their order. */
static uint64_t hash_members(const struct vt_merge_communicator *g)
{
	return tkm_fnv(tkm_fnv(TKM_FNV_START, g->member, g->n * sizeof(*g->member)), &g->left, sizeof(g->left));
}

/* Finds the members of a communicator of this file: nearly all files list them in the same ranges, which are expanded once.
 * NULL: no memory. */
static const struct known_members *find_communicator_members(
	const struct vt_merge *m, struct vt_merge_comm *c, struct tkm_table *known)
{
	const size_t size = c->seen * sizeof(*c->def.ranks);
	uint32_t head[2] = { c->def.inter, c->def.n_own };
	char *key = malloc(sizeof(head) + size);
	struct known_members *k;

	if (!key) {
		return NULL;
	}
	memcpy(key, head, sizeof(head));
	if (size) {
		memcpy(key + sizeof(head), c->def.ranks, size);
	}
	k = tkm_table_put(known, key, sizeof(head) + size, sizeof(*k));
	free(key);
	if (k && !k->g.member) {
		if (list_communicator_members(m, c, &k->g) < 0) {
			return NULL;
		}
		k->own = c->own;
		k->n_own = c->n_own;
		k->remote = c->remote;
		k->n_remote = c->n_remote;
		k->lowest = lowest(k->g.member, k->g.n);
		k->hash = hash_members(&k->g);
	} else if (k) {
		c->own = k->own;
		c->n_own = k->n_own;
		c->remote = k->remote;
		c->n_remote = k->n_remote;
	}
	return k;
}

static void free_known_members(struct tkm_table *known)
{
	struct known_members *k = NULL;

	while ((k = tkm_table_next(known, k))) {
		free(k->g.member);
	}
	tkm_table_free(known);
}

/* ---- one number for each ---- */

static const char *communicator_key(const struct vt_merge_file *f, const struct vt_merge_comm *c,
	const struct known_members *k, char *key, size_t size)
{
	const struct vt_merge_comm *parent = c->def.parent ? vt_merge_comm(f, c->def.parent) : NULL;
	uint32_t of = parent ? parent->id : 0;

	switch (c->def.kind) {
	case VT_RAW_COMM_WORLD:
		return "world";
	case VT_RAW_COMM_SELF:
		snprintf(key, size, "self %u", f->process);
		break;
	case VT_RAW_COMM_COLLECTIVE:
		snprintf(key, size, "from %u the %u lowest %u", of, c->def.number, k->lowest);
		break;
	default:
		/* the two groups of an intercommunicator have different parents */
		snprintf(key, size, "group %u tag %d of %u %llx", c->def.inter ? 0 : of, (int)c->def.tag, k->g.n,
			(unsigned long long)k->hash);
	}
	return key;
}

static int add_merged_communicator(struct vt_merge *m, const struct vt_merge_communicator *g, const char *name)
{
	struct vt_merge_communicator own = *g;

	if (TKM_GROW(m->communicator, m->room_communicators, m->n_communicators + 1) < 0) {
		return -1;
	}
	own.name = strdup(name ? name : "");
	own.member = malloc((own.n + (size_t)1) * sizeof(*own.member));
	m->communicator[m->n_communicators++] = own;
	if (!own.name || !own.member) {
		return -1;
	}
	memcpy(own.member, g->member, own.n * sizeof(*own.member));
	return 0;
}

/* The two groups of an intercommunicator may give it different names: "MERGE a" and "MERGE b" become "MERGE a/b". */
static int name_of_both(struct vt_merge_communicator *g, const char *name)
{
	size_t common = 0, size = strlen(g->name) + strlen(name) + 2, i;
	char *both;

	for (i = 0; name[i] && name[i] == g->name[i]; i++) {
		common = name[i] == ' ' ? i + 1 : common;
	}
	both = malloc(size);
	if (!both) {
		return -1;
	}
	snprintf(both, size, "%s/%s", g->name, name + common);
	free(g->name);
	g->name = both;
	return 0;
}

static int has_two_names(const struct vt_merge_comm *c)
{
	static const char merge[] = "MERGE ", between[] = "INTERCOMM_CREATE ";

	return c->name &&
		(!strncmp(c->name, merge, sizeof(merge) - 1) || !strncmp(c->name, between, sizeof(between) - 1));
}

static int number_communicator(struct vt_merge *m, struct vt_merge_file *f, struct vt_merge_comm *c,
	struct tkm_table *times, struct tkm_table *known)
{
	const struct known_members *k = find_communicator_members(m, c, known);
	char buffer[160], numbered[200];
	const char *key;
	struct vt_merge_name *e;
	int rc = 0;

	if (!k) {
		return -1;
	}
	key = communicator_key(f, c, k, buffer, sizeof(buffer));
	if (c->def.kind == VT_RAW_COMM_GROUP) {
		e = vt_merge_name_entry(times, key);
		if (!e) {
			return -1;
		}
		snprintf(numbered, sizeof(numbered), "%s the %u", key, e->id++);
		key = numbered;
	}
	e = vt_merge_name_entry(&m->communicators, key);
	if (e && !e->id) {
		rc = add_merged_communicator(m, &k->g, c->name);
		e->id = m->n_communicators;
	} else if (e && has_two_names(c) && !m->communicator[e->id - 1].both &&
		strcmp(c->name, m->communicator[e->id - 1].name) != 0) {
		rc = name_of_both(&m->communicator[e->id - 1], c->name);
		m->communicator[e->id - 1].both = 1;
	}
	c->id = e ? e->id : 0;
	return e ? rc : -1;
}

/* ---- into the trace ---- */

static int write_merged_communicator(struct vt_merge *m, uint32_t id, const struct vt_merge_communicator *g)
{
	struct stf_communicator_definition d = {
		.id = id, .name = g->name, .size_1_1 = (uint32_t)strlen(g->name), .left_size = (int32_t)g->left
	};
	uint32_t *first = malloc(2 * ((size_t)g->n + 1) * sizeof(*first)), *last = first + g->n + 1, i, n = 0;
	int32_t *stride = malloc(((size_t)g->n + 1) * sizeof(*stride)), step;
	int rc;

	if (!first || !stride) {
		free(first);
		free(stride);
		return -1;
	}
	for (i = 0; i < g->n; i++) {
		uint32_t willy = STF_WILLY(g->member[i], 0);

		step = n ? (int32_t)(willy - last[n - 1]) : 0;
		if (n && i != g->left && step > 0 && (first[n - 1] == last[n - 1] || step == stride[n - 1])) {
			last[n - 1] = willy;
			stride[n - 1] = step;
		} else {
			first[n] = last[n] = willy;
			stride[n++] = 1;
		}
	}
	d.size_2_3 = n;
	d.first_id = first;
	d.last_id = last;
	d.stride = stride;
	rc = stf_write_communicator_definition(m->w, &d);
	free(first);
	free(stride);
	return rc;
}

int vt_merge_write_communicators(struct vt_merge *m)
{
	struct tkm_table known = { 0 };
	uint32_t k;
	size_t i;
	int rc = 0;

	for (i = 0; i < m->n && rc == 0; i++) {
		struct vt_merge_file *f = &m->file[i];
		struct tkm_table times = { 0 };

		for (k = 0; k < f->n_comms && rc == 0; k++) {
			/* if a part of it is missing, its members are unknown */
			if (f->comms[k].def.kind && f->comms[k].seen == f->comms[k].def.n &&
				f->comms[k].def.n_own <= f->comms[k].seen) {
				rc = number_communicator(m, f, &f->comms[k], &times, &known);
			}
		}
		tkm_table_free(&times);
	}
	free_known_members(&known);
	for (k = 0; k < m->n_communicators && rc == 0; k++) {
		rc = write_merged_communicator(m, k + 1, &m->communicator[k]);
	}
	return rc;
}

void vt_merge_communicators_free(struct vt_merge *m)
{
	uint32_t k;
	size_t i;

	for (i = 0; m->file && i < m->n; i++) {
		for (k = 0; k < m->file[i].n_comms; k++) {
			free(m->file[i].comms[k].name);
			free((void *)(uintptr_t)m->file[i].comms[k].def.ranks);
		}
		free(m->file[i].comms);
	}
	for (k = 0; k < m->n_communicators; k++) {
		free(m->communicator[k].name);
		free(m->communicator[k].member);
	}
	free(m->communicator);
	tkm_table_free(&m->communicators);
}
