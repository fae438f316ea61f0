/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a JSON file and copies it; see exchange/text/json_scan.h. */
#include "config.h"
#include "exchange/text/json_scan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/text/decimal.h"
#include "exchange/common/private.h"

enum { STEP = 1 << 18, MOST = 48 << 20, DEEPEST = 1000, NUMBER = 64 };

int xch_scan_fail(struct json_scan *s, uint64_t offset, const char *what)
{
	return tkm_fail(s->err, TKM_ERR_FORMAT, "%s: offset %" PRIu64 ": %s", s->path, offset, what);
}

/* ---- bytes ---- */

static int put_bytes(struct json_scan *s, const char *p, size_t n)
{
	if (n == 0 || !s->out) {
		return 0;
	}
	if (s->zip) {
		return xch_zip_write(s->zip, p, n, s->err);
	}
	if (s->zipped ? gzwrite(s->zipped, p, (unsigned)n) != (int)n : fwrite(p, 1, n, s->out) != n) {
		return tkm_fail_errno(s->err, TKM_ERR_IO, errno, "cannot write the copy of %s", s->path);
	}
	return 0;
}

/* Writes up to that place in the buffer. */
static int write_up_to(struct json_scan *s, size_t end)
{
	int i;

	for (i = 0; i < s->patches; i++) {
		const struct json_patch *p = &s->patch[i];
		size_t from = (size_t)(p->from - s->base);

		if (put_bytes(s, s->buf + s->start, from - s->start) < 0 ||
			put_bytes(s, p->text, strlen(p->text)) < 0) {
			return -1;
		}
		s->start = (size_t)(p->to - s->base);
	}
	s->patches = 0;
	if (put_bytes(s, s->buf + s->start, end - s->start) < 0) {
		return -1;
	}
	s->start = end;
	return 0;
}

int xch_scan_write(struct json_scan *s)
{
	return s->held || (s->patches == 0 && s->at - s->start < STEP / 4) ? 0 : write_up_to(s, s->at);
}

/* Reads more behind the buffer. Returns 1; 0: the file has ended; or -1. */
static int read_more(struct json_scan *s)
{
	char *more;
	long n;

	if (s->eof) {
		return 0;
	}
	if (!s->held && write_up_to(s, s->at) < 0) {
		return -1;
	}
	if (s->start > 0) {
		memmove(s->buf, s->buf + s->start, s->end - s->start);
		s->base += s->start;
		s->at -= s->start;
		s->end -= s->start;
		s->start = 0;
	}
	if (s->end + STEP > s->room) {
		more = s->room < MOST ? realloc(s->buf, s->room * 2 + STEP) : NULL;
		if (!more) {
			return s->room < MOST
				? tkm_fail(s->err, TKM_ERR_NOMEM, "out of memory for an event of %s", s->path)
				: xch_scan_fail(s, s->base, "an event of more than 48 MiB");
		}
		s->buf = more;
		s->room = s->room * 2 + STEP;
	}
	n = xch_gz_read(s->in, s->buf + s->end, STEP, s->err);
	if (n < 0) {
		return -1;
	}
	s->end += (size_t)n;
	s->eof = n == 0;
	return n > 0;
}

static inline int peek_byte(struct json_scan *s)
{
	return s->at < s->end || read_more(s) > 0 ? (unsigned char)s->buf[s->at] : -1;
}

int xch_scan_begin(struct json_scan *s, const char *path, FILE *out, struct xch_zip *zip, struct tkm_err *err)
{
	char *buf = s->buf;
	struct xch_gz *in = s->in;
	size_t room = s->room;
	int fd;

	*s = (struct json_scan){ .in = in, .buf = buf, .room = room, .path = path, .out = out, .zip = zip, .err = err };
	if (!s->in) {
		s->in = xch_gz_open(path, err);
		if (!s->in) {
			return -1;
		}
	} else if (xch_gz_rewind(s->in, err) < 0) {
		return -1;
	}
	if (read_more(s) < 0) {
		return -1;
	}
	if (out && !zip && xch_gz_is_compressed(s->in)) {
		fd = dup(fileno(out));
		s->zipped = fd >= 0 ? gzdopen(fd, "wb6") : NULL;
		if (!s->zipped) {
			return tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot compress the copy of %s", path);
		}
	}
	/* a byte order mark */
	if (s->end >= 3 && !memcmp(s->buf, "\357\273\277", 3)) {
		s->at = 3;
	}
	return 0;
}

