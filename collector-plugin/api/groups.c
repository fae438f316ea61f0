/* SPDX-License-Identifier: BSD-3-Clause */
/* Ids of processes and threads, and groups of them (Intel Trace Collector guide, section 3.1.7). The value of an id
 * shows what it means: 0x6000rrrr is process rrrr, 0x2tttrrrr is thread ttt of process rrrr, 0x40000000 and up are
 * the predefined groups, and small numbers are the program's groups. */
#include "config.h"
#include "collector-plugin/core/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "include/VT.h"
#include "collector-plugin/api/private.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/names.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/trace/world.h"

#define KIND(id) (0x60000000u & (unsigned)(id))
enum { KIND_GROUP = 0, KIND_THREAD = 0x20000000, KIND_FIXED = 0x40000000, KIND_PROCESS = 0x60000000 };
enum { MAX_THREAD_IN_ID = 0x1fff, FIRST_GROUP = 16, MAX_GROUPS = 0x7fff - FIRST_GROUP };

struct group {
	int n;
	int member[];
};

static struct vt_names groups;
static struct group *_Atomic group_of[MAX_GROUPS];

VT_ErrorCode VT_getprocid(int procindex, int *procid)
{
	VT_ErrorCode rc = vt_self();

	if (rc != VT_OK) {
		return rc;
	}
	if (procindex < 0 || procindex >= vt_world_size(vt_tls.collect)) {
		return VT_ERR_BADARG;
	}
	if (procid) {
		*procid = KIND_PROCESS | procindex;
	}
	return VT_OK;
}

VT_ErrorCode VT_getthreadid(int procindex, int thindex, int *threadid)
{
	VT_ErrorCode rc = vt_self();

	if (rc != VT_OK) {
		return rc;
	}
	if (procindex < 0 || procindex >= vt_world_size(vt_tls.collect) || thindex < 0 || thindex > MAX_THREAD_IN_ID) {
		return VT_ERR_BADARG;
	}
	if (threadid) {
		*threadid = KIND_THREAD | thindex << 16 | procindex;
	}
	return VT_OK;
}

static int is_group(int id)
{
	return id >= 1 && (uint32_t)id <= vt_names_count(&groups) && atomic_load(&group_of[id - 1]);
}

/* Is this id one of a possible member of a group? */
static int is_member(const struct vt_collect *c, int id)
{
	switch (KIND(id)) {
	case KIND_THREAD:
	case KIND_PROCESS:
		return (id & 0xffff) < vt_world_size(c);
	case KIND_FIXED:
		return id >= VT_ME && id <= VT_GROUP_CLUSTER;
	default:
		return id > 0 && is_group(id);
	}
}

/* The member as the raw file stores it. */
static uint32_t raw_member(const struct vt_collect *c, int id)
{
	int rank = id & 0xffff, thread = id >> 16 & MAX_THREAD_IN_ID;

	switch (KIND(id)) {
	case KIND_THREAD:
		return rank == vt_world_rank(c) ? (uint32_t)thread : VT_RAW_MEMBER(vt_world_first() + rank, thread);
	case KIND_PROCESS:
		return VT_RAW_MEMBER(vt_world_first() + rank, 0x7fff);
	case KIND_FIXED:
		return id == VT_ME               ? (uint32_t)vt_tls.thread->number
			: id == VT_GROUP_CLUSTER ? VT_RAW_GROUP + VT_RAW_NODE
						 : VT_RAW_MEMBER(vt_world_first() + vt_world_rank(c), 0x7fff);
	default:
		return VT_RAW_GROUP + FIRST_GROUP + (uint32_t)id;
	}
}

static int record_group(struct vt_collect *c, uint32_t number, const char *name, int n, const int *ids)
{
	struct group *g = malloc(sizeof(*g) + (size_t)n * sizeof(g->member[0]));
	uint32_t *raw = malloc(((size_t)n + 1) * sizeof(*raw));
	int i;

	if (!g || !raw || number > MAX_GROUPS) {
		free(g);
		free(raw);
		return -1;
	}
	g->n = n;
	for (i = 0; i < n; i++) {
		g->member[i] = ids[i] == VT_ME ? KIND_THREAD | vt_tls.thread->number << 16 | vt_world_rank(c) : ids[i];
		raw[i] = raw_member(c, ids[i]);
	}
	vt_raw_group(c->raw, FIRST_GROUP + number, name, raw, (uint32_t)n);
	atomic_store(&group_of[number - 1], g);
	free(raw);
	return 0;
}

