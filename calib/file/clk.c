/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading correction data; calib/file/write.c writes it. */
#include "config.h"
#include "calib/file/clk.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text/text.h"
#include "calib/solve/assumptions.h"

struct reader {
	const char *name, *p, *end;
	char *line; /* copy of the present line */
	size_t room;
	long number;
	char *at;                 /* next word of it */
	struct cal_session *open; /* samples belong to it */
	struct tkm_err *err;
};

static int fail_clk_memory(const struct reader *rd)
{
	return tkm_fail(rd->err, TKM_ERR_NOMEM, "%s: out of memory", rd->name);
}

__attribute__((format(printf, 2, 3))) static int bad(struct reader *rd, const char *fmt, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return tkm_fail(rd->err, TKM_ERR_FORMAT, "%s:%ld: %s", rd->name, rd->number, text);
}

/* Copies the next line that is neither empty nor a comment. Returns 1, 0 at the end, -1. */
static int next_clk_line(struct reader *rd)
{
	while (rd->p < rd->end) {
		const char *nl = memchr(rd->p, '\n', (size_t)(rd->end - rd->p));
		size_t len = (size_t)((nl ? nl : rd->end) - rd->p);

		rd->number++;
		if (!nl) {
			return bad(rd, "the file is cut off in the middle of a line");
		}
		if (memchr(rd->p, '\0', len)) {
			return bad(rd, "a zero byte in a text file");
		}
		if (TKM_GROW(rd->line, rd->room, len + 1) < 0) {
			return fail_clk_memory(rd);
		}
		memcpy(rd->line, rd->p, len);
		rd->line[len] = '\0';
		rd->at = rd->line;
		rd->p = nl + 1;
		if (len && rd->line[0] != '#') {
			return 1;
		}
	}
	return 0;
}

static char *next_clk_word(struct reader *rd)
{
	char *w = rd->at + strspn(rd->at, " ");

	rd->at = w + strcspn(w, " ");
	if (*rd->at) {
		*rd->at++ = '\0';
	}
	return w;
}

static int get_clk_int(struct reader *rd, int64_t *out)
{
	char *w = next_clk_word(rd), *end;

	errno = 0;
	*out = strtoll(w, &end, 10);
	if (errno || end == w || *end) {
		return bad(rd, "'%s' is no whole number", w);
	}
	return 0;
}

static int get_range(struct reader *rd, int64_t low, int64_t high, int64_t *out)
{
	if (get_clk_int(rd, out) < 0) {
		return -1;
	}
	if (*out < low || *out > high) {
		return bad(rd, "%" PRId64 " is not between %" PRId64 " and %" PRId64, *out, low, high);
	}
	return 0;
}

/* "unknown" is NAN. The file has points; strtod wants the locale's character. */
static int get_double(struct reader *rd, double *out)
{
	char *w = next_clk_word(rd), *end, *dot = strchr(w, '.');

	if (strcmp(w, "unknown") == 0) {
		*out = NAN;
		return 0;
	}
	if (dot) {
		*dot = localeconv()->decimal_point[0];
	}
	*out = strtod(w, &end);
	if (end == w || *end || !isfinite(*out)) {
		return bad(rd, "'%s' is no number", w);
	}
	return 0;
}

static int get_quoted(struct reader *rd, char *out, size_t size)
{
	const char *s = rd->at + strspn(rd->at, " ");
	size_t n = 0;

	if (*s++ != '"') {
		return bad(rd, "text in double quotes expected");
	}
	while (*s && *s != '"') {
		char c = *s++;

		if (c == '\\' && s[0] >= '0' && s[0] <= '3' && s[1] && s[2]) {
			c = (char)((s[0] - '0') * 64 + (s[1] - '0') * 8 + (s[2] - '0'));
			s += 3;
		} else if (c == '\\' && *s) {
			c = *s++;
		}
		if (n + 1 >= size) {
			return bad(rd, "text of more than %zu bytes", size - 1);
		}
		out[n++] = c;
	}
	out[n] = '\0';
	return *s == '"' ? 0 : bad(rd, "closing quote missing");
}

/* Reads a value for each letter:
 *	t  int64_t *  ticks, of which any two have a difference
 *	n  int64_t *  any whole number
 *	p  int64_t *  above 0
 *	b  int *      0 or 1
 *	i  int *      0 or more
 *	z  size_t *   0 or more
 *	d  double *
 *	w             a word that only names the number after it */
