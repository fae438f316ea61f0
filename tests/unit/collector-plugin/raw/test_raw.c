/* SPDX-License-Identifier: BSD-3-Clause */
/* The raw file: what is appended comes back, from whole files and from what a crash leaves. */
#include "config.h"
#include "collector-plugin/raw/format.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector-plugin/raw/private.h"
#include "collector-plugin/raw/reader.h"
#include "collector-plugin/raw/writer.h"
#include "tests/lib/check.h"
#include "tests/lib/heap.h"
#include "tests/lib/raw_file.h"

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

/* With a thread that writes blocks, and in odd turns without. */
static void record_numbers(volatile uint64_t *done, int turn)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 4 });
	struct vt_raw_stream *s;
	uint64_t i;

	define(r);
	s = vt_raw_stream(r);
	vt_raw_alone(r, turn % 2);
	for (i = 1; i <= 4000000; i++) {
		write_some(s, i, i, 10);
		*done = i;
		if (turn % 2 == 0 && i % 500 == 0) {
			vt_raw_tick(r, ltick(0));
		}
	}
	pause();
}

/* A child is killed at some moment; what it had written by then is there. */
static void killed(void)
{
	uint64_t done, last;
	int k;

	for (k = 0; k < 20; k++) {
		struct vt_raw_file *f = killed_writer(record_numbers, k, &done);

		if (!f) {
			break;
		}
		last = 0;
		check_definitions(f);
		CHECK(read_back(f, 1, &last, 10) >= 0, "%s", path);
		CHECK(last >= done && last <= done + 1, "%s", path);
		CHECK(vt_raw_file_head(f)->state == VT_RAW_RECORDING && !vt_raw_file_alive(f), "%s", path);
		vt_raw_file_close(f);
	}
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

/* The head of a block that was being written has no checksum: one that cannot be right is left out, and the others are read. */
static void blocks_that_claim_too_much(void)
{
	static const struct {
		uint32_t used;
		uint16_t kind, state;
		uint32_t stream;
	} claims[] = { { 4096, VT_RAW_DATA, VT_RAW_OPEN, 9 }, { 4096 * 8, VT_RAW_DATA, VT_RAW_OPEN, 9 },
		{ 0xfffffffcu, VT_RAW_DATA, VT_RAW_OPEN, 9 }, { 401, VT_RAW_DATA, VT_RAW_OPEN, 9 },
		{ 400, VT_RAW_DATA, VT_RAW_OPEN, VT_RAW_DEFINING - 1 }, { 400, VT_RAW_DEFINITIONS, VT_RAW_OPEN, 9 },
		{ 400, 7, VT_RAW_OPEN, 9 }, { 400, VT_RAW_DATA, VT_RAW_OPEN - 1, 9 },
		{ 400, VT_RAW_DATA, VT_RAW_SEALED + 1, 9 }, { 400, VT_RAW_DATA, VT_RAW_SEALED, 9 } };
	struct tkm_err e = { TKM_OK, "" };
	struct vt_raw_block b;
	struct vt_raw_file *f;
	struct vt_raw_stream *s;
	struct vt_raw *r;
	uint32_t head;
	uint64_t last;
	off_t at = 0;
	size_t i;
	int fd;

	for (i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
		r = create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 0 });
		define(r);
		s = vt_raw_stream(r);
		write_some(s, 1, 1000, 10);
		vt_raw_stream_end(s);
		vt_raw_close(r, ltick(1));
		fd = open(path, O_RDWR);
		CHECK(pread(fd, &head, sizeof(head), 16) == sizeof(head), "%s", path);
		/* the last block of the file */
		at = lseek(fd, 0, SEEK_END) - 4096;
		at -= (at - (off_t)head) % 4096;
		CHECK(pread(fd, &b, sizeof(b), at) == sizeof(b) && b.kind == VT_RAW_DATA, "no block there");
		atomic_store(&b.used, claims[i].used);
		b.kind = claims[i].kind;
		b.state = claims[i].state;
		b.stream = claims[i].stream;
		CHECK(pwrite(fd, &b, sizeof(b), at) == sizeof(b), "%s", path);
		close(fd);
		f = vt_raw_open(path, &e);
		CHECK(f && vt_raw_file_damage(f)->blocks == 1, "claim %zu: %llu blocks", i,
			f ? (unsigned long long)vt_raw_file_damage(f)->blocks : 0);
		CHECK(f && read_back(f, 1, &last, 10) > 100 && last < 1000, "claim %zu: up to %llu", i,
			(unsigned long long)last);
		vt_raw_file_close(f);
	}
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

