/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of stftool: configuration file, then VT_ variables, then the command line. make_stftool_options() is a single
 * table, so it is longer than other functions. */
#include "config.h"
#include "tools/cli/stftool.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cli/front.h"
#include "base/text/text.h"

enum { MAX_OPTIONS = 64 };

/* The table points into *o, so it is made on the caller's stack. It is in alphabetical order, and so is the help. */
static void make_stftool_options(struct stt_options *o, struct tkm_option *t)
{
	/* clang-format off */
	const struct tkm_option all[] = {
		{ "ANALYZE", TKM_OPTION_BOOL, &o->analyze, 0, 0, NULL,
		  "print which ranks wait for which in MPI, and which share of the time is computation" },
		{ "BYTE-ORDER", TKM_OPTION_WORD, &o->byte_order, 0, 0, "little|big",
		  "with --recover: the byte order, where nothing says it" },
		{ "CLOCK", TKM_OPTION_TEXT, &o->clock, 0, 0, "FILE", "with --merge: correct the clocks of the ranks as FILE.clk says" },
		{ "COMPRESS-TRACE", TKM_OPTION_LEVEL, &o->compress_trace, 0, 19, "[on|off|LEVEL]",
		  "compress an STF trace that is written, with zstd (default: on with --merge)" },
		{ "CONFIG", TKM_OPTION_TEXT, &o->config, 0, 0, "FILE", "read options from FILE (default: $VT_CONFIG)" },
		{ "CONVERT", TKM_OPTION_NAME, &o->convert, 0, 0, "[FILE]",
		  "write the whole trace in the format of FILE's suffix or --logfile-format" },
		{ "CSV", TKM_OPTION_BOOL, &o->csv, 0, 0, NULL, "print tables as comma-separated values" },
		{ "DELETE-RAW-DATA", TKM_OPTION_BOOL, &o->delete_raw_data, 0, 0, NULL, "with --merge: remove the raw files" },
		{ "DUMP", TKM_OPTION_BOOL, &o->dump, 0, 0, NULL, "print the trace as ASCII VTF on standard output" },
		{ "EXTENDED-VTF", TKM_OPTION_BOOL, &o->extended_vtf, 0, 0, "[on|off]",
		  "also print records that old VTF readers do not know (default on)" },
		{ "FAIL-BELOW", TKM_OPTION_TEXT, &o->fail_below, 0, 0, "NAME=SHARE,...",
		  "with --analyze: exit status 4 if an efficiency is below, like efficiency=0.7" },
		{ "FASTER", TKM_OPTION_TEXT, &o->faster, 0, 0, "FUNCTION=PERCENT",
		  "print the time of the run with so much less time in that function; --logfile-name: write its trace" },
		{ "FORCE", TKM_OPTION_BOOL, &o->force, 0, 0, NULL, "replace output files that exist" },
		{ "IDEAL", TKM_OPTION_NAME, &o->ideal, 0, 0, "[LATENCY:BANDWIDTH]",
		  "print the time of the run with an ideal network, or one like 1us:10GB; --logfile-name: write its trace" },
		{ "INPUT-FORMAT", TKM_OPTION_TEXT, &o->input_format, 0, 0, "FORMAT",
		  "format of the input, where neither its name nor its content tells" },
		{ "JSON", TKM_OPTION_BOOL, &o->json, 0, 0, NULL, "print tables as JSON" },
		{ "LAYOUT", TKM_OPTION_WORD, &o->layout, 0, 0, "long|wide",
		  "of CSV: a line for each value (default), or a column for each counter" },
		{ "LOGFILE-FORMAT", TKM_OPTION_TEXT, &o->logfile_format, 0, 0, "FORMAT",
		  "format of the output: ASCII, STF, SINGLESTF, or one of those below" },
		{ "LOGFILE-NAME", TKM_OPTION_TEXT, &o->logfile_name, 0, 0, "FILE", "name of the output, - for standard output" },
		{ "LOGFILE-PREFIX", TKM_OPTION_TEXT, &o->logfile_prefix, 0, 0, "DIR", "where relative output names begin" },
		{ "MATCHED-VTF", TKM_OPTION_BOOL, &o->matched_vtf, 0, 0, NULL, "a message or a collective operation on one line" },
		{ "MERGE", TKM_OPTION_NAME, &o->merge, 0, 0, "[FILE]", "make a trace of raw files (FILE... are .VT-flush-*.raw)" },
		{ "MOVE", TKM_OPTION_NAME, &o->move, 0, 0, "[FILE|DIR]", "give the trace and its components another name" },
		{ "PRINT-CLOCK", TKM_OPTION_BOOL, &o->print_clock, 0, 0, NULL,
		  "clock, period, event bits, and what the trace says of its correction" },
		{ "PRINT-COUNTERS", TKM_OPTION_BOOL, &o->print_counters, 0, 0, NULL,
		  "counters, with samples, minimum, mean and maximum per thread" },
		{ "PRINT-ERRORS", TKM_OPTION_BOOL, &o->print_errors, 0, 0, NULL, "errors found in the application" },
		{ "PRINT-FILES", TKM_OPTION_BOOL, &o->print_files, 0, 0, NULL, "components and their sizes" },
		{ "PRINT-REPORTS", TKM_OPTION_BOOL, &o->print_reports, 0, 0, NULL, "reports of the message checker" },
		{ "PRINT-STATISTICS", TKM_OPTION_BOOL, &o->print_statistics, 0, 0, NULL, "statistics stored in the trace, else those of its events" },
		{ "PRINT-THREADS", TKM_OPTION_BOOL, &o->print_threads, 0, 0, NULL, "threads, hosts, process ids, clocks" },
		{ "RATE", TKM_OPTION_BOOL, &o->rate, 0, 0, NULL, "to CSV: running totals as change per second" },
		{ "RECOVER", TKM_OPTION_NAME, &o->recover, 0, 0, "[FILE]", "write what is readable of a damaged trace to FILE" },
		{ "REMOVE", TKM_OPTION_BOOL, &o->remove, 0, 0, NULL, "remove the trace and its components" },
		{ "REQUEST", TKM_OPTION_LIST, &o->request, 0, 0, "[TYPE,][THREADS,][CATEGORIES,][WINDOW]",
		  "only these records, like 0:3, COUNTERS, 1s:5s; several times for more" },
		{ "RESOLUTION", TKM_OPTION_TIME, &o->resolution, 1e-18, 1e6, "TIME",
		  "with --recover: length of a time-stamp unit, such as 1ns, where nothing says it" },
		{ "STF-PROCS-PER-FILE", TKM_OPTION_COUNT, &o->procs_per_file, 0, 65536, "N",
		  "processes that share a file of a trace that is written (default 0: all)" },
		{ "STF-USE-HW-STRUCTURE", TKM_OPTION_BOOL, &o->use_hw_structure, 0, 0, "[on|off]",
		  "with --merge: only processes of one node share a file (default: on with several nodes)" },
		{ "SUMDATA", TKM_OPTION_NAME, &o->sumdata, 0, 0, "[FILE]", "write what is computed of the whole trace to FILE.sum.fnc, .cop and .msg" },
		{ "TICKS", TKM_OPTION_BOOL, &o->ticks, 0, 0, NULL, "times of --request are clock ticks" },
		{ "VERBOSE", TKM_OPTION_LEVEL, &o->verbose, 0, 4, "[on|off|LEVEL]",
		  "0 says nothing, 1 the result (default), 2 progress" },
		{ "VERIFY", TKM_OPTION_BOOL, &o->verify, 0, 0, NULL, "check the whole trace; exit status 1 if it has faults" },
		{ "WHO", TKM_OPTION_BOOL, &o->who, 0, 0, NULL, "print the rank that the others wait for, as one line" },
	};
	/* clang-format on */

	_Static_assert(sizeof(all) / sizeof(all[0]) < MAX_OPTIONS, "the table has no room for all options");
	memcpy(t, all, sizeof(all));
	t[sizeof(all) / sizeof(all[0])] = (struct tkm_option){ .name = NULL };
}