static int get_fields(struct reader *rd, const char *types, ...)
{
	va_list ap;
	int64_t v = 0;
	int rc = 0;

	va_start(ap, types);
	for (; *types && rc == 0; types++) {
		if (*types == 't') {
			rc = get_range(rd, -TICKS_FARTHEST, TICKS_FARTHEST, va_arg(ap, int64_t *));
		} else if (*types == 'n') {
			rc = get_clk_int(rd, va_arg(ap, int64_t *));
		} else if (*types == 'p') {
			rc = get_range(rd, 1, INT64_MAX, va_arg(ap, int64_t *));
		} else if (*types == 'b' || *types == 'i') {
			rc = get_range(rd, 0, *types == 'b' ? 1 : INT32_MAX, &v);
			*va_arg(ap, int *) = (int)v;
		} else if (*types == 'z') {
			rc = get_range(rd, 0, INT64_MAX, &v);
			*va_arg(ap, size_t *) = (size_t)v;
		} else if (*types == 'd') {
			rc = get_double(rd, va_arg(ap, double *));
		} else {
			next_clk_word(rd);
		}
	}
	va_end(ap);
	return rc;
}

static int read_sample(struct reader *rd, struct cal_rank *r)
{
	struct cal_sample s;

	(void)r;
	if (!rd->open) {
		return bad(rd, "a sample before the first session");
	}
	if (get_fields(rd, "ttttb", &s.send.v, &s.master_in.v, &s.master_out.v, &s.recv.v, &s.kept) < 0) {
		return -1;
	}
	return cal_session_add(rd->open, &s) < 0 ? fail_clk_memory(rd) : 0;
}

static int read_kind(struct reader *rd, struct cal_session *s)
{
	const char *kind = next_clk_word(rd);
	int k;

	for (k = CAL_START; k <= CAL_END && strcmp(kind, cal_session_name((enum cal_session_kind)k)); k++) {
	}
	if (k > CAL_END) {
		return bad(rd, "unknown kind of session '%s'", kind);
	}
	s->kind = (enum cal_session_kind)k;
	return 0;
}

static int read_session(struct reader *rd, struct cal_rank *r)
{
	struct cal_session *s = TKM_APPEND(r->session, r->sessions);
	size_t n; /* of the lines that follow */

	if (!s) {
		return fail_clk_memory(rd);
	}
	rd->open = s;
	return read_kind(rd, s) < 0 ? -1 : get_fields(rd, "wbwzwz", &s->used, &n, &s->lost);
}

static int read_edge(struct reader *rd, struct cal_rank *r)
{
	struct cal_session *s = TKM_APPEND(r->edge, r->edges);
	size_t n;
	int at = 0, rc;

	if (!s) {
		return fail_clk_memory(rd);
	}
	rd->open = s;
	rc = read_kind(rd, s) < 0 ? -1 : get_fields(rd, "wiwiwzwz", &s->peer, &at, &n, &s->lost);
	s->at = (size_t)at;
	return rc;
}

static int read_node(struct reader *rd, struct cal_rank *r)
{
	struct cal_node *n = TKM_APPEND(r->map.node, r->map.nodes);

	if (!n) {
		return fail_clk_memory(rd);
	}
	if (get_fields(rd, "ttttb", &n->local.v, &n->global.v, &n->low.v, &n->high.v, &n->used) < 0) {
		return -1;
	}
	/* older files have no session here */
	return rd->at[strspn(rd->at, " ")] ? get_fields(rd, "i", &n->session) : 0;
}

static int read_piece(struct reader *rd, struct cal_rank *r)
{
	struct cal_map *m = &r->map;
	struct cal_piece *p = TKM_APPEND(m->piece, m->pieces);

	if (!p) {
		return fail_clk_memory(rd);
	}
	if (get_fields(rd, "ttppdd", &p->local.v, &p->global.v, &p->length, &p->rise, &p->bend_begin, &p->bend_end) <
		0) {
		return -1;
	}
	if (m->pieces - 1 > (m->parts ? m->part[m->parts - 1].piece : 0) && ltick_sub(p->local, p[-1].local) <= 0) {
		return bad(rd, "pieces of a map must ascend");
	}
	return 0;
}

