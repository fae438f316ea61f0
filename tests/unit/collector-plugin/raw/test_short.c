/* SPDX-License-Identifier: BSD-3-Clause */
/* Definitions, short states and messages of the raw file: what is written comes back, whole, after a kill, and beside a signal handler. */
#include "config.h"
#include "collector-plugin/raw/events.h"
#include "collector-plugin/raw/reader.h"
#include "collector-plugin/raw/short.h"
#include "collector-plugin/raw/writer.h"
#include "tests/lib/check.h"
#include "tests/lib/raw_file.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- short records ---- */

/* doc/raw-format.md has a row for each record and each field of raw/short.h. */
static void bits_are_as_documented(void)
{
	static const char *const rows[] = {
#define RECORD(record, byte, mask) "| " #record " | " #byte " | " #mask " |",
		VT_RAW_SHORT_RECORDS(RECORD)
#undef RECORD
#define FIELD(word, field, bit, bits) "| " #word " | " #field " | " #bit " | " #bits " |",
			VT_RAW_SHORT_FIELDS(FIELD)
#undef FIELD
	};
	const char *top = getenv("top_srcdir");
	static char name[1000], text[1 << 16];
	FILE *doc;
	size_t i;

	snprintf(name, sizeof(name), "%s/doc/raw-format.md", top ? top : "..");
	doc = fopen(name, "r");
	CHECK(doc && fread(text, 1, sizeof(text) - 1, doc) > 0, "%s", name);
	if (doc) {
		fclose(doc);
	}
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK(strstr(text, rows[i]), "no row %s", rows[i]);
	}
}

/* The bytes that the stream has got since `from` are these. */
static void bytes_are(const struct vt_raw_stream *s, const uint8_t *from, const uint8_t *want, size_t n)
{
	CHECK(s->cur - from == (ptrdiff_t)n && !memcmp(from, want, n), "%zu bytes %02x %02x %02x %02x",
		(size_t)(s->cur - from), from[0], from[1], from[2], from[3]);
}

#define BYTES_ARE(s, from, ...) \
	bytes_are(s, from, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* Computed by hand from the page, not by the tables. */
static void bytes_of_each_short_record(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1 });
	const struct vt_raw_message sent = { .communicator = 3, .peer = 0x123, .tag = 0x456, .bytes = 0x89abcdef },
				    received = { .communicator = 3,
					    .peer = 0x123,
					    .tag = 0x456,
					    .bytes = 0xcdef,
					    .since = 0x1789ab };
	const uint32_t id[2] = { 0x10000 + 7, 0x10000 + 8 };
	struct vt_raw_stream *s = vt_raw_stream(r);
	const uint8_t *at;

	vt_raw_values(s, ltick(1000), 0, 2, id, (uint64_t[]){ 100, 200 }, 1);
	at = s->cur;
	CHECK_INT(vt_raw_enter(s, ltick(1001), 0, (struct vt_raw_state_change){ 0x10000 + 0xabc, 0 }), 0);
	BYTES_ARE(s, at, 0xfc, 0x6a, 0, 0);
	at = s->cur;
	CHECK_INT(vt_raw_enter(s, ltick(1002), 0, (struct vt_raw_state_change){ 0x12345, 0 }), 0);
	BYTES_ARE(s, at, 0xc0, 0x40, 0, 0, 0x45, 0x23, 1, 0);
	at = s->cur;
	CHECK_INT(vt_raw_leave(s, ltick(1002 + 0x102), 0, 0), 0);
	BYTES_ARE(s, at, 0x80, 2, 1, 0);
	at = s->cur;
	CHECK_INT(vt_raw_values_short(s, ltick(1260 + 3), 1, id, (uint64_t[]){ 98 }), 1);
	BYTES_ARE(s, at, 0xa7, 3, 0x80, 0xff);
	at = s->cur;
	CHECK_INT(vt_raw_values_short(s, ltick(1263 + 4), 2, id, (uint64_t[]){ 99, 203 }), 1);
	BYTES_ARE(s, at, 0x87, 4, 0, 0, 3, 0, 0, 0, 6, 0, 0, 0);
	at = s->cur;
	CHECK_INT(vt_raw_message(s, ltick(1267), 0, VT_RAW_MESSAGE_SEND, &sent), 0);
	BYTES_ARE(s, at, 0x43, 0x23, 0x61, 0x45, 0xef, 0xcd, 0xab, 0x89);
	at = s->cur;
	CHECK_INT(vt_raw_message(s, ltick(1267 + 5), 0, VT_RAW_MESSAGE_RECEIVE, &received), 0);
	BYTES_ARE(s, at, 0x63, 5, 0, 0, 0xab, 0x89, 0x17, 0x23, 0x61, 0x45, 0xef, 0xcd);
	vt_raw_close(r, ltick(2000));
}

