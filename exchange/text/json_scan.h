/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a JSON file, plain or compressed by gzip, and writes a copy in which some texts are replaced. All other bytes are equal.
 * Positions are offsets in the uncompressed file. Memory: the part that is held, and 256 KiB. */
#ifndef EXCHANGE_TEXT_JSON_SCAN_H
#define EXCHANGE_TEXT_JSON_SCAN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "exchange/text/chrome_zip.h"

struct json_patch {
	uint64_t from, to;
	char text[304];
};

/* Initialise it with zeros. */
struct json_scan {
	struct xch_gz *in;
	void *zipped;        /* gzFile of the copy; NULL: it is not compressed */
	FILE *out;           /* of the copy; NULL: there is none */
	struct xch_zip *zip; /* the copy is its open member, not compressed otherwise; NULL: it is no member */
	const char *path;
	struct tkm_err *err;
	char *buf;
	size_t room, start, at, end; /* buf[start..at) is not written yet, buf[at..end) not looked at */
	uint64_t base;               /* offset of buf[0] */
	int held, eof;
	struct json_patch patch[8];
	int patches;
};

/* A key: the offsets of its text, and the text without quotes if it is shorter than `name`, else "". */
struct json_key {
	uint64_t from, to;
	char name[32];
};

/* Opens the file, or begins it anew. The copy is compressed if the file is, or goes into the open member of a zip. Returns 0 or -1. */
int xch_scan_begin(struct json_scan *s, const char *path, FILE *out, struct xch_zip *zip, struct tkm_err *err);
/* Only blanks may follow. Completes the copy. Returns 0 or -1. */
int xch_scan_end(struct json_scan *s);
void xch_scan_free(struct json_scan *s);

/* Returns -1 with "PATH: offset N: what". */
int xch_scan_fail(struct json_scan *s, uint64_t offset, const char *what);

/* The next byte that is no blank, or -1: there is none, or the file cannot be read. */
int xch_scan_peek_far(struct json_scan *s);
static inline int xch_scan_peek(struct json_scan *s)
{
	return s->at < s->end && (unsigned char)s->buf[s->at] > ' ' ? (unsigned char)s->buf[s->at]
								    : xch_scan_peek_far(s);
}
/* The offset of the byte that xch_scan_peek() returned. */
static inline uint64_t xch_scan_at(const struct json_scan *s)
{
	return s->base + s->at;
}
/* Goes back to an offset of what is held. */
static inline void xch_scan_back(struct json_scan *s, uint64_t offset)
{
	s->at = (size_t)(offset - s->base);
}
/* What is held can be looked at by its offset. It is not written before the hold is over. */
void xch_scan_hold(struct json_scan *s, int hold);
const char *xch_scan_text(const struct json_scan *s, uint64_t offset);
/* Text to be written instead of the bytes [from, to), which are not written yet, at most 300; in any order. Returns 0, or -1: there are 8 that
 * wait to be written. */
int xch_scan_replace(struct json_scan *s, uint64_t from, uint64_t to, const char *text);
/* Writes what was looked at, if it is not held. Returns 0 or -1. */
int xch_scan_write(struct json_scan *s);

/* Each takes what comes next, which must be of its kind. Return 0 or -1; from and to are its text without quotes. */
int xch_scan_string(struct json_scan *s, uint64_t *from, uint64_t *to);
int xch_scan_word(struct json_scan *s, uint64_t *from, uint64_t *to); /* a number, true, false or null */
int xch_scan_skip(struct json_scan *s);                               /* any value */
int xch_scan_value(
	struct json_scan *s, uint64_t *from, uint64_t *to); /* a text, or any other value as it is in the file */

/* Is the held text [from, to) a stamp of 0? In Kineto's files such a stamp is none. */
int xch_scan_is_zero(const struct json_scan *s, uint64_t from, uint64_t to);
/* The number in the held text [from, to), microseconds, as ns; no double takes part. Returns 0 or -1. */
int xch_scan_us(struct json_scan *s, uint64_t from, uint64_t to, int64_t *ns);

/* The next member of the object, or element of the array, that comes next; *first is 1 before the first. Returns 1: its value comes
 * next; 0: there are no more; or -1. open_end: the end of the file is the end of the array, too. */
int xch_scan_member(struct json_scan *s, int *first, struct json_key *k);
int xch_scan_element(struct json_scan *s, int *first, int open_end);

#endif
