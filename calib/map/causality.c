/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts and repairs messages that seem to arrive before they were sent; see calib/map/causality.h. */
#include "config.h"
#include "calib/map/causality.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/table.h"

/* Fewer events than this are not worth a pass. */
enum { LEAST = 4096 };

static const uint64_t none = UINT64_MAX;

/* An event that was not returned yet. Members refer to other events by their number since the beginning. */
struct waiting {
	struct cal_event e;
	uint64_t before, after; /* of the same rank */
	uint64_t other;         /* end of its message */
	int other_returned;     /* the other end was handed back, with the stamp `other_stamp` */
	int64_t other_stamp;
	int64_t least, most, now;
	uint32_t left; /* events that must come first */
};

/* One end of a message whose other end has not come yet. */
struct open_end {
	uint64_t event;
	int64_t given, returned; /* stamp; once it was handed back, the repaired one */
	int kind;
};

struct cal_causality {
	int ranks;
	int64_t latency;
	cal_event_out *out;
	void *ctx;
	struct waiting *w;
	size_t n, room, pass_at;
	uint64_t base;     /* number of w[0] */
	uint64_t *last;    /* of each rank, the newest event */
	int64_t *returned; /* of each rank, the newest stamp handed back */
	int64_t widest, newest;
	struct tkm_table ends; /* by message */
	uint64_t *ready;       /* work of a pass */
	struct cal_causality_stats stats;
};

/* ---- messages on their way ---- */

/* Finds the other end of a new event's message, or remembers the event. */
static int match_receive(struct cal_causality *c, uint64_t number)
{
	struct waiting *w = &c->w[number - c->base];
	struct open_end *end;
	size_t before = tkm_table_count(&c->ends);

	if (w->e.kind == CAL_EVENT_LOCAL || w->e.message == 0) {
		return 0;
	}
	end = tkm_table_put(&c->ends, &w->e.message, sizeof(w->e.message), sizeof(*end));
	if (!end) {
		return -1;
	}
	if (tkm_table_count(&c->ends) > before) {
		*end = (struct open_end){ .event = number, .given = w->e.stamp, .kind = w->e.kind };
		return 0;
	}
	if (end->kind == w->e.kind) {
		return 0; /* the number was used twice: this end stays unmatched */
	}
	c->stats.messages++;
	c->stats.before += w->e.kind == CAL_EVENT_RECEIVED ? w->e.stamp < end->given : end->given < w->e.stamp;
	if (end->event >= c->base) {
		w->other = end->event;
		c->w[end->event - c->base].other = number;
	} else {
		w->other_returned = 1;
		w->other_stamp = end->returned;
	}
	tkm_table_remove(&c->ends, end);
	return 0;
}

/* ---- a pass over all that wait ---- */

static struct waiting *waiting_at(struct cal_causality *c, uint64_t number)
{
	return number == none || number < c->base ? NULL : &c->w[number - c->base];
}

static int64_t max64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t min64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void order_of_rank(struct cal_causality *c)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		struct waiting *w = &c->w[i], *before = waiting_at(c, w->before);

		/* no rank goes back, so that this holds also where a band is wrong */
		w->least = max64(w->e.stamp - w->e.band, before ? before->least : c->returned[w->e.rank]);
	}
}

/* Puts the events into an order in which each follows those that it depends on: its rank's one before,
 * and its send. What is in a circle, which no run can make, is left out and stays as it is. */
static size_t sort_by_cause(struct cal_causality *c)
{
	size_t i, n = 0, done;

	for (i = 0; i < c->n; i++) {
		struct waiting *w = &c->w[i];

		w->now = w->e.stamp;
		w->most = w->e.stamp + w->e.band;
		w->left = (waiting_at(c, w->before) != NULL) + (w->e.kind == CAL_EVENT_RECEIVED && w->other != none);
		if (w->left == 0) {
			c->ready[n++] = c->base + i;
		}
	}
	for (done = 0; done < n; done++) {
		struct waiting *w = waiting_at(c, c->ready[done]), *next = waiting_at(c, w->after);
		struct waiting *received = w->e.kind == CAL_EVENT_SENT ? waiting_at(c, w->other) : NULL;

		if (next && --next->left == 0) {
			c->ready[n++] = w->after;
		}
		if (received && --received->left == 0) {
			c->ready[n++] = w->other;
		}
	}
	return n;
}

/* How late each event can have been, from the last to the first: before its rank's next, and before the message was
 * received. The latency of a message is not subtracted: along a chain of messages it would add up, and events long
 * after would matter. */
static void find_latest(struct cal_causality *c, size_t n)
{
	size_t i;

	for (i = n; i-- > 0;) {
		struct waiting *w = waiting_at(c, c->ready[i]), *next = waiting_at(c, w->after);
		struct waiting *received = w->e.kind == CAL_EVENT_SENT ? waiting_at(c, w->other) : NULL;

		if (next) {
			w->most = min64(w->most, next->most);
		}
		if (received) {
			w->most = min64(w->most, received->most);
		} else if (w->other_returned && w->e.kind == CAL_EVENT_SENT) {
			w->most = min64(w->most, w->other_stamp);
		}
		w->most = max64(w->most, w->least);
	}
}

/* Forward: as it was, or after its causes, but never later than that. */
static void move_stamps(struct cal_causality *c, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct waiting *w = waiting_at(c, c->ready[i]), *before = waiting_at(c, w->before);
		struct waiting *sent = w->e.kind == CAL_EVENT_RECEIVED ? waiting_at(c, w->other) : NULL;
		int64_t wanted = max64(w->e.stamp, before ? before->now : c->returned[w->e.rank]);

		if (sent || (w->other_returned && w->e.kind == CAL_EVENT_RECEIVED)) {
			wanted = max64(wanted, (sent ? sent->now : w->other_stamp) + c->latency);
		}
		w->now = min64(wanted, w->most);
	}
}

