/* SPDX-License-Identifier: BSD-3-Clause */
/* The raw file: what is appended comes back, from whole files and from what a crash leaves. */
#include "config.h"
#include "collector-plugin/raw/format.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector-plugin/raw/reader.h"
#include "collector-plugin/raw/writer.h"
#include "tests/lib/check.h"

static char dir[64], path[128];

static struct vt_raw *create(struct vt_raw_options o)
{
	struct vt_raw *r;
	struct tkm_err e = { TKM_OK, "" };

	unlink(path);
	o.path = path;
	o.block_size = o.block_size ? o.block_size : 4096;
	o.max_blocks = o.max_blocks ? o.max_blocks : 64;
	o.timer = "test";
	o.program = "prog";
	o.job = "job";
	o.trace = "/t.stf";
	o.hz = 1e9;
	o.start = ltick(1000);
	r = vt_raw_create(&o, &e);
	if (!r) {
		printf("# %s\n", e.text);
	}
	return r;
}

struct seen {
	int classes, counters, threads, groups, clocks, infos, functions;
	char counter[100], info[1100];
	uint32_t members[8];
};

static int see(const struct vt_raw_def *d, void *ctx)
{
	struct seen *s = ctx;

	s->classes += d->type == VT_RAW_DEF_CLASS;
	s->threads += d->type == VT_RAW_DEF_THREAD;
	s->clocks += d->type == VT_RAW_DEF_CLOCK;
	s->functions += d->type == VT_RAW_DEF_FUNCTION;
	if (d->type == VT_RAW_DEF_COUNTER) {
		s->counters++;
		snprintf(s->counter, sizeof(s->counter), "%u %u %s %s %s %g %s %llu", d->id, d->counter.type, d->name,
			d->counter.unit, d->counter.description, d->counter.factor, d->counter.shown_unit,
			(unsigned long long)d->counter.upper);
	}
	if (d->type == VT_RAW_DEF_INFO) {
		s->infos++;
		snprintf(s->info, sizeof(s->info), "%s %s", d->name, d->text);
	}
	if (d->type == VT_RAW_DEF_GROUP && d->n < 8) {
		s->groups++;
		memcpy(s->members, d->members, d->n * 4);
	}
	return 0;
}

/* Reads all records of all streams. Values are expected to be 1, 2, 3 ... per stream from `first[stream]` on; returns how
 * many counter records there were, -1 if one is not what it should be. */
static long read_back(struct vt_raw_file *f, uint64_t first, uint64_t *last, int64_t step)
{
	struct vt_raw_cursor c;
	long n = 0;
	size_t i;

	for (i = 0; i < vt_raw_streams(f); i++) {
		uint64_t want = first, v;

		vt_raw_cursor(f, i, &c);
		while (vt_raw_cursor_next(&c)) {
			size_t k;

			if (c.h.type != VT_RAW_COUNTERS) {
				return -1;
			}
			memcpy(&v, c.p + 8, 8);
			want = want ? want : v;
			if (v != want || c.now != 1000 + (int64_t)v * step) {
				return -1;
			}
			for (k = 0; k < c.h.n; k++) {
				uint32_t id;

				memcpy(&id, c.p + 8 + 8 * (size_t)c.h.n + 4 * k, 4);
				if (id != k + 1) {
					return -1;
				}
			}
			want++;
			n++;
		}
		*last = want - 1;
	}
	return n;
}

static void write_some(struct vt_raw_stream *s, uint64_t from, uint64_t to, int64_t step)
{
	static const uint32_t id[255] = { 1, 2, 3, 4, 5, 6, 7 };
	uint64_t v[7] = { 0 }, i;

	for (i = from; i <= to; i++) {
		v[0] = i;
		vt_raw_counters(s, ltick(1000 + (int64_t)i * step), 0, 1 + (unsigned)(i % 7), id, v);
	}
}

static void define(struct vt_raw *r)
{
	struct vt_raw_counter_def c = { .id = 1,
		.classid = 1,
		.type = 0x43,
		.upper = UINT64_MAX,
		.name = "a counter",
		.unit = "1/s",
		.description = "what it counts",
		.factor = 0.5,
		.shown_unit = "half" };
	uint32_t members[2] = { 0, 3 };

	CHECK(vt_raw_class(r, 1, 0, "OS") == 0, "%s", path);
	CHECK(vt_raw_counter(r, &c) == 0, "%s", path);
	CHECK(vt_raw_thread(r, 0, 4711, "main") == 0, "%s", path);
	CHECK(vt_raw_group(r, 2, "some", members, 2) == 0, "%s", path);
	CHECK(vt_raw_clock(r, ltick(1000), 1, 2, 3) == 0, "%s", path);
	CHECK(vt_raw_info(r, "missing", "nothing") == 0, "%s", path);
	CHECK(vt_raw_function(r, 5, 1, "f") == 0, "%s", path);
}

