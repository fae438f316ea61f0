/* SPDX-License-Identifier: BSD-3-Clause */
/* Options that are not in the table, and checks of values that the type of an option does not make. */
#include "config.h"
#include "collector-plugin/settings/check.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cli/option.h"
#include "base/text/glob.h"
#include "base/text/text.h"
#include "collector-plugin/settings/choose.h"
#include "collector-plugin/settings/formats.h"
#include "collector-plugin/settings/rule.h"

/* The rows of others.def. It has no pointers, so that it is in shared pages of a library that is loaded into each
 * process. */
static const struct other_row {
	char name[24];
	unsigned char whose; /* enum vt_whose */
	unsigned char type;  /* enum tkm_option_type */
	double min, max;
} other_rows[] = {
#define OTHER(name, whose, type, min, max) { name, VT_OF_##whose, TKM_OPTION_##type, min, max },
#include "collector-plugin/settings/others.def"
#undef OTHER
};
enum { OTHERS = sizeof(other_rows) / sizeof(other_rows[0]) };

const char *vt_settings_other_name(size_t i, enum vt_whose *whose)
{
	if (i >= OTHERS) {
		return NULL;
	}
	*whose = (enum vt_whose)other_rows[i].whose;
	return other_rows[i].name;
}

static const struct other_row *find_other_row(const char *name)
{
	size_t i;

	for (i = 0; i < OTHERS && strcasecmp(other_rows[i].name, name); i++) {
	}
	return i < OTHERS ? &other_rows[i] : NULL;
}

enum vt_whose vt_settings_whose(const char *name)
{
	const struct other_row *row = find_other_row(name);

	return row ? (enum vt_whose)row->whose : VT_OF_TABLE;
}

/* Can it have this text, by its type? */
static int check_other(const char *name, const char *text, const char *where, struct tkm_err *err)
{
	const struct other_row *row = find_other_row(name);
	union {
		long long count;
		double number;
		int on;
	} value;
	struct tkm_option o = { .value = &value };
	char *copy;
	int rc;

	if (!row || row->type == TKM_OPTION_NAME) {
		return 0;
	}
	if (row->type == TKM_OPTION_TEXT) {
		return text[strspn(text, " \t")] ? 0 : tkm_fail(err, TKM_ERR_ARG, "%s: %s needs a value", where, name);
	}
	o.name = row->name;
	o.type = (enum tkm_option_type)row->type;
	o.min = row->min;
	o.max = row->max;
	copy = strdup(text);
	rc = copy ? tkm_option_set_rest(&o, copy, where, err) : 0;
	free(copy);
	return rc;
}

/* ---- TIME-WINDOWS, THROTTLE, PCTRACE, HANDLE-SIGNALS ---- */

static int one_window(const char *text, size_t n, double *from, double *to)
{
	char part[100], *colon;

	if (n >= sizeof(part)) {
		return -1;
	}
	memcpy(part, text, n);
	part[n] = '\0';
	colon = strchr(part, ':');
	if (!colon) {
		return -1;
	}
	*colon = '\0';
	*from = 0;
	*to = INFINITY;
	return (part[0] && tkm_parse_time(part, from) < 0) || (colon[1] && tkm_parse_time(colon + 1, to) < 0) ? -1 : 0;
}

static int check_windows(const char *text)
{
	double from, to;
	size_t n;

	for (; *text; text += n + (text[n] == ',')) {
		n = strcspn(text, ",");
		if (one_window(text, n, &from, &to) < 0 || from > to) {
			return -1;
		}
	}
	return 0;
}

int vt_settings_in_window(const char *windows, double t)
{
	const char *p = windows;
	double from, to;
	size_t n;

	while (p && *p) {
		n = strcspn(p, ",");
		/* a window that cannot be read hides no event */
		if (one_window(p, n, &from, &to) < 0 || (t >= from && t <= to)) {
			return 1;
		}
		p += n + (p[n] == ',');
	}
	return !windows || !*windows;
}

int vt_settings_throttle(const char *text, unsigned long long *calls, double *seconds)
{
	char *end;

	if (!isdigit((unsigned char)text[0])) {
		return -1;
	}
	*calls = strtoull(text, &end, 10);
	return *end == ':' && tkm_parse_time(end + 1, seconds) == 0 && *seconds > 0 && *calls > 0 ? 0 : -1;
}

int vt_settings_imbalance(const char *text, double *seconds)
{
	int on = 1;

	*seconds = 0;
	if (*text && tkm_parse_bool(text, &on) < 0) {
		return tkm_parse_time(text, seconds) == 0 && *seconds > 0 && *seconds <= 1 ? 0 : -1;
	}
	*seconds = on ? VT_IMBALANCE_S : 0;
	return 0;
}

static int is_levels(const char *text)
{
	int a, b;

	return !*text || tkm_parse_bool(text, &a) == 0 || vt_rule_levels(text, &a, &b) == 0;
}

