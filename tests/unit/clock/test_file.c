/* SPDX-License-Identifier: BSD-3-Clause */
/* A file of correction data is read again when it has changed. */
#include "config.h"
#include "base/err.h"
#include "base/rootfs.h"
#include "base/ticks.h"
#include "calib/file/clk.h"
#include "calib/map/run.h"
#include "calib/solve/solve.h"
#include "clock/names.h"
#include "include/clock.h"
#include "tests/lib/check.h"
#include "tests/unit/clock/job_page.h"

#include <fcntl.h>
#include <sys/stat.h>

/* A run of this process alone, on CLOCK_MONOTONIC, of so many seconds. */
static void write_clk(const char *path, int seconds)
{
	struct cal_run run = { .ranks = 1, .max_drift = 500e-6, .max_wander = 1e-6 };
	struct cal_rank *r = run.rank = calloc(1, sizeof(*r));
	struct tkm_err err = { .text = "" };
	int root = open("/", O_RDONLY | O_DIRECTORY), i;
	FILE *f = fopen(path, "w");
	ssize_t n;

	snprintf(r->timer, sizeof(r->timer), "clock_monotonic");
	gethostname(r->host, sizeof(r->host) - 1);
	tkm_root_line(root, "/proc/sys/kernel/random/boot_id", r->boot_id, sizeof(r->boot_id));
	n = readlinkat(root, "proc/self/ns/time", r->time_ns, sizeof(r->time_ns) - 1);
	r->time_ns[n > 0 ? n : 0] = '\0';
	r->nominal_hz = 1e9;
	r->effective_tick_s = 1e-9;
	r->anchors = 2;
	for (i = 0; i < 2; i++) {
		r->anchor[i] = (struct cal_anchor){ .local = ltick(raw_now() - (2 - i) * seconds * INT64_C(1000000000)),
			.realtime_ns = 1000000000000 + i * seconds * INT64_C(1000000000),
			.monotonic_ns = i * seconds * INT64_C(1000000000) };
	}
	CHECK(f && cal_solve(&run, -1, &err) == 0 && cal_clk_write(f, &run, "test", &err) == 0, "%s", err.text);
	fclose(f);
	close(root);
	cal_run_free(&run);
}

/* The run began so many seconds ago, or a little more. */
static void says_seconds(const struct tickmark_clock *c, int64_t seconds)
{
	struct tickmark_time t;
	int status = tickmark_now(c, &t);

	/* a machine that was suspended since it was booted */
	CHECK(status == TICKMARK_OK || status == TICKMARK_DISRUPTED, "%s", tickmark_status_name(status));
	CHECK(status != TICKMARK_OK ||
			(t.latest_ns >= seconds * 1000000000 && t.earliest_ns < (seconds + 60) * 1000000000),
		"%lld .. %lld ns, %lld s", (long long)t.earliest_ns, (long long)t.latest_ns, (long long)seconds);
}

static void a_file_is_read_again_when_it_has_changed(void)
{
	struct tickmark_options o = TICKMARK_OPTIONS;
	struct tickmark_error err = { 0, "" };
	struct tickmark_clock *c;
	char path[100];

	snprintf(path, sizeof(path), "%s/run.clk", folder);
	write_clk(path, 10);
	o.scale = TICKMARK_FILE;
	o.name = path;
	o.flags = TICKMARK_WITHOUT_VMCLOCK;
	c = tickmark_open(&o, &err);
	CHECK(c != NULL, "%s", err.text);
	if (c) {
		says_seconds(c, 20);
		CHECK_INT(tickmark_refresh(c, &err), 0);
		CHECK_INT(tickmark_refresh(c, &err), 0);
		write_clk(path, 2000); /* of another size, too: a clock of files may be coarse */
		says_seconds(c, 20);
		CHECK(tickmark_refresh(c, &err) == 1, "%s", err.text);
		says_seconds(c, 4000);
		CHECK_INT(tickmark_refresh(c, &err), 0);
		unlink(path);
		CHECK(tickmark_refresh(c, &err) < 0 && err.text[0], "a file that is not there");
	}
	tickmark_close(c);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	snprintf(folder, sizeof(folder), "/tmp/test_clock.XXXXXX");
	if (!mkdtemp(folder) || chmod(folder, 0755) < 0) {
		printf("Bail out! no folder\n");
		return 99;
	}
	RUN(a_file_is_read_again_when_it_has_changed);
	rmdir(folder);
	return check_end();
}
