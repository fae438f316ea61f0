/* SPDX-License-Identifier: BSD-3-Clause */
/* Clock calibration in a job: rates from the .clk file of an earlier run, which rank 0 reads for all ranks. */
#include "config.h"
#include "calib/job/earlier.h"

#include <stdlib.h>
#include <string.h>

#include "calib/file/clk.h"
#include "calib/file/earlier.h"

/* What identifies a clock. */
struct who {
	char host[128], boot_id[40], timer[256], reference[256];
};

static struct cal_rank earlier_rank(const char *data)
{
	struct cal_rank r = { .rank = 0 };
	struct who who;

	memcpy(&who, data, sizeof(who));
	memcpy(r.host, who.host, sizeof(r.host));
	memcpy(r.boot_id, who.boot_id, sizeof(r.boot_id));
	memcpy(r.timer, who.timer, sizeof(r.timer));
	memcpy(r.reference, who.reference, sizeof(r.reference));
	return r;
}

/* Rank 0. Never fails: j->earlier_why says why nothing is known. */
static void look_up_earlier(struct cal_job *j, const struct cal_blobs *all)
{
	struct tkm_err why = { .text = "" };
	struct cal_rank master, child;
	struct cal_run earlier;
	int i;

	if (cal_clk_load(j->o.learn_from, &earlier, &why) < 0) {
		snprintf(j->earlier_why, sizeof(j->earlier_why), "%.*s", (int)sizeof(j->earlier_why) - 1, why.text);
		return;
	}
	master = earlier_rank(all->data[0]);
	for (i = 1; i < all->n; i++) {
		child = earlier_rank(all->data[i]);
		j->earlier_known += cal_earlier_rate(&earlier, &child, &master, j->o.max_wander, &j->earlier[2 * i],
					    &j->earlier[2 * i + 1]) == 0;
	}
	cal_run_free(&earlier);
	if (j->earlier_known == 0) {
		snprintf(j->earlier_why, sizeof(j->earlier_why),
			"%.150s has no clock of this job since its host was booted, or one that stepped or did not "
			"keep to "
			"what was assumed",
			j->o.learn_from);
	}
}

int cal_job_look_up_earlier(struct cal_job *j, struct tkm_err *err)
{
	size_t n = (size_t)j->link->size;
	struct cal_blobs all = { .n = 0 };
	struct who me = { .host = "" };
	int rc;

	j->earlier = calloc(2 * n, sizeof(*j->earlier));
	if (!j->earlier) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %zu ranks", n);
	}
	memcpy(me.host, j->rank.host, sizeof(me.host));
	memcpy(me.boot_id, j->rank.boot_id, sizeof(me.boot_id));
	memcpy(me.timer, j->rank.timer, sizeof(me.timer));
	memcpy(me.reference, j->rank.reference, sizeof(me.reference));
	rc = cal_link_gather(j->link, &me, sizeof(me), &all, err);
	if (rc == 0 && j->link->rank <= 0) {
		look_up_earlier(j, &all);
	}
	cal_blobs_free(&all);
	return rc < 0 ? rc : cal_link_bcast(j->link, j->earlier, 2 * n * sizeof(*j->earlier), err);
}
