/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "timers/matrix.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_HWLOC

#include <hwloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { EXCHANGES = 1000, ENOUGH = 10 };

/* A peer that does not answer for this long was not given its core. */
static const double patience_s = 0.2;

/* A pair that shares its cores with other work hands over once per time slice. It ends here with the
 * exchanges that it had; each of them is certain, fewer only leave the interval wider. */
static const double pair_s = 0.2;
static const long long turn_over = LLONG_MAX;

/* All pairs together: a loaded node with many of them must not hold up everything. The rest is unknown. */
static const double whole_patience_s = 30;

/* The shared line: whose turn it is, and the stamp of the last writer. Turns count up; even ones are
 * written by a. */
struct line {
	_Alignas(128) atomic_llong turn;
	int64_t stamp;
};

struct side {
	struct tmr_timer *t;
	hwloc_topology_t topo;
	hwloc_obj_t pu;
	struct line *line;
	int odd;            /* 0: thread on a, 1: thread on b */
	double deadline;    /* thread on a ends the test then */
	int64_t smallest;   /* own reading minus the stamp seen */
	int exchanges, failed;
};

static double seconds_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* Waits for turn >= want; gives up when the other side has been silent for too long. */
static int wait_turn(struct line *line, long long want)
{
	double deadline = 0;
	unsigned spins = 0;

	while (atomic_load_explicit(&line->turn, memory_order_acquire) < want) {
		if (++spins % 4096 == 0) {
			double now = seconds_now();

			deadline = deadline == 0 ? now + patience_s : deadline;
			if (now > deadline) {
				return -1;
			}
		}
	}
	return 0;
}

static void *run_side(void *arg)
{
	struct side *s = arg;
	long long turn;
	int64_t ahead;
	ltick_t now;

	s->smallest = INT64_MAX;
	if (hwloc_set_cpubind(s->topo, s->pu->cpuset, HWLOC_CPUBIND_THREAD) < 0) {
		s->failed = 1;
		return NULL;
	}
	/* turn t was written by side t % 2; side b answers even turns, side a odd ones */
	for (turn = s->odd ? 1 : 0; turn <= 2LL * EXCHANGES; turn += 2) {
		if (turn > 0) {
			if (wait_turn(s->line, turn) < 0) {
				s->failed = 1;
				return NULL;
			}
			now = tmr_read_ordered(s->t);
			if (atomic_load_explicit(&s->line->turn, memory_order_relaxed) == turn_over) {
				return NULL;
			}
			ahead = ltick_sub(now, ltick(s->line->stamp));
			s->smallest = ahead < s->smallest ? ahead : s->smallest;
			s->exchanges++;
			if (!s->odd && seconds_now() > s->deadline) {
				atomic_store_explicit(&s->line->turn, turn_over, memory_order_release);
				return NULL;
			}
		}
		now = tmr_read_ordered(s->t);
		s->line->stamp = now.v;
		atomic_store_explicit(&s->line->turn, turn + 1, memory_order_release);
	}
	return NULL;
}

static void measure_pair(hwloc_topology_t topo, struct tmr_timer *t, hwloc_obj_t a, hwloc_obj_t b,
	double tick_s, struct line *line, struct tmr_core_pair *p)
{
	struct side side[2] = {
		{ .t = t, .topo = topo, .pu = a, .line = line, .odd = 0, .deadline = seconds_now() + pair_s },
		{ .t = t, .topo = topo, .pu = b, .line = line, .odd = 1 },
	};
	pthread_t thread[2];
	double middle, period = 1 / t->hz;
	int started = 0;

	atomic_store(&line->turn, 0);
	while (started < 2 && pthread_create(&thread[started], NULL, run_side, &side[started]) == 0) {
		started++;
	}
	while (started-- > 0) {
		pthread_join(thread[started], NULL);
	}
	p->exchanges = side[0].exchanges < side[1].exchanges ? side[0].exchanges : side[1].exchanges;
	if (side[0].failed || side[1].failed || p->exchanges < ENOUGH) {
		return;
	}
	/* seen on b: tb - ta >= b minus a. Seen on a: ta - tb >= a minus b. */
	p->high_s = (double)side[1].smallest * period;
	p->low_s = -(double)side[0].smallest * period;
	p->one_way_s = 0.5 * (p->high_s - p->low_s);
	p->tolerance_s = tick_s + 0.5 * p->one_way_s;
	middle = 0.5 * (p->high_s + p->low_s);
	p->apart = fabs(middle) > p->tolerance_s;
	p->measured = 1;
}

