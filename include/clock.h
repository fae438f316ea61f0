/* SPDX-License-Identifier: BSD-3-Clause */
/* A clock that states its own error: every reading is an interval that contains the true time, or a status that tells
 * why no interval is known. For C99 and C++11; includes no other header of this project. As installed: #include
 * <tickmark/clock.h>, `pkg-config --cflags --libs tickmark-clock`, manual: man 3 tickmark-clock.
 *
 * No function prints, exits or aborts, changes the handling of a signal, or starts a thread that continues after its
 * return. tickmark_now(), tickmark_raw(), tickmark_at() and the comparisons take no lock and allocate no memory: any
 * number of threads may call them on one clock at the same time, also in a signal handler and after fork(). The other
 * calls belong to one thread at a time. */
#ifndef TICKMARK_CLOCK_H
#define TICKMARK_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TICKMARK_CLOCK_VERSION_MAJOR 0
#define TICKMARK_CLOCK_VERSION_MINOR 1
#define TICKMARK_CLOCK_VERSION (TICKMARK_CLOCK_VERSION_MAJOR * 1000 + TICKMARK_CLOCK_VERSION_MINOR)

/* TICKMARK_CLOCK_VERSION of the library that the program runs with. */
int tickmark_clock_version(void);

enum tickmark_status {
	TICKMARK_OK = 0,
	TICKMARK_UNSYNCHRONISED = 1, /* the writer of the page knows no bound; tickmark_get_info() says why */
	TICKMARK_STALE = 2,          /* the page is older than its validity, or its writer has ended */
	TICKMARK_DISRUPTED =
		3,           /* the machine was suspended or migrated, or its counter set, since the page was written */
	TICKMARK_CLOSED = 4, /* the writer has ended in order and withdrawn the page */
	TICKMARK_TOO_OLD = 5, /* tickmark_at(): the stamp is older than the times that the page covers */
	TICKMARK_BUSY = 6     /* the page was being written all the time; try again */
};

enum tickmark_scale {
	TICKMARK_JOB = 1, /* ns of the clock of rank 0 of a job, since the job's first clock session */
	TICKMARK_UTC = 2, /* ns since 1970-01-01 00:00:00 UTC, leap seconds not counted (as CLOCK_REALTIME) */
	TICKMARK_FILE = 3 /* ns of the corrected time of a .clk file, since the begin of its run */
};

/* A reading. The true time was at least once during the call in [earliest_ns, latest_ns]. Where status is not TICKMARK_OK
 * they are INT64_MIN and INT64_MAX. */
struct tickmark_time {
	int64_t earliest_ns, latest_ns;
	uint64_t axis;  /* times are comparable if scale and axis are equal: one job, one file; 0 for UTC */
	int32_t scale;  /* enum tickmark_scale */
	int32_t status; /* enum tickmark_status */
};

enum tickmark_answer { TICKMARK_NO = 0, TICKMARK_YES = 1, TICKMARK_UNKNOWN = 2 };

struct tickmark_options {
	size_t size; /* sizeof(struct tickmark_options), as TICKMARK_OPTIONS says */
	int scale;   /* enum tickmark_scale: which clock to open */
	const char *
		name; /* TICKMARK_JOB: name of the job, NULL: this process's own; TICKMARK_FILE: path of the .clk file */
	const char *folder; /* where the pages are; NULL: the usual places, see the manual */
	long owner;         /* user id that must own the page; -1: this user or root */
	int rank;           /* TICKMARK_FILE: the rank whose clock is read; -1: the first rank that ran on this node */
	unsigned flags;     /* TICKMARK_* flags below */
};
/* Opens the clock even if the page's writer reads /dev/vmclock0 and this process cannot. This process then notices a
 * migration only after the writer has noticed it. */
#define TICKMARK_WITHOUT_VMCLOCK 1u
/* clang-format off */
#define TICKMARK_OPTIONS { sizeof(struct tickmark_options), TICKMARK_JOB, NULL, NULL, -1, -1, 0 }
/* clang-format on */

struct tickmark_error {
	int code;       /* an errno value */
	char text[256]; /* one line for a person */
};

struct tickmark_clock;

/* Opens a clock. Returns NULL with *err (which may be NULL). A clock that opens can still have a status other than OK. */
struct tickmark_clock *tickmark_open(const struct tickmark_options *o, struct tickmark_error *err);
void tickmark_close(struct tickmark_clock *c);

/* Loads what tickmark_now() cannot: a page that was replaced because its writer was started again, or a .clk file that
 * was written again. Returns 1: loaded; 0: nothing new; -1: error in *err, the clock is as before. May be called while
 * other threads read a TICKMARK_FILE clock, not while they read one of the other kinds. */
int tickmark_refresh(struct tickmark_clock *c, struct tickmark_error *err);

/* The time now. Returns t->status. */
int tickmark_now(const struct tickmark_clock *c, struct tickmark_time *t);

/* A stamp of the clock's timer, to be turned into time later: cheaper than tickmark_now(). */
int64_t tickmark_raw(const struct tickmark_clock *c);

/* The time of an older stamp of tickmark_raw(), of any process on this node whose page has the same timer. Returns t->status. */
int tickmark_at(const struct tickmark_clock *c, int64_t raw, struct tickmark_time *t);

/* Was a before (after) b? TICKMARK_YES and TICKMARK_NO are certain; TICKMARK_UNKNOWN: the intervals overlap, one of the two
 * has no interval, or they are of different scales. */
int tickmark_before(const struct tickmark_time *a, const struct tickmark_time *b);
int tickmark_after(const struct tickmark_time *a, const struct tickmark_time *b);

/* Waits until the time t is certainly past, for timeout_ns at most (< 0: without limit). Returns TICKMARK_YES: it is
 * past; TICKMARK_NO: timeout_ns have passed; TICKMARK_UNKNOWN: t is not of this clock's scale, or either has no
 * interval. */
int tickmark_wait_until_after(const struct tickmark_clock *c, const struct tickmark_time *t, int64_t timeout_ns);

struct tickmark_info {
	size_t size;      /* the caller sets it to sizeof(struct tickmark_info) */
	char path[256];   /* of the page or the .clk file */
	char timer[64];   /* that tickmark_raw() reads: "CPU", "clock_monotonic", ... */
	char reason[128]; /* why the writer knows no bound; "" if it does */
	int64_t half_ns;  /* half width at the last update */
	int64_t age_ns;   /* since the last update */
	int64_t valid_ns; /* time for which the page can be used after an update */
	double grow_ppm;  /* the half width now grows by this fraction of the age */
	uint64_t updates; /* number of times that the page was written */
	long writer;      /* process id; 0: a .clk file */
	int vmclock;      /* 1: migrations are noticed at once */
};

/* What is known of the clock. Returns 0, or -1: the page was being written all the time. */
int tickmark_get_info(const struct tickmark_clock *c, struct tickmark_info *info);

/* "ok", "not synchronised", ... */
const char *tickmark_status_name(int status);

#ifdef __cplusplus
}
#endif

#endif
