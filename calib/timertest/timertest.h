/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the program timertest share. */
#ifndef CALIB_TIMERTEST_H
#define CALIB_TIMERTEST_H

#include <stdint.h>
#include <stdio.h>

#include "calib/analysis/analysis.h"
#include "calib/map/causality.h"
#include "calib/session/domain.h"
#include "calib/session/link.h"
#include "calib/solve/solve.h"
#include "calib/session/sync.h"
#include "calib/timertest/rounds.h"
#include "timers/quality/assume.h"
#include "timers/quality/env.h"
#include "timers/quality/matrix.h"
#include "timers/quality/quality.h"
#include "timers/quality/rate.h"

/* Exit statuses. */
enum { CAL_TEST_FIT = 0, CAL_TEST_UNFIT = 1, CAL_TEST_ERROR = 2, CAL_TEST_UNKNOWN = 3 };

/* What a rule of the verdict finds. The largest of all rules decides. */
enum cal_test_value { CAL_TEST_VALUE_FIT, CAL_TEST_VALUE_UNKNOWN, CAL_TEST_VALUE_UNFIT };

/* The reason of a rule whose result is "not fit" or "not known": one sentence with the value, its limit, why it matters
 * and what to do. */
struct cal_test_reason {
	const char *rule; /* its name in the table of rules */
	enum cal_test_value value;
	char text[420];
};

enum { CAL_TEST_MAX_REASONS = 20 };

struct cal_test_verdict {
	enum cal_test_value value;
	size_t reasons;
	struct cal_test_reason reason[CAL_TEST_MAX_REASONS]; /* the first one decided; then as in the table */
	char text[6000];                                     /* the complete verdict in words, on one line */
};

struct cal_test_options {
	double seconds, sleep_s; /* positional: 30 and 10 */
	const char *timer, *output, *json;
	const char *state_dir;                /* for timertest --check; "default", or "": the result is not kept */
	enum cal_interpolation interpolation; /* through more than two sessions */
	int force, quiet, synced_host, synced_cluster; /* synced_*: -1: not given */
	long long verbose, burst, timer_skip;          /* timer_skip -1: use start and end only */
	double performance_s, max_drift, max_wander;   /* the last two NAN: by the timer */
	int performance_shared; /* 1: performance_s was not given, and those that take turns share it */
	int learn;              /* predict the rates after the run */
	double target_bound_s;  /* 0: none; else sessions are made as often as it takes */
	struct cal_sync_options sync;
	enum cal_shape shape; /* of a session */
	double patience_s;
	const char *hosts, *join, *interface, *rsh, *remote_program; /* without MPI (network.c); NULL: not so */
	long long rank, size;                                        /* with join; -1, 0: not given */
};

/* Environment, then command line. Returns 0; -1 after printing on stderr of rank 0 what is wrong; 1 after printing
 * --help or the like. */
int cal_test_options_parse(int argc, char **argv, struct cal_test_options *o);

/* Tests whether the command line asks for --help or the like, which rank 0 prints alone. */
struct tkm_front;
int cal_test_asks_for_help(const struct tkm_front *f, int argc, char **argv);
/* What is wrong with the command line is said by rank 0. The others give it time: Open MPI 5 ends a job, and what rank 0 has not printed yet,
 * when the first rank has ended. */
void cal_test_say_wrong_usage(int rank, const struct tkm_err *err);

/* One stamp of a burst: of a message to or from `peer`, in the order in which they happened. */
struct cal_test_event {
	int32_t cycle, peer, sent;
	int32_t session; /* sessions so far: which side of a step it is on */
	int64_t local;
};

/* What one process knows about itself; rank 0 has it of all. */
struct cal_test_rank {
	struct tmr_env env;
	uint32_t pid;
	struct tmr_quality quality;
	struct tmr_true_rate true_rate; /* from the start to the end of the run; 0: not known */
	enum tmr_scope scope;           /* of its timer */
	int32_t machine;                /* first rank that runs on the same processors */
	int32_t node;                   /* first rank with the same kernel clocks */
	int32_t only_unit;              /* the only processing unit that it may use; -1: there are several */
	size_t events;
	struct cal_test_event *event;
};