/* The text after the options in the help; NULL without memory. The caller frees it. */
static char *help_after(void)
{
	const struct xch_format *f;
	char *text = NULL;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	if (!out) {
		return NULL;
	}
	fprintf(out, "Other formats, by suffix or --logfile-format and --input-format:\n");
	for (i = 0; (f = xch_table(i)); i++) {
		fprintf(out, "%-11s %-17s %-13s %s\n", f->name, f->suffix,
			f->open && f->read   ? "write, read"
				: f->open    ? "write"
				: f->missing ? "not built in"
					     : "read",
			f->what);
	}
	fprintf(out,
		"\nAn option --some-name is also SOME-NAME in the configuration file and VT_SOME_NAME in the "
		"environment. The environment overrides the file, and the command line overrides both.\nExit status: 0 "
		"all is "
		"well, 1 the trace has faults or cannot be read or written, 2 wrong usage, 4 an "
		"efficiency is below --fail-below.");
	return tkm_text_end(out, &text) < 0 ? NULL : text;
}

static int own_format(const char *name)
{
	static const char *const formats[] = { "ASCII", "STF", "STFSINGLE", "SINGLESTF" };
	int i, own = 0;

	for (i = 0; i < 4 && !own; i++) {
		own = !strcasecmp(name, formats[i]);
	}
	return own;
}

/* The way out for scripts that name the format for speedscope alone, which is no more. */
static const char speedscope[] = "speedscope opens what --convert T.json --logfile-format CHROME writes";

