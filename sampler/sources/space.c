/* SPDX-License-Identifier: BSD-3-Clause */
/* How much space the trace's file system has left: a run that fills it loses its end. */
#include "config.h"
#include "sampler/private.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/statvfs.h>

static const char name[] = "trace_space", what[] = "space on the file system of the trace that this user may still use";

struct set {
	const struct smp_env *env;
};

static const char *folder_of_trace(const struct smp_env *env)
{
	return env->size >= sizeof(*env) && env->trace_dir && env->trace_dir[0] ? env->trace_dir : ".";
}

static int space(const struct smp_env *env, uint64_t *bytes)
{
	struct statvfs s;

	if (!smp_live(env)) {
		errno = ENODEV;
		return -1;
	}
	if (statvfs(folder_of_trace(env), &s) < 0) {
		return -1;
	}
	*bytes = (uint64_t)s.f_bavail * s.f_frsize;
	return 0;
}

static int list(const struct smp_env *env, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT])
{
	char reason[SMP_TEXT], text[64];
	struct smp_counter c = { .name = name,
		.unit = "bytes",
		.what = what,
		.scope = SMP_NODE,
		.type = SMP_U64,
		.kind = SMP_LEVEL,
		.factor = 1.0 / 1048576,
		.shown_unit = "MB" };
	uint64_t v;

	(void)why;
	if (!smp_is_hinted(hint, name)) {
		return 0;
	}
	if (!smp_live(env)) {
		c.missing = "a snapshot has no file system";
	} else if (space(env, &v) < 0) {
		smp_why(reason, "%.120s: %s", folder_of_trace(env), smp_errno(errno, text, sizeof(text)));
		c.missing = reason;
	}
	return each(&c, ctx);
}

static void *open_set(const struct smp_env *env, const struct smp_target *target, const char *const *names, size_t n,
	char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	struct set *s = calloc(1, sizeof(*s));

	(void)target;
	(void)names;
	(void)n;
	(void)why_each;
	if (!s) {
		smp_why(why, "no memory");
		return NULL;
	}
	s->env = env;
	return s;
}

static int read_set(void *set, union smp_value *value, uint8_t *state)
{
	struct set *s = set;

	state[0] = space(s->env, &value[0].u) == 0 ? SMP_VALID : 0;
	return state[0];
}

const struct smp_source smp_space = {
	.abi = VTSOURCE_ABI,
	.size = sizeof(struct smp_source),
	.name = "space",
	.what = "free space where the trace is written",
	.list = list,
	.open = open_set,
	.read = read_set,
	.close = free,
};
