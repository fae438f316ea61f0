/* SPDX-License-Identifier: BSD-3-Clause */
/* 255 counters of all formats in one call, and more than a record holds; the same call again and again, whose values
 * come back in order; counters of two targets mixed in one call. */
#include "tests/vt/lib/say.h"

enum { MOST = 300, ROUNDS = 1000 };

static void want(int rc, const char *what)
{
	if (rc != VT_OK) {
		printf("%s: %d\n", what, rc);
		exit(1);
	}
}

static int is_pair(int i)
{
	return i % 7 == 3;
}

int main(int argc, char **argv)
{
	static int handle[MOST], mixed[4], cls, i, round;
	static uint64_t value[MOST];
	char name[40];

	want(VT_initialize(&argc, &argv), "initialize");
	say_open(-1);
	want(VT_classdef("A:deep:class", &cls), "classdef");
	for (i = 0; i < MOST; i++) {
		snprintf(name, sizeof(name), "c%d", i);
		want(VT_countdef(name, cls,
			     is_pair(i)      ? VT_COUNT_INTEGER
				     : i & 1 ? VT_COUNT_FLOAT
					     : VT_COUNT_INTEGER64,
			     VT_ME, 0, "#", &handle[i]),
			name);
		value[i] = i & 1 && !is_pair(i) ? bits_of(i / 3.0) : (uint64_t)i * 0x100000001u - 77;
		if (is_pair(i)) {
			value[i] = value[i] >> 32 | value[i] << 32; /* the high half first */
		}
	}
	want(VT_countval(255, handle, value), "255 counters");
	want(VT_countval(MOST, handle, value), "300 counters");
	for (i = 0; i < 255 + MOST; i++) {
		int k = i < 255 ? i : i - 255;
		uint64_t v = is_pair(k) ? value[k] >> 32 | value[k] << 32 : value[k];

		snprintf(name, sizeof(name), "A:deep:class:c%d", k);
		say("0:0", name, k & 1 && !is_pair(k) ? 2 : 1, 0, 0, 0, 0, v);
	}
	for (i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "mixed%d", i);
		want(VT_countdef(name, cls, VT_COUNT_INTEGER64 | VT_COUNT_RATE, i & 1 ? VT_GROUP_CLUSTER : VT_ME, 0,
			     "#", &mixed[i]),
			name);
	}
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < 4; i++) {
			value[i] = (uint64_t)(round * 4 + i);
			snprintf(name, sizeof(name), "A:deep:class:mixed%d", i);
			say(i & 1 ? "node" : "0:0", name, 1, 1, 0, 0, 0, value[i]);
		}
		want(VT_countval(4, mixed, value), "mixed");
	}
	fclose(say_file);
	want(VT_finalize(), "finalize");
	return 0;
}
