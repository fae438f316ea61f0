/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles the components of a trace as bytes: lists, copies, packs, unpacks, moves and removes them. */
#include "config.h"
#include "base/text/text.h"
#include "tools/cli/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"

#define MAGIC "STFSINGLE 1.0\n"

enum stt_format stt_input_format(const char *path)
{
	char head[16] = "";
	struct stat st;
	FILE *f = stat(path, &st) == 0 && !S_ISREG(st.st_mode) ? NULL : fopen(path, "re");
	size_t n;

	if (!f) {
		return STT_UNSAID;
	}
	n = fread(head, 1, sizeof(head) - 1, f);
	fclose(f);
	if (n >= strlen(MAGIC) && !memcmp(head, MAGIC, strlen(MAGIC))) {
		return STT_SINGLE;
	}
	n = strlen(path);
	return n >= 4 && !strcmp(path + n - 4, ".avt") ? STT_ASCII : STT_STF;
}

/* ---- the list ---- */

void stt_components_free(struct stt_components *l)
{
	while (l->n) {
		free(l->c[--l->n].suffix);
		free(l->c[l->n].path);
	}
	free(l->c);
	l->c = NULL;
}

static struct stt_component *add_component(struct stt_components *l, const char *suffix)
{
	struct stt_component *p = TKM_APPEND(l->c, l->n);

	if (p) {
		p->suffix = strdup(suffix);
	}
	return p && p->suffix ? p : NULL;
}

/* Adds a component in a file of its own, compressed or not. */
static int add_component_file(struct stt_components *l, const char *base, const char *suffix)
{
	struct stt_component *c = add_component(l, suffix);
	struct stat st;
	char *packed;

	if (!c) {
		return -1;
	}
	if (asprintf(&c->path, "%s%s", base, suffix) < 0) {
		c->path = NULL;
		return -1;
	}
	if (stat(c->path, &st) < 0) {
		c->missing = 1;
		if (*suffix) {
			if (asprintf(&packed, "%s.zst", c->path) < 0) {
				return -1; /* the file may exist, so its state is unknown */
			}
			if (stat(packed, &st) == 0) {
				char *s = strdup(packed + strlen(base));

				free(c->path);
				free(c->suffix);
				c->path = strdup(packed);
				c->suffix = s;
				c->missing = 0;
			}
			free(packed);
		}
	}
	c->size = c->missing ? 0 : (uint64_t)st.st_size;
	return c->path && c->suffix ? 0 : -1;
}

static int list_declared(struct stt_components *l, const struct stt_options *o)
{
	const struct stf_record *rec;
	struct stt_trace t = { .path = o->input };
	struct stf_err e;
	size_t i;
	int rc;

	t.r = stf_reader_open(o->input, STF_READ_DAMAGED, &e);
	if (!t.r) {
		stt_stf_fault(o, &e);
		return -1;
	}
	e = *stf_reader_fault(t.r);
	if (e.code == STF_ERR_NOMEM || (e.code != STF_OK && !strcmp(e.file, o->input))) {
		/* an index that was not read to its end does not name all files */
		stt_stf_fault(o, &e);
		stf_reader_close(t.r);
		return -1;
	}
	rc = add_component_file(l, o->input, "");
	for (i = 0; rc == 0 && (rec = stf_reader_record(t.r, STF_ID_file_declaration, i)); i++) {
		rc = add_component_file(l, o->input, stf_value(rec, "suffix")->array);
	}
	stf_reader_close(t.r);
	if (rc < 0) {
		stt_fault(o, "out of memory");
	}
	return rc;
}

static int bad_line(struct stf_err *e, const char *path, uint64_t at, uint64_t number, const char *text)
{
	*e = (struct stf_err){ .code = STF_ERR_FORMAT, .offset = at, .record = number };
	snprintf(e->file, sizeof(e->file), "%s", path);
	snprintf(e->text, sizeof(e->text), "%s", text);
	return -1;
}

