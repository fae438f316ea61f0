/* SPDX-License-Identifier: BSD-3-Clause */
/* --request: reads which part of a trace is wanted, and selects it. */
#include "config.h"
#include "tools/cli/request.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"

enum { MOST_MEMBERS = 1 << 20 };

static const struct {
	const char *name;
	uint32_t bits;
	/* clang-format off */
} categories[] = {
	{ "FUNCTIONS", 1u << STF_KIND_FUNC },  { "SCOPES", 1u << STF_KIND_SCOPE },   { "FILEIO", 1u << STF_KIND_FIO },
	{ "COUNTERS", 1u << STF_KIND_COUNTER }, { "MESSAGES", 1u << STF_KIND_MSG },  { "COLLOPS", 1u << STF_KIND_COLL },
	{ "ERRORS", 1u << STF_KIND_REPORT },    { "REQUESTS", 1u << STF_KIND_OTHER },
};
/* clang-format on */

/* ---- reading ---- */

/* Parses "1s:5s", ":5s", "1s:". A window has at least one unit, which distinguishes it from a triplet. */
static int read_time_window(const char *item, struct stt_window *w)
{
	char text[200], *colon;
	size_t n = strlen(item);

	if (n >= sizeof(text) || !strpbrk(item, "abcdefghijklmopqrstuvwxyzABCDEFGHIJKLMOPQRSTUVWXYZ")) {
		return -1;
	}
	memcpy(text, item, n + 1);
	colon = strchr(text, ':');
	if (!colon || strchr(colon + 1, ':')) {
		return -1;
	}
	*colon = '\0';
	w->start_s = 0;
	w->end_s = INFINITY;
	if ((text[0] && tkm_parse_time(text, &w->start_s) < 0) ||
		(colon[1] && tkm_parse_time(colon + 1, &w->end_s) < 0)) {
		return -1;
	}
	return 0;
}

static int read_request_item(struct stt_window *w, const char *item, int quoted, struct tkm_err *err)
{
	struct tkm_triplet t, *p;
	size_t i;

	for (i = 0; !quoted && i < sizeof(categories) / sizeof(categories[0]); i++) {
		if (!strcasecmp(item, categories[i].name)) {
			w->categories |= categories[i].bits;
			return 0;
		}
	}
	if (quoted) {
		return tkm_fail(err, TKM_ERR_UNAVAIL,
			"--request: a trace has one type of data; \"%s\" cannot be chosen, leave the type out", item);
	}
	if (tkm_parse_triplet(item, strlen(item), &t) == 0) {
		p = TKM_APPEND(w->triplet, w->n_triplets);
		if (!p) {
			return tkm_fail(err, TKM_ERR_NOMEM, "--request: out of memory");
		}
		*p = t;
		return 0;
	}
	if (read_time_window(item, w) == 0) {
		if (w->timed) {
			return tkm_fail(err, TKM_ERR_ARG,
				"--request: two windows in one request, the second is %s; "
				"say --request twice",
				item);
		}
		if (w->end_s < w->start_s) {
			return tkm_fail(err, TKM_ERR_ARG, "--request: the window %s ends before it begins", item);
		}
		w->timed = 1;
		return 0;
	}
	return tkm_fail(err, TKM_ERR_ARG,
		"--request: '%s' is neither a category (FUNCTIONS, SCOPES, FILEIO, COUNTERS, "
		"MESSAGES, COLLOPS, ERRORS, REQUESTS), nor threads (0:3), nor a time window with "
		"units (1s:5s)",
		item);
}

static int read_request(struct stt_window *w, const char *text, struct tkm_err *err)
{
	char item[256];
	size_t n;
	char quote;

	for (;;) {
		text += strspn(text, ", \t");
		if (!*text) {
			return 0;
		}
		quote = *text == '"' || *text == '\'' ? *text++ : 0;
		n = quote ? strcspn(text, quote == '"' ? "\"" : "'") : strcspn(text, ", \t");
		if (n >= sizeof(item)) {
			return tkm_fail(err, TKM_ERR_ARG, "--request: '%.40s...' is too long", text);
		}
		memcpy(item, text, n);
		item[n] = '\0';
		text += n + (quote && text[n]);
		if (read_request_item(w, item, quote, err) < 0) {
			return -1;
		}
	}
}

int stt_request_parse(struct stt_request *q, const struct stt_options *o, struct tkm_err *err)
{
	*q = (struct stt_request){ calloc(o->request.n + 1, sizeof(*q->window)), 0 };
	if (!q->window) {
		return tkm_fail(err, TKM_ERR_NOMEM, "--request: out of memory");
	}
	for (; q->n < o->request.n; q->n++) {
		if (read_request(&q->window[q->n], o->request.text[q->n], err) < 0) {
			q->n++;
			return -1;
		}
	}
	return 0;
}

