/* SPDX-License-Identifier: BSD-3-Clause */
/* Results are stored, and read again; damaged ones are refused. */
#define _GNU_SOURCE
#include "config.h"
#include "base/err.h"
#include "check/stored.h"
#include "tests/lib/check.h"
#include "tests/unit/check/machine.h"

static void damaged_results_are_refused(void)
{
	struct chk_stored s;
	char dir[300];

	snprintf(dir, sizeof(dir), "%s/state/tickmark", base);
	put_text("state/tickmark/timertest.json", "{\"schema\":\"timertest/1\",\"ranks\":[");
	chk_stored_read(&s, dir, "n1");
	CHECK(!s.have && strstr(s.why, "damaged"), "%s", s.why);
	put_text("state/tickmark/timertest.json", "[1,2]");
	chk_stored_read(&s, dir, "n1");
	CHECK(!s.have && strstr(s.why, "schema"), "%s", s.why);
	put_text("state/tickmark/timertest.json",
		"{\"schema\":\"timertest/1\",\"ranks\":[1,{\"env\":3},null],\"bursts\":[{\"a\":0,\"b\":99}]}");
	chk_stored_read(&s, dir, "n1");
	CHECK(s.have && s.ranks == 3 && !s.here, "%s", s.why);
}

static void results_are_stored(void)
{
	static const char first[] =
		"{\"schema\":\"timertest/1\",\"started_unix_s\":100,\"ranks\":["
		"{\"env\":{\"host\":\"n1\",\"boot_id\":\"B\",\"clocksource\":{\"current\":\"tsc\"},"
		"\"vm_marker\":\"00000000000000ff\",\"suspended_s\":0.5,\"realtime_minus_boottime_s\":1234.5,"
		"\"kernel\":\"6.1\"},"
		"\"timer\":{\"name\":\"gettimeofday\"},\"sync\":{\"bound_s\":1e-6}},"
		"{\"env\":{\"host\":\"n2\",\"boot_id\":\"C\",\"clocksource\":{\"current\":\"tsc\"}},"
		"\"sync\":{\"bound_s\":3e-6,\"drift_ppm\":-4,\"before_correction\":{\"offset_s\":-0.25}}}],"
		"\"bursts\":[{\"a\":0,\"b\":1,\"latency_s\":2e-6},{\"a\":0,\"b\":1,\"latency_s\":1e-6}],"
		"\"maximum\":{\"offset_s\":5e-7,\"low_s\":-1e-6,\"high_s\":1e-6},\"verdict\":{\"status\":\"fit\"}}";
	struct chk_stored s;
	struct tkm_err err;
	char dir[300], later[2000], *p;

	snprintf(dir, sizeof(dir), "%s/state/tickmark", base);
	chk_stored_read(&s, dir, "n1");
	CHECK(!s.have && (strstr(s.why, "no result") || strstr(s.why, "no jansson")), "%s", s.why);
	if (chk_stored_write(dir, first, &err) < 0) {
		CHECK(err.code == TKM_ERR_UNAVAIL, "%s", err.text); /* a build without jansson */
		return;
	}
	chk_stored_read(&s, dir, "n1");
	CHECK(s.have && s.here && s.ranks == 2 && s.hosts == 2 && s.tells_time, "%s", s.why);
	CHECK_NEAR(s.uncorrected_s, 0.25, 1e-12);
	CHECK_STR(s.worst_host, "n2");
	CHECK_NEAR(s.drift_ppm, 4, 1e-12);
	CHECK_NEAR(s.residual_s, 3e-6, 1e-15);
	CHECK(s.has_marker && s.marker == 255, "marker %llx", (unsigned long long)s.marker);
	CHECK_NEAR(s.suspended_s, 0.5, 1e-12);
	CHECK_NEAR(s.realtime_minus_boottime_s, 1234.5, 1e-9);
	CHECK_STR(s.kernel, "6.1");
	CHECK_STR(s.boot_id, "B");
	CHECK_STR(s.clocksource, "tsc");
	CHECK_STR(s.first_clocksource, "tsc");

	snprintf(later, sizeof(later), "%s", first); /* n1 has another source now, n2 was booted */
	p = strstr(later, "tsc");
	memcpy(p, "hpt", 3);
	*(strstr(later, "\"C\"") + 1) = 'D';
	p = strstr(p, "tsc");
	memcpy(p, "acp", 3);
	CHECK(chk_stored_write(dir, later, &err) == 0, "%s", err.text);
	chk_stored_read(&s, dir, "n1");
	CHECK_STR(s.clocksource, "hpt");
	CHECK_STR(s.first_clocksource, "tsc");
	chk_stored_read(&s, dir, "n2");
	CHECK_STR(s.first_clocksource, "acp");
	chk_stored_read(&s, dir, "n3");
	CHECK(s.have && !s.here, "n3 took no part");
	damaged_results_are_refused();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	if (begin_machine() < 0) {
		return 99;
	}
	RUN(results_are_stored);
	return end_machine();
}
