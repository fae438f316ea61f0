/* SPDX-License-Identifier: BSD-3-Clause */
/* A file appears whole or not at all. */
#include "config.h"
#include "base/err.h"
#include "base/newfile.h"
#include "base/rootfs.h"
#include "tests/lib/check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static int exists(const char *path)
{
	return access(path, F_OK) == 0;
}

/* Number of entries of a folder besides . and .. */
static int entries(const char *dir)
{
	char cmd[128];
	int n = -1;
	FILE *p;

	snprintf(cmd, sizeof(cmd), "ls -A %s | wc -l", dir);
	p = popen(cmd, "r");
	CHECK(p && fscanf(p, "%d", &n) == 1, "popen");
	pclose(p);
	return n;
}

static void files_appear_whole_or_not_at_all(void)
{
	char dir[] = "/tmp/tkm-new-XXXXXX", path[64], b[16] = "";
	struct tkm_newfile n;
	struct tkm_err e;
	struct stat st;
	int root;

	CHECK(mkdtemp(dir) != NULL, "mkdtemp");
	snprintf(path, sizeof(path), "%s/a b", dir);
	CHECK(tkm_newfile_begin(&n, path, 0, &e) == 0, "%s", e.text);
	fputs("one\n", n.f);
	CHECK(!exists(path), "there before it is complete");
	CHECK(tkm_newfile_commit(&n, &e) == 0, "%s", e.text);
	CHECK(exists(path) && entries(dir) == 1, "not there, or more than that");
	CHECK(tkm_newfile_begin(&n, path, 0, &e) < 0 && e.code == TKM_ERR_EXISTS && strstr(e.text, path), "%s", e.text);
	CHECK(tkm_newfile_begin(&n, path, 1, &e) == 0, "%s", e.text);
	fputs("two\n", n.f);
	tkm_newfile_abort(&n);
	CHECK_INT(entries(dir), 1);
	/* somebody else makes it between begin and commit */
	unlink(path);
	CHECK(tkm_newfile_begin(&n, path, 0, &e) == 0, "%s", e.text);
	fputs("mine\n", n.f);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	CHECK(tkm_newfile_commit(&n, &e) < 0 && e.code == TKM_ERR_EXISTS, "replaced without being told to");
	CHECK_INT(entries(dir), 1);
	CHECK(tkm_newfile_begin(&n, path, 1, &e) == 0, "%s", e.text);
	fputs("new\n", n.f);
	CHECK(tkm_newfile_commit(&n, &e) == 0, "%s", e.text);
	/* a device is written to, and stays; a folder is refused */
	CHECK(tkm_newfile_begin(&n, "/dev/full", 1, &e) == 0, "%s", e.text);
	fputs("text\n", n.f);
	CHECK(tkm_newfile_commit(&n, &e) < 0 && strstr(e.text, "/dev/full"), "a full device took a text");
	CHECK(tkm_newfile_begin(&n, "/dev/null", 0, &e) == 0, "%s", e.text);
	fputs("text\n", n.f);
	CHECK(tkm_newfile_commit(&n, &e) == 0, "%s", e.text);
	CHECK(stat("/dev/full", &st) == 0 && S_ISCHR(st.st_mode), "the device was replaced");
	CHECK(tkm_newfile_begin(&n, dir, 1, &e) < 0 && strstr(e.text, "no regular file"), "a folder was begun");
	root = tkm_root_open(dir);
	CHECK_STR(tkm_root_line(root, "a b", b, sizeof(b)), "new");
	close(root);
	CHECK(tkm_newfile_begin(&n, "/nowhere/x", 0, &e) < 0 && e.code == TKM_ERR_IO, "%s", e.text);
	tkm_newfile_abort(&n); /* nothing to do, no harm */
	unlink(path);
	rmdir(dir);
}

/* The terminal of a process that has none is a device that cannot be opened: an error, and nothing of it stays. */
static void a_device_that_cannot_be_opened(void)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct tkm_newfile n;
		struct tkm_err e = { TKM_OK, "" };

		_exit(setsid() > 0 && tkm_newfile_begin(&n, "/dev/tty", 1, &e) < 0 &&
					strstr(e.text, "cannot write /dev/tty")
				? 0
				: 1);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0, "%d", status);
}

/* A file that can be made again is told from a user's by its maker's mark. */
static void what_has_the_mark_may_be_replaced(void)
{
	static const char *const taken[] = { ".a", ".b", NULL };
	static const int before[] = { 0, 4092, 4093, 9000, 9000, 0 }, after[] = { 0, 9000, 9000, 4092, 4093, 5000 };
	char dir[] = "/tmp/tkm-new-XXXXXX", path[64];
	FILE *f;
	int i;

	CHECK(mkdtemp(dir) != NULL, "mkdtemp");
	snprintf(path, sizeof(path), "%s/x.b", dir);
	CHECK(!tkm_newfile_may_replace(path, "MARK", 0) && tkm_newfile_may_replace(path, "MARK", 1), "no file");
	for (i = 0; i < 6; i++) {
		f = fopen(path, "w");
		fprintf(f, "%*s%s%*s", before[i], "", i == 5 ? "MARC" : "MARK", after[i], "");
		fclose(f);
		CHECK_INT(tkm_newfile_may_replace(path, "MARK", 0), i == 0 || i == 1 || i == 3);
	}
	snprintf(path, sizeof(path), "%s/x", dir);
	CHECK(tkm_newname_is_taken(path, taken) && !tkm_newname_is_taken(path, taken + 2), "x.b is there");
	CHECK(!tkm_newfile_may_replace(dir, "MARK", 0), "a folder");
	CHECK(mkfifo(path, 0600) == 0 && !tkm_newfile_may_replace(path, "MARK", 0), "a pipe");
	tkm_remove_tree(dir);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(files_appear_whole_or_not_at_all);
	RUN(what_has_the_mark_may_be_replaced);
	RUN(a_device_that_cannot_be_opened);
	return check_end();
}
