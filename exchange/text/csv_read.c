/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads CSV as stftool writes it, long or wide, back into a trace. The file is read twice. The first reading
 * finds the digits of the times, the threads, the counters and their types; the second one reads the samples. */
#include "config.h"
#include "exchange/common/build.h"
#include "exchange/common/private.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { HEAD = 5, MAX_CELLS = 4096, MAX_DECIMALS = 15, MAX_LINE = 1 << 24 };

struct counter {
	char *name, *unit;
	int real, negative, large; /* has a fraction, a number below 0, a number above 2^63 - 1 */
};

struct rank {
	char *host;
	char *bounds; /* text of the thread's clock-bound info */
	size_t n_bounds;
	char last[40]; /* the bound's cell in the previous line */
	int known;     /* a bound was known there */
};

struct table {
	struct xch_input *in;
	struct tkm_err *err;
	struct xch_build *b;
	FILE *f;
	uint64_t line;
	char *text; /* the text of this line's cells, each with a zero byte after it */
	size_t size;
	char *cell[MAX_CELLS];
	uint32_t n, columns;
	int wide, decimals;
	struct counter *counter;
	uint32_t n_counters, last; /* last: index of the counter that was found last */
	struct rank *rank;
	uint32_t n_ranks;
	char **group;
	size_t n_groups;
};

static int refuse_line(const struct table *t, const char *what)
{
	return tkm_fail(t->err, TKM_ERR_FORMAT, "%s: line %" PRIu64 ": %s", t->in->path, t->line, what);
}

static int put(struct table *t, size_t *n, int c)
{
	if (*n > MAX_LINE || TKM_GROW(t->text, t->size, *n + 2) < 0) {
		return refuse_line(t, *n > MAX_LINE ? "longer than 16 MB" : "out of memory");
	}
	t->text[(*n)++] = (char)c;
	return 0;
}

/* Reads the next line as cells. Returns 1, 0 at the end, or -1. */
static int next_line(struct table *t)
{
	size_t n = 0, start[MAX_CELLS];
	int c = getc_unlocked(t->f), quoted = 0, at_start = 1;
	uint32_t i;

	if (c == EOF) {
		return ferror(t->f) ? tkm_fail_errno(t->err, TKM_ERR_IO, errno, "cannot read %s", t->in->path) : 0;
	}
	t->line++;
	t->n = 0;
	start[t->n++] = 0;
	for (;; c = getc_unlocked(t->f)) {
		if (c == EOF && quoted) {
			return refuse_line(t, "a quote is not closed");
		}
		if (quoted) {
			if (c == '"' && (c = getc_unlocked(t->f)) != '"') {
				quoted = 0; /* c is then the character after the closing quote */
			} else {
				if (c == 0 || put(t, &n, c) < 0) {
					return c ? -1 : refuse_line(t, "a zero byte");
				}
				continue;
			}
		} else if (c == '"' && at_start) {
			quoted = 1;
			at_start = 0;
			continue;
		}
		at_start = 0;
		if (c == EOF || c == '\n') {
			break;
		}
		if (c == ',') {
			if (t->n == MAX_CELLS) {
				return refuse_line(t, "more than 4096 columns");
			}
			if (put(t, &n, 0) < 0) {
				return -1;
			}
			start[t->n++] = n;
			at_start = 1;
		} else if (c == 0) {
			return refuse_line(t, "a zero byte");
		} else if (c != '\r' && put(t, &n, c) < 0) {
			return -1;
		}
	}
	if (put(t, &n, 0) < 0) {
		return -1;
	}
	for (i = 0; i < t->n; i++) {
		t->cell[i] = t->text + start[i];
	}
	return t->columns && t->n != t->columns ? refuse_line(t, "not as many columns as the first line has") : 1;
}

/* ---- counters ---- */

static struct counter *counter(struct table *t, const char *name, const char *unit)
{
	struct counter *p;
	uint32_t i, k;

	for (i = 1; i <= t->n_counters; i++) {
		k = (t->last + i) % t->n_counters;
		if (!strcmp(t->counter[k].name, name) && !strcmp(t->counter[k].unit, unit)) {
			t->last = k;
			return &t->counter[k];
		}
	}
	p = TKM_APPEND(t->counter, t->n_counters);
	if (!p) {
		return NULL;
	}
	*p = (struct counter){ .name = strdup(name), .unit = strdup(unit) };
	t->last = t->n_counters - 1;
	return p->name && p->unit ? p : NULL;
}

