/* SPDX-License-Identifier: BSD-3-Clause */
/* Every call of the library that can fail, failing: memory, files, compression. The linker sends these calls here
 * (--wrap), so that the n-th one of a kind fails, for all n, once or from then on. Whatever happens: a clear error or a right
 * result, no file of a trace that failed, the trace before it untouched, no memory and no descriptor lost. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "config.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"

/* ---- the calls ---- */

enum kind { MEMORY, OPEN, READ, WRITE, MAP, RENAME, STAT, PACK, SHORT, SIGNAL, KINDS };

static const struct {
	const char *name;
	int error;
	enum stf_code code; /* of the library's error; STF_OK: it must not even notice */
			    /* clang-format off */
} kinds[KINDS] = {
	[MEMORY] = { "memory", ENOMEM, STF_ERR_NOMEM }, [OPEN] = { "open", EMFILE, STF_ERR_IO },
	[READ] = { "read", EIO, STF_ERR_IO },           [WRITE] = { "write", ENOSPC, STF_ERR_IO },
	[MAP] = { "mmap", ENOMEM, STF_OK },             [RENAME] = { "rename", EIO, STF_ERR_IO },
	[STAT] = { "stat", EIO, STF_ERR_IO },           [PACK] = { "zstd", ENOMEM, STF_ERR_IO },
	[SHORT] = { "short read or write", 0, STF_OK }, [SIGNAL] = { "interrupted", EINTR, STF_OK },
};
/* clang-format on */

static struct {
	int on;
	enum kind kind;
	long at, calls, hits;
	int on_and_on;
} inject;
static long blocks; /* of memory that are held */

static int fails(enum kind kind)
{
	if (!inject.on || inject.kind != kind) {
		return 0;
	}
	inject.calls++;
	if (inject.calls == inject.at || (inject.on_and_on && inject.calls > inject.at)) {
		inject.hits++;
		errno = kinds[kind].error;
		return 1;
	}
	return 0;
}

#define WRAP(type, name, ...) \
	type __real_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)

WRAP(void *, malloc, size_t n)
{
	void *p = fails(MEMORY) ? NULL : __real_malloc(n);

	blocks += p != NULL;
	return p;
}

WRAP(void *, aligned_alloc, size_t to, size_t n)
{
	void *p = fails(MEMORY) ? NULL : __real_aligned_alloc(to, n);

	blocks += p != NULL;
	return p;
}

WRAP(void *, calloc, size_t n, size_t size)
{
	void *p = fails(MEMORY) ? NULL : __real_calloc(n, size);

	blocks += p != NULL;
	return p;
}

WRAP(void *, realloc, void *old, size_t n)
{
	void *p = fails(MEMORY) ? NULL : __real_realloc(old, n);

	blocks += p && !old;
	return p;
}

WRAP(char *, strdup, const char *s)
{
	char *p = fails(MEMORY) ? NULL : __real_strdup(s);

	blocks += p != NULL;
	return p;
}

WRAP(void, free, void *p)
{
	blocks -= p != NULL;
	__real_free(p);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, int) : 0;
	va_end(ap);
	return fails(OPEN) ? -1 : __real_open(path, flags, mode);
}

WRAP(FILE *, fdopen, int fd, const char *mode)
{
	return fails(MEMORY) ? NULL : __real_fdopen(fd, mode);
}

WRAP(ssize_t, write, int fd, const void *p, size_t n)
{
	return fails(WRITE) || fails(SIGNAL) ? -1 : __real_write(fd, p, fails(SHORT) && n > 1 ? n / 2 : n);
}

WRAP(ssize_t, read, int fd, void *p, size_t n)
{
	return fails(READ) || fails(SIGNAL) ? -1 : __real_read(fd, p, fails(SHORT) && n > 1 ? n / 2 : n);
}

WRAP(ssize_t, pread, int fd, void *p, size_t n, off_t at)
{
	return fails(READ) || fails(SIGNAL) ? -1 : __real_pread(fd, p, fails(SHORT) && n > 1 ? n / 2 : n, at);
}

WRAP(void *, mmap, void *p, size_t n, int prot, int flags, int fd, off_t at)
{
	return fails(MAP) ? MAP_FAILED : __real_mmap(p, n, prot, flags, fd, at);
}

