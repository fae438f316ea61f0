/* SPDX-License-Identifier: BSD-3-Clause */
/* A walk over the records of one data file that keeps its state. */
#include "config.h"
#include "stf/read/walk.h"
#include "stf/write/put.h"
#include "stf/write/stream.h"

int stf_walk_begin(struct stf_walk *w)
{
	memset(w, 0, sizeof(*w));
	w->h = stf_history_new();
	w->mem = stf_stream_new(&(struct stf_where){ .big = TKM_HOST_BIG, .err = &w->err, .used = w->used }, "", 0);
	return w->h && w->mem ? 0 : -1;
}

void stf_walk_end(struct stf_walk *w)
{
	stf_history_free(w->h);
	stf_stream_free(w->mem);
	memset(w, 0, sizeof(*w));
}

int stf_walk_record(struct stf_walk *w, const struct stf_source *s)
{
	const uint8_t *p = s->buf + (s->head.at - s->offset);
	size_t before = stf_history_n_open(w->h);
	uint64_t now = s->head.now;
	int rc;

	if (s->defs->def[*p]->native) {
		rc = stf_history_absorb(w->h, p, s->buf + s->pos, s->head.at, &now, TKM_HOST_BIG);
	} else {
		/* a difference that is too large for our layout is left out: only the sum matters here */
		now = s->record.time - now > UINT32_MAX ? s->record.time : now;
		w->mem->cur = w->mem->buf;
		w->mem->now = now;
		if (stf_put_record(w->mem, &s->record) < 0) {
			return w->err.code == STF_ERR_NOMEM ? -1 : 0;
		}
		rc = stf_history_absorb(w->h, w->mem->buf, w->mem->cur, s->head.at, &now, TKM_HOST_BIG);
	}
	stf_history_place_open(w->h, before, s->head.at, s->head.now);
	return rc;
}
