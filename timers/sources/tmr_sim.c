/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated clocks: another timer with known errors added; see timers/sources/sim.h. */
#include "config.h"
#include "timers/sources/sim.h"
#include "timers/timer_private.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text/text.h"

enum { MAX_STEPS = 8, MAX_SLEWS = 8 };

struct sim {
	struct tmr_timer *base;
	double offset_s, drift, wobble, wobble_period_s, warm, warm_tau_s, tick_s, noise_s;
	double ticks_of_base;          /* of this clock in a tick of the base; 1 exactly where no tick was given */
	double coarse_s, coarse_ticks; /* the clock moves in steps of this; 0: in steps of its tick */
	int bump;
	int64_t step_now, reading; /* the last reading, and the step that it lies in */
	double cores_s;            /* processing unit n is ahead by n times this */
	double early_s;            /* plain reads are taken earlier than ordered ones by this */
	struct {
		double size_s, at_s;
	} step[MAX_STEPS];
	int steps;
	struct {
		double rate, from_s, to_s, back_s;
	} slew[MAX_SLEWS];
	int slews, slewed, borrowed; /* borrowed: the base is another timer's */
	int64_t origin;              /* reading of the base */
	int64_t origin_ticks;        /* what this clock would show there without offset */
	uint64_t random;
	int origin_given;                              /* the caller gave the origin; it must not be moved */
	double (*ahead_s)(const void *ctx, double dt); /* tmr_sim_add() */
	const void *ahead_ctx;
	double spare; /* second value of the last normal pair; NAN: none */
};

