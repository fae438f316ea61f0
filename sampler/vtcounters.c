/* SPDX-License-Identifier: BSD-3-Clause */
/* vtcounters: which counters this machine offers, what each costs, why others are missing, and whether they
 * count what they say. */
#include "config.h"

#ifdef HAVE_JANSSON
#include <jansson.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/cli/front.h"
#include "base/cli/option.h"
#include "sampler/private.h"
#include "sampler/validate.h"

enum { MAX_PATTERNS = 256 };

static int o_fast, o_json, o_validate;
static const char *o_root = "/";
static const char *o_plugin = "";

/* clang-format off */
static const struct tkm_option options[] = {
	{ "FAST", TKM_OPTION_BOOL, &o_fast, 0, 0, "", "at most 300 ms: one read per counter, PAPI's events only by name" },
	{ "JSON", TKM_OPTION_BOOL, &o_json, 0, 0, "", "print JSON" },
	{ "VALIDATE", TKM_OPTION_BOOL, &o_validate, 0, 0, "", "run loops of known size and judge each counter; status 1 if one is refused" },
	{ "ROOT", TKM_OPTION_TEXT, &o_root, 0, 0, "DIR", "read /proc and /sys below DIR, a snapshot of another machine" },
	{ "PLUGIN", TKM_OPTION_TEXT, &o_plugin, 0, 0, "FILE", "add the source in the shared object FILE; \"FILE OPTIONS\" gives it options" },
	{ .name = NULL },
};
/* clang-format on */

struct row {
	const struct smp_planned *p;
	double cost_us; /* < 0: not measured */
	struct smp_validation v;
};

static const struct tkm_front front = { .program = "vtcounters",
	.arguments = "[OPTION...] [PATTERN...]",
	.what = "Lists the counters of this machine that match a PATTERN, with unit, scope and cost per read. For each "
		"counter "
		"that is missing it prints why, and what to do. Wildcards: * ? [...] do not match a colon, ** does. "
		"Without a "
		"pattern: all but instances; '**' lists single CPUs, disks and interfaces too.",
	.after = "Exit status: 0; 1 nothing matches, a name is unknown, or a counter was refused; 2 wrong usage.",
	.table = options };

