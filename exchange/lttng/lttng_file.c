/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes and reads blocks and event headers; lists the files of a trace. */
#include "config.h"
#include "exchange/lttng/lttng.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "exchange/common/private.h"

/* ---- writing ---- */

static const uint64_t half = UINT64_C(1) << 31; /* half the range of a 32-bit stamp */
/* After a longer pause a new block begins, because a block begins with the whole stamp. */
static const uint64_t most_heartbeats = 1024;

int xch_lttng_out_begin(
	struct xch_lttng_out *o, FILE *f, const struct xch_lttng_head *h, uint32_t block_size, struct tkm_err *err)
{
	*o = (struct xch_lttng_out){ .f = f, .h = h, .size = block_size };
	if (block_size < 2 * (LTT_BLOCK_HEADER + LTT_HEAD_MAX) || block_size > LTT_BLOCK_MAX) {
		return tkm_fail(err, TKM_ERR_ARG, "LTTng blocks of %" PRIu32 " bytes are not possible", block_size);
	}
	o->block = malloc(block_size);
	return o->block ? 0 : tkm_fail(err, TKM_ERR_NOMEM, "out of memory for an LTTng block");
}

static void begin_block(struct xch_lttng_out *o, uint64_t tsc)
{
	o->at = LTT_BLOCK_HEADER + xch_lttng_head_put(o->block + LTT_BLOCK_HEADER, o->h);
	o->begin = o->end = o->last = tsc;
	o->begin_freq = o->end_freq = o->h->start_freq;
}

static int end_block(struct xch_lttng_out *o, struct tkm_err *err)
{
	int big = o->h->big;

	if (!o->at) {
		return 0;
	}
	tkm_put64(o->block, o->begin, big);
	tkm_put64(o->block + 8, o->begin_freq, big);
	tkm_put64(o->block + 16, o->end, big);
	tkm_put64(o->block + 24, o->end_freq, big);
	tkm_put32(o->block + 32, o->size - (uint32_t)o->at, big);
	tkm_put32(o->block + 36, o->size, big);
	memset(o->block + o->at, 0, o->size - o->at);
	o->at = 0;
	o->blocks++;
	return fwrite(o->block, o->size, 1, o->f) == 1 ? 0
						       : tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot write LTTng");
}

/* Finds where header and data of an event at the current end would begin. Returns the end of both. */
static size_t lay_out(const struct xch_lttng_out *o, size_t n, size_t *header, size_t *data)
{
	*header = xch_lttng_up(o->at, o->h->alignment);
	*data = *header + (o->h->has_heartbeat ? 8 : 12);
	*data = o->h->alignment ? xch_lttng_up(*data, o->h->arch_size) : *data;
	return *data + n;
}

static int put_event(struct xch_lttng_out *o, uint64_t tsc, unsigned facility, unsigned event, const void *data,
	size_t n, struct tkm_err *err)
{
	size_t header, begin, end;
	unsigned char *p;

	if (!o->at) {
		begin_block(o, tsc);
	}
	end = lay_out(o, n, &header, &begin);
	if (end > o->size) {
		if (end_block(o, err) < 0) {
			return -1;
		}
		begin_block(o, tsc);
		end = lay_out(o, n, &header, &begin);
		if (end > o->size) {
			return tkm_fail(
				err, TKM_ERR_ARG, "an event of %zu bytes does not fit a block of %" PRIu32, n, o->size);
		}
	}
	memset(o->block + o->at, 0, begin - o->at);
	p = o->block + header;
	if (o->h->has_heartbeat) {
		tkm_put32(p, (uint32_t)tsc, o->h->big);
		p += 4;
	} else {
		tkm_put64(p, tsc, o->h->big);
		p += 8;
	}
	p[0] = (unsigned char)facility;
	p[1] = (unsigned char)event;
	tkm_put16(p + 2, (uint16_t)n, o->h->big);
	if (n) {
		memcpy(o->block + begin, data, n);
	}
	o->at = end;
	o->begin = tsc < o->begin ? tsc : o->begin;
	o->end = tsc > o->end ? tsc : o->end;
	o->last = tsc;
	return 0;
}

