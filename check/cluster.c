/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of the cluster: they judge the last stored result of timertest. */
#include "config.h"
#include "check/check.h"

#include <math.h>
#include <string.h>

#include "base/text/text.h"

/* Tests whether the stored result is still valid. Returns 0 and *age_s, its age; else writes the reason to r. */
static int is_void(const struct chk_machine *m, struct chk_result *r, double *age_s)
{
	const struct chk_stored *s = m->stored;
	double suspended_s = m->begin.boottime_s - m->begin.monotonic_s;

	*age_s = m->begin.realtime_s - s->started_s;
	if (!s->here) {
		chk_value(r, 1, "host %.60s took no part in the stored result", m->env.host);
	} else if (chk_other_boot(m)) {
		chk_value(r, 1, "%s", chk_other_boot(m));
	} else if (strcmp(s->kernel, m->env.kernel)) {
		chk_value(r, 1, "the kernel is another one: %.60s, then %.60s", m->env.kernel, s->kernel);
	} else if (m->env.clocksource[0] && strcmp(s->clocksource, m->env.clocksource)) {
		chk_value(r, 1, "the clock source is %.40s, then %.40s", m->env.clocksource, s->clocksource);
	} else if (isfinite(s->suspended_s) && suspended_s - s->suspended_s > 0.01) {
		chk_value(r, 1,
			"the machine was suspended for %.3g s since the stored result; its counters may have stood "
			"still",
			suspended_s - s->suspended_s);
	} else if (*age_s < -60) {
		chk_value(r, 1, "the stored result is from the future (%.3g h): a clock was set back", -*age_s / 3600);
	} else if (*age_s > m->max_age_s) {
		chk_value(r, 1, "the stored result is %.3g days old, older than %.3g", *age_s / 86400,
			m->max_age_s / 86400);
	} else {
		return 0;
	}
	return 1;
}

/* 1: the result is valid and has a value; else r contains the reason. */
static int is_value_known(const struct chk_machine *m, double value, const char *what, struct chk_result *r)
{
	const struct chk_stored *s = m->stored;
	double age_s;

	if (!s->have) {
		chk_unknown(r, "%s", s->why);
	} else if (is_void(m, r, &age_s)) {
		r->status = CHK_UNKNOWN;
		r->value = NAN;
	} else if (s->ranks < 2) {
		chk_absent(r, "the stored result is of one process");
	} else if (!isfinite(value)) {
		chk_unknown(r, "the stored result does not have %s", what);
	} else {
		return 1;
	}
	return 0;
}

void chk_sync_offset_max(struct chk_machine *m, const struct chk_limit *limit, struct chk_result *r)
{
	const struct chk_stored *s = m->stored;
	double most = fmax(fabs(s->offset_low_s), fabs(s->offset_high_s));

	(void)limit;
	if (is_value_known(m, s->offset_max_s, "an offset", r)) {
		chk_value(r, fabs(s->offset_max_s),
			"largest after correction, of %d ranks on %d %s; certainly within %.3g us", s->ranks, s->hosts,
			s->hosts == 1 ? "host" : "hosts", tkm_round_up(1e6 * most, 3, 'g'));
	}
}

void chk_sync_offset_uncorrected(struct chk_machine *m, const struct chk_limit *limit, struct chk_result *r)
{
	const struct chk_stored *s = m->stored;

	(void)limit;
	if (s->have && !s->tells_time) {
		chk_absent(r, "the stored result is of %s, which does not show the time of day", s->timer);
	} else if (s->have && s->ranks > 1 && s->hosts == 1) {
		chk_absent(r, "all ranks of the stored result are on one host");
	} else if (is_value_known(m, s->uncorrected_s, "offsets before correction", r)) {
		chk_value(r, s->uncorrected_s, "largest between the first host and %s, by %s", s->worst_host, s->timer);
	}
}

void chk_sync_drift(struct chk_machine *m, const struct chk_limit *limit, struct chk_result *r)
{
	const struct chk_stored *s = m->stored;

	(void)limit;
	if (s->have && s->ranks > 1 && isnan(s->drift_ppm)) {
		chk_absent(r, "all ranks of the stored result share one clock");
	} else if (is_value_known(m, s->drift_ppm, "rates", r)) {
		chk_value(r, s->drift_ppm, "largest difference of rate to the first host");
	}
}

void chk_sync_residual(struct chk_machine *m, const struct chk_limit *limit, struct chk_result *r)
{
	const struct chk_stored *s = m->stored;

	(void)limit;
	if (is_value_known(m, s->residual_s, "bounds", r)) {
		chk_value(r, s->residual_s, "largest bound of a corrected stamp at a session");
	}
}

void chk_result_verdict(struct chk_machine *m, const struct chk_limit *limit, struct chk_result *r)
{
	const struct chk_stored *s = m->stored;

	(void)limit;
	if (!s->have) {
		chk_unknown(r, "%s", s->why);
	} else if (!strcmp(s->verdict, "fit")) {
		chk_value(r, 0, "%s is fit", s->timer);
	} else {
		chk_value(r, strcmp(s->verdict, "unfit") ? 1 : 2, "%s is %s: %s", s->timer,
			strcmp(s->verdict, "unfit") ? "not known to be fit" : "not fit", s->reason);
	}
}

void chk_result_age(struct chk_machine *m, const struct chk_limit *limit, struct chk_result *r)
{
	double age_s, unit_s;

	(void)limit;
	if (!m->stored->have) {
		chk_unknown(r, "%s", m->stored->why);
	} else if (!is_void(m, r, &age_s)) {
		unit_s = age_s < 120 ? 1 : age_s < 7200 ? 60 : age_s < 172800 ? 3600 : 86400;
		chk_value(r, 0, "%.3g %s old; same boot, kernel and clock source", age_s / unit_s,
			unit_s == 1              ? "s"
				: unit_s == 60   ? "min"
				: unit_s == 3600 ? "h"
						 : "days");
	}
}
