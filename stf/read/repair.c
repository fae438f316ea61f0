/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a definition layer that is damaged, or may be, line by line. A damaged line costs at most one definition:
 * the layout of this library takes its place. */
#include "config.h"
#include "stf/read/repair.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"

#define LONGEST_LAYER (1u << 20)

int stf_faults_add(struct stf_faults *l, const struct stf_err *e)
{
	struct stf_err *p;

	l->count++;
	if (l->n == STX_MAX_FAULTS) {
		return 0;
	}
	p = TKM_APPEND(l->fault, l->n);
	if (!p) {
		return -1;
	}
	*p = *e;
	return 0;
}

struct layer {
	struct stf_defs *defs;
	struct stf_source *s;
	struct stf_faults *faults;
	const char *text; /* n bytes, the last one is LF */
	size_t n;
	int ours; /* the index begins with an identity, so a Tickmark writer printed these lines */
	int bad;  /* at least one line was damaged */
};

/* Finds where the index begins in the part of the base file that is in memory: after the END line, or at the
 * identity that begins the index. *identity becomes its byte order, or -1 if there is none. Returns 0 if neither
 * is found. */
static size_t find_index(const uint8_t *p, size_t n, int *identity)
{
	struct stf_trace_identity id;
	size_t i, end = 0;
	int big;

	*identity = -1;
	for (i = 1; i < n; i++) {
		if (p[i - 1] != '\n') {
			continue;
		}
		if (!end && n - i >= 4 && memcmp(p + i, "END\n", 4) == 0) {
			end = i + 4;
		}
		for (big = 0; n - i >= STX_IDENTITY_SIZE && big < 2; big++) {
			if (stf_identity_get(&id, p + i, big) == 0) {
				*identity = big;
				return i;
			}
		}
	}
	return end;
}

static int note_repair(struct layer *l, size_t at, size_t number, const char *fmt, const char *what)
{
	struct stf_err e;

	l->bad = 1;
	stf_fail(&e, STF_ERR_DEFINITION, l->s->path, at, number, fmt, what);
	return stf_faults_add(l->faults, &e);
}

/* Uses the definition of this library, unless the record has one. */
static int define_ours(struct layer *l, unsigned id, struct stf_err *err)
{
	struct stf_buf b = { 0 };
	int rc = 0;

	if (l->defs->def[id]) {
		return 0;
	}
	stf_defs_print_one(&b, id);
	if (b.failed || !b.n) {
		rc = b.failed ? stf_no_memory(err) : 0;
	} else {
		rc = stf_defs_line(l->defs, b.p, b.n - 1, err);
	}
	free(b.p);
	return rc;
}

static int define_all(struct layer *l, struct stf_err *err)
{
	unsigned id;
	int rc = define_ours(l, STF_ID_willy_id, err);

	for (id = 1; id <= STX_IDENTITY_ID && rc == 0; id++) {
		rc = define_ours(l, id, err);
	}
	return rc;
}

/* The id that a line defines, as far as it can be read; 0: none. */
static unsigned id_of(const char *line)
{
	unsigned id = 0;

	return sscanf(line, "RECORD %3u ", &id) == 1 && id <= STX_IDENTITY_ID ? id : 0;
}

/* Prints the line anew as the parser understood it; prints nothing if it could not be parsed. */
static void normalise(const char *line, size_t n, struct stf_buf *out)
{
	char willy[] = "RECORD 72 willy_id U4:gtp", *copy = malloc(n + 1);
	struct stf_defs d = { 0 };
	struct stf_err e;

	if (!copy) {
		out->failed = 1;
		return;
	}
	memcpy(copy, line, n);
	copy[n] = 0;
	if ((strncmp(line, "RECORD 72 ", 10) == 0 || stf_defs_line(&d, willy, sizeof(willy) - 1, &e) == 0) &&
		stf_defs_line(&d, copy, n, &e) == 0) {
		stf_defs_print_all(out, &d);
	}
	free(copy);
	stf_defs_free(&d);
}

