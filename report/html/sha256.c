/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-256 (FIPS 180-4), for the hashes of a content security policy. */
#include "config.h"
#include "report/html/html.h"

#include <string.h>

/* clang-format off */
static const uint32_t round_constant[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
/* clang-format on */

static uint32_t turn(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static void add_block(uint32_t h[8], const unsigned char *p)
{
	uint32_t w[64], v[8], a, b;
	int i;

	for (i = 0; i < 16; i++) {
		w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 |
			p[4 * i + 3];
	}
	for (; i < 64; i++) {
		a = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
		b = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
		w[i] = w[i - 16] + a + w[i - 7] + b;
	}
	memcpy(v, h, sizeof(v));
	for (i = 0; i < 64; i++) {
		a = v[7] + (turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) +
			round_constant[i] + w[i];
		b = (turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += a;
		v[0] = a + b;
	}
	for (i = 0; i < 8; i++) {
		h[i] += v[i];
	}
}

char *vtr_sha256(const char *text, size_t n, char *buf)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t h[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
		0x5be0cd19 };
	unsigned char last[128] = { 0 }, out[33] = { 0 };
	size_t done = n / 64 * 64, i, rest = n - done, end = rest < 56 ? 64 : 128;

	for (i = 0; i < done; i += 64) {
		add_block(h, (const unsigned char *)text + i);
	}
	memcpy(last, text + done, rest);
	last[rest] = 0x80;
	for (i = 0; i < 8; i++) {
		last[end - 1 - i] = (unsigned char)((uint64_t)n * 8 >> 8 * i);
	}
	for (i = 0; i < end; i += 64) {
		add_block(h, last + i);
	}
	for (i = 0; i < 32; i++) {
		out[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
	}
	for (i = 0; i < 11; i++) {
		uint32_t v = (uint32_t)out[3 * i] << 16 | (uint32_t)out[3 * i + 1] << 8 | (i < 10 ? out[3 * i + 2] : 0);

		buf[4 * i] = digit[v >> 18];
		buf[4 * i + 1] = digit[v >> 12 & 63];
		buf[4 * i + 2] = digit[v >> 6 & 63];
		buf[4 * i + 3] = digit[v & 63];
	}
	buf[43] = '=';
	buf[44] = '\0';
	return buf;
}