static double uniform(struct sim *s)
{
	uint64_t z = (s->random += 0x9e3779b97f4a7c15u); /* splitmix64 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	z ^= z >> 31;
	return ((double)(z >> 11) + 0.5) * 0x1p-53;
}

/* Box and Muller */
static double normal(struct sim *s)
{
	double r, a;

	if (!isnan(s->spare)) {
		r = s->spare;
		s->spare = NAN;
		return r;
	}
	r = sqrt(-2 * log(uniform(s)));
	a = 2 * M_PI * uniform(s);
	s->spare = r * sin(a);
	return r * cos(a);
}

/* Seconds by which one slew has moved the clock. */
static double slewed_by(double rate, double from_s, double to_s, double back_s, double dt)
{
	double most = rate * (to_s - from_s), sum;

	if (dt <= from_s) {
		return 0;
	}
	sum = rate * (fmin(dt, to_s) - from_s);
	if (dt > to_s && back_s > to_s) {
		sum -= most * (fmin(dt, back_s) - to_s) / (back_s - to_s);
	}
	return sum;
}

/* Seconds that the clock is ahead of its base, dt seconds after the origin. */
static double simulated_error(const struct sim *s, double dt)
{
	double sum = s->offset_s + s->drift * dt;
	int i;

	if (s->wobble != 0) {
		double w = 2 * M_PI / s->wobble_period_s;

		sum += s->wobble / w * (1 - cos(w * dt)); /* the integral of wobble * sin(w t) */
	}
	if (s->warm != 0 && dt > 0) {
		/* the integral of warm * (1 - exp(-t / tau)) */
		sum += s->warm * (dt + s->warm_tau_s * expm1(-dt / s->warm_tau_s));
	}
	for (i = 0; i < s->steps; i++) {
		if (dt >= s->step[i].at_s) {
			sum += s->step[i].size_s;
		}
	}
	for (i = 0; i < s->slews; i++) {
		sum += slewed_by(s->slew[i].rate, s->slew[i].from_s, s->slew[i].to_s, s->slew[i].back_s, dt);
	}
	return s->ahead_s ? sum + s->ahead_s(s->ahead_ctx, dt) : sum;
}

/* Ticks since origin_ticks, with fraction, when the base shows base_ticks. Only differences are computed, so a double
 * is exact enough: 2^53 ticks of 1 ns are 104 days. */
static double sim_ticks_since(const struct sim *s, int64_t base_ticks, double extra_s)
{
	double base = (double)(base_ticks - s->origin), dt = base / s->base->hz;

	return base * s->ticks_of_base + (simulated_error(s, dt) + extra_s) / s->tick_s;
}

/* The unit on which *base was read: the thread may be moved between the two. */
static int read_on_unit(struct tmr_timer *base, int64_t *reading)
{
	int unit, after = sched_getcpu();

	do {
		unit = after;
		*reading = tmr_read_ordered(base).v;
		after = sched_getcpu();
	} while (after != unit);
	return unit < 0 ? 0 : unit;
}

static ltick_t read_sim_at(struct tmr_timer *t, double extra_s)
{
	struct sim *s = t->impl;
	double ticks, step;
	int64_t b;

	if (s->cores_s != 0) {
		extra_s += s->cores_s * read_on_unit(s->base, &b);
	} else {
		b = tmr_read_ordered(s->base).v;
	}
	extra_s += s->noise_s > 0 ? s->noise_s * normal(s) : 0;
	ticks = sim_ticks_since(s, b, extra_s);
	if (s->coarse_ticks > 0) {
		step = floor(ticks / s->coarse_ticks);
		ticks = step * s->coarse_ticks;
		if (s->bump) {
			int64_t v = s->origin_ticks + (int64_t)floor(ticks);

			s->reading = s->step_now == (int64_t)step ? s->reading + 1 : v;
			s->step_now = (int64_t)step;
			return ltick(s->reading);
		}
	}
	return ltick(s->origin_ticks + (int64_t)floor(ticks));
}

static ltick_t read_sim(struct tmr_timer *t)
{
	return read_sim_at(t, 0);
}

/* A plain read, as if the processor had executed it early_s before the instructions that precede it. */
static ltick_t read_early(struct tmr_timer *t)
{
	return read_sim_at(t, -((struct sim *)t->impl)->early_s);
}

ltick_t tmr_sim_truth(const struct tmr_timer *t, int64_t base_ticks, double *fraction)
{
	const struct sim *s = t->impl;
	double d = sim_ticks_since(s, base_ticks, 0);

	*fraction = d - floor(d);
	return ltick(s->origin_ticks + (int64_t)floor(d));
}

int64_t tmr_sim_base_at(const struct tmr_timer *t, ltick_t local)
{
	const struct sim *s = t->impl;
	/* within a factor of two of the base's own rate, so this brackets it */
	double away = fabs((double)(local.v - s->origin_ticks)) * s->tick_s + fabs(s->offset_s) + 1;
	int64_t span = (int64_t)(2 * away * s->base->hz), low = s->origin - span, high = s->origin + span;
	double f;

	while (high - low > 1) {
		int64_t middle = low + (high - low) / 2;

		if (tmr_sim_truth(t, middle, &f).v >= local.v) {
			high = middle;
		} else {
			low = middle;
		}
	}
	return high;
}

void tmr_sim_add(struct tmr_timer *t, double (*ahead_s)(const void *ctx, double dt), const void *ctx)
{
	struct sim *s = t->impl;

	s->ahead_s = ahead_s;
	s->ahead_ctx = ctx;
}

struct tmr_timer *tmr_sim_base(const struct tmr_timer *t)
{
	return ((struct sim *)t->impl)->base;
}

static int two_parts(const char *value, char sep, char *first, size_t size, const char **second)
{
	const char *p = strchr(value, sep);

	if (!p || (size_t)(p - value) >= size) {
		return -1;
	}
	memcpy(first, value, (size_t)(p - value));
	first[p - value] = '\0';
	*second = p + 1;
	return 0;
}

/* "1ppm/60s" */
static int set_rate_over_time(const char *value, double *fraction, double *time_s)
{
	char amplitude[32];
	const char *time;

	if (two_parts(value, '/', amplitude, sizeof(amplitude), &time) < 0 ||
		tkm_parse_fraction(amplitude, fraction) < 0 || tkm_parse_time(time, time_s) < 0 || !(*time_s > 0) ||
		!(fabs(*fraction) < 0.5)) {
		return -1;
	}
	return 0;
}

static int set_step(struct sim *s, const char *value)
{
	char size[32];
	const char *at;

	if (s->steps == MAX_STEPS || two_parts(value, '@', size, sizeof(size), &at) < 0 ||
		tkm_parse_time(size, &s->step[s->steps].size_s) < 0 ||
		tkm_parse_time(at, &s->step[s->steps].at_s) < 0) {
		return -1;
	}
	s->steps++;
	return 0;
}

/* "10ppm/2s/2.5s/3s" */
static int set_slew(struct sim *s, const char *value)
{
	char rate[32], from[32], to[32];
	const char *rest, *back;
	int i = s->slews;

	if (i == MAX_SLEWS || two_parts(value, '/', rate, sizeof(rate), &rest) < 0 ||
		two_parts(rest, '/', from, sizeof(from), &back) < 0 ||
		two_parts(back, '/', to, sizeof(to), &rest) < 0 || tkm_parse_fraction(rate, &s->slew[i].rate) < 0 ||
		tkm_parse_time(from, &s->slew[i].from_s) < 0 || tkm_parse_time(to, &s->slew[i].to_s) < 0 ||
		tkm_parse_time(rest, &s->slew[i].back_s) < 0 || !(fabs(s->slew[i].rate) < 0.5) ||
		!(s->slew[i].to_s > s->slew[i].from_s) ||
		!(s->slew[i].back_s == 0 || s->slew[i].back_s > s->slew[i].to_s)) {
		return -1;
	}
	s->slews++;
	return 0;
}

/* One "key=value"; base is opened here, so that everything after it can be checked against it. */
static int set_sim_key(struct sim *s, const char *key, const char *value, struct tkm_err *err)
{
	long long n;
	int ok;

	if (!strcasecmp(key, "base")) {
		if (s->base || !strncasecmp(value, "sim", 3)) {
			return tkm_fail(err, TKM_ERR_ARG, "timer sim: base=%s: one real timer can be wrapped", value);
		}
		s->base = tmr_open(value, 0, err);
		return s->base ? 0 : -1;
	}
	if (!strcasecmp(key, "offset")) {
		ok = tkm_parse_time(value, &s->offset_s) == 0;
	} else if (!strcasecmp(key, "drift")) {
		ok = tkm_parse_fraction(value, &s->drift) == 0 && fabs(s->drift) < 0.5;
	} else if (!strcasecmp(key, "wobble")) {
		ok = set_rate_over_time(value, &s->wobble, &s->wobble_period_s) == 0;
	} else if (!strcasecmp(key, "warm")) {
		ok = set_rate_over_time(value, &s->warm, &s->warm_tau_s) == 0;
	} else if (!strcasecmp(key, "step")) {
		ok = set_step(s, value) == 0;
	} else if (!strcasecmp(key, "slew")) {
		ok = set_slew(s, value) == 0;
	} else if (!strcasecmp(key, "slewed")) {
		ok = tkm_parse_bool(value, &s->slewed) == 0;
	} else if (!strcasecmp(key, "tick")) {
		ok = tkm_parse_time(value, &s->tick_s) == 0 && s->tick_s >= 1e-12;
	} else if (!strcasecmp(key, "coarse")) {
		ok = tkm_parse_time(value, &s->coarse_s) == 0 && s->coarse_s > 0;
	} else if (!strcasecmp(key, "bump")) {
		ok = tkm_parse_bool(value, &s->bump) == 0;
	} else if (!strcasecmp(key, "noise")) {
		ok = tkm_parse_time(value, &s->noise_s) == 0 && s->noise_s >= 0;
	} else if (!strcasecmp(key, "cores")) {
		ok = tkm_parse_time(value, &s->cores_s) == 0;
	} else if (!strcasecmp(key, "early")) {
		ok = tkm_parse_time(value, &s->early_s) == 0 && s->early_s >= 0;
	} else if (!strcasecmp(key, "seed")) {
		ok = tkm_parse_int(value, 0, INT64_MAX, &n) == 0;
		s->random = ok ? (uint64_t)n : 0;
	} else if (!strcasecmp(key, "origin")) {
		ok = tkm_parse_int(value, INT64_MIN, INT64_MAX, &n) == 0;
		s->origin = ok ? n : 0;
		s->origin_given = ok;
	} else {
		return tkm_fail(err, TKM_ERR_ARG,
			"timer sim: unknown '%s'; base, offset, drift, wobble, warm, step, slew, slewed, tick, coarse, "
			"bump, noise, cores, early, seed, origin are known",
			key);
	}
	return ok ? 0
		  : tkm_fail(err, TKM_ERR_ARG, "timer sim: '%s' is no value for %s; example: %s", value, key,
			    "sim:base=CPU,offset=1ms,drift=50ppm,wobble=1ppm/"
			    "60s,step=10us@5s,tick=7.3ns,noise=5ns,seed=1");
}

static int parse_sim_keys(struct sim *s, const char *spec, struct tkm_err *err)
{
	char item[128];

	while (*spec) {
		size_t len = strcspn(spec, ",");
		char *eq;

		if (len == 0 || len >= sizeof(item)) {
			return tkm_fail(err, TKM_ERR_ARG, "timer sim: '%s': key=value expected", spec);
		}
		memcpy(item, spec, len);
		item[len] = '\0';
		eq = strchr(item, '=');
		if (!eq) {
			return tkm_fail(err, TKM_ERR_ARG, "timer sim: '%s': key=value expected", item);
		}
		*eq = '\0';
		if (set_sim_key(s, item, eq + 1, err) < 0) {
			return -1;
		}
		spec += len + (spec[len] == ',');
	}
	return 0;
}

static void close_sim(struct tmr_timer *t)
{
	struct sim *s = t->impl;

	if (!s->borrowed) {
		tmr_close(s->base);
	}
	free(s);
}

/* Moves the origin to `origin`, also in the canonical name. */
static int begin_at(struct tmr_timer *t, struct sim *s, const char *spec, int64_t origin, struct tkm_err *err)
{
	int n = s->origin_given
		? snprintf(t->name, sizeof(t->name), "sim:%s", spec)
		: snprintf(t->name, sizeof(t->name), "sim:%s%sorigin=%lld", spec, *spec ? "," : "", (long long)origin);

	if ((size_t)n >= sizeof(t->name)) {
		return tkm_fail(
			err, TKM_ERR_ARG, "timer sim: the name is longer than %zu characters", sizeof(t->name) - 1);
	}
	s->origin = origin;
	s->origin_ticks = llroundl((long double)s->origin / (long double)s->base->hz / (long double)s->tick_s);
	return 0;
}

int tmr_sim_restart(struct tmr_timer *t, struct tkm_err *err)
{
	struct sim *s = t->impl;
	char spec[sizeof(t->name)], *last;

	if (t->ops != &tmr_sim || s->origin_given) {
		return 0;
	}
	snprintf(spec, sizeof(spec), "%s", t->name + strlen("sim:"));
	last = strrchr(spec, ',');
	*(last ? last : spec) = '\0'; /* the origin is last */
	return begin_at(t, s, spec, tmr_read_ordered(s->base).v, err);
}

/* Computes the numbers that follow from the parsed ones, and the canonical name. */
static int finish(struct tmr_timer *t, struct sim *s, const char *spec, struct tkm_err *err)
{

	if (!(s->base->hz > 0)) {
		return tkm_fail(err, TKM_ERR_ARG, "timer sim: the frequency of %s is unknown, so it cannot be the base",
			s->base->name);
	}
	s->ticks_of_base = s->tick_s == 0 ? 1 : 1 / (s->base->hz * s->tick_s);
	if (s->tick_s == 0) {
		s->tick_s = 1 / s->base->hz;
	}
	s->coarse_ticks = s->coarse_s / s->tick_s;
	if ((s->coarse_s > 0 && s->coarse_ticks < 1) || (s->bump && s->coarse_s == 0)) {
		return tkm_fail(err, TKM_ERR_ARG, "timer sim: %s",
			s->bump && s->coarse_s == 0 ? "bump needs coarse" : "coarse must not be shorter than tick");
	}
	s->step_now = INT64_MIN;
	s->spare = NAN;
	t->read = s->early_s != 0 ? read_early : read_sim;
	t->read_ordered = read_sim;
	t->hz = 1 / s->tick_s;
	t->scope = s->cores_s != 0 ? TMR_SCOPE_CORE : TMR_SCOPE_PROCESS;
	/* not shareable: the noise generator and the last reading belong to one thread */
	t->shareable = s->base->shareable && !(s->noise_s > 0) && !s->bump;
	t->flags = TMR_SIMULATED | (s->steps ? TMR_STEPPED : 0u) | (s->slews || s->slewed ? TMR_SLEWED : 0u);
	t->impl = s;
	return begin_at(t, s, spec, s->origin_given ? s->origin : tmr_read_ordered(s->base).v, err);
}

static int build(struct tmr_timer *t, struct tmr_timer *base, const char *arg, struct tkm_err *err)
{
	struct sim *s = calloc(1, sizeof(*s));
	char spec[256];

	if (!s) {
		tmr_close(base);
		return tkm_fail(err, TKM_ERR_NOMEM, "timer sim: out of memory");
	}
	s->base = base;
	snprintf(spec, sizeof(spec), "%s", arg ? arg : ""); /* t->name is rewritten below */
	if (parse_sim_keys(s, spec, err) < 0 || (!s->base && !(s->base = tmr_open("CPU", 0, err))) ||
		finish(t, s, spec, err) < 0) {
		tmr_close(s->base);
		free(s);
		return -1;
	}
	return 0;
}

static int open_sim(struct tmr_timer *t, const char *arg, struct tkm_err *err)
{
	return build(t, NULL, arg, err);
}

const struct tmr_ops tmr_sim = {
	TMR_SIM_DESCRIPTION,
	.open = open_sim,
	.close = close_sim,
	.base = tmr_sim_base,
	.free_twin = tmr_sim_free_twin,
};

struct tmr_timer *tmr_sim_wrap(struct tmr_timer *base, const char *spec, int rank, struct tkm_err *err)
{
	struct tmr_timer *t = calloc(1, sizeof(*t));
	char expanded[256];

	if (!t) {
		tmr_close(base);
		tkm_fail(err, TKM_ERR_NOMEM, "timer sim: out of memory");
		return NULL;
	}
	t->ops = &tmr_sim;
	if (tmr_expand_rank(spec, rank, expanded, sizeof(expanded), err) < 0) {
		tmr_close(base);
		free(t);
		return NULL;
	}
	if (build(t, base, expanded, err) < 0) {
		free(t);
		return NULL;
	}
	return t;
}

struct tmr_timer *tmr_sim_free_twin(const struct tmr_timer *t, struct tkm_err *err)
{
	struct tmr_timer *twin = malloc(sizeof(*twin));
	struct sim *s = malloc(sizeof(*s));

	if (!twin || !s) {
		free(twin);
		free(s);
		tkm_fail(err, TKM_ERR_NOMEM, "timer sim: out of memory");
		return NULL;
	}
	*twin = *t;
	*s = *(const struct sim *)t->impl;
	s->steps = s->slews = s->slewed = s->bump = 0;
	s->coarse_s = 0;
	s->borrowed = 1;
	s->origin_given = 1; /* the twin must not move its origin on its own */
	s->random = ~s->random;
	s->spare = NAN;
	twin->impl = s;
	twin->flags = TMR_SIMULATED;
	snprintf(twin->name, sizeof(twin->name), "sim:free");
	return twin;
}
