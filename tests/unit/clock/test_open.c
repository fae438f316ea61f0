/* SPDX-License-Identifier: BSD-3-Clause */
/* Only pages that can be trusted are opened; a writer that died is noticed. */
#include "config.h"
#include "base/err.h"
#include "clock/names.h"
#include "clock/page.h"
#include "include/clock.h"
#include "timers/timer.h"
#include "tests/lib/check.h"
#include "tests/unit/clock/job_page.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

static void a_killed_writer_is_noticed(void)
{
	struct tickmark_error err = { 0, "" };
	struct timespec nap = { 0, 120000000 };
	struct tickmark_clock *c;
	struct tickmark_time t;
	struct tkc_writer w;
	int ready[2], status;
	char one = 0;
	pid_t child;

	CHECK_INT(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (create(&w, "killed") == 0) {
			publish(&w, raw_now(), 0);
			one = 1;
		}
		(void)!write(ready[1], &one, 1);
		pause();
		_exit(0);
	}
	CHECK(read(ready[0], &one, 1) == 1 && one, "no page");
	c = open_job("killed", &err);
	CHECK(c != NULL, "%s", err.text);
	CHECK_INT(tickmark_now(c, &t), TICKMARK_OK);
	CHECK(create(&w, "killed") < 0, "a page whose writer lives was replaced");
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	nanosleep(&nap, NULL);
	CHECK_INT(tickmark_now(c, &t), TICKMARK_STALE);
	/* a new writer takes the place, and the reader follows */
	CHECK_INT(tickmark_refresh(c, &err), 0);
	CHECK_INT(create(&w, "killed"), 0);
	publish(&w, raw_now(), 0);
	CHECK_INT(tickmark_now(c, &t), TICKMARK_STALE);
	CHECK_INT(tickmark_refresh(c, &err), 1);
	CHECK_INT(tickmark_now(c, &t), TICKMARK_OK);
	tickmark_close(c);
	tkc_withdraw(&w);
	close(ready[0]);
	close(ready[1]);
}

static void a_migration_is_noticed(void)
{
	struct vmclock {
		uint32_t magic, size;
		uint16_t version;
		uint8_t counter, type;
		uint32_t sequence;
		uint64_t marker;
	};
	struct vmclock *device;
	struct tickmark_error err = { 0, "" };
	struct tickmark_options o = TICKMARK_OPTIONS;
	char path[128];
	struct tickmark_clock *c;
	struct tickmark_time t;
	struct tkc_writer w;
	int fd;

	snprintf(path, sizeof(path), "%s/vmclock", folder);
	fd = open(path, O_RDWR | O_CREAT, 0644);
	CHECK(fd >= 0 && ftruncate(fd, 4096) == 0, "%s", path);
	device = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	*device = (__typeof__(*device)){ .magic = 0x4b4c4356, .size = 104, .version = 1, .marker = 41 };
	setenv("TICKMARK_VMCLOCK", path, 1);
	CHECK_INT(create(&w, "vm"), 0);
	publish(&w, raw_now(), 0);
	c = open_job("vm", &err);
	CHECK(c != NULL, "%s", err.text);
	CHECK_INT(tickmark_now(c, &t), TICKMARK_OK);
	device->sequence = 1; /* it is happening */
	CHECK_INT(tickmark_now(c, &t), TICKMARK_DISRUPTED);
	device->sequence = 2;
	CHECK_INT(tickmark_now(c, &t), TICKMARK_OK);
	device->marker = 42;
	CHECK_INT(tickmark_now(c, &t), TICKMARK_DISRUPTED);
	publish(&w, raw_now(), 0);
	CHECK_INT(tickmark_now(c, &t), TICKMARK_OK);
	tickmark_close(c);
	/* who cannot look at it must say that this is all right */
	setenv("TICKMARK_VMCLOCK", "/nonexistent", 1);
	CHECK(open_job("vm", &err) == NULL, "opened without vmclock");
	o.name = "vm";
	o.folder = folder;
	o.flags = TICKMARK_WITHOUT_VMCLOCK;
	c = tickmark_open(&o, &err);
	CHECK(c != NULL, "%s", err.text);
	tickmark_close(c);
	tkc_withdraw(&w);
	unsetenv("TICKMARK_VMCLOCK");
	unlink(path);
	munmap(device, 4096);
}

