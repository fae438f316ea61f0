/* SPDX-License-Identifier: BSD-3-Clause */
/* Definitions come back, and rows of a table count once. */
#include "config.h"
#include "base/err.h"
#include "collector-plugin/raw/communicator.h"
#include "collector-plugin/raw/definition.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/reader.h"
#include "collector-plugin/raw/writer.h"
#include "tests/lib/check.h"
#include "tests/lib/raw_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* One line for each definition, with all that it says. */
static int spell(const struct vt_raw_def *d, void *ctx)
{
	const struct vt_raw_comm_def *c = &d->communicator;
	FILE *to = ctx;
	uint32_t i;

	fprintf(to, "%d %u %u %s", (int)d->type, d->id, d->parent, d->name);
	switch (d->type) {
	case VT_RAW_DEF_STATISTICS:
		fprintf(to, " %u %u %d %u %llu %llu %llu %lld %lld", d->row.function, d->row.communicator, d->row.peer,
			d->row.kind, (unsigned long long)d->row.bytes, (unsigned long long)d->row.t.count,
			(unsigned long long)d->row.t.more, (long long)d->row.t.inclusive[2],
			(long long)d->row.t.exclusive[1]);
		break;
	case VT_RAW_DEF_OBJECT:
		fprintf(to, " %u %u %u", d->n, d->build_id[0], d->build_id[d->n - 1]);
		break;
	case VT_RAW_DEF_FUNCTION_AT:
		fprintf(to, " %u %u %llu", d->object, d->demangle, (unsigned long long)d->offset);
		break;
	case VT_RAW_DEF_STACK:
		for (i = 0; i < d->n; i++) {
			fprintf(to, " %llu %u %u", (unsigned long long)d->place[i].offset, d->place[i].object,
				d->place[i].demangle);
		}
		break;
	case VT_RAW_DEF_SCOPE:
		fprintf(to, " %u %u", d->scl[0], d->scl[1]);
		break;
	case VT_RAW_DEF_THREAD:
		fprintf(to, " %llu", (unsigned long long)d->tid);
		break;
	case VT_RAW_DEF_COMM:
		fprintf(to, " %u %u %u %d %u %u %u %u", c->parent, c->kind, c->number, c->tag, c->inter, c->n_own, c->n,
			c->at);
		for (i = 0; i < d->n; i++) {
			fprintf(to, " %d-%d/%d", c->ranks[i].first, c->ranks[i].last, c->ranks[i].stride);
		}
		break;
	case VT_RAW_DEF_CLOCK:
		fprintf(to, "%lld %lld %lld %lld", (long long)d->clock.tick, (long long)d->clock.realtime_ns,
			(long long)d->clock.monotonic_ns, (long long)d->clock.raw_ns);
		break;
	case VT_RAW_DEF_CLOCKS:
		fprintf(to, "%s", d->text);
		break;
	default:
		break;
	}
	putc('\n', to);
	return 0;
}

static void define_each(struct vt_raw *r)
{
	const struct vt_raw_row row = { .function = 5,
		.communicator = 6,
		.peer = -7,
		.kind = 1,
		.bytes = 1ull << 40,
		.t = { 9, 8, { 1, 2, 3 }, { 4, -5, 6 } } };
	const struct vt_raw_place at = { 1ull << 34, 9, 1 };
	const struct vt_raw_place place[2] = { { 1ull << 33, 10, 1 }, { 77, 11, 0 } };
	const struct vt_raw_ranks ranks[3] = { { 0, 6, 2 }, { 7, 7, 1 }, { 9, 12, 3 } };
	const struct vt_raw_comm_def comm = { 20, 21, 22, 23, -24, 1, 2, 3, 0, ranks, "of three" };
	const uint8_t build_id[3] = { 31, 32, 33 };
	int bad;

	bad = vt_raw_class(r, 1, 2, "class") | vt_raw_function(r, 3, 4, "function") | vt_raw_statistics(r, 5, 1, &row) |
		vt_raw_object(r, 6, build_id, 3, "/lib/o.so") | vt_raw_function_at(r, 7, 8, &at, "at") |
		vt_raw_scl(r, 10, 11, "a.c") | vt_raw_stack(r, 12, place, 2) |
		vt_raw_scope(r, 13, 14, 15, 16, "scope") | vt_raw_file_name(r, 17, 18, "/data/f") |
		vt_raw_communicator(r, &comm) | vt_raw_thread_from(r, 25, 26, 1ull << 35, "thread") |
		vt_raw_clock(r, ltick(41), -42, 1ll << 36, 44) | vt_raw_clocks(r, "line\n", 5);
	CHECK_INT(bad, 0);
}

