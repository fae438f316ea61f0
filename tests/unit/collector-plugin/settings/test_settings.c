/* SPDX-License-Identifier: BSD-3-Clause */
/* The defaults that --help and vtrun(1) state are those that apply. */
#define _GNU_SOURCE
#include "config.h"
#include "collector-plugin/settings/settings.h"
#include "tests/lib/check.h"

static char *none[] = { NULL };

static void complain(void *ctx, const char *line)
{
	(void)ctx;
	CHECK(0, "%s", line);
}

/* What the protocol says of an option after these lines of configuration, without where it comes from. */
static void print_value(const char *lines, const char *name, char *value, size_t size)
{
	struct vt_settings *s = calloc(1, sizeof(*s));
	char *text = NULL, *line, *save = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	vt_settings_init(s);
	s->config_text = lines;
	s->config_size = strlen(lines);
	s->config_name = "lines";
	s->variables = none;
	s->complain = complain;
	vt_settings_load(s, NULL);
	vt_settings_print(s, f);
	fclose(f);
	value[0] = '\0';
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ' ') {
			snprintf(value, size, "%.*s", (int)strcspn(line, "#"), line);
		}
	}
	free(text);
	vt_settings_free(s);
	free(s);
}

/* Value and length of "(default VALUE)" or "(default VALUE; ...)" in a text; NULL: it states none, or not in a word. */
static const char *stated(const char *text, int *len)
{
	const char *p = strstr(text, "(default ");

	p = p ? p + strlen("(default ") : strstr(text, "(default: ");
	p = p && !strncmp(p, "(default: ", 10) ? p + 10 : p;
	*len = p ? (int)strcspn(p, " ;)") : 0;
	return p && (p[*len] == ')' || p[*len] == ';') && strncmp(p, "none", 4) && strncmp(p, "PROGRAM", 7) ? p : NULL;
}

static void the_defaults_that_help_states(void)
{
	struct vt_settings *s = calloc(1, sizeof(*s));
	char line[300], before[400], after[400];
	const char *value;
	int n = 0, len, i;

	vt_settings_init(s);
	vt_settings_help(s);
	for (i = 0; s->table[i].name; i++) {
		value = stated(s->table[i].help, &len);
		if (value) {
			snprintf(line, sizeof(line), "%s %.*s\n", s->table[i].name, len, value);
			print_value("", s->table[i].name, before, sizeof(before));
			print_value(line, s->table[i].name, after, sizeof(after));
			CHECK(before[0] && !strcmp(before, after), "%s: '%s', not '%s'", s->table[i].help, before,
				after);
			n++;
		}
	}
	CHECK(n >= 10, "%d defaults", n);
	vt_settings_free(s);
	free(s);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(the_defaults_that_help_states);
	return check_end();
}
