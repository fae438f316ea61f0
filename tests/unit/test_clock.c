/* SPDX-License-Identifier: BSD-3-Clause */
/* tickmark/clock.h: intervals against a known truth, 10^6 of them; and what a reader makes of a page that is stale, torn, withdrawn,
 * not to be trusted, or of a machine that was away. */
#include "config.h"
#include "tests/lib/check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "clock/clockbound.h"
#include "clock/from_map.h"
#include "clock/names.h"
#include "clock/read.h"
#include "clock/track.h"

/* ---- a world with a known time ---- */

static const double tau = 6.283185307179586;

struct world {
	double hz, drift, wander, period_s, phase; /* of the counter */
	double tick;                               /* it moves in steps of so many ticks */
	int64_t epoch_ns, ticks0;
	double away_at_s, away_s; /* suspended: the counter stands, the kernel's clock goes on */
	double jump_at_s;         /* migrated: the counter jumps, nobody but vmclock knows */
	int64_t jump;
};

/* What the counter shows at true time t. */
static int64_t counter(const struct world *w, double t)
{
	double stood = t > w->away_at_s ? fmin(t - w->away_at_s, w->away_s) : 0, run = t - stood;
	double ticks = w->hz *
		((1 + w->drift) * run +
			w->wander * w->period_s / tau * (sin(tau * run / w->period_s + w->phase) - sin(w->phase)));

	return w->ticks0 + (int64_t)(floor(ticks / w->tick) * w->tick) + (t > w->jump_at_s ? w->jump : 0);
}

static int64_t truth(const struct world *w, double t)
{
	return w->epoch_ns + llrint(t * 1e9);
}

/* The coarse clock: a step of 4 ms behind, and with an error of its own. */
static int64_t coarse(const struct world *w, double t)
{
	return w->epoch_ns + (int64_t)floor(t * 250) * 4000000;
}

static int64_t slept_ns(const struct world *w, double t)
{
	return t > w->away_at_s + w->away_s ? llrint(w->away_s * 1e9) : 0;
}

static double range(double low, double high)
{
	return low * pow(high / low, check_uniform());
}

static double sign(void)
{
	return 2 * check_uniform() - 1;
}

enum { MAX_DRIFT_PPM = 500 };

static void draw_world(struct world *w)
{
	static const double frequency[] = { 2.25e9, 3e9, 1e9, 24e6, 1e6 };

	memset(w, 0, sizeof(*w));
	w->hz = frequency[check_random() % 5];
	w->drift = sign() * (MAX_DRIFT_PPM - 1.1) * 1e-6;
	w->wander = sign() * 1e-6;
	w->period_s = range(1, 1000);
	w->phase = tau * check_uniform();
	w->tick = w->hz > 1e9 && check_random() % 2 ? 22.5 : 1;
	w->epoch_ns = 1700000000000000000 + (int64_t)(check_random() % 1000000000000000);
	w->ticks0 = (int64_t)(check_random() % (UINT64_C(1) << 50));
	w->away_at_s = w->jump_at_s = INFINITY;
}

struct run {
	struct world w;
	struct tkc_track track;
	struct tkc_state state;
	double t, updated_s;
	uint64_t marker;
	int disrupted;
	long asked, well, outside, unordered;
};

/* The server reads its reference, which is off by at most what it says, and often by exactly that. */
static void update(struct run *r)
{
	double b = range(1e3, 5e6), share = check_random() % 4 ? sign() : check_random() % 2 ? 1 : -1;
	double lag_ns = 1e9 * r->w.tick / r->w.hz;
	struct tkc_watch watch = { .boot_ns = slept_ns(&r->w, r->t), .marker = r->marker };
	struct tkc_reading reading = { .status = check_random() % 50 ? TICKMARK_OK : TICKMARK_UNSYNCHRONISED };
	struct tkc_map m;

	reading.raw = counter(&r->w, r->t);
	reading.at_ns = truth(&r->w, r->t) + llrint(share * b);
	reading.half_ns = b + 2 * lag_ns + 1;
	tkc_track_add(&r->track, &reading, &m);
	if (r->disrupted) {
		m.status = TICKMARK_DISRUPTED;
	}
	tkc_write_state(&r->state, &m, &watch, coarse(&r->w, r->t));
	r->updated_s = r->t;
}

