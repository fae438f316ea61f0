/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads one component file, record by record. */
#include "config.h"
#include "stf/component/source.h"
#include "stf/component/native.h"

#include <stdio.h>

#define LONGEST_LINE (1u << 16)

static int window_is_all(const struct stf_source *s)
{
	return s->offset + s->len >= s->size;
}

/* Does the text begin like the first line of a trace? If not, the file is not a truncated trace but another kind
 * of file. */
static int may_begin(const struct stf_source *s)
{
	static const char head[] = "STF 1.0 ";
	size_t n = s->len - s->pos;

	return n == 0 || memcmp(s->buf + s->pos, head, n < sizeof(head) - 1 ? n : sizeof(head) - 1) == 0;
}

int stf_source_line(struct stf_source *s, char **line, size_t *n, struct stf_err *err)
{
	uint8_t *lf;

	s->number++;
	for (;;) {
		lf = s->len > s->pos ? memchr(s->buf + s->pos, '\n', s->len - s->pos) : NULL;
		if (lf || s->len - s->pos > LONGEST_LINE) {
			break;
		}
		if (window_is_all(s) && s->number == 1 && !may_begin(s)) {
			return stf_fail(err, STF_ERR_DEFINITION, s->path, 0, 1,
				"no STF trace: it does not begin with \"STF 1.0\"");
		}
		if (window_is_all(s)) {
			return stf_fail(err, STF_ERR_TRUNCATED, s->path, s->offset + s->pos, s->number,
				"the file ends before the END line of its definition layer");
		}
		if (stf_source_fill(s, err) < 0) {
			return -1;
		}
	}
	if (!lf || lf - (s->buf + s->pos) > LONGEST_LINE) {
		return stf_fail(err, STF_ERR_DEFINITION, s->path, s->offset + s->pos, s->number,
			"line is longer than %u bytes", LONGEST_LINE);
	}
	*line = (char *)s->buf + s->pos;
	*n = (size_t)(lf - (s->buf + s->pos));
	*lf = 0;
	s->pos += *n + 1;
	return 0;
}

/* Applies the time of a record. Returns 0 for time records, which are not events, and 1 for events. */
static int apply_time(struct stf_source *s, const struct stf_decoded *d, uint64_t at, struct stf_err *err)
{
	const char *cls = d->def->specifier;

	if (d->has_time && d->def->timing == STX_SUB_TIME) {
		if (d->time > s->now) {
			return stf_fail(err, STF_ERR_FORMAT, s->path, at, s->number,
				"sub_time goes back by %llu from %llu, before time 0", (unsigned long long)d->time,
				(unsigned long long)s->now);
		}
		s->now -= d->time;
		return 0;
	}
	if (d->has_time) {
		if (d->time > UINT64_MAX - s->now) {
			return stf_fail(err, STF_ERR_FORMAT, s->path, at, s->number,
				"%s: time %llu + %llu does not fit 64 bits", cls, (unsigned long long)s->now,
				(unsigned long long)d->time);
		}
		s->now += d->time;
	}
	return d->def->timing != STX_ADD_TIME;
}

/* Decodes the record at pos. Returns 1, 0 at the end, or -1 at a fault. */
static int decode_here(struct stf_source *s, struct stf_decoded *d, struct stf_err *err)
{
	const struct stf_fdef *def;
	uint64_t at;
	int rc;

	for (;;) {
		at = s->offset + s->pos;
		if (at >= s->size) {
			return s->cut ? stf_fail(err, STF_ERR_TRUNCATED, s->path, at, s->number + !s->lost_count,
						"the file ends here, which is shorter than it was declared")
				      : 0;
		}
		def = s->pos < s->len && s->buf[s->pos] <= STX_LAST_ID ? s->defs->def[s->buf[s->pos]] : NULL;
		if (def && def->native) {
			d->size = stf_native_decode(def, s->buf + s->pos, s->buf + s->len, &s->scratch);
			if (d->size) {
				d->def = def;
				d->has_time = def->time_field >= 0;
				d->time = d->has_time ? s->scratch.value[def->time_field].u : 0;
				return 1;
			}
		}
		rc = stf_decode(s->defs, s->buf ? s->buf + s->pos : (const uint8_t *)"", s->len - s->pos, s->size - at,
			&s->scratch, d);
		if (rc != STX_SHORT) {
			break;
		}
		if (stf_source_fill(s, err) < 0) {
			return -1;
		}
	}
	if (rc < 0) {
		return stf_fail(err, d->code, s->path, at, s->lost_count ? 0 : s->number + 1, "%s", d->why);
	}
	return 1;
}

