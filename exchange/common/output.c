/* SPDX-License-Identifier: BSD-3-Clause */
/* Output that appears as a whole or not at all: it is made in a new directory beside its place, and moved at the
 * end. */
#include "config.h"
#include "exchange/common/private.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/newfile.h"
#include "base/newname.h"

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
	int bad = f && (fflush(f) != 0 || ferror(f)), saved = errno;

	if (f && !is_stdout(w) && fclose(f) != 0 && !bad) {
		bad = 1;
		saved = errno;
	}
	return bad ? tkm_fail_errno(err, TKM_ERR_IO, saved, "cannot write %s", is_stdout(w) ? "standard output" : name)
		   : 0;
}

/* Is this directory empty, or, judging by its content, a trace in CTF, LTTng or OTF2? */
static int is_archive(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *d;
	int all = dir != NULL, known = 0;

	while (dir && (d = readdir(dir))) {
		known |= !strcmp(d->d_name, "metadata") || !strcmp(d->d_name, "control") ||
			!strcmp(d->d_name, "traces.otf2");
		all = all && d->d_name[0] == '.';
	}
	if (dir) {
		closedir(dir);
	}
	return all || known;
}

/* Checks the place of an entry of the output, a directory or a file: is it free, or may its content be replaced?
 * A file that no conversion made, such as a program of the same name, is never replaced, whatever the options
 * are. */
static int may_take(const struct xch_writer *w, const char *to, int directory, struct tkm_err *err)
{
	struct stat st;

	if (lstat(to, &st) < 0) {
		return 0;
	}
	if (directory ? !S_ISDIR(st.st_mode) || !is_archive(to) : !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) {
		return tkm_fail(err, TKM_ERR_EXISTS, "%s is in the way and is no %s: give another name than %s", to,
			directory ? "such archive" : "file", w->target);
	}
	return w->replace ? 0 : tkm_fail(err, TKM_ERR_EXISTS, "%s exists; --force replaces it", to);
}

/* Sets the names of one entry of w->dir, and checks its place. */
static int name_entry(const struct xch_writer *w, const char *entry, struct tkm_newname *name, struct tkm_err *err)
{
	size_t n = strlen(w->target);
	char *from, *to = NULL;
	const char *slash;
	struct stat st;

	while (n > 1 && w->target[n - 1] == '/') {
		n--;
	}
	slash = memrchr(w->target, '/', n);
	if (asprintf(&from, "%s/%s", w->dir, entry) < 0 ||
		asprintf(&to, "%.*s%s", slash ? (int)(slash - w->target + 1) : 0, w->target, entry) < 0 ||
		tkm_newname_init(name, to, from, w->replace) < 0) {
		return xch_fail_memory(err, w->target);
	}
	return lstat(from, &st) < 0 ? tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot read %s", from)
				    : may_take(w, to, S_ISDIR(st.st_mode), err);
}

static int is_no_hidden_file(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* Gives all entries their names, or none of them. */
static int publish_all(struct tkm_newname *name, int n, struct tkm_err *err)
{
	int i, rc = 0;

	for (i = 0; i < n && rc == 0; i++) {
		rc = tkm_newname_set_aside(&name[i]) < 0
			? tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot replace %s", name[i].path)
			: 0;
	}
	for (i = 0; i < n && rc == 0; i++) {
		rc = tkm_newname_publish(&name[i]) < 0
			? tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot name %s", name[i].path)
			: 0;
	}
	for (i = 0; i < n; i++) {
		if (rc < 0) {
			tkm_newname_discard(&name[i]);
		} else {
			tkm_newname_keep(&name[i]);
		}
	}
	return rc;
}

/* Moves all entries of w->dir to their places. All places are checked before anything is moved. */
int xch_output_commit(const struct xch_writer *w, struct tkm_err *err)
{
	struct dirent **list = NULL;
	int n = scandir(w->dir, &list, is_no_hidden_file, alphasort), i, rc = 0;
	struct tkm_newname *name;

	if (n < 0) {
		return tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot read %s", w->dir);
	}
	name = calloc((size_t)n + 1, sizeof(*name));
	rc = name ? 0 : xch_fail_memory(err, w->target);
	for (i = 0; i < n && rc == 0; i++) {
		rc = name_entry(w, list[i]->d_name, &name[i], err);
	}
	rc = rc == 0 ? publish_all(name, n, err) : rc;
	while (n-- > 0) {
		if (name) {
			tkm_newname_free(&name[n]);
		}
		free(list[n]);
	}
	free(name);
	free(list);
	return rc;
}

/* Is the target an earlier output in this format? */
static int is_earlier_output(const struct xch_writer *w, size_t n)
{
	const struct xch_format *f = w->format;
	const char *in = f->mark_in ? f->mark_in : "";
	char *path;
	int is;

	if (*in == '.') {
		n -= strlen(w->base) - strlen(w->stem);
	}
	if (!f->mark || asprintf(&path, "%.*s%s", (int)n, w->target, in) < 0) {
		return 0;
	}
	is = tkm_newfile_may_replace(path, f->mark, 0);
	free(path);
	return is;
}

/* Sets the names, and makes the directory in which everything is written. */
int xch_output_begin(struct xch_writer *w, struct tkm_err *err)
{
	size_t n = strlen(w->target), k = strlen(w->format->suffix), stem;
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
	stem = strlen(w->stem);
	if (stem > k && !strcasecmp(w->stem + stem - k, w->format->suffix)) {
		w->stem[stem - k] = 0;
	}
	w->replace = w->o->force || (w->o->renew && is_earlier_output(w, n));
	if (may_take(w, w->target, w->format->directory, err) < 0) {
		free(w->dir);
		w->dir = NULL;
		return -1;
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
		tkm_remove_tree(w->dir);
	}
	free(w->dir);
	free(w->base);
	free(w->stem);
	w->dir = w->base = w->stem = NULL;
}
