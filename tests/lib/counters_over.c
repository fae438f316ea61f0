/* SPDX-License-Identifier: BSD-3-Clause */
/* counters_over SECONDS NAME...: "NAME difference last" of node counters over so many seconds, and the seconds; of the snapshot
 * $COUNTERS_ROOT if that is set. */
#include "config.h"
#include "sampler/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MAX = 128 };

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	union smp_value a[MAX], b[MAX];
	struct smp_target target = { SMP_NODE, 0, 0 };
	uint8_t state[MAX];
	struct smp_plan *plan;
	struct smp_set *set;
	struct smp_env env;
	struct tkm_err err;
	double begin, end;
	size_t i;
	struct timespec t = { argc > 2 ? atoi(argv[1]) : 0, 0 };

	smp_env_init(&env);
	env.root = getenv("COUNTERS_ROOT") ? getenv("COUNTERS_ROOT") : "/";
	plan = argc > 2 && argc < MAX
		? smp_plan_open(&env, (const char *const *)argv + 2, (size_t)argc - 2, NULL, 0, &err)
		: NULL;
	set = plan ? smp_set_open(plan, &target, &err) : NULL;
	if (!set) {
		fprintf(stderr, "counters_over: %s\n", argc > 2 ? err.text : "SECONDS NAME...");
		return 2;
	}
	smp_set_read(set, a, state);
	begin = now_s();
	nanosleep(&t, NULL);
	smp_set_read(set, b, state);
	end = now_s();
	printf("seconds %.6f 0\n", end - begin);
	for (i = 0; i < smp_set_size(set); i++) {
		const struct smp_counter *c = &smp_plan_at(plan, smp_set_planned(set, i))->counter;

		if (state[i]) {
			printf("%s %lld %lld\n", c->name, (long long)(b[i].u - a[i].u), (long long)b[i].u);
		}
	}
	smp_set_close(set);
	smp_plan_close(plan);
	return 0;
}
