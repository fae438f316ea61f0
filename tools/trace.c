/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening an input of any format. */
#include "config.h"
#include "tools/stftool.h"

#include <string.h>

#include "tools/files.h"

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
	t->r = stf_reader_open(o->input, flags, &e);
	if (!t->r) {
		stt_stf_fault(o, &e);
		stt_trace_close(t);
		return e.code == STF_ERR_NOMEM ? -2 : -1;
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
	memset(t, 0, sizeof(*t));
}
