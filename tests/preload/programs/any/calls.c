/* SPDX-License-Identifier: BSD-3-Clause */
/* VT_ calls after seccomp: stored as long as there is memory, then counted as lost. With a word: in strict mode, where no clock can be read, they do nothing. */
#include <VT.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { sizeof(filter) / sizeof(filter[0]), filter };
	uint64_t bounds[2] = { 0, UINT64_MAX }, i;
	int c, f;

	VT_initialize(&argc, &argv);
	VT_funcdef("work", VT_NOCLASS, &f);
	VT_countdef(
		"n", VT_NOCLASS, VT_COUNT_INTEGER64 | VT_COUNT_ABSVAL | VT_COUNT_VALID_SAMPLE, VT_ME, bounds, "x", &c);
	VT_countval(1, &c, &bounds[1]);
	VT_begin(f);
	VT_end(f);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (argc > 1) {
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	} else {
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p);
	}
	for (i = 0; i < 3000000; i++) {
		VT_begin(f);
		VT_countval(1, &c, &i);
		VT_end(f);
	}
	syscall(SYS_write, 1, "stored\n", 7);
	syscall(SYS_exit, 3);
	return 0;
}
