/* SPDX-License-Identifier: BSD-3-Clause */
/* Events in batches are events one by one. */
#include "config.h"
#include "include/stf.h"
#include "stf/write/batch.h"
#include "stf/write/history.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"
#include "tests/lib/stf_every.h"
#include "tests/unit/stf/golden.h"

enum { IDENTITY_SIZE = 34 }; /* trace_identity, the first record of each component */

/* Puts as many events as there is room for. Returns how many. */
static size_t write_batch(struct stf_writer *w, uint32_t willy, const struct event *e, size_t n)
{
	struct stf_batch b = e->k ? stf_batch_values(w, willy) : stf_batch_states(w, willy);
	struct stf_done d = { .p = b.p, .last = b.now, .first = e->time };
	size_t longest = e->k ? STX_VALUES + 12 * e->k : STX_ENTER, i;
	uint32_t open[300], j;

	d.open = open;
	for (i = 0; i < n && (size_t)(d.p - b.p) + longest <= b.room && e[i].time - d.last <= UINT32_MAX; i++) {
		for (j = 0; j < e->k; j++) {
			tkm_put64(d.p + STX_VALUES + 8 * (size_t)j, e[i].value[j], 0);
		}
		if (e->k) {
			d.p = stf_put_values(d.p, (uint32_t)(e[i].time - d.last), willy, e->k, some_counters);
		} else {
			open[d.n_open] = (uint32_t)e[i].value[0];
			d.left += !e[i].enter && d.n_open == 0;
			d.n_open = e[i].enter ? d.n_open + 1 : d.n_open - (d.n_open > 0);
			d.p = stf_put_state(
				d.p, (uint32_t)(e[i].time - d.last), willy, (uint32_t)e[i].value[0], e[i].enter);
		}
		d.enters += e[i].enter;
		d.last = e[i].time;
	}
	d.n = i;
	if (i) {
		CHECK_INT(e->k ? stf_batch_end_values(&b, &d) : stf_batch_end_states(&b, &d), 0);
	}
	return i;
}

/* The events of a few threads, in runs: in batches, or one by one. */
static void write_runs(const char *name, int big, int batches, uint64_t seed)
{
	struct stf_writer_options o = { .resolution = 1, .big_endian = big };
	struct stf_writer *w = stf_writer_create(in_dir(name), &o, &err);
	struct event e[300];
	uint64_t t = 0;
	size_t i, n;
	int run;

	check_state = seed;
	for (run = 0; run < 800; run++) {
		uint32_t willy = STF_WILLY(0, check_random() % 3), k = (uint32_t)(check_random() % 4);

		n = check_random() % (run % 3 ? 300 : 20);
		for (i = 0; i < n; i++) {
			unsigned step = (unsigned)(check_random() % 1000);

			t += step == 0 ? 1ull << 32 : step == 1 ? 0xffffffffu : step;
			t -= step == 2 ? 1000 : 0;
			e[i] = (struct event){ .time = t,
				.value = { check_random(), check_random(), check_random() },
				.enter = k ? 0 : check_random() % 2,
				.k = k };
		}
		for (i = 0; i < n; i++) {
			i += batches ? write_batch(w, willy, e + i, n - i) : 0;
			if (i < n) {
				write_event(w, willy, &e[i]);
			}
		}
	}
	CHECK_INT(stf_writer_finish(w, 1, 0, &err), 0);
}

static void events_in_batches_are_events_one_by_one(void)
{
	static const char *const suffix[] = { ".f.0", ".c.0", ".f.0.anc", ".c.0.anc" };
	uint64_t seed = check_state;
	char name[2][20], *p[2];
	size_t n[2];
	int big, i, k;

	for (big = 0; big < 2; big++) {
		clean();
		write_runs("a.stf", big, 0, seed);
		write_runs("b.stf", big, 1, seed);
		for (i = 0; i < 4; i++) {
			for (k = 0; k < 2; k++) {
				snprintf(name[k], sizeof(name[k]), "%c.stf%s", "ab"[k], suffix[i]);
				p[k] = slurp(in_dir(name[k]), &n[k]);
			}
			CHECK(n[0] > (i < 2 ? 150000u : 300u), "%zu bytes", n[0]);
			CHECK(n[0] == n[1] && !memcmp(p[0] + IDENTITY_SIZE, p[1] + IDENTITY_SIZE, n[0] - IDENTITY_SIZE),
				"%s: %zu and %zu bytes", suffix[i], n[0], n[1]);
			free(p[0]);
			free(p[1]);
		}
	}
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(events_in_batches_are_events_one_by_one);
	clean();
	rmdir(dir);
	return check_end();
}
