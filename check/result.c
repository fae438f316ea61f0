/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of single checks: how they are made and printed. */
#include "config.h"
#include "check/check.h"

#include <math.h>
#include <stdarg.h>

#include "base/known.h"

#include "base/text/text.h"

const char *chk_status_name(enum chk_status s)
{
	static const char *const names[] = { "OK", "WARNING", "CRITICAL", "UNKNOWN", "ABSENT" };

	return names[s];
}

void chk_value(struct chk_result *r, double value, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->text, sizeof(r->text), fmt, ap);
	va_end(ap);
	r->value = value;
	r->measured = r->uncertainty = NAN;
	r->status = CHK_OK; /* until it is judged */
}

void chk_uncertain(struct chk_result *r, double measured, double uncertainty)
{
	r->measured = measured;
	r->uncertainty = uncertainty;
}

void chk_unknown(struct chk_result *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->text, sizeof(r->text), fmt, ap);
	va_end(ap);
	r->value = r->measured = r->uncertainty = NAN;
	r->status = CHK_UNKNOWN;
}

void chk_absent(struct chk_result *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->text, sizeof(r->text), fmt, ap);
	va_end(ap);
	r->value = r->measured = r->uncertainty = NAN;
	r->status = CHK_ABSENT;
}

char *chk_print_value(char *buf, size_t size, enum chk_unit unit, double value)
{
	if (isnan(value)) {
		snprintf(buf, size, "unknown");
	} else if (isinf(value)) {
		snprintf(buf, size, "infinite");
	} else if (unit == CHK_SECONDS && fabs(value) < 1) {
		/* its limits are upper ones, and some values are bounds */
		value < 0 ? tkm_print_lower(buf, size, value, 1) : tkm_print_upper(buf, size, value, 1);
	} else {
		/* "%.3g" would print 1e+03 */
		snprintf(buf, size, unit != CHK_COUNT && fabs(value) < 999.5 ? "%.3g%s" : "%.0f%s", value,
			unit == CHK_SECONDS       ? "s"
				: unit == CHK_PPM ? "ppm"
						  : "");
	}
	return buf;
}

const char *chk_other_boot(const struct chk_machine *m)
{
	return tkm_known_equal(m->stored->boot_id, m->env.boot_id) ? NULL
		: m->stored->boot_id[0] && m->env.boot_id[0]
		? "the machine was booted since the stored result"
		: "the boot id is unknown, now or in the stored result, so that may be of an earlier boot";
}
