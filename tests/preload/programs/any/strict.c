/* SPDX-License-Identifier: BSD-3-Clause */
/* strict N: read, write and exit are all that is left; N: 1: prctl(), 2: the system call itself; 3: only the time stamp counter
 * may not be read any more */
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
	} else if (argc > 1 && argv[1][0] == '3') {
		if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV) < 0) {
			return 77;
		}
		write(1, "no clock\n", 9);
		exit(3);
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
