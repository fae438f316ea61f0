/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines for the user: the sampler process has no standard error, so the measured process prints them when it ends. */
#include "config.h"
#include "collector-plugin/host/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "collector-plugin/vtsampler/vtsampler.h"

static struct vt_measured *listener;

void vt_say_to_measured(struct vt_measured *p)
{
	listener = p;
}

void vt_say_setup(const long long *verbose, const int *rank)
{
	(void)verbose;
	(void)rank;
}

void vt_say(int level, const char *kind, const char *fmt, ...)
{
	struct vt_measured *p = listener;
	char *to, *end;
	va_list ap;

	if (!p || p->c.settings.verbose < level || sizeof(p->lines) - p->lines_size < (level > 1 ? 8000 : 1300)) {
		return;
	}
	to = p->lines + p->lines_size;
	end = p->lines + sizeof(p->lines);
	if (p->c.pub.rank >= 0) {
		to += snprintf(to, (size_t)(end - to), "[%d] ", p->c.pub.rank);
	}
	to += snprintf(to, (size_t)(end - to), "Tickmark %s: ", kind);
	va_start(ap, fmt);
	vsnprintf(to, 1100, fmt, ap);
	va_end(ap);
	strcat(tkm_plain(to), "\n");
	p->lines_size += strlen(p->lines + p->lines_size);
}

void vt_say_defer(int tid)
{
	(void)tid;
}

void vt_say_deferred(void)
{
}

void vt_say_forked(void)
{
}

void vt_say_lines(const char *lines)
{
	(void)lines;
}