/* Mean offset of one pair in one burst, from the stamps of the trace. */
struct cal_test_burst {
	int a, b, cycle;
	int exchanges;
	double time_s;        /* global, of the burst's beginning */
	double offset_s;      /* clock b minus clock a: mean after dropping the slowest tenth, or, of a disturbed
	                      * burst, the middle of what is certain */
	double offset_all_s;  /* of all exchanges */
	double latency_s;     /* one way, mean of the kept */
	double low_s, high_s; /* certain: the offset of the corrected clocks lies in here */
};

/* True error of the maps, known for simulated clocks only. */
struct cal_test_truth {
	int known;
	double worst_s, worst_at_s, bound_there_s; /* against the master, over the run */
	long points, outside;                      /* evaluated; true error beyond the bound */
};

struct cal_test_matrix_of_node {
	int rank; /* that measured it */
	struct tmr_matrix m;
	char why[200];       /* not measured: the reason */
	char not_again[200]; /* at the end, not measured again: the reason; "": it was, or there was no need to */
};

struct cal_test_result {
	struct cal_run run;
	int ranks;
	struct cal_test_rank *rank;
	int nodes;
	struct cal_test_matrix_of_node *matrix;
	size_t bursts;
	struct cal_test_burst *burst;
	size_t worst;                 /* index of the burst with the largest |offset| */
	struct cal_test_truth *truth; /* per rank */
	uint64_t most_on_tick;        /* events of one rank on the same clock tick, beyond the first */
	double session_half_s,
		session_every_s; /* with a target: of the first session, and what follows; 0: never enough */
	struct cal_causality_stats causality; /* of the bursts' messages, in global ticks */
	uint64_t reversed_uncorrected;        /* of them, without correction */
	double *longer_s; /* of each message in the trace's order: by how much moving made it longer; NULL: not at all */
	long long repairs; /* stamps that had to be moved to keep their order */
	double largest_repair_s;
	struct cal_test_verdict verdict;
};

/* One process of the test. */
struct cal_test {
	struct cal_test_options o;
	char output[4096]; /* of rank 0: o.output, where the name that was asked for is taken */
	struct cal_link *link;
	struct tmr_timer *timer,
		*reference;    /* a free clock beside a steered one, which the sessions measure; NULL: none */
	struct tmr_mark begin; /* of this process's timer, at the start */
	char taken[256];       /* the timer of rank 0, where this rank was started with another one */
	struct cal_test_rank me;
	size_t room;                           /* events */
	struct cal_place *place;               /* who shares a node with whom; known to all */
	struct cal_plan plan;                  /* of a session */
	struct cal_test_rounds rounds;         /* of the bursts */
	unsigned char *early;                  /* words between ranks that have come before they were waited for */
	struct tkm_err silence;                /* a rank did not answer: nothing can be agreed on any more */
	unsigned char *exchanges;              /* ranks that exchange messages with the master */
	int clusterwide;                       /* all timers are one by nature */
	double *hz;                            /* nominal (else measured) frequency of every rank's timer */
	struct cal_rank rank;                  /* what goes into the correction data */
	int32_t synchronised;                  /* sessions so far */
	double lasted_s;                       /* the shortest: others were held up */
	double synchronised_at;                /* end of the last, on the link's clock */
	struct cal_test_matrix_of_node matrix; /* of the first rank of a node */
	struct cal_test_result result;         /* rank 0 */
	double progress_at;
	FILE *details; /* rank 0: the lines for BASENAME.txt; NULL: there is no such file, and all is shown */
	char *text;    /* of details */
	size_t length;
	int wrote_details;
	char *settings; /* of rank 0, to which o points; NULL: the own ones */

	/* the program's way to a link without MPI; NULL: it has none, and does not take --hosts and --join */
	struct cal_link *(*meet)(struct cal_test *t, int argc, char **argv, struct tkm_err *err);
	void (*end_remotes)(void); /* waits for the processes that `meet` has started; NULL: there are none */
};

/* ---- agreement.c ---- */

/* All ranks continue only if none has an error; rank 0 prints the first error. Returns 0 or -1 on all of them alike. */
int cal_test_all_well(struct cal_test *t, int rc, const struct tkm_err *err);