static void check_definitions(struct vt_raw_file *f)
{
	struct seen s = { 0 };

	CHECK(vt_raw_definitions(f, see, &s) == 0, "%s", path);
	CHECK(s.classes == 1 && s.counters == 1 && s.threads == 1 && s.groups == 1 && s.clocks == 1 && s.infos == 1 &&
			s.functions == 1,
		"%s", path);
	CHECK(!strcmp(s.counter, "1 67 a counter 1/s what it counts 0.5 half 18446744073709551615"), "%s", path);
	CHECK(!strcmp(s.info, "missing nothing"), "%s", path);
	CHECK(s.members[0] == 0 && s.members[1] == 3, "%s", path);
}

static void what_goes_in_comes_out(void)
{
	int64_t steps[] = { 1, 100000, 3000000000, -5 };
	uint64_t last = 0;
	size_t k;

	for (k = 0; k < 4; k++) {
		struct vt_raw *r =
			create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 3, .min_blocks = 1 });
		struct vt_raw_stream *s;
		struct vt_raw_file *f;
		struct tkm_err e = { TKM_OK, "" };
		uint64_t i;

		CHECK(r != NULL, "%s", path);
		define(r);
		s = vt_raw_stream(r);
		for (i = 0; i < 20; i++) {
			write_some(s, i * 1000 + 1, (i + 1) * 1000, steps[k]);
			vt_raw_tick(r, ltick(5));
		}
		vt_raw_stream_end(s);
		CHECK(vt_raw_stream(r) == s, "%s", path);
		vt_raw_stream_end(s);
		CHECK(vt_raw_lost(r) == 0 && vt_raw_stopped(r) == 0, "%s", path);
		vt_raw_close(r, ltick(77));
		f = vt_raw_open(path, &e);
		CHECK(f != NULL, "%s", path);
		check_definitions(f);
		CHECK(read_back(f, 1, &last, steps[k]) == 20000, "%s", path);
		CHECK(vt_raw_file_head(f)->state == VT_RAW_CLOSED && vt_raw_file_head(f)->end_tick == 77, "%s", path);
		CHECK(!vt_raw_file_alive(f), "%s", path);
		CHECK(vt_raw_file_damage(f)->blocks == 0 && vt_raw_file_damage(f)->missing == 0 &&
				vt_raw_file_damage(f)->open == 0,
			"%s", path);
		vt_raw_file_close(f);
	}
}

static void without_autoflush_it_stops_or_overwrites(void)
{
	struct tkm_err e = { TKM_OK, "" };
	struct vt_raw_stream *s;
	struct vt_raw_file *f;
	struct vt_raw *r;
	uint64_t last;
	long n;

	r = create((struct vt_raw_options){ .max_blocks = 16 });
	define(r);
	s = vt_raw_stream(r);
	write_some(s, 1, 20000, 10);
	CHECK(vt_raw_lost(r) > 0 && vt_raw_stopped(r) == ENOBUFS, "%s", path);
	last = 20000 - vt_raw_lost(r);
	vt_raw_stream_end(s);
	vt_raw_close(r, ltick(1));
	f = vt_raw_open(path, &e);
	CHECK(f && read_back(f, 1, &(uint64_t){ 0 }, 10) == (long)last, "%s", path);
	CHECK(vt_raw_file_head(f)->stop == ENOBUFS && vt_raw_file_head(f)->stop_tick == 1000 + (int64_t)(last + 1) * 10,
		"%s", path);
	vt_raw_file_close(f);

	r = create((struct vt_raw_options){ .max_blocks = 16, .overwrite = 1 });
	define(r);
	s = vt_raw_stream(r);
	write_some(s, 1, 20000, 10);
	CHECK(vt_raw_lost(r) == 0 && vt_raw_stopped(r) == 0, "%s", path);
	vt_raw_stream_end(s);
	vt_raw_close(r, ltick(1));
	f = vt_raw_open(path, &e);
	CHECK(f != NULL, "%s", path);
	check_definitions(f);
	n = read_back(f, 0, &last, 10);
	CHECK(n > 400 && n < 2000 && last == 20000, "%s", path);
	CHECK(vt_raw_file_damage(f)->missing > 0 && vt_raw_file_head(f)->overwritten == vt_raw_file_damage(f)->missing,
		"%s", path);
	vt_raw_file_close(f);
}

