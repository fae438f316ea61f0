/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "calib/link_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void cal_link_hint(int *rank, int *size)
{
	static const char *const names[][2] = {
		{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
		{ "PMIX_RANK", NULL },
		{ "PMI_RANK", "PMI_SIZE" },
		{ "SLURM_PROCID", "SLURM_NTASKS" },
	};
	size_t i;

	*rank = 0;
	*size = 1;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *r = getenv(names[i][0]), *s = names[i][1] ? getenv(names[i][1]) : NULL;

		if (r) {
			*rank = atoi(r);
			*size = s ? atoi(s) : *rank + 1;
			return;
		}
	}
}

int cal_link_turn(struct cal_link *l, int from, int to, long long *word, struct tkm_err *err)
{
	if (!cal_link_is(l, from) && !cal_link_is(l, to)) {
		return 0;
	}
	return l->ops->turn(l, from, to, word, err);
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

int cal_link_send(struct cal_link *l, int from, int to, void *data, size_t size, struct tkm_err *err)
{
	if (!l->ops->send || (!cal_link_is(l, from) && !cal_link_is(l, to))) {
		return 0;
	}
	return l->ops->send(l, from, to, data, size, err);
}

int cal_link_pair_begin(struct cal_link *l, int a, int b, struct tkm_err *err)
{
	if (!l->ops->pair_begin || (!cal_link_is(l, a) && !cal_link_is(l, b))) {
		return 0;
	}
	return l->ops->pair_begin(l, a, b, err);
}

void cal_link_pair_end(struct cal_link *l, int a, int b)
{
	if (l->ops->pair_end && (cal_link_is(l, a) || cal_link_is(l, b))) {
		l->ops->pair_end(l);
	}
}

int cal_link_barrier(struct cal_link *l, struct tkm_err *err)
{
	return l->ops->barrier ? l->ops->barrier(l, err) : 0;
}

int cal_link_bcast(struct cal_link *l, void *data, size_t size, struct tkm_err *err)
{
	return l->ops->bcast ? l->ops->bcast(l, data, size, err) : 0;
}

int cal_blobs_alloc(struct cal_blobs *b, int n, struct tkm_err *err)
{
	b->n = n;
	b->data = calloc((size_t)n + 1, sizeof(*b->data));
	b->length = calloc((size_t)n + 1, sizeof(*b->length));
	if (!b->data || !b->length) {
		b->n = 0;
		cal_blobs_free(b);
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the data of %d processes", n);
	}
	return 0;
}

void cal_blobs_free(struct cal_blobs *b)
{
	int i;

	for (i = 0; i < b->n; i++) {
		free(b->data[i]);
	}
	free(b->data);
	free(b->length);
	memset(b, 0, sizeof(*b));
}

int cal_link_gather(struct cal_link *l, const void *data, size_t length, struct cal_blobs *all, struct tkm_err *err)
{
	memset(all, 0, sizeof(*all));
	if (l->ops->gather) {
		return l->ops->gather(l, data, length, all, err);
	}
	if (cal_blobs_alloc(all, 1, err) < 0) {
		return -1;
	}
	all->data[0] = malloc(length + 1);
	if (!all->data[0]) {
		cal_blobs_free(all);
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %zu bytes of results", length);
	}
	memcpy(all->data[0], data, length);
	all->data[0][length] = '\0';
	all->length[0] = length;
	return 0;
}

void cal_link_hold_cores(struct cal_link *l, int hold)
{
	if (l->ops->hold_cores) {
		l->ops->hold_cores(l, hold);
	}
}

double cal_link_seconds(struct cal_link *l)
{
	struct timespec ts;

	if (l->ops->seconds) {
		return l->ops->seconds(l);
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
