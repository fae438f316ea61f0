/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths of random threads that wait for each other have the same shares as paths that are simply copied, and few nodes. */
#include "config.h"
#include "stf/replay/path.h"
#include "tests/lib/check.h"

enum { THREADS = 12, FUNCTIONS = 5, EVENTS = 100000 };

typedef uint64_t copied_path[THREADS][FUNCTIONS];

static copied_path copy[THREADS];
static struct stf_path_node *last[THREADS];
static struct stf_paths paths;

static void compare_path(const struct stf_path_node *node, copied_path want)
{
	uint64_t got[THREADS][FUNCTIONS] = { { 0 } };
	size_t n, i, k;
	struct stf_path_share *s = stf_path_shares(node, &n);

	for (i = 0; s && i < n; i++) {
		got[s[i].willy][s[i].function] += s[i].ticks;
		CHECK(i == 0 || s[i].ticks <= s[i - 1].ticks, "the largest is not first");
	}
	for (i = 0; i < THREADS; i++) {
		for (k = 0; k < FUNCTIONS; k++) {
			CHECK_INT(got[i][k], want[i][k]);
		}
	}
	free(s);
}

static void spend(uint32_t thread)
{
	struct stf_path_share s = { thread, (uint32_t)(check_random() % FUNCTIONS), 0, check_random() % 100 };

	copy[thread][thread][s.function] += s.ticks;
	CHECK_INT(stf_path_spend(last[thread], &s), 0);
}

/* Thread a goes on after what b has done so far, and a little of it more. */
static void follow(uint32_t a, uint32_t b)
{
	struct stf_path_point at = { stf_path_branch(&paths, &last[b]), { b, 1, 0, check_random() % 10 } };

	memcpy(copy[a], copy[b], sizeof(copied_path));
	copy[a][b][1] += at.rest.ticks;
	CHECK_INT(stf_path_follow(&paths, &last[a], &at), 0);
	stf_path_drop(&paths, at.node);
}

static void begin_paths(void)
{
	uint32_t i;

	memset(copy, 0, sizeof(copy));
	for (i = 0; i < THREADS; i++) {
		last[i] = stf_path_begin(&paths);
	}
}

static void paths_are_those_that_were_copied(void)
{
	uint32_t i, k;

	begin_paths();
	for (i = 0; i < EVENTS; i++) {
		uint32_t a = (uint32_t)(check_random() % THREADS), b = (uint32_t)(check_random() % THREADS);

		if (a != b && i % 3 == 0) {
			follow(a, b);
		} else {
			spend(a);
		}
		CHECK_INT(i % 7 ? 0 : stf_path_contract(&paths, last[a]), 0);
		CHECK(paths.n < 10000, "%zu nodes", paths.n);
	}
	for (k = 0; k < THREADS; k++) {
		compare_path(last[k], copy[k]);
		stf_path_drop(&paths, last[k]);
	}
	CHECK_INT(paths.n, 0); /* nothing is held by nobody */
	stf_paths_free(&paths);
}

/* That thread 0 had waited for thread 1 is known only when it has gone on, and another one has followed it. */
static void node_is_replaced_before_those_that_follow_it(void)
{
	struct stf_path_point at;
	struct stf_path_node *held;
	copied_path before;

	begin_paths();
	spend(0);
	spend(1);
	memcpy(before, copy[1], sizeof(before));
	at = (struct stf_path_point){ stf_path_branch(&paths, &last[1]), { 1, 2, 0, 7 } };
	held = stf_path_branch(&paths, &last[0]);
	spend(1);
	memcpy(copy[0], before, sizeof(before));
	copy[0][1][2] += 7;
	CHECK_INT(stf_path_spend(last[0], &(struct stf_path_share){ 0, 3, 0, 11 }), 0);
	copy[0][0][3] += 11;
	follow(2, 0);
	CHECK_INT(stf_path_replace(&paths, held, &at), 0);
	stf_path_drop(&paths, held);
	stf_path_drop(&paths, at.node);
	compare_path(last[0], copy[0]);
	compare_path(last[1], copy[1]);
	compare_path(last[2], copy[2]);
	stf_paths_free(&paths);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(paths_are_those_that_were_copied);
	RUN(node_is_replaced_before_those_that_follow_it);
	return check_end();
}
