/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses counters by the rules of option COUNTER, and groups them into sets that are read in one call. */
#include "config.h"
#include "sampler/private.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text/glob.h"

struct chunk { /* texts of counters, never moved */
	struct chunk *next;
	size_t used;
	char text[32 * 1024];
};

struct from {
	const struct smp_source *source;
	const struct smp_env *env;
};

struct smp_plan {
	struct smp_planned *item;
	size_t n, cap;
	struct tkm_glob_rule *rule;
	size_t n_rules;
	struct chunk *texts;
	struct smp_env *env; /* one per plugin, for its options */
	struct from *from;   /* all sources */
	size_t n_from;
	const struct smp_plan *before; /* smp_plan_later(): what is in there is known */
	/* while a source is listed */
	const struct smp_source *source;
	const struct smp_env *source_env;
	size_t first; /* of this source's counters: two hints may bring the same one */
};

static const char *keep_plan_text(struct smp_plan *plan, const char *text)
{
	size_t len;
	struct chunk *c = plan->texts;
	char *copy;

	if (!text) {
		return NULL;
	}
	len = strnlen(text, sizeof(c->text) - 1);
	if (!c || sizeof(c->text) - c->used < len + 1) {
		c = calloc(1, sizeof(*c));
		if (!c) {
			return NULL;
		}
		c->next = plan->texts;
		plan->texts = c;
	}
	copy = c->text + c->used;
	memcpy(copy, text, len);
	copy[len] = '\0';
	c->used += len + 1;
	return copy;
}

static int is_selected_by_rules(const struct smp_plan *plan, const char *name)
{
	size_t i = plan->n_rules;

	while (i-- > 0) {
		if (tkm_glob_match(plan->rule[i].pattern, name)) {
			return plan->rule[i].on;
		}
	}
	return 0;
}

/* Does an earlier plan have the counter, so that it could be opened? */
static int known_before(const struct smp_plan *plan, const char *name)
{
	size_t i;

	for (; plan; plan = plan->before) {
		for (i = 0; i < plan->n; i++) {
			if (!plan->item[i].counter.missing && strcmp(plan->item[i].counter.name, name) == 0) {
				return 1;
			}
		}
	}
	return 0;
}

static int add_counter(const struct smp_counter *c, void *ctx)
{
	struct smp_plan *plan = ctx;
	struct smp_planned *p;
	size_t i;

	if (plan->before && (c->missing || c->scope != SMP_NODE || known_before(plan->before, c->name))) {
		return 0;
	}
	if (!is_selected_by_rules(plan, c->name) && !(c->with && is_selected_by_rules(plan, c->with))) {
		return 0;
	}
	for (i = plan->first; i < plan->n; i++) {
		if (strcmp(plan->item[i].counter.name, c->name) == 0) {
			return 0;
		}
	}
	/* "CPU_idle" is none of PAPI's where it means our cpu_idle */
	for (i = 0; c->missing && i < plan->n; i++) {
		if (!plan->item[i].counter.missing && strcasecmp(plan->item[i].counter.name, c->name) == 0) {
			return 0;
		}
	}
	if (TKM_GROW(plan->item, plan->cap, plan->n + 1) < 0) {
		return -1;
	}
	p = &plan->item[plan->n];
	*p = (struct smp_planned){ *c, plan->source, plan->source_env };
	p->counter.name = keep_plan_text(plan, c->name);
	p->counter.unit = keep_plan_text(plan, c->unit ? c->unit : "");
	p->counter.what = keep_plan_text(plan, c->what ? c->what : "");
	p->counter.missing = keep_plan_text(plan, c->missing);
	p->counter.shown_unit = keep_plan_text(plan, c->shown_unit);
	p->counter.with = keep_plan_text(plan, c->with);
	if (!p->counter.name || !p->counter.unit || !p->counter.what || (c->missing && !p->counter.missing)) {
		return -1;
	}
	plan->n++;
	return 0;
}

/* Has the source listed the counter of this rule already, for an earlier one? */
static int is_listed(const struct smp_plan *plan, const char *pattern)
{
	size_t i = plan->first;

	while (i < plan->n && strcmp(plan->item[i].counter.name, pattern) != 0) {
		i++;
	}
	return i < plan->n;
}

static int add_plan_source(struct smp_plan *plan, const struct smp_source *s, const struct smp_env *env)
{
	char why[SMP_TEXT] = "";
	size_t i;
	int rc = 0;

	plan->source = s;
	plan->source_env = env;
	plan->first = plan->n;
	for (i = 0; rc == 0 && i < plan->n_rules; i++) {
		const struct tkm_glob_rule *r = &plan->rule[i];

		/* a source that does not work at all says so when one of its counters is asked for by name */
		if (r->on && !is_listed(plan, r->pattern) && s->list(env, r->pattern, add_counter, plan, why) == -1 &&
			!why[0]) {
			rc = -1;
		}
	}
	return rc;
}

