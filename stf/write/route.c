/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides which record goes to which component. */
#include "config.h"
#include "stf/write/writer.h"

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
	if (stf_stream_add_anchors(s, &to, stf_history_anchor) < 0) {
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
