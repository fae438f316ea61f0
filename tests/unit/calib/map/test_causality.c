/* SPDX-License-Identifier: BSD-3-Clause */
/* Repair of reversed messages, on made-up runs whose truth is known: every stamp is the truth plus an error
 * inside its band. */
#include "config.h"
#include "calib/map/causality.h"
#include "tests/lib/check.h"
#include "tests/lib/heap.h"

struct run {
	int ranks;
	size_t n;
	int64_t *truth;
	struct cal_event *event; /* in the order of its stamps */
	uint64_t messages;
};

struct kept {
	struct cal_event *event;
	size_t n;
};

static int by_stamp(const void *a, const void *b)
{
	const struct cal_event *x = a, *y = b;

	if (x->stamp != y->stamp) {
		return x->stamp < y->stamp ? -1 : 1;
	}
	return x->tag < y->tag ? -1 : x->tag > y->tag;
}

/* Random ranks act and send; a message takes at least 20 ticks. Errors of a rank swing slowly, so that its
 * stamps ascend as its clock does; `honest` 0: bands are claimed that are a tenth of the errors. */
static void make_run(struct run *r, int ranks, size_t n, int64_t band, int honest)
{
	int64_t now = 0, *phase = calloc((size_t)ranks, sizeof(*phase)), *last = calloc((size_t)ranks, sizeof(*last));
	struct {
		int64_t at;
		int to;
		uint64_t message;
	} *way = calloc(n, sizeof(*way));
	size_t ways = 0, i;

	*r = (struct run){
		.ranks = ranks, .truth = calloc(n, sizeof(*r->truth)), .event = calloc(n, sizeof(*r->event))
	};
	for (i = 0; i < (size_t)ranks; i++) {
		phase[i] = (int64_t)(check_random() % 10000);
		last[i] = INT64_MIN;
	}
	while (r->n < n) {
		struct cal_event e = { .tag = r->n };
		double error;

		now += (int64_t)(check_random() % 30);
		for (i = 0; i < ways && way[i].at > now; i++) {
		}
		if (i < ways) {
			e.rank = way[i].to;
			e.kind = CAL_EVENT_RECEIVED;
			e.message = way[i].message;
			way[i] = way[--ways];
		} else {
			e.rank = (int32_t)(check_random() % (uint64_t)ranks);
			e.kind = check_random() % 3 ? CAL_EVENT_SENT : CAL_EVENT_LOCAL;
			if (e.kind == CAL_EVENT_SENT) {
				e.message = ++r->messages;
				way[ways].at = now + 20 + (int64_t)(check_random() % 200);
				way[ways].to = (int)(check_random() % (uint64_t)ranks);
				way[ways++].message = e.message;
			}
		}
		error = (double)band * 0.99 * sin(((double)now + (double)phase[e.rank]) / (20. * (double)band + 1));
		e.stamp = now + (int64_t)error;
		e.stamp = e.stamp < last[e.rank] ? last[e.rank] : e.stamp;
		last[e.rank] = e.stamp;
		e.band = honest ? band : band / 10;
		r->truth[r->n] = now;
		r->event[r->n++] = e;
	}
	r->messages -= ways;
	qsort(r->event, r->n, sizeof(*r->event), by_stamp);
	free(phase);
	free(last);
	free(way);
}

static void free_run(struct run *r)
{
	free(r->truth);
	free(r->event);
}

static int keep(void *ctx, const struct cal_event *e, struct tkm_err *err)
{
	struct kept *k = ctx;

	(void)err;
	k->event[k->n++] = *e;
	return 0;
}

static void repair(const struct run *r, int64_t latency, struct kept *k, struct cal_causality_stats *s)
{
	struct tkm_err err;
	struct cal_causality *c = cal_causality_open(r->ranks, latency, keep, k, &err);
	size_t i;

	k->event = calloc(r->n, sizeof(*k->event));
	k->n = 0;
	for (i = 0; i < r->n; i++) {
		CHECK(cal_causality_add(c, &r->event[i], &err) == 0, "%s", err.text);
	}
	CHECK(cal_causality_finish(c, s, &err) == 0, "%s", err.text);
	cal_causality_close(c);
	CHECK_INT(k->n, r->n);
}

/* Counts by hand, and looks at what must hold of every result: order within ranks, nothing moved by more than
 * its band, the largest shift as stated. Returns the number of reversed messages. */
