/* SPDX-License-Identifier: BSD-3-Clause */
/* Ctrl-C, and the SIGTERM that mpirun sends to all ranks then: rank 0 prints what happens, and no incomplete file is
 * left. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
	int prints;
	time_t begin;
	volatile sig_atomic_t writing, pending;
} state;

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

static time_t realtime_now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

/* snprintf() may not be used in the handler of a signal. */
static void append_signal_text(char *text, size_t size, const char *more)
{
	size_t n = strlen(text);

	while (*more && n + 1 < size) {
		text[n++] = *more++;
	}
	text[n] = '\0';
}

static void add_number(char *text, size_t size, time_t value)
{
	char digits[24];
	size_t i = sizeof(digits) - 1;

	digits[i] = '\0';
	do {
		digits[--i] = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0 && i > 0);
	append_signal_text(text, size, digits + i);
}

static void say_interrupted(int sig)
{
	char text[300] = "";

	append_signal_text(text, sizeof(text), isatty(STDERR_FILENO) ? "\r\033[K" : "");
	append_signal_text(text, sizeof(text), program_invocation_short_name);
	append_signal_text(text, sizeof(text), ": interrupted by ");
	append_signal_text(text, sizeof(text), sig == SIGINT ? "SIGINT" : sig == SIGTERM ? "SIGTERM" : "SIGHUP");
	append_signal_text(text, sizeof(text), " after ");
	add_number(text, sizeof(text), realtime_now_s() - state.begin);
	append_signal_text(text, sizeof(text),
		state.writing ? " s: there is no result, and the files of this test are removed\n"
			      : " s: there is no result, and no file was written\n");
	if (write(STDERR_FILENO, text, strlen(text)) < 0) {
		return; /* no rank is left to tell */
	}
}

static void handle_signal(int sig)
{
	int saved = errno;

	if (state.pending) {
		return;
	}
	if (state.prints) {
		say_interrupted(sig);
	}
	if (state.writing) {
		state.pending = sig;
	} else {
		cal_test_die_of(sig);
	}
	errno = saved;
}

void cal_test_die_of(int sig)
{
	struct sigaction by_default;

	memset(&by_default, 0, sizeof(by_default));
	by_default.sa_handler = SIG_DFL;
	sigaction(sig, &by_default, NULL);
	raise(sig);
}

void cal_test_catch_signals(int prints)
{
	struct sigaction ours, before;
	size_t i;

	memset(&ours, 0, sizeof(ours));
	ours.sa_handler = handle_signal;
	ours.sa_flags = SA_RESTART;
	state.prints = prints;
	state.begin = realtime_now_s();
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		/* who started this in the background, or with nohup, does not want it to end */
		if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
			sigaction(signals[i], &ours, NULL);
		}
	}
}

void cal_test_begin_writing(void)
{
	state.writing = 1;
}

int cal_test_interrupted(void)
{
	return state.pending;
}

void cal_test_end_writing(void)
{
	size_t i;

	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct sigaction now;

		if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler == handle_signal) {
			now.sa_handler = SIG_DFL;
			sigaction(signals[i], &now, NULL);
		}
	}
}
