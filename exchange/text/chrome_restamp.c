/* SPDX-License-Identifier: BSD-3-Clause */
/* Corrects the stamps of JSON trace events: of PyTorch's profiler (Kineto) and of all others in Chrome's format. Only the digits of
 * times change, and the bound is added; all other bytes stay, because ids in them link events. No JSON library keeps the bytes.
 * Times are decimal text of microseconds, up to 19 digits, so none of them becomes a double. The file is read twice, or three times
 * where its base comes after the events, and never held as a whole. */
#include "config.h"
#include "exchange/text/chrome_restamp.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/newfile.h"
#include "base/text/quote.h"
#include "exchange/common/private.h"
#include "exchange/text/chrome_arrivals.h"
#include "exchange/text/json_scan.h"

/* Kineto's base is a whole number of these; it is moved by a whole number of them, too. */
#define BASE_STEP_NS (7889238 * 1000000000ll)
enum { HOUR_S = 3600 };

enum { MOST_PATCHES = 8, NUMBER = 64 };

/* A number of the file: its text, without quotes. */
struct number {
	uint64_t from, to; /* from == to: there is none */
};

struct event {
	char phase;
	struct number ts, dur, issued;
	/* of a collective operation */
	struct number name, category, group, ranks, members, action, seq;
};

struct chrome_restamp {
	struct xch_restamp *x;
	struct json_scan s;
	FILE *out; /* NULL: the pass that only looks */
	/* of several files together; NULL: of one */
	struct xch_zip *zip;
	struct xch_arrivals *arrivals;
	struct tkm_err *err;
	int begun;      /* the rank's clock is open */
	int has_events; /* an event with a stamp came before the base was known */
	int has_base, again, kineto, bare;
	int64_t base_ns, new_base_ns, origin_ns;
	int64_t least_ns; /* the earliest corrected stamp, on the new axis */
	double bound_s;   /* of the present event */
	double least_bound_s;
	double coarse_s; /* by how much the last stamp was cut: profilers before 2024 write whole microseconds */
	long long rank;  /* -1: the file does not say */
	char host[256];
	uint64_t zeros; /* stamps of 0, which are none */
	struct {
		int64_t ns, out;
		double bound_s;
		int known;
	} recent[2]; /* the last stamps: a flow has those of what it links */
};

/* ---- numbers ---- */

/* Reads microseconds as ns. */
static int read_us(struct chrome_restamp *c, const struct number *n, int64_t *ns)
{
	c->coarse_s = memchr(xch_scan_text(&c->s, n->from), '.', (size_t)(n->to - n->from)) ? 0 : 1e-6;
	return xch_scan_us(&c->s, n->from, n->to, ns);
}

static int write_us(struct chrome_restamp *c, const struct number *at, int64_t ns)
{
	uint64_t v = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	char text[NUMBER], *p = text + sizeof(text) - 1;
	int digits = 0;

	if (!c->out || (c->x->unbounded && c->new_base_ns == c->base_ns)) {
		return 0;
	}
	for (*p = '\0'; digits < 4 || v > 0; v /= 10) { /* printf() takes longer than all the rest */
		*--p = (char)('0' + v % 10);
		if (++digits == 3) {
			*--p = '.';
		}
	}
	if (ns < 0) {
		*--p = '-';
	}
	return xch_scan_replace(&c->s, at->from, at->to, p);
}

/* The stamp on the corrected axis, in ns. */
static int correct_ns(struct chrome_restamp *c, uint64_t offset, int64_t ns, int64_t *out)
{
	double bound;
	int64_t raw;
	int i;

	for (i = 0; i < 2; i++) {
		if (c->recent[i].known && c->recent[i].ns == ns) {
			*out = c->recent[i].out;
			bound = c->recent[i].bound_s + c->coarse_s;
			c->x->worst_s = fmax(c->x->worst_s, bound);
			c->bound_s = fmax(c->bound_s, bound);
			return 0;
		}
	}
	if (__builtin_add_overflow(ns, c->base_ns, &raw) || (raw < 0 && !c->x->unbounded) ||
		c->x->at(c->x->user, (uint64_t)raw, out, &bound) < 0 ||
		__builtin_add_overflow(*out, c->origin_ns, out)) {
		return xch_scan_fail(&c->s, offset, "a stamp before the start of its clock, or too far away");
	}
	c->recent[1] = c->recent[0];
	c->recent[0].ns = ns;
	c->recent[0].out = *out;
	c->recent[0].bound_s = bound;
	c->recent[0].known = 1;
	bound += c->coarse_s;
	c->x->worst_s = fmax(c->x->worst_s, bound);
	c->bound_s = fmax(c->bound_s, bound);
	c->least_bound_s = fmin(c->least_bound_s, bound);
	return 0;
}

