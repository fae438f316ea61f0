/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores what runs, its user, its batch job and its CPUs in the raw file: infos of the class "run". It is read from outside, so
 * the program does nothing for it. */
#include "config.h"
#include "collector-plugin/vtsampler/vtsampler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "base/text/quote.h"
#include "base/text/text.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/sample/sample.h"

static char *text_of_process(const struct vt_measured *p, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)p->pid, name);
	return tkm_root_text(p->s->root, path);
}

static void describe(struct vt_measured *p, const char *what, const char *text)
{
	char line[1000];

	snprintf(line, sizeof(line), "%s %.900s", what, text);
	tkm_plain(line);
	vt_raw_info(p->c.pub.raw, "run", line);
}

/* The words of /proc/PID/cmdline, each ended by a zero byte, as one would type them. */
static void describe_command(struct vt_measured *p)
{
	char path[64], words[900], line[900], quoted[900];
	ssize_t size, at;
	size_t n = 0;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)p->pid);
	size = tkm_root_read(p->s->root, path, words, sizeof(words));
	for (at = 0; at < size && n < sizeof(line); at += (ssize_t)strlen(words + at) + 1) {
		n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%s", n ? " " : "",
			tkm_shell_word(quoted, sizeof(quoted), words + at));
	}
	if (n) {
		describe(p, "command", line);
	}
}

/* The rest of the line that begins with `label`; NULL: there is none. The text is cut there. */
static char *line_of(char *text, const char *label)
{
	char *at = text ? strstr(text, label) : NULL;

	if (!at) {
		return NULL;
	}
	at += strlen(label);
	at += strspn(at, " \t");
	at[strcspn(at, "\n")] = '\0';
	return at;
}

/* "0-1 of 2": the CPUs that the process may use. */
static void describe_binding(struct vt_measured *p)
{
	const char *allowed = vt_measured_text(p, "CPUs", 0);
	char text[600];

	if (allowed && *allowed) {
		snprintf(text, sizeof(text), "%.500s of %ld", allowed, sysconf(_SC_NPROCESSORS_ONLN));
		describe(p, "CPUs", text);
	}
}

/* The user and the batch system's job, by the variables that these set. tkm_root_text() ends the text by a zero byte. */
static void describe_owner(struct vt_measured *p)
{
	static const struct {
		const char *name, *what;
	} variable[] = { { "USER=", "user" }, { "SLURM_JOB_ID=", "job Slurm" }, { "PBS_JOBID=", "job PBS" },
		{ "LSB_JOBID=", "job LSF" }, { "FLUX_JOB_ID=", "job Flux" }, { "COBALT_JOBID=", "job Cobalt" } };
	enum { SIZE = 128 << 10 };
	char path[64], *all = malloc(SIZE), *status = text_of_process(p, "status"), *uid = line_of(status, "\nUid:");
	ssize_t size = -1, at;
	size_t k, n;
	int named = 0;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)p->pid);
	size = all ? tkm_root_read(p->s->root, path, all, SIZE) : -1;
	for (at = 0; at < size; at += (ssize_t)strlen(all + at) + 1) {
		for (k = 0; k < sizeof(variable) / sizeof(variable[0]); k++) {
			n = strlen(variable[k].name);
			if (!strncmp(all + at, variable[k].name, n) && all[at + (ssize_t)n]) {
				describe(p, variable[k].what, all + at + n);
				named |= k == 0;
			}
		}
	}
	if (!named && uid) {
		uid[strcspn(uid, "\t ")] = '\0';
		describe(p, "user id", uid);
	}
	free(all);
	free(status);
}

void vt_measured_describe(struct vt_measured *p)
{
	if (p->c.settings.environment) {
		describe_command(p);
		describe_owner(p);
		describe_binding(p);
	}
}
