/* SPDX-License-Identifier: BSD-3-Clause */
/* All ranks of timertest continue, or none does. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int tt_all_well(struct tt *t, int rc, const struct tkm_err *err)
{
	struct cal_blobs all;
	struct tkm_err *e = &t->silence;
	const char *text = rc < 0 ? err->text : "";
	int bad = -1, alike = 1, i;

	if (rc < 0 && err->code == TKM_ERR_TIMEOUT) {
		*e = *err;
		return -1;
	}
	if (cal_link_gather(t->link, text, strlen(text), &all, e) < 0) {
		return -1;
	}
	for (i = all.n - 1; i >= 0; i--) {
		bad = all.length[i] ? i : bad;
	}
	for (i = 0; i < all.n; i++) {
		alike = alike && bad >= 0 && strcmp(all.data[i], all.data[bad]) == 0;
	}
	if (bad >= 0 && alike) {
		fprintf(stderr, "%s: %s\n", program_invocation_short_name, all.data[bad]);
	} else if (bad >= 0) {
		fprintf(stderr, "%s: rank %d: %s\n", program_invocation_short_name, bad, all.data[bad]);
	}
	cal_blobs_free(&all);
	if (cal_link_bcast(t->link, &bad, sizeof(bad), e) < 0) {
		return -1;
	}
	return bad >= 0 ? -1 : 0;
}
