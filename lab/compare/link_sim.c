/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulated network in virtual time; see lab/compare/link_sim.h. */
#include "config.h"
#include "calib/session/link.h"
#include "calib/session/link_private.h"
#include "lab/compare/link_sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "calib/analysis/analysis.h"
#include "lab/compare/queue_sim.h"
#include "timers/sources/sim.h"

enum dist { EXPONENTIAL, UNIFORM, NORMAL, PARETO, DISTS };

/* Something that happens to a process: it stops for a while, or for good. */
struct fate {
	int rank;
	int64_t from_ps, to_ps; /* in virtual time */
};

enum { MAX_FATES = 8 };

/* Where the clocks of a run begin: clocks that start at 0 hide sign errors. */
static const int64_t epoch_ps = 1000000000000;

struct sim_net {
	struct tmr_virtual front; /* the time of the process whose virtual time is largest */
	struct tmr_virtual *time; /* of each process: they work at the same time */
	struct tmr_timer **clock;
	int *place; /* of each process in the tree of switches */
	double delay_s, jitter_s, asym_s, outlier_s, outliers, loss, read_s;
	double hop_s, uneven_s, byte_s, slow, slowness_s, shape, queue_s, load;
	long long leaf, pod, shuffle;
	struct cal_drift *drift;   /* of all clocks, or NULL */
	struct cal_drift_use *use; /* of each */
	struct cal_queue **queue;  /* of each leaf switch: 2 k up, 2 k + 1 down; made when the first message comes */
	int leaves;
	struct fate fate[MAX_FATES];
	int fates;
	enum dist dist;
	struct cal_random *random;
	uint64_t seed;
};

static const int64_t never_ps = INT64_MAX;

static double jitter(struct sim_net *n)
{
	double scale;

	switch (n->dist) {
	case UNIFORM:
		return 2 * n->jitter_s * cal_random_uniform(n->random);
	case NORMAL:
		/* mean of |x| is sigma sqrt(2/pi) */
		return fabs(cal_random_normal(n->random, n->jitter_s * sqrt(M_PI / 2)));
	case PARETO:
		scale = n->jitter_s * (n->shape - 1);
		return cal_random_pareto(n->random, n->shape, scale) - scale;
	case EXPONENTIAL:
	case DISTS:
		break;
	}
	return cal_random_exponential(n->random, n->jitter_s);
}

/* A random number in [0, 1) that depends only on a, b and this network, for what does not change from one message to
 * the next. */
static double fixed_random(const struct sim_net *n, uint64_t a, uint64_t b)
{
	return cal_random_fixed(n->seed, a, b);
}

/* Switches between two places: one below the same leaf, three in one pod, five across pods. */
static int switches(const struct sim_net *n, int from, int to)
{
	long long a = n->place[from], b = n->place[to];

	if (n->leaf == 0) {
		return 0;
	}
	if (a / n->leaf == b / n->leaf) {
		return 1;
	}
	return n->pod == 0 || a / (n->leaf * n->pod) == b / (n->leaf * n->pod) ? 3 : 5;
}

/* Every path has a delay of its own in each direction: cables differ, and so do the routes there and back. */
static double way_s(struct sim_net *n, int from, int to)
{
	int hops = switches(n, from, to);
	double s = n->delay_s + hops * n->hop_s + (to > from ? n->asym_s : 0);

	if (n->uneven_s > 0) {
		s += hops * n->uneven_s * fixed_random(n, (uint64_t)from, (uint64_t)to);
	}
	if (n->slow > 0) {
		s += (fixed_random(n, (uint64_t)from, UINT64_MAX) < n->slow ? n->slowness_s : 0) +
			(fixed_random(n, (uint64_t)to, UINT64_MAX) < n->slow ? n->slowness_s : 0);
	}
	return s;
}

/* One direction of the link that all processes of a leaf share, to the rest of the tree. */
static struct cal_queue *uplink(struct sim_net *n, int rank, int down, struct tkm_err *err)
{
	int k = 2 * (int)(n->place[rank] / n->leaf) + down;

