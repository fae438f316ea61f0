/* SPDX-License-Identifier: BSD-3-Clause */
/* A merge removes the temporary files of an earlier one that was killed, and nothing else: no file that a living process may be writing. */
#include "config.h"
#include "collector-plugin/merge/merge.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/process.h"
#include "collector-plugin/raw/writer.h"
#include "tests/lib/check.h"

static char dir[64], raw[100], trace[100];
static struct child {
	pid_t pid;
	int ready, go;
} writer, sampler;

static const char *in_dir(const char *form, ...)
{
	static char path[4][200];
	static int n;
	char name[100];
	va_list a;

	va_start(a, form);
	vsnprintf(name, sizeof(name), form, a);
	va_end(a);
	n = (n + 1) % 4;
	snprintf(path[n], sizeof(path[n]), "%s/%s", dir, name);
	return path[n];
}

static void make(const char *path)
{
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);

	CHECK(fd >= 0, "%s", path);
	close(fd);
}

static int there(const char *path)
{
	return access(path, F_OK) == 0;
}

/* A raw file of this process for t.stf, with one record. */
static void record(pid_t sampled_by)
{
	struct vt_raw_options o = { .path = raw,
		.block_size = 4096,
		.max_blocks = 64,
		.autoflush = 1,
		.timer = "clock_monotonic",
		.program = "p",
		.job = "job",
		.trace = trace,
		.hz = 1e9,
		.start = ltick(1000),
		.rank = -1 };
	struct tkm_err e = { TKM_OK, "" };
	struct vt_raw *r = vt_raw_create(&o, &e);

	if (!r) {
		printf("# %s\n", e.text);
		_exit(1);
	}
	vt_raw_head(r)->sampler_id = vt_raw_own_id();
	vt_raw_head(r)->sampler_id.pid = (uint32_t)sampled_by;
	vt_raw_head(r)->sampler_id.born = vt_raw_born((uint32_t)sampled_by);
	vt_raw_thread(r, 0, (uint64_t)getpid(), "main");
	vt_raw_close(r, ltick(2000));
}

/* A process that has recorded, if it is to, and lives until stop(). */
static void start(struct child *c, const char *name, int records)
{
	int ready[2], go[2];
	char byte = 0;

	CHECK(pipe(ready) == 0 && pipe(go) == 0, "pipes");
	fflush(stdout);
	c->pid = fork();
	if (c->pid == 0) {
		close(ready[0]);
		close(go[1]);
		prctl(PR_SET_NAME, name);
		if (records) {
			record(sampler.pid);
		}
		if (write(ready[1], "", 1) == 1 && read(go[0], &byte, 1) == 0) {
			_exit(0);
		}
		_exit(1);
	}
	close(ready[1]);
	close(go[0]);
	CHECK(c->pid > 0 && read(ready[0], &byte, 1) == 1, "%s did not start", name);
	close(ready[0]);
	c->go = go[1];
}

static void stop(struct child *c)
{
	int status = -1;

	close(c->go);
	CHECK(waitpid(c->pid, &status, 0) == c->pid && status == 0, "status %d", status);
}

static void merge(int settled)
{
	struct vt_merge_input in = { .path = raw };
	struct vt_merge_options o = { .trace = trace, .force = 1, .settled = settled };
	struct tkm_err e = { TKM_OK, "" };

	CHECK(vt_merge(&in, 1, &o, NULL, &e) == 0, "%s", e.text);
}

/* All that an interrupted merge of the writer's file, or of its sampler process, may have left. */
static void leave(int all)
{
	make(in_dir("t.stf.dcl.tmp-%d-1", (int)writer.pid));
	make(in_dir("p.dat.rank3"));
	if (all) {
		make(in_dir("t.stf.c.0.tmp-%d-12", (int)sampler.pid));
		/* of another trace, of another process, of another raw file, and names that only look so */
		make(in_dir("u.stf.dcl.tmp-%d-1", (int)writer.pid));
		make(in_dir("t.stf2.tmp-%d-1", (int)writer.pid));
		make(in_dir("t.stf.dcl.tmp-%d-1", (int)getpid()));
		make(in_dir("t.stf.dcl.tmp-%d-1x", (int)writer.pid));
		make(in_dir("t.stf.dcl.tmp-%d", (int)writer.pid));
		make(in_dir("pp.dat.rank3"));
		make(in_dir("p.dat.rank3x"));
		make(in_dir("p.dat.rank"));
	}
}

static void a_living_writer_keeps_its_files(void)
{
	start(&sampler, "vtsampler", 0);
	start(&writer, "p", 1);
	leave(1);
	merge(0);
	CHECK(there(in_dir("t.stf.dcl.tmp-%d-1", (int)writer.pid)), "its new trace is removed while it lives");
	CHECK(there(in_dir("p.dat.rank3")), "the copy of its raw file is removed while it lives");
	CHECK(there(in_dir("t.stf.c.0.tmp-%d-12", (int)sampler.pid)), "its sampler process's trace is removed");
}

