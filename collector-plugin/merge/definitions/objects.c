/* SPDX-License-Identifier: BSD-3-Clause */
/* Executables and libraries of a run, and the names and source lines of addresses in them. */
#include "config.h"
#include "collector-plugin/merge/definitions/objects.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "collector-plugin/host/program/demangle.h"
#include "collector-plugin/host/program/symbols.h"
#include "collector-plugin/merge/definitions/lines.h"

int vt_merge_see_object(struct vt_merge_file *f, const struct vt_raw_def *d)
{
	struct vt_merge_object *o = TKM_APPEND(f->object, f->n_objects);

	if (!o) {
		return -1;
	}
	*o = (struct vt_merge_object){ .id = d->id, .path = strdup(d->name) };
	o->build_id_size = d->n <= sizeof(o->build_id) ? d->n : 0;
	memcpy(o->build_id, d->build_id, sizeof(o->build_id));
	return o->path ? 0 : -1;
}

void vt_merge_objects_free(struct vt_merge_file *f)
{
	size_t i;

	for (i = 0; i < f->n_objects; i++) {
		vt_symbols_close(f->object[i].symbols);
		vt_lines_close(f->object[i].lines);
		free(f->object[i].path);
	}
	free(f->object);
}

static struct vt_merge_object *object_of(struct vt_merge_file *f, uint32_t id)
{
	struct vt_merge_object *o = NULL;
	size_t i;

	for (i = 0; i < f->n_objects; i++) {
		o = f->object[i].id == id ? &f->object[i] : o;
	}
	return o;
}

/* Reads the symbols of the object. nmcmd: NULL, or a command that prints the symbols. */
static const char *symbol_of(const char *nmcmd, struct vt_merge_object *o, uint64_t offset)
{
	if (o && !o->looked) {
		o->looked = 1;
		o->symbols = nmcmd ? vt_symbols_by_command(nmcmd, o->path) : NULL;
		o->nmcmd_failed = nmcmd && !o->symbols;
		if (!o->symbols) {
			o->symbols = vt_symbols_open(o->path, o->build_id, o->build_id_size);
		}
	}
	return o && o->symbols ? vt_symbols_find(o->symbols, offset) : NULL;
}

static void print_address(const struct vt_merge_object *o, uint64_t offset, char *name, size_t size)
{
	const char *base = o ? strrchr(o->path, '/') : NULL;

	snprintf(name, size, "%.3000s+0x%llx", base ? base + 1 : o ? o->path : "?", (unsigned long long)offset);
}

void vt_merge_function_name(
	const char *nmcmd, struct vt_merge_file *f, const struct vt_raw_def *d, char *name, size_t size)
{
	struct vt_merge_object *o = object_of(f, d->object);
	const char *found = symbol_of(nmcmd, o, d->offset);

	found = found ? found : d->name;
	if (*found) {
		snprintf(name, size, "%s", found);
		if (d->demangle) {
			vt_demangle(name, size);
		}
		return;
	}
	print_address(o, d->offset, name, size);
}

uint32_t vt_merge_source_line(
	const char *nmcmd, struct vt_merge_file *f, const struct vt_raw_place *place, struct vt_merge_line *l)
{
	struct vt_merge_object *o = object_of(f, place->object);
	const char *why, *function = NULL;
	int line = 0;

	if (o && !o->looked_lines) {
		o->looked_lines = 1;
		o->lines = vt_lines_there(&why) ? vt_lines_open(o->path, o->build_id, o->build_id_size) : NULL;
	}
	if (o && o->lines) {
		line = vt_lines_find(o->lines, place->offset, l->file, sizeof(l->file));
		function = vt_lines_function(o->lines, place->offset);
	}
	if (!line) {
		print_address(o, place->offset, l->file, sizeof(l->file));
	}
	function = function ? function : symbol_of(nmcmd, o, place->offset);
	snprintf(l->function, sizeof(l->function), "%s", function ? function : "");
	if (place->demangle && function) {
		vt_demangle(l->function, sizeof(l->function));
	}
	l->object = o ? o->path : "";
	return (uint32_t)line;
}