/* A line of a Tickmark writer must equal the line of this library, else it is damaged. */
static int check_ours(struct layer *l, const char *line, size_t n, size_t at, size_t number, struct stf_err *err)
{
	struct stf_buf own = { 0 }, want = { 0 }, has = { 0 };
	unsigned id = id_of(line);
	int good = *line == '#' || strcmp(line, "END") == 0, rc = 0;

	if (id && !good) {
		stf_defs_print_one(&own, id);
		good = own.n == n + 1 && memcmp(own.p, line, n) == 0;
	}
	if (!good && own.n) {
		normalise(own.p, own.n - 1, &want);
		normalise(line, n, &has);
		good = has.n && has.n == want.n && memcmp(has.p, want.p, has.n) == 0;
	}
	if (own.failed || want.failed || has.failed) {
		rc = stf_no_memory(err);
	} else if (!good) {
		rc = note_repair(l, at, number,
			"this line is damaged; the definition of this library is taken: \"%.60s\"", line);
	}
	free(own.p);
	free(want.p);
	free(has.p);
	return rc;
}

static int take_line(struct layer *l, char *line, size_t n, size_t at, size_t number, struct stf_err *err)
{
	char text[80];
	unsigned id;

	if (l->ours) {
		line[n] = 0;
		return check_ours(l, line, n, at, number, err);
	}
	snprintf(text, sizeof(text), "%.*s", (int)(n < 70 ? n : 70), line);
	id = id_of(text);
	if (stf_defs_line(l->defs, line, n, err) >= 0) {
		return 0;
	}
	if (err->code == STF_ERR_NOMEM) {
		return -1;
	}
	/* added at once, because other records may use it as a type */
	return note_repair(l, at, number, "%s; the definition of this library is taken", err->text) < 0 ? -1
		: id ? define_ours(l, id, err)
		     : 0;
}

/* The byte order: that of the identity, or else of the first line. */
static int take_head(struct layer *l, const char *line, size_t n, int identity, struct stf_err *err)
{
	int rc = stf_defs_head(l->defs, line, n, err);

	if (identity < 0) {
		return rc;
	}
	if (rc < 0 || l->defs->big != identity) {
		l->defs->big = identity;
		return note_repair(l, 0, 1, "the first line is damaged; the byte order is taken from the index: %s",
			identity ? "big-endian" : "little-endian");
	}
	return 0;
}

static int take_lines(struct layer *l, int identity, struct stf_err *err)
{
	size_t at = 0, number = 1, n;
	const char *lf;
	char *line;
	int rc = 0;

	for (; at < l->n && rc == 0; at += n + 1, number++) {
		lf = memchr(l->text + at, '\n', l->n - at);
		n = lf ? (size_t)(lf - (l->text + at)) : l->n - at;
		line = malloc(n + 1);
		if (!line) {
			return stf_no_memory(err);
		}
		memcpy(line, l->text + at, n);
		line[n] = 0;
		rc = number == 1 ? take_head(l, line, n, identity, err) : take_line(l, line, n, at, number, err);
		free(line);
	}
	return rc;
}

int stf_repair_layer(struct stf_defs *defs, struct stf_source *s, struct stf_faults *faults, struct stf_err *err)
{
	struct layer l = { .defs = defs, .s = s, .faults = faults };
	size_t was, end;
	int identity;

	do {
		was = s->len;
		if (stf_source_fill(s, err) < 0) {
			return -1;
		}
	} while (s->len > was && s->len < s->size && s->len < LONGEST_LAYER && s->offset == 0);
	end = s->offset == 0 && s->buf ? find_index(s->buf, s->len, &identity) : 0;
	if (!end) {
		return 0;
	}
	l.text = (const char *)s->buf;
	l.n = end;
	l.ours = identity >= 0;
	if (take_lines(&l, identity, err) < 0 || ((l.ours || l.bad) && define_all(&l, err) < 0)) {
		return -1;
	}
	s->pos = end;
	return 1;
}
