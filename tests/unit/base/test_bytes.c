/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers in the byte order of a file. */
#include "config.h"
#include "base/bytes.h"
#include "tests/lib/check.h"

static void bytes_are_endian_safe(void)
{
	unsigned char b[9];

	tkm_put32(b + 1, 0x01020304u, 1);
	CHECK(b[1] == 1 && b[4] == 4, "big-endian 32");
	CHECK(tkm_get32(b + 1, 1) == 0x01020304u && tkm_get32(b + 1, 0) == 0x04030201u, "get 32");
	tkm_put64(b + 1, 0x0102030405060708u, 0);
	CHECK(b[1] == 8 && b[8] == 1, "little-endian 64");
	CHECK(tkm_get64(b + 1, 1) == 0x0807060504030201u, "get 64");
	tkm_put16(b + 1, 0x0102, 1);
	CHECK(b[1] == 1 && tkm_get16(b + 1, 0) == 0x0201, "16");
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(bytes_are_endian_safe);
	return check_end();
}
