/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and source lines of functions that were recorded by their addresses. */
#ifndef COLLECTOR_PLUGIN_MERGE_DEFINITIONS_OBJECTS_H
#define COLLECTOR_PLUGIN_MERGE_DEFINITIONS_OBJECTS_H

#include "collector-plugin/merge/common/types.h"

/* Takes in the definition of an executable or library. Returns 0, or -1 if there is no memory. */
int vt_merge_see_object(struct vt_merge_file *f, const struct vt_raw_def *d);
void vt_merge_objects_free(struct vt_merge_file *f);
/* The name of the function at an address. It is taken from the symbol table of its file, if that is still the file
 * that ran; else from the dynamic linker at run time; else it is made of the object and the offset. It is demangled
 * if that was asked for. nmcmd: a command that prints the symbols, or NULL. */
void vt_merge_function_name(
	const char *nmcmd, struct vt_merge_file *f, const struct vt_raw_def *d, char *name, size_t size);

/* The source location of one place in a call stack. */
struct vt_merge_line {
	char file[4200]; /* with its folder; if the line is unknown, the object and the offset */
	char function[4200];
	const char *object; /* path of the object */
};
/* Finds the source location of the place. Returns the line; 0: unknown. */
uint32_t vt_merge_source_line(
	const char *nmcmd, struct vt_merge_file *f, const struct vt_raw_place *place, struct vt_merge_line *l);

#endif
