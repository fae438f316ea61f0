/* SPDX-License-Identifier: BSD-3-Clause */
/* What counters of nodes show. All programs of the node are in them, so they never lead. */
#include "config.h"
#include "report/findings/rule.h"

#include <math.h>
#include <string.h>

#include "report/html/html.h"

/* A counter of a node whose mean over the run is above its limit, in percent of the run; doc/man/vtreport.1 has the rows, and `also`
 * of tests/cli/vtreport/findings.sh the names. */
static const struct high {
	const char *counter;
	double limit;
	const char *title, *what, *what_to_do;
} highs[] = {
	{ "psi_io", 20, "Storage of the node was busy", "tasks waited for I/O", "The picture of disk_io shows when." },
	{ "cpu_iowait", 20, "CPUs of the node waited for storage", "CPUs were idle while tasks waited for disks",
		"The picture of disk_io shows when." },
	{ "disk_busy", 80, "Disks of the node were saturated", "disks had requests to serve, summed up over its disks,",
		"Read and write less or in larger pieces, or on a file system of several nodes." },
	{ "psi_mem", 20, "Memory of the node was short", "tasks waited for memory",
		"Use less memory in each process, for example on more nodes." },
};

static double most_of(const struct vtr_series *s)
{
	return s->sum / s->weight;
}

static void find_high(struct vtr_findings *all, const struct vtr_trace *t, const struct high *h)
{
	const struct vtr_series *most;
	char a[80];

	vtr_node_mean(t, h->counter, &most);
	if (most && most_of(most) > h->limit) {
		vtr_find(all, h->counter, 100 + fmin(99, most_of(most) / 4), VTR_UNKNOWN, h->title,
			"%s, other programs included: %s for %.1f %% of the time on average, at most %.1f %%.",
			vtr_willy_label(t, most->willy, a, sizeof(a)), h->what, most_of(most), most->high)
			->what_to_do = h->what_to_do;
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
			vtr_value(b, sizeof(b), by, size ? t->counter[size->counter].unit : "ns"))
			->what_to_do = "Let NTP step the clock at its start only and slew it later, or trace with a "
				       "timer that is never set.";
	}
	if (ntp && ntp->high >= 5) {
		vtr_find(all, "not-synchronised", 20, VTR_UNKNOWN, "NTP does not synchronise the clock",
			"The kernel says that CLOCK_REALTIME of %s is not synchronised; times of day may be wrong.",
			vtr_willy_label(t, ntp->willy, a, sizeof(a)))
			->what_to_do =
			"Start chronyd or ntpd, if logs of several nodes are compared; times of the trace do "
			"not depend on it.";
	}
}

void vtr_find_in_nodes(struct vtr_findings *all, const struct vtr_trace *t)
{
	size_t i;

	for (i = 0; i < sizeof(highs) / sizeof(highs[0]); i++) {
		find_high(all, t, &highs[i]);
	}
	find_clock_trouble(all, t);
}
