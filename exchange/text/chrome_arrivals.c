/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of arrivals at collective operations; see exchange/text/chrome_arrivals.h. */
#include "config.h"
#include "exchange/text/chrome_arrivals.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "base/text/text.h"

static const char *const kind_names[] = { "kernels on the GPU", "calls (record_param_comms)",
	"annotations (nccl:, gloo:, ucc:, mpi:)", "calls (c10d::)" };

static int fail_arrivals(struct tkm_err *err)
{
	return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the order of arrivals");
}

static struct xch_word *find_word(struct tkm_table *t, struct xch_span s)
{
	char key[300];
	size_t n = s.length < sizeof(key) ? s.length : sizeof(key) - 1;
	struct xch_word *w;

	memcpy(key, s.text, n);
	key[n] = '\0';
	w = tkm_table_put(t, key, n + 1, sizeof(*w));
	if (w && w->number == 0) {
		w->number = (uint32_t)tkm_table_count(t);
	}
	return w;
}

/* Between two ranks, or no operation at all. */
static int is_for_two(struct xch_span action)
{
	static const char *const words[] = { "send", "recv", "wait", "init" };
	size_t i, k;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		for (k = 0; k + 4 <= action.length; k++) {
			if (!strncasecmp(action.text + k, words[i], 4)) {
				return 1;
			}
		}
	}
	return 0;
}

int xch_arrivals_add(struct xch_arrivals *a, const struct xch_arrival *v, struct xch_span group, struct xch_span action,
	struct tkm_err *err)
{
	struct xch_arrival *to;

	if (is_for_two(action)) {
		return 0;
	}
	if (TKM_GROW(a->v, a->room, a->n + 1) < 0) {
		return fail_arrivals(err);
	}
	to = &a->v[a->n];
	*to = *v;
	to->group = find_word(&a->groups, group);
	to->action = find_word(&a->actions, action);
	if (!to->group || !to->action) {
		return fail_arrivals(err);
	}
	to->group->members = v->members > to->group->members ? v->members : to->group->members;
	a->n++;
	return 0;
}

void xch_arrivals_free(struct xch_arrivals *a)
{
	tkm_table_free(&a->groups);
	tkm_table_free(&a->actions);
	free(a->v);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* By group, operation, rank, time. */
static int compare_arrivals(const void *x, const void *y)
{
	const struct xch_arrival *a = x, *b = y;
	int c = compare_numbers(a->group->number, b->group->number);

	c = c ? c : compare_numbers(a->seq, b->seq);
	c = c ? c : compare_numbers(a->turn, b->turn);
	c = c ? c : compare_numbers((uint64_t)a->rank, (uint64_t)b->rank);
	return c ? c : (a->at_ns > b->at_ns) - (a->at_ns < b->at_ns);
}

/* Of one rank, and how often it was last for certain. */
struct lateness {
	long long rank;
	uint64_t times;
	double after_s; /* the rank before it */
};

struct judge {
	FILE *f;
	struct tkm_table ranks; /* of struct lateness */
	uint64_t world;         /* of a group that does not say how many it has */
	uint64_t certain, open, apart;
};

/* A field of CSV. */
static void print_field(FILE *f, const char *text)
{
	putc('"', f);
	for (; *text; text++) {
		if (*text == '"') {
			putc('"', f);
		}
		putc(iscntrl((unsigned char)*text) ? '?' : *text, f);
	}
	putc('"', f);
}

/* One operation, one arrival of each of its n ranks. */
static int judge_operation(struct judge *j, const struct xch_arrival *v, size_t n)
{
	const struct xch_arrival *first = v, *last = v;
	double margin_s = INFINITY, bound_s = 0, before_s = INFINITY, gap_s;
	struct lateness *l;
	size_t i;

	for (i = 1; i < n; i++) {
		first = v[i].at_ns < first->at_ns ? &v[i] : first;
		last = v[i].at_ns > last->at_ns ? &v[i] : last;
	}
	/* against the rank that could most easily have been later */
	for (i = 0; i < n; i++) {
		gap_s = (double)(last->at_ns - v[i].at_ns) * 1e-9;
		before_s = &v[i] != last ? fmin(before_s, gap_s) : before_s;
		if (&v[i] != last && !(gap_s - last->bound_s - v[i].bound_s >= margin_s - bound_s)) {
			margin_s = gap_s;
			bound_s = last->bound_s + v[i].bound_s;
		}
	}
	print_field(j->f, tkm_table_key(v->group));
	fprintf(j->f, ",%" PRIu64, v->seq ? v->seq : v->turn);
	putc(',', j->f);
	print_field(j->f, tkm_table_key(v->action));
	fprintf(j->f, ",%zu,%lld,%lld,%.3f,%.3f,", n, first->rank, last->rank,
		(double)(last->at_ns - first->at_ns) * 1e-3, margin_s * 1e6);
	if (isfinite(bound_s)) {
		fprintf(j->f, "%.3f", tkm_round_up(bound_s * 1e6, 3, 'f'));
	}
	if (!(margin_s > bound_s)) {
		j->open++;
		fputs(",undecidable\n", j->f);
		return 0;
	}
	j->certain++;
	fputs(",certain\n", j->f);
	l = tkm_table_put(&j->ranks, &last->rank, sizeof(last->rank), sizeof(*l));
	if (l) {
		l->rank = last->rank;
		l->times++;
		l->after_s += before_s;
	}
	return l ? 0 : -1;
}

/* Gives each arrival its turn: of one rank, how many others have the same number of the group. Counts the ranks of each group.
 * Returns 0 or -1. */
static int number_turns(struct xch_arrival *v, size_t n)
{
	struct tkm_table seen = { 0 };
	uint64_t key[2];
	char *known = NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct xch_arrival *before = i > 0 ? &v[i - 1] : NULL;
		int same =
			before && before->group == v[i].group && before->seq == v[i].seq && before->rank == v[i].rank;

		v[i].turn = same ? before->turn + 1 : 0;
		key[0] = v[i].group->number;
		key[1] = (uint64_t)v[i].rank;
		known = tkm_table_put(&seen, key, sizeof(key), 1);
		if (!known) {
			break;
		}
		v[i].group->ranks += *known == 0;
		*known = 1;
	}
	tkm_table_free(&seen);
	return i == n ? 0 : -1;
}