enum { SHORT_EVENTS = 40000 };

/* The k-th event of a stream: its distance to the one before it, its function (0: a leave) and its thread. */
static void event_at(uint64_t k, int64_t *dt, uint32_t *function, uint16_t *thread)
{
	static const int64_t odd[] = { (1 << 18) - 1, 1 << 18, (1 << 24) - 1, 1 << 24, UINT32_MAX, (int64_t)1 << 33, -5,
		0 };
	static const uint32_t ids[] = { 1, 2, 0x10000, 0x10001, 0x1003f, 0x10040, 0x10041, 0x10fff, 0x11000, 0x3fffff };
	uint64_t h = k * 0x9e3779b97f4a7c15u;

	h ^= h >> 29;
	*dt = h % 64 == 0 ? odd[(h >> 8) % 8] : (int64_t)((h >> 8) % 1000);
	*function = (h >> 24) % 5 < 2 ? 0 : ids[(h >> 32) % 10];
	*thread = (uint16_t)(k / 3000);
}

static int put_event(struct vt_raw_stream *s, uint64_t k, int64_t *now)
{
	static uint16_t owner;
	uint32_t function;
	uint16_t thread;
	int64_t dt;

	event_at(k, &dt, &function, &thread);
	if (thread != owner) {
		vt_raw_no_owner(s);
		owner = thread;
	}
	*now += dt;
	return function ? vt_raw_enter(s, ltick(*now), thread, (struct vt_raw_state_change){ function, 0 })
			: vt_raw_leave(s, ltick(*now), thread, 0);
}

/* Returns how many events are there and as they were written; -1: one is not. */
static long short_back(struct vt_raw_file *f, size_t *bytes)
{
	struct vt_raw_cursor c;
	uint64_t k = 0;
	int64_t now = 1000, dt;
	uint32_t function, got = 0;
	uint16_t thread;

	*bytes = 0;
	for (vt_raw_cursor(f, 0, &c); vt_raw_cursor_next(&c); k++) {
		event_at(k, &dt, &function, &thread);
		now += dt;
		if (c.h.type == VT_RAW_ENTER) {
			memcpy(&got, c.body, 4);
		}
		if (c.h.type != (function ? VT_RAW_ENTER : VT_RAW_LEAVE) || (function && got != function) ||
			c.now != now || c.h.where != thread || c.h.n != 0) {
			printf("# event %llu\n", (unsigned long long)k);
			return -1;
		}
		*bytes += c.size;
	}
	return (long)k;
}

static void short_records(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 4 });
	struct vt_raw_stream *s = vt_raw_stream(r);
	struct vt_raw_file *f;
	int64_t now = 1000;
	size_t bytes;
	uint64_t k;

	for (k = 0; k < SHORT_EVENTS; k++) {
		CHECK(put_event(s, k, &now) == 0, "%s", path);
	}
	vt_raw_stream_end(s);
	vt_raw_close(r, ltick(now));
	f = vt_raw_open(path, NULL);
	CHECK(f != NULL, "%s", path);
	if (!f) {
		return;
	}
	CHECK_INT(short_back(f, &bytes), SHORT_EVENTS);
	/* half of the functions do not fit into the word, one time in 64 no dt does */
	CHECK(2 * bytes < 11 * SHORT_EVENTS, "%zu", bytes);
	CHECK_INT(vt_raw_file_damage(f)->blocks, 0);
	vt_raw_file_close(f);
}

static void record_states(volatile uint64_t *done, int turn)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 4 });
	struct vt_raw_stream *s = vt_raw_stream(r);
	int64_t now = 1000;
	uint64_t k;

	(void)turn;
	for (k = 0; k < 1000000; k++) {
		put_event(s, k, &now);
		*done = k + 1;
		if (k % 5000 == 0) {
			vt_raw_tick(r, ltick(now));
		}
	}
	pause();
}

/* Killed in the middle of them: all that vt_raw_done() has been told of is there. */
static void short_killed(void)
{
	uint64_t done;
	size_t bytes;
	int turn;

	for (turn = 0; turn < 20; turn++) {
		struct vt_raw_file *f = killed_writer(record_states, turn, &done);
		long n;

		if (!f) {
			break;
		}
		n = short_back(f, &bytes);
		CHECK(n >= (long)done && n <= (long)done + 1, "%ld of %llu", n, (unsigned long long)done);
		vt_raw_file_close(f);
	}
}