int xch_scan_end(struct json_scan *s)
{
	void *zipped = s->zipped;

	if (xch_scan_peek(s) >= 0) {
		return xch_scan_fail(s, xch_scan_at(s), "something behind the end of the trace");
	}
	if (!s->eof) {
		return -1; /* it could not be read */
	}
	s->held = 0;
	if (write_up_to(s, s->at) < 0) {
		return -1;
	}
	s->zipped = NULL;
	if (zipped && gzclose(zipped) != Z_OK) {
		return tkm_fail_errno(s->err, TKM_ERR_IO, errno, "cannot write the copy of %s", s->path);
	}
	return 0;
}

void xch_scan_free(struct json_scan *s)
{
	xch_gz_close(s->in);
	if (s->zipped) {
		gzclose(s->zipped);
	}
	free(s->buf);
	memset(s, 0, sizeof(*s));
}

int xch_scan_peek_far(struct json_scan *s)
{
	size_t at;
	int c;

	do {
		for (at = s->at; at < s->end && ((c = s->buf[at]) == ' ' || c == '\n' || c == '\r' || c == '\t');
			at++) {
		}
		s->at = at;
	} while (at == s->end && read_more(s) > 0);
	return s->at < s->end ? (unsigned char)s->buf[s->at] : -1;
}

void xch_scan_hold(struct json_scan *s, int hold)
{
	s->held = hold;
}

const char *xch_scan_text(const struct json_scan *s, uint64_t offset)
{
	return s->buf + (offset - s->base);
}

int xch_scan_replace(struct json_scan *s, uint64_t from, uint64_t to, const char *text)
{
	int i = s->patches;

	if (!s->out) {
		return 0;
	}
	if (i == (int)(sizeof(s->patch) / sizeof(s->patch[0]))) {
		return xch_scan_fail(s, from, "too many times in one event");
	}
	for (; i > 0 && s->patch[i - 1].from > from; i--) {
		s->patch[i] = s->patch[i - 1];
	}
	s->patch[i].from = from;
	s->patch[i].to = to;
	memcpy(s->patch[i].text, text, strlen(text) + 1);
	s->patches++;
	return 0;
}

/* ---- bytes that end what is scanned, eight at a time ---- */

#define ALL(byte) (0x0101010101010101u * (byte))

/* Has a bit of each byte that is 0. Bytes after the first of these can have one, too. */
static inline uint64_t zero_bytes(uint64_t v)
{
	return (v - ALL(1)) & ~v & ALL(0x80);
}

/* The first byte in memory has the lowest bits. */
static inline uint64_t eight_bytes(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap64(v);
}

/* The next quote or backslash in the buffer from `at` on, or its end. */
static inline size_t find_quote(const struct json_scan *s, size_t at)
{
	uint64_t v, found;

	for (; at + 8 <= s->end; at += 8) {
		v = eight_bytes(s->buf + at);
		found = zero_bytes(v ^ ALL('"')) | zero_bytes(v ^ ALL('\\'));
		if (found) {
			return at + (size_t)__builtin_ctzll(found) / 8;
		}
	}
	while (at < s->end && s->buf[at] != '"' && s->buf[at] != '\\') {
		at++;
	}
	return at;
}

/* The next quote or bracket in the buffer from `at` on, or its end. A bracket and a brace differ in bit 5. */
static inline size_t find_mark(const struct json_scan *s, size_t at)
{
	uint64_t v, found;

	for (; at + 8 <= s->end; at += 8) {
		v = eight_bytes(s->buf + at);
		found = zero_bytes(v ^ ALL('"')) | zero_bytes((v | ALL(32)) ^ ALL('{')) |
			zero_bytes((v | ALL(32)) ^ ALL('}'));
		if (found) {
			return at + (size_t)__builtin_ctzll(found) / 8;
		}
	}
	while (at < s->end && s->buf[at] != '"' && (s->buf[at] | 32) != '{' && (s->buf[at] | 32) != '}') {
		at++;
	}
	return at;
}

/* ---- values ---- */

static int cut_short(struct json_scan *s)
{
	return s->eof ? xch_scan_fail(s, s->base + s->end, "the file ends within a value") : -1;
}

