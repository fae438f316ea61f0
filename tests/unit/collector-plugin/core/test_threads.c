/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of a program's threads: which thread gets which number, and the table changes only while its lock is held. */
#include "config.h"
#include "collector-plugin/core/threads.c"

#include "tests/lib/check.h"

/* ---- in place of the rest of the collector: what is called, and the table between the calls ---- */

_Thread_local struct vt_tls vt_tls;
union vt_life vt_life;
static int ending;

static void count_ending(void)
{
	ending++;
}

struct vt_hooks vt_hooks = { .thread_ending = count_ending };
static int held, locked, unlocked_changes, process_off, names, ended, ends, woken, streams_ended;
static int unwatched; /* the table is too large to be looked at each time */
static uint64_t last_state;
static uint32_t from_place, named_thread;
static char last_name[32];
static struct vt_raw_thread_slot slots[2];
static struct vt_raw_stream stream;

static uint64_t state(void)
{
	const unsigned char *part[2] = { (const unsigned char *)table.entry, (const unsigned char *)table.place };
	size_t n[2] = { (size_t)table.room * sizeof(*table.entry), (size_t)table.n_places * sizeof(*table.place) };
	uint64_t h = (uint64_t)table.room << 32 | (uint64_t)table.n_places;
	size_t i, k;

	if (unwatched) {
		return 0;
	}
	for (k = 0; k < 2; k++) {
		for (i = 0; i < n[k]; i++) {
			h = h * 1099511628211u + part[k][i] + 1;
		}
	}
	for (i = 0; i < 2; i++) {
		h = h * 1099511628211u + (uint64_t)slots[i].tid * 65536 + (uint64_t)slots[i].number * 16 +
			(uint64_t)slots[i].off;
	}
	return h;
}

void vt_lock(struct vt_lock *l)
{
	CHECK(l == &table.lock && !held, "held %d", held);
	unlocked_changes += state() != last_state;
	held = 1;
	locked++;
}

void vt_unlock(struct vt_lock *l)
{
	CHECK(l == &table.lock && held, "held %d", held);
	held = 0;
	last_state = state();
}

void vt_lock_forget(struct vt_lock *l)
{
	CHECK(l == &table.lock, "another lock");
	held = 0;
	locked++;
}

static const uint64_t *answer;
static pid_t answer_to;

/* The answer comes meanwhile, or none. */
int vt_lock_wait(struct vt_lock *l, pthread_cond_t *changed, const struct timespec *until)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	CHECK(l == &table.lock && held && changed == &table.answered, "held %d", held);
	CHECK(until->tv_sec - now.tv_sec <= 1 && until->tv_nsec < 1000000000, "%ld s",
		(long)(until->tv_sec - now.tv_sec));
	if (!answer) {
		return ETIMEDOUT;
	}
	vt_unlock(l);
	CHECK_INT(vt_threads_asking(), answer_to);
	CHECK(vt_threads_counts(answer_to), "one that asks is not read any more");
	vt_threads_hand_over_counters(answer_to, answer, 2);
	vt_lock(l);
	return 0;
}

int vt_names_any(void)
{
	return names;
}

int vt_process_off(void)
{
	return process_off;
}

struct vt_raw_thread_slot *vt_raw_slot(struct vt_raw *r, int i)
{
	(void)r;
	return i < 2 ? &slots[i] : NULL;
}

struct vt_raw_stream *vt_raw_stream(struct vt_raw *r)
{
	(void)r;
	return &stream;
}

void vt_raw_stream_end(struct vt_raw_stream *s)
{
	streams_ended += s == &stream;
}

int vt_raw_thread(struct vt_raw *r, uint32_t thread, uint64_t tid, const char *name)
{
	(void)r;
	(void)tid;
	named_thread = thread;
	snprintf(last_name, sizeof(last_name), "%s", name);
	return 0;
}

int vt_raw_thread_from(struct vt_raw *r, uint32_t thread, uint32_t place, uint64_t tid, const char *name)
{
	from_place = place;
	return vt_raw_thread(r, thread, tid, name);
}

void vt_raw_wake(struct vt_raw *r)
{
	(void)r;
	woken++;
}

void vt_sinks_forked(void)
{
}

void vt_sinks_restart(void)
{
}

void vt_sinks_thread_ends(struct vt_thread *t)
{
	CHECK(table.entry[t->number].thread == t, "it keeps its number during the first call");
	ends++;
}

void vt_sinks_thread_ended(struct vt_thread *t)
{
	CHECK(t->number >= table.room || table.entry[t->number].thread != t, "it has none during the second");
	ended++;
}

/* ---- the tests ---- */

static struct vt_collect collect;

/* The table as it is at the start of a program; a call that changed it outside the lock is known by `settled`. */
static void begin(void)
{
	int i;

	/* which is written for the child of a fork and leaves them */
	for (i = 0; i < table.room; i++) {
		free(table.entry[i].name);
	}
	vt_threads_forget();
	free(table.place);
	table.place = NULL;
	table.n_places = 0;
	memset(slots, 0, sizeof(slots));
	atomic_store(&vt_life.collecting, &collect);
	vt_life.here = 1;
	process_off = names = ended = ends = woken = streams_ended = 0;
	last_state = state();
	unlocked_changes = 0;
}

