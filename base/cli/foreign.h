/* SPDX-License-Identifier: BSD-3-Clause */
/* What files of other programs are, by their first bytes, and what can be done with them. One table for all programs. */
#ifndef BASE_CLI_FOREIGN_H
#define BASE_CLI_FOREIGN_H

#include <stddef.h>

enum tkm_foreign_use {
	TKM_FOREIGN_READ,   /* its records are wanted */
	TKM_FOREIGN_CORRECT /* its stamps are to be corrected */
};

/* Writes "PATH is WHAT: what to do" to text, or "" where that is unknown. Returns text. */
const char *tkm_foreign(const char *path, enum tkm_foreign_use use, char *text, size_t size);

/* Writes the folders of CTF traces below a folder to text, as a list. Returns how long that is; 0: there are none. */
size_t tkm_traces_below(const char *path, char *text, size_t size);

#endif
