/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports in the trace (CHECK-TRACING), which libVT writes: the calls that a report names, found in its text. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector-plugin/run/errors.h"

enum { CALLS = 4, FRAME_INDENT = 6 };

static vt_record_error_fn *record_error;
static vt_record_caller_fn *record_caller;

void vt_mc_tracing_begin(void)
{
	record_error = (vt_record_error_fn *)dlsym(RTLD_DEFAULT, VT_RECORD_ERROR);
	record_caller = (vt_record_caller_fn *)dlsym(RTLD_DEFAULT, VT_RECORD_CALLER);
}

void *vt_mc_caller(void *pc)
{
	void *outer = record_caller ? record_caller() : NULL;

	return outer ? outer : pc;
}

int vt_mc_traces_nothing(void)
{
	return vt_mc_limit("CHECK-TRACING", vt_mc_option("CHECK-TRACING") != NULL) && !record_error;
}

void vt_mc_trace_stop(void)
{
	if (record_error) {
		record_error(NULL, NULL, NULL, NULL, 0);
	}
}

static void copy_part(char *to, size_t size, const char *from, size_t n)
{
	snprintf(to, size, "%.*s", (int)n, from);
}

/* "main (solver.c:62)" */
static void take_source(struct vt_error_call *k, const char *frame, size_t n)
{
	const char *open = memchr(frame, '(', n), *colon = NULL, *end = frame + n;

	for (; open && end > open && *end != ':'; end--) {
	}
	colon = open && end > open ? end : NULL;
	if (colon) {
		copy_part(k->file, sizeof(k->file), open + 1, (size_t)(colon - open - 1));
		k->line = atoi(colon + 1);
	}
}

/* "rank 1: MPI_Bcast(buf=0x1, ...)   main (solver.c:62)" of n bytes, in which the name begins at mpi */
static void take_call(struct vt_error_call *k, const char *line, size_t n, const char *mpi)
{
	const char *end = line + n, *frame = mpi;
	size_t name = strspn(mpi, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");

	k->file[0] = '\0';
	k->line = 0;
	k->rank = -1;
	sscanf(line, "rank %d:", &k->rank);
	copy_part(k->header, sizeof(k->header), line, mpi > line ? (size_t)(mpi - line - 1) : 0);
	copy_part(k->function, sizeof(k->function), mpi, name);
	while (frame < end && strncmp(frame, "   ", 3)) {
		frame++;
	}
	frame = frame < end ? frame : end;
	copy_part(k->call, sizeof(k->call), mpi, (size_t)(frame - mpi));
	frame += frame < end ? 3 : 0;
	take_source(k, frame, (size_t)(end - frame));
}

/* The call of MPI in a line of n bytes, or NULL. */
static const char *call_in_line(const char *line, size_t n)
{
	const char *at = strstr(line, "MPI_");

	return at && at < line + n && (at == line || at[-1] == ' ') ? at : NULL;
}

void vt_mc_trace_report(enum vt_mc_class c, const char *level, const char *text)
{
	struct vt_error_call call[CALLS];
	char description[3000] = "";
	size_t n, blanks, at = 0;
	int calls = 0, of_call = 0, line;

	for (line = 0; record_error && *text; text += n + (text[n] == '\n'), line++) {
		const char *mpi;

		blanks = strspn(text, " ");
		text += blanks;
		n = strcspn(text, "\n");
		mpi = line ? call_in_line(text, n) : NULL;
		of_call = mpi || (of_call && blanks > FRAME_INDENT);
		if (mpi && calls < CALLS) {
			take_call(&call[calls++], text, n, mpi);
		} else if ((!of_call || mpi) && at < sizeof(description)) {
			at += (size_t)snprintf(
				description + at, sizeof(description) - at, "%s%.*s", at ? "\n" : "", (int)n, text);
		}
	}
	if (record_error) {
		record_error(vt_mc_class_of[c].name, level, description, call, calls);
	}
}
