/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "base/newname.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int tkm_newname_init(struct tkm_newname *n, char *path, char *temporary, int force)
{
	*n = (struct tkm_newname){ .path = path, .temporary = temporary, .force = force };
	if (!path || !temporary) {
		return -1;
	}
	if (force) {
		n->aside = malloc(strlen(temporary) + sizeof("-old"));
		if (!n->aside) {
			return -1;
		}
		sprintf(n->aside, "%s-old", temporary);
	}
	return 0;
}

int tkm_newname_set_aside(struct tkm_newname *n)
{
	struct stat st;

	if (!n->aside || (lstat(n->path, &st) < 0 && errno == ENOENT)) {
		return 0;
	}
	n->is_aside = rename(n->path, n->aside) == 0;
	return n->is_aside ? 0 : -1;
}

int tkm_newname_publish(struct tkm_newname *n)
{
	int rc = renameat2(AT_FDCWD, n->temporary, AT_FDCWD, n->path, n->force ? 0 : RENAME_NOREPLACE);

	if (rc < 0 && !n->force && (errno == EINVAL || errno == ENOSYS)) {
		/* unlike rename(), link() never replaces a file that was created meanwhile */
		rc = link(n->temporary, n->path);
		if (rc == 0) {
			unlink(n->temporary);
		}
	}
	n->published = rc == 0;
	return rc;
}

void tkm_newname_keep(struct tkm_newname *n)
{
	if (n->is_aside) {
		tkm_remove_tree(n->aside);
	}
	tkm_newname_free(n);
}

void tkm_newname_discard(struct tkm_newname *n)
{
	if (n->temporary) {
		tkm_remove_tree(n->published ? n->path : n->temporary);
	}
	if (n->is_aside) {
		rename(n->aside, n->path);
	}
}

void tkm_newname_free(struct tkm_newname *n)
{
	free(n->path);
	free(n->temporary);
	free(n->aside);
	*n = (struct tkm_newname){ 0 };
}

int tkm_newname_is_taken(const char *base, const char *const *suffixes)
{
	struct stat st;
	char path[4096];

	for (; *suffixes; suffixes++) {
		/* what has no room for its name cannot exist */
		if ((size_t)snprintf(path, sizeof(path), "%s%s", base, *suffixes) < sizeof(path) &&
			lstat(path, &st) == 0) {
			return 1;
		}
	}
	return 0;
}

void tkm_remove_tree(const char *path)
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
			tkm_remove_tree(sub);
			free(sub);
		}
	}
	if (dir) {
		closedir(dir);
	}
	rmdir(path);
}
