/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "collector-plugin/merge/statistics.h"

#include <stdlib.h>

/* What stands where there is no message (seeds/003 section 2.8.2). */
enum { NO_MESSAGE = -1, NO_RECEIVER = -1 };

struct vt_merge_row {
	uint32_t willy, function;
	uint64_t count, inclusive[3], exclusive[3]; /* minimum, maximum, sum, in units of the trace */
};

/* A length of time in units of the trace: the clock's mean rate over the run. */
static uint64_t units(const struct vt_merge *m, const struct vt_merge_file *f, int64_t ticks)
{
	double local = (double)(f->head->end_tick - f->head->start_tick);
	double rate =
		local > 0 && f->end > f->start ? (double)(f->end - f->start) / local : 1 / f->head->hz / m->period_s;

	return ticks > 0 ? (uint64_t)((double)ticks * rate + 0.5) : 0;
}

static void add(uint64_t *to, const uint64_t *v, int first)
{
	to[0] = first || v[0] < to[0] ? v[0] : to[0];
	to[1] = v[1] > to[1] ? v[1] : to[1];
	to[2] += v[2];
}

/* The list is short, a row for each function and thread; the latest is near the end as a rule. */
static struct vt_merge_row *row_of(struct vt_merge *m, uint32_t willy, uint32_t function)
{
	struct vt_merge_row *p;
	size_t i;

	for (i = m->n_rows; i-- > 0;) {
		if (m->row[i].willy == willy && m->row[i].function == function) {
			return &m->row[i];
		}
	}
	p = realloc(m->row, (m->n_rows + 1) * sizeof(*p));
	if (!p) {
		return NULL;
	}
	m->row = p;
	p[m->n_rows] = (struct vt_merge_row){ .willy = willy, .function = function };
	return &p[m->n_rows++];
}

int vt_merge_see_statistics(struct vt_merge *m, const struct vt_merge_file *f, const struct vt_raw_def *d)
{
	struct vt_merge_row *r = row_of(m, STF_WILLY(f->process, d->id), vt_merge_id(&f->functions, d->parent));
	uint64_t in[3], ex[3];
	int i;

	if (!r) {
		return -1;
	}
	for (i = 0; i < 3; i++) {
		in[i] = units(m, f, d->times.inclusive[i]);
		ex[i] = units(m, f, d->times.exclusive[i]);
	}
	add(r->inclusive, in, r->count == 0);
	add(r->exclusive, ex, r->count == 0);
	r->count += d->times.count;
	return 0;
}

int vt_merge_write_statistics(struct vt_merge *m)
{
	size_t i;

	for (i = 0; i < m->n_rows; i++) {
		const struct vt_merge_row *r = &m->row[i];
		/* the field has 32 bits */
		uint32_t count = r->count > UINT32_MAX ? UINT32_MAX : (uint32_t)r->count;
		struct stf_lw_statistics s = { .willy = r->willy,
			.function = r->function,
			.receiver = (uint32_t)NO_RECEIVER,
			.bytes_sent = (uint32_t)NO_MESSAGE,
			.comm_size = 1,
			.count = count,
			.minTicksIncl = r->inclusive[0],
			.maxTicksIncl = r->inclusive[1],
			.sumTicksIncl = r->inclusive[2],
			.minTicksExcl = r->exclusive[0],
			.maxTicksExcl = r->exclusive[1],
			.sumTicksExcl = r->exclusive[2] };

		if (stf_write_lw_statistics(m->w, &s) < 0) {
			return -1;
		}
	}
	return 0;
}
