/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines for the user: the sampler process has no standard error, so the measured process prints them when it ends. */
#include "config.h"
#include "collector-plugin/host/say.h"

#include <string.h>

#include "collector-plugin/vtsampler/vtsampler.h"

static struct vt_measured *listener;

static void keep_line(int level, const char *line)
{
	struct vt_measured *p = listener;
	size_t n = strlen(line);

	/* the result of the run has room in any case */
	if (p && sizeof(p->lines) - p->lines_size >= (level > 1 ? 8000 : n + 1)) {
		memcpy(p->lines + p->lines_size, line, n + 1);
		p->lines_size += n;
	}
}

void vt_say_to_measured(struct vt_measured *p)
{
	listener = p;
	vt_say_to(keep_line);
	vt_say_setup(p ? &p->c.settings.verbose : NULL, p ? &p->c.pub.rank : NULL);
}
