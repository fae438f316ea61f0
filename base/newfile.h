/* SPDX-License-Identifier: BSD-3-Clause */
/* Output files that appear whole or not at all. A file is created with O_EXCL under a temporary name in the same
 * folder, and renamed when it is complete. */
#ifndef BASE_NEWFILE_H
#define BASE_NEWFILE_H

#include <stdio.h>

#include "base/err.h"
#include "base/newname.h"

struct tkm_newfile {
	FILE *f;      /* write here */
	char *device; /* NULL: a file */
	struct tkm_newname name;
};

/* Begins `path`. A device such as /dev/null is written to, never replaced. Anything else that is not a regular file is
 * refused. Without force an existing file is refused, both now and at the commit. Returns 0 or -1. */
int tkm_newfile_begin(struct tkm_newfile *n, const char *path, int force, struct tkm_err *err);

/* The `force` for a file that can be made again: may what is there be replaced? Yes if it has this mark of its maker in its
 * first or last 4 KiB, else if forced. */
int tkm_newfile_may_replace(const char *path, const char *mark, int force);

/* Writes out the rest and gives the file its name. On failure the temporary file is removed. Frees everything in both
 * cases. Returns 0, or -1 (the disk is full, for example). */
int tkm_newfile_commit(struct tkm_newfile *n, struct tkm_err *err);

/* Checks, before a long measurement, that a file OUTPUT plus each of `suffixes` (NULL ends them) can be begun. Leaves
 * no file. output: the value of --output. Returns 0 or -1. */
int tkm_newfiles_possible(const char *output, const char *const *suffixes, int force, struct tkm_err *err);

/* Removes the temporary file. A struct of zeros is allowed. */
void tkm_newfile_abort(struct tkm_newfile *n);

#endif
