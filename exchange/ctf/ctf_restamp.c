/* SPDX-License-Identifier: BSD-3-Clause */
/* Corrects one clock of a CTF trace that LTTng 2 or another program wrote. The streams are copied unchanged,
 * because in CTF the clock description says how stamps become time. The new description has the offset and the
 * frequency of the straight line that is nearest to the correction. The difference between the correction and
 * that line is added to the bound, which becomes the clock's precision. */
#include "config.h"
#include "exchange/ctf/ctf_private.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "exchange/common/private.h"
#include "exchange/ctf/ctf_types.h"

enum { OTHER_INDEX = 1 };
enum { INDEX_HEADER = 16, POINTS = 2000, PATH = 4400 };
static const uint32_t index_magic = 0xC1F1DCC1;

struct restamp {
	struct xch_restamp *x;
	struct xch_writer w;
	struct tkm_err *err;
	char *text; /* the metadata text */
	size_t n;
	size_t clock, end;    /* start and end of the text between the braces of the clock's block */
	char name[100];       /* name of the clock */
	int clocks;           /* number of clocks in the metadata */
	uint64_t hz;          /* the clock's frequency before the correction */
	int open;             /* a packet was not completed: its last stamp is unknown */
	uint64_t first, last; /* first and last stamp according to the packet index; first > last: there is none */
	uint64_t new_hz, precision;
	int64_t offset_s;
	uint64_t offset;
};

static int broken(struct restamp *r, const char *file, uint64_t offset, const char *what)
{
	return tkm_fail(r->err, TKM_ERR_FORMAT, "%s/%s: offset %" PRIu64 ": %s", r->x->path, file, offset, what);
}

/* ---- the metadata ---- */

/* Finds the next c at or after p that is outside of comments and strings; the end if there is none. */
static const char *up_to(const char *p, char c)
{
	const char *q;

	while (*p && *p != c) {
		q = xch_ctf_skip(p);
		p = q != p ? q : p + 1;
	}
	return p;
}

static const char *skip_blanks(const char *p)
{
	const char *q = NULL;

	while (q != p) {
		q = p + strspn(p, " \t\r\n");
		p = *q == '/' ? xch_ctf_skip(q) : q;
	}
	return p;
}

/* Reads a statement of the clock's block, NAME = VALUE;. Returns its length; 0: there are no more. The name has
 * *k characters. */
static size_t statement(const char *p, const char *end, const char **name, size_t *k)
{
	const char *q = up_to(p, ';');

	*name = skip_blanks(p);
	for (*k = 0; xch_ctf_is_word((*name)[*k]); ++*k) {
		;
	}
	return q < end ? (size_t)(q + 1 - p) : 0;
}

/* Sets `name` to the name of the clock whose block begins here. */
static void name_clock(const char *p, const char *end, char name[100])
{
	const char *q;
	size_t n, k;

	*name = 0;
	for (; (n = statement(p, end, &q, &k)) > 0; p += n) {
		if (k == 4 && !strncmp(q, "name", 4)) {
			q += k + strspn(q + k, " \t=\"");
			snprintf(name, 100, "%.*s", (int)strcspn(q, "\"; \t\r\n"), q);
		}
	}
}

/* Finds the next block `clock { }` at or after p, and returns its content; NULL: there is none. */
static const char *next_clock(const struct restamp *r, const char *p)
{
	const char *q;
	int depth = 0;

	for (; *p; p = q) {
		q = xch_ctf_skip(p);
		if (q != p) {
			continue;
		}
		q = p + 5;
		if (!depth && !strncmp(p, "clock", 5) && !xch_ctf_is_word(*q) &&
			(p == r->text || !xch_ctf_is_word(p[-1]))) {
			q = skip_blanks(q);
			if (*q == '{') {
				return q + 1;
			}
		}
		depth += (*p == '{') - (*p == '}');
		q = p + 1;
	}
	return NULL;
}

