/* SPDX-License-Identifier: BSD-3-Clause */
/* What was measured of each process, in seconds: the numbers that findings are made of. What was not recorded is NAN. */
#ifndef REPORT_FINDINGS_MEASURE_H
#define REPORT_FINDINGS_MEASURE_H

#include "report/data/finding.h"
#include "report/data/trace.h"

enum vtr_role { /* counters of a process, by their mean over its span, in the unit of the page */
	VTR_MAIN_RUN,
	VTR_MAIN_WAIT,
	VTR_USR,
	VTR_SYS,
	VTR_NVCSW,
	VTR_NIVCSW,
	VTR_READ,
	VTR_WRITE,
	VTR_MAJFLT,
	VTR_SAMPLER,
	VTR_ROLES
};

/* One process. Of an MPI program the time from its MPI_Init to the last begin of MPI_Finalize counts: one that comes there earlier waits
 * in MPI for the others. Else it is that between the first and the last sample. */
struct vtr_measured {
	double span_s;
	double mpi_s, outside_s; /* of the first thread: in MPI calls, and the rest of the span */
	double run_s, wait_s;    /* of the first thread: on a CPU, ready and waiting for one */
	double asleep_s;         /* of the first thread outside MPI: neither of both, at least; 0: nothing is certain */
	double cpu_s;            /* CPU time of the process */
	double value[VTR_ROLES];
	double last_s;    /* the last sign of it, since the start of the trace */
	double sampled_s; /* its last sample, likewise; 0: there is none */
};

struct vtr_measures {
	const struct vtr_trace *t;
	struct vtr_measured *process; /* [n] */
	uint32_t n, known;            /* known: with a span */
	uint64_t finish;              /* the last begin of MPI_Finalize; 0: none */
	int mpi;                      /* the program called MPI */
	int is_short;                 /* the samples of a process are of less time than they can describe */
	int ended_badly;     /* by a signal, a deadlock or the like: what it did last says nothing about load */
	int recording_costs; /* what the kernel did is then the recording's, too */
	int in_turn; /* threads had to take turns: who comes last to a barrier is then who came last to the lock */
	const struct vtr_findings *found; /* until now; a finding about load may have named a process */
	uint32_t longest_outside, longest_asleep, longest_wait; /* processes */
	double span_s, mpi_s, outside_s, run_s, wait_s, cpu_s;  /* means of the known processes */
};

/* Measures the processes. Returns -1 if there is no memory. */
int vtr_measure(struct vtr_measures *m, const struct vtr_trace *t);
void vtr_measures_free(struct vtr_measures *m);

/* The mean of a node's counter over the run and the node with the largest one; NAN: it was not recorded. */
double vtr_node_mean(const struct vtr_trace *t, const char *counter, const struct vtr_series **most);

/* The process with the largest value; m->n: of none is it known. */
uint32_t vtr_largest_value(const struct vtr_measures *m, enum vtr_role role);

/* "rank 3"; without MPI "the program" or "process 3". */
char *vtr_process_label(const struct vtr_measures *m, uint32_t process, char *buf, size_t size);

/* The label at the begin of a sentence. */
char *vtr_process_title(const struct vtr_measures *m, uint32_t process, char *buf, size_t size);

/* A share in whole percent: "12 %", "< 1 %". */
char *vtr_share(char *buf, size_t size, double part, double whole);

#endif
