/* SPDX-License-Identifier: BSD-3-Clause */
/* Options on the program's own command line: --itc-args --some-option value ... --itc-args-end (Intel Trace Collector
 * guide, section 2.4.3). They become VT_ variables, which the collector reads. They are removed before the program
 * looks at its arguments. */
#include "config.h"
#include "collector-plugin/api/private.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/err.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/settings/settings.h"

/* Turns "--logfile-format" into "VT_LOGFILE_FORMAT". Returns the length of the option's name, or 0 if the word is no
 * option. */
static size_t variable_of(const char *word, char *name, size_t size)
{
	size_t n, i;

	if (strncmp(word, "--", 2) != 0) {
		return 0;
	}
	n = strcspn(word + 2, "=");
	if (n == 0 || n + 4 > size) {
		return 0;
	}
	memcpy(name, "VT_", 3);
	for (i = 0; i < n; i++) {
		char c = word[2 + i];

		name[3 + i] = c == '-' ? '_' : (char)toupper((unsigned char)c);
	}
	name[3 + n] = '\0';
	return n;
}

/* Notes the name of an option that was given here, for the protocol. */
static void note_option(const char *variable)
{
	char option[100];
	size_t i;

	for (i = 0; variable[3 + i] && i + 1 < sizeof(option); i++) {
		option[i] = variable[3 + i] == '_' ? '-' : variable[3 + i];
	}
	option[i] = '\0';
	vt_collect_commanded(option);
}

/* Reports why an option is ignored, in one line of text whatever characters its name has. */
static void warn_about(const char *before, const char *option, size_t length, const char *after)
{
	char text[400];

	snprintf(text, sizeof(text), "--itc-args: %s%.*s%s; left out", before, length < 300 ? (int)length : 300, option,
		after);
	fprintf(stderr, "Tickmark WARNING: %s\n", tkm_plain(text));
}

/* Takes the words from v[i] on that belong to one option and sets its variable. Returns how many words they are. */
static int take_option(char **v, int i, int end)
{
	char name[100], value[4096] = "";
	size_t n = variable_of(v[i], name, sizeof(name)), at = 0;
	const char *old;
	int k = i + 1;

	if (n == 0) {
		warn_about("", v[i], strlen(v[i]), " is no option");
		return 1;
	}
	if (v[i][2 + n] == '=') {
		at = (size_t)snprintf(value, sizeof(value), "%s", v[i] + 3 + n);
	} else {
		for (; k < end && strncmp(v[k], "--", 2) != 0 && at < sizeof(value); k++) {
			/* the name of a group may have blanks in it */
			const char *quote =
				vt_settings_repeats(name + 3) && strpbrk(v[k], " \t") && k + 1 < end && !at ? "\"" : "";

			at += (size_t)snprintf(
				value + at, sizeof(value) - at, "%s%s%s%s", at ? " " : "", quote, v[k], quote);
		}
	}
	if (at >= sizeof(value)) {
		warn_about("the value of ", v[i], 2 + n, " is too long");
		return k - i;
	}
	note_option(name);
	old = secure_getenv(name);
	/* an option that may be given several times is appended to the variable's present value */
	if (old &&
		(strcmp(name, "VT_COUNTER") == 0 || strcmp(name, "VT_PLUGIN") == 0 || vt_settings_repeats(name + 3))) {
		char both[8300];

		snprintf(both, sizeof(both), "%.4096s;%s", old, value);
		setenv(name, both, 1);
	} else {
		setenv(name, at ? value : "on", 1);
	}
	return k - i;
}

static void take_argument_blocks(int *argc, char **v)
{
	int begin, end, i;

	for (begin = 1; begin < *argc && v[begin]; begin++) {
		if (strcmp(v[begin], "--itc-args") != 0) {
			continue;
		}
		for (end = begin + 1; end < *argc && strcmp(v[end], "--itc-args-end") != 0; end++) {
		}
		for (i = begin + 1; i < end; i += take_option(v, i, end)) {
		}
		/* without --itc-args-end all words that follow are options of the collector */
		end += end < *argc;
		memmove(&v[begin], &v[end], (size_t)(*argc - end) * sizeof(*v));
		*argc -= end - begin;
		v[*argc] = NULL;
		begin--; /* there may be several such blocks */
	}
}

/* ---- programs that do not pass their arguments: Fortran, MPI_Init(NULL, NULL) ---- */

static char **process_argv;

/* glibc calls constructors with what main() gets. */
__attribute__((constructor)) static void note(int argc, char **argv, char **envp)
{
	(void)argc;
	(void)envp;
	process_argv = argv;
}

/* The options take effect. Only Fortran's run time can be given an array of arguments without them: main() already
 * has its argc, which cannot be changed, so the array that main() has stays as it is. */
static void take_of_process(void)
{
	void (*set_args)(int, char **) = (void (*)(int, char **))dlsym(RTLD_DEFAULT, "_gfortran_set_args");
	char **v;
	int n = 0, left;

	while (process_argv && process_argv[n]) {
		n++;
	}
	v = n > 0 ? malloc(((size_t)n + 1) * sizeof(*v)) : NULL;
	if (!v) {
		return;
	}
	memcpy(v, process_argv, ((size_t)n + 1) * sizeof(*v));
	left = n;
	take_argument_blocks(&left, v);
	if (left < n && set_args) {
		set_args(left, v); /* it keeps the array */
	} else {
		free(v);
	}
}

void vt_take_arguments(int *argc, char ***argv)
{
	static _Atomic int taken;

	/* in a setuid program the arguments are chosen by its caller, so they are not trusted */
	if (getauxval(AT_SECURE)) {
		return;
	}

	if (argc && argv && *argv) {
		take_argument_blocks(argc, *argv);
	} else if (atomic_exchange(&taken, 1) == 0) {
		take_of_process();
	}
}
