/* SPDX-License-Identifier: BSD-3-Clause */
/* What each wrapper does before and after the call of MPI. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static __thread int depth; /* calls of this thread that are under way */
__thread void *vt_mc_fortran_pc;

void *vt_mc_next(struct vt_mc_function *f, void *own)
{
	void *next = __atomic_load_n(&f->next, __ATOMIC_RELAXED);

	if (!next) {
		next = dlsym(RTLD_NEXT, f->text);
		next = next ? next : own;
		__atomic_store_n(&f->next, next, __ATOMIC_RELAXED);
	}
	return next;
}

void vt_mc_prepare(struct vt_mc_function *f)
{
	/* not vt_mc_lock(), since any thread may make some of the calls even where that is not needed */
	static pthread_mutex_t learning = PTHREAD_MUTEX_INITIALIZER;

	if (__atomic_load_n(&f->ready, __ATOMIC_ACQUIRE)) {
		return;
	}
	pthread_mutex_lock(&learning);
	if (!f->ready) {
		vt_mc_learn(f);
		vt_mc_objects_learn(f);
		vt_mc_threads_learn(f);
		vt_mc_parameters_learn(f);
		vt_mc_meetings_learn(f);
		__atomic_store_n(&f->ready, 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&learning);
}

/* Calls that may come before MPI_Init and after MPI_Finalize, since MPI-4. */
static int is_allowed_outside(const struct vt_mc_call *k)
{
	static const char *const begins[] = { "Info_", "Session_", "Comm_create_from_group", "Group_",
		"Comm_create_errh", "Errhandler_", "Add_error", "Error_", "Get_", "Comm_disconnect", NULL };
	int i;

	for (i = 0; begins[i] && strncmp(k->f->text + 4, begins[i], strlen(begins[i])); i++) {
	}
	return begins[i] != NULL;
}

static void check_phase(struct vt_mc_call *k)
{
	int begun = 0, ended = 0;

	PMPI_Initialized(&begun);
	PMPI_Finalized(&ended);
	if ((!begun || ended) && !is_allowed_outside(k)) {
		vt_mc_report(VT_MC_CALL_FAILED, k, NULL, "%s is called %s", k->f->text,
			ended ? "after MPI_Finalize" : "before MPI_Init");
		k->refused = 1;
		k->rc = MPI_ERR_OTHER;
	}
}

static int refuse_wrong(struct vt_mc_call *k)
{
	char why[300];
	int class = vt_mc_parameters_wrong(k, why, sizeof(why));

	if (class == VT_MC_CLASSES) {
		return 0;
	}
	k->refused = 1;
	k->rc = k->rc ? k->rc : MPI_ERR_ARG;
	if (vt_mc_on((enum vt_mc_class) class)) {
		vt_mc_report((enum vt_mc_class) class, k, NULL, "%s", why);
	}
	return 1;
}

/* Only about requests: most programs make these calls most often, many of them in a loop until something has come. */
static int is_about_requests(const struct vt_mc_call *k)
{
	return k->f->sort >= VT_MC_WAIT && k->f->sort <= VT_MC_TESTSOME;
}

/* With vt_mc_lock(). */
static void check_call(struct vt_mc_call *k)
{
	vt_mc_buffers_compare(k);
	if (k->f->checked && refuse_wrong(k)) {
		return;
	}
	if (is_about_requests(k)) {
		vt_mc_requests_before(k);
		return;
	}
	vt_mc_buffers_of_call(k);
	if (!k->refused) {
		vt_mc_objects_before(k);
		vt_mc_requests_before(k);
		vt_mc_window_before(k);
	}
}

/* Of the communicator that the call frees. */
static void look_at_messages(const struct vt_mc_call *k)
{
	const struct vt_mc_object *comm;

	vt_mc_lock();
	comm = vt_mc_object(VT_MC_COMM, vt_mc_handle_at(VT_MC_COMM, (void *)k->w[0]));
	vt_mc_unlock();
	vt_mc_messages_look(comm, 1);
}

int vt_mc_before(struct vt_mc_call *k)
{
	if (!__atomic_load_n(&k->f->ready, __ATOMIC_ACQUIRE)) {
		vt_mc_prepare(k->f);
	}
	k->pc = depth ? k->pc : vt_mc_caller(vt_mc_fortran_pc ? vt_mc_fortran_pc : k->pc);
	if (depth || !vt_mc_running) {
		k->mute = 1;
		if (!depth) {
			check_phase(k);
		}
		depth++;
		return k->refused;
	}
	vt_mc_thread_enters(k);
	depth++;
	if (k->mute) {
		return 0;
	}
	if (vt_mc_shared) {
		vt_mc_shared->rank[vt_mc_rank].calls++;
		vt_mc_leave_loop(k);
	}
	vt_mc_lock();
	check_call(k);
	vt_mc_unlock();
	if (is_about_requests(k)) {
		return k->refused || vt_mc_perform(k);
	}
	vt_mc_meeting_before(k);
	if (!k->refused && vt_mc_shared && k->f->sort == VT_MC_GROUPCOMM) {
		vt_mc_parties_meet(k);
	}
	if (k->refused || k->done) {
		return 1;
	}
	if (k->f->sort == VT_MC_WIN_FREE) {
		vt_mc_race_forget(k);
	} else if (k->f->sort == VT_MC_COMM_FREE && vt_mc_shared) {
		look_at_messages(k);
	}
	vt_mc_epoch_before(k);
	vt_mc_message_race(k);
	return vt_mc_perform(k);
}

/* Is this result one that a right program may get from calls about files and names? */
static int is_answer(const struct vt_mc_call *k, int class)
{
	enum vt_mc_sort s = k->f->sort;

	if (class == MPI_ERR_AMODE || ((s == VT_MC_IO || s == VT_MC_IO_POSTED) && class == MPI_ERR_ACCESS)) {
		return 0;
	}
	return s == VT_MC_OUTSIDE || s == VT_MC_IO || s == VT_MC_IO_POSTED || s == VT_MC_FILE_OPEN ||
		s == VT_MC_FILE_CLOSE || s == VT_MC_JOINED || class == MPI_ERR_PENDING ||
		strstr(k->f->text, "keyval") || strstr(k->f->text, "Info_") || strstr(k->f->text, "errhandler");
}

static void report_failure(struct vt_mc_call *k, int rc)
{
	char text[MPI_MAX_ERROR_STRING + 1] = "";
	int class = MPI_ERR_UNKNOWN, n;

	PMPI_Error_class(rc, &class);
	PMPI_Error_string(rc, text, &n);
	if (!is_answer(k, class)) {
		vt_mc_report(strstr(k->f->text, "_free") ? VT_MC_FREE_FAILED : VT_MC_CALL_FAILED, k, NULL,
			"MPI reports: %s", text);
	}
}

int vt_mc_after(struct vt_mc_call *k, int rc)
{
	depth--;
	if (k->mute) {
		return rc;
	}
	vt_mc_thread_leaves(k);
	if (k->shown) {
		vt_mc_watch_end(k);
		vt_mc_wait_over();
	}
	vt_mc_lock();
	k->rc = rc;
	if (k->refused) {
		vt_mc_requests_release(k);
	} else {
		vt_mc_requests_after(k);
		if (rc == MPI_SUCCESS && !is_about_requests(k)) {
			vt_mc_objects_after(k);
			vt_mc_window_after(k);
			vt_mc_epoch_after(k);
			vt_mc_bsend_after(k);
			vt_mc_bcast_received(k);
		} else if (rc != MPI_SUCCESS) {
			depth++;
			report_failure(k, rc);
			depth--;
		}
	}
	vt_mc_window_leaves(k);
	vt_mc_buffers_show();
	vt_mc_unlock();
	return k->rc;
}
