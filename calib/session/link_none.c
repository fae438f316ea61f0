/* SPDX-License-Identifier: BSD-3-Clause */
/* A run of one process, without MPI: there is no other process to exchange messages with. */
#include "config.h"
#include "calib/session/link.h"
#include "calib/session/link_private.h"

#include <stdlib.h>

static int no_other_process(struct tkm_err *err)
{
	return tkm_fail(err, TKM_ERR_UNAVAIL, "a program without MPI has no other rank to exchange messages with");
}

static int no_turn(struct cal_link *l, int from, int to, long long *word, double limit_s, struct tkm_err *err)
{
	(void)l;
	(void)from;
	(void)to;
	(void)word;
	(void)limit_s;
	return no_other_process(err);
}

static int no_exchange(struct cal_link *l, int master, int child, struct cal_sample *s, struct tkm_err *err)
{
	(void)l;
	(void)master;
	(void)child;
	(void)s;
	return no_other_process(err);
}

static int no_message(struct cal_link *l, int from, int to, ltick_t *sent, ltick_t *received, struct tkm_err *err)
{
	(void)l;
	(void)from;
	(void)to;
	(void)sent;
	(void)received;
	return no_other_process(err);
}

static void close_none(struct cal_link *l)
{
	free(l);
}

static const struct cal_link_ops none_ops = {
	.turn = no_turn,
	.exchange = no_exchange,
	.message = no_message,
	.close = close_none,
};

struct cal_link *cal_link_start(int *argc, char ***argv, struct tkm_err *err)
{
	struct cal_link *l = calloc(1, sizeof(*l));

	(void)argc;
	(void)argv;
	if (!l) {
		tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
		return NULL;
	}
	cal_link_init(l, &none_ops, 0, 1, NULL);
	return l;
}
