/* SPDX-License-Identifier: BSD-3-Clause */
/* The raw file in its folder: its name in the process that maps it, another file in its place, a limit on the size of files. */
#include "config.h"
#include "collector-plugin/raw/format.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector-plugin/raw/writer.h"
#include "tests/lib/check.h"
#include "tests/lib/raw_file.h"

/* elfutils reads no stack of a process that maps one file under two names. */
static void mapped_under_one_name(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .max_blocks = 4000 });
	char line[400], other[150];
	int pieces = 0, elsewhere = 0;
	FILE *f;

	write_some(vt_raw_stream(r), 1, 3000, 10);
	snprintf(other, sizeof(other), "%s/#", dir);
	f = fopen("/proc/self/maps", "r");
	while (f && fgets(line, sizeof(line), f)) {
		pieces += strstr(line, path) != NULL;
		elsewhere += strstr(line, other) != NULL || strstr(line, "(deleted)") != NULL;
	}
	if (f) {
		fclose(f);
	}
	CHECK(f && pieces >= 2 && elsewhere == 0, "%d pieces of the file, %d under other names", pieces, elsewhere);
	vt_raw_close(r, ltick(1));
}

/* A file that was replaced by another one of the same name is not written to, and no descriptor stays open. */
static void replaced(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .max_blocks = 4000 });
	int before = open_files(), fd;
	struct stat st;

	write_some(vt_raw_stream(r), 1, 100, 10);
	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	close(fd);
	write_some(vt_raw_stream(r), 101, 30000, 10);
	CHECK(vt_raw_stopped(r) == ESTALE && vt_raw_lost(r) > 0, "%d", vt_raw_stopped(r));
	CHECK(stat(path, &st) == 0 && st.st_size == 0, "%lld bytes", (long long)st.st_size);
	CHECK_INT(open_files(), before);
}

/* The program's limit on the size of files: an error, and not the signal that the kernel sends. */
static void limited_by_the_program(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .max_blocks = 4000 });
	struct rlimit l = { 100000, 100000 };
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGXFSZ, SIG_DFL);
		setrlimit(RLIMIT_FSIZE, &l);
		write_some(vt_raw_stream(r), 1, 30000, 10);
		_exit(vt_raw_stopped(r) == EFBIG && vt_raw_size(r) <= 100000 ? 5 : 6);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 5, "%x", (unsigned)status);
	vt_raw_close(r, ltick(1));
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(mapped_under_one_name);
	RUN(replaced);
	RUN(limited_by_the_program);
	remove_dir();
	return check_end();
}
