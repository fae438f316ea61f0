/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening an input of any format. */
#include "config.h"
#include "tools/cli/stftool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli/await.h"
#include "tools/cli/files.h"

int stt_trace_open(struct stt_trace *t, const struct stt_options *o, unsigned flags)
{
	struct stf_err e;
	char meant[9000];
	uint32_t i;

	memset(t, 0, sizeof(*t));
	t->path = o->input;
	t->format = stt_input_format(o->input);
	/* --verify reports the faults of each record, damaged or not */
	t->r = stf_reader_open(o->input, flags | (o->verify ? 0 : STF_READ_VERIFY), &e);
	if (!t->r) {
		tkm_trace_meant(o->input, meant, sizeof(meant));
		if (meant[0] && e.code != STF_ERR_NOMEM) {
			stt_fault(o, "%s", meant);
		} else {
			stt_stf_fault(o, &e);
		}
		stt_trace_close(t);
		return e.code == STF_ERR_NOMEM ? -2 : -1;
	}
	t->threads = stf_reader_processes(t->r, &t->n_processes);
	t->first = calloc((size_t)t->n_processes + 1, sizeof(*t->first));
	if (!t->first) {
		stt_fault(o, "%s: out of memory", o->input);
		stt_trace_close(t);
		return -2;
	}
	for (i = 0; i < t->n_processes; i++) {
		t->first[i + 1] = t->first[i] + t->threads[i];
	}
	if (stf_reader_clock(t->r, &t->resolution, &t->eventbits) < 0 || !(t->resolution > 0)) {
		t->resolution = 0;
	}
	return 0;
}

/* The threads whose records a data file holds. */
static void print_threads(char *text, size_t size, const struct stt_trace *t, uint32_t file)
{
	struct stf_anchor_file_declaration a;
	const struct stf_record *rec;
	struct stf_willy_list l = { 0 };
	uint32_t first = UINT32_MAX, last = 0, k;
	char low[64], high[64];
	size_t i;

	for (i = 0; (rec = stf_reader_record(t->r, STF_ID_anchor_file_declaration, i)); i++) {
		if (stf_get_anchor_file_declaration(rec, &a) == 0 && a.data_file == file) {
			rec = stf_reader_find(t->r, STF_ID_willy_list, a.willies);
			break;
		}
	}
	if (rec && stf_get_willy_list(rec, &l) == 0) {
		for (k = 0; k < l.size_1_3; k++) {
			first = k == 0 ? l.first_id[k] : first;
			last = l.last_id[k];
		}
	}
	if (!l.size_1_3) {
		snprintf(text, size, "threads unknown");
	} else if (first == last) {
		snprintf(text, size, "thread %s", stt_willy_name(t, first, low, sizeof(low)));
	} else {
		snprintf(text, size, "threads %s to %s", stt_willy_name(t, first, low, sizeof(low)),
			stt_willy_name(t, last, high, sizeof(high)));
	}
}

int stt_damage_text(const struct stt_trace *t, size_t i, char *text, size_t size)
{
	const struct stf_record *rec;
	struct stf_damage d;
	char threads[200], from[32], to[32];

	if (!stf_reader_damage(t->r, i, &d)) {
		return 0;
	}
	rec = stf_reader_find(t->r, STF_ID_file_declaration, d.file);
	if (!d.left_out) {
		snprintf(text, size,
			"%s does not have the checksum that the index states, or its size: any of its records may be "
			"wrong",
			d.suffix);
	} else if (!rec || stf_value(rec, "filetype")->u != STF_DATA_FILE) {
		snprintf(text, size, "%s: %" PRIu64 " bytes from offset %" PRIu64 " are damaged and left out", d.suffix,
			d.size, d.offset);
	} else {
		print_threads(threads, sizeof(threads), t, d.file);
		snprintf(text, size,
			"%s: %" PRIu64 " bytes from offset %" PRIu64 " are damaged and left out: %s, from %s s to %s s",
			d.suffix, d.size, d.offset, threads, stt_real((double)d.from * t->resolution, from),
			stt_real((double)d.to * t->resolution, to));
	}
	return 1;
}

int stt_cursor_fault(const struct stt_options *o, const struct stf_err *e)
{
	return e->code == STF_ERR_CHECKSUM ? STT_FAULT : stt_stf_fault(o, e);
}

int stt_damage(const struct stt_options *o, const struct stt_trace *t)
{
	char text[700];
	size_t i;

	for (i = 0; stt_damage_text(t, i, text, sizeof(text)); i++) {
		stt_fault(o, "%s: %s", t->path, text);
	}
	return i ? STT_FAULT : STT_OK;
}

void stt_trace_close(struct stt_trace *t)
{
	stf_reader_close(t->r);
	free(t->first);
	memset(t, 0, sizeof(*t));
}
