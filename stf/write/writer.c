/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a trace that is being written. */
#include "config.h"
#include "stf/write/writer.h"
#include "stf/pack/zst.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"

/* One row per category. The ids of files depend only on the suffix, so that rewriting a trace in another order
 * gives the same bytes. The anchor file has the id after its data file's id. */
/* clang-format off */
const struct stf_category stf_category[DATA_KINDS] = {
	[STF_KIND_MSG] = { ".msg", 0, 3 },  [STF_KIND_COLL] = { ".cop", 0, 5 },
	[STF_KIND_FUNC] = { ".f", 1, 7 },   [STF_KIND_SCOPE] = { ".s", 1, 9 },
	[STF_KIND_FIO] = { ".i", 1, 11 },   [STF_KIND_COUNTER] = { ".c", 1, 13 },
	[STF_KIND_REPORT] = { ".r", 1, 15 }, [STF_KIND_OTHER] = { ".x", 1, 17 },
};
/* clang-format on */

const struct stf_err *stf_writer_error(const struct stf_writer *w)
{
	return &w->err;
}

struct stf_where stf_writer_where(struct stf_writer *w)
{
	return (struct stf_where){ .path = w->path,
		.force = w->opt.force,
		.big = w->opt.big_endian,
		.level = w->opt.compress,
		.zst = w->zst,
		.err = &w->err,
		.used = w->used,
		.identity = &w->identity };
}

void stf_writer_free(struct stf_writer *w)
{
	unsigned k;
	uint32_t i;

	stf_stream_free(w->dcl);
	stf_stream_free(w->sts);
	stf_stream_free(w->infos);
	stf_stream_free(w->procs);
	for (k = 0; k < DATA_KINDS; k++) {
		for (i = 0; i < w->n_sets[k]; i++) {
			stf_stream_free(w->data[k][i]);
		}
		free(w->data[k]);
	}
	stf_map_free(&w->declared);
	stf_map_free(&w->texts);
	stf_map_free(&w->classes);
	stf_out_discard(&w->base);
	stf_out_free(&w->base);
	stf_zst_free(w->zst);
	free(w->sets.of);
	free(w->sets.home);
	free(w->others.i);
	free(w->path);
	free(w->comment);
	free(w);
}

void stf_writer_abort(struct stf_writer *w)
{
	if (w) {
		stf_writer_free(w);
	}
}

int stf_make_room(struct stf_writer *w, unsigned kind, uint32_t set)
{
	return set >= w->n_sets[kind] && TKM_EXTEND(w->data[kind], w->n_sets[kind], set + 1) < 0
		? stf_no_memory(&w->err)
		: 0;
}

void stf_suffix(unsigned kind, uint32_t set, char *suffix, size_t n)
{
	if (stf_category[kind].per_set) {
		snprintf(suffix, n, "%s.%u", stf_category[kind].suffix, set);
	} else {
		snprintf(suffix, n, "%s", stf_category[kind].suffix);
	}
}