/* Parses a line: FILE suffix offset size */
static int add_line(struct stt_components *l, const char *path, char *line)
{
	char suffix[256], end;
	uint64_t offset, size;
	struct stt_component *c;
	size_t i;

	if (sscanf(line, "FILE %255s %" SCNu64 " %" SCNu64 "%c", suffix, &offset, &size, &end) != 4 || end != '\n' ||
		strchr(line, '-') != NULL || offset > INT64_MAX || size > INT64_MAX - offset) {
		return -1;
	}
	if (strcmp(suffix, "base") ? suffix[0] != '.' || strchr(suffix, '/') : l->n != 0) {
		return -1;
	}
	for (i = 0; i < l->n; i++) {
		if (!strcmp(l->c[i].suffix, suffix)) {
			return -1;
		}
	}
	c = add_component(l, strcmp(suffix, "base") ? suffix : "");
	if (!c) {
		return -1;
	}
	c->path = strdup(path);
	c->offset = offset;
	c->size = size;
	return c->path ? 0 : -1;
}

int stt_components_of_single(struct stt_components *l, const char *path, struct stf_err *e)
{
	char line[400];
	FILE *f = fopen(path, "re");
	uint64_t at = 0, number = 1;
	struct stat st;
	size_t i;
	int rc = -1;

	memset(l, 0, sizeof(*l));
	l->single = 1;
	if (!f || fstat(fileno(f), &st) < 0 || !fgets(line, sizeof(line), f)) {
		rc = bad_line(e, path, 0, 0, "cannot read");
		goto out;
	}
	for (;;) {
		at += strlen(line);
		number++;
		if (!fgets(line, sizeof(line), f)) {
			rc = bad_line(e, path, at, number, "the file ends inside its directory");
			goto out;
		}
		if (!strcmp(line, "END\n")) {
			break;
		}
		if (add_line(l, path, line) < 0) {
			rc = bad_line(e, path, at, number,
				"expected FILE suffix offset size, the base first and each once, or END");
			goto out;
		}
	}
	rc = l->n ? 0 : bad_line(e, path, at, number, "the directory names no base file");
	at += strlen(line);
	for (i = 0; rc == 0 && i < l->n; i++) {
		at += l->c[i].size;
		if (l->c[i].offset + l->c[i].size > (uint64_t)st.st_size) {
			rc = bad_line(e, path, (uint64_t)st.st_size, i + 2, "the file ends inside this component");
			snprintf(e->text, sizeof(e->text),
				"the file ends inside component %.100s, which is %" PRIu64 " bytes from %" PRIu64,
				l->c[i].suffix[0] ? l->c[i].suffix : "base", l->c[i].size, l->c[i].offset);
		}
	}
	l->surplus = rc == 0 && (uint64_t)st.st_size > at ? (uint64_t)st.st_size - at : 0;
out:
	if (f) {
		fclose(f);
	}
	return rc;
}

int stt_components_list(struct stt_components *l, const struct stt_options *o)
{
	struct stf_err e;

	memset(l, 0, sizeof(*l));
	if (stt_input_format(o->input) != STT_SINGLE) {
		return list_declared(l, o);
	}
	if (stt_components_of_single(l, o->input, &e) < 0) {
		stt_stf_fault(o, &e);
		return -1;
	}
	return 0;
}

uint64_t stt_surplus(const char *path)
{
	struct stt_components l;
	struct stf_err e;
	uint64_t n = stt_components_of_single(&l, path, &e) == 0 ? l.surplus : 0;

	stt_components_free(&l);
	return n;
}

/* ---- copying ---- */

static int copy_bytes(const struct stt_component *c, const struct stt_options *o, struct stt_out *out)
{
	char buf[65536];
	uint64_t left = c->size;
	FILE *f = c->missing ? NULL : fopen(c->path, "re");
	size_t n;

	if (!f || fseeko(f, (off_t)c->offset, SEEK_SET) < 0) {
		stt_fault(o, "%s: cannot read: %s", c->path, c->missing ? "the component is missing" : strerror(errno));
		if (f) {
			fclose(f);
		}
		return -1;
	}
	while (left > 0) {
		n = fread(buf, 1, left < sizeof(buf) ? (size_t)left : sizeof(buf), f);
		if (n == 0 || fwrite(buf, 1, n, out->f) != n) {
			break;
		}
		left -= n;
		stt_progress_part(o, c->size - left, c->size);
	}
	stt_progress_part(o, 1, 1);
	if (left > 0 && !ferror(out->f)) {
		stt_fault(o, "%s: offset %" PRIu64 ": the file became shorter while it was read", c->path,
			c->offset + c->size - left);
	} else if (left > 0) {
		stt_fault(o, "cannot write %s: %s", out->name, strerror(errno));
	}
	fclose(f);
	return left > 0 ? -1 : 0;
}

