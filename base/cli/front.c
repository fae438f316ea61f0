/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of every program: help, usage, version, and single letters; see base/cli/front.h. */
#include "config.h"
#include "base/cli/front.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int help_width(FILE *out)
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
	int width = help_width(out);
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

/* What most people need: some of the options, and how to see the others. */
static void print_brief(const struct tkm_front *f, FILE *out)
{
	static const struct tkm_option common[] = { { "HELP", TKM_OPTION_BOOL, NULL, 0, 0, NULL,
							    "print this text; --help=all: all options" },
		{ "VERSION", TKM_OPTION_BOOL, NULL, 0, 0, NULL, "print the version" } };
	const struct tkm_option *o;
	int width = help_width(out);

	print_usage(f, out);
	tkm_front_wrap(out, f->what, 0, 0, width);
	for (o = f->brief; o->name; o++) {
		print_option(f, o, out, width);
	}
	print_option(f, &common[0], out, width);
	print_option(f, &common[1], out, width);
}

static void print_names(const struct tkm_front *f, FILE *out)
{
	const struct tkm_option *o;
	char name[64], word[160];
	int width = help_width(out), at = 6;

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
	int all = !strcmp(word, "--help=all");
	int help = all || !strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "-?");
	int version = !strcmp(word, "--version") || !strcmp(word, "-V"), usage = !strcmp(word, "--usage");

	if (out && help && f->brief && !all) {
		print_brief(f, out);
	} else if (out && help) {
		tkm_front_help(f, out);
	} else if (out && version) {
		fprintf(out, "%s (%s) %s\n", f->program, PACKAGE_NAME, PACKAGE_VERSION);
	} else if (out && usage) {
		print_names(f, out);
	}
	return help || version || usage;
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
			return tkm_fail(
				err, TKM_ERR_ARG, "unknown option '%s'; %s --help=all shows all", a, f->program);
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

/* ---- the three sources ---- */

enum { MAX_OPTIONS = 64 };

/* How many texts each list of the table has. */
static void count_texts(const struct tkm_option *table, size_t *n)
{
	size_t i;

	for (i = 0; table[i].name && i < MAX_OPTIONS; i++) {
		n[i] = table[i].type == TKM_OPTION_LIST ? ((struct tkm_option_list *)table[i].value)->n : 0;
	}
}

/* If two sources give a list, the later source wins; texts of one source add up. */
static void keep_later_texts(const struct tkm_option *table, const size_t *earlier)
{
	size_t i, k;

	for (i = 0; table[i].name && i < MAX_OPTIONS; i++) {
		struct tkm_option_list *l = table[i].value;

		if (table[i].type != TKM_OPTION_LIST || l->n == earlier[i]) {
			continue;
		}
		for (k = 0; k < earlier[i]; k++) {
			free(l->text[k]);
		}
		memmove(l->text, l->text + earlier[i], (l->n - earlier[i]) * sizeof(*l->text));
		l->n -= earlier[i];
	}
}

/* The name of the configuration file must be known before the rest of the command line is read. */
static int read_config_file(const struct tkm_front *f, int argc, char **argv, struct tkm_err *err)
{
	const char *path = getenv("VT_CONFIG");
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strncasecmp(argv[i], "--config=", 9)) {
			return tkm_option_file(f->table, argv[i] + 9, f->storage, err);
		}
		if (!strcasecmp(argv[i], "--config") && i + 1 < argc) {
			return tkm_option_file(f->table, argv[i + 1], f->storage, err);
		}
	}
	/* it is read if it exists and is readable (Intel Trace Collector guide) */
	return path && *path && access(path, R_OK) == 0 ? tkm_option_file(f->table, path, f->storage, err) : 0;
}

static int has_option_value(const struct tkm_option *o)
{
	switch (o->type) {
	case TKM_OPTION_BOOL:
		return *(int *)o->value > 0;
	case TKM_OPTION_LIST:
		return ((struct tkm_option_list *)o->value)->n > 0;
	case TKM_OPTION_TEXT:
	case TKM_OPTION_NAME:
		return *(const char **)o->value != NULL;
	default:
		return 1;
	}
}

static int is_word_given(int argc, char **argv, const char *name)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		size_t n = strcspn(argv[i], "=");

		if (!strncmp(argv[i], "--", 2) && strlen(name) + 2 == n && !strncasecmp(argv[i] + 2, name, n - 2)) {
			return 1;
		}
	}
	return 0;
}

/* Is an option given whose name is this one, or begins with what is before its "..."? */
static int is_option_given(const struct tkm_front *f, const char *name)
{
	const char *dots = strchr(name, '.');
	size_t length = dots ? (size_t)(dots - name) : strlen(name) + 1;
	const struct tkm_option *o;

	for (o = f->table; o->name; o++) {
		if (!strncmp(o->name, name, length) && has_option_value(o)) {
			return 1;
		}
	}
	return 0;
}

/* Checks the rows of one name from `needs` on. */
static int check_needs_of(const struct tkm_front *f, const struct tkm_needs *needs, struct tkm_err *err)
{
	const struct tkm_needs *n;
	char name[64], long_name[64], others[200] = "";
	size_t at = 0;

	for (n = needs; n->name && !strcmp(n->name, needs->name) && at < sizeof(others); n++) {
		const struct tkm_option other = { .name = n->other };

		if (is_option_given(f, n->other)) {
			return 0;
		}
		at += (size_t)snprintf(others + at, sizeof(others) - at, "%s--%s", at ? " or " : "",
			tkm_option_long(&other, long_name, sizeof(long_name)));
	}
	return tkm_fail(err, TKM_ERR_ARG, "--%s has an effect only with %s",
		tkm_option_long(tkm_option_find(f->table, needs->name), name, sizeof(name)), others);
}

/* Reads the words, in which letters are spelt out, after the file and the environment. */
static int read_sources(
	const struct tkm_front *f, int argc, char **words, const char **positional, int max, struct tkm_err *err)
{
	const struct tkm_needs *needs;
	size_t texts[MAX_OPTIONS] = { 0 };
	int n;

	if (f->storage && read_config_file(f, argc, words, err) < 0) {
		return -1;
	}
	count_texts(f->table, texts);
	if (f->environment && tkm_option_environment(f->table, err) < 0) {
		return -1;
	}
	keep_later_texts(f->table, texts);
	count_texts(f->table, texts);
	n = tkm_option_arguments(f->table, argc, words, positional, max, err);
	if (n < 0) {
		return -1;
	}
	keep_later_texts(f->table, texts);
	for (needs = f->needs; needs && needs->name; needs++) {
		int again = needs > f->needs && !strcmp(needs->name, needs[-1].name);

		if (!again && is_word_given(argc, words, needs->name) && check_needs_of(f, needs, err) < 0) {
			return -1;
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
		n = read_sources(f, n, words, positional, max, err);
	}
	for (k = 0; kept && k < most; k++) {
		free(kept[k]);
	}
	free(kept);
	free(words);
	return n;
}
