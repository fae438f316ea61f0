/* SPDX-License-Identifier: BSD-3-Clause */
/* SYNC-PERIOD (Intel Trace Collector guide, section 3.2.3): clock sessions while the program computes, in one thread
 * on each rank, if MPI lets several threads call it. The thread of rank 0 decides what happens next, so all ranks
 * make the same sessions in the same order. VT_timesync() becomes a request to that thread. Between sessions the
 * threads sleep in the kernel. */
#include "config.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/host/locale.h"

#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/text/text.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/mpi/job/job.h"

enum { STACK = 1 << 20 };

/* What the thread of rank 0 tells the others to do. */
enum word { A_PERIOD, A_CALL, THE_END, NOTHING };

static struct {
	struct vt_job *job;
	pthread_t thread;
	pthread_mutex_t lock; /* for all members below */
	pthread_cond_t changed;
	int running;           /* the thread was started and has not been joined */
	int over;              /* the thread will make no more sessions */
	int go;                /* 1: all ranks have their thread; -1: some have not; 0: unknown yet */
	int ending;            /* all ranks are in MPI_Finalize */
	int quit;              /* the program ends without MPI_Finalize: send nothing more */
	unsigned called, done; /* calls of VT_timesync() begun and completed */
	unsigned made;         /* sessions made so far */
	double period_s;
	struct tkm_err err; /* why the thread stopped, if not at the end */
} p = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- the thread ---- */

static struct timespec in_a_while(double s)
{
	struct timespec ts;
	int64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ns = ts.tv_nsec + (int64_t)(s * 1e9);
	return (struct timespec){ ts.tv_sec + ns / 1000000000, ns % 1000000000 };
}

static int is_timespec_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Sleeps until the period is over or a thread of this process needs something, and meanwhile reads a steered clock.
 * Returns what this rank wants to happen. */
static enum word wait_until_due(void)
{
	struct timespec due = in_a_while(p.period_s), soon;
	enum word w;

	pthread_mutex_lock(&p.lock);
	while (!p.ending && !p.quit && p.called == p.done) {
		int early;

		soon = in_a_while(cal_pair_every_s);
		early = p.job->clock.reference && is_timespec_before(&soon, &due);
		if (pthread_cond_timedwait(&p.changed, &p.lock, early ? &soon : &due) == ETIMEDOUT) {
			if (!early) {
				break;
			}
			cal_job_pair(&p.job->clock);
		}
	}
	w = p.quit ? NOTHING : p.ending ? THE_END : p.called != p.done ? A_CALL : A_PERIOD;
	pthread_mutex_unlock(&p.lock);
	return w;
}

/* Rank 0 is in VT_timesync(); waits until this rank's program has called it, too. */
static void wait_for_call(void)
{
	pthread_mutex_lock(&p.lock);
	while (!p.ending && !p.quit && p.called == p.done) {
		pthread_cond_wait(&p.changed, &p.lock);
	}
	pthread_mutex_unlock(&p.lock);
}

static int all_have_one(void)
{
	int go;

	pthread_mutex_lock(&p.lock);
	while (!p.go) {
		pthread_cond_wait(&p.changed, &p.lock);
	}
	go = p.go;
	pthread_mutex_unlock(&p.lock);
	return go > 0;
}

static int one_session(enum word w)
{
	int rc;

	if (w == A_CALL) {
		wait_for_call();
		if (cal_link_barrier(p.job->link, &p.err) < 0) {
			return -1;
		}
	}
	rc = vt_job_session(p.job, CAL_MIDDLE, &p.err);
	p.made++;
	if (w == A_CALL) {
		pthread_mutex_lock(&p.lock);
		p.done++;
		pthread_cond_broadcast(&p.changed);
		pthread_mutex_unlock(&p.lock);
	}
	return rc;
}

static void *sessions(void *arg)
{
	struct cal_link *link = p.job->link;
	enum word w = NOTHING;
	int rc = 0;

	(void)arg;
	vt_locale_c();
	prctl(PR_SET_NAME, "vtrun", 0, 0, 0);
	vt_collect_helper(VT_HELPER_CLOCK, (int)syscall(SYS_gettid));
	while (rc == 0 && w != THE_END && (w != NOTHING || all_have_one())) {
		w = wait_until_due();
		if (w == NOTHING) {
			break;
		}
		/* a rank that is early waits here for rank 0, which decides */
		rc = cal_link_bcast(link, &w, sizeof(w), &p.err);
		if (rc == 0 && w != THE_END) {
			rc = one_session(w);
		}
	}
	pthread_mutex_lock(&p.lock);
	p.over = 1;
	pthread_cond_broadcast(&p.changed);
	pthread_mutex_unlock(&p.lock);
	return NULL;
}

