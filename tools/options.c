/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of stftool: configuration file, then VT_ variables, then the command line. */
#include "config.h"
#include "tools/stftool.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_OPTIONS = 40 };

/* The table points into *o, so it is made on the caller's stack. Alphabetical: so is the help. */
static void make_table(struct stt_options *o, struct tkm_option *t)
{
	const struct tkm_option all[] = {
		{ "BYTE-ORDER", TKM_OPTION_TEXT, &o->byte_order, 0, 0, "little|big",
		  "with --recover: the byte order, where nothing says it" },
		{ "CLOCK", TKM_OPTION_TEXT, &o->clock, 0, 0, "FILE", "with --merge: correct the clocks of the ranks as FILE.clk says" },
		{ "COMPRESS-TRACE", TKM_OPTION_LEVEL, &o->compress_trace, 0, 19, "[on|off|LEVEL]",
		  "compress an STF trace that is written, with zstd" },
		{ "CONFIG", TKM_OPTION_TEXT, &o->config, 0, 0, "FILE", "read options from FILE (default: $VT_CONFIG)" },
		{ "CONVERT", TKM_OPTION_NAME, &o->convert, 0, 0, "[FILE]",
		  "write the whole trace in the format of FILE's suffix or --logfile-format" },
		{ "CSV", TKM_OPTION_BOOL, &o->csv, 0, 0, NULL, "print tables as comma-separated values" },
		{ "DELETE-RAW-DATA", TKM_OPTION_BOOL, &o->delete_raw_data, 0, 0, NULL, "with --merge: remove the raw files" },
		{ "DUMP", TKM_OPTION_BOOL, &o->dump, 0, 0, NULL, "print the trace as ASCII VTF on standard output" },
		{ "EXTENDED-VTF", TKM_OPTION_BOOL, &o->extended_vtf, 0, 0, "[on|off]",
		  "also print records that old VTF readers do not know (default on)" },
		{ "FORCE", TKM_OPTION_BOOL, &o->force, 0, 0, NULL, "replace output files that exist" },
		{ "HELP", TKM_OPTION_BOOL, &o->help, 0, 0, NULL, "print this text" },
		{ "JSON", TKM_OPTION_BOOL, &o->json, 0, 0, NULL, "print tables as JSON" },
		{ "LOGFILE-FORMAT", TKM_OPTION_TEXT, &o->logfile_format, 0, 0, "ASCII|STF|SINGLESTF", "format of the output" },
		{ "LOGFILE-NAME", TKM_OPTION_TEXT, &o->logfile_name, 0, 0, "FILE", "name of the output, - for standard output" },
		{ "LOGFILE-PREFIX", TKM_OPTION_TEXT, &o->logfile_prefix, 0, 0, "DIR", "where relative output names begin" },
		{ "MATCHED-VTF", TKM_OPTION_BOOL, &o->matched_vtf, 0, 0, NULL, "a message or a collective operation on one line" },
		{ "MERGE", TKM_OPTION_NAME, &o->merge, 0, 0, "[FILE]", "make a trace of raw files (FILE... are VT-flush-*.dat)" },
		{ "MOVE", TKM_OPTION_NAME, &o->move, 0, 0, "[FILE|DIR]", "give the trace and its components another name" },
		{ "PRINT-CLOCK", TKM_OPTION_BOOL, &o->print_clock, 0, 0, NULL,
		  "clock, period, event bits, and what the trace says of its correction" },
		{ "PRINT-COUNTERS", TKM_OPTION_BOOL, &o->print_counters, 0, 0, NULL,
		  "counters, with samples, minimum, mean and maximum per thread" },
		{ "PRINT-ERRORS", TKM_OPTION_BOOL, &o->print_errors, 0, 0, NULL, "errors found in the application" },
		{ "PRINT-FILES", TKM_OPTION_BOOL, &o->print_files, 0, 0, NULL, "components and their sizes" },
		{ "PRINT-REPORTS", TKM_OPTION_BOOL, &o->print_reports, 0, 0, NULL, "reports of the message checker" },
		{ "PRINT-STATISTICS", TKM_OPTION_BOOL, &o->print_statistics, 0, 0, NULL, "statistics stored in the trace" },
		{ "PRINT-THREADS", TKM_OPTION_BOOL, &o->print_threads, 0, 0, NULL, "threads, hosts, process ids, clocks" },
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
		{ "SUMDATA", TKM_OPTION_NAME, &o->sumdata, 0, 0, "[FILE]", "refused: the format of summary data files is not public" },
		{ "TICKS", TKM_OPTION_BOOL, &o->ticks, 0, 0, NULL, "times of --request are clock ticks" },
		{ "VERBOSE", TKM_OPTION_LEVEL, &o->verbose, 0, 4, "[on|off|LEVEL]",
		  "0 says nothing, 1 the result (default), 2 progress" },
		{ "VERIFY", TKM_OPTION_BOOL, &o->verify, 0, 0, NULL, "check the whole trace; exit status 1 if it has faults" },
		{ "VERSION", TKM_OPTION_BOOL, &o->version, 0, 0, NULL, "print the version" },
	};

	memcpy(t, all, sizeof(all));
	t[sizeof(all) / sizeof(all[0])] = (struct tkm_option){ .name = NULL };
}

