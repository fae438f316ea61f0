/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes into a raw file comes out; its limits hold. */
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

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

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

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(what_goes_in_comes_out);
	RUN(without_autoflush_it_stops_or_overwrites);
	RUN(the_limit_holds);
	RUN(a_thread_alone);
	RUN(threads_at_once);
	RUN(all_memory_is_given_back);
	RUN(records_of_any_size);
	remove_dir();
	return check_end();
}