/* Where the counter that a name seems to mean can be read instead; NULL: unknown. */
static const char *why_elsewhere(const char *pattern)
{
	static const struct {
		const char *begins, *why;
	} elsewhere[] = {
		{ "beegfs",
			"the client of BeeGFS publishes no counts on its node. Its servers have them: beegfs-ctl "
			"--clientstats. Its traffic is in net_io and rdma_io" },
		{ "nvidia",
			"the counters of NVIDIA's GPUs are nvml_*: power, energy, utilisation, clocks, memory, links" },
		{ "rocm",
			"the counters of AMD's GPUs are gpu_*, which their driver shows in /sys: no library is needed" },
		{ "gpu",
			"the counters of AMD's GPUs are gpu_*, those of NVIDIA's nvml_*; those of Intel are read by a library "
			"of their own (Level Zero), which a PLUGIN can call" },
		{ "gpfs", "GPFS publishes no counts in /proc or /sys: as root, mmpmon prints them" },
	};
	size_t i;

	for (i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
		if (strncasecmp(pattern, elsewhere[i].begins, strlen(elsewhere[i].begins)) == 0) {
			return elsewhere[i].why;
		}
	}
	return NULL;
}

/* Adds plain names that no source has, because the user asked for them. Patterns are added, too, if it is known what
 * they mean. */
static int add_unknown(struct smp_plan *plan)
{
	struct smp_counter c = { .missing = SMP_UNKNOWN };
	size_t i, j;

	plan->source = NULL;
	plan->first = 0;
	for (i = 0; i < plan->n_rules; i++) {
		const struct tkm_glob_rule *r = &plan->rule[i];

		for (j = 0; j < plan->n && !tkm_glob_match(r->pattern, plan->item[j].counter.name); j++) {
		}
		c.name = r->pattern;
		c.missing = why_elsewhere(c.name) ? why_elsewhere(c.name) : SMP_UNKNOWN;
#ifndef HAVE_PAPI
		c.missing =
			strncmp(c.name, "PAPI_", 5) == 0 || strstr(c.name, "::") ? "this build has no PAPI" : c.missing;
#endif
		if (j == plan->n && r->on && (tkm_glob_is_name(r->pattern) || strcmp(c.missing, SMP_UNKNOWN) != 0) &&
			add_counter(&c, plan) < 0) {
			return -1;
		}
	}
	return 0;
}

static int list_all(struct smp_plan *plan)
{
	size_t i;

	for (i = 0; i < plan->n_from; i++) {
		if (add_plan_source(plan, plan->from[i].source, plan->from[i].env) != 0) {
			return -1;
		}
	}
	return 0;
}

static void note_sources(
	struct smp_plan *plan, const struct smp_env *env, const struct smp_plugin *plugins, size_t n_plugins)
{
	size_t i;

	for (i = 0; smp_sources[i]; i++) {
		plan->from[plan->n_from++] = (struct from){ smp_sources[i], env };
	}
	for (i = 0; i < n_plugins; i++) {
		plan->env[i] = *env;
		plan->env[i].options = plugins[i].options ? plugins[i].options : "";
		plan->from[plan->n_from++] = (struct from){ plugins[i].source, &plan->env[i] };
	}
}

static size_t count_sources(size_t n_plugins)
{
	size_t n = 0;

	while (smp_sources[n]) {
		n++;
	}
	return n + n_plugins;
}

static size_t count_standard_rules(void)
{
	size_t n = 0;

	while (smp_standard_rules[n]) {
		n++;
	}
	return n;
}

/* "+NAME" adds to the standard rules; without a plus, the rules replace them. */
static int add_rules(struct smp_plan *plan, const char *const *rules, size_t n_rules, struct tkm_err *err)
{
	size_t i, standard = 0;
	struct tkm_glob_rule r;

	for (i = 0; i < n_rules; i++) {
		if (tkm_glob_rule_parse("COUNTER", rules[i], &r, err) < 0) {
			return -1;
		}
		standard = r.adds ? count_standard_rules() : standard;
	}
	for (i = 0; i < standard + n_rules; i++) {
		tkm_glob_rule_parse(
			"COUNTER", i < standard ? smp_standard_rules[i] : rules[i - standard], &plan->rule[i], err);
	}
	plan->n_rules = standard + n_rules;
	return 0;
}