/* In place of libc's: the boot id may not be read. */
static int is_boot_hidden;

int openat(int fd, const char *path, int flags, ...)
{
	if (is_boot_hidden && strstr(path, "random/boot_id")) {
		errno = EACCES;
		return -1;
	}
	return (int)syscall(SYS_openat, fd, path, flags, 0600);
}

/* Written and read where the boot id cannot be read, by machines that have the other names in common. */
static void an_unknown_boot_is_no_boot(void)
{
	struct tickmark_error err = { 0, "" };
	struct tickmark_clock *c;
	struct tkc_writer w;
	char key[24];

	is_boot_hidden = 1;
	tkc_domain(key);
	CHECK_STR(key, "");
	CHECK_INT(create(&w, "hidden"), 0);
	CHECK(open_job("hidden", &err) == NULL && strstr(err.text, "boot id"), "%s", err.text);
	is_boot_hidden = 0;
	CHECK(open_job("hidden", &err) == NULL, "its writer did not know the boot");
	is_boot_hidden = 1;
	tkc_withdraw(&w);
	is_boot_hidden = 0;
	CHECK_INT(create(&w, "shown"), 0);
	is_boot_hidden = 1;
	CHECK(open_job("shown", &err) == NULL, "its reader does not know the boot");
	is_boot_hidden = 0;
	c = open_job("shown", &err);
	CHECK(c != NULL, "%s", err.text);
	tickmark_close(c);
	tkc_withdraw(&w);
}

static void only_trusted_pages_are_read(void)
{
	struct tickmark_options o = TICKMARK_OPTIONS;
	struct tickmark_error err = { 0, "" };
	struct tkc_writer w;
	struct tkm_err why;
	struct tickmark_clock *c;
	struct stat st;

	CHECK_INT(create(&w, "trust"), 0);
	CHECK_INT(stat(w.path, &st), 0);
	CHECK_INT(st.st_mode & 07777, 0644);
	CHECK_INT(fchmod(w.fd, 0666), 0);
	CHECK(open_job("trust", &err) == NULL, "others may write it");
	CHECK_INT(fchmod(w.fd, 0644), 0);
	o.name = "trust";
	o.folder = folder;
	o.owner = (long)geteuid() + 1;
	CHECK(tickmark_open(&o, &err) == NULL, "it is somebody else's");
	CHECK_INT(chmod(folder, 0777), 0);
	CHECK(open_job("trust", &err) == NULL, "others may write the folder");
	CHECK_INT(chmod(folder, 0755), 0);
	w.page->domain[0] ^= 1;
	CHECK(open_job("trust", &err) == NULL, "it is another machine's");
	w.page->domain[0] ^= 1;
	w.page->version++;
	CHECK(open_job("trust", &err) == NULL, "it is of another version");
	w.page->version--;
	c = open_job("trust", &err);
	CHECK(c != NULL, "%s", err.text);
	tickmark_close(c);
	tkc_withdraw(&w);
	CHECK(tkc_create(&w, &(struct tkc_page_of){ folder, "x", TICKMARK_JOB, 1, "clock_realtime" }, &why) < 0,
		"a clock that can be set");
	CHECK(tkc_create(&w, &(struct tkc_page_of){ folder, "x", TICKMARK_JOB, 1, "sim:drift=1ppm" }, &why) < 0,
		"a clock that others cannot read");
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	snprintf(folder, sizeof(folder), "/tmp/test_clock.XXXXXX");
	if (!mkdtemp(folder) || chmod(folder, 0755) < 0) {
		printf("Bail out! no folder\n");
		return 99;
	}
	RUN(a_killed_writer_is_noticed);
	RUN(a_migration_is_noticed);
	RUN(only_trusted_pages_are_read);
	RUN(an_unknown_boot_is_no_boot);
	rmdir(folder);
	return check_end();
}
