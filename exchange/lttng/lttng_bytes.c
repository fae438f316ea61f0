/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of LTTng traces of 2008: trace headers, marker formats and the data of events. */
#include "config.h"
#include "exchange/lttng/lttng.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/grow.h"

/* ---- the trace header ---- */

/* The fields of the header in their order, with their offsets from the header's start when packed and when
 * aligned. */
enum {
	F_MAGIC,
	F_TYPE,
	F_VARIANT,
	F_FLOAT,
	F_BYTES,
	F_SCALE,
	F_FREQ,
	F_TSC,
	F_MONOTONIC,
	F_SECONDS,
	F_NANOSECONDS,
	F_END
};
static const unsigned char place[2][F_END + 1] = {
	{ 0, 4, 8, 12, 16, 25, 29, 37, 45, 53, 57, 61 },
	{ 0, 4, 8, 12, 16, 28, 32, 40, 48, 56, 60, 64 },
};

size_t xch_lttng_head_put(unsigned char *p, const struct xch_lttng_head *h)
{
	const unsigned char *at = place[h->natural];
	const uint8_t bytes[] = { h->arch_size, h->major, h->minor, h->flight_recorder, h->has_heartbeat, h->alignment,
		h->tsc_lsb_truncate, h->tscbits, h->compact_data_shift };

	memset(p, 0, LTT_HEAD_MAX);
	tkm_put32(p + at[F_MAGIC], LTT_MAGIC, h->big);
	tkm_put32(p + at[F_TYPE], h->arch_type, h->big);
	tkm_put32(p + at[F_VARIANT], h->arch_variant, h->big);
	tkm_put32(p + at[F_FLOAT], h->float_word_order, h->big);
	memcpy(p + at[F_BYTES], bytes, sizeof(bytes));
	tkm_put32(p + at[F_SCALE], h->freq_scale, h->big);
	tkm_put64(p + at[F_FREQ], h->start_freq, h->big);
	tkm_put64(p + at[F_TSC], h->start_tsc, h->big);
	tkm_put64(p + at[F_MONOTONIC], h->start_monotonic, h->big);
	tkm_put32(p + at[F_SECONDS], h->seconds, h->big);
	tkm_put32(p + at[F_NANOSECONDS], h->nanoseconds, h->big);
	return at[F_END];
}

static void head_get_as(const unsigned char *p, int natural, struct xch_lttng_head *h)
{
	const unsigned char *at = place[natural], *b = p + at[F_BYTES];
	int big = h->big;

	*h = (struct xch_lttng_head){ .big = big,
		.natural = natural,
		.arch_type = tkm_get32(p + at[F_TYPE], big),
		.arch_variant = tkm_get32(p + at[F_VARIANT], big),
		.float_word_order = tkm_get32(p + at[F_FLOAT], big),
		.arch_size = b[0],
		.major = b[1],
		.minor = b[2],
		.flight_recorder = b[3],
		.has_heartbeat = b[4],
		.alignment = b[5],
		.tsc_lsb_truncate = b[6],
		.tscbits = b[7],
		.compact_data_shift = b[8],
		.freq_scale = tkm_get32(p + at[F_SCALE], big),
		.start_freq = tkm_get64(p + at[F_FREQ], big),
		.start_tsc = tkm_get64(p + at[F_TSC], big),
		.start_monotonic = tkm_get64(p + at[F_MONOTONIC], big),
		.seconds = tkm_get32(p + at[F_SECONDS], big),
		.nanoseconds = tkm_get32(p + at[F_NANOSECONDS], big) };
}

/* How plausible a layout is. 0: impossible; 1: possible; 2: also the frequency is near the one at the block's
 * begin. */
static int judge_head(const struct xch_lttng_head *h, uint64_t block_freq)
{
	if (!h->freq_scale || !h->start_freq || h->nanoseconds >= 1000000000) {
		return 0;
	}
	return h->start_freq / 2 <= block_freq && block_freq / 2 <= h->start_freq ? 2 : 1;
}

size_t xch_lttng_head_get(const unsigned char *block, size_t n, struct xch_lttng_head *h, const char **why)
{
	const unsigned char *p = block + LTT_BLOCK_HEADER;
	struct xch_lttng_head as[2] = { { 0 }, { 0 } };
	int how[2], natural;

	*why = "the file ends in the trace header";
	if (n < (size_t)LTT_BLOCK_HEADER + place[0][F_END]) {
		return 0;
	}
	h->big = tkm_get32(p, 1) == LTT_MAGIC;
	*why = "no magic number 0x00D6B7ED in either byte order";
	if (!h->big && tkm_get32(p, 0) != LTT_MAGIC) {
		return 0;
	}
	for (natural = 0; natural < 2; natural++) {
		as[natural].big = h->big;
		how[natural] = 0;
		if (n >= (size_t)LTT_BLOCK_HEADER + place[natural][F_END]) {
			head_get_as(p, natural, &as[natural]);
			how[natural] = judge_head(&as[natural], tkm_get64(block + 8, h->big));
		}
	}
	*why = "scale, frequency or start time make no sense in the trace header, packed or aligned";
	if (!how[0] && !how[1]) {
		return 0;
	}
	*h = as[how[1] > how[0]];
	*why = "arch_size is not 4 or 8";
	if (h->arch_size != 4 && h->arch_size != 8) {
		return 0;
	}
	*why = "float_word_order is not 1234 or 4321";
	if (h->float_word_order != 1234 && h->float_word_order != 4321) {
		return 0;
	}
	*why = "has_heartbeat is not 0 or 1";
	if (h->has_heartbeat > 1) {
		return 0;
	}
	*why = "alignment is not 0, 1, 2, 4, 8 or 16";
	if (h->alignment > 16 || (h->alignment & (h->alignment - 1))) {
		return 0;
	}
	*why = NULL;
	return place[h->natural][F_END];
}

