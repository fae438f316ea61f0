/* SPDX-License-Identifier: BSD-3-Clause */
/* Applies the filter rules (STATE, SYMBOL, ACTIVITY) to a function: whether it is recorded, folded, counted, with how
 * much call stack, and which triggers it has. */
#include "config.h"
#include "collector-plugin/filter/filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text/text.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/settings/rule.h"
#include "collector-plugin/settings/settings.h"

static struct {
	struct vt_rule *rule;
	size_t n;
	const char *caller[VT_FILTER_CALLERS]; /* patterns of callers in the rules */
	int n_callers;
	int context;
} filter;

static uint32_t caller_bit(const char *pattern)
{
	int i;

	for (i = 0; i < filter.n_callers && strcasecmp(filter.caller[i], pattern); i++) {
	}
	if (i == filter.n_callers && i < VT_FILTER_CALLERS) {
		filter.caller[filter.n_callers++] = pattern;
	}
	return i < VT_FILTER_CALLERS ? (uint32_t)VT_FILTER_FIRST_CALLER << i : 0;
}

/* Rules that stand for an option. They come before those of the user, because the last rule that matches counts.
 * TRACE-COLLECTIVES and TRACE-PT2PT: "to collect information only about" one kind of MPI calls (Intel Trace Collector
 * guide, section 2.5.1); calls that wait for non-blocking operations belong to both kinds. INTERNAL-MPI off: nothing
 * inside an MPI call is recorded, neither MPI's own functions nor call-backs of the program. */
static const struct option_rule {
	const char *option, *text;
	int when;
} option_rules[] = {
	{ "INTERNAL-MPI", "MPI:* FOLD", 0 },
	{ "TRACE-COLLECTIVES",
		"**:MPI_* off **:MPI_*Barrier* on **:MPI_*Bcast* on **:MPI_*Gather* on **:MPI_*Scatter* on "
		"**:MPI_*Reduce* on **:MPI_*Alltoall* on **:MPI_*Scan* on **:MPI_File_* off **:MPI_Reduce_local* off",
		1 },
	{ "TRACE-PT2PT",
		"**:MPI_* off **:MPI_*Send* on **:MPI_*Recv* on **:MPI_*Probe on **:MPI_Wait* on **:MPI_Test* on "
		"**:MPI_Start* on **:MPI_Cancel on **:MPI_Request_free on **:MPI_P*ready* on **:MPI_Parrived on",
		1 },
	/* the calls that can wait for other ranks and record why, and those that let others go on */
	{ "TRACE-IMBALANCE",
		"** off **:MPI_*Send* on **:MPI_*Recv* on **:MPI_*Probe on **:MPI_Wait* on **:MPI_Start* on "
		"**:MPI_*Barrier* on **:MPI_*Bcast* on **:MPI_*Gather* on **:MPI_*Scatter* on **:MPI_*Reduce* on "
		"**:MPI_*Alltoall* on **:MPI_*Scan* on **:MPI_I* off **:MPI_*_init off **:MPI_File_* off "
		"**:MPI_Reduce_local* off **:MPI_I*Send* on **:MPI_Win_fence on **:MPI_Win_post on **:MPI_Win_start on "
		"**:MPI_Win_complete on **:MPI_Win_wait on",
		1 },
	{ NULL, NULL, 0 },
};

static int is_option_rule_on(const struct vt_settings *s, const struct option_rule *o)
{
	const char *text = vt_settings_other(s, o->option);
	int on = !o->when;

	if (!strcmp(o->option, "TRACE-IMBALANCE")) {
		return vt_settings_idle_s(s) > 0;
	}
	return text && tkm_parse_bool(text, &on) == 0 && on == o->when;
}

/* Parses the rules of the options that are set into `into`, unless it is NULL. Returns their number. */
static size_t add_option_rules(const struct vt_settings *s, struct vt_rule *into)
{
	const struct option_rule *o;
	const char *at;
	struct vt_rule unused;
	char why[400];
	size_t n = 0;

	for (o = option_rules; o->option; o++) {
		at = is_option_rule_on(s, o) ? o->text : "";
		while (*at && vt_rule_parse("STATE", at, into ? into + n : &unused, &at, why, sizeof(why)) == 0) {
			n++;
		}
	}
	return n;
}

