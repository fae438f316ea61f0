/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads libVTinside.so, libVTsystem.so and libVTomp.so into the program of libVTcs.so, and passes calls on to them. */
#include "config.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "collector-plugin/core/hooks.h"
#include "collector-plugin/host/program/near.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/openmp/openmp.h"
#include "collector-plugin/preload/inside.h"
#include "collector-plugin/trace/system_calls.h"

static const struct vt_inside *inside; /* NULL: not loaded */

/* Loads a library of this installation and returns its function. */
static void *begin_of(const char *const *places, const char *fallback, const char *function, struct tkm_err *err)
{
	char path[PATH_MAX];
	Dl_info own;
	void *h, *begin;

	if (vt_find_installed_library(
		    dladdr((void *)&inside, &own) ? own.dli_fname : NULL, places, fallback, path, sizeof(path)) < 0) {
		tkm_fail(err, TKM_ERR_UNAVAIL, "there is no %s", fallback);
		return NULL;
	}
	h = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	begin = h ? dlsym(h, function) : NULL;
	if (!begin) {
		const char *why = dlerror();

		tkm_fail(err, TKM_ERR_UNAVAIL, "cannot load %s: %s", path, why ? why : "unknown");
	}
	return begin;
}

static int is_same(const char *fallback, const char *version, struct tkm_err *err)
{
	if (strcmp(version, PACKAGE_STRING)) {
		tkm_fail(err, TKM_ERR_UNAVAIL, "%s is of %s, not of %s", fallback, version, PACKAGE_STRING);
		return 0;
	}
	return 1;
}

static int load_library(struct tkm_err *err)
{
	static const struct vt_inside_memory memory = { malloc, calloc, realloc, free, strdup, strndup };
	static const char *const places[] = { VT_NEAR_INSIDE, NULL };
	const struct vt_inside *calls;
	vt_inside_start *begin;

	if (inside) {
		return 0;
	}
	begin = (vt_inside_start *)begin_of(places, VT_INSIDE_PATH, VT_INSIDE_START, err);
	if (!begin) {
		return -1;
	}
	calls = begin(&memory);
	if (!is_same(VT_INSIDE_PATH, calls->version, err)) {
		return -1;
	}
	inside = calls;
	return 0;
}

const struct vt_system_table *vt_system_begin(const struct vt_system_own *own)
{
	static const char *const places[] = { VT_NEAR_SYSTEM, NULL };
	static const struct vt_system_table *table;
	vt_system_start_calls *begin;
	struct tkm_err err = { 0 };

	if (table) {
		return table;
	}
	begin = (vt_system_start_calls *)begin_of(places, VT_SYSTEM_PATH, VT_SYSTEM_START, &err);
	if (begin) {
		const struct vt_system_table *t = begin(own);

		table = is_same(VT_SYSTEM_PATH, t->version, &err) ? t : NULL;
	}
	if (!table) {
		vt_say(1, "WARNING", "%s: calls of class SYSTEM are not recorded", err.text);
	}
	return table;
}

const struct vt_omp_table *vt_omp_begin(const struct vt_omp_own *own)
{
	static const char *const places[] = { VT_NEAR_OMP, NULL };
	static const struct vt_omp_table *table;
	vt_omp_start_calls *begin;
	struct tkm_err err = { 0 };

	if (table) {
		return table;
	}
	begin = (vt_omp_start_calls *)begin_of(places, VT_OMP_PATH, VT_OMP_START, &err);
	if (begin) {
		const struct vt_omp_table *t = begin(own);

		table = is_same(VT_OMP_PATH, t->version, &err) ? t : NULL;
	}
	if (!table) {
		vt_say(1, "WARNING", "%s: OpenMP regions are not recorded", err.text);
	}
	return table;
}

static int open_sim(struct tmr_timer *t, const char *arg, struct tkm_err *err)
{
	if (load_library(err) < 0) {
		return -1;
	}
	t->ops = inside->sim;
	return t->ops->open(t, arg, err);
}

const struct tmr_ops tmr_sim = { TMR_SIM_DESCRIPTION, .open = open_sim };

static int inside_is_missing(struct tkm_err *err)
{
	return tkm_fail(err, TKM_ERR_UNAVAIL, "libVTinside.so was not loaded at the start");
}

#define PASS_ON(result, name, parameters, arguments, otherwise) \
	result name parameters \
	{ \
		return inside ? inside->name arguments : otherwise; \
	}
VT_INSIDE_CALLS(PASS_ON)

__attribute__((constructor(102))) static void add_hook(void)
{
	vt_hooks.load = load_library;
}
