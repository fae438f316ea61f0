/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads counters that are numbers in text files, by the tables of text.h. */
#include "config.h"
#include "sampler/sources/text_file.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/rootfs.h"

enum { TEXT_SIZE = 1 << 18 }; /* a longer file would be cut, so it gives no value */

static const char *nth_word(const char *p, int nth)
{
	for (;;) {
		p += strspn(p, " \t");
		if (--nth == 0 || !*p || *p == '\n') {
			return p;
		}
		p += strcspn(p, " \t\n");
	}
}

static const char *line_of_key(const char *text, const char *label)
{
	size_t len = strlen(label);

	while (text && strncmp(text, label, len) != 0) {
		text = smp_next_line(text);
	}
	return text ? text + len : NULL;
}

/* Finds the word `key` in one line. */
static const char *key_of_line(const char *line, const char *key)
{
	const char *end = line + strcspn(line, "\n"), *p = line;

	while ((p = strstr(p, key)) != NULL && p < end) {
		if (p == line || p[-1] == ' ') {
			return p + strlen(key);
		}
		p += strlen(key);
	}
	return NULL;
}

/* "Tcp: Name Name", and below "Tcp: 1 2". */
static const char *column_of_value(const char *text, const char *label, const char *key)
{
	const char *head = line_of_key(text, label), *p;
	const char *values = head ? line_of_key(head, label) : NULL;
	size_t len = strlen(key);
	int nth;

	for (nth = 1; values && *(p = nth_word(head, nth)) && *p != '\n'; nth++) {
		if (strcspn(p, " \n") == len && !strncmp(p, key, len)) {
			return nth_word(values, nth);
		}
	}
	return NULL;
}

/* Whole part and at most nine digits after the point; no locale takes part. */
static int decimal(const char *p, double *out)
{
	uint64_t whole, part = 0;
	double unit = 1;
	int digits;

	if (smp_number(&p, &whole) < 0) {
		return -1;
	}
	if (*p == '.') {
		for (p++, digits = 0; *p >= '0' && *p <= '9' && digits < 9; p++, digits++) {
			part = part * 10 + (uint64_t)(*p - '0');
			unit *= 10;
		}
	}
	*out = (double)whole + (double)part / unit;
	return 0;
}

static int sum_of(const char *text, const char *key, uint64_t *out)
{
	const char *p;
	uint64_t v;
	int found = 0;

	*out = 0;
	for (; text && *text; text = smp_next_line(text)) {
		p = key_of_line(text, key);
		if (p && smp_number(&p, &v) == 0) {
			*out += v;
			found = 1;
		}
	}
	return found ? 0 : -1;
}

int smp_text_find(const struct smp_text_counter *c, const char *text, union smp_value *out)
{
	const char *p = text;
	uint64_t v;

	switch (c->where) {
	case SMP_STAT:
		p = strrchr(text, ')');
		p = p && c->nth > 2 ? nth_word(p + 1, c->nth - 2) : NULL;
		break;
	case SMP_LABEL:
		p = line_of_key(text, c->label);
		p = p && c->nth > 1 ? nth_word(p, c->nth) : p;
		break;
	case SMP_COLUMN:
		p = column_of_value(text, c->label, c->key);
		break;
	case SMP_KEY:
		p = line_of_key(text, c->label);
		p = p ? key_of_line(p, c->key) : NULL;
		break;
	case SMP_SUM:
		if (sum_of(text, c->key, &v) < 0) {
			return -1;
		}
		out->u = v * (c->scale ? c->scale : 1);
		return 0;
	case SMP_DECIMAL:
		return decimal(nth_word(text, c->nth), &out->f);
	case SMP_WORD:
		p = nth_word(text, c->nth);
		break;
	}
	if (!p || smp_number(&p, &v) < 0) {
		return -1;
	}
	out->u = v * (c->scale ? c->scale : 1);
	return 0;
}

/* ---- listing ------------------------------------------------------------------------------------- */

/* The target that a listing looks at: this process and its calling thread; of a snapshot, its "self". */
static struct smp_target listed_target(enum smp_scope scope)
{
	return (struct smp_target){ scope, 0, scope == SMP_THREAD ? (int32_t)gettid() : 0 };
}

static void check_layout(const struct smp_text_source *s, const struct smp_text_counter *t, const struct smp_env *env,
	int root, char *text, char why[SMP_TEXT])
{
	struct smp_target target = listed_target(t->scope);
	union smp_value v;
	char path[256];

	why[0] = '\0';
	if (s->path(env, &target, t->file, path, sizeof(path), why) < 0) {
		return;
	}
	errno = 0;
	if (root < 0 || tkm_root_read(root, path, text, TEXT_SIZE) < 0 || smp_text_find(t, text, &v) < 0) {
		s->missing(env, t->file, path, errno, why);
	}
}

int smp_text_list(const struct smp_text_source *s, const struct smp_env *env, const char *hint, smp_each each,
	void *ctx, char why[SMP_TEXT])
{
	int root, rc = 0, name = tkm_glob_is_name(hint);
	char reason[SMP_TEXT], *text;
	size_t i;

	if (!tkm_glob_may_match(hint, s->prefix)) {
		return 0;
	}
	text = calloc(1, TEXT_SIZE);
	if (!text) {
		return smp_why(why, "no memory");
	}
	root = smp_root(env);
	for (i = 0; rc == 0 && i < s->n; i++) {
		const struct smp_text_counter *t = &s->counter[i];
		struct smp_counter c = {
			.name = t->name,
			.unit = t->unit,
			.what = t->what,
			.scope = t->scope,
			.type = t->type,
			.kind = t->kind,
			.factor = t->factor,
			.shown_unit = t->shown_unit,
		};

		if (name ? strcasecmp(hint, t->name) == 0 : tkm_glob_match(hint, t->name)) {
			check_layout(s, t, env, root, text, reason);
			c.missing = reason[0] ? reason : NULL;
			rc = each(&c, ctx);
		}
	}
	if (root >= 0) {
		close(root);
	}
	free(text);
	return rc;
}

