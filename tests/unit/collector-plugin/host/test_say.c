/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines for a standard error that has little room, and does not block. */
#include "config.h"
#include "collector-plugin/host/say.h"
#include "tests/lib/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_SIZE = 120000 };

/* Says the text; a child reads it after a while, or never. Returns how many bytes came. */
static long say_long_text(int reads)
{
	char *text = malloc(TEXT_SIZE + 1), part[4096];
	int fd[2], kept = dup(STDERR_FILENO), status = 0, count[2];
	long came = 0;
	ssize_t n;
	pid_t child;

	CHECK(text && kept >= 0 && pipe(fd) == 0 && pipe(count) == 0, "pipe");
	memset(text, 'x', TEXT_SIZE);
	text[TEXT_SIZE] = '\0';
	fcntl(fd[1], F_SETFL, O_NONBLOCK);
	child = fork();
	if (child == 0) {
		close(fd[1]);
		usleep(50000);
		while (reads && (n = read(fd[0], part, sizeof(part))) > 0) {
			came += n;
		}
		_exit(write(count[1], &came, sizeof(came)) != sizeof(came));
	}
	dup2(fd[1], STDERR_FILENO);
	close(fd[1]);
	vt_say_lines(text);
	dup2(kept, STDERR_FILENO);
	close(kept);
	CHECK(read(count[0], &came, sizeof(came)) == sizeof(came), "count");
	waitpid(child, &status, 0);
	CHECK_INT(status, 0);
	close(fd[0]);
	close(count[0]);
	close(count[1]);
	free(text);
	return came;
}

static void slow_reader_gets_all(void)
{
	CHECK_INT(say_long_text(1), TEXT_SIZE);
}

static void nobody_is_waited_for(void)
{
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	say_long_text(0);
	clock_gettime(CLOCK_MONOTONIC, &to);
	CHECK(to.tv_sec - from.tv_sec < 5, "%ld s", (long)(to.tv_sec - from.tv_sec));
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(slow_reader_gets_all);
	RUN(nobody_is_waited_for);
	return check_end();
}
