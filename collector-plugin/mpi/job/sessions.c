/* SPDX-License-Identifier: BSD-3-Clause */
/* Clock sessions of the running job: at MPI_Init, in VT_timesync() and at MPI_Finalize (Intel Trace Collector guide,
 * section 3.6.1). They use a communicator of their own (calib/job/job.h). */
#include "config.h"
#include "collector-plugin/mpi/job/job.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text/text.h"
#include "calib/session/link_mpi.h"
#include "clock/page.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/run/run.h"

static double time_option(const char *name, double otherwise)
{
	const char *text = vt_collect_option(name);
	double s;

	return text && tkm_parse_time(text, &s) == 0 ? s : otherwise;
}

/* Reads an option that is a fraction. 0: not given, the timer decides. */
static double fraction_option(const char *name)
{
	const char *text = vt_collect_option(name);
	double part;

	return text && tkm_parse_fraction(text, &part) == 0 ? part : 0;
}

static long long count_option(const char *name, long long otherwise)
{
	const char *text = vt_collect_option(name);
	long long n;

	return text && tkm_parse_int(text, -1, 1 << 30, &n) == 0 ? n : otherwise;
}

static int switch_option(const char *name)
{
	const char *text = vt_collect_option(name);
	int on;

	return text && tkm_parse_bool(text, &on) == 0 ? on : -1;
}

static const char by_default[] = "default";

static int take_session_timer(void *ctx, const char *name, struct tkm_err *err)
{
	(void)ctx;
	/* the default timer of rank 0 is chosen later, by all ranks together */
	return strcmp(name, by_default) ? vt_collect_take_timer(name, err) : 0;
}

/* No timer was named on rank 0: the job takes the CPU's counter if it is proven good on every node, else
 * clock_monotonic. */
static int settle_default(struct vt_job *j, struct tkm_err *err)
{
	const double budget_s = 0.02;
	const char *name;
	int missing;

	if (cal_counter_prove(j->link, budget_s, &missing, err) < 0) {
		return -1;
	}
	name = missing < 0 ? "CPU" : "clock_monotonic";
	if (j->rank == 0 && missing >= 0) {
		vt_say(2, "INFO", "TIMER clock_monotonic: CPU is not proven to be one clock on the node of rank %d",
			missing);
	}
	if (strcasecmp(vt_collect_timer_name(), name) && vt_collect_take_timer(name, err) < 0) {
		vt_say(1, "WARNING", "TIMER %s is kept, although the job takes %s: %s", vt_collect_timer_name(), name,
			err->text);
		err->text[0] = '\0';
	}
	return 0;
}

int vt_job_settle_timer(struct vt_job *j, struct tkm_err *err)
{
	const char *own = vt_collect_timer_by_default() ? by_default : vt_collect_timer_name();
	struct cal_timer_choice choice;

	j->link = cal_link_join(MPI_COMM_WORLD, err);
	if (!j->link || cal_timers_settle(j->link, own, take_session_timer, NULL, &choice, err) < 0 ||
		(!strcmp(choice.name, by_default) && settle_default(j, err) < 0)) {
		return -1;
	}
	if (choice.differ > 0 && j->rank == 0) {
		vt_say(1, "WARNING", "%s%s", choice.text,
			choice.unsettled ? ": these clocks are not the same, and the bounds between them may be wide"
					 : "; what was recorded before MPI_Init with another timer is left out");
	}
	return 0;
}

/* The job whose timer is steered: its sampling thread also reads the free clock. */
static struct vt_job *steered;

static void read_steered(void)
{
	cal_job_pair(&steered->clock);
}

static void say_earlier(const struct vt_job *j, const char *file)
{
	if (j->rank == 0 && file && j->clock.earlier_known) {
		vt_say(2, "INFO", "LEARN-FROM %s: it has the rates of %d of %d clocks", file, j->clock.earlier_known,
			j->ranks - 1);
	} else if (j->rank == 0 && file) {
		vt_say(1, "WARNING", "LEARN-FROM: %s", j->clock.earlier_why);
	}
}

int vt_job_clock_open(struct vt_job *j, struct tkm_err *err)
{
	struct cal_job_options o = cal_job_defaults();

	if (!j->link) {
		err->text[0] = '\0'; /* the reason was reported when the timers could not be settled */
		return -1;
	}
	j->link->timer = j->collect->timer;
	o.max_messages = count_option("SYNC-MAX-MESSAGES", o.max_messages);
	/* 0 and less: one batch of exchanges, which is as short as a barrier and has a bound */
	o.max_duration_s = time_option("SYNC-MAX-DURATION", o.max_duration_s);
	o.max_duration_s = o.max_duration_s > 1e-6 ? o.max_duration_s : 1e-6;
	o.synced_host = switch_option("SYNCED-HOST");
	o.synced_cluster = switch_option("SYNCED-CLUSTER");
	o.max_drift = fraction_option("MAX-DRIFT");
	o.max_wander = fraction_option("MAX-WANDER");
	o.learn = switch_option("LEARN-DRIFT") == 1;
	o.learn_from = vt_collect_option("LEARN-FROM");
	o.skip = (int)count_option("TIMER-SKIP", o.skip);
	if (cal_job_begin(&j->clock, j->link, &o, err) < 0) {
		return -1;
	}
	say_earlier(j, o.learn_from);
	if (j->clock.reference && vt_has_vtsampler()) {
		struct vt_raw_head *head = vt_raw_head(j->collect->raw);

		snprintf(head->reference, sizeof(head->reference), "%.63s", j->clock.reference->name);
		atomic_store_explicit(&head->pairs, 1, memory_order_release);
	} else if (j->clock.reference) {
		steered = j;
		atomic_store_explicit(&j->collect->at_wake, read_steered, memory_order_release);
	}
	return 0;
}

