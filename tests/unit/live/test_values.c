/* SPDX-License-Identifier: BSD-3-Clause */
/* Values with their factors, totals as rates. */
#include "config.h"
#include "collector-plugin/raw/writer.h"
#include "include/stf.h"
#include "live/live.h"
#include "tests/lib/check.h"
#include "tests/lib/heap.h"
#include "tests/lib/raw_file.h"

/* Of this process alone: other tests record jobs at the same time. */
static char own_job[40], own_program[40], own_trace[40];

static uint64_t real(double d)
{
	uint64_t u;

	memcpy(&u, &d, sizeof(u));
	return u;
}

static void a_value_is_shown_with_its_factor(void)
{
	struct vtr_live_cell c = { .kind = STF_COUNTER_U8, .factor = 0.5, .hz = 1e6 };

	CHECK(isnan(vtr_live_value(&c)), "no sample");
	c.n = 1;
	c.new.bits = UINT64_MAX;
	CHECK_NEAR(vtr_live_value(&c), 0x1p63, 0);
	c.kind = STF_COUNTER_I8;
	CHECK_NEAR(vtr_live_value(&c), -0.5, 0);
	c.kind = STF_COUNTER_F8;
	c.new.bits = real(2.5);
	CHECK_NEAR(vtr_live_value(&c), 1.25, 0);
}

static void a_total_is_shown_as_its_rate(void)
{
	struct vtr_live_cell c = { .kind = STF_COUNTER_U8, .rate = 1, .factor = 2, .hz = 1e6, .n = 1 };

	c.new = (struct vtr_live_sample){ 40, 2000000 };
	CHECK(isnan(vtr_live_value(&c)), "one sample has no rate");
	c.n = 2;
	c.old = (struct vtr_live_sample){ 10, 500000 };
	CHECK_NEAR(vtr_live_value(&c), 2 * 30 / 1.5, 1e-9);
	c.old.bits = 40;
	CHECK_NEAR(vtr_live_value(&c), 0, 0);
	c.old.bits = 41;
	CHECK(isnan(vtr_live_value(&c)), "a total that fell");
	c.old.bits = UINT64_MAX - 9; /* past the largest number */
	CHECK_NEAR(vtr_live_value(&c), 2 * 50 / 1.5, 1e-9);
	c.kind = STF_COUNTER_I8;
	CHECK_NEAR(vtr_live_value(&c), 2 * 50 / 1.5, 1e-9);
	c.kind = STF_COUNTER_F8;
	c.old.bits = real(1.25);
	c.new.bits = real(4.25);
	CHECK_NEAR(vtr_live_value(&c), 2 * 3 / 1.5, 1e-9);
	c.old.tick = c.new.tick;
	CHECK(isnan(vtr_live_value(&c)), "no time between them");
	c.old.tick = c.new.tick + 1;
	CHECK(isnan(vtr_live_value(&c)), "a step back");
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	snprintf(own_job, sizeof(own_job), "job%d", (int)getpid());
	snprintf(own_program, sizeof(own_program), "prog%d", (int)getpid());
	snprintf(own_trace, sizeof(own_trace), "/t%d.stf", (int)getpid());
	RUN(a_value_is_shown_with_its_factor);
	RUN(a_total_is_shown_as_its_rate);
	remove_dir();
	return check_end();
}
