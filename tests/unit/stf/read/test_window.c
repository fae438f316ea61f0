/* SPDX-License-Identifier: BSD-3-Clause */
/* What options select of a trace, against all of it. */
#include "config.h"
#include "include/stf.h"
#include "stf/format/hash.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"
#include "tests/unit/stf/kinds.h"

static struct seen all[2 * N], got[2 * N];

static size_t n_all, n_got;

static int fits(const struct seen *s, const struct stf_cursor_options *o)
{
	size_t i;

	if ((o->categories && !(o->categories >> s->kind & 1)) ||
		(o->window && (s->time < o->from || s->time > o->to))) {
		return 0;
	}
	for (i = 0; i < o->n_willies; i++) {
		const struct stf_triplet *t = &o->willies[i];
		uint32_t step_ = t->stride ? t->stride : 1;

		if ((s->willy >= t->first && s->willy <= t->last && (s->willy - t->first) % step_ == 0) ||
			(s->willy2 >= t->first && s->willy2 <= t->last && (s->willy2 - t->first) % step_ == 0) ||
			s->willy == UINT32_MAX) {
			return 1;
		}
	}
	return o->n_willies == 0;
}

static int by_all(const void *x, const void *y)
{
	return memcmp(x, y, sizeof(struct seen));
}

/* The same records; in the same order too, unless a window changes which file's late record comes first. */
static void compare(const struct stf_cursor_options *o, int order, const char *what)
{
	static struct seen want[2 * N];
	size_t i, n = 0;

	for (i = 0; i < n_all; i++) {
		if (fits(&all[i], o)) {
			want[n++] = all[i];
		}
	}
	CHECK(n == n_got, "%s: %zu records, want %zu of %zu", what, n_got, n, n_all);
	if (!order) {
		qsort(want, n, sizeof(*want), by_all);
		qsort(got, n_got, sizeof(*got), by_all);
	}
	for (i = 0; i < n && i < n_got; i++) {
		if (memcmp(&want[i], &got[i], sizeof(want[i])) != 0) {
			CHECK(0, "%s: record %zu of %zu: time %llu, want %llu", what, i, n,
				(unsigned long long)got[i].time, (unsigned long long)want[i].time);
			break;
		}
	}
}

/* Counter samples by batches, into `got`. */
static void collect_batches(struct stf_cursor *c)
{
	struct stf_counter_batch b;
	size_t i;
	uint32_t j;
	int rc;

	n_got = 0;
	while ((rc = stf_cursor_counters(c, &b, &err)) > 0) {
		CHECK(b.n > 0 && n_got + b.n <= 2 * N, "%zu", b.n);
		for (i = 0; i < b.n && n_got < 2 * N; i++) {
			struct seen s = { .time = b.times[i],
				.willy = stf_batch_willy(&b, i),
				.willy2 = UINT32_MAX,
				.what = STF_ID_counter_value,
				.kind = STF_KIND_COUNTER,
				.file = b.file };

			for (s.sum = b.k, j = 0; j < b.k; j++) {
				s.sum = s.sum * 31 + stf_batch_value(&b, i, j) * stf_batch_counter(&b, i, j);
			}
			got[n_got++] = s;
		}
	}
	CHECK(rc == 0, "%s", err.text);
}

/* Record for record with a plain cursor: batches say where each sample is. */
static void batches_know_their_place(struct stf_reader *r, const struct stf_cursor_options *o)
{
	struct stf_cursor *plain = stf_cursor_open_with(r, o, &err), *c = stf_cursor_open_with(r, o, &err);
	const struct stf_record *want, *rec;
	struct stf_counter_batch b;
	size_t n = 0, i, samples = 0;
	int rc;

	while ((rc = stf_cursor_next_batch(c, &rec, &b, &err)) > 0) {
		for (i = 0; i < (rc == 2 ? b.n : 1); i++, n++) {
			struct stf_record got_ = rc == 2 ? (struct stf_record){ .file = b.file,
				.offset = b.offset + i * b.stride,
				.number = b.number + (b.number ? i : 0),
				.time = b.times[i] }
							 : *rec;

			if (stf_cursor_next(plain, &want, &err) != 1 || want->file != got_.file ||
				want->time != got_.time || want->offset != got_.offset || want->number != got_.number ||
				(rc == 2) != (want->layout->id == STF_ID_counter_value && want->time >= o->from)) {
				CHECK(0, "record %zu: offset %llu, want %llu", n, (unsigned long long)got_.offset,
					(unsigned long long)want->offset);
				goto out;
			}
			samples += rc == 2;
		}
	}
	CHECK(rc == 0 && stf_cursor_next(plain, &want, &err) == 0, "both end");
	CHECK(o->window || (samples > N / 3 && n > samples), "%zu samples of %zu records", samples, n);
out:
	stf_cursor_close(plain);
	stf_cursor_close(c);
}

