/* SPDX-License-Identifier: BSD-3-Clause */
/* A trace being written: which record goes to which component, the index, and the moment when all
 * files get their names. */
#include "config.h"
#include "stf/deflayer.h"
#include "stf/stream.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define DATA_KINDS 8
#define FILE_DCL 1
#define FILE_STS 2

/* One row per category. Ids of files depend on suffix only, so that rewriting a trace in another order
 * gives the same bytes. The anchor file has the id after its data file's. */
static const struct {
	const char *suffix; /* followed by the number of the set, if per_set */
	int per_set;
	uint32_t first_id;
} category[DATA_KINDS] = {
	[STF_KIND_MSG] = { ".msg", 0, 3 },  [STF_KIND_COLL] = { ".cop", 0, 5 },
	[STF_KIND_FUNC] = { ".f", 1, 7 },   [STF_KIND_SCOPE] = { ".s", 1, 9 },
	[STF_KIND_FIO] = { ".i", 1, 11 },   [STF_KIND_COUNTER] = { ".c", 1, 13 },
	[STF_KIND_REPORT] = { ".r", 1, 15 }, [STF_KIND_OTHER] = { ".x", 1, 17 },
};
#define IDS_PER_SET 12

struct stf_writer {
	char *path, *comment;
	struct stf_writer_options opt;
	struct stf_err err;
	uint8_t used[256];
	struct stx_stream *dcl, *sts;
	struct stx_stream *infos, *procs; /* in memory: parts of the index */
	struct stx_stream **data[DATA_KINDS];
	uint32_t n_sets[DATA_KINDS];
	struct stx_map declared; /* STX_KEY of every id in .dcl */
	struct stx_map texts;    /* hash of a text: its string id */
	struct stx_map classes;  /* hash of a class for info records: its id */
	uint32_t top_string, top_class;
	struct stx_out base;
};

struct stf_err *stx_writer_err(struct stf_writer *w)
{
	return &w->err;
}

const struct stf_err *stf_writer_error(const struct stf_writer *w)
{
	return &w->err;
}

static int is_fatal(const struct stf_err *e)
{
	return e->code != STF_OK && e->code != STF_ERR_ARG && e->code != STF_ERR_STATE;
}

int stx_reject(struct stf_err *e, const char *record, const char *why, uint64_t n)
{
	/* the error that stopped the writer must stay readable */
	if (is_fatal(e)) {
		return -1;
	}
	return stx_fail(e, STF_ERR_ARG, NULL, 0, 0, "%s: %s (%llu)", record, why, (unsigned long long)n);
}

static int check_options(const char *path, const struct stf_writer_options *o, struct stf_err *err)
{
	const char *c;

	if (!path || !*path) {
		return stx_fail(err, STF_ERR_ARG, NULL, 0, 0, "a trace needs a file name");
	}
	if (!(o->resolution > 0) || !isfinite(o->resolution)) {
		return stx_fail(err, STF_ERR_ARG, NULL, 0, 0, "resolution is %g s, must be above 0", o->resolution);
	}
	if (o->eventbits > 63) {
		return stx_fail(err, STF_ERR_ARG, NULL, 0, 0, "%u event bits, at most 63", o->eventbits);
	}
	for (c = o->comment; c && *c; c++) {
		if ((unsigned char)*c < ' ') {
			return stx_fail(err, STF_ERR_ARG, NULL, 0, 0, "the comment must be one line of text");
		}
	}
	if (o->comment && strlen(o->comment) > 900) {
		return stx_fail(err, STF_ERR_ARG, NULL, 0, 0, "the comment is longer than 900 bytes");
	}
	return 0;
}

/* Neither removes nor names anything that was not created by w. */
static void free_writer(struct stf_writer *w)
{
	unsigned k;
	uint32_t i;

	stx_stream_free(w->dcl);
	stx_stream_free(w->sts);
	stx_stream_free(w->infos);
	stx_stream_free(w->procs);
	for (k = 0; k < DATA_KINDS; k++) {
		for (i = 0; i < w->n_sets[k]; i++) {
			stx_stream_free(w->data[k][i]);
		}
		free(w->data[k]);
	}
	stx_map_free(&w->declared);
	stx_map_free(&w->texts);
	stx_map_free(&w->classes);
	stx_out_discard(&w->base);
	stx_out_free(&w->base);
	free(w->path);
	free(w->comment);
	free(w);
}

