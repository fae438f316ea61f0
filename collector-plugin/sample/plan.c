/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the counters that are recorded, and defines them in the raw file. */
#include "config.h"
#include "collector-plugin/core/collector.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/glob.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/sample/sample.h"
#include "collector-plugin/settings/run_value.h"
#include "include/stf.h"

static void load_plan_plugins(struct vt_collector *c, size_t *n)
{
	const struct tkm_option_list *l = &c->settings.plugin;
	struct tkm_err e;
	size_t i;

	*n = 0;
	c->plugins = l->n ? calloc(l->n, sizeof(*c->plugins)) : NULL;
	for (i = 0; c->plugins && i < l->n; i++) {
		struct smp_plugin *p = &c->plugins[*n];

		p->source = smp_plugin_load(l->text[i], &p->options, &e);
		if (p->source) {
			++*n;
			if (!c->settings.counter.n) {
				vt_say(1, "WARNING", "PLUGIN %s: no COUNTER chooses a counter of it", l->text[i]);
			}
		} else {
			vt_say(1, "WARNING", "%s", e.text);
			vt_raw_info(c->pub.raw, "missing", e.text);
		}
	}
}

static uint64_t bits(double v)
{
	uint64_t u;

	memcpy(&u, &v, sizeof(u));
	return u;
}

static void set_counter_bounds(struct vt_raw_counter_def *d, const struct smp_counter *s)
{
	int known = s->lower != 0 || s->upper != 0;

	switch (s->type) {
	case SMP_F64:
		d->type = STF_COUNTER_F8 | STF_COUNTER_SAMPLE;
		d->lower = bits(known ? s->lower : -DBL_MAX);
		d->upper = bits(known ? s->upper : DBL_MAX);
		break;
	case SMP_I64:
		d->type = STF_COUNTER_I8 | STF_COUNTER_SAMPLE;
		d->lower = (uint64_t)(known ? (int64_t)s->lower : INT64_MIN);
		d->upper = (uint64_t)(known ? (int64_t)s->upper : INT64_MAX);
		break;
	default:
		d->type = STF_COUNTER_U8 | STF_COUNTER_SAMPLE;
		d->lower = known ? (uint64_t)s->lower : 0;
		d->upper = known ? (uint64_t)s->upper : UINT64_MAX;
	}
}

/* The guide's class for what PAPI counts is PERF_DATA. */
static uint32_t counter_class_of(const struct smp_planned *p)
{
	const char *s = p->source ? p->source->name : "";

	return !strcmp(s, "papi") || !strcmp(s, "perf") || !strcmp(s, "sde") ? VT_CLASS_PERF : VT_CLASS_OS;
}

int vt_counts_from_opening(const struct smp_plan *plan, size_t i)
{
	const struct smp_planned *p = smp_plan_at(plan, i);

	return p->counter.scope != SMP_NODE && p->source &&
		(!strcmp(p->source->name, "papi") || !strcmp(p->source->name, "perf"));
}

/* Did the user name the counter, not only a pattern that matches it? Then a missing counter is reported. */
int vt_plan_warning_level(const struct vt_collector *c, const struct smp_planned *p)
{
	const char *name = p->counter.name;
	const struct tkm_option_list *l = &c->settings.counter;
	char trace[8];
	size_t k, n;

	/* a followed child, or a program after an exec: the first process has reported it already */
	if (vt_run_value(c->run, "trace", trace, sizeof(trace))) {
		return 2;
	}
	for (k = 0; k < l->n; k++) {
		n = strcspn(l->text[k], " \t");
		if (strlen(name) == n && !strncmp(l->text[k], name, n)) {
			return 1;
		}
	}
	return l->n == 0 && !smp_is_optional(name) ? 1 : 2;
}

/* Only vtsampler calls NVML: in a program its counters are listed by their rules alone. */
static int is_nvml(const char *name)
{
	return !strncasecmp(name, "nvml_", strlen("nvml_"));
}