/* The program from the options on: starts the link, runs `run` on all ranks and frees what *t holds. Returns the exit status. */
int cal_test_run_ranks(struct cal_test *t, int argc, char **argv, int (*run)(struct cal_test *t, struct tkm_err *err));

/* ---- tcp.c: timertest and timertestcs, which do not link what speaks over the network ---- */

/* The environment variable that says which program became timertest-tcp. */
#define CAL_TEST_PROGRAM "TICKMARK_TIMERTEST"

/* With --hosts or --join: this process becomes timertest-tcp, with the same arguments. Returns only NULL, with the reason. */
struct cal_link *cal_test_become_tcp(struct cal_test *t, int argc, char **argv, struct tkm_err *err);

/* ---- network.c: timertest-tcp ---- */

/* With --hosts or --join: the link of all processes that meet by the contact word, t->link. Then all have the options of rank 0,
 * whose arguments these are. NULL with the reason. */
struct cal_link *cal_test_meet(struct cal_test *t, int argc, char **argv, struct tkm_err *err);

/* Waits for the processes that --hosts has started. */
void cal_test_end_remotes(void);

/* ---- measure.c: all ranks together; 0 or -1 ---- */

/* Prints the texts of all ranks in their order, on rank 0. Takes text. */
int cal_test_print_in_order(struct cal_test *t, char *text, size_t length, struct tkm_err *err);

/* Tests that a timer of this name can be opened, for this rank alone. */
int cal_test_check_timer(const struct cal_test *t, const char *name, struct tkm_err *err);

/* t->o.timer is then that of rank 0: a launcher that does not forward the environment leaves VT_TIMER to rank 0 alone. */
int cal_test_settle_timer(struct cal_test *t, struct tkm_err *err);

/* The quality of t->timer, into t->me. Not more processes of a node measure at once than it has processing units; the others
 * sleep. share: all turns together take about `seconds`, not each, and each is brief where there are many. */
int cal_test_measure_in_turns(struct cal_test *t, double seconds, int share, struct tkm_err *err);

/* That, as the options say, and the ranks of a clock agree on its tick; rank 0 prints what each found. */
int cal_test_measure_timer(struct cal_test *t, struct tkm_err *err);

/* The core matrix of t->timer, one process per node; and again, after the run, the pairs that were not found together. */
int cal_test_measure_matrix(struct cal_test *t, struct tkm_err *err);
int cal_test_measure_matrix_again(struct cal_test *t, struct tkm_err *err);

/* ---- reference.c ---- */

/* All together: a free clock beside a steered timer that is to be corrected, and what is assumed (cal_test_assume()). */
int cal_test_open_reference(struct cal_test *t, struct tkm_err *err);

/* All together: the assumptions about that clock, unless options give them; t->o.max_drift and .max_wander are then the
 * largest of all ranks. */
int cal_test_assume(struct cal_test *t, const struct tmr_timer *timer, struct tkm_err *err);

/* One pair of readings of timer and reference, if there is one. cal_test_pair_if_due() takes a struct cal_test. */
int cal_test_pair(struct cal_test *t, struct tkm_err *err);
void cal_test_pair_if_due(void *tt);

/* A few pairs in a row, so that what happens at the ends of the run is known, too. */
int cal_test_settle(struct cal_test *t, struct tkm_err *err);

/* ---- sync.c: all ranks together; 0 or -1 ---- */

/* Hosts and domains of all ranks into t->place. */
int cal_test_find_places(struct cal_test *t, struct tkm_err *err);

/* Do all processing units of this node read one clock, as far as the core matrix found at the beginning? How far readings on two of
 * them at the same time can be apart, or NAN. */
double cal_test_prove_one_clock(const struct cal_test *t);

/* What every rank has to know of all timers, once they have been measured; and again of what the sessions measure, once
 * cal_test_open_reference() has chosen it. */
int cal_test_share_timers(struct cal_test *t, struct tkm_err *err);
int cal_test_share_session_hz(struct cal_test *t, struct tkm_err *err);

/* With --target-bound: how often to synchronise from now on, by the widest of all sessions that this looked at;
 * in t->result. All call it. */
int cal_test_plan_sessions(struct cal_test *t, struct tkm_err *err);

/* The value of the timer option if the user named no timer. */
#define CAL_TEST_DEFAULT_TIMER "default"

