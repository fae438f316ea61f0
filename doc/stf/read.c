/* SPDX-License-Identifier: BSD-3-Clause */
/* Example of stf/stf.h: prints the counters of a trace, with samples and last value of each thread, and counts all else.
 *
 *	cc read.c $(pkg-config --cflags --libs tickmark-stf) -o read
 *	./read T.stf
 *	./read <T.single.stf        a trace in one file, through a pipe too */
#include <inttypes.h>
#include <stdio.h>

#include <stf/stf.h>

struct sums {
	uint64_t samples, events, last, last_time;
};

/* Counter samples come many at a time. */
static int take_counters(void *user, const struct stf_counter_batch *b)
{
	struct sums *s = (struct sums *)user;

	s->samples += b->n * b->k;
	if (b->k) {
		s->last = stf_batch_value(b, b->n - 1, b->k - 1);
		s->last_time = b->times[b->n - 1];
	}
	return 0;
}

/* Everything else, one by one; rec->layout names it and its fields. */
static int take_other(void *user, const struct stf_record *rec)
{
	struct sums *s = (struct sums *)user;

	s->events += rec->layout->kind <= STF_KIND_OTHER;
	return 0;
}

static void print_counters(struct stf_reader *r)
{
	const struct stf_record *rec;
	size_t i;

	for (i = 0; (rec = stf_reader_record(r, STF_ID_counter_definition, i)); i++) {
		struct stf_counter_definition c;
		const char *name;

		stf_get_counter_definition(rec, &c);
		name = stf_reader_name(r, STF_ID_counter_definition, c.id);
		printf("counter %" PRIu32 ": %s [%.*s]\n", c.id, name ? name : "?", (int)c.size_1_1, c.unit);
	}
}

/* Pieces that are not as they were written were left out. */
static int print_damage(struct stf_reader *r)
{
	struct stf_damage d;
	size_t i;

	for (i = 0; stf_reader_damage(r, i, &d); i++) {
		fprintf(stderr, "damaged: %s, %" PRIu64 " bytes from %" PRIu64 "\n", d.suffix, d.size, d.offset);
	}
	return i > 0;
}

int main(int argc, char **argv)
{
	struct stf_callbacks cb = stf_callbacks();
	struct sums s = { 0, 0, 0, 0 };
	struct stf_reader *r;
	struct stf_err err;
	double resolution = 0;
	uint32_t bits;
	int rc;

	r = argc > 1 ? stf_reader_open(argv[1], STF_READ_VERIFY, &err)
		     : stf_reader_open_fd(0, "standard input", STF_READ_VERIFY, &err);
	if (!r) {
		fprintf(stderr, "%s: offset %" PRIu64 ": %s\n", err.file, err.offset, err.text);
		return 1;
	}
	stf_reader_clock(r, &resolution, &bits);
	print_counters(r);
	cb.counters = take_counters;
	cb.other = take_other;
	rc = stf_reader_each(r, NULL, &cb, &s, &err);
	if (rc < 0) {
		fprintf(stderr, "%s: offset %" PRIu64 ": %s\n", err.file, err.offset, err.text);
	}
	printf("%" PRIu64 " values, %" PRIu64 " other records, last value %" PRIu64 " at %.9f s\n", s.samples, s.events,
		s.last, (double)s.last_time * resolution);
	rc |= print_damage(r);
	stf_reader_close(r);
	return rc ? 1 : 0;
}
