/* SPDX-License-Identifier: BSD-3-Clause */
/* Which reports are wanted: CHECK, CHECK-SUPPRESS and the limits. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/settings/rule.h"
#include "collector-plugin/settings/settings.h"
#include "collector-plugin/settings/suppress.h"

#define IDLE_NS INT64_C(60000000000)

const struct vt_mc_class_of vt_mc_class_of[VT_MC_CLASSES] = {
#define CLASS(enumerator, level, name) { level, name },
#include "collector-plugin/checker/classes.def"
#undef CLASS
};

static struct vt_settings settings;
static int begun;
static int off[VT_MC_CLASSES] = { [VT_MC_MSG_RACE] = 1 }; /* many correct programs receive in any order */
static int limit_is_given;                                /* DEADLOCK-TIMEOUT */
static char unknown[200];

static void complain_of_check(void *ctx, const char *line)
{
	(void)ctx;
	if (vt_mc_rank == 0) {
		vt_mc_say("%s", line);
	}
}

long long vt_mc_limit(const char *option, long long otherwise)
{
	const char *text = vt_settings_other(&settings, option);
	int on;

	if (!text || !*text) {
		return otherwise;
	}
	return tkm_parse_bool(text, &on) == 0 && !strpbrk(text, "23456789") ? on : atoll(text);
}

/* CHECK <pattern> <on|off>, in their order. */
static void choose_classes(void)
{
	const struct vt_setting_other *o;
	char pattern[200], word[8];
	int i, k, on, matched;

	for (i = 0; (o = vt_settings_other_nth(&settings, "CHECK", i)); i++) {
		if (sscanf(o->text, "%199s %7s", pattern, word) < 1) {
			continue;
		}
		on = 1;
		if (sscanf(o->text, "%*s %7s", word) == 1) {
			tkm_parse_bool(word, &on);
		}
		for (k = matched = 0; k < VT_MC_CLASSES; k++) {
			matched |= vt_rule_match(pattern, vt_mc_class_of[k].name);
			off[k] = vt_rule_match(pattern, vt_mc_class_of[k].name) ? !on : off[k];
		}
		if (!matched) {
			snprintf(unknown, sizeof(unknown), "%s", pattern);
		}
	}
}

void vt_mc_settings_begin(void)
{
	int i;

	if (begun) {
		return;
	}
	begun = 1;
	vt_settings_init(&settings);
	settings.complain = complain_of_check;
	vt_settings_load(&settings, NULL);
	for (i = 0; settings.table[i].name; i++) {
		limit_is_given |=
			settings.table[i].value == &settings.deadlock_timeout && settings.origin[i] != VT_BY_DEFAULT;
	}
	vt_say_setup(&settings.verbose, &vt_mc_rank);
	choose_classes();
}

const char *vt_mc_unknown_check(void)
{
	return unknown[0] ? unknown : NULL;
}

const char *vt_mc_option(const char *option)
{
	return vt_settings_other(&settings, option);
}

long long vt_mc_verbose(void)
{
	return settings.verbose;
}

int vt_mc_on(enum vt_mc_class c)
{
	return !off[c];
}

double vt_mc_timeout_s(void)
{
	const char *text = vt_settings_other(&settings, "CHECK-TIMEOUT");
	double s = 5;

	return text && tkm_parse_time(text, &s) == 0 ? s : 5;
}

int64_t vt_mc_idle_limit_ns(int given)
{
	return limit_is_given ? (int64_t)(1e9 * settings.deadlock_timeout) : given ? 0 : IDLE_NS;
}

void vt_mc_say(const char *fmt, ...)
{
	char line[900];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	vt_say(1, "INFO", "%s", line);
}

/* ---- CHECK-SUPPRESS ---- */

static struct {
	struct vt_suppress file;
	const char *name;
	unsigned reports;                      /* that were left out */
	uint64_t used[VT_SUPPRESS_LINES / 64]; /* lines that have matched one */
} suppressed;

void vt_mc_suppress_begin(void)
{
	struct tkm_err e;

	suppressed.name = vt_mc_option("CHECK-SUPPRESS");
	if (suppressed.name && vt_suppress_read(&suppressed.file, suppressed.name, &e) < 0) {
		vt_say(0, "WARNING", "%s; nothing is suppressed", e.text);
	}
}

int vt_mc_suppress(enum vt_mc_class c, const char *calls)
{
	const char *name = vt_mc_class_of[c].name;
	int i = vt_mc_class_of[c].level == 3 ? -1 : vt_suppress_find(&suppressed.file, 0, name, calls);

	if (i < 0) {
		return 0;
	}
	/* all of them are of use, which the end tells of each */
	for (; i >= 0; i = vt_suppress_find(&suppressed.file, i + 1, name, calls)) {
		vt_mc_set_bit(suppressed.used, i);
	}
	suppressed.reports++;
	if (vt_mc_shared) {
		vt_mc_shared->rank[vt_mc_rank].suppressed = suppressed.reports;
	}
	return 1;
}

unsigned vt_mc_suppressed(void)
{
	return suppressed.reports;
}

/* By all ranks together, at the end. */
void vt_mc_suppress_end(void)
{
	const struct vt_suppress_line *line;
	uint64_t all[VT_SUPPRESS_LINES / 64] = { 0 };
	int i;

	PMPI_Reduce(suppressed.used, all, VT_SUPPRESS_LINES / 64, MPI_UINT64_T, MPI_BOR, 0, MPI_COMM_WORLD);
	for (i = 0; vt_mc_rank == 0 && i < suppressed.file.n; i++) {
		line = &suppressed.file.line[i];
		if (!vt_mc_has_bit(all, i)) {
			vt_mc_say("%s:%d: no report matches %s %s %s", suppressed.name, line->number, line->class,
				line->function, line->source);
		}
	}
}
