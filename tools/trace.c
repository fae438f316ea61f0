/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening an input of any format. */
#include "config.h"
#include "tools/stftool.h"

#include <stdlib.h>
#include <string.h>

#include "tools/files.h"

/* Components as files of their own in a private directory, for a library that cannot read single files. */
static int unpack(struct stt_trace *t, const struct stt_options *o)
{
	struct stt_components l;
	struct stt_options quiet = *o;
	struct stf_err e;
	int rc = -1;

	quiet.force = 0;
	if (stt_components_of_single(&l, o->input, &e) < 0) {
		stt_stf_fault(o, t, &e);
		goto out;
	}
	t->directory = stt_scratch(o);
	free(t->base);
	t->base = NULL;
	if (t->directory && asprintf(&t->base, "%s/t.stf", t->directory) < 0) {
		t->base = NULL;
	}
	rc = t->base && stt_copy_components(&l, &quiet, t->base) == STT_OK ? 0 : -1;
out:
	stt_components_free(&l);
	return rc;
}

int stt_trace_open(struct stt_trace *t, const struct stt_options *o, unsigned flags)
{
	struct stf_err e;

	memset(t, 0, sizeof(*t));
	t->path = o->input;
	t->format = stt_input_format(o->input);
	if (t->format == STT_ASCII) {
		stt_fault(o, "%s is text; %s --convert T.stf makes a trace of it", o->input, o->program);
		return -1;
	}
	t->base = strdup(o->input);
	t->r = t->base ? stf_reader_open(t->base, flags, &e) : NULL;
	if (!t->r && t->format == STT_SINGLE) {
		if (unpack(t, o) < 0) {
			stt_trace_close(t);
			return -1;
		}
		t->r = stf_reader_open(t->base, flags, &e);
	}
	if (!t->r) {
		stt_stf_fault(o, t, &e);
		stt_trace_close(t);
		return -1;
	}
	t->threads = stf_reader_processes(t->r, &t->n_processes);
	if (stf_reader_clock(t->r, &t->resolution, &t->eventbits) < 0 || !(t->resolution > 0)) {
		t->resolution = 0;
	}
	return 0;
}

void stt_trace_close(struct stt_trace *t)
{
	stf_reader_close(t->r);
	stt_scratch_remove(t->directory);
	free(t->base);
	memset(t, 0, sizeof(*t));
}