	if (!n->queue[k]) {
		n->queue[k] = cal_queue_new(n->queue_s, n->load, n->seed ^ (uint64_t)k << 32);
	}
	if (!n->queue[k]) {
		tkm_fail(err, TKM_ERR_NOMEM, "simulated link: out of memory");
	}
	return n->queue[k];
}

/* When a message that leaves at `at` has passed the links that it shares with others, or -1. */
static int64_t pass_queues(struct sim_net *n, int from, int to, int64_t at, struct tkm_err *err)
{
	struct cal_queue *up, *down;

	if (!n->queue || switches(n, from, to) < 3) {
		return at;
	}
	up = uplink(n, from, 0, err);
	down = uplink(n, to, 1, err);
	if (!up || !down) {
		return -1;
	}
	return cal_queue_pass(up, at, &at) == 0 && cal_queue_pass(down, at, &at) == 0
		? at
		: tkm_fail(err, TKM_ERR_NOMEM, "simulated link: out of memory");
}

static void advance(struct sim_net *n, int rank, int64_t to_ps)
{
	struct tmr_virtual *t = &n->time[rank];
	int i;

	t->now_ps = t->now_ps > to_ps ? t->now_ps : to_ps;
	for (i = 0; i < n->fates; i++) {
		const struct fate *f = &n->fate[i];

		/* a process that is stopped continues afterwards */
		if (f->rank == rank && t->now_ps >= f->from_ps && t->now_ps < f->to_ps && f->to_ps != never_ps) {
			t->now_ps = f->to_ps;
		}
	}
	n->front.now_ps = n->front.now_ps > t->now_ps ? n->front.now_ps : t->now_ps;
}

static int dead(const struct sim_net *n, int rank)
{
	int i;

	for (i = 0; i < n->fates; i++) {
		if (n->fate[i].rank == rank && n->fate[i].to_ps == never_ps &&
			n->time[rank].now_ps >= n->fate[i].from_ps) {
			return 1;
		}
	}
	return 0;
}

/* Delivers a message as a real link does: the receiver continues when the message arrives, or when its patience ends. A
 * dead process sends nothing and waits for nothing. */
static int wait_for_arrival(struct cal_link *l, int from, int to, size_t bytes, double limit_s, struct tkm_err *err)
{
	struct sim_net *n = l->impl;
	double s = way_s(n, from, to) + jitter(n) + (double)bytes * n->byte_s;
	int64_t there, limit = n->time[to].now_ps + (int64_t)(limit_s * 1e12);

	if (cal_random_uniform(n->random) < n->outliers) {
		s += n->outlier_s;
	}
	advance(n, from, n->time[from].now_ps);
	there = pass_queues(n, from, to, n->time[from].now_ps, err);
	if (there < 0) {
		return -1;
	}
	there += (int64_t)(s * 1e12);
	if (dead(n, to)) {
		return 0;
	}
	if (dead(n, from) || there > limit) {
		advance(n, to, limit);
		return cal_link_silent(from, to, limit_s, err);
	}
	l->messages++;
	advance(n, to, there);
	return 0;
}

/* One of the messages whose loss is simulated. Returns 1 when it got lost; the receiver finds out as late as a
 * real one would. */
static int send_message(struct cal_link *l, int from, int to, struct tkm_err *err)
{
	struct sim_net *n = l->impl;

	if (wait_for_arrival(l, from, to, 8, l->patience_s, err) < 0) {
		return -1;
	}
	if (cal_random_uniform(n->random) < n->loss) {
		advance(n, to, n->time[to].now_ps + 1000000000); /* 1 ms */
		return 1;
	}
	return 0;
}

/* Reading takes time, and the process may be stopped before it can. */
static ltick_t stamp(struct sim_net *n, int rank)
{
	ltick_t t;

	advance(n, rank, n->time[rank].now_ps);
	t = tmr_read_ordered(n->clock[rank]);
	advance(n, rank, n->time[rank].now_ps);
	return t;
}

static int sim_turn(struct cal_link *l, int from, int to, long long *word, double limit_s, struct tkm_err *err)
{
	(void)word;
	return wait_for_arrival(l, from, to, 8, limit_s, err);
}