/* As tickmark_now() asks, with what the machine would show. */
static int now(struct run *r, double t, struct tickmark_time *out)
{
	struct tkc_view v;
	uint32_t sequence = tkc_copy(&r->state, &v);
	int64_t raw = counter(&r->w, t), more = slept_ns(&r->w, t) - v.boot_ns;
	int status;

	CHECK(tkc_copied(&r->state, sequence), "no copy");
	out->scale = TICKMARK_UTC;
	out->axis = 0;
	if (v.status != TICKMARK_OK) {
		return tkc_fail(out, v.status);
	}
	if (v.marker != r->marker ||
		(!tkc_realtime_fits(&v, raw, coarse(&r->w, t)) && (more > 1000000 || more < -1000000))) {
		return tkc_fail(out, TICKMARK_DISRUPTED);
	}
	status = tkc_interval(&v, raw, out);
	return status;
}

static void ask(struct run *r, double t)
{
	struct tickmark_time at;
	int64_t is = truth(&r->w, t);
	int status = now(r, t, &at);

	r->asked++;
	r->well += status == TICKMARK_OK;
	r->outside += is < at.earliest_ns || is > at.latest_ns;
	if (status == TICKMARK_OK) {
		CHECK(t - r->updated_s < 2.01 || t > r->w.away_at_s, "used %g s after the last update",
			t - r->updated_s);
	}
	r->t = fmax(r->t, t);
}

static void ask_pair(struct run *r, double t)
{
	struct tickmark_time a, b;
	double later = t + range(1e-7, 1);

	now(r, t, &a);
	now(r, later, &b);
	r->asked += 2;
	r->outside += truth(&r->w, t) < a.earliest_ns || truth(&r->w, t) > a.latest_ns ||
		truth(&r->w, later) < b.earliest_ns || truth(&r->w, later) > b.latest_ns;
	r->unordered += tickmark_before(&a, &b) == TICKMARK_NO || tickmark_after(&a, &b) == TICKMARK_YES ||
		tickmark_before(&b, &a) == TICKMARK_YES;
	r->t = later;
}

static void one_world(struct run *r)
{
	int i, k, fate = (int)(check_random() % 4);

	memset(&r->track, 0, sizeof(r->track));
	draw_world(&r->w);
	r->marker = check_random();
	r->disrupted = 0;
	r->t = 1;
	tkc_track_begin(&r->track, 1e9 / r->w.hz, MAX_DRIFT_PPM * 1e-6, 1e-6, (int64_t)(2 * r->w.hz));
	for (i = 0; i < 60; i++) {
		update(r);
		for (k = 0; k < 10; k++) {
			ask(r, r->t + range(1e-7, 0.1));
		}
		ask_pair(r, r->t);
		r->t += check_random() % 20 ? 0.1 : range(0.1, 100); /* the server is late at times */
		ask(r, r->t);
	}
	CHECK_INT(r->track.contradictions, 0);
	if (fate == 0) {
		r->w.away_at_s = r->t + 0.01;
		r->w.away_s = range(0.05, 1e5);
		r->t += r->w.away_s + 0.02;
	} else if (fate == 1) {
		r->w.jump_at_s = r->t + 0.01;
		r->w.jump = (int64_t)(sign() * range(1e3, 1e15));
		r->marker++;
		r->t += 0.02;
	}
	for (k = 0; k < 20; k++) {
		ask(r, r->t + 1e-6);
	}
	if (fate < 2) {
		r->disrupted = 1;
		update(r);
		ask(r, r->t);
	}
}

static void a_million_intervals_contain_the_truth(void)
{
	struct run r;

	memset(&r, 0, sizeof(r));
	while (r.asked < 1000000L * check_times) {
		one_world(&r);
	}
	printf("# %ld asked, %ld with an interval\n", r.asked, r.well);
	CHECK_INT(r.outside, 0);
	CHECK_INT(r.unordered, 0);
	CHECK(r.well > r.asked / 2, "only %ld of %ld were answered", r.well, r.asked);
}

static void the_rate_is_learned(void)
{
	struct tkc_reading reading = { .status = TICKMARK_OK, .half_ns = 1e5 };
	struct tkc_track t;
	struct tkc_map m;
	int i;

	tkc_track_begin(&t, 1, 500e-6, 1e-6, 2000000000);
	for (i = 0; i <= 1000; i++) {
		reading.raw = i * INT64_C(100000000);
		reading.at_ns = reading.raw + llrint(100e-6 * (double)reading.raw); /* 100 ppm slow */
		tkc_track_add(&t, &reading, &m);
		CHECK(100e-6 >= m.ns_per_tick - 1 - m.grow && 100e-6 <= m.ns_per_tick - 1 + m.grow,
			"reading %d: %.9g +- %g", i, m.ns_per_tick, m.grow);
	}
	/* 2 x 100 us in 100 s, and two wanders */
	CHECK(m.grow < 4.1e-6, "%g after 100 s", m.grow);
}

