/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes text, JSON and numbers so that nothing in a trace becomes markup. */
#include "config.h"
#include "report/html/html.h"

#include <math.h>
#include <string.h>
#include <wchar.h>

#include "base/text/text.h"
#include "base/text/utf8.h"

static int is_shown(uint32_t c)
{
	return c >= ' ' && !(c >= 0x7f && c < 0xa0) && !(c >= 0x200b && c <= 0x200f) && !(c >= 0x2028 && c <= 0x202e) &&
		!(c >= 0x2060 && c <= 0x206f) && c != 0xfeff && c != 0xfffe && c != 0xffff;
}

/* Finds the next character of the text that may be shown, and moves *p after it. Returns its length; 0: the end.
 * *bad: U+FFFD must be written in its place. */
static size_t next(const char **p, const char **at, int *bad, uint32_t *code)
{
	size_t n;

	*at = *p;
	if (!**p) {
		return 0;
	}
	n = tkm_utf8(*p, code);
	*bad = !n || !is_shown(*code);
	n = n ? n : 1;
	*p += n;
	return n;
}

void vtr_html(FILE *f, const char *text)
{
	const char *at;
	uint32_t code = 0;
	size_t n;
	int bad = 0;

	while ((n = next(&text, &at, &bad, &code)) > 0) {
		if (bad) {
			fputs("\xef\xbf\xbd", f);
		} else if (strchr("&<>\"'", (int)code) && n == 1) {
			fprintf(f, "&#%u;", code);
		} else {
			fwrite(at, 1, n, f);
		}
	}
}

void vtr_json(FILE *f, const char *text)
{
	const char *at;
	uint32_t code = 0;
	size_t n;
	int bad = 0;

	fputc('"', f);
	while ((n = next(&text, &at, &bad, &code)) > 0) {
		if (bad) {
			fputs("\\ufffd", f);
		} else if (n == 1 && strchr("&<>\"'\\", (int)code)) {
			fprintf(f, "\\u%04x", code);
		} else {
			fwrite(at, 1, n, f);
		}
	}
	fputc('"', f);
}

void vtr_plain(FILE *f, const char *text)
{
	const char *at;
	uint32_t code = 0;
	size_t n;
	int bad = 0;

	while ((n = next(&text, &at, &bad, &code)) > 0) {
		fwrite(bad ? "?" : at, 1, bad ? 1 : n, f);
	}
}

int vtr_cut(char *buf, size_t size, const char *text, int columns)
{
	const char *at;
	uint32_t code = 0;
	size_t n, length = 0;
	int bad = 0, width, used = 0;

	while ((n = next(&text, &at, &bad, &code)) > 0) {
		width = bad ? -1 : wcwidth((wchar_t)code);
		if (width < 0) {
			at = "?";
			n = 1;
			width = 1;
		}
		if (used + width > columns || length + n >= size) {
			break;
		}
		memcpy(buf + length, at, n);
		length += n;
		used += width;
	}
	buf[length] = '\0';
	return used;
}

/* ---- numbers ---- */

static int same_text(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* Powers of 1024 and of 1000, from the unit that a counter states on. */
static int find_family(const char *unit, const char *const **names, double *step, int *at)
{
	static const char *const bytes[] = { "bytes", "KB", "MB", "GB", "TB", NULL };
	static const char *const rates[] = { "bytes/s", "KB/s", "MB/s", "GB/s", "TB/s", NULL };
	static const char *const times[] = { "ps", "ns", "us", "ms", "s", NULL };
	static const char *const *const family[] = { bytes, rates, times };
	size_t i;

	for (i = 0; i < 3; i++) {
		for (*at = 0; family[i][*at]; ++*at) {
			if (same_text(family[i][*at], unit)) {
				*names = family[i];
				*step = i == 2 ? 1000 : 1024;
				return 1;
			}
		}
	}
	return 0;
}

struct vtr_unit vtr_unit_for(const char *unit, double most)
{
	static const char *const prefix[] = { "", "thousand ", "million ", "billion ", "trillion " };
	struct vtr_unit u = { .scale = 1 };
	const char *const *names;
	double step;
	int at, k = 0;

	most = fabs(most);
	if (find_family(unit, &names, &step, &at)) {
		for (; most >= step && names[at + 1]; at++) {
			most /= step;
			u.scale /= step;
		}
		for (; most < 1 && most > 0 && at > 0; at--) {
			most *= step;
			u.scale *= step;
		}
		snprintf(u.unit, sizeof(u.unit), "%s", names[at]);
		return u;
	}
	if (!same_text(unit, "percent") && !same_text(unit, "ppm")) {
		for (; most >= 1e4 && k < 4; k++) {
			most /= 1000;
			u.scale /= 1000;
		}
	}
	snprintf(u.unit, sizeof(u.unit), "%s%.30s", prefix[k], same_text(unit, "percent") ? "%" : unit);
	return u;
}

static int digits_shown(double v)
{
	double a = fabs(v);

	return a >= 1e6 || (a < 1e-3 && a > 0) ? 3 : 4;
}

char *vtr_number(char *buf, size_t size, double v)
{
	if (!isfinite(v)) {
		snprintf(buf, size, "unknown");
	} else {
		snprintf(buf, size, "%.*g", digits_shown(v), v);
	}
	return buf;
}

double vtr_upper(double v, const char *unit)
{
	double scale = vtr_unit_for(unit, v).scale;

	return tkm_round_up(v * scale, digits_shown(v * scale), 'g') / scale;
}

char *vtr_value(char *buf, size_t size, double v, const char *unit)
{
	struct vtr_unit u = vtr_unit_for(unit, v);
	char number[40];

	if (same_text(unit, "percent") && fabs(v) < 0.01 && fabs(v) > 0) {
		snprintf(buf, size, v > 0 ? "< 0.01 %%" : "> -0.01 %%");
		return buf;
	}
	vtr_number(number, sizeof(number), v * u.scale);
	snprintf(buf, size, "%s%s%s", number, u.unit[0] ? " " : "", u.unit);
	return buf;
}

char *vtr_change(char *buf, size_t size, double before, double after)
{
	double ratio = after / before;

	if (before == after) {
		snprintf(buf, size, "none");
	} else if (!(before > 0) || !isfinite(ratio)) {
		snprintf(buf, size, "unknown");
	} else if (ratio >= 2) {
		snprintf(buf, size, ratio >= 100 ? "%.0f x" : "%.2g x", ratio);
	} else if (fabs(ratio - 1) < 1e-4) {
		snprintf(buf, size, ratio > 1 ? "< 0.01 %%" : "> -0.01 %%");
	} else {
		snprintf(buf, size, "%+.3g %%", 100 * (ratio - 1));
	}
	return buf;
}

char *vtr_duration(char *buf, size_t size, double s)
{
	if (s >= 5999.5) {
		snprintf(buf, size, "%.0f h %02.0f min", floor((s + 30) / 3600), floor(fmod(s + 30, 3600) / 60));
	} else if (s >= 119.95) {
		snprintf(buf, size, "%.0f min %02.0f s", floor((s + 0.5) / 60), floor(fmod(s + 0.5, 60)));
	} else {
		vtr_value(buf, size, s, "s");
	}
	return buf;
}
