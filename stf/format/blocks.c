/* SPDX-License-Identifier: BSD-3-Clause */
/* Checksums of the blocks of a component: adds, prints and parses them. */
#include "config.h"
#include "stf/format/blocks.h"

#include <stdlib.h>

#include "base/grow.h"

int stf_blocks_add(struct stf_blocks *l, uint64_t end, uint64_t time, uint64_t hash)
{
	if (TKM_GROW(l->b, l->cap, l->n + 1) < 0) {
		return -1;
	}
	l->b[l->n++] = (struct stf_block){ end, time, hash };
	return 0;
}

void stf_blocks_free(struct stf_blocks *l)
{
	free(l->b);
	memset(l, 0, sizeof(*l));
}

void stf_blocks_print(struct stf_buf *out, const struct stf_blocks *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		stf_buf_printf(out, " %llx %llx %016llx", (unsigned long long)(l->b[i].end - stf_block_start(l, i)),
			(unsigned long long)l->b[i].time, (unsigned long long)l->b[i].hash);
	}
}

/* Reads a blank and a hexadecimal number of at most 16 digits. */
static int take_number(const char **p, const char *end, uint64_t *u)
{
	const char *s = *p, *start;
	unsigned digit;

	if (s == end || *s != ' ') {
		return -1;
	}
	for (start = ++s, *u = 0; s < end && *s != ' ' && s - start < 17; s++) {
		digit = *s >= '0' && *s <= '9'   ? (unsigned)(*s - '0')
			: *s >= 'a' && *s <= 'f' ? (unsigned)(*s - 'a') + 10
						 : 16;
		if (digit == 16) {
			return -1;
		}
		*u = *u << 4 | digit;
	}
	*p = s;
	return s > start && s - start <= 16 ? 0 : -1;
}

int stf_blocks_parse(struct stf_blocks *l, const char *text, size_t n)
{
	const char *end = text + n;
	uint64_t at = 0, length, time, hash;

	while (text < end) {
		if (take_number(&text, end, &length) < 0 || take_number(&text, end, &time) < 0 ||
			take_number(&text, end, &hash) < 0 || length == 0 || length > INT64_MAX - at) {
			return -1;
		}
		at += length;
		if (stf_blocks_add(l, at, time, hash) < 0) {
			return -2;
		}
	}
	return 0;
}

size_t stf_blocks_find(const struct stf_blocks *l, uint64_t offset)
{
	size_t lo = 0, hi = l->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (l->b[mid].end <= offset) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return lo;
}

uint64_t stf_block_start(const struct stf_blocks *l, size_t i)
{
	return i ? l->b[i - 1].end : 0;
}

uint64_t stf_block_time(const struct stf_blocks *l, size_t i)
{
	return i ? l->b[i - 1].time : 0;
}