static void a_reference_that_contradicts_itself_is_not_believed(void)
{
	struct tkc_reading reading = { .status = TICKMARK_OK, .half_ns = 1000 };
	struct tkc_track t;
	struct tkc_map m;
	int i;

	tkc_track_begin(&t, 1, 500e-6, 1e-6, 2000000000);
	for (i = 0; i < 60; i++) {
		reading.raw = i * INT64_C(100000000);
		reading.at_ns = reading.raw + (i < 30 ? 0 : 5000000); /* set by 5 ms */
		tkc_track_add(&t, &reading, &m);
		CHECK_INT(m.status, i < 30 || i >= 50 ? TICKMARK_OK : TICKMARK_UNSYNCHRONISED);
	}
	CHECK_INT(m.since_raw, 30 * INT64_C(100000000));
}

static void no_page_lasts_into_a_leap_second(void)
{
	struct tkc_reading reading = {
		.status = TICKMARK_OK, .half_ns = 1000, .raw = 5, .at_ns = 1000000000000, .leap_ns = 1000000000000
	};
	struct tkc_track t;
	struct tkc_map m;
	int i;

	for (i = 0; i < 10; i++) {
		tkc_track_begin(&t, 1, 500e-6, 1e-6, 2000000000);
		reading.leap_ns = reading.at_ns + i * INT64_C(500000000);
		tkc_track_add(&t, &reading, &m);
		CHECK_INT(m.status, i <= 2 ? TICKMARK_UNSYNCHRONISED : TICKMARK_OK);
		CHECK(m.valid_ticks <= i * INT64_C(500000000), "%lld ticks", (long long)m.valid_ticks);
	}
}

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
	return tkc_create(w, folder, name, TICKMARK_JOB, 77, "clock_monotonic", &err);
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
	CHECK_INT(tickmark_now(c, &t), TICKMARK_OK); /* its timer did not stand, which nobody can build here; */
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

