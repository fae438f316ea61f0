/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks share clocks and processors, and the collective operations by which they learn it. Every rank is a thread, and the link
 * between them changes what they say of their machine, so that they seem to run on two. */
#include "config.h"
#include "calib/session/domain.h"
#include "calib/session/link_private.h"
#include "tests/lib/check.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

/* In the tree of a gather rank 0 takes from ranks 1, 2 and 4. */
enum { RANKS = 5, CHILDREN_OF_0 = 3 };

/* The piece of memory that waits between two ranks. */
struct mail {
	void *data;
	size_t size;
	int full;
};

/* What all ranks have in common. */
static struct wire {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct mail mail[RANKS][RANKS];
	int absent;   /* this rank sends nothing; -1: all do */
	int changing; /* 1: odd ranks are on another machine, 2: their clocks are other ones on the same machine */
	int sent;     /* pieces of memory for rank 0 */
	int aborted;  /* the status of cal_link_abort() */
} wire = { .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

/* What an odd rank sends is its own card alone, after its length. Numbers first, then the texts about clocks, machine and timer: the
 * first letter of some becomes another. */
static void move_to_another_machine(char *data, size_t size)
{
	size_t at = sizeof(uint64_t) + 4 * sizeof(int32_t) + sizeof(double);

	if (size > at + 2) {
		data[at] ^= 1;
		data[at + strlen(data + at) + 1] ^= wire.changing == 1;
	}
}

static int give(int from, int to, const void *data, size_t size)
{
	struct mail *m = &wire.mail[from][to];

	while (m->full) {
		pthread_cond_wait(&wire.changed, &wire.mutex);
	}
	m->data = malloc(size);
	memcpy(m->data, data, size);
	if (wire.changing && from % 2) {
		move_to_another_machine(m->data, size);
	}
	m->size = size;
	m->full = 1;
	wire.sent += to == 0;
	pthread_cond_broadcast(&wire.changed);
	return 0;
}

static int take(int from, int to, void *data, size_t size, double limit_s, struct tkm_err *err)
{
	struct mail *m = &wire.mail[from][to];
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += (time_t)limit_s;
	while (!m->full && from != wire.absent) {
		if (pthread_cond_timedwait(&wire.changed, &wire.mutex, &until) == ETIMEDOUT) {
			break;
		}
	}
	if (!m->full) {
		return cal_link_silent(from, to, limit_s, err);
	}
	CHECK(m->size == size, "from %d to %d: %zu bytes, %zu expected", from, to, m->size, size);
	memcpy(data, m->data, size);
	free(m->data);
	m->full = 0;
	pthread_cond_broadcast(&wire.changed);
	return 0;
}

static int wire_send(struct cal_link *l, int from, int to, void *data, size_t size, double limit_s, struct tkm_err *err)
{
	int rc;

	pthread_mutex_lock(&wire.mutex);
	rc = l->rank == from ? from == wire.absent ? 0 : give(from, to, data, size)
			     : take(from, to, data, size, limit_s, err);
	pthread_mutex_unlock(&wire.mutex);
	return rc;
}

static int wire_turn(struct cal_link *l, int from, int to, long long *word, double limit_s, struct tkm_err *err)
{
	return wire_send(l, from, to, word, sizeof(*word), limit_s, err);
}

static void wire_abort(struct cal_link *l, int status)
{
	(void)l;
	wire.aborted = status;
}

static void wire_close(struct cal_link *l)
{
	(void)l;
}

static const struct cal_link_ops wire_ops = { .turn = wire_turn,
	.send = wire_send,
	.abort = wire_abort,
	.close = wire_close };

/* ---- ranks ---- */

struct rank {
	struct cal_link link;
	struct tmr_timer timer;
	struct cal_place place[RANKS + 1]; /* one more: nobody reads or writes behind the last */
	struct tkm_err err;
	pthread_t thread;
	int rc;
};

static struct rank rank[RANKS];

static void *places_of(void *of)
{
	struct rank *r = of;

	r->rc = cal_places_here(&r->link, r->place, &r->err);
	return NULL;
}

static void *domains_of(void *of)
{
	struct rank *r = of;

	r->rc = cal_domains_find(&r->link, &r->timer, 1e-9, 0.01, r->place, &r->err);
	return NULL;
}

static void *meeting_of(void *of)
{
	struct rank *r = of;

	r->rc = cal_link_barrier(&r->link, &r->err);
	return NULL;
}

static void all(void *(*run)(void *))
{
	int i;

	wire.sent = 0;
	for (i = 0; i < RANKS; i++) {
		struct rank *r = &rank[i];

		cal_link_init(&r->link, &wire_ops, i, RANKS, NULL);
		r->link.gathering_s = 60;
		r->link.first_near = 0; /* as a link that sees one node */
		r->err.text[0] = '\0';
		memset(r->place, 1, sizeof(r->place));
	}
	for (i = 0; i < RANKS; i++) {
		CHECK(pthread_create(&rank[i].thread, NULL, run, &rank[i]) == 0, "no thread");
	}
	for (i = 0; i < RANKS; i++) {
		pthread_join(rank[i].thread, NULL);
	}
}

static void timers(const char *name, enum tmr_scope scope)
{
	int i;

	for (i = 0; i < RANKS; i++) {
		rank[i].timer = (struct tmr_timer){ .scope = scope };
		snprintf(rank[i].timer.name, sizeof(rank[i].timer.name), "%s", name);
	}
}

/* Every rank has learned the same, and what is behind its array is as before. */
static void check_place(int i, int leader, int index, int on_node, int machine)
{
	int k;

	for (k = 0; k < RANKS; k++) {
		const struct cal_place *p = &rank[k].place[i];

		CHECK(rank[k].rc == 0, "rank %d: %s", k, rank[k].err.text);
		CHECK(p->leader == leader && p->index == index && p->on_node == on_node && p->machine == machine &&
				!p->unproven && p->units == sysconf(_SC_NPROCESSORS_ONLN),
			"rank %d of %d: leader %d, %d of %d, machine %d, %d units, unproven %d", i, k, p->leader,
			p->index, p->on_node, p->machine, p->units, p->unproven);
		CHECK_INT(rank[k].place[RANKS].leader, 0x01010101);
	}
}

static void ranks_of_one_machine(void)
{
	int i;

	wire.absent = -1;
	wire.changing = 0;
	all(places_of);
	for (i = 0; i < RANKS; i++) {
		check_place(i, 0, i, RANKS, 0);
	}
}

static void ranks_of_two_machines(void)
{
	int i;

	wire.absent = -1;
	wire.changing = 1;
	all(places_of);
	for (i = 0; i < RANKS; i++) {
		check_place(i, i % 2, i / 2, i % 2 ? 2 : 3, i % 2);
	}
	/* a container with a time namespace of its own */
	wire.changing = 2;
	all(places_of);
	for (i = 0; i < RANKS; i++) {
		check_place(i, i % 2, i / 2, i % 2 ? 2 : 3, 0);
	}
}

static void what_the_scope_of_the_timer_proves(void)
{
	int i;

	wire.absent = -1;
	wire.changing = 1;
	timers("one of the kernel", TMR_SCOPE_NODE);
	snprintf(rank[4].timer.name, sizeof(rank[4].timer.name), "another");
	all(domains_of);
	CHECK_INT(wire.sent, 2 * CHILDREN_OF_0); /* a head and the cards of each: nothing needs a second round */
	for (i = 0; i < RANKS; i++) {
		check_place(i, i % 2, i / 2, i % 2 ? 2 : 3, i % 2);
		CHECK(i == 4 ? isnan(rank[1].place[i].within_s) : rank[1].place[i].within_s == 0, "rank %d: %g", i,
			rank[1].place[i].within_s);
	}
	timers("of a process", TMR_SCOPE_PROCESS);
	all(domains_of);
	CHECK_INT(wire.sent, 2 * CHILDREN_OF_0);
	for (i = 0; i < RANKS; i++) {
		CHECK(isnan(rank[1].place[i].within_s), "rank %d: %g", i, rank[1].place[i].within_s);
	}
}

/* The link takes all ranks for near each other, so that rank 0 alone is asked at first. Rank 1 leads a domain of its own, and is
 * asked in a second round. */
static void a_leader_that_was_not_asked_is_asked_next(void)
{
	int i, k;

	wire.absent = -1;
	wire.changing = 1;
	timers("a counter", TMR_SCOPE_CORE);
	all(domains_of);
	CHECK_INT(wire.sent, 4 * CHILDREN_OF_0);
	for (i = 0; i < RANKS; i++) {
		check_place(i, i % 2, i / 2, i % 2 ? 2 : 3, i % 2);
		for (k = 0; k < RANKS; k++) {
			CHECK(rank[k].link.wait == CAL_WAIT_SPIN, "rank %d still waits in another way", k);
		}
	}
	/* on one machine there is one leader, and it was asked */
	wire.changing = 0;
	all(domains_of);
	CHECK_INT(wire.sent, 2 * CHILDREN_OF_0);
}

static void a_rank_that_does_not_come_is_named(void)
{
	int i;

	wire.absent = 3;
	wire.changing = 0;
	all(meeting_of);
	for (i = 0; i < RANKS; i++) {
		if (i != 3) {
			CHECK(rank[i].rc < 0 && strstr(rank[i].err.text, "rank 3 did not come"), "rank %d: %s", i,
				rank[i].err.text);
		}
	}
	wire.absent = -1;
	memset(wire.mail, 0, sizeof(wire.mail));
	all(meeting_of);
	for (i = 0; i < RANKS; i++) {
		CHECK(rank[i].rc == 0, "rank %d: %s", i, rank[i].err.text);
	}
}

static void more_than_memory_holds_is_an_error(void)
{
	struct tkm_err err = { .text = "" };
	struct cal_blobs blobs;
	struct cal_link l;

	cal_link_init(&l, &wire_ops, 0, 1, NULL);
#ifndef __SANITIZE_ADDRESS__ /* which ends the program */
	CHECK(cal_link_gather(&l, "", SIZE_MAX / 2, &blobs, &err) < 0 && strstr(err.text, "out of memory"), "'%s'",
		err.text);
	CHECK(blobs.n == 0 && !blobs.data, "something is left of %d", blobs.n);
#endif
	CHECK(cal_link_gather(&l, "abc", 4, &blobs, &err) == 0, "%s", err.text);
	CHECK(blobs.n == 1 && blobs.length[0] == 4, "%d", blobs.n);
	CHECK_STR(blobs.data[0], "abc");
	cal_blobs_free(&blobs);
}

static void the_end_of_all_goes_to_the_link(void)
{
	struct cal_link l;

	cal_link_init(&l, &wire_ops, 0, 1, NULL);
	cal_link_abort(&l, 7);
	CHECK_INT(wire.aborted, 7);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(ranks_of_one_machine);
	RUN(ranks_of_two_machines);
	RUN(what_the_scope_of_the_timer_proves);
	RUN(a_leader_that_was_not_asked_is_asked_next);
	RUN(a_rank_that_does_not_come_is_named);
	RUN(more_than_memory_holds_is_an_error);
	RUN(the_end_of_all_goes_to_the_link);
	return check_end();
}
