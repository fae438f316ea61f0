/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and end of MPI, in C and in Fortran (Intel Trace Collector guide, section 3.1.3). The call of MPI is always
 * made, with the program's arguments, and the collector does its work before or after it. */
#include "config.h"
#include "collector-plugin/mpi/private.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "include/VT.h"
#include "collector-plugin/api/private.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/hooks.h"
#include "collector-plugin/core/names.h"
#include "collector-plugin/run/errors.h"
#include "collector-plugin/core/sink.h"
#include "collector-plugin/core/thread.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/mpi/abi/fortran.h"
#include "collector-plugin/mpi/outside.h"
#include "collector-plugin/trace/trace.h"

/* Only the first start has an effect: VT_initialize() after MPI_Init() is no error. */
static _Atomic int begun, ended;

/* When the program called MPI_Init, by CLOCK_MONOTONIC, and which call it was. The timer of the trace is not chosen
 * before MPI is initialised. */
static struct {
	int64_t ns;
	const char *class_name, *name;
	uint32_t function; /* id of the call; 0: its state was not entered */
} init;

static void about_to_begin(int *argc, char ***argv, const char *name)
{
	vt_take_arguments(argc, argv);
	init.ns = vt_now_ns(CLOCK_MONOTONIC);
	init.class_name = "MPI";
	init.name = name;
	vt_mpi_threads_before();
}

static void enter_init(struct vt_collect *c)
{
	ltick_t at = vt_ticks_now(c);

	if (!init.name || vt_self() != VT_OK) {
		return;
	}
	at.v -= (int64_t)(1e-9 * (double)(vt_now_ns(CLOCK_MONOTONIC) - init.ns) * c->timer->hz);
	at.v = at.v < c->start.v ? c->start.v : at.v;
	init.function = vt_function(c, init.class_name, init.name);
	vt_trace_enter_unsampled(init.function, at);
}

static void begin_mpi(int *argc, char ***argv)
{
	if (atomic_exchange(&begun, 1) == 0) {
		vt_mpi_hide();
		vt_job_begin(argc, argv, enter_init);
		if (init.function) {
			vt_trace_leave_unsampled(init.function);
		}
		vt_mpi_show();
		vt_event(); /* leaving MPI_Init */
	}
}

/* Enters the state of MPI_Finalize. What MPI does after the trace is complete is not in the trace. */
static uint32_t enter_finalize(const char *class_name, const char *name)
{
	struct vt_collect *c = vt_collect_running();
	uint32_t function = c ? vt_function(c, class_name, name) : 0;

	if (c && vt_self() == VT_OK) {
		vt_trace_enter_unsampled(function, vt_ticks_now(c));
	}
	return function;
}

void vt_mpi_end(const char *class_name, const char *name)
{
	void (*check)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, VT_CHECK_END);
	uint32_t function;

	if (atomic_load(&begun) && atomic_exchange(&ended, 1) == 0) {
		vt_event(); /* entering MPI_Finalize */
		function = enter_finalize(class_name, name);
		if (check) {
			check();
		}
		vt_job_end(function);
	}
}

static void end_mpi(void)
{
	vt_mpi_end("MPI", "MPI_Finalize");
}

static _Atomic int started_mpi; /* VT_initialize() has started MPI, and the program has not called MPI_Init() itself */

/* Is this MPI_Init() the program's own, after VT_initialize() has already started MPI? This is allowed once, and then
 * the program must call MPI_Finalize() itself. */
static int is_started_already(void)
{
	return atomic_exchange(&started_mpi, 0);
}

/* A start is under way: if MPI calls its own MPI_Init through the PMPI_ name, that is not another start. */
static _Atomic int starting;

static void before_init(int *argc, char ***argv, const char *name)
{
	about_to_begin(argc, argv, name);
	vt_mpi_hide();
	atomic_fetch_add(&starting, 1);
}

static void after_init(int *argc, char ***argv, int good)
{
	atomic_fetch_sub(&starting, 1);
	vt_mpi_show();
	if (good) {
		begin_mpi(argc, argv);
	}
}

static int is_running(void)
{
	int flag = 0;

	return PMPI_Initialized(&flag) == MPI_SUCCESS && flag;
}

typedef int init_fn(int *argc, char ***argv);
typedef int init_thread_fn(int *argc, char ***argv, int required, int *provided);

