/* SPDX-License-Identifier: BSD-3-Clause */
/* An exec by the system call, without an environment. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	char *arguments[] = { "sleep", "0.6", NULL }, *none[] = { NULL };

	usleep(300000);
	syscall(SYS_execve, "/bin/sleep", arguments, none);
	return 1;
}
