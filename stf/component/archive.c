/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the components of a trace: files with the component's suffix, or the parts that the directory of a
 * single-file trace lists. */
#include "config.h"
#include "stf/component/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"

#define MAGIC "STFSINGLE 1.0\n"
#define LONGEST_NAME 200

void stf_archive_free(struct stf_archive *a)
{
	size_t i;

	for (i = 0; i < a->n; i++) {
		free(a->entry[i].suffix);
	}
	free(a->entry);
	stf_map_free(&a->at);
	free(a->path);
	if (a->fd >= 0) {
		close(a->fd);
	}
	memset(a, 0, sizeof(*a));
	a->fd = -1;
}

void stf_place_free(struct stf_place *p)
{
	free(p->file);
	free(p->name);
	memset(p, 0, sizeof(*p));
}

static uint64_t hash_of(const char *suffix)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *suffix; suffix++) {
		h = (h ^ (uint8_t)*suffix) * 0x100000001b3u;
	}
	return h ? h : 1;
}

static struct stf_entry *find_entry(const struct stf_archive *a, const char *suffix)
{
	const uint64_t *at = stf_map_find(&a->at, hash_of(suffix));
	size_t i = at ? (size_t)*at : 0;

	while (i && strcmp(a->entry[i - 1].suffix, suffix) != 0) {
		i = a->entry[i - 1].next;
	}
	return i ? &a->entry[i - 1] : NULL;
}

/* Takes ownership of e->suffix. */
static int add_entry(struct stf_archive *a, struct stf_entry *e)
{
	uint64_t h = hash_of(e->suffix);
	const uint64_t *at = stf_map_find(&a->at, h);

	if (TKM_GROW(a->entry, a->cap, a->n + 1) < 0) {
		return -1;
	}
	if (at) {
		e->next = a->entry[*at - 1].next;
		a->entry[*at - 1].next = a->n + 1;
	} else if (stf_map_add(&a->at, h, a->n + 1) < 0) {
		return -1;
	}
	a->entry[a->n++] = *e;
	return 0;
}

/* Reads a number of digits only; strtoull() would also accept a sign, blanks and numbers beyond 64 bits. */
static int parse_number(const char *s, uint64_t *u)
{
	*u = 0;
	if (!*s) {
		return -1;
	}
	for (; *s; s++) {
		if (*s < '0' || *s > '9' || __builtin_mul_overflow(*u, 10, u) ||
			__builtin_add_overflow(*u, (uint64_t)(*s - '0'), u)) {
			return -1;
		}
	}
	return 0;
}

/* Parses a line: FILE suffix offset size */
static int parse_entry(struct stf_archive *a, char *line, uint64_t at, uint64_t number, struct stf_err *err)
{
	char *save, *word = strtok_r(line, " ", &save), *suffix = strtok_r(NULL, " ", &save);
	char *offset = strtok_r(NULL, " ", &save), *size = strtok_r(NULL, " ", &save);
	struct stf_entry e = { 0 };

	if (!size || strcmp(word, "FILE") != 0 || strtok_r(NULL, " ", &save) || parse_number(offset, &e.offset) < 0 ||
		parse_number(size, &e.size) < 0 || e.offset > INT64_MAX || e.size > INT64_MAX - e.offset) {
		return stf_fail(err, STF_ERR_FORMAT, a->path, at, number, "expected FILE suffix offset size, or END");
	}
	suffix = strcmp(suffix, "base") == 0 ? suffix + 4 : suffix;
	if ((*suffix && *suffix != '.') || strlen(suffix) > LONGEST_NAME || find_entry(a, suffix)) {
		return stf_fail(err, STF_ERR_FORMAT, a->path, at, number,
			"not a suffix, or one that occurs twice: \"%.40s\"", suffix);
	}
	e.suffix = strdup(suffix);
	if (!e.suffix || add_entry(a, &e) < 0) {
		free(e.suffix);
		return stf_no_memory(err);
	}
	return 0;
}

static int read_directory(struct stf_archive *a, FILE *f, struct stf_err *err)
{
	char line[LONGEST_NAME + 64];
	uint64_t at = strlen(MAGIC), number = 2;
	size_t n;

	for (; fgets(line, sizeof(line), f); at += n, number++) {
		n = strlen(line);
		if (!n || line[n - 1] != '\n') {
			return stf_fail(err, feof(f) ? STF_ERR_TRUNCATED : STF_ERR_FORMAT, a->path, at, number, "%s",
				feof(f) ? "the file ends inside its directory" : "line is too long");
		}
		line[n - 1] = 0;
		if (strcmp(line, "END") == 0) {
			return find_entry(a, "") ? 0
						 : stf_fail(err, STF_ERR_FORMAT, a->path, at, number,
							   "the directory names no base file");
		}
		if (parse_entry(a, line, at, number, err) < 0) {
			return -1;
		}
	}
	return stf_fail(err, STF_ERR_TRUNCATED, a->path, at, number, "the file ends inside its directory");
}