void stt_request_free(struct stt_request *q)
{
	while (q->n) {
		free(q->window[--q->n].triplet);
		free(q->window[q->n].group);
	}
	free(q->window);
	q->window = NULL;
}

/* ---- applying ---- */

static uint64_t stamp_of_seconds(double seconds, const struct stt_trace *t, int ticks)
{
	/* Rounded, because 2010 s would be 2009999999999.99... units of 1e-9 s. long double holds 64-bit stamps
	 * exactly on some machines; on others the precision is that of a double. */
	long double v =
		ticks ? floorl((long double)seconds) : roundl((long double)seconds / (long double)t->resolution);

	return v < 0 ? 0 : v >= 18446744073709551615.0L ? UINT64_MAX : (uint64_t)v;
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = ((const struct stt_group *)a)->id, y = ((const struct stt_group *)b)->id;

	return x < y ? -1 : x > y;
}

static int list_groups(struct stt_window *w, const struct stt_trace *t)
{
	size_t i, n = stf_reader_count(t->r, STF_ID_group_definition);

	w->group = w->n_triplets && n ? calloc(n, sizeof(*w->group)) : NULL;
	for (i = 0; w->group && i < n; i++) {
		const struct stf_record *rec = stf_reader_record(t->r, STF_ID_group_definition, i);

		w->group[i] = (struct stt_group){ .rec = rec, .id = (uint32_t)stf_value(rec, "id")->u & 0x7fffffff };
	}
	w->n_groups = w->group ? n : 0;
	if (w->group) {
		qsort(w->group, n, sizeof(*w->group), by_id);
	}
	return w->n_triplets && n && !w->group ? -1 : 0;
}

/* Threads that do not exist are an error in the command line. */
static int check_threads(
	const struct stt_window *w, const struct stt_trace *t, const struct stt_options *o, struct tkm_err *err)
{
	long long n = t->n_processes ? (long long)t->first[t->n_processes] : 0;
	size_t i;

	for (i = 0; n && i < w->n_triplets; i++) {
		const struct tkm_triplet *x = &w->triplet[i];

		if (x->first >= n) {
			return tkm_fail(err, TKM_ERR_DATA,
				"--request: there is no thread %lld; %s has the threads 0 to %lld (--print-threads)",
				x->first, t->path, n - 1);
		}
		if (x->last >= n && x->last < INT32_MAX) {
			stt_say(o, 1, "--request: threads above %lld do not exist", n - 1);
		}
	}
	return 0;
}

int stt_request_bind(struct stt_request *q, const struct stt_trace *t, const struct stt_options *o, struct tkm_err *err)
{
	size_t i;

	for (i = 0; i < q->n; i++) {
		struct stt_window *w = &q->window[i];

		w->start = 0;
		w->end = UINT64_MAX;
		if (check_threads(w, t, o, err) < 0) {
			return -1;
		}
		if (list_groups(w, t) < 0) {
			return tkm_fail(err, TKM_ERR_NOMEM, "--request: out of memory");
		}
		if (!w->timed) {
			continue;
		}
		if (!o->ticks && !(t->resolution > 0)) {
			return tkm_fail(err, TKM_ERR_DATA,
				"%s: the trace does not say its clock's resolution; give the window in "
				"ticks, with --ticks",
				t->path);
		}
		w->start = stamp_of_seconds(w->start_s, t, o->ticks);
		w->end = isinf(w->end_s) ? UINT64_MAX : stamp_of_seconds(w->end_s, t, o->ticks);
	}
	return 0;
}

static int has_number(const struct stt_window *w, long long n)
{
	size_t i;

	for (i = 0; i < w->n_triplets; i++) {
		const struct tkm_triplet *t = &w->triplet[i];

		if (n >= t->first && n <= t->last && (n - t->first) % t->step == 0) {
			return 1;
		}
	}
	return 0;
}

static int has_willy(const struct stt_window *w, const struct stt_trace *t, uint32_t willy, int depth);

/* Records of a group belong to each of its members. The answer is computed once for each group, even if groups
 * refer to each other in circles. */
static int has_group(const struct stt_window *w, const struct stt_trace *t, uint32_t id, int depth)
{
	struct stt_group key = { .id = id },
			 *g = w->n_groups ? bsearch(&key, w->group, w->n_groups, sizeof(*g), by_id) : NULL;
	struct stf_group_definition d;
	uint32_t i;

	if (!g || depth > 16) {
		return 0;
	}
	if (g->state == STT_GROUP_NEW) {
		g->state = STT_GROUP_OUT; /* also the answer if the group is its own member */
		stf_get_group_definition(g->rec, &d);
		for (i = 0; i < d.size_2_1 && g->state == STT_GROUP_OUT; i++) {
			if (has_willy(w, t, d.willies[i], depth + 1)) {
				g->state = STT_GROUP_IN;
			}
		}
	}
	return g->state == STT_GROUP_IN;
}