static void the_limit_holds(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 0, .limit = 200000 });
	struct vt_raw_stream *s = vt_raw_stream(r);
	uint64_t i;

	for (i = 0; i < 100; i++) {
		write_some(s, i * 100 + 1, (i + 1) * 100, 10);
		vt_raw_tick(r, ltick(0));
	}
	CHECK(vt_raw_size(r) <= 200000 && vt_raw_size(r) > 190000, "%s", path);
	CHECK(vt_raw_stopped(r) == EFBIG && vt_raw_lost(r) > 0, "%s", path);
	/* statistics and names have place beyond it */
	for (i = 0; i < 1000; i++) {
		CHECK_INT(
			vt_raw_info(r, "class", "a text that fills blocks of definitions beyond the limit of the file"),
			0);
	}
	vt_raw_stream_end(s);
	vt_raw_close(r, ltick(1));
}

/* Each record says how many clock sessions were over, whatever blocks are missing. */
static void sessions_are_known(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 0, .overwrite = 1, .max_blocks = 4 });
	struct vt_raw_stream *s[2] = { vt_raw_stream(r), vt_raw_stream(r) };
	struct vt_raw_file *f;
	struct vt_raw_cursor c;
	struct tkm_err e;
	uint64_t v, wrong = 0, n = 0, over;
	uint32_t id = 1;
	size_t k;

	/* the value of a record is what it should say; one stream is silent most of the time */
	for (v = 0, over = 0; v < 20000; v++) {
		if (v % 700 == 699) {
			vt_raw_session_over(r);
			over++;
		}
		vt_raw_counters(s[0], ltick((int64_t)(v % 999)), 0, 1, &id, &over);
		if (v % 1000 == 0) {
			vt_raw_counters(s[1], ltick((int64_t)v), 0, 1, &id, &over);
		}
	}
	vt_raw_stream_end(s[0]);
	vt_raw_stream_end(s[1]);
	vt_raw_close(r, ltick(1));
	f = vt_raw_open(path, &e);
	CHECK(f != NULL && vt_raw_file_damage(f)->missing > 0, "%s", e.text);
	for (k = 0; f && k < vt_raw_streams(f); k++) {
		for (vt_raw_cursor(f, k, &c); vt_raw_cursor_next(&c); n++) {
			memcpy(&v, c.p + 8, 8);
			wrong += v != c.sessions;
		}
	}
	CHECK(n > 400 && wrong == 0, "%llu of %llu records are wrong", (unsigned long long)wrong,
		(unsigned long long)n);
	vt_raw_file_close(f);
}

/* A child is killed at some moment; what it had written by then is there. */
static void killed(void)
{
	int k;

	for (k = 0; k < 20; k++) {
		volatile uint64_t *done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		struct tkm_err e = { TKM_OK, "" };
		struct vt_raw_file *f;
		uint64_t last = 0;
		pid_t pid = fork();

		if (pid == 0) {
			struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 4 });
			struct vt_raw_stream *s;
			uint64_t i;

			define(r);
			s = vt_raw_stream(r);
			for (i = 1;; i++) {
				write_some(s, i, i, 10);
				*done = i;
				if (i % 500 == 0) {
					vt_raw_tick(r, ltick(0));
				}
				if (i > 4000000) {
					pause();
				}
			}
		}
		while (*done == 0) {
			usleep(100);
		}
		usleep((useconds_t)(check_random() % 3000));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		f = vt_raw_open(path, &e);
		CHECK(f != NULL, "%s", path);
		if (!f) {
			printf("# %s\n", e.text);
			break;
		}
		check_definitions(f);
		CHECK(read_back(f, 1, &last, 10) >= 0, "%s", path);
		CHECK(last >= *done && last <= *done + 1, "%s", path);
		CHECK(vt_raw_file_head(f)->state == VT_RAW_RECORDING && !vt_raw_file_alive(f), "%s", path);
		vt_raw_file_close(f);
		munmap((void *)(uintptr_t)done, 4096);
	}
}

