/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines for the user: printed on the standard error with which VTserver was started, and kept for the nodes. A process in the
 * background must not keep a pipe open, because its reader would wait for this process: then only a terminal or a
 * file gets the lines. */
#include "config.h"
#include "collector-plugin/server/server.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector-plugin/host/say.h"

static char said[3900];
static int to = -1;

static void keep_server_line(int level, const char *line)
{
	size_t n = strlen(said);

	(void)level;
	snprintf(said + n, sizeof(said) - n, "%s", line);
	if (to >= 0 && write(to, line, strlen(line)) < 0) {
		to = -1;
	}
}

void vt_server_say_open(int background)
{
	struct stat st;
	int null;

	to = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (background) {
		if (to >= 0 && (fstat(to, &st) < 0 || (!S_ISREG(st.st_mode) && !isatty(to)))) {
			close(to);
			to = -1;
		}
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		close(null);
	}
	vt_say_to(keep_server_line);
}

const char *vt_server_said(void)
{
	return said;
}