void vt_filter_start(const struct vt_settings *s)
{
	const struct vt_setting_other *o;
	char why[400];
	size_t i, n = add_option_rules(s, NULL);

	free(filter.rule);
	memset(&filter, 0, sizeof(filter));
	for (o = s->others; o; o = o->next) {
		n += (size_t)vt_rule_name(o->name);
	}
	filter.rule = n ? calloc(n, sizeof(*filter.rule)) : NULL;
	/* the list has the last rule first; rules that cannot be parsed were left out when they were read */
	for (o = s->others, i = n; filter.rule && o; o = o->next) {
		if (vt_rule_name(o->name) && i > 0) {
			i--;
			if (vt_rule_parse(o->name, o->text, &filter.rule[i], NULL, why, sizeof(why)) < 0) {
				filter.rule[i].pattern[0] = '\0';
			}
		}
	}
	if (filter.rule) {
		add_option_rules(s, filter.rule);
	}
	filter.n = filter.rule ? n : 0;
	for (i = 0; i < filter.n; i++) {
		const struct vt_rule *r = &filter.rule[i];

		filter.context |= r->caller[0] || r->fold != VT_RULE_UNSAID;
		if (r->caller[0] && !caller_bit(r->caller)) {
			vt_say(1, "WARNING", "CALLER %s: more than %d patterns of callers: left out", r->caller,
				VT_FILTER_CALLERS);
			filter.rule[i].pattern[0] = '\0';
		}
	}
}

int vt_filter_any(void)
{
	return filter.n > 0;
}

int vt_filter_context(void)
{
	return filter.context;
}

/* The rule applies to all callers, or to one pattern of callers only. */
static void apply_rule(const struct vt_rule *r, struct vt_verdict *v)
{
	int fold = r->fold == VT_RULE_UNSAID ? -1 : (int)r->fold;

	if (r->caller[0]) {
		v->caller_bit = caller_bit(r->caller);
		v->called_record = r->record == VT_RULE_UNSAID ? 1 : (int)r->record;
		v->called_fold = fold;
		/* a rule with a caller "enables tracing only for functions called by" it (Intel Trace Collector
		 * guide), so calls by others are not recorded. Whether those are folded does not change */
		v->record = r->fold == VT_RULE_UNSAID && v->called_record ? 0 : v->record;
	} else {
		v->record = r->record == VT_RULE_UNSAID ? v->record : (int)r->record;
		v->fold = r->fold == VT_RULE_UNSAID ? v->fold : fold;
		v->caller_bit = r->record != VT_RULE_UNSAID || r->fold != VT_RULE_UNSAID ? 0 : v->caller_bit;
	}
	if (r->record == VT_RULE_ON) {
		v->level = r->level;
		v->skip = r->skip;
	}
	v->count = r->count == VT_RULE_UNSAID ? v->count : (int)r->count;
	v->entry = r->entry.n_ranks ? &r->entry : v->entry;
	v->exit = r->exit.n_ranks ? &r->exit : v->exit;
}

/* Does a pattern match "CLASS:NAME", by its one name or the other? */
static int is_meant(const char *pattern, const char *full, const char *other)
{
	return vt_rule_match(pattern, full) || (other && vt_rule_match(pattern, other));
}

static char *full_name(const char *class_name, const char *name)
{
	size_t size = strlen(class_name) + strlen(name) + 2;
	char *full = malloc(size);

	if (full) {
		snprintf(full, size, "%s:%s", class_name, name);
	}
	return full;
}

void vt_filter_decide(const char *class_name, const char *name, const char *other, struct vt_verdict *v)
{
	char *full = full_name(class_name, name), *second = other ? full_name(class_name, other) : NULL;
	size_t i;
	int k;

	/* Intel Trace Collector guide, section 2.7: off unless a rule turns it on */
	*v = (struct vt_verdict){ .record = strcmp(class_name, "SYSTEM") != 0, .fold = -1, .count = 1, .level = -1 };
	for (i = 0; full && i < filter.n; i++) {
		if (filter.rule[i].pattern[0] && is_meant(filter.rule[i].pattern, full, second)) {
			apply_rule(&filter.rule[i], v);
		}
	}
	for (k = 0; full && k < filter.n_callers; k++) {
		v->callers |= is_meant(filter.caller[k], full, second) ? (uint32_t)VT_FILTER_FIRST_CALLER << k : 0;
	}
	free(full);
	free(second);
}
