/* SPDX-License-Identifier: BSD-3-Clause */
/* A page is whole for those who read it, whatever its writer does. */
#include "config.h"
#include "base/err.h"
#include "clock/names.h"
#include "clock/page.h"
#include "clock/read.h"
#include "include/clock.h"
#include "tests/lib/check.h"
#include "tests/unit/clock/job_page.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

/* In a program of others the writer keeps no descriptor: it counts as running for as long as the page is mapped. */
static void a_writer_without_descriptors_lives(void)
{
	struct tkm_err err = { .text = "" };
	struct tkc_writer w;
	char path[sizeof(w.path)];
	int fd;

	CHECK(tkc_create(&w, &(struct tkc_page_of){ folder, "closed", TICKMARK_JOB, 77, "clock_monotonic" }, &err) == 0,
		"%s", err.text);
	snprintf(path, sizeof(path), "%s", w.path);
	tkc_close_descriptors(&w);
	CHECK_INT(w.fd, -1);
	CHECK_INT(w.folder, -1);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK_INT(tkc_writer_lives(fd), 1);
	CHECK(tkc_create(&(struct tkc_writer){ 0 },
		      &(struct tkc_page_of){ folder, "closed", TICKMARK_JOB, 77, "clock_monotonic" }, &err) < 0,
		"written twice");
	tkc_withdraw(&w);
	CHECK_INT(tkc_writer_lives(fd), 0);
	CHECK_INT(access(path, F_OK), -1);
	close(fd);
	/* the path is not known to lead there later */
	if (chdir(folder) == 0 &&
		tkc_create(&w, &(struct tkc_page_of){ ".", "closed", TICKMARK_JOB, 77, "clock_monotonic" }, &err) ==
			0) {
		tkc_close_descriptors(&w);
		CHECK(w.folder >= 0 && chdir("/") == 0, "a relative path");
		tkc_withdraw(&w);
		CHECK_INT(access(path, F_OK), -1);
	}
}

/* ---- many at once ---- */

static _Atomic int stop;

static void *keep_writing(void *arg)
{
	struct tkc_state *s = arg;
	int64_t n;

	for (n = 0; !atomic_load(&stop); n++) {
		tkc_write_state(s,
			&(struct tkc_map){ .raw = n,
				.at_ns = 7919 * n,
				.half_ns = (double)(n % 1000),
				.ns_per_tick = 1,
				.since_raw = 3 * n,
				.valid_ticks = n ^ 0x5555 },
			&(struct tkc_watch){ .boot_ns = -n, .marker = (uint64_t)(13 * n) }, n + 9);
	}
	return NULL;
}

static void no_copy_is_torn(void)
{
	static struct tkc_state state;
	int64_t begin = raw_now();
	long good = 0, torn = 0;
	struct tkc_view v;
	uint32_t sequence;
	pthread_t thread;

	tkc_write_state(&state, &(struct tkc_map){ .valid_ticks = 0x5555 }, &(struct tkc_watch){ .marker = 0 }, 9);
	CHECK_INT(pthread_create(&thread, NULL, keep_writing, &state), 0);
	while (raw_now() - begin < 500000000) {
		sequence = tkc_copy(&state, &v);
		if (tkc_copied(&state, sequence)) {
			good++;
			torn += v.at_ns != 7919 * v.raw || v.half_ns != v.raw % 1000 || v.boot_ns != -v.raw ||
				v.realtime_ns != v.raw + 9 || v.marker != (uint64_t)(13 * v.raw) ||
				v.valid_ticks != (v.raw ^ 0x5555);
		}
	}
	atomic_store(&stop, 1);
	pthread_join(thread, NULL);
	CHECK(good > 100, "%ld copies", good);
	CHECK_INT(torn, 0);
}

/* ---- where pages lie ---- */

static void expect_folder(const char *variable, const char *run, int k, unsigned uid, const char *want, int last)
{
	char path[256] = "", uid_text[64];
	int rc;

	snprintf(uid_text, sizeof(uid_text), want, uid);
	if (variable) {
		setenv("TICKMARK_CLOCK_DIR", variable, 1);
	} else {
		unsetenv("TICKMARK_CLOCK_DIR");
	}
	if (run) {
		setenv("XDG_RUNTIME_DIR", run, 1);
	} else {
		unsetenv("XDG_RUNTIME_DIR");
	}
	rc = tkc_folder(k, uid, path, sizeof(path));
	CHECK_STR(path, uid_text);
	CHECK_INT(rc, last);
	unsetenv("TICKMARK_CLOCK_DIR");
}

static void folders_of_a_user(void)
{
	unsigned other = geteuid() + 7;

	expect_folder("/here", "/run/user/1", 0, other, "/here", 0);
	expect_folder("/here", NULL, 1, other, "/here", -1);
	expect_folder("", NULL, 0, other, "/dev/shm/tickmark-%u", 0);
	expect_folder(NULL, NULL, 0, other, "/dev/shm/tickmark-%u", 0);
	expect_folder(NULL, NULL, 1, other, "/dev/shm/tickmark-%u", -1);
	/* the folder of who asks is not that of another user */
	expect_folder(NULL, "/run/user/1", 0, other, "/dev/shm/tickmark-%u", 0);
	expect_folder(NULL, NULL, 0, 0, "/run/tickmark", 0);
	expect_folder(NULL, NULL, 1, 0, "/dev/shm/tickmark-%u", 0);
	expect_folder(NULL, NULL, 2, 0, "/dev/shm/tickmark-%u", -1);
	if (geteuid() != 0) {
		expect_folder(NULL, "/run/user/1", 0, geteuid(), "/run/user/1/tickmark", 0);
		expect_folder(NULL, "run", 0, geteuid(), "/dev/shm/tickmark-%u", 0);
	}
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	snprintf(folder, sizeof(folder), "/tmp/test_clock.XXXXXX");
	if (!mkdtemp(folder) || chmod(folder, 0755) < 0) {
		printf("Bail out! no folder\n");
		return 99;
	}
	RUN(a_writer_without_descriptors_lives);
	RUN(no_copy_is_torn);
	RUN(folders_of_a_user);
	rmdir(folder);
	return check_end();
}
