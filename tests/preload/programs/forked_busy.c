/* SPDX-License-Identifier: BSD-3-Clause */
/* For forked.sh: three threads define names all the time, while the first makes 60 children, one after the other. Each child defines
 * a name and ends with 7. Prints what went wrong. */
#include <VT.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int define_one(const char *of, long i)
{
	char name[64];
	int handle;

	snprintf(name, sizeof(name), "%s %ld", of, i);
	return VT_funcdef(name, VT_NOCLASS, &handle);
}

static void *define_always(void *of)
{
	long i;

	/* the table has an end */
	for (i = 0; i < 1000000; i++) {
		define_one(of, i % 300);
	}
	return NULL;
}

int main(void)
{
	static char *const name[] = { "a", "b", "c" };
	pthread_t t;
	int i, status;
	pid_t pid;

	define_one("main", 0);
	for (i = 0; i < 3; i++) {
		pthread_create(&t, NULL, define_always, name[i]);
	}
	for (i = 0; i < 60; i++) {
		pid = fork();
		if (pid == 0) {
			alarm(20);
			define_one("child", i);
			_exit(7);
		}
		if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 7) {
			printf("child %d ended with %x\n", i, status);
			return 1;
		}
	}
	return 0;
}
