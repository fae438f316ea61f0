/* SPDX-License-Identifier: BSD-3-Clause */
/* Several writers of one trace. Each leaves complete data files under temporary names, and a text with everything
 * that the index must know about them. The writer that takes in these texts gives all files their names. */
#include "config.h"
#include "stf/write/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HEAD "STFPART 2"

/* ---- the text ---- */

static void say_file(struct stf_buf *b, const struct stf_out *o)
{
	stf_buf_printf(b, "%llu %d %llu %zu ", (unsigned long long)o->size, o->hashed, (unsigned long long)o->digest,
		strlen(o->name.temporary));
	stf_buf_add(b, o->name.temporary, strlen(o->name.temporary));
	stf_buf_printf(b, "\n");
}

static void say_blocks(struct stf_buf *b, const struct stf_stream *s)
{
	stf_buf_printf(b, "BLOCKS");
	stf_blocks_print(b, &s->blocks);
	stf_buf_printf(b, "\n");
}

static void say_stream(struct stf_buf *b, const struct stf_stream *s, unsigned kind, uint32_t set)
{
	struct stf_summary m;
	unsigned i;

	stf_history_summary(s->history, &m);
	stf_buf_printf(b, "DATA %u %u %llu %llu %llu %llu\n", kind, set, (unsigned long long)m.min,
		(unsigned long long)m.max, (unsigned long long)m.n_late, (unsigned long long)m.most_late);
	for (i = 0; i < 256; i++) {
		if (m.counts[i]) {
			stf_buf_printf(b, "%u %llu\n", i, (unsigned long long)m.counts[i]);
		}
	}
	stf_buf_printf(b, "FILES\n");
	say_file(b, &s->out);
	if (s->anc) {
		say_file(b, &s->anc->out);
	}
	say_blocks(b, s);
	if (s->anc) {
		say_blocks(b, s->anc);
	}
}

static int say_all(struct stf_writer *w, struct stf_buf *b)
{
	unsigned kind, id;
	uint32_t set;

	stf_buf_printf(b, HEAD "\nIDENTITY %llu %llu\nUSED", (unsigned long long)w->identity.high,
		(unsigned long long)w->identity.low);
	for (id = 1; id < 256; id++) {
		if (w->used[id]) {
			stf_buf_printf(b, " %u", id);
		}
	}
	stf_buf_printf(b, "\n");
	for (kind = 0; kind < DATA_KINDS; kind++) {
		for (set = 0; set < w->n_sets[kind]; set++) {
			struct stf_stream *s = w->data[kind][set];

			if (s && stf_stream_close(s) < 0) {
				return -1;
			}
			if (s) {
				say_stream(b, s, kind, set);
			}
		}
	}
	stf_buf_printf(b, "END\n");
	stf_buf_add(b, "", 1);
	return b->failed ? stf_no_memory(&w->err) : 0;
}

/* Detaches these files, because another writer completes them. */
static void keep_file(struct stf_out *o)
{
	free(o->name.temporary);
	o->name.temporary = NULL;
}

char *stf_writer_finish_part(struct stf_writer *w, struct stf_err *err)
{
	struct stf_buf b = { 0 };
	unsigned kind;
	uint32_t set;
	int rc = -1;

	err->code = STF_OK;
	if (!w->opt.part) {
		stf_fail(&w->err, STF_ERR_ARG, NULL, 0, 0, "this writer was not created as a part");
	} else if (!stf_is_fatal(&w->err)) {
		rc = say_all(w, &b);
	}
	for (kind = 0; rc == 0 && kind < DATA_KINDS; kind++) {
		for (set = 0; set < w->n_sets[kind]; set++) {
			struct stf_stream *s = w->data[kind][set];

			if (s) {
				keep_file(&s->out);
			}
			if (s && s->anc) {
				keep_file(&s->anc->out);
			}
		}
	}
	if (rc < 0) {
		*err = w->err;
		free(b.p);
		b.p = NULL;
	}
	stf_writer_free(w);
	return b.p;
}

/* ---- taking a part in ---- */

static int refuse_text(struct stf_writer *w, const char *what)
{
	return stf_fail(&w->err, STF_ERR_FORMAT, NULL, 0, 0, "this text describes no part of a trace: %s", what);
}

/* Parses size, digest and name of one file, and moves *p after them. */
static int take_file(struct stf_writer *w, struct stf_stream *s, const struct stf_where *to, const char **p)
{
	unsigned long long size, digest;
	int hashed, at = -1;
	size_t len;

	if (sscanf(*p, "%llu %d %llu %zu %n", &size, &hashed, &digest, &len, &at) != 4 || at < 0 || len < 1 ||
		len > strlen(*p + at) || (*p)[at + (int)len] != '\n') {
		return refuse_text(w, "a file");
	}
	s->out.size = size;
	s->out.hashed = hashed;
	s->out.digest = digest;
	if (stf_out_adopt(&s->out, to, s->suffix, *p + at, len, &w->err) < 0) {
		return -1;
	}
	*p += at + len + 1;
	return 0;
}

