/* SPDX-License-Identifier: BSD-3-Clause */
/* The samplers of a job on several hosts. Each has a small file beside the raw files, VT-host-JOB-HOST, and writes a
 * line into it every second. So the others know that the sampler runs, and whether its processes have ended. When
 * all have ended, the sampler with the lowest rank makes the trace of all raw files; then the files of the hosts are
 * removed. A sampler that has written nothing for 3 s counts as ended. If the folder is not shared, the samplers do
 * not see each other, and each makes the trace of its own host. */
#include "config.h"
#include "collector-plugin/vtsampler/vtsampler.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/vtsampler/network.h"

enum { HOSTS = 4096, LINE = 200 };
#define SILENT_NS 3000000000ll
#define WRITE_NS 1000000000ll
#define PREFIX ".VT-host-"

/* What another host has written, and when it last changed. */
struct other {
	char name[300], line[LINE];
	int64_t changed_ns;
	int lowest, ended, blocked, seen;
};

static struct {
	char dir[1100], name[300]; /* "": this job has no other hosts */
	int ranks, here, lowest;   /* of the job; of them seen on this host; the lowest of these */
	int local;                 /* ranks on this host according to the launcher; 0: unknown */
	unsigned long count;
	char state[8];
	int blocked; /* all ranks here are */
	int64_t written_ns, ended_ns;
	struct other *other;
	int n;
	unsigned char *known; /* ranks that have been here */
	int has_network;      /* their node processes speak over it, and no files are written */
} hosts = { .lowest = -1 };

/* The launcher chooses the job's name, which may contain any character. */
static void name_files(const struct vt_measured *p)
{
	char host[256] = "", *c;

	snprintf(hosts.dir, sizeof(hosts.dir), "%s", p->c.raw_path);
	*(strrchr(hosts.dir, '/') + 1) = '\0';
	gethostname(host, sizeof(host) - 1);
	snprintf(hosts.name, sizeof(hosts.name), PREFIX "%.60s-%.200s", p->c.job, host);
	for (c = hosts.name; *c; c++) {
		*c = *c == '/' || *c == '\n' ? '_' : *c;
	}
}

void vt_hosts_add_process(const struct vt_measured *p)
{
	const struct vt_raw_head *h = p->ended ? NULL : vt_raw_head(p->c.pub.raw);

	if (!h || h->rank < 0 || h->rank >= h->ranks || h->ranks > 1 << 20) {
		return;
	}
	if (!hosts.known) {
		hosts.known = calloc((size_t)h->ranks, 1);
		hosts.ranks = hosts.known ? h->ranks : 0;
	}
	if (h->rank < hosts.ranks && !hosts.known[h->rank]) {
		const char *local = vt_measured_text(p, "local", 0);

		hosts.known[h->rank] = 1;
		hosts.local = local ? atoi(local) : 0;
		hosts.here++;
		hosts.lowest = hosts.lowest < 0 || h->rank < hosts.lowest ? h->rank : hosts.lowest;
		name_files(p);
	}
}

static int are_several(void)
{
	return hosts.known && (hosts.local ? hosts.local : hosts.here) < hosts.ranks;
}

int vt_hosts_are_several(void)
{
	return are_several() && !hosts.has_network;
}

int vt_hosts_unseen(void)
{
	return are_several() && hosts.n == 0;
}

void vt_hosts_use_network(void)
{
	vt_hosts_end(0);
	hosts.has_network = 1;
}

static int open_in(const char *name, int flags)
{
	char path[1500];

	snprintf(path, sizeof(path), "%s%s", hosts.dir, name);
	return open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
}

static int is_my_host_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
}

/* Writes the state at once if it has changed. */
static void write_state(int64_t now, const char *state)
{
	char line[LINE];
	int fd, n;

	if (!vt_hosts_are_several() || (now - hosts.written_ns < WRITE_NS && !strcmp(state, hosts.state))) {
		return;
	}
	hosts.written_ns = now;
	snprintf(hosts.state, sizeof(hosts.state), "%s", state);
	n = snprintf(line, sizeof(line), "lowest rank %10d %-7s %20lu\n", hosts.lowest, state, hosts.count++);
	fd = open_in(hosts.name, O_WRONLY | O_CREAT);
	/* if the write fails, other hosts do not see this host */
	if (fd >= 0 && is_my_host_file(fd) && pwrite(fd, line, (size_t)n, 0) != n) {
		hosts.written_ns = 0;
	}
	if (fd >= 0) {
		close(fd);
	}
}

