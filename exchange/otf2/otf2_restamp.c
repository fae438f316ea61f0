/* SPDX-License-Identifier: BSD-3-Clause */
/* Corrects the stamps of an OTF2 archive. The OTF2 library reads the definitions. The files are copied record by
 * record, and only the 8 bytes of each stamp change, so events of every kind are preserved. otf2_check.c describes
 * the bytes. */
#include "config.h"
#include "exchange/otf2/otf2_in.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/grow.h"

enum { OFFSET_BYTES = 2 + 8 + 1 + 8, PATH = 4400 };

/* From this stamp on, the bound is at most this. */
struct stretch {
	uint64_t from;
	double bound_s;
};

struct restamp {
	struct xch_otf2_in o;
	struct xch_restamp *x;
	struct xch_writer w;
	unsigned char *b;  /* the current chunk */
	char from[PATH];   /* the file that is read */
	uint64_t at;       /* offset of the chunk in that file */
	struct stretch *s; /* stretches of the location */
	size_t n, cap;
	uint64_t first, last, before;
	int64_t zero; /* the master's clock at the start of the run */
};

static int broken(struct restamp *r, size_t offset, const char *what)
{
	return tkm_fail(r->o.err, TKM_ERR_FORMAT, "%s: offset %" PRIu64 ": %s", r->from, r->at + offset, what);
}

static FILE *open_input(struct restamp *r, const char *suffix)
{
	const char *anchor = r->o.in->path;
	FILE *f;

	snprintf(r->from, sizeof(r->from), "%.*s%s", (int)(strlen(anchor) - strlen(r->x->format->suffix)), anchor,
		suffix);
	f = fopen(r->from, "re");
	r->at = 0;
	return f;
}

static FILE *create(struct restamp *r, const char *suffix)
{
	char name[PATH];

	snprintf(name, sizeof(name), "%s/traces%s", r->w.base, suffix);
	return xch_create(&r->w, name, r->o.err);
}

/* Reads the next chunk of a file into r->b. Returns its size, 0 at the end, or -1: *err. */
static ssize_t next_chunk(struct restamp *r, FILE *f, uint64_t size)
{
	size_t n = fread(r->b, 1, size, f);

	if (ferror(f)) {
		tkm_fail_errno(r->o.err, TKM_ERR_IO, errno, "cannot read %s", r->from);
		return -1;
	}
	if (n && (n < OTF2_CHUNK_HEADER || r->b[0] != OTF2_BEGINS_CHUNK || r->b[1] != (r->o.big ? '#' : 'B'))) {
		return broken(r, 0, "no chunk begins here");
	}
	return (ssize_t)n;
}

/* The size of the record at p of a chunk of n bytes; 0: the records end here; -1: *err. */
static ssize_t record_size(struct restamp *r, size_t p, size_t n, enum xch_otf2_file file)
{
	const char *what = "the file ends within a chunk";
	ssize_t size = p < n ? xch_otf2_record_size(r->b, p, n, r->o.big, file, &what) : -1;

	return size < 0 ? broken(r, p, what) : size;
}

/* ---- events ---- */

/* Bounds are rounded up to eighths of powers of two, so that they change rarely. */
static int see_bound(struct restamp *r, uint64_t time, double bound_s)
{
	int e;
	double m = frexp(bound_s, &e);

	bound_s = isfinite(bound_s) && bound_s > 0 ? ldexp(ceil(m * 16) / 16, e) : bound_s;
	if (r->n && r->s[r->n - 1].bound_s == bound_s) {
		return 0;
	}
	if (TKM_GROW(r->s, r->cap, r->n + 1) < 0) {
		return xch_fail_memory(r->o.err, r->from);
	}
	r->s[r->n++] = (struct stretch){ time, bound_s };
	return 0;
}

static int stamps(struct restamp *r, size_t n)
{
	size_t p = OTF2_CHUNK_HEADER;
	int64_t corrected;
	uint64_t time;
	ssize_t size;
	double bound;

	while ((size = record_size(r, p, n, OTF2_EVENT_FILE)) > 0) {
		if (r->b[p] == OTF2_STAMP) {
			time = tkm_get64(r->b + p + 1, r->o.big);
			if (r->x->at(r->x->user, time, &corrected, &bound) < 0 || corrected < -r->zero) {
				return broken(r, p, "a stamp that was not taken in this run: there is no time for it");
			}
			time = (uint64_t)(corrected + r->zero);
			r->x->reversed += time < r->before;
			time = time < r->before ? r->before : time;
			r->before = time;
			r->first = time < r->first ? time : r->first;
			r->last = time > r->last ? time : r->last;
			r->x->stamps++;
			r->x->worst_s = bound > r->x->worst_s ? bound : r->x->worst_s;
			if (see_bound(r, time, bound) < 0) {
				return -1;
			}
			tkm_put64(r->b + p + 1, time, r->o.big);
		}
		p += (size_t)size;
	}
	return (int)size;
}

