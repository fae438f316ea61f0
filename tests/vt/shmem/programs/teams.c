/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams of OpenSHMEM 1.5, which Open MPI 4 does not have, and Open MPI 5 has without an implementation: each call is the
 * error -7. With STAND_IN this is a library that takes their place and moves nothing; without, a program that uses them,
 * and writes into truth.PE "operation set root sent received" of its part, or what it puts through the context of a team. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CALL(kind, result, name, params, ...) result name params;
#include "collector-plugin/shmem/calls.def"
#undef CALL

struct team {
	int first, stride, size;
};
extern void *oshmem_team_world;
void start_teams(int pes);

#ifdef STAND_IN
int pshmem_my_pe(void);
void pshmem_long_p(long *to, long value, int pe);
void *oshmem_team_world;

void start_teams(int pes)
{
	static struct team world = { 0, 1, 0 };

	world.size = pes;
	oshmem_team_world = &world;
}

int shmem_team_n_pes(void *team)
{
	return ((struct team *)team)->size;
}

int shmem_team_translate_pe(void *team, int pe, void *to)
{
	const struct team *a = team, *b = to;
	int in_b = (a->first + pe * a->stride - b->first) / b->stride;

	return pe < a->size && in_b < b->size ? in_b : -1;
}

int shmem_team_split_strided(void *team, int start, int stride, int size, const void *config, long mask, void **made)
{
	const struct team *t = team;
	struct team *new = malloc(sizeof(*new));
	int place;

	(void)config, (void)mask;
	*new = (struct team){ t->first + start * t->stride, stride * t->stride, size };
	place = pshmem_my_pe() - new->first;
	*made = place >= 0 && place % new->stride == 0 && place / new->stride < size ? new : NULL;
	return *made ? 0 : -1;
}

int shmem_team_create_ctx(void *team, long options, void **ctx)
{
	(void)options;
	*ctx = team;
	return 0;
}

int shmem_ctx_get_team(void *ctx, void **team)
{
	*team = ctx;
	return 0;
}

void shmem_ctx_long_p(void *ctx, long *to, long value, int pe)
{
	const struct team *t = ctx;

	pshmem_long_p(to, value, t->first + pe * t->stride);
}

int shmem_team_sync(void *team)
{
	return team == NULL;
}

int shmem_short_broadcast(void *team, short *to, const short *from, size_t len, int root)
{
	return !team || !to || !from || !len || root < 0;
}

#define MOVE(name, T) \
	int name(void *team, T *to, const T *from, size_t len) \
	{ \
		return !team || !to || !from || !len; \
	}
MOVE(shmem_long_collect, long)
MOVE(shmem_fcollectmem, void)
MOVE(shmem_size_alltoall, size_t)
MOVE(shmem_complexd_prod_reduce, double _Complex)

int shmem_char_alltoalls(void *team, char *to, const char *from, ptrdiff_t tst, ptrdiff_t sst, size_t len)
{
	return !team || !to || !from || !tst || !sst || !len;
}

int shmem_int_max_reduce(void *team, int *to, const int *from, size_t len)
{
	(void)team, (void)to, (void)from, (void)len;
	return -7;
}
#else
static FILE *truth;

static void say(const char *operation, const struct team *t, int root, size_t sent, size_t received)
{
	int last = t->first + (t->size - 1) * t->stride;

	fprintf(truth, "%s ", operation);
	if (t->size == ((struct team *)oshmem_team_world)->size) {
		fprintf(truth, "all PEs ");
	} else {
		fprintf(truth, "PEs %d to %d by %d ", t->first, last, t->size == 1 ? 1 : t->stride);
	}
	if (root >= 0) {
		fprintf(truth, "root %d ", t->first + root * t->stride);
	}
	fprintf(truth, "%zu %zu\n", sent, received);
}

static void use_team(void *team, int me)
{
	static char to[4000], from[4000];
	const struct team *t = team;
	size_t n = (size_t)t->size;
	int root = t->size - 1, is_root = me == t->first + root * t->stride;

	shmem_team_sync(team);
	say("shmem_sync", t, -1, 0, 0);
	shmem_short_broadcast(team, (short *)to, (const short *)from, 5, root);
	say("shmem_broadcast", t, root, is_root ? 10 : 0, is_root ? 0 : 10);
	shmem_long_collect(team, (long *)to, (const long *)from, 3);
	say("shmem_collect", t, -1, 24, 0);
	shmem_fcollectmem(team, to, from, 7);
	say("shmem_fcollect", t, -1, 7, 7 * n);
	shmem_size_alltoall(team, (size_t *)to, (const size_t *)from, 2);
	say("shmem_alltoall", t, -1, 16 * n, 16 * n);
	shmem_char_alltoalls(team, to, from, 1, 2, 9);
	say("shmem_alltoalls", t, -1, 9 * n, 9 * n);
	shmem_complexd_prod_reduce(team, (double _Complex *)to, (const double _Complex *)from, 4);
	say("shmem_reduce", t, -1, 64, 64);
	shmem_int_max_reduce(team, (int *)to, (const int *)from, 4); /* fails, and is no operation */
}

int main(void)
{
	static const struct team sets[] = { { 0, 2, 2 }, { 1, 2, 2 }, { 0, 3, 2 }, { 1, 1, 3 }, { 2, 1, 1 } };
	static long flag;
	void *team, *ctx;
	char name[40];
	size_t i;
	int me;

	shmem_init();
	me = shmem_my_pe();
	start_teams(shmem_n_pes());
	snprintf(name, sizeof(name), "truth.%d", me);
	truth = fopen(name, "w");
	use_team(oshmem_team_world, me);
	for (i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		if (shmem_team_split_strided(
			    oshmem_team_world, sets[i].first, sets[i].stride, sets[i].size, NULL, 0, &team) == 0) {
			use_team(team, me);
			shmem_team_create_ctx(team, 0, &ctx);
			shmem_ctx_long_p(ctx, &flag, 1, sets[i].size - 1);
			fprintf(truth, "%d shmem_ctx_long_p WRITE 8 symmetric memory of PE %d\n", me,
				sets[i].first + (sets[i].size - 1) * sets[i].stride);
		}
	}
	fclose(truth);
	shmem_finalize();
	return 0;
}
#endif
