/* SPDX-License-Identifier: BSD-3-Clause */
/* Which receive got which message: against a simulated MPI that matches as the standard says, with wildcards, and whose receives are
 * complete in any order. The number of a message is in its bytes. */
#include "config.h"
#include "tests/lib/check.h"

#include "collector-plugin/merge/common/match.h"

enum { RANKS = 4, COMMS = 2, TAGS = 3, MOST = 6000, ANY = -1 };

struct receive {
	int rank, from, comm, tag; /* as posted */
	int got, matched;          /* the message; */
	int got_from, got_tag;
	int64_t post;
	int complete;
};

struct message {
	int from, to, comm, tag, matched;
};

static struct receive receive[MOST];
static struct message message[MOST];
static int n_receives, n_messages;
static int64_t now;

static void deliver(struct receive *r, int i)
{
	r->matched = message[i].matched = 1;
	r->got = i;
	r->got_from = message[i].from;
	r->got_tag = message[i].tag;
}

static int fits(const struct receive *r, const struct message *m)
{
	return !r->matched && !m->matched && r->rank == m->to && r->comm == m->comm &&
		(r->from == ANY || r->from == m->from) && (r->tag == ANY || r->tag == m->tag);
}

static struct vt_match_end *add(
	struct vt_match_ends *l, int kind, int process, int peer, int comm, int tag, int64_t post)
{
	struct vt_match_end *e = vt_match_add_end(l);

	e->kind = (uint8_t)kind;
	e->process = (uint16_t)process;
	e->peer = (uint16_t)peer;
	e->communicator = (uint32_t)comm + 1;
	e->tag = tag;
	e->post = post;
	e->time = (uint64_t)now;
	return e;
}

static void send_one(struct vt_match_ends *l)
{
	struct message *m = &message[n_messages];
	int i;

	*m = (struct message){ (int)(check_random() % RANKS), (int)(check_random() % RANKS),
		(int)(check_random() % COMMS), (int)(check_random() % TAGS), 0 };
	for (i = 0; i < n_receives && !fits(&receive[i], m); i++) {
	}
	if (i < n_receives) {
		deliver(&receive[i], n_messages);
	}
	add(l, VT_MATCH_SEND, m->from, m->to, m->comm, m->tag, now)->bytes = (uint64_t)n_messages++;
}

static void post_one(void)
{
	struct receive *r = &receive[n_receives++];
	int i;

	*r = (struct receive){ .rank = (int)(check_random() % RANKS),
		.from = (int)(check_random() % (RANKS + 1)) - 1,
		.comm = (int)(check_random() % COMMS),
		.tag = (int)(check_random() % (TAGS + 1)) - 1,
		.post = now };
	for (i = 0; i < n_messages && !fits(r, &message[i]); i++) {
	}
	if (i < n_messages) {
		deliver(r, i);
	}
}

static void complete_one(struct vt_match_ends *l)
{
	struct receive *r = n_receives ? &receive[check_random() % (unsigned)n_receives] : NULL;

	if (r && r->matched && !r->complete) {
		r->complete = 1;
		add(l, VT_MATCH_RECEIVE, r->rank, r->got_from, r->comm, r->got_tag, r->post)->bytes = (uint64_t)r->got;
	}
}

struct seen {
	int pairs, wrong, alone, ambiguous;
	uint64_t last;
};

static int see(void *ctx, const struct vt_match_end *s, const struct vt_match_end *r)
{
	struct seen *x = ctx;
	const struct vt_match_end *one = s ? s : r;

	x->wrong += one->time < x->last;
	x->last = one->time;
	if (s && r) {
		x->pairs++;
		x->wrong += s->bytes != r->bytes;
		x->ambiguous += s->ambiguous || r->ambiguous;
	} else {
		x->alone++;
	}
	return 0;
}

static void random_traffic_is_matched(void)
{
	int round, i, want;

	for (round = 0; round < 20 * check_times; round++) {
		struct vt_match_ends l = { 0 };
		struct vt_match_counts counts = { 0 };
		struct seen x = { 0 };
		int load = 20 + (int)(check_random() % 60);

		n_receives = n_messages = 0;
		for (now = 1; now < 4000; now++) {
			unsigned what = (unsigned)(check_random() % 100);

			if (what < (unsigned)load) {
				send_one(&l);
			} else {
				post_one();
			}
			complete_one(&l);
			complete_one(&l);
		}
		for (i = 0, want = 0; i < n_receives; i++) {
			if (receive[i].matched && !receive[i].complete) {
				now++;
				receive[i].complete = 1;
				add(&l, VT_MATCH_RECEIVE, receive[i].rank, receive[i].got_from, receive[i].comm,
					receive[i].got_tag, receive[i].post)
					->bytes = (uint64_t)receive[i].got;
			}
			want += receive[i].matched;
		}
		CHECK_INT(vt_match_messages(&l, &counts, see, &x), 0);
		CHECK_INT(x.pairs, want);
		CHECK_INT(x.wrong, 0);
		CHECK_INT(x.ambiguous, 0);
		CHECK_INT(counts.messages, want);
		CHECK_INT(counts.sends, n_messages - want);
		CHECK_INT(counts.receives, 0);
		CHECK(want > 500, "%d messages are too few to say anything", want);
		free(l.end);
	}
}

