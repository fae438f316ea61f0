/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of 7 bits a byte, and base64. */
#include "config.h"
#include "report/timeline/bytes.h"

#include <string.h>

#include "tests/lib/check.h"

static const char *written_as(const struct vtr_bytes *b)
{
	static char text[100];
	FILE *f = fmemopen(text, sizeof(text), "w");

	vtr_bytes_write(f, b);
	fclose(f);
	return text;
}

static void numbers_take_7_bits_a_byte(void)
{
	static const unsigned char want[] = { 0, 127, 0x80, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		1 };
	struct vtr_bytes b = { 0 };

	vtr_bytes_number(&b, 0);
	vtr_bytes_number(&b, 127);
	vtr_bytes_number(&b, 128);
	vtr_bytes_number(&b, UINT64_MAX);
	CHECK_INT(b.n, sizeof(want));
	CHECK(b.n == sizeof(want) && memcmp(b.byte, want, sizeof(want)) == 0, "the bytes differ");
	vtr_bytes_free(&b);
}

static void signs_are_in_the_lowest_bit(void)
{
	static const unsigned char want[] = { 0, 1, 2, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 };
	struct vtr_bytes b = { 0 };

	vtr_bytes_signed(&b, 0);
	vtr_bytes_signed(&b, -1);
	vtr_bytes_signed(&b, 1);
	vtr_bytes_signed(&b, -2);
	vtr_bytes_signed(&b, INT64_MIN);
	CHECK(b.n == sizeof(want) && memcmp(b.byte, want, sizeof(want)) == 0, "the bytes differ");
	vtr_bytes_free(&b);
}

static void base64_is_that_of_the_rfc(void)
{
	static const char *const want[] = { "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy" };
	struct vtr_bytes all = { 0 }, one = { 0 };
	int i;

	for (i = 0; i < 7; i++) {
		CHECK_STR(written_as(&all), want[i]);
		one.n = 0;
		vtr_bytes_number(&one, (uint64_t) "foobar"[i]);
		vtr_bytes_join(&all, &one);
	}
	vtr_bytes_free(&one);
	vtr_bytes_free(&all);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(numbers_take_7_bits_a_byte);
	RUN(signs_are_in_the_lowest_bit);
	RUN(base64_is_that_of_the_rfc);
	return check_end();
}