/* A signal handler that records in the middle of a record loses its own, not that. */
static void short_from_a_handler(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 4 });
	struct vt_raw_stream *s = vt_raw_stream(r);
	uint32_t dt = 0;

	vt_raw_enter(s, ltick(1010), 0, (struct vt_raw_state_change){ 0x10001, 0 });
	CHECK(vt_raw_begin_short(s, 1020, VT_RAW_LEAVE_DT_BITS, &dt) && dt == 10, "%u", dt);
	CHECK_INT(vt_raw_leave(s, ltick(1021), 0, 0), -1);
	CHECK_INT(vt_raw_lost(r), 1);
	vt_raw_done(s, s->cur);
	CHECK_INT(vt_raw_leave(s, ltick(1022), 0, 0), 0);
	vt_raw_stream_end(s);
	vt_raw_close(r, ltick(1022));
}

/* Left within a record, by a jump or by the end of the thread: that record is lost and counted, and what comes after
 * it has its own stamp, thread and value. */
static void left_within_a_record(int ended)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 4 });
	const uint32_t id = 0x10000;
	struct vt_raw_stream *s = vt_raw_stream(r);
	struct vt_raw_file *f;
	struct vt_raw_cursor c;
	uint32_t dt = 0, got = 0;
	uint64_t value = 0;

	vt_raw_values(s, ltick(1000), 3, 1, &id, (uint64_t[]){ 7 }, 1);
	vt_raw_enter(s, ltick(1010), 3, (struct vt_raw_state_change){ 0x10001, 0 });
	/* a value of a counter is in the stream already, and not in the file */
	CHECK(vt_raw_room(s, 64, 900000, &dt), "%s", path);
	s->last[0] = 99;
	if (ended) {
		vt_raw_stream_end(s);
		CHECK(vt_raw_stream(r) == s, "%s", path);
	} else {
		vt_raw_abandon(s);
	}
	CHECK_INT(vt_raw_lost(r), 1);
	vt_raw_abandon(s);
	CHECK_INT(vt_raw_lost(r), 1);
	CHECK_INT(vt_raw_leave(s, ltick(1020), 4, 0), 0);
	CHECK_INT(vt_raw_values_short(s, ltick(1030), 1, &id, (uint64_t[]){ 100 }), 0);
	vt_raw_values(s, ltick(1030), 4, 1, &id, (uint64_t[]){ 100 }, 1);
	vt_raw_stream_end(s);
	vt_raw_close(r, ltick(1040));
	f = vt_raw_open(path, NULL);
	CHECK(f != NULL, "%s", path);
	if (!f) {
		return;
	}
	vt_raw_cursor(f, 0, &c);
	CHECK(vt_raw_cursor_next(&c) && c.now == 1000 && c.h.where == 3, "%lld", (long long)c.now);
	CHECK(vt_raw_cursor_next(&c) && c.now == 1010 && c.h.type == VT_RAW_ENTER, "%lld", (long long)c.now);
	CHECK(vt_raw_cursor_next(&c) && c.now == 1020 && c.h.type == VT_RAW_LEAVE && c.h.where == 4, "%lld %u",
		(long long)c.now, c.h.where);
	CHECK(vt_raw_cursor_next(&c) && c.now == 1030 && c.h.type == VT_RAW_COUNTERS && c.h.where == 4, "%lld",
		(long long)c.now);
	memcpy(&value, c.p + 8, 8);
	memcpy(&got, c.p + 16, 4);
	CHECK(value == 100 && got == id, "%llu %u", (unsigned long long)value, got);
	CHECK(!vt_raw_cursor_next(&c) && vt_raw_file_damage(f)->blocks == 0, "%s", path);
	vt_raw_file_close(f);
}

static void jump_out_of_a_record(void)
{
	left_within_a_record(0);
}

static void end_within_a_record(void)
{
	left_within_a_record(1);
}

/* ---- messages ---- */

enum { MESSAGES = 40000 };

struct message {
	int64_t dt;
	uint32_t communicator, peer, tag, received;
	uint64_t bytes, since;
	int fits; /* into the short form */
};

/* The k-th message: mostly small numbers, and those beside each limit. Every third event is a state in between. */
static struct message message_at(uint64_t k)
{
	static const uint64_t limit[] = { 1 << 12, 1 << 12, 1 << 16, 1 << 24, 1 << 24, 32 };
	uint64_t h = k * 0x9e3779b97f4a7c15u, v[6];
	struct message m;
	int i;

