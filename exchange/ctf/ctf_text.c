/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "exchange/ctf/ctf_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"

enum { MAX_METADATA = 16 << 20, PACKET_HEADER = 37, PATH = 4400 };
static const uint32_t metadata_magic = 0x75D11D57;

/* ---- the file ---- */

static int broken(const char *folder, uint64_t offset, const char *what, struct tkm_err *err)
{
	return tkm_fail(err, TKM_ERR_FORMAT, "%s/metadata: offset %" PRIu64 ": %s", folder, offset, what);
}

char *xch_ctf_load(const char *folder, const char *name, size_t *n, struct tkm_err *err)
{
	char path[PATH], *p;
	struct stat st;
	size_t size;
	FILE *f;

	snprintf(path, sizeof(path), "%.3000s/%.1000s", folder, name);
	f = fopen(path, "re");
	size = f && fstat(fileno(f), &st) == 0 && (uint64_t)st.st_size < MAX_METADATA ? (size_t)st.st_size
										      : MAX_METADATA;
	p = f ? malloc(size + 2) : NULL;
	*n = p ? fread(p, 1, size + 1, f) : 0;
	if (!p || !f || ferror(f) || *n > MAX_METADATA) {
		p &&f && !ferror(f) ? tkm_fail(err, TKM_ERR_FORMAT, "%s: larger than %d bytes", path, MAX_METADATA)
				    : tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot read %s", path);
		free(p);
		p = NULL;
	} else {
		p[*n] = 0;
	}
	if (f) {
		fclose(f);
	}
	return p;
}

int xch_ctf_unpack(const char *folder, char *text, size_t *size, struct tkm_err *err)
{
	unsigned char *b = (unsigned char *)text;
	size_t at = 0, to = 0, content, packet;
	int big;

	if (*size < 4 || (tkm_get32(b, 0) != metadata_magic && tkm_get32(b, 1) != metadata_magic)) {
		return 0;
	}
	big = tkm_get32(b, 1) == metadata_magic;
	while (at < *size) {
		if (*size - at < PACKET_HEADER || tkm_get32(b + at, big) != metadata_magic) {
			return broken(folder, at, "no packet begins here", err);
		}
		content = tkm_get32(b + at + 24, big) / 8;
		packet = tkm_get32(b + at + 28, big) / 8;
		if (content < PACKET_HEADER || packet < content || packet > *size - at || b[at + 32] || b[at + 33]) {
			return broken(folder, at, "a packet of no possible size, compressed or encrypted", err);
		}
		memmove(b + to, b + at + PACKET_HEADER, content - PACKET_HEADER);
		to += content - PACKET_HEADER;
		at += packet;
	}
	*size = to;
	b[to] = 0;
	return 0;
}

/* ---- words ---- */

const char *xch_ctf_skip(const char *p)
{
	const char *q;

	if (p[0] == '/' && p[1] == '*') {
		q = strstr(p + 2, "*/");
		return q ? q + 2 : p + strlen(p);
	}
	if (p[0] == '/' && p[1] == '/') {
		return p + strcspn(p, "\n");
	}
	if (*p != '"') {
		return p;
	}
	for (q = p + 1; *q && *q != '"'; q++) {
		q += *q == '\\' && q[1];
	}
	return *q ? q + 1 : q;
}

int xch_ctf_is_word(char c)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

size_t xch_ctf_token(struct xch_ctf_text *s, const char **t)
{
	const char *q;

	while (s->p < s->end) {
		if (strchr(" \t\r\n", *s->p)) {
			s->p++;
		} else if (*s->p != '"' && (q = xch_ctf_skip(s->p)) != s->p) {
			s->p = q;
		} else {
			break;
		}
	}
	*t = s->p;
	if (s->p >= s->end) {
		return 0;
	}
	s->p = *s->p == '"' ? xch_ctf_skip(s->p) : s->p + 1;
	while (xch_ctf_is_word(**t) && s->p < s->end && (xch_ctf_is_word(*s->p) || *s->p == '.')) {
		s->p++;
	}
	return (size_t)(s->p - *t);
}

int xch_ctf_word_is(const char *t, size_t n, const char *word)
{
	return n == strlen(word) && !strncmp(t, word, n);
}

int xch_ctf_next_is(struct xch_ctf_text *s, const char *word)
{
	struct xch_ctf_text was = *s;
	const char *t;
	size_t n = xch_ctf_token(s, &t);

	if (n && xch_ctf_word_is(t, n, word)) {
		return 1;
	}
	*s = was;
	return 0;
}

int xch_ctf_block(struct xch_ctf_text *s, struct xch_ctf_text *inner)
{
	const char *t;
	int depth = 1;
	size_t n;

	if (!xch_ctf_next_is(s, "{")) {
		return -1;
	}
	inner->p = s->p;
	while (depth && (n = xch_ctf_token(s, &t)) > 0) {
		depth += xch_ctf_word_is(t, n, "{") - xch_ctf_word_is(t, n, "}");
	}
	inner->end = depth ? s->end : s->p - 1;
	return depth ? -1 : 0;
}

int xch_ctf_find(struct xch_ctf_text *s, const char *word, const char *second)
{
	struct xch_ctf_text inner;
	const char *t;
	size_t n;

	while ((n = xch_ctf_token(s, &t)) > 0) {
		if (xch_ctf_word_is(t, n, word) && (!second || xch_ctf_next_is(s, second))) {
			return 1;
		}
		if (xch_ctf_word_is(t, n, "{")) {
			s->p = t;
			if (xch_ctf_block(s, &inner) < 0) {
				return 0;
			}
		}
	}
	return 0;
}

size_t xch_ctf_value(struct xch_ctf_text s, const char *name, const char **v)
{
	while (xch_ctf_find(&s, name, NULL)) {
		if (xch_ctf_next_is(&s, "=")) {
			return xch_ctf_token(&s, v);
		}
	}
	return 0;
}

uint64_t xch_ctf_number(struct xch_ctf_text s, const char *name, uint64_t otherwise)
{
	const char *v;

	return xch_ctf_value(s, name, &v) ? strtoull(v, NULL, 0) : otherwise;
}

void xch_ctf_order(struct xch_ctf_text s, int *big)
{
	const char *v;
	size_t n = xch_ctf_value(s, "byte_order", &v);

	*big = xch_ctf_word_is(v, n, "be") || xch_ctf_word_is(v, n, "network") ? 1
		: xch_ctf_word_is(v, n, "le")                                  ? 0
									       : *big;
}

static unsigned digits_of(const char **p, const char *end, unsigned base, int most)
{
	unsigned v = 0, d;

	for (; *p < end && most; ++*p, most--) {
		d = **p >= '0' && **p <= '9'                     ? (unsigned)(**p - '0')
			: (**p | 32) >= 'a' && (**p | 32) <= 'f' ? (unsigned)((**p | 32) - 'a' + 10)
								 : 99;
		if (d >= base) {
			break;
		}
		v = v * base + d;
	}
	return v;
}

static char escaped(const char **p, const char *end)
{
	static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
	const char c = **p, *known = strchr(from, c);

	if (c >= '0' && c <= '7') {
		return (char)digits_of(p, end, 8, 3);
	}
	++*p;
	return c == 'x' ? (char)digits_of(p, end, 16, 2) : known && c ? to[known - from] : c;
}

void xch_ctf_unescape(char *to, const char *p, const char *end)
{
	while (p < end) {
		if (*p == '\\' && p + 1 < end) {
			p++;
			*to = escaped(&p, end);
		} else {
			*to = *p++;
		}
		*to = (char)(*to ? *to : ' ');
		to++;
	}
	*to = '\0';
}