/* ---- data of events ---- */

static unsigned char *reserve(struct xch_lttng_data *d, size_t size, int aligned)
{
	size_t at = aligned && d->h->alignment ? xch_lttng_up(d->n, size) : d->n;

	if (d->full || size > LTT_DATA_MAX || at > LTT_DATA_MAX - size) {
		d->full = 1;
		return NULL;
	}
	memset(d->b + d->n, 0, at - d->n);
	d->n = at + size;
	return d->b + at;
}

void xch_lttng_add(struct xch_lttng_data *d, uint64_t value, size_t size)
{
	unsigned char *p = reserve(d, size, 1);

	if (p) {
		tkm_put_number(p, value, (unsigned)size, d->h->big);
	}
}

void xch_lttng_add_real(struct xch_lttng_data *d, double value)
{
	unsigned char *p = reserve(d, sizeof(value), 1);
	uint64_t u;

	memcpy(&u, &value, sizeof(u));
	if (p) {
		tkm_put64(p, u, d->h->float_word_order == 4321);
	}
}

void xch_lttng_add_text(struct xch_lttng_data *d, const char *text)
{
	size_t n = strlen(text) + 1;
	unsigned char *p = reserve(d, n, 0);

	if (p) {
		memcpy(p, text, n);
	}
}

/* Parses one conversion, "%lld" or "#4u%lld", into *f. Returns 0 or -1. */
static int conversion(const char *p, const char *end, struct xch_lttng_field *f)
{
	size_t said = 0, longs = 0;
	int no_sign = 0;

	if (*p == '#') {
		for (p++; p < end && isdigit((unsigned char)*p); p++) {
			said = said * 10 + (size_t)(*p - '0');
			if (said > 8) {
				return -1;
			}
		}
		for (; p < end && *p != '%'; p++) {
			no_sign |= *p == 'u';
		}
		if (said != 1 && said != 2 && said != 4 && said != 8) {
			return -1;
		}
	}
	if (p >= end || *p++ != '%') {
		return -1;
	}
	for (; p < end && *p == 'l'; p++) {
		longs++;
	}
	if (p + 1 != end || longs > 2 || !strchr("sdiuxXpf", *p)) {
		return -1;
	}
	f->kind = *p == 's'                    ? LTT_TEXT
		: *p == 'f'                    ? LTT_REAL
		: strchr("di", *p) && !no_sign ? LTT_SIGNED
					       : LTT_UNSIGNED;
	f->size = said ? said : *p == 's' ? 0 : *p == 'f' ? 8 : *p == 'p' || longs == 1 ? 0 : longs == 2 ? 8 : 4;
	/* real numbers have 4 or 8 bytes; texts end with a zero byte */
	return (f->kind == LTT_REAL && f->size < 4) || (f->kind == LTT_TEXT && said) ? -1 : 0;
}

/* Finds the next word from *p on; returns its end. */
static const char *word(const char **p)
{
	const char *end;

	while (**p == ' ') {
		++*p;
	}
	for (end = *p; *end && *end != ' '; end++) {
		;
	}
	return end;
}

int xch_lttng_format(const char *format, struct xch_lttng_field **fields)
{
	struct xch_lttng_field *q;
	const char *end, *name, *p = format;
	size_t length;
	int n = 0;

	*fields = NULL;
	while ((end = word(&p)) > p) {
		name = p;
		length = (size_t)(end - p);
		p = end;
		end = word(&p);
		q = TKM_APPEND(*fields, n);
		if (q) {
			q->name = strndup(name, length);
		}
		if (!q || !q->name || conversion(p, end, q) < 0) {
			xch_lttng_fields_free(*fields, n);
			*fields = NULL;
			return -1;
		}
		p = end;
	}
	return n;
}

void xch_lttng_fields_free(struct xch_lttng_field *fields, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		free(fields[i].name);
	}
	free(fields);
}

static uint64_t get(const unsigned char *p, size_t size, int big, int is_signed)
{
	uint64_t v = tkm_get_number(p, (unsigned)size, big), sign = UINT64_C(1) << (8 * size - 1);

	return is_signed && (v & sign) ? v | ~(2 * sign - 1) : v;
}

static uint64_t get_real(const unsigned char *p, size_t size, int big)
{
	uint64_t u;
	double d;
	float f;

	if (size == 8) {
		return tkm_get64(p, big);
	}
	u = tkm_get32(p, big);
	memcpy(&f, &(uint32_t){ (uint32_t)u }, sizeof(f));
	d = f;
	memcpy(&u, &d, sizeof(u));
	return u;
}

int xch_lttng_values(const struct xch_lttng_head *h, const struct xch_lttng_field *fields, int n,
	const unsigned char *data, size_t size, struct xch_lttng_value *out)
{
	const unsigned char *end;
	size_t at = 0, bytes;
	int i;

	for (i = 0; i < n; i++) {
		const struct xch_lttng_field *f = &fields[i];

		if (f->kind == LTT_TEXT) {
			end = at < size ? memchr(data + at, 0, size - at) : NULL;
			if (!end) {
				return -1;
			}
			out[i] = (struct xch_lttng_value){ .text = (const char *)data + at };
			at = (size_t)(end - data) + 1;
			continue;
		}
		bytes = f->size ? f->size : h->arch_size;
		at = h->alignment ? xch_lttng_up(at, bytes) : at;
		if (at > size || size - at < bytes) {
			return -1;
		}
		out[i].text = NULL;
		out[i].u = f->kind == LTT_REAL ? get_real(data + at, bytes, h->float_word_order == 4321)
					       : get(data + at, bytes, h->big, f->kind == LTT_SIGNED);
		at += bytes;
	}
	return 0;
}