/* Together. t->o.timer is then the cheapest timer that is one clock on each node, as each has proven: CPU, else clock_monotonic. */
int cal_test_choose_timer(struct cal_test *t, struct tkm_err *err);

/* One session, into t->rank. Names on stderr the ranks that it left out. */
int cal_test_synchronise(struct cal_test *t, enum cal_session_kind kind, struct tkm_err *err);

/* ---- bursts.c: all ranks together; 0 or -1 ---- */

/* Which pairs exchange when: t->rounds. */
int cal_test_plan_bursts(struct cal_test *t, struct tkm_err *err);

/* One burst of messages of every pair, into t->me.event; begin: of the test, on the link's clock. */
int cal_test_record_bursts(struct cal_test *t, int cycle, double begin, struct tkm_err *err);

/* ---- interrupt.c ---- */

/* From here on SIGINT, SIGTERM and SIGHUP end the process as before, but after a line that says so, from the rank
 * that prints. */
void cal_test_catch_signals(int prints);

/* Between these two calls signals do not end the process; cal_test_interrupted() then returns the number of the signal that
 * came, else 0. */
void cal_test_begin_writing(void);
int cal_test_interrupted(void);
void cal_test_end_writing(void);

/* Ends this process as the signal would have. */
void cal_test_die_of(int signal);

/* ---- progress.c ---- */

/* Prints the progress of the test on standard error of rank 0: on a terminal one line that changes, else one line per
 * 30 s. more: what it is doing, or NULL. */
void cal_test_progress(struct cal_test *t, double done_s, const char *more);
void cal_test_progress_end(const struct cal_test *t);

/* ---- output.c ---- */

/* Tests whether this process prints more than the verdict: rank 0, unless --quiet. And whether that is all of it, not a
 * screenful. */
int cal_test_prints(const struct cal_test *t);
int cal_test_prints_all(const struct cal_test *t);

/* Rank 0: from here on the lines are kept for BASENAME.txt, unless another file has that name. */
void cal_test_keep_details(struct cal_test *t);

/* Of rank 0: to that file, and to standard output if all is printed there. A line of cal_test_print() has less than 400 bytes. */
void cal_test_print_text(const struct cal_test *t, const char *text, size_t length);
__attribute__((format(printf, 2, 3))) void cal_test_print(const struct cal_test *t, const char *fmt, ...);

/* Is there such a file of an earlier test? */
int cal_test_has_details(const char *output);

/* Writes the file, if there is to be one. If that fails, prints the lines, for the result is good without it. Nothing is kept after
 * it, nor after cal_test_drop_details(). */
void cal_test_write_details(struct cal_test *t);
void cal_test_drop_details(struct cal_test *t);

/* ---- brief.c ---- */

/* At most 20 lines, however many ranks there are: the worst of each kind, and on which node. */
void cal_test_print_brief(FILE *f, const struct cal_test_options *o, const struct cal_test_result *r);

/* A line for each node. */
void cal_test_print_nodes(FILE *f, const struct cal_test_result *r);

/* ---- quality.c ---- */

/* The timer's quality in the guide's lines and ours; prefix is before each line. */
void cal_test_print_quality(FILE *f, const char *prefix, const struct tmr_timer *t, const struct tmr_quality *q);

/* True frequencies, where NTP keeps the clock of a node or of rank 0. */
void cal_test_print_true_rates(FILE *f, const struct cal_test_result *r);

/* ---- gather.c ---- */

/* Together. Rank 0: t->result has what all ranks measured, to be freed with cal_test_result_free(). Returns 0 or -1. */
int cal_test_collect(struct cal_test *t, struct tkm_err *err);

/* ---- trace.c ---- */

/* Writes the trace of all bursts with corrected stamps. r->rank[].event is sorted as recorded. */
int cal_test_trace_write(
	const char *path, const struct cal_test_options *o, struct cal_test_result *r, struct tkm_err *err);

/* Reads the trace back and fills r->burst. */
int cal_test_trace_read(const char *path, struct cal_test_result *r, struct tkm_err *err);

/* ---- report.c: rank 0, after everything is known ---- */

void cal_test_find_truth(struct cal_test_result *r);

/* Clock of this rank minus clock of the master as they were read, at its first session: offset, and what is
 * certain about it, in seconds. Returns 0, or -1: it had none. */
