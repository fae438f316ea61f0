/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of another machine are read below its root only. */
#include "config.h"
#include "base/rootfs.h"
#include "tests/lib/check.h"

#include <errno.h>
#include <fcntl.h>

static void root_reads_stay_below_the_root(void)
{
	char dir[] = "/tmp/tkm-root-XXXXXX", path[64], b[16];
	int fd, root;

	CHECK(mkdtemp(dir) != NULL, "mkdtemp");
	snprintf(path, sizeof(path), "%s/name", dir);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	CHECK(write(fd, "value \nsecond line that is long\n", 32) > 0, "write");
	close(fd);
	root = tkm_root_open(dir);
	CHECK(root >= 0, "root");
	CHECK_STR(tkm_root_line(root, "/name", b, sizeof(b)), "value");
	memset(b, 'x', sizeof(b));
	CHECK_INT(tkm_root_read(root, "name", b, sizeof(b)), sizeof(b) - 1);
	CHECK_STR(b, "value \nsecond l");
	CHECK_STR(tkm_root_line(root, "/none", b, sizeof(b)), "");
	CHECK(tkm_root_openat(root, "/../etc/passwd") < 0 && errno == EINVAL, "left the root");
	CHECK(tkm_root_openat(root, "a/..") < 0 && errno == EINVAL, "left the root");
	close(root);
	unlink(path);
	rmdir(dir);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(root_reads_stay_below_the_root);
	return check_end();
}
