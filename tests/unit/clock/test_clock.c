/* SPDX-License-Identifier: BSD-3-Clause */
/* tickmark/clock.h: what a reader makes of a page that is stale, torn, withdrawn, not to be trusted, or of a machine that was away. */
#include "config.h"
#include "tests/lib/check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <time.h>

#include "base/rootfs.h"
#include "calib/file/clk.h"
#include "calib/solve/solve.h"
#include "clock/clockd/clockbound.h"
#include "clock/names.h"
#include "clock/read.h"
#include "clock/clockd/reference.h"

/* ---- pages as files ---- */

static char folder[64];
static int64_t raw_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* 1000 s after its stamp, to within a microsecond and 1 ppm. */
static void publish(struct tkc_writer *w, int64_t raw, int64_t slept_since_ns)
{
	const struct tkc_vmclock *v = tkc_vmclock_open();
	struct tkc_watch watch;

	tkc_watch(v, &watch);
	tkc_vmclock_close(v);
	watch.boot_ns -= slept_since_ns;
	tkc_write(w->page,
		&(struct tkc_map){ .raw = raw,
			.at_ns = raw + 1000000000000,
			.half_ns = 1000,
			.ns_per_tick = 1,
			.grow = 1e-6,
			.since_raw = raw - 1000000000,
			.valid_ticks = 2000000000 },
		&watch);
}

static struct tickmark_clock *open_job(const char *name, struct tickmark_error *err)
{
	struct tickmark_options o = TICKMARK_OPTIONS;

	o.name = name;
	o.folder = folder;
	return tickmark_open(&o, err);
}

static int create(struct tkc_writer *w, const char *job)
{
	char name[96];
	struct tkm_err err;

	tkc_job_page(name, sizeof(name), job);
	return tkc_create(w, &(struct tkc_page_of){ folder, name, TICKMARK_JOB, 77, "clock_monotonic" }, &err);
}

static void a_page_is_read(void)
{
	struct tickmark_error err = { 0, "" };
	struct tickmark_info info = { .size = sizeof(info) };
	struct tickmark_clock *c;
	struct tickmark_time t, u;
	struct tkc_writer w;
	int64_t before, after, raw;

	CHECK_INT(create(&w, "read"), 0);
	c = open_job("read", &err);
	CHECK(c != NULL, "%s", err.text);
	if (!c) {
		return;
	}
	CHECK_INT(tickmark_now(c, &t), TICKMARK_UNSYNCHRONISED);
	CHECK(t.earliest_ns == INT64_MIN && t.latest_ns == INT64_MAX, "an interval without a status");
	publish(&w, raw_now(), 0);
	before = raw_now() + 1000000000000;
	CHECK_INT(tickmark_now(c, &t), TICKMARK_OK);
	after = raw_now() + 1000000000000;
	CHECK(t.earliest_ns <= after && t.latest_ns >= before, "not in it");
	CHECK(t.latest_ns - t.earliest_ns >= 2000 && t.latest_ns - t.earliest_ns < 100000, "%lld ns",
		(long long)(t.latest_ns - t.earliest_ns));
	CHECK_INT(t.scale, TICKMARK_JOB);
	CHECK_INT(t.axis, 77);
	raw = tickmark_raw(c);
	CHECK_INT(tickmark_at(c, raw, &u), TICKMARK_OK);
	CHECK(u.earliest_ns <= raw + 1000000000000 && raw + 1000000000000 <= u.latest_ns, "the stamp's time is known");
	CHECK_INT(tickmark_at(c, raw - 3000000000, &u), TICKMARK_TOO_OLD);
	CHECK_INT(tickmark_at(c, w.page->state.since_raw, &u), TICKMARK_OK);
	CHECK_INT(tickmark_at(c, w.page->state.since_raw - 1, &u), TICKMARK_TOO_OLD);
	CHECK_INT(tickmark_at(c, raw + 3000000000, &u), TICKMARK_STALE);
	CHECK_INT(tickmark_at(c, INT64_MAX, &u), TICKMARK_STALE);
	CHECK_INT(tickmark_at(c, INT64_MIN, &u), TICKMARK_TOO_OLD);
	CHECK_INT(tickmark_get_info(c, &info), 0);
	CHECK_STR(info.timer, "clock_monotonic");
	CHECK_INT(info.half_ns, 1000);
	CHECK_INT(info.valid_ns, 2000000000);
	CHECK_NEAR(info.grow_ppm, 1, 1e-3);
	CHECK_INT(info.writer, getpid());
	tkc_withdraw(&w);
	CHECK_INT(tickmark_now(c, &t), TICKMARK_CLOSED);
	CHECK(open_job("read", &err) == NULL, "the file is still there");
	CHECK_INT(err.code, ENOENT);
	tickmark_close(c);
}

