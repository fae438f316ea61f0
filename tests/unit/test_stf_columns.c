/* SPDX-License-Identifier: BSD-3-Clause */
/* The content of compressed frames: what the library packs comes back, with and without vector instructions the
 * same, and frames that others may write are unpacked as doc/stf-format.md says. */
#define stx_columns_bound plain_bound
#define stx_columns_pack plain_pack
#define stx_columns_size plain_size
#define stx_columns_unpack plain_unpack
#undef __SSE2__
#include "stf/columns.c"
#undef stx_columns_bound
#undef stx_columns_pack
#undef stx_columns_size
#undef stx_columns_unpack

#include "tests/lib/check.h"

size_t stx_columns_bound(size_t n);
size_t stx_columns_pack(uint8_t *dst, const uint8_t *p, size_t n, int big);
int64_t stx_columns_size(const uint8_t *content, size_t n, int big);
void stx_columns_unpack(uint8_t *dst, const uint8_t *content, size_t n, int big);

/* Samples of k counters; a few of them change little. */
static size_t make_samples(uint8_t *p, size_t n, unsigned k, int big)
{
	size_t len = 10 + 12 * (size_t)k, i;
	uint64_t value[255] = { 0 };
	unsigned j;

	for (i = 0; i < n; i++, p += len) {
		p[0] = STF_ID_counter_value;
		tkm_put32(p + 1, (uint32_t)(1000 + check_random() % 7), big);
		tkm_put32(p + 5, n % 3 ? 7 : (uint32_t)check_random(), big);
		p[9] = (uint8_t)k;
		for (j = 0; j < k; j++) {
			value[j] += j % 4 == 0 ? check_random()
				: j % 4 == 1   ? check_random() % 99
				: j % 4 == 2   ? (uint64_t)-5
					       : 0;
			tkm_put64(p + 10 + 8 * j, value[j], big);
			tkm_put32(p + 10 + 8 * (size_t)k + 4 * j, n % 5 ? j : (uint32_t)check_random() % 3, big);
		}
	}
	return n * len;
}

static void samples_come_back(void)
{
	static const size_t counts[] = { 2, 3, 15, 16, 17, 31, 32, 33, 100, 936 };
	static const unsigned ks[] = { 1, 2, 3, 4, 5, 9, 64, 255 };
	size_t i, j, n, len;
	int big;

	for (i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		for (j = 0; j < sizeof(ks) / sizeof(*ks); j++) {
			for (big = 0; big < 2; big++) {
				/* exactly as long as they are, so that a tool sees a byte too many */
				uint8_t *p = malloc(counts[i] * (10 + 12 * (size_t)ks[j])), *a, *b, *back;

				n = make_samples(p, counts[i], ks[j], big);
				a = malloc(stx_columns_bound(n));
				b = malloc(stx_columns_bound(n));
				back = malloc(n);
				len = stx_columns_pack(a, p, n, big);
				CHECK(a[0] == 1 && len <= stx_columns_bound(n), "%zu bytes", len);
				CHECK_INT(plain_pack(b, p, n, big), len);
				CHECK(memcmp(a, b, len) == 0, "%zu samples of %u: vectors differ", counts[i], ks[j]);
				CHECK_INT(stx_columns_size(a, len, big), n);
				stx_columns_unpack(back, a, len, big);
				CHECK(memcmp(back, p, n) == 0, "%zu samples of %u did not come back", counts[i], ks[j]);
				memset(back, 0xee, n);
				plain_unpack(back, a, len, big);
				CHECK(memcmp(back, p, n) == 0, "%zu samples of %u without vectors", counts[i], ks[j]);
				free(p);
				free(a);
				free(b);
				free(back);
			}
		}
	}
}

