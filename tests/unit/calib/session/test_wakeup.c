/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "calib/session/wakeup.h"
#include "tests/lib/check.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* Sleeps for a minute, unless another process signals. Returns how it went as an exit status. */
static int sleeper(const struct cal_wakeup_ticket *ticket, int ready)
{
	struct cal_wakeup *b = cal_wakeup_join(ticket, 2, 1, 0);
	double begin = now_s();
	uint32_t heard;

	if (!b || !cal_wakeup_is_from(b, 0) || cal_wakeup_is_from(b, 2)) {
		return 1;
	}
	heard = cal_wakeup_prepare(b);
	if (write(ready, "x", 1) != 1) {
		return 2;
	}
	cal_wakeup_sleep(b, heard, 60000000000);
	cal_wakeup_end(b);
	cal_wakeup_close(b);
	return now_s() - begin < 30 ? 0 : 3;
}

static void a_ring_ends_the_sleep_of_another_process(void)
{
	struct cal_wakeup_ticket ticket;
	struct cal_wakeup *b = cal_wakeup_make(2, 0, 0, &ticket);
	struct timespec nap = { 0, 50000000 };
	int ends[2], status = -1;
	char c;
	pid_t pid;

	CHECK(b != NULL && ticket.fd >= 0, "no table");
	CHECK(pipe(ends) == 0, "no pipe");
	CHECK(!cal_wakeup_is_from(b, 1), "nobody has joined yet");
	pid = fork();
	if (pid == 0) {
		_exit(sleeper(&ticket, ends[1]));
	}
	close(ends[1]);
	CHECK(read(ends[0], &c, 1) == 1, "the sleeper did not come so far");
	nanosleep(&nap, NULL); /* it may sleep by now, or not yet: both have to end well */
	cal_wakeup_all_joined(b);
	cal_wakeup_signal(b, 1);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0, "status %#x", (unsigned)status);
	CHECK(cal_wakeup_is_from(b, 1), "it had joined");
	close(ends[0]);
	cal_wakeup_close(b);
}

static void a_ring_before_the_sleep_is_not_lost(void)
{
	struct cal_wakeup_ticket ticket;
	struct cal_wakeup *b = cal_wakeup_make(1, 0, 0, &ticket);
	double begin = now_s();
	uint32_t heard = cal_wakeup_prepare(b);

	cal_wakeup_signal(b, 0);
	cal_wakeup_sleep(b, heard, 60000000000);
	CHECK(now_s() - begin < 30, "slept for %g s", now_s() - begin);
	heard = cal_wakeup_prepare(b);
	begin = now_s();
	cal_wakeup_sleep(b, heard, 20000000); /* and one that was heard wakes nobody again */
	CHECK(now_s() - begin >= 0.02, "slept for %g s", now_s() - begin);
	cal_wakeup_close(b);
}

static void what_is_no_belfry_is_not_joined(void)
{
	struct cal_wakeup_ticket ticket, wrong;
	struct cal_wakeup *b = cal_wakeup_make(3, 0, 0, &ticket), *again = cal_wakeup_join(&ticket, 3, 1, 0);

	CHECK(again != NULL, "the right ticket");
	cal_wakeup_close(again);
	wrong = ticket;
	wrong.magic[1]++;
	CHECK(!cal_wakeup_join(&wrong, 3, 1, 0), "another number");
	CHECK(!cal_wakeup_join(&ticket, 4, 1, 0), "another size");
	wrong = ticket;
	wrong.fd = -1;
	CHECK(!cal_wakeup_join(&wrong, 3, 1, 0), "none there");
	cal_wakeup_all_joined(b);
	CHECK(!cal_wakeup_join(&ticket, 3, 1, 0), "too late");
	cal_wakeup_close(b);
	cal_wakeup_signal(NULL, 0);
	cal_wakeup_sleep(NULL, cal_wakeup_prepare(NULL), 1);
	cal_wakeup_end(NULL);
	CHECK(!cal_wakeup_is_from(NULL, 0), "no table, no signals");
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(a_ring_ends_the_sleep_of_another_process);
	RUN(a_ring_before_the_sleep_is_not_lost);
	RUN(what_is_no_belfry_is_not_joined);
	return check_end();
}