static int sim_exchange(struct cal_link *l, int master, int child, struct cal_sample *s, struct tkm_err *err)
{
	struct sim_net *n = l->impl;
	int rc;

	s->send = stamp(n, child);
	rc = send_message(l, child, master, err);
	if (rc == 0) {
		s->master_in = s->master_out = stamp(n, master);
		rc = send_message(l, master, child, err);
	}
	if (rc == 0) {
		s->recv = stamp(n, child);
	}
	return rc;
}

static int sim_message(struct cal_link *l, int from, int to, ltick_t *sent, ltick_t *received, struct tkm_err *err)
{
	struct sim_net *n = l->impl;
	int rc;

	*sent = stamp(n, from);
	rc = send_message(l, from, to, err);
	if (rc == 0) {
		*received = stamp(n, to);
	}
	return rc;
}

static int sim_send(struct cal_link *l, int from, int to, void *data, size_t size, double limit_s, struct tkm_err *err)
{
	(void)data;
	return wait_for_arrival(l, from, to, size, limit_s, err);
}

static double sim_seconds(struct cal_link *l, int rank)
{
	const struct sim_net *n = l->impl;

	return (double)(rank < 0 ? n->front.now_ps : n->time[rank].now_ps) * 1e-12;
}

/* All sleep until the process with the largest virtual time wakes up. */
static void sim_sleep(struct cal_link *l, double seconds)
{
	struct sim_net *n = l->impl;
	int64_t until = n->front.now_ps + (int64_t)(seconds * 1e12);
	int i;

	for (i = 0; i < l->size; i++) {
		advance(n, i, until);
	}
}

static void sim_close(struct cal_link *l)
{
	struct sim_net *n = l->impl;
	int i;

	for (i = 0; n->clock && i < l->size; i++) {
		tmr_close(n->clock[i]);
	}
	for (i = 0; i < n->leaves; i++) {
		cal_queue_free(n->queue[i]);
	}
	free(n->queue);
	cal_random_free(n->random);
	cal_drift_free(n->drift);
	free(n->use);
	free(n->clock);
	free(n->time);
	free(n->place);
	free(n);
	free(l);
}

static const struct cal_link_ops sim_ops = {
	.turn = sim_turn,
	.exchange = sim_exchange,
	.message = sim_message,
	.send = sim_send,
	.seconds = sim_seconds,
	.sleep = sim_sleep,
	.close = sim_close,
};

/* "R", "R@T" or "R@T/D": rank R stops T after the beginning, for D or for good. */
static int set_fate(struct sim_net *n, const char *value, int for_good)
{
	char text[64], *at, *length;
	double from = 0, duration = 0;
	long long rank;

	if (n->fates == MAX_FATES || snprintf(text, sizeof(text), "%s", value) >= (int)sizeof(text)) {
		return -1;
	}
	at = strchr(text, '@');
	length = at ? strchr(at, '/') : NULL;
	if (for_good ? length != NULL : !length) {
		return -1;
	}
	if (length) {
		*length++ = '\0';
	}
	if (at) {
		*at++ = '\0';
	}
	if (tkm_parse_int(text, 0, INT32_MAX, &rank) < 0 || (at && tkm_parse_time(at, &from) < 0) ||
		(length && tkm_parse_time(length, &duration) < 0) || from < 0 || duration < 0 ||
		from + duration > 1e6) {
		return -1;
	}
	n->fate[n->fates] = (struct fate){ (int)rank, epoch_ps + (int64_t)(from * 1e12), never_ps };
	if (!for_good) {
		n->fate[n->fates].to_ps = n->fate[n->fates].from_ps + (int64_t)(duration * 1e12);
	}
	n->fates++;
	return 0;
}

/* A key with a range: values outside are errors. */
struct ranged {
	const char *key;
	double *value;
	double min, max;
	int (*parse)(const char *text, double *value);
	const char *unit;
};

static int parse_count(const char *text, double *value)
{
	long long n;
	int rc = tkm_parse_int(text, 0, 1000000, &n);

	*value = rc == 0 ? (double)n : 0;
	return rc;
}

/* A plain number; fractions may have % and ppm, which would be misleading here. */
static int parse_number(const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return end == text || *end ? -1 : 0;
}

