/* SPDX-License-Identifier: BSD-3-Clause */
/* Raw files of those that were killed, that are damaged, or of another session. */
#include "config.h"
#include "base/err.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/private.h"
#include "collector-plugin/raw/reader.h"
#include "collector-plugin/raw/writer.h"
#include "tests/lib/check.h"
#include "tests/lib/heap.h"
#include "tests/lib/raw_file.h"
#include "tests/unit/collector-plugin/raw/read_back.h"

#include <fcntl.h>
#include <unistd.h>

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
	uint64_t last = 0;
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

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(sessions_are_known);
	RUN(killed);
	RUN(damaged_files);
	RUN(blocks_that_claim_too_much);
	RUN(random_bytes);
	remove_dir();
	return check_end();
}
