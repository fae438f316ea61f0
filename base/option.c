/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "base/option.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

static int out_of_range(const struct tkm_option *o, const char *text, const char *origin, struct tkm_err *err)
{
	static const char *const kinds[] = { "a text", "a whole number", "a time like 2s, 1m+30s or 10ms",
		"a fraction like 50ppm", "on or off" };

	if (o->type == TKM_OPTION_BOOL || o->type == TKM_OPTION_TEXT) {
		return tkm_fail(err, TKM_ERR_ARG, "%s: '%s' is not %s", origin, text, kinds[o->type]);
	}
	return tkm_fail(err, TKM_ERR_ARG, "%s: '%s' is not %s between %g and %g", origin, text, kinds[o->type], o->min,
		o->max);
}

int tkm_option_set(const struct tkm_option *o, const char *text, const char *origin, struct tkm_err *err)
{
	double d = 0;
	int ok = 0;

	switch (o->type) {
	case TKM_OPTION_TEXT:
		*(const char **)o->value = text;
		return 0;
	case TKM_OPTION_COUNT:
		ok = tkm_parse_int(text, (long long)o->min, (long long)o->max, o->value) == 0;
		break;
	case TKM_OPTION_TIME:
		ok = tkm_parse_time(text, &d) == 0;
		break;
	case TKM_OPTION_FRACTION:
		ok = tkm_parse_fraction(text, &d) == 0;
		break;
	case TKM_OPTION_BOOL:
		ok = tkm_parse_bool(text, o->value) == 0;
		break;
	}
	if (ok && (o->type == TKM_OPTION_TIME || o->type == TKM_OPTION_FRACTION)) {
		ok = d >= o->min && d <= o->max;
		if (ok) {
			*(double *)o->value = d;
		}
	}
	return ok ? 0 : out_of_range(o, text, origin, err);
}

static char *spell(const char *prefix, const char *name, int (*letter)(int), char dash, char *buf, size_t size)
{
	size_t n = (size_t)snprintf(buf, size, "%s", prefix);

	for (; *name && n + 1 < size; name++) {
		buf[n++] = *name == '-' ? dash : (char)letter((unsigned char)*name);
	}
	buf[n] = '\0';
	return buf;
}

char *tkm_option_variable(const struct tkm_option *o, char *buf, size_t size)
{
	return spell("VT_", o->name, toupper, '_', buf, size);
}

char *tkm_option_long(const struct tkm_option *o, char *buf, size_t size)
{
	return spell("", o->name, tolower, '-', buf, size);
}

int tkm_option_environment(const struct tkm_option *table, struct tkm_err *err)
{
	char name[64];

	for (; table->name; table++) {
		const char *text = getenv(tkm_option_variable(table, name, sizeof(name)));

		if (text && tkm_option_set(table, text, name, err) < 0) {
			return -1;
		}
	}
	return 0;
}
