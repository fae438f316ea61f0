/* SPDX-License-Identifier: BSD-3-Clause */
/* Disks, interfaces and CPUs that appear while a program runs. Their counters are chosen by the same rules, and
 * defined when they appear. The sums (disk_io, net_io, cpu_idle) need none of this. */
#include "config.h"
#include "collector-plugin/sample/new_devices.h"

#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/collector.h"
#include "collector-plugin/host/memory.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/sample/sample.h"

/* New devices may appear all the time, such as the virtual pairs of containers. The trace must not grow without
 * limit. */
enum { LOOK_EVERY_MS = 1000, MAX_LATER = 32 };

struct later {
	struct vt_book book;
	uint32_t ids[];
};

static size_t planned_so_far(const struct vt_sampler *s)
{
	const struct vt_target *t;
	size_t n = smp_plan_size(s->book.plan);

	for (t = s->later; t; t = t->next) {
		n += smp_plan_size(t->book->plan);
	}
	return n;
}

static void add_plan(struct vt_sampler *s, struct smp_plan *plan)
{
	size_t n = smp_plan_size(plan), ids = (n + 1) / 2 * 2 * sizeof(uint32_t);
	struct later *l = vt_pages(sizeof(*l) + ids + vt_book_size(n));
	struct vt_target *t = NULL;

	if (l) {
		l->book = (struct vt_book){ .plan = plan, .ids = l->ids };
		vt_book_init(&l->book, (uint8_t *)l->ids + ids, n);
		vt_plan_define(s->c, plan, s->first_id + (uint32_t)planned_so_far(s), l->ids);
		t = vt_target_new(s, &l->book, SMP_NODE, 0, VT_RAW_GROUP + VT_RAW_NODE, NULL);
	}
	if (t) {
		t->next = s->later;
		s->later = t;
		s->last_plan = plan;
		s->n_later++;
	}
}

static void devices_came(struct vt_sampler *s)
{
	struct tkm_err e;
	struct smp_plan *plan = smp_plan_later(s->last_plan ? s->last_plan : s->book.plan, &e);
	size_t n = plan ? smp_plan_size(plan) : 0;

	if (n && s->n_later < MAX_LATER && s->first_id + planned_so_far(s) + n < VT_FIRST_ID) {
		add_plan(s, plan);
	} else if (n && !s->said_later) {
		s->said_later = 1;
		vt_raw_comment(s->stream, vt_ticks_now(&s->c->pub), 0,
			"sampler: devices keep coming; those that come from here on have no counters of their own");
	}
	if (plan != s->last_plan) {
		smp_plan_close(plan);
	}
}

static void look_for_devices(struct vt_sampler *s)
{
	int64_t now = vt_now_ns(CLOCK_MONOTONIC);
	uint64_t mark;

	if (!s->book.plan || now - s->marked_ns < LOOK_EVERY_MS * 1000000ll) {
		return;
	}
	/* at the first call, too: a device may have appeared since the counters were chosen */
	mark = smp_plan_mark(s->book.plan);
	if (mark && mark != s->mark) {
		devices_came(s);
	}
	s->mark = mark;
	s->marked_ns = now;
}

void vt_sample_node(struct vt_sampler *s)
{
	struct vt_target *t;

	if (!s->node) {
		s->node = vt_target_new(s, &s->book, SMP_NODE, 0, VT_RAW_GROUP + VT_RAW_NODE, NULL);
	}
	if (s->node && s->node->set) {
		vt_target_sample(s, s->node);
	}
	s->node_ns = vt_now_ns(CLOCK_MONOTONIC);
	look_for_devices(s);
	for (t = s->later; t; t = t->next) {
		vt_target_sample(s, t);
	}
}
