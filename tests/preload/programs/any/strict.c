/* SPDX-License-Identifier: BSD-3-Clause */
/* strict N: read, write and exit are all that is left; N: prctl(), 2: the system call itself */
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	volatile double x = 0;
	long i, n = argc > 1 && argv[1][0] == '2' ? 1500000000 : 30000000;

	if (argc > 1 && argv[1][0] == '2') {
		syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL);
	} else {
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	}
	for (i = 0; i < n; i++) {
		x += 1;
	}
	syscall(SYS_write, 1, "strict\n", 7);
	if (argc > 2) {
		exit(3);
	}
	syscall(SYS_exit, 3);
	return 1;
}
