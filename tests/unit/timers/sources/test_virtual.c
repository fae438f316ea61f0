/* SPDX-License-Identifier: BSD-3-Clause */
/* A clock that only moves when it is told to, in picoseconds. */
#include "config.h"
#include "timers/sources/virtual.h"
#include "tests/lib/check.h"

static void time_rests_until_it_is_moved(void)
{
	struct tmr_virtual v = { .now_ps = 5 };
	struct tmr_timer *t = tmr_virtual_open(&v);

	CHECK(t && t->hz == 1e12, "1 tick is 1 ps");
	CHECK_INT(tmr_read(t).v, 5);
	CHECK_INT(tmr_read(t).v, 5);
	v.now_ps = -3;
	CHECK_INT(tmr_read_ordered(t).v, -3);
	tmr_close(t);
}

static void a_read_costs_what_it_is_told_to(void)
{
	struct tmr_virtual v = { .now_ps = 1000, .read_cost_ps = 20 };
	struct tmr_timer *t = tmr_virtual_open(&v);

	CHECK_INT(tmr_read(t).v, 1020);
	CHECK_INT(tmr_read_ordered(t).v, 1040);
	CHECK_INT(v.now_ps, 1040);
	tmr_close(t);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(time_rests_until_it_is_moved);
	RUN(a_read_costs_what_it_is_told_to);
	return check_end();
}