static int check_stftool_options(const struct stt_options *o, struct tkm_err *err)
{
	char names[400];

	if (o->logfile_format && !strcasecmp(o->logfile_format, "SPEEDSCOPE")) {
		return tkm_fail(err, TKM_ERR_ARG, "--logfile-format: there is no SPEEDSCOPE; %s", speedscope);
	}
	if (o->logfile_format && !own_format(o->logfile_format) && !xch_by_name(o->logfile_format)) {
		return tkm_fail(err, TKM_ERR_ARG,
			"--logfile-format: '%s' is none of ASCII, STF, SINGLESTF, STFSINGLE, %s", o->logfile_format,
			xch_names(0, names, sizeof(names)));
	}
	if (o->json && o->csv) {
		return tkm_fail(err, TKM_ERR_ARG, "--json and --csv exclude each other");
	}
	if (o->expand && (o->remove || o->move)) {
		return tkm_fail(err, TKM_ERR_ARG, "xstftool only prints; stftool FILE %s does this",
			o->remove ? "--remove" : "--move");
	}
	return 0;
}

int stt_options_parse(int argc, char **argv, struct stt_options *o, struct tkm_err *err)
{
	static const struct tkm_needs needs[] = { { "BYTE-ORDER", "RECOVER" }, { "RESOLUTION", "RECOVER" },
		{ "CLOCK", "MERGE" }, { "CSV", "PRINT-..." }, { "CSV", "ANALYZE" }, { "JSON", "PRINT-..." },
		{ "JSON", "ANALYZE" }, { "FAIL-BELOW", "ANALYZE" }, { "TICKS", "REQUEST" }, { .name = NULL } };
	struct tkm_option table[MAX_OPTIONS];
	struct tkm_front front = { .program = o->program,
		.arguments = "FILE [OPTION...]",
		.what = o->expand ? "Prints an STF trace as text, with names in place of numbers."
				  : "Prints, extracts, converts, checks, moves and removes STF traces; FILE is T.stf, "
				    "T.single.stf, or a trace in one of the formats below.",
		.table = table,
		.needs = needs,
		.environment = 1,
		.storage = &o->storage };
	char *after = help_after();
	int n;

	o->extended_vtf = 1;
	o->use_hw_structure = -1;
	o->compress_trace = -1;
	o->byte_order = o->layout = -1;
	o->verbose = 1;
	o->dump = o->expand;
	make_stftool_options(o, table);
	o->inputs = calloc((size_t)argc + 1, sizeof(*o->inputs));
	if (!o->inputs || !after) {
		free(after);
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
	}
	front.after = after;
	n = tkm_front_arguments(&front, argc, argv, o->inputs, argc, err);
	free(after);
	if (n < 0) {
		return n == TKM_FRONT_ANSWERED ? 1 : -1;
	}
	if (n > 1 && !o->merge) {
		return tkm_fail(err, TKM_ERR_ARG, "'%s': one argument too many", o->inputs[1]);
	}
	o->n_inputs = n;
	o->input = o->inputs[0];
	return check_stftool_options(o, err);
}

void stt_options_free(struct stt_options *o)
{
	struct tkm_option table[MAX_OPTIONS];

	make_stftool_options(o, table);
	tkm_option_free(table, o->storage);
	o->storage = NULL;
	free(o->inputs);
	o->inputs = NULL;
}

static int name_ends_in(const char *name, const char *suffix)
{
	size_t n = strlen(name), k = strlen(suffix);

	return n >= k && !strcasecmp(name + n - k, suffix);
}

enum stt_format stt_output_format(const struct stt_options *o, const char *name)
{
	if (o->logfile_format) {
		return !strcasecmp(o->logfile_format, "ASCII")  ? STT_ASCII
			: !strcasecmp(o->logfile_format, "STF") ? STT_STF
								: STT_SINGLE;
	}
	return !strcmp(name, "-") || name_ends_in(name, ".avt") ? STT_ASCII
		: name_ends_in(name, ".single.stf")             ? STT_SINGLE
								: STT_STF;
}

int stt_foreign_output(const struct stt_options *o, const char *name, const struct xch_format **f)
{
	const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name, *dot = strrchr(base, '.');
	char names[400];
	size_t i, n = 0;

	*f = NULL;
	if (o->logfile_format) {
		*f = own_format(o->logfile_format) ? NULL : xch_by_name(o->logfile_format);
		return 0;
	}
	*f = xch_by_suffix(name);
	if (*f || !dot || dot == base || name_ends_in(name, ".stf") || name_ends_in(name, ".avt")) {
		return 0;
	}
	if (name_ends_in(name, ".speedscope.json")) {
		stt_usage(o, "%s: no format has the suffix .speedscope.json; %s", name, speedscope);
		return -1;
	}
	for (i = 0; xch_table(i) && n < sizeof(names); i++) {
		n += (size_t)snprintf(names + n, sizeof(names) - n, ", %s", xch_table(i)->suffix);
	}
	stt_usage(o, "%s: no format has the suffix %s; there are .stf, .single.stf, .avt%s, and --logfile-format", name,
		dot, names);
	return -1;
}

int stt_only_stf(const struct stt_options *o, const char *option, const char *name)
{
	const struct xch_format *f;

	if (stt_foreign_output(o, name, &f) < 0) {
		return -1;
	}
	if (f) {
		stt_usage(o, "%s writes STF; --convert makes %s of that", option, f->name);
		return -1;
	}
	return 0;
}
