/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the raw files of a run by its protocol (NAME.prot). */
#include "config.h"
#include "collector-plugin/merge/merge.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/reader.h"

struct found {
	char job[sizeof(((struct vt_raw_head *)0)->job)], raw[1100]; /* what the protocol states; "" if it does not */
	char **path;
	size_t n;
};

/* Copies the text between the first and the last double quote of a line that begins with `key`. */
static void copy_quoted_text(const char *line, const char *key, char *to, size_t size)
{
	const char *from = strncmp(line, key, strlen(key)) ? NULL : strchr(line, '"'),
		   *end = from ? strrchr(line, '"') : NULL;

	if (from && end > from && (size_t)(end - from) <= size) {
		memcpy(to, from + 1, (size_t)(end - from) - 1);
		to[end - from - 1] = '\0';
	}
}

/* Returns 0; 1: the file is no protocol; or -1. */
static int read_protocol(const char *prot, struct found *f, struct tkm_err *err)
{
	FILE *file = fopen(prot, "re");
	char line[4096] = "";
	int is;

	if (!file) {
		return tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot open %s", prot);
	}
	is = fgets(line, sizeof(line), file) && !strncmp(line, "# Protocol of a run of ", 23);
	while (is && fgets(line, sizeof(line), file)) {
		copy_quoted_text(line, "INFO JOB ", f->job, sizeof(f->job));
		copy_quoted_text(line, "INFO RAWFILE ", f->raw, sizeof(f->raw));
	}
	fclose(file);
	return is ? 0 : 1;
}

static int compare_raw_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds the raw files of the job that are in the folder of `beside`; n is the length of the folder's name with its
 * slash. */
static int find_raw_files(struct found *f, const char *beside, size_t n, struct tkm_err *err)
{
	char *folder = strndup(n ? beside : ".", n ? n : 1), path[4400];
	DIR *d = folder ? opendir(folder) : NULL;
	struct vt_raw_head h;
	struct dirent *e;
	int rc = 0;

	while (d && rc == 0 && (e = readdir(d))) {
		if (!vt_raw_is_name(e->d_name) ||
			snprintf(path, sizeof(path), "%.*s%s", (int)n, beside, e->d_name) >= (int)sizeof(path) ||
			vt_raw_read_head(path, &h) < 0 || strncmp(h.job, f->job, sizeof(h.job)) ||
			h.state == VT_RAW_MERGED) {
			continue;
		}
		rc = tkm_append_text(&f->path, &f->n, path) < 0 ? tkm_fail(err, TKM_ERR_NOMEM, "out of memory") : 0;
	}
	if (d) {
		closedir(d);
	}
	free(folder);
	return rc;
}

static size_t folder_of_trace(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

static int sort_found(struct found *f, char ***path, size_t *n)
{
	qsort(f->path, f->n, sizeof(*f->path), compare_raw_names);
	*path = f->path;
	*n = f->n;
	return 0;
}

int vt_merge_find_in(const char *folder, const char *job, char ***path, size_t *n, struct tkm_err *err)
{
	struct found f = { .n = 0 };

	snprintf(f.job, sizeof(f.job), "%s", job);
	if (find_raw_files(&f, folder, strlen(folder), err) < 0) {
		tkm_free_texts(f.path, f.n);
		return -1;
	}
	return sort_found(&f, path, n);
}

int vt_merge_find(const char *prot, char ***path, size_t *n, struct tkm_err *err)
{
	struct found f = { .n = 0 };
	int rc = read_protocol(prot, &f, err);
	struct vt_raw_head h;
	size_t left;

	*path = NULL;
	*n = 0;
	if (rc == 0 && !f.job[0]) {
		rc = tkm_fail(err, TKM_ERR_DATA, "%s has no line INFO JOB: the protocol of another version?", prot);
	}
	rc = rc ? rc : find_raw_files(&f, prot, folder_of_trace(prot), err);
	if (rc == 0 && f.n == 0 && f.raw[0]) {
		rc = find_raw_files(&f, f.raw, folder_of_trace(f.raw), err);
	}
	if (rc == 0 && f.n == 0) {
		rc = tkm_fail(err, TKM_ERR_DATA,
			"%s: no raw files (" VT_RAW_PREFIX "*" VT_RAW_SUFFIX
			") of its job %s, neither in its folder nor where they were "
			"recorded; the trace "
			"may have been made already",
			prot, f.job);
	}
	if (rc) {
		tkm_free_texts(f.path, f.n);
		return rc;
	}
	left = vt_raw_leave_out(f.path, &f.n, vt_raw_read_head(f.raw, &h) == 0 ? h.launch : 0);
	for (; left > 0; left--) {
		free(f.path[f.n + left - 1]);
	}
	return sort_found(&f, path, n);
}
