/* SPDX-License-Identifier: BSD-3-Clause */
/* Short records of values in the raw file: the values come back that went in, whole, after a kill, when blocks are missing, and beside a
 * signal handler. */
#include "config.h"
#include "collector-plugin/raw/events.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/reader.h"
#include "collector-plugin/raw/short.h"
#include "collector-plugin/raw/writer.h"
#include "tests/lib/check.h"
#include "tests/lib/raw_file.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

enum { COUNTERS = 70, EVENTS = 60000, SAMPLE = 5 };

/* What a thread does, event by event: the writer and the reader make the same. */
struct event {
	enum { VALUES, STATE, SAMPLES } kind;
	unsigned n;
	uint32_t id[COUNTERS];
	uint64_t value[COUNTERS];
	int64_t now;
	uint16_t thread;
};

struct program {
	uint64_t k, last[COUNTERS];
	struct event e;
};

static uint64_t mixed(uint64_t k)
{
	k *= 0x9e3779b97f4a7c15u;
	k ^= k >> 29;
	k *= 0xbf58476d1ce4e5b9u;
	return k ^ k >> 32;
}

static void next_event(struct program *p)
{
	static const int64_t odd_dt[] = { (1 << 14) - 1, 1 << 14, (1 << 24) - 1, 1 << 24, UINT32_MAX, (int64_t)1 << 33,
		-5, 0 };
	static const int64_t odd_step[] = { 511, 512, -512, -513, (1 << 30) - 1, 1 << 30, -(1 << 30), -(1 << 30) - 1,
		INT64_MAX, INT64_MIN, (int64_t)1 << 32, 0 };
	uint64_t h = mixed(++p->k), g;
	struct event *e = &p->e;
	unsigned i, at;

	e->now += h % 64 == 0 ? odd_dt[(h >> 8) % 8] : (int64_t)((h >> 8) % 1000);
	e->thread = (uint16_t)(p->k / 7000);
	e->kind = h >> 20 & 15 ? VALUES : h >> 24 & 1 ? STATE : SAMPLES;
	/* most are alone, some are of neighbours, some of any */
	e->n = h >> 30 & 3 ? 1 : 1 + (h >> 32) % (h >> 29 & 1 ? 7 : COUNTERS);
	at = 1 + (h >> 40) % (COUNTERS - e->n + 1);
	for (i = 0; i < e->n; i++) {
		g = mixed(p->k << 8 | i);
		at = i && h >> 50 & 1 ? 1 + g % COUNTERS : at + (i > 0);
		p->last[at - 1] +=
			(uint64_t)((g >> 8) % 32 == 0 ? odd_step[(g >> 16) % 12] : (int64_t)((g >> 16) % 2001) - 1000);
		e->id[i] = VT_RAW_FIRST_ID + at;
		e->value[i] = p->last[at - 1];
	}
	if (e->kind == SAMPLES) {
		e->n = 1;
		e->id[0] = SAMPLE;
	}
}

static int put_values(
	struct vt_raw_stream *s, int64_t now, uint16_t thread, unsigned n, const uint32_t *id, const uint64_t *v)
{
	return vt_raw_values_short(s, ltick(now), n, id, v) ? 0 : vt_raw_values(s, ltick(now), thread, n, id, v, 1);
}

static int put_event(struct vt_raw_stream *s, struct program *p)
{
	const struct event *e = &p->e;
	uint16_t before = e->thread;

	next_event(p);
	if (e->thread != before) {
		vt_raw_no_owner(s);
	}
	switch (e->kind) {
	case STATE:
		return vt_raw_enter(s, ltick(e->now), e->thread, (struct vt_raw_state_change){ 0x10001, 0 });
	case SAMPLES:
		return vt_raw_counters(s, ltick(e->now), e->thread, 1, e->id, e->value);
	default:
		return put_values(s, e->now, e->thread, e->n, e->id, e->value);
	}
}

static int same(const struct vt_raw_cursor *c, const struct event *e)
{
	if (c->now != e->now || c->h.where != e->thread) {
		return 0;
	}
	if (e->kind == STATE) {
		return c->h.type == VT_RAW_ENTER;
	}
	return c->h.type == VT_RAW_COUNTERS && c->h.n == e->n && !memcmp(c->body, e->value, 8 * (size_t)e->n) &&
		!memcmp(c->body + 8 * (size_t)e->n, e->id, 4 * (size_t)e->n);
}

/* Returns how many events are there and as they were written, -1: one is not. */
static long read_events(struct vt_raw_file *f)
{
	struct program p = { .e = { .now = 1000 } };
	struct vt_raw_cursor c;

	for (vt_raw_cursor(f, 0, &c); vt_raw_cursor_next(&c);) {
		next_event(&p);
		if (!same(&c, &p.e)) {
			printf("# event %llu\n", (unsigned long long)p.k);
			return -1;
		}
	}
	return (long)p.k;
}

