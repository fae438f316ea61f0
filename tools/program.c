/* SPDX-License-Identifier: BSD-3-Clause */
/* stftool: prints, extracts, converts and checks STF traces. */
#include "config.h"
#include "tools/cli/stftool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli/await.h"
#include "collector-plugin/raw/reader.h"
#include "tools/convert/convert.h"
#include "tools/convert/exchange.h"
#include "tools/cli/files.h"
#include "tools/convert/merge.h"
#include "tools/convert/play.h"
#include "tools/convert/sumdata.h"
#include "tools/print/print.h"
#include "tools/cli/request.h"
#include "tools/check/verify.h"
#include "tools/cli/stdin.h"

/* If standard output is closed, the first file that is opened must not take its place. */
static void occupy_standard_files(void)
{
	int fd;

	for (fd = 0; fd < 3; fd++) {
		if (fcntl(fd, F_GETFD) < 0) {
			/* opened for the wrong direction, so that its use fails as on a closed file */
			open("/dev/null", fd ? O_RDONLY : O_WRONLY);
		}
	}
}

/* The name of an output, with --logfile-prefix before a relative name. The caller frees it. */
static char *output_name(const struct stt_options *o, const char *name)
{
	char *full;

	if (!o->logfile_prefix || *name == '/' || !strcmp(name, "-")) {
		return strdup(name);
	}
	return asprintf(&full, "%s/%s", o->logfile_prefix, name) < 0 ? NULL : full;
}

/* The options whose file name may follow them or be given with --logfile-name. */
static int with_name(const struct stt_options *o, const char *option, const char *name,
	int (*fn)(const struct stt_options *, const char *))
{
	char *full;
	int rc;

	name = *name ? name : o->logfile_name;
	if (!name || !*name) {
		return stt_usage(o, "%s needs a file name, or --logfile-name", option);
	}
	full = output_name(o, name);
	rc = full ? fn(o, full) : stt_fault(o, "out of memory");
	free(full);
	return rc;
}

static int wants_tables(const struct stt_options *o)
{
	return o->analyze || o->who || o->print_clock || o->print_counters || o->print_errors || o->print_files ||
		o->print_reports || o->print_statistics || o->print_threads;
}

static int print_each(const struct stt_options *o, const struct stt_request *q, const struct stt_trace *t)
{
	struct stt_report r = { .o = o, .req = q };
	int rc = o->print_threads ? stt_print_threads(&r, t) : STT_OK;

	rc |= o->print_files ? stt_print_files(&r, t) : STT_OK;
	rc |= o->print_statistics ? stt_print_statistics(&r, t) : STT_OK;
	rc |= o->print_reports ? stt_print_reports(&r, t, 0) : STT_OK;
	rc |= o->print_errors ? stt_print_reports(&r, t, 1) : STT_OK;
	rc |= o->print_clock ? stt_print_clock(&r, t) : STT_OK;
	rc |= o->print_counters ? stt_print_counters(&r, t) : STT_OK;
	rc |= o->analyze ? stt_print_analysis(&r, t) : STT_OK;
	rc |= o->who ? stt_print_who(&r, t) : STT_OK;
	return rc | stt_report_end(&r);
}

static int print_tables(const struct stt_options *o)
{
	struct stt_request q;
	struct stt_trace t;
	struct tkm_err e;
	int rc = STT_FAULT;

	if (o->json && !stt_have_json()) {
		return stt_fault(o, "--json: this build has no jansson (configure --with-jansson)");
	}
	if (stt_request_parse(&q, o, &e) < 0) {
		rc = stt_usage(o, "%s", e.text);
	} else if (stt_trace_open(&t, o, STF_READ_DAMAGED) == 0) {
		rc = stt_request_bind(&q, &t, o, &e) < 0 ? stt_fault(o, "%s", e.text) : print_each(o, &q, &t);
		if (stf_reader_fault(t.r)->code != STF_OK) {
			rc = stt_stf_fault(o, stf_reader_fault(t.r));
		}
		rc |= stt_damage(o, &t);
		stt_trace_close(&t);
	}
	stt_request_free(&q);
	return rc;
}

/* --merge --sumdata TRACE: the summary data of the merged trace. */
static int merge_and_sum(const struct stt_options *o, const char *to)
{
	struct stt_options merged = *o;
	int rc = stt_merge(o, to);

	merged.input = to;
	return rc == STT_OK && o->sumdata ? stt_sumdata(&merged, to) : rc;
}