void stf_writer_abort(struct stf_writer *w)
{
	if (w) {
		free_writer(w);
	}
}

struct stf_writer *stf_writer_create(const char *path, const struct stf_writer_options *opt, struct stf_err *err)
{
	struct stf_writer *w;

	err->code = STF_OK;
	if (check_options(path, opt, err) < 0) {
		return NULL;
	}
	w = calloc(1, sizeof(*w));
	if (!w) {
		stx_no_memory(err);
		return NULL;
	}
	w->base.fd = -1;
	w->opt = *opt;
	w->path = strdup(path);
	w->comment = strdup(opt->comment ? opt->comment : "");
	if (!w->path || !w->comment) {
		stx_no_memory(&w->err);
		goto fail;
	}
	w->opt.comment = w->comment;
	w->infos = stx_stream_new(NULL, "", 0, opt->big_endian, &w->err, w->used);
	w->procs = stx_stream_new(NULL, "", 0, opt->big_endian, &w->err, w->used);
	if (!w->infos || !w->procs || stx_out_open(&w->base, path, opt->force, &w->err) < 0) {
		goto fail;
	}
	w->dcl = stx_stream_new(path, ".dcl", opt->force, opt->big_endian, &w->err, w->used);
	if (!w->dcl) {
		goto fail;
	}
	w->dcl->file = FILE_DCL;
	return w;
fail:
	*err = w->err;
	free_writer(w);
	return NULL;
}

/* ---- where a record goes ---- */

static struct stx_stream *open_data(struct stf_writer *w, unsigned kind, uint32_t set)
{
	struct stx_stream **p, *s;
	char suffix[20];
	uint32_t n = set + 1;

	if (n > w->n_sets[kind]) {
		p = realloc(w->data[kind], n * sizeof(*p));
		if (!p) {
			stx_no_memory(&w->err);
			return NULL;
		}
		memset(p + w->n_sets[kind], 0, (n - w->n_sets[kind]) * sizeof(*p));
		w->data[kind] = p;
		w->n_sets[kind] = n;
	}
	if (category[kind].per_set) {
		snprintf(suffix, sizeof(suffix), "%s.%u", category[kind].suffix, set);
	} else {
		snprintf(suffix, sizeof(suffix), "%s", category[kind].suffix);
	}
	s = stx_stream_new(w->path, suffix, w->opt.force, w->opt.big_endian, &w->err, w->used);
	if (!s) {
		return NULL;
	}
	s->file = category[kind].first_id + set * IDS_PER_SET;
	if (stx_stream_add_anchors(s, w->path, w->opt.force) < 0) {
		stx_stream_free(s);
		return NULL;
	}
	w->data[kind][set] = s;
	return s;
}

static struct stx_stream *refuse(struct stf_writer *w, unsigned id, const char *why)
{
	if (!is_fatal(&w->err)) {
		stx_fail(&w->err, STF_ERR_STATE, NULL, 0, 0, "%s: %s", stf_layout(id)->name, why);
	}
	return NULL;
}

static struct stx_stream *route_declaration(struct stf_writer *w, unsigned id, uint32_t willy, uint64_t key)
{
	const struct stf_layout *l = stf_layout(id);
	int of_willy = id == STF_ID_willy_definition || id == STF_ID_willy_name, rc;

	key = of_willy ? willy : key;
	if (of_willy || strcmp(l->fields[0].name, "id") == 0) {
		rc = stx_map_add(&w->declared, STX_KEY(l->class_id, key), 1);
		if (rc < 0) {
			stx_no_memory(&w->err);
			return NULL;
		}
		if (rc == 0) {
			stx_reject(&w->err, l->name, "was declared before", key);
			return NULL;
		}
	}
	if (id == STF_ID_stf_string && key > w->top_string) {
		w->top_string = (uint32_t)key;
	}
	if (id == STF_ID_class_definition && key > w->top_class) {
		w->top_class = (uint32_t)key;
	}
	return w->dcl;
}

