/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of a page: its interval, its status, comparing and waiting. */
#include "config.h"
#include "clock/names.h"
#include "clock/page.h"
#include "include/clock.h"
#include "tests/lib/check.h"
#include "tests/unit/clock/job_page.h"

#include <errno.h>
#include <sys/stat.h>

static void a_page_is_read(void)
{
	struct tickmark_error err = { 0, "" };
	struct tickmark_info info = { .size = sizeof(info) };
	struct tickmark_clock *c;
	struct tickmark_time t, u;
	struct tkc_writer w;
	int64_t before, after, raw;

	CHECK_INT(create(&w, "read"), 0);
	c = open_job("read", &err);
	CHECK(c != NULL, "%s", err.text);
	if (!c) {
		return;
	}
	CHECK_INT(tickmark_now(c, &t), TICKMARK_UNSYNCHRONISED);
	CHECK(t.earliest_ns == INT64_MIN && t.latest_ns == INT64_MAX, "an interval without a status");
	publish(&w, raw_now(), 0);
	before = raw_now() + 1000000000000;
	CHECK_INT(tickmark_now(c, &t), TICKMARK_OK);
	after = raw_now() + 1000000000000;
	CHECK(t.earliest_ns <= after && t.latest_ns >= before, "not in it");
	CHECK(t.latest_ns - t.earliest_ns >= 2000 && t.latest_ns - t.earliest_ns < 100000, "%lld ns",
		(long long)(t.latest_ns - t.earliest_ns));
	CHECK_INT(t.scale, TICKMARK_JOB);
	CHECK_INT(t.axis, 77);
	raw = tickmark_raw(c);
	CHECK_INT(tickmark_at(c, raw, &u), TICKMARK_OK);
	CHECK(u.earliest_ns <= raw + 1000000000000 && raw + 1000000000000 <= u.latest_ns, "the stamp's time is known");
	CHECK_INT(tickmark_at(c, raw - 3000000000, &u), TICKMARK_TOO_OLD);
	CHECK_INT(tickmark_at(c, w.page->state.since_raw, &u), TICKMARK_OK);
	CHECK_INT(tickmark_at(c, w.page->state.since_raw - 1, &u), TICKMARK_TOO_OLD);
	CHECK_INT(tickmark_at(c, raw + 3000000000, &u), TICKMARK_STALE);
	CHECK_INT(tickmark_at(c, INT64_MAX, &u), TICKMARK_STALE);
	CHECK_INT(tickmark_at(c, INT64_MIN, &u), TICKMARK_TOO_OLD);
	CHECK_INT(tickmark_get_info(c, &info), 0);
	CHECK_STR(info.timer, "clock_monotonic");
	CHECK_INT(info.half_ns, 1000);
	CHECK_INT(info.valid_ns, 2000000000);
	CHECK_NEAR(info.grow_ppm, 1, 1e-3);
	CHECK_INT(info.writer, getpid());
	tkc_withdraw(&w);
	CHECK_INT(tickmark_now(c, &t), TICKMARK_CLOSED);
	CHECK(open_job("read", &err) == NULL, "the file is still there");
	CHECK_INT(err.code, ENOENT);
	tickmark_close(c);
}

static void what_is_not_certain_is_a_status(void)
{
	struct tickmark_error err = { 0, "" };
	struct tkc_writer w;
	struct tickmark_clock *c;
	struct tickmark_time t;

	CHECK_INT(create(&w, "doubt"), 0);
	publish(&w, raw_now() - 3000000000, 0);
	c = open_job("doubt", &err);
	CHECK_INT(tickmark_now(c, &t), TICKMARK_STALE);
	publish(&w, raw_now(), 0);
	CHECK_INT(tickmark_now(c, &t), TICKMARK_OK);
	/* suspended for 5 s since: the realtime clock is ahead of what the page expects, and the kernel counts the sleep */
	publish(&w, raw_now(), 5000000000);
	CHECK_INT(tickmark_now(c, &t), TICKMARK_OK); /* its timer did not stand still, which cannot be made here; */
	w.page->state.realtime_ns -= 5000000000;     /* so the page gets the other clocks of one that did */
	CHECK_INT(tickmark_now(c, &t), TICKMARK_DISRUPTED);
	CHECK_INT(tickmark_at(c, raw_now(), &t), TICKMARK_DISRUPTED);
	/* somebody set the realtime clock: no suspension */
	publish(&w, raw_now(), 0);
	w.page->state.realtime_ns -= 5000000000;
	CHECK_INT(tickmark_now(c, &t), TICKMARK_OK);
	/* the timer was set back */
	publish(&w, raw_now() + 10000000000, 0);
	CHECK_INT(tickmark_now(c, &t), TICKMARK_DISRUPTED);
	/* a writer that died in the middle */
	publish(&w, raw_now(), 0);
	w.page->state.sequence++;
	CHECK_INT(tickmark_now(c, &t), TICKMARK_BUSY);
	publish(&w, raw_now(), 0);
	CHECK_INT(tickmark_now(c, &t), TICKMARK_OK);
	tickmark_close(c);
	tkc_withdraw(&w);
}