static void what_went_in_comes_back(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 4, .block_size = 8192 });
	struct vt_raw_stream *s = vt_raw_stream(r);
	struct program p = { .e = { .now = 1000 } };
	struct vt_raw_file *f;

	while (p.k < EVENTS) {
		CHECK(put_event(s, &p) == 0, "%s", path);
	}
	vt_raw_stream_end(s);
	vt_raw_close(r, ltick(p.e.now));
	f = vt_raw_open(path, NULL);
	CHECK(f != NULL, "%s", path);
	if (f) {
		CHECK_INT(read_events(f), EVENTS);
		CHECK_INT(vt_raw_file_damage(f)->blocks, 0);
		vt_raw_file_close(f);
	}
}

/* Bytes of the records of n counters that count up. */
static size_t bytes_of(unsigned n, uint32_t step, uint64_t jump)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 4 });
	struct vt_raw_stream *s = vt_raw_stream(r);
	struct vt_raw_cursor c;
	struct vt_raw_file *f;
	uint32_t id[5];
	uint64_t v[5] = { 0 };
	size_t bytes = 0, i;
	int k;

	for (i = 0; i < 5; i++) {
		id[i] = VT_RAW_FIRST_ID + 1 + step * (uint32_t)i;
	}
	for (k = 0; k < 1000; k++) {
		v[0] += jump;
		put_values(s, 1000 + k, 0, n, id, v);
	}
	vt_raw_stream_end(s);
	vt_raw_close(r, ltick(2000));
	f = vt_raw_open(path, NULL);
	for (k = 0, vt_raw_cursor(f, 0, &c); vt_raw_cursor_next(&c); k++) {
		bytes += c.size;
		memcpy(v, c.body, 8);
		CHECK(v[0] == (uint64_t)(k + 1) * jump, "%d", k);
	}
	CHECK_INT(k, 1000);
	vt_raw_file_close(f);
	return bytes / 1000;
}

static void values_are_short(void)
{
	CHECK_INT(bytes_of(1, 1, 511), 4);
	CHECK_INT(bytes_of(1, 1, 512), 8);
	CHECK_INT(bytes_of(5, 1, 512), 24);
	/* not neighbours; too far from one another */
	CHECK_INT(bytes_of(2, 2, 1), 32);
	CHECK_INT(bytes_of(1, 1, (uint64_t)1 << 30), 20);
}

/* Blocks that newer ones took the place of: the values of the others do not need them. */
static void blocks_are_missing(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .overwrite = 1, .max_blocks = 8 });
	struct vt_raw_stream *s = vt_raw_stream(r);
	const uint32_t id = VT_RAW_FIRST_ID + 1;
	struct vt_raw_cursor c;
	struct vt_raw_file *f;
	uint64_t v, want = 0;

	for (v = 1; v <= 20000; v++) {
		put_values(s, 1000 + (int64_t)v, 0, 1, &id, (uint64_t[]){ v * v });
	}
	vt_raw_stream_end(s);
	vt_raw_close(r, ltick(30000));
	f = vt_raw_open(path, NULL);
	CHECK(f && vt_raw_file_damage(f)->missing > 10, "%s", path);
	for (vt_raw_cursor(f, 0, &c); vt_raw_cursor_next(&c); want++) {
		memcpy(&v, c.body, 8);
		want = want ? want : (uint64_t)(c.now - 1000);
		CHECK(v == want * want, "%llu", (unsigned long long)want);
	}
	CHECK_INT(want, 20001);
	vt_raw_file_close(f);
}

static void record_values(volatile uint64_t *done, int turn)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 4 });
	struct vt_raw_stream *s = vt_raw_stream(r);
	struct program p = { .e = { .now = 1000 } };

	(void)turn;
	while (p.k < 1000000) {
		put_event(s, &p);
		*done = p.k;
		if (p.k % 5000 == 0) {
			vt_raw_tick(r, ltick(p.e.now));
		}
	}
	pause();
}

/* Killed in the middle of them: all that was recorded is there. */
static void killed(void)
{
	uint64_t done;
	int turn;

	for (turn = 0; turn < 20; turn++) {
		struct vt_raw_file *f = killed_writer(record_values, turn, &done);
		long n;

		if (!f) {
			break;
		}
		n = read_events(f);
		CHECK(n >= (long)done && n <= (long)done + 1, "%ld of %llu", n, (unsigned long long)done);
		vt_raw_file_close(f);
	}
}

static struct vt_raw_stream *handlers;

static volatile sig_atomic_t came;

static volatile int64_t stamp;

/* The k-th value of counter 1 or 2: a sum with a difference that is not its own is none of these. */
static uint64_t recorded(uint64_t k)
{
	return k << 12 | (mixed(k) & 0xfff);
}

