/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a trace: decides which record goes to which component. */
#include "config.h"
#include "stf/format/hash.h"
#include "stf/write/writer.h"
#include "stf/pack/zst.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"

/* One row per category. The ids of files depend only on the suffix, so that rewriting a trace in another order
 * gives the same bytes. The anchor file has the id after its data file's id. */
/* clang-format off */
const struct stf_category stf_category[DATA_KINDS] = {
	[STF_KIND_MSG] = { ".msg", 0, 3 },  [STF_KIND_COLL] = { ".cop", 0, 5 },
	[STF_KIND_FUNC] = { ".f", 1, 7 },   [STF_KIND_SCOPE] = { ".s", 1, 9 },
	[STF_KIND_FIO] = { ".i", 1, 11 },   [STF_KIND_COUNTER] = { ".c", 1, 13 },
	[STF_KIND_REPORT] = { ".r", 1, 15 }, [STF_KIND_OTHER] = { ".x", 1, 17 },
};
/* clang-format on */

const struct stf_err *stf_writer_error(const struct stf_writer *w)
{
	return &w->err;
}

struct stf_where stf_writer_where(struct stf_writer *w)
{
	return (struct stf_where){ .path = w->path,
		.force = w->opt.force,
		.big = w->opt.big_endian,
		.level = w->opt.compress,
		.zst = w->zst,
		.err = &w->err,
		.used = w->used,
		.identity = &w->identity };
}

static int check_options(const char *path, const struct stf_writer_options *o, struct stf_err *err)
{
	const char *c;

	if (!path || !*path) {
		return stf_fail(err, STF_ERR_ARG, NULL, 0, 0, "a trace needs a file name");
	}
	if (!(o->resolution > 0) || !isfinite(o->resolution)) {
		return stf_fail(err, STF_ERR_ARG, NULL, 0, 0, "resolution is %g s, must be above 0", o->resolution);
	}
	if (o->eventbits > 63) {
		return stf_fail(err, STF_ERR_ARG, NULL, 0, 0, "%u event bits, at most 63", o->eventbits);
	}
	if (o->n_group_home && !o->group_home) {
		return stf_fail(
			err, STF_ERR_ARG, NULL, 0, 0, "%u homes of groups, but no list of them", o->n_group_home);
	}
	if (o->n_node > 0x10000 || (o->n_node && !o->node)) {
		return stf_fail(err, STF_ERR_ARG, NULL, 0, 0, "%u nodes of processes, at most 65536", o->n_node);
	}
	if (o->compress < 0 || o->compress > 19) {
		return stf_fail(
			err, STF_ERR_ARG, NULL, 0, 0, "compression level %d, must be 0 (none) to 19", o->compress);
	}
	for (c = o->comment; c && *c; c++) {
		if ((unsigned char)*c < ' ') {
			return stf_fail(err, STF_ERR_ARG, NULL, 0, 0, "the comment must be one line of text");
		}
	}
	if (o->comment && strlen(o->comment) > 900) {
		return stf_fail(err, STF_ERR_ARG, NULL, 0, 0, "the comment is longer than 900 bytes");
	}
	return 0;
}

void stf_writer_free(struct stf_writer *w)
{
	unsigned k;
	uint32_t i;

	stf_stream_free(w->dcl);
	stf_stream_free(w->sts);
	stf_stream_free(w->infos);
	stf_stream_free(w->procs);
	for (k = 0; k < DATA_KINDS; k++) {
		for (i = 0; i < w->n_sets[k]; i++) {
			stf_stream_free(w->data[k][i]);
		}
		free(w->data[k]);
	}
	stf_map_free(&w->declared);
	stf_map_free(&w->texts);
	stf_map_free(&w->classes);
	stf_out_discard(&w->base);
	stf_out_free(&w->base);
	stf_zst_free(w->zst);
	free(w->sets.of);
	free(w->sets.home);
	free(w->others.i);
	free(w->path);
	free(w->comment);
	free(w);
}

void stf_writer_abort(struct stf_writer *w)
{
	if (w) {
		stf_writer_free(w);
	}
}

static int choose_identity(struct stf_writer *w, const struct stf_writer_options *opt)
{
	w->identity = (struct stf_trace_identity){ opt->identity[0], opt->identity[1], opt->resolution, opt->eventbits,
		(uint8_t)stf_hash_there() };
	return opt->identity[0] || opt->identity[1] || stf_identity_new(&w->identity) == 0
		? 0
		: stf_fail_errno(&w->err, errno, w->path, "cannot make a random identity for the trace");
}

static int begin_compression(struct stf_writer *w)
{
	if (w->opt.compress) {
		w->zst = stf_zst_new(w->opt.compress, w->opt.big_endian, &w->err);
	}
	return w->opt.compress && !w->zst ? -1 : 0;
}

