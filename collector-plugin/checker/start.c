/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and end of MPI in a program that is checked, and every way in which the program ends. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collector-plugin/host/say.h"
#include "collector-plugin/settings/run_value.h"

static pid_t own_pid;

/* ---- exit and signals ---- */

/* MPI was begun otherwise than by MPI_Init: by OpenSHMEM, for example. */
static int began_unseen(void)
{
	int begun = 0;

	return !vt_mc_running && !vt_mc_over && PMPI_Initialized(&begun) == MPI_SUCCESS && begun;
}

static void at_exit(int status, void *arg)
{
	(void)arg;
	if (own_pid != getpid()) {
		return;
	}
	if (vt_mc_running && !vt_mc_over && !vt_mc_stopping) {
		vt_mc_report(VT_MC_EXIT, NULL, NULL, "the process ends with status %d and has not called MPI_Finalize",
			status);
	}
	if (vt_launcher_rank() <= 0 && began_unseen()) {
		vt_mc_say("the program used MPI and did not call MPI_Init: nothing was checked");
	}
	if (status == 0 && vt_mc_errors > 0) {
		fflush(NULL);
		_exit(1);
	}
}

static const int fatal_signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

static void on_signal(int signal, siginfo_t *info, void *context)
{
	struct vt_mc_call k = { .f = NULL };
	static const struct vt_mc_function none = { .text = "" };
	struct vt_mc_place here;
	char frames[2000];

	(void)context;
	if (vt_mc_stopping || vt_mc_over) {
		_exit(128 + signal);
	}
	k.f = (struct vt_mc_function *)(uintptr_t)&none;
	vt_mc_here(&here, &k);
	snprintf(frames, sizeof(frames), "   ");
	vt_mc_print_frames(&here, "\n         ", frames + 3, sizeof(frames) - 3);
	vt_mc_report_lines(VT_MC_SIGNAL, frames, "the process gets signal %d (%s) at address %p", signal,
		strsignal(signal), info ? info->si_addr : NULL);
	_exit(128 + signal);
}

/* Those that the program does not handle itself. */
static void catch_signals(void)
{
	struct sigaction own = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESETHAND }, old;
	size_t i;

	for (i = 0; i < sizeof(fatal_signals) / sizeof(fatal_signals[0]); i++) {
		if (sigaction(fatal_signals[i], NULL, &old) == 0 && vt_mc_on(VT_MC_SIGNAL)) {
			sigaction(fatal_signals[i], &own, NULL);
		}
	}
}

/* ---- MPI_Init, MPI_Finalize, MPI_Abort ---- */

/* What the program starts from now on is not a rank. */
static void leave_preload(void)
{
	const char *old = getenv("LD_PRELOAD"), *at = old ? strstr(old, "libVTmc.so") : NULL, *begin = at, *end;
	char kept[8192];

	if (!at || strlen(old) >= sizeof(kept)) {
		return;
	}
	while (begin > old && begin[-1] != ':' && begin[-1] != ' ') {
		begin--;
	}
	end = at + strlen("libVTmc.so");
	end += *end != '\0';
	snprintf(kept, sizeof(kept), "%.*s%s", (int)(begin - old), old, end);
	if (kept[0]) {
		setenv("LD_PRELOAD", kept, 1);
	} else {
		unsetenv("LD_PRELOAD");
	}
}

static void begin_checking(void)
{
	MPI_Comm parent = MPI_COMM_NULL;

	if (vt_mc_running || vt_mc_over) {
		return;
	}
	PMPI_Comm_get_parent(&parent);
	own_pid = getpid();
	leave_preload();
	vt_mc_shared_begin();
	vt_mc_request_learn();
	vt_mc_suppress_begin();
	vt_mc_type_again = vt_mc_pending_lose;
	vt_mc_objects_begin();
	vt_mc_handler(MPI_COMM_WORLD);
	vt_mc_handler(MPI_COMM_SELF);
	catch_signals();
	vt_mc_threads_begin();
	if (vt_mc_rank == 0 && vt_mc_shared) {
		vt_say(2, "INFO", "libVTmc checks the calls of %d ranks", vt_mc_shared->ranks);
	}
	if (vt_mc_rank == 0 && vt_mc_traces_nothing()) {
		vt_mc_say("CHECK-TRACING: no trace is written, because libVT is not there; start the program by vtrun "
			  "--check-mpi --check-tracing on");
	}
	if (vt_mc_rank == 0 && vt_mc_unknown_check()) {
		vt_mc_say("CHECK %s: there is no check of this name; man VT has those that are not done",
			vt_mc_unknown_check());
	}
	vt_mc_running = 1;
}

