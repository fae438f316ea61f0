/* SPDX-License-Identifier: BSD-3-Clause */
/* The processor time of a command and its children, in seconds to the microsecond, on standard output; `times` of the shell counts steps of
 * 10 ms. For bench_functions.sh, which compiles it. usage: cpu_seconds COMMAND [ARGUMENT...] */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

int main(int argc, char **argv)
{
	struct rusage u;
	int status;
	pid_t pid;

	pid = argc > 1 ? fork() : -1;
	if (pid == 0) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || getrusage(RUSAGE_CHILDREN, &u) < 0 || status != 0) {
		return 1;
	}
	printf("%.6f\n", seconds(u.ru_utime) + seconds(u.ru_stime));
	return 0;
}