VT_ErrorCode VT_groupdef(const char *name, int n_members, int *ids, int *grouphandle)
{
	VT_ErrorCode rc = vt_self();
	uint32_t number;
	char *key;
	size_t at;
	int i, fresh;

	if (rc != VT_OK) {
		return rc;
	}
	if (!name || n_members < 0 || n_members > VT_MAX_THREADS || (n_members > 0 && !ids)) {
		return VT_ERR_BADARG;
	}
	key = malloc(strlen(name) + (size_t)n_members * 12 + 2);
	if (!key) {
		return VT_ERR_NOMEMORY;
	}
	at = (size_t)sprintf(key, "%s\n", name);
	for (i = 0; i < n_members; i++) {
		if (!is_member(vt_tls.collect, ids[i])) {
			free(key);
			return VT_ERR_BADARG;
		}
		at += (size_t)sprintf(
			key + at, "%d ", ids[i] == VT_ME ? KIND_THREAD | vt_tls.thread->number << 16 : ids[i]);
	}
	vt_names_define();
	number = vt_names_number(&groups, key, &fresh);
	rc = number == 0 || (fresh && record_group(vt_tls.collect, number, name, n_members, ids) != 0) ? VT_ERR_NOMEMORY
												       : VT_OK;
	vt_names_defined();
	free(key);
	if (rc != VT_OK) {
		return rc;
	}
	if (grouphandle) {
		*grouphandle = (int)number;
	}
	return VT_OK;
}

/* The table's keys are the name, a line feed and the members. */
int vt_group_named(const char *name)
{
	uint32_t k;

	for (k = vt_names_count(&groups); k > 0; k--) {
		const char *key = vt_names_text(&groups, k);
		size_t n = strcspn(key, "\n");

		if (n == strlen(name) && strncasecmp(key, name, n) == 0 && is_group((int)k)) {
			return (int)k;
		}
	}
	return 0;
}

/* Does this process, or one of its threads, belong to the member? A group only contains groups that were defined
 * before it, so the recursion ends. */
static int in_group(const struct vt_collect *c, int id)
{
	const struct group *g;
	int i;

	switch (KIND(id)) {
	case KIND_THREAD:
	case KIND_PROCESS:
		return (id & 0xffff) == vt_world_rank(c);
	case KIND_FIXED:
		return 1;
	default:
		g = is_group(id) ? atomic_load(&group_of[id - 1]) : NULL;
		for (i = 0; g && i < g->n; i++) {
			if (in_group(c, g->member[i])) {
				return 1;
			}
		}
		return 0;
	}
}

/* Where this process stores a counter whose target is `id`: each member of a group has its own instance of the
 * counter. */
static int instance(const struct vt_collect *c, int id)
{
	switch (KIND(id)) {
	case KIND_THREAD:
		return (id & 0xffff) == vt_world_rank(c) ? id >> 16 & MAX_THREAD_IN_ID : VT_WHERE_ELSEWHERE;
	case KIND_PROCESS:
		return (id & 0xffff) == vt_world_rank(c) ? 0 : VT_WHERE_ELSEWHERE;
	case KIND_FIXED:
		if (id == VT_GROUP_CLUSTER) {
			return VT_RAW_GROUP + VT_RAW_NODE;
		}
		return id == VT_GROUP_PROCESS ? 0 : VT_WHERE_THREAD;
	default:
		return in_group(c, id) ? (int)(VT_RAW_GROUP + FIRST_GROUP) + id : VT_WHERE_ELSEWHERE;
	}
}

int vt_target_where(const struct vt_collect *c, int target)
{
	const struct group *g;
	int i, where = VT_WHERE_ELSEWHERE, threads = 0;

	if (!is_member(c, target)) {
		return VT_WHERE_NOTHING;
	}
	if (KIND(target) != KIND_GROUP) {
		return instance(c, target);
	}
	g = atomic_load(&group_of[target - 1]);
	for (i = 0; i < g->n; i++) {
		int here = instance(c, g->member[i]);

		if (here != VT_WHERE_ELSEWHERE) {
			threads += KIND(g->member[i]) == KIND_THREAD;
			where = where == VT_WHERE_ELSEWHERE ? here : where;
		}
	}
	/* several threads of this process are members: each has its own instance */
	return threads > 1 ? VT_WHERE_THREAD : where;
}
