/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the jobs that run, by the raw files that sampler processes of this user have open. A job without a sampler
 * process is found by the raw files that its processes have mapped. That list is read only if needed, because a
 * program cannot map or unmap memory while it is read. */
#include "config.h"
#include "live/live.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/rootfs.h"
#include "collector-plugin/raw/reader.h"

struct found {
	char **path;
	size_t n;
};

static int add_path(struct found *f, const char *path)
{
	size_t i;

	for (i = 0; i < f->n; i++) {
		if (!strcmp(f->path[i], path)) {
			return 0;
		}
	}
	return tkm_append_text(&f->path, &f->n, path);
}

static int add_if_recording(struct found *f, const char *path)
{
	struct vt_raw_head head;

	return vt_raw_read_head(path, &head) == 0 && head.state == VT_RAW_RECORDING ? add_path(f, path) : 0;
}

/* Finds raw files among the open files of a process, if it is a sampler process. */
static int look_at_sampler(int root, const char *pid, struct found *f)
{
	char name[64], path[PATH_MAX];
	struct dirent *e;
	ssize_t n;
	DIR *d;
	int rc = 0, fd;

	snprintf(name, sizeof(name), "/proc/%.20s/comm", pid);
	if (tkm_root_read(root, name, path, sizeof(path)) < 0 || !strstr(path, "vtsampler")) {
		return 0;
	}
	snprintf(name, sizeof(name), "/proc/%.20s/fd", pid);
	fd = tkm_root_openat(root, name);
	d = fd >= 0 ? fdopendir(fd) : NULL;
	while (d && rc == 0 && (e = readdir(d))) {
		n = readlinkat(dirfd(d), e->d_name, path, sizeof(path) - 1);
		path[n > 0 ? n : 0] = '\0';
		/* skip the files that the sampler reads about the program */
		if (path[0] == '/' && strncmp(path, "/proc/", 6) != 0 && strncmp(path, "/sys/", 5) != 0) {
			rc = add_if_recording(f, path);
		}
	}
	if (d) {
		closedir(d);
	}
	return rc;
}

/* Finds raw files among the files that a process has mapped shared and writable. */
static int look_at_process(int root, const char *pid, struct found *f)
{
	char name[64], line[PATH_MAX + 200], *path;
	FILE *maps;
	int rc = 0, fd;

	snprintf(name, sizeof(name), "/proc/%.20s/maps", pid);
	fd = tkm_root_openat(root, name);
	maps = fd >= 0 ? fdopen(fd, "r") : NULL;
	while (maps && rc == 0 && fgets(line, sizeof(line), maps)) {
		path = strchr(line, '/');
		if (!path || !strstr(line, " rw-s ") || !strncmp(path, "/dev/", 5)) {
			continue;
		}
		path[strcspn(path, "\n")] = '\0';
		rc = add_if_recording(f, path);
	}
	if (maps) {
		fclose(maps);
	}
	return rc;
}

static int look_everywhere(int root, struct found *f, int (*look)(int root, const char *pid, struct found *f))
{
	int fd = tkm_root_openat(root, "/proc"), rc = 0;
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;

	while (d && rc == 0 && (e = readdir(d))) {
		if (isdigit((unsigned char)e->d_name[0])) {
			rc = look(root, e->d_name, f);
		}
	}
	if (d) {
		closedir(d);
	}
	return rc;
}

static int is_pid(const char *what)
{
	return *what && strspn(what, "0123456789") == strlen(what);
}

/* Is `what` the name of the trace, however it is written, or that of the raw file? */
static int is_meant(const char *path, const struct vt_raw_head *head, const char *what)
{
	char name[PATH_MAX], folder[PATH_MAX];
	const char *slash = strrchr(what, '/');

	if (!strcmp(what, head->program) || !strcmp(what, head->trace) || !strcmp(what, path)) {
		return 1;
	}
	snprintf(name, sizeof(name), "%.*s", slash ? (int)(slash - what) : 1, slash ? what : ".");
	if (!realpath(*name ? name : "/", folder)) {
		return 0;
	}
	snprintf(name, sizeof(name), "%.3000s/%.1000s", strcmp(folder, "/") ? folder : "", slash ? slash + 1 : what);
	return !strcmp(name, head->trace) || !strcmp(name, path);
}