/* Finds the block of the clock that x->clock names, or of the only clock. */
static int find_clock(struct restamp *r)
{
	const char *p, *end, *want = r->x->clock;
	char name[100], names[200] = "";
	size_t n = 0;
	int found = 0;

	for (p = next_clock(r, r->text); p; p = next_clock(r, end)) {
		end = up_to(p, '}');
		if (!*end) {
			return broken(r, "metadata", (uint64_t)(p - r->text), "the block of the clock has no end");
		}
		end++;
		name_clock(p, end - 1, name);
		n += n < sizeof(names) ? (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "", name)
				       : 0;
		r->clocks++;
		if (!want || !strcmp(name, want)) {
			found++;
			memcpy(r->name, name, sizeof(name));
			r->clock = (size_t)(p - r->text);
			r->end = (size_t)(end - 1 - r->text);
		}
	}
	if (found == 1) {
		return 0;
	}
	return found > 1
		? tkm_fail(r->err, TKM_ERR_ARG, "%s: several clocks (%s): say which by --clock", r->x->path, names)
		: r->clocks ? tkm_fail(r->err, TKM_ERR_ARG, "%s: no clock %s; there is %s", r->x->path, want, names)
			    : tkm_fail(r->err, TKM_ERR_FORMAT, "%s/metadata: no clock is described", r->x->path);
}

static int is_ours(const char *name, size_t n)
{
	static const char *const ours[] = { "freq", "offset_s", "offset", "precision", "absolute" };
	size_t i;

	for (i = 0; i < sizeof(ours) / sizeof(*ours); i++) {
		if (n == strlen(ours[i]) && !strncmp(name, ours[i], n)) {
			return (int)i + 1;
		}
	}
	return 0;
}

static int find_hz(struct restamp *r)
{
	const char *p = r->text + r->clock, *end = r->text + r->end, *name;
	size_t n, k;

	r->hz = 1000000000; /* the default of CTF 1.8 for a clock without a frequency */
	for (; (n = statement(p, end, &name, &k)) > 0; p += n) {
		if (is_ours(name, k) == 1) {
			r->hz = strtoull(name + k + strspn(name + k, " \t="), NULL, 0);
		}
	}
	return r->hz ? 0 : tkm_fail(r->err, TKM_ERR_FORMAT, "%s/metadata: the clock's frequency is 0", r->x->path);
}

static int write_metadata(struct restamp *r)
{
	const char *p = r->text + r->clock, *end = r->text + r->end, *of;
	char name[PATH];
	size_t n, k;
	FILE *f;

	snprintf(name, sizeof(name), "%s/metadata", r->w.base);
	f = xch_create(&r->w, name, r->err);
	if (!f) {
		return -1;
	}
	if (strncmp(r->text, "/* CTF 1.8", 10) != 0) {
		fputs("/* CTF 1.8 */\n", f);
	}
	fwrite(r->text, 1, r->clock, f);
	for (; (n = statement(p, end, &of, &k)) > 0; p += n) {
		if (!is_ours(of, k)) {
			fwrite(p, 1, n, f);
		}
	}
	fprintf(f, "\n\tfreq = %" PRIu64 ";\n\toffset_s = %" PRId64 ";\n\toffset = %" PRIu64 ";\n", r->new_hz,
		r->offset_s, r->offset);
	if (r->precision) {
		fprintf(f, "\tprecision = %" PRIu64 ";\n", r->precision);
	}
	fputs("\tabsolute = TRUE;\n", f);
	fputs(end, f);
	return xch_close(&r->w, f, name, r->err);
}

/* ---- the range of the stamps ---- */

/* Finds the first and the last stamp of the packets that one index file lists. Returns 0, -1, or OTHER_INDEX: an index of
 * another kind or version, like "CTFIDX" of early LTTng. */
