/* SPDX-License-Identifier: BSD-3-Clause */
/* Clock sessions that the ranks of a job stored in their raw files: the trace of that job is on corrected time. Clocks and messages
 * are simulated, so that the true time of each sample is known. */
#include "config.h"
#include "collector-plugin/merge/merge.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/compare/link_sim.h"
#include "calib/file/clk.h"
#include "calib/session/sync.h"
#include "collector-plugin/raw/writer.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/heap.h"
#include "timers/sources/sim.h"

enum { RANKS = 3, SAMPLES = 5 };

static char dir[64], path[RANKS][100], trace[100], clk[100];
static const double seconds = 10;

/* ---- the job ---- */

struct job {
	struct cal_link *link;
	struct cal_run run;
	int64_t begin_ps;
	struct vt_raw *raw[RANKS];
	struct vt_raw_stream *stream[RANKS];
};

static void begin_job(struct job *j)
{
	struct tkm_err err = { .text = "" };
	int i;

	memset(j, 0, sizeof(*j));
	j->link =
		cal_link_sim(RANKS, "offset={rank}s,drift={rank}0ppm,tick=1ns", "delay=100ns,jitter=20ns,seed=3", &err);
	CHECK(j->link != NULL, "%s", err.text);
	j->run.rank = calloc(RANKS, sizeof(*j->run.rank));
	j->run.ranks = RANKS;
	for (i = 0; i < RANKS; i++) {
		struct tmr_timer *clock = cal_link_sim_clock(j->link, i);
		struct cal_rank *r = &j->run.rank[i];
		struct vt_raw_options o = { .path = path[i],
			.block_size = 4096,
			.max_blocks = 64,
			.autoflush = 1,
			.timer = "sim",
			.program = "prog",
			.job = "job",
			.hz = 1e9,
			.start = tmr_read(clock),
			.rank = i,
			.ranks = RANKS };

		r->rank = i;
		r->nominal_hz = clock->hz;
		r->effective_tick_s = 1e-9;
		r->max_drift = 500e-6;
		r->max_wander = 1e-6;
		r->session = calloc(2, sizeof(*r->session));
		snprintf(r->timer, sizeof(r->timer), "sim");
		snprintf(r->host, sizeof(r->host), "host%d", i);
		unlink(path[i]);
		j->raw[i] = vt_raw_create(&o, &err);
		CHECK(j->raw[i] != NULL, "%s", err.text);
		vt_raw_class(j->raw[i], 1, 0, "class");
		vt_raw_counter(j->raw[i],
			&(struct vt_raw_counter_def){
				.id = 16, .classid = 1, .type = STF_COUNTER_U8 | STF_COUNTER_SAMPLE, .name = "n" });
		j->stream[i] = vt_raw_stream(j->raw[i]);
	}
	j->begin_ps = cal_link_sim_time(j->link)->now_ps;
}

/* A session, after which every rank has what it knows stored. */
static void synchronise(struct job *j, enum cal_session_kind kind, struct cal_clk_done *done)
{
	static const unsigned char all[RANKS] = { 1, 1, 1 };
	double hz[RANKS] = { 1e9, 1e9, 1e9 };
	struct cal_sync_options opt = { .max_messages = 50, .max_duration_s = 60, .method = CAL_SYNC_ITC, .hz = hz };
	struct cal_session s[RANKS] = { 0 };
	struct cal_anchor *a = &j->run.rank[0].anchor[j->run.rank[0].anchors++];
	struct tkm_err err = { .text = "" };
	int i;

	a->local = tmr_read(cal_link_sim_clock(j->link, 0));
	a->realtime_ns = a->monotonic_ns = cal_link_sim_time(j->link)->now_ps / 1000;
	CHECK(cal_sync_session(j->link, 0, all, &opt, kind, s, &err) == 0, "%s", err.text);
	for (i = 0; i < RANKS; i++) {
		struct cal_rank *r = &j->run.rank[i];
		char *text = NULL;
		size_t n = 0;
		FILE *f = open_memstream(&text, &n);

		if (i > 0) {
			r->session[r->sessions++] = s[i];
		}
		CHECK(cal_clk_write_new(f, r, &done[i], &err) == 0, "%s", err.text);
		fclose(f);
		CHECK_INT(vt_raw_clocks(j->raw[i], text, n), 0);
		free(text);
	}
}

/* All ranks record at the same time, each by its own clock. */
static void sample(struct job *j, uint64_t value)
{
	const uint32_t id = 16;
	int i;

	for (i = 0; i < RANKS; i++) {
		vt_raw_counters(j->stream[i], tmr_read(cal_link_sim_clock(j->link, i)), 0, 1, &id, &value);
	}
}

static void record(void)
{
	struct cal_clk_done done[RANKS] = { 0 };
	struct job j;
	uint64_t k;
	int i;

	begin_job(&j);
	synchronise(&j, CAL_START, done);
	for (k = 0; k < SAMPLES; k++) {
		cal_link_sleep(j.link, seconds / SAMPLES);
		sample(&j, k);
	}
	synchronise(&j, CAL_END, done);
	for (i = 0; i < RANKS; i++) {
		vt_raw_stream_end(j.stream[i]);
		vt_raw_close(j.raw[i], tmr_read(cal_link_sim_clock(j.link, i)));
	}
	cal_run_free(&j.run);
	cal_link_close(j.link);
}

