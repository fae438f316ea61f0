/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the bound of each process's clock into the trace, as infos of the class clock-bound (doc/stf-format.md
 * section 4). */
#include "config.h"
#include "collector-plugin/merge/definitions/bounds.h"

#include <math.h>
#include <stdio.h>

#include "calib/map/stretch.h"

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

void vt_merge_bounds(struct vt_merge *m)
{
	struct cal_stretch s[CAL_STRETCHES];
	char text[CAL_STRETCHES * 50 + 30];
	int one_clock = 1, n;
	size_t i, k, count;
	int64_t at;

	for (i = 1; i < m->n; i++) {
		one_clock &= m->file[i].map == m->file[0].map;
	}
	for (i = 0; i < m->n; i++) {
		count = stretches(m, &m->file[i], one_clock, s);
		n = snprintf(text, sizeof(text), "process %u", m->file[i].process);
		for (k = 0; k < count; k++) {
			at = cal_map_at(m->file[i].map, s[k].from).v - m->origin;
			/* records may lie before the start by rounding */
			at = k == 0 || at < 0 ? 0 : at;
			n += snprintf(text + n, sizeof(text) - (size_t)n, " %lld ", (long long)at);
			n += isnan(s[k].bound_s) ? snprintf(text + n, sizeof(text) - (size_t)n, "unknown")
						 : snprintf(text + n, sizeof(text) - (size_t)n, "%.9g",
							   s[k].bound_s * (1 + 1e-8)); /* never rounded down */
		}
		stf_writer_info(m->w, "clock-bound", text);
	}
}