/* Bytes of the file that this process has mapped. */
static size_t mapped(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char line[400];
	size_t n = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (strstr(line, path) && !strstr(line, "(deleted)") && sscanf(line, "%lx-%lx", &from, &to) == 2) {
			n += to - from;
		}
	}
	if (f) {
		fclose(f);
	}
	return n;
}

/* Without a sampler the thread appends its blocks by itself, and takes their places again. A block begins in the
 * file at a multiple of the largest power of two in its size, up to 64 KB. */
static void blocks_appended(long long block_size, size_t head_size)
{
	struct vt_raw *r = create((struct vt_raw_options){
		.autoflush = 1, .flush_blocks = 4, .max_blocks = 4000, .block_size = block_size });
	struct vt_raw_stream *s = vt_raw_stream(r);
	struct tkm_err e = { TKM_OK, "" };
	struct vt_raw_file *f;
	uint64_t last;

	CHECK(vt_raw_head(r)->head_size == head_size, "%u for blocks of %lld", vt_raw_head(r)->head_size, block_size);
	vt_raw_alone(r, 1);
	write_some(s, 1, 30000, 10);
	CHECK(vt_raw_size(r) > 300 * 4096 && (long long)mapped() < 40 * block_size, "%zu mapped of %llu", mapped(),
		(unsigned long long)vt_raw_size(r));
	CHECK(vt_raw_lost(r) == 0 && vt_raw_stopped(r) == 0, "%s", path);
	vt_raw_stream_end(s);
	vt_raw_close(r, ltick(1));
	f = vt_raw_open(path, &e);
	CHECK(f != NULL, "%s", path);
	CHECK_INT(read_back(f, 1, &last, 10), 30000);
	CHECK(vt_raw_file_damage(f)->blocks == 0 && vt_raw_file_damage(f)->missing == 0, "%s", path);
	vt_raw_file_close(f);
}

static void a_thread_alone(void)
{
	blocks_appended(4096, 12288);
	blocks_appended(12288, 12288);
	blocks_appended(65536, 65536);
}

static void *thread(void *p)
{
	struct vt_raw *r = p;
	struct vt_raw_stream *s = vt_raw_stream(r);

	write_some(s, 1, 50000, 10);
	return s;
}

