/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of functions, from the symbol table of an ELF file of this machine's class. libc only. */
#ifndef COLLECTOR_PLUGIN_HOST_SYMBOLS_H
#define COLLECTOR_PLUGIN_HOST_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct vt_symbols;

enum { VT_BUILD_ID = 32 }; /* bytes at most */

/* The functions of an executable or shared library: of .symtab, of the separate file of debug information that its build id
 * names below /usr/lib/debug, or of .dynsym. build_id, n bytes: what the file must have, unless n is 0. NULL: it cannot be read, is another
 * one, or has none. */
struct vt_symbols *vt_symbols_open(const char *path, const uint8_t *build_id, size_t n);
/* The same from what `command PATH` prints in the form of POSIX.2 nm -P (Intel Trace Collector guide, section 3.2.3, NMCMD). NULL: it fails, or names no function. */
struct vt_symbols *vt_symbols_by_command(const char *command, const char *path);
void vt_symbols_close(struct vt_symbols *s);
/* The function at this offset from where the object is loaded (its virtual address in the file). Lives until the close. NULL: none. */
const char *vt_symbols_find(const struct vt_symbols *s, uint64_t offset);

/* The build id among notes, n bytes of them; its length in *size, 0: none. */
const uint8_t *vt_symbols_build_id(const void *notes, size_t n, size_t *size);

#endif
