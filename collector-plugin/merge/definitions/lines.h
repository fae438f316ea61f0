/* SPDX-License-Identifier: BSD-3-Clause */
/* Source lines of addresses, from the debug information of an executable or library, by libdw of elfutils. libdw is
 * loaded when it is needed, because the preloaded library may link libc only. */
#ifndef COLLECTOR_PLUGIN_MERGE_DEFINITIONS_LINES_H
#define COLLECTOR_PLUGIN_MERGE_DEFINITIONS_LINES_H

#include <stddef.h>
#include <stdint.h>

struct vt_lines;

/* Is libdw available? If not, *why says why. */
int vt_lines_there(const char **why);
/* Opens the debug information of this file, or of the separate file that its build id names. build_id (n bytes): what
 * the file's build id must be, unless n is 0. NULL: the file cannot be read, or is another one. */
struct vt_lines *vt_lines_open(const char *path, const uint8_t *build_id, size_t n);
void vt_lines_close(struct vt_lines *l);
/* The line of the instruction at this offset from the address where the object is loaded. `file` gets the source
 * file's name, in size bytes. Returns the line; 0: unknown. */
int vt_lines_find(const struct vt_lines *l, uint64_t offset, char *file, size_t size);
/* The function at the offset; NULL: unknown. The text is valid until the close. */
const char *vt_lines_function(const struct vt_lines *l, uint64_t offset);

#endif