/* Judges what has one number of a group. Unless all ranks have it equally often, it is unknown which belong together. */
static int judge_number(struct judge *j, const struct xch_arrival *v, size_t n)
{
	uint64_t turns = v[n - 1].turn + 1, k;
	size_t ranks = (size_t)v->group->ranks, i;
	uint64_t members = v->group->members ? v->group->members : j->world;

	if (n != turns * ranks || ranks < 2 || (members && members != ranks)) {
		j->apart += turns;
		return 0;
	}
	for (k = 0; k < turns; k++, v += ranks) {
		for (i = 1; i < ranks && v[i].action == v->action; i++) {
		}
		if (i < ranks) {
			j->apart++;
		} else if (judge_operation(j, v, ranks) < 0) {
			return -1;
		}
	}
	return 0;
}

/* Keeps the rows of one kind: the one that most ranks have. Returns it. */
static enum xch_arrival_kind keep_kind(struct xch_arrivals *a)
{
	struct tkm_table of[XCH_ARRIVAL_KINDS] = { { 0 } };
	enum xch_arrival_kind k, best = 0;
	size_t i, n = 0;

	for (i = 0; i < a->n; i++) {
		tkm_table_put(&of[a->v[i].kind], &a->v[i].rank, sizeof(a->v[i].rank), 1);
	}
	for (k = 0; k < XCH_ARRIVAL_KINDS; k++) {
		best = tkm_table_count(&of[k]) > tkm_table_count(&of[best]) ? k : best;
	}
	for (k = 0; k < XCH_ARRIVAL_KINDS; k++) {
		tkm_table_free(&of[k]);
	}
	for (i = 0; i < a->n; i++) {
		if (a->v[i].kind == best) {
			a->v[n++] = a->v[i];
		}
	}
	a->n = n;
	return best;
}

static int judge_all(struct judge *j, struct xch_arrivals *a)
{
	size_t i, k;

	qsort(a->v, a->n, sizeof(*a->v), compare_arrivals);
	if (number_turns(a->v, a->n) < 0) {
		return -1;
	}
	qsort(a->v, a->n, sizeof(*a->v), compare_arrivals);
	for (i = 0; i < a->n; i = k) {
		for (k = i + 1; k < a->n && a->v[k].group == a->v[i].group && a->v[k].seq == a->v[i].seq; k++) {
		}
		if (judge_number(j, &a->v[i], k - i) < 0) {
			return -1;
		}
	}
	return 0;
}

static void print_stragglers(struct judge *j, enum xch_arrival_kind kind)
{
	const struct lateness *l = NULL, *most = NULL;

	fprintf(j->f, "# %" PRIu64 " collective operations by their %s: %" PRIu64 " certain, %" PRIu64 " undecidable\n",
		j->certain + j->open, kind_names[kind], j->certain, j->open);
	if (j->apart) {
		fprintf(j->f,
			"# %" PRIu64
			" more are not in the files of all ranks of their group, not equally often or not by one "
			"name, and were not judged\n",
			j->apart);
	}
	while ((l = tkm_table_next(&j->ranks, l))) {
		fprintf(j->f, "# rank %lld was last in %" PRIu64 ", %.6f s after the rank before it\n", l->rank,
			l->times, l->after_s);
		most = !most || l->times > most->times ? l : most;
	}
	if (most) {
		fprintf(j->f, "# straggler: rank %lld, last in %" PRIu64 " of %" PRIu64 "\n", most->rank, most->times,
			j->certain + j->open);
	}
}

int xch_arrivals_print(struct xch_arrivals *a, FILE *f, struct tkm_err *err)
{
	struct judge j = { .f = f, .world = a->world };
	enum xch_arrival_kind kind = keep_kind(a);
	int rc;

	if (a->n == 0) {
		fputs("# no collective operation of PyTorch is in these files\n", f);
		return 0;
	}
	fputs("group,number,operation,ranks,first,last,spread_us,margin_us,bound_us,order\n", f);
	rc = judge_all(&j, a);
	if (rc == 0) {
		print_stragglers(&j, kind);
	}
	tkm_table_free(&j.ranks);
	return rc < 0 ? fail_arrivals(err) : 0;
}