/* ---- the trace ---- */

static char said[800];

static void note(void *ctx, const char *line)
{
	(void)ctx;
	snprintf(said, sizeof(said), "%s", line);
}

static int merge(int first, int n, struct tkm_err *err)
{
	struct vt_merge_options o = { .trace = trace, .force = 1, .say = note };
	struct vt_merge_input in[RANKS];
	struct vt_merge_result res;
	int i;

	for (i = 0; i < n; i++) {
		in[i] = (struct vt_merge_input){ .path = path[first + i] };
	}
	said[0] = err->text[0] = '\0';
	return vt_merge_recorded(in, (size_t)n, &o, &res, err);
}

/* How far the times of one sample are apart at most, in seconds. */
static double apart(void)
{
	uint64_t low[SAMPLES], high[SAMPLES] = { 0 }, n = 0;
	struct stf_err e;
	struct stf_reader *r = stf_reader_open(trace, 0, &e);
	struct stf_cursor *c = r ? stf_cursor_open(r, NULL, &e) : NULL;
	const struct stf_record *rec;
	struct stf_counter_value v;
	double most = 0, resolution = 0;
	uint32_t bits;
	int k;

	memset(low, 0xff, sizeof(low));
	while (c && stf_cursor_next(c, &rec, &e) > 0) {
		if (stf_get_counter_value(rec, &v) == 0 && v.values[0] < SAMPLES) {
			low[v.values[0]] = v.time < low[v.values[0]] ? v.time : low[v.values[0]];
			high[v.values[0]] = v.time > high[v.values[0]] ? v.time : high[v.values[0]];
			n++;
		}
	}
	CHECK_INT(n, RANKS * SAMPLES);
	CHECK_INT(stf_reader_clock(r, &resolution, &bits), 0);
	for (k = 0; k < SAMPLES; k++) {
		most = fmax(most, (double)(high[k] - low[k]) * resolution);
	}
	stf_cursor_close(c);
	stf_reader_close(r);
	return most;
}

static void stored_sessions_correct_the_trace(void)
{
	struct cal_run run;
	struct tkm_err err;

	record();
	CHECK(merge(0, RANKS, &err) == 0, "%s", err.text);
	CHECK(!said[0], "%s", said);
	CHECK(apart() < 200e-9, "%g s apart", apart());
	CHECK(cal_clk_load(clk, &run, &err) == 0, "%s", err.text);
	CHECK_INT(run.ranks, RANKS);
	CHECK_INT(run.rank[2].sessions, 2);
	cal_run_free(&run);
	unlink(clk);
}

static void without_the_reference_the_reason_is_told(void)
{
	struct tkm_err err;

	record();
	CHECK(merge(1, RANKS - 1, &err) == 0, "%s", err.text);
	CHECK(strstr(said, "not corrected") && strstr(said, "rank 0, the reference of all others"), "'%s'", said);
	CHECK(access(clk, F_OK) != 0, "a correction was kept");
	/* but another rank may be missing */
	CHECK(merge(0, RANKS - 1, &err) == 0, "%s", err.text);
	CHECK(!said[0], "%s", said);
	CHECK(access(clk, F_OK) == 0, "no correction");
	unlink(clk);
}

/* The correction is the largest of the files. */
static void a_correction_that_does_not_fit_leaves_nothing(void)
{
	struct rlimit before, small;
	char command[200];
	struct tkm_err err;
	int rc;

	record();
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	small = before;
	small.rlim_cur = 10000;
	setrlimit(RLIMIT_FSIZE, &small);
	rc = merge(0, RANKS, &err);
	setrlimit(RLIMIT_FSIZE, &before);
	CHECK(rc < 0 && err.code == TKM_ERR_IO && !strstr(err.text, "t.stf"), "%d: %s", rc, err.text);
	snprintf(command, sizeof(command), "cd %s && ! ls | grep -e clk -e tmp", dir);
	CHECK(system(command) == 0, "something is left");
}

static void record_and_merge(void)
{
	struct tkm_err err;

	record();
	CHECK(merge(0, RANKS, &err) == 0 && merge(1, 2, &err) == 0, "%s", err.text);
}

static void all_memory_is_given_back(void)
{
	CHECK_HEAP(record_and_merge, 3);
}

int main(int argc, char **argv)
{
	char command[100];
	int i;

	check_args(argc, argv);
	strcpy(dir, "/tmp/test_merge_clocks.XXXXXX");
	if (!mkdtemp(dir)) {
		printf("Bail out! no temporary directory\n");
		return 99;
	}
	for (i = 0; i < RANKS; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/%d.raw", dir, i);
	}
	snprintf(trace, sizeof(trace), "%s/t.stf", dir);
	snprintf(clk, sizeof(clk), "%s/t.clk", dir);
	RUN(stored_sessions_correct_the_trace);
	RUN(without_the_reference_the_reason_is_told);
	RUN(a_correction_that_does_not_fit_leaves_nothing);
	RUN(all_memory_is_given_back);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command) == 0 ? check_end() : 99;
}
