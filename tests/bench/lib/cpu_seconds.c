/* SPDX-License-Identifier: BSD-3-Clause */
/* Three numbers on standard output. In seconds to the microsecond: the processor time of a command and of all processes that it started,
 * those that go on after it, too, and the wall time until the command ended. `times` of the shell counts steps of
 * 10 ms. In KB: the most memory that one of these processes had at a time (VmHWM of /proc: mapped files included, the page cache of other files
 * not). For bench_functions.sh and tests/ci/series/memory.sh, which compile it. usage: cpu_seconds COMMAND [ARGUMENT...], whose own output is discarded */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	double begin = now(), wall;
	struct rusage u;
	int status, nothing;
	pid_t pid;

	/* processes whose parents have ended become children of this one */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	pid = argc > 1 ? fork() : -1;
	if (pid == 0) {
		nothing = open("/dev/null", O_WRONLY);
		dup2(nothing, 1);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0) {
		return 1;
	}
	wall = now() - begin;
	while (wait(NULL) > 0) {
	}
	if (getrusage(RUSAGE_CHILDREN, &u) < 0) {
		return 1;
	}
	printf("%.6f %.6f %ld\n", seconds(u.ru_utime) + seconds(u.ru_stime), wall, u.ru_maxrss);
	return 0;
}
