/* SPDX-License-Identifier: BSD-3-Clause */
/* Corrects the stamps of the JSON that AMD's rocprofv3 writes: whole ns since boot, in the records and in the metadata of a process. As in
 * other JSON, only their digits change. The file is read twice. */
#include "config.h"
#include "exchange/common/private.h"

#ifdef HAVE_ZLIB
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/newfile.h"
#include "exchange/text/json_scan.h"

/* Where a value is: which names are times depends on it. */
enum place { IN_FILE, IN_TOOL, IN_METADATA, IN_NODE, IN_RECORDS };

enum { DEEPEST = 40, DIGITS = 24 };

struct rocprof {
	struct xch_restamp *x;
	struct tkm_err *err;
	struct json_scan s;
	FILE *out; /* NULL: the pass that only looks */
	int begun;
	int64_t origin_ns;
	char host[256];
};

static int begin_rocprof(struct rocprof *r)
{
	r->x->timer = "clock_boottime";
	r->x->host = r->host[0] ? r->host : NULL;
	r->x->unordered = 1;
	if (r->x->begin(r->x->user, XCH_NONE, 1e9, r->err) < 0) {
		return -1;
	}
	r->origin_ns = !strcmp(r->x->used_timer, "clock_realtime") ? r->x->realtime0_ns
								   : (int64_t)llroundl(r->x->zero_s * 1e9L);
	r->begun = 1;
	return 0;
}

/* ---- values ---- */

/* Corrects the number that comes next. 0 is no time. */
static int correct_number(struct rocprof *r)
{
	uint64_t from, to;
	int64_t now;
	double bound;
	char text[DIGITS];
	size_t n;

	xch_scan_hold(&r->s, 1);
	if (xch_scan_word(&r->s, &from, &to) < 0) {
		return -1;
	}
	n = (size_t)(to - from);
	n = n < sizeof(text) - 4 ? n : 0; /* 19 digits are below 2^63 */
	memcpy(text, xch_scan_text(&r->s, from), n);
	text[n] = 0;
	if (n == 0 || strspn(text, "0123456789") != n) {
		return xch_scan_fail(&r->s, from, "a time that is no whole number of ns");
	}
	if (strspn(text, "0") == n) {
		r->x->zeros++;
	} else {
		if (!r->begun && begin_rocprof(r) < 0) {
			return -1;
		}
		if (r->x->at(r->x->user, strtoull(text, NULL, 10), &now, &bound) < 0 ||
			__builtin_add_overflow(now, r->origin_ns, &now) || now < 0) {
			return xch_scan_fail(&r->s, from,
				"a stamp before the start of its clock, or too far away (another --timer?)");
		}
		r->x->stamps++;
		r->x->worst_s = fmax(r->x->worst_s, bound);
		snprintf(text, sizeof(text), "%" PRId64, now);
		if (r->out && !r->x->unbounded && xch_scan_replace(&r->s, from, to, text) < 0) {
			return -1;
		}
	}
	xch_scan_hold(&r->s, 0);
	return xch_scan_write(&r->s);
}

static int take_host(struct rocprof *r)
{
	uint64_t from, to;
	char host[sizeof(r->host)] = "";

	xch_scan_hold(&r->s, 1);
	if (xch_scan_string(&r->s, &from, &to) < 0) {
		return -1;
	}
	if (to - from < sizeof(host)) {
		memcpy(host, xch_scan_text(&r->s, from), (size_t)(to - from));
	}
	if (r->host[0] && strcmp(host, r->host) != 0) {
		return xch_scan_fail(
			&r->s, from, "processes of two hosts, each with a clock of its own: record one file for each");
	}
	memcpy(r->host, host, sizeof(host));
	xch_scan_hold(&r->s, 0);
	return 0;
}

static int is_time(enum place in, const char *name)
{
	return in == IN_METADATA ? !strcmp(name, "init_time") || !strcmp(name, "fini_time")
		: in == IN_RECORDS
		? !strcmp(name, "start_timestamp") || !strcmp(name, "end_timestamp") || !strcmp(name, "timestamp")
		: 0;
}

/* Where the value of that key is; IN_FILE: there are no times in it. */
static enum place place_of(enum place in, const char *name)
{
	if (in == IN_FILE) {
		return !strcmp(name, "rocprofiler-sdk-tool") ? IN_TOOL : IN_FILE;
	}
	if (in == IN_TOOL) {
		return !strcmp(name, "metadata")                                               ? IN_METADATA
			: !strcmp(name, "buffer_records") || !strcmp(name, "callback_records") ? IN_RECORDS
											       : IN_FILE;
	}
	if (in == IN_METADATA) {
		return !strcmp(name, "node") ? IN_NODE : IN_FILE;
	}
	return in == IN_RECORDS ? IN_RECORDS : IN_FILE;
}

