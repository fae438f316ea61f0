/* SPDX-License-Identifier: BSD-3-Clause */
/* base/text/utf8.h and the JSON of base/text/quote.h. */
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

static void gnuplot_quoting_keeps_the_text(void)
{
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);

	tkm_quote_gnuplot(f, "it's \"b\" `reboot` \\ n\xc3\xb6\n");
	fclose(f);
	CHECK_STR(out, "'it''s \"b\" `reboot` \\ n\xc3\xb6 '");
	free(out);
}

static void a_shell_word_is_one_word(void)
{
	char buf[40];

	CHECK_STR(tkm_shell_word(buf, sizeof(buf), "a/b-1.stf"), "a/b-1.stf");
	CHECK_STR(tkm_shell_word(buf, sizeof(buf), "-k"), "-k");
	CHECK_STR(tkm_shell_word(buf, sizeof(buf), "my run's $x.stf"), "'my run'\\''s $x.stf'");
	CHECK_STR(tkm_shell_word(buf, sizeof(buf),
			  "a\33[\n\xc2\x9b"
			  "1"),
		"'a'?'['?''*'1'");
	CHECK_STR(tkm_shell_word(buf, sizeof(buf), ""), "''");
	CHECK_STR(tkm_shell_word(buf, sizeof(buf), "n\xc3\xb6"), "'n\xc3\xb6'");
	CHECK_STR(tkm_shell_word(buf, 16, "it's far too long for it"), "'it'\\''s f'");
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(each_character_has_its_code);
	RUN(json_is_valid_whatever_the_bytes);
	RUN(gnuplot_quoting_keeps_the_text);
	RUN(a_shell_word_is_one_word);
	return check_end();
}
