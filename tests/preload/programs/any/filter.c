/* SPDX-License-Identifier: BSD-3-Clause */
/* a filter that kills for all but write, exit_group and returning from signals; then it ends by exit() */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { sizeof(f) / sizeof(f[0]), f };

	(void)argv;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		(argc > 1 ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p)
			  : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))) {
		return 77;
	}
	if (write(1, "filtered\n", 9) != 9) {
		return 1;
	}
	exit(5);
}
