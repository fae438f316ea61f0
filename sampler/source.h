/* SPDX-License-Identifier: BSD-3-Clause */
/* The counters of this machine: which there are, which are wanted, and reading them. What a single source
 * looks like is in include/vtsource.h; here is what its users call. libc only, nothing is printed, and no
 * call but smp_set_read() belongs on a fast path.
 *
 *     plan = smp_plan_open(&env, rules, n, NULL, 0, &err);   which counters, all scopes
 *     set = smp_set_open(plan, &target, &err);               those of one node, process or thread
 *     smp_set_read(set, value, state);                       all its values, in the order of the set */
#ifndef SAMPLER_SOURCE_H
#define SAMPLER_SOURCE_H

#include "base/err.h"
#include "include/vtsource.h"

/* All sources of this build, in the order of the list; NULL ends it. */
extern const struct smp_source *const smp_sources[];

/* Tells the library that this process observes others and is not observed itself. Then low
 * descriptors may be used, which is faster. Must be the first of these calls. */
void smp_own_process(void);

/* Sets *env to this machine with defaults. */
void smp_env_init(struct smp_env *env);

/* For a library that is loaded into a program: called in the program's main thread before main(), if PAPI counters
 * may be wanted. If the program itself is linked with PAPI, this initialises PAPI, which works fully only for the
 * thread that initialises it; otherwise PAPI's counters would be missing. In other programs it does nothing. */
void smp_prepare(const struct smp_env *env);

/* The rules for users who choose nothing: the five OS counters of the Intel Trace Collector guide, the process's
 * standard counters, and those that show whether it got a processor. NULL ends them. */
extern const char *const smp_standard_rules[];

/* Is it a standard counter that kernels, virtual machines or cgroups often lack? The user did not name it, so a
 * machine without it gets no warning. */
int smp_is_optional(const char *name);

/* Why a name that no source has is missing, unless it is known where the counter can be read instead. */
#define SMP_UNKNOWN "no source has a counter of this name; vtcounters lists all counters"

/* The counter of this machine whose name is most like `name`: typed with an error or two, or contained in one. Writes it
 * to text, "" if there is none. Returns whether there is one. Lists all sources, so it takes some milliseconds. */
int smp_nearest_name(const char *name, char *text, size_t size);

/* Sources from shared objects, text of option PLUGIN: "FILE [options]". FILE without a slash is looked up as
 * dlopen() does. Returned sources stay for good. Returns NULL with err. */
const struct smp_source *smp_plugin_load(const char *text, const char **options, struct tkm_err *err);

/* One counter of a plan: chosen by the rules. */
struct smp_planned {
	struct smp_counter counter; /* .missing is NULL if it can be opened */
	const struct smp_source *source;
	const struct smp_env *env;
};

struct smp_plan;

/* Applies the rules in order, the last that matches a counter decides, unmatched counters are off. A name
 * without wildcards that no source knows is planned too, as missing. env and what it points to must outlive
 * the plan. plugins: n_plugins further sources with their options, or NULL.
 * Returns the plan, or NULL with err (a rule is wrong, no memory). */
struct smp_plugin {
	const struct smp_source *source;
	const char *options;
};
struct smp_plan *smp_plan_open(const struct smp_env *env, const char *const *rules, size_t n_rules,
	const struct smp_plugin *plugins, size_t n_plugins, struct tkm_err *err);
size_t smp_plan_size(const struct smp_plan *plan);
const struct smp_planned *smp_plan_at(const struct smp_plan *plan, size_t i);
void smp_plan_close(struct smp_plan *plan); /* NULL is allowed; after its sets */

/* Devices that come later. smp_plan_mark() is another number when a source that tells so (vtsource.h, mark) would name
 * other counters than before, 0 if none would ever be wanted; some 20 us. smp_plan_later() then makes a plan of those
 * counters of the node that the same rules choose and no earlier plan has: `before` is the last one of these, and must
 * outlive it. It may be empty. Returns NULL with err only when there is no memory. */
uint64_t smp_plan_mark(const struct smp_plan *plan);
struct smp_plan *smp_plan_later(const struct smp_plan *before, struct tkm_err *err);

/* Is the time between two readings longer than a counter may take for a whole turn, so that the total may be too small?
 * Returns 1 with a line for the user, or 0. */
int smp_planned_turns(const struct smp_planned *p, double interval_s, char line[SMP_TEXT]);

struct smp_set;

/* Opens the counters of the plan that have the target's scope and are not missing. The set may be empty. Returns NULL
 * with err only if there is no memory; smp_set_why() has the errors of single counters. */
struct smp_set *smp_set_open(const struct smp_plan *plan, const struct smp_target *target, struct tkm_err *err);
/* Opens, of these, the counters for which wanted() returns 1. NULL: all. */
struct smp_set *smp_set_open_some(const struct smp_plan *plan, const struct smp_target *target,
	int (*wanted)(const struct smp_plan *plan, size_t i), struct tkm_err *err);
size_t smp_set_size(const struct smp_set *set);

/* The i-th value of the set is the smp_set_planned()-th counter of the plan; smp_set_why() is "" or why that
 * counter did not open for this target (its state then always is 0). */
size_t smp_set_planned(const struct smp_set *set, size_t i);
const char *smp_set_why(const struct smp_set *set, size_t i);

/* Reads all; value and state have smp_set_size() slots. Returns the number of valid ones, or -1 when the
 * target is gone. Allocates nothing, takes no lock; one thread at a time per set. */
int smp_set_read(struct smp_set *set, union smp_value *value, uint8_t *state);

/* The descriptors of the set, from sources that tell them (vtsource.h). They are the set's own in the calling
 * thread's table of descriptors. The set can also be read with a copy of that table, by one thread at a time. Returns
 * how many were written. */
int smp_set_descriptors(const struct smp_set *set, int *fd, int most);

/* Also allowed in the child of a fork, which must not read its parent's sets. */
void smp_set_close(struct smp_set *set);

#endif
