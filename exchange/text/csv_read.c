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
#include "base/text/csv.h"
#include "base/text/decimal.h"

enum { HEAD = 5, MAX_DECIMALS = 15 };

static const char *const head_names[] = { "time", "bound", "host", "rank", "thread", "counter", "value", "unit" };

struct counter {
	char *name, *unit;
	/* has a fraction, whole numbers written like one, a number below 0, a number above 2^63 - 1 */
	int real, pointed, negative, large;
	uint64_t exact_line; /* the first line with a whole number that no double is equal to; 0: none */
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
	struct tkm_csv csv;
	uint32_t columns;
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
	return tkm_fail(t->err, TKM_ERR_FORMAT, "%s: line %" PRIu64 ": %s", t->in->path, t->csv.line, what);
}

static int next_row(struct table *t)
{
	int rc = tkm_csv_next(&t->csv);

	if (rc < 0 && !t->csv.why) {
		return tkm_fail_errno(t->err, TKM_ERR_IO, errno, "cannot read %s", t->in->path);
	}
	return rc < 0 ? refuse_line(t, t->csv.why) : rc;
}

/* Reads the next line of values. Returns 1, 0 at the end, or -1. */
static int next_line(struct table *t)
{
	char text[80];
	int rc;

	do {
		rc = next_row(t);
	} while (rc > 0 && t->csv.is_comment);
	if (rc > 0 && t->csv.n != t->columns) {
		snprintf(text, sizeof(text), "not as many columns as the first line has: %" PRIu32 " of %" PRIu32 "%s",
			t->csv.n, t->columns, t->csv.n > t->columns ? "; is there a decimal comma?" : "");
		return refuse_line(t, text);
	}
	return rc;
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

static int is_header(const struct tkm_csv *c)
{
	uint32_t i;

	for (i = 0; i < HEAD && i < c->n && !strcmp(c->cell[i], head_names[i]); i++) {
	}
	return i == HEAD;
}

/* Finds the line with the names of the columns; comments may be before it, and numpy makes it one. */
static int header(struct table *t)
{
	const struct tkm_csv *c = &t->csv;
	const char *why;
	uint32_t i;
	int rc;

	do {
		rc = next_row(t);
	} while (rc > 0 && c->is_comment && !is_header(c));
	if (rc <= 0) {
		return rc < 0 ? -1 : refuse_line(t, c->line ? "only comments" : "the file is empty");
	}
	if (!is_header(c)) {
		why = tkm_csv_why(c);
		return refuse_line(
			t, why ? why : "no table of stftool: its first columns are time,bound,host,rank,thread");
	}
	t->columns = c->n;
	t->wide = !(c->n == 8 && !strcmp(c->cell[5], head_names[5]) && !strcmp(c->cell[6], head_names[6]) &&
		!strcmp(c->cell[7], head_names[7]));
	for (i = HEAD; i < c->n && t->wide; i++) {
		if (!column(t, c->cell[i])) {
			return refuse_line(t, "out of memory");
		}
	}
	return t->wide && t->n_counters != c->n - HEAD ? refuse_line(t, "two columns have the same name") : 0;
}

/* ---- first reading ---- */

static int parse_whole_number(const char *s, uint32_t limit, uint32_t *out)
{
	struct tkm_decimal d;
	__int128 v = 0;
	int rc = tkm_decimal_read(s, &d) == 0 && d.places <= 0 && tkm_decimal_whole(&d, 0, &v) == 0 ? 0 : -1;

	*out = (uint32_t)v;
	return rc == 0 && v >= 0 && v < limit ? 0 : -1;
}

/* Finds the thread or group of a line: *rank and *thread, or for a group *rank = XCH_NONE and *thread = its
 * number. */
static int read_thread(struct table *t, uint32_t *rank, uint32_t *thread)
{
	const char *name = *t->csv.cell[4] ? t->csv.cell[4] : t->csv.cell[2];
	uint32_t i;

	if (*t->csv.cell[3]) {
		return parse_whole_number(t->csv.cell[3], 1 << 16, rank) < 0 ||
				parse_whole_number(t->csv.cell[4], 1 << 15, thread) < 0
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
	if (!p->host && !(p->host = strdup(t->csv.cell[2]))) {
		return refuse_line(t, "out of memory");
	}
	return xch_build_thread(t->b, rank, thread);
}

/* Is there a double that is equal to this whole number? */
static int is_double(const char *s)
{
	char text[400];

	snprintf(text, sizeof(text), "%.0f", fabs(strtod(s, NULL)));
	s += *s == '-' || *s == '+';
	s += strspn(s, "0");
	return strcmp(text, *s ? s : "0") == 0;
}

static void see_value(const struct table *t, struct counter *c, const char *s)
{
	struct tkm_decimal d;
	__int128 v = 0;
	int is_exact;

	if (tkm_decimal_read(s, &d) < 0 || d.places > 0) {
		c->real = 1;
		is_exact = s[strspn(s, "+-0123456789")] || is_double(s);
	} else if (tkm_decimal_whole(&d, 0, &v) < 0 || v > UINT64_MAX || v < INT64_MIN) {
		c->real = 1;
		is_exact = !d.is_plain || is_double(s);
	} else {
		is_exact = (__int128)(double)v == v;
		c->pointed |= !d.is_plain;
		c->negative |= v < 0;
		c->large |= v > INT64_MAX;
	}
	if (!is_exact && !c->exact_line) {
		c->exact_line = t->csv.line;
	}
}

/* A number for people and for strtod(), which reads more than decimal numbers. */
static int is_value(const char *s)
{
	char *end;

	strtod(s, &end);
	return *s && !*end;
}

static int refuse_number(const struct table *t, const char *what, const char *s)
{
	char text[200];

	snprintf(text, sizeof(text), "%s: '%.60s'%s", what, s, tkm_decimal_why(s));
	return refuse_line(t, text);
}

static int see_line(struct table *t)
{
	char **cell = t->csv.cell;
	struct tkm_decimal d;
	struct counter *c;
	uint32_t i;
	int digits;

	if (tkm_decimal_read(cell[0], &d) < 0 || (d.negative && d.digits)) {
		return refuse_number(t, "the time is no number of seconds", cell[0]);
	}
	digits = d.shown > MAX_DECIMALS ? d.places : d.shown;
	if (digits > MAX_DECIMALS) {
		return refuse_number(t, "the time is no number of seconds with 15 decimals at most", cell[0]);
	}
	t->decimals = digits > t->decimals ? digits : t->decimals;
	if (*cell[1] && !(is_value(cell[1]) && strtod(cell[1], NULL) >= 0)) {
		return refuse_number(t, "the bound is no number of seconds", cell[1]);
	}
	for (i = t->wide ? HEAD : 6; i < (t->wide ? t->columns : 7); i++) {
		c = t->wide ? &t->counter[i - HEAD] : counter(t, cell[5], cell[7]);
		if (!c) {
			return refuse_line(t, "out of memory");
		}
		if (t->wide && !*cell[i]) {
			continue;
		}
		if (!is_value(cell[i])) {
			return refuse_number(t, "a value is no number", cell[i]);
		}
		see_value(t, c, cell[i]);
	}
	return see_place(t);
}

/* ---- second reading ---- */

/* Whole numbers that are written with a point or an exponent are those of a double, unless a double cannot hold them. */
static unsigned type_of(const struct counter *c)
{
	return c->real || (c->negative && c->large) || (c->pointed && !c->exact_line) ? STF_COUNTER_F8
		: c->negative                                                         ? STF_COUNTER_I8
										      : STF_COUNTER_U8;
}

static int refuse_inexact(struct table *t)
{
	const struct counter *c;

	for (c = t->counter; c < t->counter + t->n_counters; c++) {
		if (c->exact_line && type_of(c) == STF_COUNTER_F8) {
			return tkm_fail(t->err, TKM_ERR_FORMAT,
				"%s: line %" PRIu64
				": a whole number of %.60s would lose digits, because other values of it "
				"have a fraction, or need another 64 bits: give the fractions a counter of their own",
				t->in->path, c->exact_line, c->name);
		}
	}
	return 0;
}

static int time_of(const struct table *t, uint64_t *out)
{
	struct tkm_decimal d;
	__int128 v = 0;
	int rc = tkm_decimal_read(t->csv.cell[0], &d) < 0 ? -1 : tkm_decimal_whole(&d, t->decimals, &v);

	*out = (uint64_t)v;
	return rc < 0 || v < 0 || v > UINT64_MAX ? refuse_line(t, "the time does not fit") : 0;
}

static int take_bound(struct table *t, uint32_t rank, uint64_t time)
{
	struct rank *r = rank == XCH_NONE ? NULL : &t->rank[rank];
	char part[80], *p;
	size_t n;

	if (!r || (r->bounds && !strcmp(r->last, t->csv.cell[1])) || strlen(t->csv.cell[1]) >= sizeof(r->last)) {
		return 0;
	}
	n = (size_t)snprintf(part, sizeof(part), " %" PRIu64 " %s", time, *t->csv.cell[1] ? t->csv.cell[1] : "unknown");
	p = realloc(r->bounds, r->n_bounds + n + 1);
	if (!p) {
		return refuse_line(t, "out of memory");
	}
	memcpy(p + r->n_bounds, part, n + 1);
	r->bounds = p;
	r->n_bounds += n;
	r->known |= *t->csv.cell[1] != 0;
	memcpy(r->last, t->csv.cell[1], strlen(t->csv.cell[1]) + 1);
	return 0;
}

static int take_value(struct table *t, uint64_t time, uint32_t willy, uint32_t k, const char *s)
{
	struct tkm_decimal d;
	uint64_t value;
	__int128 v = 0;
	double real;

	if (type_of(&t->counter[k]) == STF_COUNTER_F8) {
		real = strtod(s, NULL);
		memcpy(&value, &real, sizeof(real));
	} else if (tkm_decimal_read(s, &d) < 0 || tkm_decimal_whole(&d, 0, &v) < 0) {
		return refuse_line(t, "the file changes while it is read");
	} else {
		value = (uint64_t)v;
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
		c = counter(t, t->csv.cell[5], t->csv.cell[7]);
		return c ? take_value(t, time, willy, (uint32_t)(c - t->counter), t->csv.cell[6])
			 : refuse_line(t, "the file changes while it is read");
	}
	for (i = HEAD; i < t->columns; i++) {
		if (*t->csv.cell[i] && take_value(t, time, willy, i - HEAD, t->csv.cell[i]) < 0) {
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
	if (rc < 0 || refuse_inexact(t) < 0) {
		return -1;
	}
	for (i = 0; i < t->decimals; i++) {
		resolution *= 10;
	}
	if (xch_input_begin(t->in, 1 / resolution, 0, t->err) < 0) {
		return -1;
	}
	if (declare_places(t) < 0 || declare_counters(t) < 0) {
		return xch_input_stf(t->in, t->err);
	}
	tkm_csv_rewind(&t->csv);
	do {
		rc = next_row(t);
	} while (rc > 0 && !is_header(&t->csv));
	while (rc > 0 && (rc = next_line(t)) > 0) {
		if (take_line(t) < 0) {
			return -1;
		}
	}
	return rc < 0 || bounds(t) < 0 ? -1 : xch_build_end(t->b);
}

/* The names may be in quotes, after a byte order mark or comments, or separated by what is then refused. */
int xch_csv_is(const char *path, const unsigned char *head, size_t n)
{
	static const char first[] = "time,bound,host,rank,thread";
	size_t i = 0, k;

	(void)path;
	i += n >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	while (i < n) {
		int is_comment = head[i] == '#' || head[i] == '\n' || head[i] == '\r';

		for (k = 0; i < n && first[k]; i++) {
			if (first[k] == ',' && (head[i] == ';' || head[i] == '\t')) {
				k++;
			} else if (head[i] == (unsigned char)first[k]) {
				k++;
			} else if (!strchr("\" \t#", head[i] ? head[i] : 'x')) {
				break;
			}
		}
		if (!first[k] || !is_comment) {
			return !first[k];
		}
		while (i < n && head[i] != '\n') {
			i++;
		}
		i++;
	}
	return 0;
}

int xch_csv_read(struct xch_input *in, struct tkm_err *err)
{
	struct table t = { .in = in, .err = err };
	uint32_t i;
	int rc;

	t.csv.f = fopen(in->path, "re");
	t.b = xch_build_new(in, err);
	rc = !t.b ? -1 : t.csv.f ? read_twice(&t) : tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot read %s", in->path);
	if (t.csv.f) {
		fclose(t.csv.f);
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
	tkm_csv_free(&t.csv);
	return rc;
}