static void at_once(int alone)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 10, .max_blocks = 40 });
	struct tkm_err e = { TKM_OK, "" };
	struct vt_raw_file *f;
	pthread_t t[4];
	uint64_t last;
	void *s[4];
	int i;

	vt_raw_alone(r, alone);
	for (i = 0; i < 4; i++) {
		CHECK(pthread_create(&t[i], NULL, thread, r) == 0, "%s", path);
	}
	for (i = 0; i < 200; i++) {
		if (!alone) {
			vt_raw_tick(r, ltick(i));
		}
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

static void threads_at_once(void)
{
	at_once(0);
	at_once(1);
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

/* The sampler process makes room for a program that may make no system calls, as long as the file exists. */
static void room_is_made_ahead(void)
{
	struct vt_raw_options o = { .path = path, .max_blocks = 4096, .autoflush = 1, .limit = 8 << 20 };
	struct vt_raw *r = create((struct vt_raw_options){ .max_blocks = 4096, .autoflush = 1, .limit = 8 << 20 }), *s;
	struct vt_raw_stream *st = vt_raw_stream(r);
	uint64_t v = 1, last = 0, fits;
	struct vt_raw_file *f;
	struct tkm_err e;
	struct stat size;
	int i;

	vt_raw_alone(r, 1);
	s = vt_raw_attach(open(path, O_RDWR | O_CLOEXEC), &o, &e);
	CHECK(s != NULL, "%s", e.text);
	vt_raw_tick(s, ltick(1));
	CHECK(atomic_load(&vt_raw_head(r)->ahead) == 0, "room was not asked for");
	vt_raw_map_whole(r);
	vt_raw_tick(s, ltick(1));
	CHECK(atomic_load(&vt_raw_head(r)->ahead) == 0, "a program with system calls needs none");
	atomic_store(&vt_raw_head(r)->quiet, 1);
	vt_raw_tick(s, ltick(1));
	CHECK(atomic_load(&vt_raw_head(r)->ahead) >= 200, "%llu",
		(unsigned long long)atomic_load(&vt_raw_head(r)->ahead));
	/* 56 bytes each on average: less than the first 1 MB, five times */
	for (i = 0; i < 5; i++) {
		write_some(st, v, v + 14999, 10);
		v += 15000;
		CHECK(vt_raw_lost(r) == 0, "%d: %llu", i, (unsigned long long)vt_raw_lost(r));
		vt_raw_tick(s, ltick(1));
	}
	fits = atomic_load(&vt_raw_head(r)->ahead);
	CHECK(stat(path, &size) == 0 && size.st_size <= 8 << 20, "beyond FLUSH-LIMIT");
	unlink(path);
	write_some(st, v, v + 300000, 10);
	vt_raw_tick(s, ltick(1));
	CHECK(vt_raw_lost(r) > 0 && vt_raw_stopped(r) == EPERM, "%llu", (unsigned long long)vt_raw_lost(r));
	CHECK(atomic_load(&vt_raw_head(r)->ahead) == fits, "room for a file that was removed");
	vt_raw_detach(s);

	/* and it is all there */
	r = create((struct vt_raw_options){ .max_blocks = 4096, .autoflush = 1 });
	s = vt_raw_attach(open(path, O_RDWR | O_CLOEXEC), &o, &e);
	vt_raw_alone(r, 1);
	vt_raw_map_whole(r);
	atomic_store(&vt_raw_head(r)->quiet, 1);
	vt_raw_tick(s, ltick(1));
	write_some(vt_raw_stream(r), 1, 15000, 10);
	vt_raw_close(s, ltick(1));
	f = vt_raw_open(path, &e);
	CHECK(f && read_back(f, 1, &last, 10) == 15000 && last == 15000, "%llu", (unsigned long long)last);
	vt_raw_file_close(f);
}

/* There is place in one block, also for the time that may come before it, or the record is lost. */
/* The file grows by more at a time while blocks are filled more quickly than the sampler provides them. */
static void a_slow_sampler_gets_larger_chunks(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .max_blocks = 4096, .autoflush = 1 });
	struct vt_raw_stream *s = vt_raw_stream(r);
	size_t quick;
	int i;

	write_some(s, 1, 1, 10);
	vt_raw_tick(r, ltick(5));
	quick = r->chunk;
	for (i = 0; i < 20; i++) { /* a block holds 72 records on average */
		write_some(s, 1, 50, 10);
		vt_raw_tick(r, ltick(5));
	}
	CHECK_INT(r->chunk, quick);
	write_some(s, 1, 20000, 10);
	CHECK(r->chunk >= 16 * quick && r->chunk * r->block_size <= 16 << 20, "%zu blocks, %zu before", r->chunk,
		quick);
	CHECK(vt_raw_lost(r) == 0, "%llu lost", (unsigned long long)vt_raw_lost(r));
	vt_raw_close(r, ltick(77));
}

/* A thread with a table of descriptors of its own keeps the file open under the number that the program's next file gets. */
static void *keep_open(void *p)
{
	if (unshare(CLONE_FILES) == 0) {
		vt_raw_keep_open(p);
	}
	return NULL;
}

static void a_number_is_two_files(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .max_blocks = 64, .autoflush = 1 });
	pthread_t t;
	int fd;

	CHECK(pthread_create(&t, NULL, keep_open, r) == 0 && pthread_join(t, NULL) == 0, "%s", path);
	fd = vt_raw_open_again(r);
	if (r->keeper) {
		CHECK_INT(fd, r->keeper_fd);
	}
	vt_raw_close_again(r, fd);
	CHECK(fcntl(fd, F_GETFD) < 0, "descriptor %d stays open", fd);
	vt_raw_close(r, ltick(77));
}