static void handler(int sig)
{
	const uint32_t id[2] = { VT_RAW_FIRST_ID + 1, VT_RAW_FIRST_ID + 2 };
	uint64_t v[2] = { recorded((uint64_t)came % 4096), recorded((uint64_t)came) };

	(void)sig;
	came++;
	put_values(handlers, stamp, 0, 1 + came % 2, id, v);
}

/* Signal handlers that record at random points inside the records that they interrupt: some of theirs are lost, nothing is wrong. */
static void beside_a_handler(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 4, .max_blocks = 20000 });
	const struct itimerval every = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	const uint32_t id = VT_RAW_FIRST_ID + 1;
	struct vt_raw_cursor c;
	struct vt_raw_file *f;
	uint64_t k, v, n = 0, wrong = 0;
	unsigned i;

	handlers = vt_raw_stream(r);
	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &every, NULL);
	for (k = 0; k < 20000000 && came < 2000; k++) {
		v = recorded(k % 4096);
		stamp = 1000 + (int64_t)k;
		put_values(handlers, stamp, 0, 1, &id, &v);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	vt_raw_stream_end(handlers);
	vt_raw_close(r, ltick(1000 + (int64_t)k));
	f = vt_raw_open(path, NULL);
	for (vt_raw_cursor(f, 0, &c); vt_raw_cursor_next(&c); n++) {
		for (i = 0; i < c.h.n; i++) {
			memcpy(&v, c.body + 8 * (size_t)i, 8);
			wrong += v != recorded(v >> 12);
		}
	}
	CHECK(came > 10, "%d", (int)came);
	CHECK_INT(wrong, 0);
	CHECK_INT(n + vt_raw_lost(r), k + (uint64_t)came);
	CHECK_INT(vt_raw_file_damage(f)->blocks, 0);
	vt_raw_file_close(f);
}

/* In the middle of a short record nothing of a handler's is stored; the next one is whole. */
static void in_the_middle(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 4 });
	struct vt_raw_stream *s = vt_raw_stream(r);
	const uint32_t id = VT_RAW_FIRST_ID + 1, both[2] = { id, id + 1 };
	const uint64_t v[3] = { 1000, 2000, 3000 };
	uint32_t dt = 0;

	CHECK_INT(put_values(s, 1010, 0, 1, &id, &v[0]), 0);
	CHECK(vt_raw_begin_short(s, 1020, VT_RAW_LEAVE_DT_BITS, &dt) && dt == 10, "%u", dt);
	CHECK_INT(put_values(s, 1021, 0, 1, &id, &v[1]), -1);
	CHECK_INT(vt_raw_lost(r), 1);
	vt_raw_done(s, s->cur);
	CHECK_INT(vt_raw_values_short(s, ltick(1022), 1, &id, &v[2]), 1);
	CHECK_INT(s->last[1], 3000);
	/* one whose second value does not fit changes nothing, before the long one is there */
	CHECK_INT(put_values(s, 1023, 0, 2, both, (uint64_t[]){ 4000, 5000 }), 0);
	CHECK_INT(vt_raw_values_short(s, ltick(1024), 2, both, (uint64_t[]){ 4001, 1ull << 40 }), 0);
	CHECK_INT(vt_raw_values_short(s, ltick(1025), 1, &id, (uint64_t[]){ 4002 }), 0);
	CHECK_INT(s->now, 1023);
	vt_raw_stream_end(s);
	vt_raw_close(r, ltick(1022));
}

/* What no writer of ours writes: a value whose counter has none before it in its block. */
static void without_a_value_before(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 4 });
	struct vt_raw_stream *s = vt_raw_stream(r);
	const uint32_t id = VT_RAW_FIRST_ID + 1;
	const uint64_t v = 7;
	struct vt_raw_cursor c;
	struct vt_raw_file *f;
	int n = 0;

	put_values(s, 1010, 0, 1, &id, &v);
	s->known |= 4;
	CHECK_INT(vt_raw_values_short(s, ltick(1011), 1, (uint32_t[]){ id + 1 }, &v), 1);
	vt_raw_stream_end(s);
	vt_raw_close(r, ltick(1022));
	f = vt_raw_open(path, NULL);
	for (vt_raw_cursor(f, 0, &c); vt_raw_cursor_next(&c); n++) {
	}
	CHECK_INT(n, 1);
	CHECK_INT(vt_raw_file_damage(f)->blocks, 1);
	vt_raw_file_close(f);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(what_went_in_comes_back);
	RUN(values_are_short);
	RUN(blocks_are_missing);
	RUN(killed);
	RUN(beside_a_handler);
	RUN(in_the_middle);
	RUN(without_a_value_before);
	remove_dir();
	return check_end();
}
