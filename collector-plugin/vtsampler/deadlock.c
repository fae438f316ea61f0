/* SPDX-License-Identifier: BSD-3-Clause */
/* Detects deadlocks by the rule of the Intel Trace Collector guide, section 2.1.2: all ranks have been inside the
 * same MPI calls for DEADLOCK-TIMEOUT. The ranks count their calls in the heads of their raw files, and what they may
 * be waiting for that is in no trace (mpi/outside.h): with that, no progress is no deadlock. At a deadlock,
 * the stack of each rank is printed on its stderr and stored, and the ranks are ended, so that the trace is made as
 * after any other end. On several hosts all samplers must find their ranks blocked. */
#include "config.h"
#include "collector-plugin/vtsampler/vtsampler.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector-plugin/vtsampler/network.h"
#include "collector-plugin/vtsampler/stack.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"

static const double default_timeout_s = 60, default_warning_s = 300;

static const struct vt_raw_head *watched(const struct vt_measured *p)
{
	const struct vt_raw_head *h = p->ended ? NULL : vt_raw_head(p->c.pub.raw);

	return h && atomic_load_explicit(&h->watched, memory_order_acquire) ? h : NULL;
}

static double option(const struct vt_measured *p, double given, double otherwise)
{
	const char *failsafe = vt_measured_text(p, "failsafe", 0);

	return given > 0 ? given : failsafe && *failsafe == '1' ? otherwise : 0;
}

/* Has the program a thread that is not inside MPI and may call it? */
static int has_free_thread(const struct vt_measured *p, const struct vt_raw_head *h, uint64_t inside)
{
	uint32_t others = atomic_load(&h->free_threads);
	char path[40];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)p->pid);
	return others && (stat(path, &st) < 0 || st.st_nlink - 2 > inside + others - 1);
}

/* Returns the seconds since the process began or ended an MPI call, if it is inside one; 0: it is in none, or
 * stopped. */
static double stuck_s(struct vt_measured *p, const struct vt_raw_head *h, int64_t now)
{
	uint64_t left = atomic_load(&h->left), entered = atomic_load(&h->entered);

	if (entered + left != p->calls || entered <= left || p->stopped_ns || atomic_load(&h->outside) > 0 ||
		has_free_thread(p, h, entered - left)) {
		p->calls = entered + left;
		p->progress_ns = now;
	}
	return 1e-9 * (double)(now - p->progress_ns);
}

/* ---- messages ---- */

struct stopping {
	struct vt_stop_output o;
	char text[2500]; /* of the report */
};

static void stack_line(void *ctx, const char *text)
{
	struct stopping *s = ctx;
	size_t n = strlen(s->text);

	vt_stop_say(&s->o, "ERROR", "  %s", text);
	snprintf(s->text + n, sizeof(s->text) - n, "\n%s", text);
}

static void report_deadlock(struct vt_measured *p, const char *type, const char *level, const char *text)
{
	vt_raw_plain_report(p->c.pub.raw, p->s->stream, vt_ticks_now(&p->c.pub), type, level, text);
}

static void stop_process(struct vt_measured *p, double timeout_s)
{
	struct stopping s;
	char why[300] = "";

	snprintf(p->stopped_why, sizeof(p->stopped_why), "deadlock, no progress for %g s", timeout_s);
	snprintf(s.text, sizeof(s.text), "no progress in any process for %g s", timeout_s);
	vt_stop_open(&s.o, p, "deadlock");
	vt_stop_say(&s.o, "ERROR",
		"GLOBAL:DEADLOCK: no progress in any process for %g s; the program is stopped, and the trace is "
		"written. The "
		"stack of this process:",
		timeout_s);
	if (vt_measured_stack(p->pid, stack_line, &s, why, sizeof(why)) < 0) {
		vt_stop_say(&s.o, "ERROR", "  unknown: %s", why);
	}
	vt_stop_close(&s.o);
	report_deadlock(p, "GLOBAL:DEADLOCK:HARD", "fatal error", s.text);
}

static void warn(struct vt_measured *p, double mean_s)
{
	struct vt_stop_output o;
	char text[100];

	snprintf(text, sizeof(text), "the processes have spent %.3g s on average in their last MPI call", mean_s);
	vt_stop_open(&o, p, "deadlock");
	vt_stop_say(&o, "WARNING", "GLOBAL:DEADLOCK:NO_PROGRESS: %s", text);
	vt_stop_close(&o);
	report_deadlock(p, "GLOBAL:DEADLOCK:NO_PROGRESS", "warning", text);
}

/* ---- the rule ---- */

/* Is the process in a function of its own that MPI has called, or may it be? Then the time counts anew. */
static int is_in_callback(struct vt_measured *p, const struct vt_raw_head *h, int64_t now)
{
	enum { MAX = sizeof(h->callbacks) / sizeof(h->callbacks[0]) };
	uint64_t object[MAX];
	char why[300] = "";
	int n;

	for (n = 0; n < MAX && (object[n] = atomic_load(&h->callbacks[n])) != 0; n++) {
	}
	if (n == 0 || (object[0] != UINT64_MAX && vt_measured_in_callback(p->pid, object, n, why, sizeof(why)) == 0)) {
		return 0;
	}
	p->progress_ns = now;
	return 1;
}

static int are_in_callbacks(struct vt_measured *list, int64_t now)
{
	static int64_t looked_ns; /* it stops the processes for some milliseconds */
	static int n;
	const struct vt_raw_head *h;
	struct vt_measured *p;

	if (looked_ns && now - looked_ns < 1000000000) {
		return n > 0;
	}
	looked_ns = now;
	n = 0;
	for (p = list; p; p = p->next) {
		h = watched(p);
		n += h && is_in_callback(p, h, now);
	}
	return n > 0;
}

void vt_look_for_deadlock(struct vt_measured *list, int64_t now)
{
	static int64_t looked_ns;
	static int warned;
	double longest = 0, least = 1e300, sum = 0, timeout = 0, warning = 0, s;
	struct vt_measured *p, *first = NULL;
	const struct vt_raw_head *h;
	int n = 0, blocked, others;

	if (now - looked_ns < 100000000) {
		return;
	}
	looked_ns = now;
	for (p = list; p; p = p->next) {
		h = watched(p);
		if (h) {
			s = stuck_s(p, h, now);
			least = s < least ? s : least;
			longest = s > longest ? s : longest;
			sum += s;
			n++;
			first = !first || p->c.pub.rank < first->c.pub.rank ? p : first;
		}
	}
	if (vt_stop_goes_on(list, now)) {
		return;
	}
	/* ranks that are not watched yet, or have ended, may go on */
	if (!first || n < vt_hosts_ranks_here()) {
		return;
	}
	timeout = option(first, first->c.settings.deadlock_timeout, default_timeout_s);
	warning = option(first, first->c.settings.deadlock_warning, default_warning_s);
	if (warning > 0 && sum / n > warning && !warned) {
		warned = 1;
		warn(first, sum / n);
	}
	blocked = timeout > 0 && least >= timeout && !are_in_callbacks(list, now);
	others = vt_hosts_are_several() ? vt_network_all_blocked(blocked) : blocked;
	if (blocked && others) {
		for (p = list; p; p = p->next) {
			if (watched(p)) {
				stop_process(p, timeout);
			}
		}
		vt_stop_all(list, now);
	}
}
