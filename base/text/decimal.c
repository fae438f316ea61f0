/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads decimal numbers (decimal.h). */
#include "config.h"
#include "base/text/decimal.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIGITS = 38, MOST_OF_A_DOUBLE = 17, FAR = 100000 };

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Takes one more digit. Returns 1 if there was room for it. */
static int take_digit(struct tkm_decimal *d, int *digits, char c)
{
	if (*digits >= MOST_DIGITS) {
		return 0;
	}
	d->digits = d->digits * 10 + (unsigned)(c - '0');
	*digits += d->digits != 0;
	return 1;
}

/* Reads an exponent, "e-03". Returns where it ends, or NULL. */
static const char *read_exponent(const char *p, int *exponent)
{
	int negative = p[1] == '-';

	p += 1 + (p[1] == '-' || p[1] == '+');
	if (!is_digit(*p)) {
		return NULL;
	}
	for (*exponent = 0; is_digit(*p); p++) {
		*exponent = *exponent < FAR ? *exponent * 10 + (*p - '0') : FAR;
	}
	*exponent = negative ? -*exponent : *exponent;
	return p;
}

static int read_digits(const char *text, struct tkm_decimal *d, int *digits, int *has_exponent)
{
	const char *p = text;
	int any = 0, exponent = 0;

	*d = (struct tkm_decimal){ .negative = *p == '-', .is_plain = 1 };
	*digits = 0;
	for (p += *p == '-' || *p == '+'; is_digit(*p); p++, any = 1) {
		if (!take_digit(d, digits, *p)) {
			return -1;
		}
	}
	if (*p == '.') {
		d->is_plain = 0;
		for (p++; is_digit(*p); p++, any = 1) {
			d->places += take_digit(d, digits, *p);
			d->shown++;
		}
	}
	*has_exponent = *p == 'e' || *p == 'E';
	if (*has_exponent) {
		d->is_plain = 0;
		p = read_exponent(p, &exponent);
	}
	if (!any || !p || *p) {
		return -1;
	}
	d->places -= exponent;
	d->shown = d->shown > exponent ? d->shown - exponent : 0;
	return 0;
}

int tkm_decimal_read(const char *text, struct tkm_decimal *d)
{
	char shortest[40];
	int digits, has_exponent, n;
	double v;

	if (read_digits(text, d, &digits, &has_exponent) < 0) {
		return -1;
	}
	if (has_exponent && digits > MOST_OF_A_DOUBLE) {
		v = strtod(text, NULL);
		for (n = 15; n <= MOST_OF_A_DOUBLE; n++) {
			snprintf(shortest, sizeof(shortest), "%.*e", n - 1, v);
			if (strtod(shortest, NULL) == v) {
				break;
			}
		}
		if (read_digits(shortest, d, &digits, &has_exponent) < 0) {
			return -1;
		}
	}
	while (d->digits && d->digits % 10 == 0) {
		d->digits /= 10;
		d->places--;
	}
	d->places = d->digits ? d->places : 0;
	if (has_exponent) {
		d->shown = d->places > 0 ? d->places : 0;
	}
	return 0;
}

int tkm_decimal_whole(const struct tkm_decimal *d, int places, __int128 *out)
{
	static const unsigned __int128 most =
		(unsigned __int128)UINT64_C(10000000000000000000) * UINT64_C(10000000000000000000);
	unsigned __int128 v = d->digits;
	int shift = places - d->places, rest = 0;

	for (; shift > 0 && v; shift--) {
		if (v > most / 10) {
			return -1;
		}
		v *= 10;
	}
	for (; shift < 0 && (v || rest); shift++) {
		rest = (int)(v % 10);
		v /= 10;
	}
	v += rest >= 5;
	*out = d->negative ? -(__int128)v : (__int128)v;
	return v <= most ? 0 : -1;
}

const char *tkm_decimal_why(const char *text)
{
	const char *comma = strchr(text, ',');

	return comma && comma > text && is_digit(comma[-1]) && is_digit(comma[1]) ? ": a decimal comma, write a point"
										  : "";
}