static int fail(int status, const char *text)
{
	fprintf(stderr, "vtcounters: %s\n", text);
	return status;
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of some reads of the counter alone; the first, which warms up, does not count. */
static double measure_counters(const struct smp_planned *p)
{
	struct smp_target self = {
		p->counter.scope,
		smp_live(p->env) ? getpid() : 0,
		p->counter.scope == SMP_THREAD ? (int32_t)gettid() : 0,
	};
	const char *name = p->counter.name;
	char why_each[1][SMP_TEXT] = { "" }, why[SMP_TEXT] = "";
	double cost[15], begin;
	union smp_value value;
	uint8_t state = 0;
	int i, n = o_fast ? 1 : 15, ok = 1;
	void *set = p->source->open(p->env, &self, &name, 1, why_each, why);

	if (!set) {
		return -1;
	}
	ok = p->source->read(set, &value, &state) == 1;
	for (i = 0; ok && i < n; i++) {
		begin = now_us();
		ok = p->source->read(set, &value, &state) == 1;
		cost[i] = now_us() - begin;
	}
	p->source->close(set);
	qsort(cost, (size_t)i, sizeof(cost[0]), by_size);
	return ok ? cost[i / 2] : -1;
}

static const char *name_of_scope(enum smp_scope s)
{
	static const char *const name[] = { "node", "process", "thread" };

	return name[s];
}

static const char *verdict_name(enum smp_verdict v)
{
	static const char *const name[] = { "accept", "warn", "REFUSE", "untried" };

	return name[v];
}

static void print_row(const struct row *r)
{
	const struct smp_counter *c = &r->p->counter;
	char unit[64], cost[24] = "-";

	if (c->shown_unit) {
		snprintf(unit, sizeof(unit), "%s (%s)", c->shown_unit, c->unit);
	} else {
		snprintf(unit, sizeof(unit), "%s%s", c->unit, c->kind == SMP_TOTAL && c->unit[0] ? "/s" : "");
	}
	if (r->cost_us >= 0) {
		snprintf(cost, sizeof(cost), "%.2f us", r->cost_us);
	}
	if (o_validate) {
		printf("%-28s %-8s %s\n", c->name, verdict_name(r->v.verdict), r->v.text);
	} else {
		printf("%-28s %-8s %-18s %10s  %s\n", c->name, name_of_scope(c->scope), unit, cost, c->what);
	}
}

/* Counters that are missing for the same reason are named together. */
static void print_missing(const struct row *row, size_t n)
{
	size_t i, k;
	int column, any = 0;

	for (i = 0; i < n; i++) {
		const char *why = row[i].p->counter.missing;

		for (k = 0; why && k < i && !(row[k].p->counter.missing && strcmp(row[k].p->counter.missing, why) == 0);
			k++) {
		}
		if (!why || k < i) {
			continue;
		}
		printf("%s", any++ ? "" : "\nnot available on this machine:\n");
		for (k = i, column = 0; k < n; k++) {
			const struct smp_counter *c = &row[k].p->counter;

			if (c->missing && strcmp(c->missing, why) == 0) {
				column += (int)strlen(c->name) + 1;
				printf("%s%s", column > 98 ? "\n  " : k > i ? " " : "  ", c->name);
				column = column > 98 ? (int)strlen(c->name) : column;
			}
		}
		printf("\n      %s\n", why);
	}
}

static void print_counter_list(const struct row *row, size_t n)
{
	const struct smp_source *last = NULL;
	size_t i, untried = 0;

	if (!o_validate) {
		printf("%-28s %-8s %-18s %10s  %s\n", "counter", "of", "shown (recorded)", "one read", "what");
	}
	for (i = 0; i < n; i++) {
		if (row[i].p->counter.missing || (o_validate && row[i].v.verdict == SMP_UNTRIED)) {
			untried += !row[i].p->counter.missing;
			continue;
		}
		if (row[i].p->source != last) {
			last = row[i].p->source;
			printf("\n%s: %s\n", last->name, last->what);
		}
		print_row(&row[i]);
	}
	if (untried) {
		printf("\nnot tried, because there is no loop with a known effect on them: %zu %s\n", untried,
			untried == 1 ? "counter" : "counters");
	}
	print_missing(row, n);
}

#ifdef HAVE_JANSSON
static json_t *json_row(const struct row *r)
{
	static const char *const type[] = { "u64", "i64", "f64" };
	const struct smp_counter *c = &r->p->counter;
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "name", c->name, "scope", name_of_scope(c->scope),
		"unit", c->unit, "what", c->what, "type", type[c->type], "kind",
		c->kind == SMP_TOTAL ? "total" : "level");

	if (r->p->source) {
		json_object_set_new(o, "source", json_string(r->p->source->name));
	}
	if (c->shown_unit) {
		json_object_set_new(o, "shown_unit", json_string(c->shown_unit));
		json_object_set_new(o, "factor", json_real(c->factor));
	}
	if (c->missing) {
		json_object_set_new(o, "missing", json_string(c->missing));
	} else if (r->cost_us >= 0) {
		json_object_set_new(o, "read_us", json_real(r->cost_us));
	}
	if (o_validate && !c->missing) {
		json_object_set_new(o, "verdict", json_string(verdict_name(r->v.verdict)));
		json_object_set_new(o, "reason", json_string(r->v.text));
		if (r->v.measured != 0 || r->v.expected != 0) {
			json_object_set_new(o, "measured", json_real(r->v.measured));
			json_object_set_new(o, "expected", json_real(r->v.expected));
		}
	}
	return o;
}

