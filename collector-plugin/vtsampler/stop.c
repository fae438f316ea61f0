/* SPDX-License-Identifier: BSD-3-Clause */
/* Stops measured processes, so that the trace is made as after any other end: SIGTERM to all, SIGKILL two seconds later to
 * those that are left. The reasons are a deadlock (deadlock.c) and the file STOPFILE-NAME (Intel Trace Collector guide,
 * section 3.2.3). */
#include "config.h"
#include "collector-plugin/vtsampler/vtsampler.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text/text.h"
#include "collector-plugin/raw/writer.h"

enum { LOOK_NS = 500000000, KILL_NS = 2000000000 };

void vt_stop_open(struct vt_stop_output *o, struct vt_measured *p, const char *name)
{
	*o = (struct vt_stop_output){ p, vt_measured_open_stderr(p), name };
}

void vt_stop_say(struct vt_stop_output *o, const char *kind, const char *fmt, ...)
{
	char line[900];
	size_t n = (size_t)snprintf(line, sizeof(line), "[%d] Tickmark %s: ", o->p->c.pub.rank, kind);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	va_end(ap);
	tkm_plain(line);
	vt_raw_info(o->p->c.pub.raw, o->name, line + n);
	strcat(line, "\n");
	if (o->fd >= 0 && write(o->fd, line, strlen(line)) < 0) {
		/* if no program reads it, the lines are still in the trace */
		close(o->fd);
		o->fd = -1;
	}
}

void vt_stop_close(struct vt_stop_output *o)
{
	if (o->fd >= 0) {
		close(o->fd);
	}
}

/* Called after the stacks of all are stored, because a rank that ends may end the others. */
static void signal_stopped(struct vt_measured *list, int signal)
{
	struct vt_measured *p;

	for (p = list; p; p = p->next) {
		if (!p->ended && p->stopped_why[0]) {
			kill(p->pid, signal);
		}
	}
}

static int64_t stopped_ns; /* 0: nothing is stopped */

void vt_stop_all(struct vt_measured *list, int64_t now)
{
	signal_stopped(list, SIGTERM);
	stopped_ns = now;
}

int vt_stop_goes_on(struct vt_measured *list, int64_t now)
{
	if (stopped_ns && now - stopped_ns > KILL_NS) {
		signal_stopped(list, SIGKILL);
	}
	return stopped_ns != 0;
}

/* Is the stop file there? A relative name begins in the folder of the trace. */
static const char *find_stop_file(const struct vt_measured *p, char *path, size_t size)
{
	const char *name = p->ended ? NULL : vt_settings_other(&p->c.settings, "STOPFILE-NAME"),
		   *slash = strrchr(p->c.trace, '/');

	if (!name || !*name) {
		return NULL;
	}
	snprintf(path, size, "%.*s%s", *name != '/' && slash ? (int)(slash + 1 - p->c.trace) : 0, p->c.trace, name);
	return access(path, F_OK) == 0 ? path : NULL;
}

void vt_stop_look_for_file(struct vt_measured *list, int64_t now)
{
	static int64_t looked_ns;
	const char *found = NULL;
	struct vt_stop_output o;
	struct vt_measured *p;
	char path[2100];

	if (now - looked_ns < LOOK_NS || vt_stop_goes_on(list, now)) {
		return;
	}
	looked_ns = now;
	for (p = list; p && !found; p = p->next) {
		found = find_stop_file(p, path, sizeof(path));
	}
	if (!found) {
		return;
	}
	for (p = list; p; p = p->next) {
		if (!p->ended) {
			snprintf(p->stopped_why, sizeof(p->stopped_why), "the stop file %.120s was there", found);
			vt_stop_open(&o, p, "stop file");
			vt_stop_say(&o, "INFO",
				"the stop file %s is there: the program is stopped, and the trace is written", found);
			vt_stop_close(&o);
		}
	}
	unlink(found);
	vt_stop_all(list, now);
}