	h ^= h >> 29;
	for (i = 0; i < 6; i++) {
		v[i] = h >> i & 1 ? h >> 20 & 31 : limit[i] - 1;
	}
	/* one of them is the first that does not fit, half of the time */
	i = (int)(h >> 40 & 15);
	if (i < 6) {
		v[i] = limit[i];
	}
	m = (struct message){ .received = h >> 50 & 1,
		.peer = (uint32_t)v[0],
		.tag = (uint32_t)v[1],
		.bytes = v[2],
		.since = v[3],
		.dt = (int64_t)v[4],
		.communicator = (uint32_t)v[5] };
	m.fits = i != 0 && i != 1 && i != 5 && (!m.received || i > 5);
	if (!m.received) {
		m.since = 0;
		m.dt = h >> 51 & 1; /* its stamp is that of the record before */
		m.bytes = i == 2 ? UINT32_MAX : m.bytes;
		m.fits = m.fits && m.dt == 0;
	}
	return m;
}

static struct vt_raw_message raw_message(const struct message *m)
{
	return (struct vt_raw_message){ .communicator = m->communicator,
		.peer = (int32_t)m->peer,
		.tag = (int32_t)m->tag,
		.bytes = (uint32_t)m->bytes,
		.since = (int64_t)m->since };
}

/* Returns 1: it was short. */
static int put_message(struct vt_raw_stream *s, const struct message *m, int64_t now)
{
	const struct vt_raw_message l = raw_message(m);

	if (m->received ? vt_raw_receive_short(s, ltick(now), &l) : vt_raw_send_short(s, ltick(now), &l)) {
		return 1;
	}
	vt_raw_message_long(s, ltick(now), 7, m->received ? VT_RAW_MESSAGE_RECEIVE : VT_RAW_MESSAGE_SEND, l);
	return 0;
}

static int same_message(const struct vt_raw_cursor *c, const struct message *m, int64_t now)
{
	const struct vt_raw_message l = raw_message(m);

	return c->h.type == VT_RAW_MESSAGE && c->h.n == (m->received ? VT_RAW_MESSAGE_RECEIVE : VT_RAW_MESSAGE_SEND) &&
		c->now == now && c->h.where == 7 && !memcmp(c->body, &l, sizeof(l));
}

static void short_messages(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 4 });
	struct vt_raw_stream *s = vt_raw_stream(r);
	struct vt_raw_file *f;
	struct vt_raw_cursor c;
	struct message m;
	int64_t now = 1000;
	long k, short_ones = 0, fitting = 0, right = 0;

	for (k = 0; k < MESSAGES; k++) {
		m = message_at((uint64_t)k);
		if (k % 3 == 0) {
			vt_raw_enter(s, ltick(++now), 7, (struct vt_raw_state_change){ 0x10001, 0 });
		}
		now += m.dt;
		short_ones += put_message(s, &m, now);
		fitting += m.fits;
	}
	/* at a block's end, and before its first state, a few do not */
	CHECK(fitting > MESSAGES / 3 && short_ones <= fitting && short_ones > fitting * 95 / 100, "%ld of %ld",
		short_ones, fitting);
	vt_raw_stream_end(s);
	vt_raw_close(r, ltick(now));
	f = vt_raw_open(path, NULL);
	CHECK(f != NULL, "%s", path);
	if (!f) {
		return;
	}
	now = 1000;
	vt_raw_cursor(f, 0, &c);
	for (k = 0; k < MESSAGES; k++) {
		m = message_at((uint64_t)k);
		if (k % 3 == 0) {
			CHECK(vt_raw_cursor_next(&c) && c.h.type == VT_RAW_ENTER && c.now == ++now, "%ld", k);
		}
		now += m.dt;
		right += vt_raw_cursor_next(&c) && same_message(&c, &m, now);
	}
	CHECK_INT(right, MESSAGES);
	CHECK_INT(vt_raw_cursor_next(&c), 0);
	vt_raw_file_close(f);
}

/* Bytes of a file that may be damaged: a message of which not all is there is none, nor is one in a block without an owner. */
static void half_a_message(void)
{
	uint8_t word[12] = { VT_RAW_SHORT_RECEIVE | 1 };
	struct vt_raw_cursor c = { .p = word, .owner = 7 };
	size_t n;

	for (n = 0; n <= sizeof(word); n++) {
		c.end = c.p + n;
		CHECK_INT(vt_raw_cursor_short(&c), n < 12 ? 0 : 12);
	}
	c.owner = UINT32_MAX;
	CHECK_INT(vt_raw_cursor_short(&c), 0);
	c.owner = 7;
	word[0] = VT_RAW_SHORT_SEND | 1;
	for (n = 0; n <= 8; n++) {
		c.end = c.p + n;
		CHECK_INT(vt_raw_cursor_short(&c), n < 8 ? 0 : 8);
	}
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(bits_are_as_documented);
	RUN(bytes_of_each_short_record);
	RUN(short_records);
	RUN(short_killed);
	RUN(short_from_a_handler);
	RUN(jump_out_of_a_record);
	RUN(end_within_a_record);
	RUN(short_messages);
	RUN(half_a_message);
	remove_dir();
	return check_end();
}
