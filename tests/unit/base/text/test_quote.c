/* SPDX-License-Identifier: BSD-3-Clause */
/* base/text/utf8.h and the JSON of base/text/quote.h. Other quoting is tested in test_base. */
#include "config.h"
#include "base/text/quote.h"
#include "base/text/utf8.h"
#include "tests/lib/check.h"

static void each_character_has_its_code(void)
{
	static const struct {
		const char *text;
		size_t n;
		uint32_t code;
	} good[] = { { "", 1, 0 }, { "a", 1, 'a' }, { "\x7f", 1, 0x7f }, { "\xc2\x80", 2, 0x80 },
		{ "\xc3\xa4x", 2, 0xe4 }, { "\xe0\xa0\x80", 3, 0x800 }, { "\xed\x9f\xbf", 3, 0xd7ff },
		{ "\xef\xbf\xbd", 3, 0xfffd }, { "\xf0\x90\x80\x80", 4, 0x10000 },
		{ "\xf4\x8f\xbf\xbf", 4, 0x10ffff } };
	static const char *const bad[] = { "\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3(", "\xe0\x9f\xbf",
		"\xe2\x82", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff" };
	uint32_t code;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CHECK_INT(tkm_utf8(good[i].text, &code), good[i].n);
		CHECK_INT(code, good[i].code);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(tkm_utf8(bad[i], &code) == 0, "text %zu is taken for UTF-8", i);
	}
}

static void json_is_valid_whatever_the_bytes(void)
{
	char *out = NULL;
	size_t n;
	FILE *f = open_memstream(&out, &n);

	tkm_quote_json(f, "a\"b\\c\n\xff\xc3\xa4\x7f\xed\xa0\x80");
	fclose(f);
	CHECK_STR(out, "\"a\\\"b\\\\c\\u000a\\ufffd\xc3\xa4\x7f\\ufffd\\ufffd\\ufffd\"");
	free(out);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(each_character_has_its_code);
	RUN(json_is_valid_whatever_the_bytes);
	return check_end();
}
