/* SPDX-License-Identifier: BSD-3-Clause */
/* calib/job/job.h inside a program with MPI and messages of its own, as a collector uses it: the map that is there at any
 * time and the one made in the end are compared with the truth of simulated clocks. TAP on rank 0; run by
 * tests/mpi/job.sh with any number of ranks of one host. */
#include "config.h"
#include "calib/file/clk.h"
#include "calib/job/job.h"
#include "calib/session/link_mpi.h"
#include "calib/solve/solve.h"
#include "base/text/text.h"
#include "timers/sources/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { SESSIONS = 6, LOOKS = 200 };

static int rank, size, tests, failed, mixed_up;

/* All ranks' word on it; rank 0 prints. */
static void ok(int mine, const char *name)
{
	int all;

	MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	failed |= !all;
	if (!mine) {
		printf("# rank %d failed\n", rank);
	}
	if (rank == 0) {
		printf("%sok %d - %s\n", all ? "" : "not ", ++tests, name);
	}
	fflush(stdout);
}

/* What the program itself has in flight, on all tags, while the calibration runs. */
static void own_messages(int send)
{
	static MPI_Request request[64];
	static int word[64];
	int i, next = (rank + 1) % size, before = (rank + size - 1) % size, got;

	for (i = 0; i < 32 && send; i++) {
		word[i] = 1000 * rank + i;
		MPI_Isend(&word[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &request[i]);
	}
	for (i = 0; i < 32 && !send; i++) {
		MPI_Recv(&got, 1, MPI_INT, before, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		mixed_up |= got != 1000 * before + i;
	}
	if (!send) {
		MPI_Waitall(32, request, MPI_STATUSES_IGNORE);
	}
}

static int read_job_ranks(const struct cal_blobs *all, struct cal_run *run, struct tkm_err *err)
{
	int i, rc = 0;

	run->rank = calloc((size_t)all->n, sizeof(*run->rank));
	if (!run->rank) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the clock data of %d ranks", all->n);
	}
	for (i = 0; i < all->n && rc == 0; i++) {
		rc = cal_clk_read_rank(all->data[i], all->length[i], "clock data", &run->rank[i], err);
		run->ranks += rc == 0;
	}
	return rc;
}

/* By all ranks together: rank 0 makes the maps of all. A job of libVT leaves that to what merges its raw files. */
static int gather_job(struct cal_job *j, struct cal_run *run, struct tkm_err *err)
{
	struct cal_blobs all = { .n = 0 };
	char *text = NULL;
	size_t length = 0;
	FILE *f = open_memstream(&text, &length);
	int rc;

	cal_job_stop_pairs(j);
	*run = (struct cal_run){ .max_drift = j->o.max_drift,
		.max_wander = j->o.max_wander,
		.wanted = j->o.interpolation,
		.learn = j->o.learn,
		.method = j->o.method };
	if (!f || (cal_clk_write_rank(f, &j->rank, err) | tkm_text_end(f, &text)) != 0) {
		length = 0; /* an empty block tells rank 0 that there is none */
	}
	rc = cal_link_gather(j->link, text ? text : "", length, &all, err);
	free(text);
	if (rc == 0 && j->link->rank == 0) {
		rc = read_job_ranks(&all, run, err);
		if (rc == 0) {
			rc = cal_solve(run, j->o.skip, err);
		}
		if (rc < 0) {
			cal_run_free(run);
		}
	}
	cal_blobs_free(&all);
	return rc;
}

/* This rank's clock against the master's, by the counter after both. */
static int online_is_inside(struct cal_job *j, struct tmr_timer *mine, struct tmr_timer *masters)
{
	struct tmr_timer *free_one = j->reference ? tmr_sim_free_twin(masters, NULL) : NULL;
	const struct cal_map *m = cal_job_map(j);
	int64_t base = tmr_read_ordered(tmr_sim_base(mine)).v;
	double f, f0, error;
	ltick_t local = tmr_sim_truth(mine, base, &f), master = tmr_sim_truth(free_one ? free_one : masters, base, &f0);
	long double says =
		((long double)cal_map_at(m, local).v + (long double)f * cal_map_slope(m, local)) * m->period_s;

	error = fabs((double)(says - ((long double)ltick_sub(master, j->axis) + f0) / masters->hz));
	tmr_close(free_one);
	/* the rounding of the map, and of a time given in seconds */
	return error <= cal_map_bound(m, local) + 2 * m->period_s;
}

/* The band reaches ten times its width when the test asks for that, and does not stay within nothing. */
static int is_due_in_time(struct cal_job *j, struct tmr_timer *mine)
{
	const struct cal_map *m = cal_job_map(j);
	ltick_t now = tmr_read(mine);
	double target = 10 * cal_map_bound(m, now), due = cal_job_due(j, now, target);
	ltick_t before = ltick_add(now, (int64_t)(0.99 * due * mine->hz)),
		after = ltick_add(now, (int64_t)(1.01 * due * mine->hz));

	printf("# rank %d: the bound is %g s, ten times as much in %g s\n", rank, target / 10, due);
	return due > 0 && cal_map_bound(m, before) <= target && cal_map_bound(m, after) >= target &&
		cal_job_due(j, now, 1e-9) == 0;
}

/* All maps of the run against the truth: points that are beyond their bound. */
static int points_outside(const struct cal_run *run, const char *spec, struct tmr_timer *masters)
{
	const struct cal_rank *m = &run->rank[0];
	struct tmr_timer *free_one = m->reference_hz > 0 ? tmr_sim_free_twin(masters, NULL) : NULL;
	int64_t from = tmr_sim_base_at(free_one ? free_one : masters, m->anchor[0].local);
	int64_t to = tmr_sim_base_at(free_one ? free_one : masters, m->anchor[1].local);
	int i, k, wrong = 0;

	tmr_close(free_one);

	for (i = 1; i < size; i++) {
		const struct cal_map *map = &run->rank[i].map;
		struct tmr_timer *t = tmr_open(spec, i, NULL);

		for (k = 0; k <= 100; k++) {
			int64_t at = from + (to - from) / 100 * k;
			double f0, f1, e;
			ltick_t l0 = tmr_sim_truth(masters, at, &f0), l1 = tmr_sim_truth(t, at, &f1);

			e = fabs((double)gtick_sub(cal_map_at(map, l1), cal_map_at(&m->map, l0)) +
				    f1 * cal_map_slope(map, l1) - f0 * cal_map_slope(&m->map, l0)) *
				run->period_s;
			wrong += e > cal_map_bound(map, l1) + cal_map_bound(&m->map, l0);
		}
		tmr_close(t);
	}
	return wrong;
}

/* All ranks open the same clocks: their origin is rank 0's. */
static void name_clocks(char *spec, size_t length)
{
	struct tkm_err err;
	int64_t origin = 0;

	if (rank == 0) {
		struct tmr_timer *cpu = tmr_open("CPU", 0, &err);

		origin = tmr_read_ordered(cpu).v;
		tmr_close(cpu);
	}
	MPI_Bcast(&origin, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
	snprintf(spec, length, "sim:base=CPU,offset={rank}ms,drift={rank}0ppm,tick=7.3ns,origin=%lld",
		(long long)origin);
}

static void simulated_clocks(enum cal_shape shape, const char *name, const char *more)
{
	struct cal_job_options o = cal_job_defaults();
	struct tkm_err err = { .text = "" };
	struct cal_link *l = cal_link_join(MPI_COMM_WORLD, &err);
	char spec[256], what[160];
	struct tmr_timer *mine, *masters;
	struct cal_job j;
	struct cal_run run = { .ranks = 0 };
	int k, i, inside = 1, rc, wrong = 0;

	name_clocks(spec, sizeof(spec));
	snprintf(spec + strlen(spec), sizeof(spec) - strlen(spec), "%s", more);
	mine = tmr_open(spec, rank, &err);
	masters = tmr_open(spec, 0, &err);
	l->timer = mine;
	l->patience_s = 60; /* the machine may be busy with other tests */
	o.shape = shape;
	o.skip = 0;
	rc = cal_job_begin(&j, l, &o, &err);
	own_messages(1);
	for (k = 0; k < SESSIONS && rc == 0; k++) {
		rc = cal_job_session(&j, k == 0 ? CAL_START : k + 1 == SESSIONS ? CAL_END : CAL_MIDDLE, &err);
		for (i = 0; i < LOOKS && rc == 0; i++) {
			inside = inside && cal_job_map(&j) && online_is_inside(&j, mine, masters);
			cal_link_sleep(l, 1e-3);
		}
	}
	own_messages(0);
	if (rc < 0) {
		printf("# rank %d: %s\n", rank, err.text);
	}
	snprintf(what, sizeof(what), "%s: all sessions succeed, and the program's own messages arrive", name);
	ok(rc == 0 && j.report.lost == 0 && !mixed_up, what);
	snprintf(what, sizeof(what), "%s: the truth is inside the band of the map that is there at any time", name);
	ok(inside, what);
	snprintf(what, sizeof(what), "%s: after a session the next one is due when the band is as wide as asked for",
		name);
	ok(rank == 0 || is_due_in_time(&j, mine), what);
	rc = gather_job(&j, &run, &err);
	if (rank == 0 && rc == 0) {
		wrong = points_outside(&run, spec, masters);
	}
	if (rc < 0) {
		printf("# rank %d: %s\n", rank, err.text);
	}
	snprintf(what, sizeof(what), "%s: and inside the bounds of all maps in the end", name);
	ok(rc == 0 && wrong == 0 && (rank > 0 || run.ranks == (size_t)size), what);
	cal_run_free(&run);
	cal_job_end(&j);
	cal_link_close(l);
	tmr_close(mine);
	tmr_close(masters);
}

/* The bound ten seconds after the only session: with the .clk file of a run before, and without. */
static void an_earlier_run(void)
{
	struct cal_job_options o = cal_job_defaults();
	struct tkm_err err = { .text = "" };
	char spec[256], path[] = "/tmp/test_job_earlier.clk.XXXXXX", why[300] = "";
	double bound[2] = { 0, 0 };
	struct tmr_timer *mine, *masters;
	int k, i, rc = 0, inside = 1, known = 0;

	name_clocks(spec, sizeof(spec));
	mine = tmr_open(spec, rank, &err);
	masters = tmr_open(spec, 0, &err);
	o.learn_from = "/tmp/no folder/earlier.clk";
	for (k = 0; k < 2; k++) {
		struct cal_link *l = cal_link_join(MPI_COMM_WORLD, &err);
		struct cal_run run = { .ranks = 0 };
		struct cal_job j;

		l->timer = mine;
		l->patience_s = 60;
		rc |= cal_job_begin(&j, l, &o, &err) < 0 || cal_job_session(&j, CAL_START, &err) < 0;
		for (i = 0; i < LOOKS / 2 && rc == 0; i++) {
			inside = inside && cal_job_map(&j) && online_is_inside(&j, mine, masters);
			cal_link_sleep(l, 1e-3);
		}
		if (rc == 0) {
			bound[k] = cal_map_bound(cal_job_map(&j), ltick_add(tmr_read(mine), (int64_t)(10 * mine->hz)));
			known = j.earlier_known;
			if (k == 0) {
				snprintf(why, sizeof(why), "%s", j.earlier_why);
			}
		}
		/* long enough for a rate to a few ppm */
		cal_link_sleep(l, 1);
		rc |= cal_job_session(&j, CAL_END, &err) < 0 || gather_job(&j, &run, &err) < 0;
		if (k == 0 && rank == 0 && rc == 0) {
			int fd = mkstemp(path);
			FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

			rc = !f || cal_clk_write(f, &run, "test_job", &err) < 0 || fclose(f) != 0;
		}
		MPI_Bcast(path, sizeof(path), MPI_CHAR, 0, MPI_COMM_WORLD);
		o.learn_from = path;
		cal_run_free(&run);
		cal_job_end(&j);
		cal_link_close(l);
	}
	if (rank == 0) {
		unlink(path);
	}
	printf("# rank %d: bound 10 s after the only session: %g s, with an earlier run %g s%s%s\n", rank, bound[0],
		bound[1], rc ? ", " : "", rc ? err.text : "");
	ok(rc == 0 && inside, "a job and one that knows it: the truth is inside the band");
	ok(rank == 0 || bound[1] < 0.1 * bound[0], "and the second one knows the rates from the first one's .clk file");
	ok(rank != 0 || known == size - 1, "of all ranks");
	ok(rank != 0 || strstr(why, "No such file"),
		"a .clk file that is not there is reported, and costs nothing else");
	tmr_close(mine);
	tmr_close(masters);
}

/* One kernel clock: no timing messages, error 0. */
static void a_kernel_clock(void)
{
	struct cal_job_options o = cal_job_defaults();
	struct tkm_err err = { .text = "" };
	struct cal_link *l = cal_link_join(MPI_COMM_WORLD, &err);
	struct tmr_timer *t = tmr_open("clock_monotonic", rank, &err);
	struct cal_job j;
	long long before;
	int rc;

	l->timer = t;
	rc = cal_job_begin(&j, l, &o, &err);
	before = l->messages;
	rc = rc < 0 ? rc : cal_job_session(&j, CAL_START, &err);
	ok(rc == 0 && j.plan.pairs == 0 && j.place[rank].leader == 0 && j.place[rank].within_s == 0,
		"one kernel clock is one domain, to within 0");
	ok(l->messages - before <= (rank == 0 ? size - 1 : 0), "and nobody exchanges timing messages");
	/* a reading lags by up to a tick */
	ok(cal_job_map(&j) &&
			cal_map_bound(cal_job_map(&j), j.online.map.node[0].local) < 10e-9 + j.rank.effective_tick_s,
		"and everybody has its map");
	cal_job_end(&j);
	cal_link_close(l);
	tmr_close(t);
}

/* The library of this program asks here: while it is set, odd ranks say that they are on another host. */
static int two_names;

int gethostname(char *name, size_t length)
{
	struct utsname u;

	if (uname(&u) < 0 || length == 0) {
		return -1;
	}
	snprintf(name, length, "%s%s", u.nodename, two_names && rank % 2 ? "-odd" : "");
	return 0;
}

/* Two domains on one node, whose second leader is not the first rank of the node: it has to prove its own. On a busy
 * machine a proof may fail, so there are some tries. */
static void two_domains_on_a_node(void)
{
	struct tkm_err err = { .text = "" };
	struct cal_link *l = cal_link_join(MPI_COMM_WORLD, &err);
	struct cal_place *place = calloc((size_t)size, sizeof(*place));
	struct tmr_timer *t = tmr_open("CPU", rank, &err);
	int i, k, rc = 0, apart = 1, proven[2] = { 0, 0 };

	two_names = 1;
	for (k = 0; k < 30 && rc == 0 && !(proven[0] && proven[1]); k++) {
		rc = cal_domains_find(l, t, fmax(1 / t->hz, 10e-9), 1, place, &err);
		for (i = 0; i < size && rc == 0; i++) {
			apart = apart && place[i].leader == i % 2 && place[i].machine == 0 && !place[i].unproven;
			proven[i % 2] |= !isnan(place[i].within_s);
		}
	}
	two_names = 0;
	ok(rc == 0 && apart, "two names on one machine are two domains");
	ok(size < 2 || proven[0] == proven[1], "and each has its own proof, in a second round");
	cal_link_close(l);
	tmr_close(t);
	free(place);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	simulated_clocks(CAL_SHAPE_STAR, "star", "");
	simulated_clocks(CAL_SHAPE_TREE, "tree", "");
	simulated_clocks(CAL_SHAPE_STAR, "slewed", ",slew={rank}00ppm/400ms/600ms/900ms");
	simulated_clocks(CAL_SHAPE_TREE, "slewed, in a tree", ",slewed=on,step={rank}0us@500ms,step=-7ms@700ms");
	if (size > 1) {
		an_earlier_run();
	}
	a_kernel_clock();
	two_domains_on_a_node();
	if (rank == 0) {
		printf("1..%d\n", tests);
	}
	MPI_Finalize();
	return failed;
}
