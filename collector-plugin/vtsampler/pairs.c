/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a clock that the kernel steers together with a clock that is not steered, and the clocks by which other programs log together
 * with the timer. These pairs of readings go into the raw file. The rank uses them at its end; if it has died, the merge uses them. Between two clock sessions no
 * other process reads these clocks. */
#include "config.h"
#include "collector-plugin/vtsampler/vtsampler.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calib/file/clk.h"
#include "base/text/text.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"
#include "timers/quality/assume.h"
#include "timers/quality/utc.h"

enum { EARLY_NS = 50000000 };

int vt_measured_wants_pairs(const struct vt_measured *p)
{
	const struct vt_raw_head *h = p->ended || p->pairs_refused ? NULL : vt_raw_head(p->c.pub.raw);

	return h && atomic_load_explicit(&h->pairs, memory_order_acquire);
}

/* Opens the same clock without steering as in the process. Returns 0 or -1. */
static int open_unsteered_clock(struct vt_measured *p)
{
	const struct vt_raw_head *h = vt_raw_head(p->c.pub.raw);
	struct tkm_err e = { TKM_OK, "there is no free clock" };
	int why;

	p->reference = tmr_open_reference(p->c.pub.timer, &why, &e);
	if (p->reference && strncmp(p->reference->name, h->reference, sizeof(h->reference) - 1)) {
		snprintf(e.text, sizeof(e.text), "the free clock is %.60s here and %.60s in the program",
			p->reference->name, h->reference);
		tmr_close(p->reference);
		p->reference = NULL;
	}
	if (!p->reference) {
		p->pairs_refused = 1;
		vt_say_to_measured(p);
		vt_say(1, "WARNING",
			"%s is not read between clock sessions: %s. Bounds there are wider; VT_SAMPLER=thread reads it",
			p->c.timer_name, e.text);
		return -1;
	}
	return 0;
}

void vt_measured_read_pair(struct vt_measured *p, int64_t now)
{
	struct cal_pairs one = { .n = 0 };
	char line[128];
	int over, n;

	if (now < p->pair_due || !vt_measured_wants_pairs(p) || (!p->reference && open_unsteered_clock(p) < 0)) {
		return;
	}
	/* read before the clocks: a session that ends meanwhile is not counted */
	over = (int)atomic_load(&vt_raw_head(p->c.pub.raw)->sessions);
	if (cal_pairs_take(&one, p->c.pub.timer, p->reference, over, NULL) == 0) {
		n = snprintf(line, sizeof(line), "pair %" PRId64 " %" PRId64 " %" PRId64 " %d\n", one.pair[0].local.v,
			one.pair[0].before.v, one.pair[0].after.v, over);
		vt_raw_clocks(p->c.pub.raw, line, (size_t)n);
	}
	cal_pairs_free(&one);
	p->pair_due = now + (int64_t)(cal_pair_every_s * 1e9);
}

/* ---- the clocks of other programs ---- */

/* Each clock is opened once; NULL: it is not there. */
static struct tmr_timer *clocks[CAL_CLOCKS];

static void open_clocks_of_kernel(void)
{
	static int done;
	struct tkm_err e;
	int k;

	for (k = 0; k < CAL_CLOCKS && !done; k++) {
		clocks[k] = tmr_open(cal_clock_name(k), 0, &e);
	}
	done = 1;
}

/* Processes with one timer need one reading, which the first of them that runs gets. */
static int another_has_timer(const struct vt_measured *p)
{
	const struct vt_measured *q;

	for (q = p->next; q && (q->ended || strcmp(q->c.timer_name, p->c.timer_name) || strchr(q->c.timer_name, '{'));
		q = q->next) {
	}
	return q != NULL;
}

int vt_measured_wants_clocks(const struct vt_measured *p, int joined)
{
	return !p->ended && (joined || vt_raw_head(p->c.pub.raw)->ranks > 1) && !another_has_timer(p);
}

/* What the kernel states of the frequency of its clocks, in ppm; NAN: it refuses to. */
static double stated_frequency(void)
{
	struct tmr_utc_watch watch = { .adjtimex = NULL };
	struct tmr_utc utc;

	tmr_utc_read(&watch, &utc);
	return utc.status == TMR_UTC_REFUSED ? NAN : utc.freq_ppm;
}

static int read_clock(const struct vt_measured *p, int k, struct cal_reading *to)
{
	struct cal_pairs one = { .n = 0 };
	int rc = clocks[k] ? cal_pairs_take(&one, clocks[k], p->c.pub.timer, 0, NULL) : -1;

	if (rc == 0) {
		*to = one.pair[0];
	}
	cal_pairs_free(&one);
	return rc;
}

/* clock_monotonic, which is never set, says how all that are steered go on. A reading later than its own reading is off by what the
 * kernel can have steered since then. */
static void read_all_clocks(struct vt_measured *p, struct cal_reading r[CAL_CLOCKS], int there[CAL_CLOCKS])
{
	double hz = p->c.pub.timer->hz, left = 0;
	int i, k;

	for (i = 0; i < CAL_CLOCKS; i++) {
		k = (CAL_MONOTONIC + i) % CAL_CLOCKS;
		there[k] = read_clock(p, k, &r[k]) == 0;
		if (k == CAL_MONOTONIC && there[k]) {
			left = cal_steering_add(&p->steering, &r[k], p->c.timer_name, hz, stated_frequency());
		}
		if (there[k] && left > 0 && cal_clock_is_steered(cal_clock_name(k))) {
			r[k].off = left + 2 * tmr_steering * (double)ltick_sub(r[k].after, r[CAL_MONOTONIC].before);
		}
	}
}

/* last: nothing more is read. */
static void write_clocks(struct vt_measured *p, int last)
{
	struct cal_reading r[CAL_CLOCKS], keep;
	int there[CAL_CLOCKS], k, all = 0;
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	open_clocks_of_kernel();
	read_all_clocks(p, r, there);
	for (k = 0; f && k < CAL_CLOCKS; k++) {
		if (there[k] && cal_clock_watch_add(&p->clock[k], &r[k], p->c.pub.timer->hz, &keep)) {
			cal_clk_write_clock(f, k, &keep);
			all++;
		}
		if (there[k] && last && cal_clock_watch_end(&p->clock[k], &keep)) {
			cal_clk_write_clock(f, k, &keep);
			all++;
		}
	}
	if (f && tkm_text_end(f, &text) == 0 && all > 0) {
		vt_raw_clocks(p->c.pub.raw, text, n);
	}
	free(text);
}

void vt_measured_read_clocks(struct vt_measured *p, int64_t now, int joined)
{
	double hz = p->c.pub.timer->hz, next_s = cal_steering_next_s(&p->steering, p->c.timer_name, hz);

	/* rather at a wake-up that is there anyway */
	if (now + (next_s > cal_pair_every_s ? EARLY_NS : 0) < p->clocks_due || !vt_measured_wants_clocks(p, joined)) {
		return;
	}
	write_clocks(p, 0);
	p->clocks_due = now + (int64_t)(1e9 * cal_steering_next_s(&p->steering, p->c.timer_name, hz));
}

void vt_measured_end_clocks(struct vt_measured *p)
{
	if (p->clock[CAL_MONOTONIC].begun) {
		write_clocks(p, 1);
	}
}