static void what_is_not_certain_is_a_status(void)
{
	struct tickmark_error err = { 0, "" };
	struct tkc_writer w;
	struct tickmark_clock *c;
	struct tickmark_time t;

	CHECK_INT(create(&w, "doubt"), 0);
	publish(&w, raw_now() - 3000000000, 0);
	c = open_job("doubt", &err);
	CHECK_INT(tickmark_now(c, &t), TICKMARK_STALE);
	publish(&w, raw_now(), 0);
	CHECK_INT(tickmark_now(c, &t), TICKMARK_OK);
	/* suspended for 5 s since: the realtime clock is ahead of what the page expects, and the kernel counts the sleep */
	publish(&w, raw_now(), 5000000000);
	CHECK_INT(tickmark_now(c, &t), TICKMARK_OK); /* its timer did not stand still, which cannot be made here; */
	w.page->state.realtime_ns -= 5000000000;     /* so the page gets the other clocks of one that did */
	CHECK_INT(tickmark_now(c, &t), TICKMARK_DISRUPTED);
	CHECK_INT(tickmark_at(c, raw_now(), &t), TICKMARK_DISRUPTED);
	/* somebody set the realtime clock: no suspension */
	publish(&w, raw_now(), 0);
	w.page->state.realtime_ns -= 5000000000;
	CHECK_INT(tickmark_now(c, &t), TICKMARK_OK);
	/* the timer was set back */
	publish(&w, raw_now() + 10000000000, 0);
	CHECK_INT(tickmark_now(c, &t), TICKMARK_DISRUPTED);
	/* a writer that died in the middle */
	publish(&w, raw_now(), 0);
	w.page->state.sequence++;
	CHECK_INT(tickmark_now(c, &t), TICKMARK_BUSY);
	publish(&w, raw_now(), 0);
	CHECK_INT(tickmark_now(c, &t), TICKMARK_OK);
	tickmark_close(c);
	tkc_withdraw(&w);
}

static void a_killed_writer_is_noticed(void)
{
	struct tickmark_error err = { 0, "" };
	struct timespec nap = { 0, 120000000 };
	struct tickmark_clock *c;
	struct tickmark_time t;
	struct tkc_writer w;
	int ready[2], status;
	char one = 0;
	pid_t child;

	CHECK_INT(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (create(&w, "killed") == 0) {
			publish(&w, raw_now(), 0);
			one = 1;
		}
		(void)!write(ready[1], &one, 1);
		pause();
		_exit(0);
	}
	CHECK(read(ready[0], &one, 1) == 1 && one, "no page");
	c = open_job("killed", &err);
	CHECK(c != NULL, "%s", err.text);
	CHECK_INT(tickmark_now(c, &t), TICKMARK_OK);
	CHECK(create(&w, "killed") < 0, "a page whose writer lives was replaced");
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	nanosleep(&nap, NULL);
	CHECK_INT(tickmark_now(c, &t), TICKMARK_STALE);
	/* a new writer takes the place, and the reader follows */
	CHECK_INT(tickmark_refresh(c, &err), 0);
	CHECK_INT(create(&w, "killed"), 0);
	publish(&w, raw_now(), 0);
	CHECK_INT(tickmark_now(c, &t), TICKMARK_STALE);
	CHECK_INT(tickmark_refresh(c, &err), 1);
	CHECK_INT(tickmark_now(c, &t), TICKMARK_OK);
	tickmark_close(c);
	tkc_withdraw(&w);
	close(ready[0]);
	close(ready[1]);
}

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

