/* SPDX-License-Identifier: BSD-3-Clause */
/* A source of counters, to start from: vtsource(5). This one counts how often it was read and shows a level
 * that its option sets.
 *
 *     cc -shared -fPIC $(pkg-config --cflags VTcs) -o mysource.so template.c
 *     vtcounters --plugin "./mysource.so 42" 'mine_*'
 *     vtrun --plugin "./mysource.so 42" --counter 'mine_* on' -- ./program */
#include <stdlib.h>
#include <string.h>
#include <tickmark/vtsource.h>

/* The table of counters. Names of third parties begin with a prefix of their own. */
static const struct smp_counter counters[] = {
	{ .name = "mine_reads",
		.unit = "reads",
		.what = "times that this source was read",
		.scope = SMP_NODE,
		.type = SMP_U64,
		.kind = SMP_TOTAL },
	{ .name = "mine_level",
		.unit = "units",
		.what = "what the option of the plugin says",
		.scope = SMP_NODE,
		.type = SMP_F64,
		.kind = SMP_LEVEL },
};
enum { N = sizeof(counters) / sizeof(counters[0]) };

struct set {
	size_t n;
	unsigned long long reads;
	double level;
	int which[]; /* counter of each value; -1: unknown */
};

static int list(const struct smp_env *env, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT])
{
	int i, rc = 0;

	(void)hint; /* all of them: what does not match is left out by the caller */
	(void)why;
	for (i = 0; rc == 0 && i < N; i++) {
		struct smp_counter c = counters[i];

		if (i == 1 && !env->options[0]) {
			c.missing = "give a number after the file's name: --plugin \"FILE 42\"";
		}
		rc = each(&c, ctx);
	}
	return rc;
}

static void *open_set(const struct smp_env *env, const struct smp_target *target, const char *const *names, size_t n,
	char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	struct set *s = calloc(1, sizeof(*s) + n * sizeof(s->which[0]));
	size_t i;
	int k;

	(void)target;
	if (!s) {
		strcpy(why, "no memory");
		return NULL;
	}
	s->n = n;
	s->level = strtod(env->options, NULL);
	for (i = 0; i < n; i++) {
		s->which[i] = -1;
		for (k = 0; k < N; k++) {
			if (strcmp(counters[k].name, names[i]) == 0) {
				s->which[i] = k;
			}
		}
		if (s->which[i] < 0) {
			strcpy(why_each[i], "no such counter");
		}
	}
	return s;
}

static int read_set(void *set, union smp_value *value, uint8_t *state)
{
	struct set *s = set;
	size_t i;
	int valid = 0;

	s->reads++;
	for (i = 0; i < s->n; i++) {
		if (s->which[i] == 0) {
			value[i].u = s->reads;
		} else if (s->which[i] == 1) {
			value[i].f = s->level;
		}
		state[i] = s->which[i] >= 0 ? SMP_VALID : 0;
		valid += state[i] != 0;
	}
	return valid;
}

static const struct smp_source source = {
	.abi = VTSOURCE_ABI,
	.size = sizeof(struct smp_source),
	.name = "mine",
	.what = "an example",
	.list = list,
	.open = open_set,
	.read = read_set,
	.close = free,
};

const struct smp_source *vtsource_plugin(uint32_t abi)
{
	return abi == VTSOURCE_ABI ? &source : NULL;
}
