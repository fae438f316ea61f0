/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "collector-plugin/net/message.h"
#include "tests/lib/check.h"

#include <stdlib.h>
#include <string.h>

static uint8_t bytes[1 << 20];

static struct vt_net_message example(enum vt_net_kind kind)
{
	struct vt_net_message m = { .kind = kind };
	int i;

	for (i = 0; i < VT_NET_NUMBERS; i++) {
		m.number[i] = 0x0123456789abcdefu + (uint64_t)i;
	}
	m.text[0] = vt_net_text_of("node \xc3\xbc", 7);
	m.text[1] = vt_net_text_of("", 0);
	return m;
}

static void every_message_comes_back(void)
{
	struct vt_net_message back, m;
	struct tkm_err e = { TKM_OK, "" };
	size_t n, k;
	int kind;

	for (kind = 1; kind < VT_NET_KINDS; kind++) {
		m = example((enum vt_net_kind)kind);
		n = vt_net_encode(&m, bytes, sizeof(bytes));
		CHECK(n > 0 && vt_net_decode(bytes, n, &back, &e) == 0, "kind %d: %s", kind, e.text);
		CHECK_INT(back.kind, kind);
		CHECK(back.number[0] == m.number[0] || back.number[0] == 0, "kind %d", kind);
		CHECK(back.text[0].n == 0 || (back.text[0].n == 7 && !memcmp(back.text[0].at, m.text[0].at, 7)),
			"kind %d", kind);
		/* not one byte less or more */
		for (k = 0; k < n; k++) {
			CHECK(vt_net_decode(bytes, k, &back, &e) < 0, "kind %d, %zu of %zu bytes", kind, k, n);
		}
		CHECK(vt_net_decode(bytes, n + 1, &back, &e) < 0, "kind %d, a byte more", kind);
	}
}

static void lengths_have_limits(void)
{
	static char longer[300000];
	struct vt_net_message m = example(VT_NET_HELLO), back;
	struct tkm_err e;
	size_t n;

	memset(longer, 'x', sizeof(longer));
	m.text[0] = vt_net_text_of(longer, 256);
	CHECK_INT(vt_net_encode(&m, bytes, sizeof(bytes)), 0);
	m.text[0].n = 255;
	n = vt_net_encode(&m, bytes, sizeof(bytes));
	CHECK(n > 0 && vt_net_decode(bytes, n, &back, &e) == 0, "255 bytes");
	/* a text that is there, and longer than the list allows: the host, with a byte before the next text */
	memmove(bytes + 17 + 4 + 256, bytes + 17 + 4 + 255, n - 17 - 4 - 255);
	bytes[17] = 0;
	bytes[18] = 1;
	CHECK(vt_net_decode(bytes, n + 1, &back, &e) < 0, "256 bytes");
	bytes[18] = 0;
	/* a length that the bytes do not have */
	bytes[1 + 2 * 8] = 0xff;
	bytes[1 + 2 * 8 + 3] = 0xff;
	CHECK(vt_net_decode(bytes, n, &back, &e) < 0, "a text of 4 GB");
	bytes[0] = VT_NET_KINDS;
	CHECK(vt_net_decode(bytes, n, &back, &e) < 0 && vt_net_decode(bytes, 0, &back, &e) < 0, "an unknown kind");
	m.text[0] = vt_net_text_of("a\nb", 3);
	n = vt_net_encode(&m, bytes, sizeof(bytes));
	CHECK(vt_net_decode(bytes, n, &back, &e) < 0, "a line feed in the name of a host");
	m = example(VT_NET_CLOCK);
	m.text[0] = vt_net_text_of("a\nb", 3);
	n = vt_net_encode(&m, bytes, sizeof(bytes));
	CHECK(vt_net_decode(bytes, n, &back, &e) == 0, "lines of a clock");
}

static void texts_are_copied_within_their_room(void)
{
	struct vt_net_text t = vt_net_text_of("abcdef", 6), none = { NULL, 0 };
	char room[4];

	CHECK_STR(vt_net_copy(&t, room, sizeof(room)), "abc");
	CHECK_STR(vt_net_copy(&none, room, sizeof(room)), "");
}

int main(void)
{
	RUN(every_message_comes_back);
	RUN(lengths_have_limits);
	RUN(texts_are_copied_within_their_room);
	return check_end();
}
