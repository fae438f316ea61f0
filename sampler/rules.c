/* SPDX-License-Identifier: BSD-3-Clause */
/* What needs no source: the rules of option COUNTER, the standard rules for users who choose nothing, and the default
 * environment. */
#include "config.h"
#include "sampler/rules.h"

#include <string.h>

#include "base/text/text.h"
#include "sampler/source.h"

/* clang-format off */
const char *const smp_standard_rules[] = {
	"disk_io on", "net_io on", "cpu_idle on", "cpu_sys on", "cpu_usr on",
	"proc_usr on", "proc_sys on", "proc_rss on", "proc_minflt on", "proc_majflt on", "proc_nvcsw on", "proc_nivcsw on",
	"proc_read on", "proc_write on",
	NULL,
};
/* clang-format on */

int smp_rule_parse(const char *text, struct smp_rule *r, struct tkm_err *err)
{
	size_t len = strcspn(text, " \t");
	const char *state = text + len + strspn(text + len, " \t");

	if (len == 0 || len >= sizeof(r->pattern)) {
		return tkm_fail(err, TKM_ERR_ARG,
			"COUNTER wants a pattern and on or off, as in \"cpu_* on\", not \"%s\"", text);
	}
	memcpy(r->pattern, text, len);
	r->pattern[len] = '\0';
	if (tkm_parse_bool(state, &r->on) < 0) {
		return tkm_fail(err, TKM_ERR_ARG, "COUNTER %s: only on or off can follow the pattern, not \"%s\"",
			r->pattern, state);
	}
	return 0;
}

int smp_rule_check(const char *text, struct tkm_err *err)
{
	struct smp_rule r;

	return smp_rule_parse(text, &r, err);
}

void smp_env_init(struct smp_env *env)
{
	*env = (struct smp_env){ .size = sizeof(*env), .root = "/", .limit_s = 2, .options = "" };
}