static void list_jobs(const struct found *f, char *text, size_t size)
{
	struct vt_raw_head head;
	size_t i, n = 0;

	for (i = 0; i < f->n && n < size; i++) {
		if (vt_raw_read_head(f->path[i], &head) == 0) {
			n += (size_t)snprintf(
				text + n, size - n, "%s%u (%.40s)", n ? ", " : "", head.pid, head.program);
		}
	}
}

/* Keeps the files of one job only. Returns how many jobs there are. */
static int choose_job(struct vtr_live_job *j, struct found *f, const char *what, const char *job)
{
	struct vt_raw_head head;
	size_t i, k = 0;
	int jobs = 0;

	for (i = 0; i < f->n; i++) {
		if (vt_raw_read_head(f->path[i], &head) == 0 && (!what || is_meant(f->path[i], &head, what)) &&
			(!*job || !strcmp(job, head.job)) && strcmp(j->job, head.job)) {
			jobs++;
			if (jobs == 1) {
				snprintf(j->job, sizeof(j->job), "%s", head.job);
				snprintf(j->program, sizeof(j->program), "%s", head.program);
				snprintf(j->trace, sizeof(j->trace), "%s", head.trace);
			}
		}
	}
	free(j->path);
	j->path = calloc(f->n + 1, sizeof(*j->path));
	for (i = 0; j->path && jobs == 1 && i < f->n; i++) {
		if (vt_raw_read_head(f->path[i], &head) == 0 && !strcmp(j->job, head.job)) {
			j->path[j->files++] = f->path[i];
		} else {
			f->path[k++] = f->path[i];
		}
	}
	if (jobs == 1 && j->path) {
		f->n = k;
	}
	return j->path ? jobs : -1;
}

/* Finds the job of a process: by its own raw file, else by one that it has mapped, as a child of fork() has. */
static int job_of_process(int root, const char *pid, const struct found *f, char *job, size_t size)
{
	struct found mapped = { NULL, 0 };
	struct vt_raw_head head;
	size_t i;
	int rc = 0;

	for (i = 0; i < f->n && !*job; i++) {
		if (vt_raw_read_head(f->path[i], &head) == 0 && head.pid == strtoul(pid, NULL, 10)) {
			snprintf(job, size, "%s", head.job);
		}
	}
	if (!*job) {
		rc = look_at_process(root, pid, &mapped);
		if (mapped.n && vt_raw_read_head(mapped.path[0], &head) == 0) {
			snprintf(job, size, "%s", head.job);
		}
		tkm_free_texts(mapped.path, mapped.n);
	}
	return rc;
}

/* Returns how many jobs match, or -1 if there is no memory. */
static int find_job(struct vtr_live_job *j, int root, const char *what, struct found *f)
{
	char job[sizeof(j->job)] = "";
	int jobs, pid = what && is_pid(what);

	if (look_everywhere(root, f, look_at_sampler) < 0 ||
		(pid && job_of_process(root, what, f, job, sizeof(job)) < 0)) {
		return -1;
	}
	if (pid && !*job) {
		return 0;
	}
	jobs = choose_job(j, f, pid ? NULL : what, job);
	if (jobs == 0) {
		jobs = look_everywhere(root, f, look_at_process) < 0 ? -1 : choose_job(j, f, pid ? NULL : what, job);
	}
	return jobs;
}

int vtr_live_find(struct vtr_live_job *j, const char *what, struct tkm_err *err)
{
	struct found f = { NULL, 0 };
	char list[600] = "";
	int jobs, root = tkm_root_open("/");

	memset(j, 0, sizeof(*j));
	jobs = find_job(j, root, what, &f);
	if (root >= 0) {
		close(root);
	}
	list_jobs(&f, list, sizeof(list));
	tkm_free_texts(f.path, f.n);
	if (jobs < 0) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
	}
	if (jobs == 0) {
		return tkm_fail(err, TKM_ERR_UNAVAIL, "%s%s",
			what ? what : "no program of yours is recorded here at this moment",
			what ? ": no such program is recorded here at this moment, or it is another user's" : "");
	}
	if (jobs > 1) {
		return tkm_fail(err, TKM_ERR_ARG, "several jobs run; name one by a process id: %s", list);
	}
	return 0;
}

void vtr_live_free(struct vtr_live_job *j)
{
	while (j->files) {
		free(j->path[--j->files]);
	}
	free(j->path);
	free(j->column);
	free(j->row);
	free(j->cell);
	free(j->order);
	memset(j, 0, sizeof(*j));
}
