/* SPDX-License-Identifier: BSD-3-Clause */
/* A merge with the maps of a correction file, or of the clock sessions stored in the raw files. Only for programs,
 * which may link all of calib/. */
#include "config.h"
#include "collector-plugin/merge/common/private.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/newfile.h"
#include "base/text/text.h"
#include "calib/file/clk.h"
#include "collector-plugin/merge/merge.h"
#include "collector-plugin/raw/reader.h"

int vt_merge_corrected(const struct vt_merge_input *in, size_t n, const char *clk, const struct vt_merge_options *o,
	struct vt_merge_result *out, struct tkm_err *err)
{
	struct vt_merge_options with = *o;
	struct cal_run run = { 0 };
	int rc;

	if (cal_clk_load(clk, &run, err) < 0) {
		return -1;
	}
	with.period_s = run.period_s;
	with.run = &run;
	with.clk = clk;
	rc = vt_merge(in, n, &with, out, err);
	cal_run_free(&run);
	return rc;
}

/* ---- clock sessions in the raw files ---- */

struct sessions {
	struct cal_run run;
	unsigned char *have; /* [ranks]: the sessions of the rank have been read */
	char job[sizeof(((struct vt_raw_head *)0)->job)];
};

static int begin_run(struct sessions *s, const struct vt_raw_head *h, struct tkm_err *err)
{
	memcpy(s->job, h->job, sizeof(s->job));
	s->run.ranks = (size_t)h->ranks;
	s->run.rank = calloc(s->run.ranks, sizeof(*s->run.rank));
	s->have = calloc(s->run.ranks, 1);
	if (!s->run.rank || !s->have) {
		s->run.ranks = s->run.rank ? s->run.ranks : 0;
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the clock sessions of %d ranks", h->ranks);
	}
	return 0;
}

/* Reads the sessions of one file. If a rank has several files, they are of programs that followed each other by exec,
 * and the last file has the sessions. */
static int read_sessions(struct sessions *s, const char *path, int *rank, struct tkm_err *err)
{
	struct vt_raw_head h = { .rank = -1 };
	char *text = NULL;
	size_t n = 0;
	int rc = vt_raw_read_clocks(path, &h, &text, &n, err);

	*rank = h.rank;
	/* a process that did not call MPI_Init has no sessions, though the sampler process read the kernel's clocks for it */
	if (rc < 0 || !cal_clk_has_sessions(text, n)) {
		free(text);
		return rc;
	}
	if (h.rank < 0 || h.rank >= h.ranks || h.ranks > 1 << 20) {
		rc = tkm_fail(err, TKM_ERR_DATA, "%s: rank %d of %d has clock sessions", path, h.rank, h.ranks);
	} else if (s->run.ranks == 0) {
		rc = begin_run(s, &h, err);
	} else if (strcmp(s->job, h.job) || s->run.ranks != (size_t)h.ranks || s->have[h.rank]) {
		rc = tkm_fail(err, TKM_ERR_DATA, "%s: not of the same job as the other files", path);
	}
	if (rc == 0) {
		rc = cal_clk_read_new(text, n, path, &s->run.rank[h.rank], err);
		s->have[h.rank] = rc == 0;
		if (rc == 0 && s->run.rank[h.rank].rank != h.rank) {
			rc = tkm_fail(err, TKM_ERR_DATA, "%s: its clock sessions are those of rank %d", path,
				s->run.rank[h.rank].rank);
		}
	}
	free(text);
	return rc;
}

/* Removes exchanges with ranks that have no file. */
static void forget_missing(struct sessions *s)
{
	size_t i, k, n;

	for (i = 0; i < s->run.ranks; i++) {
		struct cal_rank *r = &s->run.rank[i];

		for (k = n = 0; k < r->edges; k++) {
			int peer = r->edge[k].peer;

			if (peer >= 0 && (size_t)peer < s->run.ranks && s->have[peer]) {
				r->edge[n++] = r->edge[k];
			} else {
				cal_session_free(&r->edge[k]);
			}
		}
		r->edges = n;
	}
}

/* A run must have a map for each rank; this gives one to each rank without a file, where it is not used. */
static int fill_missing_maps(struct sessions *s, struct tkm_err *err)
{
	const struct cal_rank *master = &s->run.rank[0];
	size_t i;

	if (!s->have[0]) {
		return tkm_fail(
			err, TKM_ERR_DATA, "the clock sessions of rank 0, the reference of all others, are missing");
	}
	forget_missing(s);
	for (i = 0; i < s->run.ranks; i++) {
		struct cal_rank *r = &s->run.rank[i];

		if (!s->have[i]) {
			*r = (struct cal_rank){ .rank = (int)i,
				.sync = CAL_SHARED,
				.nominal_hz = master->nominal_hz,
				.effective_tick_s = master->effective_tick_s };
			snprintf(r->host, sizeof(r->host), "unknown");
			snprintf(r->timer, sizeof(r->timer), "%s", master->timer);
		}
		if (r->sync == CAL_SHARED && (r->leader < 0 || (size_t)r->leader >= s->run.ranks)) {
			return tkm_fail(err, TKM_ERR_DATA, "rank %zu shares the clock of rank %d, which does not exist",
				i, r->leader);
		}
		if (r->sync == CAL_SHARED && s->have[i] && !s->have[r->leader]) {
			return tkm_fail(err, TKM_ERR_DATA,
				"the clock of rank %zu is that of rank %d, whose raw file is missing", i, r->leader);
		}
		s->run.max_drift = r->max_drift > s->run.max_drift ? r->max_drift : s->run.max_drift;
		s->run.max_wander = r->max_wander > s->run.max_wander ? r->max_wander : s->run.max_wander;
	}
	return 0;
}