static struct stx_stream *route_statistics(struct stf_writer *w)
{
	if (!w->sts) {
		w->sts = stx_stream_new(w->path, ".sts", w->opt.force, w->opt.big_endian, &w->err, w->used);
		if (w->sts) {
			w->sts->file = FILE_STS;
		}
	}
	return w->sts;
}

struct stx_stream *stx_route(struct stf_writer *w, unsigned id, unsigned kind, uint32_t willy, uint64_t key)
{
	uint32_t set = 0;

	if (is_fatal(&w->err)) {
		return NULL;
	}
	if (kind < DATA_KINDS) {
		if (w->opt.procs_per_file && category[kind].per_set && !stf_willy_is_group(willy)) {
			set = stf_willy_process(willy) / w->opt.procs_per_file;
		}
		if (set < w->n_sets[kind] && w->data[kind][set]) {
			return w->data[kind][set];
		}
		return open_data(w, kind, set);
	}
	switch (kind) {
	case STF_KIND_DECL:
		return route_declaration(w, id, willy, key);
	case STF_KIND_STATS:
		return route_statistics(w);
	case STF_KIND_TYPE:
		return refuse(w, id, "is a type, never a record");
	default:
		break;
	}
	if (id == STF_ID_info) {
		return w->infos;
	}
	if (id == STF_ID_process_declaration) {
		return w->procs->cur > w->procs->buf ? refuse(w, id, "was declared before") : w->procs;
	}
	return refuse(w, id, "the writer makes this record itself");
}

/* ---- conveniences ---- */

static uint64_t hash(const char *text, uint64_t seed)
{
	uint64_t h = 0xcbf29ce484222325u ^ seed;

	for (; *text; text++) {
		h = (h ^ (uint8_t)*text) * 0x100000001b3u;
	}
	return h ? h : 1;
}

uint32_t stf_writer_string(struct stf_writer *w, const char *text)
{
	struct stf_stf_string r = { .string = text, .size_1_1 = (uint32_t)strlen(text) };
	/* two seeds, so that equal keys mean equal texts but for one pair in 2^64 */
	uint64_t key = hash(text, 0) * 31 + hash(text, 0x5bd1e995);
	const uint64_t *old = stx_map_find(&w->texts, key ? key : 1);

	if (old) {
		return (uint32_t)*old;
	}
	if (w->top_string == UINT32_MAX) {
		stx_reject(&w->err, "stf_string", "no id is left", w->top_string);
		return 0;
	}
	r.id = w->top_string + 1;
	if (stf_write_stf_string(w, &r) < 0) {
		return 0;
	}
	if (stx_map_add(&w->texts, key ? key : 1, r.id) < 0) {
		stx_no_memory(&w->err);
		return 0;
	}
	return r.id;
}

/* `name` is the full one, "parent:self". */
uint32_t stf_writer_class(struct stf_writer *w, const char *name, uint32_t parent)
{
	struct stf_class_definition r = { .parent = parent };
	const char *self = strrchr(name, ':');

	r.name = stf_writer_string(w, name);
	r.nameself = stf_writer_string(w, self ? self + 1 : name);
	if (!r.name || !r.nameself) {
		return 0;
	}
	if (w->top_class == UINT32_MAX) {
		stx_reject(&w->err, "class_definition", "no id is left", w->top_class);
		return 0;
	}
	r.id = w->top_class + 1;
	return stf_write_class_definition(w, &r) < 0 ? 0 : r.id;
}

int stf_writer_processes(struct stf_writer *w, const uint32_t *threads, uint32_t n)
{
	struct stf_process_declaration r = { .size_1_1 = n, .thread_numbers = threads };

	if (n > 0x10000) {
		return stx_reject(&w->err, "process_declaration", "more processes than a willy_id can tell apart", n);
	}
	return stf_write_process_declaration(w, &r);
}

int stf_writer_willy(struct stf_writer *w, uint32_t willy, const char *hostname, const char *ip, uint32_t pid,
		     uint64_t tid, double offset, double skew)
{
	struct stf_willy_definition r = { .willy = willy, .pid = pid, .tid = tid, .offset = offset, .skew = skew };

	r.hostname = stf_writer_string(w, hostname);
	r.ip = stf_writer_string(w, ip);
	return r.hostname && r.ip ? stf_write_willy_definition(w, &r) : -1;
}

