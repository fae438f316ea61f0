/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers and names as text: the guide's way of printing times, and its syntax for reading them. */
#ifndef BASE_TEXT_TEXT_H
#define BASE_TEXT_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A time as the guide prints it: "374.738ns", "2.152us", "800.011ms", "1.23s", with `digits` after
 * the point and the unit chosen so that 1 <= value < 1000 (0 is "0.00s"). Writes at most size bytes,
 * returns buf. */
char *tkm_print_time(char *buf, size_t size, double seconds, int digits);

/* How a bound is printed: never rounded to the nearest, which would be no bound. An upper one goes up, a lower one down. As
 * tkm_print_time(). */
char *tkm_print_upper(char *buf, size_t size, double seconds, int digits);
char *tkm_print_lower(char *buf, size_t size, double seconds, int digits);
/* The same for a bound that is printed in another way: the value that "%.*f" or "%.*g" with so many digits prints as a number that is not
 * less than v. Not finite: v. */
double tkm_round_up(double v, int digits, char conversion);

/* "2392.356MHz", "0.688MHz": megahertz with three digits. */
char *tkm_print_mhz(char *buf, size_t size, double hz);

/* Reads a duration in the guide's syntax: elementary times joined by '+', each a decimal number with
 * a unit letter c (microseconds), l (milliseconds), s, m, h, d, w. Also accepted: ns, us, ms, min,
 * and a number without a unit, which is seconds. A leading '-' is allowed. Returns 0 and *seconds,
 * or -1 when the text is anything else (trailing characters, NaN, infinity, no digits). */
int tkm_parse_time(const char *text, double *seconds);

/* Reads a dimensionless fraction: "50ppm", "3ppb", "1e-6", "0.1%". Returns 0 or -1. */
int tkm_parse_fraction(const char *text, double *fraction);

/* Reads a decimal integer between lo and hi, nothing after it. Returns 0 or -1. */
int tkm_parse_int(const char *text, long long lo, long long hi, long long *out);

/* Reads on/true/off/false without regard to case; an empty text is on. Returns 0 and 0 or 1, or -1. */
int tkm_parse_bool(const char *text, int *out);

/* Reads a number of bytes: decimal, with B, K, KB, KiB and so on to GiB after it (powers of 1024), in any case. Returns
 * 0, or -1 also when it is beyond 2^63-1. */
int tkm_parse_bytes(const char *text, long long *bytes);

/* first:last:step, all numbers from first to last; without a step it is 1, a single number is itself, and
 * "N" or nothing after the first colon is LLONG_MAX, the end of whatever is counted. Reads the first len
 * bytes of text. Returns 0 or -1 (a step of 0, last before first, anything else). */
struct tkm_triplet {
	long long first, last, step;
};
int tkm_parse_triplet(const char *text, size_t len, struct tkm_triplet *out);

/* Opens a file of text, O_RDONLY or O_RDWR | O_APPEND; what is no regular file is refused, since a pipe would wait for its writer. NULL with
 * errno. */
FILE *tkm_open_text(const char *path, int how);

/* Reads the rest of a file: *text, which the caller frees, ends with a zero that *n does not count. Returns 0, or -1 with errno. */
int tkm_read_text(FILE *f, char **text, size_t *n);

/* Closes what open_memstream(&text, ...) opened. Returns 0, or -1 when there was no memory for all of the text: then it
 * is freed and *text is NULL. */
int tkm_text_end(FILE *f, char **text);

#endif
