/* SPDX-License-Identifier: BSD-3-Clause */
/* One job from MPI_Init to MPI_Finalize: which ranks take part, the clock sessions, and one trace. An error of one
 * rank is sent to all ranks, so that none waits for another. Then each rank keeps its own raw file, which stftool can
 * merge. */
#include "config.h"
#include "collector-plugin/mpi/job/job.h"
#include "collector-plugin/host/locale.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/text/text.h"
#include "calib/session/link_mpi.h"
#include "include/VT.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/hooks.h"
#include "collector-plugin/core/names.h"
#include "collector-plugin/core/thread.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/mpi/communicators.h"
#include "collector-plugin/mpi/outside.h"
#include "collector-plugin/mpi/private.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/run/finish.h"
#include "collector-plugin/run/names.h"
#include "collector-plugin/run/run.h"
#include "collector-plugin/settings/settings.h"
#include "collector-plugin/trace/trace.h"

static struct vt_job job;
static char raw_path[4096];
static int over; /* MPI_Finalize or MPI_Abort has reported the end, so nothing more is reported */

/* The worst result of all ranks, known to all of them. */
static int all_well(int rc)
{
	int mine = rc < 0, worst = 1;

	return PMPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD) == MPI_SUCCESS && !worst ? 0 : -1;
}

static void report_job(const char *what, const struct tkm_err *err)
{
	vt_say(1, "WARNING", "%s: %s", what, err->text);
}

/* Ends the clock sessions of this rank; recording into the raw file goes on. */
static void without_link(void)
{
	vt_job_page_close();
	if (job.link) {
		cal_link_close(job.link);
		job.link = NULL;
	}
}

/* Names the trace of processes that MPI_Comm_spawn() started. They are a job of their own, with a trace of its own
 * beside that of their parents, who often run the same program. */
static void name_spawned(void)
{
	MPI_Comm parent = MPI_COMM_NULL;
	char what[40];
	int pid = (int)getpid();

	if (PMPI_Comm_get_parent(&parent) == MPI_SUCCESS && parent != MPI_COMM_NULL &&
		PMPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS) {
		snprintf(what, sizeof(what), "spawned-%d", pid);
		vt_collect_rename(&vt_collector, what);
	}
}

/* Lets the sampler process see whether calls of MPI return, and look at the stacks. */
static void watch(void)
{
	const struct vt_settings *s = vt_collect_settings();
	struct vt_raw_head *h = vt_raw_head(job.collect->raw);
	MPI_Comm parent;
	int level;

	if (!vt_hooks.failsafe && !(s->deadlock_timeout > 0) && !(s->deadlock_warning > 0)) {
		return;
	}
	if (!vt_has_vtsampler()) {
		vt_say(1, "WARNING", "deadlocks are not looked for: the sampler process does that, and here %s",
			vt_collect_inside_why());
		return;
	}
	prctl(PR_SET_PTRACER, (unsigned long)atomic_load(&h->sampler), 0, 0, 0);
	vt_mpi_watched = h;
	if (PMPI_Query_thread(&level) == MPI_SUCCESS && level == MPI_THREAD_MULTIPLE) {
		vt_mpi_threads_are_free();
	}
	if (PMPI_Comm_get_parent(&parent) == MPI_SUCCESS) {
		vt_comm_of(parent);
	}
	atomic_store_explicit(&h->watched, 1, memory_order_release);
}

/* All ranks are in MPI_Finalize. The rest takes as long as our own sessions, which have time limits of their own. */
static void stop_watching(void)
{
	if (vt_mpi_watched) {
		atomic_store_explicit(&vt_mpi_watched->watched, 0, memory_order_release);
		vt_mpi_watched = NULL;
	}
}

