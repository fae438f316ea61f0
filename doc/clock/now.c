/* SPDX-License-Identifier: BSD-3-Clause */
/* Example of tickmark/clock.h: which of two events was first, and a wait until one is certainly past.
 *
 *	cc now.c $(pkg-config --cflags --libs tickmark-clock)
 *	./a.out utc            where tickmark-clockd runs
 *	./a.out job            in a process of an MPI job under libVT, or beside it on the same node
 *	./a.out FILE.clk       a file of timertest from this node */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <tickmark/clock.h>

static int show(const char *what, const struct tickmark_time *t)
{
	if (t->status != TICKMARK_OK) {
		printf("%s: %s\n", what, tickmark_status_name(t->status));
		return 1;
	}
	printf("%s: %" PRId64 " .. %" PRId64 " ns\n", what, t->earliest_ns, t->latest_ns);
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const answer[] = { "no", "yes", "cannot tell" };
	struct tickmark_options o = TICKMARK_OPTIONS;
	struct tickmark_error err;
	struct tickmark_clock *c;
	struct tickmark_time first, second;
	int bad;

	if (argc != 2) {
		fprintf(stderr, "usage: %s utc|job|FILE.clk\n", argv[0]);
		return 2;
	}
	o.scale = !strcmp(argv[1], "utc") ? TICKMARK_UTC : !strcmp(argv[1], "job") ? TICKMARK_JOB : TICKMARK_FILE;
	o.name = o.scale == TICKMARK_FILE ? argv[1] : NULL;
	c = tickmark_open(&o, &err);
	if (!c) {
		fprintf(stderr, "%s: %s\n", argv[0], err.text);
		return 2;
	}
	tickmark_now(c, &first);
	tickmark_now(c, &second);
	bad = show("first", &first) | show("second", &second);
	if (!bad) {
		printf("first before second: %s\n", answer[tickmark_before(&first, &second)]);
		/* what a database does before it lets others see a change with this stamp */
		printf("first is past: %s\n", answer[tickmark_wait_until_after(c, &first, INT64_C(1000000000))]);
	}
	tickmark_close(c);
	return bad;
}
