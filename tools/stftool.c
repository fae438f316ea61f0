/* SPDX-License-Identifier: BSD-3-Clause */
/* stftool: prints, extracts, converts and checks STF traces. */
#include "config.h"
#include "tools/stftool.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tools/print.h"
#include "tools/vtf.h"

/* A closed standard output must not become the first file that is opened. */
static void occupy_standard_files(void)
{
	int fd;

	for (fd = 0; fd < 3; fd++) {
		if (fcntl(fd, F_GETFD) < 0) {
			/* the wrong way round, so that its use fails as on a closed file */
			open("/dev/null", fd ? O_RDONLY : O_WRONLY);
		}
	}
}

static int dump(const struct stt_options *o, const char *name)
{
	struct stt_request q;
	struct stt_trace t;
	struct stt_out out;
	struct tkm_err e;
	int rc = STT_FAULT;

	if (stt_request_parse(&q, o, &e) < 0) {
		stt_request_free(&q);
		return stt_usage(o, "%s", e.text);
	}
	if (stt_trace_open(&t, o, STF_READ_DAMAGED) < 0) {
		stt_request_free(&q);
		return STT_FAULT;
	}
	if (stt_request_bind(&q, &t, o, &e) < 0) {
		stt_fault(o, "%s", e.text);
	} else if (stt_out_begin(&out, name, o) == 0) {
		rc = vtf_print(&t, o, &q, out.f);
		if (stf_reader_fault(t.r)->code != STF_OK) {
			rc = stt_stf_fault(o, &t, stf_reader_fault(t.r));
		}
		if (stt_out_end(&out, o) < 0) {
			rc = STT_FAULT;
		}
	}
	stt_trace_close(&t);
	stt_request_free(&q);
	return rc;
}

static int wants_tables(const struct stt_options *o)
{
	return o->print_clock || o->print_counters || o->print_errors || o->print_files || o->print_reports ||
	       o->print_statistics || o->print_threads;
}

static int print_tables(const struct stt_options *o)
{
	struct stt_report r = { .o = o };
	struct stt_trace t;
	int rc;

	if (o->json && !stt_have_json()) {
		return stt_fault(o, "--json: this build has no jansson (configure --with-jansson)");
	}
	if (stt_trace_open(&t, o, STF_READ_DAMAGED) < 0) {
		return STT_FAULT;
	}
	rc = o->print_threads ? stt_print_threads(&r, &t) : STT_OK;
	rc |= o->print_files ? stt_print_files(&r, &t) : STT_OK;
	rc |= o->print_statistics ? stt_print_statistics(&r, &t) : STT_OK;
	rc |= o->print_reports ? stt_print_reports(&r, &t, 0) : STT_OK;
	rc |= o->print_errors ? stt_print_reports(&r, &t, 1) : STT_OK;
	rc |= o->print_clock ? stt_print_clock(&r, &t) : STT_OK;
	rc |= o->print_counters ? stt_print_counters(&r, &t) : STT_OK;
	rc |= stt_report_end(&r);
	if (stf_reader_fault(t.r)->code != STF_OK) {
		rc = stt_stf_fault(o, &t, stf_reader_fault(t.r));
	}
	stt_trace_close(&t);
	return rc;
}

static int run(const struct stt_options *o)
{
	if (!o->input) {
		return stt_usage(o, "no input file; %s --help shows how", o->program);
	}
	if (wants_tables(o)) {
		return print_tables(o);
	}
	if (o->dump) {
		return dump(o, "-");
	}
	if (o->logfile_name) {
		return dump(o, o->logfile_name);
	}
	return stt_usage(o, "what to do with %s? --dump prints it, --logfile-name says where the output goes", o->input);
}

int stt_main(int argc, char **argv, int expand)
{
	struct stt_options o = { .program = expand ? "xstftool" : "stftool", .expand = expand };
	struct tkm_err e;
	int rc;

	occupy_standard_files();
	rc = stt_options_parse(argc, argv, &o, &e);
	rc = rc < 0 ? stt_usage(&o, "%s", e.text) : rc > 0 ? STT_OK : run(&o);
	stt_options_free(&o);
	if (fflush(stdout) != 0 && rc == STT_OK) {
		rc = stt_fault(&o, "cannot write to standard output: %s", strerror(errno));
	}
	return rc;
}