/* Opens the base file and the file of the declarations. */
static int begin_files(struct stf_writer *w, const struct stf_writer_options *opt)
{
	struct stf_where to = stf_writer_where(w);

	if (opt->single == STF_SINGLE_FD) {
		w->base.fd = opt->fd;
		w->base.final_name = strdup("the given descriptor");
	} else if (stf_out_open(&w->base, w->path, opt->force, &w->err) < 0) {
		return -1;
	}
	w->dcl = stf_stream_new(&to, ".dcl", 0);
	if (!w->dcl) {
		return -1;
	}
	w->dcl->file = FILE_DCL;
	stf_stream_blocks(w->dcl, STX_DECL_BLOCK);
	return opt->single ? 0 : stf_begin_base(w);
}

struct stf_writer *stf_writer_create(const char *path, const struct stf_writer_options *given, struct stf_err *err)
{
	struct stf_writer_options own, *opt = &own;
	struct stf_writer *w;
	struct stf_where memory;

	err->code = STF_OK;
	if (!path || !given) {
		stf_fail(err, STF_ERR_ARG, NULL, 0, 0, "stf_writer_create: no path or no options");
		return NULL;
	}
	if (stf_take_options(opt, sizeof(*opt), given, sizeof(*opt), "stf_writer_options", err) < 0) {
		return NULL;
	}
	if (check_options(path, opt, err) < 0) {
		return NULL;
	}
	w = calloc(1, sizeof(*w));
	if (!w) {
		stf_no_memory(err);
		return NULL;
	}
	w->base.fd = -1;
	w->opt = *opt;
	w->path = strdup(path);
	w->comment = strdup(opt->comment ? opt->comment : "");
	if (!w->path || !w->comment) {
		stf_no_memory(&w->err);
		goto fail;
	}
	w->opt.comment = w->comment;
	if (choose_identity(w, opt) < 0 || begin_compression(w) < 0 || stf_sets_begin(w, opt) < 0) {
		goto fail;
	}
	w->opt.node = w->opt.group_home = NULL; /* both arrays belong to the caller */
	memory = stf_writer_where(w);
	memory.path = NULL;
	w->infos = stf_stream_new(&memory, "", 0);
	w->procs = stf_stream_new(&memory, "", 0);
	if (!w->infos || !w->procs) {
		goto fail;
	}
	if (opt->part) {
		return w;
	}
	if (begin_files(w, opt) < 0) {
		goto fail;
	}
	return w;
fail:
	*err = w->err;
	stf_writer_free(w);
	return NULL;
}

/* ---- classes that the writer itself uses ---- */

const char *const stf_own_class[2] = { [STX_OWN_INTEGRITY] = "integrity", [STX_OWN_LATE] = "late" };

/* A copied trace brings these classes along, with statements about files that will differ in the copy. */
int stf_note(struct stf_writer *w, unsigned id, const void *record)
{
	const struct stf_stf_string *s = record;
	const struct stf_class_definition *c = record;
	const struct stf_info *info = record;
	int i;

	for (i = 0; i < 2; i++) {
		if (id == STF_ID_stf_string && s->size_1_1 == strlen(stf_own_class[i]) &&
			memcmp(s->string, stf_own_class[i], s->size_1_1) == 0) {
			w->own_text[i] = s->id;
		} else if (id == STF_ID_class_definition && c->name && c->name == w->own_text[i]) {
			w->own_class[i] = c->id;
		} else if (id == STF_ID_info && info->info_class && info->info_class == w->own_class[i]) {
			return 1;
		}
	}
	return 0;
}

/* ---- choosing the stream of a record ---- */

int stf_make_room(struct stf_writer *w, unsigned kind, uint32_t set)
{
	return set >= w->n_sets[kind] && TKM_EXTEND(w->data[kind], w->n_sets[kind], set + 1) < 0
		? stf_no_memory(&w->err)
		: 0;
}

void stf_suffix(unsigned kind, uint32_t set, char *suffix, size_t n)
{
	if (stf_category[kind].per_set) {
		snprintf(suffix, n, "%s.%u", stf_category[kind].suffix, set);
	} else {
		snprintf(suffix, n, "%s", stf_category[kind].suffix);
	}
}

static struct stf_stream *open_data(struct stf_writer *w, unsigned kind, uint32_t set)
{
	struct stf_where to = stf_writer_where(w);
	struct stf_stream *s;
	char suffix[20];

