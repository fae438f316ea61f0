/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the report and other formats of the trace that was just written (REPORT, LOGFILE-FORMAT), and says which rank the others
 * wait for. */
#include "config.h"
#include "collector-plugin/run/report.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/wait.h>

#include "base/text/quote.h"
#include "base/text/text.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/run/program.h"

enum { MOST_TEXT = 8192 };

void vt_report_make(const char *trace, int force)
{
	const char *const arguments[] = { trace, force ? "--force" : NULL, NULL };
	int status = vt_program_run("vtreport", arguments, NULL, NULL, 0);
	char word[PATH_MAX];

	if (status == 0) {
		vt_say(1, "INFO", "Writing report %.*s.html", (int)(strlen(trace) - 4), trace);
	} else if (status < 0 && errno == ENOENT) {
		vt_say(1, "WARNING", "no report: there is no %s/vtreport", VT_BINDIR);
	} else if (status < 0) {
		vt_say(1, "WARNING", "no report: vtreport cannot be run: %s", strerror(errno));
	} else if (WIFSIGNALED(status)) {
		vt_say(1, "WARNING", "no report: vtreport ended by signal %d", WTERMSIG(status));
	} else {
		vt_say(1, "WARNING", "vtreport ended with status %d; to see why, run: vtreport %s", WEXITSTATUS(status),
			tkm_shell_word(word, sizeof(word), trace));
	}
}

/* Passes on what a program has printed, line by line. */
static void say_each_line(char *text, const char *prefix, const char *word)
{
	size_t n = strlen(prefix);
	char *line;

	while ((line = strsep(&text, "\n"))) {
		if (*line) {
			vt_say(1, word, "%s", strncmp(line, prefix, n) ? line : line + n);
		}
	}
}

void vt_say_who(const char *trace, int more)
{
	const char *const arguments[] = { trace, "--who", "--verbose", more ? "2" : "1", NULL };
	char text[MOST_TEXT] = "";

	if (vt_program_run("stftool", arguments, NULL, text, sizeof(text)) == 0) {
		say_each_line(text, "", "INFO");
	}
}

void vt_convert_trace(const char *trace, const char *target, const char *format, const char *extended, int force)
{
	const char *const arguments[] = { trace, "--convert", target, "--logfile-format", format, "--extended-vtf",
		extended && *extended ? extended : "on", force ? "--force" : NULL, NULL };
	char text[MOST_TEXT] = "", trace_word[PATH_MAX], target_word[PATH_MAX];
	int status;

	status = vt_program_run("stftool", arguments, NULL, text, sizeof(text));
	if (status < 0) {
		vt_say(1, "WARNING", "stftool cannot be run: %s",
			errno == ENOENT ? "there is no " VT_BINDIR "/stftool" : strerror(errno));
	}
	say_each_line(text, "stftool: ", status ? "WARNING" : "INFO");
	if (status) {
		vt_say(1, "WARNING", "%s was not written; to try again, run: stftool %s --convert %s", target,
			tkm_shell_word(trace_word, sizeof(trace_word), trace),
			tkm_shell_word(target_word, sizeof(target_word), target));
	}
}