int xch_scan_string(struct json_scan *s, uint64_t *from, uint64_t *to)
{
	if (xch_scan_peek(s) != '"') {
		return s->at < s->end ? xch_scan_fail(s, xch_scan_at(s), "a string is expected") : cut_short(s);
	}
	s->at++;
	*from = xch_scan_at(s);
	for (;;) {
		s->at = find_quote(s, s->at);
		if (s->at == s->end) {
			if (read_more(s) <= 0) {
				return cut_short(s);
			}
		} else if (s->buf[s->at] == '"') {
			*to = xch_scan_at(s);
			s->at++;
			return 0;
		} else {
			/* whatever the character after a backslash is, it ends nothing */
			s->at++;
			if (peek_byte(s) < 0) {
				return cut_short(s);
			}
			s->at++;
		}
	}
}

static inline int is_of_word(int c)
{
	return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '.' || c == '-' || c == '+';
}

int xch_scan_word(struct json_scan *s, uint64_t *from, uint64_t *to)
{
	size_t at;

	if (!is_of_word(xch_scan_peek(s))) {
		return s->at < s->end ? xch_scan_fail(s, xch_scan_at(s), "a value is expected") : cut_short(s);
	}
	*from = xch_scan_at(s);
	do {
		for (at = s->at; at < s->end && is_of_word(s->buf[at]); at++) {
		}
		s->at = at;
	} while (at == s->end && read_more(s) > 0);
	*to = xch_scan_at(s);
	return 0;
}

/* The next quote or bracket, or -1: the file ends, or cannot be read. */
static int find_bracket(struct json_scan *s)
{
	do {
		s->at = find_mark(s, s->at);
	} while (s->at == s->end && read_more(s) > 0);
	return s->at < s->end ? s->buf[s->at] : -1;
}

/* Arrays and objects by their brackets, whose kinds are remembered; what is between them stays as it is. */
int xch_scan_skip(struct json_scan *s)
{
	char open[DEEPEST];
	int depth = 0, c = xch_scan_peek(s);
	uint64_t from, to;
	size_t end;

	if (c != '"' && c != '{' && c != '[') {
		return xch_scan_word(s, &from, &to);
	}
	do {
		c = depth > 0 ? find_bracket(s) : c;
		if (c < 0) {
			return cut_short(s);
		}
		if (c == '"') {
			end = find_quote(s, s->at + 1);
			if (end < s->end && s->buf[end] == '"') {
				s->at = end + 1;
			} else if (xch_scan_string(s, &from, &to) < 0) {
				return -1;
			}
		} else if (c == '{' || c == '[') {
			if (depth == DEEPEST) {
				return xch_scan_fail(s, xch_scan_at(s), "more than 1000 brackets in each other");
			}
			open[depth++] = (char)c;
			s->at++;
		} else {
			if (depth == 0 || open[depth - 1] != (c == '}' ? '{' : '[')) {
				return xch_scan_fail(s, xch_scan_at(s), "a bracket that was not opened");
			}
			depth--;
			s->at++;
		}
	} while (depth > 0);
	return 0;
}

/* Takes the bracket, or the comma before what comes next. Returns 1: something comes; 0: the end was taken; or -1. */
static int take_separator(struct json_scan *s, int *first, char open, char close)
{
	int c = xch_scan_peek(s);

	if (*first && c == open) {
		s->at++;
		*first = 0;
		c = xch_scan_peek(s);
		if (c == close) {
			s->at++;
			return 0;
		}
		return c < 0 ? cut_short(s) : 1;
	}
	if (c == close) {
		s->at++;
		return 0;
	}
	if (c != ',') {
		return c < 0 ? cut_short(s)
			     : xch_scan_fail(s, xch_scan_at(s), "a comma or a closing bracket is expected");
	}
	s->at++;
	return 1;
}

static void take_name(const struct json_scan *s, struct json_key *k)
{
	size_t n = (size_t)(k->to - k->from), at = (size_t)(k->from - s->base);

	n = n < sizeof(k->name) ? n : 0;
	if (at + sizeof(k->name) <= s->end) {
		memcpy(k->name, s->buf + at, sizeof(k->name)); /* two instructions, not a call */
	} else {
		memcpy(k->name, s->buf + at, n);
	}
	k->name[n] = '\0';
}