static int read_clk_part(struct reader *rd, struct cal_rank *r)
{
	struct cal_map *m = &r->map;
	struct cal_part *p = TKM_APPEND(m->part, m->parts);

	if (!p) {
		return fail_clk_memory(rd);
	}
	if (m->parts == 1 && (m->nodes || m->pieces)) {
		return bad(rd, "a node or piece of a map before its first part");
	}
	*p = (struct cal_part){ .node = m->nodes, .piece = m->pieces };
	return m->steps + 1 == m->parts ? 0 : bad(rd, "a part of a map without a step before it");
}

static int read_step(struct reader *rd, struct cal_rank *r)
{
	struct cal_map *m = &r->map;
	struct cal_step *s = TKM_APPEND(m->step, m->steps);

	if (!s) {
		return fail_clk_memory(rd);
	}
	if (get_fields(rd, "ttttddb", &s->from.v, &s->to.v, &s->from_global.v, &s->to_global.v, &s->size_s,
		    &s->within_s, &s->certain) < 0) {
		return -1;
	}
	return m->steps == m->parts ? 0 : bad(rd, "a step without a part before it");
}

static int read_rate(struct reader *rd, struct cal_rank *r)
{
	return get_fields(rd, "dd", &r->map.rate_low, &r->map.rate_high);
}

static int read_learned(struct reader *rd, struct cal_rank *r)
{
	struct cal_map *m = &r->map;

	if (get_fields(rd, "ddwnwd", &m->learned_low, &m->learned_high, &m->learned_for, &m->learned_wander) < 0) {
		return -1;
	}
	return m->learned_low > 0 && m->learned_low < m->learned_high && m->learned_for > 0
		? 0
		: bad(rd, "two rates above 0, the lower one first, and for how long expected");
}

static int read_steps_possible(struct reader *rd, struct cal_rank *r)
{
	return get_fields(rd, "b", &r->map.may_step);
}

/* Each part lasts until the next. */
static int finish_parts(struct reader *rd, struct cal_map *m)
{
	size_t i;

	for (i = 0; i < m->parts; i++) {
		struct cal_part *p = &m->part[i];

		p->nodes = (i + 1 < m->parts ? p[1].node : m->nodes) - p->node;
		p->pieces = (i + 1 < m->parts ? p[1].piece : m->pieces) - p->piece;
		if (p->pieces == 0) {
			return bad(rd, "a part of a map without a piece");
		}
	}
	return m->parts && m->steps + 1 != m->parts ? bad(rd, "a step without a part after it") : 0;
}

static int read_anchor(struct reader *rd, struct cal_rank *r)
{
	struct cal_anchor *a = &r->anchor[r->anchors];

	if (r->anchors == 2) {
		return bad(rd, "more than two anchors");
	}
	if (get_fields(rd, "tnn", &a->local.v, &a->realtime_ns, &a->monotonic_ns) < 0) {
		return -1;
	}
	r->anchors++;
	return 0;
}

static int read_shares_clock(struct reader *rd, struct cal_rank *r)
{
	r->sync = CAL_SHARED;
	return get_fields(rd, "i", &r->leader);
}

static int read_clk_pair(struct reader *rd, struct cal_rank *r)
{
	struct cal_reading p = { .local = ltick(0) };

	if (get_fields(rd, "ttti", &p.local.v, &p.before.v, &p.after.v, &p.over) < 0) {
		return -1;
	}
	if (ltick_sub(p.after, p.before) < 0 ||
		(r->pairs.n && ltick_sub(p.before, r->pairs.pair[r->pairs.n - 1].after) < 0)) {
		return bad(rd, "the reference of pairs must ascend");
	}
	return cal_pairs_add(&r->pairs, &p, rd->err);
}

static int read_clock_line(struct reader *rd, struct cal_rank *r)
{
	const char *name = next_clk_word(rd);
	struct cal_reading p = { .local = ltick(0) };
	int64_t off = 0, longest = 0;
	int k;

	for (k = 0; k < CAL_CLOCKS && strcmp(name, cal_clock_name(k)); k++) {
	}
	/* a later version may have more clocks */
	if (k == CAL_CLOCKS) {
		return 0;
	}
	if (get_fields(rd, "ttttt", &p.local.v, &p.before.v, &p.after.v, &off, &longest) < 0) {
		return -1;
	}
	p.off = (double)off;
	p.longest = (double)longest;
	if (ltick_sub(p.after, p.before) < 0 || off < 0 || longest < 0 ||
		(r->clock[k].n && ltick_sub(p.before, r->clock[k].pair[r->clock[k].n - 1].after) < 0)) {
		return bad(rd, "the timer around readings of a clock must ascend");
	}
	return cal_pairs_add(&r->clock[k], &p, rd->err);
}

