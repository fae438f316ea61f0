/* SPDX-License-Identifier: BSD-3-Clause */
/* A frame that claims gigabytes takes no memory for them. */
#include "config.h"
#include "base/bytes.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"
#include "tests/lib/stf_every.h"

#include <sys/resource.h>

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#ifdef HAVE_ZSTD
/* Writes a component of one frame: these bytes, then add_time records of 0 ticks up to `content` bytes in all. The table states
 * `stated` bytes of content. The frame is made in pieces, so that its content is never in memory. Returns the file's size. */
static size_t put_bomb(const char *name, const char *start, size_t n, size_t content, uint32_t stated)
{
	static char step[5 * 4096];
	size_t room = (1 << 16) + content / 1000, k, left = content - 1 - n;
	unsigned char *z = malloc(room), zero = 0;
	ZSTD_CCtx *c = ZSTD_createCCtx();
	ZSTD_outBuffer to = { z, room, 0 };
	ZSTD_inBuffer from;

	for (k = 0; k < sizeof(step); k += 5) {
		step[k] = STF_ID_add_time;
	}
	ZSTD_CCtx_setPledgedSrcSize(c, content);
	from = (ZSTD_inBuffer){ &zero, 1, 0 };
	ZSTD_compressStream2(c, &to, &from, ZSTD_e_continue);
	from = (ZSTD_inBuffer){ start, n, 0 };
	ZSTD_compressStream2(c, &to, &from, ZSTD_e_continue);
	for (; left; left -= k) {
		k = left < sizeof(step) ? left : sizeof(step);
		from = (ZSTD_inBuffer){ step, k, 0 };
		while (from.pos < from.size && !ZSTD_isError(ZSTD_compressStream2(c, &to, &from, ZSTD_e_continue))) {
		}
	}
	from.size = from.pos = 0;
	CHECK_INT(ZSTD_compressStream2(c, &to, &from, ZSTD_e_end), 0);
	ZSTD_freeCCtx(c);
	k = to.pos;
	tkm_put32(z + k, 0x184D2A5E, 0);
	tkm_put32(z + k + 4, 17, 0);
	tkm_put32(z + k + 8, (uint32_t)k, 0);
	tkm_put32(z + k + 12, stated, 0);
	tkm_put32(z + k + 16, 1, 0);
	z[k + 20] = 0;
	tkm_put32(z + k + 21, 0x8F92EAB1, 0);
	spit(name, (char *)z, k + 25);
	free(z);
	return k + 25;
}

/* Reads to the end or an error; the number of comments. */
static int comments(const char *path, long *kb)
{
	struct stf_reader *r = stf_reader_open(path, 0, &err);
	struct stf_cursor *c = stf_cursor_open(r, NULL, &err);
	const struct stf_record *rec;
	struct rusage u;
	int n = 0, rc;

	while ((rc = stf_cursor_next(c, &rec, &err)) > 0) {
		n++;
	}
	stf_cursor_close(c);
	stf_reader_close(r);
	getrusage(RUSAGE_SELF, &u);
	*kb = u.ru_maxrss;
	return rc < 0 ? -1 : n;
}

/* F5: a frame that unpacks to more than 16 MiB is refused before memory is allocated for it. */
static void frame_of_gigabytes(void)
{
	struct stf_writer_options o = { .resolution = 1e-9, .identity = { 1, 2 } };
	struct stf_comment m = { .time = 5, .size_1_1 = 4, .text = "abcd" };
	const size_t most = 16 << 20;
	struct stf_writer *w;
	long before, kb;
	size_t n = 0, at;
	char *p = NULL;
	int i, n_comments;

	for (i = 0; i < 2; i++) {
		clean();
		o.compress = i;
		w = stf_writer_create(in_dir("a.stf"), &o, &err);
		m.time = 5;
		stf_write_comment(w, &m);
		m.time += (uint64_t)UINT32_MAX + 1; /* so add_time is defined */
		stf_write_comment(w, &m);
		CHECK_INT(stf_writer_finish(w, 0, m.time, &err), 0);
		if (i == 0) {
			p = slurp(in_dir("a.stf.x.0"), &n);
		}
	}
	at = most - (most - 1 - n) % 5; /* the largest content of whole records */
	put_bomb(in_dir("a.stf.x.0.zst"), p, n, at, (uint32_t)at);
	n_comments = comments(in_dir("a.stf"), &before);
	CHECK(n_comments == 2, "%d: %s", n_comments, err.text);
	put_bomb(in_dir("a.stf.x.0.zst"), p, n, at + 5, (uint32_t)at + 5);
	CHECK_INT(comments(in_dir("a.stf"), &kb), -1);
	CHECK(strstr(err.text, "a frame cannot hold 16777") && strstr(err.file, "a.stf.x.0"), "%s: %s", err.file,
		err.text);
	/* 512 MiB in less than 100 KB, which the format's own limit of 128 KiB for 3 bytes allows */
	at = most * 32 - (most * 32 - 1 - n) % 5;
	CHECK(put_bomb(in_dir("a.stf.x.0.zst"), p, n, at, (uint32_t)at) < 100000, "the file is large");
	CHECK_INT(comments(in_dir("a.stf"), &kb), -1);
	CHECK(strstr(err.text, "a frame cannot hold 5368"), "%s", err.text);
	put_bomb(in_dir("a.stf.x.0.zst"), p, n, at, 1000); /* the table does not tell */
	CHECK_INT(comments(in_dir("a.stf"), &kb), -1);
	CHECK(strstr(err.text, "damaged"), "%s", err.text);
	CHECK(kb - before < 32 << 10, "%ld KB more", kb - before);
	free(p);
}
#endif

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
#ifdef HAVE_ZSTD
	RUN(frame_of_gigabytes);
#else
	SKIP("frame_of_gigabytes", "no zstd in this build");
#endif
	clean();
	rmdir(dir);
	return check_end();
}
