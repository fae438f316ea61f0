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

/* The device of a line, "8:0" in "7:7 7:6 8:0 rbytes=1": the last word before `key` and before all that have a value. Returns its
 * length, 0 if there is none. */
static size_t device_of_line(const char *line, const char *key, const char **device)
{
	const char *end = line + strcspn(line, "\n"), *p = line;
	size_t len = 0, word;

	for (; p < end; p += word) {
		p += strspn(p, " \t");
		word = strcspn(p, " \t\n");
		if (!word || memchr(p, '=', word) || strncmp(p, key, strlen(key)) == 0 ||
			(len && p[0] >= 'A' && p[0] <= 'Z')) {
			break;
		}
		*device = p;
		len = word;
	}
	return len;
}

/* A text without any line of a device, of which it is sure that it is not something else. */
static int has_lines(const char *text)
{
	return !*text || *text == '(' || (*text >= '0' && *text <= '9' && text[strspn(text, "0123456789")] == ':');
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
		if (!p && c->without && line_of_key(text, c->without)) {
			out->u = 0;
			return 0;
		}
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
		out->u = 0;
		return has_lines(text) ? 0 : -1;
	case SMP_DECIMAL:
		return decimal(nth_word(text, c->nth), &out->f);
	case SMP_WORD:
		p = nth_word(text, c->nth);
		break;
	}
	if (!p || smp_whole_word(&p, &v) < 0 || (c->most && v > c->most)) {
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
	struct tkm_printed path = { 0 };
	union smp_value v;

	why[0] = '\0';
	errno = 0;
	if (s->path(env, &target, t->file, &path, why) == 0 &&
		(root < 0 || tkm_root_read(root, path.text, text, TEXT_SIZE) < 0 || smp_text_find(t, text, &v) < 0)) {
		s->missing(env, t->file, path.text, errno, why);
	}
	free(path.text);
}