static void a_migration_is_noticed(void)
{
	struct {
		uint32_t magic, size;
		uint16_t version;
		uint8_t counter, type;
		uint32_t sequence;
		uint64_t marker;
	} * device;
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
	CHECK(tkc_create(&w, folder, "x", TICKMARK_JOB, 1, "clock_realtime", &why) < 0, "a clock that can be set");
	CHECK(tkc_create(&w, folder, "x", TICKMARK_JOB, 1, "sim:drift=1ppm", &why) < 0,
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

static void comparisons(void)
{
	const struct tickmark_time a = { 10, 20, 1, TICKMARK_UTC, TICKMARK_OK },
				   b = { 21, 30, 1, TICKMARK_UTC, TICKMARK_OK },
				   touches = { 20, 25, 1, TICKMARK_UTC, TICKMARK_OK },
				   overlaps = { 15, 25, 1, TICKMARK_UTC, TICKMARK_OK },
				   other = { 21, 30, 2, TICKMARK_UTC, TICKMARK_OK },
				   job = { 21, 30, 1, TICKMARK_JOB, TICKMARK_OK },
				   bad = { INT64_MIN, INT64_MAX, 1, TICKMARK_UTC, TICKMARK_STALE };

	CHECK_INT(tickmark_before(&a, &b), TICKMARK_YES);
	CHECK_INT(tickmark_before(&b, &a), TICKMARK_NO);
	CHECK_INT(tickmark_after(&a, &b), TICKMARK_NO);
	CHECK_INT(tickmark_after(&b, &a), TICKMARK_YES);
	CHECK_INT(tickmark_before(&a, &overlaps), TICKMARK_UNKNOWN);
	CHECK_INT(tickmark_after(&a, &overlaps), TICKMARK_UNKNOWN);
	/* both can be 20: not before for certain is only the later one */
	CHECK_INT(tickmark_before(&a, &touches), TICKMARK_UNKNOWN);
	CHECK_INT(tickmark_before(&touches, &a), TICKMARK_NO);
	CHECK_INT(tickmark_before(&a, &other), TICKMARK_UNKNOWN);
	CHECK_INT(tickmark_before(&a, &job), TICKMARK_UNKNOWN);
	CHECK_INT(tickmark_before(&a, &bad), TICKMARK_UNKNOWN);
	CHECK_INT(tickmark_after(&bad, &a), TICKMARK_UNKNOWN);
	CHECK_INT(tickmark_before(&a, &a), TICKMARK_UNKNOWN);
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
	tickmark_close(c);
	tkc_withdraw(&w);
}

/* ---- maps of runs ---- */

/* learned: the rate is expected to stay within 10 ppb for a minute after the last session, 1 ppm otherwise. */
static void line_of_a_map(int learned)
{
	/* two sessions 1 s apart, each to within 200 ns, of a clock 50 ppm fast; global ticks of 0.1 ns */
	struct cal_node node[] = { { .local = { 1000000000 },
					   .global = { 10000000000 },
					   .low = { 9999998000 },
					   .high = { 10000002000 },
					   .used = 1 },
		{ .local = { 2000050000 },
			.global = { 20000000000 },
			.low = { 19999998000 },
			.high = { 20000002000 },
			.used = 1 } };
	struct cal_map m = { .nodes = 2,
		.node = node,
		.period_s = 1e-10,
		.max_drift = 500e-6,
		.max_wander = 1e-6,
		.rate_low = 9.999490,
		.rate_high = 9.999510,
		.learned_low = learned ? 9.9994999 : 0,
		.learned_high = learned ? 9.9995001 : 0,
		.learned_for = learned ? 60000000000 : 0 };
	struct tkm_err err;
	struct tkc_state state;
	struct tickmark_time t;
	struct tkc_view v;
	struct tkc_map line;
	int64_t raw;
	int i;

	memset(&state, 0, sizeof(state));
	CHECK_INT(cal_map_line(&m, node[0].local, node[0].global, 1e10 / 1000050000, &err), 0);
	tkc_from_map(&m, node[1].local, 1e9, 50e-9, 100, &line);
	CHECK_INT(line.near_ticks, m.learned_for);
	CHECK_INT(line.status, TICKMARK_OK);
	tkc_write_state(&state, &line, &(struct tkc_watch){ .marker = 0 }, 0);
	tkc_copy(&state, &v);
	for (i = 0; i < 10000; i++) {
		raw = node[0].local.v + (int64_t)(check_uniform() * 90e9);
		double map_ns = (double)cal_map_at(&m, ltick(raw)).v / 10,
		       bound_ns = 1e9 * cal_map_bound(&m, ltick(raw));

		CHECK_INT(tkc_interval(&v, raw, &t), TICKMARK_OK);
		/* between the sessions both hold, and either can be narrower */
		CHECK(raw < v.raw ||
				((double)t.earliest_ns <= map_ns - bound_ns - 50 &&
					(double)t.latest_ns >= map_ns + bound_ns + 50),
			"raw %lld: narrower than the map", (long long)raw);
		CHECK((double)(t.latest_ns - t.earliest_ns) < 2 * bound_ns + 2000 + 6e-6 * fabs((double)(raw - v.raw)),
			"raw %lld: %lld, map %g", (long long)raw, (long long)(t.latest_ns - t.earliest_ns),
			2 * bound_ns);
	}
	/* half a minute on: 2 us with what was learned, 30 us without */
	CHECK_INT(tkc_interval(&v, v.raw + 30000000000, &t), TICKMARK_OK);
	CHECK(learned ? t.latest_ns - t.earliest_ns < 4000 : t.latest_ns - t.earliest_ns > 50000, "%lld ns wide",
		(long long)(t.latest_ns - t.earliest_ns));
	CHECK_INT(tkc_interval(&v, node[0].local.v - 1, &t), TICKMARK_TOO_OLD);
	m.nodes = 0;
	m.node = NULL;
	cal_map_free(&m);
}

static void the_line_of_a_map_is_certain_where_the_map_is(void)
{
	struct tkc_map line;

	line_of_a_map(0);
	line_of_a_map(1);
	tkc_from_master(ltick(500), ltick(500 + 22500), 2.25e9, 30e-9, 100, &line);
	CHECK_INT(line.at_ns, 10000);
	CHECK_NEAR(line.half_ns, 30.5, 1e-9);
	CHECK_NEAR(line.grow, 0, 0);
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

int main(int argc, char **argv)
{
	check_args(argc, argv);
	snprintf(folder, sizeof(folder), "/tmp/test_clock.XXXXXX");
	if (!mkdtemp(folder) || chmod(folder, 0755) < 0) {
		printf("Bail out! no folder\n");
		return 99;
	}
	RUN(a_million_intervals_contain_the_truth);
	RUN(the_rate_is_learned);
	RUN(a_reference_that_contradicts_itself_is_not_believed);
	RUN(no_page_lasts_into_a_leap_second);
	RUN(a_page_is_read);
	RUN(what_is_not_certain_is_a_status);
	RUN(a_killed_writer_is_noticed);
	RUN(a_migration_is_noticed);
	RUN(only_trusted_pages_are_read);
	RUN(no_copy_is_torn);
	RUN(comparisons);
	RUN(waiting);
	RUN(the_line_of_a_map_is_certain_where_the_map_is);
	RUN(clockbound_segment_is_as_published);
	rmdir(folder);
	return check_end();
}
