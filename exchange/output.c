/* SPDX-License-Identifier: BSD-3-Clause */
/* Output that appears whole or not at all: made in a directory beside its place. */
#include "config.h"
#include "exchange/private.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 20 };

static int is_stdout(const struct xch_writer *w)
{
	return !strcmp(w->target, "-");
}

FILE *xch_create(struct xch_writer *w, const char *name, struct tkm_err *err)
{
	char *path = NULL;
	FILE *f;

	if (is_stdout(w)) {
		return stdout;
	}
	if (asprintf(&path, "%s/%s", w->dir, name) < 0) {
		xch_fail_memory(err, w->target);
		return NULL;
	}
	f = fopen(path, "wxe");
	if (!f) {
		tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot create %s", path);
	} else {
		setvbuf(f, NULL, _IOFBF, BUFFER);
	}
	free(path);
	return f;
}

int xch_close(struct xch_writer *w, FILE *f, const char *name, struct tkm_err *err)
{
	int bad = fflush(f) != 0 || ferror(f), saved = errno;

	if (!is_stdout(w) && fclose(f) != 0 && !bad) {
		bad = 1;
		saved = errno;
	}
	return bad ? tkm_fail_errno(err, TKM_ERR_IO, saved, "cannot write %s", is_stdout(w) ? "standard output" : name)
		   : 0;
}

/* Removes a file, or a directory and what is in it. */
static void remove_all(const char *path)
{
	struct dirent *d;
	DIR *dir;
	char *sub;

	if (unlink(path) == 0 || (errno != EISDIR && errno != EPERM)) {
		return;
	}
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		if (strcmp(d->d_name, ".") && strcmp(d->d_name, "..") &&
			asprintf(&sub, "%s/%s", path, d->d_name) >= 0) {
			remove_all(sub);
			free(sub);
		}
	}
	if (dir) {
		closedir(dir);
	}
	rmdir(path);
}

static int refuse_existing(const char *path, struct tkm_err *err)
{
	return tkm_fail(err, TKM_ERR_EXISTS, "%s exists; --force replaces it", path);
}

/* Where the target's entries go: its directory, with a slash. */
static char *place_of(const struct xch_writer *w, const char *entry)
{
	size_t n = strlen(w->target);
	const char *slash;
	char *path;

	while (n > 1 && w->target[n - 1] == '/') {
		n--;
	}
	slash = memrchr(w->target, '/', n);
	return asprintf(&path, "%.*s%s", slash ? (int)(slash - w->target + 1) : 0, w->target, entry) < 0 ? NULL : path;
}

/* Gives one entry of w->dir its name. */
static int move(const struct xch_writer *w, const char *entry, struct tkm_err *err)
{
	char *from = NULL, *to = place_of(w, entry), *old = NULL;
	struct stat st;
	int rc = 0;

	if (!to || asprintf(&from, "%s/%s", w->dir, entry) < 0 || asprintf(&old, "%s/.old", w->dir) < 0) {
		rc = xch_fail_memory(err, w->target);
	} else if (lstat(to, &st) == 0 && !w->o->force) {
		rc = refuse_existing(to, err);
	} else if (lstat(to, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && !S_ISLNK(st.st_mode)) {
		rc = tkm_fail(err, TKM_ERR_IO, "cannot replace %s: it is no regular file", to);
	} else if (lstat(to, &st) == 0 && S_ISDIR(st.st_mode) && rename(to, old) < 0) {
		rc = tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot replace %s", to);
	} else if (rename(from, to) < 0) {
		rc = tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot name %s", to);
		rename(old, to);
	}
	if (old) {
		remove_all(old);
	}
	free(from);
	free(to);
	free(old);
	return rc;
}

static int hidden(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* All of w->dir to its place; what is there already is looked at before anything is moved. */
int xch_output_commit(const struct xch_writer *w, struct tkm_err *err)
{
	struct dirent **list = NULL;
	int n = scandir(w->dir, &list, hidden, alphasort), i, rc = 0;
	struct stat st;
	char *to;

	if (n < 0) {
		return tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot read %s", w->dir);
	}
	for (i = 0; i < n && rc == 0 && !w->o->force; i++) {
		to = place_of(w, list[i]->d_name);
		if (!to || lstat(to, &st) == 0) {
			rc = to ? refuse_existing(to, err) : xch_fail_memory(err, w->target);
		}
		free(to);
	}
	for (i = 0; i < n && rc == 0; i++) {
		rc = move(w, list[i]->d_name, err);
	}
	while (n-- > 0) {
		free(list[n]);
	}
	free(list);
	return rc;
}

/* The names, and the directory in which all is written. */
int xch_output_begin(struct xch_writer *w, struct tkm_err *err)
{
	size_t n = strlen(w->target), k = strlen(w->format->suffix);
	struct stat st;
	const char *slash;

	if (is_stdout(w)) {
		if (!w->format->stream) {
			return tkm_fail(err, TKM_ERR_ARG, "%s is not one stream and cannot go to standard output",
				w->format->name);
		}
		w->base = strdup("-");
		w->stem = strdup("-");
		return w->base && w->stem ? 0 : xch_fail_memory(err, w->target);
	}
	while (n > 1 && w->target[n - 1] == '/') {
		n--;
	}
	slash = memrchr(w->target, '/', n);
	w->base = slash ? strndup(slash + 1, n - (size_t)(slash + 1 - w->target)) : strndup(w->target, n);
	w->stem = w->base ? strdup(w->base) : NULL;
	if (!w->stem || asprintf(&w->dir, "%.*s.XXXXXX", (int)n, w->target) < 0) {
		w->dir = NULL;
		return xch_fail_memory(err, w->target);
	}
	n = strlen(w->stem);
	if (n > k && !strcasecmp(w->stem + n - k, w->format->suffix)) {
		w->stem[n - k] = 0;
	}
	if (lstat(w->target, &st) == 0 && !w->o->force) {
		free(w->dir);
		w->dir = NULL;
		return refuse_existing(w->target, err);
	}
	if (!mkdtemp(w->dir)) {
		tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot write beside %s", w->target);
		free(w->dir);
		w->dir = NULL;
		return -1;
	}
	return 0;
}

void xch_output_end(struct xch_writer *w)
{
	if (w->dir) {
		remove_all(w->dir);
	}
	free(w->dir);
	free(w->base);
	free(w->stem);
	w->dir = w->base = w->stem = NULL;
}
