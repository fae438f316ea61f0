/* SPDX-License-Identifier: BSD-3-Clause */
/* Room is made ahead, in chunks that the sampler keeps up with. */
#include "config.h"
#include "base/err.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/grow.h"
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
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

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

	vt_raw_started(r);
	CHECK(pthread_create(&t, NULL, keep_open, r) == 0 && pthread_join(t, NULL) == 0, "%s", path);
	fd = vt_raw_open_again(r);
	if (r->keeper) {
		CHECK_INT(fd, r->keeper_fd);
	}
	vt_raw_close_again(r, fd);
	CHECK(fcntl(fd, F_GETFD) < 0, "descriptor %d stays open", fd);
	vt_raw_close(r, ltick(77));
}

/* While a program starts, its raw file is opened once, and the descriptor is used as long as it is that file. */
static void open_once_at_the_start(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .max_blocks = 64, .autoflush = 1 });
	int fd = vt_raw_open_again(r), again, other = open("/dev/null", O_RDONLY | O_CLOEXEC);

	vt_raw_close_again(r, fd);
	again = vt_raw_open_again(r);
	vt_raw_close_again(r, again);
	CHECK_INT(again, fd);
	CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC, "descriptor %d is closed, or the program's children get it", fd);
	CHECK_INT(dup2(other, fd), fd); /* as a thread of the program may */
	again = vt_raw_open_again(r);
	CHECK(again >= 0 && again != fd, "%d is the program's file", again);
	vt_raw_close_again(r, again);
	CHECK(fcntl(again, F_GETFD) < 0, "descriptor %d stays open", again);
	vt_raw_started(r);
	CHECK(fcntl(fd, F_GETFD) >= 0, "closed the program's file");
	close(fd);
	close(other);
	vt_raw_close(r, ltick(77));
	r = create((struct vt_raw_options){ .max_blocks = 64, .autoflush = 1 });
	fd = vt_raw_open_again(r);
	vt_raw_started(r);
	CHECK(fcntl(fd, F_GETFD) < 0, "descriptor %d stays open", fd);
	vt_raw_close(r, ltick(77));
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
	RUN(room_is_made_ahead);
	RUN(a_slow_sampler_gets_larger_chunks);
	RUN(a_number_is_two_files);
	RUN(open_once_at_the_start);
	RUN(mapped_as_a_whole);
	remove_dir();
	return check_end();
}
