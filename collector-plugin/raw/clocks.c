/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what a raw file contains about the clock sessions of its rank. */
#include "config.h"
#include "collector-plugin/raw/reader.h"

#include <stdlib.h>

#include "base/grow.h"

struct texts {
	char *at;
	size_t n, room;
	int failed;
};

static int add_clock_lines(const struct vt_raw_def *d, void *ctx)
{
	struct texts *t = ctx;
	size_t n = d->type == VT_RAW_DEF_CLOCKS ? strlen(d->text) : 0;

	if (TKM_GROW(t->at, t->room, t->n + n + 1) < 0) {
		t->failed = 1;
		return -1;
	}
	memcpy(t->at + t->n, d->text, n);
	t->n += n;
	return 0;
}

int vt_raw_read_clocks(const char *path, struct vt_raw_head *head, char **text, size_t *n, struct tkm_err *err)
{
	struct vt_raw_file *f = vt_raw_open_definitions(path, err);
	struct texts t = { NULL, 0, 0, 0 };

	*text = NULL;
	*n = 0;
	if (!f) {
		return -1;
	}
	*head = *vt_raw_file_head(f);
	vt_raw_definitions(f, add_clock_lines, &t);
	vt_raw_file_close(f);
	if (t.failed) {
		free(t.at);
		return tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory for its clock sessions", path);
	}
	*text = t.at;
	*n = t.n;
	return 0;
}