static void threads_that_post_at_once_are_ambiguous(void)
{
	struct vt_match_ends l = { 0 };
	struct vt_match_counts counts = { 0 };
	struct seen x = { 0 };
	int i;

	/* two threads send with the same envelope, the second pair while the other call was not over */
	for (i = 0; i < 4; i++) {
		struct vt_match_end *e = add(&l, VT_MATCH_SEND, 0, 1, 0, 5, 100 * i - (i == 3 ? 50 : 0));

		e->thread = (uint16_t)(i % 2);
		e->during = 60;
		e->bytes = (uint64_t)i;
		now++;
	}
	for (i = 0; i < 4; i++) {
		add(&l, VT_MATCH_RECEIVE, 1, 0, 0, 5, 1000 + i)->bytes = (uint64_t)i;
		now++;
	}
	CHECK_INT(vt_match_messages(&l, &counts, see, &x), 0);
	CHECK_INT(x.pairs, 4);
	CHECK_INT(x.wrong, 0);
	CHECK_INT(counts.ambiguous, 2);
	free(l.end);
}

static void cancelled_and_failed_sends_are_none(void)
{
	struct vt_match_ends l = { 0 };
	struct vt_match_counts counts = { 0 };
	struct seen x = { 0 };
	int i;

	for (i = 0; i < 3; i++) {
		add(&l, VT_MATCH_SEND, 2, 3, 0, 9, 10 * i)->bytes = (uint64_t)(i == 2 ? 1 : i);
		now++;
	}
	add(&l, VT_MATCH_TAKEN_BACK, 2, 3, 0, 9, 10);
	for (i = 0; i < 2; i++) {
		add(&l, VT_MATCH_RECEIVE, 3, 2, 0, 9, 500 + i)->bytes = (uint64_t)i;
	}
	CHECK_INT(vt_match_messages(&l, &counts, see, &x), 0);
	CHECK_INT(counts.messages, 2);
	CHECK_INT(counts.sends, 0);
	CHECK_INT(x.wrong, 0);
	free(l.end);
}

static void a_freed_wildcard_makes_later_ones_ambiguous(void)
{
	struct vt_match_ends l = { 0 };
	struct vt_match_counts counts = { 0 };
	struct seen x = { 0 };
	int i;

	for (i = 0; i < 4; i++) {
		add(&l, VT_MATCH_SEND, 0, 1, 0, 1, i);
		now++;
	}
	/* the second message went to a receive that nobody saw the end of */
	add(&l, VT_MATCH_RECEIVE, 1, 0, 0, 1, 10);
	add(&l, VT_MATCH_FREED, 1, VT_MATCH_NOBODY, 0, 1, 11);
	add(&l, VT_MATCH_RECEIVE, 1, 0, 0, 1, 12);
	add(&l, VT_MATCH_RECEIVE, 1, 0, 0, 1, 13);
	CHECK_INT(vt_match_messages(&l, &counts, see, &x), 0);
	CHECK_INT(counts.messages, 3);
	CHECK_INT(counts.ambiguous, 2);
	CHECK_INT(counts.sends, 1);
	CHECK_INT(counts.freed, 1);
	free(l.end);
}

static void partitioned_ones_pair_among_themselves(void)
{
	struct vt_match_ends l = { 0 };
	struct vt_match_counts counts = { 0 };
	struct seen x = { 0 };
	int i;

	for (i = 0; i < 2; i++) {
		struct vt_match_end *e = add(&l, VT_MATCH_SEND, 0, 1, 0, 1, i);

		e->bytes = (uint64_t)i;
		e->channel = (uint32_t)i;
		now++;
	}
	for (i = 1; i >= 0; i--) {
		struct vt_match_end *e = add(&l, VT_MATCH_RECEIVE, 1, 0, 0, 1, 10 - i);

		e->bytes = (uint64_t)i;
		e->channel = (uint32_t)i;
		now++;
	}
	CHECK_INT(vt_match_messages(&l, &counts, see, &x), 0);
	CHECK_INT(counts.messages, 2);
	CHECK_INT(x.wrong, 0);
	free(l.end);
}

struct operations {
	int n, wrong;
	uint64_t last;
};

static int see_operation(void *ctx, const struct vt_match_share *s, size_t n)
{
	struct operations *x = ctx;
	uint64_t first = UINT64_MAX;
	size_t i;

	for (i = 0; i < n; i++) {
		/* the test gives all members the same number of bytes in the same operation */
		x->wrong += s[i].sent != s->sent || (i && s[i].member <= s[i - 1].member);
		first = s[i].begin < first ? s[i].begin : first;
	}
	x->wrong += first < x->last;
	x->last = first;
	x->n++;
	return 0;
}

