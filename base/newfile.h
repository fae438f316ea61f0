/* SPDX-License-Identifier: BSD-3-Clause */
/* Output files that appear whole or not at all: written under a temporary name beside their place,
 * made with O_EXCL, and renamed when complete. */
#ifndef BASE_NEWFILE_H
#define BASE_NEWFILE_H

#include <stdio.h>

#include "base/err.h"

struct tkm_newfile {
	FILE *f; /* write here */
	char *path, *temporary;
	int force;
};

/* Begins `path`. A device like /dev/null is never replaced but written to; other things that are no files are refused. Without force an existing file is refused, now and again at the commit. Returns 0 or
 * -1. */
int tkm_newfile_begin(struct tkm_newfile *n, const char *path, int force, struct tkm_err *err);

/* Writes out and gives the file its name. Frees everything, also on failure, when nothing is left of
 * the file. Returns 0, or -1 (disk full, say). */
int tkm_newfile_commit(struct tkm_newfile *n, struct tkm_err *err);

/* Could the files OUTPUT plus each of `suffixes` (NULL ends them) be begun, before anything takes time? Nothing is left of them. output: the
 * value of --output. Returns 0 or -1. */
int tkm_newfiles_possible(const char *output, const char *const *suffixes, int force, struct tkm_err *err);

/* Removes what was written. A struct of zeros is allowed. */
void tkm_newfile_abort(struct tkm_newfile *n);

#endif