static void summarise(struct tmr_matrix *m)
{
	size_t i;

	for (i = 0; i < m->pairs; i++) {
		const struct tmr_core_pair *p = &m->pair[i];

		if (p->measured) {
			m->measured++;
			m->apart += (size_t)p->apart;
			m->worst_s = fmax(m->worst_s, fabs(0.5 * (p->high_s + p->low_s)));
			m->widest_s = fmax(m->widest_s, p->one_way_s);
		}
	}
}

/* The processing units that may be used, by topology order. Not only those that a launcher has bound this
 * process to: its threads move for the test. */
static int list_pus(hwloc_topology_t topo, struct tmr_matrix *m, hwloc_obj_t **objs)
{
	hwloc_const_bitmap_t allowed = hwloc_topology_get_allowed_cpuset(topo);
	int n, i;

	n = hwloc_get_nbobjs_by_type(topo, HWLOC_OBJ_PU);
	*objs = calloc((size_t)n + 1, sizeof(**objs));
	m->pu = calloc((size_t)n + 1, sizeof(*m->pu));
	if (!*objs || !m->pu) {
		return -1;
	}
	for (i = 0; i < n; i++) {
		hwloc_obj_t o = hwloc_get_obj_by_type(topo, HWLOC_OBJ_PU, (unsigned)i);

		if (hwloc_bitmap_isset(allowed, o->os_index)) {
			(*objs)[m->pus] = o;
			m->pu[m->pus++] = o->os_index;
		}
	}
	return 0;
}

int tmr_matrix_measure(struct tmr_timer *t, double effective_tick_s, struct tmr_matrix *m, struct tkm_err *err)
{
	hwloc_topology_t topo;
	hwloc_obj_t *pu = NULL;
	struct line *line = NULL;
	unsigned a, b;
	double until;
	size_t k = 0;
	int rc = -1;

	memset(m, 0, sizeof(*m));
	if (!t->shareable || !(t->hz > 0)) {
		return tkm_fail(err, TKM_ERR_UNAVAIL, "core matrix of %s: not a clock that threads share", t->name);
	}
	if (hwloc_topology_init(&topo) < 0) {
		return tkm_fail(err, TKM_ERR_NOMEM, "core matrix: hwloc cannot start");
	}
	if (hwloc_topology_load(topo) < 0 || list_pus(topo, m, &pu) < 0) {
		tkm_fail(err, TKM_ERR_UNAVAIL, "core matrix: hwloc cannot read this machine's topology");
		goto out;
	}
	m->pairs = (size_t)m->pus * (m->pus ? m->pus - 1 : 0) / 2;
	m->pair = calloc(m->pairs + 1, sizeof(*m->pair));
	line = aligned_alloc(128, sizeof(*line));
	if (!m->pair || !line) {
		tkm_fail(err, TKM_ERR_NOMEM, "core matrix: out of memory for %u processing units", m->pus);
		goto out;
	}
	until = seconds_now() + whole_patience_s;
	for (a = 0; a < m->pus; a++) {
		for (b = a + 1; b < m->pus; b++, k++) {
			m->pair[k].pu_a = m->pu[a];
			m->pair[k].pu_b = m->pu[b];
			if (seconds_now() < until) {
				measure_pair(topo, t, pu[a], pu[b], effective_tick_s, line, &m->pair[k]);
			}
		}
	}
	summarise(m);
	rc = 0;
out:
	free(line);
	free(pu);
	hwloc_topology_destroy(topo);
	if (rc < 0) {
		tmr_matrix_free(m);
	}
	return rc;
}

#else

int tmr_matrix_measure(struct tmr_timer *t, double effective_tick_s, struct tmr_matrix *m, struct tkm_err *err)
{
	(void)t;
	(void)effective_tick_s;
	memset(m, 0, sizeof(*m));
	return tkm_fail(err, TKM_ERR_UNAVAIL, "core matrix: this build has no hwloc (configure --with-hwloc)");
}

#endif

void tmr_matrix_free(struct tmr_matrix *m)
{
	free(m->pu);
	free(m->pair);
	memset(m, 0, sizeof(*m));
}
