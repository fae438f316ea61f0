/* SPDX-License-Identifier: BSD-3-Clause */
/* Frees a run and answers simple questions about its ranks; see calib/map/run.h. */
#include "config.h"
#include "calib/map/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rootfs.h"

const char *cal_interpolation_name(enum cal_interpolation how)
{
	static const char *const names[] = { "linear", "constrained", "cubic" };

	return names[how];
}

const char *cal_clock_name(int clock)
{
	static const char *const names[CAL_CLOCKS] = { "clock_realtime", "clock_monotonic", "clock_monotonic_raw",
		"clock_boottime" };

	return names[clock];
}

void cal_rank_here(struct cal_rank *r)
{
	int root = tkm_root_open("/");
	ssize_t n;

	gethostname(r->host, sizeof(r->host) - 1);
	tkm_root_line(root, "/proc/sys/kernel/random/boot_id", r->boot_id, sizeof(r->boot_id));
	n = readlinkat(root, "proc/self/ns/time", r->time_ns, sizeof(r->time_ns) - 1);
	r->time_ns[n > 0 ? n : 0] = '\0';
	close(root);
}

double cal_rank_hz(const struct cal_rank *r)
{
	return r->nominal_hz > 0 ? r->nominal_hz : r->measured_hz;
}

double cal_session_hz(const struct cal_rank *r)
{
	return r->reference_hz > 0 ? r->reference_hz : cal_rank_hz(r);
}

double cal_session_tick(const struct cal_rank *r)
{
	return r->reference_hz > 0 ? r->reference_tick_s : r->effective_tick_s;
}

int cal_session_may_step(const struct cal_rank *r)
{
	return r->reference_hz > 0 ? 0 : r->may_step;
}

static void join_step(struct cal_step_group *to, const struct cal_step_group *s)
{
	to->from_s = s->from_s < to->from_s ? s->from_s : to->from_s;
	to->to_s = s->to_s > to->to_s ? s->to_s : to->to_s;
	to->n += s->n;
	if (fabs(s->size_s) > fabs(to->size_s)) {
		to->size_s = s->size_s;
		to->rank = s->rank;
	}
}

size_t cal_group_steps(const struct cal_run *run, struct cal_step_group *group, size_t room)
{
	size_t r, k, g, steps = 0, n = 0;

	for (r = 0; r < run->ranks; r++) {
		steps += run->rank[r].map.steps;
	}
	for (r = 0; r < run->ranks; r++) {
		const struct cal_map *m = &run->rank[r].map;

		for (k = 0; k < m->steps; k++) {
			struct cal_step_group s = { (double)m->step[k].from_global.v * run->period_s,
				(double)m->step[k].to_global.v * run->period_s, m->step[k].size_s, r, 1 };

			for (g = 0; g < n && (steps <= room || s.from_s > group[g].to_s || s.to_s < group[g].from_s);
				g++) {
			}
			if (g == n && n < room) {
				group[n++] = s;
			} else {
				join_step(&group[g < n ? g : n - 1], &s);
			}
		}
	}
	return n;
}

void cal_rank_free(struct cal_rank *r)
{
	size_t k;

	for (k = 0; k < r->sessions; k++) {
		cal_session_free(&r->session[k]);
	}
	for (k = 0; k < r->edges; k++) {
		cal_session_free(&r->edge[k]);
	}
	free(r->session);
	free(r->edge);
	for (k = 0; k < CAL_CLOCKS; k++) {
		cal_pairs_free(&r->clock[k]);
	}
	cal_pairs_free(&r->pairs);
	cal_map_free(&r->map);
	memset(r, 0, sizeof(*r));
}

void cal_run_free(struct cal_run *run)
{
	size_t i;

	for (i = 0; i < run->ranks; i++) {
		cal_rank_free(&run->rank[i]);
	}
	free(run->rank);
	memset(run, 0, sizeof(*run));
}