static void a_migration_is_noticed(void)
{
	struct vmclock {
		uint32_t magic, size;
		uint16_t version;
		uint8_t counter, type;
		uint32_t sequence;
		uint64_t marker;
	};
	struct vmclock *device;
	struct tickmark_error err = { 0, "" };
	struct tickmark_options o = TICKMARK_OPTIONS;
	char path[128];
	struct tickmark_clock *c;
	struct tickmark_time t;
	struct tkc_writer w;
	int fd;

	snprintf(path, sizeof(path), "%s/vmclock", folder);
	fd = open(path, O_RDWR | O_CREAT, 0644);
	CHECK(fd >= 0 && ftruncate(fd, 4096) == 0, "%s", path);
	device = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	*device = (__typeof__(*device)){ .magic = 0x4b4c4356, .size = 104, .version = 1, .marker = 41 };
	setenv("TICKMARK_VMCLOCK", path, 1);
	CHECK_INT(create(&w, "vm"), 0);
	publish(&w, raw_now(), 0);
	c = open_job("vm", &err);
	CHECK(c != NULL, "%s", err.text);
	CHECK_INT(tickmark_now(c, &t), TICKMARK_OK);
	device->sequence = 1; /* it is happening */
	CHECK_INT(tickmark_now(c, &t), TICKMARK_DISRUPTED);
	device->sequence = 2;
	CHECK_INT(tickmark_now(c, &t), TICKMARK_OK);
	device->marker = 42;
	CHECK_INT(tickmark_now(c, &t), TICKMARK_DISRUPTED);
	publish(&w, raw_now(), 0);
	CHECK_INT(tickmark_now(c, &t), TICKMARK_OK);
	tickmark_close(c);
	/* who cannot look at it must say that this is all right */
	setenv("TICKMARK_VMCLOCK", "/nonexistent", 1);
	CHECK(open_job("vm", &err) == NULL, "opened without vmclock");
	o.name = "vm";
	o.folder = folder;
	o.flags = TICKMARK_WITHOUT_VMCLOCK;
	c = tickmark_open(&o, &err);
	CHECK(c != NULL, "%s", err.text);
	tickmark_close(c);
	tkc_withdraw(&w);
	unsetenv("TICKMARK_VMCLOCK");
	unlink(path);
	munmap(device, 4096);
}

