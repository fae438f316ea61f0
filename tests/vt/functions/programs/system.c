/* SPDX-License-Identifier: BSD-3-Clause */
/* A program whose reads and writes are known: it prints lines "READ|WRITE function bytes file". */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char text[1 << 16];

static void expect(int ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "wrong: %s\n", what);
		_exit(9);
	}
}

static void descriptors(const char *path)
{
	struct iovec v[2] = { { text, 10 }, { text, 20 } };
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0640), p[2];

	expect(fd >= 0 && write(fd, text, 1000) == 1000, "write");
	expect(pwrite(fd, text, 500, 1000) == 500 && writev(fd, v, 2) == 30, "pwrite, writev");
	expect(lseek(fd, 0, SEEK_SET) == 0 && read(fd, text, 5000) == 1500, "lseek, read");
	expect(pread(fd, text, 100, 0) == 100 && read(fd, text, 5000) == 0, "pread, read at the end");
	expect(fsync(fd) == 0 && close(fd) == 0, "fsync, close");
	errno = 0;
	expect(read(fd, text, 10) < 0 && errno == EBADF, "errno");
	expect(access(path, R_OK) == 0 && pipe(p) == 0, "access, pipe");
	/* the descriptor is another file now */
	expect(write(p[1], text, 7) == 7 && read(p[0], text, 100) == 7, "pipe");
	close(p[0]);
	close(p[1]);
}

static void print(FILE *f, const char *format, ...)
{
	va_list a;

	va_start(a, format);
	expect(vfprintf(f, format, a) == 4, "vfprintf");
	va_end(a);
}

static void streams(const char *path)
{
	FILE *f = fopen(path, "w+");
	char line[100];

	expect(f && fprintf(f, "%d %s %.1f\n", 12, "ab", 2.5) == 10, "fprintf");
	print(f, "%s", "wxyz");
	expect(fputs("hello\n", f) >= 0 && fputc('x', f) == 'x' && putc('\n', f) == '\n', "fputs, fputc, putc");
	expect(fwrite(text, 4, 25, f) == 25 && fflush(f) == 0 && fseek(f, 0, SEEK_SET) == 0, "fwrite");
	expect(fgets(line, sizeof(line), f) && !strcmp(line, "12 ab 2.5\n") && fgetc(f) == 'w', "fgets, fgetc");
	expect(fread(line, 1, 10, f) == 10 && !feof(f) && ftell(f) == 21, "fread");
	expect(sprintf(line, "%s", "abc") == 3 && fclose(f) == 0, "sprintf, fclose");
	expect(rename(path, path) == 0 && remove(path) == 0, "rename, remove");
}

static sigjmp_buf back;

static void jump(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

static void *wait_for_ever(void *p)
{
	char c;

	(void)!read(*(int *)p, &c, 1);
	return NULL;
}

/* A call that is left by a jump, and one in which its thread is cancelled. */
static void interrupted(void)
{
	pthread_t t;
	void *how;
	int p[2];

	expect(pipe(p) == 0, "pipe");
	signal(SIGALRM, jump);
	if (sigsetjmp(back, 1) == 0) {
		alarm(1);
		(void)!read(p[0], text, 1);
		expect(0, "the jump");
	}
	expect(pthread_create(&t, NULL, wait_for_ever, &p[0]) == 0, "pthread_create");
	usleep(100000);
	expect(pthread_cancel(t) == 0 && pthread_join(t, &how) == 0 && how == PTHREAD_CANCELED, "pthread_cancel");
}

static void small(int sig)
{
	(void)sig;
	(void)!write(2, "", 0);
}

/* The first use of a descriptor, in a handler with a stack of its own. */
static void small_stack(void)
{
	static char room[16384];
	stack_t on = { .ss_sp = room, .ss_size = sizeof(room) };
	struct sigaction how = { .sa_handler = small, .sa_flags = SA_ONSTACK };

	expect(sigaltstack(&on, NULL) == 0 && sigaction(SIGUSR1, &how, NULL) == 0 && raise(SIGUSR1) == 0, "raise");
}

static void children(void)
{
	pid_t child = vfork();
	int status;

	if (child == 0) {
		close(0);
		dup2(2, 0);
		_exit(write(0, "", 0) == 0 ? 3 : 4);
	}
	expect(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3, "vfork");
	child = fork();
	if (child == 0) {
		_exit(write(1, "", 0) == 0 ? 5 : 6);
	}
	expect(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5, "fork");
}

int main(int argc, char **argv)
{
	descriptors(argv[1]);
	streams(argv[1]);
	interrupted();
	small_stack();
	children();
	printf("%s\n", "done");
	puts("end");
	return argc - 2;
}