static int read_disruption(struct reader *rd, struct cal_rank *r)
{
	char *w = next_clk_word(rd), *end;

	r->disruption = strtoull(w, &end, 10);
	if (end == w || *end) {
		return bad(rd, "'%s' is no marker", w);
	}
	r->has_disruption = 1;
	return get_fields(rd, "wi", &r->disruption_changed);
}

static int read_can_be_set(struct reader *rd, struct cal_rank *r)
{
	return get_fields(rd, "b", &r->may_step);
}

/* clang-format off */
#define TEXT(key_, member_) { .key = key_, .to = r->member_, .size = sizeof(r->member_) }
#define NUMBER(key_, member_) { .key = key_, .to = &r->member_ }
#define LINE(key_, read_) { .key = key_, .read = read_ }
/* clang-format on */

/* One line of a rank's block other than its first and last. Unknown keys are for later versions. */
static int read_rank_line(struct reader *rd, struct cal_rank *r)
{
	const char *key = next_clk_word(rd);
	const struct {
		const char *key;
		void *to;    /* a text of `size` bytes, or a double */
		size_t size; /* 0: a double */
		int (*read)(struct reader *rd, struct cal_rank *r);
	} row[] = { LINE("sample", read_sample), LINE("pair", read_clk_pair), LINE("clock", read_clock_line),
		LINE("node", read_node), LINE("piece", read_piece), LINE("session", read_session),
		LINE("edge", read_edge), LINE("anchor", read_anchor), LINE("shares-clock-of", read_shares_clock),
		LINE("can-be-set", read_can_be_set), LINE("disruption-marker", read_disruption),
		LINE("part", read_clk_part), LINE("step", read_step), LINE("rate", read_rate),
		LINE("learned-rate", read_learned), LINE("steps-possible", read_steps_possible), TEXT("host", host),
		TEXT("boot-id", boot_id), TEXT("time-namespace", time_ns), TEXT("timer", timer),
		TEXT("reference", reference), TEXT("assumed-drift-from", drift_from),
		TEXT("assumed-wander-from", wander_from), TEXT("contradiction", contradiction),
		NUMBER("nominal-hz", nominal_hz), NUMBER("measured-hz", measured_hz),
		NUMBER("measured-se-ppm", measured_se_ppm), NUMBER("measured-bound-ppm", measured_bound_ppm),
		NUMBER("effective-tick", effective_tick_s), NUMBER("shared-within", shared_within_s),
		NUMBER("wander", map.max_wander), NUMBER("drift", map.max_drift), NUMBER("nominal-rate", map.nominal),
		NUMBER("reference-hz", reference_hz), NUMBER("reference-tick", reference_tick_s),
		NUMBER("max-slew", pairs.max_slew), NUMBER("slew-limit", pairs.slew_limit),
		NUMBER("assumed-drift", max_drift), NUMBER("assumed-wander", max_wander) };
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		if (strcmp(key, row[i].key) == 0) {
			return row[i].read    ? row[i].read(rd, r)
				: row[i].size ? get_quoted(rd, row[i].to, row[i].size)
					      : get_double(rd, row[i].to);
		}
	}
	return 0;
}

/* From after the word "rank" to the line end-rank. */
static int read_rank_block(struct reader *rd, struct cal_rank *r)
{
	int rc;

	rd->open = NULL;
	r->measured_se_ppm = r->measured_bound_ppm = r->effective_tick_s = r->map.max_wander = r->map.max_drift = NAN;
	if (get_fields(rd, "i", &r->rank) < 0) {
		return -1;
	}
	while ((rc = next_clk_line(rd)) == 1) {
		if (strcmp(rd->line, "end-rank") == 0) {
			r->nominal_hz = isfinite(r->nominal_hz) ? r->nominal_hz : 0;
			r->measured_hz = isfinite(r->measured_hz) ? r->measured_hz : 0;
			return finish_parts(rd, &r->map);
		}
		if (read_rank_line(rd, r) < 0) {
			return -1;
		}
	}
	return rc < 0 ? -1 : bad(rd, "rank %d has no end", r->rank);
}

