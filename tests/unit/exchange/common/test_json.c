/* SPDX-License-Identifier: BSD-3-Clause */
/* Text and numbers as JSON has them. */
#include "config.h"
#include "exchange/common/json.h"
#include "tests/lib/check.h"

static void invalid_bytes_become_the_replacement_character(void)
{
	static const struct {
		const char *text, *want;
	} all[] = {
		{ "plain", "plain" },
		{ "n\xc3\xb6", "n\xc3\xb6" },
		{ "a\xff"
		  "b",
			"a\xef\xbf\xbd"
			"b" },
		{ "\xc3", "\xef\xbf\xbd" },                 /* cut in the middle */
		{ "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd" }, /* an overlong '/' */
		{ "", "" },
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char *out = xch_utf8(all[i].text);

		CHECK_STR(out, all[i].want);
		free(out);
	}
}

static uint64_t bits_of(double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	return bits;
}

static void what_is_no_number_is_a_string(void)
{
	static const struct xch_counter real = { .type = STF_COUNTER_F8 }, whole = { .type = STF_COUNTER_I8 },
					positive = { .type = STF_COUNTER_U8 };
	char *out = NULL;
	size_t n;
	FILE *f = open_memstream(&out, &n);

	xch_json_value(f, &real, bits_of(0.1));
	fputc(' ', f);
	xch_json_value(f, &real, bits_of(NAN));
	fputc(' ', f);
	xch_json_value(f, &real, bits_of(-INFINITY));
	fputc(' ', f);
	xch_json_value(f, &whole, (uint64_t)-5);
	fputc(' ', f);
	xch_json_value(f, &positive, UINT64_MAX);
	fclose(f);
	CHECK_STR(out, "0.1 \"nan\" \"-inf\" -5 18446744073709551615");
	free(out);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(invalid_bytes_become_the_replacement_character);
	RUN(what_is_no_number_is_a_string);
	return check_end();
}
