/* SPDX-License-Identifier: BSD-3-Clause */
/* libVTinside.so contains what libVTcs.so rarely needs: reading counters and simulated clocks. It is
 * loaded when a run starts whose counters are read inside the program, that has a PLUGIN, or whose TIMER is
 * simulated. It is never loaded later: by then a signal handler may be running that has interrupted malloc(). This
 * file is the table between the two libraries. libVT has all of it linked in. */
#ifndef COLLECTOR_PLUGIN_PRELOAD_INSIDE_H
#define COLLECTOR_PLUGIN_PRELOAD_INSIDE_H

#include <stddef.h>

#include "sampler/source.h"
#include "timers/timer_private.h"

/* CALL(result, name, parameters, arguments, result while the library is not loaded). The functions that a run calls
 * at its start load the library. */
/* clang-format off */
#define VT_INSIDE_CALLS(CALL) \
	CALL(const struct smp_source *, smp_plugin_load, (const char *text, const char **options, struct tkm_err *err), \
		(text, options, err), load_library(err) < 0 ? NULL : inside->smp_plugin_load(text, options, err)) \
	CALL(struct smp_plan *, smp_plan_open, (const struct smp_env *env, const char *const *rules, size_t n_rules, \
		const struct smp_plugin *plugins, size_t n_plugins, struct tkm_err *err), \
		(env, rules, n_rules, plugins, n_plugins, err), \
		load_library(err) < 0 ? NULL : inside->smp_plan_open(env, rules, n_rules, plugins, n_plugins, err)) \
	CALL(size_t, smp_plan_size, (const struct smp_plan *plan), (plan), 0) \
	CALL(const struct smp_planned *, smp_plan_at, (const struct smp_plan *plan, size_t i), (plan, i), NULL) \
	CALL(int, smp_planned_turns, (const struct smp_planned *p, double interval_s, char line[SMP_TEXT]), (p, interval_s, line), 0) \
	CALL(void, smp_plan_close, (struct smp_plan *plan), (plan), (void)0) \
	CALL(uint64_t, smp_plan_mark, (const struct smp_plan *plan), (plan), 0) \
	CALL(struct smp_plan *, smp_plan_later, (const struct smp_plan *before, struct tkm_err *err), (before, err), \
		(inside_is_missing(err), NULL)) \
	CALL(struct smp_set *, smp_set_open, (const struct smp_plan *plan, const struct smp_target *target, struct tkm_err *err), \
		(plan, target, err), (inside_is_missing(err), NULL)) \
	CALL(struct smp_set *, smp_set_open_some, (const struct smp_plan *plan, const struct smp_target *target, \
		int (*wanted)(const struct smp_plan *plan, size_t i), struct tkm_err *err), (plan, target, wanted, err), \
		(inside_is_missing(err), NULL)) \
	CALL(size_t, smp_set_size, (const struct smp_set *set), (set), 0) \
	CALL(size_t, smp_set_planned, (const struct smp_set *set, size_t i), (set, i), 0) \
	CALL(const char *, smp_set_why, (const struct smp_set *set, size_t i), (set, i), "") \
	CALL(int, smp_set_read, (struct smp_set *set, union smp_value *value, uint8_t *state), (set, value, state), -1) \
	CALL(int, smp_set_descriptors, (const struct smp_set *set, int *fd, int most), (set, fd, most), 0) \
	CALL(void, smp_set_close, (struct smp_set *set), (set), (void)0)
/* clang-format on */

struct vt_inside {
	const char *version;
	const struct tmr_ops *sim; /* simulated clocks */
#define MEMBER(result, name, parameters, arguments, otherwise) __typeof__(name) *name;
	VT_INSIDE_CALLS(MEMBER)
#undef MEMBER
};

/* The memory functions of libVTcs (host/alloc.c), so that either library may free what the other has allocated. */
struct vt_inside_memory {
	void *(*malloc)(size_t n);
	void *(*calloc)(size_t n, size_t size);
	void *(*realloc)(void *p, size_t n);
	void (*free)(void *p);
	char *(*strdup)(const char *s);
	char *(*strndup)(const char *s, size_t max);
};

/* The only symbol of libVTinside.so. `memory` must stay valid. */
typedef const struct vt_inside *vt_inside_start(const struct vt_inside_memory *memory);
#define VT_INSIDE_START "vt_inside_begin"
vt_inside_start vt_inside_begin;

#endif