/* ---- short records ---- */

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
	return function ? vt_raw_state_enter(s, ltick(*now), thread, function, vt_raw_short_code(function))
			: vt_raw_state_leave(s, ltick(*now), thread);
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
		if (c.h.type == VT_RAW_STATE_ENTER) {
			memcpy(&got, c.body, 4);
		}
		if (c.h.type != (function ? VT_RAW_STATE_ENTER : VT_RAW_STATE_LEAVE) || (function && got != function) ||
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

/* As `killed`, but in the middle of short records: all that vt_raw_done() has been told of is there. */
static void short_killed(void)
{
	int turn;

	for (turn = 0; turn < 20; turn++) {
		volatile uint64_t *done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		struct vt_raw_file *f;
		size_t bytes;
		long n;
		pid_t pid = fork();

		if (pid == 0) {
			struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 4 });
			struct vt_raw_stream *s = vt_raw_stream(r);
			int64_t now = 1000;
			uint64_t k;

			for (k = 0; k < 1000000; k++) {
				put_event(s, k, &now);
				*done = k + 1;
				if (k % 5000 == 0) {
					vt_raw_tick(r, ltick(now));
				}
			}
			pause();
		}
		while (*done == 0) {
			usleep(100);
		}
		usleep((useconds_t)(check_random() % 3000));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		f = vt_raw_open(path, NULL);
		CHECK(f != NULL, "%s", path);
		if (!f) {
			return;
		}
		n = short_back(f, &bytes);
		CHECK(n >= (long)*done && n <= (long)*done + 1, "%ld of %llu", n, (unsigned long long)*done);
		vt_raw_file_close(f);
		munmap((void *)(uintptr_t)done, 4096);
	}
}

/* A signal handler that records in the middle of a record loses its own, not that. */
static void short_from_a_handler(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 4 });
	struct vt_raw_stream *s = vt_raw_stream(r);
	uint32_t dt;

	vt_raw_state_enter(s, ltick(1010), 0, 0x10001, vt_raw_short_code(0x10001));
	CHECK(vt_raw_quick(s, 1020, VT_RAW_SHORT_LEAVE_BITS, &dt) && dt == 10, "%u", dt);
	CHECK_INT(vt_raw_state_leave(s, ltick(1021), 0), -1);
	CHECK_INT(vt_raw_lost(r), 1);
	vt_raw_done(s, s->cur);
	CHECK_INT(vt_raw_state_leave(s, ltick(1022), 0), 0);
	vt_raw_stream_end(s);
	vt_raw_close(r, ltick(1022));
}

static void damage(int fd, off_t at)
{
	char c = 0;

	CHECK(pread(fd, &c, 1, at) == 1, "%s", path);
	c ^= 0x40;
	CHECK(pwrite(fd, &c, 1, at) == 1, "%s", path);
}

/* One copy of the definitions is enough, a damaged block takes no other with it, and every cut can be read. */
static void damaged_files(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 0 });
	struct vt_raw_stream *s;
	struct vt_raw_file *f;
	struct tkm_err e = { TKM_OK, "" };
	uint64_t last;
	uint32_t head;
	off_t size;
	int fd;

	define(r);
	s = vt_raw_stream(r);
	write_some(s, 1, 1000, 10);
	vt_raw_stream_end(s);
	vt_raw_close(r, ltick(1));
	fd = open(path, O_RDWR);
	CHECK(pread(fd, &head, sizeof(head), 16) == sizeof(head), "%s", path);
	damage(fd, (off_t)head + 100); /* the first block: definitions */
	f = vt_raw_open(path, &e);
	CHECK(f && vt_raw_file_damage(f)->blocks == 1, "%s", path);
	check_definitions(f);
	CHECK(read_back(f, 1, &last, 10) == 1000, "%s", path);
	vt_raw_file_close(f);
	damage(fd, (off_t)head + 3 * 4096 + 500); /* a block of data */
	f = vt_raw_open(path, &e);
	CHECK(f && vt_raw_file_damage(f)->blocks == 2 && vt_raw_file_damage(f)->missing == 1, "%s", path);
	vt_raw_file_close(f);
	size = lseek(fd, 0, SEEK_END);
	for (; size >= 0; size -= 509) {
		CHECK(ftruncate(fd, size) == 0, "%s", path);
		f = vt_raw_open(path, &e);
		if (size >= (off_t)head) {
			CHECK(f != NULL, "%s", path);
			read_back(f, 0, &last, 10);
			vt_raw_definitions(f, see, &(struct seen){ 0 });
		} else {
			CHECK(f == NULL && strstr(e.text, path), "%s", path);
		}
		vt_raw_file_close(f);
	}
	close(fd);
}

