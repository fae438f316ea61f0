/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "calib/link_private.h"
#include "calib/link_sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "timers/sim.h"

enum dist { EXPONENTIAL, UNIFORM, NORMAL };

struct sim_net {
	struct tmr_virtual time;
	struct tmr_timer **clock;
	double delay_s, jitter_s, asym_s, outlier_s, outliers, loss, read_s;
	enum dist dist;
	uint64_t random;
};

static double uniform(struct sim_net *n)
{
	uint64_t z = (n->random += 0x9e3779b97f4a7c15u); /* splitmix64 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	z ^= z >> 31;
	return ((double)(z >> 11) + 0.5) * 0x1p-53;
}

static double jitter(struct sim_net *n)
{
	switch (n->dist) {
	case UNIFORM:
		return 2 * n->jitter_s * uniform(n);
	case NORMAL:
		/* mean of |x| is sigma sqrt(2/pi) */
		return n->jitter_s * sqrt(M_PI / 2) * sqrt(-2 * log(uniform(n))) * fabs(cos(2 * M_PI * uniform(n)));
	case EXPONENTIAL:
		break;
	}
	return -n->jitter_s * log(uniform(n));
}

/* Lets a message travel. Returns 1 when it got lost. */
static int travel(struct sim_net *n, int from, int to)
{
	double s = n->delay_s + jitter(n) + (to > from ? n->asym_s : 0);

	if (uniform(n) < n->outliers) {
		s += n->outlier_s;
	}
	n->time.now_ps += (int64_t)(s * 1e12);
	return uniform(n) < n->loss;
}

static ltick_t stamp(struct sim_net *n, int rank)
{
	return tmr_read_ordered(n->clock[rank]);
}

/* What a real link would wait before it gives up. */
static int give_up(struct sim_net *n)
{
	n->time.now_ps += 1000000000; /* 1 ms */
	return 1;
}

static int sim_turn(struct cal_link *l, int from, int to, long long *word, struct tkm_err *err)
{
	(void)word;
	(void)err;
	travel(l->impl, from, to); /* repeated until it arrives; only exchanges are lost */
	return 0;
}

static int sim_exchange(struct cal_link *l, int master, int child, struct cal_sample *s, struct tkm_err *err)
{
	struct sim_net *n = l->impl;

	(void)err;
	s->send = stamp(n, child);
	if (travel(n, child, master)) {
		return give_up(n);
	}
	s->master_in = s->master_out = stamp(n, master);
	if (travel(n, master, child)) {
		return give_up(n);
	}
	s->recv = stamp(n, child);
	return 0;
}

static int sim_message(struct cal_link *l, int from, int to, ltick_t *sent, ltick_t *received, struct tkm_err *err)
{
	struct sim_net *n = l->impl;

	(void)err;
	*sent = stamp(n, from);
	if (travel(n, from, to)) {
		return give_up(n);
	}
	*received = stamp(n, to);
	return 0;
}

static double sim_seconds(struct cal_link *l)
{
	return (double)((struct sim_net *)l->impl)->time.now_ps * 1e-12;
}

static void sim_sleep(struct cal_link *l, double seconds)
{
	((struct sim_net *)l->impl)->time.now_ps += (int64_t)(seconds * 1e12);
}

static void sim_close(struct cal_link *l)
{
	struct sim_net *n = l->impl;
	int i;

	for (i = 0; n->clock && i < l->size; i++) {
		tmr_close(n->clock[i]);
	}
	free(n->clock);
	free(n);
	free(l);
}

static const struct cal_link_ops sim_ops = {
	.turn = sim_turn,
	.exchange = sim_exchange,
	.message = sim_message,
	.seconds = sim_seconds,
	.sleep = sim_sleep,
	.close = sim_close,
};