static int has_willy(const struct stt_window *w, const struct stt_trace *t, uint32_t willy, int depth)
{
	if (!w->n_triplets) {
		return 1;
	}
	return stf_willy_is_group(willy) ? has_group(w, t, willy & 0x7fffffff, depth)
					 : has_number(w, stt_thread_number(t, willy));
}

/* Does a range of members have a thread in common with a triplet? A damaged range can be almost endless. Groups
 * count as their threads. */
static int has_member(
	const struct stt_window *w, const struct stt_trace *t, uint32_t first, uint32_t last, int64_t stride)
{
	uint64_t n = stride ? ((uint64_t)last - first) / (uint64_t)(stride < 0 ? -stride : stride) + 1 : 1, i;

	for (i = 0; i < n && i < MOST_MEMBERS; i++) {
		if (has_willy(w, t, (uint32_t)((int64_t)first + (int64_t)i * stride), 0)) {
			return 1;
		}
	}
	return n > MOST_MEMBERS; /* no communicator has that many members; other checks report the damage */
}

/* A collective operation belongs to the members of its communicator, or to all threads if the trace does not list
 * the members. */
static int has_communicator(const struct stt_window *w, const struct stt_trace *t, uint32_t id)
{
	const struct stf_record *def = stf_reader_find(t->r, STF_ID_communicator_definition, id);
	struct stf_communicator_definition d;
	uint32_t i;

	if (!def || stf_get_communicator_definition(def, &d) < 0 || !d.size_2_3) {
		return 1;
	}
	for (i = 0; i < d.size_2_3; i++) {
		if (d.first_id[i] <= d.last_id[i] && has_member(w, t, d.first_id[i], d.last_id[i], d.stride[i])) {
			return 1;
		}
	}
	return 0;
}

/* A record of several threads is wanted if one of them is. A record of no thread is always wanted. */
static int has_thread(const struct stt_window *w, const struct stt_trace *t, const struct stf_record *rec)
{
	const struct stf_layout *l = rec->layout;
	int any = 0;
	unsigned i;

	if (!w->n_triplets) {
		return 1;
	}
	if (l->kind == STF_KIND_COLL && stf_value(rec, "communicator")) {
		return has_communicator(w, t, (uint32_t)stf_value(rec, "communicator")->u);
	}
	for (i = 0; i < l->n_fields; i++) {
		if (l->fields[i].type == STF_WILLYID && !l->fields[i].is_array) {
			any = 1;
			if (has_willy(w, t, (uint32_t)rec->values[i].u, 0)) {
				return 1;
			}
		}
	}
	return !any;
}

/* The time when the last member has finished. */
static uint64_t end_of_collective(const struct stf_record *rec)
{
	const struct stf_value *start = stf_value(rec, "start_time"), *delta = stf_value(rec, "delta");
	uint64_t end = rec->time, at;
	size_t i;

	for (i = 0; start && delta && i < start->count && i < delta->count; i++) {
		const uint64_t s = ((const uint64_t *)start->array)[i], d = ((const uint64_t *)delta->array)[i];

		at = s == UINT64_MAX ? rec->time : rec->time + s + d;
		end = at > end ? at : end;
	}
	return end;
}

static int in_window(const struct stt_window *w, const struct stf_record *rec)
{
	struct stf_one_to_one_communication_4 m;
	uint64_t end = rec->layout->kind == STF_KIND_COLL ? end_of_collective(rec) : rec->time;

	if (rec->layout->class_id == STF_ID_one_to_one_communication) {
		stf_get_one_to_one_communication_4(rec, &m);
		if (m.receive_time > 0) {
			end += (uint64_t)m.receive_time;
		}
	}
	return end >= w->start && rec->time <= w->end;
}

int stt_request_wants(const struct stt_request *q, const struct stt_trace *t, const struct stf_record *rec)
{
	size_t i;

	for (i = 0; q && i < q->n; i++) {
		const struct stt_window *w = &q->window[i];

		if ((!w->categories || w->categories >> rec->layout->kind & 1) && in_window(w, rec) &&
			has_thread(w, t, rec)) {
			return 1;
		}
	}
	return !q || q->n == 0;
}

struct stf_cursor *stt_request_cursor(const struct stt_request *q, const struct stt_trace *t, struct stf_err *e)
{
	struct stf_cursor_options opt = { .window = q && q->n, .from = UINT64_MAX, .to = 0 };
	int all_categories = 0;
	size_t i;

	for (i = 0; q && i < q->n; i++) {
		const struct stt_window *w = &q->window[i];

		opt.from = w->start < opt.from ? w->start : opt.from;
		opt.to = w->end > opt.to ? w->end : opt.to;
		opt.categories |= w->categories;
		all_categories |= !w->categories;
		opt.window &= w->timed;
	}
	if (all_categories) {
		opt.categories = 0;
	}
	/* of records before the window, only messages and collective operations under way in the state are wanted */
	opt.state = opt.window;
	opt.in_order = 1;
	return stf_cursor_open_with(t->r, &opt, e);
}
