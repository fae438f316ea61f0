/* SPDX-License-Identifier: BSD-3-Clause */
/* Times, numbers and quoted names as text; see base/text/text.h. */
#include "base/text/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"

enum { LEAST_READ = 4096 };

static double read_printed(double v, int digits, char conversion)
{
	char text[400];

	snprintf(text, sizeof(text), conversion == 'f' ? "%.*f" : "%.*g", digits, v);
	return strtod(text, NULL);
}

double tkm_round_up(double v, int digits, char conversion)
{
	/* a sum of whole digits that is off by the last bit of a double is these digits */
	double least = v - fabs(v) * 1e-12, more = isfinite(v) ? v - read_printed(v, digits, conversion) : 0, w = v;

	/* doubled, it cannot jump over the next number that can be printed */
	for (; more > 0 && read_printed(w, digits, conversion) < least; more *= 2) {
		w = v + more;
	}
	/* so that it prints alike when it was scaled in between */
	return isfinite(v) ? read_printed(w, digits, conversion) : v;
}

enum rounding { ROUND_DOWN = -1, ROUND_NEAREST, ROUND_UP };

static char *print_time(char *buf, size_t size, double seconds, int digits, enum rounding rounding)
{
	static const struct {
		double scale;
		const char *unit;
	} units[] = { { 1, "s" }, { 1e3, "ms" }, { 1e6, "us" }, { 1e9, "ns" }, { 1e12, "ps" } };
	double a = fabs(seconds), half = 0.5;
	size_t i = 0, n = sizeof(units) / sizeof(units[0]);
	int k;

	for (k = 0; k < digits; k++) {
		half /= 10; /* not pow(): vtrun would need libm only for that */
	}
	if (!isfinite(seconds)) {
		snprintf(buf, size, "unknown");
		return buf;
	}
	if (a > 0) {
		/* rounding may carry 999.9996 to 1000.000: that belongs to the larger unit */
		while (i + 1 < n && a * units[i].scale + half < 1) {
			i++;
		}
	}
	seconds *= units[i].scale;
	if (rounding != ROUND_NEAREST) {
		seconds = rounding * tkm_round_up(rounding * seconds, digits, 'f');
	}
	if (fabs(seconds) < half) {
		seconds = 0; /* no "-0.000ps" */
	}
	snprintf(buf, size, "%.*f%s", digits, seconds, units[i].unit);
	return buf;
}

char *tkm_print_time(char *buf, size_t size, double seconds, int digits)
{
	return print_time(buf, size, seconds, digits, ROUND_NEAREST);
}

char *tkm_print_upper(char *buf, size_t size, double seconds, int digits)
{
	return print_time(buf, size, seconds, digits, ROUND_UP);
}

char *tkm_print_lower(char *buf, size_t size, double seconds, int digits)
{
	return print_time(buf, size, seconds, digits, ROUND_DOWN);
}

char *tkm_print_mhz(char *buf, size_t size, double hz)
{
	if (!isfinite(hz)) {
		snprintf(buf, size, "unknown");
	} else {
		snprintf(buf, size, "%.3fMHz", hz * 1e-6);
	}
	return buf;
}

struct unit {
	const char *name;
	double factor;
};

/* Reads "number unit" at *p; the unit is the longest name of `units` that is there. */
static int parse_with_unit(const char **p, const struct unit *units, double bare, double *out)
{
	const struct unit *u;
	const char *s = *p, *digits = s;
	char *end;
	size_t best = 0;
	double v, factor = bare;

	digits += *digits == '-' || *digits == '+';
	if (!isdigit((unsigned char)*digits) && !(*digits == '.' && isdigit((unsigned char)digits[1]))) {
		return -1; /* neither hexadecimal, nor inf, nor nan, nor white space */
	}
	if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
		return -1;
	}
	v = strtod(s, &end);
	for (u = units; u->name; u++) {
		size_t len = strlen(u->name);

		if (len > best && strncasecmp(end, u->name, len) == 0) {
			best = len;
			factor = u->factor;
		}
	}
	if (best == 0 && bare == 0) {
		return -1;
	}
	v *= factor;
	if (!isfinite(v)) {
		return -1;
	}
	*p = end + best;
	*out = v;
	return 0;
}