static void try_options(struct stf_reader *r, int late)
{
	struct stf_cursor_options o = { 0 };
	struct stf_triplet t[2];
	uint64_t a, b, lo = all[0].time, span = all[n_all - 1].time;
	struct stf_cursor *c;
	int i;

	batches_know_their_place(r, &o);
	for (i = 0; i < 24; i++) {
		memset(&o, 0, sizeof(o));
		a = lo + check_random() % (span + 2);
		b = lo + check_random() % (span + 2);
		if (i % 6 == 5) {
			a = b = all[check_random() % n_all].time;
		}
		o.window = i % 4 != 0;
		o.from = a < b ? a : b;
		o.to = a < b ? b : a;
		o.categories = i % 3 ? 0 : (uint32_t)(check_random() % 255 + 1);
		t[0] = (struct stf_triplet){ (uint32_t)(check_random() % 3), (uint32_t)(check_random() % PROCS), 2 };
		t[1] = (struct stf_triplet){ 5, 5, 0 };
		o.willies = t;
		o.n_willies = i % 5 ? 0 : 1 + check_random() % 2;
		c = stf_cursor_open_with(r, &o, &err);
		n_got = collect(c, got);
		stf_cursor_close(c);
		compare(&o, !late, "cursor");
		o.state = i % 2 && o.window;
		batches_know_their_place(
			r, &(struct stf_cursor_options){ .window = 1, .from = o.from, .to = o.to, .state = o.state });
		o.state = 0;
		c = stf_cursor_open_with(r, &o, &err);
		collect_batches(c);
		stf_cursor_close(c);
		o.categories =
			o.categories && !(o.categories >> STF_KIND_COUNTER & 1) ? 1u << 31 : 1u << STF_KIND_COUNTER;
		compare(&o, !late, "batches");
	}
}

/* Whole, with other byte order, several files, late records, and without anchors. */
static void options_select(void)
{
	struct stf_reader *r;
	struct stf_cursor *c;
	int i;

	for (i = 0; i < 12; i++) {
		compress = zstd && i % 4 > 1;
		write_trace(i % 2, i / 2 % 3, i >= 6);
		if (i % 5 == 4) {
			remove_anchors();
		}
		r = stf_reader_open(
			in_dir("a.stf"), (i % 3 == 1 ? STF_READ_MAP : 0) | (i % 2 ? STF_READ_VERIFY : 0), &err);
		CHECK(r, "%s", err.text);
		c = stf_cursor_open(r, NULL, &err);
		n_all = collect(c, all);
		CHECK_INT(n_all, N);
		stf_cursor_close(c);
		try_options(r, i >= 6);
		stf_reader_close(r);
	}
}

static void wrong_window(void)
{
	struct stf_cursor_options o = { .window = 1, .from = 2, .to = 1 };
	struct stf_reader *r;

	write_trace(0, 0, 0);
	r = stf_reader_open(in_dir("a.stf"), 0, &err);
	CHECK(!stf_cursor_open_with(r, &o, &err) && err.code == STF_ERR_ARG, "%s", err.text);
	stf_reader_close(r);
}

/* ---- the state at a window's start ---- */

struct state {
	uint64_t counter[PROCS][10];
	uint32_t depth[PROCS];
	size_t pending;
	uint64_t pending_sum, last;
};

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(options_select);
	RUN(wrong_window);
	clean();
	rmdir(dir);
	return check_end();
}
