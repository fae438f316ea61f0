/* SPDX-License-Identifier: BSD-3-Clause */
/* One plan and one set of counters for the test program, of a snapshot or of this machine. */
#ifndef TESTS_LIB_SAMPLER_SET_H
#define TESTS_LIB_SAMPLER_SET_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sampler/source.h"
#include "tests/lib/check.h"

enum { MAX = 2048 };

static char dir[64]; /* the snapshot that is unpacked */
static struct smp_env env;
static struct smp_plan *plan;
static struct smp_set *set;
static union smp_value value[MAX];
static uint8_t state[MAX];

/* Unpacks NAME.snap into a folder of its own. */
static inline void unpack(const char *name)
{
	const char *top = getenv("top_srcdir");
	char command[512];

	strcpy(dir, "/tmp/test_sampler.XXXXXX");
	if (!mkdtemp(dir)) {
		exit(99);
	}
	snprintf(command, sizeof(command), "sh '%s/tests/proc/gather.sh' --unpack %s <'%s/tests/proc/%s.snap'",
		top ? top : ".", dir, top ? top : ".", name);
	if (system(command) != 0) {
		printf("Bail out! cannot unpack %s\n", name);
		exit(99);
	}
	smp_env_init(&env);
	env.root = dir;
}

static inline void drop(void)
{
	char command[128];

	smp_set_close(set);
	smp_plan_close(plan);
	set = NULL;
	plan = NULL;
	if (dir[0]) {
		snprintf(command, sizeof(command), "rm -rf %s", dir);
		if (system(command) != 0) {
			exit(99);
		}
		dir[0] = '\0';
	}
}

static inline void put(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", dir, path);
	f = fopen(full, "w");
	CHECK(f != NULL, "%s", full);
	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

static inline void make_folder(const char *path)
{
	char command[512];

	snprintf(command, sizeof(command), "mkdir -p '%s%s'", dir, path);
	CHECK_INT(system(command), 0);
}

static inline void shell(const char *fmt, const char *arg)
{
	char command[512];

	snprintf(command, sizeof(command), fmt, dir, arg);
	CHECK_INT(system(command), 0);
}

/* Opens what the rules choose for a target, and reads it once. */
static inline void open_for(enum smp_scope scope, int32_t tid, const char *const *rules, size_t n)
{
	struct smp_target target = { scope, dir[0] ? 0 : (int32_t)getpid(), tid };
	struct tkm_err err = { TKM_OK, "" };

	plan = smp_plan_open(&env, rules, n, NULL, 0, &err);
	CHECK(plan != NULL, "%s", err.text);
	if (!plan) {
		exit(99);
	}
	set = smp_set_open(plan, &target, &err);
	CHECK(set && smp_set_size(set) <= MAX, "%s", err.text);
	smp_set_read(set, value, state);
}
#define OPEN(scope, tid, ...) \
	do { \
		const char *const rules_[] = { __VA_ARGS__ }; \
		open_for(scope, tid, rules_, sizeof(rules_) / sizeof(rules_[0])); \
	} while (0)

static inline int place(const char *name)
{
	size_t i;

	for (i = 0; i < smp_set_size(set); i++) {
		if (strcmp(smp_plan_at(plan, smp_set_planned(set, i))->counter.name, name) == 0) {
			return (int)i;
		}
	}
	CHECK(0, "%s is not in the set", name);
	return 0;
}

static inline long long got(const char *name)
{
	int i = place(name);

	CHECK(state[i] & SMP_VALID, "%s has no value", name);
	return value[i].i;
}
#define HAS(name, want) \
	CHECK(got(name) == (long long)(want), "%s is %lld, want %lld", name, got(name), (long long)(want))

static inline const struct smp_counter *planned(const char *name)
{
	size_t i;

	for (i = 0; i < smp_plan_size(plan); i++) {
		if (strcmp(smp_plan_at(plan, i)->counter.name, name) == 0) {
			return &smp_plan_at(plan, i)->counter;
		}
	}
	return NULL;
}

static inline void read_again(void)
{
	smp_set_read(set, value, state);
}

#endif
