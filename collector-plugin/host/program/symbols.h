/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of functions, from the symbol table of an ELF file of this machine's class. Needs libc only. */
#ifndef COLLECTOR_PLUGIN_HOST_PROGRAM_SYMBOLS_H
#define COLLECTOR_PLUGIN_HOST_PROGRAM_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct vt_symbols;

enum { VT_BUILD_ID = 32 }; /* bytes at most */

/* Reads the functions of an executable or shared library: from .symtab, from the separate file of debug information
 * below /usr/lib/debug (found by the build id), or from .dynsym. If n is not 0, the file must have the build id
 * build_id of n bytes. Returns NULL if the file cannot be read, has another build id, or has no functions. */
struct vt_symbols *vt_symbols_open(const char *path, const uint8_t *build_id, size_t n);
/* Reads the functions from the output of `command PATH` in the form of POSIX.2 nm -P (Intel Trace Collector guide, section
 * 3.2.3, NMCMD). Returns NULL if the command fails or names no function. */
struct vt_symbols *vt_symbols_by_command(const char *command, const char *path);
void vt_symbols_close(struct vt_symbols *s);
/* Returns the name of the function at this offset from the object's load address (the virtual address in the file),
 * or NULL. The name is valid until the symbols are closed. */
const char *vt_symbols_find(const struct vt_symbols *s, uint64_t offset);

/* Finds the build id in n bytes of ELF notes. *size gets its length, 0: none. */
const uint8_t *vt_symbols_build_id(const void *notes, size_t n, size_t *size);

#endif
