/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of every program: help, usage, version, and single letters; see base/cli/front.h. */
#include "config.h"
#include "base/cli/front.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int width_of(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	struct winsize w;
	int n = columns ? atoi(columns) : 0;

	if (n <= 0 && ioctl(fileno(out), TIOCGWINSZ, &w) == 0) {
		n = w.ws_col;
	}
	n = n <= 0 ? 80 : n;
	return n < 40 ? 40 : n > 120 ? 120 : n;
}

void tkm_front_wrap(FILE *out, const char *text, int at, int indent, int width)
{
	while (*text) {
		int n = (int)strcspn(text, " \n");

		if (at > indent && at + 1 + n > width) {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
		} else if (at > indent) {
			putc(' ', out);
			at++;
		}
		fwrite(text, 1, (size_t)n, out);
		at += n;
		text += n;
		if (*text == '\n') {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
		}
		text += *text != '\0';
	}
	putc('\n', out);
}

static char letter_of(const struct tkm_front *f, const char *name)
{
	const struct tkm_letter *l;

	for (l = f->letter; l && l->letter; l++) {
		if (!strcmp(l->name, name)) {
			return l->letter;
		}
	}
	return !strcmp(name, "HELP") ? 'h' : !strcmp(name, "VERSION") ? 'V' : 0;
}

/* The text between an option and its value: a blank, "=" or nothing. */
static const char *between(const struct tkm_option *o)
{
	int optional = o->type == TKM_OPTION_BOOL || o->type == TKM_OPTION_LEVEL || o->type == TKM_OPTION_NAME;

	if (!o->arg || !o->arg[0]) {
		return "";
	}
	return o->type == TKM_OPTION_LIST || (optional && o->arg[0] == '[') ? " " : "=";
}

static void print_option(const struct tkm_front *f, const struct tkm_option *o, FILE *out, int width)
{
	enum { LEFT = 30 };
	char name[64], left[160], start[8] = "      ", letter = letter_of(f, o->name);
	int n;

	if (letter) {
		snprintf(start, sizeof(start), "  -%c, ", letter);
	}
	n = snprintf(left, sizeof(left), "%s--%s%s%s", start, tkm_option_long(o, name, sizeof(name)), between(o),
		o->arg ? o->arg : "");
	fputs(left, out);
	if (n > LEFT - 2) {
		fprintf(out, "\n%*s", LEFT, "");
	} else {
		fprintf(out, "%*s", LEFT - n, "");
	}
	tkm_front_wrap(out, o->help, LEFT, LEFT, width);
}

static void print_usage(const struct tkm_front *f, FILE *out)
{
	const char *p = f->arguments, *word = "Usage:";

	do {
		size_t n = strcspn(p, "\n");

		fprintf(out, "%6s %s %.*s\n", word, f->program, (int)n, p);
		word = "or:";
		p += n + (p[n] == '\n');
	} while (*p);
}

static int in_table(const struct tkm_front *f, const char *name)
{
	return tkm_option_find(f->table, name) != NULL;
}

void tkm_front_help(const struct tkm_front *f, FILE *out)
{
	static const struct tkm_option common[] = { { "HELP", TKM_OPTION_BOOL, NULL, 0, 0, NULL, "print this text" },
		{ "USAGE", TKM_OPTION_BOOL, NULL, 0, 0, NULL, "print how to call it, and the names of the options" },
		{ "VERSION", TKM_OPTION_BOOL, NULL, 0, 0, NULL, "print the version" } };
	const struct tkm_option *o;
	int width = width_of(out);
	size_t i;

	print_usage(f, out);
	tkm_front_wrap(out, f->what, 0, 0, width);
	putc('\n', out);
	for (o = f->table; o->name; o++) {
		print_option(f, o, out, width);
	}
	for (i = 0; i < 3; i++) {
		if (!in_table(f, common[i].name)) {
			print_option(f, &common[i], out, width);
		}
	}
	if (f->after) {
		putc('\n', out);
		tkm_front_wrap(out, f->after, 0, 0, width);
	}
}

static void print_names(const struct tkm_front *f, FILE *out)
{
	const struct tkm_option *o;
	char name[64], word[160];
	int width = width_of(out), at = 6;

	print_usage(f, out);
	fprintf(out, "%6s", "");
	for (o = f->table; o->name; o++) {
		int n = snprintf(word, sizeof(word), " [--%s%s%s]", tkm_option_long(o, name, sizeof(name)), between(o),
			o->arg ? o->arg : "");

		if (at + n > width && at > 6) {
			fprintf(out, "\n%6s", "");
			at = 6;
		}
		fputs(word, out);
		at += n;
	}
	putc('\n', out);
}

int tkm_front_answer(const struct tkm_front *f, const char *word, FILE *out)
{
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "-?")) {
		tkm_front_help(f, out);
	} else if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
		fprintf(out, "%s (%s) %s\n", f->program, PACKAGE_NAME, PACKAGE_VERSION);
	} else if (!strcmp(word, "--usage")) {
		print_names(f, out);
	} else {
		return 0;
	}
	return 1;
}

/* Turns -oVALUE or -o VALUE into the same words with the long name. Returns the number of words, or -1. */
static int spell_out(const struct tkm_front *f, int argc, char **argv, char **words, char **kept, struct tkm_err *err)
{
	int i, n = 1, only_words = 0;
	char name[64];

	words[0] = argv[0];
	for (i = 1; i < argc; i++) {
		const struct tkm_letter *l = f->letter;
		const char *a = argv[i];

		only_words |= !strcmp(a, "--");
		if (only_words || a[0] != '-' || !a[1] || a[1] == '-') {
			words[n++] = argv[i];
			continue;
		}
		while (l && l->letter && l->letter != a[1]) {
			l++;
		}
		if (!l || !l->letter) {
			return tkm_fail(err, TKM_ERR_ARG, "unknown option '%s'; %s --help shows all", a, f->program);
		}
		tkm_option_long(tkm_option_find(f->table, l->name), name, sizeof(name));
		if (asprintf(&kept[n], "--%s", name) < 0) {
			kept[n] = NULL;
			return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the command line");
		}
		words[n] = kept[n];
		n++;
		if (a[2]) {
			words[n++] = argv[i] + 2;
		}
	}
	return n;
}

int tkm_front_arguments(
	const struct tkm_front *f, int argc, char **argv, const char **positional, int max, struct tkm_err *err)
{
	size_t most = 2 * (size_t)argc + 1;
	char **words = calloc(most, sizeof(*words)), **kept = calloc(most, sizeof(*kept));
	size_t k;
	int i, n;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (tkm_front_answer(f, argv[i], stdout)) {
			free(words);
			free(kept);
			return fflush(stdout) || ferror(stdout)
				? tkm_fail(err, TKM_ERR_IO, "cannot write to standard output")
				: TKM_FRONT_ANSWERED;
		}
	}
	n = words && kept ? spell_out(f, argc, argv, words, kept, err)
			  : tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the command line");
	if (n >= 0) {
		n = tkm_option_arguments(f->table, n, words, positional, max, err);
	}
	for (k = 0; kept && k < most; k++) {
		free(kept[k]);
	}
	free(kept);
	free(words);
	return n;
}
