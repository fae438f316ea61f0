/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides which processes share their files: those of one node, a given number of processes, or all. */
#include "config.h"
#include "stf/write/writer.h"

#include <stdlib.h>
#include <string.h>

uint32_t stf_threads_of(const struct stf_writer *w, uint32_t process)
{
	return tkm_get32(
		w->procs->buf + sizeof(struct stf_wire_process_declaration) + 4 * (size_t)process, w->opt.big_endian);
}

uint32_t stf_count_processes(const struct stf_writer *w)
{
	return w->procs->cur == w->procs->buf
		? 0
		: tkm_get32(w->procs->buf + offsetof(struct stf_wire_process_declaration, size_1_1), w->opt.big_endian);
}

/* The set of a node that is being filled. */
struct filling {
	uint32_t set, n;
};

/* Puts each process into the set of its node until that set is full, and then into a new one. */
static int fill_sets(struct stf_writer *w, const uint32_t *node, uint32_t n, struct filling *f, struct stf_map *known)
{
	uint32_t per = w->opt.procs_per_file, i, nodes = 0;
	const uint64_t *at;
	struct filling *g;

	for (i = 0; i < n; i++) {
		at = stf_map_find(known, 1 + (uint64_t)node[i]);
		g = &f[at ? *at : nodes];
		if (!at) {
			if (stf_map_add(known, 1 + (uint64_t)node[i], nodes++) < 0) {
				return stf_no_memory(&w->err);
			}
			g->n = 0;
			g->set = w->sets.n++;
		} else if (per && g->n == per) {
			g->n = 0;
			g->set = w->sets.n++;
		}
		g->n++;
		w->sets.of[i] = g->set;
	}
	return 0;
}

static int keep_homes(struct stf_writer *w, const uint32_t *home, uint32_t n)
{
	w->sets.home = n ? malloc(n * sizeof(*home)) : NULL;
	if (n && !w->sets.home) {
		return stf_no_memory(&w->err);
	}
	if (n) {
		memcpy(w->sets.home, home, n * sizeof(*home));
	}
	w->sets.n_home = n;
	return 0;
}

int stf_sets_begin(struct stf_writer *w, const struct stf_writer_options *o)
{
	struct stf_map known = { 0 };
	uint32_t n = o->n_node;
	struct filling *f;
	int rc;

	if (keep_homes(w, o->group_home, o->n_group_home) < 0) {
		return -1;
	}
	if (!o->node || !n) {
		return 0;
	}
	w->sets.of = malloc(n * sizeof(*w->sets.of));
	f = malloc(n * sizeof(*f));
	w->sets.n_of = n;
	rc = w->sets.of && f ? fill_sets(w, o->node, n, f, &known) : stf_no_memory(&w->err);
	stf_map_free(&known);
	free(f);
	return rc;
}

void stf_sets_decide(struct stf_writer *w)
{
	/* in a trace of one process, the number counts threads (Intel Trace Collector guide) */
	w->sets.by_thread = !w->sets.of && w->opt.procs_per_file && stf_count_processes(w) == 1;
	w->sets.decided = 1;
}

uint32_t stf_set_of(const struct stf_writer *w, uint32_t willy)
{
	uint32_t per = w->opt.procs_per_file, process = stf_willy_process(willy);

	if (stf_willy_is_group(willy)) {
		uint32_t id = willy & 0x7fffffffu, home = id < w->sets.n_home ? w->sets.home[id] : UINT32_MAX;

		return home == UINT32_MAX ? 0 : stf_set_of(w, STF_WILLY(home & 0xffffu, 0));
	}
	if (w->sets.of) {
		return process < w->sets.n_of ? w->sets.of[process] : w->sets.n;
	}
	return !per ? 0 : (w->sets.by_thread ? stf_willy_thread(willy) : process) / per;
}

uint32_t stf_writer_set(const struct stf_writer *w, uint32_t willy)
{
	return stf_set_of(w, willy);
}

void stf_sets_way(const struct stf_writer *w, uint32_t willy, struct stf_way *way)
{
	uint32_t per = w->opt.procs_per_file;

	if (w->sets.of) {
		way->first = stf_willy_process(willy);
		way->span = 1;
	} else {
		way->first = per * stf_set_of(w, willy);
		way->span = per ? per : UINT32_MAX;
	}
}

int stf_sets_many(const struct stf_writer *w)
{
	uint32_t per = w->opt.procs_per_file, n = stf_count_processes(w);

	if (w->sets.of) {
		return w->sets.n > 1 || n > w->sets.n_of;
	}
	return per && (w->sets.by_thread ? per < stf_threads_of(w, 0) : per < n);
}

/* The threads first to *end - 1 of a process are in this set. */
static uint32_t threads_in(const struct stf_writer *w, uint32_t process, uint32_t set, uint32_t *end)
{
	uint32_t t = stf_threads_of(w, process), per = w->opt.procs_per_file, first = 0;

	*end = t;
	if (set == STX_ALL_SETS) {
		return 0;
	}
	if (!w->sets.by_thread) {
		*end = stf_set_of(w, STF_WILLY(process, 0)) == set ? t : 0;
		return 0;
	}
	first = set <= t / per ? set * per : t;
	*end = t - first < per ? t : first + per;
	return first;
}

int stf_put_willies(struct stf_writer *w, struct stf_stream *idx, uint32_t id, uint32_t set)
{
	uint32_t n = 0, first, end, all = stf_count_processes(w), per = w->opt.procs_per_file;
	/* processes of another set than this one are not even looked at, where a set is per processes in a row */
	int in_a_row = set != STX_ALL_SETS && per && !w->sets.of && !w->sets.by_thread && set <= all / per;
	uint32_t p = in_a_row ? set * per : 0, to = in_a_row && all - p > per ? p + per : all;
	uint32_t *a = calloc(2 * ((size_t)(to - p) + 1), sizeof(*a)), *b = a ? a + (to - p) + 1 : NULL;
	int32_t *stride = calloc((size_t)(to - p) + 1, sizeof(*stride));
	struct stf_willy_list r = { .id = id, .first_id = a, .last_id = b, .stride = stride };
	int rc = -1;

	if (!a || !stride) {
		stf_no_memory(&w->err);
		goto out;
	}
	for (; p < to; p++) {
		first = threads_in(w, p, set, &end);
		/* consecutive processes with one thread each are one triplet; any other process has its own
		 * triplet */
		if (first == 0 && end == 1 && n && stride[n - 1] == 1 && b[n - 1] + 1 == p) {
			b[n - 1] = p;
		} else if (first < end) {
			a[n] = p | first << 16;
			b[n] = p | (end - 1) << 16;
			stride[n++] = first == 0 && end == 1 ? 1 : 0x10000;
		}
	}
	r.size_1_3 = n;
	rc = stf_put_willy_list(idx, &r);
out:
	free(a);
	free(stride);
	return rc;
}