static int print_json(const struct row *row, size_t n)
{
	json_t *list = json_array(),
	       *top = json_pack("{s:s, s:i}", "program", "vtcounters " PACKAGE_VERSION, "format", 1);
	size_t i;
	int rc;

	for (i = 0; i < n; i++) {
		json_array_append_new(list, json_row(&row[i]));
	}
	json_object_set_new(top, "counters", list);
	rc = json_dumpf(top, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(top);
	return rc;
}
#else
static int print_json(const struct row *row, size_t n)
{
	(void)row;
	(void)n;
	return -1;
}
#endif

static int show_listed_counters(const struct smp_plan *plan)
{
	size_t n = smp_plan_size(plan), i;
	struct row *row = calloc(n + 1, sizeof(*row));
	int refused = 0;

	if (!row) {
		return fail(1, "out of memory");
	}
	for (i = 0; i < n; i++) {
		row[i].p = smp_plan_at(plan, i);
		row[i].cost_us = -1;
		refused |= !row[i].p->source; /* a name that no source knows */
		if (row[i].p->counter.missing || !row[i].p->source) {
			continue;
		}
		if (o_validate) {
			smp_validate(row[i].p, &row[i].v);
			refused |= row[i].v.verdict == SMP_REFUSE;
		} else {
			row[i].cost_us = measure_counters(row[i].p);
		}
	}
	if (o_json) {
		refused |= print_json(row, n) < 0;
	} else {
		print_counter_list(row, n);
	}
	free(row);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		return fail(1, "cannot write to standard output");
	}
	return refused;
}

static int is_unknown_counter(const struct smp_planned *p)
{
	return !p->source && strcmp(p->counter.missing, SMP_UNKNOWN) == 0;
}

/* The only pattern is a name that no source has. */
static int fail_unknown(const char *name)
{
	char text[SMP_TEXT + 300], near[80];
	int is_near = smp_nearest_name(name, near, sizeof(near));

	snprintf(text, sizeof(text), "%s: %s%s%s%s", name, SMP_UNKNOWN, is_near ? "; did you mean " : "", near,
		is_near ? "?" : "");
	return fail(1, text);
}

static int run_vtcounters(const char **pattern, int n_patterns)
{
	static char rule[MAX_PATTERNS][SMP_TEXT];
	const char *rules[MAX_PATTERNS] = { "* on" };
	struct smp_plugin plugin = { NULL, NULL };
	struct smp_plan *plan;
	struct smp_env env;
	struct tkm_err err;
	int i, rc;

	smp_env_init(&env);
	env.root = o_root;
	env.flags = o_fast ? SMP_FAST : 0;
	if (o_plugin[0]) {
		plugin.source = smp_plugin_load(o_plugin, &plugin.options, &err);
		if (!plugin.source) {
			return fail(2, err.text);
		}
	}
	for (i = 0; i < n_patterns; i++) {
		snprintf(rule[i], sizeof(rule[i]), "%s on", pattern[i]);
		rules[i] = rule[i];
	}
	plan = smp_plan_open(&env, rules, (size_t)(n_patterns ? n_patterns : 1), &plugin, plugin.source != NULL, &err);
	if (!plan) {
		return fail(2, err.text);
	}
	rc = smp_plan_size(plan) == 0 ? fail(1, "no counter matches; vtcounters without a pattern lists what there is")
		: n_patterns == 1 && !o_json && is_unknown_counter(smp_plan_at(plan, 0)) ? fail_unknown(pattern[0])
											 : show_listed_counters(plan);
	smp_plan_close(plan);
	return rc;
}

int main(int argc, char **argv)
{
	const char *pattern[MAX_PATTERNS];
	struct tkm_err err;
	char *absolute;
	int n, rc;

	n = tkm_front_arguments(&front, argc, argv, pattern, MAX_PATTERNS, &err);
	if (n < 0) {
		return n == TKM_FRONT_ANSWERED ? 0 : fail(2, err.text);
	}
#ifndef HAVE_JANSSON
	if (o_json) {
		return fail(2, "this build has no JSON: it was configured without jansson");
	}
#endif
	absolute = realpath(o_root, NULL);
	if (!absolute) {
		fprintf(stderr, "vtcounters: --root %s: no such folder\n", o_root);
		return 2;
	}
	o_root = absolute;
	rc = run_vtcounters(pattern, n);
	free(absolute);
	tkm_option_free(options, NULL);
	return rc;
}
