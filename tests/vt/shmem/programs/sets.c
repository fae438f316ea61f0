/* SPDX-License-Identifier: BSD-3-Clause */
/* sets STEPS SEED: random collective operations on random active sets, the same on all PEs, and a few calls of every other
 * kind. Each PE writes into truth.PE "operation set root sent received" of its part, and into calls.PE how often it has
 * called what. */
#include <mpi.h>
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 50, SYNC = 64 };
static int me, pes, wrong;
static FILE *truth;
static unsigned long state;
static long *sync_of, *flag, *lock;
static short work[MOST];
static void *to, *from;

static unsigned next_random(unsigned n)
{
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return (unsigned)(state >> 33) % n;
}

static struct {
	const char *name;
	int n;
} count[64];

static void note(const char *name)
{
	int i;

	for (i = 0; count[i].name && strcmp(count[i].name, name); i++) {
	}
	count[i].name = name;
	count[i].n++;
}
#define DO(f, ...) (note(#f), f(__VA_ARGS__))

/* ---- one operation ---- */

static char set[60];
static int start, log_stride, size, root, mine;

static void say(const char *name, int with_root, size_t sent, size_t received)
{
	if (with_root) {
		fprintf(truth, "%s %s root %d %zu %zu\n", name, set, start + (root << log_stride), sent, received);
	} else {
		fprintf(truth, "%s %s %zu %zu\n", name, set, sent, received);
	}
}

static void choose_set(void)
{
	do {
		start = (int)next_random((unsigned)pes);
		log_stride = (int)next_random(2);
		size = 1 + (int)next_random((unsigned)pes);
	} while (start + ((size - 1) << log_stride) >= pes);
	root = (int)next_random((unsigned)size);
	mine = me >= start && (me - start) % (1 << log_stride) == 0 && (me - start) >> log_stride < size;
	if (size == pes) {
		strcpy(set, "all PEs");
	} else {
		snprintf(set, sizeof(set), "PEs %d to %d by %d", start, start + ((size - 1) << log_stride),
			size == 1 ? 1 : 1 << log_stride);
	}
}

#define ON_SET start, log_stride, size
static void operate(unsigned which, size_t n, long *sync)
{
	size_t all = (size_t)size;

	switch (which) {
	case 0:
		DO(shmem_barrier, ON_SET, sync);
		say("shmem_barrier", 0, 0, 0);
		break;
	case 1:
#ifdef shmem_sync /* it chooses by the arguments */
		DO(shmem_sync_deprecated, ON_SET, sync);
#else
		DO(shmem_sync, ON_SET, sync);
#endif
		say("shmem_sync", 0, 0, 0);
		break;
	case 2:
		DO(shmem_broadcast64, to, from, n, root, ON_SET, sync);
		say("shmem_broadcast", 1, (me - start) >> log_stride == root ? 8 * n : 0,
			(me - start) >> log_stride == root ? 0 : 8 * n);
		break;
	case 3:
		DO(shmem_collect32, to, from, n + (size_t)me, ON_SET, sync);
		say("shmem_collect", 0, 4 * (n + (size_t)me), 0);
		break;
	case 4:
		DO(shmem_fcollect32, to, from, n, ON_SET, sync);
		say("shmem_fcollect", 0, 4 * n, 4 * n * all);
		break;
	case 5:
		DO(shmem_alltoall64, to, from, n, ON_SET, sync);
		say("shmem_alltoall", 0, 8 * n * all, 8 * n * all);
		break;
	case 6:
		DO(shmem_alltoalls32, to, from, 1, 1, n, ON_SET, sync);
		say("shmem_alltoalls", 0, 4 * n * all, 4 * n * all);
		break;
	case 7:
		DO(shmem_short_sum_to_all, to, from, (int)n, ON_SET, work, sync);
		say("shmem_to_all", 0, 2 * n, 2 * n);
		break;
	}
}

/* ---- the others ---- */

static void *put_from_thread(void *unused)
{
	DO(shmem_long_p, &flag[1], 2, (me + 1) % pes);
	DO(shmem_quiet);
	return unused;
}

static void others(void)
{
	long double ld = 1.25l, *sym = DO(shmem_malloc, sizeof(*sym));
	shmem_ctx_t ctx;
	pthread_t t;
	int other = (me + 1) % pes;

	DO(shmem_set_lock, lock);
	DO(shmem_clear_lock, lock);
	*sym = 0;
	DO(shmem_barrier_all);
	DO(shmem_longdouble_p, sym, ld, other);
	DO(shmem_ctx_create, 0, &ctx);
	DO(shmem_ctx_long_p, ctx, flag, 7, other);
	DO(shmem_ctx_quiet, ctx);
	DO(shmem_ctx_destroy, ctx);
	DO(shmem_long_wait_until, flag, SHMEM_CMP_EQ, 7);
	wrong |= DO(shmem_long_g, flag, me) != 7;
	DO(shmem_barrier_all);
	wrong |= DO(shmem_longdouble_g, sym, me) != ld;
	wrong |= DO(shmem_long_test, flag, SHMEM_CMP_GT, 100) != 0;
	wrong |= DO(shmem_ptr, flag, me) != flag;
	pthread_create(&t, NULL, put_from_thread, NULL);
	pthread_join(t, NULL);
	DO(MPI_Barrier, MPI_COMM_WORLD);
	wrong |= DO(shmem_n_pes) != pes;
	DO(shmem_free, sym);
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 1, provided, i;
	char name[40];
	FILE *calls;

	note("shmem_init_thread");
	shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
	me = DO(shmem_my_pe);
	pes = DO(shmem_n_pes);
	state = (unsigned long)(argc > 2 ? atoi(argv[2]) : 1);
	to = DO(shmem_malloc, MOST * 8 * (size_t)pes);
	from = DO(shmem_calloc, MOST * (size_t)pes, 8);
	sync_of = DO(shmem_malloc, SYNC * sizeof(long));
	flag = DO(shmem_calloc, 2, sizeof(*flag));
	lock = DO(shmem_calloc, 1, sizeof(*lock));
	for (i = 0; i < SYNC; i++) {
		sync_of[i] = SHMEM_SYNC_VALUE;
	}
	snprintf(name, sizeof(name), "truth.%d", me);
	truth = fopen(name, "w");
	for (i = 0; i < steps; i++) {
		unsigned which = next_random(8);
		size_t n = 1 + next_random(MOST / 2);

		choose_set();
		DO(shmem_barrier_all);
		fprintf(truth, "shmem_barrier all PEs 0 0\n");
		if (mine) {
			operate(which, n, sync_of);
		}
	}
	others();
	fprintf(truth, "shmem_barrier all PEs 0 0\nshmem_barrier all PEs 0 0\n");
	DO(shmem_sync_all);
	fprintf(truth, "shmem_sync all PEs 0 0\n");
	fclose(truth);
	snprintf(name, sizeof(name), "calls.%d", me);
	note("shmem_finalize");
	calls = fopen(name, "w");
	for (i = 0; count[i].name; i++) {
		fprintf(calls, "%s %d\n", count[i].name, count[i].n);
	}
	fclose(calls);
	shmem_finalize();
	return wrong;
}