static int set(struct sim_net *n, const char *key, const char *value)
{
	static const char *const dists[] = { "exponential", "uniform", "normal" };
	const struct {
		const char *key;
		double *time_s;
	} times[] = { { "delay", &n->delay_s }, { "jitter", &n->jitter_s }, { "asym", &n->asym_s },
		{ "outlier", &n->outlier_s }, { "read", &n->read_s } };
	long long seed;
	size_t i;

	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		if (!strcmp(key, times[i].key)) {
			return tkm_parse_time(value, times[i].time_s);
		}
	}
	for (i = 0; i < 3 && !strcmp(key, "dist"); i++) {
		if (!strcmp(value, dists[i])) {
			n->dist = (enum dist)i;
			return 0;
		}
	}
	if (!strcmp(key, "outliers") || !strcmp(key, "loss")) {
		return tkm_parse_fraction(value, key[0] == 'o' ? &n->outliers : &n->loss);
	}
	if (!strcmp(key, "seed") && tkm_parse_int(value, 0, INT64_MAX, &seed) == 0) {
		n->random = (uint64_t)seed;
		return 0;
	}
	return -1;
}

static int parse(struct sim_net *n, const char *network, struct tkm_err *err)
{
	char *copy = strdup(network), *item, *save = NULL, *eq;
	int rc = copy ? 0 : tkm_fail(err, TKM_ERR_NOMEM, "simulated link: out of memory");

	for (item = copy ? strtok_r(copy, ",", &save) : NULL; item && rc == 0; item = strtok_r(NULL, ",", &save)) {
		eq = strchr(item, '=');
		if (eq) {
			*eq = '\0';
		}
		if (!eq || set(n, item, eq + 1) < 0) {
			rc = tkm_fail(err, TKM_ERR_ARG, "simulated link: cannot use '%s%s%s'", item, eq ? "=" : "",
				eq ? eq + 1 : "");
		}
	}
	free(copy);
	return rc;
}

/* Each rank's clock; {rank} is expanded here, because the clocks are wrapped, not opened by name. */
static int make_clocks(struct cal_link *l, const char *clocks, struct tkm_err *err)
{
	struct sim_net *n = l->impl;
	int i;

	n->clock = calloc((size_t)l->size, sizeof(*n->clock));
	if (!n->clock) {
		return tkm_fail(err, TKM_ERR_NOMEM, "simulated link: out of memory");
	}
	for (i = 0; i < l->size; i++) {
		struct tmr_timer *base = tmr_virtual_open(&n->time);

		if (!base) {
			return tkm_fail(err, TKM_ERR_NOMEM, "simulated link: out of memory");
		}
		n->clock[i] = tmr_sim_wrap(base, clocks, i, err);
		if (!n->clock[i]) {
			return -1;
		}
	}
	return 0;
}

struct cal_link *cal_link_sim(int size, const char *clocks, const char *network, struct tkm_err *err)
{
	struct cal_link *l = calloc(1, sizeof(*l));
	struct sim_net *n = calloc(1, sizeof(*n));

	if (!l || !n) {
		free(l);
		free(n);
		tkm_fail(err, TKM_ERR_NOMEM, "simulated link: out of memory");
		return NULL;
	}
	*l = (struct cal_link){ .ops = &sim_ops, .rank = -1, .size = size, .impl = n };
	n->time.now_ps = 1000000000000; /* clocks that start at 0 hide sign errors */
	n->delay_s = 1e-6;
	n->read_s = 20e-9;
	if (parse(n, network, err) < 0 || make_clocks(l, clocks, err) < 0) {
		sim_close(l);
		return NULL;
	}
	n->time.read_cost_ps = (int64_t)(n->read_s * 1e12);
	return l;
}

struct tmr_timer *cal_link_sim_clock(const struct cal_link *l, int rank)
{
	return ((struct sim_net *)l->impl)->clock[rank];
}

struct tmr_virtual *cal_link_sim_time(const struct cal_link *l)
{
	return &((struct sim_net *)l->impl)->time;
}