static int set_ranged(const struct ranged *r, const char *value, struct tkm_err *err)
{
	double v = 0;

	if (r->parse(value, &v) < 0 || !(v >= r->min && v <= r->max)) {
		return tkm_fail(err, TKM_ERR_ARG, "simulated link: %s=%s: from %g to %g%s is possible", r->key, value,
			r->min, r->max, r->unit);
	}
	*r->value = v;
	return 0;
}

/* Returns 1 if the key is none of these. */
static int set_number(struct sim_net *n, const char *key, const char *value, struct tkm_err *err)
{
	double leaf = (double)n->leaf, pod = (double)n->pod, shuffle = (double)n->shuffle;
	/* clang-format off */
	const struct ranged all[] = {
		{ "delay", &n->delay_s, 0, 1, tkm_parse_time, " s" },
		{ "jitter", &n->jitter_s, 0, 1, tkm_parse_time, " s" },
		{ "asym", &n->asym_s, 0, 1, tkm_parse_time, " s" },
		{ "outlier", &n->outlier_s, 0, 3600, tkm_parse_time, " s" },
		{ "read", &n->read_s, 0, 1e-3, tkm_parse_time, " s" },
		{ "hop", &n->hop_s, 0, 1, tkm_parse_time, " s" },
		{ "uneven", &n->uneven_s, 0, 1, tkm_parse_time, " s" },
		{ "byte", &n->byte_s, 0, 1e-3, tkm_parse_time, " s" },
		{ "slowness", &n->slowness_s, 0, 1, tkm_parse_time, " s" },
		{ "queue", &n->queue_s, 0, 1e-3, tkm_parse_time, " s" },
		{ "load", &n->load, 0, 0.95, tkm_parse_fraction, "" },
		{ "outliers", &n->outliers, 0, 1, tkm_parse_fraction, "" },
		{ "loss", &n->loss, 0, 1, tkm_parse_fraction, "" },
		{ "slow", &n->slow, 0, 1, tkm_parse_fraction, "" },
		{ "shape", &n->shape, 1.01, 100, parse_number, "" },
		{ "leaf", &leaf, 0, 1000000, parse_count, "" },
		{ "pod", &pod, 0, 1000000, parse_count, "" },
		{ "shuffle", &shuffle, 0, 1, parse_count, "" },
	};
	/* clang-format on */
	size_t i = 0;

	while (i < sizeof(all) / sizeof(all[0]) && strcmp(key, all[i].key)) {
		i++;
	}
	if (i == sizeof(all) / sizeof(all[0])) {
		return 1;
	}
	if (set_ranged(&all[i], value, err) < 0) {
		return -1;
	}
	n->leaf = (long long)leaf;
	n->pod = (long long)pod;
	n->shuffle = (long long)shuffle;
	return 0;
}

static int set(struct sim_net *n, const char *key, const char *value, struct tkm_err *err)
{
	static const char *const dists[DISTS] = { "exponential", "uniform", "normal", "pareto" };
	long long seed;
	int rc = set_number(n, key, value, err), i;

	if (rc <= 0) {
		return rc;
	}
	for (i = 0; i < DISTS && !strcmp(key, "dist"); i++) {
		if (!strcmp(value, dists[i])) {
			n->dist = (enum dist)i;
			return 0;
		}
	}
	if ((!strcmp(key, "dead") || !strcmp(key, "stall")) && set_fate(n, value, key[0] == 'd') == 0) {
		return 0;
	}
	if (!strcmp(key, "seed") && tkm_parse_int(value, 0, INT64_MAX, &seed) == 0) {
		n->seed = (uint64_t)seed;
		return 0;
	}
	return tkm_fail(err, TKM_ERR_ARG, "simulated link: cannot use '%s=%s'", key, value);
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
		rc = eq ? set(n, item, eq + 1, err)
			: tkm_fail(err, TKM_ERR_ARG, "simulated link: cannot use '%s'", item);
	}
	free(copy);
	if (rc == 0 && n->load > 0 && !(n->queue_s > 0)) {
		rc = tkm_fail(err, TKM_ERR_ARG,
			"simulated link: load=%g needs queue=, the time that a packet keeps a link busy", n->load);
	}
	if (rc == 0 && n->queue_s > 0 && n->leaf == 0) {
		rc = tkm_fail(err, TKM_ERR_ARG,
			"simulated link: queue= needs leaf=: processes below one switch share its links to the others");
	}
	return rc;
}

