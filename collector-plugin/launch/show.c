/* SPDX-License-Identifier: BSD-3-Clause */
/* vtrun --list and --estimate: show what a run would record, without running anything. */
#include "config.h"
#include "collector-plugin/launch/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/text.h"
#include "sampler/source.h"

enum { MAX_COUNTERS = 4096 };

/* Loads the plugins of the option; *n is the number of those that work. */
static struct smp_plugin *load_shown_plugins(const struct tkm_option_list *l, size_t *n)
{
	struct smp_plugin *plugins = calloc(l->n + 1, sizeof(*plugins));
	struct tkm_err e;
	size_t i;

	for (i = 0, *n = 0; plugins && i < l->n; i++) {
		plugins[*n].source = smp_plugin_load(l->text[i], &plugins[*n].options, &e);
		if (plugins[*n].source) {
			++*n;
		} else {
			vt_launch_say("%s", e.text);
		}
	}
	return plugins;
}

struct smp_plan *vt_launch_plan(struct vtrun *r, struct tkm_err *err)
{
	static struct smp_env env; /* the plan needs it */
	const struct tkm_option_list *l = &r->settings.counter;
	const char *const *rules = l->n ? (const char *const *)l->text : smp_standard_rules;
	struct smp_plugin *plugins;
	struct smp_plan *plan;
	size_t n = l->n, n_plugins;

	while (!l->n && rules[n]) {
		n++;
	}
	smp_env_init(&env);
	env.flags = (r->settings.multiplex ? SMP_MULTIPLEX : 0) | (r->settings.count_kernel ? SMP_COUNT_KERNEL : 0);
	plugins = load_shown_plugins(&r->settings.plugin, &n_plugins);
	plan = smp_plan_open(&env, rules, n, plugins, n_plugins, err);
	free(plugins);
	return plan;
}

static const char *shown_scope(enum smp_scope s)
{
	return s == SMP_NODE ? "node" : s == SMP_PROCESS ? "process" : "thread";
}

/* Lists what needs a thread in the program, as far as this is known before the start. */
static void list_inside(const struct vt_settings *s)
{
	const char *period = vt_settings_other(s, "SYNC-PERIOD");
	double period_s;
	size_t i;

	if (s->sampler && !strcasecmp(s->sampler, "thread")) {
		printf("a thread inside the program reads the counters: SAMPLER thread\n");
	}
	for (i = 0; i < s->counter.n && strncasecmp(s->counter.text[i], "sde", 3); i++) {
	}
	if (i < s->counter.n) {
		printf("a thread inside the program reads the counters: %s\n", s->counter.text[i]);
	}
	if (period && tkm_parse_time(period, &period_s) == 0 && period_s > 0) {
		printf("a thread inside each program of an MPI job makes clock sessions: SYNC-PERIOD %s\n", period);
	}
}

int vt_launch_list(struct vtrun *r)
{
	struct tkm_err e;
	struct smp_plan *plan = vt_launch_plan(r, &e);
	char line[SMP_TEXT];
	size_t i;

	if (!plan) {
		vt_launch_say("%s", e.text);
		return 1;
	}
	printf("%-28s %-8s %-10s %-10s %s\n", "counter", "of", "recorded", "shown", "what");
	for (i = 0; i < smp_plan_size(plan); i++) {
		const struct smp_counter *c = &smp_plan_at(plan, i)->counter;

		if (c->missing) {
			printf("%-28s cannot be recorded: %s\n", c->name, c->missing);
			continue;
		}
		printf("%-28s %-8s %-10s %-10s %s\n", c->name, shown_scope(c->scope), c->unit,
			c->shown_unit                  ? c->shown_unit
				: c->kind == SMP_TOTAL ? "per second"
						       : c->unit,
			c->what);
		if (c->scope == SMP_NODE &&
			smp_planned_turns(smp_plan_at(plan, i), r->settings.os_counter_delay, line)) {
			printf("%-28s %s\n", "", line);
		}
	}
	list_inside(&r->settings);
	smp_plan_close(plan);
	/* counters of every run; collector-plugin/sample/plan.c defines them */
	printf("%-28s %-8s %-10s %-10s %s\n", "Tickmark:sampler_cpu", "process", "ns", "percent",
		"CPU time of the sampler");
	printf("%-28s %-8s %-10s %-10s %s\n", "Tickmark:sampler_tick", "process", "ns", "ns",
		"how long the longest sampling took so far");
	printf("%-28s %-8s %-10s %-10s %s\n", "Tickmark:sampler_delay", "process", "ns", "ns",
		"how late the sampler woke up for this sample");
	return 0;
}

/* In the raw file a record takes 8 bytes and a counter 12; in the merged trace 10 and 12. */
int vt_launch_estimate(struct vtrun *r)
{
	struct tkm_err e;
	struct smp_plan *plan = vt_launch_plan(r, &e);
	double count[3] = { 0, 3, 0 }, ticks = r->duration_s / r->settings.sample_period,
	       node = r->duration_s / r->settings.os_counter_delay;
	double raw, trace, thread, packed;
	char period[40], length[40];
	size_t i;

	if (!plan) {
		vt_launch_say("%s", e.text);
		return 1;
	}
	for (i = 0; i < smp_plan_size(plan); i++) {
		count[smp_plan_at(plan, i)->counter.scope] += !smp_plan_at(plan, i)->counter.missing;
	}
	smp_plan_close(plan);
	thread = count[SMP_THREAD] > 0 ? ticks * (8 + 12 * count[SMP_THREAD]) : 0;
	raw = ticks * (8 + 12 * count[SMP_PROCESS]) + (count[SMP_NODE] > 0 ? node * (8 + 12 * count[SMP_NODE]) : 0);
	trace = raw + 2 * (ticks + node);
	printf("a run of %s, every %s: %.0f counters of the process (3 of them of the sampler), %.0f of each thread, "
	       "%.0f of the node\n",
		tkm_print_time(length, sizeof(length), r->duration_s, 0),
		tkm_print_time(period, sizeof(period), r->settings.sample_period, 0), count[SMP_PROCESS],
		count[SMP_THREAD], count[SMP_NODE]);
	printf("raw file          %.3f MB, and %.3f MB for each thread\n", raw / 1e6, thread / 1e6);
	/* random values take a fourth, others less */
	packed = r->settings.compress_trace > 0 ? 4 : 1;
	printf("trace             %.3f MB%s, and %.3f MB for each thread; %s\n", trace / packed / 1e6,
		packed > 1 ? " at most" : "", (thread + (thread > 0 ? 2 * ticks : 0)) / packed / 1e6,
		packed > 1 ? "four times that with COMPRESS-TRACE off"
			   : "a fourth of that at most with COMPRESS-TRACE");
	printf("What a program says itself with VT_ calls comes on top: 20 bytes a value. FLUSH-LIMIT is %.0f MB.\n",
		(double)r->settings.flush_limit / 1048576);
	return 0;
}
