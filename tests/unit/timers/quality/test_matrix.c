/* SPDX-License-Identifier: BSD-3-Clause */
/* The core matrix against clocks whose offset from core to core is known, because it is put there. */
#include "config.h"
#include "timers/quality/matrix.h"
#include "tests/lib/check.h"

#include <sched.h>
#include <stdatomic.h>
#include <time.h>

static int64_t ahead_ns; /* of odd processing units */

static ltick_t read_skewed(struct tmr_timer *t)
{
	struct timespec ts;

	(void)t;
	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ltick((int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec + (sched_getcpu() & 1 ? ahead_ns : 0));
}

static struct tmr_timer skewed = {
	.read = read_skewed,
	.read_ordered = read_skewed,
	.hz = 1e9,
	.shareable = 1,
	.name = "skewed",
};

static void offset_is_inside_the_interval(void)
{
	static const int64_t truths[] = { 0, 40, -300, 5000, -1600000000 };
	struct tmr_matrix m;
	struct tkm_err err;
	size_t i, k;

	for (i = 0; i < sizeof(truths) / sizeof(truths[0]); i++) {
		ahead_ns = truths[i];
		CHECK(tmr_matrix_measure(&skewed, 20e-9, &m, &err) == 0, "%s", err.text);
		CHECK_INT(m.pairs, m.pus * (m.pus - 1) / 2);
		for (k = 0; k < m.pairs; k++) {
			const struct tmr_core_pair *p = &m.pair[k];
			int64_t want = ahead_ns * ((int)(p->pu_b & 1) - (int)(p->pu_a & 1));

			if (!p->measured) {
				continue; /* a core that was taken away says unknown, which is not wrong */
			}
			CHECK(p->low_s <= (double)want * 1e-9 + 1e-12 && p->high_s >= (double)want * 1e-9 - 1e-12,
				"PU %u to %u: %lld ns is not in [%g, %g] ns", p->pu_a, p->pu_b, (long long)want,
				p->low_s * 1e9, p->high_s * 1e9);
			/* two measurements of a pair are combined, which can only make the interval narrower */
			CHECK(p->high_s - p->low_s <= 2 * (p->line_s + 20e-9) + 1e-12, "%g s wide, a line takes %g s",
				p->high_s - p->low_s, p->line_s);
			CHECK(p->result == tmr_pair_judge(p, m.limit_s), "%s", tmr_pair_name(p->result));
			if (llabs((long long)want) >= 5000) {
				CHECK(p->result == TMR_PAIR_APART || p->line_s > 2e-6, "%lld ns apart: %s",
					(long long)want, tmr_pair_name(p->result));
			}
			CHECK(want != 0 || p->result == TMR_PAIR_TOGETHER || p->line_s > 0.5e-6,
				"one clock: %s, [%g, %g] ns", tmr_pair_name(p->result), p->low_s * 1e9,
				p->high_s * 1e9);
		}
		CHECK_INT(m.together + m.apart + m.unknown + m.contradictions, m.pairs);
		CHECK_NEAR(m.limit_s, 1e-6 + 40e-9, 1e-15);
		tmr_matrix_free(&m);
	}
}

static atomic_int slow_reads;

/* As long to read as on cores that are shared with other work, where each turn waits for a time slice. */
static ltick_t read_slowly(struct tmr_timer *t)
{
	struct timespec nap = { 0, 1000000 };

	slow_reads++;
	nanosleep(&nap, NULL);
	return read_skewed(t);
}

/* A pair has 0.2 s, and both threads read all the time, a millisecond or more for each. Each of them looks at the time after eight
 * comparisons of up to eight reads only. */
static void slow_cores_do_not_hold_it_up(void)
{
	struct tmr_timer slow = skewed;
	struct tmr_matrix m;
	struct tkm_err err;

	ahead_ns = 0;
	slow_reads = 0;
	slow.read = slow.read_ordered = read_slowly;
	CHECK(tmr_matrix_measure(&slow, 20e-9, &m, &err) == 0, "%s", err.text);
	CHECK(slow_reads <= 2 * (200 + 64) * (int)m.pairs, "%d reads of a millisecond for %zu pairs of 0.2 s",
		slow_reads, m.pairs);
	CHECK(m.unknown == m.pairs && m.together == 0, "%zu of %zu pairs not known, whose readings take a millisecond",
		m.unknown, m.pairs);
	tmr_matrix_free(&m);
}

/* What was not together is measured again at the end of a run, and the rest is left alone. */
static void the_rest_is_measured_again(void)
{
	struct tmr_matrix m;
	struct tkm_err err;
	size_t k;

	ahead_ns = 0;
	CHECK(tmr_matrix_measure(&skewed, 20e-9, &m, &err) == 0, "%s", err.text);
	for (k = 0; k < m.pairs; k++) {
		struct tmr_core_pair *p = &m.pair[k];

		p->measured = 1;
		p->low_s = k % 2 ? -5e-3 : -9e-9;
		p->high_s = k % 2 ? 9e-9 : 6e-3;
		p->line_s = 3e-3;
		p->result = tmr_pair_judge(p, m.limit_s);
	}
	m.together = 0;
	m.unknown = m.pairs;
	for (k = 0; k < 60 && m.unknown; k++) {
		CHECK(tmr_matrix_measure_again(&skewed, 20e-9, &m, &err) == 0, "%s", err.text);
	}
	CHECK(m.together == m.pairs, "%zu of %zu together after %zu more measurements", m.together, m.pairs, k);
	for (k = 0; k < m.pairs; k++) {
		CHECK(k % 2 ? m.pair[k].high_s <= 9e-9 : m.pair[k].low_s >= -9e-9, "what was known is forgotten");
		m.pair[k].readings = -1;
	}
	CHECK(tmr_matrix_measure_again(&skewed, 20e-9, &m, &err) == 0, "%s", err.text);
	for (k = 0; k < m.pairs; k++) {
		CHECK_INT(m.pair[k].readings, -1);
	}
	tmr_matrix_free(&m);
}

static void a_clock_of_one_thread_is_refused(void)
{
	struct tmr_timer own = skewed;
	struct tmr_matrix m;
	struct tkm_err err;

	own.shareable = 0;
	CHECK(tmr_matrix_measure(&own, 0, &m, &err) < 0 && strstr(err.text, "skewed"), "%s", err.text);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(offset_is_inside_the_interval);
	RUN(the_rest_is_measured_again);
	RUN(a_clock_of_one_thread_is_refused);
	if (sysconf(_SC_NPROCESSORS_CONF) <= 4) {
		RUN(slow_cores_do_not_hold_it_up);
	} else {
		SKIP("slow_cores_do_not_hold_it_up", "too many pairs to be slow with");
	}
	return check_end();
}