static int add_rank(struct reader *rd, struct cal_run *run)
{
	struct cal_rank *r = TKM_APPEND(run->rank, run->ranks);

	if (!r) {
		return fail_clk_memory(rd);
	}
	if (read_rank_block(rd, r) < 0) {
		return -1;
	}
	if ((size_t)r->rank != run->ranks - 1) {
		return bad(rd, "rank %d where rank %zu was expected", r->rank, run->ranks - 1);
	}
	r->map.period_s = run->period_s;
	r->map.extra_s = r->sync == CAL_SHARED ? r->shared_within_s : 0;
	r->map.max_drift = r->map.max_drift > 0 ? r->map.max_drift : run->max_drift;
	r->map.max_wander = isfinite(r->map.max_wander) ? r->map.max_wander : run->max_wander;
	return 0;
}

static int read_head_line(struct reader *rd, struct cal_run *run, int64_t *ranks)
{
	const char *key = next_clk_word(rd), *how;
	int i;

	if (strcmp(key, "global-period") == 0) {
		return get_double(rd, &run->period_s) < 0 ? -1
			: run->period_s > 0               ? 0
							  : bad(rd, "a global period must be positive");
	}
	if (strcmp(key, "max-drift") == 0) {
		return get_double(rd, &run->max_drift);
	}
	if (strcmp(key, "max-wander") == 0) {
		return get_double(rd, &run->max_wander);
	}
	if (strcmp(key, "realtime-at-0") == 0) {
		return get_clk_int(rd, &run->realtime0_ns);
	}
	if (strcmp(key, "end") == 0) {
		return get_fields(rd, "t", &run->end.v);
	}
	if (strcmp(key, "ranks") == 0) {
		return get_range(rd, 1, INT32_MAX, ranks);
	}
	if (strcmp(key, "interpolation") == 0) {
		how = next_clk_word(rd);
		for (i = 0; i < CAL_INTERPOLATIONS && strcmp(how, cal_interpolation_name((enum cal_interpolation)i));
			i++) {
		}
		run->interpolation = (enum cal_interpolation)i;
		return i < CAL_INTERPOLATIONS ? 0 : bad(rd, "unknown interpolation '%s'", how);
	}
	if (strcmp(key, "master") == 0) {
		return get_fields(rd, "i", &run->master);
	}
	return strcmp(key, "clock-was-set") == 0 ? get_fields(rd, "i", &run->clock_was_set) : 0;
}

static int check_pairs(struct reader *rd, const struct cal_rank *r)
{
	const struct cal_pairs *p = &r->pairs;

	return p->n == 0 ||
			(cal_rank_hz(r) > 0 && r->reference_hz > 0 && r->reference_tick_s >= 0 && p->max_slew >= 0 &&
				p->slew_limit >= 0)
		? 0
		: bad(rd, "rank %d has pairs, but not how fast its two clocks go and may be steered", r->rank);
}

/* A bound is computed from these numbers, so it must not become negative or NAN. */
static int check_map(struct reader *rd, const struct cal_rank *r)
{
	const struct cal_map *m = &r->map;
	size_t i;

	if (!(m->max_drift >= 0 && m->max_wander >= 0 && m->extra_s >= 0 && m->nominal >= 0 && m->rate_low >= 0 &&
		    m->rate_low <= m->rate_high && m->learned_wander >= 0)) {
		return bad(rd, "rank %d: a drift, wander or rate is negative or unknown", r->rank);
	}
	for (i = 0; i < m->nodes; i++) {
		if (gtick_sub(m->node[i].high, m->node[i].low) < 0) {
			return bad(rd, "rank %d: node %zu ends before it begins", r->rank, i);
		}
	}
	for (i = 0; i < m->steps; i++) {
		if (!isfinite(m->step[i].size_s) || !(m->step[i].within_s >= 0)) {
			return bad(rd, "rank %d: step %zu has no size", r->rank, i);
		}
	}
	for (i = 0; i < m->pieces; i++) {
		const struct cal_piece *p = &m->piece[i];
		double slope = (double)p->rise / (double)p->length;

		if (!(fabs(p->bend_begin) < slope && fabs(p->bend_end) < slope)) {
			return bad(rd, "rank %d: piece %zu falls", r->rank, i);
		}
	}
	return 0;
}

