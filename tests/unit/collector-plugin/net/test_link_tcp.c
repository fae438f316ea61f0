/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads are the two processes. Their clocks are simulated over one real clock, so what each shows is known. */
#include "config.h"
#include "collector-plugin/net/link_tcp.h"
#include "tests/lib/check.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "calib/job/job.h"
#include "timers/timer.h"

struct side {
	int fd, rank, sessions, rc;
	const char *timer;
	struct cal_link *link;
	struct cal_job job;
	struct tkm_err err;
	pthread_t thread;
};

static void *run_side(void *arg)
{
	struct cal_job_options o = cal_job_defaults();
	struct side *s = arg;
	struct tmr_timer *t = tmr_open(s->timer, s->rank, &s->err);
	int i;

	s->link = cal_link_tcp(s->fd, s->rank, &s->err);
	s->link->timer = t;
	s->rc = cal_job_begin(&s->job, s->link, &o, &s->err);
	for (i = 0; i < s->sessions && s->rc == 0; i++) {
		s->rc = cal_job_session(&s->job, i == 0 ? CAL_START : CAL_MIDDLE, &s->err);
	}
	return NULL;
}

static void connect_sides(struct side *a, struct side *b)
{
	int fd[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0, "socketpair");
	a->fd = fd[0];
	b->fd = fd[1];
	b->rank = 1;
}

static void run_both(struct side *a, struct side *b)
{
	pthread_create(&a->thread, NULL, run_side, a);
	pthread_create(&b->thread, NULL, run_side, b);
	pthread_join(a->thread, NULL);
	pthread_join(b->thread, NULL);
}

static void close_side(struct side *s)
{
	struct tmr_timer *t = s->link->timer;

	cal_job_end(&s->job);
	cal_link_close(s->link);
	tmr_close(t);
}

/* No message was there before it was sent: what the other clock showed is known from its offset and rate. */
static size_t samples_that_cannot_be(const struct cal_rank *r)
{
	size_t i, k, n = 0;

	for (i = 0; i < r->sessions; i++) {
		for (k = 0; k < r->session[i].n; k++) {
			const struct cal_sample *s = &r->session[i].sample[k];
			double sent = ((double)s->send.v - 5e9) / (1 + 8e-6),
			       there = ((double)s->recv.v - 5e9) / (1 + 8e-6);

			n += sent > (double)s->master_in.v + 100 || (double)s->master_out.v > there + 100;
		}
	}
	return n;
}

/* The master's clock at a reading of the other is between two readings of its own. */
static void the_map_is_right_to_within_its_bound(void)
{
	static struct side master = { .timer = "sim:base=clock_monotonic_raw,origin=0", .sessions = 3 },
			   child = { .timer = "sim:base=clock_monotonic_raw,offset=5s,drift=8ppm,origin=0",
				   .sessions = 3 };
	const struct cal_map *m;
	double bound_ns, off_ns;
	int i;

	connect_sides(&master, &child);
	run_both(&master, &child);
	CHECK(master.rc == 0 && child.rc == 0, "%s %s", master.err.text, child.err.text);
	m = child.rc == 0 ? cal_job_map(&child.job) : NULL;
	CHECK(m != NULL && child.job.report.lost == 0, "no map");
	CHECK(child.job.rank.sessions == 3 && child.job.rank.session[0].n >= 24, "too few samples");
	CHECK_INT(samples_that_cannot_be(&child.job.rank), 0);
	for (i = 0; m && i < 100; i++) {
		int64_t before = tmr_read_ordered(master.link->timer).v - child.job.axis.v;
		ltick_t c = tmr_read_ordered(child.link->timer);
		int64_t after = tmr_read_ordered(master.link->timer).v - child.job.axis.v;
		double at_ns = (double)cal_map_at(m, c).v * m->period_s * 1e9;

		bound_ns = cal_map_bound(m, c) * 1e9;
		off_ns = fmax((double)before - at_ns, at_ns - (double)after);
		CHECK(off_ns <= bound_ns + 1 && bound_ns < 1e7, "off by %g ns, bound %g ns", off_ns, bound_ns);
	}
	close_side(&master);
	close_side(&child);
}

/* The other side makes one session less: this one waits for its limit, and no longer. The next session succeeds. */
static void a_missing_session_ends_at_its_limit(void)
{
	static struct side master = { .timer = "clock_monotonic_raw", .sessions = 1 },
			   child = { .timer = "sim:base=clock_monotonic_raw,offset=1s", .sessions = 2 };
	size_t lost;

	connect_sides(&master, &child);
	run_both(&master, &child);
	lost = child.job.report.lost;
	CHECK(child.rc == 0 && lost > 0 && strstr(child.job.report.first.text, "rank 0"), "lost %zu: %s", lost,
		child.job.report.first.text);
	CHECK(!cal_link_tcp_ended(child.link), "the connection is still there");
	close_side(&master);
	CHECK(cal_link_tcp_ended(child.link), "the other side is closed");
	close_side(&child);
}

static void what_is_no_frame_ends_the_connection(void)
{
	struct side master = { .rank = 0 }, child;
	char rubbish[64];
	long long word = 0;
	struct tkm_err e;

	connect_sides(&master, &child);
	memset(rubbish, 0xff, sizeof(rubbish));
	CHECK(write(child.fd, rubbish, sizeof(rubbish)) == (ssize_t)sizeof(rubbish), "write");
	master.link = cal_link_tcp(master.fd, 0, &e);
	CHECK(cal_link_turn(master.link, 1, 0, &word, &e) < 0 && cal_link_tcp_ended(master.link), "%s", e.text);
	cal_link_close(master.link);
	close(child.fd);
}

int main(void)
{
	RUN(the_map_is_right_to_within_its_bound);
	RUN(a_missing_session_ends_at_its_limit);
	RUN(what_is_no_frame_ends_the_connection);
	return check_end();
}