static int is_untried(const struct vt_collector *c, const char *name)
{
	return c->env.flags & SMP_FOREIGN && is_nvml(name);
}

static int is_of_nvml(const struct smp_planned *p)
{
	return p->source && !strcmp(p->source->name, "nvml");
}

static void define_counter(struct vt_collector *c, const struct smp_planned *p, uint32_t id)
{
	struct vt_raw_counter_def d = { .id = id,
		.classid = counter_class_of(p),
		.name = p->counter.name,
		.unit = p->counter.unit,
		.shown_unit = p->counter.shown_unit,
		.description = p->counter.what,
		.factor = p->counter.factor,
		.do_diff = p->counter.kind == SMP_TOTAL };
	char line[600];

	if (c->env.flags & SMP_FOREIGN && is_of_nvml(p)) {
		return;
	}
	if (p->counter.missing) {
		snprintf(line, sizeof(line), "counter %s: %s", p->counter.name, p->counter.missing);
		vt_raw_info(c->pub.raw, "missing", line);
		if (c->pub.rank <= 0) {
			vt_say(vt_plan_warning_level(c, p), "WARNING", "%s", line);
		}
		return;
	}
	if (p->counter.scope == SMP_NODE && smp_planned_turns(p, c->settings.os_counter_delay, line)) {
		vt_raw_info(c->pub.raw, "turns", line);
		if (c->pub.rank <= 0) {
			vt_say(vt_plan_warning_level(c, p), "WARNING", "%s", line);
		}
	}
	set_counter_bounds(&d, &p->counter);
	d.where = p->counter.scope == SMP_NODE ? VT_RAW_GROUP + VT_RAW_NODE : 0;
	vt_raw_counter(c->pub.raw, &d);
}

void vt_plan_define(struct vt_collector *c, const struct smp_plan *plan, uint32_t first, uint32_t *ids)
{
	size_t i;

	for (i = 0; i < smp_plan_size(plan); i++) {
		ids[i] = first + (uint32_t)i;
		define_counter(c, smp_plan_at(plan, i), ids[i]);
	}
}

static void define_own(struct vt_raw *r)
{
	/* clang-format off */
	static const struct vt_raw_counter_def own[] = {
		{ .id = VT_ID_CPU, .name = "sampler_cpu", .unit = "ns", .do_diff = 1, .factor = 1e-7, .shown_unit = "percent",
		  .description = "CPU time of the sampler's own thread" },
		{ .id = VT_ID_TICK, .name = "sampler_tick", .unit = "ns", .description = "how long the longest sampling took so far" },
		{ .id = VT_ID_DELAY, .name = "sampler_delay", .unit = "ns",
		  .description = "how late the sampler's thread woke up for this sample" },
	};
	/* clang-format on */
	struct vt_raw_counter_def d;
	size_t i;

	vt_raw_class(r, VT_CLASS_OWN, 0, "Tickmark");
	vt_raw_class(r, VT_CLASS_OS, 0, "OS");
	vt_raw_class(r, VT_CLASS_PERF, 0, "PERF_DATA");
	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		d = own[i];
		d.classid = VT_CLASS_OWN;
		d.type = STF_COUNTER_U8 | STF_COUNTER_SAMPLE;
		d.upper = UINT64_MAX;
		vt_raw_counter(r, &d);
	}
}

