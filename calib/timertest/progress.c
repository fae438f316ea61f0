/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the progress of timertest. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <math.h>
#include <unistd.h>

void cal_test_progress(struct cal_test *t, double done_s, const char *more)
{
	int terminal = isatty(STDERR_FILENO);

	if (!cal_test_prints(t) || done_s < t->progress_at) {
		return;
	}
	if (!terminal && t->progress_at == 0) {
		t->progress_at = 30; /* a short run prints none */
		return;
	}
	t->progress_at = done_s + (terminal ? 0.5 : 30);
	fprintf(stderr, "%s%.0f of %.0f s", terminal ? "\r" : "", done_s, t->o.seconds);
	if (more) {
		fprintf(stderr, ", %s", more);
	} else {
		fprintf(stderr, ", %.0f s left", fmax(t->o.seconds - done_s, 0));
	}
	fputs(terminal ? "\033[K" : "\n", stderr);
	fflush(stderr);
}

void cal_test_progress_end(const struct cal_test *t)
{
	if (cal_test_prints(t) && isatty(STDERR_FILENO)) {
		fputs("\r\033[K", stderr);
	}
}