/* Reads the directory if there is one; fd stays open. */
static int open_directory(struct stf_archive *a, int fd, struct stf_err *err)
{
	char magic[sizeof(MAGIC)] = "";
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0), rc = 0;
	FILE *f = copy < 0 ? NULL : fdopen(copy, "r");

	if (!f) {
		if (copy >= 0) {
			close(copy);
		}
		return stf_fail_errno(err, errno, a->path, "cannot read");
	}
	if (fread(magic, 1, strlen(MAGIC), f) == strlen(MAGIC) && strcmp(magic, MAGIC) == 0) {
		a->single = 1;
		rc = read_directory(a, f, err);
	}
	fclose(f);
	return rc;
}

int stf_archive_open(struct stf_archive *a, const char *path, struct stf_err *err)
{
	struct stat st;
	int fd, rc = 0;

	memset(a, 0, sizeof(*a));
	a->fd = -1;
	a->path = strdup(path);
	if (!a->path) {
		return stf_no_memory(err);
	}
	/* O_NONBLOCK, so that a FIFO of that name does not block the reader; if it cannot be read, a later read
	 * reports it */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		return stf_fail_errno(err, errno, path, "cannot read");
	}
	if (fstat(fd, &st) < 0) {
		rc = stf_fail_errno(err, errno, path, "cannot read");
	} else if (S_ISREG(st.st_mode)) {
		rc = open_directory(a, fd, err);
	}
	close(fd);
	return rc;
}

int stf_archive_open_fd(struct stf_archive *a, int fd, const char *name, struct stf_err *err)
{
	memset(a, 0, sizeof(*a));
	a->fd = fd;
	a->path = strdup(name);
	if (!a->path) {
		return stf_no_memory(err);
	}
	if (lseek(fd, 0, SEEK_SET) != 0) {
		return stf_fail_errno(err, errno, name, "cannot read");
	}
	if (open_directory(a, fd, err) < 0) {
		return -1;
	}
	return a->single ? 0
			 : stf_fail(err, STF_ERR_FORMAT, name, 0, 0,
				   "only a trace in a single file (T.single.stf) can be read from a descriptor");
}

static char *join(const char *a, const char *b, const char *c, const char *d)
{
	size_t n = strlen(a) + strlen(b) + strlen(c) + strlen(d) + 1;
	char *s = malloc(n);

	if (s) {
		snprintf(s, n, "%s%s%s%s", a, b, c, d);
	}
	return s;
}

static int find_in_single(const struct stf_archive *a, const char *suffix, struct stf_place *p)
{
	const struct stf_entry *e = find_entry(a, suffix);
	char packed[LONGEST_NAME + 8];

	if (!e && *suffix) {
		snprintf(packed, sizeof(packed), "%s.zst", suffix);
		e = find_entry(a, packed);
		p->compressed = e != NULL;
	}
	if (!e) {
		return 0;
	}
	p->start = e->offset;
	p->size = e->size;
	p->file = strdup(a->path);
	p->name = join(a->path, "[", *e->suffix ? e->suffix : "base", "]");
	return 1;
}

static int exists(const char *path)
{
	struct stat st;

	return path && (stat(path, &st) == 0 || errno != ENOENT);
}

int stf_archive_find(const struct stf_archive *a, const char *suffix, struct stf_place *p, struct stf_err *err)
{
	int found = 1;

	memset(p, 0, sizeof(*p));
	p->fd = a->fd;
	if (a->single) {
		found = find_in_single(a, suffix, p);
	} else {
		p->size = UINT64_MAX;
		p->file = join(a->path, suffix, "", "");
		if (p->file && *suffix && !exists(p->file)) {
			free(p->file);
			p->file = join(a->path, suffix, ".zst", "");
			p->compressed = 1;
			found = !p->file || exists(p->file);
		}
		p->name = p->file ? strdup(p->file) : NULL;
	}
	if (found && (!p->file || !p->name)) {
		stf_place_free(p);
		return stf_no_memory(err);
	}
	if (!found) {
		stf_place_free(p);
	}
	return found;
}