/* ---- what is left ---- */

/* Adds what was left, if it is to be shown, to the lines of a report. Returns 0 if it is suppressed. */
static int add_left(
	char *lines, size_t size, int shown, enum vt_mc_class class, const char *what, const struct vt_mc_place *made)
{
	char frames[800], one[1100];
	size_t n = strlen(lines);

	shown &= n < size - 1000;
	if (!shown && !vt_mc_option("CHECK-SUPPRESS")) {
		return 1;
	}
	vt_mc_print_frames(made, "\n         ", frames, sizeof(frames));
	snprintf(one, sizeof(one), "%s   %s\n", what, frames);
	if (vt_mc_suppress(class, one)) {
		return 0;
	}
	if (shown) {
		snprintf(lines + n, size - n, "%s", one);
	}
	return 1;
}

static void report_requests(void)
{
	char lines[5000] = "", line[200];
	long long most = vt_mc_limit("CHECK-LEAK-REPORT-SIZE", 10);
	struct vt_mc_pending *p;
	void *at = NULL;
	int total = 0;

	while (vt_mc_on(VT_MC_REQUEST_LEFT) && (p = vt_mc_pending_known(&at))) {
		if (!p->freed && vt_mc_pending_lives(p)) {
			snprintf(line, sizeof(line), "   %s by %s", p->active ? "active, started" : "inactive, made",
				p->made.f->text);
			total += add_left(lines, sizeof(lines), total < most, VT_MC_REQUEST_LEFT, line, &p->made);
		}
	}
	if (total) {
		vt_mc_report_lines(VT_MC_REQUEST_LEFT, lines, "%d request%s not completed or freed before MPI_Finalize",
			total, total == 1 ? " is" : "s are");
	}
}

/* Libraries may keep what they make in attributes, which MPI_Finalize deletes. */
static int is_reported(const struct vt_mc_object *o)
{
	return !o->freed && !o->predefined && o->made.n && vt_mc_in_program(o->made.pc[0]) && o->kind != VT_MC_INFO &&
		o->kind != VT_MC_ERRHANDLER;
}

static void report_leaks(void)
{
	char lines[5000], line[200];
	const struct vt_mc_object *o;
	long long most = vt_mc_limit("CHECK-LEAK-REPORT-SIZE", 10);
	enum vt_mc_class class;
	int kind, n;

	for (kind = 0; kind < VT_MC_KINDS; kind++) {
		class = kind == VT_MC_TYPE      ? VT_MC_DATATYPE_LEFT
			: kind == VT_MC_MESSAGE ? VT_MC_PENDING
						: VT_MC_OBJECT_LEFT;
		n = 0;
		lines[0] = '\0';
		for (o = NULL; vt_mc_on(class) && (o = vt_mc_object_next((enum vt_mc_kind)kind, o));) {
			if (is_reported(o)) {
				snprintf(line, sizeof(line), "   made by %s", o->made.f->text);
				n += add_left(lines, sizeof(lines), n < most, class, line, &o->made);
			}
		}
		if (n) {
			vt_mc_report_lines(class, lines, "%d %s%s not %s before MPI_Finalize", n,
				vt_mc_kind_name((enum vt_mc_kind)kind), n == 1 ? " is" : "s are",
				kind == VT_MC_MESSAGE ? "received" : "freed");
		}
	}
}

