/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of shared memory through which one process publishes a clock's map and others read the time. libc only:
 * libVT writes it inside users' programs, and so does tickmark-clockd.
 *
 * The map is a straight line from the ticks of one timer to nanoseconds, with a half width that grows with the
 * distance from the tick it was made for. A sequence count, odd while the page is written, tells readers that a copy
 * is incomplete. */
#ifndef CLOCK_PAGE_H
#define CLOCK_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/err.h"
#include "include/clock.h"

enum {
	TKC_VERSION = 2,
	TKC_BYTES = 4096,
	TKC_SHIFT = 52,   /* of rate and grow: fixed-point numbers, below 4096 ns per tick */
	TKC_COUNTER = -1, /* struct tkc_page.timer: the cycle counter; else a POSIX clock id */
	TKC_VMCLOCK = 1,  /* struct tkc_page.flags: the writer looks at the disruption marker */
};
#define TKC_MAGIC UINT64_C(0x6b6c436b63695420) /* " TickClk" in memory */

/* One state of the clock, as the writer knows it. */
struct tkc_map {
	int status;          /* enum tickmark_status */
	const char *reason;  /* of a status that is not OK; NULL: "" */
	int64_t raw;         /* stamp of the timer at which ... */
	int64_t at_ns;       /* ... this was the time, to within ... */
	double half_ns;      /* ... so much */
	double ns_per_tick;  /* slope of the line */
	double grow;         /* growth of the half width, ns per tick, in both directions */
	double near_grow;    /* with the learned rate: a smaller growth, valid ... */
	int64_t near_ticks;  /* ... only up to raw + near_ticks; 0: nothing learned */
	int64_t since_raw;   /* stamps before this one are from another map */
	int64_t valid_ticks; /* the map may be used up to raw + valid_ticks */
};

/* The state of the machine, by which a reader notices a suspension or a migration. The writer takes it before the
 * measurement that the map comes from. A suspension in between then gives a status, not a map that looks valid. */
struct tkc_watch {
	int64_t boot_ns; /* CLOCK_BOOTTIME minus CLOCK_MONOTONIC: the time that the machine was suspended */
	uint64_t marker; /* disruption marker; 0 without vmclock */
};

/* struct tkc_map in shared memory; each word is read and written atomically. */
struct tkc_state {
	_Atomic uint32_t sequence; /* odd: being written */
	_Atomic int32_t status;
	_Atomic int64_t raw, at_ns, half_ns;
	_Atomic uint64_t rate, grow, near_grow; /* ns per tick, times 2^TKC_SHIFT */
	_Atomic int64_t since_raw, valid_ticks, near_ticks;
	_Atomic uint64_t marker;
	_Atomic int64_t realtime_ns; /* CLOCK_REALTIME_COARSE at `raw`, to find a suspension at little cost */
	_Atomic int64_t boot_ns;
	_Atomic uint64_t updates;
	_Atomic uint64_t reason[16]; /* text */
};

struct tkc_page {
	uint64_t magic;
	uint32_t version, size; /* size: sizeof(struct tkc_page) */
	int32_t scale, timer, flags, writer;
	uint64_t axis;
	char domain[24]; /* tkc_domain() of the writer */
	char timer_name[64];
	_Alignas(64) struct tkc_state state;
};

/* A page of this process that it may write. */
struct tkc_writer {
	struct tkc_page *page;
	int fd, folder; /* -1: closed. The open file has a lock until the writer ends */
	char name[96];  /* in the folder */
	char path[512];
};

/* A key that is equal for processes that share the kernel's clocks: host name, boot id, clock source, offsets of the time
 * namespace. As 16 hexadecimal digits; "" where the boot id cannot be read, which is equal to none. */
void tkc_domain(char key[24]);

/* The job that this process belongs to, as its launcher says, with only letters, digits, '.', '_' and '-'; "" if it is unknown. */
void tkc_job_name(char *name, size_t size);

/* The k-th place where pages of user `uid` are looked for: $TICKMARK_CLOCK_DIR; else $XDG_RUNTIME_DIR/tickmark for the own pages,
 * /run/tickmark for root's, /dev/shm/tickmark-UID. Returns 0, or -1: there are no more. */
int tkc_folder(int k, unsigned uid, char *path, size_t size);

/* Opens a folder that belongs to `uid` and to which no other user may write; creates it if `make`. Returns a descriptor
 * or -1. */
int tkc_folder_open(const char *path, unsigned uid, int make, struct tkm_err *err);

/* What is constant in a page. */
struct tkc_page_of {
	const char *folder; /* NULL: the first of the usual places that can be used */
	const char *name;
	int scale; /* enum tickmark_scale */
	uint64_t axis;
	const char *timer; /* canonical name (timers/timer.h) */
};
/* Makes a page. It replaces a page of that name whose writer has ended. status is UNSYNCHRONISED until the first
 * tkc_write(). Returns 0, or -1: no folder, another process writes a page of that name, or other processes cannot
 * read the timer. */
int tkc_create(struct tkc_writer *w, const struct tkc_page_of *of, struct tkm_err *err);

/* Records the state of the machine. Must be called before the measurement that tkc_write() will publish. vmclock: of
 * tkc_vmclock_open(), or NULL. */
struct tkc_vmclock;
void tkc_watch(const struct tkc_vmclock *vmclock, struct tkc_watch *now);

/* Publishes a map: no lock, no system call but the reading of clocks. One thread at a time. */
void tkc_write(struct tkc_page *p, const struct tkc_map *m, const struct tkc_watch *watch);
/* The same with everything given: CLOCK_REALTIME at m->raw. */
void tkc_write_state(struct tkc_state *s, const struct tkc_map *m, const struct tkc_watch *watch, int64_t realtime_ns);

/* Withdraws the page: status CLOSED, the file is removed. */
void tkc_withdraw(struct tkc_writer *w);

/* Closes the descriptors of a page that is written by a program of others. The mapping keeps the file open, and so the lock; fork() and
 * exec leave children nothing. tkc_sweep() must be called before. */
void tkc_close_descriptors(struct tkc_writer *w);

/* Removes pages in the folder of w whose names begin with `prefix` and whose writers have ended. */
void tkc_sweep(const struct tkc_writer *w, const char *prefix);

/* Returns 1 if the writer of the page of descriptor fd is running, else 0. Tests the writer's lock. */
int tkc_writer_lives(int fd);

/* POSIX clock id or TKC_COUNTER of a timer by its canonical name; -2: one that other processes cannot read. */
int tkc_timer_id(const char *name);

/* The clock device of a virtual machine, $TICKMARK_VMCLOCK or /dev/vmclock0. NULL: there is none, or it cannot be read. Its
 * marker changes when the machine is migrated; *steady is 0 while that is under way. */
const struct tkc_vmclock *tkc_vmclock_open(void);
void tkc_vmclock_close(const struct tkc_vmclock *v);
uint64_t tkc_vmclock_marker(const struct tkc_vmclock *v, int *steady);

#endif