static void print_help(const struct stt_options *o, const struct tkm_option *t)
{
	char name[64], left[120];

	printf("Usage: %s FILE [OPTION...]\n", o->program);
	printf("%s\n\n", o->expand ?
	       "Prints an STF trace as text, with names in place of numbers." :
	       "Prints, extracts, converts, checks, moves and removes STF traces; FILE is T.stf, T.single.stf or T.avt.");
	for (; t->name; t++) {
		snprintf(left, sizeof(left), "--%s%s%s", tkm_option_long(t, name, sizeof(name)), t->arg ? " " : "",
			 t->arg ? t->arg : "");
		printf("  %-*s%s%s\n", 30, left, strlen(left) > 28 ? "\n                                " : "  ", t->help);
	}
	printf("\nAn option --some-name is also SOME-NAME in the configuration file and VT_SOME_NAME in the environment;\n"
	       "the file is read first, the command line last, and the later one wins. Exit status: 0 all is well,\n"
	       "1 the trace has faults or cannot be read or written, 2 wrong usage.\n");
}

static int check(const struct stt_options *o, struct tkm_err *err)
{
	static const char *const formats[] = { "ASCII", "STF", "STFSINGLE", "SINGLESTF" };
	int i, ok = !o->logfile_format;

	for (i = 0; i < 4 && !ok; i++) {
		ok = !strcasecmp(o->logfile_format, formats[i]);
	}
	if (!ok) {
		return tkm_fail(err, TKM_ERR_ARG, "--logfile-format: '%s' is not ASCII, STF, STFSINGLE or SINGLESTF",
				o->logfile_format);
	}
	if (o->byte_order && strcasecmp(o->byte_order, "little") && strcasecmp(o->byte_order, "big")) {
		return tkm_fail(err, TKM_ERR_ARG, "--byte-order: '%s' is neither little nor big", o->byte_order);
	}
	if (o->json && o->csv) {
		return tkm_fail(err, TKM_ERR_ARG, "--json and --csv exclude each other");
	}
	return 0;
}

/* The file has to be known before the rest of the command line counts. */
static int read_config(const struct tkm_option *t, int argc, char **argv, struct stt_options *o, struct tkm_err *err)
{
	const char *path = getenv("VT_CONFIG");
	FILE *f;
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strncasecmp(argv[i], "--config=", 9)) {
			return tkm_option_file(t, argv[i] + 9, &o->storage, err);
		}
		if (!strcasecmp(argv[i], "--config") && i + 1 < argc) {
			return tkm_option_file(t, argv[i + 1], &o->storage, err);
		}
	}
	f = path && *path ? fopen(path, "re") : NULL;
	if (!f) {
		return 0; /* the guide: read if it exists and is readable */
	}
	fclose(f);
	return tkm_option_file(t, path, &o->storage, err);
}

int stt_options_parse(int argc, char **argv, struct stt_options *o, struct tkm_err *err)
{
	struct tkm_option table[MAX_OPTIONS];
	int n;
	int i;

	o->extended_vtf = 1;
	o->use_hw_structure = -1;
	o->compress_trace = -1;
	o->verbose = 1;
	o->dump = o->expand;
	make_table(o, table);
	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-?") || !strcmp(argv[i], "-h")) {
			print_help(o, table);
			return 1;
		}
		if (!strcmp(argv[i], "--version") || !strcmp(argv[i], "-V")) {
			printf("%s (%s)\n", o->program, PACKAGE_STRING);
			return 1;
		}
	}
	o->inputs = calloc((size_t)argc + 1, sizeof(*o->inputs));
	if (!o->inputs) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
	}
	if (read_config(table, argc, argv, o, err) < 0 || tkm_option_environment(table, err) < 0 ||
	    (n = tkm_option_arguments(table, argc, argv, o->inputs, argc, err)) < 0) {
		return -1;
	}
	if (n > 1 && !o->merge) {
		return tkm_fail(err, TKM_ERR_ARG, "'%s': one argument too many", o->inputs[1]);
	}
	o->n_inputs = n;
	o->input = o->inputs[0];
	return check(o, err);
}

void stt_options_free(struct stt_options *o)
{
	struct tkm_option table[MAX_OPTIONS];

	make_table(o, table);
	tkm_option_free(table, o->storage);
	o->storage = NULL;
	free(o->inputs);
	o->inputs = NULL;
}

static int ends_in(const char *name, const char *suffix)
{
	size_t n = strlen(name), k = strlen(suffix);

	return n >= k && !strcasecmp(name + n - k, suffix);
}

enum stt_format stt_output_format(const struct stt_options *o, const char *name)
{
	if (o->logfile_format) {
		return !strcasecmp(o->logfile_format, "ASCII") ? STT_ASCII :
		       !strcasecmp(o->logfile_format, "STF")   ? STT_STF :
								 STT_SINGLE;
	}
	return !strcmp(name, "-") || ends_in(name, ".avt") ? STT_ASCII :
	       ends_in(name, ".single.stf")		   ? STT_SINGLE :
							     STT_STF;
}