static void only_trusted_pages_are_read(void)
{
	struct tickmark_options o = TICKMARK_OPTIONS;
	struct tickmark_error err = { 0, "" };
	struct tkc_writer w;
	struct tkm_err why;
	struct tickmark_clock *c;
	struct stat st;

	CHECK_INT(create(&w, "trust"), 0);
	CHECK_INT(stat(w.path, &st), 0);
	CHECK_INT(st.st_mode & 07777, 0644);
	CHECK_INT(fchmod(w.fd, 0666), 0);
	CHECK(open_job("trust", &err) == NULL, "others may write it");
	CHECK_INT(fchmod(w.fd, 0644), 0);
	o.name = "trust";
	o.folder = folder;
	o.owner = (long)geteuid() + 1;
	CHECK(tickmark_open(&o, &err) == NULL, "it is somebody else's");
	CHECK_INT(chmod(folder, 0777), 0);
	CHECK(open_job("trust", &err) == NULL, "others may write the folder");
	CHECK_INT(chmod(folder, 0755), 0);
	w.page->domain[0] ^= 1;
	CHECK(open_job("trust", &err) == NULL, "it is another machine's");
	w.page->domain[0] ^= 1;
	w.page->version++;
	CHECK(open_job("trust", &err) == NULL, "it is of another version");
	w.page->version--;
	c = open_job("trust", &err);
	CHECK(c != NULL, "%s", err.text);
	tickmark_close(c);
	tkc_withdraw(&w);
	CHECK(tkc_create(&w, &(struct tkc_page_of){ folder, "x", TICKMARK_JOB, 1, "clock_realtime" }, &why) < 0,
		"a clock that can be set");
	CHECK(tkc_create(&w, &(struct tkc_page_of){ folder, "x", TICKMARK_JOB, 1, "sim:drift=1ppm" }, &why) < 0,
		"a clock that others cannot read");
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

static void waiting(void)
{
	struct tickmark_error err = { 0, "" };
	struct tickmark_clock *c;
	struct tickmark_time t, now;
	struct tkc_writer w;
	int64_t begin;

	CHECK_INT(create(&w, "wait"), 0);
	publish(&w, raw_now(), 0);
	c = open_job("wait", &err);
	tickmark_now(c, &t);
	CHECK_INT(tickmark_wait_until_after(c, &t, 1000000000), TICKMARK_YES);
	tickmark_now(c, &now);
	CHECK_INT(tickmark_before(&t, &now), TICKMARK_YES);
	t = now;
	t.earliest_ns += 300000000;
	t.latest_ns += 300000000;
	begin = raw_now();
	CHECK_INT(tickmark_wait_until_after(c, &t, 10000000), TICKMARK_NO);
	CHECK(raw_now() - begin >= 10000000, "came back early");
	CHECK_INT(tickmark_wait_until_after(c, &t, -1), TICKMARK_YES);
	CHECK(raw_now() - begin >= 300000000, "came back early");
	t.axis++;
	CHECK_INT(tickmark_wait_until_after(c, &t, -1), TICKMARK_UNKNOWN);
	/* the bound is unknown: there is no time to wait for */
	t.axis--;
	t.earliest_ns += 1000000000;
	t.latest_ns += 1000000000;
	publish(&w, raw_now() - 3000000000, 0);
	begin = raw_now();
	CHECK_INT(tickmark_wait_until_after(c, &t, 20000000), TICKMARK_UNKNOWN);
	tickmark_close(c);
	tkc_withdraw(&w);
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

/* ---- UTC by the kernel's clock ---- */

static struct timex ntp;
static int ntp_state;

/* Instead of the kernel's. */
int adjtimex(struct timex *t)
{
	CHECK(t->modes == 0, "modes %#x: this sets the clock", t->modes);
	*t = ntp;
	return ntp_state;
}

/* So that what is not set does not happen to be 0. */
static __attribute__((noinline)) void fill_stack(void)
{
	volatile char a[8192];
	size_t i;

	for (i = 0; i < sizeof(a); i++) {
		a[i] = 0x55;
	}
}

static int64_t utc_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* The stated bound is ntp's 1.2 ms and what of a correction is to be made; what the kernel adds once a second is at most 505 us. */
static void expect_reading(struct tkc_reference *r, double lag_s, double stated_ns)
{
	struct tkc_reading now;
	int64_t raw[2], utc[2];

	raw[0] = tmr_read_ordered(r->timer).v;
	utc[0] = utc_now();
	tkc_reference_read(r, &now);
	utc[1] = utc_now();
	raw[1] = tmr_read_ordered(r->timer).v;
	CHECK_INT(now.status, TICKMARK_OK);
	CHECK(raw[0] < now.raw && now.raw < raw[1], "its stamp is not from the reading");
	CHECK(utc[0] <= now.at_ns && now.at_ns <= utc[1], "its time is not from the reading");
	CHECK(now.realtime_half_ns >= stated_ns && now.realtime_half_ns <= stated_ns + 600e3, "%g ns",
		now.realtime_half_ns);
	CHECK(now.half_ns >= now.realtime_half_ns + 1e9 * lag_s &&
			now.half_ns <= now.realtime_half_ns + 1e9 * lag_s + 0.5 * (double)(raw[1] - raw[0]) + 2,
		"%g ns and %g", now.half_ns, now.realtime_half_ns);
}

static void what_the_kernel_says_of_utc(void)
{
	struct tkm_err err = { .text = "" };
	struct tmr_timer *t = tmr_open("clock_monotonic_raw", 0, &err);
	struct tkc_reference r;
	struct tkc_reading now;
	const int64_t day = INT64_C(86400000000000);

	CHECK(t != NULL, "%s", err.text);
	ntp = (struct timex){ .maxerror = 1000, .esterror = 200, .status = STA_UNSYNC };
	ntp_state = TIME_ERROR;
	CHECK_INT(tkc_reference_open(&r, "ntp", t, 0, &err), -1);
	CHECK(strstr(err.text, "not synchronised") != NULL, "%s", err.text);
	CHECK_INT(tkc_reference_open(&r, "gps", t, 0, &err), -1);
	ntp.status = STA_PLL | STA_NANO;
	ntp.offset = -3000;
	ntp_state = TIME_OK;
	CHECK_INT(tkc_reference_open(&r, "ntp", t, 0, &err), 0);
	expect_reading(&r, 0, 1.203e6);
	fill_stack();
	ntp.status = STA_PLL; /* of microseconds */
	expect_reading(&r, 0, 4.2e6);
	tkc_reference_read(&r, &now);
	CHECK_INT(now.leap_ns, 0);
	ntp.status = STA_PLL | STA_INS;
	fill_stack();
	tkc_reference_read(&r, &now);
	CHECK(now.leap_ns > now.at_ns && now.leap_ns - now.at_ns <= day && now.leap_ns % day == 0,
		"a leap second at %lld", (long long)now.leap_ns);
	ntp_state = TIME_OOP;
	tkc_reference_read(&r, &now);
	CHECK_INT(now.status, TICKMARK_UNSYNCHRONISED);
	CHECK(strstr(now.reason, "leap second") != NULL, "%s", now.reason);
	tkc_reference_close(&r);
	ntp_state = TIME_OK;
	ntp.status = STA_PLL | STA_NANO;
	CHECK_INT(tkc_reference_open(&r, "ntp", t, 2e-3, &err), 0);
	expect_reading(&r, 2e-3, 1.203e6);
	tkc_reference_close(&r);
	tmr_close(t);
}

/* ---- ClockBound ---- */

/* A reader written from docs/PROTOCOL.md alone: bytes, no struct. */
static int64_t i64(const unsigned char *p)
{
	int64_t v;

	memcpy(&v, p, 8);
	return v;
}

static uint32_t u32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return v;
}

static uint16_t u16(const unsigned char *p)
{
	uint16_t v;

	memcpy(&v, p, 2);
	return v;
}

static void clockbound_segment_is_as_published(void)
{
	struct tkm_err err = { .text = "" };
	struct timespec step;
	int dir = open(folder, O_RDONLY | O_DIRECTORY), fd, i;
	struct tkc_clockbound *c = tkc_clockbound_create(dir, "clockbound", &err);
	const unsigned char *p;
	struct stat st;
	uint16_t last = 0;

	CHECK(c != NULL, "%s", err.text);
	fd = openat(dir, "clockbound", O_RDONLY);
	CHECK(fd >= 0 && fstat(fd, &st) == 0 && st.st_size == 80 && (st.st_mode & 07777) == 0644, "size or mode");
	p = mmap(NULL, 80, PROT_READ, MAP_SHARED, fd, 0);
	CHECK_INT(u32(p), 0x414d5a4e);
	CHECK_INT(u32(p + 4), 0x43420200);
	CHECK_INT(u32(p + 8), 80);
	CHECK_INT(u16(p + 12), 2);
	CHECK(u16(p + 14) > 0 && u16(p + 14) % 2 == 0, "generation %u", u16(p + 14));
	CHECK_INT((int32_t)u32(p + 68), 0);
	clock_getres(CLOCK_MONOTONIC_COARSE, &step);
	tkc_clockbound_write(c,
		&(struct tkc_clockbound_state){ .as_of_ns = 12000000345,
			.valid_ns = 2000000000,
			.bound_ns = 1234.5,
			.max_drift = 50e-6,
			.status = TKC_CLOCKBOUND_SYNCHRONISED,
			.marker = 0x1122334455667788,
			.support = 1 });
	CHECK_INT(i64(p + 16), 12);
	CHECK_INT(i64(p + 24), 345);
	CHECK_INT(i64(p + 32), 14);
	CHECK_INT(i64(p + 40), 345);
	CHECK_NEAR((double)i64(p + 48), 1234.5 + 50e-6 * (double)step.tv_nsec, 1);
	CHECK_INT(i64(p + 56), 0x1122334455667788);
	CHECK_INT(u32(p + 64), 50000);
	CHECK_INT((int32_t)u32(p + 68), 1);
	CHECK_INT(p[72], 1);
	for (i = 73; i < 80; i++) {
		CHECK_INT(p[i], 0);
	}
	/* never odd between two updates, never 0 */
	for (i = 0; i < 70000; i++) {
		last = u16(p + 14);
		tkc_clockbound_write(c, &(struct tkc_clockbound_state){ .status = TKC_CLOCKBOUND_FREE_RUNNING });
		CHECK(u16(p + 14) == (last == 65534 ? 2 : last + 2), "after %u comes %u", last, u16(p + 14));
	}
	tkc_clockbound_withdraw(c, dir, "clockbound");
	CHECK_INT((int32_t)u32(p + 68), 0);
	CHECK(faccessat(dir, "clockbound", F_OK, 0) < 0, "it is still there");
	munmap((void *)(uintptr_t)p, 80);
	close(fd);
	close(dir);
}

/* A run of this process alone, on CLOCK_MONOTONIC, of so many seconds. */
static void write_clk(const char *path, int seconds)
{
	struct cal_run run = { .ranks = 1, .max_drift = 500e-6, .max_wander = 1e-6 };
	struct cal_rank *r = run.rank = calloc(1, sizeof(*r));
	struct tkm_err err = { .text = "" };
	int root = open("/", O_RDONLY | O_DIRECTORY), i;
	FILE *f = fopen(path, "w");
	ssize_t n;

	snprintf(r->timer, sizeof(r->timer), "clock_monotonic");
	gethostname(r->host, sizeof(r->host) - 1);
	tkm_root_line(root, "/proc/sys/kernel/random/boot_id", r->boot_id, sizeof(r->boot_id));
	n = readlinkat(root, "proc/self/ns/time", r->time_ns, sizeof(r->time_ns) - 1);
	r->time_ns[n > 0 ? n : 0] = '\0';
	r->nominal_hz = 1e9;
	r->effective_tick_s = 1e-9;
	r->anchors = 2;
	for (i = 0; i < 2; i++) {
		r->anchor[i] = (struct cal_anchor){ .local = ltick(raw_now() - (2 - i) * seconds * INT64_C(1000000000)),
			.realtime_ns = 1000000000000 + i * seconds * INT64_C(1000000000),
			.monotonic_ns = i * seconds * INT64_C(1000000000) };
	}
	CHECK(f && cal_solve(&run, -1, &err) == 0 && cal_clk_write(f, &run, "test", &err) == 0, "%s", err.text);
	fclose(f);
	close(root);
	cal_run_free(&run);
}

/* The run began so many seconds ago, or a little more. */
static void says_seconds(const struct tickmark_clock *c, int64_t seconds)
{
	struct tickmark_time t;
	int status = tickmark_now(c, &t);

	/* a machine that was suspended since it was booted */
	CHECK(status == TICKMARK_OK || status == TICKMARK_DISRUPTED, "%s", tickmark_status_name(status));
	CHECK(status != TICKMARK_OK ||
			(t.latest_ns >= seconds * 1000000000 && t.earliest_ns < (seconds + 60) * 1000000000),
		"%lld .. %lld ns, %lld s", (long long)t.earliest_ns, (long long)t.latest_ns, (long long)seconds);
}

static void a_file_is_read_again_when_it_has_changed(void)
{
	struct tickmark_options o = TICKMARK_OPTIONS;
	struct tickmark_error err = { 0, "" };
	struct tickmark_clock *c;
	char path[100];

	snprintf(path, sizeof(path), "%s/run.clk", folder);
	write_clk(path, 10);
	o.scale = TICKMARK_FILE;
	o.name = path;
	o.flags = TICKMARK_WITHOUT_VMCLOCK;
	c = tickmark_open(&o, &err);
	CHECK(c != NULL, "%s", err.text);
	if (c) {
		says_seconds(c, 20);
		CHECK_INT(tickmark_refresh(c, &err), 0);
		CHECK_INT(tickmark_refresh(c, &err), 0);
		write_clk(path, 2000); /* of another size, too: a clock of files may be coarse */
		says_seconds(c, 20);
		CHECK(tickmark_refresh(c, &err) == 1, "%s", err.text);
		says_seconds(c, 4000);
		CHECK_INT(tickmark_refresh(c, &err), 0);
		unlink(path);
		CHECK(tickmark_refresh(c, &err) < 0 && err.text[0], "a file that is not there");
	}
	tickmark_close(c);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	snprintf(folder, sizeof(folder), "/tmp/test_clock.XXXXXX");
	if (!mkdtemp(folder) || chmod(folder, 0755) < 0) {
		printf("Bail out! no folder\n");
		return 99;
	}
	RUN(a_page_is_read);
	RUN(what_is_not_certain_is_a_status);
	RUN(a_killed_writer_is_noticed);
	RUN(a_writer_without_descriptors_lives);
	RUN(a_migration_is_noticed);
	RUN(only_trusted_pages_are_read);
	RUN(no_copy_is_torn);
	RUN(waiting);
	RUN(folders_of_a_user);
	RUN(what_the_kernel_says_of_utc);
	RUN(a_file_is_read_again_when_it_has_changed);
	RUN(clockbound_segment_is_as_published);
	rmdir(folder);
	return check_end();
}