/* Prepares the clocks of the job, and makes its first session. */
static void begin_clocks(struct tkm_err *err)
{
	int rc = vt_job_clock_open(&job, err);

	if (rc == 0) {
		vt_job_page_open(&job);
		vt_job_say_clocks(&job);
	}
	rc = rc < 0 ? rc : vt_job_session(&job, CAL_START, err);
	if (rc < 0 && err->text[0]) {
		report_job("no clock session", err);
	}
	if (all_well(rc) < 0) {
		without_link();
	}
}

/* "MPI Open MPI v4.1.4": the first line, up to a comma, of what the library says of itself. */
static void store_mpi_library(void)
{
	char text[4 + MPI_MAX_LIBRARY_VERSION_STRING + 1] = "MPI ";
	int n;

	if (job.rank == 0 && PMPI_Get_library_version(text + 4, &n) == MPI_SUCCESS) {
		text[strcspn(text, ",\n")] = '\0';
		tkm_plain(text);
		vt_raw_info(job.collect->raw, "run", text);
	}
}

/* The program has to call MPI_Finalize now. The library of OpenSHMEM ends at exit what the program has not ended. */
static void enter_mpi(void)
{
	if (!vt_hooks.shmem) {
		atomic_store(&vt_raw_head(job.collect->raw)->in_mpi, 1);
		vt_hooks.ends_later = 1;
	}
}

/* All ranks record: their hosts, the settings that depend on these, the clocks and the network. */
static void begin_together(void (*enter)(struct vt_collect *c))
{
	struct tkm_err err = { .text = "" };
	int knows_hosts = all_well(vt_job_hosts(&job, &err)) == 0;

	if (knows_hosts) {
		vt_self();
		vt_job_configure(&job);
		vt_job_protocol(&job);
	}
	store_mpi_library();
	enter(job.collect);
	begin_clocks(&err);
	vt_job_period_begin(&job);
	vt_collect_own_protocol();
	if (knows_hosts) {
		vt_job_network(&job);
	}
	watch();
	enter_mpi();
	vt_self();
}

static void begin_job_recording(int *argc, char ***argv, void (*enter)(struct vt_collect *c))
{
	struct tkm_err err = { .text = "" };
	int rank, size, rc;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &size);
	job.rank = rank;
	vt_hooks.no_mpi = 0;
	rc = vt_collect_start(rank, size, argc && argv && *argv && *argc > 0 ? (*argv)[0] : NULL, &err);
	if (rc < 0) {
		report_job("nothing is recorded", &err);
	}
	job.collect = vt_collect_running();
	job.alone = !vt_job_is_whole(&job, size);
	if (job.alone) {
		return;
	}
	/* all ranks return from MPI_Init at about the same time; if one does not come here, it usually has no libVT */
	vt_job_wait(
		"still waiting in MPI_Init for other ranks: do all of them have libVT? Either all ranks are started "
		"by vtrun or linked with -lVT, or none");
	rc = all_well(rc != 0 || !job.collect ? -1 : 0);
	vt_job_forget_decision();
	if (rc < 0) {
		return;
	}
	rc = vt_job_distribute(&job, size, &err);
	if (rc < 0) {
		report_job("the configuration of VT_CONFIG_RANK", &err);
	}
	rc = vt_job_settle_timer(&job, &err);
	if (rc < 0) {
		report_job("the timers of the ranks", &err);
	}
	if (all_well(rc) < 0) {
		without_link();
	}
	job.collect = vt_collect_running();
	if (all_well(job.collect ? 0 : -1) < 0) {
		without_link();
		return;
	}
	job.collect->together = size > 1;
	vt_record_begin(job.collect);
	name_spawned();
	snprintf(raw_path, sizeof(raw_path), "%s", vt_raw_path(job.collect->raw));
	begin_together(enter);
}

void vt_job_begin(int *argc, char ***argv, void (*enter)(struct vt_collect *c))
{
	locale_t was = vt_locale_c();

	begin_job_recording(argc, argv, enter);
	vt_locale_back(was);
}