static int scan_place(struct rocprof *r, enum place in, int depth);

static int scan_key(struct rocprof *r, enum place in, const struct json_key *k, int depth)
{
	int first = xch_scan_peek(&r->s);
	enum place to = place_of(in, k->name);

	if (in == IN_FILE && !strcmp(k->name, "tickmark")) {
		return xch_scan_fail(&r->s, k->from, "the file is corrected already");
	}
	if (is_time(in, k->name) && first != '{' && first != '[') {
		return correct_number(r);
	}
	if (in == IN_NODE && !strcmp(k->name, "hostname") && first == '"') {
		return take_host(r);
	}
	return to == IN_FILE ? xch_scan_skip(&r->s) : scan_place(r, to, depth + 1);
}

static int scan_place(struct rocprof *r, enum place in, int depth)
{
	int c = xch_scan_peek(&r->s), first = 1, rc;
	struct json_key k;

	if (depth > DEEPEST) {
		return xch_scan_fail(&r->s, xch_scan_at(&r->s), "records in more than 40 brackets");
	}
	if (c == '[') {
		while ((rc = xch_scan_element(&r->s, &first, 0)) > 0) {
			if (scan_place(r, in, depth + 1) < 0) {
				return -1;
			}
		}
		return rc;
	}
	if (c != '{') {
		return xch_scan_skip(&r->s);
	}
	while ((rc = xch_scan_member(&r->s, &first, &k)) > 0) {
		if (scan_key(r, in, &k, depth) < 0) {
			return -1;
		}
	}
	return rc;
}

/* ---- the file ---- */

/* The beginning of the copy. */
static int describe_rocprof(struct rocprof *r)
{
	char text[240], bound[32] = "null";

	if (isfinite(r->x->worst_s)) {
		snprintf(bound, sizeof(bound), "%.0f", ceil(r->x->worst_s * 1e9));
	}
	snprintf(text, sizeof(text), "{\"tickmark\":{\"bound_ns\":%s,%s\"timer\":\"%.100s\",\"rank\":%lld},", bound,
		r->x->unbounded ? "\"unbounded\":true," : "", r->x->used_timer, r->x->rank);
	return xch_scan_replace(&r->s, xch_scan_at(&r->s), xch_scan_at(&r->s) + 1, text);
}

static int scan_rocprof(struct rocprof *r, FILE *out)
{
	r->out = out;
	r->x->stamps = r->x->zeros = 0;
	if (xch_scan_begin(&r->s, r->x->path, out, NULL, r->err) < 0) {
		return -1;
	}
	if (xch_scan_peek(&r->s) != '{') {
		return xch_scan_fail(&r->s, 0, "it is no JSON object");
	}
	if ((out && describe_rocprof(r) < 0) || scan_place(r, IN_FILE, 0) < 0) {
		return -1;
	}
	return xch_scan_end(&r->s);
}

static int restamp_rocprof(struct xch_restamp *x, struct tkm_err *err)
{
	struct rocprof r = { .x = x, .err = err };
	struct tkm_newfile n;
	int rc = scan_rocprof(&r, NULL);

	if (rc == 0 && x->stamps == 0) {
		rc = tkm_fail(err, TKM_ERR_FORMAT, "%s has no record with a stamp", x->path);
	}
	rc = rc == 0 ? tkm_newfile_begin(&n, x->to, x->force, err) : -1;
	if (rc == 0 && scan_rocprof(&r, n.f) < 0) {
		tkm_newfile_abort(&n);
		rc = -1;
	}
	xch_scan_free(&r.s);
	return rc == 0 ? tkm_newfile_commit(&n, err) : -1;
}

/* Its only key at the top is known; the file may be compressed, so that `head` says nothing. */
static int is_rocprof(const char *path, const unsigned char *head, size_t n)
{
	char text[200];
	gzFile f = gzopen(path, "rbe");
	int k = f ? gzread(f, text, sizeof(text) - 1) : 0;

	(void)head;
	(void)n;
	if (f) {
		gzclose(f);
	}
	text[k > 0 ? k : 0] = 0;
	return strstr(text, "\"rocprofiler-sdk-tool\"") != NULL;
}

#else

static int restamp_rocprof(struct xch_restamp *x, struct tkm_err *err)
{
	return tkm_fail(err, TKM_ERR_UNAVAIL, "%s: this build cannot correct it: it needs zlib (configure --with-zlib)",
		x->path);
}

static int is_rocprof(const char *path, const unsigned char *head, size_t n)
{
	(void)path;
	(void)head;
	return n == SIZE_MAX;
}

#endif

const struct xch_format xch_rocprof = {
	.name = "ROCPROF",
	.suffix = ".json",
	.what = "JSON of AMD's rocprofv3",
	.unclocked = 1,
	.restamp = restamp_rocprof,
	.is = is_rocprof,
};
