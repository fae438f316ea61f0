/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a rank's block that was written piece by piece. Its pairs come from two writers: the process itself, and
 * another process that reads the clocks for it. Readings of the kernel's clocks are that one's only. */
#include "config.h"
#include "calib/file/clk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The length of the line that begins at p, with its newline; 0: no complete line. */
static size_t line_length(const char *p, const char *end)
{
	const char *nl = memchr(p, '\n', (size_t)(end - p));

	return nl ? (size_t)(nl - p) + 1 : 0;
}

static int is_pair(const char *p, size_t n)
{
	return n > 5 && memcmp(p, "pair ", 5) == 0;
}

static int parse_pair(const char *p, size_t n, struct cal_reading *r)
{
	char line[128];
	int64_t v[3];
	int over, end = -1;

	if (n >= sizeof(line)) {
		return -1;
	}
	memcpy(line, p, n);
	line[n] = '\0';
	if (sscanf(line, "pair %" SCNd64 " %" SCNd64 " %" SCNd64 " %d%n", &v[0], &v[1], &v[2], &over, &end) != 4 ||
		end < 0 || line[end] != '\n' || v[2] < v[1] || over < 0) {
		return -1;
	}
	*r = (struct cal_reading){ .local = ltick(v[0]), .before = ltick(v[1]), .after = ltick(v[2]), .over = over };
	return 0;
}

static int is_clock(const char *p, size_t n)
{
	return n > 6 && memcmp(p, "clock ", 6) == 0;
}

/* Returns the number of the clock, or -1. */
static int parse_clock(const char *p, size_t n, struct cal_reading *r)
{
	char line[160], name[40];
	int64_t v[5];
	int end = -1, k = 0;

	if (n >= sizeof(line)) {
		return -1;
	}
	memcpy(line, p, n);
	line[n] = '\0';
	if (sscanf(line, "clock %39s %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 "%n", name, &v[0], &v[1],
		    &v[2], &v[3], &v[4], &end) != 6 ||
		end < 0 || line[end] != '\n' || v[2] < v[1] || v[3] < 0 || v[4] < 0) {
		return -1;
	}
	*r = (struct cal_reading){ .local = ltick(v[0]),
		.before = ltick(v[1]),
		.after = ltick(v[2]),
		.off = (double)v[3],
		.longest = (double)v[4] };
	while (k < CAL_CLOCKS && strcmp(name, cal_clock_name(k))) {
		k++;
	}
	return k < CAL_CLOCKS ? k : -1;
}

static int by_reference(const void *a, const void *b)
{
	int64_t d = ltick_sub(((const struct cal_reading *)a)->before, ((const struct cal_reading *)b)->before);

	return d < 0 ? -1 : d > 0;
}

/* Keeps only pairs that follow the one before. The number of finished sessions must not fall: the process that reads
 * from outside learns of a session a little later. */
static void put_in_order(struct cal_pairs *p)
{
	size_t i, n = 0;

	if (p->n) {
		qsort(p->pair, p->n, sizeof(*p->pair), by_reference);
	}
	for (i = 0; i < p->n; i++) {
		struct cal_reading *last = n ? &p->pair[n - 1] : NULL, *now = &p->pair[i];

		if (last && now->over < last->over) {
			now->over = last->over;
		}
		if (!last || ltick_sub(now->before, last->after) >= 0) {
			p->pair[n++] = *now;
		} else if (ltick_sub(now->after, now->before) < ltick_sub(last->after, last->before) &&
			(n < 2 || ltick_sub(now->before, p->pair[n - 2].after) >= 0)) {
			*last = *now;
		}
	}
	p->n = n;
}

int cal_clk_add_pairs(const char *text, size_t length, struct cal_pairs *p, struct tkm_err *err)
{
	const char *end = text + length;
	struct cal_reading r;
	size_t n;

	for (; (n = line_length(text, end)) > 0; text += n) {
		/* a damaged line costs only its own pair */
		if (is_pair(text, n) && parse_pair(text, n, &r) == 0 && cal_pairs_add(p, &r, err) < 0) {
			return -1;
		}
	}
	put_in_order(p);
	return 0;
}

int cal_clk_add_clocks(const char *text, size_t length, struct cal_rank *r, struct tkm_err *err)
{
	const char *end = text + length;
	struct cal_reading p;
	size_t n;
	int k;

	for (; (n = line_length(text, end)) > 0; text += n) {
		struct cal_pairs *to = is_clock(text, n) && (k = parse_clock(text, n, &p)) >= 0 ? &r->clock[k] : NULL;

		if (to && (!to->n || ltick_sub(p.before, to->pair[to->n - 1].after) >= 0) &&
			cal_pairs_add(to, &p, err) < 0) {
			return -1;
		}
	}
	return 0;
}

int cal_clk_has_sessions(const char *text, size_t length)
{
	const char *end = text + length;
	size_t n;

	while ((n = line_length(text, end)) > 0 && (is_pair(text, n) || is_clock(text, n))) {
		text += n;
	}
	return n > 0;
}

int cal_clk_read_new(const char *text, size_t length, const char *name, struct cal_rank *r, struct tkm_err *err)
{
	static const char last[] = "end-rank\n";
	char *copy = malloc(length + sizeof(last));
	const char *at, *end = text + length;
	size_t n, used = 0;
	int rc;

	if (!copy) {
		return tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory", name);
	}
	for (at = text; (n = line_length(at, end)) > 0; at += n) {
		if (!is_pair(at, n) && !is_clock(at, n)) {
			memcpy(copy + used, at, n);
			used += n;
		}
	}
	memcpy(copy + used, last, sizeof(last));
	rc = cal_clk_read_rank(copy, used + sizeof(last) - 1, name, r, err);
	free(copy);
	rc = rc < 0 ? rc : cal_clk_add_pairs(text, length, &r->pairs, err);
	return rc < 0 ? rc : cal_clk_add_clocks(text, length, r, err);
}
