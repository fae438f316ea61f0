/* SPDX-License-Identifier: BSD-3-Clause */
/* What a report knows about a trace after it has read it once: curves, time in functions, messages, and errors. */
#ifndef REPORT_DATA_TRACE_H
#define REPORT_DATA_TRACE_H

#include "base/err.h"
#include "report/data/axis.h"
#include "include/analysis.h"

struct vtr_counter {
	uint32_t id;
	const char *name;  /* of the counter, without its class */
	const char *group; /* its class, or "" */
	const char *about; /* what it counts; NULL: the trace does not say */
	const char *stored_unit;
	char unit[40]; /* of what is shown */
	double factor; /* shown = stored x factor; of a running total: of its increase per second */
	int rate;      /* a running total, shown as a rate */
	int kind;      /* STF_COUNTER_I8, _F8 or _U8 */
	int share;     /* computed here, percent of the time; minimum and maximum mean nothing */
	int of_runs;   /* 1: of calls of MPI that found nothing, for the table of functions alone */
	uint32_t runs; /* it counts the calls of this function in runs, 1 + index; 0: none */
	size_t n_series;
};

enum vtr_mpi { VTR_NO_MPI, VTR_MPI, VTR_MPI_INIT, VTR_MPI_FINALIZE }; /* what a function is */

struct vtr_function {
	uint64_t calls;
	double inclusive, exclusive; /* time-stamp units */
};

struct vtr_frame {
	uint32_t function;
	uint64_t enter;
	double children;
};

/* The calls that a thread is in. */
struct vtr_stack {
	uint32_t willy;
	struct vtr_frame *frame;
	size_t depth, room;
	size_t mpi;     /* how many of them are MPI calls */
	uint64_t since; /* the last change between MPI and not */
	uint64_t last;
	int begun;
	uint64_t events, mark; /* records so far; when the last 64 of them began */
	int calls_mpi;
};

/* What the function records of a process say about its time. The time between MPI_Init and MPI_Finalize is the
 * program's own: before and after it the ranks, and the collector with its clock sessions, start and end. */
struct vtr_span {
	uint64_t begin, end; /* of the first thread: end of MPI_Init, begin of MPI_Finalize; without: its records' */
	uint64_t init_time;  /* in MPI_Init, of the first thread */
	uint64_t mpi;        /* in MPI calls between, of the first thread; time-stamp units */
	uint64_t events;     /* records of all threads */
	uint64_t gap64;      /* shortest time of 64 records of a thread in a row; UINT64_MAX: there are none */
	uint64_t last;       /* record of the first thread */
	uint64_t open_since; /* when the call began that ended with that record, as the merge closes open calls */
	uint64_t open_until; /* open_until < last: the last call had ended before */
	uint32_t open;       /* its function, 1 + index; 0: none */
	uint32_t after;      /* the function of the last call of MPI that ended, likewise */
	uint32_t threads_in_mpi;      /* threads with MPI calls */
	unsigned char known;          /* the first thread has records */
	unsigned char init, finalize; /* MPI_Init ended; MPI_Finalize began */
	unsigned char spare[5];
};

enum { VTR_MATRIX = 64 }; /* rows of the message matrix at most; then each is several processes */

struct vtr_messages {
	uint64_t n, bytes, unmatched;
	uint64_t backward; /* received before they were sent */
	uint64_t at_least; /* whose size is at least what the trace has (stf.h) */
	uint32_t rows, per_row;
	uint64_t *count, *size; /* [rows * rows], sender first */
};

struct vtr_operation { /* a kind of collective operation */
	uint32_t type;
	uint64_t n, members; /* members: their sum over all operations, where it is recorded */
	double longest;      /* time-stamp units, of the slowest participant */
};

struct vtr_trace {
	const char *path;
	char *folder; /* a temporary one, in which the trace is and with which it is removed; NULL: none */
	const struct vtr_reading *how;
	size_t component, components; /* which is being read, of how many */
	struct stf_reader *reader;
	double resolution;   /* seconds of a time-stamp unit */
	uint64_t start, end; /* as the trace states; start > end: it does not */
	const uint32_t *threads;
	uint32_t processes;
	struct vtr_counter *counter;
	size_t counters;
	size_t mpi_share; /* index of the counter that is computed from MPI calls */
	struct vtr_axis axis;
	struct vtr_function *function; /* [functions * processes] or [functions] */
	size_t functions;
	uint32_t function_rows; /* `processes`, or 1 where that would be too many */
	uint32_t *function_id;
	unsigned char *function_is_mpi; /* enum vtr_mpi */
	unsigned char *function_is_omp; /* of the class OMP, which the collector makes */
	int mpi_functions;              /* any of them is MPI */
	struct vtr_span *span;          /* [processes] */
	struct vtr_stack *stack;
	size_t stacks;
	uint64_t unbalanced; /* leaves without an enter */
	struct vtr_messages messages;
	struct vtr_operation operation[64];
	size_t operations;
	struct stf_analysis *analysis; /* NULL: neither MPI nor OpenMP, or it could not be analysed */
	/* the texts of class "ended", completed by what the protocol knows of the time after MPI_Finalize */
	char **ended;
	size_t n_ended;
	uint64_t records, values, reports, ends; /* reports of errors; of these, how the program ended */
	int empty;                               /* a component had no record */
	int windowed;                            /* only start to end was read */
	double offset_s;                         /* of the window's start, since the start of the trace */
	char note[600];                          /* why an index was not used */
	char fault[8][700];                      /* what could not be read */
	size_t faults;                           /* how many; not all may be in fault[] */
};

enum { VTR_COLUMNS = 640 }; /* of a picture, at most */

struct vtr_reading {
	int index;                     /* 1: make an index */
	int window;                    /* only records from from_s to to_s, seconds since the start of the trace */
	double from_s, to_s;           /* to_s may be infinite */
	void (*progress)(double part); /* called every 4096 records with the part that was read; NULL: no call */
};

/* Opens and reads a trace, or the index beside it. Each damage becomes a line of fault[]; returns -1 only if nothing
 * can be shown. */
int vtr_trace_read(struct vtr_trace *t, const char *path, const struct vtr_reading *how, struct tkm_err *err);
void vtr_trace_free(struct vtr_trace *t);

/* What a process is called: "rank" if the trace has anything of MPI, else "process". */
const char *vtr_process_word(const struct vtr_trace *t);

/* Names of a thread or group: "rank 3", "rank 3 worker2", "rank 3 thread 1", "node vm"; of a single process without MPI
 * its name, "worker2", "thread 1". Returns buf. */
char *vtr_willy_label(const struct vtr_trace *t, uint32_t willy, char *buf, size_t size);

/* "ring.c:42" of a place in the source; NULL: unknown. */
const char *vtr_source_place(const struct vtr_trace *t, uint32_t scl, char *buf, size_t size);

/* Seconds since the start of the trace. */
double vtr_seconds(const struct vtr_trace *t, uint64_t time);
double vtr_length(const struct vtr_trace *t);

/* Has the program called MPI, as far as the records show? */
int vtr_has_mpi(const struct vtr_trace *t);

#endif