WRAP(int, rename, const char *a, const char *b)
{
	return fails(RENAME) ? -1 : __real_rename(a, b);
}

WRAP(int, renameat2, int x, const char *a, int y, const char *b, unsigned flags)
{
	return fails(RENAME) ? -1 : __real_renameat2(x, a, y, b, flags);
}

WRAP(int, link, const char *a, const char *b)
{
	return fails(RENAME) ? -1 : __real_link(a, b);
}

WRAP(int, fstat, int fd, struct stat *st)
{
	return fails(STAT) ? -1 : __real_fstat(fd, st);
}

WRAP(int, stat, const char *path, struct stat *st)
{
	return fails(STAT) ? -1 : __real_stat(path, st);
}

static int compressors; /* made */

#ifdef HAVE_ZSTD
#include <zstd.h>

WRAP(ZSTD_CCtx *, ZSTD_createCCtx, void)
{
	compressors++;
	return fails(MEMORY) ? NULL : __real_ZSTD_createCCtx();
}

WRAP(ZSTD_DCtx *, ZSTD_createDCtx, void)
{
	return fails(MEMORY) ? NULL : __real_ZSTD_createDCtx();
}

WRAP(size_t, ZSTD_compressCCtx, ZSTD_CCtx *c, void *to, size_t room, const void *p, size_t n, int level)
{
	return fails(PACK) ? (size_t)-64 : __real_ZSTD_compressCCtx(c, to, room, p, n, level);
}
#endif

/* ---- the work ---- */

static struct stf_err err;
static struct stf_writer_options opt = { .resolution = 1e-9,
	.procs_per_file = 1,
	.comment = "faults",
	.identity = { 1, 2 } };

static int write_records(struct stf_writer *w, uint64_t *value)
{
	static const uint32_t id[3] = { 1, 2, 3 };
	struct stf_counter_value v = { .values = value, .counters = id, .size_1_2 = 3 };
	struct stf_one_to_one_communication m = { .receiver = 1 };
	struct stf_enter_function e = { 0 };
	struct stf_enter_scope s = { 0 };
	int i, rc = 0;

	for (i = 0; i < 2400 && rc == 0; i++) {
		v.time = e.time = m.time = s.time = (uint64_t)i * 100;
		v.willy = e.willy = s.willy = STF_WILLY(i % 4 == 0, i % 3);
		value[0] += check_random() % 1000;
		value[1] += 7;
		rc |= stf_write_counter_value(w, &v);
		rc |= i % 50 == 0 ? stf_write_enter_function(w, &e) : 0;
		rc |= i % 100 == 0 ? stf_write_enter_scope(w, &s) : 0;
		m.receive_time = (int64_t)(check_random() % 500);
		rc |= i % 7 == 0 ? stf_write_one_to_one_communication(w, &m) : 0;
	}
	return rc;
}

static int write_trace(const char *name, uint64_t seed)
{
	static const uint32_t threads[2] = { 3, 3 };
	struct stf_writer *w = stf_writer_create(in_dir(name), &opt, &err);
	struct stf_counter_definition d = { .type = STF_COUNTER_U8 };
	uint64_t value[3] = { seed, 0, 5 };
	int rc = 0;

	check_srandom(seed);
	if (!w) {
		return -1;
	}
	rc |= stf_writer_processes(w, threads, 2);
	rc |= stf_writer_willy(w, 0, "host", "10.0.0.1", 1, 2, 0, 1);
	rc |= stf_writer_willy_name(w, 0, "one");
	for (d.id = 1; d.id <= 3; d.id++) {
		d.name = stf_writer_string(w, d.id == 1 ? "one" : "another");
		rc |= stf_write_counter_definition(w, &d);
	}
	rc |= stf_writer_info(w, "program", "test_stf_faults");
	rc |= write_records(w, value);
	if (stf_writer_finish(w, 1, 0, &err) < 0) {
		return -1;
	}
	CHECK(rc == 0, "a call failed, but not the trace");
	return 0;
}

static uint64_t mix(uint64_t sum, uint64_t u)
{
	return (sum ^ u) * 0x9e3779b97f4a7c15u;
}

