/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading what gzip has compressed, against zlib's own writer: from pipes, again, and without memory. */
#include "config.h"
#include "exchange/common/private.h"
#include "tests/lib/check.h"
#include "tests/lib/heap.h"

#ifndef HAVE_ZLIB
int main(void)
{
	printf("1..0 # SKIP built without zlib\n");
	return 77;
}
#else
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { LINES = 30000 };

static char folder[] = "/tmp/test_gz.XXXXXX", path[64], text[LINES * 12 + 1];

static void make_file(const char *mode, int members)
{
	int i;

	for (i = 0; i < members; i++) {
		gzFile f = gzopen(path, i ? "ab" : mode);

		CHECK(f && gzwrite(f, text, (unsigned)strlen(text)) > 0 && gzclose(f) == Z_OK, "cannot write %s", path);
	}
}

/* Reads to the end, or to an error; from how many bytes of the text it is the same, again and again. */
static long read_all(struct xch_gz *g, struct tkm_err *err)
{
	char part[977];
	size_t length = strlen(text), i;
	long at = 0, n;

	while ((n = xch_gz_read(g, part, sizeof(part), err)) > 0) {
		for (i = 0; i < (size_t)n; i++) {
			CHECK(part[i] == text[((size_t)at + i) % length], "byte %ld is another one", at + (long)i);
		}
		at += n;
	}
	return n < 0 ? -at - 1 : at;
}

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d)) {
		n++;
	}
	closedir(d);
	return n;
}

/* The second reading has nothing of the first, wherever that was: within a member, at its end, in a file that is not compressed. */
static void a_second_reading_is_like_the_first(void)
{
	static const char *const modes[] = { "wb", "wbT" };
	long length = (long)strlen(text), part;
	struct tkm_err e;
	char buf[5000];
	int i;

	for (i = 0; i < 2; i++) {
		make_file(modes[i], i ? 1 : 3);
		for (part = 0; part <= 4 * length; part += length / 3) {
			struct xch_gz *g = xch_gz_open(path, &e);
			long n = 1, k;

			CHECK(g != NULL && xch_gz_is_compressed(g) == !i, "%s", e.text);
			for (k = 0; k < part && n > 0; k += n) {
				n = xch_gz_read(g, buf, sizeof(buf), &e);
			}
			CHECK_INT(xch_gz_rewind(g, &e), 0);
			CHECK_INT(read_all(g, &e), i ? length : 3 * length);
			xch_gz_close(g);
		}
	}
}

/* The place that an error names is that of this reading. */
static void an_error_names_its_place_again(void)
{
	struct stat st;
	struct tkm_err e, again;
	struct xch_gz *g;
	long n;

	make_file("wb", 2);
	CHECK(stat(path, &st) == 0 && truncate(path, st.st_size - 1000) == 0, "truncate");
	g = xch_gz_open(path, &e);
	n = read_all(g, &e);
	CHECK(n < 0 && strstr(e.text, "too early"), "%ld: %s", n, e.text);
	CHECK_INT(xch_gz_rewind(g, &again), 0);
	CHECK_INT(read_all(g, &again), n);
	CHECK(strcmp(e.text, again.text) == 0, "%s, then %s", e.text, again.text);
	xch_gz_close(g);
}

struct feeder {
	int fd;
	char data[1 << 20];
	size_t n;
};

static void *feed(void *arg)
{
	struct feeder *f = arg;
	size_t at = 1;

	CHECK(write(f->fd, f->data, 1) == 1, "write");
	usleep(20000);
	while (at < f->n) {
		ssize_t k = write(f->fd, f->data + at, f->n - at);

		at += k > 0 ? (size_t)k : f->n;
	}
	close(f->fd);
	return NULL;
}

/* A pipe whose first byte comes alone is still told to be compressed, and cannot be read twice. */
static void a_pipe_may_bring_one_byte_first(void)
{
	static struct feeder f;
	char name[32];
	struct tkm_err e;
	struct xch_gz *g;
	pthread_t thread;
	FILE *in;
	int fd[2];

	make_file("wb", 1);
	in = fopen(path, "rb");
	f.n = fread(f.data, 1, sizeof(f.data), in);
	fclose(in);
	CHECK_INT(pipe2(fd, O_CLOEXEC), 0);
	f.fd = fd[1];
	pthread_create(&thread, NULL, feed, &f);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd[0]);
	g = xch_gz_open(name, &e);
	CHECK(g != NULL && xch_gz_is_compressed(g), "%s", e.text);
	CHECK_INT(read_all(g, &e), (long)strlen(text));
	CHECK(xch_gz_rewind(g, &e) < 0 && strstr(e.text, "pipe"), "%s", e.text);
	xch_gz_close(g);
	pthread_join(thread, NULL);
	close(fd[0]);
}

/* A file of one byte is no more than that, whatever was there before. */
static void one_byte_is_not_compressed(void)
{
	struct tkm_err e;
	struct xch_gz *g;
	char c[4];

	make_file("wb", 1);
	g = xch_gz_open(path, &e);
	CHECK(g && truncate(path, 1) == 0 && xch_gz_rewind(g, &e) == 0, "%s", e.text);
	CHECK(!xch_gz_is_compressed(g) && xch_gz_read(g, c, sizeof(c), &e) == 1 && c[0] == 0x1f, "%s", e.text);
	CHECK_INT(xch_gz_read(g, c, sizeof(c), &e), 0);
	xch_gz_close(g);
}

static void read_and_close(void)
{
	struct tkm_err e;
	struct xch_gz *g = xch_gz_open(path, &e);

	read_all(g, &e);
	xch_gz_close(g);
}

static void open_what_is_not_there(void)
{
	struct tkm_err e;

	CHECK(xch_gz_open("/nowhere/at/all", &e) == NULL && strstr(e.text, "/nowhere/at/all"), "%s", e.text);
	CHECK(xch_gz_open(folder, &e) == NULL && strstr(e.text, "cannot read"), "%s", e.text);
}

/* Neither memory nor descriptors stay, also after each failed allocation. */
static void nothing_stays_behind(void)
{
	struct tkm_err e;
	int before, i, failed = 0;

	make_file("wb", 1);
	before = descriptors();
	CHECK_HEAP(read_and_close, 20);
	CHECK_HEAP(open_what_is_not_there, 20);
	for (i = 1; HEAP_IS_COUNTED && i <= 4; i++) {
		long pieces = heap_pieces;
		struct xch_gz *g;

		heap_fails = heap_asked + i;
		g = xch_gz_open(path, &e);
		failed += !g && e.code == TKM_ERR_NOMEM;
		xch_gz_close(g);
		heap_fails = 0;
		CHECK_INT(heap_pieces, pieces);
	}
	CHECK(failed >= 2 || !HEAP_IS_COUNTED, "%d", failed);
	CHECK_INT(descriptors(), before);
}

int main(void)
{
	int i;

	for (i = 0; i < LINES; i++) {
		sprintf(text + 12 * i, "%11u\n", (unsigned)check_random() % 1000000);
	}
	if (!mkdtemp(folder)) {
		return 99;
	}
	snprintf(path, sizeof(path), "%s/t.gz", folder);
	RUN(a_second_reading_is_like_the_first);
	RUN(an_error_names_its_place_again);
	RUN(a_pipe_may_bring_one_byte_first);
	RUN(one_byte_is_not_compressed);
	RUN(nothing_stays_behind);
	unlink(path);
	rmdir(folder);
	return check_end();
}
#endif