static int read_index(struct restamp *r, const char *name)
{
	size_t n, entry = 0, at;
	unsigned char *b = (unsigned char *)xch_ctf_load(r->x->path, name, &n, r->err);
	uint64_t begin, end;
	int rc = b ? 0 : -1;
	char path[PATH];
	struct stat st;

	if (b && (n < INDEX_HEADER || tkm_get32(b, 1) != index_magic || (entry = tkm_get32(b + 12, 1)) < 40)) {
		rc = OTHER_INDEX;
	}
	/* index/NAME.idx lists the packets of NAME */
	snprintf(path, sizeof(path), "%.3000s/%.*s", r->x->path, (int)strlen(name + 6) - 4, name + 6);
	if (stat(path, &st) < 0) {
		st.st_size = INT64_MAX;
	}
	for (at = INDEX_HEADER; rc == 0 && at + entry <= n; at += entry) {
		if (tkm_get64(b + at, 1) + tkm_get64(b + at + 8, 1) / 8 > (uint64_t)st.st_size) {
			rc = broken(r, name, at, "a packet that ends after the file does");
		}
		begin = tkm_get64(b + at + 24, 1);
		end = tkm_get64(b + at + 32, 1);
		r->first = begin < r->first ? begin : r->first;
		r->last = end > r->last ? end : r->last;
	}
	free(b);
	return rc;
}

static int read_indexes(struct restamp *r)
{
	char path[PATH];
	struct dirent *d;
	int rc = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%.4000s/index", r->x->path);
	dir = opendir(path);
	while (dir && rc == 0 && (d = readdir(dir))) {
		snprintf(path, sizeof(path), "index/%s", d->d_name);
		rc = d->d_name[0] == '.' || strlen(d->d_name) < 5 ? 0 : read_index(r, path);
	}
	if (dir) {
		closedir(dir);
	}
	if (rc == OTHER_INDEX) { /* the packets say the same */
		r->first = UINT64_MAX;
		r->last = 0;
		return 0;
	}
	return rc;
}

/* A stamp in the head of a packet, which has 64 bits. Returns 0 or -1. */
static int packet_stamp(
	struct restamp *r, const struct xch_ctf_stream *s, const char *name, const struct xch_ctf_value **v)
{
	char what[200];

	*v = xch_ctf_value_of(s, name, XCH_CTF_PACKET);
	if (*v && (*v)->type->kind == XCH_CTF_INTEGER && (*v)->type->bits == 64) {
		return 0;
	}
	if (*v) {
		snprintf(what, sizeof(what), "%s of a packet has %u bits, not 64, and there is no index", name,
			(*v)->type->bits);
	} else {
		snprintf(what, sizeof(what), "its packets have no %s, and there is no index", name);
	}
	return broken(r, s->name, s->offset, what);
}

static int take_packet(struct restamp *r, const struct xch_ctf_stream *s)
{
	const struct xch_ctf_value *begin, *end;
	uint64_t last;
	int open;

	if (packet_stamp(r, s, "timestamp_begin", &begin) < 0 || packet_stamp(r, s, "timestamp_end", &end) < 0) {
		return -1;
	}
	open = end->u.bits == 0 && begin->u.bits != 0;
	last = open ? begin->u.bits : end->u.bits;
	if (last < begin->u.bits) {
		return broken(r, s->name, s->offset, "a packet of no possible time");
	}
	if (r->clocks == 1 || (begin->type->clock && !strcmp(begin->type->clock, r->name))) {
		r->first = begin->u.bits < r->first ? begin->u.bits : r->first;
		r->last = last > r->last ? last : r->last;
		r->open |= open;
	}
	return 1;
}

/* Does the same by reading the heads of all packets, for stamps of this clock only. */
static int read_streams(struct restamp *r)
{
	struct xch_ctf_trace t = { .folder = r->x->path, .err = r->err };
	char path[PATH];
	struct dirent *e;
	struct stat st;
	int rc = xch_ctf_trace_read(&t, r->text, r->n);
	DIR *dir = opendir(r->x->path);

	while (dir && rc == 0 && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "%.3000s/%.1000s", r->x->path, e->d_name);
		if (e->d_name[0] != '.' && strcmp(e->d_name, "metadata") != 0 && stat(path, &st) == 0 &&
			S_ISREG(st.st_mode)) {
			struct xch_ctf_stream s = { .t = &t, .name = e->d_name, .size = (uint64_t)st.st_size };

			while ((rc = xch_ctf_next_packet(&s)) > 0 && (rc = take_packet(r, &s)) > 0) {
			}
			xch_ctf_stream_free(&s);
		}
	}
	if (dir) {
		closedir(dir);
	}
	xch_ctf_trace_free(&t);
	return rc;
}

