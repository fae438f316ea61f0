/* SPDX-License-Identifier: BSD-3-Clause */
/* Cursors with options, batches and states, compared with the result of the plain cursor and with what was
 * written. */
#include <dirent.h>
#include <sys/resource.h>

#include "config.h"
#include "stf/format/hash.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"

static struct stf_err err;

/* ---- a trace of everything that a window must know about, and its oracle ---- */

enum { PROCS = 6, N = 30000, KINDS = 8 };

struct seen {
	uint64_t time;
	uint32_t willy, willy2, what, file;
	unsigned kind;
	uint64_t sum;
};

static int compress; /* level of the traces that are written */
static struct seen all[2 * N], got[2 * N];
static size_t n_all, n_got;

/* Steps of all sizes, now and then back if `late`. */
static uint64_t step(uint64_t t, int late)
{
	uint64_t r = check_random();

	if (late && r % 50 == 0 && t > 5000) {
		return t - r / 64 % 5000;
	}
	return t + (r % 1000 == 1 ? (uint64_t)3 << 32 : r % 7 == 0 ? 0 : r / 64 % 100);
}

static int write_some(struct stf_writer *w, uint64_t t, uint32_t willy)
{
	static uint64_t value[9];
	static const uint32_t id[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	uint64_t r = check_random();

	if (r % 8 < 4) {
		struct stf_counter_value v = { .time = t,
			.willy = willy,
			.values = value,
			.counters = id,
			.size_1_2 = r / 16 % 40 ? 3 : (uint32_t)(r / 1024 % 10) };
		unsigned j;

		for (j = 0; j < 9; j++) {
			value[j] += check_random() % 1000;
		}
		return stf_write_counter_value(w, &v);
	}
	if (r % 8 == 4) {
		struct stf_one_to_one_communication m = { .time = t,
			.sender = willy,
			.receiver = (uint32_t)(r / 64 % PROCS),
			.receive_time = (int64_t)(r / 1024 % 3000) };

		return stf_write_one_to_one_communication(w, &m);
	}
	if (r % 8 == 5) {
		struct stf_comment c = { .time = t, .size_1_1 = (uint32_t)(r / 64 % 9), .text = "abcdefghi" };

		return stf_write_comment(w, &c);
	}
	if (r / 64 % 2) {
		struct stf_enter_function e = { .time = t, .willy = willy };

		return stf_write_enter_function(w, &e);
	} else {
		struct stf_leave_function l = { .time = t, .willy = willy };

		return stf_write_leave_function(w, &l);
	}
}

static void write_trace(int big, uint32_t per_file, int late)
{
	struct stf_writer_options o = {
		.resolution = 1e-9, .procs_per_file = per_file, .big_endian = big, .compress = compress
	};
	static const uint32_t threads[PROCS] = { 1, 1, 1, 1, 1, 1 };
	struct stf_writer *w;
	uint64_t t = 0;
	int i, rc = 0;

	clean();
	w = stf_writer_create(in_dir("a.stf"), &o, &err);
	stf_writer_processes(w, threads, PROCS);
	for (i = 0; i < N; i++) {
		t = step(t, late);
		rc |= write_some(w, t, (uint32_t)(check_random() % PROCS));
	}
	CHECK_INT(rc, 0);
	CHECK(stf_writer_finish(w, 1, 0, &err) == 0, "%s: %s", err.file, err.text);
}

static struct seen see(const struct stf_record *r)
{
	struct seen s = { .time = r->time,
		.willy = UINT32_MAX,
		.willy2 = UINT32_MAX,
		.what = r->layout->id,
		.kind = r->layout->kind,
		.file = r->file };
	struct stf_counter_value v;
	struct stf_one_to_one_communication m;
	uint32_t j;

	if (stf_value(r, "willy")) {
		s.willy = (uint32_t)stf_value(r, "willy")->u;
	}
	if (stf_get_counter_value(r, &v) == 0) {
		for (s.sum = v.size_1_2, j = 0; j < v.size_1_2; j++) {
			s.sum = s.sum * 31 + v.values[j] * v.counters[j];
		}
	}
	if (stf_get_one_to_one_communication(r, &m) == 0) {
		s.willy = m.sender;
		s.willy2 = m.receiver;
		s.sum = (uint64_t)m.receive_time;
	}
	return s;
}

static size_t collect(struct stf_cursor *c, struct seen *to)
{
	const struct stf_record *r;
	size_t n = 0;
	int rc;

	while ((rc = stf_cursor_next(c, &r, &err)) > 0 && n < 2 * N) {
		to[n++] = see(r);
	}
	CHECK(rc == 0, "%s: %s at %llu", err.file, err.text, (unsigned long long)err.offset);
	return n;
}

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

static void remove_anchors(void)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		if (strstr(e->d_name, ".anc")) {
			unlink(in_dir(e->d_name));
		}
	}
	if (d) {
		closedir(d);
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

/* ---- call-backs ---- */

struct heard {
	size_t n, samples, messages, rest, stop;
	uint64_t sum;
};

static int hear_batch(void *user, const struct stf_counter_batch *b)
{
	struct heard *h = user;
	size_t i;
	uint32_t j;

	for (i = 0; i < b->n; i++) {
		for (j = 0; j < b->k; j++) {
			h->sum += stf_batch_value(b, i, j) * stf_batch_counter(b, i, j);
		}
	}
	h->samples += b->n;
	h->n += b->n;
	return 0;
}

static int hear_sample(void *user, const struct stf_record *r, const struct stf_counter_value *v)
{
	struct heard *h = user;
	uint32_t j;

	for (j = 0; j < v->size_1_2; j++) {
		h->sum += v->values[j] * v->counters[j];
	}
	h->samples++;
	return ++h->n == h->stop ? 42 : r->time != v->time;
}

/* The traces have the first incarnation, and this is another one of its class. */
static int hear_message(void *user, const struct stf_record *r, const struct stf_one_to_one_communication_2 *m)
{
	struct heard *h = user;

	h->messages++;
	h->sum += m->time + (uint64_t)m->receive_time;
	return ++h->n == h->stop ? 42 : r->layout->id != STF_ID_one_to_one_communication;
}

static int hear_rest(void *user, const struct stf_record *r)
{
	struct heard *h = user;

	h->rest++;
	h->sum += r->time;
	return ++h->n == h->stop ? 42 : 0;
}

static struct heard by_cursor(struct stf_reader *r)
{
	struct stf_cursor *c = stf_cursor_open(r, NULL, &err);
	const struct stf_record *rec;
	struct stf_one_to_one_communication m;
	struct stf_counter_value v;
	struct heard h = { 0 };
	uint32_t j;

	while (stf_cursor_next(c, &rec, &err) > 0) {
		h.n++;
		if (stf_get_counter_value(rec, &v) == 0) {
			h.samples++;
			for (j = 0; j < v.size_1_2; j++) {
				h.sum += v.values[j] * v.counters[j];
			}
		} else if (stf_get_one_to_one_communication(rec, &m) == 0) {
			h.messages++;
			h.sum += m.time + (uint64_t)m.receive_time;
		} else {
			h.rest++;
			h.sum += rec->time;
		}
	}
	stf_cursor_close(c);
	return h;
}

static void callbacks_hear_all(void)
{
	struct stf_callbacks cb = {
		.counter_value = hear_sample, .one_to_one_communication_2 = hear_message, .other = hear_rest
	};
	struct stf_cursor_options late = { .window = 1, .from = 1, .to = 0 };
	struct heard want, h;
	struct stf_reader *r;

	write_trace(0, 0, 0);
	r = stf_reader_open(in_dir("a.stf"), 0, &err);
	want = by_cursor(r);
	CHECK(want.n == N && want.messages > 100 && want.rest > 100, "%zu records", want.n);
	memset(&h, 0, sizeof(h));
	CHECK_INT(stf_reader_each(r, NULL, &cb, &h, &err), 0);
	CHECK(memcmp(&h, &want, sizeof(h)) == 0, "%zu samples, %zu messages, %zu others", h.samples, h.messages,
		h.rest);
	memset(&h, 0, sizeof(h));
	cb.counters = hear_batch;
	CHECK_INT(stf_reader_each(r, NULL, &cb, &h, &err), 0);
	CHECK(memcmp(&h, &want, sizeof(h)) == 0, "by batches: %zu samples, %zu messages", h.samples, h.messages);
	memset(&h, 0, sizeof(h));
	cb.counters = NULL;
	h.stop = 777;
	CHECK_INT(stf_reader_each(r, NULL, &cb, &h, &err), 42);
	CHECK_INT(h.n, 777);
	memset(&cb, 0, sizeof(cb));
	CHECK_INT(stf_reader_each(r, NULL, &cb, NULL, &err), 0);
	CHECK(stf_reader_each(r, &late, &cb, NULL, &err) == -1 && err.code == STF_ERR_ARG, "%s", err.text);
	stf_reader_close(r);
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

/* By hand, from all records before `from`. */
static struct state true_state(uint64_t from)
{
	struct stf_reader *r = stf_reader_open(in_dir("a.stf"), 0, &err);
	struct stf_cursor *c = stf_cursor_open(r, NULL, &err);
	struct stf_one_to_one_communication m;
	const struct stf_record *rec;
	struct stf_counter_value v;
	struct state s = { { { 0 } }, { 0 }, 0, 0, 0 };
	uint32_t j;

	while (stf_cursor_next(c, &rec, &err) > 0 && rec->time < from) {
		if (stf_get_counter_value(rec, &v) == 0) {
			for (j = 0; j < v.size_1_2; j++) {
				s.counter[v.willy][v.counters[j]] = v.values[j];
			}
		} else if (stf_get_one_to_one_communication(rec, &m) == 0 && m.receive_time > 0 &&
			m.time + (uint64_t)m.receive_time >= from) {
			s.pending++;
			s.pending_sum += m.time * 7 + (uint64_t)m.receive_time;
		} else if (rec->layout->id == STF_ID_enter_function) {
			s.depth[stf_value(rec, "willy")->u]++;
		} else if (rec->layout->id == STF_ID_leave_function && s.depth[stf_value(rec, "willy")->u]) {
			s.depth[stf_value(rec, "willy")->u]--;
		}
	}
	stf_cursor_close(c);
	stf_reader_close(r);
	return s;
}

static struct state told_state(struct stf_reader *r, uint64_t from)
{
	struct stf_cursor_options o = { .window = 1, .from = from, .to = from + 1000, .state = 1 };
	struct stf_cursor *c = stf_cursor_open_with(r, &o, &err);
	struct state s = { { { 0 } }, { 0 }, 0, 0, 0 };
	struct stf_one_to_one_communication m;
	const struct stf_record *rec;
	struct stf_function_history f;
	struct stf_counter_value v;
	uint32_t j;
	int rc;

	CHECK(stf_cursor_next(c, &rec, &err) == 1 && rec->layout->id == STF_ID_begin_of_history, "begins");
	while ((rc = stf_cursor_next(c, &rec, &err)) > 0 && rec->layout->id != STF_ID_end_of_history) {
		if (stf_get_counter_value(rec, &v) == 0) {
			CHECK(rec->time == from - 1 && v.time == from - 1 && v.willy < PROCS, "time, thread");
			for (j = 0; j < v.size_1_2; j++) {
				s.counter[v.willy % PROCS][v.counters[j] % 10] = v.values[j];
			}
		} else if (stf_get_function_history(rec, &f) == 0) {
			s.depth[f.willy % PROCS] = f.size_1_1;
		} else if (stf_get_one_to_one_communication(rec, &m) == 0) {
			CHECK(m.time >= s.last && m.time < from && rec->time == m.time, "pending in order");
			s.last = m.time;
			s.pending++;
			s.pending_sum += m.time * 7 + (uint64_t)m.receive_time;
		} else {
			CHECK(0, "%s in a state", rec->layout->name);
		}
	}
	CHECK_INT(rc, 1);
	while ((rc = stf_cursor_next(c, &rec, &err)) > 0) {
		CHECK(rec->time >= from && rec->time <= from + 1000, "in the window");
	}
	CHECK(rc == 0, "%s", err.text);
	s.last = 0;
	stf_cursor_close(c);
	return s;
}

static void state_is_told(void)
{
	struct stf_reader *r;
	struct state a, b;
	struct stf_cursor *c;
	uint64_t from;
	int i, k, pending = 0;

	for (i = 0; i < 6; i++) {
		compress = zstd && i >= 4;
		write_trace(i == 1, 0, i == 2);
		if (i == 3) {
			remove_anchors();
		}
		r = stf_reader_open(in_dir("a.stf"), 0, &err);
		c = stf_cursor_open(r, NULL, &err);
		n_all = collect(c, all);
		stf_cursor_close(c);
		for (k = 0; k < 5; k++) {
			from = all[1 + check_random() % (n_all - 1)].time + check_random() % 50;
			/* where the merge itself is out of order there is no one answer */
			if (i == 2) {
				told_state(r, from);
				continue;
			}
			a = true_state(from);
			b = told_state(r, from);
			pending += a.pending > 0;
			CHECK(memcmp(&a, &b, sizeof(a)) == 0, "at %llu: %zu pending, want %zu",
				(unsigned long long)from, b.pending, a.pending);
		}
		stf_reader_close(r);
	}
	CHECK(pending > 3, "only %d tries had messages under way", pending);
}

/* ---- compressed traces ---- */

/* Every record comes back; a file cut anywhere gives whole frames and then says so; damage is seen or harmless. */
static void compressed_and_cut(void)
{
	struct stf_cursor *c;
	struct stf_reader *r;
	const struct stf_record *rec;
	char *p;
	size_t n, len, got_before = 0, i;
	int rc = 0, k, seen = 0;

	compress = 1;
	write_trace(0, 0, 0);
	p = slurp(in_dir("a.stf.c.0.zst"), &len);
	CHECK(p && len > 1000, "%zu", len);
	r = stf_reader_open(in_dir("a.stf"), 0, &err);
	for (k = 0; k <= 40; k++) {
		spit(in_dir("a.stf.c.0.zst"), p, k == 40 ? len : len * (size_t)k / 40);
		c = stf_cursor_open(r, ".c.0", &err);
		CHECK(c, "%s", err.text);
		for (n = 0; c && (rc = stf_cursor_next(c, &rec, &err)) > 0;) {
			n++;
		}
		CHECK(rc == (k == 40 ? 0 : -1) && n >= got_before, "%d of 40: %d, %zu records", k, rc, n);
		CHECK(rc == 0 || err.code == STF_ERR_TRUNCATED, "%d: %s", err.code, err.text);
		got_before = n;
		stf_cursor_close(c);
	}
	for (k = 0; k < 300; k++) {
		i = check_random() % len;
		p[i] = (char)(p[i] ^ (1 << check_random() % 8));
		spit(in_dir("a.stf.c.0.zst"), p, len);
		c = stf_cursor_open(r, ".c.0", &err);
		while (c && (rc = stf_cursor_next(c, &rec, &err)) > 0) {
		}
		seen += !c || rc < 0;
		stf_cursor_close(c);
	}
	CHECK(seen > 200, "%d of 300 damages were seen", seen);
	stf_reader_close(r);
	free(p);
	compress = 0;
}

/* One bit of a plain file is wrong, and its records are readable: only a reader that verifies sees it, at the end and in its damages. */
static void a_wrong_bit_is_seen_at_the_end(void)
{
	const struct stf_record *rec;
	struct stf_damage damage;
	struct stf_reader *r;
	struct stf_cursor *c;
	size_t len, n;
	char *p;
	int k, rc;

	compress = 0;
	write_trace(0, 1, 0);
	p = slurp(in_dir("a.stf.c.2"), &len);
	/* the lowest byte of the last value */
	p[len - 8] = (char)(p[len - 8] ^ 1);
	spit(in_dir("a.stf.c.2"), p, len);
	free(p);
	for (k = 0; k < 3; k++) {
		if (k == 2) {
			remove_anchors();
		}
		r = stf_reader_open(in_dir("a.stf"), k ? STF_READ_VERIFY : 0, &err);
		c = r ? stf_cursor_open(r, NULL, &err) : NULL;
		CHECK(c, "%s", err.text);
		for (n = 0, rc = 0; c && (rc = stf_cursor_next(c, &rec, &err)) > 0; n++) {
		}
		CHECK(n > N / 2 && (k || n == N), "%d: %zu records", k, n);
		CHECK(k ? rc < 0 && err.code == STF_ERR_CHECKSUM : rc == 0, "%d: %d, %s", k, rc, err.text);
		CHECK(r && stf_reader_damage(r, 0, &damage) == (k != 0), "%d: damages", k);
		stf_cursor_close(c);
		stf_reader_close(r);
	}
}

/* ---- many files ---- */

/* More files than a process may have open, written and read. */
static void few_files_are_open(void)
{
	struct stf_writer_options o = { .resolution = 1, .procs_per_file = 1 };
	struct rlimit few = { 100, 100 }, was;
	struct stf_leave_function l = { 0 };
	const struct stf_record *rec;
	struct stf_writer *w;
	struct stf_reader *r;
	struct stf_cursor *c;
	uint64_t last, n;
	int i, k;

	getrlimit(RLIMIT_NOFILE, &was);
	few.rlim_max = was.rlim_max;
	setrlimit(RLIMIT_NOFILE, &few);
	for (k = 0; k < 3; k++) {
		clean();
		o.single = k == 1 ? STF_SINGLE_FILE : 0;
		o.compress = zstd && k == 2;
		w = stf_writer_create(in_dir("a.stf"), &o, &err);
		for (i = 0; i < 60000; i++) {
			l.time = (uint64_t)i;
			l.willy = (uint32_t)(i % 3 ? 7 : i / 3 % 300);
			CHECK_INT(stf_write_leave_function(w, &l), 0);
		}
		CHECK(stf_writer_finish(w, 0, 0, &err) == 0, "%s: %s", err.file, err.text);
		r = stf_reader_open(in_dir("a.stf"), (k == 2 ? STF_READ_MAP : 0) | (k ? STF_READ_VERIFY : 0), &err);
		c = r ? stf_cursor_open(r, NULL, &err) : NULL;
		CHECK(c, "%s: %s", err.file, err.text);
		for (last = n = 0; c && stf_cursor_next(c, &rec, &err) > 0; n++) {
			CHECK(rec->time == last, "order");
			last++;
		}
		CHECK_INT(n, 60000);
		stf_cursor_close(c);
		stf_reader_close(r);
	}
	setrlimit(RLIMIT_NOFILE, &was);
}

/* Samples one after the other in a file come many at a time, whatever their number of counters. */
static void samples_in_a_row_come_in_batches(void)
{
	enum { SAMPLES = 3000 };
	struct stf_writer *w;
	struct stf_reader *r;
	struct stf_cursor *c;
	struct stf_counter_batch b;
	uint64_t value[2], n = 0, batches = 0, i;
	static const uint32_t id[2] = { 7, 9 };

	clean();
	w = stf_writer_create(in_dir("a.stf"), &(struct stf_writer_options){ .resolution = 1e-9 }, &err);
	for (i = 0; i < SAMPLES; i++) {
		struct stf_counter_value v = {
			.time = 10 * i, .values = value, .counters = id, .size_1_2 = i < SAMPLES / 2 ? 1 : 2
		};

		value[0] = i;
		value[1] = 3 * i;
		CHECK_INT(stf_write_counter_value(w, &v), 0);
	}
	CHECK(stf_writer_finish(w, 1, 0, &err) == 0, "%s: %s", err.file, err.text);
	r = stf_reader_open(in_dir("a.stf"), 0, &err);
	c = r ? stf_cursor_open(r, NULL, &err) : NULL;
	while (c && stf_cursor_counters(c, &b, &err) > 0) {
		batches++;
		for (i = 0; i < b.n; i++, n++) {
			CHECK(b.k == (n < SAMPLES / 2 ? 1 : 2) && b.times[i] == 10 * n &&
					stf_batch_value(&b, i, b.k - 1) == (b.k == 1 ? n : 3 * n) &&
					stf_batch_counter(&b, i, b.k - 1) == id[b.k - 1],
				"sample %llu", (unsigned long long)n);
		}
	}
	CHECK_INT(n, SAMPLES);
	CHECK(batches < SAMPLES / 50, "%llu batches", (unsigned long long)batches);
	stf_cursor_close(c);
	stf_reader_close(r);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(options_select);
	RUN(wrong_window);
	RUN(callbacks_hear_all);
	RUN(state_is_told);
	if (zstd) {
		RUN(compressed_and_cut);
	} else {
		SKIP("compressed_and_cut", "no zstd in this build");
	}
	if (stf_hash_there()) {
		RUN(a_wrong_bit_is_seen_at_the_end);
	} else {
		SKIP("a_wrong_bit_is_seen_at_the_end", "no xxhash in this build");
	}
	RUN(samples_in_a_row_come_in_batches);
	RUN(few_files_are_open);
	clean();
	rmdir(dir);
	return check_end();
}
