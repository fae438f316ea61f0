/* SPDX-License-Identifier: BSD-3-Clause */
/* What an implementation of a link provides; see calib/session/link.h for the meaning of each call. */
#ifndef CALIB_LINK_PRIVATE_H
#define CALIB_LINK_PRIVATE_H

#include <stddef.h>

#include "base/err.h"
#include "base/ticks.h"

struct cal_link;
struct cal_blobs;
struct cal_sample;

struct cal_link_ops {
	int (*turn)(struct cal_link *l, int from, int to, long long *word, double limit_s, struct tkm_err *err);
	int (*exchange)(struct cal_link *l, int master, int child, struct cal_sample *s, struct tkm_err *err);
	int (*message)(struct cal_link *l, int from, int to, ltick_t *sent, ltick_t *received, struct tkm_err *err);
	/* NULL: as message */
	int (*ping)(struct cal_link *l, int from, int to, ltick_t *sent, ltick_t *received, struct tkm_err *err);
	/* these may be NULL: then there is nothing to do or wait for */
	int (*send)(struct cal_link *l, int from, int to, void *data, size_t size, double limit_s, struct tkm_err *err);
	void (*give_up)(struct cal_link *l, int who, int whom);
	int (*pair_begin)(struct cal_link *l, int a, int b, int unit_a, int unit_b, struct tkm_err *err);
	void (*pair_end)(struct cal_link *l);
	void (*hold_cores)(struct cal_link *l, int hold);
	double (*seconds)(struct cal_link *l, int rank); /* rank -1: the farthest */
	void (*sleep)(struct cal_link *l, double seconds);
	void (*close)(struct cal_link *l);
	void (*abort)(struct cal_link *l, int status);
};

/* Room for n blobs, all empty. Returns 0 or -1. */
int cal_blobs_alloc(struct cal_blobs *b, int n, struct tkm_err *err);

/* Sets the defaults of the waits. */
void cal_link_init(struct cal_link *l, const struct cal_link_ops *ops, int rank, int size, void *impl);

#endif
