/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits at barriers of OpenMP follow from a plan of random work: two processes, whose threads come to a barrier inside each region and
 * to that at its end, leave them some time after the last one, run a task while they wait, and may be at the next barrier when another
 * thread still leaves the one before. */
#include "config.h"
#include "tests/unit/stf/analysis/states.h"

enum { PROCESSES = 2, THREADS = 5, REGIONS = 200, US = 1000 };
enum { REGION = 1, END, BARRIER, TASK, MINE, FUNCTIONS };

static const char *const names[FUNCTIONS] = { "", "parallel", "implicit_barrier", "barrier", "task", "barrier" };
static const char *const classes[FUNCTIONS] = { "", "OMP", "OMP", "OMP", "OMP", "Application" };
static uint64_t held, now[THREADS], begun[THREADS], inside[THREADS], waited[THREADS], caused[THREADS];

/* All threads come to a barrier, some run a task there, and leave it one after the other. */
static void meet(uint32_t process, uint32_t function)
{
	uint64_t came[THREADS], task[THREADS] = { 0 }, last = 0;
	uint32_t k, cause = 0;

	for (k = 0; k < THREADS; k++) {
		came[k] = now[k];
		if (now[k] > last) {
			last = now[k];
			cause = k;
		}
	}
	for (k = 0; k < THREADS; k++) {
		enter_state(STF_WILLY(process, k), came[k], function);
		if (last - came[k] > 10 * US && check_random() % 2) {
			task[k] = 4 * US;
			enter_state(STF_WILLY(process, k), came[k] + US, TASK);
			leave_state(STF_WILLY(process, k), came[k] + US + task[k]);
		}
		now[k] = last + 1 + check_random() % US * THREADS +
			k; /* threads that leave at the same tick are a team */
		leave_state(STF_WILLY(process, k), now[k]);
		held += k ? 0 : now[k] - came[k] - task[k];
		waited[k] += last - came[k] - task[k];
		caused[cause] += last - came[k] - task[k];
	}
}

static void work(void)
{
	uint32_t k;

	for (k = 0; k < THREADS; k++) {
		now[k] += 1 + check_random() % (100 * US) * (k == 3 ? 3 : 1);
	}
}

/* How long the first thread may have waited for the others to begin the region, before it came to its first barrier. */
static uint64_t held_at_begin(void)
{
	uint64_t until = begun[0];
	uint32_t k;

	for (k = 1; k < THREADS; k++) {
		until = begun[k] > until && begun[k] < now[0] ? begun[k] : until;
	}
	return until - begun[0];
}

static void play(uint32_t process)
{
	uint32_t i, k;

	memset(now, 0, sizeof(now));
	memset(waited, 0, sizeof(waited));
	memset(caused, 0, sizeof(caused));
	memset(inside, 0, sizeof(inside));
	held = 0;
	for (i = 0; i < REGIONS; i++) {
		for (k = 0; k < THREADS; k++) {
			begun[k] = now[k] + 1;
			enter_state(STF_WILLY(process, k), begun[k], REGION);
			/* a function of the program with the name of a barrier is none */
			enter_state(STF_WILLY(process, k), begun[k] + 1, MINE);
			leave_state(STF_WILLY(process, k), begun[k] + 2);
			now[k] = begun[k] + 2;
		}
		work();
		held += held_at_begin();
		meet(process, BARRIER);
		work();
		meet(process, END);
		for (k = 0; k < THREADS; k++) {
			leave_state(STF_WILLY(process, k), now[k]);
			inside[k] += now[k] - begun[k];
		}
	}
}

static uint64_t waits_of(const struct stf_analysis *a, uint32_t willy)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < a->n_waits; i++) {
		if (a->wait[i].willy == willy) {
			CHECK_INT(a->wait[i].kind, STF_WAIT_OMP_BARRIER);
			sum += a->wait[i].sum;
		}
	}
	return sum;
}

static void compare(const struct stf_analysis *a, uint32_t process)
{
	const struct stf_team *t = &a->team[0];
	uint64_t sum = 0, in_all = 0, longest = 0;
	uint32_t k;

	for (k = 0; k < THREADS; k++) {
		in_all += inside[k];
		longest = inside[k] > longest ? inside[k] : longest;
		CHECK_INT(waits_of(a, STF_WILLY(process, k)), waited[k]);
		sum += waited[k];
	}
	CHECK_INT(t->process, process);
	CHECK_INT(t->threads, THREADS);
	CHECK_INT(t->inside, in_all);
	CHECK_INT(t->longest_inside, longest);
	CHECK_INT(t->waited, sum);
	CHECK_INT(t->first_held, held);
	CHECK_INT(t->cause, STF_WILLY(process, 3));
	CHECK_INT(t->caused, caused[3]);
}

static void threads_wait_for_the_last_one(void)
{
	const uint32_t threads[PROCESSES] = { THREADS, THREADS };
	uint32_t i;

	for (i = 0; i < PROCESSES; i++) {
		begin_states(threads, PROCESSES, names, classes, FUNCTIONS);
		play(i); /* the other process has no region */
		analyse_states();
		CHECK_INT(result ? result->n_teams : 0, 1);
		if (result && result->n_teams == 1) {
			CHECK_INT(result->processes, 0);
			compare(result, i);
		}
		end_states();
	}
}

/* Two threads of a team begin inner teams of one line at the same time: thread 0 with 2, thread 1 with 3. At the barrier at the end of
 * its region each thread waits for the last one of its own inner team, at the end of the outer region for that of the outer team. */
static void inner_teams_of_one_line_are_apart(void)
{
	enum { ALL = 4 };
	static const uint64_t came[ALL] = { 100, 400, 200, 900 }, left[ALL] = { 210, 910, 210, 910 };
	const uint32_t threads = ALL;
	uint32_t k;

	begin_states(&threads, 1, names, classes, FUNCTIONS);
	for (k = 0; k < 2; k++) {
		enter_state(STF_WILLY(0, k), 10, REGION);
	}
	for (k = 0; k < ALL; k++) {
		enter_state(STF_WILLY(0, k), 20, REGION);
		enter_state(STF_WILLY(0, k), came[k], END);
		leave_state(STF_WILLY(0, k), left[k]);
		leave_state(STF_WILLY(0, k), left[k]);
	}
	for (k = 0; k < 2; k++) {
		enter_state(STF_WILLY(0, k), k ? 920 : 220, END);
		leave_state(STF_WILLY(0, k), 930);
		leave_state(STF_WILLY(0, k), 930);
	}
	analyse_states();
	CHECK_INT(waits_of(result, STF_WILLY(0, 0)), 100 + 700);
	CHECK_INT(waits_of(result, STF_WILLY(0, 1)), 500);
	CHECK_INT(waits_of(result, STF_WILLY(0, 2)), 0);
	CHECK_INT(waits_of(result, STF_WILLY(0, 3)), 0);
	end_states();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(threads_wait_for_the_last_one);
	RUN(inner_teams_of_one_line_are_apart);
	rmdir(dir);
	return check_end();
}