static VT_ErrorCode timesync(void)
{
	struct tkm_err err = { .text = "" };
	int rc;

	if (!job.link) {
		return VT_OK;
	}
	rc = vt_job_period_call(&err);
	if (rc <= 0) {
		if (rc < 0) {
			report_job("VT_timesync", &err);
		}
		return rc < 0 ? VT_ERR_COMM : VT_OK;
	}
	/* there is no time limit here, because another rank may compute for long before its call; there is one in the
	 * session */
	PMPI_Barrier(cal_link_comm(job.link));
	rc = vt_job_session(&job, CAL_MIDDLE, &err);
	if (rc < 0) {
		report_job("VT_timesync", &err);
	}
	if (all_well(rc) < 0) {
		without_link();
		return VT_ERR_COMM;
	}
	return VT_OK;
}

VT_ErrorCode vt_job_timesync(void)
{
	locale_t was = vt_locale_c();
	VT_ErrorCode rc = timesync();

	vt_locale_back(was);
	return rc;
}

/* By all ranks together, before PMPI_Finalize: if a rank is gone, some launchers end the whole job, and the writer
 * with it, with an exit status of their own. */
static void write_job_trace(void)
{
	struct tkm_err err = { .text = "" };
	int rc = vt_job_bring(&job, &err), i, later = 0, keep = vt_collect_settings()->keep_raw_events;

	if (all_well(rc) < 0 && rc == 0) {
		rc = tkm_fail(&err, TKM_ERR_IO, "another rank could not send its raw data");
	}
	rc = rc == 0 && job.rank == job.writer ? vt_job_merge(&job, &err) : rc;
	if (job.rank == job.writer && rc < 0 && err.code == TKM_ERR_TIMEOUT) {
		vt_collect_say_later(&vt_collector, "MPI_Finalize", &err);
		later = 1;
		rc = 0;
	}
	if (job.rank == job.writer && rc < 0) {
		report_job("no trace was written, the raw files are kept", &err);
	}
	for (i = 0; job.rank == job.writer && !later && i < job.ranks; i++) {
		if (job.copy[i]) {
			unlink(job.copy[i]);
		}
	}
	vt_job_wait(NULL);
	PMPI_Bcast(&rc, 1, MPI_INT, job.writer, MPI_COMM_WORLD);
	/* the writer has removed the raw files that it sees */
	if (rc == 0 && !keep && job.need[job.rank]) {
		vt_job_say_before(&job);
		unlink(raw_path);
	}
}

/* Reports once for all ranks together: a line from each could be a thousand lines. */
static void report_job_account(void)
{
	const struct vt_account *a = vt_collect_account();
	double seconds = 1e-9 * (double)a->wall_ns;
	struct {
		double most;
		int rank;
	} own[] = { { a->wall_ns ? 1e-9 * (double)a->cpu_ns / seconds : 0, job.rank },
		{ 1e-9 * (double)a->longest_ns, job.rank }, { 1e-9 * (double)a->latest_ns, job.rank },
		{ seconds, job.rank } },
	  all[4];
	char tick[40], late[40];
	int ranks;

	PMPI_Reduce(own, all, 4, MPI_DOUBLE_INT, MPI_MAXLOC, 0, MPI_COMM_WORLD);
	PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (job.rank != 0 || ranks < 2) {
		return;
	}
	vt_say(all[3].most < 1 ? 2 : 1, "INFO",
		"sampler used at most %.3f%% CPU (rank %d), longest tick %s (rank %d), latest wake-up %s (rank %d), %d "
		"ranks",
		100 * all[0].most, all[0].rank, tkm_print_time(tick, sizeof(tick), all[1].most, 0), all[1].rank,
		tkm_print_time(late, sizeof(late), all[2].most, 0), all[2].rank, ranks);
}

static void end_recording(uint32_t function)
{
	vt_trace_leave_unsampled(function);
	vt_collect_end(0);
}

