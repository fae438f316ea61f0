/* SPDX-License-Identifier: BSD-3-Clause */
/* A fault that was printed is counted where it comes again with other numbers; with another id it is another fault. */
#include "config.h"
#include "tools/check/causes.h"
#include "tests/lib/check.h"

static void numbers_make_no_other_fault_and_ids_do(void)
{
	static const struct {
		const char *suffix, *text;
		int known;
	} all[] = {
		{ ".c.0", "record 7 at offset 120: the counter (3) is not defined", 0 },
		{ ".c.0", "record 9 at offset 4000: the counter (3) is not defined", 1 },
		{ ".c.0", "record 9 at offset 4000: the counter (4) is not defined", 0 },
		{ ".c.1", "record 7 at offset 120: the counter (3) is not defined", 0 },
		{ ".c.0", "record 7 at offset 120: the function (3) is not defined", 0 },
		{ ".c.1", "record 8 at offset 1: the counter (3) is not defined", 1 },
	};
	struct stt_causes c = { 0 };
	struct stt_options o = { .program = "test_causes" };
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		CHECK_INT(stt_cause_is_known(&c, "t.stf", all[i].suffix, all[i].text), all[i].known);
	}
	stt_causes_end(&c, &o);
	CHECK_INT(stt_cause_is_known(&c, "t.stf", all[0].suffix, all[0].text), 0); /* all are forgotten */
	stt_causes_end(&c, &o);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(numbers_make_no_other_fault_and_ids_do);
	return check_end();
}