/* Stores the measurements in the raw file at once, so that they are there if the job dies. */
static void store_clocks(struct vt_job *j)
{
	struct tkm_err e;
	char *text = NULL;
	size_t length = 0;
	FILE *f = open_memstream(&text, &length);

	if (f && (cal_job_keep(&j->clock, f, &e) | tkm_text_end(f, &text)) == 0) {
		vt_raw_clocks(j->collect->raw, text, length);
	}
	free(text);
}

/* Finds SYNCED-HOST and SYNCED-CLUSTER, as given or as measured. *within_s: how far the clocks of a host can be
 * apart. */
static void find_synced(const struct vt_job *j, int *host, int *cluster, double *within_s)
{
	const struct cal_place *place = j->clock.place;
	int i, exchanging = 0, share = 0;

	*host = 1;
	*within_s = 0;
	for (i = 1; i < j->ranks; i++) {
		exchanging += j->clock.exchanges[i];
		if (place[i].leader != i) {
			share++;
			*host &= !j->clock.exchanges[i];
			*within_s = place[i].within_s > *within_s ? place[i].within_s : *within_s;
		}
	}
	*host &= share > 0;
	*cluster = switch_option("SYNCED-CLUSTER") > 0;
	for (i = 1; exchanging == 0 && i < j->ranks; i++) {
		*cluster |= place[i].leader != 0;
	}
}

static const char *on_off(int on)
{
	return on ? "on" : "off";
}

/* Counts the ranks whose clock did not move while its resolution was measured. *first: the lowest of them. */
static int ranks_without_tick(const struct vt_job *j, int *first)
{
	int i, n = 0;

	for (i = 0; i < j->ranks; i++) {
		if (!(j->clock.tick[i].ticks > 0)) {
			*first = n++ ? *first : i;
		}
	}
	return n;
}

void vt_job_say_clocks(struct vt_job *j)
{
	char within[40] = "", *text = NULL;
	int host, cluster, i, n = 0, still, first = 0;
	double within_s;
	size_t length;
	FILE *f;

	if (j->rank != 0 || j->ranks < 2) {
		return;
	}
	find_synced(j, &host, &cluster, &within_s);
	for (i = 1; i < j->ranks; i++) {
		n += j->clock.exchanges[i];
	}
	if (host && within_s > 0) {
		snprintf(within, sizeof(within), ", to within %.3g ns", tkm_round_up(within_s * 1e9, 3, 'g'));
	}
	vt_say(2, "INFO", "SYNCED-HOST %s (%s%s), SYNCED-CLUSTER %s (%s): %d of %d ranks exchange messages with others",
		on_off(host), switch_option("SYNCED-HOST") < 0 ? "found" : "given", within, on_off(cluster),
		switch_option("SYNCED-CLUSTER") < 0 ? "found" : "given", n, j->ranks - 1);
	still = ranks_without_tick(j, &first);
	if (still) {
		vt_say(1, "WARNING",
			"the clock of rank %d, %s, did not move for 10 ms%s: its step is unknown, so stamps can be "
			"farther off "
			"than "
			"their bounds say; another clock is VT_TIMER=clock_monotonic",
			first, vt_collect_timer_name(), still > 1 ? ", nor did those of others" : "");
	}
	f = open_memstream(&text, &length);
	if (!f) {
		return;
	}
	fprintf(f, "%sINFO SYNCED-HOST %s %s%s\nINFO SYNCED-CLUSTER %s %s\n",
		j->collect->job_lines ? j->collect->job_lines : "", on_off(host),
		switch_option("SYNCED-HOST") < 0 ? "found" : "given", within, on_off(cluster),
		switch_option("SYNCED-CLUSTER") < 0 ? "found" : "given");
	if (still) {
		fprintf(f, "INFO EFFECTIVE-TICK unknown on %d of %d ranks, the first is %d\n", still, j->ranks, first);
	}
	if (tkm_text_end(f, &text) == 0) {
		/* another thread may be writing the protocol at this moment, with the previous text */
		j->collect->job_lines = text;
	}
}

int vt_job_session(struct vt_job *j, enum cal_session_kind kind, struct tkm_err *err)
{
	struct tkc_watch watch = { .marker = 0 };
	int rc;

	vt_job_page_watch(&watch);
	rc = cal_job_session(&j->clock, kind, err);
	if (rc == 0) {
		vt_job_page_write(j, &watch);
	}
	store_clocks(j);
	/* whatever the threads record from here on is known to be after the session */
	vt_raw_session_over(j->collect->raw);
	return rc;
}