static int take_blocks(struct stf_writer *w, struct stf_stream *s, const char **p)
{
	const char *end = strchr(*p, '\n');
	int rc;

	if (!end || strncmp(*p, "BLOCKS", 6) != 0) {
		return refuse_text(w, "no BLOCKS");
	}
	rc = stf_blocks_parse(&s->blocks, *p + 6, (size_t)(end - *p - 6));
	*p = end + 1;
	return rc == -2 ? stf_no_memory(&w->err) : rc < 0 ? refuse_text(w, "its blocks") : 0;
}

/* Parses the identity that the components of a part carry. */
static int take_identity(struct stf_writer *w, const char **p)
{
	unsigned long long high, low;
	struct stf_trace_identity own = w->identity;
	int at = -1;

	if (sscanf(*p, "\nIDENTITY %llu %llu\nUSED%n", &high, &low, &at) != 2 || at < 0) {
		return refuse_text(w, "its identity");
	}
	*p += at;
	own.high = high;
	own.low = low;
	if (stf_identity_same(&own, &w->identity)) {
		return 0;
	}
	return stf_identities_add(&w->others, &own) < 0 ? stf_no_memory(&w->err) : 0;
}

/* Makes a stream that is closed already, of data or of anchors. */
static struct stf_stream *shell(unsigned kind, uint32_t set, int anchors)
{
	struct stf_stream *s = calloc(1, sizeof(*s));

	if (s) {
		s->out.fd = -1;
		s->file = stf_category[kind].first_id + set * IDS_PER_SET + (uint32_t)anchors;
		s->closed = 1;
		stf_suffix(kind, set, s->suffix, sizeof(s->suffix) - 4);
		strcat(s->suffix, anchors ? ".anc" : "");
	}
	return s;
}

static int take_stream(struct stf_writer *w, const char **p)
{
	struct stf_where to = stf_writer_where(w);
	struct stf_summary m = { 0 };
	unsigned kind, set, id;
	unsigned long long min, max, n, most;
	struct stf_stream *s = NULL;
	int at = -1;

	if (sscanf(*p, "DATA %u %u %llu %llu %llu %llu\n%n", &kind, &set, &min, &max, &n, &most, &at) != 6 || at < 0 ||
		kind >= DATA_KINDS || set > 0x10000) {
		return refuse_text(w, "no DATA");
	}
	m.min = min;
	m.max = max;
	m.n_late = n;
	m.most_late = most;
	for (*p += at; sscanf(*p, "%u %llu\n%n", &id, &n, &at) == 2; *p += at) {
		m.counts[id % 256] = n;
	}
	if (strncmp(*p, "FILES\n", 6) != 0) {
		return refuse_text(w, "no FILES");
	}
	*p += 6;
	if (stf_make_room(w, kind, set) < 0) {
		return -1;
	}
	if (w->data[kind][set]) {
		return stf_fail(
			&w->err, STF_ERR_EXISTS, w->path, 0, 0, "two writers wrote its %s", w->data[kind][set]->suffix);
	}
	s = w->data[kind][set] = shell(kind, set, 0);
	if (!s || !(s->history = stf_history_of(&m))) {
		return stf_no_memory(&w->err);
	}
	s->level = to.level;
	if (take_file(w, s, &to, p) < 0) {
		return -1;
	}
	if (strncmp(*p, "BLOCKS", 6) == 0) {
		return take_blocks(w, s, p); /* it is too short for anchors */
	}
	s->anc = shell(kind, set, 1);
	if (!s->anc) {
		return stf_no_memory(&w->err);
	}
	s->anc->level = to.level;
	return take_file(w, s->anc, &to, p) < 0 || take_blocks(w, s, p) < 0 ? -1 : take_blocks(w, s->anc, p);
}

void stf_part_discard(const char *part)
{
	unsigned long long size, digest;
	int hashed, at = -1, i;
	size_t len;
	char *name;

	while ((part = strstr(part, "FILES\n"))) {
		part += 6;
		for (i = 0; i < 2 && sscanf(part, "%llu %d %llu %zu %n", &size, &hashed, &digest, &len, &at) == 4 &&
			at >= 0 && len <= strlen(part + at);
			i++) {
			name = strndup(part + at, len);
			if (name) {
				unlink(name);
			}
			free(name);
			part += at + len;
		}
	}
}

int stf_writer_adopt(struct stf_writer *w, const char *part)
{
	const char *start = part;
	unsigned id;
	int at = -1, rc = 0;

	if (stf_is_fatal(&w->err)) {
		stf_part_discard(part);
		return -1;
	}
	if (strncmp(part, HEAD, sizeof(HEAD) - 1) != 0) {
		return refuse_text(w, "its head");
	}
	part += sizeof(HEAD) - 1;
	if (take_identity(w, &part) < 0) {
		stf_part_discard(start);
		return -1;
	}
	for (; sscanf(part, " %u%n", &id, &at) == 1; part += at) {
		w->used[id % 256] = 1;
	}
	part += *part == '\n';
	while (rc == 0 && strcmp(part, "END\n") != 0) {
		rc = take_stream(w, &part);
	}
	if (rc < 0) {
		stf_part_discard(start);
	}
	return rc;
}