/* ---- the program's side ---- */

/* The smallest of the values of all ranks, so that all ranks do something or none does. */
static int smallest_of_all_ranks(int mine)
{
	int all = 0;

	return PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD) == MPI_SUCCESS ? all : 0;
}

static void set_period_flag(int *what, int to)
{
	pthread_mutex_lock(&p.lock);
	*what = to;
	pthread_cond_broadcast(&p.changed);
	pthread_mutex_unlock(&p.lock);
}

static int start_period_thread(void)
{
	pthread_condattr_t clock;
	pthread_attr_t attr;
	sigset_t all, old;
	int rc;

	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	rc = pthread_cond_init(&p.changed, &clock);
	pthread_condattr_destroy(&clock);
	if (rc) {
		return -1;
	}
	/* the sampler must not count this thread as one of the program's */
	vt_collect_helper(VT_HELPER_CLOCK, -1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&p.thread, &attr, sessions, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (rc) {
		vt_collect_helper(VT_HELPER_CLOCK, 0);
	}
	return rc ? -1 : 0;
}

/* Adds to the protocol that a thread of ours is in the program. */
static void list_thread(struct vt_job *j, const char *period)
{
	const char *lines = j->collect->job_lines;
	char *text;

	/* the previous text is kept: another thread may be writing the protocol with it */
	if (asprintf(&text, "%sINFO SESSIONS by a thread inside the program: SYNC-PERIOD %s\n", lines ? lines : "",
		    period) >= 0) {
		j->collect->job_lines = text;
	}
}

void vt_job_period_begin(struct vt_job *j)
{
	const char *text = vt_collect_option("SYNC-PERIOD");
	double s = 0;
	int level = MPI_THREAD_SINGLE, wanted = text && tkm_parse_time(text, &s) == 0 && s > 0, all, mine;

	/* the period of rank 0 counts */
	PMPI_Bcast(&wanted, 1, MPI_INT, 0, MPI_COMM_WORLD);
	PMPI_Bcast(&s, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	if (!wanted || !j->link || j->ranks < 2) {
		return;
	}
	PMPI_Query_thread(&level);
	all = smallest_of_all_ranks(level == MPI_THREAD_MULTIPLE);
	if (!all) {
		if (j->rank == 0) {
			vt_say(1, "WARNING",
				"SYNC-PERIOD %s: no clock sessions in the background, because MPI lets only one thread "
				"call it at "
				"a time here: the program has to ask MPI_Init_thread() for MPI_THREAD_MULTIPLE. "
				"VT_timesync() makes a session, "
				"besides those of MPI_Init and MPI_Finalize",
				text ? text : "");
		}
		return;
	}
	p.job = j;
	p.period_s = s > 1e-3 ? s : 1e-3;
	mine = start_period_thread() == 0;
	all = smallest_of_all_ranks(mine);
	if (mine) {
		set_period_flag(&p.go, all ? 1 : -1);
		p.running = all;
		if (!all) {
			pthread_join(p.thread, NULL);
			vt_collect_helper(VT_HELPER_CLOCK, 0);
		}
	}
	if (all && j->rank == 0) {
		list_thread(j, text ? text : "");
	}
	if (!all && j->rank == 0) {
		vt_say(1, "WARNING",
			"SYNC-PERIOD %s: no clock sessions in the background, because their thread could not be "
			"started on "
			"all ranks",
			text ? text : "");
	}
}

int vt_job_period_call(struct tkm_err *err)
{
	unsigned mine;
	int rc;

	if (!p.running) {
		return 1;
	}
	pthread_mutex_lock(&p.lock);
	mine = ++p.called;
	pthread_cond_broadcast(&p.changed);
	while (!p.over && (int)(p.done - mine) < 0) {
		pthread_cond_wait(&p.changed, &p.lock);
	}
	rc = (int)(p.done - mine) < 0 ? -1 : 0;
	if (rc < 0) {
		*err = p.err;
	}
	pthread_mutex_unlock(&p.lock);
	return rc;
}

int vt_job_period_end(struct tkm_err *err)
{
	if (!p.running) {
		return 0;
	}
	set_period_flag(&p.ending, 1);
	pthread_join(p.thread, NULL);
	vt_collect_helper(VT_HELPER_CLOCK, 0);
	p.running = 0;
	/* messages of a failed session that are still on their way must not reach the next one */
	cal_link_new_epoch(p.job->link);
	if (p.job->rank == 0) {
		vt_say(2, "INFO", "%u clock sessions in the background", p.made);
	}
	if (p.err.code == TKM_OK) {
		return 0;
	}
	*err = p.err;
	return -1;
}

void vt_job_period_quit(void)
{
	if (p.running) {
		set_period_flag(&p.quit, 1);
	}
}
