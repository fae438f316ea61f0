/* SPDX-License-Identifier: BSD-3-Clause */
/* The efficiencies of phases follow from a plan: main of each rank calls setup once and step often, which calls a function that is
 * none, and MPI. */
#include "config.h"
#include "tests/unit/stf/analysis/states.h"

enum { RANKS = 3, STEPS = 10 };
enum { MAIN = 1, SETUP, STEP, INNER, READ, INIT, FINALIZE, BARRIER, FUNCTIONS };

static const char *const names[FUNCTIONS] = { "", "main", "setup", "step", "inner", "read", "MPI_Init", "MPI_Finalize",
	"MPI_Barrier" };
static const char *const classes[FUNCTIONS] = { "", "Application", "Application", "Application", "Application",
	"SYSTEM", "MPI", "MPI", "MPI" };
static uint64_t now;

static void enter(uint32_t willy, uint32_t function)
{
	enter_state(willy, now, function);
}

static void leave(uint32_t willy, uint64_t after)
{
	now += after;
	leave_state(willy, now);
}

static void call(uint32_t willy, uint32_t function, uint64_t length)
{
	enter(willy, function);
	leave(willy, length);
}

/* Rank r works r + 1 times 100 in each step, and four times as long in the fifth; a barrier takes the rest of 1000, or 4000. */
static void play(uint32_t r)
{
	uint64_t work, i;

	now = 0;
	enter(r, MAIN);
	now = 500;
	call(r, INIT, 500); /* up to 1000 */
	enter(r, SETUP);
	call(r, READ, 100);
	leave(r, 1900); /* up to 3000 */
	for (i = 0; i < STEPS; i++) {
		work = (r + 1) * (i == 4 ? 400 : 100);
		enter(r, STEP);
		call(r, INNER, work);
		call(r, BARRIER, (i == 4 ? 4000 : 1000) - work);
		leave(r, 0);
	}
	call(r, FINALIZE, 200);
	leave(r, 50);
}

static const struct stf_phase *phase_of(const struct stf_analysis *a, uint32_t function)
{
	size_t i;

	for (i = 0; i < a->n_phases && a->phase[i].function != function; i++) {
	}
	CHECK(i < a->n_phases, "no phase %s", names[function]);
	return i < a->n_phases ? &a->phase[i] : NULL;
}

static void expect_phase(const struct stf_analysis *a, uint32_t function, uint32_t level, uint64_t calls, uint64_t time,
	const double *outside)
{
	const struct stf_phase *p = phase_of(a, function);
	double mean = (outside[0] + outside[1] + outside[2]) / RANKS, most = outside[2];

	if (p) {
		CHECK_INT(p->level, level);
		CHECK_INT(p->processes, RANKS);
		CHECK_INT(p->calls, calls);
		CHECK_INT(p->time, time);
		CHECK_NEAR(p->parallel, mean / (double)time, 1e-12);
		CHECK_NEAR(p->load_balance, mean / most, 1e-12);
		CHECK_NEAR(p->communication, most / (double)time, 1e-12);
	}
}

static void phases_have_their_efficiencies(void)
{
	const double setup[] = { 2000, 2000, 2000 }, step[] = { 1300, 2600, 3900 }, all[] = { 3300, 4600, 5900 };
	const struct stf_phase *p;
	const uint32_t threads[RANKS] = { 1, 2, 1 };
	const struct stf_analysis *a;
	uint32_t i;

	begin_states(threads, RANKS, names, classes, FUNCTIONS);
	for (i = 0; i < RANKS; i++) {
		play(i);
	}
	now = 1500; /* what another thread does is no phase */
	call(STF_WILLY(1, 1), INNER, 9000);
	analyse_states();
	a = result;
	if (a) {
		CHECK_INT(a->n_phases, 3);
		expect_phase(a, MAIN, 0, 1, 2000 + 13000, all);
		expect_phase(a, SETUP, 1, 1, 2000, setup);
		expect_phase(a, STEP, 1, STEPS, 13000, step);
		p = phase_of(a, STEP);
		CHECK_INT(p ? p->longest : 0, 4000);
		CHECK_INT(p ? p->longest_at : 0, 7000);
		CHECK_INT(p ? p->most : 0, 2);
		CHECK_INT(a->iterations.function, BARRIER);
		CHECK_INT(a->iterations.count, STEPS - 1);
		CHECK_NEAR(a->iterations.mean, 1000, 1e-9);
		CHECK_NEAR(a->iterations.spread, 0, 1e-6);
		CHECK_INT(a->iterations.longest, 4000);
		CHECK_INT(a->iterations.longest_at, 7000);
	}
	end_states();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(phases_have_their_efficiencies);
	rmdir(dir);
	return check_end();
}
