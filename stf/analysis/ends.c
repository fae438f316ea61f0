/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits that are only known at the end of the reading. */
#include "config.h"
#include "stf/analysis/ends.h"

/* The call of a thread in which all processes come together; NULL: it did not make it. */
static const struct stf_open_call *joint_call(const struct stf_thread *h, enum stf_wait_kind kind)
{
	const struct stf_open_call *c = !h ? NULL : kind == STF_WAIT_INIT ? &h->init : &h->final;

	return c && c->flags ? c : NULL;
}

/* The thread that came last, of those that came before a time; NULL: none did. */
static struct stf_thread *last_to_join(const struct stf_threads *t, enum stf_wait_kind kind, uint64_t before)
{
	const struct stf_open_call *c, *latest = NULL;
	struct stf_thread *last = NULL;
	uint64_t i;

	for (i = 0; i < t->n; i++) {
		c = joint_call(t->thread[i], kind);
		if (c && c->enter <= before && (!last || c->enter > latest->enter)) {
			last = t->thread[i];
			latest = c;
		}
	}
	return last;
}

/* Who came before the last one waited for it. Processes that were started later do not count for those that had gone on. */
static int add_joint_wait(struct stf_threads *t, struct stf_thread *h, enum stf_wait_kind kind, struct stf_thread *last)
{
	const struct stf_open_call *c = joint_call(h, kind), *l = joint_call(last, kind);
	struct stf_one_wait one;

	if (c && l->enter > c->leave) {
		last = last_to_join(t, kind, c->leave);
		l = joint_call(last, kind);
	}
	if (!c || !l || l->enter <= c->enter) {
		return 0;
	}
	one = (struct stf_one_wait){ .kind = kind,
		.willy = h->sum.willy,
		.function = c->function,
		.scl = c->scl,
		.cause = last->sum.willy,
		.cause_function = l->before,
		.from = c->enter,
		.to = l->enter,
		.ready = l->enter,
		.past = kind == STF_WAIT_FINALIZE ? &h->past : NULL,
		.cause_past = &last->past };
	return stf_waits_add(&t->waits, &one) < 0 ? -1 : 0;
}

static int add_joint_waits(struct stf_threads *t, enum stf_wait_kind kind)
{
	struct stf_thread *last = last_to_join(t, kind, UINT64_MAX);
	uint64_t i;
	int rc = 0;

	for (i = 0; last && i < t->n && rc == 0; i++) {
		rc = add_joint_wait(t, t->thread[i], kind, last);
	}
	return rc;
}

static int add_open_wait(struct stf_threads *t, const struct stf_thread *h, uint64_t end)
{
	struct stf_one_wait one = { .kind = STF_WAIT_OPEN,
		.willy = h->sum.willy,
		.function = h->call.function,
		.scl = h->call.scl,
		.cause = h->sum.willy,
		.from = h->call.enter,
		.to = end,
		.ready = end };

	return end > h->call.enter && stf_waits_add(&t->waits, &one) < 0 ? -1 : 0;
}

int stf_find_end_waits(struct stf_threads *t, uint64_t end)
{
	uint64_t i;
	int rc = add_joint_waits(t, STF_WAIT_INIT) | add_joint_waits(t, STF_WAIT_FINALIZE);

	for (i = 0; i < t->n && rc == 0; i++) {
		const struct stf_thread *h = t->thread[i];

		if (h && h->call_depth && !h->sum.ends && !(h->call.flags & STF_CALL_INIT)) {
			rc = add_open_wait(t, h, end);
		}
	}
	return rc;
}
