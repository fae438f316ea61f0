/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of stftool and xstftool share: the options, an opened trace, output, errors. */
#ifndef TOOLS_STFTOOL_H
#define TOOLS_STFTOOL_H

#include <stdio.h>

#include "base/err.h"
#include "base/newfile.h"
#include "base/option.h"
#include "exchange/format.h"
#include "stf/stf.h"

enum { STT_OK = 0, STT_FAULT = 1, STT_USAGE = 2 }; /* exit statuses */

enum stt_format { STT_UNSAID, STT_ASCII, STT_STF, STT_SINGLE };

struct stt_options {
	const char *program;
	int expand; /* xstftool */
	const char *input;
	const char *scratch; /* a directory of links to what lies elsewhere; NULL */
	const char **inputs; /* all of them: raw files of --merge. Own array */
	int n_inputs;
	const char *byte_order; /* with --recover: little, big; NULL: not said */
	double resolution;      /* seconds; 0: not said */
	const char *config, *clock, *convert, *input_format, *layout, *logfile_format, *logfile_name, *logfile_prefix,
		*move, *merge, *recover, *sumdata;
	int csv, delete_raw_data, dump, extended_vtf, force, json, matched_vtf, rate, remove, ticks, verify;
	int use_hw_structure; /* -1: where there are several nodes */
	int print_clock, print_counters, print_errors, print_files, print_reports, print_statistics, print_threads;
	long long verbose, procs_per_file;
	long long compress_trace; /* -1: not said */
	struct tkm_option_list request;
	struct tkm_option_storage *storage;
};

/* Reads configuration file, environment and command line. 0: go on; 1: --help or --version was printed;
 * -1: wrong, *err says what. */
int stt_options_parse(int argc, char **argv, struct stt_options *o, struct tkm_err *err);
void stt_options_free(struct stt_options *o);
/* The format of a file to be written, by --logfile-format or its name. */
enum stt_format stt_output_format(const struct stt_options *o, const char *name);
/* The format of others that it is to be written in, *f NULL: none. -1: the name's suffix is unknown, printed. */
int stt_foreign_output(const struct stt_options *o, const char *name, const struct xch_format **f);
/* For what writes STF only: 0, or prints that `name` is of another format and returns -1. */
int stt_only_stf(const struct stt_options *o, const char *option, const char *name);

/* An input of any format, opened as a trace. */
struct stt_trace {
	struct stf_reader *r;
	const char *path; /* as the user named it */
	enum stt_format format;
	uint32_t n_processes;
	const uint32_t *threads; /* of each process */
	uint64_t *first;         /* number of each process's first thread */
	double resolution;       /* seconds of a time-stamp unit; 0: the trace does not say */
	uint32_t eventbits;
};

/* Opens o->input. `flags` as in stf_reader_open(). Prints what is wrong and returns -1 if it cannot, -2 if only memory is
 * short. */
int stt_trace_open(struct stt_trace *t, const struct stt_options *o, unsigned flags);
void stt_trace_close(struct stt_trace *t);
/* The i-th piece of the trace that was found damaged so far, with its threads and times. 0: there is none. */
int stt_damage_text(const struct stt_trace *t, size_t i, char *text, size_t size);
/* What ended a cursor. Damage is not printed here, but all of it by stt_damage(). Returns STT_FAULT. */
int stt_cursor_fault(const struct stt_options *o, const struct stf_err *e);
/* Prints them all. STT_OK if there are none. */
int stt_damage(const struct stt_options *o, const struct stt_trace *t);
/* Number of a thread, counting the threads of all processes; -1 if the trace has no such thread. */
long long stt_thread_number(const struct stt_trace *t, uint32_t willy);
/* Is this an info class in which the writer speaks of the files of this very trace ("integrity", "late")?
 * What it says is not true of a copy, and every writer says its own. */
int stt_is_about_files(const struct stt_trace *t, uint32_t info_class);
/* The name of a group, which the trace keeps; NULL: it is a thread, or a group without a name. */
const char *stt_group_name(const struct stt_trace *t, uint32_t willy);
/* "2:1", the name of a group, or "group:9". Returns buf or the name. */
const char *stt_willy_name(const struct stt_trace *t, uint32_t willy, char *buf, size_t size);
/* "class:name" of a function, counter or scope, else the name; NULL if nothing declares it. */
const char *stt_full_name(const struct stt_trace *t, unsigned class_id, uint32_t id, char *buf, size_t size);

/* A new file or, with the name "-", standard output. */
struct stt_out {
	FILE *f;
	struct tkm_newfile file;
	const char *name;
};
int stt_out_begin(struct stt_out *out, const char *name, const struct stt_options *o);
int stt_out_end(struct stt_out *out, const struct stt_options *o); /* completes it; -1: printed why not */
void stt_out_abort(struct stt_out *out);
/* Text in double quotes; a quote, a backslash and control characters after a backslash. */
void stt_quote(FILE *f, const char *text, size_t n);
/* The shortest decimal form that reads back as v. Returns buf, which has 32 bytes. */
const char *stt_real(double v, char *buf);

/* "program: line". Return STT_FAULT and STT_USAGE. */
int stt_fault(const struct stt_options *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int stt_usage(const struct stt_options *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "program: FILE: offset N, record M: text". Returns STT_FAULT. */
int stt_stf_fault(const struct stt_options *o, const struct stf_err *e);
/* A line for the user, on standard error, if --verbose is at least `level`. */
void stt_say(const struct stt_options *o, int level, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* How far a long reading is, on a terminal only, and after a second of work. `now` is a stamp; done clears it. */
void stt_progress(const struct stt_options *o, const struct stt_trace *t, uint64_t now, int done);
/* The same by how much is done of a whole; as much as that, or more, ends it. */
void stt_progress_part(const struct stt_options *o, uint64_t part, uint64_t whole);

/* The program, of either name. Returns its exit status. */
int stt_main(int argc, char **argv, const char *program);

#endif
