/* SPDX-License-Identifier: BSD-3-Clause */
/* vttop: shows the counters of a running job. */
#include "config.h"

#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#include "base/cli/front.h"
#include "base/cli/option.h"
#include "live/live.h"
#include "report/html/html.h"

enum { EXIT_FAULT = 1, EXIT_USAGE = 2 };

struct options {
	const char *counter;
	double period;
	long long count;
	int plain;
};

static void report_vttop(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void report_vttop(const char *fmt, ...)
{
	char text[1400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fputs("vttop: ", stderr);
	vtr_plain(stderr, text);
	fputc('\n', stderr);
}

static void wait_for_seconds(double seconds)
{
	struct timespec t = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };

	nanosleep(&t, NULL);
}

/* Prints lines for another program, or where the output is not a usable terminal. */
static int print_value_lines(struct vtr_live_job *j, const struct options *o, struct tkm_err *err)
{
	char hint[300];
	long long i;

	for (i = 0; !o->count || i < o->count; i++) {
		if (i) {
			wait_for_seconds(o->period);
		}
		if (vtr_live_read(j, o->counter, err) < 0) {
			return -1;
		}
		if (!j->running) {
			return 0;
		}
		if (i == 0 && *vtr_live_hint(j, hint, sizeof(hint))) {
			report_vttop("%s", hint);
		}
		vtr_live_print(stdout, j);
		if (fflush(stdout) != 0) {
			return tkm_fail(err, TKM_ERR_IO, "cannot write to standard output");
		}
	}
	return 1;
}

static int run_vttop(const struct options *o, const char *what)
{
	struct vtr_live_job j;
	struct tkm_err err;
	int rc;

	if (vtr_live_find(&j, what, &err) < 0) {
		report_vttop("%s", err.text);
		vtr_live_free(&j);
		return EXIT_FAULT;
	}
	if (o->plain || o->count || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO)) {
		rc = print_value_lines(&j, o, &err);
	} else {
		rc = vtr_live_screen(&j, o->counter, o->period, &err);
	}
	if (rc < 0) {
		report_vttop("%s", err.text);
	} else if (rc == 0) {
		report_vttop("%s has ended; its trace: %s", j.program, j.trace);
	}
	vtr_live_free(&j);
	return rc < 0 ? EXIT_FAULT : 0;
}

int main(int argc, char **argv)
{
	struct options o = { .period = 1 };
	const struct tkm_option table[] = {
		{ "COUNT", TKM_OPTION_COUNT, &o.count, 0, 1e9, "N",
			"print so many readings as lines, then end; 0: until the job ends" },
		{ "COUNTER", TKM_OPTION_TEXT, &o.counter, 0, 0, "NAME", "only counters with NAME in their name" },
		{ "PERIOD", TKM_OPTION_TIME, &o.period, 0.05, 3600, "TIME", "time between two readings (default 1s)" },
		{ "PLAIN", TKM_OPTION_BOOL, &o.plain, 0, 0, NULL,
			"lines instead of a table: time, column, counter, value, unit, divided by tabs" },
		{ .name = NULL },
	};
	const char *what[2];
	struct tkm_err err;
	const struct tkm_front front = { .program = "vttop",
		.arguments = "[PID | TRACE.stf | PROGRAM] [OPTION...]",
		.what = "Shows the counters of a job while it runs under vtrun or libVT: a process id of it, the name "
			"of its "
			"trace or program, or nothing if only one runs. Reads what the sampler writes; the program "
			"notices nothing.",
		.after = "Exit status: 0 the job ended or you quit, 1 there is no such job, 2 wrong usage.",
		.table = table };
	int n = tkm_front_arguments(&front, argc, argv, what, 2, &err), rc = 0;

	if (n == -1 || n > 1) {
		report_vttop("%s", n > 1 ? "one job at a time" : err.text);
		rc = EXIT_USAGE;
	} else if (n >= 0) {
		rc = run_vttop(&o, n ? what[0] : NULL);
	}
	tkm_option_free(table, NULL);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		report_vttop("cannot write to standard output");
		rc = EXIT_FAULT;
	}
	return rc;
}