static int run_action(const struct stt_options *o)
{
	int actions = (o->convert != NULL) + (o->ideal || o->faster) + (o->move != NULL) + (o->recover != NULL) +
		(o->sumdata != NULL) + o->remove + o->verify;

	if (o->delete_raw_data) {
		return stt_usage(o, "--delete-raw-data only goes with --merge");
	}
	if (actions + wants_tables(o) > 1) {
		return stt_usage(o,
			"only one of --convert, --ideal or --faster, --move, --recover, --remove, --verify and --analyze or --print-... at "
			"a time");
	}
	if (wants_tables(o)) {
		return print_tables(o);
	}
	if (o->convert) {
		return with_name(o, "--convert", o->convert, stt_convert);
	}
	if (o->move) {
		return with_name(o, "--move", o->move, stt_move);
	}
	if (o->sumdata) {
		return with_name(o, "--sumdata", *o->sumdata || o->logfile_name ? o->sumdata : o->input, stt_sumdata);
	}
	if (o->recover) {
		return with_name(o, "--recover", o->recover, stt_recover);
	}
	if (o->remove) {
		return stt_remove(o);
	}
	if (o->verify) {
		return stt_verify(o);
	}
	if (o->ideal || o->faster) {
		return o->logfile_name ? with_name(o, "--ideal", "", stt_play_to) : stt_play_to(o, NULL);
	}
	if (o->dump) {
		struct stt_options ascii = *o;

		ascii.logfile_format = "ASCII";
		return stt_extract(&ascii, o->expand && o->logfile_name ? o->logfile_name : "-");
	}
	if (o->logfile_name) {
		return with_name(o, "--logfile-name", "", stt_extract);
	}
	return stt_usage(o, "what to do with %s? --dump prints it, --logfile-name says where the output goes",
		o->origin ? o->origin : o->input);
}

/* An input that is not an STF trace is converted to one first, unless that conversion is the whole request. */
static int run_stftool(const struct stt_options *o)
{
	const struct xch_format *from, *to = NULL;
	char why[9000];

	if (!o->input) {
		return stt_usage(o, "no input file; %s --help shows how", o->program);
	}
	if (o->merge) {
		return with_name(o, "--merge", *o->merge || !o->sumdata ? o->merge : o->sumdata, merge_and_sum);
	}
	tkm_await_trace(o->input, vt_raw_maker, 0, stderr, o->program, why, sizeof(why));
	if (why[0]) {
		return stt_fault(o, "%s", why);
	}
	if (stt_foreign_input(o, &from) < 0) {
		return STT_USAGE;
	}
	if (!from) {
		return run_action(o);
	}
	if (o->move || o->remove || o->recover || o->verify) {
		return stt_usage(o, "%s is %s; --move, --remove, --recover and --verify are for STF traces", o->input,
			from->name);
	}
	if (o->convert) {
		const char *name = *o->convert ? o->convert : o->logfile_name;

		if (name && stt_foreign_output(o, name, &to) < 0) {
			return STT_USAGE;
		}
		if (!to && name && stt_output_format(o, name) != STT_ASCII) {
			return run_action(o);
		}
	}
	return stt_on_import(o, from, run_action);
}

int stt_main(int argc, char **argv, const char *program)
{
	struct stt_options o = { .program = program, .expand = !strcmp(program, "xstftool") };
	struct tkm_err e;
	int rc;

	occupy_standard_files();
	signal(SIGXFSZ, SIG_IGN); /* exceeding the file size limit is reported and does not end the program */
	rc = stt_options_parse(argc, argv, &o, &e);
	rc = rc < 0                      ? stt_usage(&o, "%s", e.text)
		: rc > 0                 ? STT_OK
		: stt_take_stdin(&o) < 0 ? STT_FAULT
					 : run_stftool(&o);
	stt_options_free(&o);
	if (rc & STT_BELOW && rc != STT_BELOW) { /* what cannot be read is not below a limit, but wrong */
		rc &= ~STT_BELOW;
	}
	if (fflush(stdout) != 0 && rc == STT_OK) {
		rc = stt_fault(&o, "cannot write to standard output: %s", strerror(errno));
	}
	return rc;
}