/* What follows from the parsed numbers. */
static int make_network(struct sim_net *n, int size, struct tkm_err *err)
{
	n->random = cal_random_new(n->seed);
	if (n->random && n->queue_s > 0) {
		n->leaves = 2 * (int)((size + n->leaf - 1) / n->leaf);
		n->queue = calloc((size_t)n->leaves, sizeof(*n->queue));
	}
	if (!n->random || (n->queue_s > 0 && !n->queue)) {
		n->leaves = 0;
		return tkm_fail(err, TKM_ERR_NOMEM, "simulated link: out of memory");
	}
	return 0;
}

/* Each rank's clock; {rank} is expanded here, because the clocks are wrapped, not opened by name. */
static int make_clocks(struct cal_link *l, const char *clocks, struct tkm_err *err)
{
	struct sim_net *n = l->impl;
	int i;

	n->clock = calloc((size_t)l->size, sizeof(*n->clock));
	n->time = calloc((size_t)l->size, sizeof(*n->time));
	n->place = calloc((size_t)l->size, sizeof(*n->place));
	if (!n->clock || !n->time || !n->place) {
		return tkm_fail(err, TKM_ERR_NOMEM, "simulated link: out of memory");
	}
	for (i = 0; i < l->size; i++) {
		struct tmr_timer *base = tmr_virtual_open(&n->time[i]);

		n->time[i] = (struct tmr_virtual){ epoch_ps, (int64_t)(n->read_s * 1e12) };

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

/* Ranks lie in the tree in their order, or in any. */
static void make_places(struct sim_net *n, int size)
{
	int i;

	for (i = 0; i < size; i++) {
		n->place[i] = i;
	}
	for (i = size - 1; i > 0 && n->shuffle; i--) {
		int k = (int)(fixed_random(n, (uint64_t)i, 1) * (i + 1)), swap = n->place[i];

		n->place[i] = n->place[k];
		n->place[k] = swap;
	}
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
	cal_link_init(l, &sim_ops, -1, size, n);
	n->front.now_ps = epoch_ps;
	n->delay_s = 1e-6;
	n->read_s = 20e-9;
	n->shape = 2.5;
	if (parse(n, network, err) < 0 || make_network(n, size, err) < 0 || make_clocks(l, clocks, err) < 0) {
		sim_close(l);
		return NULL;
	}
	make_places(n, size);
	return l;
}

int cal_link_sim_drift(struct cal_link *l, struct cal_drift *drift, struct tkm_err *err)
{
	struct sim_net *n = l->impl;
	int i;

	cal_drift_free(n->drift);
	free(n->use);
	n->drift = drift;
	n->use = calloc((size_t)l->size, sizeof(*n->use));
	if (!n->use) {
		return tkm_fail(err, TKM_ERR_NOMEM, "simulated link: out of memory");
	}
	for (i = 0; i < l->size; i++) {
		n->use[i] =
			(struct cal_drift_use){ drift, 2 * cal_drift_seconds(drift) * fixed_random(n, (uint64_t)i, 2) };
		tmr_sim_add(n->clock[i], cal_drift_ahead, &n->use[i]);
	}
	return 0;
}

void cal_link_sim_describe(const struct cal_link *l, struct cal_link_sim_model *out)
{
	const struct sim_net *n = l->impl;

	*out = (struct cal_link_sim_model){ n->dist == PARETO, n->outlier_s > 0 ? n->outliers : 0,
		n->queue_s > 0 ? n->load : 0 };
}

struct tmr_timer *cal_link_sim_clock(const struct cal_link *l, int rank)
{
	return ((struct sim_net *)l->impl)->clock[rank];
}

struct tmr_virtual *cal_link_sim_time(const struct cal_link *l)
{
	return &((struct sim_net *)l->impl)->front;
}