int tkm_parse_time(const char *text, double *seconds)
{
	/* clang-format off */
	static const struct unit units[] = {
		{ "c", 1e-6 }, { "l", 1e-3 }, { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 },
		{ "w", 604800 }, { "ps", 1e-12 }, { "ns", 1e-9 }, { "us", 1e-6 }, { "ms", 1e-3 },
		{ "min", 60 }, { NULL, 0 },
	};
	/* clang-format on */
	const char *p = text;
	double sum = 0, v, sign = 1;

	if (*p == '-') {
		sign = -1;
		p++;
	}
	for (;;) {
		if (*p == '-' || *p == '+' || parse_with_unit(&p, units, 1, &v) < 0) {
			return -1;
		}
		sum += v;
		if (*p == '\0') {
			break;
		}
		if (*p++ != '+') {
			return -1;
		}
	}
	*seconds = sign * sum;
	return 0;
}

int tkm_parse_fraction(const char *text, double *fraction)
{
	static const struct unit units[] = {
		{ "ppm", 1e-6 },
		{ "ppb", 1e-9 },
		{ "%", 1e-2 },
		{ NULL, 0 },
	};
	const char *p = text;

	if (parse_with_unit(&p, units, 1, fraction) < 0 || *p) {
		return -1;
	}
	return 0;
}

int tkm_parse_int(const char *text, long long lo, long long hi, long long *out)
{
	char *end;
	long long v;

	if (!isdigit((unsigned char)text[text[0] == '-' || text[0] == '+'])) {
		return -1;
	}
	errno = 0;
	v = strtoll(text, &end, 10);
	if (errno || *end || v < lo || v > hi) {
		return -1;
	}
	*out = v;
	return 0;
}

int tkm_parse_bool(const char *text, int *out)
{
	if (!*text || !strcasecmp(text, "on") || !strcasecmp(text, "true")) {
		*out = 1;
		return 0;
	}
	if (!strcasecmp(text, "off") || !strcasecmp(text, "false")) {
		*out = 0;
		return 0;
	}
	return -1;
}

int tkm_parse_bytes(const char *text, long long *bytes)
{
	static const struct {
		const char *unit;
		int shift;
	} units[] = { { "", 0 }, { "B", 0 }, { "K", 10 }, { "KB", 10 }, { "KIB", 10 }, { "M", 20 }, { "MB", 20 },
		{ "MIB", 20 }, { "G", 30 }, { "GB", 30 }, { "GIB", 30 } };
	char *end;
	long long v;
	size_t i;

	if (!isdigit((unsigned char)*text)) {
		return -1;
	}
	errno = 0;
	v = strtoll(text, &end, 10);
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (errno == 0 && !strcasecmp(end, units[i].unit) && v <= LLONG_MAX >> units[i].shift) {
			*bytes = v << units[i].shift;
			return 0;
		}
	}
	return -1;
}

int tkm_parse_triplet(const char *text, size_t len, struct tkm_triplet *out)
{
	long long v[3] = { 0, LLONG_MAX, 1 };
	const char *p = text, *end = text + len;
	int n = 0;

	for (;; p++) {
		if (p < end && isdigit((unsigned char)*p)) {
			for (v[n] = 0; p < end && isdigit((unsigned char)*p); p++) {
				if (v[n] > (LLONG_MAX - 9) / 10) {
					return -1;
				}
				v[n] = v[n] * 10 + (*p - '0');
			}
		} else if (n == 1 && p < end && (*p == 'N' || *p == 'n')) {
			p++;
		} else if (n != 1 || (p < end && *p != ':')) {
			return -1;
		}
		n++;
		if (p == end) {
			break;
		}
		if (*p != ':' || n == 3) {
			return -1;
		}
	}
	*out = (struct tkm_triplet){ v[0], n == 1 ? v[0] : v[1], v[2] };
	return out->step < 1 || out->last < out->first ? -1 : 0;
}

FILE *tkm_open_text(const char *path, int how)
{
	int fd = open(path, how | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	FILE *f = NULL;

	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		errno = EINVAL;
	} else if (fd >= 0) {
		f = fdopen(fd, how == O_RDONLY ? "r" : "a+");
	}
	if (fd >= 0 && !f) {
		int why = errno;

		close(fd);
		errno = why;
	}
	return f;
}

int tkm_read_text(FILE *f, char **text, size_t *n)
{
	size_t room = 0, got;

	*text = NULL;
	*n = 0;
	do {
		if (TKM_GROW(*text, room, *n + LEAST_READ) < 0) {
			errno = ENOMEM;
			return -1;
		}
		got = fread(*text + *n, 1, room - *n - 1, f);
		*n += got;
	} while (got > 0);
	(*text)[*n] = '\0';
	return ferror(f) ? -1 : 0;
}

int tkm_text_end(FILE *f, char **text)
{
	int bad = ferror(f);

	/* if memory runs out in fclose(), the text is NULL, and fclose() reports no error */
	if (fclose(f) != 0 || bad || !*text) {
		free(*text);
		*text = NULL;
		return -1;
	}
	return 0;
}