static void print_identity(char text[40], const struct stf_trace_identity *i)
{
	if (i) {
		snprintf(text, 40, "%016llx%016llx", (unsigned long long)i->high, (unsigned long long)i->low);
	} else {
		snprintf(text, 40, "none");
	}
}

static int refuse(const struct stf_source *s, const struct stf_trace_identity *has, struct stf_err *err)
{
	char own[40], base[40];

	print_identity(own, has);
	print_identity(base, s->expected->n ? &s->expected->i[0] : NULL);
	return stf_fail(err, STF_ERR_IDENTITY, s->path, 0, 1,
		"belongs to another trace: its identity is %s, that of the base file %s", own, base);
}

/* The first record of a component says which trace it belongs to. Returns -1 if that is another trace. */
static int check_identity(struct stf_source *s, const struct stf_decoded *d, uint64_t at, struct stf_err *err)
{
	const struct stf_identities *l = s->expected;
	struct stf_trace_identity i;
	int is = d->def->timing == STX_IDENTITY && d->size == STX_IDENTITY_SIZE &&
		stf_identity_get(&i, s->buf + s->pos, s->defs->big) == 0;

	if (is && s->collect) {
		return stf_identities_add(s->collect, &i) < 0 ? stf_no_memory(err) : 0;
	}
	if (at != 0 || !l || (!l->n && !is)) {
		return 0;
	}
	return is && stf_identities_have(l, &i) ? 0 : refuse(s, is ? &i : NULL, err);
}

/* The first bytes of a compressed component, which are in a frame of their own. -1: they cannot be unpacked. */
static int peek_frame(struct stf_source *s, uint8_t p[STX_IDENTITY_SIZE])
{
	struct stf_err err;
	int rc = stf_source_fill_raw(s, &err) == 0 && s->len >= STX_IDENTITY_SIZE ? 0 : -1;

	if (rc == 0) {
		memcpy(p, s->buf, STX_IDENTITY_SIZE);
	}
	return stf_source_seek_raw(s, 0, &err) < 0 ? -1 : rc;
}

int stf_source_check_start(struct stf_source *s, struct stf_err *err)
{
	uint8_t p[STX_IDENTITY_SIZE];
	struct stf_trace_identity i;

	if (!s->expected->n || (s->frames ? peek_frame(s, p) : stf_source_peek(s, p, sizeof(p))) < 0 ||
		(stf_identity_get(&i, p, s->defs->big) == 0 && stf_identities_have(s->expected, &i))) {
		return 0; /* otherwise the first record is checked when it is read */
	}
	return refuse(s, stf_identity_get(&i, p, s->defs->big) == 0 ? &i : NULL, err);
}

/* Reads one record of any kind. Returns 1: the record is to be delivered, 2: it is to be skipped, 0: end, -1:
 * fault. */
static int next_any(struct stf_source *s, struct stf_err *err)
{
	struct stf_decoded d;
	uint64_t at;
	int rc = decode_here(s, &d, err);

	if (rc <= 0) {
		return rc;
	}
	at = s->offset + s->pos;
	if ((at == 0 || d.def->timing == STX_IDENTITY) && check_identity(s, &d, at, err) < 0) {
		return -1;
	}
	s->head = (struct stf_mark){ at, s->now, s->number };
	s->number += !s->lost_count;
	if (s->timed) {
		rc = apply_time(s, &d, at, err);
		if (rc < 0) {
			return -1;
		}
	}
	s->pos += d.size;
	if (!d.def->ours) {
		s->skipped += d.def->timing != STX_IDENTITY;
		return 2;
	}
	s->record.layout = d.def->ours;
	s->record.offset = at;
	s->record.number = s->number;
	s->record.file = s->file;
	s->record.values = s->scratch.value;
	if (s->timed) {
		s->record.time = s->now;
		if (d.def->time_to >= 0) {
			s->scratch.value[d.def->time_to].u = s->now;
		}
	}
	return rc == 0 ? 2 : 1;
}

int stf_source_next(struct stf_source *s, struct stf_err *err)
{
	int rc;

	do {
		rc = next_any(s, err);
	} while (rc == 2);
	return rc;
}

void stf_source_back(struct stf_source *s)
{
	s->pos = (size_t)(s->head.at - s->offset);
	s->now = s->head.now;
	s->number = s->head.number;
}
