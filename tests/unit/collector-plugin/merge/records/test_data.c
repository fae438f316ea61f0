/* SPDX-License-Identifier: BSD-3-Clause */
/* Values are in the trace between the states where they were recorded. */
#include "config.h"
#include "base/ticks.h"
#include "collector-plugin/merge/common/options.h"
#include "collector-plugin/raw/events.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/unit/collector-plugin/merge/records/events.h"

#include <stdlib.h>

static void end(struct vt_raw *r, int64_t last)
{
	vt_raw_clock(r, ltick(0), 1000000000, 0, 0);
	vt_raw_close(r, ltick(last));
}

static void short_enter(struct vt_raw_stream *s, int64_t t, uint32_t function)
{
	vt_raw_enter(s, ltick(t), 0, (struct vt_raw_state_change){ function, 0 });
}

/* Short values between short states, which the merge takes many of at once, are neither of these. */
static void values_between_states(void)
{
	struct vt_raw *r = begin("v");
	struct vt_raw_stream *s = vt_raw_stream(r);
	struct vt_raw_counter_def d = {
		.id = 0x10001, .classid = 0x10001, .type = 0x43, .upper = UINT64_MAX, .name = "n"
	};
	const uint32_t id[1] = { 0x10001 };
	struct vt_merge_result res;
	uint64_t v = 5;
	char *text;
	int t;

	vt_raw_counter(r, &d);
	vt_raw_values(s, ltick(100), 0, 1, id, &v, 1);
	for (t = 110; t < 210; t += 50) {
		short_enter(s, t, 0x10001);
		short_enter(s, t + 10, 0x10002);
		v += t == 110 ? 1 : 100000; /* in one word; in two */
		CHECK_INT(vt_raw_values_short(s, ltick(t + 20), 1, id, &v), 1);
		vt_raw_leave(s, ltick(t + 30), 0, 0);
		vt_raw_leave(s, ltick(t + 40), 0, 0);
	}
	end(r, 1000);
	text = events("v", &res);
	CHECK_STR(text,
		"100 0 counter_value 5\n"
		"110 0 enter_function f\n120 0 enter_function g\n130 0 counter_value 6\n"
		"140 0 leave_function\n150 0 leave_function\n"
		"160 0 enter_function f\n170 0 enter_function g\n180 0 counter_value 100006\n"
		"190 0 leave_function\n200 0 leave_function\n");
	free(text);
}

/* A stream goes to another thread with a state open: values of that one come before its first state. */
static void values_of_the_next_thread(void)
{
	struct vt_raw *r = begin("w");
	struct vt_raw_stream *s = vt_raw_stream(r);
	struct vt_raw_counter_def d = {
		.id = 0x10001, .classid = 0x10001, .type = 0x43, .upper = UINT64_MAX, .name = "n"
	};
	const uint32_t id[1] = { 0x10001 };
	struct vt_merge_result res;
	uint64_t v = 5;
	char *text;

	vt_raw_counter(r, &d);
	vt_raw_thread(r, 1, 5, "");
	short_enter(s, 100, 0x10001);
	vt_raw_no_owner(s);
	vt_raw_values(s, ltick(110), 1, 1, id, &v, 1);
	v = 6;
	CHECK_INT(vt_raw_values_short(s, ltick(120), 1, id, &v), 1);
	CHECK_INT(vt_raw_enter_short(s, ltick(130), 0x10002, vt_raw_short_code(0x10002)), 1);
	CHECK_INT(vt_raw_leave_short(s, ltick(140)), 1);
	end(r, 1000);
	text = events("w", &res);
	CHECK_STR(text,
		"100 0 enter_function f\n110 1 counter_value 5\n120 1 counter_value 6\n130 0 leave_function\n"
		"130 1 enter_function g\n140 1 leave_function\n");
	free(text);
}

int main(int argc, char **argv)
{
	char command[100];

	check_args(argc, argv);
	if (!mkdtemp(dir)) {
		return 99;
	}
	RUN(values_between_states);
	RUN(values_of_the_next_thread);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return check_end() | (system(command) != 0);
}
