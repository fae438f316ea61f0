/* SPDX-License-Identifier: BSD-3-Clause */
/* The content of compressed frames: what the library packs comes back, with and without vector instructions the
 * same, and frames that others may write are unpacked as doc/stf-format.md says. */
#define stf_columns_bound plain_bound
#define stf_columns_pack plain_pack
#define stf_columns_size plain_size
#define stf_columns_unpack plain_unpack
#undef __SSE2__
#include "stf/pack/columns.c"
#undef stf_columns_bound
#undef stf_columns_pack
#undef stf_columns_size
#undef stf_columns_unpack

#include "tests/lib/check.h"

size_t stf_columns_bound(size_t n);
size_t stf_columns_pack(uint8_t *dst, const uint8_t *p, size_t n, int big);
int64_t stf_columns_size(const uint8_t *content, size_t n, int big);
void stf_columns_unpack(uint8_t *dst, const uint8_t *content, size_t n, int big);

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
				a = malloc(stf_columns_bound(n));
				b = malloc(stf_columns_bound(n));
				back = malloc(n);
				len = stf_columns_pack(a, p, n, big);
				CHECK(a[0] == 1 && len <= stf_columns_bound(n), "%zu bytes", len);
				CHECK_INT(plain_pack(b, p, n, big), len);
				CHECK(memcmp(a, b, len) == 0, "%zu samples of %u: vectors differ", counts[i], ks[j]);
				CHECK_INT(stf_columns_size(a, len, big), n);
				stf_columns_unpack(back, a, len, big);
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
		CHECK_INT(stf_columns_size(content, i, big), n * len);
		stf_columns_unpack(back, content, i, big);
		CHECK(memcmp(back, p, n * len) == 0, "%zu records of %zu bytes with %zu fields", n, len, d);
		memset(back, 0xee, n * len);
		plain_unpack(back, content, i, big);
		CHECK(memcmp(back, p, n * len) == 0, "%zu records without vectors", n);
		free(p);
		free(content);
		free(back);
	}
}

/* n calls and returns of 3 threads, or of 1; `scl`: enters have a place in the source. */
static size_t make_states(uint8_t *p, size_t n, int scl, int threads, int big)
{
	uint8_t *at = p;
	size_t i;

	for (i = 0; i < n; i++) {
		int enter = n % 3 == 0 || check_random() % 2;

		*at = !enter ? STF_ID_leave_function : scl ? STF_ID_enter_function_1 : STF_ID_enter_function;
		tkm_put32(at + 1, (uint32_t)(check_random() % (i % 5 ? 300 : 100000)), big);
		tkm_put32(at + 5, (uint32_t)(check_random() % (uint64_t)threads), big);
		at += 9;
		if (enter) {
			tkm_put32(at, (uint32_t)(check_random() % 1000), big);
			tkm_put32(at + 4, (uint32_t)(check_random() % 70), big);
			at += scl ? 8 : 4;
		}
	}
	return (size_t)(at - p);
}

static void states_come_back(void)
{
	static const size_t counts[] = { 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 900, 6001 };
	size_t i, n, len;
	int kind;

	for (i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		for (kind = 0; kind < 8; kind++) {
			int big = kind & 1;
			uint8_t *room = malloc(counts[i] * 17 + 8), *p, *a, *b, *back;

			n = make_states(room, counts[i], kind & 2, kind & 4 ? 3 : 1, big);
			p = malloc(n); /* exactly as long as they are, so that a tool sees a byte too many */
			memcpy(p, room, n);
			a = malloc(stf_columns_bound(n));
			b = malloc(stf_columns_bound(n));
			back = malloc(n);
			len = stf_columns_pack(a, p, n, big);
			CHECK(a[0] == 2 && len <= n + 17, "%zu bytes of %zu", len, n);
			CHECK(counts[i] < 100 || len < n * 9 / 10, "%zu bytes of %zu: what is constant is stored", len,
				n);
			CHECK_INT(plain_pack(b, p, n, big), len);
			CHECK(memcmp(a, b, len) == 0, "%zu states: vectors differ", counts[i]);
			CHECK_INT(stf_columns_size(a, len, big), n);
			stf_columns_unpack(back, a, len, big);
			CHECK(memcmp(back, p, n) == 0, "%zu states did not come back, kind %d", counts[i], kind);
			memset(back, 0xee, n);
			plain_unpack(back, a, len, big);
			CHECK(memcmp(back, p, n) == 0, "%zu states without vectors", counts[i]);
			CHECK_INT(stf_columns_size(a, len - 1, big), -1);
			CHECK_INT(stf_columns_size(a, len + 1, big), -1);
			p[0] = STF_ID_add_time;
			len = stf_columns_pack(a, p, n, big);
			CHECK(len == n + 1 && a[0] == 0, "another record among them");
			free(room);
			free(p);
			free(a);
			free(b);
			free(back);
		}
	}
}

