/* SPDX-License-Identifier: BSD-3-Clause */
/* What needs no source: the standard rules for users who choose nothing, and the default environment. */
#include "config.h"
#include "sampler/source.h"

/* clang-format off */
const char *const smp_standard_rules[] = {
	"disk_io on", "net_io on", "cpu_idle on", "cpu_sys on", "cpu_usr on",
	"proc_usr on", "proc_sys on", "proc_rss on", "proc_minflt on", "proc_majflt on", "proc_nvcsw on", "proc_nivcsw on",
	"proc_read on", "proc_write on",
	NULL,
};
/* clang-format on */

void smp_env_init(struct smp_env *env)
{
	*env = (struct smp_env){ .size = sizeof(*env), .root = "/", .limit_s = 2, .options = "" };
}
