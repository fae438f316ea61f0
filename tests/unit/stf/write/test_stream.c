/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of records in both orders. */
#include "include/stf.h"
#include "stf/write/outfile.h"
#include "stf/write/put.h"
#include "stf/write/stream.h"
#include "tests/lib/check.h"

static void big_is_little_reversed(void)
{
	struct stf_duration r = { .start = 0x0102030405060708u, .end = 1 };
	static const uint8_t want[17] = { 25, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 1 };
	static const uint8_t little[17] = { 25, 8, 7, 6, 5, 4, 3, 2, 1, 1 };
	struct stf_err err = { 0 };
	uint8_t used[256];
	struct stf_stream *s = stf_stream_new(&(struct stf_where){ .big = 1, .err = &err, .used = used }, "", 0);

	stf_put_duration(s, &r);
	CHECK(memcmp(s->buf, want, 17) == 0, "big");
	stf_stream_free(s);
	s = stf_stream_new(&(struct stf_where){ .big = 0, .err = &err, .used = used }, "", 0);
	stf_put_duration(s, &r);
	CHECK(memcmp(s->buf, little, 17) == 0, "little");
	stf_stream_free(s);
}

static void counts_that_do_not_fit(void)
{
	struct stf_counter_history r = { .size_1_2 = 256 };
	struct stf_err err = { 0 };
	uint8_t used[256] = { 0 };
	struct stf_stream *s = stf_stream_new(&(struct stf_where){ .big = 0, .err = &err, .used = used }, "", 0);

	CHECK_INT(stf_put_counter_history(s, &r), -1);
	CHECK_INT(err.code, STF_ERR_ARG);
	CHECK(strstr(err.text, "256"), "%s", err.text);
	CHECK(s->cur == s->buf, "nothing written");
	stf_stream_free(s);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(big_is_little_reversed);
	RUN(counts_that_do_not_fit);
	return check_end();
}