/* Finds the counter of a column of a wide table: "NAME [UNIT]". */
static struct counter *column(struct table *t, const char *head)
{
	const char *open = strrchr(head, '[');
	size_t n = strlen(head);
	struct counter *c = NULL;
	char *name, *unit;

	if (!open || open < head + 1 || open[-1] != ' ' || head[n - 1] != ']') {
		return counter(t, head, "");
	}
	name = strndup(head, (size_t)(open - 1 - head));
	unit = strndup(open + 1, n - (size_t)(open + 1 - head) - 1);
	if (name && unit) {
		c = counter(t, name, unit);
	}
	free(name);
	free(unit);
	return c;
}

static int header(struct table *t)
{
	static const char *const head[] = { "time", "bound", "host", "rank", "thread", "counter", "value", "unit" };
	uint32_t i;
	int rc = next_line(t);

	if (rc <= 0) {
		return rc < 0 ? -1 : refuse_line(t, "the file is empty");
	}
	for (i = 0; i < HEAD && i < t->n && !strcmp(t->cell[i], head[i]); i++) {
	}
	if (i < HEAD) {
		return refuse_line(t, "no table of stftool: its first columns are time,bound,host,rank,thread");
	}
	t->columns = t->n;
	t->wide = !(t->n == 8 && !strcmp(t->cell[5], head[5]) && !strcmp(t->cell[6], head[6]) &&
		!strcmp(t->cell[7], head[7]));
	for (i = HEAD; i < t->n && t->wide; i++) {
		if (!column(t, t->cell[i])) {
			return refuse_line(t, "out of memory");
		}
	}
	return t->wide && t->n_counters != t->n - HEAD ? refuse_line(t, "two columns have the same name") : 0;
}

/* ---- first reading ---- */

static int parse_whole_number(const char *s, uint32_t limit, uint32_t *out)
{
	char *end;
	unsigned long v = strtoul(s, &end, 10);

	*out = (uint32_t)v;
	return *s >= '0' && *s <= '9' && !*end && v < limit ? 0 : -1;
}

/* Finds the thread or group of a line: *rank and *thread, or for a group *rank = XCH_NONE and *thread = its
 * number. */
static int read_thread(struct table *t, uint32_t *rank, uint32_t *thread)
{
	const char *name = *t->cell[4] ? t->cell[4] : t->cell[2];
	uint32_t i;

	if (*t->cell[3]) {
		return parse_whole_number(t->cell[3], 1 << 16, rank) < 0 ||
				parse_whole_number(t->cell[4], 1 << 15, thread) < 0
			? refuse_line(t, "rank or thread is no number below 65536 and 32768")
			: 0;
	}
	*rank = XCH_NONE;
	for (i = 0; i < t->n_groups && strcmp(t->group[i], name) != 0; i++) {
	}
	if (i == t->n_groups && tkm_append_text(&t->group, &t->n_groups, name) < 0) {
		return refuse_line(t, "out of memory");
	}
	*thread = i;
	return 0;
}

static int see_place(struct table *t)
{
	uint32_t rank, thread;
	struct rank *p;

	if (read_thread(t, &rank, &thread) < 0) {
		return -1;
	}
	if (rank == XCH_NONE) {
		return 0;
	}
	if (rank >= t->n_ranks && TKM_EXTEND(t->rank, t->n_ranks, rank + 1) < 0) {
		return refuse_line(t, "out of memory");
	}
	p = &t->rank[rank];
	if (!p->host && !(p->host = strdup(t->cell[2]))) {
		return refuse_line(t, "out of memory");
	}
	return xch_build_thread(t->b, rank, thread);
}

static void see_value(struct counter *c, const char *s)
{
	char *end;

	errno = 0;
	strtoull(s + (*s == '-'), &end, 10);
	if (*end || errno == ERANGE || end == s + (*s == '-')) {
		c->real = 1;
	} else if (*s == '-') {
		strtoll(s, NULL, 10);
		c->negative = 1;
		c->real |= errno == ERANGE;
	} else {
		c->large |= strtoull(s, NULL, 10) > INT64_MAX;
	}
}