static int events(struct restamp *r, const char *suffix)
{
	FILE *f = open_input(r, suffix), *to;
	ssize_t n = 0;
	int rc = -1;

	if (!f) {
		return errno == ENOENT ? 0 : tkm_fail_errno(r->o.err, TKM_ERR_IO, errno, "cannot read %s", r->from);
	}
	r->before = 0;
	to = create(r, suffix);
	while (to && (n = next_chunk(r, f, r->o.chunk[0])) > 0 && stamps(r, (size_t)n) == 0) {
		if (fwrite(r->b, 1, (size_t)n, to) != (size_t)n) {
			tkm_fail_errno(r->o.err, TKM_ERR_IO, errno, "cannot write %s", suffix);
			break;
		}
		r->at += (uint64_t)n;
		rc = 0;
	}
	rc = to && n == 0 ? rc : -1;
	if (to && n == 0 && rc < 0) {
		broken(r, 0, "the file is empty");
	}
	fclose(f);
	if (to && xch_close(&r->w, to, suffix, rc == 0 ? r->o.err : NULL) < 0) {
		rc = -1;
	}
	return rc;
}

/* ---- definitions of a location ---- */

/* Halves the number of stretches. */
static void coarsen(struct restamp *r)
{
	size_t i;

	for (i = 0; i < r->n; i += 2) {
		r->s[i / 2] = r->s[i];
		if (i + 1 < r->n && !(r->s[i].bound_s > r->s[i + 1].bound_s)) {
			r->s[i / 2].bound_s = r->s[i + 1].bound_s;
		}
	}
	r->n = (r->n + 1) / 2;
}

/* Copies the records of a location's definitions, except for clock offsets, to r->b after the header. Returns
 * their end or -1. */
static ssize_t kept_definitions(struct restamp *r, const char *suffix)
{
	FILE *f = open_input(r, suffix);
	size_t p, to = OTF2_CHUNK_HEADER;
	ssize_t n = 0, size;

	memset(r->b, 0, OTF2_CHUNK_HEADER);
	r->b[0] = OTF2_BEGINS_CHUNK;
	r->b[1] = r->o.big ? '#' : 'B';
	tkm_put64(r->b + 2, 1, r->o.big);
	n = f ? next_chunk(r, f, r->o.chunk[1]) : 0;
	if (f && n == (ssize_t)r->o.chunk[1] && getc(f) != EOF) {
		n = broken(r, (size_t)n, "definitions of a location in several chunks");
	}
	if (f) {
		fclose(f);
	}
	for (p = OTF2_CHUNK_HEADER; n > 0 && (size = record_size(r, p, (size_t)n, OTF2_LOCATION_DEFINITIONS)) != 0;
		p += (size_t)size) {
		if (size < 0) {
			return -1;
		}
		if (r->b[p] != OTF2_CLOCK_OFFSET) {
			memmove(r->b + to, r->b + p, (size_t)size);
			to += (size_t)size;
		}
	}
	return n < 0 ? -1 : (ssize_t)to;
}

static int definitions(struct restamp *r, const char *suffix)
{
	ssize_t n = kept_definitions(r, suffix);
	FILE *f = n < 0 ? NULL : create(r, suffix);
	unsigned char *p;
	uint64_t bits;
	double ticks;
	size_t i;

	if (!f) {
		return -1;
	}
	while ((size_t)n + r->n * OFFSET_BYTES + 2 > r->o.chunk[1]) {
		coarsen(r);
	}
	for (i = 0, p = r->b + n; i < r->n; i++, p += OFFSET_BYTES) {
		ticks = r->s[i].bound_s * (double)r->o.hz;
		memcpy(&bits, &ticks, sizeof(bits));
		p[0] = OTF2_CLOCK_OFFSET;
		p[1] = OFFSET_BYTES - 2;
		tkm_put64(p + 2, r->s[i].from, r->o.big);
		p[10] = 0; /* in the file format, an offset of 0 has no bytes */
		tkm_put64(p + 11, bits, r->o.big);
	}
	*p++ = OTF2_ENDS_FILE;
	*p++ = OTF2_ENDS_BUFFER;
	fwrite(r->b, 1, (size_t)(p - r->b), f);
	return xch_close(&r->w, f, suffix, r->o.err);
}

