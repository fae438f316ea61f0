/* SPDX-License-Identifier: BSD-3-Clause */
/* timertest --check tests this node's clocks, without MPI and in under two seconds. Every check gives a value, which is
 * compared with two limits; a check that cannot be measured is reported as unknown. One list of results feeds every
 * output format. Checks of the whole cluster judge the last result of timertest, which is stored in the state
 * directory. */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include <stdio.h>
#include <time.h>

#include "base/err.h"
#include "check/stored.h"
#include "timers/quality/env.h"
#include "timers/timer.h"

/* The values are those of monitoring plugins (Nagios) and also the exit status of the program. */
enum chk_status {
	CHK_OK = 0,
	CHK_WARNING = 1,
	CHK_CRITICAL = 2,
	CHK_UNKNOWN = 3, /* could not be measured */
	CHK_ABSENT = 4,  /* does not apply: this machine has no such thing. Counts as ok */
};

enum chk_unit { CHK_SECONDS, CHK_PPM, CHK_COUNT };

struct chk_result {
	enum chk_status status;
	double value;   /* in the check's unit, what is proven at least; NAN unless measured */
	char text[480]; /* one phrase: what was found, or why nothing was measured */
	/* what was measured, before its uncertainty was taken off; NAN: not known apart */
	double measured, uncertainty;
};

/* Limits of one check: a value above is a warning, or critical. INFINITY: no limit. */
struct chk_limit {
	double warning, critical;
	int off; /* 1: the check is left out */
};

/* Where the checks get their facts. The unit tests replace these members. */
struct chk_machine {
	int root;                 /* descriptor of "/", or of a folder with the /proc and /sys of another machine */
	struct tmr_timer *timer;  /* the clock that is judged */
	struct tmr_utc_watch utc; /* .adjtimex can be set */
	int (*gettime)(clockid_t id, struct timespec *t);
	struct tmr_env env;
	const struct chk_stored *stored; /* the last result of timertest */
	double max_age_s;                /* of that */
	/* filled in by chk_machine_begin() */
	struct chk_instant begin; /* the kernel's clocks when the checks began */
};

struct chk_check {
	const char *name;
	enum chk_unit unit;
	struct chk_limit limit; /* the default, unless a profile or the user sets another one */
	const char *why, *what; /* why it matters; what to do */
	int of_result;          /* 1: it needs a stored result of timertest */
	void (*run)(struct chk_machine *m, const struct chk_limit *limit, struct chk_result *r);
};

/* The table, in the order of output. */
extern const struct chk_check chk_table[];
extern const size_t chk_count;
/* The index of a check, or -1. */
int chk_find(const char *name);

#define CHK_ROW(function, ...) +1
enum {
	CHK_MOST = 0
#include "check/checks.def"
};
#undef CHK_ROW

/* A whole run. */
struct chk_report {
	char host[128];
	const char *profile;
	double time_s;     /* Unix time when it ended */
	double duration_s; /* of the checks */
	struct chk_limit limit[CHK_MOST];
	struct chk_result result[CHK_MOST];
};

/* Reads the environment and the kernel's clocks. m->root, timer, gettime are set. */
void chk_machine_begin(struct chk_machine *m);
/* Runs all checks that are not off, and judges each by its limits. */
void chk_run(struct chk_machine *m, struct chk_report *r);
/* Keeps the worse result of each check from two runs; the second run is under load. */
void chk_worse(struct chk_report *into, const struct chk_report *other);
/* The worst status of all checks, in this order: critical, warning, unknown, ok. */
enum chk_status chk_overall(const struct chk_report *r);
const char *chk_status_name(enum chk_status s); /* "OK", "WARNING", "CRITICAL", "UNKNOWN", "ABSENT" */

/* For the functions of the table. They set r->status, or leave it to chk_run(), which compares the value with the
 * limits. */
void chk_value(struct chk_result *r, double value, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The same for a value that is proven only as far as it exceeds its uncertainty. */
void chk_uncertain(struct chk_result *r, double measured, double uncertainty);
void chk_unknown(struct chk_result *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void chk_absent(struct chk_result *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Returns NULL if the stored result is of this boot of the machine, else the phrase that says why it may not be. */
const char *chk_other_boot(const struct chk_machine *m);

/* ---- limits ---- */

/* Sets limits to those of a profile: "baremetal", "kvm", "aws", "azure", or a file with lines NAME WARNING CRITICAL,
 * "-" for no limit and "NAME off". NULL: the profile that fits the hypervisor. *used: its name. Returns 0 or -1. */
int chk_profile(
	struct chk_limit *limit, const char *name, const struct tmr_env *env, const char **used, struct tkm_err *err);
/* "NAME=LIMIT" of -w (critical 0) or -c (1). The limit has a unit: 200ns, 5ppm. Returns 0 or -1. */
int chk_set_limit(struct chk_limit *limit, const char *text, int critical, struct tkm_err *err);

/* ---- output ---- */

/* The number of a format for chk_write(): of "human", "json", "nagios" or "prometheus"; or -1. */
int chk_find_format(const char *name, struct tkm_err *err);
void chk_write(FILE *f, int format, const struct chk_report *r, const struct chk_stored *s);
/* "23.1ns", "0.4ppm", "2" */
char *chk_print_value(char *buf, size_t size, enum chk_unit unit, double value);

/* ---- the checks ---- */

typedef void chk_function(struct chk_machine *m, const struct chk_limit *limit, struct chk_result *r);
#define CHK_ROW(function, ...) chk_function function;
#include "check/checks.def"
#undef CHK_ROW

#endif
