/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of formats. */
#include "config.h"
#include "exchange/common/private.h"

#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define ADDRESS(name) &xch_##name,
static const struct xch_format *const all[] = { XCH_FORMATS(ADDRESS) };

const struct xch_format *xch_table(size_t i)
{
	return i < sizeof(all) / sizeof(all[0]) ? all[i] : NULL;
}

const struct xch_format *xch_by_name(const char *name)
{
	size_t i;

	for (i = 0; xch_table(i); i++) {
		if (!strcasecmp(all[i]->name, name)) {
			return all[i];
		}
	}
	return NULL;
}

/* The longest matching suffix wins. */
const struct xch_format *xch_by_suffix(const char *path)
{
	size_t n = strlen(path), i, k, best = 0;
	const struct xch_format *f = NULL;

	while (n > 1 && path[n - 1] == '/') {
		n--;
	}
	for (i = 0; xch_table(i); i++) {
		k = strlen(all[i]->suffix);
		if (n > k && k > best && !strncasecmp(path + n - k, all[i]->suffix, k)) {
			best = k;
			f = all[i];
		}
	}
	return f;
}

const struct xch_format *xch_by_content(const char *path)
{
	unsigned char head[256];
	const struct xch_format *f;
	ssize_t n = 0;
	size_t i;
	struct stat st;
	int fd = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (fd >= 0) {
		n = read(fd, head, sizeof(head));
		close(fd);
	}
	for (i = 0; xch_table(i); i++) {
		if (all[i]->read && all[i]->is && all[i]->is(path, head, n > 0 ? (size_t)n : 0)) {
			return all[i];
		}
	}
	f = xch_by_suffix(path);
	return f && (f->read || f->missing) ? f : NULL;
}

/* Names of files that other programs write. */
static const struct {
	const char *suffix;
	const struct xch_format *format;
} foreign_names[] = {
	{ ".json", &xch_chrome },
	{ ".pftrace", &xch_perfetto },
	{ ".perfetto-trace", &xch_perfetto },
	{ ".sqlite", &xch_nsight },
};

const struct xch_format *xch_by_restamp(const char *path)
{
	const struct xch_format *f = NULL;
	size_t n = strlen(path), i, k;
	char name[4400];

	n -= n > 3 && !strcasecmp(path + n - 3, ".gz") ? 3 : 0;
	for (i = 0; i < sizeof(foreign_names) / sizeof(foreign_names[0]); i++) {
		k = strlen(foreign_names[i].suffix);
		f = n > k && !strncasecmp(path + n - k, foreign_names[i].suffix, k) ? foreign_names[i].format : f;
	}
	f = f == &xch_chrome && xch_rocprof.is(path, NULL, 0) ? &xch_rocprof : f;
	f = f && (path[n] == 0 || f != &xch_nsight) ? f : xch_by_suffix(path);
	f = f ? f : xch_by_content(path); /* Score-P's folder of an archive */
	snprintf(name, sizeof(name), "%.4000s/metadata", path);
	f = !f && access(name, F_OK) == 0 ? &xch_ctf : f;
	return f && f->restamp ? f : NULL;
}

const char *xch_names(int reading, char *buf, size_t size)
{
	size_t i, n = 0;

	buf[0] = 0;
	for (i = 0; xch_table(i); i++) {
		if ((reading ? all[i]->read != NULL : all[i]->event != NULL) && n < size) {
			n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? ", " : "", all[i]->name);
		}
	}
	return buf;
}
