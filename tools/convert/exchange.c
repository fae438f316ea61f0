/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts to and from foreign trace formats. */
#include "config.h"
#include "tools/convert/exchange.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cli/temporary.h"
#include "tools/cli/files.h"

static int damage(void *user, size_t i, char *text, size_t size)
{
	return stt_damage_text(user, i, text, size);
}

static int refuse_ascii_input(const struct stt_options *o)
{
	stt_usage(
		o, "%s: the ASCII format is written but not read; give the trace that this text was made of", o->input);
	return -1;
}

static int find_input_format(const struct stt_options *o, const struct xch_format **f)
{
	char names[400];

	if (!strcasecmp(o->input_format, "STF") || !strcasecmp(o->input_format, "SINGLESTF") ||
		!strcasecmp(o->input_format, "STFSINGLE")) {
		return 0;
	}
	if (!strcasecmp(o->input_format, "ASCII")) {
		return refuse_ascii_input(o);
	}
	*f = xch_by_name(o->input_format);
	if (!*f || (!(*f)->read && !(*f)->missing)) {
		stt_usage(o, "--input-format: '%s' is none of STF, SINGLESTF, %s", o->input_format,
			xch_names(1, names, sizeof(names)));
		return -1;
	}
	return 0;
}

int stt_foreign_input(const struct stt_options *o, const struct xch_format **f)
{
	enum stt_format format;

	*f = NULL;
	if (o->input_format) {
		return find_input_format(o, f);
	}
	format = stt_input_format(o->input);
	if (format == STT_ASCII) {
		return refuse_ascii_input(o);
	}
	if (format != STT_SINGLE) {
		*f = xch_by_content(o->input);
	}
	return 0;
}

static void say_lost(const struct stt_options *o, const struct xch_writer *w, const char *to)
{
	char text[1000];

	if (*xch_lost_text(w, text, sizeof(text))) {
		stt_say(o, 1, "%s: %s has no place for: %s", to, w->format->name, text);
	}
	if (w->disordered) {
		stt_say(o, 1, "%s: %" PRIu64 " events are earlier than one before them", to, w->disordered);
	}
}

int stt_export(const struct stt_options *o, const struct xch_format *f, const char *to)
{
	struct xch_options x = { .force = o->force, .renew = !stt_is_input(o, to), .rate = o->rate, .damage = damage };
	struct xch_writer w;
	struct stt_trace t;
	struct tkm_err e;
	int rc;

	x.layout = o->layout == 1 ? XCH_WIDE : XCH_LONG;
	if (o->layout >= 0 && !f->table) {
		return stt_usage(o, "--layout is for tables, which %s is not", f->name);
	}
	if (o->rate && !f->rates) {
		return stt_usage(o, "--rate is for tables of samples, which %s is not", f->name);
	}
	if (stt_trace_open(&t, o, 0) < 0) {
		return STT_FAULT;
	}
	x.user = &t;
	if (xch_convert(t.r, o->input, f, to, &x, &w, &e) < 0) {
		stt_damage(o, &t);
		rc = e.code == TKM_ERR_ARG ? stt_usage(o, "%s", e.text) : stt_fault(o, "%s", e.text);
	} else {
		say_lost(o, &w, to);
		rc = stt_damage(o, &t);
		if (rc != STT_OK) {
			stt_fault(o, "%s was written without the damaged pieces of %s", to, o->input);
		}
	}
	stt_trace_close(&t);
	return rc;
}

int stt_import(const struct stt_options *o, const struct xch_format *f, const char *to, int single)
{
	struct xch_input in = { .path = o->input, .to = to };
	struct tkm_err e;

	if (single && !strcmp(to, "-")) {
		return stt_usage(o, "a trace made of %s cannot go to standard output; name a file", f->name);
	}
	in.stf.procs_per_file = (uint32_t)o->procs_per_file;
	in.stf.force = o->force;
	in.stf.compress = o->compress_trace > 0 ? (int)o->compress_trace : 0;
	in.stf.single = single ? STF_SINGLE_FILE : 0;
	if (xch_read(&in, f, &e) < 0) {
		return stt_fault(o, "%s", e.text);
	}
	if (*in.note) {
		stt_say(o, 1, "%s: %s", o->input, in.note);
	}
	return STT_OK;
}

/* ---- actions on a temporary STF trace ---- */

static char *make_import_directory(const struct stt_options *o)
{
	struct tkm_err err;
	char *dir = tkm_temporary_folder("stftool", &err);

	if (!dir) {
		stt_fault(o, "%s", err.text);
	}
	return dir;
}

int stt_on_import(const struct stt_options *o, const struct xch_format *f, int (*fn)(const struct stt_options *))
{
	struct stt_options on = *o;
	char *dir = make_import_directory(o), *path;
	int rc = STT_FAULT;

	if (!dir) {
		return STT_FAULT;
	}
	if (asprintf(&path, "%s/trace.stf", dir) >= 0) {
		on.compress_trace = on.procs_per_file = 0;
		rc = stt_import(&on, f, path, 0);
		on = *o;
		on.input = path;
		on.origin = o->input;
		on.input_format = "STF";
		if (rc == STT_OK) {
			rc = fn(&on);
		}
		free(path);
	}
	tkm_temporary_remove(dir);
	return rc;
}

int stt_export_part(const struct stt_options *o, const struct xch_format *f, const char *to,
	int (*make)(const struct stt_options *, const char *))
{
	struct stt_options on = *o;
	char *dir = make_import_directory(o), *path;
	int rc = STT_FAULT;

	if (!dir) {
		return STT_FAULT;
	}
	if (asprintf(&path, "%s/trace.stf", dir) >= 0) {
		on.logfile_format = "STF";
		on.verbose = 0;
		rc = make(&on, path);
		on = *o;
		on.input = path;
		rc = access(path, F_OK) == 0 ? rc | stt_export(&on, f, to) : rc;
		free(path);
	}
	tkm_temporary_remove(dir);
	return rc;
}