void vt_hosts_write_alive(int64_t now)
{
	write_state(now, hosts.blocked ? "blocked" : "running");
}

static struct other *find_host(const char *name)
{
	struct other *more;
	int i;

	for (i = 0; i < hosts.n && strcmp(hosts.other[i].name, name); i++) {
	}
	if (i < hosts.n) {
		return &hosts.other[i];
	}
	more = hosts.n < HOSTS ? TKM_APPEND(hosts.other, hosts.n) : NULL;
	if (more) {
		more->lowest = -1;
		snprintf(more->name, sizeof(more->name), "%s", name);
	}
	return more;
}

static void read_one(const char *name, int64_t now)
{
	int fd = open_in(name, O_RDONLY), lowest;
	char line[LINE] = "", what[8];
	struct other *o;

	if (fd >= 0 && is_my_host_file(fd) && pread(fd, line, sizeof(line) - 1, 0) > 0 &&
		sscanf(line, "lowest rank %d %7s", &lowest, what) == 2 && (o = find_host(name))) {
		o->seen = 1;
		if (strcmp(o->line, line)) {
			memcpy(o->line, line, sizeof(line));
			o->changed_ns = now;
			o->lowest = lowest;
			o->ended = !strcmp(what, "ended");
			o->blocked = !strcmp(what, "blocked");
		}
	}
	if (fd >= 0) {
		close(fd);
	}
}

/* Is it the file of another host of this job? */
static int is_other(const char *name)
{
	size_t n = strlen(hosts.name);
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	n -= strlen(host) < n ? strlen(host) : n;
	return !strncmp(name, hosts.name, n) && strcmp(name, hosts.name) != 0;
}

static void read_others(int64_t now)
{
	DIR *d = opendir(hosts.dir);
	struct dirent *e;
	int i;

	for (i = 0; i < hosts.n; i++) {
		hosts.other[i].seen = 0;
	}
	while (d && (e = readdir(d))) {
		if (is_other(e->d_name)) {
			read_one(e->d_name, now);
		}
	}
	if (d) {
		closedir(d);
	}
}

enum vt_hosts_turn vt_hosts_take_turn(int64_t now)
{
	int i, waiting = 0, first = 1, known = 0;

	if (!vt_hosts_are_several()) {
		return VT_HOSTS_MERGE;
	}
	hosts.ended_ns = hosts.ended_ns ? hosts.ended_ns : now;
	write_state(now, "ended");
	read_others(now);
	for (i = 0; i < hosts.n; i++) {
		const struct other *o = &hosts.other[i];
		int alive = o->seen && now - o->changed_ns < SILENT_NS;

		known += o->seen;
		waiting += alive && !o->ended;
		first &= !(alive && o->lowest < hosts.lowest);
	}
	/* those that are about to write their first line, and the one that makes the trace and then removes its file */
	if (waiting || (!known && now - hosts.ended_ns < SILENT_NS)) {
		return VT_HOSTS_WAIT;
	}
	return first ? VT_HOSTS_MERGE : VT_HOSTS_WAIT;
}

int vt_hosts_ranks_here(void)
{
	return hosts.local ? hosts.local : hosts.here;
}

int vt_hosts_all_blocked(int64_t now, int blocked)
{
	int i, seen = 0, all = 1;

	hosts.blocked = blocked;
	if (hosts.has_network) {
		return vt_network_all_blocked(blocked);
	}
	if (!vt_hosts_are_several() || !blocked) {
		return blocked;
	}
	vt_hosts_write_alive(now);
	read_others(now);
	for (i = 0; i < hosts.n; i++) {
		seen += hosts.other[i].seen;
		all &= !hosts.other[i].seen || hosts.other[i].blocked || hosts.other[i].ended;
	}
	return seen > 0 && all;
}

void vt_hosts_end(int made)
{
	char path[1500];
	int i;

	if (!vt_hosts_are_several()) {
		return;
	}
	for (i = -1; i < (made ? hosts.n : 0); i++) {
		snprintf(path, sizeof(path), "%s%s", hosts.dir, i < 0 ? hosts.name : hosts.other[i].name);
		unlink(path);
	}
}
