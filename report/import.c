/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "report/import.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "exchange/common/format.h"

static char **made;
static size_t n_made;

/* A new folder, and the name of the trace in it. NULL: *err. */
static const char *make_place(struct tkm_err *err)
{
	const char *where = getenv("TMPDIR");
	char *dir = NULL, *path = NULL;

	if (asprintf(&dir, "%s/vtreport-XXXXXX", where && *where ? where : "/tmp") < 0) {
		tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
		return NULL;
	}
	if (!mkdtemp(dir)) {
		tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot create the folder %s for the trace", dir);
	} else if (asprintf(&path, "%s/trace.stf", dir) < 0 || tkm_append_text(&made, &n_made, path) < 0) {
		rmdir(dir);
		tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
		free(path);
		path = NULL;
	}
	free(dir);
	if (!path) {
		return NULL;
	}
	free(path);
	return made[n_made - 1];
}

const char *vtr_import(const char *path, char *note, size_t size, struct tkm_err *err)
{
	const struct xch_format *f = xch_by_content(path);
	struct xch_input in = { .path = path, .stf.single = STF_SINGLE_FILE };

	*note = '\0';
	if (!f) {
		return path;
	}
	in.to = make_place(err);
	if (!in.to || xch_read(&in, f, err) < 0) {
		return NULL;
	}
	snprintf(note, size, "%s", in.note);
	return in.to;
}

void vtr_import_end(void)
{
	size_t i;

	for (i = 0; i < n_made; i++) {
		unlink(made[i]);
		*strrchr(made[i], '/') = '\0';
		rmdir(made[i]);
	}
	tkm_free_texts(made, n_made);
	made = NULL;
	n_made = 0;
}