int stt_copy_components(const struct stt_components *l, const struct stt_options *o, const char *to)
{
	struct stt_out *out = calloc(l->n, sizeof(*out));
	char **name = calloc(l->n, sizeof(*name));
	size_t i, begun = 0, done = 0;
	int ok = out && name;

	if (!ok) {
		stt_fault(o, "%s: out of memory", o->input);
	}
	for (i = 0; ok && i < l->n; i++) {
		if (asprintf(&name[i], "%s%s", to, l->c[i].suffix) < 0) {
			name[i] = NULL;
			ok = 0;
			stt_fault(o, "%s: out of memory", o->input);
		}
		ok = ok && stt_out_begin(&out[i], name[i], o) == 0;
		begun += (size_t)ok;
		ok = ok && copy_bytes(&l->c[i], o, &out[i]) == 0;
	}
	/* the base file is last, because it makes the others a trace */
	while (ok && done < l->n) {
		i = l->n - 1 - done;
		ok = stt_out_end(&out[i], o) == 0;
		done += (size_t)ok;
	}
	for (i = 0; !ok && i < begun; i++) {
		if (i >= l->n - done) {
			unlink(name[i]);
		} else {
			stt_out_abort(&out[i]);
		}
	}
	for (i = 0; name && i < l->n; i++) {
		free(name[i]);
	}
	free(name);
	free(out);
	return ok ? STT_OK : STT_FAULT;
}

/* The length of the directory determines the offsets that are written in it. */
static char *make_archive_directory(const struct stt_components *l, size_t *length)
{
	uint64_t at, assumed = 0;
	char *text;
	FILE *m;
	size_t i;

	for (;;) {
		text = NULL;
		m = open_memstream(&text, length);
		if (!m) {
			return NULL;
		}
		fputs(MAGIC, m);
		for (i = 0, at = assumed; i < l->n; i++) {
			fprintf(m, "FILE %s %" PRIu64 " %" PRIu64 "\n", l->c[i].suffix[0] ? l->c[i].suffix : "base", at,
				l->c[i].size);
			at += l->c[i].size;
		}
		fputs("END\n", m);
		if (tkm_text_end(m, &text) < 0 || *length == assumed) {
			return text;
		}
		/* longer offsets only make the directory longer, so this loop ends */
		assumed = *length > assumed ? *length : assumed + 1;
		free(text);
	}
}

int stt_pack(const struct stt_components *l, const struct stt_options *o, const char *to)
{
	struct stt_out out;
	size_t length, i;
	char *text = make_archive_directory(l, &length);
	int ok;

	if (!text) {
		return stt_fault(o, "out of memory");
	}
	if (stt_out_begin(&out, to, o) < 0) {
		free(text);
		return STT_FAULT;
	}
	ok = fwrite(text, 1, length, out.f) == length;
	if (!ok) {
		stt_fault(o, "cannot write %s: %s", to, strerror(errno));
	}
	for (i = 0; ok && i < l->n; i++) {
		ok = copy_bytes(&l->c[i], o, &out) == 0;
	}
	free(text);
	if (!ok) {
		stt_out_abort(&out);
		return STT_FAULT;
	}
	return stt_out_end(&out, o) < 0 ? STT_FAULT : STT_OK;
}

/* ---- moving and removing ---- */

static void free_names(char **name, size_t n)
{
	while (name && n > 0) {
		free(name[--n]);
	}
	free(name);
}

/* The new paths of the components, beside `to`. All are made before the first file is moved, so that a lack of
 * memory cannot stop the move halfway. NULL: out of memory. */
static char **targets(const struct stt_components *l, size_t n, const char *to)
{
	char **name = calloc(n + 1, sizeof(*name));
	size_t i;

	for (i = 0; name && i < n; i++) {
		if (asprintf(&name[i], "%s%s", to, l->single ? "" : l->c[i].suffix) < 0) {
			free_names(name, i);
			return NULL;
		}
	}
	return name;
}