static void open_and_close(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .max_blocks = 64, .autoflush = 1 });
	struct tkm_err e;
	uint64_t last = 0;
	struct vt_raw_file *f;

	define(r);
	write_some(vt_raw_stream(r), 1, 100, 10);
	vt_raw_close(r, ltick(77));
	f = vt_raw_open(path, &e);
	CHECK(read_back(f, 1, &last, 10) == 100, "%s", path);
	vt_raw_file_close(f);
}

static void all_memory_is_given_back(void)
{
	CHECK_HEAP(open_and_close, 20);
}

static void records_of_any_size(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1 });
	struct vt_raw_stream *s = vt_raw_stream(r);
	size_t size, given = 0, lost = 0;
	int64_t stamp = 1;
	uint32_t dt;
	uint8_t *p;

	/* a new block begins with a time where a clock session is over */
	vt_raw_session_over(r);
	for (size = 3000; size < 4400; size += 4, stamp += 5000000000) {
		p = vt_raw_room(s, size, stamp, &dt);
		CHECK(!p || size <= (size_t)(s->end - p), "%zu bytes, room for %td", size, s->end - p);
		CHECK(p || size + 16 > 4096 - sizeof(struct vt_raw_block), "%zu bytes have no room", size);
		given += p != NULL;
		lost += p == NULL;
		s->busy = 0;
	}
	CHECK(given >= 250 && lost == vt_raw_lost(r) && lost >= 76, "%zu given, %zu of %llu lost", given, lost,
		(unsigned long long)vt_raw_lost(r));
	vt_raw_close(r, ltick(1));
}

/* A child that no handler of ours knows of finds nothing. */
static void children_get_nothing(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1 });
	int status;
	pid_t pid;

	write_some(vt_raw_stream(r), 1, 10, 10);
	CHECK(vt_raw_keep_from_children(r) == 0, "%s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		_exit(vt_raw_head(r) == NULL ? 5 : 6);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 5, "%x", (unsigned)status);
	CHECK(vt_raw_head(r) && vt_raw_head(r)->pid == (uint32_t)getpid(), "and here it is lost, too");
	vt_raw_close(r, ltick(1));
}

/* Blocks in the mapped file are where the reader looks for them. */
static void mapped_as_a_whole(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .max_blocks = 4000 });
	struct vt_raw_stream *st;
	struct tkm_err e = { TKM_OK, "" };
	struct vt_raw_file *f;
	uint64_t last = 0;

	vt_raw_map_whole(r);
	CHECK(mapped() >= 4000 * 4096, "%zu", mapped());
	st = vt_raw_stream(r);
	write_some(st, 1, 20000, 10);
	vt_raw_stock_up(r);
	vt_raw_stream_end(st);
	CHECK(vt_raw_lost(r) == 0, "%llu", (unsigned long long)vt_raw_lost(r));
	vt_raw_close(r, ltick(1));
	f = vt_raw_open(path, &e);
	CHECK(f && read_back(f, 1, &last, 10) == 20000 && last == 20000, "%llu", (unsigned long long)last);
	vt_raw_file_close(f);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(what_goes_in_comes_out);
	RUN(without_autoflush_it_stops_or_overwrites);
	RUN(the_limit_holds);
	RUN(sessions_are_known);
	RUN(killed);
	RUN(damaged_files);
	RUN(blocks_that_claim_too_much);
	RUN(random_bytes);
	RUN(a_thread_alone);
	RUN(threads_at_once);
	RUN(a_child_is_quiet);
	RUN(room_is_made_ahead);
	RUN(a_slow_sampler_gets_larger_chunks);
	RUN(a_number_is_two_files);
	RUN(all_memory_is_given_back);
	RUN(records_of_any_size);
	RUN(children_get_nothing);
	RUN(mapped_as_a_whole);
	remove_dir();
	return check_end();
}
