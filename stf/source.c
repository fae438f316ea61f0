/* SPDX-License-Identifier: BSD-3-Clause */
/* One component file being read. */
#include "config.h"
#include "stf/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW (1u << 16)
#define LONGEST_LINE (1u << 16)

struct stx_source *stx_source_open(const char *path, const char *suffix, struct stf_err *err)
{
	struct stx_source *s = calloc(1, sizeof(*s));
	size_t n = strlen(path), m = strlen(suffix);
	struct stat st;

	if (!s) {
		stx_no_memory(err);
		return NULL;
	}
	s->fd = -1;
	s->path = malloc(n + m + 1);
	s->buf = malloc(WINDOW);
	s->cap = WINDOW;
	if (!s->path || !s->buf) {
		stx_no_memory(err);
		goto fail;
	}
	memcpy(s->path, path, n);
	memcpy(s->path + n, suffix, m + 1);
	/* non-blocking, lest a FIFO of that name hang the reader */
	s->fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (s->fd < 0 || fstat(s->fd, &st) < 0) {
		stx_fail_errno(err, errno, s->path, "cannot read");
		goto fail;
	}
	if (!S_ISREG(st.st_mode)) {
		stx_fail(err, STF_ERR_IO, s->path, 0, 0, "cannot read: not a regular file");
		goto fail;
	}
	s->size = (uint64_t)st.st_size;
	return s;
fail:
	stx_source_close(s);
	return NULL;
}

void stx_source_close(struct stx_source *s)
{
	if (!s) {
		return;
	}
	if (s->fd >= 0) {
		close(s->fd);
	}
	free(s->scratch.mem.p);
	free(s->path);
	free(s->buf);
	free(s);
}

static int window_is_all(const struct stx_source *s)
{
	return s->offset + s->len >= s->size;
}

/* Reads further, dropping what lies before pos; makes the window larger if it is full of one record. */
static int fill(struct stx_source *s, struct stf_err *err)
{
	size_t cap = s->cap;
	uint8_t *p;
	ssize_t n;

	if (s->pos) {
		memmove(s->buf, s->buf + s->pos, s->len - s->pos);
		s->offset += s->pos;
		s->len -= s->pos;
		s->pos = 0;
	}
	if (s->len == s->cap) {
		cap = 2 * s->cap;
		p = realloc(s->buf, cap);
		if (!p) {
			return stx_no_memory(err);
		}
		s->buf = p;
		s->cap = cap;
	}
	do {
		n = read(s->fd, s->buf + s->len, s->cap - s->len);
	} while (n < 0 && errno == EINTR);
	if (n < 0) {
		return stx_fail_errno(err, errno, s->path, "cannot read");
	}
	if (n == 0) {
		/* it was cut while we read it */
		s->size = s->offset + s->len;
	}
	s->len += (size_t)n;
	/* a file that grows meanwhile is read to where it ended when it was opened */
	if (s->offset + s->len > s->size) {
		s->len = (size_t)(s->size - s->offset);
	}
	return 0;
}

int stx_source_line(struct stx_source *s, char **line, size_t *n, struct stf_err *err)
{
	uint8_t *lf;

	s->number++;
	for (;;) {
		lf = memchr(s->buf + s->pos, '\n', s->len - s->pos);
		if (lf || s->len - s->pos > LONGEST_LINE) {
			break;
		}
		if (window_is_all(s)) {
			return stx_fail(err, STF_ERR_TRUNCATED, s->path, s->offset + s->pos, s->number,
					"the file ends before the END line of its definition layer");
		}
		if (fill(s, err) < 0) {
			return -1;
		}
	}
	if (!lf || lf - (s->buf + s->pos) > LONGEST_LINE) {
		return stx_fail(err, STF_ERR_DEFINITION, s->path, s->offset + s->pos, s->number,
				"line is longer than %u bytes", LONGEST_LINE);
	}
	*line = (char *)s->buf + s->pos;
	*n = (size_t)(lf - (s->buf + s->pos));
	*lf = 0;
	s->pos += *n + 1;
	return 0;
}

/* Applies a record's time. Time records are no events: returns 0 for them, 1 for events. */
static int apply_time(struct stx_source *s, const struct stx_decoded *d, uint64_t at, struct stf_err *err)
{
	const char *cls = d->def->specifier;

	if (d->has_time && strcmp(cls, "sub_time") == 0) {
		if (d->time > s->now) {
			return stx_fail(err, STF_ERR_FORMAT, s->path, at, s->number,
					"sub_time goes back by %llu from %llu, before time 0",
					(unsigned long long)d->time, (unsigned long long)s->now);
		}
		s->now -= d->time;
		return 0;
	}
	if (d->has_time) {
		if (d->time > UINT64_MAX - s->now) {
			return stx_fail(err, STF_ERR_FORMAT, s->path, at, s->number,
					"%s: time %llu + %llu does not fit 64 bits", cls, (unsigned long long)s->now,
					(unsigned long long)d->time);
		}
		s->now += d->time;
	}
	return strcmp(cls, "add_time") != 0;
}

static void make_absolute(struct stx_source *s, const struct stf_layout *l)
{
	unsigned i;

	s->record.time = s->now;
	for (i = 0; i < l->n_fields; i++) {
		if (l->fields[i].is_time) {
			s->scratch.value[i].u = s->now;
		}
	}
}

/* One record of any sort: 1 to be delivered, 2 to be passed over, 0 end, -1 fault. */
static int next_any(struct stx_source *s, struct stf_err *err)
{
	struct stx_decoded d;
	uint64_t at;
	int rc;

	for (;;) {
		at = s->offset + s->pos;
		if (at >= s->size) {
			return 0;
		}
		rc = stx_decode(s->defs, s->buf + s->pos, s->len - s->pos, s->size - at, &s->scratch, &d);
		if (rc != STX_SHORT) {
			break;
		}
		if (fill(s, err) < 0) {
			return -1;
		}
	}
	s->number++;
	if (rc < 0) {
		return stx_fail(err, d.code, s->path, at, s->number, "%s", d.why);
	}
	if (s->timed) {
		rc = apply_time(s, &d, at, err);
		if (rc < 0) {
			return -1;
		}
	}
	s->pos += d.size;
	if (!d.def->ours) {
		s->skipped++;
		return 2;
	}
	s->record.layout = d.def->ours;
	s->record.offset = at;
	s->record.number = s->number;
	s->record.file = s->file;
	s->record.values = s->scratch.value;
	if (s->timed) {
		make_absolute(s, d.def->ours);
	}
	return rc == 0 ? 2 : 1;
}

int stx_source_next(struct stx_source *s, struct stf_err *err)
{
	int rc;

	do {
		rc = next_any(s, err);
	} while (rc == 2);
	return rc;
}
