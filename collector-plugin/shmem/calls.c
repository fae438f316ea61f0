/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program calls in place of the functions of OpenSHMEM, made of calls.def. Each calls the function of the next
 * library with the program's arguments. */
#include "config.h"
#include "collector-plugin/shmem/shmem.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "collector-plugin/host/program/slots.h"
#include "collector-plugin/mpi/outside.h"

static int pe_of_context(void *ctx, int pe);
#define VT_SHMEM_PE(ctx, pe) pe_of_context(ctx, pe)
enum {
#define CALL(kind, result, name, ...) CALL_##name,
#include "collector-plugin/shmem/calls.def"
#undef CALL
	CALLS
};
static struct vt_mpi_function function[CALLS];

/* ---- teams ---- */

static void **team_world;    /* where liboshmem has the team of all PEs; NULL: it has no teams */
static _Atomic int contexts; /* of teams were made */

/* A PE of a team among all PEs; negative: it has no such PE. */
static int pe_of_team(void *team, int pe)
{
	int (*translate)(void *, int, void *) =
		(int (*)(void *, int, void *))function[CALL_shmem_team_translate_pe].next;

	return team_world && translate ? translate(team, pe, *team_world) : -1;
}

/* The calls that make teams take PEs in equal steps. */
static struct vt_active_set set_of_team(void *team)
{
	int (*count)(void *) = (int (*)(void *))function[CALL_shmem_team_n_pes].next;
	struct vt_active_set set = { .first = pe_of_team(team, 0), .size = count ? count(team) : 0 };

	set.stride = set.first < 0 || set.size < 1 ? 0 : set.size == 1 ? 1 : pe_of_team(team, 1) - set.first;
	return set;
}

static int pe_of_context(void *ctx, int pe)
{
	int (*get)(void *, void **) = (int (*)(void *, void **))function[CALL_shmem_ctx_get_team].next;
	void *team;

	return contexts && get && !get(ctx, &team) ? pe_of_team(team, pe) : pe;
}

/* ---- the calls ---- */

/* clang-format off */
#define WRAPPER(result, name, params, args, enter, leave, before) \
	static result instead_of_##name params \
	{ \
		struct vt_shmem_call k __attribute__((cleanup(leave))); \
		enter(&k, &function[CALL_##name], __builtin_frame_address(0)); \
		before; \
		return ((result (*) params)function[CALL_##name].next) args; \
	}
#define STATE(result, name, params, args) WRAPPER(result, name, params, args, vt_shmem_enter, vt_shmem_leave, )
#define LOCAL(result, name, params, args) STATE(result, name, params, args)
#define WRITE(result, name, params, args, bytes, pe) \
	WRAPPER(result, name, params, args, vt_shmem_enter, vt_shmem_leave, vt_shmem_moves(&k, VT_RAW_WRITE, bytes, pe))
#define READ(result, name, params, args, bytes, pe) \
	WRAPPER(result, name, params, args, vt_shmem_enter, vt_shmem_leave, vt_shmem_moves(&k, VT_RAW_READ, bytes, pe))
#define EXCHANGE(result, name, params, args, bytes, pe) \
	WRAPPER(result, name, params, args, vt_shmem_enter, vt_shmem_leave, vt_shmem_moves_both(&k, bytes, pe))
#define SHARE(result, name, params, args, op, bytes, root, first_pe, log_stride, pes) \
	WRAPPER(result, name, params, args, vt_shmem_enter, vt_shmem_leave, \
		vt_shmem_shares(&k, VT_RAW_OP_SHMEM_##op, bytes, root, (struct vt_active_set){ first_pe, \
			(log_stride) >= 0 && (log_stride) < 31 ? 1 << (log_stride) : 0, pes }))
/* What fails is no operation. Open MPI 5 declares shmem_team_sync without a result. */
#define TEAM(result, name, params, args, op, bytes, root, team) \
	static result instead_of_##name params \
	{ \
		struct vt_shmem_call k __attribute__((cleanup(vt_shmem_leave))); \
		result rc; \
		vt_shmem_enter(&k, &function[CALL_##name], __builtin_frame_address(0)); \
		rc = ((result (*) params)function[CALL_##name].next) args; \
		if (k.entered && (!rc || VT_RAW_OP_SHMEM_##op == VT_RAW_OP_SHMEM_SYNC)) { \
			vt_shmem_shares(&k, VT_RAW_OP_SHMEM_##op, bytes, root, set_of_team(team)); \
		} \
		return rc; \
	}
#define TEAM_CONTEXT(result, name, params, args) \
	WRAPPER(result, name, params, args, vt_shmem_enter, vt_shmem_leave, contexts = 1)
#define START(result, name, params, args) WRAPPER(result, name, params, args, vt_shmem_enter_start, vt_shmem_leave_start, )
/* clang-format on */
#define END(result, name, params, args) \
	static result instead_of_##name params \
	{ \
		vt_shmem_end(); \
		((result(*) params)function[CALL_##name].next) args; \
		vt_mpi_finalized(); \
	}
#define ABORT(result, name, params, args) \
	static result instead_of_##name params \
	{ \
		vt_job_abort(#name, status); \
		((result(*) params)function[CALL_##name].next) args; \
	}

#define CALL(kind, result, name, ...) kind(result, name, __VA_ARGS__)
#include "collector-plugin/shmem/calls.def"
#undef CALL

static int compare_shmem_symbols(const void *a, const void *b)
{
	return strcmp(((const struct vt_slot *)a)->symbol, ((const struct vt_slot *)b)->symbol);
}

/* Which kinds may be throttled. */
enum {
	IS_START,
	IS_END,
	IS_ABORT,
	IS_LOCAL,
	IS_STATE,
	IS_WRITE,
	IS_READ,
	IS_EXCHANGE,
	IS_SHARE,
	IS_TEAM,
	IS_TEAM_CONTEXT
};

/* The function of liboshmem, or of a library before it. Short names such as my_pe may be the program's own. */
static void *function_named(const char *name, const void *library)
{
	void *at = dlsym(RTLD_DEFAULT, name);
	Dl_info info;

	if (at && strncmp(name, "shmem", 5) && (!dladdr(at, &info) || info.dli_fbase != library)) {
		return NULL;
	}
	return at;
}

/* A constructor, so that it is done before the program's first call, and that of any thread. */
static void __attribute__((constructor(103))) redirect_shmem(void)
{
	static const struct {
		struct vt_slot slot;
		int kind;
	} own[CALLS] = {
#define CALL(kind, result, name, ...) { { #name, (void *)instead_of_##name }, IS_##kind },
#include "collector-plugin/shmem/calls.def"
#undef CALL
	};
	void *init = dlsym(RTLD_DEFAULT, "pshmem_init");
	struct vt_slot *slot = init ? calloc(CALLS, sizeof(*slot)) : NULL;
	Dl_info info = { .dli_fbase = NULL };
	size_t i;

	if (init) {
		dladdr(init, &info);
		team_world = dlsym(RTLD_DEFAULT, "oshmem_team_world");
	}

	for (i = 0; slot && i < CALLS; i++) {
		slot[i] = own[i].slot;
		function[i] = (struct vt_mpi_function){ .class_name = "SHMEM",
			.text = slot[i].symbol,
			.next = function_named(slot[i].symbol, info.dli_fbase),
			.alone = own[i].kind == IS_LOCAL };
		slot[i].instead = function[i].next ? slot[i].instead : NULL;
	}
	if (slot) {
		qsort(slot, CALLS, sizeof(*slot), compare_shmem_symbols);
		vt_slots_change(slot, CALLS);
	}
	free(slot);
}