static int read_some(struct stf_reader *r, const struct stf_cursor_options *o, int batches, uint64_t *sum)
{
	struct stf_cursor *c = stf_cursor_open_with(r, o, &err);
	const struct stf_record *rec;
	struct stf_counter_batch b;
	unsigned k;
	size_t i;
	int rc = c ? 1 : -1;

	while (rc > 0 &&
		(rc = batches ? stf_cursor_next_batch(c, &rec, &b, &err) : stf_cursor_next(c, &rec, &err)) > 0) {
		for (i = 0; rc == 2 && i < b.n; i++) {
			*sum = mix(*sum, b.times[i] + stf_batch_value(&b, i, 0));
		}
		for (k = 0; rc == 1 && k < rec->layout->n_fields; k++) {
			*sum = mix(*sum, rec->time + rec->values[k].u + rec->values[k].count);
		}
	}
	stf_cursor_close(c);
	return rc;
}

static int read_trace(const char *name, uint64_t *sum)
{
	const struct stf_cursor_options all = { 0 }, index = { .suffix = "" }, dcl = { .suffix = ".dcl" };
	const struct stf_cursor_options window = { .window = 1, .from = 220000, .to = 230000, .state = 1 };
	struct stf_reader *r =
		stf_reader_open(in_dir(name), STF_READ_VERIFY | (inject.kind == MAP ? STF_READ_MAP : 0), &err);
	struct stf_check check;
	int rc = r ? 0 : -1;
	size_t i;

	*sum = 1;
	if (rc == 0) {
		rc = read_some(r, &all, 0, sum) < 0 || read_some(r, &index, 0, sum) < 0 ||
				read_some(r, &dcl, 0, sum) < 0 || read_some(r, &all, 1, sum) < 0 ||
				read_some(r, &window, 1, sum) < 0
			? -1
			: 0;
	}
	for (i = 0; rc == 0 && (rc = stf_reader_check(r, i, &check, &err)) > 0; i++) {
		*sum = mix(*sum, check.result);
		rc = 0;
	}
	stf_reader_close(r);
	return rc;
}

/* ---- what is there ---- */

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d)) {
		n++;
	}
	if (d) {
		closedir(d);
	}
	return n;
}

static const char *first_file(void)
{
	static char name[300];
	DIR *d = opendir(dir);
	struct dirent *e;

	*name = 0;
	while (d && (e = readdir(d))) {
		if (e->d_name[0] != '.') {
			snprintf(name, sizeof(name), "%s", e->d_name);
		}
	}
	if (d) {
		closedir(d);
	}
	return name;
}

/* All files of the folder. */
static uint64_t folder_sum(int *n)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	uint64_t sum = 0, h, i;
	size_t len, k;
	char *p;

	*n = 0;
	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.') {
			continue;
		}
		p = slurp(in_dir(e->d_name), &len);
		for (h = 1, k = 0; e->d_name[k]; k++) {
			h = mix(h, (uint8_t)e->d_name[k]);
		}
		for (i = 0; i < len; i++) {
			h = mix(h, (uint8_t)p[i]);
		}
		free(p);
		sum += h;
		*n += 1;
	}
	if (d) {
		closedir(d);
	}
	return sum;
}

/* ---- all n ---- */

static uint64_t want_files, want_sum, old_files; /* of the new trace, what is read of it, and of an older one */

static void check_error(enum kind k, const char *what)
{
	CHECK(kinds[k].code != STF_OK, "%s, %s %ld: \"%s\" where nothing was to be noticed", what, kinds[k].name,
		inject.at, err.text);
	CHECK(err.code == kinds[k].code || err.code == STF_ERR_NOMEM, "%s, %s %ld: error %d, %s: %s", what,
		kinds[k].name, inject.at, err.code, err.file, err.text);
	CHECK(*err.text, "%s, %s %ld: no text", what, kinds[k].name, inject.at);
}

