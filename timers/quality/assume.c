/* SPDX-License-Identifier: BSD-3-Clause */
/* What may be assumed about the rate of a timer; see timers/quality/assume.h. */
#include "config.h"
#include "timers/quality/assume.h"

#include <stdio.h>
#include <string.h>

#include "base/rootfs.h"
#include "timers/quality/utc.h"
#include "timers/timer_private.h"

/* A quartz is within 100 ppm of its nominal frequency. But the nominal frequency here is the one that the kernel
 * measured or the processor states, and some machines round it. NTP can correct 500 ppm: a kernel whose clock is
 * farther off cannot keep time. */
const double tmr_free_drift = 500e-6;

/* A quartz that has warmed up changes by some 0.1 ppm per degree. */
const double tmr_free_wander = 1e-6;

/* adjtime() slews by 500 ppm; the correction of the frequency by NTP is at most 500 ppm and changes by what the daemon
 * finds. Both together are off the free rate by twice that. */
const double tmr_steering = 500e-6;

/* ADJ_TICK changes the rate by up to 10 %, besides both. */
const double tmr_tick_limit = 0.1;

static void say_kernel(struct tmr_assumption *a)
{
	struct tmr_utc_watch watch = { .adjtimex = NULL };
	struct tmr_utc utc;

	tmr_utc_read(&watch, &utc);
	if (utc.status == TMR_UTC_REFUSED) {
		snprintf(a->wander_from, sizeof(a->wander_from),
			"the kernel's clock, steered by at most 500 ppm (adjtimex is refused)");
		return;
	}
	snprintf(a->wander_from, sizeof(a->wander_from),
		"the kernel's clock, steered by at most 500 ppm; adjtimex: frequency %+.3f ppm with the tick, %s",
		utc.freq_ppm, utc.status == TMR_UTC_UNSYNCHRONISED ? "not synchronised" : "synchronised");
}

void tmr_assume_free(struct tmr_assumption *a)
{
	memset(a, 0, sizeof(*a));
	a->max_drift = tmr_free_drift;
	a->max_wander = tmr_free_wander;
	snprintf(a->drift_from, sizeof(a->drift_from), "the most that NTP can correct");
	snprintf(a->wander_from, sizeof(a->wander_from), "a free quartz that has warmed up");
}

void tmr_assume(const struct tmr_timer *t, struct tmr_assumption *a)
{
	tmr_assume_free(a);
	/* all simulated clocks wrap the same base, so tmr_steering the base makes no difference between them */
	if (!(t->flags & TMR_SLEWED)) {
		return;
	}
	a->max_wander = tmr_steering;
	a->max_slew = 2 * tmr_steering;
	a->slew_limit = tmr_tick_limit + 2 * tmr_steering;
	if (t->flags & TMR_SIMULATED) {
		snprintf(a->wander_from, sizeof(a->wander_from),
			"a simulated clock that is slewed, as the kernel's by at most 500 ppm");
	} else if (t->ops->own_quartz) {
		a->max_slew += 2 * tmr_free_drift; /* it has a quartz of its own beside the kernel's */
		a->slew_limit += 2 * tmr_free_drift;
		snprintf(a->wander_from, sizeof(a->wander_from), "%s, steered by at most 500 ppm",
			t->ops == &tmr_ptp              ? "a PTP device"
				: t->flags & TMR_DEVICE ? "a GPU, of which nothing else is known"
							: "MPI's clock, which may be the kernel's");
	} else {
		say_kernel(a);
	}
}

struct tmr_timer *tmr_open_reference(struct tmr_timer *t, int *why, struct tkm_err *err)
{
	struct tmr_timer *reference;

	*why = 0;
	if (!(t->flags & TMR_SLEWED)) {
		return NULL;
	}
	reference = t->ops->free_twin ? t->ops->free_twin(t, err) : tmr_open("clock_monotonic_raw", 0, err);
	*why = !reference;
	return reference;
}

int tmr_disruption_marker(int root, uint64_t *marker)
{
	/* struct vmclock_abi of linux/vmclock-abi.h: magic, size, version, counter_id, time_type, seq_count, disruption_marker */
	char page[40];
	uint32_t magic;

	if (tkm_root_read(root, "/dev/vmclock0", page, sizeof(page)) < 24) {
		return 0;
	}
	memcpy(&magic, page, sizeof(magic));
	memcpy(marker, page + 16, sizeof(*marker));
	return magic == 0x4b4c4356; /* "VCLK" */
}
