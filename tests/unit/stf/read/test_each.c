/* SPDX-License-Identifier: BSD-3-Clause */
/* Call-backs hear what a cursor gives. */
#include "config.h"
#include "include/stf.h"
#include "stf/format/hash.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"
#include "tests/unit/stf/kinds.h"

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

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(callbacks_hear_all);
	clean();
	rmdir(dir);
	return check_end();
}
