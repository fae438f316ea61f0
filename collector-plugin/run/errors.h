/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of libVTmc in the trace (CHECK-TRACING). libVTmc looks for the function by its name: there is a trace if a library that
 * records is loaded, too. */
#ifndef COLLECTOR_PLUGIN_RUN_ERRORS_H
#define COLLECTOR_PLUGIN_RUN_ERRORS_H

/* A call that a report names. header: "", or what introduces it, like "started by". rank: -1: the process that reports. */
struct vt_error_call {
	char header[64], function[48], call[800], file[300];
	int line, rank;
};

/* Records it for the calling thread, now. level: "warning", "error" or "fatal error". type NULL: records nothing, libVTmc is about to
 * end the process because of what it has recorded. */
#define VT_RECORD_ERROR "vt_record_error"
void vt_record_error(const char *type, const char *level, const char *text, const struct vt_error_call *call, int n)
	__attribute__((visibility("default")));
/* Where the program made the call of MPI that this thread is in; NULL: unknown. */
#define VT_RECORD_CALLER "vt_record_caller"
void *vt_record_caller(void) __attribute__((visibility("default")));
typedef void *vt_record_caller_fn(void);
/* In libVTmc: makes its last reports, which go into the trace if it is called before that ends. */
#define VT_CHECK_END "vt_check_end"
typedef void vt_record_error_fn(
	const char *type, const char *level, const char *text, const struct vt_error_call *call, int n);

#endif