/* ---- sets ---------------------------------------------------------------------------------------- */

struct wanted {
	const struct smp_text_counter *counter;
	struct smp_count count;
};

struct text_set {
	const struct smp_text_source *source;
	const struct smp_env *env;
	struct smp_target target;
	int64_t at_ms, first_ms; /* of this reading, and of the first one */
	size_t n;
	struct smp_file *file; /* one per file of the source; fd -1: not wanted or not there */
	char text[TEXT_SIZE];
	struct wanted want[];
};

static int open_text_file(struct text_set *s, int file, char why[SMP_TEXT])
{
	char path[256];
	int root, rc, saved;

	if (s->source->path(s->env, &s->target, file, path, sizeof(path), why) < 0) {
		return -1;
	}
	root = smp_root(s->env);
	rc = root < 0 ? -1 : smp_file_open(&s->file[file], root, path);
	saved = errno;
	if (root >= 0) {
		close(root);
	}
	if (rc < 0) {
		s->source->missing(s->env, file, path, saved, why);
	}
	return rc;
}

static const struct smp_text_counter *find_text_counter(const struct smp_text_source *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (strcmp(s->counter[i].name, name) == 0) {
			return &s->counter[i];
		}
	}
	return NULL;
}

void *smp_text_open(const struct smp_text_source *source, const struct smp_env *env, const struct smp_target *target,
	struct smp_wanted w, char why[SMP_TEXT])
{
	struct text_set *s = calloc(1, sizeof(*s) + w.n * sizeof(s->want[0]) + source->n_files * sizeof(*s->file));
	size_t i;

	if (!s) {
		smp_why(why, "no memory");
		return NULL;
	}
	s->source = source;
	s->env = env;
	s->target = *target;
	s->n = w.n;
	s->file = (struct smp_file *)(s->want + w.n);
	for (i = 0; i < source->n_files; i++) {
		s->file[i].fd = -1;
	}
	for (i = 0; i < w.n; i++) {
		const struct smp_text_counter *c = find_text_counter(source, w.names[i]);

		if (!c) {
			smp_why(w.why_each[i], "no such counter");
		} else if (s->file[c->file].fd >= 0 || open_text_file(s, c->file, w.why_each[i]) == 0) {
			s->want[i].counter = c;
		}
	}
	return s;
}

/* Reads one file; one that the program has closed is opened again. Returns 0, -1 no value, -2 the target is gone. */
static int read_text_file(struct text_set *s, int file)
{
	char why[SMP_TEXT];
	ssize_t len = -1;

	if (smp_file_there(&s->file[file]) || open_text_file(s, file, why) == 0) {
		len = smp_file_read(&s->file[file], s->text, sizeof(s->text));
	}
	if (len >= 0) {
		return len > 0 && len < (ssize_t)sizeof(s->text) - 1 ? 0 : -1;
	}
	return s->target.scope != SMP_NODE && (errno == ESRCH || errno == ENOENT) ? -2 : -1;
}

static uint8_t put_text_value(const struct text_set *s, struct wanted *w, const char *text, union smp_value *value)
{
	union smp_value v;
	uint8_t state = SMP_VALID;

	if (smp_text_find(w->counter, text, &v) < 0) {
		return 0;
	}
	if (w->counter->kind == SMP_TOTAL) {
		if (!w->count.begun) {
			smp_count_begin(&w->count, v.u, s->at_ms == s->first_ms ? v.u : 0, s->at_ms);
		} else {
			state = smp_count_add(&w->count, &w->counter->can, v.u, s->at_ms);
		}
		v.u = w->count.sum;
	}
	*value = v;
	return state;
}

int smp_text_read(void *set, union smp_value *value, uint8_t *state)
{
	struct text_set *s = set;
	int file, valid = 0, gone = 0, rc;
	size_t i;

	s->at_ms = smp_reading_ms(s->env, s->at_ms);
	s->first_ms = s->first_ms ? s->first_ms : s->at_ms;
	for (file = 0; file < (int)s->source->n_files; file++) {
		rc = 1;
		for (i = 0; i < s->n; i++) {
			struct wanted *w = &s->want[i];

			if (w->counter && w->counter->file == file) {
				rc = rc == 1 ? read_text_file(s, file) : rc;
				state[i] = rc == 0 ? put_text_value(s, w, s->text, &value[i]) : 0;
				valid += state[i] != 0;
				gone |= rc == -2;
			}
		}
		if (s->env->flags & SMP_BRIEF && s->target.scope != SMP_NODE) {
			smp_file_close(&s->file[file]);
		}
	}
	return valid == 0 && gone ? -1 : valid;
}

void smp_text_close(void *set)
{
	struct text_set *s = set;
	size_t i;

	for (i = 0; i < s->source->n_files; i++) {
		smp_file_close(&s->file[i]);
	}
	free(s);
}
