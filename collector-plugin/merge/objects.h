/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of functions that were recorded by their addresses. */
#ifndef COLLECTOR_PLUGIN_MERGE_OBJECTS_H
#define COLLECTOR_PLUGIN_MERGE_OBJECTS_H

#include "collector-plugin/merge/types.h"

/* Definitions of an executable or library. Returns 0 or -1: no memory. */
int vt_merge_see_object(struct vt_merge_file *f, const struct vt_raw_def *d);
void vt_merge_objects_free(struct vt_merge_file *f);
/* The name of a function at an address: of the symbol table of its file, if that is still the file that ran; else what the dynamic
 * linker called it while it ran; else its object and offset. Demangled where that was asked for. nmcmd: a command that prints the symbols,
 * or NULL. */
void vt_merge_function_name(
	const char *nmcmd, struct vt_merge_file *f, const struct vt_raw_def *d, char *name, size_t size);

/* A place of a call stack in the source. */
struct vt_merge_line {
	char file[4200]; /* with its folder; where the line is unknown the object and the offset */
	char function[4200];
	const char *object; /* path */
};
/* Fills it in. Returns the line; 0: it is unknown. */
uint32_t vt_merge_source_line(
	const char *nmcmd, struct vt_merge_file *f, const struct vt_raw_place *place, struct vt_merge_line *l);

#endif