/* rank: [n] of each file */
static int give_recorded_maps(
	struct vt_merge_input *in, const int *rank, size_t n, const struct sessions *s, struct tkm_err *err)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (rank[i] < 0 || (size_t)rank[i] >= s->run.ranks || !s->have[rank[i]]) {
			/* the file was recorded before MPI_Init, or by a rank that died in MPI_Init */
			return tkm_fail(err, TKM_ERR_DATA, "%s has no clock session", in[i].path);
		}
		in[i].map = &s->run.rank[rank[i]].map;
	}
	return 0;
}

int vt_merge_keep_correction(const struct cal_run *run, const char *trace, struct tkm_err *err)
{
	size_t length = strlen(trace);
	struct tkm_newfile n;
	char path[4096];

	if (length > 4 && strcmp(trace + length - 4, ".stf") == 0) {
		length -= 4;
	}
	snprintf(path, sizeof(path), "%.*s.clk", (int)length, trace);
	if (tkm_newfile_begin(&n, path, 1, err) < 0) {
		return -1;
	}
	if (cal_clk_write(n.f, run, PACKAGE_STRING, err) < 0) {
		tkm_newfile_abort(&n);
		return -1;
	}
	return tkm_newfile_commit(&n, err);
}

static void say_uncorrected(const struct vt_merge_options *o, const struct tkm_err *why)
{
	char line[700];

	if (o->say) {
		snprintf(line, sizeof(line), "the clocks are not corrected: %.500s", why->text);
		o->say(o->ctx, line);
	}
}

/* Was a clock set while the ranks ran, or did one step against that of rank 0? */
static void say_steps(const struct cal_run *run, const struct vt_merge_options *o)
{
	const struct cal_step *first = NULL;
	char size[40], within[40], more[60] = "", line[700];
	size_t i, k, steps = 0, rank = 0;

	for (i = 0; i < run->ranks; i++) {
		const struct cal_rank *r = &run->rank[i];

		for (k = 0; r->sync != CAL_SHARED && k < r->map.steps; k++) {
			rank = steps++ ? rank : i;
			first = first ? first : &r->map.step[k];
		}
	}
	if (o->say && run->clock_was_set && run->rank[0].may_step) {
		snprintf(line, sizeof(line),
			"the clock of rank 0, %.200s, was set while the program ran: stamps and durations across that are "
			"wrong; a clock that is never set is VT_TIMER=clock_monotonic",
			run->rank[0].timer);
		o->say(o->ctx, line);
	}
	if (steps > 1) {
		snprintf(more, sizeof(more), ", and there %s %zu more", steps > 2 ? "are" : "is", steps - 1);
	}
	if (o->say && first) {
		snprintf(line, sizeof(line),
			"the clock of rank %zu stepped against that of rank 0 by %s, certain to %s, between %.3f s and %.3f s "
			"of the run%s: stamps in between are only known to within the step, and messages there may seem to "
			"arrive before they were sent (step in the .clk file). Find out who sets the clock, or use a timer "
			"that is never set",
			rank, tkm_print_time(size, sizeof(size), first->size_s, 3),
			tkm_print_upper(within, sizeof(within), first->within_s, 3),
			(double)first->from_global.v * run->period_s, (double)first->to_global.v * run->period_s, more);
		o->say(o->ctx, line);
	}
}

static int merge_corrected(const struct sessions *s, const struct vt_merge_input *in, size_t n,
	const struct vt_merge_options *o, struct vt_merge_result *out, struct tkm_err *err)
{
	struct vt_merge_options with = *o;
	int rc;

	with.period_s = s->run.period_s;
	say_steps(&s->run, o);
	rc = vt_merge(in, n, &with, out, err);
	return rc < 0 ? rc : vt_merge_keep_correction(&s->run, o->trace, err);
}

int vt_merge_recorded(const struct vt_merge_input *in, size_t n, const struct vt_merge_options *o,
	struct vt_merge_result *out, struct tkm_err *err)
{
	struct sessions s = { .run = { .wanted = CAL_CUBIC, .method = CAL_SYNC_PAIRS, .learn = o->learn } };
	struct vt_merge_input *with = malloc((n + 1) * sizeof(*with));
	int *rank = malloc((n + 1) * sizeof(*rank)), rc = 0, lost;
	struct tkm_err why;
	size_t i;

	if (!with || !rank) {
		free(with);
		free(rank);
		return tkm_fail(err, TKM_ERR_NOMEM, "merge: out of memory for %zu files", n);
	}
	memcpy(with, in, n * sizeof(*with));
	for (i = 0; i < n && rc == 0; i++) {
		rc = read_sessions(&s, in[i].path, &rank[i], &why);
	}
	if (rc == 0 && s.run.ranks > 0) {
		rc = fill_missing_maps(&s, &why) < 0 || cal_solve(&s.run, o->skip_sessions, &why) < 0
			? -1
			: give_recorded_maps(with, rank, n, &s, &why);
	}
	lost = rc < 0;
	rc = !lost && s.run.ranks > 0 ? merge_corrected(&s, with, n, o, out, err) : vt_merge(in, n, o, out, err);
	/* a file that cannot be read at all is an error that the merge reports, not an error of the clocks */
	if (lost && rc == 0) {
		say_uncorrected(o, &why);
	}
	cal_run_free(&s.run);
	free(s.have);
	free(rank);
	free(with);
	return rc;
}
