/* SPDX-License-Identifier: BSD-3-Clause */
/* The last result of timertest, timertest.json in the state directory: what `timertest --check` judges of the whole
 * cluster. Its schema is the one of timertest --json, "timertest/1", with one more member, "first": the clock source
 * that each host had when a result was first stored since the host was booted. */
#ifndef CHECK_STORED_H
#define CHECK_STORED_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "base/err.h"

/* The kernel's clocks at one instant, read one after another. */
struct chk_instant {
	double realtime_s, monotonic_s, raw_s, boottime_s;
	double taken_s; /* between the first and the last read */
};

/* All in seconds and ppm, NAN where unknown. */
struct chk_stored {
	int have;
	char why[400];   /* when not: "no result in DIR: ..." */
	char path[4096]; /* of the file */
	double started_s;
	char timer[64], verdict[20], reason[400];
	int tells_time; /* the timer is a clock of the kernel that shows the time of day */
	int ranks, hosts;
	/* of this host */
	int here; /* 0: this host took no part in the stored run */
	char boot_id[40], kernel[200], clocksource[40];
	char first_clocksource[40]; /* "" when not stored */
	double suspended_s;         /* CLOCK_BOOTTIME minus CLOCK_MONOTONIC */
	double realtime_minus_boottime_s;
	int has_marker; /* of /dev/vmclock0 */
	uint64_t marker;
	/* of the cluster */
	double offset_max_s, offset_low_s, offset_high_s; /* largest after correction, certainly between low and high */
	double uncorrected_s;                             /* largest offset before correction; NAN unless tells_time */
	double drift_ppm;
	double residual_s;
	char worst_host[128];
};

/* The folder: $XDG_STATE_HOME/tickmark, /var/lib/tickmark for root, else ~/.local/state/tickmark. Returns buf; "" when there is
 * no home. */
char *chk_state_dir(char *buf, size_t size);
/* Reads DIR/timertest.json, with the members "of this host" for `host`. dir NULL: chk_state_dir(). Never fails: s->why
 * says what is missing. */
void chk_stored_read(struct chk_stored *s, const char *dir, const char *host);
/* Puts a result (JSON text of timertest) into the state directory, by rename. Keeps the first clock source of each host
 * that was not rebooted since. Returns 0, or -1 with the reason. */
int chk_stored_write(const char *dir, const char *json, struct tkm_err *err);

#endif