static inline size_t pass_blanks(const struct json_scan *s, size_t at)
{
	while (at < s->end && (s->buf[at] == ' ' || s->buf[at] == '\n' || s->buf[at] == '\r' || s->buf[at] == '\t')) {
		at++;
	}
	return at;
}

/* A further member of which comma, key, colon and what comes next are in the buffer. Returns 1, or 0: it is none, and nothing is taken. */
static int take_near_member(struct json_scan *s, struct json_key *k)
{
	size_t at = s->at, from;

	if (at == s->end || s->buf[at] != ',') {
		return 0;
	}
	at = pass_blanks(s, at + 1);
	if (at == s->end || s->buf[at] != '"') {
		return 0;
	}
	from = at + 1;
	at = find_quote(s, from);
	if (at + 1 >= s->end || s->buf[at] != '"' || s->buf[at + 1] != ':') {
		return 0;
	}
	k->from = s->base + from;
	k->to = s->base + at;
	at = pass_blanks(s, at + 2);
	if (at == s->end) {
		return 0;
	}
	take_name(s, k);
	s->at = at;
	return 1;
}

int xch_scan_member(struct json_scan *s, int *first, struct json_key *k)
{
	int rc, held;

	if (!*first && take_near_member(s, k)) {
		return 1;
	}
	rc = take_separator(s, first, '{', '}');
	if (rc <= 0) {
		return rc;
	}
	held = s->held;
	s->held = 1;
	if (xch_scan_string(s, &k->from, &k->to) < 0) {
		return -1;
	}
	take_name(s, k);
	s->held = held;
	if (xch_scan_peek(s) != ':') {
		return s->at < s->end ? xch_scan_fail(s, xch_scan_at(s), "a colon is expected") : cut_short(s);
	}
	s->at++;
	return xch_scan_peek(s) < 0 ? cut_short(s) : 1;
}

int xch_scan_element(struct json_scan *s, int *first, int open_end)
{
	int was_first = *first, rc;

	if (open_end && !was_first && xch_scan_peek(s) < 0) {
		return s->eof ? 0 : -1;
	}
	rc = take_separator(s, first, '[', ']');
	if (open_end && (rc > 0 || was_first) && xch_scan_peek(s) < 0) {
		return s->eof ? 0 : -1;
	}
	return rc;
}

int xch_scan_value(struct json_scan *s, uint64_t *from, uint64_t *to)
{
	if (xch_scan_peek(s) == '"') {
		return xch_scan_string(s, from, to);
	}
	*from = xch_scan_at(s);
	if (xch_scan_skip(s) < 0) {
		return -1;
	}
	*to = xch_scan_at(s);
	return 0;
}

int xch_scan_is_zero(const struct json_scan *s, uint64_t from, uint64_t to)
{
	const char *p = xch_scan_text(s, from);
	uint64_t i;

	for (i = 0; i < to - from && (p[i] == '0' || p[i] == '.'); i++) {
	}
	return i == to - from;
}

/* Whole numbers with up to three decimals go the short way. */
int xch_scan_us(struct json_scan *s, uint64_t from, uint64_t to, int64_t *ns)
{
	const char *p = xch_scan_text(s, from);
	size_t length = (size_t)(to - from), i = 0;
	char text[NUMBER];
	struct tkm_decimal d;
	int64_t v = 0;
	__int128 whole;
	int places = -1;

	for (; i < length && length < 18; i++) {
		if (p[i] >= '0' && p[i] <= '9') {
			v = 10 * v + (p[i] - '0');
			places += places >= 0;
		} else if (p[i] == '.' && places < 0 && i > 0) {
			places = 0;
		} else {
			break;
		}
	}
	if (i == length && length < 18 && length > 0 && places <= 3 && places != 0) {
		for (places = places < 0 ? 0 : places; places < 3; places++) {
			v *= 10;
		}
		*ns = v;
		return 0;
	}
	if (length >= sizeof(text)) {
		return xch_scan_fail(s, from, "a time of more than 63 characters");
	}
	memcpy(text, p, length);
	text[length] = '\0';
	if (tkm_decimal_read(text, &d) < 0 || tkm_decimal_whole(&d, 3, &whole) < 0 || whole > INT64_MAX ||
		whole < -INT64_MAX) {
		return xch_scan_fail(s, from, "a time that is no number of microseconds");
	}
	*ns = (int64_t)whole;
	return 0;
}