static int move_one(const char *from, const char *to, const struct stt_options *o)
{
	struct stt_component c = { .path = (char *)(uintptr_t)from };
	struct stt_out out;
	struct stat st;

	if (!o->force && lstat(to, &st) == 0) {
		stt_fault(o, "%s exists; --force replaces it", to);
		return -1;
	}
	if (rename(from, to) == 0) {
		return 0;
	}
	if (errno != EXDEV || stat(from, &st) < 0) {
		stt_fault(o, "cannot move %s to %s: %s", from, to, strerror(errno));
		return -1;
	}
	c.size = (uint64_t)st.st_size;
	if (stt_out_begin(&out, to, o) < 0) {
		return -1;
	}
	if (copy_bytes(&c, o, &out) < 0) {
		stt_out_abort(&out);
		return -1;
	}
	return stt_out_end(&out, o) < 0 || unlink(from) < 0 ? -1 : 0;
}

static int move_all(const struct stt_components *l, const struct stt_options *o, const char *to)
{
	size_t n = l->single ? 1 : l->n, i, done = 0;
	char **name = targets(l, n, to);
	struct stat st;
	int ok = name != NULL;

	if (!ok) {
		stt_fault(o, "%s: out of memory", o->input);
	}
	for (i = 0; ok && i < n; i++) {
		ok = o->force || lstat(name[i], &st) < 0;
		if (!ok) {
			stt_fault(o, "%s exists; --force replaces it", name[i]);
		}
	}
	/* the base file is last */
	for (; ok && done < n; done += (size_t)ok) {
		i = n - 1 - done;
		ok = l->c[i].missing || move_one(l->c[i].path, name[i], o) == 0;
	}
	for (i = n - done; !ok && i < n; i++) {
		if (!l->c[i].missing && rename(name[i], l->c[i].path) < 0) {
			stt_fault(o, "cannot move %s back: %s", name[i], strerror(errno));
		}
	}
	free_names(name, n);
	return ok ? STT_OK : STT_FAULT;
}

int stt_move(const struct stt_options *o, const char *to)
{
	struct stt_components l;
	struct stat st, old;
	const char *name = strrchr(o->input, '/');
	int into = to[0] && (to[strlen(to) - 1] == '/' || (stat(to, &st) == 0 && S_ISDIR(st.st_mode)));
	char *full = NULL;
	int rc = STT_FAULT;

	if (stt_components_list(&l, o) < 0) {
		stt_components_free(&l);
		return STT_FAULT;
	}
	name = name ? name + 1 : o->input;
	if (asprintf(&full, "%s%s%s", to, into && to[strlen(to) - 1] != '/' ? "/" : "", into ? name : "") < 0) {
		full = NULL;
		stt_fault(o, "out of memory");
	} else if (stat(full, &st) == 0 && stat(o->input, &old) == 0 && st.st_ino == old.st_ino &&
		st.st_dev == old.st_dev) {
		stt_fault(o, "%s and %s are the same file", o->input, full);
	} else {
		rc = move_all(&l, o, full);
		if (rc == STT_OK) {
			stt_say(o, 1, "%s is now %s", o->input, full);
		}
	}
	free(full);
	stt_components_free(&l);
	return rc;
}

int stt_remove(const struct stt_options *o)
{
	struct stt_components l;
	size_t i, gone = 0;
	int rc = STT_OK;

	if (stt_components_list(&l, o) < 0) {
		stt_components_free(&l);
		return STT_FAULT;
	}
	/* the base file is last: without it the other files could not be found */
	for (i = l.single ? 1 : l.n; i-- > 0 && (rc == STT_OK || i > 0);) {
		if (!l.c[i].missing && unlink(l.c[i].path) < 0) {
			rc = stt_fault(o, "cannot remove %s: %s", l.c[i].path, strerror(errno));
		}
		gone += (size_t)!l.c[i].missing;
	}
	if (rc == STT_OK) {
		stt_say(o, 1, "%s: removed, %zu file%s", o->input, gone, gone == 1 ? "" : "s");
	}
	stt_components_free(&l);
	return rc;
}