/* ---- events ---- */

/* The clock is that of one rank. */
static int begin_clock(struct chrome_restamp *c)
{
	c->x->timer = c->kineto ? "clock_realtime" : "";
	c->x->host = c->host[0] ? c->host : NULL;
	if (c->x->begin(c->x->user, c->rank < 0 ? XCH_NONE : (uint32_t)c->rank, 1e9, c->err) < 0) {
		return -1;
	}
	c->origin_ns = c->arrivals || !strcmp(c->x->used_timer, "clock_realtime")
		? c->x->realtime0_ns
		: (int64_t)llroundl(c->x->zero_s * 1e9L);
	c->begun = 1;
	memset(c->recent, 0, sizeof(c->recent));
	return 0;
}

/* Corrects one time; with dur, the end of the span, too. The corrected time is also in *out. */
static int correct_time(struct chrome_restamp *c, const struct number *at, const struct number *dur, int64_t *out)
{
	int64_t start, length, from, to;

	if (read_us(c, at, &start) < 0 || correct_ns(c, at->from, start, &from) < 0) {
		return -1;
	}
	*out = from;
	c->x->stamps++;
	c->least_ns = from < c->least_ns ? from : c->least_ns;
	if (write_us(c, at, from - c->new_base_ns) < 0) {
		return -1;
	}
	if (dur->to > dur->from) {
		if (read_us(c, dur, &length) < 0) {
			return -1;
		}
		if (length < 0) {
			return xch_scan_fail(&c->s, dur->from, "a span of negative length");
		}
		if (__builtin_add_overflow(start, length, &length)) {
			return xch_scan_fail(&c->s, dur->from, "a span that ends too far away");
		}
		if (correct_ns(c, dur->from, length, &to) < 0) {
			return -1;
		}
		c->x->stamps++;
		c->x->reversed += to < from;
		return write_us(c, dur, to < from ? 0 : to - from);
	}
	return 0;
}

/* A stamp of 0 in metadata is none. Nor is it in a file of Kineto's, which writes 0 for times before its base. */
static int is_no_time(struct chrome_restamp *c, const struct event *e)
{
	return (e->phase == 'M' || c->kineto) && xch_scan_is_zero(&c->s, e->ts.from, e->ts.to);
}

/* ---- collective operations ---- */

static struct xch_span span_of(const struct chrome_restamp *c, const struct number *n)
{
	return n->to > n->from ? (struct xch_span){ xch_scan_text(&c->s, n->from), (size_t)(n->to - n->from) }
			       : (struct xch_span){ "", 0 };
}

static int begins_with(struct xch_span s, const char *text)
{
	size_t n = strlen(text);

	return s.length >= n && !memcmp(s.text, text, n);
}

/* Which row of a collective operation this is; XCH_ARRIVAL_KINDS: none. */
static enum xch_arrival_kind kind_of(const struct chrome_restamp *c, const struct event *e)
{
	struct xch_span name = span_of(c, &e->name), category = span_of(c, &e->category);

	if (e->action.to > e->action.from) {
		return begins_with(category, "kernel")            ? XCH_ARRIVAL_KERNEL
			: begins_with(name, "record_param_comms") ? XCH_ARRIVAL_CALL
								  : XCH_ARRIVAL_KINDS;
	}
	if (begins_with(category, "gpu_")) {
		return XCH_ARRIVAL_KINDS; /* an annotation again, of the GPU */
	}
	return begins_with(name, "c10d::") ? XCH_ARRIVAL_C10D
		: begins_with(name, "nccl:") || begins_with(name, "gloo:") || begins_with(name, "ucc:") ||
			begins_with(name, "mpi:")
		? XCH_ARRIVAL_WORK
		: XCH_ARRIVAL_KINDS;
}

