/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "collector-plugin/merge/objects.h"

#include <stdio.h>
#include <stdlib.h>

#include "collector-plugin/host/demangle.h"
#include "collector-plugin/host/symbols.h"

int vt_merge_see_object(struct vt_merge_file *f, const struct vt_raw_def *d)
{
	struct vt_merge_object *o = realloc(f->object, (f->n_objects + 1) * sizeof(*o));

	if (!o) {
		return -1;
	}
	f->object = o;
	o = &o[f->n_objects];
	*o = (struct vt_merge_object){ .id = d->id, .path = strdup(d->name) };
	o->build_id_size = d->n <= sizeof(o->build_id) ? d->n : 0;
	memcpy(o->build_id, d->build_id, sizeof(o->build_id));
	f->n_objects += o->path != NULL;
	return o->path ? 0 : -1;
}

void vt_merge_objects_free(struct vt_merge_file *f)
{
	size_t i;

	for (i = 0; i < f->n_objects; i++) {
		vt_symbols_close(f->object[i].symbols);
		free(f->object[i].path);
	}
	free(f->object);
}

void vt_merge_function_name(struct vt_merge_file *f, const struct vt_raw_def *d, char *name, size_t size)
{
	struct vt_merge_object *o = NULL;
	const char *found = NULL, *base;
	size_t i;

	for (i = 0; i < f->n_objects; i++) {
		o = f->object[i].id == d->object ? &f->object[i] : o;
	}
	if (o && !o->looked) {
		o->looked = 1;
		o->symbols = vt_symbols_open(o->path, o->build_id, o->build_id_size);
	}
	found = o && o->symbols ? vt_symbols_find(o->symbols, d->offset) : NULL;
	found = found ? found : d->name;
	if (*found) {
		snprintf(name, size, "%s", found);
		if (d->demangle) {
			vt_demangle(name, size);
		}
		return;
	}
	base = o ? strrchr(o->path, '/') : NULL;
	snprintf(name, size, "%.3000s+0x%llx", base ? base + 1 : o ? o->path : "?", (unsigned long long)d->offset);
}
