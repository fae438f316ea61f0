/* SPDX-License-Identifier: BSD-3-Clause */
/* What a link knows of its job before MPI does, and which of its calls concern this process. */
#include "config.h"
#include "calib/session/link.h"
#include "calib/session/link_private.h"
#include "tests/lib/check.h"

static void launchers_say_who_this_is(void)
{
	static const char *const all[] = { "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK",
		"PMI_SIZE", "SLURM_PROCID", "SLURM_NTASKS" };
	int rank, size;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		unsetenv(all[i]);
	}
	cal_link_hint(&rank, &size);
	CHECK(rank == 0 && size == 1, "alone: %d of %d", rank, size);
	setenv("SLURM_PROCID", "7", 1);
	setenv("SLURM_NTASKS", "9", 1);
	cal_link_hint(&rank, &size);
	CHECK(rank == 7 && size == 9, "Slurm: %d of %d", rank, size);
	setenv("PMI_RANK", "3", 1);
	setenv("PMI_SIZE", "4", 1);
	cal_link_hint(&rank, &size);
	CHECK(rank == 3 && size == 4, "the launcher of MPI under Slurm: %d of %d", rank, size);
	setenv("PMIX_RANK", "5", 1);
	cal_link_hint(&rank, &size);
	CHECK(rank == 5 && size == 6, "PMIx, which does not state the size: %d of %d", rank, size);
	setenv("OMPI_COMM_WORLD_RANK", "1", 1);
	setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
	cal_link_hint(&rank, &size);
	CHECK(rank == 1 && size == 2, "Open MPI: %d of %d", rank, size);
}

static int turns;
static double limit_of_turn;

static int turn(struct cal_link *l, int from, int to, long long *word, double limit_s, struct tkm_err *err)
{
	(void)l;
	(void)from;
	(void)to;
	(void)err;
	turns++;
	limit_of_turn = limit_s;
	*word += 1;
	return 0;
}

static double seconds_of(struct cal_link *l, int rank)
{
	(void)l;
	return 100 + rank;
}

static void a_process_takes_part_in_its_own_pairs_only(void)
{
	const struct cal_link_ops ops = { .turn = turn, .seconds = seconds_of };
	struct cal_link l;
	struct tkm_err err;
	long long word = 0;

	cal_link_init(&l, &ops, 2, 4, NULL);
	CHECK(cal_link_turn(&l, 0, 1, &word, &err) == 0 && turns == 0 && word == 0, "rank 2 took part in 0 and 1");
	CHECK(cal_link_turn(&l, 0, 2, &word, &err) == 0 && turns == 1 && word == 1, "rank 2 took no part in 0 and 2");
	CHECK_NEAR(limit_of_turn, 10, 0);
	CHECK(cal_link_rendezvous(&l, 2, 3, &word, 120, &err) == 0 && turns == 2, "%d turns", turns);
	CHECK_NEAR(limit_of_turn, 120, 0);
	CHECK_NEAR(cal_link_seconds(&l), 102, 0);
	cal_link_init(&l, &ops, -1, 4, NULL); /* a simulation is all ranks */
	CHECK(cal_link_turn(&l, 0, 1, &word, &err) == 0 && turns == 3, "%d turns", turns);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(launchers_say_who_this_is);
	RUN(a_process_takes_part_in_its_own_pairs_only);
	return check_end();
}