/* "[0, 1, 2]", perhaps in quotes. 0: it is no complete list. */
static uint64_t ranks_in_list(struct xch_span s)
{
	uint64_t n = 1;
	size_t i;

	for (i = 0; i < s.length; i++) {
		n += s.text[i] == ',';
		if (s.text[i] == '.') {
			return 0;
		}
	}
	return s.length > 2 && memchr(s.text, '[', s.length) && memchr(s.text, ']', s.length) ? n : 0;
}

/* at_ns: the start of the event. */
static int note_arrival(struct chrome_restamp *c, const struct event *e, int64_t at_ns)
{
	struct xch_arrival v = { .kind = kind_of(c, e), .rank = c->x->rank, .at_ns = at_ns, .bound_s = c->bound_s };
	struct xch_span name = span_of(c, &e->group), ranks = span_of(c, &e->ranks), number = span_of(c, &e->seq);
	struct xch_span members = span_of(c, &e->members);
	char group[256], seq[24], size[24];

	if (v.kind == XCH_ARRIVAL_KINDS) {
		return 0;
	}
	snprintf(group, sizeof(group), "%.*s%s%.*s", (int)name.length, name.text, ranks.length ? " " : "",
		(int)ranks.length, ranks.text);
	snprintf(seq, sizeof(seq), "%.*s", (int)number.length, number.text);
	v.seq = strtoull(seq, NULL, 10);
	snprintf(size, sizeof(size), "%.*s", (int)members.length, members.text);
	v.members = strtoull(size, NULL, 10);
	v.members = v.members ? v.members : ranks_in_list(ranks);
	return xch_arrivals_add(c->arrivals, &v, (struct xch_span){ group, strlen(group) },
		span_of(c, e->action.to > e->action.from ? &e->action : &e->name), c->err);
}

static int correct_event(struct chrome_restamp *c, const struct event *e)
{
	static const struct number none;
	int64_t at;

	if (e->ts.to == e->ts.from) {
		return 0;
	}
	if (is_no_time(c, e)) {
		c->zeros++;
		return 0;
	}
	if (!c->begun && begin_clock(c) < 0) {
		return -1;
	}
	c->has_events = 1;
	c->bound_s = 0;
	if (correct_time(c, &e->ts, e->phase == 'X' ? &e->dur : &none, &at) < 0) {
		return -1;
	}
	if (e->phase == 'X' && c->arrivals && !c->out) {
		return note_arrival(c, e, at);
	}
	return e->phase == 'c' && e->issued.to > e->issued.from ? correct_time(c, &e->issued, &none, &at) : 0;
}

/* A number, or one in quotes. Other values are none. */
static int scan_number(struct chrome_restamp *c, struct number *n)
{
	int first = xch_scan_peek(&c->s);

	if (first == '"') {
		return xch_scan_string(&c->s, &n->from, &n->to);
	}
	if (first == '-' || (first >= '0' && first <= '9')) {
		return xch_scan_word(&c->s, &n->from, &n->to);
	}
	return xch_scan_skip(&c->s);
}

/* phase: of the event, if it came before. */
static int scan_args(struct chrome_restamp *c, struct event *e, const struct number *phase)
{
	struct json_key k;
	struct number *n;
	uint64_t from;
	int rc, first = 1;

	if (xch_scan_peek(&c->s) != '{') {
		return xch_scan_skip(&c->s);
	}
	if (!c->arrivals) { /* as a whole, unless there is a time in it */
		from = xch_scan_at(&c->s);
		if (xch_scan_skip(&c->s) < 0) {
			return -1;
		}
		if ((phase->to > phase->from && *xch_scan_text(&c->s, phase->from) != 'c') ||
			!memmem(xch_scan_text(&c->s, from), (size_t)(xch_scan_at(&c->s) - from), "\"issue_ts\"", 10)) {
			return 0;
		}
		xch_scan_back(&c->s, from);
	}
	while ((rc = xch_scan_member(&c->s, &first, &k)) > 0) {
		n = !c->arrivals                                 ? NULL
			: !strcmp(k.name, "Collective name")     ? &e->action
			: !strcmp(k.name, "Process Group Name")  ? &e->group
			: !strcmp(k.name, "Process Group Ranks") ? &e->ranks
			: !strcmp(k.name, "Group size")          ? &e->members
			: !strcmp(k.name, "Seq")                 ? &e->seq
								 : NULL;
		rc = n                                ? xch_scan_value(&c->s, &n->from, &n->to)
			: !strcmp(k.name, "issue_ts") ? scan_number(c, &e->issued)
						      : xch_scan_skip(&c->s);
		if (rc < 0) {
			return -1;
		}
	}
	return rc;
}

