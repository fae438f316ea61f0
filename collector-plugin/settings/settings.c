/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the options from the configuration file and from variables, and prints the protocol file. */
#include "config.h"
#include "collector-plugin/settings/settings.h"

#include <ctype.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/text/glob.h"
#include "base/text/text.h"
#include "collector-plugin/settings/check.h"
#include "collector-plugin/settings/rule.h"
#include "collector-plugin/settings/run_value.h"

extern char **environ;

/* Variables that begin with VT_ but are not options: those of the guide's installation, and the name of the
 * configuration file. */
static const char *const no_options[] = {
	"VT_CONFIG",
	"VT_CONFIG_RANK",
	"VT_THREAD_LEVEL",
	"VT_ROOT",
	"VT_MPI",
	"VT_SLIB_DIR",
	"VT_LIB_DIR",
	"VT_ADD_LIBS",
	"VT_ARCH",
	"VT_FLUSH_PATH",
	NULL,
};

static void complain_of_setting(const struct vt_settings *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void complain_of_setting(const struct vt_settings *s, const char *fmt, ...)
{
	char line[700];
	va_list ap;

	if (s->complain) {
		va_start(ap, fmt);
		vsnprintf(line, sizeof(line), fmt, ap);
		va_end(ap);
		s->complain(s->ctx, line);
	}
}

/* Reports that an option is left out. The message names the option, unless `text` already does. */
static void leave_out_option(const struct vt_settings *s, const char *name, const char *text)
{
	const char *has = strstr(text, name);

	complain_of_setting(s, "%s%s%s%s: left out", text, has ? "" : " (", has ? "" : name, has ? "" : ")");
}

/* A row of the table. It has no pointers, so that the table is in shared pages of a library that is loaded into each
 * process. The texts of --help are in help.c. */
struct row {
	char name[24];
	enum tkm_option_type type;
	uint32_t at; /* offset in struct vt_settings */
	double min, max;
};

static const struct row rows[] = {
#define OPTION(name, type, member, min, max, arg, help) \
	{ name, TKM_OPTION_##type, offsetof(struct vt_settings, member), min, max },
#include "collector-plugin/settings/options.def"
#undef OPTION
};

static void make_settings_table(struct vt_settings *s)
{
	size_t i, n = sizeof(rows) / sizeof(rows[0]);

	_Static_assert(sizeof(rows) / sizeof(rows[0]) < VT_SETTINGS_MAX, "VT_SETTINGS_MAX");
	for (i = 0; i < n; i++) {
		s->table[i] = (struct tkm_option){ .name = rows[i].name,
			.type = rows[i].type,
			.value = (char *)s + rows[i].at,
			.min = rows[i].min,
			.max = rows[i].max };
	}
	s->table[n] = (struct tkm_option){ .type = TKM_OPTION_TEXT };
}

void vt_settings_init(struct vt_settings *s)
{
	memset(s, 0, sizeof(*s));
	s->autoflush = s->environment = s->flush_pid = 1;
	s->compress_trace = TM_COMPRESS_TRACE;
	s->flush_limit = 1ll << 30;
	s->mem_blocksize = 64 << 10;
	s->mem_flushblocks = 16;
	s->mem_info = 500 << 20;
	s->mem_maxblocks = 4096;
	s->verbose = 1;
	s->os_counter_delay = 1;
	s->stf_use_hw_structure = -1;
	s->sample_budget = 0.01;
	s->sample_period = 0.1;
	/* a sample of the standard counters takes tens of microseconds: at every call it raised 1 us of latency to
	 * 190 us */
	s->counter_min_interval = 0.01;
	make_settings_table(s);
}

void vt_settings_of_run(struct vt_settings *s, const char *run)
{
	char text[16];

	if (vt_run_value(run, "join", text, sizeof(text))) {
		s->sample_period = 1;
	}
}

static void free_other(struct vt_setting_other *o)
{
	if (o) {
		free(o->name);
		free(o->text);
		free(o->where);
		free(o);
	}
}

static void add_other(
	struct vt_settings *s, const char *name, const char *text, enum vt_origin origin, const char *where)
{
	struct vt_setting_other *o;
	struct tkm_err e;

	if (vt_settings_whose(name) == VT_OF_NOBODY) {
		complain_of_setting(s, "%s: %s has no effect in this version", where, name);
	}
	if (vt_settings_check(name, text, where, &e) < 0) {
		leave_out_option(s, name, e.text);
		return;
	}
	o = calloc(1, sizeof(*o));
	if (o) {
		o->name = strdup(name);
		o->text = strdup(text);
		o->where = strdup(where);
		o->origin = origin;
	}
	if (!o || !o->name || !o->text || !o->where) {
		free_other(o);
		return;
	}
	o->next = s->others;
	s->others = o;
}

int vt_settings_repeats(const char *name)
{
	return vt_rule_name(name) || !strcasecmp(name, "CHECK") || !strcasecmp(name, "PROCESS") ||
		!strcasecmp(name, "CLUSTER") || !strcasecmp(name, "GROUP");
}

const char *vt_settings_other(const struct vt_settings *s, const char *name)
{
	const struct vt_setting_other *o;

	for (o = s->others; o && strcasecmp(o->name, name); o = o->next) {
	}
	return o ? o->text : NULL;
}

double vt_settings_idle_s(const struct vt_settings *s)
{
	const char *text = vt_settings_other(s, "TRACE-IMBALANCE");
	double seconds = 0;

	/* wrong texts were left out when they were read */
	return text && vt_settings_imbalance(text, &seconds) == 0 ? seconds : s->imbalance ? VT_IMBALANCE_S : 0;
}

/* The list begins with the last mention. */
const struct vt_setting_other *vt_settings_other_nth(const struct vt_settings *s, const char *name, int n)
{
	const struct vt_setting_other *o;
	int all = 0;

	for (o = s->others; o; o = o->next) {
		all += !strcasecmp(o->name, name);
	}
	for (o = s->others; o; o = o->next) {
		if (!strcasecmp(o->name, name) && --all == n) {
			return o;
		}
	}
	return NULL;
}

int vt_settings_known(const struct vt_settings *s, const char *name, const char **nearest)
{
	enum vt_whose whose;
	const char *other;
	int best = 99, d;
	size_t i;

	*nearest = NULL;
	for (i = 0; s->table[i].name; i++) {
		d = tkm_option_distance(s->table[i].name, name);
		if (d < best) {
			best = d;
			*nearest = s->table[i].name;
		}
	}
	for (i = 0; (other = vt_settings_other_name(i, &whose)); i++) {
		d = tkm_option_distance(other, name);
		if (d < best) {
			best = d;
			*nearest = other;
		}
	}
	if (best == 0) {
		return 1;
	}
	if (best > 3 || best * 2 > (int)strlen(name)) {
		*nearest = NULL;
	}
	return 0;
}

static void complain_of_unknown(const struct vt_settings *s, const char *origin, const char *name, const char *nearest)
{
	complain_of_setting(s, "%s: unknown option %s%s%s%s", origin, name, nearest ? "; did you mean " : "",
		nearest ? nearest : "", nearest ? "?" : "");
}

static void came_from(struct vt_settings *s, const struct tkm_option *o, enum vt_origin origin, const char *where)
{
	size_t i = (size_t)(o - s->table);

	s->origin[i] = origin;
	snprintf(s->where[i], sizeof(s->where[i]), "%s", where);
}

static const char *setting_text_of(const struct tkm_option *o)
{
	return o->type == TKM_OPTION_TEXT ? *(const char *const *)o->value : NULL;
}

/* For text options that accept only some values, like LOGFILE-FORMAT: removes a wrong value that was just set, so
 * that the previous value stays. */
static int check_text(const struct tkm_option *o, const char *was, const char *where, struct tkm_err *err)
{
	const char *text = setting_text_of(o);

	if (!text || vt_settings_check(o->name, text, where, err) == 0) {
		return 0;
	}
	*(const char **)o->value = was;
	return -1;
}

/* Reads a line of the configuration file. */
static int see_config_line(const char *name, char *rest, const char *origin, void *ctx)
{
	struct vt_settings *s = ctx;
	const struct tkm_option *o = tkm_option_find(s->table, name);
	const char *nearest, *was;
	struct tkm_err e;

	if (o) {
		was = setting_text_of(o);
		if (tkm_option_set_rest(o, rest, origin, &e) < 0 || check_text(o, was, origin, &e) < 0) {
			leave_out_option(s, o->name, e.text);
		} else {
			came_from(s, o, VT_BY_FILE, origin);
		}
	} else if (!strcasecmp(name, "INFO")) {
		return 0; /* facts about an earlier run, from a protocol file */
	} else if (vt_settings_known(s, name, &nearest)) {
		add_other(s, name, rest + strspn(rest, " \t"), VT_BY_FILE, origin);
	} else {
		complain_of_unknown(s, origin, name, nearest);
	}
	return 0;
}

/* In "cpu_*" on, the quotes of the file are not part of the pattern. */
static void unquote_counters(struct vt_settings *s)
{
	char *from, *to;
	size_t i;

	for (i = 0; i < s->counter.n; i++) {
		for (from = to = s->counter.text[i]; *from; from++) {
			if (*from != '"') {
				*to++ = *from;
			}
		}
		*to = '\0';
	}
}

static void check_counters(struct vt_settings *s)
{
	struct tkm_glob_rule rule;
	struct tkm_err e;
	size_t i, n = 0;

	for (i = 0; i < s->counter.n; i++) {
		if (tkm_glob_rule_parse("COUNTER", s->counter.text[i], &rule, &e) < 0) {
			complain_of_setting(s, "%s: left out", e.text);
			free(s->counter.text[i]);
		} else {
			s->counter.text[n++] = s->counter.text[i];
		}
	}
	s->counter.n = n;
}

static const char *variable(const struct vt_settings *s, const char *name)
{
	size_t i, n = strlen(name);

	for (i = 0; s->variables && s->variables[i]; i++) {
		if (!strncmp(s->variables[i], name, n) && s->variables[i][n] == '=') {
			return s->variables[i] + n + 1;
		}
	}
	return s->variables ? NULL : secure_getenv(name);
}

static void load_file(struct vt_settings *s)
{
	const char *path = s->config ? s->config : variable(s, "VT_CONFIG");
	const struct tkm_option_reader reader = { &s->storage, see_config_line, s };
	struct tkm_err e;
	int rc = 0;

	if (s->config_text) {
		rc = tkm_option_text(s->config_text, s->config_size, s->config_name, &reader, &e);
	} else if (path && *path) {
		rc = tkm_option_lines(path, &reader, &e);
	}
	if (rc < 0) {
		complain_of_setting(s, "%s; its options are left out", e.text);
	}
}

/* A variable may hold several entries of a list, separated by ';' or line feeds. */
static int set_option_list(const struct tkm_option *o, const char *text, const char *origin, struct tkm_err *err)
{
	struct tkm_option_list *l = o->value;
	char *copy = strdup(text), *save = NULL, *part;
	int rc = copy ? 0 : -1;

	/* the variable replaces the entries of the file */
	while (l->n) {
		free(l->text[--l->n]);
	}
	for (part = copy ? strtok_r(copy, ";\n", &save) : NULL; part && rc == 0; part = strtok_r(NULL, ";\n", &save)) {
		part += strspn(part, " \t");
		rc = *part ? tkm_option_set(o, part, origin, err) : 0;
	}
	free(copy);
	return rc;
}

static int named_in(const char *list, const char *name)
{
	size_t n = strlen(name);
	const char *p;

	for (p = list; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		if (!strncmp(p, name, n) && (p[n] == ',' || !p[n])) {
			return 1;
		}
	}
	return 0;
}

/* The value of a variable may have come from vtrun's command line. `where` gets the name of either, of 80 bytes. */
static enum vt_origin origin_of(const char *commanded, const struct tkm_option *o, const char *variable, char *where)
{
	char spelt[78];

	if (named_in(commanded, o->name)) {
		snprintf(where, 80, "--%s", tkm_option_long(o, spelt, sizeof(spelt)));
		return VT_BY_COMMAND;
	}
	snprintf(where, 80, "%s", variable);
	return VT_BY_VARIABLE;
}

static void load_variables(struct vt_settings *s, const char *commanded)
{
	const struct tkm_option *o;
	char name[64], where[80];
	enum vt_origin origin;
	const char *was;
	struct tkm_err e;

	for (o = s->table; o->name; o++) {
		const char *text = variable(s, tkm_option_variable(o, name, sizeof(name)));

		if (!text) {
			continue;
		}
		origin = origin_of(commanded, o, name, where);
		was = setting_text_of(o);
		if ((o->type == TKM_OPTION_LIST ? set_option_list(o, text, where, &e)
						: tkm_option_set(o, text, where, &e)) < 0 ||
			check_text(o, was, where, &e) < 0) {
			leave_out_option(s, o->name, e.text);
		} else {
			came_from(s, o, origin, where);
		}
	}
}

/* A variable may hold several patterns with their rules (Intel Trace Collector guide, section 2.4.2). Returns what follows the first. */
static char *add_first(struct vt_settings *s, const char *name, char *text, enum vt_origin origin, const char *where)
{
	const char *rest = text + strlen(text);
	struct vt_rule rule;
	char why[400], *end;

	if (vt_rule_name(name)) {
		vt_rule_parse(name, text, &rule, &rest, why, sizeof(why));
	}
	end = text + (rest - text);
	if (*end) {
		*end++ = '\0';
	}
	add_other(s, name, text, origin, where);
	return end;
}

static void add_variable(
	struct vt_settings *s, const char *variable, const char *name, const char *text, const char *commanded)
{
	const struct tkm_option as_option = { .name = name };
	char where[80], *copy, *save = NULL, *part;
	enum vt_origin origin = origin_of(commanded, &as_option, variable, where);

	if (!vt_settings_repeats(name)) {
		add_other(s, name, text, origin, where);
		return;
	}
	copy = strdup(text);
	for (part = copy ? strtok_r(copy, ";\n", &save) : NULL; part; part = strtok_r(NULL, ";\n", &save)) {
		while (*(part += strspn(part, " \t"))) {
			part = add_first(s, name, part, origin, where);
		}
	}
	free(copy);
}

/* Reads variables of options that are not in the table: "VT_SYNC_PERIOD" is "SYNC-PERIOD". */
static void other_variables(struct vt_settings *s, const char *commanded)
{
	char name[80], full[80], **all = s->variables ? s->variables : environ;
	const char *nearest;
	size_t i, k, n;

	for (i = 0; all && all[i]; i++) {
		n = strcspn(all[i], "=");
		if (strncmp(all[i], "VT_", 3) || n >= sizeof(name) || n < 4) {
			continue;
		}
		memcpy(full, all[i], n);
		full[n] = '\0';
		for (k = 3; k <= n; k++) {
			name[k - 3] = full[k] == '_' ? '-' : full[k];
		}
		for (k = 0; no_options[k] && strcmp(no_options[k], full); k++) {
		}
		if (no_options[k] || tkm_option_find(s->table, name)) {
			continue;
		}
		if (vt_settings_known(s, name, &nearest)) {
			add_variable(s, full, name, all[i] + n + 1, commanded);
		} else if (nearest) {
			/* other programs use such variables, too; only names similar to ours are reported as wrong */
			complain_of_unknown(s, full, name, nearest);
		}
	}
}

/* Counters that the user asked for are read at every event, as in the Intel Trace Collector guide, section 3.9. The
 * standard counters, which Tickmark chooses, are not. */
static void choose_interval(struct vt_settings *s)
{
	size_t i;

	for (i = 0; s->table[i].name; i++) {
		if (s->table[i].value == &s->counter_min_interval && s->origin[i] == VT_BY_DEFAULT &&
			s->counter.n > 0) {
			s->counter_min_interval = 0;
		}
	}
}

void vt_settings_load(struct vt_settings *s, const char *commanded)
{
	load_file(s);
	load_variables(s, commanded);
	other_variables(s, commanded);
	unquote_counters(s);
	check_counters(s);
	choose_interval(s);
	if ((s->summary || s->throttle) && !s->statistics) {
		s->statistics = 1;
	}
}

/* ---- the protocol file ---- */

static void print_setting_text(FILE *f, const char *text)
{
	if (*text && !strpbrk(text, " \t#\"")) {
		fprintf(f, "%s", text);
	} else {
		fprintf(f, "\"%s\"", text);
	}
}

static void print_value(FILE *f, const struct tkm_option *o)
{
	switch (o->type) {
	case TKM_OPTION_TEXT:
	case TKM_OPTION_NAME:
		print_setting_text(f, *(const char *const *)o->value);
		break;
	case TKM_OPTION_BOOL:
		fputs(*(int *)o->value ? "on" : "off", f);
		break;
	case TKM_OPTION_TIME:
		fprintf(f, "%.9gs", *(double *)o->value);
		break;
	case TKM_OPTION_FRACTION:
		fprintf(f, "%.9g", *(double *)o->value);
		break;
	default:
		fprintf(f, "%lld", *(long long *)o->value);
	}
}

static int has_value(const struct tkm_option *o)
{
	if (o->type == TKM_OPTION_LIST) {
		return ((struct tkm_option_list *)o->value)->n > 0;
	}
	return (o->type != TKM_OPTION_TEXT && o->type != TKM_OPTION_NAME) || *(const char *const *)o->value;
}

static const char *const origins[] = { "default", "configuration file", "environment", "command line" };

/* The list begins with the last mention. The first is printed first, because of two mentions of PROCESS or GROUP the
 * later one counts. */
static void print_others(FILE *f, const struct vt_setting_other *last)
{
	if (last) {
		print_others(f, last->next);
		fprintf(f, "# %s (%s)%s\n%s %s\n", origins[last->origin], last->where,
			vt_settings_whose(last->name) == VT_OF_NOBODY ? ", has no effect in this version" : "",
			last->name, last->text);
	}
}

void vt_settings_print(const struct vt_settings *s, FILE *f)
{
	const struct tkm_option_list *l;
	size_t i, k;

	for (i = 0; s->table[i].name; i++) {
		const struct tkm_option *o = &s->table[i];

		fprintf(f, "# %s%s%s%s\n", origins[s->origin[i]], s->where[i][0] ? " (" : "", s->where[i],
			s->where[i][0] ? ")" : "");
		if (!has_value(o)) {
			fprintf(f, "# %s\n", o->name);
			continue;
		}
		if (o->type == TKM_OPTION_LIST) {
			for (l = o->value, k = 0; k < l->n; k++) {
				fprintf(f, "%s %s\n", o->name, l->text[k]);
			}
			continue;
		}
		fprintf(f, "%s ", o->name);
		print_value(f, o);
		fputc('\n', f);
	}
	print_others(f, s->others);
}

void vt_settings_free(struct vt_settings *s)
{
	struct vt_setting_other *o, *next;

	for (o = s->others; o; o = next) {
		next = o->next;
		free_other(o);
	}
	tkm_option_free(s->table, s->storage);
	s->others = NULL;
	s->storage = NULL;
}
