/* SPDX-License-Identifier: BSD-3-Clause */
/* argv[1] states of one function, numbered by a counter; then one state with a path for its name, and argv[2] seconds of sleep. */
#include <VT.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	int cls, f, h, state = 0, cut;
	int64_t i;

	VT_initialize(&argc, &argv);
	VT_classdef("Effects", &cls);
	VT_funcdef("loop", cls, &f);
	VT_countdef("number", cls, VT_COUNT_INTEGER64 | VT_COUNT_VALID_SAMPLE, VT_ME, NULL, "1", &h);
	for (i = 0; i < n; i++) {
		VT_enter(f, VT_NOSCL);
		VT_countval(1, &h, &i);
		VT_leave(VT_NOSCL);
	}
	VT_enterstate("outer/middle/inner", &state, &cut);
	VT_leave(VT_NOSCL);
	sleep(argc > 2 ? (unsigned)atoi(argv[2]) : 0);
	VT_finalize();
	return 0;
}