static void waiting(void)
{
	struct tickmark_error err = { 0, "" };
	struct tickmark_clock *c;
	struct tickmark_time t, now;
	struct tkc_writer w;
	int64_t begin;

	CHECK_INT(create(&w, "wait"), 0);
	publish(&w, raw_now(), 0);
	c = open_job("wait", &err);
	tickmark_now(c, &t);
	CHECK_INT(tickmark_wait_until_after(c, &t, 1000000000), TICKMARK_YES);
	tickmark_now(c, &now);
	CHECK_INT(tickmark_before(&t, &now), TICKMARK_YES);
	t = now;
	t.earliest_ns += 300000000;
	t.latest_ns += 300000000;
	begin = raw_now();
	CHECK_INT(tickmark_wait_until_after(c, &t, 10000000), TICKMARK_NO);
	CHECK(raw_now() - begin >= 10000000, "came back early");
	CHECK_INT(tickmark_wait_until_after(c, &t, -1), TICKMARK_YES);
	CHECK(raw_now() - begin >= 300000000, "came back early");
	t.axis++;
	CHECK_INT(tickmark_wait_until_after(c, &t, -1), TICKMARK_UNKNOWN);
	/* the bound is unknown: there is no time to wait for */
	t.axis--;
	t.earliest_ns += 1000000000;
	t.latest_ns += 1000000000;
	publish(&w, raw_now() - 3000000000, 0);
	begin = raw_now();
	CHECK_INT(tickmark_wait_until_after(c, &t, 20000000), TICKMARK_UNKNOWN);
	tickmark_close(c);
	tkc_withdraw(&w);
}

/* ---- two intervals ---- */

static void comparisons(void)
{
	const struct tickmark_time a = { 10, 20, 1, TICKMARK_UTC, TICKMARK_OK },
				   b = { 21, 30, 1, TICKMARK_UTC, TICKMARK_OK },
				   touches = { 20, 25, 1, TICKMARK_UTC, TICKMARK_OK },
				   overlaps = { 15, 25, 1, TICKMARK_UTC, TICKMARK_OK },
				   other = { 21, 30, 2, TICKMARK_UTC, TICKMARK_OK },
				   job = { 21, 30, 1, TICKMARK_JOB, TICKMARK_OK },
				   bad = { INT64_MIN, INT64_MAX, 1, TICKMARK_UTC, TICKMARK_STALE };

	CHECK_INT(tickmark_before(&a, &b), TICKMARK_YES);
	CHECK_INT(tickmark_before(&b, &a), TICKMARK_NO);
	CHECK_INT(tickmark_after(&a, &b), TICKMARK_NO);
	CHECK_INT(tickmark_after(&b, &a), TICKMARK_YES);
	CHECK_INT(tickmark_before(&a, &overlaps), TICKMARK_UNKNOWN);
	CHECK_INT(tickmark_after(&a, &overlaps), TICKMARK_UNKNOWN);
	/* both can be 20: not before for certain is only the later one */
	CHECK_INT(tickmark_before(&a, &touches), TICKMARK_UNKNOWN);
	CHECK_INT(tickmark_before(&touches, &a), TICKMARK_NO);
	CHECK_INT(tickmark_before(&a, &other), TICKMARK_UNKNOWN);
	CHECK_INT(tickmark_before(&a, &job), TICKMARK_UNKNOWN);
	CHECK_INT(tickmark_before(&a, &bad), TICKMARK_UNKNOWN);
	CHECK_INT(tickmark_after(&bad, &a), TICKMARK_UNKNOWN);
	CHECK_INT(tickmark_before(&a, &a), TICKMARK_UNKNOWN);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	snprintf(folder, sizeof(folder), "/tmp/test_clock.XXXXXX");
	if (!mkdtemp(folder) || chmod(folder, 0755) < 0) {
		printf("Bail out! no folder\n");
		return 99;
	}
	RUN(a_page_is_read);
	RUN(what_is_not_certain_is_a_status);
	RUN(waiting);
	rmdir(folder);
	RUN(comparisons);
	return check_end();
}