static void try_write(enum kind k, int force)
{
	uint64_t sum;
	int n, rc;

	clean();
	if (force) {
		write_trace("a.stf", 99);
	}
	inject.on = 1;
	opt.force = force;
	rc = write_trace("a.stf", 5);
	inject.on = opt.force = 0;
	sum = folder_sum(&n);
	if (rc < 0) {
		check_error(k, "write");
		/* what was set aside cannot come back if no file can be renamed any more */
		if (force && k == RENAME && inject.on_and_on && access(in_dir("a.stf"), F_OK) < 0) {
			return;
		}
		CHECK(force ? sum == old_files : n == 0, "write, %s %ld: %d files are left: %s", kinds[k].name,
			inject.at, n, first_file());
	} else {
		CHECK(sum == want_files, "write, %s %ld: the files are wrong, %d of them", kinds[k].name, inject.at, n);
	}
}

static void try_read(enum kind k)
{
	uint64_t sum;
	int rc;

	inject.on = 1;
	rc = read_trace("a.stf", &sum);
	inject.on = 0;
	if (rc < 0) {
		check_error(k, "read");
	} else {
		CHECK(sum == want_sum, "read, %s %ld%s: other records", kinds[k].name, inject.at,
			inject.on_and_on ? " and on" : "");
	}
}

/* what: 0 write, 1 write over an older trace, 2 read */
static long for_all_n(enum kind k, int what, int on_and_on)
{
	long hits = 0, held;
	int open_;

	for (inject.at = 1;; inject.at++) {
		inject.kind = k;
		inject.on_and_on = on_and_on;
		inject.calls = inject.hits = 0;
		held = blocks;
		open_ = descriptors();
		if (what < 2) {
			try_write(k, what);
		} else {
			try_read(k);
		}
		CHECK(blocks == held, "%d, %s %ld: %ld pieces of memory were lost", what, kinds[k].name, inject.at,
			blocks - held);
		CHECK(descriptors() == open_, "%d, %s %ld: descriptors were lost", what, kinds[k].name, inject.at);
		if (!inject.hits) {
			return hits;
		}
		hits++;
	}
}

static void all_faults(void)
{
	long hits[KINDS] = { 0 };
	int k, what, n;

	clean();
	write_trace("a.stf", 99);
	old_files = folder_sum(&n);
	clean();
	compressors = 0;
	CHECK(write_trace("a.stf", 5) == 0, "%s", err.text);
	CHECK_INT(compressors, opt.compress > 0); /* one has 0.4 MB, so 10,000 components must share it */
	want_files = folder_sum(&n);
	CHECK(n >= (opt.single ? 1 : 7) && want_files != old_files, "%d files", n);
	CHECK(opt.single || access(in_dir(opt.compress ? "a.stf.c.0.anc.zst" : "a.stf.c.0.anc"), F_OK) == 0,
		"no anchors");
	CHECK(read_trace("a.stf", &want_sum) == 0, "%s", err.text);
	for (what = 0; what < 3; what++) {
		for (k = 0; k < KINDS; k++) {
			if (what == 2 && k == 0) {
				clean();
				CHECK(write_trace("a.stf", 5) == 0, "%s", err.text);
			}
			hits[k] += for_all_n((enum kind)k, what, 0);
			if (k != SHORT && k != SIGNAL) {
				hits[k] += for_all_n((enum kind)k, what, 1);
			}
		}
	}
	for (k = 0; k < KINDS; k++) {
		CHECK(hits[k] > 0 || (k == PACK && !opt.compress) || (k == MAP && opt.compress), "no %s",
			kinds[k].name);
	}
	printf("# %ld failures of memory, %ld open, %ld read, %ld write, %ld mmap, %ld rename, %ld stat, %ld zstd\n",
		hits[MEMORY], hits[OPEN], hits[READ], hits[WRITE], hits[MAP], hits[RENAME], hits[STAT], hits[PACK]);
}

static void plain(void)
{
	all_faults();
}

static void single(void)
{
	opt.single = STF_SINGLE_FILE;
	all_faults();
	opt.single = 0;
}

static void compressed(void)
{
	opt.compress = 1;
	all_faults();
	opt.compress = 0;
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(plain);
	RUN(single);
#ifdef HAVE_ZSTD
	RUN(compressed);
#else
	SKIP("compressed", "no zstd in this build");
	(void)compressed;
#endif
	clean();
	rmdir(dir);
	return check_end();
}
