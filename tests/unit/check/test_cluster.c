/* SPDX-License-Identifier: BSD-3-Clause */
/* What the stored result says of the nodes, and when it does not hold. */
#define _GNU_SOURCE
#include "config.h"
#include "check/check.h"
#include "check/stored.h"
#include "tests/lib/check.h"
#include "tests/unit/check/machine.h"

static void suspend(struct chk_machine *m, struct chk_stored *s)
{
	(void)s;
	m->begin.boottime_s += 30;
}

/* no /sys: clocksource.current says so */
static void hide_source(struct chk_machine *m, struct chk_stored *s)
{
	(void)s;
	m->env.clocksource[0] = 0;
}

static void grow_old(struct chk_machine *m, struct chk_stored *s)
{
	(void)m;
	s->started_s -= 2 * 86400;
}

static void drift(struct chk_machine *m, struct chk_stored *s)
{
	(void)m;
	s->drift_ppm = 700;
	s->offset_max_s = 60e-6;
	s->uncorrected_s = 3;
	s->residual_s = 60e-6;
	snprintf(s->verdict, sizeof(s->verdict), "unfit");
}

static void what_the_stored_result_says_is_found(void)
{
	static const struct found all[] = {
		{ NO_DEFECT, suspend, "result.age", CHK_WARNING },
		{ NO_DEFECT, suspend, "sync.offset_max", CHK_UNKNOWN },
		{ NO_DEFECT, change_source, "sync.drift", CHK_UNKNOWN },
		{ NO_DEFECT, hide_source, "result.age", CHK_OK },
		{ NO_DEFECT, grow_old, "result.age", CHK_WARNING },
		{ NO_DEFECT, be_another, "result.age", CHK_WARNING },
		{ NO_DEFECT, boot, "result.age", CHK_WARNING },
		{ NO_DEFECT, drift, "sync.drift", CHK_CRITICAL },
		{ NO_DEFECT, drift, "sync.offset_max", CHK_WARNING },
		{ NO_DEFECT, drift, "sync.offset_uncorrected", CHK_CRITICAL },
		{ NO_DEFECT, drift, "sync.residual", CHK_WARNING },
		{ NO_DEFECT, drift, "result.verdict", CHK_WARNING },
	};

	each_is_found(all, sizeof(all) / sizeof(all[0]));
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	if (begin_machine() < 0) {
		return 99;
	}
	RUN(what_the_stored_result_says_is_found);
	return end_machine();
}
