/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of a link, for every implementation; see calib/session/link.h. */
#include "config.h"
#include "calib/session/link.h"
#include "calib/session/link_private.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

void cal_link_hint(int *rank, int *size)
{
	/* clang-format off */
	static const char *const names[][2] = {
		{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
		{ "PMIX_RANK", NULL },
		{ "PMI_RANK", "PMI_SIZE" },
		{ "SLURM_PROCID", "SLURM_NTASKS" },
	};
	/* clang-format on */
	size_t i;

	*rank = 0;
	*size = 1;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *r = secure_getenv(names[i][0]), *s = names[i][1] ? secure_getenv(names[i][1]) : NULL;

		if (r) {
			*rank = atoi(r);
			*size = s ? atoi(s) : *rank + 1;
			return;
		}
	}
}

void cal_link_init(struct cal_link *l, const struct cal_link_ops *ops, int rank, int size, void *impl)
{
	*l = (struct cal_link){ .ops = ops,
		.rank = rank,
		.size = size,
		.first_near = rank < 0 ? 0 : rank,
		.impl = impl,
		.patience_s = 10,
		.gathering_s = 120 };
}

int cal_link_turn(struct cal_link *l, int from, int to, long long *word, struct tkm_err *err)
{
	return cal_link_rendezvous(l, from, to, word, l->patience_s, err);
}

int cal_link_rendezvous(struct cal_link *l, int from, int to, long long *word, double limit_s, struct tkm_err *err)
{
	if (!cal_link_is(l, from) && !cal_link_is(l, to)) {
		return 0;
	}
	return l->ops->turn(l, from, to, word, limit_s, err);
}

void cal_link_give_up(struct cal_link *l, int who, int whom)
{
	if (l->ops->give_up && cal_link_is(l, who)) {
		l->ops->give_up(l, who, whom);
	}
}

int cal_link_exchange(struct cal_link *l, int master, int child, struct cal_sample *s, struct tkm_err *err)
{
	if (!cal_link_is(l, master) && !cal_link_is(l, child)) {
		return 0;
	}
	return l->ops->exchange(l, master, child, s, err);
}

int cal_link_message(struct cal_link *l, int from, int to, ltick_t *sent, ltick_t *received, struct tkm_err *err)
{
	if (!cal_link_is(l, from) && !cal_link_is(l, to)) {
		return 0;
	}
	return l->ops->message(l, from, to, sent, received, err);
}

int cal_link_ping(struct cal_link *l, int from, int to, ltick_t *sent, ltick_t *received, struct tkm_err *err)
{
	if (!l->ops->ping || l->by_mpi) {
		return cal_link_message(l, from, to, sent, received, err);
	}
	if (!cal_link_is(l, from) && !cal_link_is(l, to)) {
		return 0;
	}
	return l->ops->ping(l, from, to, sent, received, err);
}

int cal_link_send(struct cal_link *l, int from, int to, void *data, size_t size, struct tkm_err *err)
{
	if (!l->ops->send || (!cal_link_is(l, from) && !cal_link_is(l, to))) {
		return 0;
	}
	return l->ops->send(l, from, to, data, size, l->patience_s, err);
}

int cal_link_pair_begin(struct cal_link *l, int a, int b, int unit_a, int unit_b, struct tkm_err *err)
{
	if (!l->ops->pair_begin || (!cal_link_is(l, a) && !cal_link_is(l, b))) {
		return 0;
	}
	return l->ops->pair_begin(l, a, b, unit_a, unit_b, err);
}

void cal_link_pair_end(struct cal_link *l, int a, int b)
{
	if (l->ops->pair_end && (cal_link_is(l, a) || cal_link_is(l, b))) {
		l->ops->pair_end(l);
	}
}

void cal_link_hold_cores(struct cal_link *l, int hold)
{
	if (l->ops->hold_cores) {
		l->ops->hold_cores(l, hold);
	}
}

double cal_link_seconds(struct cal_link *l)
{
	return cal_link_seconds_at(l, l->rank);
}

double cal_link_seconds_at(struct cal_link *l, int rank)
{
	struct timespec ts;

	if (l->ops->seconds) {
		return l->ops->seconds(l, rank);
	}
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

void cal_link_sleep(struct cal_link *l, double seconds)
{
	struct timespec ts = { (time_t)seconds, (long)((seconds - floor(seconds)) * 1e9) };

	if (l->ops->sleep) {
		l->ops->sleep(l, seconds);
	} else if (seconds > 0) {
		while (clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &ts) != 0) {
		}
	}
}

void cal_link_close(struct cal_link *l)
{
	if (l) {
		l->ops->close(l);
	}
}

void cal_link_abort(struct cal_link *l, int status)
{
	if (l->ops->abort) {
		l->ops->abort(l, status);
	}
}
