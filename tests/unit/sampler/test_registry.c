/* SPDX-License-Identifier: BSD-3-Clause */
/* Sources of others are loaded, or refused with a reason. */
#define _GNU_SOURCE
#include "config.h"
#include "base/err.h"
#include "include/vtsource.h"
#include "sampler/source.h"
#include "tests/lib/check.h"
#include "tests/lib/sampler_set.h"

/* ---- plugins ------------------------------------------------------------------------------------- */

static void template_of_a_plugin_works(void)
{
	const char *const rules[] = { "mine_* on" }, *options = NULL;
	struct smp_target target = { SMP_NODE, 0, 0 };
	const char *top = getenv("top_builddir");
	struct smp_plugin plugin = { NULL, NULL };
	struct tkm_err err = { TKM_OK, "" };
	char text[512];

	snprintf(text, sizeof(text), "%s/tests/unit/.libs/plugin_template.so 2.5", top ? top : ".");
	plugin.source = smp_plugin_load(text, &options, &err);
	CHECK(plugin.source != NULL, "%s", err.text);
	if (!plugin.source) {
		return;
	}
	CHECK_STR(options, "2.5");
	plugin.options = options;
	smp_env_init(&env);
	plan = smp_plan_open(&env, rules, 1, &plugin, 1, &err);
	set = smp_set_open(plan, &target, &err);
	CHECK_INT(smp_set_read(set, value, state), 2);
	CHECK_INT(smp_set_read(set, value, state), 2);
	HAS("mine_reads", 2);
	CHECK_NEAR(value[place("mine_level")].f, 2.5, 0);
	drop();
	CHECK(!smp_plugin_load("/no/such/file.so", &options, &err) && strstr(err.text, "/no/such/file.so"), "%s",
		err.text);
	snprintf(text, sizeof(text), "%s/tests/unit/.libs/plugin_old.so", top ? top : ".");
	CHECK(!smp_plugin_load(text, &options, &err) && strstr(err.text, "version"), "%s", err.text);
	CHECK(!smp_plugin_load("libm.so.6", &options, &err) && strstr(err.text, "vtsource_plugin"), "%s", err.text);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(template_of_a_plugin_works);
	return check_end();
}