/* Some writers have no stamp for the begin of a packet, and write 0. Events of the run are not before the run. */
static void skip_zero(struct restamp *r)
{
	const int64_t early = -(int64_t)r->hz; /* a second before the run */
	uint64_t low = 0, high = r->last, middle;
	int64_t t;
	double bound;

	if (r->first != 0 || (r->x->at(r->x->user, 0, &t, &bound) == 0 && t >= early)) {
		return;
	}
	if (r->x->at(r->x->user, high, &t, &bound) < 0 || t < early) {
		return;
	}
	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (r->x->at(r->x->user, middle, &t, &bound) == 0 && t >= early) {
			high = middle;
		} else {
			low = middle;
		}
	}
	r->first = high;
}

/* Events of a packet that was still open are after its begin, at a time that is unknown: the line is laid through twice the
 * range, of a single packet a second more. */
static void extend_open(struct restamp *r)
{
	uint64_t more = r->last > r->first ? r->last - r->first : r->hz;
	int64_t t;
	double bound;

	while (r->open && more && r->x->at(r->x->user, r->last + more, &t, &bound) < 0) {
		more /= 2;
	}
	r->last += r->open ? more : 0;
}

/* The index lists all packets, but does not say which clock their stamps belong to. */
static int find_range(struct restamp *r)
{
	int rc;

	r->first = UINT64_MAX;
	r->last = 0;
	rc = r->clocks == 1 ? read_indexes(r) : 0;
	if (rc == 0 && r->first > r->last) {
		rc = read_streams(r);
	}
	if (rc == 0 && r->first > r->last) {
		rc = tkm_fail(r->err, TKM_ERR_UNAVAIL, "%s: no packet has stamps of the clock %s", r->x->path, r->name);
	}
	if (rc == 0) {
		skip_zero(r);
		extend_open(r);
	}
	return rc;
}

/* ---- the straight line ---- */

static int line(struct restamp *r)
{
	const uint64_t length = r->last - r->first;
	int64_t t[POINTS + 1], from = 0, to = 0;
	double bound[POINTS + 1], worst = 0;
	long double cycles, low = HUGE_VALL, high = -HUGE_VALL, d, zero;
	int i, n = length < POINTS ? 1 : POINTS;

	for (i = 0; i <= n; i++) {
		if (r->x->at(r->x->user, r->first + (uint64_t)((long double)length * i / n), &t[i], &bound[i]) < 0) {
			return tkm_fail(r->err, TKM_ERR_FORMAT, "%s: a stamp cannot be corrected", r->x->path);
		}
	}
	from = t[0];
	to = t[n];
	cycles = to > from ? (long double)length / (long double)(to - from) * (long double)r->hz : (long double)r->hz;
	r->new_hz = (uint64_t)roundl(cycles);
	/* seconds since the start of the run by which the line is too low; the line is shifted so that the error
	 * is centred on 0 */
	for (i = 0; i <= n; i++) {
		d = (long double)t[i] / (long double)r->hz -
			(long double)(uint64_t)((long double)length * i / n) / (long double)r->new_hz;
		low = d < low ? d : low;
		high = d > high ? d : high;
		worst = isfinite(bound[i]) && !(bound[i] < worst) ? bound[i] : isfinite(bound[i]) ? worst : INFINITY;
	}
	zero = (low + high) / 2 - (long double)(r->first % r->new_hz) / (long double)r->new_hz +
		(long double)(r->x->realtime0_ns % 1000000000) / 1e9L;
	r->offset_s = (int64_t)floorl(zero) + r->x->realtime0_ns / 1000000000 - (int64_t)(r->first / r->new_hz);
	r->offset = (uint64_t)((zero - floorl(zero)) * (long double)r->new_hz);
	r->x->worst_s = worst + (double)((high - low) / 2) + 1 / (double)r->new_hz;
	r->x->line_s = (double)((high - low) / 2);
	r->precision = isfinite(r->x->worst_s) ? (uint64_t)ceil(r->x->worst_s * (double)r->new_hz) : 0;
	return 0;
}