struct smp_plan *smp_plan_open(const struct smp_env *env, const char *const *rules, size_t n_rules,
	const struct smp_plugin *plugins, size_t n_plugins, struct tkm_err *err)
{
	struct smp_plan *plan = calloc(1, sizeof(*plan));
	int rc = -1;

	smp_fd_room();
	if (plan) {
		plan->rule = calloc(1, (n_rules + 1 + count_standard_rules()) * sizeof(*plan->rule));
		plan->env = calloc(1, (n_plugins + 1) * sizeof(*plan->env));
		plan->from = calloc(1, count_sources(n_plugins) * sizeof(*plan->from));
	}
	if (!plan || !plan->rule || !plan->env || !plan->from) {
		goto out;
	}
	if (add_rules(plan, rules, n_rules, err) < 0) {
		smp_plan_close(plan);
		return NULL;
	}
	note_sources(plan, env, plugins, n_plugins);
	rc = list_all(plan) < 0 || add_unknown(plan) < 0 ? -1 : 0;
out:
	if (rc < 0) {
		smp_plan_close(plan);
		plan = NULL;
		tkm_fail(err, TKM_ERR_NOMEM, "no memory for the list of counters");
	}
	return plan;
}

/* ---- devices that come later --------------------------------------------------------------------- */

static int has_mark(const struct smp_source *s)
{
	return s->size > offsetof(struct smp_source, mark) && s->mark;
}

/* Instances follow a colon, and what is missing may come. */
static int may_grow(const struct smp_plan *plan)
{
	size_t i;

	for (i = 0; i < plan->n_rules; i++) {
		if (plan->rule[i].on && (strchr(plan->rule[i].pattern, ':') || strstr(plan->rule[i].pattern, "**"))) {
			return 1;
		}
	}
	for (i = 0; i < plan->n; i++) {
		if (plan->item[i].counter.missing && plan->item[i].source && has_mark(plan->item[i].source)) {
			return 1;
		}
	}
	return 0;
}

uint64_t smp_plan_mark(const struct smp_plan *plan)
{
	uint64_t sum = 0;
	size_t i;

	while (plan->before) {
		plan = plan->before;
	}
	for (i = 0; may_grow(plan) && i < plan->n_from; i++) {
		if (has_mark(plan->from[i].source)) {
			sum = sum * 31 + plan->from[i].source->mark(plan->from[i].env);
		}
	}
	return sum;
}

struct smp_plan *smp_plan_later(const struct smp_plan *before, struct tkm_err *err)
{
	struct smp_plan *plan = calloc(1, sizeof(*plan));
	const struct smp_plan *first = before;
	size_t i;
	int rc = -1;

	while (first->before) {
		first = first->before;
	}
	if (plan) {
		plan->rule = calloc(1, (first->n_rules + 1) * sizeof(*plan->rule));
		plan->from = calloc(1, (first->n_from + 1) * sizeof(*plan->from));
	}
	if (plan && plan->rule && plan->from) {
		plan->before = before;
		plan->n_rules = first->n_rules;
		memcpy(plan->rule, first->rule, first->n_rules * sizeof(*plan->rule));
		for (i = 0; i < first->n_from; i++) {
			if (has_mark(first->from[i].source)) {
				plan->from[plan->n_from++] = first->from[i];
			}
		}
		rc = list_all(plan);
	}
	if (rc < 0) {
		smp_plan_close(plan);
		tkm_fail(err, TKM_ERR_NOMEM, "no memory for the counters of devices that came");
		return NULL;
	}
	return plan;
}

size_t smp_plan_size(const struct smp_plan *plan)
{
	return plan->n;
}

const struct smp_planned *smp_plan_at(const struct smp_plan *plan, size_t i)
{
	return &plan->item[i];
}

void smp_plan_close(struct smp_plan *plan)
{
	struct chunk *c, *next;

	if (!plan) {
		return;
	}
	for (c = plan->texts; c; c = next) {
		next = c->next;
		free(c);
	}
	free(plan->rule);
	free(plan->env);
	free(plan->from);
	free(plan->item);
	free(plan);
}

int smp_planned_turns(const struct smp_planned *p, double interval_s, char line[SMP_TEXT])
{
	double turn_s = 0;

	if (!p->counter.missing && p->source && p->source->size >= sizeof(struct smp_source) && p->source->turn_s) {
		turn_s = p->source->turn_s(p->env, p->counter.name);
	}
	if (!(turn_s > 0 && interval_s > turn_s)) {
		return 0;
	}
	smp_why(line,
		"counter %s is read every %.6g s, and may begin anew after %.3g s: its total may lack whole turns. "
		"Read it more often (OS-COUNTER-DELAY)",
		p->counter.name, interval_s, turn_s);
	return 1;
}