/* Makes the clock session at the end, and the trace. */
static void end_job_recording(uint32_t function)
{
	struct tkm_err err = { .text = "" };
	int rc;

	over = 1;
	if (!job.link) {
		end_recording(function);
		return;
	}
	/* not with the program's communicator, where a rank that lacks a call would meet this one, and nobody would wait any more */
	PMPI_Barrier(cal_link_comm(job.link));
	stop_watching();
	if (vt_job_period_end(&err) < 0) {
		report_job("clock sessions in the background ended early", &err);
		err.text[0] = '\0';
	}
	job.clock_s -= PMPI_Wtime();
	rc = vt_job_session(&job, CAL_END, &err);
	job.clock_s += PMPI_Wtime();
	if (rc < 0) {
		report_job("no clock session", &err);
	} else if (job.rank == 0) {
		vt_say(2, "INFO", "clock sessions at start and end took %.3f ms", job.clock_s * 1e3);
	}
	end_recording(function);
	if (all_well(rc) == 0) {
		report_job_account();
		vt_job_cpus(&job);
		rc = vt_job_gather(&job, raw_path, &err);
		if (rc < 0) {
			report_job("no common trace", &err);
		}
		rc = all_well(rc);
	} else {
		rc = -1;
	}
	if (rc == 0) {
		write_job_trace();
	}
	without_link();
	/* Over TCP, MPICH 4.0 does not end a connection to a rank that is already in MPI_Finalize
	 * (https://github.com/pmodels/mpich/pull/6596). Some ranks have just been sleeping, so let all arrive first. */
	PMPI_Barrier(MPI_COMM_WORLD);
}

/* The program has called MPI_Finalize, also if the recording is over by now. */
static void leave_mpi(void)
{
	struct vt_raw_head *head = vt_life.here && job.collect ? vt_raw_head(job.collect->raw) : NULL;

	if (head) {
		atomic_store(&head->in_mpi, 0);
	}
	vt_hooks.ends_later = 0;
}

void vt_job_end(uint32_t function)
{
	locale_t was;

	leave_mpi();
	if (job.alone) {
		/* the recording ends with the program, like one that does not use MPI */
		vt_trace_leave_unsampled(function);
		vt_job_forget_decision();
		return;
	}
	/* a rank that waits here for the others is as stuck as one in a call of MPI */
	vt_mpi_count(1, 0);
	vt_call_finalize();
	if (job.host_name && vt_collect_running()) {
		vt_job_groups(&job, 1);
	}
	was = vt_locale_c();
	end_job_recording(function);
	vt_locale_back(was);
}

/* Reports where the samples are, once, from the lowest rank that has something to report. */
static void say_kept(const char *how)
{
	char text[9100];

	if (job.collect && job.collect->together && !over && (vt_has_vtsampler() || vt_is_watched())) {
		vt_say(1, "INFO", "%s: %s is written when all ranks have ended", how, vt_collect_trace());
	} else if (job.collect && job.collect->together && !over) {
		vt_say(1, "INFO", "%s: no trace was written; %s makes one of what all ranks have recorded", how,
			vt_collect_command(&vt_collector, text, sizeof(text)));
	}
}

void vt_job_abort(const char *how, int code)
{
	/* the head has room for no other ones */
	uint32_t known = code >= 0 && code < VT_RAW_ENDED_STATUS - 1 ? 1 + (uint32_t)code : 0;

	say_kept(how);
	vt_job_forget_decision();
	vt_job_period_quit();
	over = 1;
	vt_collect_end_how(vt_has_vtsampler(), VT_RAW_ENDED_ABORT + VT_RAW_ENDED_STATUS * known);
}

__attribute__((constructor)) static void libvt_loaded(void)
{
	vt_hooks.no_mpi = 1;
}

__attribute__((destructor)) static void unloaded(void)
{
	vt_job_period_quit();
	/* a child of a rank has no part in the job */
	if (vt_life.here) {
		say_kept(vt_hooks.shmem ? "the program ended without shmem_finalize"
					: "the program ended without MPI_Finalize");
		vt_mpi_say_missed();
	}
}
