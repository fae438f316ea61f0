/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up waits: for each thread, function and kind, and for the threads that cause them. */
#ifndef STF_ANALYSIS_WAITS_H
#define STF_ANALYSIS_WAITS_H

#include "base/table.h"
#include "include/analysis.h"
#include "stf/analysis/bounds.h"
#include "stf/replay/recent.h"

enum {
	STF_PAST_WAITS = 32,
	STF_PAST_MEETINGS = 16,
	STF_PAST_JOINS = 4,
	STF_PERIODS = 32,
	STF_MOST_COMING = 32,
	STF_MOST_PARTNERS = 16,
	STF_PAST_STRETCHES = 8
};

/* A stretch of time in which a thread waited, for which other one, and which thread was the first cause. */
struct stf_past_wait {
	uint64_t from, to;
	uint32_t cause, willy, function;
};

/* The thread goes on at `mine` with what another one had done until `theirs`. */
struct stf_meeting {
	uint64_t theirs, mine;
};

/* The last waits of a thread, and when it and others met. */
struct stf_past {
	struct stf_past_wait wait[STF_PAST_WAITS];
	unsigned next;
	struct {
		uint32_t willy;
		struct stf_meeting last, before; /* before: one that was over when the last one began */
	} met[STF_PAST_MEETINGS];
	unsigned next_met;
	struct stf_meeting
		join[STF_PAST_JOINS]; /* with all members of an operation, of which the last came at `theirs` */
	unsigned next_join;
};

/* What a thread in a function caused in each period of the trace. */
struct stf_delay_periods {
	struct stf_delay sum;
	uint64_t period[STF_PERIODS];
};

/* The sender of a message, or the communicator of a collective operation. */
struct stf_partner {
	uint32_t id, is_communicator;
};

/* Time in calls that completed something with a partner, for which nobody is known who worked meanwhile: in the periods in which the
 * calls ended. */
struct stf_unsettled {
	uint32_t willy;
	struct stf_partner with;
	uint64_t period[STF_PERIODS];
};

/* What a thread will complete, the last ones if there are many, and its time in MPI. */
struct stf_coming {
	struct {
		uint64_t done;
		struct stf_partner with;
	} one[STF_MOST_COMING];
	/* the last stretches in which it was in MPI nearly all the time, and it is not known who worked */
	struct {
		uint64_t from, to, unsettled;
	} stretch[STF_PAST_STRETCHES];
	unsigned next_stretch;
	unsigned n, partners; /* partners: of which there is something in the table; no more than fit are looked at */
	uint64_t mpi[STF_PERIODS]; /* in the periods in which the calls ended */
	uint64_t shared
		[STF_PERIODS]; /* for the search at the end: of the table, with those partners that a suspect shares, the most */
};

struct stf_waits {
	struct stf_bounds bounds;
	double resolution;
	uint64_t start, period;                   /* begin of the first period, and length of each */
	struct tkm_table rows, delays, unsettled; /* struct stf_wait, stf_delay_periods, stf_unsettled */
	struct stf_recent recent_rows, recent_delays;
	void (*each)(void *user, const struct stf_single_wait *w); /* NULL: none */
	void *user;
};

/* A wait: in a call of `willy` from `from` on, until `ready`, when `cause` did what the call needed. */
struct stf_one_wait {
	enum stf_wait_kind kind;
	uint32_t willy, function, scl, cause, cause_function;
	uint64_t from, to; /* the part of the call that was a wait */
	uint64_t ready;    /* stamp of the cause */
	/* the last waits of both; those of willy get this one. past NULL: the wait is not added to what the cause has caused */
	struct stf_past *past;
	const struct stf_past *cause_past;
};

/* The thread met another one, or all members of an operation. */
void stf_past_meets(struct stf_past *p, uint32_t willy, struct stf_meeting m);
void stf_past_joins(struct stf_past *p, struct stf_meeting m);
/* Returns 1: the wait counts; 0: it is not longer than the bound of its stamps; -1: no memory. */
int stf_waits_add(struct stf_waits *w, const struct stf_one_wait *one);
/* The thread will complete something with a partner at that time. */
void stf_coming_add(struct stf_coming *c, struct stf_partner with, uint64_t done);
/* The part of that time in which the thread, or one that it waited for, worked. */
uint64_t stf_time_at_work(const struct stf_coming *c, uint64_t from, uint64_t to);
/* A call of the thread ends, for so much of which it is not known who worked meanwhile. Returns 0 or -1: no memory. */
int stf_waits_unsettled(
	struct stf_waits *w, uint32_t willy, struct stf_coming *c, uint64_t enter, uint64_t leave, uint64_t unsettled);
void stf_waits_free(struct stf_waits *w);

#endif