static int check_whole(struct reader *rd, const struct cal_run *run, int64_t ranks)
{
	size_t i;

	if ((int64_t)run->ranks != ranks || run->master < 0 || (size_t)run->master >= run->ranks) {
		return bad(rd, "%zu ranks with master %d, but the head says %" PRId64, run->ranks, run->master, ranks);
	}
	for (i = 0; i < run->ranks; i++) {
		if (run->rank[i].map.pieces == 0) {
			return bad(rd, "rank %zu has no map", i);
		}
		if (check_map(rd, &run->rank[i]) < 0 || check_pairs(rd, &run->rank[i]) < 0) {
			return -1;
		}
		cal_map_narrow(&run->rank[i].map);
		if (run->rank[i].sync == CAL_SHARED && (size_t)run->rank[i].leader >= run->ranks) {
			return bad(
				rd, "rank %zu shares the clock of rank %d, which there is not", i, run->rank[i].leader);
		}
	}
	return 0;
}

static int read_clk_file(struct reader *rd, struct cal_run *run)
{
	int64_t ranks = -1;
	int rc;

	if (next_clk_line(rd) != 1 ||
		(strcmp(rd->line, "TICKMARK-CLK 1") != 0 && strcmp(rd->line, "TICKMARK-CLK 2") != 0 &&
			strcmp(rd->line, "TICKMARK-CLK 3") != 0)) {
		return bad(
			rd, "not correction data of version 1, 2 or 3 (the first line must be TICKMARK-CLK 1, 2 or 3)");
	}
	while ((rc = next_clk_line(rd)) == 1) {
		if (strcmp(rd->line, "end-file") == 0) {
			return check_whole(rd, run, ranks);
		}
		if (strncmp(rd->line, "rank ", 5) == 0) {
			rd->at = rd->line + 5;
			if (!(run->period_s > 0)) {
				return bad(rd, "a rank before global-period");
			}
			rc = add_rank(rd, run);
		} else {
			rc = read_head_line(rd, run, &ranks);
		}
		if (rc < 0) {
			return -1;
		}
	}
	return rc < 0 ? -1 : bad(rd, "the file is cut off: no end-file line");
}

/* Gives the maps the pairs of their clocks. Contradicted assumptions in the file stay contradicted. */
static int attach_samples(struct cal_run *run, struct tkm_err *err)
{
	size_t i;

	for (i = 0; i < run->ranks; i++) {
		run->contradicted = run->contradicted || run->rank[i].contradiction[0];
	}
	return cal_attach_pairs(run, err);
}

int cal_clk_read(const char *text, size_t length, const char *name, struct cal_run *run, struct tkm_err *err)
{
	struct reader rd = { .name = name, .p = text, .end = text + length, .err = err };
	int rc;

	memset(run, 0, sizeof(*run));
	rc = read_clk_file(&rd, run);
	if (rc == 0) {
		rc = attach_samples(run, err);
	}
	free(rd.line);
	if (rc < 0) {
		cal_run_free(run);
	}
	return rc;
}

int cal_clk_read_rank(const char *text, size_t length, const char *name, struct cal_rank *r, struct tkm_err *err)
{
	struct reader rd = { .name = name, .p = text, .end = text + length, .err = err };
	int rc;

	memset(r, 0, sizeof(*r));
	rc = next_clk_line(&rd);
	if (rc == 1 && strcmp(next_clk_word(&rd), "rank") == 0) {
		rc = read_rank_block(&rd, r);
	} else if (rc >= 0) {
		rc = bad(&rd, "no rank block");
	}
	free(rd.line);
	if (rc < 0) {
		cal_rank_free(r);
	}
	return rc;
}

int cal_clk_load(const char *path, struct cal_run *run, struct tkm_err *err)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t n;
	int rc;

	if (!f) {
		return tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot open %s", path);
	}
	if (tkm_read_text(f, &text, &n) < 0) {
		rc = tkm_fail_errno(err, errno == ENOMEM ? TKM_ERR_NOMEM : TKM_ERR_IO, errno, "cannot read %s", path);
	} else {
		rc = cal_clk_read(text, n, path, run, err);
	}
	free(text);
	fclose(f);
	return rc;
}
