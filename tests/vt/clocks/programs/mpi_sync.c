/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls VT_timesync() argv[1] times, argv[2] milliseconds apart, the second time after argv[3] milliseconds, and says what of its own settings is not as it was before: affinity,
 * scheduling, environment, signal mask, and whether Open MPI's waits yield. Exit status 1 if there is something. */
#define _GNU_SOURCE
#include <VT.h>
#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

extern char **environ;

struct settings {
	cpu_set_t cpus;
	sigset_t blocked;
	struct sched_param param;
	int policy, nice;
	uint64_t environment;
	int yield, cvar; /* -1: this MPI has no such thing */
};

static uint64_t hash_of_environment(void)
{
	uint64_t h = 14695981039346656037u; /* FNV-1a */
	const char *p;
	char **e;

	for (e = environ; *e; e++) {
		for (p = *e; *p; p++) {
			h = (h ^ (unsigned char)*p) * 1099511628211u;
		}
		h = (h ^ 1) * 1099511628211u;
	}
	return h;
}

/* What the waits do, and what MPI says that they do. */
static void look_at_mpi(struct settings *s)
{
	void *found = dlsym(RTLD_DEFAULT, "opal_progress_set_yield_when_idle");
	int n, index, count;
	MPI_T_cvar_handle cvar;
	bool (*set)(bool);

	s->yield = s->cvar = -1;
	if (found) {
		memcpy(&set, &found, sizeof(set));
		s->yield = set(true);
		set(s->yield);
	}
	if (MPI_T_cvar_get_num(&n) == MPI_SUCCESS &&
		MPI_T_cvar_get_index("mpi_yield_when_idle", &index) == MPI_SUCCESS &&
		MPI_T_cvar_handle_alloc(index, NULL, &cvar, &count) == MPI_SUCCESS) {
		MPI_T_cvar_read(cvar, &s->cvar);
		MPI_T_cvar_handle_free(&cvar);
	}
}

static void look(struct settings *s)
{
	memset(s, 0, sizeof(*s));
	sched_getaffinity(0, sizeof(s->cpus), &s->cpus);
	sigprocmask(SIG_SETMASK, NULL, &s->blocked);
	sched_getparam(0, &s->param);
	s->policy = sched_getscheduler(0);
	s->nice = getpriority(PRIO_PROCESS, 0);
	s->environment = hash_of_environment();
	look_at_mpi(s);
}

static int same(const struct settings *a, const struct settings *b)
{
	int signals = 0, i;

	for (i = 1; i < NSIG; i++) {
		signals |= sigismember(&a->blocked, i) != sigismember(&b->blocked, i);
	}
	if (!CPU_EQUAL(&a->cpus, &b->cpus)) {
		printf("changed: affinity\n");
	}
	if (a->policy != b->policy || a->nice != b->nice || a->param.sched_priority != b->param.sched_priority) {
		printf("changed: scheduling\n");
	}
	if (a->environment != b->environment) {
		printf("changed: environment\n");
	}
	if (signals) {
		printf("changed: signal mask\n");
	}
	if (a->yield != b->yield || a->cvar != b->cvar) {
		printf("changed: yielding, %d to %d, parameter %d to %d\n", a->yield, b->yield, a->cvar, b->cvar);
	}
	return CPU_EQUAL(&a->cpus, &b->cpus) && a->policy == b->policy && a->nice == b->nice &&
		a->param.sched_priority == b->param.sched_priority && a->environment == b->environment && !signals &&
		a->yield == b->yield && a->cvar == b->cvar;
}

int main(int argc, char **argv)
{
	int sessions = argc > 1 ? atoi(argv[1]) : 6, ms = argc > 2 ? atoi(argv[2]) : 100,
	    second = argc > 3 ? atoi(argv[3]) : ms, bad, worst = 0, rank, i;
	struct settings before, now;

	MPI_Init(&argc, &argv);
	MPI_T_init_thread(MPI_THREAD_SINGLE, &i); /* once: MPICH 4.0 does not survive a second time */
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	look(&before);
	for (i = 0; i < sessions; i++) {
		usleep((useconds_t)(i == 1 ? second : ms) * 1000);
		VT_timesync();
		look(&now);
		bad = !same(&before, &now);
		worst |= bad;
	}
	printf("rank %d: %s, yielding %d\n", rank, worst ? "changed" : "unchanged", now.yield);
	MPI_T_finalize();
	MPI_Finalize();
	return worst;
}
