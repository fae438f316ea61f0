/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "collector-plugin/net/contact.h"
#include "collector-plugin/settings/run_value.h"
#include "tests/lib/check.h"

#include <string.h>

#define KEY "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static void a_word_comes_back_as_it_was(void)
{
	static const char *const words[] = { "node0:5000:" KEY, "10.1.2.3,fast-0.site_a:65535:" KEY,
		"[fd00::1],[fe80::2%eth0],10.0.0.1:1:" KEY };
	struct vt_contact c;
	char again[VT_CONTACT_WORD];
	struct tkm_err e = { TKM_OK, "" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		CHECK(vt_contact_read(words[i], &c, &e) == 0, "%s: %s", words[i], e.text);
		CHECK(vt_contact_write(&c, again, sizeof(again)) == 0, "%s", words[i]);
		CHECK_STR(again, words[i]);
	}
	CHECK_STR(c.host[1], "fe80::2%eth0");
	CHECK_INT(c.key[31], 0xff);
	CHECK(vt_contact_write(&c, again, 60) < 0, "it does not fit into 60 bytes");
}

static void what_is_no_word_is_refused_and_the_key_is_not_printed(void)
{
	static const char *const words[] = { "", ":5000:" KEY, "host", "host:5000", "host:0:" KEY, "host:65536:" KEY,
		"host:-1:" KEY, "host: 5000:" KEY, "host:5000:" KEY "0", "host:5000:0" KEY, "host:5000:00112233",
		"a b:5000:" KEY, "[fd00::1:5000:" KEY, "[]:5000:" KEY, "a,:5000:" KEY, "a,b,c,d,e,f,g,h,i:5000:" KEY,
		"host:5000:" KEY "\n", "fd00::1:5000:" KEY };
	struct vt_contact c;
	struct tkm_err e;
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		e.text[0] = '\0';
		CHECK(vt_contact_read(words[i], &c, &e) < 0, "'%s' was read", words[i]);
		CHECK(e.text[0] && !strstr(e.text, "00112233445566"), "'%s': %s", words[i], e.text);
	}
}

static void this_node_has_an_address(void)
{
	struct vt_contact c = { .hosts = 0 };
	struct tkm_err e = { TKM_OK, "" };

	CHECK(vt_contact_here(&c, NULL, &e) == 0 && c.hosts > 0 && c.host[0][0], "%s", e.text);
	CHECK(vt_contact_here(&c, "lo", &e) == 0 && !strcmp(c.host[0], "127.0.0.1"), "lo: %s", e.text);
	CHECK(vt_contact_here(&c, "nosuch0", &e) < 0 && strstr(e.text, "nosuch0"), "%s", e.text);
}

static void the_name_of_the_job_does_not_contain_the_key(void)
{
	char one[64], other[64];

	vt_word_job("a:1:" KEY, one, sizeof(one));
	vt_word_job("a:2:" KEY, other, sizeof(other));
	CHECK(strcmp(one, other) != 0 && !strstr(one, "0011"), "%s, %s", one, other);
}

int main(void)
{
	RUN(a_word_comes_back_as_it_was);
	RUN(what_is_no_word_is_refused_and_the_key_is_not_printed);
	RUN(this_node_has_an_address);
	RUN(the_name_of_the_job_does_not_contain_the_key);
	return check_end();
}