static int scan_event(struct chrome_restamp *c)
{
	struct event e = { .phase = 0 };
	struct number phase = { 0, 0 };
	struct json_key k;
	int rc, first = 1;

	if (xch_scan_peek(&c->s) != '{') {
		return xch_scan_skip(&c->s);
	}
	/* until its phase is known, nothing of it can be written */
	xch_scan_hold(&c->s, 1);
	while ((rc = xch_scan_member(&c->s, &first, &k)) > 0) {
		rc = !strcmp(k.name, "ts")        ? scan_number(c, &e.ts)
			: !strcmp(k.name, "dur")  ? scan_number(c, &e.dur)
			: !strcmp(k.name, "args") ? scan_args(c, &e, &phase)
			: !strcmp(k.name, "name") ? xch_scan_value(&c->s, &e.name.from, &e.name.to)
			: !strcmp(k.name, "cat")  ? xch_scan_value(&c->s, &e.category.from, &e.category.to)
			: !strcmp(k.name, "ph") && xch_scan_peek(&c->s) == '"'
			? xch_scan_string(&c->s, &phase.from, &phase.to)
			: xch_scan_skip(&c->s);
		if (rc < 0) {
			return -1;
		}
	}
	if (rc < 0) {
		return -1;
	}
	e.phase = phase.to == phase.from + 1 ? *xch_scan_text(&c->s, phase.from) : 0;
	if (correct_event(c, &e) < 0) {
		return -1;
	}
	xch_scan_hold(&c->s, 0);
	return xch_scan_write(&c->s);
}

/* An array of objects with "ts". bare: the whole file, whose end may be missing since its writer was killed. */
static int scan_events(struct chrome_restamp *c, int bare)
{
	int rc, first = 1;

	while ((rc = xch_scan_element(&c->s, &first, bare)) > 0) {
		if (scan_event(c) < 0) {
			return -1;
		}
	}
	return rc;
}

/* ---- the file ---- */

/* A whole number that is not negative, else -1. */
static long long whole_number(const struct chrome_restamp *c, const struct number *n)
{
	struct xch_span s = span_of(c, n);
	char text[24];

	snprintf(text, sizeof(text), "%.*s", (int)(s.length < sizeof(text) ? s.length : 0), s.text);
	return *text && strspn(text, "0123456789") == strlen(text) ? atoll(text) : -1;
}

static int scan_rank(struct chrome_restamp *c)
{
	struct number n = { 0, 0 }, world = { 0, 0 };
	struct json_key k;
	int rc, first = 1;
	long long size;

	if (xch_scan_peek(&c->s) != '{') {
		return xch_scan_skip(&c->s);
	}
	xch_scan_hold(&c->s, 1);
	while ((rc = xch_scan_member(&c->s, &first, &k)) > 0) {
		if ((!strcmp(k.name, "rank")                        ? scan_number(c, &n)
				    : !strcmp(k.name, "world_size") ? scan_number(c, &world)
								    : xch_scan_skip(&c->s)) < 0) {
			return -1;
		}
	}
	if (rc == 0 && n.to > n.from) {
		c->rank = whole_number(c, &n);
	}
	size = rc == 0 ? whole_number(c, &world) : -1;
	if (c->arrivals && size > 0) {
		c->arrivals->world = (uint64_t)size > c->arrivals->world ? (uint64_t)size : c->arrivals->world;
	}
	xch_scan_hold(&c->s, 0);
	return rc;
}

static int scan_base(struct chrome_restamp *c)
{
	struct number n = { 0, 0 };
	char text[NUMBER];
	size_t length;

	xch_scan_hold(&c->s, 1);
	if (scan_number(c, &n) < 0) {
		return -1;
	}
	length = (size_t)(n.to - n.from);
	length = length <= 19 ? length : 0;
	memcpy(text, xch_scan_text(&c->s, n.from), length);
	text[length] = '\0';
	if (length == 0 || strspn(text, "0123456789") != length) {
		return xch_scan_fail(&c->s, n.from, "baseTimeNanoseconds is no whole number of ns since 1970");
	}
	c->again = c->has_events && !c->has_base;
	c->has_base = 1;
	memset(c->recent, 0, sizeof(c->recent));
	c->base_ns = strtoll(text, NULL, 10);
	if (c->out && c->new_base_ns != c->base_ns) {
		snprintf(text, sizeof(text), "%" PRId64, c->new_base_ns);
		if (xch_scan_replace(&c->s, n.from, n.to, text) < 0) {
			return -1;
		}
	}
	xch_scan_hold(&c->s, 0);
	return 0;
}