/* Records of any two lengths, by the letter of the format: with columns stored once where that can be. */
static void others_two_lengths(void)
{
	uint8_t p[70 * 65], content[TWO_HEAD + 9 + 70 * 65], back[70 * 65], seen[64];
	size_t n, i, c, at, len[2], longer[70], size;
	uint64_t constant;
	int big, round_, first;

	for (round_ = 0; round_ < 4000; round_++) {
		big = round_ % 2;
		n = 1 + check_random() % 70;
		len[0] = 1 + check_random() % 65;
		len[1] = len[0] + check_random() % (66 - len[0]);
		memset(content, 0, sizeof(content));
		content[0] = 2;
		tkm_put32(content + 1, (uint32_t)n, big);
		content[5] = 7;
		content[6] = (uint8_t)len[0];
		content[7] = 200;
		content[8] = (uint8_t)len[1];
		for (size = 0, i = 0; i < n; i++) {
			longer[i] = check_random() % 2;
			content[17 + i / 8] |= (uint8_t)(longer[i] << i % 8);
			p[size] = longer[i] ? 200 : 7;
			for (c = 1; c < len[longer[i]]; c++) {
				p[size + c] = (uint8_t)(c % 3 ? check_random() : c);
			}
			size += len[longer[i]];
		}
		at = 17 + (n + 7) / 8;
		for (constant = 0, c = 1; c < len[1]; c++) {
			size_t begin = 0;

			first = 1;
			for (i = 0; i < n; begin += len[longer[i]], i++) {
				if (c < len[longer[i]] && (c % 3 || first)) {
					content[at++] = p[begin + c];
					first = 0;
				}
			}
			seen[c - 1] = !first;
			constant |= (uint64_t)(c % 3 == 0 && seen[c - 1]) << (c - 1);
		}
		tkm_put64(content + 9, constant, big);
		CHECK_INT(stf_columns_size(content, at, big), size);
		stf_columns_unpack(back, content, at, big);
		CHECK(memcmp(back, p, size) == 0, "%zu records of %zu and %zu bytes", n, len[0], len[1]);
		content[17 + n / 8] |= (uint8_t)(n % 8 ? 0x80 : 0);
		CHECK_INT(stf_columns_size(content, at, big), n % 8 ? -1 : (int64_t)size);
	}
}

/* A few bytes can stand for a great many: not for more than a frame may have. */
static void no_giants(void)
{
	static uint8_t content[TWO_HEAD + (1 << 20) + 64];

	content[0] = 2;
	tkm_put32(content + 1, 1 << 18, 0);
	content[6] = content[8] = 64;
	tkm_put64(content + 9, UINT64_MAX, 0);
	CHECK_INT(stf_columns_size(content, TWO_HEAD + (1 << 15) + 63, 0), 1 << 24);
	tkm_put32(content + 1, (1 << 18) + 8, 0);
	CHECK_INT(stf_columns_size(content, TWO_HEAD + (1 << 15) + 1 + 63, 0), -1);
	content[6] = 0;
	CHECK_INT(stf_columns_size(content, TWO_HEAD + (1 << 15) + 1 + 63, 0), -1);
	content[6] = 65;
	CHECK_INT(stf_columns_size(content, TWO_HEAD + (1 << 15) + 1 + 63, 0), -1);
	content[6] = content[8] = 66;
	CHECK_INT(stf_columns_size(content, TWO_HEAD + (1 << 15) + 1 + 65, 0), -1);
	CHECK_INT(stf_columns_size(content, TWO_HEAD - 1, 0), -1);
}

/* What is not samples of one length is kept as it is; a content that does not add up is refused. */
static void the_rest(void)
{
	uint8_t p[44], a[100], back[44];
	size_t n = make_samples(p, 2, 1, 0), len;

	p[22 + 9] = 2;
	len = stf_columns_pack(a, p, n, 0);
	CHECK(len == n + 1 && a[0] == 0 && memcmp(a + 1, p, n) == 0, "%zu", len);
	CHECK_INT(stf_columns_size(a, len, 0), n);
	stf_columns_unpack(back, a, len, 0);
	CHECK(memcmp(back, p, n) == 0, "as it was");
	p[22 + 9] = 1;
	len = stf_columns_pack(a, p, n, 0);
	CHECK_INT(stf_columns_size(a, len - 1, 0), -1);
	a[8] = 20; /* the field would reach beyond the record */
	CHECK_INT(stf_columns_size(a, len, 0), -1);
	a[8] = 10;
	a[10] = 3;
	CHECK_INT(stf_columns_size(a, len, 0), -1);
	a[0] = 3;
	CHECK_INT(stf_columns_size(a, len, 0), -1);
	CHECK_INT(stf_columns_size(a, 0, 0), -1);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(samples_come_back);
	RUN(others_columns);
	RUN(states_come_back);
	RUN(others_two_lengths);
	RUN(no_giants);
	RUN(the_rest);
	return check_end();
}
