/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the library's messages on standard error, or keeps them until they can be printed. */
#include "config.h"
#include "collector-plugin/host/say.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "collector-plugin/host/locale.h"
#include "collector-plugin/host/lock.h"
#include "collector-plugin/host/memory.h"

/* Of the end of a run: the lines of the merge and its summary, which are as many as its answer has room for, and some more. */
enum { KEPT_SIZE = 1 << 17 };

static struct {
	const long long *verbose;
	const int *rank;
	_Atomic int deferred; /* tid of the thread whose lines are kept; 0: none */
	char text[KEPT_SIZE]; /* the kept lines; the pages of it that are not used are never there */
	_Atomic int used;
	void (*put)(int level, const char *line); /* NULL: to standard error */
} say;

void vt_say_to(void (*put)(int level, const char *line))
{
	say.put = put;
}

void vt_say_setup(const long long *verbose, const int *rank)
{
	say.verbose = verbose;
	say.rank = rank;
}

void vt_say_defer(int tid)
{
	atomic_store(&say.deferred, tid);
}

/* Who reads standard error, which does not block, has so long to make room. */
enum { PATIENCE_MS = 100 };

/* Writes a line with one system call if there is room for it, not through the program's stdio. Returns -1 if nothing could be written,
 * for example because the program has closed its standard error. */
static int put_say_message(const char *line)
{
	struct pollfd room = { STDERR_FILENO, POLLOUT, 0 };
	size_t size = strlen(line), done = 0;
	int patience = vt_lock_is_without_calls() ? 0 : 10;
	struct vt_lock held;
	ssize_t n = 0;

	vt_writes_begin(&held);
	while (done < size) {
		n = write(STDERR_FILENO, line + done, size - done);
		if (n > 0) {
			done += (size_t)n;
		} else if (n == 0 || patience-- <= 0 ||
			(errno != EINTR && (errno != EAGAIN || poll(&room, 1, PATIENCE_MS) <= 0))) {
			break;
		}
	}
	vt_writes_end(&held);
	return done ? 0 : -1;
}

/* Does this thread have a table of descriptors of its own, without standard error? */
static int must_defer(void)
{
	int deferred = atomic_load(&say.deferred);

	return deferred && deferred == (int)syscall(SYS_gettid);
}

/* Keeps whole lines, or none of them. */
static void defer_lines(const char *lines)
{
	int used = atomic_load(&say.used);
	size_t n = strlen(lines);

	if (n < (size_t)(KEPT_SIZE - used)) {
		memcpy(say.text + used, lines, n + 1);
		atomic_store_explicit(&say.used, used + (int)n, memory_order_release);
	}
}

void vt_say(int level, const char *kind, const char *fmt, ...)
{
	int n = 0;
	char line[1200];
	locale_t was;
	va_list ap;

	if (!say.verbose || *say.verbose < level) {
		return;
	}
	if (*say.rank >= 0) {
		n = snprintf(line, sizeof(line), "[%d] ", *say.rank);
	}
	n += snprintf(line + n, sizeof(line) - (size_t)n, "Tickmark %s: ", kind);
	va_start(ap, fmt);
	was = vt_locale_c();
	vsnprintf(line + n, sizeof(line) - (size_t)n - 1, fmt, ap);
	vt_locale_back(was);
	va_end(ap);
	strcat(tkm_plain(line), "\n");
	if (say.put) {
		say.put(level, line);
		return;
	}
	vt_say_lines(line);
}

void vt_say_lines(const char *lines)
{
	if (must_defer()) {
		defer_lines(lines);
	} else if (*lines) {
		put_say_message(lines);
	}
}

void vt_say_unready(const char *line)
{
	static _Atomic int said;
	const char *verbose = getenv("VT_VERBOSE");

	if (!say.verbose && !(verbose && (!strcmp(verbose, "0") || !strcasecmp(verbose, "off"))) &&
		!atomic_exchange(&said, 1)) {
		put_say_message(line);
	}
}

void vt_say_deferred(void)
{
	int used = atomic_load_explicit(&say.used, memory_order_acquire);

	if (used > 0 && put_say_message(say.text) == 0) {
		atomic_store(&say.used, 0);
	}
}

void vt_say_forked(void)
{
	VT_SET_IF_OTHER(say.deferred, 0);
	VT_SET_IF_OTHER(say.used, 0);
}
