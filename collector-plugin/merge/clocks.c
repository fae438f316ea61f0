/* SPDX-License-Identifier: BSD-3-Clause */
/* A merge with the maps of a correction file: for programs, which may link all of calib/. */
#include "config.h"
#include "collector-plugin/merge/private.h"

#include "calib/file/clk.h"

#include "collector-plugin/merge/merge.h"
#include "collector-plugin/raw/reader.h"

static int give_maps(
	struct vt_merge_input *in, size_t n, const struct cal_run *run, const char *clk, struct tkm_err *err)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct vt_raw_file *f = vt_raw_open(in[i].path, err);
		int rank = f ? vt_raw_file_head(f)->rank : -1;

		vt_raw_file_close(f);
		if (!f) {
			return -1;
		}
		if (rank < 0 || (size_t)rank >= run->ranks) {
			return tkm_fail(err, TKM_ERR_DATA, "%s: rank %d is not in %s, which has %zu ranks", in[i].path,
				rank, clk, run->ranks);
		}
		in[i].map = &run->rank[rank].map;
	}
	return 0;
}

int vt_merge_corrected(struct vt_merge_input *in, size_t n, const char *clk, const struct vt_merge_options *o,
	struct vt_merge_result *out, struct tkm_err *err)
{
	struct vt_merge_options with = *o;
	struct cal_run run = { 0 };
	size_t i;
	int rc;

	if (cal_clk_load(clk, &run, err) < 0) {
		return -1;
	}
	with.period_s = run.period_s;
	rc = give_maps(in, n, &run, clk, err);
	rc = rc < 0 ? rc : vt_merge(in, n, &with, out, err);
	for (i = 0; i < n; i++) {
		in[i].map = NULL;
	}
	cal_run_free(&run);
	return rc;
}
