/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "base/cli/await.h"
#include "base/cli/foreign.h"
#include "base/err.h"
#include "base/text/quote.h"
#include "base/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What a protocol says about who writes the trace. */
struct written_by {
	int program, sampler; /* processes; 0: unknown */
	char host[256], raw[4400];
};

/* Returns 0 if there is no such protocol. */
static int read_protocol(struct written_by *w, const char *path)
{
	char line[4400];
	FILE *f = tkm_open_text(path, O_RDONLY);

	*w = (struct written_by){ 0 };
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "INFO PROCESS 0 \"%255[^\"]\" \"%*[^\"]\" %d", w->host, &w->program);
		sscanf(line, "INFO SAMPLED by process %d", &w->sampler);
		sscanf(line, "INFO RAWFILE \"%4399[^\"]\"", w->raw);
	}
	if (f) {
		fclose(f);
	}
	return f != NULL;
}

static int lives(int pid)
{
	return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
}

/* A zombie has ended. */
static int runs(int pid)
{
	char path[40], line[200], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = lives(pid) ? fopen(path, "re") : NULL;
	while (f && fgets(line, sizeof(line), f) && sscanf(line, "State: %c", &state) != 1) {
	}
	if (f) {
		fclose(f);
	}
	return state && state != 'Z' && state != 'X';
}

/* The processes that would have made the trace were killed before, or the user merges the raw files. */
static void tell_left(
	const char *path, const char *protocol, const struct written_by *w, int elsewhere, char *why, size_t size)
{
	char from[4500], to[4500];

	snprintf(why, size,
		"%s is not there, but what was recorded is in %s: %s%s%sstftool %s --merge %s makes the trace", path,
		w->raw, elsewhere ? "once the program on " : "", elsewhere ? w->host : "",
		elsewhere ? " has ended, " : "", tkm_shell_word(from, sizeof(from), protocol),
		tkm_shell_word(to, sizeof(to), path));
}

/* Without its raw file, the number of a process has to do. */
static enum tkm_maker find_maker(
	const struct written_by *w, const char *here, enum tkm_maker (*of_raw)(const char *raw), int *certain)
{
	enum tkm_maker maker = of_raw(w->raw);

	*certain = maker != TKM_MAKER_UNKNOWN;
	if (*certain || strcmp(w->host, here) != 0) {
		return maker;
	}
	return runs(w->program) ? TKM_MAKER_PROGRAM : lives(w->sampler) ? TKM_MAKER_SAMPLER : TKM_MAKER_GONE;
}

void tkm_await_trace(const char *path, enum tkm_maker (*of_raw)(const char *raw), int briefly, FILE *say,
	const char *program, char *why, size_t size)
{
	enum { PAUSE_MS = 20, ANNOUNCED = 1000 / PAUSE_MS, MOST = TKM_AWAIT_S * 1000 / PAUSE_MS };
	struct timespec pause = { 0, PAUSE_MS * 1000000 };
	size_t n = strlen(path);
	char protocol[4400], here[256] = "", name[4400];
	struct written_by w;
	int waits, certain;

	*why = '\0';
	n -= n > 11 && !strcmp(path + n - 11, ".single.stf") ? 11 : n > 4 && !strcmp(path + n - 4, ".stf") ? 4 : 0;
	snprintf(protocol, sizeof(protocol), "%.*s.prot", (int)n, path);
	gethostname(here, sizeof(here) - 1);
	for (waits = 0;
		access(path, F_OK) < 0 && errno == ENOENT && read_protocol(&w, protocol) && access(w.raw, F_OK) == 0;
		waits++) {
		enum tkm_maker maker = find_maker(&w, here, of_raw, &certain);

		if (maker == TKM_MAKER_UNKNOWN || maker == TKM_MAKER_GONE) {
			tell_left(path, protocol, &w, maker == TKM_MAKER_UNKNOWN, why, size);
			return;
		}
		if (maker == TKM_MAKER_PROGRAM) {
			snprintf(why, size, "%s: its program, process %d, still runs; the trace is made at its end",
				path, w.program);
			return;
		}
		if (waits == MOST && (briefly || !certain)) {
			snprintf(why, size, "%s: process %d, which makes it, has not done so within %d s", path,
				w.sampler, TKM_AWAIT_S);
			return;
		}
		if (waits == ANNOUNCED) {
			snprintf(name, sizeof(name), "%s", path);
			fprintf(say, "%s: waiting for process %d, which makes %s\n", program, w.sampler,
				tkm_plain(name));
		}
		nanosleep(&pause, NULL);
	}
}

void tkm_trace_meant(const char *path, char *text, size_t size)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path, *dot = strrchr(name, '.');
	size_t n = strlen(path);
	char meant[4400];
	int i;

	*text = '\0';
	if (dot && !strcmp(dot, ".stf")) {
		return;
	}
	for (i = 0; i < 2 && !*text; i++) {
		snprintf(meant, sizeof(meant), "%.*s.stf", (int)n, path);
		if (access(meant, F_OK) == 0) {
			snprintf(text, size, "%s is no trace; is it %s?", path, meant);
		}
		n = dot && dot > name ? (size_t)(dot - path) : n;
	}
	if (!*text) {
		tkm_foreign(path, TKM_FOREIGN_READ, text, size);
	}
}
