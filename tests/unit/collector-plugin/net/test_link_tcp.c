/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads are the two processes. Their clocks are simulated over one real clock, so what each shows is known. */
#include "config.h"
#include "collector-plugin/net/link_tcp.h"
#include "tests/lib/check.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/stats.h"
#include "calib/job/job.h"
#include "collector-plugin/net/tcp.h"
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

/* How well most sessions can tell the two clocks apart: the shortest way there and the shortest way back. */
static double usual_width_ns(const struct cal_rank *r)
{
	double *width = malloc((r->sessions + 1) * sizeof(*width)), up, down;
	size_t i, k;

	for (i = 0; i < r->sessions; i++) {
		up = down = INFINITY;
		for (k = 0; k < r->session[i].n; k++) {
			const struct cal_sample *s = &r->session[i].sample[k];

			up = fmin(up, (double)ltick_sub(s->master_in, s->send));
			down = fmin(down, (double)ltick_sub(s->recv, s->master_out));
		}
		width[i] = up + down;
	}
	tkm_sort(width, i);
	up = tkm_median(width, i);
	free(width);
	return up;
}

/* Who spins keeps the peer from the processor until the kernel takes it away, milliseconds later. */
static void two_sides_on_one_processor_take_turns(void)
{
	static struct side master = { .timer = "clock_monotonic_raw", .sessions = 8 },
			   child = { .timer = "sim:base=clock_monotonic_raw,tick=1ns", .sessions = 8 };
	cpu_set_t all, one;
	double ns;
	int cpu = 0;

	CHECK(sched_getaffinity(0, sizeof(all), &all) == 0, "affinity");
	while (!CPU_ISSET(cpu, &all)) {
		cpu++;
	}
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	CHECK(sched_setaffinity(0, sizeof(one), &one) == 0, "affinity");
	connect_sides(&master, &child);
	run_both(&master, &child);
	CHECK(sched_setaffinity(0, sizeof(all), &all) == 0, "affinity");
	ns = usual_width_ns(&child.job.rank);
	CHECK(child.rc == 0 && ns > 0 && ns < 100e3, "both ways take %g ns", ns);
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

/* ---- a link of many ---- */

enum { MANY = 5 };

struct corner {
	struct vt_mesh mesh;
	int rank, rc;
	long long sum;
	struct tkm_err err;
	pthread_t thread;
};

/* Each sends its number to each; who is first is different from pair to pair. */
static void *run_corner(void *arg)
{
	struct corner *c = arg;
	struct cal_link *l = vt_link_mesh(&c->mesh, c->rank, MANY, &c->err);
	char data[70000];
	long long word;
	int from, to;

	for (from = 0; from < MANY && c->rc == 0; from++) {
		for (to = 0; to < MANY && c->rc == 0; to++) {
			word = c->rank == from ? 100 * from + to : 0;
			memset(data, c->rank == from ? from + 1 : 0, sizeof(data));
			if (from != to && (c->rank == from || c->rank == to)) {
				c->rc = cal_link_turn(l, from, to, &word, &c->err) |
					cal_link_send(l, from, to, data, sizeof(data), &c->err);
				c->sum += c->rank == to ? word : 0;
				c->rc |= data[0] == from + 1 && data[sizeof(data) - 1] == from + 1 ? 0 : -1;
			}
		}
	}
	if (c->rc == 0 && cal_link_barrier(l, &c->err) < 0) {
		c->rc = -1;
	}
	cal_link_close(l);
	return NULL;
}

static void make_corners(struct corner *c, int n)
{
	int i, k, port[MANY];

	for (i = 0; i < n; i++) {
		c[i] = (struct corner){ .rank = i };
		c[i].mesh.listener = vt_tcp_listen(0, 0, &port[i], &c[i].err);
		c[i].mesh.nonce[0] = 7;
		c[i].mesh.nonce[1] = 11;
	}
	for (i = 0; i < n; i++) {
		c[i].mesh.at = calloc((size_t)n, sizeof(*c[i].mesh.at));
		for (k = 0; k < n; k++) {
			c[i].mesh.at[k] = (struct vt_contact){ .hosts = 1, .port = (uint16_t)port[k] };
			memcpy(c[i].mesh.at[k].host[0], "127.0.0.1", 10);
		}
	}
}

/* A connection to corner 0 that begins with these numbers. */
static int connect_stranger(const struct corner *c, const uint64_t *greeting, size_t size)
{
	struct tkm_err e;
	int host = 0, fd = vt_tcp_connect(&c[0].mesh.at[0], c[0].mesh.at[0].port, 2, &host, &e);

	CHECK(fd >= 0 && vt_tcp_put(fd, greeting, size, 1) == 0, "a stranger connects");
	return fd;
}

/* Strangers that connect first are neither taken for a rank nor waited for. */
static void all_speak_with_all_and_with_no_stranger(void)
{
	static struct corner c[MANY];
	static const uint64_t wrong_nonce[] = { 7, 12, 1, 0 }, wrong_rank[] = { 7, 11, MANY, 0 },
			      not_for_it[] = { 7, 11, 1, 2 };
	int i, stranger[4];

	make_corners(c, MANY);
	stranger[0] = connect_stranger(c, wrong_nonce, sizeof(wrong_nonce));
	stranger[1] = connect_stranger(c, wrong_rank, sizeof(wrong_rank));
	stranger[2] = connect_stranger(c, not_for_it, sizeof(not_for_it));
	stranger[3] = connect_stranger(c, wrong_nonce, 3);
	for (i = 0; i < MANY; i++) {
		pthread_create(&c[i].thread, NULL, run_corner, &c[i]);
	}
	for (i = 0; i < MANY; i++) {
		pthread_join(c[i].thread, NULL);
		CHECK(c[i].rc == 0, "rank %d: %s", i, c[i].err.text);
		/* 100 * from + own rank of the four others */
		CHECK_INT(c[i].sum, 100 * (0 + 1 + 2 + 3 + 4 - i) + 4 * i);
	}
	for (i = 0; i < 4; i++) {
		close(stranger[i]);
	}
}

static void a_corner_that_closes_is_named(void)
{
	static struct corner c[2];
	struct cal_link *a, *b;
	long long word = 1;
	struct tkm_err e;

	make_corners(c, 2);
	a = vt_link_mesh(&c[0].mesh, 0, 2, &e);
	b = vt_link_mesh(&c[1].mesh, 1, 2, &e);
	CHECK(cal_link_turn(b, 1, 0, &word, &e) == 0 && cal_link_turn(a, 1, 0, &word, &e) == 0, "%s", e.text);
	cal_link_close(b);
	CHECK(cal_link_turn(a, 1, 0, &word, &e) < 0 && e.code == TKM_ERR_TIMEOUT && strstr(e.text, "rank 1"), "%s",
		e.text);
	cal_link_close(a);
}

int main(void)
{
	RUN(all_speak_with_all_and_with_no_stranger);
	RUN(a_corner_that_closes_is_named);
	RUN(the_map_is_right_to_within_its_bound);
	RUN(two_sides_on_one_processor_take_turns);
	RUN(a_missing_session_ends_at_its_limit);
	RUN(what_is_no_frame_ends_the_connection);
	return check_end();
}