static int check_signals(const char *text)
{
	struct tkm_triplet t;
	size_t n;

	for (; *text && strcasecmp(text, "none") != 0; text += n + (text[n] == ',')) {
		n = strcspn(text, ",");
		if (tkm_parse_triplet(text, n, &t) < 0 || t.first < 1 || t.first >= NSIG) {
			return -1;
		}
	}
	return 0;
}

/* ---- all of them ---- */

static int one_of(const char *text, const char *const *words)
{
	while (*words && strcasecmp(*words, text) != 0) {
		words++;
	}
	return *words != NULL;
}

/* PROCESS and CLUSTER: only the syntax is checked, not whether the numbers exist. GROUP: a name and members, which
 * are known only in MPI_Init. */
static int check_processes(const char *name, const char *text, const char *where, struct tkm_err *err)
{
	const char *rest = text;
	char word[1000];
	struct tkm_err e;
	int state = 0;

	if (!strcasecmp(name, "GROUP")) {
		return vt_choose_field(&rest, word, sizeof(word), 0) && vt_choose_field(&rest, word, sizeof(word), 0)
			? 0
			: tkm_fail(err, TKM_ERR_ARG, "%s: GROUP %s: a name and members must follow, as in odd 1:N:2",
				  where, text);
	}
	if (strcasecmp(name, "PROCESS") && strcasecmp(name, "CLUSTER")) {
		return 0;
	}
	return vt_choose(text, 0, 0, &state, &e) < 0
		? tkm_fail(err, TKM_ERR_ARG, "%s: %s %s: %s", where, name, text, e.text)
		: 0;
}

int vt_settings_check(const char *name, const char *text, const char *where, struct tkm_err *err)
{
	static const char *const formats[] = { "STF", "SINGLESTF", "STFSINGLE", NULL };
	static const char *const samplers[] = { "process", "thread", NULL };
	unsigned long long calls;
	double seconds;
	struct vt_rule rule;
	struct tkm_glob_rule counter;
	struct tkm_err e;
	char why[500];

	if (check_other(name, text, where, err) < 0) {
		return -1;
	}
	if (!strcasecmp(name, "HANDLE-SIGNALS") && check_signals(text) < 0) {
		return tkm_fail(err, TKM_ERR_ARG,
			"%s: '%s' is not none, nor a list of signals from 1 to %d, like 11 or 3,10:12", where, text,
			NSIG - 1);
	}
	if (check_processes(name, text, where, err) < 0) {
		return -1;
	}

	if (!strcasecmp(name, "CHECK") && tkm_glob_rule_parse("CHECK", text, &counter, &e) < 0) {
		return tkm_fail(err, TKM_ERR_ARG, "%s: %s", where, e.text);
	}
	if (!strcasecmp(name, "COUNTER") && tkm_glob_rule_parse("COUNTER", text, &counter, &e) < 0) {
		return tkm_fail(err, TKM_ERR_ARG, "%s", e.text);
	}
	if (!strcasecmp(name, "LOGFILE-FORMAT") && !one_of(text, formats) && !vt_format_by_name(text)) {
		return tkm_fail(err, TKM_ERR_ARG, "%s: '%s' is none of STF, SINGLESTF" VT_FORMATS, where, text);
	}
	if (!strcasecmp(name, "SAMPLE-PERIOD") && text[0] && !text[strspn(text, "0123456789.")]) {
		return tkm_fail(err, TKM_ERR_ARG, "%s: %s of which unit? %sms, %ss ...", where, text, text, text);
	}
	if (!strcasecmp(name, "SAMPLER") && !one_of(text, samplers)) {
		return tkm_fail(err, TKM_ERR_ARG, "%s: '%s' is neither process nor thread", where, text);
	}
	if (!strcasecmp(name, "TIME-WINDOWS") && check_windows(text) < 0) {
		return tkm_fail(err, TKM_ERR_ARG,
			"%s: '%s' is not a list of windows FROM:TO, like 1s:5s,1m:2m, that end after they begin", where,
			text);
	}
	if (vt_rule_name(name) && vt_rule_parse(name, text, &rule, NULL, why, sizeof(why)) < 0) {
		return tkm_fail(err, TKM_ERR_ARG, "%s: %s", where, why);
	}
	if (!strcasecmp(name, "THROTTLE") && vt_settings_throttle(text, &calls, &seconds) < 0) {
		return tkm_fail(err, TKM_ERR_ARG, "%s: '%s' is not CALLS:TIME, like 100000:10us", where, text);
	}
	if (!strcasecmp(name, "TRACE-IMBALANCE") && vt_settings_imbalance(text, &seconds) < 0) {
		return tkm_fail(err, TKM_ERR_ARG,
			"%s: '%s' is none of on, off, or the shortest wait to record, like 100us, at most 1s", where,
			text);
	}
	if (!strcasecmp(name, "PCTRACE") && !is_levels(text)) {
		return tkm_fail(err, TKM_ERR_ARG, "%s: '%s' is none of on, off, LEVELS, SKIP:LEVELS, each 0 to 15",
			where, text);
	}
	return 0;
}
