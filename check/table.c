/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of checks, and how their values become a status. */
#include "config.h"
#include "check/check.h"

#include <math.h>
#include <string.h>

#define NONE INFINITY

#define CHK_ROW(function, of_result, ...) { __VA_ARGS__, of_result, function },
const struct chk_check chk_table[] = {
#include "check/checks.def"
};
#undef CHK_ROW
const size_t chk_count = sizeof(chk_table) / sizeof(chk_table[0]);

int chk_find(const char *name)
{
	size_t i;

	for (i = 0; i < chk_count; i++) {
		if (!strcmp(chk_table[i].name, name)) {
			return (int)i;
		}
	}
	return -1;
}

static void judge_against_limit(struct chk_result *r, const struct chk_limit *limit)
{
	if (r->status != CHK_OK) {
		return;
	}
	r->status = r->value > limit->critical ? CHK_CRITICAL : r->value > limit->warning ? CHK_WARNING : CHK_OK;
}

static void read_instant(const struct chk_machine *m, struct chk_instant *at)
{
	static const clockid_t id[] = { CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME,
		CLOCK_MONOTONIC };
	double s[5];
	size_t i;

	for (i = 0; i < 5; i++) {
		struct timespec t = { 0, 0 };

		s[i] = m->gettime(id[i], &t) < 0 ? NAN : (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
	}
	*at = (struct chk_instant){
		.realtime_s = s[1], .monotonic_s = s[0], .raw_s = s[2], .boottime_s = s[3], .taken_s = s[4] - s[0]
	};
}

void chk_machine_begin(struct chk_machine *m)
{
	int i;

	tmr_env_read(m->root, &m->env);
	read_instant(m, &m->begin);
	for (i = 0; i < 20; i++) {
		struct chk_instant again;

		read_instant(m, &again);
		m->begin = again.taken_s < m->begin.taken_s ? again : m->begin;
	}
}

void chk_run(struct chk_machine *m, struct chk_report *r)
{
	struct timespec begin, end;
	size_t i;

	clock_gettime(CLOCK_MONOTONIC_RAW, &begin);
	snprintf(r->host, sizeof(r->host), "%s", m->env.host);
	for (i = 0; i < chk_count; i++) {
		r->result[i] = (struct chk_result){
			.status = CHK_ABSENT, .value = NAN, .text = "left out", .measured = NAN, .uncertainty = NAN
		};
		if (!r->limit[i].off) {
			chk_table[i].run(m, &r->limit[i], &r->result[i]);
			judge_against_limit(&r->result[i], &r->limit[i]);
		}
	}
	clock_gettime(CLOCK_MONOTONIC_RAW, &end);
	r->duration_s = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
	r->time_s = (double)time(NULL);
}

/* critical, warning, unknown, ok, absent */
static int severity(enum chk_status s)
{
	static const int how[] = { 1, 3, 4, 2, 0 };

	return how[s];
}

void chk_worse(struct chk_report *into, const struct chk_report *other)
{
	size_t i;

	for (i = 0; i < chk_count; i++) {
		const struct chk_result *o = &other->result[i];
		struct chk_result *r = &into->result[i];

		if (severity(o->status) > severity(r->status) || (o->status == r->status && o->value > r->value)) {
			*r = *o;
		}
	}
	into->duration_s += other->duration_s;
	into->time_s = other->time_s;
}

enum chk_status chk_overall(const struct chk_report *r)
{
	enum chk_status worst = CHK_OK;
	size_t i;

	for (i = 0; i < chk_count; i++) {
		if (severity(r->result[i].status) > severity(worst)) {
			worst = r->result[i].status;
		}
	}
	return worst;
}
