/* SPDX-License-Identifier: BSD-3-Clause */
/* The efficiencies of the POP project (https://pop-coe.eu/node/69). */
#include "config.h"
#include "stf/analysis/efficiency.h"

#include <math.h>

/* The time outside MPI of the threads that count. */
struct outside {
	double sum, most; /* seconds */
	double sum_error, most_error;
	double begin_error, finish_error;
	uint64_t begin, finish;
	uint64_t n;
	int any;
};

int stf_is_main_thread(const struct stf_threads *t, uint32_t willy)
{
	uint32_t process = stf_willy_process(willy), k;
	const struct stf_thread *h = stf_threads_find(t, willy);

	if (h->is_main) {
		return 1;
	}
	for (k = 0; k < t->n_threads[process]; k++) {
		h = stf_threads_find(t, STF_WILLY(process, k));
		if (h && h->is_main) {
			return 0;
		}
	}
	return stf_willy_thread(willy) == 0;
}

static void add_thread_outside(
	struct outside *o, const struct stf_mpi_thread *m, struct stf_bounds *bounds, double resolution)
{
	double begin = stf_bounds_at(bounds, stf_willy_process(m->willy), m->begin);
	double end = stf_bounds_at(bounds, stf_willy_process(m->willy), m->end);
	double seconds = (double)(m->end - m->begin - m->mpi) * resolution;

	o->sum += seconds;
	o->sum_error += begin + end;
	if (seconds > o->most || !o->any) {
		o->most = seconds;
		o->most_error = begin + end;
	}
	if (!o->any || m->begin < o->begin) {
		o->begin = m->begin;
		o->begin_error = begin;
	}
	if (!o->any || m->end > o->finish) {
		o->finish = m->end;
		o->finish_error = end;
	}
	o->any = 1;
	o->n++;
}

/* Of positive a / b, with the largest error of both. */
static struct stf_share share_of(double a, double a_error, double b, double b_error)
{
	struct stf_share s = { a / b, a / b * (a_error / a + b_error / b) };

	if (!(b > 0)) {
		s.value = s.error = (double)NAN;
	} else if (!(a > 0)) {
		s.value = 0;
		s.error = a_error / b;
	}
	return s;
}

void stf_find_efficiencies(struct stf_analysis *a, struct stf_threads *t)
{
	struct outside o = { 0 };
	struct stf_play_times end = { { 0 } };
	double run, ideal, run_error, n;
	size_t i;

	for (i = 0; i < a->n_threads; i++) {
		if (stf_is_main_thread(t, a->thread[i].willy) &&
			a->thread[i].end >= a->thread[i].begin + a->thread[i].mpi) {
			add_thread_outside(&o, &a->thread[i], &t->waits.bounds, a->resolution);
			stf_play_latest(&end, &stf_threads_find(t, a->thread[i].willy)->play.end);
		}
	}
	n = (double)o.n;
	a->processes = (uint32_t)o.n;
	a->begin = o.begin;
	a->finish = o.finish;
	a->bounds = o.any && !isnan(o.sum_error);
	run = (double)(o.finish - o.begin) * a->resolution;
	run_error = o.begin_error + o.finish_error;
	a->parallel = share_of(o.sum / n, o.sum_error / n, run, run_error);
	a->load_balance = share_of(o.sum / n, o.sum_error / n, o.most, o.most_error);
	a->communication = share_of(o.most, o.most_error, run, run_error);
	a->ideal = end.at[STF_PLAY_IDEAL] > o.begin ? end.at[STF_PLAY_IDEAL] - o.begin : 0;
	a->changed = end.at[STF_PLAY_CHANGED] > o.begin ? end.at[STF_PLAY_CHANGED] - o.begin : 0;
	ideal = (double)a->ideal * a->resolution;
	a->serialisation = share_of(o.most, o.most_error, ideal, run_error);
	a->transfer = share_of(ideal, run_error, run, run_error);
}