static int is_value(const char *s)
{
	char *end;

	strtod(s, &end);
	return *s && *s != ' ' && !*end;
}

static int see_line(struct table *t)
{
	const char *point = strchr(t->cell[0], '.');
	int digits = point ? (int)strlen(point + 1) : 0;
	struct counter *c;
	uint32_t i;

	if (!is_value(t->cell[0]) || t->cell[0][strspn(t->cell[0], "0123456789.")] || digits > MAX_DECIMALS) {
		return refuse_line(t, "the time is no number of seconds with 15 decimals at most");
	}
	t->decimals = digits > t->decimals ? digits : t->decimals;
	if (*t->cell[1] && !(is_value(t->cell[1]) && strtod(t->cell[1], NULL) >= 0)) {
		return refuse_line(t, "the bound is no number of seconds");
	}
	for (i = t->wide ? HEAD : 6; i < (t->wide ? t->columns : 7); i++) {
		c = t->wide ? &t->counter[i - HEAD] : counter(t, t->cell[5], t->cell[7]);
		if (!c) {
			return refuse_line(t, "out of memory");
		}
		if (t->wide && !*t->cell[i]) {
			continue;
		}
		if (!is_value(t->cell[i])) {
			return refuse_line(t, "a value is no number");
		}
		see_value(c, t->cell[i]);
	}
	return see_place(t);
}

/* ---- second reading ---- */

static unsigned type_of(const struct counter *c)
{
	return c->real || (c->negative && c->large) ? STF_COUNTER_F8 : c->negative ? STF_COUNTER_I8 : STF_COUNTER_U8;
}

static int time_of(const struct table *t, uint64_t *out)
{
	const char *s = t->cell[0];
	unsigned __int128 v = 0;
	int digits = -1;

	for (; *s; s++) {
		if (*s == '.') {
			digits = 0;
		} else {
			v = v * 10 + (unsigned)(*s - '0');
			digits += digits >= 0;
		}
		if (v > UINT64_MAX) {
			return refuse_line(t, "the time does not fit");
		}
	}
	for (digits = digits < 0 ? 0 : digits; digits < t->decimals; digits++) {
		v *= 10;
	}
	*out = (uint64_t)v;
	return v > UINT64_MAX ? refuse_line(t, "the time does not fit") : 0;
}

static int take_bound(struct table *t, uint32_t rank, uint64_t time)
{
	struct rank *r = rank == XCH_NONE ? NULL : &t->rank[rank];
	char part[80], *p;
	size_t n;

	if (!r || (r->bounds && !strcmp(r->last, t->cell[1])) || strlen(t->cell[1]) >= sizeof(r->last)) {
		return 0;
	}
	n = (size_t)snprintf(part, sizeof(part), " %" PRIu64 " %s", time, *t->cell[1] ? t->cell[1] : "unknown");
	p = realloc(r->bounds, r->n_bounds + n + 1);
	if (!p) {
		return refuse_line(t, "out of memory");
	}
	memcpy(p + r->n_bounds, part, n + 1);
	r->bounds = p;
	r->n_bounds += n;
	r->known |= *t->cell[1] != 0;
	memcpy(r->last, t->cell[1], strlen(t->cell[1]) + 1);
	return 0;
}

static int take_value(struct table *t, uint64_t time, uint32_t willy, uint32_t k, const char *s)
{
	uint64_t value;
	double d;

	switch (type_of(&t->counter[k])) {
	case STF_COUNTER_F8:
		d = strtod(s, NULL);
		memcpy(&value, &d, sizeof(d));
		break;
	case STF_COUNTER_I8:
		value = (uint64_t)strtoll(s, NULL, 10);
		break;
	default:
		value = strtoull(s, NULL, 10);
	}
	return xch_build_value(t->b, time, willy, k + 1, value);
}

static int take_line(struct table *t)
{
	uint32_t rank, thread, willy, i;
	struct counter *c;
	uint64_t time = 0;

	if (read_thread(t, &rank, &thread) < 0 || time_of(t, &time) < 0) {
		return -1;
	}
	willy = rank == XCH_NONE ? STF_GROUP(thread + 1) : STF_WILLY(rank, thread);
	if (take_bound(t, rank, time) < 0) {
		return -1;
	}
	if (!t->wide) {
		c = counter(t, t->cell[5], t->cell[7]);
		return c ? take_value(t, time, willy, (uint32_t)(c - t->counter), t->cell[6])
			 : refuse_line(t, "the file changes while it is read");
	}
	for (i = HEAD; i < t->columns; i++) {
		if (*t->cell[i] && take_value(t, time, willy, i - HEAD, t->cell[i]) < 0) {
			return -1;
		}
	}
	return 0;
}

