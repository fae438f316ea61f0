/* SPDX-License-Identifier: BSD-3-Clause */
/* The limits of the checks: profiles of kinds of machines, files of a site, and single ones. */
#include "config.h"
#include "check/check.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"

/* The limits in which a kind of machine differs from the defaults. */
struct of_profile {
	const char *profile, *check;
	struct chk_limit limit;
};

/* clang-format off */
static const struct of_profile differences[] = {
	/* The host decides what a guest's counter shows; kvm-clock is paravirtual and good (clocksource.current). The
	 * limits between two virtual processors are wider, because other guests use the host's caches too. */
	{ "kvm", "tsc.cross_core", { 300e-9, 800e-9, 0 } },
	{ "aws", "tsc.cross_core", { 300e-9, 800e-9, 0 } },
	{ "azure", "tsc.cross_core", { 300e-9, 800e-9, 0 } },
	/* Amazon Time Sync and Azure's host clock keep the time to about 1 ms. A much larger error means that the
	 * daemon does not use them. */
	{ "aws", "ntp.offset", { 1e-3, 100e-3, 0 } },
	{ "azure", "ntp.offset", { 5e-3, 100e-3, 0 } },
	{ "kvm", "sync.offset_max", { 50e-6, 1e-3, 0 } },
	{ "aws", "sync.offset_max", { 50e-6, 1e-3, 0 } },
	{ "azure", "sync.offset_max", { 50e-6, 1e-3, 0 } },
	{ "kvm", "sync.residual", { 50e-6, 500e-6, 0 } },
	{ "aws", "sync.residual", { 50e-6, 500e-6, 0 } },
	{ "azure", "sync.residual", { 50e-6, 500e-6, 0 } },
};
/* clang-format on */

static const char *const profiles[] = { "baremetal", "kvm", "aws", "azure", NULL };

static int parse_value(enum chk_unit unit, const char *text, double *value)
{
	long long n;

	if (!strcmp(text, "-")) {
		*value = INFINITY;
		return 0;
	}
	if (unit == CHK_SECONDS) {
		return tkm_parse_time(text, value);
	}
	if (unit == CHK_PPM) {
		if (tkm_parse_fraction(text, value) < 0) {
			return -1;
		}
		*value *= strpbrk(text, "%p") || fabs(*value) < 0.5 ? 1e6 : 1; /* a bare number is in ppm */
		return 0;
	}
	if (tkm_parse_int(text, 0, 1000000000, &n) < 0) {
		return -1;
	}
	*value = (double)n;
	return 0;
}

static const char *unit_help(enum chk_unit unit)
{
	return unit == CHK_SECONDS ? "a time like 200ns" : unit == CHK_PPM ? "a rate like 5ppm" : "a whole number";
}

static int unknown_check(const char *name, const char *origin, struct tkm_err *err)
{
	char all[800] = "";
	size_t i, n = 0;

	for (i = 0; i < chk_count && n < sizeof(all); i++) {
		n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s", i ? ", " : "", chk_table[i].name);
	}
	return tkm_fail(err, TKM_ERR_ARG, "%s: '%s' is no check; known are %s", origin, name, all);
}

int chk_set_limit(struct chk_limit *limit, const char *text, int critical, struct tkm_err *err)
{
	const char *origin = critical ? "--critical" : "--warning", *equals = strchr(text, '=');
	char name[64];
	double value;
	int i;

	if (!equals || equals - text >= (int)sizeof(name)) {
		return tkm_fail(err, TKM_ERR_ARG, "%s '%s': write NAME=LIMIT, as in clock.cost=100ns", origin, text);
	}
	snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
	i = chk_find(name);
	if (i < 0) {
		return unknown_check(name, origin, err);
	}
	if (parse_value(chk_table[i].unit, equals + 1, &value) < 0 || value < 0) {
		return tkm_fail(err, TKM_ERR_ARG, "%s %s: '%s' is not %s, nor '-' for no limit", origin, name,
			equals + 1, unit_help(chk_table[i].unit));
	}
	*(critical ? &limit[i].critical : &limit[i].warning) = value;
	return 0;
}

static int read_limit_line(struct chk_limit *limit, char *line, const char *origin, struct tkm_err *err)
{
	char *save = NULL, *name = strtok_r(line, " \t\r\n", &save), *word[3] = { NULL, NULL, NULL };
	int i, k;

	if (!name || name[0] == '#') {
		return 0;
	}
	for (k = 0; k < 3; k++) {
		word[k] = strtok_r(NULL, " \t\r\n", &save);
	}
	i = chk_find(name);
	if (i < 0) {
		return unknown_check(name, origin, err);
	}
	if (word[0] && !word[1] && !strcmp(word[0], "off")) {
		limit[i].off = 1;
		return 0;
	}
	if (!word[1] || word[2] || parse_value(chk_table[i].unit, word[0], &limit[i].warning) < 0 ||
		parse_value(chk_table[i].unit, word[1], &limit[i].critical) < 0) {
		return tkm_fail(err, TKM_ERR_ARG, "%s: write '%s WARNING CRITICAL' or '%s off'; limits are %s or '-'",
			origin, name, name, unit_help(chk_table[i].unit));
	}
	limit[i].off = 0;
	return 0;
}

static int read_limit_file(struct chk_limit *limit, const char *path, struct tkm_err *err)
{
	FILE *f = fopen(path, "re");
	char *line = NULL, origin[300];
	size_t size = 0;
	long n = 0;
	int rc = 0;

	if (!f) {
		return tkm_fail(err, TKM_ERR_ARG,
			"--profile '%s': baremetal, kvm, aws and azure are known, and there is no such "
			"file: %s",
			path, strerror(errno));
	}
	while (rc == 0 && getline(&line, &size, f) >= 0) {
		snprintf(origin, sizeof(origin), "%.250s:%ld", path, ++n);
		rc = read_limit_line(limit, line, origin, err);
	}
	if (rc == 0 && ferror(f)) {
		rc = tkm_fail(err, TKM_ERR_IO, "cannot read %s", path);
	}
	free(line);
	fclose(f);
	return rc;
}

/* The kind of this machine, from what the processor and the kernel state. */
static const char *suggest_profile(const struct tmr_env *env)
{
	if (!env->hypervisor[0]) {
		return "baremetal";
	}
	return !strncmp(env->hypervisor, "Microsoft", 9) ? "azure" : "kvm";
}

int chk_profile(
	struct chk_limit *limit, const char *name, const struct tmr_env *env, const char **used, struct tkm_err *err)
{
	const char *of = name ? name : suggest_profile(env);
	size_t i;
	int k = 0;

	for (i = 0; i < chk_count; i++) {
		limit[i] = chk_table[i].limit;
	}
	*used = of;
	while (profiles[k] && strcmp(profiles[k], of)) {
		k++;
	}
	if (!profiles[k]) { /* the limits in a file are added to those of the profile that fits the machine */
		of = suggest_profile(env);
	}
	for (i = 0; i < sizeof(differences) / sizeof(differences[0]); i++) {
		if (!strcmp(differences[i].profile, of)) {
			limit[chk_find(differences[i].check)] = differences[i].limit;
		}
	}
	return profiles[k] ? 0 : read_limit_file(limit, name, err);
}
