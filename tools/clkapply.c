/* SPDX-License-Identifier: BSD-3-Clause */
/* clkapply: converts the stamps of another program to the corrected time axis of a .clk file, and gives the bound
 * of each stamp. It corrects a column of a CSV file, an OTF2 archive, a CTF trace, or trace events in JSON. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cli/foreign.h"
#include "base/cli/front.h"
#include "base/text/csv.h"
#include "base/text/decimal.h"
#include "base/text/text.h"
#include "calib/file/clk.h"
#include "calib/file/clocks.h"
#include "calib/map/run.h"
#include "calib/map/stretch.h"
#include "exchange/common/format.h"

enum { OK, FAULT, USAGE, UNBOUNDED };

struct options {
	const char *clk, *input, *output, *together, *column, *rank_column, *clock, *timer;
	const char **trace; /* of --together, NULL after the last */
	int unit;           /* the place in unit_names */
	int mpisync;        /* 0: --format mpisync; -1: not given */
	long long rank;     /* -1: not given */
	int force, unbounded;
};

static int complain_clkapply(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int complain_clkapply(int status, const char *fmt, ...)
{
	char text[2 * PATH_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(stderr, "clkapply: %s\n", tkm_plain(text));
	return status;
}

/* ---- CSV ---- */

/* The index of a column, by its name or by its number counted from 1; -1: there is none. A comment has names only. */
static int find_column(const struct tkm_csv *r, const char *name)
{
	char *end;
	long k;
	uint32_t i;

	for (i = 0; i < r->n; i++) {
		if (!strcmp(r->cell[i], name)) {
			return (int)i;
		}
	}
	k = strtol(name, &end, 10);
	return !r->is_comment && *name && !*end && k >= 1 && k <= (long)r->n ? (int)k - 1 : -1;
}

/* ---- stamps ---- */

/* The clock of the stamps of one rank: its timer, or another clock of its node. */
struct clock {
	int ready;
	double hz;             /* of its ticks */
	struct cal_pairs from; /* from that other clock to the timer; n 0: it is the timer */
};

/* Returns 0, or -1: there are no readings of that clock. */
static int open_clock(struct clock *c, const char *timer, const struct cal_run *run, int rank, struct tkm_err *err)
{
	const struct cal_rank *r = &run->rank[rank];

	if (c->ready) {
		return 0;
	}
	c->hz = cal_rank_hz(r);
	if (*timer && strcmp(timer, r->timer) != 0) {
		if (cal_clock_of_rank(run, rank, timer, &c->from, err) < 0) {
			return -1;
		}
		c->hz = c->from.hz;
	}
	c->ready = 1;
	return 0;
}

/* The stamp as one of the timer; *within_s: how far off that can be. */
static ltick_t timer_stamp(const struct clock *c, ltick_t stamp, double *within_s)
{
	ltick_t at = stamp;

	*within_s = 0;
	if (c->from.n > 0) {
		at = cal_pairs_at(&c->from, stamp, NULL, within_s, NULL);
		*within_s /= c->from.reference_hz;
	}
	return at;
}

static const char *const unit_names[] = { "ticks", "s", "ms", "us", "ns" };

/* The k of a --unit of 10^-k s; -1: ticks. */
static int exponent_of(int unit)
{
	return unit == 0 ? -1 : 3 * (unit - 1);
}

/* Converts a stamp to ticks of its clock, up to TICKS_FARTHEST. Returns 0 or -1. */
static int parse_stamp(const char *text, int k, double hz, int64_t *ticks)
{
	struct tkm_decimal d;
	__int128 v;
	long double t;

	if (tkm_decimal_read(text, &d) < 0 || tkm_decimal_whole(&d, k == -1 ? 0 : 12, &v) < 0) {
		return -1;
	}
	if (k == -1) {
		*ticks = (int64_t)v;
		return d.places <= 0 && v <= TICKS_FARTHEST && v >= -TICKS_FARTHEST ? 0 : -1;
	}
	/* in ticks: v x 10^-12 x 10^-k x Hz */
	t = (long double)v * 1e-12L / powl(10, k) * (long double)hz;
	*ticks = t < 0x1p62L && t > -0x1p62L ? (int64_t)roundl(t) : 0;
	return t < 0x1p62L && t > -0x1p62L ? 0 : -1;
}

/* Prints global ticks as seconds. The result is exact, because a period is 1, 2 or 5 times a power of ten. */
static void print_seconds(FILE *f, int64_t ticks, double period)
{
	unsigned __int128 v = (unsigned __int128)(ticks < 0 ? -(__int128)ticks : ticks);
	char digit[64];
	int k = 0, n = 0;

	while (k < 18 && fabs(period - nearbyint(period)) > 1e-9 * period) {
		period *= 10;
		k++;
	}
	v *= (unsigned __int128)nearbyint(period);
	do {
		digit[n++] = (char)('0' + (int)(v % 10));
		v /= 10;
	} while (v || n <= k);
	if (ticks < 0) {
		putc('-', f);
	}
	while (n) {
		if (n == k) {
			putc('.', f);
		}
		putc(digit[--n], f);
	}
}

/* What of a table is converted. */
struct table {
	const struct options *o;
	const struct cal_run *run;
	struct tkm_csv csv;
	struct clock *clock; /* of each rank */
	uint32_t columns;
	int column, rank_column; /* rank_column -1: all are of one rank */
};

static int refuse_table(const struct table *t, const char *what)
{
	return complain_clkapply(FAULT, "%s: line %" PRIu64 ": %s", t->o->input, t->csv.line, what);
}

/* A comma within a number makes one column more. */
static int has_more_columns(const struct table *t)
{
	uint32_t i;

	for (i = t->columns; i < t->csv.n && !*t->csv.cell[i]; i++) {
	}
	return i < t->csv.n;
}

static int rank_of_row(const struct table *t, long long *rank)
{
	const char *text = t->rank_column < 0         ? NULL
		: (uint32_t)t->rank_column < t->csv.n ? t->csv.cell[t->rank_column]
						      : "";
	struct tkm_decimal d;
	__int128 v = t->o->rank;

	if (text && (tkm_decimal_read(text, &d) < 0 || d.places > 0 || tkm_decimal_whole(&d, 0, &v) < 0)) {
		return complain_clkapply(
			FAULT, "%s: line %" PRIu64 ": '%s' is no rank", t->o->input, t->csv.line, text);
	}
	*rank = v < 0 ? -1 : v > INT64_MAX ? INT64_MAX : (long long)v;
	if (*rank < 0 || (unsigned long long)*rank >= t->run->ranks) {
		return complain_clkapply(FAULT, "%s: line %" PRIu64 ": %s has no rank %lld; it has %zu ranks",
			t->o->input, t->csv.line, t->o->clk, *rank, t->run->ranks);
	}
	return OK;
}

static int apply_row(const struct table *t)
{
	const char *stamp = (uint32_t)t->column < t->csv.n ? t->csv.cell[t->column] : "";
	const struct cal_rank *r;
	struct tkm_err err;
	struct clock *c;
	long long rank = 0;
	int64_t ticks;
	double bound, within;
	ltick_t at;
	int rc;

	if (t->csv.is_comment) {
		printf("%s\n", t->csv.raw);
		return OK;
	}
	if (has_more_columns(t)) {
		return refuse_table(t, "more columns than names; numbers are written with a point, not a comma");
	}
	rc = rank_of_row(t, &rank);
	if (rc != OK) {
		return rc;
	}
	r = &t->run->rank[rank];
	c = &t->clock[rank];
	if (open_clock(c, t->o->timer, t->run, (int)rank, &err) < 0) {
		return complain_clkapply(FAULT, "%s: %s", t->o->clk, err.text);
	}
	if (parse_stamp(stamp, exponent_of(t->o->unit), c->hz, &ticks) < 0) {
		return complain_clkapply(FAULT, "%s: line %" PRIu64 ": '%s' is no stamp in %s%s", t->o->input,
			t->csv.line, stamp, unit_names[t->o->unit], tkm_decimal_why(stamp));
	}
	at = timer_stamp(c, ltick(ticks), &within);
	bound = cal_map_bound(&r->map, at) + within;
	printf("%s,", t->csv.raw);
	print_seconds(stdout, cal_map_at(&r->map, at).v, t->run->period_s);
	if (isfinite(bound)) {
		printf(",%.9g\n", tkm_round_up(bound, 9, 'g'));
	} else {
		printf(",\n"); /* the bound is unknown */
	}
	return OK;
}

static int refuse_csv(const struct table *t)
{
	return t->csv.why ? refuse_table(t, t->csv.why)
			  : complain_clkapply(FAULT, "%s: cannot be read: %s", t->o->input, strerror(errno));
}

/* Finds the columns in this row. Returns 1 if they are there. */
static int find_columns(struct table *t)
{
	t->column = find_column(&t->csv, t->o->column);
	t->rank_column = t->o->rank < 0 ? find_column(&t->csv, t->o->rank_column) : -1;
	t->columns = t->csv.n;
	return t->column >= 0 && (t->o->rank >= 0 || t->rank_column >= 0);
}

/* Columns that are named by their numbers need no names: numpy writes none. */
static int is_row_of_stamps(const struct table *t)
{
	struct tkm_decimal d;

	return !t->csv.is_comment && tkm_decimal_read(t->csv.cell[t->column], &d) == 0 &&
		(t->rank_column < 0 || tkm_decimal_read(t->csv.cell[t->rank_column], &d) == 0);
}

/* Reads up to the names of the columns, which may be a comment after others. Returns OK with *has_row: this row is the first of
 * stamps. */
static int read_table_head(struct table *t, int *has_row)
{
	const char *why;
	int rc;

	while ((rc = tkm_csv_next(&t->csv)) > 0 && t->csv.is_comment && !find_columns(t)) {
		printf("%s\n", t->csv.raw);
	}
	if (rc < 0) {
		return refuse_csv(t);
	}
	if (rc == 0) {
		return complain_clkapply(FAULT, "%s: line 1: no header of columns", t->o->input);
	}
	if (!find_columns(t)) {
		why = tkm_csv_why(&t->csv);
		return why ? refuse_table(t, why)
			   : complain_clkapply(FAULT, "%s: there is no column '%s'; give --column%s: one of %.300s",
				     t->o->input, t->column < 0 ? t->o->column : t->o->rank_column,
				     t->column < 0 ? "" : " and --rank or --rank-column", t->csv.raw);
	}
	*has_row = is_row_of_stamps(t);
	if (!*has_row) {
		printf("%s,global_s,bound_s\n", t->csv.raw);
	}
	return OK;
}

static int apply_csv(const struct options *o, const struct cal_run *run, struct clock *clocks)
{
	struct table *t = calloc(1, sizeof(*t));
	int rc, has_row = 0, next = 1;

	if (!t) {
		return complain_clkapply(FAULT, "out of memory");
	}
	t->o = o;
	t->run = run;
	t->clock = clocks;
	t->csv.f = strcmp(o->input, "-") ? fopen(o->input, "re") : stdin;
	if (!t->csv.f) {
		free(t);
		return complain_clkapply(FAULT, "%s: %s", o->input, strerror(errno));
	}
	rc = read_table_head(t, &has_row);
	while (rc == OK && (has_row || (next = tkm_csv_next(&t->csv)) > 0)) {
		has_row = 0;
		rc = apply_row(t);
	}
	if (rc == OK && next < 0) {
		rc = refuse_csv(t);
	}
	if (t->csv.f != stdin) {
		fclose(t->csv.f);
	}
	tkm_csv_free(&t->csv);
	free(t);
	return rc;
}

/* ---- traces ---- */

/* Selects the clock of the stamps that follow. */
struct stamper {
	const struct options *o;
	const char *input;
	const struct cal_run *run;
	struct xch_restamp *x;
	const struct cal_rank *r;
	struct cal_walk walk;
	struct clock *clocks, *clock; /* of each rank; of the present one */
	double hz;
};

/* The rank of the clock: --rank, or what the trace says, or the first on its host. Returns it, or -1. */
static long long choose_rank(const struct stamper *s, uint32_t rank, struct tkm_err *err)
{
	size_t i;

	if (s->o->rank >= 0 || rank != XCH_NONE) {
		return s->o->rank >= 0 ? s->o->rank : (long long)rank;
	}
	for (i = 0; s->x->host && i < s->run->ranks; i++) {
		if (!strcmp(s->run->rank[i].host, s->x->host)) {
			return (long long)i;
		}
	}
	return tkm_fail(err, TKM_ERR_ARG, "%s does not say which rank's clock it has%s%s: %s", s->input,
		s->x->host ? ", and no rank was on its host " : "", s->x->host ? s->x->host : "",
		*s->o->together ? "--together needs distributedInfo or host_name" : "give --rank");
}

static int open_rank(struct stamper *s, uint32_t rank, double hz, struct tkm_err *err)
{
	const struct cal_rank *master = &s->run->rank[s->run->master];
	const char *timer = *s->o->timer ? s->o->timer : s->x->timer;
	long long k = choose_rank(s, rank, err);

	s->x->rank = k;
	if (k < 0) {
		return -1;
	}
	if (timer && !*timer) {
		return tkm_fail(err, TKM_ERR_ARG,
			"%s does not say which clock it has: give --timer; programs often use clock_monotonic, Perfetto "
			"clock_boottime, PyTorch clock_realtime",
			s->input);
	}
	if ((size_t)k >= s->run->ranks) {
		return tkm_fail(err, TKM_ERR_ARG, "%s has no rank %lld; it has %zu ranks", s->o->clk, k, s->run->ranks);
	}
	s->r = &s->run->rank[k];
	s->hz = hz;
	if (!(cal_rank_hz(s->r) > 0)) {
		return tkm_fail(err, TKM_ERR_ARG, "%s: the frequency of rank %lld's clock is unknown", s->o->clk, k);
	}
	s->clock = &s->clocks[k];
	if (open_clock(s->clock, timer ? timer : "", s->run, (int)k, err) < 0) {
		return -1;
	}
	if (exponent_of(s->o->unit) == -1 && fabs(hz / s->clock->hz - 1) > 0.01) {
		return tkm_fail(err, TKM_ERR_ARG,
			"%s counts %.6g Hz, %s of rank %lld %.6g Hz; if its seconds are those of this clock, "
			"give --unit s; if they are those of another clock, give --timer",
			s->input, hz, timer ? timer : s->r->timer, k, s->clock->hz);
	}
	s->x->used_timer = timer ? timer : s->r->timer;
	s->x->zero_s = 0;
	if (master->anchors && cal_rank_hz(master) > 0) {
		s->x->zero_s = (long double)master->anchor[0].local.v / (long double)cal_rank_hz(master);
	}
	s->x->realtime0_ns = s->run->realtime0_ns;
	cal_walk_begin(&s->walk, &s->r->map);
	return 0;
}

/* Without a clock, the stamps can stay on request. */
static int begin_rank(void *user, uint32_t rank, double hz, struct tkm_err *err)
{
	struct stamper *s = user;

	if (open_rank(s, rank, hz, err) == 0) {
		return 0;
	}
	if (!s->o->unbounded) {
		return -1;
	}
	if (!s->x->unbounded) {
		complain_clkapply(UNBOUNDED, "%s is copied with unchanged stamps: %s", s->input, err->text);
	}
	s->x->unbounded = 1;
	s->x->used_timer = "";
	s->x->zero_s = 0;
	s->x->realtime0_ns = 0;
	return 0;
}

static int correct(void *user, uint64_t stamp, int64_t *corrected, double *bound_s)
{
	struct stamper *s = user;
	long double t = (long double)stamp, seconds;
	double bound, within;
	ltick_t at;

	if (s->x->unbounded) {
		*corrected = (int64_t)stamp;
		*bound_s = INFINITY;
		return stamp > INT64_MAX ? -1 : 0;
	}
	*bound_s = 0.5 / s->hz; /* the corrected stamp is rounded to a tick */
	if (exponent_of(s->o->unit) == 0) {
		t = roundl(t / (long double)s->hz * (long double)s->clock->hz);
		*bound_s += 0.5 / s->clock->hz;
	}
	if (t > 9.2e18L) {
		return -1;
	}
	at = timer_stamp(s->clock, ltick((int64_t)t), &within);
	if (s->x->unordered) {
		seconds = (long double)cal_map_at(&s->r->map, at).v * (long double)s->run->period_s;
		bound = cal_map_bound(&s->r->map, at);
	} else {
		seconds = (long double)cal_walk_next(&s->walk, at, &bound).v * (long double)s->run->period_s;
	}
	*bound_s += bound + within;
	seconds = roundl(seconds * (long double)s->hz);
	*corrected = fabsl(seconds) < 9.2e18L ? (int64_t)seconds : 0;
	return fabsl(seconds) < 9.2e18L ? 0 : -1;
}

/* Where the correction, or its bound, can have a corner. */
static int find_bends(void *user, int64_t **at, size_t *n)
{
	const struct stamper *s = user;
	size_t i;

	if (cal_map_bends(&s->r->map, &s->clock->from, at, n) < 0) {
		return -1;
	}
	for (i = 0; exponent_of(s->o->unit) == 0 && i < *n; i++) {
		(*at)[i] = (int64_t)((long double)(*at)[i] / (long double)s->clock->hz * (long double)s->hz);
	}
	return 0;
}

static void print_corrected(const char *what, const struct xch_restamp *x)
{
	printf("%s: ", what);
	if (x->stamps) {
		printf("%" PRIu64 " stamps %s, ", x->stamps, x->unbounded ? "copied" : "corrected");
	}
	if (x->reversed) {
		printf("%" PRIu64 " of them moved to the stamp before, ", x->reversed);
	}
	if (x->zeros) {
		printf("%" PRIu64 " stamps of 0 not changed, ", x->zeros);
	}
	if (isfinite(x->worst_s)) {
		printf("bound at most %.3g s", tkm_round_up(x->worst_s, 3, 'g'));
	} else {
		printf("bound unknown");
	}
	if (x->line_s > 0) {
		printf(", of it %.3g s because the clock is one straight line", tkm_round_up(x->line_s, 3, 'g'));
	}
	putchar('\n');
}

/* A folder that is no trace, such as the session folder of LTTng: names the traces below. */
static int refuse_folder(const char *path)
{
	char text[PATH_MAX];

	return complain_clkapply(USAGE,
		tkm_traces_below(path, text, sizeof(text)) ? "%s is a folder of CTF traces: correct each of %s"
							   : "%s is a folder without a trace",
		path, text);
}

static int check_unit(const struct options *o)
{
	return exponent_of(o->unit) > 0
		? complain_clkapply(USAGE, "--unit %s: a trace has ticks or s", unit_names[o->unit])
		: 0;
}

static int apply_trace(
	const struct options *o, const struct cal_run *run, const struct xch_format *f, struct clock *clocks)
{
	struct stamper s = { .o = o, .input = o->input, .run = run, .clocks = clocks };
	struct xch_restamp x = { .format = f,
		.path = o->input,
		.to = o->output,
		.force = o->force,
		.clock = *o->clock ? o->clock : NULL,
		.user = &s,
		.begin = begin_rank,
		.at = correct,
		.bends = find_bends };
	struct tkm_err err;

	if (check_unit(o) != 0) {
		return USAGE;
	}
	if (*o->clock && strcmp(f->name, "CTF") != 0) {
		return complain_clkapply(USAGE, "--clock is for CTF traces, which %s is not", o->input);
	}
	if (o->unbounded && !f->unclocked) {
		return complain_clkapply(
			USAGE, "--unbounded is for JSON, .pftrace and .sqlite traces, which %s is not", o->input);
	}
	s.x = &x;
	if (f->restamp(&x, &err) < 0) {
		return complain_clkapply(err.code == TKM_ERR_ARG ? USAGE : FAULT, "%s", err.text);
	}
	print_corrected(o->output, &x);
	return x.unbounded ? UNBOUNDED : OK;
}

/* Corrects the traces of several ranks into one file. */
static int apply_together(const struct options *o, const struct cal_run *run, struct clock *clocks)
{
	const struct xch_format *f = xch_by_name("CHROME");
	struct xch_together t = { .to = o->together, .force = o->force, .table = stdout };
	struct stamper *s;
	struct tkm_err err;
	size_t i;
	int rc = check_unit(o);

	if (rc != 0) {
		return rc;
	}
	while (o->trace[t.n]) {
		if (xch_by_restamp(o->trace[t.n]) != f) {
			return complain_clkapply(
				USAGE, "--together is for .json and .json.gz, which %s is not", o->trace[t.n]);
		}
		t.n++;
	}
	t.trace = calloc(t.n, sizeof(*t.trace));
	s = calloc(t.n, sizeof(*s));
	if (!t.trace || !s) {
		rc = complain_clkapply(FAULT, "out of memory for %zu files", t.n);
	}
	for (i = 0; rc == 0 && i < t.n; i++) {
		s[i] = (struct stamper){ .o = o, .input = o->trace[i], .run = run, .clocks = clocks, .x = &t.trace[i] };
		t.trace[i] = (struct xch_restamp){
			.format = f, .path = o->trace[i], .user = &s[i], .begin = begin_rank, .at = correct
		};
	}
	if (rc == 0 && f->together(&t, &err) < 0) {
		rc = complain_clkapply(err.code == TKM_ERR_ARG ? USAGE : FAULT, "%s", err.text);
	}
	for (i = 0; (rc == OK || rc == UNBOUNDED) && i < t.n; i++) {
		printf("# ");
		print_corrected(o->trace[i], &t.trace[i]);
		rc = t.trace[i].unbounded ? UNBOUNDED : rc;
	}
	free(t.trace);
	free(s);
	return rc;
}

/* ---- mpisync ---- */

static int seen_before(const struct cal_run *run, size_t i)
{
	size_t k;

	for (k = 0; k < i && strcmp(run->rank[k].host, run->rank[i].host) != 0; k++) {
		;
	}
	return k < i;
}

/* Prints a line <host> <rtt> <offset> for each host. A reading of the host's clock in seconds plus offset is a
 * reading of the master's clock. The offset is that of the last session; rtt is the width of its interval of
 * certainty. */
static int print_mpisync(const struct options *o, const struct cal_run *run)
{
	const struct cal_rank *master = &run->rank[run->master];
	long double at_zero;
	size_t i;

	if (!master->anchors || !(cal_rank_hz(master) > 0)) {
		return complain_clkapply(FAULT, "%s: the master's clock has no anchor or no frequency", o->clk);
	}
	at_zero = (long double)master->anchor[0].local.v / (long double)cal_rank_hz(master);
	for (i = 0; i < run->ranks; i++) {
		const struct cal_rank *r = &run->rank[i];
		const struct cal_node *n = r->map.nodes ? &r->map.node[r->map.nodes - 1] : NULL;
		long double offset = 0, rtt = 0;

		if (seen_before(run, i)) {
			continue;
		}
		if (!(cal_rank_hz(r) > 0)) {
			return complain_clkapply(
				FAULT, "%s: rank %d: the frequency of its clock is not known", o->clk, r->rank);
		}
		if (n) {
			offset = (long double)cal_map_at(&r->map, n->local).v * (long double)run->period_s + at_zero -
				(long double)n->local.v / (long double)cal_rank_hz(r);
			rtt = (long double)(n->high.v - n->low.v) * (long double)run->period_s;
		}
		printf("%s %.12Lf %.12Lf\n", r->host, rtt, offset);
	}
	return OK;
}

/* ---- options ---- */

static int parse_clkapply_options(int argc, char **argv, struct options *o)
{
	static const char *const none = "";
	struct tkm_option table[] = {
		{ "COLUMN", TKM_OPTION_TEXT, &o->column, 0, 0, "NAME",
			"column of the stamps, by its name or its number from 1" },
		{ "RANK", TKM_OPTION_COUNT, &o->rank, 0, INT32_MAX, "R", "all stamps are of this rank" },
		{ "RANK-COLUMN", TKM_OPTION_TEXT, &o->rank_column, 0, 0, "NAME", "column that says the rank" },
		{ "UNIT", TKM_OPTION_WORD, &o->unit, 0, 0, "ticks|s|ms|us|ns",
			"of the stamps; ticks (default) are those of the rank's timer" },
		{ "CLOCK", TKM_OPTION_TEXT, &o->clock, 0, 0, "NAME",
			"of a CTF trace of several clocks: the one to correct" },
		{ "TIMER", TKM_OPTION_TEXT, &o->timer, 0, 0, "CLOCK",
			"of the stamps: clock_realtime, clock_monotonic, clock_monotonic_raw or clock_boottime, not the "
			"rank's timer" },
		{ "OUTPUT", TKM_OPTION_TEXT, &o->output, 0, 0, "COPY",
			"where the corrected copy of a trace is written" },
		{ "TOGETHER", TKM_OPTION_TEXT, &o->together, 0, 0, "OUT.zip",
			"where the corrected JSON traces of several ranks are written, for ui.perfetto.dev; prints who "
			"came last to collective operations" },
		{ "FORCE", TKM_OPTION_BOOL, &o->force, 0, 0, NULL, "replace COPY or OUT.zip" },
		{ "UNBOUNDED", TKM_OPTION_BOOL, &o->unbounded, 0, 0, NULL,
			"copy a JSON, Perfetto or Nsight trace that has no clock in CORRECTION.clk with unchanged stamps, marked as "
			"unbounded; the exit status is then 3" },
		{ "FORMAT", TKM_OPTION_WORD, &o->mpisync, 0, 0, "mpisync",
			"print Open MPI's lines HOST RTT OFFSET instead; takes no file" },
		{ NULL, TKM_OPTION_TEXT, NULL, 0, 0, NULL, NULL },
	};
	const struct tkm_front front = { .program = "clkapply",
		.arguments =
			"[OPTION...] CORRECTION.clk FILE.csv\n"
			"[OPTION...] CORRECTION.clk FILE.otf2|FILE.ctf|FILE.json|FILE.pftrace|FILE.sqlite --output COPY\n"
			"[OPTION...] CORRECTION.clk FILE.json... --together OUT.zip",
		.what = "Puts the stamps in a column of a CSV file (-: standard input) on the corrected time axis: "
			"prints each line "
			"with two more columns, global_s (seconds since the start of the run) and bound_s (how wrong "
			"that may be). Of an OTF2 archive, one clock of a CTF trace, trace events in JSON "
			"(PyTorch, Chrome), packets of Perfetto, or a database of Nsight Systems, writes a corrected copy.",
		.table = table };
	struct tkm_err err;
	int n;

	o->output = o->together = o->clock = o->timer = none;
	o->mpisync = -1;
	o->trace = calloc((size_t)argc + 1, sizeof(*o->trace));
	if (!o->trace) {
		return complain_clkapply(FAULT, "out of memory");
	}
	n = tkm_front_arguments(&front, argc, argv, o->trace, argc, &err);
	if (n == TKM_FRONT_ANSWERED) {
		exit(OK);
	}
	if (n < 0) {
		return complain_clkapply(USAGE, "%s", err.text);
	}
	o->clk = o->trace[0];
	o->input = n > 1 ? o->trace[1] : NULL;
	o->trace++;
	if (*o->together && (*o->output || *o->clock || o->rank >= 0 || o->mpisync == 0)) {
		return complain_clkapply(USAGE,
			"--together takes the ranks from the files, and neither --output, --rank, "
			"--clock nor --format");
	}
	if (!o->clk || (!o->input == (o->mpisync < 0)) || (n > 2 && !*o->together)) {
		return complain_clkapply(USAGE,
			"give a correction file and either a CSV file, a trace, or --format mpisync; "
			"--help says more");
	}
	return OK;
}

int main(int argc, char **argv)
{
	struct options o = { .column = "time", .rank_column = "rank", .rank = -1 };
	struct cal_run run = { 0 };
	const struct xch_format *f;
	struct clock *clocks;
	struct tkm_err err;
	struct stat st;
	char why[PATH_MAX + 200];
	size_t i;
	int rc = parse_clkapply_options(argc, argv, &o);

	if (rc != OK) {
		return rc;
	}
	if (cal_clk_load(o.clk, &run, &err) < 0) {
		return complain_clkapply(FAULT, "%s", err.text);
	}
	clocks = calloc(run.ranks, sizeof(*clocks));
	f = o.mpisync == 0 || *o.together ? NULL : xch_by_restamp(o.input);
	if (!clocks) {
		rc = complain_clkapply(FAULT, "out of memory for %zu ranks", run.ranks);
	} else if (*o.together) {
		rc = apply_together(&o, &run, clocks);
	} else if (!f && *o.clock) {
		rc = complain_clkapply(USAGE, "--clock is for CTF traces");
	} else if (!f && o.mpisync != 0 && stat(o.input, &st) == 0 && S_ISDIR(st.st_mode)) {
		rc = refuse_folder(o.input);
	} else if (!f && o.mpisync != 0 && *tkm_foreign(o.input, TKM_FOREIGN_CORRECT, why, sizeof(why))) {
		rc = complain_clkapply(USAGE, "%s", why);
	} else if (!f && o.unbounded) {
		rc = complain_clkapply(USAGE, "--unbounded is for traces, which %s is not", o.input);
	} else if (f ? !*o.output : *o.output) {
		rc = complain_clkapply(USAGE,
			f ? "%s is a trace: name its corrected copy by --output"
			  : "--output is for traces: %s ends in none of .otf2, .ctf, .json, .pftrace, .perfetto-trace and "
			    ".sqlite",
			o.input);
	} else {
		rc = f                   ? apply_trace(&o, &run, f, clocks)
			: o.mpisync == 0 ? print_mpisync(&o, &run)
					 : apply_csv(&o, &run, clocks);
	}
	for (i = 0; clocks && i < run.ranks; i++) {
		cal_pairs_free(&clocks[i].from);
	}
	free(clocks);
	cal_run_free(&run);
	if ((fflush(stdout) != 0 || ferror(stdout)) && rc != FAULT && rc != USAGE) {
		rc = complain_clkapply(FAULT, "cannot write to standard output: %s", strerror(errno));
	}
	return rc;
}