struct cal_test_uncorrected {
	double offset_s, low_s, high_s;
};
int cal_test_before_correction(const struct cal_run *run, int rank, struct cal_test_uncorrected *u);

/* The largest bound between the first session of a map and the last: what messages and the largest drift prove alone, and what follows with
 * all that is assumed. 0 where there is one session. */
void cal_test_widest_bounds(const struct cal_map *m, double *proven_s, double *assumed_s);

/* How well the core matrix shows that the ranks of a machine read the same clock; NAN: not at all. */
double cal_test_shown_within(const struct cal_test_result *r, int rank);

/* How many parts in a million this clock is slow against the master's, and what is certain about it; 0, or -1: not known, or it
 * is the clock of another rank. */
struct cal_test_drift {
	double ppm, low_ppm, high_ppm;
};
int cal_test_find_drift(const struct cal_rank *c, struct cal_test_drift *d);

/* All but the verdict. all: a line for each burst, however many they are. */
void cal_test_print_result(FILE *f, const struct cal_test_options *o, const struct cal_test_result *r, int all);
void cal_test_print_causality(FILE *f, const struct cal_test_result *r);
void cal_test_print_files(FILE *f, const struct cal_test_options *o);

/* Writes BASE.*.dat and BASE.gnuplot. */
int cal_test_write_plots(
	const char *base, const struct cal_test_options *o, const struct cal_test_result *r, struct tkm_err *err);

/* ---- verdict.c ---- */

/* Fills in r->worst and r->verdict out of everything else. */
void cal_test_judge(struct cal_test_result *r);

/* "fit", "unfit", "unknown": the word in the JSON output. */
const char *cal_test_value_name(enum cal_test_value v);

/* "fit", "NOT fit", "not known to be fit": for people. */
const char *cal_test_value_words(enum cal_test_value v);

/* CAL_TEST_FIT, CAL_TEST_UNFIT or CAL_TEST_UNKNOWN. */
int cal_test_exit_status(enum cal_test_value v);

/* The largest offset after correction that this burst may have. */
double cal_test_offset_limit(const struct cal_test_result *r, const struct cal_test_burst *b);

/* Tests whether the latency of a burst is too short for the clock's steps. */
int cal_test_below_resolution(const struct cal_test_result *r, const struct cal_test_burst *b);
/* A short text by value: its .text is good until the end of the expression. */
struct cal_test_words {
	char text[32];
};
/* The latency of the run, as verdict and pictures say it: that of the burst with the largest offset. There are bursts. */
struct cal_test_words cal_test_latency_words(const struct cal_test_result *r);

/* The greatest distance between the offset and an end of what is certain about it. */
double cal_test_burst_bound(const struct cal_test_burst *b);

/* ---- json.c ---- */

/* Writes the result as JSON to a file, "-" for stdout. -1 also when built without jansson. */
int cal_test_write_json(
	const char *path, const struct cal_test_options *o, const struct cal_test_result *r, struct tkm_err *err);
int cal_test_have_json(void);
/* Before anything takes time: can the file of --json be written? */
int cal_test_json_possible(const struct cal_test_options *o, struct tkm_err *err);
/* The same as text, which the caller frees; NULL without jansson or memory. */
char *cal_test_json_text(const struct cal_test_options *o, const struct cal_test_result *r);

/* ---- wander.c ---- */

enum { CAL_TEST_TAUS = 4 };

/* How a rank's offsets to rank 0 stray from a line, and by how much its rate changes over 1, 2, 4 and 8 intervals between
 * sessions. */
struct cal_test_wander {
	int rank, taus;
	size_t sessions;
	struct cal_summary left; /* seconds from a robust line */
	double interval_s;       /* 0: uneven */
	double tau_s[CAL_TEST_TAUS], deviation[CAL_TEST_TAUS];
};

/* Returns 0, or -1 where it cannot be said: fewer than 8 sessions, a clock that is the master's or was set. */
int cal_test_find_wander(const struct cal_run *run, int rank, struct cal_test_wander *w);

/* Prints the wander of the rank that strays most; nothing if none is known. */
void cal_test_print_wander(FILE *f, const struct cal_test_result *r);

void cal_test_result_free(struct cal_test_result *r);

#endif