static void settled(void)
{
	CHECK(!held && state() == last_state && !unlocked_changes, "the table changed while its lock was not held");
}

/* Another thread's, as that thread would have made it. */
static struct vt_thread *other(pid_t tid, int number)
{
	struct vt_thread *t = calloc(1, sizeof(*t));

	t->tid = tid;
	t->number = -1;
	t->stream = &stream;
	CHECK_INT(vt_threads_register(&collect, t, number, NULL), VT_OK);
	return t;
}

static void ends_now(struct vt_thread *t)
{
	int before = ending, i;

	vt_tls.collect = &collect;
	vt_tls.thread = t;
	for (i = 0; i < LAST_ROUND; i++) {
		thread_key_destroyed(t);
		CHECK_INT(ending, before + 1);
	}
	pthread_setspecific(table.key, NULL);
	vt_tls.inside = 0; /* the next thread */
	CHECK(!vt_tls.thread && !vt_tls.collect && vt_tls.state == VT_TLS_NEW, "it is still known");
}

static void numbers_are_the_lowest_free(void)
{
	pid_t me = getpid();
	struct vt_thread *a, *b, *c;

	begin();
	CHECK_INT(vt_threads_number(me), 0);
	a = other(me + 1, -1);
	b = other(me + 2, -1);
	CHECK(a->number == 1 && b->number == 2, "%d, %d", a->number, b->number);
	CHECK(vt_threads_where(me + 1) == 1 && vt_threads_where(me + 3) == -1, "where");
	settled();
	ends_now(a);
	CHECK(ends == 1 && ended == 1 && streams_ended == 1 && vt_threads_where(me + 1) == -1, "%d, %d", ends, ended);
	settled();
	c = other(me + 3, -1);
	CHECK_INT(c->number, 1);
	/* one that has registered says so itself when it ends */
	vt_threads_gone(me + 3);
	CHECK_INT(vt_threads_where(me + 3), 1);
	/* the process's own thread was only found */
	vt_threads_gone(me);
	CHECK_INT(vt_threads_where(me), -1);
	ends_now(b);
	ends_now(c);
	settled();
	CHECK_INT(slots[0].tid + slots[1].tid, 0);
}

static void chosen_numbers(void)
{
	pid_t me = getpid();
	struct vt_thread *a, *b, *t = calloc(1, sizeof(*t));

	begin();
	a = other(me + 1, 40);
	b = other(me + 2, 7);
	t->tid = me + 3;
	t->number = -1;
	CHECK_INT(vt_threads_register(&collect, t, 40, NULL), VT_ERR_BADINDEX);
	CHECK_INT(vt_threads_register(&collect, t, (int)VT_RAW_PLACE, NULL), VT_ERR_BADINDEX);
	CHECK_INT(vt_threads_register(&collect, a, 41, NULL), VT_ERR_BADARG);
	CHECK_INT(vt_threads_register(&collect, a, 40, NULL), VT_OK);
	CHECK(t->number == -1 && a->number == 40 && b->number == 7, "%d, %d, %d", t->number, a->number, b->number);
	/* the first name stays */
	CHECK_INT(vt_threads_register(&collect, a, -1, "first"), VT_OK);
	CHECK(named_thread == 40 && !strcmp(last_name, "first"), "%u %s", named_thread, last_name);
	CHECK_INT(vt_threads_register(&collect, a, -1, "second"), VT_ERR_BADARG);
	CHECK_INT(vt_threads_register(&collect, a, -1, "first"), VT_OK);
	CHECK(slots[0].tid == me + 1 && slots[0].number == 40 && slots[1].tid == me + 2, "%d: %d", slots[0].tid,
		slots[0].number);
	ends_now(a);
	CHECK_INT(slots[0].tid, 0);
	ends_now(b);
	free(t);
	settled();
}

static void places_of_those_that_never_called(void)
{
	pid_t me = getpid();
	struct vt_thread *a;
	int i;

	begin();
	CHECK_INT(vt_threads_number(me + 1), (int)VT_RAW_PLACE);
	for (i = 1; i < 40; i++) {
		CHECK_INT(vt_threads_number(me + 1 + i), (int)VT_RAW_PLACE + i);
	}
	CHECK_INT(vt_threads_where(me + 20), (int)VT_RAW_PLACE + 19);
	settled();
	/* what was sampled there becomes its number's, and the place is given to nobody */
	a = other(me + 20, -1);
	CHECK(from_place == VT_RAW_PLACE + 19 && a->number == 1, "%u, %d", from_place, a->number);
	CHECK_INT(vt_threads_number(me + 100), (int)VT_RAW_PLACE + 40);
	/* one that ended leaves its place to the next, whose samples are not all its own */
	vt_threads_gone(me + 5);
	CHECK_INT(vt_threads_where(me + 5), -1);
	CHECK_INT(vt_threads_number(me + 101), (int)VT_RAW_PLACE + 4);
	ends_now(a);
	a = other(me + 101, -1);
	CHECK_INT(from_place, 0);
	ends_now(a);
	/* a later thread that gets the same id from the kernel has a place of its own */
	CHECK_INT(vt_threads_where(me + 101), -1);
	CHECK_INT(vt_threads_number(me + 101), (int)VT_RAW_PLACE + 41);
	settled();
}