int stf_writer_willy_name(struct stf_writer *w, uint32_t willy, const char *name)
{
	struct stf_willy_name r = { .willy = willy, .name = stf_writer_string(w, name) };

	return r.name ? stf_write_willy_name(w, &r) : -1;
}

int stf_writer_info(struct stf_writer *w, const char *cls, const char *text)
{
	struct stf_info r = { .size_1_1 = (uint32_t)strlen(text), .info = text };
	uint64_t key = hash(cls, 0) * 31 + hash(cls, 0x5bd1e995);
	const uint64_t *old = stx_map_find(&w->classes, key ? key : 1);

	r.info_class = old ? (uint32_t)*old : stf_writer_class(w, cls, 0);
	if (!r.info_class) {
		return -1;
	}
	if (!old && stx_map_add(&w->classes, key ? key : 1, r.info_class) < 0) {
		return stx_no_memory(&w->err);
	}
	return stf_write_info(w, &r);
}

/* ---- the end ---- */

/* Visits the data streams in the order of their file ids. */
static struct stx_stream *next_data(const struct stf_writer *w, unsigned *kind, uint32_t *set)
{
	static const unsigned order[DATA_KINDS] = {
		STF_KIND_MSG, STF_KIND_COLL, STF_KIND_FUNC, STF_KIND_SCOPE,
		STF_KIND_FIO, STF_KIND_COUNTER, STF_KIND_REPORT, STF_KIND_OTHER,
	};
	unsigned i = *kind & 0xff, k;

	/* *kind counts rows of `order` in its low byte; *set the sets */
	for (; *set < 65536; (*set)++, i = 0) {
		int more = 0;

		for (; i < DATA_KINDS; i++) {
			k = order[i];
			if (*set < w->n_sets[k] && w->data[k][*set]) {
				*kind = i + 1;
				return w->data[k][*set];
			}
		}
		for (k = 0; k < DATA_KINDS; k++) {
			more |= *set + 1 < w->n_sets[k];
		}
		if (!more) {
			break;
		}
	}
	return NULL;
}

/* All the writer's files, the base file last, which is what makes them a trace. */
static int for_each_file(struct stf_writer *w, int (*fn)(struct stf_writer *w, struct stx_out *o))
{
	unsigned kind = 0;
	uint32_t set = 0;
	struct stx_stream *s;

	if (fn(w, &w->dcl->out) < 0 || (w->sts && fn(w, &w->sts->out) < 0)) {
		return -1;
	}
	while ((s = next_data(w, &kind, &set))) {
		if (fn(w, &s->out) < 0 || fn(w, &s->anc->out) < 0) {
			return -1;
		}
	}
	return fn(w, &w->base);
}

static int publish(struct stf_writer *w, struct stx_out *o)
{
	return stx_out_publish(o, w->opt.force, &w->err);
}

/* From here on the files stay. */
static int keep(struct stf_writer *w, struct stx_out *o)
{
	(void)w;
	stx_out_free(o);
	return 0;
}

static int close_streams(struct stf_writer *w)
{
	unsigned kind = 0;
	uint32_t set = 0;
	struct stx_stream *s;

	if (stx_stream_close(w->dcl) < 0 || (w->sts && stx_stream_close(w->sts) < 0)) {
		return -1;
	}
	while ((s = next_data(w, &kind, &set))) {
		if (stx_stream_close(s) < 0) {
			return -1;
		}
	}
	return 0;
}

