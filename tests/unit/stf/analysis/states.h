/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes traces of states only, and analyses them. */
#ifndef TESTS_UNIT_STF_ANALYSIS_STATES_H
#define TESTS_UNIT_STF_ANALYSIS_STATES_H

#include "include/analysis.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"

static struct stf_writer *w;
static struct stf_err err;
static struct stf_reader *reader;
static struct stf_analysis *result;

/* A trace with these threads of each process, and functions 1 to n - 1 of these classes. */
static void begin_states(
	const uint32_t *threads, uint32_t processes, const char *const *names, const char *const *classes, uint32_t n)
{
	struct stf_writer_options o = { .resolution = 1e-9 };
	uint32_t i;

	clean();
	w = stf_writer_create(in_dir("a.stf"), &o, &err);
	CHECK_INT(stf_writer_processes(w, threads, processes), 0);
	for (i = 1; i < n; i++) {
		struct stf_function_definition f = {
			.id = i, .name = stf_writer_string(w, names[i]), .classid = stf_writer_class(w, classes[i], 0)
		};

		CHECK_INT(stf_write_function_definition(w, &f), 0);
	}
}

static void enter_state(uint32_t willy, uint64_t time, uint32_t function)
{
	CHECK_INT(stf_write_enter_function(
			  w, &(struct stf_enter_function){ .time = time, .willy = willy, .function = function }),
		0);
}

static void leave_state(uint32_t willy, uint64_t time)
{
	CHECK_INT(stf_write_leave_function(w, &(struct stf_leave_function){ .time = time, .willy = willy }), 0);
}

static void analyse_states(void)
{
	CHECK_INT(stf_writer_finish(w, 1, 0, &err), 0);
	reader = stf_reader_open(in_dir("a.stf"), 0, &err);
	result = reader ? stf_analyze(reader, NULL, &err) : NULL;
	CHECK(result != NULL, "%s", err.text);
}

static void end_states(void)
{
	stf_analysis_free(result);
	stf_reader_close(reader);
	clean();
}

#endif
