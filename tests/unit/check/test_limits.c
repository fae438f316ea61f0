/* SPDX-License-Identifier: BSD-3-Clause */
/* The limits of a check, from a profile and a file. */
#define _GNU_SOURCE
#include "config.h"
#include "base/err.h"
#include "check/check.h"
#include "timers/quality/env.h"
#include "tests/lib/check.h"
#include "tests/unit/check/machine.h"

static void limits_are_read(void)
{
	struct chk_limit l[CHK_MOST];
	struct tmr_env env = { .hypervisor = "" };
	struct tkm_err err;
	const char *used;
	char path[300];
	int cost = chk_find("clock.cost"), rate = chk_find("tsc.rate_error");

	CHECK(chk_profile(l, NULL, &env, &used, &err) == 0, "%s", err.text);
	CHECK_STR(used, "baremetal");
	CHECK_NEAR(l[cost].warning, 200e-9, 1e-15);
	CHECK(chk_set_limit(l, "clock.cost=1us", 0, &err) == 0 &&
			chk_set_limit(l, "tsc.rate_error=3ppm", 1, &err) == 0 &&
			chk_set_limit(l, "clock.tick=-", 1, &err) == 0,
		"%s", err.text);
	CHECK_NEAR(l[cost].warning, 1e-6, 1e-15);
	CHECK_NEAR(l[rate].critical, 3, 1e-9);
	CHECK(isinf(l[chk_find("clock.tick")].critical), "no limit");
	CHECK(chk_set_limit(l, "clock.coast=1us", 0, &err) < 0 && strstr(err.text, "clock.cost"), "%s", err.text);
	CHECK(chk_set_limit(l, "clock.cost=fast", 0, &err) < 0 && strstr(err.text, "fast"), "%s", err.text);
	CHECK(chk_set_limit(l, "clock.cost", 0, &err) < 0, "%s", err.text);

	put_text("site.limits", "# ours\n\nclock.cost 50ns -\nsync.drift off\n");
	snprintf(path, sizeof(path), "%s/site.limits", base);
	CHECK(chk_profile(l, path, &env, &used, &err) == 0, "%s", err.text);
	CHECK_NEAR(l[cost].warning, 50e-9, 1e-15);
	CHECK(isinf(l[cost].critical) && l[chk_find("sync.drift")].off, "file not read");
	put_text("site.limits", "clock.cost 50ns\n");
	CHECK(chk_profile(l, path, &env, &used, &err) < 0 && strstr(err.text, "site.limits:1"), "%s", err.text);
	CHECK(chk_profile(l, "metal", &env, &used, &err) < 0 && strstr(err.text, "baremetal"), "%s", err.text);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	if (begin_machine() < 0) {
		return 99;
	}
	RUN(limits_are_read);
	return end_machine();
}
