/* SPDX-License-Identifier: BSD-3-Clause */
/* When a process was born. */
#include "config.h"
#include "collector-plugin/raw/process.h"
#include "tests/lib/check.h"
#include "tests/lib/raw_file.h"

#include <sys/wait.h>
#include <unistd.h>

/* Asked a thousand times at a job's end. */
static void when_it_was_born(void)
{
	int before = open_files(), i;
	pid_t pid = fork();

	if (pid == 0) {
		_exit(0);
	}
	for (i = 0; i < 20; i++) {
		CHECK(vt_raw_born((uint32_t)getpid()) == vt_raw_born(0) && vt_raw_born(0) > 0, "%llu",
			(unsigned long long)vt_raw_born(0));
	}
	waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT);
	CHECK_INT(vt_raw_born((uint32_t)pid), 0); /* a zombie is gone */
	waitpid(pid, NULL, 0);
	CHECK_INT(vt_raw_born((uint32_t)pid), 0);
	CHECK_INT(open_files(), before);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(when_it_was_born);
	remove_dir();
	return check_end();
}