int smp_text_list(const struct smp_text_source *s, const struct smp_env *env, const char *hint, smp_each each,
	void *ctx, char why[SMP_TEXT])
{
	char reason[SMP_TEXT], *text;
	int root, rc = 0;
	size_t i = 0;

	while (i < s->n && !smp_is_hinted(hint, s->counter[i].name)) {
		i++;
	}
	if (i == s->n) {
		return 0;
	}
	text = malloc(TEXT_SIZE);
	if (!text) {
		return smp_why(why, "no memory");
	}
	root = smp_root(env);
	for (; rc == 0 && i < s->n; i++) {
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

		if (smp_is_hinted(hint, t->name)) {
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

/* The line of a device in a sum. */
struct line {
	char *device;
	int included, seen;
	uint64_t raw; /* of this reading: of two lines of a device the larger number */
	struct smp_count count;
};

struct wanted {
	const struct smp_text_counter *counter;
	struct smp_count count;
	struct line *line;
	size_t n_lines;
	int was_read; /* the file, at least once: a line that comes then is a new one */
};

struct text_set {
	const struct smp_text_source *source;
	const struct smp_env *env;
	struct smp_target target;
	int64_t at_ms, first_ms; /* of this reading, and of the first one */
	size_t n;
	struct smp_file *file; /* one per file of the source; fd -1: not wanted or not there */
	int64_t *file_ms;      /* when it was read last; 0: not yet */
	struct tkm_printed path;
	char text[TEXT_SIZE];
	struct wanted want[];
};

static int open_text_file(struct text_set *s, int file, char why[SMP_TEXT])
{
	int root, rc, saved;

	if (s->source->path(s->env, &s->target, file, &s->path, why) < 0) {
		return -1;
	}
	root = smp_root(s->env);
	rc = root < 0 ? -1 : smp_file_open(&s->file[file], root, s->path.text);
	saved = errno;
	if (root >= 0) {
		close(root);
	}
	if (rc < 0) {
		s->source->missing(s->env, file, s->path.text, saved, why);
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
	struct text_set *s = calloc(
		1, sizeof(*s) + w.n * sizeof(s->want[0]) + source->n_files * (sizeof(*s->file) + sizeof(*s->file_ms)));
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
	s->file_ms = (int64_t *)(s->file + source->n_files);
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

/* Reads one file; one that the program has closed is opened again. Returns its length, or -1. */
static ssize_t read_opened_file(struct text_set *s, int file)
{
	int was_open = smp_file_there(&s->file[file]);
	char why[SMP_TEXT];
	ssize_t len = -1;

	if (was_open || open_text_file(s, file, why) == 0) {
		len = smp_file_read(&s->file[file], s->text, sizeof(s->text));
	}
	/* what it was about may be back under the same name: a cgroup, a mount */
	if (len < 0 && was_open && s->file[file].stays && s->target.scope == SMP_NODE) {
		smp_file_close(&s->file[file]);
		len = open_text_file(s, file, why) == 0 ? smp_file_read(&s->file[file], s->text, sizeof(s->text)) : -1;
	}
	return len;
}

/* Returns 0, -1 no value, -2 the target is gone. */
static int read_text_file(struct text_set *s, int file)
{
	ssize_t len = read_opened_file(s, file);
	int is_living = s->source->living && s->target.scope == SMP_PROCESS, tries;

	for (tries = 0; is_living && tries < 2; tries++) {
		int32_t tid = len < 0 ? 0 : s->source->living(s->env, &s->target, file, s->text);

		/* from then on the file of another thread, until that has ended, too */
		is_living = tid != 0 || (len < 0 && s->target.tid);
		if (is_living) {
			s->target.tid = tid;
			smp_file_close(&s->file[file]);
			len = read_opened_file(s, file);
		}
	}
	if (len >= 0) {
		return len < (ssize_t)sizeof(s->text) - 1 ? 0 : -1;
	}
	return s->target.scope != SMP_NODE && (errno == ESRCH || errno == ENOENT) ? -2 : -1;
}

static uint8_t take_count(
	const struct text_set *s, struct smp_count *c, const struct smp_physics *can, uint64_t raw, int is_new)
{
	if (c->begun) {
		return smp_count_add(c, can, raw, s->at_ms);
	}
	/* what is there at first starts as the kernel has it; what comes later counts from its first reading on, if it is not new */
	smp_count_begin(c, is_new ? 0 : raw, s->at_ms == s->first_ms ? raw : 0, s->at_ms);
	return is_new ? smp_count_add(c, can, raw, s->at_ms) : SMP_VALID;
}

static struct line *line_of_device(const struct text_set *s, struct wanted *w, const char *device, size_t len)
{
	struct line *l;
	size_t i;

	for (i = 0; i < w->n_lines; i++) {
		if (strncmp(w->line[i].device, device, len) == 0 && !w->line[i].device[len]) {
			return &w->line[i];
		}
	}
	l = TKM_APPEND(w->line, w->n_lines);
	if (l) {
		*l = (struct line){ .device = strndup(device, len) };
		if (!l->device) {
			w->n_lines--;
			return NULL;
		}
		l->included = !s->source->includes || s->source->includes(s->env, l->device);
	}
	return l;
}

/* Adds up the devices' totals. A device without a line has what it had. */
static uint8_t put_sum_of_lines(const struct text_set *s, struct wanted *w, const char *text, union smp_value *value)
{
	const char *line, *p, *device = NULL;
	uint8_t state = SMP_VALID;
	size_t i, len;
	struct line *l;
	uint64_t v;

	if (!has_lines(text)) {
		return 0;
	}
	for (line = text; line && *line; line = smp_next_line(line)) {
		p = key_of_line(line, w->counter->key);
		len = p ? device_of_line(line, w->counter->key, &device) : 0;
		l = len && smp_number(&p, &v) == 0 ? line_of_device(s, w, device, len) : NULL;
		if (l) {
			l->raw = l->seen && l->raw > v ? l->raw : v;
			l->seen = 1;
		}
	}
	value->u = 0;
	for (i = 0; i < w->n_lines; i++) {
		l = &w->line[i];
		if (l->seen) {
			state |= take_count(s, &l->count, &w->counter->can, l->raw, w->was_read);
		}
		l->seen = 0;
		value->u += l->included ? l->count.sum : 0;
	}
	w->was_read = 1;
	return state;
}

static uint8_t put_text_value(const struct text_set *s, struct wanted *w, const char *text, union smp_value *value)
{
	union smp_value v;
	uint8_t state = SMP_VALID;

	if (w->counter->where == SMP_SUM) {
		return put_sum_of_lines(s, w, text, value);
	}
	if (smp_text_find(w->counter, text, &v) < 0) {
		return 0;
	}
	if (w->counter->kind == SMP_TOTAL) {
		state = take_count(s, &w->count, &w->counter->can, v.u, 0);
		v.u = w->count.sum;
	}
	*value = v;
	return state;
}

/* Is it time to read the file again, for any of its counters? In a short run it is read more often: all but an eighth of the run is
 * seen. */
static int is_file_due(const struct text_set *s, int file)
{
	int64_t run = (s->at_ms - s->first_ms) / 8, age = s->at_ms - s->file_ms[file];
	size_t i;

	for (i = 0; i < s->n; i++) {
		const struct smp_text_counter *c = s->want[i].counter;

		if (c && c->file == file && (!s->file_ms[file] || age >= (run < c->every_ms ? run : c->every_ms))) {
			return 1;
		}
	}
	return 0;
}

int smp_text_read(void *set, union smp_value *value, uint8_t *state)
{
	struct text_set *s = set;
	int file, valid = 0, gone = 0, rc;
	size_t i;

	s->at_ms = smp_reading_ms(s->env, s->at_ms);
	s->first_ms = s->first_ms ? s->first_ms : s->at_ms;
	for (file = 0; file < (int)s->source->n_files; file++) {
		if (!is_file_due(s, file)) {
			continue;
		}
		s->file_ms[file] = s->at_ms;
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
	size_t i, k;

	for (i = 0; i < s->source->n_files; i++) {
		smp_file_close(&s->file[i]);
	}
	for (i = 0; i < s->n; i++) {
		for (k = 0; k < s->want[i].n_lines; k++) {
			free(s->want[i].line[k].device);
		}
		free(s->want[i].line);
	}
	free(s->path.text);
	free(s);
}