/* ---- global definitions ---- */

/* Writes a number as a byte with the number of bytes, then these bytes. */
static unsigned char *put_number(const struct restamp *r, unsigned char *p, uint64_t v)
{
	unsigned n = 0;

	while (n < 8 && v >> 8 * n) {
		n++;
	}
	*p++ = (unsigned char)n;
	tkm_put_number(p, v, n, r->o.big);
	return p + n;
}

/* Replaces the clock properties at p by those of the corrected stamps, and moves what follows. */
static int clock_properties(struct restamp *r, size_t p, size_t n, size_t *size)
{
	unsigned char record[2 + 4 * 9], *q = record + 2;
	size_t end = p, old = (size_t)record_size(r, p, n, OTF2_ARCHIVE_DEFINITIONS), now, k = 2;
	ssize_t s;
	int i;

	q = put_number(r, q, r->o.hz);
	q = put_number(r, q, r->first);
	q = put_number(r, q, r->last - r->first + 1);
	for (i = 0; i < 3 && k < old; i++) {
		k += 1u + r->b[p + k];
	}
	if (k < old) { /* the time of day of the first stamp, present since version 3 */
		q = put_number(r, q,
			(uint64_t)r->x->realtime0_ns +
				(uint64_t)((long double)((int64_t)r->first - r->zero) * 1e9L / (long double)r->o.hz));
	}
	now = (size_t)(q - record);
	record[0] = OTF2_CLOCK_PROPERTIES;
	record[1] = (unsigned char)(now - 2);
	while ((s = record_size(r, end, n, OTF2_ARCHIVE_DEFINITIONS)) > 0) {
		end += (size_t)s;
	}
	end += n - end < 2 ? n - end : 2; /* the marks at the end */
	if (s < 0 || end - old + now > r->o.chunk[1]) {
		return s < 0 ? -1 : broken(r, p, "there is no room for longer clock properties");
	}
	memmove(r->b + p + now, r->b + p + old, end - p - old);
	memcpy(r->b + p, record, now);
	*size = n == r->o.chunk[1] ? n : n + now - old;
	return 0;
}

static int global_definitions(struct restamp *r)
{
	FILE *f = open_input(r, ".def"), *to = f ? create(r, ".def") : NULL;
	size_t p, size;
	ssize_t n = -1, k;
	int found = 0, rc = to ? 0 : -1;

	if (!f) {
		return tkm_fail_errno(r->o.err, TKM_ERR_IO, errno, "cannot read %s", r->from);
	}
	while (rc == 0 && (n = next_chunk(r, f, r->o.chunk[1])) > 0) {
		size = (size_t)n;
		for (p = OTF2_CHUNK_HEADER; !found && (k = record_size(r, p, (size_t)n, OTF2_ARCHIVE_DEFINITIONS)) != 0;
			p += (size_t)k) {
			if (k < 0) {
				rc = -1;
				break;
			}
			if (r->b[p] == OTF2_CLOCK_PROPERTIES) {
				found = 1;
				rc = clock_properties(r, p, (size_t)n, &size);
				break;
			}
		}
		if (rc == 0) {
			fwrite(r->b, 1, size, to);
		}
		r->at += (uint64_t)n;
	}
	rc = n < 0 ? -1 : rc;
	fclose(f);
	if (to && xch_close(&r->w, to, ".def", rc == 0 ? r->o.err : NULL) < 0) {
		rc = -1;
	}
	return rc;
}

/* ---- the archive ---- */

/* Finds the ranks of the processes: their index in the list of the locations that use MPI, or else among all. An
 * accelerator has the rank of the process that uses it: its stamps are of that process's clock. */
static void number_processes(struct restamp *r)
{
	const struct in_group *g = r->o.groups.v;
	struct in_process *p = r->o.processes.v, *q;
	const struct in_location *l;
	uint32_t i, k, n = 0;

	xch_otf2_in_owners(&r->o);
	for (i = 0; i < r->o.processes.n; i++) {
		p[i].number = XCH_NONE;
	}
	for (i = 0; i < r->o.groups.n; i++) {
		if (g[i].type != OTF2_GROUP_TYPE_COMM_LOCATIONS || g[i].paradigm != OTF2_PARADIGM_MPI) {
			continue;
		}
		for (k = 0; k < g[i].n; k++) {
			l = xch_otf2_in_location(&r->o, g[i].member[k]);
			q = l ? xch_otf2_in_process(&r->o, l->group_ref) : NULL;
			q = q ? q->owner : NULL;
			if (q && q->number == XCH_NONE) {
				q->number = n++;
			}
		}
	}
	for (i = 0; i < r->o.processes.n; i++) {
		p[i].number = p[i].number == XCH_NONE && !p[i].accelerator ? n++ : p[i].number;
	}
	for (i = 0; i < r->o.processes.n; i++) {
		p[i].number = p[i].owner ? p[i].owner->number : XCH_NONE;
	}
}

