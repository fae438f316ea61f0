/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the bound of each process's clock into the trace, as infos of the class clock-bound (doc/stf-format.md
 * section 4). */
#include "config.h"
#include "collector-plugin/merge/definitions/bounds.h"

#include <math.h>
#include <stdio.h>

#include "base/text/text.h"

/* Was the map made from the file's own readings of the system's clocks? Such a map gives no bound relative to other
 * clocks. */
static int is_map_of_file(const struct vt_merge *m, const struct cal_map *map)
{
	return (uintptr_t)map >= (uintptr_t)m->file && (uintptr_t)map < (uintptr_t)(m->file + m->n);
}

static size_t stretches(const struct vt_merge *m, const struct vt_merge_file *f, int one_clock, struct cal_stretch *s)
{
	if (!is_map_of_file(m, f->map)) {
		return cal_map_stretches(f->map, ltick(f->head->start_tick), ltick(f->head->end_tick), s);
	}
	s[0] = (struct cal_stretch){ ltick(f->head->start_tick), one_clock ? 0 : (double)NAN };
	return 1;
}

int vt_merge_one_clock(const struct vt_merge *m)
{
	size_t i;

	for (i = 1; i < m->n && m->file[i].map == m->file[0].map; i++) {
	}
	return i >= m->n;
}

struct vt_merge_bound vt_merge_bound_of(const struct vt_merge *m, const struct vt_merge_file *f, int one_clock)
{
	struct cal_stretch s[CAL_STRETCHES];
	struct vt_merge_bound b = { .n = stretches(m, f, one_clock, s) };
	size_t k;

	for (k = 0; k < b.n; k++) {
		b.at[k] = cal_map_at(f->map, s[k].from).v - m->origin;
		/* records may lie before the start by rounding */
		b.at[k] = k == 0 || b.at[k] < 0 ? 0 : b.at[k];
		b.bound_s[k] = tkm_round_up(s[k].bound_s, 9, 'g');
	}
	return b;
}

void vt_merge_bounds(struct vt_merge *m)
{
	char text[CAL_STRETCHES * 50 + 30];
	int one_clock = vt_merge_one_clock(m), n;
	size_t i, k;

	for (i = 0; i < m->n; i++) {
		struct vt_merge_bound b = vt_merge_bound_of(m, &m->file[i], one_clock);

		n = snprintf(text, sizeof(text), "process %u", m->file[i].process);
		for (k = 0; k < b.n; k++) {
			n += snprintf(text + n, sizeof(text) - (size_t)n, " %lld ", (long long)b.at[k]);
			n += isnan(b.bound_s[k]) ? snprintf(text + n, sizeof(text) - (size_t)n, "unknown")
						 : snprintf(text + n, sizeof(text) - (size_t)n, "%.9g", b.bound_s[k]);
		}
		stf_writer_info(m->w, "clock-bound", text);
	}
}
