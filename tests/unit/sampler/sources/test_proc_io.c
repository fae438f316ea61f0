/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process reads and writes, told from what its children did. */
#define _GNU_SOURCE
#include "config.h"
#include "base/err.h"
#include "include/vtsource.h"
#include "sampler/source.h"
#include "sampler/sources/proc.h"
#include "tests/lib/check.h"
#include "tests/lib/sampler_set.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>

/* ---- the process that is observed: it does as it is told, one letter after the other ---------------- */

enum { LITTLE = 1000, MUCH = 1000000 };

static int go[2], done[2], null_fd;
static volatile pid_t writer; /* the thread that wrote last */

static int write_to_null(size_t size)
{
	static char bytes[MUCH];

	return write(null_fd, bytes, size) == (ssize_t)size ? 0 : -1;
}

static void *write_little(void *arg)
{
	writer = gettid();
	return write_to_null(LITTLE) < 0 ? arg : NULL;
}

static void *write_and_wait(void *arg)
{
	pthread_barrier_t *b = arg;

	writer = gettid();
	write_to_null(LITTLE);
	pthread_barrier_wait(b);
	pthread_barrier_wait(b);
	write_to_null(LITTLE);
	return NULL;
}

/* What a thread did becomes its process's when the kernel lets go of it, which is after pthread_join(). */
static void join(pthread_t thread, pid_t tid)
{
	pthread_join(thread, NULL);
	while (tgkill(getpid(), tid, 0) == 0) {
		sched_yield();
	}
}

static void have_child(size_t size, int waits)
{
	pid_t pid = fork();

	if (pid == 0) {
		_exit(size && write_to_null(size) < 0);
	}
	if (waits) {
		waitpid(pid, NULL, 0);
	}
}

static void do_as_told(char what)
{
	static pthread_barrier_t b;
	static pthread_t one, stays;
	static pid_t stays_tid;

	switch (what) {
	case 'w':
		write_to_null(LITTLE);
		break;
	case 't': /* a thread that is never seen */
		pthread_create(&one, NULL, write_little, NULL);
		join(one, writer);
		break;
	case 'T': /* one that stays */
		pthread_barrier_init(&b, NULL, 2);
		pthread_create(&stays, NULL, write_and_wait, &b);
		pthread_barrier_wait(&b);
		stays_tid = writer;
		break;
	case 'e': /* and ends */
		pthread_barrier_wait(&b);
		join(stays, stays_tid);
		break;
	case 'c':
		have_child(MUCH, 1);
		break;
	case 'n': /* a child that is not waited for */
		have_child(MUCH, 0);
		break;
	case 'r':
		waitpid(-1, NULL, 0);
		break;
	default:
		break;
	}
}

static void be_observed(void)
{
	char what;

	close(go[1]);
	null_fd = open("/dev/null", O_WRONLY);
	while (read(go[0], &what, 1) == 1) {
		do_as_told(what);
		if (write(done[1], &what, 1) != 1) {
			_exit(1);
		}
	}
	_exit(0);
}

static pid_t observed;

static void begin(void)
{
	struct tkm_err err = { TKM_OK, "" };
	const char *rules[] = { "proc_write", "proc_writes", "proc_minflt" };

	CHECK(pipe(go) == 0 && pipe(done) == 0, "no pipe");
	observed = fork();
	if (observed == 0) {
		be_observed();
	}
	close(go[0]);
	close(done[1]);
	smp_env_init(&env);
	plan = smp_plan_open(&env, rules, 3, NULL, 0, &err);
	set = smp_set_open(plan, &(struct smp_target){ SMP_PROCESS, observed, 0 }, &err);
	CHECK(set != NULL, "%s", err.text);
}

static void end(void)
{
	int status;

	close(go[1]);
	CHECK(waitpid(observed, &status, 0) == observed && status == 0, "status %d", status);
	usleep(2 * SMP_SAME_SAMPLE_US); /* sources of one sample share what they read */
	CHECK_INT(smp_set_read(set, value, state), -1);
	close(done[0]);
	drop();
}

static void tell(const char *what)
{
	char c;

	for (; *what; what++) {
		CHECK(write(go[1], what, 1) == 1 && read(done[0], &c, 1) == 1 && c == *what, "%c", *what);
	}
}

/* Tells it to do one thing after the other, with a reading after each step ('.'); want: bytes that it wrote itself, but for
 * the answers. */
static void observe(const char *steps, long long want, long long may_lack)
{
	long long first, calls;
	char step[2] = "";
	int answers = 0;

	begin();
	tell("-"); /* it has begun */
	read_again();
	first = got("proc_write");
	calls = got("proc_writes");
	for (; *steps; steps++) {
		if (*steps == '.') {
			read_again();
			continue;
		}
		step[0] = *steps;
		tell(step);
		answers++;
	}
	read_again();
	CHECK(got("proc_write") - first <= want + answers && got("proc_write") - first >= want + answers - may_lack,
		"%lld bytes, want %lld and %d answers", got("proc_write") - first, want, answers);
	CHECK(got("proc_writes") - calls <= want / LITTLE + answers, "%lld calls", got("proc_writes") - calls);
	end();
}

static void children_are_left_out(void)
{
	observe("w.w.w", 3 * LITTLE, 0);
	observe("c", 0, 0);
	observe("c.c.c", 0, 0);
	observe("w.c.w.c.w", 3 * LITTLE, 0);
	observe("wcwcw.wcw", 5 * LITTLE, 0);
	observe("n.w.n.w.r.w.r.w", 4 * LITTLE, 0);
	observe("nnn.rw.rr", LITTLE, 0);
}

static void ended_threads_stay_counted(void)
{
	observe("t.t.t", 3 * LITTLE, 0);
	observe("T.w.e.w", 4 * LITTLE, 0);
	observe("T.c.w.e.w", 4 * LITTLE, 0);
	observe("c.T.w.c.e.w.c.t", 5 * LITTLE, 0);
	/* the answer to its first child, since threads have ended before: it is a part of the growth between two readings, too */
	observe("t.w.c.t.c.w", 4 * LITTLE, 1);
	/* a thread that ends, and a child waited for, between two readings: the thread's last growth cannot be told from the child's */
	observe("c.T.w.ec.w", 4 * LITTLE, LITTLE);
	observe("T.w.ec.w", 4 * LITTLE, 2 * LITTLE);
	/* a process of several threads that waits for its first child: so may the growth between the two readings */
	observe("T.wcw.w.e", 5 * LITTLE, 2 * LITTLE);
}

static void many_children_of_many_kinds(void)
{
	static const char kinds[] = "wctcwnr.wc..t";
	char steps[400];
	size_t i;
	int own = 0, waiting = 0;

	for (i = 0; i < sizeof(steps) - 1; i++) {
		steps[i] = kinds[(i * 7 + i / 13) % (sizeof(kinds) - 1)];
		steps[i] = steps[i] == 'r' && !waiting ? '.' : steps[i];
		waiting += steps[i] == 'n' ? 1 : steps[i] == 'r' ? -1 : 0;
		/* what ends together with a child is the child's */
		steps[i] = steps[i] == 't' ? '.' : steps[i];
		own += steps[i] == 'w';
	}
	steps[i] = '\0';
	observe(steps, own * LITTLE, 0);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(children_are_left_out);
	RUN(ended_threads_stay_counted);
	RUN(many_children_of_many_kinds);
	/* as vtsampler reads it: sources share what they read of a process */
	smp_own_process();
	RUN(children_are_left_out);
	RUN(ended_threads_stay_counted);
	RUN(many_children_of_many_kinds);
	return check_end();
}
