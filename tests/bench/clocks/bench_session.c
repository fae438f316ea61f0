/* SPDX-License-Identifier: BSD-3-Clause */
/* What calibration costs a job (calib/job/job.h): finding the clock domains of one host's ranks, and a session in the
 * middle. Prints the largest value over the ranks. Run on one host with any number of ranks; with the word `domains`
 * after it makes no sessions. */
#include "config.h"
#include "calib/job/job.h"
#include "calib/session/link_mpi.h"
#include "timers/quality/prove.h"
#include "tests/bench/lib/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SETUPS = 30, SESSIONS = 200 };

static struct cal_link *l;
static struct tkm_err err;

static void need(int ok)
{
	if (!ok) {
		fprintf(stderr, "bench_session: rank %d: %s\n", l ? l->rank : 0, err.text);
		abort();
	}
}

/* Largest over all ranks, on rank 0. */
static double largest(double mine)
{
	struct cal_blobs all;
	double most = mine, v;
	int i;

	need(cal_link_gather(l, &mine, sizeof(mine), &all, &err) == 0);
	for (i = 0; i < all.n; i++) {
		memcpy(&v, all.data[i], sizeof(v));
		most = fmax(most, v);
	}
	cal_blobs_free(&all);
	return most;
}

static void figure(const char *what, const char *name, double *v, size_t n, const char *unit)
{
	char full[96];

	if (l->rank == 0) {
		snprintf(full, sizeof(full), "calib.%s.np%d.%s", what, l->size, name);
		bench_print(full, v, n, unit);
	}
}

/* What the proof cannot be better than: how long a cache line travels, in the same run; and what it takes alone. */
static void lines(const char *name, struct tmr_timer *t)
{
	double line[SETUPS], took[SETUPS];
	struct tmr_proof p;
	size_t n = 0;
	int i;

	for (i = 0; i < SETUPS; i++) {
		if (tmr_prove_one_clock(t, fmax(1 / t->hz, 10e-9), 0.02, &p, &err) == 0 && p.one_clock) {
			took[n] = 1e3 * p.seconds;
			line[n++] = 1e9 * p.line_s;
		}
	}
	if (n) {
		figure(name, "line", line, n, "ns");
		figure(name, "proof", took, n, "ms");
	}
}

/* What any exchange of the same facts costs these processes: one MPI_Allgather. */
static double allgather(void)
{
	enum { CARD = 256 };
	char mine[CARD] = "", *all = malloc((size_t)l->size * CARD);
	double begin;

	need(all != NULL && cal_link_barrier(l, &err) == 0);
	begin = cal_link_seconds(l);
	MPI_Allgather(mine, CARD, MPI_BYTE, all, CARD, MPI_BYTE, MPI_COMM_WORLD);
	begin = cal_link_seconds(l) - begin;
	free(all);
	return begin;
}

static void domains(const char *timer)
{
	double whole[SETUPS], bare[SETUPS], within[SETUPS], own[SETUPS];
	struct cal_place *place = calloc((size_t)l->size, sizeof(*place));
	struct tmr_timer *t = tmr_open(timer, l->rank, &err);
	char name[64];
	int i, r, proven = 0;
	double unproven;

	need(place && t);
	for (i = 0; i < SETUPS; i++) {
		double begin;

		need(cal_link_barrier(l, &err) == 0);
		begin = cal_link_seconds(l);
		need(cal_domains_find(l, t, fmax(1 / t->hz, 10e-9), 0.02, place, &err) == 0);
		whole[i] = 1e3 * largest(cal_link_seconds(l) - begin);
		bare[i] = 1e3 * largest(allgather());
		if (!isnan(place[0].within_s)) {
			within[proven++] = 1e9 * place[0].within_s;
		}
		own[i] = 0;
		for (r = 0; r < l->size; r++) {
			own[i] += place[r].leader == r || isnan(place[r].within_s);
		}
	}
	snprintf(name, sizeof(name), "domain.%s", timer);
	figure(name, "setup", whole, SETUPS, "ms");
	figure(name, "allgather", bare, SETUPS, "ms");
	if (proven) {
		figure(name, "within", within, (size_t)proven, "ns");
	}
	unproven = SETUPS - proven; /* for lack of time */
	figure(name, "unproven", &unproven, 1, "times");
	figure(name, "clocks", own, SETUPS, "clocks");
	if (l->rank == 0 && t->scope == TMR_SCOPE_CORE) {
		lines(name, t);
	}
	need(cal_link_barrier(l, &err) == 0);
	tmr_close(t);
	free(place);
}

/* Each rank has a clock of its own. */
static void sessions(enum cal_shape shape)
{
	struct tmr_timer *t = tmr_open("sim:base=CPU,offset={rank}ms,drift={rank}0ppm,tick=7.3ns", l->rank, &err);
	struct cal_job_options o = cal_job_defaults();
	double took[SESSIONS], band[SESSIONS], first;
	struct cal_job job;
	char name[64];
	int i;

	need(t != NULL);
	l->timer = t;
	o.shape = shape;
	need(cal_job_begin(&job, l, &o, &err) == 0 && cal_link_barrier(l, &err) == 0);
	need(cal_job_session(&job, CAL_START, &err) == 0);
	first = 1e3 * largest(job.session_s);
	for (i = 0; i < SESSIONS; i++) {
		cal_link_sleep(l, 0.005);
		need(cal_link_barrier(l, &err) == 0);
		need(cal_job_session(&job, CAL_MIDDLE, &err) == 0);
		took[i] = 1e6 * largest(job.session_s);
		band[i] = l->rank == 0 ? 0 : 1e9 * cal_map_bound(cal_job_map(&job), tmr_read(t));
		band[i] = largest(band[i]);
	}
	snprintf(name, sizeof(name), "session.%s", cal_shape_name(shape));
	figure(name, "start", &first, 1, "ms");
	figure(name, "middle", took, SESSIONS, "us");
	figure(name, "band", band, SESSIONS, "ns");
	cal_job_end(&job);
	l->timer = NULL;
	tmr_close(t);
}

int main(int argc, char **argv)
{
	l = cal_link_start(&argc, &argv, &err);
	need(l != NULL);
	domains("clock_monotonic");
	domains("CPU");
	cal_link_hold_cores(l, 1);
	if (argc < 2 || strcmp(argv[1], "domains") != 0) {
		sessions(CAL_SHAPE_STAR);
		sessions(CAL_SHAPE_TREE);
	}
	cal_link_close(l);
	return 0;
}
