/* SPDX-License-Identifier: BSD-3-Clause */
/* How a test program says what it recorded, in the form of samples.c: to the file of SAY, or of SAY with the rank
 * after it in MPI programs. The program knows what it passed to VT_; nothing here looks into the library. */
#ifndef TESTS_VT_SAY_H
#define TESTS_VT_SAY_H

#include <VT.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *say_file;

static void say_open(int rank)
{
	char name[4096];
	const char *base = getenv("SAY");

	snprintf(name, sizeof(name), rank < 0 ? "%s" : "%s.%d", base ? base : "/dev/stdout", rank);
	say_file = fopen(base ? name : "/dev/stdout", "w");
	if (!say_file) {
		perror(name);
		exit(99);
	}
}

/* type: 1 integer, 2 float; scope: genre's bits 4 to 7 as a number */
static void say(
	const char *where, const char *name, int type, int rate, int scope, uint64_t low, uint64_t high, uint64_t value)
{
	fprintf(say_file, "%s %s %d %d %d %016" PRIx64 " %016" PRIx64 " %016" PRIx64 "\n", where, name, type, rate,
		scope, low, high, value);
}

static inline uint64_t bits_of(double d)
{
	uint64_t u;

	memcpy(&u, &d, 8);
	return u;
}

#endif