/* ---- the files ---- */

static int copy(struct restamp *r, const char *name)
{
	static char buf[1 << 16];
	char path[PATH], target[PATH];
	FILE *from, *to;
	size_t n = 0;
	int bad;

	snprintf(path, sizeof(path), "%.3000s/%.1000s", r->x->path, name);
	snprintf(target, sizeof(target), "%.2000s/%.1000s", r->w.base, name);
	from = fopen(path, "re");
	to = from ? xch_create(&r->w, target, r->err) : NULL;
	if (!from) {
		return tkm_fail_errno(r->err, TKM_ERR_IO, errno, "cannot read %s", path);
	}
	while (to && (n = fread(buf, 1, sizeof(buf), from)) > 0 && fwrite(buf, 1, n, to) == n) {
		;
	}
	bad = ferror(from);
	fclose(from);
	if (to && xch_close(&r->w, to, target, r->err) < 0) {
		return -1;
	}
	return !to ? -1 : bad ? tkm_fail_errno(r->err, TKM_ERR_IO, errno, "cannot read %s", path) : 0;
}

/* Copies the files of a directory ("": the trace's own), and those of its directory index/. */
static int copy_all(struct restamp *r, const char *sub)
{
	char path[PATH], name[PATH];
	struct dirent *d;
	struct stat st;
	int rc;
	DIR *dir;

	snprintf(path, sizeof(path), "%.2000s/%.1000s/%.200s", r->w.dir, r->w.base, sub);
	rc = mkdir(path, 0777) < 0 ? tkm_fail_errno(r->err, TKM_ERR_IO, errno, "cannot make %s", path) : 0;
	snprintf(path, sizeof(path), "%.4000s/%.200s", r->x->path, sub);
	dir = opendir(path);
	if (!dir && rc == 0) {
		rc = tkm_fail_errno(r->err, TKM_ERR_IO, errno, "cannot read %s", path);
	}
	while (rc == 0 && (d = readdir(dir))) {
		snprintf(name, sizeof(name), "%s%s%.300s", sub, *sub ? "/" : "", d->d_name);
		snprintf(path, sizeof(path), "%.3000s/%.1000s", r->x->path, name);
		if (d->d_name[0] == '.' || (!*sub && !strcmp(name, "metadata"))) {
			continue;
		}
		if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
			rc = !*sub && !strcmp(name, "index") ? copy_all(r, name) : 0;
		} else {
			rc = copy(r, name);
		}
	}
	if (dir) {
		closedir(dir);
	}
	return rc;
}

int xch_ctf_restamp(struct xch_restamp *x, struct tkm_err *err)
{
	struct xch_options o = { .force = x->force };
	struct restamp r = { .x = x, .err = err };
	int rc;

	r.w = (struct xch_writer){ .format = x->format, .o = &o, .target = x->to };
	r.text = xch_ctf_load(x->path, "metadata", &r.n, err);
	if (r.text && (r.text[0] == 0x1e || r.text[0] == '{')) {
		free(r.text);
		return tkm_fail(err, TKM_ERR_UNAVAIL, "%s/metadata: this is CTF 2; only CTF 1.8 is corrected", x->path);
	}
	rc = r.text && xch_ctf_unpack(x->path, r.text, &r.n, err) == 0 && find_clock(&r) == 0 && find_hz(&r) == 0 ? 0
														  : -1;
	rc = rc == 0 ? x->begin(x->user, XCH_NONE, (double)r.hz, err) : rc;
	rc = rc == 0 ? find_range(&r) : rc;
	rc = rc == 0 ? line(&r) : rc;
	rc = rc == 0 ? xch_output_begin(&r.w, err) : rc;
	if (rc == 0) {
		rc = copy_all(&r, "") < 0 || write_metadata(&r) < 0 ? -1 : xch_output_commit(&r.w, err);
		xch_output_end(&r.w);
	}
	free(r.text);
	return rc;
}