static void end_checking(void *pc)
{
	static struct vt_mc_function f = {
		.text = "MPI_Finalize", .length = sizeof("MPI_Finalize") - 1, .params = "(void)", .more = ""
	};
	struct vt_mc_call k = { .f = &f, .pc = pc };
	if (!vt_mc_running) {
		return;
	}
	f.n = 0;
	memset(f.at, -1, sizeof(f.at));
	f.ready = 1;
	vt_mc_lock();
	vt_mc_buffers_compare(&k);
	report_requests();
	vt_mc_unlock();
	if (vt_mc_shared) {
		vt_mc_finalize_meets(&k);
		vt_mc_report_meetings();
	}
	vt_mc_lock();
	vt_mc_report_pending();
	report_leaks();
	vt_mc_unlock();
	vt_mc_running = 0;
	vt_mc_over = 1;
	/* all ranks have made their reports now */
	PMPI_Barrier(MPI_COMM_WORLD);
	if (vt_mc_shared) {
		vt_mc_shared->rank[vt_mc_rank].state = VT_MC_ENDED;
	}
	if (vt_mc_rank == 0) {
		vt_mc_summary();
	}
	vt_mc_suppress_end();
	vt_mc_progress_end();
}

/* libVT calls this by its name (run/errors.h). */
__attribute__((visibility("default"))) void vt_check_end(void);
void vt_check_end(void)
{
	end_checking(NULL);
}

#define NEXT(name) dlsym(RTLD_NEXT, name)

/* MPI is begun once and ended once. Returns 1, and reports it, if this call comes too late for that. */
static int comes_again(const char *name, int comes, const char *why, void *pc)
{
	struct vt_mc_function f = { .text = name, .length = strlen(name), .params = "(void)", .more = "", .ready = 1 };
	struct vt_mc_call k = { .f = &f, .pc = vt_mc_caller(pc) };

	memset(f.at, -1, sizeof(f.at));
	if (comes) {
		vt_mc_report(VT_MC_CALL_FAILED, &k, NULL, "%s", why);
	}
	return comes;
}

#define BEGUN "MPI was begun before: MPI_Init and MPI_Init_thread are called once"

int MPI_Init(int *argc, char ***argv)
{
	int (*next)(int *, char ***) = (int (*)(int *, char ***))NEXT("MPI_Init");
	int rc;

	if (comes_again("MPI_Init", vt_mc_running || vt_mc_over, BEGUN, __builtin_return_address(0))) {
		return MPI_ERR_OTHER;
	}
	vt_mc_threads_before_init();
	rc = next ? next(argc, argv) : PMPI_Init(argc, argv);
	if (rc == MPI_SUCCESS) {
		begin_checking();
	}
	return rc;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int (*next)(int *, char ***, int, int *) = (int (*)(int *, char ***, int, int *))NEXT("MPI_Init_thread");
	int rc;

	if (comes_again("MPI_Init_thread", vt_mc_running || vt_mc_over, BEGUN, __builtin_return_address(0))) {
		return MPI_ERR_OTHER;
	}
	vt_mc_threads_before_init();
	rc = next ? next(argc, argv, required, provided) : PMPI_Init_thread(argc, argv, required, provided);
	if (rc == MPI_SUCCESS) {
		begin_checking();
	}
	return rc;
}

int MPI_Finalize(void)
{
	int (*next)(void) = (int (*)(void))NEXT("MPI_Finalize");
	int ended = 0;

	PMPI_Finalized(&ended);
	if (comes_again("MPI_Finalize", ended, "MPI was ended before: MPI_Finalize is called once",
		    __builtin_return_address(0))) {
		return MPI_ERR_OTHER;
	}
	end_checking(vt_mc_caller(__builtin_return_address(0)));
	return next ? next() : PMPI_Finalize();
}

int MPI_Abort(MPI_Comm comm, int errorcode)
{
	int (*next)(MPI_Comm, int) = (int (*)(MPI_Comm, int))NEXT("MPI_Abort");
	char line[200];

	if (vt_mc_running && !vt_mc_over) {
		snprintf(line, sizeof(line),
			"[%d] INFO: MPI_Abort with %d ends the job: it was not checked to its end\n", vt_mc_rank,
			errorcode);
		vt_say_lines(line);
	}
	vt_mc_over = 1;
	return next ? next(comm, errorcode) : PMPI_Abort(comm, errorcode);
}

__attribute__((constructor)) static void libvtmc_loaded(void)
{
	own_pid = getpid();
	vt_mc_tracing_begin();
	vt_mc_settings_begin();
	on_exit(at_exit, NULL);
}