static void operations_have_all_members(void)
{
	static const uint32_t size[] = { 0, 4, 3 };
	struct vt_match_shares l = { 0 };
	struct vt_match_counts counts = { 0 };
	struct operations x = { 0 };
	uint32_t number[3][4] = { { 0 } };
	int i;

	for (i = 0; i < 4000; i++) {
		uint32_t c = 1 + (uint32_t)(check_random() % 2), member = (uint32_t)(check_random() % size[c]);
		struct vt_match_share *s = vt_match_add_share(&l);

		s->communicator = c;
		s->member = member;
		s->number = number[c][member]++;
		s->sent = 1000 * c + s->number;
		s->begin = 100 * (uint64_t)s->number + check_random() % 100;
		s->end = s->begin + check_random() % 1000;
	}
	CHECK_INT(vt_match_operations(&l, size, 3, &counts, see_operation, &x), 0);
	CHECK_INT(counts.operations, x.n);
	CHECK(counts.incomplete > 0 && counts.incomplete < counts.operations, "%llu of %llu lack members",
		(unsigned long long)counts.incomplete, (unsigned long long)counts.operations);
	CHECK_INT(counts.mixed, 0);
	free(l.share);
	CHECK_INT(x.wrong, 0);
	CHECK(x.n > 900, "%d operations", x.n);
}

/* ---- locks of windows ---- */

enum { LOCKS = 400, TARGETS = 3, US = 1000 };

struct plan {
	uint64_t released;
	int cause; /* the lock that it waited for; -1: none */
};

static uint64_t random_time(uint64_t most)
{
	return 1 + check_random() % most;
}

/* Each lock of a target is got when those before it that exclude it are released. The call that gives it back returns a little later. */
static void plan_locks(struct vt_match_lock *l, struct plan *plan)
{
	uint64_t asks = 0, got;
	int i, k;

	for (i = 0; i < LOCKS; i++) {
		asks += random_time(20 * US);
		got = asks;
		plan[i].cause = -1;
		l[i].exclusive = check_random() % 2;
		l[i].target = (uint16_t)(check_random() % TARGETS);
		l[i].communicator = 1 + (uint32_t)(check_random() % 2);
		for (k = 0; k < i; k++) {
			if (l[k].target == l[i].target && l[k].communicator == l[i].communicator &&
				(l[k].exclusive || l[i].exclusive) && plan[k].released > got) {
				got = plan[k].released;
				plan[i].cause = l[k].gives > asks ? k : -1;
			}
		}
		l[i].process = (uint16_t)(i % 251);
		l[i].asks = asks;
		l[i].asked = check_random() % 2 ? got + random_time(US) : asks + 1; /* or a later call waits */
		l[i].done = (l[i].asked > got ? l[i].asked : got) + random_time(5 * US);
		l[i].gives = l[i].done + 3 * US + random_time(40 * US);
		plan[i].released = l[i].gives + random_time(US);
		l[i].gave = plan[i].released + random_time(US);
	}
}

static void a_lock_is_got_from_the_last_that_excludes_it(void)
{
	static struct vt_match_lock lock[LOCKS], mixed[LOCKS];
	static struct plan plan[LOCKS];
	struct vt_match_locks l = { .lock = mixed, .n = LOCKS };
	struct vt_match_ends ends = { 0 };
	size_t n = 0;
	int i;

	plan_locks(lock, plan);
	for (i = 0; i < LOCKS; i++) {
		mixed[i * 7 % LOCKS] = lock[i];
		n += plan[i].cause >= 0;
	}
	CHECK_INT(vt_match_window_locks(&l, &ends), 0);
	CHECK_INT(ends.n, 2 * n);
	CHECK(n > LOCKS / 10 && n < LOCKS, "%zu waits are no test", n);
	for (n = 0; n + 1 < ends.n; n += 2) {
		const struct vt_match_end *s = &ends.end[n], *r = s + 1;

		for (i = 0; i < LOCKS && (lock[i].process != r->process || lock[i].asked != r->time); i++) {
		}
		CHECK(i < LOCKS && plan[i].cause >= 0, "rank %u did not wait", r->process);
		if (i < LOCKS && plan[i].cause >= 0) {
			CHECK_INT(s->process, lock[plan[i].cause].process);
			CHECK_INT(s->time, lock[plan[i].cause].gives);
			CHECK_INT(r->later, lock[i].done);
			CHECK_INT(s->channel, r->channel);
		}
	}
	free(ends.end);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(random_traffic_is_matched);
	RUN(threads_that_post_at_once_are_ambiguous);
	RUN(cancelled_and_failed_sends_are_none);
	RUN(a_freed_wildcard_makes_later_ones_ambiguous);
	RUN(partitioned_ones_pair_among_themselves);
	RUN(operations_have_all_members);
	RUN(a_lock_is_got_from_the_last_that_excludes_it);
	return check_end();
}
