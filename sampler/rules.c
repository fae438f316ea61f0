/* SPDX-License-Identifier: BSD-3-Clause */
/* What needs no source: the standard rules for users who choose nothing, and the default environment. */
#include "config.h"
#include "sampler/source.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/cli/option.h"

/* Of the standard rules: what not every kernel or container has, and is left out there without a word. */
#define OPTIONAL(a) a("main_run") a("main_wait") a("cpu_steal") a("psi_cpu") a("cgroup_throttled")
#define RULE(name) name " on",
#define NAME(name) name,

/* clang-format off */
const char *const smp_standard_rules[] = {
	"disk_io on", "net_io on", "cpu_idle on", "cpu_sys on", "cpu_usr on",
	"proc_usr on", "proc_sys on", "proc_rss on", "proc_minflt on", "proc_majflt on", "proc_nvcsw on", "proc_nivcsw on",
	"proc_read on", "proc_write on",
	OPTIONAL(RULE)
	NULL,
};
/* clang-format on */

int smp_is_optional(const char *name)
{
	static const char *const optional[] = { OPTIONAL(NAME) };
	size_t i;

	for (i = 0; i < sizeof(optional) / sizeof(optional[0]) && strcmp(name, optional[i]); i++) {
	}
	return i < sizeof(optional) / sizeof(optional[0]);
}

void smp_env_init(struct smp_env *env)
{
	*env = (struct smp_env){ .size = sizeof(*env), .root = "/", .limit_s = 2, .options = "" };
}

int smp_nearest_name(const char *name, char *text, size_t size)
{
	static const char *const all[] = { "** on" };
	size_t half = strlen(name) / 2; /* another word, if more of it is wrong */
	int best = half < 2 ? (int)half + 1 : 3, distance;
	struct smp_plan *plan;
	struct smp_env env;
	struct tkm_err err;
	size_t i;

	text[0] = '\0';
	smp_env_init(&env);
	plan = smp_plan_open(&env, all, 1, NULL, 0, &err);
	for (i = 0; plan && i < smp_plan_size(plan); i++) {
		const struct smp_planned *p = smp_plan_at(plan, i);

		distance = p->source && !strchr(p->counter.name, ':') ? tkm_option_distance(name, p->counter.name)
								      : INT_MAX;
		if (distance < best || (distance < INT_MAX && !text[0] && strcasestr(p->counter.name, name))) {
			best = distance < best ? distance : best;
			snprintf(text, size, "%s", p->counter.name);
		}
	}
	smp_plan_close(plan);
	return text[0] != '\0';
}
