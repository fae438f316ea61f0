/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the clock offsets of all pairs of processing units; see timers/quality/matrix.h. */
#include "config.h"
#include "timers/quality/matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Time limit of one pair. A pair that shares its cores with other work waits for time slices. */
static const double pair_s = 0.2;

/* Time limit of all pairs together, so that a loaded node with many pairs does not delay everything. Pairs that are not
 * measured by then stay "not known". */
static const double whole_patience_s = 30;

static double matrix_seconds_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void summarise_matrix(struct tmr_matrix *m)
{
	size_t i;

	m->measured = m->together = m->apart = m->unknown = m->contradictions = 0;
	m->farthest_s = 0;
	for (i = 0; i < m->pairs; i++) {
		const struct tmr_core_pair *p = &m->pair[i];

		m->measured += (size_t)p->measured;
		m->together += p->result == TMR_PAIR_TOGETHER;
		m->apart += p->result == TMR_PAIR_APART;
		m->unknown += p->result == TMR_PAIR_UNKNOWN;
		m->contradictions += p->result == TMR_PAIR_CONTRADICTION;
		if (p->measured && p->result != TMR_PAIR_CONTRADICTION) {
			m->farthest_s = fmax(m->farthest_s, fmax(-p->low_s, p->high_s));
		}
	}
}

/* The processing units that may be used. Not only those that a launcher has bound this process to: its threads move for the
 * test. */
#ifdef HAVE_HWLOC

#include <hwloc.h>

/* In the order of the topology. */
static int list_pus(const struct tmr_pair_test *test, struct tmr_matrix *m, struct tkm_err *err)
{
	hwloc_const_bitmap_t allowed;
	hwloc_topology_t topo;
	int n, i, rc = 0;

	(void)test;
	if (hwloc_topology_init(&topo) < 0) {
		return tkm_fail(err, TKM_ERR_NOMEM, "core matrix: hwloc cannot start");
	}
	if (hwloc_topology_load(topo) < 0) {
		rc = tkm_fail(err, TKM_ERR_UNAVAIL, "core matrix: hwloc cannot read this machine's topology");
		goto out;
	}
	allowed = hwloc_topology_get_allowed_cpuset(topo);
	n = hwloc_get_nbobjs_by_type(topo, HWLOC_OBJ_PU);
	m->pu = calloc((size_t)n + 1, sizeof(*m->pu));
	if (!m->pu) {
		rc = tkm_fail(err, TKM_ERR_NOMEM, "core matrix: out of memory for %d processing units", n);
		goto out;
	}
	for (i = 0; i < n; i++) {
		hwloc_obj_t o = hwloc_get_obj_by_type(topo, HWLOC_OBJ_PU, (unsigned)i);

		if (hwloc_bitmap_isset(allowed, o->os_index)) {
			m->pu[m->pus++] = o->os_index;
		}
	}
out:
	hwloc_topology_destroy(topo);
	return rc;
}

#else

/* In the order of their numbers. */
static int list_pus(const struct tmr_pair_test *test, struct tmr_matrix *m, struct tkm_err *err)
{
	size_t n = 0;
	int unit;

	for (unit = tmr_pair_test_unit(test, -1); unit >= 0; unit = tmr_pair_test_unit(test, unit)) {
		n++;
	}
	m->pu = calloc(n + 1, sizeof(*m->pu));
	if (!m->pu) {
		return tkm_fail(err, TKM_ERR_NOMEM, "core matrix: out of memory for %zu processing units", n);
	}
	for (unit = tmr_pair_test_unit(test, -1); unit >= 0; unit = tmr_pair_test_unit(test, unit)) {
		m->pu[m->pus++] = (unsigned)unit;
	}
	return 0;
}

#endif

/* Fills in the unit numbers of all pairs; none is measured yet. */
static int make_core_pairs(struct tmr_matrix *m, struct tkm_err *err)
{
	unsigned a, b;
	size_t k = 0;

	m->pairs = (size_t)m->pus * (m->pus ? m->pus - 1 : 0) / 2;
	m->pair = calloc(m->pairs + 1, sizeof(*m->pair));
	if (!m->pair) {
		return tkm_fail(
			err, TKM_ERR_NOMEM, "core matrix: out of memory for %zu pairs of processing units", m->pairs);
	}
	for (a = 0; a < m->pus; a++) {
		for (b = a + 1; b < m->pus; b++, k++) {
			m->pair[k].pu_a = m->pu[a];
			m->pair[k].pu_b = m->pu[b];
		}
	}
	return 0;
}

/* Measures every pair that is not "together", once. */
static void measure_matrix_pairs(struct tmr_pair_test *test, struct tmr_matrix *m)
{
	double until = matrix_seconds_now() + whole_patience_s;
	size_t k;

	for (k = 0; k < m->pairs && matrix_seconds_now() < until; k++) {
		struct tmr_core_pair one;

		if (m->pair[k].result != TMR_PAIR_TOGETHER) {
			tmr_pair_measure(test, m->pair[k].pu_a, m->pair[k].pu_b, pair_s, &one);
			tmr_pair_combine(&m->pair[k], &one, m->limit_s);
		}
	}
	summarise_matrix(m);
}

int tmr_matrix_measure(struct tmr_timer *t, double effective_tick_s, struct tmr_matrix *m, struct tkm_err *err)
{
	struct tmr_pair_test *test;
	int rc;

	memset(m, 0, sizeof(*m));
	test = tmr_pair_test_begin(t, effective_tick_s, err);
	if (!test) {
		return -1;
	}
	m->limit_s = tmr_pair_limit(effective_tick_s);
	rc = list_pus(test, m, err) < 0 || make_core_pairs(m, err) < 0 ? -1 : 0;
	if (rc == 0) {
		measure_matrix_pairs(test, m);
	}
	tmr_pair_test_end(test);
	if (rc < 0) {
		tmr_matrix_free(m);
	}
	return rc;
}

int tmr_matrix_measure_again(struct tmr_timer *t, double effective_tick_s, struct tmr_matrix *m, struct tkm_err *err)
{
	struct tmr_pair_test *test;

	if (m->together == m->pairs) {
		return 0;
	}
	test = tmr_pair_test_begin(t, effective_tick_s, err);
	if (!test) {
		return -1;
	}
	measure_matrix_pairs(test, m);
	tmr_pair_test_end(test);
	return 0;
}

void tmr_matrix_free(struct tmr_matrix *m)
{
	free(m->pu);
	free(m->pair);
	memset(m, 0, sizeof(*m));
}