static int scan_host(struct chrome_restamp *c)
{
	struct number n = { 0, 0 };

	xch_scan_hold(&c->s, 1);
	if (scan_number(c, &n) < 0) {
		return -1;
	}
	if (n.to - n.from < sizeof(c->host)) {
		memcpy(c->host, xch_scan_text(&c->s, n.from), (size_t)(n.to - n.from));
		c->host[n.to - n.from] = '\0';
	}
	xch_scan_hold(&c->s, 0);
	return 0;
}

/* The beginning of a corrected object. */
static void describe_copy(const struct chrome_restamp *c, char *text, size_t size)
{
	char bound[32] = "null", base[60] = "";

	if (isfinite(c->x->worst_s)) {
		snprintf(bound, sizeof(bound), "%.0f", ceil(c->x->worst_s * 1e9));
	}
	if (c->zip && !c->has_base) {
		snprintf(base, sizeof(base), "\"baseTimeNanoseconds\":%" PRId64 ",", c->new_base_ns);
	}
	snprintf(text, size, "{\"tickmark\":{\"bound_ns\":%s,%s\"timer\":\"%.100s\",\"rank\":%lld},%s", bound,
		c->x->unbounded ? "\"unbounded\":true," : "", c->x->used_timer, c->x->rank, base);
}

static int scan_top(struct chrome_restamp *c)
{
	static const char *const of_kineto[] = { "schemaVersion", "deviceProperties", "distributedInfo",
		"baseTimeNanoseconds" };
	char text[300];
	struct json_key k;
	int rc, first = 1;
	size_t i;

	if (c->out) {
		describe_copy(c, text, sizeof(text));
		if (xch_scan_replace(&c->s, xch_scan_at(&c->s), xch_scan_at(&c->s) + 1, text) < 0) {
			return -1;
		}
	}
	while ((rc = xch_scan_member(&c->s, &first, &k)) > 0) {
		for (i = 0; i < sizeof(of_kineto) / sizeof(of_kineto[0]); i++) {
			c->kineto |= !strcmp(k.name, of_kineto[i]);
		}
		if (!strcmp(k.name, "tickmark")) {
			return xch_scan_fail(&c->s, k.from, "the file is corrected already");
		}
		if (!strcmp(k.name, "systemTraceEvents")) {
			return xch_scan_fail(&c->s, k.from,
				"\"systemTraceEvents\" holds a text of ftrace, whose times cannot be corrected");
		}
		rc = (!strcmp(k.name, "traceEvents") || !strcmp(k.name, "samples")) && xch_scan_peek(&c->s) == '['
			? scan_events(c, 0)
			: !strcmp(k.name, "baseTimeNanoseconds") ? scan_base(c)
			: !strcmp(k.name, "distributedInfo")     ? scan_rank(c)
			: !strcmp(k.name, "host_name")           ? scan_host(c)
								 : xch_scan_skip(&c->s);
		if (rc < 0) {
			return -1;
		}
	}
	return rc;
}

static int scan_file(struct chrome_restamp *c)
{
	int first;

	if (xch_scan_begin(&c->s, c->x->path, c->out, c->zip, c->err) < 0) {
		return -1;
	}
	first = xch_scan_peek(&c->s);
	c->bare = first == '[';
	if (first < 0 && !c->s.eof) {
		return -1; /* it cannot be read */
	}
	if (first != '[' && first != '{') {
		return xch_scan_fail(&c->s, 0, "it is no JSON object or array of trace events");
	}
	if ((c->bare ? scan_events(c, 1) : scan_top(c)) < 0) {
		return -1;
	}
	return xch_scan_end(&c->s);
}