int MPI_Init(int *argc, char ***argv)
{
	init_fn *next = (init_fn *)vt_mpi_next("MPI_Init", NULL);
	int rc;

	if (is_started_already()) {
		return MPI_SUCCESS;
	}
	before_init(argc, argv, "MPI_Init");
	rc = next ? next(argc, argv) : MPI_ERR_INTERN;
	after_init(argc, argv, rc == MPI_SUCCESS);
	return rc;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	init_thread_fn *next = (init_thread_fn *)vt_mpi_next("MPI_Init_thread", NULL);
	int rc;

	if (is_started_already()) {
		return PMPI_Query_thread(provided);
	}
	before_init(argc, argv, "MPI_Init_thread");
	rc = next ? next(argc, argv, required, provided) : MPI_ERR_INTERN;
	after_init(argc, argv, rc == MPI_SUCCESS);
	return rc;
}

int MPI_Finalize(void)
{
	int (*next)(void) = (int (*)(void))vt_mpi_next("MPI_Finalize", NULL);
	int rc;

	end_mpi();
	rc = next ? next() : MPI_ERR_INTERN;
	vt_mpi_finalized();
	return rc;
}

/* Processes that are killed now have their samples in their raw files. So does this process, which also closes its
 * raw file. */
int MPI_Abort(MPI_Comm comm, int errorcode)
{
	int (*next)(MPI_Comm, int) = (int (*)(MPI_Comm, int))vt_mpi_next("MPI_Abort", NULL);

	vt_job_abort("MPI_Abort", errorcode);
	return next ? next(comm, errorcode) : MPI_ERR_INTERN;
}

/* ---- for OpenSHMEM ---- */

int vt_mpi_init_begin(const char *class_name, const char *name)
{
	if (atomic_load(&begun)) {
		return 0;
	}
	before_init(NULL, NULL, name);
	init.class_name = class_name;
	return 1;
}

void vt_mpi_init_end(void)
{
	after_init(NULL, NULL, is_running());
}

/* ---- PMPI_ names, for use after another tool ---- */

/* Tools that are loaded before us (LD_PRELOAD, or earlier on the link line) have an MPI_Init of their own, which
 * calls PMPI_Init, so our MPI_Init would never be called. Therefore these four calls have their PMPI_ names here,
 * too. Only the first call has an effect. */

/* Returns 1 unless another start is under way. */
static int before_pmpi_init(int *argc, char ***argv, const char *name)
{
	int first = atomic_load(&starting) == 0;

	if (first) {
		about_to_begin(argc, argv, name);
	}
	return first;
}

int PMPI_Init(int *argc, char ***argv)
{
	init_fn *next = (init_fn *)vt_mpi_next("PMPI_Init", NULL);
	int first = before_pmpi_init(argc, argv, "MPI_Init"), rc = next ? next(argc, argv) : MPI_ERR_INTERN;

	if (first && rc == MPI_SUCCESS) {
		begin_mpi(argc, argv);
	}
	return rc;
}

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	init_thread_fn *next = (init_thread_fn *)vt_mpi_next("PMPI_Init_thread", NULL);
	int first = before_pmpi_init(argc, argv, "MPI_Init_thread"),
	    rc = next ? next(argc, argv, required, provided) : MPI_ERR_INTERN;

	if (first && rc == MPI_SUCCESS) {
		begin_mpi(argc, argv);
	}
	return rc;
}

int PMPI_Finalize(void)
{
	int (*next)(void) = (int (*)(void))vt_mpi_next("PMPI_Finalize", NULL);

	end_mpi();
	return next ? next() : MPI_ERR_INTERN;
}

int PMPI_Abort(MPI_Comm comm, int errorcode)
{
	int (*next)(MPI_Comm, int) = (int (*)(MPI_Comm, int))vt_mpi_next("PMPI_Abort", NULL);

	vt_job_abort("MPI_Abort", errorcode);
	return next ? next(comm, errorcode) : MPI_ERR_INTERN;
}

/* ---- Fortran ---- */

/* In the module mpi_f08 ierr may be absent: then it is NULL, and MPI is asked whether it is running. */