int xch_lttng_out_event(struct xch_lttng_out *o, uint64_t tsc, unsigned facility, unsigned event, const void *data,
	size_t n, struct tkm_err *err)
{
	if (facility > UINT8_MAX || event > UINT8_MAX || n > LTT_DATA_MAX) {
		return tkm_fail(err, TKM_ERR_ARG, "event %u of facility %u, %zu bytes, has no place in LTTng", event,
			facility, n);
	}
	if (o->h->has_heartbeat && o->at) {
		if (tsc < o->last) {
			return tkm_fail(err, TKM_ERR_ARG, "with stamps of 32 bits none may be before the last one");
		}
		if (tsc - o->last > half * most_heartbeats && end_block(o, err) < 0) {
			return -1;
		}
		while (o->at && tsc - o->last >= half) {
			if (put_event(o, o->last + half - 1, 0, LTT_TIME_HEARTBEAT, NULL, 0, err) < 0) {
				return -1;
			}
			o->heartbeats++;
		}
	}
	if (put_event(o, tsc, facility, event, data, n, err) < 0) {
		return -1;
	}
	o->events++;
	return 0;
}

int xch_lttng_out_end(struct xch_lttng_out *o, struct tkm_err *err)
{
	int rc = o->block && o->f ? end_block(o, err) : 0;

	free(o->block);
	o->block = NULL;
	return rc;
}

/* ---- reading ---- */

int xch_lttng_in_fault(const struct xch_lttng_in *i, uint64_t offset, const char *what, struct tkm_err *err)
{
	return tkm_fail(err, TKM_ERR_FORMAT, "%s: offset %" PRIu64 ": %s", i->path, offset, what);
}

static int read_at(const struct xch_lttng_in *i, unsigned char *p, size_t n, uint64_t offset, struct tkm_err *err)
{
	ssize_t got;

	while (n) {
		got = pread(i->fd, p, n, (off_t)offset);
		if (got < 0 && errno == EINTR) {
			continue;
		}
		if (got < 0) {
			return tkm_fail_errno(err, TKM_ERR_IO, errno, "%s: offset %" PRIu64, i->path, offset);
		}
		if (got == 0) {
			return xch_lttng_in_fault(i, offset, "the file ends here, inside a block", err);
		}
		p += got;
		n -= (size_t)got;
		offset += (uint64_t)got;
	}
	return 0;
}

int xch_lttng_in_open(struct xch_lttng_in *i, const char *path, struct tkm_err *err)
{
	unsigned char begin[LTT_BLOCK_HEADER + LTT_HEAD_MAX];
	const char *why;
	struct stat st;
	size_t n;

	*i = (struct xch_lttng_in){ .fd = open(path, O_RDONLY | O_CLOEXEC), .low_freq = UINT64_MAX };
	snprintf(i->path, sizeof(i->path), "%s", path);
	if (i->fd < 0 || fstat(i->fd, &st) < 0) {
		return tkm_fail_errno(err, TKM_ERR_IO, errno, "%s", path);
	}
	i->file_size = (uint64_t)st.st_size;
	if (!i->file_size) {
		return 0;
	}
	n = i->file_size < sizeof(begin) ? (size_t)i->file_size : sizeof(begin);
	if (read_at(i, begin, n, 0, err) < 0) {
		return -1;
	}
	i->head_size = xch_lttng_head_get(begin, n, &i->h, &why);
	if (!i->head_size) {
		return xch_lttng_in_fault(i, LTT_BLOCK_HEADER, why, err);
	}
	memcpy(i->head, begin + LTT_BLOCK_HEADER, i->head_size);
	i->size = tkm_get32(begin + 36, i->h.big);
	if (i->size < LTT_BLOCK_HEADER + i->head_size || i->size > LTT_BLOCK_MAX) {
		return xch_lttng_in_fault(i, 36, "buf_size is not possible", err);
	}
	i->block = malloc(i->size);
	return i->block ? 0 : tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory for a block", path);
}

