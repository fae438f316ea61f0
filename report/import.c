/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "report/import.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cli/temporary.h"
#include "exchange/common/format.h"

int vtr_is_foreign(const char *path)
{
	return xch_by_content(path) != NULL;
}

char *vtr_import(const char *path, char **stf, char *note, size_t size, struct tkm_err *err)
{
	struct xch_input in = { .path = path, .stf.single = STF_SINGLE_FILE };
	char *dir = tkm_temporary_folder("vtreport", err);

	*stf = NULL;
	if (!dir) {
		return NULL;
	}
	if (asprintf(stf, "%s/trace.stf", dir) < 0) {
		*stf = NULL;
		tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
	}
	in.to = *stf;
	if (!in.to || xch_read(&in, xch_by_content(path), err) < 0) {
		free(*stf);
		tkm_temporary_remove(dir);
		return NULL;
	}
	snprintf(note, size, "%s", in.note);
	return dir;
}
