/* SPDX-License-Identifier: BSD-3-Clause */
/* Which jobs run: raw files that processes of this user have mapped for writing. */
#include "config.h"
#include "live/live.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "collector-plugin/raw/reader.h"

struct found {
	char **path;
	size_t n;
};

static int add_path(struct found *f, const char *path)
{
	char **more;
	size_t i;

	for (i = 0; i < f->n; i++) {
		if (!strcmp(f->path[i], path)) {
			return 0;
		}
	}
	more = realloc(f->path, (f->n + 1) * sizeof(*more));
	if (!more) {
		return -1;
	}
	f->path = more;
	f->path[f->n] = strdup(path);
	return f->path[f->n] ? (f->n++, 0) : -1;
}

static void free_found(struct found *f)
{
	while (f->n) {
		free(f->path[--f->n]);
	}
	free(f->path);
}

/* Raw files among what a process has mapped shared and for writing. */
static int look_at_process(int root, const char *pid, struct found *f)
{
	char name[64], line[PATH_MAX + 200], *path;
	struct vt_raw_head head;
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
		if (vt_raw_read_head(path, &head) == 0 && head.state == VT_RAW_RECORDING) {
			rc = add_path(f, path);
		}
	}
	if (maps) {
		fclose(maps);
	}
	return rc;
}

static int look_everywhere(int root, struct found *f)
{
	int fd = tkm_root_openat(root, "/proc"), rc = 0;
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;

	while (d && rc == 0 && (e = readdir(d))) {
		if (isdigit((unsigned char)e->d_name[0])) {
			rc = look_at_process(root, e->d_name, f);
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

/* The trace's name, however it was written, or that of the raw file. */
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

/* Keeps the files of one job. Returns how many jobs there are. */
static int choose(struct vtl_job *j, struct found *f, const char *what, const char *job)
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

int vtl_find(struct vtl_job *j, const char *what, struct tkm_err *err)
{
	struct found f = { NULL, 0 };
	struct vt_raw_head head;
	char list[600] = "", job[sizeof(head.job)] = "";
	int rc = 0, jobs = 0, pid = what && is_pid(what), root = tkm_root_open("/");

	memset(j, 0, sizeof(*j));
	if (pid) {
		rc = look_at_process(root, what, &f);
		if (f.n && vt_raw_read_head(f.path[0], &head) == 0) {
			snprintf(job, sizeof(job), "%s", head.job);
		}
	}
	/* the other ranks' files too */
	if (rc == 0 && (!pid || job[0])) {
		rc = look_everywhere(root, &f);
	}
	jobs = rc < 0 ? -1 : choose(j, &f, pid ? NULL : what, job);
	if (root >= 0) {
		close(root);
	}
	list_jobs(&f, list, sizeof(list));
	free_found(&f);
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

void vtl_free(struct vtl_job *j)
{
	while (j->files) {
		free(j->path[--j->files]);
	}
	free(j->path);
	free(j->column);
	free(j->row);
	free(j->cell);
	memset(j, 0, sizeof(*j));
}