/* Content of n records of `len` bytes with d difference fields, by the letter of the format. */
static size_t by_the_letter(
	uint8_t *dst, const uint8_t *p, size_t n, size_t len, const uint8_t *field, size_t d, int big)
{
	size_t i, c, r;
	uint64_t before;
	uint8_t *rec = malloc(n * len);

	memcpy(rec, p, n * len);
	for (i = 0; i < d; i++) {
		for (r = n; r-- > 1;) {
			c = r * len + tkm_get16(field + 3 * i, big);
			before = get(p + c - len, field[3 * i + 2], big);
			put(rec + c, get(p + c, field[3 * i + 2], big) - before, field[3 * i + 2], big);
		}
	}
	dst[0] = 1;
	tkm_put32(dst + 1, (uint32_t)n, big);
	tkm_put16(dst + 5, (uint16_t)len, big);
	dst[7] = (uint8_t)d;
	memcpy(dst + 8, field, 3 * d);
	for (c = 0; c < len; c++) {
		for (r = 0; r < n; r++) {
			dst[8 + 3 * d + c * n + r] = rec[r * len + c];
		}
	}
	free(rec);
	return 8 + 3 * d + n * len;
}

/* Fields of any width, one after the other, with gaps or none. */
static void others_columns(void)
{
	uint8_t field[3 * 64], *p, *content, *back;
	size_t n, len, d, at, i, width;
	int big, round_;

	for (round_ = 0; round_ < 4000; round_++) {
		big = round_ % 2;
		n = 1 + check_random() % 70;
		len = 1 + check_random() % 90;
		for (d = 0, at = 0; d < 64; d++, at += width) {
			width = round_ % 3 ? 8 : (size_t)1 << check_random() % 4;
			at += check_random() % 12;
			if (at + width > len) {
				break;
			}
			tkm_put16(field + 3 * d, (uint16_t)at, big);
			field[3 * d + 2] = (uint8_t)width;
		}
		p = malloc(n * len);
		content = malloc(8 + 3 * d + n * len);
		back = malloc(n * len);
		for (i = 0; i < n * len; i++) {
			p[i] = (uint8_t)(i % len % 3 ? check_random() : i % len);
		}
		i = by_the_letter(content, p, n, len, field, d, big);
		CHECK_INT(stx_columns_size(content, i, big), n * len);
		stx_columns_unpack(back, content, i, big);
		CHECK(memcmp(back, p, n * len) == 0, "%zu records of %zu bytes with %zu fields", n, len, d);
		memset(back, 0xee, n * len);
		plain_unpack(back, content, i, big);
		CHECK(memcmp(back, p, n * len) == 0, "%zu records without vectors", n);
		free(p);
		free(content);
		free(back);
	}
}

/* What is not samples of one length is kept as it is; a content that does not add up is refused. */
static void the_rest(void)
{
	uint8_t p[44], a[100], back[44];
	size_t n = make_samples(p, 2, 1, 0), len;

	p[22 + 9] = 2;
	len = stx_columns_pack(a, p, n, 0);
	CHECK(len == n + 1 && a[0] == 0 && memcmp(a + 1, p, n) == 0, "%zu", len);
	CHECK_INT(stx_columns_size(a, len, 0), n);
	stx_columns_unpack(back, a, len, 0);
	CHECK(memcmp(back, p, n) == 0, "as it was");
	p[22 + 9] = 1;
	len = stx_columns_pack(a, p, n, 0);
	CHECK_INT(stx_columns_size(a, len - 1, 0), -1);
	a[8] = 20; /* the field would reach beyond the record */
	CHECK_INT(stx_columns_size(a, len, 0), -1);
	a[8] = 10;
	a[10] = 3;
	CHECK_INT(stx_columns_size(a, len, 0), -1);
	a[0] = 2;
	CHECK_INT(stx_columns_size(a, len, 0), -1);
	CHECK_INT(stx_columns_size(a, 0, 0), -1);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(samples_come_back);
	RUN(others_columns);
	RUN(the_rest);
	return check_end();
}
