/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of names and their ids, info records and errors of the merge. */
#include "config.h"
#include "collector-plugin/merge/common/names.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct vt_merge_name *vt_merge_name_entry(struct tkm_table *t, const char *text)
{
	return tkm_table_put(t, text, strlen(text) + 1, sizeof(struct vt_merge_name));
}

uint32_t vt_merge_number(struct tkm_table *t, const char *text, uint32_t *fresh)
{
	struct vt_merge_name *e = vt_merge_name_entry(t, text);

	*fresh = 0;
	if (e && !e->id) {
		e->id = *fresh = (uint32_t)tkm_table_count(t);
	}
	return e ? e->id : 0;
}

const char *vt_merge_name_of(const struct tkm_table *t, uint32_t id)
{
	const struct vt_merge_name *e = NULL;

	while ((e = tkm_table_next(t, e))) {
		if (e->id == id) {
			return tkm_table_key(e);
		}
	}
	return NULL;
}

struct vt_merge_ids *vt_merge_ids_of(struct vt_merge_file *f, int kind)
{
	struct vt_merge_ids *ids[] = { &f->classes, &f->counters, &f->functions, &f->scls, &f->scopes, &f->groups,
		&f->places, &f->paths, &f->texts };

	return kind < (int)(sizeof(ids) / sizeof(ids[0])) ? ids[kind] : NULL;
}

void vt_merge_ids_free(struct vt_merge_file *f)
{
	struct vt_merge_ids *ids;
	int kind, range;

	for (kind = 0; (ids = vt_merge_ids_of(f, kind)) != NULL; kind++) {
		for (range = 0; range < VT_MERGE_RANGES; range++) {
			free(ids->to[range]);
		}
	}
}

int vt_merge_info(struct vt_merge *m, const char *cls, const char *fmt, ...)
{
	char key[3200];
	const char *text = key + snprintf(key, 1000, "%.900s\1", cls);
	struct vt_merge_name *e;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(key + (text - key), sizeof(key) - (size_t)(text - key), fmt, ap);
	va_end(ap);
	e = vt_merge_name_entry(&m->infos, key);
	if (e && e->id) {
		return 0;
	}
	if (e) { /* without memory, it may be in the trace twice */
		e->id = 1;
	}
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