static uint64_t look_at(const struct run *r, const struct kept *k, const struct cal_causality_stats *s)
{
	int64_t *sent = calloc(r->n + 1, sizeof(*sent)), *given = calloc(r->n, sizeof(*given)),
		*last = calloc((size_t)r->ranks, sizeof(*last));
	uint64_t reversed = 0;
	int64_t largest = 0;
	size_t i;

	for (i = 0; i < (size_t)r->ranks; i++) {
		last[i] = INT64_MIN;
	}
	for (i = 0; i < r->n; i++) {
		given[r->event[i].tag] = r->event[i].stamp;
	}
	for (i = 0; i < k->n; i++) {
		const struct cal_event *e = &k->event[i];
		int64_t shift = e->stamp > given[e->tag] ? e->stamp - given[e->tag] : given[e->tag] - e->stamp;

		CHECK(shift <= e->band, "event %llu moved by %lld, band %lld", (unsigned long long)e->tag,
			(long long)shift, (long long)e->band);
		CHECK(e->stamp >= last[e->rank], "rank %d goes back", e->rank);
		last[e->rank] = e->stamp;
		largest = shift > largest ? shift : largest;
		if (e->kind == CAL_EVENT_SENT) {
			sent[e->message] = e->stamp;
		}
	}
	for (i = 0; i < k->n; i++) {
		reversed += k->event[i].kind == CAL_EVENT_RECEIVED && k->event[i].stamp < sent[k->event[i].message];
	}
	CHECK_INT(s->largest, largest);
	CHECK(s->largest <= s->largest_band, "largest shift %lld, band %lld", (long long)s->largest,
		(long long)s->largest_band);
	CHECK_INT(s->messages, r->messages);
	CHECK_INT(s->after, reversed);
	free(sent);
	free(given);
	free(last);
	return reversed;
}

/* calib.reversed */
static void none_is_reversed_where_the_bands_are_true(void)
{
	uint64_t before = 0;
	int round;

	for (round = 0; round < 60 * check_times; round++) {
		int64_t band = 1 + (int64_t)(check_random() % 2000);
		struct cal_causality_stats s;
		struct kept k;
		struct run r;

		make_run(&r, 2 + (int)(check_random() % 15), 500 + check_random() % 20000, band, 1);
		repair(&r, (int64_t)(check_random() % 21), &k, &s);
		CHECK_INT(look_at(&r, &k, &s), 0);
		before += s.before;
		CHECK(s.before == 0 || s.moved > 0, "%llu reversed, none moved", (unsigned long long)s.before);
		free(k.event);
		free_run(&r);
	}
	printf("# %llu reversed messages repaired\n", (unsigned long long)before);
	CHECK(before > 1000, "only %llu messages were reversed: nothing was tested", (unsigned long long)before);
}

/* Rank 0's stamps are as late as its band allows, those of the others as early: what is handed back too soon cannot be repaired any
 * more. Messages take `latency` and up to `more`. */
static void extremes(int64_t band, int64_t latency, int64_t more)
{
	enum { MESSAGES = 15000, RANKS = 5 };
	struct run r = { .ranks = RANKS, .event = calloc(2 * MESSAGES, sizeof(*r.event)), .messages = MESSAGES };
	int64_t now = 0, last[RANKS] = { 0 };
	struct cal_causality_stats s;
	struct kept k;
	size_t i;

	for (i = 1; i <= MESSAGES; i++) {
		int to = 1 + (int)(check_random() % (RANKS - 1));
		int64_t there;

		now += 1 + (int64_t)(check_random() % 20);
		there = now + latency + (int64_t)(check_random() % (uint64_t)(more + 1));
		there = there < last[to] ? last[to] : there;
		last[to] = there;
		r.event[r.n] = (struct cal_event){
			.stamp = now + band, .band = band, .kind = CAL_EVENT_SENT, .message = i, .tag = r.n
		};
		r.n++;
		r.event[r.n] = (struct cal_event){ .stamp = there - band,
			.band = band,
			.rank = to,
			.kind = CAL_EVENT_RECEIVED,
			.message = i,
			.tag = r.n };
		r.n++;
	}
	qsort(r.event, r.n, sizeof(*r.event), by_stamp);
	repair(&r, latency, &k, &s);
	CHECK_INT(look_at(&r, &k, &s), 0);
	free(k.event);
	free(r.event);
}

static void nothing_is_handed_back_too_soon(void)
{
	extremes(5000, 0, 0);
	extremes(5000, 20, 100);
	extremes(300, 500, 3);
}