/* clang-format off */
#define NAMES(lower, UPPER) \
	static const char *const names[] = { "mpi_" #lower "_", "mpi_" #lower "__", "mpi_" #lower, "MPI_" #UPPER, NULL }
#define NAMES_F08(lower) static const char *const names[] = { "mpi_" #lower "_f08_", NULL }
#define PASS_ON(function, look_up, params, args, before, after) \
	void function params; \
	void function params \
	{ \
		look_up; \
		before; \
		if (next) { \
			((void (*) params)next) args; \
		} \
		after; \
	}
/* The call under the four names that compilers make of it, and under that of the module. */
#define FORTRAN(lower, UPPER, params, args, before, after) \
	PASS_ON(mpi_##lower##_f08_, NAMES_F08(lower); static void *found; void *next = vt_mpi_next_fortran(&found, names), \
		params, args, before, after) \
	PASS_ON(mpi_##lower##_, NAMES(lower, UPPER); static void *found; void *next = vt_mpi_next_fortran(&found, names), \
		params, args, before, after) \
	void mpi_##lower##__ params __attribute__((alias("mpi_" #lower "_"))); \
	void mpi_##lower params __attribute__((alias("mpi_" #lower "_"))); \
	void MPI_##UPPER params __attribute__((alias("mpi_" #lower "_")));
/* clang-format on */

FORTRAN(init, INIT, (int *ierr), (ierr), before_init(NULL, NULL, "MPI_Init"), after_init(NULL, NULL, is_running()))
FORTRAN(init_thread, INIT_THREAD, (int *required, int *provided, int *ierr), (required, provided, ierr),
	before_init(NULL, NULL, "MPI_Init_thread"), after_init(NULL, NULL, is_running()))
FORTRAN(finalize, FINALIZE, (int *ierr), (ierr), end_mpi(), vt_mpi_finalized())
FORTRAN(abort, ABORT, (int *comm, int *errorcode, int *ierr), (comm, errorcode, ierr),
	vt_job_abort("MPI_Abort", *errorcode), )

/* ---- the VT interface over MPI ---- */

/* The level from VT_THREAD_LEVEL, 0 to 3; without it MPI_THREAD_FUNNELED. */
static int thread_level(void)
{
	static const int levels[] = { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
		MPI_THREAD_MULTIPLE };
	const char *text = secure_getenv("VT_THREAD_LEVEL");

	return text && text[0] >= '0' && text[0] <= '3' && !text[1] ? levels[text[0] - '0'] : MPI_THREAD_FUNNELED;
}

static VT_ErrorCode initialize(int *argc, char ***argv)
{
	int provided, over = 0;

	PMPI_Finalized(&over);
	if (over || atomic_load(&ended)) {
		return VT_ERR_BADREQUEST;
	}
	if (!is_running()) {
		if (MPI_Init_thread(argc, argv, thread_level(), &provided) != MPI_SUCCESS) {
			return VT_ERR_COMM;
		}
		atomic_store(&started_mpi, 1);
	} else {
		/* MPI was started by a library that is bound to MPI itself, so we have not seen it */
		begin_mpi(argc, argv);
	}
	return vt_self();
}

static void finalize_mpi(int status, void *unused)
{
	int over = 1;

	(void)unused;
	if (status == 0 && PMPI_Finalized(&over) == MPI_SUCCESS && !over) {
		PMPI_Finalize();
	}
}

/* "Finalizes Intel Trace Collector and underlying communication" (Intel Trace Collector guide). If VT_initialize()
 * has started MPI, this ends MPI at once. If the program has started MPI, it may still use it, as some programs do,
 * and end it itself; if it does not, MPI is ended when the program exits. */
static VT_ErrorCode finalize(void)
{
	int over = 0;

	PMPI_Finalized(&over);
	if (over || !is_running()) {
		return VT_OK;
	}
	if (atomic_load(&started_mpi)) {
		MPI_Finalize();
	} else if (!atomic_load(&ended)) {
		end_mpi();
		on_exit(finalize_mpi, NULL);
	}
	return VT_OK;
}

/* Runs before the start in preload.c, which must know that MPI is present. */
static void __attribute__((constructor(102))) add_hooks(void)
{
	vt_hooks.library = "libVT, " PACKAGE_NAME " " PACKAGE_VERSION;
	vt_hooks.initialize = initialize;
	vt_hooks.finalize = finalize;
	vt_hooks.timesync = vt_job_timesync;
}