/* Reports a pattern that matches no working counter, with the reason why a matching counter does not work. */
static void report_fruitless(const struct vt_collector *c, const char *rule)
{
	const struct smp_planned *p, *missing = NULL;
	char pattern[300];
	size_t i, n, there = 0, known = 0;

	rule += *rule == '+';
	n = strcspn(rule, " \t");
	snprintf(pattern, sizeof(pattern), "%.*s", (int)n, rule);
	if (strstr(rule + n, "off") || strstr(rule + n, "OFF") || strstr(rule + n, "no")) {
		return;
	}
	for (i = 0; i < smp_plan_size(c->plan); i++) {
		p = smp_plan_at(c->plan, i);
		if (tkm_glob_match(pattern, p->counter.name)) {
			known++;
			there += !p->counter.missing;
			missing = p->counter.missing ? p : missing;
		}
	}
	/* a name has been reported when it was not opened */
	there = is_untried(c, pattern) ? (size_t)tkm_glob_is_name(pattern) : there;
	if (there > 0 || c->pub.rank > 0 || (known == 1 && !strcasecmp(pattern, missing->counter.name))) {
		return;
	}
	if (is_untried(c, pattern)) {
		vt_say(1, "WARNING", "COUNTER %s: a thread inside the program samples it, where NVML is not called",
			pattern);
	} else if (missing) {
		vt_say(1, "WARNING", "COUNTER %s: none of the counters that match can be read here; %s: %s", pattern,
			missing->counter.name, missing->counter.missing);
	} else {
		vt_say(1, "WARNING", "COUNTER %s: no counter has such a name; vtcounters '**' lists all", pattern);
	}
}

int vt_collect_plan(struct vt_collector *c, struct tkm_err *err)
{
	const struct tkm_option_list *l = &c->settings.counter;
	const char *const *rules = l->n ? (const char *const *)l->text : smp_standard_rules;
	size_t n_rules = l->n, n_plugins, i;

	define_own(c->pub.raw);
	/* if no counters are chosen, a program that only calls VT_ records its own values, as in the guide; a trace of waits
	 * has none */
	if (!l->n && (!c->run[0] || vt_settings_idle_s(&c->settings) > 0)) {
		if (c->calls_expected) { /* in the program: what PLUGIN lacks is reported once */
			load_plan_plugins(c, &n_plugins);
		}
		return 0;
	}
	while (!l->n && rules[n_rules]) {
		n_rules++;
	}
	smp_env_init(&c->env);
	snprintf(c->trace_dir, sizeof(c->trace_dir), "%s", c->trace);
	*(strrchr(c->trace_dir, '/') ? strrchr(c->trace_dir, '/') + 1 : c->trace_dir) = '\0';
	c->env.trace_dir = c->trace_dir;
	c->env.flags = (c->settings.multiplex ? SMP_MULTIPLEX : 0) | (c->settings.count_kernel ? SMP_COUNT_KERNEL : 0) |
		/* the program keeps no descriptor of ours where its events are read only now and then */
		(c->calls_expected && c->settings.counter_min_interval > 0 ? SMP_BRIEF : 0) | SMP_SHARED |
		(c->has_vtsampler ? 0 : SMP_FOREIGN);
	load_plan_plugins(c, &n_plugins);
	c->plan = smp_plan_open(&c->env, rules, n_rules, c->plugins, n_plugins, err);
	if (!c->plan) {
		return -1;
	}
	c->ids = calloc(smp_plan_size(c->plan) + 1, sizeof(*c->ids));
	if (!c->ids) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %zu counters", smp_plan_size(c->plan));
	}
	vt_plan_define(c, c->plan, c->first_id, c->ids);
	for (i = 0; i < l->n; i++) {
		if (!is_untried(c, l->text[i] + (l->text[i][0] == '+'))) {
			report_fruitless(c, l->text[i]);
		}
	}
	c->pub.plan = c->plan;
	c->pub.counter_ids = c->ids;
	return 0;
}

void vt_plan_report_nvml(const struct vt_collector *c)
{
	const struct tkm_option_list *l = &c->settings.counter;
	const struct smp_planned *p;
	size_t i, n = c->plan ? smp_plan_size(c->plan) : 0;

	for (i = 0; i < n; i++) {
		p = smp_plan_at(c->plan, i);
		if (p->counter.missing && is_of_nvml(p) && c->pub.rank <= 0) {
			vt_say(vt_plan_warning_level(c, p), "WARNING", "counter %s: %s", p->counter.name,
				p->counter.missing);
		}
	}
	for (i = 0; c->plan && i < l->n; i++) {
		if (is_nvml(l->text[i] + (l->text[i][0] == '+'))) {
			report_fruitless(c, l->text[i]);
		}
	}
}
