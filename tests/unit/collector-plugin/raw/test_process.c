/* SPDX-License-Identifier: BSD-3-Clause */
/* When a process was born. */
#include "config.h"
#include "collector-plugin/raw/process.h"
#include "tests/lib/check.h"
#include "tests/lib/raw_file.h"

#include <fcntl.h>
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

static enum vt_raw_life of_child(const struct vt_raw_head *h)
{
	enum vt_raw_life process = vt_raw_life(h, &h->id);
	struct vt_raw_head other = *h;

	/* the same process as the sampler process of another one */
	other.sampler_id = h->id;
	other.id = (struct vt_raw_id){ .pid = 0 };
	CHECK_INT(vt_raw_life(&other, &other.sampler_id), process);
	CHECK_INT(vt_raw_is_here(&other), process != VT_RAW_UNSEEN);
	CHECK_INT(vt_raw_is_here(h), process != VT_RAW_UNSEEN);
	return process;
}

/* A process id in a raw file of another host or container can be that of another process here. */
static void a_process_lives_is_gone_or_is_not_seen(void)
{
	struct vt_raw_head head = { .born = 0 }, h;
	int before = open_files(), ready[2];
	pid_t pid;

	CHECK(pipe(ready) == 0, "pipe");
	pid = fork();
	if (pid == 0) {
		close(ready[1]);
		_exit(read(ready[0], &h, 1) == 0 ? 0 : 1);
	}
	close(ready[0]);
	head.id = vt_raw_own_id();
	memcpy(head.boot, head.id.boot, sizeof(head.boot));
	gethostname(head.host, sizeof(head.host) - 1);
	head.id.pid = (uint32_t)pid;
	head.id.born = vt_raw_born((uint32_t)pid);
	CHECK_INT(of_child(&head), VT_RAW_LIVES);
	h = head;
	h.host[0] ^= 1;
	CHECK(!vt_raw_is_here(&h), "a host that is only another name, as a container");
	h = head;
	h.id.born++;
	CHECK_INT(of_child(&h), VT_RAW_DEAD); /* the id was used again */
	h = head;
	h.id.pid_namespace++;
	CHECK_INT(of_child(&h), VT_RAW_LIVES); /* after unshare --pid, with the /proc of before */
	h.id.born++;
	CHECK_INT(of_child(&h), VT_RAW_UNSEEN); /* a container */
	h.id.pid_namespace = 0;
	CHECK_INT(of_child(&h), VT_RAW_UNSEEN);
	h = head;
	h.id.time_namespace++;
	CHECK_INT(of_child(&h), VT_RAW_UNSEEN);
	h = head;
	h.id.boot[0] ^= 1;
	CHECK_INT(of_child(&h), VT_RAW_UNSEEN); /* of another host than the file */
	h.boot[0] ^= 1;
	CHECK_INT(of_child(&h), VT_RAW_DEAD); /* before this host was started again */
	h.host[0] ^= 1;
	CHECK(!vt_raw_is_here(&h), "a file of another host");
	CHECK_INT(of_child(&h), VT_RAW_UNSEEN); /* another host */
	h = head;
	h.id.boot[0] = '\0';
	CHECK_INT(of_child(&h), VT_RAW_UNSEEN);
	close(ready[1]);
	waitpid(pid, NULL, 0);
	CHECK_INT(of_child(&head), VT_RAW_DEAD);
	h = head;
	h.id.time_namespace++;
	CHECK_INT(of_child(&h), VT_RAW_DEAD);
	CHECK_INT(open_files(), before);
}

/* The sampler process there holds its raw file until it ends, however it ends. */
static void a_process_of_another_container_lives_as_long_as_its_sampler_process(void)
{
	struct vt_raw_options o = { .path = path, .max_blocks = 64 };
	struct vt_raw *r = create((struct vt_raw_options){ .max_blocks = 64 });
	int ready[2], done[2],
		fd = open(path, O_RDWR | O_CLOEXEC); /* the program sends it, and a child of it keeps it */
	struct vt_raw_head h;
	struct tkm_err e;
	char byte;
	pid_t pid;

	CHECK(pipe(ready) == 0 && pipe(done) == 0, "pipe");
	CHECK(vt_raw_read_head(path, &h) == 0 && vt_raw_head_alive(path, &h), "seen");
	h.id.pid_namespace++;
	h.id.born++;
	CHECK_INT(vt_raw_life_of_file(path, &h), VT_RAW_UNSEEN);
	pid = fork();
	if (pid == 0) {
		struct vt_raw *s = vt_raw_attach(fd, &o, &e);

		/* a process that looks at the file and closes it takes nothing away */
		vt_raw_life_of_file(path, &h);
		close(done[1]);
		_exit(s && write(ready[1], "", 1) == 1 && read(done[0], &byte, 1) == 0 ? 0 : 1);
	}
	CHECK(read(ready[0], &byte, 1) == 1, "the sampler process");
	CHECK_INT(vt_raw_life_of_file(path, &h), VT_RAW_LIVES);
	CHECK(vt_raw_head_alive(path, &h), "so its file is still being written");
	h.id.boot[0] ^= 1;
	CHECK_INT(
		vt_raw_life_of_file(path, &h), VT_RAW_UNSEEN); /* of another host, whose locks may not be known here */
	h.id.boot[0] ^= 1;
	close(done[1]);
	close(done[0]);
	waitpid(pid, NULL, 0);
	CHECK_INT(vt_raw_life_of_file(path, &h), VT_RAW_UNSEEN);
	vt_raw_close(r, ltick(1));
	close(fd);
	close(ready[0]);
	close(ready[1]);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(when_it_was_born);
	RUN(a_process_lives_is_gone_or_is_not_seen);
	RUN(a_process_of_another_container_lives_as_long_as_its_sampler_process);
	remove_dir();
	return check_end();
}