static int declare_places(struct table *t)
{
	struct stf_group_definition g = { 0 };
	uint32_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < t->n_ranks; i++) {
		if (t->rank[i].host && *t->rank[i].host) {
			rc = stf_writer_willy(t->in->w, STF_WILLY(i, 0), t->rank[i].host, "", 0, 0, 0, 1);
		}
	}
	for (i = 0; rc == 0 && i < t->n_groups; i++) {
		g.id = i + 1;
		g.name = t->group[i];
		g.size_1_1 = (uint32_t)strlen(t->group[i]);
		rc = stf_write_group_definition(t->in->w, &g);
	}
	return rc;
}

static int declare_counters(struct table *t)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < t->n_counters; i++) {
		const struct counter *c = &t->counter[i];
		const char *colon = strrchr(c->name, ':');
		char *cls = strndup(c->name, colon ? (size_t)(colon - c->name) : 0);
		struct stf_counter_definition d = { .id = i + 1,
			.type = (uint8_t)(type_of(c) | STF_COUNTER_SAMPLE),
			.size_1_1 = (uint32_t)strlen(c->unit),
			.unit = c->unit };

		d.name = cls ? stf_writer_string(t->in->w, colon ? colon + 1 : c->name) : 0;
		d.classid = cls ? xch_build_class(t->b, cls, 0) : 0;
		rc = d.name ? stf_write_counter_definition(t->in->w, &d) : -1;
		free(cls);
	}
	return rc;
}

static int bounds(struct table *t)
{
	char *text;
	uint32_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < t->n_ranks; i++) {
		if (t->rank[i].known && asprintf(&text, "process %u%s", i, t->rank[i].bounds) >= 0) {
			rc = stf_writer_info(t->in->w, "clock-bound", text);
			free(text);
		}
	}
	return rc < 0 ? xch_input_stf(t->in, t->err) : 0;
}

static int read_twice(struct table *t)
{
	double resolution = 1;
	int rc, i;

	if (header(t) < 0) {
		return -1;
	}
	while ((rc = next_line(t)) > 0) {
		if (see_line(t) < 0) {
			return -1;
		}
	}
	for (i = 0; i < t->decimals; i++) {
		resolution *= 10;
	}
	if (rc < 0 || xch_input_begin(t->in, 1 / resolution, 0, t->err) < 0) {
		return -1;
	}
	if (declare_places(t) < 0 || declare_counters(t) < 0) {
		return xch_input_stf(t->in, t->err);
	}
	rewind(t->f);
	t->line = 0;
	for (rc = next_line(t); rc > 0 && (rc = next_line(t)) > 0;) {
		if (take_line(t) < 0) {
			return -1;
		}
	}
	return rc < 0 || bounds(t) < 0 ? -1 : xch_build_end(t->b);
}

int xch_csv_is(const char *path, const unsigned char *head, size_t n)
{
	static const char first[] = "time,bound,host,rank,thread,";

	(void)path;
	return n >= strlen(first) && memcmp(head, first, strlen(first)) == 0;
}

int xch_csv_read(struct xch_input *in, struct tkm_err *err)
{
	struct table t = { .in = in, .err = err };
	uint32_t i;
	int rc;

	t.f = fopen(in->path, "re");
	t.b = xch_build_new(in, err);
	rc = !t.b ? -1 : t.f ? read_twice(&t) : tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot read %s", in->path);
	if (t.f) {
		fclose(t.f);
	}
	for (i = 0; i < t.n_counters; i++) {
		free(t.counter[i].name);
		free(t.counter[i].unit);
	}
	for (i = 0; i < t.n_ranks; i++) {
		free(t.rank[i].host);
		free(t.rank[i].bounds);
	}
	for (i = 0; i < t.n_groups; i++) {
		free(t.group[i]);
	}
	xch_build_free(t.b);
	free(t.counter);
	free(t.rank);
	free(t.group);
	free(t.text);
	return rc;
}