static void a_repaired_message_takes_its_time(void)
{
	static const struct cal_event e[] = {
		{ .stamp = 90, .band = 50, .rank = 1, .kind = CAL_EVENT_RECEIVED, .message = 1 },
		{ .stamp = 100, .band = 50, .rank = 0, .kind = CAL_EVENT_SENT, .message = 1 },
		{ .stamp = 1000, .band = 5, .rank = 1, .kind = CAL_EVENT_RECEIVED, .message = 2 },
		{ .stamp = 1008, .band = 5, .rank = 0, .kind = CAL_EVENT_SENT, .message = 2 },
	};
	struct run r = { .ranks = 2, .n = 4, .event = calloc(4, sizeof(*r.event)), .messages = 2 };
	struct cal_causality_stats s;
	struct kept k;

	memcpy(r.event, e, sizeof(e));
	repair(&r, 20, &k, &s);
	CHECK(k.event[0].stamp == 120 && k.event[1].stamp == 100, "%lld to %lld", (long long)k.event[1].stamp,
		(long long)k.event[0].stamp);
	/* where the bands leave less, as long as they allow */
	CHECK(k.event[2].stamp == 1005 && k.event[3].stamp <= 1005 && k.event[3].stamp >= 1003, "%lld to %lld",
		(long long)k.event[3].stamp, (long long)k.event[2].stamp);
	CHECK(s.before == 2 && s.after == 0, "%llu, %llu", (unsigned long long)s.before, (unsigned long long)s.after);
	free(k.event);
	free(r.event);
}

static void wrong_bands_leave_some_and_are_not_left(void)
{
	uint64_t left = 0;
	int round;

	for (round = 0; round < 20; round++) {
		struct cal_causality_stats s;
		struct kept k;
		struct run r;

		make_run(&r, 4, 20000, 500, 0);
		repair(&r, 1, &k, &s);
		left += look_at(&r, &k, &s);
		free(k.event);
		free_run(&r);
	}
	CHECK(left > 0, "bands that are a tenth of the errors repaired everything");
}

static void what_needs_no_repair_is_not_touched(void)
{
	struct cal_causality_stats s;
	struct kept k;
	struct run r;
	size_t i;

	make_run(&r, 5, 10000, 0, 1);
	repair(&r, 0, &k, &s);
	CHECK(s.before == 0 && s.after == 0 && s.moved == 0 && s.largest == 0, "something moved");
	for (i = 0; i < k.n; i++) {
		CHECK_INT(k.event[i].stamp, r.event[i].stamp);
	}
	free(k.event);
	free_run(&r);
}

static void odd_input_is_counted_or_refused(void)
{
	/* a receive alone, a number used twice, messages in a circle that no run can make */
	/* clang-format off */
	static const struct cal_event odd[] = {
		{ .stamp = 1, .band = 5, .rank = 0, .kind = CAL_EVENT_RECEIVED, .message = 7 },
		{ .stamp = 2, .band = 5, .rank = 0, .kind = CAL_EVENT_SENT, .message = 8 },
		{ .stamp = 3, .band = 5, .rank = 1, .kind = CAL_EVENT_SENT, .message = 8 },
		{ .stamp = 10, .band = 5, .rank = 0, .kind = CAL_EVENT_RECEIVED, .message = 1 },
		{ .stamp = 11, .band = 5, .rank = 0, .kind = CAL_EVENT_SENT, .message = 2 },
		{ .stamp = 12, .band = 5, .rank = 1, .kind = CAL_EVENT_RECEIVED, .message = 2 },
		{ .stamp = 13, .band = 5, .rank = 1, .kind = CAL_EVENT_SENT, .message = 1 },
	};
	/* clang-format on */
	struct kept k = { .event = calloc(10, sizeof(*k.event)) };
	struct cal_causality *c = cal_causality_open(2, 1, keep, &k, NULL);
	struct cal_causality_stats s;
	struct cal_event bad = odd[0];
	struct tkm_err err;
	size_t i;

	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		CHECK(cal_causality_add(c, &odd[i], &err) == 0, "%s", err.text);
	}
	bad.stamp = 1;
	CHECK(cal_causality_add(c, &bad, &err) < 0, "a stamp that descends");
	bad.stamp = 20;
	bad.rank = 2;
	CHECK(cal_causality_add(c, &bad, &err) < 0, "a rank that there is not");
	CHECK(cal_causality_finish(c, &s, &err) == 0, "%s", err.text);
	CHECK_INT(k.n, 7);
	CHECK_INT(s.messages, 2);
	CHECK_INT(s.unmatched, 2);
	CHECK_INT(s.before, 1);
	cal_causality_close(c);
	free(k.event);
}

static void all_memory_is_given_back(void)
{
	CHECK_HEAP(odd_input_is_counted_or_refused, 5);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(none_is_reversed_where_the_bands_are_true);
	RUN(nothing_is_handed_back_too_soon);
	RUN(a_repaired_message_takes_its_time);
	RUN(wrong_bands_leave_some_and_are_not_left);
	RUN(what_needs_no_repair_is_not_touched);
	RUN(odd_input_is_counted_or_refused);
	RUN(all_memory_is_given_back);
	return check_end();
}
