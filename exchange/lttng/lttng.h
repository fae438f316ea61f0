/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of LTTng traces of 2008: blocks, trace headers, events. "The LTTng trace format" of 2008/06/02 and
 * doc/exchange.md describe them. Supports both byte orders, stamps of 64 or 32 bits (heartbeat), and packed or
 * aligned events and trace headers. */
#ifndef EXCHANGE_LTTNG_LTTNG_H
#define EXCHANGE_LTTNG_LTTNG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

#define LTT_MAGIC 0x00D6B7EDu

enum {
	LTT_BLOCK_HEADER = 40,
	LTT_HEAD_MAX = 64,        /* bytes of a trace header */
	LTT_DATA_MAX = 65535,     /* bytes of one event, because its size has 16 bits */
	LTT_BLOCK_MAX = 16 << 20, /* larger blocks are refused */
	LTT_MARKER_ID = 0,        /* events of facility 0, "core" */
	LTT_MARKER_FORMAT = 1,
	LTT_TIME_HEARTBEAT = 2,
};

/* The trace header, and the layout of the file. */
struct xch_lttng_head {
	int big, natural; /* big: byte order; natural: the trace header is aligned, not packed */
	uint32_t arch_type, arch_variant, float_word_order;
	uint8_t arch_size, major, minor, flight_recorder, has_heartbeat, alignment, tsc_lsb_truncate, tscbits,
		compact_data_shift;
	uint32_t freq_scale;
	uint64_t start_freq, start_tsc, start_monotonic;
	uint32_t seconds, nanoseconds;
};

/* Writes the header to p, which has LTT_HEAD_MAX bytes. Returns its length. */
size_t xch_lttng_head_put(unsigned char *p, const struct xch_lttng_head *h);
/* Reads the header of a block of which n bytes are in memory. Returns its length, or 0 and *why. */
size_t xch_lttng_head_get(const unsigned char *block, size_t n, struct xch_lttng_head *h, const char **why);

/* Rounds `at` up to a multiple of `to`; with `to` 0 or 1, returns it unchanged. */
static inline size_t xch_lttng_up(size_t at, size_t to)
{
	return to > 1 ? (at + to - 1) / to * to : at;
}

/* ---- data of events ---- */

/* The values of one event, appended one after the other. */
struct xch_lttng_data {
	const struct xch_lttng_head *h;
	size_t n;
	int full; /* the values did not fit into LTT_DATA_MAX */
	unsigned char b[LTT_DATA_MAX];
};
void xch_lttng_add(struct xch_lttng_data *d, uint64_t value, size_t size); /* 1, 2, 4 or 8 bytes */
void xch_lttng_add_real(struct xch_lttng_data *d, double value);
void xch_lttng_add_text(struct xch_lttng_data *d, const char *text); /* includes its zero byte */

enum xch_lttng_kind { LTT_SIGNED, LTT_UNSIGNED, LTT_REAL, LTT_TEXT };
struct xch_lttng_field {
	char *name;
	enum xch_lttng_kind kind;
	size_t size; /* 0: a text; for a pointer, set from arch_size when read */
};
/* Parses a marker's format: pairs of a field name and a printf conversion. Returns the number of fields, and an
 * array in *fields that the caller frees with xch_lttng_fields_free(). Returns -1 if the text is not a format. */
int xch_lttng_format(const char *format, struct xch_lttng_field **fields);
void xch_lttng_fields_free(struct xch_lttng_field *fields, int n);

struct xch_lttng_value {
	uint64_t u; /* sign-extended; for a real number, the bits of a double */
	const char *text;
};
/* Reads the values of n fields. Returns 0, or -1: the data ends too early. */
int xch_lttng_values(const struct xch_lttng_head *h, const struct xch_lttng_field *fields, int n,
	const unsigned char *data, size_t size, struct xch_lttng_value *out);

/* ---- writing ---- */

struct xch_lttng_out {
	FILE *f;
	const struct xch_lttng_head *h;
	uint32_t size;        /* bytes of a block */
	unsigned char *block; /* owned by this struct */
	size_t at;            /* 0: no block has begun */
	uint64_t begin, end, last;
	uint64_t begin_freq, end_freq; /* 0: start_freq */
	uint64_t events, heartbeats, blocks;
};
int xch_lttng_out_begin(
	struct xch_lttng_out *o, FILE *f, const struct xch_lttng_head *h, uint32_t block_size, struct tkm_err *err);
/* Writes an event. Returns 0, or -1: the event is larger than a block, or is earlier than the last one in a file
 * with heartbeat stamps, or the file cannot be written. */
int xch_lttng_out_event(struct xch_lttng_out *o, uint64_t tsc, unsigned facility, unsigned event, const void *data,
	size_t n, struct tkm_err *err);
/* Writes the last block and frees the writer; f stays open. */
int xch_lttng_out_end(struct xch_lttng_out *o, struct tkm_err *err);

/* ---- reading ---- */

struct xch_lttng_event {
	uint64_t tsc, offset;
	unsigned facility, event;
	const unsigned char *data; /* valid until the next event is read */
	size_t size;
};
struct xch_lttng_in {
	char path[400];
	int fd;
	uint64_t file_size, base; /* base: offset of the current block */
	struct xch_lttng_head h;
	unsigned char head[LTT_HEAD_MAX];
	size_t head_size;
	unsigned char *block;
	uint32_t size, stop, at; /* bytes of the block; where its padding begins; where the next event begins */
	uint64_t begin, end, now;
	uint64_t blocks, low_freq, high_freq; /* of all blocks so far, at their begin and end */
	uint64_t empty_blocks,
		longest_gap; /* blocks without an event; ticks from the end of one to the begin of the next */
};
/* Opens a file; a file of 0 bytes has no events. Returns 0 or -1. */
int xch_lttng_in_open(struct xch_lttng_in *i, const char *path, struct tkm_err *err);
/* Reads the next event. Returns 1: *e is set; 0: the end; -1: *err names file and offset. */
int xch_lttng_in_next(struct xch_lttng_in *i, struct xch_lttng_event *e, struct tkm_err *err);
void xch_lttng_in_close(struct xch_lttng_in *i);
/* Fills *err with the file's name and an offset in it. Returns -1. */
int xch_lttng_in_fault(const struct xch_lttng_in *i, uint64_t offset, const char *what, struct tkm_err *err);

/* Appends the files of a directory whose names are this prefix and a number, in order; without a prefix, those whose names
 * are anything else than "facilities", and a number. Returns 0 or -1.
 * The caller frees the names with tkm_free_texts(). */
int xch_lttng_list(const char *dir, const char *prefix, char ***names, size_t *n, struct tkm_err *err);

#endif