static uint32_t clip(uint64_t n)
{
	return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

/* duration and event_summary, from what the streams have seen */
static int put_totals(struct stf_writer *w, struct stx_stream *idx, uint64_t start, uint64_t end)
{
	uint64_t n[256] = { 0 }, lo = UINT64_MAX, hi = 0, a, b;
	struct stf_event_summary e = { 0 };
	struct stf_duration d;
	unsigned kind = 0, i;
	uint32_t set = 0;
	struct stx_stream *s;

	while ((s = next_data(w, &kind, &set))) {
		for (i = 0; i < 256; i++) {
			n[i] += stx_history_counts(s->history)[i];
		}
		stx_history_times(s->history, &a, &b);
		lo = a < lo ? a : lo;
		hi = b > hi ? b : hi;
	}
	d.start = start <= end ? start : lo <= hi ? lo : 0;
	d.end = start <= end ? end : hi;
	e.num_funcs = clip(n[STF_ID_enter_function] + n[STF_ID_enter_function_1]);
	e.num_scopes = clip(n[STF_ID_enter_scope] + n[STF_ID_enter_scope_1]);
	e.num_counters = clip(n[STF_ID_counter_value]);
	for (a = 0, i = STF_ID_one_to_one_communication; i <= STF_ID_one_to_one_communication_4; i++) {
		a += n[i];
	}
	e.num_one_to_ones = clip(a);
	for (a = 0, i = STF_ID_all_communication; i <= STF_ID_all_to_one_communication_1; i++) {
		a += n[i];
	}
	e.num_collectives = clip(a + n[STF_ID_one_to_all_communication] + n[STF_ID_one_to_all_communication_1]);
	return stx_put_duration(idx, &d) < 0 || stx_put_event_summary(idx, &e) < 0 ? -1 : 0;
}

static uint32_t threads_of(const struct stf_writer *w, uint32_t process)
{
	return tkm_get32(w->procs->buf + sizeof(struct stx_wire_process_declaration) + 4 * (size_t)process,
			 w->opt.big_endian);
}

static uint32_t count_processes(const struct stf_writer *w)
{
	return w->procs->cur == w->procs->buf
		       ? 0
		       : tkm_get32(w->procs->buf + offsetof(struct stx_wire_process_declaration, size_1_1),
				   w->opt.big_endian);
}

/* The willies of processes first to last: runs of single-threaded processes are one triplet, any
 * other process is one of its own. */
static int put_willies(struct stf_writer *w, struct stx_stream *idx, uint32_t id, uint32_t first, uint32_t last)
{
	uint32_t n = 0, p, t;
	uint32_t *a = calloc(2 * ((size_t)last - first + 1), sizeof(*a));
	int32_t *stride = calloc((size_t)last - first + 1, sizeof(*stride));
	struct stf_willy_list r = { .id = id };
	int rc = -1;

	if (!a || !stride) {
		stx_no_memory(&w->err);
		goto out;
	}
	r.first_id = a;
	r.last_id = a + (last - first + 1);
	r.stride = stride;
	for (p = first; p < last; p++) {
		t = threads_of(w, p);
		if (t == 1 && n && stride[n - 1] == 1 && a[last - first + n] + 1 == p) {
			a[last - first + n] = p;
			continue;
		}
		if (t) {
			a[n] = p;
			a[last - first + 1 + n] = p | (t - 1) << 16;
			stride[n++] = t == 1 ? 1 : 0x10000;
		}
	}
	r.size_1_3 = n;
	rc = stx_put_willy_list(idx, &r);
out:
	free(a);
	free(stride);
	return rc;
}

/* List 1 is all willies, list 2 + I those of set I, unless there is one set and they are the same. */
static uint32_t list_of(const struct stf_writer *w, unsigned kind, uint32_t set)
{
	uint32_t per = w->opt.procs_per_file;

	return category[kind].per_set && per && per < count_processes(w) ? 2 + set : 1;
}

static unsigned kind_of(const struct stx_stream *s)
{
	uint32_t id = s->file < 7 ? s->file : 7 + (s->file - 7) % IDS_PER_SET;
	unsigned k;

	for (k = 0; k < DATA_KINDS && category[k].first_id != id; k++) {
	}
	return k;
}

static uint32_t set_of(const struct stx_stream *s)
{
	return s->file < 7 ? 0 : (s->file - 7) / IDS_PER_SET;
}

static int put_lists(struct stf_writer *w, struct stx_stream *idx)
{
	uint32_t n = count_processes(w), per = w->opt.procs_per_file, set = 0, at = 0, last, done = UINT32_MAX;
	unsigned kind = 0;
	struct stx_stream *s;

	if (put_willies(w, idx, 1, 0, n) < 0) {
		return -1;
	}
	while ((s = next_data(w, &kind, &at))) {
		set = set_of(s);
		if (list_of(w, kind_of(s), set) == 1 || set == done) {
			continue;
		}
		done = set;
		last = (uint64_t)(set + 1) * per < n ? (set + 1) * per : n;
		if (put_willies(w, idx, 2 + set, set * per < last ? set * per : last, last) < 0) {
			return -1;
		}
	}
	return 0;
}

static int put_file(struct stx_stream *idx, const struct stx_stream *s, uint8_t type)
{
	struct stf_file_declaration r = { .id = s->file, .filetype = type, .size_1_1 = (uint32_t)strlen(s->suffix),
					  .suffix = s->suffix };

	return stx_put_file_declaration(idx, &r);
}

static int put_files(struct stf_writer *w, struct stx_stream *idx)
{
	unsigned kind = 0;
	uint32_t set = 0;
	struct stx_stream *s;

	if (put_file(idx, w->dcl, STF_DECL_FILE) < 0 || (w->sts && put_file(idx, w->sts, STF_STATS_FILE) < 0)) {
		return -1;
	}
	while ((s = next_data(w, &kind, &set))) {
		if (put_file(idx, s, STF_DATA_FILE) < 0 || put_file(idx, s->anc, STF_ANCHOR_FILE) < 0) {
			return -1;
		}
	}
	for (kind = 0, set = 0; (s = next_data(w, &kind, &set));) {
		struct stf_anchor_file_declaration r = { .anchor_file = s->anc->file, .data_file = s->file };

		r.categories = 1u << kind_of(s);
		r.willies = list_of(w, kind_of(s), set_of(s));
		if (stx_put_anchor_file_declaration(idx, &r) < 0) {
			return -1;
		}
	}
	return 0;
}

static int write_base(struct stf_writer *w, uint64_t start, uint64_t end)
{
	struct stf_clock_resolution c = { .resolution = w->opt.resolution, .eventbits = w->opt.eventbits };
	struct stx_stream *idx = stx_stream_new(NULL, "", 0, w->opt.big_endian, &w->err, w->used);
	struct stx_buf text = { 0 };
	int rc = -1;

	if (!idx || stx_put_clock_resolution(idx, &c) < 0) {
		goto out;
	}
	w->used[STF_ID_process_declaration] = 1;
	if (w->procs->cur == w->procs->buf && stf_writer_processes(w, NULL, 0) < 0) {
		goto out;
	}
	if (!stx_room(idx, (uint64_t)(w->procs->cur - w->procs->buf), 0, &(uint32_t){ 0 })) {
		goto out;
	}
	memcpy(idx->cur, w->procs->buf, (size_t)(w->procs->cur - w->procs->buf));
	idx->cur += w->procs->cur - w->procs->buf;
	rc = put_totals(w, idx, start, end) < 0 || put_lists(w, idx) < 0 || put_files(w, idx) < 0 ? -1 : 0;
	if (rc == 0) {
		stx_defs_print(&text, w->used, w->opt.big_endian, w->comment);
		rc = text.failed ? stx_no_memory(&w->err) : 0;
	}
	if (rc == 0 && (stx_out_write(&w->base, text.p, text.n, &w->err) < 0 ||
			stx_out_write(&w->base, idx->buf, (size_t)(idx->cur - idx->buf), &w->err) < 0 ||
			stx_out_write(&w->base, w->infos->buf, (size_t)(w->infos->cur - w->infos->buf), &w->err) < 0)) {
		rc = -1;
	}
out:
	stx_stream_free(idx);
	free(text.p);
	return rc < 0 ? -1 : stx_out_close(&w->base, &w->err);
}

int stf_writer_finish(struct stf_writer *w, uint64_t start, uint64_t end, struct stf_err *err)
{
	int rc = -1;

	err->code = STF_OK;
	if (!is_fatal(&w->err) && close_streams(w) == 0 && write_base(w, start, end) == 0) {
		/* the old index goes first, so that it never stands beside new components */
		if (w->opt.force && unlink(w->path) < 0 && errno != ENOENT) {
			stx_fail_errno(&w->err, errno, w->path, "cannot replace");
		} else {
			rc = for_each_file(w, publish);
		}
	}
	if (rc == 0) {
		for_each_file(w, keep);
	} else {
		*err = w->err;
	}
	free_writer(w);
	return rc;
}