static void no_number_is_left(void)
{
	enum { MOST = (int)VT_RAW_PLACE };
	static struct vt_thread *t[MOST];
	struct vt_thread one = { .tid = 999999, .number = -1 };
	int i;

	begin();
	unwatched = 1;
	last_state = state();
	for (i = 1; i < MOST; i++) {
		t[i] = other(1000000 + i, -1);
	}
	CHECK_INT(t[MOST - 1]->number, MOST - 1);
	CHECK_INT(vt_threads_register(&collect, &one, -1, NULL), VT_ERR_NOMEMORY);
	CHECK_INT(one.number, -1);
	for (i = 1; i < MOST; i++) {
		ends_now(t[i]);
	}
	unwatched = 0;
}

static void switched_off_and_on(void)
{
	pid_t me = getpid();
	struct vt_thread *a;

	begin();
	a = other(me + 1, -1);
	CHECK(!vt_threads_off(me + 1) && !vt_threads_off(me + 9), "all are on");
	vt_threads_switch(a, 0);
	CHECK(vt_threads_off(me + 1) && !vt_threads_off(me + 9) && slots[0].off == 2, "off: %d", slots[0].off);
	vt_threads_switch(a, 1);
	process_off = 1;
	CHECK(!vt_threads_off(me + 1) && vt_threads_off(me + 9) && slots[0].off == 1, "on: %d", slots[0].off);
	process_off = 2;
	CHECK(vt_threads_off(me + 1), "off for good");
	process_off = 0;
	vt_threads_switch(a, 0);
	ends_now(a);
	/* the next one with its number is not off */
	a = other(me + 2, -1);
	CHECK(a->number == 1 && !vt_threads_off(me + 2) && slots[0].off == 0, "%d", slots[0].off);
	ends_now(a);
	settled();
}

static void counters_are_handed_over(void)
{
	static const uint64_t totals[2] = { 11, 22 };
	uint64_t got[2] = { 0, 0 };
	pid_t me = getpid();
	struct vt_thread *a;

	begin();
	a = other(me + 1, -1);
	CHECK(vt_threads_asking() == 0 && !vt_threads_counts(me + 1), "nobody asks");
	answer = NULL;
	CHECK_INT(vt_threads_take_over(&collect, me + 1, got, 2), -1);
	CHECK(woken == 1 && got[0] == 0, "no answer");
	answer = totals;
	answer_to = me + 1;
	CHECK_INT(vt_threads_take_over(&collect, me + 1, got, 2), 0);
	CHECK(got[0] == 11 && got[1] == 22 && vt_threads_asking() == 0, "%llu, %llu", (unsigned long long)got[0],
		(unsigned long long)got[1]);
	CHECK(vt_threads_counts(me + 1) && !vt_threads_counts(me + 2), "who counts");
	CHECK_INT(vt_threads_take_over(&collect, me + 2, got, 2), -1);
	ends_now(a);
	CHECK(!vt_threads_counts(me + 1), "one that ended");
	a = other(me + 2, -1);
	CHECK(a->number == 1 && !vt_threads_counts(me + 2), "the next one with its number");
	ends_now(a);
	settled();
}

static void itself_and_the_child_of_a_fork(void)
{
	struct vt_thread *t = NULL;
	int before;

	begin();
	CHECK_INT(vt_threads_self(&collect, -1, &t), VT_OK);
	CHECK(t && t->number == 0 && t->tid == my_tid() && t->stream == &stream && pthread_getspecific(table.key) == t,
		"self");
	settled();
	/* the collector begins anew: only if nothing would be lost */
	vt_tls.thread = t;
	names = 1;
	CHECK_INT(vt_threads_restart(0), -1);
	/* or what is defined is kept */
	CHECK(vt_threads_restart(1) == 0 && !vt_tls.thread && vt_threads_where(getpid()) == -1, "restart");
	settled();
	CHECK_INT(vt_threads_self(&collect, 3, &t), VT_OK);
	CHECK_INT(t->number, 3);
	before = locked;
	held = 1; /* by a thread that the child does not have */
	vt_threads_forget();
	last_state = state();
	CHECK(locked == before + 1 && !held && vt_threads_where(getpid()) == -1, "the child of a fork");
	pthread_setspecific(table.key, NULL);
	free(t);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(numbers_are_the_lowest_free);
	RUN(chosen_numbers);
	RUN(places_of_those_that_never_called);
	RUN(no_number_is_left);
	RUN(switched_off_and_on);
	RUN(counters_are_handed_over);
	RUN(itself_and_the_child_of_a_fork);
	return check_end();
}
