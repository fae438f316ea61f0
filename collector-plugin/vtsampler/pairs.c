/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a clock that the kernel steers together with a clock that is not steered. These pairs of readings go into
 * the raw file. The rank uses them at its end; if it has died, the merge uses them. Between two clock sessions no
 * other process reads these clocks. */
#include "config.h"
#include "collector-plugin/vtsampler/vtsampler.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "collector-plugin/host/say.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"
#include "timers/quality/assume.h"

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
