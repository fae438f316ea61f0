/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "collector-plugin/merge/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void vt_merge_names_free(struct vt_merge_names *t)
{
	size_t i;

	for (i = 0; i < t->size; i++) {
		free(t->slot[i].text);
	}
	free(t->slot);
}

static struct vt_merge_name *slot_of(const struct vt_merge_names *t, const char *text)
{
	uint64_t h = 0xcbf29ce484222325u;
	const char *c;
	size_t i;

	for (c = text; *c; c++) {
		h = (h ^ (uint8_t)*c) * 0x100000001b3u;
	}
	for (i = (size_t)h & (t->size - 1); t->slot[i].text && strcmp(t->slot[i].text, text);
		i = (i + 1) & (t->size - 1)) {
	}
	return &t->slot[i];
}

static int grow_names(struct vt_merge_names *t)
{
	struct vt_merge_names more = { NULL, t->n, t->size ? 2 * t->size : 64 };
	size_t i;

	more.slot = calloc(more.size, sizeof(*more.slot));
	if (!more.slot) {
		return -1;
	}
	for (i = 0; i < t->size; i++) {
		if (t->slot[i].text) {
			*slot_of(&more, t->slot[i].text) = t->slot[i];
		}
	}
	free(t->slot);
	*t = more;
	return 0;
}

struct vt_merge_name *vt_merge_name_entry(struct vt_merge_names *t, const char *text)
{
	struct vt_merge_name *s;

	if (2 * t->n >= t->size && grow_names(t) < 0) {
		return NULL;
	}
	s = slot_of(t, text);
	if (!s->text) {
		s->text = strdup(text);
		if (!s->text) {
			return NULL;
		}
		t->n++;
	}
	return s;
}

int vt_merge_info(struct vt_merge *m, const char *cls, const char *text)
{
	struct vt_merge_name *e;
	char key[2100];

	snprintf(key, sizeof(key), "%s\1%s", cls, text);
	e = vt_merge_name_entry(&m->infos, key);
	if (!e) {
		return -1;
	}
	if (e->id) {
		return 0;
	}
	e->id = 1;
	return stf_writer_info(m->w, cls, text);
}

int vt_merge_stf_error(struct vt_merge *m, const struct stf_err *e)
{
	return tkm_fail(m->err,
		e->code == STF_ERR_EXISTS          ? TKM_ERR_EXISTS
			: e->code == STF_ERR_NOMEM ? TKM_ERR_NOMEM
						   : TKM_ERR_IO,
		"%s%s%.300s", e->file, e->file[0] ? ": " : "", e->text);
}
