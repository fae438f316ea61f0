/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and reads files below a root folder; see base/rootfs.h. */
#include "config.h"
#include "base/rootfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int tkm_root_open(const char *dir)
{
	return open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Returns 1 if the path has a ".." component. */
static int has_dotdot(const char *path)
{
	const char *p = path;

	while ((p = strstr(p, ".."))) {
		if ((p == path || p[-1] == '/') && (p[2] == '/' || p[2] == '\0')) {
			return 1;
		}
		p += 2;
	}
	return 0;
}

int tkm_root_openat(int root, const char *path)
{
	while (*path == '/') {
		path++;
	}
	if (has_dotdot(path)) {
		errno = EINVAL;
		return -1;
	}
	return openat(root, *path ? path : ".", O_RDONLY | O_CLOEXEC);
}

ssize_t tkm_root_read(int root, const char *path, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n = 0;
	int saved, fd;

	buf[0] = '\0';
	fd = tkm_root_openat(root, path);
	if (fd < 0) {
		return -1;
	}
	while (n >= 0 && len < size - 1) {
		n = read(fd, buf + len, size - 1 - len);
		if (n == 0) {
			break;
		}
		if (n < 0 && errno == EINTR) {
			n = 0;
			continue;
		}
		len += n > 0 ? (size_t)n : 0;
	}
	saved = errno;
	close(fd);
	errno = saved;
	buf[len] = '\0';
	return n < 0 ? -1 : (ssize_t)len;
}

char *tkm_root_text(int root, const char *path)
{
	size_t size;
	char *text = NULL, *more;
	ssize_t n;

	for (size = 4096;; size *= 4) {
		more = realloc(text, size);
		n = more ? tkm_root_read(root, path, more, size) : -1;
		text = more ? more : text;
		if (n < 0) {
			free(text);
			return NULL;
		}
		if ((size_t)n < size - 1) {
			return text;
		}
	}
}

char *tkm_root_line(int root, const char *path, char *buf, size_t size)
{
	size_t n;

	if (tkm_root_read(root, path, buf, size) < 0) {
		buf[0] = '\0';
	}
	buf[strcspn(buf, "\n")] = '\0';
	n = strlen(buf);
	while (n && (buf[n - 1] == ' ' || buf[n - 1] == '\t' || buf[n - 1] == '\r')) {
		buf[--n] = '\0';
	}
	return buf;
}

/* Returns how many numbers the line NSpid has, and the last of them; 0: there is no such line (Linux 4.0). */
static int numbers_of(int root, const char *status, int *last)
{
	char text[4096];
	const char *at = tkm_root_read(root, status, text, sizeof(text)) > 0 ? strstr(text, "\nNSpid:") : NULL;
	char *end;
	int n = 0;

	*last = 0;
	for (at = at ? at + 7 : ""; *at == '\t' || *at == ' '; at = end, n++) {
		*last = (int)strtol(at, &end, 10);
		if (end == at) {
			break;
		}
	}
	return n;
}

int tkm_root_own_number(int root, const char *status)
{
	int last;

	numbers_of(root, status, &last);
	return last;
}

int tkm_root_is_above(int root)
{
	int last;

	return numbers_of(root, "/proc/self/status", &last) > 1;
}
