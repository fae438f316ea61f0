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

/* Opens the stderr of the rank, for these lines only. The sampler process has none. */
static int open_stderr(const struct vt_measured *p)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/fd/2", (int)p->pid);
	return open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

struct output {
	struct vt_measured *p;
	int fd;
};

static void say_deadlock(struct output *o, const char *kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void say_deadlock(struct output *o, const char *kind, const char *fmt, ...)
{
	char line[900];
	size_t n = (size_t)snprintf(line, sizeof(line), "[%d] Tickmark %s: ", o->p->c.pub.rank, kind);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	va_end(ap);
	tkm_plain(line);
	vt_raw_info(o->p->c.pub.raw, "deadlock", line + n);
	strcat(line, "\n");
	if (o->fd >= 0 && write(o->fd, line, strlen(line)) < 0) {
		/* if no program reads it, the lines are still in the trace */
		close(o->fd);
		o->fd = -1;
	}
}

static void stack_line(void *ctx, const char *text)
{
	say_deadlock(ctx, "ERROR", "  %s", text);
}

static void stop_processes(struct vt_measured *p, double timeout_s)
{
	struct output o = { p, open_stderr(p) };
	char why[300] = "";

	p->stuck_s = timeout_s;
	say_deadlock(&o, "ERROR",
		"GLOBAL:DEADLOCK: no progress in any process for %g s; the program is stopped, and the trace is "
		"written. The "
		"stack of this process:",
		timeout_s);
	if (vt_measured_stack(p->pid, stack_line, &o, why, sizeof(why)) < 0) {
		say_deadlock(&o, "ERROR", "  unknown: %s", why);
	}
	if (o.fd >= 0) {
		close(o.fd);
	}
}

static void warn(struct vt_measured *p, double mean_s)
{
	struct output o = { p, open_stderr(p) };

	say_deadlock(&o, "WARNING",
		"GLOBAL:DEADLOCK:NO_PROGRESS: the processes have spent %.3g s on average in their last MPI call",
		mean_s);
	if (o.fd >= 0) {
		close(o.fd);
	}
}

/* ---- the rule ---- */

/* Called after the stacks of all are stored, because a rank that ends may end the others. */
static void end_all(struct vt_measured *list, int signal)
{
	struct vt_measured *p;

	for (p = list; p; p = p->next) {
		if (watched(p) && p->stuck_s > 0) {
			kill(p->pid, signal);
		}
	}
}

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
	static int64_t looked_ns, ended_ns;
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
	if (ended_ns) {
		if (now - ended_ns > 2000000000) {
			end_all(list, SIGKILL);
		}
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
	others = vt_hosts_all_blocked(now, blocked);
	if (blocked && others) {
		for (p = list; p; p = p->next) {
			if (watched(p)) {
				stop_processes(p, timeout);
			}
		}
		end_all(list, SIGTERM);
		ended_ns = now;
	}
}
