/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations that the files of stftool and xstftool share: options, an opened trace, output, errors. */
#ifndef TOOLS_CLI_STFTOOL_H
#define TOOLS_CLI_STFTOOL_H

#include <stdio.h>

#include "base/err.h"
#include "base/newfile.h"
#include "base/cli/option.h"
#include "exchange/common/format.h"
#include "include/stf.h"

enum { STT_OK = 0, STT_FAULT = 1, STT_USAGE = 2, STT_BELOW = 4 }; /* exit statuses */

enum stt_format { STT_UNSAID, STT_ASCII, STT_STF, STT_SINGLE };

struct stt_options {
	const char *program;
	int expand; /* the program is xstftool */
	const char *input;
	const char *origin;  /* what was converted to the temporary trace `input`; NULL: that is no such trace */
	const char *scratch; /* a directory with links to files elsewhere; NULL: none */
	const char **inputs; /* all inputs: raw files of --merge. The array is owned */
	int n_inputs;
	int byte_order;    /* with --recover: 0 little, 1 big; -1: not given */
	int layout;        /* of CSV: 0 long, 1 wide; -1: not given */
	double resolution; /* in seconds; 0: not given */
	const char *fail_below;
	const char *config, *clock, *convert, *faster, *ideal, *input_format, *logfile_format, *logfile_name,
		*logfile_prefix, *move, *merge, *recover, *sumdata;
	int analyze, who, csv, delete_raw_data, dump, extended_vtf, force, json, matched_vtf, rate, remove, ticks,
		verify;
	int use_hw_structure; /* -1: yes if there are several nodes */
	int print_clock, print_counters, print_errors, print_files, print_reports, print_statistics, print_threads;
	long long verbose, procs_per_file;
	long long compress_trace; /* -1: not given */
	struct tkm_option_list request;
	struct tkm_option_storage *storage;
};

/* Reads the configuration file, the environment and the command line. Returns 0: continue; 1: --help or --version
 * was printed; -1: error, *err says which. */
int stt_options_parse(int argc, char **argv, struct stt_options *o, struct tkm_err *err);
void stt_options_free(struct stt_options *o);
/* The format of a file to be written, from --logfile-format or the file's name. */
enum stt_format stt_output_format(const struct stt_options *o, const char *name);
/* Finds the foreign format in which the file is to be written; *f NULL: not a foreign one. -1: the suffix is
 * unknown, which was printed. */
int stt_foreign_output(const struct stt_options *o, const char *name, const struct xch_format **f);
/* For actions that write STF only: returns 0, or prints that `name` is of another format and returns -1. */
int stt_only_stf(const struct stt_options *o, const char *option, const char *name);

/* An input of any format, opened as a trace. */
struct stt_trace {
	struct stf_reader *r;
	const char *path; /* as the user gave it */
	enum stt_format format;
	uint32_t n_processes;
	const uint32_t *threads; /* number of threads of each process */
	uint64_t *first;         /* number of each process's first thread */
	double resolution;       /* seconds of a time-stamp unit; 0: the trace does not say */
	uint32_t eventbits;
};

/* Opens o->input. `flags` are as in stf_reader_open(). On an error prints it and returns -1, or -2 if only memory
 * was insufficient. */
int stt_trace_open(struct stt_trace *t, const struct stt_options *o, unsigned flags);
void stt_trace_close(struct stt_trace *t);
/* Gets the i-th piece of the trace that was found damaged so far, with its threads and times. Returns 0: there is
 * none. */
int stt_damage_text(const struct stt_trace *t, size_t i, char *text, size_t size);
/* Prints the error that ended a cursor, and returns STT_FAULT. Damage is not printed here: stt_damage() prints
 * all of it. */
int stt_cursor_fault(const struct stt_options *o, const struct stf_err *e);
/* Prints all damaged pieces. STT_OK if there are none. */
int stt_damage(const struct stt_options *o, const struct stt_trace *t);
/* The number of a thread, counted over the threads of all processes; -1 if the trace has no such thread. */
long long stt_thread_number(const struct stt_trace *t, uint32_t willy);
/* Is this an info class in which the writer describes the files of this very trace ("integrity", "late")? Its
 * statements would be wrong for a copy, and every writer makes its own. */
int stt_is_about_files(const struct stt_trace *t, uint32_t info_class);
/* The name of a group; the trace owns it. NULL: it is a thread, or a group without a name. */
const char *stt_group_name(const struct stt_trace *t, uint32_t willy);
/* "2:1", the name of a group, or "group:9". Returns buf or the group's name. */
const char *stt_willy_name(const struct stt_trace *t, uint32_t willy, char *buf, size_t size);
/* "class:name" of a function, counter or scope, or else only the name; NULL if it is not declared. */
const char *stt_full_name(const struct stt_trace *t, unsigned class_id, uint32_t id, char *buf, size_t size);

/* Opens a new file or, with the name "-", standard output. */
struct stt_out {
	FILE *f;
	struct tkm_newfile file;
	const char *name;
};
int stt_out_begin(struct stt_out *out, const char *name, const struct stt_options *o);
/* Is `to` the input that the user named, or the folder that it is in? */
int stt_is_input(const struct stt_options *o, const char *to);
/* completes the output; -1: an error was printed */
int stt_out_end(struct stt_out *out, const struct stt_options *o);
void stt_out_abort(struct stt_out *out);
/* Prints text in double quotes; a backslash precedes quotes, backslashes and control characters. */
void stt_quote(FILE *f, const char *text, size_t n);
/* The shortest decimal text that reads back as v. Returns buf, which must have 32 bytes. */
const char *stt_real(double v, char *buf);

/* Print "program: line". Return STT_FAULT and STT_USAGE. */
int stt_fault(const struct stt_options *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int stt_usage(const struct stt_options *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints "program: FILE: offset N, record M: text". Returns STT_FAULT. */
int stt_stf_fault(const struct stt_options *o, const struct stf_err *e);
/* Prints a line for the user on standard error, if --verbose is at least `level`. */
void stt_say(const struct stt_options *o, int level, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Shows the progress of a long reading, only on a terminal and after one second of work. `now` is a stamp; the
 * done function removes the display. */
void stt_progress(const struct stt_options *o, const struct stt_trace *t, uint64_t now, int done);
/* Shows progress as the part of a whole that is done; when all is done, removes the display. */
void stt_progress_part(const struct stt_options *o, uint64_t part, uint64_t whole);

/* The main function of both programs. Returns the exit status. */
int stt_main(int argc, char **argv, const char *program);

#endif
