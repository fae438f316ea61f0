/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of a trace: existing ones are kept, and what does not fit is an error. */
#include "config.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"
#include "tests/lib/stf_every.h"
#include "tests/unit/stf/golden.h"

#include <errno.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* ---- files ---- */

static void existing_files_are_kept(void)
{
	struct stf_writer_options o = { .resolution = 1 };
	struct stf_writer *w;
	struct stf_leave_function m = { 0 };
	char *p;
	size_t n;

	clean();
	spit(in_dir("a.stf"), "mine", 4);
	CHECK(!stf_writer_create(in_dir("a.stf"), &o, &err), "base");
	CHECK_INT(err.code, STF_ERR_EXISTS);
	CHECK_INT(files(dir, "", "", 0), 1);
	clean();
	spit(in_dir("a.stf.f.0.anc"), "mine", 4);
	w = stf_writer_create(in_dir("a.stf"), &o, &err);
	CHECK_INT(stf_write_leave_function(w, &m), -1);
	CHECK_INT(stf_writer_error(w)->code, STF_ERR_EXISTS);
	CHECK_INT(stf_writer_finish(w, 0, 0, &err), -1);
	CHECK_INT(files(dir, "", "", 0), 1);
	/* came to be there while we wrote */
	clean();
	w = stf_writer_create(in_dir("a.stf"), &o, &err);
	CHECK_INT(stf_write_leave_function(w, &m), 0);
	/* few data need no anchors, and so no file is made for them */
	CHECK_INT(files(dir, "a.stf.f.0", "", 0), 1);
	spit(in_dir("a.stf"), "mine", 4);
	CHECK_INT(stf_writer_finish(w, 0, 0, &err), -1);
	CHECK_INT(err.code, STF_ERR_EXISTS);
	p = slurp(in_dir("a.stf"), &n);
	CHECK(n == 4 && memcmp(p, "mine", 4) == 0, "overwritten");
	free(p);
	CHECK_INT(files(dir, "", "", 0), 1);
	/* force replaces, at the end only */
	o.force = 1;
	w = stf_writer_create(in_dir("a.stf"), &o, &err);
	free(slurp(in_dir("a.stf"), &n));
	CHECK_INT(n, 4);
	CHECK_INT(stf_writer_finish(w, 0, 0, &err), 0);
	free(slurp(in_dir("a.stf"), &n));
	CHECK(n > 100, "%zu", n);
	/* and giving up leaves nothing of ours */
	clean();
	w = stf_writer_create(in_dir("a.stf"), &o, &err);
	stf_write_leave_function(w, &m);
	stf_writer_abort(w);
	CHECK_INT(files(dir, "", "", 0), 0);
}

/* Writes more than fits; what is left must be nothing. 0: as it should be. */
static int fill_up(const char *where, int want)
{
	struct stf_writer_options o = { .resolution = 1 };
	struct stf_opaque_data m = { .size_1_1 = 100000 };
	uint8_t *zero = calloc(1, m.size_1_1);
	char path[256];
	struct stf_writer *w;
	int i, rc = 0;

	m.data = zero;
	snprintf(path, sizeof(path), "%s/full.stf", where);
	w = stf_writer_create(path, &o, &err);
	for (i = 0; w && i < 100 && rc == 0; i++) {
		m.time++;
		rc = stf_write_opaque_data(w, &m);
	}
	free(zero);
	if (!w || rc != -1 || stf_write_opaque_data(w, &m) != -1 || stf_writer_finish(w, 0, 0, &err) != -1) {
		return 1;
	}
	if (err.code != STF_ERR_IO || !strstr(err.file, "full.stf.x.0") || !strstr(err.text, strerror(want))) {
		return 2;
	}
	return files(where, "full", "", 0) ? 3 : 0;
}

static void file_size_limit(void)
{
	struct rlimit lim = { 3 << 20, 3 << 20 };
	int status = -1;
	pid_t pid = fork();

	clean();
	if (pid == 0) {
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &lim);
		_exit(fill_up(dir, EFBIG));
	}
	waitpid(pid, &status, 0);
	CHECK_INT(status, 0);
}

static void disk_full(void)
{
	clean();
	CHECK_INT(mkdir(in_dir("mnt"), 0700), 0);
	CHECK_INT(mount("none", in_dir("mnt"), "tmpfs", 0, "size=3m"), 0);
	CHECK_INT(fill_up(in_dir("mnt"), ENOSPC), 0);
	umount(in_dir("mnt"));
	rmdir(in_dir("mnt"));
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(existing_files_are_kept);
	RUN(file_size_limit);
	clean();
	if (can_mount()) {
		RUN(disk_full);
	} else {
		SKIP("disk_full", "may not mount a small tmpfs here");
	}
	clean();
	rmdir(dir);
	return check_end();
}