/* Looks at all stamps. Returns 0 or -1. */
static int look_at_stamps(struct chrome_restamp *c)
{
	size_t arrivals = c->arrivals ? c->arrivals->n : 0;

	c->x->unordered = 1;
	do {
		c->again = 0;
		c->begun = c->has_events = 0;
		c->least_ns = INT64_MAX;
		c->least_bound_s = INFINITY;
		c->x->stamps = c->x->reversed = c->zeros = 0;
		c->x->worst_s = 0;
		if (c->arrivals) {
			c->arrivals->n = arrivals;
		}
		/* what the file says of itself stays known */
		if (scan_file(c) < 0) {
			return -1;
		}
	} while (c->again);
	if (c->x->stamps == 0) {
		return tkm_fail(c->err, TKM_ERR_FORMAT, "%s has no trace event with a stamp", c->x->path);
	}
	if (c->least_bound_s > HOUR_S && isfinite(c->least_bound_s)) {
		return tkm_fail(c->err, TKM_ERR_FORMAT,
			"%s: each stamp is so far from the run that its bound is over an hour: it has another clock than %s, or no "
			"date",
			c->x->path, c->x->used_timer);
	}
	c->new_base_ns = c->base_ns;
	while (c->has_base && c->least_ns < c->new_base_ns) {
		c->new_base_ns -= BASE_STEP_NS;
	}
	return 0;
}

/* Makes the copy of what was looked at. Returns 0 or -1. */
static int copy_corrected(struct chrome_restamp *c, FILE *out)
{
	c->out = out;
	c->x->stamps = c->x->reversed = c->zeros = 0;
	if (scan_file(c) < 0) {
		return -1;
	}
	c->x->zeros = c->zeros;
	return 0;
}

int xch_chrome_restamp(struct xch_restamp *x, struct tkm_err *err)
{
	struct chrome_restamp c = { .x = x, .err = err, .rank = -1 };
	struct tkm_newfile n;
	int rc;

	if (look_at_stamps(&c) < 0 || tkm_newfile_begin(&n, x->to, x->force, err) < 0) {
		xch_scan_free(&c.s);
		return -1;
	}
	rc = copy_corrected(&c, n.f);
	xch_scan_free(&c.s);
	if (rc < 0) {
		tkm_newfile_abort(&n);
		return -1;
	}
	return tkm_newfile_commit(&n, err);
}

/* ---- several files ---- */

/* The name of a file in the zip. Perfetto skips names that begin with a point. */
static void name_member(char *name, size_t size, const struct chrome_restamp *c)
{
	const char *slash = strrchr(c->x->path, '/'), *own = slash ? slash + 1 : c->x->path;
	size_t n = strlen(own), k = strlen(".gz");

	n -= n > k && !strcasecmp(own + n - k, ".gz") ? k : 0;
	snprintf(name, size, "rank%lld/%s%.*s", c->x->rank, *own == '.' ? "_" : "", (int)n, own);
}

/* Tells Perfetto that all files have one time axis, and that equal process ids of two ranks are two processes. */
static void print_manifest(FILE *f, const struct chrome_restamp *c, size_t n)
{
	char name[4400], machine[300];
	double worst_s = 0;
	size_t i;

	fputs("{\"perfetto_manifest\": {\"version\": 1, \"files\": [", f);
	for (i = 0; i < n; i++) {
		name_member(name, sizeof(name), &c[i]);
		fputs(i ? ",\n  {\"path\": " : "\n  {\"path\": ", f);
		tkm_quote_json(f, name);
		if (c[i].x->rank < 0) { /* so that equal process ids of two files are two processes */
			snprintf(machine, sizeof(machine), "%.290s", name);
		} else {
			snprintf(machine, sizeof(machine), "rank %lld%s%.250s", c[i].x->rank,
				c[i].host[0] ? " on " : "", c[i].host);
		}
		fputs(", \"machine\": {\"name\": ", f);
		tkm_quote_json(f, machine);
		putc('}', f);
		if (i) {
			name_member(name, sizeof(name), &c[0]);
			fputs(", \"clocks\": {\"sync_to\": {\"file\": ", f);
			tkm_quote_json(f, name);
			fputs("}, \"offset_ns\": 0}", f);
		}
		putc('}', f);
		worst_s = fmax(worst_s, c[i].x->worst_s);
	}
	fprintf(f, "\n], \"attributes\": {\"tickmark.base_ns\": %" PRId64, c->new_base_ns);
	if (isfinite(worst_s)) {
		fprintf(f, ", \"tickmark.bound_ns\": %.0f", ceil(worst_s * 1e9));
	}
	fputs("}}}\n", f);
}