static void random_bytes(void)
{
	struct tkm_err e = { TKM_OK, "" };
	uint64_t last;
	int k, i;

	for (k = 0; k < 300; k++) {
		struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 0 });
		struct vt_raw_stream *s;
		struct vt_raw_file *f;
		int fd;

		define(r);
		s = vt_raw_stream(r);
		write_some(s, 1, 300, 10);
		vt_raw_detach_after_fork(r);
		/* open blocks have no checksum that would keep nonsense away */
		fd = open(path, O_RDWR);
		for (i = 0; i < 20; i++) {
			damage(fd, 4096 + (off_t)(check_random() % (4096 * 5)));
		}
		close(fd);
		f = vt_raw_open(path, &e);
		CHECK(f != NULL, "%s", path);
		read_back(f, 0, &last, 10);
		vt_raw_definitions(f, see, &(struct seen){ 0 });
		vt_raw_file_close(f);
	}
}

static void *thread(void *p)
{
	struct vt_raw *r = p;
	struct vt_raw_stream *s = vt_raw_stream(r);

	write_some(s, 1, 50000, 10);
	return s;
}

static void threads_at_once(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 10, .max_blocks = 40 });
	struct tkm_err e = { TKM_OK, "" };
	struct vt_raw_file *f;
	pthread_t t[4];
	uint64_t last;
	void *s[4];
	int i;

	for (i = 0; i < 4; i++) {
		CHECK(pthread_create(&t[i], NULL, thread, r) == 0, "%s", path);
	}
	for (i = 0; i < 200; i++) {
		vt_raw_tick(r, ltick(i));
		vt_raw_class(r, 100 + (uint32_t)i, 0, "some class");
	}
	/* a stream that is given back before the last thread has begun would be that one's too */
	for (i = 0; i < 4; i++) {
		pthread_join(t[i], &s[i]);
	}
	for (i = 0; i < 4; i++) {
		vt_raw_stream_end(s[i]);
	}
	CHECK(vt_raw_lost(r) == 0, "%s", path);
	vt_raw_close(r, ltick(1));
	f = vt_raw_open(path, &e);
	CHECK(f && vt_raw_streams(f) == 4, "%zu streams, %llu blocks damaged, %llu open", f ? vt_raw_streams(f) : 0,
		(unsigned long long)(f ? vt_raw_file_damage(f)->blocks : 0),
		(unsigned long long)(f ? vt_raw_file_damage(f)->open : 0));
	CHECK_INT(read_back(f, 1, &last, 10), 200000);
	CHECK(vt_raw_file_damage(f)->blocks == 0 && vt_raw_file_damage(f)->missing == 0, "%s", path);
	vt_raw_file_close(f);
}

static void a_child_is_quiet(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 10 });
	struct vt_raw_stream *s = vt_raw_stream(r);
	struct tkm_err e = { TKM_OK, "" };
	struct vt_raw_file *f;
	uint64_t last;
	int status = 1;
	pid_t pid;

	write_some(s, 1, 100, 10);
	pid = fork();
	if (pid == 0) {
		vt_raw_detach_after_fork(r);
		write_some(s, 500, 600, 10);
		vt_raw_class(r, 1, 0, "x");
		vt_raw_tick(r, ltick(0));
		vt_raw_close(r, ltick(0));
		_exit(vt_raw_size(r) != 0);
	}
	waitpid(pid, &status, 0);
	CHECK(status == 0, "%s", path);
	write_some(s, 101, 200, 10);
	vt_raw_stream_end(s);
	vt_raw_close(r, ltick(1));
	f = vt_raw_open(path, &e);
	CHECK(f && read_back(f, 1, &last, 10) == 200, "%s", path);
	vt_raw_file_close(f);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	snprintf(dir, sizeof(dir), "/tmp/test_raw.XXXXXX");
	if (!mkdtemp(dir)) {
		return 99;
	}
	snprintf(path, sizeof(path), "%s/raw.dat", dir);
	RUN(what_goes_in_comes_out);
	RUN(without_autoflush_it_stops_or_overwrites);
	RUN(the_limit_holds);
	RUN(sessions_are_known);
	RUN(killed);
	RUN(short_records);
	RUN(short_killed);
	RUN(short_from_a_handler);
	RUN(damaged_files);
	RUN(random_bytes);
	RUN(threads_at_once);
	RUN(a_child_is_quiet);
	unlink(path);
	rmdir(dir);
	return check_end();
}