/* ---- handing back ---- */

static void count_moved(struct cal_causality *c, const struct waiting *w)
{
	int64_t shift = w->now > w->e.stamp ? w->now - w->e.stamp : w->e.stamp - w->now;

	c->stats.moved += shift > 0;
	if (shift > c->stats.largest) {
		c->stats.largest = shift;
		c->stats.largest_band = w->e.band;
	}
	if (w->other_returned) {
		c->stats.after += w->e.kind == CAL_EVENT_RECEIVED ? w->now < w->other_stamp : w->other_stamp < w->now;
	}
}

/* The other end, if it comes or goes later, has to find this one's stamp. */
static void part(struct cal_causality *c, const struct waiting *w)
{
	struct waiting *other = waiting_at(c, w->other);
	struct open_end *end;

	if (other && !other->other_returned) {
		other->other_returned = 1;
		other->other_stamp = w->now;
		other->other = none;
	} else if (!w->other_returned && w->e.kind != CAL_EVENT_LOCAL && w->e.message) {
		end = tkm_table_find(&c->ends, &w->e.message, sizeof(w->e.message));
		if (end && end->event == c->base + (uint64_t)(w - c->w)) {
			end->returned = w->now;
		}
	}
}

/* Repairs all that wait and hands back those before `until`. */
static int repair_waiting(struct cal_causality *c, int64_t until, struct tkm_err *err)
{
	size_t n, i, gone = 0;

	order_of_rank(c);
	n = sort_by_cause(c);
	find_latest(c, n);
	move_stamps(c, n);
	while (gone < c->n && c->w[gone].e.stamp < until) {
		gone++;
	}
	for (i = 0; i < gone; i++) {
		struct waiting *w = &c->w[i];
		struct cal_event e = w->e;

		count_moved(c, w);
		part(c, w);
		c->returned[e.rank] = w->now;
		e.stamp = w->now;
		if (c->out(c->ctx, &e, err) < 0) {
			return -1;
		}
	}
	if (gone < c->n) {
		memmove(c->w, c->w + gone, (c->n - gone) * sizeof(*c->w));
	}
	c->n -= gone;
	c->base += gone;
	c->pass_at = 2 * c->n > LEAST ? 2 * c->n : LEAST;
	return 0;
}

/* ---- the interface ---- */

struct cal_causality *cal_causality_open(int ranks, int64_t latency, cal_event_out *out, void *ctx, struct tkm_err *err)
{
	struct cal_causality *c = calloc(1, sizeof(*c));
	int i;

	if (c) {
		*c = (struct cal_causality){ .ranks = ranks,
			.latency = latency,
			.out = out,
			.ctx = ctx,
			.newest = INT64_MIN,
			.pass_at = LEAST,
			.last = malloc(((size_t)ranks + 1) * sizeof(*c->last)),
			.returned = malloc(((size_t)ranks + 1) * sizeof(*c->returned)) };
	}
	if (!c || !c->last || !c->returned) {
		tkm_fail(err, TKM_ERR_NOMEM, "causality: out of memory for %d ranks", ranks);
		cal_causality_close(c);
		return NULL;
	}
	for (i = 0; i < ranks; i++) {
		c->last[i] = none;
		c->returned[i] = INT64_MIN;
	}
	return c;
}

static int make_message_room(struct cal_causality *c)
{
	size_t room = c->room;

	return TKM_GROW(c->w, room, c->n + 1) < 0 || TKM_GROW(c->ready, c->room, c->n + 1) < 0 ? -1 : 0;
}

int cal_causality_add(struct cal_causality *c, const struct cal_event *e, struct tkm_err *err)
{
	struct waiting *before;
	uint64_t number;

	if (e->rank < 0 || e->rank >= c->ranks || e->band < 0 || e->stamp < c->newest) {
		return tkm_fail(err, TKM_ERR_DATA,
			"causality: an event of rank %d of %d, band %lld, stamp %lld before %lld", e->rank, c->ranks,
			(long long)e->band, (long long)e->stamp, (long long)c->newest);
	}
	/* events older than two bands can no longer move other events or be moved */
	if (c->n >= c->pass_at && repair_waiting(c, c->newest - 2 * c->widest - c->latency, err) < 0) {
		return -1;
	}
	number = c->base + c->n;
	if (make_message_room(c) < 0) {
		return tkm_fail(err, TKM_ERR_NOMEM, "causality: out of memory for %zu events", c->n);
	}
	c->w[c->n++] = (struct waiting){ .e = *e, .before = c->last[e->rank], .after = none, .other = none };
	before = waiting_at(c, c->last[e->rank]);
	if (before) {
		before->after = number;
	}
	c->last[e->rank] = number;
	c->newest = e->stamp;
	c->widest = max64(c->widest, e->band);
	return match_receive(c, number) < 0
		? tkm_fail(err, TKM_ERR_NOMEM, "causality: out of memory for %zu messages", tkm_table_count(&c->ends))
		: 0;
}

int cal_causality_finish(struct cal_causality *c, struct cal_causality_stats *stats, struct tkm_err *err)
{
	if (repair_waiting(c, INT64_MAX, err) < 0) {
		return -1;
	}
	c->stats.unmatched = tkm_table_count(&c->ends);
	*stats = c->stats;
	return 0;
}

void cal_causality_close(struct cal_causality *c)
{
	if (c) {
		free(c->w);
		free(c->last);
		free(c->returned);
		tkm_table_free(&c->ends);
		free(c->ready);
		free(c);
	}
}
