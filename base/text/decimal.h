/* SPDX-License-Identifier: BSD-3-Clause */
/* Decimal numbers as tables have them, exact: "12", "-0.5", "1.25e-03", "+3". No locale takes part. */
#ifndef BASE_TEXT_DECIMAL_H
#define BASE_TEXT_DECIMAL_H

/* The number is digits / 10^places, negative or not; the last digit is not 0. places below 0: zeros follow the digits. */
struct tkm_decimal {
	unsigned __int128 digits;
	int places;
	int negative;
	int shown;    /* digits after the point in the text, zeros included, less the exponent; 0: none */
	int is_plain; /* neither point nor exponent */
};

/* Reads all of the text. Of a number with an exponent and more than 17 digits, which a program made of a double, it takes the
 * shortest number that is the same double. Digits beyond the 38th after the point are left out. Returns 0, or -1: it is
 * something else, or has more than 38 digits before the point. */
int tkm_decimal_read(const char *text, struct tkm_decimal *d);

/* The number times 10^places, rounded to the nearest whole number. Returns 0, or -1: beyond 10^38. */
int tkm_decimal_whole(const struct tkm_decimal *d, int places, __int128 *out);

/* Why a text is no decimal number, where that can be told: ": a decimal comma, write a point"; else "". */
const char *tkm_decimal_why(const char *text);

#endif