/* Reads the block at i->base. */
static int next_block(struct xch_lttng_in *i, struct tkm_err *err)
{
	uint64_t freq[2], lost;
	int big = i->h.big, k;

	if (read_at(i, i->block, i->size, i->base, err) < 0) {
		return -1;
	}
	if (memcmp(i->block + LTT_BLOCK_HEADER, i->head, i->head_size) != 0) {
		return xch_lttng_in_fault(
			i, i->base + LTT_BLOCK_HEADER, "the trace header is not that of the first block", err);
	}
	if (tkm_get32(i->block + 36, big) != i->size) {
		return xch_lttng_in_fault(i, i->base + 36, "buf_size is not that of the first block", err);
	}
	lost = tkm_get32(i->block + 32, big);
	if (lost > i->size - LTT_BLOCK_HEADER - i->head_size) {
		return xch_lttng_in_fault(i, i->base + 32, "lost_size is larger than the block", err);
	}
	if (i->blocks && tkm_get64(i->block, big) > i->end && tkm_get64(i->block, big) - i->end > i->longest_gap) {
		i->longest_gap = tkm_get64(i->block, big) - i->end;
	}
	i->begin = i->now = tkm_get64(i->block, big);
	i->end = tkm_get64(i->block + 16, big);
	if (i->end < i->begin) {
		return xch_lttng_in_fault(i, i->base + 16, "the block ends before it begins", err);
	}
	freq[0] = tkm_get64(i->block + 8, big);
	freq[1] = tkm_get64(i->block + 24, big);
	for (k = 0; k < 2; k++) {
		if (!freq[k]) {
			return xch_lttng_in_fault(i, i->base + 8 + 16 * (uint64_t)k, "a frequency is 0", err);
		}
		i->low_freq = freq[k] < i->low_freq ? freq[k] : i->low_freq;
		i->high_freq = freq[k] > i->high_freq ? freq[k] : i->high_freq;
	}
	i->stop = i->size - (uint32_t)lost;
	i->at = LTT_BLOCK_HEADER + (uint32_t)i->head_size;
	i->blocks++;
	i->empty_blocks += i->stop == i->at;
	return 0;
}

static int get_event(struct xch_lttng_in *i, struct xch_lttng_event *e, struct tkm_err *err)
{
	const unsigned char *p = i->block + i->at;
	uint32_t header = i->h.has_heartbeat ? 8 : 12;
	size_t data;

	e->offset = i->base + i->at;
	if (i->stop - i->at < header) {
		return xch_lttng_in_fault(i, e->offset, "an event header crosses the end of its block", err);
	}
	if (i->h.has_heartbeat) {
		e->tsc = (i->now & ~(uint64_t)UINT32_MAX) | tkm_get32(p, i->h.big);
		e->tsc += e->tsc < i->now ? UINT64_C(1) << 32 : 0;
		p += 4;
	} else {
		e->tsc = tkm_get64(p, i->h.big);
		p += 8;
	}
	if (e->tsc < i->begin || e->tsc > i->end) {
		return xch_lttng_in_fault(i, e->offset, "a stamp outside of its block's time", err);
	}
	i->now = e->tsc;
	e->facility = p[0];
	e->event = p[1];
	e->size = tkm_get16(p + 2, i->h.big);
	data = i->at + header;
	data = i->h.alignment ? xch_lttng_up(data, i->h.arch_size) : data;
	if (data > i->stop || i->stop - data < e->size) {
		return xch_lttng_in_fault(i, e->offset, "an event crosses the end of its block", err);
	}
	e->data = i->block + data;
	data = xch_lttng_up(data + e->size, i->h.alignment);
	i->at = data < i->stop ? (uint32_t)data : i->stop;
	return 1;
}

int xch_lttng_in_next(struct xch_lttng_in *i, struct xch_lttng_event *e, struct tkm_err *err)
{
	if (!i->block) {
		return 0;
	}
	while (!i->blocks || i->at >= i->stop) {
		i->base += i->blocks ? i->size : 0;
		if (i->base >= i->file_size) {
			return 0;
		}
		if (next_block(i, err) < 0) {
			return -1;
		}
		i->at = (uint32_t)xch_lttng_up(i->at, i->h.alignment);
	}
	return get_event(i, e, err);
}

void xch_lttng_in_close(struct xch_lttng_in *i)
{
	if (i->fd >= 0) {
		close(i->fd);
	}
	free(i->block);
	*i = (struct xch_lttng_in){ .fd = -1 };
}

/* ---- files ---- */

int xch_lttng_list(const char *dir, const char *prefix, char ***names, size_t *n, struct tkm_err *err)
{
	struct dirent **list = NULL;
	int k = scandir(dir, &list, NULL, versionsort), i, rc = 0;
	const char *name, *last;
	char path[4400];

	if (k < 0) {
		return tkm_fail_errno(err, TKM_ERR_IO, errno, "%s", dir);
	}
	for (i = 0; i < k; i++) {
		name = list[i]->d_name;
		last = strrchr(name, '_');
		if (rc == 0 && last && last[1] && strspn(last + 1, "0123456789") == strlen(last + 1) &&
			(prefix ? !strncmp(name, prefix, (size_t)(last + 1 - name)) && !prefix[last + 1 - name]
				: strncmp(name, "facilities_", 11) != 0)) {
			snprintf(path, sizeof(path), "%.4000s/%.200s", dir, name);
			rc = tkm_append_text(names, n, path) < 0 ? xch_fail_memory(err, dir) : 0;
		}
		free(list[i]);
	}
	free(list);
	return rc;
}
