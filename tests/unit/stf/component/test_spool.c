/* SPDX-License-Identifier: BSD-3-Clause */
/* Input that comes through a pipe can be read again; a file is not copied. */
#include "config.h"
#include "stf/component/spool.h"
#include "tests/lib/check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { SIZE = 300001 }; /* more than a pipe holds, and no whole number of pieces */

static unsigned char byte_at(int i)
{
	return (unsigned char)(i * 7 + i / 251);
}

static void a_pipe_can_be_read_twice(void)
{
	static unsigned char text[SIZE], got[SIZE];
	struct stf_err err = { 0 };
	int fd[2], own, i, round, status;
	pid_t child;

	for (i = 0; i < SIZE; i++) {
		text[i] = byte_at(i);
	}
	CHECK_INT(pipe(fd), 0);
	child = fork();
	if (child == 0) {
		for (i = 0; i < SIZE; i += 1000) {
			if (write(fd[1], text + i, (size_t)(i + 1000 < SIZE ? 1000 : SIZE - i)) < 0) {
				_exit(1);
			}
		}
		_exit(0);
	}
	close(fd[1]);
	own = stf_spool(fd[0], "a pipe", &err);
	CHECK(own >= 0, "%s", err.text);
	for (round = 0; round < 2; round++) {
		memset(got, 0, sizeof(got));
		CHECK(pread(own, got, SIZE, 0) == SIZE && memcmp(got, text, SIZE) == 0, "round %d", round);
	}
	CHECK_INT(lseek(own, 0, SEEK_END), SIZE);
	CHECK(waitpid(child, &status, 0) == child && status == 0, "status %d", status);
	close(own);
	close(fd[0]);
}

static void a_file_stays_itself(void)
{
	char path[] = "/tmp/test_spool.XXXXXX";
	struct stf_err err = { 0 };
	struct stat a, b;
	int fd = mkstemp(path), own = stf_spool(fd, path, &err);

	CHECK(own >= 0 && own != fd, "%s", err.text);
	CHECK(fstat(fd, &a) == 0 && fstat(own, &b) == 0 && a.st_ino == b.st_ino, "another file");
	close(own);
	close(fd);
	unlink(path);
	CHECK(stf_spool(-1, "nothing", &err) == -1 && err.code == STF_ERR_IO && strstr(err.text, "cannot read"), "%s",
		err.text);
	CHECK_STR(err.file, "nothing");
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(a_pipe_can_be_read_twice);
	RUN(a_file_stays_itself);
	return check_end();
}
