/* SPDX-License-Identifier: BSD-3-Clause */
/* What counters of nodes show. All programs of the node are in them, so they never lead. */
#include "config.h"
#include "report/findings/rule.h"

#include <math.h>
#include <string.h>

#include "report/html/html.h"

/* Limits above which something is reported; doc/man/vtreport.1 has them. */
#define IO_PRESSURE 20.0 /* percent of the run */
#define DISK_BUSY 80.0   /* percent of the run */

static double most_of(const struct vtr_series *s)
{
	return s->sum / s->weight;
}

/* Finds a rate whose mean over the run is above a limit. */
static void find_high(struct vtr_findings *all, const struct vtr_trace *t, const char *name, double limit,
	const char *title, const char *what)
{
	const struct vtr_series *most;
	char a[80];

	vtr_node_mean(t, name, &most);
	if (most && most_of(most) > limit) {
		vtr_find(all, name, 100 + fmin(99, most_of(most) / 4), VTR_UNKNOWN, title,
			"%s, other programs included: %s for %.1f %% of the time on average, at most %.1f %%.",
			vtr_willy_label(t, most->willy, a, sizeof(a)), what, most_of(most), most->high);
	}
}

static void find_clock_trouble(struct vtr_findings *all, const struct vtr_trace *t)
{
	const struct vtr_series *steps, *size, *ntp;
	char a[80], b[60];

	vtr_node_mean(t, "clock_steps", &steps);
	vtr_node_mean(t, "clock_stepped", &size);
	vtr_node_mean(t, "ntp_state", &ntp);
	if (steps && steps->increase > 0) {
		double by = size ? (fabs(size->high) > fabs(size->low) ? size->high : size->low) : NAN;

		vtr_find(all, "clock-set", 510, VTR_BAD, "The clock was stepped",
			"Somebody set CLOCK_REALTIME of %s %.0f time%s during the run, by %s together.",
			vtr_willy_label(t, steps->willy, a, sizeof(a)), steps->increase,
			steps->increase == 1 ? "" : "s",
			vtr_value(b, sizeof(b), by, size ? t->counter[size->counter].unit : "ns"));
	}
	if (ntp && ntp->high >= 5) {
		vtr_find(all, "not-synchronised", 20, VTR_UNKNOWN, "NTP does not synchronise the clock",
			"The kernel says that CLOCK_REALTIME of %s is not synchronised; times of day may be wrong.",
			vtr_willy_label(t, ntp->willy, a, sizeof(a)));
	}
}

void vtr_find_in_nodes(struct vtr_findings *all, const struct vtr_trace *t)
{
	find_high(all, t, "psi_io", IO_PRESSURE, "Storage of the node was busy", "tasks waited for I/O");
	find_high(all, t, "cpu_iowait", IO_PRESSURE, "CPUs of the node waited for storage",
		"CPUs were idle while tasks waited for disks");
	find_high(all, t, "disk_busy", DISK_BUSY, "Disks of the node were saturated",
		"disks had requests to serve, summed up over its disks,");
	find_high(all, t, "psi_mem", IO_PRESSURE, "Memory of the node was short", "tasks waited for memory");
	find_clock_trouble(all, t);
}
