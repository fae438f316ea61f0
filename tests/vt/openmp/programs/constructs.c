/* SPDX-License-Identifier: BSD-3-Clause */
/* Each construct of OpenMP, as in the EPCC microbenchmarks, so often: constructs THREADS TIMES. Ends with 0 if each
 * gave the right result. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

static int failed;

static void check(const char *what, long is, long wanted)
{
	if (is != wanted) {
		fprintf(stderr, "%s: %ld, not %ld\n", what, is, wanted);
		failed = 1;
	}
}

static long work_sharing(int times)
{
	long sum = 0;
	int t, i, copied;

#pragma omp parallel private(t, copied) shared(sum)
	for (t = 0; t < times; t++) {
#pragma omp for schedule(dynamic, 2) reduction(+ : sum)
		for (i = 0; i < 32; i++) {
			sum += i;
		}
#pragma omp for schedule(guided) nowait
		for (i = 0; i < 32; i++) {
#pragma omp atomic
			sum++;
		}
#pragma omp for schedule(static)
		for (i = 0; i < 32; i++) {
#pragma omp atomic
			sum++;
		}
#pragma omp sections
		{
#pragma omp section
#pragma omp atomic
			sum += 1;
#pragma omp section
#pragma omp atomic
			sum += 1;
		}
#pragma omp single
		sum += 4;
#pragma omp single copyprivate(copied)
		copied = 3;
#pragma omp for ordered schedule(dynamic)
		for (i = 0; i < 8; i++) {
#pragma omp ordered
			sum += copied;
		}
	}
	return sum;
}

static long combined(int times)
{
	long sum = 0;
	int t, i;

	for (t = 0; t < times; t++) {
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
		for (i = 0; i < 16; i++) {
			sum += i;
		}
#pragma omp parallel sections
		{
#pragma omp section
#pragma omp atomic
			sum++;
#pragma omp section
#pragma omp atomic
			sum++;
		}
	}
	return sum;
}

static long locks(int times)
{
	omp_lock_t lock;
	omp_nest_lock_t nest;
	long sum = 0;
	int t;

	omp_init_lock(&lock);
	omp_init_nest_lock(&nest);
#pragma omp parallel private(t)
	for (t = 0; t < times; t++) {
		/* another thread may add at the same time, under another lock */
		omp_set_lock(&lock);
#pragma omp atomic
		sum++;
		omp_unset_lock(&lock);
		omp_set_nest_lock(&nest);
		omp_set_nest_lock(&nest);
#pragma omp atomic
		sum++;
		omp_unset_nest_lock(&nest);
		omp_unset_nest_lock(&nest);
		if (omp_test_lock(&lock)) {
			omp_unset_lock(&lock);
		}
#pragma omp critical
		{
#pragma omp atomic
			sum++;
		}
#pragma omp critical(named)
		{
#pragma omp atomic
			sum++;
		}
#pragma omp barrier
	}
	omp_destroy_lock(&lock);
	omp_destroy_nest_lock(&nest);
	return sum;
}

static long fib(long n)
{
	long a, b;

	if (n < 2) {
		return n;
	}
#pragma omp task shared(a) firstprivate(n) if (n > 3)
	a = fib(n - 1);
#pragma omp task shared(b) firstprivate(n)
	b = fib(n - 2);
#pragma omp taskwait
	return a + b;
}

static long tasks(int times)
{
	long sum = 0, depends = 0;
	int t, i;
	char large[300] = { 7 };

#pragma omp parallel
#pragma omp single
	{
		for (t = 0; t < times; t++) {
			long f = fib(6);

#pragma omp atomic
			sum += f;
#pragma omp taskgroup
			{
#pragma omp task firstprivate(large)
				{
#pragma omp atomic
					sum += large[0];
				}
			}
#pragma omp taskloop grainsize(4)
			for (i = 0; i < 32; i++) {
#pragma omp atomic
				sum += i;
			}
#pragma omp task depend(out : depends)
			depends = 5;
#pragma omp task depend(in : depends)
			{
#pragma omp atomic
				sum += depends;
			}
#pragma omp taskyield
#pragma omp taskwait
		}
	}
	return sum;
}

static long nested(int times)
{
	long sum = 0;
	int t;

	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) private(t)
	for (t = 0; t < times; t++) {
#pragma omp parallel num_threads(2)
		{
#pragma omp atomic
			sum++;
		}
	}
	return sum;
}

static long cancelled(int times)
{
	long sum = 0;
	int t, i;

	for (t = 0; t < times; t++) {
#pragma omp parallel
		{
#pragma omp for
			for (i = 0; i < 1000; i++) {
				if (i == 10) {
#pragma omp cancel for
				}
#pragma omp cancellation point for
			}
		}
#pragma omp atomic
		sum++;
	}
	return sum;
}

/* What only the first thread runs, a construct of all threads, loops of teams, and a lock within a statement. */
static long others(int times)
{
	long sum = 0, seen = 0;
	int t, i;

#pragma omp parallel private(t) reduction(+ : sum)
	for (t = 0; t < times; t++) {
		long old;

#pragma omp master
		sum++;
#pragma omp atomic capture
		old = seen++;
		(void)old;
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma omp scope reduction(task, + : seen)
		seen += 1;
#endif
	}
	for (t = 0; t < times; t++) {
#pragma omp teams num_teams(1) thread_limit(1)
#pragma omp distribute
		for (i = 0; i < 4; i++) {
#pragma omp atomic
			sum++;
		}
	}
	return sum;
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[1]) : 2, times = argc > 2 ? atoi(argv[2]) : 3;

#ifdef WITH_MPI
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
#endif
	omp_set_dynamic(0);
	omp_set_num_threads(threads);
	check("work sharing", work_sharing(times), times * (496L + 32 + 32 + 2 + 4 + 24));
	check("combined", combined(times), times * (120L + 2));
	check("locks", locks(times), times * (long)threads * 4);
	check("tasks", tasks(times), times * (8L + 7 + 496 + 5));
	check("nested", nested(times), times * 4L);
	check("cancelled", cancelled(times), times);
	check("others", others(times), times * 5L);
#ifdef WITH_MPI
	MPI_Finalize();
#endif
	return failed;
}
