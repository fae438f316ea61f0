/* SPDX-License-Identifier: BSD-3-Clause */
/* A child of a fork has nothing of the raw file. */
#include "config.h"
#include "base/err.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/private.h"
#include "collector-plugin/raw/reader.h"
#include "collector-plugin/raw/writer.h"
#include "tests/lib/check.h"
#include "tests/lib/heap.h"
#include "tests/lib/raw_file.h"
#include "tests/unit/collector-plugin/raw/read_back.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

static void a_child_is_quiet(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 10 });
	struct vt_raw_stream *s = vt_raw_stream(r);
	struct tkm_err e = { TKM_OK, "" };
	struct vt_raw_file *f;
	uint64_t last;
	int status = 1;
	pid_t pid;

	write_some(s, 1, 100, 10);
	pid = fork();
	if (pid == 0) {
		vt_raw_detach_after_fork(r);
		write_some(s, 500, 600, 10);
		vt_raw_class(r, 1, 0, "x");
		vt_raw_tick(r, ltick(0));
		vt_raw_close(r, ltick(0));
		_exit(vt_raw_size(r) != 0);
	}
	waitpid(pid, &status, 0);
	CHECK(status == 0, "%s", path);
	write_some(s, 101, 200, 10);
	vt_raw_stream_end(s);
	vt_raw_close(r, ltick(1));
	f = vt_raw_open(path, &e);
	CHECK(f && read_back(f, 1, &last, 10) == 200, "%s", path);
	vt_raw_file_close(f);
}

/* A child that no handler of ours knows of finds nothing. */
static void children_get_nothing(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1 });
	int status;
	pid_t pid;

	write_some(vt_raw_stream(r), 1, 10, 10);
	CHECK(vt_raw_keep_from_children(r) == 0, "%s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		_exit(vt_raw_head(r) == NULL ? 5 : 6);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 5, "%x", (unsigned)status);
	CHECK(vt_raw_head(r) && vt_raw_head(r)->pid == (uint32_t)getpid(), "and here it is lost, too");
	vt_raw_close(r, ltick(1));
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(a_child_is_quiet);
	RUN(children_get_nothing);
	remove_dir();
	return check_end();
}
