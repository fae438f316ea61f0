/* SPDX-License-Identifier: BSD-3-Clause */
/* The counters of one target, source by source. */
#include "config.h"
#include "sampler/private.h"

#include <stdlib.h>

struct part { /* of one source */
	const struct smp_source *source;
	void *set;
	size_t first, n;
};

struct smp_set {
	size_t n, n_parts;
	size_t *planned;
	const char **name;
	char (*why)[SMP_TEXT];
	struct part *part;
};

static int belongs(const struct smp_plan *plan, size_t i, const struct smp_target *target,
	int (*wanted)(const struct smp_plan *plan, size_t i))
{
	const struct smp_planned *p = smp_plan_at(plan, i);

	return !p->counter.missing && p->source && p->counter.scope == target->scope && (!wanted || wanted(plan, i));
}

/* Collects the plan's counters for the target, in the order of the plan, in which the counters of a source are
 * neighbours. */
static void collect_counters(struct smp_set *set, const struct smp_plan *plan, const struct smp_target *target,
	int (*wanted)(const struct smp_plan *plan, size_t i))
{
	size_t i;

	for (i = 0; i < smp_plan_size(plan); i++) {
		const struct smp_planned *p = smp_plan_at(plan, i);
		struct part *last = set->n_parts ? &set->part[set->n_parts - 1] : NULL;

		if (!belongs(plan, i, target, wanted)) {
			continue;
		}
		if (!last || last->source != p->source) {
			last = &set->part[set->n_parts++];
			*last = (struct part){ .source = p->source, .first = set->n };
		}
		last->n++;
		set->name[set->n] = p->counter.name;
		set->planned[set->n++] = i;
	}
}

static void open_part(struct smp_set *set, struct part *p, const struct smp_env *env, const struct smp_target *target)
{
	char why[SMP_TEXT] = "";
	size_t i;

	p->set = p->source->open(env, target, set->name + p->first, p->n, set->why + p->first, why);
	for (i = 0; !p->set && i < p->n; i++) {
		char *each = set->why[p->first + i];

		if (!each[0]) {
			snprintf(each, SMP_TEXT, "%s", why[0] ? why : "the source did not say why");
		}
	}
}

struct smp_set *smp_set_open(const struct smp_plan *plan, const struct smp_target *target, struct tkm_err *err)
{
	return smp_set_open_some(plan, target, NULL, err);
}

struct smp_set *smp_set_open_some(const struct smp_plan *plan, const struct smp_target *target,
	int (*wanted)(const struct smp_plan *plan, size_t i), struct tkm_err *err)
{
	size_t n = 0, i;
	struct smp_set *set = calloc(1, sizeof(*set));

	for (i = 0; i < smp_plan_size(plan); i++) {
		n += (size_t)belongs(plan, i, target, wanted);
	}
	if (set) {
		set->planned = calloc(1, (n + 1) * sizeof(*set->planned));
		set->name = calloc(1, (n + 1) * sizeof(*set->name));
		set->why = calloc(1, (n + 1) * sizeof(*set->why));
		set->part = calloc(1, (n + 1) * sizeof(*set->part));
	}
	if (!set || !set->planned || !set->name || !set->why || !set->part) {
		smp_set_close(set);
		tkm_fail(err, TKM_ERR_NOMEM, "no memory for a set of %zu counters", n);
		return NULL;
	}
	collect_counters(set, plan, target, wanted);
	for (i = 0; i < set->n_parts; i++) {
		struct part *p = &set->part[i];

		open_part(set, p, smp_plan_at(plan, set->planned[p->first])->env, target);
	}
	return set;
}

size_t smp_set_size(const struct smp_set *set)
{
	return set->n;
}

size_t smp_set_planned(const struct smp_set *set, size_t i)
{
	return set->planned[i];
}

const char *smp_set_why(const struct smp_set *set, size_t i)
{
	return set->why[i];
}

int smp_set_read(struct smp_set *set, union smp_value *value, uint8_t *state)
{
	int valid = 0, gone = 0, n;
	size_t i;

	memset(state, 0, set->n);
	for (i = 0; i < set->n_parts; i++) {
		struct part *p = &set->part[i];

		if (p->set) {
			n = p->source->read(p->set, value + p->first, state + p->first);
			gone |= n < 0;
			valid += n > 0 ? n : 0;
		}
	}
	return valid == 0 && gone ? -1 : valid;
}

int smp_set_descriptors(const struct smp_set *set, int *fd, int most)
{
	int n = 0;
	size_t i;

	for (i = 0; i < set->n_parts && n < most; i++) {
		const struct part *p = &set->part[i];

		/* a plugin may be older than this member */
		if (p->set && p->source->size > offsetof(struct smp_source, descriptors) && p->source->descriptors) {
			n += p->source->descriptors(p->set, fd + n, most - n);
		}
	}
	return n;
}

void smp_set_close(struct smp_set *set)
{
	size_t i;

	if (!set) {
		return;
	}
	for (i = 0; set->part && i < set->n_parts; i++) {
		if (set->part[i].set) {
			set->part[i].source->close(set->part[i].set);
		}
	}
	free(set->planned);
	free(set->name);
	free(set->why);
	free(set->part);
	free(set);
}