static void every_definition_comes_back(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1 });
	struct tkm_err e = { TKM_OK, "" };
	struct vt_raw_file *f;
	char *text = NULL;
	size_t n;
	FILE *to = open_memstream(&text, &n);

	define_each(r);
	vt_raw_close(r, ltick(1));
	f = vt_raw_open(path, &e);
	CHECK(f && to && vt_raw_definitions(f, spell, to) == 0, "%s", e.text);
	vt_raw_file_close(f);
	fclose(to);
	CHECK_STR(text,
		"32 1 2 class\n"
		"36 3 4 function\n"
		"50 5 1  5 6 -7 1 1099511627776 9 8 3 -5\n"
		"41 6 0 /lib/o.so 3 31 33\n"
		"42 7 8 at 9 1 17179869184\n"
		"39 10 11 a.c\n"
		"52 12 0  8589934592 10 1 77 11 0\n"
		"40 13 14 scope 15 16\n"
		"45 17 18 /data/f\n"
		"43 20 0 of three 21 22 23 -24 1 2 3 0 0-6/2 7-7/1 9-12/3\n"
		"34 25 26 thread 34359738368\n"
		"37 0 0 41 -42 68719476736 44\n"
		"44 0 0 line\n\n");
	free(text);
}

/* ---- tables ---- */

/* Sums the counts of threads 5 and 6 in the file as it is now. */
static int add_counts(const struct vt_raw_def *d, void *ctx)
{
	uint64_t *sum = ctx;

	if (d->type == VT_RAW_DEF_STATISTICS) {
		CHECK((d->id == 5 || d->id == 6) && d->parent <= 1 && d->row.function == 3, "thread %u", d->id);
		sum[d->id - 5 + 2 * d->parent] += d->row.t.count;
	}
	return 0;
}

static void counts_are(uint64_t of_5, uint64_t of_6, uint64_t late_of_5, const char *when)
{
	struct tkm_err e = { TKM_OK, "" };
	struct vt_raw_file *f = vt_raw_open(path, &e);
	uint64_t sum[4] = { 0 };

	CHECK(f && vt_raw_definitions(f, add_counts, sum) == 0, "%s", e.text);
	CHECK(sum[0] == of_5 && sum[1] == of_6 && sum[2] == late_of_5 && sum[3] == 0, "%s: %d, %d, late %d", when,
		(int)sum[0], (int)sum[1], (int)sum[2]);
	CHECK_INT(vt_raw_file_damage(f)->blocks, 0);
	vt_raw_file_close(f);
}

/* Whenever the process is killed, each call counts once. */
static void rows_of_a_table_count_once(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1 });
	uint32_t n = vt_raw_table_rows(r, 5);
	struct vt_raw_row *of_5 = vt_raw_table(r, 5, 0, n + 5), *of_6 = vt_raw_table(r, 6, 0, n), *late, *again;

	CHECK(of_5 && of_6 && n >= 32 && (n & (n - 1)) == 0, "%u rows", n);
	CHECK_INT(vt_raw_statistics(r, 5, 0, &(struct vt_raw_row){ .function = 3, .t.count = 100 }), 0);
	counts_are(100, 0, 0, "before a table counts");
	of_5[0] = (struct vt_raw_row){ .function = 3, .t.count = 5ull << 32 };
	of_5[n + 4] = (struct vt_raw_row){ .function = 3, .t = { .count = 1, .more = 2 } };
	of_6[n - 1] = (struct vt_raw_row){ .function = 3, .t.count = 7 };
	of_6[0].function = 4; /* begun, and nothing counted yet */
	counts_are((5ull << 32) + 101, 7, 0, "counting");
	vt_raw_table_moves(r, of_5, 0);
	CHECK_INT(vt_raw_statistics(r, 5, 0, &of_5[0]), 0);
	CHECK_INT(vt_raw_statistics(r, 5, 1, &(struct vt_raw_row){ .function = 3, .t.count = 50 }), 0);
	CHECK_INT(vt_raw_statistics(r, 6, 0, &(struct vt_raw_row){ .function = 3, .t.count = 60 }), 0);
	counts_are((5ull << 32) + 101, 67, 50, "one row of two has moved");
	CHECK_INT(vt_raw_statistics(r, 5, 0, &of_5[n + 4]), 0);
	counts_are((5ull << 32) + 101, 67, 50, "both have");
	vt_raw_table_moves(r, of_5, 1);
	counts_are((5ull << 32) + 101, 67, 50, "the table is given back");
	again = vt_raw_table(r, 5, 0, n);
	late = vt_raw_table(r, 5, 1, n);
	CHECK(again && late, "tables");
	counts_are((5ull << 32) + 101, 67, 50, "a place that is used again is empty");
	late[1] = (struct vt_raw_row){ .function = 3, .t.count = 2 };
	vt_raw_close(r, ltick(1));
	counts_are((5ull << 32) + 101, 67, 52, "closed");
	CHECK(!vt_raw_table(r, 5, 0, n), "a table of a closed file");
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(every_definition_comes_back);
	RUN(rows_of_a_table_count_once);
	remove_dir();
	return check_end();
}
