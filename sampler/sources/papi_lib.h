/* SPDX-License-Identifier: BSD-3-Clause */
/* PAPI, loaded at run time into the process that samples. */
#ifndef SAMPLER_SOURCES_PAPI_LIB_H
#define SAMPLER_SOURCES_PAPI_LIB_H

#include <papi.h>

#include "sampler/private.h"

/* The functions that are used, by the names of the library. */
/* clang-format off */
#define SMP_PAPI_CALLS(X) \
	X(library_init) X(strerror) X(event_name_to_code) X(get_event_component) X(get_component_info) \
	X(num_components) X(get_event_info) X(enum_event) X(enum_cmp_event) X(create_eventset) \
	X(assign_eventset_component) X(add_event) X(attach) X(set_opt) X(set_multiplex) X(multiplex_init) X(start) \
	X(stop) X(read) X(cleanup_eventset) X(destroy_eventset) X(thread_init) X(register_thread)
/* clang-format on */

struct smp_papi {
#define X(call) __typeof__(PAPI_##call) *call;
	SMP_PAPI_CALLS(X)
#undef X
};

/* The library, loaded and initialised once per process, in a thread of its own that is left to itself when it
 * takes longer than env->limit_s. Returns NULL with the reason, then always the same. */
const struct smp_papi *smp_papi_get(const struct smp_env *env, char why[SMP_TEXT]);

/* What PAPI's sde component itself calls in libsde. PAPI_start would make what a counter holds at that moment its zero,
 * for the program too; read here, a counter shows what the program counted since it began. */
struct smp_sde {
	int (*name_to_code)(const char *name, uint32_t *code); /* 0: found, or a place kept for one that comes later */
	int (*read_counter)(uint32_t code, long long *value);  /* 0: read; -1 for what is not registered yet */
};

/* Returns NULL if libsde is not there, or lacks them: then PAPI reads. After smp_papi_get() only. */
const struct smp_sde *smp_sde_get(void);

/* PAPI 7.0 reads through a null pointer in threads that it does not know: each of ours makes itself known
 * before it calls anything. Costs one comparison when that has happened. */
void smp_papi_enter(const struct smp_papi *papi);

#endif