static int locations(struct restamp *r)
{
	const struct in_location *l = r->o.locations.v;
	const struct in_process *p;
	char name[PATH];
	uint32_t i;
	FILE *f;

	for (i = 0; i < r->o.locations.n; i++) {
		r->n = 0;
		p = xch_otf2_in_process(&r->o, l[i].group_ref);
		if (r->x->begin(r->x->user, p ? p->number : XCH_NONE, (double)r->o.hz, r->o.err) < 0) {
			return p && !p->owner
				? tkm_fail(r->o.err, TKM_ERR_FORMAT,
					  "%s: the archive does not say which process uses the accelerator \"%s\", so "
					  "its rank is unknown (--rank gives one for the whole archive)",
					  r->x->path, xch_otf2_in_text(&r->o, p->name))
				: -1;
		}
		r->zero = (int64_t)llroundl(r->x->zero_s * (long double)r->o.hz);
		snprintf(name, sizeof(name), "/%" PRIu64 ".snap", l[i].ref);
		f = open_input(r, name);
		if (f) {
			fclose(f);
			return tkm_fail(r->o.err, TKM_ERR_UNAVAIL, "%s: snapshots are not corrected", r->from);
		}
		snprintf(name, sizeof(name), "/%" PRIu64 ".evt", l[i].ref);
		if (events(r, name) < 0) {
			return -1;
		}
		snprintf(name, sizeof(name), "/%" PRIu64 ".def", l[i].ref);
		if (definitions(r, name) < 0) {
			return -1;
		}
	}
	return 0;
}

static int copy_anchor(struct restamp *r)
{
	FILE *f = open_input(r, r->x->format->suffix), *to = f ? create(r, r->x->format->suffix) : NULL;
	size_t n;

	if (!f) {
		return tkm_fail_errno(r->o.err, TKM_ERR_IO, errno, "cannot read %s", r->from);
	}
	while (to && (n = fread(r->b, 1, r->o.chunk[1], f)) > 0) {
		fwrite(r->b, 1, n, to);
	}
	fclose(f);
	return to ? xch_close(&r->w, to, r->x->format->suffix, r->o.err) : -1;
}

static int all_files(struct restamp *r)
{
	char dir[PATH];

	snprintf(dir, sizeof(dir) - sizeof("/traces"), "%s/%s", r->w.dir, r->w.base);
	if (mkdir(dir, 0777) < 0 || mkdir(strcat(dir, "/traces"), 0777) < 0) {
		return tkm_fail_errno(r->o.err, TKM_ERR_IO, errno, "cannot make %s", dir);
	}
	number_processes(r);
	if (locations(r) < 0) {
		return -1;
	}
	if (r->first > r->last) {
		r->first = r->last = 0;
	}
	return global_definitions(r) < 0 || copy_anchor(r) < 0 ? -1 : xch_output_commit(&r->w, r->o.err);
}

int xch_otf2_restamp(struct xch_restamp *x, struct tkm_err *err)
{
	struct xch_input in = { .path = x->path };
	struct xch_options o = { .force = x->force };
	struct restamp r = { .o = { .in = &in, .err = err }, .x = x, .first = UINT64_MAX };
	int rc;

	r.w = (struct xch_writer){ .format = x->format, .o = &o, .target = x->to };
	r.b = malloc(OTF2_CHUNK_SIZE_MAX + 64);
	if (!r.b) {
		return xch_fail_memory(err, x->path);
	}
	rc = xch_otf2_in_open(&r.o);
	if (rc == 0) {
		rc = xch_otf2_in_definitions(&r.o);
		xch_otf2_in_close(&r.o);
	}
	rc = rc == 0 ? xch_output_begin(&r.w, err) : rc;
	if (rc == 0) {
		rc = all_files(&r);
		xch_output_end(&r.w);
	}
	xch_otf2_in_free(&r.o);
	free(r.b);
	free(r.s);
	return rc;
}