static int write_manifest(struct xch_zip *zip, const struct chrome_restamp *c, size_t n, struct tkm_err *err)
{
	char *text = NULL;
	size_t length = 0;
	FILE *f = open_memstream(&text, &length);
	int rc = -1;

	if (f) {
		print_manifest(f, c, n);
	}
	if (!f || fclose(f) != 0) {
		tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the manifest");
	} else if (xch_zip_begin(zip, "perfetto_manifest.json", err) == 0 &&
		xch_zip_write(zip, text, length, err) == 0) {
		rc = xch_zip_end(zip, err);
	}
	free(text);
	return rc;
}

static int write_zip(struct chrome_restamp *c, size_t n, FILE *f, struct tkm_err *err)
{
	struct xch_zip zip = { .f = f };
	char name[4400];
	int rc = write_manifest(&zip, c, n, err);
	size_t i;

	for (i = 0; rc == 0 && i < n; i++) {
		name_member(name, sizeof(name), &c[i]);
		c[i].zip = &zip;
		rc = xch_zip_begin(&zip, name, err) < 0 || copy_corrected(&c[i], f) < 0 || xch_zip_end(&zip, err) < 0
			? -1
			: 0;
		xch_scan_free(&c[i].s);
	}
	rc = rc == 0 ? xch_zip_complete(&zip, err) : -1;
	xch_zip_free(&zip);
	return rc;
}

static int refuse_twins(const struct chrome_restamp *c, size_t n, struct tkm_err *err)
{
	char name[4400], other[4400];
	size_t i, k;

	for (i = 0; i < n; i++) {
		name_member(name, sizeof(name), &c[i]);
		for (k = 0; k < i; k++) {
			name_member(other, sizeof(other), &c[k]);
			if (!strcmp(name, other)) {
				return tkm_fail(err, TKM_ERR_ARG,
					"%s and %s are both of rank %lld and have one name: rename one", c[k].x->path,
					c[i].x->path, c[i].x->rank);
			}
		}
	}
	return 0;
}

/* Looks at all files, and gives them one base, which leaves no time negative and few digits. */
static int look_at_all(struct chrome_restamp *c, size_t n)
{
	int64_t least_ns = INT64_MAX, steps;
	size_t i;

	for (i = 0; i < n; i++) {
		if (look_at_stamps(&c[i]) < 0) {
			return -1;
		}
		xch_scan_free(&c[i].s);
		if (!c[i].x->unbounded || n == 1) { /* the clock of another one may count from the boot */
			least_ns = c[i].least_ns < least_ns ? c[i].least_ns : least_ns;
		}
	}
	least_ns = least_ns == INT64_MAX ? 0 : least_ns;
	steps = least_ns / BASE_STEP_NS - (least_ns % BASE_STEP_NS < 0);
	for (i = 0; i < n; i++) {
		c[i].new_base_ns = steps * BASE_STEP_NS;
	}
	return 0;
}

int xch_chrome_together(struct xch_together *t, struct tkm_err *err)
{
	struct chrome_restamp *c = calloc(t->n, sizeof(*c));
	struct xch_arrivals a = { .n = 0 };
	struct tkm_newfile n = { .f = NULL };
	size_t i;
	int rc;

	if (!c) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %zu files", t->n);
	}
	for (i = 0; i < t->n; i++) {
		c[i] = (struct chrome_restamp){ .x = &t->trace[i], .err = err, .rank = -1, .arrivals = &a };
	}
	rc = look_at_all(c, t->n) < 0 || refuse_twins(c, t->n, err) < 0 ? -1
									: tkm_newfile_begin(&n, t->to, t->force, err);
	if (rc == 0 && write_zip(c, t->n, n.f, err) < 0) {
		tkm_newfile_abort(&n);
		rc = -1;
	}
	rc = rc == 0 ? tkm_newfile_commit(&n, err) : -1;
	for (i = 0; i < t->n; i++) {
		xch_scan_free(&c[i].s);
	}
	rc = rc == 0 ? xch_arrivals_print(&a, t->table, err) : -1;
	xch_arrivals_free(&a);
	free(c);
	return rc;
}