	if (stf_make_room(w, kind, set) < 0) {
		return NULL;
	}
	stf_suffix(kind, set, suffix, sizeof(suffix));
	s = stf_stream_new(&to, suffix, w->n_data++ >= STX_MANY);
	if (!s) {
		return NULL;
	}
	s->file = stf_category[kind].first_id + set * IDS_PER_SET;
	s->ahead = w->dcl;
	if (stf_stream_add_anchors(s, &to) < 0) {
		stf_stream_free(s);
		return NULL;
	}
	w->data[kind][set] = s;
	return s;
}

static struct stf_stream *refuse(struct stf_writer *w, unsigned id, const char *why)
{
	if (!stf_is_fatal(&w->err)) {
		stf_fail(&w->err, STF_ERR_STATE, NULL, 0, 0, "%s: %s", stf_layout(id)->name, why);
	}
	return NULL;
}

static struct stf_stream *route_declaration(struct stf_writer *w, unsigned id, uint32_t willy, uint64_t key)
{
	const struct stf_layout *l = stf_layout(id);
	int of_willy = id == STF_ID_willy_definition || id == STF_ID_willy_name, rc;

	key = of_willy ? willy : key;
	if (of_willy || strcmp(l->fields[0].name, "id") == 0) {
		rc = stf_map_add(&w->declared, STX_KEY(l->class_id, key), 1);
		if (rc < 0) {
			stf_no_memory(&w->err);
			return NULL;
		}
		if (rc == 0) {
			stf_reject(&w->err, l->name, "was declared before", key);
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

static struct stf_stream *route_statistics(struct stf_writer *w)
{
	struct stf_where to = stf_writer_where(w);

	if (!w->sts) {
		w->sts = stf_stream_new(&to, ".sts", 0);
		if (w->sts) {
			w->sts->file = FILE_STS;
			stf_stream_blocks(w->sts, STX_ANCHOR_BLOCK);
		}
	}
	return w->sts;
}

static struct stf_stream *route_data(struct stf_writer *w, unsigned kind, uint32_t willy)
{
	struct stf_way way = { .span = UINT32_MAX };
	uint32_t set = 0;
	struct stf_stream *s;

	if (!w->sets.decided) {
		stf_sets_decide(w);
	}
	if (stf_category[kind].per_set) {
		set = stf_set_of(w, willy);
		stf_sets_way(w, willy, &way);
	}
	s = set < w->n_sets[kind] ? w->data[kind][set] : NULL;
	s = s ? s : open_data(w, kind, set);
	/* a group is assigned to a set, but is not one of its processes */
	if (s && !(stf_willy_is_group(willy) && way.span != UINT32_MAX)) {
		way.s = s;
		w->way[kind] = way;
	}
	return s;
}

struct stf_stream *stf_route_slow(struct stf_writer *w, unsigned id, unsigned kind, uint32_t willy, uint64_t key)
{
	if (stf_is_fatal(&w->err)) {
		return NULL;
	}
	if (kind < DATA_KINDS) {
		return route_data(w, kind, willy);
	}
	if (w->opt.part && id != STF_ID_process_declaration) {
		return refuse(w, id, "belongs to the writer that completes the trace, not to one of a part");
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
	/* two seeds, so that equal keys mean equal texts, except for one pair in 2^64 */
	uint64_t key = hash(text, 0) * 31 + hash(text, 0x5bd1e995);
	const uint64_t *old = stf_map_find(&w->texts, key ? key : 1);

	if (old) {
		return (uint32_t)*old;
	}
	if (w->top_string == UINT32_MAX) {
		stf_reject(&w->err, "stf_string", "no id is left", w->top_string);
		return 0;
	}
	r.id = w->top_string + 1;
	if (stf_write_stf_string(w, &r) < 0) {
		return 0;
	}
	if (stf_map_add(&w->texts, key ? key : 1, r.id) < 0) {
		stf_no_memory(&w->err);
		return 0;
	}
	return r.id;
}

/* `name` is the full name, "parent:self". */
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
		stf_reject(&w->err, "class_definition", "no id is left", w->top_class);
		return 0;
	}
	r.id = w->top_class + 1;
	return stf_write_class_definition(w, &r) < 0 ? 0 : r.id;
}

int stf_writer_processes(struct stf_writer *w, const uint32_t *threads, uint32_t n)
{
	struct stf_process_declaration r = { .size_1_1 = n, .thread_numbers = threads };

	if (n > 0x10000) {
		return stf_reject(&w->err, "process_declaration", "more processes than a willy_id can tell apart", n);
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
	const uint64_t *old = stf_map_find(&w->classes, key ? key : 1);

	r.info_class = old ? (uint32_t)*old : stf_writer_class(w, cls, 0);
	if (!r.info_class) {
		return -1;
	}
	if (!old && stf_map_add(&w->classes, key ? key : 1, r.info_class) < 0) {
		return stf_no_memory(&w->err);
	}
	return stf_write_info(w, &r);
}
