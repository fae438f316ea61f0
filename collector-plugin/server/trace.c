/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes one trace of the raw files that have come, and says which nodes and processes it lacks. */
#include "config.h"
#include "collector-plugin/server/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector-plugin/core/collector.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/merge/merge.h"
#include "collector-plugin/raw/process.h"
#include "collector-plugin/raw/reader.h"
#include "collector-plugin/run/finish.h"
#include "collector-plugin/run/names.h"

int vt_server_name_trace(struct vt_server *s, struct tkm_err *err)
{
	struct vt_collector *c = &vt_collector;
	const struct vt_server_process *first = NULL;
	int i;

	for (i = 0; i < s->processes; i++) {
		first = !first || s->process[i].rank < first->rank ? &s->process[i] : first;
	}
	if (vt_collect_names(c, first ? first->program : "VTserver", err) < 0) {
		return -1;
	}
	/* the files arrive beside the trace */
	snprintf(s->folder, sizeof(s->folder), "%.*s", (int)(strrchr(c->trace, '/') + 1 - c->trace), c->trace);
	return 0;
}

/* The rank of a complete file, and one more than the largest of all. */
static int count_ranks(const struct vt_server *s)
{
	struct vt_raw_head h;
	int i, ranks = 0;

	for (i = 0; i < s->files; i++) {
		if (s->file[i].fd < 0 && vt_raw_read_head(s->file[i].path, &h) == 0 && h.rank >= ranks) {
			ranks = h.rank + 1;
		}
	}
	return ranks;
}

/* This process makes the trace. If it is killed, a merge after it may remove what it leaves. */
static void claim_file(const char *path)
{
	const struct vt_raw_id own = vt_raw_own_id();
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd >= 0) {
		if (pwrite(fd, &own, sizeof(own), (off_t)offsetof(struct vt_raw_head, merger_id)) < 0) {
			vt_say(2, "INFO", "cannot write into %s: %s", path, strerror(errno));
		}
		close(fd);
	}
}

static size_t list_inputs(const struct vt_server *s, const struct cal_run *run, struct vt_merge_input *in)
{
	struct vt_raw_head h;
	size_t n = 0;
	int i;

	for (i = 0; i < s->files; i++) {
		if (s->file[i].fd < 0 && vt_raw_read_head(s->file[i].path, &h) == 0) {
			claim_file(s->file[i].path);
			in[n].path = s->file[i].path;
			in[n].map = run && h.rank >= 0 && (size_t)h.rank < run->ranks ? &run->rank[h.rank].map : NULL;
			n++;
		}
	}
	return n;
}

static const char *list_missing(const struct vt_server *s, char *text, size_t size)
{
	size_t n = 0;
	int i;

	text[0] = '\0';
	for (i = s->is_rank_0; i < s->wanted && n < size; i++) {
		if (vt_server_who_has(s, i) != VT_SERVER_JOINED) {
			n += (size_t)snprintf(text + n, size - n, "%s%d", n ? ", " : "", i);
		}
	}
	return text;
}

static void say_who_came(const struct vt_server *s)
{
	int i, k, files = 0;

	for (i = 0; i < s->files; i++) {
		files += s->file[i].fd < 0;
	}
	for (i = 0; i < s->nodes; i++) {
		if (s->node[i].state == VT_SERVER_GONE) {
			char ranks[200] = "";
			size_t n = 0;

			for (k = 0; k < s->processes && n < sizeof(ranks); k++) {
				if (s->process[k].node == i) {
					n += (size_t)snprintf(ranks + n, sizeof(ranks) - n, "%s%d", n ? ", " : "",
						s->process[k].rank);
				}
			}
			vt_say(1, "WARNING",
				s->shared && !s->node[i].left_out
					? "node %s was given up: %s. Its ranks: %s. The trace has what they recorded"
					: "node %s is not in the trace: %s. Its ranks: %s. What they recorded stays there",
				s->node[i].host, s->node[i].why, ranks);
		}
	}
	if (s->wanted > s->processes - s->spawned + s->is_rank_0) {
		char ranks[200];

		vt_say(1, "WARNING", "%d of %d processes have joined. Missing: rank %s",
			s->processes - s->spawned + s->is_rank_0, s->wanted, list_missing(s, ranks, sizeof(ranks)));
	}
	vt_say(1, "INFO", "%d of %d node%s and %d process%s that joined have sent what they recorded: %d raw file%s",
		s->nodes - vt_server_count_gone(s), s->nodes, s->nodes == 1 ? "" : "s", s->processes,
		s->processes == 1 ? "" : "es", files, files == 1 ? "" : "s");
}

int vt_server_has_trace(const struct vt_server *s)
{
	int i, left_out = 0;

	for (i = 0; i < s->nodes; i++) {
		left_out += s->node[i].left_out;
	}
	return s->is_mpi && s->files == 0 && left_out == 0 && (s->shared || vt_server_count_gone(s) == 0);
}

static int merge_files(const struct vt_server *s, const struct cal_run *run, struct tkm_err *err)
{
	struct vt_merge_input *in = calloc((size_t)s->files + 1, sizeof(*in));
	size_t n = in ? list_inputs(s, run, in) : 0;
	int rc = !in ? tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %d raw files", s->files)
		: !n ? tkm_fail(err, TKM_ERR_DATA, "no raw file has come")
		     : vt_collect_merge(in, n, 0, run ? run->period_s : 0, err);

	free(in);
	return rc;
}

int vt_server_make_trace(struct vt_server *s)
{
	struct vt_collector *c = &vt_collector;
	struct cal_run run = { .ranks = 0 };
	struct tkm_err err, why;
	int corrected, rc;

	if (s->processes == 0) {
		vt_say(1, "WARNING", "no trace: no process has joined");
		return -1;
	}
	say_who_came(s);
	if (!s->folder[0] && vt_server_name_trace(s, &err) < 0) {
		vt_say(1, "WARNING", "no trace: %s", err.text);
		return -1;
	}
	/* the sessions of MPI are in the raw files */
	c->merge = s->is_mpi ? vt_merge_recorded : vt_merge;
	corrected = !s->is_mpi && vt_server_solve_clocks(s, count_ranks(s), &run, &why) == 0;
	vt_collect_free_name(c);
	c->pub.ranks = count_ranks(s);
	rc = merge_files(s, corrected ? &run : NULL, &err);
	if (rc == 0 && !corrected && !s->is_mpi) {
		vt_say(1, "WARNING", "the clocks are not corrected: %s", why.text);
	}
	if (rc == 0 && corrected) {
		rc = vt_merge_keep_correction(&run, c->trace, &err);
	}
	cal_run_free(&run);
	if (rc < 0) {
		/* without the names of files, if none has come */
		vt_say(1, "WARNING", s->files ? "no trace: %s. What came is in the raw files in %s" : "no trace: %s",
			err.text, s->shared ? s->shared : s->folder);
		return -1;
	}
	vt_collect_show(c);
	return 0;
}