static void with_all_settled_they_are_removed(void)
{
	merge(1);
	CHECK(!there(in_dir("t.stf.dcl.tmp-%d-1", (int)writer.pid)), "left there");
	CHECK(!there(in_dir("p.dat.rank3")), "left there");
	CHECK(there(in_dir("t.stf.c.0.tmp-%d-12", (int)sampler.pid)), "a sampler process that lives merges just now");
}

/* The raw file as it would be of a container that shares the folder, or as it was. births: of processes that are not these. */
static void put_elsewhere(uint64_t change, uint64_t births)
{
	struct vt_raw_head h;
	int fd = open(raw, O_RDWR);

	CHECK(fd >= 0 && read(fd, &h, sizeof(h)) == sizeof(h), "%s", raw);
	h.id.pid_namespace += change;
	h.sampler_id.pid_namespace += change;
	h.id.born += births;
	h.sampler_id.born += births;
	CHECK(pwrite(fd, &h, sizeof(h), 0) == sizeof(h), "%s", raw);
	close(fd);
}

/* Processes here that have the ids of a writer and a sampler process of another container are not these, unless born with them. */
static void an_id_alone_is_no_process(void)
{
	leave(0);
	put_elsewhere(1, 0);
	merge(0);
	CHECK(there(in_dir("t.stf.dcl.tmp-%d-1", (int)writer.pid)), "its new trace is removed while it lives");
	CHECK(there(in_dir("t.stf.c.0.tmp-%d-12", (int)sampler.pid)), "its sampler process's trace is removed");
	CHECK(there(in_dir("p.dat.rank3")), "the copy of its raw file is removed while it lives");
	put_elsewhere(0, 1);
	merge(0);
	CHECK(!there(in_dir("t.stf.dcl.tmp-%d-1", (int)writer.pid)), "left there");
	CHECK(!there(in_dir("t.stf.c.0.tmp-%d-12", (int)sampler.pid)), "left there");
	CHECK(!there(in_dir("p.dat.rank3")), "left there");
	put_elsewhere(-1, -1);
	make(in_dir("t.stf.c.0.tmp-%d-12", (int)sampler.pid));
}

static void nothing_is_left_of_those_that_ended(void)
{
	static const char *const others[] = { "u.stf.dcl.tmp-%d-1", "t.stf2.tmp-%d-1", "t.stf.dcl.tmp-%d-1x",
		"t.stf.dcl.tmp-%d", "pp.dat.rank3", "p.dat.rank3x", "p.dat.rank" };
	size_t i;

	leave(0);
	stop(&writer);
	stop(&sampler);
	merge(0);
	CHECK(!there(in_dir("t.stf.dcl.tmp-%d-1", (int)writer.pid)), "left there");
	CHECK(!there(in_dir("t.stf.c.0.tmp-%d-12", (int)sampler.pid)), "left there");
	CHECK(!there(in_dir("p.dat.rank3")), "left there");
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		char name[64];

		snprintf(name, sizeof(name), others[i], (int)writer.pid);
		CHECK(there(in_dir("%s", name)), "%s was removed", name);
	}
	CHECK(there(in_dir("t.stf.dcl.tmp-%d-1", (int)getpid())), "what another process left was removed");
}

static void what_is_merged_is_not_removed(void)
{
	char copy[110];

	snprintf(copy, sizeof(copy), "%s.rank0", raw);
	CHECK(link(raw, copy) == 0, "%s", copy);
	{
		struct vt_merge_input in[2] = { { .path = raw }, { .path = copy } };
		struct vt_merge_options o = { .trace = trace, .force = 1 };
		struct tkm_err e = { TKM_OK, "" };

		CHECK(vt_merge(in, 2, &o, NULL, &e) == 0, "%s", e.text);
	}
	CHECK(there(copy), "a raw file that was to be merged was removed");
	merge(0);
	CHECK(!there(copy), "left there");
}

int main(int argc, char **argv)
{
	char command[100];

	check_args(argc, argv);
	snprintf(dir, sizeof(dir), "/tmp/test_remove_leftovers.XXXXXX");
	if (!mkdtemp(dir)) {
		return 99;
	}
	snprintf(raw, sizeof(raw), "%s/p.dat", dir);
	snprintf(trace, sizeof(trace), "%s/t.stf", dir);
	RUN(a_living_writer_keeps_its_files);
	RUN(with_all_settled_they_are_removed);
	RUN(an_id_alone_is_no_process);
	RUN(nothing_is_left_of_those_that_ended);
	RUN(what_is_merged_is_not_removed);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return check_end() | (system(command) != 0);
}
