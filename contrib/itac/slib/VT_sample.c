/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of PAPI beside the events of an MPI program (Intel Trace Collector guide, section 2.10). Adjust the list
 * below, make, and link the program with -lVTsample -lVT -lpapi, in this order. The counters are those of the thread that
 * starts MPI; they are read whenever it enters or leaves a function. Without this file, `vtrun --counter '+PAPI_*'`
 * records PAPI's counters, too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <papi.h>
#include <stdio.h>

#include <VT.h>

#ifndef EVENTS
#define EVENTS "PAPI_TOT_INS", "PAPI_TOT_CYC"
#endif

enum { MOST = 16 };
static const char *const events[] = { EVENTS };
static int set = PAPI_NULL, n_counters, counters[MOST];

/* Called by the collector: fills in the handles and the values of the counters. */
static int read_counters(void *custom, int n, int *handles, void *values)
{
	int i;

	(void)custom;
	if (n < n_counters || PAPI_read(set, values) != PAPI_OK) {
		return 0;
	}
	for (i = 0; i < n_counters; i++) {
		handles[i] = counters[i];
	}
	return n_counters;
}

static void complain(const char *what, int rc)
{
	fprintf(stderr, "VT_sample: %s: %s (it is left out)\n", what, PAPI_strerror(rc));
}

static void begin_counters(void)
{
	int i, cls, rc = PAPI_library_init(PAPI_VER_CURRENT);

	if (rc != PAPI_VER_CURRENT || (rc = PAPI_create_eventset(&set)) != PAPI_OK) {
		complain("PAPI", rc);
		return;
	}
	if (VT_classdef("PERF_DATA", &cls) != VT_OK) {
		return; /* the collector does not run */
	}
	for (i = 0; i < (int)(sizeof(events) / sizeof(*events)) && n_counters < MOST; i++) {
		rc = PAPI_add_named_event(set, events[i]);
		if (rc != PAPI_OK) {
			complain(events[i], rc);
		} else if (VT_countdef(events[i], cls, VT_COUNT_INTEGER64 | VT_COUNT_ABSVAL | VT_COUNT_VALID_BEFORE,
				   VT_GROUP_THREAD, NULL, "#", &counters[n_counters]) == VT_OK) {
			n_counters++;
		}
	}
	rc = n_counters ? PAPI_start(set) : PAPI_OK;
	if (rc != PAPI_OK) {
		complain("counters", rc);
	} else if (n_counters) {
		VT_countsetcallback(read_counters, NULL, n_counters);
	}
}

/* libVT starts in its own MPI_Init, which comes after this one. */
int MPI_Init(int *argc, char ***argv)
{
	int (*next)(int *, char ***) = (int (*)(int *, char ***))dlsym(RTLD_NEXT, "MPI_Init");
	int rc = next(argc, argv);

	begin_counters();
	return rc;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int (*next)(int *, char ***, int, int *) =
		(int (*)(int *, char ***, int, int *))dlsym(RTLD_NEXT, "MPI_Init_thread");
	int rc = next(argc, argv, required, provided);

	begin_counters();
	return rc;
}
